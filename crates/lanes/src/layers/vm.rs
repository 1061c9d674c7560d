//! Settings of the kernel's writeback and page cache (its Documentation/admin-guide/sysctl/vm.rst), made while their lane is open.
//!
//! They are the whole machine's: lanes of a race that has such a layer are open one after the other, so that each works with its
//! own settings, and every other one with what the machine has by itself. What stood there before stands there again afterwards.

use super::build::Building;
use super::{Layer, LayerOption, Options, Takes, never, unchanged};
use crate::failure::{LaneFailure, cannot, failed, is_refusal, plain, privilege, usage};
use crate::undo::Thing;
use rustix::fs::{Access, FlockOperation, Mode, OFlags, access, flock, open};
use rustix::io::Errno;
use rustix::param::page_size;
use std::collections::BTreeMap;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, Weak};

/// What a command locks that sets them. Only root opens it: what everybody may open, everybody may lock for ever.
pub(super) const LOCK: &str = "/run/fairlane-vm.lock";
/// The lock of this process, while any of it is held.
static HELD: Mutex<Weak<File>> = Mutex::new(Weak::new());
/// Where the kernel has them.
const FOLDER: &str = "/proc/sys/vm";
const RATIO: &str = "dirty_ratio";
const BYTES: &str = "dirty_bytes";
const BACKGROUND_RATIO: &str = "dirty_background_ratio";
const BACKGROUND_BYTES: &str = "dirty_background_bytes";
const EXPIRE: &str = "dirty_expire_centisecs";
const WRITEBACK: &str = "dirty_writeback_centisecs";
const CACHE_PRESSURE: &str = "vfs_cache_pressure";
const SWAPPINESS: &str = "swappiness";
/// All that is ever written there.
pub(crate) const NAMES: [&str; 8] =
    [RATIO, BYTES, BACKGROUND_RATIO, BACKGROUND_BYTES, EXPIRE, WRITEBACK, CACHE_PRESSURE, SWAPPINESS];
/// One of each two is 0: who sets the one has the kernel set the other to 0.
const PAIRS: [[&str; 2]; 2] = [[RATIO, BYTES], [BACKGROUND_RATIO, BACKGROUND_BYTES]];
/// Two pages of 4 KiB, the least that the kernel takes of sizes; and more than anybody gives it.
const SIZES: Takes = Takes::Bytes(8 << 10, 1 << 40);
/// A day, in hundredths of a second.
const DAY: u64 = 8_640_000;
/// Digits of the longest number that is ever written.
const LONGEST_VALUE: usize = 20;

/// Names and their values.
type Settings = BTreeMap<String, String>;

/// The row.
pub(super) static VM: Layer = Layer {
    name: model::stack::VM,
    about: "settings of the kernel's writeback while the lane works",
    devices: 1..=1,
    options: &[
        // At 0 every writer would wait, and where sizes count it stands there by itself.
        LayerOption { key: RATIO, takes: Takes::Number(1, 100) },
        LayerOption { key: BACKGROUND_RATIO, takes: Takes::Number(0, 100) },
        LayerOption { key: BYTES, takes: SIZES },
        LayerOption { key: BACKGROUND_BYTES, takes: SIZES },
        LayerOption { key: EXPIRE, takes: Takes::Number(0, DAY) },
        LayerOption { key: WRITEBACK, takes: Takes::Number(0, DAY) },
        // At 0 the kernel never forgets a file, until it has no memory left.
        LayerOption { key: CACHE_PRESSURE, takes: Takes::Number(1, 10_000) },
        LayerOption { key: SWAPPINESS, takes: Takes::Number(0, 200) },
    ],
    capacity: super::of_one,
    programs: &[],
    helpers: &[],
    drivers: &[],
    promises: unchanged,
    hides: false,
    discards: never,
    wipes: false,
    on_host: true,
    build,
};

