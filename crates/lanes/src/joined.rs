//! What else an image is than the filesystem of its lane, which udev would join to other devices once it is a block
//! device.
//!
//! The table is libblkid's (util-linux, libblkid/src/superblocks), as far as a rule of udev, or who listens to it, acts
//! upon what it finds: mdadm, lvm2, dmraid, bcache, btrfs, stratisd, the ZFS event daemon, and systemd and desktops for
//! LUKS. LVM1, snapshots, verity, integrity, DRBD, VMFS, UBI, VDO, BitLocker, mpool and bluestore are put together by
//! command alone; `signature` has them, for their names. Checksums are left out: a signature at its place is enough.

use crate::filesystems::FILESYSTEMS;
use crate::other_devices::{Bytes, Image, size_of};
use crate::signature::At::{self, End, Start};
use crate::signature::{BCACHE, SECTOR, is_at};
use std::io::Result;

const MD: &[u8] = &[0xFC, 0x4E, 0x2B, 0xA9];
const LVM: &[u8] = b"LABELONE";
const INTEL: &[u8] = b"Intel Raid ISM Cfg Sig. ";
const STRATIS: &[u8] = b"!Stra0tis\x86\xFF\x02^\x41rh";
const DDF: &[u8] = &[0xDE, 0x11, 0xDE, 0x11];
const DDF_TURNED: &[u8] = &[0x11, 0xDE, 0x11, 0xDE];

/// Name, place, magic, of what is no filesystem of `filesystems`. Versions 1.0 and 0.90 of md stand on boundaries of 4 and
/// 64 KiB (md.rst), Intel's two blocks before the end, which may have 4 KiB.
static JOINED: [(&str, At, &[u8]); 30] = [
    ("bcache", Start(4096 + 24), BCACHE),
    ("LVM", Start(0), LVM),
    ("LVM", Start(SECTOR), LVM),
    ("LVM", Start(2 * SECTOR), LVM),
    ("LVM", Start(3 * SECTOR), LVM),
    ("md RAID", Start(4096), MD),
    ("md RAID", Start(0), MD),
    ("md RAID", End(8192, 4096), MD),
    ("md RAID", End(64 << 10, 64 << 10), MD),
    ("md RAID", End(64 << 10, 64 << 10), &[0xA9, 0x2B, 0x4E, 0xFC]),
    ("stratis", Start(SECTOR + 4), STRATIS),
    ("stratis", Start(9 * SECTOR + 4), STRATIS),
    ("LUKS", Start(0), b"LUKS\xBA\xBE"),
    ("a RAID of firmware (DDF)", End(SECTOR, SECTOR), DDF),
    ("a RAID of firmware (DDF)", End(SECTOR, SECTOR), DDF_TURNED),
    ("a RAID of firmware (DDF)", End(257 * SECTOR, SECTOR), DDF),
    ("a RAID of firmware (DDF)", End(257 * SECTOR, SECTOR), DDF_TURNED),
    ("a RAID of firmware (DDF)", End(4096, 4096), DDF),
    ("a RAID of firmware (DDF)", End(257 * 4096, 4096), DDF),
    ("a RAID of firmware (Intel)", End(2 * SECTOR, SECTOR), INTEL),
    ("a RAID of firmware (Intel)", End(2 * 4096, 4096), INTEL),
    ("a RAID of firmware (LSI)", End(SECTOR, SECTOR), b"$XIDE$"),
    ("a RAID of firmware (Silicon Image)", End(SECTOR - 0x60, SECTOR), &[0, 0, 0, 0x2F]),
    ("a RAID of firmware (NVIDIA)", End(2 * SECTOR, SECTOR), b"NVIDIA"),
    ("a RAID of firmware (Adaptec)", End(SECTOR, SECTOR), &[0x37, 0xFC, 0x4D, 0x1E]),
    ("a RAID of firmware (JMicron)", End(SECTOR, SECTOR), b"JM"),
    ("a RAID of firmware (HighPoint)", Start(9 * SECTOR + 32), &[0xF0, 0x16, 0x78, 0x5A]),
    ("a RAID of firmware (HighPoint)", Start(9 * SECTOR + 32), &[0xFD, 0x16, 0x78, 0x5A]),
    ("a RAID of firmware (HighPoint)", End(11 * SECTOR, SECTOR), &[0xF3, 0x16, 0x78, 0x5A]),
    ("a RAID of firmware (HighPoint)", End(11 * SECTOR, SECTOR), &[0xFD, 0x16, 0x78, 0x5A]),
];
/// Sectors before the end at which Promise writes its name.
const PROMISE: [u64; 13] = [63, 255, 256, 16, 399, 591, 675, 735, 911, 974, 991, 951, 3087];
/// Where the second header of LUKS may stand, by which it is known where the first is gone.
const LUKS_AGAIN: [u64; 9] = [0x4000, 0x8000, 0x1_0000, 0x2_0000, 0x4_0000, 0x8_0000, 0x10_0000, 0x20_0000, 0x40_0000];

