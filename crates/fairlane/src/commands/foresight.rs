//! What a race can tell in the time it has, said before it begins.

use model::calibration::Calibration;
use model::plan::Plan;
use model::workload::Workload;
use report::{Foresight, KnownNoise, PlanSummary};
use stats::resolution::{self, Contest, Noise, UNKNOWN, Work};
use stats::sequential::Rule;

/// What a planned race of so many lanes resolves, from what is known of the machine's noise, or from
/// what is usual. `None` where no two lanes are compared or no look is reached.
pub fn foresight(plan: &Plan, summary: &PlanSummary, lanes: usize, known: Option<&Calibration>) -> Option<Foresight> {
    let budget = plan.budget_seconds.or(summary.seconds)?;
    let judges_pairs = !(plan.as_published || plan.calibration || plan.screening.is_some() || plan.find_max.is_some());
    if lanes < 2 || !judges_pairs {
        return None;
    }
    let rule = Rule {
        pairs: lanes * (lanes - 1) / 2,
        rounds: plan.rounds,
        margin: plan.margin,
        first_answer: plan.first_answer,
    };
    let results = plan.workloads.iter().map(|workload| workload.groups().len()).sum();
    let contest = Contest { rule, lanes, results };
    let measured = |workload: &Workload| known.and_then(|known| noise_of(known, &workload.name));
    let work = |(workload, &forecast): (&Workload, &f64)| {
        let measured = measured(workload);
        // A calibration raced two lanes.
        let seconds = measured.and_then(|(_, seconds)| Some(seconds? * lanes as f64 / 2.0));
        Work { noise: measured.map_or(UNKNOWN, |(noise, _)| noise), seconds_per_round: seconds.unwrap_or(forecast) }
    };
    let works: Vec<Work> = plan.workloads.iter().zip(&summary.seconds_per_round).map(work).collect();
    // Rounds leave time for passes, each about as long as a round.
    let passes: f64 = works.iter().map(|work| work.seconds_per_round).sum();
    let rounds = if plan.explain && passes < budget / 2.0 { budget - passes } else { budget };
    let planned: Vec<Option<f64>> =
        resolution::plan(&works, rounds, &contest).into_iter().map(|planned| planned.difference).collect();
    // Work that no look is reached of resolves nothing. Half of the workloads speak for the race; where no
    // more than half reach a look, these speak for themselves alone.
    let mut reached: Vec<f64> = planned.iter().copied().flatten().collect();
    reached.sort_by(f64::total_cmp);
    let half = reached.get(planned.len() / 2);
    let difference = *half.or(reached.last())?;
    let smaller = ROUND_FIGURES.into_iter().find(|&asked| asked <= difference / 2.0);
    let needs = smaller.and_then(|asked| {
        let cost = resolution::cost_of(&works, asked, &contest)?;
        Some((asked, cost.seconds, cost.rounds))
    });
    let calibrated = plan.workloads.iter().filter(|workload| measured(workload).is_some());
    let titles: Vec<String> = calibrated.map(|workload| workload.title.clone()).collect();
    Some(Foresight {
        difference,
        of: half.is_none().then_some((reached.len() as u32, planned.len() as u32)),
        seconds: budget,
        smaller: needs.filter(|&(_, seconds, rounds)| rounds.is_some() || seconds > budget),
        noise: match titles.len() {
            0 => KnownNoise::None,
            some if some == plan.workloads.len() => KnownNoise::All,
            _ => KnownNoise::Of(titles),
        },
    })
}

/// Shares that people ask for. Beside what a time resolves the largest is told that is half of it or less:
/// that takes about four times the rounds (the mean of n scatters as 1/√n).
const ROUND_FIGURES: [f64; 8] = [0.5, 0.3, 0.2, 0.1, 0.05, 0.03, 0.02, 0.01];

