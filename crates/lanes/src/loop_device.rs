//! Loop devices over image files, with direct I/O, so that no page cache of the host helps a lane.

use crate::failure::{LaneFailure, cannot, failed, plain, privilege};
use crate::throttle::standing;
use linux_raw_sys::loop_device::{
    LO_FLAGS_AUTOCLEAR, LO_FLAGS_DIRECT_IO, LOOP_CLR_FD, LOOP_CONFIGURE, LOOP_CTL_ADD, LOOP_CTL_GET_FREE, loop_config,
};
use std::ffi::OsString;
use std::fs::{File, OpenOptions};
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// How often a free number is asked for again when another process took it first.
const ATTEMPTS: usize = 64;
/// Device number of loop devices (the kernel's Documentation/admin-guide/devices.txt).
const LOOP_MAJOR: u32 = 7;
/// How many numbers are looked at for one that nothing limits.
const MOST_SKIPPED: u32 = 256;
/// How long a device may take to let go: udev or a dying mkfs may still hold it.
const DETACH_PATIENCE: Duration = Duration::from_secs(5);
/// How long the node of a new device may take to appear.
const NODE_PATIENCE: Duration = Duration::from_secs(2);
/// linux/fs.h: `_IO(0x12, 97)`, drop the device's cache.
const BLKFLSBUF: libc::Ioctl = 0x1261;

/// An attached loop device. It is attached with AUTOCLEAR and held open: it goes when we die,
/// unless a mount holds it, and then it goes with that mount.
#[derive(Debug)]
pub struct LoopDevice {
    number: u32,
    backing: PathBuf,
    block_bytes: u32,
    file: Option<File>,
}

impl LoopDevice {
    /// Attaches an image with direct I/O. The logical block size is `alignment_bytes`, what direct
    /// I/O on the image needs; where the kernel does not tell it, 512 and then 4096 are tried.
    ///
    /// # Errors
    /// [`LaneFailure::Privilege`] without the right or without the loop driver,
    /// [`LaneFailure::Failed`] where the kernel drops direct I/O or does not attach.
    pub fn attach(image: &Path, alignment_bytes: Option<u32>) -> Result<LoopDevice, LaneFailure> {
        let backing = OpenOptions::new()
            .read(true)
            .write(true)
            .custom_flags(libc::O_DIRECT | libc::O_NOFOLLOW)
            .open(image)
            .map_err(|error| cannot(format!("open {} with direct I/O", image.display()), error))?;
        let mut sizes = vec![512, 4096];
        if let Some(told) = alignment_bytes {
            sizes.retain(|&size| size >= told);
            if (512..=4096).contains(&told) && told.is_power_of_two() && !sizes.contains(&told) {
                sizes.insert(0, told);
            }
        }
        for block_bytes in sizes {
            let mut device = attach_with(&backing, image, block_bytes)?;
            if device.direct_io()? {
                return Ok(device);
            }
            // The kernel drops direct I/O silently where the block size does not fit.
            device.detach()?;
        }
        Err(failed(format!(
            "the kernel does no direct I/O between a loop device and {}, so its page cache would be measured; choose another place with --on DIR",
            image.display()
        )))
    }

    /// `/dev/loopN`.
    pub fn path(&self) -> PathBuf {
        PathBuf::from(format!("/dev/loop{}", self.number))
    }

    /// As /proc/diskstats names it: `loopN`.
    pub fn name(&self) -> String {
        format!("loop{}", self.number)
    }

    /// Logical block size in bytes.
    pub fn block_bytes(&self) -> u32 {
        self.block_bytes
    }

    /// Whether the kernel does direct I/O on the image now.
    ///
    /// # Errors
    /// [`LaneFailure::Failed`] where sysfs does not show it.
    pub fn direct_io(&self) -> Result<bool, LaneFailure> {
        let path = format!("/sys/block/loop{}/loop/dio", self.number);
        let text = std::fs::read_to_string(&path).map_err(|error| cannot(format!("read {path}"), error))?;
        Ok(text.trim() == "1")
    }

    /// Writes back and drops everything that the kernel caches of the device itself.
    ///
    /// # Errors
    /// [`LaneFailure::Failed`] where the kernel refuses.
    pub fn drop_cache(&self) -> Result<(), LaneFailure> {
        let file = self.file.as_ref().expect("an attached device is open");
        flush_buffers(file).map_err(|error| cannot(format!("drop the cache of {}", self.path().display()), error))
    }

    /// Writes back what the kernel caches of the device.
    ///
    /// # Errors
    /// [`LaneFailure::Failed`], where the image takes no write.
    pub fn sync(&self) -> Result<(), LaneFailure> {
        let file = self.file.as_ref().expect("an attached device is open");
        file.sync_all().map_err(|error| cannot(format!("write back {}", self.path().display()), error))
    }

