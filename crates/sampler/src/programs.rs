//! CPU time of programs that have nothing to do with the lane, system time included: /proc/PID/stat (proc_pid_stat(5)).
//!
//! A program that only reads and writes spends next to no user time, so that the user time of the whole system does not
//! show it, and its system time cannot be told from the filesystem's own there.

use crate::source::{fields, number};
use std::collections::{HashMap, HashSet};
use std::fs::{File, read_dir};
use std::io::Read;

/// Flag of threads of the kernel (include/linux/sched.h, PF_KTHREAD; field 9 of stat).
const KERNEL_THREAD: u64 = 0x0020_0000;

/// All programs, and which of them work for the lane.
#[derive(Debug, Default)]
pub(crate) struct Programs {
    /// Processes that work for the lane with all that they started: this one, and its filesystem's.
    own: Vec<u32>,
    /// Threads of the kernel as the last whole look found them: they are not read again.
    kernel: HashSet<u32>,
}

/// Programs at one moment.
#[derive(Debug, Default)]
pub(crate) struct Look {
    /// CPU ticks so far of programs that are not the lane's, and of children that they waited for: a child that ends
    /// goes on counting with its parent, so that the sum loses nothing between two looks.
    pub(crate) foreign_ticks: u64,
    /// Processes that are not the lane's.
    foreign: HashSet<u32>,
}

/// What stat tells of a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Process {
    parent: u32,
    is_kernel: bool,
    ticks: u64,
}

impl Programs {
    /// `filesystem`: processes that are the lane's filesystem.
    pub(crate) fn new(filesystem: &[u32]) -> Self {
        let own = std::iter::once(std::process::id()).chain(filesystem.iter().copied()).collect();
        Programs { own, kernel: HashSet::new() }
    }

    /// Looks at every program, 5 to 10 µs each; `whole`: at the kernel's threads too, which begin and end seldom.
    pub(crate) fn look(&mut self, whole: bool) -> Look {
        if whole {
            self.kernel.clear();
        }
        let mut all = HashMap::new();
        let mut text = Vec::with_capacity(512);
        for pid in pids().filter(|pid| !self.kernel.contains(pid)).collect::<Vec<u32>>() {
            text.clear();
            let read = File::open(format!("/proc/{pid}/stat")).and_then(|mut file| file.read_to_end(&mut text));
            // Programs come and go while we look.
            let Some(process) = read.ok().and_then(|_| parse(&text)) else { continue };
            if process.is_kernel {
                self.kernel.insert(pid);
            } else {
                all.insert(pid, process);
            }
        }
        let foreign: HashSet<u32> = all.keys().copied().filter(|pid| !is_below(*pid, &self.own, &all)).collect();
        let foreign_ticks = foreign.iter().map(|pid| all[pid].ticks).sum();
        Look { foreign_ticks, foreign }
    }
}

impl Look {
    /// Whether a process is another program: neither the lane's nor a thread of the kernel.
    pub(crate) fn is_foreign(&self, pid: u32) -> bool {
        self.foreign.contains(&pid)
    }
}

fn pids() -> impl Iterator<Item = u32> {
    let entries = read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

/// Whether a process is one of these, or was started by one of them.
fn is_below(pid: u32, of: &[u32], all: &HashMap<u32, Process>) -> bool {
    let mut at = pid;
    // No chain is longer than there are processes: one that was read while it changed may be a ring.
    for _ in 0..=all.len() {
        if of.contains(&at) {
            return true;
        }
        match all.get(&at) {
            Some(process) => at = process.parent,
            None => return false,
        }
    }
    false
}

/// Parent, flags, and utime, stime, cutime and cstime: fields 4, 9 and 14 to 17; the name in field 2 may hold blanks and
/// brackets.
fn parse(text: &[u8]) -> Option<Process> {
    let after_name = &text[text.iter().rposition(|byte| *byte == b')')? + 1..];
    let rest: Vec<u64> = fields(after_name).skip(1).take(14).map(number).collect();
    let [parent, _, _, _, _, flags, _, _, _, _, user, system, children_user, children_system] = rest[..] else {
        return None;
    };
    let ticks = user + system + children_user + children_system;
    Some(Process { parent: u32::try_from(parent).ok()?, is_kernel: flags & KERNEL_THREAD != 0, ticks })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::{Command, Stdio};
    use std::time::Instant;

    #[test]
    fn parent_flags_and_times_are_read() {
        let stat = b"42 (a (b) c) S 7 42 42 0 -1 4194304 100 0 0 0 9 5 3 2 20 0 1 0 100 0 0";
        assert_eq!(parse(stat), Some(Process { parent: 7, is_kernel: false, ticks: 19 }));
        let kernel = b"9 (kworker/0:1) I 2 0 0 0 -1 69238880 0 0 0 0 0 12 0 0 20 0 1 0 3 0 0";
        assert_eq!(parse(kernel), Some(Process { parent: 2, is_kernel: true, ticks: 12 }));
        assert_eq!((parse(b""), parse(b"42 (cut) S 1")), (None, None));
    }

    #[test]
    fn what_this_process_started_is_its_own_and_a_ring_ends() {
        let of = |parent| Process { parent, is_kernel: false, ticks: 1 };
        let all = HashMap::from([(1, of(0)), (5, of(1)), (6, of(5)), (7, of(6)), (8, of(9)), (9, of(8))]);
        assert!(is_below(7, &[5], &all) && is_below(5, &[5], &all));
        assert!(!is_below(1, &[5], &all) && !is_below(8, &[5], &all));
    }

    #[test]
    fn a_program_that_only_copies_is_seen_unless_it_is_our_own() {
        let mut of_this = Programs::new(&[]);
        let mut of_nobody = Programs { own: Vec::new(), kernel: HashSet::new() };
        let before = of_nobody.look(true);
        // Nothing but system calls: next to no user time.
        let mut copy = Command::new("dd");
        let mut child =
            copy.args(["if=/dev/zero", "of=/dev/null", "bs=64k"]).stderr(Stdio::null()).spawn().expect("dd");
        let begun = Instant::now();
        let spent = loop {
            let spent = of_nobody.look(false).foreign_ticks.saturating_sub(before.foreign_ticks);
            if spent >= 5 || begun.elapsed().as_secs() > 20 {
                break spent;
            }
        };
        let (ours, anyone) = (of_this.look(true), of_nobody.look(false));
        let foreign = [&ours, &anyone].map(|look| (look.is_foreign(std::process::id()), look.is_foreign(child.id())));
        child.kill().expect("it runs");
        child.wait().expect("it ends");
        assert!(spent >= 5, "{spent}");
        assert_eq!(foreign, [(false, false), (true, true)]);
        assert!(
            !of_nobody.kernel.is_empty() || std::fs::read("/proc/2/stat").is_err(),
            "kernel threads are told apart"
        );
    }
}
