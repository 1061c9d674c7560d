//! How many options a screening has room for, by the disks of its lanes.

use lanes::guest::{GuestKind, Machine};
use model::bounds::MOST_LANES;
use model::lane::{LaneSpec, Venue};

/// How many lanes there is room for.
#[derive(Debug, Clone, Copy)]
pub struct Room {
    /// Lanes at most.
    pub lanes: usize,
    /// Somebody named the options: none of them is left out for want of room.
    pub are_named: bool,
    /// Further levels of options are raced too (`--tune`), so that each of them is tried beforehand.
    pub tunes: bool,
}

impl Room {
    /// Of lanes like this one: those of a guest share its disks.
    pub fn new(base: &LaneSpec, are_named: bool, tunes: bool) -> Room {
        let disks = match base.venue {
            Some(Venue::Uml) => Some(Machine::most_disks(GuestKind::Uml)),
            Some(Venue::Qemu(_)) => Some(Machine::most_disks(GuestKind::Qemu)),
            _ => None,
        };
        let lanes = disks.map_or(MOST_LANES, |disks| disks / base.disks().max(1) as usize);
        Room { lanes, are_named, tunes }
    }

    /// The most options of so many whose design has room; 0: no design has.
    pub(super) fn options(self, count: usize) -> usize {
        (1..=count).rev().find(|&count| stats::screening::lanes_of(count) <= self.lanes).unwrap_or(0)
    }
}
