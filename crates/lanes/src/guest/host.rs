//! A running guest, seen from the host.

use super::channel::{self, AgentReply, Line, READ_PATIENCE, Shared, Writer};
use super::clocks::Clocks;
use super::initramfs::{self, CarriedTrace};
use super::kernel::GuestKind;
use super::machine::Machine;
use super::orphans;
use super::panic_log::{last_block, remedy, telling};
use super::protocol::{Answer, Answered, Ask, Asked, Hello};
use super::uml::{self, Ptrace};
use crate::failure::{LaneFailure, cannot, failed};
use model::Bytes;
use model::trial::KILLED_FROM_OUTSIDE;
use rustix::process::{Pid, Signal, kill_process};
use std::ffi::OsString;
use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How long a guest may take until it listens; emulation on a busy machine is slow.
const BOOT_PATIENCE: [(GuestKind, Duration); 2] =
    [(GuestKind::Uml, Duration::from_secs(30)), (GuestKind::Qemu, Duration::from_secs(120))];
/// How long it may take to answer what works on a disk: an unmount writes all that is dirty.
pub(crate) const ANSWER_PATIENCE: Duration = Duration::from_secs(600);
/// How long to answer what came of one lane that is tried: an emulated mkfs takes seconds.
const TRIAL_PATIENCE: Duration = Duration::from_secs(120);
/// How long to answer what only takes a look.
const LOOK_PATIENCE: Duration = Duration::from_secs(5);
/// How long to say that an agent was sent a signal.
const STOP_PATIENCE: Duration = Duration::from_secs(2);
/// Of a boot's patience so much is left for its first answer, at least.
const GREETING_PATIENCE: Duration = Duration::from_secs(1);
/// How long what a kernel printed takes until it was read.
const CONSOLE_DELAY: Duration = Duration::from_millis(100);
/// How long the console of a guest that has ended may stay open.
const SILENCE_PATIENCE: Duration = Duration::from_secs(2);
/// How long a guest that was told to power off may take.
const END_PATIENCE: Duration = Duration::from_secs(10);

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
    /// What a replay there reads.
    pub trace: Option<CarriedTrace>,
}

/// What is known of a starting guest, to be journalled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Begun {
    /// Its keeper's process.
    Keeper(u32),
    /// The session that the guest itself leads: user-mode Linux leads one of its own, and its helpers bear no other
    /// sign.
    Session(u32),
}

