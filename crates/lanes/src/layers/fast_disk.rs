//! The two disks of a cache: the fast one, of which it takes a share, and the slow one that it stands before.

use super::build::{Building, size};
use super::delay::slow_down;
use super::{LayerOption, Options, Takes};
use crate::failure::{LaneFailure, usage};
use model::Bytes;
use std::path::{Path, PathBuf};

/// All images lie on one disk: without this the slow disk is as fast as the other.
pub(super) const SLOW: LayerOption = LayerOption { key: "slow", takes: Takes::Number(1, 10_000) };
/// As a lane says it.
pub(super) const SLOW_IS: &str = "slow=";
/// Per cent of the slow disk.
pub(super) const SHARE: LayerOption = LayerOption { key: "share", takes: Takes::Number(1, 100) };
const USUAL_SHARE: u64 = 25;

/// What a cache is made of.
pub(super) struct Disks<'a> {
    pub(super) fast: &'a Path,
    /// Bytes from its beginning that are the cache's.
    pub(super) fast_bytes: u64,
    pub(super) origin: PathBuf,
    pub(super) origin_bytes: u64,
}

/// The first device is the fast one; the second is made slow where that was said.
///
/// # Errors
/// [`LaneFailure::Usage`] where the cache would have fewer bytes than `least`; what dmsetup says.
pub(super) fn disks<'a>(
    building: &mut Building,
    below: &'a [PathBuf],
    options: &Options,
    least: u64,
) -> Result<Disks<'a>, LaneFailure> {
    let (fast, behind) = (&below[0], &below[1]);
    let origin_bytes = size(behind)?;
    let share = options.number(SHARE.key, USUAL_SHARE);
    let wanted = origin_bytes * share / 100;
    let fast_bytes = size(fast)?.min(wanted) / Bytes::MIB * Bytes::MIB;
    if fast_bytes < least {
        return Err(usage(format!(
            "a cache of {share} % of its disk has {}, and this one needs {}; raise share= or --lane-size",
            Bytes(fast_bytes),
            Bytes(least)
        )));
    }
    let origin = match options.text(SLOW.key) {
        Some(_) => slow_down(building, behind, options.number(SLOW.key, 0))?,
        None => behind.clone(),
    };
    Ok(Disks { fast, fast_bytes, origin, origin_bytes })
}
