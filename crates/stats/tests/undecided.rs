//! Why pairs are undecided, and the one remedy of a race.

use crate::common;

use common::{io, lane, record, run};
use model::findings::{Level, Settle, Undecided, Verdict};
use model::plan::Rounds;
use model::record::{EndOutcome, Record};
use model::workload::Pattern;
use stats::judge;

/// Why the first pair of a race is undecided, and the remedy of the race.
fn undecided_because(race: &Record) -> (Option<Undecided>, Option<Settle>) {
    let findings = judge::findings(race);
    let pair = &findings.results[0].pairs[0];
    assert_eq!(pair.undecided.is_some(), pair.verdict == Verdict::Undecided, "{pair:?}");
    (pair.undecided, findings.answer.unwrap().settle)
}

#[test]
fn an_undecided_pair_has_the_one_reason_that_left_it_so() {
    let of = |rounds: Rounds, done: u32, end: Option<EndOutcome>, budget: Option<f64>| {
        let mut race =
            record(vec![lane("ext4"), lane("xfs")], vec![io("commit", Pattern::Append, 1, 1)], rounds, false);
        run(&mut race, done, &[1000.0, 1010.0], 0.2, 7);
        (race.end, race.header.plan.budget_seconds) = (end, budget);
        race
    };
    let complete = Some(EndOutcome::Complete);
    for (race, because) in [
        (of(Rounds::Auto, 20, complete, Some(180.0)), Undecided::Noise),
        (of(Rounds::Fixed(8), 8, complete, None), Undecided::Noise),
        (of(Rounds::Fixed(1), 1, complete, None), Undecided::TooFewRounds),
        // It was killed, or its machine crashed: its record has no end, and --resume goes on with it.
        (of(Rounds::Auto, 3, None, Some(180.0)), Undecided::Interrupted),
        (of(Rounds::Auto, 8, None, Some(180.0)), Undecided::Interrupted),
        (of(Rounds::Fixed(20), 4, None, None), Undecided::Interrupted),
        (of(Rounds::Fixed(8), 8, None, None), Undecided::Noise),
        (of(Rounds::Auto, 4, complete, Some(10.0)), Undecided::OutOfBudget),
        (of(Rounds::Auto, 8, complete, Some(10.0)), Undecided::OutOfBudget),
        (of(Rounds::Auto, 8, Some(EndOutcome::Interrupted), Some(180.0)), Undecided::Interrupted),
        (of(Rounds::Fixed(20), 4, Some(EndOutcome::Failed), None), Undecided::Interrupted),
        // It was interrupted after its last round: nothing of it is left.
        (of(Rounds::Fixed(8), 8, Some(EndOutcome::Interrupted), None), Undecided::Noise),
    ] {
        let (rounds, end) = (race.header.plan.rounds, race.end);
        assert_eq!(undecided_because(&race).0, Some(because), "{rounds:?} {end:?}");
    }
    let mut busy = of(Rounds::Auto, 20, complete, Some(180.0));
    busy.trials.iter_mut().for_each(|trial| trial.flags.push("foreign-noise: other programs took 40 %".into()));
    assert_eq!(undecided_because(&busy), (Some(Undecided::MachineBusy), Some(Settle::Quiet)));
    let clear =
        record(vec![lane("ext4"), lane("xfs")], vec![io("commit", Pattern::Append, 1, 1)], Rounds::Fixed(8), false);
    let mut clear = clear;
    run(&mut clear, 8, &[1000.0, 2000.0], 0.01, 7);
    clear.end = complete;
    assert_eq!(undecided_because(&clear), (None, None));
}

#[test]
fn a_race_has_one_remedy_and_says_how_long_it_takes() {
    let of = |rounds: Rounds, done: u32, end: EndOutcome| {
        let mut race =
            record(vec![lane("ext4"), lane("xfs")], vec![io("commit", Pattern::Append, 1, 1)], rounds, false);
        run(&mut race, done, &[1000.0, 1010.0], 0.2, 7);
        race.trials.iter_mut().for_each(|trial| trial.phases_seconds = [("measure".to_owned(), 30.0)].into());
        (race.end, race.header.plan.budget_seconds) = (Some(end), None);
        race
    };
    let next = |race: &Record| judge::findings(race).answer.unwrap().next.join(" ");
    // Two lanes of half a minute each, six rounds.
    let one = of(Rounds::Fixed(1), 1, EndOutcome::Complete);
    assert_eq!(undecided_because(&one).1, Some(Settle::FirstRounds { rounds: 6, seconds: 360 }));
    assert!(next(&one).ends_with("--rounds 6"), "{}", next(&one));
    let stopped = of(Rounds::Fixed(10), 4, EndOutcome::Interrupted);
    assert_eq!(undecided_because(&stopped).1, Some(Settle::Resume { seconds: 360 }));
    assert_eq!(next(&stopped), "race --resume RECORD");
}

