//! What a filesystem raced against itself says of a machine: how often equal lanes are called
//! different, and how much figures scatter from round to round.

use crate::correlation::{self, Seen};
use crate::estimate;
use crate::pair::{finite, seconds_per_round};
use crate::resolution::{self, Contest, Noise, Work};
use crate::sequential::{self, Rule};
use crate::series::Series;
use crate::student;
use model::calibration::{CalibratedResult, Calibration, EqualRaces, Resolution};
use model::findings::Verdict;
use model::plan::{LOOKS, Rounds};
use model::record::Record;

/// Times for which a calibration says what they resolve.
const MINUTES: [f64; 3] = [1.0, 10.0, 60.0];

/// What a calibration found; `None` where the record is none or holds no two lanes.
pub fn calibration(record: &Record) -> Option<Calibration> {
    let header = &record.header;
    let plan = &header.plan;
    if !plan.calibration || header.lanes.len() < 2 {
        return None;
    }
    let rule = Rule { pairs: 1, rounds: Rounds::Auto, margin: plan.margin, first_answer: plan.first_answer };
    let mut results = Vec::new();
    for workload in &plan.workloads {
        let series = Series::of(record, &workload.name);
        let [a, b, ..] = &series.lanes[..] else { continue };
        for group in workload.groups() {
            let named = a.group(&group).map(|(_, of)| of.primary_metric.clone()).find(|metric| !metric.is_empty());
            let Some(metric) = named else { continue };
            let differences = estimate::paired_differences(&a.figures(&group, &metric), &b.figures(&group, &metric));
            let of = estimate::moments(&differences);
            let lag1 = estimate::lag1(&differences).map(|lag1| lag1 + 1.0 / differences.len() as f64);
            results.push(CalibratedResult {
                workload: workload.name.clone(),
                title: workload.title.clone(),
                group,
                metric,
                rounds: differences.len() as u32,
                deviation: of.filter(|of| of.count > 1).and_then(|of| finite(of.deviation)),
                lag1: lag1.and_then(finite),
                ratio: of.and_then(|of| finite(of.mean.exp())),
                seconds_per_round: seconds_per_round(&series),
                races: counted(&races(&differences, &rule)),
                resolves: Vec::new(),
            });
        }
    }
    resolve(&mut results, rule);
    let sum = |count: fn(&EqualRaces) -> u32| results.iter().map(|result| count(&result.races)).sum();
    let lane = plan.lanes.first().map(model::lane::LaneSpec::to_line).unwrap_or_default();
    Some(Calibration {
        started: header.started.clone(),
        kernel: header.machine.kernel.clone(),
        suite: plan.suite.clone(),
        // It has a name so that it differs from its twin.
        lane: lane.split_once('=').map_or(lane.as_str(), |(_, spec)| spec).to_owned(),
        lane_bytes: plan.lane_size.get(),
        margin: plan.margin,
        races: with_interval(EqualRaces {
            races: sum(|of| of.races),
            called_different: sum(|of| of.called_different),
            ties: sum(|of| of.ties),
            undecided: sum(|of| of.undecided),
            ..EqualRaces::default()
        }),
        results,
    })
}

/// What races of this suite between two lanes resolve on this machine.
fn resolve(results: &mut [CalibratedResult], rule: Rule) {
    let contest = Contest { rule, lanes: 2, results: results.len() };
    let noise = |of: &CalibratedResult| {
        Some(Noise { deviation: of.deviation?, correlation: of.lag1.unwrap_or(0.0).clamp(0.0, correlation::HIGHEST) })
    };
    // A workload's rounds cost the same for all its groups.
    let mut workloads: Vec<(String, Work)> = Vec::new();
    for result in results.iter() {
        let (Some(noise), Some(seconds_per_round)) = (noise(result), result.seconds_per_round) else { return };
        if workloads.last().is_none_or(|(name, _)| *name != result.workload) {
            workloads.push((result.workload.clone(), Work { noise, seconds_per_round }));
        }
    }
    let works: Vec<Work> = workloads.iter().map(|(_, work)| *work).collect();
    for minutes in MINUTES {
        let planned = resolution::plan(&works, 60.0 * minutes, &contest);
        for result in results.iter_mut() {
            let place = workloads.iter().position(|(name, _)| *name == result.workload);
            let rounds = place.map_or(0, |place| planned[place].rounds);
            let difference = noise(result).and_then(|noise| resolution::smallest_difference(noise, rounds, &contest));
            result.resolves.push(Resolution { minutes, difference });
        }
    }
}

