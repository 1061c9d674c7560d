//! Steady state inside one trial: MSER-5 and the check of the SNIA (method 2.3).
//!
//! Looked at are the rates of windows of equal length in time order. Slices of a trial alternate with
//! those of other lanes, and each has a warm-up of its own that is never counted; what is sought here
//! is what lasts over several slices: warm-up at the trial's beginning, drift, a step. Noise is no change:
//! nothing is cut and nothing flagged that the windows' own scatter explains.

use crate::estimate::{self, median};
use crate::statements::pair as statement;
use crate::student;
use model::Sentence;
use model::sentence::Value;
use model::trial::Group;
use std::borrow::Cow;

/// Windows below which a trial is too short for these checks: four means of five.
pub const ENOUGH_WINDOWS: usize = 20;

/// Operations that a window holds on average, at least: smaller ones are put together. Chosen: one more
/// or less is then at most 10 % of a window and 2 % of a mean of five, under the bounds of the SNIA. With 20
/// a disk that does 500 requests of 1 MiB a second would have too few windows in six slices of 0.1 s.
const OPERATIONS_IN_A_WINDOW: f64 = 10.0;

/// A cut past the middle must leave so small a share of the error of the best one before it. Chosen: of
/// steady white noise under 1 % of series of 60 windows pass it and [`SHOWS_P`] together (the tests
/// simulate it); a step in the last third leaves under a hundredth.
const CLEARLY_LESS: f64 = 0.1;

/// How improbable a difference must be by chance before warm-up is cut or a change is flagged. Chosen: a
/// race of 20 rounds, three lanes and five results has 300 trials, of which three are then marked without
/// cause where the noise is beyond the bounds of the SNIA.
const SHOWS_P: f64 = 0.01;

/// SNIA Solid State Storage Performance Test Specification: the range of five rounds is at most 20 % of
/// their mean, and the excursion of the best-fit line through them at most 10 %.
const RANGE: f64 = 0.20;
const EXCURSION: f64 = 0.10;
const PARTS: usize = 5;

/// What MSER-5 says about a series of windows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Truncation {
    /// Leading windows that are warm-up; a multiple of 5.
    pub discard: usize,
    /// The cut lies past the middle: the series has not settled.
    pub past_the_middle: bool,
}

/// What a trial is without its warm-up.
#[derive(Debug, Clone, PartialEq)]
pub struct Settled {
    /// The share of the trial that is warm-up, at most a half.
    pub cut: f64,
    /// The figure after the warm-up as a share of the figure of all: the median of the slices' rates, of
    /// one slice its rate.
    pub rate: f64,
    /// The mean of its windows as a share of the mean of all.
    pub mean: f64,
    /// It was still changing past its middle: more of it is needed.
    pub past_the_middle: bool,
    /// Why the rest is not steady, as the end of a sentence; `None`: it is.
    pub unsteady: Option<Sentence>,
}

/// A trial's group without its warm-up; `None` where it is too short to tell.
pub fn settled(of: &Group) -> Option<Settled> {
    let slices = &of.slices_operations_per_second;
    match of.windows_operations_per_second.is_empty() {
        // Work that runs whole, and records of before windows were kept.
        true => judge(slices, 1, slices),
        false => settled_windows(&of.windows_operations_per_second, of.windows_seconds, slices),
    }
}

/// The same of windows as they were measured, and of the slices that they lie in.
pub fn settled_windows(windows: &[f64], window_seconds: f64, slices: &[f64]) -> Option<Settled> {
    judge(windows, put_together(windows, window_seconds)?, slices)
}

/// How many windows hold [`OPERATIONS_IN_A_WINDOW`] or more together on average; `None`: all do not.
fn put_together(windows: &[f64], seconds: f64) -> Option<usize> {
    let operations = estimate::moments(windows).map_or(0.0, |of| of.mean * seconds);
    let together = (OPERATIONS_IN_A_WINDOW / operations).ceil().max(1.0);
    (together <= windows.len() as f64).then_some(together as usize)
}

/// So many windows put together; what is left over at the end is left out.
fn in_windows(windows: &[f64], together: usize) -> Cow<'_, [f64]> {
    match together {
        0 | 1 => Cow::Borrowed(windows),
        _ => {
            Cow::Owned(windows.chunks_exact(together).map(|some| some.iter().sum::<f64>() / together as f64).collect())
        }
    }
}

