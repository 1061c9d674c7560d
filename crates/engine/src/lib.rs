//! Workload and directory in, samples out: Fairlane's load generator.
//!
//! [`OpenTarget::open`] takes a target, [`prepare`] makes a workload's files in it, and the [`Work`] it
//! answers runs slices or phases, each yielding a [`Window`]; a [`Tally`] makes a trial's group of
//! them. I/O engines are rows of [`io::ENGINES`], workload kinds arms of [`prepare`].
//!
//! The loops make no call beyond the measured ones and the vDSO clock: nothing is allocated,
//! locked or formatted in them.

#[cfg(test)]
#[macro_use]
#[path = "../tests/common/alone.rs"]
mod alone;
mod beneath;
pub mod buffers;
mod cached;
pub mod carrier;
pub mod clock;
pub mod compressibility;
mod confined;
pub mod data;
pub mod databases;
pub mod durable;
mod error;
mod extents;
mod histogram;
pub mod io;
mod marked;
mod operations;
mod packages;
pub mod pattern;
pub mod programs;
mod syncfs;
mod target;
mod unprivileged;
pub mod verify;
mod window;
mod workers;
mod workloads;

pub use error::EngineError;
pub use histogram::Latencies;
pub use operations::rsext4::Library;
pub use operations::{MissingTool, OperationsWork, missing_tools};
pub use target::OpenTarget;
pub use window::{BANDWIDTH, LATE, LATE_WRITERS, LATENESS_P50, LATENESS_P99};
pub use window::{OPERATIONS_PER_SECOND, PROCESS_STARTUP, Tally, Window, primary_metric};
pub use workloads::{
    AppendersWork, FioWork, JobsWork, MixWork, Observer, OtherClient, SmallFilesWork, SteadyWork, Work,
};
pub use workloads::{
    appenders_allowance, check_limits, check_process_limit, check_trace_memory, prepare, prepare_noted, read_trace,
};
