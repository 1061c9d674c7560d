//! Steady block I/O in slices of time: one worker in this thread, or several in threads of their own.

mod other_client;
mod pooled;

use super::direct::DirectFiles;
use super::files::{self, FilePlan};
use super::memory;
use super::populate::{Filling, populate};
use super::shared::{self, SharedPart};
use super::worker::{Call, Counts, Tallied, Task, Until, Worker, windows};
use super::{Observer, OtherClient, Work};
use crate::clock::{nanoseconds, seconds};
use crate::compressibility;
use crate::error::EngineError;
use crate::io;
use crate::marked::{Marks, Origin};
use crate::target::{Access, Directory, OpenTarget, open_file};
use crate::window::{BANDWIDTH, LATENCY_P99, OPERATIONS_PER_SECOND, Window};
use crate::workers::end_naps_on_time;
use model::job::{Data, Direction, FileLayout, Io, Pattern, Rate, RateProcess};
use model::ranks::Clients;
use model::{Flag, NoteKind};
use pooled::PooledWorkers;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// The populated files; appending work has names of its own, of the same length.
const FILE_NAME: &str = "fairlane.contents";
/// From this block size on people speak of bandwidth rather than of operations.
const BANDWIDTH_FROM_BYTES: u64 = 64 << 10;

/// Steady block I/O, prepared.
pub struct SteadyWork {
    io: Io,
    /// How many clients do the same work.
    of: u32,
    workers: Workers,
    /// Of direct I/O in a directory: what of its files lies in the page cache.
    direct: Option<DirectFiles>,
    /// Such a file that other clients make, too: until the first slice begins it may lie in the page cache.
    made_by_all: Option<FilePlan>,
    /// What a reader should know of the data.
    notes: Vec<String>,
    stop: Arc<AtomicBool>,
}

/// Who works.
enum Workers {
    /// One, here.
    One(Box<Worker>),
    /// Several, each in its own thread.
    Pooled(PooledWorkers),
}

impl SteadyWork {
    /// Makes the files that the work needs: written in full and synced, or an empty one to append to.
    /// Devices are taken as they are; writing work overwrites their first `io.size` bytes. Of a file that clients share,
    /// each makes the parts of its own workers.
    ///
    /// # Errors
    /// Where the I/O engine or O_DIRECT does not work here, the device is too small, or a call
    /// fails.
    pub fn prepare(
        place: &OpenTarget,
        io: &Io,
        (seed, clients): (u64, Clients),
        stop: Arc<AtomicBool>,
    ) -> Result<Self, EngineError> {
        let null = place.is_null() || io.ioengine == "null";
        if !null {
            io::find(&io.ioengine)?;
        }
        fits(place, io, clients)?;
        if !null {
            memory::check_buffers(std::iter::once(io))?;
        }
        let mut notes = Vec::new();
        if io.rw.writes() && io.data != Data::Incompressible {
            let block = io.blocks(Direction::Write).smallest().get();
            let ratio = compressibility::check_blocks(&io.data, block, seed)?;
            let told = |ratio: f64| NoteKind::Data.note(format_args!("zstd -3 makes {ratio:.2}:1 of what is written"));
            notes.extend(ratio.map(told));
        }
        end_naps_on_time();
        let plans = (0..io.numjobs).map(|worker| plan(io, worker, (seed, clients)));
        let plans = plans.collect::<Result<Vec<Vec<FilePlan>>, EngineError>>()?;
        if let (false, Some(directory)) = (null || io.rw == Pattern::Append, place.directory()) {
            make_files(directory, io, &plans, (seed, clients), &stop)?;
        }
        let is_looked_at = io.direct && !null && io.rw != Pattern::Append;
        let by_all = is_looked_at && io.file != FileLayout::Own && !clients.is_alone();
        let made_by_all = plans.iter().flatten().next().filter(|_| by_all).cloned();
        let direct = match place.directory() {
            Some(directory) if is_looked_at && !by_all => DirectFiles::let_go(directory, plans.iter().flatten()),
            _ => None,
        };
        let task = |worker: u32, files: Vec<FilePlan>| Task {
            io: io.clone(),
            worker,
            files,
            part: SharedPart::worked_on(io, clients, worker),
            seed: worker_seed(seed, worker),
            whole: false,
            marks: marks(io, clients, seed, worker),
        };
        let mut tasks = plans.into_iter().enumerate().map(|(worker, files)| task(worker as u32, files));
        let workers = match (io.numjobs, tasks.next()) {
            (1, Some(only)) => {
                let mut worker = Box::new(Worker::new(place, only, None)?);
                worker.open(place)?;
                Workers::One(worker)
            }
            (_, first) => {
                Workers::Pooled(PooledWorkers::start(place, first.into_iter().chain(tasks).collect(), &stop)?)
            }
        };
        Ok(SteadyWork { io: io.clone(), of: clients.of, workers, direct, made_by_all, notes, stop })
    }

