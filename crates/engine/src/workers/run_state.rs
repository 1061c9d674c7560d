//! Warm-up, window, over: what threads that work on look at, and who leads them sets.

use super::threads::sleep_while;
use crate::clock::Clock;
use crate::error::EngineError;
use crate::workloads::{Observer, heed};
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering::Relaxed};
use std::time::Duration;

/// What the threads of a group do now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Running {
    /// Nothing counts yet.
    WarmUp,
    /// What ends now counts.
    Measured,
    /// Everybody ends.
    Over,
}

/// That of one group, looked at by all of it.
#[derive(Debug, Default)]
pub(crate) struct RunState(AtomicU8);

impl RunState {
    /// What they do now.
    #[inline]
    pub(crate) fn now(&self) -> Running {
        match self.0.load(Relaxed) {
            0 => Running::WarmUp,
            1 => Running::Measured,
            _ => Running::Over,
        }
    }

    /// Whether everybody ends.
    #[inline]
    pub(crate) fn is_over(&self) -> bool {
        self.now() == Running::Over
    }

    /// Everybody ends: their time is over, or one of them has failed.
    pub(crate) fn end(&self) {
        self.0.store(Running::Over as u8, Relaxed);
    }

    /// Opens the window, unless one of them has failed. Answers when, by the engine's clock.
    pub(crate) fn open_window(&self, observer: &mut dyn Observer) -> u64 {
        observer.window_opens();
        let now = Clock::get().now();
        let _ = self.0.compare_exchange(Running::WarmUp as u8, Running::Measured as u8, Relaxed, Relaxed);
        now
    }

    /// Closes the window: everybody ends. Answers when.
    pub(crate) fn close_window(&self, observer: &mut dyn Observer) -> u64 {
        self.end();
        let now = Clock::get().now();
        observer.window_closes();
        now
    }

    /// Lets them work for so long, or until one has failed; calls `look` meanwhile.
    pub(crate) fn wait(&self, length: Duration, stop: &AtomicBool, look: impl Fn()) -> Result<(), EngineError> {
        let until = Clock::get().now().saturating_add(u64::try_from(length.as_nanos()).unwrap_or(u64::MAX));
        let go_on = || {
            look();
            !self.is_over() && !stop.load(Relaxed)
        };
        sleep_while(go_on, until);
        heed(stop)
    }
}
