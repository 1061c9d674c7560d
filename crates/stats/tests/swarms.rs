//! Swarms of writers: tables, verdicts on lateness, and searches, from records made up for the purpose.

use crate::common;

use common::*;
use model::findings::{Limit, Verdict};
use model::plan::Rounds;
use model::record::{EndOutcome, Record};
use model::search::{Criterion, FindMax, SearchStep, StepOutcome};
use model::timeline::TrialTimeline;
use model::trial::{Group, Latency, Lateness, Outcome, Trial};
use model::workload::{Appenders, Kind, Workload};
use stats::search::{self, Next};

fn appenders(writers: u32) -> Workload {
    let keys = serde_json::json!({ "writers": writers, "period_seconds": 0.5, "seconds": 10.0 });
    let appenders: Appenders = serde_json::from_value(keys).unwrap();
    Workload { name: "appenders".into(), title: "writers".into(), kind: Kind::Appenders(Box::new(appenders)) }
}

/// A trial whose records have this p99.
fn late(trial: Trial, p99_ns: f64, grew: bool) -> Trial {
    let lateness = Lateness {
        writers: 100,
        late_writers: 7,
        period_seconds: 0.5,
        due: 8000,
        late: 80,
        backlog_grew: grew,
        backlog_seconds: 2.5,
        scheduling_ns: Some(Latency { p99: Some(60e3), ..Latency::default() }),
        ..Lateness::default()
    };
    let group = Group {
        name: "append".into(),
        operations: 8000,
        bytes: 8000 * 92,
        seconds: 10.0,
        primary_metric: "lateness_p99_ns".into(),
        metrics: [("lateness_p99_ns".to_owned(), p99_ns), ("operations_per_second".to_owned(), 800.0)].into(),
        latency_ns: Some(Latency { p99: Some(p99_ns), max: 3.0 * p99_ns, ..Latency::default() }),
        lateness: Some(Box::new(lateness)),
        ..Group::default()
    };
    let timeline = TrialTimeline {
        seconds: vec![1.0, 61.0],
        measured_seconds: vec![1.0, 61.0],
        dirty_bytes: vec![5e6, 9e6],
        load_average: vec![3.5, 3.5],
        ..TrialTimeline::default()
    };
    Trial { groups: vec![group], timeline: Some(Box::new(timeline)), ..trial }
}

fn raced(lanes: &[(&str, f64)], rounds: u32) -> Record {
    let all = lanes.iter().map(|of| lane(of.0)).collect();
    let mut race = record(all, vec![appenders(100)], Rounds::Fixed(rounds), true);
    race.end = Some(EndOutcome::Complete);
    for round in 1..=rounds {
        for (lane, p99) in lanes {
            let base = trial(lane, &appenders(100), round, 800.0);
            // Some noise, not the same in every lane.
            let noise = 1.0 + 0.01 * f64::from((round * 7 + lane.len() as u32 * 3) % 5);
            race.trials.push(late(base, p99 * noise, false));
        }
    }
    race
}

#[test]
fn less_lateness_is_better_and_the_table_holds_what_was_seen() {
    let race = raced(&[("ext4", 40e6), ("btrfs", 90e6)], 6);
    let found = stats::judge::findings(&race);
    let result = &found.results[0];
    assert_eq!(
        (result.metric.as_str(), result.unit.as_str(), result.higher_is_better),
        ("lateness_p99_ns", "ns", false)
    );
    assert_ne!(result.limit, Limit::Harness);
    let pair = &result.pairs[0];
    assert_eq!((pair.a.as_str(), pair.b.as_str(), pair.verdict), ("btrfs", "ext4", Verdict::Slower), "{pair:?}");
    let table = &found.appenders[0];
    assert_eq!((table.writers, table.files, table.period_seconds, table.rows.len()), (100, 4, 0.5, 2));
    let row = &table.rows[1];
    assert_eq!((row.lane.as_str(), row.rounds, row.late_writers_share), ("btrfs", 6, Some(0.07)));
    assert_eq!((row.late_share, row.scheduling_p99_ns, row.backlog_rounds), (Some(0.01), Some(60e3), 0));
    assert_eq!((row.dirty_bytes_max, row.load_average_max, row.blocked_tasks_max), (Some(9e6), Some(3.5), None));
}

