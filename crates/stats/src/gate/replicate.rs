//! What one record says about one lane, workload and group: one replicate.

use super::Named;
use crate::failed;
use crate::judge;
use crate::pair;
use crate::series::{LaneSeries, Series};
use crate::stalls::Means;
use crate::statements as statement;
use crate::words;
use model::findings::{Limit, ResultFinding};

/// One record's figure of a lane and group, and how its rounds came out.
#[derive(Debug, Clone, PartialEq)]
pub struct Replicate {
    /// The geometric mean over its rounds; `None`: there is none that counts.
    pub figure: Option<f64>,
    /// How the rounds came out.
    pub came: Came,
    /// The last reason why rounds did not come out.
    pub why: Option<String>,
}

/// How the rounds of a record came out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Came {
    /// All did the work.
    Through,
    /// Some failed, or nothing was done in them.
    InPart {
        /// Which, ascending.
        failed: Vec<u32>,
        /// Rounds that were tried.
        of: usize,
    },
    /// None did the work.
    Failed,
    /// In more than half of the trials that did it the rate could not be sustained.
    Behind,
    /// There is no figure, which says nothing of the filesystem: the metric is missing, or a rate could
    /// not be sustained that every race measures for itself.
    NoFigure,
    /// The race did not come to it, or no trial counts, because the throttle did not hold.
    NotReached,
}

impl Replicate {
    fn without(came: Came, why: impl Into<String>) -> Replicate {
        Replicate { figure: None, came, why: Some(why.into()) }
    }
}

/// One workload of one record, judged.
pub struct Judged<'a> {
    /// The record.
    pub named: &'a Named<'a>,
    results: Vec<ResultFinding>,
    series: Series<'a>,
}

/// Lets means decide in all records where they do in one.
pub fn by_the_same_figures<'b, 'a: 'b>(judged: impl Iterator<Item = &'b mut Judged<'a>>) {
    let mut all: Vec<&mut Judged> = judged.collect();
    let means: Vec<Means> = all.iter().map(|of| of.series.means.clone()).collect();
    all.iter_mut().for_each(|of| of.series.decide_as(&means));
}

impl<'a> Judged<'a> {
    /// Judges a workload of a record; `None` where the record did not plan it.
    pub fn new(named: &'a Named<'a>, workload: &str) -> Option<Self> {
        let planned = named.record.header.plan.workloads.iter().any(|of| of.name == workload);
        planned.then(|| Judged {
            named,
            results: judge::judge_workload(named.record, workload),
            series: Series::new(named.record, workload),
        })
    }

    /// The result of a group; `None` where no trial was run.
    pub fn result(&self, group: &str) -> Option<&ResultFinding> {
        self.results.iter().find(|result| result.group == group)
    }

    /// Whether the record raced this lane.
    pub fn has(&self, lane: &str) -> bool {
        self.lane(lane).is_some()
    }

    fn lane(&self, name: &str) -> Option<&LaneSeries<'a>> {
        self.series.lanes.iter().find(|of| of.lane.name == name)
    }

    /// The last round of the workload in which any lane raced; 0 where the race did not come to it. A
    /// lane that failed twice is left out of later rounds, which are counted all the same.
    pub fn rounds(&self) -> u32 {
        let all = self.series.lanes.iter().flat_map(|lane| lane.ok.iter().chain(&lane.failed).chain(&lane.void));
        all.map(|trial| trial.round).max().unwrap_or(0)
    }

    /// The replicate of a lane and group.
    pub fn replicate(&self, lane: &str, group: &str, metric: &str) -> Replicate {
        let not_reached = |why| Replicate { figure: None, came: Came::NotReached, why };
        let Some(of) = self.lane(lane) else { return not_reached(None) };
        let failed = failed::trials(of, group);
        let done = of.group(group).count();
        let why = failed.last().map(|trial| failed::reason(trial).into());
        if done == 0 && !failed.is_empty() {
            return Replicate { figure: None, came: Came::Failed, why };
        }
        if of.ok.is_empty() {
            return not_reached(of.void.last().map(|trial| failed::reason(trial).into()));
        }
        let Some(result) = self.result(group) else { return not_reached(None) };
        // All lanes may have stood still at once, and here that is no excuse: a kernel can do it to all.
        let still = of.stood_still(group, metric);
        if !still.is_empty() && still.len() == done {
            return Replicate::without(
                Came::Failed,
                why.unwrap_or_else(|| statement::race::stood_still_always().into()),
            );
        }
        if pair::mostly_behind(of, u32::MAX) {
            // A rate that each race measures for itself says nothing of another race's.
            let came = if result.shared_rate.is_none() { Came::Behind } else { Came::NoFigure };
            return Replicate::without(came, "it cannot sustain the rate");
        }
        // As in the record's own report, but by means where they decide in any of the records.
        let stalled = self.series.stalled(group, metric);
        let level = of.level(group, metric, &stalled);
        let mean = level.filter(|of| of.count > 0 && of.mean > 0.0 && of.mean.is_finite()).map(|of| of.mean);
        let Some(mean) = mean.filter(|_| result.metric == metric) else {
            return Replicate::without(Came::NoFigure, format!("its trials hold no {}", metric.replace('_', " ")));
        };
        let why = why.or_else(|| (!still.is_empty()).then(|| "it stood still".to_owned()));
        let all = failed.len() + done;
        let mut rounds: Vec<u32> = failed.iter().map(|trial| trial.round).chain(still).collect();
        rounds.sort_unstable();
        let came = if rounds.is_empty() { Came::Through } else { Came::InPart { failed: rounds, of: all } };
        Replicate { figure: Some(mean), came, why }
    }

    /// What limited a group.
    pub fn limit(&self, group: &str) -> Option<Limit> {
        self.result(group).map(|result| result.limit)
    }

    /// Rounds in which a lane failed although it did others.
    pub fn failed_rounds(&self, lane: &str) -> Option<String> {
        let of = self.lane(lane)?;
        let (last, false) = (of.failed.last()?, of.ok.is_empty()) else { return None };
        let all = of.failed.len() + of.ok.len();
        let reason = failed::reason(last);
        Some(format!(
            "{}: {lane} failed at {} in {} of {}: {reason}",
            self.named.name,
            last.workload,
            of.failed.len(),
            words::count(all, "round")
        ))
    }
}
