//! One agent, a child process or a process in a guest: requests out, replies in, and never a hang on Ctrl-C.

use super::timeouts::{self, TimeAllowance};
use lanes::guest::protocol::{Ask, TRACE};
use lanes::guest::{AgentLink, Guest};
use model::agent::{Reply, Request, Room};
use model::kinds::replay::Replay;
use model::workload::{Kind, Workload};
use std::borrow::Cow;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

/// How long an agent that was asked to stop may take before it is killed.
pub const GRACE: Duration = Duration::from_millis(1500);
/// How long is waited for a reply before anything else is looked at.
const GLANCE: Duration = Duration::from_millis(20);

/// A running agent.
pub struct AgentProcess {
    place: Location,
    replies: Receiver<Result<Reply, String>>,
}

/// Where it runs.
enum Location {
    /// A child process of ours.
    Here { child: Child, stdin: Option<ChildStdin> },
    /// A process in a guest, reached through the guest's channel.
    Guest { guest: Arc<Guest>, lane: u32 },
}

/// Why a request was not answered with success.
#[derive(Debug)]
pub enum CallError {
    /// The agent could not do it and goes on.
    Refused(String),
    /// The filesystem lacks what was asked of it; the agent goes on.
    Unsupported {
        /// One sentence.
        reason: String,
        /// What the kernel or the library answered.
        errno: Option<i32>,
    },
    /// The agent is gone or answers nonsense.
    Lost(String),
    /// What was read is not what was written.
    Corrupt(String),
    /// Ctrl-C or SIGTERM.
    Interrupted,
    /// What carries the race is gone: the job whose ranks work.
    JobLost(String),
}

