//! io_uring: registered file and fixed buffers where the kernel and the limits allow them, one
//! `io_uring_enter` per batch.

use super::{Action, Completion, Operation, Queue, Setup};
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
    /// Keeps the descriptors open: unregistered files go by their numbers.
    files: Vec<Option<Rc<OwnedFd>>>,
    memory: Rc<Memory>,
    files_registered: bool,
    buffers_registered: bool,
    in_flight: u32,
    /// Result of a write whose `fdatasync` is still to answer, and the bytes it should have moved.
    first_of_pair: Option<i32>,
    pair_bytes: i32,
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
    let mut notes = Vec::new();
    // Twice: each write may bring an fdatasync of its own.
    let ring = build(setup.depth.max(2), &mut notes)?;
    let submitter = ring.submitter();
    let descriptors: Vec<i32> =
        setup.files.iter().map(|file| file.as_ref().map_or(-1, |file| file.as_raw_fd())).collect();
    let files_registered = match submitter.register_files(&descriptors) {
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
        files: setup.files,
        memory: setup.memory,
        files_registered,
        buffers_registered,
        in_flight: 0,
        first_of_pair: None,
        pair_bytes: 0,
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
    fn entry(&self, operation: Operation) -> Entry {
        let descriptor = match &self.files[operation.file as usize] {
            Some(file) => Fd(file.as_raw_fd()),
            None => Fd(-1),
        };
        let (start, bytes, offset) = (self.memory.chunk(operation.chunk), operation.bytes, operation.offset);
        let (length, hole) = (u64::from(bytes), libc::FALLOC_FL_PUNCH_HOLE | libc::FALLOC_FL_KEEP_SIZE);
        // Both kinds of file share no trait that we may name.
        macro_rules! on {
            ($file:expr) => {
                match (operation.action, self.buffers_registered) {
                    (Action::Read, true) => opcode::ReadFixed::new($file, start, bytes, 0).offset(offset).build(),
                    (Action::Read, false) => opcode::Read::new($file, start, bytes).offset(offset).build(),
                    (Action::Write | Action::WriteAndSync, true) => {
                        opcode::WriteFixed::new($file, start, bytes, 0).offset(offset).build()
                    }
                    (Action::Write | Action::WriteAndSync, false) => {
                        opcode::Write::new($file, start, bytes).offset(offset).build()
                    }
                    (Action::Trim, _) => opcode::Fallocate::new($file, length).offset(offset).mode(hole).build(),
                    (Action::Fsync, _) => opcode::Fsync::new($file).build(),
                    (Action::Fdatasync, _) => opcode::Fsync::new($file).flags(FsyncFlags::DATASYNC).build(),
                }
            };
        }
        if self.files_registered { on!(Fixed(operation.file)) } else { on!(descriptor) }
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
                Some(write) if write != self.pair_bytes || result >= 0 => write,
                _ => result,
            };
            self.in_flight -= 1;
            completions.push(Completion { chunk: user_data as u32, result });
        }
    }
}

impl Queue for Uring {
    fn queue(&mut self, operation: Operation) -> Result<(), EngineError> {
        let entry = self.entry(operation);
        let name = u64::from(operation.chunk);
        if operation.action == Action::WriteAndSync {
            self.pair_bytes = operation.bytes as i32;
            self.push(entry.flags(Flags::IO_LINK).user_data(name | FIRST_OF_PAIR))?;
            let fdatasync = self.entry(Operation { action: Action::Fdatasync, ..operation });
            self.push(fdatasync.user_data(name))?;
        } else {
            self.push(entry.user_data(name))?;
        }
        self.in_flight += 1;
        Ok(())
    }

    fn submit(&mut self) -> Result<(), EngineError> {
        self.submit_and_wait(0)
    }

    fn reap(&mut self, least: u32, completions: &mut Vec<Completion>) -> Result<(), EngineError> {
        let least = (least.min(self.in_flight) as usize).max(1);
        let before = completions.len();
        while completions.len() - before < least && self.in_flight > 0 {
            self.submit_and_wait(least - (completions.len() - before))?;
            self.harvest(completions);
        }
        Ok(())
    }

    fn poll(&mut self, completions: &mut Vec<Completion>) -> Result<(), EngineError> {
        self.submit_and_wait(0)?;
        self.harvest(completions);
        Ok(())
    }

    fn set_file(&mut self, slot: u32, file: Option<Rc<OwnedFd>>) -> Result<(), EngineError> {
        // What is queued takes its file when it is submitted: submit it while that is the old one.
        self.submit_and_wait(0)?;
        if self.files_registered {
            let descriptor = file.as_ref().map_or(-1, |file| file.as_raw_fd());
            let update = self.ring.submitter().register_files_update(slot, &[descriptor]);
            update.map_err(|error| ring_error("register a file", &error))?;
        }
        // The kernel holds a reference of its own for every operation that was submitted.
        self.files[slot as usize] = file;
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
