//! Mounting through the kernel's own step-by-step interface, so that an option it does not know is
//! refused by name in the kernel's own words; and unmounting that waits for what is busy.

use crate::failure::{LaneFailure, NotDone, failed, is_refusal, privilege, usage};
use crate::{mountinfo, run_folder};
use rustix::fd::{AsFd, AsRawFd, OwnedFd};
use rustix::io::Errno;
use rustix::mount::{
    FsMountFlags, FsOpenFlags, MountAttrFlags, MoveMountFlags, OpenTreeFlags, UnmountFlags, fsconfig_create,
    fsconfig_set_flag, fsconfig_set_string, fsmount, fsopen, move_mount, open_tree, unmount,
};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// How long a mount or an unmount that answers EBUSY is tried again: short-lived openers (udev, blkid) are gone
/// by then.
const BUSY_PATIENCE: Duration = Duration::from_secs(2);

/// Options that belong to the mount, not to the filesystem.
fn attribute(option: &str) -> Option<Attribute> {
    use Attribute::{Clear, Ignored, Set, Time};
    Some(match option {
        "nosuid" => Set(MountAttrFlags::MOUNT_ATTR_NOSUID),
        "nodev" => Set(MountAttrFlags::MOUNT_ATTR_NODEV),
        "noexec" => Set(MountAttrFlags::MOUNT_ATTR_NOEXEC),
        "exec" => Clear(MountAttrFlags::MOUNT_ATTR_NOEXEC),
        "nodiratime" => Set(MountAttrFlags::MOUNT_ATTR_NODIRATIME),
        "diratime" => Clear(MountAttrFlags::MOUNT_ATTR_NODIRATIME),
        "nosymfollow" => Set(MountAttrFlags::MOUNT_ATTR_NOSYMFOLLOW),
        "noatime" => Time(MountAttrFlags::MOUNT_ATTR_NOATIME),
        "strictatime" => Time(MountAttrFlags::MOUNT_ATTR_STRICTATIME),
        "relatime" | "atime" => Time(MountAttrFlags::MOUNT_ATTR_RELATIME),
        "defaults" | "rw" => Ignored,
        _ => return None,
    })
}

enum Attribute {
    Set(MountAttrFlags),
    Clear(MountAttrFlags),
    /// One of a set of which the last counts.
    Time(MountAttrFlags),
    Ignored,
}

/// A configured but not yet created filesystem.
struct Context {
    fd: OwnedFd,
    attributes: MountAttrFlags,
}

/// Mounts `source` at `target`, always nosuid and nodev. `ro`, `sync`, `dirsync` and `lazytime` go
/// to the filesystem, `noatime` and its kin to the mount, everything else to the filesystem.
///
/// # Errors
/// [`LaneFailure::Usage`] for an option the kernel refuses, with its words;
/// [`LaneFailure::Privilege`] without the right to mount; [`LaneFailure::Failed`] otherwise.
pub fn mount(filesystem: &str, source: &str, options: &[String], target: &Path) -> Result<(), LaneFailure> {
    try_mount(filesystem, source, options, target).map_err(LaneFailure::from)
}

/// [`mount`], with whether the kernel refused what it was told.
///
/// # Errors
/// As there.
pub(crate) fn try_mount(filesystem: &str, source: &str, options: &[String], target: &Path) -> Result<(), NotDone> {
    let context = create(filesystem, source, options)?;
    let cannot = |error: Errno| {
        NotDone::Failed(failed(format!("cannot mount {filesystem} at {}: {}", target.display(), reason(error))))
    };
    let mounted = fsmount(context.fd.as_fd(), FsMountFlags::FSMOUNT_CLOEXEC, context.attributes).map_err(cannot)?;
    move_here(&mounted, target).map_err(cannot)
}

/// Has the kernel make the filesystem of what is on `source`. Where it is busy, that is tried again for a while: whoever
/// attaches a loop device asks for a free one, and where two ask at once the kernel claims the one that is ours for a moment.
fn create(filesystem: &str, source: &str, options: &[String]) -> Result<Context, NotDone> {
    let begun = Instant::now();
    loop {
        let mut context = configure(filesystem, Some(source), options)?;
        if has(options, "ro") {
            context.attributes |= MountAttrFlags::MOUNT_ATTR_RDONLY;
        }
        let error = match fsconfig_create(context.fd.as_fd()) {
            Ok(()) => return Ok(context),
            Err(Errno::BUSY) if begun.elapsed() < BUSY_PATIENCE => {
                std::thread::sleep(Duration::from_millis(10));
                continue;
            }
            Err(error) => error,
        };
        let why = match kernel_words(&context.fd) {
            // Words of what it came upon do not tell whether an option is at fault.
            Some(words) if error != Errno::INVAL => format!("{words} ({})", reason(error)),
            Some(words) => words,
            None => format!("{}; the kernel log (dmesg) may say more", reason(error)),
        };
        let words = format!("mounting {filesystem} with options `{}` failed: {why}", options.join(","));
        return Err(NotDone::by_kernel(error, words.clone(), failed(words)));
    }
}

