//! Clients that append to one file, count under one lock, and open one file, all at the same time.
//!
//! What is appended and counted is looked at afterwards by another client than did it: filesystems of several machines may append
//! where another one has just appended (NFS), or give a lock that other machines do not see.

use super::{Observer, OtherClient, Work, heed};
use crate::beneath;
use crate::clock::{Clock, seconds};
use crate::error::EngineError;
use crate::histogram::Latencies;
use crate::target::OpenTarget;
use crate::window::{OPERATIONS_PER_SECOND, Window};
use model::agent::Part;
use model::kinds::one_file::{OneFile, OneFileAct};
use model::ranks::Clients;
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use rustix::fs::{Mode, OFlags, openat};
use rustix::io::{Errno, pread, pwrite, write};
use std::ffi::CString;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::ops::Range;
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// All files lie below this folder of the target.
const TOP: &str = "fairlane-one-file";
/// The files that are everybody's.
const APPENDED: &str = "appended";
const LOCKED: &str = "locked";
const OPENED: &str = "opened";
/// Bytes at the beginning of a locked file that are locked: the number that is counted.
const COUNTER_BYTES: usize = 8;
/// Random bytes of which records are made, one behind the other: more than filesystems compress together.
const POOL_BYTES: usize = 1 << 20;
/// Bytes of the file of all that a client reads back, at most.
const MOST_READ: u64 = 64 << 20;

/// One client's part, prepared.
pub struct OneFileWork {
    one: OneFile,
    clients: Clients,
    records: Records,
    /// Operations of each act that were done, in the order of the acts.
    done: Vec<u64>,
    latencies: Latencies,
    written_bytes: u64,
    stop: Arc<AtomicBool>,
}

impl OneFileWork {
    /// Makes the files, synced. What an interrupted race left there is removed, unless other clients share them.
    ///
    /// # Errors
    /// Where there is no directory, the file of all would be too long, or a call fails.
    pub fn prepare(
        place: &OpenTarget,
        one: &OneFile,
        (seed, clients): (u64, Clients),
        stop: Arc<AtomicBool>,
    ) -> Result<Self, EngineError> {
        let (path, directory) = place.directory().ok_or_else(no_directory)?;
        let whole = u128::from(one.operations) * u128::from(one.record.get()) * u128::from(clients.of.max(1));
        if i64::try_from(whole).is_err() {
            let what = "one file of all records is longer than a file can be; lower operations or record";
            return Err(EngineError::Unsuitable(what.to_owned()));
        }
        let path = path.join(TOP);
        let top = beneath::make_for_clients(directory, TOP, clients.is_alone(), &path)?;
        for name in [APPENDED, LOCKED, OPENED, &own_name(clients.number)] {
            beneath::make_file(&top, name, &path)?;
        }
        place.sync()?;
        Ok(OneFileWork {
            records: Records::new(one, seed, clients.number),
            done: vec![0; one.acts.len()],
            latencies: Latencies::new(),
            written_bytes: 0,
            one: one.clone(),
            clients,
            stop,
        })
    }

    /// Does an act so often; answers when the last one was done.
    fn repeat(&mut self, act: OneFileAct, numbers: Range<u64>, file: &Acted) -> Result<u64, EngineError> {
        let clock = Clock::get();
        let mut before = clock.now();
        for number in numbers {
            heed(&self.stop)?;
            match act {
                OneFileAct::Append => append(file, self.records.next(number))?,
                OneFileAct::Lock => count_up(file)?,
                OneFileAct::Open | OneFileAct::OpenOwn => file.open_and_close()?,
            }
            let now = clock.now();
            self.latencies.record(now - before);
            before = now;
        }
        Ok(before)
    }

    /// Everything that this client and the others did of an act, as far as this one did all of its own.
    fn is_whole(&self, act: OneFileAct) -> bool {
        let place = self.one.acts.iter().position(|of| *of == act);
        place.is_some_and(|place| self.done[place] == self.one.operations)
    }

