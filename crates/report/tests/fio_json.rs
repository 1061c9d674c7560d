//! fio's JSON: its shape against a real output's, its figures against the record's.

use crate::common;

use common::{jobs, lane, races, record};
use model::Bytes;
use model::record::Record;
use model::trial::Outcome;
use model::workload::{Io, Kind, Pattern, Workload};
use report::fio_json;
use serde_json::Value;
use std::collections::BTreeSet;

/// Every key path of fio 3.33's output of a job file of the same shape (mixed work with fsync, and
/// a job behind a stonewall); no figures.
const KEYS: &str = include_str!("fixtures/fio-3.33-keys.txt");

fn read(record: &Record) -> Value {
    serde_json::from_str(&fio_json(record).unwrap()).unwrap()
}

fn job_record() -> Record {
    jobs::record_of(&races::jobs())
}

fn paths(value: &Value, path: String, out: &mut BTreeSet<String>) {
    match value {
        Value::Object(fields) => {
            out.insert(path.clone());
            fields.iter().for_each(|(key, value)| paths(value, format!("{path}/{key}"), out));
        }
        Value::Array(values) => values.iter().for_each(|value| paths(value, format!("{path}/*"), out)),
        Value::String(_) => drop(out.insert(format!("{path} text"))),
        _ => drop(out.insert(format!("{path} number"))),
    }
}

fn number(value: &Value, path: &str) -> f64 {
    value.pointer(path).and_then(Value::as_f64).unwrap_or_else(|| panic!("{path} is no number"))
}

fn close(left: f64, right: f64) {
    assert!((left - right).abs() <= 1e-9 * right.abs().max(1.0), "{left} is not {right}");
}

#[test]
fn every_key_of_a_real_output_is_there_with_its_type() {
    let mut ours = BTreeSet::new();
    paths(&read(&job_record()), String::new(), &mut ours);
    let missing: Vec<&str> = KEYS.lines().filter(|key| !ours.contains(*key)).collect();
    assert!(KEYS.lines().count() > 200 && missing.is_empty(), "missing: {missing:?}");
}

#[test]
fn every_job_of_every_lane_has_an_entry_with_all_its_options() {
    let json = read(&job_record());
    let names: Vec<&str> =
        json["jobs"].as_array().unwrap().iter().map(|job| job["jobname"].as_str().unwrap()).collect();
    assert_eq!(names, ["ext4/mix", "ext4/log", "xfs/mix", "xfs/log"]);
    assert_eq!(json["fio version"], "fairlane-0.1.0");
    assert_eq!((&json["jobs"][0]["groupid"], &json["jobs"][1]["groupid"]), (&0.into(), &1.into()));
    let Kind::Jobs(file) = &job_record().header.plan.workloads[0].kind.clone() else { unreachable!() };
    for (at, job) in file.jobs.iter().enumerate() {
        for (key, value) in &job.options {
            assert_eq!(json["jobs"][at]["job options"][key], **value, "{key}");
        }
    }
    assert_eq!(json["global options"]["ioengine"], "libaio");
    assert!(json["global options"].get("rw").is_none(), "only what all jobs share");
    assert_eq!(json["jobs"][2]["fairlane"]["lane"], "xfs");
    assert_eq!(json["jobs"][2]["fairlane"]["rounds"], 2);
}

#[test]
fn one_lane_keeps_the_jobs_own_names() {
    let mut record = job_record();
    record.header.lanes.truncate(1);
    let json = read(&record);
    assert_eq!((&json["jobs"][0]["jobname"], &json["jobs"][1]["jobname"]), (&"mix".into(), &"log".into()));
}

