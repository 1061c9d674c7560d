//! How often a whole race says something false, by its rows and by what holds over the race.

use crate::race::{Noise, ROUNDS, Race, differs, in_parts};
use model::findings::Verdict;
use model::plan::LOOKS;
use stats::sequential::{self, Interval, Rule};
use stats::whole_race;

/// Counts over races.
#[derive(Clone, Copy, Default)]
pub struct Counts {
    /// Races.
    pub races: usize,
    /// With a row that differs the wrong way or where nothing does.
    pub rows: usize,
    /// With such a difference among those that hold over the race.
    pub held: usize,
    /// In which the largest difference of a row is told larger than it is by more than a tenth of itself.
    pub largest: usize,
    /// With a difference that is told "at least" larger than it is.
    pub at_least: usize,
    /// True differences, and those that a row and that the race names.
    pub named: [usize; 3],
}

impl Counts {
    fn and(self, other: Counts) -> Counts {
        Counts {
            races: self.races + other.races,
            rows: self.rows + other.rows,
            held: self.held + other.held,
            largest: self.largest + other.largest,
            at_least: self.at_least + other.at_least,
            named: std::array::from_fn(|at| self.named[at] + other.named[at]),
        }
    }
}

/// Races of three lanes with so many results, each lane's noise of this deviation. In each result the first lane does
/// better than both others by `truth` (ln), in every second one.
pub fn simulate(
    seed: u64,
    races: usize,
    results: usize,
    noise: Noise,
    deviation: f64,
    truth: f64,
    rule: Rule,
) -> Counts {
    let one = |source: &mut _, count: usize| {
        let mut counts = Counts::default();
        for _ in 0..count {
            let race = Race::new(source, 3, &vec![noise; results]);
            let of = |result: usize| {
                judge(&race, result, deviation, if result.is_multiple_of(2) { truth } else { 0.0 }, &rule)
            };
            let judged: Vec<Vec<(Interval, f64, Verdict)>> = (0..results).map(of).collect();
            counts.add(&judged, &rule);
        }
        counts
    };
    in_parts(seed, races, one, Counts::and)
}

/// The pairs of a result at the look at which all are decided, with the true difference of each.
fn judge(race: &Race, result: usize, deviation: f64, truth: f64, rule: &Rule) -> Vec<(Interval, f64, Verdict)> {
    let pairs = [(1, 0), (2, 0), (2, 1)];
    let mut found = Vec::new();
    for look in LOOKS {
        let rounds = look as usize;
        let (last, assumed) = (rounds == ROUNDS, race.assumed(result, rounds));
        let of = |(index, &(_, b)): (usize, &(usize, usize))| {
            let truth = if b == 0 { -truth } else { 0.0 };
            let differences: Vec<f64> =
                race.results[result].differences(index, rounds).iter().map(|of| deviation * of + truth).collect();
            let interval = sequential::interval(&differences, rule, assumed)?;
            Some((interval, truth, rule.verdict(interval.mean, interval.half, last)))
        };
        found = pairs.iter().enumerate().filter_map(of).collect();
        if found.iter().all(|(_, _, verdict)| *verdict != Verdict::Undecided) {
            break;
        }
    }
    found
}

impl Counts {
    fn add(&mut self, judged: &[Vec<(Interval, f64, Verdict)>], rule: &Rule) {
        let by: Vec<_> =
            judged.iter().map(|of| (*rule, of.iter().map(|(interval, ..)| Some(*interval)).collect())).collect();
        let held = whole_race::holds(&by, judged.len());
        let all = || judged.iter().zip(&held).flat_map(|(pairs, held)| pairs.iter().zip(held));
        let decided = || all().filter(|((.., verdict), _)| differs(*verdict));
        let wrong = |mean: f64, truth: f64| mean * truth <= 0.0;
        self.races += 1;
        self.rows += usize::from(decided().any(|((of, truth, _), _)| wrong(of.mean, *truth)));
        let over = || decided().filter_map(|(one, held)| Some((one, (*held)?)));
        self.held += usize::from(over().any(|((of, truth, _), _)| wrong(of.mean, *truth)));
        let largest = decided().max_by(|a, b| a.0.0.mean.abs().total_cmp(&b.0.0.mean.abs()));
        self.largest += usize::from(largest.is_some_and(|((of, truth, _), _)| of.mean.abs() > 1.1 * truth.abs()));
        let too_much = |near: f64, truth: f64| wrong(near, truth) || near.abs() > truth.abs();
        self.at_least +=
            usize::from(over().any(|((_, truth, _), held)| held.at_least.is_some_and(|near| too_much(near, *truth))));
        let real = |((_, truth, _), _): &(&(Interval, f64, Verdict), _)| *truth != 0.0;
        self.named[0] += all().filter(|one| one.0.1 != 0.0).count();
        self.named[1] += decided().filter(|one| one.0.1 != 0.0).count();
        self.named[2] += over().map(|(one, held)| (one, Some(held))).filter(real).count();
    }
}
