//! Disks that processes of ours served, of runs that no journal knows: it lay in another directory, or is lost.

use super::remove_run_directory;
use crate::failure::{LaneFailure, cannot};
use crate::loop_device;
use crate::mount::unmount_patiently;
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
    if !crate::host::is_root() || ours.peek().is_none() {
        return Vec::new();
    }
    let served = served_places();
    let mut folders: Vec<PathBuf> = ours
        .filter(|mount| !served.contains(&mount.target))
        .filter_map(|mount| {
            mount.target.ancestors().skip(1).find(|folder| is_run_directory(folder)).map(Path::to_owned)
        })
        .collect();
    folders.sort();
    folders.dedup();
    // A run that ends takes its disks away itself: for a moment they are mounted and their servers gone.
    folders.retain(|folder| !run_lives(folder));
    folders
}

/// Whether the process that a run folder is named after still runs. A number that somebody else has by now
/// counts as alive only where it is a command of ours; a process that ended and was not waited for has no
/// command line.
fn run_lives(folder: &Path) -> bool {
    let pid = folder.file_name().and_then(|name| name.to_str()).and_then(|name| name.rsplit('-').next());
    let Some(pid) = pid.and_then(|pid| u32::from_str_radix(pid, 16).ok()) else { return false };
    let ours = std::fs::read_to_string(format!("/proc/{pid}/comm")).is_ok_and(|name| name.starts_with("fairlane"));
    ours && std::fs::read(format!("/proc/{pid}/cmdline")).is_ok_and(|line| !line.is_empty())
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
        if let Err(error) = unmount_patiently(&mount.target) {
            let still = |mounts: Vec<mountinfo::MountEntry>| mounts.iter().any(|of| of.target == mount.target);
            if mountinfo::read().map(still).unwrap_or(true) {
                return Err(error);
            }
            // Somebody else was faster.
            continue;
        }
        cleaned.push(format!("unmounted {}", mount.target.display()));
    }
    cleaned.extend(remove_run_directory(folder, None).map_err(LaneFailure::from)?);
    Ok(cleaned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_whose_process_is_there_is_not_dead() {
        let of = |name: String| run_lives(Path::new(&name));
        // This test is no command of ours, and nobody has a number that high.
        assert!(!of(format!("/a/.fairlane-1a20-{:x}", std::process::id())));
        assert!(!of("/a/.fairlane-1a20-7fffffff".to_owned()) && !of("/a/.fairlane-lanes-stays".to_owned()));
    }

    #[test]
    fn a_process_that_serves_a_disk_is_known_by_its_command_line() {
        let line = |text: &str| served_place(text.replace(' ', "\0").as_bytes());
        assert_eq!(line("fairlane recorder --at /a/.fairlane-r/images0 "), Some("/a/.fairlane-r/images0".into()));
        for other in ["", "fairlane recorder --sweep", "vim /a/.fairlane-r/images0", "fairlane race recorder"] {
            assert_eq!(line(other), None, "{other}");
        }
        assert!(is_run_directory(Path::new("/a/.fairlane-1a-b")));
        for other in ["/a/.fairlane-", "/a/fairlane-1", "/a/.fairlane-a.b", "/"] {
            assert!(!is_run_directory(Path::new(other)), "{other}");
        }
    }
}
