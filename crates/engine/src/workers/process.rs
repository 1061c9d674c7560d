//! Processes made by `fork`, and only by a process that has one thread.
//!
//! A child has the thread that forked and the memory of all: a lock that another thread held at that moment is held in
//! the child for ever. The agent makes its workers so, before anything else of it runs; threads of jobs that stand beside
//! processes live in a process of their own ([`super::Kin::Hosted`]).

use rustix::io::retry_on_intr;
use rustix::process::{Pid, Signal, WaitOptions, WaitStatus, kill_process, waitpid};
use std::cell::OnceCell;
use std::io::Error;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::time::{Duration, Instant};

/// How long threads that have done their work may take to be gone: who joins them hears a moment earlier.
const LEAVING: Duration = Duration::from_secs(2);
const GLANCE: Duration = Duration::from_micros(100);

/// A child of this process. Where it has not ended it is killed when this is dropped, and it is waited for.
#[derive(Debug)]
pub(crate) struct Process {
    pub(super) pid: Pid,
    /// Set once it was waited for: how it ended.
    ended: OnceCell<Option<WaitStatus>>,
}

impl Process {
    /// Runs this in a child, which dies with this process; it ends with 0, and with 1 after a panic.
    ///
    /// # Errors
    /// Where the kernel makes no more processes, and where this one has other threads.
    pub(crate) fn fork(work: impl FnOnce()) -> Result<Process, Error> {
        alone()?;
        let parent = rustix::process::getpid();
        // SAFETY: this process has one thread, so that no lock is held by another; the child leaves by `_exit`, so that
        // nothing of the parent's stack is unwound twice.
        match unsafe { libc::fork() } {
            -1 => Err(Error::last_os_error()),
            0 => {
                let follows = rustix::process::set_parent_process_death_signal(Some(Signal::KILL)).is_ok();
                // A panic that went on would go on as a second agent.
                let ended = match follows && rustix::process::getppid() == Some(parent) {
                    true => catch_unwind(AssertUnwindSafe(work)).is_ok(),
                    false => true,
                };
                // SAFETY: ends this process at once, without the parent's exit handlers.
                unsafe { libc::_exit(i32::from(!ended)) }
            }
            pid => {
                let pid = Pid::from_raw(pid).ok_or_else(|| Error::from_raw_os_error(libc::ESRCH))?;
                Ok(Process { pid, ended: OnceCell::new() })
            }
        }
    }

    /// Whether it has ended, which is seen without waiting.
    pub(crate) fn has_ended(&self) -> bool {
        if self.ended.get().is_none() {
            let ended = match waitpid(Some(self.pid), WaitOptions::NOHANG) {
                Ok(None) => return false,
                Ok(Some((_, status))) => Some(status),
                Err(_) => None,
            };
            let _ = self.ended.set(ended);
        }
        true
    }

    /// Waits until it has ended; how it did, where the kernel tells.
    pub(crate) fn wait(&self) -> Option<WaitStatus> {
        *self.ended.get_or_init(|| {
            let ended = retry_on_intr(|| waitpid(Some(self.pid), WaitOptions::empty()));
            ended.ok().flatten().map(|(_, status)| status)
        })
    }

    /// Kills it, unless it has ended.
    pub(crate) fn kill(&self) {
        if self.ended.get().is_none() {
            // Not waited for yet, so that the number is still its own.
            let _ = kill_process(self.pid, Signal::KILL);
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.kill();
        self.wait();
    }
}

/// Waits until no other thread is left.
fn alone() -> Result<(), Error> {
    let mut begun = None;
    loop {
        let others = threads()?.saturating_sub(1);
        if others == 0 {
            return Ok(());
        }
        if begun.get_or_insert_with(Instant::now).elapsed() > LEAVING {
            return Err(Error::other(format!(
                "a process of {} threads cannot be forked safely; this is a fault of Fairlane, report it",
                others + 1
            )));
        }
        std::thread::sleep(GLANCE);
    }
}

/// Threads of this process. One call: /proc/PID/task is a directory with one link for each, its own two beside
/// (proc_task_getattr in fs/proc/base.c); where that is not so its entries are counted.
fn threads() -> Result<u64, Error> {
    let links = rustix::fs::stat(c"/proc/self/task")?.st_nlink as u64;
    match links {
        3 => Ok(1),
        _ => {
            Ok(std::fs::read_dir("/proc/self/task")?.flatten().filter(|task| runs_our_code(&task.path())).count()
                as u64)
        }
    }
}

/// Whether a thread is none of io_uring's workers: those run no code of this program and hold no lock of it, and many
/// kernels keep one after its ring was closed.
fn runs_our_code(task: &Path) -> bool {
    /// PF_IO_WORKER of include/linux/sched.h.
    const IO_WORKER: u64 = 0x10;
    let Ok(stat) = std::fs::read_to_string(task.join("stat")) else { return false };
    // Field 9, behind the name, which may hold anything.
    let behind = stat.rsplit_once(')').map_or("", |(_, behind)| behind);
    let flags = behind.split_whitespace().nth(6).and_then(|flags| flags.parse::<u64>().ok());
    flags.is_none_or(|flags| flags & IO_WORKER == 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    alone_tests!(a_process_with_one_thread_is_forked_and_one_with_two_is_not);

    #[test]
    fn a_process_with_one_thread_is_forked_and_one_with_two_is_not() {
        if crate::alone::elsewhere("a_process_with_one_thread_is_forked_and_one_with_two_is_not") {
            return;
        }
        let fork = |work: fn()| Process::fork(work);
        let ended = |process: Process| process.wait().unwrap().exit_status();
        assert_eq!(ended(fork(|| ()).unwrap()), Some(0));
        assert_eq!(ended(fork(|| panic!("on purpose")).unwrap()), Some(1));
        // Threads whose work is done may leave late.
        for _ in 0..50 {
            std::thread::scope(|scope| {
                scope.spawn(|| ());
            });
            assert_eq!(ended(fork(|| ()).unwrap()), Some(0));
        }
        let (end, waits) = std::sync::mpsc::channel::<()>();
        let thread = std::thread::spawn(move || waits.recv());
        let refused = fork(|| ()).unwrap_err().to_string();
        assert!(refused.contains("a process of 2 threads cannot be forked"), "{refused}");
        drop(end);
        let _ = thread.join();
        assert_eq!(ended(fork(|| ()).unwrap()), Some(0));
    }
}
