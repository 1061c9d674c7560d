//! What lies on a device, by its magic bytes. A signature is shown before anything is overwritten
//! and never decides alone that a device is free.

use std::fs::File;
use std::os::unix::fs::FileExt;

/// Name, offset in bytes (negative: from the end), magic bytes.
type Row = (&'static str, i64, &'static [u8]);

/// More particular rows come first: a GPT disk carries an MBR too.
const SIGNATURES: [Row; 25] = [
    ("ext2/ext3/ext4", 1024 + 56, &[0x53, 0xEF]),
    ("xfs", 0, b"XFSB"),
    ("btrfs", 0x1_0040, b"_BHRfS_M"),
    ("f2fs", 1024, &[0x10, 0x20, 0xF5, 0xF2]),
    ("nilfs2", 1024 + 6, &[0x34, 0x34]),
    ("exfat", 3, b"EXFAT   "),
    ("ntfs", 3, b"NTFS    "),
    ("bcachefs", 4096 + 24, &[0xC6, 0x85, 0x73, 0xF6, 0x66, 0xCE, 0x90, 0xA9]),
    ("bcachefs", 4096 + 24, &[0xC6, 0x85, 0x73, 0xF6, 0x4E, 0x1A, 0x45, 0xCA]),
    ("jfs", 0x8000, b"JFS1"),
    ("zfs", 128 * 1024, &[0x0C, 0xB1, 0xBA, 0x00]),
    ("LUKS", 0, b"LUKS\xBA\xBE"),
    ("LVM physical volume", 512 + 24, b"LVM2 001"),
    ("LVM physical volume", 24, b"LVM2 001"),
    ("swap", 4096 - 10, b"SWAPSPACE2"),
    ("swap", 4096 - 10, b"SWAP-SPACE"),
    ("md RAID member", 4096, &[0xFC, 0x4E, 0x2B, 0xA9]),
    ("md RAID member", 0, &[0xFC, 0x4E, 0x2B, 0xA9]),
    ("md RAID member", -8192, &[0xFC, 0x4E, 0x2B, 0xA9]),
    ("md RAID member", -65536, &[0xFC, 0x4E, 0x2B, 0xA9]),
    ("squashfs", 0, b"hsqs"),
    ("GPT partition table", 512, b"EFI PART"),
    ("GPT partition table", 4096, b"EFI PART"),
    ("vfat", 82, b"FAT32   "),
    ("MBR partition table or boot sector", 510, &[0x55, 0xAA]),
];

/// The first signature that matches; `None`: nothing known.
///
/// # Errors
/// The error of reading the device.
pub fn read(device: &File, size_bytes: u64) -> std::io::Result<Option<&'static str>> {
    for (name, offset, magic) in SIGNATURES {
        let at = if offset < 0 { size_bytes.checked_sub(offset.unsigned_abs()) } else { Some(offset.unsigned_abs()) };
        // md 0.90 keeps its superblock in the last whole 64 KiB, 1.0 within the last 8 to 12 KiB on a
        // 4 KiB boundary (Documentation/admin-guide/md.rst).
        let boundary = if offset == -65536 { 65536 } else { 4096 };
        let at = at.map(|at| if offset < 0 { at - at % boundary } else { at });
        let Some(at) = at.filter(|at| at + magic.len() as u64 <= size_bytes) else { continue };
        let mut found = vec![0u8; magic.len()];
        device.read_exact_at(&mut found, at)?;
        if found == magic {
            return Ok(Some(name));
        }
    }
    Ok(None)
}

/// Where signatures live, as (offset, length) in bytes, 4 KiB aligned and inside the device: the
/// first and last MiB and btrfs's first mirror at 64 MiB.
pub fn signature_areas(size_bytes: u64) -> Vec<(u64, u64)> {
    const MIB: u64 = 1 << 20;
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

    #[test]
    fn signature_areas_stay_inside_the_device() {
        for size in [4096, 1 << 20, (2 << 20) + 4096, 64 << 20, (66 << 20) + 512, 1 << 40] {
            for (offset, length) in signature_areas(size) {
                assert!(offset + length <= size && length > 0, "{size}: {offset}+{length}");
                assert!(offset % 4096 == 0 && length % 4096 == 0, "{size}: {offset}+{length}");
            }
        }
    }
}
