//! What `strace -ff` writes, a file for each process or thread, read as one log: by when their calls were over.

use super::OPENED_BEFORE;
use super::lines::{DAY_NS, Reading, Times, duration_of, process_of};
use super::processes::begun_by;
use crate::import::builder::Builder;
use crate::import::{ImportError, Lines, Log};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, HashSet};
use std::io::{self, BufRead};

const EACH: &str = "each file of strace -ff is a process or a thread: those whose files are not named are missing, and calls of several \
     stand in the order in which they were over by the clock";
/// Numbers of those whose files are called after none: larger than any of the kernel's.
const FIRST_UNKNOWN: u32 = 1 << 30;

/// A line that is read when those of others that were over before it are.
#[derive(Debug)]
struct Next {
    process: u32,
    at: u64,
    line: String,
}

impl Next {
    fn over(&self) -> u64 {
        self.at.saturating_add(duration_of(&self.line).unwrap_or(0))
    }
}

/// A file whose next line is known.
struct Open<R> {
    lines: Lines<R>,
    times: Times,
    next: Next,
}

/// Who begins a process, by the line that says so and is not read yet.
#[derive(Debug)]
struct Begin {
    parent: u32,
    shares: bool,
    is_thread: bool,
}

/// All files. One is open from when its first line is read to its end, as its process was there.
struct Files<'a, 'b, R> {
    logs: &'a [Log<'b, R>],
    open: HashMap<usize, Open<R>>,
    /// By when their next lines were over.
    queue: BinaryHeap<Reverse<(u64, usize)>>,
    /// By process.
    begins: HashMap<u32, Begin>,
    /// Of whom a line was read, or who began one of them.
    met: HashSet<u32>,
}

/// Reads them all.
pub(in crate::import) fn read<R: BufRead>(logs: &[Log<'_, R>], builder: &mut Builder) -> Result<(), ImportError> {
    builder.note(OPENED_BEFORE);
    builder.note(EACH);
    let (open, queue, begins, met) = (HashMap::new(), BinaryHeap::new(), HashMap::new(), HashSet::new());
    let mut files = Files { logs, open, queue, begins, met };
    files.line_up(builder)?;
    let mut reading = Reading::default();
    while let Some(Reverse((_, number))) = files.queue.pop() {
        let known = match files.open.remove(&number) {
            Some(known) => Some(known),
            None => files.begin(number, builder)?,
        };
        let Some(Open { mut lines, mut times, next }) = known else { continue };
        files.meet(next.process, &mut reading, builder);
        let child = begun_by(&next.line).map(|(child, ..)| child);
        // Whoever was begun before under that number left no file: strace wrote over it.
        if let Some(child) = child.filter(|child| builder.knows(*child) && !files.met.contains(child)) {
            reading.processes.ends(child, 0, builder);
        }
        reading.line(next.process, next.at, &next.line, builder)?;
        if let Some(child) = child {
            files.begins.remove(&child);
        }
        match next_line(&mut lines, &mut times, files.of_file(number), builder)? {
            Some(next) => {
                files.waits(number, &next);
                files.open.insert(number, Open { lines, times, next });
            }
            None => builder.lines += lines.read,
        }
    }
    Ok(())
}

fn next_line(
    lines: &mut Lines<impl BufRead>,
    times: &mut Times,
    of_file: u32,
    builder: &mut Builder,
) -> io::Result<Option<Next>> {
    while let Some(line) = lines.next()? {
        if line.trim().is_empty() {
            continue;
        }
        let (process, rest) = process_of(line);
        let (at, rest) = times.begin_of(rest, builder);
        return Ok(Some(Next { process: process.unwrap_or(of_file), at, line: rest.to_owned() }));
    }
    Ok(None)
}

impl<R: BufRead> Files<'_, '_, R> {
    /// Whose lines stand in a file, where they do not say.
    fn of_file(&self, number: usize) -> u32 {
        let told = self.logs.get(number).and_then(|log| log.process);
        told.unwrap_or_else(|| FIRST_UNKNOWN.saturating_add(number as u32))
    }

    /// Opens a file; `None`: nothing is in it.
    fn begin(&self, number: usize, builder: &mut Builder) -> io::Result<Option<Open<R>>> {
        let Some(log) = self.logs.get(number) else { return Ok(None) };
        let (mut lines, mut times) = (Lines::new((log.open)()?), Times::default());
        let next = next_line(&mut lines, &mut times, self.of_file(number), builder)?;
        Ok(next.map(|next| Open { lines, times, next }))
    }

    /// The first line of each.
    fn line_up(&mut self, builder: &mut Builder) -> Result<(), ImportError> {
        let (mut first, mut last) = (u64::MAX, 0);
        for number in 0..self.logs.len() {
            let Some(Open { times, next, .. }) = self.begin(number, builder)? else { continue };
            if !times.are_known() {
                return Err(ImportError::NoTimes);
            }
            (first, last) = (first.min(next.at), last.max(next.at));
            self.waits(number, &next);
        }
        // Of times of day nobody knows the day.
        match last < DAY_NS && last.saturating_sub(first) > DAY_NS / 2 {
            true => Err(ImportError::Days),
            false => Ok(()),
        }
    }

    /// A line waits for its turn; what it begins may come first.
    fn waits(&mut self, number: usize, next: &Next) {
        self.queue.push(Reverse((next.over(), number)));
        if let Some((child, shares, is_thread)) = begun_by(&next.line) {
            self.begins.insert(child, Begin { parent: next.process, shares, is_thread });
        }
    }

    /// Whose line is read now: a new one was begun by a call that lasts on, or was over before.
    fn meet(&mut self, process: u32, reading: &mut Reading, builder: &mut Builder) {
        let (mut new, mut child) = (Vec::new(), process);
        self.met.insert(process);
        while !builder.knows(child)
            && let Some(begin) = self.begins.remove(&child)
        {
            child = begin.parent;
            self.met.insert(child);
            new.push(begin);
        }
        let mut parent = child;
        while let Some(begin) = new.pop() {
            let child = new.last().map_or(process, |of| of.parent);
            reading.processes.thread(parent, builder);
            reading.processes.begin(child, parent, begin.shares, begin.is_thread, builder);
            parent = child;
        }
    }
}
