//! What a lane guarantees after a crash, or when it does, beside its promises: which of its mount options change that, and
//! what its mkfs told of its metadata.

use crate::filesystems::{self, Filesystem};
use model::lane::{CrashEffect, Guarantees, OptionEffect};

/// Mount options that have one effect. Of options with one `subject` the last counts.
#[derive(Debug, Clone, Copy)]
pub struct GuaranteeOption {
    subject: &'static str,
    options: &'static [&'static str],
    /// `None`: they take an effect back, or are what the kernel does by itself.
    effect: Option<CrashEffect>,
}

impl GuaranteeOption {
    /// Options, all of which do the same to a subject.
    pub(crate) const fn new(
        subject: &'static str,
        options: &'static [&'static str],
        effect: Option<CrashEffect>,
    ) -> GuaranteeOption {
        GuaranteeOption { subject, options, effect }
    }
}

/// Options that the kernel knows for every filesystem (mount(8)).
const OF_ALL: &[GuaranteeOption] = &[
    GuaranteeOption::new("sync", &["sync"], Some(CrashEffect::SynchronousWrites)),
    GuaranteeOption::new("sync", &["async"], None),
    GuaranteeOption::new("dirsync", &["dirsync"], Some(CrashEffect::SynchronousNames)),
    GuaranteeOption::new("timestamps", &["lazytime"], Some(CrashEffect::LazyTimestamps)),
    GuaranteeOption::new("timestamps", &["nolazytime"], None),
];

/// What a filesystem of this name guarantees with these mount options and of this geometry.
pub(crate) fn guarantees(filesystem: &str, mount_options: &[String], geometry: &[String]) -> Guarantees {
    let row = filesystems::find(filesystem);
    Guarantees {
        metadata_checksums: row.and_then(|row| (row.metadata_checksums)(geometry)),
        metadata_copies: row.and_then(|row| (row.metadata_copies)(geometry)),
        options: effects(row, mount_options),
    }
}

fn effects(row: Option<&Filesystem>, mount_options: &[String]) -> Vec<OptionEffect> {
    let own = row.map(|row| row.guarantee_options).unwrap_or_default();
    let mut last: Vec<(&str, OptionEffect)> = Vec::new();
    for option in mount_options {
        let known = own.iter().chain(OF_ALL).find(|of| of.options.contains(&option.as_str()));
        let (subject, effect) = match known {
            Some(of) => (of.subject, of.effect),
            None => match row.and_then(|row| row.commit_seconds).and_then(|usual| commits(option, usual)) {
                Some(effect) => ("commit", effect),
                None => continue,
            },
        };
        last.retain(|(other, _)| *other != subject);
        last.extend(effect.map(|effect| (subject, OptionEffect { option: option.clone(), effect })));
    }
    last.into_iter().map(|(_, effect)| effect).collect()
}

/// The effect of `commit=N` beside what is usual, for which 0 stands; `None`: it is no such option.
fn commits(option: &str, usual_seconds: u32) -> Option<Option<CrashEffect>> {
    let seconds: u32 = option.strip_prefix("commit=")?.parse().ok()?;
    let own = seconds != 0 && seconds != usual_seconds;
    Some(own.then_some(CrashEffect::CommitsEvery { seconds, usual_seconds }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<String> {
        line.split_whitespace().map(str::to_owned).collect()
    }

    fn told(filesystem: &str, options: &str) -> Vec<(String, CrashEffect)> {
        let found = guarantees(filesystem, &words(options), &[]).options;
        found.into_iter().map(|of| (of.option, of.effect)).collect()
    }

    #[test]
    fn every_option_that_moves_a_guarantee_is_found_by_its_filesystem() {
        for (filesystem, option, effect) in [
            ("ext4", "data=writeback", CrashEffect::StaleAfterCrash),
            ("ext3", "data=journal", CrashEffect::JournalsData),
            ("reiserfs", "data=writeback", CrashEffect::StaleAfterCrash),
            ("ext4", "journal_async_commit", CrashEffect::CommitsOutOfOrder),
            ("ext4", "noauto_da_alloc", CrashEffect::ReplacedMayBeEmpty),
            ("ext4", "nodelalloc", CrashEffect::AllocatesAtOnce),
            ("ext4", "commit=300", CrashEffect::CommitsEvery { seconds: 300, usual_seconds: 5 }),
            ("btrfs", "commit=120", CrashEffect::CommitsEvery { seconds: 120, usual_seconds: 30 }),
            ("xfs", "wsync", CrashEffect::SynchronousNames),
            ("btrfs", "flushoncommit", CrashEffect::CommitsAllData),
            ("btrfs", "notreelog", CrashEffect::CommitsAllAtFsync),
            ("btrfs", "rescue=usebackuproot", CrashEffect::OlderState),
            ("btrfs", "nodatacow", CrashEffect::OverwritesInPlace),
            ("f2fs", "fsync_mode=strict", CrashEffect::CommitsAllAtFsync),
            ("f2fs", "data_flush", CrashEffect::CommitsAllData),
            ("nilfs2", "order=strict", CrashEffect::KeepsOrder),
            ("exfat", "sync", CrashEffect::SynchronousWrites),
            ("one of the user's own", "lazytime", CrashEffect::LazyTimestamps),
        ] {
            assert_eq!(told(filesystem, option), [(option.to_owned(), effect)], "{filesystem}");
        }
    }

    #[test]
    fn of_one_subject_the_last_option_counts_and_what_is_usual_has_no_effect() {
        for (filesystem, options) in [
            ("ext4", "data=writeback data=ordered"),
            ("ext4", "commit=300 commit=5"),
            ("ext4", "commit=0"),
            ("btrfs", "commit=30 notreelog treelog"),
            // Options of others.
            ("btrfs", "wsync"),
            ("xfs", "data=writeback commit=300"),
            ("ext2", "data=writeback commit=300 nodelalloc"),
            ("ext4", "noatime nodiscard"),
        ] {
            assert_eq!(told(filesystem, options), [], "{filesystem} {options}");
        }
        let found = told("ext4", "data=journal sync data=writeback");
        assert_eq!(found.iter().map(|(option, _)| option.as_str()).collect::<Vec<_>>(), ["sync", "data=writeback"]);
    }

    #[test]
    fn what_mkfs_told_of_metadata_is_known() {
        let of = |filesystem: &str, geometry: &str| {
            let found = guarantees(filesystem, &[], &[geometry.to_owned()]);
            (found.metadata_checksums, found.metadata_copies)
        };
        assert_eq!(of("ext4", "Filesystem features: has_journal 64bit"), (Some(false), None));
        assert_eq!(of("ext2", "Filesystem features: metadata_csum"), (Some(true), None));
        assert_eq!(of("ext4", "Inode size: 256"), (None, None));
        assert_eq!((of("xfs", "meta-data crc: 1").0, of("xfs", "meta-data crc: 0").0), (Some(true), Some(false)));
        assert_eq!(of("btrfs", "Metadata: DUP 256.00MiB"), (Some(true), Some(2)));
        assert_eq!(of("btrfs", "Metadata: single 8.00MiB"), (Some(true), Some(1)));
        assert_eq!(of("btrfs", "Metadata: RAID1 256.00MiB"), (Some(true), None));
        assert_eq!(of("jfs", "Metadata: DUP"), (None, None));
    }
}