#[test]
fn a_crashed_race_is_interrupted_and_a_running_one_has_too_few_rounds_so_far() {
    let mut race =
        record(vec![lane("ext4"), lane("xfs")], vec![io("commit", Pattern::Append, 1, 1)], Rounds::Fixed(10), false);
    run(&mut race, 4, &[1000.0, 1010.0], 0.2, 7);
    race.end = None;
    let mut findings = judge::findings(&race);
    let answer = findings.answer.as_ref().unwrap();
    assert_eq!(findings.results[0].pairs[0].undecided, Some(Undecided::Interrupted));
    assert_eq!(answer.level, Some(Level::Undecided { because: Undecided::Interrupted, ties: Vec::new() }));
    assert!(matches!(answer.settle, Some(Settle::Resume { .. })), "{:?}", answer.settle);
    stats::level::still_running(&mut findings);
    let answer = findings.answer.as_ref().unwrap();
    assert_eq!(findings.results[0].pairs[0].undecided, Some(Undecided::TooFewRounds));
    assert_eq!(answer.level, Some(Level::Undecided { because: Undecided::TooFewRounds, ties: Vec::new() }));
    assert_eq!((answer.settle, answer.next.len()), (None, 0));
}

#[test]
fn lanes_are_level_only_where_every_result_ties_and_may_be_used() {
    let works = vec![io("commit", Pattern::Append, 1, 1), io("log", Pattern::Append, 1, 1)];
    let mut race = record(vec![lane("ext4"), lane("xfs")], works, Rounds::Fixed(8), false);
    run(&mut race, 8, &[1000.0, 1000.0], 0.001, 7);
    race.end = Some(EndOutcome::Complete);
    let findings = judge::findings(&race);
    let answer = findings.answer.unwrap();
    let of = |results: &[_], unraced| stats::level::level(&answer, results, unraced);
    let results = findings.results;
    assert_eq!((results.len(), answer.level.clone()), (2, Some(Level::Tie)));
    let ties = |count: usize| results[..count].iter().map(|result| result.title.clone()).collect::<Vec<_>>();
    let because = Undecided::OutOfBudget;
    assert_eq!(of(&results, Some(because)), Some(Level::Undecided { because, ties: ties(2) }), "not all was raced");
    let mut other = results.clone();
    (other[1].pairs[0].verdict, other[1].pairs[0].undecided) = (Verdict::Undecided, Some(Undecided::TooFewRounds));
    assert_eq!(of(&other, None), Some(Level::Undecided { because: Undecided::TooFewRounds, ties: ties(1) }));
    let mut unsure = other.clone();
    unsure[0].pairs[0].verdict = Verdict::Faster;
    assert_eq!(of(&unsure, None), Some(Level::Undecided { because: Undecided::TooFewRounds, ties: Vec::new() }));
    for change in [
        (|of| of.pairs[0].verdict = Verdict::Faster) as fn(&mut model::findings::ResultFinding),
        |of| of.pairs[0].verdict = Verdict::None,
        |of| of.limit = model::findings::Limit::Cache,
        |of| of.pairs.clear(),
    ] {
        let mut other = results.clone();
        change(&mut other[1]);
        assert_eq!(of(&other, None), Some(Level::Unnamed));
    }
}

