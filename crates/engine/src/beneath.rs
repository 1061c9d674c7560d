//! The way to what lies in a folder where others write: by descriptors, never out of it, and through no link.
//!
//! Fairlane is often root. A suite's programs and database servers are somebody without privileges, but what they leave
//! in their folder may be a link: followed by root, it would lead to files that they cannot reach themselves.

use crate::error::EngineError;
use crate::unprivileged::User;
use rustix::fs::{
    AtFlags, FileType, Gid, Mode, OFlags, ResolveFlags, Uid, fchown, fcntl_setfl, fstat, mkdirat, openat, openat2,
    unlinkat,
};
use rustix::io::Errno;
use std::ffi::OsStr;
use std::fs::File;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::path::{Component, Path};

/// How often a lookup that something else disturbed is tried again.
const TRIES: u32 = 8;
/// A folder, opened to look below it.
const FOLDER: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// Opens what this relative path names below the folder: through no link, and on the folder's own mount.
///
/// # Errors
/// `ELOOP` where a part of the path is a link, `EXDEV` where it leads out of the folder or into another mount.
pub(crate) fn open_beneath(folder: BorrowedFd<'_>, path: &Path, flags: OFlags) -> Result<OwnedFd, Errno> {
    // Not O_NOFOLLOW, with which O_PATH would answer the link itself.
    let flags = flags | OFlags::CLOEXEC;
    let within =
        ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS | ResolveFlags::NO_XDEV;
    for _ in 0..TRIES {
        match openat2(folder, path, flags, Mode::empty(), within) {
            // Something was renamed at this moment.
            Err(Errno::AGAIN | Errno::INTR) => {}
            // Before Linux 5.6, and where a container's filter does not know the call.
            Err(Errno::NOSYS | Errno::PERM) => return step_by_step(folder, path, flags),
            other => return other,
        }
    }
    Err(Errno::AGAIN)
}

/// The same, one part of the path after another.
fn step_by_step(folder: BorrowedFd<'_>, path: &Path, flags: OFlags) -> Result<OwnedFd, Errno> {
    let mut parts = Vec::new();
    for part in path.components() {
        match part {
            Component::Normal(name) => parts.push(name),
            Component::CurDir => {}
            Component::ParentDir | Component::RootDir | Component::Prefix(_) => return Err(Errno::XDEV),
        }
    }
    let last = parts.pop().unwrap_or(OsStr::new("."));
    let mount = mount_of(folder)?;
    let on_it = |opened: OwnedFd| if mount_of(opened.as_fd())? == mount { Ok(opened) } else { Err(Errno::XDEV) };
    let mut above: Option<OwnedFd> = None;
    for part in parts {
        let from = above.as_ref().map_or(folder, AsFd::as_fd);
        let next = on_it(openat(from, part, OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC, Mode::empty())?)?;
        match kind(&next)? {
            FileType::Directory => above = Some(next),
            FileType::Symlink => return Err(Errno::LOOP),
            _ => return Err(Errno::NOTDIR),
        }
    }
    let from = above.as_ref().map_or(folder, AsFd::as_fd);
    let opened = on_it(openat(from, last, flags | OFlags::NOFOLLOW, Mode::empty())?)?;
    // With O_PATH a link itself would be answered.
    if kind(&opened)? == FileType::Symlink { Err(Errno::LOOP) } else { Ok(opened) }
}

/// The number of the mount that a file was opened on, as /proc tells it since Linux 3.15.
fn mount_of(file: BorrowedFd<'_>) -> Result<u64, Errno> {
    let path = format!("/proc/self/fdinfo/{}", file.as_raw_fd());
    let text = std::fs::read_to_string(path).map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::IO))?;
    let number = text.lines().find_map(|line| line.strip_prefix("mnt_id:")?.trim().parse().ok());
    number.ok_or(Errno::NOSYS)
}

fn kind(file: &OwnedFd) -> Result<FileType, Errno> {
    Ok(FileType::from_raw_mode(fstat(file)?.st_mode))
}

/// Opens a regular file below the folder to read it; whoever made it may have put a pipe, a link or a device there.
///
/// # Errors
/// As [`open_beneath`]; `EINVAL` where it is no regular file.
pub(crate) fn open_to_read(folder: BorrowedFd<'_>, path: &Path) -> Result<File, Errno> {
    // A pipe would be waited for, a terminal would become ours.
    let file = open_beneath(folder, path, OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY)?;
    if kind(&file)? != FileType::RegularFile {
        return Err(Errno::INVAL);
    }
    fcntl_setfl(&file, OFlags::empty())?;
    Ok(File::from(file))
}

/// Bytes of a file below the folder, as a directory entry would tell them.
///
/// # Errors
/// As [`open_beneath`].
pub(crate) fn length(folder: BorrowedFd<'_>, path: &Path) -> Result<u64, Errno> {
    Ok(fstat(open_beneath(folder, path, OFlags::PATH)?)?.st_size as u64)
}

