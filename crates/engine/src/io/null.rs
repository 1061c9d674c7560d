//! No I/O at all: what the engine itself costs. The same loop, clock, offsets and histogram run.

use super::{Completion, Operation, Queue, Setup};
use crate::error::EngineError;
use std::collections::VecDeque;
use std::os::fd::OwnedFd;
use std::rc::Rc;

struct Null {
    in_flight: VecDeque<Completion>,
}

pub(super) fn open(setup: Setup) -> Result<Box<dyn Queue>, EngineError> {
    let in_flight = VecDeque::with_capacity(setup.depth as usize);
    Ok(Box::new(Null { in_flight }))
}

impl Queue for Null {
    fn queue(&mut self, operation: Operation) -> Result<(), EngineError> {
        let result = operation.action.moves(operation.bytes);
        self.in_flight.push_back(Completion { chunk: operation.chunk, result });
        Ok(())
    }

    /// One operation at a time, the oldest first: each pays for its own turn of the loop and its
    /// own look at the clock, so that the ceiling is the one of the least favourable batches.
    fn performs(&self) -> bool {
        true
    }

    #[inline]
    fn perform(&mut self, operation: Operation) -> i32 {
        operation.action.moves(operation.bytes)
    }

    fn reap(&mut self, least: u32, completions: &mut Vec<Completion>) -> Result<(), EngineError> {
        let count = (least.max(1) as usize).min(self.in_flight.len());
        completions.extend(self.in_flight.drain(..count));
        Ok(())
    }

    fn poll(&mut self, completions: &mut Vec<Completion>) -> Result<(), EngineError> {
        self.reap(1, completions)
    }

    fn set_file(&mut self, _slot: u32, _file: Option<Rc<OwnedFd>>) -> Result<(), EngineError> {
        Ok(())
    }
}
