//! Sequential looks and the decision rule (method 2.1).
//!
//! An adaptive race is looked at after 6, 8, 10, 14 and 20 rounds only. The constants hold the
//! probability that any pair of a family of equal lanes is called different at 5 %, for noise that is
//! correlated from round to round at up to 0.3; `examples/sequential.rs` simulates them again.

use crate::correlation::{self, HIGHEST};
use crate::estimate::{self, Moments};
use crate::student;
use model::findings::Verdict;
use model::plan::{LOOKS, Rounds};
use model::record::EndOutcome;

/// Pairs in the family and the two-sided p that each look may spend where every look may decide
/// (suites with a first answer).
///
/// Source: `cargo run --release -p stats --example sequential 200000`, noise with lag 1 of 0.3, one
/// result alone: 0.01482, 0.00483, 0.00237, 0.00139 and 0.00094 give 5 %; a fiftieth is left for
/// chance. (White noise that is known to be white gives 0.01554, 0.00500, 0.00246, 0.00144 and
/// 0.00094: t = 3.600 for one pair at six rounds.)
pub const PER_LOOK_P: [(u32, f64); 5] = [(1, 0.0146), (3, 0.0048), (6, 0.00234), (10, 0.00137), (15, 0.00092)];

/// The two-sided p of a family that one look decides: fixed rounds, and the whole rule, whose width
/// condition leaves next to nothing to the looks before the last. Bonferroni divides it among the
/// pairs; 0.05 itself would leave no room for the estimate of the correlation. Source: as above; 0.046
/// gives at most 4.7 %, and one pair that differs by exactly the margin is a tie in at most 6.7 %.
pub const ONE_LOOK_P: f64 = 0.046;

/// A half-width of so much (in ln) is narrow enough whatever the difference, but only where it is
/// narrow beside the margin too.
const NARROW: f64 = 0.015;

/// [`NARROW`] as a share of the margin's logarithm: 1.5 % at a margin of 5 %. It keeps what the width
/// condition asks of early looks the same for every margin: an interval that is no tie lies at least
/// 2.25 half-widths from zero.
const NARROW_BESIDE_MARGIN: f64 = 0.3075;

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
/// has one look: at that number or, where the race is complete because its budget was used up, at what
/// there is. One that was interrupted has none before it went on: whoever may interrupt when the figures
/// please, look, and resume otherwise, looks as often as they like. Any look is the last one of a
/// race that is complete.
pub fn standing(done: u32, rounds: Rounds, end: Option<EndOutcome>) -> Standing {
    let complete = end.is_some_and(EndOutcome::rounds_are_done);
    match rounds {
        Rounds::Auto => match LOOKS.iter().rev().find(|&&look| look <= done) {
            Some(&look) => Standing::AtLook { rounds: look, last: complete || look == LOOKS[LOOKS.len() - 1] },
            None => Standing::Before { first: LOOKS[0] },
        },
        Rounds::Fixed(planned) if done >= planned.max(1) => Standing::AtLook { rounds: planned.max(1), last: true },
        Rounds::Fixed(_) if complete && done > 0 => Standing::AtLook { rounds: done, last: true },
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
            Rounds::Auto if self.first_answer => per_look_p(self.pairs),
            _ => ONE_LOOK_P / self.pairs.max(1) as f64,
        }
    }

    /// What s/√n of `count` ≥ 2 differences is multiplied by, where the rounds are taken to be
    /// correlated so: Student's t at the rule's p, with the degrees and the standard error that such
    /// rounds leave.
    pub fn constant(&self, count: usize, correlation: f64) -> f64 {
        let widening = correlation::widening(count, correlation);
        widening.factor * student::two_sided_quantile(self.p(), widening.degrees)
    }

    /// The width condition.
    fn is_narrow(&self, mean: f64, half: f64) -> bool {
        half <= NARROW.min(NARROW_BESIDE_MARGIN * self.delta()).max(mean.abs() / 3.0)
    }

    /// The verdict on an interval (mean ± half on logarithms), method 2.1.
    pub fn verdict(&self, mean: f64, half: f64, last: bool) -> Verdict {
        let delta = self.delta();
        if !mean.is_finite() || !half.is_finite() {
            Verdict::Undecided
        } else if mean - half > -delta && mean + half < delta {
            Verdict::Tie
        } else if mean.abs() > half && (last || self.first_answer || self.is_narrow(mean, half)) {
            if mean > 0.0 { Verdict::Faster } else { Verdict::Slower }
        } else {
            Verdict::Undecided
        }
    }

    /// Whether an interval excludes zero and is no tie: a difference, though perhaps not one that a look may stop at.
    pub(crate) fn shows_difference(&self, mean: f64, half: f64) -> bool {
        matches!(self.verdict(mean, half, true), Verdict::Faster | Verdict::Slower)
    }
}

