//! Every rule of what limited a result, each with a synthetic record that meets it.

use crate::common;

use common::{io, lane, probe, record, run, small_files};
use model::findings::{Limit, Verdict};
use model::plan::Rounds;
use model::record::{Profile, Record};
use model::trial::Trial;
use model::workload::{Pattern, Workload};
use stats::judge;
use stats::limit::limit_of;

/// Two lanes at these rates, six rounds; `change` shapes each trial.
fn race(workload: &Workload, rates: [f64; 2], probes: &[(Profile, f64)], change: impl Fn(&mut Trial)) -> Record {
    let mut race = record(vec![lane("ext4"), lane("xfs")], vec![workload.clone()], Rounds::Auto, true);
    run(&mut race, 6, &rates, 0.0, 1);
    race.trials.iter_mut().for_each(change);
    for &(profile, rate) in probes {
        for round in [1, 3, 5] {
            race.probes.push(probe(&workload.name, profile, round, rate));
        }
    }
    race
}

fn read() -> Workload {
    io("random-read", Pattern::RandRead, 32, 0)
}

fn limit(race: &Record, group: &str) -> (Limit, String) {
    let of = limit_of(race, &race.header.plan.workloads[0], group);
    (of.limit, of.reason.into())
}

fn busy_queue(trial: &mut Trial) {
    trial.system.device.queue_seconds = 30.0;
}

#[test]
fn rule_2_a_rate_near_the_null_engines_is_the_harness() {
    let race = race(&read(), [50_000.0, 85_000.0], &[(Profile::Null, 100_000.0)], busy_queue);
    let (what, why) = limit(&race, "read");
    assert_eq!(what, Limit::Harness);
    assert!(why.contains("xfs runs at 85 % of the 100k operations/s"), "{why}");
    let pair = judge::judge_workload(&race, "random-read").remove(0).pairs.remove(0);
    assert_eq!(pair.verdict, Verdict::None);
    assert!(pair.why.unwrap().contains("the engine was measured") && pair.ratio.is_some());
}

#[test]
fn rule_2_a_busy_agent_is_the_harness() {
    let race = race(&read(), [1000.0, 1000.0], &[], |trial| {
        if trial.lane == "ext4" {
            trial.system.agent_cpu_user_seconds = 0.25;
        }
    });
    let (what, why) = limit(&race, "read");
    assert_eq!(what, Limit::Harness);
    assert!(why.contains("25 % of ext4's windows"), "{why}");
}

#[test]
fn rule_3_reads_that_did_not_reach_the_device_are_the_caches() {
    let shape = |trial: &mut Trial| {
        if trial.lane == "xfs" {
            trial.system.device.read_bytes /= 20;
        }
    };
    let race = race(&read(), [1000.0, 3000.0], &[], shape);
    let (what, why) = limit(&race, "read");
    assert_eq!(what, Limit::Cache);
    assert!(why.contains("in xfs only 5 %"), "{why}");
    let findings = judge::findings(&race);
    assert!(findings.results[0].pairs[0].why.as_ref().unwrap().contains("page cache"));
    let answer = findings.answer.unwrap();
    assert_eq!(answer.cannot_tell, ["random-read 4 KiB"]);
    assert_eq!(answer.choose, ["ext4", "xfs"], "what the cache answered decides nothing");
}

#[test]
fn rule_4_every_lane_at_the_devices_own_rate_tells_nothing_and_a_tie_stands() {
    let tie = race(&read(), [86_000.0, 87_000.0], &[(Profile::RandRead, 88_100.0)], busy_queue);
    let (what, why) = limit(&tie, "read");
    assert_eq!(what, Limit::Device);
    assert_eq!(
        why,
        "every lane runs at 98 to 99 % of the bare device's 88.1k IOPS: this test cannot tell these filesystems apart; \
         by CPU per operation: xfs 6.9 us, ext4 6.98 us"
    );
    let result = judge::judge_workload(&tie, "random-read").remove(0);
    assert_eq!(result.pairs[0].verdict, Verdict::Tie);
    assert!((result.estimates[0].device_use.unwrap() - 0.976).abs() < 0.001);

    let apart = race(&read(), [85_000.0, 96_000.0], &[(Profile::RandRead, 88_100.0)], busy_queue);
    let result = judge::judge_workload(&apart, "random-read").remove(0);
    assert_eq!(result.pairs[0].verdict, Verdict::None);
    assert_eq!(result.pairs[0].why.as_deref(), Some("the device was measured, not the filesystem"));
    assert_eq!(judge::findings(&apart).answer.unwrap().cannot_tell, ["random-read 4 KiB"]);
}

