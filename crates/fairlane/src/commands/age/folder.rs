//! The folder of a life: made, known again, and removed, with the user's rights and through no link.

use super::failure;
use crate::failure::{Failure, Status};
use crate::owned;
use crate::owner::Owner;
use aging::beneath::{entries, open_folder, remove_tree};
use aging::state::{NAMES, State};
use aging::{AgingError, Life};
use lanes::filesystems::Home;
use model::lane::{Contestant, LaneSpec};
use rustix::fs::{AtFlags, FlockOperation, Mode, flock, fstat, fstatfs, fstatvfs, mkdirat, stat, statfs, unlinkat};
use rustix::io::Errno;
use std::ffi::CStr;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};

/// The folder in which everything lies.
const NAME: &CStr = c"fairlane-aged";

/// Where a life is to be lived.
pub struct Place {
    directory: PathBuf,
    parent: OwnedFd,
}

/// A folder of a life, held: no other `fairlane age` works in it.
pub struct Aged {
    /// The folder.
    pub folder: OwnedFd,
    /// What it tells of itself.
    pub state: State,
}

/// What a filesystem has.
pub struct Space {
    /// All of it, bytes.
    pub size_bytes: u64,
    /// What is used, bytes.
    pub used_bytes: u64,
    /// What this user may still take, bytes.
    pub free_bytes: u64,
    /// It is the machine's root.
    pub is_root: bool,
}

/// The filesystem of what is written as a lane; `None`: it is none, or a folder's.
fn filesystem_of_lane(typed: &Path) -> Option<&'static str> {
    match typed.to_str()?.parse::<LaneSpec>().ok()?.contestant {
        Contestant::Filesystem(name) => {
            lanes::filesystems::find(&name).filter(|row| row.home == Home::Block).map(|row| row.name)
        }
        _ => None,
    }
}

impl Place {
    /// Opens the folder that a life is to lie in.
    ///
    /// # Errors
    /// Where there is none, or the user may not go there.
    pub fn open(directory: &Path) -> Result<Place, Failure> {
        let parent = owned::as_owner(|| owned::open_by_no_process(directory, owned::FOLDER)).map_err(|error| {
            let shown = model::text::escaped_path(directory);
            let is_denied = error.kind() == io::ErrorKind::PermissionDenied;
            let status = if is_denied { Status::Missing } else { Status::Usage };
            let message = match filesystem_of_lane(directory).filter(|_| error.kind() == io::ErrorKind::NotFound) {
                Some(name) => format!(
                    "{shown} is a lane and no folder here; a race has it live before its rounds: fairlane race {name}+aged"
                ),
                None => format!("{shown}: {}; name a folder on the filesystem that is to age", owned::plain(&error)),
            };
            Failure { status, message }
        })?;
        Ok(Place { directory: directory.to_owned(), parent })
    }

    /// The folder's path, as it may be shown.
    pub fn shown(&self) -> String {
        model::text::escaped_path(&self.directory.join(NAME.to_string_lossy().as_ref()))
    }

    /// There is no life.
    pub fn nothing(&self, to: &str) -> Failure {
        Failure::usage(format!("{} is not there: nothing {to}; `fairlane age` makes it", self.shown()))
    }

    /// The life that is there already.
    ///
    /// # Errors
    /// Where something else has its name, or another process works in it.
    pub fn aged(&self) -> Result<Option<Aged>, Failure> {
        let refused =
            |what: &str| Err(Failure::usage(format!("{} {what}; remove it, or name another folder", self.shown())));
        let opened = owned::as_owner(|| Ok(open_folder(&self.parent, NAME)));
        let folder = match opened.map_err(|error| Failure::failed(owned::plain(&error)))? {
            Ok(folder) => folder,
            Err(Errno::NOENT) => return Ok(None),
            Err(Errno::LOOP | Errno::NOTDIR) => {
                return refused("is a link or a file, and no folder that `fairlane age` made");
            }
            Err(Errno::XDEV) => return refused("is a place where something is mounted"),
            Err(errno) => return Err(failure(AgingError::system("open", self.shown(), errno))),
        };
        let of = fstat(&folder).map_err(|errno| failure(AgingError::system("look at", self.shown(), errno)))?;
        if of.st_uid != Owner::current().uid() {
            return refused("belongs to another user");
        }
        lock(&folder, self)?;
        let read =
            owned::as_owner(|| Ok(State::read(&folder))).map_err(|error| Failure::failed(owned::plain(&error)))?;
        match read {
            Ok(Some(state)) => {
                state.profile.check().map_err(failure)?;
                Ok(Some(Aged { folder, state }))
            }
            Ok(None) => refused("was not made by `fairlane age`: it tells of no life"),
            Err(error) => Err(Failure::usage(format!("{}: {error}", self.shown()))),
        }
    }

