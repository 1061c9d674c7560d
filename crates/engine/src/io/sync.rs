//! pread, pwrite and their vectored forms with flags, fsync, fallocate: one operation at a time, one
//! system call each (a write and its `fdatasync`: two).

use super::slots::{RWF_DONTCACHE, Slots, probe, result_of};
use super::{Action, Completion, Operation, OperationFlags, Queue, Setup, refuse_sqthread_poll};
use crate::buffers::Memory;
use crate::error::EngineError;
use rustix::io::{Errno, ReadWriteFlags, pread, preadv2, pwrite, pwritev2, retry_on_intr};
use std::io::{IoSlice, IoSliceMut};
use std::os::fd::OwnedFd;
use std::rc::Rc;

struct Sync {
    slots: Slots,
    memory: Rc<Memory>,
    next: Option<Operation>,
    /// What reads and writes carry; where empty, they are plain `pread` and `pwrite`.
    read_flags: ReadWriteFlags,
    write_flags: ReadWriteFlags,
    flags: OperationFlags,
    probed: bool,
}

pub(super) fn open(setup: Setup) -> Result<Box<dyn Queue>, EngineError> {
    if setup.depth != 1 {
        return Err(EngineError::Unsuitable(format!(
            "I/O engine sync keeps one operation in flight, not {}; set iodepth = 1 or ioengine = \"io_uring\"",
            setup.depth
        )));
    }
    refuse_sqthread_poll("sync", setup.flags)?;
    let slots = Slots::new(setup.files);
    slots.present().next().map_or(Ok(()), |file| probe(file, setup.flags))?;
    let mut read_flags = ReadWriteFlags::empty();
    read_flags.set(ReadWriteFlags::from_bits_retain(RWF_DONTCACHE), setup.flags.uncached);
    read_flags.set(ReadWriteFlags::HIPRI, setup.flags.hipri);
    let mut write_flags = read_flags;
    write_flags.set(ReadWriteFlags::DSYNC, setup.flags.dsync);
    Ok(Box::new(Sync {
        probed: slots.any(),
        slots,
        memory: setup.memory,
        next: None,
        read_flags,
        write_flags,
        flags: setup.flags,
    }))
}

impl Sync {
    #[inline]
    fn run(&self, operation: Operation) -> Result<usize, Errno> {
        match operation.action {
            Action::Read => self.read(operation),
            Action::Write => self.write(operation),
            Action::WriteAndSync => {
                let moved = self.write(operation)?;
                if moved == operation.bytes as usize {
                    self.slots.sync(operation.file, true)?;
                }
                Ok(moved)
            }
            Action::Trim => self.slots.discard(operation.file, operation.offset, operation.bytes),
            Action::Fsync => self.slots.sync(operation.file, false),
            Action::Fdatasync => self.slots.sync(operation.file, true),
        }
    }

    #[inline]
    fn read(&self, operation: Operation) -> Result<usize, Errno> {
        let file = self.slots.borrow(operation.file)?;
        let (start, bytes, offset) = (self.memory.chunk(operation.chunk), operation.bytes as usize, operation.offset);
        debug_assert!(bytes <= self.memory.chunk_bytes(), "an operation fits into its chunk");
        // SAFETY: the chunk lies within the mapping that `self.memory` keeps alive, its bytes
        // are initialised, and by the trait's contract nobody else touches it now.
        let buffer = unsafe { std::slice::from_raw_parts_mut(start, bytes) };
        if self.read_flags.is_empty() {
            return retry_on_intr(|| pread(file, &mut *buffer, offset));
        }
        retry_on_intr(|| preadv2(file, &mut [IoSliceMut::new(buffer)], offset, self.read_flags))
    }

    #[inline]
    fn write(&self, operation: Operation) -> Result<usize, Errno> {
        let file = self.slots.borrow(operation.file)?;
        let (start, bytes, offset) = (self.memory.chunk(operation.chunk), operation.bytes as usize, operation.offset);
        debug_assert!(bytes <= self.memory.chunk_bytes(), "an operation fits into its chunk");
        // SAFETY: as `read`, read only.
        let buffer = unsafe { std::slice::from_raw_parts(start, bytes) };
        if self.write_flags.is_empty() {
            return retry_on_intr(|| pwrite(file, buffer, offset));
        }
        retry_on_intr(|| pwritev2(file, &[IoSlice::new(buffer)], offset, self.write_flags))
    }
}

impl Queue for Sync {
    fn performs(&self) -> bool {
        true
    }

    #[inline]
    fn perform(&mut self, operation: Operation) -> i32 {
        result_of(self.run(operation))
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
            completions.push(Completion { chunk: operation.chunk, result: result_of(self.run(operation)) });
        }
        Ok(())
    }

    fn poll(&mut self, completions: &mut Vec<Completion>) -> Result<(), EngineError> {
        self.reap(0, completions)
    }

    fn reap_until(&mut self, _nanoseconds: u64, completions: &mut Vec<Completion>) -> Result<(), EngineError> {
        self.reap(1, completions)
    }

    fn set_file(&mut self, slot: u32, file: Option<Rc<OwnedFd>>) -> Result<(), EngineError> {
        debug_assert!(self.next.is_none(), "a queued operation would change its file");
        if let (false, Some(file)) = (self.probed, &file) {
            probe(file, self.flags)?;
            self.probed = true;
        }
        self.slots.set(slot, file);
        Ok(())
    }
}
