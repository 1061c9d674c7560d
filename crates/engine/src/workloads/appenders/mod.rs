//! Writers that append small records on time: many on few threads, or a process each.
//!
//! One loop does both ([`hand`]); what it counts lies in memory that threads and processes share
//! ([`board`]). Every turn is due at a moment known in advance ([`schedule`]), and what is recorded is the time
//! from then to its end, whatever held it up.

mod backlog;
mod check;
mod harness_lag;
mod limits;
mod names;
mod processes;
mod record;
mod schedule;
mod shared_counters;
mod worker;

pub use limits::{check as check_limits, check_processes as check_process_limit};
pub use processes::allowance;

use super::{Observer, Work, heed};
use crate::beneath;
use crate::clock::{Clock, nanoseconds, seconds};
use crate::error::EngineError;
use crate::target::OpenTarget;
use crate::window::{LATENESS_P99, Window};
use crate::workers::{Threads, end_naps_on_time, sleep_while};
use backlog::Backlog;
use model::agent::Room;
use model::appenders::{Appenders, AppendersMethod};
use model::trial::Lateness;
use model::{Flag, Mark};
use names::Name;
use processes::{Crowd, Deal, Setup, Urgent};
use rustix::fs::{Mode, OFlags, fstatvfs, mkdirat, openat};
use rustix::io::Errno;
use schedule::{Members, Schedule};
use shared_counters::{Action, Fault, Role, SharedCounters, Sum, Times};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::Instant;
use worker::{Files, Shape, Worker};

/// All files lie below this directory of the target.
const TOP: &str = "fairlane-appenders";
/// From when everybody is ready to the first turn: what wakes thousands, and a little more.
const LEAD_NS: u64 = 50_000_000;
const LEAD_EACH_NS: u64 = 20_000;
/// How long after the window what was due in it is still done: a period, or this part of the window where that
/// is longer, within these bounds. A stall at the window's end is made up for as one in its middle is.
const GIVE_UP_PART: u64 = 10;
const GIVE_UP_NS: (u64, u64) = (500_000_000, 10_000_000_000);
/// Where the harness's own lateness is this share of all lateness, the harness was measured. Chosen: what is
/// left is then the smaller part.
const OWN_SHARE: f64 = 0.5;
/// Stack of a thread of the appenders.
const STACK_BYTES: usize = 256 << 10;

/// Appenders, prepared.
pub struct AppendersWork {
    appenders: Appenders,
    shape: Shape,
    board: SharedCounters,
    /// How many processes the writers are; `None`: they share threads of this one.
    carriers: Option<u32>,
    /// The open files of all writers, where they share threads and files stay open.
    files: Vec<OwnedFd>,
    notes: Vec<Flag>,
    stop: Arc<AtomicBool>,
}

impl AppendersWork {
    /// Raises limits, and makes the writers' empty files. What an interrupted race left there is removed.
    ///
    /// # Errors
    /// On a bare device; where a limit cannot be raised, or a call fails.
    pub fn prepare(
        place: &OpenTarget,
        appenders: &Appenders,
        seed: u64,
        stop: Arc<AtomicBool>,
    ) -> Result<Self, EngineError> {
        let carriers = limits::raise(appenders)?;
        let shape = Shape::new(appenders, seed);
        match place {
            // `prepare` of all workloads refuses a library by the workload's name.
            OpenTarget::Null | OpenTarget::Library(_) => {}
            OpenTarget::Device { path, .. } => {
                return Err(EngineError::Unsuitable(format!(
                    "appenders need a filesystem and {} is a bare device; name a directory",
                    model::text::escaped_path(path)
                )));
            }
            OpenTarget::Directory { path, directory } => make_files(&shape, path, directory, &stop)?,
        }
        let board = SharedCounters::new(appenders.writers, appenders.readers, appenders.files_of_all())?;
        let mut notes = Vec::new();
        if let (Some(carriers), AppendersMethod::Multiplexed) = (carriers, appenders.method) {
            notes.push(Flag::Note(format!(
                "writers-in-processes: the writers share {carriers} processes in place of threads, because one process may \
                 not have so many descriptors"
            )));
        }
        Ok(AppendersWork { appenders: appenders.clone(), shape, board, carriers, files: Vec::new(), notes, stop })
    }

    /// Opens every file of every writer, where they stay open in this process.
    fn open_files(&mut self, top: BorrowedFd<'_>, path: &Path) -> Result<(), EngineError> {
        if self.carriers.is_some() || self.appenders.reopen || !self.files.is_empty() {
            return Ok(());
        }
        let mut files = Vec::with_capacity(self.appenders.files_of_all() as usize);
        let mut name = Name::new();
        for writer in 0..self.shape.writers {
            heed(&self.stop)?;
            for file in 0..self.shape.files {
                self.shape.name(&mut name, writer, file);
                let flags = OFlags::WRONLY | OFlags::APPEND | OFlags::CLOEXEC;
                let opened = openat(top, name.as_c_str(), flags, Mode::empty())
                    .map_err(|errno| worded("open", &name.path(path), errno.raw_os_error(), Some(top)))?;
                files.push(opened);
            }
        }
        self.files = files;
        Ok(())
    }

