//! Steady state inside one trial: MSER-5 and the check of the SNIA (methods section 2).

use crate::estimate;
use crate::say::pair as said;
use model::Sentence;
use model::sentence::Value;

/// Slices below which a trial is too short for these checks.
pub const ENOUGH_SLICES: usize = 20;

/// What MSER-5 says about a series of slices.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Truncation {
    /// Leading slices that are warm-up; a multiple of 5.
    pub discard: usize,
    /// The cut lies past the middle: the series has not settled.
    pub past_the_middle: bool,
}

/// MSER-5 (White, Cobb and Spratt 2000): the cut d of the means of five that minimises the marginal
/// standard error Σ (y - ȳ)² / (n - d)² of what remains, sought in the first half as its authors
/// advise. A later cut counts as `past_the_middle` only where it leaves three means or more and a
/// tenth of the error: a few last means are alike by chance too often. `None` for fewer than 10
/// slices or slices that are no numbers.
pub fn mser5(slices: &[f64]) -> Option<Truncation> {
    if slices.iter().any(|slice| !slice.is_finite()) {
        return None;
    }
    let means: Vec<f64> = slices.chunks_exact(5).map(|five| five.iter().sum::<f64>() / 5.0).collect();
    if means.len() < 2 {
        return None;
    }
    let error = |cut: usize| {
        let rest = &means[cut..];
        let mean = rest.iter().sum::<f64>() / rest.len() as f64;
        rest.iter().map(|y| (y - mean).powi(2)).sum::<f64>() / (rest.len() as f64).powi(2)
    };
    // The first of equals: what need not be cut stays.
    let best = |from: usize, to: usize| (from..to).min_by(|&a, &b| error(a).total_cmp(&error(b)));
    let middle = means.len() / 2;
    let cut = best(0, middle + 1)?;
    let later = best(middle + 1, means.len().saturating_sub(2));
    let past_the_middle = later.is_some_and(|later| error(later) < 0.1 * error(cut));
    Some(Truncation { discard: 5 * cut, past_the_middle })
}

/// Why a series of five or more figures is not steady by the SNIA's Performance Test Specification
/// (range at most 20 % of the mean, excursion of the best-fit line at most 10 %); `None`: it is.
pub fn excursion(figures: &[f64]) -> Option<Sentence> {
    let of = estimate::moments(figures).filter(|of| of.mean.is_finite() && of.mean > 0.0)?;
    let (low, high) = figures.iter().fold((f64::MAX, f64::MIN), |(low, high), &at| (low.min(at), high.max(at)));
    let range = (high - low) / of.mean;
    if range > 0.20 {
        return Some(said::parts_range(Value::Number(100.0 * range, 0)));
    }
    let middle = (of.count as f64 - 1.0) / 2.0;
    let (products, squares) = figures.iter().enumerate().fold((0.0, 0.0), |(products, squares), (index, figure)| {
        let x = index as f64 - middle;
        (products + x * (figure - of.mean), squares + x * x)
    });
    let drift = products / squares * (of.count as f64 - 1.0) / of.mean;
    (drift.abs() > 0.10).then(|| said::drifts(Value::Number(100.0 * drift, 0)))
}

/// Why a trial's slices are not steady, as the end of a sentence; `None`: they are, or there are
/// fewer than [`ENOUGH_SLICES`]. What MSER-5 cuts is warm-up; the rest is judged as five equal parts.
pub fn not_steady(slices: &[f64]) -> Option<Sentence> {
    if slices.len() < ENOUGH_SLICES {
        return None;
    }
    let cut = mser5(slices)?;
    if cut.past_the_middle {
        return Some(said::still_changing(slices.len()));
    }
    let rest = &slices[cut.discard..];
    let parts: Vec<f64> = (0..5)
        .filter_map(|part| estimate::moments(&rest[part * rest.len() / 5..(part + 1) * rest.len() / 5]))
        .map(|of| of.mean)
        .collect();
    excursion(&parts)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::Normal;

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
        let flagged = (0..300).filter(|_| not_steady(&series(|_| 1.0)).is_some()).count();
        assert!(flagged <= 12, "{flagged} of 300 steady series are called unsteady");
        let warm_up = series(|x| if x < 0.25 { 0.3 } else { 1.0 });
        assert_eq!(mser5(&warm_up).map(|cut| cut.discard), Some(15));
        assert_eq!(not_steady(&warm_up), None, "warm-up is cut");
        assert!(not_steady(&series(|x| 1.0 + 0.5 * x)).is_some());
        assert!(not_steady(&series(|x| if x < 0.8 { 1.0 } else { 0.3 })).is_some());
    }

    #[test]
    fn the_bounds_of_the_snia_are_kept() {
        assert_eq!(excursion(&[100.0, 95.0, 105.0, 95.0, 104.0]), None);
        assert!(excursion(&[100.0, 88.0, 110.0, 100.0, 100.0]).unwrap().contains("range over 22 %"));
        assert!(excursion(&[94.0, 97.0, 100.0, 103.0, 106.0]).unwrap().contains("drifts by 12 %"));
    }

    #[test]
    fn short_and_broken_series_say_nothing() {
        assert_eq!(not_steady(&[1.0; 19]), None);
        assert_eq!(not_steady(&[f64::NAN; 30]), None);
        assert_eq!(mser5(&[1.0; 9]), None);
        assert_eq!(excursion(&[]), None);
        assert_eq!(not_steady(&[0.0; 30]), None);
    }
}
