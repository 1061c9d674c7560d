//! Blocks damaged behind the filesystem's back.
//!
//! Which block of the device holds which block of a file is found by looking: every block of every file
//! is unlike all others, so that no filesystem has to tell where it put it. Which block is of the filesystem itself, and
//! alive, is found by looking too: a disk that notes what is read is mounted cold, and every file on it read.

use super::cannot;
use super::recording::{SECTOR_BYTES, detach};
use super::scratch_space::{ScratchMount, ScratchSpace, unmount};
use crate::commands::lane_failure;
use crate::failure::Failure;
use crashes::Watcher;
use crashes::serve::{FILE, WATCHED_BLOCK};
use engine::durable::bytes_of;
use lanes::loop_device::LoopDevice;
use lanes::{Consistency, LaneFailure, Scrub, SingleLane};
use model::durability::Damage;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::fs::File;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

/// Files on the lane.
const FILES: u64 = 96;
/// Largest of them in bytes.
const MOST: u64 = 96 << 10;
/// What is damaged at a time, and what reads are counted in.
const BLOCK: usize = WATCHED_BLOCK as usize;
/// Where blocks of files may begin.
const SECTOR: usize = SECTOR_BYTES as usize;
/// Superblocks lie at the beginning: without one nothing mounts, and nothing else would be learnt.
const SPARED: u64 = 128 << 10;
/// Of so many blocks of metadata that are read at most one is damaged.
const LEFT_WHOLE: usize = 4;
/// Bytes that are changed in a block, at most.
const CHANGED: usize = 64;

/// What is damaged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Target {
    /// Blocks of files.
    Data,
    /// Blocks of none.
    Metadata,
}

/// One device of the lane: the file that holds it, and where it is shown while reads are noted.
struct Disk {
    path: PathBuf,
    place: ScratchMount,
    shown: ScratchMount,
    shown_loop: ScratchMount,
}

/// Damages so many blocks of one lane and looks at what it says.
///
/// # Errors
/// What the machine says; interrupted.
pub fn damage(
    scratch: &mut ScratchSpace,
    single_lane: &SingleLane,
    target: Target,
    blocks: u32,
    (seed, disk_bytes): (u64, u64),
    stop: &AtomicBool,
) -> Result<Damage, Failure> {
    let devices = single_lane.disks();
    let mut disks = Vec::new();
    for index in 0..devices {
        let path = scratch.path(&format!("disk{index}"));
        let file = File::create(&path).and_then(|file| file.set_len(disk_bytes));
        file.map_err(cannot("make an image"))?;
        let shown = scratch.mount_place(&format!("shown{index}"))?;
        let shown_loop = scratch.loop_place(shown.path.join(FILE))?;
        disks.push(Disk { place: scratch.loop_place(path.clone())?, path, shown, shown_loop });
    }
    let lane = scratch.mount_place("lane")?;
    let found = (|| {
        let files: Vec<&Path> = disks.iter().map(|disk| disk.path.as_path()).collect();
        with_lane(single_lane, &files, &lane.path, true, stop, fill(seed))??;
        // Where there are two copies, which of them is read is the kernel's choice: a scrub reads both.
        let (walked, alive) = noting_reads(single_lane, &disks, &lane.path, stop, |lane, _| {
            for file in 0..FILES {
                read(lane, file).map_err(cannot("read a file that was not damaged"))?;
            }
            if devices > 1 { single_lane.scrub(lane, stop).map(drop).map_err(lane_failure) } else { Ok(()) }
        })?;
        walked?;
        let hit = break_blocks(&disks[0].path, (target, &alive), blocks, seed).map_err(cannot("damage a block"))?;
        let mut found = Damage {
            lane: single_lane.name().to_owned(),
            of: if target == Target::Data { "data" } else { "metadata" }.to_owned(),
            devices,
            blocks: hit.blocks.len() as u64,
            files: FILES,
            hit: hit.files.len() as u64,
            ..Damage::default()
        };
        look(single_lane, &disks, &lane.path, (&hit, seed), &mut found, stop)?;
        Ok(found)
    })();
    scratch.clear(lane)?;
    for disk in disks {
        for place in [disk.shown_loop, disk.shown, disk.place] {
            scratch.clear(place)?;
        }
        std::fs::remove_file(&disk.path).map_err(cannot("remove an image"))?;
    }
    found
}

