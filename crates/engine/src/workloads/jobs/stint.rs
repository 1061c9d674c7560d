//! One worker of a job, in its own thread or process: its loops, from the common beginning to its outcome.

use super::outcome::Outcome;
use crate::clock::{Clock, nanoseconds};
use crate::error::EngineError;
use crate::target::OpenTarget;
use crate::verify::Ledger;
use crate::workers::{Signals, Usage, end_naps_on_time};
use crate::workloads::files::{self, FilePlan};
use crate::workloads::verifier::Verifier;
use crate::workloads::worker::{Call, Task, Until, Worker};
use crate::workloads::{Observer, heed};
use model::job::Io;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// What one worker has to do, in its own thread or process.
pub(super) struct Stint {
    pub(super) task: Task,
    pub(super) ledger: Option<Arc<Ledger>>,
    /// All jobs of a run share it, so that one reads what another wrote.
    pub(super) verify_seed: u64,
}

impl Stint {
    pub(super) fn serve(self, place: &OpenTarget, signals: &Signals) -> Result<Outcome, EngineError> {
        let clock = Clock::get();
        let io = self.task.io.clone();
        let plan = self.task.files.clone();
        let verifier = Verifier::new(&self.task, self.ledger, self.verify_seed)?;
        end_naps_on_time();
        let mut worker = Worker::new(place, self.task, verifier)?;
        if !io.create_on_open && !io.create_only {
            worker.open(place)?;
        }
        if !signals.wait_to_begin(clock) {
            return Err(EngineError::Interrupted);
        }
        pause(io.startdelay_seconds, clock, signals)?;
        let mut outcome = Outcome::default();
        if !io.create_only {
            let mut watch = Watch { signals, before: None };
            outcome.elapsed_ns = run_loops(&mut worker, place, &io, &plan, signals, &mut watch)?;
            outcome.usage = watch.before.map(|before| Usage::now().since(before)).unwrap_or_default();
        }
        outcome.count(worker.counts());
        outcome.submission = worker.submission();
        outcome.written_bytes = worker.written_bytes();
        outcome.verified_blocks = worker.verified_blocks();
        outcome.notes = worker.notes();
        worker.close(place)?;
        if let (true, Some(directory)) = (io.unlink, place.directory()) {
            files::remove(directory, &plan)?;
        }
        Ok(outcome)
    }
}

/// Sees when a worker begins to count, and what it had used by then.
struct Watch<'a> {
    signals: &'a Signals,
    before: Option<Usage>,
}

impl Observer for Watch<'_> {
    fn window_opens(&mut self) {
        if self.before.is_none() {
            self.before = Some(Usage::now());
            self.signals.counting.store(true, Ordering::Relaxed);
        }
    }

    fn window_closes(&mut self) {}
}

/// Does the job as often as it says; answers the nanoseconds that counted.
fn run_loops(
    worker: &mut Worker,
    place: &OpenTarget,
    io: &Io,
    plan: &[FilePlan],
    signals: &Signals,
    watch: &mut Watch<'_>,
) -> Result<u64, EngineError> {
    let clock = Clock::get();
    let runtime = io.runtime_seconds.map(nanoseconds).filter(|&runtime| runtime > 0);
    let ramp = nanoseconds(io.ramp_time_seconds);
    let begun = clock.now();
    let mut elapsed = 0;
    for turn in 0..io.loops.max(1) {
        let left = runtime.map(|runtime| runtime.saturating_sub(elapsed));
        if left == Some(0) || signals.end.load(Ordering::Relaxed) {
            break;
        }
        if turn > 0 {
            worker.close(place)?;
            if let (true, Some(directory)) = (io.unlink_each_loop, place.directory()) {
                files::remove(directory, plan)?;
            }
            worker.restart();
        }
        let ramp_left = ramp.saturating_sub(clock.now() - begun);
        let mut call = Call { stop: &signals.stop, end: &signals.end, observer: watch };
        elapsed += worker.drive(place, ramp_left, Until::LoopEnd(left), &mut call)?;
    }
    if let (true, Some(directory)) = (io.unlink_each_loop, place.directory()) {
        worker.close(place)?;
        files::remove(directory, plan)?;
    }
    Ok(elapsed)
}

/// Waits, but not past a stop.
fn pause(seconds: f64, clock: Clock, signals: &Signals) -> Result<(), EngineError> {
    let until = clock.now().saturating_add(nanoseconds(seconds));
    while clock.now() < until && !signals.end.load(Ordering::Relaxed) {
        heed(&signals.stop)?;
        std::thread::sleep(Duration::from_nanos((until.saturating_sub(clock.now())).min(20_000_000)));
    }
    Ok(())
}
