//! Several workers of steady work, each in a thread of its own that lives as long as the work: a
//! worker's ring belongs to the thread that made it.

use crate::clock::{Clock, seconds};
use crate::error::EngineError;
use crate::target::OpenTarget;
use crate::workers::{Pool, end_naps_on_time};
use crate::workloads::Observer;
use crate::workloads::worker::{Call, Counts, Tallied, Task, Until, Worker};
use model::Flag;
use model::job::Direction;
use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::{Sender, channel};

/// From the command to the start of a slice: every thread has woken by then.
const HEAD_START_NS: u64 = 300_000;

/// The workers of one workload.
pub(super) struct PooledWorkers {
    pool: Pool<Worker>,
    stop: Arc<AtomicBool>,
    written_bytes: u64,
    notes: Vec<Flag>,
}

/// Tells when a worker's window opens and when it closes; `None`: nobody wants to know.
struct Moments(Option<Sender<()>>);

impl Observer for Moments {
    fn window_opens(&mut self) {
        // Nobody listens any longer where the race is over.
        let _ = self.0.as_ref().map(|moments| moments.send(()));
    }

    fn window_closes(&mut self) {
        self.window_opens();
    }
}

/// What a worker did in a slice.
struct Answer {
    counts: [Counts; 4],
    elapsed_ns: u64,
    written_bytes: u64,
    notes: Vec<Flag>,
}

impl PooledWorkers {
    /// Starts a thread for each task and opens its files.
    pub(super) fn start(place: &OpenTarget, tasks: Vec<Task>, stop: &Arc<AtomicBool>) -> Result<Self, EngineError> {
        let make = |task| {
            let place = place.try_clone()?;
            Ok(move || {
                end_naps_on_time();
                Worker::new(&place, task, None)
            })
        };
        let makers = tasks.into_iter().map(make).collect::<Result<Vec<_>, EngineError>>()?;
        let pool = Pool::start("worker", makers)?;
        let workers = PooledWorkers { pool, stop: stop.clone(), written_bytes: 0, notes: Vec::new() };
        workers.open(place)?;
        Ok(workers)
    }

    fn open(&self, place: &OpenTarget) -> Result<(), EngineError> {
        let open = |_| {
            let place = place.try_clone()?;
            Ok(move |worker: &mut Worker| worker.open(&place))
        };
        self.pool.run(open, || ()).map(|_| ())
    }

    /// One slice of all workers at once: counts by direction, and the seconds in which they were
    /// done at the sum of the workers' rates.
    pub(super) fn slice(
        &mut self,
        place: &OpenTarget,
        warm_up_ns: u64,
        window_ns: u64,
        directions: &[Direction],
        observer: &mut dyn Observer,
    ) -> Result<(Vec<Counts>, f64), EngineError> {
        // Opened before the common start: after a release every worker opens its files again.
        self.open(place)?;
        let begin_at = Clock::get().now() + HEAD_START_NS;
        let (first, moments) = channel();
        let first = Cell::new(Some(first));
        let job = |_| {
            let (place, stop, moments) = (place.try_clone()?, self.stop.clone(), Moments(first.take()));
            Ok(move |worker: &mut Worker| slice(worker, &place, begin_at, (warm_up_ns, window_ns), &stop, moments))
        };
        // The window is that of the first worker: what comes back after it is no part of it. Where that
        // one fails it says nothing more.
        let answers = self.pool.run(job, || {
            if moments.recv().is_ok() {
                observer.window_opens();
                if moments.recv().is_ok() {
                    observer.window_closes();
                }
            }
        })?;
        self.written_bytes = answers.iter().map(|answer| answer.written_bytes).sum();
        self.notes.clear();
        for note in answers.iter().flat_map(|answer| &answer.notes) {
            if !self.notes.contains(note) {
                self.notes.push(note.clone());
            }
        }
        let mut sums = vec![Counts::default(); directions.len()];
        let (mut operations, mut rate) = (0.0, 0.0);
        for answer in &answers {
            let mut own = 0;
            for (sum, &direction) in sums.iter_mut().zip(directions) {
                let counts = &answer.counts[Tallied::from(direction) as usize];
                sum.add(counts);
                own += counts.operations;
            }
            operations += own as f64;
            rate += own as f64 / seconds(answer.elapsed_ns).max(1e-9);
        }
        let elapsed = if rate > 0.0 { operations / rate } else { seconds(window_ns) };
        Ok((sums, elapsed))
    }

    /// Bytes written since the start.
    pub(super) fn written_bytes(&self) -> u64 {
        self.written_bytes
    }

    /// What the engines had to do without.
    pub(super) fn notes(&self) -> Vec<Flag> {
        self.notes.clone()
    }

    /// Closes every file.
    pub(super) fn release(&self) {
        let release = |worker: &mut Worker| {
            worker.release();
            Ok(())
        };
        // Nothing that closing says changes what happens next.
        let _ = self.pool.run(|_| Ok(release), || ());
    }
}

/// One worker's slice, in its thread.
fn slice(
    worker: &mut Worker,
    place: &OpenTarget,
    begin_at: u64,
    (warm_up_ns, window_ns): (u64, u64),
    stop: &AtomicBool,
    mut moments: Moments,
) -> Result<Answer, EngineError> {
    worker.clear();
    let clock = Clock::get();
    while clock.now() < begin_at {
        std::hint::spin_loop();
    }
    let never = AtomicBool::new(false);
    let mut call = Call { stop, end: &never, observer: &mut moments };
    let elapsed_ns = worker.drive(place, warm_up_ns, Until::Window(window_ns), &mut call)?;
    Ok(Answer {
        counts: worker.counts().clone(),
        elapsed_ns,
        written_bytes: worker.written_bytes(),
        notes: worker.notes(),
    })
}
