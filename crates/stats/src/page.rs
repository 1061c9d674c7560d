//! The data of the page: one race with its rounds, its latencies, its courses and its trials.
//!
//! Nothing is judged here: verdicts are in the findings. The work is linear in the record, and what comes
//! of it is bounded, whatever the record holds.

mod half_normal;
mod names;
mod stacks;
mod timelines;
mod trials;

use crate::latency;
use crate::limit;
use crate::series::Series;
use crate::timeline::{digits, evenly};
use hdrhistogram::Histogram;
use model::findings::{Findings, PublishedComparison, ResultFinding, Verdict};
use model::page::{Detail, LaneDetail, PercentilePoint, RacePage, RoundFigure, SelfCheck};
use model::record::Record;
use model::trial::Group;
use std::collections::{BTreeMap, HashMap};

/// Rounds of one lane in one result at most.
const MOST_ROUNDS: usize = 2000;
/// Rounds of all lanes in all results at most, as long as each keeps a hundred.
const MOST_ROUNDS_IN_ALL: usize = 60_000;
/// Points of a curve of percentiles, about.
const CURVE_POINTS: usize = 60;
/// A percentile is shown only where so many operations lie above it (method 4.2).
const OPERATIONS_ABOVE: f64 = 20.0;
/// Percentiles that people ask for by name.
const NAMED: [f64; 9] = [50.0, 75.0, 90.0, 95.0, 99.0, 99.9, 99.99, 99.999, 99.9999];
/// Digits of a figure: more than any interval has.
pub(crate) const DIGITS: i32 = 6;
/// Digits of a latency: what its histogram keeps.
pub(crate) const LATENCY_DIGITS: i32 = 4;

/// One race as the page shows it. `findings` are the record's; where it lies, what goes on with it, its notes, and what its
/// sentences are in other languages is for the caller to add.
pub fn race(record: &Record, findings: Findings, published: Vec<PublishedComparison>) -> RacePage {
    RacePage {
        record: None,
        resume: Vec::new(),
        details: details(record, &findings),
        timelines: timelines::timelines(record, &findings),
        trials: trials::trials(record),
        stacks: stacks::stacks(record),
        half_normal: half_normal::plots(&findings),
        published,
        notes: Vec::new(),
        self_check: self_check(&findings),
        sentences: BTreeMap::new(),
        findings,
    }
}

/// How the first lane did against its twin; `None`: it was not raced twice.
fn self_check(findings: &Findings) -> Option<SelfCheck> {
    let twin = &findings.lanes.iter().find(|lane| lane.is_self)?.name;
    let lane = &findings.lanes.iter().find(|lane| !lane.is_self)?.name;
    let mut of =
        SelfCheck { lane: lane.clone(), ties: 0, undecided: 0, apart: 0, without_verdict: 0, low: None, high: None };
    for pair in findings.results.iter().flat_map(|result| &result.pairs) {
        if ![(lane, twin), (twin, lane)].contains(&(&pair.a, &pair.b)) {
            continue;
        }
        match pair.verdict {
            Verdict::Tie => {
                of.ties += 1;
                of.low = [of.low, pair.low].into_iter().flatten().reduce(f64::min);
                of.high = [of.high, pair.high].into_iter().flatten().reduce(f64::max);
            }
            Verdict::Undecided => of.undecided += 1,
            Verdict::Faster | Verdict::Slower => of.apart += 1,
            Verdict::None => of.without_verdict += 1,
        }
    }
    (of.ties + of.undecided + of.apart + of.without_verdict > 0).then_some(of)
}

/// What lies behind every result, in the order of the results.
fn details(record: &Record, findings: &Findings) -> Vec<Detail> {
    let lanes = findings.results.len() * findings.lanes.len();
    let most = share_of(MOST_ROUNDS_IN_ALL, lanes, 100).min(MOST_ROUNDS);
    let ceiling = |result: &ResultFinding| {
        let workload = record.header.plan.workloads.iter().find(|of| of.name == result.workload)?;
        limit::ceiling(record, workload, &result.metric).map(|rate| digits(rate, DIGITS))
    };
    let detail = |result| Detail { ceiling: ceiling(result), lanes: Vec::new() };
    let mut details: Vec<Detail> = findings.results.iter().map(detail).collect();
    let mut by_workload: Vec<(&str, Vec<usize>)> = Vec::new();
    for (index, result) in findings.results.iter().enumerate() {
        match by_workload.iter_mut().find(|(workload, _)| *workload == result.workload) {
            Some((_, indices)) => indices.push(index),
            None => by_workload.push((&result.workload, vec![index])),
        }
    }
    for (workload, indices) in by_workload {
        let results: Vec<&ResultFinding> = indices.iter().map(|&index| &findings.results[index]).collect();
        let series = Series::new(record, workload);
        for lane in &findings.lanes {
            let of_lane = of_lane(&series, &results, &lane.name, most);
            for (&index, detail) in indices.iter().zip(of_lane) {
                details[index].lanes.push(detail);
            }
        }
    }
    details
}

