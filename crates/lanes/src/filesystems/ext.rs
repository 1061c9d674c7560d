//! Ext2, ext3 and ext4.

mod screened;

use super::{BASE, Checker, Filesystem};
use crate::abilities::{Lack, always, listed};
use crate::command;
use crate::geometry::{all_but, pick, value_of};
use crate::guarantees::GuaranteeOption;
use crate::mkfs_words::Value::{Device, Keys, Refused};
use crate::mkfs_words::{COPIES_A_FOLDER, Grammar, MAKES_NOTHING, READS_A_FILE, STOPS_THE_MACHINE};
use crate::other_devices::{Bytes, Image};
use crate::plain::is_plain;
use crate::promises::{JOURNALED, barriers_off, last_word, without_barriers};
use crate::same_names::NamePlaces;
use crate::signature::At::Start;
use crate::signature::Marks;
use model::lane::{CrashEffect, Promises};
use model::operations::Ability;
use std::io::Result;
use std::path::Path;
use std::sync::atomic::AtomicBool;

const EXTENDED: &str = "nodiscard,lazy_itable_init=0,lazy_journal_init=0";

/// What the three have in common.
const EXT: Filesystem = Filesystem {
    minimum_bytes: 64 * model::Bytes::MIB,
    // mke2fs takes its small-disk profile (1 KiB blocks below 512 MiB on older versions, a 4 to 16 MiB journal, more
    // inodes) below this size.
    comfortable: Some((
        model::Bytes::GIB,
        "below 1 GiB mke2fs makes a journal of 16 MiB or less, below 512 MiB it takes its small profile",
    )),
    package: "e2fsprogs",
    mkfs_takes: &MKE2FS,
    mkfs_lists: &["-E"],
    mkfs_word_lists: &["-E", "-J", "-O"],
    // An inode of 256 bytes for each 16 KiB, and its journal (384 MiB of 16 GiB, 96 MiB of 2 GiB; mke2fs 1.47).
    mkfs_writes: 1.0 / 48.0,
    geometry: |_, device| facts(&dumpe2fs(device)),
    makes: |_, device| all_but(&dumpe2fs(device), BY_CHANCE),
    module: "ext4",
    mount_options: &["nodiscard"],
    mount_devices: &["journal_path"],
    mount_refused: &[
        ("journal_dev", "it names a device by its number; name it by its path: journal_path=/dev/disk/by-id/…"),
        ("sb", "the kernel would take another superblock than the one that is made and looked at"),
    ],
    plain_options: &[
        "auto_da_alloc",
        "block_validity",
        "delalloc",
        "dioread_lock",
        "dioread_nolock",
        "init_itable",
        "inode_readahead_blks",
        "journal_async_commit",
        "journal_checksum",
        "journal_ioprio",
        "max_batch_time",
        "max_dir_size_kb",
        "min_batch_time",
        "nodelalloc",
        "orlov",
        "stripe",
    ],
    careful: Some(&["errors=remount-ro"]),
    guarantee_options: GUARANTEE_OPTIONS,
    commit_seconds: Some(5),
    metadata_checksums: |geometry| {
        let features = value_of(geometry, "Filesystem features")?;
        Some(features.split_whitespace().any(|feature| feature == "metadata_csum"))
    },
    mounted_journal,
    checker: Some(Checker {
        package: "e2fsprogs",
        look: &["e2fsck", "-fn", "{device}"],
        repair: &["e2fsck", "-fy", "{device}"],
        replays: false,
        has_journal: |image| Ok(superblocks(image)?.iter().any(has_journal)),
    }),
    marks: Marks {
        name: Some("ext2/ext3/ext4"),
        magics: &[(&[Start(1024 + 56)], &[0x53, 0xEF])],
        begins_with_zeros: true,
        begins_as_hfs: true,
        ..Marks::NONE
    },
    names: NamePlaces {
        uuids: &[(Start(1024 + 104), 16)],
        labels: &[(Start(1024 + 120), 16)],
        copies: copied_names,
        ..NamePlaces::NONE
    },
    names_others: Some(names_others),
    ..BASE
};

