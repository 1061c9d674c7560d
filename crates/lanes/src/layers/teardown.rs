//! Takes away what layers are made of: a race its own, and a recovery what a killed race left.

use super::build::kernel_folder;
use super::superblock::{self, Identity, SUPERBLOCK_AT, hexadecimal};
use super::{queue, vm};
use crate::command;
use crate::device;
use crate::failure::{LaneFailure, cannot, failed};
use crate::guest::init;
use crate::undo::{Thing, is_run_id};
use std::collections::BTreeSet;
use std::fs::File;
use std::ops::RangeInclusive;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

/// How long udev, or a tool that was killed just now, may hold what is taken away.
const PATIENCE: Duration = Duration::from_secs(20);
const POLL: Duration = Duration::from_millis(20);
/// What runs call their devices, before their id. The kernel takes 127 bytes (linux/dm-ioctl.h, DM_NAME_LEN).
const PREFIX: &str = "fairlane-";
const LONGEST_NAME: usize = 127;
/// Numbers of arrays of races. The kernel has 512 (mdadm names its own from 127 downwards).
pub(super) const NUMBERS: RangeInclusive<u32> = 200..=511;
/// Where the UUID of the set stands on a disk of bcache (linux/bcache.h, `struct cache_sb_disk`), whose superblock lies where md's is.
pub(super) const CACHE_SET_UUID_AT: u64 = SUPERBLOCK_AT + 56;
/// There where the kernel has a device mapper.
const MAPPER: &str = "/sys/class/misc/device-mapper";
/// Where the kernel lists sets of bcache.
const CACHE_SETS: &str = "/sys/fs/bcache";

/// What a device of the mapper of this run is called.
pub(super) fn mapped_name(run_id: &str, lane: u32, number: usize, part: &str) -> String {
    format!("{PREFIX}{run_id}-{lane:02}-{number}-{part}")
}

/// What arrays of a run are called in the superblocks of their disks: nobody else's array is. The superblock holds 32 bytes.
pub(super) fn array_name(run_id: &str) -> String {
    format!("{PREFIX}{run_id}").chars().take(superblock::NAME_BYTES).collect()
}

/// Refuses what a journal names and no run makes: the run's id is part of a mapped device's name, and of the name of an array
/// on its disks. Caches are made in guests, where there is no journal.
///
/// # Errors
/// [`LaneFailure::Failed`] with what it names.
pub(crate) fn check_is_of_run(thing: &Thing, run_id: &str) -> Result<(), LaneFailure> {
    let is_uuid = |text: &str| text.len() == 32 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    let of_run = |name: &str| {
        let plain = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
        plain && name.len() <= LONGEST_NAME && name.starts_with(&format!("{PREFIX}{run_id}-"))
    };
    let fine = match thing {
        Thing::MappedDevice { name } => of_run(name),
        Thing::Array { number, uuid, name, .. } => {
            NUMBERS.contains(number) && is_uuid(uuid) && *name == array_name(run_id)
        }
        // What it sets is of no run's own: only what is as it was set is put back.
        Thing::Queue { set, was, .. } => queue::is_plain(set, was),
        Thing::KernelSettings { set, was } => vm::is_plain(set, was),
        _ => false,
    };
    if fine && is_run_id(run_id) {
        return Ok(());
    }
    Err(failed(format!(
        "the undo journal names {thing:?}, which no run makes, so it is left alone; remove the journal"
    )))
}

/// Takes one away; answers what was done, `None`: it was not there.
///
/// # Errors
/// What the tool or the kernel says where something holds it for longer than 20 seconds.
pub(crate) fn take_away(thing: &Thing) -> Result<Option<String>, LaneFailure> {
    match thing {
        Thing::MappedDevice { name } => remove_mapped(name),
        Thing::Array { number, uuid, name, disks } => {
            stop_arrays(*number, &Identity::new(uuid, name), disks).map(|(done, _)| done)
        }
        Thing::CacheSet { uuid, backing } => stop_cache(uuid, backing),
        Thing::Queue { device, sequence, set, was } => queue::put_back(*device, *sequence, (set, was)),
        Thing::KernelSettings { set, was } => vm::put_back(set, was),
        _ => Ok(None),
    }
}

/// Sets a disk's queue again where somebody set it otherwise; of anything else nothing is done.
///
/// # Errors
/// When the kernel does not take it.
pub(super) fn set_again(thing: &Thing) -> Result<(), LaneFailure> {
    match thing {
        Thing::Queue { device, sequence, set, .. } => queue::set_again(*device, *sequence, set),
        _ => Ok(()),
    }
}

