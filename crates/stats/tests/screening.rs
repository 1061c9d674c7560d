//! Screenings whose truth is known: what is found of their options, and what is not.

use crate::common::sample::Normal;
use crate::common::{io, lane, record, run, small_files};
use crate::screened::{Noise, commit, effect, empty, found, matter, measure, options, race};
use model::findings::{Choice, ConfirmationOutcome, Decision, EffectVerdict, ExpectedGain, Verdict};
use model::plan::Rounds;
use model::record::{EndOutcome, Record};
use model::screening::{DesignKind, OptionClass};
use model::trial::Outcome;
use model::workload::Pattern;
use stats::{judge, screening};

/// Noise as on a quiet machine: correlated from round to round.
const QUIET: Noise = Noise { in_lanes: 0.03, lag1: 0.3, in_rounds: 0.05, of_lanes: 0.0 };

/// Options that do nothing.
fn nothing(_: &[bool]) -> f64 {
    0.0
}

#[test]
fn planted_effects_are_found_among_twenty_options_and_no_others() {
    let race = race(20, 6, QUIET, 1, &options(&[(2, 1.10), (5, 0.92)]));
    let of = found(&race);
    assert_eq!((of.design, of.lanes, of.full_factorial_lanes), (DesignKind::FoldedPlackettBurman, 48, 1 << 20));
    let result = &of.results[0];
    assert_eq!((result.rounds, result.unknown.as_deref(), result.spare.len()), (6, None, 27));
    assert_eq!(matter(result), ["o2", "o5"]);
    for (factor, truth) in [("o2", 1.10), ("o5", 0.92)] {
        let of = effect(result, factor);
        assert!(of.low < of.ratio && of.ratio < of.high && of.p < 0.001, "{of:?}");
        assert!((of.ratio / truth - 1.0).abs() < 0.03, "{of:?}");
    }
    // 3 % in 48 lanes of six rounds: ten of the others at least are known to within the margin.
    let others = result.effects.iter().filter(|of| of.verdict == EffectVerdict::DoesNot);
    assert!(others.count() >= 10, "{:#?}", result.effects);
    assert!((result.deviation.unwrap() / 0.03 - 1.0).abs() < 0.25, "{:?}", result.deviation);
    assert_eq!((of.proposal.factors.as_slice(), of.proposal.mixed.len()), (["o2".to_owned()].as_slice(), 0));
    let gain = of.proposal.expected.first().unwrap();
    assert_eq!(gain.title, "commit 4 KiB");
    assert!((gain.ratio - effect(result, "o2").ratio).abs() < 1e-9, "{gain:?}");
}

#[test]
fn options_that_do_nothing_seldom_matter() {
    // 5 % of screenings may say so: of forty more than seven once in a thousand times.
    let says = |seed: u64| !matter(&found(&race(8, 6, QUIET, seed, &nothing)).results[0]).is_empty();
    let says = (100..140).filter(|&seed| says(seed)).count();
    assert!(says <= 7, "{says} of 40 screenings find what is not there");
}

#[test]
fn one_option_and_every_combination_of_three_are_screened_too() {
    let one = found(&race(1, 8, Noise::white(0.005), 2, &options(&[(0, 1.3)])));
    assert_eq!((one.lanes, one.design, matter(&one.results[0])), (8, DesignKind::FullFactorial, vec!["o0"]));
    assert_eq!((one.results[0].spare.len(), one.full_factorial_lanes), (6, 2));
    assert!(one.results[0].interactions.is_empty());
    let three = found(&race(3, 6, Noise::white(0.01), 3, &options(&[(0, 1.2), (1, 0.8)])));
    assert_eq!((three.lanes, matter(&three.results[0])), (8, vec!["o0", "o1"]));
    assert_eq!((three.results[0].spare.len(), three.full_factorial_lanes), (4, 8));
}

