//! Programs whose words come from strangers start no other and, for fio, write nothing outside the lane: the kernel
//! refuses it (Landlock, since Linux 5.13).
//!
//! What a program may be given is a list ([`model::programs::is_permitted`]); this holds where a word of it meant more than
//! the list knew. Where the kernel has no Landlock the list stands alone.

use rustix::fs::{Mode, OFlags, open};
use std::ffi::OsStr;
use std::fs::File;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

/// LANDLOCK_ACCESS_FS_EXECUTE, LANDLOCK_RULE_PATH_BENEATH and the structures of linux/landlock.h.
const EXECUTE: u64 = 1;
/// LANDLOCK_ACCESS_FS_REFER: a name from one folder to another. Every ruleset refuses it that does not allow it, and
/// before its version 2 (Linux 5.19) none can.
const REFER: u64 = 1 << 13;
/// What changes a file or a folder: WRITE_FILE, and from REMOVE_DIR (bit 4) to MAKE_SYM (bit 12).
const CHANGE: u64 = 1 << 1 | 0x1ff0;
/// MAKE_CHAR and MAKE_BLOCK: nobody's work makes devices.
const MAKE_DEVICES: u64 = 1 << 6 | 1 << 11;
/// Since version 3 (Linux 6.2).
const TRUNCATE: u64 = 1 << 14;
/// Where a program may put what nobody wants.
const NOWHERE: &str = "/dev/null";
const CREATE_RULESET_VERSION: u32 = 1;
const PATH_BENEATH: libc::c_int = 1;
/// The row of an executable that names its loader.
const PT_INTERP: u32 = 3;
#[repr(C)]
struct Ruleset {
    handled_access_fs: u64,
}
#[repr(C, packed)]
struct Beneath {
    allowed_access: u64,
    parent_fd: i32,
}

/// git starts parts of itself, which lie in such a folder beside its own or in one of these.
const BESIDE_GIT: [&str; 2] = ["lib/git-core", "libexec/git-core"];
const OF_GIT: [&str; 2] = ["/usr/lib/git-core", "/usr/libexec/git-core"];
/// git clones by a shell that starts git-upload-pack, also where the repository is a folder.
const SHELL: &str = "/bin/sh";

/// What a program may execute, ready to be put on.
#[derive(Debug)]
pub(crate) struct Confined(OwnedFd);

impl Confined {
    /// For this program with these words; `None`: this kernel knows no Landlock, or one that would refuse to move files
    /// between folders (before Linux 5.19), or the program is a script of the system's, which starts others by its nature.
    pub(crate) fn to(program: &Path, words: &[String]) -> Option<Confined> {
        let loader = loader(program)?;
        if version() < 2 {
            return None;
        }
        let confined = Confined::handling(EXECUTE | REFER)?;
        confined.permit(Path::new("/"), REFER);
        confined.allow(program);
        loader.iter().for_each(|loader| confined.allow(loader));
        if words.first().is_some_and(|name| name == "git") {
            let real = std::fs::canonicalize(program).unwrap_or_default();
            let prefix = real.parent().and_then(Path::parent).unwrap_or(Path::new("/usr"));
            BESIDE_GIT.iter().for_each(|folder| confined.allow(&prefix.join(folder)));
            OF_GIT.iter().for_each(|folder| confined.allow(Path::new(folder)));
            if words.iter().any(|word| word == "clone") {
                confined.allow(Path::new(SHELL));
                crate::programs::find("git-upload-pack").iter().for_each(|path| confined.allow(path));
            }
        }
        Some(confined)
    }

    /// For a program that executes itself alone, and changes nothing but what lies beneath this folder; `None`: as for
    /// [`Confined::to`].
    pub(crate) fn within(program: &Path, folder: BorrowedFd<'_>) -> Option<Confined> {
        let loader = loader(program)?;
        let version = version();
        if version < 2 {
            return None;
        }
        let truncate = if version >= 3 { TRUNCATE } else { 0 };
        let confined = Confined::handling(EXECUTE | REFER | CHANGE | truncate)?;
        confined.allow(program);
        loader.iter().for_each(|loader| confined.allow(loader));
        confined.permit(Path::new(NOWHERE), (1 << 1) | truncate);
        // Without this rule nothing in the lane could be written, which would look like the filesystem's doing.
        confined.permit_beneath(folder.as_raw_fd(), REFER | (CHANGE & !MAKE_DEVICES) | truncate).then_some(confined)
    }

    /// Nothing of this is allowed yet.
    fn handling(handled_access_fs: u64) -> Option<Confined> {
        let ruleset = Ruleset { handled_access_fs };
        // SAFETY: the call reads a structure of this size, and answers a descriptor or an error.
        let made =
            unsafe { libc::syscall(libc::SYS_landlock_create_ruleset, &raw const ruleset, size_of::<Ruleset>(), 0) };
        let made = i32::try_from(made).ok().filter(|made| *made >= 0)?;
        // SAFETY: it is new, open, and nobody else's.
        Some(Confined(unsafe { OwnedFd::from_raw_fd(made) }))
    }

    fn allow(&self, path: &Path) {
        self.permit(path, EXECUTE);
    }

    fn permit(&self, path: &Path, allowed_access: u64) {
        let Ok(parent) = open(path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty()) else { return };
        let _ = self.permit_beneath(parent.as_raw_fd(), allowed_access);
    }

