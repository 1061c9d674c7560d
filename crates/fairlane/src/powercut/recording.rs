//! One kind of work on one lane, written down by the recording disk.

use super::cannot;
use super::scratch_space::{ScratchMount, ScratchSpace, unmount};
use crate::commands::lane_failure;
use crate::failure::Failure;
use crashes::Recorder;
use crashes::control::Answer;
use crashes::serve::file_of;
use engine::durable::{Kind, Terms};
use lanes::loop_device::LoopDevice;
use lanes::{Ground, SingleLane};
use rustix::fs::{FallocateFlags, fallocate};
use std::fs::File;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

/// How often emptying a disk is tried that somebody uses.
const EMPTYING_ATTEMPTS: u32 = 20;
/// Sectors of the recording disk: writes are torn at 512 bytes or at 4 KiB.
pub const SECTOR_BYTES: u32 = 512;

/// What was recorded.
pub struct Recording {
    /// The log.
    pub log: PathBuf,
    /// Where cuts make sense, in ticks: from when the filesystem and what the work needs first were safe, to when the
    /// work ended. One for each filesystem that was made, in their order.
    pub windows: Vec<(u64, u64)>,
    /// What the work was told; [`Recording::terms_at`] has that of one window.
    pub terms: Terms,
    /// Whether each record had a filesystem of its own.
    pub fresh: bool,
    /// Records acknowledged.
    pub records: u64,
    /// Writes that the disk saw in the windows.
    pub writes: u64,
    /// Flushes that it saw in them.
    pub flushes: u64,
    /// The most memory that the recorder held, in bytes.
    pub memory_bytes: u64,
}

impl Recording {
    /// What the work was told on the filesystem that a cut is of.
    pub fn terms_at(&self, tick: u64) -> Terms {
        let window = self.windows.partition_point(|&(_, until)| until < tick);
        Terms { only: self.fresh.then_some(window as u64 + 1), ..self.terms }
    }
}

/// What is recorded.
pub struct Take<'a> {
    /// The lane.
    pub single_lane: &'a SingleLane,
    /// The work.
    pub kind: &'a Kind,
    /// Its terms.
    pub terms: Terms,
    /// Size of each disk.
    pub disk_bytes: u64,
}

/// Records one kind of work on a fresh filesystem of a lane, or each of its records on one of its own.
///
/// # Errors
/// What the system, mkfs or the recorder says; where a flush does not arrive, nothing here can be trusted.
pub fn record(scratch: &mut ScratchSpace, take: &Take, stop: &AtomicBool) -> Result<Recording, Failure> {
    let fuse = scratch.mount_place("recorder")?;
    let disks = disk_places(scratch, &fuse, take.single_lane)?;
    let lane = scratch.mount_place("lane")?;
    let log = scratch.path("log");
    let contents = scratch.path("contents");
    let count = disks.len() as u64;
    let bytes = take.disk_bytes.saturating_mul(count);
    let mut recorder =
        Recorder::start(&fuse.path, &contents, &log, bytes, count).map_err(cannot("start the recording disk"))?;
    let mut devices: Vec<LoopDevice> = Vec::new();
    let mut ground = None;
    let worked: Result<Recording, Failure> = (|| {
        for disk in &disks {
            devices.push(LoopDevice::attach(&disk.path, Some(SECTOR_BYTES)).map_err(lane_failure)?);
        }
        let paths: Vec<PathBuf> = devices.iter().map(LoopDevice::path).collect();
        paths.iter().try_for_each(|path| flush_arrives(&mut recorder, path))?;
        let mut recording = Recording {
            log,
            windows: Vec::new(),
            terms: take.terms,
            fresh: take.kind.fresh,
            records: 0,
            writes: 0,
            flushes: 0,
            memory_bytes: 0,
        };
        if take.kind.fresh {
            for record in take.terms.numbers() {
                let terms = Terms { only: Some(record), ..take.terms };
                work(&mut recorder, (&paths, &mut ground, &lane.path), take, terms, &mut recording, stop)?;
                unmount(&lane.path)?;
                take_down(&mut ground)?;
            }
        } else {
            work(&mut recorder, (&paths, &mut ground, &lane.path), take, take.terms, &mut recording, stop)?;
        }
        recording.memory_bytes = recorder.memory_bytes().map_err(cannot("talk to the recording disk"))?;
        Ok(recording)
    })();
    // Whatever happened, from the top down: the disk is served until nothing needs it.
    let unmounted = unmount(&lane.path).and_then(|()| take_down(&mut ground));
    let detached = detach(&mut devices);
    let released = unmount(&fuse.path);
    recorder.wait();
    let recording = worked?;
    unmounted.and(detached).and(released)?;
    for place in [lane].into_iter().chain(disks).chain([fuse]) {
        scratch.clear(place)?;
    }
    std::fs::remove_file(&contents).map_err(cannot("remove what the recording disk held"))?;
    Ok(recording)
}