#[test]
fn a_lane_whose_backlog_grows_has_no_lateness_to_compare() {
    let mut race = raced(&[("ext4", 40e6), ("btrfs", 900e6)], 6);
    for trial in race.trials.iter_mut().filter(|trial| trial.lane == "btrfs") {
        trial.flags.push("cannot-sustain-rate: the backlog of 100 writers grew, to 2.500 s at the end".into());
        if let Some(lateness) = &mut trial.groups[0].lateness {
            lateness.backlog_grew = true;
        }
    }
    let found = stats::judge::findings(&race);
    let pair = &found.results[0].pairs[0];
    assert_eq!(pair.verdict, Verdict::None);
    assert!(pair.why.as_ref().unwrap().contains("cannot sustain this rate"), "{pair:?}");
    assert_eq!(found.appenders[0].rows[1].backlog_rounds, 6);
}

#[test]
fn lateness_that_is_the_harness_own_gives_no_verdict() {
    let mut race = raced(&[("ext4", 70e3), ("xfs", 90e3)], 6);
    for trial in &mut race.trials {
        trial.flags.push("harness-bound-submission: writers are woken up to 0.06 ms late".into());
    }
    let result = &stats::judge::findings(&race).results[0];
    assert_eq!((result.limit, result.pairs[0].verdict), (Limit::Harness, Verdict::None));
}

fn step((pass, number): (u32, u32), writers: u32, outcome: StepOutcome, trial: Trial) -> SearchStep {
    SearchStep { pass, number, writers, outcome, trial: Box::new(trial), without_filesystem: None }
}

/// A search in which each lane sustains so many, in each pass a little more or less.
fn searched(lanes: &[(&str, f64)], passes: u32, most_writers: u32) -> Record {
    let all = lanes.iter().map(|of| lane(of.0)).collect();
    let mut race = record(all, vec![appenders(1000)], Rounds::Fixed(passes), false);
    race.header.plan.find_max = Some(FindMax { criterion: Criterion::Lateness, most_writers, resolution: 0.1 });
    for pass in 1..=passes {
        for (lane, limit) in lanes {
            let limit = limit * [1.0, 1.03, 0.98, 1.01][pass as usize % 4];
            let mut number = 0;
            while let Next::Try(writers) = search::next(&race, lane, pass) {
                number += 1;
                assert!(number < 40, "{lane} {pass}");
                let holds = f64::from(writers) <= limit;
                let base = Trial { attempt: number, ..trial(lane, &appenders(writers), pass, 800.0) };
                let trial = late(base, if holds { 5e6 } else { 700e6 }, false);
                let outcome = if holds { StepOutcome::Sustained } else { StepOutcome::Late };
                race.steps.push(step((pass, number), writers, outcome, trial));
            }
        }
    }
    race.end = Some(EndOutcome::Complete);
    race
}

#[test]
fn a_search_brackets_each_lane_in_every_pass_and_tells_them_apart() {
    let race = searched(&[("ext4", 9000.0), ("xfs", 21_000.0), ("btrfs", 9100.0)], 4, 200_000);
    let found = stats::judge::findings(&race);
    assert!(
        found.results.is_empty() && found.warnings.iter().all(|said| !said.contains("not raced")),
        "{:?}",
        found.warnings
    );
    let search = &found.searches[0];
    assert_eq!((search.passes, search.period_seconds, search.criterion), (4, 0.5, Criterion::Lateness));
    for (lane, limit) in search.lanes.iter().zip([9000.0, 21_000.0, 9100.0]) {
        let writers = lane.writers.unwrap();
        assert!((writers / limit - 1.0).abs() < 0.08, "{lane:?}");
        assert!(lane.low.unwrap() < writers && writers < lane.high.unwrap() && !lane.at_least, "{lane:?}");
        assert_eq!(lane.passes.len(), 4);
        for pass in &lane.passes {
            assert!(f64::from(pass.too_many.unwrap()) <= 1.1 * f64::from(pass.sustained) + 1.0, "{pass:?}");
        }
        assert!(lane.passes[1].steps <= lane.passes[0].steps, "a later pass begins at what the first found: {lane:?}");
        let reason = lane.reason.as_ref().unwrap();
        assert!(reason.contains("p99 lateness is 700 ms, in a period of 500 ms"), "{reason}");
    }
    let verdict = |a: &str, b: &str| search.pairs.iter().find(|pair| pair.a == a && pair.b == b).unwrap().verdict;
    assert_eq!(verdict("xfs", "ext4"), Verdict::Faster);
    assert_eq!(verdict("btrfs", "xfs"), Verdict::Slower);
    assert_ne!(verdict("btrfs", "ext4"), Verdict::Faster);
    assert_eq!(search.ranking[0], ["xfs"]);
}