/// A running guest. Dropping it kills it.
#[derive(Debug)]
pub struct Guest {
    kind: GuestKind,
    folder: PathBuf,
    /// The session that the guest leads; 0: not known yet.
    session: AtomicU32,
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
        started: &mut dyn FnMut(Begun) -> Result<(), LaneFailure>,
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
        started: &mut dyn FnMut(Begun) -> Result<(), LaneFailure>,
    ) -> Result<Guest, LaneFailure> {
        let begun = Instant::now();
        let Boot { machine, folder, program, .. } = boot;
        check_memory(machine)?;
        let ptrace = match machine.kind {
            GuestKind::Uml => uml::ptrace_for(&machine.kernel, program, stop)?,
            GuestKind::Qemu => Ptrace::Libc,
        };
        // It must not be there: nobody else's folder is taken.
        let made = DirBuilder::new().mode(0o700).create(folder);
        made.map_err(|error| cannot(format!("make {}", folder.display()), error))?;
        let initramfs = folder.join("initramfs");
        initramfs::write(&initramfs, boot).map_err(|error| cannot("make the guest's memory image", error))?;
        let command = machine.command(&initramfs, folder)?;
        let keeping = match machine.kind {
            GuestKind::Uml => Keeping { apart: true, ptrace },
            GuestKind::Qemu => Keeping { apart: false, ptrace },
        };
        let mut child = start_keeper(program, folder, &command, keeping)?;
        let pipes = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let (Some(to), Some(from), Some(console)) = pipes else {
            let _ = child.kill();
            return Err(failed("the guest has no channel"));
        };
        let shared = Arc::new(Shared::default());
        let answers = channel::listen(from, console, &shared).map_err(|error| cannot("start a thread", error))?;
        let mut guest = Guest {
            kind: machine.kind,
            folder: folder.clone(),
            session: AtomicU32::new(0),
            writer: Mutex::new(Writer::new(to)),
            answers: Mutex::new(answers),
            serial: Mutex::new(0),
            shared,
            hello: Hello::default(),
            boot_seconds: 0.0,
            keeper: Mutex::new(child),
        };
        started(Begun::Keeper(guest.pid()))?;
        let mut journalled = Ok(());
        let mut watched = || {
            if let Some(session) = orphans::session_below(guest.pid())
                && guest.session.swap(session, Ordering::Relaxed) != session
            {
                journalled = started(Begun::Session(session));
            }
            stop.load(Ordering::Relaxed) || journalled.is_err()
        };
        let ready = guest.shared.wait_until_ready(patience, &mut watched);
        // It may have been ready at the first look.
        watched();
        journalled?;
        if !ready {
            if stop.load(Ordering::Relaxed) {
                return Err(LaneFailure::Interrupted);
            }
            return Err(guest.did_not_start(machine, patience));
        }
        let left = patience.saturating_sub(begun.elapsed()).max(GREETING_PATIENCE);
        match guest.ask_within(&Ask::Hello, stop, left)? {
            Answer::Hello(hello) => guest.hello = hello,
            other => return Err(failed(format!("the guest answered {other:?} when it was greeted"))),
        }
        guest.boot_seconds = begun.elapsed().as_secs_f64();
        Ok(guest)
    }

    /// Kills a guest that did not listen in time, and tells what its kernel said.
    fn did_not_start(&self, machine: &Machine, patience: Duration) -> LaneFailure {
        let waited = match self.shared.is_gone() {
            true => String::new(),
            false => format!(" within {} s", patience.as_secs()),
        };
        self.kill();
        let (status, said) = self.ended();
        let lines = last_block(&said).join(" | ");
        let whole: String = said.iter().map(|line| format!("{}\n", line.text)).collect();
        let told = if lines.is_empty() { "nothing".to_owned() } else { format!(": {lines}") };
        failed(format!(
            "the {} guest did not start{waited} ({}): {status}its kernel said{}{told}{}",
            machine.kind.venue(),
            machine.kernel.path.display(),
            if lines.is_empty() { " " } else { "" },
            remedy(machine.kind, machine.memory, &whole)
        ))
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

    /// Whether it still listens. Where its keeper is gone it does not live either: helpers of user-mode Linux
    /// hold the channel open.
    pub fn lives(&self) -> bool {
        !self.shared.is_gone() && matches!(locked(&self.keeper).try_wait(), Ok(None))
    }

    /// Ends what a keeper that was killed has left, and answers once nothing stays.
    ///
    /// # Errors
    /// Where some processes stay.
    pub fn leave_nothing(&self) -> Result<(), LaneFailure> {
        let session = Some(self.session.load(Ordering::Relaxed)).filter(|session| *session != 0);
        orphans::end(0, &self.folder, session)?;
        // The keeper's work, where there still was one.
        let _ = std::fs::remove_dir_all(&self.folder);
        Ok(())
    }

    /// Asks and waits for the answer: for what only takes a look a few seconds. A guest that does not answer in
    /// time to what changes something is ended, as is one that has not answered ten seconds after Ctrl-C.
    ///
    /// # Errors
    /// What the guest refuses, or [`LaneFailure::Failed`] where it is gone, with the kernel's last lines.
    pub fn ask(&self, ask: &Ask, stop: &AtomicBool) -> Result<Answer, LaneFailure> {
        self.ask_within(ask, stop, patience_of(ask))
    }

    fn ask_within(&self, ask: &Ask, stop: &AtomicBool, patience: Duration) -> Result<Answer, LaneFailure> {
        let serial = {
            let mut serial = locked(&self.serial);
            *serial += 1;
            *serial
        };
        let line = serde_json::to_string(&Asked { serial, ask: ask.clone() })
            .map_err(|error| failed(format!("a request cannot be written: {error}")))?;
        self.send(&format!("A {line}"), patience.min(READ_PATIENCE))?;
        let begun = Instant::now();
        let mut stopped: Option<Instant> = None;
        let answers = locked(&self.answers);
        loop {
            match answers.recv_timeout(Duration::from_millis(20)) {
                Ok(answered) if answered.serial != serial => {}
                Ok(Answered { answer: Answer::Refused { kind, reason }, .. }) => return Err(kind.failure(reason)),
                Ok(answered) => return Ok(answered.answer),
                Err(RecvTimeoutError::Disconnected) => return Err(self.gone()),
                Err(RecvTimeoutError::Timeout) if !self.lives() => return Err(self.gone()),
                Err(RecvTimeoutError::Timeout) if begun.elapsed() > patience => {
                    let waited = model::units::human_seconds(patience.as_secs_f64());
                    if patience_of(ask) <= LOOK_PATIENCE {
                        return Err(failed(format!("the guest did not answer for {waited}")));
                    }
                    self.kill();
                    return Err(failed(format!("the guest did not answer for {waited} and was ended")));
                }
                // What it does cannot be taken back, so it is waited for, but not for ever.
                Err(RecvTimeoutError::Timeout) if stop.load(Ordering::Relaxed) => {
                    if stopped.get_or_insert_with(Instant::now).elapsed() > END_PATIENCE {
                        self.kill();
                        return Err(LaneFailure::Interrupted);
                    }
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
        self.send(&format!("L{lane} {line}"), READ_PATIENCE)
    }

    fn send(&self, line: &str, patience: Duration) -> Result<(), LaneFailure> {
        let sent = locked(&self.writer).line(line, &self.shared, patience);
        match sent {
            Ok(()) => Ok(()),
            // Nothing of a short line was written.
            Err(_) if patience < READ_PATIENCE && self.lives() => Err(failed("the guest reads nothing any more")),
            Err(_) => {
                self.kill();
                Err(self.gone())
            }
        }
    }

    /// The sentence for a guest that is not there any more.
    pub fn gone(&self) -> LaneFailure {
        let (status, said) = self.ended();
        let said = telling(&said).join(" | ");
        let venue = self.kind.venue();
        failed(match said.is_empty() {
            // Whoever powers off, or has a kernel panic, says so: this end came from outside.
            true => format!("the {venue} guest died: {status}{KILLED_FROM_OUTSIDE}; its kernel said nothing of it"),
            false => format!("the {venue} guest died: {status}its kernel said: {said}"),
        })
    }

    /// How many lines its kernel printed so far.
    pub fn console_count(&self) -> u64 {
        self.shared.console_count()
    }

    /// What its kernel printed after so many lines, as the end of a sentence: why an agent of it ended.
    pub fn said_since(&self, count: u64) -> Option<String> {
        // The console is read by a thread of its own: what is under way arrives.
        std::thread::sleep(CONSOLE_DELAY);
        let lines: Vec<Line> = self.shared.console().into_iter().filter(|line| line.number > count).collect();
        let said = last_block(&lines).join(" | ");
        (!said.is_empty()).then(|| format!("its kernel said: {said}"))
    }

    /// How it ended, as the start of a sentence, and what its kernel said.
    fn ended(&self) -> (String, Vec<Line>) {
        if matches!(locked(&self.keeper).try_wait(), Ok(Some(_))) {
            // Whoever is left holds the channel open.
            let _ = self.leave_nothing();
        }
        self.shared.wait_until_gone(Duration::from_millis(500));
        // What a kernel says at its end may still be under way on a busy machine.
        self.shared.wait_until_silent(SILENCE_PATIENCE);
        std::thread::sleep(CONSOLE_DELAY);
        let status = locked(&self.keeper).try_wait().ok().flatten();
        (status.map_or_else(String::new, |status| format!("{status}; ")), self.shared.console())
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
                    break;
                }
                std::thread::sleep(Duration::from_millis(5));
            }
        }
        drop(keeper);
        // What stays all the same is told when the guest's journal entry is closed.
        let _ = self.leave_nothing();
    }
}

