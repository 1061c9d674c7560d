//! Options of ext4 that a screening can vary: mke2fs(8) and ext4(5) of e2fsprogs 1.47, and the kernel's
//! Documentation/filesystems/ext4.

use crate::screened_options::{
    DIRTY_BACKGROUND_RATIO, DIRTY_RATIO, LAZYTIME, Level, NOATIME, ORDINARY, READ_AHEAD, REQUESTS, SCHEDULER,
    ScreenedOption,
};
use model::screening::OptionClass::Promises;

/// Without a journal there is nothing that these are about.
const OF_THE_JOURNAL: &[&str] =
    &["commit", "journal_size", "fast_commit", "max_batch_time", "data", "journal_async_commit"];

/// The table.
pub(super) const OPTIONS: &[ScreenedOption] = &[
    NOATIME,
    LAZYTIME,
    // ext4(5), `commit=nrsec`.
    ScreenedOption {
        name: "commit",
        usual: Level::unsaid("5"),
        others: &[
            Level::mounted("30", &["commit=30"]),
            Level::mounted("60", &["commit=60"]),
            Level::mounted("1", &["commit=1"]),
        ],
        costs: "a crash takes up to 30 s of metadata that nobody synced, instead of 5; data waits to be written back either way",
        says: "fewer commits of the journal, for laptops and SSDs",
        by_itself: true,
        ..ORDINARY
    },
    // mke2fs(8), `-J size=`; a lane of 2 GiB has 64 MiB by itself (ext2fs_default_journal_size).
    ScreenedOption {
        name: "journal_size",
        others: &[
            Level::made("256M", &["-J", "size=256"]),
            Level::made("512M", &["-J", "size=512"]),
            Level::made("16M", &["-J", "size=16"]),
        ],
        costs: "so much of the disk; a longer recovery after a crash",
        says: "a larger journal for servers that make and remove many files",
        by_itself: true,
        ..ORDINARY
    },
    // ext4(5), `nodelalloc`.
    ScreenedOption {
        name: "delalloc",
        usual: Level::unsaid("on"),
        others: &[Level::mounted("off", &["nodelalloc"])],
        costs: "blocks are chosen write by write, so that files lie in more pieces",
        says: "blamed for stalls when data is written back, and for empty files after a crash",
        by_itself: true,
        ..ORDINARY
    },
    // ext4(5), feature flex_bg.
    ScreenedOption {
        name: "flex_bg",
        usual: Level::unsaid("on"),
        others: &[Level::made("off", &["-O", "^flex_bg"])],
        costs: "inode tables and bitmaps lie apart, each in its own group",
        ..ORDINARY
    },
    // mke2fs(8), `-J fast_commit_size=`; the kernel's Documentation/filesystems/ext4/journal.rst, "Fast commits".
    ScreenedOption {
        name: "fast_commit",
        usual: Level::unsaid("off"),
        others: &[Level::made("on", &["-O", "fast_commit"])],
        costs: "younger code (Linux 5.10, e2fsprogs 1.46)",
        says: "makes fsync cheaper, because a small change is logged alone",
        by_itself: true,
        ..ORDINARY
    },
    // ext4(5), `max_batch_time=usec`.
    ScreenedOption {
        name: "max_batch_time",
        usual: Level::unsaid("15000"),
        others: &[Level::mounted("0", &["max_batch_time=0"])],
        costs: "syncs of several threads share fewer commits",
        says: "one thread that syncs does not wait for others",
        ..ORDINARY
    },
    // The kernel's Documentation/admin-guide/ext4.rst: `dioread_nolock` is the default since Linux 5.6.
    ScreenedOption {
        name: "dioread_nolock",
        usual: Level::unsaid("on"),
        others: &[Level::mounted("off", &["dioread_lock"])],
        costs: "blocks of buffered writes count as written when they are allocated",
        by_itself: true,
        ..ORDINARY
    },
    SCHEDULER,
    READ_AHEAD,
    REQUESTS,
    DIRTY_RATIO,
    DIRTY_BACKGROUND_RATIO,
    // mke2fs(8), `-b`; below 512 MiB older versions take 1 KiB by themselves.
    ScreenedOption {
        name: "block_size",
        usual: Level::unsaid("4K"),
        others: &[Level::made("1K", &["-b", "1024"]), Level::made("2K", &["-b", "2048"])],
        costs: "more blocks to keep account of; smaller files and filesystems at most",
        says: "spares room where files are tiny",
        ..ORDINARY
    },
    // mke2fs(8), `-I`.
    ScreenedOption {
        name: "inode_size",
        usual: Level::unsaid("256"),
        others: &[Level::made("512", &["-I", "512"]), Level::made("1024", &["-I", "1024"])],
        costs: "inode tables of twice the size",
        says: "keeps extended attributes, and data with inline_data, in the inode",
        ..ORDINARY
    },
    // mke2fs(8), `-i`.
    ScreenedOption {
        name: "inode_ratio",
        usual: Level::unsaid("16K"),
        others: &[Level::made("64K", &["-i", "65536"]), Level::made("4K", &["-i", "4096"])],
        costs: "a quarter of the files at most",
        ..ORDINARY
    },
    // ext4(5), feature bigalloc, "may clash with delayed allocation"; mke2fs(8), `-C`.
    ScreenedOption {
        name: "bigalloc",
        usual: Level::unsaid("off"),
        others: &[
            Level::made("64K", &["-O", "bigalloc", "-C", "65536"]),
            Level::made("1M", &["-O", "bigalloc", "-C", "1048576"]),
        ],
        costs: "each file and folder takes a multiple of 64 KiB; e2fsprogs calls it under development",
        says: "for large files alone",
        excludes: &["delalloc", "inline_data"],
        ..ORDINARY
    },
    // ext4(5), feature inline_data.
    ScreenedOption {
        name: "inline_data",
        usual: Level::unsaid("off"),
        others: &[Level::made("on", &["-O", "inline_data"])],
        costs: "code that few use",
        says: "tiny files need no block of their own",
        excludes: &["bigalloc"],
        ..ORDINARY
    },
    // e2fsprogs 1.47.0's release notes; Debian 12 leaves it off, others may not.
    ScreenedOption {
        name: "orphan_file",
        others: &[Level::made("on", &["-O", "orphan_file"]), Level::made("off", &["-O", "^orphan_file"])],
        costs: "kernels before 5.15 mount it read-only after a crash",
        says: "threads that remove or truncate files do not wait for one list",
        ..ORDINARY
    },
    // ext4(5), feature dir_index.
    ScreenedOption {
        name: "dir_index",
        usual: Level::unsaid("on"),
        others: &[Level::made("off", &["-O", "^dir_index"])],
        costs: "a name is looked for from the folder's beginning to its end",
        ..ORDINARY
    },
    // ext4(5), `inode_readahead_blks=n`.
    ScreenedOption {
        name: "inode_readahead_blks",
        usual: Level::unsaid("32"),
        others: &[
            Level::mounted("0", &["inode_readahead_blks=0"]),
            Level::mounted("128", &["inode_readahead_blks=128"]),
        ],
        ..ORDINARY
    },
    // ext4(5), `stripe=n`, in blocks.
    ScreenedOption {
        name: "stripe",
        usual: Level::unsaid("0"),
        others: &[Level::mounted("64K", &["stripe=16"]), Level::mounted("512K", &["stripe=128"])],
        says: "the stripe of a RAID 5 or 6",
        ..ORDINARY
    },
    // ext4(5), `discard`; Fairlane's own lanes are mounted nodiscard.
    ScreenedOption {
        name: "discard",
        usual: Level::unsaid("off"),
        others: &[Level::mounted("on", &["discard"])],
        costs: "the disk is told of each block that comes free; images get holes",
        ..ORDINARY
    },
    // ext4(5), `data=`: writeback may show old data after a crash, journal keeps data and metadata together.
    ScreenedOption {
        name: "data",
        usual: Level::unsaid("ordered"),
        others: &[Level::mounted("writeback", &["data=writeback"]), Level::mounted("journal", &["data=journal"])],
        class: Promises,
        costs: "after a crash a file may hold what stood in its blocks before",
        says: "called the fastest way to mount ext4",
        excludes: &["journal_async_commit"],
        ..ORDINARY
    },
    // ext4(5), `journal_async_commit`; the kernel refuses it with data=ordered.
    ScreenedOption {
        name: "journal_async_commit",
        usual: Level::unsaid("off"),
        others: &[Level::mounted("on", &["data=writeback", "journal_async_commit"])],
        class: Promises,
        costs: "a commit may count whose blocks did not reach the disk; and data=writeback",
        excludes: &["data"],
        ..ORDINARY
    },
    // ext4(5), `noauto_da_alloc`.
    ScreenedOption {
        name: "auto_da_alloc",
        usual: Level::unsaid("on"),
        others: &[Level::mounted("off", &["noauto_da_alloc"])],
        class: Promises,
        costs: "a file that was replaced by rename without fsync may be empty after a crash",
        ..ORDINARY
    },
    // ext4(5), `barrier=0`.
    ScreenedOption {
        name: "barrier",
        usual: Level::unsaid("on"),
        others: &[Level::mounted("off", &["nobarrier"])],
        class: Promises,
        costs: "a power cut may take what fsync called safe, and the filesystem",
        says: "for controllers with a battery",
        ..ORDINARY
    },
    // ext4(5), feature metadata_csum. Its seed is nothing without it.
    ScreenedOption {
        name: "metadata_csum",
        usual: Level::unsaid("on"),
        others: &[Level::made("off", &["-O", "^metadata_csum,^metadata_csum_seed"])],
        class: Promises,
        costs: "metadata that a disk changed is not noticed",
        ..ORDINARY
    },
    // ext4(5), feature has_journal.
    ScreenedOption {
        name: "journal",
        usual: Level::unsaid("on"),
        others: &[Level::made("off", &["-O", "^has_journal"])],
        class: Promises,
        costs: "after a crash the filesystem is inconsistent until e2fsck repaired it",
        says: "for data that can be made again",
        excludes: OF_THE_JOURNAL,
        ..ORDINARY
    },
];
