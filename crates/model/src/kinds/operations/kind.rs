//! Operations on sets of files, as a kind of work.

use super::{Asked, FileSize, Method, Operation, Operations};
use crate::findings::Counts;
use crate::job::Data;
use crate::kinds::{READ_AHEAD_BYTES, Schedule, Traffic, WorkloadKind};
use crate::workload::{COMPRESSIBLE, Kind};

/// Files from this size on are told in bytes per second: a rate of files would say what their size does.
const LARGE_FILE_BYTES: u64 = 1 << 20;

impl WorkloadKind for Operations {
    fn groups(&self) -> Vec<String> {
        Operations::groups(self)
    }

    fn check(&self) -> Result<(), String> {
        Operations::check(self)
    }

    fn schedule(&self) -> Schedule<'_> {
        Schedule::Steps(self)
    }

    fn working_set_bytes(&self) -> u64 {
        Operations::working_set_bytes(self)
    }

    fn hole_bytes(&self) -> u64 {
        Operations::hole_bytes(self)
    }

    fn traffic(&self) -> Traffic {
        let amounts = self.step.iter().map(|step| self.amount(step));
        let (bytes, count) = amounts.fold((0.0, 0.0), |(bytes, count), of| {
            (bytes + of.written_bytes as f64 + of.read_bytes as f64, count + of.operations as f64)
        });
        Traffic { bytes, requests: count + bytes / READ_AHEAD_BYTES }
    }

    fn flushes(&self) -> bool {
        self.step.iter().any(|step| step.flushes())
    }

    fn concurrency(&self, _: &str) -> u32 {
        self.threads
    }

    fn reads(&self, group: &str) -> bool {
        let reads = |operation: Operation| matches!(operation, Operation::Read | Operation::RandomRead);
        self.step.iter().any(|step| reads(step.operation) && step.group() == group)
    }

    fn has_an_end(&self) -> bool {
        true
    }

    fn is_direct(&self) -> Option<bool> {
        Some(false)
    }

    fn counts(&self, group: &str) -> Counts {
        let Some(step) = self.step_named(group) else { return Counts::Operations };
        let is_large = |size: &FileSize| matches!(size, FileSize::Fixed(bytes) if bytes.0 >= LARGE_FILE_BYTES);
        let large = self.set(&step.files).is_some_and(|set| is_large(&set.size));
        of_step(step.operation, large)
    }

    fn borrows_ceilings(&self) -> bool {
        true
    }

    fn asks_for(&self) -> Vec<Asked> {
        Operations::asks_for(self)
    }

    fn starts_programs(&self) -> bool {
        self.method == Method::ProcessPerOperation
    }

    fn runs_in_a_library(&self) -> bool {
        true
    }

    fn data(&self) -> Option<&Data> {
        Some(&self.data)
    }

    fn with_compressible_data(&self, title: &dyn Fn(&str) -> String) -> Option<Kind> {
        if self.data != Data::Incompressible || self.method != Method::InProcess {
            return None;
        }
        let mut same = self.clone();
        same.data = COMPRESSIBLE;
        same.name_steps(title);
        Some(Kind::Operations(Box::new(same)))
    }

    fn name_steps(&mut self, named: &dyn Fn(&str) -> String) {
        for step in &mut self.step {
            step.name = named(step.group());
        }
    }

    fn do_as_published(&mut self) {
        (self.method, self.loops) = (Method::ProcessPerOperation, 1);
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
