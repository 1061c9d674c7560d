//! What a tracer is told of a program that stopped, and how it goes on.

use crate::filter;
use libc::{c_int, pid_t};
use std::io;

/// Why a thread stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stop {
    /// It ended with this status, as a shell has it.
    Ended(i32),
    /// Before a call of interest.
    Call,
    /// Behind one.
    Returned,
    /// It began another thread or process.
    Began,
    /// It became another program.
    Executed,
    /// The first stop of a new thread.
    New,
    /// This signal told it to stop, as ^Z does, and it waits.
    Group(c_int),
    /// It is about to get this signal.
    Signal(c_int),
}

/// The next thread that stopped; `None`: there is none any more.
///
/// # Errors
/// `Interrupted`, when a timer ran out.
pub(crate) fn next() -> io::Result<Option<(pid_t, Stop)>> {
    let mut status = 0;
    // SAFETY: a place for a number.
    let thread = unsafe { libc::waitpid(-1, &mut status, libc::__WALL) };
    if thread < 0 {
        let error = io::Error::last_os_error();
        return if error.raw_os_error() == Some(libc::ECHILD) { Ok(None) } else { Err(error) };
    }
    Ok(Some((thread, read(status))))
}

/// The next stop of any thread that stands by now.
pub(crate) fn next_now() -> Option<(pid_t, Stop)> {
    let mut status = 0;
    // SAFETY: a place for a number.
    let thread = unsafe { libc::waitpid(-1, &mut status, libc::__WALL | libc::WNOHANG) };
    (thread > 0).then(|| (thread, read(status)))
}

/// The next stop of this thread; `None`: it is gone.
///
/// # Errors
/// Those of the kernel.
#[cfg(target_arch = "x86_64")]
pub(crate) fn next_of(thread: pid_t) -> io::Result<Option<Stop>> {
    let mut status = 0;
    loop {
        // SAFETY: a place for a number.
        if unsafe { libc::waitpid(thread, &mut status, libc::__WALL) } == thread {
            return Ok(Some(read(status)));
        }
        let error = io::Error::last_os_error();
        match error.raw_os_error() {
            Some(libc::EINTR) => {}
            Some(libc::ECHILD) => return Ok(None),
            _ => return Err(error),
        }
    }
}

fn read(status: c_int) -> Stop {
    if libc::WIFEXITED(status) {
        return Stop::Ended(libc::WEXITSTATUS(status));
    }
    if libc::WIFSIGNALED(status) {
        return Stop::Ended(128 + libc::WTERMSIG(status));
    }
    let signal = libc::WSTOPSIG(status);
    match status >> 16 {
        libc::PTRACE_EVENT_SECCOMP => Stop::Call,
        libc::PTRACE_EVENT_FORK | libc::PTRACE_EVENT_VFORK | libc::PTRACE_EVENT_CLONE => Stop::Began,
        libc::PTRACE_EVENT_EXEC => Stop::Executed,
        libc::PTRACE_EVENT_STOP if signal == libc::SIGTRAP => Stop::New,
        libc::PTRACE_EVENT_STOP => Stop::Group(signal),
        _ if signal == libc::SIGTRAP | 0x80 => Stop::Returned,
        _ => Stop::Signal(signal),
    }
}

/// How a thread goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum On {
    /// To the next call of interest.
    ToCall,
    /// To where the call returns.
    ToReturn,
    /// It stays stopped until it is told to continue.
    Listen,
}

/// Lets it go on, with a signal or none. A thread that is gone meanwhile is no error.
pub(crate) fn resume(thread: pid_t, on: On, signal: c_int) {
    let request = match on {
        On::ToCall => libc::PTRACE_CONT,
        On::ToReturn => libc::PTRACE_SYSCALL,
        On::Listen => libc::PTRACE_LISTEN,
    };
    // SAFETY: a request without pointers.
    unsafe { libc::ptrace(request, thread, 0usize, signal as usize) };
}

/// Has it stop, wherever it is; what it waits for in the kernel is broken off and begun again.
pub(crate) fn interrupt(thread: pid_t) {
    // SAFETY: a request without pointers.
    unsafe { libc::ptrace(libc::PTRACE_INTERRUPT, thread, 0usize, 0usize) };
}

/// Lets a thread that stopped go on untraced, with a signal or none.
pub(crate) fn detach(thread: pid_t, signal: c_int) {
    // SAFETY: a request without pointers.
    unsafe { libc::ptrace(libc::PTRACE_DETACH, thread, 0usize, signal as usize) };
}

/// Calls that answer EINTR where nothing but a tracer broke them off (signal(7)): the kernel begins others again by itself.
#[cfg(target_arch = "x86_64")]
const BROKEN_OFF: [libc::c_long; 25] = [
    libc::SYS_epoll_wait,
    libc::SYS_epoll_pwait,
    libc::SYS_epoll_pwait2,
    libc::SYS_io_uring_enter,
    libc::SYS_io_getevents,
    libc::SYS_read,
    libc::SYS_readv,
    libc::SYS_write,
    libc::SYS_writev,
    libc::SYS_sendto,
    libc::SYS_sendmsg,
    libc::SYS_recvfrom,
    libc::SYS_recvmsg,
    libc::SYS_sendmmsg,
    libc::SYS_recvmmsg,
    libc::SYS_connect,
    libc::SYS_preadv,
    libc::SYS_pwritev,
    libc::SYS_preadv2,
    libc::SYS_pwritev2,
    libc::SYS_accept,
    libc::SYS_accept4,
    libc::SYS_semop,
    libc::SYS_semtimedop,
    libc::SYS_rt_sigtimedwait,
];

