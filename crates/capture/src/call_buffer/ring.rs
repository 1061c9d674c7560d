//! The ring into which traced processes write their calls, as its one reader sees it.

use super::layout::{
    CALLS, FULL_BYTES, HEAD_BYTES, MARK_AT, OWN_MEMORY_AT, OWNER_AT, PAGE, PATH_BYTES, RING, RING_BYTES, RING_MAPPED,
    TAIL_AT,
};
use crate::memory;
use rustix::fs::SealFlags;
use std::cell::Cell;
use std::ffi::CStr;
use std::hash::{BuildHasher, RandomState};
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// The reader yields its CPU to who writes a record for so long; to all together, in one reading, so long; where that one does not
/// run, so long.
const MOST_YIELDING: Duration = Duration::from_millis(200);
const MOST_YIELDING_IN_ALL: Duration = Duration::from_secs(1);
const SOME_YIELDING: Duration = Duration::from_micros(200);
/// Records that are not whole are looked at again, so many at most: more threads than that do not write at the same moment, but a
/// program that writes here what it likes may say so.
const MOST_HOLES: usize = 1024;
/// linux/memfd.h: MFD_NOEXEC_SEAL.
const NOT_RUN: libc::c_uint = 8;
/// In the second half of a record's first word: it is whole.
const WHOLE: u32 = 0x8000_0000;
/// The same: the call begins, and another record follows.
const BEGINS: u32 = 0x4000_0000;

/// What becomes of a thread that has begun a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Owner {
    /// It ends it soon.
    Runs,
    /// It stands still.
    Stands,
    /// It is no more.
    Gone,
}

/// What came of waiting for a record.
enum Awaited {
    /// It has so many bytes.
    Is(u64),
    /// It has no length, and nobody gives it one.
    Never,
    /// Somebody may give it one when his stop was seen.
    Later,
}

/// A call as it was written down.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Record {
    /// The system call's number.
    pub(crate) number: i64,
    /// It is about to be done: nothing but its arguments is known.
    pub(crate) begins: bool,
    pub(crate) arguments: [u64; 6],
    pub(crate) result: i64,
    /// In place of its last two arguments stand `st_mode` and `st_size` of what lay under its path before; zeros where nothing did.
    pub(crate) looked: bool,
    /// The process, by the number that it was given.
    pub(super) process: u32,
    /// Where its thread's own memory is (the base of `fs`).
    pub(super) own_memory: u64,
    /// By the CPU's counter.
    pub(super) ticks: [u64; 2],
    /// What it named, where it named something.
    pub(crate) path: Option<Vec<u8>>,
}

/// A record that others came before.
#[derive(Debug, Clone, Copy)]
struct Hole {
    position: u64,
    length: u64,
    /// In this reading it was asked what became of its thread.
    is_asked: bool,
}

/// The ring.
#[derive(Debug)]
pub(super) struct Ring {
    file: OwnedFd,
    begin: *mut u8,
    /// A number that no other ring has, in its first page.
    mark: u64,
    /// Where the next record begins.
    at: u64,
    /// No further is read for now: others write on meanwhile, and somebody waits.
    until: u64,
    /// Records before that which are not whole.
    holes: Vec<Hole>,
    lost: u64,
    /// For how long others were waited for in this reading.
    waited: Cell<Duration>,
    /// Bytes that were not read when it was looked at, at most.
    most_bytes: u64,
    /// How often it came to be full, and whether it was when it was looked at last.
    filled: u64,
    is_full: bool,
    /// Who writes the next record stands still, and the tracer has not seen why.
    is_held_up: bool,
}

