//! One thread's share of a part of a step: which file comes next, and what is done to it.

use super::backend::{Operator, Task};
use super::contents::Contents;
use super::names::{COPY, FILE, LINK, PathOf, RENAMED, SYMLINK, SetNames};
use super::plan::Plan;
use crate::buffers::Room;
use crate::clock::Clock;
use crate::error::EngineError;
use crate::histogram::Latencies;
use crate::workers::Start;
use crate::workloads::heed;
use model::agent::Part;
use model::operations::{FileSet, FileState, Operation, OperationStep, Sharing, State, SyncPolicy, Thing};
use rustix::time::{ClockId, clock_gettime};
use std::ops::Range;
use std::sync::atomic::AtomicBool;

/// What one thread does in one part of a step.
#[derive(Clone, Copy)]
pub(crate) struct Share<'a> {
    pub(crate) plan: &'a Plan,
    /// Before the step.
    pub(crate) state: &'a State,
    pub(crate) step: &'a OperationStep,
    pub(crate) set: usize,
    /// 0: before the first step.
    pub(crate) generation: u32,
    pub(crate) part: Part,
    pub(crate) thread: u64,
    pub(crate) threads: u64,
    pub(crate) stop: &'a AtomicBool,
}

/// What it came to.
#[derive(Debug)]
pub(crate) struct Outcome {
    pub(crate) operations: u64,
    pub(crate) bytes: u64,
    pub(crate) begun: u64,
    pub(crate) ended: u64,
    /// Nanoseconds that the thread spent on a CPU between the two.
    pub(crate) on_cpu: u64,
    /// Seconds that it takes to start as many processes as this thread did; 0 where they are calls.
    pub(crate) process_startup_seconds: f64,
}

/// What a thread keeps from part to part. Made anew for each, it would push everything else out of the
/// CPU's caches right before the clock runs. Aligned: two threads that count in one cache line wait for
/// each other.
#[derive(Debug)]
#[repr(align(128))]
pub(crate) struct Kit {
    contents: Option<Contents>,
    /// For what is read.
    room: Room,
    /// Of the operations since it was last cleared.
    pub(crate) latencies: Latencies,
}

impl Kit {
    pub(crate) fn new() -> Self {
        Kit { contents: None, room: Room::default(), latencies: Latencies::resident() }
    }

    /// Makes what the share's operations need, where it is not there yet.
    ///
    /// # Errors
    /// [`EngineError::Memory`] where the memory is not to be had.
    pub(crate) fn prepare(&mut self, share: &Share<'_>) -> Result<(), EngineError> {
        // One byte more than a file holds: a file that is too long shows without another call.
        let reads = matches!(share.step.operation, Operation::Read | Operation::RandomRead);
        let bytes = if reads { share.largest_block() + 1 } else { 0 };
        if self.room.len() < bytes {
            self.room = Room::new(bytes)?;
        }
        let contents = match self.contents.take() {
            Some(contents) if contents.largest_block() >= share.largest_block() => contents,
            _ => Contents::with_data(share.plan.data(), share.plan.seed(), share.largest_block())?,
        };
        self.contents = Some(contents);
        Ok(())
    }

    /// The room for what is read; put back with [`Kit::put_back`].
    pub(crate) fn take_room(&mut self) -> Room {
        std::mem::take(&mut self.room)
    }

    pub(crate) fn put_back(&mut self, room: Room) {
        self.room = room;
    }
}

