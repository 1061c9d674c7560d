//! The counting of rounds: those that a look counts, those that were raced, those that are run again, and
//! the lanes that still race.

use super::time::repeats;
use super::{FAILURES_ALLOWED, ROUNDS_FOR_A_LOOK, Race};
use model::plan::{LOOKS, Rounds};
use model::trial::Outcome;
use std::collections::BTreeSet;

impl Race<'_> {
    /// At most a fifth of a workload's rounds are run again, and only while there is time.
    pub(super) fn may_repeat(&self, index: usize) -> bool {
        let repeated: BTreeSet<(u32, u32)> = self
            .trials_of(index)
            .filter(|trial| matches!(trial.outcome, Outcome::Repeated | Outcome::Void))
            .map(|trial| (trial.round, trial.attempt))
            .collect();
        let planned = match self.plan().rounds {
            // A budget may end it long before.
            Rounds::Fixed(rounds) if self.budget().is_none() => rounds,
            Rounds::Fixed(_) | Rounds::Auto => self.rounds_raced(index).max(LOOKS[0]),
        };
        let ends = self.elapsed_seconds() + self.round_seconds[index];
        let in_time = self.deadline(index).is_none_or(|deadline| ends < deadline);
        in_time && repeated.len() < repeats(planned) as usize
    }

    /// Rounds that a look counts: those that hold a comparison. Where one lane alone races, its own.
    pub(super) fn rounds_done(&self, index: usize) -> u32 {
        let raced = self.rounds_raced(index);
        match self.lanes_in(index).len() {
            0 | 1 => raced,
            _ => raced.min(stats::judge::rounds_compared(&self.record, &self.plan().workloads[index].name)),
        }
    }

    /// Whether making up for lost rounds is of no use: nothing was ever compared, or half of them were lost.
    pub(super) fn has_lost_too_many_rounds(&self, index: usize, look: u32) -> bool {
        let (raced, done) = (self.rounds_raced(index), self.rounds_done(index));
        raced >= look && (done == 0 || raced >= look.saturating_mul(ROUNDS_FOR_A_LOOK))
    }

    /// Rounds that are complete: every lane that is still racing has a trial that stands, good or not.
    pub(super) fn rounds_raced(&self, index: usize) -> u32 {
        let standing: BTreeSet<(u32, &str)> = self
            .trials_of(index)
            .filter(|trial| trial.outcome != Outcome::Repeated)
            .map(|trial| (trial.round, trial.lane.as_str()))
            .collect();
        let racing = self.lanes_in(index);
        let complete = |round: u32| {
            !racing.is_empty()
                && racing.iter().all(|&lane| standing.contains(&(round, self.runner.names[lane].as_str())))
        };
        (1..).take_while(|&round| complete(round)).count() as u32
    }

    pub(super) fn attempts(&self, index: usize, round: u32) -> u32 {
        self.trials_of(index).filter(|trial| trial.round == round).map(|trial| trial.attempt).max().unwrap_or(0)
    }

    /// The lanes that still race a workload: those that are not decided, did not fail in it too often, and
    /// whose throttle held at least once where it was broken as often.
    pub(super) fn lanes_in(&self, index: usize) -> Vec<usize> {
        let count = |lane: usize, outcome: Outcome| {
            let name = &self.runner.names[lane];
            self.trials_of(index).filter(|trial| trial.outcome == outcome && trial.lane == *name).count()
        };
        let races = |&lane: &usize| {
            !self.decided[index].contains(&lane)
                && count(lane, Outcome::Failed) < FAILURES_ALLOWED
                && (count(lane, Outcome::Void) < FAILURES_ALLOWED || count(lane, Outcome::Ok) > 0)
        };
        (0..self.runner.names.len()).filter(races).collect()
    }
}
