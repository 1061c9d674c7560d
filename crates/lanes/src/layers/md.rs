//! Arrays of the kernel's md driver, made by mdadm.

use super::build::{Building, run, size};
use super::device_mapper::words;
use super::teardown::{NUMBERS, arrays, new_uuid, with_colons};
use super::{Layer, LayerOption, Options, Takes, unchanged};
use crate::failure::{LaneFailure, failed};
use crate::undo::Thing;
use model::stack::{self, MOST_DEVICES};
use std::path::{Path, PathBuf};

const MDADM: (&str, &str) = ("mdadm", "mdadm");
/// KiB a second.
const SLOWEST_SYNC: &str = "1";
const CHUNK: LayerOption = LayerOption { key: "chunk", takes: Takes::Size(4 << 10, 64 << 20) };
const BITMAP: LayerOption = LayerOption { key: "bitmap", takes: Takes::Words(&["internal", "none"]) };
const JOURNAL: &str = "journal";
/// What closes the write hole: `journal` takes the last device for itself, and discards there what it has written back.
const CONSISTENCY: LayerOption = LayerOption { key: "consistency", takes: Takes::Words(&["resync", "ppl", JOURNAL]) };
/// A disk that was taken out before the work; the same, put back, so that it is rebuilt beside the work.
const DEGRADED: LayerOption = LayerOption { key: stack::DEGRADED, takes: Takes::Nothing };
const REBUILDING: LayerOption = LayerOption { key: stack::REBUILDING, takes: Takes::Nothing };
const LAYOUT: LayerOption = LayerOption { key: "layout", takes: Takes::Words(&["n2", "n3", "o2", "o3", "f2", "f3"]) };

/// What all of them share.
const ARRAY: Layer = Layer {
    hides: false,
    discards: has_journal,
    wipes: false,
    on_host: true,
    name: "",
    about: "",
    devices: 2..=MOST_DEVICES,
    options: &[],
    capacity: super::of_one,
    programs: &[MDADM],
    helpers: &[],
    drivers: &[],
    promises: unchanged,
    build: |_, below, _| Ok(below[0].clone()),
};

/// What arrays with parity share.
const PARITY: Layer = Layer {
    devices: 3..=MOST_DEVICES,
    options: &[CHUNK, BITMAP, CONSISTENCY, DEGRADED, REBUILDING],
    capacity: |each, devices, options| each.saturating_mul(devices.saturating_sub(1 + u64::from(has_journal(options)))),
    drivers: &["raid456"],
    ..ARRAY
};

/// The rows.
pub(super) static RAID0: Layer = Layer {
    name: "raid0",
    about: "md RAID 0",
    options: &[CHUNK],
    capacity: super::of_all,
    drivers: &["raid0"],
    build: |building, below, options| create(building, below, options, "0", Parity::None),
    ..ARRAY
};
pub(super) static RAID1: Layer = Layer {
    name: "raid1",
    about: "md RAID 1",
    options: &[BITMAP, DEGRADED, REBUILDING],
    drivers: &["raid1"],
    build: |building, below, options| create(building, below, options, "1", Parity::None),
    ..ARRAY
};
pub(super) static RAID4: Layer = Layer {
    name: "raid4",
    about: "md RAID 4",
    build: |building, below, options| create(building, below, options, "4", Parity::Whole),
    ..PARITY
};
pub(super) static RAID5: Layer = Layer {
    name: "raid5",
    about: "md RAID 5",
    build: |building, below, options| create(building, below, options, "5", Parity::Whole),
    ..PARITY
};
pub(super) static RAID6: Layer = Layer {
    name: "raid6",
    about: "md RAID 6",
    devices: 4..=MOST_DEVICES,
    options: &[CHUNK, BITMAP, DEGRADED, REBUILDING],
    capacity: |each, devices, _| each.saturating_mul(devices.saturating_sub(2)),
    build: |building, below, options| create(building, below, options, "6", Parity::Whole),
    ..PARITY
};
pub(super) static RAID10: Layer = Layer {
    name: "raid10",
    about: "md RAID 10",
    options: &[CHUNK, BITMAP, LAYOUT, DEGRADED, REBUILDING],
    capacity: |each, devices, options| each.saturating_mul(devices) / copies(options),
    drivers: &["raid10"],
    build: |building, below, options| create(building, below, options, "10", Parity::None),
    ..ARRAY
};

/// Whether the last device is its journal.
pub(super) fn has_journal(options: &Options) -> bool {
    options.text("consistency") == Some(JOURNAL)
}

/// Of each block, by the layout: `f3` has three.
fn copies(options: &Options) -> u64 {
    let digit = options.text("layout").and_then(|layout| layout.get(1..)?.parse().ok());
    digit.unwrap_or(2)
}

