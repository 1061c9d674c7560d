//! What a filesystem raced against itself says of a machine: how often equal lanes are called
//! different, and how much figures scatter from round to round.

use crate::correlation::{self, ObservedCorrelation};
use crate::estimate;
use crate::pair::{finite, seconds_per_round};
use crate::resolution::{self, Contest, Noise, UNKNOWN, Work};
use crate::sequential::{self, Rule};
use crate::series::Series;
use crate::student;
use model::calibration::{CalibratedResult, Calibration, EqualRaces, Resolution};
use model::findings::Verdict;
use model::plan::{LOOKS, Plan, Rounds};
use model::record::Record;
use model::workload::Kind;
use std::collections::BTreeMap;

/// Times for which a calibration says what they resolve.
const MINUTES: [f64; 3] = [1.0, 10.0, 60.0];

/// Fewer rounds say next to nothing of how much they scatter: of two the 95 % interval of a standard
/// deviation reaches from 0.4 to 32 times the one found (chi-squared), of three from 0.5 to 6 times.
const FEWEST_ROUNDS: usize = 3;

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
        let series = Series::new(record, &workload.name);
        let [a, b, ..] = &series.lanes[..] else { continue };
        for group in workload.groups() {
            let named = a.group(&group).map(|(_, of)| of.primary_metric.clone()).find(|metric| !metric.is_empty());
            // Work that the time did not reach is shown with no rounds: it would take its share of a race.
            let metric = named.unwrap_or_else(|| "operations_per_second".to_owned());
            let differences = estimate::paired_differences(&a.figures(&group, &metric), &b.figures(&group, &metric));
            let of = estimate::moments(&differences);
            let lag1 = estimate::lag1(&differences).map(|lag1| lag1 + 1.0 / differences.len() as f64);
            results.push(CalibratedResult {
                workload: workload.name.clone(),
                title: workload.title.clone(),
                group,
                metric,
                rounds: differences.len() as u32,
                deviation: of.filter(|of| of.count >= FEWEST_ROUNDS).and_then(|of| finite(of.deviation)),
                lag1: lag1.and_then(finite),
                ratio: of.and_then(|of| finite(of.mean.exp())),
                seconds_per_round: seconds_per_round(&series),
                races: counted(&races(&differences, &rule)),
                resolves: Vec::new(),
            });
        }
    }
    resolve(&mut results, rule);
    let lane = plan.lanes.first().map(model::lane::LaneSpec::to_line).unwrap_or_default();
    Some(Calibration {
        started: header.started.clone(),
        kernel: crate::comparable::raced_kernels(header),
        suite: plan.suite.clone(),
        // It has a name so that it differs from its twin.
        lane: lane.split_once('=').map_or(lane.as_str(), |(_, spec)| spec).to_owned(),
        lane_bytes: plan.lane_size.get(),
        margin: plan.margin,
        races: pooled(&results),
        results,
        not_covered: Vec::new(),
    })
}

/// What a calibration says of a race's own work: the results of the workloads that both planned with the
/// same parameters, judged by the same rule. `None`: there are none.
///
/// What its suite resolves in a time is left out where it does not cover the race: it was reckoned for
/// another division of the time.
pub fn covering(found: Calibration, calibrated: &Plan, raced: &Plan) -> Option<Calibration> {
    let same = |name: &str| {
        let kind = kind_of(calibrated, name);
        kind.is_some() && kind == kind_of(raced, name)
    };
    if calibrated.first_answer != raced.first_answer {
        return None;
    }
    let mut results = found.results;
    results.retain(|result| same(&result.workload) && result.rounds > 0);
    let covered = |name: &str| results.iter().any(|result| result.workload == name);
    let missing = raced.workloads.iter().filter(|workload| !covered(&workload.name));
    let not_covered: Vec<String> = missing.map(|workload| workload.title.clone()).collect();
    let whole = not_covered.is_empty() && calibrated.workloads.len() == raced.workloads.len();
    if !whole {
        results.iter_mut().for_each(|result| result.resolves.clear());
    }
    let races = pooled(&results);
    (!results.is_empty()).then_some(Calibration { results, races, not_covered, ..found })
}

