//! Crash images: what a disk holds after a cut, without a copy.
//!
//! What flushes confirmed lies in a file in memory that only grows with the cut; each image is a private
//! mapping of it, into which the surviving writes are put and into which the filesystem's recovery
//! writes. The kernel copies the pages that are touched, and dropping the mapping forgets them.

use crate::crash_model::{Cut, Piece, there};
use crate::log::{Log, What};
use rustix::fs::{FallocateFlags, MemfdFlags, fallocate, ftruncate, memfd_create};
use rustix::mm::{MapFlags, ProtFlags, mmap, mmap_anonymous, munmap};
use rustix::param::page_size;
use std::fs::File;
use std::os::unix::fs::FileExt as _;
use std::sync::Arc;

/// How much of a write is moved at a time.
const CHUNK: u64 = 1 << 20;
/// Bytes from which on whole pages are replaced instead of looked at: each replacement is a mapping of its own.
const REPLACED: u64 = 64 << 10;

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
        let (wanted, pieces) = there(&log, cut);
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
                        // What is a hole already stays one: a log may say zeros without end in a few bytes.
                        if buffer.iter().any(|&byte| byte != 0) {
                            self.durable.write_all_at(&buffer, offset + done)?;
                        } else {
                            let flags = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
                            fallocate(&self.durable, flags, offset + done, length)?;
                        }
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
        let image = Image::from_file(&self.durable, log.disk_bytes() as usize)?;
        for piece in pieces {
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
    /// Of a file at least that long, which stays as it is: what is written stays in the image.
    ///
    /// # Errors
    /// What the system answers.
    pub fn from_file(file: &File, bytes: usize) -> std::io::Result<Image> {
        let protection = ProtFlags::READ | ProtFlags::WRITE;
        let flags = MapFlags::PRIVATE | MapFlags::NORESERVE;
        // SAFETY: a new mapping at an address of the kernel's choice; the file is as long as it.
        let start = unsafe { mmap(std::ptr::null_mut(), bytes, protection, flags, file, 0)? };
        Ok(Image { start: start.cast(), bytes })
    }

    fn put(&self, log: &Log, piece: Piece) -> std::io::Result<()> {
        match log.entries()[piece.entry].what {
            What::Write { offset, data, .. } => {
                let mut buffer = vec![0; piece.bytes.min(CHUNK) as usize];
                let mut done = 0;
                while done < piece.bytes {
                    let part = &mut buffer[..CHUNK.min(piece.bytes - done) as usize];
                    log.read_data(data, piece.from + done, part)?;
                    if part.iter().any(|&byte| byte != 0) {
                        self.write(offset + piece.from + done, part)?;
                    } else {
                        self.zero(offset + piece.from + done, part.len() as u64)?;
                    }
                    done += part.len() as u64;
                }
                Ok(())
            }
            What::Zero { offset, .. } => self.zero(offset + piece.from, piece.bytes),
            What::Flush { .. } | What::Acknowledged { .. } => Ok(()),
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

    /// Zeroes a range, in this image alone. Of a short one, pages that are zero already are not touched; of a long one
    /// none is even looked at, since looking at a hole of the file below fills it.
    ///
    /// # Errors
    /// Where it reaches beyond the end.
    pub fn zero(&self, offset: u64, length: u64) -> std::io::Result<()> {
        self.zero_pages_of(page_size() as u64, offset, length)
    }

    /// With the size of the pages that the mapping is made of, or a multiple of it.
    fn zero_pages_of(&self, page: u64, offset: u64, length: u64) -> std::io::Result<()> {
        let start = self.at(offset, length)?;
        let (first, end) = (offset.next_multiple_of(page), (offset + length) / page * page);
        if length >= REPLACED && end > first {
            let protection = ProtFlags::READ | ProtFlags::WRITE;
            let flags = MapFlags::PRIVATE | MapFlags::NORESERVE | MapFlags::FIXED;
            let (at, bytes) = (self.at(first, end - first)?, (end - first) as usize);
            // SAFETY: whole pages inside the mapping of this value, which only raw copies of bytes ever reach.
            unsafe { mmap_anonymous(at.cast(), bytes, protection, flags)? };
            self.zero_pages_of(page, offset, first - offset)?;
            return self.zero_pages_of(page, end, offset + length - end);
        }
        let mut done = 0;
        while done < length {
            let step = (page - (offset + done) % page).min(length - done);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zeroing_is_exact_with_pages_of_any_size() {
        const BYTES: usize = 1 << 20;
        let file = File::from(memfd_create("zeroing", MemfdFlags::CLOEXEC).unwrap());
        file.write_all_at(&[0xab; BYTES], 0).unwrap();
        // As the machine has them, and as it might; a part of a page cannot be replaced.
        let pages = [4096, 16 << 10, 64 << 10].into_iter().filter(|page: &u64| page.is_multiple_of(page_size() as u64));
        for page in pages {
            for (offset, length) in [
                (0, 0),
                (1, 100),
                (4096, 4096),
                (4000, 70_000),
                (65_536, REPLACED),
                (12_288, 3 * REPLACED),
                (65_535, 2 * REPLACED + 2),
                (0, BYTES as u64),
            ] {
                let image = Image::from_file(&file, BYTES).unwrap();
                image.zero_pages_of(page, offset, length).unwrap();
                let mut found = vec![0; BYTES];
                image.read(0, &mut found).unwrap();
                let mut expected = vec![0xab; BYTES];
                expected[offset as usize..(offset + length) as usize].fill(0);
                assert!(found == expected, "pages of {page}, {length} bytes from {offset} on");
            }
        }
        let image = Image::from_file(&file, BYTES).unwrap();
        // The machine's own pages: a wrong size is refused by the kernel.
        image.zero(5 * 4096, 2 * REPLACED).unwrap();
        assert!(image.zero(BYTES as u64, 1).is_err());
    }
}
