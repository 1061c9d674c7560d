//! The workers of job files: processes, as in fio, or threads.
//!
//! Parent and workers share one page of flags in memory that survives `fork`; what a worker counted
//! comes back through a pipe. A process is made by `fork` alone: it has the parent's files, data and
//! clock, and it dies with the parent. Where jobs with threads stand beside jobs with processes, the
//! threads of a job live in a process of their own, so that who forks has one thread.

use super::worker::{Counts, Tallied};
use crate::clock::Clock;
use crate::error::EngineError;
use crate::histogram::Latencies;
use crate::io;
use crate::workers::{Shareable, SharedMemory, fork};
use model::Flag;
use model::trial::Submission;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::{Errno, read, retry_on_intr};
use rustix::pipe::{PipeFlags, pipe_with};
use rustix::process::{Pid, Signal, WaitOptions, WaitStatus, kill_process, waitpid};
use serde::{Deserialize, Serialize};
use std::cell::OnceCell;
use std::os::fd::OwnedFd;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

/// A worker that is ready looks for its beginning after this time, then after twice as long, and so
/// on: it never sleeps longer than it has waited already.
const FIRST_PAUSE: Duration = Duration::from_micros(100);
/// The longest of these pauses.
pub(super) const LONGEST_PAUSE: Duration = Duration::from_millis(10);

/// What parent and workers of one job tell each other.
#[derive(Debug, Default)]
#[repr(C)]
pub(super) struct Signals {
    /// Ends the work at once.
    pub(super) stop: AtomicBool,
    /// Ends the work as if its time were over.
    pub(super) end: AtomicBool,
    /// The first operation that counts has begun.
    pub(super) counting: AtomicBool,
    /// Workers that are ready to begin.
    pub(super) ready: AtomicU32,
    /// When the job begins; 0: not yet.
    pub(super) begin_at: AtomicU64,
}

// SAFETY: all fields are atomics, and zeros are values of them.
unsafe impl Shareable for Signals {}

/// Signals of several jobs in memory that forked processes share.
pub(super) type JobSignals = SharedMemory<Signals>;

impl Signals {
    /// Waits until the parent says when to begin, then until that moment. `false`: it was stopped.
    pub(super) fn wait_to_begin(&self, clock: Clock) -> bool {
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

/// What a worker has done, as it goes through the pipe.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Outcome {
    /// Nanoseconds that counted.
    pub(super) elapsed_ns: u64,
    /// By read, write, trim, sync.
    counted: Vec<Counted>,
    /// Latency of submitting.
    pub(super) submission: Option<Submission>,
    /// What it used.
    pub(super) usage: Usage,
    /// Bytes written, ramp included.
    pub(super) written_bytes: u64,
    /// Blocks checked while reading.
    pub(super) verified_blocks: u64,
    /// What it had to do without.
    pub(super) notes: Vec<Flag>,
    /// Why it failed.
    failure: Option<Failure>,
}

#[derive(Debug, Default, Serialize, Deserialize)]
struct Counted {
    operations: u64,
    bytes: u64,
    histogram: Option<String>,
    samples: Vec<u64>,
}

#[derive(Debug, Serialize, Deserialize)]
struct Failure {
    message: String,
    errno: Option<i32>,
    corrupt: bool,
    interrupted: bool,
}

/// What a worker used between its first and its last operation.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
pub(super) struct Usage {
    pub(super) user_ns: u64,
    pub(super) system_ns: u64,
    pub(super) context_switches: u64,
    pub(super) major_faults: u64,
    pub(super) minor_faults: u64,
}

impl Usage {
    /// Of this thread so far.
    pub(super) fn now() -> Usage {
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
    pub(super) fn since(self, earlier: Usage) -> Usage {
        Usage {
            user_ns: self.user_ns.saturating_sub(earlier.user_ns),
            system_ns: self.system_ns.saturating_sub(earlier.system_ns),
            context_switches: self.context_switches.saturating_sub(earlier.context_switches),
            major_faults: self.major_faults.saturating_sub(earlier.major_faults),
            minor_faults: self.minor_faults.saturating_sub(earlier.minor_faults),
        }
    }
}

impl Outcome {
    /// Takes over a worker's counts.
    pub(super) fn count(&mut self, counts: &[Counts; 4]) {
        let counted = |counts: &Counts| Counted {
            operations: counts.operations,
            bytes: counts.bytes,
            histogram: counts.latencies.encode(),
            samples: counts.samples.clone(),
        };
        self.counted = counts.iter().map(counted).collect();
    }

