//! What the tests of several formats share.

use foreign::{Metric, Results, Series};

/// The results of a text that is right.
#[track_caller]
pub fn read(text: &str) -> Results {
    foreign::read(text).unwrap_or_else(|error| panic!("{error}"))
}

/// The one series of a test.
#[track_caller]
pub fn series_of<'a>(results: &'a Results, workload: &str) -> &'a Series {
    let found: Vec<&Series> = results.series.iter().filter(|series| series.workload == workload).collect();
    assert_eq!(found.len(), 1, "{workload}");
    found[0]
}

/// A figure in a unit of a tool's own.
pub fn other(unit: &str, higher_is_better: bool) -> Metric {
    Metric::Other { unit: unit.to_owned(), higher_is_better }
}
