//! Pairs of options that change each other's effect (method 9.6).

use super::design::{Column, Design};
use super::effects::{dot, product};
use super::errors::{Errors, ROW_P};
use super::span::Span;
use super::{Known, ratio};
use model::findings::{FEWEST_SPARE, Interaction};
use model::screening::Factor;

/// Interactions of one result at most: more of them are hardly told from each other.
const MOST: usize = 5;
/// Pairs named beside one that they cannot be told from; more of them are counted.
const MOST_ALIASES: usize = 5;
/// Candidates that are tried: those that show most by themselves.
const MOST_TRIED: usize = 60;
/// Two shares are alike where one is larger by less than this share of the other: candidates that are one column.
const ALIKE: f64 = 1e-9;

/// Two factors, by their places, and their product.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Candidate {
    pub(super) pair: (usize, usize),
    pub(super) column: Column,
}

/// What a column shows beside others: half of its contrast, and the standard error of that.
struct Part {
    coefficient: f64,
    error: f64,
}

/// The interactions that are there, as they are told.
///
/// Lanes' means are y = m + Σ a x + Σ b x x with x = ±1. So the effect of one factor is 2a, on average over the levels of the
/// other, 2(a-b) where that is at its usual level, and 2(a+b) where it is at its other level: it is multiplied by e to the 4b.
pub(super) fn tell(design: &Design, factors: &[Factor], known: &Known) -> Vec<Interaction> {
    let there = &known.interactions;
    let told = |(at, candidate): (usize, &Candidate)| {
        let others = there.iter().enumerate().filter(|(other, _)| *other != at);
        let beside = Span::new(others.map(|(_, other)| &other.column));
        let Part { coefficient, error } = part(&candidate.column, &beside, known)?;
        let half = known.errors.half_in_errors() * error;
        let named = |(a, b): (usize, usize)| Some([factors.get(a)?.name.clone(), factors.get(b)?.name.clone()]);
        let Aliases { same, partial } = aliases(design, candidate);
        let shown = same.len().min(MOST_ALIASES);
        Some(Interaction {
            factors: named(candidate.pair)?,
            ratio: ratio(4.0 * coefficient),
            low: ratio(4.0 * (coefficient - half)),
            high: ratio(4.0 * (coefficient + half)),
            aliases: same[..shown].iter().copied().filter_map(named).collect(),
            partial: (same.len() - shown + partial) as u32,
        })
    };
    there.iter().enumerate().filter_map(told).collect()
}

/// The least-squares coefficient of a column among others; `None`: nothing of it is left beside them.
///
/// Products of two factors lie in the part of the design that no factor and no mean lies in, so that these need not be among
/// the others.
fn part(column: &Column, others: &Span, known: &Known) -> Option<Part> {
    let left = others.beside(column)?;
    let length = dot(&left, &left);
    Some(Part { coefficient: dot(&left, &known.means) / length, error: known.errors.of_lane / length.sqrt() })
}

/// Where interactions are looked for.
pub(super) struct Lanes<'a> {
    pub(super) design: &'a Design,
    /// Of each factor ln of its ratio.
    pub(super) logs: &'a [f64],
    /// Of each lane.
    pub(super) means: &'a [f64],
    /// What the rounds alone show.
    pub(super) rounds: Errors,
}

/// The interactions that are there. `p`: what may be spent on any false one.
///
/// One after the other, each time that which explains most of what is left, or else the two that do so together, because interactions
/// of one size hide each other. A set of m is there if what it explains beyond the set before is significant among all
/// candidates, or all twos of them (it spends p/2^m), and each of its interactions is beside the others, held against what is
/// left without the set, and against the rounds.
pub(super) fn find(lanes: &Lanes, p: f64) -> Vec<Candidate> {
    let candidates = candidates(lanes, p);
    let squares = lanes.design.effects_left(&[], lanes.means).iter().map(|of| of * of).sum();
    let mut search = Search { lanes, candidates: &candidates, tried: Vec::new(), squares };
    search.tried = search.most_telling();
    // So many columns at least show what lanes differ by. Where the design has fewer, reports say that nothing shows it.
    let left = lanes.design.left();
    let most = MOST.min(if left < FEWEST_SPARE { left } else { left - FEWEST_SPARE });
    let mut there: Vec<usize> = Vec::new();
    while there.len() < most {
        let one = search.best(&there).map(|(at, _)| [&there[..], &[at]].concat());
        let next = one.filter(|set| search.is_there(set, &there, p)).or_else(|| {
            let two = (there.len() + 2 <= most).then(|| search.best_two(&there)).flatten()?;
            Some([&there[..], &two].concat()).filter(|set| search.is_there(set, &there, p))
        });
        match next {
            Some(set) => there = set,
            None => break,
        }
    }
    there.into_iter().map(|at| candidates[at].clone()).collect()
}

