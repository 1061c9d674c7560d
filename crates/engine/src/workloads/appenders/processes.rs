//! Writers that are processes: started by `fork`, ready before any begins, ended and reaped whatever happens.

use super::schedule::{Members, Schedule};
use super::shared_counters::{Action, Fault, Role, SharedCounters};
use super::worker::{Files, Shape, Worker};
use crate::clock::{Clock, nanoseconds};
use crate::error::EngineError;
use crate::workers::{Process, Usage, end_naps_on_time};
use crate::workloads::heed;
use model::agent::Room;
use model::appenders::{Appenders, AppendersMethod};
use rustix::fs::{Mode, OFlags, openat};
use std::os::fd::{BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// From one look at processes to the next.
const PAUSE: Duration = Duration::from_millis(2);
/// So often it is looked whether one of those that are not ready is gone.
const LOOK: Duration = Duration::from_millis(200);
/// How long they may take to become ready, each, and at least all together.
const READY_EACH: Duration = Duration::from_millis(50);
const READY_LEAST: Duration = Duration::from_secs(60);
/// How long each file may take to be opened: a disk that has to look for its inode.
const OPEN_EACH: Duration = Duration::from_millis(10);
/// How long each process may take to be started.
const START_EACH: Duration = Duration::from_millis(5);
/// How long after the work was given up a process may take to end.
const END: Duration = Duration::from_secs(60);

/// Processes of appenders. Those that are left are killed and reaped when it is dropped.
#[derive(Debug, Default)]
pub(super) struct Crowd {
    left: Vec<Process>,
    /// Of those that have ended the ones that did not end by their own will.
    lost: usize,
}

/// How long so many processes, readers beside them, may take to open their files and become ready.
pub(super) fn ready_patience(appenders: &Appenders, carriers: u32) -> Duration {
    let processes = carriers.saturating_add(appenders.readers);
    READY_LEAST.max(READY_EACH * processes) + opening(appenders)
}

/// How long the files that stay open may take to be opened.
fn opening(appenders: &Appenders) -> Duration {
    let files = if appenders.reopen { 0 } else { appenders.files_of_all() };
    OPEN_EACH * u32::try_from(files).unwrap_or(u32::MAX)
}

/// How long a window of appenders may take beside its warm-up and its measured seconds before the engine itself
/// gives it up: files are opened, processes start, become ready and end, and what was due is still done for a
/// while. Whoever waits for the engine waits longer than this.
pub fn allowance(appenders: &Appenders) -> Duration {
    // Multiplexed writers may become processes too, at most one each.
    let processes = match appenders.method {
        AppendersMethod::Processes => appenders.writers,
        AppendersMethod::Multiplexed => appenders.writers.min(super::limits::MOST_CARRIERS),
    };
    let starting = START_EACH * processes.saturating_add(appenders.readers);
    let (period, window) = (nanoseconds(appenders.period_seconds), nanoseconds(appenders.seconds));
    let lead = Duration::from_nanos(super::LEAD_NS + super::LEAD_EACH_NS * u64::from(appenders.writers.min(20_000)));
    starting + ready_patience(appenders, processes) + lead + Duration::from_nanos(super::grace_ns(period, window)) + END
}

/// What a process needs to know.
#[derive(Clone, Copy)]
pub(super) struct Setup<'a> {
    pub(super) board: &'a SharedCounters,
    pub(super) shape: &'a Shape,
    /// The directory of the appenders; `None`: nothing is written.
    pub(super) top: Option<BorrowedFd<'a>>,
}

/// Members and the processes among which they are dealt out.
#[derive(Debug, Clone, Copy)]
pub(super) struct Deal {
    pub(super) hands: u32,
    pub(super) members: u32,
}

impl Deal {
    /// One process for each member.
    pub(super) fn one_each(members: u32) -> Self {
        Deal { hands: members, members }
    }

    /// The members of one of the processes.
    fn members(self, number: u32) -> impl Iterator<Item = u32> {
        (number..self.members).step_by(self.hands.max(1) as usize)
    }
}

