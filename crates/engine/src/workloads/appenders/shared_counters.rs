//! What threads and processes of appenders count, in memory that survives `fork`: numbers alone, each changed
//! by one atomic instruction, so that nobody waits for anybody.

use super::backlog::PARTS;
use crate::error::EngineError;
use crate::histogram::{Latencies, PLACES, place_of};
use crate::workers::SharedMemory;
use std::ops::Range;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};

/// Buckets of an interval: eight for each power of two.
const BUCKETS: usize = 8 * 62;
/// Intervals of a window at most.
const MOST_INTERVALS: u64 = 400;
/// The shortest interval.
const LEAST_INTERVAL_NS: u64 = 500_000_000;

/// When a run begins, when its window opens and closes, and when what is not done is given up; nanoseconds of
/// the engine's clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Times {
    pub(super) begin: u64,
    pub(super) from: u64,
    pub(super) to: u64,
    pub(super) give_up: u64,
}

impl Times {
    /// Length and number of the intervals of the window.
    pub(super) fn intervals(&self) -> (u64, usize) {
        let window = (self.to - self.from).max(1);
        let length = LEAST_INTERVAL_NS.max(window.div_ceil(MOST_INTERVALS));
        (length, window.div_ceil(length) as usize)
    }
}

/// Words of the control block.
#[derive(Debug, Clone, Copy)]
enum Control {
    Begin,
    From,
    To,
    GiveUp,
    Stop,
    Ready,
    Gate,
    Failed,
    Action,
    Errno,
    FailedMember,
    FailedFile,
    UserNs,
    SystemNs,
    Written,
    Count,
}

/// Words of a tally beside its histograms.
#[derive(Debug, Clone, Copy)]
pub(super) enum Sum {
    /// Done, of what was due in the window.
    Operations,
    /// Bytes of these.
    Bytes,
    /// Not done a period after it was due.
    Late,
    /// Not done when the work was given up.
    Missed,
    /// Smallest lateness, taken from the largest number there is, so that it grows too.
    Smallest,
    /// Largest lateness.
    Largest,
    /// Smallest and largest of the harness's own lateness, as above.
    SchedulingSmallest,
    SchedulingLargest,
    /// How far behind the first turn was that was given up.
    BehindAtEnd,
    Count,
}

/// Who is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    Writer = 0,
    Reader = 1,
}

/// Why a run failed: what was tried, by whom, on which of its files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Fault {
    pub(super) action: Action,
    /// What the kernel answered; 0: nothing was answered, what was read is wrong.
    pub(super) errno: i32,
    pub(super) member: u32,
    pub(super) file: u32,
}

/// What was tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Action {
    Open = 0,
    Append = 1,
    Sync = 2,
    Read = 3,
    Compare = 4,
}

impl Action {
    const ALL: [Action; 5] = [Action::Open, Action::Append, Action::Sync, Action::Read, Action::Compare];
}

/// The shared memory.
#[derive(Debug)]
pub(super) struct SharedCounters {
    words: SharedMemory<AtomicU64>,
    /// Where the late members, the files' records and their last syncs stand.
    late: [Range<usize>; 2],
    records: Range<usize>,
    synced: Range<usize>,
    tallies: [Tally; 2],
}

/// Where a tally stands.
#[derive(Debug, Clone)]
struct Tally {
    sums: Range<usize>,
    lateness: Range<usize>,
    scheduling: Range<usize>,
    /// Of each part of the window: the sum of the delays with which turns began, and how many there were.
    delays: Range<usize>,
    buckets: Range<usize>,
    interval_largest: Range<usize>,
}

impl SharedCounters {
    /// For so many writers, readers and files.
    pub(super) fn new(writers: u32, readers: u32, files: u64) -> Result<SharedCounters, EngineError> {
        let mut words = Control::Count as usize;
        let mut take = |count: usize| {
            let from = words;
            words += count;
            from..words
        };
        let mut tally = || Tally {
            sums: take(Sum::Count as usize),
            lateness: take(PLACES),
            scheduling: take(PLACES),
            delays: take(2 * PARTS),
            buckets: take(BUCKETS * MOST_INTERVALS as usize),
            interval_largest: take(MOST_INTERVALS as usize),
        };
        let tallies = [tally(), tally()];
        let late = [take(writers as usize), take(readers as usize)];
        let (records, synced) = (take(files as usize), take(files as usize));
        Ok(SharedCounters { words: SharedMemory::new(words as u64)?, late, records, synced, tallies })
    }

    fn control(&self, word: Control) -> &AtomicU64 {
        &self.words[word as usize]
    }

