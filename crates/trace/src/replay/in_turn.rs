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
    /// By thread, who waits for it and for how many steps, the fewest first.
    asleep: Vec<BinaryHeap<Reverse<(u32, u32)>>>,
    /// By thread, how many of the waits of its next step are over: what was done stays done.
    over: Vec<u16>,
}

impl Queue<'_> {
    /// Finds out what a thread's next step waits for.
    fn line_up(&mut self, thread: u32) {
        let done = self.done[thread as usize] as usize;
        let Some(step) = self.plan.threads[thread as usize].get(done) else { return };
        let (first, count) = step.waits;
        let waits = &self.plan.waits[first as usize..][..usize::from(count)];
        let over = &mut self.over[thread as usize];
        let left = waits.iter().skip(usize::from(*over));
        *over += left.take_while(|wait| self.done[wait.thread as usize] >= wait.steps).count() as u16;
        match waits.get(usize::from(*over)) {
            Some(Wait { thread: other, steps }) => self.asleep[*other as usize].push(Reverse((*steps, thread))),
            None => self.ready.push(Reverse((step.start, thread))),
        }
    }

    /// A step of a thread is done: answers its number, and lines up whoever waited for it.
    fn does(&mut self, thread: u32) -> u32 {
        let at = thread as usize;
        let step = self.done[at];
        (self.done[at], self.over[at]) = (step + 1, 0);
        while let Some(&Reverse((steps, other))) = self.asleep[at].peek()
            && steps <= step + 1
        {
            self.asleep[at].pop();
            self.line_up(other);
        }
        self.line_up(thread);
        step
    }
}

/// Whose step is next, again and again, in an order in which one thread can do them all: of those that wait for nobody, always the
/// one that the program began first. The same plan has the same order. What would wait for ever is left out. `does` answers whether
/// to go on; answers whether it came to the end.
pub(super) fn each(plan: &Replay, does: &mut dyn FnMut(Turn) -> bool) -> bool {
    let count = plan.threads.len();
    let asleep = vec![BinaryHeap::new(); count];
    let mut queue = Queue { plan, done: vec![0; count], ready: BinaryHeap::new(), asleep, over: vec![0; count] };
    (0..count as u32).for_each(|thread| queue.line_up(thread));
    while let Some(Reverse((_, thread))) = queue.ready.pop() {
        if !does(Turn { thread, step: queue.does(thread) }) {
            return false;
        }
    }
    true
}

/// The steps of a plan, each behind all that it waits for. `goes_on`: whether to go on, asked before each step; `None`: it did not.
/// What would wait for ever is left out.
pub fn in_turn(plan: &Replay, goes_on: &dyn Fn() -> bool) -> Option<Vec<Turn>> {
    let mut turns = Vec::with_capacity(plan.threads.iter().map(Vec::len).sum());
    let is_whole = each(plan, &mut |turn| {
        let goes_on = goes_on();
        if goes_on {
            turns.push(turn);
        }
        goes_on
    });
    is_whole.then_some(turns)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::replay::Step;

    fn step(start: u64, waits: (u32, u16)) -> Step {
        Step { call: crate::code::FSYNC, start, waits, ..Step::default() }
    }

    fn numbers(plan: &Replay) -> Vec<(u32, u32)> {
        let turns = in_turn(plan, &|| true).expect("nobody ends it");
        turns.iter().map(|of| (of.thread, of.step)).collect()
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
        assert_eq!(numbers(&plan), [(0, 0), (2, 0), (0, 1), (1, 0), (1, 1), (0, 2)]);
    }

    #[test]
    fn what_would_wait_for_ever_is_left_out() {
        let threads = vec![vec![step(0, (0, 1)), step(1, (0, 0))], vec![step(2, (1, 1))], vec![step(9, (0, 0))]];
        let waits = vec![Wait { thread: 1, steps: 1 }, Wait { thread: 0, steps: 1 }];
        let plan = Replay { threads, waits, ..Replay::default() };
        assert_eq!(numbers(&plan), [(2, 0)]);
    }

    #[test]
    fn each_sleeper_is_woken_by_the_step_that_it_waits_for() {
        // They fall asleep in another order than they are woken in; the last waits for two threads.
        let threads = vec![
            (0..4).map(|at| step(100 + at, (0, 0))).collect(),
            vec![step(1, (0, 1))],
            vec![step(2, (1, 1)), step(3, (0, 1))],
            vec![step(4, (2, 2))],
        ];
        let waits = [(0, 3), (0, 1), (0, 2), (2, 2)].map(|(thread, steps)| Wait { thread, steps });
        let plan = Replay { threads, waits: waits.to_vec(), ..Replay::default() };
        assert_eq!(numbers(&plan), [(0, 0), (2, 0), (0, 1), (0, 2), (1, 0), (2, 1), (3, 0), (0, 3)]);
    }

    #[test]
    fn it_ends_when_it_is_told_to() {
        let plan = Replay { threads: vec![vec![step(1, (0, 0)); 10]], ..Replay::default() };
        let asked = std::cell::Cell::new(0);
        let goes_on = || {
            asked.set(asked.get() + 1);
            asked.get() < 3
        };
        assert_eq!((in_turn(&plan, &goes_on), asked.get()), (None, 3));
    }
}