    /// The counts of one kind.
    ///
    /// # Errors
    /// Where the histogram came through damaged.
    pub(super) fn counts(&self, kind: Tallied) -> Result<Counts, EngineError> {
        let Some(counted) = self.counted.get(kind as usize) else { return Ok(Counts::default()) };
        let latencies = match &counted.histogram {
            Some(text) => Latencies::decode(text).ok_or_else(|| fault("sent a histogram that cannot be read"))?,
            None => Latencies::new(),
        };
        let (operations, bytes) = (counted.operations, counted.bytes);
        Ok(Counts { operations, bytes, latencies, samples: counted.samples.clone() })
    }

    fn failed(error: &EngineError) -> Outcome {
        let failure = Failure {
            message: error.to_string(),
            errno: error.errno(),
            corrupt: error.is_corrupt(),
            interrupted: matches!(error, EngineError::Interrupted),
        };
        Outcome { failure: Some(failure), ..Outcome::default() }
    }

    fn into_result(self) -> Result<Outcome, EngineError> {
        match self.failure {
            None => Ok(self),
            Some(Failure { interrupted: true, .. }) => Err(EngineError::Interrupted),
            Some(Failure { message, errno, corrupt, .. }) => Err(EngineError::Worker { message, errno, corrupt }),
        }
    }
}

fn fault(what: &str) -> EngineError {
    EngineError::Worker {
        message: format!("a worker {what}; this is a fault of Fairlane, report it"),
        errno: None,
        corrupt: false,
    }
}

/// A worker under way.
pub(super) struct JobWorker {
    body: Body,
    pipe: OwnedFd,
    text: Vec<u8>,
}

enum Body {
    Process(Pid),
    Thread(Option<JoinHandle<()>>),
    /// A thread of that process.
    Hosted(Rc<Host>),
    Gone,
}

/// The process of a job's threads; it ends with the last of their hands.
struct Host {
    pid: Pid,
    /// Set once it was waited for: how it ended.
    ended: OnceCell<Option<String>>,
}

impl Host {
    /// How it ended, where that was not by its own will. Waits: who asks has seen the end of a pipe that it held.
    fn wait(&self) -> Option<String> {
        let ended = || {
            let (_, status) = retry_on_intr(|| waitpid(Some(self.pid), WaitOptions::empty())).ok()??;
            untimely(status)
        };
        self.ended.get_or_init(ended).clone()
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        if self.ended.get().is_none() {
            // Its threads have said their last words, or nobody wants to hear them. It was not waited for, so that the
            // number is still its own.
            let _ = kill_process(self.pid, Signal::KILL);
            self.wait();
        }
    }
}

/// What the workers of a job are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kin {
    /// A process each.
    Processes,
    /// Threads of this process, which forks no other meanwhile.
    Threads,
    /// Threads of a process of their own.
    Hosted,
}

/// The work of one worker, done in its own thread or process.
pub(super) type Duty = Box<dyn FnOnce() -> Result<Outcome, EngineError> + Send>;

impl JobWorker {
    /// Starts the workers of a job, which all have its name. `stop` is set where one cannot be started: the others are
    /// ended then.
    ///
    /// # Errors
    /// Where the kernel makes no more of them.
    pub(super) fn start(
        kin: Kin,
        name: &str,
        duties: Vec<Duty>,
        stop: &AtomicBool,
    ) -> Result<Vec<JobWorker>, EngineError> {
        if kin == Kin::Hosted {
            return JobWorker::host(name, duties);
        }
        let mut hands = Vec::with_capacity(duties.len());
        for duty in duties {
            let hand = if kin == Kin::Threads { JobWorker::thread(name, duty) } else { JobWorker::process(duty) };
            // Before those that wait already are waited for.
            hands.push(hand.inspect_err(|_| stop.store(true, Ordering::Relaxed))?);
        }
        Ok(hands)
    }

