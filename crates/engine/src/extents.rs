//! In how many pieces a file lies on the disk, and in what form (FIEMAP).

use std::os::fd::{AsFd, AsRawFd};

/// linux/fiemap.h.
const FS_IOC_FIEMAP: libc::Ioctl = 0xC020_660B_u32 as libc::Ioctl;
/// The last extent of the file.
const LAST: u32 = 0x1;
/// Where it lies is not known yet: it waits to be written.
const UNKNOWN: u32 = 0x2;
/// It must be decoded: compressed, or encrypted.
const ENCODED: u32 = 0x8;
/// It is encrypted.
const ENCRYPTED: u32 = 0x80;
/// It lies within metadata.
const INLINE: u32 = 0x200;
/// It shares a block with data of other files.
const TAIL: u32 = 0x400;

/// Extents taken with one call.
const AT_ONCE: usize = 64;
/// Extents of a file that are looked at, the first.
const MOST: usize = 1024;

#[repr(C)]
struct Request {
    start: u64,
    length: u64,
    flags: u32,
    mapped_extents: u32,
    extent_count: u32,
    reserved: u32,
}

/// `struct fiemap_extent`.
#[repr(C)]
#[derive(Clone, Copy)]
struct Extent {
    logical: u64,
    physical: u64,
    length: u64,
    reserved64: [u64; 2],
    flags: u32,
    reserved: [u32; 3],
}

const NO_EXTENT: Extent = Extent { logical: 0, physical: 0, length: 0, reserved64: [0; 2], flags: 0, reserved: [0; 3] };

/// A request with room for extents behind it, as the kernel wants it.
#[repr(C)]
struct WithRoom {
    request: Request,
    extents: [Extent; AT_ONCE],
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

/// The form in which a filesystem keeps a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// In blocks of its own, as it was written.
    Plain,
    /// Within metadata.
    Inline,
    /// Compressed, half and more of it.
    Compressed,
    /// Its end, or all of it, in a block with data of other files.
    Tail,
}

/// The form of a file, of its first 1024 extents; nothing is written here. `None` where the filesystem does not tell,
/// or the file has no extent yet.
pub(crate) fn form(file: impl AsFd) -> Option<Form> {
    let (mut all, mut compressed, mut seen, mut start) = (0_u64, 0_u64, 0, 0_u64);
    while seen < MOST {
        let mut asked = WithRoom {
            request: Request {
                start,
                length: u64::MAX - start,
                flags: 0,
                mapped_extents: 0,
                extent_count: AT_ONCE as u32,
                reserved: 0,
            },
            extents: [NO_EXTENT; AT_ONCE],
        };
        // SAFETY: the kernel writes the request and at most `extent_count` extents behind it, for which there is room;
        // both have the layout of linux/fiemap.h, and the descriptor is open.
        if unsafe { libc::ioctl(file.as_fd().as_raw_fd(), FS_IOC_FIEMAP, &raw mut asked) } != 0 {
            return None;
        }
        let extents = &asked.extents[..(asked.request.mapped_extents as usize).min(AT_ONCE)];
        for extent in extents.iter().filter(|extent| extent.flags & UNKNOWN == 0) {
            match extent.flags {
                flags if flags & INLINE != 0 => return Some(Form::Inline),
                flags if flags & TAIL != 0 => return Some(Form::Tail),
                flags if flags & ENCODED != 0 && flags & ENCRYPTED == 0 => compressed += extent.length,
                _ => {}
            }
            all += extent.length;
        }
        seen += extents.len();
        match extents.last() {
            Some(last) if last.flags & LAST == 0 => start = last.logical.saturating_add(last.length),
            _ => break,
        }
    }
    (all > 0).then_some(if 2 * compressed >= all { Form::Compressed } else { Form::Plain })
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
        assert_eq!((none, form(&file)), (0, None));
        file.write_all(&[1; 65536]).unwrap();
        file.seek(SeekFrom::Start(8 << 20)).unwrap();
        file.write_all(&[2; 65536]).unwrap();
        file.sync_all().unwrap();
        assert!(count(&file).unwrap() >= 2);
        assert!(form(&file).is_some());
    }

    #[test]
    fn a_file_of_many_extents_is_looked_at_to_its_end_or_to_the_bound() {
        let mut file = tempfile::tempfile_in("/var/tmp").unwrap();
        for piece in 0..(3 * AT_ONCE as u64) {
            file.seek(SeekFrom::Start(piece * (1 << 20))).unwrap();
            file.write_all(&[1; 4096]).unwrap();
        }
        file.sync_all().unwrap();
        if count(&file).is_some() {
            assert!(matches!(form(&file), Some(Form::Plain | Form::Compressed)), "{:?}", form(&file));
        }
    }
}
