//! Whole screenings through lanes that are only numbers: a planted effect is found, and all work gets its share of the time.

use super::race_tests::{RANDOM_READ, RANDOM_WRITE, Scene};
use model::findings::EffectVerdict;
use model::plan::Rounds;
use model::screening::{Factor, OptionClass, OptionLevel, Screening, ScreeningRun};
use std::collections::BTreeSet;

/// What each option does to the rate at its other level.
const EFFECTS: [(&str, f64); 3] = [("plain", 1.0), ("fast", 1.25), ("slow", 0.8)];

fn factor(name: &str) -> Factor {
    let level = |label: &str| OptionLevel { label: label.to_owned(), ..OptionLevel::default() };
    Factor {
        name: name.to_owned(),
        usual: level("off"),
        other: level("on"),
        further: Vec::new(),
        class: OptionClass::Ordinary,
        costs: String::new(),
        table_usual: String::new(),
    }
}

/// A scene whose lanes are the runs of a design of these options, and how fast each lane is.
fn scene(workloads: &[&str], rounds: u32, budget: Option<f64>, noise: f64) -> (Scene, Vec<(f64, f64)>) {
    let (design, runs) = stats::screening::plan_design(EFFECTS.len());
    let names: Vec<String> = (1..=runs.len()).map(|run| format!("r{run:02}=ext4")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let mut scene = Scene::new(&names, workloads, Rounds::Fixed(rounds), budget);
    let lanes: Vec<String> = scene.header.plan.lanes.iter().map(|lane| lane.name.clone()).collect();
    scene.header.lanes.iter_mut().zip(&lanes).for_each(|(lane, name)| lane.name.clone_from(name));
    let rate = |run: &Vec<bool>| {
        let factors = run.iter().zip(EFFECTS).map(|(&other, (_, effect))| if other { effect } else { 1.0 });
        (1000.0 * factors.product::<f64>(), noise)
    };
    let speeds = runs.iter().map(rate).collect();
    let runs = runs.into_iter().zip(lanes).map(|(at_other, lane)| ScreeningRun { lane, at_other });
    scene.header.plan.screening = Some(Screening {
        base: "ext4".to_owned(),
        design,
        factors: EFFECTS.iter().map(|(name, _)| factor(name)).collect(),
        runs: runs.collect(),
        left_out: Vec::new(),
    });
    (scene, speeds)
}

#[test]
fn planted_effects_are_found_in_a_whole_race() {
    let (scene, speeds) = scene(&[RANDOM_WRITE], 4, None, 0.01);
    let raced = scene.race(&mut scene.lanes(&speeds));
    assert!(raced.is_complete());
    assert_eq!(raced.rounds("random-write"), 4, "its rounds are those that were planned");
    let finding = stats::screening::finding(&raced.record).expect("it is a screening");
    let effects = &finding.results[0].effects;
    assert_eq!(effects.len(), EFFECTS.len());
    for (effect, (name, planted)) in effects.iter().zip(EFFECTS) {
        assert_eq!(effect.factor, name);
        assert!((effect.ratio / planted - 1.0).abs() < 0.03, "{effect:?}");
        assert_eq!(effect.verdict == EffectVerdict::Matters, planted != 1.0, "{effect:?}");
    }
    assert_eq!(finding.proposal.factors, ["fast"]);
}

#[test]
fn a_time_that_is_too_short_is_shared_by_all_work() {
    let round = |budget: Option<f64>, rounds: u32| {
        let (scene, speeds) = scene(&[RANDOM_WRITE, RANDOM_READ], rounds, budget, 0.01);
        let raced = scene.race(&mut scene.lanes(&speeds));
        assert!(raced.is_complete());
        (scene.clock.seconds(), [raced.rounds("random-write"), raced.rounds("random-read")])
    };
    let (whole, rounds) = round(None, 4);
    assert_eq!(rounds, [4, 4]);
    // Of any other race of so few rounds the first workload would have taken all of the time.
    let (seconds, rounds) = round(Some(whole / 2.0), 4);
    assert!(seconds < 0.75 * whole, "{seconds} s of {whole} s");
    assert!(rounds.iter().all(|rounds| (1..4).contains(rounds)), "{rounds:?}");
    assert!(rounds[0].abs_diff(rounds[1]) <= 1, "{rounds:?}");
}

#[test]
fn planned_rounds_come_before_slices_that_are_made_once_more() {
    let [write, read] = [RANDOM_WRITE, RANDOM_READ].map(|text| text.replace("slices = 4", "slices = 6"));
    let race = |budget: Option<f64>, is_restless: bool| {
        let (scene, mut speeds) = scene(&[&write, &read], 4, budget, 0.01);
        // Windows of few operations are put together, and fewer of them tell of no change.
        speeds.iter_mut().for_each(|(rate, _)| *rate *= 50.0);
        let mut lanes = scene.lanes(&speeds);
        lanes.restless.extend(is_restless.then_some(0));
        let raced = scene.race(&mut lanes);
        assert!(raced.is_complete());
        let slices: BTreeSet<_> = raced.record.trials.iter().map(|trial| trial.system.windows).collect();
        (scene.clock.seconds(), [raced.rounds("random-write"), raced.rounds("random-read")], slices)
    };
    let (whole, rounds, slices) = race(None, false);
    assert_eq!((rounds, slices), ([4, 4], BTreeSet::from([6])));
    // Made four times in every round, they would leave time for few more than the two rounds that are owed.
    let (seconds, rounds, slices) = race(Some(1.5 * whole), true);
    assert!(rounds.iter().sum::<u32>() >= 7, "{rounds:?}");
    assert!(seconds < 1.6 * whole, "{seconds} s, and {whole} s without them");
    assert!(slices.contains(&6) && slices.iter().any(|count| *count > 6), "{slices:?}");
    // Where there is time for all of it, all of it is made.
    let (seconds, rounds, slices) = race(Some(100.0 * whole), true);
    assert_eq!(rounds, [4, 4]);
    // Four times six are made, and what is cut from their beginning is not counted.
    assert!(slices.iter().all(|count| (18..=24).contains(count)), "{slices:?}");
    assert!(seconds > 1.8 * whole, "{seconds} s, and {whole} s without them");
}

#[test]
fn no_time_is_too_short_for_the_two_rounds_without_which_nothing_is_told() {
    for (planned, raced) in [(2, 2), (6, 2)] {
        let (scene, speeds) = scene(&[RANDOM_WRITE, RANDOM_READ], planned, Some(0.5), 0.01);
        let race = scene.race(&mut scene.lanes(&speeds));
        assert!(race.is_complete());
        assert_eq!([race.rounds("random-write"), race.rounds("random-read")], [raced; 2], "{planned} planned");
        let finding = stats::screening::finding(&race.record).expect("it is a screening");
        assert!(finding.results.iter().all(|result| result.effects.len() == EFFECTS.len()), "{:?}", finding.results);
    }
}