    /// What another client appended is there, each record once, whole and in its order; and nobody's count is lost. Answers
    /// the bytes that were compared.
    fn look_at(&self, place: &OpenTarget, other: OtherClient) -> Result<u64, EngineError> {
        let (path, directory) = place.directory().ok_or_else(no_directory)?;
        let path = path.join(TOP);
        let top = beneath::open_folder(directory, TOP).map_err(|errno| EngineError::file("open", &path, errno))?;
        let mut compared = 0;
        if self.is_whole(OneFileAct::Append) {
            compared += self.look_at_records(Acted::open(top_of(&top), &path, APPENDED, OFlags::RDONLY)?, other)?;
        }
        if self.is_whole(OneFileAct::Lock) {
            let locked = Acted::open(top_of(&top), &path, LOCKED, OFlags::RDONLY)?;
            let (found, expected) = (locked.counted()?, self.one.operations * u64::from(self.clients.of.max(1)));
            if found != expected {
                return Err(EngineError::Unsuitable(format!(
                    "{}: {expected} were counted under the lock and {found} are there; locks of this filesystem do not keep \
                     clients apart as it is mounted, so leave act lock out, or mount it with locks that all nodes see",
                    model::text::escaped_path(&locked.path)
                )));
            }
            compared += COUNTER_BYTES as u64;
        }
        Ok(compared)
    }

    fn look_at_records(&self, appended: Acted, other: OtherClient) -> Result<u64, EngineError> {
        let size = self.one.record.get();
        let path = appended.path.clone();
        let wrong = |what: String| {
            EngineError::Unsuitable(format!(
                "{}: {what}; this filesystem does not keep apart what several clients append at once (O_APPEND), so leave act \
                 append out, or let one client append",
                model::text::escaped_path(&path)
            ))
        };
        let read =
            |error: std::io::Error| EngineError::file("read", &path, Errno::from_io_error(&error).unwrap_or(Errno::IO));
        let mut file = File::from(appended.file);
        let expected = self.one.operations * u64::from(self.clients.of.max(1));
        let length = file.metadata().map_err(read)?.len();
        if length != expected * size {
            return Err(wrong(format!("it has {length} bytes where {expected} records of {size} were appended")));
        }
        // Of a long file each client reads another part.
        let most = (MOST_READ / size).max(1).min(expected);
        let first = (expected - most) / u64::from(self.clients.of.max(2) - 1) * u64::from(self.clients.number);
        file.seek(SeekFrom::Start(first * size)).map_err(read)?;
        let mut theirs = Records::new(&self.one, other.seed, other.number);
        let (mut record, mut follows, mut compared) = (vec![0; size as usize], None, 0);
        for at in first..first + most {
            heed(&self.stop)?;
            file.read_exact(&mut record).map_err(read)?;
            let (number, client) = head(&record);
            let is_known = client < u64::from(self.clients.of.max(1)) && number < self.one.operations;
            if !is_known {
                return Err(wrong(format!("record {at} is nobody's")));
            }
            if client != u64::from(other.number) {
                continue;
            }
            let due = follows.unwrap_or(if first == 0 { 0 } else { number });
            if number != due {
                return Err(wrong(format!(
                    "record {due} of rank {} is not where it should be, {number} is",
                    other.rank
                )));
            }
            if record != theirs.next(number) {
                return Err(wrong(format!("record {number} of rank {} is not what was appended", other.rank)));
            }
            (follows, compared) = (Some(number + 1), compared + size);
        }
        match follows {
            Some(all) if most == expected && all != self.one.operations => {
                Err(wrong(format!("{all} of {} records of rank {} are there", self.one.operations, other.rank)))
            }
            None if most == expected => Err(wrong(format!("no record of rank {} is there", other.rank))),
            _ => Ok(compared),
        }
    }
}

