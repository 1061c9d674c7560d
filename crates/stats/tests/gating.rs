//! The regression gate: replicates, intervals, verdicts, and what is refused.

use crate::boots;
use crate::common;

use boots::{LUCK, NEW, OLD, boots, judge, judged, named, row};
use common::{io, lane, small_files};
use model::gate::{GateOutcome, GateVerdict};
use model::plan::Rounds;
use model::ranks::JobRanks;
use model::record::{EndOutcome, Probe, Profile, Record, SharedRate};
use model::trial::Outcome;
use model::workload::{Kind, Pattern};
use stats::gate::{Terms, gate};

#[test]
fn a_lane_that_became_slower_fails_and_one_that_did_not_passes() {
    let of = judged(&boots(5, [0.8, 1.0]));
    assert_eq!(of.outcome, GateOutcome::Fail);
    assert_eq!((of.counts.slower, of.counts.pass, of.comparisons), (1, 1, 2));
    let slower = row(&of, "ext4");
    assert_eq!(slower.verdict, GateVerdict::Slower);
    assert!((slower.ratio.unwrap() - 0.8).abs() < 1e-9);
    // The figure of a record is the geometric mean of its rounds, and records are the replicates.
    assert_eq!((slower.baseline.records, slower.candidate.records), (5, 5));
    assert!((slower.baseline.mean.unwrap() - 1000.0).abs() < 0.5);
    assert!((slower.baseline.deviation.unwrap() - 0.0159).abs() < 1e-3, "{:?}", slower.baseline);
    assert!(slower.high.unwrap() < 0.95 && slower.low.unwrap() > 0.7);
    assert_eq!(slower.command_line, ["fairlane", "race", "--seed", "1"]);
    assert_eq!(row(&of, "xfs").verdict, GateVerdict::Pass);
    assert_eq!(of.changes, ["kernel: 6.1 -> 6.12"]);
    assert_eq!((of.baseline.kernels.as_slice(), of.candidate.records.len()), (["6.1".to_owned()].as_slice(), 5));
    assert!(of.warnings.is_empty(), "{:?}", of.warnings);
    assert!((of.noise.unwrap() - 0.0159).abs() < 1e-3);
    let mut alike = boots(5, [0.8, 1.0]);
    alike[1].iter_mut().for_each(|record| record.header.machine.kernel = "6.1".into());
    let of = judged(&alike);
    assert!(
        of.changes.is_empty() && of.warnings[0].starts_with("both sides ran on the same kernel"),
        "{:?}",
        of.warnings
    );
}

#[test]
fn the_interval_is_welchs_at_bonferronis_share() {
    let of = judged(&boots(5, [0.8, 1.0]));
    let logs: Vec<f64> = LUCK[..5].iter().map(|luck| luck.ln()).collect();
    let spread = stats::estimate::moments(&logs).unwrap().deviation;
    // Equal deviations: 8 degrees of freedom; two comparisons share 5 %.
    let half = stats::student::two_sided_quantile(0.025, 8.0) * spread * (2.0_f64 / 5.0).sqrt();
    let slower = row(&of, "ext4");
    assert!((slower.high.unwrap().ln() - (0.8_f64.ln() + half)).abs() < 1e-9);
    assert!((slower.half_width.unwrap() - half.exp_m1()).abs() < 1e-9);
}

#[test]
fn improvements_are_named_and_what_is_too_wide_is_inconclusive() {
    let of = judged(&boots(5, [1.2, 0.96]));
    assert_eq!(row(&of, "ext4").verdict, GateVerdict::Faster);
    let wide = row(&of, "xfs");
    assert_eq!(wide.verdict, GateVerdict::Inconclusive);
    assert!(wide.low.unwrap() < 0.95 && wide.high.unwrap() > 0.95);
    assert!(wide.more_records.is_some_and(|more| (10..=100).contains(&more)), "{:?}", wide.more_records);
    assert_eq!(of.outcome, GateOutcome::Inconclusive);
}

