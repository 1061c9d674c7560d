//! XFS.

mod screened;

use super::{BASE, Checker, Filesystem};
use crate::abilities::{Lack, listed};
use crate::geometry::{all_but, value_of};
use crate::guarantees::GuaranteeOption;
use crate::mkfs_words::Value::{Device, Keys, Refused};
use crate::mkfs_words::{COPIES_A_FOLDER, Grammar, MAKES_NOTHING, NAMES_THE_LANE, READS_A_FILE};
use crate::other_devices::{Bytes, Image};
use crate::promises::JOURNALED;
use crate::same_names::NamePlaces;
use crate::signature::At::Start;
use crate::signature::Marks;
use model::lane::CrashEffect;
use model::operations::Ability;
use std::io::Result;
use std::os::fd::{AsFd, AsRawFd};

/// XFS.
pub(super) static XFS: Filesystem = Filesystem {
    name: "xfs",
    features: include_str!("../../../../features/xfs.toml"),
    minimum_bytes: 300 * model::Bytes::MIB,
    // Not quiet: what it prints is the geometry.
    mkfs: &["mkfs.xfs", "-f", "-K"],
    package: "xfsprogs",
    mkfs_takes: &MKFS,
    mkfs_word_lists: &["-b", "-d", "-i", "-l", "-m", "-n", "-r", "-s"],
    screened: screened::OPTIONS,
    geometry: |mkfs_output, _| facts(mkfs_output),
    // All of its geometry, and the device's name, which the next one does not have.
    makes: |mkfs_output, device| all_but(&mkfs_output.replace(&*device.to_string_lossy(), "device"), &[]),
    module: "xfs",
    mount_options: &["nodiscard"],
    mount_devices: &["logdev", "rtdev"],
    plain_options: &[
        "allocsize",
        "filestreams",
        "ikeep",
        "inode32",
        "inode64",
        "largeio",
        "logbsize",
        "logbufs",
        "sunit",
        "swalloc",
        "swidth",
        "wsync",
    ],
    // It has no such word: what stops at its errors is fs.xfs.panic_mask, the machine's own.
    careful: Some(&[]),
    copy_options: &["nouuid"],
    // It has had no way to switch barriers off since Linux 4.19.
    promises: |_, _| JOURNALED,
    // admin-guide/xfs.rst of Linux 6.18.
    guarantee_options: &[GuaranteeOption::new("wsync", &["wsync"], Some(CrashEffect::SynchronousNames))],
    // mkfs.xfs(8) -m crc.
    metadata_checksums: |geometry| Some(value_of(geometry, "meta-data crc")? == "1"),
    lacks,
    checker: Some(Checker::from_look("xfsprogs", &["xfs_repair", "-n", "{device}"])),
    marks: Marks { magics: &[(&[Start(0)], b"XFSB")], ..Marks::NONE },
    names: NamePlaces { uuids: &[(Start(32), 16)], labels: &[(Start(108), 12)], ..NamePlaces::NONE },
    names_others: Some(names_others),
    ..BASE
};

/// mkfs.xfs(8) and the sources of xfsprogs 6.1 to 6.12.
const MKFS: Grammar = Grammar {
    flags: "fqCK",
    texts: "bimnsL",
    others: &[
        ('d', Keys(&[("file", NAMES_THE_LANE), ("name", NAMES_THE_LANE)])),
        ('l', Keys(&[("logdev", Device), ("name", Device), ("file", Refused("makes a file"))])),
        ('r', Keys(&[("rtdev", Device), ("name", Device), ("file", Refused("makes a file"))])),
        ('c', READS_A_FILE),
        ('p', COPIES_A_FOLDER),
        ('N', MAKES_NOTHING),
        ('V', MAKES_NOTHING),
    ],
    ..Grammar::NONE
};

/// libxfs/xfs_fs.h, `struct xfs_fs_eofblocks`.
#[repr(C)]
struct FreeAllocated {
    version: u32,
    flags: u32,
    owners: [u32; 4],
    least_bytes: u64,
    reserved: [u64; 12],
}

/// `_IOR('X', 58, struct xfs_fs_eofblocks)`.
const FREE_ALLOCATED: libc::Ioctl = 0x8080_583A_u32 as libc::Ioctl;
/// All that can be freed is, before the call ends.
const AND_WAIT: u32 = 1;

/// Gives back what XFS allocated behind the ends of files in case they grow, as an unmount does: until then it is counted as in use.
/// Of another filesystem, and without the right to ask, nothing is given back.
pub(crate) fn free_allocated_ahead(folder: &impl AsFd) {
    let arguments = FreeAllocated { version: 1, flags: AND_WAIT, owners: [0; 4], least_bytes: 0, reserved: [0; 12] };
    // SAFETY: the ioctl reads 128 bytes, which `FreeAllocated` is (repr(C), no padding) and which live across the call; the
    // descriptor is open. Other filesystems do not know the number and read nothing.
    let _ = unsafe { libc::ioctl(folder.as_fd().as_raw_fd(), FREE_ALLOCATED, &raw const arguments) };
}