/// The verdicts of the races that the differences are enough for, one after the other, each looked at
/// and ended as a real one that knows no other result of its race. The last one ends where the rounds do, as at the end of a budget; fewer
/// rounds than the first look takes are no race. Where a race ends depends on its own rounds alone,
/// so that the next one is independent of it.
pub fn races(differences: &[f64], rule: &Rule) -> Vec<Verdict> {
    let mut verdicts = Vec::new();
    let mut left = differences;
    while left.len() >= LOOKS[0] as usize {
        let reached = LOOKS.iter().map(|&look| look as usize).filter(|&look| look <= left.len());
        let last = reached.clone().next_back().unwrap_or(left.len());
        let ended = reached
            .map(|look| {
                let own = Seen::of([&vec![left[..look].to_vec(), vec![0.0; look]]]);
                let verdict = sequential::interval(&left[..look], rule, correlation::assumed(own, &[]))
                    .map_or(Verdict::Undecided, |of| rule.verdict(of.mean, of.half, look == last));
                (look, verdict)
            })
            .find(|&(look, verdict)| verdict != Verdict::Undecided || look == last);
        let Some((look, verdict)) = ended else { break };
        verdicts.push(verdict);
        left = &left[look..];
    }
    verdicts
}

fn counted(verdicts: &[Verdict]) -> EqualRaces {
    let of = |wanted: &[Verdict]| verdicts.iter().filter(|verdict| wanted.contains(verdict)).count() as u32;
    with_interval(EqualRaces {
        races: verdicts.len() as u32,
        called_different: of(&[Verdict::Faster, Verdict::Slower]),
        ties: of(&[Verdict::Tie]),
        undecided: of(&[Verdict::Undecided]),
        ..EqualRaces::default()
    })
}

fn with_interval(races: EqualRaces) -> EqualRaces {
    let (low, high) = binomial_interval(races.called_different, races.races);
    EqualRaces { low, high, ..races }
}

/// The exact 95 % interval of a share of `found` in `all` (Clopper and Pearson 1934), from the
/// quantiles of the beta distribution; 0..=1 for none.
pub fn binomial_interval(found: u32, all: u32) -> (f64, f64) {
    let found = found.min(all);
    let (k, rest) = (f64::from(found), f64::from(all - found));
    let low = if found == 0 { 0.0 } else { beta_quantile(k, rest + 1.0, 0.025) };
    let high = if found == all { 1.0 } else { beta_quantile(k + 1.0, rest, 0.975) };
    (low, high)
}

/// The x in 0..=1 at which the beta distribution reaches `p`, by bisection.
fn beta_quantile(a: f64, b: f64, p: f64) -> f64 {
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..60 {
        let middle = (low + high) / 2.0;
        if student::incomplete_beta(a, b, middle) < p { low = middle } else { high = middle }
    }
    (low + high) / 2.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::Normal;

    fn rule() -> Rule {
        Rule { pairs: 1, rounds: Rounds::Auto, margin: 0.05, first_answer: false }
    }

    #[test]
    fn the_exact_interval_is_that_of_the_tables() {
        // Clopper and Pearson's own and R's binom.test.
        for (found, all, low, high) in
            [(0, 10, 0.0, 0.3085), (1, 10, 0.0025, 0.4450), (5, 10, 0.1871, 0.8129), (10, 200, 0.0242, 0.0900)]
        {
            let interval = binomial_interval(found, all);
            assert!((interval.0 - low).abs() < 1e-4 && (interval.1 - high).abs() < 1e-4, "{interval:?}");
        }
        assert_eq!(binomial_interval(0, 0), (0.0, 1.0));
        assert_eq!(binomial_interval(3, 3).1, 1.0);
    }

    #[test]
    fn rounds_are_cut_into_races_that_end_where_they_are_decided() {
        // Quiet: each race is a tie after six rounds; five rounds are left over.
        let quiet: Vec<f64> = (0..23).map(|round| if round % 2 == 0 { 0.001 } else { -0.001 }).collect();
        assert_eq!(races(&quiet, &rule()), [Verdict::Tie; 3]);
        // A difference that is no noise is found, in each race.
        let apart: Vec<f64> = quiet.iter().map(|difference| difference + 0.5).collect();
        assert_eq!(races(&apart, &rule()), [Verdict::Faster; 3]);
        // So noisy that twenty rounds decide nothing; then the rest at its last look, 8 of 9.
        let noisy: Vec<f64> = (0..29).map(|round| if round % 2 == 0 { 0.4 } else { -0.4 }).collect();
        assert_eq!(races(&noisy, &rule()), [Verdict::Undecided; 2]);
        assert!(races(&quiet[..5], &rule()).is_empty());
    }

    #[test]
    fn white_noise_is_called_different_in_at_most_five_races_of_a_hundred() {
        let mut noise = Normal::new(5);
        let differences: Vec<f64> = (0..60_000).map(|_| 0.05 * noise.next()).collect();
        let counts = counted(&races(&differences, &rule()));
        assert!(counts.races > 3000 && counts.called_different > 0, "{counts:?}");
        assert!(counts.high <= 0.06, "{counts:?}");
        assert_eq!(counts.races, counts.called_different + counts.ties + counts.undecided);
    }
}