    /// Detaches and waits until the image is let go of. The device must still be ours: its backing
    /// file is compared first.
    ///
    /// # Errors
    /// [`LaneFailure::Failed`] where something holds it.
    pub fn detach(&mut self) -> Result<(), LaneFailure> {
        let Some(file) = self.file.take() else { return Ok(()) };
        detach_number(self.number, &self.backing, Some(file))
    }

    /// Lets go without detaching: a mount on it keeps it, and it goes with that mount.
    pub fn leave(mut self) {
        self.file = None;
    }
}

impl Drop for LoopDevice {
    fn drop(&mut self) {
        // The net only: whoever cares calls `detach` and sees its error.
        let _ = self.detach();
    }
}

fn attach_with(backing: &File, image: &Path, block_bytes: u32) -> Result<LoopDevice, LaneFailure> {
    let control = OpenOptions::new().read(true).write(true).open("/dev/loop-control").map_err(|error| {
        if error.kind() == std::io::ErrorKind::NotFound {
            privilege(
                "the kernel has no loop devices; load them with `sudo modprobe loop` (without them `fairlane race` takes \
                 directories and guests)",
            )
        } else {
            privilege(format!(
                "loop devices need root ({}): run it with sudo (without root `fairlane race` takes directories and guests)",
                crate::failure::plain(&error)
            ))
        }
    })?;
    for _ in 0..ATTEMPTS {
        let number = unlimited(&control, free_number(&control)?)?;
        let file = open_when_there(number)?;
        match configure(&file, backing, block_bytes) {
            Ok(()) => {
                // Held read-only from here on: kernels that forbid writers of mounted devices
                // (BLK_DEV_WRITE_MOUNTED off) would refuse to mount it otherwise.
                let path = format!("/dev/loop{number}");
                let held = File::open(&path).map_err(|error| cannot(format!("open {path}"), error))?;
                drop(file);
                return Ok(LoopDevice { number, backing: image.to_owned(), block_bytes, file: Some(held) });
            }
            // Another process was faster: ask for the next free one.
            Err(error) if error.raw_os_error() == Some(libc::EBUSY) => {}
            Err(error) => {
                return Err(cannot(format!("attach {} to /dev/loop{number}", image.display()), error));
            }
        }
    }
    Err(failed("other processes took every free loop device; try again when they are done"))
}

fn free_number(control: &File) -> Result<u32, LaneFailure> {
    // SAFETY: LOOP_CTL_GET_FREE takes no argument and returns a number or -1; the descriptor is open.
    let number = unsafe { libc::ioctl(control.as_raw_fd(), LOOP_CTL_GET_FREE as libc::Ioctl) };
    u32::try_from(number).map_err(|_| cannot("get a free loop device", std::io::Error::last_os_error()))
}

/// This number, or the next one that nothing limits and no image has: a limit outlives the image it was set for, and
/// the lane that came to stand there would be slow for no reason of its own.
fn unlimited(control: &File, free: u32) -> Result<u32, LaneFailure> {
    let taken = |number: u32| number != free && backing_of(&format!("loop{number}")).is_some();
    let limited = |number: u32| !standing::on((LOOP_MAJOR, number)).is_empty();
    let found = (free..free.saturating_add(MOST_SKIPPED)).find(|&number| !taken(number) && !limited(number));
    let Some(number) = found else {
        return Err(failed(format!(
            "/dev/loop{free} and the {} numbers after it are taken, or have a limit of somebody else's; look at blkio.throttle.* and io.max in /sys/fs/cgroup",
            MOST_SKIPPED - 1
        )));
    };
    if number != free {
        // SAFETY: LOOP_CTL_ADD takes a number by value; the descriptor is open.
        let added = unsafe { libc::ioctl(control.as_raw_fd(), LOOP_CTL_ADD as libc::Ioctl, number) };
        let error = std::io::Error::last_os_error();
        if added < 0 && error.raw_os_error() != Some(libc::EEXIST) {
            return Err(cannot(format!("add loop device {number}"), error));
        }
    }
    Ok(number)
}

/// devtmpfs makes the node a moment after the number was given; a container's /dev never gets it.
fn open_when_there(number: u32) -> Result<File, LaneFailure> {
    let path = format!("/dev/loop{number}");
    let started = Instant::now();
    loop {
        match OpenOptions::new().read(true).write(true).open(&path) {
            Ok(file) => return Ok(file),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound && started.elapsed() < NODE_PATIENCE => {
                std::thread::sleep(Duration::from_millis(10));
            }
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                return Err(privilege(format!(
                    "the kernel gave loop device {number}, which does not appear in /dev, as in containers; make it there with `mknod -m 600 {path} b 7 {number}`, or show the container the host's /dev"
                )));
            }
            Err(error) => return Err(cannot(format!("open {path}"), error)),
        }
    }
}