    /// Makes the folder of a new life, which tells of itself from the beginning.
    ///
    /// # Errors
    /// Where the user may not write.
    pub fn make(&self, life: &Life) -> Result<Aged, Failure> {
        let cannot = |error: &io::Error| {
            let is_denied = error.kind() == io::ErrorKind::PermissionDenied;
            let status = if is_denied { Status::Missing } else { Status::Failed };
            let message =
                format!("cannot make {}: {}; name a folder that you may write in", self.shown(), owned::plain(error));
            Failure { status, message }
        };
        let made = owned::as_owner(|| {
            mkdirat(&self.parent, NAME, Mode::from_raw_mode(0o755))?;
            Ok(open_folder(&self.parent, NAME)?)
        });
        let folder = made.map_err(|error| cannot(&error))?;
        lock(&folder, self)?;
        let state = State::new(life);
        let written = owned::as_owner(|| Ok(state.write(folder.as_fd())));
        written.map_err(|error| cannot(&error))?.map_err(failure)?;
        Ok(Aged { folder, state })
    }

    /// Removes the folder; what tells of the life goes last, so that a removal that was killed can be done again.
    ///
    /// # Errors
    /// What the system answers.
    pub fn remove(&self, aged: &Aged) -> Result<(), Failure> {
        let removed = owned::as_owner(|| {
            for (name, _) in entries(&aged.folder)? {
                if !NAMES.contains(&name.as_c_str()) {
                    remove_tree(&aged.folder, &name)?;
                }
            }
            for name in NAMES {
                remove_tree(&aged.folder, name)?;
            }
            // Emptied by its descriptor: of whatever has its name by now only an empty folder goes.
            Ok(unlinkat(&self.parent, NAME, AtFlags::REMOVEDIR)?)
        });
        removed.map_err(|error| {
            let message =
                format!("cannot remove all of {}: {}; remove the rest by hand", self.shown(), owned::plain(&error));
            Failure::failed(message)
        })
    }

    /// What the filesystem has.
    ///
    /// # Errors
    /// What the system answers.
    pub fn space(&self) -> Result<Space, Failure> {
        let look = || {
            let of = fstatvfs(&self.parent)?;
            // Subvolumes of Btrfs have device numbers of their own: what looks like the root's disk is taken for it.
            let (root, here) = (statfs("/")?, fstatfs(&self.parent)?);
            let looks_alike = (root.f_type, root.f_blocks, root.f_bsize) == (here.f_type, here.f_blocks, here.f_bsize);
            let is_root = looks_alike || stat("/")?.st_dev == fstat(&self.parent)?.st_dev;
            Ok(Space {
                size_bytes: of.f_blocks * of.f_frsize,
                used_bytes: (of.f_blocks - of.f_bfree) * of.f_frsize,
                free_bytes: of.f_bavail * of.f_frsize,
                is_root,
            })
        };
        look().map_err(|errno| failure(AgingError::system("look at the filesystem of", self.shown(), errno)))
    }
}

/// One process works in a folder; the lock goes with it.
fn lock(folder: &OwnedFd, place: &Place) -> Result<(), Failure> {
    match flock(folder, FlockOperation::NonBlockingLockExclusive) {
        Err(Errno::WOULDBLOCK) => {
            Err(Failure::usage(format!("another `fairlane age` works in {}; wait for it", place.shown())))
        }
        // Some network filesystems lock nothing.
        _ => Ok(()),
    }
}
