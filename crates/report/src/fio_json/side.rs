//! One direction of one job, all rounds together, as fio writes it.

use super::tree::{Json, object};
use super::whole;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::Deserializer;
use model::histogram::Inflater;
use model::trial::{Group, Latency, Submission};

/// The percentiles that fio writes, in percent.
const PERCENTILES: [f64; 17] =
    [1.0, 5.0, 10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0, 80.0, 90.0, 95.0, 99.0, 99.5, 99.9, 99.95, 99.99];

/// Figures of one direction, added up over rounds.
#[derive(Default)]
pub(super) struct Side {
    pub(super) operations: u64,
    bytes: u64,
    seconds: f64,
    rounds: u32,
    histogram: Option<Histogram<u64>>,
    /// Latency sums of rounds without a histogram too: operations, mean times operations, largest.
    timed: (u64, f64, f64),
    /// Of the only round without a histogram.
    alone: Option<Latency>,
    submissions: Vec<Submission>,
    /// Operations per second of every slice of every round.
    slices: Vec<f64>,
}

impl Side {
    /// Adds one round.
    pub(super) fn add(&mut self, group: &Group) {
        self.rounds += 1;
        self.operations = self.operations.saturating_add(group.operations);
        self.bytes = self.bytes.saturating_add(group.bytes);
        self.seconds += group.seconds;
        self.submissions.extend(group.submission_ns.filter(|of| of.operations > 0));
        self.slices.extend(group.slices_operations_per_second.iter().filter(|rate| rate.is_finite()));
        let read = group.histogram.as_deref().and_then(histogram).filter(|of| !of.is_empty());
        if let Some(latency) = group.latency_ns {
            let count = read.as_ref().map_or(group.operations, Histogram::len);
            self.timed.0 += count;
            self.timed.1 += latency.mean * count as f64;
            self.timed.2 = self.timed.2.max(latency.max);
            self.alone = (self.rounds == 1 && read.is_none()).then_some(latency);
        }
        match (&mut self.histogram, read) {
            (_, None) => {}
            (all @ None, Some(mut first)) => {
                first.auto(true);
                *all = Some(first);
            }
            // Histograms that resize take every value.
            (Some(all), Some(more)) => drop(all.add(&more)),
        }
    }

    /// Whether the submitting call was measured apart.
    pub(super) fn submitted(&self) -> bool {
        !self.submissions.is_empty()
    }

    pub(super) fn bytes_per_second(&self) -> f64 {
        rate(self.bytes, self.seconds)
    }

    /// The object of a direction. `group_rate`: bytes per second of all jobs that ran together.
    pub(super) fn json(&self, group_rate: f64) -> Json {
        let latency = self.latency();
        let bytes_per_second = self.bytes_per_second();
        let of_operation = if self.operations > 0 { self.bytes as f64 / self.operations as f64 } else { 0.0 };
        // fio samples bandwidth in KiB/s.
        let bandwidths = Samples::new(self.slices.iter().map(|rate| rate * of_operation / 1024.0));
        let rates = Samples::new(self.slices.iter().copied());
        let share = if group_rate > 0.0 { (100.0 * bandwidths.mean * 1024.0 / group_rate).min(100.0) } else { 0.0 };
        object([
            ("io_bytes", self.bytes.into()),
            ("io_kbytes", (self.bytes / 1024).into()),
            ("bw_bytes", whole(bytes_per_second).into()),
            ("bw", whole((bytes_per_second / 1024.0).floor()).into()),
            ("iops", rate(self.operations, self.seconds).into()),
            ("runtime", whole(1e3 * self.seconds).into()),
            ("total_ios", self.operations.into()),
            ("short_ios", 0_u64.into()),
            ("drop_ios", 0_u64.into()),
            ("slat_ns", self.submission()),
            ("clat_ns", latency.clone()),
            ("lat_ns", latency),
            ("bw_min", whole(bandwidths.min).into()),
            ("bw_max", whole(bandwidths.max).into()),
            ("bw_agg", share.into()),
            ("bw_mean", bandwidths.mean.into()),
            ("bw_dev", bandwidths.deviation.into()),
            ("bw_samples", bandwidths.count.into()),
            ("iops_min", whole(rates.min).into()),
            ("iops_max", whole(rates.max).into()),
            ("iops_mean", rates.mean.into()),
            ("iops_stddev", rates.deviation.into()),
            ("iops_samples", rates.count.into()),
        ])
    }

    /// The object of the calls that make data durable.
    pub(super) fn sync_json(&self) -> Json {
        object([("total_ios", self.operations.into()), ("lat_ns", self.latency())])
    }

    fn latency(&self) -> Json {
        let (count, sum, largest) = self.timed;
        let percentiles: Vec<(String, Json)> = match (&self.histogram, self.alone) {
            (Some(all), _) => PERCENTILES
                .iter()
                .map(|&percent| (format!("{percent:.6}"), all.value_at_quantile(percent / 100.0).into()))
                .collect(),
            // One round without a histogram: what it knows by itself. Percentiles are never averaged.
            (None, Some(alone)) => [(50.0, alone.p50), (99.0, alone.p99), (99.9, alone.p999)]
                .into_iter()
                .filter_map(|(percent, value)| Some((format!("{percent:.6}"), whole(value?).into())))
                .collect(),
            (None, None) => Vec::new(),
        };
        let (min, max, mean, deviation, len) = match &self.histogram {
            Some(all) => (all.min(), all.max(), all.mean(), all.stdev(), all.len()),
            None => (0, 0, 0.0, 0.0, 0),
        };
        // A histogram rounds to three digits; the trials keep the mean and the largest exactly.
        let (mean, max) = if count > 0 { (sum / count as f64, whole(largest)) } else { (mean, max) };
        let mut fields = vec![
            ("min", min.into()),
            ("max", max.into()),
            ("mean", mean.into()),
            ("stddev", deviation.into()),
            ("N", len.max(count).into()),
        ];
        if !percentiles.is_empty() {
            fields.push(("percentile", Json::Object(percentiles)));
        }
        object(fields)
    }

