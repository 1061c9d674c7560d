//! Two records side by side.

use crate::common;

use common::{io, lane, operations, record, run, step};
use model::findings::{Comparison, Verdict};
use model::lane::ServerAnswers;
use model::machine::Device;
use model::operations::Operation;
use model::plan::Rounds;
use model::record::{EndOutcome, Record};
use model::workload::{Kind, Pattern};
use stats::compare::compare;

fn race(rates: [f64; 2], deviation: f64, rounds: u32, seed: u64) -> Record {
    let workloads = vec![io("w", Pattern::RandWrite, 1, 0)];
    let mut race = record(vec![lane("ext4"), lane("xfs")], workloads, Rounds::Auto, true);
    run(&mut race, rounds, &rates, deviation, seed);
    race
}

fn against(a: &Record, b: &Record) -> Comparison {
    compare(a, b, "old", "new")
}

#[test]
fn a_lane_that_changed_is_told_from_one_that_did_not() {
    let of = against(&race([1000.0, 1000.0], 0.01, 6, 1), &race([1000.0, 700.0], 0.01, 8, 2));
    assert_eq!(of.rows.len(), 2);
    assert_eq!(of.rows.iter().map(|row| row.verdict).collect::<Vec<_>>(), [Verdict::Tie, Verdict::Slower]);
    let row = &of.rows[1];
    assert!((row.ratio - 0.7).abs() < 0.02 && row.low.unwrap() < row.ratio && row.ratio < row.high.unwrap());
    assert!((row.ratio - row.b / row.a).abs() < 1e-9);
    assert!(row.why.as_ref().unwrap().contains("one after the other"));
    assert!(of.warnings.is_empty(), "{:?}", of.warnings);
}

#[test]
fn two_boots_are_told_from_one_and_another_machine_is_named() {
    let (before, mut after) = (race([1000.0; 2], 0.01, 6, 1), race([1000.0; 2], 0.01, 6, 2));
    let why = |after: &Record| against(&before, after).rows[0].why.clone().unwrap();
    assert!(why(&after).starts_with("these two races ran one after the other, not side by side: "), "{}", why(&after));
    after.header.boot_id = "another".into();
    assert!(why(&after).starts_with("these two races ran on two boots"), "{}", why(&after));
    after.header.boot_id.clear();
    assert!(why(&after).starts_with("these two races ran one after the other, not side by side: "), "{}", why(&after));
    after.header.machine.machine_id_hash = "ff".into();
    let warnings = against(&before, &after).warnings.join("\n");
    assert!(warnings.contains("different machines"), "{warnings}");
}

#[test]
fn a_disk_behind_the_first_that_was_changed_is_another_machine() {
    let disk =
        |model: &str| Device { name: "sdc".into(), model: model.into(), size_bytes: 1 << 40, ..Device::default() };
    let (mut before, mut after) = (race([1000.0; 2], 0.01, 6, 1), race([1000.0; 2], 0.01, 6, 2));
    before.header.machine.further_disks = vec![disk("ACME 1")];
    after.header.machine.further_disks = vec![disk("ACME 1")];
    assert!(against(&before, &after).warnings.is_empty());
    assert_eq!(before.header.machine.differs_from(&after.header.machine), None);
    after.header.machine.further_disks = vec![disk("ACME 2")];
    let warnings = against(&before, &after).warnings.join("\n");
    assert!(warnings.contains("different further disks") && warnings.contains("ACME 2"), "{warnings}");
    let differs = before.header.machine.differs_from(&after.header.machine).unwrap();
    assert!(differs.contains("another further disk") && differs.contains("ACME 1"), "{differs}");
}

