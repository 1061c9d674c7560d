//! A job file: its jobs run whole, together, or one group after another, each by its own workers.

mod outcome;
mod stint;

use super::direct::DirectFiles;
use super::files::{self, FilePlan};
use super::memory;
use super::steady::primary_metric;
use super::verifier;
use super::worker::{Counts, Tallied, Task};
use super::{Observer, Work};
use crate::clock::{Clock, seconds};
use crate::compressibility;
use crate::error::EngineError;
use crate::io;
use crate::target::OpenTarget;
use crate::verify::Ledger;
use crate::window::{OPERATIONS_PER_SECOND, Window};
use crate::workers::{Duty, Kin, LONGEST_PAUSE, SharedMemory, Signals, Usage, WorkerHandle};
use model::Flag;
use model::job::{Direction, Io, Job, Jobs, Verify, group_name};
use model::trial::{JobUse, Submission};
use outcome::Outcome;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use stint::Stint;

/// From the moment when all workers are ready to their common start.
const HEAD_START_NS: u64 = 500_000;
/// Distance of the samples of a series, in seconds.
const SAMPLE_SECONDS: f64 = 0.5;

/// A job file, prepared.
pub struct JobsWork {
    crews: Vec<JobGroup>,
    /// One job alone: its groups go without its name.
    alone: bool,
    seed: u64,
    stop: Arc<AtomicBool>,
    laid_out_bytes: u64,
    written_bytes: u64,
    uses: Vec<JobUse>,
    notes: Vec<Flag>,
    /// Of each job that asks for direct I/O: its files, looked at before the run.
    direct: Vec<Option<DirectFiles>>,
}

/// One job with its workers.
struct JobGroup {
    job: Job,
    /// How many stonewalls stand before it, its own included.
    wall: usize,
    plans: Vec<Vec<FilePlan>>,
    /// What zstd makes of its data.
    compression_ratio: Option<f64>,
    /// What each worker wrote, where it is read back.
    ledgers: Vec<Option<Arc<Ledger>>>,
}

impl JobsWork {
    /// Lays out the files of all jobs, as fio does, before any of them runs.
    ///
    /// # Errors
    /// Where an I/O engine does not work here, the target is no directory, or a call fails.
    pub fn prepare(place: &OpenTarget, jobs: &Jobs, seed: u64, stop: Arc<AtomicBool>) -> Result<Self, EngineError> {
        if let OpenTarget::Device { path, .. } = place {
            return Err(EngineError::Unsuitable(format!(
                "a job file runs in a directory, not on {}; race a directory or a filesystem on it",
                model::text::escaped_path(path)
            )));
        }
        // Compared with the kernel's once, here: workers inherit its scale, and its start.
        Clock::get();
        let mut crews = Vec::with_capacity(jobs.jobs.len());
        let mut wall = 0;
        for job in &jobs.jobs {
            if !is_null(&job.io, place) {
                io::find(&job.io.ioengine)?;
            }
            wall += usize::from(job.stonewall);
            crews.push(JobGroup::new(job, wall, seed)?);
        }
        let mut work = JobsWork {
            alone: crews.len() == 1,
            crews,
            seed,
            stop,
            laid_out_bytes: 0,
            written_bytes: 0,
            uses: Vec::new(),
            notes: Vec::new(),
            direct: Vec::new(),
        };
        for together in work.crews.chunk_by(|one, other| one.wall == other.wall) {
            memory::check_buffers(together.iter().map(|crew| &crew.job.io).filter(|io| !is_null(io, place)))?;
        }
        work.check_verification()?;
        work.lay_out(place)?;
        Ok(work)
    }