#[test]
fn one_round_at_the_devices_rate_is_no_verdict() {
    let mut once = race(&read(), [86_000.0, 87_000.0], &[(Profile::RandRead, 88_100.0)], busy_queue);
    once.header.plan.rounds = Rounds::Fixed(1);
    once.trials.retain(|trial| trial.round == 1);
    let result = judge::judge_workload(&once, "random-read").remove(0);
    assert_eq!((result.limit, result.rounds, result.pairs[0].verdict), (Limit::Device, 1, Verdict::None));
    assert_eq!(
        result.pairs[0].why.as_deref(),
        Some("one round: no interval between runs; the device was measured, not the filesystem")
    );
}

#[test]
fn a_share_beyond_the_ceiling_is_impossible_and_says_nothing_of_the_disk() {
    let probes = [(Profile::RandRead, 60_000.0)];
    let race_of = |rates| race(&read(), rates, &probes, busy_queue);
    let wrong = race_of([90_000.0, 76_200.0]);
    let (what, why) = limit(&wrong, "read");
    assert_eq!(what, Limit::Unattributed, "{why}");
    assert!(
        why.starts_with("127 to 150 % of the bare device's 60k IOPS, reached by every lane, is impossible"),
        "{why}"
    );
    let result = judge::judge_workload(&wrong, "random-read").remove(0);
    assert_eq!(result.pairs[0].verdict, Verdict::Slower, "the interval decides");
    assert!(result.estimates.iter().all(|of| of.device_use_is_impossible && of.device_use.is_some()));
    // One lane is enough to know it, and that one is named.
    let (what, why) = limit(&race_of([90_000.0, 60_000.0]), "read");
    assert_eq!(what, Limit::Unattributed, "{why}");
    assert!(why.starts_with("150 % of the bare device's 60k IOPS, reached by ext4, is impossible"), "{why}");
    // Up to 110 % is how exact ceilings are.
    assert_eq!(limit(&race_of([65_900.0, 60_000.0]), "read").0, Limit::Device);
}

#[test]
fn more_flushes_than_writes_with_their_flush_are_possible_and_no_share_of_them_is_told() {
    let shape = |share: f64| {
        move |trial: &mut Trial| {
            trial.system.device.flushes = trial.groups[0].operations;
            trial.system.device.flush_seconds = share;
        }
    };
    let commit = io("commit", Pattern::Append, 1, 1);
    let probes = [(Profile::Flush, 280.0)];
    let unknown = race(&commit, [480.0, 2030.0], &probes, shape(0.2));
    let (what, why) = limit(&unknown, "write");
    assert_eq!(what, Limit::Unattributed, "{why}");
    assert!(!why.contains("impossible") && !why.contains("280"), "{why}");
    let result = stats::judge::judge_workload(&unknown, "commit").remove(0);
    assert!(result.estimates.iter().all(|of| of.device_use.is_none() && !of.device_use_is_impossible), "{result:?}");
    // The device's own clock of its flushes needs no ceiling.
    let (what, why) = limit(&race(&commit, [480.0, 2030.0], &probes, shape(0.7)), "write");
    assert_eq!(what, Limit::Flush, "{why}");
    assert!(why.starts_with("every lane spends 70 % of the time in flushes") && !why.contains("impossible"), "{why}");
}

