//! A group of threads that do one piece of work and are waited for.

use crate::clock::Clock;
use crate::error::EngineError;
use serde::{Deserialize, Serialize};
use std::io::Error;
use std::thread::{Builder, Scope};
use std::time::Duration;

/// How often who leads workers looks whether to stop.
const GLANCE: Duration = Duration::from_millis(10);

/// What to say where the kernel makes no thread for a number.
type NotStarted<'a> = &'a dyn Fn(usize, &Error) -> String;

/// How the threads of a group are made.
#[derive(Default)]
pub(crate) struct Threads<'a> {
    /// Names of them by their number, of which the kernel shows 15 bytes; `None`: as who starts them is called.
    pub(crate) name: Option<&'a dyn Fn(usize) -> String>,
    /// Bytes of its stack; `None`: as Rust sets it.
    pub(crate) stack_bytes: Option<usize>,
    /// What to say where one cannot be made; `None`: that memory is short.
    pub(crate) not_started: Option<NotStarted<'a>>,
}

impl Threads<'_> {
    /// Runs each work in a thread of its own, and `lead` in this one, which is given what tells whether all have ended.
    /// Answers what came of all of them, once they have ended. `release` lets threads end that wait for the others or for
    /// who leads: it is called where one cannot be started, and where `lead` panics.
    pub(crate) fn run<'env, W, T, L>(
        &self,
        works: impl IntoIterator<Item = W>,
        release: impl Fn(),
        lead: impl FnOnce(&dyn Fn() -> bool) -> L,
    ) -> Result<(Vec<T>, L), EngineError>
    where
        W: FnOnce() -> T + Send + 'env,
        T: Send + 'env,
    {
        std::thread::scope(|scope: &Scope<'_, 'env>| {
            // The scope waits for all threads, whatever becomes of this one.
            let release = Finally(release);
            let mut threads = Vec::new();
            for (number, work) in works.into_iter().enumerate() {
                let builder = self.name.map_or_else(Builder::new, |name| Builder::new().name(name(number)));
                let builder = self.stack_bytes.into_iter().fold(builder, Builder::stack_size);
                let started = builder.spawn_scoped(scope, work);
                threads.push(started.map_err(|error| match self.not_started {
                    None => not_started(&error),
                    Some(say) => EngineError::Unsuitable(say(number, &error)),
                })?);
            }
            let led = lead(&|| threads.iter().all(|thread| thread.is_finished()));
            std::mem::forget(release);
            let all: Vec<_> = threads.into_iter().map(|thread| thread.join()).collect();
            let all = all.into_iter().collect::<Result<_, _>>().map_err(|_| panicked())?;
            Ok((all, led))
        })
    }
}

pub(super) fn not_started(error: &Error) -> EngineError {
    EngineError::Memory { bytes: 2 << 20, errno: error.raw_os_error().unwrap_or(libc::EAGAIN) }
}

pub(super) fn panicked() -> EngineError {
    EngineError::Unsuitable("a worker ended by itself; this is a fault of Fairlane".to_owned())
}

/// Calls it when it is dropped, whatever becomes of the thread.
pub(super) struct Finally<F: Fn()>(pub(super) F);

impl<F: Fn()> Drop for Finally<F> {
    fn drop(&mut self) {
        (self.0)();
    }
}

/// Naps of this thread end on time, not up to 50 µs later: what is due at a moment hangs on it.
pub(crate) fn end_naps_on_time() {
    let _ = rustix::thread::set_current_timer_slack(std::num::NonZeroU64::new(1));
}

/// Sleeps until that moment of the engine's clock, or until the condition, which is looked at every 10 ms, is no more.
pub(crate) fn sleep_while(go_on: impl Fn() -> bool, until: u64) {
    let clock = Clock::get();
    while go_on() {
        match until.saturating_sub(clock.now()) {
            0 => return,
            left => std::thread::sleep(Duration::from_nanos(left).min(GLANCE)),
        }
    }
}

/// What a worker used between its first and its last operation.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
pub(crate) struct Usage {
    pub(crate) user_ns: u64,
    pub(crate) system_ns: u64,
    pub(crate) context_switches: u64,
    pub(crate) major_faults: u64,
    pub(crate) minor_faults: u64,
}

impl Usage {
    /// Of this thread so far.
    pub(crate) fn now() -> Usage {
        let mut usage = std::mem::MaybeUninit::<libc::rusage>::zeroed();
        // SAFETY: the pointer is to a whole rusage of our own, which the call fills; zeros are valid.
        let usage = unsafe {
            libc::getrusage(libc::RUSAGE_THREAD, usage.as_mut_ptr());
            usage.assume_init()
        };
        let nanoseconds = |time: libc::timeval| time.tv_sec as u64 * 1_000_000_000 + time.tv_usec as u64 * 1000;
        Usage {
            user_ns: nanoseconds(usage.ru_utime),
            system_ns: nanoseconds(usage.ru_stime),
            context_switches: (usage.ru_nvcsw + usage.ru_nivcsw) as u64,
            major_faults: usage.ru_majflt as u64,
            minor_faults: usage.ru_minflt as u64,
        }
    }

    /// From an earlier reading of the same thread to this one.
    pub(crate) fn since(self, earlier: Usage) -> Usage {
        Usage {
            user_ns: self.user_ns.saturating_sub(earlier.user_ns),
            system_ns: self.system_ns.saturating_sub(earlier.system_ns),
            context_switches: self.context_switches.saturating_sub(earlier.context_switches),
            major_faults: self.major_faults.saturating_sub(earlier.major_faults),
            minor_faults: self.minor_faults.saturating_sub(earlier.minor_faults),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicBool, Ordering};

    #[test]
    fn a_group_answers_in_its_order_and_a_panic_is_an_error() {
        let threads =
            Threads { name: Some(&|number| format!("group-{number}")), stack_bytes: Some(64 << 10), not_started: None };
        let name = |number: usize| move || (number, std::thread::current().name().map(str::to_owned));
        let (names, ()) = threads.run((0..2).map(name), || (), |_| ()).unwrap();
        assert_eq!(names, [(0, Some("group-0".to_owned())), (1, Some("group-1".to_owned()))]);
        let panics: Result<(Vec<()>, ()), _> = threads.run([|| panic!("on purpose")], || (), |_| ());
        assert!(panics.unwrap_err().to_string().contains("a worker ended by itself"));
    }

    #[test]
    fn threads_that_wait_are_released_where_who_leads_panics() {
        let over = AtomicBool::new(false);
        let waits = || {
            while !over.load(Ordering::Relaxed) {
                std::thread::yield_now();
            }
        };
        let release = || over.store(true, Ordering::Relaxed);
        let run = || Threads::default().run([waits], release, |_| -> () { panic!("on purpose") }).is_ok();
        assert!(std::panic::catch_unwind(std::panic::AssertUnwindSafe(run)).is_err());
    }
}
