//! Threads that do one act at the same time, each on files of its own or all on one.

use super::{Observer, Work, heed};
use crate::beneath;
use crate::buffers::Buffers;
use crate::clock::{Clock, seconds};
use crate::error::EngineError;
use crate::histogram::Latencies;
use crate::target::OpenTarget;
use crate::window::{OPERATIONS_PER_SECOND, Window};
use crate::workers::{Start, StartGate, Threads, Usage};
use model::agent::Part;
use model::kinds::contention::{Act, Contention, Contest, REGION_BYTES};
use rustix::fs::{
    AtFlags, Dir, FileType, Mode, OFlags, XattrFlags, fdatasync, fgetxattr, fsetxattr, mknodat, openat, renameat,
    statat,
};
use rustix::io::{Errno, pwrite, write};
use std::ffi::CStr;
use std::ops::Range;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};

/// All files lie below this folder of the target.
const TOP: &str = "fairlane-contention";
/// The attribute that is set.
const ATTRIBUTE: &CStr = c"user.fairlane";
/// Bytes of its value. Chosen: as few as a short label has.
const VALUE_BYTES: usize = 16;
/// A worker's stack, in bytes.
const STACK_BYTES: usize = 256 << 10;

/// Acts of several threads, prepared: each group has a folder of its own.
pub struct ContentionWork {
    contention: Contention,
    seed: u64,
    stop: Arc<AtomicBool>,
    written_bytes: u64,
    /// Operations that each thread did in the present group, and the group's number.
    done: (usize, Vec<u64>),
}

/// What one thread did in a part while all of them worked.
struct Did {
    operations: u64,
    /// When its first operation began and its last counted one ended, by the clock of all.
    began: u64,
    ended: u64,
    /// Nanoseconds on a CPU meanwhile.
    on_cpu: u64,
}

/// What the threads of a part do: all of them work,
const COUNTING: u8 = 0;
/// one has done its share and the others finish theirs uncounted,
const ONE_IS_DONE: u8 = 1;
/// or one has failed, and everybody ends.
const FAILED: u8 = 2;

impl ContentionWork {
    /// Makes the folders and files, synced. What an interrupted race left there is removed.
    ///
    /// # Errors
    /// Where there is no directory, or a call fails.
    pub fn prepare(
        place: &OpenTarget,
        contention: &Contention,
        seed: u64,
        stop: Arc<AtomicBool>,
    ) -> Result<Self, EngineError> {
        let (path, directory) = place.directory().ok_or_else(no_directory)?;
        let top = path.join(TOP);
        let folder = beneath::make_anew(directory, TOP, Mode::RWXU, &top)?;
        let mut work =
            ContentionWork { contention: contention.clone(), seed, stop, written_bytes: 0, done: (0, Vec::new()) };
        for (number, contest) in contention.contests().iter().enumerate() {
            let name = folder_name(number);
            let path = top.join(&name);
            let made = beneath::make_folder(folder.as_fd(), &name, Mode::RWXU, None)
                .map_err(|errno| EngineError::file("create directory", &path, errno))?;
            work.populate(contest, made.as_fd(), &path)?;
        }
        place.sync()?;
        Ok(work)
    }

    /// The files and directories in which a group works.
    fn populate(&mut self, contest: &Contest, folder: BorrowedFd<'_>, path: &Path) -> Result<(), EngineError> {
        for number in 0..contest.places() {
            heed(&self.stop)?;
            let name = place_name(number);
            let path = path.join(&name);
            if contest.act.changes_names() {
                beneath::make_folder(folder, &name, Mode::RWXU, None)
                    .map_err(|errno| EngineError::file("create directory", &path, errno))?;
                continue;
            }
            let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
            let file = openat(folder, &name, flags, Mode::RUSR | Mode::WUSR)
                .map_err(|errno| EngineError::file("create", &path, errno))?;
            if matches!(contest.act, Act::Overwrite | Act::Fdatasync) {
                let regions = u64::from(contest.threads / contest.places());
                self.fill(&file, &path, regions * REGION_BYTES)?;
            }
        }
        if contest.act == Act::Rename {
            for thread in 0..contest.threads {
                let name = format!("{}/{}", place_name(thread % contest.places()), thread_name(thread, 0));
                mknodat(folder, &name, FileType::RegularFile, Mode::RUSR | Mode::WUSR, 0)
                    .map_err(|errno| EngineError::file("create", path.join(&name), errno))?;
            }
        }
        Ok(())
    }

