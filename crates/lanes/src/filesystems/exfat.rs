//! ExFAT.

use super::{BASE, Filesystem};
use crate::abilities::always;
use crate::mkfs_words::{Grammar, MAKES_NOTHING};
use crate::promises::JOURNALED;
use crate::same_names::NamePlaces;
use crate::signature::At::Start;
use crate::signature::Marks;
use model::lane::Promises;
use model::operations::Ability;

/// ExFAT.
pub(super) static EXFAT: Filesystem = Filesystem {
    name: "exfat",
    features: include_str!("../../../../features/exfat.toml"),
    minimum_bytes: 64 * model::Bytes::MIB,
    mkfs: &["mkfs.exfat"],
    package: "exfatprogs",
    mkfs_takes: &MKFS,
    module: "exfat",
    // It discards only where told to, and knows no `nodiscard`.
    mount_options: &[],
    careful: Some(&["errors=remount-ro"]),
    promises: |_, _| Promises { journal: false, ..JOURNALED },
    // Names are UTF-16 without control characters, a file is an entry of one directory, and every cluster up to a file's
    // end is allocated.
    lacks: |_, _| {
        always(&[
            Ability::Reflink,
            Ability::Attributes,
            Ability::Links,
            Ability::SymbolicLinks,
            Ability::Holes,
            Ability::AnyNames,
            Ability::Owners,
            Ability::Overlays,
        ])
    },
    marks: Marks { magics: &[(&[Start(3)], b"EXFAT   ")], has_boot_sector: true, ..Marks::NONE },
    names: NamePlaces { uuids: &[(Start(100), 4)], ..NamePlaces::NONE },
    // Its format has no word for another device.
    names_others: Some(|_| Ok(None)),
    ..BASE
};

/// mkfs.exfat(8) and the source of exfatprogs 1.2.
const MKFS: Grammar = Grammar {
    flags: "fqv",
    texts: "bcnsLU",
    others: &[('V', MAKES_NOTHING)],
    long_flags: &["full-format", "pack-bitmap", "quiet", "verbose"],
    long_texts: &["boundary-align", "cluster-size", "sector-size", "volume-guid", "volume-label"],
    ..Grammar::NONE
};
