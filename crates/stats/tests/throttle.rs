//! An emulated disk in a record: void trials, the limit as the ceiling, what its bursts hide.

use crate::common;

use common::{io, lane, operations, operations_trial, probe, record, run, small_files, step, trial};
use model::Throttle;
use model::findings::{Findings, Limit, Verdict};
use model::operations::Operation;
use model::plan::Rounds;
use model::record::{Profile, Record};
use model::trial::{Outcome, SystemUse, Trial};
use model::workload::{Pattern, Workload};
use stats::judge;
use stats::limit::limit_of;
use stats::throttle::broken;
use std::collections::BTreeMap;

fn disk() -> Throttle {
    "151MiB/s,8050iops".parse().unwrap()
}

fn random_read() -> Workload {
    io("random-read", Pattern::RandRead, 32, 0)
}

/// Two lanes at these rates under the throttle; `change` shapes each trial.
fn race(workload: &Workload, rates: [f64; 2], change: impl Fn(&mut Trial)) -> Record {
    let mut race = record(vec![lane("ext4"), lane("xfs")], vec![workload.clone()], Rounds::Auto, true);
    race.header.plan.throttle = Some(disk());
    run(&mut race, 6, &rates, 0.0, 1);
    for trial in &mut race.trials {
        trial.system.windows = 6;
        trial.system.window_seconds = 3.0;
        trial.system.device.reads *= 3;
        trial.system.device.read_bytes *= 3;
        trial.system.device.writes *= 3;
        trial.system.device.write_bytes *= 3;
        change(trial);
    }
    race
}

fn limit(race: &Record, group: &str) -> (Limit, String) {
    let of = limit_of(race, &race.header.plan.workloads[0], group);
    (of.limit, of.reason.into())
}

/// A trial of six windows of half a second at these rates of the device.
fn counted(reads: u64, read_bytes: u64, writes: u64, write_bytes: u64) -> Trial {
    let mut trial = trial("xfs", &random_read(), 1, 1000.0);
    trial.system.windows = 6;
    trial.system.window_seconds = 3.0;
    trial.system.device.reads = 3 * reads;
    trial.system.device.read_bytes = 3 * read_bytes;
    trial.system.device.writes = 3 * writes;
    trial.system.device.write_bytes = 3 * write_bytes;
    trial
}

#[test]
fn a_trial_is_void_where_its_device_did_more_than_the_limits_and_their_bursts() {
    let held = |trial: &Trial| broken(trial, &random_read(), &disk());
    let mib = 1 << 20;
    assert_eq!(held(&counted(8050, 151 * mib, 8050, 151 * mib)), None);
    // 2 % and, over six windows, 2.45 bursts of 0.1 s: 3.30 s' worth in 3 s.
    assert_eq!(held(&counted(8860, 0, 0, 0)), None);
    for (trial, says) in [
        (counted(8900, 0, 0, 0), "the device did 8.9k reads/s"),
        (counted(0, 170 * mib, 0, 0), "the device did 178 MB/s read"),
        (counted(0, 0, 14_000, 0), "the device did 14k writes/s"),
        (counted(0, 0, 0, 300 * mib), "the device did 315 MB/s written"),
    ] {
        let why = held(&trial).unwrap_or_else(|| panic!("{says}: it held"));
        assert!(why.starts_with("the throttle did not hold: ") && why.contains(says), "{why}");
        assert!(why.contains("3.00 s"), "{why}");
    }
    // Over a hundred windows 4 % more pass, not a burst in each.
    let mut many = counted(0, 0, 0, 0);
    (many.system.windows, many.system.window_seconds) = (100, 50.0);
    many.system.device.reads = 50 * 8050 * 103 / 100;
    assert_eq!(held(&many), None);
    many.system.device.reads = 50 * 8050 * 105 / 100;
    assert!(held(&many).is_some());
    let one: Throttle = "read=100MiB/s".parse().unwrap();
    assert_eq!(broken(&counted(90_000, 0, 90_000, 900 * mib), &random_read(), &one), None, "only reads are limited");
}

