//! What tables of appenders say, and searches for how many a lane sustains.

use crate::clean::shorten;
use crate::figures;
use crate::layout::{GLUE, Phrase, Tone};
use crate::words;
use model::findings::{AppendersFinding, AppendersRow, Pair, SearchFinding, SearchLane, Verdict};
use model::search::Criterion;

/// The label of the tables of lateness.
pub(crate) const LATENESS: &str = "LATENESS";
pub(crate) const LATENESS_TITLE: &str = "Lateness of the writers";
/// The label of a search.
pub(crate) const MOST_WRITERS: &str = "WRITERS";
pub(crate) const MOST_WRITERS_TITLE: &str = "Writers that each lane sustains";

/// The columns of a table of lateness, the lane first. Where there is no room the last ones go.
pub(crate) const COLUMNS: [&str; 11] =
    ["lane", "late", "records", "p50", "p99", "p99.9", "max", "own p99", "dirty", "iowait", "load"];

/// What they mean.
pub(crate) const LEGEND: &str = "Lateness: from when a record was due to when it was appended. Late: writers of which \
    something was late by a period or more; records: the share of records that were. Own: the harness's and the \
    scheduler's own part of it, p99. Dirty, iowait (mean of 10 s) and load (mean of a minute): the largest seen.";

/// The line above a table.
pub(crate) fn heading(table: &AppendersFinding) -> Phrase {
    let rounds = table.rows.iter().map(|row| row.rounds).max().unwrap_or(0);
    let each = if table.processes { ", a process each" } else { "" };
    Phrase::default().tone(Tone::Label, shorten(&table.title, 60)).say(format!(
        ", {} writers with {} files each every {}{each}, {}",
        table.writers,
        table.files,
        figures::brief(table.period_seconds),
        words::rounds(rounds)
    ))
}

/// The cells of a row; `several`: the workload has several groups, so that each is named.
pub(crate) fn cells(row: &AppendersRow, several: bool) -> Vec<String> {
    let absent = || "-".to_owned();
    let time = |ns: Option<f64>| ns.map_or_else(absent, |ns| figures::brief(ns * 1e-9));
    let share = |share: Option<f64>| share.map_or_else(absent, figures::small_share);
    let lane = shorten(&row.lane, 24);
    vec![
        if several { format!("{lane} {}", row.group) } else { lane },
        share(row.late_writers_share),
        share(row.late_share),
        time(row.p50_ns),
        time(row.p99_ns),
        time(row.p999_ns),
        time(row.max_ns),
        time(row.scheduling_p99_ns),
        row.dirty_bytes_max.map_or_else(absent, |bytes| figures::bytes(bytes as u64)),
        share(row.iowait_share_max),
        row.load_average_max.map_or_else(absent, |load| format!("{load:.1}")),
    ]
}

/// Rounds in which a lane fell behind; `None`: in none.
pub(crate) fn backlog(row: &AppendersRow) -> Option<Phrase> {
    (row.backlog_rounds > 0).then(|| {
        Phrase::default().name(&row.lane).say(format!(
            " fell behind in {} of {}: its backlog grew",
            row.backlog_rounds,
            words::rounds(row.rounds)
        ))
    })
}

/// The line above a search.
pub(crate) fn search_heading(search: &SearchFinding) -> Phrase {
    let by = match search.criterion {
        Criterion::Lateness => "p99 lateness under one period and no growing backlog",
        Criterion::Load => "load average, of the step alone, at most the number of CPUs",
    };
    let passes = if search.passes == 1 { "1 pass".to_owned() } else { format!("{} passes", search.passes) };
    Phrase::default().tone(Tone::Label, shorten(&search.title, 60)).say(format!(
        ", varied, {} files each every {}, {passes}; sustained means {by}",
        search.files,
        figures::brief(search.period_seconds)
    ))
}