#[test]
fn rule_4_needs_every_lane() {
    let race = race(&read(), [50_000.0, 87_000.0], &[(Profile::RandRead, 88_100.0)], busy_queue);
    assert_eq!(limit(&race, "read").0, Limit::Unattributed);
}

#[test]
fn rule_5_lanes_at_the_ceiling_that_write_different_amounts_keep_their_verdict() {
    let shape = |trial: &mut Trial| {
        busy_queue(trial);
        if trial.lane == "ext4" {
            trial.system.device.writes *= 2;
            trial.system.device.write_bytes *= 2;
        }
    };
    let workload = io("random-write", Pattern::RandWrite, 32, 0);
    let race = race(&workload, [43_000.0, 86_000.0], &[(Profile::RandWrite, 88_000.0)], shape);
    let (what, why) = limit(&race, "write");
    assert_eq!(what, Limit::WriteAmplification);
    assert!(why.contains("ext4 2.00, xfs 1.00"), "{why}");
    assert_eq!(judge::judge_workload(&race, "random-write").remove(0).pairs[0].verdict, Verdict::Faster);
}

#[test]
fn rule_6_work_that_waits_for_flushes_names_the_bare_devices_flush_rate() {
    let shape = |share: f64| {
        move |trial: &mut Trial| {
            trial.system.device.flushes = trial.groups[0].operations;
            trial.system.device.flush_seconds = share;
        }
    };
    let commit = io("commit", Pattern::Append, 1, 1);
    // The device's own counter alone, without a ceiling.
    let counted = race(&commit, [900.0, 980.0], &[], shape(0.7));
    let (what, why) = limit(&counted, "write");
    assert_eq!(what, Limit::Flush);
    assert!(why.contains("every lane spends 70 %") && why.contains("ext4 900, xfs 980 flushes/s"), "{why}");
    // The counter leaves out the write that each flush waits for: the bare device tells.
    let near = race(&commit, [600.0, 980.0], &[(Profile::Flush, 1000.0)], shape(0.2));
    let (what, why) = limit(&near, "write");
    assert_eq!(what, Limit::Flush, "rule 4 does not apply to work that flushes: {why}");
    assert!(why.contains("every lane makes 60 to 98 %") && why.contains("1k flushes/s"), "{why}");
    // Nobody makes more flushes than the device can: those of the bare one were counted in other moments.
    let level = race(&commit, [980.0, 1090.0], &[(Profile::Flush, 1000.0)], shape(0.2));
    let (what, why) = limit(&level, "write");
    assert_eq!(what, Limit::Flush);
    assert!(why.contains("every lane flushes about as often as the bare device") && !why.contains('%'), "{why}");
    // Twice and more the bare device's is another cycle than a write with its flush, whatever one probe of many reached.
    let probes = [1000.0, 1000.0, 1000.0, 9000.0].map(|rate| (Profile::Flush, rate));
    let (what, why) = limit(&race(&commit, [2600.0, 8000.0], &probes, shape(0.2)), "write");
    assert!(what != Limit::Flush && !why.contains("as often"), "{why}");
    let (what, why) = limit(&race(&commit, [2600.0, 8000.0], &probes, shape(0.7)), "write");
    assert!(what == Limit::Flush && why.contains("spends 70 %"), "{why}");
    let far = race(&commit, [200.0, 300.0], &[(Profile::Flush, 1000.0)], shape(0.2));
    assert_ne!(limit(&far, "write").0, Limit::Flush);
}

#[test]
fn write_amplification_counts_what_is_written_after_the_windows() {
    let race = race(&io("random-write", Pattern::RandWrite, 32, 0), [1000.0, 1000.0], &[], |trial| {
        trial.system.whole_application_write_bytes = 100 << 20;
        trial.system.whole_device_write_bytes = if trial.lane == "xfs" { 150 << 20 } else { 100 << 20 };
    });
    let result = judge::judge_workload(&race, "random-write").remove(0);
    let amplification: Vec<_> = result.estimates.iter().map(|lane| lane.write_amplification.unwrap()).collect();
    assert_eq!(amplification, [1.0, 1.5]);
}