#[test]
fn a_group_with_windows_of_its_own_is_checked_by_itself() {
    let workload = small_files();
    let mut trial = counted(0, 0, 0, 0);
    trial.groups = common::trial("xfs", &workload, 1, 1000.0).groups;
    let window = |writes: u64| SystemUse {
        windows: 1,
        window_seconds: 1.0,
        device: model::trial::DeviceUse { writes, ..Default::default() },
        ..Default::default()
    };
    for group in &mut trial.groups {
        group.system = Some(window(0));
    }
    assert_eq!(broken(&trial, &workload, &disk()), None);
    // Two bursts from idle are tolerated, as the other groups' idle seconds are no excuse.
    trial.groups[0].system = Some(window(9_800));
    assert_eq!(broken(&trial, &workload, &disk()), None);
    trial.groups[0].system = Some(window(9_900));
    assert!(broken(&trial, &workload, &disk()).unwrap().contains("9.9k writes/s in windows of 1.00 s"));
}

#[test]
fn the_limit_is_the_ceiling_where_it_is_tighter_than_the_probes() {
    let mut held = race(&random_read(), [8000.0, 8050.0], |_| {});
    held.probes.push(probe("random-read", Profile::RandRead, 1, 88_000.0));
    let (what, why) = limit(&held, "read");
    assert_eq!(what, Limit::Device);
    assert!(
        why.starts_with("every lane runs at 99 to 100 % of the emulated disk's 151MiB/s,8050iops: this test cannot"),
        "{why}"
    );
    assert_eq!(judge::judge_workload(&held, "random-read")[0].pairs[0].verdict, Verdict::Tie);
    // Far below it the disk itself may be the ceiling.
    let mut slow = race(&random_read(), [4000.0, 4000.0], |trial| trial.system.device.queue_seconds = 90.0);
    slow.probes.push(probe("random-read", Profile::RandRead, 1, 4050.0));
    assert_eq!(limit(&slow, "read").0, Limit::Device);
    slow.probes.clear();
    let (what, why) = limit(&slow, "read");
    assert_eq!(what, Limit::Unattributed);
    assert!(why.contains("used to 50 % of the throttle's 151MiB/s,8050iops"), "{why}");
}

#[test]
fn requests_that_a_filesystem_splits_are_no_fuller_disk() {
    let mut workload = io("read", Pattern::Read, 16, 0);
    if let model::workload::Kind::Io(io) = &mut workload.kind {
        io.bs = model::Bytes(1 << 20);
    }
    // 150 MiB/s in halves of 1 MiB, where the probe read whole ones.
    let mut race = race(&workload, [150.0, 150.0], |trial| {
        trial.system.device.reads = 3 * 300;
        trial.system.device.read_bytes = (3 * 150) << 20;
    });
    race.probes.push(probe("read", Profile::SeqRead, 1, 150.0));
    race.probes[0].system.device.read_bytes = 151 << 20;
    let of = limit_of(&race, &workload, "read");
    assert_eq!(of.limit, Limit::Device);
    assert!((of.device_use[0].unwrap() - 150.0 / 151.0).abs() < 1e-6, "{:?}", of.device_use);
}

#[test]
fn a_mixture_has_a_ceiling_on_an_emulated_disk() {
    let mixed = io("mixed", Pattern::RandRw, 32, 0);
    let shape = |trial: &mut Trial| {
        trial.system.device.reads = 3 * 8050;
        trial.system.device.read_bytes = 3 * 8050 * 4096;
        trial.system.device.writes = 3 * 3450;
        trial.system.device.write_bytes = 3 * 3450 * 4096;
        for group in &mut trial.groups {
            group.bytes = if group.name == "read" { 3 * 8050 * 4096 } else { 3 * 3450 * 4096 };
        }
    };
    let alike = race(&mixed, [8050.0, 8050.0], shape);
    for group in ["read", "write"] {
        assert_eq!(limit(&alike, group).0, Limit::Device, "{group}");
    }
    // Extra writes of a lane hold its reads up too.
    let apart = race(&mixed, [8050.0, 8050.0], |trial| {
        shape(trial);
        if trial.lane == "xfs" {
            trial.system.device.write_bytes *= 2;
        }
    });
    for group in ["read", "write"] {
        assert_eq!(limit(&apart, group).0, Limit::WriteAmplification, "{group}");
    }
    let mut free = alike;
    free.header.plan.throttle = None;
    assert_eq!(limit(&free, "read").0, Limit::Unattributed, "a bare disk's ceilings are each of one kind");
}

