//! What lies on a device, by its magic bytes. A signature is shown before anything is overwritten
//! and never decides alone that a device is free; in an image of a stranger's it decides that the image is refused.

mod odd;

use crate::filesystems::{FILESYSTEMS, Filesystem};
use crate::other_devices::{Bytes, Image, size_of};
use std::fs::File;
use std::io::Result;
use std::os::unix::fs::FileExt;

/// Where a signature stands.
#[derive(Debug, Clone, Copy)]
pub enum At {
    /// So many bytes behind the beginning.
    Start(u64),
    /// So many bytes before the last boundary of the other number.
    End(u64, u64),
}
use At::{End, Start};

impl At {
    /// The byte of a device of this size; `None`: it is too small.
    pub(crate) fn offset_in(self, size_bytes: u64) -> Option<u64> {
        match self {
            Start(at) => Some(at),
            End(back, boundary) => (size_bytes - size_bytes % boundary).checked_sub(back),
        }
    }
}

/// Bytes by which something is known, at any of these places.
pub type Magic = (&'static [At], &'static [u8]);

/// Whether an image of so many bytes is something that no fixed bytes make.
pub type IsIt = fn(&Image, u64) -> Result<bool>;

/// By what an image of a filesystem is known, and for what else it may be taken without being that.
#[derive(Debug, Clone, Copy)]
pub struct Marks {
    /// What is shown of it, where that is not the filesystem's name.
    pub name: Option<&'static str>,
    /// Any of these is enough.
    pub magics: &'static [Magic],
    /// What is known by no fixed bytes.
    pub otherwise: IsIt,
    /// By which of these udev, or who listens to it, joins a device to others (`joined`).
    pub joined: &'static [Magic],
    /// The same, of what is known by no fixed bytes.
    pub joined_otherwise: IsIt,
    /// Its mkfs leaves the first KiB of zeros as it is: whatever lies there has another reader.
    pub begins_with_zeros: bool,
    /// It has a boot sector of its own, as filesystems of Windows do.
    pub has_boot_sector: bool,
    /// The number with which its superblock begins may be the two bytes by which HFS+ is known.
    pub begins_as_hfs: bool,
}

impl Marks {
    /// Of what has no image, or is known by the table below alone.
    pub const NONE: Marks = Marks {
        name: None,
        magics: &[],
        otherwise: |_, _| Ok(false),
        joined: &[],
        joined_otherwise: |_, _| Ok(false),
        begins_with_zeros: false,
        has_boot_sector: false,
        begins_as_hfs: false,
    };
}

const BOOT_SECTOR: &str = "MBR partition table or boot sector";
/// A sector of every device that says nothing else.
pub(crate) const SECTOR: u64 = 512;
const MIB: u64 = 1 << 20;
const MD: &[u8] = &[0xFC, 0x4E, 0x2B, 0xA9];
/// Of bcache, which bcachefs comes from.
pub(crate) const BCACHE: &[u8] = &[0xC6, 0x85, 0x73, 0xF6, 0x4E, 0x1A, 0x45, 0xCA];
const LVM: &[At] = &[Start(SECTOR + 24), Start(24), Start(2 * SECTOR + 24), Start(3 * SECTOR + 24)];
/// At the end of a page of 4, 8, 16, 32 or 64 KiB.
const PAGE: &[At] = &[Start(0xFF6), Start(0x1FF6), Start(0x3FF6), Start(0x7FF6), Start(0xFFF6)];
const OCFS2: &[At] = &[Start(1 << 10), Start(2 << 10), Start(4 << 10), Start(8 << 10)];
const SYSV: &[At] = &[Start(1016), Start((9 << 10) + 1016), Start((15 << 10) + 1016), Start((18 << 10) + 1016)];
const VOLUME: &[At] = &[Start(0x8000 + 1)];
const DRBD: &[At] = &[End(4096 - 60, SECTOR)];

