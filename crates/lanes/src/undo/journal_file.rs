//! The file of an undo journal: whole lines, each on the disk before anything is done because of it.
//!
//! A line that does not get there whole is taken back: its beginning would swallow the line after it. After a flush
//! that failed nobody knows what the disk holds, so that nothing is promised in such a journal any more.

use super::Entry;
use rustix::fs::{FallocateFlags, fallocate};
use std::fs::File;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::Path;

/// Bytes that stay free behind every promise, so that a recovery can note what it does on a disk that is full.
const SPARE_BYTES: u64 = 4 << 10;
/// Bytes that are reserved at once.
const STEP_BYTES: u64 = 64 << 10;

/// A journal that is written to. Only whoever holds its lock has one.
#[derive(Debug)]
pub(crate) struct JournalFile {
    file: File,
    /// Where the last whole line ends.
    length: u64,
    /// How far the disk has room for it.
    reserved: u64,
    /// What the disk holds is not known any more.
    lost: bool,
}

impl JournalFile {
    /// Of a file that holds whole lines up to `length`; what follows them is cut off with the next line.
    pub(crate) fn new(file: File, length: u64) -> Self {
        JournalFile { file, length, reserved: 0, lost: false }
    }

    /// Writes a promise, behind which there is room for what a recovery notes.
    pub(crate) fn promise(&mut self, entry: &Entry) -> std::io::Result<()> {
        let line = line_of(entry)?;
        self.reserve(self.length + line.len() as u64 + SPARE_BYTES)?;
        self.append(&line)
    }

    /// Writes what only spares a recovery work, into the room that is there.
    pub(crate) fn note(&mut self, entry: &Entry) -> std::io::Result<()> {
        self.append(&line_of(entry)?)
    }

    /// Whether this is still the file that lies at a path: whoever comes after our death reads that one.
    pub(crate) fn lies_at(&self, path: &Path) -> bool {
        let identity = |of: std::fs::Metadata| (of.dev(), of.ino());
        let there = path.symlink_metadata().map(identity);
        self.file.metadata().map(identity).is_ok_and(|own| there.is_ok_and(|there| there == own))
    }

    fn append(&mut self, line: &[u8]) -> std::io::Result<()> {
        if self.lost {
            return Err(std::io::Error::other("a write to it failed before"));
        }
        // Half a line of somebody who died would run into this one.
        if self.file.metadata()?.len() != self.length {
            self.take_back()?;
        }
        if let Err(error) = self.file.write_all_at(line, self.length) {
            let _ = self.take_back();
            return Err(error);
        }
        if let Err(error) = self.file.sync_data() {
            // The kernel takes the pages for clean now, whatever the disk holds.
            self.lost = true;
            let _ = self.take_back();
            return Err(error);
        }
        self.length += line.len() as u64;
        Ok(())
    }

    /// Cuts off what is no whole line.
    fn take_back(&mut self) -> std::io::Result<()> {
        let cut = self.file.set_len(self.length).and_then(|()| self.file.sync_all());
        self.reserved = 0;
        self.lost |= cut.is_err();
        cut
    }

    /// Has the disk keep room up to there, more than is needed where it can.
    fn reserve(&mut self, needed: u64) -> std::io::Result<()> {
        if needed <= self.reserved {
            return Ok(());
        }
        let more = needed.next_multiple_of(STEP_BYTES);
        for until in [more, needed] {
            match fallocate(&self.file, FallocateFlags::KEEP_SIZE, 0, until) {
                Ok(()) => {
                    self.reserved = until;
                    return Ok(());
                }
                Err(rustix::io::Errno::NOSPC | rustix::io::Errno::DQUOT) if until == more => {}
                Err(error @ (rustix::io::Errno::NOSPC | rustix::io::Errno::DQUOT)) => return Err(error.into()),
                // A filesystem without reservation (NFS, FUSE): the write itself finds the disk full.
                Err(_) => break,
            }
        }
        self.reserved = u64::MAX;
        Ok(())
    }
}

fn line_of(entry: &Entry) -> std::io::Result<Vec<u8>> {
    let mut line = serde_json::to_vec(entry)?;
    line.push(b'\n');
    Ok(line)
}
