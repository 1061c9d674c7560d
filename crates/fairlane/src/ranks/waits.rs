//! How long rank 0 waits for answers before it asks again, and before a rank counts as gone.

use std::time::{Duration, Instant};

/// A rank that has not answered for so long is asked whether it lives, and again after as long.
const PING_AFTER: Duration = Duration::from_secs(10);
/// A rank that has said nothing for so long, asked or not, is gone.
pub(super) const GONE_AFTER: Duration = Duration::from_secs(40);
/// How long ranks that were asked to stop may take: as long as they give an agent that hangs, and more.
const GRACE: Duration = Duration::from_secs(6);

/// How long the answers to one question have been waited for.
pub(super) struct Waits {
    begun: Instant,
    heard: Vec<Instant>,
    pinged: Instant,
    stopped: Option<Instant>,
}

impl Waits {
    /// From now on, for so many ranks.
    pub(super) fn new(ranks: usize) -> Self {
        let now = Instant::now();
        Waits { begun: now, heard: vec![now; ranks], pinged: now, stopped: None }
    }

    /// A rank said something.
    pub(super) fn hear(&mut self, rank: u32) {
        if let Some(heard) = self.heard.get_mut(rank as usize) {
            *heard = Instant::now();
        }
    }

    /// Whether a rank has been silent for too long.
    pub(super) fn is_gone(&self, rank: u32) -> bool {
        self.heard.get(rank as usize).is_some_and(|heard| heard.elapsed() > GONE_AFTER)
    }

    /// Whether ranks are to be asked whether they live.
    pub(super) fn ping_is_due(&mut self) -> bool {
        let due = self.begun.elapsed() > PING_AFTER && self.pinged.elapsed() > PING_AFTER;
        if due {
            self.pinged = Instant::now();
        }
        due
    }

    /// Whether the ranks are to be asked to stop: once.
    pub(super) fn stops(&mut self) -> bool {
        let first = self.stopped.is_none();
        self.stopped.get_or_insert_with(Instant::now);
        first
    }

    /// Whether they were asked to stop, and have had their time for it.
    pub(super) fn have_stopped(&self) -> bool {
        self.stopped.is_some_and(|at| at.elapsed() > GRACE)
    }
}
