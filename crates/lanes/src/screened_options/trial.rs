//! A lane tried on a small image: what its mkfs, the kernel or the disk's queue refuses shows before a race is laid out.

use crate::availability;
use crate::contestant::{Commands, Contestant};
use crate::failure::{LaneFailure, cannot, failed, privilege};
use crate::filesystems::{Filesystem, Home};
use crate::formatting::{self, MountRequest};
use crate::layers::{Holding, Site, Stack};
use crate::loop_device::LoopDevice;
use crate::run_folder::RunFolder;
use crate::undo::{EntryId, Journal, Thing};
use crate::{host, let_go, mount};
use model::Bytes;
use model::lane::{LaneSpec, Venue};
use model::stack::{LayerSpec, MOST_DEVICES};
use std::fs::{DirBuilder, File};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

/// Size of the image where nobody says one: what a lane has that nobody gave a size. It is sparse.
const USUAL_BYTES: Bytes = Bytes(2 * Bytes::GIB);

/// What is tried.
struct Trial<'a> {
    row: &'static Filesystem,
    contestant: Contestant,
    commands: Commands,
    /// Only settings of a queue: other layers are no option of a filesystem.
    layers: Vec<LayerSpec>,
    disks: u32,
    bytes: u64,
    run_id: String,
    stop: &'a AtomicBool,
}

/// Formats and mounts a lane once, on a sparse image of 2 GiB in a folder of this run, and takes all of that away again. Answers
/// why it is refused by its mkfs, by the kernel or by the disk's queue; `None`: it works, or it cannot be known here, because
/// it lives in a guest (found when that starts), in memory, or is mounted by a program. Its other layers, what lies above it and
/// its past are left out.
///
/// # Errors
/// [`LaneFailure`] where nothing can be tried: without root, kernel or tools, or where something of it stays.
pub fn try_lane(
    lane: &LaneSpec,
    folder: &Path,
    journal: &mut Journal,
    stop: &AtomicBool,
) -> Result<Option<String>, LaneFailure> {
    try_lane_of_size(lane, USUAL_BYTES, folder, journal, stop)
}

/// As [`try_lane`], on an image of this size, or of the least that the filesystem takes: sizes of logs and groups are refused by
/// the size of the disk.
///
/// # Errors
/// As there.
pub fn try_lane_of_size(
    lane: &LaneSpec,
    bytes: Bytes,
    folder: &Path,
    journal: &mut Journal,
    stop: &AtomicBool,
) -> Result<Option<String>, LaneFailure> {
    if matches!(lane.venue, Some(Venue::Uml | Venue::Qemu(_) | Venue::Library)) {
        return Ok(None);
    }
    let contestant = Contestant::resolve(lane, &|row| availability::kernel_has(row.mounted_as(), row.module))?;
    let Contestant::Row(row) = contestant else { return Ok(None) };
    if row.home != Home::Block {
        return Ok(None);
    }
    let contestant = Contestant::Row(row);
    let commands = contestant.commands(lane)?;
    if let Some(device) = commands.devices.first() {
        let device = device.display();
        return Err(failed(format!("{device} is no disk of Fairlane's own, so nothing is tried on it; leave it out")));
    }
    contestant.check_available()?;
    if !host::is_root() {
        return Err(privilege("formatting and mounting needs root: run it with sudo, or race all lanes in a guest"));
    }
    let disks = lane.devices.max((row.least_devices)(&lane.mkfs_options)).min(MOST_DEVICES);
    let run_id = journal.path().file_stem().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let trial = Trial {
        row,
        contestant,
        commands,
        layers: if lane.has_built_layers() { Vec::new() } else { lane.layers.clone() },
        disks,
        bytes: bytes.0.max(row.minimum_bytes).next_multiple_of(4096),
        run_id,
        stop,
    };
    let mut folders = RunFolder::plan(folder, &trial.run_id, "trial")?;
    let told = trial.in_folders(&mut folders, journal);
    let mut removed = Ok(());
    for folder in folders.iter_mut().rev() {
        removed = removed.and(folder.remove(Some(&mut *journal)));
    }
    let told = told?;
    removed.map(|()| told)
}

