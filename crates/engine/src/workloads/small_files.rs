//! Create, read cold, delete many small files.

use super::direct::spread;
use super::{Observer, OtherClient, Work, heed};
use crate::beneath;
use crate::buffers::{Buffers, Room};
use crate::clock::{Clock, seconds};
use crate::error::EngineError;
use crate::histogram::Latencies;
use crate::target::OpenTarget;
use crate::window::{OPERATIONS_PER_SECOND, Window};
use model::agent::Part;
use model::operations::Sharing;
use model::ranks::Clients;
use model::workload::SmallFiles;
use rustix::fs::{AtFlags, Mode, OFlags, mkdirat, openat, unlinkat};
use rustix::io::{read, write};
use std::ffi::CStr;
use std::ops::Range;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Files of another client that are read and compared, at most.
const MOST_COMPARED: usize = 16;
/// All files lie below this directory of the target.
const TOP: &str = "fairlane-files";

/// Many small files, prepared. Files are numbered; file n lies in directory n mod directories, and
/// every phase visits them in the order of their numbers.
pub struct SmallFilesWork {
    small: SmallFiles,
    seed: u64,
    /// Who share the directories.
    clients: Clients,
    buffers: Buffers,
    room: Room,
    latencies: Latencies,
    /// The directory [`TOP`], opened on first use.
    top: Option<OwnedFd>,
    stop: Arc<AtomicBool>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    Create,
    Read,
    Delete,
}

impl SmallFilesWork {
    /// Makes the empty directories, synced. What an interrupted race left there is removed, unless other clients share
    /// them.
    ///
    /// # Errors
    /// On a bare device, or where a call fails.
    pub fn prepare(
        place: &OpenTarget,
        small: &SmallFiles,
        (seed, clients): (u64, Clients),
        stop: Arc<AtomicBool>,
    ) -> Result<Self, EngineError> {
        small.check_clients(clients).map_err(EngineError::Unsuitable)?;
        let clients = if small.sharing == Sharing::Shared { clients } else { Clients::ALONE };
        match place {
            // `prepare` of all workloads refuses a library by the workload's name.
            OpenTarget::Null | OpenTarget::Library(_) => {}
            OpenTarget::Device { path, .. } => {
                return Err(EngineError::Unsuitable(format!(
                    "small files need a filesystem and {} is a bare device; name a directory",
                    model::text::escaped_path(path)
                )));
            }
            OpenTarget::Directory { path, directory } => {
                make_directories(path, directory, small.directories, clients, &stop)?;
                place.sync()?;
            }
        }
        let size = small.size.get();
        Ok(SmallFilesWork {
            // Memory comes in chunks of one byte at least; empty files write none of it.
            buffers: Buffers::for_writes(size.max(1), 1, seed)?,
            // One byte more than a file holds: a file that is too long shows without another call.
            room: Room::new(size as usize + 1)?,
            small: small.clone(),
            seed,
            clients,
            latencies: Latencies::new(),
            top: None,
            stop,
        })
    }

    fn directory_of(&self, number: u64) -> u64 {
        (u128::from(number) * u128::from(self.small.directories) / u128::from(self.small.files)) as u64
    }

    /// Does one operation on each of these files.
    fn visit_files(
        &mut self,
        phase: Phase,
        numbers: Range<u64>,
        top: Option<BorrowedFd<'_>>,
        path: &Path,
    ) -> Result<(), EngineError> {
        let mut name = Name::new();
        let mut before = Clock::get().now();
        for number in numbers {
            heed(&self.stop)?;
            // Directory after directory, so that every part of a phase has directories of its own:
            // the first part would otherwise warm them all for the others.
            // Those of a client who shares them are numbered behind those of the clients before it.
            let numbered = u64::from(self.clients.number) * self.small.files + number;
            name.set(self.directory_of(number), numbered);
            match phase {
                Phase::Create => self.create(top, &name, number, path)?,
                Phase::Read => self.read(top, &name, number, path)?,
                Phase::Delete => delete(top, &name, path)?,
            }
            let now = Clock::get().now();
            self.latencies.record(now - before);
            before = now;
        }
        Ok(())
    }