/// Ext2.
pub(super) static EXT2: Filesystem = Filesystem {
    name: "ext2",
    features: include_str!("../../../../features/ext2.toml"),
    mkfs: &["mkfs.ext2", "-q", "-F", "-E", EXTENDED],
    module: "ext2",
    // The driver of ext4, where that one says so.
    other_module: Some(("ext4", "fs-ext2")),
    // The ext2 driver knows no discard at all.
    mount_options: &[],
    promises: |mkfs, mount| promises(mkfs, mount, false),
    // These are of a journal.
    guarantee_options: &[],
    commit_seconds: None,
    // The driver of ext2 knows no fallocate, whatever mkfs made.
    lacks: |_, mount| lacks(&[], mount, false),
    ..EXT
};

/// Ext3.
pub(super) static EXT3: Filesystem = Filesystem {
    name: "ext3",
    features: include_str!("../../../../features/ext3.toml"),
    mkfs: &["mkfs.ext3", "-q", "-F", "-E", EXTENDED],
    promises: |mkfs, mount| promises(mkfs, mount, true),
    lacks: |mkfs, mount| lacks(mkfs, mount, false),
    ..EXT
};

/// Ext4.
pub(super) static EXT4: Filesystem = Filesystem {
    name: "ext4",
    features: include_str!("../../../../features/ext4.toml"),
    mkfs: &["mkfs.ext4", "-q", "-F", "-E", EXTENDED],
    mkfs_encryption: Some(("-O", "encrypt")),
    screened: screened::OPTIONS,
    promises: |mkfs, mount| promises(mkfs, mount, true),
    lacks: |mkfs, mount| lacks(mkfs, mount, true),
    ..EXT
};

/// Documentation/filesystems/ext4/ and admin-guide/ext4.rst of Linux 6.18.
const GUARANTEE_OPTIONS: &[GuaranteeOption] = &[
    GuaranteeOption::new("data", &["data=writeback"], Some(CrashEffect::StaleAfterCrash)),
    GuaranteeOption::new("data", &["data=journal"], Some(CrashEffect::JournalsData)),
    GuaranteeOption::new("data", &["data=ordered"], None),
    GuaranteeOption::new("async commit", &["journal_async_commit"], Some(CrashEffect::CommitsOutOfOrder)),
    GuaranteeOption::new("replace", &["noauto_da_alloc", "auto_da_alloc=0"], Some(CrashEffect::ReplacedMayBeEmpty)),
    GuaranteeOption::new("replace", &["auto_da_alloc", "auto_da_alloc=1"], None),
    GuaranteeOption::new("allocation", &["nodelalloc"], Some(CrashEffect::AllocatesAtOnce)),
    GuaranteeOption::new("allocation", &["delalloc"], None),
];

/// tune2fs(8) has it, mke2fs(8) has not.
const OF_TUNE2FS: &str =
    "is known to tune2fs alone, and an option of the mount stands behind a comma, as in ext4,nodelalloc";

/// mkfs.ext2, mkfs.ext3, mkfs.ext4: mke2fs(8) and the source of e2fsprogs 1.47.
const MKE2FS: Grammar = Grammar {
    flags: "jqvDFK",
    texts: "bgimorstCGILMNOTU",
    others: &[
        ('E', Keys(&[("mount_opts", Refused(OF_TUNE2FS))])),
        ('e', Keys(&[("panic", STOPS_THE_MACHINE)])),
        ('c', Refused("starts another program, badblocks, by a shell")),
        ('J', Keys(&[("device", Device)])),
        ('R', Refused("is the old name of -E")),
        ('d', COPIES_A_FOLDER),
        ('l', READS_A_FILE),
        ('z', Refused("writes a file")),
        ('S', Refused("writes superblocks alone, and no filesystem")),
        ('n', MAKES_NOTHING),
        ('V', MAKES_NOTHING),
    ],
    ..Grammar::NONE
};

