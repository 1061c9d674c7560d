//! What a guest tells of its own system: its kernel, its clock, the work of its disks and the room of a filesystem.

use super::init::FAILURES;
use super::protocol::{Answer, Hello};
use crate::failure::{LaneFailure, cannot};
use std::path::Path;

/// Its kernel, its CPUs and memory, and which modules could not be loaded.
pub(super) fn hello() -> Hello {
    let read = |path: &str| std::fs::read_to_string(path).unwrap_or_default();
    let memory = read("/proc/meminfo")
        .lines()
        .find_map(|line| line.strip_prefix("MemTotal:")?.split_whitespace().next()?.parse::<u64>().ok());
    Hello {
        release: rustix::system::uname().release().to_string_lossy().into_owned(),
        filesystems: read("/proc/filesystems")
            .lines()
            .filter_map(|line| line.split('\t').next_back().map(str::to_owned))
            .collect(),
        cpus: std::thread::available_parallelism().map_or(1, |count| count.get() as u32),
        memory_bytes: memory.unwrap_or(0) * 1024,
        module_failures: read(FAILURES).lines().map(str::to_owned).collect(),
    }
}

/// /proc/diskstats: fields 7 (sectors written) and 9 (in flight) after the name.
pub(super) fn activity(devices: &[String]) -> Answer {
    let text = std::fs::read_to_string("/proc/diskstats").unwrap_or_default();
    let (mut in_flight, mut written_bytes) = (0, 0);
    for line in text.lines() {
        let fields: Vec<&str> = line.split_ascii_whitespace().collect();
        if fields.len() > 11 && devices.iter().any(|device| device == fields[2]) {
            written_bytes += fields[9].parse::<u64>().unwrap_or(0) * 512;
            in_flight += fields[11].parse::<u64>().unwrap_or(0);
        }
    }
    Answer::Activity { in_flight, written_bytes }
}

/// CLOCK_MONOTONIC.
pub(super) fn clock() -> Answer {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    Answer::Clock { nanoseconds: now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64 }
}

/// Room of a mounted filesystem.
///
/// # Errors
/// When the kernel does not tell.
pub(super) fn room(target: &Path) -> Result<Answer, LaneFailure> {
    let room = rustix::fs::statvfs(target).map_err(|error| cannot(format!("look at {}", target.display()), error))?;
    Ok(Answer::Room { inodes: room.f_files, free_inodes: room.f_ffree })
}
