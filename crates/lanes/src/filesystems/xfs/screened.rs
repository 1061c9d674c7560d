//! Options of XFS that a screening can vary: mkfs.xfs(8) and xfs(5) of xfsprogs 6.1.

use crate::screened_options::{
    DIRTY_BACKGROUND_RATIO, DIRTY_RATIO, LAZYTIME, Level, NOATIME, ORDINARY, READ_AHEAD, REQUESTS, SCHEDULER,
    ScreenedOption,
};
use model::screening::OptionClass::Promises;

/// The table.
pub(super) const OPTIONS: &[ScreenedOption] = &[
    NOATIME,
    LAZYTIME,
    // xfs(5), `logbsize=value`: 32 KiB, or the log's stripe unit.
    ScreenedOption {
        name: "logbsize",
        usual: Level::unsaid("32k"),
        others: &[
            Level::mounted("256k", &["logbsize=256k"]),
            Level::mounted("128k", &["logbsize=128k"]),
            Level::mounted("64k", &["logbsize=64k"]),
        ],
        costs: "8 times the memory of log buffers (2 MiB)",
        says: "for servers that make and remove many files",
        by_itself: true,
        ..ORDINARY
    },
    // mkfs.xfs(8), `-l size=`: at least 64 MiB, and less than an allocation group.
    ScreenedOption {
        name: "log_size",
        others: &[Level::made("128m", &["-l", "size=128m"]), Level::made("256m", &["-l", "size=256m"])],
        costs: "so much of the disk; a longer recovery after a crash",
        says: "a larger log for work on many files",
        by_itself: true,
        ..ORDINARY
    },
    // xfs(5), `allocsize=size`.
    ScreenedOption {
        name: "allocsize",
        usual: Level::unsaid("dynamic"),
        others: &[
            Level::mounted("64m", &["allocsize=64m"]),
            Level::mounted("1m", &["allocsize=1m"]),
            Level::mounted("64k", &["allocsize=64k"]),
        ],
        costs: "open files take 64 MiB more than they hold",
        says: "large files that grow slowly, such as recordings, lie in one piece",
        by_itself: true,
        ..ORDINARY
    },
    // mkfs.xfs(8), `-m reflink=`.
    ScreenedOption {
        name: "reflink",
        usual: Level::unsaid("on"),
        others: &[Level::made("off", &["-m", "reflink=0"])],
        costs: "no copies that share blocks (cp --reflink)",
        says: "databases that never share blocks are said to do without the tree of reference counts",
        by_itself: true,
        ..ORDINARY
    },
    // mkfs.xfs(8), `-m rmapbt=`: off in xfsprogs 6.1, on in later ones.
    ScreenedOption {
        name: "rmapbt",
        others: &[Level::made("on", &["-m", "rmapbt=1"]), Level::made("off", &["-m", "rmapbt=0"])],
        costs: "each allocation changes one more tree",
        says: "lets a mounted filesystem be checked and repaired",
        by_itself: true,
        ..ORDINARY
    },
    // mkfs.xfs(8), `-n size=`.
    ScreenedOption {
        name: "directory_block",
        usual: Level::unsaid("4096"),
        others: &[
            Level::made("16384", &["-n", "size=16384"]),
            Level::made("8192", &["-n", "size=8192"]),
            Level::made("65536", &["-n", "size=65536"]),
        ],
        costs: "each change of a folder logs and writes a larger block",
        says: "for folders of very many files",
        ..ORDINARY
    },
    SCHEDULER,
    READ_AHEAD,
    REQUESTS,
    DIRTY_RATIO,
    DIRTY_BACKGROUND_RATIO,
    // mkfs.xfs(8), `-d agcount=`: 4 on small disks. On lanes below 2 GiB a larger log does not fit into a smaller group.
    ScreenedOption {
        name: "agcount",
        others: &[Level::made("8", &["-d", "agcount=8"]), Level::made("16", &["-d", "agcount=16"])],
        costs: "less room in one piece, and in a group for the log",
        says: "more groups for more threads that allocate at once",
        ..ORDINARY
    },
    // mkfs.xfs(8), `-b size=`.
    ScreenedOption {
        name: "block_size",
        usual: Level::unsaid("4096"),
        others: &[Level::made("1024", &["-b", "size=1024"]), Level::made("2048", &["-b", "size=2048"])],
        costs: "more blocks to keep account of",
        says: "spares room where files are tiny",
        ..ORDINARY
    },
    // mkfs.xfs(8), `-i size=`.
    ScreenedOption {
        name: "inode_size",
        usual: Level::unsaid("512"),
        others: &[Level::made("1024", &["-i", "size=1024"]), Level::made("2048", &["-i", "size=2048"])],
        costs: "fewer inodes in each block",
        says: "keeps extended attributes in the inode",
        ..ORDINARY
    },
    // mkfs.xfs(8), `-m finobt=`; with it goes inobtcount.
    ScreenedOption {
        name: "finobt",
        usual: Level::unsaid("on"),
        others: &[Level::made("off", &["-m", "finobt=0"])],
        costs: "a free inode is looked for among the used ones as the filesystem ages",
        ..ORDINARY
    },
    // mkfs.xfs(8), `-i sparse=`.
    ScreenedOption {
        name: "sparse",
        usual: Level::unsaid("on"),
        others: &[Level::made("off", &["-i", "sparse=0"])],
        costs: "no new inodes where no 64 of them fit in one piece",
        ..ORDINARY
    },
    // mkfs.xfs(8), `-m bigtime=`.
    ScreenedOption {
        name: "bigtime",
        usual: Level::unsaid("on"),
        others: &[Level::made("off", &["-m", "bigtime=0"])],
        costs: "times end in 2038",
        ..ORDINARY
    },
    // xfs(5), `logbufs=value`.
    ScreenedOption {
        name: "logbufs",
        usual: Level::unsaid("8"),
        others: &[Level::mounted("2", &["logbufs=2"]), Level::mounted("4", &["logbufs=4"])],
        costs: "work on many files waits for the log",
        ..ORDINARY
    },
    // xfs(5), `largeio`: what it tells programs is the allocsize where there is no stripe.
    ScreenedOption {
        name: "largeio",
        usual: Level::unsaid("off"),
        others: &[Level::mounted("on", &["largeio"])],
        ..ORDINARY
    },
    // xfs(5), `swalloc`: of a filesystem with a stripe.
    ScreenedOption {
        name: "swalloc",
        usual: Level::unsaid("off"),
        others: &[Level::mounted("on", &["swalloc"])],
        ..ORDINARY
    },
    // xfs(5), `inode32`.
    ScreenedOption {
        name: "inode32",
        usual: Level::unsaid("off"),
        others: &[Level::mounted("on", &["inode32"])],
        costs: "inodes stay where their numbers have 32 bits: on large disks at its beginning",
        ..ORDINARY
    },
    // xfs(5), `filestreams`.
    ScreenedOption {
        name: "filestreams",
        usual: Level::unsaid("off"),
        others: &[Level::mounted("on", &["filestreams"])],
        says: "keeps the files of a folder together while several are written at once, as of video",
        ..ORDINARY
    },
    // xfs(5), `discard`; Fairlane's own lanes are mounted nodiscard.
    ScreenedOption {
        name: "discard",
        usual: Level::unsaid("off"),
        others: &[Level::mounted("on", &["discard"])],
        costs: "the disk is told of each extent that comes free; images get holes",
        ..ORDINARY
    },
    // mkfs.xfs(8), `-m crc=`; options that need it go with it.
    ScreenedOption {
        name: "crc",
        usual: Level::unsaid("on"),
        others: &[Level::made("off", &["-m", "crc=0"])],
        class: Promises,
        costs: "metadata that a disk changed is not noticed; an old format that kernels are giving up",
        excludes: &["reflink", "rmapbt", "finobt", "sparse", "bigtime"],
        ..ORDINARY
    },
    // xfs(5), `wsync`: it promises more.
    ScreenedOption {
        name: "wsync",
        usual: Level::unsaid("off"),
        others: &[Level::mounted("on", &["wsync"])],
        class: Promises,
        costs: "each file that is made, renamed or removed waits for the log",
        ..ORDINARY
    },
];
