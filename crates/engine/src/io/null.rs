//! No I/O at all: what the engine itself costs. The same loop, clock, offsets and histogram run.

use super::{Completion, Operation, Queue, Setup};
use crate::error::EngineError;
use std::collections::VecDeque;
use std::os::fd::OwnedFd;
use std::rc::Rc;

struct Null {
    in_flight: VecDeque<u32>,
    block_bytes: i32,
}

pub(super) fn open(setup: Setup) -> Result<Box<dyn Queue>, EngineError> {
    let in_flight = VecDeque::with_capacity(setup.depth as usize);
    Ok(Box::new(Null { in_flight, block_bytes: setup.memory.chunk_bytes() as i32 }))
}

impl Queue for Null {
    fn queue(&mut self, operation: Operation) -> Result<(), EngineError> {
        self.in_flight.push_back(operation.chunk);
        Ok(())
    }

    /// One operation at a time, the oldest first: each pays for its own turn of the loop and its
    /// own look at the clock, so that the ceiling is the one of the least favourable batches.
    fn reap(&mut self, completions: &mut Vec<Completion>) -> Result<(), EngineError> {
        if let Some(chunk) = self.in_flight.pop_front() {
            completions.push(Completion { chunk, result: self.block_bytes });
        }
        Ok(())
    }

    fn switch_file(&mut self, _file: Rc<OwnedFd>) -> Result<(), EngineError> {
        Ok(())
    }
}
