//! The clock that budgets, deadlines and waits go by: this machine's, and in tests one that work moves on.

use super::clocks::Clocks;
use std::time::{Duration, Instant};

/// What time a race takes.
pub trait RaceClock {
    /// This moment.
    fn now(&self) -> Instant;

    /// Nothing happens for so long.
    fn sleep(&self, time: Duration);

    /// All clocks of the machine, by which its sleep is told.
    fn clocks(&self) -> Clocks;

    /// What passed since an earlier moment.
    fn since(&self, earlier: Instant) -> Duration {
        self.now().saturating_duration_since(earlier)
    }
}

/// This machine's clocks.
#[derive(Debug, Clone, Copy)]
pub struct MachineClock;

impl RaceClock for MachineClock {
    fn now(&self) -> Instant {
        Instant::now()
    }

    fn sleep(&self, time: Duration) {
        std::thread::sleep(time);
    }

    fn clocks(&self) -> Clocks {
        Clocks::now()
    }
}