/// What of a disk's queue, or of the kernel, did not stay as it was set, in a sentence without a full stop.
pub(super) fn changed(thing: &Thing) -> Option<String> {
    match thing {
        Thing::Queue { device, sequence, set, .. } => queue::changed(*device, *sequence, set),
        Thing::KernelSettings { set, .. } => vm::changed(set),
        _ => None,
    }
}

/// Takes it away from this machine, and the superblocks of an array with it: udev would put it together again.
///
/// # Errors
/// As [`take_away`]; where a superblock cannot be read or written.
pub(crate) fn take_away_for_good(thing: &Thing) -> Result<Option<String>, LaneFailure> {
    if let Thing::KernelSettings { set, was } = thing {
        return vm::put_back_left_over(set, was);
    }
    let Thing::Array { number, uuid, name, disks } = thing else { return take_away(thing) };
    let ours = Identity::new(uuid, name);
    let (done, members) = stop_arrays(*number, &ours, disks)?;
    // Those that it lacked by now, or that a try before could not wipe, are among the disks that it was made of.
    let all: BTreeSet<PathBuf> = members.into_iter().chain(disks.iter().cloned()).collect();
    let (mut done, mut first): (Vec<String>, _) = (done.into_iter().collect(), Ok(()));
    for disk in all {
        match superblock::forget(&disk, &ours) {
            Ok(true) => done.push(format!("wiped the superblock of {}", disk.display())),
            Ok(false) => {}
            // The others are wiped whatever one says.
            Err(error) => first = first.and(Err(error)),
        }
    }
    first.map(|()| (!done.is_empty()).then(|| done.join(", ")))
}

/// dmsetup with these words. In a guest nobody runs udev, and a host's dmsetup waits for it.
pub(super) fn dmsetup(words: &[&str]) -> Vec<String> {
    let (verb, rest) = words.split_first().expect("dmsetup is told what to do");
    let quiet = if init::is_here() { &["--noudevsync"][..] } else { &[] };
    ["dmsetup", verb].iter().chain(quiet).chain(rest).map(|word| (*word).to_owned()).collect()
}

/// Whether the device mapper has a device of this name, with a table or without: it shows nowhere else before it has one.
///
/// # Errors
/// When dmsetup is missing or fails.
fn is_mapped(name: &str) -> Result<bool, LaneFailure> {
    if !Path::new(MAPPER).exists() {
        return Ok(false);
    }
    if !crate::host::is_root() {
        // Only root is told of those without one, and only root makes any.
        return Ok(has_table(name));
    }
    let said = command::run(&dmsetup(&["ls"]), &AtomicBool::new(false))?.stdout;
    Ok(said.lines().any(|line| line.split_whitespace().next() == Some(name)))
}

fn has_table(name: &str) -> bool {
    let entries = std::fs::read_dir("/sys/block").into_iter().flatten().flatten();
    entries.into_iter().any(|entry| {
        let found = std::fs::read_to_string(entry.path().join("dm/name"));
        found.is_ok_and(|found| found.trim_end() == name)
    })
}

fn remove_mapped(name: &str) -> Result<Option<String>, LaneFailure> {
    if !is_mapped(name)? {
        return Ok(None);
    }
    patiently(&dmsetup(&["remove", "--retry", name]), || is_mapped(name).is_ok_and(|is| !is))?;
    Ok(Some(format!("removed /dev/mapper/{name}")))
}

/// Stops every array of this identity, whatever its number: udev may have put it together again under another. Without a UUID
/// the one of this number. Answers what was done, and the disks that they had. `disks`: those that it was made of.
fn stop_arrays(number: u32, ours: &Identity, disks: &[PathBuf]) -> Result<(Option<String>, Vec<PathBuf>), LaneFailure> {
    let own = format!("md{number}");
    let stop = |name: &str| ["mdadm", "--stop", "--quiet", &format!("/dev/{name}")].map(str::to_owned);
    let (mut stopped, mut found, mut unread) = (Vec::new(), Vec::new(), Ok(()));
    for name in arrays() {
        let members = members(&name);
        if members.is_empty() {
            // One that was about to be made. It has nothing of anybody's, and may go by itself.
            let _ = if name == own { run(&stop(&name)) } else { Ok(()) };
            continue;
        }
        let is_ours = match ours.uuid.is_empty() {
            true => name == own,
            false => is_of(&members, ours).unwrap_or_else(|error| {
                // Somebody's array with a disk that died is nobody's concern here.
                if members.iter().any(|member| disks.contains(member)) {
                    unread = Err(error);
                }
                false
            }),
        };
        if is_ours {
            patiently(&stop(&name), || !arrays().contains(&name))?;
            stopped.push(format!("stopped /dev/{name}"));
            found.extend(members);
        }
    }
    unread.map(|()| ((!stopped.is_empty()).then(|| stopped.join(", ")), found))
}

