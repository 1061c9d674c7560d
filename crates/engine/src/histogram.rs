//! Latency: HdrHistogram in nanoseconds, three digits, merged by adding counts.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Deserializer, Serializer, V2DeflateSerializer};
use model::trial::Latency;

/// One hour: a longer operation counts as one hour.
const LARGEST_NS: u64 = 3_600_000_000_000;
/// Three decimal digits: 2 x 10^3, rounded up to a power of two (HdrHistogram's sub-bucket count).
const SUB_BUCKET_BITS: u32 = 11;
/// Half of the sub-buckets: what each further power of two adds.
const HALF: u64 = 1 << (SUB_BUCKET_BITS - 1);

/// Latencies of single operations in nanoseconds, from 1 ns to one hour with three digits.
/// Takes about 270 KiB whatever it holds.
///
/// The counts lie as HdrHistogram lays them (Tene, <http://hdrhistogram.org>): linear up to 2047 ns,
/// then 1024 steps for each power of two. Recording is a shift, an addition and a store, because it
/// happens once per operation; everything else is left to the `hdrhistogram` crate.
#[derive(Debug, Clone)]
pub struct Latencies {
    counts: Box<[u64]>,
    operations: u64,
    smallest: u64,
    largest: u64,
}

impl Default for Latencies {
    fn default() -> Self {
        Self::new()
    }
}

/// Places that values are counted at.
pub(crate) const PLACES: usize = place(LARGEST_NS) + 1;

/// Where a value is counted; more than an hour at the last of [`PLACES`].
#[inline]
pub(crate) const fn place_of(nanoseconds: u64) -> usize {
    place(if nanoseconds < LARGEST_NS { nanoseconds } else { LARGEST_NS })
}

/// Where a value is counted.
#[inline]
const fn place(nanoseconds: u64) -> usize {
    // How far the value must be shifted to leave eleven bits.
    let shift = (u64::BITS - SUB_BUCKET_BITS).saturating_sub((nanoseconds | (2 * HALF - 1)).leading_zeros());
    (shift as u64 * HALF + (nanoseconds >> shift)) as usize
}

/// The largest value that is counted at a place.
const fn value_at(place: usize) -> u64 {
    let place = place as u64;
    if place < 2 * HALF {
        return place;
    }
    let shift = place / HALF - 1;
    ((place - shift * HALF + 1) << shift) - 1
}

impl Latencies {
    /// An empty histogram.
    pub fn new() -> Self {
        let counts = vec![0; PLACES].into_boxed_slice();
        Latencies { counts, operations: 0, smallest: u64::MAX, largest: 0 }
    }

    /// What was counted elsewhere, at [`PLACES`] places, between these two values.
    pub(crate) fn from_counts(counts: impl Iterator<Item = u64>, smallest: u64, largest: u64) -> Self {
        let counts: Box<[u64]> = counts.collect();
        assert_eq!(counts.len(), PLACES, "counts lie as in this histogram");
        let operations = counts.iter().sum();
        if operations == 0 {
            return Self::new();
        }
        Latencies { counts, operations, smallest: smallest.min(LARGEST_NS), largest: largest.min(LARGEST_NS) }
    }

    /// The sum of all latencies in seconds, to the histogram's three digits.
    pub fn sum_seconds(&self) -> f64 {
        let all = self.counts.iter().enumerate().filter(|(_, count)| **count > 0);
        all.map(|(place, count)| *count as f64 * value_at(place) as f64 * 1e-9).sum()
    }

    /// An empty histogram whose pages the kernel has handed out already: short work would be timed
    /// with the faults of its first counts.
    pub fn resident() -> Self {
        let mut latencies = Self::new();
        // Kept from being seen as zeros over zeros.
        std::hint::black_box(&mut latencies.counts).fill(0);
        latencies
    }

    /// Counts one operation. Never allocates; longer than an hour counts as an hour.
    #[inline]
    pub fn record(&mut self, nanoseconds: u64) {
        self.record_n(nanoseconds, 1);
    }

