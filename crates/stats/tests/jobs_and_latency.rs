//! Job files, and latencies of open loops at a shared rate.

use crate::common;

use common::{io, lane, probe, record, run, trial};
use model::findings::{Limit, ResultFinding, Verdict};
use model::job::{FioJob, PerDirection, Rate};
use model::plan::Rounds;
use model::record::{Profile, Record, SharedRate};
use model::sentence::Weight;
use model::trial::Group;
use model::workload::{Direction, FioRun, Io, Job, Jobs, Kind, Pattern, Workload};
use model::{Bytes, Disturbance, Disturber};
use stats::judge::{findings, judge_workload};

fn job(name: &str, rw: Pattern) -> Job {
    Job {
        name: name.into(),
        stonewall: false,
        exitall: false,
        wait_for: None,
        options: Vec::new(),
        io: Io { rw, size: Bytes(1 << 20), ..Io::default() },
    }
}

fn job_file(jobs: Vec<Job>) -> Workload {
    let kind = Kind::Jobs(Box::new(Jobs { jobs, file: "mail.fio".into(), notes: Vec::new() }));
    Workload { name: "mail".into(), title: "mail.fio".into(), kind }
}

/// Six rounds of an open loop at 12,000 operations a second, in which each lane has its p99 in
/// microseconds.
fn open_loop(p99_us: &[(&str, f64)]) -> Record {
    let mut workload = io("latency", Pattern::RandRead, 32, 0);
    let Kind::Io(of) = &mut workload.kind else { unreachable!() };
    of.rate_of_slowest = Some(0.7);
    let lanes = p99_us.iter().map(|(name, _)| lane(name)).collect();
    let mut record = record(lanes, vec![workload.clone()], Rounds::Fixed(6), false);
    let maxima = p99_us.iter().map(|(name, _)| ((*name).to_owned(), 17_143.0)).collect();
    record.rates.push(SharedRate {
        workload: workload.name.clone(),
        share: 0.7,
        slowest: p99_us[0].0.to_owned(),
        maxima_operations_per_second: maxima,
        operations_per_second: 12_000.0,
        disturbed: None,
    });
    for round in 1..=6 {
        for (name, p99) in p99_us {
            let mut one = trial(name, &workload, round, 12_000.0);
            // A few permille of noise, the same rounds over.
            let p99 = p99 * 1e3 * (1.0 + 0.002 * f64::from(round % 3));
            one.groups[0].primary_metric = "latency_p99_ns".into();
            one.groups[0].metrics.insert("latency_p99_ns".into(), p99);
            record.trials.push(one);
        }
    }
    record
}

fn only(record: &Record) -> ResultFinding {
    let mut results = judge_workload(record, &record.header.plan.workloads[0].name);
    assert_eq!(results.len(), 1);
    results.remove(0)
}

#[test]
fn a_lower_latency_is_faster_and_its_ratio_is_above_one() {
    let record = open_loop(&[("ext4", 1_000.0), ("xfs", 800.0), ("btrfs", 2_000.0)]);
    let result = only(&record);
    assert_eq!((result.metric.as_str(), result.unit.as_str()), ("latency_p99_ns", "ns"));
    assert!(!result.higher_is_better);
    let of = |a: &str, b: &str| result.pairs.iter().find(|pair| pair.a == a && pair.b == b).unwrap();
    let (xfs, btrfs) = (of("xfs", "ext4"), of("btrfs", "ext4"));
    assert_eq!((xfs.verdict, btrfs.verdict), (Verdict::Faster, Verdict::Slower));
    assert!((xfs.ratio.unwrap() - 1.25).abs() < 1e-9, "{xfs:?}");
    assert!((btrfs.ratio.unwrap() - 0.5).abs() < 1e-9, "{btrfs:?}");
    assert!(xfs.low.unwrap() <= 1.25 + 1e-9 && xfs.high.unwrap() >= 1.25 - 1e-9);
    assert_eq!(result.ranking, [["xfs"], ["ext4"], ["btrfs"]]);
    assert_eq!(result.shared_rate.as_ref().map(|rate| rate.operations_per_second), Some(12_000.0));
    let answer = findings(&record).answer.unwrap();
    assert_eq!(answer.choose, ["xfs"]);
    assert!(answer.reasons.iter().all(|reason| reason.ratio < 1.0), "{:?}", answer.reasons);
}

#[test]
fn latencies_within_the_margin_tie() {
    let result = only(&open_loop(&[("ext4", 1_000.0), ("xfs", 990.0)]));
    assert_eq!(result.pairs[0].verdict, Verdict::Tie);
}

