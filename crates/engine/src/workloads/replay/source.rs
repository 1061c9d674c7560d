//! The trace's file: read twice, and both times the same bytes.

use super::rooms;
use crate::error::EngineError;
use crate::workloads::available_bytes;
use std::fs::File;
use std::io::BufReader;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use trace::replay::{Limits, Replay, ReplayError, Step, THINKING_BYTES, Wait};
use trace::{Fingerprint, HashedFile};

/// Most bytes of a trace.
const MOST_TRACE_BYTES: u64 = 8 << 30;

/// What a thread writes down of a step: how long it took, what it moved and how late it was; and how long it thinks before it.
const STEP_FIGURES_BYTES: usize = 24 + THINKING_BYTES as usize;

/// Reads a trace for a replay; answers its SHA-256 too, in hexadecimal digits.
///
/// # Errors
/// One sentence, without the file's name.
pub fn read(file: &File, stop: &AtomicBool) -> Result<(Replay, String), String> {
    read_within(file, available_bytes() / 2, stop)
}

/// Whether a replay of a trace finds room in a memory of which so much is free, as [`read`] and `rooms` count it where it is
/// done; answers what [`read`] does.
///
/// # Errors
/// As of [`read`].
pub fn check_memory(file: &File, free_bytes: u64, stop: &AtomicBool) -> Result<String, String> {
    let (plan, sha256) = read_within(file, free_bytes / 2, stop)?;
    let steps: usize = plan.threads.iter().map(Vec::len).sum();
    let calls = steps * (size_of::<Step>() + STEP_FIGURES_BYTES) + plan.waits.len() * size_of::<Wait>();
    rooms::check(&plan, free_bytes.saturating_sub(calls as u64))?;
    Ok(sha256)
}

fn read_within(file: &File, memory_bytes: u64, stop: &AtomicBool) -> Result<(Replay, String), String> {
    let of = file.metadata().map_err(|error| format!("it cannot be read: {error}"))?;
    if !of.is_file() || of.len() > MOST_TRACE_BYTES {
        return Err("it is no file, or larger than any trace; name a trace".to_owned());
    }
    let mut fingerprints = [Fingerprint::default(), Fingerprint::default()];
    let goes_on = || !stop.load(Ordering::Relaxed);
    let limits = Limits { memory_bytes, goes_on: &goes_on };
    let [first, second] = fingerprints.each_mut().map(|of| BufReader::new(HashedFile::new(file, of)));
    let replay = trace::replay::read(first, second, &limits).map_err(|error| match error {
        ReplayError::Interrupted => "the race was interrupted".to_owned(),
        error => error.to_string(),
    })?;
    // Both are read to their end.
    let [first, second] = fingerprints.map(Fingerprint::hexadecimal);
    match first == second {
        true => Ok((replay, first)),
        false => Err("it changed while it was read; leave it alone until the race has ended".to_owned()),
    }
}

/// The trace at a path, if it is the one that is meant.
pub(super) fn expect(path: &Path, sha256: &str, stop: &AtomicBool) -> Result<Replay, EngineError> {
    let told = model::text::escaped_path(path);
    let wrong = |what: String| EngineError::Unsuitable(format!("trace {told}: {what}"));
    let flags = libc::O_NONBLOCK | libc::O_NOCTTY;
    let file = File::options().read(true).custom_flags(flags).open(path);
    let file = file.map_err(|error| wrong(format!("it cannot be read: {error}")))?;
    let (replay, found) = read(&file, stop).map_err(wrong)?;
    match found == sha256 {
        true => Ok(replay),
        false => Err(wrong("it is not the trace that this race began with; put that one back".to_owned())),
    }
}
