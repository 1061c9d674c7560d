//! JFS.

use super::{BASE, Checker, Filesystem};
use crate::abilities::always;
use crate::mkfs_words::Value::{Device, Keys, Refused};
use crate::mkfs_words::{Grammar, MAKES_NOTHING};
use crate::other_devices::{Bytes, Image};
use crate::promises::JOURNALED;
use crate::same_names::NamePlaces;
use crate::signature::At::Start;
use crate::signature::Marks;
use model::lane::Promises;
use model::operations::Ability;
use std::io::Result;

const FIRST: u64 = 0x8000;

/// JFS.
pub(super) static JFS: Filesystem = Filesystem {
    name: "jfs",
    features: include_str!("../../../../features/jfs.toml"),
    minimum_bytes: 64 * model::Bytes::MIB,
    mkfs: &["mkfs.jfs", "-q"],
    package: "jfsutils",
    mkfs_takes: &MKFS,
    module: "jfs",
    // It discards only where told to; its `nodiscard` is newer than some kernels.
    mount_options: &[],
    careful: Some(&["errors=remount-ro"]),
    promises,
    // Its driver shares no blocks, allocates none ahead, and lists no types, without which overlays go on to list what
    // was removed.
    lacks: |_, _| always(&[Ability::Reflink, Ability::Allocation, Ability::Overlays]),
    checker: Some(Checker {
        package: "jfsutils",
        look: &["jfs_fsck", "-fn", "{device}"],
        repair: &["jfs_fsck", "-p", "{device}"],
        replays: true,
        has_journal: |_| Ok(true),
    }),
    marks: Marks { magics: &[(&[Start(FIRST)], b"JFS1")], begins_with_zeros: true, ..Marks::NONE },
    names: NamePlaces { uuids: &[(Start(FIRST + 136), 16)], labels: &[(Start(FIRST + 152), 16)], ..NamePlaces::NONE },
    names_others: Some(names_others),
    ..BASE
};

/// mkfs.jfs(8) and the source of jfsutils 1.1.15.
const MKFS: Grammar = Grammar {
    flags: "cfqO",
    texts: "sL",
    others: &[
        ('j', Device),
        ('J', Keys(&[("device", Device), ("journal_dev", Refused("makes a journal, and no filesystem"))])),
        ('V', MAKES_NOTHING),
    ],
    ..Grammar::NONE
};

/// jfs writes no flush at all: the driver knows no barrier (fs/jfs/jfs_logmgr.c orders its log by waiting for it alone), and
/// fsync commits the log and ends there (jfs_fsync). `fairlane powercut jfs --on uml` counted 0 flushes at the disk for 300
/// records that fsync had confirmed, and 24 of 24 cuts lost some of them.
fn promises(_: &[String], mount: &[String]) -> Promises {
    let journal = !mount.iter().any(|option| option == "nointegrity");
    Promises { journal, barriers: false, fsync_reaches_stable_storage: false, ..JOURNALED }
}

/// fs/jfs/jfs_superblock.h: a log on another device, by number or by UUID; in either of its two superblocks.
fn names_others(image: &Image) -> Result<Option<String>> {
    const LOG_INSIDE: u32 = 0x800;
    for at in [FIRST, 0xF000] {
        let superblock = Bytes::new(image, at, 512)?;
        if superblock.at::<4>(0) == *b"JFS1" && superblock.le32(36) & LOG_INSIDE == 0 {
            return Ok(Some("its log lies on another device".to_owned()));
        }
    }
    Ok(None)
}
