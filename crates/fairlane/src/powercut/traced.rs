//! `--replay`: the calls of a captured program as the work whose power is cut.

use super::in_guest::ErrandTrace;
use crate::commands::replay;
use crate::failure::Failure;
use crate::{owned, terminal};
use crashes::log::MOST_DISK_BYTES;
use engine::durable::{Kind, MOST_TRACED_BYTES, TracedWork};
use lanes::command_guest::MOST_TRACE_BYTES;
use lanes::guest::CarriedTrace;
use model::Bytes;
use model::kinds::WorkloadKind as _;
use model::kinds::replay::{Replay, Speed};
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Lanes are made larger in such steps.
const LANE_STEP_BYTES: u64 = 256 << 20;
/// Files, folders and links that have to be there before, at most.
const MOST_NAMES: u64 = 200_000;

/// The trace of a kept image.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeptTrace {
    /// Its file, from the root.
    pub path: PathBuf,
    /// Its SHA-256, in hexadecimal digits.
    pub sha256: String,
}

/// A trace as work.
pub struct Traced {
    /// The work.
    pub kind: Kind,
    /// The trace.
    pub trace: KeptTrace,
    /// Sentences about it, for the plan.
    notes: Vec<String>,
    /// Bytes that its files take in the lane at once.
    lane_bytes: u64,
    /// Bytes that are written: the files that are there before, and what the calls write.
    written_bytes: u64,
}

impl Traced {
    /// Reads a trace for whoever names it; the flag ends that and the work.
    ///
    /// # Errors
    /// Where it cannot be read, is none, makes nothing safe, or is larger than any log of a disk; interrupted.
    pub fn read(path: &Path, stop: &Arc<AtomicBool>) -> Result<Traced, Failure> {
        Traced::opened(path, owned::open_to_read(path), stop)
    }

    fn opened(path: &Path, opened: std::io::Result<File>, stop: &Arc<AtomicBool>) -> Result<Traced, Failure> {
        let shown = model::text::escaped_path(path);
        let refused = |why: String| match stop.load(Ordering::Relaxed) {
            true => Failure::interrupted(),
            false => Failure::usage(format!("{shown}: {why}")),
        };
        let (plan, sha256) = replay::plan(path, opened, stop)?;
        let whole = std::path::absolute(path).map_err(|error| refused(error.to_string()))?;
        let facts = plan.facts.clone();
        if facts.tree_bytes > MOST_TRACED_BYTES {
            return Err(refused(format!(
                "its files hold {} before its first call, and with what it writes they may hold {} together; capture one folder \
                 of it (--under)",
                Bytes(facts.tree_bytes),
                Bytes(MOST_TRACED_BYTES)
            )));
        }
        if facts.tree_entries > MOST_NAMES {
            return Err(refused(format!(
                "{} files and folders have to be there before its first call, and each is looked for after each cut, so that \
                 {MOST_NAMES} are the most; capture one folder of it (--under)",
                facts.tree_entries
            )));
        }
        let title = replay::title(&facts, path);
        let work = TracedWork::new(plan, Arc::clone(stop)).map_err(refused)?;
        let mut notes = vec![format!(
            "replay of {title}: {} calls by one thread; syncs: {}, of which {} of files and folders whose names were safe by then. \
             Its speed is not measured (`fairlane race --replay` does)",
            work.calls(),
            work.records(),
            work.named_records()
        )];
        notes.extend(work.cut_short().map(|why| format!("the work ends before the trace does: {why}")));
        let (trace, written_bytes) = (whole.clone(), facts.tree_bytes.saturating_add(facts.written_bytes));
        let as_raced = Replay { trace, sha256: sha256.clone(), speed: Speed::Max, facts };
        notes.extend(replay::left_out(&as_raced));
        let (begin, end) = model::durability::CALLS_OF;
        let kind = Kind::traced(work, format!("{begin}{title}{end}"));
        let lane_bytes = as_raced.working_set_bytes();
        Ok(Traced { kind, trace: KeptTrace { path: whole, sha256 }, notes, lane_bytes, written_bytes })
    }

