//! Crash images, one after the other: shown, mounted, looked at, unmounted, checked.

use super::recording::{Recording, SECTOR_BYTES, detach, disk_places};
use super::scratch_space::{ScratchMount, ScratchSpace, unmount};
use crate::commands::lane_failure;
use crate::failure::Failure;
use crashes::Replayer;
use crashes::crash_model::Cut;
use engine::durable::{Found, Kind};
use lanes::loop_device::LoopDevice;
use lanes::{Consistency, Ground, LaneFailure, SingleLane, mountinfo};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{PoisonError, RwLock};

/// What one image showed.
#[derive(Debug, Clone)]
pub struct Replayed {
    /// The cut.
    pub cut: Cut,
    /// Records that were acknowledged before it.
    pub acknowledged: u64,
    /// Why it did not mount; `None`: it did.
    pub unmountable: Option<String>,
    /// What was wrong with the records.
    pub found: Found,
    /// What the checker complained of; `None`: of nothing.
    pub complaint: Option<String>,
    /// What was repaired before the mount, on a lane without a journal.
    pub repaired: bool,
    /// An array that lacks a disk began only by force.
    pub forced: bool,
}

/// What all images showed.
pub struct Replay {
    /// In the order of the cuts.
    pub seen: Vec<Replayed>,
    /// The most memory that the processes held that showed them, all together.
    pub memory_bytes: u64,
}

/// One worker's places.
struct WorkerMounts {
    /// No other worker's number.
    number: u32,
    fuse: ScratchMount,
    disks: Vec<ScratchMount>,
    lane: ScratchMount,
}

/// What is looked at.
pub struct Inspection<'a> {
    /// The lane.
    pub single_lane: &'a SingleLane,
    /// The work.
    pub kind: &'a Kind,
}

/// Looks at the image of each cut, with so many workers side by side.
///
/// # Errors
/// What the system or the image server says; interrupted.
pub fn replay(
    scratch: &mut ScratchSpace,
    recording: &Recording,
    inspection: &Inspection,
    cuts: &[Cut],
    workers: usize,
    stop: &AtomicBool,
) -> Result<Replay, Failure> {
    let mut seats = Vec::new();
    for worker in 0..workers.clamp(1, cuts.len().max(1)) {
        let fuse = scratch.mount_place(&format!("images{worker}"))?;
        let disks = disk_places(scratch, &fuse, inspection.single_lane)?;
        let lane = scratch.mount_place(&format!("look{worker}"))?;
        seats.push(WorkerMounts { number: worker as u32, fuse, disks, lane });
    }
    // One worker that fails ends the others.
    let over = AtomicBool::new(false);
    let alone = RwLock::new(());
    let share = cuts.len().div_ceil(seats.len()).max(1);
    let results: Vec<Result<Replay, Failure>> = std::thread::scope(|scope| {
        let running: Vec<_> = seats
            .iter()
            .zip(cuts.chunks(share))
            .map(|(seat, part)| {
                let (over, alone) = (&over, &alone);
                scope.spawn(move || {
                    let seen = serve(seat, recording, inspection, part, (stop, over, alone));
                    over.fetch_or(seen.is_err(), Ordering::Relaxed);
                    seen
                })
            })
            .collect();
        let gone = |_| Err(Failure::failed("a thread that looked at crash images failed"));
        running.into_iter().map(|thread| thread.join().unwrap_or_else(gone)).collect()
    });
    for seat in seats {
        for place in [seat.lane].into_iter().chain(seat.disks).chain([seat.fuse]) {
            scratch.clear(place)?;
        }
    }
    let mut all = Replay { seen: Vec::new(), memory_bytes: 0 };
    for result in results {
        let part = result?;
        all.seen.extend(part.seen);
        all.memory_bytes += part.memory_bytes;
    }
    Ok(all)
}

fn serve(
    seat: &WorkerMounts,
    recording: &Recording,
    inspection: &Inspection,
    cuts: &[Cut],
    (stop, over, alone): (&AtomicBool, &AtomicBool, &RwLock<()>),
) -> Result<Replay, Failure> {
    let mut replayer = Replayer::start(&seat.fuse.path, &recording.log)
        .map_err(|error| Failure::failed(format!("cannot show crash images: {error}")))?;
    let mut seen = Vec::with_capacity(cuts.len());
    let mut result = Ok(());
    for &cut in cuts {
        if stop.load(Ordering::Relaxed) {
            result = Err(Failure::interrupted());
            break;
        }
        if over.load(Ordering::Relaxed) {
            break;
        }
        match confirmed(seat, &mut replayer, (recording, inspection), cut, (stop, alone)) {
            Ok(one) => seen.push(one),
            Err(failure) => {
                result = Err(failure);
                break;
            }
        }
    }
    let memory_bytes = replayer.memory_bytes();
    let released = unmount(&seat.lane.path).and(unmount(&seat.fuse.path));
    replayer.wait();
    result.and(released)?;
    let memory_bytes = memory_bytes.map_err(super::cannot("talk to the disk of crash images"))?;
    Ok(Replay { seen, memory_bytes })
}

