//! The `fairlane` of this rank: a process beside this one, the socket between them, and that on which its agents ask for
//! collective I/O.

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::{FdFlags, fcntl_setfd};
use rustix::net::{AddressFamily, RecvFlags, SocketFlags, SocketType, recv, socketpair};
use std::io::Write;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// Bytes that are read at once.
const AT_ONCE: usize = 64 << 10;
/// The variable that tells agents the number of their end of the socket on which they ask.
const SOCKET_OF_AGENTS: &str = "FAIRLANE_MPI_SOCKET";

/// That process.
pub struct Own {
    child: Child,
    socket: UnixStream,
    agents: OwnedFd,
    /// What of a line has come.
    begun: Vec<u8>,
}

/// What it said.
pub enum Read {
    /// Nothing new.
    Nothing,
    /// Whole lines, without their ends.
    Lines(Vec<Vec<u8>>),
    /// It is gone; why, in words behind its name.
    Ended(String),
}

impl Own {
    /// Starts it with the arguments of this process. It has a process group of its own: who ends this process does not
    /// end it, so that it closes its record when it finds the socket closed.
    ///
    /// # Errors
    /// One sentence.
    pub fn start() -> Result<Own, String> {
        let program = beside()?;
        let failed = |error: std::io::Error| format!("cannot start {}: {error}", program.display());
        let (socket, its) = UnixStream::pair().map_err(failed)?;
        // Its end has to outlive the exec. Nothing else is started meanwhile: this process has one thread, and no MPI.
        let (agents, theirs) = socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::empty(), None)
            .and_then(|(ours, theirs)| fcntl_setfd(&ours, FdFlags::CLOEXEC).map(|()| (ours, theirs)))
            .map_err(|errno| failed(errno.into()))?;
        let child = Command::new(&program)
            .args(["rank", "--"])
            .args(std::env::args_os().skip(1))
            .stdin(Stdio::from(OwnedFd::from(its)))
            .env(SOCKET_OF_AGENTS, theirs.as_raw_fd().to_string())
            .process_group(0)
            .spawn()
            .map_err(failed)?;
        drop(theirs);
        Ok(Own { child, socket, agents, begun: Vec::new() })
    }

    /// The socket on which its agents ask for collective I/O.
    pub fn agents(&self) -> BorrowedFd<'_> {
        self.agents.as_fd()
    }

    /// Sleeps until it says something, at most so long.
    pub fn wait(&self, most: Duration) {
        let most = Timespec { tv_sec: most.as_secs().cast_signed(), tv_nsec: i64::from(most.subsec_nanos()) };
        // A signal ends it early, and that is fine.
        let _ = poll(&mut [PollFd::new(&self.socket, PollFlags::IN)], Some(&most));
    }

    /// What it said since the last call.
    pub fn read(&mut self) -> Read {
        let mut lines = Vec::new();
        let mut bytes = vec![0; AT_ONCE];
        loop {
            match recv(&self.socket, &mut bytes[..], RecvFlags::DONTWAIT) {
                Ok((_, 0)) if lines.is_empty() => return Read::Ended(self.end_in_words()),
                Ok((_, count)) if count > 0 => {
                    self.begun.extend_from_slice(&bytes[..count]);
                    while let Some(end) = self.begun.iter().position(|byte| *byte == b'\n') {
                        let rest = self.begun.split_off(end + 1);
                        let mut line = std::mem::replace(&mut self.begun, rest);
                        line.pop();
                        lines.push(line);
                    }
                }
                Err(rustix::io::Errno::INTR) => {}
                Err(rustix::io::Errno::CONNRESET | rustix::io::Errno::PIPE) if lines.is_empty() => {
                    return Read::Ended(self.end_in_words());
                }
                // Its end is seen at the next look.
                Ok(_) | Err(_) => break,
            }
        }
        if lines.is_empty() { Read::Nothing } else { Read::Lines(lines) }
    }

    /// Writes a line. Where it is gone that is seen when it is read.
    pub fn write(&mut self, line: &[u8]) {
        let _ = self.socket.write_all(line);
    }

    /// Asks it to end in order.
    pub fn terminate(&self) {
        let pid = i32::try_from(self.child.id()).ok().and_then(rustix::process::Pid::from_raw);
        if let Some(pid) = pid {
            // The child is not reaped before its end was read, so its id cannot belong to another process.
            let _ = rustix::process::kill_process(pid, rustix::process::Signal::TERM);
        }
    }

    /// Its exit status, once its socket is closed.
    pub fn status(mut self) -> i32 {
        self.child.wait().ok().and_then(|status| status.code()).unwrap_or(1)
    }

    fn end_in_words(&mut self) -> String {
        match self.child.wait() {
            Ok(status) => format!("its fairlane ended ({status})"),
            Err(error) => format!("its fairlane ended ({error})"),
        }
    }
}

/// The `fairlane` that lies beside this program.
fn beside() -> Result<PathBuf, String> {
    let own = std::env::current_exe().map_err(|error| format!("cannot find where this program lies: {error}"))?;
    let program = own.with_file_name("fairlane");
    match program.is_file() {
        true => Ok(program),
        false => Err(format!(
            "{} is missing; put fairlane and fairlane-mpi of one `make mpi` into one folder, on every node",
            program.display()
        )),
    }
}
