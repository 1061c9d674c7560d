//! What two lanes guarantee differently after a crash, or at other moments: said beside a verdict. What takes a whole
//! promise away (barriers, the journal) is in `Promises`, and no verdict is given then.

mod earlier_records;

use crate::statements::{name, pair as statement};
use model::Sentence;
use model::lane::{CrashEffect, Guarantees, Lane};
use model::sentence::Value;
use std::borrow::Cow;

/// What sets two lanes apart, a sentence for each option that one of them has alone.
pub(crate) fn unlike(a: &Lane, b: &Lane) -> Vec<Sentence> {
    let (of_a, of_b) = (guarantees(a), guarantees(b));
    let alone = |lane: &Lane, of: &Guarantees, other: &Guarantees| -> Vec<Sentence> {
        let own = of.options.iter().filter(|own| !other.options.iter().any(|same| same.option == own.option));
        own.map(|own| said(own.effect, &lane.name, &own.option)).collect()
    };
    let made =
        [no_checksums(a, &of_a, &of_b), no_checksums(b, &of_b, &of_a), once(a, &of_a, &of_b), once(b, &of_b, &of_a)];
    [alone(a, &of_a, &of_b), alone(b, &of_b, &of_a), made.into_iter().flatten().collect()].concat()
}

/// What a lane guarantees: as its record has it, and otherwise as its text tells.
fn guarantees(lane: &Lane) -> Cow<'_, Guarantees> {
    match &lane.guarantees {
        Some(known) => Cow::Borrowed(known),
        None => Cow::Owned(earlier_records::guarantees(lane)),
    }
}

/// That a lane's metadata lacks the checksums that another one's is known to have.
fn no_checksums(lane: &Lane, of: &Guarantees, other: &Guarantees) -> Option<Sentence> {
    let lacks = of.metadata_checksums == Some(false) && other.metadata_checksums == Some(true);
    lacks.then(|| statement::no_metadata_checksums(name(&lane.name)))
}

/// That a lane's metadata is kept once, and another one's twice.
fn once(lane: &Lane, of: &Guarantees, other: &Guarantees) -> Option<Sentence> {
    let once = of.metadata_copies == Some(1) && other.metadata_copies == Some(2);
    once.then(|| statement::metadata_once(name(&lane.name)))
}

/// What an option of a lane does.
fn said(effect: CrashEffect, lane: &str, option: &str) -> Sentence {
    let (lane, option) = (name(lane), name(option));
    match effect {
        CrashEffect::StaleAfterCrash => statement::stale_after_crash(lane, option),
        CrashEffect::JournalsData => statement::journals_data(lane, option),
        CrashEffect::CommitsOutOfOrder => statement::commits_out_of_order(lane, option),
        CrashEffect::ReplacedMayBeEmpty => statement::replaced_may_be_empty(lane, option),
        CrashEffect::AllocatesAtOnce => statement::allocates_at_once(lane, option),
        CrashEffect::SynchronousNames => statement::synchronous_names(lane, option),
        CrashEffect::CommitsAllData => statement::commits_all_data(lane, option),
        CrashEffect::CommitsAllAtFsync => statement::commits_all_at_fsync(lane, option),
        CrashEffect::OlderState => statement::older_state(lane, option),
        CrashEffect::OverwritesInPlace => statement::overwrites_in_place(lane, option),
        CrashEffect::KeepsOrder => statement::keeps_order(lane, option),
        CrashEffect::SynchronousWrites => statement::synchronous_writes(lane, option),
        CrashEffect::LazyTimestamps => statement::lazy_timestamps(lane, option),
        CrashEffect::CommitsEvery { seconds, usual_seconds } => {
            let [seconds, usual] = [seconds, usual_seconds].map(|seconds| Value::Count(u64::from(seconds)));
            statement::commits_every(lane, option, seconds, usual)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::comparable::tests::lane;
    use model::lane::OptionEffect;

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
    fn what_a_record_holds_counts_and_no_text_beside_it() {
        let effect = CrashEffect::CommitsEvery { seconds: 300, usual_seconds: 7 };
        let options = vec![OptionEffect { option: "flush=300".to_owned(), effect }];
        let known = Guarantees { options, metadata_checksums: Some(false), metadata_copies: Some(1) };
        // A filesystem that nobody here knows, and options that would mean something else by their text.
        let new = Lane { guarantees: Some(known.clone()), ..with("newfs", "data=writeback sync") };
        let other = Guarantees { options: Vec::new(), metadata_checksums: Some(true), metadata_copies: Some(2) };
        let other = Lane { guarantees: Some(other), ..with("ext4", "data=writeback") };
        let found: Vec<String> = unlike(&new, &other).iter().map(ToString::to_string).collect();
        assert_eq!(found.len(), 3, "{found:?}");
        for (said, words) in found.iter().zip(["flush=300", "no checksums", "kept once"]) {
            assert!(said.contains(words), "{found:?}");
        }
        assert!(found[0].contains("300 s") && found[0].contains("7 s"), "{}", found[0]);
        assert!(unlike(&new, &new).is_empty());
        // Beside an older record, which is read by its text.
        let older = with("btrfs", "nodatacow");
        assert_eq!(unlike(&older, &new).len(), 3, "{:?}", unlike(&older, &new));
    }

    #[test]
    fn what_both_have_is_no_difference() {
        let both = with("ext4", "data=writeback commit=60");
        assert!(unlike(&both, &both).is_empty());
        assert_eq!(unlike(&both, &with("ext4", "data=writeback commit=30")).len(), 2, "60 s beside 30 s");
    }
}
