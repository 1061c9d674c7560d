//! What a gate makes of work that fails: in all rounds, in some, in some records, or too slowly for its
//! rate.

use crate::boots;

use boots::{boots, fail, judge, judged, row};
use model::gate::{GateOutcome, GateVerdict};
use model::record::Record;
use model::trial::{Outcome, Trial};

#[test]
fn a_candidate_that_fails_at_the_work_never_passes() {
    let mut sides = boots(4, [1.0, 1.0]);
    fail(&mut sides[1][2], "xfs");
    let of = judged(&sides);
    let one = row(&of, "xfs");
    assert_eq!((one.verdict, one.candidate.records), (GateVerdict::Inconclusive, 3));
    assert!(one.why.as_ref().unwrap().contains("in 1 of the candidate's 4 records: the kernel said I/O error"));
    sides[1].iter_mut().for_each(|record| fail(record, "xfs"));
    let of = judged(&sides);
    assert_eq!((row(&of, "xfs").verdict, of.outcome, of.counts.failed), (GateVerdict::Failed, GateOutcome::Fail, 1));
    // The baseline cannot do it either: nothing became worse.
    sides[0].iter_mut().for_each(|record| fail(record, "xfs"));
    let of = judged(&sides);
    assert_eq!((row(&of, "xfs").verdict, of.outcome), (GateVerdict::Inconclusive, GateOutcome::Inconclusive));
    // A baseline that failed once costs a replicate and no verdict.
    let mut sides = boots(4, [1.0, 1.0]);
    fail(&mut sides[0][0], "xfs");
    assert_eq!(row(&judged(&sides), "xfs").verdict, GateVerdict::Pass);
}

/// Lets a lane fail in these rounds of a record.
fn fail_in(record: &mut Record, lane: &str, rounds: &[u32]) {
    for trial in record.trials.iter_mut().filter(|trial| trial.lane == lane && rounds.contains(&trial.round)) {
        trial.outcome = Outcome::Failed;
        trial.reason = Some("the kernel said I/O error".into());
        trial.groups.clear();
    }
}

#[test]
fn rounds_that_fail_where_the_baseline_has_none_never_pass_and_in_every_boot_they_fail() {
    let mut sides = boots(4, [1.0, 1.0]);
    fail_in(&mut sides[1][1], "xfs", &[2]);
    let of = judged(&sides);
    let one = row(&of, "xfs");
    assert_eq!((one.verdict, one.candidate.records, one.failing), (GateVerdict::Inconclusive, 4, true));
    assert!(
        one.why.as_ref().unwrap().starts_with(
            "1 of 3 rounds failed in 1 of the candidate's 4 records: the kernel said I/O error; it fails more often"
        ),
        "{one:?}"
    );
    assert_eq!(one.more_records, None, "no narrower interval lets it pass");
    assert_eq!(row(&of, "ext4").verdict, GateVerdict::Pass);
    // Where a green light has to mean something there is none, however narrow the interval.
    let asked = judge(&sides, Some(0.5)).unwrap();
    assert_eq!((asked.outcome, asked.counts.unresolved), (GateOutcome::Unresolved, 1));
    // In every boot: four against none are no chance at this gate's p.
    sides[1].iter_mut().for_each(|record| fail_in(record, "xfs", &[2]));
    let of = judged(&sides);
    assert_eq!((row(&of, "xfs").verdict, of.outcome), (GateVerdict::Failed, GateOutcome::Fail));
    // Where the baseline fails as often, the figures decide.
    sides[0].iter_mut().for_each(|record| fail_in(record, "xfs", &[2]));
    assert_eq!(row(&judged(&sides), "xfs").verdict, GateVerdict::Pass);
    // In fewer rounds than the baseline, too; in more it does not pass.
    let mut sides = boots(4, [1.0, 1.0]);
    for (side, rounds) in sides.iter_mut().zip([&[2][..], &[1, 3]]) {
        side.iter_mut().for_each(|record| fail_in(record, "xfs", rounds));
    }
    assert_eq!(row(&judged(&sides), "xfs").verdict, GateVerdict::Inconclusive);
    sides.reverse();
    assert_eq!(row(&judged(&sides), "xfs").verdict, GateVerdict::Pass);
}

#[test]
fn more_rounds_are_no_more_occasions_to_fail() {
    // The candidate's last rounds failed; the baseline never came so far.
    let mut sides = boots(4, [1.0, 1.0]);
    sides[0].iter_mut().for_each(|record| record.trials.retain(|trial| trial.round == 1));
    sides[1].iter_mut().for_each(|record| fail_in(record, "xfs", &[3]));
    assert_eq!(row(&judged(&sides), "xfs").verdict, GateVerdict::Inconclusive);
}

#[test]
fn records_that_never_came_to_the_work_do_not_save_a_candidate() {
    let mut sides = boots(5, [1.0, 1.0]);
    sides[1][..4].iter_mut().for_each(|record| fail(record, "xfs"));
    sides[1][4].trials.retain(|trial| trial.lane != "xfs");
    let of = judged(&sides);
    assert_eq!((row(&of, "xfs").verdict, of.outcome), (GateVerdict::Failed, GateOutcome::Fail));
    let why = row(&of, "xfs").why.as_ref().unwrap();
    assert!(why.contains("in 4 of the candidate's 5 records") && why.contains("in 1 of the candidate's"), "{why}");
    // One boot of each side shows nothing of how boots differ.
    let mut single = boots(1, [1.0, 1.0]);
    fail(&mut single[1][0], "xfs");
    assert_eq!(judged(&single).outcome, GateOutcome::Inconclusive);
}

