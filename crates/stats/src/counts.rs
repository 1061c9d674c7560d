//! What the rates of a result count, for the tables that show them.

use model::findings::Counts;
use model::operations::{FileSize, Operation};
use model::workload::{Kind, Workload};

/// Files from this size on are told in bytes per second: a rate of files would say what their size does.
const LARGE_FILE_BYTES: u64 = 1 << 20;

/// What one operation of a group is.
pub fn counts(workload: &Workload, group: &str) -> Counts {
    match &workload.kind {
        Kind::Io(_) if workload.flush_bound() => Counts::Commits,
        Kind::Io(_) | Kind::Jobs(_) | Kind::Fio(_) => Counts::Requests,
        Kind::SmallFiles(_) => Counts::Files,
        Kind::Oltp(_) => Counts::Transactions,
        Kind::Operations(operations) => {
            let Some(step) = operations.step_named(group) else { return Counts::Operations };
            let is_large = |size: &FileSize| matches!(size, FileSize::Fixed(bytes) if bytes.0 >= LARGE_FILE_BYTES);
            let large = operations.set(&step.files).is_some_and(|set| is_large(&set.size));
            of_step(step.operation, large)
        }
        Kind::Appenders(_) | Kind::Streams(_) | Kind::Programs(_) | Kind::Mix(_) => Counts::Operations,
    }
}

fn of_step(operation: Operation, large: bool) -> Counts {
    match operation {
        Operation::Create | Operation::Read | Operation::Overwrite if large => Counts::Bytes,
        Operation::Write => Counts::Bytes,
        Operation::RandomRead | Operation::RandomWrite => Counts::Requests,
        Operation::List | Operation::Mkdir | Operation::Rmdir | Operation::FsyncDirectory => Counts::Directories,
        Operation::Create
        | Operation::Read
        | Operation::Overwrite
        | Operation::Append
        | Operation::Stat
        | Operation::Open
        | Operation::Rename
        | Operation::RenameAcross
        | Operation::Unlink => Counts::Files,
        Operation::Link
        | Operation::Symlink
        | Operation::Truncate
        | Operation::Fallocate
        | Operation::Reflink
        | Operation::Setxattr
        | Operation::Getxattr
        | Operation::Fsync
        | Operation::RemoveTree => Counts::Operations,
    }
}