#[test]
fn what_was_not_tried_is_no_tie_and_what_never_ran_has_its_reason() {
    let race = searched(&[("ext4", 1e9), ("xfs", 1e9), ("btrfs", 2000.0)], 3, 10_000);
    let search = &stats::judge::findings(&race).searches[0];
    let writers = search.lanes[0].writers.unwrap();
    assert!(search.lanes[0].at_least && (writers - 10_000.0).abs() < 1e-6, "{:?}", search.lanes[0]);
    let pair = |a: &str, b: &str| search.pairs.iter().find(|pair| pair.a == a && pair.b == b).unwrap();
    let both = pair("xfs", "ext4");
    assert_eq!(both.verdict, Verdict::None);
    assert!(both.why.as_ref().unwrap().contains("--most-writers"), "{both:?}");
    let one = pair("btrfs", "ext4");
    assert_eq!(one.verdict, Verdict::Slower, "{one:?}");
    assert!(one.why.as_ref().unwrap().contains("may be larger"), "{one:?}");
    // A lane that cannot be mounted fails three times and is left.
    let mut broken = searched(&[("ext4", 3000.0)], 1, 10_000);
    broken.header.lanes.push({
        let mut lane = broken.header.lanes[0].clone();
        lane.name = "jfs".into();
        lane
    });
    for number in 1..=3 {
        let Next::Try(writers) = search::next(&broken, "jfs", 1) else { panic!("{number}") };
        let base = trial("jfs", &appenders(writers), 1, 1.0);
        let failed = Trial { outcome: Outcome::Failed, reason: Some("no mount".into()), groups: Vec::new(), ..base };
        broken.steps.push(step((1, number), writers, StepOutcome::Failed, failed));
    }
    assert_eq!(search::next(&broken, "jfs", 1), Next::Done);
    let search = &stats::judge::findings(&broken).searches[0];
    let failure = search.lanes[1].failure.as_ref().unwrap();
    assert!(failure.contains("with 250 writers: no mount"), "{failure}");
    assert_eq!(search.pairs[0].verdict, Verdict::None);
}

#[test]
fn lanes_that_could_not_be_tried_further_are_not_ranked() {
    let mut race = searched(&[("ext4", 3000.0), ("xfs", 3000.0)], 2, 10_000);
    for step in race.steps.iter_mut().filter(|step| step.outcome == StepOutcome::Late) {
        step.trial.outcome = Outcome::Failed;
        step.trial.reason = Some("no descriptor is left".into());
    }
    let search = &stats::judge::findings(&race).searches[0];
    assert!(search.lanes.iter().all(|lane| lane.could_not_go_on), "{:?}", search.lanes);
    let pair = &search.pairs[0];
    assert_eq!(pair.verdict, Verdict::None);
    assert!(pair.why.as_ref().unwrap().contains("neither xfs nor ext4 gave way"), "{pair:?}");
}

/// The steps above so many writers that fell in these passes could not be tried.
fn full(race: &mut Record, lane: &str, passes: &[u32]) {
    let of = |step: &&mut SearchStep| step.trial.lane == lane && passes.contains(&step.pass);
    for step in race.steps.iter_mut().filter(of).filter(|step| step.outcome == StepOutcome::Late) {
        step.trial.outcome = Outcome::Failed;
        step.trial.reason = Some("the lane is full (no inode is left)".into());
    }
}

#[test]
fn a_lane_that_was_full_carries_at_least_its_number_and_loses_to_nobody() {
    // xfs carries three times as much as ext4, whose inodes ran out in one pass that is not the last.
    let mut race = searched(&[("ext4", 3000.0), ("xfs", 9000.0)], 4, 100_000);
    full(&mut race, "ext4", &[2]);
    let search = &stats::judge::findings(&race).searches[0];
    assert!(search.lanes[0].could_not_go_on && search.lanes[0].at_least && !search.lanes[1].at_least);
    assert!(search.lanes[0].reason.as_ref().unwrap().contains("no inode is left"), "{:?}", search.lanes[0].reason);
    let pair = &search.pairs[0];
    assert_eq!(pair.verdict, Verdict::None, "{pair:?}");
    let why = pair.why.as_ref().unwrap();
    assert!(why.contains("ext4 has the smaller number and may sustain more: with"), "{why}");
    // Where the larger number is open, the order is known, and the ratio may be larger.
    let mut race = searched(&[("ext4", 3000.0), ("xfs", 9000.0)], 4, 100_000);
    full(&mut race, "xfs", &[1, 3]);
    let pair = &stats::judge::findings(&race).searches[0].pairs[0];
    assert_eq!((pair.a.as_str(), pair.verdict), ("xfs", Verdict::Faster), "{pair:?}");
    assert!(pair.why.as_ref().unwrap().contains("may be larger"), "{pair:?}");
}

