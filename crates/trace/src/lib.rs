//! What a program asked of files: the format of traces (docs/trace.md), how they are written, read and summed up.

mod calls;
mod encoding;
mod errors;
mod hashed;
pub mod import;
mod reader;
pub mod replay;
mod summary;
mod writer;

pub use calls::{CALLS, Call, call, code};
pub use encoding::{MAGIC, VERSION};
pub use errors::error_name;
pub use hashed::{Fingerprint, HashedFile};
pub use model::trace::{BufferUse, End, Header};
pub use reader::{MOST_PATH_BYTES, MOST_PATH_BYTES_IN_ALL, MOST_PATHS, MOST_THREADS, ReadError, Reader};
pub use summary::summarize;
pub use writer::Writer;

/// The number of an open file that is not followed: a socket, or what lies elsewhere.
pub const NOT_FOLLOWED: u32 = u32::MAX;

/// What was there before the program touched it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Before {
    /// Number of the path.
    pub path: u32,
    /// The type and the permissions (`st_mode`); 0: nothing was there.
    pub mode: u32,
    /// Bytes of a file; of a link the number of the path that its text is, and 1 (0: it is not known).
    pub bytes: u64,
}

/// One call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Operation {
    /// Code of a row of [`CALLS`].
    pub call: u8,
    /// Number of the thread.
    pub thread: u32,
    /// Nanoseconds since the begin.
    pub start: u64,
    /// How long it took, the tracer's own stop behind it left out.
    pub nanoseconds: u64,
    /// What it returned; an error as its negative number.
    pub result: i64,
    /// Numbers of paths, as many as the row has.
    pub paths: [u32; 2],
    /// Numbers of open files, as many as the row has.
    pub files: [u32; 2],
    /// Other arguments, as many as the row has.
    pub numbers: [i64; 4],
}

/// One item of a trace, in the order in which they were written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Item {
    /// The first.
    Header(Header),
    /// The next path, by its number: the first has 0.
    Path(Vec<u8>),
    /// The next thread: its ids and the number of the thread that began it; `u32::MAX`: the tracer.
    Thread {
        /// Process id.
        process: u32,
        /// Thread id.
        thread: u32,
        /// Who began it.
        parent: u32,
    },
    /// A thread saw the end of a process (wait4(2)), which was waited for or over already.
    Waited {
        /// Number of the thread.
        thread: u32,
        /// Id of the process that ended.
        process: u32,
        /// When, in nanoseconds since the begin.
        at: u64,
    },
    /// Before its next call a thread stood still, because it was traced.
    Stood {
        /// Number of the thread.
        thread: u32,
        /// For how long.
        nanoseconds: u64,
    },
    /// What was there before.
    Before(Before),
    /// A call.
    Operation(Operation),
    /// Bytes that were written, looked at: how many, how many of them after compression, and whether the same were seen before.
    Sample {
        /// Looked at.
        bytes: u32,
        /// After compression (DEFLATE at its fastest).
        compressed: u32,
        /// Seen before.
        repeated: bool,
    },
    /// What could not be seen.
    Note(String),
    /// The last.
    End(End),
}