#[test]
fn a_step_that_the_candidate_cannot_do_any_more_fails() {
    let mut sides = boots(4, [1.0, 1.0]);
    for trial in sides[1].iter_mut().flat_map(|record| &mut record.trials).filter(|trial| trial.lane == "xfs") {
        // The steps before it count: the trial is none that failed.
        trial.groups.clear();
        trial.reason = Some("clone 100: operation not supported".into());
    }
    let of = judged(&sides);
    assert_eq!(row(&of, "xfs").verdict, GateVerdict::Failed);
    assert!(row(&of, "xfs").why.as_ref().unwrap().contains("clone 100: operation not supported"));
}

#[test]
fn work_that_is_gone_from_few_boots_is_no_failure_yet_and_no_green_light() {
    for count in [2, 3] {
        let mut sides = boots(count, [1.0, 1.0]);
        sides[1].iter_mut().for_each(|record| fail(record, "xfs"));
        // By chance one comparison of 4^n comes out so: more often than the gate may fail wrongly.
        let of = judged(&sides);
        let one = row(&of, "xfs");
        assert_eq!((one.verdict, one.unresolved, of.counts.failed), (GateVerdict::Inconclusive, true, 0));
        assert_eq!(of.outcome, GateOutcome::Unresolved, "also where nobody asked for a resolution");
        assert!(one.why.as_ref().unwrap().ends_with("fail by chance: 4 of each side would tell"), "{one:?}");
    }
}

/// Lets a lane do nothing in these rounds of a record.
fn stand_still(record: &mut Record, lanes: &[&str], rounds: &[u32]) {
    let of = |trial: &&mut Trial| lanes.contains(&trial.lane.as_str()) && rounds.contains(&trial.round);
    for group in record.trials.iter_mut().filter(of).flat_map(|trial| &mut trial.groups) {
        group.operations = 0;
        group.metrics.insert("operations_per_second".into(), 0.0);
    }
}

#[test]
fn a_candidate_that_stands_still_fails_as_one_that_answers_with_errors_does() {
    // One lane, or all of them: a kernel can do it to all.
    for lanes in [&["xfs"][..], &["ext4", "xfs"]] {
        let mut sides = boots(4, [1.0, 1.0]);
        sides[1].iter_mut().for_each(|record| stand_still(record, lanes, &[1, 2, 3]));
        let of = judged(&sides);
        let one = row(&of, "xfs");
        assert_eq!((one.verdict, of.outcome), (GateVerdict::Failed, GateOutcome::Fail), "{one:?}");
        assert_eq!(
            one.why.as_deref().unwrap().split("; ").nth(1),
            Some("no figure in 4 of the candidate's 4 records: it stood still in every round")
        );
        assert_eq!(of.counts.failed as usize, lanes.len());
    }
    // In one round of one boot: it cannot pass.
    let mut sides = boots(4, [1.0, 1.0]);
    stand_still(&mut sides[1][1], &["xfs"], &[2]);
    let of = judged(&sides);
    let one = row(&of, "xfs");
    assert_eq!((one.verdict, one.failing), (GateVerdict::Inconclusive, true));
    let why = one.why.as_ref().unwrap();
    assert!(why.starts_with("1 of 3 rounds failed in 1 of the candidate's 4 records: it stood still"), "{why}");
    // What the baseline did too is no news.
    sides.iter_mut().flatten().for_each(|record| stand_still(record, &["xfs"], &[1, 2, 3]));
    assert_eq!(row(&judged(&sides), "xfs").verdict, GateVerdict::Inconclusive);
}

/// Marks trials of a lane in these rounds as behind their rate.
fn behind(record: &mut Record, lane: &str, rounds: &[u32]) {
    for trial in record.trials.iter_mut().filter(|trial| trial.lane == lane && rounds.contains(&trial.round)) {
        trial.flags.push("cannot-sustain-rate: the backlog grew".into());
    }
}

#[test]
fn a_burst_that_makes_one_trial_fall_behind_is_no_failure() {
    // One trial of three in every record of the candidate, and in all but one of the baseline.
    let mut sides = boots(5, [1.0, 1.0]);
    sides[1].iter_mut().for_each(|record| behind(record, "xfs", &[2]));
    sides[0][1..].iter_mut().for_each(|record| behind(record, "xfs", &[1]));
    assert_eq!(row(&judged(&sides), "xfs").verdict, GateVerdict::Pass);
    // Most trials in all but one of the baseline's records, and in all of the candidate's: chance.
    let mut sides = boots(5, [1.0, 1.0]);
    sides[1].iter_mut().for_each(|record| behind(record, "xfs", &[1, 2]));
    sides[0][1..].iter_mut().for_each(|record| behind(record, "xfs", &[1, 2]));
    let of = judged(&sides);
    assert_eq!((row(&of, "xfs").verdict, of.outcome), (GateVerdict::Inconclusive, GateOutcome::Inconclusive));
}

#[test]
fn a_candidate_that_no_longer_sustains_a_rate_fails() {
    let mut sides = boots(4, [1.0, 1.0]);
    for trial in sides[1].iter_mut().flat_map(|record| &mut record.trials).filter(|trial| trial.lane == "xfs") {
        trial.flags.push("cannot-sustain-rate: the backlog grew".into());
    }
    let of = judged(&sides);
    assert_eq!((row(&of, "ext4").verdict, row(&of, "xfs").verdict), (GateVerdict::Pass, GateVerdict::Failed));
}