#[test]
fn where_the_harness_gives_way_too_no_lane_is_blamed() {
    let lanes = [("ext4", 3000.0), ("xfs", 9000.0)];
    let mut race = searched(&lanes, 4, 100_000);
    assert_eq!(stats::judge::findings(&race).searches[0].pairs[0].verdict, Verdict::Faster);
    let (at, writers) = {
        let fell = |step: &&SearchStep| step.trial.lane == "xfs" && step.outcome == StepOutcome::Late;
        let step = race.steps.iter().filter(fell).min_by_key(|step| step.writers).unwrap();
        assert!(search::asks_for_a_run_without_filesystem(&race, &step.trial, step.writers));
        (race.steps.iter().position(|of| of == step).unwrap(), step.writers)
    };
    let alone = |p99: f64| Some(Box::new(late(trial("xfs", &appenders(writers), 1, 800.0), p99, false)));
    // The machine carries so many: it is xfs that gives way, and for fewer nobody need be asked.
    race.steps[at].without_filesystem = alone(3e6);
    let search = &stats::judge::findings(&race).searches[0];
    assert!(search.pairs[0].verdict == Verdict::Faster && !search.lanes[1].harness);
    let first = race.steps[at].clone();
    assert!(!search::asks_for_a_run_without_filesystem(&race, &first.trial, writers));
    assert_eq!(search::outcome_of(&race, &first), StepOutcome::Late);
    // It does not: nothing is known of xfs beyond that.
    race.steps[at].without_filesystem = alone(800e6);
    assert_eq!(search::outcome_of(&race, &race.steps[at].clone()), StepOutcome::Harness);
    let search = &stats::judge::findings(&race).searches[0];
    let xfs = &search.lanes[1];
    assert!(xfs.harness && xfs.at_least && !search.lanes[0].harness, "{xfs:?}");
    assert!(xfs.reason.as_ref().unwrap().contains("not sustained without a filesystem either"), "{xfs:?}");
    let pair = &search.pairs[0];
    assert_eq!(pair.verdict, Verdict::None);
    assert!(pair.why.as_ref().unwrap().contains("Fairlane and the scheduler were measured"), "{pair:?}");
}

#[test]
fn a_step_is_judged_by_what_was_asked_for() {
    let Kind::Appenders(of) = appenders(100).kind else { unreachable!() };
    let base = || trial("ext4", &appenders(100), 1, 1.0);
    let judged = |trial: &Trial, criterion| search::outcome(trial, &of, 2, criterion);
    for (p99, grew, expected) in
        [(499e6, false, StepOutcome::Sustained), (500e6, false, StepOutcome::Late), (5e6, true, StepOutcome::Backlog)]
    {
        assert_eq!(judged(&late(base(), p99, grew), Criterion::Lateness), expected);
    }
    // The load is 3.5 throughout, on two CPUs; how late records are does not count then.
    assert_eq!(judged(&late(base(), 900e6, true), Criterion::Load), StepOutcome::Load);
    let with_load = |load: &[f64]| {
        let mut trial = late(base(), 900e6, true);
        trial.timeline.as_mut().unwrap().load_average = load.to_vec();
        trial
    };
    assert_eq!(judged(&with_load(&[2.0, 2.0]), Criterion::Load), StepOutcome::Sustained);
    // What nobody looked at is no load that was low.
    assert_eq!(judged(&with_load(&[]), Criterion::Load), StepOutcome::Failed);
    let blind = Trial { timeline: None, ..with_load(&[]) };
    assert_eq!(judged(&blind, Criterion::Load), StepOutcome::Failed);
    // Most of the lateness is the harness's own, or the engine says so.
    let mut own = late(base(), 900e6, false);
    let lateness = own.groups[0].lateness.as_mut().unwrap();
    lateness.scheduling_ns = Some(Latency { p99: Some(460e6), ..Latency::default() });
    assert_eq!(judged(&own, Criterion::Lateness), StepOutcome::Harness);
    let mut flagged = late(base(), 900e6, true);
    flagged.flags.push("harness-bound-submission: turns begin up to 800 ms late".into());
    assert_eq!(judged(&flagged, Criterion::Lateness), StepOutcome::Harness);
    // It carries them all the same.
    flagged.groups = late(base(), 5e6, false).groups;
    assert_eq!(judged(&flagged, Criterion::Lateness), StepOutcome::Sustained);
    let failed = Trial { outcome: Outcome::Failed, ..late(base(), 1e6, false) };
    assert_eq!(judged(&failed, Criterion::Lateness), StepOutcome::Failed);
    let nothing = Trial { groups: Vec::new(), ..base() };
    assert_eq!(judged(&nothing, Criterion::Lateness), StepOutcome::Failed);
}