/// Pairs of which one factor has an effect, or each has one that its own row shows, by the rounds alone; those with the largest
/// effects first.
fn candidates(lanes: &Lanes, p: f64) -> Vec<Candidate> {
    let Lanes { design, logs, rounds, .. } = lanes;
    let of_rounds: Vec<f64> = logs.iter().map(|log| rounds.p(log.abs() / rounds.of_effect())).collect();
    let shows = |at: usize| of_rounds[at] < ROW_P;
    let is_there = |at: usize| of_rounds[at] < p / logs.len() as f64;
    let all = pairs(logs.len()).filter(|&(a, b)| is_there(a) || is_there(b) || (shows(a) && shows(b)));
    let mut all: Vec<(usize, usize)> = all.collect();
    let size = |&(a, b): &(usize, usize)| (logs[a] * logs[b]).abs();
    all.sort_by(|x, y| size(y).total_cmp(&size(x)));
    let candidate =
        |(a, b): (usize, usize)| Candidate { pair: (a, b), column: product(&design.factors[a], &design.factors[b]) };
    all.into_iter().map(candidate).collect()
}

/// Every two of so many, the earlier first.
fn pairs(count: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..count).flat_map(move |a| (a + 1..count).map(move |b| (a, b)))
}

/// The candidates, and what they have to explain.
struct Search<'a> {
    lanes: &'a Lanes<'a>,
    candidates: &'a [Candidate],
    /// Places of those that are tried.
    tried: Vec<usize>,
    /// The effects squared of all columns without a factor.
    squares: f64,
}

impl Search<'_> {
    /// The candidates that explain most alone; the earlier first where they explain as much.
    fn most_telling(&self) -> Vec<usize> {
        let none = Span::default();
        let mut all: Vec<(usize, f64)> = (0..self.candidates.len()).map(|at| (at, self.adds(at, &none))).collect();
        all.sort_by(|x, y| y.1.total_cmp(&x.1));
        all.truncate(MOST_TRIED);
        let mut places: Vec<usize> = all.into_iter().map(|(at, _)| at).collect();
        // In their own order, in which the first of several that are alike is taken.
        places.sort_unstable();
        places
    }

    /// The columns of some candidates.
    fn span(&self, set: &[usize]) -> Span {
        Span::new(set.iter().map(|&at| &self.candidates[at].column))
    }

    /// The effect squared of what a candidate has beside some columns; 0: nothing.
    fn adds(&self, at: usize, beside: &Span) -> f64 {
        let means = self.lanes.means;
        let Some(left) = beside.beside(&self.candidates[at].column) else { return 0.0 };
        4.0 / means.len() as f64 * dot(&left, means).powi(2) / dot(&left, &left)
    }

    /// The candidate that adds most to a set, and how much; of several that add as much the first.
    fn best(&self, set: &[usize]) -> Option<(usize, f64)> {
        let span = self.span(set);
        let all = self.tried.iter().filter(|at| !set.contains(at)).map(|&at| (at, self.adds(at, &span)));
        let best = all.reduce(|best, next| if next.1 > best.1 * (1.0 + ALIKE) { next } else { best });
        best.filter(|&(_, squares)| squares > 0.0)
    }

    /// The two candidates that add most to a set together; of several that add as much the first.
    fn best_two(&self, set: &[usize]) -> Option<[usize; 2]> {
        let mut best: Option<([usize; 2], f64)> = None;
        for (place, &a) in self.tried.iter().enumerate().filter(|(_, at)| !set.contains(at)) {
            let mut span = self.span(set);
            let of_a = self.adds(a, &span);
            span.add(&self.candidates[a].column);
            for &b in self.tried[place + 1..].iter().filter(|at| !set.contains(at)) {
                let together = of_a + self.adds(b, &span);
                if best.is_none_or(|(_, most)| together > most * (1.0 + ALIKE)) {
                    best = Some(([a, b], together));
                }
            }
        }
        best.map(|(two, _)| two)
    }

    /// The effects squared of what a set explains.
    fn explains(&self, set: &[usize]) -> f64 {
        let mut span = Span::default();
        let mut together = 0.0;
        for &at in set {
            together += self.adds(at, &span);
            span.add(&self.candidates[at].column);
        }
        together
    }

    /// Whether all interactions of a set are there, beside a smaller one that is.
    fn is_there(&self, set: &[usize], smaller: &[usize], p: f64) -> bool {
        let together = self.explains(set);
        let errors = self.lanes.rounds.beside(self.squares - together, self.lanes.design.left() - set.len());
        let count = self.candidates.len();
        let more = set.len() - smaller.len();
        let of_set = p / 2_f64.powi(set.len() as i32) / sets(count, more);
        let is_beside_the_others = |at: &usize| {
            let others: Vec<usize> = set.iter().copied().filter(|other| other != at).collect();
            errors.p_together(self.adds(*at, &self.span(&others)), 1) <= p / count as f64
        };
        errors.p_together(together - self.explains(smaller), more) <= of_set && set.iter().all(is_beside_the_others)
    }
}