    fn fill(&mut self, file: &OwnedFd, path: &Path, bytes: u64) -> Result<(), EngineError> {
        let mut buffers = Buffers::for_writes(REGION_BYTES, 1, self.seed ^ self.written_bytes)?;
        for offset in (0..bytes).step_by(REGION_BYTES as usize) {
            heed(&self.stop)?;
            let chunk = buffers.take();
            buffers.renew(chunk);
            whole(pwrite(file, &buffers.bytes(chunk)[..REGION_BYTES as usize], offset), REGION_BYTES, offset, path)?;
            buffers.give_back(chunk);
        }
        self.written_bytes += bytes;
        Ok(())
    }

    /// A part of a group, in threads of their own, which begin together. It counts until the first of them has done its
    /// share: from then on fewer would work at once.
    fn together(
        &self,
        (number, contest): (usize, Contest),
        part: Range<u64>,
        place: &OpenTarget,
        observer: &mut dyn Observer,
    ) -> Result<Vec<(Did, Latencies)>, EngineError> {
        let gate = &StartGate::new(contest.threads, observer);
        let state = &AtomicU8::new(COUNTING);
        let works = (0..contest.threads).map(|thread| {
            let numbers = share(&part, thread, contest.threads);
            let before = self.done.1[thread as usize];
            move || {
                let start = Start::with(gate, thread as usize);
                let ran = Worker::new(self, (number, contest), thread, place).and_then(|mut worker| {
                    start.now()?;
                    let did = worker.run(numbers, before, (state, gate))?;
                    Ok((did, worker))
                });
                // Nobody goes on where one failed.
                ran.inspect_err(|_| state.store(FAILED, Ordering::Relaxed))
            }
        });
        let threads = Threads { name: Some(&worker_name), stack_bytes: Some(STACK_BYTES), ..Threads::default() };
        let (all, ()) = threads.run(works, || gate.give_up(), |_| gate.open())?;
        // Only now are files closed and memory given back: both would disturb threads that still work.
        let all: Vec<(Did, Worker)> = all.into_iter().collect::<Result<_, EngineError>>()?;
        Ok(all.into_iter().map(|(did, worker)| (did, worker.latencies)).collect())
    }

    /// What the group left is what its operations leave: files of the right length, as many names as were made.
    fn look_at(&self, number: usize, contest: &Contest, place: &OpenTarget) -> Result<(), EngineError> {
        let (path, directory) = place.directory().ok_or_else(no_directory)?;
        let (folder, path) = open_folder(directory, path, number)?;
        let mut found = 0;
        for at in 0..contest.places() {
            let path = path.join(place_name(at));
            let error = |errno| EngineError::file("look at", &path, errno);
            if contest.act == Act::Setxattr {
                self.look_at_attribute(&folder, &place_name(at), &path)?;
            }
            found += match contest.act.changes_names() {
                true => count_names(folder.as_fd(), &place_name(at), &self.stop, &path)?,
                false => statat(&folder, place_name(at), AtFlags::SYMLINK_NOFOLLOW).map_err(error)?.st_size as u64,
            };
        }
        let (expected, of) = match contest.act {
            Act::Append => (self.contention.operations * self.contention.size.get(), "bytes"),
            Act::Overwrite | Act::Fdatasync => (u64::from(contest.threads) * REGION_BYTES, "bytes"),
            Act::Create => (self.contention.operations, "names"),
            Act::Rename => (u64::from(contest.threads), "names"),
            Act::Setxattr => (0, "bytes"),
        };
        match found == expected {
            true => Ok(()),
            false => {
                Err(EngineError::Contents { path, what: format!("holds {found} {of} where {expected} were made") })
            }
        }
    }

    /// The attribute has a value of this round.
    fn look_at_attribute(&self, folder: &OwnedFd, name: &str, path: &Path) -> Result<(), EngineError> {
        let error = |errno| EngineError::file("read an attribute of", path, errno);
        let file = openat(folder, name, OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC, Mode::empty());
        let mut value = [0; VALUE_BYTES + 1];
        let length = fgetxattr(file.map_err(error)?, ATTRIBUTE, &mut value[..]).map_err(error)?;
        let number = u64::from_le_bytes(value[..8].try_into().unwrap_or_default());
        match length == VALUE_BYTES && number < self.contention.operations {
            true => Ok(()),
            false => {
                let what = "has an attribute of a value that was not set".to_owned();
                Err(EngineError::Contents { path: path.to_owned(), what })
            }
        }
    }
}