#[test]
fn a_cap_of_ones_own_is_no_quota() {
    let quota = |throttle: Option<Throttle>| {
        let mut race = race(&random_read(), [1000.0, 1000.0], |_| {});
        race.header.plan.throttle = throttle;
        for profile in [Profile::RandRead, Profile::RandWrite] {
            for round in [1, 3, 5] {
                race.probes.push(probe("random-read", profile, round, 8050.0));
            }
        }
        judge::findings(&race).warnings.iter().any(|warning| warning.contains("quota"))
    };
    assert!(quota(None));
    assert!(!quota(Some(disk())));
}

fn void(trial: &mut Trial) {
    trial.outcome = Outcome::Void;
    trial.reason = Some("the throttle did not hold: the device did 14k writes/s".into());
}

#[test]
fn void_trials_are_counted_and_in_no_figure() {
    let race = race(&random_read(), [8000.0, 8000.0], |trial| {
        if trial.lane == "xfs" && trial.round == 2 {
            void(trial);
            trial.groups[0].metrics.insert("operations_per_second".into(), 14_000.0);
        }
    });
    let findings = judge::findings(&race);
    let result = &findings.results[0];
    assert_eq!((result.estimates[1].rounds, result.rounds), (5, 5));
    assert!((result.estimates[1].mean - 8000.0).abs() < 1e-6);
    assert_eq!((findings.trials.ok, findings.trials.void, findings.trials.failed), (11, 1, 0));
    assert_eq!(findings.throttle, Some(disk()));
    assert!(
        result.warnings.iter().any(|warning| warning.starts_with("xfs: 1 of 6 trials are void: the throttle did not")),
        "{:?}",
        result.warnings
    );
}

#[test]
fn a_lane_that_the_throttle_never_held_has_no_figure_and_is_not_called_unable() {
    let workloads = vec![random_read(), io("other", Pattern::Write, 1, 0)];
    let mut race = record(vec![lane("ext4"), lane("xfs")], workloads, Rounds::Auto, true);
    race.header.plan.throttle = Some(disk());
    run(&mut race, 6, &[1000.0, 1000.0], 0.005, 8);
    race.trials.iter_mut().filter(|trial| trial.lane == "xfs" && trial.workload == "random-read").for_each(void);
    let findings = judge::findings(&race);
    let xfs = &findings.results[0].estimates[1];
    assert!(xfs.failure.as_ref().unwrap().starts_with("the throttle did not hold"), "{xfs:?}");
    assert_eq!(findings.results[0].pairs[0].verdict, Verdict::None);
    assert_eq!(findings.answer.unwrap().choose, ["ext4", "xfs"]);
}

#[test]
fn steps_that_a_burst_carries_are_said_to_be_hardly_held() {
    let workload = operations(vec![
        step("files", "create", Operation::Create, 100),
        step("files", "read", Operation::Read, 100),
        step("files", "stat", Operation::Stat, 100),
    ]);
    let findings = |throttle: Option<Throttle>| -> Findings {
        let mut race = record(vec![lane("ext4"), lane("xfs")], vec![workload.clone()], Rounds::Auto, true);
        race.header.plan.throttle = throttle;
        for round in 1..=6 {
            for name in ["ext4", "xfs"] {
                let mut trial = operations_trial(name, &workload, round, &[2.0, 0.04, 0.3]);
                for group in &mut trial.groups {
                    group.system.as_mut().unwrap().windows = 1;
                }
                race.trials.push(trial);
            }
        }
        judge::findings(&race)
    };
    let held = findings(Some(disk()));
    let use_of = |step: usize| held.results[step].estimates[0].device_use;
    assert!(use_of(0).is_some() && use_of(1).is_none(), "a burst says nothing about the limit");
    let said = held.operations[0].warnings.join("\n");
    assert!(
        said.contains(
            "read and stat: under 0.5 s long, and the throttle lets through at once what the disk does in 0.2 s"
        ),
        "{said}"
    );
    assert!(!findings(None).operations[0].warnings.join("\n").contains("throttle"));
}