impl Share<'_> {
    /// Bytes of the largest call; files may have grown beyond what their set says.
    pub(crate) fn largest_block(&self) -> usize {
        self.step.largest_call(self.plan.largest_file(self.set)).max(4096) as usize
    }

    fn spec(&self) -> &FileSet {
        self.plan.set(self.set)
    }

    /// Does the share; the clock runs once all threads are ready.
    pub(crate) fn run<O: Operator>(
        &self,
        operator: &mut O,
        kit: &mut Kit,
        start: Start<'_, '_>,
    ) -> Result<Outcome, EngineError> {
        let Kit { contents, latencies, .. } = kit;
        let contents = contents.as_mut().expect("whoever runs a share prepares its kit");
        let mut run = Run {
            share: *self,
            operator,
            contents,
            latencies,
            clock: Clock::get(),
            before: 0,
            operations: 0,
            bytes: 0,
        };
        // All threads at the same time, as in the step.
        let start_up_seconds = run.operator.start_up_seconds(self.things())?;
        let processes = run.operator.processes();
        start.now()?;
        // A system call each: they stand outside of the clock.
        let before = on_cpu();
        let begun = run.clock.now();
        run.before = begun;
        match self.step.operation {
            Operation::RandomRead | Operation::RandomWrite => run.random()?,
            operation if operation.works_on() == Thing::Directory => run.directories()?,
            Operation::Write => run.blocks()?,
            _ => run.files()?,
        }
        let ended = run.clock.now();
        let on_cpu = on_cpu().saturating_sub(before);
        let processes = run.operator.processes() - processes;
        Ok(Outcome {
            operations: run.operations,
            bytes: run.bytes,
            begun,
            ended,
            on_cpu,
            process_startup_seconds: start_up_seconds * processes as f64,
        })
    }

    /// Roughly how many operations it is.
    fn things(&self) -> u64 {
        let things = self.plan.operations.things(self.step);
        (things.end - things.start).div_ceil(self.threads)
    }

    /// The thread's things of this part, and the stride from one to the next.
    fn mine(&self, all: Range<u64>) -> (Range<u64>, u64) {
        let length = all.end - all.start;
        let of = |range: &Range<u64>, part: Range<u64>| range.start + part.start..range.start + part.end;
        if self.plan.operations.sharing == Sharing::Shared && self.threads > 1 {
            let part = of(&all, self.part.range(length));
            let first = part.start + (self.threads + self.thread - part.start % self.threads) % self.threads;
            return (first.min(part.end)..part.end, self.threads);
        }
        let share = |length: u64| {
            let at = |thread: u64| (u128::from(length) * u128::from(thread) / u128::from(self.threads)) as u64;
            at(self.thread)..at(self.thread + 1)
        };
        let mut own = of(&all, share(length));
        let random = matches!(self.step.operation, Operation::RandomRead | Operation::RandomWrite);
        if self.step.operation.works_on() == Thing::File && !random && length > 0 {
            // Whole directories, where there are enough of them.
            let set = self.spec();
            let directories = set.directory_of(all.start)..set.directory_of(all.end - 1) + 1;
            if directories.end - directories.start >= self.threads {
                let mine = of(&directories, share(directories.end - directories.start));
                let files = set.files_of(&mine);
                own = files.start.clamp(all.start, all.end)..files.end.clamp(all.start, all.end);
            }
        }
        let part = self.part.range(own.end - own.start);
        (of(&own, part), 1)
    }
}

/// Nanoseconds that this thread has spent on a CPU.
fn on_cpu() -> u64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// A share at work.
struct Run<'a, O> {
    share: Share<'a>,
    operator: &'a mut O,
    contents: &'a mut Contents,
    latencies: &'a mut Latencies,
    clock: Clock,
    before: u64,
    operations: u64,
    bytes: u64,
}

impl<'a, O: Operator> Run<'a, O> {
    #[inline]
    fn operate(&mut self, task: &Task<'_>, number: u64) -> Result<(), EngineError> {
        match self.operator.operate(task, self.contents) {
            Ok(bytes) => {
                self.bytes += bytes;
                Ok(())
            }
            Err(error) => Err(self.explain(error, number)),
        }
    }

    /// One operation is over.
    #[inline]
    fn record(&mut self) {
        let now = self.clock.now();
        self.latencies.record(now - self.before);
        self.before = now;
        self.operations += 1;
    }

    /// A full lane is no fault of the filesystem: it is told with the remedy.
    #[cold]
    fn explain(&self, error: EngineError, number: u64) -> EngineError {
        match error.errno() {
            Some(errno @ (libc::ENOSPC | libc::EDQUOT)) => EngineError::Full {
                what: error.to_string(),
                step: self.share.step.group().to_owned(),
                operation: number + 1,
                inodes: false,
                errno,
            },
            Some(errno) if lacks(self.share.step.operation, errno) => {
                EngineError::Unsupported { what: error.to_string(), step: self.share.step.group().to_owned(), errno }
            }
            _ => error,
        }
    }

