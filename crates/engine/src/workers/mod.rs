//! Workers of all kinds of work, threads or processes: how they are made, begin together, are told to stop and end.

mod handle;
mod pool;
mod process;
mod run_state;
mod shared_memory;
mod signals;
mod start_gate;
mod threads;

pub(crate) use handle::{Duty, Kin, WorkerHandle, fault};
pub(crate) use pool::Pool;
pub(crate) use process::Process;
pub(crate) use run_state::{RunState, Running};
pub(crate) use shared_memory::{Shareable, SharedMemory};
pub(crate) use signals::{LONGEST_PAUSE, Signals};
pub(crate) use start_gate::{Start, StartGate};
pub(crate) use threads::{Threads, Usage, end_naps_on_time, sleep_while};
