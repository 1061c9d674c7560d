//! Steps as phases: who carries them out, in how many threads, and what they are charged.

use super::backend::FileCalls;
use super::in_process::InProcess;
use super::kernel::KernelCalls;
use super::names::{PathOf, TOP};
use super::plan::Plan;
use super::populate::Populate;
use super::process::ProcessOperator;
use super::run::{Kit, Outcome, Share, letter_of};
use super::verify::{Verify, VerifySome};
use crate::beneath;
use crate::clock::{Clock, seconds};
use crate::error::EngineError;
use crate::histogram::Latencies;
use crate::target::OpenTarget;
use crate::window::{OPERATIONS_PER_SECOND, Window};
use crate::workers::{Start, StartGate, Threads};
use crate::workloads::direct::{kept, spread};
use crate::workloads::{Observer, OtherClient, Work};
use model::agent::Part;
use model::operations::{Method, Operation, OperationStep, Operations, State, SyncPolicy};
use model::ranks::Clients;
use model::seen::KeptFiles;
use rustix::fs::OFlags;
use rustix::thread::{UnshareFlags, capabilities, set_capabilities};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Files of a step whose form is looked at: few, because a step of some suites takes less than a millisecond.
const MOST_LOOKED: usize = 8;

/// Operations, prepared. Steps run in their order, each once; between two calls nothing is open.
pub struct OperationsWork {
    plan: Plan,
    /// Before the step `next`.
    state: State,
    next: usize,
    /// Parts of that step that are done.
    parts_done: u32,
    /// A part of it failed: an operation that was refused may have done something all the same.
    half_done: bool,
    written_bytes: u64,
    /// One per thread.
    kits: Vec<Kit>,
    stop: Arc<AtomicBool>,
}

/// Something to do with a filesystem's calls, whichever they are.
pub(super) trait CallsErrand {
    /// What comes of it.
    type Answer;
    /// Does it; `top` is for messages.
    fn run<C: FileCalls>(self, calls: &mut C, top: &Path) -> Result<Self::Answer, EngineError>;
}

/// Makes the folder in which operations work, empty unless other clients share it, and does the errand in it.
fn in_new_folder<E: CallsErrand>(place: &OpenTarget, is_shared: bool, errand: E) -> Result<E::Answer, EngineError> {
    match place {
        OpenTarget::Directory { path, directory } => {
            let at = (path.as_path(), std::os::fd::AsFd::as_fd(directory));
            let mut calls = if is_shared { KernelCalls::join(at)? } else { KernelCalls::make(at)? };
            let top = calls.path().to_owned();
            errand.run(&mut calls, &top)
        }
        OpenTarget::Library(library) => errand.run(&mut library.calls_in_new(TOP)?, &Path::new("/").join(TOP)),
        other => Err(unsuitable(other)),
    }
}

/// Does the errand in the folder.
fn in_folder<E: CallsErrand>(place: &OpenTarget, errand: E) -> Result<E::Answer, EngineError> {
    match place {
        OpenTarget::Directory { path, directory } => {
            let mut calls = KernelCalls::open((path, std::os::fd::AsFd::as_fd(directory)))?;
            let top = calls.path().to_owned();
            errand.run(&mut calls, &top)
        }
        OpenTarget::Library(library) => errand.run(&mut library.calls(TOP), &Path::new("/").join(TOP)),
        other => Err(unsuitable(other)),
    }
}

/// Makes the operator of one thread, and does its share with it.
fn carry_out(
    place: &OpenTarget,
    method: Method,
    share: &Share<'_>,
    kit: &mut Kit,
    start: Start<'_, '_>,
) -> Result<Outcome, EngineError> {
    match (place, method) {
        (OpenTarget::Directory { path, directory }, Method::InProcess) => {
            let mut calls = KernelCalls::open((path, std::os::fd::AsFd::as_fd(directory)))?;
            let top = calls.path().to_owned();
            in_process(&mut calls, &top, share, kit, start)
        }
        (OpenTarget::Directory { path, directory }, Method::ProcessPerOperation) => {
            let directory = std::os::fd::AsFd::as_fd(directory);
            kit.prepare(share)?;
            share.run(&mut ProcessOperator::new(directory, TOP, &path.join(TOP))?, kit, start)
        }
        // A library has no processes: its own calls are the method there is.
        (OpenTarget::Library(library), _) => {
            let (mut calls, top) = (library.calls(TOP), Path::new("/").join(TOP));
            in_process(&mut calls, &top, share, kit, start)
        }
        (other, _) => Err(unsuitable(other)),
    }
}

