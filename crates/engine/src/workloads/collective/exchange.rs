//! What this process and `fairlane-mpi` tell each other of one part of collective I/O.
//!
//! This process says what is to be done, with an end of a socket, the file, and memory: all blocks one behind the other,
//! and behind them room for the nanoseconds that each took. Then it hears `opened` when all ranks have the file open, says
//! `go`, and hears `done` with the nanoseconds of the sync and of the CPU, and `closed`; or, in place of any of these,
//! `failed` with the reason. Who closes its end ends the part on all ranks, as soon as the call that is under way has come back.

use crate::carrier;
use crate::error::EngineError;
use crate::workloads::heed;
use model::agent::Room;
use model::kinds::collective::CollectiveAct;
use model::text::{escaped, escaped_path};
use rustix::fs::{MemfdFlags, memfd_create};
use rustix::io::Errno;
use std::fs::File;
use std::io::Write;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::FileExt;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// Between two looks whether the work is to stop.
const GLANCE: Duration = Duration::from_millis(100);
/// No line is longer.
const MOST_LINE_BYTES: usize = 8192;

/// Memory that both processes have: blocks, and how long each took.
pub(super) struct Blocks {
    memory: File,
    bytes: u64,
    count: u64,
}

impl Blocks {
    /// So many blocks of so many bytes.
    ///
    /// # Errors
    /// [`EngineError::Memory`].
    pub(super) fn new(bytes: u64, count: u64) -> Result<Self, EngineError> {
        let memory = memfd_create("fairlane-collective", MemfdFlags::CLOEXEC).map(File::from);
        let memory = memory.map_err(|errno| out_of_memory(bytes, errno.raw_os_error()))?;
        let all = bytes.saturating_mul(count).saturating_add(count.saturating_mul(size_of::<u64>() as u64));
        memory.set_len(all).map_err(|error| out_of_memory(all, error.raw_os_error().unwrap_or(libc::ENOMEM)))?;
        Ok(Blocks { memory, bytes, count })
    }

    /// Fills the block at this place.
    ///
    /// # Errors
    /// As [`Blocks::new`].
    pub(super) fn put(&self, place: u64, block: &[u8]) -> Result<(), EngineError> {
        self.memory.write_all_at(block, place * self.bytes).map_err(|error| self.lost(&error))
    }

    /// Copies the block at this place.
    ///
    /// # Errors
    /// As [`Blocks::new`].
    pub(super) fn take(&self, place: u64, block: &mut [u8]) -> Result<(), EngineError> {
        self.memory.read_exact_at(block, place * self.bytes).map_err(|error| self.lost(&error))
    }

    /// How long each block took.
    ///
    /// # Errors
    /// As [`Blocks::new`].
    pub(super) fn nanoseconds(&self) -> Result<Vec<u64>, EngineError> {
        let mut words = vec![0; self.count as usize * size_of::<u64>()];
        self.memory.read_exact_at(&mut words, self.count * self.bytes).map_err(|error| self.lost(&error))?;
        let word = |bytes: &[u8]| bytes.try_into().map_or(0, u64::from_ne_bytes);
        Ok(words.chunks_exact(size_of::<u64>()).map(word).collect())
    }

    fn lost(&self, error: &std::io::Error) -> EngineError {
        out_of_memory(self.bytes, error.raw_os_error().unwrap_or(libc::ENOMEM))
    }
}

fn out_of_memory(bytes: u64, errno: i32) -> EngineError {
    EngineError::Memory { bytes, errno }
}

/// What is told of the work when it is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Done {
    /// Nanoseconds of the sync behind it.
    pub(super) sync_ns: u64,
    /// User and system time of `fairlane-mpi` for it, in nanoseconds: MPI's own waiting is in it.
    pub(super) cpu_ns: [u64; 2],
}

/// One part, from its question to its end.
pub(super) struct Exchange<'a> {
    talk: UnixStream,
    /// What of a line has come.
    begun: Vec<u8>,
    path: PathBuf,
    stop: &'a AtomicBool,
}

