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
use crate::workloads::replay::{Contents, Differences, OneByOne, counts, differs};
use content::{Content, Origin, Source};
pub use follow::MOST_WRITTEN_BYTES;
use follow::{Course, follow};
use state::{Node, State};
use std::io::{Error, Result};
use std::path::Path;
use std::sync::mpsc::sync_channel;
use trace::replay::{Replay, Step};

/// Where more of the calls get another answer than the program got, it is not the same work.
const MOST_DIFFERENT: f64 = 0.01;

/// A trace whose calls are done again, and what they leave.
#[derive(Debug)]
pub struct TracedWork {
    plan: Replay,
    course: Course,
}

impl TracedWork {
    /// Of a plan.
    ///
    /// # Errors
    /// Where no sync of it makes anything safe that can be looked for, one sentence without the file's name.
    pub fn new(plan: Replay) -> std::result::Result<TracedWork, String> {
        let course = follow(&plan);
        let work = TracedWork { plan, course };
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
        match work.promises_something() {
            true => Ok(work),
            false => Err(
                "it syncs files, but never by fsync the folders that their names are made in (fdatasync of a folder promises no \
                 names), so nobody has to find them after a power cut; capture it where its files are there already, or have \
                 it fsync the folder"
                    .to_owned(),
            ),
        }
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

    /// Whether after some sync a file that the program changed must be there under some name.
    fn promises_something(&self) -> bool {
        let mut state = self.course.start.clone();
        let mut at = 0;
        // Some are enough: what one of many promises, those beside it do as a rule.
        let every = self.course.records.len().div_ceil(64);
        let ends = (0..self.course.records.len()).rev().step_by(every).map(|record| self.until(record as u64 + 1));
        let mut ends: Vec<usize> = ends.collect();
        ends.reverse();
        ends.into_iter().any(|end| {
            self.course.effects[at..end].iter().for_each(|effect| state.apply(effect));
            at = end;
            promises_a_change(&state)
        })
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
        let made = OneByOne::new(&self.plan, folder).and_then(|work| work.prepare(folder, &mut contents));
        made.map_err(|error| Error::other(error.to_string()))
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
                work.run(&self.course.turns, &mut contents, &mut |number, step, got| match heeded
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
                Node::File(file) if file.is_touched && state.promise(file).sizes.is_some() => return true,
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
