//! Which generation of each unit may be read back.

use super::{HEADER_BYTES, stamp};
use crate::error::EngineError;
use crate::workers::{Shareable, SharedMemory};
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// What is known of one unit. All zero: never written. The fields need no order among themselves:
/// a reader comes after the writers, past a join or a wait for their process.
#[derive(Debug, Default)]
#[repr(C)]
struct Unit {
    /// The last generation issued in the upper half, writes in flight in the lower: one addition
    /// does both.
    issued: AtomicU64,
    /// The oldest generation that may be read back.
    low: AtomicU32,
    /// The first generation of those whose flights overlap.
    first: AtomicU32,
}

// SAFETY: all fields are atomics, and zeros are values of them.
unsafe impl Shareable for Unit {}

const ISSUE: u64 = (1 << 32) | 1;

/// One range of a file and where its units begin in the table.
#[derive(Debug, Clone, Copy)]
struct Range {
    start: u64,
    units: u64,
    before: u64,
}

/// One unit that was written at least once: its place, and the generations that may be read back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Written {
    /// Number of the file.
    pub file: u32,
    /// Offset of the unit in bytes.
    pub offset: u64,
    /// The oldest generation that may be read; 0: no write of the unit is known to have completed.
    pub low: u32,
    /// The newest.
    pub high: u32,
}

/// Generations of every unit of some files, in memory that a forked child shares with its parent.
///
/// On issue `high` becomes the new generation. When no write of the unit is in flight any more,
/// `low` becomes the first generation of those whose flights overlapped: nobody knows in which
/// order the kernel did them. A write that overlapped no other leaves `low` = `high`. A write that
/// failed never raises `low`.
///
/// It takes 16 bytes for each unit, which the kernel provides when they are first touched. Workers
/// that share files share one ledger: all methods may be called from several threads or processes.
#[derive(Debug)]
pub struct Ledger {
    table: SharedMemory<Unit>,
    ranges: Vec<Range>,
    unit_bytes: u64,
}

impl Ledger {
    /// A ledger of units of `unit_bytes` in the ranges (start, end) of the files. A last unit that
    /// is not whole is left out.
    ///
    /// # Errors
    /// [`EngineError::Unsuitable`] for units smaller than a header, [`EngineError::Memory`] where
    /// the memory is not to be had.
    pub fn new(unit_bytes: u64, files: &[(u64, u64)]) -> Result<Ledger, EngineError> {
        if unit_bytes < HEADER_BYTES as u64 {
            return Err(EngineError::Unsuitable(format!(
                "verify needs {HEADER_BYTES} bytes for each header, not {unit_bytes}; raise bs or verify_interval"
            )));
        }
        let mut ranges = Vec::with_capacity(files.len());
        let mut before = 0_u64;
        for &(start, end) in files {
            let units = end.saturating_sub(start) / unit_bytes;
            ranges.push(Range { start, units, before });
            before = before.saturating_add(units);
        }
        Ok(Ledger { table: SharedMemory::sparse(before)?, ranges, unit_bytes })
    }

    /// Bytes of one unit.
    pub fn unit_bytes(&self) -> u64 {
        self.unit_bytes
    }

    /// The units of a block and their offsets.
    ///
    /// # Panics
    /// When the block does not consist of whole units of the file's range: then its headers would
    /// not be where they are looked for.
    #[inline]
    fn units(&self, file: u32, offset: u64, bytes: u32) -> impl Iterator<Item = (u64, &Unit)> {
        let range = &self.ranges[file as usize];
        let behind = offset.checked_sub(range.start).expect("the block lies in the file's range");
        let (first, count) = (behind / self.unit_bytes, u64::from(bytes) / self.unit_bytes);
        assert!(
            behind.is_multiple_of(self.unit_bytes)
                && u64::from(bytes).is_multiple_of(self.unit_bytes)
                && first + count <= range.units,
            "{bytes} bytes at {offset} are no whole units of {} bytes",
            self.unit_bytes
        );
        (0..count).map(move |index| {
            // SAFETY: first + index < range.units, and the table has room for all ranges' units.
            let unit = unsafe { self.table.get_unchecked((range.before + first + index) as usize) };
            (offset + index * self.unit_bytes, unit)
        })
    }

    /// A write of the block is about to begin: `each` is told the offset and the new generation of
    /// every unit in it.
    ///
    /// # Panics
    /// When the block does not consist of whole units of the file's range.
    #[inline]
    pub fn issue(&self, file: u32, offset: u64, bytes: u32, mut each: impl FnMut(u64, u32)) {
        for (at, unit) in self.units(file, offset, bytes) {
            let before = unit.issued.fetch_add(ISSUE, Ordering::Relaxed);
            let generation = (before >> 32) as u32 + 1;
            if before as u32 == 0 {
                unit.first.store(generation, Ordering::Relaxed);
            }
            each(at, generation);
        }
    }

