//! What is there, looked at and read: with the user's rights, by descriptors, and never through a process of root's.
//!
//! A path is walked once: what was found is looked at, and that is what is opened. Where the user may not go, root reads
//! what whoever called sudo names, but for what links and further names of a file lead to.

use super::{End, Spot, as_owner, walk};
use rustix::fs::{CWD, FileType, Mode, OFlags, ResolveFlags};
use rustix::io::Errno;
use std::ffi::{OsStr, OsString};
use std::fs::{File, Metadata};
use std::io::{self, ErrorKind, Read};
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Folders of the kernel's own devices and open files, in which nobody but root and this process puts anything.
const OF_THE_SYSTEM: [&str; 4] = ["/dev", "/dev/pts", "/dev/fd", "/proc/self/fd"];

/// How files of others are opened to be read: nothing is waited for, and no terminal becomes this process's own.
const TO_READ: OFlags = OFlags::RDONLY.union(OFlags::NONBLOCK).union(OFlags::NOCTTY).union(OFlags::CLOEXEC);

/// How it is found before: to open a device is to do something to it, so nothing is opened until it is known what it is.
pub(super) const TO_LOOK: OFlags = OFlags::PATH.union(OFlags::CLOEXEC);

/// How a folder is opened, for its names or for what is in it.
pub const FOLDER: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);

/// Filesystems whose files the kernel makes up as they are read, some of them for root's process alone: proc, sysfs, debugfs,
/// tracefs, securityfs, bpf, control groups of both versions (statfs(2)).
const KERNELS_OWN: [rustix::fs::FsWord; 8] =
    [0x9fa0, 0x6265_6572, 0x6462_6720, 0x7472_6163, 0x7363_6673, 0xcafe_4a11, 0x0027_e0eb, 0x6367_7270];

/// What this process has open, or the kernel's own device: that has no folder of the user's (/dev/stdout).
fn is_of_the_system(path: &Path) -> bool {
    path.parent().is_some_and(|folder| OF_THE_SYSTEM.iter().any(|of| folder == Path::new(of)))
}

/// What a path leads to, as the user sees it; where he may not look, as root does, but for what links lead to: which files
/// there are in a folder of root's is nobody's.
///
/// # Errors
/// What the system answers.
pub fn metadata(path: &Path) -> io::Result<Metadata> {
    if is_of_the_system(path) {
        return std::fs::metadata(path);
    }
    let look = |found: OwnedFd| File::from(found).metadata();
    or_by_no_link(as_owner(|| look(open_by_no_process(path, TO_LOOK)?)), (path, TO_LOOK), look)
}

/// What the user's rights answered; where they were not enough, what is found with those of this process and no link.
fn or_by_no_link<T>(
    answered: io::Result<T>,
    (path, flags): (&Path, OFlags),
    take: impl FnOnce(OwnedFd) -> io::Result<T>,
) -> io::Result<T> {
    match answered {
        Err(error) if error.kind() == ErrorKind::PermissionDenied => {
            let found = rustix::fs::openat2(CWD, path, flags, Mode::empty(), ResolveFlags::NO_SYMLINKS);
            found.map_err(|_| error).and_then(take)
        }
        answered => answered,
    }
}

/// Opens what is no regular file (a pipe, a terminal) to be written, where `takes` it. It is looked at before it is opened,
/// because opening a device may do something to it; links are followed as everywhere here.
///
/// # Errors
/// What the system answers, and where it is something else.
pub fn open_special(path: &Path, takes: &(dyn Fn(&Metadata) -> bool + Sync)) -> io::Result<File> {
    if is_of_the_system(path) {
        return special(rustix::fs::open(path, TO_LOOK, Mode::empty())?, takes);
    }
    as_owner(|| {
        let spot = Spot::new(path, End::NameBehindLinks)?;
        special(rustix::fs::openat(&spot.folder, &spot.name, TO_LOOK | OFlags::NOFOLLOW, Mode::empty())?, takes)
    })
}

