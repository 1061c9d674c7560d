//! Memory of the engine at full rate.

use crate::grounds::folder_in;
use anyhow::{Context, Result};
use model::Bytes;
use std::process::{Command, Stdio};

/// Resident memory of a worker at full rate: after a minute, and at the end.
pub fn print(minutes: f64) -> Result<()> {
    let directory = folder_in("/dev/shm")?;
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
