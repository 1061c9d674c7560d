//! Whether a lane does less than it is asked for: how far behind the schedule turns begin, part by part of a
//! window.

use std::ops::Range;

/// Parts of a window whose delays are kept apart.
pub(super) const PARTS: usize = 32;
/// A backlog grows where the least delay of the window's last quarter exceeds that of its second quarter by more
/// than this share of the time between: the lane does so much less than it is asked for. Chosen, as for open
/// loops.
const BEHIND_SHARE: f64 = 0.05;

/// What was still behind.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Backlog {
    /// Seconds that turns were behind in the last part of the window in which any was due.
    pub(super) seconds: f64,
    /// It grew: there was no moment in the last quarter at which it was not larger than in the second one. A stall
    /// that was made up for, however long it was, leaves none.
    pub(super) grew: bool,
}

impl Backlog {
    /// Of the mean delays in seconds with which the turns of each part began, `None` where none was due; all parts
    /// together last so many seconds.
    pub(super) fn new(delays: &[Option<f64>; PARTS], window_seconds: f64) -> Self {
        let least = |parts: Range<usize>| delays[parts].iter().flatten().copied().reduce(f64::min);
        let (early, late) = (least(PARTS / 4..PARTS / 2), least(PARTS / 4 * 3..PARTS));
        let between = window_seconds / 2.0;
        let grew = early.zip(late).is_some_and(|(early, late)| late - early > BEHIND_SHARE * between);
        Backlog { seconds: delays.iter().rev().flatten().copied().next().unwrap_or(0.0), grew }
    }

    /// The same where so many of what was due were given up: whoever leaves that much undone has a backlog too.
    pub(super) fn or_given_up(self, missed: u64, due: u64) -> Self {
        Backlog { grew: self.grew || missed as f64 > BEHIND_SHARE * due as f64, ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A window of 40 s whose turns begin with these delays.
    fn with_delay(delay: impl Fn(f64) -> f64) -> Backlog {
        let delays = std::array::from_fn(|part| Some(delay((part as f64 + 0.5) * 40.0 / PARTS as f64)));
        Backlog::new(&delays, 40.0)
    }

    #[test]
    fn a_stall_that_is_made_up_for_is_no_backlog_wherever_it_is() {
        // From `at` on nothing is done for 4 s, and then everything at twice the rate.
        let stall = |at: f64| move |t: f64| if t < at { 0.0 } else { (4.0 - (t - at)).max(0.0) };
        for at in [2.0, 14.0, 24.0, 31.0, 34.0] {
            let backlog = with_delay(stall(at));
            assert_eq!((backlog.grew, backlog.seconds), (false, 0.0), "a stall at {at}");
        }
        // One that lasts until the window's end is still behind there, and nobody knows whether it ends.
        let unfinished = with_delay(stall(37.0));
        assert!(unfinished.seconds > 1.0 && !unfinished.grew, "{unfinished:?}");
    }

    #[test]
    fn a_lane_that_does_less_than_it_is_asked_for_has_a_growing_backlog() {
        let steadily = with_delay(|t| 0.1 * t);
        assert!(steadily.grew && (steadily.seconds - 3.94).abs() < 0.01, "{steadily:?}");
        // It makes up for something every ten seconds, and for less each time.
        assert!(with_delay(|t| 0.1 * t + 0.3 * (t % 10.0)).grew);
        assert!(!with_delay(|t| 0.3 * (t % 10.0)).grew, "it makes up for all of it each time");
        assert!(!with_delay(|t| 0.02 * t).grew, "less than 5 %");
    }

    #[test]
    fn what_was_given_up_counts_and_what_nobody_saw_does_not() {
        let none = Backlog::new(&[None; PARTS], 40.0);
        assert_eq!(none, Backlog { seconds: 0.0, grew: false });
        assert!(none.or_given_up(6, 100).grew && !none.or_given_up(5, 100).grew);
    }
}