/// How long an answer may take.
fn patience_of(ask: &Ask) -> Duration {
    match ask {
        Ask::Hello | Ask::Clock | Ask::Activity { .. } | Ask::Watch { .. } | Ask::Look { .. } => LOOK_PATIENCE,
        Ask::Stop { .. } => STOP_PATIENCE,
        Ask::Try { .. } => TRIAL_PATIENCE,
        _ => ANSWER_PATIENCE,
    }
}

impl Drop for Guest {
    fn drop(&mut self) {
        self.kill();
    }
}

/// How a keeper starts its guest.
#[derive(Debug, Clone, Copy)]
pub(super) struct Keeping {
    /// The channel gets numbers of its own, because the guest prints on its standard output.
    pub(super) apart: bool,
    /// Whose `ptrace` it uses.
    pub(super) ptrace: Ptrace,
}

/// The keeper is this program too; it leads a session of its own, so that what is left of a guest can be found.
pub(super) fn start_keeper(
    program: &Path,
    folder: &Path,
    command: &[String],
    keeping: Keeping,
) -> Result<Child, LaneFailure> {
    let mut keeper = Command::new(program);
    let me = rustix::process::getpid();
    let mut arguments: Vec<OsString> =
        [OsString::from("guest-keeper"), std::process::id().to_string().into(), folder.into()].into();
    arguments.extend(keeping.apart.then(|| OsString::from("--apart")));
    arguments.extend((keeping.ptrace == Ptrace::Whole).then(|| OsString::from("--whole-registers")));
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
                false => Err(rustix::io::Errno::SRCH.into()),
            }
        });
    }
    keeper.spawn().map_err(|error| cannot("start the guest's keeper", error))
}

