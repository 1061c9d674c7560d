//! pread, pwrite and their vectored forms with flags, fsync, fallocate: one operation at a time.

use super::{Action, Completion, Operation, Queue, Setup};
use crate::buffers::Memory;
use crate::error::EngineError;
use rustix::fs::{FallocateFlags, fallocate, fdatasync, fsync};
use rustix::io::{Errno, pread, pwrite, retry_on_intr};
use std::os::fd::OwnedFd;
use std::rc::Rc;

struct Sync {
    files: Vec<Option<Rc<OwnedFd>>>,
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
    Ok(Box::new(Sync { files: setup.files, memory: setup.memory, next: None }))
}

impl Sync {
    fn run(&self, operation: Operation) -> Result<usize, Errno> {
        let file = self.files.get(operation.file as usize).and_then(Option::as_ref).ok_or(Errno::BADF)?;
        let (start, bytes) = (self.memory.chunk(operation.chunk), operation.bytes as usize);
        debug_assert!(bytes <= self.memory.chunk_bytes(), "an operation fits into its chunk");
        match operation.action {
            Action::Read => {
                // SAFETY: the chunk lies within the mapping that `self.memory` keeps alive, its bytes
                // are initialised, and by the trait's contract nobody else touches it now.
                let buffer = unsafe { std::slice::from_raw_parts_mut(start, bytes) };
                retry_on_intr(|| pread(&**file, &mut *buffer, operation.offset))
            }
            Action::Write | Action::WriteAndSync => {
                // SAFETY: as above, read only.
                let buffer = unsafe { std::slice::from_raw_parts(start, bytes) };
                let moved = retry_on_intr(|| pwrite(&**file, buffer, operation.offset))?;
                if operation.action == Action::WriteAndSync && moved == bytes {
                    retry_on_intr(|| fdatasync(&**file))?;
                }
                Ok(moved)
            }
            Action::Trim => {
                let hole = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
                fallocate(&**file, hole, operation.offset, u64::from(operation.bytes)).map(|()| 0)
            }
            Action::Fsync => retry_on_intr(|| fsync(&**file)).map(|()| 0),
            Action::Fdatasync => retry_on_intr(|| fdatasync(&**file)).map(|()| 0),
        }
    }
}

impl Queue for Sync {
    fn performs(&self) -> bool {
        true
    }

    #[inline]
    fn perform(&mut self, operation: Operation) -> i32 {
        match self.run(operation) {
            Ok(moved) => moved as i32,
            Err(errno) => -errno.raw_os_error(),
        }
    }

    #[inline]
    fn queue(&mut self, operation: Operation) -> Result<(), EngineError> {
        debug_assert!(self.next.is_none(), "depth 1");
        self.next = Some(operation);
        Ok(())
    }

    #[inline]
    fn reap(&mut self, _least: u32, completions: &mut Vec<Completion>) -> Result<(), EngineError> {
        if let Some(operation) = self.next.take() {
            let result = match self.run(operation) {
                Ok(moved) => moved as i32,
                Err(errno) => -errno.raw_os_error(),
            };
            completions.push(Completion { chunk: operation.chunk, result });
        }
        Ok(())
    }

    fn poll(&mut self, completions: &mut Vec<Completion>) -> Result<(), EngineError> {
        self.reap(0, completions)
    }

    fn set_file(&mut self, slot: u32, file: Option<Rc<OwnedFd>>) -> Result<(), EngineError> {
        debug_assert!(self.next.is_none(), "a queued operation would change its file");
        self.files[slot as usize] = file;
        Ok(())
    }
}