fn build(building: &mut Building, below: &[PathBuf], options: &Options) -> Result<PathBuf, LaneFailure> {
    let device = below[0].clone();
    if building.has_set_kernel() {
        return Ok(device);
    }
    let (folder, set) = (Path::new(FOLDER), wanted(options));
    check_in(folder, &set)?;
    let was = before(folder, &set);
    building.will_make(device.clone(), Thing::KernelSettings { set: set.clone(), was: was.clone() })?;
    set_in(folder, &set, &was)?;
    Ok(device)
}

/// Refuses settings that the kernel does not keep beside each other.
///
/// # Errors
/// [`LaneFailure::Usage`] with the remedy.
pub(super) fn check(options: &Options) -> Result<(), LaneFailure> {
    let set = wanted(options);
    match PAIRS.iter().find(|pair| pair.iter().all(|name| set.contains_key(*name))) {
        Some([one, other]) => {
            Err(usage(format!("vm is told `{one}` and `{other}`, and the kernel keeps one of them; remove one")))
        }
        None => check_background(&set),
    }
}

/// Where writeback in the background would not begin before writers wait, the kernel takes half of what those wait at
/// (mm/page-writeback.c, `domain_dirty_limits`).
fn check_background(held: &Settings) -> Result<(), LaneFailure> {
    let number = |name: &str| held.get(name)?.parse::<u64>().ok().filter(|number| *number > 0);
    for [background, limit] in [[BACKGROUND_RATIO, RATIO], [BACKGROUND_BYTES, BYTES]] {
        if let (Some(begins), Some(waits)) = (number(background), number(limit))
            && begins >= waits
        {
            return Err(usage(format!(
                "{background}={begins} is not below {limit}={waits}, and the kernel would take half of that; write less"
            )));
        }
    }
    Ok(())
}

/// Refuses settings that this machine's kernel does not have or does not take, as far as that is known before they are made.
///
/// # Errors
/// [`LaneFailure::Usage`] or [`LaneFailure::Privilege`] with the remedy.
pub(crate) fn check_vm_here(settings: &[String]) -> Result<(), LaneFailure> {
    check_in(Path::new(FOLDER), &wanted(&Options::read(VM.name, VM.options, settings)?))
}

fn check_in(folder: &Path, set: &Settings) -> Result<(), LaneFailure> {
    let least = 2 * page_size() as u64;
    for (name, value) in set {
        if current(folder, name).is_none() {
            return Err(usage(format!("this machine's kernel has no vm.{name}; leave it out")));
        }
        let is_small = value.parse::<u64>().is_ok_and(|bytes| bytes < least);
        if is_small && [BYTES, BACKGROUND_BYTES].contains(&name.as_str()) {
            return Err(usage(format!("vm.{name}={value} is below two pages, {least} bytes here; write more")));
        }
        let file = folder.join(name);
        if let (true, Err(errno)) = (crate::host::is_root(), access(&file, Access::WRITE_OK)) {
            return Err(privilege(format!(
                "{} cannot be written ({}), as in a container; race on the machine itself, or leave the layer vm out",
                file.display(),
                plain(&errno.into())
            )));
        }
    }
    // Of what nobody said the kernel makes what it makes of the machine's own.
    let says_background = [BACKGROUND_RATIO, BACKGROUND_BYTES].iter().any(|name| set.contains_key(*name));
    if says_background { check_background(&held_with(folder, set)) } else { Ok(()) }
}

/// What the kernel holds, or would with these settings; nothing is set: `dirty_ratio=5`.
///
/// # Errors
/// [`LaneFailure::Usage`] where it does not have or not take them.
pub(crate) fn vm_with(settings: &[String]) -> Result<Vec<String>, LaneFailure> {
    let (folder, options) = (Path::new(FOLDER), Options::read(VM.name, VM.options, settings)?);
    check(&options)?;
    let set = wanted(&options);
    check_in(folder, &set)?;
    Ok(held_with(folder, &set).into_iter().map(|(name, value)| format!("{name}={value}")).collect())
}

