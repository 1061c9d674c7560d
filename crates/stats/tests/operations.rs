//! Tables of file operations, on records whose truth is known.

use crate::common;

use common::{lane, operations, operations_trial, record, step};
use model::findings::{Findings, Limit, OperationsPair, Verdict};
use model::lane::Lane;
use model::operations::Operation;
use model::plan::Rounds;
use model::record::Record;
use model::trial::{Outcome, Trial};
use model::workload::Workload;
use stats::judge;

fn work() -> Workload {
    operations(vec![
        step("small files", "create 100", Operation::Create, 100),
        step("metadata", "stat 100", Operation::Stat, 100),
        step("small files", "read 100", Operation::Read, 100),
    ])
}

fn tmpfs() -> Lane {
    let mut lane = lane("tmpfs");
    (lane.venue, lane.ground, lane.backing) = ("memory".into(), "memory".into(), String::new());
    lane.promises.journal = false;
    lane
}

fn rsext4() -> Lane {
    let mut lane = lane("rsext4");
    lane.venue = "library".into();
    lane.promises.journal = false;
    lane
}

/// Eight rounds in which each lane takes its seconds, with a little noise that is its own.
fn raced(lanes: Vec<Lane>, seconds: &[[f64; 3]], mend: impl Fn(&mut Trial)) -> Record {
    let workload = work();
    let names: Vec<String> = lanes.iter().map(|lane| lane.name.clone()).collect();
    let mut race = record(lanes, vec![workload.clone()], Rounds::Auto, true);
    for round in 1..=8 {
        for (place, (name, seconds)) in names.iter().zip(seconds).enumerate() {
            let noise = 1.0 + 0.002 * f64::from((round * 7 + place as u32 * 5) % 6);
            let mut trial = operations_trial(name, &workload, round, &seconds.map(|of| of * noise));
            mend(&mut trial);
            race.trials.push(trial);
        }
    }
    race
}

fn four() -> Findings {
    let lanes = vec![tmpfs(), lane("ext4"), lane("xfs"), rsext4()];
    judge::findings(&raced(lanes, &[[0.1, 0.01, 0.05], [1.0, 0.02, 0.2], [2.0, 0.02, 0.1], [0.05, 0.01, 0.4]], |_| {}))
}

fn pair<'a>(findings: &'a Findings, a: &str, b: &str) -> &'a OperationsPair {
    findings.operations[0].pairs.iter().find(|pair| pair.a == a && pair.b == b).unwrap()
}

#[test]
fn steps_are_gathered_by_section_in_the_order_of_first_occurrence() {
    let findings = four();
    let [table] = findings.operations.as_slice() else { panic!("one table") };
    let rows: Vec<_> = table.rows.iter().map(|row| (row.section.as_str(), row.group.as_str())).collect();
    assert_eq!(rows, [("small files", "create 100"), ("small files", "read 100"), ("metadata", "stat 100")]);
    assert_eq!((table.reference.as_str(), table.floor.as_deref(), table.rounds), ("ext4", Some("tmpfs"), 8));
    assert!(findings.results.iter().all(|result| result.section.is_some()));
    assert_eq!(table.process_startup_share, None);
}

#[test]
fn a_figure_is_the_whole_steps_time_and_its_rates_follow_from_it() {
    let findings = four();
    let create = &findings.operations[0].rows[0].figures[1];
    let seconds = create.seconds.unwrap();
    assert!(seconds > 1.0 && seconds < 1.011, "{seconds}");
    assert!(create.low.unwrap() < seconds && seconds < create.high.unwrap());
    assert_eq!((create.operations, create.bytes), (100, 102_400));
    assert!((create.operations_per_second.unwrap() * seconds - 100.0).abs() < 1e-9);
    assert!((create.bandwidth_bytes_per_second.unwrap() * seconds - 102_400.0).abs() < 1e-6);
    assert_eq!(findings.operations[0].rows[2].figures[1].bandwidth_bytes_per_second, None, "a stat moves no bytes");
}

#[test]
fn the_floor_is_a_share_of_every_other_lanes_time() {
    let findings = four();
    let create = &findings.operations[0].rows[0];
    assert_eq!(create.figures[0].floor_share, None);
    assert!((create.figures[1].floor_share.unwrap() - 0.1).abs() < 0.01);
    // The library needs less than the system calls alone.
    assert!((create.figures[3].floor_share.unwrap() - 2.0).abs() < 0.1);
}

