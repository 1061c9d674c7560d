//! A lane that could not be opened: what was made of it until then is taken down again, from the top.

use crate::failure::LaneFailure;
use crate::guest::Guest;
use crate::guest::protocol::{Answer, Ask};
use crate::lane_set::{LaneSet, in_guest};
use crate::undo::Journal;
use std::sync::atomic::AtomicBool;

impl LaneSet {
    /// Unmounts what of a lane was mounted and takes down its layers, wherever it lives, each journalled. Why it could not be opened
    /// is what is told, so that nothing of this is: what this machine still holds then is tried again when the lane is closed, and
    /// at the end; what a guest still holds goes with it.
    pub(super) fn undo_opening(&mut self, lane: usize, journal: &mut Journal) {
        if self.lanes[lane].open.is_some() {
            let _ = self.close_lane(lane, Some(journal));
        }
        // What is still mounted stands on its layers.
        if self.lanes[lane].open.is_none() {
            let _ = self.take_down(lane, Some(journal));
            self.leave_nothing_in_guest(lane);
        }
    }

    /// A guest is asked even where it told of no mount and no layer: its answer may be what failed.
    fn leave_nothing_in_guest(&mut self, lane: usize) {
        let Some(guest) = self.guest_of(lane) else { return };
        if guest.lives() {
            let unmount = Ask::Unmount { target: in_guest::directory(lane) };
            let _ = let_go_in_guest(&guest, &unmount, &self.stopping);
            let _ = let_go_in_guest(&guest, &Ask::Unstack { lane: lane as u32 }, &self.stopping);
        }
        self.lanes[lane].stacked.clear();
    }
}

/// Has a guest let go of a mount or of layers. Where it answers with an error it is asked once more, because it may have let go all
/// the same; what it holds even then goes with it.
///
/// # Errors
/// What it answered first.
pub(super) fn let_go_in_guest(guest: &Guest, ask: &Ask, stop: &AtomicBool) -> Result<Answer, LaneFailure> {
    guest.ask(ask, stop).inspect_err(|_| {
        if guest.lives() && guest.ask(ask, stop).is_err() {
            guest.kill();
        }
    })
}
