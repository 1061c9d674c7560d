//! The regression gate in words.

use crate::clean::{name, shorten};
use crate::figures;
use crate::layout::{GLUE, Phrase, Tone};
use crate::words::{self, sentence};
use model::gate::{Gate, GateCounts, GateFigure, GateOutcome, GateRow, GateSide, GateVerdict, OneSided};

pub(crate) const GATE: &str = "GATE";
pub(crate) const BASELINE: &str = "BASELINE";
pub(crate) const CANDIDATE: &str = "CANDIDATE";
pub(crate) const CHANGED: &str = "CHANGED";
pub(crate) const METHOD: &str = "METHOD";
pub(crate) const AGAIN: &str = "again";
pub(crate) const NOT_COMPARED: &str = "not compared";
pub(crate) const COLUMN_BASELINE: &str = "baseline";
pub(crate) const COLUMN_CANDIDATE: &str = "candidate";
pub(crate) const CHANGED_TITLE: &str = "Changed";
pub(crate) const METHOD_TITLE: &str = "Method";
pub(crate) const BASELINE_TITLE: &str = "Baseline";
pub(crate) const CANDIDATE_TITLE: &str = "Candidate";
pub(crate) const ALL_TITLE: &str = "All comparisons";
pub(crate) const NOT_PASSED_TITLE: &str = "What did not pass";

/// Half-width as a share beyond which an interval is not worth its digits: a factor of ten.
const HOPELESS: f64 = 9.0;

/// Records of a side that are named one by one.
const NAMED_RECORDS: usize = 3;

/// What the gate says, as JSON spells it.
pub(crate) fn outcome(outcome: GateOutcome) -> &'static str {
    match outcome {
        GateOutcome::Fail => "fail",
        GateOutcome::Unresolved => "unresolved",
        GateOutcome::Inconclusive => "inconclusive",
        GateOutcome::Pass => "pass",
    }
}

fn outcome_tone(outcome: GateOutcome) -> Tone {
    match outcome {
        GateOutcome::Fail => Tone::Failed,
        GateOutcome::Unresolved | GateOutcome::Inconclusive => Tone::Undecided,
        GateOutcome::Pass => Tone::Faster,
    }
}

/// The verdict as JSON spells it.
pub(crate) fn verdict(verdict: GateVerdict) -> &'static str {
    match verdict {
        GateVerdict::Slower => "slower",
        GateVerdict::Failed => "failed",
        GateVerdict::Inconclusive => "inconclusive",
        GateVerdict::Pass => "pass",
        GateVerdict::Faster => "faster",
    }
}

fn tone(verdict: GateVerdict) -> Tone {
    match verdict {
        GateVerdict::Slower => Tone::Slower,
        GateVerdict::Failed => Tone::Failed,
        GateVerdict::Inconclusive => Tone::Undecided,
        GateVerdict::Pass => Tone::Tie,
        GateVerdict::Faster => Tone::Faster,
    }
}

/// The one line that says all: `fail: 1 slower, 9 pass, 2 inconclusive`.
pub(crate) fn line(gate: &Gate) -> Phrase {
    let GateCounts { slower, failed, inconclusive, pass, faster, one_sided, unresolved } = gate.counts;
    let parts = [
        (slower, Tone::Slower, "slower"),
        (failed, Tone::Failed, "failed"),
        (pass, Tone::Tie, "pass"),
        (faster, Tone::Faster, "faster"),
        (inconclusive, Tone::Undecided, "inconclusive"),
        (one_sided, Tone::NoVerdict, NOT_COMPARED),
    ];
    let parts = parts.into_iter().filter(|(count, ..)| *count > 0);
    let parts = parts.map(|(count, tone, word)| Phrase::new(format!("{count} ")).tone(tone, word));
    let said = Phrase::default().tone(outcome_tone(gate.outcome), outcome(gate.outcome)).say(": ").join(parts, ", ");
    match gate.need_resolution {
        Some(share) if unresolved > 0 => said.say(format!("; {unresolved} not resolved to {}", plus_minus(share))),
        _ => said,
    }
}

fn plus_minus(share: f64) -> String {
    format!("±{}", figures::small_share(share))
}