    /// The word that processes wait for, as a futex: 0 until they may begin.
    pub(super) fn gate(&self) -> &AtomicU32 {
        // SAFETY: the beginning of a word of the mapping that is used in no other way while there are processes.
        unsafe { &*self.control(Control::Gate).as_ptr().cast::<AtomicU32>() }
    }

    /// One more is ready to begin.
    pub(super) fn is_ready(&self) {
        self.control(Control::Ready).fetch_add(1, std::sync::atomic::Ordering::Release);
    }

    /// How many are ready.
    pub(super) fn ready(&self) -> u32 {
        self.control(Control::Ready).load(std::sync::atomic::Ordering::Acquire) as u32
    }

    /// Forgets what was counted in an earlier window; the files' records stay.
    pub(super) fn clear(&self) {
        let all = &self.words;
        let zero = |range: Range<usize>| {
            for word in &all[range] {
                // A page that was never touched stays so.
                if word.load(Relaxed) != 0 {
                    word.store(0, Relaxed);
                }
            }
        };
        zero(0..Control::Written as usize);
        for tally in &self.tallies {
            zero(tally.sums.start..tally.interval_largest.end);
        }
        self.late.iter().for_each(|late| zero(late.clone()));
    }

    /// Says when the run is.
    pub(super) fn set_times(&self, times: Times) {
        for (word, value) in [
            (Control::Begin, times.begin),
            (Control::From, times.from),
            (Control::To, times.to),
            (Control::GiveUp, times.give_up),
        ] {
            self.control(word).store(value, std::sync::atomic::Ordering::Release);
        }
    }

    /// When the run is.
    pub(super) fn times(&self) -> Times {
        let words = [Control::Begin, Control::From, Control::To, Control::GiveUp];
        let [begin, from, to, give_up] =
            words.map(|word| self.control(word).load(std::sync::atomic::Ordering::Acquire));
        Times { begin, from, to, give_up }
    }

    /// Ends the run at once.
    pub(super) fn stop(&self) {
        self.control(Control::Stop).store(1, Relaxed);
    }

    /// Whether the run was ended.
    #[inline]
    pub(super) fn is_stopped(&self) -> bool {
        self.control(Control::Stop).load(Relaxed) != 0
    }

    /// The run has failed; the first fault counts.
    pub(super) fn fail(&self, fault: Fault) {
        if self.control(Control::Failed).compare_exchange(0, 1, Relaxed, Relaxed).is_ok() {
            self.control(Control::Action).store(fault.action as u64, Relaxed);
            self.control(Control::Errno).store(fault.errno as u64, Relaxed);
            self.control(Control::FailedMember).store(fault.member.into(), Relaxed);
            self.control(Control::FailedFile).store(fault.file.into(), Relaxed);
        }
        self.stop();
    }

    /// Why the run failed; whole only once everybody has ended.
    pub(super) fn fault(&self) -> Option<Fault> {
        let word = |word: Control| self.control(word).load(Relaxed);
        (word(Control::Failed) != 0).then(|| Fault {
            action: Action::ALL[word(Control::Action) as usize % Action::ALL.len()],
            errno: word(Control::Errno) as i32,
            member: word(Control::FailedMember) as u32,
            file: word(Control::FailedFile) as u32,
        })
    }

    /// Adds CPU time of one of their processes.
    pub(super) fn add_cpu(&self, user_ns: u64, system_ns: u64) {
        self.control(Control::UserNs).fetch_add(user_ns, Relaxed);
        self.control(Control::SystemNs).fetch_add(system_ns, Relaxed);
    }

    /// User and system time of all of them, in nanoseconds.
    pub(super) fn cpu_ns(&self) -> (u64, u64) {
        (self.control(Control::UserNs).load(Relaxed), self.control(Control::SystemNs).load(Relaxed))
    }

    /// Bytes appended since the board was made.
    pub(super) fn written(&self) -> &AtomicU64 {
        self.control(Control::Written)
    }

    /// Records in a file, by its number among all.
    #[inline]
    pub(super) fn records(&self, file: usize) -> &AtomicU64 {
        &self.words[self.records.clone()][file]
    }

    /// When a file was synced last.
    #[inline]
    pub(super) fn synced(&self, file: usize) -> &AtomicU64 {
        &self.words[self.synced.clone()][file]
    }

    /// A sum of a tally.
    #[inline]
    pub(super) fn sum(&self, role: Role, sum: Sum) -> &AtomicU64 {
        &self.words[self.tallies[role as usize].sums.start + sum as usize]
    }

