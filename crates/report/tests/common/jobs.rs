//! A record of a job file: two jobs, mixed and writing with syncs, two lanes, two rounds.

use super::*;
use base64::Engine;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Serializer, V2DeflateSerializer};
use model::trial::{JobUse, Submission};
use model::workload::{Io, Job, Jobs, Kind, Pattern, Workload};

/// Latencies in nanoseconds as a trial keeps them.
pub fn histogram(values: impl Iterator<Item = u64>) -> (String, Latency, u64) {
    let mut all = Histogram::<u64>::new(3).unwrap();
    let (mut sum, mut max, mut count) = (0, 0, 0);
    for value in values {
        all.record(value).unwrap();
        (sum, max, count) = (sum + value, value.max(max), count + 1);
    }
    let mut bytes = Vec::new();
    V2DeflateSerializer::new().serialize(&all, &mut bytes).unwrap();
    let text = base64::engine::general_purpose::STANDARD.encode(bytes);
    let latency = Latency {
        mean: sum as f64 / count as f64,
        p50: Some(all.value_at_quantile(0.5) as f64),
        p99: Some(all.value_at_quantile(0.99) as f64),
        p999: None,
        max: max as f64,
    };
    (text, latency, count)
}

/// A group whose operations take from `from` nanoseconds on, each a microsecond longer than the
/// one before.
pub fn group(job: &str, kind: &str, operations: u64, block: u64, seconds: f64, from: u64) -> Group {
    let (text, latency, count) = histogram((0..operations).map(|at| from + 1_000 * at));
    assert_eq!(count, operations);
    let rate = operations as f64 / seconds;
    Group {
        name: format!("{job}: {kind}"),
        job: job.to_owned(),
        operations,
        bytes: operations * block,
        seconds,
        primary_metric: "operations_per_second".to_owned(),
        metrics: BTreeMap::from([("operations_per_second".to_owned(), rate)]),
        latency_ns: Some(latency),
        histogram: Some(text),
        submission_ns: (kind != "sync").then_some(Submission {
            operations: operations / 64,
            min: 700.0,
            mean: 1_500.0,
            deviation: 300.0,
            max: 9_000.0,
        }),
        slices_operations_per_second: if kind == "sync" { Vec::new() } else { vec![0.9 * rate, rate, 1.1 * rate] },
        ..Group::default()
    }
}

fn job(name: &str, rw: Pattern, stonewall: bool, options: &[(&str, &str)]) -> Job {
    Job {
        name: name.to_owned(),
        stonewall,
        exitall: false,
        wait_for: None,
        options: options.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect(),
        io: Io { rw, size: Bytes(8 << 20), iodepth: if name == "mix" { 16 } else { 1 }, ..Io::default() },
    }
}

/// The job file.
pub fn workload() -> Workload {
    let common = [("ioengine", "libaio"), ("numjobs", "1"), ("size", "8m")];
    let mix = [&common[..], &[("rw", "randrw"), ("bs", "4k"), ("iodepth", "16")]].concat();
    let log = [&common[..], &[("rw", "write"), ("bs", "16k"), ("iodepth", "1"), ("fsync", "32")]].concat();
    let jobs = Jobs {
        jobs: vec![job("mix", Pattern::RandRw, false, &mix), job("log", Pattern::Write, true, &log)],
        file: "mail.fio".to_owned(),
        notes: vec!["gtod_reduce=1 is accepted without effect: every operation is timed".to_owned()],
    };
    Workload { name: "mail".to_owned(), title: "mail.fio".to_owned(), kind: Kind::Jobs(Box::new(jobs)) }
}

fn used(name: &str) -> JobUse {
    JobUse {
        name: name.to_owned(),
        workers: 1,
        seconds: 2.0,
        cpu_user_seconds: 0.1,
        cpu_system_seconds: 0.4,
        context_switches: 3_000,
        major_faults: 1,
        minor_faults: 20,
        compression_ratio: (name == "log").then_some(1.618),
        verified_blocks: if name == "log" { 1_024 } else { 0 },
    }
}

/// One round of one lane; `speed` multiplies the operations.
pub fn trial_of(lane: &str, round: u32, speed: u64) -> Trial {
    let mut one = trial(lane, round, 1);
    one.workload = "mail".to_owned();
    one.groups = vec![
        group("mix", "read", 3_000 * speed, 4096, 2.0, 40_000),
        group("mix", "write", 2_900 * speed, 4096, 2.0, 3_000),
        group("log", "write", 4_096 * speed, 16_384, 2.0, 9_000),
        group("log", "sync", 128 * speed, 0, 0.3, 2_000_000),
    ];
    one.jobs = vec![used("mix"), used("log")];
    one.system.backing = DeviceUse { writes: 5_000, write_bytes: 80 << 20, busy_seconds: 1.5, ..DeviceUse::default() };
    one.system.window_seconds = 4.0;
    one
}

/// Two lanes, two rounds; the first attempt of a round does not count.
pub fn record_of(findings: &Findings) -> Record {
    let mut record = record(findings);
    record.header.plan.workloads = vec![workload()];
    record.trials.clear();
    for round in 1..=2 {
        for (lane, speed) in findings.lanes.iter().zip([1, 2, 3]) {
            record.trials.push(trial_of(&lane.name, round, speed));
        }
    }
    let mut noisy = trial_of(&findings.lanes[0].name, 1, 3);
    noisy.attempt = 1;
    record.trials[0].attempt = 2;
    noisy.outcome = Outcome::Repeated;
    record.trials.insert(0, noisy);
    record
}
