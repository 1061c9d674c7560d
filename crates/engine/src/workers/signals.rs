//! What a parent and its workers tell each other in memory that they share: who is ready, when to begin, when to end.

use super::Shareable;
use crate::clock::Clock;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::time::Duration;

/// A worker that is ready looks for its beginning after this time, then after twice as long, and so
/// on: it never sleeps longer than it has waited already.
const FIRST_PAUSE: Duration = Duration::from_micros(100);
/// The longest of these pauses.
pub(crate) const LONGEST_PAUSE: Duration = Duration::from_millis(10);

/// What parent and workers of one job tell each other.
#[derive(Debug, Default)]
#[repr(C)]
pub(crate) struct Signals {
    /// Ends the work at once.
    pub(crate) stop: AtomicBool,
    /// Ends the work as if its time were over.
    pub(crate) end: AtomicBool,
    /// The first operation that counts has begun.
    pub(crate) counting: AtomicBool,
    /// Workers that are ready to begin.
    pub(crate) ready: AtomicU32,
    /// When the job begins; 0: not yet.
    pub(crate) begin_at: AtomicU64,
}

// SAFETY: all fields are atomics, and zeros are values of them.
unsafe impl Shareable for Signals {}

impl Signals {
    /// Waits until the parent says when to begin, then until that moment. `false`: it was stopped.
    pub(crate) fn wait_to_begin(&self, clock: Clock) -> bool {
        self.ready.fetch_add(1, Ordering::Release);
        let mut pause = FIRST_PAUSE;
        loop {
            if self.stop.load(Ordering::Relaxed) {
                return false;
            }
            let begin_at = self.begin_at.load(Ordering::Acquire);
            let now = clock.now();
            if begin_at == 0 {
                // Hundreds that look every 100 us would keep the others from starting at all.
                std::thread::sleep(pause);
                pause = (pause * 2).min(LONGEST_PAUSE);
            } else if now >= begin_at {
                return true;
            } else if begin_at - now > 200_000 {
                std::thread::sleep(Duration::from_nanos(begin_at - now - 150_000));
            } else {
                std::hint::spin_loop();
            }
        }
    }
}
