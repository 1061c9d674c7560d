//! A scenario's parts, and the measured series that stand for them.

use super::Race;
use crate::answer::cannot_tell;
use crate::resample::FEWEST_ROUNDS;
use model::findings::{Equal, Limit, Pair, ResultFinding, Verdict};
use model::scenario::{Scenario, Weight};

/// A part of a scenario that was measured.
pub struct Part<'a> {
    /// The part.
    pub weight: &'a Weight,
    /// What stands for it; never empty.
    pub series: Vec<Series<'a>>,
}

/// One measured series.
#[derive(Clone, Copy)]
pub struct Series<'a> {
    /// Index of the race.
    pub race: usize,
    /// Name of its suite.
    pub suite: &'a str,
    /// The result.
    pub result: &'a ResultFinding,
}

/// The parts that were measured, and those that were not.
pub fn parts<'a>(scenario: &'a Scenario, races: &[Race<'a>]) -> (Vec<Part<'a>>, Vec<&'a Weight>) {
    let (mut measured, mut missing) = (Vec::new(), Vec::new());
    for weight in &scenario.weight {
        let series = weight.series.iter().map(|matcher| {
            let of = |(race, of): (usize, &Race<'a>)| {
                let findings = of.findings;
                let fits = move |result: &&'a ResultFinding| {
                    matcher.matches(&findings.suite, &result.workload, &result.group) && was_measured(result)
                };
                findings.results.iter().filter(fits).map(move |result| Series { race, suite: &findings.suite, result })
            };
            races.iter().enumerate().flat_map(of).collect::<Vec<_>>()
        });
        // The nearest that was measured counts, alone: what is farther away would only dilute it.
        match series.into_iter().find(|series| !series.is_empty()) {
            Some(series) => measured.push(Part { weight, series }),
            None => missing.push(weight),
        }
    }
    (measured, missing)
}

/// Fewer rounds than can be resampled say nothing about a difference.
fn was_measured(result: &ResultFinding) -> bool {
    result.rounds as usize >= FEWEST_ROUNDS && result.estimates.iter().any(|estimate| estimate.failure.is_none())
}

impl Series<'_> {
    /// The pair of two lanes, and whether `a` is the judged one in it.
    pub fn pair(&self, a: &str, b: &str) -> Option<(&Pair, bool)> {
        let is = |pair: &Pair, x: &str, y: &str| pair.a == x && pair.b == y;
        let pair = self.result.pairs.iter().find(|pair| is(pair, a, b) || is(pair, b, a))?;
        Some((pair, pair.a == a))
    }

    /// ln(a/b) where the two are decided apart; otherwise why no difference counts.
    pub fn difference(&self, a: &str, b: &str) -> Result<f64, Equal> {
        if cannot_tell(self.result) {
            return Err(match self.result.limit {
                Limit::Device => Equal::Device,
                Limit::Cache => Equal::Cache,
                _ => Equal::Harness,
            });
        }
        let (pair, straight) = self.pair(a, b).ok_or(Equal::NoVerdict)?;
        let ratio = pair.ratio.filter(|ratio| ratio.is_finite() && *ratio > 0.0);
        match (pair.verdict, ratio) {
            (Verdict::Faster | Verdict::Slower, Some(ratio)) => Ok(if straight { ratio.ln() } else { -ratio.ln() }),
            (Verdict::Tie, _) => Err(Equal::Tie),
            (Verdict::Undecided, _) => Err(Equal::Undecided),
            _ => Err(Equal::NoVerdict),
        }
    }

    /// The interval of ln(a/b) of an undecided pair.
    pub fn undecided(&self, a: &str, b: &str) -> Option<(f64, f64)> {
        if self.difference(a, b) != Err(Equal::Undecided) {
            return None;
        }
        let (pair, straight) = self.pair(a, b)?;
        let (low, high) = (pair.low.filter(|low| *low > 0.0)?.ln(), pair.high.filter(|high| *high > 0.0)?.ln());
        Some(if straight { (low, high) } else { (-high, -low) })
    }
}

impl Part<'_> {
    /// ln(a/b) of this part: the mean over its series, those without a counting difference as zero.
    pub fn difference(&self, a: &str, b: &str) -> f64 {
        let sum: f64 = self.series.iter().map(|series| series.difference(a, b).unwrap_or(0.0)).sum();
        sum / self.series.len() as f64
    }

    /// Why no difference of any two of these lanes counts in any series; `None`: one does. Where
    /// series or pairs disagree, noise is named before a tie, because more rounds can end it.
    pub fn equal(&self, lanes: &[&str]) -> Option<Equal> {
        let mut reasons = Vec::new();
        for series in &self.series {
            for (place, a) in lanes.iter().enumerate() {
                for b in &lanes[..place] {
                    match series.difference(a, b) {
                        Ok(_) => return None,
                        Err(why) => reasons.push(why),
                    }
                }
            }
        }
        let order = [Equal::Undecided, Equal::NoVerdict, Equal::Tie, Equal::Device, Equal::Cache, Equal::Harness];
        order.into_iter().find(|why| reasons.contains(why))
    }

    /// Why a lane could not do this part; `None`: it could.
    pub fn failure(&self, lane: &str) -> Option<String> {
        let of = |series: &Series| {
            let estimate = series.result.estimates.iter().find(|estimate| estimate.lane == lane)?;
            Some(format!("{}: {}", series.result.title, estimate.failure.as_ref()?))
        };
        self.series.iter().find_map(of)
    }

    /// What stands for it, as `SUITE/WORKLOAD/GROUP`.
    pub fn names(&self) -> Vec<String> {
        let mut names: Vec<String> = Vec::new();
        for series in &self.series {
            let name = format!("{}/{}/{}", series.suite, series.result.workload, series.result.group);
            if !names.contains(&name) {
                names.push(name);
            }
        }
        names
    }
}