    /// When everything happens, from now on.
    fn times(&self, warm_up: u64, window: u64) -> Times {
        let begin = Clock::get().now() + LEAD_NS + LEAD_EACH_NS * u64::from(self.appenders.writers.min(20_000));
        let (from, to) = (begin + warm_up, begin + warm_up + window);
        let period = nanoseconds(self.appenders.period_seconds);
        Times { begin, from, to, give_up: to + grace_ns(period, window) }
    }

    /// Lets the observer see the window open and close, while others work.
    fn watch(&self, times: Times, observer: &mut dyn Observer) {
        let go_on = || !self.stop.load(Relaxed) && !self.board.is_stopped();
        sleep_while(go_on, times.from);
        observer.window_opens();
        sleep_while(go_on, times.to);
        observer.window_closes();
        if self.stop.load(Relaxed) {
            self.board.stop();
        }
    }

    /// Writers share threads of this process, and so do readers.
    fn run_multiplexed(
        &self,
        top: Option<BorrowedFd<'_>>,
        (warm_up, window): (u64, u64),
        observer: &mut dyn Observer,
    ) -> Result<Times, EngineError> {
        let Self { appenders, shape, board, .. } = self;
        let hands = |count: u32| count.min(appenders.threads);
        let writing = Schedule::of_writers(appenders, shape.seed);
        let reading = Schedule::of_readers(appenders, shape.seed);
        let (writers, readers) = (hands(appenders.writers), hands(appenders.readers));
        let files = match top {
            None => Files::Nowhere,
            Some(top) if appenders.reopen => Files::Named(top),
            Some(_) => Files::Open(&self.files),
        };
        // What threads need is made before they are: none of it is done in the window.
        let mut works = Vec::new();
        for (role, schedule, count, all, files) in [
            (Role::Writer, writing, writers, appenders.writers, files),
            (Role::Reader, reading, readers, appenders.readers, top.map_or(Files::Nowhere, Files::Named)),
        ] {
            for hand in 0..count {
                let members = Members::new(schedule, (hand..all).step_by(count as usize));
                works.push((members, Worker::new(board, shape, role, files, schedule.period_ns())));
            }
        }
        let times = self.times(warm_up, window);
        board.set_times(times);
        let works = works.into_iter().map(|(mut members, mut hand)| {
            move || {
                end_naps_on_time();
                hand.work(&mut members, || ());
            }
        });
        let name = |number: usize| match number.checked_sub(writers as usize) {
            None => format!("appenders-{number}"),
            Some(number) => format!("readers-{number}"),
        };
        let not_started =
            |_: usize, error: &std::io::Error| format!("cannot start another thread: {error}; lower threads");
        let threads = Threads { name: Some(&name), stack_bytes: Some(STACK_BYTES), not_started: Some(&not_started) };
        threads.run(works, || board.stop(), |_| self.watch(times, observer)).map(|_| times)
    }

    /// Writers are so many processes, and so are readers. Answers when it was, and the seconds of start and stop.
    fn run_processes(
        &self,
        carriers: u32,
        top: Option<BorrowedFd<'_>>,
        (warm_up, window): (u64, u64),
        observer: &mut dyn Observer,
    ) -> Result<(Times, f64, f64), EngineError> {
        let Self { appenders, shape, board, stop, .. } = self;
        let ground = Setup { board, shape, top };
        let begun = Instant::now();
        let mut crowd = Crowd::default();
        let writers = Deal { hands: carriers, members: appenders.writers };
        let readers = match appenders.method {
            AppendersMethod::Processes => Deal::one_each(appenders.readers),
            AppendersMethod::Multiplexed => {
                Deal { hands: appenders.readers.min(appenders.threads), members: appenders.readers }
            }
        };
        crowd.start(ground, Role::Writer, writers, Schedule::of_writers(appenders, shape.seed), stop)?;
        crowd.start(ground, Role::Reader, readers, Schedule::of_readers(appenders, shape.seed), stop)?;
        crowd.wait_ready(board, stop, processes::ready_patience(appenders, carriers))?;
        let start_seconds = begun.elapsed().as_secs_f64();
        let times = self.times(warm_up, window);
        board.set_times(times);
        {
            // Thousands are woken at once, and who watches must not wait until they have all had their turn.
            let _urgent = Urgent::begin();
            Crowd::open_gate(board);
            self.watch(times, observer);
        }
        let closed = Instant::now();
        crowd.end(board, stop)?;
        Ok((times, start_seconds, closed.elapsed().as_secs_f64()))
    }