#[test]
fn a_tick_of_the_clock_in_short_windows_is_no_busy_agent() {
    let shape = |window: f64| {
        move |trial: &mut Trial| {
            trial.system.window_seconds = window;
            trial.system.agent_cpu_user_seconds = if trial.round == 1 { 0.01 } else { 0.0 };
        }
    };
    // 10 ms in 6 windows of 4 ms: too little time to say anything.
    assert_ne!(limit(&race(&read(), [1000.0, 1000.0], &[], shape(0.004)), "read").0, Limit::Harness);
    // One tick in 240 ms is 4 %.
    assert_ne!(limit(&race(&read(), [1000.0, 1000.0], &[], shape(0.04)), "read").0, Limit::Harness);
}

#[test]
fn reads_of_a_lane_without_a_device_are_not_called_cached() {
    let mut race = race(&read(), [1000.0, 1000.0], &[], |trial| trial.system.device.read_bytes = 0);
    assert_eq!(limit(&race, "read").0, Limit::Cache);
    race.header.lanes.iter_mut().for_each(|lane| lane.backing = String::new());
    assert_eq!(limit(&race, "read").0, Limit::Unattributed);
}

#[test]
fn rule_7_a_full_core_in_the_slowest_lane_is_the_filesystems_cpu() {
    let shape = |trial: &mut Trial| {
        busy_queue(trial);
        if trial.lane == "ext4" {
            trial.system.busiest_thread_share = Some(0.97);
            trial.system.busiest_thread = Some("jbd2/loop0-8".into());
        }
    };
    let slow = race(&read(), [30_000.0, 60_000.0], &[(Profile::RandRead, 88_000.0)], shape);
    let (what, why) = limit(&slow, "read");
    assert_eq!(what, Limit::FilesystemCpu);
    assert!(why.contains("in ext4 jbd2/loop0-8 fills 97 % of a core, while the device is used to 34 %"), "{why}");
    let fast = race(&read(), [60_000.0, 30_000.0], &[(Profile::RandRead, 88_000.0)], shape);
    assert_ne!(limit(&fast, "read").0, Limit::FilesystemCpu, "the faster of two lanes is no majority");
    let no_ceiling = race(&read(), [30_000.0, 60_000.0], &[], shape);
    assert_eq!(limit(&no_ceiling, "read").0, Limit::FilesystemCpu, "it needs no ceiling");
}

#[test]
fn rule_7_a_full_system_counts_too() {
    let race = race(&read(), [30_000.0, 30_000.0], &[], |trial| trial.system.cpu_system_seconds = 3.7);
    let (what, why) = limit(&race, "read");
    assert_eq!(what, Limit::FilesystemCpu);
    assert!(why.contains("95 % of all CPUs"), "{why}");
}

#[test]
fn rule_8_a_short_queue_at_an_idle_device_is_serialisation() {
    let shape = |trial: &mut Trial| trial.system.device.queue_seconds = 3.0;
    let race_at = |workload: &Workload, probes: &[(Profile, f64)]| race(workload, [30_000.0, 40_000.0], probes, shape);
    let ceiling = [(Profile::RandRead, 88_000.0)];
    let (what, why) = limit(&race_at(&read(), &ceiling), "read");
    assert_eq!(what, Limit::FilesystemSerialised);
    assert!(why.contains("every lane keeps 3.0 of the 32 requests asked for"), "{why}");
    assert_eq!(limit(&race_at(&read(), &[]), "read").0, Limit::Unattributed, "no ceiling, no such claim");
    let single = io("r", Pattern::RandRead, 1, 0);
    assert_eq!(limit(&race_at(&single, &ceiling), "read").0, Limit::Unattributed, "one I/O in flight cannot queue");
}

