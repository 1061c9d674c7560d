//! What is told of the clocks of a job's machines (method 10.4).

use crate::statements::race as statement;
use model::Sentence;
use model::ranks::RankFigures;
use model::record::Record;
use model::sentence::{Value, Weight};
use model::trial::Outcome;

/// How far they were apart and drifted, and how far apart machines were let go into windows; nothing where there is one machine.
pub(crate) fn remarks(record: &Record) -> Vec<Sentence> {
    let Some(job) = record.header.plan.ranks.as_ref().filter(|job| job.nodes > 1) else { return Vec::new() };
    let told = [apart(record, job.nodes), let_go(record)];
    told.into_iter().flatten().map(|said| said.weigh(Weight::Detail)).collect()
}

fn apart(record: &Record, nodes: u32) -> Option<Sentence> {
    let clocks = record.clocks.as_deref().filter(|clocks| !clocks.nodes.is_empty())?;
    let apart = bound(clocks.nodes.iter().map(|of| (of.ahead_seconds, of.ahead_uncertainty_seconds)));
    let drift = bound(clocks.nodes.iter().map(|of| (of.drift_seconds, of.drift_uncertainty_seconds)));
    // With rank 0's.
    let compared = clocks.nodes.len() + 1;
    let seconds = [apart, drift, clocks.seconds].map(Value::Seconds);
    let [apart, drift, time] = seconds;
    Some(statement::clocks_apart(compared, nodes, apart, drift, time))
}

fn let_go(record: &Record) -> Option<Sentence> {
    let trials = record.trials.iter().filter(|trial| trial.outcome == Outcome::Ok);
    let figures = trials.flat_map(|trial| &trial.groups).filter_map(|group| group.ranks.as_deref());
    let most = |of: &RankFigures| of.release_spread_seconds + of.release_uncertainty_seconds;
    let most: Vec<f64> = figures.map(most).filter(|most| *most > 0.0).collect();
    let largest = most.iter().copied().reduce(f64::max)?;
    Some(statement::nodes_let_go(Value::Seconds(largest), most.len()))
}

/// The most that clocks may lie apart, rank 0's among them: `each`: by how much one is ahead of that, and how far it may be wrong.
fn bound(each: impl Iterator<Item = (f64, f64)>) -> f64 {
    let further = |(low, high): (f64, f64), (ahead, doubt): (f64, f64)| {
        (low.min(ahead - doubt.abs()), high.max(ahead + doubt.abs()))
    };
    let (low, high) = each.fold((0.0, 0.0), further);
    high - low
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_known_of_a_clock_counts_as_apart() {
        assert!((bound([(2e-3, 1e-4), (-1e-3, 5e-5)].into_iter()) - 3.15e-3).abs() < 1e-12);
        assert!((bound([(1e-6, 4e-5)].into_iter()) - 8e-5).abs() < 1e-12, "either may be ahead");
        assert_eq!(bound(std::iter::empty()), 0.0);
    }
}