#[test]
fn pairs_count_verdicts_and_keep_ratios_without_one_apart() {
    let findings = four();
    let kernel = pair(&findings, "xfs", "ext4");
    assert_eq!((kernel.wins, kernel.ties, kernel.losses, kernel.without_verdict), (1, 1, 1, 0), "{kernel:?}");
    // 1/2 x 1 x 2.
    assert!((kernel.geometric_mean.unwrap() - 1.0).abs() < 0.01 && kernel.steps == 3);
    let library = pair(&findings, "rsext4", "ext4");
    assert_eq!((library.wins, library.ties, library.losses, library.without_verdict), (0, 0, 0, 3));
    // 20 x 2 x 1/2.
    assert!((library.geometric_mean.unwrap() / 20_f64.cbrt() - 1.0).abs() < 0.01);
    let why = library.why.as_deref().unwrap();
    assert!(why.starts_with("different promises: "), "{why}");
    assert!(why.ends_with("rsext4 is an in-process library, called without any system call"), "{why}");
}

#[test]
fn totals_add_up_what_all_lanes_did_and_carry_the_deferred_work() {
    let findings = four();
    let totals = &findings.operations[0].totals;
    let ext4 = totals.iter().find(|of| of.lane == "ext4").unwrap();
    assert!((ext4.seconds.unwrap() / 1.22 - 1.0).abs() < 0.02 && ext4.steps == 3, "{ext4:?}");
    assert_eq!((ext4.sync_seconds, ext4.unmount_seconds), (Some(0.5), Some(0.25)));
    // A lane that has no stat takes that row out of every lane's total.
    let lanes = vec![lane("ext4"), lane("xfs")];
    let race = raced(lanes, &[[1.0, 0.02, 0.2], [2.0, 0.02, 0.1]], |trial| {
        if trial.lane == "xfs" {
            trial.groups.remove(1);
        }
    });
    let table = judge::findings(&race).operations.remove(0);
    assert!(table.totals.iter().all(|of| of.steps == 2), "{:?}", table.totals);
    assert!((table.totals[0].seconds.unwrap() / 1.2 - 1.0).abs() < 0.02);
    let stat = &table.rows[2].figures[1];
    assert!(stat.seconds.is_none() && stat.failure.as_deref().unwrap().contains("stat 100"), "{stat:?}");
}

/// The first steps of a lane, and why the others are missing.
fn cut(trial: &mut Trial, steps: usize) {
    trial.groups.truncate(steps);
    trial.reason = Some(format!("{} cannot do step {steps}", trial.lane));
}

#[test]
fn what_stands_behind_a_step_that_cannot_be_done_is_missing_with_the_reason() {
    let lanes = vec![tmpfs(), lane("ext4"), lane("xfs"), lane("btrfs")];
    let seconds = [[0.1; 3], [1.0, 0.02, 0.2], [2.0, 0.02, 0.1], [3.0, 0.02, 0.3]];
    let race = raced(lanes, &seconds, |trial| {
        if trial.lane == "ext4" {
            cut(trial, 1);
        }
    });
    let findings = judge::findings(&race);
    let table = &findings.operations[0];
    assert_eq!(table.reference, "xfs", "ext4 stands first and did fewer steps");
    assert_eq!(table.floor.as_deref(), Some("tmpfs"));
    let ext4 = |row: usize| table.rows[row].figures.iter().find(|of| of.lane == "ext4").unwrap();
    assert!(ext4(0).seconds.is_some() && ext4(0).failure.is_none(), "the step before it counts");
    for row in [1, 2] {
        assert_eq!((ext4(row).seconds, ext4(row).failure.as_deref()), (None, Some("ext4 cannot do step 1")));
    }
    for result in &findings.results {
        let estimate = result.estimates.iter().find(|of| of.lane == "ext4").unwrap();
        let missing = result.group != "create 100";
        assert_eq!(estimate.failure.is_some(), missing, "{}", result.group);
        assert_eq!(result.rounds, 8, "{}: the others' rounds count", result.group);
        assert!(!result.warnings.iter().any(|warning| warning.contains("hold no")), "{:?}", result.warnings);
        let pair = result.pairs.iter().find(|pair| pair.a == "xfs" && pair.b == "ext4").unwrap();
        assert_eq!(pair.ratio.is_none(), missing, "{pair:?}");
        if missing {
            assert_eq!(pair.why.as_deref(), Some("ext4: ext4 cannot do step 1"));
        }
        let others = result.pairs.iter().find(|pair| pair.a == "btrfs" && pair.b == "xfs").unwrap();
        assert_ne!(others.verdict, Verdict::None, "{others:?}");
    }
}

