//! Figures that no disk and no memory can give are told, with what gave them.

use crate::common;

use common::{io, lane, operations, operations_trial, probe, record, run, step};
use model::findings::{Findings, Limit, Verdict};
use model::operations::Operation;
use model::plan::Rounds;
use model::record::{Profile, Record};
use model::trial::Trial;
use model::workload::{Io, Job, Jobs, Kind, Pattern, Workload};
use stats::judge;

const RAW: f64 = 10_000.0;

/// Two lanes at these rates on a disk of 10,000 operations per second.
fn warnings(workload: &Workload, rates: [f64; 2], change: impl Fn(&mut Record)) -> Vec<model::Sentence> {
    found(workload, rates, change).results.remove(0).warnings
}

fn found(workload: &Workload, rates: [f64; 2], change: impl Fn(&mut Record)) -> Findings {
    let mut race = record(vec![lane("ext4"), lane("btrfs")], vec![workload.clone()], Rounds::Auto, true);
    run(&mut race, 6, &rates, 0.0, 1);
    let profile = if workload.groups() == ["read"] { Profile::RandRead } else { Profile::RandWrite };
    for round in [1, 3, 5] {
        race.probes.push(probe(&workload.name, profile, round, RAW));
    }
    change(&mut race);
    judge::findings(&race)
}

/// A figure that is no filesystem's has no verdict, and decides nothing.
#[track_caller]
fn decides_nothing(findings: &Findings, says: &str) {
    let result = &findings.results[0];
    assert_eq!(result.limit, Limit::Cache, "{}", result.limit_reason);
    assert!(result.limit_reason.contains(says), "{}", result.limit_reason);
    let pair = &result.pairs[0];
    assert_eq!(pair.verdict, Verdict::None, "{pair:?}");
    assert!(pair.why.as_deref().unwrap().contains("did not pass the disk"), "{pair:?}");
    let answer = findings.answer.as_ref().unwrap();
    assert_eq!((answer.choose.len(), answer.cannot_tell.len(), answer.reasons.len()), (2, 1, 0), "{answer:?}");
}

/// Its figures stand.
#[track_caller]
fn decides(findings: &Findings) {
    let result = &findings.results[0];
    assert_ne!(result.limit, Limit::Cache, "{}", result.limit_reason);
    assert_eq!(result.pairs[0].verdict, Verdict::Faster, "{:?}", result.pairs[0]);
    assert_eq!(findings.answer.as_ref().unwrap().choose, ["btrfs"]);
}

fn buffered_write() -> Workload {
    let mut buffered = io("sequential-write", Pattern::Write, 1, 0);
    if let Kind::Io(io) = &mut buffered.kind {
        io.direct = false;
    }
    buffered
}

/// A job file with this one job.
fn job_file(io: Io) -> Workload {
    let job = Job { name: "a".into(), stonewall: false, exitall: false, wait_for: None, options: Vec::new(), io };
    let jobs = Jobs { jobs: vec![job], file: "a.fio".into(), notes: Vec::new() };
    Workload { name: "job".into(), title: "job".into(), kind: Kind::Jobs(Box::new(jobs)) }
}

/// Each lane's bytes at the device, as a share of what it wrote.
fn at_the_device(race: &mut Record, share: f64) {
    for trial in &mut race.trials {
        let device = &mut trial.system.device;
        device.write_bytes = (device.write_bytes as f64 * share) as u64;
    }
}

fn of_btrfs(race: &mut Record, change: impl Fn(&mut Trial)) {
    race.trials.iter_mut().filter(|trial| trial.lane == "btrfs").for_each(change);
}

fn read() -> Workload {
    io("random-read", Pattern::RandRead, 32, 0)
}

#[test]
fn what_the_disk_can_do_is_not_doubted() {
    assert_eq!(warnings(&read(), [9_000.0, 11_000.0], |_| ()), [""; 0]);
    // Without a ceiling nothing is known to be above it.
    assert_eq!(warnings(&read(), [9_000.0, 99_000.0], |race| race.probes.clear()), [""; 0]);
}

