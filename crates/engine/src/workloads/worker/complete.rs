//! What came back: counted, checked, complained of.

use super::{Flight, Worker};
use crate::error::{EngineError, alignment_remedy};
use crate::io::{Action, Completion, Queue};
use crate::target::OpenTarget;
use std::path::PathBuf;

impl Worker {
    /// Checks what has completed, and counts it where it is measured.
    #[inline]
    pub(super) fn take_in<const PLAIN: bool>(
        &mut self,
        queue: &mut dyn Queue,
        mut now: u64,
        counting: bool,
        place: &OpenTarget,
    ) -> Result<(), EngineError> {
        self.completed += self.completions.len() as u64;
        for index in 0..self.completions.len() {
            let Completion { chunk, mut result } = self.completions[index];
            let flight = &self.flights[chunk as usize];
            if result != flight.expected {
                if result == -libc::EAGAIN {
                    self.done_again += 1;
                    result = queue.again(flight.operation(chunk));
                    now = self.clock.now();
                }
                self.complain(result, flight, place)?;
            }
            if !PLAIN && let Some(verifier) = &mut self.verifier {
                let bytes = &self.contents.bytes(chunk)[..flight.bytes as usize];
                match flight.action {
                    Action::Write | Action::WriteAndSync => verifier.complete(flight.file, flight.offset, flight.bytes),
                    Action::Read => verifier.check(bytes, flight.file, flight.offset)?,
                    Action::Trim | Action::Fsync | Action::Fdatasync => {}
                }
            }
            self.contents.give_back(chunk);
            if counting && (PLAIN || flight.begun >= self.count_from || !self.pace.is_open_loop()) {
                let counts = &mut self.counts[flight.tallied as usize];
                let latency = now.saturating_sub(flight.begun);
                counts.operations += 1;
                counts.bytes += u64::from(flight.bytes);
                counts.latencies.record(latency);
                if !PLAIN {
                    self.pace.observe(latency);
                }
            }
        }
        self.completions.clear();
        Ok(())
    }

    /// What a result means that is not simply success.
    #[cold]
    pub(super) fn complain(&self, result: i32, flight: &Flight, place: &OpenTarget) -> Result<(), EngineError> {
        let direct = self.task.io.direct || self.device.is_some();
        let path = self.path(place, flight.file);
        let flags = self.flags();
        let remedy = |errno| flags.remedy(errno).or(alignment_remedy(errno, direct));
        check_result(result, flight.action, u64::from(flight.bytes), flight.offset, path, remedy)
    }

    pub(super) fn path(&self, place: &OpenTarget, slot: u32) -> PathBuf {
        match (&self.device, place.directory(), &self.append) {
            (Some(device), ..) => device.clone(),
            (None, Some(directory), Some(append)) => append.path(directory.0),
            (None, Some(directory), None) => directory.0.join(&self.task.files[slot as usize].name),
            (None, None, _) => PathBuf::from("nowhere"),
        }
    }
}

/// What a result means that is not simply the whole block.
#[cold]
pub(in crate::workloads) fn check_result(
    result: i32,
    action: Action,
    bytes: u64,
    offset: u64,
    path: PathBuf,
    remedy: impl FnOnce(i32) -> Option<&'static str>,
) -> Result<(), EngineError> {
    let expected = action.moves(bytes as u32);
    let action = match action {
        Action::Read => "read",
        Action::Write => "write",
        Action::WriteAndSync => "write and sync",
        Action::Trim => "discard",
        Action::Fsync | Action::Fdatasync => "sync",
    };
    match u64::try_from(result) {
        Ok(_) if result == expected => Ok(()),
        Ok(moved) => Err(EngineError::Short { action, moved, bytes, offset, path }),
        Err(_) => Err(EngineError::Operation { action, bytes, offset, path, remedy: remedy(-result), errno: -result }),
    }
}
