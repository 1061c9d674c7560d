//! Sequential looks and the decision rule (methods section 2).
//!
//! An adaptive race is looked at after 6, 8, 10, 14 and 20 rounds only. The constants hold the
//! probability that any pair of a family is called different at any look, though all are equal, at
//! 5 %; `examples/sequential.rs` simulates them again.

use crate::estimate::{self, Moments};
use crate::student;
use model::findings::Verdict;
use model::plan::{LOOKS, Rounds};
use model::record::EndOutcome;

/// Pairs in the family and the two-sided p that each look may spend (methods section 2).
const PER_LOOK_P: [(u32, f64); 5] = [(1, 0.01554), (3, 0.00500), (6, 0.00246), (10, 0.00144), (15, 0.00094)];

/// The published constants: one row per family of [`PER_LOOK_P`], one column per look.
const CONSTANTS: [[f64; 5]; 5] = [
    [3.600, 3.178, 2.976, 2.783, 2.658],
    [4.773, 4.029, 3.690, 3.372, 3.174],
    [5.625, 4.608, 4.157, 3.743, 3.488],
    [6.340, 5.074, 4.523, 4.026, 3.723],
    [6.959, 5.464, 4.824, 4.253, 3.910],
];

/// An interval as narrow as this share (in ln) is narrow enough whatever the difference.
const NARROW: f64 = 0.015;

/// The two-sided p that each of the five looks may spend in a family of `pairs`.
///
/// Between the table's rows ln p is interpolated over ln m, and never above Bonferroni's share of
/// the next larger family, whose looks are known to hold 5 %; past the last row both the last
/// slope and Bonferroni's share of the last row are taken, the smaller of the two.
pub fn per_look_p(pairs: usize) -> f64 {
    let m = pairs.max(1) as f64;
    let above = PER_LOOK_P.iter().position(|&(family, _)| f64::from(family) >= m).unwrap_or(PER_LOOK_P.len() - 1);
    let (family, p) = PER_LOOK_P[above];
    if f64::from(family) == m {
        return p;
    }
    let (family_below, p_below) = PER_LOOK_P[above - 1];
    let past_below = |of: f64| of.ln() - f64::from(family_below).ln();
    let slope = (p / p_below).ln() / past_below(f64::from(family));
    let interpolated = (p_below.ln() + slope * past_below(m)).exp();
    interpolated.min(p * f64::from(family) / m)
}

/// Where a workload stands: at a look, or before the first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// Judged on its first `rounds` rounds.
    AtLook {
        /// Rounds that the look takes.
        rounds: u32,
        /// No look follows.
        last: bool,
    },
    /// Nothing may be decided yet.
    Before {
        /// Rounds of the first look.
        first: u32,
    },
}

/// Where a workload stands after `done` rounds. Rounds past a look wait for the next one: a verdict
/// after every round would call 23 % of equal pairs different. A race with a fixed number of rounds
/// has one look, at that number or, once the race has ended, at what there is: an interruption
/// does not look at the data. Any look is the last one of a race that is complete, because its budget
/// was used up; one that was interrupted may go on.
pub fn standing(done: u32, rounds: Rounds, end: Option<EndOutcome>) -> Standing {
    let complete = end == Some(EndOutcome::Complete);
    match rounds {
        Rounds::Auto => match LOOKS.iter().rev().find(|&&look| look <= done) {
            Some(&look) => Standing::AtLook { rounds: look, last: complete || look == LOOKS[LOOKS.len() - 1] },
            None => Standing::Before { first: LOOKS[0] },
        },
        Rounds::Fixed(planned) if done >= planned.max(1) => Standing::AtLook { rounds: planned.max(1), last: true },
        Rounds::Fixed(_) if end.is_some() && done > 0 => Standing::AtLook { rounds: done, last: true },
        Rounds::Fixed(planned) => Standing::Before { first: planned.max(1) },
    }
}

/// The next look after `done` rounds; `None` after the last.
pub fn next_look(done: u32, rounds: Rounds) -> Option<u32> {
    match rounds {
        Rounds::Auto => LOOKS.into_iter().find(|&look| look > done),
        Rounds::Fixed(planned) => (planned > done).then_some(planned),
    }
}

/// What a race decides by.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rule {
    /// Pairs of the family: those that may get a verdict.
    pub pairs: usize,
    /// How many rounds.
    pub rounds: Rounds,
    /// Tie margin as a share: 0.05.
    pub margin: f64,
    /// The width condition falls.
    pub first_answer: bool,
}

impl Rule {
    /// The tie margin on logarithms, δ.
    pub fn delta(&self) -> f64 {
        self.margin.max(0.0).ln_1p()
    }

