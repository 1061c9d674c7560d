//! A lane of a guest tried as far as this machine makes it: its mkfs runs here on a sparse file, and no kernel is asked to mount that.

use super::trial::{Made, Tried, check_room, geometry, or_what_stays, refusal_of_mkfs};
use crate::contestant::{Commands, Contestant};
use crate::failure::{LaneFailure, cannot, failed};
use crate::filesystems::{Filesystem, Home};
use crate::formatting;
use crate::run_folder::RunFolder;
use crate::undo::Journal;
use model::Bytes;
use model::lane::LaneSpec;
use model::stack::LayerSpec;
use std::fs::File;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::sync::atomic::AtomicBool;

/// Formats a file of this size, or of the least that the filesystem takes, in a folder of this run, and takes both away again. What
/// is told to the kernel, to queues and to layers is not tried. [`Tried::NotTried`] of what the guest formats itself.
///
/// # Errors
/// [`LaneFailure`] where nothing can be tried: without mkfs or room, where the machine fails, or where something of it stays.
pub(super) fn try_mkfs(
    lane: &LaneSpec,
    bytes: Bytes,
    folder: &Path,
    journal: &mut Journal,
    stop: &AtomicBool,
) -> Result<Tried, LaneFailure> {
    if !matches!(lane.contestant, model::lane::Contestant::Filesystem(_)) || lane.is_stacked() {
        return Ok(Tried::NotTried);
    }
    // Its mkfs is the same, whatever mounts it there.
    let Contestant::Row(row) = Contestant::resolve(lane, &|_| true)? else { return Ok(Tried::NotTried) };
    if row.home != Home::Block || row.mkfs.is_empty() || row.mkfs_looks_around {
        return Ok(Tried::NotTried);
    }
    let contestant = Contestant::Row(row);
    let commands = contestant.commands(lane)?;
    if !commands.devices.is_empty() {
        return Ok(Tried::NotTried);
    }
    contestant.check_mkfs()?;
    let bytes = bytes.0.max(row.minimum_bytes).next_multiple_of(4096);
    check_room(folder, bytes, 1)?;
    let run_id = journal.path().file_stem().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let mut folders = RunFolder::plan(folder, &run_id, "trial")?;
    let made = folders.iter_mut().try_for_each(|folder| folder.make(journal));
    let told = made.and_then(|()| {
        let last =
            folders.last().ok_or_else(|| failed("a run has a folder; this is a fault of Fairlane, report it"))?;
        let path = last.work().join("disk0");
        let file = File::options().write(true).create_new(true).mode(0o600).open(&path);
        file.and_then(|file| file.set_len(bytes)).map_err(|error| cannot(format!("make {}", path.display()), error))?;
        Ok(match make(row, &commands, &path, stop)? {
            Ok(geometry) => Tried::Works(as_made_here(lane, &commands, geometry)),
            Err(why) => Tried::Refused(why),
        })
    });
    let mut removed = Ok(());
    for folder in folders.iter_mut().rev() {
        removed = removed.and(folder.remove(Some(&mut *journal)));
    }
    or_what_stays(told, removed)
}

/// Runs the mkfs of a lane on a file; answers what tells what it makes from others, or in which words it refuses.
///
/// # Errors
/// [`LaneFailure`] where the machine fails.
pub(crate) fn make(
    row: &'static Filesystem,
    commands: &Commands,
    path: &Path,
    stop: &AtomicBool,
) -> Result<Result<Vec<String>, String>, LaneFailure> {
    let contestant = Contestant::Row(row);
    let format = |command: &[String]| formatting::format(&contestant, command, (path, None), &[], stop);
    match format(&commands.mkfs) {
        Ok(output) => {
            let printed = output.map(|output| output.stdout).unwrap_or_default();
            Ok(Ok(geometry(row, &commands.mkfs, (&printed, path))))
        }
        Err(why) => {
            let plain = || format(&row.mkfs_command(&[])).map(drop);
            refusal_of_mkfs(&commands.mkfs, why, plain).map(Err)
        }
    }
}

/// What is known of a lane that was made on a file, and mounted nowhere.
pub(crate) fn as_made_here(lane: &LaneSpec, commands: &Commands, mut geometry: Vec<String>) -> Made {
    let settings = |layer: Option<&LayerSpec>| layer.map(|layer| layer.options.clone()).unwrap_or_default();
    // Other words may be another lane there: nobody asked.
    geometry.extend(commands.mount_options.iter().cloned());
    Made { geometry, mount: Vec::new(), queue: settings(lane.queue()), vm: settings(lane.vm()) }
}
