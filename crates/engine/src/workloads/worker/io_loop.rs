//! The loop: operations go out, completions come back, until the time or the places are over.

use super::step::Step;
use super::{Call, Flight, SLOW_TO_RENEW_BYTES, Until, Worker};
use crate::error::EngineError;
use crate::io::{Action, Operation, Queue};
use crate::pattern::Span;
use crate::target::OpenTarget;
use crate::workloads::heed;
use model::job::Io;
use rustix::fs::fsync;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// One batch in so many is submitted by a call of its own, so that submitting is measured apart
/// without a system call more for the others.
const SUBMISSION_SAMPLED_EVERY: u32 = 64;
/// Half a second, the distance at which fio samples bandwidth and IOPS too.
const SAMPLE_NS: u64 = 500_000_000;
/// A sleep ends early by this much, and the rest is waited for actively: the kernel wakes late.
const WAKE_EARLY_NS: u64 = 60_000;
/// The flag is looked at again after at most so long a sleep.
const LONGEST_SLEEP_NS: u64 = 20_000_000;
/// Above two operations `io_submit` holds back the whole batch until its last one is queued (the
/// kernel's AIO_PLUG_THRESHOLD), and the device runs short of work meanwhile.
const LIBAIO_BATCH: u32 = 2;
/// How often the end of an open loop is looked at, and how long beyond twice its window it may last.
const CLOSING_LOOK_NS: u64 = 1_000_000;
const CLOSING_PATIENCE_NS: u64 = 1_000_000_000;

/// A deep closed loop wakes up for a sixteenth of its queue at a time: the device keeps the rest, so
/// that neither the rate nor, by Little's law, the mean latency changes, and wake-ups cost less.
const GATHERED_SHARE: u32 = 16;

