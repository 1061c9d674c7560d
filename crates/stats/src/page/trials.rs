//! Every trial as a row.

use super::names::Names;
use super::{DIGITS, LATENCY_DIGITS};
use crate::timeline::{digits, evenly, milliseconds};
use model::Flag;
use model::page::Trials;
use model::record::Record;
use model::trial::{Group, Outcome, Trial};

/// Rows at most.
const MOST_ROWS: usize = 20_000;
/// Characters of a remark at most.
const MOST_REMARK: usize = 400;

/// A row to be: a trial and one of its groups, where it has figures.
#[derive(Clone, Copy)]
struct Row<'a> {
    trial: &'a Trial,
    group: Option<&'a Group>,
}

/// Every trial and group in the order in which they were run. Of more than [`MOST_ROWS`] an even choice,
/// in which those that do not count come first: they are what somebody looks for.
pub(super) fn trials(record: &Record) -> Trials {
    let rows: Vec<Row> = record.trials.iter().flat_map(rows_of).collect();
    let mut table = Trials { in_all: rows.len() as u64, ..Trials::default() };
    let mut names = Names::default();
    let begun = seconds_of(&record.header.started);
    let mut before: Option<&Trial> = None;
    for index in chosen(&rows) {
        let Row { trial, group } = rows[index];
        let started = seconds_of(&trial.started).zip(begun).map_or(0.0, |(at, begun)| at - begun);
        let metric = group.and_then(|group| group.metrics.get(&group.primary_metric));
        table.workload.push(names.place(&trial.workload));
        table.group.push(names.place(group.map_or("", |group| group.name.as_str())));
        table.lane.push(names.place(&trial.lane));
        table.round.push(trial.round);
        table.attempt.push(trial.attempt);
        table.outcome.push(trial.outcome);
        table.started_seconds.push(milliseconds(started));
        table.value.push(metric.filter(|value| value.is_finite()).map(|value| digits(*value, DIGITS)));
        table.operations.push(group.map_or(0, |group| group.operations));
        table.bytes.push(group.map_or(0, |group| group.bytes));
        table.seconds.push(digits(group.map_or(trial.system.window_seconds, |group| group.seconds), DIGITS));
        let p99 = group.and_then(|group| group.latency_ns?.p99).filter(|ns| ns.is_finite());
        table.p99_ns.push(p99.map(|ns| digits(ns, LATENCY_DIGITS)));
        // What is said of a trial stands at the first of its rows.
        let first = before.replace(trial).is_none_or(|before| !std::ptr::eq(before, trial));
        if let Some(remark) = remark(trial).filter(|_| first) {
            table.remarks.insert(table.round.len() as u32 - 1, remark);
        }
    }
    table.names = names.into_vec();
    table
}

fn rows_of(trial: &Trial) -> impl Iterator<Item = Row<'_>> {
    let bare = trial.groups.is_empty().then_some(Row { trial, group: None });
    bare.into_iter().chain(trial.groups.iter().map(move |group| Row { trial, group: Some(group) }))
}

fn chosen(rows: &[Row]) -> Vec<usize> {
    if rows.len() <= MOST_ROWS {
        return (0..rows.len()).collect();
    }
    let (counted, others): (Vec<usize>, Vec<usize>) =
        (0..rows.len()).partition(|&index| rows[index].trial.outcome == Outcome::Ok);
    let of =
        |list: &[usize], most: usize| -> Vec<usize> { evenly(list.len(), most).iter().map(|&at| list[at]).collect() };
    let mut kept = of(&others, MOST_ROWS / 2);
    kept.extend(of(&counted, MOST_ROWS - kept.len()));
    kept.sort_unstable();
    kept
}

/// Why it failed, was repeated or is void, and its flags.
fn remark(trial: &Trial) -> Option<String> {
    let said: Vec<String> = trial.reason.iter().cloned().chain(trial.flags.iter().map(Flag::to_string)).collect();
    let said = said.join("; ");
    match said.char_indices().nth(MOST_REMARK) {
        _ if said.is_empty() => None,
        Some((cut, _)) => Some(format!("{}…", &said[..cut])),
        None => Some(said),
    }
}

/// Seconds since 1970 of a time as records write it: `2026-11-20T10:00:00Z`, with or without a fraction.
fn seconds_of(text: &str) -> Option<f64> {
    let (date, time) = text.strip_suffix('Z')?.split_once('T')?;
    let numbers = |text: &str, by: char| -> Option<[f64; 3]> {
        let all: Vec<f64> = text.split(by).map(|part| part.parse().ok()).collect::<Option<_>>()?;
        all.try_into().ok()
    };
    let ([year, month, day], [hours, minutes, seconds]) = (numbers(date, '-')?, numbers(time, ':')?);
    let sound = (1.0..=12.0).contains(&month) && (1.0..=31.0).contains(&day) && (1.0..=9999.0).contains(&year);
    let days = sound.then(|| days(year as i64, month as i64, day as i64))?;
    let seconds = 86_400.0 * days as f64 + 3600.0 * hours + 60.0 * minutes + seconds;
    seconds.is_finite().then_some(seconds)
}

/// Days since 1970-01-01 in the Gregorian calendar. Years are counted from March, so that the leap day is
/// the last of its year, and months are 153 days in five.
fn days(year: i64, month: i64, day: i64) -> i64 {
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let before = 365 * year + year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400);
    before + (153 * month + 2) / 5 + day - 1 - 719_468
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_across_months_and_leap_days() {
        assert_eq!(seconds_of("1970-01-01T00:00:00Z"), Some(0.0));
        assert_eq!(seconds_of("2000-03-01T00:00:00Z"), Some(951_868_800.0));
        assert_eq!(seconds_of("2026-11-22T13:10:05.25Z"), Some(1_795_353_005.25));
        let between = |a: &str, b: &str| seconds_of(b).unwrap() - seconds_of(a).unwrap();
        assert_eq!(between("2024-02-28T23:59:59Z", "2024-03-01T00:00:00Z"), 86_401.0);
        assert_eq!(between("2100-02-28T23:59:59Z", "2100-03-01T00:00:00Z"), 1.0);
        for wrong in [
            "",
            "Z",
            "T",
            "2026-11-22",
            "2026-13-01T00:00:00Z",
            "2026-11-22T10:00Z",
            "a-b-cTd:e:fZ",
            "2026-11-22T1:1:infZ",
        ] {
            assert_eq!(seconds_of(wrong), None, "{wrong}");
        }
    }
}