/// mkfs.xfs prints sections of `key=value`; the section's name stands before the first `=`.
fn facts(text: &str) -> Vec<String> {
    let mut lines = Vec::new();
    let mut section = String::new();
    for line in text.lines() {
        let Some((head, rest)) = line.split_once('=') else { continue };
        if !head.trim().is_empty() {
            section = head.trim().to_owned();
        }
        let wanted: &[&str] = match section.as_str() {
            "meta-data" => &["isize", "agcount", "agsize", "crc", "reflink", "rmapbt", "finobt", "bigtime"],
            "data" => &["bsize", "blocks"],
            "log" => &["blocks"],
            _ => &[],
        };
        // `isize = 512`, `isize=512    agcount=4, agsize=32768 blks` are all met in the wild.
        let rest = rest.replace("= ", "=");
        for word in rest.split([' ', ',', '\t']) {
            if let Some((key, value)) = word.split_once('=')
                && wanted.contains(&key)
            {
                lines.push(format!("{section} {key}: {value}"));
            }
        }
    }
    lines
}

/// Blocks are shared with the reverse mapping of mkfs.xfs's default; `crc=0` takes it away too.
fn lacks(mkfs: &[String], _: &[String]) -> Vec<Lack> {
    let reflink = listed(mkfs, "-m", &["reflink=0"], &["reflink=1", "reflink"], true);
    let crc = listed(mkfs, "-m", &["crc=0"], &["crc=1", "crc"], true);
    match (reflink, crc) {
        (true, true) => Vec::new(),
        (false, _) => vec![Lack { ability: Ability::Reflink, remedy: Some("remove reflink=0 from its mkfs options") }],
        (true, false) => vec![Lack { ability: Ability::Reflink, remedy: Some("remove crc=0 from its mkfs options") }],
    }
}

/// fs/xfs/libxfs/xfs_format.h: a log or a realtime section on another device.
fn names_others(image: &Image) -> Result<Option<String>> {
    let superblock = Bytes::new(image, 0, 512)?;
    if superblock.at::<4>(0) != *b"XFSB" {
        return Ok(None);
    }
    let (realtime_blocks, log_start, realtime_start) = (superblock.be64(16), superblock.be64(48), superblock.be64(288));
    Ok(match (log_start, realtime_blocks, realtime_start) {
        (0, ..) => Some("its log lies on another device".to_owned()),
        // Zoned filesystems, since Linux 6.15, may have it on the same.
        (_, 1.., 0) => Some("its realtime section lies on another device".to_owned()),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    fn words(line: &str) -> Vec<String> {
        line.split_whitespace().map(str::to_owned).collect()
    }

    #[test]
    fn options_of_mkfs_take_reflink_away_and_give_it_back() {
        for (mkfs, has) in [
            ("", true),
            ("-mreflink=0", false),
            ("-m reflink=0", false),
            ("-m crc=1,reflink=0", false),
            ("-m crc=0", false),
            ("-m reflink=0 -m reflink=1", true),
            ("-i size=512", true),
        ] {
            assert_eq!(lacks(&words(mkfs), &[]).is_empty(), has, "{mkfs}");
        }
        assert_eq!(lacks(&words("-m reflink=0"), &[])[0].remedy, Some("remove reflink=0 from its mkfs options"));
    }

    #[test]
    fn what_its_mkfs_prints_is_read() {
        let text = "meta-data=/dev/loop0   isize=512    agcount=4, agsize=32768 blks\n\
            \x20        =             crc=1        finobt=1, sparse=1, rmapbt=0\n\
            data     =             bsize=4096   blocks=131072, imaxpct=25\n\
            log      =internal log bsize=4096   blocks=16384, version=2\n";
        let lines = facts(text);
        assert!(lines.contains(&"meta-data agcount: 4".to_owned()), "{lines:?}");
        assert!(lines.contains(&"log blocks: 16384".to_owned()), "{lines:?}");
        assert!(lines.contains(&"meta-data rmapbt: 0".to_owned()), "{lines:?}");
        let again = text.replace("/dev/loop0   ", "/dev/loop12  ");
        let made = |text: &str, device: &str| (XFS.makes)(text, Path::new(device));
        assert_eq!(made(text, "/dev/loop0"), made(&again, "/dev/loop12"));
        assert_ne!(made(text, "/dev/loop0"), made(&text.replace("sparse=1", "sparse=0"), "/dev/loop0"));
    }
}