/// What an image is beside `own`, its lane's filesystem; `None`: nothing that is known.
///
/// # Errors
/// The error of reading the image.
pub(crate) fn joined(image: &Image, own: &str) -> Result<Option<&'static str>> {
    let size = size_of(image)?;
    let others = || FILESYSTEMS.iter().filter(|row| row.name != own);
    for row in others() {
        for (places, magic) in row.marks.joined {
            for at in *places {
                if is_at(image, size, *at, magic)? {
                    return Ok(Some(row.name));
                }
            }
        }
    }
    for (name, at, magic) in &JOINED {
        if is_at(image, size, *at, magic)? {
            return Ok(Some(name));
        }
    }
    for sectors in PROMISE {
        if is_at(image, size, End(sectors * SECTOR, SECTOR), b"Promise Technology, Inc.")? {
            return Ok(Some("a RAID of firmware (Promise)"));
        }
    }
    for at in LUKS_AGAIN {
        if is_at(image, size, Start(at), b"SKUL\xBA\xBE")? {
            return Ok(Some("LUKS"));
        }
    }
    if is_via(image, size)? {
        return Ok(Some("a RAID of firmware (VIA)"));
    }
    for row in others() {
        if (row.marks.joined_otherwise)(image, size)? {
            return Ok(Some(row.name));
        }
    }
    Ok(None)
}

/// Two bytes that any boot sector has, so that version and checksum decide.
fn is_via(image: &Image, size: u64) -> Result<bool> {
    let Some(at) = (size - size % SECTOR).checked_sub(SECTOR) else { return Ok(false) };
    let sector = Bytes::new(image, at, 51)?.0;
    let sum = sector[..50].iter().fold(0u8, |sum, &byte| sum.wrapping_add(byte));
    Ok(sector[..2] == [0x55, 0xAA] && sector[2] <= 2 && sector[50] == sum)
}

