//! Files in folders of the user who is served: made, replaced and removed with that user's rights, by descriptors, and
//! never through a link that somebody else planted.
//!
//! Under sudo every call here is made by a thread that has the user's effective ids and groups and none of root's
//! rights on files; it ends with the call, so that nobody gets root's ids back. Homes on NFS, where root is nobody, are
//! written in the same way. Root without sudo, and everybody else, writes with its own rights. Paths are walked part by
//! part: a link is followed where it is the user's own or root's; a file that is made or opened for writing is no link at
//! all.

use crate::owner::Owner;
use rustix::fs::{AtFlags, FileType, Mode, OFlags, RenameFlags, Stat};
use rustix::io::Errno;
use rustix::thread::{CapabilitySet, CapabilitySets};
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Component, Path, PathBuf};

mod reading;

pub use reading::{
    FOLDER, list, metadata, names, names_with, open_as_owner, open_by_no_process, open_special, open_text,
    open_to_read, read, text,
};

/// Links that one path may lead over, as in the kernel.
const MOST_LINKS: u32 = 40;
/// A folder where everybody may put something, and take away only what is theirs.
const STICKY_AND_OPEN: u32 = 0o1002;
/// A folder or a file in which its group, or everybody, may write.
const OTHERS_WRITE: u32 = 0o022;
/// What may be kept of the permissions of a file that is replaced: never set-user-id.
const KEPT_PERMISSIONS: u32 = 0o777;

/// Does something with files as the user who is served.
///
/// # Errors
/// What it answers, and where the user's rights cannot be taken on.
pub fn as_owner<T: Send>(work: impl FnOnce() -> io::Result<T> + Send) -> io::Result<T> {
    let owner = Owner::current();
    let Some((user, group)) = owner.ids() else { return work() };
    let groups = owner.groups();
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().name("as-user".to_owned()).spawn_scoped(scope, || {
            take_rights(user, group, groups)?;
            work()
        })?;
        thread.join().unwrap_or_else(|_| Err(io::Error::other("the thread with the user's rights failed")))
    })
}

/// From here on this thread has that user's rights on files and no others.
fn take_rights(user: u32, group: u32, groups: &[u32]) -> io::Result<()> {
    let groups: Vec<rustix::process::Gid> = groups.iter().map(|&of| rustix::process::Gid::from_raw(of)).collect();
    // The system call itself: the C library would change all threads.
    rustix::thread::set_thread_groups(&groups)?;
    // The effective ids, which the ids of the file system follow: files of /proc/sys ask for those alone. The real and the
    // saved ones stay root's, so that the user can neither stop nor trace the thread. The step away from 0 takes root's
    // rights on files from it (capabilities(7)).
    const AS_IT_IS: libc::uid_t = libc::uid_t::MAX;
    let change = |call: libc::c_long, id: u32| {
        // SAFETY: setresgid and setresuid take numbers and touch no memory; as system calls, past the C library, they
        // change the calling thread alone.
        match unsafe { libc::syscall(call, AS_IT_IS, id, AS_IT_IS) } {
            0 => Ok(()),
            _ => Err(io::Error::last_os_error()),
        }
    };
    change(libc::SYS_setresgid, group)?;
    change(libc::SYS_setresuid, user)?;
    // What is left of root's rights leads elsewhere: with CAP_SYS_PTRACE to the folders of root's processes
    // (/proc/PID/cwd).
    let none = CapabilitySet::empty();
    let permitted = rustix::thread::capabilities(None)?.permitted;
    rustix::thread::set_capabilities(None, CapabilitySets { effective: none, permitted, inheritable: none })?;
    Ok(())
}

/// Does something in a folder of the user's own in which nobody else may write, as that user and by the folder's real path.
///
/// # Errors
/// What it answers, and where the folder is not there or is of that kind not.
pub fn in_own_folder<T: Send>(folder: &Path, work: impl FnOnce(&Path) -> io::Result<T> + Send) -> io::Result<T> {
    as_owner(|| {
        let opened = open_by_no_process(folder, FOLDER)?;
        let found = rustix::fs::fstat(&opened)?;
        if found.st_uid != Owner::current().uid() || found.st_mode & OTHERS_WRITE != 0 {
            return Err(io::ErrorKind::PermissionDenied.into());
        }
        let real = rustix::fs::readlink(format!("/proc/self/fd/{}", opened.as_raw_fd()), Vec::new())?;
        work(Path::new(OsStr::from_bytes(real.as_bytes())))
    })
}

