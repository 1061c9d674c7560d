//! The calls of a captured program, done again by one thread: each sync that succeeded is a record, and what it made safe is
//! looked for after a cut.
//!
//! What must be there hangs on the trace, the seed and the number of the last record alone (docs/durability.md).

mod check;
mod content;
mod follow;
mod spans;
mod state;
#[cfg(test)]
mod tests;

use super::{Acknowledge, Found, Terms};
use crate::error::EngineError;
use crate::workloads::replay::{Contents, Differences, OneByOne, counts, differs};
use content::{Content, Origin, Source};
pub use follow::MOST_WRITTEN_BYTES;
use follow::{Course, follow};
use state::{Effect, Node, State};
use std::io::{Error, ErrorKind, Result};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::sync_channel;
use trace::replay::{Replay, Step};

/// Where more of the calls get another answer than the program got, it is not the same work.
const MOST_DIFFERENT: f64 = 0.01;
/// Names that are looked at, each behind each sync, where it is asked whether any sync promises anything.
const MOST_LOOKS: usize = 50_000_000;
/// Syncs behind which they are looked at where that would be more.
const SAMPLES: usize = 64;

/// What is said where the flag was set; whoever set it knows.
const INTERRUPTED: &str = "it was interrupted";

/// What the syncs of a work promise of its files.
#[derive(Debug, PartialEq, Eq)]
enum Promised {
    /// Some file has to be there.
    Something,
    /// None, behind so many syncs that were looked at.
    Nothing { looked_at: usize },
    /// The flag was set.
    Stopped,
}

/// A trace whose calls are done again, and what they leave.
#[derive(Debug)]
pub struct TracedWork {
    plan: Replay,
    course: Course,
    /// Set: whatever goes on ends.
    stop: Arc<AtomicBool>,
}

impl TracedWork {
    /// Of a plan. Whatever is done of it ends soon after the flag `stop` is set, with [`std::io::ErrorKind::Interrupted`].
    ///
    /// # Errors
    /// Where no sync of it makes anything safe that can be looked for, or the flag was set, one sentence without the file's name.
    pub fn new(plan: Replay, stop: Arc<AtomicBool>) -> std::result::Result<TracedWork, String> {
        let Some(course) = follow(&plan, &stop) else { return Err(INTERRUPTED.to_owned()) };
        let work = TracedWork { plan, course, stop };
        if work.course.records.is_empty() {
            let why = match work.course.end {
                Some(end) => format!("before {}, it asks", end.said()),
                None => "it asks".to_owned(),
            };
            return Err(format!(
                "{why} for no sync of a file that succeeded, so a power cut may take all of it; capture it where it syncs (a \
                 database with synchronous=FULL), or race it with `fairlane race --replay`"
            ));
        }
        match work.promises_something(MOST_LOOKS) {
            Promised::Something => Ok(work),
            Promised::Stopped => Err(INTERRUPTED.to_owned()),
            Promised::Nothing { looked_at } => Err(work.promises_nothing(looked_at)),
        }
    }

    /// Why it is refused; `looked_at`: behind how many of its syncs names were looked at.
    fn promises_nothing(&self, looked_at: usize) -> String {
        let syncs = self.course.records.len();
        let after = match looked_at == syncs {
            true => "after none of its syncs".to_owned(),
            false => format!("after none of those {looked_at} of its {syncs} syncs that were looked at"),
        };
        format!(
            "{after} has a file that it changed and synced to be there under any name: it had not fsynced the file, or not the \
             folders that the names were made in (fdatasync of a folder promises no names), or touched the names again; capture \
             it where its files are there already, or have it fsync the file and the folder"
        )
    }

    /// How many syncs are acknowledged.
    pub fn records(&self) -> u64 {
        self.course.records.len() as u64
    }

    /// How many of them are of files and folders to which a safe name led by then.
    pub fn named_records(&self) -> u64 {
        self.records().saturating_sub(self.course.unnamed)
    }

    /// How many calls are done.
    pub fn calls(&self) -> u64 {
        self.course.turns.len() as u64
    }

    /// Why the work ends before the trace does, as a part of a sentence; `None`: it does not.
    pub fn cut_short(&self) -> Option<String> {
        self.course.end.map(follow::End::said)
    }

    /// Whether after some sync a file that the program changed must be there under some name: looks behind all of them where that
    /// is at most so many looks at names, else behind some.
    fn promises_something(&self, most_looks: usize) -> Promised {
        let records = self.course.records.len();
        let named = self.course.effects.iter().filter(|effect| matches!(effect, Effect::Named { .. })).count();
        let names = self.course.start.nodes.len() + named;
        let every = if records.saturating_mul(names) <= most_looks { 1 } else { records.div_ceil(SAMPLES) };
        let mut looked_at: Vec<usize> = (0..records).rev().step_by(every).collect();
        looked_at.reverse();
        let (mut state, mut at) = (self.course.start.clone(), 0);
        for record in &looked_at {
            if self.stop.load(Ordering::Relaxed) {
                return Promised::Stopped;
            }
            let end = self.until(*record as u64 + 1);
            self.course.effects[at..end].iter().for_each(|effect| state.apply(effect));
            at = end;
            if promises_a_change(&state) {
                return Promised::Something;
            }
        }
        Promised::Nothing { looked_at: looked_at.len() }
    }