fn count_names(folder: BorrowedFd<'_>, name: &str, stop: &AtomicBool, path: &Path) -> Result<u64, EngineError> {
    let error = |errno| EngineError::file("list", path, errno);
    let mut names = 0;
    for entry in Dir::new(beneath::open_folder(folder, name).map_err(error)?).map_err(error)? {
        heed(stop)?;
        let entry = entry.map_err(error)?;
        names += u64::from(!matches!(entry.file_name().to_bytes(), b"." | b".."));
    }
    Ok(names)
}

/// One thread's part.
struct Worker<'a> {
    work: &'a ContentionWork,
    contest: Contest,
    thread: u32,
    /// The file, or the directory in which names change.
    file: OwnedFd,
    path: PathBuf,
    data: Option<Data>,
    latencies: Latencies,
    /// Offset in bytes of what this thread writes over.
    region: u64,
}

impl<'a> Worker<'a> {
    fn new(
        work: &'a ContentionWork,
        (number, contest): (usize, Contest),
        thread: u32,
        place: &OpenTarget,
    ) -> Result<Self, EngineError> {
        let (path, directory) = place.directory().ok_or_else(no_directory)?;
        let (folder, path) = open_folder(directory, path, number)?;
        let name = place_name(thread % contest.places());
        let flags = match contest.act {
            act if act.changes_names() => OFlags::RDONLY | OFlags::DIRECTORY,
            Act::Append => OFlags::WRONLY | OFlags::APPEND,
            _ => OFlags::WRONLY,
        };
        let path = path.join(&name);
        // A description of its own: no lock of a shared one is measured.
        let file = openat(&folder, &name, flags | OFlags::NOFOLLOW | OFlags::CLOEXEC, Mode::empty())
            .map_err(|errno| EngineError::file("open", &path, errno))?;
        let region = if contest.places() == 1 { u64::from(thread) * REGION_BYTES } else { 0 };
        let data = contest.act.writes().then(|| Data::new(work, thread)).transpose()?;
        Ok(Worker { work, contest, thread, file, path, data, latencies: Latencies::resident(), region })
    }