#[test]
fn a_shared_rate_is_named_and_is_no_ceiling_of_the_device() {
    let mut record = open_loop(&[("ext4", 1_000.0), ("xfs", 800.0)]);
    // The device can do no more than the shared rate: unpaced work would be called limited by it.
    record.probes.push(probe("latency", Profile::RandRead, 1, 12_000.0));
    let result = only(&record);
    assert_eq!(result.limit, Limit::Unattributed);
    let says = "at 0.7 of the slowest lane's maximum (ext4): 12k operations/s";
    assert!(result.limit_reason.starts_with(says), "{}", result.limit_reason);
    assert!(result.limit_reason.contains("paced"));
    assert_eq!(result.pairs[0].verdict, Verdict::Faster);
}

#[test]
fn a_lane_that_cannot_sustain_the_rate_is_named_and_no_ratio_is_claimed() {
    let mut record = open_loop(&[("ext4", 1_000.0), ("xfs", 800.0), ("btrfs", 90_000.0)]);
    for trial in record.trials.iter_mut().filter(|trial| trial.lane == "btrfs" && trial.round > 2) {
        trial.flags.push("cannot-sustain-rate: 900 operations were waiting at the end".into());
    }
    let result = only(&record);
    for pair in &result.pairs {
        if pair.a == "btrfs" || pair.b == "btrfs" {
            assert_eq!((pair.verdict, pair.ratio, pair.low), (Verdict::None, None, None));
            assert_eq!(pair.why.as_deref(), Some("btrfs (4 of 6 trials) cannot sustain this rate"));
        } else {
            assert_eq!(pair.verdict, Verdict::Faster);
        }
    }
    // In half of the trials or fewer it was a burst, which is noise like any other.
    let mut burst = record.clone();
    burst.trials.iter_mut().filter(|trial| trial.round == 3).for_each(|trial| trial.flags.clear());
    let result = only(&burst);
    let of_btrfs = result.pairs.iter().filter(|pair| pair.a == "btrfs" || pair.b == "btrfs");
    assert!(of_btrfs.clone().count() == 2 && of_btrfs.clone().all(|pair| pair.ratio.is_some()), "{:?}", result.pairs);
    record.trials.retain(|trial| trial.round == 5);
    record.header.plan.rounds = Rounds::Auto;
    record.end = None;
    let early = only(&record);
    let pair = early.pairs.iter().find(|pair| pair.a == "btrfs").unwrap();
    assert_eq!((pair.verdict, pair.ratio), (Verdict::Undecided, None), "one early burst ends no race");
}

#[test]
fn late_submission_in_most_trials_is_the_harness_and_gives_no_verdict() {
    let marked = |late: u32| {
        let mut record = open_loop(&[("ext4", 1_000.0), ("xfs", 800.0)]);
        for trial in record.trials.iter_mut().filter(|trial| trial.lane == "xfs" && trial.round <= late) {
            trial
                .flags
                .push(format!("harness-bound-submission: lag p99 is {} % of the latency p50", trial.round).into());
        }
        only(&record)
    };
    let result = marked(4);
    assert_eq!((result.limit, result.pairs[0].verdict), (Limit::Harness, Verdict::None));
    assert!(result.limit_reason.contains("4 of 6 trials of xfs"), "{}", result.limit_reason);
    let half = marked(3);
    assert_eq!((half.limit, half.pairs[0].verdict), (Limit::Unattributed, Verdict::Faster), "half is not most");
    assert!(
        half.warnings.iter().any(|text| text.starts_with("Fairlane itself was late in 3 of 12 trials (xfs 3) (in one"))
    );
}

#[test]
fn what_befell_each_of_many_lanes_alike_is_one_number() {
    let mut record = open_loop(&[("ext4", 1_000.0), ("xfs", 800.0), ("btrfs", 900.0)]);
    for trial in record.trials.iter_mut().filter(|trial| trial.round <= 2) {
        trial.flags.push("foreign-noise: 7 MB/s at the disk".to_owned().into());
    }
    let told = |record: &Record| {
        let told = only(record).warnings;
        told.into_iter().find(|text| text.starts_with("other programs disturbed")).expect("it is told")
    };
    let said = told(&record);
    assert!(said.starts_with("other programs disturbed 6 of 18 trials (2 of each lane)"), "{said}");
    let first = record.trials.iter_mut().find(|trial| trial.lane == "xfs").unwrap();
    first.flags.clear();
    let said = told(&record);
    assert!(said.starts_with("other programs disturbed 5 of 18 trials (ext4 2, xfs 1, btrfs 2)"), "{said}");
}