    /// What is verified must have one writer, and what is checked while reading some writer before.
    fn check_verification(&self) -> Result<(), EngineError> {
        let names = |crew: &JobGroup| -> BTreeSet<String> {
            crew.plans.iter().flatten().map(|file| file.name.clone()).collect()
        };
        let changes = |io: &Io| io.rw.writes() || io.rw.trims();
        for (number, crew) in self.crews.iter().enumerate() {
            let (io, name) = (&crew.job.io, &crew.job.name);
            let own = names(crew);
            let shares = |other: &JobGroup| names(other).intersection(&own).next().cloned();
            if io.verify != Verify::None && io.rw.trims() {
                return Err(EngineError::Unsuitable(format!(
                    "job {name}: verify cannot tell a block that was discarded from one that was lost; use another rw"
                )));
            }
            if io.reads_back() {
                let others =
                    self.crews.iter().enumerate().filter(|(other, of)| *other != number && changes(&of.job.io));
                if let Some((other, file)) = others.map(|(_, of)| of).find_map(|of| Some((&of.job.name, shares(of)?))) {
                    return Err(EngineError::Unsuitable(format!(
                        "job {name}: verify cannot tell its blocks of {file} from those of job {other}, which writes it \
                         too; give them files of their own"
                    )));
                }
                if io.unlink || io.unlink_each_loop {
                    return Err(EngineError::Unsuitable(format!(
                        "job {name}: unlink removes what verify is to read back; remove one of them"
                    )));
                }
            } else if io.verify != Verify::None && !io.rw.writes() {
                let before = &self.crews[..number];
                if !before.iter().any(|of| of.job.io.reads_back() && shares(of).is_some()) {
                    return Err(EngineError::Unsuitable(format!(
                        "job {name}: verify needs blocks that an earlier job wrote with verify; write {} first",
                        own.first().map_or("its files", String::as_str)
                    )));
                }
            }
        }
        Ok(())
    }

    fn lay_out(&mut self, place: &OpenTarget) -> Result<(), EngineError> {
        let Some(directory) = place.directory() else { return Ok(()) };
        // What is read comes first: where another job had reserved the file already, reads would be
        // answered from unwritten extents, without the disk.
        let (read, others): (Vec<usize>, Vec<usize>) =
            (0..self.crews.len()).partition(|&number| self.reads_unwritten(number));
        for number in read.into_iter().chain(others) {
            let crew = &self.crews[number];
            let io = &crew.job.io;
            if io.ioengine == "null" {
                continue;
            }
            for (worker, plan) in crew.plans.iter().enumerate() {
                let seed = self.seed ^ ((number as u64) << 48) ^ ((worker as u64) << 24);
                self.laid_out_bytes += files::lay_out(directory, io, plan, seed, &self.stop, &mut self.notes)?;
            }
            if io.rw.writes() && !io.rw.reads() && !io.overwrite && io.rw.random() {
                let name = &crew.job.name;
                self.notes.push(Flag::Note(format!(
                    "fresh-blocks: job {name} writes at random into files that were only reserved, so that the first \
                     write of each block also allocates it; overwrite=1 measures overwriting"
                )));
            }
        }
        Ok(())
    }

    /// Whether a job needs files with contents, and no job that ends before it begins writes them.
    fn reads_unwritten(&self, number: usize) -> bool {
        let crew = &self.crews[number];
        let ends_before = |other: &JobGroup| {
            other.wall < crew.wall || crew.job.wait_for.as_ref().is_some_and(|name| other.job.name == *name)
        };
        let writes_the_same = |other: &JobGroup| {
            let mut names = other.plans.iter().flatten().map(|file| &file.name);
            other.job.io.rw.writes() && names.any(|name| crew.plans.iter().flatten().any(|file| file.name == *name))
        };
        files::needs_contents(&crew.job.io)
            && !self.crews[..number].iter().any(|other| ends_before(other) && writes_the_same(other))
    }

