//! I/O engines: one file each, behind one trait and one table.
//!
//! To add one: a file with a type that implements [`Queue`], and its row in [`ENGINES`].

mod io_uring;
mod null;
mod sync;

use crate::buffers::Memory;
use crate::error::EngineError;
use std::os::fd::OwnedFd;
use std::rc::Rc;

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
    IoEngine { name: "null", available: always, open: null::open },
];

/// What a queue works on.
pub struct Setup {
    /// The file, opened for the direction; `None` only for engines that make no system calls.
    pub file: Option<Rc<OwnedFd>>,
    /// Reads or writes.
    pub direction: Direction,
    /// Operations in flight at most, from 1.
    pub depth: u32,
    /// Where the operations' chunks lie; one chunk is one operation's block.
    pub memory: Rc<Memory>,
}

impl Setup {
    fn file(&self) -> Result<Rc<OwnedFd>, EngineError> {
        self.file.clone().ok_or_else(|| {
            EngineError::Unsuitable(
                "this I/O engine needs a file or device; use ioengine = \"null\" without one".into(),
            )
        })
    }
}

/// Which way the data goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// From the file into memory.
    Read,
    /// From memory into the file.
    Write,
}

/// One operation: a block at an offset.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Operation {
    /// The chunk of memory, which stays untouched until the operation completes; it also names the
    /// operation in its completion.
    pub chunk: u32,
    /// Offset in the file, in bytes.
    pub offset: u64,
    /// `fdatasync` after the write, as part of the operation. Only in queues of depth 1.
    pub sync: bool,
}

/// How an operation ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Completion {
    /// The operation's chunk.
    pub chunk: u32,
    /// Bytes moved, or the negated errno.
    pub result: i32,
}

/// Operations in flight on one file.
///
/// # Contract
/// At most `depth` operations are queued or in flight, each on a chunk of its own. An implementation
/// keeps its `Rc` of the memory, and on drop waits for what is in flight, so that the kernel never
/// writes into memory that is gone.
pub trait Queue {
    /// Takes an operation; it begins at the latest with the next [`Queue::reap`].
    ///
    /// # Errors
    /// [`EngineError::Ring`] where the kernel's queue fails as such.
    fn queue(&mut self, operation: Operation) -> Result<(), EngineError>;

    /// Begins what is queued, waits until at least one operation has completed, and appends all
    /// completed ones. Must be called only with something queued or in flight. `completions` has
    /// room for `depth` entries, so nothing is allocated.
    ///
    /// # Errors
    /// [`EngineError::Ring`] where the kernel's queue fails as such; a failed operation is no error
    /// here but a negative [`Completion::result`].
    fn reap(&mut self, completions: &mut Vec<Completion>) -> Result<(), EngineError>;

    /// Later operations go to another file; those already queued stay with theirs.
    ///
    /// # Errors
    /// [`EngineError::Ring`] where the kernel refuses the file.
    fn switch_file(&mut self, file: Rc<OwnedFd>) -> Result<(), EngineError>;

    /// What the engine had to do without, one sentence each.
    fn notes(&self) -> &[String] {
        &[]
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
        name: name.escape_debug().to_string(),
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
