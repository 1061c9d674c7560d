//! AxVisor's library for ext4, which is built into the agent.

use super::{BASE, Checker, Filesystem, Home};
use crate::abilities::{Lack, always};
use crate::promises::{JOURNALED, last_word};
use model::lane::Promises;
use model::operations::Ability;

/// Rsext4. The library formats; its crate has no option for it.
pub(super) static RSEXT4: Filesystem = Filesystem {
    name: "rsext4",
    features: include_str!("../../../../features/rsext4.toml"),
    home: Home::Library,
    minimum_bytes: 64 * model::Bytes::MIB,
    geometry: |_, _| FACTS.map(str::to_owned).to_vec(),
    library_options: &["journal", "nojournal"],
    plain_options: &["journal"],
    promises,
    lacks,
    // All of it, also where it looks clean, and nothing is changed.
    checker: Some(Checker::from_look("e2fsprogs", &["e2fsck", "-f", "-n", "{device}"])),
    ..BASE
};

/// The version that the workspace pins, and the trap in its figures: the crate caches next to no data.
const FACTS: [&str; 2] = ["crate: rsext4 0.9.2, in the agent", "data cache: the kernel's, of the block device"];

/// Its sync ends with an fdatasync of the device, with the journal on and off; what the journal commits is ordered by
/// such flushes too.
fn promises(_: &[String], options: &[String]) -> Promises {
    Promises { journal: has_journal(options), ..JOURNALED }
}

fn has_journal(options: &[String]) -> bool {
    last_word(options, &["journal"], &["nojournal"]).unwrap_or(false)
}

/// The library never sets the feature `large_file`, so that e2fsck finds its larger files wrong; its
/// calls by path, which work without the journal, know no attributes.
fn lacks(_: &[String], options: &[String]) -> Vec<Lack> {
    let mut lacks = always(&[Ability::Reflink, Ability::LargeFiles]);
    if !has_journal(options) {
        lacks.push(Lack { ability: Ability::Attributes, remedy: Some("race rsext4,journal, which has them") });
    }
    lacks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_librarys_version_is_the_one_that_is_built_in() {
        let manifest = include_str!("../../../../Cargo.toml");
        let pinned = manifest.lines().find_map(|line| line.strip_prefix("rsext4 = \"=")).unwrap().trim_end_matches('"');
        assert!(FACTS[0].contains(&format!("rsext4 {pinned},")), "{FACTS:?} is not {pinned}");
    }

    #[test]
    fn the_library_keeps_attributes_with_its_journal_alone() {
        for (options, has) in
            [("", false), ("journal", true), ("journal nojournal", false), ("nojournal journal", true)]
        {
            let options: Vec<String> = options.split_whitespace().map(str::to_owned).collect();
            let lacks_them = lacks(&[], &options).iter().any(|lack| lack.ability == Ability::Attributes);
            assert_eq!(!lacks_them, has, "{options:?}");
        }
    }
}