/// The table of libblkid (util-linux, libblkid/src/superblocks), as far as it gives a device a name, without what
/// `joined` has and without the filesystems of `filesystems`. More particular rows come first: a GPT disk carries an MBR
/// too.
static OTHERS: [(&str, &[At], &[u8]); 69] = [
    ("reiser4", &[Start(64 << 10)], b"ReIsEr4"),
    ("LUKS", &[Start(0)], b"LUKS\xBA\xBE"),
    ("LVM physical volume", LVM, b"LVM2 001"),
    ("LVM physical volume", &[Start(0)], b"HM\x01\x00"),
    ("LVM physical volume", &[Start(0)], b"HM\x02\x00"),
    ("swap", PAGE, b"SWAPSPACE2"),
    ("swap", PAGE, b"SWAP-SPACE"),
    ("a machine that sleeps", PAGE, b"S1SUSPEND"),
    ("a machine that sleeps", PAGE, b"S2SUSPEND"),
    ("a machine that sleeps", PAGE, b"ULSUSPEND"),
    ("a machine that sleeps", PAGE, b"LINHIB0001"),
    ("a machine that sleeps", &[Start(0)], &[0xED, 0xC3, 0x02, 0xE9, 0x98, 0x56, 0xE5, 0x0C]),
    // Of md, versions 1.0 and 0.90 stand on boundaries of 4 and 64 KiB (Documentation/admin-guide/md.rst).
    ("md RAID member", &[Start(4096), Start(0), End(8192, 4096), End(64 << 10, 64 << 10)], MD),
    ("squashfs", &[Start(0)], b"hsqs"),
    ("squashfs", &[Start(0)], b"sqsh"),
    ("erofs", &[Start(1024)], &[0xE2, 0xE1, 0xF5, 0xE0]),
    ("iso9660", VOLUME, b"CD001"),
    ("iso9660", &[Start(0x8000 + 9)], b"CDROM"),
    ("udf", VOLUME, b"BEA01"),
    ("udf", VOLUME, b"BOOT2"),
    ("udf", VOLUME, b"CDW02"),
    ("udf", VOLUME, b"NSR02"),
    ("udf", VOLUME, b"NSR03"),
    ("udf", VOLUME, b"TEA01"),
    ("hfsplus", &[Start(1024)], b"H+\x00\x04"),
    ("hfsplus", &[Start(1024)], b"HX\x00\x05"),
    ("apfs", &[Start(32)], b"NXSB"),
    ("BitLocker", &[Start(3)], b"-FVE-FS-"),
    ("ReFS", &[Start(0)], b"\x00\x00\x00ReFS\x00"),
    ("hpfs", &[Start(0x2000)], &[0x49, 0xE8, 0x95, 0xF9]),
    ("gfs2", &[Start(64 << 10)], &[0x01, 0x16, 0x19, 0x70]),
    ("scoutfs", &[Start((64 << 10) + 4)], &[0x8B, 0x42, 0x3C, 0x10]),
    ("ocfs", &[Start(8 << 10)], b"OracleCFS"),
    ("ocfs2", OCFS2, b"OCFSV2"),
    ("oracleasm", &[Start(32)], b"ORCLDISK"),
    ("vxfs", &[Start(1024)], &[0xF5, 0xFC, 0x01, 0xA5]),
    ("vxfs", &[Start(8 << 10)], &[0xA5, 0x01, 0xFC, 0xF5]),
    ("sysv", SYSV, &[0x20, 0x7E, 0x18, 0xFD]),
    ("sysv", SYSV, &[0xFD, 0x18, 0x7E, 0x20]),
    ("xenix", &[Start(2048)], &[0x2B, 0x55, 0x44]),
    ("xenix", &[Start(2048)], &[0x44, 0x55, 0x2B]),
    ("befs", &[Start(32), Start(SECTOR + 32)], b"BFS1"),
    ("befs", &[Start(32), Start(SECTOR + 32)], b"1SFB"),
    ("nss", &[Start(4096)], b"SPB5"),
    ("cramfs", &[Start(0)], &[0x45, 0x3D, 0xCD, 0x28]),
    ("cramfs", &[Start(0)], &[0x28, 0xCD, 0x3D, 0x45]),
    ("romfs", &[Start(0)], b"-rom1fs-"),
    ("ubifs", &[Start(0)], &[0x31, 0x18, 0x10, 0x06]),
    ("UBI", &[Start(0)], b"UBI#"),
    ("zonefs", &[Start(0)], b"SFOZ"),
    ("exfs", &[Start(0)], b"EXFS"),
    ("VMFS", &[Start(2 * MIB)], &[0x5E, 0xF1, 0xAB, 0x2F]),
    ("VMFS", &[Start(MIB)], &[0x0D, 0xD0, 0x01, 0xC0]),
    ("DRBD", DRBD, &[0x83, 0x74, 0x02, 0x6B]),
    ("DRBD", DRBD, &[0x83, 0x74, 0x02, 0x6C]),
    ("DRBD", DRBD, &[0x83, 0x74, 0x02, 0x6D]),
    ("DRBD", &[Start(0)], b"$DRBDmgr=q"),
    ("DRBD", &[Start(0)], b"DRBDdlh*"),
    ("a snapshot of LVM", &[Start(0)], b"SnAp"),
    ("dm-verity", &[Start(0)], b"verity\x00\x00"),
    ("dm-integrity", &[Start(0)], b"integrt\x00"),
    ("VDO", &[Start(0)], b"dmvdo001"),
    ("mpool", &[Start(0)], b"mpoolDev"),
    ("Ceph", &[Start(0)], b"bluestore block device"),
    ("GPT partition table", &[Start(SECTOR), Start(4096), End(SECTOR, SECTOR), End(4096, 4096)], b"EFI PART"),
    ("vfat", &[Start(82)], b"FAT32   "),
    ("vfat", &[Start(54)], b"FAT16   "),
    ("vfat", &[Start(54)], b"FAT12   "),
    (BOOT_SECTOR, &[Start(510)], &[0x55, 0xAA]),
];

