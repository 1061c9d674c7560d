//! Threads that begin at the same moment, each on a CPU of its own where there are enough.

use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
use std::num::NonZero;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// The longest that a thread that runs waits for others that were woken.
const ALL_RUN_WITHIN: Duration = Duration::from_millis(20);

/// Holds threads back until all of them are ready and, where there are as many CPUs, run.
pub(crate) struct Gate {
    /// Threads that are still to come.
    missing: Mutex<u32>,
    opened: Condvar,
    /// Threads that were not seen running since.
    asleep: AtomicU32,
    has_cpus: bool,
}

impl Gate {
    pub(crate) fn new(threads: u32) -> Self {
        let cpus = std::thread::available_parallelism().map_or(1, NonZero::get);
        Gate {
            missing: Mutex::new(threads),
            opened: Condvar::new(),
            asleep: AtomicU32::new(threads),
            has_cpus: threads as usize <= cpus,
        }
    }

    /// Nobody waits any longer, although not all have come.
    pub(crate) fn open(&self) {
        *self.missing() = 0;
        self.opened.notify_all();
    }

    fn pass(&self) {
        let mut missing = self.missing();
        *missing = missing.saturating_sub(1);
        if *missing == 0 {
            self.opened.notify_all();
        }
        while *missing > 0 {
            missing = self.opened.wait(missing).unwrap_or_else(PoisonError::into_inner);
        }
        drop(missing);
        self.asleep.fetch_sub(1, Ordering::AcqRel);
        let begun = Instant::now();
        while self.has_cpus && self.asleep.load(Ordering::Acquire) > 0 && begun.elapsed() < ALL_RUN_WITHIN {
            std::hint::spin_loop();
        }
    }

    fn missing(&self) -> MutexGuard<'_, u32> {
        self.missing.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Where a thread waits for the others before the clock runs. Dropped without that, for instance
/// after an error, it does not keep the others waiting.
pub(crate) struct Start<'a> {
    /// Together with whom, and the thread's number.
    gate: Option<(&'a Gate, usize)>,
}

impl<'a> Start<'a> {
    /// At once: nobody is waited for.
    pub(crate) fn alone() -> Self {
        Start { gate: None }
    }

    /// Together with the other threads of the gate.
    pub(crate) fn with(gate: &'a Gate, thread: usize) -> Self {
        Start { gate: Some((gate, thread)) }
    }

    /// Returns when all are ready. While it waits the thread stays on one CPU, the next thread on the
    /// next one: the scheduler puts a thread that is woken on the CPU of the one that wakes it as often
    /// as not, and there it waited 4 ms, until a tick moved it.
    pub(crate) fn now(mut self) {
        let Some((gate, thread)) = self.gate.take() else { return };
        let everywhere = sched_getaffinity(None).ok().filter(|allowed| allowed.count() > 1);
        if let Some(allowed) = &everywhere {
            let mut one = CpuSet::new();
            let mine = (0..CpuSet::MAX_CPU).filter(|cpu| allowed.is_set(*cpu)).nth(thread % allowed.count() as usize);
            mine.into_iter().for_each(|cpu| one.set(cpu));
            // Where that is refused, threads merely begin less sharply.
            let _ = sched_setaffinity(None, &one);
        }
        gate.pass();
        if let Some(everywhere) = &everywhere {
            let _ = sched_setaffinity(None, everywhere);
        }
    }
}

impl Drop for Start<'_> {
    fn drop(&mut self) {
        if let Some((gate, _)) = self.gate.take() {
            gate.pass();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicBool;

    #[test]
    fn nobody_begins_before_the_last_one_came_and_everybody_may_run_everywhere_again() {
        let (gate, last_came) = (Gate::new(3), AtomicBool::new(false));
        std::thread::scope(|scope| {
            for thread in 0..2 {
                let (gate, last_came) = (&gate, &last_came);
                scope.spawn(move || {
                    let before = sched_getaffinity(None).unwrap();
                    Start::with(gate, thread).now();
                    assert!(last_came.load(Ordering::SeqCst));
                    assert_eq!(sched_getaffinity(None).unwrap(), before);
                });
            }
            std::thread::sleep(Duration::from_millis(20));
            last_came.store(true, Ordering::SeqCst);
            Start::with(&gate, 2).now();
        });
    }

    #[test]
    fn who_gives_up_keeps_nobody_waiting() {
        let gate = Gate::new(2);
        std::thread::scope(|scope| {
            scope.spawn(|| Start::with(&gate, 0).now());
            drop(Start::with(&gate, 1));
        });
        let never_full = Gate::new(2);
        std::thread::scope(|scope| {
            scope.spawn(|| Start::with(&never_full, 0).now());
            never_full.open();
        });
    }
}
