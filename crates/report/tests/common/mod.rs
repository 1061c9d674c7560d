//! Races as they come out of the statistics, to be rendered: one per situation that a reader meets.

#![allow(dead_code)] // Every test file takes the races that it needs.

pub mod advice;
pub mod gates;
pub mod jobs;
pub mod memos;
pub mod operations;
pub mod pages;
pub mod races;
pub mod screenings;

use model::findings::*;
use model::lane::{Contestant, Lane, LaneSpec, Promises};
use model::machine::{Device, Machine};
use model::plan::{Ground, Plan, Rounds};
use model::record::{EndOutcome, Header, Profile, Record};
use model::sentence::Value;
use model::trial::{DeviceUse, Group, Latency, Outcome, SystemUse, Trial};
use model::{Bytes, Sentence};
use std::collections::BTreeMap;

pub const RECORD_PATH: &str = "~/.local/state/fairlane/runs/2026-07-01T100000Z-quick.jsonl";

/// A pair in one line: lanes, ratio, interval, verdict.
pub fn pair(a: &str, b: &str, (ratio, low, high): (f64, f64, f64), verdict: Verdict) -> Pair {
    Pair {
        a: a.to_owned(),
        b: b.to_owned(),
        ratio: Some(ratio),
        low: Some(low),
        high: Some(high),
        verdict,
        why: None,
        minutes_to_settle: None,
        rounds_to_settle: None,
        undecided: None,
        over_race: matches!(verdict, Verdict::Faster | Verdict::Slower),
        // As if the interval that holds together with all others were the row's own.
        at_least: match verdict {
            Verdict::Faster => Some(low),
            Verdict::Slower => Some(high),
            _ => None,
        },
    }
}

pub fn unmeasured(a: &str, b: &str, why: &str) -> Pair {
    Pair {
        a: a.to_owned(),
        b: b.to_owned(),
        ratio: None,
        low: None,
        high: None,
        verdict: Verdict::None,
        why: Some(why.into()),
        minutes_to_settle: None,
        rounds_to_settle: None,
        undecided: None,
        over_race: false,
        at_least: None,
    }
}

/// Findings as the statistics hand them along: with what there is to say.
pub fn told(findings: &Findings) -> Findings {
    let mut told = findings.clone();
    stats::conclude::tell(&mut told);
    told
}

pub fn undecided(a: &str, b: &str, figures: (f64, f64, f64), minutes: f64) -> Pair {
    let percent = |ratio: f64| Value::Signed(100.0 * (ratio - 1.0), 0);
    let why = Sentence::new(
        "difference_between",
        "after {rounds} rounds the difference lies between {low} % and {high} %",
        vec![("rounds", Value::Count(8)), ("low", percent(figures.1)), ("high", percent(figures.2))],
    );
    Pair {
        minutes_to_settle: Some(minutes),
        rounds_to_settle: None,
        undecided: Some(Undecided::Noise),
        why: Some(why),
        ..pair(a, b, figures, Verdict::Undecided)
    }
}

pub fn without_verdict(a: &str, b: &str, figures: (f64, f64, f64), why: impl Into<Sentence>) -> Pair {
    Pair { why: Some(why.into()), ..pair(a, b, figures, Verdict::None) }
}

/// Why two lanes of different promises have no verdict.
pub fn other_promises(id: &'static str, english: &str, with: &str, without: &str) -> Sentence {
    let name = |lane: &str| Value::Name(lane.to_owned());
    let each = Sentence::new(id, english, vec![("with", name(with)), ("without", name(without))]);
    let each = vec![("each", Value::Clauses(vec![each.into()]))];
    Sentence::new("different_promises", "different promises: {each}", each)
}

pub fn estimate(lane: &str, mean: f64) -> Estimate {
    Estimate {
        lane: lane.to_owned(),
        mean,
        row_mean: None,
        low: Some(mean * 0.97),
        high: Some(mean * 1.031),
        rounds: 8,
        cpu_seconds_per_gib: Some(0.42),
        cpu_seconds_per_operation: Some(41e-6),
        agent_cpu_seconds_per_operation: Some(1.9e-6),
        page_cache_share: None,
        write_amplification: None,
        flushes_per_operation: None,
        latency_p50_ns: None,
        latency_p99_ns: Some(2.1e6),
        latency_p999_ns: None,
        latency_max_ns: None,
        mean_to_median: None,
        latency_mean_ns: None,
        cpu_share: None,
        cpu_system_share: None,
        device_busy_share: None,
        device_use: Some(0.41),
        device_use_is_impossible: false,
        extents: None,
        once_seconds: None,
        failure: None,
        void: false,
    }
}