#[test]
fn settings_of_the_kernel_that_both_records_tell_are_told_where_they_differ() {
    let (mut before, mut after) = (race([1000.0; 2], 0.01, 6, 1), race([1000.0; 2], 0.01, 6, 2));
    for machine in [&mut before.header.machine, &mut after.header.machine] {
        (machine.dirty_ratio, machine.swappiness, machine.dirty_bytes) = (20, Some(60), Some(0));
    }
    let warnings = |after: &Record| against(&before, after).warnings;
    assert_eq!(warnings(&after), Vec::<String>::new());
    (after.header.machine.dirty_ratio, after.header.machine.dirty_bytes) = (0, Some(1 << 28));
    after.header.machine.dirty_expire_centisecs = 3000;
    assert_eq!(
        warnings(&after),
        [
            "different vm.dirty_ratio: 20 and 0",
            "different vm.dirty_expire_centisecs: 0 and 3000",
            "different vm.dirty_bytes: 0 and 268435456",
        ]
    );
    // A record of before it was kept, and figures of another tool.
    after.header.machine = before.header.machine.clone();
    after.header.machine.swappiness = None;
    assert_eq!(warnings(&after), Vec::<String>::new());
    (after.header.machine.dirty_ratio, after.header.machine.dirty_bytes) = (0, None);
    assert_eq!(warnings(&after), Vec::<String>::new());
}

#[test]
fn noise_or_one_round_leaves_it_undecided() {
    let noisy = against(&race([1000.0; 2], 0.2, 6, 3), &race([1000.0; 2], 0.2, 6, 4));
    assert_eq!(noisy.rows[0].verdict, Verdict::Undecided);
    let single = against(&race([1000.0; 2], 0.01, 6, 3), &race([2000.0; 2], 0.01, 1, 4));
    assert_eq!((single.rows[0].verdict, single.rows[0].low), (Verdict::Undecided, None));
    assert!(single.rows[0].why.as_ref().unwrap().starts_with("one round"));
}

#[test]
fn other_parameters_and_other_promises_void_the_verdict() {
    let before = race([1000.0; 2], 0.01, 6, 1);
    let mut after = race([3000.0; 2], 0.01, 6, 2);
    after.header.lanes[0].promises.barriers = false;
    let of = against(&before, &after);
    assert_eq!(of.rows[0].verdict, Verdict::None);
    assert!(of.rows[0].why.as_ref().unwrap().contains("write barriers"));
    assert!(of.warnings.iter().any(|warning| warning.contains("different promises")));
    assert_eq!(of.rows[1].verdict, Verdict::Faster);
    after.header.lanes[1].server_answers = Some(ServerAnswers::Async);
    let of = against(&before, &after);
    assert_eq!(of.rows[1].verdict, Verdict::None);
    assert!(of.rows[1].why.as_ref().unwrap().contains("said of its server: nothing, then async"));
    after.header.lanes[1].server_answers = None;
    after.header.plan.workloads[0] = io("w", Pattern::RandWrite, 2, 0);
    let of = against(&before, &after);
    assert!(of.rows.iter().all(|row| row.verdict == Verdict::None && row.low.is_some()));
}

#[test]
fn what_differs_between_the_races_is_named() {
    let before = race([1000.0; 2], 0.01, 6, 1);
    let mut after = race([1000.0; 2], 0.01, 6, 2);
    after.header.machine.kernel = "6.18".into();
    after.header.seed = 9;
    after.header.plan.lane_size = model::Bytes(1 << 30);
    after.header.lanes[0].mount_options.push("discard".into());
    after.header.lanes[1].name = "XFS".into();
    let warnings = against(&before, &after).warnings.join("\n");
    for part in ["kernels", "lane sizes: 2GiB and 1GiB", "mount options", "xfs is only in old", "XFS is only in new"] {
        assert!(warnings.contains(part), "{part} is missing in {warnings}");
    }
    assert!(!warnings.contains("seeds"), "two races always differ in them: {warnings}");
}

#[test]
fn one_burst_behind_the_rate_voids_nothing_and_most_trials_do() {
    let before = race([1000.0; 2], 0.01, 6, 1);
    let behind = |rounds: u32| {
        let mut after = race([3000.0; 2], 0.01, 6, 2);
        for trial in after.trials.iter_mut().filter(|trial| trial.round <= rounds) {
            trial.flags.push("cannot-sustain-rate: the backlog grew".into());
        }
        against(&before, &after).rows.remove(0)
    };
    assert_eq!((behind(1).verdict, behind(3).verdict), (Verdict::Faster, Verdict::Faster));
    assert_eq!(behind(4).verdict, Verdict::None);
    assert!(behind(4).why.unwrap().contains("ext4 cannot sustain the rate of the second record"));
}

