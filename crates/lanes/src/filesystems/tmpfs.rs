//! Tmpfs.

use super::{BASE, Filesystem, Home};
use crate::abilities;

/// Tmpfs.
pub(super) static TMPFS: Filesystem = Filesystem {
    name: "tmpfs",
    features: include_str!("../../../../features/tmpfs.toml"),
    home: Home::Memory,
    minimum_bytes: model::Bytes::MIB,
    lacks: abilities::reflink,
    holds_no_images: Some("lies in memory"),
    ..BASE
};