/// Whether the kernel makes devices of the partitions of every loop device, each of which udev would look at: the
/// parameter `max_part` of the module, as sysfs shows it.
pub(crate) fn has_partitions_scanned(max_part: &str) -> bool {
    max_part.trim().parse::<u64>().is_ok_and(|most| most > 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::other_devices::tests::image_of;

    const BCACHEFS: &[u8] = &[0xC6, 0x85, 0x73, 0xF6, 0x66, 0xCE, 0x90, 0xA9];
    const SIZE: u64 = 300 << 20;

    #[test]
    fn what_udev_would_join_to_other_disks_is_known_beside_the_lanes_own() {
        assert_eq!(joined(&image_of(SIZE, &[(1024 + 56, &[0x53, 0xEF])]), "ext4").unwrap(), None);
        let end = SIZE;
        let zfs = 0x00BA_B10C_u64;
        for (name, at, magic) in [
            ("btrfs", 0x1_0040, &b"_BHRfS_M"[..]),
            ("bcachefs", 4096 + 24, BCACHEFS),
            ("bcachefs", (2 << 20) + 24, BCACHEFS),
            ("bcachefs", end - (1 << 20) + 24, BCACHEFS),
            ("LVM", 0, LVM),
            ("LVM", 512, LVM),
            ("LVM", 1024, LVM),
            ("LVM", 1536, LVM),
            ("md RAID", end - 8192, MD),
            ("md RAID", end - 65536, MD),
            ("md RAID", end - 65536, &[0xA9, 0x2B, 0x4E, 0xFC]),
            ("zfs", 128 << 10, &zfs.to_le_bytes()),
            ("zfs", (256 << 10) + (255 << 10), &zfs.to_be_bytes()),
            ("zfs", end - (512 << 10) + (132 << 10), &zfs.to_le_bytes()),
            ("zfs", end - (128 << 10), &zfs.to_le_bytes()),
            ("stratis", 516, STRATIS),
            ("stratis", 9 * 512 + 4, STRATIS),
            ("LUKS", 0, b"LUKS\xBA\xBE"),
            ("LUKS", 0x40_0000, b"SKUL\xBA\xBE"),
            ("a RAID of firmware (DDF)", end - 512, DDF),
            ("a RAID of firmware (DDF)", end - 257 * 512, DDF),
            ("a RAID of firmware (DDF)", end - 257 * 512, DDF_TURNED),
            ("a RAID of firmware (Intel)", end - 1024, INTEL),
            ("a RAID of firmware (Intel)", end - 8192, INTEL),
            ("a RAID of firmware (LSI)", end - 512, b"$XIDE$"),
            ("a RAID of firmware (Silicon Image)", end - 512 + 0x60, &[0, 0, 0, 0x2F]),
            ("a RAID of firmware (NVIDIA)", end - 1024, b"NVIDIA"),
            ("a RAID of firmware (Adaptec)", end - 512, &[0x37, 0xFC, 0x4D, 0x1E]),
            ("a RAID of firmware (JMicron)", end - 512, b"JM"),
            ("a RAID of firmware (HighPoint)", 4640, &[0xF0, 0x16, 0x78, 0x5A]),
            ("a RAID of firmware (HighPoint)", end - 11 * 512, &[0xF3, 0x16, 0x78, 0x5A]),
            ("a RAID of firmware (Promise)", end - 63 * 512, b"Promise Technology, Inc."),
            ("a RAID of firmware (Promise)", end - 3087 * 512, b"Promise Technology, Inc."),
        ] {
            assert_eq!(joined(&image_of(SIZE, &[(at, magic)]), "ext4").unwrap(), Some(name), "{at}");
            // As much more as makes no whole sector moves nothing.
            assert_eq!(joined(&image_of(SIZE + 100, &[(at, magic)]), "ext4").unwrap(), Some(name), "{at}");
            if name == "btrfs" {
                assert_eq!(joined(&image_of(SIZE, &[(at, magic)]), name).unwrap(), None);
            }
        }
    }

    #[test]
    fn the_end_of_a_boot_sector_is_no_raid_without_its_checksum() {
        let mut sector = [0u8; 51];
        sector[..4].copy_from_slice(&[0x55, 0xAA, 1, 7]);
        assert_eq!(joined(&image_of(SIZE, &[(SIZE - 512, &sector)]), "ext4").unwrap(), None);
        sector[50] = sector[..50].iter().fold(0u8, |sum, &byte| sum.wrapping_add(byte));
        let found = joined(&image_of(SIZE, &[(SIZE - 512, &sector)]), "ext4").unwrap();
        assert_eq!(found, Some("a RAID of firmware (VIA)"));
        for size in [0, 1, 511, 512, 4096, 70_000] {
            assert_eq!(joined(&image_of(size, &[]), "ext4").unwrap(), None, "{size}");
        }
    }

    #[test]
    fn loop_devices_whose_partitions_become_devices_are_told() {
        assert!(has_partitions_scanned("15\n"));
        assert!(!has_partitions_scanned("0\n") && !has_partitions_scanned(""));
    }
}