/// Where `interrupt` broke off a call that the kernel does not begin again, it does so after all, unless a handler runs first.
#[cfg(target_arch = "x86_64")]
pub(crate) fn begin_again(thread: pid_t) {
    /// include/linux/errno.h: ERESTARTNOHAND.
    const UNLESS_HANDLED: i64 = -514;
    // SAFETY: zeros are a whole structure, which the kernel fills; then a request without pointers.
    unsafe {
        let mut registers: libc::user_regs_struct = std::mem::zeroed();
        let got = libc::ptrace(libc::PTRACE_GETREGS, thread, 0usize, &raw mut registers);
        let is_broken_off = registers.rax as i64 == -i64::from(libc::EINTR);
        if got == 0 && is_broken_off && BROKEN_OFF.contains(&(registers.orig_rax as i64)) {
            let answer = std::mem::offset_of!(libc::user_regs_struct, rax);
            libc::ptrace(libc::PTRACE_POKEUSER, thread, answer, UNLESS_HANDLED as usize);
        }
    }
}

/// On other CPUs the kernel has decided before the tracer is told.
#[cfg(not(target_arch = "x86_64"))]
pub(crate) fn begin_again(_: pid_t) {}

/// The number that belongs to the last event: the new thread's.
pub(crate) fn message(thread: pid_t) -> Option<pid_t> {
    let mut message: libc::c_ulong = 0;
    // SAFETY: a place for a number.
    let answer = unsafe { libc::ptrace(libc::PTRACE_GETEVENTMSG, thread, 0usize, &raw mut message) };
    (answer == 0).then_some(message as pid_t)
}

/// A call, or what it returned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Told {
    /// Its number, its arguments, and the address behind it.
    Call(i64, [u64; 6], u64),
    /// An error as its negative number.
    Returned(i64),
}

/// What the kernel tells of a thread that stopped; `None`: nothing.
fn information(thread: pid_t) -> Option<libc::ptrace_syscall_info> {
    // SAFETY: zeros are a whole structure, and the kernel is told its size.
    unsafe {
        let mut info: libc::ptrace_syscall_info = std::mem::zeroed();
        let size = size_of::<libc::ptrace_syscall_info>();
        let answer = libc::ptrace(libc::PTRACE_GET_SYSCALL_INFO, thread, size, &raw mut info);
        (answer > 0).then_some(info)
    }
}

/// Whether a thread that stopped asks by the calls of another architecture, as programs of 32 bits do.
pub(crate) fn is_of_another_architecture(thread: pid_t) -> bool {
    information(thread).is_some_and(|info| info.arch != filter::ARCHITECTURE)
}

/// What the kernel tells of the call at which a thread stopped. `None`: it stopped at none, or at one of another architecture.
pub(crate) fn told(thread: pid_t) -> Option<Told> {
    let info = information(thread).filter(|info| info.arch == filter::ARCHITECTURE)?;
    // SAFETY: `op` says which part of the union the kernel wrote.
    unsafe {
        match info.op {
            libc::PTRACE_SYSCALL_INFO_SECCOMP => {
                Some(Told::Call(info.u.seccomp.nr as i64, info.u.seccomp.args, info.instruction_pointer))
            }
            libc::PTRACE_SYSCALL_INFO_ENTRY => {
                Some(Told::Call(info.u.entry.nr as i64, info.u.entry.args, info.instruction_pointer))
            }
            libc::PTRACE_SYSCALL_INFO_EXIT => Some(Told::Returned(info.u.exit.sval)),
            _ => None,
        }
    }
}

/// Whether a thread stopped or ended that was not waited for so far.
pub(crate) fn is_one_waiting() -> bool {
    let options = libc::WEXITED | libc::WSTOPPED | libc::WNOHANG | libc::WNOWAIT | libc::__WALL;
    // SAFETY: zeros are a whole structure, which the kernel fills.
    unsafe {
        let mut information: libc::siginfo_t = std::mem::zeroed();
        libc::waitid(libc::P_ALL, 0, &raw mut information, options) == 0 && information.si_pid() != 0
    }
}

/// Where a terminal, or whoever stops a job, stopped the program, the shell waits for this process to stop too, and has both go on.
pub(crate) fn stop_with(program: pid_t, thread: pid_t, stop: Stop) {
    let Stop::Group(signal) = stop else { return };
    let of_jobs = [libc::SIGTSTP, libc::SIGTTIN, libc::SIGTTOU].contains(&signal);
    // SAFETY: questions about processes, and a signal to ourselves.
    unsafe {
        if of_jobs && thread == program && libc::getpgid(program) == libc::getpgrp() {
            libc::raise(libc::SIGSTOP);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stops_are_told_apart() {
        let stopped = |event: c_int, signal: c_int| (event << 16) | (signal << 8) | 0x7f;
        for (status, stop) in [
            (3 << 8, Stop::Ended(3)),
            (libc::SIGKILL, Stop::Ended(137)),
            (stopped(libc::PTRACE_EVENT_SECCOMP, libc::SIGTRAP), Stop::Call),
            (stopped(0, libc::SIGTRAP | 0x80), Stop::Returned),
            (stopped(libc::PTRACE_EVENT_CLONE, libc::SIGTRAP), Stop::Began),
            (stopped(libc::PTRACE_EVENT_EXEC, libc::SIGTRAP), Stop::Executed),
            (stopped(libc::PTRACE_EVENT_STOP, libc::SIGTRAP), Stop::New),
            (stopped(libc::PTRACE_EVENT_STOP, libc::SIGTSTP), Stop::Group(libc::SIGTSTP)),
            (stopped(0, libc::SIGUSR1), Stop::Signal(libc::SIGUSR1)),
        ] {
            assert_eq!(read(status), stop, "{status:x}");
        }
    }
}
