//! Steady block I/O on one file, as a closed loop at a fixed depth.

use super::append::AppendFiles;
use super::populate::populate;
use super::{Observer, Work, heed};
use crate::buffers::Buffers;
use crate::clock::{Clock, nanoseconds, seconds};
use crate::error::EngineError;
use crate::histogram::Latencies;
use crate::io::{self, Action, Completion, Operation, OperationFlags, Queue, Setup};
use crate::offsets::Offsets;
use crate::target::{Access, Place, open_device, open_file};
use crate::window::{BANDWIDTH, OPERATIONS_PER_SECOND, Window};
use model::workload::{Direction, Io, Pattern};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// The populated file; appending work has names of its own, of the same length.
const FILE_NAME: &str = "fairlane.contents";
/// From this block size on a write's new contents take long enough that the clock is read again
/// between making them and handing them over. Below it, one reading ends one turn and begins the
/// next.
const SLOW_TO_RENEW_BYTES: u64 = 64 << 10;
/// From this block size on people speak of bandwidth rather than of operations.
const BANDWIDTH_FROM_BYTES: u64 = 64 << 10;

/// Steady block I/O, prepared.
pub struct SteadyWork {
    io: Io,
    direction: Direction,
    offsets: Offsets,
    buffers: Buffers,
    /// By chunk: when the operation on it was handed over, and where it goes.
    in_flight: Vec<(u64, u64)>,
    completions: Vec<Completion>,
    latencies: Latencies,
    writes_since_sync: u32,
    written_bytes: u64,
    append: Option<AppendFiles>,
    queue: Option<Box<dyn Queue>>,
    path: PathBuf,
    direct: bool,
    stop: Arc<AtomicBool>,
}

impl SteadyWork {
    /// Makes the file that the work needs: written in full with incompressible data and synced, or
    /// an empty one to append to. Devices are taken as they are; writing work overwrites their
    /// first `io.size` bytes.
    ///
    /// # Errors
    /// Where the I/O engine or O_DIRECT does not work here, the device is too small, or a call
    /// fails.
    pub fn prepare(place: &Place, io: &Io, seed: u64, stop: Arc<AtomicBool>) -> Result<Self, EngineError> {
        let block_bytes = io.bs.get();
        let null = place.is_null() || io.ioengine == "null";
        if !null {
            io::find(&io.ioengine)?;
        }
        let direction = if io.rw.reads() { Direction::Read } else { Direction::Write };
        if let Place::Device { path, size_bytes } = place
            && io.size.get() > *size_bytes
        {
            return Err(EngineError::Unsuitable(format!(
                "{} holds {size_bytes} bytes, the workload needs {}; lower its size",
                path.display(),
                io.size.get()
            )));
        }
        let mut append = None;
        if let (false, Some(directory)) = (null, place.directory()) {
            if io.rw == Pattern::Append {
                append = Some(AppendFiles::begin(directory, io.direct)?);
            } else {
                if io.direct {
                    // Before the long part: a filesystem without direct I/O says so at once.
                    open_file(directory, FILE_NAME, Access::Create, true)?;
                }
                populate(directory, FILE_NAME, io.size.get(), seed, &stop)?;
            }
        }
        let buffers = match direction {
            Direction::Read => Buffers::for_reads(block_bytes, io.iodepth)?,
            _ => Buffers::for_writes(block_bytes, io.iodepth, seed)?,
        };
        let mut work = SteadyWork {
            in_flight: vec![(0, 0); buffers.memory().chunks() as usize],
            completions: Vec::with_capacity(io.iodepth as usize),
            offsets: Offsets::new(io.rw, block_bytes, io.size.get(), seed),
            buffers,
            direction,
            latencies: Latencies::new(),
            writes_since_sync: 0,
            written_bytes: 0,
            append,
            queue: None,
            path: PathBuf::new(),
            direct: io.direct || matches!(place, Place::Device { .. }),
            stop,
            io: io.clone(),
        };
        work.queue = Some(work.open(place)?);
        Ok(work)
    }