/// Records, kernel and time of a side.
pub(crate) fn side(side: &GateSide) -> String {
    let count = side.records.len();
    let records = if count == 1 { "1 record".to_owned() } else { format!("{count} records") };
    let kernels: Vec<String> = side.kernels.iter().filter(|of| !of.is_empty()).map(|of| shorten(of, 60)).collect();
    let kernel = if kernels.is_empty() { String::new() } else { format!(" of kernel {}", kernels.join(" and ")) };
    let names: Vec<String> = side.records.iter().map(|of| shorten(&of.name, 100)).collect();
    let names = match names.as_slice() {
        [first, .., last] if count > NAMED_RECORDS => format!("{first} … {last}"),
        all => all.join(", "),
    };
    let day = |started: &str| shorten(started.split('T').next().unwrap_or_default(), 20);
    // Records that were imported may tell no time.
    let days: Vec<String> = side.records.iter().map(|of| day(&of.started)).filter(|day| !day.is_empty()).collect();
    let days = match days.as_slice() {
        [first, .., last] if first != last => format!(", raced {first} to {last}"),
        [first, ..] => format!(", raced {first}"),
        [] => String::new(),
    };
    format!("{records}{kernel}{days}: {names}")
}

/// What is allowed, how the intervals were made and how far they hold.
pub(crate) fn method(gate: &Gate) -> String {
    let how = match gate.pairing.paired {
        true => "in pairs in the order of time (Student's t of the differences of logarithms)",
        false => "as two independent samples (Welch's t on logarithms)",
    };
    let resolution = match gate.need_resolution {
        Some(share) => format!(", and intervals of {} at most are asked for", plus_minus(share)),
        None => String::new(),
    };
    if gate.comparison.is_some() {
        return format!(
            "up to {} slower is allowed{resolution}; one record is one replicate, and one of each side shows no spread \
             between boots: the two are compared by their rounds, and the gate gives no verdict",
            figures::small_share(gate.fail_if_slower)
        );
    }
    let noise = match gate.noise {
        Some(noise) => format!("; records of one side vary by {} (median)", figures::small_share(noise)),
        None => String::new(),
    };
    let comparisons = match gate.comparisons {
        1 => format!("the interval holds with {}", figures::share(gate.confidence)),
        count => {
            format!("the {count} intervals hold all together with {} (Bonferroni)", figures::share(gate.confidence))
        }
    };
    format!(
        "up to {} slower is allowed{resolution}; {comparisons}; one record is one replicate{noise}; compared {how}, \
         because {}",
        figures::small_share(gate.fail_if_slower),
        sentence(&gate.pairing.why)
    )
}

/// What came of one comparison. `brief`: for the list of what did not pass, without the word of the
/// verdict, which stands beside it there, and with all that is to be said.
pub(crate) fn row(gate: &Gate, row: &GateRow, brief: bool) -> Phrase {
    let interval = row.low.zip(row.high);
    let latency = words::latency(&row.metric);
    let word = Phrase::default().tone(tone(row.verdict), verdict(row.verdict));
    let mut said = match (row.verdict, row.ratio, interval) {
        (GateVerdict::Slower | GateVerdict::Faster, Some(ratio), Some(_)) => {
            let faster = row.verdict == GateVerdict::Faster;
            let (size, interval) = words::difference(&row.metric, ratio, interval, faster);
            let said = Phrase::default().tone(tone(row.verdict), size);
            interval.map_or(said.clone(), |interval| said.say(format!(" ({interval})")))
        }
        (_, _, Some(_)) if row.half_width.is_some_and(|half| half > HOPELESS) => {
            let wide =
                Phrase::new(format!("the interval reaches over {} to either side", figures::times(HOPELESS + 1.0)));
            if brief { wide } else { word.say(", ").and(wide) }
        }
        (_, _, Some(interval)) => {
            // Of latencies the times themselves are told: a minus means less time.
            let (low, high) = if latency.is_some() { words::turned(interval) } else { interval };
            let words = if latency.is_some() { ["less", "more"] } else { ["slower", "faster"] };
            let (low, high) = figures::span(low, high, words);
            let of = latency.map(|latency| format!("{latency} ")).unwrap_or_default();
            let between = Phrase::new(format!("{of}between {low} and {high}"));
            if brief { between } else { word.say(", ").and(between) }
        }
        (_, Some(ratio), None) => {
            let (times, of) = match latency {
                Some(latency) => (ratio.recip(), format!(" the {latency}")),
                None => (ratio, String::new()),
            };
            let so_far = Phrase::new(format!("{}{of} so far", figures::times(times)));
            if brief { so_far } else { word.say(", ").and(so_far) }
        }
        (_, None, None) if brief && row.why.is_none() => Phrase::new("no figures on both sides"),
        (_, None, None) if brief => Phrase::default(),
        (_, None, None) => word,
    };
    // What did not pass stands in a list of its own, which tells the rest.
    if brief || !is_listed(row) {
        if let Some(why) = row.why.as_deref().filter(|why| !why.trim().is_empty()) {
            let between = if said.is_empty() { "" } else { "; " };
            said = said.say(between).say(sentence(why));
        }
        if let Some(more) = more(gate, row) {
            said = said.say("; ").say(more);
        }
    }
    said
}

