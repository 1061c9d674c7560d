//! Lanes in guests: what two kernels, two guests and two venues mean for comparisons.

use crate::boots;
use crate::common;

use boots::{boots, judge, judged};
use common::{io, lane, record, run};
use model::findings::{Limit, Verdict};
use model::lane::Lane;
use model::plan::Rounds;
use model::record::{Profile, Record};
use model::trial::Outcome;
use model::workload::Pattern;
use stats::compare::compare;
use stats::judge::judge_workload;
use stats::trend::{figures, trend};

/// Moves a lane into a QEMU guest.
fn move_to_qemu(lane: &mut Lane, kernel: &str, memory: &str) {
    lane.venue = "qemu".into();
    lane.kernel = kernel.into();
    lane.geometry = vec![format!("guest: QEMU with Linux {kernel}, 2 CPUs, {memory}, KVM")];
}

fn in_qemu(record: &mut Record, kernel: &str, memory: &str) {
    record.header.lanes.iter_mut().for_each(|lane| move_to_qemu(lane, kernel, memory));
}

fn race(lanes: Vec<Lane>, rates: [f64; 2]) -> Record {
    let mut race = record(lanes, vec![io("w", Pattern::RandWrite, 1, 0)], Rounds::Fixed(6), true);
    run(&mut race, 6, &rates, 0.01, 1);
    race
}

#[test]
fn the_gate_names_the_kernels_of_guests_as_what_changed() {
    let mut sides = boots(4, [0.8, 1.0]);
    for (side, kernel) in sides.iter_mut().zip(["6.1", "6.12"]) {
        for record in side {
            record.header.machine.kernel = "6.18-host".into();
            in_qemu(record, kernel, "512MiB");
        }
    }
    let of = judged(&sides);
    assert_eq!(of.changes, ["kernel of ext4's guest: 6.1 -> 6.12", "kernel of xfs's guest: 6.1 -> 6.12"]);
    assert!(of.warnings.is_empty(), "{:?}", of.warnings);
    assert_eq!((of.baseline.kernels, of.candidate.kernels), (vec!["6.1".to_owned()], vec!["6.12".to_owned()]));
    in_qemu(&mut sides[1][1], "6.12", "1GiB");
    let said = judge(&sides, None).expect_err("two machines");
    assert!(said.contains("other guests") && said.contains("--guest-memory"), "{said}");
}

#[test]
fn two_records_of_guests_are_compared_where_the_guests_are_alike() {
    let before = {
        let mut race = race(vec![lane("ext4"), lane("xfs")], [1000.0; 2]);
        in_qemu(&mut race, "6.1", "512MiB");
        race
    };
    let mut after = race(vec![lane("ext4"), lane("xfs")], [1000.0, 700.0]);
    in_qemu(&mut after, "6.12", "512MiB");
    let of = compare(&before, &after, "old", "new");
    assert_eq!(of.rows.iter().map(|row| row.verdict).collect::<Vec<_>>(), [Verdict::Tie, Verdict::Slower]);
    assert!(of.warnings.contains(&"ext4: different kernels, Linux 6.1 and Linux 6.12".to_owned()), "{:?}", of.warnings);
    in_qemu(&mut after, "6.12", "1GiB");
    let of = compare(&before, &after, "old", "new");
    for row in &of.rows {
        let why = row.why.as_deref().unwrap_or_default();
        assert!(row.verdict == Verdict::None && why.starts_with("different guests"), "{row:?}");
    }
}

#[test]
fn a_trend_goes_on_over_kernels_of_guests_and_not_over_other_guests() {
    let of = |started: &str, kernel: &str, memory: &str| {
        let mut race = race(vec![lane("ext4"), lane("xfs")], [1000.0; 2]);
        race.header.started = started.into();
        in_qemu(&mut race, kernel, memory);
        race
    };
    let races = [
        figures(&of("2026-01-01T00:00:00Z", "6.1", "1GiB"), "other"),
        figures(&of("2026-02-01T00:00:00Z", "6.1", "512MiB"), "old"),
        figures(&of("2026-03-01T00:00:00Z", "6.12", "512MiB"), "new"),
    ];
    let group = judge_workload(&of("2026-01-01T00:00:00Z", "6.1", "1GiB"), "w")[0].group.clone();
    let trend = trend(&races, "w", &group, &["ext4".to_owned()]).unwrap();
    let points: Vec<_> = trend.points.iter().map(|point| (point.record.as_str(), point.kernel.as_str())).collect();
    assert_eq!(points, [("old", "6.1"), ("new", "6.12")]);
    assert!(trend.left_out.len() == 1 && trend.left_out[0].contains("other CPUs or other memory"), "{trend:?}");
}