    /// Counts something that was due in the window, so late, in one of the window's intervals.
    #[inline]
    pub(super) fn count(&self, role: Role, late_ns: u64, interval: usize) {
        let tally = &self.tallies[role as usize];
        let all = &self.words;
        all[tally.lateness.start + place_of(late_ns)].fetch_add(1, Relaxed);
        self.extremes(role, late_ns, Sum::Smallest, Sum::Largest);
        let interval = interval.min(MOST_INTERVALS as usize - 1);
        all[tally.buckets.start + interval * BUCKETS + bucket(late_ns)].fetch_add(1, Relaxed);
        all[tally.interval_largest.start + interval].fetch_max(late_ns, Relaxed);
    }

    /// Counts the harness's own lateness.
    #[inline]
    pub(super) fn count_scheduling(&self, role: Role, late_ns: u64) {
        self.words[self.tallies[role as usize].scheduling.start + place_of(late_ns)].fetch_add(1, Relaxed);
        self.extremes(role, late_ns, Sum::SchedulingSmallest, Sum::SchedulingLargest);
    }

    /// A turn that was due in this part of the window begins so late.
    #[inline]
    pub(super) fn count_delay(&self, role: Role, part: usize, behind_ns: u64) {
        let from = self.tallies[role as usize].delays.start + 2 * part.min(PARTS - 1);
        self.words[from].fetch_add(behind_ns, Relaxed);
        self.words[from + 1].fetch_add(1, Relaxed);
    }

    /// The mean delay in seconds of the turns of each part; `None`: none was due.
    pub(super) fn delays(&self, role: Role) -> [Option<f64>; PARTS] {
        let words = &self.words[self.tallies[role as usize].delays.clone()];
        std::array::from_fn(|part| match words[2 * part + 1].load(Relaxed) {
            0 => None,
            turns => Some(words[2 * part].load(Relaxed) as f64 / turns as f64 / 1e9),
        })
    }

    #[inline]
    fn extremes(&self, role: Role, value: u64, smallest: Sum, largest: Sum) {
        // Looked at first: it seldom changes, and a look leaves the line with its neighbours.
        for (word, value) in [(smallest, u64::MAX - value), (largest, value)] {
            let word = self.sum(role, word);
            if value > word.load(Relaxed) {
                word.fetch_max(value, Relaxed);
            }
        }
    }

    /// Somebody was late.
    #[inline]
    pub(super) fn mark_late(&self, role: Role, member: u32) {
        self.words[self.late[role as usize].start + member as usize].store(1, Relaxed);
    }

    /// How many were late.
    pub(super) fn late_members(&self, role: Role) -> u32 {
        self.words[self.late[role as usize].clone()].iter().filter(|word| word.load(Relaxed) != 0).count() as u32
    }

    /// The lateness of what was counted.
    pub(super) fn lateness(&self, role: Role) -> Latencies {
        let tally = &self.tallies[role as usize];
        self.histogram(role, tally.lateness.clone(), Sum::Smallest, Sum::Largest)
    }

    /// The harness's own lateness.
    pub(super) fn scheduling(&self, role: Role) -> Latencies {
        let tally = &self.tallies[role as usize];
        self.histogram(role, tally.scheduling.clone(), Sum::SchedulingSmallest, Sum::SchedulingLargest)
    }

    fn histogram(&self, role: Role, range: Range<usize>, smallest: Sum, largest: Sum) -> Latencies {
        let ends = (self.sum(role, smallest).load(Relaxed), self.sum(role, largest).load(Relaxed));
        let counts = self.words[range].iter().map(|word| word.load(Relaxed));
        Latencies::from_counts(counts, u64::MAX - ends.0, ends.1)
    }

    /// 99th percentile and largest lateness of each of so many intervals, in nanoseconds.
    pub(super) fn intervals(&self, role: Role, count: usize) -> (Vec<f64>, Vec<f64>) {
        let tally = &self.tallies[role as usize];
        let all = &self.words;
        let of = |interval: usize| {
            let from = tally.buckets.start + interval * BUCKETS;
            let counts: Vec<u64> = all[from..from + BUCKETS].iter().map(|word| word.load(Relaxed)).collect();
            let largest = all[tally.interval_largest.start + interval].load(Relaxed);
            (percentile_99(&counts).min(largest) as f64, largest as f64)
        };
        (0..count.min(MOST_INTERVALS as usize)).map(of).unzip()
    }
}

/// The bucket of a value: exact below 8, then eight for each power of two.
#[inline]
fn bucket(value: u64) -> usize {
    if value < 8 {
        return value as usize;
    }
    let exponent = value.ilog2() as usize;
    (exponent - 2) * 8 + ((value >> (exponent - 3)) & 7) as usize
}

