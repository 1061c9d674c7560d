//! ReiserFS, of format 3.6 or 3.5.

use super::{BASE, Filesystem};
use crate::abilities::{Lack, always};
use crate::guarantees::GuaranteeOption;
use crate::mkfs_words::Value::Device;
use crate::mkfs_words::{Grammar, MAKES_NOTHING, READS_A_FILE};
use crate::other_devices::{Bytes, Image};
use crate::promises::{JOURNALED, last_word, without_barriers};
use crate::same_names::NamePlaces;
use crate::signature::At::{self, Start};
use crate::signature::Marks;
use model::lane::{CrashEffect, Promises};
use model::operations::Ability;
use std::io::Result;

/// Where its superblock stands today, and where it stood of old.
const TODAY: u64 = 64 << 10;
const OF_OLD: u64 = 8 << 10;
const MAGIC: &[At] = &[Start(OF_OLD + 52), Start(TODAY + 52)];

/// ReiserFS.
pub(super) static REISERFS: Filesystem = Filesystem {
    name: "reiserfs",
    features: include_str!("../../../../features/reiserfs.toml"),
    minimum_bytes: 128 * model::Bytes::MIB,
    mkfs: &["mkfs.reiserfs", "-q", "-f", "-f"],
    package: "reiserfsprogs",
    mkfs_takes: &MKFS,
    module: "reiserfs",
    // It knows no discard at all. Without `user_xattr` it keeps no attributes of users.
    mount_options: &["user_xattr"],
    mount_devices: &["jdev"],
    plain_options: &["hash", "tail"],
    careful: Some(&["errors=ro-remount"]),
    promises,
    guarantee_options: &[
        GuaranteeOption::new("data", &["data=writeback"], Some(CrashEffect::StaleAfterCrash)),
        GuaranteeOption::new("data", &["data=journal"], Some(CrashEffect::JournalsData)),
        GuaranteeOption::new("data", &["data=ordered"], None),
    ],
    commit_seconds: Some(30),
    lacks,
    marks: Marks {
        magics: &[
            (&[Start(OF_OLD + 52), Start(TODAY + 52), Start(OF_OLD + 20)], b"ReIsErFs"),
            (MAGIC, b"ReIsEr2Fs"),
            (MAGIC, b"ReIsEr3Fs"),
        ],
        begins_with_zeros: true,
        ..Marks::NONE
    },
    names: NamePlaces {
        uuids: &[(Start(TODAY + 84), 16), (Start(OF_OLD + 84), 16)],
        labels: &[(Start(TODAY + 100), 16), (Start(OF_OLD + 100), 16)],
        ..NamePlaces::NONE
    },
    names_others: Some(names_others),
    ..BASE
};

/// mkfs.reiserfs(8) and the source of reiserfsprogs 3.6.27.
const MKFS: Grammar = Grammar {
    flags: "dfq",
    texts: "bhlostu",
    others: &[('j', Device), ('B', READS_A_FILE), ('V', MAKES_NOTHING)],
    long_flags: &["debug", "force", "quiet"],
    long_texts: &[
        "block-size",
        "format",
        "hash",
        "journal-offset",
        "journal-size",
        "label",
        "transaction-max-size",
        "uuid",
    ],
    long_others: &[("badblocks", READS_A_FILE), ("journal-device", Device)],
    ..Grammar::NONE
};

/// Barriers are on unless `barrier=none` takes them away (fs/reiserfs/super.c).
fn promises(_: &[String], mount: &[String]) -> Promises {
    without_barriers(JOURNALED, last_word(mount, &["barrier=none"], &["barrier=flush"]).unwrap_or(false))
}

/// Its driver lists no types, without which overlays go on to list what was removed.
fn lacks(_: &[String], mount: &[String]) -> Vec<Lack> {
    let mut lacks = always(&[Ability::Reflink, Ability::Allocation, Ability::Overlays]);
    if mount.iter().any(|option| option == "nouser_xattr") {
        lacks.push(Lack { ability: Ability::Attributes, remedy: Some("remove nouser_xattr") });
    }
    lacks
}

/// fs/reiserfs/reiserfs.h: a journal on another device, by number; at the place of today or of old.
fn names_others(image: &Image) -> Result<Option<String>> {
    for at in [TODAY, OF_OLD] {
        let superblock = Bytes::new(image, at, 512)?;
        if superblock.at::<6>(52) == *b"ReIsEr" && superblock.le32(16) != 0 {
            return Ok(Some("its journal lies on another device".to_owned()));
        }
    }
    Ok(None)
}
