//! Where a program runs, whom it runs as, and what it sees.
//!
//! They run as [`unprivileged`] says, in namespaces of mounts and of processes: a folder of material lies below their own
//! there, and whatever they started is gone when they are, and when the agent is.

use super::cannot;
use crate::beneath::by_descriptor;
use crate::confined::{Confined, put_on};
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
const GIT_CONFIG: &str = "[safe]\n\tdirectory = *\n[core]\n\thooksPath = /dev/null\n\tfsmonitor = \
    false\n[init]\n\ttemplateDir =\n[gc]\n\tauto = 0\n\tautoDetach = false\n[maintenance]\n\tauto = false\n";
/// What stands above the settings of the repository itself, whose text a suite may have had made: whatever would have git
/// start something.
const GIT_OVERRIDES: [(&str, &str); 22] = [
    ("core.hooksPath", "/dev/null"),
    ("core.fsmonitor", "false"),
    ("core.untrackedCache", "false"),
    ("core.attributesFile", "/dev/null"),
    ("core.pager", "cat"),
    ("core.editor", "true"),
    ("core.askPass", "true"),
    ("core.sshCommand", "false"),
    ("core.gitProxy", ""),
    ("core.alternateRefsCommand", "true"),
    ("credential.helper", ""),
    ("diff.external", ""),
    ("gpg.program", "false"),
    ("commit.gpgSign", "false"),
    ("log.showSignature", "false"),
    ("submodule.recurse", "false"),
    ("protocol.allow", "never"),
    ("protocol.file.allow", "always"),
    ("gc.auto", "0"),
    ("gc.autoDetach", "false"),
    ("maintenance.auto", "false"),
    ("interactive.diffFilter", ""),
];

/// The environment that git is given beside [`GIT_CONFIG`]: who commits, and, but for what the user allowed, what keeps a
/// repository's own settings from starting something.
fn git_environment(settings: bool) -> impl Iterator<Item = (String, String)> {
    let fixed = [
        ("GIT_CONFIG_NOSYSTEM", "1"),
        ("GIT_ATTR_NOSYSTEM", "1"),
        ("GIT_TERMINAL_PROMPT", "0"),
        ("GIT_OPTIONAL_LOCKS", "1"),
        ("GIT_ALLOW_PROTOCOL", "file"),
        ("GIT_PAGER", "cat"),
        ("GIT_EDITOR", "true"),
        ("GIT_SEQUENCE_EDITOR", "true"),
        ("GIT_SSH_COMMAND", "false"),
        ("GIT_ASKPASS", "true"),
    ];
    let fixed = fixed.map(|(key, value)| (key.to_owned(), value.to_owned()));
    let count = ("GIT_CONFIG_COUNT".to_owned(), GIT_OVERRIDES.len().to_string());
    let above = GIT_OVERRIDES.iter().enumerate().flat_map(|(number, (key, value))| {
        [
            (format!("GIT_CONFIG_KEY_{number}"), (*key).to_owned()),
            (format!("GIT_CONFIG_VALUE_{number}"), (*value).to_owned()),
        ]
    });
    let who = ["AUTHOR", "COMMITTER"].into_iter().flat_map(|who| {
        let key = |what: &str| format!("GIT_{who}_{what}");
        [(key("NAME"), "Fairlane"), (key("EMAIL"), "fairlane@localhost"), (key("DATE"), "2026-01-01T00:00:00Z")]
            .map(|(key, value)| (key, value.to_owned()))
    });
    let held = fixed.into_iter().chain([count]).chain(above).filter(move |_| settings);
    held.chain(who)
}

/// Where a program runs, and as whom.
#[derive(Debug)]
pub(super) struct Sandbox {
    /// The folder in which it starts.
    folder: PathBuf,
    /// The same, open, where a suite's programs have written: a path could be another folder's by now.
    top: Option<OwnedFd>,
    /// A folder of material, open.
    material: Option<OwnedFd>,
    /// The program sees both in namespaces of its own.
    seated: bool,
    /// It runs as this one; `None`: as this process.
    user: Option<User>,
    /// Descriptors that it inherits; whoever made the sandbox keeps them open while it stands.
    kept: Vec<RawFd>,
    /// What git reads; it inherits this too.
    git: File,
    whose: Whose,
}

/// Whose program it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Whose {
    /// Fairlane's own.
    Ours,
    /// A suite's, which may start it by itself.
    Suites,
    /// A suite's, which the user allowed.
    Allowed,
}

