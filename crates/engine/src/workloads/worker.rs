//! One worker of a job: the loop that keeps operations in flight and times every one of them.
//!
//! A worker is made in the thread or process that runs it, because a ring belongs to the task that
//! made it. It goes on from slice to slice, or runs a job from beginning to end; the loop is the
//! same.

use super::files::{self, FilePlan};
use super::pace::{Arrival, Pace, mix_of_rates};
use super::verifier::Verifier;
use super::{Observer, heed};
use crate::clock::{Clock, nanoseconds};
use crate::data::Contents;
use crate::error::{EngineError, alignment_remedy};
use crate::histogram::Latencies;
use crate::io::{self, Action, Completion, Operation, OperationFlags, Queue, Setup};
use crate::pattern::{Places, Span};
use crate::target::{Directory, Place, open_device};
use crate::workloads::append::AppendFiles;
use model::job::{Direction, Io, Pattern};
use model::trial::Submission;
use rustix::fs::fsync;
use std::collections::VecDeque;
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// From this block size on a write's new contents take long enough that the clock is read again
/// between making them and handing them over. Below it, one reading ends one turn and begins the
/// next.
const SLOW_TO_RENEW_BYTES: u32 = 64 << 10;
/// One batch in so many is submitted by a call of its own, so that submitting is measured apart
/// without a system call more for the others.
const SUBMISSION_SAMPLED_EVERY: u32 = 64;
/// Half a second, the distance at which fio samples bandwidth and IOPS too.
const SAMPLE_NS: u64 = 500_000_000;
/// A sleep ends early by this much, and the rest is waited for actively: the kernel wakes late.
const WAKE_EARLY_NS: u64 = 60_000;
/// The flag is looked at again after at most so long a sleep.
const LONGEST_SLEEP_NS: u64 = 20_000_000;

/// Above two operations `io_submit` holds back the whole batch until its last one is queued (the
/// kernel's AIO_PLUG_THRESHOLD), and the device runs short of work meanwhile.
const LIBAIO_BATCH: u32 = 2;
/// How often the end of an open loop is looked at, and how long beyond twice its window it may last.
const CLOSING_LOOK_NS: u64 = 1_000_000;
const CLOSING_PATIENCE_NS: u64 = 1_000_000_000;

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
    /// Operations by half second.
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
    /// Seed of its offsets and data.
    pub(super) seed: u64,
    /// Whether it belongs to a job file: fsyncs count as operations of their own.
    pub(super) whole: bool,
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

/// What one turn of the filling has come to.
enum Step {
    /// An operation is queued.
    Queued,
    /// Nothing before this moment.
    Wait(u64),
    /// Everything in flight must end first.
    Drain,
    /// The loop's places are used up.
    Done,
}

impl Worker {
    /// Makes a worker on files that were laid out. Nothing is opened yet.
    pub(super) fn new(place: &Place, mut task: Task, verifier: Option<Verifier>) -> Result<Self, EngineError> {
        task.io.rwmixread = mix_of_rates(&task.io).unwrap_or(task.io.rwmixread);
        let io = &task.io;
        let null = place.is_null() || io.ioengine == "null";
        let ranges = files::ranges(io, &task.files, task.worker);
        let contents = Contents::for_job(io, task.seed)?;
        let device = match place {
            Place::Device { path, .. } => Some(path.clone()),
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
            places: Places::new(io, &ranges, task.seed)?,
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
            task,
        };
        if let (false, Some(directory), Pattern::Append) = (null, place.directory(), worker.task.io.rw) {
            worker.append = Some(AppendFiles::begin(directory, worker.task.io.direct)?);
        }
        Ok(worker)
    }

    /// Opens the files, as many as may be open, and the queue on them.
    pub(super) fn open(&mut self, place: &Place) -> Result<(), EngineError> {
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

    fn open_slot(&mut self, place: &Place, slot: u32) -> Result<Rc<OwnedFd>, EngineError> {
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

    fn directory<'a>(&self, place: &'a Place) -> Result<Directory<'a>, EngineError> {
        place.directory().ok_or_else(|| {
            EngineError::Unsuitable(
                "this I/O engine needs a directory or device; use ioengine = \"null\" without one".into(),
            )
        })
    }