/// Opens a folder of this name in the folder; the name itself is no link.
///
/// # Errors
/// `ENOTDIR` or `ELOOP` where it is none.
pub(crate) fn open_folder(folder: BorrowedFd<'_>, name: &str) -> Result<OwnedFd, Errno> {
    openat(folder, name, FOLDER, Mode::empty())
}

/// Makes a folder that is new, for this owner or for this process's user, and opens it.
///
/// # Errors
/// `EEXIST` where something has the name already.
pub(crate) fn make_folder(
    folder: BorrowedFd<'_>,
    name: &str,
    mode: Mode,
    owner: Option<User>,
) -> Result<OwnedFd, Errno> {
    mkdirat(folder, name, mode)?;
    let made = open_folder(folder, name)?;
    if let Some(User { uid, gid }) = owner {
        fchown(&made, Some(Uid::from_raw(uid)), Some(Gid::from_raw(gid)))?;
    }
    Ok(made)
}

/// What making a folder answered, as far as it is there now: of folders that several clients share another one may have been first.
///
/// # Errors
/// The answer itself; `EEXIST` is one where nobody else makes the folder.
pub(crate) fn made_by_any(made: Result<(), Errno>, are_shared: bool) -> Result<(), Errno> {
    if are_shared && made == Err(Errno::EXIST) { Ok(()) } else { made }
}

/// Makes a folder anew: what has its name is removed first, as an interrupted race may have left it. `path`: what the folder
/// is called in messages.
///
/// # Errors
/// The first call that fails.
pub(crate) fn make_anew(folder: BorrowedFd<'_>, name: &str, mode: Mode, path: &Path) -> Result<OwnedFd, EngineError> {
    remove_tree(folder, name).map_err(|errno| EngineError::file("remove", path, errno))?;
    make_folder(folder, name, mode, None).map_err(|errno| EngineError::file("create directory", path, errno))
}

/// The folder in which clients work: anew for one that is alone, and of several that of whoever comes first. `path`: as of
/// [`make_anew`].
///
/// # Errors
/// The first call that fails.
pub(crate) fn make_for_clients(
    folder: BorrowedFd<'_>,
    name: &str,
    is_alone: bool,
    path: &Path,
) -> Result<OwnedFd, EngineError> {
    if is_alone {
        return make_anew(folder, name, Mode::RWXU, path);
    }
    made_by_any(mkdirat(folder, name, Mode::RWXU), true)
        .and_then(|()| open_folder(folder, name))
        .map_err(|errno| EngineError::file("create directory", path, errno))
}

/// A file in it, empty and made by whoever comes first. `folder`: with its path for messages.
///
/// # Errors
/// The call that fails.
pub(crate) fn make_file(folder: &OwnedFd, name: &str, path: &Path) -> Result<(), EngineError> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let made = openat(folder, name, flags, Mode::RUSR | Mode::WUSR);
    made.map(drop).map_err(|errno| EngineError::file("create", path.join(name), errno))
}

/// Removes what has this name in the folder, with all that is in it; links are removed, never followed. Nothing of
/// that name is fine.
///
/// # Errors
/// The first call that fails.
pub(crate) fn remove_tree(folder: BorrowedFd<'_>, name: &str) -> Result<(), Errno> {
    match unlinkat(folder, name, AtFlags::empty()) {
        Ok(()) | Err(Errno::NOENT) => return Ok(()),
        // A directory: EISDIR on Linux, EPERM in POSIX and on some filesystems in user space.
        Err(_) => {}
    }
    // The standard library goes on by descriptors, and this path begins with one.
    match std::fs::remove_dir_all(Path::new(&by_descriptor(&folder)).join(name)) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(Errno::from_io_error(&error).unwrap_or(Errno::IO))
        }
        _ => Ok(()),
    }
}

/// A path that this process can open as long as the descriptor is open, and one that inherits it can.
pub(crate) fn by_descriptor(file: &impl AsRawFd) -> String {
    format!("/proc/self/fd/{}", file.as_raw_fd())
}

