//! What one thread or one process of a swarm does: it waits for the next turn of its members, does it, and
//! counts how late it was done. Nothing is allocated and nothing is locked meanwhile.

use super::board::{Action, Board, Fault, Role, Sum, Times};
use super::names::Name;
use super::record::{self, Tag, next_word};
use super::schedule::Members;
use crate::clock::{Clock, nanoseconds};
use model::appenders::{Appenders, LARGEST_RECORD};
use rustix::fs::{Mode, OFlags, fsync, openat};
use rustix::io::{Errno, pread, write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::time::Duration;

/// A thread looks this often whether it is to stop.
const LOOK_NS: u64 = 20_000_000;

/// The swarm in numbers that are at hand.
#[derive(Debug, Clone)]
pub(super) struct Shape {
    pub(super) seed: u64,
    pub(super) writers: u32,
    pub(super) files: u32,
    pub(super) directories: u32,
    /// Bytes of a record in each of a writer's files.
    sizes: Vec<u32>,
    fsync_records: u64,
    fsync_ns: u64,
    pub(super) reopen: bool,
}

impl Shape {
    pub(super) fn of(swarm: &Appenders, seed: u64) -> Self {
        Shape {
            seed,
            writers: swarm.writers,
            files: swarm.files,
            directories: swarm.directories,
            sizes: (0..swarm.files).map(|file| swarm.record_size(file) as u32).collect(),
            fsync_records: swarm.fsync_records.into(),
            fsync_ns: nanoseconds(swarm.fsync_seconds),
            reopen: swarm.reopen,
        }
    }

    /// Number of a file among all.
    pub(super) fn slot(&self, writer: u32, file: u32) -> usize {
        writer as usize * self.files as usize + file as usize
    }

    /// Bytes of a record in a file.
    pub(super) fn size(&self, file: u32) -> usize {
        self.sizes[file as usize] as usize
    }

    /// The directory that a writer's files lie in.
    pub(super) fn directory_of(&self, writer: u32) -> u32 {
        (u64::from(writer) * u64::from(self.directories) / u64::from(self.writers)) as u32
    }

    /// Sets the name of a file.
    pub(super) fn name(&self, name: &mut Name, writer: u32, file: u32) {
        name.set(self.directory_of(writer), writer, file);
    }
}

/// Where a hand finds its files.
#[derive(Debug, Clone, Copy)]
pub(super) enum Files<'a> {
    /// Open, all files of all writers.
    Open(&'a [OwnedFd]),
    /// Open, those of every writer that this one of so many processes has.
    Own(u32, &'a [OwnedFd]),
    /// By name, below this directory.
    Named(BorrowedFd<'a>),
    /// Nowhere: nothing is written.
    Nowhere,
}

/// One thread or process at work.
pub(super) struct Hand<'a> {
    board: &'a Board,
    shape: &'a Shape,
    role: Role,
    files: Files<'a>,
    /// A thread's members wait for it; a process has one, and is late by itself.
    period_ns: u64,
    times: Times,
    interval_ns: u64,
    middle: (u64, u64),
    name: Name,
    record: Box<[u8]>,
    scratch: Box<[u8]>,
}

/// Why a turn was not done.
type Refused = (Action, u32, u32, i32);

impl<'a> Hand<'a> {
    pub(super) fn new(board: &'a Board, shape: &'a Shape, role: Role, files: Files<'a>, period_ns: u64) -> Self {
        let room = || vec![0; LARGEST_RECORD as usize].into_boxed_slice();
        Hand {
            board,
            shape,
            role,
            files,
            period_ns,
            times: Times::default(),
            interval_ns: 1,
            middle: (0, 0),
            name: Name::new(),
            record: room(),
            scratch: room(),
        }
    }

    /// Finds its files there from now on.
    pub(super) fn with_files(self, files: Files<'a>) -> Self {
        Hand { files, ..self }
    }

    /// Does every turn that is due before the window ends. `opened` is called before the first one that counts.
    pub(super) fn work(&mut self, members: &mut Members, mut opened: impl FnMut()) {
        let clock = Clock::get();
        self.times = self.board.times();
        let Times { begin, from, to, give_up } = self.times;
        self.interval_ns = self.times.intervals().0;
        let quarter = (to - from) / 4;
        self.middle = (from + quarter, from + 2 * quarter);
        let mut counts = false;
        while let Some((after, member, turn)) = members.next() {
            let due = begin + after;
            if due >= to {
                return;
            }
            let mut now = clock.now();
            let mut waited = false;
            while now < due {
                if self.board.is_stopped() {
                    return;
                }
                std::thread::sleep(Duration::from_nanos((due - now).min(LOOK_NS)));
                waited = true;
                now = clock.now();
            }
            if self.board.is_stopped() {
                return;
            }
            if due >= from {
                if !counts {
                    counts = true;
                    opened();
                }
                if now <= give_up {
                    self.follow(due, now, waited);
                }
            }
            if now > give_up {
                self.miss(due, now, member);
            } else if let Err((action, member, file, errno)) = self.turn(clock, due, member, turn) {
                self.board.fail(Fault { action, errno, member, file });
                return;
            }
            members.step();
        }
    }

    /// Takes note of how far behind a turn begins.
    fn follow(&mut self, due: u64, now: u64, waited: bool) {
        let behind = now.saturating_sub(due);
        if waited {
            self.board.count_scheduling(self.role, behind);
        }
        let Times { to, .. } = self.times;
        let (second, third) = self.middle;
        let last = to - (third - second);
        let sums = match due {
            _ if due >= last => (Sum::BehindLate, Sum::TurnsLate),
            _ if due >= second && due < third => (Sum::BehindEarly, Sum::TurnsEarly),
            _ => return,
        };
        self.board.sum(self.role, sums.0).fetch_add(behind, Relaxed);
        self.board.sum(self.role, sums.1).fetch_add(1, Relaxed);
    }

    /// One turn: a record for each file of a writer, one record of a reader.
    fn turn(&mut self, clock: Clock, due: u64, member: u32, turn: u32) -> Result<(), Refused> {
        match self.role {
            Role::Writer => {
                for file in 0..self.shape.files {
                    self.append(clock, member, file)
                        .map_err(|(action, errno)| (action, member, file, errno.raw_os_error()))?;
                    let bytes = self.shape.size(file) as u64;
                    self.board.written().fetch_add(bytes, Relaxed);
                    self.done(due, clock.now(), member, bytes);
                }
            }
            Role::Reader => {
                let bytes = self.read(member, turn)?;
                self.done(due, clock.now(), member, bytes);
            }
        }
        Ok(())
    }

    /// Something that was due then is done now.
    #[inline]
    fn done(&self, due: u64, now: u64, member: u32, bytes: u64) {
        let Times { from, .. } = self.times;
        if due < from {
            return;
        }
        let late = now.saturating_sub(due);
        self.board.count(self.role, late, ((due - from) / self.interval_ns) as usize);
        self.board.sum(self.role, Sum::Operations).fetch_add(1, Relaxed);
        self.board.sum(self.role, Sum::Bytes).fetch_add(bytes, Relaxed);
        if late > self.period_ns {
            self.board.sum(self.role, Sum::Late).fetch_add(1, Relaxed);
            self.board.mark_late(self.role, member);
        }
    }

    /// A turn that will not be done any more: it is as late as it is now, at least.
    fn miss(&self, due: u64, now: u64, member: u32) {
        let Times { from, .. } = self.times;
        if due < from {
            return;
        }
        let late = now.saturating_sub(due);
        let records = if self.role == Role::Writer { self.shape.files } else { 1 };
        for _ in 0..records {
            self.board.count(self.role, late, ((due - from) / self.interval_ns) as usize);
        }
        self.board.sum(self.role, Sum::Missed).fetch_add(records.into(), Relaxed);
        self.board.sum(self.role, Sum::BehindAtEnd).fetch_max(late, Relaxed);
        if late > self.period_ns {
            self.board.sum(self.role, Sum::Late).fetch_add(records.into(), Relaxed);
            self.board.mark_late(self.role, member);
        }
    }

    fn append(&mut self, clock: Clock, writer: u32, file: u32) -> Result<(), (Action, Errno)> {
        let slot = self.shape.slot(writer, file);
        let number = self.board.records(slot).load(Relaxed);
        let bytes = &mut self.record[..self.shape.size(file)];
        record::fill(bytes, Tag { writer, file: file as u16, number: number as u32 }, self.shape.seed);
        let opened;
        let to = match self.files {
            Files::Nowhere => {
                self.board.records(slot).store(number + 1, Release);
                return Ok(());
            }
            Files::Open(files) => files[slot].as_fd(),
            // Writers are dealt out in turns.
            Files::Own(hands, files) => files[self.shape.slot(writer / hands, file)].as_fd(),
            Files::Named(top) => {
                self.shape.name(&mut self.name, writer, file);
                let flags = OFlags::WRONLY | OFlags::APPEND | OFlags::CLOEXEC;
                opened = again(|| openat(top, self.name.as_c_str(), flags, Mode::empty()))
                    .map_err(|errno| (Action::Open, errno))?;
                opened.as_fd()
            }
        };
        let mut rest = &*bytes;
        while !rest.is_empty() {
            // The rest of a record that was cut short follows at once: whoever is out of room says so then.
            let moved = again(|| write(to, rest)).map_err(|errno| (Action::Append, errno))?;
            rest = &rest[moved..];
        }
        self.board.records(slot).store(number + 1, Release);
        let by_number = self.shape.fsync_records > 0 && (number + 1).is_multiple_of(self.shape.fsync_records);
        let by_time = self.shape.fsync_ns > 0 && {
            let (now, last) = (clock.now(), self.board.synced(slot).load(Relaxed));
            if last == 0 {
                // The first sync is due so long after the first record.
                self.board.synced(slot).store(now, Relaxed);
            }
            last > 0 && now.saturating_sub(last) >= self.shape.fsync_ns
        };
        if by_number || by_time {
            again(|| fsync(to)).map_err(|errno| (Action::Sync, errno))?;
            if by_time {
                self.board.synced(slot).store(clock.now(), Relaxed);
            }
        }
        Ok(())
    }

    /// Reads a record of any file that has one, and compares it. Answers its length.
    fn read(&mut self, reader: u32, turn: u32) -> Result<u64, Refused> {
        let mut state = self.shape.seed ^ 0x7ead_ed01 ^ (u64::from(reader) << 32 | u64::from(turn));
        let mut below = |count: u64| ((u128::from(next_word(&mut state)) * u128::from(count)) >> 64) as u64;
        let writer = below(self.shape.writers.into()) as u32;
        let file = below(self.shape.files.into()) as u32;
        let slot = self.shape.slot(writer, file);
        let records = self.board.records(slot).load(Acquire);
        let size = self.shape.size(file);
        let number = below(records.max(1));
        let Files::Named(top) = self.files else { return Ok(size as u64) };
        if records == 0 {
            return Ok(0);
        }
        self.shape.name(&mut self.name, writer, file);
        let flags = OFlags::RDONLY | OFlags::CLOEXEC;
        let from = again(|| openat(top, self.name.as_c_str(), flags, Mode::empty()))
            .map_err(|errno| (Action::Open, writer, file, errno.raw_os_error()))?;
        let bytes = &mut self.record[..size];
        let moved = again(|| pread(&from, &mut *bytes, number * size as u64))
            .map_err(|errno| (Action::Read, writer, file, errno.raw_os_error()))?;
        let tag = Tag { writer, file: file as u16, number: number as u32 };
        if moved < size || record::wrong(bytes, tag, self.shape.seed, &mut self.scratch).is_some() {
            return Err((Action::Compare, writer, file, 0));
        }
        Ok(size as u64)
    }
}

/// Once more where a signal came first.
fn again<T>(mut call: impl FnMut() -> Result<T, Errno>) -> Result<T, Errno> {
    loop {
        match call() {
            Err(Errno::INTR) => {}
            answer => return answer,
        }
    }
}