    fn thread(name: &str, duty: Duty) -> Result<JobWorker, EngineError> {
        let (pipe, sender) = pipe()?;
        let thread = spawn(name, sender, duty).map_err(|error| not_started(&error))?;
        Ok(JobWorker { body: Body::Thread(Some(thread)), pipe, text: Vec::new() })
    }

    fn process(duty: Duty) -> Result<JobWorker, EngineError> {
        let (pipe, sender) = pipe()?;
        let pid = fork(|| report(&sender, duty)).map_err(|error| not_started(&error))?;
        Ok(JobWorker { body: Body::Process(pid), pipe, text: Vec::new() })
    }

    fn host(name: &str, duties: Vec<Duty>) -> Result<Vec<JobWorker>, EngineError> {
        let pipes = duties.iter().map(|_| pipe()).collect::<Result<Vec<_>, _>>()?;
        let (pipes, senders): (Vec<_>, Vec<_>) = pipes.into_iter().unzip();
        let pid = fork(|| {
            let threads: Vec<_> = senders
                .iter()
                .zip(duties)
                .map(|(sender, duty)| {
                    let own = sender.try_clone()?;
                    spawn(name, own, duty)
                })
                .collect();
            // Before those that wait for all are waited for.
            for (thread, sender) in threads.iter().zip(&senders) {
                if let Err(error) = thread {
                    send(sender, &Outcome::failed(&not_started(error)));
                }
            }
            for thread in threads.into_iter().flatten() {
                let _ = thread.join();
            }
        });
        let host = Rc::new(Host { pid: pid.map_err(|error| not_started(&error))?, ended: OnceCell::new() });
        let hand = |pipe| JobWorker { body: Body::Hosted(host.clone()), pipe, text: Vec::new() };
        Ok(pipes.into_iter().map(hand).collect())
    }

    /// Whether it has ended, or has begun to say how.
    pub(super) fn has_spoken(&self) -> bool {
        let at_once = Timespec { tv_sec: 0, tv_nsec: 0 };
        let mut waiting = [PollFd::new(&self.pipe, PollFlags::IN)];
        poll(&mut waiting, Some(&at_once)).is_ok_and(|count| count > 0)
    }

    /// Takes in what the worker has sent; its outcome once it has ended.
    fn listen(&mut self) -> Option<Result<Outcome, EngineError>> {
        let mut block = [0; 16 << 10];
        match retry_on_intr(|| read(&self.pipe, &mut block)) {
            Ok(count) => {
                self.text.extend_from_slice(&block[..count]);
                // Its end is marked: a sibling that was forked meanwhile may hold the pipe open.
                if count > 0 && self.text.last() != Some(&b'\n') {
                    return None;
                }
                let ended = self.join(false);
                let outcome = serde_json::from_slice::<Outcome>(&self.text);
                let wordless = |_| match ended {
                    Some(message) => EngineError::Worker { message, errno: None, corrupt: false },
                    None => fault("ended without a word"),
                };
                Some(outcome.map_err(wordless).and_then(Outcome::into_result))
            }
            Err(errno) => Some(Err(EngineError::file("read from a worker's", "pipe", errno))),
        }
    }

