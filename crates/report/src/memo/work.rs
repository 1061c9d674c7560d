//! What was done, as people call it, and how far two lanes are apart at it.

use crate::clean::shorten;
use crate::facts;
use crate::figures::{self, Ends};
use crate::language::{Tongue, fill};
use crate::layout::Phrase;
use crate::words::{latency, turned};
use model::findings::{Findings, ResultFinding, Shown};

/// Columns of a name that somebody gave a piece of work.
const NAME_COLUMNS: usize = 50;

/// What a piece of work is called: `commits`.
pub(crate) fn noun(findings: &Findings, result: &ResultFinding, tongue: &Tongue) -> Phrase {
    match known(result, tongue) {
        Some((noun, _)) => Phrase::new(noun),
        None => named(findings, result, tongue),
    }
}

/// When it is done: `when committing`.
pub(crate) fn when(findings: &Findings, result: &ResultFinding, tongue: &Tongue) -> Phrase {
    match known(result, tongue) {
        Some((_, when)) => Phrase::new(when),
        None => fill(tongue.words.at_work, &[("work", named(findings, result, tongue))]),
    }
}

fn known(result: &ResultFinding, tongue: &Tongue) -> Option<(&'static str, &'static str)> {
    let words = tongue.words;
    let of_table = result.section.is_some();
    Some(match (result.workload.as_str(), result.group.as_str()) {
        ("small-files", "create") => (words.creations, words.creating),
        ("small-files", "read") => (words.small_reads, words.reading_small),
        ("small-files", "delete") => (words.deletions, words.deleting),
        _ if of_table => return None,
        ("commit", _) => (words.commits, words.committing),
        ("sequential-write" | "seq-write", _) => (words.sequential_writes, words.writing_in_sequence),
        ("sequential-read" | "seq-read", _) => (words.sequential_reads, words.reading_in_sequence),
        ("random-write" | "rand-write", _) => (words.random_writes, words.writing_at_random),
        ("random-read" | "rand-read", _) => (words.random_reads, words.reading_at_random),
        _ => return None,
    })
}

/// By the name that a suite or a job file gives it: of a step of file operations that of the step.
fn named(findings: &Findings, result: &ResultFinding, tongue: &Tongue) -> Phrase {
    let title = if result.title.trim().is_empty() { &result.workload } else { &result.title };
    let title = shorten(&tongue.name(title), NAME_COLUMNS);
    let group = |group: &str| shorten(&tongue.name(group), NAME_COLUMNS);
    let name = match facts::group_of(result, &findings.results) {
        Some(step) if result.section.is_some() => group(step),
        Some(of) => {
            fill(tongue.words.labelled, &[("name", Phrase::new(title)), ("value", Phrase::new(group(of)))]).plain()
        }
        None => title,
    };
    fill(tongue.words.quoted, &[("text", Phrase::new(name))])
}

/// How a lane does against another one in one result: the ratio above 1 where it does better, and its
/// interval; `None`: nobody compared them.
pub(crate) fn against(result: &ResultFinding, lane: &str, other: &str) -> Option<Distance> {
    let shown = Shown::from_lanes(result, lane, other)?;
    Some(Distance::Row(shown.ratio?, shown.interval))
}

/// How far two lanes are apart, above 1 where the one that is told of does better.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Distance {
    /// The ratio, and its interval for this row alone.
    Row(f64, Option<(f64, f64)>),
    /// What holds beside all other differences of the race: at least so much.
    AtLeast(f64),
    /// The sign alone holds beside them: above 1 is better.
    Sign(f64),
}

impl Distance {
    /// As ANSWER tells it: what holds beside all other differences of the race.
    pub(crate) fn over_race(result: &ResultFinding, lane: &str, other: &str) -> Option<Distance> {
        let shown = Shown::from_lanes(result, lane, other)?;
        Some(match shown.over_race? {
            Some(at_least) => Distance::AtLeast(at_least),
            None => Distance::Sign(shown.ratio?),
        })
    }

    /// The same of times.
    fn turned(self) -> Distance {
        match self {
            Distance::Row(ratio, interval) => Distance::Row(ratio.recip(), interval.map(turned)),
            Distance::AtLeast(ratio) => Distance::AtLeast(ratio.recip()),
            Distance::Sign(ratio) => Distance::Sign(ratio.recip()),
        }
    }

    fn ratio(self) -> f64 {
        match self {
            Distance::Row(ratio, _) | Distance::AtLeast(ratio) | Distance::Sign(ratio) => ratio,
        }
    }
}

/// How much better or worse a lane does: `at least 6 % faster when committing`.
pub(crate) fn claim(findings: &Findings, result: &ResultFinding, distance: Distance, tongue: &Tongue) -> Phrase {
    let words = tongue.words;
    let better = distance.ratio() >= 1.0;
    let wait = latency(&result.metric).map(|_| match result.metric.as_str() {
        "latency_p50_ns" => words.wait_p50,
        "latency_p99_ns" => words.wait_p99,
        "latency_p999_ns" => words.wait_p999,
        "latency_mean_ns" => words.wait_mean,
        _ => words.wait_other,
    });
    // Of times the times themselves, as `words::difference` tells them.
    let (told, up) = if wait.is_some() { (distance.turned(), !better) } else { (distance, better) };
    let interval = if let Distance::Row(_, interval) = told { interval } else { None };
    let ends = figures::ends(told.ratio(), interval, up);
    let template = match (wait.is_some(), better, ends.factors) {
        (false, true, _) if matches!(distance, Distance::Sign(_)) => words.faster,
        (false, false, _) if matches!(distance, Distance::Sign(_)) => words.slower,
        (true, true, _) if matches!(distance, Distance::Sign(_)) => words.shorter,
        (true, false, _) if matches!(distance, Distance::Sign(_)) => words.longer,
        (false, true, false) => words.faster_percent,
        (false, true, true) => words.faster_times,
        (false, false, false) => words.slower_percent,
        (false, false, true) => words.slower_times,
        (true, true, false) => words.shorter_percent,
        (true, true, true) => words.shorter_times,
        (true, false, false) => words.longer_percent,
        (true, false, true) => words.longer_times,
    };
    let values = [
        ("amount", amount(&ends, matches!(distance, Distance::AtLeast(_)), tongue)),
        ("when", when(findings, result, tongue)),
        ("wait", Phrase::new(wait.unwrap_or_default())),
    ];
    fill(template, &values)
}

fn amount(ends: &Ends, at_least: bool, tongue: &Tongue) -> Phrase {
    let number = |text: &str| Phrase::new(tongue.figure(text));
    let words = tongue.words;
    match (&ends.ends, ends.factors) {
        (Some((low, high)), factors) => {
            let template = if factors { words.times_between } else { words.percent_between };
            fill(template, &[("low", number(low)), ("high", number(high))])
        }
        (None, factors) => {
            let template = match (at_least, factors) {
                (true, true) => words.times_at_least,
                (true, false) => words.percent_at_least,
                (false, true) => words.times_about,
                (false, false) => words.percent_about,
            };
            fill(template, &[("size", number(&ends.size))])
        }
    }
}
