//! How many bytes a lane offers to the work, of disks of equal size: what its layers and its filesystem make of them.

use crate::filesystems;
use crate::layers;
use model::lane::{Contestant, LaneSpec};

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