#[test]
fn a_resolution_that_was_not_reached_is_said_with_what_would_reach_it() {
    let sides = boots(5, [1.0, 1.0]);
    let of = judge(&sides, Some(0.05)).unwrap();
    assert_eq!((of.outcome, of.counts.unresolved), (GateOutcome::Pass, 0));
    let of = judge(&sides, Some(0.01)).unwrap();
    assert_eq!((of.outcome, of.counts.unresolved, of.counts.pass), (GateOutcome::Unresolved, 2, 2));
    let row = row(&of, "ext4");
    assert!(row.unresolved && row.half_width.unwrap() > 0.01);
    let more = row.more_records.unwrap() as f64;
    // Where the deviation stays as it is, so many more reach it, and half as many do not.
    let half = |replicates: f64| {
        stats::student::two_sided_quantile(0.025, 2.0 * replicates - 2.0) * 0.0158 * (2.0 / replicates).sqrt()
    };
    assert!(half(5.0 + more) <= 0.01 && half(5.0 + more / 2.0) > 0.01, "{more}");
    // What fails is no question of resolution.
    let failing = judge(&boots(5, [0.5, 1.0]), Some(0.001)).unwrap();
    assert_eq!(failing.outcome, GateOutcome::Fail);
}

#[test]
fn times_are_judged_the_other_way_round() {
    let times = |factor: f64| {
        let mut sides = boots(5, [factor, 1.0]);
        for group in sides.iter_mut().flatten().flat_map(|record| &mut record.trials).flat_map(|of| &mut of.groups) {
            let rate = group.metrics["operations_per_second"];
            group.primary_metric = "latency_p99_ns".into();
            group.metrics = [("latency_p99_ns".to_owned(), rate)].into();
        }
        judged(&sides)
    };
    let longer = times(1.25);
    let of = row(&longer, "ext4");
    assert_eq!((of.verdict, of.higher_is_better, of.unit.as_str()), (GateVerdict::Slower, false, "ns"));
    assert!((of.ratio.unwrap() - 0.8).abs() < 1e-9 && (of.candidate.mean.unwrap() - 1250.0).abs() < 1.0);
    assert_eq!(row(&times(0.8), "ext4").verdict, GateVerdict::Faster);
}

#[test]
fn races_that_alternate_strictly_are_compared_in_pairs_from_six_pairs_on() {
    // A drift that both races of a pair share: the pairs do not see it, the samples do.
    let drifting = |count: u32| {
        let mut sides = boots(count, [0.99, 0.99]);
        for record in sides.iter_mut().flatten() {
            let minute: f64 = record.header.seed as f64;
            let drift = 1.0 + (minute / 2.0).floor() * 0.02;
            for group in record.trials.iter_mut().flat_map(|of| &mut of.groups) {
                *group.metrics.get_mut("operations_per_second").unwrap() *= drift;
            }
        }
        sides
    };
    let six = drifting(6);
    let of = judged(&six);
    assert!(of.pairing.paired && of.pairing.why.contains("alternate strictly"), "{:?}", of.pairing);
    assert_eq!(row(&of, "ext4").verdict, GateVerdict::Pass);
    assert!(row(&of, "ext4").half_width.unwrap() < 1e-6, "the pairs of this drift are all alike");
    let five = judged(&drifting(5));
    assert!(!five.pairing.paired && five.pairing.why.contains("fewer than 6 pairs"), "{:?}", five.pairing);
    assert_eq!(row(&five, "ext4").verdict, GateVerdict::Inconclusive, "unpaired, the drift counts as noise");
    // Two races change places: the same figures, no alternation, no pairs.
    let mut turned = six.clone();
    let first = turned[0][1].header.started.clone();
    turned[0][1].header.started = std::mem::replace(&mut turned[1][1].header.started, first);
    let of = judged(&turned);
    assert!(!of.pairing.paired && of.pairing.why.contains("did not alternate"), "{:?}", of.pairing);
    assert!(row(&of, "ext4").half_width.unwrap() > 0.02);
    // The order in which records are named does not matter; their times do.
    let mut shuffled = six.clone();
    shuffled[0].reverse();
    assert!(judged(&shuffled).pairing.paired);
    let mut untimed = six;
    untimed[1][2].header.started = "yesterday".into();
    let of = judged(&untimed);
    assert!(!of.pairing.paired && of.pairing.why.contains("does not tell when"), "{:?}", of.pairing);
}

