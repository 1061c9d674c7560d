//! What a measured window or phase yields, and what a trial makes of its windows.

use crate::histogram::Latencies;
use model::seen::{CachedFiles, KeptFiles};
use model::trial::{Group, Lateness, Submission};
use std::collections::BTreeMap;

/// Key of the rate of operations.
pub const OPERATIONS_PER_SECOND: &str = "operations_per_second";
/// Key of the median latency, in nanoseconds.
pub const LATENCY_P50: &str = "latency_p50_ns";
/// Key of the 99th percentile of latency, in nanoseconds.
pub const LATENCY_P99: &str = "latency_p99_ns";
/// Key of the median lateness, in nanoseconds.
pub const LATENESS_P50: &str = "lateness_p50_ns";
/// Key of the 99th percentile of lateness, in nanoseconds.
pub const LATENESS_P99: &str = "lateness_p99_ns";
/// Key of the share of writers that were late at least once.
pub const LATE_WRITERS: &str = "late_writers_share";
/// Key of the share of operations that were late by a period.
pub const LATE: &str = "late_share";
/// Key of the bandwidth.
pub const BANDWIDTH: &str = "bandwidth_bytes_per_second";

/// Key of the wall time of work that is done once, in nanoseconds.
pub const TIME: &str = "time_ns";

/// Key of what starting processes costs, in seconds of the clock for each operation. Never a primary
/// metric: it tells how much of a figure is no filesystem's.
pub const PROCESS_STARTUP: &str = "process_startup_seconds_per_operation";

/// A metric that may be primary, by its key; another key stands for the rate of operations.
pub fn primary_metric(key: &str) -> &'static str {
    let known = [BANDWIDTH, LATENCY_P50, LATENCY_P99];
    known.into_iter().find(|known| *known == key).unwrap_or(OPERATIONS_PER_SECOND)
}

/// What a measured window or phase yields.
#[derive(Debug, Clone, Default)]
pub struct Window {
    /// The group that it belongs to: `read`, `write`, `create`, `delete`; `JOB: read`.
    pub group: String,
    /// The job of a job file whose group this is; empty elsewhere.
    pub job: String,
    /// The metric that verdicts use.
    pub primary_metric: &'static str,
    /// Completed operations.
    pub operations: u64,
    /// Bytes that the application read or wrote.
    pub bytes: u64,
    /// Wall seconds, the charged sync included.
    pub seconds: f64,
    /// Of these, seconds of the charged sync.
    pub sync_seconds: f64,
    /// Seconds that it takes to start as many processes as this window did, measured beside it; 0
    /// where operations are no processes.
    pub process_startup_seconds: f64,
    /// Latency of each operation.
    pub latencies: Latencies,
    /// Latency of submitting calls that were measured apart.
    pub submission: Option<Submission>,
    /// Highest share of one core that a thread of the window's own took, and its name; such threads are
    /// gone when the system is looked at. `None`: the work ran in the thread that asked for it.
    pub busiest_thread: Option<(f64, String)>,
    /// Operations per second in each half second of work that runs whole.
    pub series_operations_per_second: Vec<f64>,
    /// Operations per second in windows of equal length inside a slice.
    pub windows_operations_per_second: Vec<f64>,
    /// Length of these windows in seconds; 0: there are none.
    pub windows_seconds: f64,
    /// Amounts that the work counts itself, by the metric that they become: one that ends in
    /// `_per_operation` is divided by the operations.
    pub totals: Vec<(&'static str, f64)>,
    /// User and system time of a server that worked for this window, in seconds: a database's, or that of MPI.
    pub server_cpu_seconds: Option<[f64; 2]>,
    /// Operations of the whole work that the observer was told of, the warm-up included; 0: it was told of none.
    pub all_operations: u64,
    /// What a database says of its own settings.
    pub settings: BTreeMap<String, String>,
    /// How late operations were that were due at known moments; its latencies are these.
    pub lateness: Option<Box<Lateness>>,
    /// User and system time of processes of the work's own in the window, which nobody sees from outside
    /// before they have ended.
    pub own_cpu_seconds: (f64, f64),
    /// What of the files of direct I/O lay in the page cache after it.
    pub cached_files: Option<CachedFiles>,
    /// How the filesystem keeps some of its files.
    pub kept_files: Option<KeptFiles>,
}

/// Most windows that a trial keeps; of more, neighbours are put together.
const MOST_WINDOWS: usize = 1024;

impl Window {
    /// Operations per second, the charged sync left out; 0 for an empty window.
    pub fn operations_per_second(&self) -> f64 {
        rate(self.operations, self.seconds - self.sync_seconds)
    }

