//! A scenario's parts, and the measured series that stand for them.

use super::{Race, databases};
use crate::answer::cannot_tell;
use crate::estimate;
use crate::failed;
use crate::resample::FEWEST_ROUNDS;
use crate::series;
use crate::statements::{advice as statement, text};
use model::Sentence;
use model::findings::{Counts, Equal, Limit, Pair, ResultFinding, Verdict};
use model::scenario::{Matcher, Scenario, Weight};
use std::collections::BTreeMap;

/// A part of a scenario that was measured.
pub struct Part<'a> {
    /// The part.
    pub weight: &'a Weight,
    /// What stands for it; never empty.
    pub series: Vec<Series<'a>>,
}

/// One measured series.
pub struct Series<'a> {
    /// Index of the race.
    pub race: usize,
    /// Name of its suite.
    pub suite: &'a str,
    /// The result.
    pub result: &'a ResultFinding,
    lanes: Vec<Raced<'a>>,
}

/// What one lane did in a series.
struct Raced<'a> {
    lane: &'a str,
    /// (round, figure), ascending by round, those that can be used.
    figures: Vec<(u32, f64)>,
    /// How many rounds failed, and why.
    failed: Option<Sentence>,
    /// Why its trials count nowhere, because the throttle did not hold.
    void: Option<Sentence>,
}

impl<'a> Raced<'a> {
    fn new(lane: &series::LaneSeries<'a>, result: &ResultFinding) -> Raced<'a> {
        let mut figures = lane.figures(&result.group, &result.metric);
        figures.retain(|(_, figure)| estimate::usable(*figure));
        let failed = failed::trials(lane, &result.group);
        let all = failed.len() + lane.group(&result.group).count();
        let said = |last: &&model::trial::Trial| statement::rounds_failed(failed.len(), all, failed::reason(last));
        Raced {
            lane: &lane.lane.name,
            figures,
            failed: failed.last().map(said),
            void: lane.void.last().map(|&trial| failed::reason(trial)),
        }
    }
}

/// The parts that were measured, and those that were not. The lanes of a screening are no choices.
pub fn parts<'a>(scenario: &'a Scenario, races: &[Race<'a>]) -> (Vec<Part<'a>>, Vec<&'a Weight>) {
    let (mut measured, mut missing) = (Vec::new(), Vec::new());
    // Groups of a workload share its trials.
    let mut trials: BTreeMap<(usize, &str), series::Series> = BTreeMap::new();
    for weight in &scenario.weight {
        let found = weight.series.iter().map(|matcher| {
            let of = |(race, of): (usize, &Race<'a>)| {
                let (record, findings) = (of.record, of.findings);
                let fits = move |result: &&'a ResultFinding| {
                    findings.screening.is_none()
                        && matcher.matches(&findings.suite, &result.workload, &result.group)
                        && was_measured(result)
                        && !databases::may_lose(scenario, record, &result.workload)
                };
                findings.results.iter().filter(fits).map(move |result| (race, result))
            };
            races.iter().enumerate().flat_map(of).collect::<Vec<_>>()
        });
        // The nearest that was measured counts, alone: what is farther away would only dilute it.
        let Some(found) = found.into_iter().find(|found| !found.is_empty()) else {
            missing.push(weight);
            continue;
        };
        let series = found.into_iter().map(|(race, result)| {
            let (record, findings) = (races[race].record, races[race].findings);
            let of = trials
                .entry((race, result.workload.as_str()))
                .or_insert_with(|| series::Series::new(record, &result.workload));
            let lanes = of.lanes.iter().map(|lane| Raced::new(lane, result)).collect();
            Series { race, suite: &findings.suite, result, lanes }
        });
        measured.push(Part { weight, series: series.collect() });
    }
    (measured, missing)
}

/// Whether something that stands for the part was raced, in too few rounds to say anything.
pub fn was_raced(weight: &Weight, races: &[Race]) -> bool {
    let stands = |of: &Race| {
        let fits = |result: &ResultFinding| {
            let matches = |matcher: &Matcher| matcher.matches(&of.findings.suite, &result.workload, &result.group);
            result.rounds > 0 && (result.rounds as usize) < FEWEST_ROUNDS && weight.series.iter().any(matches)
        };
        of.findings.results.iter().any(fits)
    };
    races.iter().any(stands)
}