/// The largest value of a bucket.
fn bucket_end(bucket: usize) -> u64 {
    if bucket < 8 {
        return bucket as u64;
    }
    let (exponent, part) = (bucket / 8 + 2, (bucket % 8) as u128);
    (((1_u128 << exponent) + ((part + 1) << (exponent - 3))) - 1).min(u128::from(u64::MAX)) as u64
}

/// The end of the bucket that holds the 99th percentile; 0 of nothing.
fn percentile_99(counts: &[u64]) -> u64 {
    let all: u64 = counts.iter().sum();
    let rank = all - all / 100;
    let mut seen = 0;
    for (bucket, count) in counts.iter().enumerate() {
        seen += count;
        if *count > 0 && seen >= rank {
            return bucket_end(bucket);
        }
    }
    0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_lies_in_its_bucket_to_an_eighth() {
        let mut value = 1_u64;
        while value < u64::MAX / 3 {
            for near in [value - 1, value, value + value / 2] {
                let (end, at) = (bucket_end(bucket(near)), bucket(near));
                assert!(at < BUCKETS && near <= end, "{near}: {end}");
                assert!(end as f64 <= near as f64 * 1.125 + 1.0, "{near}: {end}");
                assert!(at == 0 || bucket_end(at - 1) < near, "{near}");
            }
            value = value * 2 + 1;
        }
        assert!(bucket(u64::MAX) < BUCKETS);
        let mut counts = vec![0; BUCKETS];
        counts[bucket(5)] = 985;
        counts[bucket(7)] = 15;
        assert_eq!(percentile_99(&counts), 7);
        counts[bucket(5)] = 1485;
        assert_eq!(percentile_99(&counts), 5);
        assert_eq!(percentile_99(&[0; BUCKETS]), 0);
    }

    #[test]
    fn what_is_counted_comes_back_and_is_forgotten_but_for_the_files() {
        let board = SharedCounters::new(3, 2, 12).unwrap();
        for (late, interval) in [(1000, 0), (2000, 0), (5_000_000, 1)] {
            board.count(Role::Writer, late, interval);
        }
        board.count_scheduling(Role::Reader, 70);
        board.mark_late(Role::Writer, 2);
        for (part, behind) in [(3, 1_000_000_000), (3, 3_000_000_000), (PARTS + 9, 7_000_000_000)] {
            board.count_delay(Role::Writer, part, behind);
        }
        let delays = board.delays(Role::Writer);
        assert_eq!((delays[3], delays[PARTS - 1], delays[0]), (Some(2.0), Some(7.0), None));
        board.records(11).store(5, Relaxed);
        board.written().store(77, Relaxed);
        let lateness = board.lateness(Role::Writer);
        assert_eq!(lateness.operations(), 3);
        // Three digits, as everywhere.
        assert!((lateness.summary().unwrap().max / 5e6 - 1.0).abs() < 1e-3);
        assert_eq!(board.scheduling(Role::Reader).summary().unwrap().max, 70.0);
        assert_eq!((board.late_members(Role::Writer), board.late_members(Role::Reader)), (1, 0));
        let (p99, largest) = board.intervals(Role::Writer, 3);
        assert_eq!((p99, largest), (vec![2000.0, 5e6, 0.0], vec![2000.0, 5e6, 0.0]));
        board.fail(Fault { action: Action::Sync, errno: 5, member: 2, file: 1 });
        board.fail(Fault { action: Action::Open, errno: 24, member: 0, file: 0 });
        assert_eq!(board.fault(), Some(Fault { action: Action::Sync, errno: 5, member: 2, file: 1 }));
        board.clear();
        assert_eq!((board.fault(), board.is_stopped(), board.lateness(Role::Writer).operations()), (None, false, 0));
        assert_eq!((board.late_members(Role::Writer), board.intervals(Role::Writer, 1).1[0]), (0, 0.0));
        assert_eq!(board.delays(Role::Writer), [None; PARTS]);
        assert_eq!((board.records(11).load(Relaxed), board.written().load(Relaxed)), (5, 77));
    }

    #[test]
    fn a_window_has_at_most_so_many_intervals() {
        let of = |seconds: u64| Times { from: 7, to: 7 + seconds * 1_000_000_000, ..Times::default() }.intervals();
        assert_eq!((of(1), of(3)), ((500_000_000, 2), (500_000_000, 6)));
        assert_eq!(of(3600), (9_000_000_000, 400));
    }
}