    /// This window alone as a group, without histogram and slices.
    pub fn group(&self) -> Group {
        Group {
            latency_ns: self.latencies.summary(),
            windows_operations_per_second: self.windows_operations_per_second.clone(),
            windows_seconds: self.windows_seconds,
            ..bare_group(self, &[self.operations_per_second()])
        }
    }
}

/// The windows of one trial that belong to one group.
#[derive(Debug, Clone)]
pub struct Tally {
    sum: Window,
    operations_per_second: Vec<f64>,
}

impl Tally {
    /// Begins with the first window.
    pub fn new(first: Window) -> Self {
        let rates = vec![first.operations_per_second()];
        Tally { sum: first, operations_per_second: rates }
    }

    /// Adds a later window.
    pub fn add(&mut self, window: &Window) {
        self.operations_per_second.push(window.operations_per_second());
        self.sum.operations += window.operations;
        self.sum.bytes += window.bytes;
        self.sum.seconds += window.seconds;
        self.sum.sync_seconds += window.sync_seconds;
        self.sum.process_startup_seconds += window.process_startup_seconds;
        self.sum.latencies.add(&window.latencies);
        for &(key, amount) in &window.totals {
            match self.sum.totals.iter_mut().find(|(own, _)| *own == key) {
                Some((_, sum)) => *sum += amount,
                None => self.sum.totals.push((key, amount)),
            }
        }
        self.sum.series_operations_per_second.extend(&window.series_operations_per_second);
        self.sum.windows_operations_per_second.extend(&window.windows_operations_per_second);
        match (&mut self.sum.cached_files, &window.cached_files) {
            (Some(sum), Some(later)) => sum.add(later),
            (sum, later) => *sum = sum.or(*later),
        }
        self.sum.kept_files = window.kept_files.or(self.sum.kept_files);
        if let (Some(sum), Some(more)) = (&mut self.sum.lateness, &window.lateness) {
            sum.due += more.due;
            sum.late += more.late;
            sum.missed += more.missed;
            sum.late_writers = sum.late_writers.max(more.late_writers);
            sum.backlog_seconds = sum.backlog_seconds.max(more.backlog_seconds);
            sum.backlog_grew |= more.backlog_grew;
            sum.interval_p99_ns.extend(&more.interval_p99_ns);
            sum.interval_max_ns.extend(&more.interval_max_ns);
        }
    }

    /// Takes what only the end of a trial tells of work that was done elsewhere: its latencies, and the metric that
    /// verdicts use.
    pub fn complete(&mut self, latencies: &Latencies, primary_metric: &'static str) {
        self.sum.latencies.add(latencies);
        self.sum.primary_metric = primary_metric;
    }

    /// Name of the group.
    pub fn name(&self) -> &str {
        &self.sum.group
    }