    /// Counts so many operations of the same latency.
    #[inline]
    pub fn record_n(&mut self, nanoseconds: u64, operations: u64) {
        let nanoseconds = nanoseconds.min(LARGEST_NS);
        self.counts[place(nanoseconds)] += operations;
        self.operations += operations;
        self.smallest = self.smallest.min(nanoseconds);
        self.largest = self.largest.max(nanoseconds);
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        // No count stands outside of these: most of the table need not be touched.
        if self.operations > 0 {
            self.counts[place(self.smallest)..=place(self.largest)].fill(0);
        }
        (self.operations, self.smallest, self.largest) = (0, u64::MAX, 0);
    }

    /// Adds another histogram's counts.
    pub fn add(&mut self, other: &Latencies) {
        if other.operations > 0 {
            let range = place(other.smallest)..=place(other.largest);
            self.counts[range.clone()].iter_mut().zip(&other.counts[range]).for_each(|(sum, count)| *sum += count);
        }
        self.operations += other.operations;
        self.smallest = self.smallest.min(other.smallest);
        self.largest = self.largest.max(other.largest);
    }

    /// The same counts for the `hdrhistogram` crate. The smallest and the largest value are exact, as
    /// it keeps them itself.
    fn as_histogram(&self) -> Histogram<u64> {
        let mut histogram =
            Histogram::new_with_bounds(1, LARGEST_NS, 3).expect("the bounds are constants that HdrHistogram takes");
        let ends = [place(self.smallest.min(LARGEST_NS)), place(self.largest)];
        for (place, &count) in self.counts.iter().enumerate().filter(|(_, count)| **count > 0) {
            let value = match ends {
                [first, _] if place == first => self.smallest,
                [_, last] if place == last => self.largest,
                _ => value_at(place),
            };
            histogram.saturating_record_n(value, count);
        }
        if self.operations > 1 && ends[0] == ends[1] {
            // Both ends in one place: without changing a count, let the histogram see the larger too.
            histogram.saturating_record_n(self.largest, 0);
        }
        histogram
    }

    /// The value at a quantile between 0 and 1, in nanoseconds; `None` when nothing was counted.
    pub fn value_at(&self, quantile: f64) -> Option<f64> {
        (self.operations > 0).then(|| self.as_histogram().value_at_quantile(quantile) as f64)
    }

    /// Number of operations counted.
    pub fn operations(&self) -> u64 {
        self.operations
    }

    /// Mean, percentiles and maximum; `None` when nothing was counted. A percentile p of n
    /// operations is present only where n(1-p) is at least 20 (method 4.2).
    pub fn summary(&self) -> Option<Latency> {
        let operations = self.operations;
        if operations == 0 {
            return None;
        }
        let counts = self.as_histogram();
        let percentile = |per_mille: u64| {
            // In whole numbers, so that no rounding moves the threshold.
            let seen_beyond = operations * (1000 - per_mille) / 1000;
            (seen_beyond >= 20).then(|| counts.value_at_quantile(per_mille as f64 / 1000.0) as f64)
        };
        Some(Latency {
            mean: counts.mean(),
            p50: percentile(500),
            p99: percentile(990),
            p999: percentile(999),
            max: counts.max() as f64,
        })
    }

    /// Reads back what [`Latencies::encode`] wrote; `None` where it is something else.
    pub fn decode(text: &str) -> Option<Self> {
        let mut inflater = model::histogram::Inflater::default();
        let read: Histogram<u64> = Deserializer::new().deserialize(&mut inflater.plain(text)?).ok()?;
        let mut latencies = Latencies::new();
        for value in read.iter_recorded() {
            latencies.record_n(value.value_iterated_to(), value.count_at_value());
        }
        if latencies.operations > 0 {
            // A place's own end stands for its values: the smallest and largest lie within.
            latencies.smallest = latencies.smallest.min(read.min());
            latencies.largest = read.max().min(LARGEST_NS);
        }
        Some(latencies)
    }

