//! In how many pieces free space lies (GETFSMAP), where the filesystem tells and this user may ask.

use rustix::io::Errno;
use serde::{Deserialize, Serialize};
use std::os::fd::{AsFd, AsRawFd};

/// linux/fsmap.h: `_IOWR('X', 59, struct fsmap_head)`.
const FS_IOC_GETFSMAP: libc::Ioctl = 0xC0C0_583B_u32 as libc::Ioctl;
const SPECIAL_OWNER: u32 = 0x10;
const LAST: u32 = 0x20;
const OWNER_FREE: u64 = 1;
const AT_ONCE: usize = 512;
/// Records that are looked at, at most.
const MOST_RECORDS: u64 = 50_000_000;

#[repr(C)]
#[derive(Clone, Copy)]
struct Map {
    device: u32,
    flags: u32,
    physical: u64,
    owner: u64,
    offset: u64,
    length: u64,
    reserved: [u64; 3],
}

const LEAST: Map = Map { device: 0, flags: 0, physical: 0, owner: 0, offset: 0, length: 0, reserved: [0; 3] };
const MOST: Map = Map {
    device: u32::MAX,
    flags: u32::MAX,
    physical: u64::MAX,
    owner: u64::MAX,
    offset: u64::MAX,
    length: 0,
    reserved: [0; 3],
};

#[repr(C)]
struct Request {
    iflags: u32,
    oflags: u32,
    count: u32,
    entries: u32,
    reserved: [u64; 6],
    keys: [Map; 2],
    records: [Map; AT_ONCE],
}

/// Pieces of free space of one class of sizes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct FreeClass {
    /// Pieces of at least so many bytes, and of less than twice that.
    pub from_bytes: u64,
    /// How many.
    pub pieces: u64,
    /// Bytes together.
    pub bytes: u64,
}

/// Free space by sizes of its pieces, the smallest class first.
///
/// # Errors
/// What the system answers: `OPNOTSUPP` or `NOTTY` where the filesystem does not tell, `PERM` where only root may ask.
pub(crate) fn free_extents(folder: impl AsFd) -> Result<Vec<FreeClass>, Errno> {
    let descriptor = folder.as_fd().as_raw_fd();
    let mut classes = [(0_u64, 0_u64); 64];
    let mut add = |length: u64| {
        if length > 0 {
            let class = &mut classes[length.ilog2() as usize];
            *class = (class.0 + 1, class.1 + length);
        }
    };
    let mut request = Box::new(Request {
        iflags: 0,
        oflags: 0,
        count: AT_ONCE as u32,
        entries: 0,
        reserved: [0; 6],
        keys: [LEAST, MOST],
        records: [LEAST; AT_ONCE],
    });
    let (mut piece, mut seen) = ((0_u64, 0_u64), 0_u64);
    loop {
        // SAFETY: FS_IOC_GETFSMAP reads the head of 192 bytes and writes at most `count` records of 64 bytes behind it;
        // `Request` is that layout (repr(C), no padding) and lives across the call; the descriptor is open.
        if unsafe { libc::ioctl(descriptor, FS_IOC_GETFSMAP, &raw mut *request) } != 0 {
            return Err(Errno::from_io_error(&std::io::Error::last_os_error()).unwrap_or(Errno::IO));
        }
        let records = &request.records[..(request.entries as usize).min(AT_ONCE)];
        for record in records.iter().filter(|of| of.flags & SPECIAL_OWNER != 0 && of.owner == OWNER_FREE) {
            if piece.0 + piece.1 == record.physical {
                piece.1 += record.length;
            } else {
                add(piece.1);
                piece = (record.physical, record.length);
            }
        }
        seen += records.len() as u64;
        let Some(&last) = records.last().filter(|last| last.flags & LAST == 0 && seen < MOST_RECORDS) else { break };
        // As linux/fsmap.h has it: the next call begins behind the last record.
        request.keys[0] = last;
    }
    add(piece.1);
    let class = |(at, &(pieces, bytes)): (usize, &(u64, u64))| FreeClass { from_bytes: 1 << at, pieces, bytes };
    Ok(classes.iter().enumerate().filter(|(_, of)| of.0 > 0).map(class).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_have_the_kernels_layout() {
        assert_eq!(size_of::<Map>(), 64);
        assert_eq!(size_of::<Request>(), 192 + 64 * AT_ONCE);
    }
}
