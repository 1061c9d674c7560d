//! How many bytes a lane offers to the work, of disks of equal size: what its layers and its filesystem make of them.

use crate::filesystems;
use crate::layers;
use model::lane::{Contestant, LaneSpec};

/// Of what a past leaves free so much may be worked on: filesystems keep some for themselves.
const SHARE_BESIDE_A_PAST: f64 = 0.7;

/// Bytes of a lane on which so many bytes of work have room beside a past that takes this share of it, 0 to 1.
pub fn beside_a_past(share: f64, work_bytes: u64) -> u64 {
    let needed = work_bytes as f64 / ((1.0 - share) * SHARE_BESIDE_A_PAST);
    needed.min(u64::MAX as f64) as u64
}

/// Bytes of a lane that leaves so many bytes more free than one of this size, where its past takes this share of each: in steps of
/// 64 MiB.
pub fn with_more_free(lane_bytes: u64, share: f64, more_bytes: f64) -> u64 {
    let more = (more_bytes / (1.0 - share)).clamp(0.0, u64::MAX as f64) as u64;
    lane_bytes.saturating_add(more).checked_next_multiple_of(64 << 20).unwrap_or(u64::MAX)
}

/// About how many bytes each device of the filesystem has, and how many bytes of files all of them hold, on disks of so many
/// bytes.
pub fn of_lane(spec: &LaneSpec, disk_bytes: u64) -> (u64, u64) {
    let device = layers::capacity(&spec.layers, disk_bytes);
    let row = match &spec.contestant {
        Contestant::Filesystem(name) => filesystems::find(name),
        Contestant::Directory(_) | Contestant::Custom(_) => None,
    };
    let all = row.map_or(device, |row| (row.capacity)(&spec.mkfs_options, device, u64::from(spec.devices)));
    (device, all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_has_room_beside_a_past_only_in_a_part_of_what_that_leaves() {
        assert_eq!(beside_a_past(0.5, 700), 2000);
        assert_eq!(beside_a_past(0.8, 0), 0);
        assert!(beside_a_past(1.0, 1) == u64::MAX);
    }

    #[test]
    fn a_lane_grows_by_what_its_past_leaves_of_more() {
        assert_eq!(with_more_free(1 << 30, 0.5, f64::from(64 << 20)), (1 << 30) + (128 << 20));
        assert_eq!(with_more_free((1 << 30) + 1, 0.5, 0.0), (1 << 30) + (64 << 20));
        assert_eq!(with_more_free(1 << 30, 1.0, 1.0), u64::MAX);
    }

    #[test]
    fn copies_and_parity_of_the_filesystem_itself_are_counted() {
        for (lane, disks) in [
            ("btrfs", 1),
            ("btrfs:3", 3),
            ("btrfs:4(-d raid1 -m raid1)", 2),
            ("btrfs:4(-d raid0)", 4),
            ("btrfs:2(-d RAID1 -m RAID1)", 1),
            ("btrfs,-draid5,-mraid1:4", 3),
            ("btrfs:4(--data=raid6 -m raid1c3)", 2),
            ("btrfs:4(-d raid1c4 -m raid1c4)", 1),
            ("btrfs:2(-d raid1 -m raid1)/raid0:2", 2),
            ("overlay(xfs/raid5:3)", 2),
        ] {
            assert_eq!(of_lane(&lane.parse().unwrap(), 1 << 30).1, disks << 30, "{lane}");
        }
    }
}
