//! Latency over rounds: histograms are merged by adding counts, percentiles are never averaged
//! (methods section 4).

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::Deserializer;

/// Merges the histograms of trials (HdrHistogram V2, deflated, base64; nanoseconds). Those that
/// cannot be read are counted in the second value. `None` where none could be read.
pub fn merge<'a>(histograms: impl IntoIterator<Item = &'a str>) -> (Option<Histogram<u64>>, u32) {
    let mut merged: Option<Histogram<u64>> = None;
    let mut unreadable = 0;
    for text in histograms {
        let Some(histogram) = read(text) else {
            unreadable += 1;
            continue;
        };
        match &mut merged {
            None => {
                let mut first = histogram;
                first.auto(true);
                merged = Some(first);
            }
            Some(all) => unreadable += u32::from(all.add(&histogram).is_err()),
        }
    }
    (merged, unreadable)
}

fn read(text: &str) -> Option<Histogram<u64>> {
    let bytes = STANDARD.decode(text.trim()).ok()?;
    Deserializer::new().deserialize::<u64, _>(&mut bytes.as_slice()).ok()
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