impl Ring {
    pub(super) fn new() -> io::Result<Ring> {
        // SAFETY: a name that is there, and a descriptor that is ours then.
        let file = unsafe {
            let create = |more| {
                let flags = libc::MFD_CLOEXEC | libc::MFD_ALLOW_SEALING | more;
                libc::memfd_create(c"fairlane-calls".as_ptr(), flags)
            };
            // Some machines refuse files in memory that may be run (vm.memfd_noexec); kernels before 6.3 do not know the flag.
            let number = match create(NOT_RUN) {
                refused if refused < 0 => create(0),
                number => number,
            };
            if number < 0 {
                return Err(io::Error::last_os_error());
            }
            OwnedFd::from_raw_fd(number)
        };
        // Its memory is the tracer's: no program is charged for it, and none waits for it in the middle of a record.
        rustix::fs::fallocate(&file, rustix::fs::FallocateFlags::empty(), 0, RING_MAPPED)?;
        // Whoever opens it makes it no shorter.
        rustix::fs::fcntl_add_seals(&file, SealFlags::SHRINK | SealFlags::GROW | SealFlags::SEAL)?;
        // SAFETY: a new mapping, of a file that nobody makes shorter.
        let begin = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                RING_MAPPED as usize,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_SHARED,
                file.as_raw_fd(),
                0,
            )
        };
        if begin == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let ring = Ring {
            file,
            begin: begin.cast(),
            mark: RandomState::new().hash_one(MARK_AT),
            at: 0,
            until: 0,
            holes: Vec::new(),
            lost: 0,
            waited: Cell::default(),
            most_bytes: 0,
            filled: 0,
            is_full: false,
            is_held_up: false,
        };
        ring.position(MARK_AT).store(ring.mark, Ordering::Release);
        Ok(ring)
    }

    /// Where a traced process finds it.
    pub(super) fn path(&self) -> String {
        format!("/proc/{}/fd/{}", std::process::id(), self.file.as_raw_fd())
    }

    /// Whether it is what a process has at the ring's address: in another namespace its path is another file's.
    pub(super) fn is_at(&self, process: libc::pid_t) -> bool {
        memory::number(process, RING + MARK_AT as u64) == Some(self.mark)
    }

    fn position(&self, at: usize) -> &AtomicU64 {
        // SAFETY: within the first page of the mapping, and aligned.
        unsafe { &*self.begin.add(at).cast::<AtomicU64>() }
    }

    /// Half of a record's first word.
    fn word(&self, position: u64, half: usize) -> &AtomicU32 {
        let at = PAGE + position % RING_BYTES;
        // SAFETY: within the mapping, behind whose last record there is a page, and aligned as records are.
        unsafe { &*self.begin.add(at as usize + 4 * half).cast::<AtomicU32>() }
    }

    /// What is there by now is read next. Where the writers' position makes no sense, somebody wrote over it: it is set anew.
    pub(super) fn look(&mut self) {
        self.waited.set(Duration::ZERO);
        self.holes.iter_mut().for_each(|hole| hole.is_asked = false);
        let head = self.position(0).load(Ordering::Acquire);
        let is_sound = head.wrapping_sub(self.at) <= RING_BYTES && head.is_multiple_of(8);
        if !is_sound {
            self.position(0).store(self.at, Ordering::Release);
            self.lost += 1;
        } else {
            self.note_fullness(head.wrapping_sub(self.tail()).min(RING_BYTES));
        }
        self.until = if is_sound { head } else { self.at };
    }

    fn note_fullness(&mut self, unread: u64) {
        self.most_bytes = self.most_bytes.max(unread);
        let is_full = unread > FULL_BYTES;
        self.filled += u64::from(is_full && !self.is_full);
        self.is_full = is_full;
    }

    /// Its bytes, the most of them that were not read at once, and how often it came to be full.
    pub(super) fn fullness(&self) -> (u64, u64, u64) {
        (RING_BYTES, self.most_bytes, self.filled)
    }

    /// The next record; `None`: none for now. One that is not whole is waited for where `wait` says so and its thread runs (it may have
    /// lost the CPU, while what others wrote behind it tells what another thread stopped for); else it is read later, and what stands
    /// behind it now.
    pub(super) fn next(&mut self, wait: bool, owner: &dyn Fn(u32, u64) -> Owner) -> Option<Record> {
        if let Some(record) = self.next_of_holes(owner) {
            return Some(record);
        }
        // A length that a program wrote over may lead past what is read now.
        while (1..=RING_BYTES).contains(&self.until.wrapping_sub(self.at)) {
            let length = match self.wait_for(self.at, wait, owner) {
                Awaited::Is(length) => Some(length),
                Awaited::Never => None,
                Awaited::Later => {
                    self.is_held_up = true;
                    return None;
                }
            };
            let is_whole = self.word(self.at, 1).load(Ordering::Acquire) & WHOLE != 0;
            match length {
                Some(length) if is_whole => {
                    let record = self.read(self.at, length);
                    self.pass(length);
                    return Some(record);
                }
                Some(length) if self.holes.len() < MOST_HOLES => {
                    self.holes.push(Hole { position: self.at, length, is_asked: false });
                    self.at = self.at.wrapping_add(length);
                }
                Some(length) => {
                    self.lost += 1;
                    self.pass(length);
                }
                None => {
                    // Who was killed before it said how long its record is, or wrote here what is none.
                    self.lost += 1;
                    self.pass(self.to_next_whole());
                }
            }
        }
        None
    }

    /// A record that others came before, or that nobody writes any more.
    fn next_of_holes(&mut self, owner: &dyn Fn(u32, u64) -> Owner) -> Option<Record> {
        for which in 0..self.holes.len() {
            let Hole { position, length, is_asked } = self.holes[which];
            let is_whole = self.word(position, 1).load(Ordering::Acquire) & WHOLE != 0;
            self.holes[which].is_asked = true;
            if !is_whole && (is_asked || self.owner(position, owner) != Owner::Gone) {
                continue;
            }
            let record = is_whole.then(|| self.read(position, length));
            self.lost += u64::from(!is_whole);
            self.clear(position, length);
            self.holes.remove(which);
            self.give_back();
            return record;
        }
        None
    }

    fn owner(&self, position: u64, owner: &dyn Fn(u32, u64) -> Owner) -> Owner {
        let process = self.word(position + OWNER_AT, 0).load(Ordering::Acquire);
        let own_memory = self.word(position + OWN_MEMORY_AT, 0).load(Ordering::Acquire);
        let own_memory_high = self.word(position + OWN_MEMORY_AT, 1).load(Ordering::Acquire);
        match process {
            0 => Owner::Runs,
            process => owner(process, u64::from(own_memory) | u64::from(own_memory_high) << 32),
        }
    }

    /// The length of the record there, whole or not; `None`: it has none. Whose length is awaited may have stopped for a signal that
    /// the tracer has not seen: then it is read later.
    fn wait_for(&self, position: u64, wait: bool, owner: &dyn Fn(u32, u64) -> Owner) -> Awaited {
        let look = || {
            let is_whole = self.word(position, 1).load(Ordering::Acquire) & WHOLE != 0;
            let length = u64::from(self.word(position, 0).load(Ordering::Acquire));
            // A traced program can write here: whatever it writes is no more than a record.
            let is_one = (HEAD_BYTES as u64..=(HEAD_BYTES + PATH_BYTES) as u64).contains(&length) && length % 8 == 0;
            (is_whole, is_one, length)
        };
        if let (true, true, length) = look() {
            return Awaited::Is(length);
        }
        let (begun, before) = (Instant::now(), self.waited.get());
        let mut has_yielded = false;
        let awaited = loop {
            let (is_whole, is_one, length) = look();
            let waited = begun.elapsed();
            let is_over = waited > MOST_YIELDING
                || (has_yielded && before + waited > MOST_YIELDING_IN_ALL)
                || (is_one && !wait)
                || (waited > SOME_YIELDING && self.owner(position, owner) != Owner::Runs);
            if (is_one && is_whole) || is_over {
                break if is_one { Awaited::Is(length) } else { Awaited::Never };
            }
            if !is_one && waited > SOME_YIELDING && crate::stops::is_one_waiting() {
                break Awaited::Later;
            }
            std::thread::yield_now();
            // Who runs on another CPU ends it meanwhile, however long others were waited for.
            has_yielded = true;
        };
        self.waited.set(before + begun.elapsed());
        awaited
    }

    /// Bytes to the next place where a whole record seems to begin, or to the end of what is read now.
    fn to_next_whole(&self) -> u64 {
        let all = self.until.wrapping_sub(self.at);
        let is_begin = |&bytes: &u64| {
            let position = self.at.wrapping_add(bytes);
            let length = u64::from(self.word(position, 0).load(Ordering::Acquire));
            let told = self.word(position, 1).load(Ordering::Acquire);
            let is_call = (told & !(WHOLE | BEGINS)) < CALLS as u32;
            (HEAD_BYTES as u64..=(HEAD_BYTES + PATH_BYTES) as u64).contains(&length)
                && length % 8 == 0
                && told & WHOLE != 0
                && is_call
        };
        (8..all).step_by(8).find(is_begin).unwrap_or(all)
    }

    fn read(&self, position: u64, length: u64) -> Record {
        let at = (PAGE + position % RING_BYTES) as usize;
        let length = length as usize;
        let number = self.word(position, 1).load(Ordering::Acquire) & !WHOLE;
        let mut bytes = [0; HEAD_BYTES];
        // SAFETY: a record lies within the mapping, and is no shorter.
        unsafe { std::ptr::copy_nonoverlapping(self.begin.add(at), bytes.as_mut_ptr(), HEAD_BYTES) };
        let word = |at: usize| u64::from_ne_bytes(bytes[at..at + 8].try_into().expect("eight bytes"));
        let half = |at: usize| u32::from_ne_bytes(bytes[at..at + 4].try_into().expect("four bytes"));
        let path_bytes = (half(12) as usize).min(length - HEAD_BYTES);
        let mut path = vec![0; path_bytes];
        // SAFETY: the same.
        unsafe { std::ptr::copy_nonoverlapping(self.begin.add(at + HEAD_BYTES), path.as_mut_ptr(), path_bytes) };
        // Behind the path stands a zero.
        let end = CStr::from_bytes_until_nul(&path).map_or(path_bytes, |path| path.count_bytes());
        path.truncate(end);
        Record {
            number: i64::from(number & !BEGINS),
            begins: number & BEGINS != 0,
            arguments: [48, 56, 64, 72, 80, 88].map(word),
            result: word(40) as i64,
            looked: false,
            process: half(8),
            own_memory: word(16),
            ticks: [word(24), word(32)],
            path: (path_bytes > 0).then_some(path),
        }
    }

    /// What was read is emptied, so that no later record seems whole before it is, and given back.
    fn pass(&mut self, bytes: u64) {
        self.clear(self.at, bytes);
        self.at = self.at.wrapping_add(bytes);
        self.give_back();
    }

    fn clear(&self, position: u64, bytes: u64) {
        let at = position % RING_BYTES;
        // The last record reaches into the page behind the ring; what is skipped may begin again at its start.
        let first = bytes.min(RING_BYTES + PAGE - at);
        let again = (at + bytes).saturating_sub(RING_BYTES).min(at);
        // SAFETY: both lie within the mapping.
        unsafe {
            std::ptr::write_bytes(self.begin.add((PAGE + at) as usize), 0, first as usize);
            if bytes > PAGE {
                std::ptr::write_bytes(self.begin.add(PAGE as usize), 0, again as usize);
            }
        }
    }

    /// Where the first record stands that is not read.
    fn tail(&self) -> u64 {
        let first = self.holes.iter().map(|hole| hole.position);
        first.min_by_key(|position| position.wrapping_sub(self.at) as i64).unwrap_or(self.at)
    }

    /// Writers may write as far as that.
    fn give_back(&self) {
        self.position(TAIL_AT).store(self.tail(), Ordering::Release);
    }

    /// Whether the last reading ended before a record whose writer stands still, for a stop that was not waited for.
    pub(super) fn is_held_up(&mut self) -> bool {
        std::mem::take(&mut self.is_held_up)
    }

    /// Records that were begun and will never be read.
    pub(super) fn lost(&self) -> u64 {
        self.lost + self.holes.len() as u64
    }
}