/// Why the user may not write somewhere, with the way out; other errors as they are.
pub fn plain(error: &io::Error) -> String {
    match (error.kind(), Owner::current().ids()) {
        (io::ErrorKind::PermissionDenied, Some((user, _))) => {
            format!(
                "user {user}, who called sudo, may not write there; `sudo env -u SUDO_UID fairlane …` writes as root"
            )
        }
        _ => error.to_string(),
    }
}

/// A folder, and the name of something in it.
struct Spot {
    folder: OwnedFd,
    name: OsString,
}

/// What becomes of the end of a path.
#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    /// It is a folder, made where it is missing, with those above it.
    MadeFolder,
    /// It names something that may not be there; a link stays one.
    Name,
    /// As before, and a link is followed.
    NameBehindLinks,
}

/// Walks a path part by part; answers the folder and, where the end is a name, that name.
fn walk(path: &Path, end: End) -> io::Result<(OwnedFd, Option<OsString>)> {
    let is_name = matches!(end, End::Name | End::NameBehindLinks);
    let mut here = start(path)?;
    let mut left = parts(path);
    let mut links = 0;
    while let Some(part) = left.pop() {
        if part == ".." {
            here = open_part(&here, &part)?;
            continue;
        }
        let last = left.is_empty() && is_name;
        if last && end == End::Name {
            return Ok((here, Some(part)));
        }
        let opened = match open_part(&here, &part) {
            Err(Errno::NOENT) if last => return Ok((here, Some(part))),
            Err(Errno::NOENT) if end == End::MadeFolder => {
                match rustix::fs::mkdirat(&here, &part, Mode::from_raw_mode(0o755)) {
                    Ok(()) | Err(Errno::EXIST) => open_part(&here, &part)?,
                    Err(error) => return Err(error.into()),
                }
            }
            opened => opened?,
        };
        let found = rustix::fs::fstat(&opened)?;
        match FileType::from_raw_mode(found.st_mode) {
            FileType::Symlink => {
                links += 1;
                if links > MOST_LINKS {
                    return Err(Errno::LOOP.into());
                }
                check_link(&found, &rustix::fs::fstat(&here)?)?;
                let target = rustix::fs::readlinkat(&opened, "", Vec::new())?;
                let target = PathBuf::from(OsStr::from_bytes(target.as_bytes()));
                if target.is_absolute() {
                    here = start(&target)?;
                }
                left.extend(parts(&target));
            }
            _ if last => return Ok((here, Some(part))),
            FileType::Directory => here = opened,
            _ => return Err(Errno::NOTDIR.into()),
        }
    }
    match is_name {
        true => Err(Errno::ISDIR.into()),
        false => Ok((here, None)),
    }
}