/// Titles of work that was raced and may be taken for a part: commits of another kind, where the part is commits. Appending
/// to a file and overwriting a log that lies there are different work for a filesystem, so that it does not stand for it.
pub fn of_its_kind(weight: &Weight, races: &[Race]) -> Vec<String> {
    let mut titles: Vec<String> = Vec::new();
    if weight.what != COMMITS {
        return titles;
    }
    for race in races {
        let is_other = |result: &&ResultFinding| {
            let stands = |of: &Matcher| of.matches(&race.findings.suite, &result.workload, &result.group);
            result.counts == Counts::Commits && was_measured(result) && !weight.series.iter().any(stands)
        };
        titles.extend(race.findings.results.iter().filter(is_other).map(|result| result.title.clone()));
    }
    titles.dedup();
    titles
}

/// What scenarios call writes that wait for their flush.
const COMMITS: &str = "commits";

/// Fewer rounds than can be resampled say nothing about a difference.
fn was_measured(result: &ResultFinding) -> bool {
    result.rounds as usize >= FEWEST_ROUNDS && result.estimates.iter().any(|estimate| estimate.failure.is_none())
}

impl Series<'_> {
    fn raced(&self, lane: &str) -> Option<&Raced<'_>> {
        self.lanes.iter().find(|of| of.lane == lane)
    }

    /// (round, ln(a/b)) of every round that the two share; of times ln(b/a), so that above zero `a` does
    /// better.
    pub fn rounds(&self, a: &str, b: &str) -> Vec<(u32, f64)> {
        let (Some(a), Some(b)) = (self.raced(a), self.raced(b)) else { return Vec::new() };
        let sign = if self.result.higher_is_better { 1.0 } else { -1.0 };
        let of = |&(round, of_a): &(u32, f64)| {
            let at = b.figures.binary_search_by_key(&round, |&(round, _)| round).ok()?;
            Some((round, sign * (of_a.ln() - b.figures[at].1.ln())))
        };
        a.figures.iter().filter_map(of).collect()
    }

    /// Whether the size of a difference that counts holds over the whole race, not its sign alone.
    pub fn has_size(&self, a: &str, b: &str) -> bool {
        self.pair(a, b).is_some_and(|(pair, _)| pair.at_least.is_some())
    }

    /// Whether the two share rounds enough to say anything of their difference.
    pub fn measured(&self, a: &str, b: &str) -> bool {
        let (Some(a), Some(b)) = (self.raced(a), self.raced(b)) else { return false };
        let has = |round: u32| b.figures.binary_search_by_key(&round, |&(round, _)| round).is_ok();
        a.figures.iter().filter(|&&(round, _)| has(round)).count() >= FEWEST_ROUNDS
    }

    /// The pair of two lanes, and whether `a` is the judged one in it.
    pub fn pair(&self, a: &str, b: &str) -> Option<(&Pair, bool)> {
        let is = |pair: &Pair, x: &str, y: &str| pair.a == x && pair.b == y;
        let pair = self.result.pairs.iter().find(|pair| is(pair, a, b) || is(pair, b, a))?;
        Some((pair, pair.a == a))
    }

    /// ln(a/b) where the two differ over the whole race; otherwise why no difference counts. What is counted is the near
    /// end of an interval, so that no noise that made one difference the largest chooses a lane: of the one that holds
    /// together with all others, else (only the sign does) of the row's own.
    pub fn difference(&self, a: &str, b: &str) -> Result<f64, Equal> {
        if cannot_tell(self.result) {
            return Err(match self.result.limit {
                Limit::Device => Equal::Device,
                Limit::Cache => Equal::Cache,
                _ => Equal::Harness,
            });
        }
        let (pair, straight) = self.pair(a, b).ok_or(Equal::NoVerdict)?;
        let near = match pair.verdict {
            Verdict::Faster => pair.at_least.or(pair.low),
            _ => pair.at_least.or(pair.high),
        };
        match (pair.verdict, near.filter(|ratio| ratio.is_finite() && *ratio > 0.0)) {
            (Verdict::Faster | Verdict::Slower, _) if !pair.over_race => Err(Equal::Unsure),
            (Verdict::Faster | Verdict::Slower, Some(ratio)) => Ok(if straight { ratio.ln() } else { -ratio.ln() }),
            // Where another pair at the disk's rate differs all the same.
            (Verdict::Tie | Verdict::None, _) if self.result.limit == Limit::Device => Err(Equal::Device),
            (Verdict::Tie, _) => Err(Equal::Tie),
            (Verdict::Undecided, _) => Err(Equal::Undecided),
            _ => Err(Equal::NoVerdict),
        }
    }

    /// The interval of ln(a/b) of a pair that is undecided, or not sure over the whole race.
    pub fn undecided(&self, a: &str, b: &str) -> Option<(f64, f64)> {
        if !matches!(self.difference(a, b), Err(Equal::Undecided | Equal::Unsure)) {
            return None;
        }
        let (pair, straight) = self.pair(a, b)?;
        let (low, high) = (pair.low.filter(|low| *low > 0.0)?.ln(), pair.high.filter(|high| *high > 0.0)?.ln());
        Some(if straight { (low, high) } else { (-high, -low) })
    }
}

