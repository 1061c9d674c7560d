//! Whatever a screening's record holds: no panic, no figure that JSON cannot hold.

use crate::screened::{Noise, commit, empty, found, options, race};
use model::findings::ScreeningFinding;
use model::plan::Rounds;
use model::record::{EndOutcome, Record};
use model::screening::DesignKind;
use model::trial::Outcome;
use proptest::prelude::*;
use stats::{judge, screening};

/// A screening of these many options in which the first one makes a difference.
fn sound(factors: usize) -> Record {
    race(factors, 4, Noise::white(0.01), 1, &options(&[(0, 1.3)]))
}

/// Nothing is told of any result, for this reason.
#[track_caller]
fn tells_nothing(race: &Record, why: &str) {
    let of = found(race);
    assert!(of.results.iter().all(|result| result.effects.is_empty()), "{of:#?}");
    let unknown = of.results[0].unknown.as_deref().unwrap_or_default();
    assert!(unknown.contains(why), "{unknown}");
    judge::findings(race);
}

#[test]
fn what_is_no_design_is_none_and_says_so() {
    const NO_DESIGN: &str = "not the runs of a design that this version knows";
    let changed = |change: &dyn Fn(&mut model::screening::Screening)| {
        let mut race = sound(5);
        change(race.header.plan.screening.as_mut().unwrap());
        tells_nothing(&race, NO_DESIGN);
    };
    changed(&|of| of.runs[3].at_other.push(true));
    changed(&|of| of.runs[3].at_other.clear());
    changed(&|of| of.runs[3].at_other = of.runs[2].at_other.clone());
    changed(&|of| of.runs[3].lane = of.runs[2].lane.clone());
    changed(&|of| of.factors.clear());
    changed(&|of| of.factors.truncate(4));
    changed(&|of| of.factors[1].name = of.factors[0].name.clone());
    changed(&|of| of.factors = (0..40).map(crate::screened::factor).collect());
    changed(&|of| of.runs.clear());
    changed(&|of| of.runs.truncate(8));
    changed(&|of| of.design = DesignKind::FullFactorial);
}

#[test]
fn a_run_that_is_no_lane_of_the_record_is_named() {
    let mut race = sound(5);
    race.header.plan.screening.as_mut().unwrap().runs[7].lane = "elsewhere".into();
    tells_nothing(&race, "elsewhere is a run of the design and no lane of this record");
}

#[test]
fn runs_in_another_order_are_the_same_design() {
    let race = sound(5);
    let mut turned = race.clone();
    turned.header.plan.screening.as_mut().unwrap().runs.reverse();
    assert_eq!(found(&turned).results, found(&race).results);
}

#[test]
fn figures_that_do_not_scatter_or_are_no_numbers_make_no_panic() {
    let still = race(5, 4, Noise::white(0.0), 1, &options(&[(0, 1.3)]));
    let of = found(&still);
    assert_eq!(crate::screened::matter(&of.results[0]), ["o0"]);
    all_finite(&of);
    let same = race(5, 4, Noise::white(0.0), 1, &|_| 0.0);
    assert!(crate::screened::matter(&found(&same).results[0]).is_empty());
    for figure in [f64::NAN, f64::INFINITY, -1.0, 0.0, f64::MAX, 5e-324] {
        let mut race = sound(5);
        for group in race.trials.iter_mut().step_by(3).flat_map(|trial| &mut trial.groups) {
            group.metrics.insert("operations_per_second".to_owned(), figure);
        }
        all_finite(&found(&race));
        judge::findings(&race);
    }
}

#[test]
fn the_largest_screening_beside_lanes_that_are_none_of_its_runs_is_judged() {
    let mut race = race(23, 4, Noise::white(0.01), 1, &options(&[(0, 1.3), (22, 0.8)]));
    for place in 48..64 {
        race.header.lanes.push(crate::common::lane(&format!("other{place}")));
    }
    let of = found(&race);
    assert_eq!((of.lanes, crate::screened::matter(&of.results[0])), (48, vec!["o0", "o22"]));
    all_finite(&of);
}

/// All figures can be written as JSON and read back.
#[track_caller]
fn all_finite(of: &ScreeningFinding) {
    let text = serde_json::to_string(of).unwrap();
    assert!(!text.contains("null"), "{text}");
    let again: ScreeningFinding = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"));
    assert_eq!(again.results.len(), of.results.len());
    let effects = of.results.iter().flat_map(|result| &result.effects);
    let told = effects.flat_map(|of| [of.ratio, of.low, of.high]).chain(of.proposal.expected.iter().map(|of| of.ratio));
    let interactions = of.results.iter().flat_map(|result| &result.interactions);
    let told = told.chain(interactions.flat_map(|of| [of.ratio, of.low, of.high]));
    assert!(told.into_iter().all(|ratio| ratio.is_finite() && ratio > 0.0), "{of:#?}");
}

fn figure() -> impl Strategy<Value = f64> {
    prop_oneof![
        8 => 900.0..1100.0,
        2 => 0.1..1e9,
        1 => prop::sample::select(vec![0.0, -1.0, f64::NAN, f64::INFINITY, f64::MAX, f64::MIN_POSITIVE, 5e-324]),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_figures_of_any_screening_have_a_finding_that_json_can_hold(
        factors in 1..9_usize, rounds in 0..6_u32, figures in prop::collection::vec(figure(), 1..200),
        failed in prop::collection::vec(0..150_usize, 0..4), ended in any::<bool>(), auto in any::<bool>(),
    ) {
        let mut race = empty(factors, rounds, vec![commit()]);
        race.header.plan.rounds = if auto { Rounds::Auto } else { Rounds::Fixed(rounds) };
        race.end = ended.then_some(EndOutcome::Complete);
        let names: Vec<String> = race.header.lanes.iter().map(|lane| lane.name.clone()).collect();
        let mut figures = figures.iter().cycle();
        for round in 1..=rounds {
            for name in &names {
                let figure = *figures.next().unwrap();
                let mut trial = crate::common::trial(name, &commit(), round, 1000.0);
                trial.groups[0].metrics.insert("operations_per_second".to_owned(), figure);
                race.trials.push(trial);
            }
        }
        for at in failed {
            if let Some(trial) = race.trials.get_mut(at) {
                trial.outcome = Outcome::Failed;
            }
        }
        let of = screening::finding(&race).unwrap();
        all_finite(&of);
        let findings = judge::findings(&race);
        prop_assert_eq!(findings.screening, Some(of));
    }
}
