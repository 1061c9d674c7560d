//! The disk that writes down what is done to it, or several of them with one log and one clock.

use super::one_file::{Disk, MOST_DISKS};
use crate::log::{Entry, LogWriter, What};
use rustix::fs::{FallocateFlags, fallocate};
use std::fs::File;
use std::os::unix::fs::FileExt as _;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

/// The inode number of its file.
const INODE: u64 = 2;

/// A disk whose contents lie in one file and whose history goes to a log.
#[derive(Debug)]
pub struct RecordingDisk {
    contents: File,
    bytes: u64,
    disks: u64,
    tick: AtomicU64,
    flushes: AtomicU64,
    writes: AtomicU64,
    log: Mutex<LogWriter>,
    faults: Mutex<Faults>,
}

/// What the disk is to refuse; nothing, unless it is told.
#[derive(Debug, Clone, Copy, Default)]
struct Faults {
    /// Writes until one fails; 0: none.
    writes: u64,
    /// Flushes until one fails; 0: none.
    flushes: u64,
}

impl RecordingDisk {
    /// Makes so many empty disks, of `bytes` together.
    ///
    /// # Errors
    /// What the system answers.
    pub fn create(contents: &Path, log: &Path, bytes: u64, disks: u64) -> std::io::Result<RecordingDisk> {
        if !(1..=MOST_DISKS).contains(&disks) || !bytes.is_multiple_of(disks) {
            return Err(std::io::Error::other(format!("{disks} disks cannot be recorded at once")));
        }
        let file = File::options().read(true).write(true).create(true).truncate(true).open(contents)?;
        file.set_len(bytes)?;
        Ok(RecordingDisk {
            contents: file,
            bytes,
            disks,
            tick: AtomicU64::new(1),
            flushes: AtomicU64::new(0),
            writes: AtomicU64::new(0),
            log: Mutex::new(LogWriter::create(log, bytes, disks)?),
            faults: Mutex::default(),
        })
    }

    fn now(&self) -> u64 {
        self.tick.fetch_add(1, Ordering::SeqCst)
    }

    /// The log is written in the order of the answers: the lock is held from the stamp to the entry.
    fn note(&self, what: What, received: u64, data: &[u8]) -> std::io::Result<u64> {
        let mut log = self.log.lock().map_err(|_| std::io::Error::other("the log is lost"))?;
        let replied = self.now();
        log.append(Entry { what, received, replied }, data)?;
        Ok(replied)
    }

    /// Writes down that the application was told that a record is safe; answers when.
    ///
    /// # Errors
    /// What the system answers.
    pub fn acknowledge(&self, record: u64) -> std::io::Result<u64> {
        self.note(What::Acknowledged { record }, self.now(), &[])
    }

    /// Hands the log to the system; answers the tick, the flushes and the writes seen so far.
    ///
    /// # Errors
    /// What the system answers.
    pub fn settle(&self) -> std::io::Result<(u64, u64, u64)> {
        self.log.lock().map_err(|_| std::io::Error::other("the log is lost"))?.flush()?;
        let of = |counter: &AtomicU64| counter.load(Ordering::SeqCst);
        Ok((of(&self.tick), of(&self.flushes), of(&self.writes)))
    }

    /// Has the n-th write and the n-th flush from now fail with EIO; 0: none.
    pub fn fail(&self, write: u64, flush: u64) {
        if let Ok(mut faults) = self.faults.lock() {
            *faults = Faults { writes: write, flushes: flush };
        }
    }

    /// Counts down to the fault; `true`: this is the one.
    fn refuses(&self, which: impl FnOnce(&mut Faults) -> &mut u64) -> bool {
        let Ok(mut faults) = self.faults.lock() else { return false };
        let left = which(&mut faults);
        let armed = *left > 0;
        *left = left.saturating_sub(1);
        let last = *left == 0;
        last && armed
    }
}

impl Disk for RecordingDisk {
    fn bytes(&self) -> u64 {
        self.bytes
    }

    fn disks(&self) -> u64 {
        self.disks
    }

    fn inode(&self) -> u64 {
        INODE
    }

    fn read(&self, _: u64, offset: u64, into: &mut [u8]) -> std::io::Result<()> {
        self.contents.read_exact_at(into, offset)
    }

    fn write(&self, _: u64, offset: u64, data: &[u8]) -> std::io::Result<()> {
        let received = self.now();
        self.writes.fetch_add(1, Ordering::SeqCst);
        if self.refuses(|faults| &mut faults.writes) {
            return Err(std::io::Error::from_raw_os_error(libc::EIO));
        }
        self.contents.write_all_at(data, offset)?;
        self.note(What::Write { offset, bytes: data.len() as u64, data: 0 }, received, data).map(drop)
    }

    fn zero(&self, _: u64, offset: u64, bytes: u64) -> std::io::Result<()> {
        let received = self.now();
        if bytes == 0 {
            return Ok(());
        }
        fallocate(&self.contents, FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE, offset, bytes)?;
        self.note(What::Zero { offset, bytes }, received, &[]).map(drop)
    }

    fn flush(&self, _: u64, disk: u64) -> std::io::Result<()> {
        let received = self.now();
        self.flushes.fetch_add(1, Ordering::SeqCst);
        if self.refuses(|faults| &mut faults.flushes) {
            return Err(std::io::Error::from_raw_os_error(libc::EIO));
        }
        // What the log promises must not depend on this machine's own cache: nothing is synced here, because
        // the cut is simulated. The log itself is read back after the run, or not at all.
        self.note(What::Flush { disk }, received, &[]).map(drop)
    }
}
