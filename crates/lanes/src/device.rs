//! Block devices that a race overwrites: what is refused always, and what must be confirmed.
//!
//! Looking ([`inspect`]) and deciding ([`decide`]) are apart, so that every rule can be tested
//! without a disk. A device is looked at again before each mkfs: an exclusive open cannot be held
//! during the race, because mkfs and mount want it themselves.

use crate::failure::{LaneFailure, cannot, failed, privilege, usage};
use crate::{host, loop_device, mountinfo, signature};
use model::units::human_bytes;
use std::fs::{File, OpenOptions};
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt};
use std::path::{Component, Path, PathBuf};
use std::time::{Duration, Instant};

/// Major number of loop devices (Linux's list of device numbers).
pub(crate) const LOOP_MAJOR: u32 = 7;

/// Major and minor number of a device.
pub type DeviceNumber = (u32, u32);

/// A name given to `--erase` and the device that it stands for.
pub type Erasable = (PathBuf, DeviceNumber);

/// A block device as found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// The name that the lane used.
    pub named: PathBuf,
    /// `/dev/sdb1`: no symbolic link any more.
    pub path: PathBuf,
    /// As /proc/diskstats names it.
    pub kernel_name: String,
    /// Device number: major and minor.
    pub number: DeviceNumber,
    /// Changes whenever another disk appears under the same number; 0: the kernel does not tell.
    pub sequence: u64,
    /// Size in bytes.
    pub size_bytes: u64,
    /// Model; empty: it does not tell.
    pub model: String,
    /// Serial number; empty: it does not tell.
    pub serial: String,
    /// What lies on it.
    pub signature: Option<String>,
    /// The kernel refuses writes.
    pub read_only: bool,
    /// Who uses it, in words: `/dev/sdb1 is mounted at /home`. Empty: nobody.
    pub uses: Vec<String>,
}

/// What stands between a device and being overwritten.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Decision {
    /// Nothing.
    Go,
    /// A person must type something after reading something.
    Ask {
        /// What is shown.
        shown: Vec<String>,
        /// What must be typed, exactly.
        must_type: String,
    },
}

/// Asks the person at the terminal.
pub trait Confirm {
    /// Shows the lines and answers what was typed, without its line end; `None`: nothing was.
    fn ask(&mut self, shown: &[String], must_type: &str) -> Option<String>;
}

impl Found {
    /// A loop device.
    pub fn is_loop(&self) -> bool {
        self.number.0 == LOOP_MAJOR
    }

    /// What must be typed, and of what it is the end: the last four characters of the serial number. Spaces are left
    /// out, because what is typed loses them, and so is everything that a keyboard may lack; a number that has fewer
    /// than four others tells little, and the device's name stands in for it.
    fn must_type(&self) -> (String, &'static str) {
        let plain = |text: &str| text.chars().filter(char::is_ascii_graphic).collect::<Vec<char>>();
        let (characters, of) = match plain(&self.serial) {
            serial if serial.len() >= TYPED => (serial, "serial number"),
            _ => (plain(&self.kernel_name), "name"),
        };
        (characters[characters.len().saturating_sub(TYPED)..].iter().collect(), of)
    }
}

/// How many characters are typed to confirm a device.
const TYPED: usize = 4;

/// Where udev keeps names that stay with a disk.
const BY_ID: &str = "/dev/disk/by-id";

/// Whether a name stays with its disk: an entry of udev's folder itself. `/dev/disk/by-id/../../sda` only begins like
/// one.
fn is_stable(named: &Path) -> bool {
    let mut below = match named.strip_prefix(BY_ID) {
        Ok(below) => below.components(),
        Err(_) => return false,
    };
    matches!((below.next(), below.next()), (Some(Component::Normal(_)), None))
}

