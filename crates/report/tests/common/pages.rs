//! Races large and small as pages, made by the statistics as for a real report.

use super::{lane, machine};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Serializer, V2DeflateSerializer};
use model::Bytes;
use model::page::{Language, PAGE_SCHEMA, Page, Show};
use model::plan::{Ground, Plan, Rounds};
use model::record::{EndOutcome, Header, Record, SCHEMA};
use model::timeline::TrialTimeline;
use model::trial::{DeviceUse, Group, Latency, Outcome, SystemUse, Trial};
use model::workload::{Io, Kind, Pattern, SmallFiles, Workload};
use std::collections::BTreeMap;

/// What suite `quick` is about: steady work in five slices, and small files.
fn workloads() -> Vec<Workload> {
    let io = |name: &str, title: &str, rw: Pattern| Workload {
        name: name.to_owned(),
        title: title.to_owned(),
        kind: Kind::Io(Box::new(Io { rw, bs: Bytes(4096), size: Bytes(1 << 28), ..Io::default() })),
    };
    let files = SmallFiles { files: 1000, size: Bytes(4096), directories: 1, sharing: Default::default() };
    vec![
        io("random-read", "random read 4 KiB", Pattern::RandRead),
        io("random-write", "random write 4 KiB", Pattern::RandWrite),
        Workload { name: "small-files".to_owned(), title: "small files".to_owned(), kind: Kind::SmallFiles(files) },
    ]
}

/// A race of three lanes and three workloads in so many rounds, with histograms and courses of five points.
pub fn record(rounds: u32) -> Record {
    record_of(rounds, 5)
}

/// The same with courses of so many points.
pub fn record_of(rounds: u32, points: u32) -> Record {
    let names = ["ext4", "xfs", "btrfs"];
    let lanes: Vec<_> = names.iter().map(|name| lane(name, name)).collect();
    let plan = Plan {
        suite: "quick".to_owned(),
        not_tested: vec!["power cut".to_owned()],
        first_answer: true,
        as_published: false,
        calibration: false,
        screening: None,
        find_max: None,
        explain: false,
        explain_in_time: false,
        ranks: None,
        lanes: names.iter().filter_map(|name| name.parse().ok()).collect(),
        with_self: false,
        workloads: workloads(),
        rounds: Rounds::Fixed(rounds),
        margin: 0.05,
        budget_seconds: None,
        lane_size: Bytes(2 << 30),
        throttle: None,
        lane_throttles: Default::default(),
        seed: 42,
        on: Ground::Images("/home/li".into()),
        guest: Default::default(),
        command_line: ["fairlane", "race"].map(str::to_owned).to_vec(),
    };
    let header = Header {
        schema: SCHEMA,
        version: "0.1.0".to_owned(),
        started: "2026-07-01T10:00:00Z".to_owned(),
        boot_id: "b".to_owned(),
        seed: 42,
        machine: machine(),
        lanes,
        warnings: vec!["this is a virtual machine".to_owned()],
        calibration: None,
        plan,
    };
    let mut record = Record { end: Some(EndOutcome::Complete), ..Record::begin(header) };
    let histograms: Vec<String> = (1..=16).map(histogram).collect();
    let mut noise = Noise(7);
    for (number, workload) in workloads().iter().enumerate() {
        for round in 1..=rounds {
            for (at, name) in names.iter().enumerate() {
                let speed = 1.0 + 0.3 * at as f64;
                let mut trial = trial(name, workload, round, speed, points, &mut noise);
                trial.ground = (at as u32 + round) % 3;
                for group in &mut trial.groups {
                    group.histogram = Some(histograms[(number + at + round as usize) % histograms.len()].clone());
                }
                record.trials.push(trial);
            }
        }
    }
    record
}

/// The page of a record.
pub fn page_of(record: &Record) -> Page {
    let findings = stats::judge::findings(record);
    let mut race = stats::page::race(record, findings, Vec::new());
    race.record = Some("~/runs/r.jsonl".to_owned());
    race.sentences = report::language::sentences(&race.findings);
    let show = Show::Race { race: Box::new(race) };
    Page { schema: PAGE_SCHEMA, version: "0.1.0".to_owned(), language: Language::En, show }
}