#[test]
fn sides_raced_one_after_the_other_and_boots_that_are_shared_are_named() {
    let mut sides = boots(4, [1.0, 1.0]);
    for (at, record) in sides[1].iter_mut().enumerate() {
        record.header.started = format!("2026-11-21T10:0{at}:00Z");
        record.header.boot_id = "one".into();
    }
    let warnings = judged(&sides).warnings.join("\n");
    for part in ["wholly before the other", "candidate's 4 records come from 1 boot"] {
        assert!(warnings.contains(part), "{part} is missing in {warnings}");
    }
}

/// The refusal after something was changed in the candidate's second record.
fn refused(change: impl Fn(&mut Record)) -> String {
    let mut sides = boots(3, [1.0, 1.0]);
    change(&mut sides[1][1]);
    judge(&sides, None).expect_err("it must be refused")
}

#[test]
fn other_parameters_lanes_and_versions_are_refused_by_name_and_value() {
    let depth = |record: &mut Record| record.header.plan.workloads[0] = io("w", Pattern::RandWrite, 16, 0);
    let said = refused(depth);
    assert_eq!(
        said,
        "workload w differs: iodepth is 1 in old/1 and 16 in new/2; race both sides with the same parameters"
    );
    let kind = |record: &mut Record| {
        let Kind::SmallFiles(files) = small_files().kind else { unreachable!() };
        record.header.plan.workloads[0].kind = Kind::SmallFiles(files);
    };
    assert!(refused(kind).starts_with("workload w differs: kind is \"io\" in old/1 and \"small-files\" in new/2, and"));
    type Change = fn(&mut Record);
    let changes: [(Change, &str); 15] = [
        (|of| of.header.version = "9.9.9".into(), "Fairlane 0.1.0 and new/2 by 9.9.9"),
        (|of| of.header.plan.suite = "general".into(), "a race of quick and new/2 of general"),
        (|of| of.header.plan.as_published = true, "as published"),
        (|of| of.header.plan.lane_size = model::Bytes(1 << 30), "2GiB and those of new/2 1GiB"),
        (|of| of.header.lanes[1].filesystem = "btrfs".into(), "lane xfs is xfs in old/1 and btrfs in new/2"),
        (|of| of.header.lanes[1].mkfs_command.push("-m".into()), "`mkfs.xfs {device}` in old/1 and by"),
        (|of| of.header.lanes[1].disks = 2, "lane xfs stands on 1 disk in old/1 and on 2 disks in new/2"),
        (|of| of.header.lanes[1].layers = vec!["crypt".into()], "on 1 disk in old/1 and on crypt on 1 disk in new/2"),
        (|of| of.header.lanes[1].promises.barriers = false, "(write barriers)"),
        (|of| of.header.lanes[1].promises.data_checksums = true, "(data checksums)"),
        (|of| of.header.lanes[1].venue = "device".into(), "image in old/1, device in new/2"),
        (|of| of.header.lanes[1].mount_options.push("sync".into()), "mounts lane xfs in two ways"),
        (
            |of| of.header.plan.throttle = "2000iops".parse().ok(),
            "lane ext4 was held to nothing in old/1 and to 2000iops",
        ),
        (
            |of| of.header.plan.lane_throttles = [("xfs".into(), "2000iops".parse().unwrap())].into(),
            "lane xfs was held to nothing in old/1 and to 2000iops in new/2",
        ),
        (
            |of| of.header.plan.ranks = Some(JobRanks { ranks: 8, nodes: 2, ..JobRanks::default() }),
            "by one process in old/1 and by 8 ranks on 2 nodes in new/2",
        ),
    ];
    for (change, says) in changes {
        let said = refused(change);
        assert!(said.contains(says) && said.contains("; "), "{says}: {said}");
    }
}

