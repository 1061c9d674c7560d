//! Verification of a job's data: headers in what is written, a look at what is read, and the reading
//! back of everything at the end.

use super::files::{FilePlan, ranges};
use super::heed;
use super::worker::Task;
use crate::error::EngineError;
use crate::target::{Access, Directory, open_file};
use crate::verify::{Ledger, check, stamp};
use model::job::{Io, Verify};
use rustix::io::{pread, retry_on_intr};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Bytes read at once when everything is read back.
const READ_BACK_BYTES: u64 = 1 << 20;
/// A worker that goes on after mismatches counts at most so many before it gives up.
const MOST_MISMATCHES: u64 = 1000;

/// What a worker does about verification.
pub(super) struct Verifier {
    ledger: Option<Arc<Ledger>>,
    /// By slot: what the header calls the file, the same in every job that uses it.
    names: Vec<u32>,
    paths: Vec<String>,
    unit_bytes: usize,
    seed: u64,
    checked: u64,
}

impl Verifier {
    /// The verifier of a worker; none where the job verifies nothing.
    ///
    /// # Errors
    /// Where the job's blocks have no room for headers.
    pub(super) fn new(task: &Task, ledger: Option<Arc<Ledger>>, seed: u64) -> Result<Option<Verifier>, EngineError> {
        let io = &task.io;
        if io.verify == Verify::None || (ledger.is_none() && (io.rw.writes() || !io.rw.reads())) {
            return Ok(None);
        }
        Ok(Some(Verifier {
            ledger,
            names: task.files.iter().map(name_of).collect(),
            paths: task.files.iter().map(|file| file.name.clone()).collect(),
            unit_bytes: crate::verify::unit_bytes(io)? as usize,
            seed,
            checked: 0,
        }))
    }

    /// A block is about to be written: every unit of it gets its header.
    pub(super) fn issue(&mut self, block: &mut [u8], file: u32, offset: u64) {
        let Some(ledger) = &self.ledger else { return };
        let (name, seed, bytes) = (self.names[file as usize], self.seed, block.len() as u32);
        let mut units = block.chunks_exact_mut(self.unit_bytes);
        ledger.issue(file, offset, bytes, |at, generation| {
            if let Some(unit) = units.next() {
                stamp(unit, name, at, generation, seed);
            }
        });
    }

    /// A block has been written.
    pub(super) fn complete(&mut self, file: u32, offset: u64, bytes: u32) {
        if let Some(ledger) = &self.ledger {
            ledger.complete(file, offset, bytes);
        }
    }

    /// A block was read during the work: where it carries headers they must be right. Whether one is
    /// missing only the reading back can tell.
    ///
    /// # Errors
    /// [`EngineError::Corrupt`].
    pub(super) fn check(&mut self, block: &[u8], file: u32, offset: u64) -> Result<(), EngineError> {
        if self.ledger.is_some() {
            // A job that also writes may have a write of the same block in flight: half of it would be
            // taken for damage.
            return Ok(());
        }
        for (index, unit) in block.chunks_exact(self.unit_bytes).enumerate() {
            let at = offset + (index * self.unit_bytes) as u64;
            check(unit, self.names[file as usize], at, self.seed, 0, u32::MAX).map_err(|what| {
                EngineError::Corrupt { path: PathBuf::from(&self.paths[file as usize]), offset: at, what }
            })?;
            self.checked += 1;
        }
        Ok(())
    }

    /// Blocks that were checked while they were read.
    pub(super) fn checked(&self) -> u64 {
        self.checked
    }
}

/// What a header calls a file: the CRC of its name, so that jobs that share it agree.
fn name_of(file: &FilePlan) -> u32 {
    crc32c::crc32c(file.name.as_bytes())
}

/// The ledger of a worker's files.
///
/// # Errors
/// Where the job's blocks have no room for headers, or memory is short.
pub(super) fn ledger(io: &Io, plan: &[FilePlan], worker: u32) -> Result<Arc<Ledger>, EngineError> {
    Ledger::new(crate::verify::unit_bytes(io)?, &ranges(io, plan, worker)).map(Arc::new)
}

/// Reads back everything that a worker wrote and compares it with its ledger; answers how many units
/// were compared. Without `verify_fatal` all mismatches are counted, up to a thousand.
///
/// # Errors
/// [`EngineError::Corrupt`] at the first mismatch, with the number of the others.
pub(super) fn read_back(
    directory: Directory<'_>,
    io: &Io,
    plan: &[FilePlan],
    ledger: &Ledger,
    seed: u64,
    stop: &AtomicBool,
) -> Result<u64, EngineError> {
    let unit_bytes = ledger.unit_bytes();
    let mut buffer = vec![0; unit_bytes.max(READ_BACK_BYTES / unit_bytes * unit_bytes) as usize];
    let mut open: Option<(u32, std::rc::Rc<std::os::fd::OwnedFd>)> = None;
    // What of the file the buffer holds: from where, and how many bytes.
    let mut held = (0_u64, 0_usize);
    let (mut units, mut mismatches, mut first) = (0_u64, 0_u64, None);
    for written in ledger.written() {
        heed(stop)?;
        let name = &plan[written.file as usize].name;
        let path = directory.0.join(name);
        let file = match &open {
            Some((number, file)) if *number == written.file => file.clone(),
            _ => {
                held = (0, 0);
                let file = open_file(directory, name, Access::Read, false)?;
                open.insert((written.file, file)).1.clone()
            }
        };
        let within = written.offset >= held.0 && written.offset + unit_bytes <= held.0 + held.1 as u64;
        if !within {
            let moved = retry_on_intr(|| pread(&*file, &mut buffer[..], written.offset));
            held = (written.offset, moved.map_err(|errno| EngineError::file("read back", &path, errno))?);
        }
        let from = (written.offset - held.0) as usize;
        let what = match buffer[..held.1].get(from..from + unit_bytes as usize) {
            Some(unit) => {
                check(unit, name_of(&plan[written.file as usize]), written.offset, seed, written.low, written.high)
            }
            None => Err("the file ends before it".to_owned()),
        };
        units += 1;
        if let Err(what) = what {
            mismatches += 1;
            first.get_or_insert((path, written.offset, what));
            if io.verify_fatal || mismatches >= MOST_MISMATCHES {
                break;
            }
        }
    }
    match first {
        None => Ok(units),
        Some((path, offset, what)) if mismatches == 1 => Err(EngineError::Corrupt { path, offset, what }),
        Some((path, offset, what)) => {
            Err(EngineError::Corrupt { path, offset, what: format!("{what} (the first of {mismatches} such blocks)") })
        }
    }
}