/// How many sets of `of` there are among so many.
fn sets(among: usize, of: usize) -> f64 {
    (0..of).map(|at| (among - at) as f64 / (at + 1) as f64).product()
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

    /// Errors of lanes whose means have this one.
    fn errors(lanes: usize, of_lane: f64) -> Errors {
        Errors { of_lane, ..Errors::from_rounds(&vec![vec![0.0; 6]; lanes]) }
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
        let known = Known {
            means: (0..24).map(mean).collect(),
            interactions: Vec::new(),
            errors: errors(24, 0.01),
            decides: true,
        };
        let beside = |others: &[&Column]| part(&one.column, &Span::new(others.iter().copied()), &known);
        let alone = beside(&[]).unwrap();
        assert!((alone.coefficient - (0.3 - 0.1 * along)).abs() < 1e-12, "alone it takes a third of the other one's");
        assert!((alone.error - 0.01 / 24_f64.sqrt()).abs() < 1e-12);
        let both = beside(&[&other.column]).unwrap();
        assert!((both.coefficient - 0.3).abs() < 1e-12);
        assert!((both.error - 0.01 / (24.0_f64 * (1.0 - 1.0 / 9.0)).sqrt()).abs() < 1e-12, "{}", both.error);
        assert!(beside(&[&other.column, &one.column]).is_none());
    }

    /// Of lanes whose means these pairs make with noise of this size, the pairs that are found. Every factor has an effect.
    fn found(made: &[(usize, usize, f64)], noise: f64) -> Vec<(usize, usize)> {
        let design = Design::new(11);
        let made: Vec<(Column, f64)> = made.iter().map(|&(a, b, of)| (candidate(&design, a, b).column, of)).collect();
        let mut source = crate::sample::Normal::new(3);
        let mean = |lane: usize| made.iter().map(|(column, of)| of * column[lane]).sum::<f64>() + noise * source.next();
        let means: Vec<f64> = (0..24).map(mean).collect();
        let lanes = Lanes { design: &design, logs: &[1.0; 11], means: &means, rounds: errors(24, noise) };
        find(&lanes, 0.01).into_iter().map(|of| of.pair).collect()
    }

    #[test]
    fn several_interactions_are_found_whatever_their_sizes_and_no_others() {
        assert!(found(&[], 0.01).is_empty());
        let sorted = |made: &[(usize, usize, f64)]| {
            let mut found = found(made, 0.002);
            found.sort_unstable();
            found
        };
        assert_eq!(sorted(&[(0, 1, 0.3)]), [(0, 1)]);
        assert_eq!(sorted(&[(0, 1, 0.3), (2, 3, -0.1)]), [(0, 1), (2, 3)]);
        // Of one size they hide each other.
        assert_eq!(sorted(&[(0, 1, 0.1), (2, 3, 0.1)]), [(0, 1), (2, 3)]);
        assert_eq!(sorted(&[(0, 1, 0.1), (0, 2, -0.1)]), [(0, 1), (0, 2)]);
    }

    #[test]
    fn of_more_than_can_be_told_apart_no_others_are_told() {
        // Six of one size, and three without a factor in common: other pairs explain the same.
        let six = [1, 2, 3, 4, 5, 6].map(|other| (0, other, 0.1));
        for made in [&six[..], &[(0, 1, 0.1), (2, 3, 0.1), (4, 5, -0.1)]] {
            let told = found(made, 0.002);
            assert!(told.iter().all(|&(a, b)| made.iter().any(|of| (of.0, of.1) == (a, b))), "{told:?} of {made:?}");
        }
    }

    #[test]
    fn as_many_sets_there_are_as_can_be_counted() {
        assert_eq!([sets(55, 1), sets(55, 2), sets(4, 4), sets(3, 0)], [55.0, 1485.0, 1.0, 1.0]);
    }

    #[test]
    fn lanes_that_differ_by_themselves_seldom_make_an_interaction() {
        // They differ by ten times what their rounds tell.
        let design = Design::new(11);
        let says = |seed: u64| {
            let mut source = crate::sample::Normal::new(seed);
            let means: Vec<f64> = (0..24).map(|_| 0.1 * source.next()).collect();
            let lanes = Lanes { design: &design, logs: &[1.0; 11], means: &means, rounds: errors(24, 0.01) };
            !find(&lanes, 0.05).is_empty()
        };
        let says = (0..400).filter(|&seed| says(seed)).count();
        // Some 20 may; more than 33 once in a thousand times.
        assert!(says <= 33, "{says} of 400");
    }
}