fn kind_of<'a>(plan: &'a Plan, workload: &str) -> Option<&'a Kind> {
    plan.workloads.iter().find(|of| of.name == workload).map(|of| &of.kind)
}

/// How the races of all results ended together.
///
/// Races of one workload's results take place in the same rounds, so that one burst of noise may end all
/// of them alike. Whatever they share, the number of false alarms among a workload's results with n1, n2,
/// … races varies at most as q(1-q)(√n1 + √n2 + …)² does (Cauchy and Schwarz), which is reached where they
/// are one and the same; workloads are raced one after the other and are independent. N races in all are
/// worth N²/Σ(√n1 + √n2 + …)² independent ones at the least, and the interval is that of so many with the
/// same share called different.
pub fn pooled(results: &[CalibratedResult]) -> EqualRaces {
    let sum = |count: fn(&EqualRaces) -> u32| results.iter().map(|result| count(&result.races)).sum();
    let mut roots: BTreeMap<&str, f64> = BTreeMap::new();
    for result in results {
        *roots.entry(&result.workload).or_default() += f64::from(result.races.races).sqrt();
    }
    let all = EqualRaces {
        races: sum(|of| of.races),
        called_different: sum(|of| of.called_different),
        ties: sum(|of| of.ties),
        undecided: sum(|of| of.undecided),
        ..EqualRaces::default()
    };
    let races = f64::from(all.races);
    let squares: f64 = roots.values().map(|root| root * root).sum();
    let worth = (squares > 0.0).then(|| races * races / squares).filter(|worth| *worth < races - 1e-6);
    with_interval(EqualRaces { worth, ..all })
}

