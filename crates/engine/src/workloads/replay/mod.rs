//! A program's calls from a trace, done again by as many threads, each as soon as what it waits for is done or when it is due.

mod answers;
mod calls;
mod one_by_one;
mod progress;
mod room_watch;
mod rooms;
mod source;
mod tree;
mod worker;

pub(crate) use answers::{Differences, differs};
pub(crate) use one_by_one::{Contents, OneByOne, counts};
pub use source::{check_memory as check_trace_memory, read as read_trace};

use super::{Observer, Work};
use crate::beneath;
use crate::clock::{Clock, seconds};
use crate::error::EngineError;
use crate::target::OpenTarget;
use crate::window::{LATENESS_P50, LATENESS_P99, OPERATIONS_PER_SECOND, TIME, Window};
use crate::workers::{Start, StartGate, Threads};
use calls::{Ground, Shelter};
use model::Flag;
use model::flag::Mark;
use model::kinds::replay::{Replay, Speed, WRITE_BACK};
use progress::Progress;
use room_watch::RoomWatch;
use rooms::Rooms;
use rustix::fs::{Mode, OFlags};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use rustix::thread::{CapabilitySet, UnshareFlags};
use std::collections::BTreeMap;
use std::ffi::CString;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU64, AtomicUsize, Ordering};
use worker::{DIFFERS, Did, Worker};

/// All files lie below this folder of the target.
const TOP: &str = "fairlane-replay";
/// A worker's stack, in bytes.
const STACK_BYTES: usize = 256 << 10;
/// Descriptors beside those of the program's files.
const DESCRIPTOR_RESERVE: u64 = 256;
/// A replay at recorded times that takes longer by more than this share, and so many seconds, did not keep its pace.
const MOST_BEHIND: f64 = 0.05;
const LEAST_BEHIND_SECONDS: f64 = 0.01;
/// Where more of the calls get another answer than the program got, it is not the same work.
const MOST_DIFFERENT: f64 = 0.01;

/// A trace, prepared: what has to be there before is there.
pub struct ReplayWork {
    speed: Speed,
    plan: trace::replay::Replay,
    paths: Vec<CString>,
    rooms: Vec<Rooms>,
    top: OwnedFd,
    sink: OwnedFd,
    shelter: Shelter,
    written_bytes: u64,
    differences: Differences,
    /// Bytes that calls moved in the last run, and how long it took.
    moved_bytes: u64,
    took_seconds: f64,
    stop: Arc<AtomicBool>,
}

impl ReplayWork {
    /// Reads the trace and makes what has to be there, synced. What an interrupted race left there is removed.
    ///
    /// # Errors
    /// Where the trace is another one or cannot be done, there is no directory, or a call fails.
    pub fn prepare(place: &OpenTarget, replay: &Replay, seed: u64, stop: Arc<AtomicBool>) -> Result<Self, EngineError> {
        let (path, directory) = place.directory().ok_or_else(|| {
            EngineError::Unsuitable("a replay needs a filesystem; race a lane that has a directory".to_owned())
        })?;
        let plan = source::expect(&replay.trace, &replay.sha256, &stop)?;
        raise_descriptors(plan.descriptors)?;
        let rooms = rooms::allocate(&plan, seed)?;
        let path = path.join(TOP);
        let top = beneath::make_anew(directory, TOP, Mode::RWXU, &path)?;
        let shelter = shelter(top.as_fd())?;
        let written_bytes = tree::make(&plan, (&path, top.as_fd()), &mut tree::contents(seed)?, &stop)?;
        let paths = tree::paths(&plan)?;
        let sink = sink()?;
        place.sync()?;
        Ok(ReplayWork {
            speed: replay.speed,
            plan,
            paths,
            rooms,
            top,
            sink,
            shelter,
            written_bytes,
            differences: Differences::default(),
            moved_bytes: 0,
            took_seconds: 0.0,
            stop,
        })
    }

