//! Does the acts of a life below a folder: by descriptors, through the page cache, with real data.
//!
//! One thread plays all writers: it writes a chunk of each file that is under way in turn, so that their space is asked for
//! in turns too. That is what ages a filesystem, and the order is the same in every lane.

mod data;
mod repair;

use crate::beneath::open_folder;
use crate::error::AgingError;
use crate::life::{NAME_BYTES, Name, Operation, Place};
use data::{CHUNK_BYTES, Data};
use rustix::fs::{
    AtFlags, FileType, Mode, OFlags, fsync, ftruncate, mkdirat, openat, renameat, statat, syncfs, unlinkat,
};
use rustix::io::Errno;
use std::collections::HashSet;
use std::ffi::CStr;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::rc::Rc;

/// Folders that are kept open.
const OPEN_FOLDERS: usize = 256;
/// Levels of folders at most.
const MOST_LEVELS: usize = 64;
const NEW_FILE: OFlags =
    OFlags::WRONLY.union(OFlags::CREATE).union(OFlags::EXCL).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);
const OLD_FILE: OFlags = OFlags::WRONLY.union(OFlags::NOFOLLOW).union(OFlags::NONBLOCK).union(OFlags::CLOEXEC);

/// A file that is being written.
struct Pending {
    file: OwnedFd,
    /// Under which name, and in which folder.
    place: Place,
    /// The name that it takes when it is whole.
    becomes: Option<Name>,
    from: u64,
    left: u64,
    sync: bool,
    /// What is left where there is no room for it.
    without_room: WithoutRoom,
}

/// What becomes of a file for which there is no room.
#[derive(Clone, Copy, PartialEq, Eq)]
enum WithoutRoom {
    /// It goes.
    Removed,
    /// It gets its old size again.
    Cut { to: u64 },
    /// Nothing: it has its size.
    Kept,
}

/// No room for more, of the disk or of a quota.
fn is_full(errno: Errno) -> bool {
    matches!(errno, Errno::NOSPC | Errno::DQUOT)
}

/// Whoever does the acts.
pub(crate) struct Executor<'a> {
    root: BorrowedFd<'a>,
    /// The same, opened for syncs.
    opened: OwnedFd,
    writers: usize,
    /// Where each folder lies, by its number.
    places: Vec<Place>,
    open: Vec<Option<(u32, Rc<OwnedFd>)>>,
    pending: Vec<Pending>,
    data: Data,
    /// Numbers of the names of files that are not as the model has them, because there was no room.
    lost: HashSet<u32>,
    /// Acts for which there was no room.
    pub(crate) refused: u64,
    /// Acts on files that are missing for that reason.
    pub(crate) skipped: u64,
}

impl<'a> Executor<'a> {
    /// Acts below this folder; `begun`: how many there were before.
    ///
    /// # Errors
    /// Where the folder cannot be opened.
    pub(crate) fn new(root: BorrowedFd<'a>, writers: u32, seed: u64, begun: u64) -> Result<Self, AgingError> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let opened =
            openat(root, c".", flags, Mode::empty()).map_err(|errno| AgingError::system("open", ".", errno))?;
        Ok(Executor {
            root,
            opened,
            writers: writers.max(1) as usize,
            places: vec![Place { directory: 0, name: Name { serial: 0, length: 9 } }],
            open: (0..OPEN_FOLDERS).map(|_| None).collect(),
            pending: Vec::new(),
            data: Data::new(seed, begun),
            lost: HashSet::new(),
            refused: 0,
            skipped: 0,
        })
    }

    /// What a life did before is known: its folders, and what is missing.
    pub(crate) fn know(&mut self, places: impl Iterator<Item = Place>, lost: &[u32], refused: u64, skipped: u64) {
        self.places = places.collect();
        self.lost = lost.iter().copied().collect();
        (self.refused, self.skipped) = (refused, skipped);
    }

    /// Numbers of the names of files that are missing, in order.
    pub(crate) fn lost(&self) -> Vec<u32> {
        let mut lost: Vec<u32> = self.lost.iter().copied().collect();
        lost.sort_unstable();
        lost
    }

