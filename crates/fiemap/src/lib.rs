//! Where the blocks of a file lie, as the kernel tells it (FS_IOC_FIEMAP).

use rustix::io::Errno;
use std::ops::ControlFlow;
use std::os::fd::{AsFd, AsRawFd};

/// linux/fiemap.h.
const FS_IOC_FIEMAP: libc::Ioctl = 0xC020_660B_u32 as libc::Ioctl;
const SYNC: u32 = 0x1;
const AT_ONCE: usize = 128;

/// Flags of an extent (linux/fiemap.h).
pub mod flag {
    /// The last one of the file.
    pub const LAST: u32 = 0x1;
    /// Where it lies is not known: it waits to be written.
    pub const UNKNOWN: u32 = 0x2;
    /// It waits for its place (delayed allocation).
    pub const DELALLOC: u32 = 0x4;
    /// It must be decoded: compressed, or encrypted.
    pub const ENCODED: u32 = 0x8;
    /// It is encrypted.
    pub const ENCRYPTED: u32 = 0x80;
    /// It lies within metadata.
    pub const INLINE: u32 = 0x200;
    /// It shares a block with data of other files.
    pub const TAIL: u32 = 0x400;
    /// Allocated, but reads as zeros because it was never written.
    pub const UNWRITTEN: u32 = 0x800;
    /// A snapshot or a reflinked copy has the same blocks.
    pub const SHARED: u32 = 0x2000;
}

/// `struct fiemap_extent`: a run of a file.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Extent {
    /// From the start of the file, bytes.
    pub logical: u64,
    /// From the start of the disk, bytes; means nothing with [`flag::UNKNOWN`] and [`flag::INLINE`].
    pub physical: u64,
    /// Bytes.
    pub length: u64,
    reserved64: [u64; 2],
    /// See [`flag`].
    pub flags: u32,
    reserved: [u32; 3],
}

/// `struct fiemap` with room for extents behind it.
#[repr(C)]
struct Request {
    start: u64,
    length: u64,
    flags: u32,
    mapped_extents: u32,
    extent_count: u32,
    reserved: u32,
    extents: [Extent; AT_ONCE],
}

/// Asks for extents from `start` on; answers how many there are, and those that had room.
fn ask(file: &impl AsFd, start: u64, flags: u32, room: usize) -> Result<Request, Errno> {
    loop {
        let mut request = Request {
            start,
            length: u64::MAX - start,
            flags,
            mapped_extents: 0,
            extent_count: room.min(AT_ONCE) as u32,
            reserved: 0,
            extents: [Extent::default(); AT_ONCE],
        };
        // SAFETY: FS_IOC_FIEMAP reads the 32-byte header and writes at most `extent_count` 56-byte extents behind it; `Request` is
        // that layout (repr(C), no padding) and lives across the call; the descriptor is open.
        if unsafe { libc::ioctl(file.as_fd().as_raw_fd(), FS_IOC_FIEMAP, &raw mut request) } == 0 {
            return Ok(request);
        }
        match Errno::from_io_error(&std::io::Error::last_os_error()).unwrap_or(Errno::IO) {
            Errno::INTR => {}
            errno => return Err(errno),
        }
    }
}

/// Tells the extents of a file or folder in order, until `visit` breaks. `sync`: its dirty pages are written first; else of those
/// nothing is known, and nothing is written.
///
/// # Errors
/// What the system answers: `OPNOTSUPP` or `NOTTY` where the filesystem does not tell.
pub fn visit(file: impl AsFd, sync: bool, visit: &mut dyn FnMut(&Extent) -> ControlFlow<()>) -> Result<(), Errno> {
    let mut start = 0_u64;
    loop {
        let request = ask(&file, start, if sync { SYNC } else { 0 }, AT_ONCE)?;
        let mapped = &request.extents[..(request.mapped_extents as usize).min(AT_ONCE)];
        for extent in mapped {
            if visit(extent).is_break() {
                return Ok(());
            }
        }
        match mapped.last().map(|last| (last.flags & flag::LAST, last.logical.saturating_add(last.length))) {
            // An extent without a length would be told again and again.
            Some((0, end)) if end > start => start = end,
            _ => return Ok(()),
        }
    }
}

/// Number of extents of a file, which must be synced: of what is dirty nothing is known, and nothing is written here.
///
/// # Errors
/// As [`visit`].
pub fn count(file: impl AsFd) -> Result<u64, Errno> {
    ask(&file, 0, 0, 0).map(|request| u64::from(request.mapped_extents))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::FileExt;

    #[test]
    fn a_file_of_more_pieces_than_one_call_tells_is_told_to_its_end_or_to_where_somebody_stops() {
        let file = tempfile::tempfile_in("/var/tmp").unwrap();
        // Not every filesystem tells.
        let Ok(none) = count(&file) else { return };
        assert_eq!(none, 0);
        let pieces = 3 * AT_ONCE as u64;
        (0..pieces).for_each(|piece| file.write_all_at(&[1; 4096], piece << 20).unwrap());
        let mut found: Vec<Extent> = Vec::new();
        let mut all = |extent: &Extent| {
            found.push(*extent);
            ControlFlow::Continue(())
        };
        visit(&file, true, &mut all).unwrap();
        assert_eq!(found.len() as u64, pieces);
        assert_eq!(count(&file), Ok(pieces));
        assert!(found.windows(2).all(|two| two[0].logical + two[0].length <= two[1].logical));
        assert!(found.iter().all(|extent| extent.flags & flag::UNKNOWN == 0), "it was synced");
        let mut seen = 0;
        let mut some = |_: &Extent| {
            seen += 1;
            if seen == 5 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        visit(&file, false, &mut some).unwrap();
        assert_eq!(seen, 5);
    }

    #[test]
    fn what_has_no_extents_says_so() {
        let pipe = std::fs::File::open("/proc/self/status").unwrap();
        assert!(count(&pipe).is_err() && visit(&pipe, false, &mut |_| ControlFlow::Continue(())).is_err());
    }
}