    /// The trace of a kept image: as `typed`, or where the image says that it was, which a stranger may have written.
    ///
    /// # Errors
    /// Where it is not there any more, or another one.
    pub fn kept(kept: &KeptTrace, typed: Option<&Path>) -> Result<Traced, Failure> {
        // Nothing is made yet: a signal ends the process.
        let stop = Arc::default();
        let name_it = "name the trace that the image was made with: --replay FILE";
        let found = match typed {
            Some(path) => Traced::read(path, &stop)?,
            None if !kept.path.is_absolute() => {
                return Err(Failure::usage(format!("the kept image is of a trace that it does not name; {name_it}")));
            }
            None => {
                let opened = owned::open_as_owner(&kept.path).map_err(|error| {
                    let shown = model::text::escaped_path(&kept.path);
                    Failure::usage(format!("the kept image is of {shown}, which cannot be read ({error}); {name_it}"))
                })?;
                Traced::opened(&kept.path, Ok(opened), &stop)?
            }
        };
        match found.trace.sha256 == kept.sha256 {
            true => Ok(found),
            false => Err(Failure::usage(format!(
                "{} is not the trace that the kept image was made with; {name_it}",
                model::text::escaped_path(&found.trace.path)
            ))),
        }
    }

    /// How large a lane is that holds its files; `asked`: as the user says, `usual`: where the files are few.
    ///
    /// # Errors
    /// Where that is too small, or no disk that is cut is so large.
    pub fn lane_size(&self, asked: Option<Bytes>, usual: Bytes) -> Result<Bytes, Failure> {
        let shown = model::text::escaped_path(&self.trace.path);
        let needed = self.lane_bytes.saturating_mul(2).checked_next_multiple_of(LANE_STEP_BYTES).unwrap_or(u64::MAX);
        let files = Bytes(self.lane_bytes);
        match asked {
            Some(asked) if asked.0 < self.lane_bytes => Err(Failure::usage(format!(
                "--lane-size {asked} is too small for {shown}, whose files take up to {files}; take {} or more",
                Bytes(needed)
            ))),
            Some(asked) => Ok(asked),
            None if needed > MOST_DISK_BYTES => Err(Failure::usage(format!(
                "{shown}: its files take up to {files}, and power cuts are made on disks of {} at most; capture a smaller run, \
                 or one folder of it (--under)",
                Bytes(MOST_DISK_BYTES)
            ))),
            None => Ok(Bytes(needed.max(usual.0))),
        }
    }

    /// The trace as a guest gets it, which reads it in its own memory.
    ///
    /// # Errors
    /// Where it cannot be read any more, or is larger than what a guest carries.
    pub fn in_guest(&self) -> Result<ErrandTrace, Failure> {
        let (path, shown) = (self.trace.path.clone(), model::text::escaped_path(&self.trace.path));
        let opened = owned::open_to_read(&path).and_then(|file| CarriedTrace::new(file, &self.trace.sha256));
        let carried = opened.map_err(|error| Failure::usage(format!("cannot read {shown}: {error}; name a trace")))?;
        match carried.bytes() > MOST_TRACE_BYTES {
            true => Err(Failure::usage(format!(
                "{shown} has {}, and a guest in which power is cut carries {} at most; leave --on out, or capture one folder of \
                 it (--under)",
                Bytes(carried.bytes()),
                Bytes(MOST_TRACE_BYTES)
            ))),
            false => Ok(ErrandTrace { carried, path, what: self.kind.what.to_string() }),
        }
    }

    /// Bytes that a lane of this size takes with the log of its disk, rather too many.
    pub fn room(&self, lane_bytes: u64) -> u64 {
        lane_bytes.saturating_mul(2).saturating_add(self.written_bytes.saturating_mul(2))
    }

    /// Says what is done.
    pub fn announce(&self, quiet: bool) {
        for note in self.notes.iter().filter(|_| !quiet) {
            terminal::say!("  {note}.");
        }
    }
}
