//! dm-delay: every read and write waits.

use super::build::{Building, size};
use super::device_mapper::{DMSETUP, make_one};
use super::{Layer, LayerOption, Options, Takes, never, unchanged};
use crate::failure::LaneFailure;
use std::path::{Path, PathBuf};

/// The row.
pub(super) static DELAY: Layer = Layer {
    name: "delay",
    hides: false,
    wipes: false,
    on_host: true,
    discards: never,
    about: "dm-delay, 10 ms where nothing is said",
    devices: 1..=1,
    options: &[LayerOption { key: "ms", takes: Takes::Number(0, 10_000) }],
    capacity: super::of_one,
    programs: &[DMSETUP],
    helpers: &[],
    drivers: &["dm_delay"],
    promises: unchanged,
    build,
};

fn build(building: &mut Building, below: &[PathBuf], options: &Options) -> Result<PathBuf, LaneFailure> {
    slow_down(building, &below[0], options.number("ms", 10))
}

/// A device of which every read, write and flush waits so many milliseconds.
///
/// # Errors
/// What dmsetup or the kernel says.
pub(super) fn slow_down(building: &mut Building, device: &Path, milliseconds: u64) -> Result<PathBuf, LaneFailure> {
    make_one(building, "delay", size(device)?, &format!("delay {} 0 {milliseconds}", device.display()))
}
