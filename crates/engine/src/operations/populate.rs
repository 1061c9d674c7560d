//! What is there before the first step: folders, directories, populated sets.

use super::backend::FileCalls;
use super::in_process::InProcess;
use super::names::PathOf;
use super::plan::Plan;
use super::run::{Kit, Share, lacks};
use super::work::CallsErrand;
use crate::beneath;
use crate::buffers::Room;
use crate::error::EngineError;
use crate::workers::Start;
use crate::workloads::heed;
use model::agent::Part;
use model::operations::{Operation, OperationStep, State, SyncPolicy};
use rustix::io::Errno;
use std::ffi::CString;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

/// Makes what is there before the first step, in an empty top folder; answers the bytes written.
pub(super) struct Populate<'a> {
    pub(super) plan: &'a Plan,
    pub(super) state: &'a State,
    pub(super) stop: &'a AtomicBool,
}

impl CallsErrand for Populate<'_> {
    type Answer = u64;

    fn run<C: FileCalls>(self, calls: &mut C, top: &Path) -> Result<u64, EngineError> {
        let mut written = 0;
        for set in 0..self.plan.names.len() {
            self.make_directories(set, calls, top)?;
        }
        for set in 0..self.plan.names.len() {
            if self.plan.set(set).populate {
                written += self.fill(set, calls, top)?;
            }
        }
        calls.sync_all().map_err(|errno| EngineError::file("sync the filesystem of", top, errno))?;
        Ok(written)
    }
}

impl Populate<'_> {
    fn make_directories<C: FileCalls>(&self, set: usize, calls: &mut C, top: &Path) -> Result<(), EngineError> {
        let names = &self.plan.names[set];
        let folder = names.folder();
        // Sets that share a folder: the first of them makes it.
        let made = self.plan.names[..set].iter().any(|earlier| earlier.folder() == folder);
        if !names.is_flat() && !made {
            let path = CString::new(folder).unwrap_or_default();
            beneath::made_by_any(calls.make_directory(&path), self.plan.is_shared())
                .map_err(|errno| EngineError::file("create directory", super::in_process::shown(top, &path), errno))?;
        }
        if names.is_flat() && made {
            return Ok(());
        }
        let mut path = PathOf::new(names);
        for (range, directory) in self.state.set(set).directories.all() {
            for number in range.clone().filter(|_| directory.present) {
                heed(self.stop)?;
                path.set_directory(number);
                let made = beneath::made_by_any(calls.make_directory(path.as_c_str()), self.plan.is_shared());
                made.map_err(|errno| self.refused(set, super::in_process::shown(top, path.as_c_str()), errno))?;
            }
        }
        Ok(())
    }

    fn step_name(&self, set: usize) -> String {
        format!("populate {}", self.plan.set(set).name)
    }

    fn refused(&self, set: usize, path: PathBuf, errno: Errno) -> EngineError {
        let error = EngineError::file("create directory", path, errno);
        let errno = errno.raw_os_error();
        match lacks(Operation::Mkdir, errno) {
            true => EngineError::Unsupported { what: error.to_string(), step: self.step_name(set), errno },
            false => error,
        }
    }

    fn fill<C: FileCalls>(&self, set: usize, calls: &mut C, top: &Path) -> Result<u64, EngineError> {
        let step = OperationStep {
            name: self.step_name(set),
            section: String::new(),
            operation: Operation::Create,
            files: self.plan.set(set).name.clone(),
            first: 0,
            count: None,
            block: None,
            sync: SyncPolicy::None,
            cold: false,
        };
        let share = Share {
            plan: self.plan,
            state: self.state,
            step: &step,
            set,
            generation: 0,
            part: Part::WHOLE,
            thread: 0,
            threads: 1,
            stop: self.stop,
        };
        let mut operator = InProcess::new(calls, top, Room::default());
        let mut kit = Kit::new();
        kit.prepare(&share)?;
        Ok(share.run(&mut operator, &mut kit, Start::alone(&mut ()))?.bytes)
    }
}
