//! Devices one behind the other, as a linear logical volume is.

use super::build::{Building, size};
use super::device_mapper::{DMSETUP, SECTOR_BYTES, make};
use super::{Layer, Options, never, unchanged};
use crate::failure::LaneFailure;
use model::stack::MOST_DEVICES;
use std::path::PathBuf;

/// The row.
pub(super) static LINEAR: Layer = Layer {
    name: "linear",
    hides: false,
    wipes: false,
    on_host: true,
    discards: never,
    about: "LVM linear",
    devices: 1..=MOST_DEVICES,
    options: &[],
    capacity: super::of_all,
    programs: &[DMSETUP],
    // It is part of the device mapper itself.
    helpers: &[],
    drivers: &["dm_mod"],
    promises: unchanged,
    build,
};

fn build(building: &mut Building, below: &[PathBuf], _: &Options) -> Result<PathBuf, LaneFailure> {
    let mut start = 0;
    let mut lines = Vec::new();
    for device in below {
        let sectors = size(device)? / SECTOR_BYTES;
        lines.push(format!("{start} {sectors} linear {} 0", device.display()));
        start += sectors;
    }
    make(building, "linear", &lines)
}
