//! Code in a process of its own, and which system calls it makes.

use std::os::fd::AsRawFd;

/// How a child ended: its exit code, or the negated signal.
fn ended(status: i32) -> i32 {
    if libc::WIFEXITED(status) { libc::WEXITSTATUS(status) } else { -libc::WTERMSIG(status) }
}

fn wait(child: i32) -> i32 {
    let mut status = 0;
    // SAFETY: the call writes one int, and `child` is our own child.
    let waited = unsafe { libc::waitpid(child, &raw mut status, libc::__WALL) };
    assert_eq!(waited, child, "{}", std::io::Error::last_os_error());
    status
}

/// Runs the work in a fork: 0 where it returned, 99 where it panicked.
fn fork(work: impl FnOnce()) -> i32 {
    // SAFETY: the child runs this thread alone. It allocates, which glibc allows after fork, and
    // ends with _exit, so that nothing of the parent's is run twice.
    match unsafe { libc::fork() } {
        0 => {
            let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(work));
            // SAFETY: as above.
            unsafe { libc::_exit(if result.is_ok() { 0 } else { 99 }) }
        }
        child => {
            assert!(child > 0, "{}", std::io::Error::last_os_error());
            child
        }
    }
}

/// Runs the work in a child with its standard error in a file: exit code and what it said.
pub fn in_child(work: impl FnOnce()) -> (i32, String) {
    let said = tempfile::NamedTempFile::new_in("/var/tmp").unwrap();
    let descriptor = said.as_file().as_raw_fd();
    let child = fork(|| {
        // SAFETY: both descriptors are open.
        assert!(unsafe { libc::dup2(descriptor, 2) } == 2);
        work();
    });
    let code = ended(wait(child));
    (code, std::fs::read_to_string(said.path()).unwrap())
}

/// Marks where the system calls begin and end that count.
pub fn mark() {
    // SAFETY: getppid has no precondition.
    unsafe { libc::syscall(libc::SYS_getppid) };
}

/// Numbers of the system calls that the work makes between its first and second [`mark`]; `None`
/// where tracing is forbidden.
pub fn system_calls(work: impl FnOnce()) -> Option<Vec<i64>> {
    let child = fork(|| {
        // SAFETY: the child asks to be traced by its parent, and stops.
        unsafe {
            if libc::ptrace(libc::PTRACE_TRACEME, 0, 0, 0) != 0 {
                libc::_exit(98);
            }
            libc::raise(libc::SIGSTOP);
        }
        work();
    });
    let status = wait(child);
    if !libc::WIFSTOPPED(status) {
        assert_eq!(ended(status), 98);
        return None;
    }
    // SAFETY: the child is ours and stopped.
    unsafe { libc::ptrace(libc::PTRACE_SETOPTIONS, child, 0, libc::PTRACE_O_TRACESYSGOOD | libc::PTRACE_O_EXITKILL) };
    let (mut marks, mut calls, mut signal) = (0, Vec::new(), 0);
    loop {
        // SAFETY: as above; the signal that stopped it, if any, is given on.
        unsafe { libc::ptrace(libc::PTRACE_SYSCALL, child, 0, signal) };
        let status = wait(child);
        if !libc::WIFSTOPPED(status) {
            assert_eq!((ended(status), marks), (0, 2), "the traced work failed");
            return Some(calls);
        }
        signal = libc::WSTOPSIG(status);
        if signal != libc::SIGTRAP | 0x80 {
            continue;
        }
        signal = 0;
        // SAFETY: all zeros is a valid value of this plain structure.
        let mut info: libc::ptrace_syscall_info = unsafe { std::mem::zeroed() };
        // SAFETY: the kernel writes at most the given size to `info`.
        unsafe { libc::ptrace(libc::PTRACE_GET_SYSCALL_INFO, child, size_of_val(&info), &raw mut info) };
        if info.op != libc::PTRACE_SYSCALL_INFO_ENTRY {
            continue;
        }
        // SAFETY: `op` says that this is the entry of a call.
        let number = unsafe { info.u.entry.nr } as i64;
        if number == libc::SYS_getppid {
            marks += 1;
        } else if marks == 1 {
            calls.push(number);
        }
    }
}