    /// A path as messages show it.
    fn path(&self, place: Place) -> String {
        let mut parts = vec![place.name.text()];
        let mut at = place.directory;
        while at != 0 && parts.len() < MOST_LEVELS {
            let Some(of) = self.places.get(at as usize) else { break };
            parts.push(of.name.text());
            at = of.directory;
        }
        parts.reverse();
        parts.join("/")
    }

    fn error(&self, act: &'static str, place: Place, errno: Errno) -> AgingError {
        AgingError::system(act, self.path(place), errno)
    }

    /// A folder by its number.
    fn folder(&mut self, number: u32) -> Result<Rc<OwnedFd>, Errno> {
        let slot = number as usize % OPEN_FOLDERS;
        if let Some((of, folder)) = &self.open[slot]
            && *of == number
        {
            return Ok(Rc::clone(folder));
        }
        let opened = if number == 0 {
            self.root.try_clone_to_owned().map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::IO))?
        } else {
            let place = *self.places.get(number as usize).ok_or(Errno::NOENT)?;
            let above = self.folder(place.directory)?;
            open_folder(above.as_fd(), place.name.write(&mut [0; NAME_BYTES]))?
        };
        let opened = Rc::new(opened);
        self.open[slot] = Some((number, Rc::clone(&opened)));
        Ok(opened)
    }

    /// Calls with the folder and the name of a place.
    fn at<T>(&mut self, place: Place, call: impl FnOnce(BorrowedFd, &CStr) -> Result<T, Errno>) -> Result<T, Errno> {
        let folder = self.folder(place.directory)?;
        call(folder.as_fd(), place.name.write(&mut [0; NAME_BYTES]))
    }

    /// No room, or what follows from that: what is missing is missing, and what could not be removed is in the way.
    fn is_for_space(&self, errno: Errno) -> bool {
        let follows = matches!(errno, Errno::NOENT | Errno::NOTEMPTY) && self.refused + self.skipped > 0;
        is_full(errno) || follows
    }

    /// Counts what there was no room for; other errors end the life.
    fn refuse(&mut self, act: &'static str, place: Place, errno: Errno) -> Result<(), AgingError> {
        match errno {
            _ if !self.is_for_space(errno) => return Err(self.error(act, place, errno)),
            errno if is_full(errno) => self.refused += 1,
            _ => self.skipped += 1,
        }
        Ok(())
    }

    /// Does an act, or begins it: files are written in turns with those that follow.
    ///
    /// # Errors
    /// What the system answers, but for want of space.
    pub(crate) fn apply(&mut self, act: &Operation) -> Result<(), AgingError> {
        match *act {
            Operation::MakeDirectory { number, place } => {
                debug_assert_eq!(number as usize, self.places.len());
                self.places.push(place);
                let made = self.at(place, |folder, name| mkdirat(folder, name, Mode::from_raw_mode(0o755)));
                made.or_else(|errno| self.refuse("make the folder", place, errno))
            }
            Operation::RemoveDirectory { number, place } => {
                self.open[number as usize % OPEN_FOLDERS] = None;
                let gone = self.at(place, |folder, name| unlinkat(folder, name, AtFlags::REMOVEDIR));
                gone.or_else(|errno| self.refuse("remove the folder", place, errno))
            }
            Operation::Create { place, bytes } => self.begin_new(place, place.name, bytes, false),
            Operation::Replace { place, temporary, bytes, sync } => {
                self.settle(place)?;
                self.begin_new(Place { name: temporary, ..place }, place.name, bytes, sync)
            }
            Operation::Append { place, from, bytes } => {
                self.begin_old(place, from, bytes, WithoutRoom::Cut { to: from })
            }
            Operation::Overwrite { place, from, bytes } => self.begin_old(place, from, bytes, WithoutRoom::Kept),
            Operation::Rename { place, to } => self.rename(place, to),
            Operation::Delete { place } => self.delete(place),
            Operation::Sync { place } => self.sync_file(place),
            Operation::EndOfCycle { .. } => self.sync_all(),
        }
    }

    /// Waits for a writer that has nothing to do.
    fn free_writer(&mut self) -> Result<(), AgingError> {
        while self.pending.len() >= self.writers {
            self.turn()?;
        }
        Ok(())
    }

    /// A new file; it becomes `name` when it is whole.
    fn begin_new(&mut self, place: Place, name: Name, bytes: u64, sync: bool) -> Result<(), AgingError> {
        self.free_writer()?;
        match self.at(place, |folder, name| openat(folder, name, NEW_FILE, Mode::from_raw_mode(0o644))) {
            Ok(file) => {
                let becomes = (name != place.name).then_some(name);
                let without_room = WithoutRoom::Removed;
                self.pending.push(Pending { file, place, becomes, from: 0, left: bytes, sync, without_room });
                Ok(())
            }
            Err(errno) => {
                self.refuse("make", place, errno)?;
                self.lost.insert(name.serial);
                Ok(())
            }
        }
    }

    /// A file that is there.
    fn begin_old(&mut self, place: Place, from: u64, bytes: u64, without_room: WithoutRoom) -> Result<(), AgingError> {
        self.settle(place)?;
        self.free_writer()?;
        if self.lost.contains(&place.name.serial) {
            self.skipped += 1;
            return Ok(());
        }
        match self.at(place, |folder, name| openat(folder, name, OLD_FILE, Mode::empty())) {
            Ok(file) => {
                self.pending.push(Pending { file, place, becomes: None, from, left: bytes, sync: false, without_room });
                Ok(())
            }
            Err(errno) => {
                self.refuse("open", place, errno)?;
                self.lost.insert(place.name.serial);
                Ok(())
            }
        }
    }

    /// One chunk of every file that is under way, in order.
    fn turn(&mut self) -> Result<(), AgingError> {
        let mut at = 0;
        while at < self.pending.len() {
            match self.write_chunk(at) {
                Ok(false) => at += 1,
                Ok(true) => self.complete(at)?,
                Err(errno) => self.give_up(at, errno)?,
            }
        }
        Ok(())
    }

    /// Writes a chunk; whether the file is whole.
    fn write_chunk(&mut self, at: usize) -> Result<bool, Errno> {
        let pending = &mut self.pending[at];
        if pending.left == 0 {
            return Ok(true);
        }
        let mut chunk = self.data.chunk(pending.left.min(CHUNK_BYTES as u64) as usize);
        while !chunk.is_empty() {
            match rustix::io::pwrite(&pending.file, chunk, pending.from) {
                // A device that takes nothing more, without an error.
                Ok(0) => return Err(Errno::NOSPC),
                Ok(written) => {
                    chunk = &chunk[written..];
                    pending.from += written as u64;
                    pending.left -= written as u64;
                }
                Err(Errno::INTR) => {}
                Err(errno) => return Err(errno),
            }
        }
        Ok(pending.left == 0)
    }

    /// A file is whole: it is synced where that was asked, and gets its name.
    fn complete(&mut self, at: usize) -> Result<(), AgingError> {
        let pending = &self.pending[at];
        if pending.sync
            && let Err(errno) = fsync(&pending.file)
        {
            return self.give_up(at, errno);
        }
        let (place, becomes) = (pending.place, pending.becomes);
        if let Some(name) = becomes {
            let mut buffer = [0; NAME_BYTES];
            let to = name.write(&mut buffer);
            if let Err(errno) = self.at(place, |folder, from| renameat(folder, from, folder, to)) {
                return self.give_up(at, errno);
            }
            self.lost.remove(&name.serial);
        }
        self.pending.remove(at);
        Ok(())
    }

    /// There is no room for a file, or another error ends the life.
    fn give_up(&mut self, at: usize, errno: Errno) -> Result<(), AgingError> {
        let Pending { file, place, becomes, without_room, .. } = self.pending.remove(at);
        self.refuse("write", place, errno)?;
        let undone = match without_room {
            WithoutRoom::Removed => self.at(place, |folder, name| unlinkat(folder, name, AtFlags::empty())),
            WithoutRoom::Cut { to } => ftruncate(&file, to),
            WithoutRoom::Kept => return Ok(()),
        };
        self.lost.insert(becomes.unwrap_or(place.name).serial);
        match undone {
            // Copy-on-write filesystems may want room for that too: then it stays, and is counted as different.
            Err(errno) if errno != Errno::NOENT && !is_full(errno) => {
                Err(self.error("undo half a write of", place, errno))
            }
            _ => Ok(()),
        }
    }

    /// What is under way with this file is done.
    fn settle(&mut self, place: Place) -> Result<(), AgingError> {
        let is_it = |pending: &Pending| {
            pending.place.directory == place.directory && pending.becomes.unwrap_or(pending.place.name) == place.name
        };
        while self.pending.iter().any(is_it) {
            self.turn()?;
        }
        Ok(())
    }

    fn rename(&mut self, place: Place, to: Place) -> Result<(), AgingError> {
        self.settle(place)?;
        let renamed = self.folder(to.directory).and_then(|target| {
            let mut buffer = [0; NAME_BYTES];
            let name = to.name.write(&mut buffer);
            self.at(place, |folder, from| renameat(folder, from, target.as_fd(), name))
        });
        if self.lost.remove(&place.name.serial) {
            self.lost.insert(to.name.serial);
        }
        let Err(errno) = renamed else { return Ok(()) };
        self.refuse("rename", place, errno)?;
        self.lost.insert(to.name.serial);
        // Nobody asks for the old name again: what has it would stay for ever.
        match self.at(place, |folder, name| unlinkat(folder, name, AtFlags::empty())) {
            Err(errno) if errno != Errno::NOENT && !is_full(errno) => Err(self.error("remove", place, errno)),
            _ => Ok(()),
        }
    }

    fn delete(&mut self, place: Place) -> Result<(), AgingError> {
        self.settle(place)?;
        let was_lost = self.lost.remove(&place.name.serial);
        match self.at(place, |folder, name| unlinkat(folder, name, AtFlags::empty())) {
            Err(Errno::NOENT) if was_lost => self.skipped += 1,
            Err(errno) => self.refuse("remove", place, errno)?,
            Ok(()) => {}
        }
        Ok(())
    }

    fn sync_file(&mut self, place: Place) -> Result<(), AgingError> {
        if let Some(pending) = self.pending.iter_mut().find(|pending| pending.place == place) {
            pending.sync = true;
            return Ok(());
        }
        if self.lost.contains(&place.name.serial) {
            self.skipped += 1;
            return Ok(());
        }
        let file = self.at(place, |folder, name| openat(folder, name, OLD_FILE, Mode::empty()));
        match file.and_then(|file| fsync(&file)) {
            Ok(()) => Ok(()),
            Err(errno) => self.refuse("sync", place, errno),
        }
    }

    /// All that is under way is done, and the filesystem is synced.
    ///
    /// # Errors
    /// As [`Executor::apply`].
    pub(crate) fn sync_all(&mut self) -> Result<(), AgingError> {
        self.write_rest()?;
        match syncfs(&self.opened) {
            Ok(()) => Ok(()),
            // Delayed allocation that found no room is told here.
            Err(errno) if is_full(errno) => {
                self.refused += 1;
                Ok(())
            }
            Err(errno) => Err(AgingError::system("sync the filesystem of", ".", errno)),
        }
    }

    /// All that is under way is written.
    ///
    /// # Errors
    /// As [`Executor::apply`].
    pub(crate) fn write_rest(&mut self) -> Result<(), AgingError> {
        while !self.pending.is_empty() {
            self.turn()?;
        }
        Ok(())
    }

    /// Opens a file to look at it; nothing where it is missing.
    pub(crate) fn open_to_look(&mut self, place: Place) -> Option<OwnedFd> {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        self.at(place, |folder, name| openat(folder, name, flags, Mode::empty())).ok()
    }

    /// Size of a regular file; nothing where it is missing or something else.
    fn size(&mut self, place: Place) -> Option<u64> {
        let stat = self.at(place, |folder, name| statat(folder, name, AtFlags::SYMLINK_NOFOLLOW)).ok()?;
        (FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile).then_some(stat.st_size as u64)
    }
}
