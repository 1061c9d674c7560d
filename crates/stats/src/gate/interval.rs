//! The interval of one comparison of a gate, what it means, and how many replicates would narrow it.
//!
//! All intervals of a gate hold together with 95 %: each is made at a two-sided p of 0.05 by the
//! number of comparisons (Bonferroni's inequality; Dunn 1961). That holds however the comparisons
//! depend on each other, and those of one boot do. Holm's procedure (1979) rejects a little more and
//! leaves no plain intervals, which the verdicts here are made of. A gate fails on one side of an
//! interval only, so of candidates that are just as slow as allowed at most 2.5 % fail.

use crate::estimate::{self, Moments};
use crate::student;
use model::gate::GateVerdict;

/// Probability that any interval of a gate misses its true value.
pub const FAMILY_ERROR: f64 = 0.05;

/// Replicates a side beyond which a forecast is no help to anybody. A choice: 100 boots of each side at ten
/// minutes of racing are a day and a half, and quietening the machine by half saves three of four.
const MOST_REPLICATES: u32 = 100;

/// The two-sided p of each of so many comparisons.
pub fn p_of_each(comparisons: usize) -> f64 {
    FAMILY_ERROR / comparisons.max(1) as f64
}

/// How far a candidate may be from its baseline, on logarithms of the gain (above zero it does better).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Margin {
    /// Below this it is slower than allowed; not above zero.
    pub slower: f64,
    /// Above this it is faster by more than the margin; not below zero.
    pub faster: f64,
}

impl Margin {
    /// The margin of a share such as 0.05: of rates 0.95 and 1.05 of the baseline's are the edges, of
    /// times 1.05 and 0.95, as people say it. `share` in 0..1.
    pub fn new(share: f64, higher_is_better: bool) -> Margin {
        let share = share.clamp(0.0, 0.99);
        let (less, more) = ((-share).ln_1p(), share.ln_1p());
        match higher_is_better {
            true => Margin { slower: less, faster: more },
            false => Margin { slower: -more, faster: -less },
        }
    }

    /// What an interval means.
    pub fn verdict(&self, interval: &Interval) -> GateVerdict {
        let (low, high) = (interval.gain - interval.half, interval.gain + interval.half);
        if !low.is_finite() || !high.is_finite() {
            GateVerdict::Inconclusive
        } else if high < self.slower {
            GateVerdict::Slower
        } else if low > self.faster {
            GateVerdict::Faster
        } else if low > self.slower {
            GateVerdict::Pass
        } else {
            GateVerdict::Inconclusive
        }
    }
}

/// The interval of one comparison: gain ± half on logarithms.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interval {
    /// Mean gain of the candidate: the logarithm of candidate by baseline, of times turned.
    pub gain: f64,
    /// Half-width.
    pub half: f64,
    /// What the half-width comes of.
    spread: Spread,
}

/// Deviations that a forecast starts from.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Spread {
    /// Standard deviations of the two sides and their replicates.
    Unpaired([(f64, usize); 2]),
    /// Standard deviation of the differences, and their number.
    Paired(f64, usize),
}

/// The interval of two independent samples of logarithms (Welch 1947), at a two-sided p; `None` with
/// fewer than two on a side.
///
/// The degrees of freedom are at most those of two sides of the smaller one's size. Satterthwaite's
/// estimate believes the larger side too much so far out in the tails: of twelve comparisons of 3
/// with 10 replicates 6 % of gates had a false `slower` by it, 11 % where the smaller side scattered
/// twice as much; with the cap 1 % and 4 % have (simulated). Sides of equal size are not touched.
pub fn unpaired(baseline: &[f64], candidate: &[f64], p: f64) -> Option<Interval> {
    let mut of = estimate::welch(baseline, candidate)?;
    let most = 2.0 * (baseline.len().min(candidate.len()) - 1) as f64;
    of.degrees = of.degrees.map(|degrees| degrees.min(most));
    let side = |figures: &[f64]| estimate::moments(figures).map(|of| (of.deviation, of.count));
    let spread = Spread::Unpaired([side(baseline)?, side(candidate)?]);
    Some(Interval { gain: of.difference, half: of.half_width(p), spread })
}

/// The interval of differences of pairs, at a two-sided p; `None` for fewer than two.
pub fn paired(differences: &[f64], p: f64) -> Option<Interval> {
    let Moments { count, mean, deviation } = estimate::moments(differences).filter(|of| of.count >= 2)?;
    let error = deviation / (count as f64).sqrt();
    let half = if error > 0.0 { student::two_sided_quantile(p, (count - 1) as f64) * error } else { 0.0 };
    (mean.is_finite() && half.is_finite()).then_some(Interval {
        gain: mean,
        half,
        spread: Spread::Paired(deviation, count),
    })
}

impl Interval {
    /// How many more replicates of each side would bring the half-width to `target` (on logarithms)
    /// with a probability of about 80 %, from the deviation seen so far; `None` where the target is
    /// reached, fewer than three replicates show the deviation, or over 100 would be needed.
    pub fn more_for(&self, target: f64, p: f64) -> Option<u32> {
        if self.half <= target {
            return None;
        }
        let done = match self.spread {
            Spread::Unpaired([(_, a), (_, b)]) => a.min(b),
            Spread::Paired(_, count) => count,
        };
        if done < 3 {
            return None;
        }
        let done = done as u32;
        let enough = (done + 1..=MOST_REPLICATES).find(|&replicates| self.half_at(f64::from(replicates), p) <= target);
        enough.map(|replicates| replicates - done)
    }

