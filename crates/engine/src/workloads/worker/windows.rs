//! Windows inside a slice: how many operations there were by the end of each, so that it can be told
//! whether the work is steady (method 2.3).
//!
//! The loop notes its counts when it looks at the clock anyway and the end of a window has passed. After a
//! stall one note stands for several windows, so the counts at their ends are read off afterwards.

use super::Worker;

/// Windows of a slice: ten, so that 0.25 s give windows of 25 ms.
const TENTHS: u64 = 10;
/// The longest, and with it the length in slices from 5 s on.
const LONGEST_NS: u64 = 500_000_000;
/// The shortest: the counts of a shorter one would hold little but the turns of the loop.
const SHORTEST_NS: u64 = 1_000_000;
/// Most windows of one slice: an hour then has windows of 7 s.
const MOST: u64 = 512;

/// Length of the windows of a slice that lasts so long.
pub(in crate::workloads) fn length_ns(slice_ns: u64) -> u64 {
    (slice_ns / TENTHS).clamp(SHORTEST_NS, LONGEST_NS).max(slice_ns / MOST)
}

impl Worker {
    /// Room for the notes of a slice, so that none is made while it runs.
    pub(super) fn make_room_for_windows(&mut self, slice_ns: u64) {
        let room = (slice_ns / self.window_ns) as usize + 2;
        self.noted_at.reserve(room);
        self.counts.iter_mut().for_each(|counts| counts.samples.reserve(room));
    }

    /// Turns the notes of a slice into the counts at the ends of its windows.
    pub(super) fn read_windows(&mut self, elapsed_ns: u64) {
        let windows = (elapsed_ns / self.window_ns).min(MOST);
        for counts in self.counts.iter_mut() {
            let notes = self.noted_at.iter().copied().zip(counts.samples.iter().copied());
            let notes = notes.chain([(elapsed_ns, counts.operations)]);
            counts.samples = at_the_ends(notes, self.window_ns, windows);
        }
        self.noted_at.clear();
    }
}

/// The counts at the ends of windows, from notes of (nanoseconds, operations) in time order of which the
/// last lies behind all ends; between two notes operations are taken to be even.
fn at_the_ends(notes: impl Iterator<Item = (u64, u64)>, window_ns: u64, windows: u64) -> Vec<u64> {
    let mut notes = notes.peekable();
    let mut before = (0, 0);
    let end = |number: u64| {
        let at = number * window_ns;
        while let Some(&note) = notes.peek()
            && note.0 < at
        {
            before = note;
            notes.next();
        }
        let Some(&(later, operations)) = notes.peek() else { return before.1 };
        let share = (at - before.0) as f64 / (later - before.0).max(1) as f64;
        before.1 + ((operations.saturating_sub(before.1)) as f64 * share).round() as u64
    };
    (1..=windows).map(end).collect()
}

/// Operations per second in each window, from the counts at their ends.
pub(in crate::workloads) fn rates(counts: &[u64], window_ns: u64) -> Vec<f64> {
    let from_zero: Vec<u64> = std::iter::once(0).chain(counts.iter().copied()).collect();
    let rate = |pair: &[u64]| pair[1].saturating_sub(pair[0]) as f64 * 1e9 / window_ns as f64;
    from_zero.windows(2).map(rate).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slice_has_ten_windows_and_a_long_one_half_seconds() {
        for (slice, window) in [(0.1, 0.01), (0.25, 0.025), (5.0, 0.5), (60.0, 0.5), (0.005, 0.001)] {
            assert_eq!(length_ns((slice * 1e9) as u64), (window * 1e9) as u64, "{slice}");
        }
        let hour = length_ns(3_600_000_000_000);
        assert!(3_600_000_000_000 / hour <= 512 && hour < 10_000_000_000, "{hour}");
    }

    #[test]
    fn counts_are_read_off_at_the_ends_of_windows_and_a_stall_is_no_burst() {
        // A note a little behind each end of 10, then nothing until 57, then the end.
        let notes = [(11, 110), (20, 200), (57, 237), (60, 267)];
        let found = at_the_ends(notes.into_iter(), 10, 6);
        assert_eq!(found, [100, 200, 210, 220, 230, 267]);
        assert_eq!(rates(&found, 10), [1e10, 1e10, 1e9, 1e9, 1e9, 3.7e9]);
        assert_eq!(at_the_ends([(25, 50)].into_iter(), 10, 2), [20, 40]);
        assert_eq!(at_the_ends([(5, 7)].into_iter(), 10, 0), [0_u64; 0]);
        assert_eq!(rates(&[], 10), [0.0_f64; 0]);
    }
}