impl Drop for Ring {
    fn drop(&mut self) {
        // SAFETY: our own mapping, which nobody uses any more.
        unsafe { libc::munmap(self.begin.cast(), RING_MAPPED as usize) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::RefCell;
    use std::collections::BTreeSet;

    #[test]
    fn a_length_that_leads_past_what_is_read_ends_the_reading() {
        let gone = |_: u32, _: u64| Owner::Gone;
        let mut ring = Ring::new().unwrap();
        // One record by the writers' position, and a longer one by what a program wrote there.
        ring.position(0).store(HEAD_BYTES as u64, Ordering::Release);
        ring.word(0, 0).store((HEAD_BYTES + PATH_BYTES) as u32, Ordering::Release);
        ring.word(0, 1).store(WHOLE, Ordering::Release);
        ring.look();
        assert!(ring.next(false, &gone).is_some());
        assert_eq!(ring.next(false, &gone), None);
        // The writers' position is behind what was read: it is set anew, and told.
        ring.look();
        assert_eq!((ring.next(false, &gone), ring.lost()), (None, 1));
    }

    #[test]
    fn it_is_full_once_for_each_time_that_more_than_half_is_not_read() {
        let gone = |_: u32, _: u64| Owner::Gone;
        let mut ring = Ring::new().unwrap();
        let record = HEAD_BYTES as u64;
        let write = |ring: &Ring, until: u64| {
            let begin = ring.position(0).load(Ordering::Acquire);
            for position in (begin..until).step_by(HEAD_BYTES) {
                ring.word(position, 0).store(HEAD_BYTES as u32, Ordering::Release);
                ring.word(position, 1).store(WHOLE, Ordering::Release);
            }
            ring.position(0).store(until, Ordering::Release);
        };
        let half = FULL_BYTES / record * record;
        write(&ring, half);
        ring.look();
        assert_eq!(ring.fullness(), (RING_BYTES, half, 0));
        write(&ring, half + record);
        // However often it is looked at while nothing is read.
        (0..3).for_each(|_| ring.look());
        assert_eq!(ring.fullness(), (RING_BYTES, half + record, 1));
        assert_eq!(std::iter::from_fn(|| ring.next(false, &gone)).count() as u64, half / record + 1);
        ring.look();
        write(&ring, 3 * half);
        ring.look();
        assert_eq!(ring.fullness(), (RING_BYTES, 2 * half - record, 2));
    }

    #[test]
    fn records_that_nobody_makes_whole_are_kept_up_to_a_number_and_none_is_waited_for_for_long() {
        let mut ring = Ring::new().unwrap();
        let many = 4 * MOST_HOLES as u64;
        let asked = Cell::new(0u64);
        let stands = |_: u32, _: u64| {
            asked.set(asked.get() + 1);
            Owner::Stands
        };
        // A program wrote their lengths, and says that a thread which stands still writes them.
        for number in 0..many {
            let position = number * HEAD_BYTES as u64;
            ring.word(position, 0).store(HEAD_BYTES as u32, Ordering::Release);
            ring.word(position + OWNER_AT, 0).store(7, Ordering::Release);
        }
        ring.position(0).store(many * HEAD_BYTES as u64, Ordering::Release);
        ring.look();
        assert_eq!(ring.next(false, &stands), None);
        assert_eq!((ring.holes.len(), ring.lost()), (MOST_HOLES, many));
        // Each is asked for once in a reading, however many records come.
        ring.look();
        asked.set(0);
        (0..5).for_each(|_| assert_eq!(ring.next(false, &stands), None));
        assert_eq!(asked.get(), MOST_HOLES as u64);
        // Those whose threads are gone are lost, and what they took is given back.
        let gone = |_: u32, _: u64| Owner::Gone;
        ring.look();
        while !ring.holes.is_empty() {
            assert_eq!(ring.next(false, &gone), None);
        }
        assert_eq!((ring.lost(), ring.tail()), (many, many * HEAD_BYTES as u64));
    }

    #[test]
    fn all_that_is_waited_for_in_one_reading_has_an_end() {
        let mut ring = Ring::new().unwrap();
        let asked = RefCell::new(BTreeSet::new());
        let runs = |process: u32, _: u64| {
            asked.borrow_mut().insert(process);
            Owner::Runs
        };
        // Records whose threads run and never end them.
        for number in 0..100u32 {
            let position = u64::from(number) * HEAD_BYTES as u64;
            ring.word(position, 0).store(HEAD_BYTES as u32, Ordering::Release);
            ring.word(position + OWNER_AT, 0).store(1 + number, Ordering::Release);
        }
        ring.position(0).store(100 * HEAD_BYTES as u64, Ordering::Release);
        ring.look();
        assert_eq!(ring.next(true, &runs), None);
        assert_eq!(ring.holes.len(), 100);
        // The first few took all of the time that is waited.
        let most = MOST_YIELDING_IN_ALL.as_millis() / MOST_YIELDING.as_millis() + 1;
        let asked = asked.into_inner();
        assert!(asked.contains(&1) && asked.len() as u128 <= most, "{asked:?}");
    }
}
