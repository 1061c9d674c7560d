//! What a trace of a program holds, summed up.

use serde::{Deserialize, Serialize};

/// What a trace begins with.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Header {
    /// Of the format.
    pub version: u32,
    /// The program and its arguments.
    pub command: Vec<String>,
    /// Where it was started.
    pub directory: String,
    /// When, in UTC (RFC 3339).
    pub started: String,
    /// `Linux 6.12.1 x86_64`.
    pub kernel: String,
    /// Only paths below this one were written down; empty: all.
    pub under: String,
    /// Parts of names are hashed.
    pub anonymous: bool,
    /// How it was captured: `ptrace`.
    pub method: String,
}

/// What a trace ends with; a trace whose tracer was killed has none.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct End {
    /// The exit status, as a shell has it.
    pub status: i32,
    /// Nanoseconds from the begin to the end of the last process.
    pub nanoseconds: u64,
    /// Nanoseconds in which the tracer was at work.
    pub tracer_nanoseconds: u64,
    /// The buffer of calls that did not stop; absent: there was none.
    pub buffer: Option<BufferUse>,
}

/// How much of the buffer was in use that all captured processes share.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct BufferUse {
    /// Its bytes.
    pub bytes: u64,
    /// The most of them that were in use at once, whenever the tracer looked.
    pub most_bytes: u64,
    /// How often more than half of them came to be in use: from there on calls stop until it is read.
    pub filled: u64,
    /// Calls of the trace that were written into it; all others stopped.
    pub calls: u64,
}

/// Fewer calls take no time that matters, wherever they stopped.
const FEW_CALLS: u64 = 1000;

impl BufferUse {
    /// Whether most of so many calls stopped all the same: those of static programs, of Go and of musl do.
    pub fn was_passed_by(&self, operations: u64) -> bool {
        operations >= FEW_CALLS && self.calls < operations / 2
    }
}

/// A whole trace, summed up.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Summary {
    /// As it begins.
    pub header: Header,
    /// As it ends; absent: the tracer was killed.
    pub end: Option<End>,
    /// Processes and threads.
    pub processes: u64,
    /// Threads of all of them.
    pub threads: u64,
    /// Calls of all kinds.
    pub operations: u64,
    /// Those that failed.
    pub failed: u64,
    /// Nanoseconds from the begin to the end of the last call.
    pub nanoseconds: u64,
    /// Bytes that calls read and wrote.
    pub read_bytes: u64,
    /// Bytes that calls wrote.
    pub written_bytes: u64,
    /// fsync, fdatasync, sync_file_range, syncfs, sync and msync that succeeded.
    pub syncs: u64,
    /// The mean number of calls that were under way at once: all their times over `nanoseconds`.
    pub at_once: f64,
    /// Bytes of files that were read or written, each file from its first byte to the last that was touched.
    pub working_set_bytes: u64,
    /// Bytes of files that were there before, as far as calls named them.
    pub bytes_before: u64,
    /// By kind of call, the longest total time first.
    pub calls: Vec<CallSum>,
    /// By file, the most bytes first.
    pub files: Vec<FileSum>,
    /// Written bytes that were looked at, what is left of them after compression, and those that were the same as others.
    pub sampled_bytes: u64,
    /// After compression.
    pub sampled_compressed_bytes: u64,
    /// Looked at, and the same as others before.
    pub sampled_repeated_bytes: u64,
    /// What could not be seen.
    pub notes: Vec<String>,
}

/// Calls of one kind.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct CallSum {
    /// `pwrite64`.
    pub call: String,
    /// How many.
    pub count: u64,
    /// That failed.
    pub failed: u64,
    /// Bytes that they read or wrote.
    pub bytes: u64,
    /// Of all of them.
    pub nanoseconds: u64,
    /// The median, to an eighth of a power of two.
    pub p50_nanoseconds: u64,
    /// The 99th percentile, so too.
    pub p99_nanoseconds: u64,
}

/// What was done with one file.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct FileSum {
    /// As it was opened; of names that are no UTF-8 the odd bytes are replaced.
    pub path: String,
    /// Times that it was opened.
    pub opened: u64,
    /// Bytes read.
    pub read_bytes: u64,
    /// Bytes written.
    pub written_bytes: u64,
    /// Syncs of it.
    pub syncs: u64,
    /// Where the last touched byte ends.
    pub extent_bytes: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_buffer_was_passed_by_where_most_of_many_calls_stopped() {
        let of = |calls, operations| BufferUse { calls, ..BufferUse::default() }.was_passed_by(operations);
        assert_eq!([of(0, 999), of(0, 1000), of(499, 1000), of(500, 1000)], [false, true, true, false]);
    }
}
