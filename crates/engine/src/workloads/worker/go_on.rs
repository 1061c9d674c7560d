//! What is still to be done when the time of a slice is over: so many operations, one after another.

use super::step::Step;
use super::{Call, Until, Worker};
use crate::error::EngineError;
use crate::io::Queue;
use crate::target::OpenTarget;
use crate::workloads::heed;

impl Worker {
    /// Goes on where it is, until it has done so many operations, those included that are counted; answers the nanoseconds. What
    /// is counted behind it are those that it did here.
    ///
    /// # Errors
    /// The first failed operation ends the work; then everything in flight has ended too.
    pub(in crate::workloads) fn go_on(
        &mut self,
        place: &OpenTarget,
        operations: u64,
        call: &mut Call<'_>,
    ) -> Result<u64, EngineError> {
        let rest = operations.saturating_sub(self.done());
        self.clear();
        self.window_ns = 0;
        self.open(place)?;
        let mut queue = self.take_queue()?;
        match self.do_more(&mut *queue, place, rest, call) {
            Ok(elapsed) => {
                self.queue = Some(queue);
                Ok(elapsed)
            }
            Err(error) => {
                self.give_up(queue);
                Err(error)
            }
        }
    }

    fn do_more(
        &mut self,
        queue: &mut dyn Queue,
        place: &OpenTarget,
        rest: u64,
        call: &mut Call<'_>,
    ) -> Result<u64, EngineError> {
        call.observer.window_opens();
        let start = self.clock.now();
        let mut now = start;
        self.pace.begin(now, u64::MAX - now);
        self.begun_counting = true;
        while self.done() < rest {
            heed(call.stop)?;
            match self.step::<false>(queue, place, now, Until::Window(u64::MAX), 0)? {
                Step::Queued => queue.reap(1, &mut self.completions)?,
                Step::Done => break,
                // Nothing is paced, and nothing is in flight.
                Step::Wait(_) | Step::Drain => {}
            }
            now = self.clock.now();
            self.take_in::<false>(queue, now, true, place)?;
        }
        call.observer.window_closes();
        self.pace.end(now - start);
        Ok(now - start)
    }

    /// Operations that are counted, syncs apart.
    fn done(&self) -> u64 {
        self.counts[..3].iter().map(|counts| counts.operations).sum()
    }
}
