//! Starts a program that is traced from its first instruction on.

use crate::CaptureError;
use libc::{c_int, pid_t, sock_fprog};
use std::ffi::{CStr, CString};
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

/// Signals that a terminal sends to all of its foreground, the tracer among it: they are the program's.
const OF_THE_TERMINAL: [c_int; 3] = [libc::SIGINT, libc::SIGQUIT, libc::SIGTSTP];
const OPTIONS: c_int = libc::PTRACE_O_TRACESECCOMP
    | libc::PTRACE_O_TRACESYSGOOD
    | libc::PTRACE_O_TRACEFORK
    | libc::PTRACE_O_TRACEVFORK
    | libc::PTRACE_O_TRACECLONE
    | libc::PTRACE_O_TRACEEXEC
    | libc::PTRACE_O_EXITKILL;
const REMEDY: &str =
    "capture as root, or allow it: sysctl kernel.yama.ptrace_scope=0; in a container it may be forbidden altogether";

/// What went wrong in the child, before the program: a step and the kernel's number.
const STEPS: [&str; 3] = ["forgo new privileges", "install a filter of system calls", "run the program"];

/// Starts it. When this returns the program is about to be run, and stopped.
pub(crate) fn begin(command: &[CString], steps: &[libc::sock_filter], mask: u32) -> Result<Child, CaptureError> {
    let refused = |action| move |error| CaptureError::NotTraced { action, error, remedy: REMEDY };
    let program = find(command).map_err(|(said, status)| CaptureError::NotStarted(said, status))?;
    // What has no first line that says who runs it is the shell's.
    let shell = [c"/bin/sh".as_ptr(), program.as_ptr()];
    let of_shell: Vec<*const libc::c_char> = shell.into_iter().chain(pointers_of(&command[1..])).collect();
    let pointers: Vec<*const libc::c_char> = pointers_of(command).collect();
    let (read, write) = pipe().map_err(refused("make a pipe"))?;
    let old = ignore_those_of_the_terminal();
    // SAFETY: the child calls nothing but system calls, with what was made before, and ends or becomes another program.
    let child = unsafe { libc::fork() };
    match child {
        -1 => {
            let error = io::Error::last_os_error();
            restore(&old);
            Err(refused("start a process")(error))
        }
        0 => {
            restore(&old);
            // SAFETY: as above; all pointers live until the program is another one.
            unsafe { become_program(&program, (&pointers, &of_shell), (steps, mask), write.as_raw_fd()) }
        }
        child => {
            drop(write);
            let traced = Child { pid: child, failures: read, old };
            traced.seize().map_err(|error| {
                traced.end();
                refused("trace a program")(error)
            })?;
            Ok(traced)
        }
    }
}

fn pointers_of(words: &[CString]) -> impl Iterator<Item = *const libc::c_char> {
    words.iter().map(|word| word.as_ptr()).chain([std::ptr::null()])
}

/// The first process of the program.
pub(crate) struct Child {
    pub(crate) pid: pid_t,
    /// What it says where it cannot become the program.
    failures: OwnedFd,
    old: Vec<(c_int, libc::sigaction)>,
}

impl Child {
    fn seize(&self) -> io::Result<()> {
        let mut status = 0;
        // It stops itself once it is ready.
        // SAFETY: `status` is a place for a number.
        while unsafe { libc::waitpid(self.pid, &mut status, libc::WUNTRACED) } < 0 {
            let error = io::Error::last_os_error();
            if error.kind() != io::ErrorKind::Interrupted {
                return Err(error);
            }
        }
        if !libc::WIFSTOPPED(status) {
            return Err(io::Error::other("it ended before it began"));
        }
        // SAFETY: a request without pointers.
        check(unsafe { libc::ptrace(libc::PTRACE_SEIZE, self.pid, 0usize, OPTIONS as usize) })?;
        // SAFETY: a signal to our own child.
        check(i64::from(unsafe { libc::kill(self.pid, libc::SIGCONT) }))
    }

    /// Why it did not become the program; `None`: it did.
    pub(crate) fn failure(&self) -> Option<CaptureError> {
        let mut told = [0u8; 8];
        let got = rustix::io::read(&self.failures, &mut told).ok()?;
        if got < 8 {
            return None;
        }
        let [step, number] = [0, 4].map(|at| i32::from_ne_bytes(told[at..at + 4].try_into().expect("four bytes")));
        let error = io::Error::from_raw_os_error(number);
        Some(match step {
            2 => CaptureError::NotStarted(format!("cannot run the program: {error}"), 126),
            step => CaptureError::NotTraced {
                action: STEPS.get(step as usize).copied().unwrap_or("begin"),
                error,
                remedy: REMEDY,
            },
        })
    }