fn in_process<C: FileCalls>(
    calls: &mut C,
    top: &Path,
    share: &Share<'_>,
    kit: &mut Kit,
    start: Start<'_, '_>,
) -> Result<Outcome, EngineError> {
    kit.prepare(share)?;
    let mut operator = InProcess::new(calls, top, kit.take_room());
    let outcome = share.run(&mut operator, kit, start);
    kit.put_back(operator.into_room());
    outcome
}

fn unsuitable(place: &OpenTarget) -> EngineError {
    EngineError::Unsuitable(match place {
        OpenTarget::Device { path, .. } => {
            format!(
                "operations on files need a filesystem and {} is a bare device; name a directory",
                model::text::escaped_path(path)
            )
        }
        _ => "operations on files need a filesystem; name a directory".to_owned(),
    })
}

impl OperationsWork {
    /// Makes the folders and the sets that are there from the beginning, synced. What an interrupted
    /// race left there is removed, unless other clients share the folders.
    ///
    /// # Errors
    /// Where the parameters are wrong, the target does not fit, or a call fails.
    pub fn prepare(
        place: &OpenTarget,
        operations: &Operations,
        (seed, clients): (u64, Clients),
        stop: Arc<AtomicBool>,
    ) -> Result<Self, EngineError> {
        let plan = Plan::new(operations, (seed, clients))?;
        let state = State::begin(operations);
        let populate = Populate { plan: &plan, state: &state, stop: &stop };
        let kits = (0..plan.operations.threads).map(|_| Kit::new()).collect();
        let made = in_new_folder(place, plan.is_shared(), populate);
        let written_bytes = made.map_err(|error| told_in_full(error, place))?;
        Ok(OperationsWork { plan, state, next: 0, parts_done: 0, half_done: false, written_bytes, kits, stop })
    }

    /// The step of that group, which must be the next, and its next part.
    fn expect(&self, group: &str, part: Part) -> Result<usize, EngineError> {
        let unsuitable = |what: String| Err(EngineError::Unsuitable(what));
        let steps = &self.plan.operations.step;
        let Some(index) = steps.iter().position(|step| step.group() == group) else {
            let known: Vec<&str> = steps.iter().map(OperationStep::group).collect();
            return unsuitable(format!(
                "no step is named {}; choose {}",
                model::text::escaped(group.as_bytes()),
                known.join(", ")
            ));
        };
        if index != self.next {
            let next = steps.get(self.next).map_or("no other", OperationStep::group);
            return unsuitable(format!(
                "step {group} is not the next: steps run once and in order, and {next} follows"
            ));
        }
        if part.index != self.parts_done || part.index >= part.of {
            let (index, of, done) = (part.index, part.of, self.parts_done);
            return unsuitable(format!(
                "{group} has no part {index} of {of} now: parts are counted from 0, and {done} follows"
            ));
        }
        Ok(index)
    }

    /// Refuses to compare what half a step has made.
    fn is_between_steps(&self) -> Result<(), EngineError> {
        if self.parts_done > 0 || self.half_done {
            let step = self.plan.operations.step[self.next].group();
            return Err(EngineError::Unsuitable(format!("step {step} is half done; verify before or after it")));
        }
        Ok(())
    }

