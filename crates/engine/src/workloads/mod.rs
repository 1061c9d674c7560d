//! Workload kinds: one file each, behind one trait; [`prepare`] is their table.

mod append;
mod appenders;
mod collective;
mod contention;
pub(crate) mod direct;
mod files;
mod fio;
mod fio_process;
mod fio_result;
mod jobs;
mod memory;
mod mix;
mod one_file;
mod pace;
mod populate;
pub(crate) mod replay;
mod shared;
mod small_files;
mod steady;
mod streams;
mod verifier;
mod worker;

pub use appenders::{AppendersWork, allowance as appenders_allowance, check_limits, check_process_limit};
pub use fio::FioWork;
pub use jobs::JobsWork;
pub(crate) use memory::available_bytes;
pub use mix::MixWork;
pub use replay::{check_trace_memory, read_trace};
pub use small_files::SmallFilesWork;
pub use steady::SteadyWork;
pub use streams::StreamsWork;

use crate::databases::OltpWork;
use crate::error::EngineError;
use crate::programs::ProgramsWork;
use crate::target::OpenTarget;
use crate::window::Window;
use model::Flag;
use model::agent::Part;
use model::ranks::Clients;
use model::trial::JobUse;
use model::workload::{Kind, Workload};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Told when a measured window opens and closes, so that what is watched beside it covers the same
/// time. Both calls lie inside the window: they must be short. Any of the threads that work may call.
pub trait Observer: Send {
    /// The window has opened just now.
    fn window_opens(&mut self);
    /// The window has closed just now.
    fn window_closes(&mut self);
    /// Work begins that is going to be written to the last byte before [`Observer::work_is_written`], its warm-up
    /// included. Outside of the window.
    fn work_begins(&mut self) {}
    /// All of that work lies on the device.
    fn work_is_written(&mut self) {}
}

/// Nobody watches.
impl Observer for () {
    fn window_opens(&mut self) {}
    fn window_closes(&mut self) {}
}

/// Another client that did the same work, in files that the target now holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OtherClient {
    /// Its number, from 0.
    pub number: u32,
    /// What it is called where something is wrong: its rank, which is another number where not all ranks work.
    pub rank: u32,
    /// Its seed.
    pub seed: u64,
}

/// A prepared workload. Its position and random state go on from slice to slice and survive
/// [`Work::release`].
pub trait Work {
    /// Runs one slice of steady work: I/O flows for `warm_up_seconds`, then operations are counted
    /// for `seconds`, then what is in flight ends uncounted.
    ///
    /// # Errors
    /// The first failed operation ends the slice. Work that runs in phases refuses.
    fn slice(
        &mut self,
        place: &OpenTarget,
        warm_up_seconds: f64,
        seconds: f64,
        observer: &mut dyn Observer,
    ) -> Result<Vec<Window>, EngineError> {
        let _ = (place, warm_up_seconds, seconds, observer);
        Err(EngineError::Unsuitable("this workload runs in phases, not in slices; ask for a phase".to_owned()))
    }

    /// Goes on where the last slice ended, until so many operations are done, those of the slice included; what is counted are
    /// those behind it.
    ///
    /// # Errors
    /// As [`Work::slice`]; work that does not wear out refuses.
    fn wear_out(
        &mut self,
        place: &OpenTarget,
        operations: u64,
        observer: &mut dyn Observer,
    ) -> Result<Vec<Window>, EngineError> {
        let _ = (place, operations, observer);
        Err(EngineError::Unsuitable("this workload does not wear out; set wear_out, or ask for a slice".to_owned()))
    }

    /// Makes what the next part of a phase needs, before anybody watches.
    ///
    /// # Errors
    /// As [`Work::phase`].
    fn ready(&mut self, group: &str, part: Part) -> Result<(), EngineError> {
        let _ = (group, part);
        Ok(())
    }

    /// Runs one phase of once-only work, or a part of it. Its `syncfs` comes with the last part. The
    /// observer's window opens right before the first operation and closes after the last one, or
    /// after the sync where one is charged.
    ///
    /// # Errors
    /// The first failed operation ends the phase. Steady work refuses.
    fn phase(
        &mut self,
        place: &OpenTarget,
        group: &str,
        part: Part,
        observer: &mut dyn Observer,
    ) -> Result<Window, EngineError> {
        let _ = (place, group, part, observer);
        Err(EngineError::Unsuitable("this workload runs in slices, not in phases; ask for a slice".to_owned()))
    }

    /// Runs a job file whole: every job, together or one group after another.
    ///
    /// # Errors
    /// The first failed operation ends the run. Other work refuses.
    fn run(&mut self, place: &OpenTarget, observer: &mut dyn Observer) -> Result<Vec<Window>, EngineError> {
        let _ = (place, observer);
        Err(EngineError::Unsuitable("this workload does not run whole; ask for a slice or a phase".to_owned()))
    }

    /// Reads back what a job file wrote and compares it; answers the wall seconds it took.
    ///
    /// # Errors
    /// [`EngineError::Corrupt`] at the first mismatch. Work that wrote nothing verifiable refuses.
    fn verify(&mut self, place: &OpenTarget) -> Result<f64, EngineError> {
        let _ = place;
        Err(EngineError::Unsuitable("this workload has nothing to read back; set verify".to_owned()))
    }

