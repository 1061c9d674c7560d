//! Lives a life below a folder: act after act, until it is enough, stopped, or gone on with.

use crate::Life;
use crate::beneath::entries;
use crate::error::AgingError;
use crate::executor::Executor;
use crate::life::{Generator, Operation};
use crate::measures::extents_of;
use crate::state::{self, Ending, LastFilling, State};
use crate::until::{EndedBy, MOST_MINUTES, MOST_OVERWRITES, SETTLED_CHANGE, SETTLED_REWRITES, Until, WINDOW_REWRITES};
use rustix::fd::BorrowedFd;
use rustix::fs::{Mode, OFlags, openat};
use rustix::io::Errno;
use serde::{Deserialize, Serialize};
use std::ops::ControlFlow;
use std::time::Instant;

/// Acts between two looks at the clock and at whoever watches.
const ACTS_BETWEEN_LOOKS: u64 = 32;
/// Files whose extents are counted at the end of a window, at most.
const COUNTED_FILES: usize = 20_000;

/// What came of a life.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Lived {
    /// Acts that were done, or refused.
    pub operations: u64,
    /// Bytes that these acts wrote into files, refused ones too.
    pub bytes_written: u64,
    /// The same in sizes of the life.
    pub overwrites: f64,
    /// Cycles; the first filling is one.
    pub cycles: u32,
    /// Acts for which there was no room.
    pub refused_for_space: u64,
    /// Acts on files that were missing for that reason.
    pub skipped_for_space: u64,
    /// What ended it; `None` while it is lived.
    pub ended_by: Option<EndedBy>,
    /// Files of the model's tree.
    pub files: u64,
    /// Folders of it.
    pub directories: u64,
    /// Sum of its files' sizes, bytes.
    pub bytes: u64,
    /// Share of the life's size that they take in blocks of 4 KiB, 0 to 1.
    pub used_share: f64,
    /// Seconds that it was lived, all parts together.
    pub seconds: f64,
    /// Extents per file at the end of each window, where a life is to settle and the filesystem tells.
    pub extents_per_file: Vec<f64>,
    /// How often it was gone on with.
    pub resumed: u32,
    /// Files and folders that were removed or made again then.
    pub repaired: u64,
}

/// How far a life is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Progress {
    /// Acts so far.
    pub operations: u64,
    /// Bytes written so far.
    pub bytes_written: u64,
    /// The same in sizes of the life.
    pub overwrites: f64,
    /// Cycles that have ended; 0: it is filled for the first time.
    pub cycle: u32,
    /// Share of the life's size that is used, 0 to 1.
    pub used_share: f64,
    /// Extents per file at the last window's end.
    pub extents_per_file: Option<f64>,
    /// Seconds so far.
    pub seconds: f64,
}

/// Lives a life below a folder, which is empty or holds the beginning of the same life. `progress` is asked between acts whether
/// to go on; where it breaks, what is done is synced and kept, and the next call goes on from there. After a kill it goes on
/// from the last cycle, and repairs what came after it.
///
/// # Errors
/// [`AgingError`]; want of space is none.
pub fn live(
    root: BorrowedFd<'_>,
    life: &Life,
    progress: &mut dyn FnMut(&Progress) -> ControlFlow<()>,
) -> Result<Lived, AgingError> {
    life.check()?;
    let state = match State::read(root)? {
        Some(state) if state.key != life.endless_key() => {
            return Err(AgingError::Another(
                "another life was lived in this folder (profile, seed or size differ); remove it, or go on with that one"
                    .to_owned(),
            ));
        }
        Some(state) if state.ended.as_ref().is_some_and(|ended| ended.key == life.key()) => return Ok(state.lived),
        Some(state) if state.last.is_some_and(|last| Some(last.full) != life.full || state.ended.is_some()) => {
            return Err(AgingError::Another(
                "this life has had its last filling, behind which nothing follows; remove it, and begin anew"
                    .to_owned(),
            ));
        }
        None if !is_empty(root)? => {
            return Err(AgingError::Another(
                "something lies in this folder, and it tells of no life; name an empty one".to_owned(),
            ));
        }
        state => state,
    };
    Session::begin(root, life, state)?.run(progress)
}

/// Nothing lies in a folder but what a filesystem puts there itself, and the draft of a state that never came to be one.
fn is_empty(root: BorrowedFd) -> Result<bool, AgingError> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let found = openat(root, c".", flags, Mode::empty()).and_then(entries);
    let found = found.map_err(|errno| AgingError::system("list", ".", errno))?;
    Ok(found
        .iter()
        .all(|(name, _)| state::NAMES.contains(&name.as_c_str()) || name.as_c_str() == state::LOST_AND_FOUND))
}

struct Session<'a> {
    root: BorrowedFd<'a>,
    life: &'a Life,
    generator: Generator<'a>,
    executor: Executor<'a>,
    state: State,
    begun: Instant,
    /// Seconds of earlier parts.
    before: f64,
    /// A cycle had just ended when it began.
    at_end_of_cycle: bool,
}

