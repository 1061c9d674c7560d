//! dm-cache with its policy smq: blocks that are used often lie on a fast disk before a slow one.

use super::build::Building;
use super::device_mapper::{DMSETUP, SECTOR_BYTES, make_one, slice};
use super::fast_disk::{Disks, SHARE, SLOW, disks};
use super::{Layer, LayerOption, Options, Takes, never};
use crate::failure::{LaneFailure, usage};
use model::Bytes;
use model::lane::Promises;
use std::path::PathBuf;

/// lvmcache(7): the default of --chunksize.
const USUAL_CHUNK_BYTES: u64 = 64 << 10;
/// lvmcache(7): the default of --cachemode. The kernel itself would write back.
const USUAL_MODE: &str = "writethrough";
const WRITEBACK: &str = "writeback";
/// Room for the metadata: 4 MiB, and of each block its place (16 bytes) and the policy's hint (4), with as much again for
/// the tree that holds them.
const METADATA_BYTES: u64 = 4 << 20;
const METADATA_BYTES_OF_BLOCK: u64 = 40;
/// The metadata, and as much to cache.
const LEAST_BYTES: u64 = 2 * METADATA_BYTES;

/// The row.
pub(super) static CACHE: Layer = Layer {
    name: "cache",
    hides: false,
    wipes: false,
    on_host: true,
    discards: never,
    about: "dm-cache: the first disk caches the second",
    devices: 2..=2,
    options: &[
        LayerOption { key: "mode", takes: Takes::Words(&[USUAL_MODE, WRITEBACK, "passthrough"]) },
        LayerOption { key: "chunk", takes: Takes::Size(32 << 10, 16 << 20) },
        SLOW,
        SHARE,
    ],
    capacity: super::of_one,
    programs: &[DMSETUP],
    helpers: &["dm_cache_smq"],
    drivers: &["dm_cache"],
    promises: |promises, options| Promises {
        outlives_cache: promises.outlives_cache && options.text("mode") != Some(WRITEBACK),
        ..promises
    },
    build,
};

fn build(building: &mut Building, below: &[PathBuf], options: &Options) -> Result<PathBuf, LaneFailure> {
    let Disks { fast, fast_bytes, origin, origin_bytes } = disks(building, below, options, LEAST_BYTES)?;
    let chunk = options.size("chunk", USUAL_CHUNK_BYTES);
    let of_blocks = METADATA_BYTES_OF_BLOCK * (fast_bytes / chunk);
    let metadata_bytes = METADATA_BYTES + of_blocks.next_multiple_of(Bytes::MIB);
    let metadata = slice(building, "metadata", fast, 0, metadata_bytes)?;
    // A cache begins anew where the first block is zero.
    building.begin_anew(&metadata, 4096)?;
    let data_bytes = fast_bytes.saturating_sub(metadata_bytes) / chunk * chunk;
    if data_bytes == 0 {
        return Err(usage(format!(
            "a cache of {} has no room for a block of {} beside its metadata; lower chunk=, or raise share= or --lane-size",
            Bytes(fast_bytes),
            Bytes(chunk)
        )));
    }
    let data = slice(building, "data", fast, metadata_bytes, data_bytes)?;
    let target = format!(
        "cache {} {} {} {} 1 {} smq 0",
        metadata.display(),
        data.display(),
        origin.display(),
        chunk / SECTOR_BYTES,
        options.text("mode").unwrap_or(USUAL_MODE)
    );
    make_one(building, "cache", origin_bytes, &target)
}
