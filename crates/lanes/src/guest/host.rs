//! A running guest, seen from the host.

use super::initramfs;
use super::kernel::GuestKind;
use super::machine::Machine;
use super::protocol::{Answer, Answered, Ask, Asked, Hello};
use super::talk::{self, AgentReply, Shared, Writer};
use crate::failure::{LaneFailure, cannot, failed};
use rustix::process::{Pid, Signal, kill_process};
use std::ffi::OsString;
use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How long a guest may take until it listens; emulation on a busy machine is slow.
const BOOT_PATIENCE: [(GuestKind, Duration); 2] =
    [(GuestKind::Uml, Duration::from_secs(30)), (GuestKind::Qemu, Duration::from_secs(120))];
/// How long it may take to answer: an unmount writes all that is dirty.
const ANSWER_PATIENCE: Duration = Duration::from_secs(600);
/// How long a guest that was told to power off may take.
const END_PATIENCE: Duration = Duration::from_secs(10);
/// Lines of the console in a failure's message.
const LAST_LINES: usize = 4;

/// What it takes to start a guest.
#[derive(Debug, Clone)]
pub struct Boot {
    /// The machine.
    pub machine: Machine,
    /// A folder of its own, made here and removed by the keeper.
    pub folder: PathBuf,
    /// Fairlane's own program, which becomes the guest's first process.
    pub program: PathBuf,
    /// Modules that the lanes' filesystems need.
    pub modules: Vec<&'static str>,
    /// Programs that run in the guest, by their own paths.
    pub programs: Vec<PathBuf>,
}

/// A running guest. Dropping it kills it.
#[derive(Debug)]
pub struct Guest {
    kind: GuestKind,
    keeper: Mutex<Child>,
    writer: Mutex<Writer>,
    answers: Mutex<Receiver<Answered>>,
    serial: Mutex<u64>,
    shared: Arc<Shared>,
    hello: Hello,
    boot_seconds: f64,
}