/// One lane in the results of one workload: its trials are gone through once.
fn of_lane(series: &Series, results: &[&ResultFinding], name: &str, most: usize) -> Vec<LaneDetail> {
    let empty = || LaneDetail { lane: name.to_owned(), rounds: Vec::new(), rounds_in_all: 0, latency: Vec::new() };
    let Some(lane) = series.lanes.iter().find(|of| of.lane.name == name) else {
        return results.iter().map(|_| empty()).collect();
    };
    let places: HashMap<&str, usize> =
        results.iter().enumerate().map(|(place, result)| (result.group.as_str(), place)).collect();
    let mut groups: Vec<Vec<(u32, &Group)>> = vec![Vec::new(); results.len()];
    for trial in &lane.ok {
        for group in &trial.groups {
            if let Some(&place) = places.get(group.name.as_str()) {
                groups[place].push((trial.round, group));
            }
        }
    }
    let detail = |(result, groups): (&&ResultFinding, Vec<(u32, &Group)>)| {
        let figure = |&(round, of): &(u32, &Group)| Some((round, lane.figure(of, &result.metric)?));
        let figures: Vec<(u32, f64)> = groups.iter().filter_map(figure).filter(|(_, of)| of.is_finite()).collect();
        let (histogram, _) = latency::merge(groups.iter().filter_map(|(_, of)| of.histogram.as_deref()));
        LaneDetail {
            rounds: chosen(&figures, most),
            rounds_in_all: figures.len() as u32,
            latency: histogram.map_or_else(Vec::new, |all| curve(&all)),
            ..empty()
        }
    };
    results.iter().zip(groups).map(detail).collect()
}

/// At most so many rounds, evenly spread, with the smallest and the largest figure.
fn chosen(figures: &[(u32, f64)], most: usize) -> Vec<RoundFigure> {
    let mut kept = evenly(figures.len(), most);
    if kept.len() < figures.len() {
        kept = evenly(figures.len(), most.saturating_sub(2));
        let by_figure = |a: &usize, b: &usize| figures[*a].1.total_cmp(&figures[*b].1);
        kept.extend((0..figures.len()).min_by(by_figure));
        kept.extend((0..figures.len()).max_by(by_figure));
        kept.sort_unstable();
        kept.dedup();
    }
    let round = |index: usize| RoundFigure { round: figures[index].0, value: digits(figures[index].1, DIGITS) };
    kept.into_iter().map(round).collect()
}

/// Percentiles spread evenly on the logarithm of 1/(1-p), so that a tail has as many points as the body,
/// with those that have a name; up to where 20 operations are slower.
fn curve(histogram: &Histogram<u64>) -> Vec<PercentilePoint> {
    let most = histogram.len() as f64 / OPERATIONS_ABOVE;
    if most < 1.0 {
        return Vec::new();
    }
    let spread = (0..CURVE_POINTS).map(|at| 100.0 * (1.0 - most.powf(-(at as f64) / (CURVE_POINTS as f64 - 1.0))));
    let mut percentiles: Vec<f64> = spread.map(six_decimals).collect();
    percentiles.extend(NAMED);
    // As for every percentile that is shown: 1 - 0.99 is a little under 0.01 as a float.
    percentiles.retain(|percentile| latency::percentile(histogram, percentile / 100.0).is_some());
    percentiles.sort_by(f64::total_cmp);
    percentiles.dedup();
    let ns = |percentile: f64| histogram.value_at_quantile(percentile / 100.0) as f64;
    percentiles
        .into_iter()
        .map(|percentile| PercentilePoint { percentile, ns: digits(ns(percentile), LATENCY_DIGITS) })
        .collect()
}

/// Rounded down, so that no percentile passes the last that is shown.
fn six_decimals(percentile: f64) -> f64 {
    (percentile * 1e6).floor() / 1e6
}

/// An equal share of so many for so many, and not less than `least`.
fn share_of(all: usize, among: usize, least: usize) -> usize {
    (all / among.max(1)).max(least)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn histogram(values: impl Iterator<Item = u64>) -> Histogram<u64> {
        let mut histogram = Histogram::new(3).unwrap();
        values.for_each(|value| histogram.record(value).unwrap());
        histogram
    }

    #[test]
    fn a_curve_rises_to_where_twenty_operations_are_slower() {
        let curve = curve(&histogram(1..=100_000));
        assert!((CURVE_POINTS..CURVE_POINTS + NAMED.len()).contains(&curve.len()), "{}", curve.len());
        assert!(curve.windows(2).all(|pair| pair[0].percentile < pair[1].percentile && pair[0].ns <= pair[1].ns));
        let last = curve.last().unwrap().percentile;
        assert!((last - 99.98).abs() < 1e-5, "{last}");
        for (percentile, ns) in [(50.0, 50_000.0), (99.0, 99_000.0), (99.9, 99_900.0)] {
            let point = curve.iter().find(|point| point.percentile == percentile).unwrap();
            assert!((point.ns / ns - 1.0).abs() < 2e-3, "{point:?}");
        }
        assert!(curve.iter().all(|point| point.percentile != 99.99), "ten operations are slower: too few");
        // Half of the points lie above the 99th: the tail is what people look for.
        assert!(curve.iter().filter(|point| point.percentile > 99.0).count() > 20);
    }

    #[test]
    fn few_operations_have_a_short_curve_or_none() {
        assert_eq!(curve(&histogram(1..=19)), []);
        let short = curve(&histogram(1..=40));
        assert_eq!((short[0].percentile, short.last().unwrap().percentile), (0.0, 50.0));
    }

    #[test]
    fn of_many_rounds_the_smallest_and_the_largest_stay() {
        let figure = |round: u32| match round {
            777 => 0.5,
            3333 => 1e6,
            _ => 100.0 + f64::from(round % 7),
        };
        let all: Vec<(u32, f64)> = (1..=5000).map(|round| (round, figure(round))).collect();
        let kept = chosen(&all, 100);
        assert!(kept.len() <= 100 && kept.len() >= 98, "{}", kept.len());
        assert!(kept.windows(2).all(|pair| pair[0].round < pair[1].round));
        assert!(kept.iter().any(|of| (of.round, of.value) == (777, 0.5)));
        assert!(kept.iter().any(|of| (of.round, of.value) == (3333, 1e6)));
        assert_eq!((kept[0].round, kept.last().unwrap().round), (1, 5000));
        assert_eq!(chosen(&all[..50], 100).len(), 50);
    }
}
