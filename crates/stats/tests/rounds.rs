//! Rounds in which something went wrong, or nothing was done: what a verdict may still rest on.

use crate::common;

use common::{io, lane, record, run, trial};
use model::findings::{Findings, Pair, ResultFinding, Verdict};
use model::plan::Rounds;
use model::record::{EndOutcome, Record};
use model::trial::{Outcome, Trial};
use model::workload::Pattern;
use stats::judge;

/// Two lanes that commit at these rates.
fn commits(rounds: u32, rates: [f64; 2], plan: Rounds) -> Record {
    let lanes = vec![lane("ext4"), lane("xfs")];
    let mut race = record(lanes, vec![io("commit", Pattern::Append, 1, 1)], plan, true);
    run(&mut race, rounds, &rates, 0.01, 1);
    race
}

fn trial_of<'a>(race: &'a mut Record, lane: &str, round: u32) -> &'a mut Trial {
    race.trials.iter_mut().find(|of| of.lane == lane && of.round == round).unwrap()
}

fn only(race: &Record) -> ResultFinding {
    judge::judge_workload(race, "commit").remove(0)
}

fn pair(race: &Record) -> Pair {
    only(race).pairs.remove(0)
}

/// In these rounds xfs does something, but nothing in its middle slice.
fn stands_still(race: &mut Record, rounds: &[u32]) {
    for &round in rounds {
        let group = &mut trial_of(race, "xfs", round).groups[0];
        group.metrics.insert("operations_per_second".into(), 0.0);
        group.operations = 3;
    }
}

#[test]
fn a_lane_that_did_nothing_in_some_rounds_is_not_judged_on_its_good_ones() {
    let mut race = commits(10, [100.0, 105.0], Rounds::Auto);
    assert_eq!(pair(&race).verdict, Verdict::Faster);
    stands_still(&mut race, &[2, 4, 7, 9]);
    let result = only(&race);
    let pair = &result.pairs[0];
    assert_eq!((pair.verdict, pair.ratio, pair.low), (Verdict::None, None, None), "{pair:?}");
    assert_eq!(
        pair.why.as_deref(),
        Some(
            "xfs stood still in 4 of 10 rounds, and nothing is no rate to compare: measure longer slices with --set \
             commit.slice_seconds=0.8"
        )
    );
    // Zeros are in its own mean too, and in no interval.
    let of_xfs = &result.estimates[1];
    assert!((of_xfs.mean - 63.0).abs() < 1.0, "{of_xfs:?}");
    assert_eq!((of_xfs.low, of_xfs.high, of_xfs.rounds, &of_xfs.failure), (None, None, 10, &None));
    assert_eq!(
        result.warnings,
        ["xfs stood still in 4 of 10 rounds: its mean counts them as zeros and has no interval"]
    );
    assert!(result.estimates[0].low.is_some());
    let Findings { answer, .. } = judge::findings(&race);
    assert!(answer.unwrap().undecided.is_empty(), "more of the same slices would not help");
}

#[test]
fn one_burst_of_stillness_before_the_first_look_does_not_end_the_race() {
    let mut race = commits(3, [100.0, 105.0], Rounds::Auto);
    race.end = None;
    stands_still(&mut race, &[2]);
    let early = pair(&race);
    assert_eq!(early.verdict, Verdict::Undecided);
    assert!(early.why.unwrap().contains("xfs stood still in 1 of 3 rounds"));
    // What comes after a look changes nothing at it.
    let mut later = commits(7, [100.0, 200.0], Rounds::Auto);
    later.end = None;
    stands_still(&mut later, &[7]);
    assert_eq!(pair(&later).verdict, Verdict::Faster);
}

#[test]
fn a_burst_of_stillness_leaves_a_race_its_later_looks_and_no_verdict_at_the_last() {
    let with = |rounds: u32, still: &[u32]| {
        let mut race = commits(rounds, [100.0, 200.0], Rounds::Auto);
        race.end = None;
        stands_still(&mut race, still);
        pair(&race).verdict
    };
    assert_eq!(with(6, &[2]), Verdict::Undecided, "more rounds may come");
    assert_eq!(with(20, &[2]), Verdict::None);
    assert_eq!(with(6, &[1, 2, 3, 4]), Verdict::None, "more of the same slices would not help");
}

