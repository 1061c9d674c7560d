//! pread, pwrite, fdatasync: one operation at a time.

use super::{Completion, Direction, Operation, Queue, Setup};
use crate::buffers::Memory;
use crate::error::EngineError;
use rustix::io::{Errno, pread, pwrite, retry_on_intr};
use std::os::fd::OwnedFd;
use std::rc::Rc;

struct Sync {
    file: Rc<OwnedFd>,
    direction: Direction,
    memory: Rc<Memory>,
    next: Option<Operation>,
}

pub(super) fn open(setup: Setup) -> Result<Box<dyn Queue>, EngineError> {
    if setup.depth != 1 {
        return Err(EngineError::Unsuitable(format!(
            "I/O engine sync keeps one operation in flight, not {}; set iodepth = 1 or ioengine = \"io_uring\"",
            setup.depth
        )));
    }
    Ok(Box::new(Sync { file: setup.file()?, direction: setup.direction, memory: setup.memory, next: None }))
}

impl Sync {
    fn run(&self, operation: Operation) -> Result<usize, Errno> {
        let (start, bytes) = (self.memory.chunk(operation.chunk), self.memory.chunk_bytes());
        match self.direction {
            Direction::Read => {
                // SAFETY: the chunk lies within the mapping that `self.memory` keeps alive, its bytes
                // are initialised, and by the trait's contract nobody else touches it now.
                let buffer = unsafe { std::slice::from_raw_parts_mut(start, bytes) };
                retry_on_intr(|| pread(&*self.file, &mut *buffer, operation.offset))
            }
            Direction::Write => {
                // SAFETY: as above, read only.
                let buffer = unsafe { std::slice::from_raw_parts(start, bytes) };
                let moved = retry_on_intr(|| pwrite(&*self.file, buffer, operation.offset))?;
                if operation.sync && moved == bytes {
                    retry_on_intr(|| rustix::fs::fdatasync(&*self.file))?;
                }
                Ok(moved)
            }
        }
    }
}

impl Queue for Sync {
    fn queue(&mut self, operation: Operation) -> Result<(), EngineError> {
        debug_assert!(self.next.is_none(), "depth 1");
        self.next = Some(operation);
        Ok(())
    }

    fn reap(&mut self, completions: &mut Vec<Completion>) -> Result<(), EngineError> {
        if let Some(operation) = self.next.take() {
            let result = match self.run(operation) {
                Ok(moved) => moved as i32,
                Err(errno) => -errno.raw_os_error(),
            };
            completions.push(Completion { chunk: operation.chunk, result });
        }
        Ok(())
    }

    fn switch_file(&mut self, file: Rc<OwnedFd>) -> Result<(), EngineError> {
        debug_assert!(self.next.is_none(), "a queued operation would change its file");
        self.file = file;
        Ok(())
    }
}
