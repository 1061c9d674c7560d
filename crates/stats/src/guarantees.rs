//! Options of two lanes after which they guarantee different things after a crash, or at other moments: said beside a
//! verdict. What takes a whole promise away (barriers, the journal) is in `Promises`, and no verdict is given then.
//!
//! What mkfs left out is read from what its tool told of the new filesystem (`Lane::geometry`), not from options: defaults
//! differ between versions and sizes.
//!
//! Sources: Documentation/filesystems/ext4/ and admin-guide/ext4.rst, admin-guide/xfs.rst, f2fs.rst of Linux 6.18,
//! btrfs(5), mount(8), ext4(5) metadata_csum, mkfs.xfs(8) -m crc, mkfs.btrfs(8) profiles.

use crate::statements::{name, pair as statement};
use model::Sentence;
use model::lane::Lane;
use model::sentence::Value;

type Said = fn(Value, Value) -> Sentence;

/// Options that have one effect. Of options with one `subject` the last counts; `said` is `None` for those that take
/// an effect back, or are what the kernel does by itself.
struct Effect {
    filesystems: &'static [&'static str],
    subject: &'static str,
    options: &'static [&'static str],
    said: Option<Said>,
}

const EXT: &[&str] = &["ext3", "ext4"];
const EXT_AND_REISERFS: &[&str] = &["ext3", "ext4", "reiserfs"];
/// Options that the kernel knows for every filesystem (mount(8)).
const ANY: &[&str] = &[];

const fn effect(
    filesystems: &'static [&'static str],
    subject: &'static str,
    options: &'static [&'static str],
    said: Option<Said>,
) -> Effect {
    Effect { filesystems, subject, options, said }
}

const EFFECTS: &[Effect] = &[
    effect(EXT_AND_REISERFS, "data", &["data=writeback"], Some(statement::stale_after_crash)),
    effect(EXT_AND_REISERFS, "data", &["data=journal"], Some(statement::journals_data)),
    effect(EXT_AND_REISERFS, "data", &["data=ordered"], None),
    effect(EXT, "async commit", &["journal_async_commit"], Some(statement::commits_out_of_order)),
    effect(EXT, "replace", &["noauto_da_alloc", "auto_da_alloc=0"], Some(statement::replaced_may_be_empty)),
    effect(EXT, "replace", &["auto_da_alloc", "auto_da_alloc=1"], None),
    effect(EXT, "allocation", &["nodelalloc"], Some(statement::allocates_at_once)),
    effect(EXT, "allocation", &["delalloc"], None),
    effect(&["xfs"], "wsync", &["wsync"], Some(statement::synchronous_names)),
    effect(&["btrfs"], "flush", &["flushoncommit"], Some(statement::commits_all_data)),
    effect(&["btrfs"], "flush", &["noflushoncommit"], None),
    effect(&["btrfs"], "log", &["notreelog"], Some(statement::commits_all_at_fsync)),
    effect(&["btrfs"], "log", &["treelog"], None),
    effect(&["btrfs"], "root", &["usebackuproot", "rescue=usebackuproot", "recovery"], Some(statement::older_state)),
    effect(&["btrfs"], "cow", &["nodatacow"], Some(statement::overwrites_in_place)),
    effect(&["btrfs"], "cow", &["datacow"], None),
    effect(&["f2fs"], "fsync", &["fsync_mode=strict"], Some(statement::commits_all_at_fsync)),
    effect(&["f2fs"], "fsync", &["fsync_mode=posix"], None),
    effect(&["f2fs"], "flush", &["data_flush"], Some(statement::commits_all_data)),
    effect(&["nilfs2"], "data", &["order=strict"], Some(statement::keeps_order)),
    effect(&["nilfs2"], "data", &["order=relaxed"], None),
    effect(ANY, "sync", &["sync"], Some(statement::synchronous_writes)),
    effect(ANY, "sync", &["async"], None),
    effect(ANY, "dirsync", &["dirsync"], Some(statement::synchronous_names)),
    effect(ANY, "timestamps", &["lazytime"], Some(statement::lazy_timestamps)),
    effect(ANY, "timestamps", &["nolazytime"], None),
];