impl AgentProcess {
    /// Starts an agent: this same program, which dies with its parent.
    ///
    /// # Errors
    /// When the process cannot be started or does not answer.
    pub fn start(stop: &AtomicBool) -> Result<Self, CallError> {
        let (parent, carrier) = (rustix::process::getpid(), engine::carrier::socket());
        // The link, not its target: the file may be replaced by a new build while a race runs.
        let mut command = Command::new("/proc/self/exe");
        command.arg("agent").stdin(Stdio::piped()).stdout(Stdio::piped()).process_group(0);
        // SAFETY: the closure runs between fork and exec and makes only the async-signal-safe
        // system calls prctl, fcntl and getppid; it allocates nothing.
        unsafe {
            command.pre_exec(move || {
                rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::KILL))?;
                if let Some(carrier) = carrier {
                    rustix::io::fcntl_setfd(carrier, rustix::io::FdFlags::empty())?;
                }
                match rustix::process::getppid() == Some(parent) {
                    true => Ok(()),
                    false => Err(rustix::io::Errno::SRCH.into()),
                }
            });
        }
        let mut child = command.spawn().map_err(|error| CallError::Lost(format!("cannot start the agent: {error}")))?;
        let stdin = child.stdin.take();
        let stdout = child.stdout.take().ok_or_else(|| CallError::Lost("the agent has no output".to_owned()))?;
        let (sender, replies) = channel();
        std::thread::Builder::new()
            .name("agent-replies".to_owned())
            .stack_size(256 * 1024)
            .spawn(move || {
                for line in BufReader::new(stdout).lines() {
                    let reply = line
                        .map_err(|error| error.to_string())
                        .and_then(|line| Reply::from_line(&line).map_err(|error| format!("{error}: {line}")));
                    if sender.send(reply).is_err() {
                        return;
                    }
                }
            })
            .map_err(|error| CallError::Lost(format!("cannot start a thread: {error}")))?;
        AgentProcess { place: Location::Here { child, stdin }, replies }.greeted(stop)
    }

    /// The agent that was started in a guest.
    ///
    /// # Errors
    /// When it does not answer.
    pub fn in_guest(link: AgentLink, stop: &AtomicBool) -> Result<Self, CallError> {
        let AgentLink { guest, lane, replies } = link;
        AgentProcess { place: Location::Guest { guest, lane }, replies }.greeted(stop)
    }

    fn greeted(mut self, stop: &AtomicBool) -> Result<Self, CallError> {
        match self.call(&Request::Hello, stop)? {
            Reply::Hello { .. } => Ok(self),
            other => Err(unexpected(&Request::Hello, &other)),
        }
    }

    /// Sends a request and waits for its reply. While it waits it watches for Ctrl-C.
    ///
    /// # Errors
    /// See [`CallError`].
    pub fn call(&mut self, request: &Request, stop: &AtomicBool) -> Result<Reply, CallError> {
        self.call_with(request, stop, None, &mut || {}, &mut || {})
    }

    /// As [`AgentProcess::call`], with more patience; `stopping` is called once where the agent is asked
    /// to stop, `waiting` every few milliseconds until the answer is there.
    ///
    /// # Errors
    /// See [`CallError`].
    pub fn call_with(
        &mut self,
        request: &Request,
        stop: &AtomicBool,
        slack: Option<&TimeAllowance>,
        stopping: &mut dyn FnMut(),
        waiting: &mut dyn FnMut(),
    ) -> Result<Reply, CallError> {
        self.ask(request)?;
        let patience = timeouts::timeout_for(request, slack);
        // What its kernel prints from here on tells why it ends.
        let printed = match &self.place {
            Location::Guest { guest, .. } => guest.console_count(),
            Location::Here { .. } => 0,
        };
        let begun = Instant::now();
        let mut asked_to_stop: Option<Instant> = None;
        loop {
            match self.replies.recv_timeout(GLANCE) {
                Ok(Ok(reply)) => return checked(reply, stop),
                Ok(Err(reason)) if let Location::Guest { guest, .. } = &self.place => {
                    let said = guest.said_since(printed).map_or_else(String::new, |said| format!("; {said}"));
                    return Err(CallError::Lost(format!("{reason}{said}")));
                }
                Ok(Err(reason)) => return Err(CallError::Lost(format!("the agent's reply cannot be read: {reason}"))),
                Err(RecvTimeoutError::Disconnected) => return Err(self.ended()),
                Err(RecvTimeoutError::Timeout) if self.guest_is_gone() => return Err(self.ended()),
                Err(RecvTimeoutError::Timeout) if begun.elapsed() > patience => {
                    // It may hang in the kernel, where no signal reaches it, perhaps behind its own limit.
                    stopping();
                    self.kill(false);
                    return Err(CallError::Lost(format!(
                        "the lane did not answer for {}{}; look at the kernel's log (dmesg)",
                        model::units::human_seconds(patience.as_secs_f64()),
                        slack.map_or_else(String::new, TimeAllowance::words)
                    )));
                }
                Err(RecvTimeoutError::Timeout) if !stop.load(Ordering::Relaxed) => waiting(),
                Err(RecvTimeoutError::Timeout) => match asked_to_stop {
                    None => {
                        stopping();
                        self.ask_to_stop();
                        asked_to_stop = Some(Instant::now());
                    }
                    Some(at) if at.elapsed() > GRACE => {
                        self.kill(true);
                        return Err(CallError::Interrupted);
                    }
                    Some(_) => {}
                },
            }
        }
    }

    /// Sends a request and waits for nothing.
    ///
    /// # Errors
    /// [`CallError::Lost`].
    pub fn ask(&mut self, request: &Request) -> Result<(), CallError> {
        let line = self.as_understood(request).to_line().map_err(|error| CallError::Lost(error.to_string()))?;
        self.send(line)
    }

    /// The reply to what was asked, as far as it comes within a glance: as it is, a refusal too.
    ///
    /// # Errors
    /// [`CallError::Lost`].
    pub fn glance(&mut self) -> Result<Option<Reply>, CallError> {
        match self.replies.recv_timeout(GLANCE) {
            Ok(Ok(reply)) => Ok(Some(reply)),
            Ok(Err(reason)) => Err(CallError::Lost(format!("the agent's reply cannot be read: {reason}"))),
            Err(RecvTimeoutError::Disconnected) => Err(self.ended()),
            Err(RecvTimeoutError::Timeout) => Ok(None),
        }
    }

    /// A request as the agent's own place has it: in a guest the trace lies elsewhere.
    fn as_understood<'a>(&self, request: &'a Request) -> Cow<'a, Request> {
        match (&self.place, request) {
            (Location::Guest { .. }, Request::Prepare { workload, seed, clients })
                if let Kind::Replay(replay) = &workload.kind =>
            {
                let there = Box::new(Replay { trace: PathBuf::from(TRACE), ..(**replay).clone() });
                let workload = Workload { kind: Kind::Replay(there), ..workload.clone() };
                Cow::Owned(Request::Prepare { workload, seed: *seed, clients: *clients })
            }
            _ => Cow::Borrowed(request),
        }
    }

    fn send(&mut self, mut line: String) -> Result<(), CallError> {
        match &mut self.place {
            Location::Here { stdin, .. } => {
                line.push('\n');
                let stdin = stdin.as_mut().ok_or_else(|| CallError::Lost("the agent was ended".to_owned()))?;
                stdin
                    .write_all(line.as_bytes())
                    .and_then(|()| stdin.flush())
                    .map_err(|error| CallError::Lost(format!("the agent is gone: {error}")))
            }
            Location::Guest { guest, lane } => {
                guest.tell_agent(*lane, &line).map_err(|error| CallError::Lost(error.to_string()))
            }
        }
    }

    /// Whether it runs in a guest that does not live any more, though something may hold its channel open.
    fn guest_is_gone(&self) -> bool {
        matches!(&self.place, Location::Guest { guest, .. } if !guest.lives())
    }

    /// Why nothing more comes from it.
    fn ended(&mut self) -> CallError {
        CallError::Lost(match &mut self.place {
            Location::Here { child, .. } => {
                let status = child.wait().map_or_else(|error| error.to_string(), |status| status.to_string());
                format!("the agent ended by itself ({status})")
            }
            Location::Guest { guest, .. } if guest.lives() => "the agent ended in its guest".to_owned(),
            Location::Guest { guest, .. } => guest.gone().to_string(),
        })
    }

    /// Asks it to end what it does; it answers that with a refusal.
    pub fn ask_to_stop(&self) {
        match &self.place {
            Location::Here { child, .. } => {
                if let Some(pid) = i32::try_from(child.id()).ok().and_then(rustix::process::Pid::from_raw) {
                    // The child is not reaped before `wait`, so its id cannot belong to another process.
                    let _ = rustix::process::kill_process(pid, rustix::process::Signal::TERM);
                }
            }
            Location::Guest { guest, lane } => {
                let _ = guest.ask(&Ask::Stop { lane: *lane, kill: false }, &AtomicBool::new(true));
            }
        }
    }

    /// Kills it. With `wait` it gets a moment to go; one that hangs in the kernel is given up: the race goes on,
    /// and what it holds is undone once it is gone.
    pub fn kill(&mut self, wait: bool) {
        match &mut self.place {
            Location::Here { child, .. } => {
                let _ = child.kill();
                if wait {
                    self.ends_within(GRACE);
                }
            }
            Location::Guest { guest, lane } => {
                let _ = guest.ask(&Ask::Stop { lane: *lane, kill: true }, &AtomicBool::new(true));
            }
        }
    }

    /// Whether a child of ours ends in that time.
    fn ends_within(&mut self, patience: Duration) -> bool {
        let Location::Here { child, .. } = &mut self.place else { return true };
        let begun = Instant::now();
        loop {
            if matches!(child.try_wait(), Ok(Some(_)) | Err(_)) {
                return true;
            }
            if begun.elapsed() > patience {
                return false;
            }
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    /// Its process id on this machine; `None`: it runs in a guest.
    pub fn pid(&self) -> Option<u32> {
        match &self.place {
            Location::Here { child, .. } => Some(child.id()),
            Location::Guest { .. } => None,
        }
    }

    /// Ends the agent; kills it where it does not end by itself.
    pub fn end(mut self) {
        self.finish();
    }

    fn finish(&mut self) {
        match &mut self.place {
            Location::Here { stdin, .. } => {
                // Closing its input is the agent's sign to end.
                stdin.take();
                if !self.ends_within(GRACE) {
                    self.kill(true);
                }
            }
            Location::Guest { guest, lane } if guest.lives() => {
                let _ = guest.ask(&Ask::End { lane: *lane }, &AtomicBool::new(true));
            }
            Location::Guest { .. } => {}
        }
    }
}

impl Drop for AgentProcess {
    fn drop(&mut self) {
        self.finish();
    }
}

/// What a reply says, where it is no refusal.
///
/// # Errors
/// The refusal; after Ctrl-C it is that.
pub fn checked(reply: Reply, stop: &AtomicBool) -> Result<Reply, CallError> {
    match reply {
        Reply::Failed { .. } if stop.load(Ordering::Relaxed) => Err(CallError::Interrupted),
        Reply::Failed { reason, unsupported: true, errno, .. } => Err(CallError::Unsupported { reason, errno }),
        Reply::Failed { reason, corrupt: true, .. } => Err(CallError::Corrupt(reason)),
        Reply::Failed { reason, room: Room::Full, .. } => Err(CallError::Refused(format!(
            "{reason}; the lane is full: raise --lane-size, or free space where it is a directory"
        ))),
        Reply::Failed { reason, .. } => Err(CallError::Refused(reason)),
        reply => Ok(reply),
    }
}

/// A reply that does not fit its request: our mistake, but never worth a crash with lanes mounted.
pub fn unexpected(request: &Request, reply: &Reply) -> CallError {
    CallError::Lost(format!("the agent answered {request:?} with {reply:?}"))
}
