//! A swarm of writers in one lane: one window, and everything that was appended read back.

use super::round::Track;
use super::visit::Visit;
use crate::failure::Failure;
use model::agent::Request;
use model::workload::{Appenders, Workload};
use std::time::Instant;

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
        self.open(workload, visit, seed)?;
        self.quiet(std::slice::from_mut(visit));
        self.hold(std::slice::from_mut(visit))?;
        self.step(visit, "measure", |track, visit| {
            let begun = Instant::now();
            let (warm_up_seconds, seconds) = (swarm.warm_up_seconds, swarm.seconds);
            track.measured(visit, &Request::Slice { warm_up_seconds, seconds, threads })?;
            visit.charge("measure", begun.elapsed().as_secs_f64());
            Ok(())
        })?;
        self.step(visit, "verify", |track, visit| {
            let synced = track.tell(visit.lane, &Request::Sync)?;
            visit.charge("sync", synced);
            // From here on nothing is measured: what a remount and reading take is charged to the check.
            visit.checking = true;
            track.make_cold(visit)?;
            let seconds = track.tell(visit.lane, &Request::Verify)?;
            visit.charge("verify", seconds);
            visit.checking = false;
            Ok(())
        })?;
        self.finish(visit)
    }
}
