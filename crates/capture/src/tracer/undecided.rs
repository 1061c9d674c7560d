//! What lay under a path, where a call that was read from the buffer does not tell: the disk may be ahead of it, and a later call from
//! the same reading may know better.

use super::Tracer;
use super::buffered::Lay;
use std::collections::HashMap;
use std::time::{Duration, Instant};
use trace::{Before, Item};

/// What a reading leaves undecided waits so long at most: who was preempted in the middle of a call, or before it was written down, gets on
/// meanwhile.
const LONGEST: Duration = Duration::from_millis(100);

/// Items that wait until all is read that was done when the disk was asked.
#[derive(Debug, Default)]
pub(super) struct Undecided {
    is_reading: bool,
    /// From the first that is undecided on.
    items: Vec<Item>,
    /// By the number of a path, which of the items tells what lay there, and when the disk was asked.
    befores: HashMap<u32, (usize, Instant), foldhash::fast::RandomState>,
    /// Nothing of them was asked before.
    oldest: Option<Instant>,
}

impl Undecided {
    /// The buffer is read from now on.
    pub(super) fn begin(&mut self) {
        self.is_reading = true;
    }

    /// Whether items wait.
    pub(super) fn waits(&self) -> bool {
        !self.items.is_empty()
    }

    pub(super) fn push(&mut self, item: Item) {
        self.items.push(item);
    }

    /// What the disk said of a path.
    fn asked(&mut self, before: Before, now: Instant) {
        self.befores.insert(before.path, (self.items.len(), now));
        self.oldest.get_or_insert(now);
        self.push(Item::Before(before));
    }

    /// The buffer was read; answers what waits no longer. `is_still`: no call is under way of which more may be told.
    fn end(&mut self, is_still: bool, now: Instant) -> Vec<Item> {
        self.is_reading = false;
        let is_young = |asked: &Instant| now.duration_since(*asked) < LONGEST;
        if is_still || self.befores.is_empty() {
            self.befores.clear();
            self.oldest = None;
            return std::mem::take(&mut self.items);
        }
        // Looked at once in a while, and not at each stop.
        if self.oldest.as_ref().is_some_and(is_young) {
            return Vec::new();
        }
        self.befores.retain(|_, (_, asked)| is_young(asked));
        let told = self.befores.values().map(|(at, _)| *at).min().unwrap_or(self.items.len());
        self.befores.values_mut().for_each(|(at, _)| *at -= told);
        self.oldest = self.befores.values().map(|(_, asked)| *asked).min();
        let waiting = self.items.split_off(told);
        std::mem::replace(&mut self.items, waiting)
    }
}

impl Tracer {
    /// Tells what the disk says of a path. No link: who changes one stops, so that the disk is not ahead of him.
    pub(super) fn tell_before(&mut self, before: Before) {
        if self.undecided.is_reading {
            self.undecided.asked(before, Instant::now());
        } else {
            self.add(&Item::Before(before));
        }
    }

    /// A call tells what lay under a path that is known: the first one that does is right.
    pub(super) fn decide(&mut self, path: u32, lay: Lay) {
        if lay.follows {
            return;
        }
        if let Some((at, _)) = self.undecided.befores.remove(&path) {
            self.undecided.items[at] = Item::Before(Before { path, mode: lay.mode, bytes: lay.bytes });
        }
    }

    /// All that the buffer held is read; `all`: and a thread stands, or none is left.
    pub(super) fn tell_undecided(&mut self, all: bool) {
        // Another thread may be in the middle of a call.
        let is_still = all && self.threads.len() <= 1;
        for item in self.undecided.end(is_still, Instant::now()) {
            self.add(&item);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_reading_leaves_undecided_waits_until_it_is_decided_nothing_runs_or_its_time_is_up() {
        let begun = Instant::now();
        let mut undecided = Undecided::default();
        let mut read = |milliseconds: u64, new: Option<u32>, decided: Option<u32>, is_still: bool| -> Vec<u32> {
            let now = begun + Duration::from_millis(milliseconds);
            undecided.begin();
            if let Some(path) = new {
                undecided.asked(Before { path, mode: 0, bytes: 0 }, now);
            }
            decided.and_then(|path| undecided.befores.remove(&path));
            let told = undecided.end(is_still, now).into_iter();
            told.filter_map(|item| if let Item::Before(before) = item { Some(before.path) } else { None }).collect()
        };
        assert!(read(0, Some(1), None, false).is_empty());
        assert!(read(5, Some(2), Some(1), false).is_empty(), "what comes behind it keeps its place");
        assert_eq!(read(10, None, Some(2), false), [1, 2], "all are decided");
        assert!(read(20, Some(3), None, false).is_empty());
        assert_eq!(read(25, None, None, true), [3], "nothing runs");
        assert!(read(30, Some(4), None, false).is_empty() && read(90, Some(5), None, false).is_empty());
        assert_eq!(read(135, None, None, false), [4], "each waits for its own time");
        assert!(read(185, None, None, false).is_empty());
        assert_eq!(read(195, None, None, false), [5]);
    }
}
