//! Stacks of kernel addresses, each kept once.

use crate::events::StackId;
use std::collections::HashMap;

/// Different stacks that are kept at most; the others are all one without frames that are known.
const MOST_STACKS: usize = 100_000;
/// Addresses from here on mark what follows (`PERF_CONTEXT_MAX`), and are none.
const FIRST_MARK: u64 = -4095i64 as u64;

/// Stacks by number. Number 0 is the empty one: no frame of the kernel's.
pub(crate) struct Stacks {
    ids: HashMap<Box<[u64]>, StackId>,
    by_id: Vec<Box<[u64]>>,
}

impl Default for Stacks {
    fn default() -> Self {
        Stacks { ids: HashMap::from([(Box::default(), 0)]), by_id: vec![Box::default()] }
    }
}

impl Stacks {
    /// The number of a stack as the kernel writes it: innermost frame first, with marks between.
    pub(crate) fn id(&mut self, chain: &[u64]) -> StackId {
        let frames: Box<[u64]> = chain.iter().copied().filter(|address| *address < FIRST_MARK).collect();
        if let Some(id) = self.ids.get(&frames) {
            return *id;
        }
        if self.by_id.len() >= MOST_STACKS {
            return self.too_many();
        }
        let id = self.by_id.len() as StackId;
        self.by_id.push(frames.clone());
        self.ids.insert(frames, id);
        id
    }

    /// One stack for all that there is no room for: at an address that is nobody's.
    fn too_many(&mut self) -> StackId {
        let nobody: Box<[u64]> = [1].into();
        *self.ids.entry(nobody.clone()).or_insert_with(|| {
            self.by_id.push(nobody);
            self.by_id.len() as StackId - 1
        })
    }

    /// Its frames, innermost first.
    pub(crate) fn frames(&self, id: StackId) -> &[u64] {
        self.by_id.get(id as usize).map_or(&[], |frames| frames)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stack_is_kept_once_and_marks_are_no_frames() {
        let mut stacks = Stacks::default();
        let kernel = -128i64 as u64;
        assert_eq!(stacks.id(&[]), 0);
        assert_eq!(stacks.id(&[kernel]), 0);
        let first = stacks.id(&[kernel, 10, 20]);
        assert_eq!((first, stacks.id(&[10, 20])), (1, 1));
        assert_eq!(stacks.frames(first), [10, 20]);
        assert_eq!(stacks.frames(99), [0u64; 0]);
    }

    #[test]
    fn there_are_never_more_than_there_is_room_for() {
        let mut stacks = Stacks::default();
        for address in 0..MOST_STACKS as u64 + 10 {
            stacks.id(&[address + 2]);
        }
        assert_eq!(stacks.by_id.len(), MOST_STACKS + 1);
        assert_eq!(stacks.id(&[u64::from(u32::MAX)]), stacks.id(&[u64::from(u32::MAX) + 1]));
    }
}
