//! What time is left: whether the next round still fits, from the forecast until one was raced, and what
//! did not fit.

use super::{REPEATS_SHARE, Race, probe};
use crate::failure::Failure;
use model::plan::{LOOKS, Rounds};
use model::record::{Line, Unreached};

/// Rounds of each workload that a screening races whatever its budget: effects need two (method 9.3).
pub const OWED_ROUNDS: u32 = 2;

/// A forecast may be three times wrong, and a machine busy beside that: what rounds took says no more of others. Chosen.
const SLOWEST: f64 = 4.0;

/// Rounds that may be run again of so many, because something disturbed a lane of them (method 3.1).
pub fn repeats(rounds: u32) -> u32 {
    (f64::from(rounds) * REPEATS_SHARE).max(1.0) as u32
}

/// The same of rounds that are planned: while a race is under way no fewer count than those of a first look.
pub fn planned_repeats(rounds: u32) -> u32 {
    repeats(rounds.max(LOOKS[0]))
}

/// What a workload is expected to take before anybody has seen it take anything, in seconds.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Expected {
    /// Once: the maxima that a shared rate comes of, what programs work on.
    pub once: f64,
    /// The checking pass of the first round.
    pub checked: f64,
    /// A round of all lanes.
    pub round: f64,
    /// The bare disk's ceiling, in the rounds in which it is measured.
    pub probe: f64,
}

impl Expected {
    /// So many rounds from the first on, ceilings included.
    pub fn of_rounds(&self, rounds: u32) -> f64 {
        let probes = (1..=rounds.min(5)).filter(|round| probe::due(*round)).count();
        self.once + self.checked + self.round * f64::from(rounds) + self.probe * probes as f64
    }

    /// The same with those that may be run again. A round is, where any of its lanes was disturbed: with the many lanes of a
    /// screening that is the usual case, and its rounds are planned beforehand. The first one is checked again then, because no
    /// trial of it counts.
    pub fn of_planned_rounds(&self, rounds: u32) -> f64 {
        self.of_rounds(rounds) + self.checked + self.round * f64::from(planned_repeats(rounds))
    }
}