/// Seconds after which the filesystem commits by itself what nobody synced, where no option says otherwise; `None`: it has
/// no such option.
fn usual_commit_seconds(filesystem: &str) -> Option<u32> {
    match filesystem {
        "ext3" | "ext4" => Some(5),
        "btrfs" | "reiserfs" => Some(30),
        _ => None,
    }
}

/// What sets two lanes apart, a sentence for each option that one of them has alone.
pub(crate) fn unlike(a: &Lane, b: &Lane) -> Vec<Sentence> {
    let (of_a, of_b) = (effects(a), effects(b));
    let alone = |of: &[(String, Sentence)], other: &[(String, Sentence)]| -> Vec<Sentence> {
        of.iter()
            .filter(|(option, _)| !other.iter().any(|(same, _)| same == option))
            .map(|(_, said)| said.clone())
            .collect()
    };
    [alone(&of_a, &of_b), alone(&of_b, &of_a), made_unlike(a, b)].concat()
}

/// What mkfs gave one of two lanes and not the other, as far as both are known to have it or not.
fn made_unlike(a: &Lane, b: &Lane) -> Vec<Sentence> {
    let checksums = match (metadata_checksums(a), metadata_checksums(b)) {
        (Some(false), Some(true)) => Some(statement::no_metadata_checksums(name(&a.name))),
        (Some(true), Some(false)) => Some(statement::no_metadata_checksums(name(&b.name))),
        _ => None,
    };
    let copies = match (metadata_profile(a), metadata_profile(b)) {
        (Some("DUP"), Some("single")) => Some(statement::metadata_once(name(&b.name))),
        (Some("single"), Some("DUP")) => Some(statement::metadata_once(name(&a.name))),
        _ => None,
    };
    checksums.into_iter().chain(copies).collect()
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

/// How often Btrfs keeps its metadata on one device: `single` or `DUP`.
fn metadata_profile(lane: &Lane) -> Option<&str> {
    fact(lane, "Metadata: ")?.split_whitespace().next()
}

fn fact<'a>(lane: &'a Lane, called: &str) -> Option<&'a str> {
    lane.geometry.iter().find_map(|line| line.strip_prefix(called))
}

/// The options of a lane that have an effect, with what it is.
fn effects(lane: &Lane) -> Vec<(String, Sentence)> {
    let mut last: Vec<(&str, String, Option<Sentence>)> = Vec::new();
    for option in &lane.mount_options {
        let says = |of: &&Effect| {
            (of.filesystems.is_empty() || of.filesystems.contains(&lane.filesystem.as_str()))
                && of.options.contains(&option.as_str())
        };
        let (subject, said) = match EFFECTS.iter().find(says) {
            Some(of) => (of.subject, of.said.map(|said| said(name(&lane.name), name(option)))),
            None => match commit_seconds(lane, option) {
                Some(said) => ("commit", said),
                None => continue,
            },
        };
        last.retain(|(other, ..)| *other != subject);
        last.push((subject, option.clone(), said));
    }
    last.into_iter().filter_map(|(_, option, said)| Some((option, said?))).collect()
}

