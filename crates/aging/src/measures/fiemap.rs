//! Where a file's blocks lie on the disk (FIEMAP), runs that follow each other merged.

use rustix::io::Errno;
use std::os::fd::{AsFd, AsRawFd};

/// linux/fiemap.h.
const FS_IOC_FIEMAP: libc::Ioctl = 0xC020_660B_u32 as libc::Ioctl;
const FLAG_SYNC: u32 = 0x1;
const LAST: u32 = 0x1;
/// No place on the disk is known: it waits to be written, or lies within metadata.
const NO_PLACE: u32 = 0x2 | 0x4 | 0x200;
const AT_ONCE: usize = 128;
/// Extents of one file at most: a file of a life has some thousands.
const MOST_EXTENTS: usize = 4_000_000;

#[repr(C)]
#[derive(Clone, Copy, Default)]
struct RawExtent {
    logical: u64,
    physical: u64,
    length: u64,
    reserved64: [u64; 2],
    flags: u32,
    reserved: [u32; 3],
}

#[repr(C)]
struct RawRequest {
    start: u64,
    length: u64,
    flags: u32,
    mapped_extents: u32,
    extent_count: u32,
    reserved: u32,
    extents: [RawExtent; AT_ONCE],
}

/// A run of blocks on the disk, in the file's order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Extent {
    /// Where it lies on the disk, bytes.
    pub physical: u64,
    /// Bytes.
    pub length: u64,
}

/// The runs of a file or folder that have a place on the disk; what is dirty is written first.
///
/// # Errors
/// What the system answers: `OPNOTSUPP` or `NOTTY` where the filesystem does not tell.
pub fn extents_of(file: impl AsFd) -> Result<Vec<Extent>, Errno> {
    let descriptor = file.as_fd().as_raw_fd();
    let mut found: Vec<Extent> = Vec::new();
    let mut start = 0_u64;
    loop {
        let mut request = RawRequest {
            start,
            length: u64::MAX - start,
            flags: FLAG_SYNC,
            mapped_extents: 0,
            extent_count: AT_ONCE as u32,
            reserved: 0,
            extents: [RawExtent::default(); AT_ONCE],
        };
        // SAFETY: FS_IOC_FIEMAP reads the 32-byte header and writes at most `extent_count` 56-byte extents behind it;
        // `RawRequest` is that layout (repr(C), no padding) and lives across the call; the descriptor is open.
        if unsafe { libc::ioctl(descriptor, FS_IOC_FIEMAP, &raw mut request) } != 0 {
            match Errno::from_io_error(&std::io::Error::last_os_error()).unwrap_or(Errno::IO) {
                Errno::INTR => continue,
                errno => return Err(errno),
            }
        }
        let mapped = &request.extents[..(request.mapped_extents as usize).min(AT_ONCE)];
        for raw in mapped.iter().filter(|raw| raw.flags & NO_PLACE == 0) {
            add(&mut found, Extent { physical: raw.physical, length: raw.length });
        }
        match mapped.last() {
            // Extents without a length would be told again and again.
            Some(last)
                if last.flags & LAST == 0
                    && found.len() < MOST_EXTENTS
                    && last.logical.saturating_add(last.length) > start =>
            {
                start = last.logical.saturating_add(last.length);
            }
            _ => return Ok(found),
        }
    }
}

/// A run that follows the last one on the disk is one with it.
fn add(found: &mut Vec<Extent>, next: Extent) {
    match found.last_mut() {
        Some(last) if last.physical.checked_add(last.length) == Some(next.physical) => last.length += next.length,
        _ => found.push(next),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_that_follow_each_other_are_one() {
        let mut found = Vec::new();
        for (physical, length) in [(4096, 4096), (8192, 8192), (0, 4096), (u64::MAX, 4096), (4096, 1)] {
            add(&mut found, Extent { physical, length });
        }
        let lengths: Vec<u64> = found.iter().map(|extent| extent.length).collect();
        assert_eq!(lengths, [12288, 4096, 4096, 1]);
    }

    #[test]
    fn a_file_with_a_hole_lies_in_two_pieces() {
        use std::os::unix::fs::FileExt;
        let file = tempfile::tempfile_in("/var/tmp").unwrap();
        let Ok(none) = extents_of(&file) else { return };
        assert!(none.is_empty());
        file.write_all_at(&[1; 65536], 0).unwrap();
        file.write_all_at(&[2; 65536], 64 << 20).unwrap();
        let bytes: u64 = extents_of(&file).unwrap().iter().map(|extent| extent.length).sum();
        assert!((131_072..64 << 20).contains(&bytes), "{bytes}");
    }
}
