//! How far clocks of other machines go ahead of rank 0's: the relays ask each other, outside of all windows.

use super::{Event, GLANCE, Job};
use crate::conductor::agent_process::CallError;
use crate::ranks::combine::ClockAhead;
use crate::ranks::monotonic_ns;
use model::agent::Request;
use model::ranks::{NodeClock, NodeClocks};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::RecvTimeoutError;
use std::time::{Duration, Instant};

/// How long the relay may take to tell of one machine: it gives that one up before.
const PATIENCE: Duration = Duration::from_secs(5);
/// Before a window no more machines are asked, each of which takes some milliseconds.
const MOST_BEFORE_A_WINDOW: usize = 64;
/// Nor of any job more.
const MOST: usize = 1024;
/// How long all are asked around the race, and before a window; who is not reached by then is left out.
const AROUND: Duration = Duration::from_secs(30);
const BEFORE_A_WINDOW: Duration = Duration::from_secs(2);

/// What is known of clocks.
#[derive(Default)]
pub(super) struct Clocks {
    /// Before the race, of machines by their numbers.
    before: BTreeMap<u32, ClockAhead>,
    /// Nobody is asked any more: the relay did not tell of one.
    is_over: bool,
}

impl Job {
    /// Compares clocks before the race.
    ///
    /// # Errors
    /// Where the job is gone.
    pub(super) fn compare_clocks_before(&mut self, stop: &AtomicBool) -> Result<(), CallError> {
        let all = self.other_nodes((0..self.size).collect());
        self.clocks.before = self.compare_clocks(&all, AROUND, stop)?;
        Ok(())
    }

    /// Compares clocks behind the race with what they were before it; `None`: there is one machine, or nobody can tell.
    pub fn clocks_behind(&mut self, stop: &AtomicBool) -> Option<NodeClocks> {
        if self.over.is_some() {
            return None;
        }
        let before = std::mem::take(&mut self.clocks.before);
        let nodes: Vec<u32> = before.keys().copied().collect();
        // A job that is gone has no clocks; that it is gone is told by who needs it.
        drifted(&before, &self.compare_clocks(&nodes, AROUND, stop).ok()?)
    }

    /// Before the first measured window of a trial clocks of those that work are compared: how far apart they are let go can
    /// then be told. Empty: of this window nothing is told.
    pub(super) fn clocks_before_window(
        &mut self,
        lane: usize,
        request: &Request,
        stop: &AtomicBool,
    ) -> Result<BTreeMap<u32, ClockAhead>, CallError> {
        let is_first = self.lanes.get(&lane).is_some_and(|work| work.groups.is_empty() && work.release.is_none());
        if !is_first || !matches!(request, Request::Slice { .. } | Request::Phase { .. }) {
            return Ok(BTreeMap::new());
        }
        let nodes = self.other_nodes(self.team_at(lane));
        if nodes.len() > MOST_BEFORE_A_WINDOW {
            return Ok(BTreeMap::new());
        }
        self.compare_clocks(&nodes, BEFORE_A_WINDOW, stop)
    }

    /// The machines of these ranks but rank 0's, ascending.
    fn other_nodes(&self, ranks: Vec<u32>) -> Vec<u32> {
        let mut nodes: Vec<u32> = ranks.into_iter().map(|rank| self.node(rank)).filter(|node| *node > 0).collect();
        nodes.sort_unstable();
        nodes.dedup();
        nodes
    }

    /// Who does not answer is left out.
    fn compare_clocks(
        &mut self,
        nodes: &[u32],
        most: Duration,
        stop: &AtomicBool,
    ) -> Result<BTreeMap<u32, ClockAhead>, CallError> {
        let mut ahead = BTreeMap::new();
        let begun = Instant::now();
        for node in nodes.iter().take(MOST) {
            let Some(rank) = self.nodes.iter().position(|of| of == node) else { continue };
            if self.clocks.is_over || stop.load(Ordering::Relaxed) || begun.elapsed() >= most {
                break;
            }
            if let Some(found) = self.ahead(rank as u32, stop)? {
                ahead.insert(*node, found);
            }
        }
        Ok(ahead)
    }

