//! dm-integrity alone: a checksum per block, made and checked by the kernel.

use super::build::{Building, size};
use super::device_mapper::{DMSETUP, make_one};
use super::{Layer, LayerOption, Options, Takes, never};
use crate::failure::{LaneFailure, cannot, failed};
use model::lane::Promises;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

/// Bytes of a checksum of crc32c, integritysetup's own.
const TAG_BYTES: u32 = 4;
/// drivers/md/dm-integrity.c, `struct superblock`: where `provided_data_sectors` stands, and what it begins with.
const PROVIDED_AT: u64 = 16;
const MAGIC: &[u8; 8] = b"integrt\0";

/// The row.
pub(super) static INTEGRITY: Layer = Layer {
    name: "integrity",
    hides: false,
    wipes: true,
    on_host: true,
    discards: never,
    about: "dm-integrity with crc32c, and a journal where nothing else is said",
    devices: 1..=1,
    options: &[
        LayerOption { key: "mode", takes: Takes::Words(&["journal", "bitmap", "direct"]) },
        LayerOption { key: "block", takes: Takes::Size(512, 4096) },
    ],
    capacity: super::of_one,
    programs: &[DMSETUP],
    helpers: &["crc32c_generic", "crc32c_intel"],
    drivers: &["dm_integrity"],
    promises: |promises, _| Promises { data_checksums: true, ..promises },
    build,
};

/// As the kernel's document says, a superblock of zeros is formatted by a device of one sector, which tells how many
/// sectors it has. Then every block is written once, so that every checksum is one, without the journal, as
/// integritysetup's wipe does.
fn build(building: &mut Building, below: &[PathBuf], options: &Options) -> Result<PathBuf, LaneFailure> {
    let device = &below[0];
    building.begin_anew(device, 4096)?;
    let block = options.size("block", 512);
    let target = |mode: &str| {
        let more = if block == 512 { String::new() } else { format!(" block_size:{block}") };
        let count = if block == 512 { 1 } else { 2 };
        format!("integrity {} 0 {TAG_BYTES} {mode} {count} internal_hash:crc32c{more}", device.display())
    };
    if !building.is_again() {
        make_one(building, "format", block, &target("D"))?;
        building.unmake_last()?;
    }
    let bytes = provided_sectors(device)? * 512;
    if bytes > size(device)? {
        return Err(failed(format!("the superblock of dm-integrity on {} makes no sense", device.display())));
    }
    if !building.is_again() {
        let whole = make_one(building, "wipe", bytes, &target("D"))?;
        building.write_zeros(&whole, bytes)?;
        building.unmake_last()?;
    }
    let mode = match options.text("mode") {
        Some("bitmap") => "B",
        Some("direct") => "D",
        _ => "J",
    };
    make_one(building, "integrity", bytes, &target(mode))
}

fn provided_sectors(device: &Path) -> Result<u64, LaneFailure> {
    let mut superblock = [0; 24];
    let read = File::open(device).and_then(|file| file.read_exact_at(&mut superblock, 0));
    read.map_err(|error| cannot(format!("read the superblock of {}", device.display()), error))?;
    if !superblock.starts_with(MAGIC) {
        return Err(failed(format!("dm-integrity left no superblock on {}", device.display())));
    }
    let at = PROVIDED_AT as usize;
    Ok(u64::from_le_bytes(superblock[at..at + 8].try_into().unwrap_or_default()))
}