#[test]
fn times_are_turned_so_that_above_one_is_better() {
    let mut race = race(4, 6, Noise::white(0.01), 4, &options(&[(1, 0.8)]));
    for group in race.trials.iter_mut().flat_map(|trial| &mut trial.groups) {
        let rate = group.metrics["operations_per_second"];
        group.primary_metric = "latency_p99_ns".into();
        group.metrics = [("latency_p99_ns".to_owned(), rate * 1000.0)].into();
    }
    let of = found(&race);
    let result = &of.results[0];
    assert_eq!((result.metric.as_str(), result.higher_is_better), ("latency_p99_ns", false));
    // It takes 20 % of the time away.
    assert!((effect(result, "o1").ratio - 1.25).abs() < 0.05, "{:?}", effect(result, "o1"));
    assert_eq!(of.proposal.factors, ["o1"]);
}

#[test]
fn what_is_surely_small_does_not_matter() {
    let race = race(2, 8, Noise::white(0.001), 5, &options(&[(0, 1.01), (1, 1.2)]));
    let of = found(&race);
    let small = effect(&of.results[0], "o0");
    assert!(small.p < 1e-6 && small.verdict == EffectVerdict::DoesNot, "{small:?}");
    assert_eq!(of.proposal.factors, ["o1"]);
}

#[test]
fn options_that_change_each_others_effect_are_named_with_the_ratio_of_their_effects() {
    // The rate of 1000 becomes 1100 by the first, 1000 by the second, 1210 by both.
    let both = |run: &[bool]| match (run[0], run[1]) {
        (false, _) => 0.0,
        (true, false) => 1.1_f64.ln(),
        (true, true) => 1.21_f64.ln(),
    };
    for factors in [2, 4, 9] {
        let mut race = race(factors, 6, Noise::white(0.002), 6, &both);
        let of = found(&race);
        let [interaction] = of.results[0].interactions.as_slice() else { panic!("{factors}: {:#?}", of.results) };
        assert_eq!(interaction.factors, ["o0", "o1"], "{factors} options");
        assert!((interaction.ratio - 1.1).abs() < 0.01, "{factors} options: {interaction:?}");
        assert!(interaction.low < 1.1 && interaction.high > 1.1 && interaction.low > 1.05, "{interaction:?}");
        // In 24 lanes none of the pairs of the seven others is the same, and each shares a third of it.
        assert!(interaction.aliases.is_empty(), "{factors} options: {interaction:?}");
        assert_eq!(interaction.partial, if factors == 9 { 21 } else { 0 }, "{factors} options");
        // On average over the other's levels.
        let average = (1.1_f64 * 1.21).sqrt();
        assert!((effect(&of.results[0], "o0").ratio - average).abs() < 0.01);
        assert!((of.proposal.expected[0].ratio - 1.21).abs() < 0.015, "both: {:?}", of.proposal);
        // Without the second the first gains what it does by itself.
        let planned = race.header.plan.screening.as_mut().unwrap();
        planned.factors[1].class = OptionClass::Promises;
        let of = found(&race);
        assert_eq!((of.proposal.factors, of.proposal.promises), (vec!["o0".to_owned()], vec!["o1".to_owned()]));
        assert!((of.proposal.expected[0].ratio - 1.1).abs() < 0.01, "{:?}", of.proposal.expected);
    }
}

#[test]
fn lanes_that_differ_without_an_option_make_intervals_wider() {
    let apart = Noise { of_lanes: 0.05, ..Noise::white(0.005) };
    let (mut told, mut wider) = (0, 0);
    for seed in 20..30 {
        let of = found(&race(8, 6, apart, seed, &nothing)).results.remove(0);
        let quiet = found(&race(8, 6, Noise::white(0.005), seed, &nothing)).results.remove(0);
        told += u32::from(of.lanes_differ);
        let width = |of: &model::findings::Effect| (of.high / of.low).ln();
        wider += u32::from(width(&of.effects[0]) > 3.0 * width(&quiet.effects[0]));
    }
    assert!(told >= 8 && wider >= 8, "{told} told, {wider} wider, of 10");
}

