//! Disks that processes of ours served, of runs that no journal knows: it lay in another directory, or is lost.

use super::remove_run_directory;
use crate::failure::{LaneFailure, cannot, failed};
use crate::loop_device;
use crate::mount::unmount_patiently;
use crate::mountinfo::{self, MountEntry};
use crate::run_folder::can_be_replaced;
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
    let mut ours = mounts.iter().filter(|mount| is_served_by_root(mount)).peekable();
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
    // No journal says that a run made the folder. Where others could have put it, it proves nothing: root's runs stand in
    // places that only root writes, or are reached through one below /run.
    folders.retain(|folder| folder.parent().is_some_and(|parent| matches!(can_be_replaced(parent), Ok(false))));
    folders
}

/// Whether a process of root's serves it: anybody may mount a FUSE filesystem under any name, and the kernel says whose it is.
fn is_served_by_root(mount: &MountEntry) -> bool {
    (mount.filesystem.as_str(), mount.source.as_str()) == SERVED
        && mount.super_options.iter().any(|option| option == "user_id=0")
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
    let served: Vec<&Path> =
        mountinfo::below(&mounts, folder).filter(|of| is_served_by_root(of)).map(|of| of.target.as_path()).collect();
    let backed = |number: u32| {
        let attached = loop_device::attached();
        attached.into_iter().any(|(of, backing)| of == number && served.iter().any(|place| backing.starts_with(place)))
    };
    let is_ours = |mount: &MountEntry| {
        let of_loop = mount.source.strip_prefix("/dev/loop").and_then(|number| number.parse().ok());
        is_served_by_root(mount) || of_loop.is_some_and(backed)
    };
    // Somebody's disk in there is left alone, and the folder with it.
    if let Some(foreign) = mountinfo::below(&mounts, folder).find(|mount| !is_ours(mount)) {
        return Err(failed(format!(
            "{} is mounted from {}, which is no disk of Fairlane's, so {} is left alone; unmount it yourself",
            foreign.target.display(),
            foreign.source,
            folder.display()
        )));
    }
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
    fn a_disk_that_anybody_else_serves_under_our_name_is_none_of_ours() {
        let line = |options: &str| format!("40 22 0:44 / /a/.fairlane-1a-b/m rw,nosuid - fuse fairlane rw,{options}\n");
        let is_ours = |options: &str| is_served_by_root(&mountinfo::parse(line(options).as_bytes())[0]);
        assert!(is_ours("user_id=0,group_id=0,default_permissions"));
        for options in ["user_id=1000,group_id=0", "group_id=0", "user_id=01"] {
            assert!(!is_ours(options), "{options}");
        }
    }

    #[test]
    fn a_folder_in_which_somebodys_disk_is_mounted_is_left_alone() {
        if !crate::host::is_root() {
            eprintln!("skipped: mounting needs root");
            return;
        }
        let top = PathBuf::from(format!("/run/fairlane-dead-{}", std::process::id()));
        let folder = top.join(".fairlane-1a-b");
        let inside = folder.join("m");
        std::fs::create_dir_all(&inside).unwrap();
        std::fs::write(folder.join("important"), "data").unwrap();
        crate::mount::mount("tmpfs", "theirs", &[], &inside).unwrap();
        let refused = take_away(&folder).unwrap_err().to_string();
        let mounted = crate::mount::is_mounted(&inside).unwrap();
        unmount_patiently(&inside).unwrap();
        assert!(mounted && refused.contains("is no disk of Fairlane's"), "{refused}");
        let kept = std::fs::read_to_string(folder.join("important"));
        std::fs::remove_dir_all(&top).unwrap();
        assert_eq!(kept.unwrap(), "data");
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