/// What was found, opened where it is taken.
fn special(found: OwnedFd, takes: &dyn Fn(&Metadata) -> bool) -> io::Result<File> {
    let found = File::from(found);
    let is = found.metadata()?;
    if is.is_file() || !takes(&is) {
        return Err(io::Error::other("it is another thing than a moment ago"));
    }
    opened(&found.into(), OFlags::WRONLY | OFlags::NOCTTY | OFlags::CLOEXEC)
}

/// What was found, opened: itself, whatever has its name by now.
fn opened(found: &OwnedFd, flags: OFlags) -> io::Result<File> {
    let itself = format!("/proc/self/fd/{}", found.as_raw_fd());
    Ok(rustix::fs::open(itself, flags, Mode::empty())?.into())
}

/// Opens a file to be read, with the user's rights first, then with those of this process: who called sudo and names a
/// file may read it, but for what links lead to. Nothing is waited for: of a pipe or a device nothing is read here.
///
/// # Errors
/// What the system answers, and where it is no regular file.
pub fn open_to_read(path: &Path) -> io::Result<File> {
    or_by_no_link(open_as_owner(path), (path, TO_LOOK), of_one_name)
}

/// What the user may not read, opened where it has no other name: he may give root's file one in a folder of his own, where
/// the kernel lets him (fs.protected_hardlinks).
fn of_one_name(found: OwnedFd) -> io::Result<File> {
    let is = rustix::fs::fstat(&found)?;
    if FileType::from_raw_mode(is.st_mode) == FileType::RegularFile && is.st_nlink > 1 {
        return Err(io::Error::new(
            ErrorKind::PermissionDenied,
            "only root may read it, and it has several names (hard links); name a copy of it",
        ));
    }
    regular(found)
}

/// What was found, opened where it is a regular file.
pub(super) fn regular(found: OwnedFd) -> io::Result<File> {
    if FileType::from_raw_mode(rustix::fs::fstat(&found)?.st_mode) != FileType::RegularFile {
        return Err(io::Error::other("it is no regular file"));
    }
    if KERNELS_OWN.contains(&rustix::fs::fstatfs(&found)?.f_type) {
        return Err(io::Error::other("the kernel makes it up (/proc, /sys); copy what it says into a file"));
    }
    opened(&found, TO_READ)
}

/// Opens what a path leads to, but for links of /proc: they lead where root's process stands (/proc/self/cwd), whoever may
/// walk there. To be called in [`as_owner`].
///
/// # Errors
/// What the system answers.
pub fn open_by_no_process(path: &Path, flags: OFlags) -> io::Result<OwnedFd> {
    match rustix::fs::openat2(CWD, path, flags, Mode::empty(), ResolveFlags::NO_MAGICLINKS) {
        // Linux before 5.6, and containers that forbid it.
        Err(Errno::NOSYS | Errno::PERM) => open_part_by_part(path, flags),
        opened => Ok(opened?),
    }
}

/// The same by hand: what a link says is walked as a path.
pub(super) fn open_part_by_part(path: &Path, flags: OFlags) -> io::Result<OwnedFd> {
    let (folder, name) = walk(path, End::NameBehindLinks)?;
    let name = name.unwrap_or_else(|| OsString::from("."));
    Ok(rustix::fs::openat(folder, name, flags | OFlags::NOFOLLOW, Mode::empty())?)
}

/// Opens a file to be read with the user's rights alone: what a stranger's text names.
///
/// # Errors
/// What the system answers, and where it is no regular file.
pub fn open_as_owner(path: &Path) -> io::Result<File> {
    as_owner(|| regular(open_by_no_process(path, TO_LOOK)?))
}

/// Reads a regular file of at most so many bytes.
///
/// # Errors
/// As [`open_to_read`], and where it has more.
pub fn read(path: &Path, most_bytes: u64) -> io::Result<Vec<u8>> {
    read_within(open_to_read(path)?, most_bytes)
}

