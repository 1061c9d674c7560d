//! Operations: lanes take turns at single steps, or at all of them.

use super::round::{Track, Trouble};
use super::visit::Visit;
use crate::failure::Failure;
use model::agent::{Part, Request};
use model::operations::Operations;
use model::workload::Workload;

impl Track<'_> {
    /// Done once, steps alternate between the lanes, long ones in parts, for the same reason as slices
    /// do; what a lane wrote reaches the disk before the next lane's turn, in no step's time. Where all steps are done several times, each time is a slice: a lane does all of them, and
    /// what it wrote reaches the disk before the next lane begins.
    ///
    /// With `check` all steps are done once before that, and what they wrote is read back after a
    /// remount: before a step that removes it, and at the end. A remount leaves every later step a cold
    /// cache, so none of that counts, and the lanes are made anew.
    pub(super) fn steps(
        &mut self,
        workload: &Workload,
        operations: &Operations,
        visits: &mut [Visit],
        seed: u64,
        check: bool,
    ) -> Result<(), Failure> {
        for visit in visits.iter_mut().filter(|_| check) {
            visit.checking = true;
            self.open(workload, visit, seed)?;
            self.steps_checked(operations, visit)?;
            self.close(visit);
            if visit.cut.is_some() && visit.sound() {
                // What the steps before the one that was refused wrote counts, so it is compared, in a pass
                // that does not come to that step.
                self.open(workload, visit, seed)?;
                self.steps_checked(operations, visit)?;
                self.close(visit);
            }
            visit.checking = false;
        }
        for visit in visits.iter_mut() {
            self.open(workload, visit, seed)?;
        }
        self.hold(visits)?;
        // The first round also looks at every thread, as of other work.
        let threads = check;
        let lanes = visits.len();
        if operations.loops > 1 {
            for turn in 0..operations.loops as usize {
                for place in 0..lanes {
                    // The next lane begins, and every other turn goes backwards: no lane always follows
                    // the same neighbour.
                    let at = (turn + if turn % 2 == 0 { place } else { lanes - place }) % lanes;
                    if turn > 0 {
                        self.again(&mut visits[at])?;
                    }
                    self.quiet(visits);
                    self.steps_alone(operations, visits, at, threads && turn == 0)?;
                    self.sync(&mut visits[at])?;
                }
            }
        } else {
            self.steps_side_by_side(operations, visits, threads)?;
            visits.iter_mut().try_for_each(|visit| self.sync(visit))?;
        }
        for visit in visits.iter_mut() {
            self.finish(visit)?;
            visit.end_at_cut(&operations.groups());
        }
        Ok(())
    }

    /// What is left to write is charged beside the steps.
    fn sync(&mut self, visit: &mut Visit) -> Result<(), Failure> {
        self.step(visit, "sync", |track, visit| {
            let seconds = track.tell(visit.lane, &Request::Sync)?;
            visit.charge("sync", seconds);
            Ok(())
        })
    }

    fn steps_side_by_side(
        &mut self,
        operations: &Operations,
        visits: &mut [Visit],
        threads: bool,
    ) -> Result<(), Failure> {
        let lanes = visits.len();
        for (number, step) in operations.step.iter().enumerate() {
            for visit in visits.iter_mut().filter(|visit| step.cold && !visit.past_cut) {
                self.step(visit, "cold", |track, visit| track.make_cold(visit))?;
            }
            self.quiet(visits);
            self.hold(visits)?;
            let of = self.parts(operations.parts(step));
            for index in 0..of {
                for turn in 0..lanes {
                    let visit = &mut visits[(number + index as usize + turn) % lanes];
                    self.phase(visit, step.group(), Part { index, of }, threads && index == 0)?;
                    if lanes > 1 {
                        // What it leaves to be written would be written beside the next lane.
                        self.sync(visit)?;
                    }
                }
            }
        }
        Ok(())
    }

    fn steps_alone(
        &mut self,
        operations: &Operations,
        visits: &mut [Visit],
        at: usize,
        threads: bool,
    ) -> Result<(), Failure> {
        for step in &operations.step {
            if step.cold && !visits[at].past_cut {
                self.step(&mut visits[at], "cold", |track, visit| track.make_cold(visit))?;
                self.quiet(visits);
                self.hold(visits)?;
            }
            self.phase(&mut visits[at], step.group(), Part::WHOLE, threads)?;
        }
        Ok(())
    }

    /// A step that is refused may have done something all the same, which no simulation of the steps
    /// knows: after it nothing is compared.
    fn steps_checked(&mut self, operations: &Operations, visit: &mut Visit) -> Result<(), Failure> {
        let known = visit.cut.clone();
        for (step, written) in operations.step.iter().zip(operations.checks()) {
            if written && !visit.past_cut {
                self.check_contents(visit)?;
            }
            self.phase(visit, step.group(), Part::WHOLE, false)?;
        }
        if visit.cut == known { self.check_contents(visit) } else { Ok(()) }
    }

    /// All steps from the beginning, on a lane that has nothing left to write.
    fn again(&mut self, visit: &mut Visit) -> Result<(), Failure> {
        visit.past_cut = false;
        self.step(visit, "populate", |track, visit| {
            track.stage.lift(visit.ground)?;
            let seconds = track.tell(visit.lane, &Request::Again)?;
            let synced = track.tell(visit.lane, &Request::Sync)?;
            visit.charge("populate", seconds + synced);
            track.stage.hold(visit.ground, visit.lane)?;
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
