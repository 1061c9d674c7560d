//! The table of fio's options: one row each.
//!
//! To support an option: one row in `work`, one function in `take`.

mod noted;
mod refused;
mod work;

use crate::draft::{Draft, Input};

/// One option of fio.
#[derive(Debug)]
pub(crate) struct Row {
    /// fio's name.
    pub name: &'static str,
    /// Other names for the same.
    pub aliases: &'static [&'static str],
    /// It may stand without a value, which then is 1.
    pub bare: bool,
    /// What Fairlane does with it.
    pub take: Take,
    /// What the installed fio may do with it inside a lane.
    pub outside: Outside,
}

/// What Fairlane does with an option.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Take {
    /// It shapes the work.
    Work(fn(&mut Draft, &Input) -> Result<(), String>),
    /// It is accepted with this note.
    Note(&'static str),
    /// It is refused but for these values, which change nothing.
    Refuse {
        /// Values that change nothing.
        harmless: &'static [&'static str],
        /// What to do instead.
        remedy: &'static str,
    },
}

/// What an option that fio itself takes does outside the lane.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outside {
    /// Nothing.
    Keep,
    /// It is dropped: the lane stands in the place of a directory, and nobody would read a log.
    Drop,
    /// It names files of the work.
    Files,
    /// It names the I/O engine.
    Engine,
    /// It names one file, which must lie in the lane.
    Path,
    /// It is refused, for this reason.
    Refuse(&'static str),
}

/// A row that shapes the work.
const fn work(
    name: &'static str,
    aliases: &'static [&'static str],
    take: fn(&mut Draft, &Input) -> Result<(), String>,
) -> Row {
    Row { name, aliases, bare: false, take: Take::Work(take), outside: Outside::Keep }
}

/// A row that is accepted with a note.
const fn note(name: &'static str, aliases: &'static [&'static str], why: &'static str) -> Row {
    Row { name, aliases, bare: false, take: Take::Note(why), outside: Outside::Keep }
}

/// A row that is refused but for the values that change nothing.
const fn refuse(name: &'static str, aliases: &'static [&'static str], harmless: &'static [&'static str]) -> Row {
    let remedy = "remove it, or let the installed fio do the job (--with-fio)";
    Row { name, aliases, bare: false, take: Take::Refuse { harmless, remedy }, outside: Outside::Keep }
}

impl Row {
    /// The option may stand without a value.
    const fn bare(mut self) -> Row {
        self.bare = true;
        self
    }

    /// What it does outside the lane.
    const fn outside(mut self, outside: Outside) -> Row {
        self.outside = outside;
        self
    }

    /// What to do instead of a refused option.
    const fn instead(mut self, remedy: &'static str) -> Row {
        if let Take::Refuse { harmless, .. } = self.take {
            self.take = Take::Refuse { harmless, remedy };
        }
        self
    }
}

/// All rows.
pub(crate) fn all() -> impl Iterator<Item = &'static Row> {
    work::ROWS.iter().chain(noted::ROWS).chain(refused::ROWS)
}

/// The row of an option, by its name or an alias.
pub(crate) fn find(name: &str) -> Option<&'static Row> {
    all().find(|row| row.name == name || row.aliases.contains(&name))
}

/// The known name that is nearest to an unknown one; `None` where none is near.
pub(crate) fn nearest(name: &str) -> Option<&'static str> {
    let name = name.to_ascii_lowercase();
    // Nothing longer than the longest option plus a few letters can be near.
    if name.len() > 40 {
        return None;
    }
    let names = all().flat_map(|row| std::iter::once(row.name).chain(row.aliases.iter().copied()));
    // As many letters may differ as make a slip, not another word.
    let slip = |known: &str| 1 + known.len() / 4;
    let near = names.filter(|known| known.len().abs_diff(name.len()) <= slip(known));
    let scored = near.map(|known| (distance(&name, known), known));
    scored.min_by_key(|(score, _)| *score).filter(|(score, known)| *score <= slip(known)).map(|(_, known)| known)
}

/// Letters to add, remove or replace between two names.
fn distance(from: &str, to: &str) -> usize {
    let to: Vec<char> = to.chars().collect();
    let mut row: Vec<usize> = (0..=to.len()).collect();
    for (above, letter) in from.chars().enumerate() {
        let mut corner = above;
        row[0] = above + 1;
        for (index, other) in to.iter().enumerate() {
            let replaced = corner + usize::from(letter != *other);
            corner = row[index + 1];
            row[index + 1] = replaced.min(corner + 1).min(row[index] + 1);
        }
    }
    row[to.len()]
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn no_name_stands_in_two_rows() {
        let mut seen = BTreeSet::new();
        for row in all() {
            for name in std::iter::once(&row.name).chain(row.aliases) {
                assert!(seen.insert(*name), "{name} stands twice");
            }
        }
    }

    #[test]
    fn an_unknown_name_is_met_with_the_nearest() {
        assert_eq!(nearest("iodetph"), Some("iodepth"));
        assert_eq!(nearest("IODEPTH"), Some("iodepth"));
        assert_eq!(nearest("run_time"), Some("runtime"));
        assert_eq!(nearest("zzzzzzzzzzz"), None);
        assert_eq!(nearest(&"x".repeat(100_000)), None);
    }

    #[test]
    fn every_option_of_the_installed_fio_has_a_row() {
        let Ok(out) = std::process::Command::new("fio").arg("--cmdhelp").output() else {
            println!("skipped: fio is not installed");
            return;
        };
        let text = String::from_utf8_lossy(&out.stdout);
        let names = text.lines().filter_map(|line| line.split_once(':')).map(|(name, _)| name.trim());
        let missing: Vec<&str> = names.filter(|name| find(name).is_none()).collect();
        assert!(missing.is_empty(), "{missing:?}");
    }

    #[test]
    fn the_manual_of_the_bridge_names_every_option() {
        let manual = include_str!("../../../../docs/fio.md");
        let words: BTreeSet<&str> =
            manual.split(|letter: char| !(letter.is_alphanumeric() || "_-".contains(letter))).collect();
        let missing: Vec<&str> = all().map(|row| row.name).filter(|name| !words.contains(name)).collect();
        assert!(missing.is_empty(), "docs/fio.md lacks {missing:?}");
    }
}
