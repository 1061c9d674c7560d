//! What a race's rounds show of their correlation, by the time of a look.
//!
//! A look sees what was recorded before its last trial and nothing later, so that a verdict that was
//! printed while the race went on stands when the record is read again.

use crate::correlation::{self, Logs, ObservedCorrelation};
use crate::estimate;
use crate::judge;
use crate::sequential::Standing;
use crate::series::Series;
use model::record::Record;
use std::collections::BTreeSet;

/// What one workload's look may know.
pub struct Evidence {
    /// The workload's groups and their figures.
    own: Vec<(String, Logs)>,
    /// What each other workload shows.
    others: Vec<ObservedCorrelation>,
}

impl Evidence {
    /// For a workload that stands so. `groups` are its groups' names.
    pub fn new(record: &Record, workload: &str, groups: &[String], series: &Series, standing: Standing) -> Evidence {
        let rounds = match standing {
            Standing::AtLook { rounds, .. } => rounds as usize,
            Standing::Before { .. } => series.done.len(),
        };
        let done = &series.done[..rounds.min(series.done.len())];
        let seen = record.trials.iter().rposition(|trial| trial.workload == workload && done.contains(&trial.round));
        let seen = seen.map_or(0, |last| last + 1);
        let mut others = Vec::new();
        for other in record.header.plan.workloads.iter().filter(|of| of.name != workload) {
            let series = Series::among(record, &record.trials[..seen], &other.name);
            let all: Vec<Logs> = other.groups().iter().filter_map(|group| logs(&series, group, &series.done)).collect();
            others.extend(ObservedCorrelation::new(&all));
        }
        let own = groups.iter().filter_map(|group| Some((group.clone(), logs(series, group, done)?))).collect();
        Evidence { own, others }
    }

    /// The correlation that a group's intervals are made for.
    pub fn correlation(&self, group: &str) -> f64 {
        let (own, beside): (Vec<_>, Vec<_>) = self.own.iter().partition(|(name, _)| name == group);
        let of = |all: Vec<&'_ (String, Logs)>| ObservedCorrelation::new(all.into_iter().map(|(_, logs)| logs));
        let others: Vec<ObservedCorrelation> = self.others.iter().copied().chain(of(beside)).collect();
        correlation::assumed(of(own), &others)
    }
}

/// One group's figures in these rounds, of every lane that has one in each; `None` for fewer than two
/// lanes.
fn logs(series: &Series, group: &str, rounds: &[u32]) -> Option<Logs> {
    let rounds: BTreeSet<u32> = rounds.iter().copied().collect();
    let metric = judge::primary_metric(series, group);
    let of = |figures: Vec<(u32, f64)>| -> Vec<f64> {
        let counts = |&(round, figure): &(u32, f64)| rounds.contains(&round) && estimate::usable(figure);
        figures.into_iter().filter(counts).map(|(_, figure)| figure.ln()).collect()
    };
    let lanes = series.lanes.iter().map(|lane| of(lane.figures(group, &metric)));
    // A lane that was decided races no further: those that raced all these rounds tell.
    let lanes: Logs = lanes.filter(|figures| figures.len() == rounds.len()).collect();
    (lanes.len() >= 2).then_some(lanes)
}