/// The correlation from round to round that a pair's interval was made for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Correlation {
    /// Lag-1 correlation, in 0..=0.9.
    pub lag1: f64,
    /// Rounds that the correlated ones are worth.
    pub effective_rounds: f64,
    /// The standard error became so many times wider.
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
    /// What the half-width was made for.
    pub correlation: Correlation,
}

impl Interval {
    /// The half-width at another two-sided p; infinite for fewer than two differences.
    pub fn half_at(&self, p: f64) -> f64 {
        if self.count < 2 {
            return f64::INFINITY;
        }
        let widening = correlation::widening(self.count, self.correlation.lag1);
        widening.factor * student::two_sided_quantile(p, widening.degrees) * self.standard_error()
    }

    /// The two-sided p at which the interval would just leave zero out: 1 for fewer than two differences and where all are
    /// zero, 0 where they do not scatter.
    pub fn p(&self) -> f64 {
        if self.count < 2 {
            return 1.0;
        }
        let widening = correlation::widening(self.count, self.correlation.lag1);
        let t = self.mean.abs() / (widening.factor * self.standard_error());
        match t {
            t if t.is_nan() => 1.0,
            t if t.is_infinite() => 0.0,
            t => student::two_sided_p(t, widening.degrees),
        }
    }

    /// As if the rounds were independent.
    fn standard_error(&self) -> f64 {
        self.deviation / (self.count as f64).sqrt()
    }
}

/// The interval of paired differences in time order; `None` where there are none. `assumed` is the
/// correlation that the result's intervals are made for ([`correlation::assumed`]); one that shows in
/// this pair alone replaces it where it is higher.
pub fn interval(differences: &[f64], rule: &Rule, assumed: f64) -> Option<Interval> {
    let Moments { count, mean, deviation } = estimate::moments(differences)?;
    let shown = shown(differences);
    let lag1 = shown.map_or(assumed, |of| of.max(assumed)).clamp(0.0, HIGHEST);
    let wider = correlation::widening(count, lag1).factor;
    let notable = shown.is_some() || assumed > NOTABLE;
    let correlation = Correlation { lag1, effective_rounds: count as f64 / (wider * wider), wider, notable };
    let half = match count {
        0 | 1 => f64::INFINITY,
        _ => rule.constant(count, lag1) * deviation / (count as f64).sqrt(),
    };
    Some(Interval { count, mean, deviation, half, correlation })
}

/// The correlation of one pair's rounds where white noise would seldom show it: above 1.64 of its
/// standard errors of 1/√n. The computed r1 is biased by -1/n (Kendall 1954), which is put right.
pub(crate) fn shown(differences: &[f64]) -> Option<f64> {
    let n = differences.len() as f64;
    let lag1 = (estimate::lag1(differences)? + 1.0 / n).min(HIGHEST);
    (lag1 > SHOWN_FROM / n.sqrt()).then_some(lag1)
}

/// Standard errors of r1 above which a pair's own correlation is believed.
const SHOWN_FROM: f64 = 1.64;

/// An assumed correlation that a reader is told: where the noise has no more than the 0.3 that is
/// always reckoned with, a race's estimate seldom comes so high.
const NOTABLE: f64 = 0.45;

#[cfg(test)]
mod tests {
    use super::*;

    fn rule(pairs: usize) -> Rule {
        Rule { pairs, rounds: Rounds::Auto, margin: 0.05, first_answer: false }
    }

