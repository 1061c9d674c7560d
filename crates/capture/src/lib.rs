//! Watches a program and writes down what it asks of files.
//!
//! A filter of system calls (seccomp) stops the program at the calls of interest alone, and at no others; at each stop the tracer
//! (ptrace) looks at the call and at what came of it. No root is needed, and static programs are seen as well. A program that runs
//! already has no such filter, and is stopped at every call.

mod attach;
mod before;
mod begin;
#[cfg(target_arch = "x86_64")]
mod call_buffer;
#[cfg(not(target_arch = "x86_64"))]
#[path = "call_buffer/none.rs"]
mod call_buffer;
mod filter;
mod memory;
mod names;
mod process;
mod samples;
mod signals;
mod stops;
mod system_calls;
mod tracer;

use std::ffi::CString;
use std::fs::File;
use std::path::PathBuf;
use trace::BufferUse;

/// What is captured.
#[derive(Debug)]
pub struct Job {
    /// The program and its arguments.
    pub command: Vec<CString>,
    /// Only files below this folder, by each of its names, are written down; empty: all.
    pub under: Vec<PathBuf>,
    /// Parts of names are hashed, with a key that nobody keeps.
    pub anonymous: bool,
    /// When it begins, in UTC (RFC 3339).
    pub started: String,
    /// The file mode creation mask that the program has.
    pub mask: u32,
    /// Calls of the C library that change nothing which was there are done without a stop, where the machine can.
    pub buffered: bool,
}

/// Programs that run already.
#[derive(Debug)]
pub struct Running {
    /// Their processes; the first one gives the trace its command.
    pub processes: Vec<i32>,
    /// What they began already is captured too.
    pub follow: bool,
}

/// How it ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Captured {
    /// The exit status, as a shell has it: 128 and the signal for what a signal ended.
    pub status: i32,
    /// Calls that were written down.
    pub operations: u64,
    /// Bytes of the trace.
    pub bytes: u64,
    /// Wall nanoseconds.
    pub nanoseconds: u64,
    /// Those in which the tracer was at work.
    pub tracer_nanoseconds: u64,
    /// The buffer of calls that did not stop; `None`: there was none.
    pub buffer: Option<BufferUse>,
}

/// Why nothing was captured, or not to the end.
#[derive(Debug, thiserror::Error)]
pub enum CaptureError {
    /// The program did not start: 127 there is none, 126 it may not be run.
    #[error("{0}")]
    NotStarted(String, i32),
    /// The kernel does not let it be traced.
    #[error("{action}: {error}; {remedy}")]
    NotTraced {
        /// What was refused.
        action: &'static str,
        /// The kernel's word.
        error: std::io::Error,
        /// What helps.
        remedy: &'static str,
    },
    /// It may not be attached to.
    #[error("{0}")]
    NotAttached(String),
    /// The trace could not be written.
    #[error("cannot write the trace: {0}; free some space or name another file with -o")]
    Write(std::io::Error),
    /// It began more threads than a trace holds; what it did until then is in the trace.
    #[error(
        "the program began more than {0} threads, the most of a trace: what it did from then on is missing; capture a part of its work"
    )]
    Threads(u32),
    /// This machine's.
    #[error("{0} cannot be captured on this kind of CPU; capture on x86-64 or 64-bit ARM")]
    Machine(&'static str),
}

/// Runs a program to its end, and that of all that it began, and writes down what they ask of files.
///
/// The calling process must have no other child, and ignores SIGINT, SIGQUIT and SIGTSTP meanwhile: these are the program's.
///
/// # Errors
/// As [`CaptureError`]. A program that cannot be traced is not left running.
pub fn capture(job: &Job, out: File) -> Result<Captured, CaptureError> {
    tracer::run(job, out)
}

/// Attaches to programs that run already, and writes down what they ask of files until they end, or until SIGINT, SIGTERM or SIGHUP:
/// then it lets go of them, and they go on. `job` has no command. `begun` is told how many processes and threads they are.
///
/// The calling process must have no child. Where it is killed the programs go on.
///
/// # Errors
/// As [`CaptureError`].
pub fn attach(
    job: Job,
    running: &Running,
    out: File,
    begun: impl FnMut(usize, usize),
) -> Result<Captured, CaptureError> {
    tracer::attach(job, running, out, begun)
}
