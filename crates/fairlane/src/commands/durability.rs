//! What `powercut` and `integrity` share, and `report` of their records.

use super::screen::{style, tilde};
use crate::failure::Failure;
use model::durability::DurabilityRecord;
use std::io::{BufRead as _, BufReader};
use std::path::Path;

/// Whether a file is a record of durability, by its first line.
pub fn is_record(path: &Path) -> bool {
    let mut first = String::new();
    let read = std::fs::File::open(path).and_then(|file| BufReader::new(file).read_line(&mut first));
    read.is_ok() && DurabilityRecord::is_one(&first)
}

/// A record of durability, judged again and rendered.
///
/// # Errors
/// Where it cannot be read or there is no such format.
pub fn render(path: &Path, format: &str) -> Result<String, Failure> {
    let text = std::fs::read_to_string(path)
        .map_err(|error| Failure::failed(format!("cannot read {}: {error}", path.display())))?;
    let record =
        DurabilityRecord::parse(&text).map_err(|error| Failure::failed(format!("{}: {error}", path.display())))?;
    let found = stats::durability::findings(&record);
    report::render_durability(&found, format, Some(&tilde(path)), &style()).map_err(Failure::usage)
}
