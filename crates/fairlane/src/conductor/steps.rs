//! Operations: every lane does a step before any begins the next.

use super::round::{Track, Trouble};
use super::visit::Visit;
use crate::failure::Failure;
use model::agent::{Part, Request};
use model::operations::Operations;
use model::workload::Workload;

impl Track<'_> {
    /// Steps alternate between the lanes, long ones in parts, for the same reason as slices do.
    /// With `check`, what the steps wrote is read back after a remount: before a step that removes
    /// it, and at the end.
    pub(super) fn steps(
        &mut self,
        workload: &Workload,
        operations: &Operations,
        visits: &mut [Visit],
        seed: u64,
        check: bool,
    ) -> Result<(), Failure> {
        for visit in visits.iter_mut() {
            self.open(workload, visit, seed)?;
        }
        let lanes = visits.len();
        for (number, (step, written)) in operations.step.iter().zip(operations.checks()).enumerate() {
            if check && written {
                visits.iter_mut().try_for_each(|visit| self.check_contents(visit))?;
            }
            if step.cold {
                for visit in visits.iter_mut() {
                    self.step(visit, "cold", |track, visit| track.make_cold(visit))?;
                }
            }
            self.quiet(visits);
            let of = operations.parts(step);
            for index in 0..of {
                for turn in 0..lanes {
                    let visit = &mut visits[(number + index as usize + turn) % lanes];
                    self.phase(visit, step.group(), Part { index, of }, check && index == 0)?;
                }
            }
        }
        if check {
            visits.iter_mut().try_for_each(|visit| self.check_contents(visit))?;
        }
        visits.iter_mut().try_for_each(|visit| self.finish(visit))
    }

    /// Everything is made stable, the lane mounted again, and its files compared with what was
    /// written; a library's disk is checked between.
    fn check_contents(&mut self, visit: &mut Visit) -> Result<(), Failure> {
        self.step(visit, "verify", |track, visit| {
            let synced = track.tell(visit.lane, &Request::Sync)?;
            visit.charge("sync", synced);
            track.check_and_make_cold(visit)?;
            let seconds = track.tell(visit.lane, &Request::Verify)?;
            visit.charge("verify", seconds);
            Ok::<(), Trouble>(())
        })
    }
}