#[test]
fn the_reference_is_the_first_filesystem_on_a_disk_that_did_the_most() {
    let seconds = [[1.0; 3]; 3];
    let reference = |steps: [usize; 3]| {
        let lanes = vec![tmpfs(), lane("ext4"), lane("xfs")];
        let race = raced(lanes, &seconds, |trial| {
            let place = ["tmpfs", "ext4", "xfs"].iter().position(|name| *name == trial.lane).unwrap();
            match steps[place] {
                0 => (trial.outcome, trial.reason) = (Outcome::Failed, Some("it broke".to_owned())),
                3 => {}
                steps => cut(trial, steps),
            }
        });
        judge::findings(&race).operations.remove(0).reference
    };
    assert_eq!(reference([3, 3, 3]), "ext4");
    assert_eq!(reference([3, 2, 3]), "xfs");
    assert_eq!(reference([3, 2, 2]), "ext4");
    assert_eq!(reference([3, 0, 1]), "xfs");
    assert_eq!(reference([3, 0, 0]), "tmpfs", "no other has a figure");
}

#[test]
fn a_library_without_other_promises_still_gets_no_verdict_and_is_not_chosen() {
    let mut library = rsext4();
    library.promises.journal = true;
    let race = raced(vec![lane("ext4"), lane("xfs"), library], &[[1.0; 3], [2.0; 3], [0.1; 3]], |_| {});
    let findings = judge::findings(&race);
    let of = pair(&findings, "rsext4", "ext4");
    assert_eq!(of.why.as_deref(), Some("rsext4 is an in-process library, called without any system call"));
    assert_eq!(of.without_verdict, 3);
    let answer = findings.answer.unwrap();
    assert_eq!(answer.choose, ["ext4"]);
    let [fact] = answer.not_ranked.as_slice() else { panic!("{:?}", answer.not_ranked) };
    assert_eq!((fact.lanes.as_slice(), fact.against.as_str()), (&["rsext4".to_owned()][..], "ext4"));
    assert_eq!(fact.what, "is an in-process library, called without any system call");
}

#[test]
fn the_reference_is_one_lane_whichever_stands_first_and_every_pair_points_to_it() {
    // The same lanes take the same seconds, in another order.
    let [ext4, xfs, library, floor] = [[1.0, 0.02, 0.2], [2.0, 0.02, 0.1], [0.05, 0.01, 0.4], [0.1, 0.01, 0.05]];
    let straight = vec![lane("ext4"), lane("xfs"), rsext4(), tmpfs()];
    let straight = judge::findings(&raced(straight, &[ext4, xfs, library, floor], |_| {}));
    let turned = vec![tmpfs(), rsext4(), lane("ext4"), lane("xfs")];
    let turned = judge::findings(&raced(turned, &[floor, library, ext4, xfs], |_| {}));
    for findings in [&straight, &turned] {
        let table = &findings.operations[0];
        assert_eq!(table.reference, "ext4");
        assert_eq!(
            table.totals.iter().map(|of| of.lane.as_str()).collect::<Vec<_>>(),
            ["ext4", "xfs", "rsext4", "tmpfs"]
        );
        let pairs: Vec<_> = table.pairs.iter().map(|of| (of.a.as_str(), of.b.as_str())).collect();
        let expected = [
            ("xfs", "ext4"),
            ("rsext4", "ext4"),
            ("rsext4", "xfs"),
            ("tmpfs", "ext4"),
            ("tmpfs", "xfs"),
            ("tmpfs", "rsext4"),
        ];
        assert_eq!(pairs, expected);
        assert!((pair(findings, "rsext4", "ext4").geometric_mean.unwrap() / 20_f64.cbrt() - 1.0).abs() < 0.01);
        let kernel = pair(findings, "xfs", "ext4");
        assert_eq!((kernel.wins, kernel.ties, kernel.losses), (1, 1, 1));
    }
}

