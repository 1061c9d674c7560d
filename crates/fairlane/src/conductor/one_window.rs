//! Work that is done at a stretch: one window in each lane, and a look at what the disk keeps of it.

use super::round::{Runner, Trouble};
use super::trial_run::TrialRun;
use crate::failure::Failure;
use model::agent::Request;
use model::workload::{Kind, Workload};

impl Runner<'_> {
    /// Lane after lane: what a filesystem writes late falls into its own window. `reads_back`: afterwards the lane is
    /// mounted anew, and everything must be there as it was written.
    pub(super) fn one_window(
        &mut self,
        workload: &Workload,
        window: &Request,
        reads_back: bool,
        trial_run: &mut TrialRun,
        seed: u64,
    ) -> Result<(), Failure> {
        self.open(workload, trial_run, seed)?;
        self.quiet(std::slice::from_mut(trial_run));
        self.hold(std::slice::from_mut(trial_run))?;
        self.step(trial_run, "measure", |runner, trial_run| {
            let begun = runner.clock.now();
            runner.measured(trial_run, window)?;
            trial_run.charge("measure", runner.clock.since(begun).as_secs_f64());
            Ok(())
        })?;
        if reads_back {
            self.step(trial_run, "verify", |runner, trial_run| {
                let synced = runner.tell(trial_run.lane, &Request::Sync)?;
                trial_run.charge("sync", synced);
                runner.read_back(trial_run)
            })?;
        }
        self.finish(trial_run)
    }

    /// A job file: what it does is its own, and cannot be cut in slices.
    pub(super) fn job_file(
        &mut self,
        workload: &Workload,
        reads_back: bool,
        trial_run: &mut TrialRun,
        seed: u64,
        threads: bool,
    ) -> Result<(), Failure> {
        self.one_window(workload, &Request::Run { threads }, reads_back, trial_run, seed)?;
        if let (Kind::Jobs(jobs), Some(timeline)) = (&workload.kind, &mut trial_run.timeline) {
            timeline.fill_from_series(jobs, &trial_run.jobs, &trial_run.groups);
        }
        Ok(())
    }

    /// What was written is looked at as the disk has it, after a remount. Nothing of it is measured: what it takes is
    /// charged to the check, and a cache that a remount leaves warm is nobody's flag.
    pub(super) fn read_back(&mut self, trial_run: &mut TrialRun) -> Result<(), Trouble> {
        trial_run.checking = true;
        let checked = self.make_cold(trial_run).and_then(|()| {
            let seconds = self.tell(trial_run.lane, &Request::Verify)?;
            trial_run.charge("verify", seconds);
            Ok(())
        });
        trial_run.checking = false;
        checked
    }
}