    /// Looks at the files of jobs that ask for direct I/O. Those that a job of another kind works on too, or that the
    /// job wants to find in the page cache, would tell nothing.
    fn look_before(&self, place: &OpenTarget) -> Vec<Option<DirectFiles>> {
        let plain: BTreeSet<&String> =
            self.crews.iter().filter(|crew| !crew.job.io.direct).flat_map(JobGroup::names).collect();
        let of = |crew: &JobGroup| {
            let io = &crew.job.io;
            let own =
                io.direct && io.invalidate && !is_null(io, place) && !crew.names().any(|name| plain.contains(name));
            place.directory().filter(|_| own).and_then(|at| DirectFiles::let_go(at, crew.plans.iter().flatten()))
        };
        self.crews.iter().map(of).collect()
    }

    /// Starts the workers of a job; they wait for the common beginning.
    fn start(&self, place: &OpenTarget, job: usize, board: &Arc<JobSignals>) -> Result<Vec<JobWorker>, EngineError> {
        let crew = &self.crews[job];
        let io = &crew.job.io;
        let duty = |(worker, files): (usize, &Vec<FilePlan>)| {
            let task = Task {
                io: io.clone(),
                worker: worker as u32,
                files: files.clone(),
                part: None,
                // With randrepeat every worker and every run of the job draws the same offsets.
                seed: self.seed ^ ((worker as u64) << 40) ^ ((job as u64) << 52),
                whole: true,
                marks: None,
            };
            let (place, own_board) = (place.try_clone()?, board.clone());
            let ledger = crew.ledgers[worker].clone();
            let stint = Stint { task, ledger, verify_seed: self.seed };
            let duty: Duty<Outcome> = Box::new(move || stint.serve(&place, &own_board[job]));
            Ok(duty)
        };
        let kin = match io.thread {
            false => Kin::Processes,
            true if self.crews.iter().all(|crew| crew.job.io.thread) => Kin::Threads,
            // Others are forked while these are at work.
            true => Kin::Hosted,
        };
        let duties = crew.plans.iter().enumerate().map(duty).collect::<Result<_, EngineError>>()?;
        WorkerHandle::start(kin, &crew.job.name, duties, &board[job].stop)
    }

    /// Runs all jobs in their order, and answers their workers' outcomes, job by job.
    fn conduct(
        &self,
        place: &OpenTarget,
        board: &Arc<JobSignals>,
        observer: &mut dyn Observer,
    ) -> Result<Vec<Vec<Outcome>>, EngineError> {
        let mut races: Vec<Race> = self.crews.iter().map(|_| Race::Waiting).collect();
        let conducted = self.conduct_races(place, board, &mut races, observer);
        // Before the hands are dropped, which waits for their workers: none may wait for us.
        board.iter().for_each(|signals| signals.stop.store(true, Ordering::Relaxed));
        conducted
    }

    fn conduct_races(
        &self,
        place: &OpenTarget,
        board: &Arc<JobSignals>,
        races: &mut [Race],
        observer: &mut dyn Observer,
    ) -> Result<Vec<Vec<Outcome>>, EngineError> {
        let mut watched = false;
        let mut outcomes: Vec<Vec<Outcome>> = self.crews.iter().map(|_| Vec::new()).collect();
        let mut trouble: Option<EngineError> = None;
        loop {
            if self.stop.load(Ordering::Relaxed) {
                trouble.get_or_insert(EngineError::Interrupted);
            }
            if trouble.is_some() {
                board.iter().for_each(|signals| signals.stop.store(true, Ordering::Relaxed));
            } else {
                let counts_from = self.begin_what_may_begin(place, board, races)?;
                if let (Some(begin_at), false) = (counts_from, watched) {
                    // Right before the first operation, not when it is noticed: a short job may be half done by then.
                    let ahead = begin_at.saturating_sub(Clock::get().now());
                    std::thread::sleep(Duration::from_nanos(ahead.saturating_sub(HEAD_START_NS)));
                    watched = true;
                    observer.window_opens();
                }
            }
            if !watched && board.iter().any(|signals| signals.counting.load(Ordering::Relaxed)) {
                // The system is watched from the first operation that counts: ramps and delays stay out.
                watched = true;
                observer.window_opens();
            }
            let under_way = races.iter().any(|race| matches!(race, Race::Running(_)));
            if !under_way {
                if watched {
                    observer.window_closes();
                }
                return match trouble {
                    Some(error) => Err(error),
                    None => Ok(outcomes),
                };
            }
            for job in 0..races.len() {
                let Race::Running(hands) = &mut races[job] else { continue };
                for (_, outcome) in WorkerHandle::listen(hands)? {
                    match outcome {
                        Ok(outcome) => {
                            outcomes[job].push(outcome);
                            if self.crews[job].job.exitall {
                                self.end_group(job, board);
                            }
                        }
                        // The first error is the cause; the others follow from being stopped.
                        Err(error) => {
                            trouble.get_or_insert(error);
                        }
                    }
                }
                if hands.iter().all(Option::is_none) {
                    races[job] = Race::Over;
                }
            }
        }
    }