#[test]
fn a_lane_that_no_other_may_be_ranked_against_is_no_reference() {
    let mut risky = lane("ext4,nobarrier");
    risky.promises.barriers = false;
    let lanes = || vec![risky.clone(), lane("ext4"), lane("xfs")];
    let findings = judge::findings(&raced(lanes(), &[[0.5; 3], [1.0; 3], [2.0; 3]], |_| {}));
    assert_eq!(findings.operations[0].reference, "ext4");
    assert_eq!(
        (pair(&findings, "xfs", "ext4").losses, pair(&findings, "ext4,nobarrier", "ext4").without_verdict),
        (3, 3)
    );
    // One without a figure is none either.
    let race = raced(lanes(), &[[0.5; 3], [1.0; 3], [2.0; 3]], |trial| {
        if trial.lane == "ext4" {
            (trial.outcome, trial.reason) = (model::trial::Outcome::Failed, Some("no space left".into()));
        }
    });
    assert_eq!(judge::findings(&race).operations[0].reference, "ext4,nobarrier");
}

#[test]
fn each_fact_that_keeps_lanes_apart_is_said_once_with_all_its_lanes() {
    let mut floor = tmpfs();
    (floor.promises.barriers, floor.promises.fsync_reaches_stable_storage) = (false, false);
    let lanes = vec![rsext4(), lane("ext4"), lane("xfs"), floor];
    let answer = judge::findings(&raced(lanes, &[[1.0; 3], [1.0; 3], [2.0; 3], [0.1; 3]], |_| {})).answer.unwrap();
    let facts: Vec<_> = answer.not_ranked.iter().map(|of| (of.lanes.join(" "), of.what.as_str())).collect();
    let expected = [
        ("rsext4 tmpfs", "promise no crash-safe metadata"),
        ("tmpfs", "promises no fsync that reaches stable storage and no write barriers"),
        ("rsext4", "is an in-process library, called without any system call"),
    ];
    assert_eq!(facts, expected.map(|(lanes, what)| (lanes.to_owned(), what)));
    assert!(answer.not_ranked.iter().all(|of| of.against == "ext4"));
    assert_eq!(answer.not_tested, ["power cut"]);
}

#[test]
fn a_lane_that_fails_each_time_is_not_raced_again() {
    let noisy = |failing: &'static str, from: u32| {
        let mut race = raced(vec![lane("ext4"), lane("xfs"), lane("btrfs")], &[[1.0; 3]; 3], move |trial| {
            let rate = 50.0 * [0.97, 1.0, 1.03][(trial.round as usize * 7 + trial.lane.len()) % 3];
            for group in &mut trial.groups {
                group.metrics.insert("operations_per_second".into(), rate);
            }
            if trial.lane == failing && trial.round >= from {
                (trial.outcome, trial.reason) = (model::trial::Outcome::Failed, Some("no reflink here".into()));
            }
        });
        race.header.plan.command_line = ["race", "ext4", "xfs", "btrfs"].map(str::to_owned).to_vec();
        race
    };
    let next = |race: &Record| judge::findings(race).answer.unwrap().next.join(" ");
    let all = next(&noisy("nobody", 1));
    assert!(all.starts_with("race ext4 xfs btrfs --budget "), "{all}");
    // A step that the filesystem lacks fails whoever asks again: the others go on without that lane.
    let without = next(&noisy("xfs", 1));
    assert!(without.starts_with("race ext4 btrfs --budget "), "{without}");
    // Its own disk goes with it, and that of all lanes stays.
    let mut own = noisy("xfs", 1);
    own.header.plan.throttle = "90000iops".parse().ok();
    own.header.plan.lane_throttles = [("xfs".to_owned(), "80000iops".parse().unwrap())].into();
    let line = "fairlane race ext4 xfs btrfs --throttle 90000iops --throttle xfs:80000iops --seed 1";
    own.header.plan.command_line = line.split(' ').map(str::to_owned).collect();
    assert!(next(&own).starts_with("race ext4 btrfs --throttle 90000iops --budget "), "{}", next(&own));
    // One that failed midway would fail again, and what it leaves open does not count.
    let mut two = noisy("xfs", 4);
    two.header.lanes.remove(2);
    two.header.plan.lanes.remove(2);
    two.trials.retain(|trial| trial.lane != "btrfs");
    let findings = judge::findings(&two);
    assert!(!findings.answer.as_ref().unwrap().undecided.is_empty());
    assert_eq!(findings.answer.unwrap().next, ["report", "--format", "markdown"]);
    // One that an error ended goes on where it ended.
    let mut broken = noisy("nobody", 1);
    broken.end = Some(model::record::EndOutcome::Failed);
    assert_eq!(next(&broken), "race --resume RECORD");
}

