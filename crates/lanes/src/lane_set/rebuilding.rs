//! Lanes whose filesystem rebuilds its last disk onto a spare one beside the work: which disk is which, and how far it came.

use crate::contestant::Contestant;
use crate::failure::{LaneFailure, usage};
use crate::filesystems::Replacer;
use crate::lane_set::LaneState;
use crate::layers::Rebuilt;
use crate::replacing::{Replace, Replaced, Replacing};
use model::stack::{DEGRADED, REBUILDING};
use model::{Flag, Mark};
use std::path::{Path, PathBuf};

/// How far an open lane came.
#[derive(Debug, Default)]
pub(crate) struct Rebuild {
    /// Of a lane that this machine mounts, while it is mounted.
    running: Option<Replacing>,
    /// What was rebuilt before it was unmounted; `None`: nothing was to be.
    rebuilt: Option<Rebuilt>,
    /// The spare disk is the last one of the filesystem, and the last one the spare.
    swapped: bool,
}

impl Rebuild {
    /// Begins on this machine.
    pub(crate) fn begin(&mut self, replace: Option<Replace>, mounted: &Path) -> Result<(), LaneFailure> {
        self.running = replace.map(|replace| Replacing::begin(replace, mounted)).transpose()?;
        Ok(())
    }

    /// Ends what [`Rebuild::begin`] began, so that nothing of it holds the mount.
    pub(crate) fn pause(&mut self) -> Result<(), LaneFailure> {
        match self.running.take() {
            Some(running) => running.end().map(|replaced| self.note(replaced)),
            None => Ok(()),
        }
    }

    /// Adds what was rebuilt until an unmount.
    pub(crate) fn note(&mut self, replaced: Replaced) {
        self.rebuilt = Some(replaced.rebuilt.and(self.rebuilt));
        self.swapped ^= replaced.swapped;
    }

    /// What the trial says of it.
    pub(crate) fn flag(&self) -> Option<Flag> {
        self.rebuilt.as_ref().map(|rebuilt| flag(rebuilt, "what the disk held"))
    }
}

/// What a trial says of disks that were rebuilt beside its work.
pub(crate) fn flag(rebuilt: &Rebuilt, what: &str) -> Flag {
    let seconds = rebuilt.seconds / rebuilt.times;
    Mark::Rebuilding.with(match seconds.is_finite() {
        true => format!(
            "a rebuild of {what} took {}, and {:.0} % of the lane's time was rebuilding",
            model::units::human_seconds(seconds),
            (100.0 * rebuilt.seconds / rebuilt.of_seconds).min(100.0)
        ),
        false => format!("in {} it did not begin", model::units::human_seconds(rebuilt.seconds)),
    })
}

impl LaneState {
    /// How its filesystem rebuilds a disk; `None`: it is not to, or cannot.
    pub(crate) fn replacer(&self) -> Option<&'static Replacer> {
        let Contestant::Row(row) = &self.contestant else { return None };
        row.replace.as_ref().filter(|_| self.spec.mount_options.iter().any(|word| word == REBUILDING))
    }

    /// Of the disks behind the first those that its filesystem stands on, in its order: a spare one is none of them.
    pub(crate) fn of_filesystem(&self, further: &[PathBuf]) -> Vec<PathBuf> {
        let mut devices = further.to_vec();
        if self.replacer().is_some() {
            let spare = devices.pop();
            if let (true, Some(spare), Some(last)) = (self.swapped(), spare, devices.last_mut()) {
                *last = spare;
            }
        }
        devices
    }

    fn swapped(&self) -> bool {
        self.open.as_ref().is_some_and(|open| open.rebuild.swapped)
    }

    /// What is replaced by what in its mounted filesystem. `further`: its disks behind the first.
    pub(crate) fn replacement(&self, further: &[PathBuf]) -> Option<Replace> {
        let replacer = self.replacer()?;
        let [.., last, spare] = further else { return None };
        let mut disks = [last.clone(), spare.clone()];
        if self.swapped() {
            disks.reverse();
        }
        let command = replacer.command.iter().map(|&word| word.to_owned()).collect();
        Some(Replace { command, device: self.spec.devices, disks })
    }
}

/// Refuses a lane whose last disk cannot be rebuilt from the others.
///
/// # Errors
/// [`LaneFailure::Usage`] with the remedy.
pub(crate) fn check(lane: &LaneState) -> Result<(), LaneFailure> {
    if let (true, Contestant::Row(row)) = (lane.lacks_a_device(), &lane.contestant)
        && row.replace.as_ref().is_some_and(|replace| !(replace.has_copies)(&lane.spec.mkfs_options))
    {
        let name = row.name;
        return Err(usage(format!(
            "its other disks do not hold what is on the last one, so that it cannot lack it; write {name}:2(-d raid1 -m \
             raid1),{DEGRADED}"
        )));
    }
    let Some(replacer) = lane.replacer() else { return Ok(()) };
    let name = lane.contestant.filesystem_name();
    let typed = format!("{name}:2(-d raid1 -m raid1),{REBUILDING}");
    Err(usage(if lane.spec.devices == 1 {
        format!("its one disk cannot be rebuilt from others; write {typed}")
    } else if lane.mount_options.iter().any(|word| word == DEGRADED) {
        format!("it is told `{DEGRADED}` and `{REBUILDING}`; remove one")
    } else if !lane.spec.layers.is_empty() {
        "a device of the filesystem is rebuilt only where its devices are disks; remove the layers, or let one of them rebuild"
            .to_owned()
    } else if !(replacer.has_copies)(&lane.spec.mkfs_options) {
        format!(
            "its other disks do not hold what is on the last one, so that it cannot be rebuilt from them; write {typed}"
        )
    } else {
        return Ok(());
    }))
}
