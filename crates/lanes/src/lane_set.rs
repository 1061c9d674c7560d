//! The lanes of one race and what they stand on: the conductor's whole view of this crate.

mod backing;
mod check;
mod describe;
pub(crate) mod guest;
mod half_open;
pub(crate) mod in_guest;
mod kernel;
mod mkfs_trial;
mod open;
mod option_trial;
pub(crate) mod past;
mod rebuilding;
pub(crate) mod resolve;
pub(crate) mod stacked;

pub use kernel::lock_kernel;
pub use option_trial::OptionTrial;

use crate::command::Running;
use crate::contestant::Contestant;
use crate::device::{self, Confirm, Decision, Found};
use crate::failure::{LaneFailure, cannot, usage};
use crate::guest::{CarriedTrace, Guest};
use crate::host::Host;
use crate::image::Image;
use crate::lane_set::guest::GuestSlot;
use crate::run_folder::{self, RunFolder};
use crate::throttle::Throttling;
use crate::undo::{EntryId, Journal};
use crate::venues::Venue;
use model::Bytes;
use model::Flag;
use model::agent::LibraryTarget;
use model::lane::{LaneSpec, Promises};
use std::collections::BTreeMap;
use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// What keeps most on a lane.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LargestWork {
    /// As a person reads it; empty: it has no name.
    pub title: String,
    /// Bytes that it keeps there.
    pub bytes: u64,
}

/// What the lanes of a race shall be.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The contestants in the order of the command line.
    pub specs: Vec<LaneSpec>,
    /// The first lane runs twice.
    pub with_self: bool,
    /// Where lanes without a venue of their own live.
    pub ground: model::plan::Ground,
    /// Size of each image and of each lane in memory.
    pub lane_size: Bytes,
    /// Names the run directory: letters, digits and dashes.
    pub run_id: String,
    /// Seed of the images' bytes.
    pub seed: u64,
    /// Devices that may be overwritten.
    pub erase: Vec<PathBuf>,
    /// The work that keeps most on a lane.
    pub largest_work: LargestWork,
    /// The same on a filesystem whose files have no holes.
    pub largest_work_without_holes: LargestWork,
    /// Somebody sits at the terminal and can confirm.
    pub terminal: bool,
    /// The disks that the lanes' devices are held to while they are measured.
    pub throttles: model::throttle::Throttles,
    /// CPUs, memory and disks of guests.
    pub guest: model::plan::GuestTerms,
    /// Fairlane's own program, which guests run too.
    pub program: PathBuf,
    /// What a replay in guests reads.
    pub trace: Option<CarriedTrace>,
    /// The lives of lanes with a past, in the order of `specs`; `None`: it is fresh.
    pub lives: Vec<Option<aging::Life>>,
    /// The folder of undo journals, in which their images are kept.
    pub undo: PathBuf,
}

/// A lane that is ready for work.
#[derive(Debug, Clone)]
pub struct Opened {
    /// Where the work happens; empty for a library.
    pub directory: PathBuf,
    /// What the agent attaches instead of a directory: it is not formatted yet.
    pub library: Option<LibraryTarget>,
    /// The guest that the directory, or the library's disk, is in; `None`: it is this machine's.
    pub guest: Option<Arc<Guest>>,
    /// Wall seconds of `mkfs`, `rewrite` (zeros over what mkfs left unwritten) and `mount`.
    pub phases_seconds: BTreeMap<String, f64>,
}

/// A lane that was closed.
#[derive(Debug, Clone, PartialEq)]
pub struct Closed {
    /// Wall seconds of the unmount (of a directory lane: of nothing, 0).
    pub unmount_seconds: f64,
    /// Remarks for the trial: `image-unwritten`, `image-unchecked`.
    pub flags: Vec<Flag>,
}

/// What became of an attempt to empty the caches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cold {
    /// Nothing of the lane is cached.
    Cold,
    /// Nothing of the lane is cached in its guest; its disk lies in the host's page cache (user-mode Linux).
    Guest,
    /// The lane cannot be made cold without disturbing others (directory, memory).
    Warm,
}

