//! The options that each mkfs takes from a lane: one table for each program. To add a filesystem: one table here, and
//! its row in `filesystem`.
//!
//! From the programs' own manuals and sources: e2fsprogs 1.47, xfsprogs 6.1 to 6.12, btrfs-progs 6.2 to 6.14, f2fs-tools
//! 1.15 and 1.16, nilfs-utils 2.2, exfatprogs 1.2, jfsutils 1.1.15, reiserfsprogs 3.6.27, ntfs-3g 2022, bcachefs-tools
//! 1.x. What only prints, only pretends or asks a question is no option of a lane.

use crate::mkfs_words::{Grammar, Value};
use Value::{Device, Devices, Keys, Refused};

const READS_A_FILE: Value = Refused("reads a file");
const COPIES_A_FOLDER: Value = Refused("copies files into the lane, which then is not fresh");
const STOPS_THE_MACHINE: Value = Refused("has the whole machine stop at the first error");
const NAMES_THE_LANE: Value = Refused("names what is formatted, and that is the lane's own device");

/// Nothing to make.
pub(crate) static NONE: Grammar =
    Grammar { flags: "", texts: "", others: &[], long_flags: &[], long_texts: &[], long_others: &[] };

/// mkfs.ext2, mkfs.ext3, mkfs.ext4.
pub(crate) static MKE2FS: Grammar = Grammar {
    flags: "jqvDFK",
    texts: "bgimorstCEGILMNOTU",
    others: &[
        ('e', Keys(&[("panic", STOPS_THE_MACHINE)])),
        ('c', Refused("starts another program, badblocks, by a shell")),
        ('J', Keys(&[("device", Device)])),
        ('R', Refused("is the old name of -E")),
        ('d', COPIES_A_FOLDER),
        ('l', READS_A_FILE),
        ('z', Refused("writes a file")),
        ('S', Refused("writes superblocks alone, and no filesystem")),
        ('n', Refused("makes no filesystem")),
        ('V', Refused("makes no filesystem")),
    ],
    long_flags: &[],
    long_texts: &[],
    long_others: &[],
};

/// mkfs.xfs.
pub(crate) static XFS: Grammar = Grammar {
    flags: "fqCK",
    texts: "bimnsL",
    others: &[
        ('d', Keys(&[("file", NAMES_THE_LANE), ("name", NAMES_THE_LANE)])),
        ('l', Keys(&[("logdev", Device), ("name", Device), ("file", Refused("makes a file"))])),
        ('r', Keys(&[("rtdev", Device), ("name", Device), ("file", Refused("makes a file"))])),
        ('c', READS_A_FILE),
        ('p', COPIES_A_FOLDER),
        ('N', Refused("makes no filesystem")),
        ('V', Refused("makes no filesystem")),
    ],
    long_flags: &[],
    long_texts: &[],
    long_others: &[],
};

/// mkfs.btrfs. Further devices are words without an option there, so a lane has one.
pub(crate) static BTRFS: Grammar = Grammar {
    flags: "fqvKM",
    texts: "bdlmnsLORU",
    others: &[('r', COPIES_A_FOLDER), ('A', Refused("is no longer heeded")), ('V', Refused("makes no filesystem"))],
    long_flags: &["force", "quiet", "verbose", "nodiscard", "mixed"],
    long_texts: &[
        "byte-count",
        "checksum",
        "csum",
        "data",
        "device-uuid",
        "features",
        "label",
        "leafsize",
        "metadata",
        "nodesize",
        "runtime-features",
        "sectorsize",
        "uuid",
    ],
    long_others: &[("rootdir", COPIES_A_FOLDER)],
};

/// mkfs.f2fs. Versions differ in whether -g and -S take a value; a word that is none then is a number of sectors.
pub(crate) static F2FS: Grammar = Grammar {
    flags: "fimqrH",
    texts: "abdegloswzCEORSTUtZ",
    others: &[('c', Devices), ('V', Refused("makes no filesystem"))],
    long_flags: &[],
    long_texts: &[],
    long_others: &[],
};

/// mkfs.nilfs2.
pub(crate) static NILFS2: Grammar = Grammar {
    flags: "cfqvK",
    texts: "bmBLOP",
    others: &[('n', Refused("makes no filesystem")), ('V', Refused("makes no filesystem"))],
    long_flags: &[],
    long_texts: &[],
    long_others: &[],
};

/// mkfs.exfat.
pub(crate) static EXFAT: Grammar = Grammar {
    flags: "fqv",
    texts: "bcnsLU",
    others: &[('V', Refused("makes no filesystem"))],
    long_flags: &["full-format", "pack-bitmap", "quiet", "verbose"],
    long_texts: &["boundary-align", "cluster-size", "sector-size", "volume-guid", "volume-label"],
    long_others: &[],
};

/// mkfs.jfs.
pub(crate) static JFS: Grammar = Grammar {
    flags: "cfqO",
    texts: "sL",
    others: &[
        ('j', Device),
        ('J', Keys(&[("device", Device), ("journal_dev", Refused("makes a journal, and no filesystem"))])),
        ('V', Refused("makes no filesystem")),
    ],
    long_flags: &[],
    long_texts: &[],
    long_others: &[],
};

/// mkfs.reiserfs.
pub(crate) static REISERFS: Grammar = Grammar {
    flags: "dfq",
    texts: "bhlostu",
    others: &[('j', Device), ('B', READS_A_FILE), ('V', Refused("makes no filesystem"))],
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
};

/// mkntfs.
pub(crate) static NTFS: Grammar = Grammar {
    flags: "fqvCFIQTU",
    texts: "cpszHLS",
    others: &[
        ('n', Refused("makes no filesystem")),
        ('h', Refused("makes no filesystem")),
        ('l', Refused("makes no filesystem")),
        ('V', Refused("makes no filesystem")),
    ],
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
    long_others: &[],
};

/// mkfs.bcachefs. Further devices are words without an option there, so a lane has one.
pub(crate) static BCACHEFS: Grammar = Grammar {
    flags: "fqv",
    texts: "LU",
    others: &[],
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
};
