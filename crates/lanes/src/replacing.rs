//! A filesystem on several disks that replaces its last one again and again beside the work, from what the others hold.

use crate::command::Running;
use crate::failure::{LaneFailure, cannot, failed};
use crate::layers::Rebuilt;
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Instant;

/// How often the kernel is asked how far it is, in milliseconds.
const POLL_MS: u32 = 20;

/// What is replaced by what.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Replace {
    /// The tool by its name or path, and its arguments up to the device.
    pub command: Vec<String>,
    /// The number of the device in its filesystem.
    pub device: u32,
    /// The disk that is this device now, and the one that takes its place; then they change places.
    pub disks: [PathBuf; 2],
}

/// What became of it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Replaced {
    /// How much was rebuilt.
    pub rebuilt: Rebuilt,
    /// The disks changed places an odd number of times.
    pub swapped: bool,
}

/// Replacements that follow each other until they are stopped. Dropping it stops them.
#[derive(Debug)]
pub(crate) struct Replacing {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<Result<Replaced, LaneFailure>>>,
}

impl Replacing {
    /// Begins in a mounted filesystem.
    ///
    /// # Errors
    /// When no thread can be started.
    pub(crate) fn begin(replace: Replace, mounted: &Path) -> Result<Replacing, LaneFailure> {
        let stop = Arc::new(AtomicBool::new(false));
        let (stopping, mounted) = (stop.clone(), mounted.to_owned());
        let work = move || go_on(&replace, &mounted, &stopping);
        let thread = std::thread::Builder::new().name("replace".to_owned()).spawn(work);
        let thread = thread.map_err(|error| cannot("start a thread", error))?;
        Ok(Replacing { stop, thread: Some(thread) })
    }

    /// Stops it where it is, so that nothing of it holds the mount.
    ///
    /// # Errors
    /// What the tool said while it went on.
    pub(crate) fn end(mut self) -> Result<Replaced, LaneFailure> {
        self.join().unwrap_or(Ok(Replaced { rebuilt: Rebuilt::default(), swapped: false }))
    }

    fn join(&mut self) -> Option<Result<Replaced, LaneFailure>> {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.take()?.join().ok()
    }
}

impl Drop for Replacing {
    fn drop(&mut self) {
        self.join();
    }
}

/// The tool is started by this thread, which lives as long as it: it goes with Fairlane, as soon as the kernel lets it.
fn go_on(replace: &Replace, mounted: &Path, stop: &AtomicBool) -> Result<Replaced, LaneFailure> {
    let mut replaced = Replaced { rebuilt: Rebuilt::default(), swapped: false };
    let of_all = Instant::now();
    loop {
        let target = &replace.disks[usize::from(!replaced.swapped)];
        let mut words = replace.command.clone();
        words.push(replace.device.to_string());
        words.extend([target.as_path(), mounted].map(|path| path.display().to_string()));
        let begun = Instant::now();
        let mut tool = Running::start(&words)?;
        let mut share = 0.0;
        let status = loop {
            if let Some(status) = tool.wait(POLL_MS)? {
                break status;
            }
            share = progress(mounted).unwrap_or(share);
            if stop.load(Ordering::Relaxed) {
                // Until it ends: it may not have begun yet.
                cancel(mounted);
            }
        };
        let whole = status.success();
        replaced.swapped ^= whole;
        replaced.rebuilt.times += if whole { 1.0 } else { share };
        replaced.rebuilt.seconds += begun.elapsed().as_secs_f64();
        if stop.load(Ordering::Relaxed) {
            replaced.rebuilt.of_seconds = of_all.elapsed().as_secs_f64();
            commit(mounted)
                .map_err(|error| cannot(format!("commit that {} rebuilds no disk", mounted.display()), error))?;
            return Ok(replaced);
        }
        if !whole {
            return Err(with_remedy(tool.failure(status)));
        }
    }
}

/// fs/btrfs/scrub.c: each part is made read-only while it is copied, for which another one must have room.
fn with_remedy(failure: LaneFailure) -> LaneFailure {
    match failure {
        LaneFailure::Failed(said) if said.contains("No space left on device") => {
            failed(format!("{said}; a rebuild needs room for another chunk, so raise --lane-size"))
        }
        other => other,
    }
}

/// include/uapi/linux/btrfs.h, `struct btrfs_ioctl_dev_replace_args`, of which the status is read.
#[repr(C)]
struct Arguments {
    command: u64,
    result: u64,
    state: u64,
    progress_1000: u64,
    /// What else the union holds, and what the kernel keeps for later.
    rest: [u64; 321],
}

const _: () = assert!(size_of::<Arguments>() == 2600);
/// `_IOWR(0x94, 53, struct btrfs_ioctl_dev_replace_args)`.
const BTRFS_IOC_DEV_REPLACE: libc::Ioctl = 0xca28_9435_u32 as libc::Ioctl;
const STATUS: u64 = 1;
const CANCEL: u64 = 2;
const STARTED: u64 = 1;

fn ask(mounted: &Path, command: u64) -> Option<Arguments> {
    let root = File::open(mounted).ok()?;
    let mut arguments = Arguments { command, result: 0, state: 0, progress_1000: 0, rest: [0; 321] };
    // SAFETY: the kernel reads and writes one structure of this size, which outlives the call.
    let answer = unsafe { libc::ioctl(root.as_raw_fd(), BTRFS_IOC_DEV_REPLACE, &raw mut arguments) };
    (answer == 0).then_some(arguments)
}

/// `_IOR(0x94, 49, char[256])` and `_IOW(0x94, 50, char[256])`.
const BTRFS_IOC_GET_FSLABEL: libc::Ioctl = 0x8100_9431_u32 as libc::Ioctl;
const BTRFS_IOC_SET_FSLABEL: libc::Ioctl = 0x4100_9432_u32 as libc::Ioctl;

/// fs/btrfs/dev-replace.c: that a replacement was cancelled is written with the next transaction, and where an unmount has
/// none to commit, the next mount looks for a disk that is gone. To set the label, to what it is, makes and commits one.
fn commit(mounted: &Path) -> std::io::Result<()> {
    let root = File::open(mounted)?;
    let mut label = [0u8; 256];
    for request in [BTRFS_IOC_GET_FSLABEL, BTRFS_IOC_SET_FSLABEL] {
        // SAFETY: the kernel reads or writes 256 bytes, which outlive the call.
        if unsafe { libc::ioctl(root.as_raw_fd(), request, label.as_mut_ptr()) } != 0 {
            return Err(std::io::Error::last_os_error());
        }
    }
    Ok(())
}

/// How far the one that goes on is; `None`: none does.
fn progress(mounted: &Path) -> Option<f64> {
    let status = ask(mounted, STATUS).filter(|status| status.state == STARTED)?;
    Some((status.progress_1000 as f64 / 1000.0).clamp(0.0, 1.0))
}

/// Has the kernel end what goes on in a mounted Btrfs; where nothing does, nothing happens.
pub(crate) fn cancel(mounted: &Path) {
    let _ = ask(mounted, CANCEL);
}
