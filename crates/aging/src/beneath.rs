//! Folders below a folder: opened by descriptors, through no link and into no other mount, and removed the same way.

use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, ResolveFlags, openat, openat2, statat, unlinkat};
use rustix::io::Errno;
use std::ffi::{CStr, CString};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};

/// Levels of folders that are walked at most: a life has 16.
pub(crate) const MOST_DEPTH: usize = 64;
const FOLDER: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// Opens a folder of this name.
///
/// # Errors
/// `NOTDIR` or `LOOP` where it is a link or something else, `XDEV` where something is mounted on it.
pub fn open_folder(folder: impl AsFd, name: &CStr) -> Result<OwnedFd, Errno> {
    let folder = folder.as_fd();
    let within = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_XDEV;
    loop {
        match openat2(folder, name, FOLDER, Mode::empty(), within) {
            // Something was renamed at this moment.
            Err(Errno::AGAIN | Errno::INTR) => {}
            // Before Linux 5.6, and where a container's filter does not know the call.
            Err(Errno::NOSYS | Errno::PERM) => {
                let opened = openat(folder, name, FOLDER, Mode::empty())?;
                // The same filesystem may be mounted there a second time, from elsewhere.
                return match mount_id(&opened)? == mount_id(folder)? {
                    true => Ok(opened),
                    false => Err(Errno::XDEV),
                };
            }
            other => return other,
        }
    }
}

/// The mount that an open folder lies in (proc_pid_fdinfo(5)).
fn mount_id(folder: impl AsFd) -> Result<u64, Errno> {
    let path = format!("/proc/self/fdinfo/{}", folder.as_fd().as_raw_fd());
    let text = std::fs::read_to_string(path).map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::IO))?;
    let number = text.lines().find_map(|line| line.strip_prefix("mnt_id:")?.trim().parse().ok());
    number.ok_or(Errno::NOSYS)
}

/// What a folder holds, in the order in which the filesystem tells it: names and types.
///
/// # Errors
/// What the system answers.
pub fn entries(folder: impl AsFd) -> Result<Vec<(CString, FileType)>, Errno> {
    let folder = folder.as_fd();
    let mut found = Vec::new();
    for entry in Dir::read_from(folder)? {
        let entry = entry?;
        let name = entry.file_name();
        if name == c"." || name == c".." {
            continue;
        }
        let kind = match entry.file_type() {
            FileType::Unknown => FileType::from_raw_mode(statat(folder, name, AtFlags::SYMLINK_NOFOLLOW)?.st_mode),
            kind => kind,
        };
        found.push((name.to_owned(), kind));
    }
    Ok(found)
}

/// Removes what has this name, with all that is in it; links are removed, never followed. What is gone already is no error.
///
/// # Errors
/// What the system answers; `XDEV` where something is mounted below.
pub fn remove_tree(folder: impl AsFd, name: &CStr) -> Result<(), Errno> {
    remove(folder, name, MOST_DEPTH)
}

fn remove(folder: impl AsFd, name: &CStr, depth: usize) -> Result<(), Errno> {
    let folder = folder.as_fd();
    match unlinkat(folder, name, AtFlags::empty()) {
        Ok(()) | Err(Errno::NOENT) => return Ok(()),
        // POSIX says EPERM of a folder, Linux EISDIR.
        Err(Errno::ISDIR | Errno::PERM) if depth > 0 => {}
        Err(error) => return Err(error),
    }
    empty(&open_folder(folder, name)?, depth - 1)?;
    match unlinkat(folder, name, AtFlags::REMOVEDIR) {
        Err(Errno::NOENT) => Ok(()),
        other => other,
    }
}

fn empty(folder: &OwnedFd, depth: usize) -> Result<(), Errno> {
    entries(folder)?.iter().try_for_each(|(name, _)| remove(folder, name, depth))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tree_goes_with_its_links_and_what_they_lead_to_stays() {
        let place = tempfile::tempdir().unwrap();
        let keep = place.path().join("keep");
        std::fs::create_dir(&keep).unwrap();
        std::fs::write(keep.join("kept"), "x").unwrap();
        std::fs::create_dir_all(place.path().join("tree/a/b")).unwrap();
        std::fs::write(place.path().join("tree/a/b/file"), "x").unwrap();
        std::os::unix::fs::symlink(&keep, place.path().join("tree/a/link")).unwrap();
        let folder = std::fs::File::open(place.path()).unwrap();
        assert!(open_folder(&folder, c"tree").is_ok());
        std::os::unix::fs::symlink(&keep, place.path().join("link")).unwrap();
        assert!(matches!(open_folder(&folder, c"link"), Err(Errno::LOOP | Errno::NOTDIR)));
        let proc = std::fs::File::open("/proc").unwrap();
        assert_eq!(mount_id(&folder), mount_id(open_folder(&folder, c"tree").unwrap()));
        assert_ne!(mount_id(&folder), mount_id(&proc));
        remove_tree(&folder, c"tree").unwrap();
        remove_tree(&folder, c"tree").unwrap();
        remove_tree(&folder, c"link").unwrap();
        let left: Vec<CString> = entries(&folder).unwrap().into_iter().map(|entry| entry.0).collect();
        assert_eq!(left, [CString::from(c"keep")]);
        assert!(keep.join("kept").exists());
    }
}
