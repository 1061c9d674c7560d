//! Reading back what appenders appended: every record of every file, in order, and nothing behind them.

use super::names::Name;
use super::record::{self, Tag};
use super::shared_counters::SharedCounters;
use super::worker::Shape;
use crate::error::EngineError;
use crate::workloads::heed;
use rustix::fs::{Mode, OFlags, openat};
use rustix::io::{read, retry_on_intr};
use std::os::fd::{BorrowedFd, OwnedFd};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering::Acquire};

/// Bytes that are read at a time.
const ROOM: usize = 256 << 10;

/// Compares all files with what was appended to them.
pub(super) fn all(
    board: &SharedCounters,
    shape: &Shape,
    top: BorrowedFd<'_>,
    path: &Path,
    stop: &AtomicBool,
) -> Result<(), EngineError> {
    let mut room = vec![0; ROOM];
    let mut scratch = vec![0; model::appenders::LARGEST_RECORD as usize];
    let mut name = Name::new();
    for writer in 0..shape.writers {
        heed(stop)?;
        for file in 0..shape.files {
            shape.name(&mut name, writer, file);
            let opened = openat(top, name.as_c_str(), OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())
                .map_err(|errno| EngineError::file("open", name.path(path), errno))?;
            let records = board.records(shape.slot(writer, file)).load(Acquire);
            let of = File { writer, file: file as u16, records, size: shape.size(file), seed: shape.seed };
            of.compare(&opened, &mut room, &mut scratch).map_err(|fault| match fault {
                Wrong::Read(errno) => EngineError::file("read", name.path(path), errno),
                Wrong::Contents { offset, what } => EngineError::Corrupt { path: name.path(path), offset, what },
            })?;
        }
    }
    Ok(())
}

/// What a file should hold.
struct File {
    writer: u32,
    file: u16,
    records: u64,
    size: usize,
    seed: u64,
}

enum Wrong {
    Read(rustix::io::Errno),
    Contents { offset: u64, what: String },
}

impl File {
    fn compare(&self, opened: &OwnedFd, room: &mut [u8], scratch: &mut [u8]) -> Result<(), Wrong> {
        let (mut number, mut filled) = (0_u64, 0);
        loop {
            let moved = retry_on_intr(|| read(opened, &mut room[filled..])).map_err(Wrong::Read)?;
            filled += moved;
            let whole = filled / self.size * self.size;
            for bytes in room[..whole].chunks_exact(self.size) {
                self.compare_one(number, bytes, scratch)?;
                number += 1;
            }
            room.copy_within(whole..filled, 0);
            filled -= whole;
            if moved == 0 {
                break;
            }
        }
        let offset = number * self.size as u64;
        if filled > 0 {
            let what = format!("{filled} bytes stand behind its last record, which are no record");
            return Err(Wrong::Contents { offset, what });
        }
        if number < self.records {
            let what = format!("it ends after {number} records, and {} were appended", self.records);
            return Err(Wrong::Contents { offset, what });
        }
        Ok(())
    }

    fn compare_one(&self, number: u64, bytes: &[u8], scratch: &mut [u8]) -> Result<(), Wrong> {
        let offset = number * self.size as u64;
        if number >= self.records {
            let what = format!("more than the {} records that were appended stand in it", self.records);
            return Err(Wrong::Contents { offset, what });
        }
        let tag = Tag { writer: self.writer, file: self.file, number: number as u32 };
        match record::wrong(bytes, tag, self.seed, scratch) {
            None => Ok(()),
            Some(what) => Err(Wrong::Contents { offset, what }),
        }
    }
}
