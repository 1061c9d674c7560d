//! One row of a gate: a lane, workload and group of both sides, its interval and its verdict.

use super::failures::{self, Failures};
use super::interval::{self, Interval, Margin};
use super::planned::Planned;
use super::replicate::{Judged, Replicate};
use super::{Side, Terms};
use crate::compare;
use crate::estimate;
use crate::judge;
use crate::pair::finite;
use crate::statements;
use crate::student;
use crate::words;
use model::findings::Limit;
use model::gate::{GateFigure, GateRow, GateVerdict};

/// What the rows of a gate share.
pub struct Setting<'a> {
    /// Baseline and candidate.
    pub sides: [&'a Side<'a>; 2],
    /// What is asked.
    pub terms: &'a Terms,
    /// Two-sided p of one row.
    pub p: f64,
    /// Compared in pairs, in order of time.
    pub paired: bool,
}

impl Setting<'_> {
    /// Judges one comparison; `judged`: the workload's records of each side.
    pub fn row(&self, planned: &Planned, judged: [&Vec<Judged>; 2]) -> GateRow {
        let (lane, group) = (planned.lane, planned.group.as_str());
        let known = judged.iter().flat_map(|side| side.iter()).find_map(|of| of.result(group));
        let metric = known.map_or("operations_per_second", |of| of.metric.as_str());
        let higher_is_better = known.is_none_or(|of| of.higher_is_better);
        let replicates = judged.map(|side| {
            let raced = side.iter().filter(|of| of.has(lane));
            raced.map(|of| (of.named.name, of.replicate(lane, group, metric))).collect::<Vec<_>>()
        });
        let logs = [0, 1].map(|side: usize| logs(&replicates[side], higher_is_better));
        let margin = Margin::new(self.terms.fail_if_slower, higher_is_better);
        let interval = self.interval(&replicates, &logs, higher_is_better);
        let mut verdict = interval.as_ref().map_or(GateVerdict::Inconclusive, |of| margin.verdict(of));
        let mut why = Vec::new();
        if interval.is_none() {
            why.push(too_few(&logs));
        }
        let different = different_rates(&judged, group);
        let mut not_compared = different.is_some();
        if let Some(different) = different {
            verdict = GateVerdict::Inconclusive;
            why.push(different);
        }
        let failures = self.failures(&mut verdict, &mut why, &judged, &replicates);
        if interval.is_some() {
            not_compared |= limited(&mut verdict, &mut why, (&judged, group));
        }
        let decided = matches!(verdict, GateVerdict::Slower | GateVerdict::Failed);
        let failing = failures.more && !decided;
        not_compared &= !decided;
        let wide = |share: f64| failing || not_compared || interval.as_ref().is_none_or(|of| of.half > share.ln_1p());
        // Work that is gone is no green light, whether or not somebody asked for a resolution.
        let unresolved = !decided && (failures.lost || self.terms.need_resolution.is_some_and(wide));
        // No narrower interval lets a candidate pass that fails more often, or whose figures are no filesystem's.
        let narrower = interval.as_ref().filter(|_| !failing && !not_compared);
        let more_records = narrower.and_then(|of| self.more_records(of, &margin, verdict, unresolved));
        let fine = half_of(&margin);
        if interval.as_ref().is_some_and(|of| of.half <= fine && margin.verdict(of) == GateVerdict::Inconclusive) {
            why.push("it lies close to the edge of what is allowed".to_owned());
        }
        why.extend(scatter(&logs, self.p));
        let ratio = |log: f64| finite(log.exp());
        let first = judged[1].iter().find(|of| of.replicate(lane, group, metric).figure.is_some());
        let first = first.or_else(|| judged[1].iter().find(|of| of.has(lane)));
        GateRow {
            lane: lane.to_owned(),
            workload: planned.workload.name.clone(),
            title: planned.workload.title.clone(),
            group: group.to_owned(),
            metric: metric.to_owned(),
            unit: judge::unit_of(metric).to_owned(),
            higher_is_better,
            baseline: figure(&logs[0], higher_is_better),
            candidate: figure(&logs[1], higher_is_better),
            ratio: gain_of_means(interval.as_ref(), &logs).and_then(ratio),
            low: interval.as_ref().and_then(|of| ratio(of.gain - of.half)),
            high: interval.as_ref().and_then(|of| ratio(of.gain + of.half)),
            half_width: interval.as_ref().and_then(|of| finite(of.half.exp_m1())),
            verdict,
            why: (!why.is_empty()).then(|| why.join("; ")),
            failing,
            not_compared,
            unresolved,
            more_records,
            command_line: first.map_or_else(Vec::new, |of| of.named.record.header.plan.as_typed()),
        }
    }

    /// How many records more of each side would bring the interval to the resolution that was asked for, or decide.
    fn more_records(&self, of: &Interval, margin: &Margin, verdict: GateVerdict, unresolved: bool) -> Option<u32> {
        match self.terms.need_resolution {
            Some(share) if unresolved => of.more_for(share.ln_1p(), self.p),
            _ if verdict == GateVerdict::Inconclusive => {
                // A mean that happens to lie at the edge would ask for any number: while the interval is
                // wide that is chance, and half the margin is what to go for.
                let decided = of.more_for((of.gain - margin.slower).abs(), self.p);
                decided.or_else(|| of.more_for(half_of(margin), self.p))
            }
            _ => None,
        }
    }

    /// The interval by the gate's design; a pair counts where both of its records have a figure.
    fn interval(
        &self,
        replicates: &[Vec<(&str, Replicate)>; 2],
        logs: &[Vec<f64>; 2],
        higher_is_better: bool,
    ) -> Option<Interval> {
        if !self.paired {
            return interval::unpaired(&logs[0], &logs[1], self.p);
        }
        let of = |side: usize, name: &str| {
            let (_, replicate) = replicates[side].iter().find(|(of, _)| *of == name)?;
            gain(replicate, higher_is_better)
        };
        let pairs = self.sides[0].records.iter().zip(&self.sides[1].records);
        let differences: Vec<f64> =
            pairs.filter_map(|(before, after)| Some(of(1, after.name)? - of(0, before.name)?)).collect();
        interval::paired(&differences, self.p)
    }

    /// What work that failed makes of a verdict.
    fn failures(
        &self,
        verdict: &mut GateVerdict,
        why: &mut Vec<String>,
        judged: &[&Vec<Judged>; 2],
        replicates: &[Vec<(&str, Replicate)>; 2],
    ) -> Failing {
        let reached = judged.iter().flat_map(|side| side.iter()).map(Judged::rounds).filter(|&rounds| rounds > 0);
        let rounds = reached.min().unwrap_or(0);
        let failures = replicates.each_ref().map(|side| Failures::from_replicates(side, rounds));
        let [before, after] = &failures;
        for (side, of) in self.sides.iter().zip(&failures) {
            why.extend(of.said(side.called));
        }
        let more = failures::fails_more(before, after);
        let lost = failures::lost(before, after);
        // As an interval fails the gate on one of its sides only.
        let p = self.p / 2.0;
        if failures::fails(before, after, p) {
            *verdict = GateVerdict::Failed;
        } else if lost {
            let records = failures::telling_records(p).map_or("more".to_owned(), |records| records.to_string());
            why.push(format!("so few records may fail by chance: {records} of each side would tell"));
        } else if more && matches!(verdict, GateVerdict::Pass | GateVerdict::Faster) {
            *verdict = GateVerdict::Inconclusive;
            why.push("it fails more often than the baseline, so it cannot pass".to_owned());
        }
        Failing { more, lost }
    }
}