/// The noise of a workload's noisiest group, and the seconds of a round.
fn noise_of(known: &Calibration, workload: &str) -> Option<(Noise, Option<f64>)> {
    let of = known.results.iter().filter(|result| result.workload == workload);
    let noisiest = of.max_by(|a, b| a.deviation.unwrap_or(0.0).total_cmp(&b.deviation.unwrap_or(0.0)))?;
    let correlation = noisiest.lag1.unwrap_or(0.0).clamp(0.0, stats::correlation::HIGHEST);
    Some((Noise { deviation: noisiest.deviation?, correlation }, noisiest.seconds_per_round))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::suites;
    use model::Bytes;
    use model::calibration::{CalibratedResult, EqualRaces};
    use model::plan::{Ground, Rounds};
    use std::collections::BTreeMap;

    fn plan(budget: f64) -> Plan {
        let suite = suites::find("quick").unwrap();
        Plan {
            suite: suite.name,
            not_tested: Vec::new(),
            first_answer: suite.first_answer,
            as_published: false,
            calibration: false,
            screening: None,
            find_max: None,
            explain: false,
            explain_in_time: false,
            ranks: None,
            lanes: Vec::new(),
            with_self: false,
            workloads: suite.workload,
            rounds: Rounds::Auto,
            margin: 0.05,
            budget_seconds: Some(budget),
            lane_size: Bytes(2 << 30),
            throttle: None,
            lane_throttles: BTreeMap::new(),
            seed: 1,
            on: Ground::Images("/".into()),
            guest: Default::default(),
            command_line: Vec::new(),
        }
    }

    fn summary(plan: &Plan) -> PlanSummary {
        PlanSummary {
            contestants: Vec::new(),
            written_bytes: None,
            needed_bytes: None,
            workloads: plan.workloads.len() as u32,
            rounds: (6, 20),
            ranks: true,
            fits: None,
            rounds_until_the_time_is_up: false,
            seconds: plan.budget_seconds,
            seconds_per_round: vec![2.0; plan.workloads.len()],
            resolves: None,
            setup_seconds: 0.0,
            first_look_seconds: 0.0,
            budget_seconds: plan.budget_seconds,
            keep: false,
            as_published: false,
            passes: report::PlannedPasses::No,
            notes: Vec::new(),
        }
    }

    fn foresight_for(budget: f64, lanes: usize, known: Option<&Calibration>) -> Option<Foresight> {
        let plan = plan(budget);
        foresight(&plan, &summary(&plan), lanes, known)
    }

    #[test]
    fn more_time_resolves_less_and_what_would_need_longer_is_said() {
        let (short, long) = (foresight_for(120.0, 3, None).unwrap(), foresight_for(600.0, 3, None).unwrap());
        assert!(short.difference > long.difference && short.noise == KnownNoise::None, "{short:?} {long:?}");
        assert_eq!(short.of, None, "every workload reaches a look");
        let (asked, seconds, _) = short.smaller.unwrap();
        assert!(asked <= short.difference / 2.0 && seconds > 120.0, "{short:?}");
        assert_eq!(foresight_for(120.0, 1, None), None, "one lane is compared with nothing");
        assert_eq!(foresight_for(1.0, 3, None), None, "not even the first look is reached");
    }

    #[test]
    fn what_was_calibrated_replaces_what_is_usual() {
        let of_workload = |workload: &model::workload::Workload| CalibratedResult {
            workload: workload.name.clone(),
            title: workload.title.clone(),
            group: "write".into(),
            metric: "operations_per_second".into(),
            rounds: 20,
            deviation: Some(0.01),
            lag1: Some(0.0),
            ratio: Some(1.0),
            seconds_per_round: Some(1.0),
            races: EqualRaces::default(),
            resolves: Vec::new(),
        };
        let known = Calibration {
            started: String::new(),
            kernel: String::new(),
            suite: "quick".into(),
            lane: "ext4".into(),
            lane_bytes: 2 << 30,
            margin: 0.05,
            races: EqualRaces::default(),
            results: plan(1.0).workloads.iter().map(of_workload).collect(),
            not_covered: Vec::new(),
        };
        let (quiet, usual) = (foresight_for(200.0, 3, Some(&known)).unwrap(), foresight_for(200.0, 3, None).unwrap());
        assert_eq!(quiet.noise, KnownNoise::All);
        assert!(quiet.difference < 0.5 * usual.difference, "{quiet:?} {usual:?}");
        // What was calibrated of one workload, or in too few rounds, is not said of the others.
        let mut one = known;
        one.results.truncate(2);
        one.results[1].deviation = None;
        let title = one.results[0].title.clone();
        assert_eq!(foresight_for(200.0, 3, Some(&one)).unwrap().noise, KnownNoise::Of(vec![title]));
    }

    #[test]
    fn where_few_workloads_reach_a_look_nothing_is_said_of_the_others() {
        // A first look takes 12 s of each of eight workloads.
        let (two, five) = (foresight_for(25.0, 3, None).unwrap(), foresight_for(61.0, 3, None).unwrap());
        assert_eq!((two.of, five.of), (Some((2, 8)), None), "{two:?} {five:?}");
    }
}
