//! Guarantees of lanes in records that hold none: read from their options and what mkfs told, by what the filesystems of
//! those records did.
//!
//! Nothing is added here: what lanes guarantee today their rows say (`lanes::filesystems`), and records hold it.
//!
//! Sources: Documentation/filesystems/ext4/ and admin-guide/ext4.rst, admin-guide/xfs.rst, f2fs.rst of Linux 6.18,
//! btrfs(5), mount(8), ext4(5) metadata_csum, mkfs.xfs(8) -m crc, mkfs.btrfs(8) profiles.

use model::lane::{CrashEffect, Guarantees, Lane, OptionEffect};

/// Options that have one effect. Of options with one `subject` the last counts; `effect` is `None` for those that take
/// one back, or are what the kernel does by itself.
struct Effect {
    filesystems: &'static [&'static str],
    subject: &'static str,
    options: &'static [&'static str],
    effect: Option<CrashEffect>,
}

const EXT: &[&str] = &["ext3", "ext4"];
const EXT_AND_REISERFS: &[&str] = &["ext3", "ext4", "reiserfs"];
/// Options that the kernel knows for every filesystem (mount(8)).
const ANY: &[&str] = &[];

const fn effect(
    filesystems: &'static [&'static str],
    subject: &'static str,
    options: &'static [&'static str],
    effect: Option<CrashEffect>,
) -> Effect {
    Effect { filesystems, subject, options, effect }
}

const EFFECTS: &[Effect] = &[
    effect(EXT_AND_REISERFS, "data", &["data=writeback"], Some(CrashEffect::StaleAfterCrash)),
    effect(EXT_AND_REISERFS, "data", &["data=journal"], Some(CrashEffect::JournalsData)),
    effect(EXT_AND_REISERFS, "data", &["data=ordered"], None),
    effect(EXT, "async commit", &["journal_async_commit"], Some(CrashEffect::CommitsOutOfOrder)),
    effect(EXT, "replace", &["noauto_da_alloc", "auto_da_alloc=0"], Some(CrashEffect::ReplacedMayBeEmpty)),
    effect(EXT, "replace", &["auto_da_alloc", "auto_da_alloc=1"], None),
    effect(EXT, "allocation", &["nodelalloc"], Some(CrashEffect::AllocatesAtOnce)),
    effect(EXT, "allocation", &["delalloc"], None),
    effect(&["xfs"], "wsync", &["wsync"], Some(CrashEffect::SynchronousNames)),
    effect(&["btrfs"], "flush", &["flushoncommit"], Some(CrashEffect::CommitsAllData)),
    effect(&["btrfs"], "flush", &["noflushoncommit"], None),
    effect(&["btrfs"], "log", &["notreelog"], Some(CrashEffect::CommitsAllAtFsync)),
    effect(&["btrfs"], "log", &["treelog"], None),
    effect(&["btrfs"], "root", &["usebackuproot", "rescue=usebackuproot", "recovery"], Some(CrashEffect::OlderState)),
    effect(&["btrfs"], "cow", &["nodatacow"], Some(CrashEffect::OverwritesInPlace)),
    effect(&["btrfs"], "cow", &["datacow"], None),
    effect(&["f2fs"], "fsync", &["fsync_mode=strict"], Some(CrashEffect::CommitsAllAtFsync)),
    effect(&["f2fs"], "fsync", &["fsync_mode=posix"], None),
    effect(&["f2fs"], "flush", &["data_flush"], Some(CrashEffect::CommitsAllData)),
    effect(&["nilfs2"], "data", &["order=strict"], Some(CrashEffect::KeepsOrder)),
    effect(&["nilfs2"], "data", &["order=relaxed"], None),
    effect(ANY, "sync", &["sync"], Some(CrashEffect::SynchronousWrites)),
    effect(ANY, "sync", &["async"], None),
    effect(ANY, "dirsync", &["dirsync"], Some(CrashEffect::SynchronousNames)),
    effect(ANY, "timestamps", &["lazytime"], Some(CrashEffect::LazyTimestamps)),
    effect(ANY, "timestamps", &["nolazytime"], None),
];

/// What a lane guaranteed.
pub(super) fn guarantees(lane: &Lane) -> Guarantees {
    Guarantees {
        metadata_checksums: metadata_checksums(lane),
        metadata_copies: metadata_copies(lane),
        options: effects(lane),
    }
}

/// Seconds after which the filesystem commits by itself what nobody synced, where no option says otherwise; `None`: it has
/// no such option.
fn usual_commit_seconds(filesystem: &str) -> Option<u32> {
    match filesystem {
        "ext3" | "ext4" => Some(5),
        "btrfs" | "reiserfs" => Some(30),
        _ => None,
    }
}

/// Whether a lane's metadata has checksums; `None`: nobody told.
fn metadata_checksums(lane: &Lane) -> Option<bool> {
    match lane.filesystem.as_str() {
        "ext2" | "ext3" | "ext4" => {
            let features = fact(lane, "Filesystem features: ")?;
            Some(features.split_whitespace().any(|feature| feature == "metadata_csum"))
        }
        "xfs" => Some(fact(lane, "meta-data crc: ")? == "1"),
        "btrfs" => Some(true),
        _ => None,
    }
}

/// How often Btrfs keeps its metadata on one device.
fn metadata_copies(lane: &Lane) -> Option<u32> {
    match fact(lane, "Metadata: ")?.split_whitespace().next()? {
        "DUP" => Some(2),
        "single" => Some(1),
        _ => None,
    }
}

fn fact<'a>(lane: &'a Lane, called: &str) -> Option<&'a str> {
    lane.geometry.iter().find_map(|line| line.strip_prefix(called))
}

/// The options of a lane that have an effect, with what it is.
fn effects(lane: &Lane) -> Vec<OptionEffect> {
    let mut last: Vec<(&str, OptionEffect)> = Vec::new();
    for option in &lane.mount_options {
        let says = |of: &&Effect| {
            (of.filesystems.is_empty() || of.filesystems.contains(&lane.filesystem.as_str()))
                && of.options.contains(&option.as_str())
        };
        let (subject, effect) = match EFFECTS.iter().find(says) {
            Some(of) => (of.subject, of.effect),
            None => match commit_seconds(lane, option) {
                Some(effect) => ("commit", effect),
                None => continue,
            },
        };
        last.retain(|(other, _)| *other != subject);
        last.extend(effect.map(|effect| (subject, OptionEffect { option: option.clone(), effect })));
    }
    last.into_iter().map(|(_, effect)| effect).collect()
}

/// `commit=N` beside what is usual; 0 stands for that.
fn commit_seconds(lane: &Lane, option: &str) -> Option<Option<CrashEffect>> {
    let usual_seconds = usual_commit_seconds(&lane.filesystem)?;
    let seconds: u32 = option.strip_prefix("commit=")?.parse().ok()?;
    let own = seconds != 0 && seconds != usual_seconds;
    Some(own.then_some(CrashEffect::CommitsEvery { seconds, usual_seconds }))
}