/// How a candidate fails beside its baseline.
struct Failing {
    /// More often: it cannot pass.
    more: bool,
    /// In all of its records, and the baseline in none.
    lost: bool,
}

/// What was measured instead of the filesystem, or beside it; whether nothing was compared by that.
fn limited(verdict: &mut GateVerdict, why: &mut Vec<String>, (judged, group): (&[&Vec<Judged>; 2], &str)) -> bool {
    // Of one side is enough: what stayed in memory there had to reach the disk on the other.
    if judged.iter().any(|side| mostly_missed_the_disk(side, group)) {
        if *verdict != GateVerdict::Failed {
            *verdict = GateVerdict::Inconclusive;
        }
        why.push(statements::pair::missed_the_disk().into());
        return true;
    }
    let limit = most_limited(judged, group);
    match limit {
        Some(Limit::Harness) => {
            // What Fairlane takes hides a change of the filesystem and never makes one.
            if matches!(verdict, GateVerdict::Pass | GateVerdict::Faster) {
                *verdict = GateVerdict::Inconclusive;
            }
            why.push("Fairlane itself was measured, not the filesystem".to_owned());
        }
        Some(Limit::Device | Limit::OwnDisk) => {
            why.push("every lane ran at what the bare disk can do: a slower filesystem could hide behind it".into());
        }
        Some(Limit::Cache) => why.push("the page cache answered, not the disk".to_owned()),
        _ => {}
    }
    limit == Some(Limit::Harness)
}