    /// Opens the file and a queue on it.
    fn open(&mut self, place: &Place) -> Result<Box<dyn Queue>, EngineError> {
        let null = place.is_null() || self.io.ioengine == "null";
        let engine = io::find(if null { "null" } else { &self.io.ioengine })?;
        let file = if null { None } else { self.open_file(place)? };
        (engine.open)(Setup {
            files: vec![file],
            writes: self.direction == Direction::Write,
            depth: self.io.iodepth,
            memory: self.buffers.memory().clone(),
            flags: OperationFlags::default(),
        })
    }

    fn open_file(&mut self, place: &Place) -> Result<Option<Rc<OwnedFd>>, EngineError> {
        let writes = self.direction == Direction::Write;
        if let Place::Device { path, .. } = place {
            self.path.clone_from(path);
            return open_device(path, writes).map(Some);
        }
        let Some(directory) = place.directory() else { return Ok(None) };
        if let Some(append) = &self.append {
            self.path = append.path(directory.0);
            return append.open_current(directory).map(Some);
        }
        self.path = directory.0.join(FILE_NAME);
        let access = if writes { Access::Write } else { Access::Read };
        open_file(directory, FILE_NAME, access, self.io.direct).map(Some)
    }

    /// The loop. The window opens and closes at the moment when completions were taken in: the ones
    /// before it do not count, those up to its end do. So a slow operation is never cut in half, a
    /// stall lengthens its window instead of emptying it, and the rate has no rounding error.
    fn drive(
        &mut self,
        queue: &mut dyn Queue,
        place: &Place,
        warm_up_ns: u64,
        window_ns: u64,
        observer: &mut dyn Observer,
    ) -> Result<(u64, u64), EngineError> {
        let mut now = Clock.now();
        let warm_until = now + warm_up_ns;
        let mut start = None;
        let (mut in_flight, mut operations) = (0, 0);
        if warm_up_ns == 0 {
            start = Some(now);
            observer.window_opens();
            now = Clock.now();
        }
        let elapsed_ns = loop {
            heed(&self.stop)?;
            while in_flight < self.io.iodepth {
                self.hand_over(queue, place, now)?;
                in_flight += 1;
            }
            queue.reap(1, &mut self.completions)?;
            now = Clock.now();
            let completed = self.completions.len() as u32;
            in_flight -= completed;
            self.take_in(now, start.is_some())?;
            if let Some(start) = start {
                operations += u64::from(completed);
                if now - start >= window_ns {
                    break now - start;
                }
            } else if now >= warm_until {
                start = Some(now);
                observer.window_opens();
                now = Clock.now();
            }
        };
        observer.window_closes();
        while in_flight > 0 {
            queue.reap(1, &mut self.completions)?;
            in_flight -= self.completions.len() as u32;
            self.take_in(0, false)?;
        }
        Ok((operations, elapsed_ns))
    }

    /// Queues the next operation.
    #[inline]
    fn hand_over(&mut self, queue: &mut dyn Queue, place: &Place, now: u64) -> Result<(), EngineError> {
        let next = self.offsets.next_place();
        let chunk = self.buffers.take();
        let mut handed_over = now;
        let mut action = if self.direction == Direction::Write { Action::Write } else { Action::Read };
        if self.direction == Direction::Write {
            if next.wrapped && self.append.is_some() {
                self.advance(queue, place)?;
            }
            self.buffers.renew(chunk);
            self.written_bytes += self.io.bs.get();
            if self.io.bs.get() >= SLOW_TO_RENEW_BYTES {
                handed_over = Clock.now();
            }
            if self.io.fdatasync > 0 {
                self.writes_since_sync += 1;
                if self.writes_since_sync == self.io.fdatasync {
                    self.writes_since_sync = 0;
                    action = Action::WriteAndSync;
                }
            }
        }
        self.in_flight[chunk as usize] = (handed_over, next.offset);
        queue.queue(Operation { chunk, file: 0, offset: next.offset, bytes: self.io.bs.get() as u32, action })
    }