/// The host's end of a lane's agent in a guest.
#[derive(Debug)]
pub struct AgentLink {
    /// The guest.
    pub guest: Arc<Guest>,
    /// The lane.
    pub lane: u32,
    /// What the agent answers.
    pub replies: Receiver<AgentReply>,
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Guest {
    /// Starts a guest and waits until it listens. `started` is told the process to journal as soon as there is
    /// one.
    ///
    /// # Errors
    /// [`LaneFailure::Failed`] with the kernel's last lines; [`LaneFailure::Interrupted`].
    pub fn boot(
        boot: &Boot,
        stop: &AtomicBool,
        started: &mut dyn FnMut(u32) -> Result<(), LaneFailure>,
    ) -> Result<Guest, LaneFailure> {
        let kind = boot.machine.kind;
        let patience = BOOT_PATIENCE.iter().find(|(of, _)| *of == kind).map_or(END_PATIENCE, |of| of.1);
        Guest::boot_within(boot, patience, stop, started)
    }

    /// [`Guest::boot`] with a patience of its own.
    ///
    /// # Errors
    /// As there.
    pub fn boot_within(
        boot: &Boot,
        patience: Duration,
        stop: &AtomicBool,
        started: &mut dyn FnMut(u32) -> Result<(), LaneFailure>,
    ) -> Result<Guest, LaneFailure> {
        let begun = Instant::now();
        let Boot { machine, folder, program, modules, programs } = boot;
        check_memory(machine)?;
        // It must not be there: nobody else's folder is taken.
        let made = DirBuilder::new().mode(0o700).create(folder);
        made.map_err(|error| cannot(format!("make {}", folder.display()), error))?;
        let initramfs = folder.join("initramfs");
        initramfs::write(&initramfs, machine, program, modules, programs)
            .map_err(|error| cannot("make the guest's memory image", error))?;
        let command = machine.command(&initramfs, folder)?;
        let mut child = start_keeper(program, folder, &command, machine.kind == GuestKind::Uml)?;
        let pipes = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let (Some(to), Some(from), Some(console)) = pipes else {
            let _ = child.kill();
            return Err(failed("the guest has no channel"));
        };
        let shared = Arc::new(Shared::default());
        let answers = talk::listen(from, console, &shared).map_err(|error| cannot("start a thread", error))?;
        let mut guest = Guest {
            kind: machine.kind,
            writer: Mutex::new(Writer::new(to)),
            answers: Mutex::new(answers),
            serial: Mutex::new(0),
            shared,
            hello: Hello::default(),
            boot_seconds: 0.0,
            keeper: Mutex::new(child),
        };
        started(guest.pid())?;
        if !guest.shared.wait_until_ready(patience, &|| stop.load(Ordering::Relaxed)) {
            if stop.load(Ordering::Relaxed) {
                return Err(LaneFailure::Interrupted);
            }
            let waited = match guest.shared.is_gone() {
                true => String::new(),
                false => format!(" within {} s", patience.as_secs()),
            };
            guest.kill();
            return Err(failed(format!(
                "the {} guest did not start{waited} ({}): {}",
                machine.kind.venue(),
                machine.kernel.path.display(),
                guest.last_words()
            )));
        }
        match guest.ask(&Ask::Hello, stop)? {
            Answer::Hello(hello) => guest.hello = hello,
            other => return Err(failed(format!("the guest answered {other:?} when it was greeted"))),
        }
        guest.boot_seconds = begun.elapsed().as_secs_f64();
        Ok(guest)
    }

    /// Which kind it is.
    pub fn kind(&self) -> GuestKind {
        self.kind
    }

    /// What it said of itself.
    pub fn hello(&self) -> &Hello {
        &self.hello
    }

    /// Seconds from the first byte of its memory image to its first answer.
    pub fn boot_seconds(&self) -> f64 {
        self.boot_seconds
    }

    /// The keeper's process, which leads the session that all of the guest lives in.
    pub fn pid(&self) -> u32 {
        locked(&self.keeper).id()
    }

    /// Whether it still listens.
    pub fn lives(&self) -> bool {
        !self.shared.is_gone()
    }

    /// Asks and waits for the answer.
    ///
    /// # Errors
    /// What the guest refuses, or [`LaneFailure::Failed`] where it is gone, with the kernel's last lines.
    pub fn ask(&self, ask: &Ask, stop: &AtomicBool) -> Result<Answer, LaneFailure> {
        let serial = {
            let mut serial = locked(&self.serial);
            *serial += 1;
            *serial
        };
        let line = serde_json::to_string(&Asked { serial, ask: ask.clone() })
            .map_err(|error| failed(format!("a request cannot be written: {error}")))?;
        self.send(&format!("A {line}")).map_err(|_| self.gone())?;
        let begun = Instant::now();
        let answers = locked(&self.answers);
        loop {
            match answers.recv_timeout(Duration::from_millis(20)) {
                Ok(answered) if answered.serial != serial => {}
                Ok(Answered { answer: Answer::Refused { kind, reason }, .. }) => return Err(kind.failure(reason)),
                Ok(answered) => return Ok(answered.answer),
                Err(RecvTimeoutError::Disconnected) => return Err(self.gone()),
                Err(RecvTimeoutError::Timeout) if begun.elapsed() > ANSWER_PATIENCE => {
                    self.kill();
                    return Err(failed("the guest did not answer for ten minutes and was ended"));
                }
                // What it does cannot be taken back, so it is waited for, but not for ever.
                Err(RecvTimeoutError::Timeout) if stop.load(Ordering::Relaxed) && begun.elapsed() > END_PATIENCE => {
                    return Err(LaneFailure::Interrupted);
                }
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
    }

    /// Starts the agent of a lane.
    ///
    /// # Errors
    /// As [`Guest::ask`].
    pub fn start_agent(self: &Arc<Self>, lane: u32, stop: &AtomicBool) -> Result<AgentLink, LaneFailure> {
        // One that is left from before ends first, so that its end is not taken for the new one's.
        self.ask(&Ask::End { lane }, stop)?;
        let replies = self.shared.listen(lane);
        self.ask(&Ask::Start { lane }, stop)?;
        Ok(AgentLink { guest: self.clone(), lane, replies })
    }

    /// Hands a line to the agent of a lane.
    ///
    /// # Errors
    /// When the guest is gone.
    pub fn tell_agent(&self, lane: u32, line: &str) -> Result<(), LaneFailure> {
        self.send(&format!("L{lane} {line}")).map_err(|_| self.gone())
    }

    fn send(&self, line: &str) -> std::io::Result<()> {
        locked(&self.writer).line(line, &self.shared)
    }

    /// The sentence for a guest that is not there any more.
    pub fn gone(&self) -> LaneFailure {
        failed(format!("the {} guest died: {}", self.kind.venue(), self.last_words()))
    }

    /// How it ended and what its kernel said last.
    fn last_words(&self) -> String {
        // The console is read by a thread of its own: what is under way arrives.
        self.shared.wait_until_gone(Duration::from_millis(500));
        std::thread::sleep(Duration::from_millis(100));
        let status = locked(&self.keeper).try_wait().ok().flatten();
        let console = self.shared.console();
        let tells = |line: &&String| {
            ["panic", "Out of memory", "oom-kill", "BUG:", "Oops", "VFS:", "fairlane-guest:"]
                .iter()
                .any(|word| line.contains(word))
        };
        let telling: Vec<&String> = console.iter().filter(tells).collect();
        let last: Vec<&String> = match telling.is_empty() {
            true => console.iter().rev().take(LAST_LINES).rev().collect(),
            false => telling.into_iter().take(LAST_LINES).collect(),
        };
        let said = last.iter().map(|line| line.as_str()).collect::<Vec<_>>().join(" | ");
        let status = status.map_or_else(String::new, |status| format!("{status}; "));
        match said.is_empty() {
            true => format!("{status}its kernel said nothing"),
            false => format!("{status}its kernel said: {said}"),
        }
    }

    /// The guest's clock beside the host's: (host, guest) in seconds, and by how much they may be apart
    /// because the question took so long.
    ///
    /// # Errors
    /// As [`Guest::ask`].
    pub fn clocks(&self, stop: &AtomicBool) -> Result<Clocks, LaneFailure> {
        let host = || {
            let now = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
            now.tv_sec as f64 + now.tv_nsec as f64 * 1e-9
        };
        let before = host();
        let answer = self.ask(&Ask::Clock, stop)?;
        let after = host();
        match answer {
            Answer::Clock { nanoseconds } => Ok(Clocks {
                host_seconds: (before + after) / 2.0,
                guest_seconds: nanoseconds as f64 * 1e-9,
                doubt_seconds: (after - before) / 2.0,
            }),
            other => Err(failed(format!("the guest answered {other:?} when it was asked for its clock"))),
        }
    }

    /// Powers it off and waits for its end; kills it where it takes too long.
    pub fn end(&self) {
        if self.lives() {
            let _ = self.ask(&Ask::PowerOff, &AtomicBool::new(true));
            self.shared.wait_until_gone(END_PATIENCE);
        }
        self.kill();
    }

    /// Ends the keeper, and with it every process of the guest.
    pub fn kill(&self) {
        let mut keeper = locked(&self.keeper);
        if let Ok(None) = keeper.try_wait() {
            let begun = Instant::now();
            // It reaps and tidies up before it ends.
            let _ = kill_process(Pid::from_child(&keeper), Signal::TERM);
            while let Ok(None) = keeper.try_wait() {
                if begun.elapsed() > END_PATIENCE {
                    let _ = keeper.kill();
                    let _ = keeper.wait();
                    return;
                }
                std::thread::sleep(Duration::from_millis(5));
            }
        }
    }
}

impl Drop for Guest {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Two clocks at one moment.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Clocks {
    /// The host's monotonic clock.
    pub host_seconds: f64,
    /// The guest's.
    pub guest_seconds: f64,
    /// By how much they may be apart in time.
    pub doubt_seconds: f64,
}

impl Clocks {
    /// By which share the guest's clock ran fast (or, below 0, slow) since an earlier moment, as far as the
    /// doubt leaves any; `None`: too little time passed to tell.
    pub fn drift_since(&self, earlier: &Clocks) -> Option<f64> {
        let host = self.host_seconds - earlier.host_seconds;
        let guest = self.guest_seconds - earlier.guest_seconds;
        let doubt = self.doubt_seconds + earlier.doubt_seconds;
        if host < 0.1 {
            return None;
        }
        let apart = guest - host;
        Some(apart.signum() * (apart.abs() - doubt).max(0.0) / host)
    }
}

/// The keeper is this program too; it leads a session of its own, so that what is left of a guest can be found.
fn start_keeper(program: &Path, folder: &Path, command: &[String], apart: bool) -> Result<Child, LaneFailure> {
    let mut keeper = Command::new(program);
    let me = rustix::process::getpid();
    let mut arguments: Vec<OsString> =
        [OsString::from("guest-keeper"), std::process::id().to_string().into(), folder.into()].into();
    arguments.extend(apart.then(|| OsString::from("--apart")));
    arguments.push("--".into());
    keeper
        .args(arguments)
        .args(command)
        // User-mode Linux panics without it, and keeps its memory in a deleted file there.
        .env("HOME", folder)
        .env("TMPDIR", "/dev/shm")
        .env("LC_ALL", "C")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    if let Some(libraries) = command.first().and_then(|program| crate::command::library_path(Path::new(program))) {
        keeper.env("LD_LIBRARY_PATH", libraries);
    }
    // SAFETY: between fork and exec only async-signal-safe calls are made: setsid, prctl, getppid.
    unsafe {
        keeper.pre_exec(move || {
            rustix::process::setsid()?;
            rustix::process::set_parent_process_death_signal(Some(Signal::TERM))?;
            match rustix::process::getppid() == Some(me) {
                true => Ok(()),
                false => Err(std::io::Error::other("the parent is gone")),
            }
        });
    }
    keeper.spawn().map_err(|error| cannot("start the guest's keeper", error))
}

/// User-mode Linux that finds no memory behind its own reports false disk errors.
fn check_memory(machine: &Machine) -> Result<(), LaneFailure> {
    if machine.kind != GuestKind::Uml {
        return Ok(());
    }
    let Ok(room) = rustix::fs::statvfs("/dev/shm") else {
        return Err(failed("there is no /dev/shm, where user-mode Linux keeps its memory; mount a tmpfs there"));
    };
    let free = room.f_bavail * room.f_frsize;
    if free < machine.memory.get() {
        return Err(failed(format!(
            "/dev/shm has {} free and the guest's memory needs {}; free some or lower --guest-memory",
            model::units::human_bytes(free as f64),
            machine.memory
        )));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_drift_is_what_the_doubt_cannot_explain() {
        let at = |host_seconds: f64, guest_seconds: f64| Clocks { host_seconds, guest_seconds, doubt_seconds: 0.01 };
        let drift = |guest: f64| at(110.0, guest).drift_since(&at(100.0, 5.0));
        assert_eq!(drift(15.0), Some(0.0));
        assert_eq!(drift(15.015), Some(0.0));
        assert!(drift(15.12).is_some_and(|drift| (drift - 0.01).abs() < 1e-9));
        assert!(drift(14.88).is_some_and(|drift| (drift + 0.01).abs() < 1e-9));
        assert_eq!(at(100.05, 5.05).drift_since(&at(100.0, 5.0)), None);
    }
}