#[test]
fn more_rounds_are_advised_where_rounds_scatter_and_not_where_lanes_alone_leave_all_open() {
    let hidden = |noise: Noise| {
        let of: Vec<_> = (40..60).map(|seed| found(&race(1, 6, noise, seed, &nothing))).collect();
        let open = of.iter().filter(|of| !of.open_options().is_empty()).count();
        (open, of.iter().filter(|of| of.hidden_by_lanes).count())
    };
    let (open, of_lanes) = hidden(Noise { of_lanes: 0.05, ..Noise::white(0.002) });
    assert!(open >= 18 && of_lanes + 3 >= open, "{of_lanes} of {open} are hidden by lanes that differ by 5 %");
    let (open, of_rounds) = hidden(Noise::white(0.1));
    assert!(open >= 18 && of_rounds <= 6, "{of_rounds} of {open} where rounds scatter by 10 % and lanes are alike");
    // Nothing is said of rounds where the race is not over, or its time ended it.
    let mut race = race(1, 6, Noise { of_lanes: 0.05, ..Noise::white(0.002) }, 40, &nothing);
    assert!(found(&race).hidden_by_lanes);
    race.end = Some(model::record::EndOutcome::Interrupted);
    assert!(!found(&race).hidden_by_lanes);
}

#[test]
fn lanes_that_differ_by_as_much_as_they_scatter_seldom_make_an_option_matter() {
    // White noise of 1 % in six rounds, so that a lane's mean scatters by 0.4 %: lanes differ by once and by twice that.
    for of_lanes in [0.004, 0.008] {
        let noise = Noise { of_lanes, ..Noise::white(0.01) };
        let says = |seed: u64| !matter(&found(&race(8, 6, noise, seed, &nothing)).results[0]).is_empty();
        let says = (200..260).filter(|&seed| says(seed)).count();
        // Some 3 of them may.
        assert!(says <= 9, "lanes differ by {of_lanes}: {says} of 60 screenings find what is not there");
    }
}

#[test]
fn a_design_with_fewer_than_three_columns_without_an_option_says_so() {
    for factors in [1, 2, 3, 7, 11, 23] {
        assert!(!found(&empty(factors, 6, vec![commit()])).few_spare, "{factors} options");
    }
    for factors in [1, 2] {
        let of = found(&in_a_lane_each(&race(factors, 8, Noise::white(0.005), 2, &options(&[(0, 1.3)]))));
        assert!(of.few_spare && matter(&of.results[0]) == ["o0"], "{of:#?}");
        assert_eq!((of.lanes, of.results[0].spare.len()), (1 << factors, factors - 1));
    }
}

/// As an older version raced it: each combination in one lane.
fn in_a_lane_each(race: &Record) -> Record {
    let mut race = race.clone();
    let screening = race.header.plan.screening.as_mut().unwrap();
    screening.runs.truncate(1 << screening.factors.len());
    let kept: Vec<String> = screening.runs.iter().map(|run| run.lane.clone()).collect();
    race.header.lanes.retain(|lane| kept.contains(&lane.name));
    race.header.plan.lanes.retain(|lane| kept.contains(&lane.name));
    race.trials.retain(|trial| kept.contains(&trial.lane));
    race
}

#[test]
fn of_one_and_two_options_lanes_that_differ_by_themselves_seldom_make_one_matter() {
    for factors in [1, 2] {
        let noise = Noise { of_lanes: 0.05, ..Noise::white(0.02) };
        let says = |seed: u64| !matter(&found(&race(factors, 6, noise, seed, &nothing)).results[0]).is_empty();
        let says = (300..360).filter(|&seed| says(seed)).count();
        // Some 3 of them may, and more than 9 once in a thousand times.
        assert!(says <= 9, "{factors} options: {says} of 60 screenings find what is not there");
    }
}

#[test]
fn every_result_counts_and_those_that_were_not_reached_keep_their_weight() {
    let (files, reads) = (small_files(), io("random-read", Pattern::RandRead, 1, 0));
    let mut race = empty(5, 6, vec![commit(), files.clone(), reads]);
    let mut source = Normal::new(7);
    measure(&mut race, &commit(), 6, QUIET, &mut source, &options(&[(0, 1.3)]));
    measure(&mut race, &files, 6, QUIET, &mut source, &options(&[(0, 0.8), (1, 1.3)]));
    let of = found(&race);
    let titles: Vec<&str> = of.results.iter().map(|of| of.title.as_str()).collect();
    let groups = files.groups();
    assert_eq!(titles[0], "commit 4 KiB");
    assert_eq!(titles[1], format!("small files: {}", groups[0]));
    assert_eq!(titles.len(), groups.len() + 2);
    let last = of.results.last().unwrap();
    assert_eq!((last.title.as_str(), last.rounds, last.effects.len()), ("random-read 4 KiB", 0, 0));
    assert_eq!(last.unknown.as_deref(), Some("the race did not come to it"));
    // Better at commits, worse at files.
    assert_eq!((of.proposal.mixed, of.proposal.factors), (vec!["o0".to_owned()], vec!["o1".to_owned()]));
    race.end = None;
    let running = found(&race);
    assert_eq!(running.results.last().unwrap().unknown.as_deref(), Some("the race has not come to it yet"));
}

