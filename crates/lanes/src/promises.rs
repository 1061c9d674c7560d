//! What a filesystem promises with the options it was given: what decides whether two lanes'
//! speeds may be ranked. One small function per family; the last option wins, as in the kernel.

use model::lane::Promises;

/// Everything promised except data checksums: a journaling filesystem with its defaults.
const JOURNALED: Promises =
    Promises { journal: true, data_checksums: false, fsync_reaches_stable_storage: true, barriers: true };

/// Nothing promised.
pub(crate) const NOTHING: Promises =
    Promises { journal: false, data_checksums: false, fsync_reaches_stable_storage: false, barriers: false };

fn without_barriers(promises: Promises, off: bool) -> Promises {
    // Without flushes, fsync returns while the device's cache still holds the data.
    Promises {
        barriers: promises.barriers && !off,
        fsync_reaches_stable_storage: promises.barriers && !off,
        ..promises
    }
}

/// Whether the last option that speaks of it switches it off. `None`: no option speaks of it.
fn last_word(options: &[String], off: &[&str], on: &[&str]) -> Option<bool> {
    options.iter().rev().find_map(|option| {
        let named = |list: &[&str]| list.contains(&option.as_str());
        if named(off) { Some(true) } else { named(on).then_some(false) }
    })
}

fn barriers_off(options: &[String]) -> bool {
    last_word(options, &["nobarrier", "barrier=0", "barrier=off", "barrier=none"], &["barrier", "barrier=1"])
        .unwrap_or(false)
}

/// ext2, ext3, ext4: `journal_by_default` is what tells them apart.
fn ext(mkfs: &[String], mount: &[String], journal_by_default: bool) -> Promises {
    let mut journal = journal_by_default;
    let mut options = Vec::new();
    let mut arguments = mkfs.iter().peekable();
    while let Some(argument) = arguments.next() {
        let mut value_of = |flag: &str| match argument.strip_prefix(flag) {
            Some("") => arguments.peek().map(|value| value.to_string()),
            Some(value) => Some(value.to_owned()),
            None => None,
        };
        if let Some(features) = value_of("-O") {
            for feature in features.split(',') {
                match feature {
                    "has_journal" => journal = true,
                    "^has_journal" | "none" => journal = false,
                    _ => {}
                }
            }
        } else if let Some(extended) = value_of("-E") {
            options.extend(extended.split(',').filter_map(|word| word.strip_prefix("mount_opts=")).map(str::to_owned));
        } else if argument == "-j" {
            journal = true;
        }
    }
    // Default options in the superblock come before those of the mount.
    options.extend(mount.iter().cloned());
    if last_word(&options, &["noload", "norecovery"], &[]).unwrap_or(false) {
        journal = false;
    }
    without_barriers(Promises { journal, ..JOURNALED }, barriers_off(&options))
}

pub(crate) fn ext2(mkfs: &[String], mount: &[String]) -> Promises {
    ext(mkfs, mount, false)
}

pub(crate) fn ext4(mkfs: &[String], mount: &[String]) -> Promises {
    ext(mkfs, mount, true)
}

/// xfs has had no way to switch barriers off since Linux 4.19.
pub(crate) fn xfs(_: &[String], _: &[String]) -> Promises {
    JOURNALED
}

pub(crate) fn btrfs(_: &[String], mount: &[String]) -> Promises {
    // `nodatacow` implies `nodatasum`; of the two positive options only `datasum` takes that back.
    let unsummed = last_word(mount, &["nodatasum", "nodatacow"], &["datasum"]).unwrap_or(false);
    without_barriers(Promises { data_checksums: !unsummed, ..JOURNALED }, barriers_off(mount))
}

/// AxVisor's library: its sync ends with an fdatasync of the device, with the journal on and off; what
/// the journal commits is ordered by such flushes too.
pub(crate) fn rsext4(_: &[String], options: &[String]) -> Promises {
    Promises { journal: last_word(options, &["journal"], &["nojournal"]).unwrap_or(false), ..JOURNALED }
}

pub(crate) fn nothing(_: &[String], _: &[String]) -> Promises {
    NOTHING
}