#[test]
fn rule_9_says_what_is_known() {
    let race = race(&read(), [30_000.0, 40_000.0], &[(Profile::RandRead, 80_000.0)], busy_queue);
    let (what, why) = limit(&race, "read");
    assert_eq!(what, Limit::Unattributed);
    assert!(why.contains("38 to 50 % of its bare 80k IOPS"), "{why}");
}

#[test]
fn requests_that_a_filesystem_splits_are_not_taken_for_a_full_device() {
    // The bare device made 1,000 requests of 1 MiB; the lane makes 4,000 of 64 KiB: a quarter of its bandwidth.
    let mut workload = io("read", Pattern::Read, 16, 0);
    if let model::workload::Kind::Io(io) = &mut workload.kind {
        io.bs = model::Bytes(1 << 20);
    }
    let mut race = race(&workload, [250.0, 250.0], &[(Profile::SeqRead, 1000.0)], |trial| {
        busy_queue(trial);
        trial.system.device.reads = 4000;
        trial.system.device.read_bytes = 4000 * 65_536;
    });
    race.probes.iter_mut().for_each(|probe| probe.system.device.read_bytes = 1000 << 20);
    let of = limit_of(&race, &workload, "read");
    assert!((of.device_use[0].unwrap() - 0.25).abs() < 1e-9, "{:?}", of.device_use);
}

#[test]
fn a_groups_own_system_figures_precede_the_trials() {
    let mut race = race(&small_files(), [1000.0, 1000.0], &[], |_| {});
    assert_ne!(limit(&race, "create").0, Limit::Flush);
    for trial in &mut race.trials {
        let mut system = trial.system.clone();
        system.device.flush_seconds = 0.8;
        trial.groups[0].system = Some(system);
    }
    assert_eq!(limit(&race, "create").0, Limit::Flush);
    assert_ne!(limit(&race, "delete").0, Limit::Flush);
}

#[test]
fn a_flat_ceiling_shared_by_reads_and_writes_is_a_probable_quota() {
    let ceilings = |write: f64| {
        let mut race =
            race(&read(), [1000.0, 1000.0], &[(Profile::RandRead, 8050.0), (Profile::RandWrite, write)], |_| {});
        race.probes[0].operations_per_second = 8060.0;
        judge::findings(&race)
    };
    let quota = ceilings(8055.0);
    assert!(
        quota
            .warnings
            .iter()
            .any(|warning| warning.contains("probable quota: random reads and writes both stop at 8.05k")),
        "{:?}",
        quota.warnings
    );
    assert!(!ceilings(12_000.0).warnings.iter().any(|warning| warning.contains("quota")));
    assert_eq!((quota.ceilings.len(), quota.ceilings[0].probes), (2, 3));
}

#[test]
fn a_race_whose_lanes_all_failed_is_unattributed() {
    let race = race(&read(), [1000.0, 1000.0], &[], |trial| trial.outcome = model::trial::Outcome::Failed);
    assert_eq!(limit(&race, "read"), (Limit::Unattributed, "no lane has a figure".to_owned()));
}

/// A full core in every trial; in `noisy` of six rounds of each lane other programs were at work.
fn full_core(noisy: u32, share: f64) -> Record {
    race(&small_files(), [1000.0, 900.0], &[], move |trial| {
        let disturbed = trial.round <= noisy;
        if disturbed {
            trial
                .flags
                .push("foreign-noise: other programs took 53 % of the CPU time (0.92 s; 5 % is tolerated)".into());
        }
        trial.system.busiest_thread_share = Some(if disturbed { 1.0 } else { share });
        trial.system.busiest_thread = Some("rustc".into());
    })
}