fn start(path: &Path) -> io::Result<OwnedFd> {
    let from = if path.is_absolute() { "/" } else { "." };
    Ok(rustix::fs::open(from, OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?)
}

/// The parts of a path, the last one first.
fn parts(path: &Path) -> Vec<OsString> {
    let part = |part: Component| match part {
        Component::Normal(name) => Some(name.to_owned()),
        Component::ParentDir => Some(OsString::from("..")),
        Component::CurDir | Component::RootDir | Component::Prefix(_) => None,
    };
    path.components().rev().filter_map(part).collect()
}

fn open_part(folder: &OwnedFd, name: &OsStr) -> Result<OwnedFd, Errno> {
    rustix::fs::openat(folder, name, OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC, Mode::empty())
}

/// A link is followed where it is root's or the user's own; by a user's rights also where its folder is not one in which
/// everybody may plant links (the kernel's fs.protected_symlinks, whatever it is set to).
fn check_link(link: &Stat, folder: &Stat) -> io::Result<()> {
    let user = Owner::current().uid();
    let planted = folder.st_mode & STICKY_AND_OPEN == STICKY_AND_OPEN;
    match link.st_uid == 0 || link.st_uid == user || (user != 0 && !planted) {
        true => Ok(()),
        false => Err(io::Error::other(format!(
            "a link of user {} stands in its path; name the place that it leads to",
            link.st_uid
        ))),
    }
}

/// Whether a folder is of the filesystem that holds /dev, where that is one of its own: whoever opens a device that is
/// missing would find a file there.
fn is_among_devices(folder: &OwnedFd) -> io::Result<bool> {
    let device = |path: &str| rustix::fs::stat(path).map(|of| of.st_dev).ok();
    let of_folder = rustix::fs::fstat(folder)?.st_dev;
    Ok(device("/dev") == Some(of_folder) && device("/") != Some(of_folder))
}

impl Spot {
    fn new(path: &Path, end: End) -> io::Result<Spot> {
        let (folder, name) = walk(path, end)?;
        Ok(Spot { folder, name: name.ok_or(Errno::ISDIR)? })
    }

    fn look(&self) -> io::Result<Option<Stat>> {
        match rustix::fs::statat(&self.folder, &self.name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => Ok(Some(stat)),
            Err(Errno::NOENT) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    fn create(&self, flags: OFlags, permissions: u32) -> io::Result<File> {
        if is_among_devices(&self.folder)? {
            return Err(io::Error::other("it would lie among the system's devices in /dev; name a file elsewhere"));
        }
        let flags = flags | OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        Ok(rustix::fs::openat(&self.folder, &self.name, flags, Mode::from_raw_mode(permissions))?.into())
    }

    fn remove(&self) -> io::Result<()> {
        Ok(rustix::fs::unlinkat(&self.folder, &self.name, AtFlags::empty())?)
    }

    /// Gives what is here another name, which nothing has.
    fn place(&self, to: &Spot) -> io::Result<()> {
        let alone = RenameFlags::NOREPLACE;
        match rustix::fs::renameat_with(&self.folder, &self.name, &to.folder, &to.name, alone) {
            // Filesystems that do not know it; a second name is never given in place of something either.
            Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => {
                rustix::fs::linkat(&self.folder, &self.name, &to.folder, &to.name, AtFlags::empty())?;
                self.remove()
            }
            placed => Ok(placed?),
        }
    }
}

/// Whether a new file may be made there, before anything is done for it: nothing of that name is there (otherwise
/// [`io::ErrorKind::AlreadyExists`]), its folder is, and the user may write in it.
///
/// # Errors
/// Why not.
pub fn check_new(path: &Path) -> io::Result<()> {
    as_owner(|| {
        let spot = Spot::new(path, End::Name)?;
        match spot.look()? {
            Some(_) => Err(io::ErrorKind::AlreadyExists.into()),
            None => may_write(&spot.folder),
        }
    })
}

/// The kernel asks for the rights of this thread; rustix and the C library would ask for those of the process.
fn may_write(folder: &OwnedFd) -> io::Result<()> {
    // SAFETY: faccessat2 reads the text behind a pointer to a static C string and writes nothing.
    let answer = unsafe {
        libc::syscall(
            libc::SYS_faccessat2,
            folder.as_raw_fd(),
            c".".as_ptr(),
            libc::W_OK | libc::X_OK,
            libc::AT_EACCESS,
        )
    };
    match answer {
        0 => Ok(()),
        _ => match io::Error::last_os_error() {
            // Before Linux 5.8, and where a sandbox knows no newer calls: making the file will tell.
            error if [Some(libc::ENOSYS), Some(libc::EPERM)].contains(&error.raw_os_error()) => Ok(()),
            error => Err(error),
        },
    }
}

/// Makes a file that is not there yet; 0644.
///
/// # Errors
/// What the system answers; [`io::ErrorKind::AlreadyExists`] where something is there, a link too.
pub fn create(path: &Path) -> io::Result<File> {
    as_owner(|| Spot::new(path, End::Name)?.create(OFlags::empty(), 0o644))
}

/// The same, to be appended to.
///
/// # Errors
/// As [`create`].
pub fn create_to_append(path: &Path) -> io::Result<File> {
    as_owner(|| Spot::new(path, End::Name)?.create(OFlags::APPEND, 0o644))
}

/// The same, for nobody else's eyes: 0600.
///
/// # Errors
/// As [`create`].
pub fn create_private(path: &Path) -> io::Result<File> {
    as_owner(|| Spot::new(path, End::Name)?.create(OFlags::empty(), 0o600))
}

/// Opens a regular file to be appended to.
///
/// # Errors
/// What the system answers, and where it is a link or no regular file.
pub fn open_to_append(path: &Path) -> io::Result<File> {
    as_owner(|| {
        let spot = Spot::new(path, End::Name)?;
        let flags = OFlags::WRONLY | OFlags::APPEND | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file = File::from(rustix::fs::openat(&spot.folder, &spot.name, flags, Mode::empty())?);
        match file.metadata()?.is_file() {
            true => Ok(file),
            false => Err(io::Error::other("it is no regular file")),
        }
    })
}

/// Removes a file, or the link in its place.
///
/// # Errors
/// What the system answers.
pub fn remove(path: &Path) -> io::Result<()> {
    as_owner(|| Spot::new(path, End::Name)?.remove())
}

/// Gives a file another name in the same folder; what has that name is replaced.
///
/// # Errors
/// What the system answers.
pub fn rename_beside(path: &Path, name: &OsStr) -> io::Result<()> {
    as_owner(|| {
        let spot = Spot::new(path, End::Name)?;
        Ok(rustix::fs::renameat(&spot.folder, &spot.name, &spot.folder, name)?)
    })
}

/// Makes a folder, and those above it, where they are missing; 0755.
///
/// # Errors
/// What the system answers.
pub fn make_folders(path: &Path) -> io::Result<()> {
    as_owner(|| walk(path, End::MadeFolder).map(drop))
}

/// What is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum There {
    /// Nothing.
    Nothing,
    /// A regular file.
    File,
    /// Something else: a link, a folder, a pipe, a device.
    Else,
}

/// What is there under that name itself.
///
/// # Errors
/// What the system answers.
pub fn there(path: &Path) -> io::Result<There> {
    as_owner(|| {
        Ok(match Spot::new(path, End::Name)?.look()? {
            None => There::Nothing,
            Some(stat) if FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile => There::File,
            Some(_) => There::Else,
        })
    })
}

/// Writes a file whole or not at all: a full disk costs nothing that was there. The permissions of a file of the user's
/// own stay. `follow`: a link keeps its name, and what it names is replaced; otherwise the link is replaced.
///
/// # Errors
/// What the system answers, and what `write` does.
pub fn replace(path: &Path, follow: bool, write: &mut dyn FnMut(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    let end = if follow { End::NameBehindLinks } else { End::Name };
    let (spot, draft, file) = as_owner(|| {
        let spot = Spot::new(path, end)?;
        let before = spot.look()?.filter(|of| FileType::from_raw_mode(of.st_mode) == FileType::RegularFile);
        let before = before.filter(|of| of.st_uid == Owner::current().uid()).map(|of| of.st_mode & KEPT_PERMISSIONS);
        let draft = Spot { folder: spot.folder.as_fd().try_clone_to_owned()?, name: draft_name(&spot.name)? };
        let file = draft.create(OFlags::empty(), before.unwrap_or(0o644) & 0o666)?;
        if let Some(permissions) = before {
            rustix::fs::fchmod(&file, Mode::from_raw_mode(permissions))?;
        }
        Ok((spot, draft, file))
    })?;
    let mut out = BufWriter::with_capacity(64 << 10, file);
    let written = write(&mut out).and_then(|()| out.flush());
    as_owner(|| {
        let placed =
            written.and_then(|()| Ok(rustix::fs::renameat(&draft.folder, &draft.name, &spot.folder, &spot.name)?));
        placed.inspect_err(|_| _ = draft.remove())
    })
}

/// Makes a file whole or not at all, and never in place of something: until it is written it has a name beside its own that
/// nobody can have guessed; 0644.
///
/// # Errors
/// What the system answers, and what `write` does; [`io::ErrorKind::AlreadyExists`] where something is there.
pub fn create_whole<T: Send>(path: &Path, write: impl FnOnce(&File) -> io::Result<T>) -> io::Result<T> {
    let (spot, draft, file) = as_owner(|| {
        let spot = Spot::new(path, End::Name)?;
        if spot.look()?.is_some() {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        let draft = Spot { folder: spot.folder.as_fd().try_clone_to_owned()?, name: draft_name(&spot.name)? };
        let file = draft.create(OFlags::empty(), 0o644)?;
        Ok((spot, draft, file))
    })?;
    let written = write(&file);
    as_owner(|| {
        let placed = written.and_then(|made| draft.place(&spot).map(|()| made));
        placed.inspect_err(|_| _ = draft.remove())
    })
}

/// A name beside another that nobody can have guessed, short enough for every filesystem.
fn draft_name(name: &OsStr) -> io::Result<OsString> {
    let mut number = [0_u8; 8];
    rustix::rand::getrandom(&mut number, rustix::rand::GetRandomFlags::empty())?;
    let kept = &name.as_bytes()[..name.len().min(200)];
    let mut draft = kept.to_vec();
    draft.extend_from_slice(format!(".{:016x}.part", u64::from_ne_bytes(number)).as_bytes());
    Ok(OsString::from_vec(draft))
}

#[cfg(test)]
mod tests;