#[test]
fn an_emulated_disk_is_not_held_against_another_or_a_real_one() {
    let throttled = |records: &mut [Record], limit: &str| {
        records.iter_mut().for_each(|record| record.header.plan.throttle = Some(limit.parse().unwrap()));
    };
    // What a slower disk takes would be called the candidate's.
    let mut sides = boots(5, [0.5, 0.5]);
    throttled(&mut sides[1], "50MiB/s");
    let said = judge(&sides, None).unwrap_err();
    assert!(
        said.contains("lane ext4 was held to nothing in old/1 and to 50MiB/s in new/1; race both sides with"),
        "{said}"
    );
    throttled(&mut sides[0], "60MiB/s");
    assert!(judge(&sides, None).unwrap_err().contains("to 60MiB/s in old/1 and to 50MiB/s in new/1"));
    throttled(&mut sides[0], "50MiB/s");
    assert_eq!(judged(&sides).outcome, GateOutcome::Fail);
    // Nor is one within a side.
    let mut mixed = boots(3, [1.0, 1.0]);
    throttled(&mut mixed[0][1..2], "50MiB/s");
    assert!(judge(&mixed, None).unwrap_err().contains("to nothing in old/1 and to 50MiB/s in old/2"));
}

#[test]
fn one_race_cannot_stand_for_two() {
    let mut sides = boots(3, [1.0, 1.0]);
    sides[1][0] = sides[0][2].clone();
    assert!(judge(&sides, None).unwrap_err().contains("old/3 and new/1 are one and the same race"));
    let mut sides = boots(3, [1.0, 1.0]);
    sides[0][1] = sides[0][0].clone();
    // A copy that was cut short is still the same race.
    sides[0][1].trials.pop();
    assert!(judge(&sides, None).unwrap_err().contains("old/1 and old/2 are one and the same race"));
}

#[test]
fn mount_options_tools_and_machines_that_differ_between_the_sides_are_named() {
    let mut sides = boots(4, [1.0, 1.0]);
    for record in &mut sides[1] {
        record.header.lanes[0].mount_options.push("commit=30".into());
        record.header.machine.tools = vec!["mkfs.ext4 1.47".into()];
        record.header.machine.machine_id_hash = "aa".into();
        record.header.machine.memory_bytes = 8 << 30;
        record.header.plan.rounds = Rounds::Fixed(4);
    }
    sides[0][1].header.machine.kernel = "6.1.9".into();
    let of = judged(&sides);
    assert_eq!(
        of.changes,
        [
            "kernel: 6.1 and 6.1.9 -> 6.12",
            "tools: nothing -> mkfs.ext4 1.47",
            "mount options of ext4: noatime -> noatime,commit=30"
        ]
    );
    let warnings = of.warnings.join("\n");
    for part in [
        "the baseline's records differ in kernel (6.1 and 6.1.9)",
        "different machines",
        "different sizes of memory: 0 B to 8 GiB",
        "different numbers of rounds: 3 in the baseline, 4 in the candidate",
    ] {
        assert!(warnings.contains(part), "{part} is missing in {warnings}");
    }
}

#[test]
fn what_only_one_side_raced_is_named_and_counted_and_not_compared() {
    let mut sides = boots(3, [1.0, 1.0]);
    for record in &mut sides[0] {
        record.header.plan.workloads.push(io("gone", Pattern::RandRead, 1, 0));
    }
    for record in &mut sides[1] {
        record.header.lanes.push(lane("btrfs"));
    }
    let of = judged(&sides);
    assert_eq!((of.comparisons, of.counts.one_sided), (2, 3), "two lanes of a workload, and one lane");
    assert_eq!(of.outcome, GateOutcome::Inconclusive, "the candidate lost a workload");
    let names = |in_baseline: bool| {
        let of = of.one_sided.iter().filter(|of| of.in_baseline == in_baseline);
        of.map(|of| (of.lane.as_deref(), of.workload.as_deref(), of.comparisons)).collect::<Vec<_>>()
    };
    assert_eq!(names(true), [(None, Some("gone"), 2)]);
    assert_eq!(names(false), [(Some("btrfs"), None, 1)]);
    assert_eq!(judge(&sides, Some(0.9)).unwrap().outcome, GateOutcome::Unresolved);
    for record in &mut sides[1] {
        record.header.lanes.retain(|lane| lane.name == "btrfs");
    }
    assert!(judge(&sides, None).unwrap_err().contains("share no lane and workload"));
}

