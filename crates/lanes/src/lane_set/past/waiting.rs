//! Waiting for what a guest does of a lane's past: until it has ended, or has not got on for too long.

use crate::failure::{LaneFailure, failed};
use crate::guest::protocol::{Answer, Ask};
use crate::guest::{ANSWER_PATIENCE, Guest};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// So often a guest is asked how far it is.
const LOOK_EVERY: Duration = Duration::from_millis(200);

/// What a guest answers who is asked how far it is.
pub(super) enum Step<T> {
    /// It goes on; the sum changes while it gets on.
    GoesOn(u64),
    /// It has ended.
    Ended(T),
}

/// Since when a sum has stayed as it is.
struct Standstill {
    work: u64,
    since: Instant,
}

impl Standstill {
    fn new(now: Instant) -> Self {
        Standstill { work: 0, since: now }
    }

    /// Whether it hangs: it has stood still for longer than a guest may take to answer what works on a disk.
    fn is_hung(&mut self, work: u64, now: Instant) -> bool {
        if self.work != work {
            *self = Standstill { work, since: now };
        }
        now.duration_since(self.since) > ANSWER_PATIENCE
    }
}

/// Asks a guest how far it is until it has ended. `what` goes on there, as the beginning of a sentence; `read` takes an answer.
///
/// # Errors
/// [`LaneFailure::Interrupted`] after `stop`, where the unmount that follows ends it; what the guest answers; where it has not got on
/// for too long, and then the guest is ended.
pub(super) fn until_ended<T>(
    guest: &Guest,
    (ask, what): (&Ask, &str),
    stop: &AtomicBool,
    read: &mut dyn FnMut(Answer) -> Result<Step<T>, LaneFailure>,
) -> Result<T, LaneFailure> {
    let printed = guest.console_count();
    let mut standstill = Standstill::new(Instant::now());
    loop {
        std::thread::sleep(LOOK_EVERY);
        if stop.load(Ordering::Relaxed) {
            return Err(LaneFailure::Interrupted);
        }
        match read(guest.ask(ask, stop)?)? {
            Step::Ended(done) => return Ok(done),
            Step::GoesOn(work) if standstill.is_hung(work, Instant::now()) => {
                let said = guest.said_since(printed).map_or_else(String::new, |said| format!(" ({said})"));
                // What hangs in its kernel goes with it.
                guest.kill();
                return Err(failed(format!(
                    "{what} did not get on for {}, and its guest was ended{said}; race it on another kernel \
                     (@qemu:/path/to/vmlinuz), or leave the state out",
                    model::units::human_seconds(ANSWER_PATIENCE.as_secs_f64())
                )));
            }
            Step::GoesOn(_) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_still_for_too_long_hangs_and_what_moves_once_has_all_that_time_again() {
        let begun = Instant::now();
        let mut standstill = Standstill::new(begun);
        let mut after = |work, patiences: f64| standstill.is_hung(work, begun + ANSWER_PATIENCE.mul_f64(patiences));
        assert!(!after(5, 0.5) && !after(5, 1.4));
        assert!(!after(6, 1.6), "it has moved");
        assert!(!after(6, 2.5));
        assert!(after(6, 2.7));
    }
}