impl<'a> Session<'a> {
    fn begin(root: BorrowedFd<'a>, life: &'a Life, state: Option<State>) -> Result<Self, AgingError> {
        let begun = Instant::now();
        let mut generator = Generator::new(&life.profile, life.seed, life.capacity_bytes);
        // A state may have been written before anything else was.
        let is_new = state.as_ref().is_none_or(|state| state.operations == 0) && is_empty(root)?;
        let mut state = state.unwrap_or_else(|| State::new(life));
        let at_end_of_cycle = replay(&mut generator, &state);
        // Of acts that were done and not kept the stamps are not known: beyond them by far.
        let stamps = (generator.acts() + u64::from(state.lived.resumed + 1) * (1 << 24)) * u64::from(!is_new);
        let mut executor = Executor::new(root, life.profile.writers, life.seed, stamps)?;
        if is_new {
            write_state(&state, root, &mut executor)?;
        } else {
            let lived = &state.lived;
            let counts = (lived.refused_for_space, lived.skipped_for_space);
            executor.know(generator.all_places(), &state.lost, counts.0, counts.1);
            let repaired = executor.repair(&generator)?;
            state.lived.repaired += repaired;
            state.lived.resumed += 1;
        }
        state.ended = None;
        let before = state.lived.seconds;
        Ok(Session { root, life, generator, executor, state, begun, before, at_end_of_cycle })
    }

    fn seconds(&self) -> f64 {
        self.before + self.begun.elapsed().as_secs_f64()
    }

    fn overwrites(&self) -> f64 {
        self.generator.planned_bytes() as f64 / self.life.capacity_bytes as f64
    }

    fn run(mut self, progress: &mut dyn FnMut(&Progress) -> ControlFlow<()>) -> Result<Lived, AgingError> {
        let mut ended = self.reached(self.at_end_of_cycle);
        if self.state.last.is_some() {
            ended =
                ended.or(self.state.lived.ended_by.filter(|by| *by != EndedBy::Interrupted)).or(Some(self.fallback()));
        }
        while ended.is_none() {
            if self.watched(progress).is_break() {
                return self.interrupted();
            }
            let Some(act) = self.generator.next() else { break };
            self.executor.apply(&act)?;
            let is_end = matches!(act, Operation::EndOfCycle { .. });
            if is_end {
                self.end_cycle()?;
            }
            ended = self.reached(is_end);
        }
        let ended = ended.unwrap_or_else(|| self.fallback());
        self.last_filling(ended, progress)
    }

    /// What a life is said to have been ended by, whose last filling was killed.
    fn fallback(&self) -> EndedBy {
        match self.life.until {
            Until::Settled => EndedBy::Settled,
            Until::Overwrites(_) => EndedBy::Overwrites,
            Until::Minutes(_) => EndedBy::Minutes,
            Until::Operations(_) => EndedBy::Operations,
            Until::Cycles(_) => EndedBy::Cycles,
        }
    }

    /// The last filling, where one was asked for, and the end.
    fn last_filling(
        mut self,
        ended: EndedBy,
        progress: &mut dyn FnMut(&Progress) -> ControlFlow<()>,
    ) -> Result<Lived, AgingError> {
        self.state.lived.ended_by = Some(ended);
        if let Some(full) = self.life.full {
            if self.state.last.is_none() {
                self.state.operations = self.generator.acts();
                self.state.last = Some(LastFilling { full, operations: 0 });
                self.generator.finish(full);
            }
            loop {
                if self.watched(progress).is_break() {
                    return self.interrupted();
                }
                let Some(act) = self.generator.next() else { break };
                self.executor.apply(&act)?;
            }
            self.state.end_cycle(now_ns());
        }
        self.executor.sync_all()?;
        self.state.lived.ended_by = Some(ended);
        self.state.ended = Some(Ending { key: self.life.key() });
        self.keep()?;
        Ok(self.state.lived)
    }

    fn interrupted(mut self) -> Result<Lived, AgingError> {
        self.executor.sync_all()?;
        self.state.lived.ended_by = Some(EndedBy::Interrupted);
        self.keep()?;
        Ok(self.state.lived)
    }

    fn watched(&self, progress: &mut dyn FnMut(&Progress) -> ControlFlow<()>) -> ControlFlow<()> {
        if !self.generator.acts().is_multiple_of(ACTS_BETWEEN_LOOKS) {
            return ControlFlow::Continue(());
        }
        progress(&Progress {
            operations: self.generator.acts(),
            bytes_written: self.generator.planned_bytes(),
            overwrites: self.overwrites(),
            cycle: self.generator.cycles(),
            used_share: self.generator.used_bytes() as f64 / self.life.capacity_bytes as f64,
            extents_per_file: self.state.lived.extents_per_file.last().copied(),
            seconds: self.seconds(),
        })
    }

