//! Workers of all kinds of work, threads or processes: how they are made, begin together, are told to stop and end.

mod handle;
mod process;
mod shared_memory;
mod signals;
mod usage;

pub(crate) use handle::{Duty, Kin, WorkerHandle, fault};
pub(crate) use process::Process;
pub(crate) use shared_memory::{Shareable, SharedMemory};
pub(crate) use signals::{LONGEST_PAUSE, Signals};
pub(crate) use usage::Usage;
