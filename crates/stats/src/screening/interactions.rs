//! Pairs of options that change each other's effect (method 9.6).

use super::design::{Column, Design};
use super::effects::{dot, product};
use super::errors::ROW_P;
use super::{Analysed, Known, ratio};
use model::findings::{EffectVerdict, Interaction};
use model::screening::Factor;

/// Interactions of one result at most: more of them are hardly told from each other.
const MOST: usize = 5;
/// Pairs named beside one that they cannot be told from; more of them are counted.
const MOST_ALIASES: usize = 5;
/// A column of which less than this share is left beside others is one of them, or a sum of them.
const NOTHING_LEFT: f64 = 1e-9;

/// Two factors, by their places, and their product.
struct Candidate {
    pair: (usize, usize),
    column: Column,
}

/// What a column shows beside others: half of its contrast, and the standard error of that.
struct Part {
    coefficient: f64,
    error: f64,
}

/// The interactions of a result whose effects were judged. `p`: what it may spend on any false one.
///
/// Lanes' means are y = m + Σ a x + Σ b x x with x = ±1. So the effect of one factor is 2a, on average over the levels of the
/// other, 2(a-b) where that is at its usual level, and 2(a+b) where it is at its other level: it is multiplied by e to the 4b.
pub(super) fn find(design: &Design, factors: &[Factor], result: &Analysed, p: f64) -> Vec<Interaction> {
    let Some(known) = result.known.as_ref().filter(|known| known.decides) else { return Vec::new() };
    let candidates = candidates(design, result, known);
    let chosen = select(&candidates, known, p);
    let told = |at: &usize| {
        let beside: Vec<&Column> =
            chosen.iter().filter(|other| *other != at).map(|&of| &candidates[of].column).collect();
        let Part { coefficient, error } = part(&candidates[*at].column, &beside, known)?;
        let half = known.errors.half_in_errors() * error;
        let named = |(a, b): (usize, usize)| Some([factors.get(a)?.name.clone(), factors.get(b)?.name.clone()]);
        let Aliases { same, partial } = aliases(design, &candidates[*at]);
        let shown = same.len().min(MOST_ALIASES);
        Some(Interaction {
            factors: named(candidates[*at].pair)?,
            ratio: ratio(4.0 * coefficient),
            low: ratio(4.0 * (coefficient - half)),
            high: ratio(4.0 * (coefficient + half)),
            aliases: same[..shown].iter().copied().filter_map(named).collect(),
            partial: (same.len() - shown + partial) as u32,
        })
    };
    chosen.iter().filter_map(told).collect()
}

/// Pairs of which one factor matters, or each has an effect that its own row shows; those with the largest effects first.
fn candidates(design: &Design, result: &Analysed, known: &Known) -> Vec<Candidate> {
    let effects = &result.told.effects;
    let shows = |at: usize| effects[at].p < ROW_P;
    let matters = |at: usize| effects[at].verdict == EffectVerdict::Matters;
    let all = pairs(effects.len()).filter(|&(a, b)| matters(a) || matters(b) || (shows(a) && shows(b)));
    let mut all: Vec<(usize, usize)> = all.collect();
    let size = |&(a, b): &(usize, usize)| (known.logs[a] * known.logs[b]).abs();
    all.sort_by(|x, y| size(y).total_cmp(&size(x)));
    let candidate =
        |(a, b): (usize, usize)| Candidate { pair: (a, b), column: product(&design.factors[a], &design.factors[b]) };
    all.into_iter().map(candidate).collect()
}

/// Every two of so many, the earlier first.
fn pairs(count: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..count).flat_map(move |a| (a + 1..count).map(move |b| (a, b)))
}

/// Places of the candidates that are there: one after the other that with the largest share of what is left, as long as it is
/// significant among all of them. Of several that cannot be told apart the first.
fn select(candidates: &[Candidate], known: &Known, p: f64) -> Vec<usize> {
    let mut chosen: Vec<usize> = Vec::new();
    let allowed = p / candidates.len().max(1) as f64;
    while chosen.len() < MOST {
        let beside: Vec<&Column> = chosen.iter().map(|&at| &candidates[at].column).collect();
        let mut best: Option<(usize, f64)> = None;
        for (at, candidate) in candidates.iter().enumerate().filter(|(at, _)| !chosen.contains(at)) {
            let Some(part) = part(&candidate.column, &beside, known) else { continue };
            let errors = (part.coefficient / part.error).abs();
            if best.is_none_or(|(_, most)| errors > most * (1.0 + NOTHING_LEFT)) {
                best = Some((at, errors));
            }
        }
        match best.filter(|(_, errors)| known.errors.p(*errors) <= allowed) {
            Some((at, _)) => chosen.push(at),
            None => break,
        }
    }
    chosen
}

/// The least-squares coefficient of a column among others; `None`: nothing of it is left beside them.
///
/// Products of two factors lie in the part of the design that no factor and no mean lies in, so that these need not be among
/// the others.
fn part(column: &Column, others: &[&Column], known: &Known) -> Option<Part> {
    let mut basis: Vec<Column> = Vec::with_capacity(others.len());
    for other in others {
        let mut left = (*other).clone();
        take_out(&mut left, &basis);
        let length = dot(&left, &left);
        if length > NOTHING_LEFT * dot(other, other) {
            left.iter_mut().for_each(|of| *of /= length.sqrt());
            basis.push(left);
        }
    }
    let mut left = column.clone();
    take_out(&mut left, &basis);
    let length = dot(&left, &left);
    (length > NOTHING_LEFT * dot(column, column))
        .then(|| Part { coefficient: dot(&left, &known.means) / length, error: known.errors.of_lane / length.sqrt() })
}

