//! io_uring: registered file and fixed buffers where the kernel and the limits allow them, one
//! `io_uring_enter` per batch.

use super::{Completion, Direction, Operation, Queue, Setup};
use crate::buffers::Memory;
use crate::error::EngineError;
use io_uring::squeue::{Entry, Flags};
use io_uring::types::{Fd, Fixed, FsyncFlags};
use io_uring::{IoUring, Probe, opcode};
use std::os::fd::{AsRawFd, OwnedFd};
use std::rc::Rc;

/// Set in the user data of a write whose linked `fdatasync` answers for both.
const FIRST_OF_PAIR: u64 = 1 << 63;
/// The kernel takes no single registered buffer above this.
const LARGEST_FIXED_BUFFER_BYTES: usize = 1 << 30;

struct Uring {
    // Dropped first, after `Drop::drop` has waited for everything in flight.
    ring: IoUring,
    direction: Direction,
    /// Keeps the descriptor open: unregistered files go by its number.
    file: Rc<OwnedFd>,
    memory: Rc<Memory>,
    file_registered: bool,
    buffers_registered: bool,
    in_flight: u32,
    /// Result of a write whose `fdatasync` is still to answer.
    first_of_pair: Option<i32>,
    notes: Vec<String>,
}

/// Whether this kernel lets us make a ring and knows the operations.
pub(super) fn available() -> Result<(), String> {
    let ring = IoUring::new(2).map_err(|error| {
        format!(
            "the kernel refuses a ring ({error}); see sysctl kernel.io_uring_disabled and the container's seccomp rules"
        )
    })?;
    let mut probe = Probe::new();
    ring.submitter().register_probe(&mut probe).map_err(|error| format!("the kernel is older than 5.6 ({error})"))?;
    let needed = [opcode::Read::CODE, opcode::Write::CODE, opcode::Fsync::CODE];
    if needed.iter().all(|code| probe.is_supported(*code)) {
        Ok(())
    } else {
        Err("the kernel's io_uring cannot read or write files".to_owned())
    }
}

pub(super) fn open(setup: Setup) -> Result<Box<dyn Queue>, EngineError> {
    let file = setup.file()?;
    let mut notes = Vec::new();
    // Twice: each write may bring an fdatasync of its own.
    let ring = build(setup.depth.max(2), &mut notes)?;
    let submitter = ring.submitter();
    let file_registered = match submitter.register_files(&[file.as_raw_fd()]) {
        Ok(()) => true,
        Err(error) => {
            notes.push(format!("io_uring works without a registered file: {error}"));
            false
        }
    };
    let (start, total_bytes) = setup.memory.whole();
    let buffers_registered = if total_bytes > LARGEST_FIXED_BUFFER_BYTES {
        notes.push("io_uring works without fixed buffers: iodepth x bs is above 1 GiB".to_owned());
        false
    } else {
        let whole = [libc::iovec { iov_base: start.cast(), iov_len: total_bytes }];
        // SAFETY: the mapping is valid for its whole length and outlives the ring: `Uring` holds an
        // `Rc` of it and drops the ring first.
        match unsafe { submitter.register_buffers(&whole) } {
            Ok(()) => true,
            Err(error) => {
                notes.push(format!("io_uring works without fixed buffers: {error}; raise the memlock limit"));
                false
            }
        }
    };
    Ok(Box::new(Uring {
        ring,
        direction: setup.direction,
        file,
        memory: setup.memory,
        file_registered,
        buffers_registered,
        in_flight: 0,
        first_of_pair: None,
        notes,
    }))
}

/// The leanest ring that this kernel makes: completions run when we wait for them (6.1), else
/// without interrupting us (5.19), else plain.
fn build(entries: u32, notes: &mut Vec<String>) -> Result<IoUring, EngineError> {
    if let Ok(ring) = IoUring::builder().setup_single_issuer().setup_defer_taskrun().build(entries) {
        return Ok(ring);
    }
    notes.push("io_uring works without DEFER_TASKRUN: the kernel is older than 6.1".to_owned());
    if let Ok(ring) = IoUring::builder().setup_coop_taskrun().build(entries) {
        return Ok(ring);
    }
    IoUring::new(entries).map_err(|error| ring_error("make a ring", &error))
}

fn ring_error(action: &'static str, error: &std::io::Error) -> EngineError {
    EngineError::Ring { action, errno: error.raw_os_error().unwrap_or(libc::EIO) }
}

