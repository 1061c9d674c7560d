//! What else shows while appenders are at work: the page cache's parts, the load average, tasks that
//! wait in the kernel, and the kernel's workers.
//!
//! All but the tasks cost a few microseconds. To look at all tasks takes about 10 µs each, so that is done
//! once a second.

use crate::source::{Source, fields, lines, number};
use model::timeline::Look;
use std::collections::HashMap;
use std::fs::{File, read_dir};
use std::io::Read;
use std::time::{Duration, Instant};

/// From one look at all tasks to the next.
const TASKS: Duration = Duration::from_secs(1);

/// The sources.
#[derive(Debug)]
pub struct Writeback {
    meminfo: Source,
    loadavg: Source,
    seconds_per_tick: f64,
    looked: Option<Instant>,
    /// Ticks of each worker then.
    workers: HashMap<u32, u64>,
    blocked_tasks: u32,
    kworker_cores: f64,
}

impl Default for Writeback {
    fn default() -> Self {
        Self::open()
    }
}

impl Writeback {
    /// Opens the sources, and looks at all tasks for the first time.
    pub fn open() -> Self {
        let mut story = Writeback {
            meminfo: Source::open("/proc/meminfo", 4096),
            loadavg: Source::open("/proc/loadavg", 128),
            seconds_per_tick: 1.0 / crate::cpu::ticks_per_second(),
            looked: None,
            workers: HashMap::new(),
            blocked_tasks: 0,
            kworker_cores: 0.0,
        };
        story.look_at_tasks(Instant::now());
        story
    }

    /// What is there now; tasks as they were at most a second ago.
    pub fn look(&mut self) -> Look {
        let now = Instant::now();
        if self.looked.is_none_or(|looked| now.duration_since(looked) >= TASKS) {
            self.look_at_tasks(now);
        }
        let text = self.meminfo.read_beginning();
        let of = |key: &[u8]| {
            let line = lines(text).find_map(|line| line.strip_prefix(key));
            line.and_then(|rest| fields(rest).next()).map_or(0, number) * 1024
        };
        Look {
            buffers_bytes: of(b"Buffers:"),
            cached_bytes: of(b"Cached:"),
            dirty_bytes: of(b"Dirty:"),
            writeback_bytes: of(b"Writeback:"),
            load_average: decimal(self.loadavg.read_beginning()),
            blocked_tasks: self.blocked_tasks,
            kworker_cores: self.kworker_cores,
        }
    }

    fn look_at_tasks(&mut self, now: Instant) {
        let mut workers = HashMap::with_capacity(self.workers.len());
        let mut blocked = 0;
        let mut text = [0; 1024];
        let mut see = |path: &str| -> Option<Task> {
            let count = File::open(path).and_then(|mut file| file.read(&mut text)).ok()?;
            let task = parse(&text[..count])?;
            blocked += u32::from(task.blocked);
            Some(task)
        };
        for process in numbers("/proc") {
            // Tasks come and go while we look: one that is gone is left out.
            let Some(task) = see(&format!("/proc/{process}/stat")) else { continue };
            if task.is_worker {
                workers.insert(process, task.ticks);
            }
            if task.threads > 1 {
                let folder = format!("/proc/{process}/task");
                for thread in numbers(&folder).filter(|thread| *thread != process) {
                    see(&format!("{folder}/{thread}/stat"));
                }
            }
        }
        if let Some(looked) = self.looked {
            let spent = |(worker, ticks): (&u32, &u64)| {
                // One that was not there has begun since: all its time counts.
                ticks.saturating_sub(self.workers.get(worker).copied().unwrap_or(0))
            };
            let ticks: u64 = workers.iter().map(spent).sum();
            let seconds = now.duration_since(looked).as_secs_f64();
            self.kworker_cores = if seconds > 0.0 { ticks as f64 * self.seconds_per_tick / seconds } else { 0.0 };
        }
        (self.looked, self.workers, self.blocked_tasks) = (Some(now), workers, blocked);
    }
}

/// What /proc/PID/stat says of a task.
#[derive(Debug, PartialEq)]
struct Task {
    blocked: bool,
    is_worker: bool,
    threads: u64,
    ticks: u64,
}

