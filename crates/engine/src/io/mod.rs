//! I/O engines: one file each, behind one trait and one table.
//!
//! To add one: a file with a type that implements [`Queue`], and its row in [`ENGINES`].

mod io_uring;
mod libaio;
mod mmap;
mod null;
mod slots;
mod sync;

pub use mmap::BUS_ERROR_EXIT_CODE;

use crate::buffers::Memory;
use crate::error::EngineError;
use std::os::fd::OwnedFd;
use std::rc::Rc;
use std::time::{Duration, Instant};

/// One I/O engine.
pub struct IoEngine {
    /// The name that `ioengine` takes.
    pub name: &'static str,
    /// Whether it works on this machine; the error says why not.
    pub available: fn() -> Result<(), String>,
    /// Opens a queue.
    pub open: fn(Setup) -> Result<Box<dyn Queue>, EngineError>,
}

/// Every I/O engine there is.
pub const ENGINES: &[IoEngine] = &[
    IoEngine { name: "sync", available: always, open: sync::open },
    IoEngine { name: "io_uring", available: io_uring::available, open: io_uring::open },
    IoEngine { name: "libaio", available: libaio::available, open: libaio::open },
    IoEngine { name: "mmap", available: always, open: mmap::open },
    IoEngine { name: "null", available: always, open: null::open },
];

/// What a queue works on.
pub struct Setup {
    /// Files by slot; a slot may be empty and be filled later. Empty for engines that make no system
    /// calls.
    pub files: Vec<Option<Rc<OwnedFd>>>,
    /// Whether the work writes: what a mapping must allow.
    pub writes: bool,
    /// Operations in flight at most, from 1.
    pub depth: u32,
    /// Where the operations' chunks lie; an operation uses its chunk from the start.
    pub memory: Rc<Memory>,
    /// What every operation carries.
    pub flags: OperationFlags,
}

/// What every operation of a queue carries.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct OperationFlags {
    /// RWF_DONTCACHE: the page cache is used but not kept (Linux 6.14).
    pub uncached: bool,
    /// RWF_DSYNC on writes.
    pub dsync: bool,
    /// RWF_HIPRI: the completion is polled for.
    pub hipri: bool,
    /// A kernel thread takes submissions (io_uring).
    pub sqthread_poll: bool,
}

impl OperationFlags {
    /// What to do where an operation that carries these flags fails with `errno`, as the end of a
    /// sentence; `None` where the flags are not the likely reason. A file in a slot at open was
    /// asked already; this is for the others.
    pub fn remedy(self, errno: i32) -> Option<&'static str> {
        match errno {
            libc::EOPNOTSUPP if self.uncached => Some(
                "the kernel or the filesystem refuses RWF_DONTCACHE, set uncached = false or take Linux 6.14 or later \
                 and a filesystem that supports it, such as ext4 or xfs",
            ),
            libc::EOPNOTSUPP if self.hipri => {
                Some("the filesystem or the device cannot poll for completions (RWF_HIPRI), set hipri = false")
            }
            _ => None,
        }
    }
}

/// Only io_uring has a thread that takes submissions.
fn refuse_sqthread_poll(engine: &str, flags: OperationFlags) -> Result<(), EngineError> {
    if !flags.sqthread_poll {
        return Ok(());
    }
    Err(EngineError::Unsuitable(format!(
        "I/O engine {engine} has no submission thread; set sqthread_poll = false or ioengine = \"io_uring\""
    )))
}

/// What is done at the place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    /// From the file into the chunk.
    Read,
    /// From the chunk into the file.
    Write,
    /// The same, then `fdatasync`, as one operation. Only in queues of depth 1.
    WriteAndSync,
    /// The range is discarded: a hole in a file.
    Trim,
    /// `fsync`; offset and bytes mean nothing.
    Fsync,
    /// `fdatasync`; offset and bytes mean nothing.
    Fdatasync,
}

impl Action {
    /// Bytes that a successful operation answers: the block for reads and writes, else 0.
    #[inline]
    pub fn moves(self, bytes: u32) -> i32 {
        match self {
            Action::Read | Action::Write | Action::WriteAndSync => bytes as i32,
            Action::Trim | Action::Fsync | Action::Fdatasync => 0,
        }
    }
}

/// One operation: a block at a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Operation {
    /// The chunk of memory, which stays untouched until the operation completes; it also names the
    /// operation in its completion.
    pub chunk: u32,
    /// Slot of the file.
    pub file: u32,
    /// Offset in the file, in bytes.
    pub offset: u64,
    /// Length, at most the chunk's.
    pub bytes: u32,
    /// What is done.
    pub action: Action,
}

/// How an operation ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Completion {
    /// The operation's chunk.
    pub chunk: u32,
    /// Bytes moved (0 for trims and syncs), or the negated errno.
    pub result: i32,
}

