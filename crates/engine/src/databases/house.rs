//! A server's folder in the lane, and the one way to it that an ordinary user has.
//!
//! The folders above a lane belong to root, and a server runs as somebody else. A server of root's therefore sees
//! its folder at [`SEAT`], in a mount namespace of its own, which is gone with it: a descriptor alone is not enough,
//! because MariaDB asks for the real path of its temporary tables, and crashes where it may not walk it. This
//! process, and servers that run as whoever called, reach the folder by its descriptor below /proc/self/fd. Both
//! paths are short: a socket's may have 107 bytes, and a lane may lie deeper than that.

use crate::error::EngineError;
use crate::target::Place;
use rustix::fs::{AtFlags, Gid, Mode, OFlags, Uid, chownat, mkdirat, openat};
use rustix::io::Errno;
use rustix::mount::{MountPropagationFlags, MoveMountFlags, OpenTreeFlags, mount_change, move_mount, open_tree};
use std::ffi::CStr;
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd, RawFd};

/// Name of the folder in the lane.
pub(super) const NAME: &str = "fairlane-database";

/// Where a server of root's sees its folder: one that every system has, and that no server needs.
pub(super) const SEAT: &CStr = c"/mnt";
/// Bit of CAP_SYS_ADMIN in a set of capabilities (capability.h).
const CAP_SYS_ADMIN: u32 = 21;

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

    /// A path in it for a server.
    pub(super) fn for_server(&self, name: &str) -> String {
        match seat() {
            Some(seat) => format!("{}/{name}", seat.to_string_lossy()),
            None => self.inside(name),
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

/// Where servers see their folder; `None`: only by the descriptor.
pub(super) fn seat() -> Option<&'static CStr> {
    let there = || std::path::Path::new("/mnt").is_dir();
    (unprivileged().is_some() && may_mount() && there()).then_some(SEAT)
}

/// Whether this process may mount: root of a container may not.
fn may_mount() -> bool {
    let text = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let set = text.lines().find_map(|line| line.strip_prefix("CapEff:"));
    let set = set.and_then(|set| u64::from_str_radix(set.trim(), 16).ok()).unwrap_or(0);
    set >> CAP_SYS_ADMIN & 1 == 1
}

/// In a child before it starts its program: a mount namespace of its own, with the folder at the seat. What others
/// unmount goes away here as well; nothing done here is seen by them. Makes system calls alone, allocates nothing.
pub(super) fn take_seat(directory: BorrowedFd, seat: &CStr) -> std::io::Result<()> {
    let flags = OpenTreeFlags::OPEN_TREE_CLONE | OpenTreeFlags::OPEN_TREE_CLOEXEC | OpenTreeFlags::AT_EMPTY_PATH;
    // Before the namespace: only mounts of the own one can be copied.
    let tree = open_tree(directory, c"", flags)?;
    // SAFETY: unshare takes flags alone; this process has one thread.
    if unsafe { libc::unshare(libc::CLONE_NEWNS) } != 0 {
        return Err(std::io::Error::last_os_error());
    }
    mount_change(c"/", MountPropagationFlags::DOWNSTREAM | MountPropagationFlags::REC)?;
    move_mount(&tree, c"", rustix::fs::CWD, seat, MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH)?;
    Ok(())
}

/// In a child before it starts its program: gives up root for good. Makes system calls alone.
pub(super) fn become_user(user: User) -> std::io::Result<()> {
    let done = |result: libc::c_int| if result == 0 { Ok(()) } else { Err(std::io::Error::last_os_error()) };
    // SAFETY: setgroups is given no groups; the others take numbers alone.
    unsafe {
        done(libc::setgroups(0, std::ptr::null()))?;
        done(libc::setgid(user.gid))?;
        done(libc::setuid(user.uid))
    }
}

pub(super) fn no_directory() -> EngineError {
    EngineError::Unsuitable("a database works in a directory; race a lane that has one".to_owned())
}
