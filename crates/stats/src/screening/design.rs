//! The runs of a screening, and the columns of its design (method 9.2).

use super::effects::{contrast, dot, product};
use super::span::Span;
use model::screening::{DesignKind, MOST_FACTORS, Screening, ScreeningRun};
use std::collections::BTreeSet;

/// Most factors whose every combination is raced.
const MOST_IN_FULL: usize = 4;
/// Every combination takes 2 to this power lanes at least. Fewer factors have each combination in several of them, because
/// two or four lanes do not show how far lanes differ by themselves.
const LEAST_IN_FULL: usize = 3;
/// Rows that the designs of 8, 12 and 24 runs are made of: each further row is the one before, turned on by one place, and
/// the last one is all minus. Source: Plackett and Burman, Biometrika 33 (1946), 305 to 325.
const ROWS: [&str; 3] = ["+++-+--", "++-+++---+-", "+++++-+-++--++--+-+----"];

/// A column of a design: 1 for each run at the other level, -1 for the others.
pub(super) type Column = Vec<f64>;

/// The design of a screening of so many factors, and its runs: for each factor whether it is at its other level. The first
/// run is the default, with all at their usual level.
///
/// Every combination of up to 4 factors, of one factor four times, of two twice, of more once; from 5 on Plackett and Burman's
/// design, folded over, in which no two runs are alike. There are 1 to [`MOST_FACTORS`] factors: what lies outside is taken
/// for the nearest of these.
pub fn plan_design(factors: usize) -> (DesignKind, Vec<Vec<bool>>) {
    let factors = factors.clamp(1, MOST_FACTORS);
    planned(factors, source_for(factors))
}

/// What a design is made of.
#[derive(Clone, Copy)]
enum Source {
    /// Every combination of so many columns of two levels, of which the first ones are the factors.
    Full(usize),
    /// A row of Plackett and Burman's.
    Row(&'static str),
}

/// The design of so many factors that is made of this.
fn planned(factors: usize, source: Source) -> (DesignKind, Vec<Vec<bool>>) {
    match source {
        Source::Full(columns) => {
            let run = |run: usize| -> Vec<bool> { (0..factors).map(|factor| (run >> factor) & 1 == 1).collect() };
            (DesignKind::FullFactorial, (0..1_usize << columns).map(run).collect())
        }
        Source::Row(row) => {
            let mut runs = folded(row);
            runs.iter_mut().for_each(|run| run.truncate(factors));
            (DesignKind::FoldedPlackettBurman, runs)
        }
    }
}

/// Lanes of the design of so many factors, as [`plan_design`] takes them.
pub fn lanes_of(factors: usize) -> usize {
    plan_design(factors).1.len()
}

/// Lanes that every combination of so many options with two levels takes; the largest number where there is no larger one.
pub fn full_factorial(factors: usize) -> u64 {
    u32::try_from(factors).ok().and_then(|factors| 1_u64.checked_shl(factors)).unwrap_or(u64::MAX)
}

/// The smallest design of so many factors that shows how far lanes differ by themselves.
fn source_for(factors: usize) -> Source {
    let row = || ROWS.into_iter().find(|row| row.len() >= factors);
    if factors <= MOST_IN_FULL {
        return Source::Full(factors.max(LEAST_IN_FULL));
    }
    row().map_or(Source::Full(factors), Source::Row)
}

/// The design of so many factors in a record of so many runs: an older version raced every combination once.
fn source_in_record(factors: usize, runs: usize) -> Source {
    match factors < LEAST_IN_FULL && runs == 1 << factors {
        true => Source::Full(factors),
        false => source_for(factors),
    }
}

/// All columns of a design by runs: the row of all minus, the row and its turns, then each of these with all signs turned.
fn folded(row: &str) -> Vec<Vec<bool>> {
    let row: Vec<bool> = row.bytes().map(|sign| sign == b'+').collect();
    let columns = row.len();
    let turned_on =
        |by: usize| -> Vec<bool> { (0..columns).map(|column| row[(column + columns - by) % columns]).collect() };
    let base: Vec<Vec<bool>> = std::iter::once(vec![false; columns]).chain((0..columns).map(turned_on)).collect();
    let mirrored: Vec<Vec<bool>> = base.iter().map(|run| run.iter().map(|other| !other).collect()).collect();
    base.into_iter().chain(mirrored).collect()
}

/// The columns of a design, each with one sign per run.
pub(super) struct Design {
    /// Of each factor.
    pub(super) factors: Vec<Column>,
    /// Columns in which no factor stands, and no two of them together.
    pub(super) spare: Vec<Column>,
    /// Columns in whose sums all products of two factors lie. With the factors and the spare ones all that tell runs apart.
    pub(super) pairs: Vec<Column>,
}

impl Design {
    /// Of so many factors, with its runs in the order of [`plan_design`].
    pub(super) fn new(factors: usize) -> Design {
        let factors = factors.clamp(1, MOST_FACTORS);
        Design::made(factors, source_for(factors))
    }