    fn share(&self, index: usize, part: Part, thread: u64) -> Share<'_> {
        Share {
            plan: &self.plan,
            state: &self.state,
            step: &self.plan.operations.step[index],
            set: self.plan.set_of_step[index],
            generation: index as u32 + 1,
            part,
            thread,
            threads: u64::from(self.plan.operations.threads),
            stop: &self.stop,
        }
    }

    /// Those of all threads since they were last asked for.
    fn latencies(&mut self) -> Latencies {
        let mut latencies = Latencies::new();
        for kit in &mut self.kits {
            latencies.add(&kit.latencies);
            kit.latencies.clear();
        }
        latencies
    }

    /// How the filesystem keeps some of the files that the step before this moment wrote or read; `None`: it did
    /// neither, or the filesystem does not tell.
    fn kept_files(&self, place: &OpenTarget, index: usize) -> Option<KeptFiles> {
        let step = &self.plan.operations.step[index];
        if !(writes(step.operation) || matches!(step.operation, Operation::Read | Operation::RandomRead)) {
            return None;
        }
        let (_, directory) = place.directory()?;
        let (set, files) = (self.plan.set_of_step[index], self.plan.operations.files_of(step));
        let mut path = PathOf::new(&self.plan.names[set]);
        let some = spread(usize::try_from(files.end - files.start).ok()?, MOST_LOOKED).filter_map(|at| {
            let number = files.start + at as u64;
            let file = self.state.set(set).files.at(number).filter(|file| file.present)?;
            let spec = self.plan.set(set);
            path.set_file((spec.directory_of(number) + file.shift) % spec.directories, letter_of(file), number);
            let path = Path::new(TOP).join(OsStr::from_bytes(path.as_c_str().to_bytes()));
            beneath::open_beneath(directory, &path, OFlags::RDONLY | OFlags::NONBLOCK).ok()
        });
        Some(kept(some)).filter(|kept| kept.files > 0)
    }

    /// The part in threads of their own, which begin together.
    fn together(
        &self,
        place: &OpenTarget,
        (index, part): (usize, Part),
        kits: &mut [Kit],
        observer: &mut dyn Observer,
    ) -> Result<Vec<Outcome>, EngineError> {
        let gate = &StartGate::new(self.plan.operations.threads, observer);
        let method = self.plan.operations.method;
        let works = kits.iter_mut().enumerate().map(|(thread, kit)| {
            let share = self.share(index, part, thread as u64);
            move || {
                let start = Start::with(gate, thread);
                // With a table of its own, looking up a descriptor needs no atomic reference
                // count, which threads of one table share. Refused, the table stays shared.
                //
                // SAFETY: descriptors that the thread inherits stay valid in its copy of the
                // table; those that it opens it closes itself, and none goes to another thread.
                let own = unsafe { rustix::thread::unshare_unsafe(UnshareFlags::FILES) }.is_ok();
                // Every file that is opened counts its opener's credentials, which threads of a process
                // share and processes do not: setting what is set already makes a copy for this
                // thread alone (commit_creds). Refused, they stay shared.
                let _ = capabilities(None).and_then(|same| set_capabilities(None, same));
                let outcome = carry_out(place, method, &share, kit, start);
                if own {
                    // A thread counts as ended before the kernel closes its table: the lane would
                    // be busy for a moment after the phase.
                    //
                    // SAFETY: the table is a copy that nobody else uses, and nothing of this
                    // thread is open in it any more.
                    unsafe { libc::close_range(3, libc::c_uint::MAX, 0) };
                }
                outcome
            }
        });
        let threads = Threads { name: Some(&worker_name), ..Threads::default() };
        let (all, ()) = threads.run(works, || gate.give_up(), |_| gate.open())?;
        all.into_iter().collect()
    }
}

/// Of a thread, as the kernel shows it: 15 bytes at most.
fn worker_name(thread: usize) -> String {
    format!("operations-{thread}")
}

/// The highest share of one core that one of several threads took in so many seconds.
fn busiest(outcomes: &[Outcome], window_seconds: f64) -> Option<(f64, String)> {
    if outcomes.len() < 2 || window_seconds <= 0.0 {
        return None;
    }
    let (thread, most) = outcomes.iter().enumerate().max_by_key(|(_, outcome)| outcome.on_cpu)?;
    Some((seconds(most.on_cpu) / window_seconds, worker_name(thread)))
}

fn writes(operation: Operation) -> bool {
    operation.writes() && !matches!(operation, Operation::Truncate | Operation::Reflink | Operation::Symlink)
}

/// Says who wrote what is wrong.
fn told_with_writer(error: EngineError, rank: u32) -> EngineError {
    match error {
        EngineError::Corrupt { path, offset, what } => {
            EngineError::Corrupt { path, offset, what: format!("{what}, which rank {rank} wrote") }
        }
        EngineError::Contents { path, what } => EngineError::Contents { path, what: format!("{what}, by rank {rank}") },
        other => other,
    }
}

