//! What a guest tells of its own system: its kernel, its clock, the work of its disks and the room of a filesystem.

use super::init::FAILURES;
use super::protocol::{Answer, Hello};
use crate::failure::{LaneFailure, cannot};
use std::path::{Path, PathBuf};

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

/// Where the kernel tells of the calling thread; `None`: it does not.
pub(super) fn this_thread() -> Option<PathBuf> {
    std::fs::read_link("/proc/thread-self").ok().map(|thread| Path::new("/proc").join(thread))
}

/// A sum that changes while a thread gets on, the one that [`this_thread`] tells of: seconds of CPU time, and requests that disks
/// have done, as one long call keeps them busy. A call that sleeps for ever takes no CPU time; one that loops in the kernel, and what
/// other disks of the guest do meanwhile, look like work.
pub(super) fn work_of(thread: Option<&Path>) -> u64 {
    let read = |path: &Path| std::fs::read_to_string(path).unwrap_or_default();
    let ticks = thread.and_then(|thread| ticks_of(&read(&thread.join("stat")))).unwrap_or(0);
    let seconds = ticks / rustix::param::clock_ticks_per_second().max(1);
    seconds.wrapping_add(requests_in(&read(Path::new("/proc/diskstats"))))
}

/// CPU time of a thread in clock ticks: fields 14 and 15 of its `stat` (proc_pid_stat(5)); the name before them may hold anything.
fn ticks_of(stat: &str) -> Option<u64> {
    let fields: Vec<&str> = stat[stat.rfind(')')? + 1..].split_whitespace().collect();
    fields.get(11..13)?.iter().map(|field| field.parse::<u64>().ok()).sum()
}

/// /proc/diskstats: reads, writes and flushes that are done, fields 1, 5 and 16 after each name.
fn requests_in(diskstats: &str) -> u64 {
    let done = |line: &str| {
        let fields: Vec<&str> = line.split_ascii_whitespace().collect();
        [3, 7, 18].iter().filter_map(|&at| fields.get(at)?.parse::<u64>().ok()).fold(0, u64::wrapping_add)
    };
    diskstats.lines().map(done).fold(0, u64::wrapping_add)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_is_cpu_time_of_the_thread_and_requests_of_all_disks() {
        assert_eq!(ticks_of("7 (a) b) D 1 1 1 0 -1 64 5 6 7 8 150 25 9 9 20 0 1 0 5"), Some(175));
        assert_eq!(ticks_of("7 (a"), None);
        let disks = "  98 0 ubda 10 1 2 3 20 5 6 7 0 8 9\n 98 16 ubdb 1 0 0 0 2 0 0 0 0 0 0 0 0 0 0 4 0\n";
        assert_eq!(requests_in(disks), 37);
        let own = this_thread().unwrap();
        assert!(ticks_of(&std::fs::read_to_string(own.join("stat")).unwrap()).is_some(), "{}", own.display());
    }
}