    /// Of so many factors, made of this.
    fn made(factors: usize, source: Source) -> Design {
        let row = match source {
            Source::Full(columns) => return Design::full(factors, columns),
            Source::Row(row) => row,
        };
        let all = folded(row);
        let mut columns: Vec<Column> = (0..row.len()).map(|at| column(&all, at)).collect();
        // Which of the two halves a run is in.
        let half: Column = (0..all.len()).map(|run| sign(2 * run >= all.len())).collect();
        // A product of two columns is alike in both halves, as is that of each of them with the half.
        let pairs = columns.iter().map(|column| product(&half, column)).collect();
        let mut spare = columns.split_off(factors);
        spare.push(half);
        Design { factors: columns, spare, pairs }
    }

    /// Every combination of so many columns, of which the first ones are the factors. What holds one of the others tells lanes
    /// apart that are alike.
    fn full(factors: usize, columns: usize) -> Design {
        let (_, runs) = planned(columns, Source::Full(columns));
        let of_one: Vec<Column> = (0..columns).map(|at| column(&runs, at)).collect();
        let products = |is_such: &dyn Fn(usize) -> bool| -> Vec<Column> {
            let of_set = |set: usize| of_one.iter().enumerate().filter(move |(at, _)| (set >> at) & 1 == 1);
            (1..1_usize << columns).filter(|&set| is_such(set)).map(|set| product_of(of_set(set))).collect()
        };
        let is_of_factors = |set: usize| set >> factors == 0;
        let pairs = products(&|set| is_of_factors(set) && set.count_ones() == 2);
        let spare = products(&|set| !is_of_factors(set) || set.count_ones() > 2);
        Design { factors: of_one[..factors].to_vec(), spare, pairs }
    }

    /// Columns without a factor, those of pairs among them.
    pub(super) fn left(&self) -> usize {
        self.spare.len() + self.pairs.len()
    }

    /// The effects of all columns without a factor beside those of pairs that are there, each as of a column of ±1.
    pub(super) fn effects_left(&self, there: &[&Column], means: &[f64]) -> Vec<f64> {
        let mut span = Span::new(there.iter().copied());
        let runs = means.len() as f64;
        let of_pair = |column: &Column| {
            let left = span.add(column)?;
            Some(contrast(&left, means) * (runs / dot(&left, &left)).sqrt())
        };
        let spare = self.spare.iter().map(|column| contrast(column, means));
        spare.chain(self.pairs.iter().filter_map(of_pair)).collect()
    }
}

/// The signs of one column.
fn column(runs: &[Vec<bool>], at: usize) -> Column {
    runs.iter().map(|run| sign(run[at])).collect()
}

fn sign(other: bool) -> f64 {
    if other { 1.0 } else { -1.0 }
}

/// The product of some numbered columns.
fn product_of<'a>(columns: impl Iterator<Item = (usize, &'a Column)>) -> Column {
    columns.map(|(_, column)| column.clone()).reduce(|a, b| product(&a, &b)).unwrap_or_default()
}