/// Two lanes, ext4 on a disk of 5000 requests a second and xfs on one of 4500.
fn on_own_disks(workload: &Workload, rates: [f64; 2], change: impl Fn(&mut Trial)) -> Record {
    let mut race = race(workload, rates, change);
    race.header.plan.throttle = None;
    race.header.plan.lane_throttles = own_disks(&[("ext4", "5000iops"), ("xfs", "4500iops")]);
    race
}

fn own_disks(disks: &[(&str, &str)]) -> BTreeMap<String, Throttle> {
    disks.iter().map(|(lane, limits)| ((*lane).to_owned(), limits.parse().unwrap())).collect()
}

#[test]
fn lanes_that_fill_disks_of_their_own_get_a_verdict_and_the_disks_are_named() {
    let mut race = on_own_disks(&random_read(), [4950.0, 4480.0], |_| {});
    let (what, why) = limit(&race, "read");
    assert_eq!(what, Limit::OwnDisk);
    assert_eq!(
        why,
        "each lane runs at 99 to 100 % of its own emulated disk (ext4 5000iops, xfs 4500iops): the difference is the \
         disks'"
    );
    // The note of the plan stands in the header, and is said once.
    let told = "the lanes stand on different disks while they are measured: ext4 5000iops, xfs 4500iops; a difference \
                may be the disk's";
    race.header.warnings = vec!["a virtual machine".to_owned(), told.to_owned()];
    let findings = judge::findings(&race);
    let pair = &findings.results[0].pairs[0];
    assert_eq!((pair.a.as_str(), pair.verdict), ("xfs", Verdict::Slower));
    assert!((pair.ratio.unwrap() - 4480.0 / 4950.0).abs() < 1e-6, "{pair:?}");
    assert_eq!(findings.warnings, [told, "a virtual machine"]);
    assert_eq!((findings.throttle, findings.lane_throttles), (None, race.header.plan.lane_throttles.clone()));
    let answer = findings.answer.unwrap();
    assert!(answer.different_disks && answer.cannot_tell.is_empty(), "{answer:?}");
    assert_eq!(answer.choose, ["ext4"]);
    // On one disk it would be no verdict.
    race.header.plan.lane_throttles = own_disks(&[("ext4", "5000iops"), ("xfs", "5000iops")]);
    let alike = judge::findings(&race);
    assert!(!alike.answer.unwrap().different_disks);
    race.header.warnings.clear();
    assert_eq!(judge::findings(&race).warnings, Vec::<model::Sentence>::new());
}

#[test]
fn a_lane_below_its_own_disk_has_a_cause_of_its_own() {
    let slow = on_own_disks(&random_read(), [3000.0, 4480.0], |trial| trial.system.device.queue_seconds = 90.0);
    let (what, why) = limit(&slow, "read");
    assert_eq!(what, Limit::Unattributed);
    assert!(why.contains("used to 60 to 100 % of each lane's own disk (ext4 5000iops, xfs 4500iops)"), "{why}");
    let idle = on_own_disks(&random_read(), [3000.0, 4480.0], |_| {});
    assert_eq!(limit(&idle, "read").0, Limit::FilesystemSerialised);
}

#[test]
fn a_lane_without_limits_fills_the_bare_disk() {
    let mut race = on_own_disks(&random_read(), [8000.0, 4480.0], |_| {});
    race.header.plan.lane_throttles.remove("ext4");
    race.probes.push(probe("random-read", Profile::RandRead, 1, 8050.0));
    let (what, why) = limit(&race, "read");
    assert_eq!(what, Limit::OwnDisk);
    assert!(why.contains("of its own disk (ext4 the bare device's 8"), "{why}");
    assert!(judge::findings(&race).warnings[0].contains("ext4 not limited, xfs 4500iops"));
    // Where nothing is known of the bare disk, nobody filled it.
    race.probes.clear();
    assert_eq!(limit(&race, "read").0, Limit::Unattributed);
}