    /// What one role did in the window.
    fn window(&self, role: Role, times: Times, (start_seconds, stop_seconds): (f64, f64)) -> Window {
        let Self { appenders, board, .. } = self;
        let sum = |sum: Sum| board.sum(role, sum).load(Relaxed);
        let (group, writers, period_seconds) = match role {
            Role::Writer => ("append", appenders.writers, appenders.period_seconds),
            Role::Reader => ("read", appenders.readers, appenders.read_period()),
        };
        let (interval_ns, intervals) = times.intervals();
        let (interval_p99_ns, interval_max_ns) = board.intervals(role, intervals);
        let window_seconds = seconds(times.to - times.from);
        let missed = sum(Sum::Missed);
        let due = sum(Sum::Operations) + missed;
        let backlog = Backlog::new(&board.delays(role), window_seconds).or_given_up(missed, due);
        let lateness = Lateness {
            writers,
            late_writers: board.late_members(role),
            period_seconds,
            due,
            late: sum(Sum::Late),
            missed,
            scheduling_ns: board.scheduling(role).summary(),
            backlog_seconds: backlog.seconds.max(seconds(sum(Sum::BehindAtEnd))),
            backlog_grew: backlog.grew,
            start_seconds,
            stop_seconds,
            interval_seconds: seconds(interval_ns),
            interval_p99_ns,
            interval_max_ns,
        };
        let (user_ns, system_ns) = if role == Role::Writer { board.cpu_ns() } else { (0, 0) };
        Window {
            group: group.to_owned(),
            primary_metric: LATENESS_P99,
            operations: sum(Sum::Operations),
            bytes: sum(Sum::Bytes),
            seconds: window_seconds,
            latencies: board.lateness(role),
            lateness: Some(Box::new(lateness)),
            own_cpu_seconds: (seconds(user_ns), seconds(system_ns)),
            ..Window::default()
        }
    }

    /// What a reader should know of a window.
    fn note(&mut self, windows: &[Window]) {
        for window in windows {
            let Some(lateness) = &window.lateness else { continue };
            if lateness.backlog_grew {
                self.notes.push(Mark::CannotSustainRate.with(format!(
                    "the backlog of {} writers grew, to {:.3} s at the end",
                    lateness.writers, lateness.backlog_seconds
                )));
            }
            let own = lateness.scheduling_ns.and_then(|own| own.p99);
            let all = window.latencies.summary().and_then(|all| all.p99);
            if let (Some(own), Some(all)) = (own, all)
                && own > OWN_SHARE * all
            {
                self.notes.push(Mark::HarnessBoundSubmission.with(format!(
                    "turns begin up to {:.2} ms late (p99) by the harness and the scheduler alone, and records are up to \
                     {:.2} ms late",
                    own / 1e6,
                    all / 1e6
                )));
            }
        }
    }

    /// The fault in words.
    fn told(&self, fault: Fault, top: Option<BorrowedFd<'_>>, path: &Path) -> EngineError {
        let mut name = Name::new();
        self.shape.name(&mut name, fault.member, fault.file);
        let path = name.path(path);
        let action = match fault.action {
            Action::Open => "open",
            Action::Append => "append to",
            Action::Sync => "sync",
            Action::Read => "read",
            Action::Compare => {
                return EngineError::Corrupt {
                    path,
                    offset: 0,
                    what: "a record that was appended is not there".to_owned(),
                };
            }
        };
        worded(action, &path, fault.errno, top)
    }
}

impl Work for AppendersWork {
    fn slice(
        &mut self,
        place: &OpenTarget,
        warm_up_seconds: f64,
        window_seconds: f64,
        observer: &mut dyn Observer,
    ) -> Result<Vec<Window>, EngineError> {
        heed(&self.stop)?;
        let (top, path) = open_top(place)?;
        let top = top.as_ref().map(AsFd::as_fd);
        if let Some(top) = top {
            self.open_files(top, &path)?;
        }
        self.board.clear();
        let lengths = (nanoseconds(warm_up_seconds), nanoseconds(window_seconds));
        let ran = match self.carriers {
            None => self.run_multiplexed(top, lengths, observer).map(|times| (times, 0.0, 0.0)),
            Some(carriers) => self.run_processes(carriers, top, lengths, observer),
        };
        heed(&self.stop)?;
        if let Some(fault) = self.board.fault() {
            return Err(self.told(fault, top, &path));
        }
        let (times, start_seconds, stop_seconds) = ran?;
        let mut windows = vec![self.window(Role::Writer, times, (start_seconds, stop_seconds))];
        if self.appenders.readers > 0 {
            windows.push(self.window(Role::Reader, times, (0.0, 0.0)));
        }
        self.note(&windows);
        Ok(windows)
    }