/// Attaches the devices, mounts, acts, and takes both away again. The outer error is the machine's; the inner is
/// that the lane does not mount or what `act` answered.
fn with_lane<T>(
    single_lane: &SingleLane,
    disks: &[&Path],
    target: &Path,
    fresh: bool,
    stop: &AtomicBool,
    act: impl FnOnce(&Path, &[LoopDevice]) -> Result<T, Failure>,
) -> Result<Result<T, Failure>, Failure> {
    let mut devices = Vec::new();
    for disk in disks {
        devices.push(LoopDevice::attach(disk, Some(SECTOR_BYTES)).map_err(lane_failure)?);
    }
    let paths: Vec<PathBuf> = devices.iter().map(LoopDevice::path).collect();
    let mut ground = None;
    let done = (|| {
        let ground = ground.insert(single_lane.stand(0, &paths, !fresh).map_err(lane_failure)?);
        if fresh {
            single_lane.format(ground, stop).map_err(lane_failure)?;
        }
        single_lane.mount(ground, target).map_err(lane_failure)?;
        act(target, &devices)
    })();
    unmount(target)?;
    ground.map_or(Ok(()), |ground| ground.take_down().map_err(lane_failure))?;
    detach(&mut devices)?;
    Ok(done)
}

/// [`with_lane`] on disks that note what is read of them, and that stay as they are: what is written is forgotten. Answers
/// the blocks of the first disk that were read too.
fn noting_reads<T>(
    single_lane: &SingleLane,
    disks: &[Disk],
    target: &Path,
    stop: &AtomicBool,
    act: impl FnOnce(&Path, &[LoopDevice]) -> Result<T, Failure>,
) -> Result<(Result<T, Failure>, BTreeSet<u64>), Failure> {
    let mut watchers = Vec::new();
    let done: Result<_, Failure> = (|| {
        for disk in disks {
            let watcher = Watcher::start(&disk.shown.path, &disk.path);
            watchers.push(watcher.map_err(cannot("start the disk that notes what is read"))?);
        }
        let files: Vec<PathBuf> = disks.iter().map(|disk| disk.shown_loop.path.clone()).collect();
        let files: Vec<&Path> = files.iter().map(PathBuf::as_path).collect();
        let done = with_lane(single_lane, &files, target, false, stop, act)?;
        let read = watchers[0].blocks_read().map_err(cannot("talk to the disk that notes what is read"))?;
        Ok((done, read))
    })();
    let released = disks.iter().map(|disk| unmount(&disk.shown.path)).collect::<Result<Vec<()>, Failure>>();
    watchers.into_iter().for_each(Watcher::wait);
    let done = done?;
    released.map(|_| done)
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

/// Reads one file by its folder, as a walk does.
fn read(lane: &Path, file: u64) -> std::io::Result<Vec<u8>> {
    let folder = lane.join("work");
    for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
        let _ = entry.metadata();
    }
    std::fs::read(folder.join(name(file)))
}

/// What was damaged: blocks of the first disk by their numbers, and files.
struct Hit {
    blocks: BTreeSet<u64>,
    files: BTreeSet<u64>,
}

/// Changes bytes of blocks, drawn from the seed: of a file inside of its own bytes, not in what lies behind its end; of
/// metadata only in blocks that are `alive`.
fn break_blocks(
    path: &Path,
    (target, alive): (Target, &BTreeSet<u64>),
    wanted: u32,
    seed: u64,
) -> std::io::Result<Hit> {
    let image = File::options().read(true).write(true).open(path)?;
    let candidates = candidates(&image, (target, alive), seed)?;
    break_some(&image, target, candidates, wanted, seed)
}

/// A block that may be damaged: where it is, and of a file whose block it is and how many bytes of it.
type Candidate = (u64, Option<(u64, usize)>);

