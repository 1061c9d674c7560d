//! A server's folder in the lane, and the one way to it that an ordinary user has.
//!
//! The folders above a lane belong to root, and a server runs as somebody else. A server of root's therefore sees
//! its folder at [`SEAT`], in a mount namespace of its own, which is gone with it: a descriptor alone is not enough,
//! because MariaDB asks for the real path of its temporary tables, and crashes where it may not walk it. This
//! process, and servers that run as whoever called, reach the folder by its descriptor below /proc/self/fd. Both
//! paths are short: a socket's may have 107 bytes, and a lane may lie deeper than that.

use crate::error::EngineError;
use crate::target::Place;
use crate::unprivileged::{SEAT, User, is_seated};
use rustix::fs::{AtFlags, Gid, Mode, OFlags, Uid, chownat, mkdirat, openat};
use rustix::io::Errno;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};

/// Name of the folder in the lane.
pub(super) const NAME: &str = "fairlane-database";

/// The folder, open.
#[derive(Debug)]
pub(super) struct House {
    directory: OwnedFd,
}

impl House {
    /// Makes an empty one; what a race that was cut short left there is removed.
    ///
    /// # Errors
    /// Where there is no directory, or a call fails.
    pub(super) fn build(place: &Place, user: Option<User>) -> Result<House, EngineError> {
        let (path, directory) = place.directory().ok_or_else(no_directory)?;
        let own = path.join(NAME);
        match std::fs::remove_dir_all(&own) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(EngineError::file("remove", own, Errno::from_io_error(&error).unwrap_or(Errno::IO)));
            }
            _ => {}
        }
        let cannot = |action, errno| EngineError::file(action, &own, errno);
        let make = |name: &str| {
            mkdirat(directory, name, Mode::RWXU).map_err(|errno| cannot("create directory", errno))?;
            let Some(User { uid, gid }) = user else { return Ok(()) };
            chownat(directory, name, Some(Uid::from_raw(uid)), Some(Gid::from_raw(gid)), AtFlags::empty())
                .map_err(|errno| cannot("change the owner of", errno))
        };
        make(NAME)?;
        make(&format!("{NAME}/data"))?;
        make(&format!("{NAME}/tmp"))?;
        House::open(place)
    }

    /// Opens the one that is there.
    ///
    /// # Errors
    /// Where there is none.
    pub(super) fn open(place: &Place) -> Result<House, EngineError> {
        let (path, directory) = place.directory().ok_or_else(no_directory)?;
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let directory = openat(directory, NAME, flags, Mode::empty())
            .map_err(|errno| EngineError::file("open directory", path.join(NAME), errno))?;
        Ok(House { directory })
    }

    /// A path in it for a server.
    pub(super) fn for_server(&self, name: &str) -> String {
        match is_seated() {
            true => format!("{}/{name}", SEAT.to_string_lossy()),
            false => self.inside(name),
        }
    }

    /// A path in it, for this process and for those that inherit the descriptor.
    pub(super) fn inside(&self, name: &str) -> String {
        format!("/proc/self/fd/{}/{name}", self.directory.as_raw_fd())
    }

    /// The descriptor that a server inherits.
    pub(super) fn descriptor(&self) -> RawFd {
        self.directory.as_raw_fd()
    }
}

pub(super) fn no_directory() -> EngineError {
    EngineError::Unsuitable("a database works in a directory; race a lane that has one".to_owned())
}