    /// Does these operations, after so many before them; those count that end before one thread is done.
    fn run(
        &mut self,
        numbers: Range<u64>,
        before: u64,
        (state, gate): (&AtomicU8, &StartGate<'_>),
    ) -> Result<Did, EngineError> {
        let mut names = Names::new(self.thread);
        let mut turns = (before..).zip(numbers);
        let clock = Clock::get();
        let (began, used) = (clock.now(), Usage::now());
        let mut ended = began;
        let mut operations = 0;
        for (turn, number) in turns.by_ref() {
            heed(&self.work.stop)?;
            self.operate(number, turn, &mut names)?;
            let now = clock.now();
            if state.load(Ordering::Relaxed) != COUNTING {
                break;
            }
            self.latencies.record(now - ended);
            ended = now;
            operations += 1;
        }
        let used = Usage::now().since(used);
        if state.compare_exchange(COUNTING, ONE_IS_DONE, Ordering::Relaxed, Ordering::Relaxed).is_ok() {
            gate.close_window();
        }
        for (turn, number) in turns.take_while(|_| state.load(Ordering::Relaxed) != FAILED) {
            heed(&self.work.stop)?;
            self.operate(number, turn, &mut names)?;
        }
        Ok(Did { operations, began, ended, on_cpu: used.user_ns + used.system_ns })
    }

    /// Operation `number` of all; `turn`: of this thread's own, from 0.
    #[inline]
    fn operate(&mut self, number: u64, turn: u64, names: &mut Names) -> Result<(), EngineError> {
        let size = self.work.contention.size.get();
        let bytes = self.data.as_mut().map_or(&[][..], |data| data.next(size));
        match self.contest.act {
            Act::Append => whole(write(&self.file, bytes), size, 0, &self.path),
            Act::Overwrite | Act::Fdatasync => {
                let offset = self.region + turn % (REGION_BYTES / size) * size;
                whole(pwrite(&self.file, bytes, offset), size, offset, &self.path)?;
                match self.contest.act {
                    Act::Fdatasync => fdatasync(&self.file).map_err(|errno| self.failed("sync", errno)),
                    _ => Ok(()),
                }
            }
            Act::Create => {
                let mode = Mode::RUSR | Mode::WUSR;
                mknodat(&self.file, names.created(number), FileType::RegularFile, mode, 0)
                    .map_err(|errno| self.refused("create a file in", errno))
            }
            Act::Rename => {
                let [from, to] = names.renamed(turn);
                renameat(&self.file, from, &self.file, to).map_err(|errno| self.failed("rename a file in", errno))
            }
            Act::Setxattr => {
                let mut value = [0; VALUE_BYTES];
                value[..8].copy_from_slice(&number.to_le_bytes());
                value[8..].copy_from_slice(&turn.to_le_bytes());
                fsetxattr(&self.file, ATTRIBUTE, &value, XattrFlags::empty())
                    .map_err(|errno| self.refused("set an attribute of", errno))
            }
        }
    }

    /// Where the filesystem lacks the call, it lacks the act.
    fn refused(&self, action: &'static str, errno: Errno) -> EngineError {
        let error = self.failed(action, errno);
        match errno {
            Errno::OPNOTSUPP | Errno::NOSYS => EngineError::Unsupported {
                what: error.to_string(),
                step: self.contest.group(),
                errno: errno.raw_os_error(),
            },
            _ => error,
        }
    }

    fn failed(&self, action: &'static str, errno: Errno) -> EngineError {
        EngineError::file(action, &self.path, errno)
    }
}

/// What a thread writes.
struct Data(Buffers);

impl Data {
    fn new(work: &ContentionWork, thread: u32) -> Result<Self, EngineError> {
        Buffers::for_writes(work.contention.size.get(), 1, work.seed ^ u64::from(thread).rotate_left(40)).map(Data)
    }

    /// So many new bytes.
    #[inline]
    fn next(&mut self, size: u64) -> &[u8] {
        let chunk = self.0.take();
        self.0.renew(chunk);
        self.0.give_back(chunk);
        &self.0.bytes(chunk)[..size as usize]
    }
}

// SAFETY: its memory is its own, and only one thread at a time has it: the one that works, and at last who drops it.
unsafe impl Send for Data {}

impl Work for ContentionWork {
    fn phase(
        &mut self,
        place: &OpenTarget,
        group: &str,
        part: Part,
        observer: &mut dyn Observer,
    ) -> Result<Window, EngineError> {
        let contests = self.contention.contests();
        let Some(number) = contests.iter().position(|of| of.group() == group).filter(|_| part.index < part.of) else {
            return Err(EngineError::Unsuitable(format!(
                "there is no part {} of {} of {}; choose one of {}",
                part.index,
                part.of,
                model::text::escaped(group.as_bytes()),
                contests.iter().map(Contest::group).collect::<Vec<_>>().join("; ")
            )));
        };
        let contest = contests[number];
        if part.index == 0 {
            self.done = (number, vec![0; contest.threads as usize]);
        }
        if self.done.0 != number || self.done.1.is_empty() {
            return Err(EngineError::Unsuitable(format!("{group} has not begun; ask for its first part")));
        }
        let range = part.range(self.contention.operations);
        let all = self.together((number, contest), range.clone(), place, observer)?;
        // What is dirty is written before the next lane works. It is no part of the act, and so of no figure.
        place.sync()?;
        let mut window = Window { group: group.to_owned(), primary_metric: OPERATIONS_PER_SECOND, ..Window::default() };
        let size = if contest.act.writes() { self.contention.size.get() } else { 0 };
        for (thread, (did, latencies)) in all.iter().enumerate() {
            window.operations += did.operations;
            window.latencies.add(latencies);
            let share = share(&range, thread as u32, contest.threads);
            self.done.1[thread] += share.end - share.start;
        }
        window.bytes = window.operations * size;
        let began = all.iter().map(|(did, _)| did.began).min().unwrap_or(0);
        window.seconds = seconds(all.iter().map(|(did, _)| did.ended).max().unwrap_or(0).saturating_sub(began));
        window.busiest_thread = busiest(&all, window.seconds);
        self.written_bytes += (range.end - range.start) * size;
        if part.index + 1 == part.of {
            self.look_at(number, &contest, place)?;
        }
        Ok(window)
    }

