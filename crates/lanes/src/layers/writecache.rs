//! dm-writecache on an SSD: what is written lies on a fast disk until it is written to the slow one; reads are not cached.

use super::build::Building;
use super::device_mapper::{DMSETUP, make_one, slice};
use super::fast_disk::{Disks, SHARE, SLOW, disks};
use super::{Layer, LayerOption, Options, Takes, never};
use crate::failure::LaneFailure;
use model::Bytes;
use model::lane::Promises;
use std::path::PathBuf;

/// lvmcache(7): the default of --cachesettings block_size.
const USUAL_BLOCK_BYTES: u64 = 4096;

/// The row.
pub(super) static WRITECACHE: Layer = Layer {
    name: "writecache",
    hides: false,
    wipes: false,
    on_host: true,
    discards: never,
    about: "dm-writecache: what is written lies on the first disk, until the second has it",
    devices: 2..=2,
    options: &[LayerOption { key: "block", takes: Takes::Size(512, 4096) }, SLOW, SHARE],
    capacity: super::of_one,
    programs: &[DMSETUP],
    helpers: &[],
    drivers: &["dm_writecache"],
    promises: |promises, _| Promises { outlives_cache: false, ..promises },
    build,
};

fn build(building: &mut Building, below: &[PathBuf], options: &Options) -> Result<PathBuf, LaneFailure> {
    let Disks { fast, fast_bytes, origin, origin_bytes } = disks(building, below, options, Bytes::MIB)?;
    let fast = slice(building, "fast", fast, 0, fast_bytes)?;
    // Its superblock: of zeros it makes a new one.
    building.begin_anew(&fast, 4096)?;
    let block = options.size("block", USUAL_BLOCK_BYTES);
    let target = format!("writecache s {} {} {block} 0", origin.display(), fast.display());
    make_one(building, "writecache", origin_bytes / block * block, &target)
}
