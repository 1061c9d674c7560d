//! A trace made ready to be done again: what has to be there before, who does what, and who waits for whom.

mod again;
mod files;
mod followed;
mod in_turn;
mod inodes;
mod links;
mod names;
mod order;
mod plan;
mod survey;
mod threads;

pub(crate) use names::plain;

pub use again::{MOST_FAILED_BYTES, asked, follows, moves_bytes};
pub use in_turn::{Turn, in_turn};

use crate::Header;
use crate::reader::ReadError;
use model::kinds::replay::Facts;
use std::io::Read;

/// Most threads that work at the same time: each becomes one of the replay's.
pub const MOST_THREADS: usize = 1024;
/// Most calls that are done again: they lie in memory.
pub const MOST_STEPS: u64 = 20_000_000;
/// Bytes of what is known of a step where it is asked how long its thread thinks before it, or whose turn it is. They count as the
/// step's own when a trace is read.
pub const THINKING_BYTES: u64 = size_of::<u64>() as u64;

/// What a replay does.
#[derive(Debug, Clone, Default)]
pub struct Replay {
    /// As the trace begins.
    pub header: Header,
    /// Paths below the lane's own folder, without `.`, `..` and a slash in front; what links say, as they say it.
    pub paths: Vec<Vec<u8>>,
    /// What has to be there before, folders before what lies in them.
    pub tree: Vec<Thing>,
    /// What each thread does, in its order. A thread of the replay does the work of all threads of the program that were there
    /// one after another.
    pub threads: Vec<Vec<Step>>,
    /// What steps wait for.
    pub waits: Vec<Wait>,
    /// How many files are opened.
    pub files: u32,
    /// Descriptors that are open at the same time, at most.
    pub descriptors: u32,
    /// What the program's calls moved: bytes read, written and copied.
    pub moved_bytes: u64,
    /// Nanoseconds from the program's begin to its first call, and from the end of its last call to its own.
    pub before_and_after: (u64, u64),
    /// What it comes to.
    pub facts: Facts,
}

impl Replay {
    /// By step of a thread, how long the program computed (or waited for what a trace does not tell) before it, in nanoseconds: from
    /// when all that it waited for was done, the step before it among them, to its begin. A thread that waited for nothing thinks
    /// from the program's begin.
    pub fn think_times(&self, thread: usize) -> Vec<u64> {
        let mut before = 0;
        self.threads.get(thread).into_iter().flatten().map(|step| self.think_time(step, &mut before)).collect()
    }

    /// The same of the next step of a thread. `before`: when those before it in its thread were done, and then when this one was too.
    fn think_time(&self, step: &Step, before: &mut u64) -> u64 {
        let start = |step: &Step| step.start.saturating_add(self.before_and_after.0);
        let end = |step: &Step| start(step).saturating_add(step.nanoseconds);
        let ended =
            |wait: &Wait| self.threads.get(wait.thread as usize)?.get(wait.steps.checked_sub(1)? as usize).map(end);
        let ready = self.waits_of(step).iter().filter_map(ended).fold(*before, u64::max);
        *before = end(step).max(*before);
        start(step).saturating_sub(ready).saturating_sub(step.stood)
    }

    fn waits_of(&self, step: &Step) -> &[Wait] {
        let (first, count) = (step.waits.0 as usize, usize::from(step.waits.1));
        self.waits.get(first..first + count).unwrap_or_default()
    }

    /// Nanoseconds that the longest chain of thinking takes, whoever waits for whom: a replay with thinking time takes no less. It
    /// needs [`THINKING_BYTES`] for each step meanwhile.
    pub fn thinks(&self) -> u64 {
        let mut befores = vec![0; self.threads.len()];
        let mut done: Vec<Vec<u64>> = self.threads.iter().map(|steps| Vec::with_capacity(steps.len())).collect();
        in_turn::each(self, &mut |turn| {
            let thread = turn.thread as usize;
            let step = &self.threads[thread][turn.step as usize];
            let ended = |wait: &Wait| done[wait.thread as usize].get(wait.steps.checked_sub(1)? as usize).copied();
            let own = done[thread].last().copied().unwrap_or(0);
            let ready = self.waits_of(step).iter().filter_map(ended).fold(own, u64::max);
            done[thread].push(ready.saturating_add(self.think_time(step, &mut befores[thread])));
            true
        });
        let last = done.iter().filter_map(|ends| ends.last()).max().copied().unwrap_or(0);
        last.saturating_add(self.before_and_after.1)
    }