/// Whether an array computes something of its devices that must be true from the beginning.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Parity {
    None,
    Whole,
}

/// Nothing is synchronised behind the race's back: where there is parity, it is made true by zeros on all devices, and
/// copies that differ where nothing was written are read by nobody.
fn create(
    building: &mut Building,
    below: &[PathBuf],
    options: &Options,
    level: &str,
    parity: Parity,
) -> Result<PathBuf, LaneFailure> {
    let journal = has_journal(options);
    let (devices, journals) = below.split_at(below.len() - usize::from(journal));
    if parity == Parity::Whole {
        for device in devices {
            building.begin_anew(device, size(device)?)?;
        }
    }
    let number = free_number()?;
    let array = Path::new("/dev").join(format!("md{number}"));
    let name = array.display().to_string();
    // What stands again has the UUID that it had.
    let uuid = if building.is_again() { String::new() } else { new_uuid()? };
    let mut command = words(&["mdadm", "--create", &name, "--run", "--quiet", "--assume-clean", "--metadata=1.2"]);
    command.push(format!("--uuid={}", with_colons(&uuid)));
    // Alone, without the name of this machine before it.
    let called = building.array_name();
    command.extend(["--homehost=<none>".to_owned(), format!("--name={called}")]);
    command.push(format!("--level={level}"));
    command.push(format!("--raid-devices={}", devices.len()));
    if let Some(layout) = options.text("layout") {
        command.push(format!("--layout={layout}"));
    }
    if options.has("chunk") {
        command.push(format!("--chunk={}K", options.size("chunk", 0) >> 10));
    }
    match (options.text("bitmap"), options.text("consistency")) {
        (Some(bitmap), _) => command.push(format!("--bitmap={bitmap}")),
        (None, Some(policy @ ("resync" | "ppl"))) => command.push(format!("--consistency-policy={policy}")),
        _ => {}
    }
    if let Some(device) = journals.first() {
        command.push(format!("--write-journal={}", device.display()));
    }
    let lacks_last = options.has(stack::DEGRADED) || options.has(stack::REBUILDING);
    let (present, out) = devices.split_at(devices.len() - usize::from(lacks_last));
    command.extend(present.iter().map(|device| device.display().to_string()));
    command.extend(out.iter().map(|_| "missing".to_owned()));
    // Where what stands between is gone after a boot, its superblock may lie on the disk below as it was written.
    let disks = below.iter().chain(building.disks().iter().filter(|disk| !below.contains(disk))).cloned().collect();
    building.will_make(array.clone(), Thing::Array { number, uuid, name: called, disks })?;
    if building.is_again() {
        let there: Vec<&PathBuf> = present.iter().chain(journals).filter(|device| !building.is_gone(device)).collect();
        assemble(building, &name, &there)?;
    } else {
        run(&command)?;
    }
    if let Some(disk) = out.first().filter(|_| options.has(stack::REBUILDING)) {
        building.rebuild(&array, disk);
    }
    Ok(array)
}

/// Where the kernel tells of an array, and is told.
pub(super) fn attributes(array: &Path) -> PathBuf {
    PathBuf::from("/sys/block").join(array.file_name().unwrap_or_default()).join("md")
}

/// A number that no array has.
fn free_number() -> Result<u32, LaneFailure> {
    let taken = arrays();
    let free = NUMBERS.into_iter().find(|number| !taken.contains(&format!("md{number}")));
    free.ok_or_else(|| {
        failed(format!("/dev/md{} to md{} are all arrays; stop some of them", NUMBERS.start(), NUMBERS.end()))
    })
}

/// Begins an array as it was left. One that lacks a disk and was being written to begins only by force, as a person would
/// have to decide: what its parity says of the missing disk may be wrong then.
fn assemble(building: &mut Building, array: &str, devices: &[&PathBuf]) -> Result<(), LaneFailure> {
    let begin = |more: &[&str]| {
        let mut command = words(&["mdadm", "--assemble", array, "--quiet", "--run"]);
        command.extend(words(more));
        command.extend(devices.iter().map(|device| device.display().to_string()));
        run(&command)
    };
    if building.is_whole() {
        return begin(&[]);
    }
    // An array that was being written to synchronises itself now, for as long as it stands: whatever is read meanwhile reads
    // the same, and so each copy of it is not rewritten whole. Of this machine alone: it is a guest.
    let _ = std::fs::write("/proc/sys/dev/raid/speed_limit_min", SLOWEST_SYNC);
    let _ = std::fs::write("/proc/sys/dev/raid/speed_limit_max", SLOWEST_SYNC);
    if begin(&[]).is_ok() {
        return Ok(());
    }
    // What of it began holds its disks.
    let _ = run(&words(&["mdadm", "--stop", "--quiet", array]));
    begin(&["--force"])?;
    building.force();
    Ok(())
}
