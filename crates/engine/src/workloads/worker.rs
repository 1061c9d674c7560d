//! One worker of a job: the loop that keeps operations in flight and times every one of them.
//!
//! A worker is made in the thread or process that runs it, because a ring belongs to the task that
//! made it. It goes on from slice to slice, or runs a job from beginning to end; the loop is the
//! same.

mod complete;
mod go_on;
mod io_loop;
mod step;
pub(super) mod windows;

pub(super) use complete::check_result;

use super::Observer;
use super::files::{self, FilePlan};
use super::pace::Pace;
use super::shared::SharedPart;
use super::verifier::Verifier;
use crate::clock::Clock;
use crate::data::Contents;
use crate::error::EngineError;
use crate::histogram::Latencies;
use crate::io::{self, Action, Completion, Operation, OperationFlags, Queue, Setup};
use crate::marked::Marks;
use crate::pattern::Places;
use crate::target::{Directory, OpenTarget, open_device};
use crate::workloads::append::AppendFiles;
use model::job::{Direction, Io, Pattern};
use model::trial::Submission;
use model::{Flag, Mark};
use rustix::fs::fsync;
use std::collections::VecDeque;
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::atomic::AtomicBool;

/// From this block size on a write's new contents take long enough that the clock is read again
/// between making them and handing them over. Below it, one reading ends one turn and begins the
/// next.
const SLOW_TO_RENEW_BYTES: u32 = 64 << 10;

/// Which counts an operation belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tallied {
    Read = 0,
    Write = 1,
    Trim = 2,
    Sync = 3,
}

impl From<Direction> for Tallied {
    #[inline]
    fn from(direction: Direction) -> Self {
        match direction {
            Direction::Read => Tallied::Read,
            Direction::Write => Tallied::Write,
            Direction::Trim => Tallied::Trim,
        }
    }
}

/// What one direction has done while it counted.
#[derive(Debug, Clone, Default)]
pub(super) struct Counts {
    pub(super) operations: u64,
    pub(super) bytes: u64,
    pub(super) latencies: Latencies,
    /// Operations by half second; in slices by the end of each of their windows.
    pub(super) samples: Vec<u64>,
}

impl Counts {
    /// Adds another worker's counts.
    pub(super) fn add(&mut self, other: &Counts) {
        // A worker that ended earlier keeps what it had.
        let longest = self.samples.len().max(other.samples.len());
        self.samples.resize(longest, self.operations);
        for (index, sum) in self.samples.iter_mut().enumerate() {
            *sum += other.samples.get(index).copied().unwrap_or(other.operations);
        }
        self.operations += other.operations;
        self.bytes += other.bytes;
        self.latencies.add(&other.latencies);
    }

    fn clear(&mut self) {
        self.operations = 0;
        self.bytes = 0;
        self.latencies.clear();
        self.samples.clear();
    }
}

/// An operation that is queued or in flight.
#[derive(Debug, Clone, Copy)]
struct Flight {
    /// When it was handed over, or should have begun in an open loop.
    begun: u64,
    offset: u64,
    bytes: u32,
    file: u32,
    expected: i32,
    action: Action,
    tallied: Tallied,
}

impl Flight {
    /// What was asked for in this chunk.
    #[cold]
    fn operation(&self, chunk: u32) -> Operation {
        Operation { chunk, file: self.file, offset: self.offset, bytes: self.bytes, action: self.action }
    }
}

const NOTHING: Flight =
    Flight { begun: 0, offset: 0, bytes: 0, file: 0, expected: 0, action: Action::Read, tallied: Tallied::Read };

/// How long a worker drives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Until {
    /// The window of a slice; places begin again for ever.
    Window(u64),
    /// One loop of a job, at most so long.
    LoopEnd(Option<u64>),
}

impl Until {
    /// Nanoseconds after which it is over at the latest.
    fn most_ns(self) -> u64 {
        match self {
            Until::Window(most) | Until::LoopEnd(Some(most)) => most,
            Until::LoopEnd(None) => u64::MAX,
        }
    }
}

/// Who asks a worker to work: what it must heed and tell.
pub(super) struct Call<'a> {
    /// Ends the work.
    pub(super) stop: &'a AtomicBool,
    /// Ends the work as if its time were over.
    pub(super) end: &'a AtomicBool,
    /// Told when counting begins, and when a slice's window ends.
    pub(super) observer: &'a mut dyn Observer,
}