impl Work for OneFileWork {
    fn phase(
        &mut self,
        place: &OpenTarget,
        group: &str,
        part: Part,
        observer: &mut dyn Observer,
    ) -> Result<Window, EngineError> {
        let Some((at, act)) = self.one.acts.iter().copied().enumerate().find(|(_, act)| act.group() == group) else {
            return Err(EngineError::Unsuitable(format!(
                "this work has no act {}; it has {}",
                model::text::escaped(group.as_bytes()),
                model::kinds::WorkloadKind::groups(&self.one).join(", ")
            )));
        };
        if part.index >= part.of {
            let what = format!("{group} has no part {} of {}: parts are counted from 0", part.index, part.of);
            return Err(EngineError::Unsuitable(what));
        }
        let (path, directory) = place.directory().ok_or_else(no_directory)?;
        let path = path.join(TOP);
        let top = beneath::open_folder(directory, TOP).map_err(|errno| EngineError::file("open", &path, errno))?;
        let own = own_name(self.clients.number);
        let (name, flags) = match act {
            OneFileAct::Append => (APPENDED, OFlags::WRONLY | OFlags::APPEND),
            OneFileAct::Lock => (LOCKED, OFlags::RDWR),
            OneFileAct::Open => (OPENED, OFlags::PATH),
            OneFileAct::OpenOwn => (own.as_str(), OFlags::PATH),
        };
        let file = Acted::open(top_of(&top), &path, name, flags)?;
        let numbers = part.range(self.one.operations);
        let operations = numbers.end - numbers.start;
        self.latencies.clear();
        observer.window_opens();
        let begun = Clock::get().now();
        let mut ended = self.repeat(act, numbers, &file)?;
        let done = ended;
        if act == OneFileAct::Append {
            // What it leaves to be written would be written beside the next lane's part.
            place.sync()?;
            ended = Clock::get().now();
        }
        observer.window_closes();
        self.done[at] += operations;
        let bytes = if act == OneFileAct::Append { operations * self.one.record.get() } else { 0 };
        self.written_bytes += bytes;
        drop(file);
        if act == OneFileAct::Lock {
            place.sync()?;
        }
        let is_left = matches!(act, OneFileAct::Append | OneFileAct::Lock);
        if is_left && self.clients.is_alone() && part.index + 1 == part.of {
            let itself =
                OtherClient { number: self.clients.number, rank: self.clients.number, seed: self.records.seed };
            self.look_at(place, itself)?;
        }
        Ok(Window {
            group: group.to_owned(),
            primary_metric: OPERATIONS_PER_SECOND,
            operations,
            bytes,
            seconds: seconds(ended - begun),
            sync_seconds: seconds(ended - done),
            latencies: self.latencies.clone(),
            ..Window::default()
        })
    }

    fn check_other(&mut self, place: &OpenTarget, other: OtherClient) -> Result<u64, EngineError> {
        self.look_at(place, other)
    }

    /// Nothing is held open between parts.
    fn release(&mut self) {}

    fn written_bytes(&self) -> u64 {
        self.written_bytes
    }
}

/// What one client appends: whose it is, which, and bytes of a pool that its seed makes.
struct Records {
    seed: u64,
    client: u64,
    pool: Vec<u8>,
    record: Vec<u8>,
}

impl Records {
    fn new(one: &OneFile, seed: u64, client: u32) -> Self {
        let size = one.record.get() as usize;
        let mut pool = vec![0; POOL_BYTES + size];
        Xoshiro256PlusPlus::seed_from_u64(seed).fill_bytes(&mut pool);
        Records { seed, client: u64::from(client), pool, record: vec![0; size] }
    }

    /// The record of this number.
    #[inline]
    fn next(&mut self, number: u64) -> &[u8] {
        let size = self.record.len();
        let from = (number.wrapping_mul(size as u64) % POOL_BYTES as u64) as usize;
        self.record.copy_from_slice(&self.pool[from..from + size]);
        self.record[..8].copy_from_slice(&number.to_le_bytes());
        self.record[8..16].copy_from_slice(&self.client.to_le_bytes());
        &self.record
    }
}

/// Which record this is, and whose.
fn head(record: &[u8]) -> (u64, u64) {
    let word = |at: usize| u64::from_le_bytes(record[at..at + 8].try_into().unwrap_or_default());
    (word(0), word(8))
}

/// The file that an act works on.
struct Acted {
    top: OwnedFd,
    /// As the kernel takes it: nothing is made of it for each open.
    name: CString,
    path: PathBuf,
    file: OwnedFd,
}