/// Operations in flight on one worker's files.
///
/// # Contract
/// At most `depth` operations are queued or in flight, each on a chunk of its own. An implementation
/// keeps its `Rc` of the memory, and on drop waits for what is in flight, so that the kernel never
/// writes into memory that is gone; what was queued and never handed over may stay undone. A queue is
/// used on the thread that opened it.
pub trait Queue {
    /// Takes an operation; it begins at the latest with the next [`Queue::reap`].
    ///
    /// # Errors
    /// [`EngineError::Ring`] where the kernel's queue fails as such.
    fn queue(&mut self, operation: Operation) -> Result<(), EngineError>;

    /// Whether [`Queue::perform`] does an operation at once: then a worker that keeps one operation
    /// in flight needs no queue.
    fn performs(&self) -> bool {
        false
    }

    /// Does one operation and answers its [`Completion::result`]. Only where [`Queue::performs`]
    /// says so, and with nothing queued.
    fn perform(&mut self, operation: Operation) -> i32 {
        let _ = operation;
        -libc::ENOSYS
    }

    /// Does a read or a write again, at once, that completed with EAGAIN, and answers its
    /// [`Completion::result`].
    fn again(&mut self, operation: Operation) -> i32 {
        let _ = operation;
        -libc::EAGAIN
    }

    /// Hands what is queued to the kernel without waiting for anything. Engines that work inside
    /// [`Queue::reap`] do nothing here.
    ///
    /// # Errors
    /// As [`Queue::queue`].
    fn submit(&mut self) -> Result<(), EngineError> {
        Ok(())
    }

    /// Begins what is queued, waits until at least `least` operations have completed (fewer where
    /// fewer are in flight), and appends all completed ones. Must be called only with something
    /// queued or in flight. `completions` has room for `depth` entries, so nothing is allocated.
    ///
    /// # Errors
    /// [`EngineError::Ring`] where the kernel's queue fails as such; a failed operation is no error
    /// here but a negative [`Completion::result`].
    fn reap(&mut self, least: u32, completions: &mut Vec<Completion>) -> Result<(), EngineError>;

    /// Like [`Queue::reap`], but never waits. Completions may be none.
    ///
    /// # Errors
    /// As [`Queue::reap`].
    fn poll(&mut self, completions: &mut Vec<Completion>) -> Result<(), EngineError>;

    /// Like [`Queue::reap`] for one operation, but gives up after so many nanoseconds: then there may
    /// be no completions.
    ///
    /// # Errors
    /// As [`Queue::reap`].
    fn reap_until(&mut self, nanoseconds: u64, completions: &mut Vec<Completion>) -> Result<(), EngineError>;

    /// Later operations on the slot go to another file, or none; those already queued stay with
    /// theirs. In queues of engines that work inside [`Queue::reap`] nothing may be queued then.
    /// io_uring waits for the trims and syncs that are in flight, because its worker threads take
    /// their file when they begin.
    ///
    /// # Errors
    /// [`EngineError::Ring`] where the kernel refuses the file.
    fn set_file(&mut self, slot: u32, file: Option<Rc<OwnedFd>>) -> Result<(), EngineError>;

    /// What the engine had to do without, one sentence each.
    fn notes(&self) -> &[String] {
        &[]
    }
}

/// [`Queue::reap_until`] for engines that cannot wait with a timeout: looks and short naps in turn.
fn nap_until(queue: &mut dyn Queue, nanoseconds: u64, completions: &mut Vec<Completion>) -> Result<(), EngineError> {
    /// Short enough for the schedule of an open loop, long enough to leave the CPU to others.
    const NAP: Duration = Duration::from_micros(20);
    let begun = Instant::now();
    let patience = Duration::from_nanos(nanoseconds);
    loop {
        queue.poll(completions)?;
        let left = patience.saturating_sub(begun.elapsed());
        if !completions.is_empty() || left.is_zero() {
            return Ok(());
        }
        std::thread::sleep(left.min(NAP));
    }
}

fn always() -> Result<(), String> {
    Ok(())
}

/// The engine of that name.
///
/// # Errors
/// [`EngineError::UnknownEngine`] with the names there are; [`EngineError::Unavailable`] where it
/// does not work on this machine.
pub fn find(name: &str) -> Result<&'static IoEngine, EngineError> {
    let engine = ENGINES.iter().find(|engine| engine.name == name).ok_or_else(|| EngineError::UnknownEngine {
        name: model::text::escaped(name.as_bytes()),
        known: ENGINES.iter().map(|engine| engine.name).collect::<Vec<_>>().join(", "),
    })?;
    match (engine.available)() {
        Ok(()) => Ok(engine),
        Err(reason) => Err(EngineError::Unavailable { name: engine.name, reason }),
    }
}

/// Names of the engines that work on this machine, in the table's order.
pub fn available_names() -> Vec<String> {
    ENGINES.iter().filter(|engine| (engine.available)().is_ok()).map(|engine| engine.name.to_owned()).collect()
}