/// What races of this suite between two lanes resolve on this machine. Results whose noise is not known
/// resolve nothing that could be told; the others are not held up by them.
fn resolve(results: &mut [CalibratedResult], rule: Rule) {
    let contest = Contest { rule, lanes: 2, results: results.len() };
    let noise = |of: &CalibratedResult| {
        Some(Noise { deviation: of.deviation?, correlation: of.lag1.unwrap_or(0.0).clamp(0.0, correlation::HIGHEST) })
    };
    // A workload's rounds cost the same for all its groups. One that did no round costs its time all the
    // same: as much as the others do.
    let usual = estimate::moments(&results.iter().filter_map(|of| of.seconds_per_round).collect::<Vec<_>>());
    let Some(usual) = usual.map(|of| of.mean) else { return };
    let mut workloads: Vec<(String, Work)> = Vec::new();
    for result in results.iter() {
        if workloads.last().is_none_or(|(name, _)| *name != result.workload) {
            let seconds_per_round = result.seconds_per_round.unwrap_or(usual);
            let noise = noise(result).unwrap_or(UNKNOWN);
            workloads.push((result.workload.clone(), Work { noise, seconds_per_round }));
        }
    }
    let works: Vec<Work> = workloads.iter().map(|(_, work)| *work).collect();
    for minutes in MINUTES {
        let planned = resolution::most(&works, 60.0 * minutes, &contest);
        for result in results.iter_mut() {
            let place = workloads.iter().position(|(name, _)| *name == result.workload);
            let rounds = place.map_or(0, |place| planned[place].rounds);
            let contest = resolution::of_rounds(rounds, &contest);
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
                let own = ObservedCorrelation::new([&vec![left[..look].to_vec(), vec![0.0; look]]]);
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
    let all = f64::from(races.races);
    let share = if races.races > 0 { races.worth.unwrap_or(all) / all } else { 1.0 };
    let (low, high) = interval_of(share * f64::from(races.called_different), share * all);
    EqualRaces { low, high, ..races }
}

/// The exact 95 % interval of a share of `found` in `all` (Clopper and Pearson 1934), from the
/// quantiles of the beta distribution; 0..=1 for none.
pub fn binomial_interval(found: u32, all: u32) -> (f64, f64) {
    interval_of(f64::from(found.min(all)), f64::from(all))
}

/// The same of numbers that need not be whole, between which it goes on steadily.
fn interval_of(found: f64, all: f64) -> (f64, f64) {
    let rest = all - found;
    let low = if found <= 0.0 { 0.0 } else { beta_quantile(found, rest + 1.0, 0.025) };
    let high = if rest <= 0.0 { 1.0 } else { beta_quantile(found + 1.0, rest, 0.975) };
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

    fn result(workload: &str, races: u32, called_different: u32) -> CalibratedResult {
        CalibratedResult {
            workload: workload.into(),
            title: workload.into(),
            group: "write".into(),
            metric: "operations_per_second".into(),
            rounds: 10 * races,
            deviation: Some(0.02),
            lag1: Some(0.0),
            ratio: Some(1.0),
            seconds_per_round: Some(1.0),
            races: EqualRaces { races, called_different, ..EqualRaces::default() },
            resolves: Vec::new(),
        }
    }

    #[test]
    fn results_that_share_their_rounds_are_worth_what_one_of_them_is() {
        // Six workloads of 30 races, one of them with three groups.
        let mut quick: Vec<CalibratedResult> = ["a", "b", "c", "d", "e"].map(|name| result(name, 30, 1)).to_vec();
        quick.extend([1, 1, 1].map(|called| result("small-files", 30, called)));
        let of = pooled(&quick);
        // By hand: 240² / (5·30 + 9·30) = 137.1.
        assert_eq!((of.races, of.called_different), (240, 8));
        assert!((of.worth.unwrap() - 57_600.0 / 420.0).abs() < 1e-9, "{of:?}");
        let naive = binomial_interval(8, 240);
        assert!(of.low < naive.0 && of.high > naive.1, "{of:?} and {naive:?}");
        // One workload: as many races as a single result has.
        let steps: Vec<_> = (0..31).map(|_| result("operations", 10, 1)).collect();
        let of = pooled(&steps);
        assert!((of.worth.unwrap() - 10.0).abs() < 1e-9);
        let one = binomial_interval(1, 10);
        assert!((of.low - one.0).abs() < 1e-9 && (of.high - one.1).abs() < 1e-9, "{of:?}, {one:?}");
        // Workloads alone lose nothing.
        let apart = pooled(&quick[..5]);
        assert_eq!((apart.worth, (apart.low, apart.high)), (None, binomial_interval(5, 150)));
        assert_eq!((pooled(&[]).low, pooled(&[]).high), (0.0, 1.0));
    }

    #[test]
    fn the_interval_holds_though_all_results_of_a_workload_are_one() {
        // Each race of a workload is a false alarm in all of its eight results, or in none.
        let mut noise = Normal::new(31);
        let (share, races) = (0.1, 24_u32);
        let missed = |results: &dyn Fn(u32) -> EqualRaces, noise: &mut Normal| {
            let held = |of: EqualRaces| of.low <= share && share <= of.high;
            // 1.2816: one of ten standard normal numbers is above it.
            let draw = |noise: &mut Normal| (0..races).filter(|_| noise.next() > 1.2816).count() as u32;
            (0..1000).filter(|_| !held(results(draw(noise)))).count()
        };
        let clusters = |called: u32| pooled(&(0..8).map(|_| result("w", races, called)).collect::<Vec<_>>());
        let apart = |called: u32| {
            with_interval(EqualRaces { races: 8 * races, called_different: 8 * called, ..EqualRaces::default() })
        };
        assert!(missed(&clusters, &mut noise) <= 60);
        assert!(missed(&apart, &mut noise) > 300, "pooled as if they were apart it would be wrong in every third");
    }

    #[test]
    fn a_result_of_too_few_rounds_takes_nothing_from_the_others() {
        // So long rounds that a minute has not room for all of them.
        let slow = |name| CalibratedResult { seconds_per_round: Some(2.0), ..result(name, 3, 0) };
        let mut results = vec![slow("a"), result("thin", 0, 0), slow("c")];
        results[1].deviation = None;
        results[1].seconds_per_round = None;
        resolve(&mut results, rule());
        let last = |of: &CalibratedResult| of.resolves.last().unwrap().difference;
        assert!(results.iter().all(|of| of.resolves.len() == MINUTES.len()));
        assert!(last(&results[0]).is_some() && last(&results[1]).is_none() && last(&results[2]).is_some());
        // Its time is not given to the others.
        let mut alone = vec![slow("a"), slow("c")];
        resolve(&mut alone, rule());
        assert!(alone[0].resolves[0].difference < results[0].resolves[0].difference, "{alone:?} {results:?}");
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
