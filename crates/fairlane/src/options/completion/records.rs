//! The names that a record answers to: `last`, those of the records kept, and files.

use super::{PLAIN_IN_NAMES, begun, files, holds_only};
use crate::{owned, state};
use std::path::Path;

/// How far back names go: `last~9`.
const MOST_BACK: usize = 10;
/// Names of the folder of records that are looked through, at most.
const MOST_LOOKED_THROUGH: usize = 20_000;
/// Records by name, the newest first, at most.
const MOST_RECORDS: usize = 40;

/// What the name of a record may become.
pub(super) fn records(typed: &str) -> Vec<String> {
    let Ok(folder) = state::state_folder() else { return files("", typed, &["jsonl"]) };
    let races = kept(&folder.join("runs"));
    let back = |index: usize| if index == 0 { "last".to_owned() } else { format!("last~{index}") };
    let mut found = begun(typed, (0..races.len().min(MOST_BACK)).map(back));
    // Forty long names would hide `last`.
    if !typed.is_empty() {
        let cuts = kept(&folder.join("durability"));
        found.extend(begun(typed, races.into_iter().take(MOST_RECORDS)));
        found.extend(begun(typed, cuts.into_iter().take(MOST_RECORDS)));
    }
    found.extend(files("", typed, &["jsonl"]));
    found
}

/// The names of the records in a folder, the newest first: they begin with the time. Looked for with the user's rights alone.
fn kept(folder: &Path) -> Vec<String> {
    let found = owned::names_with(folder, b"", MOST_LOOKED_THROUGH).unwrap_or_default();
    let names = found.into_iter().filter_map(|(name, _)| name.into_string().ok());
    let mut names: Vec<String> =
        names.filter(|name| name.ends_with(".jsonl") && holds_only(name, PLAIN_IN_NAMES)).collect();
    names.sort_by(|a, b| b.cmp(a));
    names
}
