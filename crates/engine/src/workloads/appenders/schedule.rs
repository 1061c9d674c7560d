//! When each writer's turn comes: known in advance, absolute, so that nothing adds up and no stall hides
//! what was due meanwhile (coordinated omission).

use super::record::next_word;
use crate::clock::nanoseconds;
use model::appenders::Appenders;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The golden ratio's fraction, in units of 2^-64: multiples of it lie evenly in a circle, however many there
/// are and whichever of them a thread takes (Knuth, TAOCP 3, 6.4).
const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

/// The turns of writers, or of readers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Schedule {
    period_ns: u64,
    /// Width of the jitter around a turn.
    jitter_ns: u64,
    seed: u64,
}

impl Schedule {
    /// Of the writers.
    pub(super) fn of_writers(appenders: &Appenders, seed: u64) -> Self {
        Self::new(appenders.period_seconds, appenders.jitter, seed)
    }

    /// Of the readers.
    pub(super) fn of_readers(appenders: &Appenders, seed: u64) -> Self {
        Self::new(appenders.read_period(), appenders.jitter, seed ^ 0x7ead)
    }

    fn new(period_seconds: f64, jitter: f64, seed: u64) -> Self {
        let period_ns = nanoseconds(period_seconds).max(1);
        Schedule { period_ns, jitter_ns: (period_ns as f64 * jitter) as u64, seed }
    }

    /// Nanoseconds from one turn to the next.
    pub(super) fn period_ns(&self) -> u64 {
        self.period_ns
    }

    /// When a turn of a member is due, in nanoseconds after the beginning. Turns of one member follow each other
    /// in time.
    #[inline]
    pub(super) fn due(&self, member: u32, turn: u32) -> u64 {
        let place = self.seed.wrapping_add(u64::from(member).wrapping_mul(GOLDEN));
        let phase = ((u128::from(place) * u128::from(self.period_ns)) >> 64) as u64;
        let jitter = match self.jitter_ns {
            0 => 0,
            width => {
                let mut state = self.seed ^ (u64::from(member) << 32 | u64::from(turn));
                ((u128::from(next_word(&mut state)) * u128::from(width)) >> 64) as u64
            }
        };
        phase + u64::from(turn) * self.period_ns + jitter
    }
}

/// The members of one thread or process, the one whose turn is next always at hand.
#[derive(Debug)]
pub(super) struct Members {
    schedule: Schedule,
    /// (due, place): nothing is allocated after it was made.
    next: BinaryHeap<Reverse<(u64, u32)>>,
    /// By place: number of the member and its next turn.
    members: Vec<(u32, u32)>,
}

impl Members {
    /// These members, each before its first turn.
    pub(super) fn new(schedule: Schedule, members: impl Iterator<Item = u32>) -> Self {
        let members: Vec<(u32, u32)> = members.map(|member| (member, 0)).collect();
        let first = |(place, (member, _)): (usize, &(u32, u32))| Reverse((schedule.due(*member, 0), place as u32));
        let next = members.iter().enumerate().map(first).collect();
        Members { schedule, next, members }
    }

    /// The member whose turn is next: when it is due, the member, and which turn it is. `None`: there is none.
    #[inline]
    pub(super) fn next(&self) -> Option<(u64, u32, u32)> {
        let Reverse((due, place)) = *self.next.peek()?;
        let (member, turn) = self.members[place as usize];
        Some((due, member, turn))
    }

    /// That turn is over.
    #[inline]
    pub(super) fn step(&mut self) {
        let Some(mut top) = self.next.peek_mut() else { return };
        let Reverse((_, place)) = *top;
        let (member, turn) = &mut self.members[place as usize];
        *turn += 1;
        *top = Reverse((self.schedule.due(*member, *turn), place));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn schedule(jitter: f64) -> Schedule {
        Schedule::new(0.5, jitter, 42)
    }

    #[test]
    fn turns_lie_evenly_in_the_period_whichever_thread_takes_them() {
        let all = schedule(0.0);
        for take in [1, 8] {
            let mut dues: Vec<u64> = (0..4000).step_by(take).map(|member| all.due(member, 0)).collect();
            dues.sort_unstable();
            assert!(dues.iter().all(|due| *due < 500_000_000));
            let even = 500_000_000 / dues.len() as u64;
            let widest = dues.windows(2).map(|two| two[1] - two[0]).max().unwrap();
            assert!(widest < 4 * even, "{take}: {widest} of {even}");
        }
        assert_eq!(all.due(17, 3) - all.due(17, 0), 1_500_000_000, "a turn is a period after the one before");
    }

    #[test]
    fn jitter_moves_turns_and_never_past_each_other() {
        let all = schedule(1.0);
        let gaps: Vec<u64> =
            (0..2000).map(|turn| all.due(5, turn + 1).checked_sub(all.due(5, turn)).unwrap()).collect();
        assert!(gaps.iter().any(|gap| *gap < 250_000_000) && gaps.iter().any(|gap| *gap > 750_000_000));
        let mean = gaps.iter().sum::<u64>() as f64 / gaps.len() as f64;
        assert!((mean / 5e8 - 1.0).abs() < 0.01, "{mean}");
    }

    #[test]
    fn members_come_in_the_order_of_their_turns_each_as_often_as_it_is_due() {
        for jitter in [0.0, 0.7] {
            let all = schedule(jitter);
            let mut members = Members::new(all, (0..100).map(|member| member * 3));
            let mut seen = vec![0_u32; 300];
            let mut before = 0;
            while let Some((due, member, turn)) = members.next() {
                if due >= 3_000_000_000 {
                    break;
                }
                assert!(due >= before && due == all.due(member, turn) && turn == seen[member as usize]);
                (before, seen[member as usize]) = (due, turn + 1);
                members.step();
            }
            for member in (0..300).step_by(3) {
                let due = (0..).take_while(|&turn| all.due(member, turn) < 3_000_000_000).count() as u32;
                assert_eq!(seen[member as usize], due);
                assert!((5..=6).contains(&seen[member as usize]), "{jitter}: {}", seen[member as usize]);
            }
        }
    }
}
