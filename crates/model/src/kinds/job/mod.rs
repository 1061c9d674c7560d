//! One job of block I/O: what fio's options say, as plain data with fio's names.
//!
//! A suite holds such a job as a workload of kind `io`, measured in slices that alternate between
//! lanes. A job file holds several, run whole, as a workload of kind `jobs`.

mod check;
mod defaults;
mod file;
mod io;
mod pattern;
mod shared;
mod slices;
#[cfg(test)]
mod tests;
mod values;
mod whole;

pub use check::file_name;
pub use file::{FioJob, FioRun, Job, Jobs, check_files, group_name};
pub use io::Io;
pub use pattern::{Direction, Pattern, PerDirection};
pub use shared::FileLayout;
pub use values::{
    BlockSizes, Data, Distribution, FadviseHint, Fallocate, FileService, Rate, RateProcess, SyncMode, Verify,
};

use crate::Bytes;

/// Most I/Os in flight of one worker.
pub const MOST_IODEPTH: u32 = 65_536;
/// Largest block.
pub const LARGEST_BLOCK: Bytes = Bytes(64 * Bytes::MIB);
/// Bytes of the header at the start of each verified unit of a block.
pub const VERIFY_HEADER_BYTES: u64 = 48;
/// Most workers of one job.
pub const MOST_WORKERS: u32 = 1024;
/// Most files of one worker.
pub const MOST_FILES: u32 = 1 << 20;
/// Files of all workers of all jobs together: each is known by its name in memory.
pub const MOST_FILES_OF_ALL: u64 = 1 << 21;