/// Says whether a full lane lacks blocks or inodes.
fn told_in_full(mut error: EngineError, place: &OpenTarget) -> EngineError {
    if let (EngineError::Full { inodes, .. }, Some((_, directory))) = (&mut error, place.directory()) {
        *inodes = rustix::fs::fstatvfs(directory).is_ok_and(|room| room.f_files > 0 && room.f_ffree == 0);
    }
    error
}

impl Work for OperationsWork {
    fn ready(&mut self, group: &str, part: Part) -> Result<(), EngineError> {
        let index = self.expect(group, part)?;
        let mut kits = std::mem::take(&mut self.kits);
        let made = kits
            .iter_mut()
            .enumerate()
            .try_for_each(|(thread, kit)| kit.prepare(&self.share(index, part, thread as u64)));
        self.kits = kits;
        made
    }

    fn phase(
        &mut self,
        place: &OpenTarget,
        group: &str,
        part: Part,
        observer: &mut dyn Observer,
    ) -> Result<Window, EngineError> {
        let index = self.expect(group, part)?;
        let OperationStep { sync, operation, .. } = self.plan.operations.step[index];
        let mut kits = std::mem::take(&mut self.kits);
        let outcomes = match &mut kits[..] {
            [kit] => {
                let share = self.share(index, part, 0);
                let start = Start::alone(observer);
                carry_out(place, self.plan.operations.method, &share, kit, start).map(|outcome| vec![outcome])
            }
            kits => self.together(place, (index, part), kits, observer),
        };
        self.kits = kits;
        if outcomes.is_err() {
            self.half_done = true;
            // What was counted is in no window.
            self.latencies();
        }
        let outcomes = outcomes.map_err(|error| told_in_full(error, place))?;
        let begun = outcomes.iter().map(|outcome| outcome.begun).min().unwrap_or_default();
        let ended = outcomes.iter().map(|outcome| outcome.ended).max().unwrap_or_default();
        // Each part pays for what it leaves to be written, which would else be written beside the next lane's part.
        let sync_seconds = if sync == SyncPolicy::End && operation.changes() {
            let begun = Clock::get().now();
            place.sync().inspect_err(|_| self.half_done = true)?;
            seconds(Clock::get().now() - begun)
        } else {
            0.0
        };
        observer.window_closes();
        let latencies = self.latencies();
        let bytes = outcomes.iter().map(|outcome| outcome.bytes).sum();
        if writes(operation) {
            self.written_bytes += bytes;
        }
        let window_seconds = seconds(ended - begun) + sync_seconds;
        self.parts_done += 1;
        let mut kept_files = None;
        if self.parts_done == part.of {
            self.state.advance(&self.plan.operations, index).map_err(EngineError::Unsuitable)?;
            (self.next, self.parts_done) = (self.next + 1, 0);
            // The window is closed: what is looked at now is in no figure.
            kept_files = self.kept_files(place, index);
        }
        Ok(Window {
            group: group.to_owned(),
            primary_metric: OPERATIONS_PER_SECOND,
            kept_files,
            operations: outcomes.iter().map(|outcome| outcome.operations).sum(),
            bytes,
            seconds: window_seconds,
            sync_seconds,
            // Threads start theirs beside each other.
            process_startup_seconds: outcomes.iter().map(|outcome| outcome.process_startup_seconds).sum::<f64>()
                / outcomes.len().max(1) as f64,
            latencies,
            busiest_thread: busiest(&outcomes, window_seconds),
            ..Window::default()
        })
    }

    fn verify(&mut self, place: &OpenTarget) -> Result<f64, EngineError> {
        self.is_between_steps()?;
        let begun = Clock::get().now();
        in_folder(place, Verify::new(&self.plan, &self.state, &self.stop)?)?;
        Ok(seconds(Clock::get().now() - begun))
    }

    fn check_other(&mut self, place: &OpenTarget, other: OtherClient) -> Result<u64, EngineError> {
        self.is_between_steps()?;
        let theirs = self.plan.of_other(other)?;
        let compared = in_folder(place, VerifySome(Verify::new(&theirs, &self.state, &self.stop)?));
        compared.map_err(|error| told_with_writer(error, other.rank))
    }

    fn release(&mut self) {
        // Every phase opens what it needs and closes it again.
    }

    fn written_bytes(&self) -> u64 {
        self.written_bytes
    }
}
