//! Finds the threads of programs that run already, has them traced, and says why that is refused.

use crate::begin::check;
use crate::process::{numbers_in, parent_of, process_of, state_of, tracer_of};
use crate::{CaptureError, Running};
use libc::{c_int, pid_t};
use std::collections::HashSet;
use std::io;

/// What the tracer is told of. Without EXITKILL: the program goes on, whatever becomes of the tracer.
const OPTIONS: c_int = libc::PTRACE_O_TRACESYSGOOD
    | libc::PTRACE_O_TRACEFORK
    | libc::PTRACE_O_TRACEVFORK
    | libc::PTRACE_O_TRACECLONE
    | libc::PTRACE_O_TRACEEXEC;
/// include/linux/sched.h: PF_KTHREAD.
const OF_THE_KERNEL: u64 = 0x0020_0000;
const SCOPE: &str = "/proc/sys/kernel/yama/ptrace_scope";

/// What is traced from now on, and runs.
pub(crate) struct Seized {
    /// Processes with their threads.
    pub(crate) processes: Vec<(pid_t, Vec<pid_t>)>,
    /// Processes that these began and that may not be traced, and why.
    pub(crate) left_out: Vec<String>,
}

/// Has them traced.
pub(crate) fn seize(running: &Running) -> Result<Seized, CaptureError> {
    let mut all = Seized { processes: Vec::new(), left_out: Vec::new() };
    let mut met: HashSet<pid_t> = HashSet::from([std::process::id() as pid_t]);
    for &process in &running.processes {
        if let Some(refusal) = refusal(process) {
            return Err(CaptureError::NotAttached(refusal));
        }
        if met.insert(process) {
            match seize_threads(process) {
                Ok(threads) if !threads.is_empty() => all.processes.push((process, threads)),
                Ok(_) => {
                    return Err(CaptureError::NotAttached(format!(
                        "process {process} ended just now; name one that runs"
                    )));
                }
                Err(error) => return Err(CaptureError::NotAttached(forbidden(process, &error))),
            }
        }
    }
    if running.follow {
        seize_descendants(&mut all, met);
    }
    Ok(all)
}

/// What those that were met began before, and what that began. What they begin meanwhile is traced with them.
fn seize_descendants(all: &mut Seized, mut met: HashSet<pid_t>) {
    let own = Some(std::process::id() as pid_t);
    loop {
        let is_new = |process: &pid_t| {
            let parent = parent_of(*process);
            !met.contains(process) && parent != own && parent.is_some_and(|parent| met.contains(&parent))
        };
        let new: Vec<pid_t> = numbers_in("/proc").into_iter().filter(is_new).collect();
        if new.is_empty() {
            return;
        }
        for process in new {
            met.insert(process);
            match seize_threads(process) {
                Ok(threads) if threads.is_empty() => {}
                Ok(threads) => all.processes.push((process, threads)),
                Err(error) => all.left_out.push(refusal(process).unwrap_or_else(|| forbidden(process, &error))),
            }
        }
    }
}

/// All of a process, until no new one appears.
fn seize_threads(process: pid_t) -> io::Result<Vec<pid_t>> {
    let (mut seized, mut met) = (Vec::new(), HashSet::new());
    loop {
        let new: Vec<pid_t> =
            numbers_in(&format!("/proc/{process}/task")).into_iter().filter(|thread| met.insert(*thread)).collect();
        if new.is_empty() {
            return Ok(seized);
        }
        for thread in new {
            // SAFETY: a request without pointers.
            let answer = check(unsafe { libc::ptrace(libc::PTRACE_SEIZE, thread, 0usize, OPTIONS as usize) });
            match answer {
                Ok(()) => seized.push(thread),
                // It is over, or the kernel had it traced when one of ours began it.
                Err(_) if state_of(thread).is_none_or(|(state, _)| "ZX".contains(state)) => {}
                Err(_) if tracer_of(thread) == Some(std::process::id() as pid_t) => {}
                Err(error) => return Err(error),
            }
        }
    }
}

/// Why a process is not attached to, as far as that is known before it is tried.
fn refusal(process: pid_t) -> Option<String> {
    let Some((state, flags)) = state_of(process).filter(|_| process > 0) else {
        return Some(format!("there is no process {process}; `ps -e` lists those that are there"));
    };
    if process == std::process::id() as pid_t {
        return Some(format!("process {process} is this capture itself; name another one"));
    }
    if let Some(of) = process_of(process).filter(|&of| of != process) {
        return Some(format!("{process} is a thread of process {of}; name that: --pid {of}"));
    }
    if flags & OF_THE_KERNEL != 0 {
        return Some(format!(
            "process {process} is a thread of the kernel, which makes no system calls; name a program's"
        ));
    }
    if state == 'Z' && numbers_in(&format!("/proc/{process}/task")).len() < 2 {
        return Some(format!(
            "process {process} has ended, and its parent has not asked for its status; name another one"
        ));
    }
    let tracer = tracer_of(process).filter(|&tracer| tracer != 0)?;
    let name = std::fs::read_to_string(format!("/proc/{tracer}/comm")).unwrap_or_default();
    let name = name.trim().escape_default();
    Some(format!(
        "process {process} is traced by process {tracer} ({name}) already, and has one tracer at most; end that first"
    ))
}

/// Why the kernel did not let it be traced.
fn forbidden(process: pid_t, error: &io::Error) -> String {
    // SAFETY: a question.
    let own = unsafe { libc::geteuid() };
    let text = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let user = text.lines().find_map(|line| line.strip_prefix("Uid:")?.split_whitespace().next()?.parse::<u32>().ok());
    let scope = std::fs::read_to_string(SCOPE).ok().and_then(|text| text.trim().parse::<u32>().ok()).unwrap_or(0);
    let remedy = match (own, scope) {
        (_, 3) => {
            "kernel.yama.ptrace_scope is 3, so that nobody may until the machine boots with another number".to_owned()
        }
        (0, _) => "in a container it may be forbidden altogether: capture outside of it".to_owned(),
        _ if user.is_some_and(|user| user != own) => "it is another user's: use sudo".to_owned(),
        (_, 1 | 2) => {
            format!(
                "kernel.yama.ptrace_scope is {scope}: use sudo, or allow it: sudo sysctl kernel.yama.ptrace_scope=0"
            )
        }
        _ => "it has more rights than you: use sudo".to_owned(),
    };
    format!("process {process} may not be traced: {error}; {remedy}")
}