/// One lane.
#[derive(Debug)]
pub(crate) struct LaneState {
    pub(crate) name: String,
    pub(crate) spec: LaneSpec,
    pub(crate) is_self: bool,
    pub(crate) contestant: Contestant,
    /// The only ground it may stand on; `None`: any image, or any disk of its guest.
    pub(crate) fixed_ground: Option<usize>,
    /// Which guest it lives in; `None`: the host mounts it.
    pub(crate) guest: Option<usize>,
    pub(crate) mkfs_command: Vec<String>,
    pub(crate) mount_options: Vec<String>,
    /// Block devices that these commands name beside the lane's own.
    pub(crate) named_devices: Vec<PathBuf>,
    pub(crate) promises: Promises,
    pub(crate) geometry: Vec<String>,
    /// What its filesystem stands on while its layers stand, where it lives.
    pub(crate) stacked: Vec<PathBuf>,
    /// Its layers, where this machine built them and while any of them stands.
    pub(crate) stack: Option<stacked::BuiltHere>,
    /// Bytes of that; 0: it has no layers, or they were never built.
    pub(crate) stacked_bytes: u64,
    /// What it lived through before the race.
    pub(crate) past: Option<past::Past>,
    pub(crate) open: Option<OpenLane>,
}

/// What an open lane holds.
#[derive(Debug)]
pub(crate) struct OpenLane {
    pub(crate) ground: usize,
    /// Where the work happens; of a library its disk.
    pub(crate) directory: PathBuf,
    /// Where the filesystem is mounted: elsewhere where something lies above it.
    pub(crate) base: PathBuf,
    /// `None` for a directory lane, for a library and in a guest.
    pub(crate) mounted: Option<EntryId>,
    /// What lies above it; `None`: nothing, or it is a guest's.
    pub(crate) above: Option<EntryId>,
    /// A FUSE program in the foreground.
    pub(crate) process: Option<Running>,
    /// The guest that it is mounted in: of one that died nothing is left.
    pub(crate) guest: Option<Arc<Guest>>,
    /// Of one that rebuilds a disk beside the work.
    pub(crate) rebuild: rebuilding::Rebuild,
}

/// The lanes of one race, from check to teardown.
#[derive(Debug)]
pub struct LaneSet {
    pub(crate) settings: Settings,
    pub(crate) lanes: Vec<LaneState>,
    pub(crate) stores: Vec<Box<dyn Venue>>,
    /// The guests that lanes live in.
    pub(crate) guests: Vec<GuestSlot>,
    /// Devices that lanes' commands name beside their own: whose, and which.
    pub(crate) beside: Vec<(usize, Found)>,
    /// Devices that somebody must confirm, and what to ask.
    pub(crate) decisions: Vec<(Found, Decision)>,
    pub(crate) confirmed: bool,
    /// Directory of the images, or of the mount points where there are none.
    pub(crate) base: PathBuf,
    /// What carries the images; `None`: there are none.
    pub(crate) host: Option<Host>,
    /// Where mount points and guests' folders lie; empty: there are none.
    pub(crate) work: PathBuf,
    /// The run directories, in the order in which `build` makes them.
    pub(crate) run_directories: Vec<RunFolder>,
    /// The emulated disk.
    pub(crate) throttling: Option<Throttling>,
    /// What happened while it was built and a reader should know.
    pub(crate) remarks: Vec<String>,
    /// Kernel modules that its guests get beside those of their lanes.
    pub(crate) further_modules: Vec<&'static str>,
    /// Ctrl-C: a guest that hangs while a lane is closed is not waited for then.
    pub(crate) stopping: Arc<AtomicBool>,
    /// While it is held, no other command sets what lanes of this race set of the whole kernel; `None`: none does, or not yet.
    pub(crate) kernel_lock: Option<crate::layers::VmLock>,
}

impl LaneSet {
    /// From now on a guest that does not unmount is ended ten seconds after this flag was set.
    pub fn heed(&mut self, stop: Arc<AtomicBool>) {
        self.stopping = stop;
    }

