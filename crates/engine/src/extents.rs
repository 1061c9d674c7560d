//! In how many pieces a file lies on the disk (FIEMAP).

use std::os::fd::{AsFd, AsRawFd};

/// linux/fiemap.h.
const FS_IOC_FIEMAP: libc::Ioctl = 0xC020_660B_u32 as libc::Ioctl;

#[repr(C)]
struct Request {
    start: u64,
    length: u64,
    flags: u32,
    mapped_extents: u32,
    extent_count: u32,
    reserved: u32,
}

/// Number of extents of a file, which must be synced: of what is dirty nothing is known, and nothing is written here.
/// `None` where the filesystem does not tell.
pub(crate) fn count(file: impl AsFd) -> Option<u64> {
    let mut request = Request { start: 0, length: u64::MAX, flags: 0, mapped_extents: 0, extent_count: 0, reserved: 0 };
    // SAFETY: with room for no extent the kernel writes nothing but this structure, which is valid and has the
    // layout of linux/fiemap.h; the descriptor is open.
    let answer = unsafe { libc::ioctl(file.as_fd().as_raw_fd(), FS_IOC_FIEMAP, &raw mut request) };
    (answer == 0).then_some(u64::from(request.mapped_extents))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Seek, SeekFrom, Write};

    #[test]
    fn a_hole_parts_a_file_and_an_empty_one_has_no_extent() {
        let mut file = tempfile::tempfile_in("/var/tmp").unwrap();
        // Not every filesystem tells.
        let Some(none) = count(&file) else { return };
        assert_eq!(none, 0);
        file.write_all(&[1; 65536]).unwrap();
        file.seek(SeekFrom::Start(8 << 20)).unwrap();
        file.write_all(&[2; 65536]).unwrap();
        file.sync_all().unwrap();
        assert!(count(&file).unwrap() >= 2);
    }
}
