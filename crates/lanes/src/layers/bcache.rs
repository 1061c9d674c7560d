//! bcache: a set of caches, here of one fast disk, before a slow one; made by make-bcache, registered and stopped by sysfs.

use super::build::{Building, kernel_folder, run, tell};
use super::device_mapper::{DMSETUP, slice, words};
use super::fast_disk::{Disks, SHARE, SLOW, disks};
use super::teardown::{CACHE_SET_UUID_AT, new_uuid, uuid_on, with_dashes};
use super::{Layer, LayerOption, Options, Takes, never};
use crate::failure::{LaneFailure, cannot, failed};
use crate::undo::Thing;
use model::lane::Promises;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// The kernel's Documentation/admin-guide/bcache.rst.
const REGISTER: &str = "/sys/fs/bcache/register";
/// Bytes at a disk's beginning that hold its superblock, at 4 KiB.
const SUPERBLOCK_BYTES: u64 = 64 << 10;
/// make-bcache's own bucket, and how many there are at least: of a small cache they are smaller.
const USUAL_BUCKET_BYTES: u64 = 512 << 10;
const LEAST_BUCKETS: u64 = 1024;
const LEAST_BUCKET_BYTES: u64 = 8 << 10;
/// How long the device may take to show once both disks are registered.
const PATIENCE: Duration = Duration::from_secs(10);
const WRITEBACK: &str = "writeback";

/// The row.
pub(super) static BCACHE: Layer = Layer {
    name: "bcache",
    hides: false,
    wipes: false,
    // After SIGKILL during a race a set of 6.1 never stopped; why is not known.
    on_host: false,
    discards: never,
    about: "bcache: the first disk caches the second",
    devices: 2..=2,
    options: &[
        LayerOption { key: "mode", takes: Takes::Words(&["writethrough", WRITEBACK, "writearound", "none"]) },
        SLOW,
        SHARE,
    ],
    capacity: super::of_one,
    programs: &[("make-bcache", "bcache-tools"), DMSETUP],
    helpers: &[],
    drivers: &["bcache"],
    promises: |promises, options| Promises {
        outlives_cache: promises.outlives_cache && options.text("mode") != Some(WRITEBACK),
        ..promises
    },
    build,
};

fn build(building: &mut Building, below: &[PathBuf], options: &Options) -> Result<PathBuf, LaneFailure> {
    let least = LEAST_BUCKETS * LEAST_BUCKET_BYTES;
    let Disks { fast, fast_bytes, origin, .. } = disks(building, below, options, least)?;
    let fast = slice(building, "fast", fast, 0, fast_bytes)?;
    for disk in [&fast, &origin].into_iter().filter(|_| !building.is_again()) {
        // make-bcache takes no disk that has the signature of anything.
        building.write_zeros(disk, SUPERBLOCK_BYTES)?;
    }
    let bucket = bucket_bytes(fast_bytes);
    let (cache, backing) = (fast.display().to_string(), origin.display().to_string());
    let uuid = if building.is_again() { uuid_on(&fast, CACHE_SET_UUID_AT)? } else { new_uuid()? };
    building.will_make(fast.clone(), Thing::CacheSet { uuid: uuid.clone(), backing: origin.clone() })?;
    if !building.is_again() {
        let (bucket, set) = (format!("{}k", bucket >> 10), with_dashes(&uuid));
        run(&words(&["make-bcache", "--cset-uuid", &set, "--bucket", &bucket, "-C", &cache, "-B", &backing]))?;
    }
    register(&fast, "set")?;
    let device = Path::new("/dev").join(register(&origin, "dev")?);
    building.stands_as(device.clone());
    let attributes = kernel_folder(&origin).map_err(|error| cannot(format!("find {backing} in sysfs"), error))?;
    let attributes = attributes.join("bcache");
    if let Some(mode) = options.text("mode") {
        tell(&attributes.join("cache_mode"), mode)?;
    }
    Ok(device)
}

/// A power of two, as large as make-bcache takes it where there are enough of them.
fn bucket_bytes(fast_bytes: u64) -> u64 {
    let most = (fast_bytes / LEAST_BUCKETS).max(LEAST_BUCKET_BYTES);
    (1 << most.ilog2()).min(USUAL_BUCKET_BYTES)
}

/// Has bcache take a disk; answers what it is to it then. udev may have been faster: then the kernel refuses it, and it is
/// taken all the same.
fn register(disk: &Path, link: &str) -> Result<String, LaneFailure> {
    let told = tell(Path::new(REGISTER), &disk.display().to_string());
    linked(disk, link).map_err(|error| told.err().unwrap_or(error))
}

/// Where a link among a disk's attributes leads, once it is there.
fn linked(disk: &Path, link: &str) -> Result<String, LaneFailure> {
    let begun = Instant::now();
    loop {
        let found = kernel_folder(disk).and_then(|folder| std::fs::read_link(folder.join("bcache").join(link)));
        if let Some(name) = found.ok().as_deref().and_then(Path::file_name) {
            return Ok(name.to_string_lossy().into_owned());
        }
        if begun.elapsed() > PATIENCE {
            return Err(failed(format!("bcache did not begin on {} within 10 s", disk.display())));
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_small_cache_has_smaller_buckets_and_enough_of_them() {
        assert_eq!(bucket_bytes(24 << 20), 16 << 10);
        assert_eq!(bucket_bytes(80 << 20), 64 << 10);
        assert_eq!(bucket_bytes(16 << 30), 512 << 10);
    }
}