#[test]
fn one_record_on_each_side_is_compared_and_gives_no_verdict() {
    let sides = boots(1, [0.5, 1.0]);
    let of = judged(&sides);
    assert_eq!((of.outcome, of.counts.inconclusive), (GateOutcome::Inconclusive, 2));
    let comparison = of.comparison.as_ref().unwrap();
    assert!(comparison.rows[0].why.as_ref().unwrap().starts_with("these two races ran on two boots"));
    assert!(of.rows[0].why.as_ref().unwrap().contains("no spread between boots") && of.rows[0].low.is_none());
    assert!((of.rows[0].ratio.unwrap() - 0.5).abs() < 1e-9);
    assert_eq!(judge(&sides, Some(0.05)).unwrap().outcome, GateOutcome::Unresolved);
    let mut uneven = boots(3, [1.0, 1.0]);
    uneven[1].truncate(1);
    assert!(judge(&uneven, None).unwrap_err().contains("the candidate is one record"));
    uneven[1][0].trials.clear();
    assert!(judge(&uneven, None).unwrap_err().contains("the candidate holds no record with a trial"));
}

#[test]
fn races_that_ended_early_are_used_as_far_as_they_got_and_named() {
    let mut sides = boots(4, [1.0, 1.0]);
    sides[0][0].end = Some(EndOutcome::Interrupted);
    sides[0][0].trials.retain(|trial| trial.round == 2);
    sides[1][1].end = None;
    sides[1][1].warnings.push("the last line is incomplete and was left out: the race did not end cleanly".into());
    sides[1][1].trials.retain(|trial| trial.lane == "ext4");
    sides[1][2].trials[0].outcome = Outcome::Failed;
    sides[1][3].trials.clear();
    let of = judged(&sides);
    assert_eq!((row(&of, "ext4").candidate.records, row(&of, "xfs").candidate.records), (3, 2));
    assert!(row(&of, "xfs").why.as_ref().unwrap().contains("in 1 of the candidate's 3 records the race did not"));
    let warnings = of.warnings.join("\n");
    for part in [
        "old/1 was interrupted; the rounds that it finished count",
        "new/2 has no end",
        "new/2: the last line is incomplete",
        "new/3: ext4 failed at w in 1 of 3 rounds",
        "new/4 holds no trial and was left out",
    ] {
        assert!(warnings.contains(part), "{part} is missing in {warnings}");
    }
}

#[test]
fn the_engines_own_ceiling_voids_a_pass_and_not_a_regression() {
    let mut sides = boots(4, [0.7, 1.0]);
    for record in sides.iter_mut().flatten() {
        record.probes = vec![Probe { bandwidth_bytes_per_second: 1e9, ..common::probe("w", Profile::Null, 1, 1000.0) }];
    }
    let of = judged(&sides);
    assert_eq!(row(&of, "ext4").verdict, GateVerdict::Slower);
    assert_eq!(row(&of, "xfs").verdict, GateVerdict::Inconclusive);
    assert!(row(&of, "xfs").why.as_ref().unwrap().contains("Fairlane itself was measured"));
    // Where a green light has to mean something, nothing compared is none.
    sides = unlike(&sides, 1.0 / 0.7);
    assert_eq!(judge(&sides, None).unwrap().outcome, GateOutcome::Inconclusive);
    let asked = judge(&sides, Some(0.5)).unwrap();
    assert_eq!((asked.outcome, asked.counts.unresolved), (GateOutcome::Unresolved, 2));
    assert!(asked.rows.iter().all(|row| row.not_compared && row.more_records.is_none()), "{:?}", asked.rows);
}

