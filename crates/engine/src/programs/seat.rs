//! Where a program runs, whom it runs as, and what it sees.
//!
//! They run as [`unprivileged`] says, in namespaces of mounts and of processes: a folder of material lies below their own
//! there, and whatever they started is gone when they are, and when the agent is.

use super::cannot;
use crate::error::EngineError;
use crate::unprivileged::{SEAT, User, become_user, is_seated, lanes, show, unprivileged};
use rustix::fs::{MemfdFlags, Mode, OFlags, memfd_create, open};
use rustix::process::Signal;
use std::ffi::{CStr, CString};
use std::fs::File;
use std::io::Write;
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::path::{Path, PathBuf};

/// Below it, a folder of material; there is such an empty folder in the lane.
pub(super) const MATERIAL_FOLDER: &str = ".material";
const SEAT_OF_MATERIAL: &CStr = c"/mnt/.material";

/// What git reads in place of anybody's own settings: no hooks, no templates, nothing that goes on in the background,
/// and repositories may belong to somebody else, because the material is root's.
const GIT_CONFIG: &str = "[safe]\n\tdirectory = *\n[core]\n\thooksPath = /dev/null\n\tfsmonitor = false\n\
    [init]\n\ttemplateDir =\n[gc]\n\tauto = 0\n\tautoDetach = false\n[maintenance]\n\tauto = false\n";

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
            lanes: lanes(),
        }
    }
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
    lanes: Vec<CString>,
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
            let (top, material) =
                unsafe { (BorrowedFd::borrow_raw(top), material.map(|of| BorrowedFd::borrow_raw(of))) };
            show([Some((top, SEAT)), material.map(|of| (of, SEAT_OF_MATERIAL))], &self.lanes, true)?;
            rustix::process::chdir(SEAT)?;
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