#[test]
fn medians_of_passes_are_named_beside_what_rests_on_them() {
    let raced = |loops: u32, seed: u64| {
        let mut work = operations(vec![step("metadata", "stat 100", Operation::Stat, 100)]);
        let Kind::Operations(of) = &mut work.kind else { panic!("another kind") };
        of.loops = loops;
        let mut race = record(vec![lane("ext4")], vec![work], Rounds::Auto, true);
        run(&mut race, 6, &[1000.0], 0.01, seed);
        race
    };
    let why = |a: u32, b: u32| against(&raced(a, 1), &raced(b, 2)).rows.remove(0).why.unwrap();
    assert!(why(5, 5).ends_with("each round's figure is the median of 5 passes"), "{}", why(5, 5));
    assert!(!why(1, 1).contains("median"), "{}", why(1, 1));
    assert_eq!(why(1, 5), "different parameters of the workload: loops");
}

#[test]
fn an_emulated_disk_is_not_compared_with_another_or_with_a_real_one() {
    let before = race([1000.0; 2], 0.01, 6, 1);
    let mut after = race([3000.0; 2], 0.01, 6, 2);
    after.header.plan.throttle = Some("151MiB/s,8050iops".parse().unwrap());
    let of = against(&before, &after);
    for row in &of.rows {
        assert_eq!(row.verdict, Verdict::None);
        assert!(row.why.as_ref().unwrap().contains("different throttles: none and 151MiB/s,8050iops"), "{row:?}");
    }
    let mut same = before.clone();
    same.header.plan.throttle = after.header.plan.throttle;
    assert!(against(&same, &after).rows.iter().all(|row| row.verdict == Verdict::Faster));
    // What many ranks did together is no figure of one process.
    let mut of_job = same.clone();
    of_job.header.plan.ranks = Some(model::ranks::JobRanks { ranks: 8, nodes: 2, ..Default::default() });
    for row in &against(&of_job, &after).rows {
        assert_eq!(row.verdict, Verdict::None);
        assert!(row.why.as_ref().unwrap().contains("different ranks of MPI: 8 on 2 nodes and none"), "{row:?}");
    }
    // A lane with a disk of its own is one for itself.
    let lane = same.header.plan.lanes[1].name.clone();
    same.header.plan.lane_throttles = [(lane.clone(), "2000iops".parse().unwrap())].into();
    for row in &against(&same, &after).rows {
        if row.lane == lane {
            assert_eq!(row.verdict, Verdict::None);
            let why = row.why.as_ref().unwrap();
            assert!(why.contains("different throttles: 2000iops and 151MiB/s,8050iops"), "{why}");
        } else {
            assert_eq!(row.verdict, Verdict::Faster);
        }
    }
}

#[test]
fn rounds_in_which_a_lane_stood_still_count_and_leave_no_verdict() {
    let stands_still = |race: &mut Record, rounds: u32| {
        for trial in race.trials.iter_mut().filter(|trial| trial.lane == "xfs" && trial.round <= rounds) {
            for group in &mut trial.groups {
                group.metrics.insert("operations_per_second".into(), 0.0);
            }
        }
    };
    let before = race([1000.0; 2], 0.01, 8, 1);
    let mut after = race([1000.0, 1200.0], 0.01, 8, 2);
    stands_still(&mut after, 4);
    // Of its good rounds alone the lane would be faster by a fifth; of all of them it is far slower.
    for (first, second, which, ratio) in [(&before, &after, "second", 0.6), (&after, &before, "first", 1.0 / 0.6)] {
        let of = against(first, second);
        assert_eq!(of.rows[0].verdict, Verdict::Tie);
        let row = &of.rows[1];
        assert_eq!((row.lane.as_str(), row.verdict, row.low), ("xfs", Verdict::None, None));
        let why = row.why.as_deref().unwrap();
        assert!(why.starts_with(&format!("xfs stood still in 4 of 8 rounds of the {which} record")), "{why}");
        assert!((row.ratio / ratio - 1.0).abs() < 0.02 && (row.ratio - row.b / row.a).abs() < 1e-9, "{row:?}");
    }
    let figure = stats::judge::judge_workload(&after, "w")[0].estimates[1].mean;
    assert!((against(&before, &after).rows[1].b / figure - 1.0).abs() < 1e-12, "as in the record's own report");

    // Without one good round there is no ratio, and that is said.
    stands_still(&mut after, 8);
    let of = against(&before, &after);
    assert_eq!(of.rows.len(), 1);
    let said = "xfs stood still in 8 of 8 rounds of the second record";
    assert!(of.warnings.iter().any(|warning| warning.contains(said)), "{:?}", of.warnings);
}

