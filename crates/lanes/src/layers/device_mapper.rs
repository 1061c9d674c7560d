//! Devices of the device mapper, made by dmsetup from a table (the kernel's Documentation/admin-guide/device-mapper).

use super::build::{Building, run};
use super::teardown::dmsetup;
use crate::failure::LaneFailure;
use crate::undo::Thing;
use std::path::{Path, PathBuf};

/// The program, and its package.
pub(super) const DMSETUP: (&str, &str) = ("dmsetup", "dmsetup");
/// What a table counts in.
pub(super) const SECTOR_BYTES: u64 = 512;

/// Makes a device of a table: a line per target, `START SECTORS TARGET PARAMETERS`.
///
/// # Errors
/// What dmsetup or the kernel says.
pub(super) fn make(building: &mut Building, part: &str, lines: &[String]) -> Result<PathBuf, LaneFailure> {
    let name = building.name(part);
    let device = Path::new("/dev/mapper").join(&name);
    building.will_make(device.clone(), Thing::MappedDevice { name: name.clone() })?;
    run(&dmsetup(&["create", "--concise", &format!("{name},,,rw, {}", lines.join(", "))]))?;
    Ok(device)
}

/// The same with a table of one target over all of so many bytes.
///
/// # Errors
/// As there.
pub(super) fn make_one(building: &mut Building, part: &str, bytes: u64, target: &str) -> Result<PathBuf, LaneFailure> {
    make(building, part, &[format!("0 {} {target}", bytes / SECTOR_BYTES)])
}

/// Makes a device of a part of another.
///
/// # Errors
/// As [`make`].
pub(super) fn slice(
    building: &mut Building,
    part: &str,
    device: &Path,
    from_bytes: u64,
    bytes: u64,
) -> Result<PathBuf, LaneFailure> {
    make_one(building, part, bytes, &format!("linear {} {}", device.display(), from_bytes / SECTOR_BYTES))
}

/// Says something to a device.
///
/// # Errors
/// What the kernel says.
pub(super) fn message(device: &Path, text: &[&str]) -> Result<(), LaneFailure> {
    let device = device.display().to_string();
    run(&words(&[&["dmsetup", "message", &device, "0"], text].concat()))
}

pub(super) fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|&word| word.to_owned()).collect()
}