/// `pid (name) state …`: utime and stime are fields 14 and 15, the threads field 20 (proc_pid_stat(5)); the name
/// may hold blanks and brackets.
fn parse(text: &[u8]) -> Option<Task> {
    let (begin, end) = (text.iter().position(|byte| *byte == b'(')?, text.iter().rposition(|byte| *byte == b')')?);
    let name = text.get(begin + 1..end)?;
    let mut rest = fields(&text[end + 1..]);
    let state = rest.next()?;
    let mut rest = rest.skip(10);
    let ticks = number(rest.next()?) + number(rest.next()?);
    let threads = rest.nth(4).map_or(1, number);
    Some(Task { blocked: state == b"D", is_worker: name.starts_with(b"kworker/"), threads, ticks })
}

fn numbers(path: &str) -> impl Iterator<Item = u32> + use<> {
    let entries = read_dir(path).into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

/// The first field of a text as a number with decimals.
fn decimal(text: &[u8]) -> f64 {
    let first = fields(text).next().and_then(|field| std::str::from_utf8(field).ok());
    first.and_then(|field| field.parse().ok()).unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tasks_line_is_taken_apart_whatever_its_name() {
        let line = b"77 (a) D (b) R) D 1 77 77 0 -1 4194560 1 0 0 0 30 12 5 6 20 0 3 0 99 1000 2 18446744073709551615";
        assert_eq!(parse(line), Some(Task { blocked: true, is_worker: false, threads: 3, ticks: 42 }));
        let worker = b"9 (kworker/0:1H-kblockd) I 2 0 0 0 -1 69238880 0 0 0 0 0 7 0 0 0 -20 1 0 12 0 0 1844";
        assert_eq!(parse(worker), Some(Task { blocked: false, is_worker: true, threads: 1, ticks: 7 }));
        assert_eq!(parse(b""), None);
        assert_eq!((decimal(b"0.52 0.58 0.59 1/389 1234\n"), decimal(b"")), (0.52, 0.0));
    }

    #[test]
    fn this_system_has_a_cache_and_tasks() {
        let mut story = Writeback::open();
        let look = story.look();
        assert!(look.cached_bytes > 0, "{look:?}");
        // In a PID namespace of its own (containers) nobody sees the kernel's threads.
        let seen = std::fs::read_to_string("/proc/2/comm").is_ok_and(|name| name == "kthreadd\n");
        assert_eq!(story.workers.is_empty(), !seen, "the kernel has workers");
        assert!(look.kworker_cores >= 0.0 && look.load_average >= 0.0);
        let looked = story.looked;
        story.look();
        assert_eq!(story.looked, looked, "tasks are looked at once a second");
    }

    #[test]
    fn a_task_that_waits_for_its_child_to_begin_is_blocked() {
        if std::env::var_os("FAIRLANE_EMULATED").is_some() {
            println!("skipped: the emulator makes a fork of a vfork, and nobody is suspended");
            return;
        }
        // As vfork does, which not every architecture has as a call of its own: the parent is suspended in state D
        // until its child runs another program or ends.
        // SAFETY: the child of `fork` is cloned, with memory of its own; that child sleeps in one system call and
        // ends; neither returns.
        let parent = unsafe { libc::fork() };
        if parent == 0 {
            // SAFETY: as above.
            unsafe {
                if libc::syscall(libc::SYS_clone, libc::CLONE_VFORK | libc::SIGCHLD, 0, 0, 0, 0) == 0 {
                    let nap = libc::timespec { tv_sec: 2, tv_nsec: 0 };
                    libc::nanosleep(&nap, std::ptr::null_mut());
                }
                libc::_exit(0)
            }
        }
        assert!(parent > 0);
        let state = || std::fs::read(format!("/proc/{parent}/stat")).ok().and_then(|text| parse(&text));
        let begun = Instant::now();
        while !state().is_some_and(|task| task.blocked) && begun.elapsed() < Duration::from_secs(30) {
            std::thread::sleep(Duration::from_millis(5));
        }
        let blocked = Writeback::open().blocked_tasks;
        // SAFETY: the child is ours and was not waited for yet.
        unsafe { libc::waitpid(parent, std::ptr::null_mut(), 0) };
        assert!(blocked >= 1, "{blocked}");
    }
}