    /// HdrHistogram V2, deflated, base64; `None` when nothing was counted.
    pub fn encode(&self) -> Option<String> {
        if self.operations == 0 {
            return None;
        }
        let mut bytes = Vec::new();
        V2DeflateSerializer::new()
            .serialize(&self.as_histogram(), &mut bytes)
            .expect("a histogram of fixed size serializes into memory");
        Some(STANDARD.encode(bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_appear_only_where_twenty_operations_lie_beyond() {
        let mut latencies = Latencies::new();
        assert!(latencies.summary().is_none());
        let mut fill_to = |count: u64| {
            while latencies.operations() < count {
                latencies.record(latencies.operations() + 1);
            }
            latencies.summary().unwrap()
        };
        assert_eq!(fill_to(39).p50, None);
        assert!(fill_to(40).p50.is_some());
        assert_eq!(fill_to(1999).p99, None);
        assert!(fill_to(2000).p99.is_some());
        assert_eq!(fill_to(19_999).p999, None);
        let whole = fill_to(20_000);
        let near = |value: Option<f64>, expected: f64| (value.unwrap() / expected - 1.0).abs() < 2e-3;
        assert!(near(whole.p50, 10_000.0) && near(whole.p99, 19_800.0) && near(whole.p999, 19_980.0), "{whole:?}");
        assert!((whole.mean / 10_000.5 - 1.0).abs() < 2e-3);
    }

    #[test]
    fn the_encoded_form_is_read_back_by_hdrhistogram_itself() {
        let mut latencies = Latencies::new();
        for value in [0, 1, 900, 1_000_000, u64::MAX] {
            latencies.record(value);
        }
        let bytes = STANDARD.decode(latencies.encode().unwrap()).unwrap();
        let back: Histogram<u64> = Deserializer::new().deserialize(&mut bytes.as_slice()).unwrap();
        assert_eq!(back.len(), 5);
        assert_eq!(back.max(), latencies.as_histogram().max());
        assert_eq!(Latencies::new().encode(), None);
    }

    #[test]
    fn histograms_merge_by_adding_counts() {
        let (mut fast, mut slow) = (Latencies::new(), Latencies::new());
        (0..3000).for_each(|_| fast.record(100));
        (0..1000).for_each(|_| slow.record(10_000));
        fast.add(&slow);
        let merged = fast.summary().unwrap();
        assert_eq!(fast.operations(), 4000);
        assert!(merged.p50.unwrap() < 101.0 && merged.p99.unwrap() > 9_990.0, "{merged:?}");
        fast.clear();
        assert_eq!(fast.operations(), 0);
    }

    #[test]
    fn every_value_is_counted_where_hdrhistogram_counts_it() {
        let mut value = 1_u64;
        while value < LARGEST_NS {
            for near in [value - 1, value, value + 1, value + value / 3] {
                let mut own = Latencies::new();
                own.record(near);
                let mut theirs = Histogram::<u64>::new_with_bounds(1, LARGEST_NS, 3).unwrap();
                theirs.saturating_record(near);
                assert_eq!(value_at(place(near)), theirs.highest_equivalent(near), "{near}");
                assert_eq!(own.as_histogram(), theirs, "{near}");
            }
            value = value * 2 + 1;
        }
    }

    #[test]
    fn a_histogram_survives_its_text() {
        let mut latencies = Latencies::new();
        for value in [0, 3, 2047, 2048, 2049, 123_456, 99_999_999, u64::MAX] {
            latencies.record_n(value, 5);
        }
        let back = Latencies::decode(&latencies.encode().unwrap()).unwrap();
        assert_eq!(back.operations(), 40);
        assert_eq!(back.counts, latencies.counts);
        assert_eq!(back.summary(), latencies.summary());
        assert!(Latencies::decode("not base64").is_none());
    }
}
