//! Where a program runs, whom it runs as, and what it sees.
//!
//! Programs of a suite never have root's rights. Where Fairlane is root they run as whoever called sudo, otherwise as
//! nobody. The folders above a lane are root's: in a mount namespace of their own they see their folder at [`SEAT`],
//! and a folder of material below it. A process namespace beside it ends with them, so that whatever they started is
//! gone when they are, and when the agent is.

use super::cannot;
use crate::error::EngineError;
use rustix::fs::{MemfdFlags, Mode, OFlags, memfd_create, open};
use rustix::mount::{MountPropagationFlags, MoveMountFlags, OpenTreeFlags, mount_change, move_mount, open_tree};
use rustix::process::Signal;
use std::ffi::CStr;
use std::fs::File;
use std::io::Write;
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::path::{Path, PathBuf};

/// Where programs of root's see their folder: a folder that every system has, and that no program needs.
const SEAT: &CStr = c"/mnt";
/// Below it, a folder of material; there is such an empty folder in the lane.
pub(super) const MATERIAL_FOLDER: &str = ".material";
const SEAT_OF_MATERIAL: &CStr = c"/mnt/.material";
/// Bit of CAP_SYS_ADMIN in a set of capabilities (capability.h).
const CAP_SYS_ADMIN: u32 = 21;

/// What git reads in place of anybody's own settings: no hooks, no templates, nothing that goes on in the background,
/// and repositories may belong to somebody else, because the material is root's.
const GIT_CONFIG: &str = "[safe]\n\tdirectory = *\n[core]\n\thooksPath = /dev/null\n\tfsmonitor = false\n\
    [init]\n\ttemplateDir =\n[gc]\n\tauto = 0\n\tautoDetach = false\n[maintenance]\n\tauto = false\n";

/// Somebody.
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
    let number = |name: &str| std::env::var(name).ok()?.parse::<u32>().ok().filter(|number| *number != 0);
    let caller = number("SUDO_UID").zip(number("SUDO_GID")).map(|(uid, gid)| User { uid, gid });
    Some(caller.unwrap_or(User { uid: 65534, gid: 65534 }))
}

/// Whether this process may mount: root of a container may not.
fn may_mount() -> bool {
    let text = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let set = text.lines().find_map(|line| line.strip_prefix("CapEff:"));
    let set = set.and_then(|set| u64::from_str_radix(set.trim(), 16).ok()).unwrap_or(0);
    (set >> CAP_SYS_ADMIN) & 1 == 1
}

/// Where a program runs, and as whom.
#[derive(Debug)]
pub(super) struct Seat {
    /// The folder in which it starts.
    folder: PathBuf,
    /// The same, open, and a folder of material: the program sees both in namespaces of its own.
    shown: Option<(OwnedFd, Option<OwnedFd>)>,
    /// It runs as this one; `None`: as this process.
    user: Option<User>,
    /// Descriptors that it inherits; whoever made the seat keeps them open while it stands.
    kept: Vec<RawFd>,
    /// What git reads; it inherits this too.
    git: File,
}

impl Seat {
    /// For Fairlane's own commands, which make material: with this process's rights.
    ///
    /// # Errors
    /// Where no descriptor is left.
    pub(super) fn own(folder: &Path) -> Result<Seat, EngineError> {
        let git = git_config().map_err(|error| cannot("prepare", folder, &error))?;
        Ok(Seat { folder: folder.to_owned(), shown: None, user: None, kept: Vec::new(), git })
    }

    /// For a suite's programs: without rights, in a folder of the lane. `material`: a folder that they see too.
    ///
    /// # Errors
    /// Where a folder cannot be opened.
    pub(super) fn of_suite(folder: &Path, material: Option<&Path>, kept: Vec<RawFd>) -> Result<Seat, EngineError> {
        let user = unprivileged();
        let directory = |path: &Path| {
            let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
            open(path, flags, Mode::empty()).map_err(|errno| EngineError::file("open directory", path, errno))
        };
        let shown = match is_seated() {
            true => Some((directory(folder)?, material.map(directory).transpose()?)),
            false => None,
        };
        Ok(Seat { shown, user, kept, ..Seat::own(folder)? })
    }

    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    /// What the program's own folder is called for it.
    pub(super) fn home(&self) -> PathBuf {
        match self.shown {
            Some(_) => PathBuf::from(SEAT.to_string_lossy().into_owned()),
            None => self.folder.clone(),
        }
    }

    /// The file that git reads.
    pub(super) fn git_config(&self) -> String {
        super::inherited(&self.git)
    }

    /// What is done between fork and exec. Everything that it holds stays open as long as the seat stands.
    pub(super) fn taking(&self) -> Taking {
        Taking {
            parent: rustix::process::getpid(),
            shown: self
                .shown
                .as_ref()
                .map(|(top, material)| (top.as_raw_fd(), material.as_ref().map(AsRawFd::as_raw_fd))),
            user: self.user,
            kept: self.kept.iter().copied().chain([self.git.as_raw_fd()]).collect(),
        }
    }
}

