//! Fairlane's engine beside fio on the same job files, files and machine, in turns.
//!
//! `performance rows [PART]` compares the cost of single jobs (those whose names hold the part), `performance agreement` the figures of ten
//! job files on three filesystems, `performance memory [MINUTES]` the engine with itself. Each pair
//! runs both once, the order changes from pair to pair, and the median of the pairs' ratios counts:
//! a busy machine hits both alike. Needs root for the lanes and fio. Nothing is asserted: the tables
//! are for people.

use anyhow::{Context, Result, anyhow, bail};
use engine::clock::Clock;
use engine::{Place, Work};
use jobfile::Surroundings;
use lanes::{Journal, Settings, Stage, undo};
use model::Bytes;
use model::agent::Target;
use model::plan::Ground;
use model::workload::{Kind, Workload};
use serde_json::Value;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

const LANES: [&str; 3] = ["ext4", "xfs", "btrfs"];
const LANE_BYTES: Bytes = Bytes(3 << 30);
const ROW_PAIRS: usize = 5;
const AGREEMENT_PAIRS: usize = 3;

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words[..] {
        // What the parent starts.
        ["work", job, directory] => work(Path::new(job), Path::new(directory)),
        ["bare", file, seconds] => bare(Path::new(file), seconds.parse()?),
        ["rows"] => rows(""),
        ["rows", part] => rows(part),
        ["agreement"] => agreement(),
        ["memory"] => memory(10.0),
        ["memory", minutes] => memory(minutes.parse()?),
        _ => bail!("say what: rows, agreement or memory [MINUTES]"),
    }
}

/// What one run has cost.
#[derive(Debug, Clone, Copy)]
struct Cost {
    iops: f64,
    /// Of the whole system, from the start of the process to its end.
    total_cpu_us: f64,
    /// Of the process and its workers.
    user_cpu_us: f64,
}

fn jobs_folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../bench")
}

/// Runs a job file with Fairlane's engine and prints each group's figures.
fn work(job: &Path, directory: &Path) -> Result<()> {
    let (mut work, place) = prepare(job, directory)?;
    let groups: Vec<Value> = work
        .run(&place, &mut ())?
        .iter()
        .filter(|window| !window.group.ends_with("sync"))
        .map(|window| {
            serde_json::json!({ "name": window.group, "operations": window.operations, "seconds": window.seconds })
        })
        .collect();
    println!("{}", Value::from(groups));
    for note in work.notes() {
        eprintln!("{note}");
    }
    Ok(())
}

fn prepare(job: &Path, directory: &Path) -> Result<(Box<dyn Work>, Place)> {
    let surroundings = Surroundings {
        read: &|path| std::fs::read_to_string(path),
        variable: &|name| std::env::var(name).ok(),
        cpus: 2,
        memory_bytes: 8 << 30,
        page_bytes: 4096,
    };
    let jobs = jobfile::parse(job, &surroundings)?;
    let place = Place::open(&Target::Directory(directory.to_owned()))?;
    let workload = Workload { name: "job".into(), title: "job".into(), kind: Kind::Jobs(Box::new(jobs)) };
    let work = engine::prepare(&place, &workload, 1, Arc::new(AtomicBool::new(false)))?;
    Ok((work, place))
}

/// The least that a loop must do that times every read: read, look at the system's clock, go on.
fn bare(path: &Path, seconds: f64) -> Result<()> {
    let file = std::fs::File::open(path)?;
    let blocks = file.metadata()?.len() / 4096;
    let mut block = vec![0; 4096];
    let (mut state, mut operations) = (0x9e37_79b9_7f4a_7c15_u64, 0_u64);
    let begun = std::time::Instant::now();
    loop {
        // xorshift64 (Marsaglia 2003): the cheapest offsets that are random at all.
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        let number = ((u128::from(state) * u128::from(blocks)) >> 64) as u64;
        file.read_exact_at(&mut block, number * 4096)?;
        operations += 1;
        let elapsed = begun.elapsed().as_secs_f64();
        if elapsed >= seconds {
            println!("{}", serde_json::json!([{ "name": "read", "operations": operations, "seconds": elapsed }]));
            return Ok(());
        }
    }
}

/// A program that is compared.
enum Runner {
    Fairlane,
    Fio,
    Bare(String),
}

