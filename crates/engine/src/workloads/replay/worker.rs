//! One thread of a replay: waits, calls, and writes down how long it took.

use super::answers::{Differences, differs};
use super::calls::{Ground, close};
use super::progress::Progress;
use super::rooms::Rooms;
use crate::clock::{Clock, nanoseconds, seconds};
use crate::error::EngineError;
use crate::workers::{Usage, end_naps_on_time, sleep_while};
use crate::workloads::heed;
use model::kinds::replay::Speed;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use trace::replay::{Replay, Step};
use trace::{NOT_FOLLOWED, code};

/// In place of bytes: the call was answered otherwise, and moved none.
pub(super) const DIFFERS: u64 = u64::MAX;

/// What a thread did.
pub(super) struct Did {
    /// When its first call began and its last one ended, by the clock of all.
    pub(super) began: u64,
    pub(super) ended: u64,
    /// By step, nanoseconds of its call, and bytes that it read or wrote.
    pub(super) took: Vec<u64>,
    pub(super) moved: Vec<u64>,
    /// By step, nanoseconds after it was due; empty where nothing is due.
    pub(super) late: Vec<u64>,
    pub(super) written: u64,
    pub(super) differences: Differences,
    /// Nanoseconds on a CPU.
    pub(super) on_cpu: u64,
}

/// When calls begin.
enum Pace {
    /// As soon as what they wait for is done.
    Free,
    /// By step, so many nanoseconds later.
    Thinks(Vec<u64>),
    /// When they are due, so many times as fast as recorded.
    Timed(f64),
}

/// Up to so many nanoseconds of thinking keep the CPU busy, as a program does that computes; whoever takes longer mostly waits.
const SPINS: u64 = 200_000;
/// A longer one sleeps up to so many nanoseconds before its end: waking takes some time.
const WAKES: u64 = 60_000;

pub(super) struct Worker<'a> {
    plan: &'a Replay,
    thread: usize,
    ground: &'a Ground<'a>,
    progress: &'a [Progress],
    pace: Pace,
    rooms: &'a mut Rooms,
    pub(super) did: Did,
}

impl<'a> Worker<'a> {
    pub(super) fn new(
        plan: &'a Replay,
        thread: usize,
        ground: &'a Ground<'a>,
        progress: &'a [Progress],
        speed: Speed,
        rooms: &'a mut Rooms,
    ) -> Self {
        let pace = match speed {
            Speed::Max => Pace::Free,
            Speed::ThinkTime => Pace::Thinks(plan.think_times(thread)),
            Speed::Recorded(factor) => Pace::Timed(factor),
        };
        let steps = plan.threads[thread].len();
        // Written once, so that no page of them is new while calls are timed.
        let resident = |count: usize| {
            let mut list = vec![1; count];
            std::hint::black_box(&mut list[..]);
            list.clear();
            list
        };
        let did = Did {
            began: u64::MAX,
            ended: 0,
            took: resident(steps),
            moved: resident(steps),
            late: resident(if speed.is_timed() { steps } else { 0 }),
            written: 0,
            differences: Differences::default(),
            on_cpu: 0,
        };
        Worker { plan, thread, ground, progress, pace, rooms, did }
    }

    /// All steps. `origin`: when the first thread began, by the clock of all; 0: none has.
    pub(super) fn run(&mut self, origin: &AtomicU64, stop: &AtomicBool) -> Result<(), EngineError> {
        if !matches!(self.pace, Pace::Free) {
            end_naps_on_time();
        }
        let clock = Clock::get();
        let used = Usage::now();
        // All count from when the first of them began.
        let now = clock.now();
        let begun = match origin.compare_exchange(0, now, Ordering::AcqRel, Ordering::Acquire) {
            Ok(_) => now,
            Err(first) => first,
        };
        let plan = self.plan;
        let mut ended = begun;
        for (at, step) in plan.threads[self.thread].iter().enumerate() {
            heed(stop)?;
            let (first, count) = step.waits;
            let waits = &plan.waits[first as usize..first as usize + usize::from(count)];
            for wait in waits {
                self.progress[wait.thread as usize].wait(wait.steps, stop)?;
            }
            let mut due = None;
            match &self.pace {
                Pace::Free => {}
                Pace::Timed(factor) => {
                    let moment = begun.saturating_add(nanoseconds(seconds(step.start) / factor));
                    sleep_while(|| !stop.load(Ordering::Relaxed), moment);
                    due = Some(moment);
                }
                Pace::Thinks(times) => {
                    let ready = if waits.is_empty() { ended } else { clock.now() };
                    think(ready, times[at], stop);
                }
            }
            let prepared = self.ground.prepare(step, self.rooms);
            let before = clock.now();
            let got = self.ground.call(step, &prepared);
            let after = clock.now();
            ended = after;
            drop(prepared);
            self.note(step, got, (before, after), due);
            for (file, _) in step.files.iter().zip(step.closes).filter(|(_, closes)| *closes) {
                self.ground.close(*file);
            }
            if step.is_awaited {
                self.progress[self.thread].is_at(at as u32 + 1);
            }
        }
        if matches!(self.pace, Pace::Thinks(_)) {
            self.did.began = begun;
            if self.thread == plan.last_thread() {
                think(ended, plan.before_and_after.1, stop);
                self.did.ended = clock.now();
            }
        }
        let used = Usage::now().since(used);
        self.did.on_cpu = used.user_ns + used.system_ns;
        Ok(())
    }

    #[inline]
    fn note(&mut self, step: &Step, got: i64, (before, after): (u64, u64), due: Option<u64>) {
        let did = &mut self.did;
        did.began = did.began.min(before);
        did.ended = after;
        did.took.push(after - before);
        let moved = if trace::replay::moves_bytes(step.call) { got.max(0) as u64 } else { 0 };
        let differs = differs(step, got);
        // A mark in place of bytes, for who makes the figures.
        did.moved.push(if differs && moved == 0 { DIFFERS } else { moved });
        if matches!(step.call, code::WRITE | code::PWRITE64 | code::COPY_FILE_RANGE) {
            did.written += moved;
        }
        if let Some(due) = due {
            did.late.push(before.saturating_sub(due));
        }
        if differs {
            did.differences.note(step, got);
        }
        // What the program did not get, nobody closes later.
        if step.call == code::OPENAT && step.files[0] == NOT_FOLLOWED {
            close(i32::try_from(got).unwrap_or(super::calls::CLOSED));
        }
    }
}

/// Lets so many nanoseconds pass after a moment.
fn think(from: u64, nanoseconds: u64, stop: &AtomicBool) {
    let clock = Clock::get();
    let until = from.saturating_add(nanoseconds);
    if nanoseconds > SPINS {
        sleep_while(|| !stop.load(Ordering::Relaxed), until - WAKES);
    }
    while clock.now() < until && !stop.load(Ordering::Relaxed) {
        std::hint::spin_loop();
    }
}