/// Looks for blocks of files wherever a sector begins: below layers, and where a filesystem's own blocks are smaller, they
/// lie anywhere. A block of the filesystem's own has no part of a file in it.
fn candidates(image: &File, (target, alive): (Target, &BTreeSet<u64>), seed: u64) -> std::io::Result<Vec<Candidate>> {
    let mut owner: HashMap<Vec<u8>, (u64, usize)> = HashMap::new();
    let mut pieces: HashSet<Vec<u8>> = HashSet::new();
    for file in 0..FILES {
        for block in bytes_of(seed, file, MOST).chunks(BLOCK) {
            // Behind the end of a file, its last block holds zeros.
            let mut whole = block.to_vec();
            whole.resize(BLOCK, 0);
            pieces.extend(whole.chunks(SECTOR).filter(|piece| piece.iter().any(|&byte| byte != 0)).map(<[u8]>::to_vec));
            owner.insert(whole, (file, block.len()));
        }
    }
    let length = image.metadata()?.len();
    let mut candidates = Vec::new();
    let mut buffer = vec![0u8; BLOCK];
    let mut at = SPARED;
    while at < length {
        // Holes were never written by anybody.
        at = match rustix::fs::seek(image, rustix::fs::SeekFrom::Data(at)) {
            Ok(next) => next / BLOCK as u64 * BLOCK as u64,
            Err(rustix::io::Errno::NXIO) => break,
            Err(error) => return Err(error.into()),
        };
        let end = rustix::fs::seek(image, rustix::fs::SeekFrom::Hole(at))?.min(length);
        while at + BLOCK as u64 <= end {
            image.read_exact_at(&mut buffer, at)?;
            let of = owner.get(&buffer[..]).copied();
            let is_metadata = || {
                let free = buffer.chunks(SECTOR).all(|piece| !pieces.contains(piece));
                free && alive.contains(&(at / WATCHED_BLOCK)) && buffer.iter().any(|&byte| byte != 0)
            };
            let step = match target {
                Target::Data if of.is_none() => SECTOR,
                _ => BLOCK,
            };
            if if target == Target::Data { of.is_some() } else { of.is_none() && is_metadata() } {
                candidates.push((at, of));
            }
            at += step as u64;
        }
        at = at.max(end);
    }
    Ok(candidates)
}

/// Changes so many of them, drawn from the seed.
fn break_some(
    image: &File,
    target: Target,
    mut candidates: Vec<Candidate>,
    wanted: u32,
    seed: u64,
) -> std::io::Result<Hit> {
    let mut buffer = vec![0u8; BLOCK];
    let mut hit = Hit { blocks: BTreeSet::new(), files: BTreeSet::new() };
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
        let inside = of.map_or(BLOCK, |(_, bytes)| bytes);
        let changed = CHANGED.min(inside);
        let from = (random >> 32) as usize % (inside - changed + 1);
        buffer[from..from + changed].iter_mut().for_each(|byte| *byte ^= 0xa5);
        image.write_all_at(&buffer, offset)?;
        hit.blocks.insert(offset / WATCHED_BLOCK);
        hit.files.extend(of.map(|(file, _)| file));
    }
    image.sync_all()?;
    Ok(hit)
}