    /// The half-width that so many replicates of each side stay under in four of five gates.
    fn half_at(&self, replicates: f64, p: f64) -> f64 {
        let (variance, degrees) = match self.spread {
            Spread::Unpaired([(a, _), (b, _)]) => {
                let (a, b) = (a * a, b * b);
                // Satterthwaite's degrees of freedom of equally many replicates.
                (a + b, (replicates - 1.0) * (a + b).powi(2) / (a * a + b * b))
            }
            Spread::Paired(deviation, _) => (deviation * deviation, replicates - 1.0),
        };
        let unlucky = four_of_five(degrees);
        student::two_sided_quantile(p, degrees) * (variance * unlucky / replicates).sqrt()
    }
}

/// What four of five sample variances stay under, as a multiple of the true one: the 80th percentile
/// of chi-squared by its degrees of freedom (the approximation of Wilson and Hilferty 1931).
fn four_of_five(degrees: f64) -> f64 {
    const Z: f64 = 0.841_621;
    let part = 2.0 / (9.0 * degrees);
    (1.0 - part + Z * part.sqrt()).powi(3)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn interval(gain: f64, half: f64) -> Interval {
        Interval { gain, half, spread: Spread::Paired(0.02, 5) }
    }

    #[test]
    fn the_margin_is_what_people_call_it_of_rates_and_of_times() {
        let rates = Margin::new(0.05, true);
        assert!((rates.slower.exp() - 0.95).abs() < 1e-12 && (rates.faster.exp() - 1.05).abs() < 1e-12);
        let times = Margin::new(0.05, false);
        // The gain of times is turned: 5 % more time is 1/1.05, 5 % less is 1/0.95.
        assert!((times.slower.exp() - 1.0 / 1.05).abs() < 1e-12 && (times.faster.exp() - 1.0 / 0.95).abs() < 1e-12);
    }

    #[test]
    fn only_whole_intervals_decide() {
        let margin = Margin::new(0.05, true);
        let edge = margin.slower;
        for (gain, half, expected) in [
            (-0.10, 0.04, GateVerdict::Slower),
            (-0.10, 0.05, GateVerdict::Inconclusive),
            (edge - 0.01, 0.01, GateVerdict::Inconclusive),
            (-0.03, 0.02, GateVerdict::Pass),
            (-0.03, 0.03, GateVerdict::Inconclusive),
            (0.0, 0.05, GateVerdict::Pass),
            (0.0, 0.06, GateVerdict::Inconclusive),
            (0.10, 0.05, GateVerdict::Faster),
            (0.10, 0.06, GateVerdict::Pass),
            (0.10, 0.16, GateVerdict::Inconclusive),
            (f64::NAN, 0.01, GateVerdict::Inconclusive),
            (-9.0, f64::INFINITY, GateVerdict::Inconclusive),
        ] {
            assert_eq!(margin.verdict(&interval(gain, half)), expected, "{gain} ± {half}");
        }
    }

    #[test]
    fn pairs_match_students_formula_worked_by_hand() {
        // Mean 0.02, deviation 0.01, n = 3: t(0.05, 2) = 4.302653.
        let of = paired(&[0.01, 0.02, 0.03], 0.05).unwrap();
        assert!((of.gain - 0.02).abs() < 1e-12 && (of.half - 4.302_653 * 0.01 / 3_f64.sqrt()).abs() < 1e-8);
        assert_eq!(paired(&[0.01], 0.05), None);
        assert_eq!(unpaired(&[0.0, 0.1], &[0.0], 0.05), None);
    }

    #[test]
    fn the_share_of_chi_squared_matches_its_table() {
        // 80th percentiles of chi-squared: 3.219 (2 degrees), 5.989 (4), 11.030 (8), 22.775 (18).
        for (degrees, percentile) in [(2.0, 3.219), (4.0, 5.989), (8.0, 11.030), (18.0, 22.775)] {
            let found = four_of_five(degrees) * degrees;
            assert!((found / percentile - 1.0).abs() < 0.01, "{degrees}: {found}");
        }
    }

    #[test]
    fn a_forecast_is_reached_in_about_four_of_five_gates() {
        use crate::sample::Normal;
        let mut noise = Normal::new(3);
        let (deviation, target, p) = (0.02, 1.05_f64.ln(), p_of_each(12));
        let seen = Interval { gain: 0.0, half: 1.0, spread: Spread::Unpaired([(deviation, 3), (deviation, 3)]) };
        let replicates = 3 + seen.more_for(target, p).unwrap() as usize;
        let mut side = || (0..replicates).map(|_| deviation * noise.next()).collect::<Vec<f64>>();
        let reached = (0..2000).filter(|_| unpaired(&side(), &side(), p).unwrap().half <= target).count();
        // One replicate is a coarse step: a little over 80 % is expected, and never everything.
        assert!((1500..=1990).contains(&reached), "{reached} of 2000 with {replicates}");
        let one_less = seen.half_at((replicates - 1) as f64, p);
        assert!(one_less > target, "{one_less}");
        assert_eq!(seen.more_for(2.0, p), None, "reached already");
        assert_eq!(seen.more_for(1e-5, p), None, "nobody races so often");
    }
}
