//! Runs of tests, gathered from a file into series in its order.

use crate::{ForeignError, Latency, MOST_RUNS, MOST_RUNS_OF_ALL, MOST_SERIES, Metric, Results, Series};
use std::collections::BTreeMap;

/// From blocks of this many bytes on, people read a test in bytes per second, and below in operations per second.
const LARGE_BLOCK: f64 = 65_536.0;

/// A test, by what tells it from the others of its file.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Test {
    /// As [`Series::workload`].
    pub(crate) workload: String,
    /// As [`Series::parameters`].
    pub(crate) parameters: String,
    /// As [`Series::group`].
    pub(crate) group: &'static str,
    /// As [`Series::contestant`].
    pub(crate) contestant: String,
}

/// One run of a test; what a file does not tell is 0.
#[derive(Debug, Clone, Default)]
pub(crate) struct Run {
    pub(crate) operations_per_second: f64,
    pub(crate) bytes_per_second: f64,
    /// Bytes of an operation, which decide by which of both figures the test is told.
    pub(crate) block: f64,
    pub(crate) operations: u64,
    pub(crate) bytes: u64,
    pub(crate) seconds: f64,
    pub(crate) latency: Option<Latency>,
    /// The earliest and the latest moment at which it can have been told, in milliseconds since 1970.
    pub(crate) told: Option<(u64, u64)>,
    /// The group of jobs that ran at once.
    pub(crate) group_id: u64,
}

/// The runs of a file's tests.
#[derive(Debug, Default)]
pub(crate) struct Runs {
    places: BTreeMap<Test, usize>,
    tests: Vec<(Test, Vec<Run>)>,
    asked: usize,
}

impl Runs {
    /// The runs of a test so far, for one more; an error where a file holds more than is read.
    pub(crate) fn of_test(&mut self, test: Test) -> Result<&mut Vec<Run>, ForeignError> {
        self.asked += 1;
        let next = self.tests.len();
        let place = *self.places.entry(test.clone()).or_insert(next);
        if place == next {
            self.tests.push((test, Vec::new()));
        }
        let runs = &mut self.tests[place].1;
        match () {
            () if next > MOST_SERIES => Err(ForeignError::TooManySeries),
            () if runs.len() > MOST_RUNS => Err(ForeignError::TooManyRuns),
            () if self.asked > MOST_RUNS_OF_ALL => Err(ForeignError::TooManyRunsOfAll),
            () => Ok(runs),
        }
    }

    /// The tests as series of `results`, where a figure that is 0 is left out.
    pub(crate) fn into_series(self, results: &mut Results) {
        for (test, runs) in self.tests {
            let large = runs.first().is_some_and(|run| run.block >= LARGE_BLOCK);
            let figure = |run: &Run| if large { run.bytes_per_second } else { run.operations_per_second };
            let (good, bad): (Vec<Run>, Vec<Run>) =
                runs.into_iter().partition(|run| figure(run).is_finite() && figure(run) > 0.0);
            for _ in bad {
                results.leave_out("runs whose figure is not above 0");
            }
            if !good.is_empty() {
                let metric = if large { Metric::BandwidthBytesPerSecond } else { Metric::OperationsPerSecond };
                let figures = good.iter().map(figure).collect();
                results.series.push(series(test, metric, figures, &good));
            }
        }
    }
}

fn series(test: Test, metric: Metric, figures: Vec<f64>, runs: &[Run]) -> Series {
    let seconds: f64 = runs.iter().map(|run| run.seconds).sum();
    Series {
        workload: test.workload,
        parameters: test.parameters,
        group: test.group.to_owned(),
        contestant: test.contestant,
        filesystem: String::new(),
        metric,
        runs: figures,
        deviation: None,
        operations: runs.iter().fold(0_u64, |sum, run| sum.saturating_add(run.operations)),
        bytes: runs.iter().fold(0_u64, |sum, run| sum.saturating_add(run.bytes)),
        seconds: if seconds.is_finite() { seconds } else { 0.0 },
        latency: match runs {
            [run] => run.latency,
            _ => None,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn test(number: usize) -> Test {
        Test { workload: number.to_string(), group: "read", ..Test::default() }
    }

    #[test]
    fn a_file_of_too_much_is_refused_before_memory_is_full() {
        let mut runs = Runs::default();
        let many = (0..MOST_SERIES + 2).find_map(|number| runs.of_test(test(number)).err());
        assert_eq!(many, Some(ForeignError::TooManySeries));
        let mut runs = Runs::default();
        let long = (0..MOST_RUNS + 2).find_map(|_| match runs.of_test(test(0)) {
            Ok(of) => {
                of.push(Run::default());
                None
            }
            Err(error) => Some(error),
        });
        assert_eq!(long, Some(ForeignError::TooManyRuns));
        let mut runs = Runs::default();
        let all = (0..MOST_RUNS_OF_ALL + 1).find_map(|_| runs.of_test(test(0)).err());
        assert_eq!(all, Some(ForeignError::TooManyRunsOfAll));
    }

    #[test]
    fn runs_whose_figure_is_0_are_left_out() {
        let mut results = Results::new("fio JSON");
        let mut runs = Runs::default();
        for rate in [0.0, 3.0, f64::NAN, f64::INFINITY, -1.0] {
            let run = Run { operations_per_second: rate, operations: u64::MAX, seconds: 2.0, ..Run::default() };
            runs.of_test(test(0)).unwrap().push(run);
        }
        runs.of_test(test(1)).unwrap().push(Run::default());
        runs.into_series(&mut results);
        let [one] = results.series.as_slice() else { panic!("{results:#?}") };
        assert_eq!((one.runs.as_slice(), one.operations, one.seconds), ([3.0].as_slice(), u64::MAX, 2.0));
        assert_eq!(results.left_out.get("runs whose figure is not above 0"), Some(&5));
    }
}
