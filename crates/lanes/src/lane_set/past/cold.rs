//! What a lane lived, read cold beside a fresh copy of it: on this machine, and by the kernel of a guest.

use super::waiting::{Step, until_ended};
use crate::failure::{LaneFailure, cannot, failed};
use crate::guest::Guest;
use crate::guest::protocol::{Answer, Ask};
use crate::lane_set::LaneSet;
use crate::layers::Holding;
use crate::undo::Journal;
use aging::measures::{self, ColdStep, ColdWalk, Fresh, SteppedTo};
use model::aged::ColdRead;
use rustix::fs::{Mode, OFlags, open, openat};
use std::collections::BTreeMap;
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

/// The folder of a lane that its life lies in.
pub(super) const TREE: &str = "aged";
/// How folders are opened.
pub(super) const FOLDER: OFlags = OFlags::DIRECTORY.union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

impl LaneSet {
    /// Reads what a lane lived beside a fresh copy, on a disk whose image is kept already. `None`: there is no room for a copy, or the
    /// disk is to be held and is not yet.
    pub(super) fn read_beside_fresh(
        &mut self,
        index: usize,
        ground: usize,
        journal: &mut Journal,
        stop: &AtomicBool,
    ) -> Result<Option<ColdRead>, LaneFailure> {
        if self.throttling.is_some() {
            return Ok(None);
        }
        let opened = if self.lanes[index].guest.is_some() {
            let stacked = self.stack(index, ground, Holding::WholeStack, journal, stop);
            stacked.and_then(|_| self.open_in_guest(index, ground, BTreeMap::new(), journal, stop))
        } else {
            let directory = self.lane_directory(index, ground);
            self.mount(index, ground, directory, BTreeMap::new(), journal, stop)
        };
        if let Err(error) = opened {
            // What stood on would write to its disks once the next image lies there.
            self.undo_opening(index, journal);
            return Err(error);
        }
        let read = self.read_open_lane(index, stop);
        let closed = self.close(index, journal);
        // Of a guest that was ended because it hung this is why.
        let read = read?;
        closed.map(|_| read)
    }

    fn read_open_lane(&mut self, index: usize, stop: &AtomicBool) -> Result<Option<ColdRead>, LaneFailure> {
        let mut fresh = Fresh::default();
        if self.cold_step(index, ColdStep::Copy, &mut fresh, stop)? == SteppedTo::NoRoom {
            return Ok(None);
        }
        let aged = self.read_cold(index, ColdStep::Aged, &mut fresh, stop)?;
        let copy = self.read_cold(index, ColdStep::Fresh, &mut fresh, stop)?;
        let files = self.lanes[index].past.as_ref().and_then(|past| past.facts.as_ref()).map_or(0, |facts| facts.files);
        Ok(Some(ColdRead {
            disk: self.host.as_ref().and_then(|host| host.disk.clone()).unwrap_or_default(),
            share_of_files: copy.files as f64 / files.max(copy.files).max(1) as f64,
            aged_seconds_per_gib: aged.seconds_per_gib,
            fresh_seconds_per_gib: copy.seconds_per_gib,
        }))
    }

    fn read_cold(
        &mut self,
        index: usize,
        step: ColdStep,
        fresh: &mut Fresh,
        stop: &AtomicBool,
    ) -> Result<ColdWalk, LaneFailure> {
        self.empty_caches(index)?;
        match self.cold_step(index, step, fresh, stop)? {
            SteppedTo::Read(walk) => Ok(walk),
            other => Err(failed(format!("{other:?} came of reading; this is a fault of Fairlane, report it"))),
        }
    }

    /// Makes an open lane cold. The disks of user-mode Linux lie in the host's page cache, and this is the one time that they are
    /// read from where they lie.
    fn empty_caches(&mut self, index: usize) -> Result<(), LaneFailure> {
        self.make_cold(index)?;
        let Some(ground) = self.lanes[index].open.as_ref().map(|opened| opened.ground) else { return Ok(()) };
        let store = &self.stores[ground];
        if store.guest_disks().is_some() {
            for image in store.carrying_images() {
                image.sync()?;
                image.drop_cache();
            }
        }
        Ok(())
    }

    /// Does a step where the lane is mounted.
    fn cold_step(
        &self,
        index: usize,
        step: ColdStep,
        fresh: &mut Fresh,
        stop: &AtomicBool,
    ) -> Result<SteppedTo, LaneFailure> {
        let Some(opened) = &self.lanes[index].open else {
            return Err(failed("it is not open; this is a fault of Fairlane, report it"));
        };
        let came_to = match &opened.guest {
            Some(guest) => step_in_guest(guest, &opened.directory, step, stop),
            None => step_below(&opened.base, step, fresh, stop),
        };
        // What was stopped is of a part.
        if stop.load(Ordering::Relaxed) { Err(LaneFailure::Interrupted) } else { came_to }
    }
}

/// Has a guest do a step, which keeps what it copied itself, and asks how far it is until it ends.
fn step_in_guest(guest: &Guest, target: &Path, step: ColdStep, stop: &AtomicBool) -> Result<SteppedTo, LaneFailure> {
    guest.ask(&Ask::ReadCold { target: target.to_owned(), step }, stop)?;
    let mut read = |answer: Answer| match answer {
        Answer::Reading { work } => Ok(Step::GoesOn(work)),
        Answer::HasRead { came_to } => Ok(Step::Ended(came_to)),
        other => Err(failed(format!("the guest answered {other:?} when it was asked to read a lane"))),
    };
    until_ended(guest, (&Ask::HasRead { target: target.to_owned() }, "reading it"), stop, &mut read)
}

/// Does a step below a mounted filesystem; `fresh` is what the first one copied.
///
/// # Errors
/// What the system answers.
pub(crate) fn step_below(
    base: &Path,
    step: ColdStep,
    fresh: &mut Fresh,
    stop: &AtomicBool,
) -> Result<SteppedTo, LaneFailure> {
    let tree = open_tree(base)?;
    measures::cold_step(tree.as_fd(), step, fresh, stop).map_err(|error| failed(error.to_string()))
}

/// The folder of the life in the lane's root.
///
/// # Errors
/// [`LaneFailure::Failed`] where it is not there.
pub(super) fn open_tree(base: &Path) -> Result<OwnedFd, LaneFailure> {
    let opened = open(base, FOLDER, Mode::empty()).and_then(|root| openat(&root, TREE, FOLDER, Mode::empty()));
    opened.map_err(|error| cannot(format!("open the folder {TREE} in {}", base.display()), std::io::Error::from(error)))
}