fn configure(device: &File, backing: &File, block_bytes: u32) -> std::io::Result<()> {
    // SAFETY: loop_config is plain old data of integers and arrays of them; all zeros is valid.
    let mut config: loop_config = unsafe { std::mem::zeroed() };
    config.fd = backing.as_raw_fd() as u32;
    config.block_size = block_bytes;
    config.info.lo_flags = LO_FLAGS_DIRECT_IO as u32 | LO_FLAGS_AUTOCLEAR as u32;
    // SAFETY: LOOP_CONFIGURE reads one loop_config, which lives across the call; both descriptors
    // are open.
    let answer = unsafe { libc::ioctl(device.as_raw_fd(), LOOP_CONFIGURE as libc::Ioctl, &raw const config) };
    if answer == 0 { Ok(()) } else { Err(std::io::Error::last_os_error()) }
}

/// BLKFLSBUF on any block device.
pub(crate) fn flush_buffers(device: &File) -> std::io::Result<()> {
    // SAFETY: BLKFLSBUF takes no argument that it reads; the descriptor is open.
    let answer = unsafe { libc::ioctl(device.as_raw_fd(), BLKFLSBUF, 0) };
    if answer == 0 { Ok(()) } else { Err(std::io::Error::last_os_error()) }
}

/// Writes back and drops what the kernel caches of a block device itself.
///
/// # Errors
/// [`LaneFailure::Failed`] where it cannot be opened, or the kernel refuses.
pub(crate) fn drop_cache_of(device: &Path) -> Result<(), LaneFailure> {
    let flushed = File::open(device).and_then(|file| flush_buffers(&file));
    flushed.map_err(|error| cannot(format!("drop the cache of {}", device.display()), error))
}

/// The backing file of a loop device as sysfs shows it, without the ` (deleted)` of an unlinked
/// one; `None`: not attached.
pub fn backing_of(name: &str) -> Option<PathBuf> {
    let mut bytes = std::fs::read(format!("/sys/block/{name}/loop/backing_file")).ok()?;
    if bytes.last() == Some(&b'\n') {
        bytes.pop();
    }
    if let Some(kept) = bytes.strip_suffix(b" (deleted)") {
        bytes = kept.to_vec();
    }
    Some(PathBuf::from(OsString::from_vec(bytes)))
}

/// The numbers of all attached loop devices with their backing files.
pub fn attached() -> Vec<(u32, PathBuf)> {
    let entries = std::fs::read_dir("/sys/block").into_iter().flatten().flatten();
    let mut found: Vec<(u32, PathBuf)> = entries
        .filter_map(|entry| {
            let name = entry.file_name().into_string().ok()?;
            let number = name.strip_prefix("loop")?.parse().ok()?;
            Some((number, backing_of(&name)?))
        })
        .collect();
    found.sort();
    found
}

/// Detaches a device if `backing` still is what it carries, and waits until it has let go.
///
/// # Errors
/// [`LaneFailure::Failed`] where something holds it for longer than a few seconds.
pub(crate) fn detach_number(number: u32, backing: &Path, file: Option<File>) -> Result<(), LaneFailure> {
    let name = format!("loop{number}");
    if backing_of(&name).is_none_or(|found| found != backing) {
        return Ok(());
    }
    let device = match file {
        Some(file) => file,
        None => File::open(format!("/dev/{name}")).map_err(|error| cannot(format!("open /dev/{name}"), error))?,
    };
    let started = Instant::now();
    // SAFETY: LOOP_CLR_FD takes no argument; the descriptor is open.
    while unsafe { libc::ioctl(device.as_raw_fd(), LOOP_CLR_FD as libc::Ioctl, 0) } != 0 {
        let error = std::io::Error::last_os_error();
        match error.raw_os_error() {
            Some(libc::ENXIO) => return Ok(()),
            Some(libc::EBUSY) if started.elapsed() < DETACH_PATIENCE => {
                std::thread::sleep(Duration::from_millis(20));
            }
            _ => return Err(failed(format!("cannot detach /dev/{name}: {}", plain(&error)))),
        }
    }
    // With others at it, the kernel only promises to detach at the last close.
    drop(device);
    while backing_of(&name).is_some_and(|found| found == backing) {
        if started.elapsed() > DETACH_PATIENCE {
            return Err(failed(format!("/dev/{name} is still in use; end what uses it, then run `fairlane clean`")));
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    Ok(())
}