#[test]
fn two_options_of_one_library_are_ranked_against_each_other() {
    let mut other = rsext4();
    other.name = "rsext4,noatime".into();
    let findings = judge::findings(&raced(vec![rsext4(), other], &[[1.0; 3], [2.0; 3]], |_| {}));
    assert_eq!(findings.operations[0].pairs[0].losses, 3);
    assert_eq!(findings.operations[0].reference, "rsext4");
}

#[test]
fn the_user_time_of_a_floor_or_a_library_leaves_the_others_their_verdicts() {
    let busy = |lanes: [&'static str; 2]| {
        let race = raced(
            vec![lane("ext4"), lane("xfs"), tmpfs(), rsext4()],
            &[[1.0; 3], [2.0; 3], [0.1; 3], [0.1; 3]],
            move |trial| {
                for group in trial.groups.iter_mut().filter(|_| lanes.contains(&trial.lane.as_str())) {
                    let system = group.system.as_mut().unwrap();
                    system.agent_cpu_user_seconds = 0.9 * system.window_seconds;
                }
            },
        );
        judge::findings(&race)
    };
    let spared = busy(["tmpfs", "rsext4"]);
    assert!(spared.results.iter().all(|result| result.limit != Limit::Harness), "{:?}", spared.results[0].limit_reason);
    assert_eq!(pair(&spared, "xfs", "ext4").losses, 3);
    // A filesystem on a disk that was not measured spoils its row, and no ratio of it is averaged.
    let spoilt = busy(["ext4", ""]);
    assert!(spoilt.results.iter().all(|result| result.limit == Limit::Harness));
    let of = pair(&spoilt, "xfs", "ext4");
    assert_eq!((of.geometric_mean, of.steps, of.losses, of.without_verdict), (None, 0, 0, 3));
}

#[test]
fn a_step_that_reads_is_known_by_its_operation_and_not_by_its_name() {
    let race = raced(vec![lane("ext4"), lane("xfs")], &[[1.0; 3], [2.0; 3]], |trial| {
        for group in &mut trial.groups {
            group.system.as_mut().unwrap().device = Default::default();
        }
    });
    let findings = judge::findings(&race);
    let of = |group: &str| findings.results.iter().find(|result| result.group == group).unwrap();
    assert_eq!(of("read 100").limit, Limit::Cache);
    assert_eq!(of("read 100").pairs[0].verdict, Verdict::Slower, "a warm read is judged, and labelled");
    assert_ne!(of("create 100").limit, Limit::Cache);
}

#[test]
fn process_start_up_is_a_share_of_each_steps_time() {
    let race = raced(vec![lane("ext4"), lane("xfs")], &[[1.0, 0.02, 0.2], [2.0, 0.02, 0.1]], |trial| {
        for group in &mut trial.groups {
            group.metrics.insert(stats::operations::PROCESS_STARTUP.into(), 0.009 * group.seconds);
        }
    });
    let table = judge::findings(&race).operations.remove(0);
    for figure in table.rows.iter().flat_map(|row| &row.figures) {
        assert!((figure.process_startup_share.unwrap() - 0.9).abs() < 1e-9, "{figure:?}");
    }
    assert!((table.process_startup_share.unwrap() - 0.9).abs() < 1e-9);
}

#[test]
fn a_library_among_processes_is_named() {
    let mut race = raced(vec![lane("ext4"), rsext4()], &[[1.0; 3], [0.1; 3]], |_| {});
    let said = |race: &Record| judge::findings(race).operations[0].warnings.join("\n");
    assert!(!said(&race).contains("process"), "{}", said(&race));
    let model::workload::Kind::Operations(operations) = &mut race.header.plan.workloads[0].kind else {
        panic!("another kind")
    };
    operations.method = model::operations::Method::ProcessPerOperation;
    let said = said(&race);
    assert!(said.starts_with("rsext4 is an in-process library even here: its rows started no process"), "{said}");
}