impl Race<'_> {
    /// Whether the next round of a workload probably ends before a moment. A race that has measured
    /// nothing yet is of no use: the first workload's first round is raced whatever the budget, and of a screening the
    /// first rounds of all work.
    pub(super) fn fits(&self, index: usize, deadline: Option<f64>) -> bool {
        let Some(deadline) = deadline else { return true };
        let nothing_yet = index == 0 && self.rounds_raced(0) == 0;
        let is_owed = self.plan().screening.is_some() && self.rounds_raced(index) < OWED_ROUNDS;
        nothing_yet || is_owed || self.elapsed_seconds() + self.next_round_seconds(index) <= deadline
    }

    /// Whether the ceilings of a workload are worth their time now: only beside the first workload's
    /// first round, and where its own first round fits as well.
    pub(super) fn ceilings_fit(&self, index: usize) -> bool {
        let Some(budget) = self.budget().filter(|_| index > 0) else { return true };
        self.elapsed_seconds() + self.next_round_seconds(0) + self.next_round_seconds(index) <= budget
    }

    /// Seconds that the next round of a workload probably takes, with what is done once before it and
    /// with its ceilings.
    fn next_round_seconds(&self, index: usize) -> f64 {
        let round = self.rounds_raced(index) + 1;
        let Expected { once, checked, probe, .. } = self.expected[index];
        let probed = round == 1 && self.is_probed(index);
        let probe = if probe::due(round) && !probed { probe } else { 0.0 };
        let once = if self.round_seconds[index] > 0.0 { 0.0 } else { once + checked };
        once + self.usual_seconds(index) + probe
    }

    /// Seconds of a round: as the last one took, or as it is expected to take.
    fn usual_seconds(&self, index: usize) -> f64 {
        match self.round_seconds[index] {
            raced if raced > 0.0 => raced,
            _ => self.expected[index].round * self.pace(),
        }
    }

    /// So many times what was expected the rounds of a screening took, over all of its work that was raced: what is still to
    /// come is expected to as well. 1 before the first round, and of any other race, which learns of each work by itself.
    fn pace(&self) -> f64 {
        if self.plan().screening.is_none() {
            return 1.0;
        }
        let both = self.round_seconds.iter().zip(&self.expected).filter(|(took, _)| **took > 0.0);
        let (took, expected) = both.fold((0.0, 0.0), |(took, expected), (one, of)| (took + one, expected + of.round));
        if expected > 0.0 { (took / expected).clamp(SLOWEST.recip(), SLOWEST) } else { 1.0 }
    }

    /// Until when slices of the round that begins may be made once more because a lane has not settled, in seconds of the race;
    /// `None`: there is no end. Of many lanes one mostly has not: the planned rounds of a screening come before that, and it has
    /// the time that they leave of the budget, or of what they were expected to take where there is none.
    pub(super) fn longer_until(&self, index: usize) -> Option<f64> {
        let deadline = self.deadline(index);
        let (Some(_), Rounds::Fixed(rounds)) = (&self.plan().screening, self.plan().rounds) else { return deadline };
        let planned = || self.expected.iter().map(|of| of.of_planned_rounds(rounds)).sum::<f64>();
        let to_come: f64 =
            (0..self.expected.len()).map(|of| self.seconds_to(of, rounds) + self.probes_to(of, rounds)).sum();
        let behind = (to_come - self.next_round_seconds(index)).max(0.0);
        Some(deadline.unwrap_or_else(planned) - behind)
    }

    /// The budget without the passes behind the rounds that are not done and have room in what is left of it. `unraced`: those
    /// too of workloads that no round was raced of yet. A number of rounds is a promise, from which no pass takes time.
    pub(super) fn rounds_budget(&self, unraced: bool) -> Option<f64> {
        let budget = self.budget()?;
        if matches!(self.plan().rounds, Rounds::Fixed(_)) {
            return Some(budget);
        }
        let mut left = budget - self.elapsed_seconds();
        let mut kept = 0.0;
        for index in (0..self.plan().workloads.len()).filter(|&index| unraced || self.rounds_done(index) > 0) {
            let seconds = self.pass_seconds(index);
            if seconds <= left {
                left -= seconds;
                kept += seconds;
            }
        }
        Some(budget - kept)
    }

    /// When rounds of a workload end at the latest: the first judgement matters more than passes.
    pub(super) fn deadline(&self, index: usize) -> Option<f64> {
        if self.rounds_done(index) < LOOKS[0] { self.budget() } else { self.rounds_budget(false) }
    }

    /// Whether a look is worth more than the other workloads' shares: some workloads decided are worth more than none, on a
    /// disk too slow for all of them. A screening has no looks.
    pub(super) fn is_first_look(&self, look: u32) -> bool {
        look <= LOOKS[0] && self.plan().screening.is_none()
    }

    /// When the rounds of a workload that begins now end at the latest, but for its first look: every workload may use an equal
    /// share of what is left, so that an early one that is hard to decide does not starve the others. The workloads of a
    /// screening share what is left as they are expected to need it, so that all of them get about as many rounds.
    pub(super) fn share(&self, index: usize) -> Option<f64> {
        let budget = self.rounds_budget(true)?;
        let count = self.plan().workloads.len();
        let elapsed = self.elapsed_seconds();
        let left = (budget - elapsed).max(0.0);
        if let (Some(_), Rounds::Fixed(rounds)) = (&self.plan().screening, self.plan().rounds) {
            let own = self.seconds_to(index, rounds);
            let all: f64 = (index..count).map(|of| self.seconds_to(of, rounds)).sum();
            return Some(elapsed + if all > 0.0 { left * own / all } else { left });
        }
        let equal = elapsed + left / (count - index) as f64;
        // Nor may it take what the first looks of the others need.
        Some(equal.min(budget - (index + 1..count).map(|later| self.seconds_to(later, LOOKS[0])).sum::<f64>()))
    }

    /// Seconds of the pass of a workload that is still to be done: a round of all lanes, of those too that were decided early.
    pub(super) fn pass_seconds(&self, index: usize) -> f64 {
        let round = match self.full_round_seconds[index] {
            _ if !self.can_profile || !self.is_to_be_explained(index) => return 0.0,
            raced if raced > 0.0 => raced,
            _ => self.expected[index].round,
        };
        // Events are opened, read and put together. Of suite quick here: 0.3 s each, and 1.5 s with six groups in three lanes.
        1.2 * round + 0.4
    }

    /// Seconds to a look from here.
    pub(super) fn seconds_to(&self, index: usize, look: u32) -> f64 {
        let more = look.saturating_sub(self.rounds_done(index));
        match more {
            0 => 0.0,
            _ => self.next_round_seconds(index) + f64::from(more - 1) * self.usual_seconds(index),
        }
    }

    /// Seconds of the ceilings that are measured behind the next round, up to a round.
    fn probes_to(&self, index: usize, last: u32) -> f64 {
        let due =
            (self.rounds_raced(index) + 2..=last).take_while(|round| *round <= 5).filter(|round| probe::due(*round));
        self.expected[index].probe * due.count() as f64
    }

    /// Whether a ceiling of a workload was measured.
    pub(super) fn is_probed(&self, index: usize) -> bool {
        let name = &self.plan().workloads[index].name;
        self.record.probes.iter().any(|probe| probe.workload == *name)
    }

    /// Records the workloads that the budget had no room for, and how long a race is that has.
    pub(super) fn name_what_did_not_fit(&mut self) -> Result<(), Failure> {
        if self.budget().is_none() {
            return Ok(());
        }
        let unraced: Vec<usize> =
            (0..self.plan().workloads.len()).filter(|&index| self.trials_of(index).next().is_none()).collect();
        let rounds = match self.plan().rounds {
            // A calibration races as long as it may.
            Rounds::Fixed(rounds) if !self.plan().calibration => rounds,
            Rounds::Fixed(_) | Rounds::Auto => LOOKS[0],
        };
        let elapsed = self.elapsed_seconds();
        let whole = elapsed + unraced.iter().map(|&index| self.expected[index].of_rounds(rounds)).sum::<f64>();
        let unreached = |&index: &usize| {
            Line::Unreached(Unreached {
                workload: self.plan().workloads[index].name.clone(),
                round_seconds: self.next_round_seconds(index),
                whole_seconds: whole,
            })
        };
        let notes: Vec<Line> = unraced.iter().map(unreached).collect();
        if notes.is_empty() { Ok(()) } else { self.append_all(notes) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ceilings_are_expected_in_three_of_the_rounds() {
        let expected = Expected { once: 60.0, checked: 40.0, round: 10.0, probe: 1.0 };
        assert_eq!([1, 2, 3, 5, 20].map(|rounds| expected.of_rounds(rounds)), [111.0, 121.0, 132.0, 153.0, 303.0]);
    }

    #[test]
    fn planned_rounds_have_room_for_those_that_are_run_again() {
        assert_eq!([1, 3, 9, 10, 14, 15].map(repeats), [1, 1, 1, 2, 2, 3]);
        let expected = Expected { once: 100.0, checked: 7.0, round: 10.0, probe: 1.0 };
        for (rounds, again) in [(3, 1.0), (9, 1.0), (12, 2.0)] {
            let apart = expected.of_planned_rounds(rounds) - expected.of_rounds(rounds);
            // The first round is checked once more.
            assert!((apart - 10.0 * again - 7.0).abs() < 1e-9, "{rounds}: {apart}");
        }
    }
}
