//! The record of durability being written, line by line, each synced.

use crate::conductor::record_file::{RecordFile, cannot_make};
use crate::conductor::trial_run;
use crate::failure::Failure;
use crate::owned;
use crate::terminal;
use model::durability::{DurabilityHeader, DurabilityLine, DurabilityRecord};
use model::record::EndOutcome;
use std::fs::File;
use std::io::Write as _;
use std::path::{Path, PathBuf};

/// The record on disk and in memory.
pub struct RecordWriter {
    file: File,
    path: PathBuf,
    /// Length up to the end of the last whole line.
    whole_bytes: u64,
    record: DurabilityRecord,
}

impl RecordWriter {
    /// Begins a record with its header; an existing file is never overwritten, and none is left where the header
    /// cannot be written.
    ///
    /// # Errors
    /// Where the file exists, cannot be made, or its disk is full.
    pub fn begin(path: &Path, header: DurabilityHeader) -> Result<RecordWriter, Failure> {
        RecordFile::check_new(path)?;
        let file = owned::create_to_append(path).map_err(|error| cannot_make(path, &error))?;
        let record = DurabilityRecord::begin(header.clone());
        let mut writer = RecordWriter { file, path: path.to_owned(), whole_bytes: 0, record };
        let begun = writer.write(&DurabilityLine::Durability(Box::new(header)));
        if begun.is_err() {
            let _ = owned::remove(path);
        }
        begun.map(|()| writer)
    }

    fn write(&mut self, line: &DurabilityLine) -> Result<(), Failure> {
        let mut text = serde_json::to_vec(line).map_err(|error| Failure::failed(error.to_string()))?;
        text.push(b'\n');
        match self.file.write_all(&text).and_then(|()| self.file.sync_data()) {
            Ok(()) => {
                self.whole_bytes += text.len() as u64;
                Ok(())
            }
            Err(error) => {
                // Half a line in the middle would damage the record.
                let _ = self.file.set_len(self.whole_bytes);
                Err(Failure::failed(format!(
                    "cannot write the record {}: {error}; free some space or name another place with -o, and run again",
                    self.path.display()
                )))
            }
        }
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
            let _ = owned::remove(&self.path);
            if outcome == EndOutcome::Interrupted {
                terminal::say!("interrupted before anything was found: there is no record, and nothing is left behind");
            }
            return Ok(());
        }
        self.add(DurabilityLine::End { finished: trial_run::now(), outcome })
    }

    /// What is in it.
    pub fn record(&self) -> &DurabilityRecord {
        &self.record
    }

    /// Where it lies.
    pub fn path(&self) -> &Path {
        &self.path
    }
}