/// The lanes of a screening in the order of its design's runs, and the design. `None`: its runs are those of none, or two of
/// its lanes or factors have one name.
pub(super) fn in_order(screening: &Screening) -> Option<(Vec<&str>, Design)> {
    let factors = screening.factors.len();
    if !(1..=MOST_FACTORS).contains(&factors) {
        return None;
    }
    let source = source_in_record(factors, screening.runs.len());
    let (kind, runs) = planned(factors, source);
    if runs.len() != screening.runs.len() {
        return None;
    }
    let names: BTreeSet<&str> = screening.factors.iter().map(|factor| factor.name.as_str()).collect();
    if kind != screening.design || names.len() != factors {
        return None;
    }
    let mut left: Vec<&ScreeningRun> = screening.runs.iter().collect();
    let mut lanes = Vec::with_capacity(runs.len());
    for run in &runs {
        // Of runs that are alike each stands for one.
        let at = left.iter().position(|of| of.at_other == *run)?;
        lanes.push(left.remove(at).lane.as_str());
    }
    let distinct: BTreeSet<&str> = lanes.iter().copied().collect();
    (distinct.len() == lanes.len()).then(|| (lanes, Design::made(factors, source)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_design_has_its_runs_equally_often_and_begins_with_the_default() {
        for factors in 1..=MOST_FACTORS {
            let (kind, runs) = plan_design(factors);
            let lanes = match factors {
                1..=3 => 8,
                4..=7 => 16,
                8..=11 => 24,
                _ => 48,
            };
            assert_eq!((runs.len(), lanes_of(factors)), (lanes, lanes), "{factors} factors");
            assert_eq!(kind == DesignKind::FullFactorial, factors <= 4, "{factors} factors");
            assert!(runs.iter().all(|run| run.len() == factors) && runs[0].iter().all(|other| !other));
            let distinct: BTreeSet<&Vec<bool>> = runs.iter().collect();
            let times = match factors {
                1 => 4,
                2 => 2,
                _ => 1,
            };
            assert_eq!(distinct.len() * times, lanes, "{factors} factors");
            let often = |run: &Vec<bool>| runs.iter().filter(|other| *other == run).count();
            assert!(distinct.into_iter().all(|run| often(run) == times), "{factors} factors");
        }
    }

    #[test]
    fn columns_are_balanced_and_orthogonal_and_as_many_as_tell_runs_apart() {
        for factors in 1..=MOST_FACTORS {
            let design = Design::new(factors);
            let all: Vec<&Column> = design.factors.iter().chain(&design.spare).chain(&design.pairs).collect();
            for (at, one) in all.iter().enumerate() {
                assert_eq!(one.len(), lanes_of(factors));
                assert_eq!(one.iter().sum::<f64>(), 0.0, "{factors} factors, column {at}");
                assert!(all[..at].iter().all(|other| dot(one, other) == 0.0), "{factors} factors, column {at}");
            }
            assert_eq!((all.len(), design.left()), (lanes_of(factors) - 1, lanes_of(factors) - 1 - factors));
            let spare = match factors {
                1 => 6,
                2 => 4,
                3 => 1,
                4 => 5,
                5..=7 => 8 - factors,
                8..=11 => 12 - factors,
                _ => 24 - factors,
            };
            assert_eq!(design.spare.len(), spare, "{factors} factors");
        }
    }

    #[test]
    fn products_of_two_factors_lie_among_those_of_pairs_and_along_no_factor_or_spare_column() {
        for factors in 2..=MOST_FACTORS {
            let design = Design::new(factors);
            let pairs = Span::new(&design.pairs);
            for a in 1..factors {
                for b in 0..a {
                    let both = product(&design.factors[a], &design.factors[b]);
                    let clear = design.factors.iter().chain(&design.spare).all(|column| dot(&both, column) == 0.0);
                    assert!(clear && both.iter().sum::<f64>() == 0.0, "{factors} factors: {a} and {b}");
                    assert!(pairs.beside(&both).is_none(), "{factors} factors: {a} and {b}");
                }
            }
        }
    }

    #[test]
    fn what_is_left_beside_interactions_are_effects_of_whole_columns() {
        // The length of a vector does not change where its axes do: all effects together are what the runs differ by.
        let design = Design::new(9);
        let means: Vec<f64> = (0..24).map(|run| f64::from(run * run % 11)).collect();
        let squares = |effects: &[f64]| effects.iter().map(|of| of * of).sum::<f64>();
        let whole = design.effects_left(&[], &means);
        let there = [product(&design.factors[0], &design.factors[1]), product(&design.factors[2], &design.factors[3])];
        let left = design.effects_left(&[&there[0], &there[1]], &means);
        assert_eq!((whole.len(), left.len()), (14, 12));
        // The second beside the first: a third of it lies along that.
        let beside = Span::new([&there[0]]).beside(&there[1]).expect("they differ");
        let taken =
            contrast(&there[0], &means).powi(2) + contrast(&beside, &means).powi(2) * 24.0 / dot(&beside, &beside);
        assert!((squares(&whole) - squares(&left) - taken).abs() < 1e-9 && taken > 0.1);
    }

    #[test]
    fn the_twelve_runs_are_those_of_plackett_and_burman() {
        let words = |run: &Vec<bool>| run.iter().map(|other| if *other { '+' } else { '-' }).collect::<String>();
        let runs: Vec<String> = plan_design(11).1.iter().map(words).collect();
        // Their row, its first turn, and its last: that ends with the row's first sign.
        assert_eq!((runs[0].as_str(), runs[1].as_str()), ("-----------", "++-+++---+-"));
        assert_eq!((runs[2].as_str(), runs[11].as_str()), ("-++-+++---+", "+-+++---+-+"));
        // Folded over.
        assert_eq!((runs[12].as_str(), runs[13].as_str()), ("+++++++++++", "--+---+++-+"));
    }

    #[test]
    fn what_is_no_number_of_factors_is_taken_for_the_nearest() {
        assert_eq!((lanes_of(0), lanes_of(usize::MAX)), (8, 48));
        assert_eq!((full_factorial(0), full_factorial(20), full_factorial(63)), (1, 1 << 20, 1 << 63));
        assert_eq!((full_factorial(64), full_factorial(usize::MAX)), (u64::MAX, u64::MAX));
    }
}