#[test]
fn a_round_in_which_every_lane_stood_still_says_nothing_of_any() {
    let stalled = |race: &mut Record, rounds: &[u32]| {
        stands_still(race, rounds);
        rounds.iter().for_each(|&round| {
            trial_of(race, "ext4", round).groups[0].metrics.insert("operations_per_second".into(), 0.0);
        });
    };
    let mut race = commits(8, [100.0, 200.0], Rounds::Auto);
    stalled(&mut race, &[3]);
    let result = only(&race);
    assert_eq!(result.pairs[0].verdict, Verdict::Faster, "{:?}", result.pairs[0]);
    let says = "every lane stood still in 1 of 8 rounds: such rounds say nothing of any of them and were left out";
    assert_eq!(result.warnings, [says]);
    // The mean is that of the others, with its interval.
    assert!((result.estimates[1].mean / 200.0 - 1.0).abs() < 0.02 && result.estimates[1].low.is_some());
    assert_eq!(result.estimates[1].rounds, 7);
    // Beside one that was xfs's own, that one counts.
    stands_still(&mut race, &[5]);
    let result = only(&race);
    assert_eq!(result.pairs[0].verdict, Verdict::None);
    assert!(result.pairs[0].why.as_deref().unwrap().starts_with("xfs stood still in 1 of 8 rounds"));
    assert_eq!(result.warnings.len(), 2, "{:?}", result.warnings);
    assert!((result.estimates[1].mean - 200.0 * 6.0 / 7.0).abs() < 2.0, "{:?}", result.estimates[1]);
    // Where they never did anything, slices are too short, and it is said of each.
    let mut never = commits(6, [100.0, 200.0], Rounds::Auto);
    stalled(&mut never, &[1, 2, 3, 4, 5, 6]);
    let result = only(&never);
    assert_eq!(result.pairs[0].verdict, Verdict::None);
    assert!(result.pairs[0].why.as_deref().unwrap().contains("xfs stood still in 6 of 6 rounds"));
    assert!(result.estimates.iter().all(|of| of.failure.as_deref() == Some("it stood still in every round")));
}

#[test]
fn a_trial_whose_figure_is_zero_without_its_warm_up_stood_still() {
    let mut race = commits(6, [100.0, 200.0], Rounds::Fixed(6));
    // A burst at its beginning, then nothing: the median of all slices is above zero, that of the rest is not.
    let group = &mut trial_of(&mut race, "xfs", 2).groups[0];
    group.slices_operations_per_second = (0..40).map(|slice| if slice < 20 { 400.0 } else { 0.0 }).collect();
    group.metrics.insert("operations_per_second".into(), 200.0);
    let result = only(&race);
    assert_eq!(result.pairs[0].verdict, Verdict::None, "{result:?}");
    assert!(result.pairs[0].why.as_deref().unwrap().starts_with("xfs stood still in 1 of 6 rounds"));
}

#[test]
fn what_limits_a_lane_after_a_pair_was_decided_changes_nothing_of_it() {
    let lanes = vec![lane("ext4"), lane("xfs"), lane("btrfs")];
    let mut race = record(lanes, vec![io("commit", Pattern::RandWrite, 1, 0)], Rounds::Auto, true);
    run(&mut race, 14, &[1000.0, 1010.0, 400.0], 0.05, 3);
    // btrfs is decided at the first look, and the others go on.
    race.trials.retain(|trial| trial.round <= 6 || trial.lane != "btrfs");
    let of_btrfs = |race: &Record| only(race).pairs[1].clone();
    let decided = of_btrfs(&race);
    assert_eq!((decided.a.as_str(), decided.b.as_str(), decided.verdict), ("btrfs", "ext4", Verdict::Slower));
    for flag in ["cannot-sustain-rate: the backlog grew", "harness-bound-submission: late"] {
        let mut later = race.clone();
        for trial in later.trials.iter_mut().filter(|trial| trial.round > 6 && trial.lane == "ext4") {
            trial.flags.push(flag.into());
        }
        assert_eq!(of_btrfs(&later), decided, "{flag}");
        assert_eq!(only(&later).pairs[0].verdict, Verdict::None, "{flag}: of later rounds it holds");
    }
    let mut cached = race.clone();
    let later = cached.trials.iter_mut().filter(|trial| trial.round > 6);
    later.for_each(|trial| trial.system.device.write_bytes = 0);
    assert_eq!(of_btrfs(&cached), decided);
    assert_eq!((only(&cached).pairs[0].verdict, only(&cached).missed_the_disk), (Verdict::None, true));
}

