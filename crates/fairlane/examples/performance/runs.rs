//! One run of a job file by one program, its cost, and programs compared in rounds.

use anyhow::{Context, Result, bail};
use serde_json::Value;
use std::path::Path;
use std::process::{Command, Stdio};

/// What one run has cost.
#[derive(Debug, Clone, Copy)]
pub struct Cost {
    pub iops: f64,
    /// Of the whole system, from the start of the process to its end.
    pub total_cpu_us: f64,
    /// Of the process and its workers.
    pub user_cpu_us: f64,
}

/// A program that is compared.
#[derive(Debug, Clone)]
pub enum Runner {
    Fairlane,
    /// Without huge pages for its buffers.
    FairlaneSmallPages,
    Fio,
    /// With new data and other offsets in every run, as Fairlane's are.
    FioFresh,
    Bare(String),
}

/// Runs a job file in the directory.
pub fn run(runner: &Runner, job: &Path, directory: &Path) -> Result<Cost> {
    let own = std::env::current_exe()?;
    let mut command = match runner {
        Runner::Fairlane | Runner::FairlaneSmallPages => {
            let small = matches!(runner, Runner::FairlaneSmallPages);
            let mut command = Command::new(own);
            command.arg(if small { "work-in-small-pages" } else { "work" }).arg(job).arg(directory);
            command
        }
        Runner::Fio | Runner::FioFresh => {
            let mut command = Command::new("fio");
            command.args(["--output-format=json", "--eta=never", "--aux-path=/tmp"]);
            if let Runner::FioFresh = runner {
                command.args(["--randrepeat=0", "--refill_buffers=1"]);
            }
            command.arg(job);
            command
        }
        Runner::Bare(file) => {
            let mut command = Command::new(own);
            command.arg("bare").arg(directory.join(file)).arg("2");
            command
        }
    };
    let (before, user_before) = (busy_seconds()?, children_user_seconds());
    let output = command.current_dir(directory).stderr(Stdio::piped()).output().context("cannot start; install fio")?;
    let (busy, user) = (busy_seconds()? - before, children_user_seconds() - user_before);
    if !output.status.success() {
        bail!("{} on {}: {}", name(runner), job.display(), String::from_utf8_lossy(&output.stderr));
    }
    let text = String::from_utf8(output.stdout)?;
    let start = text.find(['{', '[']).context("no JSON came")?;
    let value: Value = serde_json::from_str(&text[start..])?;
    let (operations, iops) = if let Runner::Fio | Runner::FioFresh = runner { of_fio(&value) } else { of_ours(&value) };
    if operations == 0.0 {
        bail!("{} on {} did nothing", name(runner), job.display());
    }
    Ok(Cost { iops, total_cpu_us: busy * 1e6 / operations, user_cpu_us: user * 1e6 / operations })
}

fn name(runner: &Runner) -> &'static str {
    match runner {
        Runner::Fairlane | Runner::FairlaneSmallPages => "fairlane",
        Runner::Fio | Runner::FioFresh => "fio",
        Runner::Bare(_) => "bare loop",
    }
}

fn of_ours(value: &Value) -> (f64, f64) {
    let groups = value.as_array().map(Vec::as_slice).unwrap_or_default();
    let of = |group: &Value| {
        let operations = group["operations"].as_f64().unwrap_or(0.0);
        (operations, operations / group["seconds"].as_f64().unwrap_or(1.0).max(1e-9))
    };
    groups.iter().map(of).fold((0.0, 0.0), |sum, one| (sum.0 + one.0, sum.1 + one.1))
}

fn of_fio(value: &Value) -> (f64, f64) {
    let jobs = value["jobs"].as_array().map(Vec::as_slice).unwrap_or_default();
    let mut sum = (0.0, 0.0);
    for job in jobs {
        for direction in ["read", "write", "trim"] {
            sum.0 += job[direction]["total_ios"].as_f64().unwrap_or(0.0);
            sum.1 += job[direction]["iops"].as_f64().unwrap_or(0.0);
        }
    }
    sum
}

/// CPU time of the whole system: user, nice, system, interrupts.
fn busy_seconds() -> Result<f64> {
    let text = std::fs::read_to_string("/proc/stat")?;
    let fields: Vec<f64> = text
        .lines()
        .next()
        .unwrap_or_default()
        .split_whitespace()
        .skip(1)
        .filter_map(|word| word.parse().ok())
        .collect();
    let ticks: f64 = [0, 1, 2, 5, 6].iter().filter_map(|&at| fields.get(at)).sum();
    Ok(ticks / 100.0)
}

/// User time of all processes that were waited for.
fn children_user_seconds() -> f64 {
    let mut usage = std::mem::MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: the pointer is to a whole rusage of our own, which the call fills; zeros are valid.
    let usage = unsafe {
        libc::getrusage(libc::RUSAGE_CHILDREN, usage.as_mut_ptr());
        usage.assume_init()
    };
    usage.ru_utime.tv_sec as f64 + usage.ru_utime.tv_usec as f64 / 1e6
}

/// Runs every program once per round, each round from another one on, and gives the costs: by program,
/// then by round.
pub fn rounds(entries: &[(Runner, &Path)], directory: &Path, rounds: usize) -> Result<Vec<Vec<Cost>>> {
    // Once unmeasured: files are laid out and caches are as they will be.
    run(&entries[0].0, entries[0].1, directory)?;
    let mut costs = vec![Vec::new(); entries.len()];
    for round in 0..rounds {
        for turn in 0..entries.len() {
            let entry = (turn + round) % entries.len();
            costs[entry].push(run(&entries[entry].0, entries[entry].1, directory)?);
        }
    }
    Ok(costs)
}

/// Ratios of one figure, round by round: their median, smallest and largest.
pub fn ratio(ours: &[Cost], theirs: &[Cost], of: fn(&Cost) -> f64) -> (f64, f64, f64) {
    let ratios: Vec<f64> = ours.iter().zip(theirs).map(|(ours, theirs)| of(ours) / of(theirs)).collect();
    let range = ratios.iter().fold((f64::MAX, 0.0_f64), |range, &one| (range.0.min(one), range.1.max(one)));
    (median(ratios), range.0, range.1)
}

/// The middle of each figure.
pub fn middle(costs: &[Cost]) -> Cost {
    let of = |figure: fn(&Cost) -> f64| median(costs.iter().map(figure).collect());
    Cost {
        iops: of(|cost| cost.iops),
        total_cpu_us: of(|cost| cost.total_cpu_us),
        user_cpu_us: of(|cost| cost.user_cpu_us),
    }
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    if values.len() % 2 == 1 { values[middle] } else { (values[middle - 1] + values[middle]) / 2.0 }
}
