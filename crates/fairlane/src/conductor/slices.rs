//! Steady work in slices that alternate between lanes, until it has settled.

use super::round::Runner;
use super::trial_run::TrialRun;
use crate::failure::Failure;
use model::agent::Request;
use model::throttle::slice_of_all;
use model::trial::Group;
use model::workload::{Io, Workload};
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// Seconds of each slice that run before its window: the queue fills, the lane wakes.
pub(super) const WARM_UP_SECONDS: f64 = 0.03;

/// So often the slices of a round are made once more where a lane has not settled by its middle; after
/// that it is marked (method 2.3).
pub const EXTENSIONS: usize = 3;

/// How long a round may be made where a lane has not settled, and how much longer it was made.
#[derive(Debug, Clone, Copy, Default)]
pub struct Longer {
    /// When the time for that ends: the budget's, and of a screening what its planned rounds leave of it; `None`: never.
    pub until: Option<Instant>,
    /// Seconds beyond the slices that were planned.
    pub seconds: f64,
}

impl Longer {
    /// Whether so many more seconds fit, from this moment on.
    fn fits(&self, seconds: f64, now: Instant) -> bool {
        self.until.is_none_or(|until| now + Duration::from_secs_f64(seconds) <= until)
    }
}

/// What one lane's slices of a round have shown so far.
#[derive(Debug, Default)]
struct Shown(BTreeMap<String, RateSeries>);

/// One group's rates in time order.
#[derive(Debug, Default)]
struct RateSeries {
    windows: Vec<f64>,
    window_seconds: f64,
    slices: Vec<f64>,
}

impl Shown {
    fn add(&mut self, groups: &[Group]) {
        for group in groups {
            let series = self.0.entry(group.name.clone()).or_default();
            series.windows.extend(&group.windows_operations_per_second);
            series.window_seconds = group.windows_seconds;
            series.slices.extend(group.metrics.get("operations_per_second"));
        }
    }

    /// Whether MSER-5 would cut more than half of it.
    fn is_changing(&self) -> bool {
        self.0.values().any(|series| {
            stats::steady::settled_windows(&series.windows, series.window_seconds, &series.slices)
                .is_some_and(|settled| settled.past_the_middle)
        })
    }
}

impl Runner<'_> {
    /// Seconds of warm-up and of the window of a slice, the same in every lane.
    pub(super) fn slice_seconds(&self, io: &Io) -> (f64, f64) {
        if io.wear_out {
            // What is done before the window would be missing from the count that all come to.
            return (0.0, io.slice_seconds);
        }
        let throttled = slice_of_all(&self.throttles, io);
        throttled.unwrap_or_else(|| (WARM_UP_SECONDS.min(io.slice_seconds), io.slice_seconds))
    }

    /// Steady work: all lanes are mounted, and slices alternate between them, so that a burst of
    /// noise hits all alike. Where one of them is still changing, all go on, as long as there is time for it.
    /// Lanes that take turns on one device do not: how much is measured must not depend on the lane. A
    /// single slice is an article's own method, and no more is made of it.
    pub(super) fn steady(
        &mut self,
        workload: &Workload,
        io: &Io,
        trial_runs: &mut [TrialRun],
        seed: u64,
        threads: bool,
    ) -> Result<(), Failure> {
        for trial_run in trial_runs.iter_mut() {
            self.open(workload, trial_run, seed)?;
        }
        self.quiet(trial_runs);
        self.hold(trial_runs)?;
        let mut shown: Vec<Shown> = trial_runs.iter().map(|_| Shown::default()).collect();
        let slices = io.slices as usize;
        for extension in 0..=EXTENSIONS {
            let begun = self.clock.now();
            for slice in extension * slices..(extension + 1) * slices {
                self.slice_of_each(io, trial_runs, &mut shown, (slice, threads))?;
            }
            let took = self.clock.since(begun).as_secs_f64();
            if extension > 0 {
                self.longer.seconds += took;
            }
            let changing =
                trial_runs.iter().zip(&shown).any(|(trial_run, shown)| trial_run.sound() && shown.is_changing());
            let fits = self.longer.fits(took, self.clock.now());
            if slices == 1 || !changing || !self.lanes.side_by_side() || !fits {
                break;
            }
        }
        for trial_run in trial_runs.iter_mut() {
            self.finish(trial_run)?;
        }
        Ok(())
    }

    /// One slice of every lane. The order rotates from slice to slice: no lane always follows the same
    /// neighbour.
    fn slice_of_each(
        &mut self,
        io: &Io,
        trial_runs: &mut [TrialRun],
        shown: &mut [Shown],
        (slice, threads): (usize, bool),
    ) -> Result<(), Failure> {
        let (warm_up_seconds, seconds) = self.slice_seconds(io);
        let lanes = trial_runs.len();
        for turn in 0..lanes {
            let at = (slice + turn) % lanes;
            let shown = &mut shown[at];
            self.step(&mut trial_runs[at], "measure", |runner, trial_run| {
                let begun = runner.clock.now();
                let request = Request::Slice { warm_up_seconds, seconds, threads: threads && slice == 0 };
                let groups = runner.measured(trial_run, &request)?;
                shown.add(&groups);
                trial_run.charge("measure", runner.clock.since(begun).as_secs_f64());
                Ok(())
            })?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The groups of a slice of ten windows.
    fn slice(rate: f64, number: usize) -> Vec<Group> {
        let windows = (0..10).map(|window| rate * (1.0 + 0.01 * ((7 * (10 * number + window) % 11) as f64 - 5.0)));
        let group = Group {
            name: "write".to_owned(),
            windows_operations_per_second: windows.collect(),
            windows_seconds: 0.025,
            metrics: [("operations_per_second".to_owned(), rate)].into(),
            ..Group::default()
        };
        vec![group]
    }

    #[test]
    fn a_round_is_made_longer_while_the_budget_lasts() {
        let now = Instant::now();
        assert!(Longer::default().fits(1e6, now), "there is none");
        let until = |seconds| Longer { until: Some(now + Duration::from_secs(seconds)), seconds: 0.0 };
        assert!(until(3600).fits(60.0, now) && !until(3600).fits(7200.0, now) && !until(0).fits(0.001, now));
    }

    #[test]
    fn a_lane_that_changed_late_is_changing_until_the_rest_is_longer_than_that() {
        let mut shown = Shown::default();
        (0..4).for_each(|number| shown.add(&slice(1000.0, number)));
        assert!(!shown.is_changing(), "steady");
        (4..6).for_each(|number| shown.add(&slice(400.0, number)));
        assert!(shown.is_changing(), "two thirds would have to be cut");
        (6..12).for_each(|number| shown.add(&slice(400.0, number)));
        assert!(!shown.is_changing(), "a third is warm-up");
        assert!(!Shown::default().is_changing());
    }
}
