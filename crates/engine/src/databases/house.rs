//! A server's folder in the lane, and the one way to it that an ordinary user has.
//!
//! The folders above a lane belong to root, and a server runs as somebody else. It inherits the folder as an
//! open descriptor and reaches everything below /proc/self/fd, which leads past them. Such paths are short
//! too: a socket's may have 107 bytes, and a lane may lie deeper than that.

use crate::error::EngineError;
use crate::target::Place;
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

/// Whom a server runs as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct User {
    pub(super) uid: u32,
    pub(super) gid: u32,
}

/// Somebody without privileges: whoever called sudo, otherwise `nobody`. `None`: this process has none itself.
pub(super) fn unprivileged() -> Option<User> {
    if !rustix::process::geteuid().is_root() {
        return None;
    }
    let number = |name: &str| std::env::var(name).ok()?.parse::<u32>().ok();
    if let (Some(uid), Some(gid)) = (number("SUDO_UID"), number("SUDO_GID"))
        && uid != 0
        && gid != 0
        && let Some(user) = in_passwd(|of| of.uid == uid)
    {
        return Some(user);
    }
    // Servers ask who they are: the user must be known.
    Some(in_passwd(|of| of.uid == 65534).unwrap_or(User { uid: 65534, gid: 65534 }))
}

fn in_passwd(wanted: impl Fn(&User) -> bool) -> Option<User> {
    let text = std::fs::read_to_string("/etc/passwd").ok()?;
    let user = |line: &str| {
        let mut fields = line.split(':').skip(2);
        Some(User { uid: fields.next()?.parse().ok()?, gid: fields.next()?.parse().ok()? })
    };
    text.lines().filter_map(user).find(wanted)
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
