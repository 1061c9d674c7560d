//! The load average of a window alone, without what there was before it.
//!
//! Every five seconds the kernel counts the tasks that run or wait in it, and takes 8 % of the way from the
//! load average of one minute to that number (`calc_load` of the kernel: a moving average with weights of
//! exp(-5/60)). So what a busy minute left behind shows for minutes. The numbers that were counted since can be
//! had back from two readings: with n counts between them, `last = first·e + mean·(1 - e)`, e = exp(-n·5/60),
//! where the mean has the kernel's own weights, the latest count the largest.

use model::timeline::TrialTimeline;

/// Seconds from one count to the next: 5 s and one tick, at 250 ticks a second (100 to 1000 are usual).
const COUNT_SECONDS: f64 = 5.004;
/// What a count leaves of the average: exp(-5/60) in the kernel's fixed point.
const KEEPS: f64 = 1884.0 / 2048.0;
/// A shorter course holds too few counts, in seconds: six.
const LEAST_SECONDS: f64 = 30.0;

/// Tasks that ran or waited in the kernel in the window, averaged as the kernel does for its mean of one minute;
/// `None`: nobody looked, or not for half a minute.
pub(crate) fn of_window(timeline: &TrialTimeline) -> Option<f64> {
    let seen = timeline.evenly();
    let (at, loads) = (&seen.measured_seconds, &seen.load_average);
    let points = seen.points();
    if points < 2 || loads.len() != points || at[points - 1] - at[0] < LEAST_SECONDS {
        return None;
    }
    // Two decimals are read: between two counts the number stands still, and where it changes one was made. Those
    // that changed nothing came before and after at the same distance.
    let changes: Vec<usize> = (1..points).filter(|&point| loads[point] != loads[point - 1]).collect();
    let (Some(&first), Some(&last)) = (changes.first(), changes.last()) else {
        // It tends to what it is.
        return Some(loads[0]);
    };
    let counts_in = |from: usize, until: usize| (at[until] - at[from]) / COUNT_SECONDS;
    let unchanged = counts_in(0, first).floor() + counts_in(last, points - 1).floor();
    let kept = KEEPS.powf(1.0 + counts_in(first, last).round() + unchanged);
    Some(((loads[points - 1] - loads[0] * kept) / (1.0 - kept)).max(0.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What /proc/loadavg shows once a second while so many tasks are counted, from this load average on and with
    /// the first count after so many seconds: the kernel's fixed point, 11 bits.
    fn shown(before: f64, seconds: u32, first: f64, tasks: impl Fn(f64) -> u64) -> TrialTimeline {
        let (mut average, mut due) = ((before * 2048.0) as u64, first);
        let mut timeline = TrialTimeline::default();
        for second in 1..=seconds {
            let now = f64::from(second);
            while due <= now {
                let active = tasks(due) * 2048;
                let sum = average * 1884 + active * (2048 - 1884);
                average = (sum + if active >= average { 2047 } else { 0 }) / 2048;
                due += COUNT_SECONDS;
            }
            // Rounded to hundredths, as the kernel prints it.
            let hundredths = (average * 100 + 1024) / 2048;
            timeline.seconds.push(now);
            timeline.measured_seconds.push(now);
            timeline.load_average.push(hundredths as f64 / 100.0);
        }
        timeline
    }

    #[test]
    fn what_was_before_the_window_does_not_count() {
        for tasks in [0, 1, 2, 3, 40, 900] {
            for before in [0.0, 1.5, 30.0, 700.0] {
                for first in [0.1, 2.4, 4.9] {
                    let found = of_window(&shown(before, 60, first, |_| tasks)).unwrap();
                    let tasks = tasks as f64;
                    assert!((found - tasks).abs() < 0.05 + 0.01 * tasks, "{tasks} after {before}: {found}");
                }
            }
        }
        // The number that is shown says something else for minutes.
        let busy = shown(700.0, 60, 2.0, |_| 1);
        assert!(*busy.load_average.last().unwrap() > 200.0);
    }

    #[test]
    fn a_load_that_changes_is_its_mean_with_the_kernels_weights() {
        for before in [0.0, 5.0, 80.0] {
            let found = of_window(&shown(before, 60, 1.0, |at| if at < 30.0 { 0 } else { 100 })).unwrap();
            // The later half weighs more: 1 / (1 + exp(-1/2)).
            assert!((found - 62.0).abs() < 4.0, "after {before}: {found}");
        }
    }

    #[test]
    fn what_nobody_saw_is_not_known() {
        assert_eq!(of_window(&shown(2.0, 20, 1.0, |_| 2)), None, "too short");
        assert_eq!(of_window(&TrialTimeline { load_average: Vec::new(), ..shown(2.0, 60, 1.0, |_| 2) }), None);
        assert_eq!(of_window(&TrialTimeline::default()), None);
        let idle = shown(0.0, 60, 1.0, |_| 0);
        assert_eq!(of_window(&idle), Some(0.0), "it never changes");
    }
}
