//! Swarms of writers: what the harness itself costs, in memory (tmpfs), where next to nothing else does.

use crate::grounds::folder_in;
use anyhow::{Context, Result, bail};
use engine::{Observer, OpenTarget};
use model::agent::Target;
use model::workload::{Kind, Workload};
use serde_json::Value;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

const ROUNDS: usize = 5;

/// Seconds of the window in which memory is looked at: longer than it takes to look at thousands of processes.
const MEMORY_SECONDS: f64 = 3.0;

/// What is run, as a suite says it, and what it must reach.
const SWARMS: [(&str, &str, &str); 4] = [
    (
        "4,000 writers x 4 files at 0.5 s",
        "writers = 4000\nperiod_seconds = 0.5\nseconds = 10.0\nwarm_up_seconds = 2.0",
        "own p99 < 1 ms, user <= 25 % of a core",
    ),
    (
        "20,000 writers x 4 files at 2.5 s",
        "writers = 20000\nperiod_seconds = 2.5\nseconds = 10.0\nwarm_up_seconds = 2.0",
        "under 256 MiB",
    ),
    (
        "4,000 writers x 4 files at 0.5 s, opened each time",
        "writers = 4000\nperiod_seconds = 0.5\nseconds = 10.0\nwarm_up_seconds = 2.0\nreopen = true",
        "-",
    ),
    (
        "4,000 processes x 4 files at 0.5 s",
        "writers = 4000\nperiod_seconds = 0.5\nseconds = 10.0\nwarm_up_seconds = 2.0\nmethod = \"processes\"",
        "start and stop < 10 s",
    ),
];

/// Prints the table: medians over rounds, and the worst of them.
pub fn print() -> Result<()> {
    println!(
        "| appenders | must reach | appends/s | own p99 | lateness p99 | user CPU of a core | system CPU of a core | memory | of processes | start | stop |"
    );
    println!("| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |");
    for (name, appenders, bar) in SWARMS {
        let mut rounds = Vec::new();
        for _ in 0..ROUNDS {
            let directory = folder_in("/dev/shm")?;
            let ran = Command::new(std::env::current_exe()?)
                .args(["appenders-child", appenders])
                .arg(&directory)
                .stderr(Stdio::inherit())
                .output()
                .context("cannot start the engine");
            std::fs::remove_dir_all(&directory)?;
            let ran = ran?;
            if !ran.status.success() {
                bail!("{name}: the engine failed ({})", ran.status);
            }
            rounds.push(serde_json::from_slice::<Value>(&ran.stdout)?);
        }
        let column = |key: &str| {
            let mut all: Vec<f64> = rounds.iter().filter_map(|round| round[key].as_f64()).collect();
            all.sort_by(f64::total_cmp);
            (all[all.len() / 2], *all.last().unwrap_or(&0.0))
        };
        let with_worst = |key: &str, scale: f64, digits: usize, unit: &str| {
            let (middle, worst) = column(key);
            format!("{:.digits$} ({:.digits$}) {unit}", middle * scale, worst * scale)
        };
        println!(
            "| {name} | {bar} | {:.0} | {} | {} | {} | {} | {} | {:.0} | {} | {} |",
            column("appends_per_second").0,
            with_worst("own_p99_ns", 1e-6, 3, "ms"),
            with_worst("lateness_p99_ns", 1e-6, 3, "ms"),
            with_worst("user_cores", 100.0, 1, "%"),
            with_worst("system_cores", 100.0, 1, "%"),
            with_worst("peak_bytes", 1.0 / 1_048_576.0, 0, "MiB"),
            column("processes").0,
            with_worst("start_seconds", 1.0, 2, "s"),
            with_worst("stop_seconds", 1.0, 2, "s"),
        );
    }
    println!("\nMedians of {ROUNDS} rounds, the worst in brackets.");
    Ok(())
}

/// CPU time of this process at the window's ends.
#[derive(Default)]
struct Used(Vec<[f64; 2]>);