    fn ahead(&mut self, rank: u32, stop: &AtomicBool) -> Result<Option<ClockAhead>, CallError> {
        // The question that counts may be the first one: from here on clocks drift.
        let told_ns = monotonic_ns();
        if self.lines.link.clocks(rank).is_err() {
            return Err(self.has_ended(stop));
        }
        let begun = Instant::now();
        while !stop.load(Ordering::Relaxed) && begun.elapsed() < PATIENCE {
            match self.lines.events.recv_timeout(GLANCE) {
                Ok(Event::Clocks(of, ahead)) if of == rank => {
                    return Ok(ahead.map(|ahead| ClockAhead { told_ns, ahead }));
                }
                Ok(Event::Lost(rank, why)) => return Err(self.is_lost(rank, &why, stop)),
                Ok(Event::Gone) | Err(RecvTimeoutError::Disconnected) => return Err(self.has_ended(stop)),
                // Nothing else is asked meanwhile: it answers what was given up.
                Ok(Event::Clocks(..) | Event::Told(..)) | Err(RecvTimeoutError::Timeout) => {}
            }
        }
        self.clocks.is_over = true;
        Ok(None)
    }
}

/// What became of clocks between both moments; `None`: no machine answered at both.
fn drifted(before: &BTreeMap<u32, ClockAhead>, behind: &BTreeMap<u32, ClockAhead>) -> Option<NodeClocks> {
    let mut clocks = NodeClocks::default();
    for (node, first) in before {
        let Some(last) = behind.get(node) else { continue };
        let between = last.told_ns.saturating_sub(first.told_ns) as f64 / 1e9;
        let (first, last) = (first.ahead, last.ahead);
        let uncertainty_ns = first.uncertainty_ns.saturating_add(last.uncertainty_ns);
        clocks.seconds = clocks.seconds.max(between);
        clocks.nodes.push(NodeClock {
            node: *node,
            ahead_seconds: first.wall_ns as f64 / 1e9,
            ahead_uncertainty_seconds: first.uncertainty_ns as f64 / 1e9,
            drift_seconds: last.monotonic_ns.saturating_sub(first.monotonic_ns) as f64 / 1e9,
            drift_uncertainty_seconds: uncertainty_ns as f64 / 1e9,
        });
    }
    (!clocks.nodes.is_empty()).then_some(clocks)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ranks::link::Ahead;

    #[test]
    fn a_clock_drifts_by_what_it_is_further_ahead_behind_the_race() {
        let of = |told_ns: u64, monotonic_ns: i64, wall_ns: i64, uncertainty_ns: u64| {
            let ahead = Ahead { monotonic_ns, wall_ns, uncertainty_ns };
            ClockAhead { told_ns, ahead }
        };
        let first = of(5_000_000_000, 1_000_000_000_000, -2_000_000, 30_000);
        let before = BTreeMap::from([(1, first), (2, of(5_000_000_000, -7, 0, 5))]);
        let behind = BTreeMap::from([(1, of(65_000_000_000, 1_000_000_400_000, 900_000_000, 20_000))]);
        let found = drifted(&before, &behind).expect("one machine answered twice");
        let [of] = found.nodes[..] else { panic!("{found:?}") };
        assert_eq!((found.seconds, of.node, of.ahead_seconds), (60.0, 1, -0.002), "the time of day was set meanwhile");
        assert!(
            (of.drift_seconds - 4e-4).abs() < 1e-12 && (of.drift_uncertainty_seconds - 5e-5).abs() < 1e-12,
            "{of:?}"
        );
        assert_eq!(drifted(&before, &BTreeMap::new()), None);
    }
}