/// Whether programs of a suite see their folder at the seat.
pub(super) fn is_seated() -> bool {
    unprivileged().is_some() && may_mount() && Path::new("/mnt").is_dir()
}

/// What a folder of material is called for programs of a suite.
pub(super) fn material_path(path: &Path) -> String {
    match is_seated() {
        true => SEAT_OF_MATERIAL.to_string_lossy().into_owned(),
        false => path.to_string_lossy().into_owned(),
    }
}

fn git_config() -> std::io::Result<File> {
    let mut file = File::from(memfd_create("fairlane-gitconfig", MemfdFlags::CLOEXEC)?);
    file.write_all(GIT_CONFIG.as_bytes())?;
    Ok(file)
}

/// See [`Seat::taking`].
pub(super) struct Taking {
    parent: rustix::process::Pid,
    shown: Option<(RawFd, Option<RawFd>)>,
    user: Option<User>,
    kept: Vec<RawFd>,
}

impl Taking {
    /// In a child before it starts its program. Makes system calls alone, allocates nothing.
    pub(super) fn take(&self) -> std::io::Result<()> {
        die_with_the_parent()?;
        if rustix::process::getppid() != Some(self.parent) {
            return Err(std::io::Error::from_raw_os_error(libc::ESRCH));
        }
        if let Some((top, material)) = self.shown {
            // SAFETY: both are open: the seat outlives the start of its program.
            unsafe { show(BorrowedFd::borrow_raw(top), material.map(|of| BorrowedFd::borrow_raw(of)))? };
            // SAFETY: this process has one thread; both sides go on with system calls alone.
            match unsafe { libc::fork() } {
                -1 => return Err(std::io::Error::last_os_error()),
                0 => {}
                program => wait_for(program),
            }
        }
        if let Some(user) = self.user {
            become_user(user)?;
        }
        // Now: neither a fork nor a change of user keeps the signal.
        die_with_the_parent()?;
        for &descriptor in &self.kept {
            // SAFETY: it is open, as above.
            let descriptor = unsafe { BorrowedFd::borrow_raw(descriptor) };
            rustix::io::fcntl_setfd(descriptor, rustix::io::FdFlags::empty())?;
        }
        Ok(())
    }
}

fn die_with_the_parent() -> std::io::Result<()> {
    Ok(rustix::process::set_parent_process_death_signal(Some(Signal::KILL))?)
}

/// Namespaces of its own: of mounts, with both folders at their seats, and of processes, of which the next child is the
/// first. What others unmount goes away here as well; nothing done here is seen by them.
///
/// # Safety
/// The process has one thread.
unsafe fn show(top: BorrowedFd, material: Option<BorrowedFd>) -> std::io::Result<()> {
    let flags = OpenTreeFlags::OPEN_TREE_CLONE | OpenTreeFlags::OPEN_TREE_CLOEXEC | OpenTreeFlags::AT_EMPTY_PATH;
    // Before the namespace: only mounts of the own one can be copied.
    let top = open_tree(top, c"", flags)?;
    let material = match material {
        Some(folder) => Some(open_tree(folder, c"", flags)?),
        None => None,
    };
    // SAFETY: unshare takes flags alone; the caller promises one thread.
    if unsafe { libc::unshare(libc::CLONE_NEWNS | libc::CLONE_NEWPID) } != 0 {
        return Err(std::io::Error::last_os_error());
    }
    mount_change(c"/", MountPropagationFlags::DOWNSTREAM | MountPropagationFlags::REC)?;
    move_mount(&top, c"", rustix::fs::CWD, SEAT, MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH)?;
    if let Some(material) = material {
        move_mount(&material, c"", rustix::fs::CWD, SEAT_OF_MATERIAL, MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH)?;
    }
    Ok(rustix::process::chdir(SEAT)?)
}

/// Between the agent and a program that is the first of its namespace: ends as the program does.
fn wait_for(program: libc::pid_t) -> ! {
    // SAFETY: closes descriptors that nothing of this process uses any more: whoever started us waits for the end of
    // one of them. The others are plain system calls on plain numbers; `_exit` runs no code of ours.
    unsafe {
        if libc::syscall(libc::SYS_close_range, 3, libc::c_uint::MAX, 0) != 0 {
            // Before Linux 5.9.
            for descriptor in 3..4096 {
                libc::close(descriptor);
            }
        }
        let mut status = 0;
        while libc::waitpid(program, &raw mut status, 0) == -1 {
            if *libc::__errno_location() != libc::EINTR {
                libc::_exit(125);
            }
        }
        if libc::WIFSIGNALED(status) {
            libc::_exit(128 + libc::WTERMSIG(status));
        }
        libc::_exit(libc::WEXITSTATUS(status))
    }
}

/// In a child before it starts its program: gives up root for good. Makes system calls alone.
fn become_user(user: User) -> std::io::Result<()> {
    let done = |result: libc::c_int| if result == 0 { Ok(()) } else { Err(std::io::Error::last_os_error()) };
    // SAFETY: setgroups is given no groups; the others take numbers alone.
    unsafe {
        done(libc::setgroups(0, std::ptr::null()))?;
        done(libc::setgid(user.gid))?;
        done(libc::setuid(user.uid))
    }
}