/// `xfs sustains 21,000 writers (19,500 to 22,600): with 22627 writers …`.
pub(crate) fn sustained(lane: &SearchLane) -> Phrase {
    if let Some(why) = &lane.failure {
        return words::failed(&lane.lane, why);
    }
    let said = Phrase::default().name(&lane.lane).say(format!(" sustains {}", writers(lane)));
    match &lane.reason {
        Some(reason) => said.say(": ").say(words::sentence(reason)),
        None => said,
    }
}

/// `21,000 writers (19,500 to 22,600)`.
pub(crate) fn writers(lane: &SearchLane) -> String {
    let Some(mean) = lane.writers else { return words::FAILED.to_owned() };
    let number = |value: f64| figures::whole(rounded(value));
    let least = if lane.at_least { format!("at least{GLUE}") } else { String::new() };
    // Ends that read alike are no range.
    let ends = lane.low.zip(lane.high).map(|(low, high)| (number(low), number(high))).filter(|(low, high)| low != high);
    let range = ends.map(|(low, high)| format!(" ({low} to {high})"));
    format!("{least}{}{GLUE}writers{}", number(mean), range.unwrap_or_default())
}

/// Three digits say what passes can.
fn rounded(value: f64) -> u64 {
    let scale = 10_f64.powi((value.max(1.0).log10().floor() as i32 - 2).max(0));
    ((value / scale).round() * scale) as u64
}

/// A pair of a search.
pub(crate) fn search_pair(pair: &Pair) -> Phrase {
    let interval = pair.low.zip(pair.high);
    let why = pair.why.as_ref().map(|why| format!(": {}", words::sentence(why))).unwrap_or_default();
    let (a, b) = (Phrase::default().name(&pair.a), Phrase::default().name(&pair.b));
    match (pair.verdict, pair.ratio) {
        (Verdict::Faster | Verdict::Slower, Some(ratio)) => {
            let more = pair.verdict == Verdict::Faster;
            let gap = figures::gap(ratio, interval, more);
            let tone = if more { Tone::Faster } else { Tone::Slower };
            let range = gap.interval.map(|range| format!(" ({range})")).unwrap_or_default();
            let what = format!("{} {}", gap.size, if more { "more" } else { "fewer" });
            a.say(" sustains ").tone(tone, what).say(" writers than ").and(b).say(format!("{range}{why}"))
        }
        (Verdict::Tie, _) => a.say(" and ").and(b).say(" ").tone(Tone::Tie, "tie").say(why),
        (Verdict::Undecided, _) => a.say(" and ").and(b).say(": ").tone(Tone::Undecided, "undecided").say(why),
        _ => {
            let ratio = pair.ratio.map(|ratio| format!(" {}", figures::times(ratio))).unwrap_or_default();
            a.say(" by ").and(b).say(format!("{ratio}, ")).tone(Tone::NoVerdict, "no verdict").say(why)
        }
    }
}

/// What a search comes to.
pub(crate) fn answer(search: &SearchFinding) -> Phrase {
    let mut found: Vec<&SearchLane> = search.lanes.iter().filter(|lane| lane.writers.is_some()).collect();
    found.sort_by(|a, b| b.writers.unwrap_or(0.0).total_cmp(&a.writers.unwrap_or(0.0)));
    if search.lanes.iter().all(|lane| lane.passes.is_empty()) {
        return Phrase::new("No choice can be made: no pass of the search came to its end.");
    }
    if found.is_empty() {
        return Phrase::new("No lane sustains any number of writers that was tried.");
    }
    let each = found.iter().map(|lane| Phrase::default().name(&lane.lane).say(format!(" {}", writers(lane))));
    let said = Phrase::new(format!("Every {}: ", figures::brief(search.period_seconds))).join(each, ", ").say(".");
    let decided: Vec<Phrase> = search
        .pairs
        .iter()
        .filter(|pair| matches!(pair.verdict, Verdict::Faster | Verdict::Slower | Verdict::Tie))
        .map(search_pair)
        .collect();
    if decided.is_empty() { said } else { said.say(" ").join(decided, "; ").say(".") }
}
