//! Single direct writes, watched while they are under way: whether their pages come to lie in the page cache.
//!
//! Some filesystems let go of what they buffered as soon as it is written, so that nothing of it is left to be seen. The
//! pages of the one block that is being written can be asked for meanwhile (mincore(2)), and nobody else touches them.

use crate::buffers::Buffers;
use rustix::fs::{Advice, fadvise};
use rustix::io::{pread, pwrite};
use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::atomic::{AtomicBool, Ordering};

/// Bytes of one write at most.
const MOST_BYTES: u64 = 1 << 20;

/// A stretch of a file, mapped to be asked about and never touched.
struct Stretch {
    address: *mut libc::c_void,
    bytes: usize,
}

// SAFETY: the mapping is asked about alone, by one thread at a time or several; nobody reads or writes it.
unsafe impl Sync for Stretch {}

impl Stretch {
    fn map(file: &OwnedFd, offset: u64, bytes: usize) -> Option<Self> {
        let offset = libc::off_t::try_from(offset).ok()?;
        // SAFETY: a new mapping at an address of the kernel's choice, which is never read or written.
        let address = unsafe {
            libc::mmap(std::ptr::null_mut(), bytes, libc::PROT_READ, libc::MAP_SHARED, file.as_raw_fd(), offset)
        };
        (address != libc::MAP_FAILED).then_some(Stretch { address, bytes })
    }

    /// Whether a page of it lies in the page cache.
    fn is_cached(&self, room: &mut [u8]) -> bool {
        // SAFETY: the mapping is `bytes` long, and the caller's room has a byte for each of its pages.
        let done = unsafe { libc::mincore(self.address, self.bytes, room.as_mut_ptr()) };
        done == 0 && room.iter().any(|page| page & 1 == 1)
    }

    fn room(&self) -> Vec<u8> {
        vec![0; self.bytes.div_ceil(rustix::param::page_size())]
    }
}

impl Drop for Stretch {
    fn drop(&mut self) {
        // SAFETY: the mapping was made by `map`, and nothing points into it.
        unsafe { libc::munmap(self.address, self.bytes) };
    }
}

/// Writes one block of the file over itself, which was opened to read and write with O_DIRECT, and tells whether pages of
/// it were seen in the page cache. `None`: it could not be done, or the kernel does not tell.
pub(super) fn write(file: &OwnedFd, offset: u64, block: u64) -> Option<bool> {
    let bytes = block.min(MOST_BYTES);
    if bytes == 0 {
        return None;
    }
    let mut buffers = Buffers::for_reads(bytes, 1).ok()?;
    let chunk = buffers.take();
    let data = &mut buffers.bytes_mut(chunk)[..usize::try_from(bytes).ok()?];
    // What stands there is written again, so that nobody's data changes.
    if pread(file, &mut *data, offset).ok()? != data.len() {
        return None;
    }
    let stretch = Stretch::map(file, offset, data.len())?;
    // What the reading left there, or an earlier write, would be taken for this one's.
    let _ = fadvise(file, 0, None, Advice::DontNeed);
    let mut room = stretch.room();
    if stretch.is_cached(&mut room) {
        // A filesystem that cannot let go of it keeps it there.
        return Some(true);
    }
    let over = AtomicBool::new(false);
    let (written, seen) = std::thread::scope(|scope| {
        let watch = std::thread::Builder::new().spawn_scoped(scope, || {
            let mut room = stretch.room();
            let mut seen = false;
            while !seen && !over.load(Ordering::Acquire) {
                seen = stretch.is_cached(&mut room);
            }
            seen
        });
        // No thread is left: nobody would watch.
        let watch = watch.ok()?;
        let written = pwrite(file, &*data, offset);
        over.store(true, Ordering::Release);
        Some((written, watch.join().unwrap_or(false)))
    })?;
    (written.ok()? == data.len()).then(|| seen || stretch.is_cached(&mut room))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::File;
    use std::io::{Read, Seek, Write};

    #[test]
    fn a_write_through_the_page_cache_is_seen_and_changes_nothing() {
        let mut file = tempfile::tempfile_in("/var/tmp").unwrap();
        let page = rustix::param::page_size() as u64;
        let end = (8 * page).max(64 << 10);
        let bytes: Vec<u8> = (0..end).map(|at| (at % 251) as u8).collect();
        file.write_all(&bytes).unwrap();
        file.sync_all().unwrap();
        let owned = OwnedFd::from(file);
        for (offset, block) in [(0, 4096), (page, 512), (2 * page, 32 << 10)] {
            assert_eq!(write(&owned, offset, block), Some(true), "{block} bytes at {offset}");
        }
        // Beyond its end nothing can be written over itself.
        assert_eq!(write(&owned, end, 4096), None);
        assert_eq!(write(&owned, 0, 0), None);
        let mut file = File::from(owned);
        file.rewind().unwrap();
        let mut found = Vec::new();
        file.read_to_end(&mut found).unwrap();
        assert!(found == bytes);
    }
}