    /// Ends the other jobs of a job's group: those between the same stonewalls.
    fn end_group(&self, job: usize, board: &JobSignals) {
        for (other, crew) in self.crews.iter().enumerate() {
            if crew.wall == self.crews[job].wall {
                board[other].end.store(true, Ordering::Relaxed);
            }
        }
    }

    /// Starts every job whose turn has come, all of them at the same moment, a little later. Answers that
    /// moment, in the clock's nanoseconds, where one of them counts from it on, without a delay or a ramp.
    fn begin_what_may_begin(
        &self,
        place: &OpenTarget,
        board: &Arc<JobSignals>,
        races: &mut [Race],
    ) -> Result<Option<u64>, EngineError> {
        let over = |race: &Race| matches!(race, Race::Over);
        let may = |job: usize, races: &[Race]| {
            let crew = &self.crews[job];
            let walls = self.crews.iter().zip(races).all(|(other, race)| other.wall >= crew.wall || over(race));
            let awaited = crew.job.wait_for.as_ref().is_none_or(|name| {
                self.crews[..job].iter().zip(races).all(|(other, race)| other.job.name != *name || over(race))
            });
            walls && awaited
        };
        let waiting = |race: &Race| matches!(race, Race::Waiting);
        let turn: Vec<usize> = (0..races.len()).filter(|&job| waiting(&races[job]) && may(job, races)).collect();
        let first_start = Clock::get().now();
        for &job in &turn {
            let hands = self.start(place, job, board)?;
            races[job] = Race::Running(hands.into_iter().map(Some).collect());
        }
        let ready = |job: usize| board[job].ready.load(Ordering::Acquire) as usize >= self.crews[job].plans.len();
        let workers: u64 = turn.iter().map(|&job| self.crews[job].plans.len() as u64).sum();
        // A worker that fails before it is ready says so, and is heard by the caller.
        let mut ended = false;
        while !turn.iter().all(|&job| ready(job)) && !ended && !self.stop.load(Ordering::Relaxed) {
            // Each look asks every worker: rarer where there are many.
            std::thread::sleep(Duration::from_micros(200 + 20 * workers));
            ended = turn.iter().any(|&job| match &races[job] {
                Race::Running(hands) => hands.iter().flatten().any(WorkerHandle::has_spoken),
                Race::Waiting | Race::Over => false,
            });
        }
        // A worker's pause is at most what it has waited: all have looked once more by then.
        let now = Clock::get().now();
        let pause = (now - first_start).min(LONGEST_PAUSE.as_nanos() as u64);
        let begin_at = now + HEAD_START_NS + pause;
        for &job in &turn {
            board[job].begin_at.store(begin_at, Ordering::Release);
        }
        let at_once = turn.iter().any(|&job| {
            let io = &self.crews[job].job.io;
            !io.create_only && io.ramp_time_seconds <= 0.0 && io.startdelay_seconds <= 0.0
        });
        Ok(at_once.then_some(begin_at))
    }