fn held_with(folder: &Path, set: &Settings) -> Settings {
    let there = |name: &str| Some((name.to_owned(), current(folder, name)?));
    let mut held: Settings = NAMES.into_iter().filter_map(there).collect();
    for (name, value) in set {
        if let Some(other) = beside(name) {
            held.insert(other.to_owned(), "0".to_owned());
        }
        held.insert(name.clone(), value.clone());
    }
    held
}

/// The setting that the kernel sets to 0 when this one is written.
fn beside(name: &str) -> Option<&'static str> {
    let pair = PAIRS.into_iter().find(|pair| pair.contains(&name))?;
    pair.into_iter().find(|other| *other != name)
}

/// Keeps every other command from these settings until the last one of this process is dropped, or the process dies.
#[derive(Debug)]
pub struct VmLock(#[expect(dead_code, reason = "the lock is its file's")] Arc<File>);

/// Locks these settings; a process that has them has them once more.
///
/// # Errors
/// [`LaneFailure::Failed`] where another command has them.
pub(crate) fn lock_vm() -> Result<VmLock, LaneFailure> {
    share(&HELD, Path::new(LOCK))?.ok_or_else(|| {
        failed("another race sets the kernel's writeback (layer vm) of this whole machine; wait until it has ended")
    })
}

/// Whether this process has these settings already.
pub(crate) fn is_vm_held_here() -> bool {
    HELD.lock().unwrap_or_else(PoisonError::into_inner).strong_count() > 0
}

/// A part of what this process holds, or the first one; `None`: another process has it.
fn share(held: &Mutex<Weak<File>>, path: &Path) -> Result<Option<VmLock>, LaneFailure> {
    let mut held = held.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(file) = held.upgrade() {
        return Ok(Some(VmLock(file)));
    }
    let file = lock(path)?.map(Arc::new);
    *held = file.as_ref().map_or_else(Weak::new, Arc::downgrade);
    Ok(file.map(VmLock))
}

/// Locks a file of root's; `None`: somebody else has it.
fn lock(path: &Path) -> Result<Option<File>, LaneFailure> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let opened = open(path, flags, Mode::RUSR | Mode::WUSR).map(File::from);
    let file = opened.map_err(|errno| cannot(format!("open {}", path.display()), std::io::Error::from(errno)))?;
    match flock(&file, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => Ok(Some(file)),
        Err(Errno::WOULDBLOCK) => Ok(None),
        Err(errno) => Err(cannot(format!("lock {}", path.display()), std::io::Error::from(errno))),
    }
}

/// [`put_back`] of what a dead race set. While another one sets the kernel nobody knows whose it is what stands there.
///
/// # Errors
/// As there, and where another race has the settings.
pub(super) fn put_back_left_over(set: &Settings, was: &Settings) -> Result<Option<String>, LaneFailure> {
    let _held = share(&HELD, Path::new(LOCK))?.ok_or_else(|| {
        failed(
            "another race sets the kernel's writeback (layer vm), so that what a dead one set is not put back; run \
             `fairlane clean` when it has ended",
        )
    })?;
    put_back(set, was)
}

/// What the layer is told, as the kernel writes it.
fn wanted(options: &Options) -> Settings {
    let value = |name: &str| match [BYTES, BACKGROUND_BYTES].contains(&name) {
        true => options.size(name, 0),
        false => options.number(name, 0),
    };
    let told = NAMES.into_iter().filter(|name| options.has(name));
    told.map(|name| (name.to_owned(), value(name).to_string())).collect()
}

/// What stands there before these settings are made; of a pair the one that counts.
fn before(folder: &Path, set: &Settings) -> Settings {
    let stood = |name: &String| {
        let name = match PAIRS.iter().find(|pair| pair.contains(&name.as_str())) {
            // The kernel takes no size of 0: where neither counts it is told the share.
            Some(&[share, size]) if current(folder, size).is_none_or(|bytes| bytes == "0") => share,
            Some(&[_, size]) => size,
            None => name.as_str(),
        };
        Some((name.to_owned(), current(folder, name)?))
    };
    set.keys().filter_map(stood).collect()
}