/// The same with so much more of the candidate's ext4.
fn unlike(sides: &[Vec<Record>; 2], factor: f64) -> [Vec<Record>; 2] {
    let mut sides = sides.clone();
    let trials = sides[1].iter_mut().flat_map(|record| &mut record.trials).filter(|trial| trial.lane == "ext4");
    for group in trials.flat_map(|trial| &mut trial.groups) {
        *group.metrics.get_mut("operations_per_second").unwrap() *= factor;
    }
    sides
}

#[test]
fn writes_that_stay_in_memory_neither_pass_nor_fail() {
    for factor in [0.5, 1.0] {
        let mut sides = boots(4, [1.0, factor]);
        // Those of one side are enough: the other's had to reach the disk.
        for trial in sides[0].iter_mut().flat_map(|record| &mut record.trials) {
            trial.system.device.write_bytes /= 20;
        }
        let of = judged(&sides);
        let one = row(&of, "xfs");
        assert_eq!((one.verdict, one.not_compared), (GateVerdict::Inconclusive, true), "{one:?}");
        assert!(one.why.as_ref().unwrap().contains("bytes that did not pass the disk were measured"), "{one:?}");
        assert_eq!(judge(&sides, Some(0.5)).unwrap().outcome, GateOutcome::Unresolved);
    }
}

#[test]
fn latencies_at_other_rates_are_not_compared() {
    let with_rates = |of_candidate: f64| {
        let mut sides = boots(4, [1.0, 1.0]);
        for (side, rate) in sides.iter_mut().zip([8000.0, of_candidate]) {
            for record in side {
                record.rates = vec![SharedRate {
                    workload: "w".into(),
                    share: 0.7,
                    slowest: "ext4".into(),
                    maxima_operations_per_second: Default::default(),
                    operations_per_second: rate,
                    disturbed: None,
                }];
            }
        }
        judge(&sides, Some(0.5)).unwrap()
    };
    assert_eq!(row(&with_rates(8100.0), "xfs").verdict, GateVerdict::Pass);
    let of = with_rates(9000.0);
    assert_eq!(row(&of, "xfs").verdict, GateVerdict::Inconclusive);
    assert!(row(&of, "xfs").why.as_ref().unwrap().contains("different shared rates: 8k IOPS and 9k IOPS"));
    // A narrow interval of what is not compared resolves nothing.
    assert_eq!((of.outcome, of.counts.unresolved), (GateOutcome::Unresolved, 2));
}

#[test]
fn noise_above_the_margin_is_named() {
    let sides = boots(4, [1.0, 1.0]);
    let gate = |share: f64| {
        let terms = Terms { fail_if_slower: share, need_resolution: None };
        gate(&named(&sides[0], &OLD), &named(&sides[1], &NEW), &terms).unwrap().warnings
    };
    assert!(gate(0.05).is_empty());
    assert!(gate(0.01)[0].contains("vary by 1.3 %, more than the margin"), "{:?}", gate(0.01));
}

#[test]
fn a_side_that_scatters_much_more_is_named() {
    let mut sides = boots(5, [1.0, 1.0]);
    for (at, record) in sides[1].iter_mut().enumerate() {
        let factor = [0.5, 1.5, 0.8, 2.0, 1.0][at];
        for trial in record.trials.iter_mut().filter(|trial| trial.lane == "xfs") {
            *trial.groups[0].metrics.get_mut("operations_per_second").unwrap() *= factor;
        }
    }
    let of = judged(&sides);
    assert!(row(&of, "xfs").why.as_ref().unwrap().contains("times as much from record to record"));
    // Half of the rows and sides are quiet, so that the median is.
    assert!(of.warnings.is_empty(), "{:?}", of.warnings);
    assert_eq!(row(&of, "ext4").why, None);
}
