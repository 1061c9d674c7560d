//! A worker that is a process, as in fio, or a thread, and sends what it did through a pipe.
//!
//! A process is made by `fork` alone: it has the parent's files, data and clock, and it dies with the parent. Where
//! threads stand beside processes they live in a process of their own, so that who forks has one thread.

use super::Process;
use crate::error::EngineError;
use crate::io;
use model::agent::Room;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::{Errno, read, retry_on_intr};
use rustix::pipe::{PipeFlags, pipe_with};
use rustix::process::WaitStatus;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::marker::PhantomData;
use std::os::fd::OwnedFd;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

/// Why a worker failed, as it goes through the pipe.
#[derive(Debug, Serialize, Deserialize)]
struct Failure {
    message: String,
    errno: Option<i32>,
    corrupt: bool,
    room: Room,
    interrupted: bool,
}

/// A fault of a worker's that no user can cause.
pub(crate) fn fault(what: &str) -> EngineError {
    EngineError::worker(format!("a worker {what}; this is a fault of Fairlane, report it"))
}

/// A worker under way, whose outcome is a `T`. Where it is a process it is killed when this is dropped.
pub(crate) struct WorkerHandle<T> {
    body: Body,
    pipe: OwnedFd,
    text: Vec<u8>,
    outcome: PhantomData<T>,
}

enum Body {
    /// That process, or a thread of it; it ends with the last of its workers.
    Process(Rc<Process>),
    Thread(JoinHandle<()>),
    Gone,
}

/// A worker that ended, by its place, and its outcome.
type Ended<T> = (usize, Result<T, EngineError>);

/// What workers are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kin {
    /// A process each.
    Processes,
    /// Threads of this process, which forks no other meanwhile.
    Threads,
    /// Threads of a process of their own.
    Hosted,
}

/// The work of one worker, done in its own thread or process.
pub(crate) type Duty<T> = Box<dyn FnOnce() -> Result<T, EngineError> + Send>;

impl<T: Serialize + DeserializeOwned + 'static> WorkerHandle<T> {
    /// Starts workers that all have this name. `stop` is set where one cannot be started: the others are ended then.
    pub(crate) fn start(
        kin: Kin,
        name: &str,
        duties: Vec<Duty<T>>,
        stop: &AtomicBool,
    ) -> Result<Vec<WorkerHandle<T>>, EngineError> {
        if kin == Kin::Hosted {
            return WorkerHandle::host(name, duties);
        }
        let mut handles = Vec::with_capacity(duties.len());
        for duty in duties {
            let handle = match kin {
                Kin::Threads => WorkerHandle::thread(name, duty),
                _ => WorkerHandle::process(duty),
            };
            // Before those that wait already are waited for.
            handles.push(handle.inspect_err(|_| stop.store(true, Ordering::Relaxed))?);
        }
        Ok(handles)
    }

    fn new(body: Body, pipe: OwnedFd) -> WorkerHandle<T> {
        WorkerHandle { body, pipe, text: Vec::new(), outcome: PhantomData }
    }

    fn thread(name: &str, duty: Duty<T>) -> Result<WorkerHandle<T>, EngineError> {
        let (pipe, sender) = pipe()?;
        let thread = spawn(name, move || report(&sender, duty)).map_err(|error| not_started(&error))?;
        Ok(WorkerHandle::new(Body::Thread(thread), pipe))
    }

    fn process(duty: Duty<T>) -> Result<WorkerHandle<T>, EngineError> {
        let (pipe, sender) = pipe()?;
        let process = Process::fork(|| report(&sender, duty)).map_err(|error| not_started(&error))?;
        Ok(WorkerHandle::new(Body::Process(Rc::new(process)), pipe))
    }

    fn host(name: &str, duties: Vec<Duty<T>>) -> Result<Vec<WorkerHandle<T>>, EngineError> {
        let pipes = duties.iter().map(|_| pipe()).collect::<Result<Vec<_>, _>>()?;
        let (pipes, senders): (Vec<_>, Vec<_>) = pipes.into_iter().unzip();
        let host = Process::fork(|| {
            let start = |(sender, duty): (&OwnedFd, Duty<T>)| {
                let started = sender.try_clone().and_then(|own| spawn(name, move || report(&own, duty)));
                // Before those that wait for all are waited for.
                started.inspect_err(|error| send::<T>(sender, Err(not_started(error)))).ok()
            };
            let threads: Vec<_> = senders.iter().zip(duties).filter_map(start).collect();
            threads.into_iter().for_each(|thread| drop(thread.join()));
        });
        let host = Rc::new(host.map_err(|error| not_started(&error))?);
        Ok(pipes.into_iter().map(|pipe| WorkerHandle::new(Body::Process(host.clone()), pipe)).collect())
    }

    /// Whether it has ended, or has begun to say how.
    pub(crate) fn has_spoken(&self) -> bool {
        let at_once = Timespec { tv_sec: 0, tv_nsec: 0 };
        let mut waiting = [PollFd::new(&self.pipe, PollFlags::IN)];
        poll(&mut waiting, Some(&at_once)).is_ok_and(|count| count > 0)
    }

    /// Waits at most 10 ms for any of the workers, and answers those that have ended, by their place.
    pub(crate) fn listen(handles: &mut [Option<Self>]) -> Result<Vec<Ended<T>>, EngineError> {
        const PATIENCE: Timespec = Timespec { tv_sec: 0, tv_nsec: 10_000_000 };
        let under_way: Vec<usize> = (0..handles.len()).filter(|&number| handles[number].is_some()).collect();
        let pipes = handles.iter().flatten().map(|handle| &handle.pipe);
        let mut waiting: Vec<PollFd<'_>> = pipes.map(|pipe| PollFd::new(pipe, PollFlags::IN)).collect();
        match poll(&mut waiting, Some(&PATIENCE)) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(errno) => return Err(EngineError::file("wait for a worker's", "pipe", errno)),
        }
        let has_spoken = |(_, pipe): &(&usize, &PollFd<'_>)| !pipe.revents().is_empty();
        let spoke: Vec<usize> = under_way.iter().zip(&waiting).filter(has_spoken).map(|(&number, _)| number).collect();
        let mut ended = Vec::new();
        for number in spoke {
            if let Some(outcome) = handles[number].as_mut().and_then(WorkerHandle::hear) {
                handles[number] = None;
                ended.push((number, outcome));
            }
        }
        Ok(ended)
    }

    /// Takes in what the worker has sent; its outcome once it has ended.
    fn hear(&mut self) -> Option<Result<T, EngineError>> {
        let mut block = [0; 16 << 10];
        match retry_on_intr(|| read(&self.pipe, &mut block)) {
            Ok(count) => {
                self.text.extend_from_slice(&block[..count]);
                // Its end is marked: a sibling that was forked meanwhile may hold the pipe open.
                if count > 0 && self.text.last() != Some(&b'\n') {
                    return None;
                }
                let ended = self.join();
                Some(match serde_json::from_slice::<Result<T, Failure>>(&self.text) {
                    Ok(Ok(outcome)) => Ok(outcome),
                    Ok(Err(Failure { interrupted: true, .. })) => Err(EngineError::Interrupted),
                    Ok(Err(Failure { message, errno, corrupt, room, .. })) => {
                        Err(EngineError::Worker { message, errno, corrupt, room })
                    }
                    Err(_) => {
                        let untimely = ended.and_then(untimely).map(EngineError::worker);
                        Err(untimely.unwrap_or_else(|| fault("ended without a word")))
                    }
                })
            }
            Err(errno) => Some(Err(EngineError::file("read from a worker's", "pipe", errno))),
        }
    }
}

