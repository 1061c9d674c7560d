//! Operations: lanes take turns at single steps, or at all of them.

use super::round::{Runner, Trouble};
use super::trial_run::TrialRun;
use crate::failure::Failure;
use model::agent::{Part, Request};
use model::operations::Operations;
use model::workload::Workload;

impl Runner<'_> {
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
        trial_runs: &mut [TrialRun],
        seed: u64,
        check: bool,
    ) -> Result<(), Failure> {
        for trial_run in trial_runs.iter_mut().filter(|_| check) {
            trial_run.checking = true;
            self.open(workload, trial_run, seed)?;
            self.steps_checked(operations, trial_run)?;
            self.close(trial_run);
            if trial_run.cut.is_some() && trial_run.sound() {
                // What the steps before the one that was refused wrote counts, so it is compared, in a pass
                // that does not come to that step.
                self.open(workload, trial_run, seed)?;
                self.steps_checked(operations, trial_run)?;
                self.close(trial_run);
            }
            trial_run.checking = false;
        }
        for trial_run in trial_runs.iter_mut() {
            self.open(workload, trial_run, seed)?;
        }
        self.hold(trial_runs)?;
        // The first round also looks at every thread, as of other work.
        let threads = check;
        let lanes = trial_runs.len();
        if operations.loops > 1 {
            for turn in 0..operations.loops as usize {
                for place in 0..lanes {
                    // The next lane begins, and every other turn goes backwards: no lane always follows
                    // the same neighbour.
                    let at = (turn + if turn % 2 == 0 { place } else { lanes - place }) % lanes;
                    if turn > 0 {
                        self.again(&mut trial_runs[at])?;
                    }
                    self.quiet(trial_runs);
                    self.steps_alone(operations, trial_runs, at, threads && turn == 0)?;
                    self.sync(&mut trial_runs[at])?;
                }
            }
        } else {
            self.steps_side_by_side(operations, trial_runs, threads)?;
            trial_runs.iter_mut().try_for_each(|trial_run| self.sync(trial_run))?;
        }
        for trial_run in trial_runs.iter_mut() {
            self.finish(trial_run)?;
            trial_run.end_at_cut(&operations.groups());
        }
        Ok(())
    }

    /// What is left to write is charged beside the steps.
    fn sync(&mut self, trial_run: &mut TrialRun) -> Result<(), Failure> {
        self.step(trial_run, "sync", |runner, trial_run| {
            let seconds = runner.tell(trial_run.lane, &Request::Sync)?;
            trial_run.charge("sync", seconds);
            Ok(())
        })
    }

    fn steps_side_by_side(
        &mut self,
        operations: &Operations,
        trial_runs: &mut [TrialRun],
        threads: bool,
    ) -> Result<(), Failure> {
        let lanes = trial_runs.len();
        for (number, step) in operations.step.iter().enumerate() {
            for trial_run in trial_runs.iter_mut().filter(|trial_run| step.cold && !trial_run.past_cut) {
                self.step(trial_run, "cold", |runner, trial_run| runner.make_cold(trial_run))?;
            }
            self.quiet(trial_runs);
            self.hold(trial_runs)?;
            let of = self.parts(operations.parts(step));
            for index in 0..of {
                for turn in 0..lanes {
                    let trial_run = &mut trial_runs[(number + index as usize + turn) % lanes];
                    self.phase(trial_run, step.group(), Part { index, of }, threads && index == 0)?;
                    if lanes > 1 {
                        // What it leaves to be written would be written beside the next lane.
                        self.sync(trial_run)?;
                    }
                }
            }
        }
        Ok(())
    }

    fn steps_alone(
        &mut self,
        operations: &Operations,
        trial_runs: &mut [TrialRun],
        at: usize,
        threads: bool,
    ) -> Result<(), Failure> {
        for step in &operations.step {
            if step.cold && !trial_runs[at].past_cut {
                self.step(&mut trial_runs[at], "cold", |runner, trial_run| runner.make_cold(trial_run))?;
                self.quiet(trial_runs);
                self.hold(trial_runs)?;
            }
            self.phase(&mut trial_runs[at], step.group(), Part::WHOLE, threads)?;
        }
        Ok(())
    }

    /// A step that is refused may have done something all the same, which no simulation of the steps
    /// knows: after it nothing is compared.
    fn steps_checked(&mut self, operations: &Operations, trial_run: &mut TrialRun) -> Result<(), Failure> {
        let known = trial_run.cut.clone();
        for (step, written) in operations.step.iter().zip(operations.checks()) {
            if written && !trial_run.past_cut {
                self.check_contents(trial_run)?;
            }
            self.phase(trial_run, step.group(), Part::WHOLE, false)?;
        }
        if trial_run.cut == known { self.check_contents(trial_run) } else { Ok(()) }
    }

    /// All steps from the beginning, on a lane that has nothing left to write.
    fn again(&mut self, trial_run: &mut TrialRun) -> Result<(), Failure> {
        trial_run.past_cut = false;
        self.step(trial_run, "populate", |runner, trial_run| {
            runner.lanes.lift(trial_run.ground)?;
            let seconds = runner.tell(trial_run.lane, &Request::Again)?;
            let synced = runner.tell(trial_run.lane, &Request::Sync)?;
            trial_run.charge("populate", seconds + synced);
            runner.lanes.hold(trial_run.ground, trial_run.lane)?;
            Ok(())
        })
    }

    /// Everything is made stable, the lane mounted again, and its files compared with what was
    /// written; a library's disk is checked between.
    fn check_contents(&mut self, trial_run: &mut TrialRun) -> Result<(), Failure> {
        self.step(trial_run, "verify", |runner, trial_run| {
            let synced = runner.tell(trial_run.lane, &Request::Sync)?;
            trial_run.charge("sync", synced);
            runner.check_and_make_cold(trial_run)?;
            let seconds = runner.tell(trial_run.lane, &Request::Verify)?;
            trial_run.charge("verify", seconds);
            Ok::<(), Trouble>(())
        })
    }
}
