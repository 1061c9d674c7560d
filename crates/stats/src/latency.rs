//! Latency over rounds: histograms are merged by adding counts, percentiles are never averaged
//! (method 4.1).

use hdrhistogram::Histogram;
use hdrhistogram::serialization::Deserializer;
use model::histogram::{HEADER_BYTES, Inflater, PLAIN};

/// Merges the histograms of trials (HdrHistogram V2, deflated, base64; nanoseconds). Those that
/// cannot be read are counted in the second value. `None` where none could be read.
pub fn merge<'a>(histograms: impl IntoIterator<Item = &'a str>) -> (Option<Histogram<u64>>, u32) {
    let mut counts = Counts::new();
    let mut merged: Option<Histogram<u64>> = None;
    let mut unreadable = 0;
    for text in histograms {
        if counts.add(text).is_some() {
            continue;
        }
        // Another layout, or none at all: its own crate knows.
        let Some(mut histogram) = read(text) else {
            unreadable += 1;
            continue;
        };
        match &mut merged {
            None => {
                histogram.auto(true);
                merged = Some(histogram);
            }
            Some(all) => unreadable += u32::from(all.add(&histogram).is_err()),
        }
    }
    match (counts.histogram(), merged) {
        (Some(mut all), Some(other)) => {
            unreadable += u32::from(all.add(&other).is_err());
            (Some(all), unreadable)
        }
        (all, other) => (all.or(other), unreadable),
    }
}

/// Half of the sub-buckets of three digits: what each further power of two adds.
const HALF: usize = 1024;
/// Places that values of 64 bits take.
const PLACES: usize = 2 * HALF + 53 * HALF;

/// The counts of histograms of three digits from 1 on, which every trial of Fairlane has. A record may hold
/// a hundred thousand: their counts are added as they are read, without making each a histogram first.
struct Counts {
    inflater: Inflater,
    /// Place and count of the one that is being read.
    one: Vec<(usize, u64)>,
    sum: Vec<u64>,
    added: bool,
}

impl Counts {
    fn new() -> Self {
        Counts { inflater: Inflater::default(), one: Vec::new(), sum: Vec::new(), added: false }
    }

    /// Adds a histogram; `None`, and nothing is added, where it is none of that layout.
    fn add(&mut self, text: &str) -> Option<()> {
        decode(self.inflater.plain(text)?, &mut self.one)?;
        if let Some((last, _)) = self.one.last()
            && *last >= self.sum.len()
        {
            self.sum.resize(last + 1, 0);
        }
        for &(place, count) in &self.one {
            self.sum[place] = self.sum[place].saturating_add(count);
        }
        self.added = true;
        Some(())
    }

    fn histogram(&self) -> Option<Histogram<u64>> {
        let mut all = Histogram::new(3).ok().filter(|_| self.added)?;
        all.auto(true);
        for (place, &count) in self.sum.iter().enumerate().filter(|(_, count)| **count > 0) {
            all.record_n(value_at(place), count).ok()?;
        }
        Some(all)
    }
}

/// Reads the counts: zigzag LEB128 of at most nine bytes, where a negative number is so many empty places.
fn decode(plain: &[u8], into: &mut Vec<(usize, u64)>) -> Option<()> {
    let header = plain.strip_prefix(&PLAIN)?;
    let word = |at: usize| Some(u32::from_be_bytes(*header.get(at..)?.first_chunk()?));
    let long = |at: usize| Some(u64::from_be_bytes(*header.get(at..)?.first_chunk()?));
    let (offset, digits, lowest, ratio) = (word(4)?, word(8)?, long(12)?, long(28)?);
    if offset != 0 || digits != 3 || lowest != 1 || f64::from_bits(ratio) != 1.0 {
        return None;
    }
    let mut rest = plain.get(HEADER_BYTES..)?;
    into.clear();
    let mut place = 0;
    while !rest.is_empty() {
        let (number, after) = varint(rest)?;
        rest = after;
        let signed = (number >> 1) as i64 ^ -((number & 1) as i64);
        if signed < 0 {
            place = usize::try_from(signed.unsigned_abs()).ok()?.checked_add(place)?;
        } else {
            into.push((place, signed as u64));
            place += 1;
        }
        if place > PLACES {
            return None;
        }
    }
    Some(())
}

/// The smallest value that is counted at a place: linear up to 2047, then 1024 steps for each power of two.
fn value_at(place: usize) -> u64 {
    let shift = (place / HALF).saturating_sub(1);
    ((place - shift * HALF) as u64) << shift
}

/// The first number of the bytes, and what follows it; the ninth byte counts whole.
fn varint(bytes: &[u8]) -> Option<(u64, &[u8])> {
    let mut value = 0;
    for (at, &byte) in bytes.iter().enumerate().take(9) {
        if at == 8 {
            return Some((value | u64::from(byte) << 56, &bytes[9..]));
        }
        value |= u64::from(byte & 0x7f) << (7 * at);
        if byte < 0x80 {
            return Some((value, &bytes[at + 1..]));
        }
    }
    None
}

fn read(text: &str) -> Option<Histogram<u64>> {
    let mut inflater = Inflater::default();
    Deserializer::new().deserialize::<u64, _>(&mut inflater.plain(text)?).ok()
}

