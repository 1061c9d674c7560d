//! Columns of figures: their names, what they mean, and what stands above them.

use crate::clean::shorten;
use crate::figures;
use crate::layout::{GLUE, Phrase, Tone};
use crate::words::{latency, rounds, sentence};
use model::findings::ResultFinding;

/// What the columns of the figures mean; stands above them. `shown`: which of [`COLUMNS`].
pub(crate) fn figures_legend(margin: f64, shown: &[bool]) -> String {
    let meanings = [
        " p50: half of the operations were at least this fast.",
        " p99: 99 of 100 operations were at least this fast.",
        " p99.9: 999 of 1,000 were.",
        " CPU: of the whole system, kernel threads included.",
        " Own: Fairlane's own part of the CPU.",
        " Written: bytes at the disk per byte of the work.",
        " Flush: flushes at the disk per operation.",
        " Disk: use of what the bare disk can do.",
        " Pieces: extents that the files lie in.",
        " Time: of all that is done once, its sync included.",
    ];
    let meanings: String =
        meanings.iter().zip(shown).filter(|(_, shown)| **shown).map(|(meaning, _)| *meaning).collect();
    format!(
        "Mean over the lane's own rounds with its 95{GLUE}% interval.{meanings} Two lanes tie when they surely differ by less than {}.",
        figures::margin(margin)
    )
}

/// Labels of the columns of figures.
pub(crate) const COLUMN_FIGURE: &str = "mean (interval)";
pub(crate) const COLUMNS: [&str; 10] =
    ["p50", "p99", "p99.9", "CPU", "own", "written", "flush/op", "disk", "pieces", "time"];
/// Columns that only some records fill.
pub(crate) const SELDOM_COLUMNS: [usize; 4] = [0, 2, 8, 9];
/// Columns that a narrow table does without, the first to go first: the reason of the limit says
/// how the disk was used, and every other format keeps them all.
pub(crate) const COLUMNS_TO_SPARE: [usize; 5] = [7, 4, 6, 0, 2];
pub(crate) const COLUMN_LANE: &str = "lane";

/// A share that no disk can have reached: its ceiling is wrong.
pub(crate) fn impossible(share: &str) -> String {
    format!("{share} (impossible)")
}

/// How loaded the machine was: columns of Markdown, and one line per result of text. They explain
/// and never decide.
pub(crate) const LOAD_COLUMNS: [&str; 4] = ["mean latency", "machine's CPU", "of it system", "disk busy"];
pub(crate) const LOAD_IN_ORDER: &str = "in the same order: ";
/// What these columns mean; stands behind the legend of the others.
pub(crate) const LOAD_LEGEND: &str = " Machine's CPU: share of all CPUs. Of it system: the kernel's share of that. \
    Disk busy: share of the time with a request in flight, which on a fast disk is no sign of being full.";

/// What stands above the figures of one result.
pub(crate) fn result_heading(result: &ResultFinding, title: &str, group: Option<&str>) -> Phrase {
    let group = group.map(|group| format!(", {}", shorten(group, 40))).unwrap_or_default();
    let metric = latency(&result.metric).map(|latency| format!(", {latency}")).unwrap_or_default();
    let said = Phrase::default()
        .tone(Tone::Label, format!("{title}{group}{metric}"))
        .say(format!(", {}", rounds(result.rounds)));
    if result.limit_reason.trim().is_empty() {
        return said;
    }
    let said = said.say(": ").say(sentence(&result.limit_reason));
    match &result.headline {
        Some(headline) => said.say(format!("; {}", super::verdict::headline_clause(headline))),
        None => said,
    }
}