/// Judges windows as they were measured, so many `together`, in these slices; none stands for one slice.
fn judge(measured: &[f64], together: usize, slices: &[f64]) -> Option<Settled> {
    let windows = &in_windows(measured, together)[..];
    if windows.len() < ENOUGH_WINDOWS {
        return None;
    }
    let truncation = mser5(windows)?;
    let means = fives(windows);
    let cut = truncation.discard / 5;
    let discard = if cut > 0 && lies_apart(&means, cut) { truncation.discard } else { 0 };
    estimate::moments(windows).filter(|of| of.mean > 0.0)?;
    let rate = match discard {
        0 => 1.0,
        _ => rate_after(measured, discard * together, slices.len()),
    };
    let mean = match discard {
        0 => 1.0,
        _ => mean_after(measured, discard * together),
    };
    let past_the_middle = truncation.past_the_middle;
    let unsteady = match past_the_middle {
        true => Some(statement::still_changing(windows.len())),
        false => changes(&units(&windows[discard..], slices, discard as f64 / windows.len() as f64)),
    };
    Some(Settled { cut: discard as f64 / windows.len() as f64, rate, mean, past_the_middle, unsteady })
}

/// The figure without the first windows as a share of the figure of all, both made as a trial's figure is:
/// the median of the slices' rates, where a slice's rate is the mean of its windows. A median of windows
/// would be no share of that, as windows within a slice may be skewed. 1 where the middle slice did nothing.
fn rate_after(windows: &[f64], discard: usize, slices: usize) -> f64 {
    let count = slices.clamp(1, windows.len().max(1));
    let figure = |from: usize| {
        let edge = |slice: usize| (slice * windows.len() / count).max(from);
        let rates = (0..count).filter_map(|slice| estimate::moments(&windows[edge(slice)..edge(slice + 1)]));
        median(rates.map(|of| of.mean))
    };
    match (figure(discard), figure(0)) {
        (Some(after), Some(of_all)) if of_all > 0.0 => after / of_all,
        _ => 1.0,
    }
}

/// The mean without the first windows as a share of the mean of all. Windows are of equal length, so that a stall counts
/// for as long as it lasts.
fn mean_after(windows: &[f64], discard: usize) -> f64 {
    match (estimate::moments(windows.get(discard..).unwrap_or_default()), estimate::moments(windows)) {
        (Some(after), Some(all)) if all.mean > 0.0 => after.mean / all.mean,
        _ => 1.0,
    }
}

/// What noise comes in: the slices after the warm-up, because bursts hit all of one; ten blocks where
/// there are fewer than five slices.
fn units(windows: &[f64], slices: &[f64], cut: f64) -> Vec<f64> {
    let rest = &slices[((cut * slices.len() as f64).ceil() as usize).min(slices.len())..];
    if rest.len() >= PARTS {
        return rest.to_vec();
    }
    parts(windows, 2 * PARTS)
}

/// Means of so many parts of equal length.
fn parts(figures: &[f64], count: usize) -> Vec<f64> {
    let part = |at: usize| &figures[at * figures.len() / count..(at + 1) * figures.len() / count];
    (0..count).filter_map(|at| estimate::moments(part(at))).map(|of| of.mean).collect()
}

fn fives(windows: &[f64]) -> Vec<f64> {
    windows.chunks_exact(5).map(|five| five.iter().sum::<f64>() / 5.0).collect()
}

/// MSER-5 (White, Cobb and Spratt 2000): the cut d of the means of five that minimises the marginal
/// standard error Σ (y - ȳ)² / (n - d)² of what remains, sought in the first half as its authors
/// advise. A later cut counts as `past_the_middle` only where it leaves three means or more, a
/// tenth of the error, and a difference beyond noise and the SNIA's 10 %: a few last means are alike by
/// chance too often. `None` for fewer than 10 windows or windows that are no numbers.
pub fn mser5(windows: &[f64]) -> Option<Truncation> {
    if windows.iter().any(|window| !window.is_finite()) {
        return None;
    }
    let means = fives(windows);
    if means.len() < 2 {
        return None;
    }
    let errors = marginal_errors(&means);
    // The first of equals: what need not be cut stays.
    let best = |from: usize, to: usize| (from..to).min_by(|&a, &b| errors[a].total_cmp(&errors[b]));
    let middle = means.len() / 2;
    let cut = best(0, middle + 1)?;
    let later = best(middle + 1, means.len().saturating_sub(2));
    let past_the_middle = later.is_some_and(|later| {
        let mean = |of: &[f64]| of.iter().sum::<f64>() / of.len() as f64;
        let (before, after) = (mean(&means[..later]), mean(&means[later..]));
        errors[later] < CLEARLY_LESS * errors[cut]
            && (before - after).abs() > EXCURSION * mean(&means)
            && differs(&means, later)
    });
    Some(Truncation { discard: 5 * cut, past_the_middle })
}