#[test]
fn a_lane_that_failed_is_named_and_nothing_is_told() {
    let mut race = race(3, 6, Noise::white(0.01), 8, &nothing);
    for trial in race.trials.iter_mut().filter(|trial| trial.lane == "run05") {
        trial.outcome = Outcome::Failed;
        trial.reason = Some("mkfs.xfs said no".into());
        trial.groups.clear();
    }
    let of = found(&race);
    assert_eq!(of.results[0].unknown.as_deref(), Some("run05: mkfs.xfs said no"));
    assert!(of.results[0].effects.is_empty() && of.proposal.factors.is_empty());
}

#[test]
fn a_round_that_one_lane_lacks_counts_for_none() {
    let whole = race(3, 6, Noise::white(0.01), 9, &options(&[(0, 1.2)]));
    let mut torn = whole.clone();
    torn.trials.retain(|trial| !(trial.lane == "run03" && trial.round == 2));
    let of = found(&torn).results.remove(0);
    assert_eq!((of.rounds, matter(&of)), (5, vec!["o0"]));
    // As if that round had not been raced.
    let mut without = whole.clone();
    without.trials.retain(|trial| trial.round != 2);
    let without = found(&without).results.remove(0);
    assert_eq!((without.rounds, &without.effects), (5, &of.effects));
    let mut few = whole;
    few.trials.retain(|trial| trial.round == 1 || trial.lane != "run00");
    let few = found(&few).results.remove(0);
    assert_eq!(few.rounds, 1);
    assert!(few.unknown.as_deref().is_some_and(|why| why.starts_with("one round has a figure of every lane")));
}

/// Lets lanes stand still in these rounds.
fn stop(race: &mut Record, lane: &str, rounds: &[u32]) {
    let such = race.trials.iter_mut().filter(|trial| trial.lane.starts_with(lane) && rounds.contains(&trial.round));
    for group in such.flat_map(|trial| &mut trial.groups) {
        group.metrics.insert("operations_per_second".to_owned(), 0.0);
    }
}

#[test]
fn rounds_in_which_all_lanes_stood_still_are_left_out_and_one_that_often_does_is_named() {
    let whole = race(3, 6, Noise::white(0.01), 10, &options(&[(0, 1.2)]));
    let mut all = whole.clone();
    stop(&mut all, "run", &[2, 4]);
    let of = found(&all).results.remove(0);
    assert_eq!((of.rounds, of.unknown.as_deref()), (4, None));
    let mut once = whole.clone();
    stop(&mut once, "run02", &[3]);
    assert_eq!(found(&once).results[0].rounds, 5);
    let mut often = whole;
    stop(&mut often, "run02", &[3, 5]);
    let why = found(&often).results.remove(0).unknown.unwrap();
    assert!(why.starts_with("run02 stood still in 2 of 6 rounds"), "{why}");
}

#[test]
fn nothing_is_decided_before_the_planned_rounds_are_done() {
    let mut race = race(5, 6, Noise::white(0.01), 11, &options(&[(0, 1.5)]));
    race.header.plan.rounds = Rounds::Fixed(8);
    race.end = Some(EndOutcome::Interrupted);
    let of = found(&race);
    assert!(of.unfinished, "{of:#?}");
    let open = of.results[0].effects.iter().all(|of| of.verdict == EffectVerdict::Open);
    assert!(open && of.results[0].interactions.is_empty() && of.proposal.factors.is_empty());
    assert!(effect(&of.results[0], "o0").ratio > 1.4);
    race.end = Some(EndOutcome::Complete);
    assert_eq!(matter(&found(&race).results[0]), ["o0"], "the end of the budget is a look");
    assert!(!found(&race).unfinished);
    race.header.plan.rounds = Rounds::Fixed(4);
    assert_eq!(found(&race).results[0].rounds, 4, "rounds past the look do not count");
}

