//! Synthetic records: a race whose truth is known.
#![allow(dead_code)] // Each test file uses its share.

#[path = "../../src/sample.rs"]
pub mod sample;

use model::Bytes;
use model::lane::Lane;
use model::machine::Machine;
use model::operations::{FileSet, FileSize, Method, Names, Operation, OperationStep, Operations, Sharing, SyncPolicy};
use model::plan::{Ground, Plan, Rounds};
use model::record::{EndOutcome, Header, Probe, Profile, Record, SCHEMA};
use model::trial::{DeviceUse, Group, Latency, Outcome, SystemUse, Trial};
use model::workload::{Io, Kind, Pattern, SmallFiles, Workload};
use sample::Normal;
use std::collections::BTreeMap;

/// An image lane that promises everything.
pub fn lane(name: &str) -> Lane {
    Lane {
        mkfs_command: vec![format!("mkfs.{name}"), "{device}".into()],
        mount_options: vec!["noatime".into()],
        ground: "images".into(),
        backing: "nvme0n1".into(),
        size_bytes: 2 << 30,
        ..Lane::new(name, name, "image")
    }
}

pub fn io(name: &str, rw: Pattern, iodepth: u32, fdatasync: u32) -> Workload {
    let kind = Kind::Io(Box::new(Io {
        rw,
        bs: Bytes(4096),
        size: Bytes(1 << 28),
        ioengine: "io_uring".into(),
        iodepth,
        direct: true,
        fdatasync,
        slices: 5,
        slice_seconds: 0.2,
        ..Io::default()
    }));
    Workload { name: name.into(), title: format!("{name} 4 KiB"), kind }
}

pub fn small_files() -> Workload {
    let kind =
        Kind::SmallFiles(SmallFiles { files: 1000, size: Bytes(4096), directories: 1, sharing: Default::default() });
    Workload { name: "small-files".into(), title: "small files".into(), kind }
}

pub fn record(lanes: Vec<Lane>, workloads: Vec<Workload>, rounds: Rounds, first_answer: bool) -> Record {
    let plan = Plan {
        suite: "quick".into(),
        not_tested: vec!["power cut".into()],
        first_answer,
        as_published: false,
        calibration: false,
        screening: None,
        find_max: None,
        explain: false,
        explain_in_time: false,
        ranks: None,
        lanes: lanes.iter().filter(|lane| !lane.is_self).map(|lane| lane.spec.parse().unwrap()).collect(),
        with_self: lanes.iter().any(|lane| lane.is_self),
        workloads,
        rounds,
        margin: 0.05,
        budget_seconds: Some(180.0),
        lane_size: Bytes(2 << 30),
        throttle: None,
        lane_throttles: BTreeMap::new(),
        seed: 1,
        on: Ground::Images("/tmp".into()),
        guest: Default::default(),
        command_line: vec!["race".into()],
    };
    Record {
        header: Header {
            schema: SCHEMA,
            version: "0.1.0".into(),
            started: "2026-11-20T10:00:00Z".into(),
            boot_id: "b".into(),
            seed: 1,
            plan,
            machine: Machine { cpus: 4, ..Default::default() },
            lanes,
            warnings: Vec::new(),
            calibration: None,
        },
        rates: Vec::new(),
        probes: Vec::new(),
        layer_probes: Vec::new(),
        disks: Vec::new(),
        trials: Vec::new(),
        steps: Vec::new(),
        profiles: Vec::new(),
        unreached: Vec::new(),
        clocks: None,
        end: Some(EndOutcome::Complete),
        resumes: 0,
        warnings: Vec::new(),
        whole_bytes: 0,
    }
}

/// A trial of one second at `rate` operations of 4 KiB, device figures as of direct I/O.
pub fn trial(lane: &str, workload: &Workload, round: u32, rate: f64) -> Trial {
    let operations = rate as u64;
    let bytes = operations * 4096;
    let groups = workload.groups().into_iter().map(|name| Group {
        operations,
        bytes: if name == "delete" { 0 } else { bytes },
        seconds: 1.0,
        primary_metric: "operations_per_second".into(),
        metrics: [("operations_per_second".to_owned(), rate)].into(),
        name,
        ..Default::default()
    });
    let reads = workload.groups() == ["read"];
    let device = if reads {
        DeviceUse { reads: operations, read_bytes: bytes, ..Default::default() }
    } else {
        DeviceUse { writes: operations, write_bytes: bytes, ..Default::default() }
    };
    Trial {
        round,
        position: 1,
        attempt: 1,
        lane: lane.into(),
        workload: workload.name.clone(),
        ground: 0,
        outcome: Outcome::Ok,
        reason: None,
        started: "2026-11-20T10:00:00Z".into(),
        phases_seconds: [("measure".to_owned(), 1.0), ("populate".to_owned(), 1.0)].into(),
        groups: groups.collect(),
        system: SystemUse {
            window_seconds: 1.0,
            cpus: 4,
            cpu_user_seconds: 0.1,
            cpu_system_seconds: 0.5,
            agent_cpu_user_seconds: 0.05,
            device,
            ..Default::default()
        },
        timeline: None,
        jobs: Vec::new(),
        flags: Vec::new(),
        disturbance: None,
    }
}