    /// Nothing is held open between parts.
    fn release(&mut self) {}

    fn written_bytes(&self) -> u64 {
        self.written_bytes
    }
}

/// What a thread does of these operations.
fn share(part: &Range<u64>, thread: u32, threads: u32) -> Range<u64> {
    let share = Part { index: thread, of: threads }.range(part.end - part.start);
    part.start + share.start..part.start + share.end
}

/// The highest share of one core that one of the threads took in so many seconds.
fn busiest(all: &[(Did, Latencies)], worked: f64) -> Option<(f64, String)> {
    let (thread, most) = all.iter().enumerate().max_by_key(|(_, (did, _))| did.on_cpu)?;
    (worked > 0.0).then(|| (seconds(most.0.on_cpu) / worked, worker_name(thread)))
}

/// An error where not all bytes were written.
#[inline]
fn whole(moved: Result<usize, Errno>, bytes: u64, offset: u64, path: &Path) -> Result<(), EngineError> {
    match moved {
        Ok(moved) if moved as u64 == bytes => Ok(()),
        Ok(moved) => {
            Err(EngineError::Short { action: "write", moved: moved as u64, bytes, offset, path: path.to_owned() })
        }
        Err(errno) => Err(EngineError::file("write", path, errno)),
    }
}

fn open_folder(directory: BorrowedFd<'_>, path: &Path, number: usize) -> Result<(OwnedFd, PathBuf), EngineError> {
    let below = format!("{TOP}/{}", folder_name(number));
    let path = path.join(&below);
    let flags = OFlags::RDONLY | OFlags::DIRECTORY;
    let folder = beneath::open_beneath(directory, Path::new(&below), flags)
        .map_err(|errno| EngineError::file("open", &path, errno))?;
    Ok((folder, path))
}

fn no_directory() -> EngineError {
    EngineError::Unsuitable("contention needs a filesystem; race a lane that has a directory".to_owned())
}

/// Of a group's folder.
fn folder_name(number: usize) -> String {
    format!("g{number:03}")
}

/// Of a file or directory that threads work in.
fn place_name(number: u32) -> String {
    format!("p{number:03}")
}

/// Of the file that a thread renames; it has two names.
fn thread_name(thread: u32, turn: u64) -> String {
    format!("t{thread:03}-{}", turn % 2)
}

/// Of a thread, as the kernel shows it: 15 bytes at most.
fn worker_name(thread: usize) -> String {
    format!("contention-{thread}")
}

/// Names in fixed buffers, so that nothing is allocated for an operation.
struct Names {
    /// `f000000123`.
    created: [u8; 11],
    /// The two names of the file that is renamed.
    renamed: [std::ffi::CString; 2],
}

impl Names {
    fn new(thread: u32) -> Self {
        let of = |turn| std::ffi::CString::new(thread_name(thread, turn)).unwrap_or_default();
        Names { created: *b"f000000000\0", renamed: [of(0), of(1)] }
    }

    fn created(&mut self, mut number: u64) -> &CStr {
        for digit in self.created[1..10].iter_mut().rev() {
            *digit = b'0' + (number % 10) as u8;
            number /= 10;
        }
        CStr::from_bytes_until_nul(&self.created).unwrap_or(c"f")
    }

    /// From which name to which.
    fn renamed(&self, turn: u64) -> [&CStr; 2] {
        let [even, odd] = &self.renamed;
        if turn.is_multiple_of(2) { [even, odd] } else { [odd, even] }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_carries_its_number_and_a_renamed_file_goes_back_and_forth() {
        let mut names = Names::new(7);
        assert_eq!(names.created(123).to_str(), Ok("f000000123"));
        assert_eq!(names.created(9_999_999).to_str(), Ok("f009999999"));
        assert_eq!(names.renamed(0).map(|name| name.to_str().unwrap()), ["t007-0", "t007-1"]);
        assert_eq!(names.renamed(3).map(|name| name.to_str().unwrap()), ["t007-1", "t007-0"]);
        assert!(worker_name(127).len() <= 15);
    }
}
