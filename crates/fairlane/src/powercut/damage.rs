//! Blocks damaged behind the filesystem's back.
//!
//! Which block of the device holds which block of a file is found by looking: every block of every file
//! is unlike all others, so that no filesystem has to tell where it put it.

use super::bench::{Bench, Place, unmount};
use super::cannot;
use super::recording::SECTOR_BYTES;
use crate::commands::lane_failure;
use crate::failure::Failure;
use crashes::work::bytes_of;
use lanes::loop_device::LoopDevice;
use lanes::{Consistency, LaneFailure, Specimen};
use model::durability::Damage;
use std::collections::{BTreeSet, HashMap};
use std::fs::File;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

/// Files on the lane.
const FILES: u64 = 96;
/// Largest of them in bytes.
const MOST: u64 = 96 << 10;
/// What is damaged at a time.
const BLOCK: usize = 4096;
/// Superblocks lie at the beginning: without one nothing mounts, and nothing else would be learnt.
const SPARED: u64 = 128 << 10;
/// Of so many blocks of metadata at most one is damaged.
const LEFT_WHOLE: usize = 8;
/// Bytes that are changed in a block.
const CHANGED: usize = 64;

/// What is damaged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Target {
    /// Blocks of files.
    Data,
    /// Blocks of none.
    Metadata,
}

/// One device of the lane.
struct Disk {
    path: PathBuf,
    place: Place,
}

/// Damages so many blocks of one lane and looks at what it says.
///
/// # Errors
/// What the machine says; interrupted.
pub fn damage(
    bench: &mut Bench,
    specimen: &Specimen,
    target: Target,
    blocks: u32,
    (seed, disk_bytes): (u64, u64),
    stop: &AtomicBool,
) -> Result<Damage, Failure> {
    let devices = if specimen.wants_two_devices() { 2 } else { 1 };
    let mut disks = Vec::new();
    for index in 0..devices {
        let path = bench.path(&format!("disk{index}"));
        let file = File::create(&path).and_then(|file| file.set_len(disk_bytes));
        file.map_err(cannot("make an image"))?;
        disks.push(Disk { place: bench.loop_place(path.clone())?, path });
    }
    let lane = bench.mount_place("lane")?;
    let found = (|| {
        with_lane(specimen, &disks, &lane.path, true, stop, fill(seed))??;
        let hit = break_blocks(&disks[0].path, target, blocks, seed).map_err(cannot("damage a block"))?;
        let mut found = Damage {
            lane: specimen.name().to_owned(),
            of: if target == Target::Data { "data" } else { "metadata" }.to_owned(),
            devices,
            blocks: hit.blocks,
            files: FILES,
            hit: hit.files.len() as u64,
            ..Damage::default()
        };
        look(specimen, &disks, &lane.path, (&hit.files, seed), &mut found, stop)?;
        Ok(found)
    })();
    bench.clear(lane)?;
    for disk in disks {
        bench.clear(disk.place)?;
        std::fs::remove_file(&disk.path).map_err(cannot("remove an image"))?;
    }
    found
}

/// Attaches the devices, mounts, acts, and takes both away again. The outer error is the machine's; the inner is
/// that the lane does not mount or what `act` answered.
fn with_lane<T>(
    specimen: &Specimen,
    disks: &[Disk],
    target: &Path,
    fresh: bool,
    stop: &AtomicBool,
    act: impl FnOnce(&Path, &[LoopDevice]) -> Result<T, Failure>,
) -> Result<Result<T, Failure>, Failure> {
    let mut devices = Vec::new();
    for disk in disks {
        devices.push(LoopDevice::attach(&disk.path, Some(SECTOR_BYTES)).map_err(lane_failure)?);
    }
    let paths: Vec<PathBuf> = devices.iter().map(LoopDevice::path).collect();
    let others: Vec<&Path> = paths[1..].iter().map(PathBuf::as_path).collect();
    let done = (|| {
        if fresh {
            specimen.format(&paths[0], &others, stop).map_err(lane_failure)?;
        }
        let more: Vec<String> = others.iter().map(|path| format!("device={}", path.display())).collect();
        specimen.mount_with(&paths[0], target, &more).map_err(lane_failure)?;
        act(target, &devices)
    })();
    unmount(target)?;
    for device in &mut devices {
        device.detach().map_err(lane_failure)?;
    }
    Ok(done)
}

fn name(file: u64) -> String {
    format!("f{file}")
}

/// Writes the files.
fn fill(seed: u64) -> impl FnOnce(&Path, &[LoopDevice]) -> Result<(), Failure> {
    move |lane, _| {
        let folder = lane.join("work");
        let written = (|| {
            std::fs::create_dir(&folder)?;
            for file in 0..FILES {
                std::fs::write(folder.join(name(file)), bytes_of(seed, file, MOST))?;
            }
            Ok(rustix::fs::syncfs(File::open(&folder)?)?)
        })();
        written.map_err(cannot("fill the lane"))
    }
}