#[test]
fn reads_above_the_disk_name_compression_where_the_lane_compresses() {
    let said = warnings(&read(), [9_000.0, 30_000.0], |race| {
        race.header.lanes[1].mount_options.push("compress=zstd:1".into());
        of_btrfs(race, |trial| trial.system.device.read_bytes /= 3);
    });
    assert_eq!(said.len(), 1, "{said:?}");
    assert!(said[0].starts_with("btrfs: ") && said[0].contains("more than the bare disk's"), "{said:?}");
    assert!(said[0].contains("compresses, and 33 % of the bytes passed the disk"), "{said:?}");
}

#[test]
fn direct_reads_that_hardly_touch_the_disk_are_those_of_holes() {
    let said =
        warnings(&read(), [9_000.0, 90_000.0], |race| of_btrfs(race, |trial| trial.system.device.read_bytes = 0));
    assert!(
        said[0].contains("hardly a byte passed the disk although O_DIRECT") && said[0].contains("holes"),
        "{said:?}"
    );
}

#[test]
fn buffered_work_above_the_disk_is_the_page_cache() {
    let mut buffered = io("random-write", Pattern::RandWrite, 1, 0);
    if let Kind::Io(io) = &mut buffered.kind {
        io.direct = false;
    }
    let said =
        warnings(&buffered, [9_000.0, 50_000.0], |race| of_btrfs(race, |trial| trial.system.device.write_bytes /= 5));
    assert!(said[0].contains("the page cache did the rest, 20 % of the bytes passed the disk"), "{said:?}");
}

#[test]
fn a_ceiling_that_was_too_low_is_doubted_itself() {
    let said = warnings(&read(), [9_000.0, 15_000.0], |_| ());
    assert!(said[0].contains("all bytes passed it: the ceiling was measured in a slow moment"), "{said:?}");
}

#[test]
fn nothing_is_faster_than_the_memory() {
    let said = warnings(&read(), [9_000.0, 11_000.0], |race| race.header.machine.memory_copy_bytes_per_second = 4e7);
    assert_eq!(said.len(), 1, "{said:?}");
    assert!(said[0].starts_with("btrfs: "), "{said:?}");
    assert!(said[0].contains("is more than this machine copied in memory when measured ("), "{said:?}");
}

#[test]
fn buffered_writes_above_the_disk_get_no_verdict_and_decide_nothing() {
    // 3.0 and 2.4 times what the disk does: `--set sequential-write.direct=false`.
    for share in [0.0, 0.2] {
        let findings = found(&buffered_write(), [24_000.0, 30_000.0], |race| at_the_device(race, share));
        decides_nothing(&findings, "the page cache did the rest");
    }
    // One lane is enough: it spoils every pair that it is in.
    let one = found(&buffered_write(), [9_000.0, 30_000.0], |race| {
        of_btrfs(race, |trial| trial.system.device.write_bytes /= 5);
    });
    decides_nothing(&one, "btrfs: ");
}

#[test]
fn writes_that_stay_in_memory_are_the_caches_where_no_ceiling_is_known_too() {
    let without = |race: &mut Record, share| {
        race.probes.clear();
        at_the_device(race, share);
    };
    let kept = found(&buffered_write(), [24_000.0, 30_000.0], |race| without(race, 0.05));
    decides_nothing(&kept, "in ext4 only 5 % of the bytes written came to the device while it was measured");
    decides(&found(&buffered_write(), [24_000.0, 30_000.0], |race| without(race, 0.3)));
    // Of a directory on no disk nothing is known.
    decides(&found(&buffered_write(), [24_000.0, 30_000.0], |race| {
        without(race, 0.0);
        race.header.lanes.iter_mut().for_each(|lane| lane.backing = String::new());
    }));
    // A pace that is kept says nothing of where the bytes are.
    let mut paced = buffered_write();
    if let Kind::Io(io) = &mut paced.kind {
        io.thinktime_seconds = 0.001;
    }
    decides(&found(&paced, [24_000.0, 30_000.0], |race| without(race, 0.0)));
}

