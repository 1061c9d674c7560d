//! An array that rebuilds one of its disks again and again while its lane is at work.

use super::build::{kernel_folder, run, write_zeros};
use super::device_mapper::words;
use super::md::attributes;
use crate::failure::{LaneFailure, cannot};
use serde::{Deserialize, Serialize};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// How often the array is asked how far it is.
const POLL: Duration = Duration::from_millis(10);
/// How long the kernel may take to let a disk go that it calls faulty.
const PATIENCE: Duration = Duration::from_secs(10);
/// Bytes at a disk's beginning that hold its superblock of version 1.2.
const SUPERBLOCK_BYTES: u64 = 8192;

/// How much was rebuilt.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Rebuilt {
    /// Whole rebuilds, and the share of the one that was under way.
    pub times: f64,
    /// Seconds of all of them.
    pub seconds: f64,
    /// Seconds of the whole time, in which they followed each other.
    pub of_seconds: f64,
}

impl Rebuilt {
    /// With what another array of the lane rebuilt.
    pub(crate) fn and(self, other: Option<Rebuilt>) -> Rebuilt {
        let other = other.unwrap_or_default();
        Rebuilt {
            times: self.times + other.times,
            seconds: self.seconds + other.seconds,
            of_seconds: self.of_seconds + other.of_seconds,
        }
    }
}

/// A rebuild that goes on until it is stopped.
#[derive(Debug)]
pub(super) struct Rebuild {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<Result<Rebuilt, LaneFailure>>>,
}

impl Rebuild {
    /// Puts a disk into an array that lacks it; when it is rebuilt, it is taken out, made empty and put in again.
    ///
    /// # Errors
    /// When no thread can be started.
    pub(super) fn begin(array: &Path, disk: &Path) -> Result<Rebuild, LaneFailure> {
        let stop = Arc::new(AtomicBool::new(false));
        let (stopping, array, disk) = (stop.clone(), array.to_owned(), disk.to_owned());
        let work = move || rebuild(&array, &disk, &stopping);
        let thread = std::thread::Builder::new().name("rebuild".to_owned()).spawn(work);
        let thread = thread.map_err(|error| cannot("start a thread", error))?;
        Ok(Rebuild { stop, thread: Some(thread) })
    }

    /// Stops it where it is.
    ///
    /// # Errors
    /// What mdadm said while it went on.
    pub(super) fn end(mut self) -> Result<Rebuilt, LaneFailure> {
        self.stop.store(true, Ordering::Relaxed);
        match self.thread.take().map(JoinHandle::join) {
            Some(Ok(rebuilt)) => rebuilt,
            _ => Ok(Rebuilt::default()),
        }
    }
}

fn rebuild(array: &Path, disk: &Path, stop: &AtomicBool) -> Result<Rebuilt, LaneFailure> {
    let (array_name, disk_name) = (array.display().to_string(), disk.display().to_string());
    let mut rebuilt = Rebuilt::default();
    let of_all = Instant::now();
    loop {
        // Without a superblock it is a new disk, of which nothing is known to be right.
        write_zeros(disk, SUPERBLOCK_BYTES, &AtomicBool::new(false))?;
        run(&words(&["mdadm", &array_name, "--quiet", "--add", &disk_name]))?;
        let begun = Instant::now();
        let mut share = 0.0;
        let mut whole = is_whole(array);
        while !whole && !stop.load(Ordering::Relaxed) {
            share = progress(array).unwrap_or(share);
            std::thread::sleep(POLL);
            whole = is_whole(array);
        }
        rebuilt.times += if whole { 1.0 } else { share };
        rebuilt.seconds += begun.elapsed().as_secs_f64();
        if stop.load(Ordering::Relaxed) {
            rebuilt.of_seconds = of_all.elapsed().as_secs_f64();
            return Ok(rebuilt);
        }
        take_out(array, disk)?;
    }
}

/// The kernel's Documentation/admin-guide/md.rst, `dev-XXX/state`: what is faulty can be removed once nothing uses it.
fn take_out(array: &Path, disk: &Path) -> Result<(), LaneFailure> {
    let failure = |error| cannot(format!("take {} out of {}", disk.display(), array.display()), error);
    let name = kernel_name(disk).map_err(failure)?;
    let state = attributes(array).join(format!("dev-{name}/state"));
    let say = |word: &str| std::fs::write(&state, word);
    say("faulty").map_err(failure)?;
    let begun = Instant::now();
    while let Err(error) = say("remove") {
        if begun.elapsed() > PATIENCE {
            return Err(failure(error));
        }
        std::thread::sleep(POLL);
    }
    Ok(())
}

/// What the kernel calls a device, which may have other names in /dev: `dm-3`.
fn kernel_name(device: &Path) -> std::io::Result<String> {
    let link = std::fs::read_link(kernel_folder(device)?)?;
    Ok(link.file_name().unwrap_or_default().to_string_lossy().into_owned())
}

fn attribute(array: &Path, name: &str) -> Option<String> {
    std::fs::read_to_string(attributes(array).join(name)).ok().map(|text| text.trim().to_owned())
}

/// The kernel's Documentation/admin-guide/md.rst: `degraded` counts the devices that lack.
fn is_whole(array: &Path) -> bool {
    attribute(array, "degraded").as_deref() == Some("0")
}

/// `sync_completed`: `SECTORS / SECTORS`.
fn progress(array: &Path) -> Option<f64> {
    share_of(&attribute(array, "sync_completed")?)
}

fn share_of(text: &str) -> Option<f64> {
    let (done, all) = text.split_once('/')?;
    let (done, all): (f64, f64) = (done.trim().parse().ok()?, all.trim().parse().ok()?);
    (all > 0.0).then(|| (done / all).clamp(0.0, 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn how_far_an_array_is_is_read_from_its_sectors() {
        assert_eq!(share_of("512 / 2048"), Some(0.25));
        assert_eq!(share_of("none"), None);
        assert_eq!(share_of("1 / 0"), None);
    }
}