#[test]
fn a_race_that_was_interrupted_before_its_look_decides_nothing() {
    let before = race([1000.0; 2], 0.01, 6, 1);
    let mut after = race([3000.0; 2], 0.01, 6, 2);
    assert_eq!(against(&before, &after).rows[0].verdict, Verdict::Faster);
    after.header.plan.rounds = Rounds::Fixed(20);
    after.end = Some(EndOutcome::Interrupted);
    let of = against(&before, &after).rows.remove(0);
    assert_eq!(of.verdict, Verdict::Undecided);
    assert!(of.low.is_some() && (of.ratio - 3.0).abs() < 0.1, "what it shows so far is told: {of:?}");
    assert_eq!(of.why.as_deref(), Some("6 of 20 rounds of the second record are done; go on with it (--resume)"));
    // Whichever side it is; a race whose budget was used up ended as planned.
    let turned = against(&after, &before).rows.remove(0);
    assert!(turned.why.as_deref().unwrap().starts_with("6 of 20 rounds of the first record"), "{turned:?}");
    after.end = Some(EndOutcome::Complete);
    assert_eq!(against(&before, &after).rows[0].verdict, Verdict::Faster);
    // Looks of a race that ends by itself are planned: rounds between them wait for the next.
    let mut adaptive = race([3000.0; 2], 0.01, 7, 2);
    adaptive.end = Some(EndOutcome::Interrupted);
    let at_six = {
        let mut at_six = adaptive.clone();
        at_six.trials.retain(|trial| trial.round <= 6);
        at_six
    };
    let [seven, six] = [adaptive.clone(), at_six].map(|race| against(&before, &race).rows.remove(0));
    assert_eq!((seven.b, seven.low, seven.verdict), (six.b, six.low, Verdict::Faster));
    adaptive.trials.retain(|trial| trial.round <= 5);
    let early = against(&before, &adaptive).rows.remove(0);
    assert_eq!(early.verdict, Verdict::Undecided);
    assert!(early.why.as_deref().unwrap().starts_with("5 rounds of the second record are done"), "{early:?}");
}

#[test]
fn writes_that_stay_in_memory_get_no_verdict() {
    let before = race([1000.0; 2], 0.01, 6, 1);
    let mut after = race([3000.0; 2], 0.01, 6, 2);
    after.trials.iter_mut().for_each(|trial| trial.system.device.write_bytes /= 20);
    for (a, b) in [(&before, &after), (&after, &before)] {
        let of = against(a, b).rows.remove(0);
        assert_eq!(of.verdict, Verdict::None);
        assert!(of.why.as_deref().unwrap().starts_with("bytes that did not pass the disk were measured"), "{of:?}");
    }
}

#[test]
fn other_material_of_programs_voids_the_verdict() {
    let made = |sum: f64, seed: u64| {
        let mut race = race([1000.0; 2], 0.01, 6, seed);
        for group in race.trials.iter_mut().flat_map(|trial| &mut trial.groups) {
            group.metrics.insert("material_crc32c".to_owned(), sum);
        }
        race
    };
    let before = made(f64::from(0xdead_beef_u32), 1);
    let other = against(&before, &made(7.0, 2)).rows.remove(0);
    assert_eq!(other.verdict, Verdict::None);
    let why = other.why.as_deref().unwrap();
    assert!(why.contains("different material") && why.contains("deadbeef and 00000007"), "{why}");
    assert_ne!(against(&before, &made(f64::from(0xdead_beef_u32), 2)).rows[0].verdict, Verdict::None);
}