    /// What a person must confirm before devices are overwritten; nothing happens where nothing
    /// must be. `build` refuses to run before this succeeded.
    ///
    /// # Errors
    /// [`LaneFailure::Usage`] where something else was typed.
    pub fn confirm(&mut self, person: &mut dyn Confirm) -> Result<(), LaneFailure> {
        for (found, decision) in &self.decisions {
            device::confirm(found, decision, person)?;
        }
        self.confirmed = true;
        Ok(())
    }

    /// Bytes of the images.
    pub fn image_bytes(&self) -> u64 {
        let images: usize = self.stores.iter().map(|ground| ground.image_files().len()).sum();
        self.settings.lane_size.0.saturating_mul(images as u64)
    }

    /// Bytes that `build` writes at most: the images, and what their pasts take where none is kept.
    pub fn bytes_to_write(&self) -> u64 {
        self.image_bytes().saturating_add(self.bytes_to_live())
    }

    /// Makes everything: run directories, images, loop devices; then formats, mounts and unmounts
    /// every lane once, so that an option that mkfs or the kernel refuses shows now and the
    /// geometry is known. `progress` is told (bytes written, bytes to write).
    ///
    /// # Errors
    /// [`LaneFailure`]; call [`LaneSet::teardown`] then too.
    pub fn build(
        &mut self,
        journal: &mut Journal,
        progress: &mut dyn FnMut(u64, u64),
        stop: &AtomicBool,
    ) -> Result<(), LaneFailure> {
        self.build_and_try(journal, progress, stop, &mut |_, _| Ok(()))
    }

    /// [`LaneSet::build`], and `try_out` is told of every lane while it is mounted that once: its number,
    /// and where it is. What it refuses ends the building.
    ///
    /// # Errors
    /// As [`LaneSet::build`], and what `try_out` answers.
    pub fn build_and_try(
        &mut self,
        journal: &mut Journal,
        progress: &mut dyn FnMut(u64, u64),
        stop: &AtomicBool,
        try_out: &mut dyn FnMut(usize, &Opened) -> Result<(), LaneFailure>,
    ) -> Result<(), LaneFailure> {
        if !self.confirmed {
            return Err(usage("a device waits for its confirmation; confirm it before the race begins"));
        }
        self.lock_kernel()?;
        let total = self.bytes_to_write();
        for folder in &mut self.run_directories {
            folder.make(journal)?;
        }
        let mut done = 0u64;
        progress(done, total);
        let mut count = |bytes: u64| {
            done += bytes;
            progress(done, total);
        };
        // Images of the host's lanes and of guests lie in one row: all share one part of the disk.
        let paths: Vec<PathBuf> =
            self.stores.iter().flat_map(|ground| ground.image_files()).map(Path::to_owned).collect();
        self.try_mkfs_options(paths.first(), stop)?;
        let written =
            Image::create_all(&paths, &self.base, self.settings.lane_size.0, self.settings.seed, &mut count, stop)?;
        let mut written = written.into_iter();
        for ground in &mut self.stores {
            for image in written.by_ref().take(ground.image_files().len()) {
                ground.attach(image, journal)?;
            }
        }
        self.prepare_throttling(journal)?;
        for lane in 0..self.lanes.len() {
            self.have_past(lane, journal, &mut count, stop)?;
            let opened = self.open(lane, self.store_for(lane, 0), journal, stop)?;
            let tried = try_out(lane, &opened);
            let closed = self.close(lane, journal);
            tried.and(closed)?;
        }
        Ok(())
    }

    /// Whether a lane is open: after a [`LaneSet::close`] that failed it may still be mounted.
    pub fn is_open(&self, lane: usize) -> bool {
        self.lanes[lane].open.is_some()
    }

    /// The folder in which a lane's work happens.
    pub(crate) fn lane_directory(&self, lane: usize, ground: usize) -> PathBuf {
        match self.stores[ground].folder() {
            Some(work) => work.join(format!("lane{lane:02}")),
            None if self.lanes[lane].guest.is_some() => crate::lane_set::in_guest::directory(lane),
            None => self.work.join(format!("mount{lane:02}")),
        }
    }

    /// Undoes everything, going on after an error; the first error is answered and what it left
    /// stays in the journal. Finish the journal only after this succeeded.
    ///
    /// # Errors
    /// [`LaneFailure::Failed`].
    pub fn teardown(mut self, journal: &mut Journal) -> Result<(), LaneFailure> {
        self.dismantle(Some(journal))
    }

