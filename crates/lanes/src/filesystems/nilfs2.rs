//! NILFS2.

use super::{BASE, Filesystem};
use crate::abilities::always;
use crate::guarantees::GuaranteeOption;
use crate::mkfs_words::{Grammar, MAKES_NOTHING};
use crate::other_devices::{Bytes, Image};
use crate::promises::{JOURNALED, barriers_off, without_barriers};
use crate::same_names::NamePlaces;
use crate::signature::At::{End, Start};
use crate::signature::{Marks, SECTOR};
use model::lane::CrashEffect;
use model::operations::Ability;
use std::io::Result;

const MAGIC: [u8; 2] = [0x34, 0x34];
/// Where its second superblock stands: so many bytes before the end.
const SECOND: u64 = 4096;

/// NILFS2.
pub(super) static NILFS2: Filesystem = Filesystem {
    name: "nilfs2",
    features: include_str!("../../../../features/nilfs2.toml"),
    minimum_bytes: 192 * model::Bytes::MIB,
    mkfs: &["mkfs.nilfs2", "-q", "-f", "-K"],
    package: "nilfs-tools",
    mkfs_takes: &MKFS,
    module: "nilfs2",
    mount_options: &["nodiscard"],
    plain_options: &["order"],
    careful: Some(&["errors=remount-ro"]),
    promises: |_, mount| without_barriers(JOURNALED, barriers_off(mount)),
    guarantee_options: &[
        GuaranteeOption::new("data", &["order=strict"], Some(CrashEffect::KeepsOrder)),
        GuaranteeOption::new("data", &["order=relaxed"], None),
    ],
    lacks: |_, _| always(&[Ability::Reflink, Ability::Attributes, Ability::Allocation]),
    marks: Marks {
        magics: &[(&[Start(1024 + 6)], &MAGIC)],
        otherwise: is_at_the_end,
        begins_with_zeros: true,
        ..Marks::NONE
    },
    names: NamePlaces {
        uuids: &[(Start(1024 + 152), 16), (End(SECOND - 152, SECTOR), 16)],
        labels: &[(Start(1024 + 168), 80), (End(SECOND - 168, SECTOR), 80)],
        ..NamePlaces::NONE
    },
    // Its format has no word for another device.
    names_others: Some(|_| Ok(None)),
    ..BASE
};

/// mkfs.nilfs2(8) and the source of nilfs-utils 2.2.
const MKFS: Grammar =
    Grammar { flags: "cfqvK", texts: "bmBLOP", others: &[('n', MAKES_NOTHING), ('V', MAKES_NOTHING)], ..Grammar::NONE };

/// Its second superblock counts where it tells the size of the device.
fn is_at_the_end(image: &Image, size: u64) -> Result<bool> {
    let size = size - size % SECTOR;
    let Some(at) = size.checked_sub(SECOND) else { return Ok(false) };
    let superblock = Bytes::new(image, at, 40)?.0;
    Ok(superblock[6..8] == MAGIC && superblock[32..40] == size.to_le_bytes())
}