#[test]
fn the_queue_of_images_is_that_of_their_loop_devices() {
    let mut race = empty(5, 6, vec![commit()]);
    race.header.lanes[0].venue = "image".to_owned();
    assert!(!found(&race).loop_queue, "no queue was varied");
    let planned = race.header.plan.screening.as_mut().unwrap();
    planned.factors[2].other.queue = vec!["scheduler=bfq".to_owned()];
    assert!(found(&race).loop_queue);
    race.header.lanes[0].venue = "device".to_owned();
    assert!(!found(&race).loop_queue);
}

#[test]
fn a_screening_has_no_pairs_and_no_answer_but_its_own() {
    let race = race(5, 6, Noise::white(0.01), 12, &options(&[(0, 1.5)]));
    let findings = judge::findings(&race);
    assert_eq!(findings.screening.as_ref(), Some(&found(&race)));
    assert!(findings.results[0].pairs.is_empty() && findings.results[0].statements.is_empty());
    assert_eq!((findings.results[0].estimates.len(), findings.answer.is_none()), (16, true));
    let conclusion = &findings.conclusion;
    assert_eq!((&conclusion.choice, &conclusion.decision), (&Choice::Screened, &Decision::Screened));
    // An ordinary race is none, and a screening of which nothing was measured has no answer.
    let ordinary = record(vec![lane("ext4"), lane("xfs")], vec![commit()], Rounds::Auto, true);
    assert_eq!((screening::finding(&ordinary), judge::findings(&ordinary).screening), (None, None));
    let nothing = judge::findings(&empty(5, 6, vec![commit()]));
    assert_eq!((nothing.screening.is_some(), nothing.conclusion.choice), (true, Choice::Nothing));
}

/// A race of the proposal against the default, at these rates.
fn confirmation(rates: [f64; 2]) -> Record {
    let mut race = record(vec![lane("default"), lane("proposal")], vec![commit()], Rounds::Fixed(8), false);
    race.header.seed = 99;
    run(&mut race, 8, &rates, 0.005, 13);
    race
}

#[test]
fn the_race_of_the_proposal_says_what_came_of_what_was_expected() {
    let screened = found(&race(5, 6, Noise::white(0.01), 12, &options(&[(0, 1.5)])));
    for (rates, verdict, outcome) in [
        ([1000.0, 1480.0], Verdict::Faster, ConfirmationOutcome::Confirmed),
        ([1000.0, 1000.0], Verdict::Tie, ConfirmationOutcome::NotConfirmed),
        ([1000.0, 700.0], Verdict::Slower, ConfirmationOutcome::NotConfirmed),
    ] {
        let mut of = screened.clone();
        screening::confirm(&mut of, &confirmation(rates));
        let found = of.confirmation.unwrap();
        assert_eq!((found.lane.as_str(), found.default_lane.as_str(), found.seed), ("proposal", "default", 99));
        assert_eq!((found.outcome, found.rows.len(), found.rows[0].verdict), (outcome, 1, verdict));
        assert_eq!((found.gained, found.counted), (u32::from(outcome == ConfirmationOutcome::Confirmed), 1));
        let row = &found.rows[0];
        assert!((row.ratio.unwrap() - rates[1] / rates[0]).abs() < 0.02, "{row:?}");
        assert!(row.low.unwrap() < row.ratio.unwrap() && row.ratio.unwrap() < row.high.unwrap());
        let [ExpectedGain { title, ratio, .. }] = of.proposal.expected.as_slice() else { panic!("one result") };
        assert_eq!((&row.title, row.expected), (title, Some(*ratio)));
        let shares = row.cpu_shares.unwrap();
        assert!(shares.iter().all(|share| *share > 0.0 && *share <= 1.0), "{shares:?}");
    }
}

