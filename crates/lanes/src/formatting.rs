//! Formatting, mounting and unmounting one lane, whatever its contestant is.

use crate::command::{self, Running};
use crate::confined::Confined;
use crate::contestant::{Contestant, fill_device};
use crate::custom::{Custom, Kind, fill};
use crate::failure::{BUSY, LaneFailure, NotDone, failed};
use crate::let_go;
use crate::mount;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// How long a FUSE filesystem may take until its mount shows.
const FUSE_MOUNT_PATIENCE: Duration = Duration::from_secs(15);
/// How long a FUSE process may take to end after its unmount.
const FUSE_EXIT_PATIENCE: Duration = Duration::from_secs(5);

/// How long, in milliseconds, a program that left a daemon behind may take to end after the mount shows.
const DAEMON_GRACE_MS: u32 = 200;

/// How often a mkfs is tried whose device was claimed in the moment in which it looked.
const BUSY_TRIES: u32 = 3;

/// Makes the filesystem; answers what mkfs printed and how long it took. The seconds are mkfs's
/// own. `held`: the image that is formatted, where it is one; `beside`: the other devices that its words name.
pub(crate) fn format(
    contestant: &Contestant,
    mkfs_command: &[String],
    (device, held): (&Path, Option<BorrowedFd>),
    beside: &[&Path],
    stop: &AtomicBool,
) -> Result<Option<command::Output>, NotDone> {
    if mkfs_command.is_empty() {
        return Ok(None);
    }
    // What a program of the user's own writes is the user's affair.
    let confined = match contestant {
        Contestant::Custom(custom) if custom.row().is_none() => None,
        _ => Confined::to(&[&[device], beside].concat())?,
    };
    // Who is confined does not reach into another process: it is handed the image itself.
    let held = held.filter(|_| confined.is_some());
    let own = held.map(|held| PathBuf::from(format!("/proc/self/fd/{}", held.as_raw_fd())));
    let mut words = fill_device(mkfs_command, own.as_deref().unwrap_or(device));
    let silencer = if let Contestant::Row(row) = contestant { row.mkfs_silencer } else { None };
    let mut tries = 1;
    loop {
        let_go::check(device, stop)?;
        // Ours stands before what the lane says.
        let silenced = silencer.and_then(|silencer| words.iter().position(|word| word == silencer));
        match (command::run_confined(&words, (confined.as_ref(), held), stop), silenced) {
            // Whoever looks for a free loop device claims ours for a moment: mkfs gave up before it wrote anything.
            (Err(NotDone::OfMachine(LaneFailure::Failed(said))), _)
                if confined.is_some() && tries < BUSY_TRIES && is_busy(&said) =>
            {
                tries += 1;
            }
            // Once more for its words.
            (Err(NotDone::Silent { .. }), Some(at)) => {
                words.remove(at);
            }
            (answer, _) => return answer.map(Some),
        }
    }
}

/// Whether a mkfs says that its device is in use.
fn is_busy(said: &str) -> bool {
    let said = said.to_ascii_lowercase();
    BUSY.iter().any(|words| said.contains(words))
}

/// What is mounted where, and how.
pub(crate) struct MountRequest<'a> {
    pub(crate) contestant: &'a Contestant,
    /// The block device; for memory the word that the mount table shows.
    pub(crate) source: &'a Path,
    pub(crate) options: &'a [String],
    pub(crate) target: &'a Path,
}

/// Mounts. Answers the process of a FUSE filesystem that stays in the foreground.
pub(crate) fn mount(request: &MountRequest, stop: &AtomicBool) -> Result<Option<Running>, NotDone> {
    match request.contestant {
        Contestant::Row(row) => {
            mount::try_mount(row.mounted_as(), &request.source.to_string_lossy(), request.options, request.target)
                .map(|()| None)
        }
        Contestant::Custom(custom) => mount_custom(custom, request, stop),
        Contestant::Directory(_) => Ok(None),
    }
}

/// The whole mount command of a user's filesystem.
pub(crate) fn custom_mount_command(custom: &Custom, source: &Path, target: &Path, options: &[String]) -> Vec<String> {
    // Never empty, so that `-o {options}` always has a value.
    let options: Vec<&str> = ["nosuid", "nodev"].into_iter().chain(options.iter().map(String::as_str)).collect();
    fill(&custom.mount, source, target, &options.join(","))
}

fn mount_custom(custom: &Custom, request: &MountRequest, stop: &AtomicBool) -> Result<Option<Running>, NotDone> {
    let command = custom_mount_command(custom, request.source, request.target, request.options);
    match custom.kind {
        Kind::Kernel => {
            command::run_confined(&command, (None, None), stop)?;
            if !mount::is_mounted(request.target)? {
                let said = "succeeded but mounted nothing; correct `mount` in its file";
                return Err(failed(format!("the mount command of {} {said}", custom.name)).into());
            }
            Ok(None)
        }
        Kind::Fuse => mount_fuse(custom, &command, request.target, stop),
    }
}