impl Observer for Used {
    fn window_opens(&mut self) {
        self.0.push(cpu_seconds());
    }
    fn window_closes(&mut self) {
        self.0.push(cpu_seconds());
    }
}

/// Memory of this process and its children when the window opens: at its end children begin to go. To look at
/// thousands of them takes a while, so nothing else is measured in that window.
#[derive(Default)]
struct Held(u64, usize);

impl Observer for Held {
    fn window_opens(&mut self) {
        (self.0, self.1) = memory_of_all();
    }
    fn window_closes(&mut self) {}
}

/// User and system time.
fn cpu_seconds() -> [f64; 2] {
    let mut usage = std::mem::MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: the pointer is to a whole rusage of our own, which the call fills; zeros are valid.
    let usage = unsafe {
        libc::getrusage(libc::RUSAGE_SELF, usage.as_mut_ptr());
        usage.assume_init()
    };
    [usage.ru_utime, usage.ru_stime].map(|time| time.tv_sec as f64 + time.tv_usec as f64 / 1e6)
}

/// Runs appenders and prints their figures.
pub fn work(appenders: &str, directory: &Path) -> Result<()> {
    let appenders: model::workload::Appenders = toml::from_str(appenders)?;
    let workload = Workload {
        name: "appenders".into(),
        title: "appenders".into(),
        kind: Kind::Appenders(Box::new(appenders.clone())),
    };
    let place = OpenTarget::open(&Target::Directory(directory.to_owned()))?;
    let mut work = engine::prepare(&place, &workload, 1, Arc::new(AtomicBool::new(false)))?;
    let mut used = Used::default();
    let windows = work.slice(&place, appenders.warm_up_seconds, appenders.seconds, &mut used)?;
    let window = windows.first().context("no window")?;
    let lateness = window.lateness.clone().context("no lateness")?;
    let (Some(before), Some(after)) = (used.0.first(), used.0.last()) else { bail!("nobody saw the window") };
    let mut held = Held::default();
    work.slice(&place, appenders.warm_up_seconds, MEMORY_SECONDS, &mut held)?;
    let cores = |at: usize, own: f64| (after[at] - before[at] + own) / window.seconds;
    let figures = serde_json::json!({
        "appends_per_second": window.operations_per_second(),
        "own_p99_ns": lateness.scheduling_ns.and_then(|of| of.p99),
        "lateness_p99_ns": window.latencies.value_at(0.99),
        "user_cores": cores(0, window.own_cpu_seconds.0),
        "system_cores": cores(1, window.own_cpu_seconds.1),
        "peak_bytes": peak_bytes().unwrap_or(0).max(held.0),
        "processes": held.1,
        "start_seconds": lateness.start_seconds,
        "stop_seconds": lateness.stop_seconds,
    });
    work.release();
    work.verify(&place)?;
    println!("{figures}");
    Ok(())
}

/// Memory of this process and its children, what several share divided among them, and how many they are.
fn memory_of_all() -> (u64, usize) {
    let own = std::process::id();
    let children = std::fs::read_to_string(format!("/proc/{own}/task/{own}/children")).unwrap_or_default();
    let of = |pid: u32| {
        let text = std::fs::read_to_string(format!("/proc/{pid}/smaps_rollup")).ok()?;
        let line = text.lines().find(|line| line.starts_with("Pss:"))?;
        Some(line.split_whitespace().nth(1)?.parse::<u64>().ok()? * 1024)
    };
    let pids = children.split_whitespace().filter_map(|child| child.parse().ok()).chain([own]);
    pids.filter_map(of).fold((0, 0), |(bytes, count), one| (bytes + one, count + 1))
}

/// The most memory that this process ever had resident.
fn peak_bytes() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = text.lines().find(|line| line.starts_with("VmHWM:"))?;
    Some(line.split_whitespace().nth(1)?.parse::<u64>().ok()? * 1024)
}