pub fn failed(lane: &str, reason: &str) -> Estimate {
    Estimate {
        mean: 0.0,
        low: None,
        high: None,
        rounds: 0,
        cpu_seconds_per_gib: None,
        cpu_seconds_per_operation: None,
        agent_cpu_seconds_per_operation: None,
        latency_p99_ns: None,
        device_use: None,
        extents: None,
        failure: Some(reason.into()),
        ..estimate(lane, 0.0)
    }
}

pub fn result(
    (workload, title, group): (&str, &str, &str),
    bandwidth: bool,
    (limit, reason): (Limit, &str),
    estimates: Vec<Estimate>,
    pairs: Vec<Pair>,
    ranking: &[&[&str]],
) -> ResultFinding {
    ResultFinding {
        explanations: Vec::new(),
        explained: Vec::new(),
        unexplained: Vec::new(),
        headline: None,
        buffered: Vec::new(),
        kept: Vec::new(),
        acts: Vec::new(),
        workload: workload.to_owned(),
        title: title.to_owned(),
        group: group.to_owned(),
        section: None,
        missed_the_disk: false,
        by_means: false,
        stalls_matter: false,
        metric: if bandwidth { "bandwidth_bytes_per_second" } else { "operations_per_second" }.to_owned(),
        unit: if bandwidth { "B/s" } else { "operations/s" }.to_owned(),
        counts: match workload {
            "commit" => Counts::Commits,
            "small-files" => Counts::Files,
            "random-read" | "random-write" => Counts::Requests,
            _ => Counts::Operations,
        },
        higher_is_better: true,
        shared_rate: None,
        rounds: 8,
        limit,
        limit_reason: reason.into(),
        estimates,
        pairs,
        ranking: ranking.iter().map(|level| level.iter().map(|lane| (*lane).to_owned()).collect()).collect(),
        reference: None,
        statements: Vec::new(),
        warnings: Vec::new(),
    }
}

pub fn lane(name: &str, filesystem: &str) -> Lane {
    let bare = Lane::new(name, filesystem, "image");
    Lane {
        mkfs_command: [&format!("mkfs.{filesystem}"), "-F", "-E", "nodiscard", "{device}"].map(str::to_owned).to_vec(),
        mount_options: ["noatime", "nodiscard"].map(str::to_owned).to_vec(),
        ground: "images in /home/li".to_owned(),
        backing: "nvme0n1".to_owned(),
        size_bytes: 2 << 30,
        promises: Promises { data_checksums: filesystem == "btrfs", ..bare.promises },
        geometry: vec!["journal: 64 MiB".to_owned()],
        ..bare
    }
}

pub fn machine() -> Machine {
    Machine {
        os: "Debian GNU/Linux 12 (bookworm)".to_owned(),
        kernel: "6.1.0-28-amd64".to_owned(),
        kernel_build: "#1 SMP PREEMPT_DYNAMIC Debian 6.1.119-1".to_owned(),
        cpu: "AMD Ryzen 5 5600X 6-Core Processor".to_owned(),
        cpus: 12,
        memory_bytes: 32 << 30,
        memory_copy_bytes_per_second: 20e9,
        governor: "schedutil".to_owned(),
        dirty_ratio: 20,
        dirty_background_ratio: 10,
        dirty_expire_centisecs: 3000,
        dirty_writeback_centisecs: 500,
        dirty_bytes: None,
        dirty_background_bytes: None,
        vfs_cache_pressure: None,
        swappiness: None,
        machine_id_hash: "0f1e".to_owned(),
        virtualization: String::new(),
        further_disks: Vec::new(),
        device: Device {
            name: "nvme0n1".to_owned(),
            model: "Samsung SSD 970 EVO 500GB".to_owned(),
            size_bytes: 500_107_862_016,
            rotational: false,
            write_cache: "write back".to_owned(),
            fua: true,
            scheduler: "none".to_owned(),
            host_filesystem: "ext4".to_owned(),
            host_mount_options: "rw,relatime".to_owned(),
            queue: None,
            behind: None,
        },
        tools: vec!["mkfs.ext4 1.47.0".to_owned()],
    }
}

pub fn ceiling(workload: &str, profile: Profile, operations: f64, bytes: f64) -> Ceiling {
    Ceiling {
        workload: workload.to_owned(),
        profile,
        operations_per_second: operations,
        bandwidth_bytes_per_second: bytes,
        flush_seconds: (profile == Profile::Flush).then_some(0.6e-3),
        probes: 3,
        through_filesystem: false,
        in_page_cache: false,
    }
}

pub fn ceilings() -> Vec<Ceiling> {
    vec![
        ceiling("sequential-read", Profile::SeqRead, 512.0, 512e6),
        ceiling("sequential-write", Profile::SeqWrite, 480.0, 480e6),
        ceiling("random-read", Profile::RandRead, 88_100.0, 361e6),
        ceiling("random-write", Profile::RandWrite, 71_000.0, 291e6),
        ceiling("commit", Profile::Flush, 1_110.0, 4.5e6),
        ceiling("commit", Profile::Null, 2_100_000.0, 8.6e9),
    ]
}