#[test]
fn ceilings_under_the_throttle_of_all_lanes_are_none_for_a_lane_with_its_own() {
    let mut race = on_own_disks(&random_read(), [2500.0, 1990.0], |_| {});
    race.header.plan.throttle = Some("2000iops".parse().unwrap());
    race.header.plan.lane_throttles.remove("xfs");
    race.probes.push(probe("random-read", Profile::RandRead, 1, 2000.0));
    let of = limit_of(&race, &random_read(), "read");
    assert_eq!(of.limit, Limit::Unattributed, "{}", of.reason);
    assert!((of.device_use[0].unwrap() - 0.5).abs() < 1e-6, "{:?}", of.device_use);
    assert!((of.device_use[1].unwrap() - 0.995).abs() < 1e-6, "{:?}", of.device_use);
    let flagged = |race: &Record| {
        let result = judge::judge_workload(race, "random-read").remove(0);
        result.warnings.iter().any(|warning| warning.contains("is more than the bare disk's"))
    };
    assert!(!flagged(&race), "the ceiling is another disk's");
    race.header.plan.lane_throttles.clear();
    assert!(flagged(&race));
}

#[test]
fn what_a_flush_costs_on_a_disk_of_its_own_is_not_known() {
    let commit = io("commit", Pattern::Write, 1, 1);
    let mut race = on_own_disks(&commit, [1000.0, 900.0], |trial| {
        trial.system.device.flushes = 3000;
        trial.system.device.flush_seconds = 2.1;
    });
    race.probes.push(probe("commit", Profile::Flush, 1, 1100.0));
    let of = limit_of(&race, &commit, "write");
    assert_eq!((of.limit, of.device_use), (Limit::Flush, vec![None, None]));
    assert!(of.reason.starts_with("every lane spends 70 % of the time in flushes"), "{}", of.reason);
    race.header.plan.lane_throttles.clear();
    assert!(limit_of(&race, &commit, "write").reason.contains("of the flushes that the bare device makes"));
}

/// Three lanes, two of which stand on disks alike.
fn two_of_three_alike(workload: &Workload, change: impl Fn(&mut Trial)) -> Record {
    let lanes = vec![lane("ext4"), lane("xfs"), lane("btrfs")];
    let mut race = record(lanes, vec![workload.clone()], Rounds::Auto, true);
    race.header.plan.lane_throttles = own_disks(&[("ext4", "5000iops"), ("xfs", "5000iops"), ("btrfs", "4500iops")]);
    race.header.plan.margin = 0.01;
    run(&mut race, 6, &[4990.0, 4800.0, 4480.0], 0.0, 1);
    race.trials.iter_mut().for_each(change);
    race
}

#[test]
fn of_lanes_on_disks_alike_the_disk_was_measured_whatever_another_lane_stands_on() {
    let verdicts = |race: &Record| {
        let result = judge::judge_workload(race, &race.header.plan.workloads[0].name).remove(0);
        assert_eq!(result.limit, Limit::OwnDisk, "{}", result.limit_reason);
        result.pairs
    };
    let pairs = verdicts(&two_of_three_alike(&random_read(), |_| {}));
    let of = |a: &str, b: &str| pairs.iter().find(|pair| pair.a == a && pair.b == b).unwrap();
    assert_eq!(of("xfs", "ext4").verdict, Verdict::None);
    assert_eq!(of("xfs", "ext4").why.as_deref(), Some("the device was measured, not the filesystem"));
    assert_eq!((of("btrfs", "ext4").verdict, of("btrfs", "xfs").verdict), (Verdict::Slower, Verdict::Slower));
    // What a lane writes beyond the application's bytes is its own, on whichever disk.
    let write = io("write", Pattern::RandWrite, 32, 0);
    let race = two_of_three_alike(&write, |trial| {
        if trial.lane == "xfs" {
            trial.system.device.write_bytes *= 2;
        }
    });
    let (_, why) = limit(&race, "write");
    assert!(
        why.contains("and of what the lanes write to them per byte of the application (ext4 1.00, xfs 2.00"),
        "{why}"
    );
    let pairs = verdicts(&race);
    let between = pairs.iter().find(|pair| pair.a == "xfs" && pair.b == "ext4").unwrap();
    assert_eq!(between.verdict, Verdict::Slower);
}