/// Decides whether a device may be overwritten. Pure.
///
/// # Errors
/// [`LaneFailure::Usage`] for every refusal, with what to do about it.
pub fn decide(found: &Found, erase: &[Erasable], terminal: bool) -> Result<Decision, LaneFailure> {
    let path = found.path.display();
    if let Some(first) = found.uses.first() {
        return Err(usage(format!(
            "{path} is in use and is never overwritten: {first}; free it first or choose another"
        )));
    }
    if found.read_only {
        return Err(usage(format!("{path} is read-only; make it writable or choose another device")));
    }
    if found.size_bytes == 0 {
        return Err(usage(format!("{path} has no size: no medium, or no image attached; choose another device")));
    }
    let holds = found.signature.as_deref().unwrap_or("no known signature");
    // Of several names for it one that stays counts.
    let names = || erase.iter().filter(|(_, number)| *number == found.number).map(|(named, _)| named);
    let Some(named) = names().find(|named| is_stable(named)).or_else(|| names().next()) else {
        return Err(usage(format!("{path} holds {holds}; pass --erase {} to overwrite it", found.named.display())));
    };
    if !terminal {
        if found.is_loop() || is_stable(named) {
            return Ok(Decision::Go);
        }
        return Err(usage(format!(
            "without a terminal --erase takes only a name that stays the same, and {} may be another disk after a reboot; name it by /dev/disk/by-id/…",
            named.display()
        )));
    }
    let or_unknown = |text: &str| if text.is_empty() { "unknown".to_owned() } else { text.to_owned() };
    let (must_type, what) = found.must_type();
    let spaced = what == "serial number" && found.serial.contains(char::is_whitespace);
    let spaces = if spaced { " (without spaces)" } else { "" };
    Ok(Decision::Ask {
        shown: vec![
            format!("{path} will be overwritten; everything on it is lost."),
            format!("  model      {}", or_unknown(&found.model)),
            format!("  serial     {}", or_unknown(&found.serial)),
            format!("  size       {}", human_bytes(found.size_bytes as f64)),
            format!("  now holds  {holds}"),
            format!("To go on, type the last {} characters of its {what}{spaces}.", must_type.chars().count()),
        ],
        must_type,
    })
}

/// Carries a decision out: asks where it must.
///
/// # Errors
/// [`LaneFailure::Usage`] where something else was typed.
pub fn confirm(found: &Found, decision: &Decision, person: &mut dyn Confirm) -> Result<(), LaneFailure> {
    let Decision::Ask { shown, must_type } = decision else { return Ok(()) };
    let without_spaces = |typed: String| typed.chars().filter(|c| !c.is_whitespace()).collect::<String>();
    match person.ask(shown, must_type).map(without_spaces) {
        Some(typed) if typed == *must_type => Ok(()),
        _ => Err(usage(format!(
            "{} was not confirmed and nothing was written; run it again and type what is asked for",
            found.path.display()
        ))),
    }
}

/// Resolves the names after `--erase`, keeping each beside the device number it stands for.
///
/// # Errors
/// [`LaneFailure::Usage`] where a name is no block device.
pub fn resolve_erase(erase: &[PathBuf]) -> Result<Vec<Erasable>, LaneFailure> {
    let resolve = |path: &PathBuf| match path.metadata() {
        Ok(metadata) if metadata.file_type().is_block_device() => Ok((path.clone(), number_of(metadata.rdev()))),
        Ok(_) => Err(usage(format!("--erase {}: that is no block device; name one", path.display()))),
        Err(error) => Err(usage(format!(
            "--erase {}: {}; name a block device that is there",
            path.display(),
            crate::failure::plain(&error)
        ))),
    };
    erase.iter().map(resolve).collect()
}

/// The kernel's own path of the block device that a word names, whatever links and dots stand in it; `None`: it names
/// none. A word that is no path is looked for in the working directory, as whoever opens it would.
pub(crate) fn named_by(word: &str) -> Option<PathBuf> {
    let metadata = Path::new(word).metadata().ok()?;
    if !metadata.file_type().is_block_device() {
        return None;
    }
    let number = number_of(metadata.rdev());
    // A device that the kernel has no longer, or a path that it knows by no name, is still nobody's to overwrite.
    Some(node_of(number).unwrap_or_else(|| std::path::absolute(word).unwrap_or_else(|_| word.into())))
}

/// `/dev/NAME` by the kernel's own name, where it is that device. Only root changes what lies there.
fn node_of(number: DeviceNumber) -> Option<PathBuf> {
    let name = host::block_name(number.0, number.1)?;
    let node = Path::new("/dev").join(name.replace('!', "/"));
    is_device(&node, number).then_some(node)
}

