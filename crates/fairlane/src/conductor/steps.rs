//! Operations: every lane does a step before any begins the next.

use super::round::{Track, Trouble};
use super::visit::Visit;
use crate::failure::Failure;
use model::agent::{Part, Request};
use model::operations::Operations;
use model::workload::Workload;

impl Track<'_> {
    /// Done once, steps alternate between the lanes, long ones in parts, for the same reason as slices
    /// do. Where all steps are done several times, each time is a slice: a lane does all of them, and
    /// what it wrote reaches the disk before the next lane begins.
    ///
    /// With `check` all steps are done once more at the end, and what they wrote is read back after a
    /// remount: before a step that removes it, and at the end. None of that counts: a remount leaves
    /// every later step a cold cache.
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
        let turns = match operations.loops {
            1 => {
                self.steps_side_by_side(operations, visits, check)?;
                0
            }
            loops => loops as usize,
        };
        let lanes = visits.len();
        for turn in 0..turns {
            for lane in 0..lanes {
                // No lane always follows the same neighbour.
                let visit = &mut visits[(turn + lane) % lanes];
                if turn > 0 {
                    self.again(visit, true)?;
                }
                self.quiet(std::slice::from_mut(visit));
                self.steps_alone(operations, visit, check && turn == 0)?;
                self.step(visit, "sync", |track, visit| {
                    let seconds = track.tell(visit.lane, &Request::Sync)?;
                    visit.charge("sync", seconds);
                    Ok(())
                })?;
            }
        }
        for visit in visits.iter_mut() {
            if check {
                self.steps_checked(operations, visit)?;
            }
            self.finish(visit)?;
        }
        Ok(())
    }

    fn steps_side_by_side(
        &mut self,
        operations: &Operations,
        visits: &mut [Visit],
        threads: bool,
    ) -> Result<(), Failure> {
        let lanes = visits.len();
        for (number, step) in operations.step.iter().enumerate() {
            for visit in visits.iter_mut().filter(|_| step.cold) {
                self.step(visit, "cold", |track, visit| track.make_cold(visit))?;
            }
            self.quiet(visits);
            let of = operations.parts(step);
            for index in 0..of {
                for turn in 0..lanes {
                    let visit = &mut visits[(number + index as usize + turn) % lanes];
                    self.phase(visit, step.group(), Part { index, of }, threads && index == 0)?;
                }
            }
        }
        Ok(())
    }

    fn steps_alone(&mut self, operations: &Operations, visit: &mut Visit, threads: bool) -> Result<(), Failure> {
        for step in &operations.step {
            if step.cold {
                self.step(visit, "cold", |track, visit| track.make_cold(visit))?;
            }
            self.phase(visit, step.group(), Part::WHOLE, threads)?;
        }
        Ok(())
    }

    fn steps_checked(&mut self, operations: &Operations, visit: &mut Visit) -> Result<(), Failure> {
        self.again(visit, false)?;
        for (step, written) in operations.step.iter().zip(operations.checks()) {
            if written {
                self.check_contents(visit)?;
            }
            self.phase(visit, step.group(), Part::WHOLE, false)?;
        }
        self.check_contents(visit)
    }

    /// All steps from the beginning, on a lane that has nothing left to write.
    fn again(&mut self, visit: &mut Visit, counted: bool) -> Result<(), Failure> {
        self.step(visit, "populate", |track, visit| {
            let seconds = track.tell(visit.lane, &Request::Again { counted })?;
            let synced = track.tell(visit.lane, &Request::Sync)?;
            visit.charge("populate", seconds + synced);
            Ok(())
        })
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