impl<'a> Exchange<'a> {
    /// Says what is to be done, and waits until all ranks have the file open. `file`: with its path for messages; `blocks`:
    /// with the offset of the first one, and how far it is to the next.
    ///
    /// # Errors
    /// What went wrong on this or another rank.
    pub(super) fn begin(
        socket: BorrowedFd<'_>,
        act: CollectiveAct,
        (file, path): (&OwnedFd, &Path),
        (blocks, first, step): (&Blocks, u64, u64),
        stop: &'a AtomicBool,
    ) -> Result<Self, EngineError> {
        let gone = |error: std::io::Error| EngineError::worker(format!("fairlane-mpi cannot be asked: {error}"));
        let (talk, theirs) = UnixStream::pair().map_err(gone)?;
        talk.set_read_timeout(Some(GLANCE)).map_err(gone)?;
        let verb = match act {
            CollectiveAct::Write => "write",
            CollectiveAct::Read => "read",
        };
        let text = format!("{verb} {} {} {first} {step}", blocks.bytes, blocks.count);
        let files = [theirs.as_fd(), file.as_fd(), blocks.memory.as_fd()];
        carrier::ask(socket, &text, files).map_err(|errno| gone(errno.into()))?;
        drop(theirs);
        let mut exchange = Exchange { talk, begun: Vec::new(), path: path.to_owned(), stop };
        exchange.expect("opened")?;
        Ok(exchange)
    }

    /// Has the work done.
    ///
    /// # Errors
    /// As [`Exchange::begin`].
    pub(super) fn work(&mut self) -> Result<Done, EngineError> {
        self.talk.write_all(b"go\n").map_err(|_| self.gone())?;
        let told = self.expect("done")?;
        let numbers: Vec<u64> = told.split(' ').map_while(|word| word.parse().ok()).collect();
        let [sync_ns, user_ns, system_ns] = numbers[..] else { return Err(self.gone()) };
        Ok(Done { sync_ns, cpu_ns: [user_ns, system_ns] })
    }

    /// Waits until all ranks have closed the file: only then another one is sure to see what was written.
    ///
    /// # Errors
    /// As [`Exchange::begin`].
    pub(super) fn end(mut self) -> Result<(), EngineError> {
        self.expect("closed").map(drop)
    }

    /// Waits for a line that begins with this word; answers its rest.
    fn expect(&mut self, word: &str) -> Result<String, EngineError> {
        let line = self.line()?;
        let (said, rest) = line.split_once(' ').unwrap_or((line.as_str(), ""));
        match said {
            "failed" => Err(self.failed(rest)),
            _ if said == word => Ok(rest.to_owned()),
            _ => Err(self.gone()),
        }
    }

    fn line(&mut self) -> Result<String, EngineError> {
        let mut bytes = [0; 512];
        loop {
            if let Some(end) = self.begun.iter().position(|byte| *byte == b'\n') {
                let rest = self.begun.split_off(end + 1);
                let mut line = std::mem::replace(&mut self.begun, rest);
                line.pop();
                return Ok(String::from_utf8_lossy(&line).into_owned());
            }
            heed(self.stop)?;
            // Not recv(2): this one counts among the calls by which a rank sees that its agent does not hang. Whether
            // `fairlane-mpi` does is another question, and is asked of it.
            match rustix::io::read(&self.talk, &mut bytes[..]) {
                Ok(0) => return Err(self.gone()),
                Ok(_) if self.begun.len() > MOST_LINE_BYTES => return Err(self.gone()),
                Ok(count) => self.begun.extend_from_slice(&bytes[..count]),
                Err(Errno::AGAIN | Errno::INTR) => {}
                Err(_) => return Err(self.gone()),
            }
        }
    }

    /// What MPI says, perhaps of a full lane: `full` stands before it then, and `other` where another rank knows more of it.
    fn failed(&self, said: &str) -> EngineError {
        let (errno, said) =
            said.strip_prefix("other ").map_or((None, said), |said| (Some(Errno::CANCELED.raw_os_error()), said));
        let (room, said) = said.strip_prefix("full ").map_or((Room::Enough, said), |said| (Room::Full, said));
        let said = escaped(said.as_bytes());
        let message = format!(
            "collective I/O on {}: {said}; if no other work fails here, try another MPI, or leave the workload out",
            escaped_path(&self.path)
        );
        EngineError::Worker { message, errno, corrupt: false, room }
    }

    fn gone(&self) -> EngineError {
        let path = escaped_path(&self.path);
        EngineError::worker(format!(
            "fairlane-mpi has ended, or does not know collective I/O on {path}; build both anew with `make mpi`"
        ))
    }
}
