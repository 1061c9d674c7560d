//! Disks that processes of ours served, of runs that no journal knows: it lay in another directory, or is lost.

use super::{remove_run_directory, unmount_all};
use crate::failure::{LaneFailure, cannot};
use crate::loop_device;
use crate::mountinfo;
use crate::undo::{RUN_DIRECTORY_PREFIX, is_run_id};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// What the mount table calls a disk that a process of ours serves.
const SERVED: (&str, &str) = ("fuse", "fairlane");

/// The run folders in which a disk is mounted whose process is gone: whatever asks such a disk for anything gets
/// ENOTCONN, `stat` too, so that only the mount table tells of it. A process that serves names the place in its
/// command line.
pub(super) fn folders() -> Vec<PathBuf> {
    let mounts = mountinfo::read().unwrap_or_default();
    let mut ours =
        mounts.iter().filter(|mount| (mount.filesystem.as_str(), mount.source.as_str()) == SERVED).peekable();
    if !rustix::process::geteuid().is_root() || ours.peek().is_none() {
        return Vec::new();
    }
    let served = served_places();
    let mut folders: Vec<PathBuf> = ours
        .filter(|mount| !served.contains(&mount.target) && is_dead(&mount.target))
        .filter_map(|mount| {
            mount.target.ancestors().skip(1).find(|folder| is_run_directory(folder)).map(Path::to_owned)
        })
        .collect();
    folders.sort();
    folders.dedup();
    folders
}

/// Whether a disk that no process serves is really dead: since the mount table was read, a living run may have unmounted
/// it, or have mounted another one there. A dead one answers at once.
fn is_dead(target: &Path) -> bool {
    std::fs::metadata(target).is_err_and(|error| error.raw_os_error() == Some(libc::ENOTCONN))
}

fn is_run_directory(folder: &Path) -> bool {
    let name = folder.file_name().and_then(|name| name.to_str());
    name.and_then(|name| name.strip_prefix(RUN_DIRECTORY_PREFIX)).is_some_and(is_run_id)
}

/// Where living processes serve disks: the argument that follows `--at` of `recorder`.
fn served_places() -> Vec<PathBuf> {
    let processes = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    // The command line of a process that ended is empty.
    let lines = processes.filter_map(|process| std::fs::read(process.path().join("cmdline")).ok());
    lines.filter_map(|line| served_place(&line)).collect()
}

fn served_place(line: &[u8]) -> Option<PathBuf> {
    let mut words = line.split(|&byte| byte == 0).skip_while(|word| *word != b"recorder").skip(1);
    (words.next()? == b"--at").then_some(())?;
    Some(PathBuf::from(std::ffi::OsStr::from_bytes(words.next()?)))
}

/// Takes away what a run left of which no journal is there: everything mounted in its folder, from the top down.
///
/// # Errors
/// What is in use, or a folder that is not ours.
pub(super) fn take_away(folder: &Path) -> Result<Vec<String>, LaneFailure> {
    let mut cleaned = Vec::new();
    let mounts = mountinfo::read().map_err(|error| cannot("read /proc/self/mountinfo", error))?;
    for mount in mountinfo::below(&mounts, folder).rev() {
        for (number, backing) in loop_device::attached() {
            if backing.starts_with(&mount.target) {
                loop_device::detach_number(number, &backing, None)?;
                cleaned.push(format!("detached /dev/loop{number}"));
            }
        }
        cleaned.extend(unmount_all(&mount.target, None)?);
    }
    cleaned.extend(remove_run_directory(folder, None)?);
    Ok(cleaned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_that_serves_a_disk_is_known_by_its_command_line() {
        let line = |text: &str| served_place(text.replace(' ', "\0").as_bytes());
        assert_eq!(line("fairlane recorder --at /a/.fairlane-r/images0 "), Some("/a/.fairlane-r/images0".into()));
        for other in ["", "fairlane recorder --sweep", "vim /a/.fairlane-r/images0", "fairlane race recorder"] {
            assert_eq!(line(other), None, "{other}");
        }
        assert!(!is_dead(Path::new("/proc")) && !is_dead(Path::new("/nonexistent")), "only ENOTCONN is a dead disk");
        assert!(is_run_directory(Path::new("/a/.fairlane-1a-b")));
        for other in ["/a/.fairlane-", "/a/fairlane-1", "/a/.fairlane-a.b", "/"] {
            assert!(!is_run_directory(Path::new(other)), "{other}");
        }
    }
}
