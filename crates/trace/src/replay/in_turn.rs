//! The calls of all threads one after another, for whoever has to know what was done before what.

use super::{Replay, Wait};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Whose step is next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Turn {
    /// Number of the thread.
    pub thread: u32,
    /// Which of its steps, from 0.
    pub step: u32,
}

/// All threads on their way.
struct Queue<'a> {
    plan: &'a Replay,
    /// By thread, how many steps it has done.
    done: Vec<u32>,
    /// Threads whose next step waits for nobody, by when the program began it.
    ready: BinaryHeap<Reverse<(u64, u32)>>,
    /// By thread, who waits for it, and for how many steps.
    asleep: Vec<Vec<(u32, u32)>>,
}

impl Queue<'_> {
    /// Finds out what a thread's next step waits for.
    fn line_up(&mut self, thread: u32) {
        let done = self.done[thread as usize] as usize;
        let Some(step) = self.plan.threads[thread as usize].get(done) else { return };
        let (first, count) = step.waits;
        let waits = &self.plan.waits[first as usize..][..usize::from(count)];
        match waits.iter().find(|wait| self.done[wait.thread as usize] < wait.steps) {
            Some(Wait { thread: other, steps }) => self.asleep[*other as usize].push((*steps, thread)),
            None => self.ready.push(Reverse((step.start, thread))),
        }
    }
}

/// The steps of a plan in an order in which one thread can do them all: of those that wait for nobody, always the one that
/// the program began first. The same plan has the same order. What would wait for ever is left out.
pub fn in_turn(plan: &Replay) -> Vec<Turn> {
    let count = plan.threads.len();
    let asleep = vec![Vec::new(); count];
    let mut queue = Queue { plan, done: vec![0; count], ready: BinaryHeap::new(), asleep };
    (0..count as u32).for_each(|thread| queue.line_up(thread));
    let mut turns = Vec::with_capacity(plan.threads.iter().map(Vec::len).sum());
    while let Some(Reverse((_, thread))) = queue.ready.pop() {
        let at = thread as usize;
        turns.push(Turn { thread, step: queue.done[at] });
        queue.done[at] += 1;
        let now = queue.done[at];
        let (woken, others) = std::mem::take(&mut queue.asleep[at]).into_iter().partition(|(steps, _)| *steps <= now);
        queue.asleep[at] = others;
        let woken: Vec<(u32, u32)> = woken;
        woken.into_iter().for_each(|(_, other)| queue.line_up(other));
        queue.line_up(thread);
    }
    turns
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::replay::Step;

    fn step(start: u64, waits: (u32, u16)) -> Step {
        Step { call: crate::code::FSYNC, start, waits, ..Step::default() }
    }

    #[test]
    fn who_waits_for_nobody_and_began_first_is_next() {
        // The second thread's first call began before that of the first thread, for whose second step it waits.
        let threads = vec![
            vec![step(10, (0, 0)), step(30, (0, 0)), step(60, (0, 0))],
            vec![step(5, (0, 1)), step(50, (0, 0))],
            vec![step(20, (0, 0))],
        ];
        let plan = Replay { threads, waits: vec![Wait { thread: 0, steps: 2 }], ..Replay::default() };
        let turns: Vec<(u32, u32)> = in_turn(&plan).iter().map(|of| (of.thread, of.step)).collect();
        assert_eq!(turns, [(0, 0), (2, 0), (0, 1), (1, 0), (1, 1), (0, 2)]);
    }

    #[test]
    fn what_would_wait_for_ever_is_left_out() {
        let threads = vec![vec![step(0, (0, 1)), step(1, (0, 0))], vec![step(2, (1, 1))], vec![step(9, (0, 0))]];
        let waits = vec![Wait { thread: 1, steps: 1 }, Wait { thread: 0, steps: 1 }];
        let plan = Replay { threads, waits, ..Replay::default() };
        assert_eq!(in_turn(&plan), [Turn { thread: 2, step: 0 }]);
    }
}