#[test]
fn rule_1_a_full_core_beside_other_programs_is_not_laid_to_the_filesystem() {
    let (what, why) = limit(&full_core(6, 1.0), "create");
    assert_eq!(what, Limit::OtherPrograms);
    assert_eq!(
        why,
        "other programs were at work in 6 of 6 trials of ext4 and 6 of 6 trials of xfs, so it cannot be told what \
         limited them (other programs took 53 % of the CPU time (0.92 s; 5 % is tolerated))"
    );
    assert_eq!(limit(&full_core(4, 1.0), "create").0, Limit::OtherPrograms);
    // Where most trials were quiet they decide: of them a full core is the filesystem's own.
    assert_eq!(limit(&full_core(2, 1.0), "create").0, Limit::FilesystemCpu);
    assert_eq!(limit(&full_core(2, 0.3), "create").0, Limit::Unattributed);
    assert_eq!(limit(&full_core(0, 1.0), "create").0, Limit::FilesystemCpu);
}

#[test]
fn rule_1_an_idle_device_beside_other_programs_is_not_laid_to_the_filesystem() {
    let idle = |noisy: bool| {
        let shape = move |trial: &mut Trial| {
            trial.system.device.queue_seconds = 3.0;
            if noisy {
                trial.flags.push("foreign-noise: the hypervisor took 10 % of the CPU time".into());
            }
        };
        limit(&race(&read(), [30_000.0, 31_000.0], &[(Profile::RandRead, 88_100.0)], shape), "read")
    };
    assert_eq!(idle(false).0, Limit::FilesystemSerialised);
    let (what, why) = idle(true);
    assert!(what == Limit::OtherPrograms && why.contains("hypervisor took 10 %"), "{why}");
}

/// Two lanes beside probes that scatter, as behind a cap that hands out its allowance in steps.
fn beside_unsteady(workload: &Workload, profile: Profile, rates: [f64; 2], probes: [f64; 6], queue: f64) -> Record {
    let mut race = race(workload, rates, &[], |trial| trial.system.device.queue_seconds = queue);
    race.probes =
        probes.iter().enumerate().map(|(at, &rate)| probe(&workload.name, profile, at as u32, rate)).collect();
    race
}

/// What random reads of a disk showed that was held to 6,000 IOPS from outside (method 3.2).
const CAPPED: [f64; 6] = [4790.0, 4875.0, 5203.0, 6287.0, 6690.0, 7432.0];

#[test]
fn rule_4_a_capped_disk_is_the_disk_for_reads_and_for_writes() {
    let write = io("random-write", Pattern::RandWrite, 32, 0);
    for (workload, profile, group) in [(&read(), Profile::RandRead, "read"), (&write, Profile::RandWrite, "write")] {
        let (what, why) = limit(&beside_unsteady(workload, profile, [6220.0, 6500.0], CAPPED, 22.0), group);
        assert_eq!(what, Limit::Device, "{why}");
        assert_eq!(
            why.split(", and only").next().unwrap(),
            "every lane runs at 108 to 113 % of the bare device's 5.75k IOPS, which is not steady (three quarters of its \
             probes lie within 4.96k IOPS to 7.43k IOPS), with 22 of the 32 requests asked for waiting at the device: the disk set \
             the pace"
        );
    }
    // Each of the three that have to agree, alone: the probes, one rate, and where the requests wait.
    let of = |rates, probes, queue| limit(&beside_unsteady(&read(), Profile::RandRead, rates, probes, queue), "read").0;
    assert_eq!(of([6220.0, 6500.0], [5750.0; 6], 22.0), Limit::Unattributed, "a ceiling that its probes agree on");
    assert_eq!(of([4850.0, 6500.0], CAPPED, 22.0), Limit::Unattributed, "one of them a third faster");
    assert_eq!(of([6220.0, 6500.0], CAPPED, 15.0), Limit::Unattributed, "less than half of the requests");
    assert_eq!(of([8250.0, 8400.0], CAPPED, 22.0), Limit::Unattributed, "beyond what the probes reached");
    assert_eq!(of([4600.0, 4700.0], CAPPED, 22.0), Limit::Unattributed, "below what most of them reached");
}