#[test]
fn shares_of_the_cpus_are_told_where_enough_ticks_stand_behind_them() {
    let screened = found(&race(5, 6, Noise::white(0.01), 12, &options(&[(0, 1.5)])));
    // Of eight rounds 0.96 s and 1.04 s, and the default has enough of it.
    for (seconds, is_little) in [(0.12, true), (0.13, false)] {
        let mut confirmed = confirmation([1000.0, 1480.0]);
        for trial in confirmed.trials.iter_mut().filter(|trial| trial.lane == "proposal") {
            (trial.system.cpu_user_seconds, trial.system.cpu_system_seconds) = (0.02, seconds - 0.02);
        }
        let mut of = screened.clone();
        screening::confirm(&mut of, &confirmed);
        let row = &of.confirmation.unwrap().rows[0];
        assert_eq!((row.little_cpu, row.cpu_shares.is_none()), (is_little, is_little), "{row:?}");
    }
}

#[test]
fn a_race_of_the_proposal_that_is_not_over_confirms_nothing() {
    let screened = found(&race(5, 6, Noise::white(0.01), 12, &options(&[(0, 1.5)])));
    let outcome = |change: &dyn Fn(&mut Record)| {
        let mut confirmed = confirmation([1000.0, 1480.0]);
        change(&mut confirmed);
        let mut of = screened.clone();
        screening::confirm(&mut of, &confirmed);
        of.confirmation.unwrap().outcome
    };
    assert_eq!(outcome(&|_| ()), ConfirmationOutcome::Confirmed);
    for end in [None, Some(EndOutcome::Interrupted), Some(EndOutcome::Failed)] {
        assert_eq!(outcome(&|race| race.end = end), ConfirmationOutcome::Open, "{end:?}");
    }
    assert_eq!(outcome(&|race| race.trials.clear()), ConfirmationOutcome::Open, "nothing was raced");
}

#[test]
fn a_gain_where_none_was_expected_confirms_only_what_nothing_was_expected_of() {
    let screened = found(&race(5, 6, Noise::white(0.01), 12, &options(&[(0, 1.5)])));
    let reads = io("random-read", Pattern::RandRead, 1, 0);
    let mut elsewhere = confirmation([1000.0, 1000.0]);
    elsewhere.header.plan.workloads.push(reads.clone());
    let mut better = record(vec![lane("default"), lane("proposal")], vec![reads], Rounds::Fixed(8), false);
    run(&mut better, 8, &[1000.0, 1300.0], 0.005, 14);
    elsewhere.trials.extend(better.trials);
    for (expected, outcome) in [(true, ConfirmationOutcome::NotConfirmed), (false, ConfirmationOutcome::Confirmed)] {
        let mut of = screened.clone();
        if !expected {
            of.proposal.expected.clear();
        }
        screening::confirm(&mut of, &elsewhere);
        assert_eq!(of.confirmation.unwrap().outcome, outcome, "expected: {expected}");
    }
}

#[test]
fn better_in_some_work_and_worse_in_other_is_mixed_and_what_is_no_race_of_two_confirms_nothing() {
    let screened = found(&race(5, 6, Noise::white(0.01), 12, &options(&[(0, 1.5)])));
    let mut both = confirmation([1000.0, 1480.0]);
    let reads = io("random-read", Pattern::RandRead, 1, 0);
    both.header.plan.workloads.push(reads.clone());
    let mut worse = record(vec![lane("default"), lane("proposal")], vec![reads], Rounds::Fixed(8), false);
    run(&mut worse, 8, &[1000.0, 800.0], 0.005, 14);
    both.trials.extend(worse.trials);
    let mut of = screened.clone();
    screening::confirm(&mut of, &both);
    let found = of.confirmation.unwrap();
    assert_eq!((found.outcome, found.rows[1].expected), (ConfirmationOutcome::Mixed, None));
    let alone = record(vec![lane("default")], vec![commit()], Rounds::Fixed(8), false);
    for other in [alone, race(5, 6, Noise::white(0.01), 12, &nothing)] {
        let mut of = screened.clone();
        screening::confirm(&mut of, &other);
        assert_eq!(of, screened);
    }
}