/// The marginal standard error of what each cut leaves, by Welford's sums from the end.
fn marginal_errors(means: &[f64]) -> Vec<f64> {
    let (mut count, mut mean, mut squares) = (0.0, 0.0, 0.0);
    let mut errors: Vec<f64> = means
        .iter()
        .rev()
        .map(|y| {
            count += 1.0;
            let before = y - mean;
            mean += before / count;
            squares += before * (y - mean);
            squares / (count * count)
        })
        .collect();
    errors.reverse();
    errors
}

/// Whether any figure before a place lies further from the mean of those from it on than their scatter
/// explains (Student's t for a new observation, p shared among those before). Their own mean would tell
/// less: MSER-5 often cuts some steady means behind the warm-up too.
fn lies_apart(figures: &[f64], place: usize) -> bool {
    let Some(rest) = estimate::moments(&figures[place..]).filter(|of| of.count >= 2) else { return false };
    let count = rest.count as f64;
    let error = rest.deviation * (1.0 + 1.0 / count).sqrt();
    let furthest = figures[..place].iter().map(|figure| (figure - rest.mean).abs()).fold(0.0, f64::max);
    beyond(furthest, error, SHOWS_P / place as f64, count - 1.0)
}

/// Whether the figures before a place differ from those from it on by more than their scatter within
/// both explains (Student's t).
fn differs(figures: &[f64], place: usize) -> bool {
    let (Some(before), Some(after)) = (estimate::moments(&figures[..place]), estimate::moments(&figures[place..]))
    else {
        return false;
    };
    let degrees = (before.count + after.count) as f64 - 2.0;
    let within = |of: estimate::Moments| (of.count as f64 - 1.0) * of.deviation * of.deviation;
    let variance = (within(before) + within(after)) / degrees;
    let error = (variance * (1.0 / before.count as f64 + 1.0 / after.count as f64)).sqrt();
    degrees >= 1.0 && beyond(before.mean - after.mean, error, SHOWS_P, degrees)
}

/// Whether a difference is improbable by chance; `p` is at most [`SHOWS_P`].
fn beyond(difference: f64, error: f64, p: f64, degrees: f64) -> bool {
    // Student's quantiles lie beyond the normal one, and most differences do not reach that.
    difference.abs() > error * NORMAL_QUANTILE && difference.abs() > error * student::two_sided_quantile(p, degrees)
}

/// The two-sided quantile of the normal distribution at [`SHOWS_P`].
const NORMAL_QUANTILE: f64 = 2.5758;

/// Why figures in time order are not steady: they leave the bounds of the SNIA by more than their own
/// noise explains.
fn changes(units: &[f64]) -> Option<Sentence> {
    let five = parts(units, PARTS);
    if five.len() < PARTS {
        return None;
    }
    let beyond_the_bounds = bounds(&five)?;
    if beyond_the_bounds.range > RANGE && range_shows(units, &five) {
        return Some(statement::parts_range(Value::Number(100.0 * beyond_the_bounds.range, 0)));
    }
    let excursion = beyond_the_bounds.excursion;
    let percent = Value::Number(100.0 * excursion.abs(), 0);
    let drifts = || if excursion > 0.0 { statement::rises(percent) } else { statement::falls(percent) };
    (excursion.abs() > EXCURSION && line_shows(units)).then(drifts)
}

/// The figures that the SNIA bounds.
struct Bounds {
    /// (largest - smallest) / mean.
    range: f64,
    /// What the best-fit line changes from the first to the last, as a share of the mean.
    excursion: f64,
}

