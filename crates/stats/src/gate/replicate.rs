//! What one record says about one lane, workload and group: one replicate.

use super::Named;
use crate::judge;
use crate::pair;
use crate::series::Series;
use crate::words;
use model::findings::{Limit, ResultFinding};
use model::trial::Trial;

/// One record's figure of a lane and group.
#[derive(Debug, Clone, PartialEq)]
pub enum Replicate {
    /// The geometric mean over its rounds.
    Figure(f64),
    /// The lane tried and has no figure that counts; why. `decisive`: that alone says that it cannot do
    /// the work.
    Failed {
        /// One sentence.
        why: String,
        /// Whether failing in every record fails the gate.
        decisive: bool,
    },
    /// The race did not come to it.
    Missing,
}

/// One workload of one record, judged.
pub struct Judged<'a> {
    /// The record.
    pub named: &'a Named<'a>,
    results: Vec<ResultFinding>,
    series: Series<'a>,
}

impl<'a> Judged<'a> {
    /// Judges a workload of a record; `None` where the record did not plan it.
    pub fn of(named: &'a Named<'a>, workload: &str) -> Option<Self> {
        let planned = named.record.header.plan.workloads.iter().any(|of| of.name == workload);
        planned.then(|| Judged {
            named,
            results: judge::judge_workload(named.record, workload),
            series: Series::of(named.record, workload),
        })
    }

    /// The result of a group; `None` where no trial was run.
    pub fn result(&self, group: &str) -> Option<&ResultFinding> {
        self.results.iter().find(|result| result.group == group)
    }

    /// Whether the record raced this lane.
    pub fn has(&self, lane: &str) -> bool {
        self.series.lanes.iter().any(|of| of.lane.name == lane)
    }

    /// The replicate of a lane and group.
    pub fn replicate(&self, lane: &str, group: &str, metric: &str) -> Replicate {
        let Some(of) = self.series.lanes.iter().find(|of| of.lane.name == lane) else { return Replicate::Missing };
        if of.ok.is_empty() {
            let reason = |trial: &&Trial| trial.reason.clone().unwrap_or_else(|| "it failed without a reason".into());
            return of
                .failed
                .last()
                .map_or(Replicate::Missing, |trial| Replicate::Failed { why: reason(trial), decisive: true });
        }
        let Some(result) = self.result(group) else { return Replicate::Missing };
        if pair::flagged(of, pair::CANNOT_SUSTAIN) > 0 {
            // A rate that each race measures for itself says nothing of another race's.
            let decisive = result.shared_rate.is_none();
            return Replicate::Failed { why: "it cannot sustain the rate".to_owned(), decisive };
        }
        let estimate = result.estimates.iter().find(|estimate| estimate.lane == lane);
        let mean = estimate.filter(|of| of.rounds > 0 && of.mean > 0.0 && of.mean.is_finite()).map(|of| of.mean);
        match mean {
            Some(mean) if result.metric == metric => Replicate::Figure(mean),
            _ => Replicate::Failed { why: format!("its trials hold no {}", metric.replace('_', " ")), decisive: false },
        }
    }

    /// What limited a group.
    pub fn limit(&self, group: &str) -> Option<Limit> {
        self.result(group).map(|result| result.limit)
    }

    /// Rounds in which a lane failed although it did others.
    pub fn failed_rounds(&self, lane: &str) -> Option<String> {
        let of = self.series.lanes.iter().find(|of| of.lane.name == lane)?;
        let (last, false) = (of.failed.last()?, of.ok.is_empty()) else { return None };
        let all = of.failed.len() + of.ok.len();
        let reason = last.reason.as_deref().unwrap_or("no reason given");
        Some(format!(
            "{}: {lane} failed at {} in {} of {}: {reason}",
            self.named.name,
            last.workload,
            of.failed.len(),
            words::count(all, "round")
        ))
    }
}