#[test]
fn slices_are_asked_for_that_hold_enough_operations() {
    let mut race = commits(6, [100.0, 105.0], Rounds::Auto);
    stands_still(&mut race, &[1, 2, 3, 4, 5, 6]);
    let result = only(&race);
    assert!(result.pairs[0].why.as_deref().unwrap().starts_with("xfs stood still in 6 of 6 rounds"));
    let failure = result.estimates[1].failure.as_deref().unwrap();
    assert!(failure.starts_with("it stood still in every round"), "{failure}");
    let mut race = commits(6, [100.0, 105.0], Rounds::Auto);
    stands_still(&mut race, &[1, 2, 3, 4, 5]);
    // Three operations in 1 s of each round: 20 take 6.7 s.
    trial_of(&mut race, "xfs", 6).groups[0].operations = 3;
    assert!(pair(&race).why.unwrap().ends_with("commit.slice_seconds=6.7"));
}

#[test]
fn a_figure_that_is_no_number_is_left_out_and_said_as_before() {
    let mut race = commits(6, [100.0, 200.0], Rounds::Auto);
    trial_of(&mut race, "xfs", 2).groups[0].metrics.insert("operations_per_second".into(), f64::NAN);
    let result = only(&race);
    assert_eq!(result.pairs[0].verdict, Verdict::Faster);
    assert_eq!(result.warnings, ["xfs: 1 of 6 figures are no positive number and were left out"]);
}

#[test]
fn an_interrupted_race_of_fixed_rounds_is_undecided_until_it_went_on() {
    let mut race = commits(8, [100.0, 300.0], Rounds::Fixed(20));
    for (end, why) in [
        (Some(EndOutcome::Interrupted), "8 of 20 rounds done"),
        (Some(EndOutcome::Failed), "8 of 20 rounds done"),
        (None, "8 of 20 rounds done"),
    ] {
        race.end = end;
        let pair = pair(&race);
        assert_eq!((pair.verdict, pair.why.as_deref()), (Verdict::Undecided, Some(why)));
        assert_eq!(pair.rounds_to_settle, Some(20), "not before the rounds that were planned");
        assert!(pair.low.is_some(), "the interval so far is shown");
    }
    race.end = Some(EndOutcome::Complete);
    assert_eq!(pair(&race).verdict, Verdict::Faster, "its budget was used up");
    let mut whole = commits(20, [100.0, 300.0], Rounds::Fixed(20));
    whole.end = Some(EndOutcome::Interrupted);
    assert_eq!(pair(&whole).verdict, Verdict::Faster, "interrupted after its last round");
    let mut one = commits(1, [100.0, 300.0], Rounds::Fixed(3));
    one.end = Some(EndOutcome::Interrupted);
    assert_eq!(pair(&one).why.as_deref(), Some("1 of 3 rounds done"));
}

/// A race of three lanes, of which this one failed in these rounds.
fn with_failures(rounds: u32, plan: Rounds, failed: &[u32]) -> Record {
    let lanes = ["ext4", "xfs", "btrfs"].map(lane).to_vec();
    let mut race = record(lanes, vec![io("commit", Pattern::Append, 1, 1)], plan, false);
    race.end = None;
    run(&mut race, rounds, &[1000.0, 1050.0, 400.0], 0.03, 3);
    for &round in failed {
        let trial = trial_of(&mut race, "btrfs", round);
        (trial.outcome, trial.reason) = (Outcome::Failed, Some("it broke".into()));
        trial.groups.clear();
    }
    race
}

