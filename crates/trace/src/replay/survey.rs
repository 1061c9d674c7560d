//! The first look at a trace: who is there from when to when, which files are used last by what, and which names change.

use super::followed::{Followed, files_of};
use super::links::Links;
use super::names::{Names, changes};
use super::{Limits, MOST_STEPS, MOST_THREADS, ReplayError, Step, THINKING_BYTES};
use crate::calls::code;
use crate::reader::{ReadError, Reader};
use crate::{Header, Item};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, HashSet};
use std::io::Read;

/// What the first look finds.
pub(super) struct Survey {
    pub(super) header: Header,
    pub(super) names: Names,
    /// By thread of the program: the thread of the replay that does its work; `None`: it does none.
    pub(super) thread_of: Vec<Option<u32>>,
    pub(super) threads: u32,
    /// By open file: the number of the last call that uses it.
    pub(super) last_use: HashMap<u32, u64>,
    /// Paths that are made, renamed or removed.
    pub(super) changed: HashSet<u32>,
    /// Links that were there when they were first named, with the number of what they say.
    pub(super) links: Vec<(u32, u32)>,
    /// When the program ended, in nanoseconds since the begin; 0: the trace does not tell.
    pub(super) ended: u64,
    /// Bytes of written data that were looked at, and what was left of them after compression.
    pub(super) sampled: (u64, u64),
}

/// Bytes of a step with what is written down of it, and with how long its thread thinks before it.
pub(super) const STEP_BYTES: u64 = size_of::<Step>() as u64 + 40 + THINKING_BYTES;

pub(super) fn read(trace: impl Read, limits: &Limits) -> Result<Survey, ReplayError> {
    let mut reader = Reader::begin(trace)?;
    let mut header = Header::default();
    let (mut names, mut followed) = (Names::default(), Followed::default());
    let mut there: Vec<Option<(u64, u64)>> = Vec::new();
    let (mut last_use, mut changed, mut sampled, mut ended) = (HashMap::new(), HashSet::new(), (0u64, 0u64), 0);
    let (mut at, mut links, mut later, mut seen) = (0, Vec::new(), Vec::new(), HashSet::new());
    while let Some(item) = reader.next_item()? {
        limits.heed(names.are_too_many())?;
        match item {
            Item::Header(of) => header = of,
            Item::Path(path) => names.add(path),
            Item::Thread { .. } => there.push(None),
            Item::Before(before) => {
                followed.saw(&before);
                let text = u32::try_from(before.bytes).ok().and_then(|number| number.checked_sub(1));
                let is_link = before.mode & libc::S_IFMT == libc::S_IFLNK;
                let text = text.filter(|text| is_link && names.said(*text).is_some());
                // What is told of it first is what was there.
                if let Some(path) = names.known(before.path)
                    && seen.insert(path)
                {
                    links.extend(text.map(|text| (path, text)));
                }
            }
            Item::Sample { bytes, compressed, .. } => {
                sampled = (sampled.0 + u64::from(bytes), sampled.1 + u64::from(compressed.min(bytes)));
            }
            Item::Operation(operation) if followed.takes(&operation) => {
                at += 1;
                if at > MOST_STEPS {
                    return Err(ReplayError::TooMuch(format!(
                        "it has more than {MOST_STEPS} calls, which is the most; capture a shorter run, or one folder of it \
                         (--under)"
                    )));
                }
                if at * STEP_BYTES + names.memory_bytes() > limits.memory_bytes {
                    return Err(ReplayError::TooMuch(format!(
                        "its calls and names take more than {} of memory; capture a shorter run, or less (--under)",
                        model::Bytes(limits.memory_bytes)
                    )));
                }
                let of = &mut there[operation.thread as usize];
                *of = Some((of.map_or(at, |(first, _)| first), at));
                last_use.extend(files_of(&operation).iter().map(|file| (*file, at)));
                changed.extend(changes(&operation).filter_map(|path| names.known(path)));
                if operation.call == code::SYMLINKAT
                    && let Some(path) = names.known(operation.paths[1])
                {
                    later.push((path, operation.paths[0]));
                }
            }
            Item::Operation(_) | Item::Waited { .. } | Item::Stood { .. } | Item::Note(_) => {}
            Item::End(end) => ended = end.nanoseconds,
        }
    }
    // What changes under a name that leads through a link changes where that leads.
    let mut all = Links::default();
    links.iter().chain(&later).for_each(|(path, text)| all.made(*path, *text));
    for path in changed.iter().copied().collect::<Vec<_>>() {
        limits.heed(names.are_too_many() || all.are_too_long())?;
        changed.extend([false, true].map(|follows| all.lead(&mut names, path, follows)));
    }
    let (thread_of, threads) = share(&there);
    match threads as usize {
        0 if reader.is_torn() => Err(ReadError::Damaged("it is cut off before its first part ends").into()),
        0 => Err(ReplayError::Nothing),
        many if many > MOST_THREADS => Err(ReplayError::TooMuch(format!(
            "it has {many} threads at the same time, and {MOST_THREADS} are the most; capture a smaller run"
        ))),
        _ => Ok(Survey { header, names, thread_of, threads, last_use, changed, links, ended, sampled }),
    }
}

/// Gives the threads of the program to threads of the replay: those that were there one after another share one.
fn share(there: &[Option<(u64, u64)>]) -> (Vec<Option<u32>>, u32) {
    let mut by_begin: Vec<(u64, u64, usize)> =
        there.iter().enumerate().filter_map(|(thread, of)| of.map(|(first, last)| (first, last, thread))).collect();
    by_begin.sort_unstable();
    let mut thread_of = vec![None; there.len()];
    let mut busy: BinaryHeap<Reverse<(u64, u32)>> = BinaryHeap::new();
    let mut threads = 0;
    for (first, last, thread) in by_begin {
        let free = busy.peek().filter(|Reverse((until, _))| *until < first).map(|Reverse((_, of))| *of);
        let own = free.unwrap_or_else(|| {
            threads += 1;
            threads - 1
        });
        if free.is_some() {
            busy.pop();
        }
        busy.push(Reverse((last, own)));
        thread_of[thread] = Some(own);
    }
    (thread_of, threads)
}