/// A race of these lanes without results.
pub fn race(lanes: Vec<Lane>, results: Vec<ResultFinding>, mut answer: Option<Answer>) -> Findings {
    if let Some(answer) = &mut answer {
        answer.level = stats::level::level(answer, &results, None);
    }
    let mut command_line = vec!["fairlane".to_owned(), "race".to_owned()];
    command_line.extend(lanes.iter().filter(|lane| !lane.is_self).map(|lane| lane.spec.clone()));
    command_line.extend(["--suite", "quick", "--seed", "42"].map(str::to_owned));
    Findings {
        schema: 1,
        started: "2026-07-01T10:00:00Z".to_owned(),
        imported: Vec::new(),
        suite: "quick".to_owned(),
        seed: 42,
        margin: 0.05,
        throttle: None,
        lane_throttles: BTreeMap::new(),
        outcome: "complete".to_owned(),
        command_line,
        machine: machine(),
        lanes,
        ceilings: ceilings(),
        disk: None,
        results,
        operations: Vec::new(),
        appenders: Vec::new(),
        transactions: Vec::new(),
        searches: Vec::new(),
        layers: Vec::new(),
        aged: Vec::new(),
        aged_ranks: None,
        io500: Vec::new(),
        ranks: Vec::new(),
        ladders: Vec::new(),
        screening: None,
        code_only: None,
        answer,
        conclusion: Conclusion::default(),
        advice: Vec::new(),
        warnings: Vec::new(),
        unexplained: Vec::new(),
        calibration: None,
        trials: TrialCounts { ok: 144, repeated: 3, failed: 0, void: 0 },
    }
}

pub fn not_ranked(lanes: &[&str], what: &str) -> NotRanked {
    let lanes = lanes.iter().map(|lane| (*lane).to_owned()).collect();
    NotRanked { lanes, against: "ext4".to_owned(), what: fact(what) }
}

/// A fact as the statistics say it, so that other languages know it.
fn fact(what: &str) -> Sentence {
    let promise = |id, english| Value::List(vec![Sentence::new(id, english, Vec::new()).into()]);
    match what {
        "promises no write barriers" => {
            let names = promise("no_write_barriers", "no write barriers");
            Sentence::new("promises_lacking_one", "promises {names}", vec![("names", names)])
        }
        "promise no crash-safe metadata" => {
            let names = promise("no_safe_metadata", "no crash-safe metadata");
            Sentence::new("promises_lacking_many", "promise {names}", vec![("names", names)])
        }
        "is an in-process library, called without any system call" => Sentence::new("is_library", what, Vec::new()),
        other => other.into(),
    }
}

/// As the statistics say it of images.
pub fn raced() -> Sentence {
    let size = vec![("size", model::sentence::Value::Bytes((2_u64 << 30) as f64))];
    let place = Sentence::new("on_fresh_filesystems_of", "on fresh filesystems of {size}", size);
    let places = model::sentence::Value::List(vec![place.into()]);
    Sentence::new("raced_there", "raced {places}", vec![("places", places)])
}

pub fn answer(choose: &[&str], reasons: Vec<Reason>) -> Answer {
    Answer {
        choose: choose.iter().map(|lane| (*lane).to_owned()).collect(),
        reasons,
        level: None,
        undecided: Vec::new(),
        unsure: Vec::new(),
        cannot_tell: Vec::new(),
        different_disks: false,
        disturbed: false,
        reached: None,
        not_ranked: Vec::new(),
        raced: Some(raced()),
        cached_disk: None,
        not_tested: ["power cut", "aging", "your database"].map(Into::into).to_vec(),
        next: ["race", "ext4", "xfs", "--budget", "12m"].map(str::to_owned).to_vec(),
        next_adds: Vec::new(),
        settle: Some(Settle::Budget { minutes: 12, some_only: false }),
    }
}

pub fn reason(lane: &str, against: &str, (workload, title, group): (&str, &str, &str), ratio: f64) -> Reason {
    Reason {
        buffers: None,
        acts: Vec::new(),
        lane: lane.to_owned(),
        against: against.to_owned(),
        title: title.to_owned(),
        workload: workload.to_owned(),
        group: group.to_owned(),
        ratio,
        at_least: Some(ratio.powf(0.75)),
    }
}

pub const COMMIT: (&str, &str, &str) = ("commit", "commit 4 KiB", "write");
pub const SEQ_WRITE: (&str, &str, &str) = ("sequential-write", "sequential write 1 MiB", "write");
pub const SEQ_READ: (&str, &str, &str) = ("sequential-read", "sequential read 1 MiB", "read");
pub const RAND_READ: (&str, &str, &str) = ("random-read", "random read 4 KiB", "read");
pub const RAND_WRITE: (&str, &str, &str) = ("random-write", "random write 4 KiB", "write");
pub const CREATE: (&str, &str, &str) = ("small-files", "small files", "create");
pub const READ_FILES: (&str, &str, &str) = ("small-files", "small files", "read");
pub const DELETE: (&str, &str, &str) = ("small-files", "small files", "delete");

