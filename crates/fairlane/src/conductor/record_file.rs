//! The record of a race: appended to after every round, never inside a measured window.

use super::{Race, failpoint};
use crate::failure::Failure;
use crate::record_writer::RecordWriter;
use model::record::{EndOutcome, Line, Record};
use std::path::Path;

/// The record being written.
pub struct RecordFile {
    writer: RecordWriter,
    /// Whether it holds anything that was measured.
    holds_figures: bool,
    refused: bool,
}

impl RecordFile {
    /// Begins a record with its header.
    ///
    /// # Errors
    /// As [`RecordWriter::begin`].
    pub fn begin(path: &Path, header: Line) -> Result<Self, Failure> {
        RecordWriter::begin(path, |writer| {
            let mut file = RecordFile { writer, holds_figures: false, refused: false };
            file.append(&[header]).map(|()| file)
        })
    }

    /// Goes on with a record: what follows its last whole line (a trial in flight) is cut off.
    ///
    /// # Errors
    /// As [`RecordWriter::reopen`].
    pub fn reopen(path: &Path, record: &Record) -> Result<Self, Failure> {
        let holds_figures = !record.trials.is_empty() || !record.steps.is_empty();
        let writer = RecordWriter::reopen(path, record.whole_bytes)?;
        Ok(RecordFile { writer, holds_figures, refused: false })
    }

    /// Whether a line could not be written and what is there waits for `--resume`: it holds figures.
    pub fn refused(&self) -> bool {
        self.refused && self.holds_figures
    }

    /// Appends lines and syncs them.
    ///
    /// # Errors
    /// As [`RecordWriter::append`].
    pub fn append(&mut self, lines: &[Line]) -> Result<(), Failure> {
        let holds_figures = self.holds_figures;
        let written = self.writer.append(lines, |path| match holds_figures {
            true => format!("free some space, then go on with: fairlane race --resume {}", path.display()),
            false => "free some space or name another place with -o, and begin again".to_owned(),
        });
        self.refused |= written.is_err();
        self.holds_figures |=
            written.is_ok() && lines.iter().any(|line| matches!(line, Line::Trial(_) | Line::Step(_)));
        written
    }
}

impl Race<'_> {
    /// Appends a line, and keeps it in memory.
    pub(super) fn append(&mut self, line: Line) -> Result<(), Failure> {
        self.append_all(vec![line])
    }

    /// Appends lines, and keeps them in memory.
    pub(super) fn append_all(&mut self, lines: Vec<Line>) -> Result<(), Failure> {
        failpoint::at("record");
        self.file.append(&lines)?;
        for line in lines {
            match line {
                Line::Probe(probe) => self.record.probes.push(*probe),
                Line::Layers(layers) => self.record.layer_probes.push(*layers),
                Line::Disk(disk) => self.record.disks.push(*disk),
                Line::Rate(rate) => self.record.rates.push(*rate),
                Line::Note { said } => self.record.warnings.push(said),
                Line::Trial(trial) => self.record.trials.push(*trial),
                Line::Step(step) => self.record.steps.push(*step),
                Line::Profile(profile) => self.record.profiles.push(*profile),
                Line::Unreached(unreached) => self.record.unreached.push(unreached),
                Line::Clocks(clocks) => self.record.clocks = Some(clocks),
                Line::End { rounds_done: true, .. } => self.record.end = Some(EndOutcome::Unexplained),
                Line::End { outcome, .. } => self.record.end = Some(outcome),
                Line::Header(_) | Line::Resume { .. } => {}
            }
        }
        Ok(())
    }
}