/// Reads everything, then has the filesystem's own tools look.
fn look(
    single_lane: &SingleLane,
    disks: &[Disk],
    target: &Path,
    (hit, seed): (&Hit, u64),
    found: &mut Damage,
    stop: &AtomicBool,
) -> Result<(), Failure> {
    let (mounted, seen) = noting_reads(single_lane, disks, target, stop, |lane, _| {
        for file in 0..FILES {
            match read(lane, file) {
                Ok(bytes) if bytes == bytes_of(seed, file, MOST) => {
                    found.repaired += u64::from(hit.files.contains(&file));
                }
                // A file that is simply gone is a wrong answer, not a refused one.
                Ok(_) => found.silent += 1,
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => found.silent += 1,
                Err(_) => found.refused += 1,
            }
        }
        single_lane.scrub(lane, stop).map_err(lane_failure)
    })?;
    found.read = Some(hit.blocks.intersection(&seen).count() as u64);
    let mut told = match mounted {
        Ok(Scrub { told, corrected }) => {
            found.corrected = corrected;
            told
        }
        Err(failure) if failure.status == crate::failure::Status::Failed => {
            found.unmountable = failure.message;
            Consistency::Unknown
        }
        Err(failure) => return Err(failure),
    };
    let layered = !single_lane.spec().layers.is_empty();
    if told == Consistency::Unknown || layered {
        let (of_checker, mismatches) = check(single_lane, disks, stop)?;
        found.array_mismatches = mismatches;
        if told == Consistency::Unknown {
            told = of_checker;
        }
    }
    if let Consistency::Complaint(words) = told {
        (found.noticed, found.scrub) = (true, words);
    }
    Ok(())
}

/// Has the arrays that it stands on look, then the checker at what stands on these.
fn check(single_lane: &SingleLane, disks: &[Disk], stop: &AtomicBool) -> Result<(Consistency, Option<u64>), Failure> {
    let mut devices = Vec::new();
    for disk in disks {
        devices.push(LoopDevice::attach(&disk.path, Some(SECTOR_BYTES)).map_err(lane_failure)?);
    }
    let paths: Vec<PathBuf> = devices.iter().map(LoopDevice::path).collect();
    let ground = single_lane.stand(0, &paths, true).map_err(lane_failure)?;
    let told = ground.mismatches(stop).and_then(|found| Ok((single_lane.check(&ground, stop)?, found)));
    ground.take_down().map_err(lane_failure)?;
    detach(&mut devices)?;
    match told {
        Err(LaneFailure::Interrupted) => Err(Failure::interrupted()),
        told => told.map_err(lane_failure),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn changed(before: &[u8], path: &Path) -> BTreeSet<usize> {
        let after = std::fs::read(path).unwrap();
        (0..before.len()).filter(|&at| before[at] != after[at]).collect()
    }

    #[test]
    fn only_metadata_that_is_read_is_damaged() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("disk");
        let before = vec![1; SPARED as usize + 200 * BLOCK];
        std::fs::write(&path, &before).unwrap();
        // The first is spared, the last lies beyond the end.
        let alive: BTreeSet<u64> = [3, 40, 41, 77, 90, 100_000].into();
        let hit = break_blocks(&path, (Target::Metadata, &alive), 32, 5).unwrap();
        assert!(!hit.blocks.is_empty() && hit.files.is_empty());
        let blocks: BTreeSet<u64> = changed(&before, &path).iter().map(|at| (at / BLOCK) as u64).collect();
        assert_eq!(blocks, hit.blocks);
        assert!(blocks.is_subset(&[40, 41, 77, 90].into()), "{blocks:?}");
        let none = break_blocks(&path, (Target::Metadata, &BTreeSet::new()), 32, 5).unwrap();
        assert!(none.blocks.is_empty());
    }

    #[test]
    fn a_file_is_damaged_inside_of_its_bytes() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("disk");
        let mut before = vec![0; SPARED as usize];
        let mut inside = BTreeSet::new();
        for file in 0..FILES {
            // The last blocks alone: most of each is behind the end of its file.
            let bytes = bytes_of(9, file, MOST);
            let last = bytes.chunks(BLOCK).next_back().unwrap();
            inside.extend(before.len()..before.len() + last.len());
            before.extend(last);
            before.resize(before.len().next_multiple_of(BLOCK), 0);
        }
        std::fs::write(&path, &before).unwrap();
        let hit = break_blocks(&path, (Target::Data, &BTreeSet::new()), 64, 9).unwrap();
        assert_eq!((hit.blocks.len(), hit.files.len()), (64, 64));
        let changed = changed(&before, &path);
        assert!(changed.is_subset(&inside), "{:?}", changed.difference(&inside).next());
        let blocks: BTreeSet<u64> = changed.iter().map(|at| (at / BLOCK) as u64).collect();
        assert_eq!(blocks, hit.blocks);
    }
}
