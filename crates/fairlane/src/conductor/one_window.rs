//! Work that is done at a stretch: one window in each lane, and a look at what the disk keeps of it.

use super::round::{Track, Trouble};
use super::visit::Visit;
use crate::failure::Failure;
use model::agent::Request;
use model::workload::{Kind, Workload};
use std::time::Instant;

impl Track<'_> {
    /// Lane after lane: what a filesystem writes late falls into its own window. `reads_back`: afterwards the lane is
    /// mounted anew, and everything must be there as it was written.
    pub(super) fn one_window(
        &mut self,
        workload: &Workload,
        window: &Request,
        reads_back: bool,
        visit: &mut Visit,
        seed: u64,
    ) -> Result<(), Failure> {
        self.open(workload, visit, seed)?;
        self.quiet(std::slice::from_mut(visit));
        self.hold(std::slice::from_mut(visit))?;
        self.step(visit, "measure", |track, visit| {
            let begun = Instant::now();
            track.measured(visit, window)?;
            visit.charge("measure", begun.elapsed().as_secs_f64());
            Ok(())
        })?;
        if reads_back {
            self.step(visit, "verify", |track, visit| {
                let synced = track.tell(visit.lane, &Request::Sync)?;
                visit.charge("sync", synced);
                track.read_back(visit)
            })?;
        }
        self.finish(visit)
    }

    /// A job file: what it does is its own, and cannot be cut in slices.
    pub(super) fn job_file(
        &mut self,
        workload: &Workload,
        visit: &mut Visit,
        seed: u64,
        threads: bool,
    ) -> Result<(), Failure> {
        let reads_back = matches!(&workload.kind, Kind::Jobs(jobs) if jobs.reads_back());
        self.one_window(workload, &Request::Run { threads }, reads_back, visit, seed)?;
        if let (Kind::Jobs(jobs), Some(course)) = (&workload.kind, &mut visit.course) {
            course.fill_from_series(jobs, &visit.jobs, &visit.groups);
        }
        Ok(())
    }

    /// What was written is looked at as the disk has it, after a remount. Nothing of it is measured: what it takes is
    /// charged to the check, and a cache that a remount leaves warm is nobody's flag.
    pub(super) fn read_back(&mut self, visit: &mut Visit) -> Result<(), Trouble> {
        visit.checking = true;
        let checked = self.make_cold(visit).and_then(|()| {
            let seconds = self.tell(visit.lane, &Request::Verify)?;
            visit.charge("verify", seconds);
            Ok(())
        });
        visit.checking = false;
        checked
    }
}