    fn permit_beneath(&self, parent_fd: i32, allowed_access: u64) -> bool {
        let beneath = Beneath { allowed_access, parent_fd };
        // SAFETY: both descriptors are open, and the call reads a structure of this kind. Where it is refused, less is
        // allowed.
        let added = unsafe {
            libc::syscall(libc::SYS_landlock_add_rule, self.0.as_raw_fd(), PATH_BENEATH, &raw const beneath, 0)
        };
        added == 0
    }

    pub(crate) fn descriptor(&self) -> i32 {
        self.0.as_raw_fd()
    }
}

/// The version of the kernel's Landlock; below 1: it has none.
pub(crate) fn version() -> i64 {
    // SAFETY: with a null pointer, size 0 and this flag the call only answers a version.
    unsafe {
        let none = std::ptr::null::<Ruleset>();
        libc::syscall(libc::SYS_landlock_create_ruleset, none, 0usize, CREATE_RULESET_VERSION)
    }
}

/// What the kernel starts in front of a program, its loader; an empty list: it needs none. `None`: it is no program of
/// 64 bits with the least byte first (elf(5)).
fn loader(program: &Path) -> Option<Vec<PathBuf>> {
    let file = File::open(program).ok()?;
    let read = |at: u64, bytes: usize| {
        let mut room = vec![0; bytes];
        file.read_exact_at(&mut room, at).ok().map(|()| room)
    };
    let word = |from: &[u8], at: usize| Some(u64::from_le_bytes(from.get(at..at + 8)?.try_into().ok()?));
    let half = |from: &[u8], at: usize| Some(u16::from_le_bytes(from.get(at..at + 2)?.try_into().ok()?));
    let head = read(0, 64)?;
    if head[..6] != [0x7f, b'E', b'L', b'F', 2, 1] {
        return None;
    }
    let (table, size, count) = (word(&head, 32)?, half(&head, 54)?, half(&head, 56)?);
    for row in 0..u64::from(count) {
        let row = read(table.checked_add(row * u64::from(size))?, 56)?;
        if row[..4] == PT_INTERP.to_le_bytes() {
            let (from, bytes) = (word(&row, 8)?, word(&row, 32)?);
            let path = read(from, usize::try_from(bytes).ok().filter(|bytes| (2..=4096).contains(bytes))?)?;
            return Some(vec![PathBuf::from(OsStr::from_bytes(path.strip_suffix(b"\0")?))]);
        }
    }
    Some(Vec::new())
}

/// In a child before it starts its program: from here on it executes nothing else. Makes system calls alone.
pub(crate) fn put_on(ruleset: BorrowedFd<'_>) -> std::io::Result<()> {
    // SAFETY: both calls take numbers alone.
    unsafe {
        if libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0
            || libc::syscall(libc::SYS_landlock_restrict_self, ruleset.as_raw_fd(), 0) != 0
        {
            return Err(std::io::Error::last_os_error());
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_loader_of_a_program_is_found_and_a_script_has_none() {
        let found = loader(&crate::programs::find("ls").unwrap()).unwrap();
        assert!(found.iter().all(|loader| loader.is_absolute() && loader.exists()), "{found:?}");
        let script = tempfile::NamedTempFile::new().unwrap();
        for text in ["#!/bin/sh\nid\n", "\u{7f}ELF", ""] {
            std::fs::write(script.path(), text).unwrap();
            assert_eq!(loader(script.path()), None, "{text:?}");
        }
        // A table that leads nowhere.
        let mut head = std::fs::read(crate::programs::find("ls").unwrap()).unwrap();
        head[32..40].copy_from_slice(&u64::MAX.to_le_bytes());
        std::fs::write(script.path(), &head[..64]).unwrap();
        assert_eq!(loader(script.path()), None);
    }

    #[test]
    fn a_program_held_to_a_folder_changes_nothing_beside_it_and_starts_no_other() {
        use std::os::fd::AsFd;
        use std::os::unix::process::CommandExt;
        let top = tempfile::tempdir().unwrap();
        let (inside, outside) = (top.path().join("lane"), top.path().join("kept"));
        std::fs::create_dir(&inside).unwrap();
        std::fs::write(&outside, "data").unwrap();
        let folder = File::open(&inside).unwrap();
        let start = |name: &str, words: &[&str]| {
            let program = crate::programs::find(name).unwrap();
            let confined = Confined::within(&program, folder.as_fd())?;
            let ruleset = confined.descriptor();
            let mut command = std::process::Command::new(&program);
            command.args(words).current_dir(&inside).stderr(std::process::Stdio::null());
            // SAFETY: between fork and exec two system calls are made; the descriptor is open until they were.
            unsafe { command.pre_exec(move || put_on(BorrowedFd::borrow_raw(ruleset))) };
            Some(command.status().unwrap().success())
        };
        let Some(made) = start("mkdir", &["folder"]) else {
            eprintln!("a program held to a folder: skipped, because this kernel's Landlock is older than version 2");
            return;
        };
        assert!(made && inside.join("folder").is_dir());
        assert_eq!(start("cp", &["../kept", "folder/copy"]), Some(true), "what lies elsewhere may be read");
        assert_eq!(start("mv", &["folder/copy", "moved"]), Some(true));
        let link = inside.join("link");
        std::os::unix::fs::symlink(&outside, &link).unwrap();
        for words in [["moved", "../kept"], ["moved", "link"], ["moved", "../new"]] {
            assert_eq!(start("cp", &words), Some(false), "{words:?}");
        }
        assert_eq!(start("rm", &["../kept"]), Some(false));
        assert_eq!(start("env", &["touch", "started"]), Some(false), "another program");
        assert!(!inside.join("started").exists() && std::fs::read(&outside).unwrap() == b"data");
    }
}