/// Whether an array's disks say that it is this one.
///
/// # Errors
/// When one cannot be read, and no other says anything.
fn is_of(members: &[PathBuf], ours: &Identity) -> Result<bool, LaneFailure> {
    let mut unread = Ok(());
    for disk in members {
        match File::open(disk).and_then(|disk| Identity::on(&disk)) {
            Ok(Some(found)) => return Ok(found == *ours),
            Ok(None) => {}
            Err(error) => unread = Err(cannot(format!("read the superblock of {}", disk.display()), error)),
        }
    }
    unread.map(|()| false)
}

/// The arrays of this machine: `md200`.
pub(super) fn arrays() -> Vec<String> {
    let entries = std::fs::read_dir("/sys/block").into_iter().flatten().flatten();
    let names = entries.filter(|entry| entry.path().join("md").is_dir());
    names.filter_map(|entry| entry.file_name().into_string().ok()).collect()
}

/// The disks of an array (the kernel's Documentation/admin-guide/md.rst): `dev-sda1` for each.
fn members(array: &str) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(format!("/sys/block/{array}/md")).into_iter().flatten().flatten();
    let name = |entry: std::fs::DirEntry| Some(entry.file_name().to_str()?.strip_prefix("dev-")?.replace('!', "/"));
    entries.filter_map(name).map(|name| Path::new("/dev").join(name)).collect()
}

/// First what stands on the cache, then the cache.
fn stop_cache(uuid: &str, backing: &Path) -> Result<Option<String>, LaneFailure> {
    let mut done = Vec::new();
    if let Ok(folder) = kernel_folder(backing) {
        let cached = folder.join("bcache");
        // Of a set that is gone the link is too; a device of the run's own is nobody else's.
        let set = std::fs::read_link(cached.join("cache")).ok();
        let set = set.as_deref().and_then(Path::file_name).map(|name| name.to_string_lossy().into_owned());
        let ours = match set {
            Some(set) => set == with_dashes(uuid),
            None => backing.to_string_lossy().contains(PREFIX),
        };
        if cached.is_dir() && ours {
            tell_to_stop(&cached)?;
            // The folder goes before the disk is let go of.
            device::wait_until_free(backing);
            done.push(format!("stopped the cache of {}", backing.display()));
        }
    }
    let set = Path::new(CACHE_SETS).join(with_dashes(uuid));
    if set.is_dir() {
        tell_to_stop(&set)?;
        done.push(format!("stopped the cache set {}", with_dashes(uuid)));
    }
    Ok((!done.is_empty()).then(|| done.join(", ")))
}

/// The kernel's Documentation/admin-guide/bcache.rst: the folder goes with it. It is told once.
fn tell_to_stop(folder: &Path) -> Result<(), LaneFailure> {
    let stop = folder.join("stop");
    std::fs::write(&stop, "1").map_err(|error| cannot(format!("write to {}", stop.display()), error))?;
    match is_soon(|| !folder.exists(), PATIENCE) {
        true => Ok(()),
        false => Err(failed(format!(
            "{} is still there {} s after it was told to stop; end what uses it, then run `fairlane clean`",
            folder.display(),
            PATIENCE.as_secs()
        ))),
    }
}

/// Runs a tool until it succeeds, and what it takes away is gone: who just held that lets go a moment later.
fn patiently(words: &[String], is_gone: impl Fn() -> bool) -> Result<(), LaneFailure> {
    let begun = Instant::now();
    loop {
        let result = run(words);
        if is_soon(&is_gone, if result.is_ok() { PATIENCE } else { POLL }) {
            return Ok(());
        }
        if begun.elapsed() > PATIENCE {
            let name = words.last().map_or("", String::as_str);
            return result.and(Err(failed(format!(
                "{name} is still there although {} took it away; end what uses it, then run `fairlane clean`",
                words[0]
            ))));
        }
    }
}

fn is_soon(is: impl Fn() -> bool, patience: Duration) -> bool {
    let begun = Instant::now();
    loop {
        if is() {
            return true;
        }
        if begun.elapsed() > patience {
            return false;
        }
        std::thread::sleep(POLL);
    }
}

fn run(words: &[String]) -> Result<(), LaneFailure> {
    command::run(words, &AtomicBool::new(false)).map(drop)
}