impl<'a> Part<'a> {
    /// The series that the two were measured in together.
    pub fn measured<'b>(&'b self, a: &'b str, b: &'b str) -> impl Iterator<Item = &'b Series<'a>> {
        self.series.iter().filter(move |series| series.measured(a, b))
    }

    /// ln(a/b) of this part: the mean over the series that the two were measured in together, those
    /// without a counting difference as zero. `None`: there is none.
    pub fn difference(&self, a: &str, b: &str) -> Option<f64> {
        let all: Vec<f64> = self.measured(a, b).map(|series| series.difference(a, b).unwrap_or(0.0)).collect();
        estimate::moments(&all).map(|of| of.mean)
    }

    /// Why no difference of any two of these lanes counts in any series; `None`: one does. Where
    /// series or pairs disagree, noise is named before a tie, because more rounds can end it.
    pub fn equal(&self, lanes: &[&str]) -> Option<Equal> {
        let mut reasons = Vec::new();
        for (place, a) in lanes.iter().enumerate() {
            for b in &lanes[..place] {
                for series in self.measured(a, b) {
                    match series.difference(a, b) {
                        Ok(_) => return None,
                        Err(why) => reasons.push(why),
                    }
                }
            }
        }
        let order = [
            Equal::Undecided,
            Equal::Unsure,
            Equal::NoVerdict,
            Equal::Tie,
            Equal::Device,
            Equal::Cache,
            Equal::Harness,
        ];
        order.into_iter().find(|why| reasons.contains(why))
    }

    /// Why a lane could not do this part, or not in every round; `None`: it could. That a throttle did not
    /// hold is not the lane's failure.
    pub fn failure(&self, lane: &str) -> Option<Sentence> {
        let of = |series: &Series| {
            let estimate = series.result.estimates.iter().find(|estimate| estimate.lane == lane)?;
            let none = estimate.own_failure().cloned();
            let some = || series.raced(lane)?.failed.clone();
            Some(statement::of_part(text(&series.result.title), none.or_else(some)?))
        };
        self.series.iter().find_map(of)
    }

    /// Why this part counts as not measured for a lane; `None`: it does not.
    pub fn unmeasured(&self, lane: &str) -> Option<Sentence> {
        let enough = |series: &Series| series.raced(lane).is_some_and(|of| of.figures.len() >= FEWEST_ROUNDS);
        if self.series.iter().any(enough) {
            return None;
        }
        let void = self.series.iter().find_map(|series| series.raced(lane)?.void.clone());
        Some(void.unwrap_or_else(|| statement::too_few_rounds(FEWEST_ROUNDS)))
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