    fn create(
        &mut self,
        top: Option<BorrowedFd<'_>>,
        name: &Name,
        number: u64,
        path: &Path,
    ) -> Result<(), EngineError> {
        let chunk = self.buffers.take();
        self.buffers.renew(chunk);
        self.buffers.set_head(chunk, head(self.seed, number));
        let bytes = &self.buffers.bytes(chunk)[..self.small.size.get() as usize];
        if let Some(top) = top {
            let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
            let file = openat(top, name.as_c_str(), flags, Mode::from_raw_mode(0o644))
                .map_err(|errno| EngineError::file("create", name.path(path), errno))?;
            if !bytes.is_empty() {
                let moved = write(&file, bytes).map_err(|errno| EngineError::file("write", name.path(path), errno))?;
                if moved != bytes.len() {
                    let (moved, bytes) = (moved as u64, bytes.len() as u64);
                    return Err(EngineError::Short { action: "write", moved, bytes, offset: 0, path: name.path(path) });
                }
            }
        }
        self.buffers.give_back(chunk);
        Ok(())
    }

    fn read(&mut self, top: Option<BorrowedFd<'_>>, name: &Name, number: u64, path: &Path) -> Result<(), EngineError> {
        if top.is_none() {
            return Ok(());
        }
        self.read_whole(top, name, path)?;
        let checked = (self.small.size.get() as usize).min(8);
        if self.room[..checked] != head(self.seed, number).to_le_bytes()[..checked] {
            let what = "does not begin with what was written to it".to_owned();
            return Err(EngineError::Contents { path: name.path(path), what });
        }
        Ok(())
    }

    /// Reads a file into the room; it must be as long as all are.
    #[inline]
    fn read_whole(&mut self, top: Option<BorrowedFd<'_>>, name: &Name, path: &Path) -> Result<(), EngineError> {
        let Some(top) = top else { return Ok(()) };
        let file = openat(top, name.as_c_str(), OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())
            .map_err(|errno| EngineError::file("open", name.path(path), errno))?;
        let size = self.small.size.get() as usize;
        let mut filled = 0;
        // Usually one call: less than asked for, but the whole file, means its end.
        while filled < size.max(1) {
            let room = &mut self.room[filled..];
            match read(&file, room).map_err(|errno| EngineError::file("read", name.path(path), errno))? {
                0 => break,
                moved => filled += moved,
            }
        }
        if filled != size {
            let holds = if filled > size { "more than".to_owned() } else { format!("{filled} of") };
            let what = format!("holds {holds} the {size} bytes written to it");
            return Err(EngineError::Contents { path: name.path(path), what });
        }
        Ok(())
    }

    /// Reads some files of another client, whose data is made again from its seed in the order in which it made them.
    fn compare(&mut self, other: OtherClient, top: Option<BorrowedFd<'_>>, path: &Path) -> Result<u64, EngineError> {
        let size = self.small.size.get();
        let mut theirs = Buffers::for_writes(size.max(1), 1, other.seed)?;
        let before = if self.clients.is_alone() { 0 } else { u64::from(other.number) * self.small.files };
        let (mut made, mut name) = (0, Name::new());
        let mut compared = 0;
        for chosen in spread(self.small.files as usize, MOST_COMPARED) {
            heed(&self.stop)?;
            let mut chunk = theirs.take();
            while made < chosen {
                theirs.renew(chunk);
                theirs.give_back(chunk);
                chunk = theirs.take();
                made += 1;
            }
            let number = chosen as u64;
            theirs.renew(chunk);
            theirs.set_head(chunk, head(other.seed, number));
            name.set(self.directory_of(number), before + number);
            self.read_whole(top, &name, path)?;
            let expected = &theirs.bytes(chunk)[..size as usize];
            let differs = self.room.iter().zip(expected).position(|(found, expected)| found != expected);
            if let Some(at) = differs {
                let (found, expected, other) = (self.room[at], expected[at], other.rank);
                let what = format!("{found:#04x} instead of {expected:#04x}, which rank {other} wrote");
                return Err(EngineError::Corrupt { path: name.path(path), offset: at as u64, what });
            }
            theirs.give_back(chunk);
            made += 1;
            compared += size;
        }
        Ok(compared)
    }

    fn open_top(&mut self, place: &OpenTarget) -> Result<(), EngineError> {
        if let (None, Some((path, directory))) = (&self.top, place.directory()) {
            let top = beneath::open_folder(directory.as_fd(), TOP)
                .map_err(|errno| EngineError::file("open", path.join(TOP), errno))?;
            self.top = Some(top);
        }
        Ok(())
    }
}