pub const FLUSHES: (Limit, &str) = (Limit::Flush, "flushes took 71 % of the time, about 2 per commit");
pub const UNKNOWN: (Limit, &str) = (Limit::Unattributed, "the disk was used to 41 %, no thread was near one core");

/// The record behind findings: real enough for CSV and for the header.
pub fn record(findings: &Findings) -> Record {
    let lanes = findings.lanes.iter().map(|lane| LaneSpec {
        name: lane.name.clone(),
        contestant: Contestant::Filesystem(lane.filesystem.clone()),
        mkfs_options: Vec::new(),
        mount_options: Vec::new(),
        devices: 1,
        aged: None,
        full_percent: None,
        layers: Vec::new(),
        above: None,
        venue: None,
        server_answers: None,
    });
    let header = Header {
        schema: 1,
        version: "0.1.0".to_owned(),
        started: findings.started.clone(),
        boot_id: "b0071d".to_owned(),
        seed: findings.seed,
        plan: Plan {
            suite: findings.suite.clone(),
            not_tested: Vec::new(),
            first_answer: true,
            as_published: false,
            calibration: false,
            screening: None,
            find_max: None,
            explain: false,
            explain_in_time: false,
            ranks: None,
            lanes: lanes.collect(),
            with_self: findings.lanes.iter().any(|lane| lane.is_self),
            workloads: Vec::new(),
            rounds: Rounds::Auto,
            margin: findings.margin,
            budget_seconds: Some(180.0),
            lane_size: Bytes(2 << 30),
            throttle: findings.throttle,
            lane_throttles: findings.lane_throttles.clone(),
            seed: findings.seed,
            on: Ground::Images("/home/li".into()),
            guest: Default::default(),
            command_line: findings.command_line.clone(),
        },
        machine: findings.machine.clone(),
        lanes: findings.lanes.clone(),
        warnings: Vec::new(),
        calibration: None,
    };
    let names = findings.lanes.iter().map(|lane| lane.name.as_str());
    let trials =
        names.enumerate().flat_map(|(at, lane)| [trial(lane, 1, at as u32 + 1), repeated(lane, at as u32 + 1)]);
    Record {
        header,
        rates: Vec::new(),
        steps: Vec::new(),
        profiles: Vec::new(),
        unreached: Vec::new(),
        clocks: None,
        probes: Vec::new(),
        layer_probes: Vec::new(),
        disks: Vec::new(),
        trials: trials.collect(),
        end: Some(EndOutcome::Complete),
        resumes: 0,
        warnings: Vec::new(),
        whole_bytes: 0,
    }
}

pub fn trial(lane: &str, round: u32, position: u32) -> Trial {
    let group = Group {
        name: "write".to_owned(),
        operations: 1_180,
        bytes: 1_180 * 4096,
        seconds: 1.0,
        sync_seconds: 0.0,
        primary_metric: "operations_per_second".to_owned(),
        metrics: BTreeMap::from([
            ("operations_per_second".to_owned(), 1_180.5),
            ("bandwidth_bytes_per_second".to_owned(), 4_835_328.0),
        ]),
        latency_ns: Some(Latency {
            mean: 846_000.0,
            p50: Some(801_000.0),
            p99: Some(2_100_000.0),
            p999: None,
            max: 9e6,
        }),
        ..Group::default()
    };
    Trial {
        round,
        position,
        attempt: 1,
        lane: lane.to_owned(),
        workload: "commit".to_owned(),
        ground: position - 1,
        outcome: Outcome::Ok,
        reason: None,
        started: "2026-07-01T10:00:12Z".to_owned(),
        phases_seconds: BTreeMap::new(),
        groups: vec![group],
        system: SystemUse {
            window_seconds: 1.0,
            cpu_user_seconds: 0.02,
            cpu_system_seconds: 0.11,
            device: DeviceUse { write_bytes: 14_000_000, flushes: 2_360, ..DeviceUse::default() },
            ..SystemUse::default()
        },
        timeline: None,
        jobs: Vec::new(),
        flags: Vec::new(),
        disturbance: None,
    }
}

fn repeated(lane: &str, position: u32) -> Trial {
    Trial {
        outcome: Outcome::Failed,
        reason: Some("=cmd|' /C calc'!A0, \"quoted\"".to_owned()),
        groups: Vec::new(),
        jobs: Vec::new(),
        flags: vec!["neighbour-active".into()],
        ..trial(lane, 2, position)
    }
}