/// Whether a comparison is listed: it did not pass, or not at the resolution that was asked for.
pub(crate) fn is_listed(row: &GateRow) -> bool {
    row.unresolved || !matches!(row.verdict, GateVerdict::Pass | GateVerdict::Faster)
}

/// How many more records would probably do; `None` where none are needed.
fn more(gate: &Gate, row: &GateRow) -> Option<String> {
    if row.failing || row.not_compared {
        return None;
    }
    let wide = gate.need_resolution.filter(|_| row.unresolved && row.half_width.is_some());
    let wide = wide.map(|share| format!("wider than {}, ", plus_minus(share))).unwrap_or_default();
    if !row.unresolved && row.verdict != GateVerdict::Inconclusive {
        return None;
    }
    Some(match row.more_records {
        Some(1) => format!("{wide}1 more record of each side should do"),
        Some(more) => format!("{wide}about {more} more records of each side should do"),
        None if row.half_width.is_none() => return None,
        None if row.baseline.records.min(row.candidate.records) < 3 => {
            format!("{wide}how many more records would do shows from three of each side on")
        }
        None => format!("{wide}over 100 records of each side would be needed"),
    })
}

/// A side's figure with its records and how much they vary: `1.08k ops/s`.
pub(crate) fn figure(row: &GateRow, figure: &GateFigure) -> String {
    figure.mean.map_or_else(|| "-".to_owned(), |mean| figures::rate(&row.unit, mean))
}

/// How much the records of both sides vary: `5 records, 1.6 %; 5, 2.1 %`.
pub(crate) fn noise(row: &GateRow) -> String {
    let of = |figure: &GateFigure| match figure.deviation {
        Some(deviation) => format!("{} records ±{}", figure.records, figures::small_share(deviation)),
        None if figure.records == 1 => "1 record".to_owned(),
        None => format!("{} records", figure.records),
    };
    let (before, after) = (of(&row.baseline), of(&row.candidate));
    if before == after { format!("2 x {before}") } else { format!("{before}, {after}") }
}

/// A comparison's name in a list: `ext4, small files, create`.
pub(crate) fn subject(row: &GateRow, title: &str) -> Phrase {
    Phrase::default().name(&row.lane).say(format!(", {title}"))
}

/// Comparisons without an interval for the same reason.
pub(crate) fn together(count: usize, why: &str) -> String {
    format!("{count} comparisons: {}", sentence(why))
}

/// What only one side planned.
pub(crate) fn one_sided(of: &OneSided) -> Phrase {
    let side = if of.in_baseline { "baseline" } else { "candidate" };
    let said = match (&of.lane, &of.workload) {
        (Some(lane), None) => Phrase::new("lane ").name(lane),
        (Some(lane), Some(workload)) => Phrase::new(format!("workload {} in lane ", name(workload))).name(lane),
        (None, Some(workload)) => Phrase::new(format!("workload {}", name(workload))),
        (None, None) => Phrase::new("something"),
    };
    let comparisons = match of.comparisons {
        1 => "1 comparison".to_owned(),
        count => format!("{count} comparisons"),
    };
    said.say(format!(" is only in the {side} ({comparisons})"))
}

/// What is said of a gate in a JUnit failure: what is allowed.
pub(crate) fn allowed(gate: &Gate) -> String {
    format!("up to {} slower is allowed", figures::small_share(gate.fail_if_slower))
}

/// The noise as a line of its own.
pub(crate) fn varies(row: &GateRow) -> String {
    format!("standard deviation between records: {}{GLUE}(baseline, candidate)", noise(row))
}
