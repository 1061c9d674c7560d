//! The file of a record: one writer at a time where its filesystem has locks, whole lines, each append synced.

use crate::failure::Failure;
use crate::owned;
use rustix::io::Errno;
use std::fs::File;
use std::io::{Error, ErrorKind, Write as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// How long somebody else may look at the lock.
const LOCK_PATIENCE: Duration = Duration::from_millis(300);

/// A record's file that nobody else writes as long as this is there.
pub struct RecordWriter {
    file: File,
    path: PathBuf,
    /// Length up to the end of the last whole append.
    whole_bytes: u64,
}

impl RecordWriter {
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

    /// Begins a record by what `header` appends; an existing file is never overwritten, and none is left where the
    /// header cannot be written: nothing could go on with it.
    ///
    /// # Errors
    /// When the file exists or cannot be made, and what `header` answers.
    pub fn begin<T>(path: &Path, header: impl FnOnce(RecordWriter) -> Result<T, Failure>) -> Result<T, Failure> {
        Self::check_new(path)?;
        let cannot = |error: Error| cannot_make(path, &error);
        let file = owned::create_to_append(path).map_err(cannot)?;
        // Holds the lock until a file without a header is gone: nobody may go on with that.
        let held = file.try_clone().map_err(cannot)?;
        let begun =
            lock(&file, path).and_then(|()| header(RecordWriter { file, path: path.to_owned(), whole_bytes: 0 }));
        if begun.is_err() {
            let _ = owned::remove(path);
        }
        drop(held);
        begun
    }

    /// Whether a record can be gone on with: looked at before anything is made for it.
    ///
    /// # Errors
    /// When the file cannot be written, is a link, or another run writes it.
    pub fn check_old(path: &Path) -> Result<(), Failure> {
        let file = owned::open_to_append(path).map_err(|error| cannot_go_on(path, &error))?;
        lock(&file, path)
    }

    /// Goes on with a record: what follows its first `whole_bytes` (a line in flight) is cut off.
    ///
    /// # Errors
    /// When the file cannot be written, or is shorter than that.
    pub fn reopen(path: &Path, whole_bytes: u64) -> Result<Self, Failure> {
        let cannot = |error: Error| cannot_go_on(path, &error);
        let file = owned::open_to_append(path).map_err(cannot)?;
        lock(&file, path)?;
        if file.metadata().map_err(cannot)?.len() < whole_bytes {
            return Err(Failure::failed(format!("{} became shorter while it was read; try again", path.display())));
        }
        file.set_len(whole_bytes).map_err(cannot)?;
        Ok(RecordWriter { file, path: path.to_owned(), whole_bytes })
    }

    /// Appends lines and syncs them: all of them, or none. `remedy` is what the user can do where that fails.
    ///
    /// # Errors
    /// When the disk is full or fails; what was written before stays readable.
    pub fn append<'a, L: Line + 'a>(
        &mut self,
        lines: impl IntoIterator<Item = &'a L>,
        remedy: impl FnOnce(&Path) -> String,
    ) -> Result<(), Failure> {
        let mut text = String::new();
        for line in lines {
            text.push_str(&line.to_json().map_err(|error| Failure::failed(error.to_string()))?);
            text.push('\n');
        }
        match self.file.write_all(text.as_bytes()).and_then(|()| self.file.sync_data()) {
            Ok(()) => {
                self.whole_bytes += text.len() as u64;
                Ok(())
            }
            Err(error) => {
                // Half a line in the middle would damage the record: what follows must begin a new one.
                let _ = self.file.set_len(self.whole_bytes);
                let remedy = remedy(&self.path);
                Err(Failure::failed(format!("cannot write the record {}: {error}; {remedy}", self.path.display())))
            }
        }
    }

    /// Where it lies.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

/// A line of some kind of record.
pub trait Line {
    /// As it stands in the file, without the end of the line.
    ///
    /// # Errors
    /// Where a value has no JSON form.
    fn to_json(&self) -> serde_json::Result<String>;
}

impl Line for model::record::Line {
    fn to_json(&self) -> serde_json::Result<String> {
        model::record::Line::to_json(self)
    }
}

impl Line for model::durability::DurabilityLine {
    fn to_json(&self) -> serde_json::Result<String> {
        serde_json::to_string(self)
    }
}

/// A record has one writer: a second race that resumes it would mix its lines with the first one's.
/// Whoever lists records holds the lock for a moment to see whether it is free: that is waited for.
fn lock(file: &File, path: &Path) -> Result<(), Failure> {
    let begun = Instant::now();
    loop {
        match rustix::fs::flock(file, rustix::fs::FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => return Ok(()),
            Err(Errno::WOULDBLOCK) if begun.elapsed() < LOCK_PATIENCE => {
                std::thread::sleep(Duration::from_millis(5));
            }
            Err(Errno::WOULDBLOCK) => {
                return Err(Failure::usage(format!(
                    "{} is still being written by another run; wait for its end",
                    path.display()
                )));
            }
            // Network filesystems that are mounted without locks.
            Err(Errno::NOLCK | Errno::NOSYS | Errno::OPNOTSUPP) => return Ok(()),
            Err(error) => {
                return Err(Failure::failed(format!(
                    "cannot lock the record {}: {error}; name another place with -o",
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

#[cfg(test)]
mod tests {
    use super::*;
    use model::durability::DurabilityLine;
    use model::record::EndOutcome;

    fn line() -> DurabilityLine {
        DurabilityLine::End { finished: "2026-11-26T00:00:00Z".to_owned(), outcome: EndOutcome::Complete }
    }

    fn append(mut writer: RecordWriter) -> Result<RecordWriter, Failure> {
        writer.append([&line()], |_| "run again".to_owned()).map(|()| writer)
    }

    #[test]
    fn a_record_has_one_writer_and_a_torn_line_is_cut_off() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("r.jsonl");
        let writer = RecordWriter::begin(&path, append).ok().unwrap();
        let refused = RecordWriter::check_old(&path).err().unwrap();
        assert!(refused.message.contains("still being written"), "{}", refused.message);
        assert!(crate::state::is_being_written(&path));
        drop(writer);
        // A process that another test starts holds every lock of this one until its program begins.
        let begun = Instant::now();
        while crate::state::is_being_written(&path) {
            assert!(begun.elapsed() < Duration::from_secs(60), "the lock is never given back");
            std::thread::sleep(Duration::from_millis(5));
        }
        assert!(RecordWriter::check_old(&path).is_ok());
        let whole = std::fs::read(&path).unwrap();
        std::fs::write(&path, [&*whole, b"{\"kind\":\"cu"].concat()).unwrap();
        drop(append(RecordWriter::reopen(&path, whole.len() as u64).ok().unwrap()).ok().unwrap());
        assert_eq!(std::fs::read(&path).unwrap(), [&*whole, &*whole].concat());
        assert!(RecordWriter::reopen(&path, 1 << 20).is_err(), "a record that became shorter");
        assert!(RecordWriter::begin(&path, append).is_err(), "what is there is not overwritten");
        assert_eq!(std::fs::read(&path).unwrap(), [&*whole, &*whole].concat());
    }

    #[test]
    fn where_the_header_cannot_be_written_there_is_no_record() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("r.jsonl");
        let failed = RecordWriter::begin(&path, |writer| {
            drop(append(writer)?);
            Err::<(), _>(Failure::failed("the disk is full"))
        });
        assert!(failed.is_err() && !path.exists());
    }
}