    /// Reads some of what another client wrote, all where that is little, and compares every byte of it with what its seed says;
    /// answers the bytes that were compared. 0: there are none, each is larger than is read, or what they should be cannot be told by a seed.
    ///
    /// # Errors
    /// [`EngineError::Corrupt`] or [`EngineError::Contents`] at the first mismatch; a call that fails.
    fn check_other(&mut self, place: &OpenTarget, other: OtherClient) -> Result<u64, EngineError> {
        let _ = (place, other);
        Ok(0)
    }

    /// What [`Work::verify`] found of a group: figures beside those of its window, by their keys.
    fn found(&self, group: &str) -> Vec<(&'static str, f64)> {
        let _ = group;
        Vec::new()
    }

    /// Watches single direct writes when everything is done: by group, how many were watched and of how many pages were
    /// seen in the page cache. Empty: the work writes nothing so.
    fn watch_writes(&self, place: &OpenTarget) -> Vec<(String, u32, u32)> {
        let _ = place;
        Vec::new()
    }

    /// What each job of a job file used.
    fn jobs(&self) -> Vec<JobUse> {
        Vec::new()
    }

    /// Closes every file; the next slice or phase opens them again.
    fn release(&mut self);

    /// Bytes written since it was prepared, warm-up and tails of slices included.
    fn written_bytes(&self) -> u64 {
        0
    }

    /// What the engine had to do without, one sentence each.
    fn notes(&self) -> Vec<Flag> {
        Vec::new()
    }
}

/// Makes the files that the workload needs, synced, and answers the work on them.
///
/// # Errors
/// Where the parameters are wrong, the target does not fit, or a call on it fails; `stop` ends it
/// with [`EngineError::Interrupted`].
pub fn prepare(
    place: &OpenTarget,
    workload: &Workload,
    seed: u64,
    stop: Arc<AtomicBool>,
) -> Result<Box<dyn Work>, EngineError> {
    prepare_noted(place, workload, (seed, Clients::ALONE), None, stop)
}

/// As [`prepare`], by one of several clients; a process that outlives a request notes its id and start in the file `note`
/// while it runs, for whoever cleans up after a crash.
///
/// # Errors
/// As [`prepare`].
pub fn prepare_noted(
    place: &OpenTarget,
    workload: &Workload,
    (seed, clients): (u64, Clients),
    note: Option<PathBuf>,
    stop: Arc<AtomicBool>,
) -> Result<Box<dyn Work>, EngineError> {
    workload.check().and_then(|()| clients.check()).map_err(EngineError::Unsuitable)?;
    if let (OpenTarget::Library(library), false) = (place, workload.traits().runs_in_a_library()) {
        return Err(EngineError::Unsuitable(format!(
            "workload {} needs a kernel filesystem, and {} holds one that this process reads itself; give a library \
             operations, such as --suite operations",
            workload.name,
            model::text::escaped_path(library.path())
        )));
    }
    Ok(match &workload.kind {
        Kind::Io(io) => Box::new(SteadyWork::prepare(place, io, (seed, clients), stop)?),
        Kind::Jobs(jobs) => Box::new(JobsWork::prepare(place, jobs, seed, stop)?),
        Kind::Fio(run) => Box::new(FioWork::prepare(place, run, stop)?),
        Kind::Operations(operations) => {
            Box::new(crate::operations::OperationsWork::prepare(place, operations, (seed, clients), stop)?)
        }
        Kind::SmallFiles(small) => Box::new(SmallFilesWork::prepare(place, small, (seed, clients), stop)?),
        Kind::Appenders(appenders) => Box::new(AppendersWork::prepare(place, appenders, seed, stop)?),
        Kind::Oltp(oltp) => Box::new(OltpWork::prepare(place, oltp, seed, note, stop)?),
        Kind::Streams(streams) => Box::new(StreamsWork::prepare(place, streams, seed, stop)?),
        Kind::Programs(programs) => Box::new(ProgramsWork::prepare(place, programs, stop)?),
        Kind::Mix(mix) => Box::new(MixWork::prepare(place, mix, seed, stop)?),
        Kind::Contention(contention) => Box::new(contention::ContentionWork::prepare(place, contention, seed, stop)?),
        Kind::OneFile(one) => Box::new(one_file::OneFileWork::prepare(place, one, (seed, clients), stop)?),
        Kind::Collective(collective) => {
            Box::new(collective::CollectiveWork::prepare(place, collective, (seed, clients), stop)?)
        }
        Kind::Replay(of) => Box::new(replay::ReplayWork::prepare(place, of, seed, stop)?),
        Kind::Durable(durable) => Box::new(crate::durable::DurableWork::prepare(place, durable, seed, stop)?),
        Kind::Foreign(foreign) => {
            return Err(EngineError::Unsuitable(format!(
                "workload {} was done by another tool ({}), and only its figures are known; race a suite in its place",
                workload.name, foreign.format
            )));
        }
    })
}

/// An error once the flag is set. Relaxed: nothing else hangs on the order.
#[inline]
pub(crate) fn heed(stop: &AtomicBool) -> Result<(), EngineError> {
    if stop.load(Ordering::Relaxed) { Err(EngineError::Interrupted) } else { Ok(()) }
}