    fn dismantle(&mut self, mut journal: Option<&mut Journal>) -> Result<(), LaneFailure> {
        let mut first = Ok(());
        let mut note = |result: Result<(), LaneFailure>| {
            if first.is_ok() {
                first = result;
            }
        };
        // First of all: unmounting is no measured work, and a limit outlives its loop device.
        if let Some(mut throttling) = self.throttling.take() {
            note(throttling.end(journal.as_deref_mut()));
        }
        for lane in 0..self.lanes.len() {
            match self.close_lane(lane, journal.as_deref_mut()) {
                // The race is over: a shrunken image no longer matters to anybody.
                Err(error) if self.lanes[lane].open.is_some() => note(Err(error)),
                _ => {}
            }
            // The machine works on as it did, whatever cannot be unmounted.
            note(self.put_kernel_back(lane, journal.as_deref_mut()));
            if self.lanes[lane].open.is_none() {
                note(self.take_down(lane, journal.as_deref_mut()).map(drop));
            }
        }
        note(self.end_guests(journal.as_deref_mut()));
        for ground in &mut self.stores {
            note(ground.detach(journal.as_deref_mut()));
        }
        // The first of them may hold the mount of another.
        for mut folder in std::mem::take(&mut self.run_directories).into_iter().rev() {
            note(folder.remove(journal.as_deref_mut()));
        }
        first
    }

    /// Leaves everything that stands for a person to look at (`--keep`); `fairlane clean` takes it
    /// away. Answers the folders, one line each. A loop device without a mount goes by itself.
    ///
    /// # Errors
    /// [`LaneFailure::Failed`] where the journal cannot be written; then everything is undone.
    pub fn keep(mut self, mut journal: Journal) -> Result<Vec<String>, LaneFailure> {
        // Whoever looks at the lane needs no slow disk.
        if let Some(mut throttling) = self.throttling.take() {
            throttling.end(Some(&mut journal))?;
        }
        for lane in 0..self.lanes.len() {
            self.put_kernel_back(lane, Some(&mut journal))?;
        }
        // A guest cannot outlive this process; its image can be looked at.
        self.end_guests(Some(&mut journal))?;
        journal.keep()?;
        let mut lines: Vec<String> = Vec::new();
        for lane in &mut self.lanes {
            if let Some(mut open) = lane.open.take() {
                lines.push(match (&open.guest, self.stores[open.ground].guest_disks()) {
                    (Some(_), Some(disks)) => {
                        let paths: Vec<String> =
                            disks.disks.iter().map(|disk| disk.path.display().to_string()).collect();
                        let images = if paths.len() == 1 { "image" } else { "images" };
                        format!("{} is kept in the {images} {}", lane.name, paths.join(", "))
                    }
                    _ => format!("{} is kept in {}", lane.name, open.directory.display()),
                });
                // Dropping it would kill the filesystem.
                if let Some(process) = open.process.take() {
                    std::mem::forget(process);
                }
            }
        }
        self.stores.iter_mut().for_each(|ground| ground.leave());
        let kept = self.run_directories.drain(..).map(RunFolder::keep);
        lines.extend(kept.map(|path| format!("files are kept in {}", path.display())));
        lines.push("`fairlane clean` removes them".to_owned());
        Ok(lines)
    }
}

impl Drop for LaneSet {
    fn drop(&mut self) {
        // The net only: `teardown` is the way, and its errors are seen.
        let _ = self.dismantle(None);
    }
}

pub(crate) fn make_folder(path: &Path) -> Result<(), LaneFailure> {
    let made = DirBuilder::new().mode(0o700).create(path);
    made.map_err(|error| cannot(format!("make the directory {}", path.display()), error))
}

/// Removes a folder of ours with everything in it, never following a link and never below a mount.
pub(crate) fn remove_folder(path: &Path) -> Result<(), LaneFailure> {
    run_folder::nothing_mounted_below(path)?;
    match std::fs::remove_dir_all(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(cannot(format!("remove {}", path.display()), error))
        }
        _ => Ok(()),
    }
}