#[test]
fn rounds_are_added_up_and_repeated_attempts_left_out() {
    let json = read(&job_record());
    // ext4: 3,000 reads of 4 KiB in 2 s, twice. The first attempt of round 1 was repeated.
    let of = |path: &str| number(&json, &format!("/jobs/0/read/{path}"));
    close(of("total_ios"), 6_000.0);
    close(of("io_bytes"), 6_000.0 * 4096.0);
    close(of("io_kbytes"), 24_000.0);
    close(of("runtime"), 4_000.0);
    close(of("iops"), 1_500.0);
    close(of("bw_bytes"), 6_144_000.0);
    close(of("bw"), 6_000.0);
    close(of("iops_samples"), 6.0);
    close(of("iops_min"), 1_350.0);
    close(of("iops_max"), 1_650.0);
    close(of("bw_mean"), 6_000.0);
    close(of("bw_agg"), 100.0);
    close(of("clat_ns/N"), 6_000.0);
    close(of("clat_ns/max"), 40_000.0 + 1_000.0 * 2_999.0);
    close(of("clat_ns/mean"), 40_000.0 + 500.0 * 2_999.0);
    close(of("slat_ns/N"), 2.0 * 46.0);
    close(of("slat_ns/mean"), 1_500.0);
    close(of("slat_ns/stddev"), 300.0);
    close(number(&json, "/jobs/0/job_runtime"), 4_000.0);
    close(number(&json, "/jobs/0/usr_cpu"), 5.0);
    close(number(&json, "/jobs/0/sys_cpu"), 20.0);
    close(number(&json, "/jobs/0/ctx"), 6_000.0);
    close(number(&json, "/jobs/0/trim/total_ios"), 0.0);
}

#[test]
fn percentiles_are_those_of_all_rounds_together() {
    let mut record = job_record();
    // Round 2 of ext4 is ten times slower: a mean of both rounds' percentiles would be wrong.
    let slow = record.trials.iter_mut().find(|trial| trial.lane == "ext4" && trial.round == 2).unwrap();
    slow.groups[0] = jobs::group("mix", "read", 3_000, 4096, 2.0, 50_000_000);
    let json = read(&record);
    let p = |percent: &str| number(&json, &format!("/jobs/0/read/clat_ns/percentile/{percent}"));
    // Operations of both rounds in order: the first 3,000 are round 1's, a microsecond apart.
    for (percent, expected) in [("50.000000", 3_039_000.0), ("99.000000", 52_939_000.0), ("99.990000", 52_999_000.0)] {
        assert!((p(percent) / expected - 1.0).abs() < 0.002, "{percent}: {} is not {expected}", p(percent));
    }
    assert!(p("1.000000") < p("20.000000") && p("95.000000") < p("99.900000"));
    assert_eq!(json["jobs"][0]["read"]["lat_ns"], json["jobs"][0]["read"]["clat_ns"]);
}

#[test]
fn syncs_stand_in_the_sync_object_and_nowhere_else() {
    let json = read(&job_record());
    close(number(&json, "/jobs/1/sync/total_ios"), 256.0);
    close(number(&json, "/jobs/1/sync/lat_ns/N"), 256.0);
    assert!((number(&json, "/jobs/1/sync/lat_ns/percentile/50.000000") / 2_063_000.0 - 1.0).abs() < 0.002);
    close(number(&json, "/jobs/1/write/total_ios"), 8_192.0);
    close(number(&json, "/jobs/0/sync/total_ios"), 0.0);
}

#[test]
fn latency_buckets_sum_to_all_operations() {
    let json = read(&job_record());
    for job in json["jobs"].as_array().unwrap() {
        let rows = ["latency_ns", "latency_us", "latency_ms"].map(|row| job[row].as_object().unwrap().values());
        let sum: f64 = rows.into_iter().flatten().filter_map(Value::as_f64).sum();
        assert!((sum - 100.0).abs() < 1e-6, "{sum}");
    }
    // ext4's mixed job: 3,000 reads from 40 us and 2,900 writes from 3 us, each a microsecond longer
    // than the one before. Under 50 us are 10 reads and 47 writes, and 30 of those from 20 us on.
    close(number(&json, "/jobs/0/latency_us/50"), 100.0 * 40.0 / 5_900.0);
}