    fn window(&self, direction: Direction, counts: &Counts, slice_ns: u64, elapsed_seconds: f64) -> Window {
        let length = windows::length_ns(slice_ns);
        Window {
            windows_operations_per_second: windows::rates(&counts.samples, length),
            windows_seconds: if counts.samples.is_empty() { 0.0 } else { seconds(length) },
            group: direction.name().to_owned(),
            primary_metric: primary_metric(&self.io, direction),
            operations: counts.operations,
            bytes: counts.bytes,
            seconds: elapsed_seconds,
            latencies: counts.latencies.clone(),
            ..Window::default()
        }
    }
}

/// The metric that verdicts use: latency in an open loop, bandwidth for large blocks, else IOPS.
pub(super) fn primary_metric(io: &Io, direction: Direction) -> &'static str {
    let paced = io.rate.as_ref().is_some_and(|rate| *rate.for_direction(direction) != Rate::Unlimited);
    match io.rate_process {
        RateProcess::Poisson if paced => LATENCY_P99,
        _ if io.blocks(direction).smallest().get() >= BANDWIDTH_FROM_BYTES => BANDWIDTH,
        _ => OPERATIONS_PER_SECOND,
    }
}

/// Makes the files, written in full and synced; of one that clients share, what this one owns.
fn make_files(
    directory: Directory<'_>,
    io: &Io,
    plans: &[Vec<FilePlan>],
    (seed, clients): (u64, Clients),
    stop: &AtomicBool,
) -> Result<(), EngineError> {
    let is_shared = io.file != FileLayout::Own;
    if let Some(first) = plans.iter().flatten().next().filter(|_| io.direct || is_shared) {
        // What an earlier work left goes, unless another client may be at work in it by now. And before the long part: a
        // filesystem without direct I/O says so at once.
        let access = if is_shared && !clients.is_alone() { Access::Shared } else { Access::Create };
        files::make_parents(directory, &first.name)?;
        open_file(directory, &first.name, access, io.direct)?;
    }
    let filling = |seed_of_contents: u64, worker: u32, file: u32| {
        let marks = marks(io, clients, seed, worker).map(|marks| marks.by(Origin::Populate));
        Filling { seed: seed_of_contents, marks, file }
    };
    if is_shared {
        return shared::make_parts(directory, io, clients, |worker| filling(part_seed(seed, worker), worker, 0), stop);
    }
    // Workers may share their files: each is written once.
    let mut made = BTreeSet::new();
    for (worker, plan) in (0_u32..).zip(plans) {
        for (number, file) in (0_u32..).zip(plan) {
            if made.insert(&file.name) {
                files::make_parents(directory, &file.name)?;
                let filling = filling(file_seed(seed, made.len() as u64 - 1), worker, number);
                populate(directory, &file.name, file.size, io, filling, stop)?;
            }
        }
    }
    Ok(())
}

/// The seed of what a worker's part of a file holds before the work.
fn part_seed(seed: u64, worker: u32) -> u64 {
    seed ^ u64::from(worker)
}

/// The same of a client's file, which has this number among all of the client's.
fn file_seed(seed: u64, number: u64) -> u64 {
    seed ^ number
}

/// The seed of a worker's offsets and contents.
fn worker_seed(seed: u64, worker: u32) -> u64 {
    seed ^ u64::from(worker).rotate_left(40)
}

/// How a worker's blocks say where they belong; `None`: nobody else reads them, or they could not be told by that.
fn marks(io: &Io, clients: Clients, seed: u64, worker: u32) -> Option<Marks> {
    (!clients.is_alone() && other_client::can_be_told(io)).then(|| Marks::new(seed, worker))
}

/// One file of equal name in every lane, unless the workload says otherwise.
fn plan(io: &Io, worker: u32, (seed, clients): (u64, Clients)) -> Result<Vec<FilePlan>, EngineError> {
    if io.file != FileLayout::Own {
        return Ok(vec![FilePlan { name: shared::FILE_NAME.to_owned(), size: shared::whole_bytes(io, clients)? }]);
    }
    let plain = io.nrfiles == 1 && io.numjobs == 1 && io.filename.is_empty() && io.filename_format.is_empty();
    Ok(match plain && io.filesize.is_none() {
        true => vec![FilePlan { name: FILE_NAME.to_owned(), size: io.size.get() }],
        false => files::plan("fairlane", io, worker, seed),
    })
}

