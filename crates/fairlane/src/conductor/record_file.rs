//! The record on disk: append-only, synced after every round, never inside a measured window.

use crate::failure::Failure;
use crate::state::Owner;
use model::record::{Line, Record};
use std::fs::{File, OpenOptions};
use std::io::{Seek, SeekFrom, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// The record being written.
pub struct RecordFile {
    file: File,
    path: PathBuf,
}

impl RecordFile {
    /// Asks whether a record may be begun here, before anything is written for it.
    ///
    /// # Errors
    /// When the file exists or its folder does not.
    pub fn check_new(path: &Path) -> Result<(), Failure> {
        if path.symlink_metadata().is_ok() {
            return Err(exists(path));
        }
        match path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
            Some(folder) if !folder.is_dir() => Err(Failure::usage(format!(
                "the folder of the record {} does not exist; make it or name another with -o",
                path.display()
            ))),
            _ => Ok(()),
        }
    }

    /// Begins a record; an existing file is never overwritten.
    ///
    /// # Errors
    /// When the file exists or cannot be made.
    pub fn create(path: &Path) -> Result<Self, Failure> {
        let file =
            OpenOptions::new().append(true).create_new(true).mode(0o644).open(path).map_err(|error| {
                match error.kind() {
                    std::io::ErrorKind::AlreadyExists => exists(path),
                    _ => Failure::failed(format!(
                        "cannot make the record {}: {error}; name another place with -o",
                        path.display()
                    )),
                }
            })?;
        let _ = Owner::current().give(path);
        Ok(RecordFile { file, path: path.to_owned() })
    }

    /// Goes on with a record: what follows its last whole line (a trial in flight) is cut off.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn reopen(path: &Path, record: &Record) -> Result<Self, Failure> {
        let cannot = |error: std::io::Error| Failure::failed(format!("cannot go on with {}: {error}", path.display()));
        let mut file = OpenOptions::new().read(true).write(true).open(path).map_err(cannot)?;
        file.set_len(record.whole_bytes).map_err(cannot)?;
        file.seek(SeekFrom::End(0)).map_err(cannot)?;
        Ok(RecordFile { file, path: path.to_owned() })
    }

    /// Appends lines and syncs them.
    ///
    /// # Errors
    /// When the disk is full or fails; what was written before stays readable.
    pub fn append(&mut self, lines: &[Line]) -> Result<(), Failure> {
        let mut text = String::new();
        for line in lines {
            let json = serde_json::to_string(line).map_err(|error| Failure::failed(error.to_string()))?;
            text.push_str(&json);
            text.push('\n');
        }
        self.file.write_all(text.as_bytes()).and_then(|()| self.file.sync_data()).map_err(|error| {
            Failure::failed(format!(
                "cannot write the record {}: {error}; free some space, then go on with: fairlane race --resume {}",
                self.path.display(),
                self.path.display()
            ))
        })
    }
}

fn exists(path: &Path) -> Failure {
    Failure::usage(format!("{} exists already; name another file with -o, or remove it", path.display()))
}
