//! Threads that begin at the same moment, each on a CPU of its own where there are enough.

use super::threads::Finally;
use crate::error::EngineError;
use crate::workloads::Observer;
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
use std::num::NonZero;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// The longest that a thread that runs waits for others that were woken.
const ALL_RUN_WITHIN: Duration = Duration::from_millis(20);

/// Holds threads back until all of them are ready and, where there are as many CPUs, all run; then the
/// window opens, and they go. What waking them and waiting for each other costs lies before the window.
pub(crate) struct StartGate<'o> {
    inside: Mutex<Inside>,
    /// The last thread came.
    full: Condvar,
    opened: Condvar,
    /// Threads that were not seen running since.
    asleep: AtomicU32,
    /// The window is open.
    go: AtomicBool,
    window: Mutex<Window<'o>>,
    has_cpus: bool,
}

/// Who is told of the window next.
enum Window<'o> {
    /// That it opens.
    Shut(&'o mut dyn Observer),
    /// That it closes, where that is the gate's to tell.
    Open(&'o mut dyn Observer),
    Told,
}

struct Inside {
    /// Threads that are still to come.
    missing: u32,
    door: Door,
}

#[derive(Clone, Copy, PartialEq)]
enum Door {
    Shut,
    Open,
    /// Not all threads could be made: nobody works.
    GivenUp,
}

impl<'o> StartGate<'o> {
    pub(crate) fn new(threads: u32, observer: &'o mut dyn Observer) -> Self {
        let cpus = std::thread::available_parallelism().map_or(1, NonZero::get);
        StartGate {
            inside: Mutex::new(Inside { missing: threads, door: Door::Shut }),
            full: Condvar::new(),
            opened: Condvar::new(),
            asleep: AtomicU32::new(threads),
            go: AtomicBool::new(false),
            window: Mutex::new(Window::Shut(observer)),
            has_cpus: threads as usize <= cpus,
        }
    }

    /// Waits until all threads have come, and wakes them. Where they have no CPU each, so that they
    /// cannot wait for each other, the window opens here.
    pub(crate) fn open(&self) {
        let mut inside = self.inside();
        while inside.missing > 0 {
            inside = self.full.wait(inside).unwrap_or_else(PoisonError::into_inner);
        }
        if !self.has_cpus {
            self.open_window();
        }
        inside.door = Door::Open;
        drop(inside);
        self.opened.notify_all();
    }

    /// Sends those that came away, and those that are still to come.
    pub(crate) fn give_up(&self) {
        self.inside().door = Door::GivenUp;
        self.opened.notify_all();
    }

    fn come(&self) -> MutexGuard<'_, Inside> {
        let mut inside = self.inside();
        inside.missing = inside.missing.saturating_sub(1);
        if inside.missing == 0 {
            self.full.notify_all();
        }
        inside
    }

    fn pass(&self) -> Result<(), EngineError> {
        let mut inside = self.come();
        while inside.door == Door::Shut {
            inside = self.opened.wait(inside).unwrap_or_else(PoisonError::into_inner);
        }
        if inside.door == Door::GivenUp {
            return Err(EngineError::Interrupted);
        }
        drop(inside);
        self.wake();
        let begun = Instant::now();
        while !self.go.load(Ordering::Acquire) {
            if begun.elapsed() >= ALL_RUN_WITHIN {
                // Somebody does not run: the others go without it.
                self.open_window();
            }
            std::hint::spin_loop();
        }
        Ok(())
    }

    /// One thread more runs, or is not waited for; the last one opens the window.
    fn wake(&self) {
        if self.asleep.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.open_window();
        }
    }

    /// Opens the window, unless somebody does or has done it.
    fn open_window(&self) {
        let mut window = self.window.lock().unwrap_or_else(PoisonError::into_inner);
        *window = match std::mem::replace(&mut *window, Window::Told) {
            Window::Shut(observer) => {
                // Whatever becomes of the call, nobody waits for ever.
                let _go = Finally(|| self.go.store(true, Ordering::Release));
                observer.window_opens();
                Window::Open(observer)
            }
            other => other,
        };
    }

    /// Closes the window while threads may still be at work, unless somebody has done it.
    pub(crate) fn close_window(&self) {
        let mut window = self.window.lock().unwrap_or_else(PoisonError::into_inner);
        if let Window::Open(observer) = std::mem::replace(&mut *window, Window::Told) {
            observer.window_closes();
        }
    }

    fn inside(&self) -> MutexGuard<'_, Inside> {
        self.inside.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What a thread passes right before its clock runs. Dropped without that, for instance after an
/// error, it does not keep the others waiting.
pub(crate) struct Start<'a, 'o>(Way<'a, 'o>);

enum Way<'a, 'o> {
    Alone(&'a mut dyn Observer),
    /// Together with whom, and the thread's number.
    With(&'a StartGate<'o>, usize),
    Passed,
}

impl<'a, 'o> Start<'a, 'o> {
    /// At once: nobody is waited for. The observer's window opens.
    pub(crate) fn alone(observer: &'a mut dyn Observer) -> Self {
        Start(Way::Alone(observer))
    }

    /// Together with the other threads of the gate.
    pub(crate) fn with(gate: &'a StartGate<'o>, thread: usize) -> Self {
        Start(Way::With(gate, thread))
    }