impl Worker {
    /// The loop. Counting begins and a window ends at the moment when completions were taken in: the
    /// ones before it do not count, those up to its end do. So a slow operation is never cut in half,
    /// a stall lengthens its window instead of emptying it, and the rate has no rounding error.
    #[expect(
        clippy::too_many_lines,
        reason = "one loop in three forms made from one text: every call in it would be paid per operation"
    )]
    pub(super) fn io_loop<const PLAIN: bool>(
        &mut self,
        queue: &mut dyn Queue,
        place: &OpenTarget,
        ramp_ns: u64,
        until: Until,
        call: &mut Call<'_>,
    ) -> Result<u64, EngineError> {
        let mut now = self.clock.now();
        let mut start = self.opening_since.unwrap_or(now);
        let mut counting = ramp_ns == 0;
        if counting {
            call.observer.window_opens();
            now = self.clock.now();
        }
        let most = until.most_ns();
        self.pace.begin(now, most.saturating_add(ramp_ns));
        self.begun_counting = counting;
        self.count_from = if counting { start } else { u64::MAX };
        if counting && self.pace.is_open_loop() {
            self.pace.close_at(start.saturating_add(most));
        }
        // A backlog that cannot be worked off within this is given up; the window is marked then.
        let patience = most.saturating_mul(2).saturating_add(CLOSING_PATIENCE_NS);
        // The next moment at which the loop does more than go round.
        let mut event = if counting { self.next_event(start, most) } else { start.saturating_add(ramp_ns) };
        let mut in_flight = 0_u32;
        let least = match self.task.io.iodepth_batch_complete_min {
            0 if PLAIN => (self.depth / GATHERED_SHARE).max(1),
            asked => asked.clamp(1, self.depth),
        };
        let low = if PLAIN { self.depth - 1 } else { self.task.io.iodepth_low.unwrap_or(self.depth - 1) };
        let usual = if self.task.io.ioengine == "libaio" { LIBAIO_BATCH } else { u32::MAX };
        let batch = self.task.io.iodepth_batch.unwrap_or(usual);
        let mut over = false;
        while !over {
            heed(call.stop)?;
            if call.end.load(Ordering::Relaxed) {
                break;
            }
            let mut wake = None;
            if in_flight <= low {
                let (mut queued, mut in_batch) = (0, 0);
                while in_flight < self.depth {
                    match self.step::<PLAIN>(queue, place, now, until, in_flight)? {
                        Step::Queued => {
                            in_flight += 1;
                            queued += 1;
                            in_batch += 1;
                            if in_batch == batch {
                                in_batch = 0;
                                queue.submit()?;
                            }
                        }
                        Step::Wait(due) => {
                            wake = Some(due);
                            break;
                        }
                        Step::Drain => break,
                        Step::Done => {
                            over = true;
                            break;
                        }
                    }
                }
                if self.samples_submission && queued > 0 {
                    self.sample_submission(queue, now, queued)?;
                }
            }
            if in_flight == 0 {
                if let Some(due) = wake {
                    now = self.sleep_until(due);
                }
            } else {
                match wake {
                    // Something is due before anything need complete: whichever comes first.
                    Some(due) if !PLAIN => queue.reap_until(due.saturating_sub(now), &mut self.completions)?,
                    _ if over => queue.reap(1, &mut self.completions)?,
                    _ => queue.reap(least, &mut self.completions)?,
                }
                now = self.clock.now();
                if !PLAIN && in_flight == self.depth {
                    self.room_since = now;
                }
                in_flight -= self.completions.len() as u32;
                self.take_in::<PLAIN>(queue, now, counting, place)?;
            }
            if now >= event {
                if !counting {
                    counting = true;
                    self.begun_counting = true;
                    call.observer.window_opens();
                    now = self.clock.now();
                    start = now;
                    self.count_from = start;
                    if self.pace.is_open_loop() {
                        self.pace.close_at(start.saturating_add(most));
                    }
                } else if now - start >= most && !(self.pace.is_open_loop() && now - start < patience) {
                    // An open loop goes on until everything has begun that was due in its window: what a
                    // stall at the end delays must count like any other.
                    over = true;
                } else if now - start < most {
                    self.sample(now - start);
                }
                event = self.next_event(start, most);
                if event <= now {
                    event = now + CLOSING_LOOK_NS;
                }
            }
        }
        if matches!(until, Until::Window(_)) {
            call.observer.window_closes();
        }
        self.wind_down(queue, place, in_flight, counting, until, (start, now))
    }

    /// The same loop for plain work with one operation in flight, which needs no queue: the end of one
    /// operation is the beginning of the next.
    pub(super) fn turn_alone(
        &mut self,
        queue: &mut dyn Queue,
        place: &OpenTarget,
        ramp_ns: u64,
        until: Until,
        call: &mut Call<'_>,
    ) -> Result<u64, EngineError> {
        let most = until.most_ns();
        let clock = self.clock;
        let mut counting = ramp_ns == 0;
        if counting {
            call.observer.window_opens();
        }
        let mut now = clock.now();
        let mut start = self.opening_since.unwrap_or(now);
        let mut event = if counting { self.next_event(start, most) } else { start.saturating_add(ramp_ns) };
        loop {
            heed(call.stop)?;
            if call.end.load(Ordering::Relaxed) {
                break;
            }
            let span = match self.places.next() {
                Some(span) => span,
                None => match self.begin_again(until)? {
                    Some(span) => {
                        now = clock.now();
                        span
                    }
                    None => break,
                },
            };
            let (chunk, action) = self.chunk_for(&span);
            if span.bytes >= SLOW_TO_RENEW_BYTES && action == Action::Write {
                now = clock.now();
            }
            let Span { file, offset, bytes, direction } = span;
            let result = queue.perform(Operation { chunk, file, offset, bytes, action });
            let begun = std::mem::replace(&mut now, clock.now());
            self.contents.give_back(chunk);
            let expected = action.moves(bytes);
            let tallied = direction.into();
            if result != expected {
                let flight = Flight { begun, offset, bytes, file, expected, action, tallied };
                self.complain(result, &flight, place)?;
            }
            if counting {
                let counts = &mut self.counts[tallied as usize];
                counts.operations += 1;
                counts.bytes += u64::from(bytes);
                counts.latencies.record(now.saturating_sub(begun));
            }
            if now >= event {
                if !counting {
                    counting = true;
                    call.observer.window_opens();
                    now = clock.now();
                    start = now;
                } else if now - start >= most {
                    break;
                } else {
                    self.sample(now - start);
                }
                event = self.next_event(start, most);
            }
        }
        if matches!(until, Until::Window(_)) {
            call.observer.window_closes();
        }
        self.wind_down(queue, place, 0, counting, until, (start, now))
    }

    /// Takes in what is still in flight: uncounted after a slice, counted in a job, whose end also
    /// brings the last sync.
    fn wind_down(
        &mut self,
        queue: &mut dyn Queue,
        place: &OpenTarget,
        mut in_flight: u32,
        counting: bool,
        until: Until,
        (start, mut now): (u64, u64),
    ) -> Result<u64, EngineError> {
        let window = matches!(until, Until::Window(_));
        let elapsed = match until {
            // Everything that was due in the window is counted, whenever it ended.
            Until::Window(most) if self.pace.is_open_loop() => most,
            Until::Window(_) | Until::LoopEnd(_) => now - start,
        };
        while in_flight > 0 {
            queue.reap(1, &mut self.completions)?;
            now = self.clock.now();
            in_flight -= self.completions.len() as u32;
            self.take_in::<false>(queue, now, counting && (!window || self.pace.is_open_loop()), place)?;
        }
        if window {
            self.pace.end(elapsed);
            return Ok(elapsed);
        }
        let Io { end_fsync, fsync_on_close, rw, .. } = self.task.io;
        if (end_fsync || fsync_on_close) && rw.writes() && !self.null {
            // Also what was closed to make room for another file.
            for slot in 0..self.handles.len() as u32 {
                let file = match &self.handles[slot as usize] {
                    Some(file) => file.clone(),
                    None if end_fsync => self.open_slot(place, slot)?,
                    None => continue,
                };
                fsync(&*file).map_err(|errno| EngineError::file("sync", self.path(place, slot), errno))?;
            }
            now = self.clock.now();
        }
        self.pace.end(now - start);
        if !counting {
            // It ended before its ramp did: nothing counts.
            return Ok(0);
        }
        self.elapsed_before_ns += now - start;
        Ok(now - start)
    }

    fn next_event(&self, start: u64, most: u64) -> u64 {
        let end = start.saturating_add(most);
        if !self.task.whole {
            let Some(noted) = self.noted_at.last().map_or(0, |at| *at).checked_div(self.window_ns) else { return end };
            return end.min(start.saturating_add((noted + 1) * self.window_ns));
        }
        let samples = self.counts.iter().map(|counts| counts.samples.len()).max().unwrap_or(0) as u64;
        let next = (samples + 1) * SAMPLE_NS;
        end.min(start.saturating_add(next.saturating_sub(self.elapsed_before_ns)))
    }

    /// Notes how many operations there are: of a job at each half second, of a slice at the end of each of
    /// its windows, for which there is room.
    #[cold]
    fn sample(&mut self, at: u64) {
        for counts in self.counts.iter_mut() {
            counts.samples.push(counts.operations);
        }
        if self.window_ns > 0 {
            self.noted_at.push(at);
        }
    }

    #[cold]
    fn sample_submission(&mut self, queue: &mut dyn Queue, now: u64, queued: u64) -> Result<(), EngineError> {
        self.batches += 1;
        if self.batches < SUBMISSION_SAMPLED_EVERY {
            return Ok(());
        }
        self.batches = 0;
        queue.submit()?;
        if self.begun_counting {
            self.submission.add(self.clock.now() - now, queued);
        }
        Ok(())
    }

    /// Sleeps until shortly before the moment, then waits actively; answers the time. Returns early
    /// from a long sleep, so that the stop flag is seen.
    fn sleep_until(&self, due: u64) -> u64 {
        let now = self.clock.now();
        let left = due.saturating_sub(now);
        if left > WAKE_EARLY_NS {
            std::thread::sleep(Duration::from_nanos((left - WAKE_EARLY_NS).min(LONGEST_SLEEP_NS)));
            return self.clock.now();
        }
        loop {
            let now = self.clock.now();
            if now >= due {
                return now;
            }
            std::hint::spin_loop();
        }
    }
}