    fn end(&self) {
        // SAFETY: our own child, which nobody has waited for.
        unsafe {
            libc::kill(self.pid, libc::SIGKILL);
            libc::waitpid(self.pid, std::ptr::null_mut(), 0);
        }
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        restore(&self.old);
    }
}

pub(crate) fn check(answer: i64) -> io::Result<()> {
    if answer < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// The program by its name, as a shell finds it.
fn find(command: &[CString]) -> Result<CString, (String, i32)> {
    use std::os::unix::ffi::OsStrExt;
    let name = command.first().map(CString::as_bytes).unwrap_or_default();
    let shown = String::from_utf8_lossy(name).into_owned();
    if name.contains(&b'/') {
        return Ok(command[0].clone());
    }
    let path = std::env::var_os("PATH").unwrap_or_else(|| "/usr/local/bin:/usr/bin:/bin".into());
    let runs = |path: &std::path::Path| rustix::fs::access(path, rustix::fs::Access::EXEC_OK).is_ok() && path.is_file();
    let found = std::env::split_paths(&path)
        .map(|folder| folder.join(std::ffi::OsStr::from_bytes(name)))
        .find(|path| runs(path));
    let found = found.filter(|_| !name.is_empty()).and_then(|path| CString::new(path.as_os_str().as_bytes()).ok());
    found.ok_or_else(|| (format!("there is no program `{}`; correct its name", shown.escape_default()), 127))
}

fn pipe() -> io::Result<(OwnedFd, OwnedFd)> {
    let mut ends = [0; 2];
    // SAFETY: a place for two numbers, which are ours then.
    unsafe {
        check(i64::from(libc::pipe2(ends.as_mut_ptr(), libc::O_CLOEXEC)))?;
        Ok((OwnedFd::from_raw_fd(ends[0]), OwnedFd::from_raw_fd(ends[1])))
    }
}

fn ignore_those_of_the_terminal() -> Vec<(c_int, libc::sigaction)> {
    let ignore = |signal: c_int| {
        // SAFETY: zeros are a whole sigaction; both places are ours.
        unsafe {
            let mut new: libc::sigaction = std::mem::zeroed();
            let mut old: libc::sigaction = std::mem::zeroed();
            new.sa_sigaction = libc::SIG_IGN;
            (libc::sigaction(signal, &new, &mut old) == 0).then_some((signal, old))
        }
    };
    OF_THE_TERMINAL.into_iter().filter_map(ignore).collect()
}

fn restore(old: &[(c_int, libc::sigaction)]) {
    for (signal, action) in old {
        // SAFETY: what the kernel gave us before.
        unsafe { libc::sigaction(*signal, action, std::ptr::null_mut()) };
    }
}

/// # Safety
/// Runs in a child of `fork`; calls system calls alone.
unsafe fn become_program(
    program: &CStr,
    (arguments, of_shell): (&[*const libc::c_char], &[*const libc::c_char]),
    (steps, mask): (&[libc::sock_filter], u32),
    failures: c_int,
) -> ! {
    // SAFETY: as the caller says.
    unsafe {
        // Rust ignores the first and this tool the second, and the program would inherit that.
        libc::signal(libc::SIGPIPE, libc::SIG_DFL);
        libc::signal(libc::SIGXFSZ, libc::SIG_DFL);
        libc::raise(libc::SIGSTOP);
        libc::umask(mask as libc::mode_t);
        let mut step = 0i32;
        let all = sock_fprog { len: steps.len() as u16, filter: steps.as_ptr().cast_mut() };
        let install = || libc::syscall(libc::SYS_seccomp, libc::SECCOMP_SET_MODE_FILTER, 0, &raw const all) == 0;
        // Who has CAP_SYS_ADMIN installs a filter without it, and set-user-id programs stay what they are.
        let mut done = install();
        if !done && libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 {
            step = 1;
            done = install();
        }
        if done {
            step = 2;
            libc::execv(program.as_ptr(), arguments.as_ptr());
            if *libc::__errno_location() == libc::ENOEXEC {
                libc::execv(of_shell[0], of_shell.as_ptr());
            }
        }
        let told = [step, *libc::__errno_location()];
        libc::write(failures, told.as_ptr().cast(), 8);
        libc::_exit(127)
    }
}