/// Places of the loop devices over the disks that are served in a folder.
///
/// # Errors
/// What the system answers.
pub fn disk_places(
    scratch: &mut ScratchSpace,
    fuse: &ScratchMount,
    single_lane: &SingleLane,
) -> Result<Vec<ScratchMount>, Failure> {
    let disks = 0..u64::from(single_lane.disks());
    disks.map(|disk| scratch.loop_place(fuse.path.join(file_of(disk)))).collect()
}

fn take_down(ground: &mut Option<Ground>) -> Result<(), Failure> {
    ground.take().map_or(Ok(()), |ground| ground.take_down().map_err(lane_failure))
}

/// Detaches all of them, and answers the first that does not go.
///
/// # Errors
/// What the kernel says.
pub fn detach(devices: &mut Vec<LoopDevice>) -> Result<(), Failure> {
    let mut first = Ok(());
    for mut device in devices.drain(..) {
        // All of them, whatever one says.
        first = first.and(device.detach().map_err(lane_failure));
    }
    first
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
    arrived(&before, &after)
}

/// Judges what the recorder had seen before a write and a flush, and what after them.
fn arrived(before: &Answer, after: &Answer) -> Result<(), Failure> {
    match after.flushes > before.flushes && after.writes > before.writes {
        true => Ok(()),
        false => Err(Failure::failed(
            "a flush of the loop device did not arrive at the recording disk, so no power cut can be simulated on this \
             kernel; use another one",
        )),
    }
}

/// Makes the filesystem, does the work on it, and notes the window.
fn work(
    recorder: &mut Recorder,
    (disks, ground, lane): (&[PathBuf], &mut Option<Ground>, &Path),
    take: &Take,
    terms: Terms,
    recording: &mut Recording,
    stop: &AtomicBool,
) -> Result<(), Failure> {
    let Take { single_lane, kind, disk_bytes, .. } = take;
    // Nothing of the filesystem before lies under this one.
    disks.iter().try_for_each(|disk| empty(single_lane, disk, *disk_bytes, stop))?;
    let ground = ground.insert(single_lane.stand(0, disks, false).map_err(lane_failure)?);
    single_lane.format(ground, stop).map_err(lane_failure)?;
    single_lane.mount(ground, lane).map_err(lane_failure)?;
    let folder = lane.join("work");
    std::fs::create_dir(&folder).map_err(cannot("make a folder on the lane"))?;
    let failed = |error| cannot(format!("do the work {}", kind.name))(error);
    let prepared = kind.prepare(&folder, terms);
    if stop.load(Ordering::Relaxed) {
        return Err(Failure::interrupted());
    }
    prepared.map_err(failed)?;
    rustix::fs::syncfs(File::open(lane).map_err(failed)?).map_err(|error| failed(error.into()))?;
    // A lane without barriers sends no flush with it. What it made before the first record must not count as lost:
    // the devices themselves are flushed.
    let flush = |device: &PathBuf| File::open(device).and_then(|device| device.sync_all());
    ground.devices().iter().try_for_each(flush).map_err(failed)?;
    let begun = recorder.settle().map_err(failed)?;
    let mut records = recording.records;
    let done = kind.run(&folder, terms, &mut |record| {
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
    recording.windows.push((begun.tick, ended.tick));
    recording.records = records;
    recording.writes += ended.writes - begun.writes;
    recording.flushes += ended.flushes - begun.flushes;
    Ok(())
}

fn empty(single_lane: &SingleLane, disk: &Path, bytes: u64, stop: &AtomicBool) -> Result<(), Failure> {
    let punch = || -> std::io::Result<()> {
        let file = File::options().read(true).write(true).open(disk)?;
        Ok(fallocate(&file, FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE, 0, bytes)?)
    };
    // Whoever looks at the device for a moment (udev, a namespace that is just copied) has it busy.
    for attempt in 1.. {
        single_lane.wait_until_free(disk, stop).map_err(lane_failure)?;
        match punch() {
            Err(error) if error.raw_os_error() == Some(libc::EBUSY) && attempt < EMPTYING_ATTEMPTS => {}
            emptied => return emptied.map_err(cannot("empty the recording disk")),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_disk_that_swallows_flushes_is_refused() {
        let seen = |flushes, writes| Answer { flushes, writes, ..Answer::default() };
        assert!(arrived(&seen(3, 3), &seen(4, 4)).is_ok());
        for after in [seen(3, 4), seen(4, 3), seen(3, 3)] {
            let failure = arrived(&seen(3, 3), &after).unwrap_err();
            assert!(failure.message.contains("did not arrive"), "{}", failure.message);
        }
    }

    #[test]
    fn a_cut_belongs_to_the_filesystem_of_its_window() {
        let recording = |fresh, windows| Recording {
            log: PathBuf::new(),
            windows,
            terms: Terms::new(3, 1),
            fresh,
            records: 3,
            writes: 0,
            flushes: 0,
            memory_bytes: 0,
        };
        let several = recording(true, vec![(10, 20), (50, 60), (90, 95)]);
        for (tick, record) in [(10, 1), (20, 1), (50, 2), (60, 2), (95, 3)] {
            assert_eq!(several.terms_at(tick).only, Some(record), "{tick}");
        }
        assert_eq!(recording(false, vec![(10, 20)]).terms_at(15).only, None);
    }
}
