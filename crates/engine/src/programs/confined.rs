//! A program that a suite may start by itself starts no other: the kernel refuses it (Landlock, since Linux 5.13).
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
pub(super) struct Confined(OwnedFd);

impl Confined {
    /// For this program with these words; `None`: this kernel knows no Landlock, or one that would refuse to move files
    /// between folders (before Linux 5.19), or the program is a script of the system's, which starts others by its nature.
    pub(super) fn to(program: &Path, words: &[String]) -> Option<Confined> {
        let loader = loader(program)?;
        // SAFETY: with a null pointer, size 0 and this flag the call only answers a version.
        let version = unsafe {
            let none = std::ptr::null::<Ruleset>();
            libc::syscall(libc::SYS_landlock_create_ruleset, none, 0usize, CREATE_RULESET_VERSION)
        };
        if version < 2 {
            return None;
        }
        let ruleset = Ruleset { handled_access_fs: EXECUTE | REFER };
        // SAFETY: the call reads a structure of this size, and answers a descriptor or an error.
        let made =
            unsafe { libc::syscall(libc::SYS_landlock_create_ruleset, &raw const ruleset, size_of::<Ruleset>(), 0) };
        let made = i32::try_from(made).ok().filter(|made| *made >= 0)?;
        // SAFETY: it is new, open, and nobody else's.
        let confined = Confined(unsafe { OwnedFd::from_raw_fd(made) });
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
                super::find("git-upload-pack").iter().for_each(|path| confined.allow(path));
            }
        }
        Some(confined)
    }

    fn allow(&self, path: &Path) {
        self.permit(path, EXECUTE);
    }

    fn permit(&self, path: &Path, allowed_access: u64) {
        let Ok(parent) = open(path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty()) else { return };
        let beneath = Beneath { allowed_access, parent_fd: parent.as_raw_fd() };
        // SAFETY: both descriptors are open, and the call reads a structure of this kind. Where it is refused, less is
        // allowed.
        unsafe { libc::syscall(libc::SYS_landlock_add_rule, self.0.as_raw_fd(), PATH_BENEATH, &raw const beneath, 0) };
    }

    pub(super) fn descriptor(&self) -> i32 {
        self.0.as_raw_fd()
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
pub(super) fn put_on(ruleset: BorrowedFd<'_>) -> std::io::Result<()> {
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
        let found = loader(&super::super::find("ls").unwrap()).unwrap();
        assert!(found.iter().all(|loader| loader.is_absolute() && loader.exists()), "{found:?}");
        let script = tempfile::NamedTempFile::new().unwrap();
        for text in ["#!/bin/sh\nid\n", "\u{7f}ELF", ""] {
            std::fs::write(script.path(), text).unwrap();
            assert_eq!(loader(script.path()), None, "{text:?}");
        }
        // A table that leads nowhere.
        let mut head = std::fs::read(super::super::find("ls").unwrap()).unwrap();
        head[32..40].copy_from_slice(&u64::MAX.to_le_bytes());
        std::fs::write(script.path(), &head[..64]).unwrap();
        assert_eq!(loader(script.path()), None);
    }
}
