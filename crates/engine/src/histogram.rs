//! Latency: HdrHistogram in nanoseconds, three digits, merged by adding counts.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Serializer, V2DeflateSerializer};
use model::trial::Latency;

/// One hour: a longer operation counts as one hour.
const LARGEST_NS: u64 = 3_600_000_000_000;

/// Latencies of single operations in nanoseconds, from 1 ns to one hour with three digits.
/// Takes about 270 KiB whatever it holds.
#[derive(Debug, Clone)]
pub struct Latencies {
    counts: Histogram<u64>,
}

impl Default for Latencies {
    fn default() -> Self {
        Self::new()
    }
}

impl Latencies {
    /// An empty histogram.
    pub fn new() -> Self {
        let counts =
            Histogram::new_with_bounds(1, LARGEST_NS, 3).expect("the bounds are constants that HdrHistogram takes");
        Latencies { counts }
    }

    /// Counts one operation. Never allocates; longer than an hour counts as an hour.
    #[inline]
    pub fn record(&mut self, nanoseconds: u64) {
        self.counts.saturating_record(nanoseconds);
    }

    /// Counts several operations of one latency: what another histogram holds in one of its bins.
    pub fn record_n(&mut self, nanoseconds: u64, count: u64) {
        self.counts.saturating_record_n(nanoseconds, count);
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        self.counts.reset();
    }

    /// Adds another histogram's counts.
    pub fn add(&mut self, other: &Latencies) {
        self.counts.add(&other.counts).expect("all histograms of this crate have the same bounds");
    }

    /// Number of operations counted.
    pub fn operations(&self) -> u64 {
        self.counts.len()
    }

    /// Mean, percentiles and maximum; `None` when nothing was counted. A percentile p of n
    /// operations is present only where n(1-p) is at least 20 (methods section 4).
    pub fn summary(&self) -> Option<Latency> {
        let operations = self.counts.len();
        if operations == 0 {
            return None;
        }
        let percentile = |per_mille: u64| {
            // In whole numbers, so that no rounding moves the threshold.
            let seen_beyond = operations * (1000 - per_mille) / 1000;
            (seen_beyond >= 20).then(|| self.counts.value_at_quantile(per_mille as f64 / 1000.0) as f64)
        };
        Some(Latency {
            mean: self.counts.mean(),
            p50: percentile(500),
            p99: percentile(990),
            p999: percentile(999),
            max: self.counts.max() as f64,
        })
    }

    /// HdrHistogram V2, deflated, base64; `None` when nothing was counted.
    pub fn encode(&self) -> Option<String> {
        if self.counts.is_empty() {
            return None;
        }
        let mut bytes = Vec::new();
        V2DeflateSerializer::new()
            .serialize(&self.counts, &mut bytes)
            .expect("a histogram of fixed size serializes into memory");
        Some(STANDARD.encode(bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hdrhistogram::serialization::Deserializer;

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
        assert_eq!(back.max(), latencies.counts.max());
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
}