/// What a worker needs to know of its job.
#[derive(Debug, Clone)]
pub(super) struct Task {
    /// The job's options.
    pub(super) io: Io,
    /// Number of the worker in its job, from 0.
    pub(super) worker: u32,
    /// Its files.
    pub(super) files: Vec<FilePlan>,
    /// Its part of the one file that all workers share; `None`: it has files of its own.
    pub(super) part: Option<SharedPart>,
    /// Seed of its offsets and data.
    pub(super) seed: u64,
    /// Whether it belongs to a job file: fsyncs count as operations of their own.
    pub(super) whole: bool,
    /// How what it writes says where it belongs, for other clients; `None`: it does not.
    pub(super) marks: Option<Marks>,
}

/// One worker of a job.
pub(super) struct Worker {
    task: Task,
    clock: Clock,
    depth: u32,
    places: Places,
    contents: Contents,
    pace: Pace,
    verifier: Option<Verifier>,
    append: Option<AppendFiles>,
    queue: Option<Box<dyn Queue>>,
    /// Slots whose files are open, the oldest first.
    open_slots: VecDeque<u32>,
    handles: Vec<Option<Rc<OwnedFd>>>,
    /// Where files with `file_append` ended when they were opened.
    shifts: Vec<u64>,
    flights: Vec<Flight>,
    completions: Vec<Completion>,
    counts: Box<[Counts; 4]>,
    /// Length of the windows that a slice is told in; 0: it is not.
    window_ns: u64,
    /// When the counts of a slice were noted, in nanoseconds from its start.
    noted_at: Vec<u64>,
    submission: Summary,
    batches: u32,
    samples_submission: bool,
    writes_since_sync: u32,
    writes_since_fsync: u32,
    last_written: u32,
    written_bytes: u64,
    issued_since_think: u32,
    /// The end of a pause.
    resume_at: u64,
    /// When the queue last became able to take another operation.
    room_since: u64,
    plain: bool,
    /// Nothing is paced.
    free: bool,
    device: Option<PathBuf>,
    null: bool,
    begun_counting: bool,
    /// When the files began to be opened, where that counts.
    opening_since: Option<u64>,
    /// Nanoseconds that counted in earlier loops.
    elapsed_before_ns: u64,
    /// In an open loop operations count that were due from here on.
    count_from: u64,
    notes: Vec<String>,
    /// Operations that completed since the start, and those of them that the kernel refused for the moment.
    completed: u64,
    done_again: u64,
}

/// Running moments of the submission latency.
#[derive(Debug, Clone, Copy, Default)]
struct Summary {
    operations: u64,
    sum: f64,
    squares: f64,
    min: u64,
    max: u64,
}

impl Summary {
    fn add(&mut self, nanoseconds: u64, operations: u64) {
        self.min = if self.operations == 0 { nanoseconds } else { self.min.min(nanoseconds) };
        self.max = self.max.max(nanoseconds);
        self.operations += operations;
        self.sum += nanoseconds as f64 * operations as f64;
        self.squares += (nanoseconds as f64).powi(2) * operations as f64;
    }

    fn read(&self) -> Option<Submission> {
        if self.operations == 0 {
            return None;
        }
        let mean = self.sum / self.operations as f64;
        Some(Submission {
            operations: self.operations,
            min: self.min as f64,
            mean,
            deviation: (self.squares / self.operations as f64 - mean * mean).max(0.0).sqrt(),
            max: self.max as f64,
        })
    }
}

