//! What lay under a path, where a call that was read from the buffer does not tell: the disk may be ahead of it, and a later call from
//! the same reading may know better.

use super::Tracer;
use super::buffered::Lay;
use std::collections::HashMap;
use trace::{Before, Item};

/// Items that wait until all that the buffer holds now is read.
#[derive(Debug, Default)]
pub(super) struct Undecided {
    is_reading: bool,
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

    /// Nothing that was read tells better.
    pub(super) fn end(&mut self) -> Vec<Item> {
        self.is_reading = false;
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

    /// All that the buffer held is read.
    pub(super) fn tell_undecided(&mut self) {
        for item in self.undecided.end() {
            self.add(&item);
        }
    }
}
