//! What each thread reads into and writes from.

use crate::buffers::Room;
use crate::error::EngineError;
use crate::workloads::available_bytes;
use model::units::human_bytes;
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use trace::code;
use trace::replay::{Replay, Step};

const PAGE_BYTES: usize = 4096;
/// Of one call, at most what the kernel moves at once, to a page.
const MOST_CALL_BYTES: u64 = 0x7fff_f000;
/// A read asks for no more than so many bytes beyond what it got: programs ask with large buffers for small files.
const SLACK_BYTES: u64 = 1 << 20;
/// Bytes of data that differ from each other, of all threads together, and of each at least: more than any filesystem compresses at
/// once, and no more than the CPU's caches hold, where a program that just made its data has it too.
const SPREAD_BYTES: usize = 1 << 20;
const LEAST_SPREAD_BYTES: usize = 256 << 10;

/// The memory of one thread.
pub(super) struct Rooms {
    pub(super) read: Room,
    written: Room,
    /// Where the next write begins.
    at: usize,
    stamps: Xoshiro256PlusPlus,
}

/// Bytes that a call asks for: a write no more than the program wrote.
pub(super) fn asked(step: &Step) -> usize {
    let wanted = step.numbers[0].max(0) as u64;
    let most = match step.call {
        code::READ | code::PREAD64 | code::GETDENTS64 => (step.result.max(0) as u64).saturating_add(SLACK_BYTES),
        code::WRITE | code::PWRITE64 => trace::replay::asked(step.call, step.numbers, step.result),
        _ => return 0,
    };
    wanted.min(most).min(MOST_CALL_BYTES) as usize
}

/// How much each thread reads into, and writes from.
fn sizes(plan: &Replay) -> Vec<(usize, usize)> {
    let writers = plan.threads.iter().filter(|steps| steps.iter().any(writes)).count().max(1);
    let spread = (SPREAD_BYTES / writers).max(LEAST_SPREAD_BYTES).next_multiple_of(PAGE_BYTES);
    let largest = |steps: &[Step], of: fn(&Step) -> bool| {
        steps.iter().filter(|step| of(step)).map(asked).max().map(|bytes| bytes.next_multiple_of(PAGE_BYTES))
    };
    let of_thread = |steps: &Vec<Step>| {
        let read = largest(steps, |step| !writes(step)).unwrap_or(0);
        (read, largest(steps, writes).map_or(0, |bytes| bytes + spread))
    };
    plan.threads.iter().map(of_thread).collect()
}

/// Refuses a plan whose rooms take more than half of the memory that is free.
///
/// # Errors
/// One sentence.
pub(super) fn check(plan: &Replay, free_bytes: u64) -> Result<(), String> {
    let all = sizes(plan).iter().fold(0u64, |sum, (read, written)| sum.saturating_add((read + written) as u64));
    match all > free_bytes / 2 {
        false => Ok(()),
        true => Err(format!(
            "the calls of this trace move {} at once, which is more than half of the {} of free memory; capture a smaller run",
            human_bytes(all as f64),
            human_bytes(free_bytes as f64)
        )),
    }
}

/// Rooms for all threads.
///
/// # Errors
/// Where they take more than half of the memory that is there.
pub(super) fn allocate(plan: &Replay, seed: u64) -> Result<Vec<Rooms>, EngineError> {
    check(plan, available_bytes()).map_err(EngineError::Unsuitable)?;
    let random = (plan.facts.compressed.clamp(0.0, 1.0) * PAGE_BYTES as f64) as usize;
    let rooms = sizes(plan).into_iter().enumerate().map(|(thread, (read, written))| {
        let room = |bytes: usize| if bytes == 0 { Ok(Room::default()) } else { Room::new(bytes) };
        let mut rooms = Rooms {
            read: room(read)?,
            written: room(written)?,
            at: 0,
            stamps: Xoshiro256PlusPlus::seed_from_u64(seed ^ (thread as u64).rotate_left(40)),
        };
        // Zeros in every page, as many as what was looked at was smaller when it was compressed.
        for page in rooms.written.chunks_mut(PAGE_BYTES) {
            let random = random.min(page.len());
            rooms.stamps.fill_bytes(&mut page[..random]);
        }
        Ok(rooms)
    });
    rooms.collect()
}

fn writes(step: &Step) -> bool {
    matches!(step.call, code::WRITE | code::PWRITE64)
}

impl Rooms {
    /// So many bytes to be written: no two pages of them were written before.
    pub(super) fn next(&mut self, bytes: usize) -> (*const u8, usize) {
        if bytes == 0 || self.written.is_empty() {
            return (self.written.as_ptr(), 0);
        }
        if self.at + bytes > self.written.len() {
            self.at = 0;
        }
        let chunk = &mut self.written[self.at..self.at + bytes];
        for page in chunk.chunks_mut(PAGE_BYTES) {
            let word = self.stamps.next_u64().to_le_bytes();
            let count = word.len().min(page.len());
            page[..count].copy_from_slice(&word[..count]);
        }
        let start = chunk.as_ptr();
        self.at += bytes.next_multiple_of(PAGE_BYTES);
        (start, bytes)
    }
}
