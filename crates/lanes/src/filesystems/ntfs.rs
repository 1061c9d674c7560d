//! NTFS, by the kernel's driver ntfs3 or by the program ntfs-3g.

use super::{BASE, Filesystem, Fuse};
use crate::abilities::{Lack, always};
use crate::mkfs_words::{Grammar, MAKES_NOTHING};
use crate::promises::JOURNALED;
use crate::same_names::NamePlaces;
use crate::signature::At::Start;
use crate::signature::Marks;
use model::lane::Promises;
use model::operations::Ability;

/// NTFS.
pub(super) static NTFS: Filesystem = Filesystem {
    name: "ntfs",
    features: include_str!("../../../../features/ntfs3.toml"),
    minimum_bytes: 64 * model::Bytes::MIB,
    mkfs: &["mkntfs", "-q", "-F", "-Q"],
    package: "ntfs-3g",
    mkfs_takes: &MKNTFS,
    module: "ntfs3",
    kernel_name: Some("ntfs3"),
    fuse: Some(Fuse {
        name: "ntfs-3g",
        mount: &["ntfs-3g", "-o", "no_detach,{options}", "{device}", "{directory}"],
        package: "ntfs-3g",
        lacks: program_lacks,
    }),
    // It has no such word.
    careful: Some(&[]),
    // Neither driver replays or writes the journal of NTFS for every change of metadata.
    promises: |_, _| Promises { journal: false, ..JOURNALED },
    // The kernel's ntfs3. Names are UTF-16; attributes of users are no namespace that it refuses.
    lacks: |_, _| always(&[Ability::Reflink, Ability::AnyNames]),
    marks: Marks { magics: &[(&[Start(3)], b"NTFS    ")], has_boot_sector: true, ..Marks::NONE },
    names: NamePlaces { uuids: &[(Start(72), 8)], ..NamePlaces::NONE },
    // Its format has no word for another device.
    names_others: Some(|_| Ok(None)),
    ..BASE
};

/// mkntfs(8) and the source of ntfs-3g 2022.
const MKNTFS: Grammar = Grammar {
    flags: "fqvCFIQTU",
    texts: "cpszHLS",
    others: &[('n', MAKES_NOTHING), ('h', MAKES_NOTHING), ('l', MAKES_NOTHING), ('V', MAKES_NOTHING)],
    long_flags: &[
        "debug",
        "enable-compression",
        "fast",
        "force",
        "no-indexing",
        "quick",
        "quiet",
        "verbose",
        "with-uuid",
        "zero-time",
    ],
    long_texts: &[
        "cluster-size",
        "heads",
        "label",
        "mft-zone-multiplier",
        "partition-start",
        "sector-size",
        "sectors-per-track",
    ],
    ..Grammar::NONE
};

/// The program: its FUSE interface has no fallocate, and without its option `permissions` it takes a change of
/// the owner and forgets it. The kernel lays no overlay on a filesystem whose names may change behind its back.
fn program_lacks(_: &[String], mount: &[String]) -> Vec<Lack> {
    let mut lacks = always(&[Ability::Reflink, Ability::Allocation, Ability::Overlays]);
    if !mount.iter().any(|option| option == "permissions") {
        lacks.push(Lack { ability: Ability::Owners, remedy: Some("add the mount option permissions") });
    }
    lacks
}