#[test]
fn thirty_one_steps_leave_each_its_verdict() {
    let steps: Vec<_> = (0..31).map(|at| step("all", &format!("create {at}"), Operation::Create, 100)).collect();
    let workload = operations(steps);
    let lanes = vec![lane("ext4"), lane("xfs"), lane("btrfs")];
    let mut race = record(lanes, vec![workload.clone()], Rounds::Auto, true);
    for round in 1..=6 {
        for (place, (name, seconds)) in [("ext4", 1.0), ("xfs", 1.01), ("btrfs", 1.3)].into_iter().enumerate() {
            // Each step has noise of its own, of about 1 %.
            let seconds: Vec<f64> = (0..31)
                .map(|at| seconds * (1.0 + 0.004 * f64::from((at * 3 + round * 5 + place as u32 * 2) % 7)))
                .collect();
            race.trials.push(operations_trial(name, &workload, round, &seconds));
        }
    }
    let findings = judge::findings(&race);
    assert_eq!(pair(&findings, "btrfs", "ext4").losses, 31);
    let ties = pair(&findings, "xfs", "ext4");
    assert!(ties.ties >= 20 && ties.wins == 0, "{ties:?}");
}

#[test]
fn warnings_of_many_steps_are_gathered() {
    let race = raced(vec![lane("ext4"), lane("xfs")], &[[1.0; 3], [2.0; 3]], |trial| {
        trial.flags.push("image-unwritten".into());
        if trial.lane == "xfs" {
            for group in &mut trial.groups {
                // It drifts from round to round.
                group.metrics.insert("operations_per_second".into(), 50.0 * 1.3_f64.powi(trial.round as i32));
            }
        }
    });
    let findings = judge::findings(&race);
    let warnings = &findings.operations[0].warnings;
    assert_eq!(
        *warnings,
        [
            "the images had unwritten blocks again after all 16 trials: a lane that met them looks slower than it is; a race \
             on a device (--on /dev/… --erase /dev/…) has none",
            "in 3 of 3 comparisons of lanes the rounds are correlated; their intervals were made wider"
        ]
    );
}

#[test]
fn load_is_a_share_of_the_machine_and_of_the_devices_time() {
    let race = raced(vec![lane("ext4"), tmpfs()], &[[1.0; 3], [2.0; 3]], |trial| {
        for group in &mut trial.groups {
            let system = group.system.as_mut().unwrap();
            (system.cpus, system.cpu_user_seconds, system.cpu_system_seconds) = (4, 0.1, 0.3);
            system.window_seconds = 1.0;
            system.device.busy_seconds = 0.75;
        }
    });
    let findings = judge::findings(&race);
    let [ext4, floor] = findings.results[0].estimates.as_slice() else { panic!("two lanes") };
    let near = |share: Option<f64>, of: f64| (share.unwrap() - of).abs() < 1e-9;
    assert!(near(ext4.cpu_share, 0.1) && near(ext4.cpu_system_share, 0.75) && near(ext4.device_busy_share, 0.75));
    assert!((ext4.latency_mean_ns.unwrap() / 1e7 - 1.0).abs() < 0.02);
    assert_eq!(floor.device_busy_share, None, "memory has no device");
}

#[test]
fn steps_of_a_lane_that_was_decided_early_stand_at_its_ratio_to_the_reference() {
    let seconds = [[1.0, 0.02, 0.2], [1.005, 0.02, 0.2], [4.0, 0.08, 0.8]];
    let mut race = raced(vec![lane("ext4"), lane("xfs"), lane("btrfs")], &seconds, |_| {});
    race.trials.retain(|of| of.round <= 6);
    // The disk is faster from then on, for all; btrfs races no further.
    let workload = work();
    for round in 7..=10 {
        for (at, name) in ["ext4", "xfs"].into_iter().enumerate() {
            race.trials.push(operations_trial(name, &workload, round, &seconds[at].map(|of| of / 1.5)));
        }
    }
    race.end = Some(model::record::EndOutcome::Complete);
    let findings = judge::findings(&race);
    let create = &findings.operations[0].rows[0];
    let seconds = |name: &str| create.figures.iter().find(|of| of.lane == name).unwrap().seconds.unwrap();
    let result = findings.results.iter().find(|of| of.group == create.group).unwrap();
    let pair = result.pairs.iter().find(|of| [&of.a, &of.b] == ["btrfs", "ext4"]).unwrap();
    let told = pair.ratio.unwrap();
    assert!((seconds("ext4") / seconds("btrfs") / told - 1.0).abs() < 1e-9, "{create:?} {pair:?}");
    assert!(seconds("btrfs") < 3.6, "its own rounds took 4 s");
}