/// Refuses a path in which somebody else could put another device before it is opened.
fn only_root_changes(path: &Path) -> Result<(), LaneFailure> {
    let others = |folder: &Path| folder.metadata().is_ok_and(|of| of.uid() != 0 || of.mode() & 0o022 != 0);
    match path.ancestors().skip(1).find(|folder| others(folder)) {
        Some(folder) => Err(usage(format!(
            "{} lies in {}, where others than root may put another device in its place; name it by its path in /dev",
            path.display(),
            folder.display()
        ))),
        None => Ok(()),
    }
}

fn number_of(rdev: u64) -> DeviceNumber {
    (rustix::fs::major(rdev), rustix::fs::minor(rdev))
}

/// Looks at a block device: what it is, what lies on it, who uses it. Needs the right to open it.
///
/// # Errors
/// [`LaneFailure::Usage`] where it is none or not there, [`LaneFailure::Privilege`] without the
/// right to open it, [`LaneFailure::Failed`] where it does not answer.
pub fn inspect(named: &Path) -> Result<Found, LaneFailure> {
    let mut found = look(named)?;
    // Not every user claims a device: a virtual machine or a copy only has it open. Whoever probes
    // new devices (udev) lets go at once, so a second look decides.
    if found.uses.is_empty() && !openers(found.number).is_empty() {
        std::thread::sleep(std::time::Duration::from_millis(300));
        let still = openers(found.number);
        if !still.is_empty() {
            found.uses.push(format!("{} is open in {}", found.path.display(), still.join(", ")));
        }
    }
    Ok(found)
}

/// The other processes that have a block device open: `qemu (1234)`.
fn openers(number: DeviceNumber) -> Vec<String> {
    use std::os::unix::fs::FileTypeExt;
    let mut openers = Vec::new();
    for process in std::fs::read_dir("/proc").into_iter().flatten().flatten() {
        let Some(pid) = process.file_name().to_str().and_then(|name| name.parse::<u32>().ok()) else { continue };
        if pid == std::process::id() {
            continue;
        }
        let files = std::fs::read_dir(process.path().join("fd")).into_iter().flatten().flatten();
        let is_this = |link: std::path::PathBuf| {
            link.metadata().is_ok_and(|of| of.file_type().is_block_device() && number_of(of.rdev()) == number)
        };
        if files.map(|entry| entry.path()).any(is_this) {
            let name = std::fs::read_to_string(process.path().join("comm")).unwrap_or_default();
            openers.push(format!("{} ({pid})", name.trim()));
        }
    }
    openers
}

/// What [`inspect`] looks at, but for who has it open.
fn look(named: &Path) -> Result<Found, LaneFailure> {
    let path = named.canonicalize().map_err(|error| {
        usage(format!("{}: {}; name a block device that is there", named.display(), crate::failure::plain(&error)))
    })?;
    let metadata = path.metadata().map_err(|error| cannot(format!("look at {}", path.display()), error))?;
    if !metadata.file_type().is_block_device() {
        return Err(usage(format!(
            "{} is no block device; name one, or a directory without @ to race it as it is",
            path.display()
        )));
    }
    let number = number_of(metadata.rdev());
    let kernel_name = host::block_name(number.0, number.1)
        .ok_or_else(|| failed(format!("the kernel shows no device behind {}; choose another", path.display())))?;
    let path = match node_of(number) {
        Some(node) => node,
        None => only_root_changes(&path).map(|()| path)?,
    };
    let disk = host::whole_disk(&kernel_name);
    let sector_bytes = 512; // /sys counts in these whatever the device's own sectors are.
    let size_bytes = number_in(&format!("/sys/class/block/{kernel_name}/size")) * sector_bytes;
    let mut uses = uses_of(&kernel_name, &disk)?;
    if uses.is_empty() && opened_exclusively(&path)? {
        uses.push(format!("{} is opened exclusively by the kernel or another process", path.display()));
    }
    // A device in use is refused whatever it holds: it need not even be readable.
    let signature = if uses.is_empty() { read_signature(&path, size_bytes)? } else { None };
    let disk_text = |file: &str| text_in(&format!("/sys/class/block/{disk}/{file}"));
    let first = |a: String, b: String| if a.is_empty() { b } else { a };
    Ok(Found {
        named: named.to_owned(),
        number,
        sequence: number_in(&format!("/sys/class/block/{disk}/diskseq")),
        size_bytes,
        model: disk_text("device/model"),
        serial: first(first(disk_text("device/serial"), disk_text("serial")), udev_serial(&disk)),
        signature,
        read_only: number_in(&format!("/sys/class/block/{kernel_name}/ro")) != 0,
        uses,
        path,
        kernel_name,
    })
}

