//! One window of known work, profiled, as lines that another tool's view of the same window is compared with.
//!
//! `one-window FOLDER DEVICE SECONDS commits|files`: in FOLDER, which lies on DEVICE (`loop0`), either writes 4 KiB with
//! direct I/O and makes them durable, or makes and removes small files. Prints `window BEGIN END` (CLOCK_MONOTONIC, seconds),
//! `process PID`, `device REQUESTS SECONDS FLUSHES SECONDS` (request-seconds), and for each innermost function of this
//! process on a CPU `cpu SECONDS FUNCTION`.

use model::profile::{Activity, ThreadRole};
use profile::{Capture, LaneProcesses, Profiler};
use rustix::fs::OFlags;
use rustix::time::{ClockId, clock_gettime};
use std::collections::{BTreeMap, BTreeSet};
use std::io::Write as _;
use std::os::unix::fs::{FileExt as _, OpenOptionsExt as _};
use std::path::Path;
use std::time::Instant;

const BLOCK: usize = 4096;
const BLOCKS: u64 = 4096;

fn now() -> f64 {
    let now = clock_gettime(ClockId::Monotonic);
    now.tv_sec as f64 + now.tv_nsec as f64 / 1e9
}

/// Memory that direct I/O takes.
#[repr(align(4096))]
struct Aligned([u8; BLOCK]);

type Work<'a> = Box<dyn FnMut(u64) -> std::io::Result<()> + 'a>;

fn commits(folder: &Path) -> std::io::Result<Work<'_>> {
    let mut options = std::fs::OpenOptions::new();
    let file = options.write(true).create(true).truncate(true).open(folder.join("file"))?;
    (0..BLOCKS).try_for_each(|at| file.write_all_at(&[1; BLOCK], at * BLOCK as u64))?;
    file.sync_all()?;
    let flags = OFlags::DIRECT.bits() as i32;
    let file = std::fs::OpenOptions::new().write(true).custom_flags(flags).open(folder.join("file"))?;
    let block = Box::new(Aligned([2; BLOCK]));
    Ok(Box::new(move |turn| {
        file.write_all_at(&block.0, (turn * 1103 % BLOCKS) * BLOCK as u64)?;
        file.sync_data()
    }))
}

fn files(folder: &Path) -> std::io::Result<Work<'_>> {
    Ok(Box::new(|turn| {
        let path = folder.join(format!("{}", turn % 1000));
        std::fs::File::create(&path)?.write_all(&[3; 1024])?;
        if turn % 3 == 0 { std::fs::remove_file(&path) } else { Ok(()) }
    }))
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [folder, device, seconds, kind] = words.as_slice() else {
        return Err("one-window FOLDER DEVICE SECONDS commits|files".into());
    };
    let (folder, seconds) = (Path::new(folder), seconds.parse::<f64>()?);
    let mut work = if kind == "commits" { commits(folder)? } else { files(folder)? };
    let mut profiler = Profiler::open()?;
    profiler.start()?;
    let (begun, instant) = (now(), Instant::now());
    let mut turns = 0;
    while instant.elapsed().as_secs_f64() < seconds {
        work(turns)?;
        turns += 1;
    }
    let length = instant.elapsed().as_secs_f64();
    let window = profiler.stop((0.0, length), &[device])?;
    let mut capture = Capture::default();
    let agent = BTreeSet::from([std::process::id()]);
    capture.add(&window, profiler.kernel(), &LaneProcesses { agent, ..LaneProcesses::default() }, None);
    let profile = capture.profile(("w", "l", "g"), turns, turns as f64 / length);
    println!("window {begun} {}", begun + length);
    println!("process {}", std::process::id());
    let of = profile.device;
    println!("device {} {} {} {}", of.requests, of.request_seconds, of.flushes, of.flush_request_seconds);
    println!("lost {}", profile.lost_events);
    println!("samples {} {}", profile.samples, profile.left_out_seconds);
    let mut functions: BTreeMap<&str, f64> = BTreeMap::new();
    let on_cpu = |of: &&model::profile::StackTime| of.role == ThreadRole::Caller && of.activity == Activity::Cpu;
    for stack in profile.stacks.iter().filter(on_cpu) {
        *functions.entry(profile.names(stack).next_back().unwrap_or("[outside]")).or_default() += stack.seconds;
    }
    for (function, seconds) in functions {
        println!("cpu {seconds} {function}");
    }
    Ok(())
}