impl Crowd {
    /// Starts so many processes, among which all members are dealt out in turns; as many as members: one each.
    pub(super) fn start(
        &mut self,
        ground: Setup<'_>,
        role: Role,
        deal: Deal,
        schedule: Schedule,
        stop: &AtomicBool,
    ) -> Result<(), EngineError> {
        let count = deal.hands;
        let files = ground.top.map_or(Files::Nowhere, Files::Named);
        // Only children take it.
        let mut hand = Some(Worker::new(ground.board, ground.shape, role, files, schedule.period_ns()));
        // The clock is compared with the kernel's before there are processes.
        let _ = Clock::get();
        for number in 0..count {
            if number % 64 == 0 {
                heed(stop)?;
            }
            let mut members = Members::new(schedule, deal.members(number));
            let work = || {
                if let Some(hand) = hand.take() {
                    child(ground, role, (deal, number), &mut members, hand);
                }
            };
            self.left.push(Process::fork(work).map_err(|error| not_started(number, count, &error))?);
        }
        drop(hand);
        Ok(())
    }

    /// Waits until all are ready, but no longer than this.
    pub(super) fn wait_ready(
        &mut self,
        board: &SharedCounters,
        stop: &AtomicBool,
        patience: Duration,
    ) -> Result<(), EngineError> {
        let all = self.left.len();
        let begun = Instant::now();
        let mut looked = begun;
        while (board.ready() as usize) < all {
            heed(stop)?;
            if board.fault().is_some() {
                return Ok(());
            }
            if looked.elapsed() > LOOK {
                looked = Instant::now();
                self.reap();
                if self.left.len() < all && board.fault().is_none() {
                    return Err(gone(all - self.left.len(), all));
                }
            }
            if begun.elapsed() > patience {
                return Err(EngineError::Unsuitable(format!(
                    "only {} of {all} processes were ready after {} s; the machine is too slow for so many, lower \
                     writers",
                    board.ready(),
                    patience.as_secs()
                )));
            }
            std::thread::sleep(PAUSE);
        }
        Ok(())
    }

    /// Lets all begin. The times stand on the board.
    pub(super) fn open_gate(board: &SharedCounters) {
        board.gate().store(1, Ordering::Release);
        // SAFETY: the address is that of a live atomic; the call reads no other memory.
        unsafe { libc::syscall(libc::SYS_futex, board.gate().as_ptr(), libc::FUTEX_WAKE, libc::c_int::MAX) };
    }

    /// Waits for the end of all of them, which have no more to do; kills them where the work is stopped.
    pub(super) fn end(&mut self, board: &SharedCounters, stop: &AtomicBool) -> Result<(), EngineError> {
        let (clock, give_up) = (Clock::get(), board.times().give_up);
        let patience = Duration::from_nanos(give_up.saturating_sub(clock.now())) + END;
        let begun = Instant::now();
        loop {
            self.reap();
            if self.lost > 0 && board.fault().is_none() {
                return Err(lost(self.lost));
            }
            if self.left.is_empty() {
                return Ok(());
            }
            heed(stop)?;
            if board.is_stopped() {
                // Something failed: nobody does anything useful any more.
                self.kill();
                return Ok(());
            }
            if begun.elapsed() > patience {
                return Err(EngineError::Unsuitable(format!(
                    "{} processes did not end {} s after their work was over; look at the kernel's log (dmesg)",
                    self.left.len(),
                    patience.as_secs()
                )));
            }
            std::thread::sleep(PAUSE);
        }
    }

    /// Takes leave of those that have ended.
    fn reap(&mut self) {
        let lost = &mut self.lost;
        self.left.retain(|process| {
            let ended = process.has_ended();
            *lost += usize::from(ended && process.wait().is_some_and(|status| status.exit_status() != Some(0)));
            !ended
        });
    }

    fn kill(&mut self) {
        // All of them before the first is waited for.
        self.left.iter().for_each(Process::kill);
        self.left.clear();
    }
}

impl Drop for Crowd {
    fn drop(&mut self) {
        self.kill();
    }
}

/// This thread comes before all others while it lives, where that is allowed: it sleeps nearly all the time.
pub(super) struct Urgent {
    raised: bool,
}

impl Urgent {
    pub(super) fn begin() -> Self {
        Urgent { raised: schedule_as(libc::SCHED_FIFO, 1) }
    }
}

impl Drop for Urgent {
    fn drop(&mut self) {
        if self.raised {
            schedule_as(libc::SCHED_OTHER, 0);
        }
    }
}

fn schedule_as(policy: libc::c_int, priority: libc::c_int) -> bool {
    // SAFETY: the structure is plain numbers, zeros among them valid, and the call reads it alone; 0 is this thread.
    unsafe {
        let mut parameters: libc::sched_param = std::mem::zeroed();
        parameters.sched_priority = priority;
        libc::sched_setscheduler(0, policy, &parameters) == 0
    }
}