    /// As [`Ledger::issue`], and stamps every unit of `block`, which is to be written at `offset`.
    ///
    /// # Panics
    /// As [`Ledger::issue`].
    #[inline]
    pub fn issue_stamped(&self, block: &mut [u8], file: u32, offset: u64, seed: u64) {
        let bytes = block.len() as u32;
        let mut units = block.chunks_exact_mut(self.unit_bytes as usize);
        self.issue(file, offset, bytes, |at, generation| {
            if let Some(unit) = units.next() {
                stamp(unit, file, at, generation, seed);
            }
        });
    }

    /// The write of the block has completed.
    ///
    /// # Panics
    /// As [`Ledger::issue`].
    #[inline]
    pub fn complete(&self, file: u32, offset: u64, bytes: u32) {
        for (_, unit) in self.units(file, offset, bytes) {
            // Release and acquire, so that the last of several workers sees `first` as it was set.
            if unit.issued.fetch_sub(1, Ordering::AcqRel) as u32 == 1 {
                unit.low.store(unit.first.load(Ordering::Relaxed), Ordering::Relaxed);
            }
        }
    }

    /// The write of the block has failed: nobody knows how much of it was done, so all generations
    /// since the last that is certain are accepted.
    ///
    /// # Panics
    /// As [`Ledger::issue`].
    pub fn fail(&self, file: u32, offset: u64, bytes: u32) {
        for (_, unit) in self.units(file, offset, bytes) {
            unit.first.store(unit.low.load(Ordering::Relaxed), Ordering::Relaxed);
            unit.issued.fetch_sub(1, Ordering::AcqRel);
        }
    }

