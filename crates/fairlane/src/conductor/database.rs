//! Transactions on a database: each lane alone, from the empty lane to the checked tables.

use super::round::Track;
use super::visit::Visit;
use crate::commands::lane_failure;
use crate::failure::Failure;
use lanes::undo::{Thing, server_note};
use model::agent::{Part, Request};
use model::workload::{Kind, Oltp, Workload};
use std::path::PathBuf;

impl Track<'_> {
    /// Loaded, cold where that is asked for, then with each number of clients, and checked at the end. Two
    /// servers at a time would share CPUs and memory, so lanes do not alternate within a trial; their order
    /// changes from round to round.
    pub(super) fn database(
        &mut self,
        workload: &Workload,
        oltp: &Oltp,
        visit: &mut Visit,
        seed: u64,
        threads: bool,
    ) -> Result<(), Failure> {
        let note = self.note_of(workload, visit.lane);
        let entry = note.map(|note| self.journal.will(Thing::Server { note })).transpose().map_err(lane_failure)?;
        let raced = self.transactions(workload, oltp, visit, seed, threads);
        // The server ends when the agent lets the lane go.
        self.close(visit);
        let done = entry.map_or(Ok(()), |entry| self.journal.done(entry).map_err(lane_failure));
        raced.and(done)
    }

    fn transactions(
        &mut self,
        workload: &Workload,
        oltp: &Oltp,
        visit: &mut Visit,
        seed: u64,
        threads: bool,
    ) -> Result<(), Failure> {
        self.open(workload, visit, seed)?;
        for group in oltp.groups() {
            if oltp.group_named(&group).is_some_and(|(_, cold)| cold) {
                self.step(visit, "cold", |track, visit| track.make_cold(visit))?;
            }
            self.quiet(std::slice::from_mut(visit));
            self.hold(std::slice::from_mut(visit))?;
            self.phase(visit, &group, Part::WHOLE, threads)?;
        }
        self.step(visit, "verify", |track, visit| {
            let seconds = track.tell(visit.lane, &Request::Verify)?;
            visit.charge("verify", seconds);
            Ok(())
        })?;
        self.finish(visit)
    }

    /// Where a workload's server notes its process id; `None`: it has none.
    pub(super) fn note_of(&self, workload: &Workload, lane: usize) -> Option<PathBuf> {
        match &workload.kind {
            Kind::Oltp(oltp) if oltp.server.is_process() => Some(server_note(self.journal.path(), lane)),
            _ => None,
        }
    }
}
