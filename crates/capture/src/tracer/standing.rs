//! How long a thread stood still between two of its calls because it is traced, which is no time of the program's own.

use super::Tracer;
use libc::pid_t;
use rustix::process::{Resource, getrlimit};
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::time::{Duration, Instant};
use trace::Item;

/// A thread waits no longer than this for the tracer, or for its CPU behind it; what takes longer is the program's own waiting.
const MOST_LATENCY: Duration = Duration::from_millis(1);
/// Files that tell of threads' time and are kept open, at most: opening one takes several times as long as reading it.
const MOST_KEPT: u64 = 128;
/// The same as a part of all files that this process may have open: whatever else is opened must not be refused for it.
const PART_KEPT: u64 = 4;
/// How many times as long as usual a thread may have stood still.
const MOST_UNUSUAL: u32 = 4;

/// A thread as it was when its last call had returned.
#[derive(Debug, Clone, Copy)]
pub(super) enum Left {
    /// Its call was written into the buffer, so that it did not stop: when it ended, since the begin.
    Running(Duration),
    /// It stopped there.
    Stopped {
        /// When the tracer knew.
        ended: Duration,
        /// When it was let go on.
        released: Duration,
        /// Its time on a CPU by then.
        on_cpu: Option<Duration>,
    },
}

/// How long a thread and the tracer take to wake each other, as far as it was seen.
#[derive(Debug, Default)]
pub(super) struct Latency(Duration);

impl Latency {
    /// Half of what a thread stood still twice: until it went on, and until the tracer saw it again.
    fn saw(&mut self, twice: Duration) {
        let once = twice / 2;
        if once > MOST_LATENCY {
            return;
        }
        self.0 = if self.0.is_zero() { once } else { (self.0 * 7 + once) / 8 };
    }

    /// How much of a gap between two calls a thread stood still. `on_cpu`: how much of the gap it was at work, where that is known.
    fn of_gap(&mut self, gap: Duration, held: Duration, on_cpu: Option<Duration>, stops: u32) -> Duration {
        if let Some(on_cpu) = on_cpu {
            let stood = gap.saturating_sub(on_cpu);
            let usual = held + self.0 * stops;
            // The first that is seen is all that is known.
            if self.0.is_zero() || stood <= usual * MOST_UNUSUAL {
                self.saw(stood.saturating_sub(held));
                return stood.min(held + MOST_LATENCY * stops);
            }
        }
        (held + self.0 * stops).min(gap)
    }
}

impl Tracer {
    /// A thread begins a call at which it stopped: how long it stood still since the one before.
    pub(super) fn stood_until_stop(&mut self, thread: pid_t, began: Instant) {
        let began = began.duration_since(self.begun);
        let Some((left, held)) = self.threads.get_mut(&thread).map(|of| (of.left.take(), of.held)) else { return };
        let stood = match left {
            None => Duration::ZERO,
            Some(Left::Running(ended)) => self.latency.of_gap(began.saturating_sub(ended), Duration::ZERO, None, 1),
            Some(Left::Stopped { ended, released, on_cpu }) => {
                let now = self.on_cpu(thread);
                let worked = now.zip(on_cpu).map(|(now, then)| now.saturating_sub(then));
                // For what it was held between is told besides.
                let gap = began.saturating_sub(ended).saturating_sub(held);
                self.latency.of_gap(gap, released.saturating_sub(ended), worked, 2)
            }
        };
        self.tell_standing(thread, stood);
    }

    /// The same of a call that was written into the buffer.
    pub(super) fn stood_until(&mut self, thread: pid_t, began: u64, took: u64) {
        let Some(of) = self.threads.get_mut(&thread) else { return };
        let began = Duration::from_nanos(began);
        let stood = match of.left.replace(Left::Running(began + Duration::from_nanos(took))) {
            Some(Left::Stopped { ended, released, .. }) => {
                let gap = began.saturating_sub(ended);
                self.latency.of_gap(gap, released.saturating_sub(ended), None, 1)
            }
            _ if of.held.is_zero() => return,
            _ => Duration::ZERO,
        };
        self.tell_standing(thread, stood);
    }