/// One image. All images of a log carry the same name, and btrfs confuses devices of one name for a moment while
/// another is being mounted: what did not mount, or was complained of, counts only where it does so again while no
/// other image is there; and an image is believed only where the kernel says that it is the one that was asked for.
fn confirmed(
    seat: &WorkerMounts,
    replayer: &mut Replayer,
    what: (&Recording, &Inspection),
    cut: Cut,
    (stop, alone): (&AtomicBool, &RwLock<()>),
) -> Result<Replayed, Failure> {
    let among_others = alone.read().unwrap_or_else(PoisonError::into_inner);
    let seen = look(seat, replayer, what, cut, stop)?;
    drop(among_others);
    match seen {
        Some(seen) if seen.unmountable.is_none() && seen.complaint.is_none() => return Ok(seen),
        _ => {}
    }
    let _alone = alone.write().unwrap_or_else(PoisonError::into_inner);
    look(seat, replayer, what, cut, stop)?.ok_or_else(|| {
        Failure::failed(
            "the kernel mounted another device than the crash image that it was given, so nothing can be said of it; \
             run again while nothing else of this filesystem is mounted",
        )
    })
}

/// One image; `None`: the kernel mounted another device than this one.
fn look(
    seat: &WorkerMounts,
    replayer: &mut Replayer,
    (recording, inspection): (&Recording, &Inspection),
    cut: Cut,
    stop: &AtomicBool,
) -> Result<Option<Replayed>, Failure> {
    let Inspection { single_lane, kind } = inspection;
    let acknowledged =
        replayer.show(cut).map_err(|error| Failure::failed(format!("cannot make a crash image: {error}")))?;
    let mut seen = Replayed {
        cut,
        acknowledged,
        unmountable: None,
        found: Found::default(),
        complaint: None,
        repaired: false,
        forced: false,
    };
    let (mut devices, mut paths) = (Vec::new(), Vec::new());
    for (disk, number) in seat.disks.iter().zip(1..) {
        if single_lane.lost_disk() == Some(number) {
            // The place of a disk that is gone.
            paths.push(disk.path.clone());
            continue;
        }
        let device = LoopDevice::attach(&disk.path, Some(SECTOR_BYTES)).map_err(lane_failure)?;
        paths.push(device.path());
        devices.push(device);
    }
    let itself = match single_lane.stand(seat.number, &paths, true) {
        Ok(ground) => {
            seen.forced = ground.is_forced();
            let check = |lane: &Path| kind.check(&lane.join("work"), recording.terms_at(cut.tick), acknowledged);
            let itself = mount_and_look(&seat.lane.path, &ground, single_lane, check, &mut seen, stop);
            let down = ground.take_down().map_err(lane_failure);
            // What it said counts before what taking it down says.
            let itself = itself?;
            down?;
            itself
        }
        // Layers that do not begin carry nothing that mounts.
        Err(LaneFailure::Failed(said)) => {
            seen.unmountable = Some(said);
            true
        }
        Err(other) => return Err(lane_failure(other)),
    };
    detach(&mut devices)?;
    Ok(itself.then_some(seen))
}

/// Repairs, mounts, looks, unmounts and checks what stands there; answers whether it was this device that was mounted.
fn mount_and_look(
    target: &Path,
    ground: &Ground,
    single_lane: &SingleLane,
    check: impl FnOnce(&Path) -> Found,
    seen: &mut Replayed,
    stop: &AtomicBool,
) -> Result<bool, Failure> {
    if single_lane.is_repaired_before_mount() {
        seen.repaired |= single_lane.repair(ground, stop).map_err(lane_failure)? != Consistency::Clean;
    }
    match single_lane.mount_copy(ground, target) {
        Ok(()) => {}
        Err(LaneFailure::Failed(said)) => {
            seen.unmountable = Some(said);
            return Ok(true);
        }
        Err(other) => return Err(lane_failure(other)),
    }
    let itself = carries(target, ground.devices())?;
    if itself {
        seen.found = check(target);
    }
    unmount(target)?;
    if itself {
        // The checker reads through the cache of the device, which filesystems go past.
        ground.drop_cache().map_err(lane_failure)?;
        if let Consistency::Complaint(said) = single_lane.check(ground, stop).map_err(lane_failure)? {
            seen.complaint = Some(said);
        }
    }
    Ok(itself)
}

/// Whether what is mounted at `target` is one of these devices. btrfs names the device that it really took.
fn carries(target: &Path, devices: &[PathBuf]) -> Result<bool, Failure> {
    let mounts = mountinfo::read().map_err(super::cannot("read /proc/self/mountinfo"))?;
    let number = |path: &Path| path.metadata().map(|of| of.rdev()).ok();
    let mounted = mountinfo::at(&mounts, target).map(|mount| Path::new(&mount.source));
    let is = |source: &Path, device: &PathBuf| {
        source == device || (number(source).is_some() && number(source) == number(device))
    };
    Ok(mounted.is_some_and(|source| devices.iter().any(|device| is(source, device))))
}
