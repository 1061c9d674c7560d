//! F2FS.

mod screened;

use super::{BASE, Filesystem};
use crate::abilities;
use crate::guarantees::GuaranteeOption;
use crate::mkfs_words::Value::Devices;
use crate::mkfs_words::{Grammar, MAKES_NOTHING};
use crate::other_devices::{Bytes, Image};
use crate::promises::{JOURNALED, barriers_off, without_barriers};
use crate::same_names::NamePlaces;
use crate::signature::At::Start;
use crate::signature::Marks;
use model::lane::{CrashEffect, Promises};
use std::io::Result;

/// F2FS.
pub(super) static F2FS: Filesystem = Filesystem {
    name: "f2fs",
    features: include_str!("../../../../features/f2fs.toml"),
    minimum_bytes: 128 * model::Bytes::MIB,
    mkfs: &["mkfs.f2fs", "-q", "-f", "-t", "0"],
    mkfs_silencer: Some("-q"),
    package: "f2fs-tools",
    mkfs_takes: &MKFS,
    mkfs_word_lists: &["-O"],
    screened: screened::OPTIONS,
    mkfs_encryption: Some(("-O", "encrypt")),
    mkfs_block_of_page: Some("-b"),
    module: "f2fs",
    mount_options: &["nodiscard"],
    plain_options: &[
        "active_logs",
        "background_gc",
        "compress_algorithm",
        "compress_cache",
        "extent_cache",
        "flush_merge",
        "fsync_mode",
        "gc_merge",
        "inline_data",
        "inline_dentry",
        "inline_xattr",
        "mode",
        "reserve_root",
        "whint_mode",
    ],
    // It goes on by default, its images say nothing about it, and kernels before 6.5 refuse the word.
    careful: Some(&[]),
    promises,
    guarantee_options: GUARANTEE_OPTIONS,
    lacks: abilities::reflink,
    marks: Marks { magics: &[(&[Start(1024)], &[0x10, 0x20, 0xF5, 0xF2])], begins_with_zeros: true, ..Marks::NONE },
    names: NamePlaces {
        uuids: &[(Start(1024 + 108), 16)],
        wide_labels: &[(Start(1024 + 124), 1024)],
        ..NamePlaces::NONE
    },
    names_others: Some(names_others),
    ..BASE
};

/// f2fs.rst of Linux 6.18.
const GUARANTEE_OPTIONS: &[GuaranteeOption] = &[
    GuaranteeOption::new("fsync", &["fsync_mode=strict"], Some(CrashEffect::CommitsAllAtFsync)),
    GuaranteeOption::new("fsync", &["fsync_mode=posix"], None),
    GuaranteeOption::new("flush", &["data_flush"], Some(CrashEffect::CommitsAllData)),
];

/// mkfs.f2fs(8) and the sources of f2fs-tools 1.15 and 1.16. Versions differ in whether -g and -S take a value; a word
/// that is none then is a number of sectors.
const MKFS: Grammar = Grammar {
    flags: "fimqrH",
    texts: "abdegloswzCEORSTUtZ",
    others: &[('c', Devices), ('V', MAKES_NOTHING)],
    ..Grammar::NONE
};

fn promises(_: &[String], mount: &[String]) -> Promises {
    let off = barriers_off(mount) || mount.iter().any(|option| option == "fsync_mode=nobarrier");
    let mut promises = without_barriers(JOURNALED, off);
    if mount.iter().any(|option| option.starts_with("checkpoint=disable")) {
        promises.journal = false;
        promises.fsync_reaches_stable_storage = false;
    }
    // f2fs.rst: the mount after a crash goes back to the last checkpoint, and leaves what was synced since.
    if mount.iter().any(|option| ["disable_roll_forward", "norecovery"].contains(&option.as_str())) {
        promises.fsync_reaches_stable_storage = false;
    }
    promises
}

/// include/linux/f2fs_fs.h: paths of its devices, which the kernel opens; in either of its two superblocks.
fn names_others(image: &Image) -> Result<Option<String>> {
    const DEVICES: usize = 8;
    const DEVICE_BYTES: usize = 68;
    for at in [1024, 4096 + 1024] {
        let superblock = Bytes::new(image, at, 2201 + DEVICES * DEVICE_BYTES)?;
        let names = (0..DEVICES).any(|device| superblock.0[2201 + device * DEVICE_BYTES] != 0);
        if superblock.le32(0) == 0xF2F5_2010 && names {
            return Ok(Some("it names other devices".to_owned()));
        }
    }
    Ok(None)
}