/// Reads what there is, at most so many bytes.
///
/// # Errors
/// What the system answers, and where there is more.
pub(super) fn read_within(from: impl Read, most_bytes: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    from.take(most_bytes + 1).read_to_end(&mut bytes)?;
    match bytes.len() as u64 > most_bytes {
        true => Err(io::Error::new(ErrorKind::FileTooLarge, format!("it has more than {}", model::Bytes(most_bytes)))),
        false => Ok(bytes),
    }
}

/// Reads a text that somebody named, at most so many bytes: of a file, or of a pipe that a shell has made.
///
/// # Errors
/// What the system answers, and where there is more, or no text.
pub fn text(path: &Path, most_bytes: u64) -> io::Result<String> {
    let bytes = read_within(open_text(path)?, most_bytes)?;
    String::from_utf8(bytes).map_err(|_| io::Error::new(ErrorKind::InvalidData, "it is no UTF-8 text"))
}

/// Opens a text that somebody named: a file, or a pipe that a shell has made. What this process has open already
/// (/dev/fd/63, /dev/stdin) needs no rights; everything else is opened with the user's.
///
/// # Errors
/// What the system answers, and where it is neither.
pub fn open_text(path: &Path) -> io::Result<File> {
    let of_this_process = ["/dev/fd", "/proc/self/fd"].iter().any(|folder| path.parent() == Some(Path::new(folder)));
    if of_this_process || path == Path::new("/dev/stdin") {
        return File::open(path);
    }
    let text = as_owner(|| {
        let found = open_by_no_process(path, TO_LOOK)?;
        match FileType::from_raw_mode(rustix::fs::fstat(&found)?.st_mode) {
            // Its writer is waited for, with the user's rights alone.
            FileType::Fifo => opened(&found, OFlags::RDONLY | OFlags::NOCTTY | OFlags::CLOEXEC),
            _ => regular(found),
        }
    });
    or_by_no_link(text, (path, TO_LOOK), of_one_name)
}

/// The paths in a folder.
///
/// # Errors
/// What the system answers.
pub fn list(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let names = or_by_no_link(names(folder), (folder, FOLDER), names_in)?;
    Ok(names.into_iter().map(|name| folder.join(name)).collect())
}

/// The names in a folder, with the user's rights alone.
///
/// # Errors
/// What the system answers.
pub fn names(folder: &Path) -> io::Result<Vec<OsString>> {
    as_owner(|| names_in(open_by_no_process(folder, FOLDER)?))
}

/// The names in a folder that begin so, `true` beside those of folders and of links to them; at most so many, with the user's
/// rights alone.
///
/// # Errors
/// What the system answers.
pub fn names_with(folder: &Path, beginning: &[u8], most: usize) -> io::Result<Vec<(OsString, bool)>> {
    as_owner(|| {
        let mut found = Vec::new();
        for entry in rustix::fs::Dir::read_from(open_by_no_process(folder, FOLDER)?)?.filter_map(Result::ok) {
            let name = entry.file_name().to_bytes();
            if found.len() >= most {
                break;
            }
            if !name.starts_with(beginning) || name == b"." || name == b".." {
                continue;
            }
            let name = OsStr::from_bytes(name).to_owned();
            let is_folder = match entry.file_type() {
                FileType::Symlink | FileType::Unknown => leads_to_folder(&folder.join(&name)),
                known => known == FileType::Directory,
            };
            found.push((name, is_folder));
        }
        Ok(found)
    })
}

/// Whether a path leads to a folder; to be called in [`as_owner`].
fn leads_to_folder(path: &Path) -> bool {
    let found = open_by_no_process(path, TO_LOOK).ok().and_then(|found| rustix::fs::fstat(found).ok());
    found.is_some_and(|found| FileType::from_raw_mode(found.st_mode) == FileType::Directory)
}

fn names_in(folder: OwnedFd) -> io::Result<Vec<OsString>> {
    let names = rustix::fs::Dir::read_from(&folder)?.filter_map(Result::ok);
    let names = names.map(|entry| OsStr::from_bytes(entry.file_name().to_bytes()).to_owned());
    Ok(names.filter(|name| name != "." && name != "..").collect())
}