    fn task(&self) -> Task<'static> {
        let step = self.share.step;
        Task {
            operation: step.operation,
            path: c"",
            other: c"",
            file: 0,
            generation: self.share.generation,
            offset: 0,
            bytes: 0,
            block: step.block().0,
            sync: step.sync == SyncPolicy::Each,
            entries: 0,
        }
    }

    fn names(&self) -> &'a SetNames {
        self.share.plan.names_for(self.share.step.operation, self.share.set)
    }

    /// Operations of which each is one file.
    fn files(&mut self) -> Result<(), EngineError> {
        let Share { plan, state, step, set, .. } = self.share;
        let (mine, stride) = self.share.mine(plan.operations.files_of(step));
        let spec = plan.set(set);
        let [mut path, mut other, mut third] = [(); 3].map(|()| PathOf::new(self.names()));
        let mut home = Home::new(spec);
        let mut number = mine.start;
        for (piece, file) in state.set(set).files.within(mine) {
            let letter = letter_of(file);
            let removes_more = step.operation == Operation::Unlink && !beside(file).is_empty();
            while number < piece.end {
                heed(self.share.stop)?;
                let directory = home.directory_of(number, file.shift);
                path.set_file(directory, letter, number);
                let mut task = self.task();
                task.path = path.as_c_str();
                task.file = plan.contents_of(set, number);
                match step.operation {
                    Operation::Stat | Operation::Open | Operation::Unlink => {}
                    Operation::Create => task.bytes = plan.whole_size(set, number),
                    Operation::Read | Operation::Overwrite => task.bytes = plan.size(set, number, &file.changes),
                    Operation::Append | Operation::Fallocate => {
                        task.offset = plan.size(set, number, &file.changes);
                        task.bytes = task.block;
                    }
                    Operation::Truncate => task.bytes = task.block,
                    Operation::Getxattr => task.generation = file.attribute.unwrap_or_default(),
                    _ => {
                        if let Some((directory, letter)) = new_name(step.operation, letter, directory, spec) {
                            other.set_file(directory, letter, number);
                            task.other = other.as_c_str();
                        }
                    }
                }
                if matches!(step.operation, Operation::Create | Operation::Read | Operation::Overwrite) {
                    task.block = task.block.min(task.bytes.max(1));
                }
                self.operate(&task, number)?;
                if removes_more {
                    for (shift, letter) in beside(file) {
                        let at = (spec.directory_of(number) + shift) % spec.directories;
                        third.set_file(at, letter, number);
                        self.operate(&Task { path: third.as_c_str(), ..task }, number)?;
                    }
                }
                self.record();
                number += stride;
            }
        }
        Ok(())
    }

    /// Whole files, each block an operation.
    fn blocks(&mut self) -> Result<(), EngineError> {
        let Share { plan, state, step, set, .. } = self.share;
        let (mine, stride) = self.share.mine(plan.operations.files_of(step));
        let spec = plan.set(set);
        let mut path = PathOf::new(self.names());
        let mut home = Home::new(spec);
        let mut number = mine.start;
        for (piece, file) in state.set(set).files.within(mine) {
            while number < piece.end {
                path.set_file(home.directory_of(number, file.shift), letter_of(file), number);
                let size = plan.whole_size(set, number);
                let mut offset = 0;
                // An empty file is made as well.
                while offset < size || offset == 0 {
                    heed(self.share.stop)?;
                    let mut task = self.task();
                    (task.path, task.file) = (path.as_c_str(), plan.contents_of(set, number));
                    (task.offset, task.bytes) = (offset, task.block.min(size - offset));
                    self.operate(&task, number)?;
                    self.record();
                    offset += task.block;
                }
                self.operator.end_of_file().map_err(|error| self.explain(error, number))?;
                number += stride;
            }
        }
        Ok(())
    }

    /// Blocks at random places.
    fn random(&mut self) -> Result<(), EngineError> {
        let Share { plan, state, step, set, generation, .. } = self.share;
        let index = generation as usize - 1;
        let (mine, stride) = self.share.mine(plan.operations.things(step));
        let spec = plan.set(set);
        let mut path = PathOf::new(self.names());
        let mut open: Option<(u64, u64)> = None;
        let mut operation = mine.start;
        while operation < mine.end {
            heed(self.share.stop)?;
            let number = plan.file_of_operation(index, operation);
            let blocks = match open {
                Some((file, blocks)) if file == number => blocks,
                _ => {
                    self.operator.end_of_file().map_err(|error| self.explain(error, operation))?;
                    let Some(file) = state.set(set).files.at(number) else { break };
                    path.set_file((spec.directory_of(number) + file.shift) % spec.directories, letter_of(file), number);
                    let blocks = plan.size(set, number, &file.changes) / step.block().0;
                    open = Some((number, blocks));
                    blocks
                }
            };
            let mut task = self.task();
            (task.path, task.file, task.bytes) = (path.as_c_str(), plan.contents_of(set, number), task.block);
            task.offset = plan.block_of_operation(index, operation, blocks) * task.block;
            self.operate(&task, operation)?;
            self.record();
            operation += stride;
        }
        self.operator.end_of_file().map_err(|error| self.explain(error, mine.end))
    }

    /// Operations of which each is one directory.
    fn directories(&mut self) -> Result<(), EngineError> {
        let Share { plan, state, step, set, .. } = self.share;
        let things = plan.operations.things(step);
        let (mine, stride) = self.share.mine(things.clone());
        // What lies deeper has the higher number and goes first.
        let backwards = matches!(step.operation, Operation::Rmdir | Operation::RemoveTree);
        let mut path = PathOf::new(self.names());
        let mut place = mine.start;
        while place < mine.end {
            heed(self.share.stop)?;
            let directory = if backwards { things.end - 1 - (place - things.start) } else { place };
            path.set_directory(directory);
            let mut task = self.task();
            task.path = path.as_c_str();
            task.entries = match step.operation {
                Operation::List => plan.entries(state, set, directory),
                Operation::RemoveTree => plan.files_in(state, set, directory),
                _ => 0,
            };
            self.operate(&task, directory)?;
            self.record();
            place += stride;
        }
        Ok(())
    }
}