/// Runs a job file in the directory.
fn run(runner: &Runner, job: &Path, directory: &Path) -> Result<Cost> {
    let own = std::env::current_exe()?;
    let mut command = match runner {
        Runner::Fairlane => {
            let mut command = Command::new(own);
            command.arg("work").arg(job).arg(directory);
            command
        }
        Runner::Fio => {
            let mut command = Command::new("fio");
            command.args(["--output-format=json", "--eta=never", "--aux-path=/tmp"]).arg(job);
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
    let (operations, iops) = if let Runner::Fio = runner { of_fio(&value) } else { of_ours(&value) };
    if operations == 0.0 {
        bail!("{} on {} did nothing", name(runner), job.display());
    }
    Ok(Cost { iops, total_cpu_us: busy * 1e6 / operations, user_cpu_us: user * 1e6 / operations })
}

fn name(runner: &Runner) -> &'static str {
    match runner {
        Runner::Fairlane => "fairlane",
        Runner::Fio => "fio",
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

/// What pairs of runs come to: medians of ours, theirs and the ratios.
struct Compared {
    ours: Cost,
    theirs: Cost,
    iops: f64,
    iops_range: (f64, f64),
    total_cpu: f64,
    user_cpu: f64,
}

fn compare(ours: (&Runner, &Path), theirs: (&Runner, &Path), directory: &Path, pairs: usize) -> Result<Compared> {
    // Once unmeasured: files are laid out and caches are as they will be.
    run(ours.0, ours.1, directory)?;
    let (mut of_ours, mut of_theirs) = (Vec::new(), Vec::new());
    for pair in 0..pairs {
        if pair % 2 == 0 {
            of_ours.push(run(ours.0, ours.1, directory)?);
            of_theirs.push(run(theirs.0, theirs.1, directory)?);
        } else {
            of_theirs.push(run(theirs.0, theirs.1, directory)?);
            of_ours.push(run(ours.0, ours.1, directory)?);
        }
    }
    let ratios = |of: fn(&Cost) -> f64| -> Vec<f64> {
        of_ours.iter().zip(&of_theirs).map(|(ours, theirs)| of(ours) / of(theirs)).collect()
    };
    let by_iops = ratios(|cost| cost.iops);
    let middle = |costs: &[Cost]| Cost {
        iops: median(costs.iter().map(|cost| cost.iops).collect()),
        total_cpu_us: median(costs.iter().map(|cost| cost.total_cpu_us).collect()),
        user_cpu_us: median(costs.iter().map(|cost| cost.user_cpu_us).collect()),
    };
    Ok(Compared {
        ours: middle(&of_ours),
        theirs: middle(&of_theirs),
        iops_range: by_iops.iter().fold((f64::MAX, 0.0), |range, &ratio| (range.0.min(ratio), range.1.max(ratio))),
        iops: median(by_iops),
        total_cpu: median(ratios(|cost| cost.total_cpu_us)),
        user_cpu: median(ratios(|cost| cost.user_cpu_us)),
    })
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    if values.len() % 2 == 1 { values[middle] } else { (values[middle - 1] + values[middle]) / 2.0 }
}

/// Three filesystems on images, mounted together, and everything undone at the end.
struct Grounds {
    stage: Option<Stage>,
    journal: Option<Journal>,
    directories: Vec<PathBuf>,
}

impl Grounds {
    fn build(names: &[&str]) -> Result<Self> {
        let run_id = format!("performance-{}", std::process::id());
        let specs = names.iter().map(|name| name.parse().map_err(|error| anyhow!("{error}"))).collect::<Result<_>>()?;
        let mut stage = Stage::check(Settings {
            specs,
            with_self: false,
            ground: Ground::Images(std::env::current_dir()?),
            lane_size: LANE_BYTES,
            run_id: run_id.clone(),
            seed: 1,
            erase: Vec::new(),
            largest_working_set_bytes: 1 << 30,
            terminal: false,
        })?;
        let never = AtomicBool::new(false);
        let mut journal = Journal::begin(&undo::directory()?, &run_id)?;
        let mut directories = Vec::new();
        let built = stage.build(&mut journal, &mut |_, _| {}, &never).and_then(|()| {
            (0..names.len()).try_for_each(|lane| {
                stage.open(lane, lane, &mut journal, &never).map(|opened| directories.push(opened.directory))
            })
        });
        let grounds = Grounds { stage: Some(stage), journal: Some(journal), directories };
        built?;
        Ok(grounds)
    }
}

impl Drop for Grounds {
    fn drop(&mut self) {
        let (Some(mut stage), Some(mut journal)) = (self.stage.take(), self.journal.take()) else { return };
        for lane in 0..stage.lane_count() {
            if stage.is_open(lane)
                && let Err(error) = stage.close(lane, &mut journal)
            {
                eprintln!("{error}");
            }
        }
        if let Err(error) = stage.teardown(&mut journal).and_then(|()| journal.finish()) {
            eprintln!("{error}; fairlane clean removes it");
        }
    }
}

/// Whether every page of the file is in the page cache.
fn resident(path: &Path) -> Result<bool> {
    use std::os::fd::AsRawFd;
    let file = std::fs::File::open(path)?;
    let bytes = file.metadata()?.len() as usize;
    let mut pages = vec![0_u8; bytes.div_ceil(4096)];
    // SAFETY: a shared read-only mapping of a file that is open, of its length, at an address of the
    // kernel's choice; it is only asked about and unmapped again. `pages` has a byte for each page.
    unsafe {
        let start = libc::mmap(std::ptr::null_mut(), bytes, libc::PROT_READ, libc::MAP_SHARED, file.as_raw_fd(), 0);
        if start == libc::MAP_FAILED {
            return Err(std::io::Error::last_os_error().into());
        }
        libc::mincore(start, bytes, pages.as_mut_ptr());
        libc::munmap(start, bytes);
    }
    Ok(pages.iter().all(|page| page & 1 == 1))
}

fn rows(part: &str) -> Result<()> {
    let bench = jobs_folder().join("rows");
    let job = |name: &str| bench.join(format!("{name}.fio"));
    let grounds = Grounds::build(&["ext4"])?;
    let lane = grounds.directories[0].clone();
    let memory = tempfile_in("/dev/shm")?;
    println!("clock: {}", Clock::get().name());
    println!("| work | against | IOPS ratio (range) | at least | total CPU | user CPU | ours | theirs |");
    println!("| --- | --- | --- | --- | --- | --- | --- | --- |");
    let row = |work: &str,
               ours: &str,
               against: &str,
               theirs: (Runner, &str),
               directory: &Path,
               bar: &str|
     -> Result<()> {
        if !work.contains(part) && !against.contains(part) {
            return Ok(());
        }
        let found = compare((&Runner::Fairlane, &job(ours)), (&theirs.0, &job(theirs.1)), directory, ROW_PAIRS)?;
        println!(
            "| {work} | {against} | {:.3} ({:.2} to {:.2}) | {bar} | {:.2} | {:.2} | {:.0} IOPS, {:.2} µs CPU, {:.2} µs user | {:.0} IOPS, {:.2} µs CPU, {:.2} µs user |",
            found.iops,
            found.iops_range.0,
            found.iops_range.1,
            found.total_cpu,
            found.user_cpu,
            found.ours.iops,
            found.ours.total_cpu_us,
            found.ours.user_cpu_us,
            found.theirs.iops,
            found.theirs.total_cpu_us,
            found.theirs.user_cpu_us,
        );
        Ok(())
    };
    let memory_path = memory.clone();
    row("null engine, latency of every operation", "null", "fio null", (Runner::Fio, "null"), &memory_path, "4")?;
    for (place, directory) in [("tmpfs", &memory_path), ("ext4", &lane)] {
        run(&Runner::Fairlane, &job("cached-sync"), directory)?;
        let file = directory.join("cached.0.0");
        if !resident(&file)? {
            bail!("{} is not wholly in the page cache; free some memory", file.display());
        }
        let work = format!("4 KiB cached random read, sync, {place}");
        let bare = Runner::Bare("cached.0.0".to_owned());
        row(&work, "cached-sync", "bare pread loop", (bare, "cached-sync"), directory, "0.98")?;
        row(&work, "cached-sync", "fio psync", (Runner::Fio, "cached-sync"), directory, "1.2")?;
    }
    let direct = "4 KiB random read, direct, io_uring, iodepth 64, ext4";
    let bar = "1.05, total CPU 0.6";
    row(direct, "direct-uring", "fio default", (Runner::Fio, "direct-uring"), &lane, bar)?;
    let bar = "0.98, total CPU 1.0, user CPU 0.6";
    row(direct, "direct-uring-tuned", "fio tuned", (Runner::Fio, "direct-uring-tuned"), &lane, bar)?;
    let cached = "4 KiB cached random read, buffered, io_uring, iodepth 32, ext4";
    row(cached, "cached-uring", "fio default", (Runner::Fio, "cached-uring"), &lane, "1.6")?;
    row(cached, "cached-uring-tuned", "fio tuned", (Runner::Fio, "cached-uring-tuned"), &lane, "1.1")?;
    let libaio = "4 KiB random read, direct, libaio, iodepth 64, ext4";
    row(libaio, "direct-libaio", "fio", (Runner::Fio, "direct-libaio"), &lane, "1.0")?;
    row("sequential read 1 MiB, direct, ext4", "seq-read", "fio", (Runner::Fio, "seq-read"), &lane, "1.0")?;
    row("sequential write 1 MiB, direct, ext4", "seq-write", "fio", (Runner::Fio, "seq-write"), &lane, "1.0")?;
    std::fs::remove_dir_all(memory)?;
    Ok(())
}

fn tempfile_in(parent: &str) -> Result<PathBuf> {
    let path = Path::new(parent).join(format!("fairlane-performance-{}", std::process::id()));
    std::fs::create_dir(&path)?;
    Ok(path)
}

fn agreement() -> Result<()> {
    let mut jobs: Vec<PathBuf> = std::fs::read_dir(jobs_folder().join("agreement"))?
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|extension| extension == "fio"))
        .collect();
    jobs.sort();
    println!("| job file | {} |", LANES.join(" | "));
    println!("| --- |{}", " --- |".repeat(LANES.len()));
    for job in &jobs {
        let grounds = Grounds::build(&LANES)?;
        let mut cells = Vec::new();
        for directory in &grounds.directories {
            let found = compare((&Runner::Fairlane, job), (&Runner::Fio, job), directory, AGREEMENT_PAIRS)?;
            cells.push(format!("{:.3} ({:.2} to {:.2})", found.iops, found.iops_range.0, found.iops_range.1));
        }
        let stem = job.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
        println!("| {stem} | {} |", cells.join(" | "));
    }
    Ok(())
}

/// Resident memory of a worker at full rate: after a minute, and at the end.
fn memory(minutes: f64) -> Result<()> {
    let directory = tempfile_in("/dev/shm")?;
    let seconds = minutes * 60.0;
    let text =
        format!("[m]\nioengine=io_uring\niodepth=32\nrw=randrw\nbs=4k\nsize=256M\nruntime={seconds}\ntime_based\n");
    std::fs::write(directory.join("memory.fio"), text)?;
    let own = std::env::current_exe()?;
    let mut child = Command::new(own)
        .arg("work")
        .arg(directory.join("memory.fio"))
        .arg(&directory)
        .stdout(Stdio::null())
        .spawn()
        .context("cannot start the engine")?;
    let begun = std::time::Instant::now();
    let mut seen = Vec::new();
    while child.try_wait()?.is_none() {
        std::thread::sleep(std::time::Duration::from_secs(5));
        if let Some(bytes) = resident_bytes(child.id()) {
            seen.push((begun.elapsed().as_secs_f64(), bytes));
        }
    }
    std::fs::remove_dir_all(&directory)?;
    let at = |second: f64| seen.iter().find(|(time, _)| *time >= second).map(|found| found.1);
    let most = seen.iter().map(|found| found.1).max().unwrap_or(0);
    println!(
        "memory of engine and worker: {} after a minute, {} at the end, {} at most",
        Bytes(at(60.0).unwrap_or(0) & !1023),
        Bytes(seen.iter().rev().nth(1).map_or(0, |found| found.1) & !1023),
        Bytes(most & !1023)
    );
    Ok(())
}

/// Anonymous memory of a process and its children: what it has beyond files that are cached anyway.
fn resident_bytes(pid: u32) -> Option<u64> {
    let of = |pid: u32| {
        let text = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
        let line = text.lines().find(|line| line.starts_with("VmRSS:"))?;
        Some(line.split_whitespace().nth(1)?.parse::<u64>().ok()? * 1024)
    };
    let children = std::fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap_or_default();
    let below: u64 = children.split_whitespace().filter_map(|child| of(child.parse().ok()?)).sum();
    Some(of(pid)? + below)
}