    /// A call at which a thread stopped has returned, and it is about to go on.
    pub(super) fn leaves(&mut self, thread: pid_t, ended: Instant) {
        let on_cpu = self.on_cpu(thread);
        let since = |moment: Instant| moment.duration_since(self.begun);
        let left = Left::Stopped { ended: since(ended), released: since(Instant::now()), on_cpu };
        if let Some(of) = self.threads.get_mut(&thread) {
            of.left = Some(left);
        }
    }

    /// The time of a stopped thread on a CPU.
    fn on_cpu(&mut self, thread: pid_t) -> Option<Duration> {
        let of = self.threads.get_mut(&thread)?;
        if let Some(file) = &of.time {
            return time_in(file);
        }
        let file = time_of(of.process, thread)?;
        let time = time_in(&file);
        if self.kept_open < most_kept() {
            of.time = Some(file);
            self.kept_open += 1;
        }
        time
    }

    /// A thread stopped for something else than a call of interest, and goes on.
    pub(super) fn was_held(&mut self, thread: pid_t, woke: Instant) {
        let held = woke.elapsed() + self.latency.0 * 2;
        if let Some(of) = self.threads.get_mut(&thread) {
            of.held += held;
        }
    }

    /// Before its call it looked at what lay there, for the trace.
    pub(super) fn stood_to_look(&mut self, thread: pid_t, nanoseconds: u64) {
        if let Some(of) = self.threads.get_mut(&thread) {
            of.held += Duration::from_nanos(nanoseconds);
        }
    }

    fn tell_standing(&mut self, thread: pid_t, stood: Duration) {
        let Some(of) = self.threads.get_mut(&thread) else { return };
        let stood = stood + std::mem::take(&mut of.held);
        let thread = of.number;
        if !stood.is_zero() {
            self.add(&Item::Stood { thread, nanoseconds: stood.as_nanos() as u64 });
        }
    }
}

/// Files that are kept open, at most.
fn most_kept() -> usize {
    let all = getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX);
    MOST_KEPT.min(all / PART_KEPT) as usize
}

/// The file that tells the time of a thread on a CPU (proc(5), schedstat).
fn time_of(process: pid_t, thread: pid_t) -> Option<File> {
    File::open(format!("/proc/{process}/task/{thread}/schedstat")).ok()
}

/// What it tells now: nanoseconds, and other numbers behind them.
fn time_in(file: &File) -> Option<Duration> {
    let mut bytes = [0; 64];
    let count = file.read_at(&mut bytes, 0).ok()?;
    let text = std::str::from_utf8(&bytes[..count]).ok()?;
    text.split(' ').next()?.parse().ok().map(Duration::from_nanos)
}

#[cfg(test)]
mod tests {
    use super::*;

    const US: Duration = Duration::from_micros(1);

    #[test]
    fn what_a_thread_did_not_work_it_stood_still_unless_it_waited_for_something_itself() {
        let mut latency = Latency::default();
        // Held for 5 us, and 20 us until each saw the other.
        assert_eq!(latency.of_gap(US * 100, US * 5, Some(US * 55), 2), US * 45);
        assert_eq!(latency.0, US * 20);
        // It slept for 10 ms.
        assert_eq!(latency.of_gap(US * 10_100, US * 5, Some(US * 55), 2), US * 45);
        assert_eq!(latency.0, US * 20);
        // Nobody knows how long it worked.
        assert_eq!(latency.of_gap(US * 100, US * 5, None, 1), US * 25);
        assert_eq!(latency.of_gap(US * 10, US * 5, None, 1), US * 10);
        // It follows the machine.
        (0..100).for_each(|_| _ = latency.of_gap(US * 100, US * 10, Some(US * 50), 2));
        assert!(latency.0 < US * 21 && latency.0 > US * 19, "{latency:?}");
        (0..100).for_each(|_| _ = latency.of_gap(US * 100, US * 10, Some(US * 70), 2));
        assert!(latency.0 < US * 11, "{latency:?}");
        // What is seen first may be a wait: it is no latency.
        let mut latency = Latency::default();
        assert_eq!(latency.of_gap(US * 1_000_000, US * 5, Some(US), 2), US * 2005);
        assert!(latency.0.is_zero());
        let own = std::process::id() as pid_t;
        let file = time_of(own, own).unwrap();
        let time = time_in(&file).unwrap();
        // It tells anew each time.
        assert!(time > Duration::ZERO && time_in(&file).unwrap() >= time);
    }
}
