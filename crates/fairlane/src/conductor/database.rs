//! Transactions on a database: each lane alone, from the empty lane to the checked tables.

use super::round::Runner;
use super::trial_run::TrialRun;
use crate::commands::lane_failure;
use crate::failure::Failure;
use model::agent::Part;
use model::workload::{Kind, Oltp, Workload};
use std::path::PathBuf;

impl Runner<'_> {
    /// Loaded, cold where that is asked for, then with each number of clients, and checked at the end. Two
    /// servers at a time would share CPUs and memory, so lanes do not alternate within a trial; their order
    /// changes from round to round.
    pub(super) fn database(
        &mut self,
        workload: &Workload,
        oltp: &Oltp,
        trial_run: &mut TrialRun,
        seed: u64,
        threads: bool,
    ) -> Result<(), Failure> {
        let note = self.note_of(workload, trial_run.lane);
        if note.is_some() {
            self.lanes.server_starts(trial_run.lane).map_err(lane_failure)?;
        }
        let raced = self.transactions(workload, oltp, trial_run, seed, threads);
        // The server ends when the agent lets the lane go.
        self.close(trial_run);
        let done = self.lanes.server_ended(trial_run.lane).map_err(lane_failure);
        raced.and(done)
    }

    fn transactions(
        &mut self,
        workload: &Workload,
        oltp: &Oltp,
        trial_run: &mut TrialRun,
        seed: u64,
        threads: bool,
    ) -> Result<(), Failure> {
        self.open(workload, trial_run, seed)?;
        for group in in_turn(oltp.groups(), oltp.cold, seed) {
            if oltp.group_named(&group).is_some_and(|(_, cold)| cold) {
                self.step(trial_run, "cold", |runner, trial_run| runner.make_cold(trial_run))?;
            }
            self.quiet(std::slice::from_mut(trial_run));
            self.hold(std::slice::from_mut(trial_run))?;
            self.phase(trial_run, &group, Part::WHOLE, threads)?;
        }
        // What the device keeps is checked, not what the server and the page cache hold.
        self.step(trial_run, "verify", Runner::read_back)?;
        self.finish(trial_run)
    }

    /// Where a workload's server notes its process id; `None`: it has none.
    pub(super) fn note_of(&self, workload: &Workload, lane: usize) -> Option<PathBuf> {
        match &workload.kind {
            Kind::Oltp(oltp) if oltp.starts_server() => Some(self.lanes.server_note(lane)),
            _ => None,
        }
    }
}

/// The groups as they are measured in a round: the cold one first, then the others from another one on in each round,
/// the same in every lane. What the groups before did to lane and server falls to none of them alone.
fn in_turn(mut groups: Vec<String>, cold: bool, seed: u64) -> Vec<String> {
    let warm = usize::from(cold).min(groups.len());
    let others = &mut groups[warm..];
    if !others.is_empty() {
        // The low bits of neighbouring seeds differ, and nothing else need.
        let from = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
        others.rotate_left((from % others.len() as u64) as usize);
    }
    groups
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn each_load_is_measured_first_in_some_round_and_last_in_another() {
        let groups = || ["c", "1", "2", "3"].map(str::to_owned).to_vec();
        let (mut first, mut last) = (BTreeSet::new(), BTreeSet::new());
        for seed in 0..64 {
            let order = in_turn(groups(), true, seed);
            assert_eq!(order[0], "c");
            assert_eq!(order.iter().collect::<BTreeSet<_>>(), groups().iter().collect());
            first.insert(order[1].clone());
            last.insert(order[3].clone());
            assert_eq!(order, in_turn(groups(), true, seed));
        }
        assert_eq!((first.len(), last.len()), (3, 3));
        assert_eq!(in_turn(vec!["1".to_owned()], false, 9), ["1"]);
        assert_eq!(in_turn(Vec::new(), true, 9), Vec::<String>::new());
    }
}
