//! The record of durability being written, line by line, each synced.

use super::cannot;
use crate::failure::Failure;
use crate::state::Owner;
use model::durability::{DurabilityHeader, DurabilityLine, DurabilityRecord};
use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};

/// The record on disk and in memory.
pub struct Notebook {
    file: File,
    path: PathBuf,
    record: DurabilityRecord,
}

impl Notebook {
    /// Begins a record; an existing file is never overwritten.
    ///
    /// # Errors
    /// What the system answers.
    pub fn begin(path: &Path, header: DurabilityHeader) -> Result<Notebook, Failure> {
        let file = OpenOptions::new().append(true).create_new(true).open(path);
        let file = file.map_err(cannot(format!("make the record {} (name another with -o)", path.display())))?;
        let _ = Owner::current().give_file(&file);
        let mut book = Notebook { file, path: path.to_owned(), record: DurabilityRecord::begin(header.clone()) };
        book.write(&DurabilityLine::Durability(Box::new(header)))?;
        Ok(book)
    }

    fn write(&mut self, line: &DurabilityLine) -> Result<(), Failure> {
        let mut text = serde_json::to_vec(line).map_err(|error| cannot("write a record")(error.into()))?;
        text.push(b'\n');
        let written = self.file.write_all(&text).and_then(|()| self.file.sync_data());
        written.map_err(cannot(format!("write the record {}", self.path.display())))
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

    /// What is in it.
    pub fn record(&self) -> &DurabilityRecord {
        &self.record
    }

    /// Where it lies.
    pub fn path(&self) -> &Path {
        &self.path
    }
}