impl Work for SmallFilesWork {
    fn phase(
        &mut self,
        place: &OpenTarget,
        group: &str,
        part: Part,
        observer: &mut dyn Observer,
    ) -> Result<Window, EngineError> {
        let (group, phase) = match group {
            "create" => ("create", Phase::Create),
            "read" => ("read", Phase::Read),
            "delete" => ("delete", Phase::Delete),
            other => {
                return Err(EngineError::Unsuitable(format!(
                    "small files have no phase named {}; choose create, read or delete",
                    model::text::escaped(other.as_bytes())
                )));
            }
        };
        if part.index >= part.of {
            return Err(EngineError::Unsuitable(format!(
                "{group} has no part {} of {}: parts are counted from 0",
                part.index, part.of
            )));
        }
        let numbers = part.range(self.small.files);
        let files = numbers.end - numbers.start;
        self.open_top(place)?;
        self.latencies.clear();
        // Taken out for the loop, so that it borrows nothing of self.
        let top = self.top.take();
        let path = place.directory().map(|(path, _)| path.join(TOP)).unwrap_or_default();
        observer.window_opens();
        let begun = Clock::get().now();
        let visited = self.visit_files(phase, numbers, top.as_ref().map(std::os::fd::AsFd::as_fd), &path);
        if visited.is_err() {
            self.buffers.free_all();
        }
        visited?;
        // Each part pays for what it leaves to be written, which would else be written beside the next lane's part; it is
        // charged beside the files, because the last part also removes the directories.
        let sync_seconds = match phase != Phase::Read {
            true => {
                let begun = Clock::get().now();
                // Directories that others are at work in stay.
                let is_last = part.index + 1 == part.of && self.clients.is_alone();
                if let (Phase::Delete, Some(top), true) = (phase, &top, is_last) {
                    remove_directories(top, self.small.directories, &path, &self.stop)?;
                }
                place.sync()?;
                seconds(Clock::get().now() - begun)
            }
            false => 0.0,
        };
        let elapsed = seconds(Clock::get().now() - begun);
        observer.window_closes();
        self.top = top;
        let bytes = if phase == Phase::Delete { 0 } else { files * self.small.size.get() };
        Ok(Window {
            group: group.to_owned(),
            primary_metric: OPERATIONS_PER_SECOND,
            operations: files,
            bytes,
            seconds: elapsed,
            sync_seconds,
            latencies: self.latencies.clone(),
            ..Window::default()
        })
    }

    fn check_other(&mut self, place: &OpenTarget, other: OtherClient) -> Result<u64, EngineError> {
        let Some((path, _)) = place.directory() else { return Ok(0) };
        let path = path.join(TOP);
        self.open_top(place)?;
        let top = self.top.take();
        let compared = self.compare(other, top.as_ref().map(AsFd::as_fd), &path);
        self.top = top;
        compared
    }

    fn release(&mut self) {
        self.top = None;
    }
}

fn delete(top: Option<BorrowedFd<'_>>, name: &Name, path: &Path) -> Result<(), EngineError> {
    let Some(top) = top else { return Ok(()) };
    unlinkat(top, name.as_c_str(), AtFlags::empty())
        .map_err(|errno| EngineError::file("remove", name.path(path), errno))
}

fn make_directories(
    path: &Path,
    directory: &OwnedFd,
    count: u64,
    clients: Clients,
    stop: &AtomicBool,
) -> Result<(), EngineError> {
    let top_path = path.join(TOP);
    let mode = Mode::from_raw_mode(0o755);
    let are_shared = !clients.is_alone();
    let top = if clients.is_alone() {
        beneath::make_anew(directory.as_fd(), TOP, mode, &top_path)?
    } else {
        beneath::made_by_any(mkdirat(directory, TOP, mode), are_shared)
            .and_then(|()| beneath::open_folder(directory.as_fd(), TOP))
            .map_err(|errno| EngineError::file("create directory", &top_path, errno))?
    };
    let mut name = Name::new();
    for number in 0..count {
        heed(stop)?;
        name.set_directory(number);
        beneath::made_by_any(mkdirat(&top, name.as_c_str(), mode), are_shared)
            .map_err(|errno| EngineError::file("create directory", name.path(&top_path), errno))?;
    }
    Ok(())
}

fn remove_directories(top: &OwnedFd, count: u64, path: &Path, stop: &AtomicBool) -> Result<(), EngineError> {
    let mut name = Name::new();
    for number in 0..count {
        heed(stop)?;
        name.set_directory(number);
        unlinkat(top, name.as_c_str(), AtFlags::REMOVEDIR)
            .map_err(|errno| EngineError::file("remove directory", name.path(path), errno))?;
    }
    Ok(())
}

