//! Where a file's blocks lie on the disk (FIEMAP), runs that follow each other merged.

use fiemap::flag;
use rustix::io::Errno;
use std::ops::ControlFlow;
use std::os::fd::AsFd;

/// No place on the disk is known: it waits to be written, or lies within metadata.
const NO_PLACE: u32 = flag::UNKNOWN | flag::DELALLOC | flag::INLINE;
/// Extents of one file at most: a file of a life has some thousands.
const MOST_EXTENTS: usize = 4_000_000;

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
    let mut found: Vec<Extent> = Vec::new();
    fiemap::visit(file, true, &mut |extent| {
        if extent.flags & NO_PLACE == 0 {
            add(&mut found, Extent { physical: extent.physical, length: extent.length });
        }
        if found.len() < MOST_EXTENTS { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    })?;
    Ok(found)
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
