//! `fairlane records`: the records kept, newest first.

use super::durability;
use super::report::print;
use crate::failure::Failure;
use crate::state;

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
    let mut text = String::new();
    for (back, path) in records.iter().rev().enumerate() {
        let name = if back == 0 { "last".to_owned() } else { format!("last~{back}") };
        let what = match state::load(path) {
            Ok(record) => {
                let lanes: Vec<String> =
                    record.header.lanes.iter().map(|lane| report::clean_text(&lane.name)).collect();
                let end = state::outcome(record.end, record.end.is_none() && state::is_being_written(path));
                let header = &record.header;
                let [started, suite] = [&header.started, &header.plan.suite].map(|text| report::clean_text(text));
                format!("{started}  {suite:<8} {end:<11} {}", lanes.join(" "))
            }
            Err(failure) => format!("unreadable: {}", report::clean_text(&failure.message)),
        };
        text.push_str(&format!("{name:<8} {what}\n         {}\n", model::text::escaped_path(path)));
    }
    print(&(text + &others))
}