/// Takes what lies along columns of length one, which are orthogonal, out of another.
fn take_out(column: &mut Column, basis: &[Column]) {
    for of in basis {
        let along = dot(column, of);
        column.iter_mut().zip(of).for_each(|(left, of)| *left -= along * of);
    }
}

/// Other pairs beside one.
struct Aliases {
    /// Those whose product is the same column, or its opposite.
    same: Vec<(usize, usize)>,
    /// How many have a part of their product along that of this one.
    partial: usize,
}

fn aliases(design: &Design, candidate: &Candidate) -> Aliases {
    let lanes = candidate.column.len() as f64;
    let along =
        |&(a, b): &(usize, usize)| dot(&candidate.column, &product(&design.factors[a], &design.factors[b])).abs();
    let others = pairs(design.factors.len()).filter(|pair| *pair != candidate.pair);
    // Sums of ones: exact.
    let (same, other): (Vec<_>, Vec<_>) = others.partition(|pair| along(pair) > lanes - 0.5);
    Aliases { same, partial: other.iter().filter(|&pair| along(pair) > 0.5).count() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::screening::errors::Errors;

    /// Known means, each with this standard error.
    fn known(means: Vec<f64>, error: f64) -> Known {
        let flat: Vec<Vec<f64>> = means.iter().map(|_| vec![0.0; 6]).collect();
        let errors = Errors { of_lane: error, ..Errors::new(&flat, &[]) };
        Known { means, logs: Vec::new(), errors, decides: true }
    }

    fn candidate(design: &Design, a: usize, b: usize) -> Candidate {
        Candidate { pair: (a, b), column: product(&design.factors[a], &design.factors[b]) }
    }

    #[test]
    fn a_design_of_every_combination_has_no_aliases_and_the_folded_ones_have_those_that_they_must() {
        for factors in 2..=4 {
            let design = Design::new(factors);
            let has_none = |(a, b)| {
                let Aliases { same, partial } = aliases(&design, &candidate(&design, a, b));
                same.is_empty() && partial == 0
            };
            assert!(pairs(factors).all(has_none));
        }
        // 16 lanes: 21 pairs in seven groups of three that are one and the same.
        let eight = Design::new(7);
        let found = aliases(&eight, &candidate(&eight, 0, 1));
        assert_eq!((found.same, found.partial), (vec![(2, 4), (3, 6)], 0));
        // 24 lanes: each pair of other factors shares a third, and none is the same.
        let twelve = Design::new(11);
        let found = aliases(&twelve, &candidate(&twelve, 0, 1));
        assert_eq!((found.same, found.partial), (vec![], 36));
    }

    #[test]
    fn coefficients_beside_each_other_are_those_that_the_means_were_made_of() {
        let design = Design::new(11);
        let [one, other] = [candidate(&design, 0, 1), candidate(&design, 2, 3)];
        let along = dot(&one.column, &other.column) / 24.0;
        assert!((along.abs() - 1.0 / 3.0).abs() < 1e-12);
        let mean = |at: usize| 7.0 + 0.4 * design.factors[5][at] + 0.3 * one.column[at] - 0.1 * other.column[at];
        let known = known((0..24).map(mean).collect(), 0.01);
        let alone = part(&one.column, &[], &known).unwrap();
        assert!((alone.coefficient - (0.3 - 0.1 * along)).abs() < 1e-12, "alone it takes a third of the other one's");
        assert!((alone.error - 0.01 / 24_f64.sqrt()).abs() < 1e-12);
        let beside = part(&one.column, &[&other.column], &known).unwrap();
        assert!((beside.coefficient - 0.3).abs() < 1e-12);
        assert!((beside.error - 0.01 / (24.0_f64 * (1.0 - 1.0 / 9.0)).sqrt()).abs() < 1e-12, "{}", beside.error);
        assert!(part(&one.column, &[&other.column, &one.column], &known).is_none());
    }

    #[test]
    fn the_largest_is_taken_first_and_what_is_left_decides_about_the_next() {
        let design = Design::new(11);
        let all: Vec<Candidate> = pairs(11).map(|(a, b)| candidate(&design, a, b)).collect();
        let at = |a: usize, b: usize| all.iter().position(|of| of.pair == (a, b)).unwrap();
        let (first, second) = (&all[at(0, 1)].column, &all[at(2, 3)].column);
        let mean = |at: usize| 0.3 * first[at] - 0.1 * second[at];
        let two = known((0..24).map(mean).collect(), 0.01);
        assert_eq!(select(&all, &two, 0.05), [at(0, 1), at(2, 3)]);
        let noise = known((0..24).map(|at| 0.003 * f64::from(at % 3)).collect(), 0.01);
        assert!(select(&all, &noise, 0.05).is_empty());
        // Six real ones: no more than five are told.
        let pairs = [(0, 1), (0, 2), (0, 3), (0, 4), (0, 5), (0, 6)].map(|(a, b)| at(a, b));
        let mean = |run: usize| -> f64 { pairs.iter().map(|&of| 0.1 * all[of].column[run]).sum() };
        let six = known((0..24).map(mean).collect(), 0.001);
        assert_eq!(select(&all, &six, 0.05).len(), MOST);
    }
}
