//! How soon true differences are decided, how often a difference as large as the margin is called a
//! tie, and whether forecasts come true.

use crate::race::{Noise, ROUNDS, Race, Result, in_parts};
use crate::sample::Normal;
use model::findings::Verdict;
use model::plan::LOOKS;
use stats::forecast;
use stats::sequential::{self, Interval, Rule};

/// Sums over races of one pair.
#[derive(Clone, Copy, Default)]
pub struct Power {
    races: usize,
    first: usize,
    decided: usize,
    tied: usize,
    rounds: u64,
}

impl Power {
    fn and(self, other: Power) -> Power {
        Power {
            races: self.races + other.races,
            first: self.first + other.first,
            decided: self.decided + other.decided,
            tied: self.tied + other.tied,
            rounds: self.rounds + other.rounds,
        }
    }

    fn percent(&self, count: usize) -> f64 {
        100.0 * count as f64 / self.races as f64
    }

    /// Percent called faster (a tie, where the truth lies inside the margin, is as right) at six rounds.
    pub fn at_first_look(&self) -> f64 {
        self.percent(self.first)
    }

    /// The same by the last look.
    pub fn decided(&self) -> f64 {
        self.percent(self.decided)
    }

    /// Percent called a tie by the last look.
    pub fn tied(&self) -> f64 {
        self.percent(self.tied)
    }

    /// Mean rounds to the verdict; an undecided pair takes twenty.
    pub fn rounds(&self) -> f64 {
        self.rounds as f64 / self.races as f64
    }
}

/// A race in which lanes before `slower` are better by `truth` (in ln), and one pair of each kind.
#[derive(Clone, Copy)]
pub struct Question {
    /// What decides.
    pub rule: Rule,
    /// Lanes.
    pub lanes: usize,
    /// Results of the race.
    pub results: usize,
    /// Their noise.
    pub noise: Noise,
    /// Standard deviation of a pair's differences.
    pub deviation: f64,
    /// True difference of the last lane to all others, in ln.
    pub truth: f64,
}

impl Question {
    fn race(&self, source: &mut Normal) -> Race {
        let mut race = Race::new(source, self.lanes, &vec![self.noise; self.results]);
        let scale = self.deviation / 2_f64.sqrt();
        for of in &mut race.results {
            let mut lanes = std::mem::take(&mut of.lanes);
            lanes.iter_mut().flatten().for_each(|figure| *figure *= scale);
            // The last pair's first lane is the last lane.
            lanes.last_mut().into_iter().flatten().for_each(|figure| *figure += self.truth);
            *of = Result::from_logs(lanes);
        }
        race
    }

    fn interval(&self, race: &Race, rounds: usize) -> Option<Interval> {
        let last = self.rule.pairs - 1;
        let assumed = race.assumed(0, rounds);
        sequential::interval(race.results[0].differences(last, rounds), &self.rule, assumed)
    }

    fn verdict(&self, race: &Race, rounds: usize) -> Verdict {
        let last = rounds == ROUNDS;
        self.interval(race, rounds).map_or(Verdict::Undecided, |of| self.rule.verdict(of.mean, of.half, last))
    }

    /// Simulates so many races.
    pub fn power(&self, seed: u64, races: usize) -> Power {
        let simulate = |source: &mut Normal, count: usize| {
            let mut sum = Power { races: count, ..Power::default() };
            for _ in 0..count {
                let race = self.race(source);
                let looked = |&look: &u32| {
                    let verdict = self.verdict(&race, look as usize);
                    (verdict != Verdict::Undecided).then_some((look, verdict))
                };
                let found = LOOKS.iter().find_map(looked);
                sum.rounds += u64::from(found.map_or(ROUNDS as u32, |(look, _)| look));
                let Some((look, verdict)) = found else { continue };
                let right = verdict == Verdict::Faster || verdict == Verdict::Tie && self.truth < self.rule.delta();
                sum.tied += usize::from(verdict == Verdict::Tie);
                sum.decided += usize::from(right);
                sum.first += usize::from(right && look == LOOKS[0]);
            }
            sum
        };
        in_parts(seed, races, simulate, Power::and)
    }

    /// Percent of races that, undecided at the first look, are decided by the rounds that were forecast
    /// there (where these are no more than twenty).
    pub fn forecasts_come_true(&self, seed: u64, races: usize) -> f64 {
        let simulate = |source: &mut Normal, count: usize| {
            let (mut forecasts, mut true_ones) = (0_usize, 0_usize);
            for _ in 0..count {
                let race = self.race(source);
                let first = LOOKS[0];
                let Some(of) = self.interval(&race, first as usize) else { continue };
                if self.rule.verdict(of.mean, of.half, false) != Verdict::Undecided {
                    continue;
                }
                let Some(until) = forecast::rounds_to_settle(&of, first, &self.rule) else { continue };
                if until as usize > ROUNDS {
                    continue;
                }
                forecasts += 1;
                let looks = LOOKS.iter().filter(|&&look| look > first && look <= until);
                true_ones += usize::from(
                    looks.into_iter().any(|&look| self.verdict(&race, look as usize) != Verdict::Undecided),
                );
            }
            (forecasts, true_ones)
        };
        let (forecasts, true_ones) = in_parts(seed, races, simulate, |a, b| (a.0 + b.0, a.1 + b.1));
        100.0 * true_ones as f64 / forecasts.max(1) as f64
    }

    /// The mean of what s/√n is multiplied by at this many rounds.
    pub fn constant(&self, seed: u64, races: usize, rounds: usize) -> f64 {
        let simulate = |source: &mut Normal, count: usize| {
            let constant = |of: Interval| self.rule.constant(rounds, of.correlation.lag1);
            let sum: f64 = (0..count).filter_map(|_| self.interval(&self.race(source), rounds)).map(constant).sum();
            (sum, count)
        };
        let (sum, count) = in_parts(seed, races, simulate, |a, b| (a.0 + b.0, a.1 + b.1));
        sum / count as f64
    }

    /// Percent of races whose interval excludes zero on the right side at this many rounds.
    pub fn excludes_zero(&self, seed: u64, races: usize, rounds: usize) -> f64 {
        let simulate = |source: &mut Normal, count: usize| {
            let excludes = |of: Interval| of.mean > of.half;
            ((0..count).filter(|_| self.interval(&self.race(source), rounds).is_some_and(excludes)).count(), count)
        };
        let (excluding, count) = in_parts(seed, races, simulate, |a, b| (a.0 + b.0, a.1 + b.1));
        100.0 * excluding as f64 / count as f64
    }
}