/// Whether this answer to an operation says that the filesystem does not know it (link(2), symlink(2),
/// ioctl_ficlone(2), open(2), fsync(2)).
pub(super) fn lacks(operation: Operation, errno: i32) -> bool {
    let names = matches!(
        operation,
        Operation::Create
            | Operation::Write
            | Operation::Rename
            | Operation::RenameAcross
            | Operation::Link
            | Operation::Symlink
            | Operation::Mkdir
    );
    match errno {
        libc::EOPNOTSUPP | libc::ENOSYS => true,
        // No file of that size.
        libc::EFBIG => operation.changes(),
        // The work is checked before: only the name itself can be refused, or a link as such.
        libc::EINVAL | libc::EILSEQ | libc::ENAMETOOLONG if names => true,
        libc::EPERM => matches!(operation, Operation::Link | Operation::Symlink),
        libc::ENOTTY | libc::EXDEV => operation == Operation::Reflink,
        libc::EINVAL => matches!(operation, Operation::Reflink | Operation::Fsync | Operation::FsyncDirectory),
        _ => false,
    }
}

/// The first letter of a file's name.
pub(crate) fn letter_of(file: &FileState) -> u8 {
    if file.renamed { RENAMED } else { FILE }
}

/// What lies beside a file: by how many directories it is shifted, and its first letter.
pub(crate) fn beside(file: &FileState) -> Beside {
    let all = [
        file.link.map(|shift| (shift, LINK)),
        file.symlink.map(|symlink| (symlink.0, SYMLINK)),
        file.copy.as_ref().map(|copy| (copy.0, COPY)),
    ];
    Beside { all, next: 0 }
}

/// See [`beside`].
pub(crate) struct Beside {
    all: [Option<(u64, u8)>; 3],
    next: usize,
}

impl Beside {
    fn is_empty(&self) -> bool {
        self.all.iter().all(Option::is_none)
    }
}

impl Iterator for Beside {
    type Item = (u64, u8);

    fn next(&mut self) -> Option<(u64, u8)> {
        let rest = self.all.get(self.next..)?;
        let at = rest.iter().position(Option::is_some)?;
        self.next += at + 1;
        rest[at]
    }
}

/// Directory and first letter of the name that the operation makes.
#[inline]
fn new_name(operation: Operation, letter: u8, directory: u64, set: &FileSet) -> Option<(u64, u8)> {
    match operation {
        Operation::Rename => Some((directory, if letter == FILE { RENAMED } else { FILE })),
        Operation::RenameAcross => Some(((directory + 1) % set.directories, letter)),
        Operation::Link => Some((directory, LINK)),
        Operation::Symlink => Some((directory, SYMLINK)),
        Operation::Reflink => Some((directory, COPY)),
        _ => None,
    }
}

/// The directory of one file after another: divided only where it changes.
struct Home<'a> {
    set: &'a FileSet,
    files: Range<u64>,
    made_in: u64,
}

impl<'a> Home<'a> {
    fn new(set: &'a FileSet) -> Self {
        Home { set, files: 0..0, made_in: 0 }
    }

    #[inline]
    fn directory_of(&mut self, number: u64, shift: u64) -> u64 {
        if !self.files.contains(&number) {
            self.made_in = self.set.directory_of(number);
            self.files = self.set.files_of(&(self.made_in..self.made_in + 1));
        }
        // Both lie below the number of directories.
        let directory = self.made_in + shift;
        if directory >= self.set.directories { directory - self.set.directories } else { directory }
    }
}