/// A UUID that nothing else has: 32 hexadecimal digits.
///
/// # Errors
/// When the kernel makes none.
pub(super) fn new_uuid() -> Result<String, LaneFailure> {
    let text = std::fs::read_to_string("/proc/sys/kernel/random/uuid");
    let text = text.map_err(|error| cannot("make a UUID", error))?;
    Ok(text.chars().filter(char::is_ascii_hexdigit).collect())
}

/// The sixteen bytes of a UUID on a disk.
///
/// # Errors
/// When it cannot be read.
pub(super) fn uuid_on(disk: &Path, at: u64) -> Result<String, LaneFailure> {
    let mut bytes = [0; 16];
    let read = File::open(disk).and_then(|file| file.read_exact_at(&mut bytes, at));
    read.map_err(|error| cannot(format!("read {}", disk.display()), error))?;
    Ok(hexadecimal(&bytes))
}

/// As bcache writes it: 8-4-4-4-12.
pub(super) fn with_dashes(uuid: &str) -> String {
    let mut text = uuid.to_owned();
    for at in [20, 16, 12, 8] {
        if text.is_char_boundary(at) && at < text.len() {
            text.insert(at, '-');
        }
    }
    text
}

/// As mdadm takes it: `aaaaaaaa:bbbbbbbb:cccccccc:dddddddd`.
pub(super) fn with_colons(uuid: &str) -> String {
    let digits: Vec<char> = uuid.chars().collect();
    digits.chunks(8).map(|part| part.iter().collect::<String>()).collect::<Vec<_>>().join(":")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    fn array(number: u32, uuid: &str, name: &str) -> Thing {
        Thing::Array { number, uuid: uuid.to_owned(), name: name.to_owned(), disks: Vec::new() }
    }

    const UUID: &str = "0123456789abcdef0123456789abcdef";

    #[test]
    fn only_what_a_run_makes_is_taken_away() {
        let mapped = |name: &str| Thing::MappedDevice { name: name.to_owned() };
        let queue = |attribute: &str, value: &str| Thing::Queue {
            device: (7, 0),
            sequence: 0,
            set: BTreeMap::from([(attribute.to_owned(), value.to_owned())]),
            was: BTreeMap::new(),
        };
        let kernel = |name: &str, value: &str| Thing::KernelSettings {
            set: BTreeMap::from([(name.to_owned(), value.to_owned())]),
            was: BTreeMap::new(),
        };
        for fine in [
            mapped("fairlane-r-00-1-crypt"),
            array(200, UUID, "fairlane-r"),
            queue("scheduler", "bfq"),
            kernel("dirty_ratio", "5"),
        ] {
            assert!(check_is_of_run(&fine, "r").is_ok(), "{fine:?}");
            assert!(check_is_of_run(&fine, "../r").is_err(), "{fine:?}");
        }
        for bad in [
            mapped("vg-root"),
            mapped("fairlane-other-00-1-crypt"),
            mapped("fairlane-r-00-1-crypt --force"),
            mapped(&format!("fairlane-r-{}", "x".repeat(200))),
            array(200, "", "fairlane-r"),
            array(0, UUID, "fairlane-r"),
            array(200, "0:1", "fairlane-r"),
            array(200, UUID, "home:0"),
            array(200, UUID, "fairlane-other"),
            array(200, UUID, ""),
            Thing::CacheSet { uuid: UUID.to_owned(), backing: "/dev/sda".into() },
            queue("../../power/control", "on"),
            queue("scheduler", "../none"),
            kernel("../kernel/core_pattern", "1"),
            kernel("panic_on_oom", "1"),
            kernel("dirty_ratio", "5\n"),
            Thing::Loop { backing: "/dev/sda".into() },
        ] {
            assert!(check_is_of_run(&bad, "r").is_err(), "{bad:?}");
        }
    }

    #[test]
    fn a_uuid_is_written_as_each_driver_writes_it() {
        let uuid = new_uuid().unwrap();
        assert_eq!(uuid.len(), 32);
        assert_ne!(uuid, new_uuid().unwrap());
        assert_eq!(with_dashes("0123456789abcdef0123456789abcdef"), "01234567-89ab-cdef-0123-456789abcdef");
        assert_eq!(with_colons("0123456789abcdef0123456789abcdef"), "01234567:89abcdef:01234567:89abcdef");
    }

    #[test]
    fn what_is_not_there_is_nothing_to_take_away() {
        let uuid = new_uuid().unwrap();
        for thing in [
            Thing::MappedDevice { name: "fairlane-no-such-run-00-0-crypt".to_owned() },
            array(511, &uuid, "fairlane-no-such-run"),
            Thing::CacheSet { uuid, backing: "/dev/no-such-disk".into() },
        ] {
            assert_eq!(take_away(&thing).unwrap(), None, "{thing:?}");
        }
    }
}
