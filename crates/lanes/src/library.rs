//! Lanes whose filesystem the agent itself is: what it is told, and what their checker says afterwards.

use crate::command;
use crate::contestant::{Contestant, fill_device};
use crate::failure::{LaneFailure, failed};
use crate::filesystems::{Checker, Home};
use crate::lane_set::{LaneSet, LaneState};
use crate::venues::Venue;
use model::agent::LibraryTarget;
use std::sync::atomic::AtomicBool;

/// How the disk is checked that a library lane leaves.
fn check_of(lane: &LaneState) -> Option<Checker> {
    match &lane.contestant {
        Contestant::Row(row) if row.home == Home::Library => row.checker,
        _ => None,
    }
}

/// The program that looks at that disk, and its package, where it is not there.
pub(crate) fn missing_check(lane: &LaneState) -> Option<(&'static str, &'static str)> {
    let check = check_of(lane).filter(|check| command::find_program(check.look[0]).is_none())?;
    Some((check.look[0], check.package))
}

/// What the agent attaches when the lane is opened.
pub(crate) fn target(lane: &LaneState, ground: &dyn Venue) -> LibraryTarget {
    LibraryTarget {
        filesystem: lane.contestant.filesystem_name().to_owned(),
        device: ground.block_device().expect("a library lives on an image or a device"),
        options: lane.mount_options.clone(),
        format: true,
    }
}

impl LaneSet {
    /// Asks the checker about the disk of a library lane that its agent has let go: the wall seconds that
    /// it took. `None` for every other lane, and where the checker is not installed.
    ///
    /// # Errors
    /// [`LaneFailure::Failed`] naming the lane, with the checker's first findings.
    pub fn check_disk(&self, lane: usize, stop: &AtomicBool) -> Result<Option<f64>, LaneFailure> {
        let state = &self.lanes[lane];
        let (Some(check), Some(open)) = (check_of(state), &state.open) else { return Ok(None) };
        let Some(device) = self.stores[open.ground].formatted() else { return Ok(None) };
        if missing_check(state).is_some() {
            return Ok(None);
        }
        let checked = command::run(
            &fill_device(&check.look.iter().map(|&word| word.to_owned()).collect::<Vec<_>>(), &device),
            stop,
        );
        match checked {
            Ok(output) => Ok(Some(output.seconds)),
            Err(LaneFailure::Failed(said)) => Err(failed(format!(
                "the disk that {} left is not whole: {said}; its figures do not count",
                state.contestant.filesystem_name()
            ))
            .in_lane(&state.name)),
            Err(other) => Err(other),
        }
    }
}
