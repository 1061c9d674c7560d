//! Options of F2FS that a screening can vary: the kernel's Documentation/filesystems/f2fs.rst, and f2fs-tools 1.15.

use crate::screened_options::{
    DIRTY_BACKGROUND_RATIO, DIRTY_RATIO, Level, NOATIME, ORDINARY, READ_AHEAD, REQUESTS, SCHEDULER, ScreenedOption,
};
use model::screening::OptionClass::Promises;

/// The table.
pub(super) const OPTIONS: &[ScreenedOption] = &[
    NOATIME,
    // f2fs.rst, `noinline_data`.
    ScreenedOption {
        name: "inline_data",
        usual: Level::unsaid("on"),
        others: &[Level::mounted("off", &["noinline_data"])],
        costs: "each small file takes a block of its own",
        by_itself: true,
        ..ORDINARY
    },
    // f2fs.rst, `noinline_dentry`.
    ScreenedOption {
        name: "inline_dentry",
        usual: Level::unsaid("on"),
        others: &[Level::mounted("off", &["noinline_dentry"])],
        costs: "each small folder takes a block of its own",
        by_itself: true,
        ..ORDINARY
    },
    // f2fs.rst, `noflush_merge`.
    ScreenedOption {
        name: "flush_merge",
        usual: Level::unsaid("on"),
        others: &[Level::mounted("off", &["noflush_merge"])],
        costs: "each of several syncs at once flushes the disk",
        by_itself: true,
        ..ORDINARY
    },
    // f2fs.rst, `noextent_cache`.
    ScreenedOption {
        name: "extent_cache",
        usual: Level::unsaid("on"),
        others: &[Level::mounted("off", &["noextent_cache"])],
        costs: "places of blocks are looked up in nodes",
        ..ORDINARY
    },
    // f2fs.rst, `mode=`.
    ScreenedOption {
        name: "mode",
        usual: Level::unsaid("adaptive"),
        others: &[Level::mounted("lfs", &["mode=lfs"])],
        costs: "nothing is written in place, so that space is cleaned sooner",
        says: "long writes alone, for disks that like nothing else",
        by_itself: true,
        ..ORDINARY
    },
    // f2fs.rst, `active_logs=`: 2, 4 or 6.
    ScreenedOption {
        name: "active_logs",
        usual: Level::unsaid("6"),
        others: &[Level::mounted("2", &["active_logs=2"]), Level::mounted("4", &["active_logs=4"])],
        costs: "what changes often and what never does lie together",
        ..ORDINARY
    },
    // f2fs.rst, `alloc_mode=`; small disks have reuse by themselves (fs/f2fs/super.c, f2fs_tuning_parameters).
    ScreenedOption {
        name: "alloc_mode",
        usual: Level::unsaid("by-size"),
        others: &[Level::mounted("reuse", &["alloc_mode=reuse"]), Level::mounted("default", &["alloc_mode=default"])],
        by_itself: true,
        ..ORDINARY
    },
    // f2fs.rst, `checkpoint_merge`, since Linux 5.12; most kernels since have it on by themselves.
    ScreenedOption {
        name: "checkpoint_merge",
        others: &[Level::mounted("off", &["nocheckpoint_merge"]), Level::mounted("on", &["checkpoint_merge"])],
        costs: "threads that ask for a checkpoint at once do not share one",
        by_itself: true,
        ..ORDINARY
    },
    SCHEDULER,
    READ_AHEAD,
    REQUESTS,
    DIRTY_RATIO,
    DIRTY_BACKGROUND_RATIO,
    // f2fs.rst, `background_gc=`.
    ScreenedOption {
        name: "background_gc",
        usual: Level::unsaid("on"),
        others: &[Level::mounted("off", &["background_gc=off"]), Level::mounted("sync", &["background_gc=sync"])],
        costs: "space is cleaned while writers wait",
        ..ORDINARY
    },
    // f2fs.rst, `discard`; Fairlane's own lanes are mounted nodiscard.
    ScreenedOption {
        name: "discard",
        usual: Level::unsaid("off"),
        others: &[Level::mounted("on", &["discard"])],
        costs: "the disk is told of segments that come free; images get holes",
        ..ORDINARY
    },
    // f2fs.rst, `fsync_mode=`: strict promises more, nobarrier less.
    ScreenedOption {
        name: "fsync_mode",
        usual: Level::unsaid("posix"),
        others: &[
            Level::mounted("strict", &["fsync_mode=strict"]),
            Level::mounted("nobarrier", &["fsync_mode=nobarrier"]),
        ],
        class: Promises,
        costs: "fsync waits for what other filesystems sync with it",
        ..ORDINARY
    },
];
