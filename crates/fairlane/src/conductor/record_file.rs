//! The record on disk: append-only, synced after every round, never inside a measured window.

use crate::failure::Failure;
use crate::owned;
use model::record::{Line, Record};
use std::fs::File;
use std::io::{Error, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// How long somebody else may look at the lock.
const LOCK_PATIENCE: Duration = Duration::from_millis(300);

/// The record being written.
pub struct RecordFile {
    file: File,
    path: PathBuf,
    /// Length up to the end of the last whole append.
    whole_bytes: u64,
    /// Whether it holds anything that was measured.
    holds_figures: bool,
    refused: bool,
}

impl RecordFile {
    /// Asks whether a record may be begun here, before anything is written for it.
    ///
    /// # Errors
    /// When the file exists, its folder does not, or the user may not write there.
    pub fn check_new(path: &Path) -> Result<(), Failure> {
        owned::check_new(path).map_err(|error| match error.kind() {
            ErrorKind::NotFound | ErrorKind::NotADirectory => Failure::usage(format!(
                "the folder of the record {} does not exist; make it or name another with -o",
                path.display()
            )),
            _ => cannot_make(path, &error),
        })
    }

    /// Begins a record with its header; an existing file is never overwritten, and none is left where the header
    /// cannot be written: nothing could go on with it.
    ///
    /// # Errors
    /// When the file exists, cannot be made, or its disk is full.
    pub fn begin(path: &Path, header: Line) -> Result<Self, Failure> {
        let mut file = Self::create(path)?;
        let begun = file.append(&[header]);
        if begun.is_err() {
            let _ = owned::remove(path);
        }
        begun.map(|()| file)
    }

    fn create(path: &Path) -> Result<Self, Failure> {
        let file = owned::create_to_append(path).map_err(|error| cannot_make(path, &error))?;
        lock(&file, path)?;
        Ok(RecordFile { file, path: path.to_owned(), whole_bytes: 0, holds_figures: false, refused: false })
    }

    /// Whether a record can be gone on with: looked at before anything is made for it.
    ///
    /// # Errors
    /// When the file cannot be written, is a link, or another race writes it.
    pub fn check_old(path: &Path) -> Result<(), Failure> {
        let file = owned::open_to_append(path).map_err(|error| cannot_go_on(path, &error))?;
        lock(&file, path)
    }

    /// Goes on with a record: what follows its last whole line (a trial in flight) is cut off.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn reopen(path: &Path, record: &Record) -> Result<Self, Failure> {
        let cannot = |error: Error| cannot_go_on(path, &error);
        let file = owned::open_to_append(path).map_err(cannot)?;
        lock(&file, path)?;
        if file.metadata().map_err(cannot)?.len() < record.whole_bytes {
            return Err(Failure::failed(format!("{} became shorter while it was read; try again", path.display())));
        }
        file.set_len(record.whole_bytes).map_err(cannot)?;
        let holds_figures = !record.trials.is_empty() || !record.steps.is_empty();
        Ok(RecordFile { file, path: path.to_owned(), whole_bytes: record.whole_bytes, holds_figures, refused: false })
    }

    /// Whether a line could not be written and what is there waits for `--resume`: it holds figures.
    pub fn refused(&self) -> bool {
        self.refused && self.holds_figures
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
        let written = self.file.write_all(text.as_bytes()).and_then(|()| self.file.sync_data());
        if written.is_ok() {
            self.whole_bytes += text.len() as u64;
            self.holds_figures |= lines.iter().any(|line| matches!(line, Line::Trial(_) | Line::Step(_)));
        } else {
            // Half a line in the middle would damage the record: what follows must begin a new one.
            let _ = self.file.set_len(self.whole_bytes);
            self.refused = true;
        }
        written.map_err(|error| {
            let path = self.path.display();
            let remedy = match self.holds_figures {
                true => format!("free some space, then go on with: fairlane race --resume {path}"),
                false => "free some space or name another place with -o, and begin again".to_owned(),
            };
            Failure::failed(format!("cannot write the record {path}: {error}; {remedy}"))
        })
    }
}

/// A record has one writer: a second race that resumes it would mix its lines with the first one's.
/// Whoever lists records holds the lock for a moment to see whether it is free: that is waited for.
fn lock(file: &File, path: &Path) -> Result<(), Failure> {
    let begun = Instant::now();
    loop {
        match rustix::fs::flock(file, rustix::fs::FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => return Ok(()),
            Err(rustix::io::Errno::WOULDBLOCK) if begun.elapsed() < LOCK_PATIENCE => {
                std::thread::sleep(Duration::from_millis(5));
            }
            Err(_) => {
                return Err(Failure::usage(format!(
                    "{} is still being written by another race; wait for its end",
                    path.display()
                )));
            }
        }
    }
}

fn cannot_go_on(path: &Path, error: &Error) -> Failure {
    let path = path.display();
    match error.raw_os_error() {
        Some(libc::ELOOP) => Failure::usage(format!(
            "{path} is a link, and a record is gone on with in its own place alone; name the file that it leads to"
        )),
        _ => Failure::failed(format!("cannot go on with {path}: {}", owned::plain(error))),
    }
}

/// Why a record cannot be begun there.
pub fn cannot_make(path: &Path, error: &Error) -> Failure {
    match error.kind() {
        ErrorKind::AlreadyExists => {
            Failure::usage(format!("{} exists already; name another file with -o, or remove it", path.display()))
        }
        _ => Failure::failed(format!(
            "cannot make the record {}: {}; name another place with -o",
            path.display(),
            owned::plain(error)
        )),
    }
}
