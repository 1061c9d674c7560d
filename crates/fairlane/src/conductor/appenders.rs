//! Appenders without a filesystem: what Fairlane and the machine can do by themselves.

use super::agent_process::{CallError, unexpected};
use super::round::Runner;
use super::timeline::Gathered;
use super::timeouts::TimeAllowance;
use super::trial_run::TrialRun;
use crate::failure::Failure;
use model::agent::{Devices, Reply, Request, Target};
use model::event::Event;
use model::workload::{Appenders, Workload};

/// Who stands in the place of a lane where appenders run without a filesystem.
pub(super) const WITHOUT_FILESYSTEM: &str = "(no filesystem)";

impl Runner<'_> {
    /// The same appenders without a filesystem, by the agent of a lane: what Fairlane and the machine can do by
    /// themselves. Nothing is mounted.
    ///
    /// # Errors
    /// Only where the race must end; why it could not be run is in the trial run.
    pub(super) fn appenders_without_filesystem(
        &mut self,
        workload: &Workload,
        appenders: &Appenders,
        lane: usize,
        seed: u64,
    ) -> Result<TrialRun, Failure> {
        (self.screen)(&Event::LaneStarted { lane: WITHOUT_FILESYSTEM.to_owned(), phase: "measure" });
        let mut trial_run = TrialRun::new(lane, 0, 0);
        trial_run.appenders = true;
        trial_run.timeline = Some(Gathered::of_no_device());
        self.slack = TimeAllowance::new(&[], workload);
        let ran = self.run_without_filesystem(workload, appenders, &mut trial_run, seed);
        let detached = self.call(lane, &Request::Detach);
        match (ran, detached) {
            (Err(CallError::Interrupted), _) | (_, Err(CallError::Interrupted)) => Err(Failure::interrupted()),
            (Err(CallError::JobLost(reason)), _) => Err(Failure::failed(reason)),
            (Err(CallError::Refused(reason) | CallError::Lost(reason) | CallError::Corrupt(reason)), _)
            | (Err(CallError::Unsupported { reason, .. }), _) => {
                trial_run.failure = Some(reason);
                Ok(trial_run)
            }
            (Ok(()), _) => Ok(trial_run),
        }
    }

    fn run_without_filesystem(
        &mut self,
        workload: &Workload,
        appenders: &Appenders,
        trial_run: &mut TrialRun,
        seed: u64,
    ) -> Result<(), CallError> {
        let lane = trial_run.lane;
        self.call(lane, &Request::Attach { target: Target::Null, devices: Devices::default() })?;
        self.call(lane, &Request::prepare(workload.clone(), seed))?;
        let begun = self.clock.now();
        let (warm_up_seconds, seconds) = (appenders.warm_up_seconds, appenders.seconds);
        self.measured(trial_run, &Request::Slice { warm_up_seconds, seconds, threads: false })?;
        trial_run.charge("measure", self.clock.since(begun).as_secs_f64());
        match self.call(lane, &Request::Finish)? {
            Reply::Finished { groups, system, notes, .. } => {
                (trial_run.groups, trial_run.system, trial_run.flags) = (groups, system, notes);
                Ok(())
            }
            other => Err(unexpected(&Request::Finish, &other)),
        }
    }
}