#[test]
fn a_failure_in_the_last_round_is_not_taken_for_a_lane_that_races_no_further() {
    let at_look = |race: &Record| only(race).pairs[1].clone();
    let whole = with_failures(10, Rounds::Auto, &[]);
    let failed = with_failures(10, Rounds::Auto, &[10]);
    // Nine differences of the look at ten, and not the eight of the look before.
    let mut eight = whole.clone();
    eight.trials.retain(|trial| trial.round <= 8);
    let log = |pair: &Pair| pair.ratio.unwrap().ln();
    let mean = |race: &Record| {
        let rate = |lane: &str, round: u32| {
            race.trials.iter().find(|of| of.lane == lane && of.round == round).unwrap().groups[0].metrics["operations_per_second"]
        };
        (1..=9).map(|round| (rate("btrfs", round) / rate("ext4", round)).ln()).sum::<f64>() / 9.0
    };
    assert!((log(&at_look(&failed)) - mean(&whole)).abs() < 1e-9, "{:?}", at_look(&failed));
    assert_ne!(at_look(&failed).ratio, at_look(&eight).ratio);
}

#[test]
fn only_a_lane_without_any_trial_in_later_rounds_was_left_out() {
    // Left out after six rounds: what was decided then stands.
    let mut left_out = with_failures(10, Rounds::Auto, &[]);
    left_out.trials.retain(|trial| trial.lane != "btrfs" || trial.round <= 6);
    let mut six = left_out.clone();
    six.trials.retain(|trial| trial.round <= 6);
    assert_eq!(only(&left_out).pairs[1], only(&six).pairs[1]);
    // A race of fixed rounds leaves nobody out: it has one look.
    let mut fixed = with_failures(10, Rounds::Fixed(10), &[]);
    fixed.trials.retain(|trial| trial.lane != "btrfs" || trial.round <= 6);
    let mut done = fixed.clone();
    done.trials.retain(|trial| trial.round <= 6);
    done.header.plan.rounds = Rounds::Fixed(6);
    let (of_ten, of_six) = (only(&fixed).pairs[1].clone(), only(&done).pairs[1].clone());
    assert_eq!(of_ten.ratio, of_six.ratio, "the six rounds that both raced");
}

#[test]
fn rounds_that_hold_a_comparison_are_what_a_look_counts() {
    let mut race = commits(7, [100.0, 200.0], Rounds::Auto);
    race.end = None;
    let failed = trial_of(&mut race, "xfs", 3);
    failed.outcome = Outcome::Failed;
    failed.groups.clear();
    assert_eq!(judge::rounds_compared(&race, "commit"), 6);
    assert_eq!(pair(&race).verdict, Verdict::Faster, "seven rounds, of which six count, are the look after six");
    race.trials.retain(|trial| trial.round <= 6);
    assert_eq!(judge::rounds_compared(&race, "commit"), 5);
    assert_eq!(pair(&race).why.as_deref(), Some("5 rounds done, verdicts begin after 6"));
    assert_eq!(judge::rounds_compared(&race, "nothing of this name"), 0);
    let workload = race.header.plan.workloads[0].clone();
    race.trials = vec![trial("ext4", &workload, 1, 100.0)];
    assert_eq!(judge::rounds_compared(&race, "commit"), 1, "a lane that is alone with figures is all there is");
}

/// Two lanes that were both measured at "commit" and of which only xfs was at "read": ext4's trials there ended so, or
/// there are none.
fn half_measured(ext4_at_read: Option<Outcome>) -> Findings {
    let works = vec![io("commit", Pattern::Append, 1, 1), io("read", Pattern::RandRead, 1, 0)];
    let mut race = record(vec![lane("ext4"), lane("xfs")], works, Rounds::Auto, true);
    run(&mut race, 6, &[100.0, 100.0], 0.01, 1);
    let at_read = |trial: &Trial| trial.workload == "read" && trial.lane == "ext4";
    match ext4_at_read {
        Some(outcome) => {
            race.trials.iter_mut().filter(|trial| at_read(trial)).for_each(|trial| trial.outcome = outcome)
        }
        None => race.trials.retain(|trial| !at_read(trial)),
    }
    judge::findings(&race)
}

#[test]
fn a_lane_that_the_race_did_not_come_to_has_not_failed_and_is_not_out_for_it() {
    for (ext4_at_read, is_out) in [(None, false), (Some(Outcome::Failed), true)] {
        let found = half_measured(ext4_at_read);
        let read = found.results.iter().find(|result| result.workload == "read").expect("a result");
        let ext4 = read.estimates.iter().find(|of| of.lane == "ext4").expect("a lane");
        assert_eq!(ext4.failed().is_some(), is_out, "{ext4:?}");
        let told = ext4.failure.as_deref() == Some("the race did not come to it");
        assert_eq!(told, !is_out, "{ext4:?}");
        let answer = found.answer.expect("an answer");
        assert_eq!(!answer.choose.contains(&"ext4".to_owned()), is_out, "{answer:?}");
    }
}

