//! Whose turn it is to write. SQLite has one writer at a time, and those that find another wait by asking again
//! and again: the time between two such looks, in which nobody writes, would be the harness's and no filesystem's.
//! Here they stand in a queue, and whoever is done wakes the next one.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::Thread;

/// The queue of one database's writers.
#[derive(Debug, Default)]
pub(crate) struct Turns(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    taken: bool,
    waiting: VecDeque<Arc<Waiting>>,
}

#[derive(Debug)]
struct Waiting {
    called: AtomicBool,
    thread: Thread,
}

impl Turns {
    /// Waits until it is this thread's turn, first come, first served.
    pub(crate) fn take(&self) {
        let own = {
            let mut state = self.state();
            if !state.taken {
                state.taken = true;
                return;
            }
            let own = Arc::new(Waiting { called: AtomicBool::new(false), thread: std::thread::current() });
            state.waiting.push_back(own.clone());
            own
        };
        // What the one before wrote is seen: the flag is set after it was done.
        while !own.called.load(Ordering::Acquire) {
            std::thread::park();
        }
    }

    /// Ends this thread's turn, and wakes whoever waits longest.
    pub(crate) fn give(&self) {
        let mut state = self.state();
        match state.waiting.pop_front() {
            Some(next) => {
                next.called.store(true, Ordering::Release);
                drop(state);
                next.thread.unpark();
            }
            None => state.taken = false,
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // Nothing can fail while it is held.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_writes_at_a_time_and_those_who_came_first_go_first() {
        let (turns, inside, order) = (Turns::default(), AtomicBool::new(false), Mutex::new(Vec::new()));
        turns.take();
        std::thread::scope(|scope| {
            for number in 0..6 {
                let (turns, inside, order) = (&turns, &inside, &order);
                scope.spawn(move || {
                    turns.take();
                    assert!(!inside.swap(true, Ordering::SeqCst), "two write");
                    order.lock().unwrap().push(number);
                    std::thread::yield_now();
                    inside.store(false, Ordering::SeqCst);
                    turns.give();
                });
                // The next one comes when this one stands in the queue.
                while turns.state().waiting.len() <= number {
                    std::thread::yield_now();
                }
            }
            turns.give();
        });
        assert_eq!(*order.lock().unwrap(), [0, 1, 2, 3, 4, 5]);
        assert!(!turns.state().taken, "the last one left");
        turns.take();
        turns.give();
    }
}