/// What was damaged.
struct Hit {
    blocks: u64,
    files: BTreeSet<u64>,
}

/// Changes bytes in the middle of blocks, drawn from the seed.
fn break_blocks(path: &Path, target: Target, wanted: u32, seed: u64) -> std::io::Result<Hit> {
    let mut owner: HashMap<Vec<u8>, u64> = HashMap::new();
    for file in 0..FILES {
        for block in bytes_of(seed, file, MOST).chunks(BLOCK) {
            // Behind the end of a file, its last block holds zeros.
            let mut whole = block.to_vec();
            whole.resize(BLOCK, 0);
            owner.insert(whole, file);
        }
    }
    let image = File::options().read(true).write(true).open(path)?;
    let length = image.metadata()?.len();
    let mut candidates: Vec<(u64, Option<u64>)> = Vec::new();
    let mut buffer = vec![0u8; BLOCK];
    let mut at = SPARED;
    while at < length {
        // Holes were never written by anybody.
        at = match rustix::fs::seek(&image, rustix::fs::SeekFrom::Data(at)) {
            Ok(next) => next / BLOCK as u64 * BLOCK as u64,
            Err(rustix::io::Errno::NXIO) => break,
            Err(error) => return Err(error.into()),
        };
        let end = rustix::fs::seek(&image, rustix::fs::SeekFrom::Hole(at))?.min(length);
        while at + BLOCK as u64 <= end {
            image.read_exact_at(&mut buffer, at)?;
            let of = owner.get(&buffer).copied();
            let fits = match target {
                Target::Data => of.is_some(),
                Target::Metadata => of.is_none() && buffer.iter().any(|&byte| byte != 0),
            };
            if fits {
                candidates.push((at, of));
            }
            at += BLOCK as u64;
        }
        at = at.max(end);
    }
    let mut hit = Hit { blocks: 0, files: BTreeSet::new() };
    // Metadata is little: damaging most of it would only show that nothing mounts then.
    let most = match target {
        Target::Data => candidates.len(),
        Target::Metadata => (candidates.len() / LEFT_WHOLE).max(1),
    };
    for draw in 0..u64::from(wanted).min(most as u64) {
        if candidates.is_empty() {
            break;
        }
        let bytes = bytes_of(seed ^ 0xdead, draw, 4096);
        let random = u64::from_le_bytes(bytes[8..16].try_into().expect("eight bytes"));
        let (offset, of) = candidates.swap_remove((random % candidates.len() as u64) as usize);
        image.read_exact_at(&mut buffer, offset)?;
        let from = (random >> 32) as usize % (BLOCK - CHANGED);
        buffer[from..from + CHANGED].iter_mut().for_each(|byte| *byte ^= 0xa5);
        image.write_all_at(&buffer, offset)?;
        hit.blocks += 1;
        hit.files.extend(of);
    }
    image.sync_all()?;
    Ok(hit)
}

/// Reads everything, then has the filesystem's own tools look.
fn look(
    specimen: &Specimen,
    disks: &[Disk],
    target: &Path,
    (hit, seed): (&BTreeSet<u64>, u64),
    found: &mut Damage,
    stop: &AtomicBool,
) -> Result<(), Failure> {
    let mounted = with_lane(specimen, disks, target, false, stop, |lane, _| {
        for file in 0..FILES {
            match std::fs::read(lane.join("work").join(name(file))) {
                Ok(bytes) if bytes == bytes_of(seed, file, MOST) => found.repaired += u64::from(hit.contains(&file)),
                // A file that is simply gone is a wrong answer, not a refused one.
                Ok(_) => found.silent += 1,
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => found.silent += 1,
                Err(_) => found.refused += 1,
            }
        }
        specimen.scrub(lane, stop).map_err(lane_failure)
    })?;
    let mut told = match mounted {
        Ok(told) => told,
        Err(failure) if failure.status == crate::failure::Status::Failed => {
            found.unmountable = failure.message;
            Consistency::Unknown
        }
        Err(failure) => return Err(failure),
    };
    if told == Consistency::Unknown {
        told = check(specimen, &disks[0].path, stop)?;
    }
    if let Consistency::Complaint(words) = told {
        (found.noticed, found.scrub) = (true, words);
    }
    Ok(())
}

fn check(specimen: &Specimen, path: &Path, stop: &AtomicBool) -> Result<Consistency, Failure> {
    let mut device = LoopDevice::attach(path, Some(SECTOR_BYTES)).map_err(lane_failure)?;
    let told = specimen.check(&device.path(), stop);
    device.detach().map_err(lane_failure)?;
    match told {
        Err(LaneFailure::Interrupted) => Err(Failure::interrupted()),
        told => told.map_err(lane_failure),
    }
}
