//! A host that takes extended registers only whole, as one with Intel's AMX does when it is given fewer than it has.
//!
//! Linux refuses to set a part of NT_X86_XSTATE (arch/x86/kernel/fpu/regset.c). User-mode Linux always gives 2,696
//! bytes: fewer than AMX has, and more than other CPUs. Here a filter of system calls refuses whatever is not exactly
//! as long as this CPU's own set, so that the same call fails in the same place.

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// PTRACE_SETREGSET of include/uapi/linux/ptrace.h.
const SETREGSET: u32 = 0x4205;
/// NT_X86_XSTATE of include/uapi/linux/elf.h.
const XSTATE: u32 = 0x202;
/// AUDIT_ARCH_X86_64 of include/uapi/linux/audit.h.
const X86_64: u32 = 0xc000_003e;
/// What user-mode Linux gives.
const OF_GUEST: u64 = 2696;

/// Which register sets are taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Takes {
    /// Those that are as long as the CPU's own.
    Whole,
    /// None.
    Nothing,
}

/// What the host saw.
#[derive(Debug, Default)]
pub struct Seen {
    pub taken: AtomicU64,
    pub refused: AtomicU64,
}

/// The length of this CPU's own set; `None`: it is what user-mode Linux gives, so that nothing can be told apart.
pub fn own_length() -> Option<u64> {
    let length = u64::from(std::arch::x86_64::__cpuid_count(0xd, 0).ebx);
    (length != OF_GUEST).then_some(length)
}

/// Runs a command, and all that it starts, on such a host.
pub fn run_on(mut command: Command, takes: Takes) -> (std::process::Output, Arc<Seen>) {
    let seen = Arc::new(Seen::default());
    let (ours, theirs) = UnixStream::pair().expect("a pair of sockets");
    let to = theirs.as_raw_fd();
    // SAFETY: between fork and exec only prctl, seccomp and sendmsg are called, on values that live on the stack.
    unsafe { command.pre_exec(move || send(to, filter()?)) };
    command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
    let child = command.spawn().expect("fairlane starts");
    let listener = receive(&ours).expect("the filter's listener");
    let counted = seen.clone();
    let answering = std::thread::spawn(move || answer(&listener, takes, &counted));
    let output = child.wait_with_output().expect("fairlane runs");
    answering.join().expect("the answers");
    (output, seen)
}

/// Installs the filter and answers who is asked by it.
fn filter() -> io::Result<RawFd> {
    let jump = |value: u32, otherwise: u8| libc::sock_filter {
        code: (libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K) as u16,
        jt: 0,
        jf: otherwise,
        k: value,
    };
    let load =
        |at: u32| libc::sock_filter { code: (libc::BPF_LD | libc::BPF_W | libc::BPF_ABS) as u16, jt: 0, jf: 0, k: at };
    let answer = |what: u32| libc::sock_filter { code: (libc::BPF_RET | libc::BPF_K) as u16, jt: 0, jf: 0, k: what };
    // struct seccomp_data: nr, arch, instruction_pointer, args.
    let mut program = [
        load(4),
        jump(X86_64, 7),
        load(0),
        jump(libc::SYS_ptrace as u32, 5),
        load(16),
        jump(SETREGSET, 3),
        load(32),
        jump(XSTATE, 1),
        answer(libc::SECCOMP_RET_USER_NOTIF),
        answer(libc::SECCOMP_RET_ALLOW),
    ];
    let program = libc::sock_fprog { len: program.len() as u16, filter: program.as_mut_ptr() };
    // SAFETY: prctl and seccomp take numbers and a program that lives until they return.
    let listener = unsafe {
        libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
        libc::syscall(
            libc::SYS_seccomp,
            libc::SECCOMP_SET_MODE_FILTER,
            libc::SECCOMP_FILTER_FLAG_NEW_LISTENER,
            &raw const program,
        )
    };
    if listener < 0 { Err(io::Error::last_os_error()) } else { Ok(listener as RawFd) }
}

/// Room for one descriptor in a control message.
#[repr(C, align(8))]
struct Control([u8; 64]);

