//! Which differences hold over a whole race: of many rows that are each right in 95 %, some are wrong.
//!
//! A verdict keeps the probability of a false difference at 5 % for its row. What a race says as a whole (ANSWER, the
//! memo, advice) quotes the largest of many rows, so that it needs more: with 95 % nothing that it names is false.
//! Signs by Holm's procedure (1979) with weights (Benjamini and Hochberg 1997): each pair weighs one by the pairs of
//! its result, so that every result counts alike. Sizes by the near end of intervals at Bonferroni's share of the same
//! weights (Dunn 1961), because Holm's procedure leaves no intervals. Both hold however the rows depend on each other.
//! An adaptive race may decide at each of its looks: each gets an equal share (method 2.7; docs/simulation.md has the
//! simulation).

use crate::pair::finite;
use crate::sequential::{Interval, ONE_LOOK_P, Rule};
use model::findings::{ResultFinding, Verdict};
use model::plan::{LOOKS, Rounds};

/// A result with what its pairs were judged by.
pub struct JudgedResult {
    /// The result.
    pub result: ResultFinding,
    /// The rule of its verdicts.
    pub rule: Rule,
    /// Of each pair, in the order of the result's: `None` where it may get no verdict.
    pub intervals: Vec<Option<Interval>>,
}

/// What of one difference holds over the whole race.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Holds {
    /// ln(a/b) at the near end of an interval that holds together with those of all other pairs; `None`: it contains zero.
    pub at_least: Option<f64>,
}

/// What holds of the differences of a race of so many planned results, result by result and pair by pair; `None` where
/// not even the sign does. Whether a difference is one at all is for the verdict to say.
pub fn holds(results: &[(Rule, Vec<Option<Interval>>)], planned: usize) -> Vec<Vec<Option<Holds>>> {
    let count = planned.max(results.len()).max(1);
    let weight = |rule: &Rule| 1.0 / rule.pairs.max(1) as f64;
    // The two-sided p that a pair may spend where so much weight is left; one result is its own race.
    let allowed = |rule: &Rule, left: f64| match count {
        1 => rule.p(),
        _ => share(rule.rounds) * weight(rule) / left.max(weight(rule)),
    };
    let mut all: Vec<(f64, usize, usize)> = Vec::new();
    for (place, (rule, intervals)) in results.iter().enumerate() {
        let known = intervals.iter().enumerate().filter_map(|(pair, interval)| Some((pair, interval.as_ref()?)));
        all.extend(known.map(|(pair, interval)| (interval.p() / weight(rule), place, pair)));
    }
    all.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut found: Vec<Vec<Option<Holds>>> = results.iter().map(|(_, intervals)| vec![None; intervals.len()]).collect();
    // Results that were not reached yet keep their weight.
    let mut left = count as f64;
    for (_, place, pair) in all {
        let (rule, intervals) = &results[place];
        let Some(interval) = &intervals[pair] else { continue };
        let p = interval.p();
        if p > allowed(rule, left) {
            break;
        }
        left -= weight(rule);
        let near = interval.mean.abs() - interval.half_at(allowed(rule, count as f64));
        let at_least = (near > 0.0).then(|| near.copysign(interval.mean));
        found[place][pair] = Some(Holds { at_least });
    }
    found
}

/// Marks the differences of results that hold over a race of so many planned ones, and what they come to at least.
pub fn mark(judged: Vec<JudgedResult>, planned: usize) -> Vec<ResultFinding> {
    let (mut results, by): (Vec<_>, Vec<_>) = judged.into_iter().map(|of| (of.result, (of.rule, of.intervals))).unzip();
    for (result, of) in results.iter_mut().zip(holds(&by, planned)) {
        for (pair, holds) in result.pairs.iter_mut().zip(of) {
            let decided = matches!(pair.verdict, Verdict::Faster | Verdict::Slower);
            let Some(holds) = holds.filter(|_| decided) else { continue };
            pair.over_race = true;
            pair.at_least = holds.at_least.and_then(|near| finite(near.exp())).filter(|ratio| *ratio > 0.0);
        }
    }
    results
}