    /// All threads, from the first call to the last.
    fn together(&mut self, observer: &mut dyn Observer) -> Result<Vec<Did>, EngineError> {
        let count = self.plan.threads.len();
        let gate = &StartGate::new(count as u32, observer);
        let files: Vec<AtomicI32> = (0..self.plan.files).map(|_| AtomicI32::new(calls::CLOSED)).collect();
        let progress: Vec<Progress> = (0..count).map(|_| Progress::default()).collect();
        let ground = Ground::new(&self.paths, &files, (self.top.as_fd(), self.sink.as_fd()), self.shelter);
        let origin = &AtomicU64::new(0);
        let watch = RoomWatch::new(self.top.as_fd(), self.plan.facts.most_bytes);
        let (plan, speed, progress) = (&self.plan, self.speed, &progress[..]);
        // Set too where the race is to stop.
        let over = &AtomicBool::new(false);
        let (top, shelter, at_work) = (self.top.as_fd(), self.shelter, &AtomicUsize::new(count));
        let works = self.rooms.iter_mut().enumerate().map(|(thread, rooms)| {
            let ground = &ground;
            move || {
                let start = Start::with(gate, thread);
                // Whoever waits for a thread that failed waits no more.
                let _over = progress::Over(&progress[thread]);
                let mut worker = Worker::new(plan, thread, ground, progress, speed, rooms);
                enter(top, shelter)?;
                start.now()?;
                let done = worker.run(origin, over);
                if at_work.fetch_sub(1, Ordering::AcqRel) == 1 {
                    gate.close_window();
                }
                done.map(|()| worker.did)
            }
        });
        let threads = Threads { name: Some(&worker_name), stack_bytes: Some(STACK_BYTES), ..Threads::default() };
        let lead = |have_ended: &dyn Fn() -> bool| {
            gate.open();
            watch.until(have_ended, &self.stop, over)
        };
        let (all, watched) = threads.run(works, || gate.give_up(), lead)?;
        gate.close_window();
        for file in files {
            calls::close(file.into_inner());
        }
        watched?;
        all.into_iter().collect()
    }

    fn windows(&self, all: &[Did], took: f64) -> Vec<Window> {
        let window =
            |group: &str, primary_metric| Window { group: group.to_owned(), primary_metric, ..Window::default() };
        let primary = if self.speed.is_timed() { LATENESS_P99 } else { TIME };
        let mut whole = Window { seconds: took, ..window(self.speed.whole(), primary) };
        let mut kinds: BTreeMap<&'static str, Window> = BTreeMap::new();
        for (did, steps) in all.iter().zip(&self.plan.threads) {
            for ((&took, &moved), step) in did.took.iter().zip(&did.moved).zip(steps) {
                let Some(row) = trace::call(step.call) else { continue };
                let of = kinds.entry(row.group()).or_insert_with(|| window(row.group(), OPERATIONS_PER_SECOND));
                // One that was answered otherwise says nothing of its kind.
                let of = (moved != DIFFERS).then_some(of);
                let moved = if moved == DIFFERS { 0 } else { moved };
                for window in of.into_iter().chain([&mut whole]) {
                    window.operations += 1;
                    window.bytes += moved;
                    window.latencies.record(took);
                }
            }
        }
        for window in kinds.values_mut() {
            // What a call of this kind takes, whatever the others do meanwhile.
            window.seconds = window.latencies.sum_seconds();
        }
        let busiest = all.iter().enumerate().max_by_key(|(_, did)| did.on_cpu);
        whole.busiest_thread = busiest.map(|(thread, did)| (seconds(did.on_cpu) / took.max(1e-9), worker_name(thread)));
        whole.totals.push((TIME, took * 1e9));
        let mut late: Vec<u64> = all.iter().flat_map(|did| did.late.iter().copied()).collect();
        if !late.is_empty() {
            late.sort_unstable();
            let at = |share: f64| late[((late.len() - 1) as f64 * share) as usize] as f64;
            whole.totals.extend([(LATENESS_P50, at(0.5)), (LATENESS_P99, at(0.99))]);
        }
        // Of a kind whose calls were all answered otherwise there is no figure.
        kinds.retain(|_, window| window.operations > 0);
        [whole].into_iter().chain(kinds.into_values()).collect()
    }
}

impl Work for ReplayWork {
    fn run(&mut self, place: &OpenTarget, observer: &mut dyn Observer) -> Result<Vec<Window>, EngineError> {
        let all = self.together(observer)?;
        let clock = Clock::get();
        let begun = clock.now();
        place.sync()?;
        let synced = clock.now() - begun;
        let began = all.iter().map(|did| did.began).min().unwrap_or(0);
        let took = seconds(all.iter().map(|did| did.ended).max().unwrap_or(0).saturating_sub(began));
        self.took_seconds = took;
        let mut windows = self.windows(&all, took);
        let mut last = Window {
            group: WRITE_BACK.to_owned(),
            primary_metric: TIME,
            operations: 1,
            seconds: seconds(synced),
            totals: vec![(TIME, synced as f64)],
            ..Window::default()
        };
        last.latencies.record(synced);
        windows.push(last);
        self.written_bytes += all.iter().map(|did| did.written).sum::<u64>();
        self.moved_bytes = all.iter().flat_map(|did| &did.moved).filter(|moved| **moved != DIFFERS).sum();
        self.differences = Differences::default();
        all.into_iter().for_each(|did| self.differences.add(did.differences));
        Ok(windows)
    }