fn check_memory(machine: &Machine) -> Result<(), LaneFailure> {
    match machine.kind {
        GuestKind::Uml => check_room_for_uml(Some(machine.memory)),
        GuestKind::Qemu => Ok(()),
    }
}

/// Whether user-mode Linux has room for its memory, the usual one where none is named: with less behind it, it
/// reports false disk errors.
///
/// # Errors
/// [`LaneFailure::Failed`] with what is free.
pub fn check_room_for_uml(memory: Option<Bytes>) -> Result<(), LaneFailure> {
    let memory = memory.unwrap_or(model::lane::USUAL_GUEST_MEMORY);
    let Ok(room) = rustix::fs::statvfs("/dev/shm") else {
        return Err(failed("there is no /dev/shm, where user-mode Linux keeps its memory; mount a tmpfs there"));
    };
    let free = room.f_bavail * room.f_frsize;
    if free < memory.get() {
        return Err(failed(format!(
            "/dev/shm has {} free and the guest's memory needs {}; free some, or give it less with --guest-memory where it is raced in",
            model::units::human_bytes(free as f64),
            memory
        )));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_only_looks_is_not_waited_for_as_long_as_what_works() {
        assert_eq!(patience_of(&Ask::Clock), Duration::from_secs(5));
        assert_eq!(patience_of(&Ask::Stop { lane: 0, kill: true }), Duration::from_secs(2));
        assert_eq!(patience_of(&Ask::Unmount { target: "/lanes/00".into() }), Duration::from_secs(600));
        let lane = Box::new("ext4@uml".parse().unwrap());
        let ask = Ask::Try { lane, disks: Vec::new(), mkfs: None, fuse: None };
        assert_eq!(patience_of(&ask), Duration::from_secs(120));
    }
}
