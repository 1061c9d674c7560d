//! Two records side by side, in words.

use crate::figures;
use crate::layout::{Phrase, Tone};
use crate::words::{self, sentence};
use model::findings::{Comparison, ComparisonRow, Verdict};

pub(crate) const LABEL_A: &str = "A";
pub(crate) const LABEL_B: &str = "B";
pub(crate) const COLUMN_CHANGE: &str = "B against A";

/// The line above the groups of a workload; `why`: none of them has a verdict.
pub(crate) fn heading(title: &str, why: Option<&str>) -> Phrase {
    let said = Phrase::default().tone(Tone::Label, title);
    match why {
        Some(why) => said.say(", ").tone(Tone::NoVerdict, "no verdicts").say(format!(": {}", sentence(why))),
        None => said,
    }
}

/// How often A's speed B reached, where the heading says why there is no verdict.
pub(crate) fn bare_ratio(row: &ComparisonRow) -> Phrase {
    match words::latency(&row.metric) {
        Some(latency) => Phrase::new(format!("{} the {latency}", figures::times(row.ratio.recip()))),
        None => Phrase::new(figures::times(row.ratio)),
    }
}

/// How B did against A.
pub(crate) fn change(row: &ComparisonRow) -> Phrase {
    let interval = row.low.zip(row.high);
    let latency = words::latency(&row.metric);
    // Of latencies the times themselves are told: a minus means less time.
    let (times, bounds) = match latency {
        Some(_) => (row.ratio.recip(), interval.map(words::turned)),
        None => (row.ratio, interval),
    };
    let of = latency.map(|latency| format!(" the {latency}")).unwrap_or_default();
    let said = match (row.verdict, bounds) {
        (Verdict::Faster | Verdict::Slower, _) => {
            let faster = row.verdict == Verdict::Faster;
            let tone = if faster { Tone::Faster } else { Tone::Slower };
            let (size, interval) = words::difference(&row.metric, row.ratio, interval, faster);
            let said = Phrase::default().tone(tone, size);
            interval.map_or(said.clone(), |interval| said.say(format!(" ({interval})")))
        }
        (Verdict::Tie, Some((low, high))) => {
            Phrase::default().tone(Tone::Tie, "tie").say(format!(" (within {})", figures::within(low, high)))
        }
        (Verdict::Tie, None) => Phrase::default().tone(Tone::Tie, "tie"),
        (Verdict::Undecided, Some((low, high))) => {
            let words = if latency.is_some() { ["less", "more"] } else { ["slower", "faster"] };
            let (low, high) = figures::span(low, high, words);
            Phrase::default().tone(Tone::Undecided, "too noisy to say").say(format!(", between {low} and {high}"))
        }
        (Verdict::Undecided, None) => {
            let ratio = figures::times(times);
            Phrase::default().tone(Tone::Undecided, "too few rounds to say").say(format!(", {ratio}{of} so far"))
        }
        (Verdict::None, _) => Phrase::new(figures::times(times)).say(of).say(", ").tone(Tone::NoVerdict, "no verdict"),
    };
    // Beside a verdict the reason is a caveat that many rows share: `caveats` says it once.
    match row.why.as_deref().filter(|why| row.verdict == Verdict::None && !why.trim().is_empty()) {
        Some(why) => said.say(format!(": {}", sentence(why))),
        None => said,
    }
}

/// What stands beside the verdicts, each once.
pub(crate) fn caveats(comparison: &Comparison) -> Vec<String> {
    let mut said: Vec<String> = Vec::new();
    let rows = comparison.rows.iter().filter(|row| row.verdict != Verdict::None);
    let whys = rows.filter_map(|row| row.why.as_deref()).flat_map(|why| why.split("; "));
    for caveat in whys.map(sentence).filter(|caveat| !caveat.trim().is_empty()) {
        if !said.contains(&caveat) {
            said.push(caveat);
        }
    }
    said
}

/// The verdict as JSON spells it.
pub(crate) fn verdict_key(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Faster => "faster",
        Verdict::Slower => "slower",
        Verdict::Tie => "tie",
        Verdict::Undecided => "undecided",
        Verdict::None => "none",
    }
}

/// How many rows came out how.
pub(crate) fn summary(comparison: &Comparison) -> Phrase {
    let early = |row: &ComparisonRow| row.low.is_none() || row.high.is_none();
    let count = |verdict: Verdict| {
        comparison
            .rows
            .iter()
            .filter(|row| row.verdict == verdict && (verdict != Verdict::Undecided || !early(row)))
            .count()
    };
    let too_few = comparison.rows.iter().filter(|row| row.verdict == Verdict::Undecided && early(row)).count();
    let counts = [
        (Verdict::Slower, Tone::Slower, "slower"),
        (Verdict::Faster, Tone::Faster, "faster"),
        (Verdict::Tie, Tone::Tie, "tie"),
        (Verdict::Undecided, Tone::Undecided, "too noisy to say"),
        (Verdict::None, Tone::NoVerdict, "no verdict"),
    ];
    let counts = counts.map(|(verdict, tone, word)| (count(verdict), tone, word));
    let shown = counts
        .into_iter()
        .chain([(too_few, Tone::Undecided, "too few rounds to say")])
        .filter(|(count, ..)| *count > 0)
        .map(|(count, tone, word)| Phrase::new(format!("{count} ")).tone(tone, word));
    let shown: Vec<Phrase> = shown.collect();
    if shown.is_empty() {
        return Phrase::new("Nothing to compare: no lane and workload is in both records.");
    }
    Phrase::new("B against A: ").join(shown, ", ").say(".")
}
