//! Signatures that no fixed bytes at one place make.

use crate::filesystems::{FILESYSTEMS, Filesystem};
use crate::other_devices::{Bytes, Image};
use std::io::Result;

const BEGINNING: usize = 1024;

/// What of these an image has beside `own`; `None`: none.
///
/// # Errors
/// The error of reading the image.
pub(super) fn beside(image: &Image, size: u64, own: &Filesystem) -> Result<Option<&'static str>> {
    let beginning = Bytes::new(image, 0, BEGINNING)?.0;
    if own.marks.begins_with_zeros && beginning.iter().any(|&byte| byte != 0) {
        return Ok(Some("an unknown boot sector"));
    }
    if is_hfs(&Bytes::new(image, BEGINNING as u64, 2)?.0, own) {
        return Ok(Some("hfs"));
    }
    if is_ufs(image)? {
        return Ok(Some("ufs"));
    }
    for row in FILESYSTEMS.iter().filter(|row| row.name != own.name) {
        if (row.marks.otherwise)(image, size)? {
            return Ok(Some(row.signature()));
        }
    }
    Ok(None)
}

/// As libblkid has it: a magic or a jump, and numbers that are plausible.
pub(super) fn is_fat(sector: &[u8]) -> bool {
    let is = |at: usize, magic: &[u8]| &sector[at..at + magic.len()] == magic;
    let has_magic = is(82, b"MSWIN") || is(82, b"FAT32   ");
    let has_old_magic = [&b"MSDOS"[..], b"FAT16   ", b"FAT12   ", b"FAT     "].iter().any(|magic| is(54, magic));
    let sector_bytes = u16::from_le_bytes([sector[11], sector[12]]);
    let (cluster, reserved, fats, media) = (sector[13], [sector[14], sector[15]], sector[16], sector[21]);
    // A jump counts together with these two bytes alone.
    (has_magic || has_old_magic || is(510, &[0x55, 0xAA]))
        && sector_bytes.is_power_of_two()
        && (512..=4096).contains(&sector_bytes)
        && cluster.is_power_of_two()
        && reserved != [0, 0]
        && fats != 0
        && (media == 0xF0 || media >= 0xF8)
}

/// Of HFS and HFS+. Two bytes, with which the number of inodes of an ext may begin: there the version, which the table
/// has, decides too.
fn is_hfs(magic: &[u8], own: &Filesystem) -> bool {
    magic == b"BD" || (!own.marks.begins_as_hfs && (magic == b"H+" || magic == b"HX"))
}

/// UFS of either byte order, at any of its four places.
fn is_ufs(image: &Image) -> Result<bool> {
    const MAGICS: [u32; 6] = [0x0001_1954, 0x1954_0119, 0x0019_5612, 0x0009_5014, 0x0061_2195, 0x0523_1994];
    for place in [0, 8, 64, 256] {
        let found = Bytes::new(image, (place << 10) + 1372, 4)?.0;
        if MAGICS.iter().any(|magic| found == magic.to_le_bytes() || found == magic.to_be_bytes()) {
            return Ok(true);
        }
    }
    Ok(false)
}
