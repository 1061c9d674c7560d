//! `fairlane records`: the records kept, newest first.

use super::durability;
use super::report::print;
use crate::failure::Failure;
use crate::listing::{Index, Listing};
use crate::state;
use model::page::RecordEntry;
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::Path;

/// Lists the records kept, newest first: races, then power cuts and damage.
///
/// # Errors
/// When the folder cannot be read.
pub fn run() -> Result<(), Failure> {
    let records = state::records()?;
    let others = durability::list()?;
    if records.is_empty() && others.is_empty() {
        return print("no record is kept yet; run `fairlane race` first\n");
    }
    let known = known(&state::state_folder()?.join("runs"));
    let mut text = String::new();
    for (back, path) in records.iter().rev().enumerate() {
        let name = if back == 0 { "last".to_owned() } else { format!("last~{back}") };
        let what = match path.file_name().and_then(OsStr::to_str).and_then(|name| known.get(name)) {
            Some(entry) => told(&entry.started, &entry.suite, &entry.outcome, entry.lanes.iter().map(String::as_str)),
            None => looked_at(path),
        };
        text.push_str(&format!("{name:<8} {what}\n         {}\n", model::text::escaped_path(path)));
    }
    print(&(text + &others))
}

/// What is known of the records of a folder without reading those that have not changed. What is missing here is looked at
/// one by one: it says what is wrong with it, or is a link to somewhere else.
fn known(folder: &Path) -> BTreeMap<String, RecordEntry> {
    let mut listing = Listing::new(folder.to_owned(), Index::of_kept(folder, true), u64::MAX);
    let surveyed = listing.survey().unwrap_or_default().into_iter();
    surveyed.filter_map(|(name, found)| Some((name, found.ok()?))).collect()
}

fn looked_at(path: &Path) -> String {
    match state::load(path) {
        Ok(record) => {
            let end = state::outcome(record.end, record.end.is_none() && state::is_being_written(path));
            let header = &record.header;
            told(&header.started, &header.plan.suite, end, header.lanes.iter().map(|lane| lane.name.as_str()))
        }
        Err(failure) => format!("unreadable: {}", report::clean_text(&failure.message)),
    }
}

fn told<'a>(started: &str, suite: &str, end: &str, lanes: impl Iterator<Item = &'a str>) -> String {
    let lanes: Vec<String> = lanes.map(report::clean_text).collect();
    let [started, suite] = [started, suite].map(report::clean_text);
    format!("{started}  {suite:<8} {end:<11} {}", lanes.join(" "))
}