/// Half of what a candidate may lose, as a logarithm that is not below 0.
fn half_of(margin: &Margin) -> f64 {
    -margin.slower / 2.0
}

/// The logarithm of the candidate's figure by the baseline's: the interval's middle, and without one the difference of
/// the means.
fn gain_of_means(interval: Option<&Interval>, logs: &[Vec<f64>; 2]) -> Option<f64> {
    let means = logs.each_ref().map(|logs| estimate::moments(logs).map(|of| of.mean));
    match (interval, means) {
        (Some(of), _) => Some(of.gain),
        (None, [Some(before), Some(after)]) => Some(after - before),
        _ => None,
    }
}

/// Whether more than half of a side's records measured what never passed the disk.
fn mostly_missed_the_disk(side: &[Judged], group: &str) -> bool {
    let results: Vec<_> = side.iter().filter_map(|of| of.result(group)).collect();
    2 * results.iter().filter(|of| of.missed_the_disk).count() > results.len()
}

/// The logarithm of a replicate's figure, of times turned, so that more is better.
fn gain(replicate: &Replicate, higher_is_better: bool) -> Option<f64> {
    replicate.figure.map(|figure| if higher_is_better { figure.ln() } else { -figure.ln() })
}

fn logs(replicates: &[(&str, Replicate)], higher_is_better: bool) -> Vec<f64> {
    replicates.iter().filter_map(|(_, replicate)| gain(replicate, higher_is_better)).collect()
}

fn figure(logs: &[f64], higher_is_better: bool) -> GateFigure {
    let of = estimate::moments(logs);
    let turned = if higher_is_better { 1.0 } else { -1.0 };
    GateFigure {
        mean: of.and_then(|of| finite((turned * of.mean).exp())),
        deviation: of.filter(|of| of.count >= 2).and_then(|of| finite(of.deviation.exp_m1())),
        records: logs.len() as u32,
    }
}

/// Why there is no interval.
fn too_few(logs: &[Vec<f64>; 2]) -> String {
    match [logs[0].len(), logs[1].len()] {
        [1, 1] => "one record on each side shows no spread between boots".to_owned(),
        [before, after] => format!(
            "{} of the baseline and {} of the candidate have a figure, and two of each are the least",
            words::count(before, "record"),
            words::count(after, "record")
        ),
    }
}

/// Latencies at different rates are latencies of different work: shared rates whose geometric means are
/// more than 2 % apart.
fn different_rates(judged: &[&Vec<Judged>; 2], group: &str) -> Option<String> {
    let mean = |side: &Vec<Judged>| {
        let rates = side.iter().filter_map(|of| of.result(group)?.shared_rate.as_ref());
        estimate::level(&rates.map(|rate| rate.operations_per_second).collect::<Vec<_>>()).map(|level| level.mean)
    };
    let different = compare::different_rates(mean(judged[0])?, mean(judged[1])?)?;
    Some(format!("{different}, and latencies at two rates are not compared"))
}

/// The limit of most records.
fn most_limited(judged: &[&Vec<Judged>; 2], group: &str) -> Option<Limit> {
    let limits: Vec<Limit> = judged.iter().flat_map(|side| side.iter()).filter_map(|of| of.limit(group)).collect();
    let common = |limit: &Limit| 2 * limits.iter().filter(|of| *of == limit).count() > limits.len();
    limits.iter().find(|limit| common(limit)).copied()
}

/// One side's boots scatter more than the other's: beyond what chance does in 5 % of gates (F test on
/// logarithms, two-sided).
fn scatter(logs: &[Vec<f64>; 2], p: f64) -> Option<String> {
    let [before, after] = [0, 1].map(|side: usize| estimate::moments(&logs[side]).filter(|of| of.count >= 3));
    let (before, after) = (before?, after?);
    if before.deviation <= 0.0 || after.deviation <= 0.0 {
        return None;
    }
    let (more, less, side) =
        if after.deviation > before.deviation { (after, before, "candidate") } else { (before, after, "baseline") };
    let (d1, d2) = ((more.count - 1) as f64, (less.count - 1) as f64);
    let f = (more.deviation / less.deviation).powi(2);
    // P(F > f) = I with x = d2/(d2 + d1 f) of (d2/2, d1/2).
    let tail = student::incomplete_beta(d2 / 2.0, d1 / 2.0, d2 / (d2 + d1 * f));
    (2.0 * tail < p).then(|| {
        format!("the {side} varies {:.1} times as much from record to record", more.deviation / less.deviation)
    })
}