#[test]
fn two_lanes_at_the_disk_measured_it_whatever_a_third_did() {
    let race_of = |[ext4, xfs]: [f64; 2], deviation: f64| {
        let mut race = record(vec![lane("ext4"), lane("xfs"), lane("btrfs")], vec![read()], Rounds::Auto, true);
        run(&mut race, 6, &[ext4, xfs, 3000.0], deviation, 1);
        race.trials.iter_mut().for_each(|trial| trial.system.device.queue_seconds = 22.0);
        for round in [1, 3, 5] {
            race.probes.push(probe("random-read", Profile::RandRead, round, 6200.0));
        }
        let result = judge::judge_workload(&race, "random-read").remove(0);
        assert_eq!(result.limit, Limit::Unattributed, "{}", result.limit_reason);
        result
    };
    let verdict = |result: &model::findings::ResultFinding, a: &str| {
        let pair = result.pairs.iter().find(|pair| pair.a == a && pair.b == "ext4").unwrap();
        (pair.verdict, pair.why.as_deref().unwrap_or_default().to_owned())
    };
    let level = race_of([6150.0, 6350.0], 0.04);
    let measured = (Verdict::None, "the device was measured, not the filesystem".to_owned());
    assert_eq!(verdict(&level, "xfs"), measured);
    // Without any noise 6,500 is more than 6,000, whatever the disk can do.
    let (apart, why) = verdict(&race_of([6000.0, 6500.0], 0.0), "xfs");
    assert!(apart == Verdict::Faster && why == "both near the disk's rate", "{apart:?}: {why}");
    for result in [&level, &race_of([6000.0, 6500.0], 0.0)] {
        let of = result.pairs.iter().filter(|pair| pair.a == "btrfs" || pair.b == "btrfs");
        assert_eq!(of.filter(|of| matches!(of.verdict, Verdict::Faster | Verdict::Slower)).count(), 2);
    }
}

#[test]
fn at_an_unsteady_ceiling_a_difference_that_paired_rounds_show_stays_one() {
    let of = |rates: [f64; 2], deviation: f64| {
        let mut race = record(vec![lane("ext4"), lane("xfs")], vec![read()], Rounds::Auto, true);
        run(&mut race, 20, &rates, deviation, 3);
        race.trials.iter_mut().for_each(|trial| trial.system.device.queue_seconds = 22.0);
        let probes = CAPPED.iter().enumerate();
        race.probes = probes.map(|(at, &rate)| probe("random-read", Profile::RandRead, at as u32, rate)).collect();
        (judge::judge_workload(&race, "random-read").remove(0), judge::findings(&race).answer.unwrap())
    };
    let (apart, answer) = of([6100.0, 6588.0], 0.02);
    assert_eq!(apart.limit, Limit::Device, "{}", apart.limit_reason);
    let pair = &apart.pairs[0];
    assert!(pair.low.unwrap() > 1.05 && pair.verdict == Verdict::Faster, "{pair:?}");
    assert_eq!(pair.why.as_deref(), Some("both near the disk's rate"));
    assert!(answer.cannot_tell.is_empty(), "{answer:?}");
    let (level, answer) = of([6220.0, 6500.0], 0.15);
    assert_eq!((level.limit, level.pairs[0].verdict), (Limit::Device, Verdict::None), "{:?}", level.pairs);
    assert_eq!(answer.cannot_tell, ["random-read 4 KiB"]);
}

#[test]
fn how_exact_a_ceiling_is_comes_from_the_figure_that_the_lanes_are_held_against() {
    // The probes' requests are steady at 5,750 a second, and only their sizes scatter.
    let mut race = beside_unsteady(&read(), Profile::RandRead, [6420.0, 6500.0], [5750.0; 6], 22.0);
    assert_eq!(limit(&race, "read").0, Limit::Unattributed);
    for (probe, rate) in race.probes.iter_mut().zip(CAPPED) {
        probe.system.device.read_bytes = (probe.system.device.read_bytes as f64 * rate / 5000.0) as u64;
        probe.bandwidth_bytes_per_second *= rate / 5000.0;
    }
    let (what, why) = limit(&race, "read");
    assert_eq!(what, Limit::Unattributed, "{why}");
}