    fn submission(&self) -> Json {
        let all = &self.submissions;
        let count: u64 = all.iter().map(|of| of.operations).sum();
        let over = |figure: fn(&Submission) -> f64| {
            let sum: f64 = all.iter().map(|of| of.operations as f64 * figure(of)).sum();
            if count > 0 { sum / count as f64 } else { 0.0 }
        };
        let mean = over(|of| of.mean);
        let variance = over(|of| of.deviation * of.deviation + of.mean * of.mean) - mean * mean;
        object([
            ("min", whole(all.iter().map(|of| of.min).reduce(f64::min).unwrap_or(0.0)).into()),
            ("max", whole(all.iter().map(|of| of.max).reduce(f64::max).unwrap_or(0.0)).into()),
            ("mean", mean.into()),
            ("stddev", variance.max(0.0).sqrt().into()),
            ("N", count.into()),
        ])
    }
}

fn rate(amount: u64, seconds: f64) -> f64 {
    if seconds > 0.0 { amount as f64 / seconds } else { 0.0 }
}

/// HdrHistogram V2, deflated, base64; nanoseconds.
fn histogram(text: &str) -> Option<Histogram<u64>> {
    let mut inflater = Inflater::default();
    Deserializer::new().deserialize::<u64, _>(&mut inflater.plain(text)?).ok()
}

/// Samples over time.
#[derive(Default)]
struct Samples {
    count: u64,
    min: f64,
    max: f64,
    mean: f64,
    deviation: f64,
}

impl Samples {
    fn new(all: impl Iterator<Item = f64>) -> Samples {
        let all: Vec<f64> = all.collect();
        if all.is_empty() {
            return Samples::default();
        }
        let count = all.len() as f64;
        let mean = all.iter().sum::<f64>() / count;
        let squares: f64 = all.iter().map(|sample| (sample - mean).powi(2)).sum();
        Samples {
            count: all.len() as u64,
            min: all.iter().copied().fold(f64::INFINITY, f64::min),
            max: all.iter().copied().fold(0.0, f64::max),
            mean,
            deviation: if count > 1.0 { (squares / (count - 1.0)).sqrt() } else { 0.0 },
        }
    }
}

/// Shares of a job's operations by latency, in fio's three rows of buckets. A bucket holds what is
/// under its name and not under the name before it.
pub(super) struct Buckets {
    /// In percent; the same bounds in every row, the last row with two more.
    shares: [[f64; 12]; 3],
}

const BOUNDS: [u64; 10] = [2, 4, 10, 20, 50, 100, 250, 500, 750, 1000];

impl Buckets {
    /// Over all directions of a job.
    pub(super) fn new(sides: &[Side]) -> Buckets {
        let mut shares = [[0.0; 12]; 3];
        let all = || sides.iter().filter_map(|side| side.histogram.as_ref());
        let total: u64 = all().map(Histogram::len).sum();
        for (histogram, step) in all().flat_map(|all| all.iter_recorded().map(move |step| (all, step))) {
            // Its buckets have a width that fio's bounds do not know: their middle decides.
            let value = histogram.median_equivalent(step.value_iterated_to());
            let (row, at) = place(value);
            shares[row][at] += 100.0 * step.count_at_value() as f64 / total as f64;
        }
        Buckets { shares }
    }

    pub(super) fn nanoseconds(&self) -> Json {
        self.row(0)
    }

    pub(super) fn microseconds(&self) -> Json {
        self.row(1)
    }

    pub(super) fn milliseconds(&self) -> Json {
        self.row(2)
    }

    fn row(&self, row: usize) -> Json {
        let more = ["2000", ">=2000"].iter().filter(|_| row == 2).map(|name| (*name).to_owned());
        let names = BOUNDS.iter().map(u64::to_string).chain(more);
        Json::Object(names.zip(self.shares[row]).map(|(name, share)| (name, share.into())).collect())
    }
}

/// Row and bucket of a latency in nanoseconds.
fn place(nanoseconds: u64) -> (usize, usize) {
    let bucket = |value: u64| BOUNDS.iter().position(|&bound| value < bound);
    if let Some(at) = bucket(nanoseconds) {
        return (0, at);
    }
    if let Some(at) = bucket(nanoseconds / 1_000) {
        return (1, at);
    }
    let milliseconds = nanoseconds / 1_000_000;
    (2, bucket(milliseconds).unwrap_or(if milliseconds < 2000 { 10 } else { 11 }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn latencies_fall_into_fios_buckets() {
        let of = |nanoseconds| place(nanoseconds);
        assert_eq!((of(0), of(1), of(2), of(999)), ((0, 0), (0, 0), (0, 1), (0, 9)));
        assert_eq!((of(1_000), of(49_999), of(50_000), of(999_999)), ((1, 0), (1, 4), (1, 5), (1, 9)));
        assert_eq!((of(1_000_000), of(1_999_999_999), of(2_000_000_000)), ((2, 0), (2, 10), (2, 11)));
    }
}