    /// Nothing is held open.
    fn release(&mut self) {}

    fn written_bytes(&self) -> u64 {
        self.written_bytes
    }

    fn notes(&self) -> Vec<Flag> {
        self.of_differences().into_iter().chain(self.of_pace()).collect()
    }
}

impl ReplayWork {
    /// Whether it kept the pace that was asked for.
    fn of_pace(&self) -> Option<Flag> {
        let Speed::Recorded(factor) = self.speed else { return None };
        let wanted = self.plan.facts.seconds / factor;
        let kept = self.took_seconds <= wanted * (1.0 + MOST_BEHIND) + LEAST_BEHIND_SECONDS;
        let human = model::units::human_seconds;
        (!kept).then(|| {
            let took = human(self.took_seconds);
            Flag::Note(format!("replay: the pace was not kept: it took {took} in place of {}", human(wanted)))
        })
    }

    fn of_differences(&self) -> Vec<Flag> {
        let (operations, differ) = (self.plan.facts.operations, self.differences.count());
        if differ == 0 {
            return Vec::new();
        }
        let told = self.differences.told(operations, &self.plan.paths);
        // A lane that does less is no faster: the share counts of calls, of bytes, and of calls that move any.
        let share_of = |part: u64, whole: u64| part as f64 / whole.max(1) as f64;
        let works = self.plan.threads.iter().flatten().filter(|step| answers::works(step.call)).count() as u64;
        let shares = [
            share_of(differ, operations),
            share_of(self.moved_bytes.abs_diff(self.plan.moved_bytes), self.plan.moved_bytes),
            share_of(self.differences.undone(), works),
        ];
        let too_many = shares.iter().any(|share| *share > MOST_DIFFERENT);
        let undone = self.differences.undone();
        let told = match undone {
            0 => told,
            _ => format!("{told}; of {works} that move data or take place, {undone} failed here alone"),
        };
        vec![if too_many { Mark::ReplayDiffers.with(told) } else { Flag::Note(format!("replay: {told}")) }]
    }
}

/// How calls are kept within a folder by this process.
fn shelter(top: BorrowedFd<'_>) -> Result<Shelter, EngineError> {
    if rustix::thread::capabilities(None).is_ok_and(|of| of.effective.contains(CapabilitySet::SYS_CHROOT)) {
        return Ok(Shelter::Root);
    }
    match calls::can_open_inside(top) {
        true => Ok(Shelter::Folder),
        false => Err(EngineError::Unsuitable(
            "without root a replay needs a kernel with openat2 (Linux 5.6), and here it is refused; race it as root"
                .to_owned(),
        )),
    }
}

/// Where what went to a socket goes.
fn sink() -> Result<OwnedFd, EngineError> {
    rustix::fs::open("/dev/null", OFlags::WRONLY | OFlags::CLOEXEC, Mode::empty())
        .map_err(|errno| EngineError::file("open", "/dev/null", errno))
}

/// Paths begin at the folder of the replay, for this thread alone, which may have it as its root.
fn enter(top: BorrowedFd<'_>, shelter: Shelter) -> Result<(), EngineError> {
    let cannot = |errno| EngineError::file("enter", TOP, errno);
    // SAFETY: this thread's own folder, root and mask are parted from the other threads'; nothing else is.
    unsafe { rustix::thread::unshare_unsafe(UnshareFlags::FS) }.map_err(cannot)?;
    rustix::process::fchdir(top).map_err(cannot)?;
    if shelter == Shelter::Root {
        rustix::process::chroot(".").map_err(cannot)?;
    }
    Ok(())
}

/// Raises this process's limit of descriptors, twice as far as the trace had open at the same time: here some threads are ahead of
/// others.
fn raise_descriptors(at_once: u32) -> Result<(), EngineError> {
    let needed = u64::from(at_once) * 2 + DESCRIPTOR_RESERVE;
    let now = getrlimit(Resource::Nofile);
    if now.current.is_none_or(|current| current >= needed) {
        return Ok(());
    }
    let maximum = now.maximum.map(|maximum| maximum.max(needed));
    setrlimit(Resource::Nofile, Rlimit { current: Some(needed), maximum }).map_err(|_| {
        EngineError::Unsuitable(format!(
            "the program has {at_once} files open at the same time, and one process may not have {needed} here; raise the limit \
             (ulimit -n {needed})"
        ))
    })
}

/// Of a thread, as the kernel shows it: 15 bytes at most.
fn worker_name(thread: usize) -> String {
    format!("replay-{thread}")
}
