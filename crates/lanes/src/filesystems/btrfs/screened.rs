//! Options of Btrfs that a screening can vary: mkfs.btrfs(8) and btrfs(5) of btrfs-progs 6.2.
//!
//! Read-ahead is not among them: Btrfs has an amount of its own (/sys/class/bdi/btrfs-N), whatever its disk's is.

use crate::screened_options::{
    DIRTY_BACKGROUND_RATIO, DIRTY_RATIO, Level, NOATIME, ORDINARY, REQUESTS, SCHEDULER, ScreenedOption,
};
use model::screening::OptionClass::Promises;

/// The table.
pub(super) const OPTIONS: &[ScreenedOption] = &[
    NOATIME,
    // mkfs.btrfs(8), `-n`.
    ScreenedOption {
        name: "node_size",
        usual: Level::unsaid("16K"),
        others: &[
            Level::made("4K", &["-n", "4096"]),
            Level::made("32K", &["-n", "32768"]),
            Level::made("64K", &["-n", "65536"]),
        ],
        costs: "taller trees in more pieces",
        says: "smaller nodes for threads that wait for each other, larger ones for less fragmentation",
        by_itself: true,
        ..ORDINARY
    },
    // mkfs.btrfs(8), feature no-holes.
    ScreenedOption {
        name: "no_holes",
        usual: Level::unsaid("on"),
        others: &[Level::made("off", &["-O", "^no-holes"])],
        costs: "holes of sparse files take metadata",
        excludes: &["block_group_tree"],
        by_itself: true,
        ..ORDINARY
    },
    // btrfs(5), `autodefrag`.
    ScreenedOption {
        name: "autodefrag",
        usual: Level::unsaid("off"),
        others: &[Level::mounted("on", &["autodefrag"])],
        costs: "small random writes are written once more in the background; breaks up shared blocks",
        says: "for small databases of desktops, and not for large ones",
        by_itself: true,
        ..ORDINARY
    },
    // btrfs(5), `commit=seconds`.
    ScreenedOption {
        name: "commit",
        usual: Level::unsaid("30"),
        others: &[
            Level::mounted("120", &["commit=120"]),
            Level::mounted("300", &["commit=300"]),
            Level::mounted("5", &["commit=5"]),
        ],
        costs: "a crash takes up to 120 s of what nobody synced, instead of 30",
        says: "fewer commits, for laptops and SSDs",
        by_itself: true,
        ..ORDINARY
    },
    // btrfs(5), `max_inline=bytes`.
    ScreenedOption {
        name: "max_inline",
        usual: Level::unsaid("2048"),
        others: &[Level::mounted("0", &["max_inline=0"]), Level::mounted("512", &["max_inline=512"])],
        costs: "each small file takes a block of its own",
        says: "less metadata, of which there are two copies",
        by_itself: true,
        ..ORDINARY
    },
    // btrfs(5), `ssd`: on where the kernel calls the disk non-rotational.
    ScreenedOption {
        name: "ssd",
        others: &[
            Level::mounted("spread", &["ssd_spread"]),
            Level::mounted("on", &["ssd"]),
            Level::mounted("off", &["nossd"]),
        ],
        costs: "large aligned pieces of free space are used up first",
        says: "for the first SSDs",
        by_itself: true,
        ..ORDINARY
    },
    // btrfs(5), `thread_pool=number`: CPUs + 2, 8 at most.
    ScreenedOption {
        name: "thread_pool",
        others: &[Level::mounted("16", &["thread_pool=16"]), Level::mounted("1", &["thread_pool=1"])],
        by_itself: true,
        ..ORDINARY
    },
    SCHEDULER,
    REQUESTS,
    DIRTY_RATIO,
    DIRTY_BACKGROUND_RATIO,
    // mkfs.btrfs(8), `--csum`.
    ScreenedOption {
        name: "csum",
        usual: Level::unsaid("crc32c"),
        others: &[
            Level::made("xxhash", &["--csum", "xxhash"]),
            Level::made("sha256", &["--csum", "sha256"]),
            Level::made("blake2", &["--csum", "blake2"]),
        ],
        costs: "another module of the kernel's; 8 bytes a block instead of 4",
        says: "fast on CPUs without an instruction for crc32c",
        ..ORDINARY
    },
    // btrfs(5), `compress=`. What it does depends on the data of the work.
    ScreenedOption {
        name: "compress",
        usual: Level::unsaid("off"),
        others: &[
            Level::mounted("zstd:1", &["compress=zstd:1"]),
            Level::mounted("lzo", &["compress=lzo"]),
            Level::mounted("zstd:3", &["compress=zstd:3"]),
        ],
        costs: "CPU time; what it gains depends on the data",
        says: "less to write, so that slow disks gain",
        excludes: &["datacow", "datasum"],
        ..ORDINARY
    },
    // mkfs.btrfs(8), `-O block-group-tree`, since kernel 6.1.
    ScreenedOption {
        name: "block_group_tree",
        usual: Level::unsaid("off"),
        others: &[Level::made("on", &["-O", "block-group-tree"])],
        costs: "kernels before 6.1 do not write to it",
        says: "shorter mounts of large filesystems",
        excludes: &["no_holes", "free_space_tree"],
        ..ORDINARY
    },
    // mkfs.btrfs(8), runtime feature free-space-tree: on since 5.15.
    ScreenedOption {
        name: "free_space_tree",
        // A mount cannot take the tree away again.
        also: &["space_cache"],
        usual: Level::unsaid("on"),
        others: &[Level::made("off", &["-R", "^free-space-tree"])],
        costs: "mkfs leaves the older space cache (v1), which lies in files",
        excludes: &["block_group_tree"],
        ..ORDINARY
    },
    // btrfs(5), `notreelog`: each fsync is a whole commit.
    ScreenedOption {
        name: "treelog",
        usual: Level::unsaid("on"),
        others: &[Level::mounted("off", &["notreelog"])],
        costs: "each fsync commits the whole filesystem",
        ..ORDINARY
    },
    // btrfs(5), `discard=async`; Fairlane's own lanes are mounted nodiscard.
    ScreenedOption {
        name: "discard",
        usual: Level::unsaid("off"),
        others: &[Level::mounted("async", &["discard=async"]), Level::mounted("sync", &["discard=sync"])],
        costs: "the disk is told of space that comes free; images get holes",
        ..ORDINARY
    },
    // mkfs.btrfs(8), `-m`: on one disk metadata has two copies by itself.
    ScreenedOption {
        name: "metadata",
        usual: Level::unsaid("dup"),
        others: &[Level::made("single", &["-m", "single"])],
        class: Promises,
        costs: "metadata that a disk changed cannot be repaired from a second copy",
        says: "half of the metadata's writes, for SSDs",
        ..ORDINARY
    },
    // btrfs(5), `nodatacow`, which is `nodatasum` too.
    ScreenedOption {
        name: "datacow",
        usual: Level::unsaid("on"),
        others: &[Level::mounted("off", &["nodatacow"])],
        class: Promises,
        costs: "no checksums of data, no compression; a crash may leave half of a write",
        says: "for databases and disks of virtual machines",
        excludes: &["datasum", "compress"],
        ..ORDINARY
    },
    // btrfs(5), `nodatasum`.
    ScreenedOption {
        name: "datasum",
        usual: Level::unsaid("on"),
        others: &[Level::mounted("off", &["nodatasum"])],
        class: Promises,
        costs: "data that a disk changed is not noticed; no compression",
        excludes: &["datacow", "compress"],
        ..ORDINARY
    },
    // btrfs(5), `flushoncommit`: it promises more.
    ScreenedOption {
        name: "flushoncommit",
        usual: Level::unsaid("off"),
        others: &[Level::mounted("on", &["flushoncommit"])],
        class: Promises,
        costs: "each commit waits for all data that was written before",
        ..ORDINARY
    },
    // btrfs(5), `nobarrier`.
    ScreenedOption {
        name: "barrier",
        usual: Level::unsaid("on"),
        others: &[Level::mounted("off", &["nobarrier"])],
        class: Promises,
        costs: "a power cut may take what fsync called safe, and the filesystem",
        says: "for controllers with a battery",
        ..ORDINARY
    },
];