/// Every signature with its name: those of the filesystems of the table first.
fn signatures() -> impl Iterator<Item = (&'static str, Magic)> {
    let own = FILESYSTEMS.iter().flat_map(|row| row.marks.magics.iter().map(|magic| (row.signature(), *magic)));
    own.chain(OTHERS.iter().map(|(name, places, magic)| (*name, (*places, *magic))))
}

/// The first signature that matches; `None`: nothing known.
///
/// # Errors
/// The error of reading the device.
pub fn read(device: &File, size_bytes: u64) -> Result<Option<&'static str>> {
    for (name, (places, magic)) in signatures() {
        let inside = |at: &u64| at + magic.len() as u64 <= size_bytes;
        for at in places.iter().filter_map(|at| at.offset_in(size_bytes)).filter(inside) {
            let mut found = vec![0u8; magic.len()];
            device.read_exact_at(&mut found, at)?;
            if found == magic {
                return Ok(Some(name));
            }
        }
    }
    Ok(None)
}

/// Whether these bytes stand there in an image.
pub(crate) fn is_at(image: &Image, size_bytes: u64, at: At, magic: &[u8]) -> Result<bool> {
    match at.offset_in(size_bytes) {
        Some(at) => Ok(Bytes::new(image, at, magic.len())?.0 == magic),
        None => Ok(false),
    }
}

/// What an image may be taken for beside `own`, its lane's filesystem; `None`: for nothing that is known. An image begins
/// as zeros, and no mkfs leaves a second signature in it.
///
/// # Errors
/// The error of reading the image.
pub(crate) fn beside(image: &Image, own: &Filesystem) -> Result<Option<&'static str>> {
    let size = size_of(image)?;
    // An MBR would be found first, which ends alike.
    if odd::is_fat(&Bytes::new(image, 0, SECTOR as usize)?.0) {
        return Ok(Some("vfat"));
    }
    for (name, (places, magic)) in signatures().filter(|(name, _)| *name != own.signature()) {
        if own.marks.has_boot_sector && name == BOOT_SECTOR {
            continue;
        }
        for at in places {
            if is_at(image, size, *at, magic)? {
                return Ok(Some(name));
            }
        }
    }
    odd::beside(image, size, own)
}

/// Where signatures live, as (offset, length) in bytes, 4 KiB aligned and inside the device: the
/// first and last MiB and btrfs's first mirror at 64 MiB.
pub fn signature_areas(size_bytes: u64) -> Vec<(u64, u64)> {
    let size_bytes = size_bytes - size_bytes % 4096;
    if size_bytes <= 2 * MIB {
        return vec![(0, size_bytes)];
    }
    let mut areas = vec![(0, MIB)];
    if size_bytes > 66 * MIB {
        areas.push((64 * MIB, 4096));
    }
    areas.push((size_bytes - MIB, MIB));
    areas
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::filesystems::{Home, find};
    use crate::other_devices::tests::image_of;

    #[test]
    fn signature_areas_stay_inside_the_device() {
        for size in [4096, 1 << 20, (2 << 20) + 4096, 64 << 20, (66 << 20) + 512, 1 << 40] {
            for (offset, length) in signature_areas(size) {
                assert!(offset + length <= size && length > 0, "{size}: {offset}+{length}");
                assert!(offset % 4096 == 0 && length % 4096 == 0, "{size}: {offset}+{length}");
            }
        }
    }

    #[test]
    fn signatures_are_known_at_each_of_their_places_beside_any_other() {
        const SIZE: u64 = 64 << 20;
        let rows = ["ext4", "xfs", "btrfs", "ntfs"].map(|name| find(name).unwrap());
        for (name, (places, magic)) in signatures() {
            for at in places.iter().filter_map(|at| at.offset_in(SIZE)) {
                let image = image_of(SIZE, &[(at, magic)]);
                assert_eq!(read(&image.file, SIZE).unwrap(), Some(name), "{at}");
                for own in rows {
                    let is_fine = name == own.signature() || (own.name == "ntfs" && name == BOOT_SECTOR);
                    assert_eq!(beside(&image, own).unwrap().is_none(), is_fine, "{name} in {}: {at}", own.name);
                }
            }
        }
        for own in rows.into_iter().chain([find("tmpfs").unwrap()]) {
            for size in [0, 1, 511, 512, 4096, 70_000, SIZE] {
                assert_eq!(beside(&image_of(size, &[]), own).unwrap(), None, "{size}");
            }
        }
    }

    #[test]
    fn a_filesystem_that_stands_on_a_disk_is_known_by_a_signature() {
        for row in FILESYSTEMS.iter().filter(|row| row.home == Home::Block) {
            assert!(signatures().any(|(name, _)| name == row.signature()), "{}", row.name);
        }
    }
}