impl Trial<'_> {
    fn in_folders(&self, folders: &mut [RunFolder], journal: &mut Journal) -> Result<Option<String>, LaneFailure> {
        folders.iter_mut().try_for_each(|folder| folder.make(journal))?;
        let (Some(first), Some(last)) = (folders.first(), folders.last()) else {
            return Err(failed("a run has a folder; this is a fault of Fairlane, report it"));
        };
        let mut disks = Vec::new();
        let attached = self.attach(last.work(), &mut disks, journal);
        let told = attached.and_then(|()| self.on_disks(first.work(), &disks, journal));
        let mut freed = Ok(());
        for (mut device, entry) in disks.into_iter().rev() {
            freed = freed.and(device.detach().and_then(|()| journal.done(entry)));
        }
        let told = told?;
        freed.map(|()| told)
    }

    /// Makes its disks; those that are there when one fails are in the list.
    fn attach(
        &self,
        files: &Path,
        disks: &mut Vec<(LoopDevice, EntryId)>,
        journal: &mut Journal,
    ) -> Result<(), LaneFailure> {
        for number in 0..self.disks {
            let path = files.join(format!("disk{number}"));
            let made = File::options().write(true).create_new(true).mode(0o600).open(&path);
            made.and_then(|file| file.set_len(self.bytes))
                .map_err(|error| cannot(format!("make {}", path.display()), error))?;
            let entry = journal.will(Thing::Loop { backing: path.clone() })?;
            match LoopDevice::attach(&path, None) {
                Ok(device) => {
                    let place = device.path();
                    disks.push((device, entry));
                    journal.learned_device(entry, &place)?;
                }
                Err(error) => {
                    journal.done(entry)?;
                    return Err(error);
                }
            }
        }
        Ok(())
    }

    fn on_disks(
        &self,
        mounts: &Path,
        disks: &[(LoopDevice, EntryId)],
        journal: &mut Journal,
    ) -> Result<Option<String>, LaneFailure> {
        let devices: Vec<PathBuf> = disks.iter().map(|(device, _)| device.path()).collect();
        let site = (Site::Here(&self.run_id, &mut *journal), self.stop);
        let built = Stack::build(site, 0, (&devices, Holding::Anything), &self.layers, self.disks);
        let mut stack = match built {
            Ok(stack) => stack,
            Err((error, mut left)) => {
                left.take_down(Some(&mut *journal))?;
                return refusal(error);
            }
        };
        let told = self.format_and_mount(mounts, &devices, journal);
        let down = stack.take_down(Some(&mut *journal));
        let told = told?;
        down.map(|_| told)
    }

    fn format_and_mount(
        &self,
        mounts: &Path,
        devices: &[PathBuf],
        journal: &mut Journal,
    ) -> Result<Option<String>, LaneFailure> {
        let Some((first, further)) = devices.split_first() else { return Err(failed("a lane has a disk")) };
        let mut command = self.commands.mkfs.clone();
        command.extend(further.iter().map(|device| device.display().to_string()));
        let beside: Vec<&Path> = further.iter().map(PathBuf::as_path).collect();
        match formatting::format(&self.contestant, &command, (first, None), &beside, self.stop) {
            Ok(_) => {}
            Err(LaneFailure::Failed(said)) => {
                let program = self.row.mkfs.first().copied().unwrap_or("mkfs");
                // `mkfs.ext4 failed (exit status: 1): …`
                let words = said.split_once("): ").map_or(said.as_str(), |(_, words)| words);
                return Ok(Some(format!("{program} refuses it: {}", words.trim_end_matches('.'))));
            }
            Err(other) => return Err(other),
        }
        let told = self.mount(&mounts.join("lane"), first, further, journal)?;
        devices.iter().try_for_each(|device| let_go::check(device, self.stop))?;
        if let Some(forget) = self.row.forget.filter(|_| !further.is_empty()) {
            // What the kernel remembers of them it would look for on the next disks under these names.
            for device in devices {
                let _ = forget(device);
            }
        }
        Ok(told)
    }

    /// Mounts it and unmounts it again.
    fn mount(
        &self,
        target: &Path,
        first: &Path,
        further: &[PathBuf],
        journal: &mut Journal,
    ) -> Result<Option<String>, LaneFailure> {
        let made = DirBuilder::new().mode(0o700).create(target);
        made.map_err(|error| cannot(format!("make the directory {}", target.display()), error))?;
        let mut options = self.commands.mount_options.clone();
        if let Some(key) = self.row.further_device_option {
            options.extend(further.iter().map(|device| format!("{key}={}", device.display())));
        }
        let source = Some(first.to_string_lossy().into_owned());
        let entry = journal.will(Thing::Mount { target: target.to_owned(), source })?;
        let request = MountRequest { contestant: &self.contestant, source: first, options: &options, target };
        let told = match formatting::mount(&request, self.stop) {
            Ok(process) => formatting::unmount(&self.contestant, first, target, process).map(|()| None),
            Err(error) => refusal(error),
        };
        if !mount::is_mounted(target)? {
            journal.done(entry)?;
        }
        told
    }
}

/// What the kernel refused, without the remedy for a lane that was typed; what nobody refused is an error.
fn refusal(error: LaneFailure) -> Result<Option<String>, LaneFailure> {
    match error {
        LaneFailure::Usage(said) | LaneFailure::Failed(said) => {
            let why = said.strip_suffix("; remove or correct it").unwrap_or(&said);
            Ok(Some(why.trim_end_matches('.').to_owned()))
        }
        other => Err(other),
    }
}