#[test]
fn a_suites_block_work_is_one_job_with_its_options_in_fios_spelling() {
    let findings = races::alone();
    let mut record = record(&findings);
    let io = Io {
        rw: Pattern::Append,
        bs: Bytes(4096),
        size: Bytes(64 << 20),
        ioengine: "io_uring".to_owned(),
        direct: true,
        fdatasync: 1,
        ..Io::default()
    };
    let kind = Kind::Io(Box::new(io));
    record.header.plan.workloads = vec![Workload { name: "commit".into(), title: "commit 4 KiB".into(), kind }];
    let json = read(&record);
    let job = &json["jobs"][0];
    assert_eq!(job["jobname"], "commit");
    for (key, value) in [
        ("rw", "write"),
        ("bs", "4k"),
        ("size", "64m"),
        ("ioengine", "io_uring"),
        ("iodepth", "1"),
        ("numjobs", "1"),
        ("direct", "1"),
        ("fdatasync", "1"),
        ("file_append", "1"),
        ("runtime", "750ms"),
    ] {
        assert_eq!(job["job options"][key], value, "{key}");
    }
    let counted: u64 =
        record.trials.iter().filter(|of| of.outcome == Outcome::Ok).map(|of| of.groups[0].operations).sum();
    close(number(job, "/write/total_ios"), counted as f64);
    // No histogram was kept: what the only round knows is told, and nothing else.
    let percentiles = job["write"]["clat_ns"]["percentile"].as_object().unwrap();
    assert_eq!(percentiles.keys().collect::<Vec<_>>(), ["50.000000", "99.000000"]);
    assert_eq!(percentiles["99.000000"], 2_100_000);
}

#[test]
fn a_lane_that_failed_is_an_error_and_not_a_fast_job() {
    let mut record = job_record();
    for trial in record.trials.iter_mut().filter(|trial| trial.lane == "xfs") {
        (trial.outcome, trial.reason) = (Outcome::Failed, Some("no space left".to_owned()));
        trial.groups.clear();
    }
    let json = read(&record);
    assert_eq!((&json["jobs"][0]["error"], &json["jobs"][2]["error"]), (&0.into(), &5.into()));
    assert_eq!(json["jobs"][2]["fairlane"]["failure"], "no space left");
    close(number(&json, "/jobs/2/read/iops"), 0.0);
}

#[test]
fn disks_are_listed_by_lane_and_by_their_own_name() {
    let json = read(&job_record());
    let backing = json["disk_util"].as_array().unwrap().iter().find(|disk| disk["name"] == "nvme0n1").unwrap();
    close(number(backing, "/write_ios"), 10_000.0);
    close(number(backing, "/util"), 37.5);
    assert_eq!(backing["fairlane"]["role"], "backing");
}

#[test]
fn a_record_without_block_work_is_refused_with_a_remedy() {
    let mut record = job_record();
    record.header.plan.workloads.clear();
    assert!(fio_json(&record).unwrap_err().contains("choose another --format"));
}

#[test]
fn hostile_names_and_broken_figures_stay_json_and_move_no_cursor() {
    let mut record = job_record();
    record.header.lanes[0] = lane("\u{1b}[2J\u{202e}\u{9b}x", "ext4");
    let Kind::Jobs(file) = &mut record.header.plan.workloads[0].kind else { unreachable!() };
    file.jobs[0].options.push(("a\u{1b}b".to_owned(), "\u{2028}\"".to_owned()));
    for trial in &mut record.trials {
        trial.groups[0].seconds = f64::NAN;
        trial.groups[1].histogram = Some("not base64!".to_owned());
        trial.groups[2].slices_operations_per_second = vec![f64::INFINITY, -1.0];
        trial.started = "\u{1b}]0;x\u{7}".to_owned();
    }
    let text = fio_json(&record).unwrap();
    assert!(!text.chars().any(|c| (c.is_control() && c != '\n') || c == '\u{202e}'), "{text:?}");
    let json: Value = serde_json::from_str(&text).unwrap();
    close(number(&json, "/jobs/2/read/iops"), 0.0);
}