    /// One job's windows and use, from its workers' outcomes.
    fn tally(&mut self, place: &OpenTarget, job: usize, outcomes: &[Outcome]) -> Result<Vec<Window>, EngineError> {
        let direct = self.direct.get(job).and_then(Option::as_ref);
        let cached_files = direct.zip(place.directory()).and_then(|(files, directory)| files.look(directory));
        let kept_files = direct.and_then(DirectFiles::kept);
        let JobGroup { job, .. } = &self.crews[job];
        let longest = outcomes.iter().map(|outcome| outcome.elapsed_ns).max().unwrap_or(0);
        let sum = |of: fn(&Usage) -> u64| outcomes.iter().map(|outcome| of(&outcome.usage)).sum::<u64>();
        self.uses.push(JobUse {
            name: job.name.clone(),
            workers: outcomes.len() as u32,
            seconds: seconds(longest),
            cpu_user_seconds: seconds(sum(|usage| usage.user_ns)),
            cpu_system_seconds: seconds(sum(|usage| usage.system_ns)),
            context_switches: sum(|usage| usage.context_switches),
            major_faults: sum(|usage| usage.major_faults),
            minor_faults: sum(|usage| usage.minor_faults),
            compression_ratio: None,
            verified_blocks: outcomes.iter().map(|outcome| outcome.verified_blocks).sum(),
        });
        self.written_bytes += outcomes.iter().map(|outcome| outcome.written_bytes).sum::<u64>();
        for note in outcomes.iter().flat_map(|outcome| &outcome.notes) {
            if !self.notes.contains(note) {
                self.notes.push(note.clone());
            }
        }
        let mut windows = Vec::new();
        if job.io.create_only {
            return Ok(windows);
        }
        let submission = outcomes.iter().filter_map(|outcome| outcome.submission).reduce(pool);
        let merged = |kind: Tallied| {
            outcomes.iter().try_fold(Counts::default(), |mut sum, outcome| {
                sum.add(&outcome.counts(kind)?);
                Ok::<_, EngineError>(sum)
            })
        };
        for &direction in job.io.directions() {
            let counts = merged(direction.into())?;
            windows.push(Window {
                group: group_name(&job.name, direction, self.alone),
                primary_metric: primary_metric(&job.io, direction),
                submission,
                cached_files,
                kept_files,
                ..window(job, counts, longest)
            });
        }
        let syncs = merged(Tallied::Sync)?;
        if syncs.operations > 0 {
            let group = if self.alone { "sync".to_owned() } else { format!("{}: sync", job.name) };
            windows.push(Window { group, primary_metric: OPERATIONS_PER_SECOND, ..window(job, syncs, longest) });
        }
        Ok(windows)
    }
}

/// A window of one kind of operation of a job.
fn window(job: &Job, counts: Counts, elapsed_ns: u64) -> Window {
    let rate = |pair: &[u64]| (pair[1] - pair[0]) as f64 / SAMPLE_SECONDS;
    let from_zero: Vec<u64> = std::iter::once(0).chain(counts.samples.iter().copied()).collect();
    Window {
        job: job.name.clone(),
        operations: counts.operations,
        bytes: counts.bytes,
        seconds: seconds(elapsed_ns),
        latencies: counts.latencies,
        series_operations_per_second: from_zero.windows(2).map(rate).collect(),
        ..Window::default()
    }
}

/// Two workers' submission latencies as one: means weighted, deviations pooled about the new mean.
fn pool(a: Submission, b: Submission) -> Submission {
    let (of_a, of_b) = (a.operations as f64, b.operations as f64);
    let all = of_a + of_b;
    let mean = (a.mean * of_a + b.mean * of_b) / all;
    let square = |of: Submission, weight: f64| weight * (of.deviation.powi(2) + (of.mean - mean).powi(2));
    Submission {
        operations: a.operations + b.operations,
        min: a.min.min(b.min),
        mean,
        deviation: ((square(a, of_a) + square(b, of_b)) / all).sqrt(),
        max: a.max.max(b.max),
    }
}

fn is_null(io: &Io, place: &OpenTarget) -> bool {
    place.is_null() || io.ioengine == "null"
}