#[test]
fn buffered_writes_whose_sync_is_charged_keep_their_verdict() {
    // All bytes are at the disk within the window: it was faster than when its ceiling was measured.
    let beyond = found(&buffered_write(), [9_000.0, 12_000.0], |_| ());
    decides(&beyond);
    assert!(beyond.results[0].warnings[0].contains("all bytes passed it"), "{:?}", beyond.results[0].warnings);
    let job = job_file(Io { direct: false, end_fsync: true, ..plain() });
    decides(&found(&job, [8_000.0, 10_000.0], |_| ()));
}

fn plain() -> Io {
    Io { rw: Pattern::Write, size: model::Bytes(1 << 20), direct: true, ..Io::default() }
}

#[test]
fn direct_reads_of_holes_and_copies_that_no_memory_makes_decide_nothing() {
    let holes = found(&read(), [9_000.0, 90_000.0], |race| of_btrfs(race, |trial| trial.system.device.read_bytes /= 2));
    decides_nothing(&holes, "50 % of the bytes passed the disk although O_DIRECT was asked for");
    let untouched = found(&read(), [9_000.0, 11_000.0], |race| race.header.machine.memory_copy_bytes_per_second = 4e7);
    decides_nothing(&untouched, "more than this machine copied in memory when measured");
}

#[test]
fn compression_keeps_its_verdict_but_not_what_never_passed_the_disk() {
    let with = |share: u64| {
        found(&read(), [9_000.0, 30_000.0], |race| {
            race.header.lanes[1].mount_options.push("compress=zstd:1".into());
            of_btrfs(race, |trial| trial.system.device.read_bytes /= share);
        })
    };
    decides(&with(3));
    assert_eq!(with(20).results[0].limit, Limit::Cache);
}

#[test]
fn a_job_file_that_does_one_thing_is_held_against_its_own_ceiling() {
    let buffered = job_file(Io { direct: false, ..plain() });
    let findings = found(&buffered, [24_000.0, 30_000.0], |race| at_the_device(race, 0.4));
    decides_nothing(&findings, "the page cache did the rest, 40 % of the bytes passed the disk");
}

#[test]
fn steps_on_files_above_the_disks_sequential_rate_are_labelled_and_stay_comparable() {
    let workload =
        operations(vec![step("large", "create", Operation::Create, 100), step("large", "stat", Operation::Stat, 100)]);
    let race = |ceiling: Option<f64>, share: f64| {
        let mut race = record(vec![lane("ext4"), lane("btrfs")], vec![workload.clone()], Rounds::Auto, true);
        for round in 1..=6 {
            for (name, seconds) in [("ext4", 0.002), ("btrfs", 0.001)] {
                let mut trial = operations_trial(name, &workload, round, &[seconds, seconds]);
                let device = &mut trial.groups[0].system.as_mut().unwrap().device;
                device.write_bytes = (102_400.0 * share) as u64;
                race.trials.push(trial);
            }
        }
        // The disk's own rate, measured beside another workload of the race.
        race.probes.extend(ceiling.map(|bytes| probe("elsewhere", Profile::SeqWrite, 1, bytes / 4096.0)));
        judge::findings(&race)
    };
    // 100 KiB in a millisecond are 102 MB/s.
    let cached = race(Some(50e6), 0.0);
    assert_eq!(cached.results[0].limit, Limit::Cache, "{}", cached.results[0].limit_reason);
    assert!(cached.results[0].limit_reason.contains("the page cache did the rest, 0 % of the bytes"));
    assert_eq!(cached.results[0].pairs[0].verdict, Verdict::Faster, "what is left to write is charged beside it");
    assert!(cached.results[0].pairs[0].why.as_deref().unwrap().contains("the page cache took the data"));
    assert_ne!(cached.results[1].limit, Limit::Cache, "a stat moves nothing");
    // With a sync that is charged all bytes are at the disk; without a ceiling nothing is known.
    for sound in [race(Some(50e6), 1.0), race(None, 0.0)] {
        assert_ne!(sound.results[0].limit, Limit::Cache, "{}", sound.results[0].limit_reason);
        assert_eq!(sound.results[0].warnings, [""; 0]);
    }
}
