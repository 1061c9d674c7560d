//! Every sentence that reports say in English alone; the memo's stand in `language`, one file for each.
//! Nothing else in this crate words anything. Here: labels, and what all rooms of the folder share.

pub(crate) mod advice;
pub(crate) mod aged;
pub(crate) mod answer;
pub(crate) mod appenders;
pub(crate) mod calibration;
pub(crate) mod columns;
pub(crate) mod comparison;
pub(crate) mod durability;
pub(crate) mod facts;
pub(crate) mod features;
pub(crate) mod gate;
pub(crate) mod io500;
pub(crate) mod ladder;
pub(crate) mod layers;
pub(crate) mod operations;
pub(crate) mod plan;
pub(crate) mod published;
pub(crate) mod questions;
pub(crate) mod race;
pub(crate) mod ranks;
pub(crate) mod screen;
pub(crate) mod screening;
pub(crate) mod transactions;
pub(crate) mod verdict;
pub(crate) mod waits;

use crate::clean::{SENTENCE_COLUMNS, shorten};
use crate::figures;
use crate::layout::{Phrase, Tone};
use model::Sentence;

pub(crate) const DISK_CEILING: &str = "disk ceiling";
pub(crate) const GUEST_CEILING: &str = "guest ceiling";
pub(crate) const DISK_CEILING_UNKNOWN: &str =
    "unknown: no bare device was measured for all lanes, so no limit can be named";
pub(crate) const SELF_CHECK: &str = "self-check";
pub(crate) const FIGURES: &str = "FIGURES";
pub(crate) const MACHINE: &str = "MACHINE";
pub(crate) const LANES: &str = "LANES";
pub(crate) const NOTES: &str = "NOTES";
pub(crate) const REMARKS: &str = "REMARKS";
pub(crate) const VERDICTS_LEGEND: &str =
    "Every pair of lanes, with its 95\u{a0}% interval between rounds; a verdict holds for its own row.";
pub(crate) const WARNINGS: &str = "WARNINGS";
pub(crate) const NOTE: &str = "NOTE";
pub(crate) const WARNING: &str = "WARNING";
pub(crate) const TRIALS: &str = "TRIALS";
pub(crate) const AGAIN: &str = "AGAIN";
pub(crate) const ANSWER: &str = "ANSWER";
pub(crate) const OPEN: &str = "OPEN";
pub(crate) const UNTESTED: &str = "UNTESTED";
/// Heading of where the time went.
pub(crate) const EXPLAINED: &str = "WHERE THE TIME WENT";
/// What its figures are.
pub(crate) const EXPLAINED_LEGEND: &str = "of what callers waited for one operation, in passes that count in no verdict; below each lane the largest \
     causes, in brackets the parts that one is split over";
/// What they are where no pass looked.
pub(crate) const COUNTED_LEGEND: &str = "of what callers waited for one operation, by the counters of the rounds: they cannot tell locks, journals \
     and kernel threads apart";
/// Where the screen of a race points to it.
pub(crate) const EXPLAIN: &str = "EXPLAIN";
/// How a lane's line says so beside others that were looked at.
pub(crate) const BY_COUNTERS: &str = "by counters";
/// The same as a title in Markdown.
pub(crate) const EXPLAINED_TITLE: &str = "Where the time went";
pub(crate) const VERDICTS: &str = "VERDICTS";
pub(crate) const NEXT: &str = "NEXT";
pub(crate) const RECORD: &str = "RECORD";
pub(crate) const REPORT: &str = "REPORT";
pub(crate) const SUMMARY: &str = "SUMMARY";