fn set_in(folder: &Path, set: &Settings, was: &Settings) -> Result<(), LaneFailure> {
    for (name, value) in set {
        write(folder, name, value).map_err(|error| refused(name, value, &error))?;
        let now = current(folder, name);
        if now.as_ref() != Some(value) {
            // What is not as it was set is somebody else's once this layer is taken away.
            let _ = restore(folder, name, was);
            return Err(usage(format!(
                "the kernel makes {} of vm.{name}={value}; write what it makes",
                now.as_deref().unwrap_or("nothing")
            )));
        }
    }
    Ok(())
}

/// What the kernel did not take.
fn refused(name: &str, value: &str, error: &std::io::Error) -> LaneFailure {
    let why = plain(error);
    match Errno::from_io_error(error).is_some_and(is_refusal) {
        true => usage(format!("the kernel takes no vm.{name}={value} ({why}); write another value")),
        false => failed(format!("cannot set vm.{name}={value}: {why}; leave the layer vm out")),
    }
}

/// `None`: the kernel has no such setting.
fn current(folder: &Path, name: &str) -> Option<String> {
    Some(std::fs::read_to_string(folder.join(name)).ok()?.trim().to_owned())
}

fn write(folder: &Path, name: &str, value: &str) -> std::io::Result<()> {
    std::fs::write(folder.join(name), value)
}

/// Writes back what stood there before a setting was made, or beside it: the kernel sets the other one to 0 then.
fn restore(folder: &Path, name: &str, was: &Settings) -> std::io::Result<()> {
    restoring(name, was).into_iter().try_for_each(|(held, value)| write(folder, held, value))
}

/// What is written for that, in this order.
fn restoring<'a>(name: &'a str, was: &'a Settings) -> Vec<(&'a str, &'a str)> {
    let stood = |name: &'a str| was.get(name).map(|value| (name, value.as_str()));
    let Some((held, value)) = stood(name).or_else(|| stood(beside(name)?)) else { return Vec::new() };
    // Beside a size the share stands at 0 already, and the kernel takes no notice of what changes nothing.
    let first = (held != name && value == "0").then_some((held, "1"));
    first.into_iter().chain([(held, value)]).collect()
}

/// Whether a journal names only what a run sets, with values of their form.
pub(super) fn is_plain(set: &Settings, was: &Settings) -> bool {
    set.iter().chain(was).all(|(name, value)| {
        let is_number = (1..=LONGEST_VALUE).contains(&value.len()) && value.bytes().all(|byte| byte.is_ascii_digit());
        NAMES.contains(&name.as_str()) && is_number
    })
}

/// What did not stay as it was set, in a sentence without a full stop; `None`: all of it did.
pub(super) fn changed(set: &Settings) -> Option<String> {
    let changed = changed_in(Path::new(FOLDER), set);
    (!changed.is_empty()).then(|| {
        format!(
            "the kernel did not stay as it was set ({}), because another program set it; find that and switch it off",
            changed.join(", ")
        )
    })
}

fn changed_in(folder: &Path, set: &Settings) -> Vec<String> {
    let differs = |(name, wanted): (&String, &String)| {
        let now = current(folder, name)?;
        let beside = beside(name).and_then(|other| Some((other, current(folder, other)?)));
        match beside.filter(|(_, value)| value != "0") {
            _ if now != *wanted => Some(format!("vm.{name} {wanted} became {now}")),
            beside => beside.map(|(other, value)| format!("vm.{other} became {value} beside vm.{name} {wanted}")),
        }
    };
    set.iter().filter_map(differs).collect()
}