/// Mounts a directory of what is mounted once more, at `target`, as `mount --bind` does.
///
/// # Errors
/// As [`mount`].
pub(crate) fn mount_again(directory: &OwnedFd, target: &Path) -> Result<(), LaneFailure> {
    let cannot =
        |error: Errno| failed(format!("cannot mount a directory again at {}: {}", target.display(), reason(error)));
    let flags = OpenTreeFlags::OPEN_TREE_CLONE | OpenTreeFlags::OPEN_TREE_CLOEXEC | OpenTreeFlags::AT_EMPTY_PATH;
    let again = open_tree(directory, "", flags).map_err(cannot)?;
    move_here(&again, target).map_err(cannot)
}

/// Attaches a mount. No part of the target may be a link by now: it was none when the target was chosen.
fn move_here(mounted: &OwnedFd, target: &Path) -> Result<(), Errno> {
    let at = run_folder::open_directory(target)?;
    let both = MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH | MoveMountFlags::MOVE_MOUNT_T_EMPTY_PATH;
    move_mount(mounted.as_fd(), "", at.as_fd(), "", both)
}

/// Asks the kernel whether it knows these options, without mounting anything. Nothing is written.
///
/// # Errors
/// As [`mount`].
pub fn try_options(filesystem: &str, options: &[String]) -> Result<(), LaneFailure> {
    configure(filesystem, None, options).map(|_| ()).map_err(LaneFailure::from)
}

fn configure(filesystem: &str, source: Option<&str>, options: &[String]) -> Result<Context, NotDone> {
    let fd = fsopen(filesystem, FsOpenFlags::FSOPEN_CLOEXEC).map_err(|error| match error {
        Errno::NODEV => privilege(format!("the kernel lacks {filesystem}; boot one that has it, or race another")),
        Errno::PERM => privilege(
            "mounting needs root: run it with sudo (without root `fairlane race` takes directories and guests)",
        ),
        other => failed(format!("cannot mount {filesystem}: {}", reason(other))),
    })?;
    if let Some(source) = source {
        fsconfig_set_string(fd.as_fd(), "source", source)
            .map_err(|error| failed(format!("{filesystem} does not take {source}: {}", reason(error))))?;
    }
    let mut attributes = MountAttrFlags::MOUNT_ATTR_NOSUID | MountAttrFlags::MOUNT_ATTR_NODEV;
    let times = MountAttrFlags::MOUNT_ATTR_NOATIME | MountAttrFlags::MOUNT_ATTR_STRICTATIME;
    for option in options {
        match attribute(option) {
            Some(Attribute::Set(flag)) => attributes |= flag,
            Some(Attribute::Clear(flag)) => attributes -= flag,
            Some(Attribute::Time(flag)) => attributes = (attributes - times) | flag,
            Some(Attribute::Ignored) => {}
            None => give(&fd, filesystem, option)?,
        }
    }
    Ok(Context { fd, attributes })
}

/// Hands one option to the filesystem.
fn give(fd: &OwnedFd, filesystem: &str, option: &str) -> Result<(), NotDone> {
    let given = match option.split_once('=') {
        Some((key, value)) => fsconfig_set_string(fd.as_fd(), key, value),
        None => fsconfig_set_flag(fd.as_fd(), option),
    };
    given.map_err(|error| {
        let why = kernel_words(fd).unwrap_or_else(|| reason(error));
        not_given(filesystem, option, error, &why)
    })
}

/// Why the kernel did not take one option: it asks some of them for a right that they have not.
fn not_given(filesystem: &str, option: &str, error: Errno, why: &str) -> NotDone {
    if is_refusal(error) || matches!(error, Errno::ACCESS | Errno::PERM) {
        let words = format!("{filesystem} refuses the mount option `{option}`: {why}");
        return NotDone::Refused { failure: usage(format!("{words}; remove or correct it")), words };
    }
    NotDone::Failed(failed(format!(
        "cannot set the mount option `{option}` of {filesystem}: {why}; the kernel log (dmesg) may say more"
    )))
}

