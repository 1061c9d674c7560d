//! Lanes whose filesystem the agent itself is: what it is told, and what e2fsck says afterwards.

use crate::backing_store::BackingStore;
use crate::command;
use crate::contestant::fill_device;
use crate::failure::{LaneFailure, failed};
use crate::lane_set::{LaneSet, LaneState};
use model::agent::LibraryTarget;
use std::sync::atomic::AtomicBool;

/// What checks the disk of an ext4 library.
pub(crate) const E2FSCK: &str = "e2fsck";
/// All of it, also where it looks clean, and nothing is changed.
const CHECK: [&str; 4] = [E2FSCK, "-f", "-n", "{device}"];

/// What the agent attaches when the lane is opened.
pub(crate) fn target(lane: &LaneState, ground: &BackingStore) -> LibraryTarget {
    LibraryTarget {
        filesystem: lane.contestant.filesystem_name().to_owned(),
        device: ground.block_device().expect("a library lives on an image or a device"),
        options: lane.mount_options.clone(),
        format: true,
    }
}

impl LaneSet {
    /// Asks e2fsck about the disk of a library lane that its agent has let go: the wall seconds that
    /// it took. `None` for every other lane, and where e2fsck is not installed.
    ///
    /// # Errors
    /// [`LaneFailure::Failed`] naming the lane, with e2fsck's first findings.
    pub fn check_disk(&self, lane: usize, stop: &AtomicBool) -> Result<Option<f64>, LaneFailure> {
        let state = &self.lanes[lane];
        let Some(open) = state.open.as_ref().filter(|_| state.contestant.is_library()) else { return Ok(None) };
        let Some(device) = self.stores[open.ground].formatted() else { return Ok(None) };
        if command::find_program(E2FSCK).is_none() {
            return Ok(None);
        }
        let checked = command::run(&fill_device(&CHECK.map(str::to_owned), &device), stop);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_check_changes_nothing_on_the_disk() {
        let command = fill_device(&CHECK.map(str::to_owned), std::path::Path::new("/dev/loop7"));
        assert_eq!(command, ["e2fsck", "-f", "-n", "/dev/loop7"]);
    }
}