    /// The thread whose last call ended last.
    pub fn last_thread(&self) -> usize {
        let end = |steps: &Vec<Step>| steps.last().map(|step| step.start.saturating_add(step.nanoseconds));
        (0..self.threads.len()).max_by_key(|&thread| end(&self.threads[thread])).unwrap_or(0)
    }
}

/// What has to be there before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Thing {
    /// Number of its path.
    pub path: u32,
    /// What it is.
    pub kind: ThingKind,
    /// Its permissions, nine bits.
    pub permissions: u32,
}

/// What it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ThingKind {
    /// A folder.
    Folder,
    /// A file of so many bytes.
    File {
        /// Its size.
        bytes: u64,
        /// Whether it is opened. One that is only looked at has its size and no contents.
        is_opened: bool,
    },
    /// A symbolic link with the text of that number.
    Link(u32),
}

/// One call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Step {
    /// Its code.
    pub call: u8,
    /// Which of its files are closed after it, because nobody uses them any more: that is not counted.
    pub closes: [bool; 2],
    /// Somebody waits for it.
    pub is_awaited: bool,
    /// When it began, in nanoseconds since the first one.
    pub start: u64,
    /// How long it took the program, in nanoseconds.
    pub nanoseconds: u64,
    /// How long the thread stood still before it because it was traced, in nanoseconds.
    pub stood: u64,
    /// What the program got: what a call returns, an error as its negative number.
    pub result: i64,
    /// Numbers of [`Replay::paths`].
    pub paths: [u32; 2],
    /// Numbers of open files, below [`Replay::files`]; [`crate::NOT_FOLLOWED`]: another one.
    pub files: [u32; 2],
    /// As in the trace.
    pub numbers: [i64; 4],
    /// Which of [`Replay::waits`]: the first, and how many.
    pub waits: (u32, u16),
}

/// Until a thread has done so many steps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Wait {
    /// Number of the thread.
    pub thread: u32,
    /// How many steps it must have done, from 1.
    pub steps: u32,
}

/// Why a trace cannot be done again.
#[derive(Debug, thiserror::Error)]
pub enum ReplayError {
    /// It cannot be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// There is too much of something.
    #[error("{0}")]
    TooMuch(String),
    /// It was told to stop.
    #[error("interrupted")]
    Interrupted,
    /// There is nothing to do.
    #[error("nothing in it can be done again; capture a program that works on files")]
    Nothing,
}

/// What reading may take.
pub struct Limits<'a> {
    /// Bytes of memory for the calls.
    pub memory_bytes: u64,
    /// Whether to go on; asked now and then.
    pub goes_on: &'a dyn Fn() -> bool,
}

impl Limits<'_> {
    fn heed(&self, is_too_much: bool) -> Result<(), ReplayError> {
        match (is_too_much, (self.goes_on)()) {
            (true, _) => Err(ReplayError::TooMuch(
                "its paths, or what its threads wait for, take more memory than any program's; capture a smaller run"
                    .to_owned(),
            )),
            (false, false) => Err(ReplayError::Interrupted),
            (false, true) => Ok(()),
        }
    }
}

/// Reads a trace to its end, twice: two readers of the same bytes.
///
/// # Errors
/// As [`ReplayError`] says.
pub fn read(first: impl Read, second: impl Read, limits: &Limits) -> Result<Replay, ReplayError> {
    let survey = survey::read(first, limits)?;
    plan::read(second, survey, limits)
}

#[cfg(test)]
mod tests;