fn message(byte: &mut libc::iovec, control: &mut Control, room: usize) -> libc::msghdr {
    // SAFETY: all of msghdr may be zero.
    let mut message: libc::msghdr = unsafe { std::mem::zeroed() };
    message.msg_iov = byte;
    message.msg_iovlen = 1;
    message.msg_control = control.0.as_mut_ptr().cast();
    message.msg_controllen = room as _;
    message
}

fn send(to: RawFd, listener: RawFd) -> io::Result<()> {
    let mut data = [0u8];
    let mut byte = libc::iovec { iov_base: data.as_mut_ptr().cast(), iov_len: 1 };
    let mut control = Control([0; 64]);
    // SAFETY: the message points to values of this frame, and its control part has room for one descriptor.
    let sent = unsafe {
        let message = message(&mut byte, &mut control, libc::CMSG_SPACE(4) as usize);
        let header = libc::CMSG_FIRSTHDR(&message);
        (*header).cmsg_level = libc::SOL_SOCKET;
        (*header).cmsg_type = libc::SCM_RIGHTS;
        (*header).cmsg_len = libc::CMSG_LEN(4) as _;
        std::ptr::write_unaligned(libc::CMSG_DATA(header).cast::<RawFd>(), listener);
        libc::sendmsg(to, &message, 0)
    };
    if sent == 1 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

fn receive(from: &UnixStream) -> io::Result<OwnedFd> {
    let mut data = [0u8];
    let mut byte = libc::iovec { iov_base: data.as_mut_ptr().cast(), iov_len: 1 };
    let mut control = Control([0; 64]);
    // SAFETY: as in `send`; a received descriptor is nobody else's.
    unsafe {
        let mut message = message(&mut byte, &mut control, 64);
        if libc::recvmsg(from.as_raw_fd(), &mut message, libc::MSG_CMSG_CLOEXEC) != 1 {
            return Err(io::Error::last_os_error());
        }
        let header = libc::CMSG_FIRSTHDR(&message);
        if header.is_null() {
            return Err(io::Error::other("no descriptor came"));
        }
        Ok(OwnedFd::from_raw_fd(std::ptr::read_unaligned(libc::CMSG_DATA(header).cast())))
    }
}

/// Answers until nobody is left whom the filter holds.
fn answer(listener: &OwnedFd, takes: Takes, seen: &Seen) {
    /// SECCOMP_IOCTL_NOTIF_RECV, _SEND of include/uapi/linux/seccomp.h.
    const RECEIVE: libc::c_ulong = 0xc050_2100;
    const SEND: libc::c_ulong = 0xc018_2101;
    let own = own_length();
    loop {
        let mut poll = libc::pollfd { fd: listener.as_raw_fd(), events: libc::POLLIN, revents: 0 };
        // SAFETY: one pollfd, as the count says.
        unsafe { libc::poll(&mut poll, 1, -1) };
        if poll.revents & libc::POLLIN == 0 {
            return;
        }
        // SAFETY: the request must be zeroed; the kernel fills it, and takes an answer of its own size.
        unsafe {
            let mut request: libc::seccomp_notif = std::mem::zeroed();
            if libc::ioctl(listener.as_raw_fd(), RECEIVE, &mut request) < 0 {
                continue;
            }
            let length = length_of_set(request.pid, request.data.args[3]);
            let whole = takes == Takes::Whole && length.is_some() && length == own;
            let count = if whole { &seen.taken } else { &seen.refused };
            count.fetch_add(1, Ordering::Relaxed);
            let mut response: libc::seccomp_notif_resp = std::mem::zeroed();
            response.id = request.id;
            match whole {
                true => response.flags = libc::SECCOMP_USER_NOTIF_FLAG_CONTINUE as u32,
                false => response.error = -libc::EFAULT,
            }
            libc::ioctl(listener.as_raw_fd(), SEND, &mut response);
        }
    }
}

/// `iov_len` of a set that another process gives.
fn length_of_set(pid: u32, iovec: u64) -> Option<u64> {
    use std::os::unix::fs::FileExt;
    let mut bytes = [0; 8];
    let memory = std::fs::File::open(format!("/proc/{pid}/mem")).ok()?;
    memory.read_exact_at(&mut bytes, iovec + 8).ok()?;
    Some(u64::from_ne_bytes(bytes))
}