/// btrfs is decided after six rounds and races no further; the disk is faster from then on, for all.
fn decided_early() -> Record {
    let lanes = vec![lane("ext4"), lane("xfs"), lane("btrfs")];
    let mut race = record(lanes, vec![io("commit", Pattern::Append, 1, 1)], Rounds::Auto, true);
    run(&mut race, 10, &[2000.0, 2010.0, 450.0], 0.01, 1);
    race.trials.retain(|of| of.lane != "btrfs" || of.round <= 6);
    for of in race.trials.iter_mut().filter(|of| of.round > 6) {
        let rate = of.groups[0].metrics.get_mut("operations_per_second").unwrap();
        *rate *= 1.5;
    }
    race.end = Some(EndOutcome::Complete);
    race
}

#[test]
fn two_figures_of_a_row_divide_to_the_ratio_that_is_told() {
    let race = decided_early();
    let findings = judge::findings(&race);
    for result in [&findings.results[0], &only(&race)] {
        let figure = |lane: &str| result.estimates.iter().find(|of| of.lane == lane).unwrap();
        for pair in result.pairs.iter().filter(|pair| pair.a == "ext4" || pair.b == "ext4") {
            let told = pair.ratio.unwrap();
            let shown = figure(&pair.a).in_row() / figure(&pair.b).in_row();
            assert!((shown / told - 1.0).abs() < 1e-9, "{pair:?} {:?}", result.estimates);
        }
        // Its own mean is kept as it was, and those of the others, which have all rounds, stand as they are.
        assert!((figure("btrfs").mean / 450.0 - 1.0).abs() < 0.05 && figure("btrfs").rounds == 6);
        assert!(figure("btrfs").in_row() > 1.1 * figure("btrfs").mean);
        assert_eq!((figure("ext4").row_mean, figure("xfs").row_mean), (None, None));
    }
    let said = stats::compare::compare(&race, &race, "a", "b").warnings;
    assert!(said.iter().any(|of| of.starts_with("figures here are means over each lane's own rounds")), "{said:?}");
}

#[test]
fn latencies_of_a_row_divide_to_the_ratio_too_and_equal_rounds_change_nothing() {
    let mut race = decided_early();
    for of in race.trials.iter_mut().flat_map(|of| &mut of.groups) {
        of.primary_metric = "latency_p99_ns".to_owned();
        let rate = of.metrics["operations_per_second"];
        of.metrics.insert("latency_p99_ns".to_owned(), 1e9 / rate);
    }
    let result = only(&race);
    let figure = |lane: &str| result.estimates.iter().find(|of| of.lane == lane).unwrap().in_row();
    let pair = result.pairs.iter().find(|pair| pair.a == "btrfs" && pair.b == "ext4").unwrap();
    assert!((figure("ext4") / figure("btrfs") / pair.ratio.unwrap() - 1.0).abs() < 1e-9, "{pair:?}");
    let mut whole = commits(10, [100.0, 105.0], Rounds::Auto);
    whole.end = Some(EndOutcome::Complete);
    assert!(only(&whole).estimates.iter().all(|of| of.row_mean.is_none()));
}

#[test]
fn rounds_past_the_look_of_an_interrupted_race_are_in_no_figure_of_a_row() {
    let mut race = commits(7, [100.0, 120.0], Rounds::Auto);
    for of in race.trials.iter_mut().filter(|of| of.round == 7) {
        *of.groups[0].metrics.get_mut("operations_per_second").unwrap() *= if of.lane == "xfs" { 9.0 } else { 2.0 };
    }
    let result = only(&race);
    let [ext4, xfs] = [0, 1].map(|at| result.estimates[at].in_row());
    let pair = &result.pairs[0];
    let ratio = if pair.a == "xfs" { xfs / ext4 } else { ext4 / xfs };
    assert!((ratio / pair.ratio.unwrap() - 1.0).abs() < 1e-9, "{result:?}");
    assert!((ext4 / 100.0 - 1.0).abs() < 0.05, "{ext4}");
}