#[test]
fn flags_with_figures_are_told_once_per_lane_with_an_example() {
    let mut record = open_loop(&[("ext4", 1_000.0), ("xfs", 800.0)]);
    for trial in &mut record.trials {
        if trial.lane == "xfs" && trial.round > 1 {
            trial.flags.push(
                format!("foreign-noise: other programs took {} % of the CPU time (0.2 s)", 5 * trial.round).into(),
            );
            trial.flags.push(format!("foreign-noise: {} MB/s at the disk", trial.round).into());
        }
        trial.flags.push(format!("warm: {}", trial.round).into());
        trial.flags.push("alike: 1".into());
    }
    let told = only(&record).warnings;
    assert_eq!(
        told,
        [
            "alike: 1 (all 12 trials)",
            "other programs disturbed 5 of 12 trials (xfs 5) (in one of them other programs took 10 % of the CPU time (0.2 s)): \
             race on an idle machine",
            "warm: 1, for example (all 12 trials say so)",
        ]
    );
    assert_eq!(told[1].weight(), Weight::Detail, "the race as a whole says it once");
    let race = findings(&record).warnings;
    let said = "other programs disturbed 5 of 12 trials (up to 30 % of the CPUs): what they took, the lanes lacked; race on an \
                idle machine";
    assert_eq!((race[0].as_str(), race[0].weight()), (said, Weight::Figures));
    // Two lanes that are one filesystem come before all else.
    let one = "a and b lie on one filesystem: what sets them apart is no filesystem's doing";
    record.header.warnings.push(one.into());
    let race = findings(&record).warnings;
    assert_eq!((race[0].as_str(), race[0].weight()), (one, Weight::Choice));
    assert_eq!(race[1].as_str(), said);
}

#[test]
fn who_disturbed_a_race_is_what_its_trials_hold_and_only_of_older_ones_their_sentence() {
    let mut record = open_loop(&[("ext4", 1_000.0), ("xfs", 800.0)]);
    for trial in &mut record.trials {
        trial.flags.push("foreign-noise: in words that nobody takes apart".into());
        trial.disturbance = Some(Disturbance { by: Disturber::Hypervisor, cpu_share: Some(0.25) });
    }
    let said = |record: &Record, words: &str| {
        let warnings = findings(record).warnings;
        assert!(warnings.iter().any(|said| said.starts_with(words)), "{warnings:?}");
    };
    said(&record, "the hypervisor disturbed 12 of 12 trials (up to 25 % of the CPUs): ");
    // Of half of them nothing is held but the sentence.
    for trial in record.trials.iter_mut().step_by(2) {
        trial.flags = vec!["foreign-noise: other programs took 30 % of the CPU time (0.2 s)".into()];
        trial.disturbance = None;
    }
    said(&record, "other programs and the hypervisor disturbed 12 of 12 trials (up to 30 %");
}

#[test]
fn notes_weigh_by_their_kind_and_engines_of_older_records_by_their_words() {
    for (note, everywhere, weight) in [
        ("not durable: the server runs with fsync=off, and may lose what it acknowledged", true, Weight::Choice),
        ("data: zstd -3 makes 2.70:1 of what is written", false, Weight::Detail),
        ("io_uring works without fixed buffers: out of memory", true, Weight::Detail),
        ("io_uring works without fixed buffers: out of memory", false, Weight::Figures),
        ("libaio without O_DIRECT works one operation after the other: set direct = true", true, Weight::Detail),
        ("io_uring works as it did before: slowly", true, Weight::Detail),
        ("io_uring works as it did before: slowly", false, Weight::Figures),
        ("retries: 3 beside 100 transactions", true, Weight::Figures),
    ] {
        let mut record = open_loop(&[("ext4", 1_000.0), ("xfs", 800.0)]);
        for trial in record.trials.iter_mut().filter(|trial| everywhere || trial.lane == "xfs") {
            trial.flags.push(note.into());
        }
        let warnings = only(&record).warnings;
        let said =
            warnings.iter().find(|said| said.starts_with(note)).unwrap_or_else(|| panic!("{note}: {warnings:?}"));
        assert_eq!(said.weight(), weight, "{note}");
    }
}

#[test]
fn work_with_a_rate_of_its_own_is_paced_and_its_waiting_is_not_the_harness() {
    let mut workload = io("slow", Pattern::RandRead, 1, 0);
    let Kind::Io(of) = &mut workload.kind else { unreachable!() };
    of.rate = Some(PerDirection { read: Rate::Operations(1_000.0), ..PerDirection::default() });
    let mut record = record(vec![lane("ext4"), lane("xfs")], vec![workload], Rounds::Fixed(6), false);
    run(&mut record, 6, &[1_000.0, 1_000.0], 0.001, 1);
    for trial in &mut record.trials {
        trial.system.agent_cpu_user_seconds = 0.9;
    }
    record.probes.push(probe("slow", Profile::RandRead, 1, 1_000.0));
    let result = only(&record);
    assert_eq!((result.limit, result.pairs[0].verdict), (Limit::Unattributed, Verdict::Tie));
    assert!(result.limit_reason.contains("paced"), "{}", result.limit_reason);
}

