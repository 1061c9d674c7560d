//! How much of a file lies in the page cache, told without reading it.

use std::os::fd::{AsFd, AsRawFd};

/// The number of cachestat(2) (Linux 6.5): one and the same on every processor that Fairlane runs on.
const CACHESTAT: libc::c_long = 451;
/// Bytes of the smallest page that Linux has anywhere.
const SMALLEST_PAGE: usize = 4096;
/// Bytes of one mapping that mincore(2) is asked about.
const MAPPED_BYTES: u64 = 64 << 20;
/// Bytes of a file that mincore(2) is asked about at most, in pieces that are spread evenly: it takes 50 ns for each page.
const MOST_MAPPED_BYTES: u64 = 1 << 30;

/// `struct cachestat_range` of linux/mman.h.
#[repr(C)]
struct Range {
    offset: u64,
    /// 0: to the end of the file.
    length: u64,
}

/// `struct cachestat` of linux/mman.h.
#[repr(C)]
#[derive(Default)]
struct Answer {
    cached: u64,
    dirty: u64,
    writeback: u64,
    evicted: u64,
    recently_evicted: u64,
}

/// Bytes of the file's first `bytes` that lie in the page cache; nothing becomes cached by asking. `None`: the kernel
/// does not tell, which needs the file to be one's own.
pub(crate) fn bytes(file: impl AsFd, bytes: u64) -> Option<u64> {
    if bytes == 0 {
        return Some(0);
    }
    let cached = match by_cachestat(&file, bytes) {
        Err(rustix::io::Errno::NOSYS | rustix::io::Errno::OPNOTSUPP) => by_mincore(&file, bytes),
        // Of files of others mincore says that all of it is there.
        told => told.ok(),
    };
    cached.map(|cached| cached.min(bytes))
}

fn page_bytes() -> u64 {
    rustix::param::page_size() as u64
}

fn by_cachestat(file: &impl AsFd, bytes: u64) -> Result<u64, rustix::io::Errno> {
    let range = Range { offset: 0, length: bytes };
    let mut answer = Answer::default();
    // SAFETY: both structures are valid and have the layout of linux/mman.h; the descriptor is open. A kernel without
    // the call answers ENOSYS and writes nothing.
    let done = unsafe { libc::syscall(CACHESTAT, file.as_fd().as_raw_fd(), &raw const range, &raw mut answer, 0) };
    match done {
        0 => Ok(answer.cached.saturating_mul(page_bytes())),
        _ => Err(rustix::io::Errno::from_io_error(&std::io::Error::last_os_error()).unwrap_or(rustix::io::Errno::IO)),
    }
}

/// Before Linux 6.5. A large file is asked about in part, and the rest is taken to be like that.
fn by_mincore(file: &impl AsFd, bytes: u64) -> Option<u64> {
    let pieces = bytes.div_ceil(MAPPED_BYTES);
    let asked = pieces.min(MOST_MAPPED_BYTES / MAPPED_BYTES);
    let (mut looked, mut cached) = (0_u64, 0_u64);
    for piece in 0..asked {
        let begin = piece * pieces / asked * MAPPED_BYTES;
        let length = MAPPED_BYTES.min(bytes - begin);
        cached += of_mapping(file, begin, length)?;
        looked += length;
    }
    Some((cached as f64 * (bytes as f64 / looked as f64)) as u64)
}

fn of_mapping(file: &impl AsFd, begin: u64, length: u64) -> Option<u64> {
    let length = usize::try_from(length).ok()?;
    // Room for a byte of each 4 KiB, whatever a page is: qemu-user answers for its host's pages, behind the end of a
    // vector that has one for each of the program's. With larger pages its figure is that of the first of them alone.
    let mut resident = vec![0_u8; length.div_ceil(SMALLEST_PAGE)];
    let file = file.as_fd().as_raw_fd();
    let begin = libc::off_t::try_from(begin).ok()?;
    // SAFETY: a new mapping at an address of the kernel's choice, which is never read or written: the file may shrink.
    let mapped = unsafe { libc::mmap(std::ptr::null_mut(), length, libc::PROT_READ, libc::MAP_SHARED, file, begin) };
    if mapped == libc::MAP_FAILED {
        return None;
    }
    // SAFETY: the mapping is `length` bytes long, and the vector has a byte for each of its pages or more.
    let done = unsafe { libc::mincore(mapped, length, resident.as_mut_ptr()) };
    // SAFETY: the mapping was made above, and nothing points into it.
    unsafe { libc::munmap(mapped, length) };
    let pages =
        resident.iter().take(length.div_ceil(page_bytes() as usize)).filter(|page| **page & 1 == 1).count() as u64;
    (done == 0).then(|| pages * page_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::fs::{Advice, fadvise};
    use std::io::{Read, Seek, Write};

    const LENGTH: u64 = 3 << 20;

    #[test]
    fn what_was_let_go_is_gone_and_what_was_read_is_there_by_both_calls() {
        // Not /tmp, which may be a tmpfs.
        let mut file = tempfile::tempfile_in("/var/tmp").unwrap();
        file.write_all(&vec![7; LENGTH as usize]).unwrap();
        file.sync_all().unwrap();
        fadvise(&file, 0, None, Advice::DontNeed).unwrap();
        let mincore = || by_mincore(&file, LENGTH).unwrap();
        let newer = by_cachestat(&file, LENGTH).ok();
        // A filesystem in memory cannot let go; both ways say so.
        assert!(newer.is_none_or(|cached| cached.abs_diff(mincore()) <= LENGTH / 10), "{newer:?}, {}", mincore());
        file.rewind().unwrap();
        file.read_exact(&mut vec![0; LENGTH as usize]).unwrap();
        let mincore = by_mincore(&file, LENGTH).unwrap();
        assert!(mincore > LENGTH / 10 * 9, "{mincore}");
        assert!(by_cachestat(&file, LENGTH).ok().is_none_or(|cached| cached > LENGTH / 10 * 9));
        assert!(bytes(&file, LENGTH).unwrap() > LENGTH / 10 * 9);
    }

    #[test]
    fn of_no_bytes_none_are_cached_and_a_directory_tells_nothing() {
        assert_eq!(bytes(std::fs::File::open("/var/tmp").unwrap(), 0), Some(0));
        assert_eq!(by_mincore(&std::fs::File::open("/var/tmp").unwrap(), 4096), None);
    }

    #[test]
    fn a_file_larger_than_is_asked_about_is_taken_to_be_like_its_pieces() {
        // A hole has no pages.
        let file = tempfile::tempfile_in("/var/tmp").unwrap();
        file.set_len(40 << 30).unwrap();
        assert_eq!(by_mincore(&file, 40 << 30), Some(0));
    }
}