/// Numbers that look like noise and are the same everywhere (a linear congruential generator with the
/// constants of Numerical Recipes).
pub struct Noise(pub u32);

impl Noise {
    /// Between 0.9 and 1.1.
    pub fn near_one(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        0.9 + 0.2 * f64::from(self.0) / f64::from(u32::MAX)
    }
}

fn trial(name: &str, workload: &Workload, round: u32, speed: f64, points: u32, noise: &mut Noise) -> Trial {
    let mut slices = || (0..5).map(|_| 20_000.0 * speed * noise.near_one()).collect::<Vec<f64>>();
    let groups: Vec<Group> = workload
        .groups()
        .into_iter()
        .map(|group| {
            let slices = slices();
            let rate = slices.iter().sum::<f64>() / 5.0;
            Group {
                name: group,
                operations: rate as u64,
                bytes: rate as u64 * 4096,
                seconds: 1.0,
                primary_metric: "operations_per_second".to_owned(),
                metrics: BTreeMap::from([
                    ("operations_per_second".to_owned(), rate),
                    ("bandwidth_bytes_per_second".to_owned(), rate * 4096.0),
                ]),
                latency_ns: Some(Latency { mean: 1e9 / rate, p50: Some(4e4), p99: Some(2e5), p999: None, max: 9e6 }),
                slices_operations_per_second: slices,
                ..Group::default()
            }
        })
        .collect();
    let operations: u64 = groups.iter().map(|group| group.operations).sum();
    let timeline = timeline(speed, points, noise);
    Trial {
        round,
        position: 1,
        attempt: 1,
        lane: name.to_owned(),
        workload: workload.name.clone(),
        ground: 0,
        outcome: Outcome::Ok,
        reason: None,
        started: "2026-07-01T10:00:12Z".to_owned(),
        phases_seconds: BTreeMap::from([("measure".to_owned(), 1.0)]),
        groups,
        system: SystemUse {
            window_seconds: 1.0,
            windows: 5,
            cpus: 4,
            cpu_user_seconds: 0.3,
            cpu_system_seconds: 1.3,
            device: DeviceUse { reads: operations, read_bytes: operations * 4096, ..DeviceUse::default() },
            ..SystemUse::default()
        },
        timeline: Some(Box::new(timeline)),
        jobs: Vec::new(),
        flags: Vec::new(),
        disturbance: None,
    }
}

/// A trial's course in so many points.
fn timeline(speed: f64, points: u32, noise: &mut Noise) -> TrialTimeline {
    // As records keep them, with four digits.
    let digits = |value: f64| {
        let scale = 10.0_f64.powi(3 - value.log10().floor() as i32);
        (value * scale).round() / scale
    };
    let mut column = |level: f64| (0..points).map(|_| digits(level * noise.near_one())).collect::<Vec<f64>>();
    let zeros = || vec![0.0; points as usize];
    let each = 1.0 / f64::from(points);
    TrialTimeline {
        seconds: (1..=points).map(|at| 3.0 * each * f64::from(at)).collect(),
        measured_seconds: (1..=points).map(|at| each * f64::from(at)).collect(),
        operations_per_second: column(20_000.0 * speed),
        cpu_share: column(0.4),
        iowait_share: column(0.2),
        steal_share: zeros(),
        device_read_bytes_per_second: column(8e7),
        device_write_bytes_per_second: column(4e7),
        device_iops: column(2e4),
        device_flushes_per_second: zeros(),
        device_queue: column(7.0),
        device_busy_share: column(0.8),
        dirty_bytes: column(3e6),
        pressure_io_share: column(0.3),
        ..TrialTimeline::default()
    }
}

/// A histogram as records keep it: a body and a tail.
fn histogram(seed: u32) -> String {
    let mut noise = Noise(seed);
    let mut histogram = Histogram::<u64>::new(3).expect("three digits");
    for at in 0..20_000_u32 {
        let tail = if at % 100 == 0 { 20.0 } else { 1.0 };
        let ns = 40_000.0 * tail * noise.near_one() * noise.near_one();
        histogram.record(ns as u64).expect("within range");
    }
    let mut bytes = Vec::new();
    V2DeflateSerializer::new().serialize(&histogram, &mut bytes).expect("memory takes it");
    STANDARD.encode(bytes)
}