impl<T> WorkerHandle<T> {
    /// Waits for its end, now that it has said its last word or none; how its process ended.
    fn join(&mut self) -> Option<WaitStatus> {
        match std::mem::replace(&mut self.body, Body::Gone) {
            Body::Thread(thread) => {
                let _ = thread.join();
                None
            }
            // Others of its process may be at work: only its death ends a pipe without a last word.
            Body::Process(process) if Rc::strong_count(&process) > 1 && self.text.ends_with(b"\n") => None,
            Body::Process(process) => process.wait(),
            Body::Gone => None,
        }
    }
}

impl<T> Drop for WorkerHandle<T> {
    fn drop(&mut self) {
        // A process ends with its last handle; only on the way out of an error is one still at work.
        if let Body::Thread(_) = self.body {
            self.join();
        }
    }
}

fn pipe() -> Result<(OwnedFd, OwnedFd), EngineError> {
    pipe_with(PipeFlags::CLOEXEC).map_err(|errno| not_started(&errno.into()))
}

fn spawn(name: &str, work: impl FnOnce() + Send + 'static) -> std::io::Result<JoinHandle<()>> {
    let name = name.chars().filter(char::is_ascii_graphic).take(15).collect();
    std::thread::Builder::new().name(name).spawn(work)
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
fn report<T: Serialize>(pipe: &OwnedFd, duty: Duty<T>) {
    send(pipe, catch_unwind(AssertUnwindSafe(duty)).unwrap_or_else(|_| Err(fault("failed inside"))));
}

fn send<T: Serialize>(pipe: &OwnedFd, outcome: Result<T, EngineError>) {
    let failure = |error: EngineError| Failure {
        message: error.to_string(),
        errno: error.errno(),
        corrupt: error.is_corrupt(),
        room: error.room(),
        interrupted: matches!(error, EngineError::Interrupted),
    };
    let mut text = serde_json::to_vec(&outcome.map_err(failure)).unwrap_or_default();
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