#[test]
fn one_filesystem_on_two_kernels_gets_a_verdict_that_names_them() {
    let mut lanes = vec![lane("old"), lane("new")];
    for (lane, kernel) in lanes.iter_mut().zip(["6.1", "6.12"]) {
        lane.filesystem = "ext4".into();
        lane.mkfs_command = vec!["mkfs.ext4".into()];
        move_to_qemu(lane, kernel, "512MiB");
    }
    let result = &judge_workload(&race(lanes, [1000.0, 700.0]), "w")[0];
    let pair = &result.pairs[0];
    assert!(matches!(pair.verdict, Verdict::Faster | Verdict::Slower), "{pair:?}");
    let why = pair.why.as_deref().unwrap_or_default();
    assert!(why.contains("6.1") && why.contains("6.12"), "{pair:?}");
    // On other layers something else differs than the kernel.
    let mut lanes = vec![lane("old"), lane("new")];
    for (lane, kernel) in lanes.iter_mut().zip(["6.1", "6.12"]) {
        (lane.filesystem, lane.mkfs_command) = ("ext4".into(), vec!["mkfs.ext4".into()]);
        move_to_qemu(lane, kernel, "512MiB");
    }
    (lanes[1].layers, lanes[1].disks) = (vec!["raid1:2".to_owned()], 2);
    assert_eq!(judge_workload(&race(lanes, [1000.0, 700.0]), "w")[0].pairs[0].verdict, Verdict::None);
}

#[test]
fn what_one_bare_disk_does_is_no_ceiling_of_several() {
    let device_use = |disks: u32| {
        let mut lanes = vec![lane("ext4"), lane("xfs")];
        lanes[1].disks = disks;
        let mut race = race(lanes, [1000.0; 2]);
        race.probes = vec![common::probe("w", Profile::RandRead, 1, 1000.0)];
        let result = judge_workload(&race, "w").remove(0);
        result.estimates.iter().map(|of| of.device_use.is_some()).collect::<Vec<_>>()
    };
    assert_eq!(device_use(1), [true, true]);
    assert_eq!(device_use(2), [true, false]);
}

#[test]
fn a_ceiling_of_one_place_limits_nothing_in_another() {
    let ceiling = |lanes: Vec<Lane>| {
        let mut race = race(lanes, [1000.0; 2]);
        race.probes = vec![common::probe("w", Profile::Null, 1, 1000.0)];
        judge_workload(&race, "w")[0].limit
    };
    assert_eq!(ceiling(vec![lane("ext4"), lane("xfs")]), Limit::Harness);
    let mut lanes = vec![lane("ext4"), lane("xfs")];
    move_to_qemu(&mut lanes[1], "6.1", "512MiB");
    assert_ne!(ceiling(lanes), Limit::Harness);
}

#[test]
fn a_race_in_several_places_tells_no_ceilings() {
    let ceilings = |lanes: Vec<Lane>| {
        let mut race = race(lanes, [1000.0; 2]);
        race.probes = vec![common::probe("w", Profile::Flush, 1, 1000.0)];
        stats::judge::ceilings(&race).len()
    };
    assert_eq!(ceilings(vec![lane("ext4"), lane("xfs")]), 1);
    let mut lanes = vec![lane("ext4"), lane("xfs")];
    move_to_qemu(&mut lanes[1], "6.1", "512MiB");
    assert_eq!(ceilings(lanes), 0);
}

#[test]
fn after_a_guest_was_killed_the_race_itself_is_what_comes_next() {
    let next = |reason: &str| {
        let mut race = race(vec![lane("ext4"), lane("xfs")], [1000.0, 500.0]);
        let failed = race.trials.iter_mut().find(|trial| trial.lane == "xfs").expect("a trial");
        (failed.outcome, failed.reason) = (Outcome::Failed, Some(reason.into()));
        failed.groups.clear();
        stats::judge::findings(&race).answer.expect("an answer").next
    };
    assert_eq!(next("the kernel said I/O error")[0], "report");
    let again = next("the uml guest died: exit status: 137; killed from outside; its kernel said nothing of it");
    assert_eq!(again[..3], ["race", "ext4", "xfs"]);
}

#[test]
fn operations_that_io_uring_gave_back_are_no_measure_beyond_one_percent() {
    let limit = |again: u32| {
        let mut race = race(vec![lane("ext4"), lane("jfs")], [1000.0, 700.0]);
        for trial in race.trials.iter_mut().filter(|trial| trial.lane == "jfs") {
            trial.flags.push(format!("io_uring-again: {again} of 1000").into());
        }
        let result = judge_workload(&race, "w").remove(0);
        (result.limit, result.limit_reason, result.pairs[0].verdict)
    };
    let (limit_of_few, _, verdict) = limit(9);
    assert!(limit_of_few != Limit::Harness && verdict != Verdict::None, "{verdict:?}");
    let (limit_of_many, reason, verdict) = limit(11);
    assert_eq!((limit_of_many, verdict), (Limit::Harness, Verdict::None));
    assert!(reason.contains("jfs") && reason.contains("io_uring"), "{reason}");
}

#[test]
fn flush_bound_work_of_every_kind_is_called_not_durable_where_no_flush_reaches_a_disk() {
    let said = |stops: bool| {
        let mut lanes = vec![lane("ext4"), lane("xfs")];
        for lane in &mut lanes {
            (lane.venue, lane.kernel, lane.flushes_stop_short) = ("uml".into(), "6.1".into(), stops);
        }
        let mut race = race(lanes, [1000.0, 700.0]);
        let small = model::workload::SmallFiles {
            files: 10,
            size: model::Bytes(4096),
            directories: 1,
            sharing: Default::default(),
        };
        for workload in &mut race.header.plan.workloads {
            workload.kind = model::workload::Kind::SmallFiles(small.clone());
        }
        for group in race.trials.iter_mut().flat_map(|trial| &mut trial.groups) {
            group.name = "create".into();
        }
        judge_workload(&race, "w")[0].warnings.iter().any(|said| said.starts_with("not durable"))
    };
    assert!(said(true) && !said(false));
}
