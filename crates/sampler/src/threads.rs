//! CPU time of every thread, kernel threads included: one of them at a whole core is a bottleneck
//! that the system's total hides.
//!
//! /proc/PID/task/TID/schedstat counts nanoseconds on a CPU; where the kernel lacks it, the 10 ms
//! ticks of /proc/PID/task/TID/stat stand in.

use crate::source::{fields, number};
use std::collections::HashMap;
use std::fs::{File, read_dir};
use std::io::Read;
use std::time::Instant;

/// Nanoseconds on a CPU by thread, at one moment.
#[derive(Debug)]
pub(crate) struct Threads {
    taken: Instant,
    /// By process and thread: the two numbers find its name again.
    nanoseconds: HashMap<(u32, u32), u64>,
}

/// The thread that took most of one core.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Busiest {
    pub(crate) share: f64,
    pub(crate) name: String,
}

impl Threads {
    /// Looks at every thread. About 5 µs each.
    pub(crate) fn look() -> Self {
        let taken = Instant::now();
        let mut nanoseconds = HashMap::new();
        let mut path = String::with_capacity(64);
        for process in numbers("/proc") {
            for thread in numbers(&format!("/proc/{process}/task")) {
                // Threads come and go while we look: one that is gone is left out.
                if let Some(time) = nanoseconds_of(&mut path, process, thread) {
                    nanoseconds.insert((process, thread), time);
                }
            }
        }
        Threads { taken, nanoseconds }
    }

    /// The busiest thread between an earlier look and this one. A thread that was not there before
    /// began since: all its time counts. `counts`: processes whose threads are looked at.
    pub(crate) fn busiest_since(&self, before: &Threads, counts: &dyn Fn(u32) -> bool) -> Option<Busiest> {
        let elapsed = self.taken.duration_since(before.taken).as_nanos() as f64;
        let spent = |(thread, after): (&(u32, u32), &u64)| {
            (*thread, after.saturating_sub(before.nanoseconds.get(thread).copied().unwrap_or(0)))
        };
        let (thread, nanoseconds) = self
            .nanoseconds
            .iter()
            .filter(|((process, _), _)| counts(*process))
            .map(spent)
            .max_by_key(|(_, spent)| *spent)?;
        if elapsed <= 0.0 || nanoseconds == 0 {
            return None;
        }
        Some(Busiest { share: nanoseconds as f64 / elapsed, name: name_of(thread) })
    }
}

fn numbers(path: &str) -> Vec<u32> {
    let entries = read_dir(path).into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect()
}

fn nanoseconds_of(path: &mut String, process: u32, thread: u32) -> Option<u64> {
    use std::fmt::Write;
    let mut text = [0; 1024];
    for (file, parse) in [("schedstat", parse_schedstat as fn(&[u8]) -> Option<u64>), ("stat", parse_stat)] {
        path.clear();
        // Writing into a String cannot fail.
        let _ = write!(path, "/proc/{process}/task/{thread}/{file}");
        let count = File::open(&*path).and_then(|mut file| file.read(&mut text)).unwrap_or(0);
        if let Some(time) = parse(&text[..count]) {
            return Some(time);
        }
    }
    None
}

/// `nanoseconds on a CPU, nanoseconds waiting, timeslices`.
fn parse_schedstat(text: &[u8]) -> Option<u64> {
    fields(text).next().map(number)
}

/// utime and stime, fields 14 and 15; the name in field 2 may hold blanks and brackets.
fn parse_stat(text: &[u8]) -> Option<u64> {
    let after_name = &text[text.iter().rposition(|byte| *byte == b')')? + 1..];
    let mut rest = fields(after_name).skip(11);
    let ticks = number(rest.next()?) + number(rest.next()?);
    // The kernel shows ticks of 1/100 s to every program on every architecture that we run on.
    Some(ticks * 10_000_000)
}

/// The thread's name; a kworker's tells what it works on.
fn name_of((process, thread): (u32, u32)) -> String {
    let comm = std::fs::read(format!("/proc/{process}/task/{thread}/comm")).unwrap_or_default();
    let name = String::from_utf8_lossy(&comm).trim_end().to_owned();
    if name.is_empty() { format!("thread {thread}") } else { name }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_spinning_thread_is_found_by_name_with_its_share() {
        let before = Threads::look();
        let (tell, spun) = std::sync::mpsc::channel();
        let spinner = std::thread::Builder::new().name("spin-for-test".into());
        let handle = spinner
            .spawn(move || {
                // So much of a CPU, however long that takes on a busy machine.
                let mut used = libc::timespec { tv_sec: 0, tv_nsec: 0 };
                while used.tv_sec == 0 && used.tv_nsec < 60_000_000 {
                    // SAFETY: the call writes the one structure that it is given.
                    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut used) };
                }
                tell.send(()).unwrap();
                // Stay: a thread that has ended shows no time any more.
                std::thread::park_timeout(std::time::Duration::from_secs(20));
            })
            .unwrap();
        spun.recv().unwrap();
        let after = Threads::look();
        let own = after.nanoseconds.iter().filter(|((process, _), _)| *process == std::process::id());
        let spent = own.map(|(thread, time)| time - before.nanoseconds.get(thread).copied().unwrap_or(0)).max();
        // The kernel counts in ticks where it has no finer figures.
        assert!(spent.unwrap() > 40_000_000, "{spent:?}");
        let busiest = after.busiest_since(&before, &|_| true).unwrap();
        assert!(busiest.share > 0.0 && !busiest.name.is_empty(), "{busiest:?}");
        handle.thread().unpark();
        handle.join().unwrap();
    }

    #[test]
    fn both_formats_give_nanoseconds() {
        assert_eq!(parse_schedstat(b"123456 7 8\n"), Some(123_456));
        assert_eq!(parse_schedstat(b""), None);
        let stat = b"42 (a (b) c) R 1 1 1 0 -1 4194304 100 0 0 0 7 5 0 0 20 0 1 0 100 0 0";
        assert_eq!(parse_stat(stat), Some(120_000_000));
        assert_eq!(parse_stat(b"42 (cut"), None);
    }

    #[test]
    fn a_new_threads_whole_time_counts_and_no_time_is_nobody() {
        let taken = Instant::now();
        let before = Threads { taken, nanoseconds: HashMap::from([((1, 1), 1_000)]) };
        let later = taken + std::time::Duration::from_micros(10);
        let after = Threads { taken: later, nanoseconds: HashMap::from([((1, 1), 2_000), ((0, 0), 9_000)]) };
        let busiest = after.busiest_since(&before, &|_| true).unwrap();
        assert!((busiest.share - 0.9).abs() < 1e-9, "{busiest:?}");
        assert_eq!(before.busiest_since(&before, &|_| true), None);
        // Another program's thread is nobody's bottleneck.
        let busiest = after.busiest_since(&before, &|process| process == 1).unwrap();
        assert!((busiest.share - 0.1).abs() < 1e-9, "{busiest:?}");
    }
}
