//! One kind of work on one lane, written down by the recording disk.

use super::bench::{Bench, unmount};
use super::cannot;
use crate::commands::lane_failure;
use crate::failure::Failure;
use crashes::Recorder;
use crashes::serve::FILE;
use crashes::work::{Kind, Terms};
use lanes::Specimen;
use lanes::loop_device::LoopDevice;
use std::fs::File;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

/// Sectors of the recording disk: writes are torn at 512 bytes or at 4 KiB.
pub const SECTOR_BYTES: u32 = 512;

/// What was recorded.
pub struct Recording {
    /// The log.
    pub log: PathBuf,
    /// Cuts make sense from this tick on: the filesystem and what the work needs first were safe.
    pub from: u64,
    /// The last tick of the work.
    pub until: u64,
    /// Records acknowledged.
    pub records: u64,
    /// Writes that the disk saw from `from` on.
    pub writes: u64,
    /// Flushes that it saw from `from` on.
    pub flushes: u64,
}

/// Records one kind of work on a fresh filesystem of a lane.
///
/// # Errors
/// What the system, mkfs or the recorder says; where a flush does not arrive, nothing here can be trusted.
pub fn record(
    bench: &mut Bench,
    specimen: &Specimen,
    kind: &Kind,
    terms: Terms,
    disk_bytes: u64,
    log: &str,
    stop: &AtomicBool,
) -> Result<Recording, Failure> {
    let fuse = bench.mount_place("recorder")?;
    let disk = bench.loop_place(fuse.path.join(FILE))?;
    let lane = bench.mount_place("lane")?;
    let log = bench.path(log);
    let mut recorder = Recorder::start(&fuse.path, &bench.path("contents"), &log, disk_bytes)
        .map_err(cannot("start the recording disk"))?;
    let mut device = None;
    let worked = (|| {
        let attached = device.insert(LoopDevice::attach(&disk.path, Some(SECTOR_BYTES)).map_err(lane_failure)?);
        flush_arrives(&mut recorder, &attached.path())?;
        specimen.format(&attached.path(), &[], stop).map_err(lane_failure)?;
        specimen.mount(&attached.path(), &lane.path).map_err(lane_failure)?;
        work(&mut recorder, &attached.path(), &lane.path, kind, terms, stop)
    })();
    // Whatever happened, from the top down: the disk is served until nothing needs it.
    let unmounted = unmount(&lane.path);
    let detached = device.map_or(Ok(()), |mut device| device.detach().map_err(lane_failure));
    let released = unmount(&fuse.path);
    recorder.wait();
    let (from, until, records, writes, flushes) = worked?;
    unmounted.and(detached).and(released)?;
    for place in [lane, disk, fuse] {
        bench.clear(place)?;
    }
    Ok(Recording { log, from, until, records, writes, flushes })
}

/// Proves before every run that a flush of the block device arrives at the recorder as one: without that every
/// filesystem would look unsafe, or the log would call safe what is not.
pub fn flush_arrives(recorder: &mut Recorder, device: &Path) -> Result<(), Failure> {
    let talk = cannot("talk to the recording disk");
    let before = recorder.settle().map_err(&talk)?;
    let file = File::options().read(true).write(true).open(device).map_err(cannot("open the loop device"))?;
    file.write_all_at(&[0u8; 4096], 0).map_err(cannot("write to the recording disk"))?;
    file.sync_all().map_err(cannot("flush the recording disk"))?;
    let after = recorder.settle().map_err(&talk)?;
    match after.flushes > before.flushes && after.writes > before.writes {
        true => Ok(()),
        false => Err(Failure::failed(
            "a flush of the loop device did not arrive at the recording disk, so no power cut can be simulated on this \
             kernel; use another one",
        )),
    }
}

fn work(
    recorder: &mut Recorder,
    device: &Path,
    lane: &Path,
    kind: &Kind,
    terms: Terms,
    stop: &AtomicBool,
) -> Result<(u64, u64, u64, u64, u64), Failure> {
    let folder = lane.join("work");
    std::fs::create_dir(&folder).map_err(cannot("make a folder on the lane"))?;
    let failed = |error| cannot(format!("do the work {}", kind.name))(error);
    (kind.prepare)(&folder, terms).map_err(failed)?;
    rustix::fs::syncfs(File::open(lane).map_err(failed)?).map_err(|error| failed(error.into()))?;
    // A lane without barriers sends no flush with it. What it made before the first record must not count as lost:
    // the device itself is flushed.
    File::open(device).and_then(|device| device.sync_all()).map_err(failed)?;
    let begun = recorder.settle().map_err(failed)?;
    let mut records = 0;
    let done = (kind.run)(&folder, terms, &mut |record| {
        if stop.load(Ordering::Relaxed) {
            return Err(std::io::Error::from(std::io::ErrorKind::Interrupted));
        }
        records = record;
        recorder.acknowledge(record).map(drop)
    });
    if stop.load(Ordering::Relaxed) {
        return Err(Failure::interrupted());
    }
    done.map_err(failed)?;
    let ended = recorder.settle().map_err(failed)?;
    Ok((begun.tick, ended.tick, records, ended.writes - begun.writes, ended.flushes - begun.flushes))
}
