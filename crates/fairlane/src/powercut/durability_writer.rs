//! The record of durability being written, line by line.

use crate::conductor::trial_run;
use crate::failure::Failure;
use crate::owned;
use crate::record_writer::RecordWriter;
use crate::terminal;
use model::durability::{DurabilityHeader, DurabilityLine, DurabilityRecord};
use model::record::EndOutcome;
use std::path::Path;

/// The record on disk and in memory.
pub struct DurabilityWriter {
    writer: RecordWriter,
    record: DurabilityRecord,
}

impl DurabilityWriter {
    /// Begins a record with its header.
    ///
    /// # Errors
    /// As [`RecordWriter::begin`].
    pub fn begin(path: &Path, header: DurabilityHeader) -> Result<DurabilityWriter, Failure> {
        RecordWriter::begin(path, |writer| {
            let record = DurabilityRecord::begin(header.clone());
            let mut writer = DurabilityWriter { writer, record };
            writer.write(&DurabilityLine::Durability(Box::new(header))).map(|()| writer)
        })
    }

    fn write(&mut self, line: &DurabilityLine) -> Result<(), Failure> {
        let remedy = "free some space or name another place with -o, and run again";
        self.writer.append([line], |_| remedy.to_owned())
    }

    /// Adds a line.
    ///
    /// # Errors
    /// What the system answers.
    pub fn add(&mut self, line: DurabilityLine) -> Result<(), Failure> {
        self.write(&line)?;
        self.record.take(line);
        Ok(())
    }

    /// Writes how it ended. Where nothing was found by then, the file is removed: it would only be in the way.
    ///
    /// # Errors
    /// What the system answers.
    pub fn end(&mut self, outcome: EndOutcome) -> Result<(), Failure> {
        let DurabilityRecord { cuts, failed, speeds, damage, full, faults, .. } = &self.record;
        let found = [cuts.len(), failed.len(), speeds.len(), damage.len(), full.len(), faults.len()];
        if outcome != EndOutcome::Complete && found.iter().all(|count| *count == 0) {
            let _ = owned::remove(self.writer.path());
            if outcome == EndOutcome::Interrupted {
                terminal::say!("interrupted before anything was found: there is no record, and nothing is left behind");
            }
            return Ok(());
        }
        self.add(DurabilityLine::End { finished: trial_run::now(), outcome })?;
        if outcome == EndOutcome::Interrupted {
            let shown = report::shell_line(&[self.writer.path().display().to_string()]);
            terminal::say!("interrupted; what was found by then is kept: fairlane report {shown}");
        }
        Ok(())
    }

    /// What is in it.
    pub fn record(&self) -> &DurabilityRecord {
        &self.record
    }

    /// Where it lies.
    pub fn path(&self) -> &Path {
        self.writer.path()
    }
}
