//! Mixed operations: one window in each lane, and a look at what is there afterwards.

use super::round::Track;
use super::visit::Visit;
use crate::failure::Failure;
use model::agent::Request;
use model::workload::{Mix, Workload};
use std::time::Instant;

impl Track<'_> {
    /// Lane after lane: what a filesystem writes late falls into its own window. Afterwards the lane is mounted anew, and
    /// every file must be there with its size, and no other.
    pub(super) fn mix(
        &mut self,
        workload: &Workload,
        mix: &Mix,
        visit: &mut Visit,
        seed: u64,
        threads: bool,
    ) -> Result<(), Failure> {
        self.open(workload, visit, seed)?;
        self.quiet(std::slice::from_mut(visit));
        self.hold(std::slice::from_mut(visit))?;
        self.step(visit, "measure", |track, visit| {
            let begun = Instant::now();
            let (warm_up_seconds, seconds) = (mix.warm_up_seconds, mix.seconds);
            track.measured(visit, &Request::Slice { warm_up_seconds, seconds, threads })?;
            visit.charge("measure", begun.elapsed().as_secs_f64());
            Ok(())
        })?;
        self.step(visit, "verify", |track, visit| {
            let synced = track.tell(visit.lane, &Request::Sync)?;
            visit.charge("sync", synced);
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