/// What its workers and this process tell each other, by job.
type JobSignals = SharedMemory<Signals>;
/// A worker of a job.
type JobWorker = WorkerHandle<Outcome>;

/// Where a job stands.
enum Race {
    Waiting,
    Running(Vec<Option<JobWorker>>),
    Over,
}

impl JobGroup {
    /// Names of its files; workers may share them.
    fn names(&self) -> impl Iterator<Item = &String> {
        self.plans.iter().flatten().map(|file| &file.name)
    }

    fn new(job: &Job, wall: usize, seed: u64) -> Result<JobGroup, EngineError> {
        let io = &job.io;
        let plans: Vec<Vec<FilePlan>> =
            (0..io.numjobs).map(|worker| files::plan(&job.name, io, worker, seed)).collect();
        let names: BTreeSet<&String> = plans.iter().flatten().map(|file| &file.name).collect();
        let shared = names.len() < plans.iter().map(Vec::len).sum();
        if io.reads_back() && shared {
            return Err(EngineError::Unsuitable(format!(
                "job {}: verify cannot tell which of several workers wrote a shared block; set numjobs=1",
                job.name
            )));
        }
        let ledger = |(worker, plan): (usize, &Vec<FilePlan>)| {
            io.reads_back().then(|| verifier::ledger(io, plan, worker as u32)).transpose()
        };
        let ledgers = plans.iter().enumerate().map(ledger).collect::<Result<_, _>>()?;
        let block = io.blocks(Direction::Write).smallest().get();
        let compression_ratio =
            if io.rw.writes() { compressibility::check_blocks(&io.data, block, seed)? } else { None };
        Ok(JobGroup { job: job.clone(), wall, plans, compression_ratio, ledgers })
    }
}

impl Work for JobsWork {
    fn run(&mut self, place: &OpenTarget, observer: &mut dyn Observer) -> Result<Vec<Window>, EngineError> {
        let board = Arc::new(SharedMemory::new(self.crews.len() as u64)?);
        self.uses.clear();
        self.direct = self.look_before(place);
        let outcomes = self.conduct(place, &board, observer);
        let mut windows = Vec::new();
        for (job, outcomes) in outcomes?.iter().enumerate() {
            windows.extend(self.tally(place, job, outcomes)?);
        }
        for (crew, uses) in self.crews.iter().zip(&mut self.uses) {
            uses.compression_ratio = crew.compression_ratio;
        }
        Ok(windows)
    }

    fn verify(&mut self, place: &OpenTarget) -> Result<f64, EngineError> {
        let clock = Clock::get();
        let begun = clock.now();
        for (crew, uses) in self.crews.iter().zip(&mut self.uses) {
            for (plan, ledger) in crew.plans.iter().zip(&crew.ledgers) {
                let (Some(ledger), Some(directory)) = (ledger, place.directory()) else { continue };
                uses.verified_blocks +=
                    verifier::read_back(directory, &crew.job.io, plan, ledger, self.seed, &self.stop)?;
            }
        }
        Ok(seconds(clock.now() - begun))
    }

    fn watch_writes(&self, place: &OpenTarget) -> Vec<(String, u32, u32)> {
        let of = |(crew, direct): (&JobGroup, &Option<DirectFiles>)| {
            // Mapped memory is written without O_DIRECT.
            let io = Some(&crew.job.io).filter(|io| io.rw.writes() && io.ioengine != "mmap")?;
            let block = io.blocks(Direction::Write).smallest().get();
            let (watched, cached) = direct.as_ref()?.watch_writes(place.directory()?, block);
            Some((group_name(&crew.job.name, Direction::Write, self.alone), watched, cached))
        };
        self.crews.iter().zip(&self.direct).filter_map(of).collect()
    }

    fn jobs(&self) -> Vec<JobUse> {
        self.uses.clone()
    }

    fn release(&mut self) {}

    fn written_bytes(&self) -> u64 {
        self.written_bytes
    }

    fn notes(&self) -> Vec<Flag> {
        self.notes.clone()
    }
}
