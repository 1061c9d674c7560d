//! The race as a whole: how it ended, its trials, its heading, the noise it shows.

use crate::clean::shorten;
use crate::layout::{Phrase, Tone};
use crate::words::{UNKNOWN_SUITE, listed_names, names};
use model::findings::TrialCounts;

/// A race that did not end by itself; `None`: it did.
pub(crate) fn outcome(outcome: &str) -> Option<String> {
    let what = match outcome {
        "complete" => return None,
        "interrupted" => "The race was interrupted".to_owned(),
        "failed" => "The race ended with an error".to_owned(),
        "running" => {
            return Some("The race is still running: these are the figures so far.".to_owned());
        }
        "unexplained" => {
            return Some(
                "All rounds are done. The race was interrupted in the passes behind them, which count in no verdict; \
                 --resume does those that are missing."
                    .to_owned(),
            );
        }
        "unfinished" => "The race was killed or crashed".to_owned(),
        other => format!("The race ended as \"{}\"", shorten(other, 40)),
    };
    Some(format!("{what}: these are the figures of the rounds that it finished."))
}

/// The word for it in a heading.
pub(crate) fn ended(outcome: &str) -> &str {
    if outcome == "unexplained" { "interrupted in its passes" } else { outcome }
}

/// The command that goes on with a race that did not end by itself.
pub(crate) fn resume(record: &str) -> String {
    format!("race --resume {record}")
}

/// The trials.
pub(crate) fn trials(counts: &TrialCounts) -> String {
    let TrialCounts { ok, repeated, failed, void } = *counts;
    let mut said = format!("{ok} counted");
    if repeated > 0 {
        said.push_str(&format!(", {repeated} set aside for noise from outside and run again"));
    }
    if failed > 0 {
        said.push_str(&format!(", {failed} failed"));
    }
    if void > 0 {
        said.push_str(&format!(", {void} void: the throttle did not hold, or the machine slept"));
    }
    said
}

/// What makes the race repeatable.
pub(crate) fn seed_and_version(seed: u64, version: &str) -> String {
    format!("seed {seed}; Fairlane {}", shorten(version, 40))
}

/// Formats named where there are several, at most.
const FORMATS_NAMED: usize = 6;

/// That other tools measured it, by the formats of their results.
pub(crate) fn imported_from(formats: &[&str]) -> String {
    let mut named: Vec<String> = formats.iter().take(FORMATS_NAMED).map(|format| shorten(format, 40)).collect();
    if let Some(more @ 1..) = formats.len().checked_sub(FORMATS_NAMED) {
        named.push(format!("{more} more"));
    }
    format!("imported from {}", listed_names(&named))
}

/// When it was raced, or from what it was imported and when that was measured, as far as the record tells; empty: it
/// does not. `imported`: the formats of other tools' results.
pub(crate) fn origin(imported: &[String], started: &str) -> String {
    let started = shorten(started, 40);
    let formats: Vec<&str> = imported.iter().map(String::as_str).collect();
    match (formats.as_slice(), started.as_str()) {
        ([], "") => String::new(),
        ([], started) => format!("raced {started}"),
        (formats, "") => imported_from(formats),
        (formats, started) => format!("{}, measured {started}", imported_from(formats)),
    }
}

/// The first line of a report. `imported`: as in [`origin`].
pub(crate) fn heading(
    suite: &str,
    lanes: &[&str],
    imported: &[String],
    started: &str,
    resumes: u32,
    ended: &str,
) -> Phrase {
    let suite = if suite.trim().is_empty() { UNKNOWN_SUITE.to_owned() } else { shorten(suite, 60) };
    let taken_up = match resumes {
        0 => String::new(),
        1 => ", continued once".to_owned(),
        times => format!(", continued {times} times"),
    };
    let parts = match imported {
        [] => [format!("suite {suite}"), origin(imported, started)],
        // That they are imported is all that their suite says.
        imported => [String::new(), origin(imported, started)],
    };
    let parts: Vec<&str> = parts.iter().map(String::as_str).filter(|part| !part.is_empty()).collect();
    let said = names(lanes, ", ").say(format!("; {}{taken_up}", parts.join(", ")));
    if ended == "complete" { said } else { said.say(", ").tone(Tone::Failed, shorten(ended, 40)) }
}

/// What the same lane raced twice shows.
pub(crate) fn self_check(lane: &str, counts: &SelfCheck) -> Phrase {
    let results = counts.ties + counts.undecided + counts.apart + counts.none;
    let said = Phrase::default().name(lane).say(" against itself: ");
    let parts = [
        (counts.apart, Tone::Failed, "apart"),
        (counts.ties, Tone::Tie, "tie"),
        (counts.undecided, Tone::Undecided, "undecided"),
        (counts.none, Tone::NoVerdict, "no verdict"),
    ];
    let parts = parts.into_iter().filter(|(count, ..)| *count > 0).map(|(count, tone, word)| {
        let within = counts.within.as_ref().filter(|_| tone == Tone::Tie);
        let within = within.map(|within| format!(" (within {within})")).unwrap_or_default();
        let share = if count == results { format!(" in all {results}") } else { format!(" in {count} of {results}") };
        Phrase::default().tone(tone, word).say(share + &within)
    });
    let said = said.join(parts, ", ");
    if counts.apart > 0 { said.say("; believe no difference of that size in this race") } else { said }
}

/// How the pairs of the same lane with itself came out, over all results.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct SelfCheck {
    pub(crate) ties: usize,
    pub(crate) undecided: usize,
    pub(crate) apart: usize,
    pub(crate) none: usize,
    /// Widest bound among the ties.
    pub(crate) within: Option<String>,
}