    /// How many changes may have been made when so many records are acknowledged: those before the next one.
    fn until(&self, acknowledged: u64) -> usize {
        let next = self.course.records.get(acknowledged as usize);
        next.map_or(self.course.effects.len(), |record| record.before as usize)
    }

    /// What must be there.
    fn state_after(&self, acknowledged: u64) -> State {
        let mut state = self.course.start.clone();
        self.course.effects[..self.until(acknowledged)].iter().for_each(|effect| state.apply(effect));
        state
    }

    fn content(&self, terms: Terms) -> Content {
        Content::new(terms.seed, self.plan.facts.compressed)
    }

    pub(super) fn prepare(&self, folder: &Path, terms: Terms) -> Result<()> {
        let mut contents = Written(self.content(terms));
        let made = OneByOne::new(&self.plan, folder).and_then(|work| work.prepare(folder, &mut contents, &self.stop));
        made.map_err(|error| match error {
            EngineError::Interrupted => ErrorKind::Interrupted.into(),
            error => Error::other(error.to_string()),
        })
    }

    pub(super) fn run(&self, folder: &Path, terms: Terms, acknowledge: Acknowledge) -> Result<()> {
        let work = OneByOne::new(&self.plan, folder).map_err(|error| Error::other(error.to_string()))?;
        let (ask, asked) = sync_channel(0);
        let (answer, answered) = sync_channel(0);
        let mut contents = Written(self.content(terms));
        let gone = |_| Error::other("the thread that waits for the calls ended");
        std::thread::scope(|scope| {
            let worker = scope.spawn(move || {
                let mut heeded = Heeded { work: self, told: &work, next: 0, differences: Differences::default() };
                work.run(&self.course.turns, &mut contents, &self.stop, &mut |number, step, got| match heeded
                    .heed(number, step, got)?
                {
                    Some(record) => {
                        ask.send(record).map_err(|_| Error::other("the thread that waits for the calls ended"))?;
                        answered.recv().map_err(gone)?
                    }
                    None => Ok(()),
                })?;
                heeded.judge()
            });
            // It ends when the worker does.
            for record in asked {
                let taken = answer.send(acknowledge(record));
                if taken.is_err() {
                    break;
                }
            }
            worker.join().unwrap_or_else(|_| Err(Error::other("the thread that does the calls failed")))
        })
    }

    pub(super) fn check(&self, folder: &Path, terms: Terms, acknowledged: u64) -> Found {
        let effects = &self.course.effects[..self.until(acknowledged)];
        check::check(&self.state_after(acknowledged), (&self.course.start, effects), &self.content(terms), folder)
    }
}

fn promises_a_change(state: &State) -> bool {
    let mut folders = vec![state::TOP];
    while let Some(folder) = folders.pop().and_then(|id| state.folder(id)) {
        for entry in folder.names.values().filter(|entry| state.is_promised(folder, entry)) {
            let Some(id) = entry.leads else { continue };
            match &state.nodes[id as usize] {
                Node::Folder(_) => folders.push(id),
                Node::File(file) if file.is_touched && state.has_promised_size(file) => return true,
                _ => {}
            }
        }
    }
    false
}

/// The bytes of a run, written.
struct Written(Content);

impl Contents for Written {
    fn of_tree(&mut self, file: u32, from: u64, into: &mut [u8]) {
        self.0.fill(Source { origin: Origin::Tree(file), at: from }, into);
    }

    fn of_call(&mut self, call: u32, into: &mut [u8]) {
        self.0.fill(Source { origin: Origin::Call(call), at: 0 }, into);
    }
}

/// What is made of the answers.
struct Heeded<'a> {
    work: &'a TracedWork,
    told: &'a OneByOne<'a>,
    /// How many records are acknowledged.
    next: usize,
    differences: Differences,
}

impl Heeded<'_> {
    /// Answers the record that this call is.
    fn heed(&mut self, number: u32, step: &Step, got: i64) -> Result<Option<u64>> {
        if differs(step, got) {
            self.differences.note(step, got);
            if counts(step) {
                let (at, all) = (number + 1, self.work.calls());
                return Err(Error::other(format!(
                    "{}; what must be there hangs on call {at}, so that nothing can be said of this lane: capture the program \
                     on such a filesystem, or leave the lane out",
                    self.told.told(&self.differences, all)
                )));
            }
        }
        let is_next = self.work.course.records.get(self.next).is_some_and(|record| record.turn == number);
        self.next += usize::from(is_next);
        Ok(is_next.then_some(self.next as u64))
    }

    fn judge(&self) -> Result<()> {
        let (differ, all) = (self.differences.count(), self.work.calls());
        match differ as f64 / all.max(1) as f64 > MOST_DIFFERENT {
            true => Err(Error::other(format!(
                "{}: that is more than 1 %, and other work; capture the program on such a filesystem, or leave the lane out",
                self.told.told(&self.differences, all)
            ))),
            false => Ok(()),
        }
    }
}
