//! Workers of all kinds of work, threads or processes: how they are made, begin together, are told to stop and end.

mod process;
mod shared_memory;

pub(crate) use process::fork;
pub(crate) use shared_memory::{Shareable, SharedMemory};
