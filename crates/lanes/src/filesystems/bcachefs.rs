//! Bcachefs.

use super::{BASE, Filesystem};
use crate::mkfs_words::Value::Keys;
use crate::mkfs_words::{COPIES_A_FOLDER, Grammar, STOPS_THE_MACHINE};
use crate::other_devices::{Bytes, Image};
use crate::promises::{JOURNALED, without_barriers};
use crate::same_names::NamePlaces;
use crate::signature::At::{End, Start};
use crate::signature::{BCACHE, Magic, Marks, SECTOR};
use model::lane::Promises;
use std::io::Result;

const FIRST: u64 = 4096;
const COPY: u64 = 2 << 20;
/// Where its last superblock stands: so many bytes before the end.
const LAST: u64 = 1 << 20;
const MAGIC: &[u8] = &[0xC6, 0x85, 0x73, 0xF6, 0x66, 0xCE, 0x90, 0xA9];
const MAGICS: Magic = (&[Start(FIRST + 24), Start(COPY + 24), End(LAST - 24, SECTOR)], MAGIC);

/// Bcachefs.
pub(super) static BCACHEFS: Filesystem = Filesystem {
    name: "bcachefs",
    features: include_str!("../../../../features/bcachefs.toml"),
    minimum_bytes: 256 * model::Bytes::MIB,
    mkfs: &["mkfs.bcachefs", "-q", "-f"],
    package: "bcachefs-tools",
    mkfs_takes: &MKFS,
    module: "bcachefs",
    mount_options: &["nodiscard"],
    plain_options: &["compression", "replicas", "str_hash"],
    careful: Some(&["errors=ro"]),
    promises,
    marks: Marks {
        magics: &[MAGICS, (&[Start(FIRST + 24)], BCACHE)],
        joined: &[MAGICS],
        begins_with_zeros: true,
        ..Marks::NONE
    },
    names: NamePlaces {
        uuids: &[(Start(FIRST + 56), 16), (Start(COPY + 56), 16), (End(LAST - 56, SECTOR), 16)],
        labels: &[(Start(FIRST + 72), 32), (Start(COPY + 72), 32), (End(LAST - 72, SECTOR), 32)],
        ..NamePlaces::NONE
    },
    names_others: Some(names_others),
    ..BASE
};

/// mkfs.bcachefs: bcachefs(8) and the sources of bcachefs-tools 1.x. Further devices are words without an option there,
/// so a lane has one.
const MKFS: Grammar = Grammar {
    flags: "fqv",
    texts: "LU",
    long_flags: &[
        "acl",
        "discard",
        "force",
        "grpquota",
        "inodes_32bit",
        "prjquota",
        "quiet",
        "usrquota",
        "verbose",
        "wide_macs",
    ],
    long_texts: &[
        "background_compression",
        "block_size",
        "btree_node_size",
        "bucket",
        "bucket_size",
        "compression",
        "data_allowed",
        "data_checksum",
        "data_replicas",
        "durability",
        "fs_label",
        "fs_size",
        "gc_reserve_percent",
        "label",
        "metadata_checksum",
        "metadata_replicas",
        "replicas",
        "root_reserve_percent",
        "str_hash",
        "superblock_size",
        "uuid",
        "version",
    ],
    long_others: &[("source", COPIES_A_FOLDER), ("errors", Keys(&[("panic", STOPS_THE_MACHINE)]))],
    ..Grammar::NONE
};

fn promises(mkfs: &[String], mount: &[String]) -> Promises {
    let all = || mkfs.iter().chain(mount).map(|option| option.trim_start_matches('-'));
    let data_checksums = !all().any(|option| option == "data_checksum=none");
    let off = all().any(|option| option == "journal_flush_disabled");
    without_barriers(Promises { data_checksums, ..JOURNALED }, off)
}

/// fs/bcachefs/bcachefs_format.h: more devices than one. The kernel opens those that the mount names and no others.
fn names_others(image: &Image) -> Result<Option<String>> {
    let superblock = Bytes::new(image, FIRST, 512)?;
    let is_one = superblock.at::<4>(24) == MAGIC[..4];
    Ok((is_one && superblock.0[123] != 1).then(|| "it has more devices than one, or none".to_owned()))
}