    fn verify(&mut self, place: &OpenTarget) -> Result<f64, EngineError> {
        let begun = Instant::now();
        let (top, path) = open_top(place)?;
        if let Some(top) = &top {
            check::all(&self.board, &self.shape, top.as_fd(), &path, &self.stop)?;
        }
        Ok(begun.elapsed().as_secs_f64())
    }

    fn written_bytes(&self) -> u64 {
        self.board.written().load(Relaxed)
    }

    fn release(&mut self) {
        self.files = Vec::new();
    }

    fn notes(&self) -> Vec<Flag> {
        self.notes.clone()
    }
}

/// How long after the window what was due in it is still done.
fn grace_ns(period_ns: u64, window_ns: u64) -> u64 {
    period_ns.max(window_ns / GIVE_UP_PART).clamp(GIVE_UP_NS.0, GIVE_UP_NS.1)
}

fn open_top(place: &OpenTarget) -> Result<(Option<OwnedFd>, PathBuf), EngineError> {
    let Some((path, directory)) = place.directory() else { return Ok((None, PathBuf::new())) };
    let path = path.join(TOP);
    match beneath::open_folder(directory, TOP) {
        Ok(top) => Ok((Some(top), path)),
        Err(errno) => Err(EngineError::file("open directory", path, errno)),
    }
}

/// Makes directories and empty files. What is there of an earlier run is removed.
fn make_files(shape: &Shape, path: &Path, directory: &OwnedFd, stop: &AtomicBool) -> Result<(), EngineError> {
    let top_path = path.join(TOP);
    let mode = Mode::from_raw_mode(0o755);
    let top = beneath::make_anew(directory.as_fd(), TOP, mode, &top_path)?;
    let mut name = Name::new();
    for number in 0..shape.directories {
        heed(stop)?;
        name.set_directory(number);
        mkdirat(&top, name.as_c_str(), mode).map_err(|errno| {
            worded("create directory", &name.path(&top_path), errno.raw_os_error(), Some(top.as_fd()))
        })?;
    }
    for writer in 0..shape.writers {
        heed(stop)?;
        for file in 0..shape.files {
            shape.name(&mut name, writer, file);
            let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
            openat(&top, name.as_c_str(), flags, Mode::from_raw_mode(0o644))
                .map_err(|errno| worded("create", &name.path(&top_path), errno.raw_os_error(), Some(top.as_fd())))?;
        }
    }
    Ok(())
}

/// A refusal of the kernel's, with what is short and how to help it.
fn worded(action: &'static str, path: &Path, errno: i32, top: Option<BorrowedFd<'_>>) -> EngineError {
    let no_inode = || {
        let state = top.and_then(|top| fstatvfs(top).ok());
        state.is_some_and(|state| state.f_files > 0 && state.f_ffree == 0 && state.f_bfree > 0)
    };
    let remedy = match errno {
        libc::ENOSPC | libc::EDQUOT if no_inode() => {
            "the lane is full (no inode is left): give mkfs more inodes, raise --lane-size, or lower writers or files"
        }
        libc::ENOSPC | libc::EDQUOT => "the lane is full: raise --lane-size, or lower writers or seconds",
        libc::EMFILE => {
            "this process has no descriptor left: raise the limit (ulimit -n), set reopen = true, or lower writers"
        }
        libc::ENFILE => {
            "the system has no open file left: raise it (sysctl fs.file-max), set reopen = true, or lower writers"
        }
        _ => return EngineError::file(action, path, Errno::from_raw_os_error(errno)),
    };
    EngineError::Worker {
        message: format!(
            "cannot {action} {}: {}; {remedy}",
            model::text::escaped_path(path),
            std::io::Error::from_raw_os_error(errno)
        ),
        errno: Some(errno),
        corrupt: false,
        room: if matches!(errno, libc::ENOSPC | libc::EDQUOT) { Room::FullAsSaid } else { Room::Enough },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_short_is_named_with_a_remedy() {
        for (errno, says) in [
            (libc::EMFILE, "ulimit -n"),
            (libc::ENFILE, "fs.file-max"),
            (libc::ENOSPC, "the lane is full: raise --lane-size"),
            (libc::EDQUOT, "the lane is full: raise --lane-size"),
        ] {
            let error = worded("open", Path::new("/lane/d000000/w000007.01"), errno, None);
            let said = error.to_string();
            assert!(said.starts_with("cannot open /lane/d000000/w000007.01: ") && said.contains(says), "{said}");
            assert_eq!((error.errno(), error.is_corrupt()), (Some(errno), false));
        }
        let other = worded("sync", Path::new("/lane/f"), libc::EIO, None);
        assert_eq!(other.to_string(), "cannot sync /lane/f: Input/output error (os error 5)");
    }
}