#[test]
fn every_group_of_a_job_file_is_judged_and_its_syncs_are_not() {
    let workload = job_file(vec![job("mix", Pattern::RandRw), job("log", Pattern::Write)]);
    let mut record = record(vec![lane("ext4"), lane("xfs")], vec![workload], Rounds::Fixed(6), false);
    run(&mut record, 6, &[1_000.0, 1_500.0], 0.002, 2);
    for trial in &mut record.trials {
        trial.groups.push(Group { name: "log: sync".into(), operations: 1_000_000, ..Group::default() });
        trial.flags.push("fallocate=posix was taken as native".into());
        trial.system.device.read_bytes = trial.system.device.write_bytes;
    }
    // A ceiling that would fit one of the groups: it must not be held against a mixture.
    record.probes.push(probe("mail", Profile::RandWrite, 1, 1_000.0));
    let results = judge_workload(&record, "mail");
    let groups: Vec<&str> = results.iter().map(|result| result.group.as_str()).collect();
    assert_eq!(groups, ["mix: read", "mix: write", "log: write"]);
    for result in &results {
        assert_eq!(result.pairs[0].verdict, Verdict::Faster, "{}", result.group);
        assert_eq!(result.limit, Limit::Unattributed, "{}", result.limit_reason);
        assert_eq!(result.estimates[0].device_use, None);
        assert_eq!(result.estimates[0].cpu_seconds_per_operation, None, "sums of three groups are nobody's");
    }
    let said = |result: &ResultFinding| result.warnings.iter().filter(|text| text.contains("fallocate")).count();
    assert_eq!(results.iter().map(said).collect::<Vec<_>>(), [1, 0, 0], "said once, not per lane and group");
    assert!(results[0].warnings.contains(&"fallocate=posix was taken as native (all 12 trials)".into()));
}

#[test]
fn the_syncs_of_a_single_job_do_not_take_its_figures_away() {
    let workload = job_file(vec![job("log", Pattern::Write)]);
    let mut record = record(vec![lane("ext4"), lane("xfs")], vec![workload], Rounds::Fixed(6), false);
    run(&mut record, 6, &[1_000.0, 1_500.0], 0.0, 2);
    for trial in &mut record.trials {
        trial.groups.push(Group { name: "sync".into(), operations: 1_000_000, ..Group::default() });
    }
    let result = only(&record);
    let per_operation = result.estimates[0].cpu_seconds_per_operation.unwrap();
    assert!((per_operation - 0.6 / 1_000.0).abs() < 1e-9, "{per_operation}");
}

#[test]
fn a_read_group_of_a_job_file_is_called_cached_only_where_it_alone_read() {
    for (jobs, limit) in [
        (vec![job("a", Pattern::RandRead)], Limit::Cache),
        (vec![job("a", Pattern::RandRead), job("b", Pattern::Write)], Limit::Cache),
        (vec![job("a", Pattern::RandRead), job("b", Pattern::Read)], Limit::Unattributed),
    ] {
        let workload = job_file(jobs);
        let mut record = record(vec![lane("ext4"), lane("xfs")], vec![workload], Rounds::Fixed(6), false);
        run(&mut record, 6, &[1_000.0, 1_000.0], 0.0, 2);
        for trial in &mut record.trials {
            trial.system.device.read_bytes = 4096;
        }
        let results = judge_workload(&record, "mail");
        assert_eq!(results[0].limit, limit, "{}", results[0].limit_reason);
    }
}

#[test]
fn a_plain_job_of_one_worker_near_the_engines_own_rate_is_the_harness() {
    let limit = |change: fn(&mut Vec<Job>)| {
        let mut jobs = vec![job("a", Pattern::RandRead)];
        change(&mut jobs);
        let mut record = record(vec![lane("ext4"), lane("xfs")], vec![job_file(jobs)], Rounds::Fixed(6), false);
        run(&mut record, 6, &[85_000.0, 50_000.0], 0.0, 2);
        record.probes.push(probe("mail", Profile::Null, 1, 100_000.0));
        judge_workload(&record, "mail").remove(0)
    };
    let plain = limit(|_| ());
    assert_eq!((plain.limit, plain.pairs[0].verdict), (Limit::Harness, Verdict::None), "{}", plain.limit_reason);
    assert!(plain.limit_reason.contains("ext4 runs at 85 %"), "{}", plain.limit_reason);
    let others: [fn(&mut Vec<Job>); 4] = [
        |jobs| jobs[0].io.numjobs = 2,
        |jobs| jobs[0].io.rw = Pattern::RandRw,
        |jobs| jobs[0].io.thinktime_seconds = 0.001,
        |jobs| jobs.push(job("b", Pattern::RandRead)),
    ];
    for change in others {
        let other = limit(change);
        assert_ne!(other.limit, Limit::Harness, "{}", other.limit_reason);
    }
}

