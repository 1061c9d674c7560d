//! What options of one's own words are in Fairlane's table: they exclude what those exclude.

use super::{TRIED, meant};
use crate::commands::screening::levels;
use lanes::screened_options;
use model::lane::{Contestant, LaneSpec};
use model::screening::{Factor, OptionLevel};

/// How kernels refuse an option of mount that wants a value.
const BAD_VALUE: &str = "Bad value for";

/// What is probably meant by an option that is refused; `why`: the words in which it is.
pub(super) fn hint(base: &LaneSpec, factor: &Factor, why: &str) -> Option<String> {
    let takes_value = || {
        let is_flag = factor.other.mount.len() == 1 && factor.other.mount[0] == factor.name;
        let levels = format!("it takes a value: write '{}=USUAL|OTHER'", factor.name);
        (is_flag && why.contains(BAD_VALUE)).then_some(levels)
    };
    meant(base, factor).map(|near| format!("did you mean {near}?")).or_else(takes_value)
}

/// The options of the table of a lane's filesystem, each with all that its other levels say.
pub(super) struct Table {
    /// The filesystem, told nothing; `None`: it has no table.
    bare: Option<LaneSpec>,
    options: Vec<(&'static str, Vec<String>)>,
}

impl Table {
    /// Of a lane.
    pub(super) fn new(base: &LaneSpec) -> Table {
        let Contestant::Filesystem(filesystem) = &base.contestant else {
            return Table { bare: None, options: Vec::new() };
        };
        let bare: Option<LaneSpec> = filesystem.parse().ok();
        let option = |option: &screened_options::ScreenedOption| {
            let Factor { other, further, .. } = screened_options::factor(option);
            (option.name, words(bare.as_ref(), std::iter::once(&other).chain(&further)))
        };
        Table { options: screened_options::options_of(filesystem).iter().map(option).collect(), bare }
    }

    /// The names of an option: its own, and those in the table of which it says a word.
    pub(super) fn names(&self, factor: &Factor) -> Vec<String> {
        let levels = (0..levels::count(factor)).filter_map(|place| levels::level(factor, place));
        std::iter::once(factor.name.clone()).chain(self.said_by(levels)).collect()
    }

    /// The options of the table of which a lane says a word itself.
    pub(super) fn names_of_lane(&self, lane: &LaneSpec) -> Vec<String> {
        let own = OptionLevel {
            mkfs: lane.mkfs_options.clone(),
            mount: lane.mount_options.clone(),
            ..OptionLevel::default()
        };
        self.said_by(std::iter::once(&own))
    }

    fn said_by<'a>(&self, levels: impl Iterator<Item = &'a OptionLevel>) -> Vec<String> {
        let said = words(self.bare.as_ref(), levels);
        let is_there = |word: &String| said.iter().any(|other| is_alike(word, other));
        let is_said = |of_option: &[String]| of_option.iter().any(is_there);
        let names = self.options.iter().filter(|(_, of_option)| is_said(of_option));
        names.map(|(name, _)| (*name).to_owned()).collect()
    }
}

/// The words of levels, those for mkfs with the flag that they stand behind: `-O ^flex_bg`, `commit=30`.
fn words<'a>(bare: Option<&LaneSpec>, levels: impl Iterator<Item = &'a OptionLevel>) -> Vec<String> {
    let mut words = Vec::new();
    for level in levels {
        let lane = bare.and_then(|bare| screened_options::lane_with(bare, TRIED, &[level]).ok());
        let Some(LaneSpec { mkfs_options, mount_options, .. }) = lane else { continue };
        words.extend(mount_options);
        let mut flag = "";
        for word in &mkfs_options {
            match word.starts_with('-') {
                true => flag = word,
                false => words.extend(word.split(',').map(|part| format!("{flag} {part}"))),
            }
        }
    }
    words
}

/// Whether two words set one thing in one way: of a value another one does too.
fn is_alike(one: &str, other: &str) -> bool {
    let key = |word: &str| word.split_once('=').map(|(key, _)| key.to_owned());
    one == other || key(one).is_some_and(|one| key(other) == Some(one))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_option_of_ones_own_words_has_its_names_in_the_table() {
        let names = |lane: &str| Table::new(&lane.parse().unwrap()).names_of_lane(&lane.parse().unwrap()).join(" ");
        for (lane, wanted) in [
            ("ext4", ""),
            ("ext4(-O ^has_journal)", "journal"),
            ("ext4(-O64bit,^has_journal)", "journal"),
            ("ext4(-O has_journal)", ""),
            ("ext4(-J size=8),commit=7", "commit journal_size"),
            ("ext4,nodelalloc", "delalloc"),
            ("ext4,data=journal", "data journal_async_commit"),
            ("ext4(-I 1024)", "inode_size"),
            ("btrfs(--features=block-group-tree),compress=zstd:9", "compress block_group_tree"),
            ("ext3(-O ^has_journal)", ""),
            ("/mnt/a", ""),
        ] {
            assert_eq!(names(lane), wanted, "{lane}");
        }
    }
}