    /// The two-sided p of one look at one pair.
    pub fn p(&self) -> f64 {
        match self.rounds {
            Rounds::Auto => per_look_p(self.pairs),
            Rounds::Fixed(_) => 0.05 / self.pairs.max(1) as f64,
        }
    }

    /// What the standard error of `count` differences is multiplied by: the published constant
    /// where there is one, otherwise Student's t at the same p.
    pub fn constant(&self, count: usize) -> f64 {
        let row = PER_LOOK_P.iter().position(|&(family, _)| family as usize == self.pairs.max(1));
        let column = LOOKS.iter().position(|&look| look as usize == count);
        match (self.rounds, row, column) {
            (Rounds::Auto, Some(row), Some(column)) => CONSTANTS[row][column],
            _ => student::two_sided_quantile(self.p(), count.saturating_sub(1).max(1) as f64),
        }
    }

    /// The verdict on an interval (mean ± half on logarithms), methods section 2.
    pub fn verdict(&self, mean: f64, half: f64, last: bool) -> Verdict {
        let delta = self.delta();
        if !mean.is_finite() || !half.is_finite() {
            Verdict::Undecided
        } else if mean - half > -delta && mean + half < delta {
            Verdict::Tie
        } else if mean.abs() > half && (last || self.first_answer || half <= NARROW.max(mean.abs() / 3.0)) {
            if mean > 0.0 { Verdict::Faster } else { Verdict::Slower }
        } else {
            Verdict::Undecided
        }
    }
}

/// The noise of a pair was correlated from round to round, and what was made of it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Correlation {
    /// Lag-1 correlation, corrected for its bias in few rounds; in 0..=0.9.
    pub lag1: f64,
    /// Rounds that the correlated ones are worth.
    pub effective_rounds: f64,
    /// The interval became so many times wider.
    pub wider: f64,
    /// So high that a reader should know.
    pub notable: bool,
}

/// A pair's interval on logarithms.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interval {
    /// Differences that count.
    pub count: usize,
    /// Mean difference.
    pub mean: f64,
    /// Standard deviation of the differences.
    pub deviation: f64,
    /// Half-width; infinite for fewer than two differences.
    pub half: f64,
    /// Present where correlation widened it.
    pub correlation: Option<Correlation>,
}

/// The interval of paired differences in time order; `None` where there are none.
pub fn interval(differences: &[f64], rule: &Rule) -> Option<Interval> {
    let Moments { count, mean, deviation } = estimate::moments(differences)?;
    if count < 2 {
        return Some(Interval { count, mean, deviation, half: f64::INFINITY, correlation: None });
    }
    let plain = rule.constant(count) * deviation / (count as f64).sqrt();
    let correlation = correlation(differences, plain);
    let half = plain * correlation.map_or(1.0, |of| of.wider);
    Some(Interval { count, mean, deviation, half, correlation })
}

/// Whether the differences are correlated from round to round, and how much wider their interval
/// becomes: n(1-r)/(1+r) effective rounds stand for n in the standard error.
///
/// The computed r1 is biased by about -1/n (Kendall 1954), so 1/n is added. White noise scatters it
/// by 1/√n; from half of that on the interval is widened, and a reader is told from 1.64/√n on,
/// which white noise seldom passes. The degrees of freedom stay n - 1. All of this was
/// chosen by simulation: against AR(1) 0.3 fewer degrees with a threshold of 1/√n leave three equal
/// lanes with 16.5 % false differences at any look (no widening: 20 %) and cost 5 % of the verdicts
/// on a true 2x at six rounds; this rule leaves 14 % and costs 1 %. Six rounds
/// cannot show a correlation of 0.3: what is left is the price of few rounds, and no test repairs it.
fn correlation(differences: &[f64], plain: f64) -> Option<Correlation> {
    let n = differences.len() as f64;
    let lag1 = (estimate::lag1(differences)? + 1.0 / n).min(0.9);
    if lag1 <= WIDENED_FROM / n.sqrt() || plain <= 0.0 {
        return None;
    }
    let effective_rounds = n * (1.0 - lag1) / (1.0 + lag1);
    let wider = (n / effective_rounds).sqrt();
    Some(Correlation { lag1, effective_rounds, wider, notable: lag1 > NOTABLE_FROM / n.sqrt() })
}

/// Standard errors of r1 above which the interval is widened.
const WIDENED_FROM: f64 = 0.5;

/// Standard errors of r1 above which a reader is told.
const NOTABLE_FROM: f64 = 1.64;