/// Runs `rounds` rounds in which each lane reaches its rate, with this noise on logarithms.
pub fn run(record: &mut Record, rounds: u32, rates: &[f64], deviation: f64, seed: u64) {
    let mut noise = Normal::new(seed);
    let names: Vec<String> = record.header.lanes.iter().map(|lane| lane.name.clone()).collect();
    for workload in record.header.plan.workloads.clone() {
        for round in 1..=rounds {
            for (name, rate) in names.iter().zip(rates) {
                let rate = rate * (deviation * noise.next()).exp();
                record.trials.push(trial(name, &workload, round, rate));
            }
        }
    }
}

pub fn probe(workload: &str, profile: Profile, round: u32, rate: f64) -> Probe {
    let operations = rate as u64;
    Probe {
        profile,
        workload: workload.into(),
        round,
        ground: 0,
        disk: None,
        operations_per_second: rate,
        bandwidth_bytes_per_second: rate * 4096.0,
        through_filesystem: false,
        system: SystemUse {
            window_seconds: if profile == Profile::Null { 0.0 } else { 1.0 },
            cpus: 4,
            device: DeviceUse { reads: operations, read_bytes: operations * 4096, ..Default::default() },
            ..Default::default()
        },
    }
}

/// A step of a table: section, name, operation.
pub fn step(section: &str, name: &str, operation: Operation, count: u64) -> OperationStep {
    OperationStep {
        name: name.into(),
        section: section.into(),
        operation,
        files: "files".into(),
        first: 0,
        count: Some(count),
        block: None,
        sync: SyncPolicy::None,
        cold: false,
    }
}

/// Steps on one set of files of 1 KiB.
pub fn operations(steps: Vec<OperationStep>) -> Workload {
    let kind = kind_of(steps);
    Workload { name: "operations".into(), title: "file operations".into(), kind }
}

fn kind_of(step: Vec<OperationStep>) -> Kind {
    let set = FileSet {
        name: "files".into(),
        count: 100,
        size: FileSize::Fixed(Bytes(1024)),
        directories: 1,
        fan_out: 0,
        folder: None,
        populate: false,
        names: Names::Plain,
        name_bytes: 10,
    };
    let method = Method::InProcess;
    Kind::Operations(Box::new(Operations {
        method,
        threads: 1,
        sharing: Sharing::Private,
        loops: 1,
        data: Default::default(),
        files: vec![set],
        step,
    }))
}

/// A trial of file operations: each group with its seconds, 100 operations, and 1 KiB for each
/// where the step reads or creates.
pub fn operations_trial(lane: &str, workload: &Workload, round: u32, seconds: &[f64]) -> Trial {
    let mut trial = trial(lane, workload, round, 100.0);
    let Kind::Operations(operations) = &workload.kind else { panic!("another kind") };
    for ((group, step), seconds) in trial.groups.iter_mut().zip(&operations.step).zip(seconds) {
        group.operations = 100;
        group.bytes = if matches!(step.operation, Operation::Create | Operation::Read) { 102_400 } else { 0 };
        group.seconds = *seconds;
        group.metrics = [("operations_per_second".to_owned(), 100.0 / seconds)].into();
        group.latency_ns = Some(Latency { mean: seconds * 1e7, ..Latency::default() });
        let system = &trial.system;
        group.system = Some(SystemUse {
            window_seconds: *seconds,
            cpu_user_seconds: 0.1 * seconds,
            cpu_system_seconds: 0.5 * seconds,
            agent_cpu_user_seconds: 0.05 * seconds,
            ..system.clone()
        });
    }
    trial.phases_seconds = [("measure".to_owned(), seconds.iter().sum()), ("sync".to_owned(), 0.5)].into();
    trial.phases_seconds.insert("unmount".to_owned(), 0.25);
    trial
}

/// Standard normal numbers; the same seed gives the same.
pub fn noise(seed: u64) -> Normal {
    Normal::new(seed)
}
