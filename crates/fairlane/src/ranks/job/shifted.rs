//! Ranks take the folders of other ranks: to read what those wrote, and to compare it with what it should be.

use super::Job;
use crate::conductor::agent_process::{CallError, checked};
use crate::ranks::combine;
use crate::ranks::sharing::{compares_before, peers};
use model::agent::Request;
use std::sync::atomic::AtomicBool;

impl Job {
    /// All files are made and synced: from here on each rank reads those of a rank on the next machine. What all share is
    /// let go of and opened again, so that every machine sees what the others have made.
    pub(super) fn shift(&mut self, lane: usize, stop: &AtomicBool, waiting: &mut dyn FnMut()) -> Result<(), CallError> {
        let team = self.team_at(lane);
        let Some(work) = self.lanes.get_mut(&lane).filter(|_| team.len() > 1) else { return Ok(()) };
        let is_shared = work.is_shared;
        work.is_shifted = !is_shared;
        let peers = self.peers_in(&team);
        let theirs = |rank: u32| (!is_shared).then(|| peer_of(rank, &team, &peers));
        self.attach_again(lane, &theirs, stop, waiting)
    }

    /// Where this is due, each rank reads some of what a rank on the next machine wrote and compares it: in that one's folder or,
    /// where all share one, in that, which they open anew.
    pub(super) fn compare(
        &mut self,
        lane: usize,
        request: &Request,
        stop: &AtomicBool,
        waiting: &mut dyn FnMut(),
    ) -> Result<(), CallError> {
        let team = self.team_at(lane);
        let Some(work) = self.lanes.get(&lane).filter(|_| team.len() > 1) else { return Ok(()) };
        let Some((_, seed)) = work.prepared.as_ref().filter(|(of, _)| compares_before(of, request)) else {
            return Ok(());
        };
        let (seed, is_shared, is_shifted) = (*seed, work.is_shared, work.is_shifted);
        let peers = self.peers_in(&team);
        let theirs = |rank: u32| (!is_shared).then(|| peer_of(rank, &team, &peers));
        if !is_shifted {
            self.attach_again(lane, &theirs, stop, waiting)?;
        }
        // Whom each rank reads is put in for each.
        let check = Request::CheckOther { client: 0, rank: 0, seed };
        let replies = self.ask_agents(lane, &check, &theirs, stop, waiting)?;
        if let Some(refusal) = combine::refusal(&replies, self.ranks().nodes) {
            return checked(refusal, stop).map(drop);
        }
        if let Some(work) = self.lanes.get_mut(&lane) {
            work.compared.add(&replies, &peers);
        }
        if is_shared || is_shifted {
            return Ok(());
        }
        self.attach_again(lane, &|rank| (!is_shared).then_some(rank), stop, waiting)
    }

    /// The agents of a lane take other folders of it, or the same ones anew.
    pub(super) fn attach_again(
        &mut self,
        lane: usize,
        folder_of: &dyn Fn(u32) -> Option<u32>,
        stop: &AtomicBool,
        waiting: &mut dyn FnMut(),
    ) -> Result<(), CallError> {
        let Some(attach) = self.lanes.get(&lane).and_then(|work| work.attached.clone()) else { return Ok(()) };
        let replies = self.ask_agents(lane, &attach, folder_of, stop, waiting)?;
        match combine::refusal(&replies, self.ranks().nodes) {
            Some(refusal) => checked(refusal, stop).map(drop),
            None => Ok(()),
        }
    }

    /// Whose files each of these ranks reads, as its place among them.
    fn peers_in(&self, team: &[u32]) -> Vec<u32> {
        peers(&team.iter().map(|rank| self.node(*rank)).collect::<Vec<u32>>())
    }
}

/// The rank whose files this one of a team reads; `peers`: places in the team.
fn peer_of(rank: u32, team: &[u32], peers: &[u32]) -> u32 {
    team.binary_search(&rank).map_or(rank, |place| team[peers[place] as usize])
}