/// `None` where the figures are no numbers or their mean is not above zero.
fn bounds(figures: &[f64]) -> Option<Bounds> {
    let of = estimate::moments(figures).filter(|of| of.mean.is_finite() && of.mean > 0.0)?;
    let (low, high) = figures.iter().fold((f64::MAX, f64::MIN), |(low, high), &at| (low.min(at), high.max(at)));
    let excursion = Line::through(figures)?.slope * (of.count as f64 - 1.0) / of.mean;
    Some(Bounds { range: (high - low) / of.mean, excursion })
}

/// A best-fit line (least squares).
struct Line {
    slope: f64,
    /// Standard error of the slope; 0 where every point lies on it.
    error: f64,
}

impl Line {
    fn through(figures: &[f64]) -> Option<Line> {
        let of = estimate::moments(figures).filter(|of| of.count >= 3)?;
        let middle = (of.count as f64 - 1.0) / 2.0;
        let points = || figures.iter().enumerate().map(|(at, figure)| (at as f64 - middle, figure - of.mean));
        let squares: f64 = points().map(|(x, _)| x * x).sum();
        let slope = points().map(|(x, y)| x * y).sum::<f64>() / squares;
        let residual: f64 = points().map(|(x, y)| (y - slope * x).powi(2)).sum();
        Some(Line { slope, error: (residual / (of.count as f64 - 2.0) / squares).sqrt() })
    }
}

fn line_shows(units: &[f64]) -> bool {
    Line::through(units).is_some_and(|line| beyond(line.slope, line.error, SHOWS_P, units.len() as f64 - 2.0))
}

