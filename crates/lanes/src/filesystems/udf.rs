//! UDF, the format of discs and of disks that several systems share.

use super::{BASE, Filesystem};
use crate::abilities::always;
use crate::mkfs_words::Value::Refused;
use crate::mkfs_words::{Grammar, MAKES_NOTHING, Value};
use crate::promises::JOURNALED;
use crate::signature::Marks;
use model::lane::Promises;
use model::operations::Ability;

/// UDF. Its signatures stand in `signature` as those of other discs do.
pub(super) static UDF: Filesystem = Filesystem {
    name: "udf",
    features: include_str!("../../../../features/udf.toml"),
    minimum_bytes: 64 * model::Bytes::MIB,
    // The same on an image and on a disk: left to itself it takes the kind of disk from what it is given, and writes a
    // partition table before a fixed one.
    mkfs: &["mkudffs", "--media-type=hd", "--bootarea=erase"],
    package: "udftools",
    mkfs_takes: &MKUDFFS,
    geometry: |mkfs_output, _| facts(mkfs_output),
    module: "udf",
    // It knows no discard at all.
    mount_options: &[],
    plain_options: &["adinicb", "longad", "shortad", "strict"],
    // It has no such word, and stops no machine.
    careful: Some(&[]),
    // fs/udf/file.c: fsync is generic_file_fsync, which ends with a flush of the device. Nothing orders metadata.
    promises: |_, _| Promises { journal: false, ..JOURNALED },
    // fs/udf/file.c has neither remap_file_range nor fallocate, and the driver no attributes of users; it lists no types,
    // without which overlays go on to list what was removed.
    lacks: |_, _| always(&[Ability::Reflink, Ability::Attributes, Ability::Allocation, Ability::Overlays]),
    marks: Marks { begins_with_zeros: true, ..Marks::NONE },
    // Its volume identifiers lie wherever its anchors say: an image of a stranger's is not looked at.
    names_others: None,
    ..BASE
};

const SAID: Value = Refused("is said by Fairlane already, once and for all lanes");
const OF_DISCS: Value = Refused("is for discs that are not written at any place, at any time");

/// mkudffs(8) of udftools 2.3, which takes each option once.
const MKUDFFS: Grammar = Grammar {
    texts: "blru",
    others: &[('m', SAID), ('n', MAKES_NOTHING), ('h', MAKES_NOTHING)],
    long_flags: &["noefe"],
    long_texts: &[
        "ad",
        "blocksize",
        "contact",
        "fsid",
        "fullvsid",
        "gid",
        "label",
        "lvid",
        "mode",
        "organization",
        "owner",
        "space",
        "strategy",
        "udfrev",
        "uid",
        "uuid",
        "vid",
        "vsid",
    ],
    long_others: &[
        ("bootarea", SAID),
        ("closed", OF_DISCS),
        ("help", MAKES_NOTHING),
        ("media-type", SAID),
        ("new-file", Refused("makes a file")),
        ("no-write", MAKES_NOTHING),
        ("packetlen", OF_DISCS),
        ("read-only", Refused("makes what nobody may write")),
        ("sparspace", OF_DISCS),
        ("spartable", OF_DISCS),
        ("startblock", Refused("leaves out the beginning of the lane")),
        ("vat", OF_DISCS),
    ],
    ..Grammar::NONE
};

/// It prints `name=value`, one a line, before it tells what it writes where.
fn facts(text: &str) -> Vec<String> {
    let fact = |name: &&str| {
        let value = text.lines().find_map(|line| line.strip_prefix(*name)?.strip_prefix('='))?;
        Some(format!("{name}: {}", value.trim()))
    };
    ["blocksize", "blocks", "udfrev"].iter().filter_map(fact).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_its_mkfs_prints_is_read() {
        let text = "filename=/x\nlabel=LinuxUDF\nblocksize=512\nblocks=655360\nudfrev=2.01\n\
            start=0, blocks=64, type=ERASE \n";
        assert_eq!(facts(text), ["blocksize: 512", "blocks: 655360", "udfrev: 2.01"]);
    }
}
