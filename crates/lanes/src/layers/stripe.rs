//! Stripes over several devices, as a striped logical volume is.

use super::build::{Building, size};
use super::device_mapper::{DMSETUP, SECTOR_BYTES, make_one};
use super::{Layer, LayerOption, Options, Takes, never, unchanged};
use crate::failure::LaneFailure;
use model::stack::MOST_DEVICES;
use std::path::PathBuf;

/// lvm.conf(5), `stripesize`.
const USUAL_CHUNK_BYTES: u64 = 64 << 10;

/// The row.
pub(super) static STRIPE: Layer = Layer {
    name: "stripe",
    hides: false,
    wipes: false,
    on_host: true,
    discards: never,
    about: "LVM striped",
    devices: 2..=MOST_DEVICES,
    options: &[LayerOption { key: "chunk", takes: Takes::Size(4 << 10, 4 << 20) }],
    capacity: super::of_all,
    programs: &[DMSETUP],
    helpers: &[],
    drivers: &["dm_mod"],
    promises: unchanged,
    build,
};

fn build(building: &mut Building, below: &[PathBuf], options: &Options) -> Result<PathBuf, LaneFailure> {
    let chunk = options.size("chunk", USUAL_CHUNK_BYTES);
    let sizes = below.iter().map(|device| size(device)).collect::<Result<Vec<_>, _>>()?;
    let each = sizes.into_iter().min().unwrap_or(0) / chunk * chunk;
    let devices: String = below.iter().map(|device| format!(" {} 0", device.display())).collect();
    let target = format!("striped {} {}{devices}", below.len(), chunk / SECTOR_BYTES);
    make_one(building, "stripe", each * below.len() as u64, &target)
}