#[test]
fn the_twin_of_the_first_lane_has_the_first_lanes_disk() {
    let twin = model::lane::Lane { is_self: true, ..lane("ext4~self") };
    let mut race = record(vec![lane("ext4"), lane("xfs"), twin], vec![random_read()], Rounds::Auto, true);
    race.header.plan.throttle = Some(disk());
    race.header.plan.lane_throttles = own_disks(&[("ext4", "5000iops")]);
    let plan = &race.header.plan;
    let own = "5000iops".parse().ok();
    assert_eq!((plan.throttle_of("ext4"), plan.throttle_of("ext4~self")), (own, own));
    assert_eq!(plan.throttle_of("xfs"), Some(disk()));
    race.header.plan.with_self = false;
    assert_eq!(race.header.plan.throttle_of("ext4~self"), Some(disk()), "a lane that is called so by chance");
}

/// Two mirrored or striped disks that are both full show the layout, and neither is "the device".
#[test]
fn lanes_on_several_held_disks_keep_their_verdict_and_each_disk_is_checked() {
    let two_disks = |trial: &mut Trial| {
        if trial.lane == "xfs" {
            let mut half = trial.system.device;
            half.reads /= 2;
            half.read_bytes /= 2;
            trial.system.disks = vec![half; 2];
        }
    };
    let mut striped = race(&random_read(), [8000.0, 15_900.0], two_disks);
    striped.header.lanes[1].disks = 2;
    let (what, why) = limit(&striped, "read");
    assert_eq!(what, Limit::OwnDisk, "{why}");
    assert!(why.contains("(ext4 151MiB/s,8050iops, xfs 2 disks of 151MiB/s,8050iops each)"), "{why}");
    let pair = &judge::findings(&striped).results[0].pairs[0];
    assert_eq!((pair.a.as_str(), pair.verdict), ("xfs", Verdict::Faster), "{pair:?}");

    // A mirror that is read by one process gives what one disk gives: then that was measured.
    let mut mirror = race(&random_read(), [8000.0, 8010.0], |trial| {
        trial.system.disks = vec![trial.system.device, model::trial::DeviceUse::default()];
    });
    mirror.header.lanes[1].disks = 2;
    let (what, why) = limit(&mirror, "read");
    assert_eq!(what, Limit::Device, "{why}");
    // So it was of two lanes on equally many disks that got as much of them.
    mirror = race(&random_read(), [15_900.0, 15_900.0], |trial| {
        let mut half = trial.system.device;
        half.reads /= 2;
        half.read_bytes /= 2;
        trial.system.disks = vec![half; 2];
    });
    mirror.header.lanes.iter_mut().for_each(|lane| lane.disks = 2);
    let (what, why) = limit(&mirror, "read");
    assert_eq!(what, Limit::Device, "{why}");

    // Together more than one disk may do, and each within its own limits: the sum says nothing of it.
    let mut trial = counted(14_000, 0, 0, 0);
    assert!(broken(&trial, &random_read(), &disk()).is_some());
    let half = model::trial::DeviceUse { reads: 3 * 7000, ..Default::default() };
    trial.system.disks = vec![half; 2];
    assert_eq!(broken(&trial, &random_read(), &disk()), None);
    trial.system.disks[1].reads = 3 * 14_000;
    let said = broken(&trial, &random_read(), &disk()).unwrap();
    assert!(said.contains("one of the disks did 14k reads/s"), "{said}");
}