/// The refusal in words: why a path below a folder was not opened.
pub(crate) fn refused(action: &'static str, path: &Path, errno: Errno) -> EngineError {
    match errno {
        Errno::LOOP | Errno::XDEV => EngineError::Unsuitable(format!(
            "cannot {action} {}: a link or a mount stands in its path, and Fairlane follows none that programs of a \
             suite made; have the step make a plain file or folder",
            model::text::escaped_path(path)
        )),
        Errno::INVAL => EngineError::Unsuitable(format!(
            "cannot {action} {}: it is no regular file; have the step make one",
            model::text::escaped_path(path)
        )),
        errno => EngineError::file(action, path, errno),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    /// A folder with a file, a way out by each kind of link, and a pipe; beside it a secret.
    fn scene() -> (tempfile::TempDir, OwnedFd) {
        let top = tempfile::tempdir().unwrap();
        let inner = top.path().join("inner");
        std::fs::create_dir_all(inner.join("a/b")).unwrap();
        std::fs::write(inner.join("a/b/file"), b"plain").unwrap();
        std::fs::write(top.path().join("secret"), b"secret").unwrap();
        symlink("/etc", inner.join("absolute")).unwrap();
        symlink("..", inner.join("up")).unwrap();
        symlink("a", inner.join("within")).unwrap();
        symlink("/proc/self/root", inner.join("magic")).unwrap();
        rustix::fs::mknodat(rustix::fs::CWD, inner.join("pipe"), FileType::Fifo, Mode::RWXU, 0).unwrap();
        let folder = rustix::fs::open(&inner, FOLDER, Mode::empty()).unwrap();
        (top, folder)
    }

    type Opens = fn(BorrowedFd<'_>, &Path, OFlags) -> Result<OwnedFd, Errno>;

    #[test]
    fn nothing_leads_out_of_a_folder_and_no_link_is_followed_in_it() {
        let (_top, folder) = scene();
        // Old kernels go the second way.
        // An emulator may have a root of its own for the name "/" alone.
        let root = rustix::fs::open("/proc/..", FOLDER, Mode::empty()).unwrap();
        for (name, how) in [("at once", open_beneath as Opens), ("step by step", step_by_step as Opens)] {
            for flags in [OFlags::RDONLY, OFlags::PATH, OFlags::PATH | OFlags::DIRECTORY] {
                let open = |path: &str| how(folder.as_fd(), Path::new(path), flags).map(|_| ());
                let is_folder = flags.contains(OFlags::DIRECTORY);
                assert_eq!(open("a/b/file"), if is_folder { Err(Errno::NOTDIR) } else { Ok(()) }, "{name}");
                assert_eq!(open("./a/b"), Ok(()), "{name}");
                for link in ["absolute", "absolute/passwd", "up", "up/secret", "within", "within/b/file", "magic/etc"] {
                    let refused = open(link).unwrap_err();
                    assert!(
                        refused == Errno::LOOP || is_folder && refused == Errno::NOTDIR,
                        "{name}: {link}: {refused}"
                    );
                }
                for out in ["../secret", "/etc/passwd", "a/../../secret"] {
                    assert_eq!(open(out), Err(Errno::XDEV), "{name}: {out}");
                }
                assert_eq!(open("a/none"), Err(Errno::NOENT), "{name}");
                for mounted in ["proc", "proc/self", "proc/sys/kernel"] {
                    let into_a_mount = how(root.as_fd(), Path::new(mounted), flags).map(|_| ());
                    assert!(matches!(into_a_mount, Err(Errno::XDEV | Errno::LOOP)), "{name}: {mounted}");
                }
                assert_eq!(open("a/b/file/x"), Err(Errno::NOTDIR), "{name}");
            }
        }
    }

    #[test]
    fn only_regular_files_are_read_and_nobody_waits_for_a_pipe() {
        let (_top, folder) = scene();
        let read = |path: &str| {
            open_to_read(folder.as_fd(), Path::new(path)).map(|file| std::io::read_to_string(file).unwrap())
        };
        assert_eq!(read("a/b/file"), Ok("plain".to_owned()));
        assert_eq!(read("pipe"), Err(Errno::INVAL));
        assert_eq!(read("a"), Err(Errno::INVAL));
        assert_eq!(read("absolute/passwd"), Err(Errno::LOOP));
        assert_eq!(length(folder.as_fd(), Path::new("a/b/file")), Ok(5));
        assert_eq!(length(folder.as_fd(), Path::new("absolute/passwd")), Err(Errno::LOOP));
        let said = refused("open", Path::new("/lane/x"), Errno::LOOP).to_string();
        assert!(said.starts_with("cannot open /lane/x: a link or a mount stands in its path"), "{said}");
    }

    #[test]
    fn a_tree_goes_with_its_links_and_what_they_name_stays() {
        let (top, folder) = scene();
        let victim = top.path().join("victim");
        std::fs::create_dir(&victim).unwrap();
        std::fs::write(victim.join("kept"), b"").unwrap();
        symlink(&victim, top.path().join("inner/a/link")).unwrap();
        symlink(&victim, top.path().join("inner/link")).unwrap();
        for name in ["a", "link", "pipe", "not there"] {
            assert_eq!(remove_tree(folder.as_fd(), name), Ok(()), "{name}");
            assert!(!top.path().join("inner").join(name).is_symlink(), "{name}");
        }
        assert!(victim.join("kept").exists() && !top.path().join("inner/a").exists());
        assert_eq!(make_folder(folder.as_fd(), "up", Mode::RWXU, None).map(|_| ()), Err(Errno::EXIST));
        let again = mkdirat(&folder, "up", Mode::RWXU);
        assert_eq!((made_by_any(again, true), made_by_any(again, false)), (Ok(()), Err(Errno::EXIST)));
        assert_eq!(made_by_any(Err(Errno::NOSPC), true), Err(Errno::NOSPC));
        assert_eq!(make_folder(folder.as_fd(), "new", Mode::RWXU, None).map(|_| ()), Ok(()));
    }
}