impl Sandbox {
    /// For Fairlane's own commands, which make material: with this process's rights.
    ///
    /// # Errors
    /// Where no descriptor is left.
    pub(super) fn own(folder: &Path) -> Result<Sandbox, EngineError> {
        let git = git_config().map_err(|error| cannot("prepare", folder, &error))?;
        let folder = folder.to_owned();
        Ok(Sandbox {
            folder,
            top: None,
            material: None,
            seated: false,
            user: None,
            kept: Vec::new(),
            git,
            whose: Whose::Ours,
        })
    }

    /// For a suite's programs: without rights, in a folder of the lane, whose path is for messages. `material`: a folder
    /// that they see too.
    ///
    /// # Errors
    /// Where a folder cannot be opened.
    pub(super) fn of_suite(
        path: &Path,
        folder: &OwnedFd,
        material: Option<&Path>,
        kept: Vec<RawFd>,
    ) -> Result<Sandbox, EngineError> {
        let top = folder.try_clone().map_err(|error| cannot("open directory", path, &error))?;
        let directory = |path: &Path| {
            let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
            open(path, flags, Mode::empty()).map_err(|errno| EngineError::file("open directory", path, errno))
        };
        let seated = is_seated();
        let material = material.filter(|_| seated).map(directory).transpose()?;
        Ok(Sandbox { top: Some(top), material, seated, user: unprivileged(), kept, ..Sandbox::own(path)? })
    }

    /// Where it starts, unless [`Taking::take`] leads it there.
    pub(super) fn folder(&self) -> &Path {
        if self.top.is_some() { Path::new("/") } else { &self.folder }
    }

    /// For a program of a suite: one that it may start by itself starts nothing else.
    pub(super) fn for_suite(self, permitted: bool) -> Sandbox {
        Sandbox { whose: if permitted { Whose::Suites } else { Whose::Allowed }, ..self }
    }

    /// What may be executed here; `None`: anything.
    pub(super) fn confined(&self, program: &Path, words: &[String]) -> Option<Confined> {
        if self.whose == Whose::Suites { Confined::to(program, words) } else { None }
    }

    /// What the program's own folder is called for it.
    pub(super) fn home(&self) -> PathBuf {
        match self.seated {
            true => PathBuf::from(SEAT.to_string_lossy().into_owned()),
            false => self.folder.clone(),
        }
    }

    /// The environment that git is given.
    pub(super) fn git_environment(&self) -> impl Iterator<Item = (String, String)> {
        git_environment(self.whose != Whose::Allowed)
    }

    /// The file that git reads.
    pub(super) fn git_config(&self) -> String {
        by_descriptor(&self.git)
    }

    /// What is done between fork and exec. Everything that it holds stays open as long as the sandbox stands.
    pub(super) fn taking(&self, confined: Option<&Confined>) -> Taking {
        Taking {
            confined: confined.map(Confined::descriptor),
            parent: rustix::process::getpid(),
            top: self.top.as_ref().map(AsRawFd::as_raw_fd),
            material: self.material.as_ref().map(AsRawFd::as_raw_fd),
            seated: self.seated,
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

/// See [`Sandbox::taking`].
pub(super) struct Taking {
    /// What it may execute.
    confined: Option<RawFd>,
    parent: rustix::process::Pid,
    top: Option<RawFd>,
    material: Option<RawFd>,
    seated: bool,
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
        // SAFETY: both are open: the sandbox outlives the start of its program.
        let open = |number: RawFd| unsafe { BorrowedFd::borrow_raw(number) };
        match self.top.map(open) {
            Some(top) if self.seated => {
                show([Some((top, SEAT)), self.material.map(|of| (open(of), SEAT_OF_MATERIAL))], &self.lanes, true)?;
                rustix::process::chdir(SEAT)?;
                match fork_bare() {
                    -1 => return Err(std::io::Error::last_os_error()),
                    0 => {}
                    program => wait_for(program),
                }
            }
            Some(top) => rustix::process::fchdir(top)?,
            None => {}
        }
        become_user(self.user)?;
        // Now: neither a fork nor a change of user keeps the signal.
        die_with_the_parent()?;
        for &descriptor in &self.kept {
            // SAFETY: it is open, as above.
            let descriptor = unsafe { BorrowedFd::borrow_raw(descriptor) };
            rustix::io::fcntl_setfd(descriptor, rustix::io::FdFlags::empty())?;
        }
        match self.confined.map(open) {
            Some(ruleset) => put_on(ruleset),
            None => Ok(()),
        }
    }
}

/// A fork that is a system call and nothing else: this is a child of a process that may have had threads, and the C
/// library's own fork takes locks that one of them may have held.
fn fork_bare() -> libc::pid_t {
    // SAFETY: no flag but the signal, so that memory is copied and the child goes on from here on a stack of its own;
    // both sides make system calls alone until they start a program or end.
    unsafe { libc::syscall(libc::SYS_clone, libc::SIGCHLD, 0, 0, 0, 0) as libc::pid_t }
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
