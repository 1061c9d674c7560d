//! A full disk, and a disk that refuses a write or a flush.

use super::cannot;
use super::recording::{SECTOR_BYTES, flush_arrives};
use super::scratch_space::{ScratchSpace, unmount};
use crate::commands::lane_failure;
use crate::failure::Failure;
use crashes::Recorder;
use crashes::serve::FILE;
use engine::durable::{Terms, bytes_of, find, run_telling};
use lanes::loop_device::LoopDevice;
use lanes::{Ground, SingleLane};
use model::durability::{Fault, Full};
use std::fs::File;
use std::io::Write as _;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

/// Files that are safe before the disk is filled.
const SAFE_FILES: u64 = 16;
/// Size of a file that fills the disk.
const FILLER_BYTES: usize = 4 << 20;
/// How many of them are deleted again.
const DELETED: usize = 8;
/// Records of the work on a failing disk.
const RECORDS: u64 = 60;
/// Which write or flush of the work is refused.
pub const REFUSED: [(u64, u64); 4] = [(3, 0), (40, 0), (0, 3), (0, 20)];

/// Fills one lane and tries to live on.
///
/// # Errors
/// What the machine says; interrupted.
pub fn full(
    scratch: &mut ScratchSpace,
    single_lane: &SingleLane,
    (seed, disk_bytes): (u64, u64),
    stop: &AtomicBool,
) -> Result<Full, Failure> {
    let path = scratch.path("disk0");
    File::create(&path).and_then(|file| file.set_len(disk_bytes)).map_err(cannot("make an image"))?;
    let disk = scratch.loop_place(path.clone())?;
    let lane = scratch.mount_place("lane")?;
    let mut device = LoopDevice::attach(&path, Some(SECTOR_BYTES)).map_err(lane_failure)?;
    let done = (|| {
        let ground = Ground::disk(&device.path());
        single_lane.format(&ground, stop).map_err(lane_failure)?;
        single_lane.mount(&ground, &lane.path).map_err(lane_failure)?;
        let filled = fill(&lane.path, single_lane.name(), seed, stop);
        filled.map_err(|error| if is_set(stop) { Failure::interrupted() } else { cannot("fill the lane")(error) })
    })();
    unmount(&lane.path)?;
    device.detach().map_err(lane_failure)?;
    scratch.clear(lane)?;
    scratch.clear(disk)?;
    std::fs::remove_file(&path).map_err(cannot("remove an image"))?;
    done
}

fn is_set(stop: &AtomicBool) -> bool {
    stop.load(Ordering::Relaxed)
}

/// An error of its own kind where somebody wants it to end.
fn go_on(stop: &AtomicBool) -> std::io::Result<()> {
    match is_set(stop) {
        true => Err(std::io::Error::from(std::io::ErrorKind::Interrupted)),
        false => Ok(()),
    }
}

fn fill(lane: &Path, name: &str, seed: u64, stop: &AtomicBool) -> std::io::Result<Full> {
    let mut found = Full { lane: name.to_owned(), files: SAFE_FILES, ..Full::default() };
    let safe = |file: u64| (lane.join(format!("safe{file}")), bytes_of(seed, file, 64 << 10));
    for file in 0..SAFE_FILES {
        let (path, bytes) = safe(file);
        std::fs::write(path, bytes)?;
    }
    rustix::fs::syncfs(File::open(lane)?)?;
    // Random bytes: nothing can be compressed or shared.
    let filler = bytes_of(seed ^ 1, 1, FILLER_BYTES as u64);
    let block: Vec<u8> = filler.iter().copied().cycle().take(FILLER_BYTES).collect();
    let mut names = Vec::new();
    let mut answered = String::new();
    // From large to small, so that the last per cent is filled too.
    for size in [FILLER_BYTES, 256 << 10, 4096] {
        loop {
            go_on(stop)?;
            let path = lane.join(format!("fill{}", names.len()));
            let written = File::create(&path).and_then(|mut file| {
                file.write_all(&block[..size])?;
                file.sync_all()
            });
            match written {
                Ok(()) => found.filled_bytes += size as u64,
                Err(error) => {
                    answered = reason(&error);
                    break;
                }
            }
            names.push((path, size as u64));
            if names.len() > 200_000 {
                break;
            }
        }
    }
    found.answered = answered;
    let deleted: Vec<(std::path::PathBuf, u64)> = names.iter().take(DELETED).cloned().collect();
    found.could_delete = deleted.iter().all(|(path, _)| std::fs::remove_file(path).is_ok());
    let _ = rustix::fs::syncfs(File::open(lane)?);
    let room: u64 = deleted.iter().map(|(_, size)| size).sum();
    let mut back = 0u64;
    for turn in 0..room / (256 << 10) {
        go_on(stop)?;
        let written = File::create(lane.join(format!("again{turn}"))).and_then(|mut file| {
            file.write_all(&block[..256 << 10])?;
            file.sync_all()
        });
        if written.is_err() {
            break;
        }
        back += 256 << 10;
    }
    found.came_back = back as f64 / room.max(1) as f64;
    for file in 0..SAFE_FILES {
        let (path, bytes) = safe(file);
        found.whole += u64::from(std::fs::read(path).is_ok_and(|there| there == bytes));
    }
    Ok(found)
}