/// The first 8 bytes of a file: they tell it from every other (SplitMix64's finaliser, Steele et
/// al. 2014, a bijection).
fn head(seed: u64, number: u64) -> u64 {
    let mut word = seed.wrapping_add((number + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ (word >> 31)
}

/// A path below [`TOP`] in a fixed buffer: `d000000007/f000000123`. Always the same length, and
/// nothing is allocated per file.
struct Name {
    bytes: [u8; 22],
}

impl Name {
    const DIGITS: usize = 9;
    const SLASH: usize = 1 + Self::DIGITS;

    fn new() -> Self {
        Name { bytes: *b"d000000000/f000000000\0" }
    }

    fn set(&mut self, directory: u64, file: u64) {
        self.bytes[Self::SLASH] = b'/';
        put_digits(&mut self.bytes[1..Self::SLASH], directory);
        put_digits(&mut self.bytes[Self::SLASH + 2..][..Self::DIGITS], file);
    }

    /// The directory alone: the string ends where the slash would stand.
    fn set_directory(&mut self, directory: u64) {
        put_digits(&mut self.bytes[1..Self::SLASH], directory);
        self.bytes[Self::SLASH] = 0;
    }

    fn as_c_str(&self) -> &CStr {
        CStr::from_bytes_until_nul(&self.bytes).expect("the last byte is always 0")
    }

    fn path(&self, top: &Path) -> PathBuf {
        top.join(self.as_c_str().to_string_lossy().as_ref())
    }
}

fn put_digits(room: &mut [u8], mut number: u64) {
    for digit in room.iter_mut().rev() {
        *digit = b'0' + (number % 10) as u8;
        number /= 10;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_have_equal_length_and_carry_both_numbers() {
        let mut name = Name::new();
        name.set(7, 123);
        assert_eq!(name.as_c_str().to_str(), Ok("d000000007/f000000123"));
        name.set_directory(42);
        assert_eq!(name.as_c_str().to_str(), Ok("d000000042"));
        name.set(999, 99_999_999);
        assert_eq!(name.as_c_str().to_str(), Ok("d000000999/f099999999"));
    }

    #[test]
    fn files_of_another_client_are_told_by_its_seed_and_a_change_is_found() -> Result<(), Box<dyn std::error::Error>> {
        for sharing in [Sharing::Private, Sharing::Shared] {
            let folder = tempfile::tempdir()?;
            let place = OpenTarget::open(&model::agent::Target::Directory(folder.path().to_owned()))?;
            let text = "files = 200\nsize = \"3901B\"\ndirectories = 3";
            let small = SmallFiles { sharing, ..toml::from_str(text)? };
            let of = |number: u32| Clients { number, reads: 1 - number, of: 2 };
            let mut writer = SmallFilesWork::prepare(&place, &small, (71, of(1)), Arc::default())?;
            for index in 0..3 {
                writer.phase(&place, "create", Part { index, of: 3 }, &mut ())?;
            }
            let elsewhere = tempfile::tempdir()?;
            let own = OpenTarget::open(&model::agent::Target::Directory(elsewhere.path().to_owned()))?;
            let own = if sharing == Sharing::Shared { &place } else { &own };
            let mut other = SmallFilesWork::prepare(own, &small, (70, of(0)), Arc::default())?;
            other.release();
            assert_eq!(other.check_other(&place, OtherClient { number: 1, rank: 5, seed: 71 })?, 16 * 3901);
            let wrong = other.check_other(&place, OtherClient { number: 1, rank: 5, seed: 72 });
            assert!(wrong.is_err_and(|error| error.to_string().contains("wrong data at offset")));
            let first = if sharing == Sharing::Shared { "f000000200" } else { "f000000000" };
            let path = folder.path().join(TOP).join("d000000000").join(first);
            let mut bytes = std::fs::read(&path)?;
            bytes[3000] ^= 1;
            std::fs::write(&path, &bytes)?;
            let asked = OtherClient { number: 1, rank: 5, seed: 71 };
            let said = other.check_other(&place, asked).map_err(|error| error.to_string());
            let values = format!("{:#04x} instead of {:#04x}", bytes[3000], bytes[3000] ^ 1);
            assert!(said.is_err_and(|said| said.contains(&format!("at offset 3000: {values}, which rank 5 wrote"))));
        }
        Ok(())
    }

    #[test]
    fn every_file_begins_with_another_word() {
        let words: std::collections::HashSet<u64> = (0..10_000).map(|number| head(3, number)).collect();
        assert_eq!(words.len(), 10_000);
        assert_ne!(head(3, 0), head(4, 0));
    }
}