/// Writes back what stood there before it was set. What is not as it was set is somebody else's by now, and is left alone;
/// answers what was done, `None`: nothing was to be.
///
/// # Errors
/// The first that the kernel does not take; the others are written back all the same.
pub(super) fn put_back(set: &Settings, was: &Settings) -> Result<Option<String>, LaneFailure> {
    let done = put_back_in(Path::new(FOLDER), set, was)?;
    Ok((!done.is_empty()).then(|| format!("put {} of the kernel back", done.join(", "))))
}

fn put_back_in(folder: &Path, set: &Settings, was: &Settings) -> Result<Vec<String>, LaneFailure> {
    let (mut first, mut done) = (Ok(()), Vec::new());
    for (name, value) in set {
        let is_alone = beside(name).and_then(|other| current(folder, other)).is_none_or(|other| other == "0");
        let is_ours = is_alone && current(folder, name).as_ref() == Some(value);
        if !is_ours || was.get(name) == Some(value) {
            continue;
        }
        match restore(folder, name, was) {
            Ok(()) => done.push(format!("vm.{name}")),
            Err(error) => first = first.and(Err(cannot(format!("put vm.{name} back to what it was"), error))),
        }
    }
    first.map(|()| done)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(all: &[(&str, &str)]) -> Settings {
        all.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    }

    fn told(line: &str) -> Options {
        let words: Vec<String> = line.split(',').map(str::to_owned).collect();
        Options::read(VM.name, VM.options, &words).unwrap_or_else(|error| panic!("{line}: {error}"))
    }

    /// A folder in the place of the kernel's, in which nothing is set to 0 by itself.
    struct Kernel(PathBuf);

    impl Kernel {
        fn new(test: &str, all: &[(&str, &str)]) -> Kernel {
            let folder = std::env::temp_dir().join(format!("fairlane-vm-{}-{test}", std::process::id()));
            std::fs::create_dir_all(&folder).unwrap();
            let kernel = Kernel(folder);
            kernel.set(all);
            kernel
        }

        fn set(&self, all: &[(&str, &str)]) {
            all.iter().for_each(|(name, value)| write(&self.0, name, &format!("{value}\n")).unwrap());
        }

        fn all(&self) -> Settings {
            held_with(&self.0, &Settings::new())
        }
    }

    impl Drop for Kernel {
        fn drop(&mut self) {
            let _ = std::fs::remove_dir_all(&self.0);
        }
    }

    const USUAL: [(&str, &str); 6] = [
        (RATIO, "20"),
        (BYTES, "0"),
        (BACKGROUND_RATIO, "10"),
        (BACKGROUND_BYTES, "0"),
        (EXPIRE, "3000"),
        (SWAPPINESS, "60"),
    ];

    #[test]
    fn what_a_lane_says_is_written_as_the_kernel_writes_it() {
        let all = wanted(&told("dirty_bytes=256M,dirty_background_ratio=05,dirty_expire_centisecs=100"));
        assert_eq!(all, settings(&[(BYTES, "268435456"), (BACKGROUND_RATIO, "5"), (EXPIRE, "100")]));
        let keys: Vec<&str> = VM.options.iter().map(|option| option.key).collect();
        assert!(NAMES.iter().all(|name| keys.contains(name)) && keys.len() == NAMES.len(), "{keys:?}");
    }

    #[test]
    fn of_a_pair_the_one_that_counts_is_remembered() {
        let kernel = Kernel::new("before", &USUAL);
        let set = settings(&[(BYTES, "8192"), (EXPIRE, "100")]);
        assert_eq!(before(&kernel.0, &set), settings(&[(RATIO, "20"), (EXPIRE, "3000")]));
        kernel.set(&[(RATIO, "0"), (BYTES, "1048576")]);
        assert_eq!(before(&kernel.0, &settings(&[(RATIO, "5")])), settings(&[(BYTES, "1048576")]));
        assert_eq!(before(&kernel.0, &settings(&[(BYTES, "8192")])), settings(&[(BYTES, "1048576")]));
        // Neither counts.
        kernel.set(&[(BACKGROUND_RATIO, "0")]);
        assert_eq!(before(&kernel.0, &settings(&[(BACKGROUND_BYTES, "8192")])), settings(&[(BACKGROUND_RATIO, "0")]));
    }

    #[test]
    fn what_was_set_is_put_back_and_what_somebody_set_since_is_left_alone() {
        let kernel = Kernel::new("back", &USUAL);
        let set = settings(&[(RATIO, "5"), (BACKGROUND_RATIO, "2"), (EXPIRE, "100")]);
        let was = before(&kernel.0, &set);
        set_in(&kernel.0, &set, &was).unwrap();
        assert_eq!(changed_in(&kernel.0, &set), Vec::<String>::new());
        kernel.set(&[(EXPIRE, "700")]);
        assert_eq!(changed_in(&kernel.0, &set), ["vm.dirty_expire_centisecs 100 became 700"]);
        assert_eq!(put_back_in(&kernel.0, &set, &was).unwrap(), ["vm.dirty_background_ratio", "vm.dirty_ratio"]);
        let mut wanted = settings(&USUAL);
        wanted.insert(EXPIRE.to_owned(), "700".to_owned());
        assert_eq!(kernel.all(), wanted);
        // The second time there is nothing of ours any more.
        assert_eq!(put_back_in(&kernel.0, &set, &was).unwrap(), Vec::<String>::new());
    }

    #[test]
    fn of_a_pair_the_one_that_counted_is_written_back() {
        let kernel = Kernel::new("pair", &USUAL);
        // As the kernel has it once the size is set.
        kernel.set(&[(RATIO, "0"), (BYTES, "8192")]);
        let set = settings(&[(BYTES, "8192")]);
        put_back_in(&kernel.0, &set, &settings(&[(RATIO, "20")])).unwrap();
        assert_eq!(kernel.all()[RATIO], "20");
        kernel.set(&[(RATIO, "5"), (BYTES, "0")]);
        put_back_in(&kernel.0, &settings(&[(RATIO, "5")]), &settings(&[(BYTES, "1048576")])).unwrap();
        assert_eq!(kernel.all()[BYTES], "1048576");
        // Where neither counted a write of what stands there already would change nothing.
        for (name, share) in [(BYTES, RATIO), (BACKGROUND_BYTES, BACKGROUND_RATIO)] {
            assert_eq!(restoring(name, &settings(&[(share, "0")])), [(share, "1"), (share, "0")]);
            assert_eq!(restoring(name, &settings(&[(share, "20")])), [(share, "20")]);
            assert_eq!(restoring(share, &settings(&[(share, "0")])), [(share, "0")]);
        }
    }

    #[test]
    fn somebody_elses_size_beside_a_share_of_none_is_seen_and_left_alone() {
        let kernel = Kernel::new("beside", &USUAL);
        let set = settings(&[(BACKGROUND_RATIO, "0")]);
        kernel.set(&[(BACKGROUND_RATIO, "0"), (BACKGROUND_BYTES, "67108864")]);
        assert_eq!(
            changed_in(&kernel.0, &set),
            ["vm.dirty_background_bytes became 67108864 beside vm.dirty_background_ratio 0"]
        );
        assert_eq!(put_back_in(&kernel.0, &set, &settings(&[(BACKGROUND_RATIO, "10")])).unwrap(), Vec::<String>::new());
        assert_eq!(kernel.all()[BACKGROUND_BYTES], "67108864");
    }

    #[test]
    fn what_the_kernel_would_hold_is_known_without_setting_it() {
        let kernel = Kernel::new("with", &USUAL);
        let held = held_with(&kernel.0, &settings(&[(BYTES, "8192"), (BACKGROUND_RATIO, "10")]));
        assert_eq!([&held[RATIO], &held[BYTES], &held[BACKGROUND_RATIO]], ["0", "8192", "10"]);
        assert!(!held.contains_key(WRITEBACK), "this kernel has none");
        assert_eq!(kernel.all(), settings(&USUAL));
        assert_eq!(held_with(&kernel.0, &settings(&[(RATIO, "20")])), kernel.all(), "it is so already");
    }

    #[test]
    fn what_this_kernel_does_not_have_or_keep_is_refused_before_it_is_set() {
        let kernel = Kernel::new("check", &USUAL);
        let said = |all: &[(&str, &str)]| check_in(&kernel.0, &settings(all)).map_err(|error| error.to_string());
        assert_eq!(said(&[(RATIO, "5"), (EXPIRE, "100")]), Ok(()), "the kernel takes half of it in the background");
        assert_eq!(said(&[(BACKGROUND_RATIO, "19")]), Ok(()));
        assert!(said(&[(BACKGROUND_RATIO, "20")]).unwrap_err().contains("is not below dirty_ratio=20"));
        assert!(said(&[(WRITEBACK, "1")]).unwrap_err().contains("has no vm.dirty_writeback_centisecs"));
        assert!(said(&[(BYTES, "4096")]).unwrap_err().contains("below two pages"));
        assert_eq!(kernel.all(), settings(&USUAL));
    }

    #[test]
    fn a_kernel_that_cannot_be_set_refuses_no_value() {
        let said = refused(SWAPPINESS, "150", &Errno::INVAL.into());
        assert!(matches!(&said, LaneFailure::Usage(said) if said.contains("takes no vm.swappiness=150")), "{said}");
        assert!(matches!(refused(RATIO, "5", &Errno::ROFS.into()), LaneFailure::Failed(_)));
    }

    #[test]
    fn one_race_at_a_time_has_the_kernel_and_nobody_but_root_its_lock() {
        let kernel = Kernel::new("lock", &USUAL);
        let path = kernel.0.join("lock");
        let held = lock(&path).unwrap();
        assert!(held.is_some() && lock(&path).unwrap().is_none());
        assert_eq!(std::os::unix::fs::PermissionsExt::mode(&path.metadata().unwrap().permissions()) & 0o777, 0o600);
        drop(held);
        assert!(lock(&path).unwrap().is_some());
        let link = kernel.0.join("link");
        std::os::unix::fs::symlink(&path, &link).unwrap();
        assert!(lock(&link).is_err(), "a link leads elsewhere");
    }

    #[test]
    fn races_of_one_command_share_the_lock_and_the_last_one_lets_it_go() {
        let kernel = Kernel::new("share", &USUAL);
        let (path, held) = (kernel.0.join("lock"), Mutex::new(Weak::new()));
        let is_free = || lock(&path).unwrap().is_some();
        let command = share(&held, &path).unwrap();
        let race = share(&held, &path).unwrap();
        assert!(command.is_some() && race.is_some() && !is_free());
        drop(race);
        assert!(!is_free(), "the command goes on");
        drop(command);
        assert!(is_free());
        let other = lock(&path).unwrap();
        assert!(other.is_some() && share(&held, &path).unwrap().is_none());
        drop(other);
        assert!(share(&held, &path).unwrap().is_some());
    }

    #[test]
    fn a_journal_names_no_other_setting_and_no_other_value() {
        let fine = settings(&[(RATIO, "5"), (BYTES, "18446744073709551615")]);
        assert!(is_plain(&fine, &Settings::new()) && is_plain(&fine, &fine));
        for bad in [
            ("../kernel/core_pattern", "1"),
            ("overcommit_memory", "1"),
            (RATIO, ""),
            (RATIO, "-1"),
            (RATIO, "5\n"),
            (BYTES, "1G"),
            (BYTES, "111111111111111111111"),
        ] {
            assert!(!is_plain(&settings(&[bad]), &fine) && !is_plain(&fine, &settings(&[bad])), "{bad:?}");
        }
    }
}
