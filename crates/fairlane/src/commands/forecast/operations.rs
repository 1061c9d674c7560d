//! Operations on files, step by step.

use super::{Parts, Setting, Work};
use model::operations::{Amount, Method, Operation, OperationStep, Operations, SyncPolicy};

/// Most and fewest processes that are started before a step to see what that costs: the engine's own.
const STARTS: (f64, f64) = (5.0, 200.0);
/// A process that does something takes longer than one that does nothing. Chosen, as the rates.
pub(super) const BUSY_PROCESS: f64 = 1.35;

impl Setting {
    pub(super) fn operations(&self, operations: &Operations) -> Parts {
        let rates = &self.rates;
        let loops = f64::from(operations.loops.max(1));
        let steps =
            |steps: &[OperationStep]| steps.iter().fold(Work::default(), |sum, step| sum + self.step(operations, step));
        let populated = operations.files.iter().filter(|set| set.populate);
        let populated = populated.fold(Work::default(), |sum, set| {
            let bytes = set.bytes_of(&(0..set.count)) as f64;
            sum + Work { seconds: bytes / rates.sequential + set.count as f64 * rates.change_seconds, bytes }
        });
        // What is left of the time before is removed, and everything synced.
        let around = populated + Work::seconds(2.0 * rates.flush_seconds);
        let pass = around + steps(&operations.step);
        // Where contents are checked, no step begins cold.
        let warm: Vec<_> = operations.step.iter().map(|step| OperationStep { cold: false, ..step.clone() }).collect();
        let checked = around + steps(&warm);
        let cold = operations.step.iter().filter(|step| step.cold).count() as f64 * self.remount_seconds();
        let lane = self.visit() + (pass + Work::seconds(cold)) * loops + Work::seconds(self.turns_seconds(operations));
        let waits = match operations.loops {
            // All lanes do a step before any begins the next, each after a moment of quiet.
            0 | 1 => self.quiet(operations.step.len() as f64),
            // A lane begins a pass when all are quiet.
            _ if self.formatted > 0.0 => Work::seconds(loops * self.lanes * self.quiet_seconds),
            _ => Work::default(),
        };
        // In a pass of its own, on a lane that is made anew afterwards.
        let compared = operations.checked().iter().fold(0.0, |sum, present| {
            let read = present.bytes as f64 / rates.compared;
            let opened = present.things as f64 * rates.cold_seconds;
            sum + self.remount_seconds() + read + opened
        });
        Parts {
            checked: (self.visit() + checked + Work::seconds(compared)) * self.lanes,
            round: lane * self.lanes + waits,
            probe: self.flushes(),
            ..Parts::default()
        }
    }

    /// What a lane leaves to be written behind each part of a step is written before the next lane's turn (conductor::steps): a
    /// flush each, beside the one at the end of the step.
    fn turns_seconds(&self, operations: &Operations) -> f64 {
        if self.lanes < 2.0 || operations.loops > 1 {
            return 0.0;
        }
        let leaves = |step: &&OperationStep| step.operation.changes() && step.sync != SyncPolicy::Each;
        let parts = |step: &OperationStep| if self.disks.are_held() { 1 } else { operations.parts(step) };
        let flushes: u32 = operations.step.iter().filter(leaves).map(parts).sum();
        f64::from(flushes) * self.rates.flush_seconds
    }

    /// A step on one lane.
    pub(super) fn step(&self, operations: &Operations, step: &OperationStep) -> Work {
        let rates = &self.rates;
        let Amount { operations: count, written_bytes, read_bytes } = operations.amount(step);
        let (count, written, read) = (count as f64, written_bytes as f64, read_bytes as f64);
        let threads = f64::from(operations.threads.max(1));
        let at_once = threads.min(self.cpus.max(1.0));
        let syncs = match (step.sync, step.operation) {
            (SyncPolicy::Each, Operation::RenameAcross) => 2.0 * count,
            (SyncPolicy::Each, _) => count,
            (_, Operation::Fsync | Operation::FsyncDirectory) => count,
            (SyncPolicy::End, operation) if operation.changes() => 1.0,
            _ => 0.0,
        };
        let removed = match (step.operation, operations.set(&step.files)) {
            (Operation::RemoveTree, Some(set)) => set.count as f64,
            _ => 0.0,
        };
        let data = written / rates.sequential
            + if step.cold { read / rates.sequential } else { read / (2.0 * rates.compared) };
        let calls = match operations.method {
            Method::InProcess => count * self.call_seconds(step),
            Method::ProcessPerOperation => {
                let synced = if step.sync == SyncPolicy::Each { syncs } else { 0.0 };
                let cold = if step.cold { rates.cold_seconds } else { 0.0 };
                let starts = (count / threads).clamp(STARTS.0, STARTS.1) * threads;
                (count + synced) * (rates.process_seconds * BUSY_PROCESS + cold) + starts * rates.process_seconds
            }
        };
        let calls = (calls + removed * rates.change_seconds) / at_once;
        Work { seconds: calls + data + syncs * rates.flush_seconds, bytes: written }
    }

    /// One operation as a call of the agent.
    fn call_seconds(&self, step: &OperationStep) -> f64 {
        let blocks = matches!(step.operation, Operation::Write | Operation::RandomWrite);
        match step.cold {
            true => self.rates.cold_seconds,
            false if step.operation.changes() && !blocks => self.rates.change_seconds,
            false => self.rates.look_seconds,
        }
    }
}
