//! ZFS, whose pools are raced as directories.

use super::{BASE, Filesystem, Home};
use crate::other_devices::{Bytes, Image};
use crate::promises::JOURNALED;
use crate::signature::At::Start;
use crate::signature::Marks;
use model::lane::Promises;
use std::io::Result;

/// Where a label keeps its uberblocks.
const RING: u64 = 128 << 10;
const MAGIC: u64 = 0x00BA_B10C;

/// ZFS.
pub(super) static ZFS: Filesystem = Filesystem {
    name: "zfs",
    features: include_str!("../../../../features/zfs.toml"),
    home: Home::Pool,
    minimum_bytes: 256 * model::Bytes::MIB,
    mkfs: &["zpool"],
    package: "zfsutils-linux",
    module: "zfs",
    // A pool lives in a directory here; `sync=disabled` does not show in its mount options.
    promises: |_, _| Promises { data_checksums: true, ..JOURNALED },
    holds_no_images: Some("copies on every write"),
    marks: Marks { magics: &[(&[Start(RING)], &[0x0C, 0xB1, 0xBA, 0x00])], joined_otherwise: is_member, ..Marks::NONE },
    ..BASE
};

/// Any uberblock of any of the four labels, of machines of either byte order.
fn is_member(image: &Image, size: u64) -> Result<bool> {
    const LABEL: u64 = 256 << 10;
    let end = size - size % LABEL;
    for label in [Some(0), Some(LABEL), end.checked_sub(2 * LABEL), end.checked_sub(LABEL)].into_iter().flatten() {
        let ring = Bytes::new(image, label + RING, RING as usize)?.0;
        let is = |block: &[u8]| block[..8] == MAGIC.to_le_bytes() || block[..8] == MAGIC.to_be_bytes();
        if ring.chunks(1024).any(is) {
            return Ok(true);
        }
    }
    Ok(false)
}
