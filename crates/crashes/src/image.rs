//! Crash images: what a disk holds after a cut, without a copy.
//!
//! What flushes confirmed lies in a file in memory that only grows with the cut; each image is a private
//! mapping of it, into which the surviving writes are put and into which the filesystem's recovery
//! writes. The kernel copies the pages that are touched, and dropping the mapping forgets them.

use crate::log::{Log, What};
use crate::survive::{Cut, Piece, survivors};
use rustix::fs::{FallocateFlags, MemfdFlags, fallocate, ftruncate, memfd_create};
use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};
use std::fs::File;
use std::os::unix::fs::FileExt as _;
use std::sync::Arc;

/// How much of a write is moved at a time.
const CHUNK: u64 = 1 << 20;

/// The images of a log, best asked for in the order of their cuts.
#[derive(Debug)]
pub struct Images {
    log: Arc<Log>,
    durable: File,
    /// Entries before this one are in `durable`, where flushes had confirmed them.
    applied: usize,
}

impl Images {
    /// Of this log.
    ///
    /// # Errors
    /// What the system answers.
    pub fn new(log: Arc<Log>) -> std::io::Result<Images> {
        let durable = empty(log.disk_bytes())?;
        Ok(Images { log, durable, applied: 0 })
    }

    /// The image of one cut. The one before must be dropped: a private mapping shows what happens
    /// to the pages of its file that it has not touched itself.
    ///
    /// # Errors
    /// What the system answers.
    pub fn image(&mut self, cut: Cut) -> std::io::Result<Image> {
        let log = Arc::clone(&self.log);
        let durable_before = log.durable_before(cut.tick);
        let wanted = log.entries().partition_point(|entry| entry.replied < durable_before);
        if wanted < self.applied {
            self.durable = empty(log.disk_bytes())?;
            self.applied = 0;
        }
        let mut buffer = Vec::new();
        for entry in &log.entries()[self.applied..wanted] {
            match entry.what {
                What::Write { offset, bytes, data } => {
                    let mut done = 0;
                    while done < bytes {
                        let length = CHUNK.min(bytes - done);
                        buffer.resize(length as usize, 0);
                        log.read_data(data, done, &mut buffer)?;
                        self.durable.write_all_at(&buffer, offset + done)?;
                        done += length;
                    }
                }
                What::Zero { offset, bytes } if bytes > 0 => {
                    let flags = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
                    fallocate(&self.durable, flags, offset, bytes)?;
                }
                _ => {}
            }
        }
        self.applied = wanted;
        let image = Image::of(&self.durable, log.disk_bytes() as usize)?;
        for piece in survivors(&log, cut.tick, cut.survival) {
            image.put(&log, piece)?;
        }
        Ok(image)
    }

    /// Bytes of memory that hold what is durable; an image shares them until it writes.
    ///
    /// # Errors
    /// What the system answers.
    pub fn durable_bytes(&self) -> std::io::Result<u64> {
        // Always in units of 512 bytes: stat(2).
        Ok(std::os::unix::fs::MetadataExt::blocks(&self.durable.metadata()?) * 512)
    }

    /// The log.
    pub fn log(&self) -> &Log {
        &self.log
    }
}

fn empty(bytes: u64) -> std::io::Result<File> {
    let fd = memfd_create("fairlane-durable", MemfdFlags::CLOEXEC)?;
    ftruncate(&fd, bytes)?;
    Ok(File::from(fd))
}

/// One image: reads see it, writes stay in it.
#[derive(Debug)]
pub struct Image {
    start: *mut u8,
    bytes: usize,
}

// SAFETY: the mapping belongs to this value alone and is only read and written through raw copies of
// bytes, of which the kernel's block layer, as any disk, makes no promise where requests overlap.
unsafe impl Send for Image {}
// SAFETY: as above.
unsafe impl Sync for Image {}

impl Image {
    fn of(file: &File, bytes: usize) -> std::io::Result<Image> {
        let protection = ProtFlags::READ | ProtFlags::WRITE;
        let flags = MapFlags::PRIVATE | MapFlags::NORESERVE;
        // SAFETY: a new mapping at an address of the kernel's choice; the file is as long as it.
        let start = unsafe { mmap(std::ptr::null_mut(), bytes, protection, flags, file, 0)? };
        Ok(Image { start: start.cast(), bytes })
    }

    fn put(&self, log: &Log, piece: Piece) -> std::io::Result<()> {
        match log.entries()[piece.entry].what {
            What::Write { offset, data, .. } => {
                let mut buffer = vec![0; piece.bytes as usize];
                log.read_data(data, piece.from, &mut buffer)?;
                self.write(offset + piece.from, &buffer)
            }
            What::Zero { offset, .. } => self.zero(offset + piece.from, piece.bytes),
            What::Flush | What::Acknowledged { .. } => Ok(()),
        }
    }

    /// Size in bytes.
    pub fn bytes(&self) -> u64 {
        self.bytes as u64
    }

    fn at(&self, offset: u64, length: u64) -> std::io::Result<*mut u8> {
        match offset.checked_add(length) {
            // SAFETY: the sum lies inside the mapping.
            Some(end) if end <= self.bytes as u64 => Ok(unsafe { self.start.add(offset as usize) }),
            _ => Err(std::io::Error::from(std::io::ErrorKind::InvalidInput)),
        }
    }

    /// Reads a range.
    ///
    /// # Errors
    /// Where it reaches beyond the end.
    pub fn read(&self, offset: u64, into: &mut [u8]) -> std::io::Result<()> {
        let from = self.at(offset, into.len() as u64)?;
        // SAFETY: the range was checked; `into` is ordinary memory outside of the mapping.
        unsafe { std::ptr::copy_nonoverlapping(from, into.as_mut_ptr(), into.len()) };
        Ok(())
    }

    /// Writes a range, into this image alone.
    ///
    /// # Errors
    /// Where it reaches beyond the end.
    pub fn write(&self, offset: u64, data: &[u8]) -> std::io::Result<()> {
        let to = self.at(offset, data.len() as u64)?;
        // SAFETY: the range was checked; `data` is ordinary memory outside of the mapping.
        unsafe { std::ptr::copy_nonoverlapping(data.as_ptr(), to, data.len()) };
        Ok(())
    }

    /// Zeroes a range, in this image alone. Pages that are zero already are not touched: zeroing all of a
    /// large disk would make a copy of it.
    ///
    /// # Errors
    /// Where it reaches beyond the end.
    pub fn zero(&self, offset: u64, length: u64) -> std::io::Result<()> {
        let start = self.at(offset, length)?;
        let mut done = 0;
        while done < length {
            let step = (4096 - (offset + done) % 4096).min(length - done);
            // SAFETY: inside the range that was checked.
            let part = unsafe { std::slice::from_raw_parts_mut(start.add(done as usize), step as usize) };
            if part.iter().any(|&byte| byte != 0) {
                part.fill(0);
            }
            done += step;
        }
        Ok(())
    }
}

impl Drop for Image {
    fn drop(&mut self) {
        // SAFETY: this is the whole mapping, and nobody can reach it any more.
        let _ = unsafe { munmap(self.start.cast(), self.bytes) };
    }
}