impl Worker {
    /// Makes a worker on files that were laid out. Nothing is opened yet.
    pub(super) fn new(place: &OpenTarget, task: Task, verifier: Option<Verifier>) -> Result<Self, EngineError> {
        let io = &task.io;
        let null = place.is_null() || io.ioengine == "null";
        let mut contents = Contents::for_job(io, task.seed)?;
        if let Some(marks) = task.marks {
            contents.mark(marks);
        }
        let device = match place {
            OpenTarget::Device { path, .. } => Some(path.clone()),
            _ => None,
        };
        let pace = Pace::new(io, task.worker, task.seed);
        let slots = task.files.len();
        let single = slots == 1;
        let free = pace.is_free();
        let plain = free
            && single
            && verifier.is_none()
            && io.rw != Pattern::Append
            && io.fsync == 0
            && io.fdatasync == 0
            && io.thinktime_seconds == 0.0
            && io.iodepth_low.is_none()
            && !io.file_append;
        let mut worker = Worker {
            clock: Clock::get(),
            depth: io.iodepth,
            places: places_of(&task)?,
            flights: vec![NOTHING; contents.memory().chunks() as usize],
            completions: Vec::with_capacity(io.iodepth as usize),
            contents,
            pace,
            verifier,
            append: None,
            queue: None,
            open_slots: VecDeque::with_capacity(slots),
            handles: vec![None; slots],
            shifts: vec![0; slots],
            counts: Box::default(),
            window_ns: 0,
            noted_at: Vec::new(),
            submission: Summary::default(),
            batches: 0,
            samples_submission: task.whole && io.iodepth > 1 && !null,
            writes_since_sync: 0,
            writes_since_fsync: 0,
            last_written: 0,
            written_bytes: 0,
            issued_since_think: 0,
            resume_at: 0,
            room_since: 0,
            plain,
            free,
            device,
            null,
            begun_counting: false,
            opening_since: None,
            elapsed_before_ns: 0,
            count_from: 0,
            notes: Vec::new(),
            completed: 0,
            done_again: 0,
            task,
        };
        if let (false, Some(directory), Pattern::Append) = (null, place.directory(), worker.task.io.rw) {
            worker.append = Some(AppendFiles::begin(directory, worker.task.io.direct)?);
        }
        Ok(worker)
    }

    /// Opens the files, as many as may be open, and the queue on them.
    pub(super) fn open(&mut self, place: &OpenTarget) -> Result<(), EngineError> {
        if self.queue.is_some() {
            return Ok(());
        }
        let io = &self.task.io;
        let engine = io::find(if self.null { "null" } else { &io.ioengine })?;
        if !self.null {
            let most = files::most_open(io, &self.task.files);
            for slot in 0..most as u32 {
                self.handles[slot as usize] = Some(self.open_slot(place, slot)?);
                self.open_slots.push_back(slot);
            }
        }
        let io = &self.task.io;
        let setup = Setup {
            files: self.handles.clone(),
            writes: io.rw.writes() || io.rw.trims(),
            depth: self.depth,
            memory: self.contents.memory().clone(),
            flags: self.flags(),
        };
        let queue = (engine.open)(setup)?;
        self.notes = queue.notes().to_vec();
        self.queue = Some(queue);
        Ok(())
    }

    fn flags(&self) -> OperationFlags {
        let Io { uncached, rwf_dsync: dsync, hipri, sqthread_poll, .. } = self.task.io;
        OperationFlags { uncached, dsync, hipri, sqthread_poll }
    }

    fn open_slot(&mut self, place: &OpenTarget, slot: u32) -> Result<Rc<OwnedFd>, EngineError> {
        let io = &self.task.io;
        if let Some(path) = &self.device {
            return open_device(path, io.rw.writes() || io.rw.trims());
        }
        let directory = self.directory(place)?;
        if let Some(append) = &self.append {
            return append.open_current(directory);
        }
        let file = files::open(directory, &self.task.files[slot as usize].name, io)?;
        if io.file_append {
            let path = self.path(place, slot);
            let stat = rustix::fs::fstat(&*file).map_err(|errno| EngineError::file("look at", path, errno))?;
            self.shifts[slot as usize] = stat.st_size as u64;
        }
        Ok(file)
    }

