//! What one thread or one process of appenders does: it waits for the next turn of its members, does it, and
//! counts how late it was done. Nothing is allocated and nothing is locked meanwhile.

use super::backlog::PARTS;
use super::harness_lag::OwnTime;
use super::names::Name;
use super::record::{self, Tag, next_word};
use super::schedule::Members;
use super::shared_counters::{Action, Fault, Role, SharedCounters, Sum, Times};
use crate::clock::{Clock, nanoseconds};
use model::appenders::{Appenders, LARGEST_RECORD};
use rustix::fs::{Mode, OFlags, fsync, openat};
use rustix::io::{Errno, pread, write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::time::Duration;

/// A thread looks this often whether it is to stop.
const LOOK_NS: u64 = 20_000_000;

/// The appenders in numbers that are at hand.
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
    pub(super) fn new(appenders: &Appenders, seed: u64) -> Self {
        Shape {
            seed,
            writers: appenders.writers,
            files: appenders.files,
            directories: appenders.directories,
            sizes: (0..appenders.files).map(|file| appenders.record_size(file) as u32).collect(),
            fsync_records: appenders.fsync_records.into(),
            fsync_ns: nanoseconds(appenders.fsync_seconds),
            reopen: appenders.reopen,
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
pub(super) struct Worker<'a> {
    board: &'a SharedCounters,
    shape: &'a Shape,
    role: Role,
    files: Files<'a>,
    /// A thread's members wait for it; a process has one, and is late by itself.
    period_ns: u64,
    times: Times,
    interval_ns: u64,
    own: OwnTime,
    name: Name,
    record: Box<[u8]>,
    scratch: Box<[u8]>,
}

/// Why a turn was not done.
type Refused = (Action, u32, u32, i32);

impl<'a> Worker<'a> {
    pub(super) fn new(
        board: &'a SharedCounters,
        shape: &'a Shape,
        role: Role,
        files: Files<'a>,
        period_ns: u64,
    ) -> Self {
        let room = || vec![0; LARGEST_RECORD as usize].into_boxed_slice();
        Worker {
            board,
            shape,
            role,
            files,
            period_ns,
            times: Times::default(),
            interval_ns: 1,
            own: OwnTime::default(),
            name: Name::new(),
            record: room(),
            scratch: room(),
        }
    }

    /// Finds its files there from now on.
    pub(super) fn with_files(self, files: Files<'a>) -> Self {
        Worker { files, ..self }
    }

    /// Does every turn that is due before the window ends. `opened` is called before the first one that counts.
    pub(super) fn work(&mut self, members: &mut Members, mut opened: impl FnMut()) {
        let clock = Clock::get();
        self.times = self.board.times();
        let Times { begin, from, to, give_up } = self.times;
        self.interval_ns = self.times.intervals().0;
        self.own = OwnTime::default();
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
            let own = self.own.begin(due, now, waited);
            if due >= from {
                if !counts {
                    counts = true;
                    opened();
                }
                self.board.count_scheduling(self.role, own);
                let part = u128::from(due - from) * PARTS as u128 / u128::from(to - from);
                self.board.count_delay(self.role, part as usize, now.saturating_sub(due));
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

    /// One turn: a record for each file of a writer, one record of a reader.
    fn turn(&mut self, clock: Clock, due: u64, member: u32, turn: u32) -> Result<(), Refused> {
        match self.role {
            Role::Writer => {
                for file in 0..self.shape.files {
                    self.fill(member, file);
                    let begun = clock.now();
                    self.append(clock, member, file)
                        .map_err(|(action, errno)| (action, member, file, errno.raw_os_error()))?;
                    let ended = clock.now();
                    self.own.called(ended.saturating_sub(begun));
                    let bytes = self.shape.size(file) as u64;
                    self.board.written().fetch_add(bytes, Relaxed);
                    self.done(due, ended, member, bytes);
                }
            }
            Role::Reader => {
                let begun = clock.now();
                let bytes = self.read(member, turn)?;
                let ended = clock.now();
                self.own.called(ended.saturating_sub(begun));
                self.done(due, ended, member, bytes);
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

    /// A turn that will not be done any more. How late it would have been nobody knows: it is late whatever the
    /// period, and stands behind everything that was done.
    fn miss(&self, due: u64, now: u64, member: u32) {
        let Times { from, give_up, .. } = self.times;
        if due < from {
            return;
        }
        let behind = now.saturating_sub(due);
        let late = behind.max(give_up - from).max(self.period_ns.saturating_add(1));
        let records = if self.role == Role::Writer { self.shape.files } else { 1 };
        for _ in 0..records {
            self.board.count(self.role, late, ((due - from) / self.interval_ns) as usize);
        }
        self.board.sum(self.role, Sum::Missed).fetch_add(records.into(), Relaxed);
        self.board.sum(self.role, Sum::BehindAtEnd).fetch_max(behind, Relaxed);
        self.board.sum(self.role, Sum::Late).fetch_add(records.into(), Relaxed);
        self.board.mark_late(self.role, member);
    }

    /// Makes the next record of a file.
    fn fill(&mut self, writer: u32, file: u32) {
        let number = self.board.records(self.shape.slot(writer, file)).load(Relaxed);
        let bytes = &mut self.record[..self.shape.size(file)];
        record::fill(bytes, Tag { writer, file: file as u16, number: number as u32 }, self.shape.seed);
    }

    /// Appends the record that was made.
    fn append(&mut self, clock: Clock, writer: u32, file: u32) -> Result<(), (Action, Errno)> {
        let slot = self.shape.slot(writer, file);
        let number = self.board.records(slot).load(Relaxed);
        let bytes = &self.record[..self.shape.size(file)];
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
        let mut rest = bytes;
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

#[cfg(test)]
mod tests {
    use super::super::schedule::Schedule;
    use super::*;

    #[test]
    fn what_was_given_up_is_late_whatever_the_period_and_stands_behind_all_else() {
        let appenders: Appenders =
            toml::from_str("writers = 1\nperiod_seconds = 60.0\nseconds = 10.0").expect("appenders");
        let (shape, schedule) = (Shape::new(&appenders, 0), Schedule::of_writers(&appenders, 0));
        let board = SharedCounters::new(1, 0, appenders.files_of_all()).unwrap();
        // The one turn was due 20 ms ago, and given up long before a period had gone by.
        let begin = Clock::get().now() - 20_000_000;
        let times = Times { begin, from: begin, to: begin + 10_000_000, give_up: begin + 11_000_000 };
        board.set_times(times);
        let mut members = Members::new(schedule, 0..1);
        Worker::new(&board, &shape, Role::Writer, Files::Nowhere, schedule.period_ns()).work(&mut members, || ());
        let sum = |sum: Sum| board.sum(Role::Writer, sum).load(Relaxed);
        assert_eq!((sum(Sum::Missed), sum(Sum::Late), sum(Sum::Operations)), (4, 4, 0));
        assert_eq!(board.late_members(Role::Writer), 1);
        let lateness = board.lateness(Role::Writer);
        assert_eq!(lateness.operations(), 4);
        assert!(lateness.summary().unwrap().max >= 60e9, "{:?}", lateness.summary());
        // How far behind the schedule it was is known, and is not a period.
        assert!(sum(Sum::BehindAtEnd) >= 20_000_000);
    }
}