/// Looks again before a mkfs: it must still be the same device and still be nobody's.
///
/// # Errors
/// [`LaneFailure::Failed`] where it is not.
pub fn check_again(before: &Found) -> Result<(), LaneFailure> {
    wait_until_free(&before.path);
    let now = look(&before.named)?;
    let same = (now.number, now.sequence, now.size_bytes) == (before.number, before.sequence, before.size_bytes);
    if !same {
        return Err(failed(format!(
            "{} is another device than the one that was confirmed, so it is left alone; start again",
            before.named.display()
        )));
    }
    match now.uses.first() {
        Some(first) => Err(failed(format!("{} came into use: {first}; free it and start again", now.path.display()))),
        None if now.read_only => Err(failed(format!("{} became read-only; look at dmesg", now.path.display()))),
        None => Ok(()),
    }
}

fn read_signature(path: &Path, size_bytes: u64) -> Result<Option<String>, LaneFailure> {
    if size_bytes == 0 {
        return Ok(None);
    }
    let file = File::open(path).map_err(|error| cannot_open(path, error))?;
    let found = signature::read(&file, size_bytes);
    found.map(|name| name.map(str::to_owned)).map_err(|error| cannot(format!("read {}", path.display()), error))
}

fn cannot_open(path: &Path, error: std::io::Error) -> LaneFailure {
    if error.kind() == std::io::ErrorKind::PermissionDenied {
        return privilege(format!("opening {} needs root: sudo fairlane …", path.display()));
    }
    cannot(format!("open {}", path.display()), error)
}

fn text_in(path: &str) -> String {
    shown(&std::fs::read_to_string(path).unwrap_or_default())
}

/// What a disk says of itself, as a message may show it.
fn shown(text: &str) -> String {
    text.chars().filter(|c| !model::text::is_unsafe(*c)).collect::<String>().trim().to_owned()
}

fn number_in(path: &str) -> u64 {
    text_in(path).parse().unwrap_or(0)
}

/// SATA disks tell their serial number to udev only.
fn udev_serial(disk: &str) -> String {
    let number = text_in(&format!("/sys/class/block/{disk}/dev"));
    let data = std::fs::read_to_string(format!("/run/udev/data/b{number}")).unwrap_or_default();
    let line = |key: &str| data.lines().find_map(|line| line.strip_prefix(key)).map(shown);
    line("E:ID_SERIAL_SHORT=").or_else(|| line("E:ID_SERIAL=")).unwrap_or_default()
}

/// How long a device that was just unmounted or closed may stay claimed: rings and delayed closes give
/// their files back a moment after the process went.
const CLAIM_PATIENCE: Duration = Duration::from_secs(5);

