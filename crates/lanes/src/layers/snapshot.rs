//! A volume of which a snapshot exists: the first write to each chunk copies it to the other half of the device first.

use super::build::{Building, size};
use super::device_mapper::{DMSETUP, SECTOR_BYTES, make_one, slice};
use super::{Layer, LayerOption, Options, Takes, never, unchanged};
use crate::failure::LaneFailure;
use std::path::PathBuf;

/// lvm.conf(5), `snapshot_chunk_size`.
const USUAL_CHUNK_BYTES: u64 = 4 << 10;

/// The row.
pub(super) static SNAPSHOT: Layer = Layer {
    name: "snapshot",
    hides: false,
    wipes: false,
    on_host: true,
    discards: never,
    about: "the origin of an LVM snapshot; half of the device is the snapshot's",
    devices: 1..=1,
    options: &[LayerOption { key: "chunk", takes: Takes::Size(4 << 10, 512 << 10) }],
    capacity: |each, _, _| each / 2,
    programs: &[DMSETUP],
    helpers: &[],
    drivers: &["dm_snapshot"],
    promises: unchanged,
    build,
};

fn build(building: &mut Building, below: &[PathBuf], options: &Options) -> Result<PathBuf, LaneFailure> {
    let chunk = options.size("chunk", USUAL_CHUNK_BYTES);
    let whole = size(&below[0])?;
    let half = whole / 2 / chunk * chunk;
    let real = slice(building, "real", &below[0], 0, half)?;
    let copies = slice(building, "copies", &below[0], half, whole - half)?;
    // A header of zeros is a new one. Over a lane that was aged it begins anew too: the snapshot is of what the life left.
    match building.is_whole() {
        true => building.write_zeros(&copies, 4096)?,
        false => building.begin_anew(&copies, 4096)?,
    }
    let snapshot = format!("snapshot {} {} P {}", real.display(), copies.display(), chunk / SECTOR_BYTES);
    make_one(building, "snapshot", half, &snapshot)?;
    make_one(building, "origin", half, &format!("snapshot-origin {}", real.display()))
}