    /// Closes everything; the queue's end waits for what is in flight.
    pub(super) fn close(&mut self, place: &Place) -> Result<(), EngineError> {
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
    pub(super) fn notes(&self) -> Vec<String> {
        let mut notes = self.notes.clone();
        notes.extend(self.pace.notes());
        notes
    }

    /// Blocks that were checked while they were read.
    pub(super) fn verified_blocks(&self) -> u64 {
        self.verifier.as_ref().map_or(0, Verifier::checked)
    }

    /// Between slices of appending work: makes the next file, removes full ones.
    pub(super) fn tidy(&mut self, place: &Place) -> Result<(), EngineError> {
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
        place: &Place,
        ramp_ns: u64,
        until: Until,
        call: &mut Call<'_>,
    ) -> Result<u64, EngineError> {
        // Where files are made when they are opened, that belongs to the measured work.
        self.opening_since = self.task.io.create_on_open.then(|| self.clock.now());
        self.open(place)?;
        let Some(mut queue) = self.queue.take() else {
            return Err(EngineError::Unsuitable("the queue is closed; this is a fault of Fairlane".to_owned()));
        };
        let driven = if self.plain && self.depth == 1 && queue.performs() {
            self.turn_alone(&mut *queue, place, ramp_ns, until, call)
        } else if self.plain {
            self.turn::<true>(&mut *queue, place, ramp_ns, until, call)
        } else {
            self.turn::<false>(&mut *queue, place, ramp_ns, until, call)
        };
        match driven {
            Ok(elapsed) => {
                self.queue = Some(queue);
                Ok(elapsed)
            }
            Err(error) => {
                // The queue's drop waits for what is in flight; then every chunk is free again.
                drop(queue);
                self.completions.clear();
                self.contents.free_all();
                self.release();
                Err(error)
            }
        }
    }

    /// The loop. Counting begins and a window ends at the moment when completions were taken in: the
    /// ones before it do not count, those up to its end do. So a slow operation is never cut in half,
    /// a stall lengthens its window instead of emptying it, and the rate has no rounding error.
    fn turn<const PLAIN: bool>(
        &mut self,
        queue: &mut dyn Queue,
        place: &Place,
        ramp_ns: u64,
        until: Until,
        call: &mut Call<'_>,
    ) -> Result<u64, EngineError> {
        let mut now = self.clock.now();
        let mut start = self.opening_since.unwrap_or(now);
        let mut counting = ramp_ns == 0;
        if counting {
            call.observer.window_opens();
            now = self.clock.now();
        }
        let most = until.most_ns();
        self.pace.begin(now, most.saturating_add(ramp_ns));
        self.begun_counting = counting;
        self.count_from = if counting { start } else { u64::MAX };
        if counting && self.pace.is_open_loop() {
            self.pace.close_at(start.saturating_add(most));
        }
        // A backlog that cannot be worked off within this is given up; the window is marked then.
        let patience = most.saturating_mul(2).saturating_add(CLOSING_PATIENCE_NS);
        // The next moment at which the loop does more than go round.
        let mut event = if counting { self.next_event(start, most) } else { start.saturating_add(ramp_ns) };
        let mut in_flight = 0_u32;
        let least = self.task.io.iodepth_batch_complete_min.clamp(1, self.depth);
        let low = if PLAIN { self.depth - 1 } else { self.task.io.iodepth_low.unwrap_or(self.depth - 1) };
        let usual = if self.task.io.ioengine == "libaio" { LIBAIO_BATCH } else { u32::MAX };
        let batch = self.task.io.iodepth_batch.unwrap_or(usual);
        let mut over = false;
        while !over {
            heed(call.stop)?;
            if call.end.load(Ordering::Relaxed) {
                break;
            }
            let mut wake = None;
            if in_flight <= low {
                let (mut queued, mut in_batch) = (0, 0);
                while in_flight < self.depth {
                    match self.step::<PLAIN>(queue, place, now, until, in_flight)? {
                        Step::Queued => {
                            in_flight += 1;
                            queued += 1;
                            in_batch += 1;
                            if in_batch == batch {
                                in_batch = 0;
                                queue.submit()?;
                            }
                        }
                        Step::Wait(due) => {
                            wake = Some(due);
                            break;
                        }
                        Step::Drain => break,
                        Step::Done => {
                            over = true;
                            break;
                        }
                    }
                }
                if self.samples_submission && queued > 0 {
                    self.sample_submission(queue, now, queued)?;
                }
            }
            if in_flight == 0 {
                if let Some(due) = wake {
                    now = self.sleep_until(due);
                }
            } else {
                match wake {
                    // Something is due before anything need complete: whichever comes first.
                    Some(due) if !PLAIN => queue.reap_until(due.saturating_sub(now), &mut self.completions)?,
                    _ if over => queue.reap(1, &mut self.completions)?,
                    _ => queue.reap(least, &mut self.completions)?,
                }
                now = self.clock.now();
                if !PLAIN && in_flight == self.depth {
                    self.room_since = now;
                }
                in_flight -= self.completions.len() as u32;
                self.take_in::<PLAIN>(now, counting, place)?;
            }
            if now >= event {
                if !counting {
                    counting = true;
                    self.begun_counting = true;
                    call.observer.window_opens();
                    now = self.clock.now();
                    start = now;
                    self.count_from = start;
                    if self.pace.is_open_loop() {
                        self.pace.close_at(start.saturating_add(most));
                    }
                } else if now - start >= most && !(self.pace.is_open_loop() && now - start < patience) {
                    // An open loop goes on until everything has begun that was due in its window: what a
                    // stall at the end delays must count like any other.
                    over = true;
                } else if now - start < most {
                    self.sample();
                }
                event = self.next_event(start, most);
                if event <= now {
                    event = now + CLOSING_LOOK_NS;
                }
            }
        }
        if matches!(until, Until::Window(_)) {
            call.observer.window_closes();
        }
        self.wind_down(queue, place, in_flight, counting, until, (start, now))
    }

    /// The same loop for plain work with one operation in flight, which needs no queue: the end of one
    /// operation is the beginning of the next.
    fn turn_alone(
        &mut self,
        queue: &mut dyn Queue,
        place: &Place,
        ramp_ns: u64,
        until: Until,
        call: &mut Call<'_>,
    ) -> Result<u64, EngineError> {
        let most = until.most_ns();
        let clock = self.clock;
        let mut counting = ramp_ns == 0;
        if counting {
            call.observer.window_opens();
        }
        let mut now = clock.now();
        let mut start = self.opening_since.unwrap_or(now);
        let mut event = if counting { self.next_event(start, most) } else { start.saturating_add(ramp_ns) };
        loop {
            heed(call.stop)?;
            if call.end.load(Ordering::Relaxed) {
                break;
            }
            let span = match self.places.next() {
                Some(span) => span,
                None => match self.begin_again(until)? {
                    Some(span) => {
                        now = clock.now();
                        span
                    }
                    None => break,
                },
            };
            let (chunk, action) = self.chunk_for(&span);
            if span.bytes >= SLOW_TO_RENEW_BYTES && action == Action::Write {
                now = clock.now();
            }
            let Span { file, offset, bytes, direction } = span;
            let result = queue.perform(Operation { chunk, file, offset, bytes, action });
            let begun = std::mem::replace(&mut now, clock.now());
            self.contents.give_back(chunk);
            let expected = action.moves(bytes);
            let tallied = direction.into();
            if result != expected {
                let flight = Flight { begun, offset, bytes, file, expected, action, tallied };
                self.complain(result, &flight, place)?;
            }
            if counting {
                let counts = &mut self.counts[tallied as usize];
                counts.operations += 1;
                counts.bytes += u64::from(bytes);
                counts.latencies.record(now.saturating_sub(begun));
            }
            if now >= event {
                if !counting {
                    counting = true;
                    call.observer.window_opens();
                    now = clock.now();
                    start = now;
                } else if now - start >= most {
                    break;
                } else {
                    self.sample();
                }
                event = self.next_event(start, most);
            }
        }
        if matches!(until, Until::Window(_)) {
            call.observer.window_closes();
        }
        self.wind_down(queue, place, 0, counting, until, (start, now))
    }

    /// Takes in what is still in flight: uncounted after a slice, counted in a job, whose end also
    /// brings the last sync.
    fn wind_down(
        &mut self,
        queue: &mut dyn Queue,
        place: &Place,
        mut in_flight: u32,
        counting: bool,
        until: Until,
        (start, mut now): (u64, u64),
    ) -> Result<u64, EngineError> {
        let window = matches!(until, Until::Window(_));
        let elapsed = match until {
            // Everything that was due in the window is counted, whenever it ended.
            Until::Window(most) if self.pace.is_open_loop() => most,
            Until::Window(_) | Until::LoopEnd(_) => now - start,
        };
        while in_flight > 0 {
            queue.reap(1, &mut self.completions)?;
            now = self.clock.now();
            in_flight -= self.completions.len() as u32;
            self.take_in::<false>(now, counting && (!window || self.pace.is_open_loop()), place)?;
        }
        if window {
            self.pace.end(elapsed);
            return Ok(elapsed);
        }
        let Io { end_fsync, fsync_on_close, rw, .. } = self.task.io;
        if (end_fsync || fsync_on_close) && rw.writes() && !self.null {
            // Also what was closed to make room for another file.
            for slot in 0..self.handles.len() as u32 {
                let file = match &self.handles[slot as usize] {
                    Some(file) => file.clone(),
                    None if end_fsync => self.open_slot(place, slot)?,
                    None => continue,
                };
                fsync(&*file).map_err(|errno| EngineError::file("sync", self.path(place, slot), errno))?;
            }
            now = self.clock.now();
        }
        self.pace.end(now - start);
        if !counting {
            // It ended before its ramp did: nothing counts.
            return Ok(0);
        }
        self.elapsed_before_ns += now - start;
        Ok(now - start)
    }

    fn next_event(&self, start: u64, most: u64) -> u64 {
        let end = start.saturating_add(most);
        if !self.task.whole {
            return end;
        }
        let samples = self.counts.iter().map(|counts| counts.samples.len()).max().unwrap_or(0) as u64;
        let next = (samples + 1) * SAMPLE_NS;
        end.min(start.saturating_add(next.saturating_sub(self.elapsed_before_ns)))
    }

    /// Notes how many operations there are at each half second.
    #[cold]
    fn sample(&mut self) {
        for counts in self.counts.iter_mut() {
            counts.samples.push(counts.operations);
        }
    }

    #[cold]
    fn sample_submission(&mut self, queue: &mut dyn Queue, now: u64, queued: u64) -> Result<(), EngineError> {
        self.batches += 1;
        if self.batches < SUBMISSION_SAMPLED_EVERY {
            return Ok(());
        }
        self.batches = 0;
        queue.submit()?;
        if self.begun_counting {
            self.submission.add(self.clock.now() - now, queued);
        }
        Ok(())
    }

    /// Queues the next operation, its contents made.
    #[inline]
    fn step<const PLAIN: bool>(
        &mut self,
        queue: &mut dyn Queue,
        place: &Place,
        mut now: u64,
        until: Until,
        in_flight: u32,
    ) -> Result<Step, EngineError> {
        if !PLAIN {
            if let Some((span, due)) = self.pace.kept() {
                if self.pace.is_past(due) {
                    return Ok(Step::Done);
                }
                if due > now {
                    return Ok(Step::Wait(due));
                }
                self.pace.take_kept();
                let begun = self.pace.started(due, now, self.room_since, self.begun_counting);
                return self.special(queue, place, span, begun);
            }
            if let Some(other) = self.before_the_next(queue, now, in_flight)? {
                return Ok(other);
            }
        }
        let span = match self.places.next() {
            Some(span) => span,
            None => match self.begin_again(until)? {
                Some(span) => {
                    now = self.clock.now();
                    span
                }
                None => return Ok(Step::Done),
            },
        };
        if PLAIN {
            return self.plain(queue, span, now);
        }
        match self.pace.due(span.direction, span.bytes) {
            Arrival::Free => self.special(queue, place, span, now),
            Arrival::At(due) if self.pace.is_past(due) => Ok(Step::Done),
            Arrival::At(due) if due <= now => {
                let begun = self.pace.started(due, now, self.room_since, self.begun_counting);
                self.special(queue, place, span, begun)
            }
            Arrival::At(due) => {
                self.pace.keep(span, due);
                Ok(Step::Wait(due))
            }
        }
    }

    /// What comes before another place: a sync, a pause.
    fn before_the_next(
        &mut self,
        queue: &mut dyn Queue,
        now: u64,
        in_flight: u32,
    ) -> Result<Option<Step>, EngineError> {
        if self.resume_at > now {
            return Ok(Some(Step::Wait(self.resume_at)));
        }
        if let Some(action) = self.sync_that_is_due() {
            let chunk = self.contents.take();
            let file = self.last_written;
            self.flights[chunk as usize] = Flight { begun: now, file, action, tallied: Tallied::Sync, ..NOTHING };
            queue.queue(Operation { chunk, file, offset: 0, bytes: 0, action })?;
            return Ok(Some(Step::Queued));
        }
        let io = &self.task.io;
        if io.thinktime_seconds > 0.0 && self.issued_since_think >= io.thinktime_blocks.max(1) {
            if in_flight > 0 {
                return Ok(Some(Step::Drain));
            }
            self.issued_since_think = 0;
            self.resume_at = self.think(now);
            return Ok(Some(Step::Wait(self.resume_at)));
        }
        Ok(None)
    }

    /// Computes for as long as the job says, and answers until when to sleep.
    fn think(&self, now: u64) -> u64 {
        let io = &self.task.io;
        let spin = now + nanoseconds(io.thinktime_spin_seconds.min(io.thinktime_seconds));
        while self.clock.now() < spin {
            std::hint::spin_loop();
        }
        now + nanoseconds(io.thinktime_seconds)
    }

    /// In job files a sync is an operation of its own, as in fio; in slices at depth 1 it belongs to
    /// its write.
    fn sync_that_is_due(&mut self) -> Option<Action> {
        let (fsync, fdatasync) = (self.task.io.fsync, self.task.io.fdatasync);
        if fsync > 0 && self.writes_since_fsync >= fsync {
            self.writes_since_fsync = 0;
            // It does what an fdatasync would do too.
            if self.writes_since_sync >= fdatasync {
                self.writes_since_sync = 0;
            }
            return Some(Action::Fsync);
        }
        if fdatasync > 0 && !self.joins_syncs() && self.writes_since_sync >= fdatasync {
            self.writes_since_sync = 0;
            return Some(Action::Fdatasync);
        }
        None
    }

    fn joins_syncs(&self) -> bool {
        !self.task.whole && self.task.io.fdatasync > 0 && self.depth == 1
    }

    /// All places of a loop are used up.
    #[cold]
    fn begin_again(&mut self, until: Until) -> Result<Option<Span>, EngineError> {
        if until == Until::LoopEnd(None) || (!self.task.io.time_based && self.task.whole) {
            return Ok(None);
        }
        if self.task.io.invalidate && !self.task.io.direct && self.device.is_none() && self.task.whole {
            for file in self.handles.iter().flatten() {
                // Best effort, as before the work: a page that is dirty or in use stays.
                let _ = files::invalidate(file);
            }
        }
        self.places.restart();
        Ok(self.places.next())
    }

    /// An operation of work with more to it than offsets.
    fn special(
        &mut self,
        queue: &mut dyn Queue,
        place: &Place,
        mut span: Span,
        begun: u64,
    ) -> Result<Step, EngineError> {
        if self.append.is_some() {
            if span.offset == 0 && self.written_bytes > 0 {
                self.advance(queue, place)?;
            }
        } else {
            self.ensure_open(queue, place, span.file)?;
            span.offset += self.shifts[span.file as usize];
        }
        self.issued_since_think += 1;
        let (chunk, mut action) = self.chunk_for(&span);
        if action == Action::Write {
            self.last_written = span.file;
            if self.task.io.fsync > 0 || self.task.io.fdatasync > 0 {
                self.writes_since_sync += 1;
                self.writes_since_fsync += 1;
                if self.joins_syncs() && self.writes_since_sync == self.task.io.fdatasync {
                    self.writes_since_sync = 0;
                    action = Action::WriteAndSync;
                }
            }
            if let Some(verifier) = &mut self.verifier {
                let bytes = &mut self.contents.bytes_mut(chunk)[..span.bytes as usize];
                verifier.issue(bytes, span.file, span.offset);
            }
        }
        self.hand_over(queue, chunk, span, action, begun)
    }

    /// An operation of work with nothing more to it than offsets.
    #[inline]
    fn plain(&mut self, queue: &mut dyn Queue, span: Span, begun: u64) -> Result<Step, EngineError> {
        let (chunk, action) = self.chunk_for(&span);
        self.hand_over(queue, chunk, span, action, begun)
    }

    /// Memory for an operation; a write's holds what it writes.
    #[inline]
    fn chunk_for(&mut self, span: &Span) -> (u32, Action) {
        match span.direction {
            Direction::Read => (self.contents.take_for_read(), Action::Read),
            Direction::Write => {
                let chunk = self.contents.take();
                self.contents.renew(chunk, span.bytes);
                self.written_bytes += u64::from(span.bytes);
                (chunk, Action::Write)
            }
            Direction::Trim => (self.contents.take(), Action::Trim),
        }
    }

    #[inline]
    fn hand_over(
        &mut self,
        queue: &mut dyn Queue,
        chunk: u32,
        span: Span,
        action: Action,
        mut begun: u64,
    ) -> Result<Step, EngineError> {
        let Span { file, offset, bytes, direction } = span;
        if bytes >= SLOW_TO_RENEW_BYTES && direction == Direction::Write && self.free {
            begun = self.clock.now();
        }
        let expected = action.moves(bytes);
        self.flights[chunk as usize] =
            Flight { begun, offset, bytes, file, expected, action, tallied: direction.into() };
        queue.queue(Operation { chunk, file, offset, bytes, action })?;
        Ok(Step::Queued)
    }

    /// The appended file is full: on to the next.
    #[cold]
    fn advance(&mut self, queue: &mut dyn Queue, place: &Place) -> Result<(), EngineError> {
        if let (Some(append), Some(directory)) = (&mut self.append, place.directory()) {
            let file = append.advance(directory)?;
            self.handles[0] = Some(file.clone());
            queue.set_file(0, Some(file))?;
        }
        Ok(())
    }

    /// A file that is not open takes the place of the one that has been open for longest.
    fn ensure_open(&mut self, queue: &mut dyn Queue, place: &Place, slot: u32) -> Result<(), EngineError> {
        if self.null || self.handles[slot as usize].is_some() {
            return Ok(());
        }
        if self.open_slots.len() >= files::most_open(&self.task.io, &self.task.files)
            && let Some(oldest) = self.open_slots.pop_front()
        {
            let file = self.handles[oldest as usize].take();
            if let (true, Some(file)) = (self.task.io.fsync_on_close, &file) {
                fsync(&**file).map_err(|errno| EngineError::file("sync", self.path(place, oldest), errno))?;
            }
            queue.set_file(oldest, None)?;
        }
        let file = self.open_slot(place, slot)?;
        self.handles[slot as usize] = Some(file.clone());
        self.open_slots.push_back(slot);
        queue.set_file(slot, Some(file))
    }

    /// Checks what has completed, and counts it where it is measured.
    #[inline]
    fn take_in<const PLAIN: bool>(&mut self, now: u64, counting: bool, place: &Place) -> Result<(), EngineError> {
        for index in 0..self.completions.len() {
            let Completion { chunk, result } = self.completions[index];
            let flight = &self.flights[chunk as usize];
            if result != flight.expected {
                self.complain(result, flight, place)?;
            }
            if !PLAIN && let Some(verifier) = &mut self.verifier {
                let bytes = &self.contents.bytes(chunk)[..flight.bytes as usize];
                match flight.action {
                    Action::Write | Action::WriteAndSync => verifier.complete(flight.file, flight.offset, flight.bytes),
                    Action::Read => verifier.check(bytes, flight.file, flight.offset)?,
                    Action::Trim | Action::Fsync | Action::Fdatasync => {}
                }
            }
            self.contents.give_back(chunk);
            if counting && (PLAIN || flight.begun >= self.count_from || !self.pace.is_open_loop()) {
                let counts = &mut self.counts[flight.tallied as usize];
                let latency = now.saturating_sub(flight.begun);
                counts.operations += 1;
                counts.bytes += u64::from(flight.bytes);
                counts.latencies.record(latency);
                if !PLAIN {
                    self.pace.observe(latency);
                }
            }
        }
        self.completions.clear();
        Ok(())
    }

    /// What a result means that is not simply success.
    #[cold]
    fn complain(&self, result: i32, flight: &Flight, place: &Place) -> Result<(), EngineError> {
        let direct = self.task.io.direct || self.device.is_some();
        let path = self.path(place, flight.file);
        let flags = self.flags();
        let remedy = |errno| flags.remedy(errno).or(alignment_remedy(errno, direct));
        check_result(result, flight.action, u64::from(flight.bytes), flight.offset, path, remedy)
    }

    fn path(&self, place: &Place, slot: u32) -> PathBuf {
        match (&self.device, place.directory(), &self.append) {
            (Some(device), ..) => device.clone(),
            (None, Some(directory), Some(append)) => append.path(directory.0),
            (None, Some(directory), None) => directory.0.join(&self.task.files[slot as usize].name),
            (None, None, _) => PathBuf::from("nowhere"),
        }
    }

    /// Sleeps until shortly before the moment, then waits actively; answers the time. Returns early
    /// from a long sleep, so that the stop flag is seen.
    fn sleep_until(&self, due: u64) -> u64 {
        let now = self.clock.now();
        let left = due.saturating_sub(now);
        if left > WAKE_EARLY_NS {
            std::thread::sleep(Duration::from_nanos((left - WAKE_EARLY_NS).min(LONGEST_SLEEP_NS)));
            return self.clock.now();
        }
        loop {
            let now = self.clock.now();
            if now >= due {
                return now;
            }
            std::hint::spin_loop();
        }
    }
}

/// What a result means that is not simply the whole block.
#[cold]
pub(super) fn check_result(
    result: i32,
    action: Action,
    bytes: u64,
    offset: u64,
    path: PathBuf,
    remedy: impl FnOnce(i32) -> Option<&'static str>,
) -> Result<(), EngineError> {
    let expected = action.moves(bytes as u32);
    let action = match action {
        Action::Read => "read",
        Action::Write => "write",
        Action::WriteAndSync => "write and sync",
        Action::Trim => "discard",
        Action::Fsync | Action::Fdatasync => "sync",
    };
    match u64::try_from(result) {
        Ok(_) if result == expected => Ok(()),
        Ok(moved) => Err(EngineError::Short { action, moved, bytes, offset, path }),
        Err(_) => Err(EngineError::Operation { action, bytes, offset, path, remedy: remedy(-result), errno: -result }),
    }
}
