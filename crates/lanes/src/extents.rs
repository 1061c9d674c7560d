//! Where a file's blocks lie, by FIEMAP: holes, unwritten extents and those that a snapshot shares are what image
//! history shows through.

use fiemap::flag;
use std::ops::ControlFlow;

/// A run of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Extent {
    /// From the start of the file, bytes.
    pub offset_bytes: u64,
    /// Bytes.
    pub length_bytes: u64,
    /// Allocated, but reads as zeros because it was never written.
    pub unwritten: bool,
    /// A snapshot or a reflinked copy has the same blocks: the next write there goes to new ones.
    pub shared: bool,
}

/// Every extent of a file in order; its dirty pages are written first.
///
/// # Errors
/// The error of the ioctl; `EOPNOTSUPP` where the filesystem has no FIEMAP.
pub fn read(file: &std::fs::File) -> std::io::Result<Vec<Extent>> {
    let mut extents = Vec::new();
    fiemap::visit(file, true, &mut |raw| {
        extents.push(Extent {
            offset_bytes: raw.logical,
            length_bytes: raw.length,
            unwritten: raw.flags & flag::UNWRITTEN != 0,
            shared: raw.flags & flag::SHARED != 0,
        });
        ControlFlow::Continue(())
    })?;
    Ok(extents)
}

/// The parts of the first `size_bytes` that have no blocks, as (offset, length) in order.
pub fn holes(extents: &[Extent], size_bytes: u64) -> Vec<(u64, u64)> {
    let allocated: Vec<Extent> = extents.iter().map(|extent| Extent { unwritten: false, ..*extent }).collect();
    never_written(&allocated, size_bytes)
}

/// The parts of the first `size_bytes` that a snapshot or a copy shares, as (offset, length) in order.
pub fn shared(extents: &[Extent], size_bytes: u64) -> Vec<(u64, u64)> {
    let within = |extent: &Extent| {
        let from = extent.offset_bytes.min(size_bytes);
        (from, extent.offset_bytes.saturating_add(extent.length_bytes).min(size_bytes) - from)
    };
    extents.iter().filter(|extent| extent.shared).map(within).filter(|&(_, length)| length > 0).collect()
}

/// The parts of the first `size_bytes` that were never written, holes and unwritten extents alike,
/// as (offset, length), merged and in order.
pub fn never_written(extents: &[Extent], size_bytes: u64) -> Vec<(u64, u64)> {
    let mut gaps: Vec<(u64, u64)> = Vec::new();
    let mut reached = 0u64;
    let mut add = |from: u64, to: u64| match gaps.last_mut() {
        _ if from >= to => {}
        Some((offset, length)) if *offset + *length == from => *length = to - *offset,
        _ => gaps.push((from, to - from)),
    };
    for extent in extents {
        let from = extent.offset_bytes.min(size_bytes);
        let to = extent.offset_bytes.saturating_add(extent.length_bytes).min(size_bytes);
        add(reached, from.max(reached));
        if extent.unwritten {
            add(from.max(reached), to);
        }
        reached = reached.max(to);
    }
    add(reached, size_bytes);
    gaps
}

#[cfg(test)]
mod tests {
    use super::*;

    fn extent(offset_bytes: u64, length_bytes: u64, unwritten: bool) -> Extent {
        Extent { offset_bytes, length_bytes, unwritten, shared: false }
    }

    #[test]
    fn holes_and_unwritten_extents_are_both_gaps() {
        assert_eq!(never_written(&[extent(0, 100, false)], 100), []);
        assert_eq!(never_written(&[], 100), [(0, 100)]);
        let extents = [extent(0, 10, false), extent(20, 10, true), extent(30, 10, true), extent(40, 100, false)];
        assert_eq!(never_written(&extents, 100), [(10, 30)]);
        assert_eq!(holes(&extents, 100), [(10, 10)]);
        assert_eq!(never_written(&[extent(50, 100, true)], 100), [(0, 100)]);
        assert_eq!(never_written(&[extent(0, 50, false)], 100), [(50, 50)]);
    }

    #[test]
    fn what_a_snapshot_shares_is_told_as_far_as_the_image_goes() {
        let shared_one = |offset, length| Extent { shared: true, ..extent(offset, length, false) };
        let extents = [extent(0, 10, false), shared_one(10, 10), extent(20, 10, true), shared_one(90, 100)];
        assert_eq!(shared(&extents, 100), [(10, 10), (90, 10)]);
        assert_eq!(shared(&extents[..1], 100), []);
        assert_eq!(shared(&[shared_one(u64::MAX - 1, 100)], 100), []);
    }
}