#[test]
fn the_time_that_is_said_is_that_of_all_the_next_command_races() {
    // Two workloads, of which the noisier needs more than 20 rounds; each gets as many rounds in one race.
    let works = vec![io("commit", Pattern::Append, 1, 1), io("log", Pattern::Append, 1, 1)];
    let lanes = vec![lane("ext4"), lane("xfs"), lane("btrfs")];
    let mut race = record(lanes, works, Rounds::Auto, false);
    run(&mut race, 20, &[1000.0, 1010.0, 300.0], 0.1, 7);
    // btrfs was decided early: another race has it in every round.
    race.trials.retain(|trial| trial.lane != "btrfs" || trial.round <= 6);
    race.trials.iter_mut().for_each(|trial| trial.phases_seconds = [("measure".to_owned(), 10.0)].into());
    race.end = Some(EndOutcome::Complete);
    let answer = judge::findings(&race).answer.unwrap();
    let Some(Settle::Rounds { rounds, seconds, .. }) = answer.settle else { panic!("{:?}", answer.settle) };
    assert!(rounds > 20 && answer.next.ends_with(&["--rounds".to_owned(), rounds.to_string()]), "{:?}", answer.next);
    let named = answer.next.iter().filter(|word| *word == "--workload").count();
    let workloads = if named == 0 { 2 } else { named as u32 };
    assert_eq!(seconds, (rounds * workloads * 30).next_multiple_of(60), "three lanes of ten seconds");
}

#[test]
fn a_race_that_lacked_time_is_given_more_of_it_whoever_disturbed_it() {
    let works: Vec<_> = ["a", "b", "c"].map(|name| io(name, Pattern::Append, 1, 1)).to_vec();
    let mut race = record(vec![lane("ext4"), lane("xfs")], works, Rounds::Auto, false);
    run(&mut race, 8, &[1000.0, 1010.0], 0.2, 7);
    race.trials.retain(|trial| trial.workload != "c" || trial.round <= 4);
    race.trials.iter_mut().for_each(|trial| {
        trial.flags.push("foreign-noise: other programs took 40 %".into());
        trial.phases_seconds = [("measure".to_owned(), 2.0)].into();
    });
    (race.end, race.header.plan.budget_seconds) = (Some(EndOutcome::Complete), Some(120.0));
    let findings = judge::findings(&race);
    let answer = findings.answer.as_ref().unwrap();
    let reasons: Vec<_> = findings.results.iter().map(|of| of.pairs[0].undecided.unwrap()).collect();
    assert_eq!(reasons, [Undecided::MachineBusy, Undecided::MachineBusy, Undecided::OutOfBudget]);
    // What most results have in common is the cause, and a larger budget is the remedy and the command.
    let because = Undecided::MachineBusy;
    assert!(
        matches!(&answer.level, Some(Level::Undecided { because: of, .. }) if *of == because),
        "{:?}",
        answer.level
    );
    let option = answer.settle.and_then(|settle| settle.option()).unwrap();
    assert!(answer.next.ends_with(&[option.0.to_owned(), option.1.clone()]), "{:?} {option:?}", answer.next);
    assert_ne!(option.1, "2m");
    assert!(answer.disturbed);
}

#[test]
fn the_cause_is_that_of_most_results_and_an_interruption_comes_first() {
    use Undecided::{Interrupted, MachineBusy, Noise, OutOfBudget};
    assert_eq!(Undecided::of_most([OutOfBudget, MachineBusy, MachineBusy]), Some(MachineBusy));
    assert_eq!(Undecided::of_most([Noise, OutOfBudget]), Some(OutOfBudget));
    assert_eq!(Undecided::of_most([Noise, Noise, Interrupted]), Some(Interrupted));
    assert_eq!((Undecided::of_most([]), Undecided::first([Noise, OutOfBudget])), (None, Some(OutOfBudget)));
}

#[test]
fn how_much_was_reached_and_whether_what_is_named_was_disturbed_stand_with_the_answer() {
    let works = vec![io("commit", Pattern::Append, 1, 1), io("log", Pattern::Append, 1, 1)];
    let mut race = record(vec![lane("ext4"), lane("xfs")], works, Rounds::Auto, true);
    run(&mut race, 6, &[1000.0, 3000.0], 0.01, 7);
    race.end = Some(EndOutcome::Complete);
    let answer = judge::findings(&race).answer.unwrap();
    assert_eq!((answer.reached, answer.disturbed), (None, false));
    race.trials.retain(|trial| trial.workload == "commit");
    race.trials.iter_mut().for_each(|trial| trial.flags.push("foreign-noise: other programs took 40 %".into()));
    let answer = judge::findings(&race).answer.unwrap();
    let reached = answer.reached.unwrap();
    assert!((reached.workloads, reached.of) == (1, 2) && answer.disturbed && !answer.reasons.is_empty(), "{answer:?}");
}