/// Whether some two parts differ by more than the noise from unit to unit explains. Its variance is
/// half the mean square successive difference, which drift and slow change hardly touch, with
/// 2(n-1)²/(3n-4) degrees (von Neumann, Kent, Bellinson and Hart 1941); ten pairs of parts share p.
fn range_shows(units: &[f64], five: &[f64]) -> bool {
    let n = units.len() as f64;
    let squares: f64 = units.windows(2).map(|two| (two[1] - two[0]).powi(2)).sum();
    let variance = squares / (2.0 * (n - 1.0));
    let error = (variance * 2.0 * PARTS as f64 / n).sqrt();
    let (low, high) = five.iter().fold((f64::MAX, f64::MIN), |(low, high), &at| (low.min(at), high.max(at)));
    let pairs = (PARTS * (PARTS - 1) / 2) as f64;
    beyond(high - low, error, SHOWS_P / pairs, 2.0 * (n - 1.0).powi(2) / (3.0 * n - 4.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::{Normal, correlated};

    fn of_windows(windows: &[f64]) -> Settled {
        judge(windows, 1, windows).unwrap()
    }

    /// Six slices of ten windows; a burst hits all windows of a slice alike.
    fn trial(noise: &mut Normal, shape: fn(f64) -> f64, within: f64, between: f64) -> (Vec<f64>, Vec<f64>) {
        let mut windows = Vec::new();
        for slice in 0..6 {
            let burst = 1.0 + between * noise.next();
            for window in 0..10 {
                let at = f64::from(10 * slice + window) / 60.0;
                windows.push((1000.0 * shape(at) * burst * (1.0 + within * noise.next())).max(0.0));
            }
        }
        let slices = windows.chunks(10).map(|slice| slice.iter().sum::<f64>() / 10.0).collect();
        (windows, slices)
    }

    #[test]
    fn mser5_cuts_the_warm_up_of_a_known_series() {
        // Means of five: 20, 14, 10, 11, 10, 11, 10, 11. Σ(y-ȳ)²/(8-d)²: 1.29, 0.245, 0.0417 at the
        // cut of two means, 0.048, 0.0625, …: the minimum leaves six means.
        let means = [20.0, 14.0, 10.0, 11.0, 10.0, 11.0, 10.0, 11.0];
        let slices: Vec<f64> =
            means.iter().flat_map(|&mean| [mean - 1.0, mean + 1.0, mean, mean - 2.0, mean + 2.0]).collect();
        assert_eq!(mser5(&slices), Some(Truncation { discard: 10, past_the_middle: false }));
        assert_eq!(mser5(&[7.0; 40]), Some(Truncation { discard: 0, past_the_middle: false }));
    }

    #[test]
    fn steady_noise_is_steady_and_a_drift_or_a_late_step_is_not() {
        let mut noise = Normal::new(3);
        let mut series = |shape: fn(f64) -> f64| -> Vec<f64> {
            (0..60).map(|at| 1000.0 * shape(f64::from(at) / 60.0) * (1.0 + 0.03 * noise.next())).collect()
        };
        let flagged = (0..300).filter(|_| of_windows(&series(|_| 1.0)).unsteady.is_some()).count();
        assert!(flagged <= 3, "{flagged} of 300 steady series are called unsteady");
        let warm_up = series(|x| if x < 0.25 { 0.3 } else { 1.0 });
        assert_eq!(mser5(&warm_up).map(|cut| cut.discard), Some(15));
        let settled = of_windows(&warm_up);
        assert_eq!((settled.cut, settled.unsteady), (0.25, None), "warm-up is cut");
        assert!(of_windows(&series(|x| 1.0 + 0.5 * x)).unsteady.is_some());
        assert!(of_windows(&series(|x| if x < 0.8 { 1.0 } else { 0.3 })).unsteady.is_some());
    }

    #[test]
    fn noise_of_windows_and_of_slices_is_neither_cut_nor_flagged() {
        let mut noise = Normal::new(11);
        for (within, between) in [(0.1, 0.0), (0.3, 0.0), (0.1, 0.1), (0.1, 0.3)] {
            let (mut cut, mut flagged, mut changed) = (0, 0, 0.0);
            for _ in 0..500 {
                let (windows, slices) = trial(&mut noise, |_| 1.0, within, between);
                let settled = judge(&windows, 1, &slices).unwrap();
                cut += usize::from(settled.cut > 0.0);
                flagged += usize::from(settled.unsteady.is_some());
                changed += (settled.rate - 1.0).abs() / 500.0;
            }
            eprintln!("{within} {between}: {cut} cut, {flagged} flagged, changed by {changed:.4}");
            assert!(flagged <= 20, "{flagged} of 500 trials with noise {within}, {between} are called unsteady");
            assert!(changed < 0.02, "noise {within}, {between} changes figures by {changed}");
        }
    }

    #[test]
    fn warm_up_over_slices_is_cut_although_they_are_noisy() {
        let mut noise = Normal::new(12);
        let slow: fn(f64) -> f64 = |x| if x < 0.17 { 0.5 } else { 1.0 };
        let fast: fn(f64) -> f64 = |x| if x < 0.34 { 1.6 } else { 1.0 };
        for shape in [slow, fast] {
            let found = (0..100)
                .filter(|_| {
                    let (windows, slices) = trial(&mut noise, shape, 0.1, 0.05);
                    judge(&windows, 1, &slices).unwrap().cut > 0.1
                })
                .count();
            assert!(found >= 95, "{found} of 100");
        }
        let late = (0..100)
            .filter(|_| {
                let (windows, slices) = trial(&mut noise, |x| if x < 0.67 { 1.0 } else { 0.5 }, 0.1, 0.05);
                judge(&windows, 1, &slices).unwrap().unsteady.is_some()
            })
            .count();
        assert!(late >= 80, "{late} of 100 steps in the last third are seen");
    }

    /// Rates of a burst and a pause: 1000 on average, and the median is half of it.
    const SKEWED: [f64; 5] = [2000.0, 500.0, 500.0, 1500.0, 500.0];

    fn skewed_after(warm_up: f64, count: usize, all: usize) -> Vec<f64> {
        (0..all).map(|at| if at < count { warm_up } else { SKEWED[at % 5] }).collect()
    }

    #[test]
    fn windows_that_are_skewed_within_a_slice_leave_the_trial_its_rate() {
        let windows = skewed_after(1500.0, 25, 60);
        let slices: Vec<f64> = windows.chunks(10).map(|slice| slice.iter().sum::<f64>() / 10.0).collect();
        let settled = judge(&windows, 1, &slices).unwrap();
        assert!((settled.cut - 25.0 / 60.0).abs() < 1e-9, "{settled:?}");
        // A trial's figure is the median of its slices: 1125 with the warm-up, 1000 without.
        let figure = median(slices.iter().copied()).unwrap() * settled.rate;
        assert!((figure - 1000.0).abs() < 1e-6, "{figure}");
        // Where they are put together, what is cut is still counted in windows as measured.
        let double: Vec<f64> = windows.iter().flat_map(|&rate| [rate, rate]).collect();
        assert!((judge(&double, 2, &slices).unwrap().rate - settled.rate).abs() < 1e-9);
    }

    #[test]
    fn a_single_long_slice_is_its_mean_before_and_after_the_cut() {
        let windows = skewed_after(100.0, 30, 120);
        let figure = estimate::moments(&windows).unwrap().mean;
        for slices in [&[][..], &[figure]] {
            let settled = judge(&windows, 1, slices).unwrap();
            assert!((figure * settled.rate - 1000.0).abs() < 1e-6, "{figure} {settled:?}");
        }
    }

    #[test]
    fn a_long_window_that_drifts_is_not_steady_and_one_with_bursts_is() {
        // A minute in half seconds: bursts of seconds are correlated noise.
        let mut noise = Normal::new(13);
        let mut minute = |drift: f64| -> Settled {
            let noise = correlated(&mut noise, 120, 0.5);
            let rate = |(at, noise): (usize, &f64)| 1000.0 * (1.0 + drift * at as f64 / 120.0) * (1.0 + 0.1 * noise);
            judge(&noise.iter().enumerate().map(rate).collect::<Vec<f64>>(), 1, &[]).unwrap()
        };
        let steady = (0..200).filter(|_| minute(0.0).unsteady.is_none()).count();
        assert!(steady >= 190, "{steady} of 200");
        assert!((0..20).all(|_| minute(2.0).unsteady.is_some()));
    }

    #[test]
    fn windows_of_few_operations_are_put_together() {
        // Four operations in each: three windows become one.
        let slow: Vec<f64> = (0..70).map(|at| if at % 3 == 0 { 200.0 } else { 140.0 }).collect();
        assert_eq!(put_together(&slow, 0.025), Some(3));
        assert_eq!(in_windows(&slow, 3).len(), 23);
        assert!(in_windows(&slow, 3).iter().all(|&rate| (rate - 160.0).abs() < 1e-9));
        assert_eq!(put_together(&slow, 0.25), Some(1));
        assert_eq!(put_together(&[0.0; 30], 0.025), None, "nothing was done");
        let group = Group {
            windows_operations_per_second: slow,
            windows_seconds: 0.025,
            slices_operations_per_second: vec![160.0; 6],
            ..Group::default()
        };
        assert_eq!(settled(&group).unwrap().unsteady, None);
        let slower = Group { windows_seconds: 0.02, ..group };
        assert_eq!(settled(&slower), None, "17 windows of four are too few");
    }

    #[test]
    fn the_bounds_are_those_of_the_snia() {
        let of = bounds(&[100.0, 88.0, 110.0, 100.0, 100.0]).unwrap();
        assert!((of.range - 0.2209).abs() < 1e-3, "{}", of.range);
        let of = bounds(&[94.0, 97.0, 100.0, 103.0, 106.0]).unwrap();
        assert!((of.excursion - 0.12).abs() < 1e-9 && (of.range - 0.12).abs() < 1e-9);
        // A line without noise is a drift; within the bounds it is none.
        let drifts = |figures: &[f64]| String::from(changes(figures).unwrap());
        assert_eq!(drifts(&[94.0, 97.0, 100.0, 103.0, 106.0]), "it rises by 12 % of its mean from start to end");
        assert_eq!(drifts(&[106.0, 103.0, 100.0, 97.0, 94.0]), "it falls by 12 % of its mean from start to end");
        assert_eq!(changes(&[96.0, 98.0, 100.0, 102.0, 104.0]), None);
        assert!(
            changes(&[130.0, 130.0, 70.0, 70.0, 70.0, 70.0, 130.0, 130.0, 130.0, 130.0]).is_none(),
            "few are noise"
        );
    }

    #[test]
    fn short_and_broken_series_say_nothing() {
        assert_eq!(judge(&[1.0; 19], 1, &[]), None);
        assert_eq!(judge(&[f64::NAN; 30], 1, &[]), None);
        assert_eq!(mser5(&[1.0; 9]), None);
        assert!(bounds(&[]).is_none() && changes(&[]).is_none());
        assert_eq!(judge(&[0.0; 30], 1, &[]), None);
    }
}