/// The two-sided p that one look may spend on all results together.
pub(crate) fn share(rounds: Rounds) -> f64 {
    match rounds {
        Rounds::Fixed(_) => ONE_LOOK_P,
        Rounds::Auto => ONE_LOOK_P / LOOKS.len() as f64,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sequential;

    fn rule(pairs: usize, rounds: Rounds) -> Rule {
        Rule { pairs, rounds, margin: 0.05, first_answer: true }
    }

    /// Six rounds around this mean, with a standard deviation of 0.01.
    fn around(mean: f64, rule: &Rule) -> Option<Interval> {
        let steps = [-1.0, 0.6, -0.6, 1.0, 0.9, -0.9].map(|step| mean + 0.01 * step / 0.922);
        sequential::interval(&steps, rule, 0.0)
    }

    #[test]
    fn a_difference_that_is_sure_in_its_row_need_not_be_sure_among_many() {
        let one = rule(1, Rounds::Fixed(6));
        // t = 4.9 with 5 degrees: p = 0.0045.
        let small = around(0.02, &one);
        assert!(small.unwrap().p() < one.p());
        let alone = holds(&[(one, vec![small])], 1);
        let near = alone[0][0].unwrap().at_least.unwrap();
        let row = small.unwrap();
        assert!((near - (row.mean - row.half)).abs() < 1e-12, "alone, the row is the race");
        let level = || (one, vec![around(0.001, &one)]);
        let among = |others: usize| {
            let all: Vec<_> = std::iter::once((one, vec![small])).chain((0..others).map(|_| level())).collect();
            holds(&all, 0)[0][0]
        };
        assert!(among(7).unwrap().at_least.unwrap() < near, "what it comes to at least shrinks");
        assert_eq!(among(30), None);
        assert_eq!(holds(&[(one, vec![small])], 31)[0][0], None, "what was not reached yet counts");
    }

    #[test]
    fn holms_steps_give_a_sign_where_bonferroni_leaves_no_size() {
        let one = rule(1, Rounds::Fixed(6));
        let huge = || (one, vec![around(2.0, &one)]);
        let mut all: Vec<_> = (0..29).map(|_| huge()).collect();
        all.push((one, vec![around(0.02, &one)]));
        all.push((one, vec![around(0.0, &one)]));
        let found = holds(&all, 31);
        assert!(found[..29].iter().all(|of| of[0].unwrap().at_least.unwrap() > 1.8));
        assert_eq!(found[29][0], Some(Holds { at_least: None }));
        assert_eq!(found[30][0], None);
    }

    #[test]
    fn looks_and_pairs_cost_and_turned_differences_keep_their_sign() {
        let fixed = rule(1, Rounds::Fixed(6));
        let auto = rule(1, Rounds::Auto);
        let size = |rule: Rule, mean: f64| {
            let other = (rule, vec![around(0.0, &rule)]);
            holds(&[(rule, vec![around(mean, &rule)]), other], 2)[0][0].unwrap().at_least.unwrap()
        };
        assert!(size(auto, 0.5) < size(fixed, 0.5));
        assert!(size(rule(3, Rounds::Auto), 0.5) < size(auto, 0.5));
        assert_eq!(size(fixed, -0.5), -size(fixed, 0.5));
    }

    #[test]
    fn what_does_not_scatter_or_has_one_round_is_no_panic() {
        let one = rule(1, Rounds::Fixed(6));
        let still = sequential::interval(&[0.1; 6], &one, 0.0);
        let single = sequential::interval(&[0.7], &one, 0.0);
        let zero = sequential::interval(&[0.0; 6], &one, 0.0);
        let found = holds(&[(one, vec![still, single, zero, None])], 8);
        assert!(found[0][0].unwrap().at_least.is_some_and(|near| near > 0.0));
        assert_eq!(found[0][1..], [None, None, None]);
    }
}