impl Acted {
    fn open(top: Result<OwnedFd, Errno>, folder: &Path, name: &str, flags: OFlags) -> Result<Self, EngineError> {
        let path = folder.join(name);
        let name = CString::new(name).expect("names of this work have no zero");
        let opened = top.and_then(|top| {
            let file = openat(&top, name.as_c_str(), flags | OFlags::NOFOLLOW | OFlags::CLOEXEC, Mode::empty())?;
            Ok((top, file))
        });
        let (top, file) = opened.map_err(|errno| EngineError::file("open", &path, errno))?;
        Ok(Acted { top, name, path, file })
    }

    #[inline]
    fn open_and_close(&self) -> Result<(), EngineError> {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let opened = openat(&self.top, self.name.as_c_str(), flags, Mode::empty());
        opened.map(drop).map_err(|errno| EngineError::file("open", &self.path, errno))
    }

    /// The number in the locked range; 0: nobody has counted yet.
    fn counted(&self) -> Result<u64, EngineError> {
        let mut number = [0; COUNTER_BYTES];
        match pread(&self.file, &mut number[..], 0).map_err(|errno| EngineError::file("read", &self.path, errno))? {
            0 => Ok(0),
            COUNTER_BYTES => Ok(u64::from_le_bytes(number)),
            moved => Err(short("read", moved, COUNTER_BYTES, &self.path)),
        }
    }

    /// Locks the range, waiting for it, or unlocks it. The lock is the open file's (OFD): other clients in this process are kept
    /// out too.
    fn lock(&self, is_locked: bool) -> Result<(), EngineError> {
        let kind = if is_locked { libc::F_WRLCK } else { libc::F_UNLCK };
        let range = libc::flock {
            l_type: kind as libc::c_short,
            l_whence: libc::SEEK_SET as libc::c_short,
            l_start: 0,
            l_len: COUNTER_BYTES as libc::off_t,
            l_pid: 0,
        };
        let asked = rustix::io::retry_on_intr(|| {
            // SAFETY: the descriptor is open as long as `self` is, and the kernel only reads the structure, which outlives the call.
            match unsafe { libc::fcntl(self.file.as_raw_fd(), libc::F_OFD_SETLKW, &raw const range) } {
                0 => Ok(()),
                _ => Err(Errno::from_io_error(&std::io::Error::last_os_error()).unwrap_or(Errno::IO)),
            }
        });
        let Err(errno) = asked else { return Ok(()) };
        let error = EngineError::file(if is_locked { "lock" } else { "unlock" }, &self.path, errno);
        Err(match errno {
            // A filesystem that has no locks, or is mounted without them.
            Errno::OPNOTSUPP | Errno::NOSYS | Errno::NOLCK | Errno::INVAL => EngineError::Unsupported {
                what: error.to_string(),
                step: OneFileAct::Lock.group().to_owned(),
                errno: errno.raw_os_error(),
            },
            _ => error,
        })
    }
}

fn append(file: &Acted, record: &[u8]) -> Result<(), EngineError> {
    match write(&file.file, record).map_err(|errno| EngineError::file("append to", &file.path, errno))? {
        moved if moved == record.len() => Ok(()),
        moved => Err(short("append", moved, record.len(), &file.path)),
    }
}

/// Counts one further, alone.
fn count_up(file: &Acted) -> Result<(), EngineError> {
    file.lock(true)?;
    let counted = file.counted().and_then(|number| {
        match pwrite(&file.file, &number.wrapping_add(1).to_le_bytes(), 0)
            .map_err(|errno| EngineError::file("write", &file.path, errno))?
        {
            COUNTER_BYTES => Ok(()),
            moved => Err(short("write", moved, COUNTER_BYTES, &file.path)),
        }
    });
    // Others wait for it.
    counted.and(file.lock(false))
}

fn short(action: &'static str, moved: usize, bytes: usize, path: &Path) -> EngineError {
    EngineError::Short { action, moved: moved as u64, bytes: bytes as u64, offset: 0, path: path.to_owned() }
}

fn top_of(top: &OwnedFd) -> Result<OwnedFd, Errno> {
    rustix::io::fcntl_dupfd_cloexec(top, 0)
}

fn own_name(client: u32) -> String {
    format!("own{client:06}")
}

fn no_directory() -> EngineError {
    EngineError::Unsuitable("one file of all needs a filesystem; race a lane that has a directory".to_owned())
}