/// A process from its beginning to its end.
fn child(ground: Setup<'_>, role: Role, (deal, number): (Deal, u32), members: &mut Members, hand: Worker<'_>) {
    let Setup { board, shape, top } = ground;
    // Seen in ps and in the list of tasks.
    let _ = rustix::thread::set_name(if role == Role::Writer { c"fairlane-writer" } else { c"fairlane-reader" });
    end_naps_on_time();
    let mut own = Vec::new();
    if let (Role::Writer, Some(top), false) = (role, top, shape.reopen) {
        match open_own(shape, top, deal.members(number)) {
            Ok(files) => own = files,
            Err((member, file, errno)) => {
                let errno = errno.raw_os_error();
                return board.fail(Fault { action: Action::Open, errno, member, file });
            }
        }
    }
    board.is_ready();
    while board.gate().load(Ordering::Acquire) == 0 {
        // SAFETY: the address is that of a live atomic. It returns at once where the gate is open already.
        unsafe {
            libc::syscall(
                libc::SYS_futex,
                board.gate().as_ptr(),
                libc::FUTEX_WAIT,
                0,
                std::ptr::null::<libc::timespec>(),
            )
        };
    }
    let mut hand = if own.is_empty() { hand } else { hand.with_files(Files::Own(deal.hands, &own)) };
    let mut before = None;
    hand.work(members, || before = Some(Usage::now()));
    if let Some(before) = before {
        let used = Usage::now().since(before);
        board.add_cpu(used.user_ns, used.system_ns);
    }
    // Thousands that end while others are still at work would be measured with them.
    let (clock, to) = (Clock::get(), board.times().to);
    while !board.is_stopped() {
        match to.saturating_sub(clock.now()) {
            0 => return,
            left => std::thread::sleep(Duration::from_nanos(left)),
        }
    }
}

/// Opens the files of these writers, or says at which file of which one it failed.
fn open_own(
    shape: &Shape,
    top: BorrowedFd<'_>,
    writers: impl Iterator<Item = u32>,
) -> Result<Vec<OwnedFd>, (u32, u32, rustix::io::Errno)> {
    let mut name = super::names::Name::new();
    let open = |(writer, file): (u32, u32)| {
        shape.name(&mut name, writer, file);
        let flags = OFlags::WRONLY | OFlags::APPEND | OFlags::CLOEXEC;
        openat(top, name.as_c_str(), flags, Mode::empty()).map_err(|errno| (writer, file, errno))
    };
    writers.flat_map(|writer| (0..shape.files).map(move |file| (writer, file))).map(open).collect()
}

fn not_started(member: u32, count: u32, error: &std::io::Error) -> EngineError {
    EngineError::Worker {
        message: format!(
            "cannot start process {} of {count}: {error}; raise the limit of processes (ulimit -u, sysctl kernel.pid_max, \
             pids.max of the control group) or lower writers",
            member + 1
        ),
        errno: error.raw_os_error(),
        corrupt: false,
        room: Room::Enough,
    }
}

fn lost(count: usize) -> EngineError {
    EngineError::worker(format!(
        "{count} processes of the appenders were killed at work; was memory short? See the kernel's log"
    ))
}

fn gone(count: usize, all: usize) -> EngineError {
    EngineError::worker(format!(
        "{count} of {all} processes ended before they began; was memory short? See the kernel's log"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_allowance_holds_every_wait_of_the_engine_itself() {
        let appenders = |text: &str| -> Appenders {
            toml::from_str(&format!("period_seconds = 60.0\nseconds = 180.0\n{text}")).unwrap()
        };
        for text in [
            "writers = 4000\nmethod = \"processes\"",
            "writers = 100000\nmethod = \"processes\"\nreopen = true",
            "writers = 20000\nreaders = 50",
            "writers = 1",
        ] {
            let appenders = appenders(text);
            let processes = if appenders.method == AppendersMethod::Processes { appenders.writers } else { 0 };
            let grace = Duration::from_secs(10);
            let all = ready_patience(&appenders, processes) + grace + END;
            assert!(allowance(&appenders) >= all, "{text}: {:?} of {all:?}", allowance(&appenders));
            assert!(ready_patience(&appenders, processes) >= READY_LEAST.max(READY_EACH * processes), "{text}");
        }
        // Opening takes a slow disk its time, also where few processes share the files.
        let (kept, reopened) = (appenders("writers = 20000"), appenders("writers = 20000\nreopen = true"));
        assert_eq!(ready_patience(&kept, 8) - ready_patience(&reopened, 8), OPEN_EACH * 80_000);
    }
}