    /// The trial's figures: sums over windows, medians over slices, latency of all operations. What
    /// was charged once for all windows (a sync) is spread over all operations.
    pub fn group(&self) -> Group {
        // A single window is no series: its rate stands in the metrics already.
        let several = self.operations_per_second.len() > 1;
        let series = if several { &self.operations_per_second } else { &self.sum.series_operations_per_second };
        let (windows_operations_per_second, together) = few(&self.sum.windows_operations_per_second);
        Group {
            windows_operations_per_second,
            windows_seconds: self.sum.windows_seconds * together as f64,
            latency_ns: self.sum.latencies.summary(),
            histogram: self.sum.latencies.encode(),
            submission_ns: self.sum.submission,
            slices_operations_per_second: series.clone(),
            ..bare_group(&self.sum, &self.operations_per_second)
        }
    }
}

/// `rates` leave the charged sync out: the median slice speaks for all operations, and the sync
/// comes on top of their time.
fn bare_group(window: &Window, rates: &[f64]) -> Group {
    let working_seconds = window.operations as f64 / median(rates);
    let seconds = working_seconds + window.sync_seconds;
    let mut metrics: BTreeMap<String, f64> =
        [(OPERATIONS_PER_SECOND, rate(window.operations, seconds)), (BANDWIDTH, rate(window.bytes, seconds))]
            .map(|(key, value)| (key.to_owned(), value))
            .into();
    if window.process_startup_seconds > 0.0 && window.operations > 0 {
        let each = window.process_startup_seconds / window.operations as f64;
        metrics.insert(PROCESS_STARTUP.to_owned(), each);
    }
    for &(key, amount) in &window.totals {
        let divided = key.ends_with("_per_operation");
        if !divided || window.operations > 0 {
            metrics.insert(key.to_owned(), if divided { amount / window.operations as f64 } else { amount });
        }
    }
    if let Some(lateness) = &window.lateness {
        let shares = [(LATE_WRITERS, lateness.late_writers_share()), (LATE, lateness.late_share())];
        metrics.extend(shares.map(|(key, value)| (key.to_owned(), value)));
    }
    let keys = if window.lateness.is_some() { [LATENESS_P50, LATENESS_P99] } else { [LATENCY_P50, LATENCY_P99] };
    if let Some(latency) = window.latencies.summary() {
        let known = [(keys[0], latency.p50), (keys[1], latency.p99)];
        metrics.extend(known.into_iter().filter_map(|(key, value)| Some((key.to_owned(), value?))));
    }
    // Too few operations for the percentile: the median is the next best, and the rate always there.
    let primary = [window.primary_metric, keys[0], OPERATIONS_PER_SECOND];
    let primary = primary.into_iter().find(|key| metrics.contains_key(*key)).unwrap_or(OPERATIONS_PER_SECOND);
    Group {
        name: window.group.clone(),
        operations: window.operations,
        bytes: window.bytes,
        seconds: window.seconds,
        sync_seconds: window.sync_seconds,
        job: window.job.clone(),
        primary_metric: primary.to_owned(),
        metrics,
        lateness: window.lateness.clone(),
        settings: window.settings.clone(),
        cached_files: window.cached_files,
        kept_files: window.kept_files,
        ..Group::default()
    }
}

/// At most [`MOST_WINDOWS`], and of how many neighbours each is the mean; what is left over at the end is
/// left out.
fn few(windows: &[f64]) -> (Vec<f64>, usize) {
    let together = windows.len().div_ceil(MOST_WINDOWS).max(1);
    let mean = |some: &[f64]| some.iter().sum::<f64>() / together as f64;
    (windows.chunks_exact(together).map(mean).collect(), together)
}

fn rate(count: u64, seconds: f64) -> f64 {
    if seconds > 0.0 { count as f64 / seconds } else { 0.0 }
}

/// The middle value, the mean of the middle two for an even count; 0 of nothing.
fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    match (sorted.len(), sorted.len() / 2) {
        (0, _) => 0.0,
        (count, middle) if count % 2 == 1 => sorted[middle],
        (_, middle) => (sorted[middle - 1] + sorted[middle]) / 2.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn window(operations: u64, seconds: f64) -> Window {
        let mut latencies = Latencies::new();
        (0..operations).for_each(|_| latencies.record(1000));
        Window {
            group: "read".to_owned(),
            primary_metric: OPERATIONS_PER_SECOND,
            operations,
            bytes: operations * 512,
            seconds,
            latencies,
            ..Window::default()
        }
    }

    #[test]
    fn a_trial_sums_its_windows_and_takes_the_median_of_their_rates() {
        let mut tally = Tally::new(window(100, 1.0));
        tally.add(&window(300, 2.0));
        tally.add(&window(9000, 1.0));
        let group = tally.group();
        assert_eq!((group.operations, group.bytes, group.seconds, group.sync_seconds), (9400, 9400 * 512, 4.0, 0.0));
        assert_eq!(group.metrics[OPERATIONS_PER_SECOND], 150.0);
        assert_eq!(group.metrics[BANDWIDTH], 150.0 * 512.0);
        assert_eq!(group.slices_operations_per_second, [100.0, 150.0, 9000.0]);
        assert!(group.histogram.is_some());
        assert!(group.metrics.contains_key(&group.primary_metric));
    }

    #[test]
    fn a_trial_keeps_the_windows_of_its_slices_in_order_and_a_bounded_number() {
        let with = |rates: &[f64]| Window {
            windows_operations_per_second: rates.to_vec(),
            windows_seconds: 0.01,
            ..window(10, 0.02)
        };
        let mut tally = Tally::new(with(&[100.0, 200.0]));
        tally.add(&with(&[300.0, 400.0]));
        let group = tally.group();
        assert_eq!(group.windows_operations_per_second, [100.0, 200.0, 300.0, 400.0]);
        assert_eq!((group.windows_seconds, group.slices_operations_per_second.len()), (0.01, 2));
        assert_eq!(with(&[100.0]).group().windows_operations_per_second, [100.0], "of one slice too");
        let many: Vec<f64> = (0..2500).map(|at| if at % 3 == 0 { 90.0 } else { 60.0 }).collect();
        let group = Tally::new(with(&many)).group();
        assert_eq!((group.windows_operations_per_second.len(), group.windows_seconds), (833, 0.03));
        assert!(group.windows_operations_per_second.iter().all(|&rate| rate == 70.0));
        assert_eq!(Tally::new(window(10, 1.0)).group().windows_seconds, 0.0);
    }

    #[test]
    fn lateness_has_metrics_of_its_own_and_adds_up() {
        let late = |late: u64, grew: bool| Window {
            primary_metric: LATENESS_P99,
            lateness: Some(Box::new(Lateness {
                writers: 10,
                late_writers: late as u32,
                due: 3000,
                late,
                backlog_grew: grew,
                interval_p99_ns: vec![1.0],
                ..Lateness::default()
            })),
            ..window(3000, 1.0)
        };
        let alone = late(3, false).group();
        assert_eq!((alone.primary_metric.as_str(), alone.metrics[LATE_WRITERS]), (LATENESS_P99, 0.3));
        assert!(!alone.metrics.contains_key(LATENCY_P99));
        let mut tally = Tally::new(late(3, false));
        tally.add(&late(1, true));
        let all = tally.group();
        let lateness = all.lateness.unwrap();
        assert_eq!((lateness.due, lateness.late, lateness.late_writers, lateness.backlog_grew), (6000, 4, 3, true));
        assert_eq!((lateness.interval_p99_ns.len(), all.metrics[LATE]), (2, 4.0 / 6000.0));
    }

    #[test]
    fn a_charged_sync_is_spread_over_all_operations_and_no_slice_carries_it() {
        let mut tally = Tally::new(window(100, 1.0));
        // A burst of noise, then the last part with its sync.
        tally.add(&window(100, 9.0));
        tally.add(&Window { sync_seconds: 2.0, ..window(100, 3.0) });
        let group = tally.group();
        assert_eq!(group.slices_operations_per_second, [100.0, 100.0 / 9.0, 100.0]);
        // 300 operations at the median of 100/s take 3 s, and the sync 2 s.
        assert_eq!(group.metrics[OPERATIONS_PER_SECOND], 60.0);
        assert_eq!((group.seconds, group.sync_seconds), (13.0, 2.0));
        let alone = Window { sync_seconds: 2.0, ..window(100, 4.0) }.group();
        assert_eq!(alone.metrics[OPERATIONS_PER_SECOND], 25.0);
    }

    #[test]
    fn what_starting_processes_costs_is_told_for_each_operation_and_never_decides() {
        let mut tally = Tally::new(Window { process_startup_seconds: 0.2, ..window(100, 1.0) });
        tally.add(&Window { process_startup_seconds: 0.4, ..window(100, 1.0) });
        let group = tally.group();
        assert!((group.metrics[PROCESS_STARTUP] - 0.003).abs() < 1e-12);
        assert_eq!(group.primary_metric, OPERATIONS_PER_SECOND);
        assert!(!window(100, 1.0).group().metrics.contains_key(PROCESS_STARTUP));
    }

    #[test]
    fn what_the_work_counts_itself_is_summed_and_divided_where_its_name_says_so() {
        let with = |retries, fsyncs| Window {
            totals: vec![("retries", retries), ("server_fsyncs_per_operation", fsyncs)],
            ..window(100, 1.0)
        };
        let mut tally = Tally::new(with(1.0, 50.0));
        tally.add(&with(2.0, 150.0));
        let metrics = tally.group().metrics;
        assert_eq!((metrics["retries"], metrics["server_fsyncs_per_operation"]), (3.0, 1.0));
        assert!(!window(1, 1.0).group().metrics.contains_key("retries"));
    }

    #[test]
    fn a_window_alone_has_no_histogram_and_no_slices() {
        let group = window(50, 0.5).group();
        assert_eq!(group.metrics[OPERATIONS_PER_SECOND], 100.0);
        assert_eq!((group.histogram, group.slices_operations_per_second.len()), (None, 0));
        assert!(group.latency_ns.unwrap().p50.is_some());
    }

    #[test]
    fn the_median_of_an_even_count_lies_between_the_middle_two() {
        assert_eq!(median(&[4.0, 1.0, 3.0, 2.0]), 2.5);
        assert_eq!(median(&[]), 0.0);
        assert_eq!(window(0, 0.0).operations_per_second(), 0.0);
    }
}