/// The percentile (`share` in 0..1) in nanoseconds; `None` where fewer than 20 operations lie above
/// it, because then it is a handful of accidents.
pub fn percentile(histogram: &Histogram<u64>, share: f64) -> Option<f64> {
    let above = histogram.len() as f64 * (1.0 - share);
    // 1 - 0.99 is a little under 0.01 as a float: 2,000 operations are enough.
    (above >= 20.0 - 1e-6).then(|| histogram.value_at_quantile(share) as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use base64::Engine;
    use base64::engine::general_purpose::STANDARD;
    use hdrhistogram::serialization::{Serializer, V2DeflateSerializer};

    fn text(values: impl Iterator<Item = u64>) -> String {
        let mut histogram = Histogram::<u64>::new(3).unwrap();
        for value in values {
            histogram.record(value).unwrap();
        }
        let mut bytes = Vec::new();
        V2DeflateSerializer::new().serialize(&histogram, &mut bytes).unwrap();
        STANDARD.encode(bytes)
    }

    #[test]
    fn merging_adds_counts_and_does_not_average_percentiles() {
        // One fast round of 9,900 and one slow of 100: p99 of all is the last fast one.
        let fast = text((0..9_900).map(|_| 1_000));
        let slow = text((0..100).map(|_| 5_000_000));
        let (merged, unreadable) = merge([fast.as_str(), slow.as_str()]);
        let merged = merged.unwrap();
        assert_eq!((merged.len(), unreadable), (10_000, 0));
        assert_eq!(percentile(&merged, 0.99), Some(1_000.0));
        assert!((percentile(&merged, 0.995).unwrap() / 5_000_000.0 - 1.0).abs() < 0.001);
    }

    /// As [`Counts`] and its own crate read it.
    fn both(of: &Histogram<u64>) -> (Option<Histogram<u64>>, Histogram<u64>) {
        let mut bytes = Vec::new();
        V2DeflateSerializer::new().serialize(of, &mut bytes).unwrap();
        let text = STANDARD.encode(bytes);
        let mut counts = Counts::new();
        let fast = counts.add(&text).and_then(|()| counts.histogram());
        (fast, read(&text).unwrap())
    }

    #[test]
    fn counts_are_read_as_the_histograms_own_crate_reads_them() {
        let mut spread = Histogram::<u64>::new_with_bounds(1, 3_600_000_000_000, 3).unwrap();
        let mut value = 1_u64;
        while value < 3_600_000_000_000 {
            for near in [value - 1, value, value + value / 3] {
                spread.saturating_record_n(near, value % 1000 + 1);
            }
            value = value * 2 + 1;
        }
        let mut large = Histogram::<u64>::new(3).unwrap();
        large.record_n(u64::MAX / 3, u64::from(u32::MAX) << 20).unwrap();
        for histogram in [spread, large, Histogram::new(3).unwrap()] {
            let (fast, slow) = both(&histogram);
            let fast = fast.unwrap();
            assert_eq!(fast.len(), slow.len());
            let counted = |of: &Histogram<u64>| -> Vec<(u64, u64)> {
                of.iter_recorded().map(|at| (at.value_iterated_to(), at.count_at_value())).collect()
            };
            assert_eq!(counted(&fast), counted(&slow));
            for share in [0.0, 0.1, 0.5, 0.99, 1.0] {
                assert_eq!(fast.value_at_quantile(share), slow.value_at_quantile(share), "{share}");
            }
        }
    }

    #[test]
    fn another_layout_is_merged_too_and_a_torn_one_adds_nothing() {
        let mut rough = Histogram::<u64>::new(2).unwrap();
        rough.record_n(100, 7).unwrap();
        assert_eq!(both(&rough).0, None);
        let mut bytes = Vec::new();
        V2DeflateSerializer::new().serialize(&rough, &mut bytes).unwrap();
        let (rough, fine) = (STANDARD.encode(bytes), text([100_u64; 5].into_iter()));
        for order in [[&rough, &fine], [&fine, &rough]] {
            let (merged, unreadable) = merge(order.into_iter().map(String::as_str));
            assert_eq!((merged.unwrap().len(), unreadable), (12, 0));
        }
        let whole = STANDARD.decode(&fine).unwrap();
        for length in 0..whole.len() {
            // Without its checksum it is whole for its own crate.
            let torn = STANDARD.encode(&whole[..length]);
            let more = read(&torn).map_or(0, |histogram| histogram.len());
            let (merged, unreadable) = merge([fine.as_str(), torn.as_str()]);
            assert_eq!((merged.unwrap().len(), unreadable), (5 + more, u32::from(more == 0)), "{length}");
        }
    }

    #[test]
    fn a_percentile_needs_twenty_operations_above_it() {
        let few = merge([text((0..1_999).map(|_| 7)).as_str()]).0.unwrap();
        let enough = merge([text((0..2_000).map(|_| 7)).as_str()]).0.unwrap();
        assert_eq!((percentile(&few, 0.99), percentile(&enough, 0.99)), (None, Some(7.0)));
        assert_eq!(percentile(&enough, 0.999), None);
    }

    #[test]
    fn what_is_no_histogram_is_counted_and_left_out() {
        let good = text([5_u64].into_iter());
        let (merged, unreadable) = merge(["", "not base64!", "AAAA", good.as_str()]);
        assert_eq!((merged.unwrap().len(), unreadable), (1, 3));
        assert!(merge([]).0.is_none());
    }
}