pub(crate) const ANSWER_TITLE: &str = "Answer";
pub(crate) const NEXT_TITLE: &str = "Next";
pub(crate) const DISK_CEILING_TITLE: &str = "Disk ceiling";
pub(crate) const NOTE_TITLE: &str = "Note";
pub(crate) const OPEN_TITLE: &str = "Open";
pub(crate) const UNTESTED_TITLE: &str = "Untested";
pub(crate) const GUEST_CEILING_TITLE: &str = "Guest ceiling";
pub(crate) const SELF_CHECK_TITLE: &str = "Self-check";
pub(crate) const WARNING_TITLE: &str = "Warning";
pub(crate) const WARNINGS_TITLE: &str = "Warnings";
pub(crate) const SUMMARY_TITLE: &str = "Summary:";
pub(crate) const VERDICTS_TITLE: &str = "Verdicts with their intervals";
pub(crate) const FIGURES_TITLE: &str = "Figures per lane";
pub(crate) const GROUND_TITLE: &str = "Machine, lanes, and how to run it again";
pub(crate) const TRIALS_TITLE: &str = "Trials";
pub(crate) const AGAIN_TITLE: &str = "Run it again";
pub(crate) const FAILED: &str = "failed";
pub(crate) const COLUMN_WORKLOAD: &str = "workload";
pub(crate) const COLUMN_VERDICT: &str = "verdict";
pub(crate) const UNKNOWN_SUITE: &str = "(unnamed suite)";

/// What people call the metric of a latency or a time; `None`: it is a rate.
pub(crate) fn latency(metric: &str) -> Option<&'static str> {
    match metric {
        "latency_p50_ns" => Some("median latency"),
        "latency_p99_ns" => Some("p99 latency"),
        "latency_p999_ns" => Some("p99.9 latency"),
        "latency_mean_ns" => Some("mean latency"),
        "time_ns" => Some("time"),
        "lateness_p50_ns" => Some("median lateness"),
        "lateness_p99_ns" => Some("p99 lateness"),
        other if other.ends_with("_ns") => Some("latency"),
        _ => None,
    }
}

/// A decided difference in words: `9 % faster` of rates and `20 % lower p99 latency` of times, and
/// its interval. `ratio`: above 1 is better, whichever the metric.
pub(crate) fn difference(
    metric: &str,
    ratio: f64,
    interval: Option<(f64, f64)>,
    faster: bool,
) -> (String, Option<String>) {
    match latency(metric) {
        None => {
            let gap = figures::gap(ratio, interval, faster);
            (format!("{} {}", gap.size, if faster { "faster" } else { "slower" }), gap.interval)
        }
        Some(latency) => {
            // Of the times themselves, the lower one stands under the other.
            let gap = figures::gap(ratio.recip(), interval.map(turned), !faster);
            (format!("{} {} {latency}", gap.size, if faster { "lower" } else { "higher" }), gap.interval)
        }
    }
}

/// An interval of a/b as one of b/a.
pub(crate) fn turned((low, high): (f64, f64)) -> (f64, f64) {
    (high.recip(), low.recip())
}

/// A sentence of a record, cut to a bearable length, without a full stop: it stands inside another.
pub(crate) fn sentence(text: &str) -> String {
    shorten(text.trim().trim_end_matches('.'), SENTENCE_COLUMNS)
}

/// Lanes' names with a separator.
pub(crate) fn names<S: AsRef<str>>(lanes: &[S], separator: &str) -> Phrase {
    Phrase::default().join(lanes.iter().map(|lane| Phrase::default().name(lane.as_ref())), separator)
}

/// `ext4, xfs and btrfs`, of names that are clean already.
pub(crate) fn listed_names(names: &[String]) -> String {
    match names {
        [before @ .., last] if !before.is_empty() => format!("{} and {last}", before.join(", ")),
        _ => names.concat(),
    }
}

/// `ext4, xfs and btrfs`.
pub(crate) fn listed(parts: Vec<Phrase>, last: &str) -> Phrase {
    let count = parts.len();
    let mut said = Phrase::default();
    for (index, part) in parts.into_iter().enumerate() {
        said = match index {
            0 => said,
            index if index + 1 == count => said.say(format!(" {last} ")),
            _ => said.say(", "),
        };
        said = said.and(part);
    }
    said
}

/// A lane without a figure.
pub(crate) fn failed(lane: &str, reason: &Sentence) -> Phrase {
    failed_for(lane, reason, reason)
}

/// The same with so much of the reason.
pub(crate) fn failed_for(lane: &str, reason: &Sentence, told: &str) -> Phrase {
    let said = match model::findings::is_not_reached(reason) {
        true => " has no figure",
        false => " failed",
    };
    Phrase::default().name(lane).tone(Tone::Failed, said).say(": ").say(sentence(told))
}

/// `1 round`, `6 rounds`.
pub(crate) fn rounds(count: u32) -> String {
    if count == 1 { "1 round".to_owned() } else { format!("{count} rounds") }
}