    /// Returns when all are ready. While it waits the thread stays on one CPU, the next thread on the
    /// next one: the scheduler puts a thread that is woken on the CPU of the one that wakes it as often
    /// as not, and there it waited 4 ms, until a tick moved it.
    pub(crate) fn now(mut self) -> Result<(), EngineError> {
        let (gate, thread) = match std::mem::replace(&mut self.0, Way::Passed) {
            Way::With(gate, thread) => (gate, thread),
            Way::Alone(observer) => {
                observer.window_opens();
                return Ok(());
            }
            Way::Passed => return Ok(()),
        };
        let everywhere = sched_getaffinity(None).ok().filter(|allowed| allowed.count() > 1);
        if let Some(allowed) = &everywhere {
            let mut one = CpuSet::new();
            let mine = (0..CpuSet::MAX_CPU).filter(|cpu| allowed.is_set(*cpu)).nth(thread % allowed.count() as usize);
            mine.into_iter().for_each(|cpu| one.set(cpu));
            // Where that is refused, threads merely begin less sharply.
            let _ = sched_setaffinity(None, &one);
        }
        let passed = gate.pass();
        if let Some(everywhere) = &everywhere {
            let _ = sched_setaffinity(None, everywhere);
        }
        passed
    }
}

impl Drop for Start<'_, '_> {
    fn drop(&mut self) {
        if let Way::With(gate, _) = self.0 {
            // It is not waited for, neither to come nor to run.
            drop(gate.come());
            gate.wake();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Threads;
    use super::*;
    use std::thread::ThreadId;

    /// Notes by which thread the window was opened, and tells those who cannot see it while the gate holds it.
    #[derive(Default)]
    struct Watch<'a> {
        opened_by: Vec<ThreadId>,
        is_open: Option<&'a AtomicBool>,
    }

    impl Observer for Watch<'_> {
        fn window_opens(&mut self) {
            self.opened_by.push(std::thread::current().id());
            self.is_open.into_iter().for_each(|is_open| is_open.store(true, Ordering::SeqCst));
        }
        fn window_closes(&mut self) {}
    }

    #[test]
    fn nobody_begins_before_the_last_one_came_and_the_window_opened() {
        let (last_came, is_open) = (&AtomicBool::new(false), &AtomicBool::new(false));
        let mut watch = Watch { is_open: Some(is_open), ..Watch::default() };
        let gate = &StartGate::new(3, &mut watch);
        let works = (0..3).map(|thread| {
            move || {
                let before = sched_getaffinity(None).unwrap();
                if thread == 2 {
                    std::thread::sleep(Duration::from_millis(20));
                    assert!(!is_open.load(Ordering::SeqCst));
                    last_came.store(true, Ordering::SeqCst);
                }
                Start::with(gate, thread).now().unwrap();
                assert!(last_came.load(Ordering::SeqCst) && is_open.load(Ordering::SeqCst));
                assert_eq!(sched_getaffinity(None).unwrap(), before);
            }
        });
        Threads::default().run(works, || gate.give_up(), |_| gate.open()).unwrap();
    }

    #[test]
    fn with_a_cpu_for_each_the_last_thread_that_runs_opens_the_window_once() {
        let mut watch = Watch::default();
        let gate = StartGate::new(2, &mut watch);
        let has_cpus = gate.has_cpus;
        let works = (0..2).map(|thread| {
            let gate = &gate;
            move || {
                Start::with(gate, thread).now().unwrap();
                std::thread::current().id()
            }
        });
        let (workers, ()) = Threads::default().run(works, || gate.give_up(), |_| gate.open()).unwrap();
        assert_eq!(watch.opened_by.len(), 1);
        // Waking them lies before the window: whoever wakes them does not open it.
        assert_eq!(workers.contains(&watch.opened_by[0]), has_cpus);
    }

    #[test]
    fn who_drops_out_keeps_nobody_waiting_and_a_gate_given_up_sends_all_away() {
        let mut watch = Watch::default();
        let gate = StartGate::new(2, &mut watch);
        std::thread::scope(|scope| {
            let other = scope.spawn(|| Start::with(&gate, 0).now());
            drop(Start::with(&gate, 1));
            gate.open();
            assert!(other.join().unwrap().is_ok());
        });
        assert_eq!(watch.opened_by.len(), 1);
        let mut nobody = ();
        let never_full = StartGate::new(2, &mut nobody);
        std::thread::scope(|scope| {
            let other = scope.spawn(|| Start::with(&never_full, 0).now());
            never_full.give_up();
            assert!(matches!(other.join().unwrap(), Err(EngineError::Interrupted)));
        });
    }

    #[test]
    fn the_window_is_closed_once_by_whoever_comes_first() {
        #[derive(Default)]
        struct Counts([u32; 2]);
        impl Observer for Counts {
            fn window_opens(&mut self) {
                self.0[0] += 1;
            }
            fn window_closes(&mut self) {
                self.0[1] += 1;
            }
        }
        let mut counts = Counts::default();
        let gate = &StartGate::new(2, &mut counts);
        let works = (0..2).map(|thread| {
            move || {
                Start::with(gate, thread).now().unwrap();
                gate.close_window();
            }
        });
        Threads::default().run(works, || gate.give_up(), |_| gate.open()).unwrap();
        assert_eq!(counts.0, [1, 1]);
    }

    #[test]
    fn who_is_alone_opens_the_window_itself() {
        let mut watch = Watch::default();
        Start::alone(&mut watch).now().unwrap();
        assert_eq!(watch.opened_by, [std::thread::current().id()]);
        let mut unwatched = Watch::default();
        drop(Start::alone(&mut unwatched));
        assert!(unwatched.opened_by.is_empty());
    }
}
