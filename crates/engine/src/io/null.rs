//! No I/O at all: what the engine itself costs. The same loop, clock, offsets and histogram run.

use super::{Completion, Operation, Queue, Setup};
use crate::error::EngineError;
use std::os::fd::OwnedFd;
use std::rc::Rc;

/// A ring of a power of two of entries: no branch but the bounds check.
struct Null {
    ring: Box<[Completion]>,
    mask: u32,
    /// Counts of operations answered and taken; they wrap.
    head: u32,
    tail: u32,
}

pub(super) fn open(setup: Setup) -> Result<Box<dyn Queue>, EngineError> {
    let entries = setup.depth.max(1).checked_next_power_of_two().ok_or_else(|| {
        EngineError::Unsuitable(format!("{} operations in flight are too many; lower iodepth", setup.depth))
    })?;
    let ring = vec![Completion { chunk: 0, result: 0 }; entries as usize].into_boxed_slice();
    Ok(Box::new(Null { ring, mask: entries - 1, head: 0, tail: 0 }))
}

impl Queue for Null {
    #[inline]
    fn queue(&mut self, operation: Operation) -> Result<(), EngineError> {
        let result = operation.action.moves(operation.bytes);
        self.ring[(self.tail & self.mask) as usize] = Completion { chunk: operation.chunk, result };
        self.tail = self.tail.wrapping_add(1);
        Ok(())
    }

    fn performs(&self) -> bool {
        true
    }

    #[inline]
    fn perform(&mut self, operation: Operation) -> i32 {
        operation.action.moves(operation.bytes)
    }

    /// One operation at a time unless more are asked for, the oldest first: each pays for its own
    /// turn of the loop and its own look at the clock, so that the ceiling is the one of the least
    /// favourable batches.
    #[inline]
    fn reap(&mut self, least: u32, completions: &mut Vec<Completion>) -> Result<(), EngineError> {
        let count = least.max(1).min(self.tail.wrapping_sub(self.head));
        for _ in 0..count {
            completions.push(self.ring[(self.head & self.mask) as usize]);
            self.head = self.head.wrapping_add(1);
        }
        Ok(())
    }

    #[inline]
    fn poll(&mut self, completions: &mut Vec<Completion>) -> Result<(), EngineError> {
        self.reap(1, completions)
    }

    fn reap_until(&mut self, _nanoseconds: u64, completions: &mut Vec<Completion>) -> Result<(), EngineError> {
        self.reap(1, completions)
    }

    fn set_file(&mut self, _slot: u32, _file: Option<Rc<OwnedFd>>) -> Result<(), EngineError> {
        Ok(())
    }
}