/// What the kernel wrote into the context: `e ext4: Unknown parameter 'x'`, one message a read.
fn kernel_words(fd: &OwnedFd) -> Option<String> {
    let mut words = Vec::new();
    let mut buffer = [0u8; 1024];
    while let Ok(count) = rustix::io::read(fd, &mut buffer) {
        let text = String::from_utf8_lossy(&buffer[..count]);
        // `e`, `w`, `i`: error, warning, information. Only errors say why.
        if let Some(text) = text.strip_prefix("e ") {
            words.push(text.trim_end().to_owned());
        }
        if count == 0 || words.len() > 8 {
            break;
        }
    }
    (!words.is_empty()).then(|| words.join("; "))
}

fn reason(error: Errno) -> String {
    crate::failure::plain(&error.into())
}

/// Whether an option stands in a list.
pub fn has(options: &[String], option: &str) -> bool {
    options.iter().any(|given| given == option)
}

/// Unmounts the topmost mount at `target`, no part of whose path may be a link, trying again for about two seconds while it is busy.
///
/// # Errors
/// [`LaneFailure::Failed`]; a busy mount names the processes that hold it.
pub fn unmount_patiently(target: &Path) -> Result<(), LaneFailure> {
    let started = Instant::now();
    loop {
        match unmount_once(target) {
            Ok(()) => return Ok(()),
            Err(Errno::BUSY) if started.elapsed() < BUSY_PATIENCE => std::thread::sleep(Duration::from_millis(20)),
            Err(Errno::BUSY) => {
                let holders = holders_below(target);
                let named = if holders.is_empty() { "something in the kernel".to_owned() } else { holders.join(", ") };
                return Err(failed(format!(
                    "cannot unmount {}: it is held by {named}; end that, then run `fairlane clean`",
                    target.display()
                )));
            }
            Err(error) => return Err(failed(format!("cannot unmount {}: {}", target.display(), reason(error)))),
        }
    }
}

/// Unmounts what is mounted at a name in its folder: no link on the way leads to somebody else's mount.
fn unmount_once(target: &Path) -> Result<(), Errno> {
    let (parent, name) = run_folder::parent_of(target)?;
    // An open descriptor of the mount itself would keep it busy.
    let here = Path::new("/proc/self/fd").join(parent.as_raw_fd().to_string()).join(name);
    unmount(&here, UnmountFlags::NOFOLLOW)
}

/// Whether something is mounted at exactly this path.
///
/// # Errors
/// The mount table cannot be read.
pub fn is_mounted(target: &Path) -> Result<bool, LaneFailure> {
    let mounts = mountinfo::read().map_err(|error| crate::failure::cannot("read /proc/self/mountinfo", error))?;
    Ok(mountinfo::at(&mounts, target).is_some())
}

/// The processes that have something open, or stand, below a folder: `vim (1234)`.
fn holders_below(folder: &Path) -> Vec<String> {
    let Ok(processes) = std::fs::read_dir("/proc") else { return Vec::new() };
    let mut holders = Vec::new();
    for process in processes.flatten() {
        let path = process.path();
        let Some(pid) = process.file_name().to_str().and_then(|name| name.parse::<u32>().ok()) else { continue };
        let mut links: Vec<PathBuf> = ["cwd", "root", "exe"].map(|name| path.join(name)).to_vec();
        links.extend(std::fs::read_dir(path.join("fd")).into_iter().flatten().flatten().map(|entry| entry.path()));
        if links.iter().any(|link| std::fs::read_link(link).is_ok_and(|to| to.starts_with(folder))) {
            let name = std::fs::read_to_string(path.join("comm")).unwrap_or_default();
            holders.push(format!("{} ({pid})", name.trim()));
        }
        if holders.len() == 5 {
            break;
        }
    }
    holders
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_option_is_refused_or_could_not_be_set_in_words_and_in_type() {
        let told = |error: Errno| not_given("xfs", "logbsize=1", error, &reason(error));
        for (error, why) in [
            (Errno::INVAL, "Invalid argument"),
            (Errno::PERM, "Operation not permitted"),
            (Errno::ACCESS, "Permission denied"),
        ] {
            let words = format!("xfs refuses the mount option `logbsize=1`: {why}");
            let failure = usage(format!("{words}; remove or correct it"));
            assert_eq!(told(error), NotDone::Refused { words, failure });
        }
        for (error, why) in [(Errno::ROFS, "Read-only file system"), (Errno::NOMEM, "Cannot allocate memory")] {
            let words = format!("cannot set the mount option `logbsize=1` of xfs: {why}");
            let failure = failed(format!("{words}; the kernel log (dmesg) may say more"));
            assert_eq!(told(error), NotDone::Failed(failure));
        }
    }
}
