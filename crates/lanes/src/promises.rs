//! What a filesystem promises with the options it was given: what decides whether two lanes'
//! speeds may be ranked. What the filesystems of `filesystems` share; the last option wins, as in the kernel.

use model::lane::Promises;

/// Everything promised except data checksums: a journaling filesystem with its defaults.
pub(crate) const JOURNALED: Promises =
    Promises { journal: true, fsync_reaches_stable_storage: true, barriers: true, ..NOTHING };

/// Nothing promised; what a cache's disk may take with it only layers know.
pub(crate) const NOTHING: Promises = Promises {
    journal: false,
    data_checksums: false,
    fsync_reaches_stable_storage: false,
    barriers: false,
    outlives_cache: true,
};

/// The same with barriers, unless they are off.
pub(crate) fn without_barriers(promises: Promises, off: bool) -> Promises {
    // Without flushes, fsync returns while the device's cache still holds the data.
    Promises {
        barriers: promises.barriers && !off,
        fsync_reaches_stable_storage: promises.barriers && !off,
        ..promises
    }
}

/// Whether the last option that speaks of it switches it off. `None`: no option speaks of it.
pub(crate) fn last_word(options: &[String], off: &[&str], on: &[&str]) -> Option<bool> {
    options.iter().rev().find_map(|option| {
        let named = |list: &[&str]| list.contains(&option.as_str());
        if named(off) { Some(true) } else { named(on).then_some(false) }
    })
}

/// Whether the words for it that most filesystems know switch barriers off.
pub(crate) fn barriers_off(options: &[String]) -> bool {
    last_word(options, &["nobarrier", "barrier=0", "barrier=off", "barrier=none"], &["barrier", "barrier=1"])
        .unwrap_or(false)
}

pub(crate) fn nothing(_: &[String], _: &[String]) -> Promises {
    NOTHING
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::filesystems::find;

    #[test]
    fn an_option_that_drops_barriers_drops_what_fsync_promises() {
        for (name, options) in [
            ("ext4", "nobarrier"),
            ("ext4", "barrier=0"),
            ("ext4", "barrier noatime nobarrier"),
            ("btrfs", "nobarrier"),
            ("nilfs2", "barrier=off"),
            ("f2fs", "fsync_mode=nobarrier"),
        ] {
            let options: Vec<String> = options.split_whitespace().map(str::to_owned).collect();
            let promises = (find(name).unwrap().promises)(&[], &options);
            assert!(!promises.barriers && !promises.fsync_reaches_stable_storage, "{name}: {options:?}");
            assert!(promises.journal, "{name}: {options:?}");
        }
    }

    #[test]
    fn defaults_promise_what_the_drivers_keep() {
        let of = |name: &str| (find(name).unwrap().promises)(&[], &[]);
        assert_eq!(of("xfs"), JOURNALED);
        assert!(!of("exfat").journal);
        assert_eq!(of("tmpfs"), NOTHING);
    }
}