    #[test]
    fn the_constants_are_students_t_made_wider_for_the_correlation() {
        let first = Rule { first_answer: true, ..rule(3) };
        let known = |rule: &Rule, df: f64| student::two_sided_quantile(rule.p(), df);
        assert!((first.constant(6, 0.0) - known(&first, 5.0)).abs() < 1e-9);
        // Tables of Student's t with 5 degrees: 2.571 at p 0.05, 2.757 at 0.04.
        assert!((2.571..2.757).contains(&rule(1).constant(6, 0.0)));
        // Published constants for white noise at six rounds, three pairs: 4.773.
        assert!((first.constant(6, 0.0) / 4.773 - 1.0).abs() < 0.01);
        // By hand at six rounds and 0.3: n·Var(mean)/σ² = 1.6528, E s²/σ² = (6 - 1.6528)/5.
        let factor = (1.6528_f64 / (4.3472 / 5.0)).sqrt();
        let wide = first.constant(6, 0.3);
        assert!(wide > factor * first.constant(6, 0.0) && wide < 1.1 * factor * first.constant(6, 0.0), "{wide}");
        let fixed = Rule { rounds: Rounds::Fixed(6), ..first };
        assert_eq!(fixed.p(), 0.046 / 3.0);
        assert_eq!(fixed.p(), rule(3).p());
    }

    #[test]
    fn between_and_past_the_tables_rows_p_only_falls_and_stays_under_bonferronis_share() {
        let mut before = 1.0;
        for pairs in 1..=496 {
            let p = per_look_p(pairs);
            assert!(p > 0.0 && p < before, "{pairs} pairs: {p}");
            assert!(p * pairs as f64 <= 0.0146 + 1e-12, "{pairs} pairs: {p}");
            before = p;
        }
        assert_eq!(per_look_p(0), per_look_p(1));
        assert!(per_look_p(2) <= 0.0073 + 1e-12);
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
        let strict = Rule { margin: 0.01, ..whole };
        assert_eq!(strict.verdict(0.02, 0.015, false), Verdict::Undecided, "but not beside a margin of 1 %");
        assert_eq!(strict.verdict(0.02, 0.003, false), Verdict::Faster);
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
        assert_eq!(standing(2, Rounds::Fixed(3), Some(EndOutcome::Complete)), AtLook { rounds: 2, last: true });
        // Whoever interrupts, looks and resumes would look as often as they like.
        for end in [EndOutcome::Interrupted, EndOutcome::Failed] {
            assert_eq!(standing(2, Rounds::Fixed(3), Some(end)), Before { first: 3 });
            assert_eq!(standing(3, Rounds::Fixed(3), Some(end)), AtLook { rounds: 3, last: true });
        }
        assert_eq!(standing(3, Rounds::Fixed(3), None), AtLook { rounds: 3, last: true });
        assert_eq!(standing(0, Rounds::Fixed(3), Some(EndOutcome::Complete)), Before { first: 3 });
        assert_eq!(
            [0, 6, 7, 19, 20].map(|done| next_look(done, Rounds::Auto)),
            [Some(6), Some(8), Some(8), Some(20), None]
        );
        assert_eq!([2, 3].map(|done| next_look(done, Rounds::Fixed(3))), [Some(3), None]);
    }

    #[test]
    fn a_trend_in_one_pair_widens_its_interval_and_is_told() {
        let trend: Vec<f64> = (0..10).map(|round| f64::from(round) * 0.01).collect();
        let wide = interval(&trend, &rule(1), 0.1).unwrap();
        let of = wide.correlation;
        assert!(of.notable && of.lag1 > 0.7 && of.wider > 2.0 && of.effective_rounds < 2.0, "{of:?}");
        let swing: Vec<f64> = (0..10).map(|round| if round % 2 == 0 { 0.01 } else { -0.01 }).collect();
        let of = interval(&swing, &rule(1), 0.1).unwrap().correlation;
        assert!(!of.notable && of.lag1 == 0.1, "{of:?}");
        assert!(interval(&swing, &rule(1), 0.6).unwrap().correlation.notable, "what the race shows is told too");
        let none = interval(&swing, &rule(1), 0.0).unwrap();
        assert!((none.half - rule(1).constant(10, 0.0) * none.deviation / 10_f64.sqrt()).abs() < 1e-12);
        assert_eq!((none.correlation.wider, none.correlation.effective_rounds), (1.0, 10.0));
    }

    #[test]
    fn one_round_has_no_interval() {
        let of = interval(&[0.7], &rule(1), 0.3).unwrap();
        assert!(of.half.is_infinite());
        assert_eq!(interval(&[], &rule(1), 0.3), None);
    }
}
