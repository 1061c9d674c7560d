//! dm-delay: every read and write waits.

use super::build::{Building, size};
use super::device_mapper::{DMSETUP, make_one};
use super::{Layer, LayerOption, Options, Takes};
use crate::failure::LaneFailure;
use std::path::PathBuf;

/// The row.
pub(super) static DELAY: Layer = Layer {
    name: "delay",
    about: "dm-delay, 10 ms where nothing is said",
    devices: 1..=1,
    options: &[LayerOption { key: "ms", takes: Takes::Number(0, 10_000) }],
    program: DMSETUP,
    modules: &["dm_delay"],
    checksums: false,
    build,
};

fn build(building: &mut Building, below: &[PathBuf], options: &Options) -> Result<PathBuf, LaneFailure> {
    let target = format!("delay {} 0 {}", below[0].display(), options.number("ms", 10));
    make_one(building, "delay", size(&below[0])?, &target)
}