/// How many rounds in all would probably give a verdict, from the present mean and deviation;
/// more than `done`, and possibly more than the last look. `None` where the deviation is unknown or
/// no number of rounds up to 10,000 would do.
///
/// Where the rule itself would need more than 400 rounds the true value seems to sit between tie
/// and difference: then the rounds for a half-width of half the margin are given.
pub fn rounds_to_settle(interval: &Interval, done: u32, rule: &Rule) -> Option<u32> {
    // Two differences tell next to nothing of their deviation: any forecast from them is a guess.
    if interval.count < 3 || !interval.mean.is_finite() || !interval.deviation.is_finite() {
        return None;
    }
    let wider = interval.correlation.map_or(1.0, |of| of.wider);
    let half = |rounds: u32| rule.constant(rounds as usize) * wider * interval.deviation / f64::from(rounds).sqrt();
    let last_look = LOOKS[LOOKS.len() - 1];
    let looked_at = |rounds: u32| match rule.rounds {
        Rounds::Auto => rounds > last_look || LOOKS.contains(&rounds),
        Rounds::Fixed(_) => true,
    };
    let settles = |rounds: u32| {
        let last = rounds >= last_look || matches!(rule.rounds, Rounds::Fixed(_));
        rule.verdict(interval.mean, half(rounds), last) != Verdict::Undecided
    };
    if let Some(found) = (done.max(1) + 1..=400).find(|&rounds| looked_at(rounds) && settles(rounds)) {
        return Some(found);
    }
    // Beyond 400 rounds a step of 5 % loses nothing against the guess that the deviation is.
    let mut rounds = done.max(400);
    while rounds < 10_000 {
        rounds += rounds / 20;
        if half(rounds) <= rule.delta() / 2.0 {
            return Some(rounds);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rule(pairs: usize) -> Rule {
        Rule { pairs, rounds: Rounds::Auto, margin: 0.05, first_answer: false }
    }

    #[test]
    fn the_published_constants_are_students_t_at_the_published_p() {
        for (row, &(pairs, p)) in PER_LOOK_P.iter().enumerate() {
            for (column, &look) in LOOKS.iter().enumerate() {
                let t = student::two_sided_quantile(p, f64::from(look - 1));
                let published = CONSTANTS[row][column];
                // p is printed with few digits: 0.00094 may be anything from 0.000935 to 0.000945.
                assert!((t / published - 1.0).abs() < 0.003, "m {pairs}, n {look}: {t} against {published}");
                assert_eq!(rule(pairs as usize).constant(look as usize), published);
            }
        }
    }

    #[test]
    fn between_and_past_the_tables_rows_p_only_falls_and_stays_under_bonferronis_share() {
        let mut before = 1.0;
        for pairs in 1..=496 {
            let p = per_look_p(pairs);
            assert!(p > 0.0 && p < before, "{pairs} pairs: {p}");
            assert!(p * pairs as f64 <= 0.01554 + 1e-12, "{pairs} pairs: {p}");
            before = p;
        }
        assert_eq!(per_look_p(0), per_look_p(1));
        assert!(per_look_p(2) <= 0.0075 + 1e-12);
    }

    #[test]
    fn the_rule_is_that_of_the_methods() {
        let delta = 1.05_f64.ln();
        let whole = rule(1);
        assert_eq!(whole.verdict(0.0, delta * 0.99, false), Verdict::Tie);
        assert_eq!(whole.verdict(0.001, delta, false), Verdict::Undecided);
        // Small but certain, inside the margin: a tie comes first.
        assert_eq!(whole.verdict(0.02, 0.01, false), Verdict::Tie);
        assert_eq!(whole.verdict(0.30, 0.099, false), Verdict::Faster);
        assert_eq!(whole.verdict(-0.30, 0.099, false), Verdict::Slower);
        assert_eq!(whole.verdict(0.30, 0.11, false), Verdict::Undecided, "wider than a third");
        assert_eq!(whole.verdict(0.30, 0.11, true), Verdict::Faster, "at the last look the width falls");
        assert_eq!(Rule { first_answer: true, ..whole }.verdict(0.30, 0.11, false), Verdict::Faster);
        assert_eq!(whole.verdict(0.04, 0.015, false), Verdict::Faster, "1.5 % is narrow enough");
        assert_eq!(whole.verdict(0.30, 0.31, true), Verdict::Undecided);
        assert_eq!(whole.verdict(f64::NAN, 0.1, true), Verdict::Undecided);
        assert_eq!(whole.verdict(0.3, f64::INFINITY, true), Verdict::Undecided);
    }

    #[test]
    fn looks_are_taken_at_their_rounds_only() {
        use Standing::{AtLook, Before};
        let auto = |done| standing(done, Rounds::Auto, None);
        assert_eq!(auto(5), Before { first: 6 });
        assert_eq!(auto(7), AtLook { rounds: 6, last: false });
        assert_eq!(auto(20), AtLook { rounds: 20, last: true });
        assert_eq!(auto(25), AtLook { rounds: 20, last: true });
        for (end, last) in [(EndOutcome::Complete, true), (EndOutcome::Interrupted, false)] {
            assert_eq!(standing(9, Rounds::Auto, Some(end)), AtLook { rounds: 8, last });
        }
        assert_eq!(standing(2, Rounds::Fixed(3), None), Before { first: 3 });
        assert_eq!(standing(2, Rounds::Fixed(3), Some(EndOutcome::Interrupted)), AtLook { rounds: 2, last: true });
        assert_eq!(standing(3, Rounds::Fixed(3), None), AtLook { rounds: 3, last: true });
        assert_eq!(standing(0, Rounds::Fixed(3), Some(EndOutcome::Interrupted)), Before { first: 3 });
        assert_eq!(
            [0, 6, 7, 19, 20].map(|done| next_look(done, Rounds::Auto)),
            [Some(6), Some(8), Some(8), Some(20), None]
        );
        assert_eq!([2, 3].map(|done| next_look(done, Rounds::Fixed(3))), [Some(3), None]);
    }

    #[test]
    fn correlated_rounds_widen_the_interval_and_alternating_ones_do_not() {
        let trend: Vec<f64> = (0..10).map(|round| f64::from(round) * 0.01).collect();
        let wide = interval(&trend, &rule(1)).unwrap();
        let of = wide.correlation.unwrap();
        assert!(of.notable && of.lag1 > 0.7 && of.wider > 2.0 && of.effective_rounds < 2.0, "{of:?}");
        let swing: Vec<f64> = (0..10).map(|round| if round % 2 == 0 { 0.01 } else { -0.01 }).collect();
        assert_eq!(interval(&swing, &rule(1)).unwrap().correlation, None);
    }

    #[test]
    fn one_round_has_no_interval() {
        let of = interval(&[0.7], &rule(1)).unwrap();
        assert!(of.half.is_infinite());
        assert_eq!(rounds_to_settle(&of, 1, &rule(1)), None);
        assert_eq!(interval(&[], &rule(1)), None);
    }

    #[test]
    fn the_forecast_is_a_number_of_rounds_at_which_the_rule_would_decide() {
        for (mean, deviation) in [(0.0, 0.06), (0.113, 0.08), (0.03, 0.05), (0.0488, 0.2), (0.5, 0.9)] {
            for done in [3, 6, 7, 20] {
                let of = Interval { count: done as usize, mean, deviation, half: 1.0, correlation: None };
                let rounds = rounds_to_settle(&of, done, &rule(3)).unwrap();
                assert!(rounds > done);
                let half = rule(3).constant(rounds as usize) * deviation / f64::from(rounds).sqrt();
                let settled = rule(3).verdict(mean, half, rounds >= 20) != Verdict::Undecided;
                assert!(settled || half <= rule(3).delta() / 2.0, "{mean} {deviation} {done} {rounds}");
                assert!(rounds > 20 || LOOKS.contains(&rounds), "{rounds}");
            }
        }
        let hopeless = Interval { count: 6, mean: 0.0, deviation: 50.0, half: 99.0, correlation: None };
        assert_eq!(rounds_to_settle(&hopeless, 6, &rule(1)), None);
    }

    #[test]
    fn equal_lanes_are_called_different_in_five_percent_of_families_as_published() {
        use crate::sample::Normal;
        for (pairs, lanes) in [(1, 2), (3, 3)] {
            let rule = Rule { pairs, rounds: Rounds::Auto, margin: 0.0, first_answer: true };
            let mut noise = Normal::new(11);
            let families = 20_000;
            // The constants alone, as published: without the widening, which only lowers the errors.
            let errs = |figures: &[Vec<f64>]| {
                (1..lanes).any(|a| {
                    (0..a).any(|b| {
                        let differences: Vec<f64> =
                            (0..20).map(|round| figures[a][round] - figures[b][round]).collect();
                        LOOKS.iter().any(|&look| {
                            let of = estimate::moments(&differences[..look as usize]).unwrap();
                            of.mean.abs() > rule.constant(look as usize) * of.deviation / f64::from(look).sqrt()
                        })
                    })
                })
            };
            let errors = (0..families)
                .filter(|_| {
                    let figures: Vec<Vec<f64>> = (0..lanes).map(|_| (0..20).map(|_| noise.next()).collect()).collect();
                    errs(&figures)
                })
                .count();
            let share = errors as f64 / f64::from(families);
            // Four binomial standard errors about 5 %.
            let tolerance = 4.0 * (0.05_f64 * 0.95 / f64::from(families)).sqrt();
            assert!((share - 0.05).abs() < tolerance, "{pairs} pairs: {share}");
        }
    }
}
