//! Pairs of options that change each other's effect (method 9.6).

use super::design::{Column, Design};
use super::effects::{dot, product};
use super::errors::{Errors, ROW_P};
use super::span::Span;
use super::{Known, ratio};
use model::findings::Interaction;
use model::screening::Factor;

/// Interactions of one result at most: more of them are hardly told from each other.
const MOST: usize = 5;
/// Pairs named beside one that they cannot be told from; more of them are counted.
const MOST_ALIASES: usize = 5;
/// Candidates of which every two are tried together: those that show most by themselves.
const MOST_IN_TWOS: usize = 30;
/// Two shares are alike where one is larger by less than this share of the other: candidates that are one column.
const ALIKE: f64 = 1e-9;

/// Two factors, by their places, and their product.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Candidate {
    pair: (usize, usize),
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
/// One after the other, each time that which explains most of what is left, or else the two that do so together, as long as they
/// are significant among all candidates. They are held against what is then left, and against the rounds.
pub(super) fn find(lanes: &Lanes, p: f64) -> Vec<Candidate> {
    let mut left = candidates(lanes, p);
    let count = left.len() as f64;
    let mut search = Search {
        means: lanes.means,
        rounds: lanes.rounds,
        span: Span::default(),
        squares: lanes.design.effects_left(&[], lanes.means).iter().map(|of| of * of).sum(),
        columns: lanes.design.left(),
    };
    let mut found: Vec<Candidate> = Vec::new();
    while found.len() < MOST {
        let of_one = p / count;
        let next = search.best(&left).filter(|&(_, squares)| search.p(squares, 1) <= of_one).map(|(at, _)| vec![at]);
        let of_two = 2.0 * of_one / (count - 1.0);
        let two = || (found.len() + 2 <= MOST).then(|| search.best_two(&left, of_one, of_two)).flatten();
        let Some(mut next) = next.or_else(two) else { break };
        next.sort_unstable();
        for at in next.into_iter().rev() {
            let candidate = left.remove(at);
            search.take(&candidate);
            found.push(candidate);
        }
    }
    found
}

/// Pairs of which one factor has an effect, or each has one that its own row shows, by the rounds alone; those with the largest
/// effects first.
fn candidates(lanes: &Lanes, p: f64) -> Vec<Candidate> {
    let Lanes { design, logs, rounds, .. } = lanes;
    let is_below = |at: usize, bound: f64| rounds.p(logs[at].abs() / rounds.of_effect()) < bound;
    let shows = |at: usize| is_below(at, ROW_P);
    let is_there = |at: usize| is_below(at, p / logs.len() as f64);
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

/// What was found so far, and what is left.
struct Search<'a> {
    means: &'a [f64],
    rounds: Errors,
    /// Of the interactions that were found.
    span: Span,
    /// Effects squared of the columns that are left, and how many these are.
    squares: f64,
    columns: usize,
}

impl Search<'_> {
    /// The effect squared of what a column has beside some others; 0: nothing.
    fn squares_of(&self, column: &Column, beside: &Span) -> f64 {
        let Some(left) = beside.beside(column) else { return 0.0 };
        4.0 / self.means.len() as f64 * dot(&left, self.means).powi(2) / dot(&left, &left)
    }

    /// P of so many columns with these effects squared, held against what is left without them.
    fn p(&self, squares: f64, columns: usize) -> f64 {
        let left = self.columns.saturating_sub(columns);
        self.rounds.beside(self.squares - squares, left).p_together(squares, columns)
    }

    /// The candidate that explains most; of several that cannot be told apart the first.
    fn best(&self, candidates: &[Candidate]) -> Option<(usize, f64)> {
        let all = candidates.iter().map(|of| self.squares_of(&of.column, &self.span)).enumerate();
        all.reduce(|best, next| if next.1 > best.1 * (1.0 + ALIKE) { next } else { best })
    }

    /// The two that explain most together, where both are significant at one p and each beside the other at another.
    fn best_two(&self, candidates: &[Candidate], of_one: f64, of_two: f64) -> Option<Vec<usize>> {
        let mut alone: Vec<(usize, f64)> =
            candidates.iter().map(|of| self.squares_of(&of.column, &self.span)).enumerate().collect();
        alone.sort_by(|x, y| y.1.total_cmp(&x.1));
        alone.truncate(MOST_IN_TWOS);
        let mut best: Option<([usize; 2], [f64; 2])> = None;
        for (place, &(a, of_a)) in alone.iter().enumerate() {
            let mut span = self.span.clone();
            span.add(&candidates[a].column);
            for &(b, of_b) in &alone[place + 1..] {
                let beside = self.squares_of(&candidates[b].column, &span);
                let together = of_a + beside;
                if best.is_none_or(|(_, [most, _])| together > most * (1.0 + ALIKE)) {
                    // What either shows beside the other: the least of them decides.
                    best = Some(([a, b], [together, beside.min(together - of_b)]));
                }
            }
        }
        let ([a, b], [together, least]) = best?;
        // The one that shows least is held against what is left without both.
        let errors = self.rounds.beside(self.squares - together, self.columns.saturating_sub(2));
        (self.p(together, 2) <= of_two && errors.p_together(least, 1) <= of_one).then(|| vec![a, b])
    }

    /// Takes an interaction as found.
    fn take(&mut self, candidate: &Candidate) {
        self.squares -= self.squares_of(&candidate.column, &self.span);
        if self.span.add(&candidate.column).is_some() {
            self.columns = self.columns.saturating_sub(1);
        }
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
        find(&lanes, 0.05).into_iter().map(|of| of.pair).collect()
    }

    #[test]
    fn the_largest_is_taken_first_and_what_is_left_decides_about_the_next() {
        assert_eq!(found(&[(0, 1, 0.3), (2, 3, -0.1)], 0.01), [(0, 1), (2, 3)]);
        assert!(found(&[], 0.01).is_empty());
        // Six real ones: no more than five are told.
        let six = [1, 2, 3, 4, 5, 6].map(|other| (0, other, 0.1 * f64::from(other as u32)));
        assert!(found(&six, 0.001).len() <= MOST);
    }

    #[test]
    fn two_of_one_size_that_hide_each_other_are_found_together() {
        let mut two = found(&[(0, 1, 0.1), (2, 3, 0.1)], 0.005);
        two.sort_unstable();
        assert_eq!(two, [(0, 1), (2, 3)]);
    }

    #[test]
    fn lanes_that_differ_by_themselves_make_no_interactions() {
        // They differ by ten times what their rounds tell.
        let design = Design::new(11);
        let says = |seed: u64| {
            let mut source = crate::sample::Normal::new(seed);
            let means: Vec<f64> = (0..24).map(|_| 0.1 * source.next()).collect();
            let lanes = Lanes { design: &design, logs: &[1.0; 11], means: &means, rounds: errors(24, 0.01) };
            !find(&lanes, 0.05).is_empty()
        };
        let says = (0..100).filter(|&seed| says(seed)).count();
        assert!(says <= 12, "{says} of 100, of which some 5 may");
    }
}