impl Uring {
    fn transfer(&self, operation: Operation) -> Entry {
        let (start, bytes) = (self.memory.chunk(operation.chunk), self.memory.chunk_bytes() as u32);
        let offset = operation.offset;
        // The four opcodes share their arguments but no trait.
        macro_rules! entry {
            ($plain:ident, $fixed:ident, $file:expr) => {
                if self.buffers_registered {
                    opcode::$fixed::new($file, start, bytes, 0).offset(offset).build()
                } else {
                    opcode::$plain::new($file, start, bytes).offset(offset).build()
                }
            };
        }
        let descriptor = Fd(self.file.as_raw_fd());
        match (self.direction, self.file_registered) {
            (Direction::Read, true) => entry!(Read, ReadFixed, Fixed(0)),
            (Direction::Read, false) => entry!(Read, ReadFixed, descriptor),
            (Direction::Write, true) => entry!(Write, WriteFixed, Fixed(0)),
            (Direction::Write, false) => entry!(Write, WriteFixed, descriptor),
        }
    }

    fn fdatasync(&self) -> Entry {
        if self.file_registered {
            opcode::Fsync::new(Fixed(0)).flags(FsyncFlags::DATASYNC).build()
        } else {
            opcode::Fsync::new(Fd(self.file.as_raw_fd())).flags(FsyncFlags::DATASYNC).build()
        }
    }

    fn push(&mut self, entry: Entry) -> Result<(), EngineError> {
        // SAFETY: the entry's buffer lies in memory that `self` keeps alive until the kernel has
        // answered, and its chunk belongs to this operation alone (the trait's contract).
        let pushed = unsafe { self.ring.submission().push(&entry) };
        pushed.map_err(|_| EngineError::Ring { action: "take more operations than its depth", errno: libc::EBUSY })
    }

    fn submit_and_wait(&self, want: usize) -> Result<(), EngineError> {
        loop {
            match self.ring.submit_and_wait(want) {
                Ok(_) => return Ok(()),
                Err(error) if error.raw_os_error() == Some(libc::EINTR) => {}
                Err(error) => return Err(ring_error("wait for completions", &error)),
            }
        }
    }

    /// Takes over what the kernel has answered.
    fn harvest(&mut self, completions: &mut Vec<Completion>) {
        for answer in self.ring.completion() {
            let (user_data, result) = (answer.user_data(), answer.result());
            if user_data & FIRST_OF_PAIR != 0 {
                self.first_of_pair = Some(result);
                continue;
            }
            // A failed or short write breaks the link and cancels the sync: then the write's own
            // result tells what happened. After a whole write it stands for a sync that succeeded.
            let result = match self.first_of_pair.take() {
                Some(write) if write != self.memory.chunk_bytes() as i32 || result >= 0 => write,
                _ => result,
            };
            self.in_flight -= 1;
            completions.push(Completion { chunk: user_data as u32, result });
        }
    }
}

impl Queue for Uring {
    fn queue(&mut self, operation: Operation) -> Result<(), EngineError> {
        let transfer = self.transfer(operation);
        let name = u64::from(operation.chunk);
        if operation.sync {
            self.push(transfer.flags(Flags::IO_LINK).user_data(name | FIRST_OF_PAIR))?;
            let fdatasync = self.fdatasync();
            self.push(fdatasync.user_data(name))?;
        } else {
            self.push(transfer.user_data(name))?;
        }
        self.in_flight += 1;
        Ok(())
    }

    fn reap(&mut self, completions: &mut Vec<Completion>) -> Result<(), EngineError> {
        let before = completions.len();
        while completions.len() == before && self.in_flight > 0 {
            self.submit_and_wait(1)?;
            self.harvest(completions);
        }
        Ok(())
    }

    fn switch_file(&mut self, file: Rc<OwnedFd>) -> Result<(), EngineError> {
        // What is queued takes its file when it is submitted: submit it while that is the old one.
        self.submit_and_wait(0)?;
        if self.file_registered {
            let update = self.ring.submitter().register_files_update(0, &[file.as_raw_fd()]);
            update.map_err(|error| ring_error("register a file", &error))?;
        }
        // The kernel holds a reference of its own for every operation that was submitted.
        self.file = file;
        Ok(())
    }

    fn notes(&self) -> &[String] {
        &self.notes
    }
}

impl Drop for Uring {
    fn drop(&mut self) {
        let mut ignored = Vec::with_capacity(self.in_flight as usize);
        while self.in_flight > 0 {
            if self.submit_and_wait(1).is_err() {
                // The kernel may still write into the buffers: losing the memory is the lesser evil.
                std::mem::forget(self.memory.clone());
                return;
            }
            self.harvest(&mut ignored);
        }
        // The kernel takes a closed ring apart some time later, and until then a registered file
        // keeps its filesystem busy: an unmount right after would be refused. Giving the
        // registrations back ourselves is done when the call returns; without one it fails, which
        // is as good.
        let _ = self.ring.submitter().unregister_files();
        let _ = self.ring.submitter().unregister_buffers();
    }
}
