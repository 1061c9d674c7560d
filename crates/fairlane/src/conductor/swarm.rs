//! A swarm of writers in one lane: one window, and everything that was appended read back.

use super::agent_process::{CallError, unexpected};
use super::course::Gathered;
use super::patience::Slack;
use super::round::Track;
use super::visit::Visit;
use crate::failure::Failure;
use model::agent::{Devices, Reply, Request, Target};
use model::event::Event;
use model::workload::{Appenders, Workload};
use std::time::Instant;

/// Who stands in the place of a lane where a swarm runs without a filesystem.
pub(super) const WITHOUT_FILESYSTEM: &str = "(no filesystem)";

impl Track<'_> {
    /// A swarm of writers has one window, lane after lane: what a filesystem writes late falls into its own.
    /// What was appended is read back after a remount, in every round.
    pub(super) fn swarm(
        &mut self,
        workload: &Workload,
        swarm: &Appenders,
        visit: &mut Visit,
        seed: u64,
        threads: bool,
    ) -> Result<(), Failure> {
        visit.swarm = true;
        let (warm_up_seconds, seconds) = (swarm.warm_up_seconds, swarm.seconds);
        self.one_window(workload, &Request::Slice { warm_up_seconds, seconds, threads }, true, visit, seed)
    }

    /// The same swarm without a filesystem, by the agent of a lane: what Fairlane and the machine can do by
    /// themselves. Nothing is mounted.
    ///
    /// # Errors
    /// Only where the race must end; why it could not be run is in the visit.
    pub(super) fn swarm_without_filesystem(
        &mut self,
        workload: &Workload,
        swarm: &Appenders,
        lane: usize,
        seed: u64,
    ) -> Result<Visit, Failure> {
        (self.screen)(&Event::LaneStarted { lane: WITHOUT_FILESYSTEM.to_owned(), phase: "measure" });
        let mut visit = Visit::new(lane, 0, 0);
        visit.swarm = true;
        visit.course = Some(Gathered::of_no_device());
        self.slack = Slack::of(&[], workload);
        let ran = self.run_without_filesystem(workload, swarm, &mut visit, seed);
        let detached = self.call(lane, &Request::Detach);
        match (ran, detached) {
            (Err(CallError::Interrupted), _) | (_, Err(CallError::Interrupted)) => Err(Failure::interrupted()),
            (Err(CallError::Refused(reason) | CallError::Lost(reason) | CallError::Corrupt(reason)), _)
            | (Err(CallError::Unsupported { reason, .. }), _) => {
                visit.failure = Some(reason);
                Ok(visit)
            }
            (Ok(()), _) => Ok(visit),
        }
    }

    fn run_without_filesystem(
        &mut self,
        workload: &Workload,
        swarm: &Appenders,
        visit: &mut Visit,
        seed: u64,
    ) -> Result<(), CallError> {
        let lane = visit.lane;
        self.call(lane, &Request::Attach { target: Target::Null, devices: Devices::default() })?;
        self.call(lane, &Request::Prepare { workload: workload.clone(), seed })?;
        let begun = Instant::now();
        let (warm_up_seconds, seconds) = (swarm.warm_up_seconds, swarm.seconds);
        self.measured(visit, &Request::Slice { warm_up_seconds, seconds, threads: false })?;
        visit.charge("measure", begun.elapsed().as_secs_f64());
        match self.call(lane, &Request::Finish)? {
            Reply::Finished { groups, system, notes, .. } => {
                (visit.groups, visit.system, visit.flags) = (groups, system, notes);
                Ok(())
            }
            other => Err(unexpected(&Request::Finish, &other)),
        }
    }
}
