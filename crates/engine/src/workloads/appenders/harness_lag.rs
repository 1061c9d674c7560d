//! What of a turn's delay is the harness's own: waking up, and everything that a hand does outside of the
//! filesystem's calls, run queues included.
//!
//! A hand that never sleeps, because it is behind, says nothing by waking up late. So a second clock goes with
//! the real one on which the filesystem's calls take no time: how late a turn begins there is the harness's own.

/// The clock of one hand on which calls take no time.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct OwnTime {
    /// When the hand is free for its next turn, by that clock; nanoseconds of the engine's clock.
    free_at: u64,
    /// When its last turn began; `None`: there was none.
    began: Option<u64>,
    /// What calls have taken since then.
    in_calls: u64,
}

impl OwnTime {
    /// A turn that was due then begins now, `waited`: after a sleep. Answers the nanoseconds by which it would be
    /// late if no call had taken any time.
    #[inline]
    pub(super) fn begin(&mut self, due: u64, now: u64, waited: bool) -> u64 {
        self.free_at = match self.began {
            Some(began) if !waited => self.free_at + now.saturating_sub(began).saturating_sub(self.in_calls),
            // Whoever sleeps has nothing left to do: all of the delay is its own.
            _ => now,
        };
        (self.began, self.in_calls) = (Some(now), 0);
        self.free_at = self.free_at.max(due);
        self.free_at - due
    }

    /// The filesystem's calls of a turn took so many nanoseconds.
    #[inline]
    pub(super) fn called(&mut self, nanoseconds: u64) {
        self.in_calls += nanoseconds;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Turns that are due every 100 ns, each of which takes so long outside of calls and in them; answers each
    /// one's whole delay and what of it is its own.
    fn delays(turns: u64, outside: u64, inside: u64) -> Vec<(u64, u64)> {
        let (mut own, mut clock) = (OwnTime::default(), 0);
        let turn = |turn: u64| {
            let due = 1000 + 100 * turn;
            let waited = clock < due;
            // Waking up takes 7 ns.
            clock = if waited { due + 7 } else { clock };
            let delays = (clock - due, own.begin(due, clock, waited));
            own.called(inside);
            clock += outside + inside;
            delays
        };
        (0..turns).map(turn).collect()
    }

    #[test]
    fn a_slow_filesystem_makes_turns_late_and_the_harness_not() {
        let last = delays(50, 3, 150).pop().unwrap();
        assert!(last.0 > 2500, "turns fall behind: {last:?}");
        assert!(last.1 <= 7, "and calls are the reason: {last:?}");
    }

    #[test]
    fn a_harness_that_is_too_slow_is_told_although_it_never_sleeps() {
        let all = delays(50, 150, 3);
        // Only the first turn sleeps; the delays of the others were not counted once.
        let last = all.last().unwrap();
        assert!(last.0 > 2500 && last.1 * 10 > last.0 * 9, "{last:?}");
        // Both together are too slow, and either alone is not.
        let both = delays(50, 60, 60);
        let last = both.last().unwrap();
        assert!(last.0 > 900 && last.1 <= 7, "without the calls there is time: {last:?}");
    }

    #[test]
    fn what_sleeps_is_late_by_all_that_waking_takes() {
        assert!(delays(10, 3, 20).iter().all(|delay| *delay == (7, 7)));
    }
}