/// What `dumpe2fs -h` tells of a fresh filesystem that the next one has otherwise.
const BY_CHANCE: &[&str] = &[
    "Filesystem UUID",
    "Filesystem created",
    "Last mount time",
    "Last write time",
    "Last checked",
    "Next check after",
    "Lifetime writes",
    "Directory Hash Seed",
    "Checksum",
    "Checksum seed",
    "Journal checksum",
];

/// What `dumpe2fs -h` prints; empty: it cannot be run.
fn dumpe2fs(device: &Path) -> String {
    let arguments = ["dumpe2fs", "-h"].map(str::to_owned).into_iter();
    let arguments: Vec<String> = arguments.chain([device.to_string_lossy().into_owned()]).collect();
    command::run(&arguments, &AtomicBool::new(false)).map(|output| output.stdout).unwrap_or_default()
}

fn facts(text: &str) -> Vec<String> {
    pick(
        text,
        &[
            "Filesystem features",
            "Block count",
            "Block size",
            "Inode count",
            "Inode size",
            "Reserved block count",
            "Total journal size",
            "Journal size",
        ],
    )
}

/// `journal_by_default` is what tells the three apart.
fn promises(mkfs: &[String], mount: &[String], journal_by_default: bool) -> Promises {
    let mut journal = journal_by_default;
    let mut arguments = mkfs.iter().peekable();
    while let Some(argument) = arguments.next() {
        let mut value_of = |flag: &str| match argument.strip_prefix(flag) {
            Some("") => arguments.peek().map(|value| value.to_string()),
            Some(value) => Some(value.to_owned()),
            None => None,
        };
        if let Some(features) = value_of("-O") {
            for feature in features.split(',') {
                match feature {
                    "has_journal" => journal = true,
                    "^has_journal" | "none" => journal = false,
                    _ => {}
                }
            }
        } else if argument == "-j" {
            journal = true;
        }
    }
    if last_word(mount, &["noload", "norecovery"], &[]).unwrap_or(false) {
        journal = false;
    }
    without_barriers(Promises { journal, ..JOURNALED }, barriers_off(mount))
}

/// Only its driver tells.
fn mounted_journal(block: &str) -> Option<bool> {
    let task = std::fs::read_to_string(format!("/sys/fs/ext4/{block}/journal_task")).ok()?;
    Some(task.trim() != "<none>")
}

/// Ext2 and ext3 map blocks one by one, and only extents are allocated ahead (ext4_fallocate).
fn lacks(mkfs: &[String], mount: &[String], extents: bool) -> Vec<Lack> {
    let mut lacks = always(&[Ability::Reflink]);
    if !listed(mkfs, "-O", &["^extent", "^extents", "none"], &["extent", "extents"], extents) {
        let remedy = extents.then_some("leave extents on");
        lacks.push(Lack { ability: Ability::Allocation, remedy });
    }
    if mount.iter().any(|option| option == "nouser_xattr") {
        lacks.push(Lack { ability: Ability::Attributes, remedy: Some("remove nouser_xattr") });
    }
    lacks
}

/// fs/ext4/ext4.h: a journal on another device, by number or by UUID.
fn names_others(image: &Image) -> Result<Option<String>> {
    for superblock in superblocks(image)? {
        let (uuid, inode, number) = (superblock.at::<16>(208), superblock.le32(224), superblock.le32(228));
        if superblock.le32(96) & 0x8 != 0 {
            return Ok(Some("it is the journal of another filesystem".to_owned()));
        }
        if (has_journal(&superblock) && inode == 0) || number != 0 || uuid != [0; 16] {
            return Ok(Some("its journal lies on another device".to_owned()));
        }
        // To the kernel that is a filesystem, to libblkid nothing at all.
        if superblock.le32(96) & 0x4 != 0 && !has_journal(&superblock) {
            return Ok(Some("it asks for its journal to be put into effect, and has none".to_owned()));
        }
        if !own_options(&superblock).iter().all(|option| is_plain(option)) {
            return Ok(Some("it has mount options of its own, which do not speak for themselves".to_owned()));
        }
    }
    Ok(None)
}