#[test]
fn the_engines_time_is_shared_by_all_workers_that_run_at_once() {
    let limit = |stonewall: bool| {
        let mut jobs = vec![job("a", Pattern::RandRead), job("b", Pattern::Write), job("c", Pattern::Write)];
        (jobs[0].io.numjobs, jobs[1].io.numjobs, jobs[2].io.numjobs) = (2, 2, 1);
        jobs[1].stonewall = stonewall;
        let mut record = record(vec![lane("ext4"), lane("xfs")], vec![job_file(jobs)], Rounds::Fixed(6), false);
        run(&mut record, 6, &[1_000.0, 1_000.0], 0.0, 2);
        for trial in &mut record.trials {
            // 14 % of each of 5 workers, 23 % of each of 3.
            trial.system.agent_cpu_user_seconds = 0.7;
            trial.system.device.read_bytes = trial.system.device.write_bytes;
        }
        judge_workload(&record, "mail").remove(0)
    };
    let together = limit(false);
    assert_eq!(together.limit, Limit::Unattributed, "{}", together.limit_reason);
    let apart = limit(true);
    assert_eq!(apart.limit, Limit::Harness, "{}", apart.limit_reason);
    assert!(apart.limit_reason.contains("23 % of 3 workers in ext4"), "{}", apart.limit_reason);
}

#[test]
fn what_the_installed_fio_ran_is_judged_like_any_other_work() {
    let jobs = vec![FioJob { name: "a".into(), directions: vec![Direction::Read, Direction::Write], direct: false }];
    let run_of = FioRun { file: "a.fio".into(), text: "[a]\nrw=randrw\n".into(), jobs, working_set: Bytes(1 << 20) };
    let workload = Workload { name: "mail".into(), title: "a.fio".into(), kind: Kind::Fio(Box::new(run_of)) };
    let mut record = record(vec![lane("ext4"), lane("xfs")], vec![workload], Rounds::Fixed(6), false);
    run(&mut record, 6, &[1_500.0, 1_000.0], 0.002, 2);
    let results = judge_workload(&record, "mail");
    assert_eq!(results.len(), 2);
    assert!(results.iter().all(|result| result.pairs[0].verdict == Verdict::Slower));
}

#[test]
fn a_rate_that_was_measured_in_a_disturbed_moment_is_told_as_such() {
    let mut record = open_loop(&[("ext4", 1_000.0), ("xfs", 800.0)]);
    assert!(only(&record).warnings.is_empty());
    record.rates[0].disturbed = Some("the hypervisor took 9 % of the CPU time".into());
    let warnings = only(&record).warnings;
    assert_eq!(
        warnings,
        ["the shared rate was measured in a disturbed moment: the hypervisor took 9 % of the CPU time"]
    );
}

#[test]
fn two_records_compare_latencies_at_one_rate_only() {
    let (then, mut now) = (open_loop(&[("ext4", 1_000.0)]), open_loop(&[("ext4", 500.0)]));
    let rows = stats::compare::compare(&then, &now, "a", "b").rows;
    assert_eq!(rows[0].verdict, Verdict::Faster);
    assert!((rows[0].ratio - 2.0).abs() < 1e-9, "{}", rows[0].ratio);
    assert!(rows[0].low.unwrap() < 2.0 && rows[0].high.unwrap() > 2.0);
    now.trials.iter_mut().for_each(|trial| trial.flags.push("cannot-sustain-rate".into()));
    let rows = stats::compare::compare(&then, &now, "a", "b").rows;
    assert_eq!(rows[0].why.as_deref(), Some("ext4 cannot sustain the rate of the second record"));
    now.rates[0].operations_per_second = 6_000.0;
    let rows = stats::compare::compare(&then, &now, "a", "b").rows;
    assert_eq!(rows[0].why.as_deref(), Some("different shared rates: 12k IOPS and 6k IOPS"));
    assert_eq!(rows[0].verdict, Verdict::None);
}
