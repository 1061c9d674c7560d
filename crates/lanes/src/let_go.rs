//! Whether a lane's device is let go of once the lane is unmounted. A second mount, of an automounter or in another
//! mount namespace, keeps the filesystem alive: what is read next would come from its cache, and be called cold.

use crate::device;
use crate::failure::{LaneFailure, cannot, failed};
use crate::mountinfo::{self, MountEntry};
use std::fs::OpenOptions;
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// How long a copy of the mount in a namespace that is not ours may take to go: services and containers that start
/// meanwhile copy all mounts for a moment.
const NAMESPACE_PATIENCE: Duration = Duration::from_secs(30);

/// Fails where the device of a lane that is not mounted stays claimed for longer than udev and its like take to look at it. What is no block
/// device was never claimed. `stop` ends the wait within seconds.
///
/// # Errors
/// [`LaneFailure::Failed`], naming who has it mounted where that shows; [`LaneFailure::Interrupted`].
pub(crate) fn check(device: &Path, stop: &AtomicBool) -> Result<(), LaneFailure> {
    if !device.metadata().is_ok_and(|of| of.file_type().is_block_device()) {
        return Ok(());
    }
    let begun = Instant::now();
    let user = loop {
        device::wait_until_free(device);
        match OpenOptions::new().read(true).custom_flags(libc::O_EXCL | libc::O_NONBLOCK).open(device) {
            Ok(_) => return Ok(()),
            Err(error) if error.raw_os_error() == Some(libc::EBUSY) => {}
            Err(error) => return Err(cannot(format!("open {}", device.display()), error)),
        }
        if stop.load(Ordering::Relaxed) {
            return Err(LaneFailure::Interrupted);
        }
        let number = number_of(device);
        if let Some(target) = mounted_here(device, number) {
            break format!(": it is mounted at {target}");
        }
        if begun.elapsed() > NAMESPACE_PATIENCE {
            break mounted_elsewhere(device, number)
                .map_or(String::new(), |process| format!(": {process} has it mounted in a namespace of its own"));
        }
    };
    Err(failed(format!(
        "{} stays in use although its lane is not mounted{user}, so it is neither cold nor free for a mkfs; end what uses it, switch automounting off, and start again",
        device.display()
    )))
}

fn number_of(device: &Path) -> (u32, u32) {
    let number = device.metadata().map_or(0, |of| of.rdev());
    (rustix::fs::major(number), rustix::fs::minor(number))
}

/// btrfs shows a number of its own; its source is the device.
fn is_on(mount: &MountEntry, device: &Path, number: (u32, u32)) -> bool {
    (mount.major, mount.minor) == number || Path::new(&mount.source) == device
}

/// Where this process sees a device mounted.
fn mounted_here(device: &Path, number: (u32, u32)) -> Option<String> {
    let mounts = mountinfo::read().unwrap_or_default();
    let mount = mounts.iter().find(|mount| is_on(mount, device, number))?;
    Some(model::text::escaped_path(&mount.target))
}

/// A process that sees it mounted where this one does not: `process 12 (name)`.
fn mounted_elsewhere(device: &Path, number: (u32, u32)) -> Option<String> {
    let entries = std::fs::read_dir("/proc").ok()?.flatten();
    let mut pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    pids.find_map(|pid| {
        let mounts = mountinfo::parse(&std::fs::read(format!("/proc/{pid}/mountinfo")).ok()?);
        mounts.iter().find(|mount| is_on(mount, device, number))?;
        let name = std::fs::read(format!("/proc/{pid}/comm")).unwrap_or_default();
        let name = model::text::escaped(name.strip_suffix(b"\n").unwrap_or(&name));
        Some(format!("process {pid} ({name})"))
    })
}