/// Has the disk refuse one write or one flush under one lane.
///
/// # Errors
/// What the machine says; interrupted.
pub fn refuse(
    scratch: &mut ScratchSpace,
    single_lane: &SingleLane,
    (write, flush): (u64, u64),
    (seed, disk_bytes): (u64, u64),
    stop: &AtomicBool,
) -> Result<Fault, Failure> {
    let fuse = scratch.mount_place("recorder")?;
    let disk = scratch.loop_place(fuse.path.join(FILE))?;
    let lane = scratch.mount_place("lane")?;
    let (contents, log) = (scratch.path("contents"), scratch.path("log"));
    let mut recorder =
        Recorder::start(&fuse.path, &contents, &log, disk_bytes, 1).map_err(cannot("start the recording disk"))?;
    let mut device = None;
    let done = (|| {
        let attached = device.insert(LoopDevice::attach(&disk.path, Some(SECTOR_BYTES)).map_err(lane_failure)?);
        let path = attached.path();
        flush_arrives(&mut recorder, &path)?;
        let ground = Ground::disk(&path);
        single_lane.format(&ground, stop).map_err(lane_failure)?;
        single_lane.mount(&ground, &lane.path).map_err(lane_failure)?;
        work(&mut recorder, single_lane, (&path, &lane.path), (write, flush), seed, stop)
    })();
    let unmounted = unmount(&lane.path);
    let detached = device.map_or(Ok(()), |mut device| device.detach().map_err(lane_failure));
    let released = unmount(&fuse.path);
    recorder.wait();
    let found = done?;
    unmounted.and(detached).and(released)?;
    for place in [lane, disk, fuse] {
        scratch.clear(place)?;
    }
    for path in [contents, log] {
        std::fs::remove_file(&path).map_err(cannot("remove a log"))?;
    }
    Ok(found)
}

fn work(
    recorder: &mut Recorder,
    single_lane: &SingleLane,
    (device, lane): (&Path, &Path),
    (write, flush): (u64, u64),
    seed: u64,
    stop: &AtomicBool,
) -> Result<Fault, Failure> {
    let kind = find("append").ok_or_else(|| Failure::failed("the work `append` is missing"))?;
    let terms = Terms::new(RECORDS, seed);
    let failed = cannot("prepare the work");
    let folder = lane.join("work");
    std::fs::create_dir(&folder).map_err(&failed)?;
    kind.prepare(&folder, terms).map_err(&failed)?;
    rustix::fs::syncfs(File::open(lane).map_err(&failed)?).map_err(|error| failed(error.into()))?;
    let before = recorder.settle().map_err(&failed)?;
    recorder.fail(write, flush).map_err(&failed)?;
    let mut acknowledged = 0;
    let told = run_telling(&folder, terms, &mut acknowledging(stop, &mut acknowledged));
    if is_set(stop) {
        return Err(Failure::interrupted());
    }
    let (by, told) = told.err().map(|(call, error)| (call.name(), reason(&error))).unwrap_or_default();
    let after = recorder.settle().map_err(&failed)?;
    // Whole again, as after the cable was plugged in.
    recorder.fail(0, 0).map_err(&failed)?;
    let mut found = Fault {
        lane: single_lane.name().to_owned(),
        of: if write > 0 { "write" } else { "flush" }.to_owned(),
        number: write.max(flush),
        happened: match write > 0 {
            true => after.writes - before.writes >= write,
            false => after.flushes - before.flushes >= flush,
        },
        told,
        by: by.to_owned(),
        acknowledged,
        ..Fault::default()
    };
    let while_mounted = kind.check(&folder, terms, acknowledged);
    found.lost_mounted = while_mounted.lost + while_mounted.torn;
    let another = File::create(lane.join("another")).and_then(|mut file| {
        file.write_all(b"another")?;
        file.sync_all()
    });
    found.writable = another.is_ok();
    unmount(lane)?;
    match single_lane.mount(&Ground::disk(device), lane) {
        Ok(()) => {
            let seen = kind.check(&folder, terms, acknowledged);
            found.lost = seen.lost + seen.torn;
            found.said = seen.first;
        }
        Err(failure) => found.unmountable = failure.to_string(),
    }
    Ok(found)
}

/// Notes each record, and ends the work where somebody wants it to end.
fn acknowledging<'a>(stop: &'a AtomicBool, last: &'a mut u64) -> impl FnMut(u64) -> std::io::Result<()> + 'a {
    move |record| {
        *last = record;
        go_on(stop)
    }
}

/// The reason without its number.
fn reason(error: &std::io::Error) -> String {
    let text = error.to_string();
    text.split(" (os error").next().unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stop_ends_a_full_disk_and_a_failing_one() {
        let (stop, folder) = (AtomicBool::new(true), tempfile::tempdir().unwrap());
        let error = fill(folder.path(), "x", 1, &stop).unwrap_err();
        assert_eq!(error.kind(), std::io::ErrorKind::Interrupted);
        let fillers = std::fs::read_dir(folder.path()).unwrap().flatten();
        assert_eq!(fillers.filter(|entry| entry.file_name().to_string_lossy().starts_with("fill")).count(), 0);

        let kind = find("append").unwrap();
        kind.prepare(folder.path(), Terms::new(9, 1)).unwrap();
        let mut last = 0;
        let (call, error) =
            run_telling(folder.path(), Terms::new(9, 1), &mut acknowledging(&stop, &mut last)).unwrap_err();
        assert_eq!((call.name(), error.kind(), last), ("acknowledge", std::io::ErrorKind::Interrupted, 1));
    }
}