/// A device must hold the work.
fn fits(place: &OpenTarget, io: &Io, clients: Clients) -> Result<(), EngineError> {
    let bytes = if io.file == FileLayout::Own { io.size.get() } else { shared::whole_bytes(io, clients)? };
    match place {
        OpenTarget::Device { path, size_bytes } if bytes > *size_bytes => Err(EngineError::Unsuitable(format!(
            "{} holds {size_bytes} bytes, the workload needs {bytes}; lower its size",
            model::text::escaped_path(path)
        ))),
        _ => Ok(()),
    }
}

impl Work for SteadyWork {
    fn slice(
        &mut self,
        place: &OpenTarget,
        warm_up_seconds: f64,
        window_seconds: f64,
        observer: &mut dyn Observer,
    ) -> Result<Vec<Window>, EngineError> {
        let (warm_up, window) = (nanoseconds(warm_up_seconds), nanoseconds(window_seconds));
        let directions = self.io.directions();
        let of = |counts: &[Counts; 4], direction: Direction| counts[Tallied::from(direction) as usize].clone();
        if let (Some(file), Some(directory)) = (self.made_by_all.take(), place.directory()) {
            self.direct = DirectFiles::let_go(directory, std::iter::once(&file));
        }
        let (counts, elapsed): (Vec<Counts>, f64) = match &mut self.workers {
            Workers::One(worker) => {
                worker.tidy(place)?;
                worker.clear();
                let never = AtomicBool::new(false);
                let mut call = Call { stop: &self.stop, end: &never, observer };
                let elapsed = worker.drive(place, warm_up, Until::Window(window), &mut call)?;
                worker.tidy(place)?;
                (directions.iter().map(|&direction| of(worker.counts(), direction)).collect(), seconds(elapsed))
            }
            Workers::Pooled(pooled) => pooled.slice(place, warm_up, window, directions, observer)?,
        };
        // The window is closed: what is looked at now is in no figure.
        let direct = self.direct.as_ref().zip(place.directory());
        let cached_files = direct.and_then(|(files, directory)| files.look(directory));
        let kept_files = self.direct.as_ref().and_then(DirectFiles::kept);
        let windows = directions.iter().zip(&counts).map(|(&direction, counts)| Window {
            cached_files,
            kept_files,
            ..self.window(direction, counts, window, elapsed)
        });
        Ok(windows.collect())
    }

    fn wear_out(
        &mut self,
        place: &OpenTarget,
        operations: u64,
        observer: &mut dyn Observer,
    ) -> Result<Vec<Window>, EngineError> {
        let (true, Workers::One(worker)) = (self.io.wear_out, &mut self.workers) else {
            return Err(EngineError::Unsuitable("this workload does not wear out; set wear_out".to_owned()));
        };
        let never = AtomicBool::new(false);
        let mut call = Call { stop: &self.stop, end: &never, observer };
        let elapsed_ns = worker.go_on(place, operations, &mut call)?;
        let counts = worker.counts().clone();
        let of = |direction: Direction| &counts[Tallied::from(direction) as usize];
        let window = |&direction: &Direction| self.window(direction, of(direction), 0, seconds(elapsed_ns));
        Ok(self.io.directions().iter().map(window).collect())
    }

    fn watch_writes(&self, place: &OpenTarget) -> Vec<(String, u32, u32)> {
        let Some(directory) = place.directory().filter(|_| self.io.direct && self.io.rw.writes()) else {
            return Vec::new();
        };
        // Files that grow were not there before.
        let files = self.direct.clone().unwrap_or_else(|| DirectFiles::made_meanwhile(directory));
        let (watched, cached) = files.watch_writes(directory, self.io.blocks(Direction::Write).smallest().get());
        vec![(Direction::Write.name().to_owned(), watched, cached)]
    }

    fn check_other(&mut self, place: &OpenTarget, other: OtherClient) -> Result<u64, EngineError> {
        match place.directory().filter(|_| self.io.ioengine != "null" && self.of > 1) {
            Some(directory) => other_client::check(directory, &self.io, (other, self.of), &self.stop),
            None => Ok(0),
        }
    }

    fn written_bytes(&self) -> u64 {
        match &self.workers {
            Workers::One(worker) => worker.written_bytes(),
            Workers::Pooled(pooled) => pooled.written_bytes(),
        }
    }

    fn release(&mut self) {
        match &mut self.workers {
            Workers::One(worker) => worker.release(),
            Workers::Pooled(pooled) => pooled.release(),
        }
    }

    fn notes(&self) -> Vec<Flag> {
        let of_workers = match &self.workers {
            Workers::One(worker) => worker.notes(),
            Workers::Pooled(pooled) => pooled.notes(),
        };
        self.notes.iter().cloned().map(Flag::Note).chain(of_workers).collect()
    }
}