/// Waits until nobody has a device claimed, or the patience ends; whoever uses it next tells why it
/// cannot.
pub(crate) fn wait_until_free(path: &Path) {
    let begun = Instant::now();
    while matches!(opened_exclusively(path), Ok(true)) && begun.elapsed() < CLAIM_PATIENCE {
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Mounted or claimed devices answer an exclusive open with EBUSY, in other mount namespaces too.
fn opened_exclusively(path: &Path) -> Result<bool, LaneFailure> {
    let open = OpenOptions::new().read(true).custom_flags(libc::O_EXCL | libc::O_NONBLOCK).open(path);
    match open {
        Ok(_) => Ok(false),
        Err(error) if error.raw_os_error() == Some(libc::EBUSY) => Ok(true),
        Err(error) => Err(cannot_open(path, error)),
    }
}

/// Everything that uses a device: itself, its partitions where a whole disk is named, and the disk
/// as a whole where a partition is named.
fn uses_of(name: &str, disk: &str) -> Result<Vec<String>, LaneFailure> {
    let mut names = vec![name.to_owned()];
    if name == disk {
        let entries = std::fs::read_dir(format!("/sys/class/block/{disk}")).into_iter().flatten().flatten();
        let partitions = entries.filter(|entry| entry.path().join("partition").exists());
        names.extend(partitions.filter_map(|entry| entry.file_name().into_string().ok()));
    } else {
        names.push(disk.to_owned());
    }
    let mounts = mountinfo::read().map_err(|error| cannot("read /proc/self/mountinfo", error))?;
    let swaps = std::fs::read_to_string("/proc/swaps").unwrap_or_default();
    let mut uses = Vec::new();
    for name in &names {
        let (major, minor) = number_text(name);
        for mount in &mounts {
            let by_number = (mount.major, mount.minor) == (major, minor);
            // btrfs shows another number than its device; its source is the device's path.
            if by_number || is_device(Path::new(&mount.source), (major, minor)) {
                uses.push(format!("/dev/{name} is mounted at {}", mount.target.display()));
            }
        }
        let swap_of = |line: &str| line.split_whitespace().next().map(|path| PathBuf::from(path.replace("\\040", " ")));
        if swaps.lines().skip(1).filter_map(swap_of).any(|path| is_device(&path, (major, minor))) {
            uses.push(format!("/dev/{name} is swap"));
        }
        for holder in std::fs::read_dir(format!("/sys/class/block/{name}/holders")).into_iter().flatten().flatten() {
            let holder = holder.file_name().to_string_lossy().into_owned();
            uses.push(format!("/dev/{name} belongs to {holder} (md, LVM or device mapper)"));
        }
        for (number, backing) in loop_device::attached() {
            if is_device(&backing, (major, minor)) {
                uses.push(format!("/dev/{name} carries /dev/loop{number}"));
            }
        }
    }
    uses.dedup();
    Ok(uses)
}

fn number_text(name: &str) -> DeviceNumber {
    let text = text_in(&format!("/sys/class/block/{name}/dev"));
    let parts = text.split_once(':').and_then(|(major, minor)| Some((major.parse().ok()?, minor.parse().ok()?)));
    // 0:0 is no device's number, so nothing matches it.
    parts.unwrap_or((0, 0))
}

fn is_device(path: &Path, number: DeviceNumber) -> bool {
    path.starts_with("/dev")
        && number != (0, 0)
        && path
            .metadata()
            .is_ok_and(|metadata| metadata.file_type().is_block_device() && number_of(metadata.rdev()) == number)
}

/// Overwrites what names an older filesystem. The caller has checked the device again.
///
/// # Errors
/// [`LaneFailure::Failed`] where it is claimed meanwhile or does not write.
pub(crate) fn wipe_signatures(found: &Found) -> Result<(), LaneFailure> {
    let fail = |error: std::io::Error| cannot(format!("wipe {}", found.path.display()), error);
    let file: File =
        OpenOptions::new().read(true).write(true).custom_flags(libc::O_EXCL).open(&found.path).map_err(fail)?;
    // The name may have come to stand for another device since it was looked at.
    let opened = number_of(file.metadata().map_err(fail)?.rdev());
    let sequence = number_in(&format!("/sys/class/block/{}/diskseq", host::whole_disk(&found.kernel_name)));
    if opened != found.number || sequence != found.sequence {
        return Err(failed(format!(
            "{} is another device than the one that was confirmed, so it is left alone; start again",
            found.path.display()
        )));
    }
    let zeros = vec![0u8; 1 << 20];
    for (offset, length) in signature::signature_areas(found.size_bytes) {
        std::os::unix::fs::FileExt::write_all_at(&file, &zeros[..(length as usize).min(zeros.len())], offset)
            .map_err(fail)?;
    }
    file.sync_all().map_err(fail)?;
    loop_device::flush_buffers(&file).map_err(fail)
}

/// Drops what the kernel caches of a device itself.
///
/// # Errors
/// [`LaneFailure::Failed`].
pub(crate) fn drop_cache(found: &Found) -> Result<(), LaneFailure> {
    loop_device::drop_cache_of(&found.path)
}

#[cfg(test)]
mod tests;