    fn directory<'a>(&self, place: &'a OpenTarget) -> Result<Directory<'a>, EngineError> {
        place.directory().ok_or_else(|| {
            EngineError::Unsuitable(
                "this I/O engine needs a directory or device; use ioengine = \"null\" without one".into(),
            )
        })
    }

    /// Closes everything; the queue's end waits for what is in flight.
    pub(super) fn close(&mut self, place: &OpenTarget) -> Result<(), EngineError> {
        self.queue = None;
        if self.task.io.fsync_on_close {
            for slot in 0..self.handles.len() as u32 {
                if let Some(file) = self.handles[slot as usize].take() {
                    fsync(&*file).map_err(|errno| EngineError::file("sync", self.path(place, slot), errno))?;
                }
            }
        }
        self.release();
        Ok(())
    }

    /// Closes everything at once.
    pub(super) fn release(&mut self) {
        self.queue = None;
        self.open_slots.clear();
        self.handles.iter_mut().for_each(|handle| *handle = None);
        if let Some(append) = &mut self.append {
            append.release();
        }
    }

    /// Forgets what was counted.
    pub(super) fn clear(&mut self) {
        self.counts.iter_mut().for_each(Counts::clear);
        self.noted_at.clear();
        self.submission = Summary::default();
    }

    /// What was counted.
    pub(super) fn counts(&self) -> &[Counts; 4] {
        &self.counts
    }

    /// Latency of submitting, where it was sampled.
    pub(super) fn submission(&self) -> Option<Submission> {
        self.submission.read()
    }

    /// Bytes written since it was made.
    pub(super) fn written_bytes(&self) -> u64 {
        self.written_bytes
    }

    /// What the engine had to do without, and what the open loop found.
    pub(super) fn notes(&self) -> Vec<Flag> {
        let mut notes: Vec<Flag> = self.notes.iter().cloned().map(Flag::Note).collect();
        notes.extend(self.pace.notes());
        notes.extend(again_note(self.done_again, self.completed));
        notes
    }

    /// Blocks that were checked while they were read.
    pub(super) fn verified_blocks(&self) -> u64 {
        self.verifier.as_ref().map_or(0, Verifier::checked)
    }

    /// Between slices of appending work: makes the next file, removes full ones.
    pub(super) fn tidy(&mut self, place: &OpenTarget) -> Result<(), EngineError> {
        match (&mut self.append, place.directory()) {
            (Some(append), Some(directory)) => append.tidy(directory),
            _ => Ok(()),
        }
    }

    /// Begins the places again, for the next loop.
    pub(super) fn restart(&mut self) {
        self.places.restart();
    }

    /// Works until the end of the window or of the loop, and answers the nanoseconds that counted.
    /// `ramp_ns` of work come before anything counts; `begun` is when the job began.
    ///
    /// # Errors
    /// The first failed operation ends the work; then everything in flight has ended too.
    pub(super) fn drive(
        &mut self,
        place: &OpenTarget,
        ramp_ns: u64,
        until: Until,
        call: &mut Call<'_>,
    ) -> Result<u64, EngineError> {
        // Where files are made when they are opened, that belongs to the measured work.
        self.opening_since = self.task.io.create_on_open.then(|| self.clock.now());
        self.open(place)?;
        // Work that keeps to a rate says nothing by it.
        self.window_ns = match until {
            Until::Window(slice_ns) if self.free => windows::length_ns(slice_ns),
            Until::Window(_) | Until::LoopEnd(_) => 0,
        };
        if self.window_ns > 0 {
            self.make_room_for_windows(until.most_ns());
        }
        let mut queue = self.take_queue()?;
        let driven = if self.plain && self.depth == 1 && queue.performs() {
            self.turn_alone(&mut *queue, place, ramp_ns, until, call)
        } else if self.plain {
            self.io_loop::<true>(&mut *queue, place, ramp_ns, until, call)
        } else {
            self.io_loop::<false>(&mut *queue, place, ramp_ns, until, call)
        };
        match driven {
            Ok(elapsed) => {
                self.queue = Some(queue);
                if self.window_ns > 0 {
                    self.read_windows(elapsed);
                }
                Ok(elapsed)
            }
            Err(error) => {
                self.give_up(queue);
                Err(error)
            }
        }
    }

    fn take_queue(&mut self) -> Result<Box<dyn Queue>, EngineError> {
        let closed = || EngineError::Unsuitable("the queue is closed; this is a fault of Fairlane".to_owned());
        self.queue.take().ok_or_else(closed)
    }

    /// Something failed: everything is let go.
    fn give_up(&mut self, queue: Box<dyn Queue>) {
        // The queue's drop waits for what is in flight; then every chunk is free again.
        drop(queue);
        self.completions.clear();
        self.contents.free_all();
        self.release();
    }
}

/// Where a worker's operations go.
fn places_of(Task { io, worker, files, part, seed, .. }: &Task) -> Result<Places, EngineError> {
    match part {
        Some(part) => part.places(io, *seed),
        None => Places::new(io, &files::ranges(io, files, *worker), *seed),
    }
}

/// What the statistics read of operations that io_uring gave back and that were done again, one after another.
fn again_note(done_again: u64, completed: u64) -> Option<Flag> {
    (done_again > 0).then(|| Mark::IoUringAgain.with(format!("{done_again} of {completed}")))
}
