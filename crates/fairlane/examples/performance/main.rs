//! Fairlane's engine beside fio on the same job files, files and machine, in turns.
//!
//! `performance rows [PART]` compares the cost of single jobs (those whose names hold the part),
//! `performance agreement [PART]` the figures of ten job files on three filesystems, `performance
//! operations` file operations with a bare loop and fs_mark, `performance sysbench [PART]` transactions beside those of
//! sysbench, `performance appenders` (with what they must reach), `performance guests` (which
//! needs no root) how long guests take to start, `performance restore [LANE]` how long laying a kept image takes beside a fresh
//! one, `performance index [RECORDS]` (without root too) answers over thousands of records, `performance ranks [RANKS]` (without
//! root too) what rank 0 of a large job takes, and `performance memory [MINUTES]` the engine with itself. Each round runs every
//! program once, the order changes from round to round, and the median of the rounds' ratios counts: a busy machine hits all
//! alike. Needs root for the lanes and fio. Nothing is asserted: the tables are for people.

mod agreement;
mod appenders;
mod grounds;
mod guests;
mod index;
mod memory;
mod operations;
mod ranks;
mod restore;
mod rows;
mod runs;
mod sysbench;

use anyhow::{Result, bail};
use engine::{OpenTarget, Work};
use jobfile::Surroundings;
use model::agent::Target;
use model::workload::{Kind, Workload};
use serde_json::Value;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words[..] {
        // What the parent starts.
        ["work", job, directory] => work(Path::new(job), Path::new(directory)),
        ["work-in-small-pages", job, directory] => {
            refuse_huge_pages()?;
            work(Path::new(job), Path::new(directory))
        }
        ["bare", file, seconds] => bare(Path::new(file), seconds.parse()?),
        ["rows"] => rows::print(""),
        ["rows", part] => rows::print(part),
        ["agreement"] => agreement::print(""),
        ["agreement", part] => agreement::print(part),
        ["guests"] => guests::print(),
        ["index"] => index::print(10_000),
        ["index", records] => index::print(records.parse()?),
        ["restore"] => restore::print("ext4+aged"),
        ["restore", lane] => restore::print(lane),
        ["ranks"] => ranks::print(&[2, 64, 1024, 10_000]),
        ["ranks", ranks] => ranks::print(&[ranks.parse()?]),
        ["memory"] => memory::print(10.0),
        ["memory", minutes] => memory::print(minutes.parse()?),
        ["operations"] => operations::print(),
        ["fs_mark"] => operations::print_fs_mark(),
        ["sysbench"] => sysbench::print(""),
        ["sysbench", part] => sysbench::print(part),
        ["appenders"] => appenders::print(),
        ["appenders-child", appenders, directory] => appenders::work(appenders, Path::new(directory)),
        ["operations-child", what, directory] => operations::work(what, Path::new(directory)),
        ["operations-memory", files, directory] => operations::memory(files.parse()?, Path::new(directory)),
        _ => bail!(
            "say what: rows [PART], agreement [PART], operations, fs_mark, sysbench [PART], appenders, memory [MINUTES], \
             index [RECORDS], ranks [RANKS], restore [LANE] or guests"
        ),
    }
}

fn jobs_folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../bench")
}

/// Takes huge pages from this process and its children, as fio's buffers have none.
fn refuse_huge_pages() -> Result<()> {
    // SAFETY: this option takes plain numbers and touches no memory of ours.
    if unsafe { libc::prctl(libc::PR_SET_THP_DISABLE, 1, 0, 0, 0) } != 0 {
        return Err(std::io::Error::last_os_error().into());
    }
    Ok(())
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

fn prepare(job: &Path, directory: &Path) -> Result<(Box<dyn Work>, OpenTarget)> {
    let surroundings = Surroundings {
        read: &|path| std::fs::read_to_string(path),
        variable: &|name| std::env::var(name).ok(),
        cpus: 2,
        memory_bytes: 8 << 30,
        page_bytes: 4096,
        space_bytes: 1 << 30,
    };
    let jobs = jobfile::parse(job, &surroundings)?;
    let place = OpenTarget::open(&Target::Directory(directory.to_owned()))?;
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