    /// The appended file is full: on to the next.
    #[cold]
    fn advance(&mut self, queue: &mut dyn Queue, place: &Place) -> Result<(), EngineError> {
        if let (Some(append), Some(directory)) = (&mut self.append, place.directory()) {
            queue.set_file(0, Some(append.advance(directory)?))?;
            self.path = append.path(directory.0);
        }
        Ok(())
    }

    /// Checks what has completed, and counts its latency where it is measured.
    #[inline]
    fn take_in(&mut self, now: u64, measured: bool) -> Result<(), EngineError> {
        let bytes = self.io.bs.get();
        for Completion { chunk, result } in self.completions.drain(..) {
            let (handed_over, offset) = self.in_flight[chunk as usize];
            if result as i64 != bytes as i64 {
                let action = match self.direction {
                    Direction::Read => Action::Read,
                    _ if self.io.fdatasync > 0 => Action::WriteAndSync,
                    _ => Action::Write,
                };
                check_result(result, action, bytes, offset, &self.path, self.direct)?;
            }
            self.buffers.give_back(chunk);
            if measured {
                self.latencies.record(now - handed_over);
            }
        }
        Ok(())
    }
}

impl Work for SteadyWork {
    fn slice(
        &mut self,
        place: &Place,
        warm_up_seconds: f64,
        window_seconds: f64,
        observer: &mut dyn Observer,
    ) -> Result<Vec<Window>, EngineError> {
        let mut queue = match self.queue.take() {
            Some(queue) => queue,
            None => self.open(place)?,
        };
        if let (Some(append), Some(directory)) = (&mut self.append, place.directory()) {
            append.tidy(directory)?;
        }
        self.latencies.clear();
        let driven =
            self.drive(&mut *queue, place, nanoseconds(warm_up_seconds), nanoseconds(window_seconds), observer);
        let (operations, elapsed_ns) = match driven {
            Ok(measured) => {
                self.queue = Some(queue);
                measured
            }
            Err(error) => {
                // The queue's drop waits for what is in flight; then every chunk is free again.
                drop(queue);
                self.completions.clear();
                self.buffers.free_all();
                return Err(error);
            }
        };
        if let (Some(append), Some(directory)) = (&mut self.append, place.directory()) {
            append.tidy(directory)?;
        }
        let bytes = self.io.bs.get();
        Ok(vec![Window {
            group: self.direction.name().to_owned(),
            primary_metric: if bytes >= BANDWIDTH_FROM_BYTES { BANDWIDTH } else { OPERATIONS_PER_SECOND },
            operations,
            bytes: operations * bytes,
            seconds: seconds(elapsed_ns),
            sync_seconds: 0.0,
            latencies: self.latencies.clone(),
        }])
    }

    fn written_bytes(&self) -> u64 {
        self.written_bytes
    }

    fn release(&mut self) {
        self.queue = None;
        if let Some(append) = &mut self.append {
            append.release();
        }
    }

    fn notes(&self) -> Vec<String> {
        self.queue.as_ref().map(|queue| queue.notes().to_vec()).unwrap_or_default()
    }
}

/// What a result means that is not simply the whole block.
#[cold]
pub(super) fn check_result(
    result: i32,
    action: Action,
    bytes: u64,
    offset: u64,
    path: &Path,
    direct: bool,
) -> Result<(), EngineError> {
    let action = match action {
        Action::Read => "read",
        Action::Write => "write",
        Action::WriteAndSync => "write and sync",
        Action::Trim => "discard",
        Action::Fsync | Action::Fdatasync => "sync",
    };
    let path = path.to_owned();
    match u64::try_from(result) {
        Ok(moved) if moved == bytes => Ok(()),
        Ok(moved) => Err(EngineError::Short { action, moved, bytes, offset, path }),
        Err(_) => Err(EngineError::Operation { action, bytes, offset, path, direct, errno: -result }),
    }
}
