//! Reading what a crash image holds: a stranger may have made it, so that no link is followed, nothing but a regular file
//! is opened, and no more is read than could be right.

use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, fstat, openat, statat};
use rustix::io::Errno;
use std::ffi::OsStr;
use std::fs::File;
use std::io::{Error, ErrorKind, Read as _, Result};
use std::os::fd::OwnedFd;
use std::path::Path;

/// Opens the folder of the work to look below it. Its own name is a part of the image, what is above is not.
///
/// # Errors
/// What the system answers, and where it is no folder.
pub fn folder(path: &Path) -> Result<OwnedFd> {
    let above = path.parent().filter(|above| !above.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let above = openat(CWD, above, flags, Mode::empty())?;
    enter(&above, path.file_name().unwrap_or(OsStr::new(".")))
}

/// Opens a folder in a folder, to look below it; `name`: one part of a path.
///
/// # Errors
/// What the system answers, and where it is no folder.
pub fn enter(above: &OwnedFd, name: &OsStr) -> Result<OwnedFd> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    openat(above, name, flags, Mode::empty()).map_err(|error| match error {
        // Both, by the kernel's age.
        Errno::LOOP | Errno::NOTDIR => Error::other("it is no folder"),
        other => other.into(),
    })
}

/// The length in bytes of a regular file of that name below the folder.
///
/// # Errors
/// What the system answers; [`ErrorKind::NotFound`] where there is none; and where it is no regular file.
pub fn length(folder: &OwnedFd, name: impl AsRef<OsStr>) -> Result<u64> {
    match kind(folder, name.as_ref())? {
        (FileType::RegularFile, bytes) => Ok(bytes),
        _ => Err(Error::other("it is no regular file")),
    }
}

/// What has this name in the folder, a link itself, and its size in bytes.
///
/// # Errors
/// What the system answers; [`ErrorKind::NotFound`] where there is none.
pub fn kind(folder: &OwnedFd, name: &OsStr) -> Result<(FileType, u64)> {
    let found = statat(folder, name, AtFlags::SYMLINK_NOFOLLOW)?;
    Ok((FileType::from_raw_mode(found.st_mode), found.st_size as u64))
}

/// Opens a regular file below the folder; `path` may lead over folders.
///
/// # Errors
/// As [`length`].
pub fn open(folder: &OwnedFd, path: &str) -> Result<File> {
    if let Some((first, rest)) = path.split_once('/') {
        return open(&enter(folder, first.as_ref())?, rest);
    }
    file(folder, path.as_ref())
}

/// Opens a regular file in the folder; `name`: one part of a path.
///
/// # Errors
/// As [`length`].
pub fn file(folder: &OwnedFd, name: &OsStr) -> Result<File> {
    // Before it is opened, which to a device does something.
    length(folder, name)?;
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let opened = openat(folder, name, flags, Mode::empty())?;
    match FileType::from_raw_mode(fstat(&opened)?.st_mode) {
        FileType::RegularFile => Ok(opened.into()),
        _ => Err(Error::other("it is no regular file")),
    }
}

/// Reads a regular file below the folder of the work, at most so many bytes and one more, which tells that there are more.
///
/// # Errors
/// As [`length`].
pub fn read(work: &Path, path: &str, most_bytes: u64) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open(&folder(work)?, path)?.take(most_bytes.saturating_add(1)).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Whether there is nothing of that name.
pub fn is_missing(error: &Error) -> bool {
    error.kind() == ErrorKind::NotFound
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn of_a_crash_image_only_regular_files_are_read_through_no_link_and_within_bounds() {
        let top = tempfile::tempdir().unwrap();
        let work = top.path().join("work");
        std::fs::create_dir_all(work.join("d")).unwrap();
        std::fs::write(top.path().join("secret"), "secret").unwrap();
        std::fs::write(work.join("d/c"), "plain").unwrap();
        symlink(top.path().join("secret"), work.join("link")).unwrap();
        symlink(top.path(), work.join("up")).unwrap();
        symlink("/dev/zero", work.join("zero")).unwrap();
        rustix::fs::mknodat(CWD, work.join("pipe"), FileType::Fifo, Mode::RWXU, 0).unwrap();
        std::fs::File::create(work.join("large")).unwrap().set_len(1 << 40).unwrap();
        assert_eq!(read(&work, "d/c", 100).unwrap(), b"plain");
        assert_eq!(read(&work, "large", 100).unwrap().len(), 101);
        for (path, says) in [
            ("link", "no regular file"),
            ("zero", "no regular file"),
            ("pipe", "no regular file"),
            ("d", "no regular file"),
            ("up/secret", "no folder"),
            ("link/x", "no folder"),
        ] {
            let error = read(&work, path, 100).unwrap_err().to_string();
            assert!(error.contains(says), "{path}: {error}");
        }
        assert!(is_missing(&read(&work, "d/none", 100).unwrap_err()));
        // The folder of the work itself lies in the image.
        symlink(&work, top.path().join("elsewhere")).unwrap();
        assert!(read(&top.path().join("elsewhere"), "d/c", 100).is_err());
    }
}