/// What the kernel takes for mount options before those of the mount: a journal on another device may be among them.
fn own_options(superblock: &Bytes) -> Vec<String> {
    let text: Vec<u8> = superblock.at::<64>(512).into_iter().take_while(|&byte| byte != 0).collect();
    let text = String::from_utf8_lossy(&text).into_owned();
    text.split(',').filter(|option| !option.is_empty()).map(str::to_owned).collect()
}

fn has_journal(superblock: &Bytes) -> bool {
    superblock.le32(92) & 0x4 != 0
}

/// The superblock that the kernel takes, and those that e2fsck looks for where that one is damaged.
fn superblocks(image: &Image) -> Result<Vec<Bytes>> {
    const BYTES: usize = 1024;
    const FIRST: u64 = 1024;
    let first = Bytes::new(image, FIRST, BYTES)?;
    // A copy begins each group of blocks, of which there are eight for each byte of a block.
    let usual = (0..7).map(|power| 1024u64 << power).map(|block| start(block * 8, block));
    let block = 1024u64 << first.le32(24).min(6);
    let group = u64::from(first.le32(32)) + u64::from(first.le32(20));
    let mut found = Vec::new();
    for at in usual.chain([group * block, FIRST]) {
        let superblock = Bytes::new(image, at, BYTES)?;
        if superblock.le16(56) == 0xEF53 {
            found.push(superblock);
        }
    }
    Ok(found)
}

/// The byte at which the block of a copy begins; with blocks of 1 KiB the first group begins behind the boot block.
fn start(block: u64, bytes: u64) -> u64 {
    (block + u64::from(bytes == 1024)) * bytes
}

/// Whoever repairs it may make any of the superblocks the first.
fn copied_names(image: &Image) -> Result<Vec<[Vec<u8>; 2]>> {
    Ok(superblocks(image)?.iter().map(|of| [of.0[104..120].to_vec(), of.0[120..136].to_vec()]).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<String> {
        line.split_whitespace().map(str::to_owned).collect()
    }

    fn abilities(lacks: &[Lack]) -> Vec<Ability> {
        lacks.iter().map(|lack| lack.ability).collect()
    }

    #[test]
    fn a_journal_depends_on_the_feature_list() {
        for (mkfs, journal) in [
            ("", true),
            ("-O ^has_journal", false),
            ("-O^has_journal,extent", false),
            ("-O extent,^has_journal -b 1024", false),
            ("-O ^has_journal -O has_journal", true),
        ] {
            assert_eq!((EXT4.promises)(&words(mkfs), &[]).journal, journal, "{mkfs}");
        }
        assert!(!(EXT2.promises)(&[], &[]).journal);
        assert!((EXT2.promises)(&words("-j"), &[]).journal);
        assert_eq!((EXT4.promises)(&[], &words("nobarrier barrier=1 data=writeback")), JOURNALED);
    }

    #[test]
    fn options_of_mkfs_take_abilities_away() {
        for (mkfs, has) in [("", true), ("-O ^extent", false), ("-O^extents,^has_journal", false)] {
            assert_eq!(!abilities(&(EXT4.lacks)(&words(mkfs), &[])).contains(&Ability::Allocation), has, "{mkfs}");
        }
        assert!(!abilities(&(EXT3.lacks)(&words("-O extent"), &[])).contains(&Ability::Allocation));
        assert!(abilities(&(EXT2.lacks)(&words("-O extent"), &[])).contains(&Ability::Allocation));
        assert!(abilities(&(EXT4.lacks)(&[], &words("nouser_xattr"))).contains(&Ability::Attributes));
    }

    #[test]
    fn what_dumpe2fs_tells_is_read() {
        let text = "Inode count:              32768\nInode size:\t          256\nTotal journal size:       16M\n";
        assert_eq!(facts(text), ["Inode count: 32768", "Inode size: 256", "Total journal size: 16M"]);
    }
}