pub(crate) fn f2fs(_: &[String], mount: &[String]) -> Promises {
    let off = barriers_off(mount) || mount.iter().any(|option| option == "fsync_mode=nobarrier");
    let mut promises = without_barriers(JOURNALED, off);
    if mount.iter().any(|option| option.starts_with("checkpoint=disable")) {
        promises.journal = false;
        promises.fsync_reaches_stable_storage = false;
    }
    promises
}

pub(crate) fn nilfs2(_: &[String], mount: &[String]) -> Promises {
    without_barriers(JOURNALED, barriers_off(mount))
}

/// The journal of jfs writes no flush: the driver knows no barrier (fs/jfs/jfs_logmgr.c orders its log by
/// waiting for it alone); fsync ends with a flush of the device (jfs_fsync).
pub(crate) fn jfs(_: &[String], mount: &[String]) -> Promises {
    let journal = !mount.iter().any(|option| option == "nointegrity");
    Promises { journal, barriers: false, ..JOURNALED }
}

/// Barriers are on unless `barrier=none` takes them away (fs/reiserfs/super.c).
pub(crate) fn reiserfs(_: &[String], mount: &[String]) -> Promises {
    without_barriers(JOURNALED, last_word(mount, &["barrier=none"], &["barrier=flush"]).unwrap_or(false))
}

/// Neither driver replays or writes the journal of NTFS for every change of metadata.
pub(crate) fn ntfs(_: &[String], _: &[String]) -> Promises {
    Promises { journal: false, ..JOURNALED }
}

pub(crate) fn exfat(_: &[String], _: &[String]) -> Promises {
    Promises { journal: false, ..JOURNALED }
}

pub(crate) fn bcachefs(mkfs: &[String], mount: &[String]) -> Promises {
    let all = || mkfs.iter().chain(mount).map(|option| option.trim_start_matches('-'));
    let data_checksums = !all().any(|option| option == "data_checksum=none");
    let off = all().any(|option| option == "journal_flush_disabled");
    without_barriers(Promises { data_checksums, ..JOURNALED }, off)
}

/// A pool lives in a directory here; `sync=disabled` does not show in its mount options.
pub(crate) fn zfs(_: &[String], _: &[String]) -> Promises {
    Promises { data_checksums: true, ..JOURNALED }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<String> {
        line.split_whitespace().map(str::to_owned).collect()
    }

    #[test]
    fn an_option_that_drops_barriers_drops_what_fsync_promises() {
        for (function, options) in [
            (ext4 as fn(&[String], &[String]) -> Promises, "nobarrier"),
            (ext4, "barrier=0"),
            (ext4, "barrier noatime nobarrier"),
            (btrfs, "nobarrier"),
            (nilfs2, "barrier=off"),
            (f2fs, "fsync_mode=nobarrier"),
        ] {
            let promises = function(&[], &words(options));
            assert!(!promises.barriers && !promises.fsync_reaches_stable_storage, "{options}");
            assert!(promises.journal, "{options}");
        }
        assert_eq!(ext4(&[], &words("nobarrier barrier=1 data=writeback")), JOURNALED);
        assert_eq!(xfs(&[], &[]), JOURNALED);
    }

    #[test]
    fn a_journal_depends_on_the_feature_list() {
        for (mkfs, journal) in [
            ("", true),
            ("-O ^has_journal", false),
            ("-O^has_journal,extent", false),
            ("-O extent,^has_journal -b 1024", false),
            ("-O ^has_journal -O has_journal", true),
        ] {
            assert_eq!(ext4(&words(mkfs), &[]).journal, journal, "{mkfs}");
        }
        assert!(!ext2(&[], &[]).journal);
        assert!(ext2(&words("-j"), &[]).journal);
        assert!(!ext4(&words("-E mount_opts=nobarrier"), &[]).barriers);
        assert!(!exfat(&[], &[]).journal);
        assert_eq!(nothing(&[], &[]), NOTHING);
    }

    #[test]
    fn btrfs_checks_data_unless_told_otherwise() {
        assert!(btrfs(&[], &words("compress=zstd:1")).data_checksums);
        assert!(!btrfs(&[], &words("nodatacow")).data_checksums);
        assert!(!btrfs(&[], &words("nodatasum")).data_checksums);
        assert!(btrfs(&[], &words("nodatasum datasum")).data_checksums);
    }
}