    /// Every unit that was written at least once, by file and offset.
    pub fn written(&self) -> impl Iterator<Item = Written> + '_ {
        (0_u32..).zip(&self.ranges).flat_map(move |(file, range)| {
            (0..range.units).filter_map(move |index| {
                let unit = &self.table[(range.before + index) as usize];
                let high = (unit.issued.load(Ordering::Acquire) >> 32) as u32;
                let low = unit.low.load(Ordering::Relaxed).min(high);
                let offset = range.start + index * self.unit_bytes;
                (high > 0).then_some(Written { file, offset, low, high })
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::check;
    use super::*;
    use proptest::prelude::*;

    alone_tests!(what_a_forked_worker_writes_down_is_seen_by_its_parent);

    fn one(ledger: &Ledger) -> (u32, u32) {
        let written: Vec<Written> = ledger.written().collect();
        assert_eq!(written.len(), 1, "{written:?}");
        (written[0].low, written[0].high)
    }

    fn issue(ledger: &Ledger) -> u32 {
        let mut generation = 0;
        ledger.issue(0, 512, 512, |_, of| generation = of);
        generation
    }

    #[test]
    fn low_follows_high_when_a_write_has_completed() {
        let ledger = Ledger::new(512, &[(512, 5000)]).unwrap();
        assert_eq!(ledger.written().count(), 0);
        for generation in 1..4 {
            assert_eq!(issue(&ledger), generation);
            assert_eq!(one(&ledger), (generation - 1, generation));
            ledger.complete(0, 512, 512);
            assert_eq!(one(&ledger), (generation, generation));
        }
    }

    #[test]
    fn writes_that_overlap_leave_all_their_generations_possible_until_the_next_alone() {
        let ledger = Ledger::new(512, &[(512, 5000)]).unwrap();
        issue(&ledger);
        ledger.complete(0, 512, 512);
        issue(&ledger);
        issue(&ledger);
        ledger.complete(0, 512, 512);
        assert_eq!(one(&ledger), (1, 3));
        ledger.complete(0, 512, 512);
        assert_eq!(one(&ledger), (2, 3));
        issue(&ledger);
        ledger.complete(0, 512, 512);
        assert_eq!(one(&ledger), (4, 4));
    }

    #[test]
    fn a_failed_write_leaves_what_was_certain_before() {
        let ledger = Ledger::new(512, &[(512, 5000)]).unwrap();
        issue(&ledger);
        ledger.complete(0, 512, 512);
        issue(&ledger);
        ledger.fail(0, 512, 512);
        assert_eq!(one(&ledger), (1, 2));
        issue(&ledger);
        issue(&ledger);
        ledger.fail(0, 512, 512);
        ledger.complete(0, 512, 512);
        assert_eq!(one(&ledger), (1, 4));
    }

    #[test]
    fn each_unit_of_a_block_is_stamped_with_its_own_offset_and_generation() {
        let ledger = Ledger::new(512, &[(0, 4096), (1024, 8192)]).unwrap();
        ledger.issue(1, 2048, 512, |_, _| {});
        ledger.complete(1, 2048, 512);
        let mut block = vec![7; 2048];
        ledger.issue_stamped(&mut block, 1, 1024, 9);
        ledger.complete(1, 1024, 2048);
        let written: Vec<Written> = ledger.written().collect();
        assert_eq!(written.len(), 4);
        for (unit, of) in block.chunks(512).zip(&written) {
            assert_eq!(of.high, if of.offset == 2048 { 2 } else { 1 });
            assert_eq!(check(unit, of.file, of.offset, 9, of.low, of.high), Ok(()));
        }
    }

    #[test]
    fn small_units_and_blocks_that_are_no_whole_units_are_refused() {
        assert!(Ledger::new(47, &[(0, 4096)]).unwrap_err().to_string().contains("48 bytes"));
        let ledger = Ledger::new(512, &[(0, 5000)]).unwrap();
        for (offset, bytes) in [(0, 500), (100, 512), (4608, 512)] {
            let panics = std::panic::catch_unwind(|| ledger.issue(0, offset, bytes, |_, _| {}));
            assert!(panics.is_err(), "{bytes} at {offset}");
        }
        assert_eq!(ledger.written().count(), 0);
    }

    #[test]
    fn what_a_forked_worker_writes_down_is_seen_by_its_parent() {
        if crate::alone::elsewhere("what_a_forked_worker_writes_down_is_seen_by_its_parent") {
            return;
        }
        let ledger = Ledger::new(512, &[(0, 4096)]).unwrap();
        let child = crate::workers::Process::fork(|| {
            ledger.issue(0, 512, 1024, |_, _| {});
            ledger.complete(0, 512, 512);
        });
        assert_eq!(child.unwrap().wait().unwrap().exit_status(), Some(0));
        let written: Vec<(u64, u32, u32)> = ledger.written().map(|of| (of.offset, of.low, of.high)).collect();
        assert_eq!(written, [(512, 1, 1), (1024, 0, 1)]);
    }

    #[test]
    fn workers_that_share_a_ledger_never_issue_a_generation_twice() {
        let ledger = Ledger::new(512, &[(0, 512)]).unwrap();
        let ledger = &ledger;
        let issued = move || {
            let mut seen = Vec::new();
            for _ in 0..10_000 {
                ledger.issue(0, 0, 512, |_, generation| seen.push(generation));
                ledger.complete(0, 0, 512);
            }
            seen
        };
        let mut all: Vec<u32> = std::thread::scope(|scope| {
            let workers: Vec<_> = (0..3).map(|_| scope.spawn(issued)).collect();
            workers.into_iter().flat_map(|worker| worker.join().unwrap()).collect()
        });
        all.sort_unstable();
        assert!(all.into_iter().eq(1..=30_000));
        assert_eq!(one(ledger).1, 30_000);
    }

    proptest! {
        /// A disk that does each write at any moment of its flight: what it holds at the end of any
        /// step lies between low and high.
        #[test]
        fn whatever_order_the_disk_takes_the_unit_lies_between_low_and_high(
            steps in prop::collection::vec((0_u8..3, any::<prop::sample::Index>()), 1..120),
        ) {
            let ledger = Ledger::new(512, &[(512, 1024)]).unwrap();
            let mut flight: Vec<(u32, bool)> = Vec::new();
            let mut on_disk = 0;
            for (step, which) in steps {
                match step {
                    0 => flight.push((issue(&ledger), false)),
                    1 if !flight.is_empty() => {
                        let of = which.index(flight.len());
                        if !flight[of].1 {
                            on_disk = flight[of].0;
                            flight[of].1 = true;
                        }
                    }
                    2 if !flight.is_empty() => {
                        let (generation, done) = flight.swap_remove(which.index(flight.len()));
                        if !done {
                            on_disk = generation;
                        }
                        ledger.complete(0, 512, 512);
                    }
                    _ => continue,
                }
                if let Some(of) = ledger.written().next() {
                    prop_assert!((of.low..=of.high).contains(&on_disk), "{:?}, disk {}", of, on_disk);
                    if flight.is_empty() && of.high == 1 {
                        prop_assert_eq!(of.low, 1);
                    }
                }
            }
        }
    }
}
