//! How far each thread is, for those that wait for it.

use crate::error::EngineError;
use rustix::thread::Timespec;
use rustix::thread::futex::{self, Flags};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

/// Looks before a thread sleeps: about as long as a wakeup takes.
const LOOKS: u32 = 64;
/// How often whoever sleeps looks whether to stop.
const GLANCE: Timespec = Timespec { tv_sec: 0, tv_nsec: 50_000_000 };

/// Steps that a thread has done, as far as somebody waits for them. On a cache line of its own.
#[derive(Debug, Default)]
#[repr(align(128))]
pub(super) struct Progress {
    done: AtomicU32,
    sleepers: AtomicU32,
}

impl Progress {
    /// So many steps are done.
    #[inline]
    pub(super) fn is_at(&self, steps: u32) {
        self.done.store(steps, Ordering::SeqCst);
        if self.sleepers.load(Ordering::SeqCst) > 0 {
            let _ = futex::wake(&self.done, Flags::PRIVATE, i32::MAX as u32);
        }
    }

    /// Returns when so many are done.
    #[inline]
    pub(super) fn wait(&self, steps: u32, stop: &AtomicBool) -> Result<(), EngineError> {
        for _ in 0..LOOKS {
            if self.done.load(Ordering::Acquire) >= steps {
                return Ok(());
            }
            std::hint::spin_loop();
        }
        self.sleep(steps, stop)
    }

    #[cold]
    fn sleep(&self, steps: u32, stop: &AtomicBool) -> Result<(), EngineError> {
        self.sleepers.fetch_add(1, Ordering::SeqCst);
        let slept = loop {
            let done = self.done.load(Ordering::SeqCst);
            if done >= steps {
                break Ok(());
            }
            if let Err(error) = super::super::heed(stop) {
                break Err(error);
            }
            let _ = futex::wait(&self.done, Flags::PRIVATE, done, Some(&GLANCE));
        };
        self.sleepers.fetch_sub(1, Ordering::SeqCst);
        slept
    }
}

/// Whatever becomes of a thread, nobody waits for it when it has ended.
pub(super) struct Over<'a>(pub(super) &'a Progress);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.0.is_at(u32::MAX);
    }
}