    /// Waits for its end; says how it ended where that was not by its own will.
    fn join(&mut self, is_given_up: bool) -> Option<String> {
        match std::mem::replace(&mut self.body, Body::Gone) {
            Body::Process(pid) => {
                // It has said its last word, or none: it ends by itself.
                let (_, status) = retry_on_intr(|| waitpid(Some(pid), WaitOptions::empty())).ok()??;
                untimely(status)
            }
            Body::Thread(Some(thread)) => {
                let _ = thread.join();
                None
            }
            // The others of its process may be at work: only its death ends a pipe without a last word.
            Body::Hosted(host) if !self.text.ends_with(b"\n") && !is_given_up => host.wait(),
            Body::Hosted(_) | Body::Thread(None) | Body::Gone => None,
        }
    }
}

impl Drop for JobWorker {
    fn drop(&mut self) {
        // Only on the way out of an error: a process that has not ended would outlive its work.
        if let Body::Process(pid) = self.body {
            let _ = kill_process(pid, Signal::KILL);
        }
        let _ = self.join(true);
    }
}

/// A worker's place, and how it ended.
pub(super) type Ended = (usize, Result<Outcome, EngineError>);

/// Waits at most 10 ms for any of the workers, and answers those that have ended, by their place.
///
/// # Errors
/// Where the kernel cannot wait for them.
pub(super) fn listen(hands: &mut [Option<JobWorker>]) -> Result<Vec<Ended>, EngineError> {
    const PATIENCE: Timespec = Timespec { tv_sec: 0, tv_nsec: 10_000_000 };
    let mut numbers = Vec::new();
    let mut waiting: Vec<PollFd<'_>> = Vec::new();
    for (number, hand) in hands.iter().enumerate() {
        if let Some(hand) = hand {
            numbers.push(number);
            waiting.push(PollFd::new(&hand.pipe, PollFlags::IN));
        }
    }
    match poll(&mut waiting, Some(&PATIENCE)) {
        Ok(_) | Err(Errno::INTR) => {}
        Err(errno) => return Err(EngineError::file("wait for a worker's", "pipe", errno)),
    }
    let spoke: Vec<usize> = waiting
        .iter()
        .zip(&numbers)
        .filter(|(descriptor, _)| !descriptor.revents().is_empty())
        .map(|(_, &number)| number)
        .collect();
    let mut ended = Vec::new();
    for number in spoke {
        if let Some(outcome) = hands[number].as_mut().and_then(JobWorker::listen) {
            hands[number] = None;
            ended.push((number, outcome));
        }
    }
    Ok(ended)
}

fn pipe() -> Result<(OwnedFd, OwnedFd), EngineError> {
    pipe_with(PipeFlags::CLOEXEC).map_err(|errno| not_started(&errno.into()))
}

fn spawn(name: &str, sender: OwnedFd, duty: Duty) -> std::io::Result<JoinHandle<()>> {
    let name = name.chars().filter(char::is_ascii_graphic).take(15).collect();
    std::thread::Builder::new().name(name).spawn(move || report(&sender, duty))
}

fn not_started(error: &std::io::Error) -> EngineError {
    EngineError::Unsuitable(format!("cannot start another worker: {error}; lower numjobs"))
}

/// How a process of workers ended, where that was not by its own will.
fn untimely(status: WaitStatus) -> Option<String> {
    match (status.exit_status(), status.terminating_signal()) {
        (Some(0), _) | (None, None) => None,
        (Some(io::BUS_ERROR_EXIT_CODE), _) => Some(
            "a worker could not touch a page of its mapped file (SIGBUS): the filesystem is full or the disk failed; \
             use ioengine = \"sync\" to see the errno"
                .to_owned(),
        ),
        (Some(code), _) => Some(format!("a worker ended with status {code}; its words stand above")),
        (None, Some(signal)) => {
            Some(format!("a worker was killed by signal {signal}; was memory short? See the kernel's log"))
        }
    }
}

/// Does the work and sends its outcome; a panic is an outcome too.
fn report(pipe: &OwnedFd, duty: Duty) {
    let outcome = match catch_unwind(AssertUnwindSafe(duty)) {
        Ok(Ok(outcome)) => outcome,
        Ok(Err(error)) => Outcome::failed(&error),
        Err(_) => Outcome::failed(&fault("failed inside")),
    };
    send(pipe, &outcome);
}

fn send(pipe: &OwnedFd, outcome: &Outcome) {
    let mut text = serde_json::to_vec(outcome).unwrap_or_default();
    text.push(b'\n');
    let mut rest = &text[..];
    while !rest.is_empty() {
        match retry_on_intr(|| rustix::io::write(pipe, rest)) {
            Ok(count) => rest = &rest[count..],
            // Nobody listens any more.
            Err(_) => return,
        }
    }
}

#[cfg(test)]
mod tests;
