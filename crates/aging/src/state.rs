//! What a life keeps of itself in its folder, so that it can be stopped, killed, and gone on with.

use crate::Life;
use crate::error::AgingError;
use crate::lived::Lived;
use crate::profile::Profile;
use rustix::fs::{AtFlags, FileType, Mode, OFlags, fstat, fsync, openat, renameat, unlinkat};
use rustix::io::Errno;
use serde::{Deserialize, Serialize};
use std::ffi::CStr;
use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::{AsFd, BorrowedFd};

/// The file of the state, in the folder of the life.
pub const STATE: &CStr = c".fairlane-age.json";
/// Under this name it is written.
const DRAFT: &CStr = c".fairlane-age.new";
/// Names in the folder of a life that are not its own files.
pub const NAMES: [&CStr; 2] = [STATE, DRAFT];
/// What ext4 puts into its topmost folder.
pub const LOST_AND_FOUND: &CStr = c"lost+found";
/// Bytes of a state at most.
pub const MOST_BYTES: u64 = 64 << 20;
/// Cycles whose ends are kept; of a longer life the last ones.
const MOST_CYCLES: usize = 100_000;
/// Acts of a life at most: it is done again in the mind before it goes on.
const MOST_OPERATIONS: u64 = 10_000_000_000;
const VERSION: u32 = 1;

/// A life so far.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct State {
    /// Of this form.
    pub version: u32,
    /// [`Life::endless_key`].
    pub key: String,
    /// What it is made of.
    pub profile: Profile,
    /// Its seed.
    pub seed: u64,
    /// Its size, bytes.
    pub capacity_bytes: u64,
    /// Acts that are done and synced, but for those of a last filling.
    pub operations: u64,
    /// The last filling, where it has begun.
    pub last: Option<LastFilling>,
    /// What came of it so far.
    pub lived: Lived,
    /// It has ended, by what was asked then.
    pub ended: Option<Ending>,
    /// When each cycle ended, nanoseconds since 1970 by the clock that files' times have.
    pub cycle_ends_ns: Vec<u64>,
    /// Bytes that were planned when the last window began.
    pub window_began_bytes: u64,
    /// Numbers of the names of files for which there was no room.
    pub lost: Vec<u32>,
}

/// A last filling.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct LastFilling {
    /// The share of the size that it reaches.
    pub full: f64,
    /// Its acts that are done.
    pub operations: u64,
}

/// How a life that ended was asked to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Ending {
    /// [`Life::key`].
    pub key: String,
}

impl State {
    /// Of a life that begins.
    pub fn new(life: &Life) -> State {
        State {
            version: VERSION,
            key: life.endless_key(),
            profile: life.profile.clone(),
            seed: life.seed,
            capacity_bytes: life.capacity_bytes,
            operations: 0,
            last: None,
            lived: Lived::default(),
            ended: None,
            cycle_ends_ns: Vec::new(),
            window_began_bytes: 0,
            lost: Vec::new(),
        }
    }

    /// The state in a folder; `None`: there is none.
    ///
    /// # Errors
    /// [`AgingError::Another`] where it is no state, or of another version.
    pub fn read(folder: impl AsFd) -> Result<Option<State>, AgingError> {
        let folder = folder.as_fd();
        let name = STATE.to_string_lossy().into_owned();
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file = match openat(folder, STATE, flags, Mode::empty()) {
            Ok(file) => file,
            Err(Errno::NOENT) => return Ok(None),
            Err(errno) => return Err(AgingError::system("open", name, errno)),
        };
        let broken = |what: &str| {
            Err(AgingError::Another(format!("{name} {what}; remove the folder of this life, and begin anew")))
        };
        let stat = fstat(&file).map_err(|errno| AgingError::system("look at", name.as_str(), errno))?;
        if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile || stat.st_size as u64 > MOST_BYTES {
            return broken("is no state of a life");
        }
        let mut text = Vec::new();
        let read = File::from(file).take(MOST_BYTES).read_to_end(&mut text);
        if let Err(error) = read {
            let errno = Errno::from_io_error(&error).unwrap_or(Errno::IO);
            return Err(AgingError::system("read", name.as_str(), errno));
        }
        match serde_json::from_slice::<State>(&text) {
            Ok(state) if state.version == VERSION => match state.operations.saturating_add(state.last_operations()) {
                0..=MOST_OPERATIONS => Ok(Some(state)),
                _ => broken("tells of more acts than any life has"),
            },
            Ok(_) => broken("was written by another version of Fairlane"),
            Err(_) => broken("is no state of a life"),
        }
    }

    /// Writes it whole or not at all, and durably.
    ///
    /// # Errors
    /// What the system answers; a full disk leaves the state that was there.
    pub fn write(&self, folder: BorrowedFd) -> Result<(), AgingError> {
        let error = |errno| AgingError::system("write", STATE.to_string_lossy(), errno);
        match unlinkat(folder, DRAFT, AtFlags::empty()) {
            Ok(()) | Err(Errno::NOENT) => {}
            Err(errno) => return Err(error(errno)),
        }
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let mut file = File::from(openat(folder, DRAFT, flags, Mode::from_raw_mode(0o644)).map_err(error)?);
        let text = serde_json::to_vec(self).unwrap_or_default();
        let written = file.write_all(&text).map_err(|of| Errno::from_io_error(&of).unwrap_or(Errno::IO));
        let written = written.and_then(|()| fsync(&file)).and_then(|()| renameat(folder, DRAFT, folder, STATE));
        if written.is_err() {
            let _ = unlinkat(folder, DRAFT, AtFlags::empty());
        }
        written.map_err(error)
    }

    fn last_operations(&self) -> u64 {
        self.last.map_or(0, |last| last.operations)
    }

    /// A cycle has ended now.
    pub(crate) fn end_cycle(&mut self, now_ns: u64) {
        if self.cycle_ends_ns.len() < MOST_CYCLES {
            self.cycle_ends_ns.push(now_ns);
        }
    }
}