/// `commit=N` beside what is usual; 0 stands for that.
fn commit_seconds(lane: &Lane, option: &str) -> Option<Option<Sentence>> {
    let usual = usual_commit_seconds(&lane.filesystem)?;
    let seconds: u32 = option.strip_prefix("commit=")?.parse().ok()?;
    let own = seconds != 0 && seconds != usual;
    let numbers = [seconds, usual].map(|seconds| Value::Count(u64::from(seconds)));
    let [seconds, usual] = numbers;
    Some(own.then(|| statement::commits_every(name(&lane.name), name(option), seconds, usual)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::comparable::tests::lane;

    fn with(filesystem: &str, options: &str) -> Lane {
        let mount_options = options.split_whitespace().map(str::to_owned).collect();
        Lane { filesystem: filesystem.to_owned(), mount_options, ..lane("it", "image", "6.18") }
    }

    fn said(filesystem: &str, options: &str) -> Vec<String> {
        unlike(&with(filesystem, options), &with("xfs", "")).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn every_option_that_moves_a_guarantee_is_named() {
        for (filesystem, option, words) in [
            ("ext4", "data=writeback", "old contents"),
            ("ext4", "data=journal", "twice"),
            ("ext4", "journal_async_commit", "checksum"),
            ("ext4", "commit=300", "300 s"),
            ("ext4", "nodelalloc", "when write is called"),
            ("ext4", "noauto_da_alloc", "rename"),
            ("xfs", "wsync", "when the call returns"),
            ("btrfs", "flushoncommit", "data"),
            ("btrfs", "notreelog", "fsync"),
            ("btrfs", "usebackuproot", "older"),
            ("btrfs", "commit=120", "120 s"),
            ("btrfs", "nodatacow", "in place"),
            ("f2fs", "fsync_mode=strict", "fsync"),
            ("nilfs2", "order=strict", "order in which"),
            ("jfs", "lazytime", "timestamps"),
            ("exfat", "sync", "when the call returns"),
        ] {
            let found = said(filesystem, option);
            assert_eq!(found.len(), 1, "{filesystem} {option}: {found:?}");
            assert!(found[0].contains(option) && found[0].contains(words), "{}", found[0]);
        }
    }

    #[test]
    fn the_last_of_a_kind_counts_and_what_is_usual_is_not_named() {
        for (filesystem, options) in [
            ("ext4", "data=writeback data=ordered"),
            ("ext4", "nodelalloc delalloc"),
            ("ext4", "commit=300 commit=5"),
            ("ext4", "commit=0"),
            ("btrfs", "commit=30 notreelog treelog"),
            ("btrfs", "wsync"),
            ("xfs", "data=writeback"),
            ("ext4", "noatime nodiscard"),
        ] {
            assert!(said(filesystem, options).is_empty(), "{filesystem} {options}: {:?}", said(filesystem, options));
        }
        assert_eq!(said("ext4", "data=ordered data=writeback").len(), 1);
    }

    fn made(filesystem: &str, geometry: &[&str]) -> Lane {
        Lane { geometry: geometry.iter().map(|line| (*line).to_owned()).collect(), ..with(filesystem, "") }
    }

    #[test]
    fn what_mkfs_left_out_is_named_where_the_other_lane_is_known_to_have_it() {
        let bare = made("ext4", &["Filesystem features: has_journal extent 64bit"]);
        let usual = made("ext4", &["Filesystem features: has_journal extent 64bit metadata_csum"]);
        let old_xfs = made("xfs", &["meta-data crc: 0"]);
        let btrfs = made("btrfs", &["Metadata: DUP 256.00MiB"]);
        let once = made("btrfs", &["Metadata: single 8.00MiB"]);
        for (a, b, words) in [
            (&bare, &usual, "metadata has no checksums"),
            (&btrfs, &old_xfs, "metadata has no checksums"),
            (&once, &btrfs, "kept once"),
        ] {
            for found in [unlike(a, b), unlike(b, a)] {
                assert_eq!(found.len(), 1, "{found:?}");
                assert!(found[0].to_string().contains(words), "{}", found[0]);
            }
        }
        for (a, b) in [(&bare, &old_xfs), (&usual, &btrfs), (&bare, &made("ext4", &[])), (&bare, &made("jfs", &[]))] {
            assert!(unlike(a, b).is_empty(), "{:?}", unlike(a, b));
        }
    }

    #[test]
    fn what_both_have_is_no_difference() {
        let both = with("ext4", "data=writeback commit=60");
        assert!(unlike(&both, &both).is_empty());
        assert_eq!(unlike(&both, &with("ext4", "data=writeback commit=30")).len(), 2, "60 s beside 30 s");
    }
}