/// A FUSE program either ends once mounted (a daemon took over) or stays as the filesystem.
fn mount_fuse(
    custom: &Custom,
    command: &[String],
    target: &Path,
    stop: &AtomicBool,
) -> Result<Option<Running>, NotDone> {
    let started = Instant::now();
    let mut running = Running::start(command)?;
    let mut ended = false;
    loop {
        if !ended && let Some(status) = running.wait(10)? {
            if !status.success() {
                return Err(running.not_done(status));
            }
            ended = true;
        }
        if mount::is_mounted(target)? {
            // A daemon took over where its starter ends now; only one that stays is the filesystem itself.
            if !ended && let Some(status) = running.wait(DAEMON_GRACE_MS)? {
                if !status.success() {
                    return Err(running.not_done(status));
                }
                ended = true;
            }
            running.ignore_output();
            return Ok((!ended).then_some(running));
        }
        if stop.load(Ordering::Relaxed) {
            return Err(LaneFailure::Interrupted.into());
        }
        if started.elapsed() > FUSE_MOUNT_PATIENCE {
            let said = "mounted nothing within 15 s; correct `mount` in its file";
            return Err(failed(format!("{} {said}", custom.name)).into());
        }
        if ended {
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

/// Unmounts and, for a FUSE process of ours, waits for its end: only then its data is on the
/// device.
pub(crate) fn unmount(
    contestant: &Contestant,
    source: &Path,
    target: &Path,
    process: Option<Running>,
) -> Result<(), LaneFailure> {
    match contestant {
        Contestant::Custom(custom) if !custom.unmount.is_empty() && mount::is_mounted(target)? => {
            command::run(&fill(&custom.unmount, source, target, ""), &AtomicBool::new(false))?;
            if mount::is_mounted(target)? {
                return Err(failed(format!(
                    "the unmount command of {} left {} mounted; correct `unmount` in its file",
                    custom.name,
                    target.display()
                )));
            }
        }
        _ => mount::unmount_patiently(target)?,
    }
    if let Some(mut process) = process {
        let started = Instant::now();
        while process.wait(50)?.is_none() {
            if started.elapsed() > FUSE_EXIT_PATIENCE {
                return Err(failed(format!(
                    "{} went on running after its unmount and was killed; what it still held is lost",
                    contestant.filesystem_name()
                )));
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What comes of this script as the mkfs of a filesystem, quiet as long as its first argument says so.
    fn formatted(filesystem: &str, script: &str) -> Result<(), NotDone> {
        let image = std::env::temp_dir().join(format!("fairlane-silent-{}-{filesystem}", std::process::id()));
        std::fs::write(&image, "").unwrap();
        let row = Contestant::Row(crate::filesystems::find(filesystem).unwrap());
        let words = ["sh", "-c", script, "mkfs", "-q", "{device}"].map(str::to_owned);
        let answer = format(&row, &words, (&image, None), &[], &AtomicBool::new(false));
        std::fs::remove_file(&image).unwrap();
        answer.map(drop)
    }

    #[test]
    fn a_mkfs_that_keeps_silent_is_asked_once_more_for_its_words() {
        let refuses = "[ \"$1\" = -q ] || echo 'Info: it needs extra attr'; exit 1";
        let told = formatted("f2fs", refuses);
        let Err(NotDone::Refused { words, .. }) = &told else { panic!("{told:?}") };
        assert_eq!(words, "Info: it needs extra attr");
        assert_eq!(formatted("f2fs", "[ \"$1\" != -q ]"), Ok(()), "the second answer counts");
        // What says nothing then either, or is not told to be quiet, is not asked again.
        for (filesystem, script) in [("f2fs", "exit 3"), ("ext4", "[ \"$1\" = -q ] || echo why; exit 3")] {
            let silent = formatted(filesystem, script);
            assert!(matches!(silent, Err(NotDone::Silent { status: 3, .. })), "{filesystem}: {silent:?}");
        }
    }

    #[test]
    fn a_device_that_is_in_use_is_known_by_the_words_of_every_mkfs() {
        for said in [
            "/dev/loop0 is apparently in use by the system; will not make a filesystem here!",
            "ERROR: unable to open /dev/loop0: Device or resource busy",
            "open: Resource busy",
            "Error: In use by the system!",
        ] {
            assert!(is_busy(said), "{said}");
        }
        assert!(!is_busy("log size 128m too large"));
    }
}
