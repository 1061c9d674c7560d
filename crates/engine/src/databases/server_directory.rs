//! A server's folder in the lane, and the one way to it that an ordinary user has.
//!
//! The folders above a lane belong to root, and a server runs as somebody else. A server of root's therefore sees
//! its folder at [`SEAT`], in a mount namespace of its own, which is gone with it: a descriptor alone is not enough,
//! because MariaDB asks for the real path of its temporary tables, and crashes where it may not walk it. This
//! process, and servers that run as whoever called, reach the folder by its descriptor below /proc/self/fd. Both
//! paths are short: a socket's may have 107 bytes, and a lane may lie deeper than that.

use crate::beneath;
use crate::error::EngineError;
use crate::target::OpenTarget;
use crate::unprivileged::{SEAT, User, is_seated};
use rustix::fs::{FileType, Gid, Mode, OFlags, Uid, fchown, fstat};
use rustix::io::Errno;
use std::os::fd::{AsFd, AsRawFd, OwnedFd, RawFd};
use std::path::Path;

/// Name of the folder in the lane.
pub(super) const NAME: &str = "fairlane-database";

/// The folder, open.
#[derive(Debug)]
pub(super) struct ServerDirectory {
    directory: OwnedFd,
}

impl ServerDirectory {
    /// Makes an empty one; what a race that was cut short left there is removed.
    ///
    /// # Errors
    /// Where there is no directory, or a call fails.
    pub(super) fn build(place: &OpenTarget, user: Option<User>) -> Result<ServerDirectory, EngineError> {
        let (path, directory) = place.directory().ok_or_else(no_directory)?;
        let own = path.join(NAME);
        let cannot = |action, errno| EngineError::file(action, &own, errno);
        beneath::remove_tree(directory, NAME).map_err(|errno| cannot("remove", errno))?;
        let directory = beneath::make_folder(directory, NAME, Mode::RWXU, None)
            .map_err(|errno| cannot("create directory", errno))?;
        for name in ["data", "tmp"] {
            beneath::make_folder(directory.as_fd(), name, Mode::RWXU, user)
                .map_err(|errno| cannot("create directory", errno))?;
        }
        if let Some(User { uid, gid }) = user {
            // Last: from here on its new owner may put links there.
            fchown(&directory, Some(Uid::from_raw(uid)), Some(Gid::from_raw(gid)))
                .map_err(|errno| cannot("change the owner of", errno))?;
        }
        Ok(ServerDirectory { directory })
    }

    /// Opens the one that is there.
    ///
    /// # Errors
    /// Where there is none.
    pub(super) fn open(place: &OpenTarget) -> Result<ServerDirectory, EngineError> {
        let (path, directory) = place.directory().ok_or_else(no_directory)?;
        let directory = beneath::open_folder(directory, NAME)
            .map_err(|errno| EngineError::file("open directory", path.join(NAME), errno))?;
        Ok(ServerDirectory { directory })
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
        format!("{}/{name}", beneath::by_descriptor(&self.directory))
    }

    /// The server's socket of this name: no link to another's, and nothing else.
    ///
    /// # Errors
    /// `ENOENT` where it is not there yet, `ENOTSOCK` where it is something else.
    pub(super) fn socket(&self, name: &str) -> Result<OwnedFd, Errno> {
        let socket = beneath::open_beneath(self.directory.as_fd(), Path::new(name), OFlags::PATH)?;
        match FileType::from_raw_mode(fstat(&socket)?.st_mode) {
            FileType::Socket => Ok(socket),
            _ => Err(Errno::NOTSOCK),
        }
    }

    /// The descriptor that a server inherits.
    pub(super) fn descriptor(&self) -> RawFd {
        self.directory.as_raw_fd()
    }
}

pub(super) fn no_directory() -> EngineError {
    EngineError::Unsuitable("a database works in a directory; race a lane that has one".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::agent::Target;
    use std::os::unix::net::UnixListener;

    #[test]
    fn only_a_socket_that_lies_in_the_house_is_connected_to() {
        let folder = tempfile::tempdir().unwrap();
        let place = OpenTarget::open(&Target::Directory(folder.path().to_owned())).unwrap();
        let directory = ServerDirectory::build(&place, None).unwrap();
        let inside = |name: &str| folder.path().join(NAME).join(name);
        let others = UnixListener::bind(folder.path().join("others")).unwrap();
        let _own = UnixListener::bind(inside("own")).unwrap();
        std::os::unix::fs::symlink(folder.path().join("others"), inside("socket")).unwrap();
        std::fs::write(inside("file"), "").unwrap();
        for (name, refused) in [("socket", Errno::LOOP), ("file", Errno::NOTSOCK), ("none", Errno::NOENT)] {
            assert_eq!(directory.socket(name).map(|_| ()), Err(refused), "{name}");
        }
        let own = directory.socket("own").unwrap();
        std::os::unix::net::UnixStream::connect(beneath::by_descriptor(&own)).unwrap();
        drop(others);
    }
}