    /// What ended it, where something did.
    fn reached(&self, at_end_of_cycle: bool) -> Option<EndedBy> {
        let minutes = |most: f64| {
            let looks = self.generator.acts().is_multiple_of(ACTS_BETWEEN_LOOKS);
            looks && self.seconds() >= most * 60.0
        };
        match self.life.until {
            Until::Operations(acts) => (self.generator.acts() >= acts).then_some(EndedBy::Operations),
            Until::Minutes(most) => minutes(most).then_some(EndedBy::Minutes),
            Until::Overwrites(0.0) => Some(EndedBy::Overwrites),
            _ if self.generator.cycles() == 0 => None,
            Until::Overwrites(times) => (at_end_of_cycle && self.overwrites() >= times).then_some(EndedBy::Overwrites),
            Until::Cycles(cycles) => (at_end_of_cycle && self.generator.cycles() >= cycles).then_some(EndedBy::Cycles),
            Until::Settled if at_end_of_cycle && self.has_settled() => Some(EndedBy::Settled),
            Until::Settled if at_end_of_cycle && self.overwrites() >= MOST_OVERWRITES => {
                Some(EndedBy::OverwritesWithoutSettling)
            }
            Until::Settled => minutes(MOST_MINUTES).then_some(EndedBy::MinutesWithoutSettling),
        }
    }

    fn has_settled(&self) -> bool {
        let rewrites = self.generator.planned_bytes() as f64 / self.generator.used_bytes().max(1) as f64;
        let [.., before, after] = self.state.lived.extents_per_file[..] else { return false };
        rewrites >= SETTLED_REWRITES && (after - before).abs() < SETTLED_CHANGE * before
    }

    /// A cycle is done and synced: it is kept.
    fn end_cycle(&mut self) -> Result<(), AgingError> {
        self.state.end_cycle(now_ns());
        let written = self.generator.planned_bytes() - self.state.window_began_bytes;
        if self.life.until == Until::Settled && written as f64 >= WINDOW_REWRITES * self.generator.used_bytes() as f64 {
            self.state.window_began_bytes = self.generator.planned_bytes();
            let extents = self.extents_per_file();
            self.state.lived.extents_per_file.extend(extents);
        }
        self.keep()
    }

    /// Extents per file of at most 20,000 files, spread over all; `None` where the filesystem does not tell.
    fn extents_per_file(&mut self) -> Option<f64> {
        let all = self.generator.files().count();
        let step = all.div_ceil(COUNTED_FILES).max(1);
        let (mut files, mut extents) = (0_u64, 0_u64);
        for (group, file) in self.generator.files().step_by(step) {
            let place = self.generator.place(group, file);
            let Some(opened) = self.executor.open_to_look(place) else { continue };
            let found = extents_of(&opened).ok()?;
            files += u64::from(!found.is_empty());
            extents += found.len() as u64;
        }
        (files > 0).then(|| extents as f64 / files as f64)
    }

    /// Writes down what is done.
    fn keep(&mut self) -> Result<(), AgingError> {
        match &mut self.state.last {
            Some(last) => last.operations = self.generator.acts() - self.state.operations,
            None => self.state.operations = self.generator.acts(),
        }
        let (files, bytes) =
            self.generator.files().fold((0, 0), |(files, bytes), (_, of)| (files + 1, bytes + of.bytes));
        self.state.lost = self.executor.lost();
        let (seconds, overwrites) = (self.seconds(), self.overwrites());
        let lived = &mut self.state.lived;
        lived.operations = self.generator.acts();
        lived.bytes_written = self.generator.planned_bytes();
        lived.overwrites = overwrites;
        lived.cycles = self.generator.cycles();
        (lived.refused_for_space, lived.skipped_for_space) = (self.executor.refused, self.executor.skipped);
        (lived.files, lived.bytes) = (files, bytes);
        lived.directories = self.generator.directories().count() as u64;
        lived.used_share = self.generator.used_bytes() as f64 / self.life.capacity_bytes as f64;
        lived.seconds = seconds;
        write_state(&self.state, self.root, &mut self.executor)
    }
}

/// Brings a generator to where a state is; whether a cycle had just ended.
pub(crate) fn replay(generator: &mut Generator, state: &State) -> bool {
    let mut last_act = None;
    while generator.acts() < state.operations {
        last_act = generator.next();
    }
    if let Some(last) = state.last {
        generator.finish(last.full);
        while generator.acts() < state.operations + last.operations && generator.next().is_some() {}
    }
    matches!(last_act, Some(Operation::EndOfCycle { .. }))
}

/// A full disk keeps the state that it has: then more is repaired.
fn write_state(state: &State, root: BorrowedFd, executor: &mut Executor) -> Result<(), AgingError> {
    match state.write(root) {
        Err(AgingError::System { errno: Errno::NOSPC | Errno::DQUOT, .. }) => {
            executor.refused += 1;
            Ok(())
        }
        written => written,
    }
}

/// Now by the clock that files' times have.
fn now_ns() -> u64 {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::RealtimeCoarse);
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}
