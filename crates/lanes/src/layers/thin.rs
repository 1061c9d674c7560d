//! A thin volume as large as its pool, as LVM sets one up.

use super::build::{Building, size};
use super::device_mapper::{DMSETUP, SECTOR_BYTES, make_one, message, slice};
use super::{Layer, LayerOption, Options, Takes, never, unchanged};
use crate::failure::LaneFailure;
use std::path::PathBuf;

/// lvmthin(7): the smallest chunk, and LVM's own for pools of this size.
const USUAL_CHUNK_BYTES: u64 = 64 << 10;
/// Room for the metadata: LVM takes 64 bytes a chunk, and no less than 2 MiB.
const METADATA_BYTES: u64 = 32 << 20;

/// The row.
pub(super) static THIN: Layer = Layer {
    name: "thin",
    hides: false,
    wipes: false,
    on_host: true,
    discards: never,
    about: "dm-thin, a thin volume in a pool of its own",
    devices: 1..=1,
    options: &[
        LayerOption { key: "chunk", takes: Takes::Size(64 << 10, 16 << 20) },
        LayerOption { key: "no_zero", takes: Takes::Nothing },
    ],
    capacity: super::of_one,
    programs: &[DMSETUP],
    helpers: &[],
    drivers: &["dm_thin_pool"],
    promises: unchanged,
    build,
};

fn build(building: &mut Building, below: &[PathBuf], options: &Options) -> Result<PathBuf, LaneFailure> {
    let chunk = options.size("chunk", USUAL_CHUNK_BYTES);
    let bytes = (size(&below[0])?.saturating_sub(METADATA_BYTES)) / chunk * chunk;
    let metadata = slice(building, "metadata", &below[0], 0, METADATA_BYTES)?;
    // A pool begins anew where the first block is zero.
    building.begin_anew(&metadata, 4096)?;
    let data = slice(building, "data", &below[0], METADATA_BYTES, bytes)?;
    let zero = if options.has("no_zero") { " 1 skip_block_zeroing" } else { "" };
    let target = format!("thin-pool {} {} {} 0{zero}", metadata.display(), data.display(), chunk / SECTOR_BYTES);
    let pool = make_one(building, "pool", bytes, &target)?;
    if !building.is_again() {
        message(&pool, &["create_thin 0"])?;
    }
    make_one(building, "thin", bytes, &format!("thin {} 0", pool.display()))
}
