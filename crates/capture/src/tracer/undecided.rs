//! What lay under a path, where a call that was read from the buffer does not tell: the disk may be ahead of it, and a later call from
//! the same reading may know better.

use super::Tracer;
use super::buffered::Lay;
use std::collections::HashMap;
use trace::{Before, Item};

/// What a timer's reading leaves undecided waits for so many more at most, some 100 ms: who was preempted in the middle of a call, or
/// before it was written down, gets on meanwhile.
const MOST_READINGS: u32 = 20;

/// Items that wait until all is read that was done when the disk was asked.
#[derive(Debug, Default)]
pub(super) struct Undecided {
    is_reading: bool,
    /// How often the buffer was read since the first of them.
    readings: u32,
    /// From the first that is undecided on.
    items: Vec<Item>,
    /// By the number of a path, which of the items tells what lay there.
    befores: HashMap<u32, usize, foldhash::fast::RandomState>,
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

    /// The buffer was read; answers what waits no longer. `all`: no call is under way of which more may be told.
    pub(super) fn end(&mut self, all: bool) -> Vec<Item> {
        self.is_reading = false;
        self.readings += 1;
        if !all && !self.befores.is_empty() && self.readings < MOST_READINGS {
            return Vec::new();
        }
        self.readings = 0;
        self.befores.clear();
        std::mem::take(&mut self.items)
    }
}

impl Tracer {
    /// Tells what the disk says of a path. No link: who changes one stops, so that the disk is not ahead of him.
    pub(super) fn tell_before(&mut self, before: Before) {
        if self.undecided.is_reading {
            self.undecided.befores.insert(before.path, self.undecided.items.len());
            self.undecided.push(Item::Before(before));
        } else {
            self.add(&Item::Before(before));
        }
    }

    /// A call tells what lay under a path that is known: the first one that does is right.
    pub(super) fn decide(&mut self, path: u32, lay: Lay) {
        if lay.follows {
            return;
        }
        if let Some(at) = self.undecided.befores.remove(&path) {
            self.undecided.items[at] = Item::Before(Before { path, mode: lay.mode, bytes: lay.bytes });
        }
    }

    /// All that the buffer held is read; `all`: and the program stands.
    pub(super) fn tell_undecided(&mut self, all: bool) {
        for item in self.undecided.end(all) {
            self.add(&item);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn before(path: u32) -> Item {
        Item::Before(Before { path, mode: 0, bytes: 0 })
    }

    #[test]
    fn what_a_timer_leaves_undecided_waits_until_it_is_decided_a_thread_stops_or_the_time_is_up() {
        let mut undecided = Undecided::default();
        let reads = |undecided: &mut Undecided, new: Option<u32>, decided: Option<u32>, all: bool| {
            undecided.begin();
            if let Some(path) = new {
                undecided.befores.insert(path, undecided.items.len());
                undecided.push(before(path));
            }
            decided.and_then(|path| undecided.befores.remove(&path));
            undecided.end(all).len()
        };
        assert_eq!(
            [(Some(1), None), (Some(2), Some(1)), (None, Some(2))].map(|(new, of)| reads(
                &mut undecided,
                new,
                of,
                false
            )),
            [0, 0, 2]
        );
        assert!(!undecided.waits());
        assert_eq!((reads(&mut undecided, Some(3), None, false), reads(&mut undecided, None, None, true)), (0, 1));
        let told: Vec<usize> =
            (0..MOST_READINGS).map(|at| reads(&mut undecided, (at == 0).then_some(4), None, false)).collect();
        assert_eq!((told.iter().sum::<usize>(), told.last()), (1, Some(&1)));
    }
}
