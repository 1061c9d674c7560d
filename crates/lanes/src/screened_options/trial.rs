//! A lane tried on a small image: what its mkfs, the kernel or the disk's queue refuses shows before a race is laid out.

use super::formatted;
use crate::availability;
use crate::contestant::{Commands, Contestant};
use crate::failure::{LaneFailure, NotDone, cannot, failed, privilege};
use crate::filesystems::{Filesystem, Home};
use crate::formatting::{self, MountRequest};
use crate::layers::{self, Holding, Site, Stack};
use crate::loop_device::LoopDevice;
use crate::run_folder::RunFolder;
use crate::undo::{EntryId, Journal, Thing};
use crate::{host, let_go, mount, mountinfo};
use model::Bytes;
use model::lane::{LaneSpec, Venue};
use model::stack::{LayerSpec, MOST_DEVICES};
use model::units::human_bytes;
use serde::{Deserialize, Serialize};
use std::fs::{DirBuilder, File};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

/// Size of the image where nobody says one: what a lane has that nobody gave a size. It is sparse.
const USUAL_BYTES: Bytes = Bytes(2 * Bytes::GIB);

/// What mkfs writes of a sparse image at most: a journal or a log, and tables of inodes.
const WRITTEN_BYTES: u64 = Bytes::GIB;

/// Where a guest mounts what is tried.
const IN_GUEST: &str = "/lanes/tried";
/// The mount point among the mounts of a trial.
const LANE: &str = "lane";

/// What came of a lane that was tried.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Tried {
    /// It can be made and mounted.
    Works(Made),
    /// Its mkfs, the kernel or the disk's queue refuses it: why, without a full stop.
    Refused(String),
    /// It is not known: only its guest makes it and none is asked, or it lives in memory.
    NotTried,
}

/// What was made, without what differs by chance: two lanes of which it is equal are one thing here.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Made {
    /// All that tells of the filesystem on its disk; where nothing does the words that its mkfs was told, and its mount
    /// where a program mounts it.
    pub geometry: Vec<String>,
    /// Options of the mount, as the kernel shows them; empty where a program mounts it, because the kernel shows what that asks
    /// for and not what it was told, and of a lane in a guest that is not asked.
    pub mount: Vec<String>,
    /// Settings of its disk's queue: `nr_requests=64`.
    pub queue: Vec<String>,
    /// Settings of the kernel while it works: `dirty_ratio=5`.
    pub vm: Vec<String>,
}

/// What a step gives, or in which words it is refused.
type Step<T> = Result<Result<T, String>, LaneFailure>;

/// What is tried.
struct Trial<'a> {
    /// The row of the table; `None`: its commands stand in a file of the user's own, or a FUSE program mounts it.
    row: Option<&'static Filesystem>,
    contestant: Contestant,
    commands: Commands,
    /// Only settings of the image's queue: other layers are no option of a filesystem.
    layers: Vec<LayerSpec>,
    /// What the lane says to the queue that its filesystem stands on.
    queue: Vec<String>,
    /// What the kernel will hold while the lane works; for a trial it is not set.
    vm: Vec<String>,
    /// The devices that the lane will stand on, which nobody touches; empty: images.
    on: &'a [PathBuf],
    disks: u32,
    bytes: u64,
    run_id: String,
    stop: &'a AtomicBool,
}

/// Formats and mounts a lane once, on a sparse image of 2 GiB in a folder of this run, and takes all of that away again: a filesystem
/// of the user's own by the commands of its file. Its other layers, what lies above it and its past are left out. A lane in a guest is
/// formatted here and not mounted: [`crate::OptionTrial`] does that.
///
/// # Errors
/// [`LaneFailure`] where nothing can be tried: without root, kernel, tools or room, where the machine fails, or where something
/// of it stays.
pub fn try_lane(
    lane: &LaneSpec,
    folder: &Path,
    journal: &mut Journal,
    stop: &AtomicBool,
) -> Result<Tried, LaneFailure> {
    try_lane_of_size(lane, (USUAL_BYTES, &[]), folder, journal, stop)
}

/// As [`try_lane`], on an image of this size, or of the least that the filesystem takes: sizes of logs and groups are refused by
/// the size of the disk. `on`: the devices that the lane will stand on, none for images; nothing is written to them, and what
/// it says to their queues is looked up.
///
/// # Errors
/// As there.
pub fn try_lane_of_size(
    lane: &LaneSpec,
    (bytes, on): (Bytes, &[PathBuf]),
    folder: &Path,
    journal: &mut Journal,
    stop: &AtomicBool,
) -> Result<Tried, LaneFailure> {
    match lane.venue {
        Some(Venue::Uml | Venue::Qemu(_)) => return formatted::try_mkfs(lane, bytes, folder, journal, stop),
        Some(Venue::Library) => return Ok(Tried::NotTried),
        _ => {}
    }
    let contestant = Contestant::resolve(lane, &|row| availability::kernel_has(row.mounted_as(), row.module))?;
    let row = match &contestant {
        Contestant::Row(row) if row.home == Home::Block => Some(*row),
        Contestant::Custom(_) => None,
        Contestant::Row(_) | Contestant::Directory(_) => return Ok(Tried::NotTried),
    };
    let commands = contestant.commands(lane)?;
    if let Some(device) = commands.devices.first() {
        let device = device.display();
        return Err(failed(format!("{device} is no disk of Fairlane's own, so nothing is tried on it; leave it out")));
    }
    contestant.check_available()?;
    if !host::is_root() {
        return Err(privilege("formatting and mounting needs root: run it with sudo, or race all lanes in a guest"));
    }
    let least = row.map_or(1, |row| (row.least_devices)(&lane.mkfs_options));
    let disks = lane.devices.max(least).min(MOST_DEVICES);
    let run_id = journal.path().file_stem().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let vm = match layers::vm_with(lane.vm().map(|of| of.options.as_slice()).unwrap_or_default()) {
        Ok(vm) => vm,
        Err(why) => return refusal_of_queue(why).map(Tried::Refused),
    };
    let top = lane.queue().filter(|_| !lane.has_built_layers());
    let bytes = bytes.0.max(contestant.minimum_bytes()).next_multiple_of(4096);
    let trial = Trial {
        row,
        contestant,
        commands,
        layers: top.filter(|_| on.is_empty()).into_iter().cloned().collect(),
        queue: top.map(|top| top.options.clone()).unwrap_or_default(),
        vm,
        on,
        disks,
        bytes,
        run_id,
        stop,
    };
    check_room(folder, trial.bytes, trial.disks)?;
    let mut folders = RunFolder::plan(folder, &trial.run_id, "trial")?;
    let told = trial.in_folders(&mut folders, journal);
    let mut removed = Ok(());
    for folder in folders.iter_mut().rev() {
        removed = removed.and(folder.remove(Some(&mut *journal)));
    }
    or_what_stays(told, removed)
}

/// The same in the guest in which this runs, on disks of its own. `mkfs`: the program that makes it here too; where there is none the
/// host made it already, and knows what tells it from others. `fuse`: the program that mounts it in place of the kernel.
///
/// # Errors
/// As there.
pub(crate) fn try_in_guest(
    lane: &LaneSpec,
    disks: &[PathBuf],
    (mkfs, fuse): (Option<&Path>, Option<&Path>),
) -> Result<Tried, LaneFailure> {
    let mut contestant = Contestant::resolve(lane, &|_| fuse.is_none())?;
    let row = match (&mut contestant, fuse) {
        (Contestant::Row(row), None) => Some(*row),
        (Contestant::Custom(custom), Some(program)) => {
            // It lies where it does on the host.
            custom.mount[0] = program.display().to_string();
            None
        }
        _ => {
            return Err(failed("a guest tries filesystems of the table alone; this is a fault of Fairlane, report it"));
        }
    };
    let mut commands = contestant.commands(lane)?;
    match (mkfs, commands.mkfs.first_mut()) {
        // So does this one.
        (Some(program), Some(first)) => *first = program.display().to_string(),
        _ => commands.mkfs.clear(),
    }
    let top = lane.queue().filter(|_| !lane.has_built_layers());
    let stop = AtomicBool::new(false);
    let trial = Trial {
        row,
        contestant,
        commands,
        layers: top.into_iter().cloned().collect(),
        queue: Vec::new(),
        vm: Vec::new(),
        on: &[],
        disks: disks.len() as u32,
        bytes: 0,
        run_id: String::new(),
        stop: &stop,
    };
    let mounts = Path::new(IN_GUEST);
    std::fs::create_dir_all(mounts).map_err(|error| cannot(format!("make {IN_GUEST}"), error))?;
    let told = trial.on_disks(mounts, disks, None);
    // The next one makes it anew; where it is mounted still, that was told.
    let _ = std::fs::remove_dir(mounts.join(LANE));
    told
}

/// Why no option of the disk's queue is varied of a lane; `None`: they are. `on`: the devices that it will stand on.
pub fn no_queue(lane: &LaneSpec, on: &[PathBuf]) -> Option<String> {
    if lane.has_built_layers() {
        return Some("layers stand between the filesystem and its disk; screen it without them".to_owned());
    }
    on.iter().find_map(|device| layers::queue_with(device, &[]).err()).map(|error| error.to_string())
}

/// Where the disk is full mkfs fails for another reason than an option.
pub(super) fn check_room(folder: &Path, bytes: u64, disks: u32) -> Result<(), LaneFailure> {
    let needed = bytes.min(WRITTEN_BYTES).saturating_mul(disks.into());
    let free = host::find(folder)?.free_bytes;
    match needed <= free {
        true => Ok(()),
        false => Err(failed(format!(
            "{} has {} free, and an image on which options are tried may take {}; free some space, or choose another place",
            folder.display(),
            human_bytes(free as f64),
            human_bytes(needed as f64)
        ))),
    }
}

impl Trial<'_> {
    fn in_folders(&self, folders: &mut [RunFolder], journal: &mut Journal) -> Result<Tried, LaneFailure> {
        folders.iter_mut().try_for_each(|folder| folder.make(journal))?;
        let (Some(first), Some(last)) = (folders.first(), folders.last()) else {
            return Err(failed("a run has a folder; this is a fault of Fairlane, report it"));
        };
        let mut disks = Vec::new();
        let attached = self.attach(last.work(), &mut disks, journal);
        let devices: Vec<PathBuf> = disks.iter().map(|(device, _)| device.path()).collect();
        let told = attached.and_then(|()| self.on_disks(first.work(), &devices, Some(&mut *journal)));
        let mut freed = Ok(());
        for (mut device, entry) in disks.into_iter().rev() {
            freed = freed.and(device.detach().and_then(|()| journal.done(entry)));
        }
        or_what_stays(told, freed)
    }

    /// Makes its disks; those that are there when one fails are in the list.
    fn attach(
        &self,
        files: &Path,
        disks: &mut Vec<(LoopDevice, EntryId)>,
        journal: &mut Journal,
    ) -> Result<(), LaneFailure> {
        for number in 0..self.disks {
            let path = files.join(format!("disk{number}"));
            let made = File::options().write(true).create_new(true).mode(0o600).open(&path);
            made.and_then(|file| file.set_len(self.bytes))
                .map_err(|error| cannot(format!("make {}", path.display()), error))?;
            let entry = journal.will(Thing::Loop { backing: path.clone() })?;
            match LoopDevice::attach(&path, None) {
                Ok(device) => {
                    let place = device.path();
                    disks.push((device, entry));
                    journal.learned_device(entry, &place)?;
                }
                Err(error) => {
                    journal.done(entry)?;
                    return Err(error);
                }
            }
        }
        Ok(())
    }

    /// `journal`: of what this machine makes; `None`: a guest makes it, with which it goes.
    fn on_disks(
        &self,
        mounts: &Path,
        devices: &[PathBuf],
        mut journal: Option<&mut Journal>,
    ) -> Result<Tried, LaneFailure> {
        let site = match journal.as_deref_mut() {
            Some(journal) => Site::Here(&self.run_id, journal),
            None => Site::Guest,
        };
        let built = Stack::build((site, self.stop), 0, (devices, Holding::Anything), &self.layers, self.disks);
        let mut stack = match built {
            Ok(stack) => stack,
            Err((error, mut left)) => {
                left.take_down(journal)?;
                return refusal_of_queue(error).map(Tried::Refused);
            }
        };
        // Before mkfs: udev may set a queue otherwise when that closes the disk.
        let told = self.queue(devices).and_then(|queue| match queue {
            Ok(queue) => self.format_and_mount((mounts, devices), queue, journal.as_deref_mut()),
            Err(why) => Ok(Tried::Refused(why)),
        });
        let down = stack.take_down(journal);
        or_what_stays(told, down.map(drop))
    }

    /// What the queue of its disk holds, or would: those of other disks are not set for a trial.
    fn queue(&self, images: &[PathBuf]) -> Step<Vec<String>> {
        let (devices, settings) = if self.on.is_empty() { (images, &[][..]) } else { (self.on, &self.queue[..]) };
        let mut first = None;
        for device in devices {
            match layers::queue_with(device, settings) {
                Ok(queue) => first = first.or(Some(queue)),
                // A lane that says nothing to a queue needs none.
                Err(_) if settings.is_empty() => {}
                Err(error) => return refusal_of_queue(error).map(Err),
            }
        }
        Ok(Ok(first.unwrap_or_default()))
    }

    fn format_and_mount(
        &self,
        (mounts, devices): (&Path, &[PathBuf]),
        queue: Vec<String>,
        journal: Option<&mut Journal>,
    ) -> Result<Tried, LaneFailure> {
        let Some((first, further)) = devices.split_first() else { return Err(failed("a lane has a disk")) };
        let beside: Vec<&Path> = further.iter().map(PathBuf::as_path).collect();
        let format = |mut command: Vec<String>| {
            // Without a mkfs there is nothing to be told of them.
            let told = if command.is_empty() { &[][..] } else { further };
            command.extend(told.iter().map(|device| device.display().to_string()));
            formatting::format(&self.contestant, &command, (first, None), &beside, self.stop)
        };
        let printed = match format(self.commands.mkfs.clone()) {
            Ok(output) => output.map(|output| output.stdout).unwrap_or_default(),
            Err(why) => {
                let plain = || format(self.plain_mkfs()).map(drop);
                return refusal_of_mkfs(&self.commands.mkfs, why, plain).map(Tried::Refused);
            }
        };
        let geometry = self.geometry(&printed, first);
        let told = self.mount(&mounts.join(LANE), first, further, journal)?;
        devices.iter().try_for_each(|device| let_go::check(device, self.stop))?;
        if let Some(forget) = self.row.and_then(|row| row.forget).filter(|_| !further.is_empty()) {
            // What the kernel remembers of them it would look for on the next disks under these names.
            for device in devices {
                let _ = forget(device);
            }
        }
        Ok(match told {
            Ok(mount) => Tried::Works(Made { geometry, mount, queue, vm: self.vm.clone() }),
            Err(why) => Tried::Refused(why),
        })
    }

    /// The command of its mkfs without options.
    fn plain_mkfs(&self) -> Vec<String> {
        match &self.contestant {
            Contestant::Row(row) => {
                let rest = row.mkfs_command(&[]).into_iter().skip(1);
                self.commands.mkfs.first().cloned().into_iter().chain(rest).collect()
            }
            Contestant::Custom(custom) => custom.mkfs_command(&[]),
            Contestant::Directory(_) => Vec::new(),
        }
    }

    /// What tells two filesystems apart that its mkfs made.
    fn geometry(&self, printed: &str, device: &Path) -> Vec<String> {
        if self.row.is_some() && self.commands.mkfs.is_empty() {
            return Vec::new();
        }
        let Some(row) = self.row else {
            // Nobody knows what programs make of words: other words are another filesystem.
            return [self.commands.mkfs.as_slice(), self.commands.mount_options.as_slice()].concat();
        };
        geometry(row, &self.commands.mkfs, (printed, device))
    }

    /// Mounts it and unmounts it again; answers the options that the kernel showed.
    fn mount(
        &self,
        target: &Path,
        first: &Path,
        further: &[PathBuf],
        mut journal: Option<&mut Journal>,
    ) -> Step<Vec<String>> {
        let made = DirBuilder::new().mode(0o700).create(target);
        made.map_err(|error| cannot(format!("make the directory {}", target.display()), error))?;
        let mut options = self.commands.mount_options.clone();
        if let Some(key) = self.row.and_then(|row| row.further_device_option) {
            options.extend(further.iter().map(|device| format!("{key}={}", device.display())));
        }
        // What a program mounts names its source as it likes.
        let source = self.row.map(|_| first.to_string_lossy().into_owned());
        let thing = Thing::Mount { target: target.to_owned(), source };
        let entry = journal.as_deref_mut().map(|journal| journal.will(thing)).transpose()?;
        let request = MountRequest { contestant: &self.contestant, source: first, options: &options, target };
        let told = match formatting::mount(&request, self.stop) {
            Ok(process) => {
                let shown = if self.row.is_some() { shown(target) } else { Ok(Vec::new()) };
                formatting::unmount(&self.contestant, first, target, process).and(shown).map(Ok)
            }
            Err(why) => {
                // A program may have mounted it before it gave up.
                while mount::is_mounted(target)? {
                    mount::unmount_patiently(target)?;
                }
                refusal_of_mount(&self.contestant, why).map(Err)
            }
        };
        if let Some((journal, entry)) = journal.zip(entry)
            && !mount::is_mounted(target)?
        {
            journal.done(entry)?;
        }
        told
    }
}

/// What came of a trial, where all of it was taken away again, or why not: whoever asked keeps the journal then, also behind a
/// Ctrl-C. What failed before that says more.
pub(super) fn or_what_stays(
    told: Result<Tried, LaneFailure>,
    taken_away: Result<(), LaneFailure>,
) -> Result<Tried, LaneFailure> {
    match told {
        Err(LaneFailure::Failed(_)) => told,
        told => taken_away.and(told),
    }
}

/// What tells two filesystems of a row apart that its mkfs made by this command, which printed that on this device.
pub(super) fn geometry(row: &Filesystem, command: &[String], (printed, device): (&str, &Path)) -> Vec<String> {
    let mut told = (row.makes)(printed, device);
    if told.is_empty() {
        return command.to_vec();
    }
    // Of such lists not every word is seen in what was made.
    let lists = command.windows(2).filter(|two| row.mkfs_lists.contains(&two[0].as_str()));
    told.extend(lists.map(|two| two.join(" ")));
    told
}

/// The options of what is mounted there.
fn shown(target: &Path) -> Result<Vec<String>, LaneFailure> {
    let mounts = mountinfo::read().map_err(|error| cannot("read /proc/self/mountinfo", error))?;
    let mount = mountinfo::at(&mounts, target);
    let options = mount.map(|of| [of.mount_options.as_slice(), of.super_options.as_slice()].concat());
    options
        .ok_or_else(|| failed(format!("{} is not mounted although the kernel mounted it; try again", target.display())))
}

/// The words in which a mkfs or the kernel refuses what it was told.
///
/// # Errors
/// The failure itself, where nobody refused anything.
fn refusal(why: NotDone) -> Result<String, LaneFailure> {
    match why {
        NotDone::Refused { words, .. } => Ok(words.trim_end_matches('.').to_owned()),
        NotDone::Silent { failure, .. } | NotDone::OfMachine(failure) | NotDone::Failed(failure) => Err(failure),
    }
}

/// The words in which a mkfs refuses what it was told, behind its name. `plain`: makes the same without options.
///
/// # Errors
/// As [`refusal`].
pub(super) fn refusal_of_mkfs(
    command: &[String],
    why: NotDone,
    plain: impl FnOnce() -> Result<(), NotDone>,
) -> Result<String, LaneFailure> {
    let why = match why {
        NotDone::Silent { status, failure } => silent_refusal(status, failure, plain())?,
        why => refusal(why)?,
    };
    Ok(format!("{} refuses it: {why}", program_of(command, "mkfs")))
}

/// The name of a command's program. `usual`: where it has none.
fn program_of<'a>(command: &'a [String], usual: &'a str) -> std::borrow::Cow<'a, str> {
    let name = command.first().and_then(|program| Path::new(program).file_name());
    name.map_or(usual.into(), |name| name.to_string_lossy())
}

/// The words in which the kernel, or a program that mounts, refuses what it was told. One that says nothing mounted the lane
/// without options.
///
/// # Errors
/// As [`refusal`].
fn refusal_of_mount(contestant: &Contestant, why: NotDone) -> Result<String, LaneFailure> {
    let Contestant::Custom(custom) = contestant else { return refusal(why) };
    let why = match why {
        NotDone::Silent { status, .. } => said_nothing(status),
        why => refusal(why)?,
    };
    Ok(format!("{} refuses it: {why}", program_of(&custom.mount, "mount")))
}

fn said_nothing(status: i32) -> String {
    format!("it ended with status {status} and said nothing")
}

/// What stands for the words of a mkfs that ended with a status and said nothing. `plain`: what came of it on the same
/// disk without options.
///
/// # Errors
/// The failure itself, where it fails without options too.
fn silent_refusal(status: i32, failure: LaneFailure, plain: Result<(), NotDone>) -> Result<String, LaneFailure> {
    match plain {
        Ok(()) => Ok(said_nothing(status)),
        Err(NotDone::Failed(LaneFailure::Interrupted)) => Err(LaneFailure::Interrupted),
        Err(_) => Err(failure),
    }
}

/// The words in which a disk's queue, or the kernel, refuses a setting that it has not, or whose value it does not take.
///
/// # Errors
/// As [`refusal`].
fn refusal_of_queue(failure: LaneFailure) -> Result<String, LaneFailure> {
    match failure {
        LaneFailure::Usage(said) => Ok(said.trim_end_matches('.').to_owned()),
        other => Err(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_was_refused_is_left_out_and_a_machine_that_fails_ends_the_trial() {
        let words = "log size 128m too large.".to_owned();
        let failure = failed("mkfs.xfs failed (exit status: 1): log size 128m too large.");
        assert_eq!(refusal(NotDone::Refused { words, failure: failure.clone() }), Ok("log size 128m too large".into()));
        for machine in [failure, privilege("the program mkfs.xfs is missing"), LaneFailure::Interrupted] {
            for why in [NotDone::Failed(machine.clone()), NotDone::OfMachine(machine.clone())] {
                assert_eq!(refusal(why), Err(machine.clone()));
            }
        }
    }

    #[test]
    fn what_stays_of_a_trial_is_told_behind_an_interruption_too() {
        let stays = || Err::<(), _>(failed("cannot remove /run/fairlane-x: Device or resource busy"));
        for told in [Ok(Tried::NotTried), Err(LaneFailure::Interrupted), Err(privilege("mkfs.xfs is missing"))] {
            assert_eq!(or_what_stays(told.clone(), Ok(())), told);
            assert_eq!(or_what_stays(told, stays()).unwrap_err().to_string(), stays().unwrap_err().to_string());
        }
        let why = Err(failed("the unmount command of my left it mounted"));
        assert_eq!(or_what_stays(why.clone(), stays()), why);
    }

    #[test]
    fn a_mkfs_that_says_nothing_refuses_where_it_works_without_options() {
        let failure = failed("mkfs.f2fs failed (exit status: 1): it printed nothing");
        let of = |plain: Result<(), NotDone>| silent_refusal(1, failure.clone(), plain);
        assert_eq!(of(Ok(())), Ok("it ended with status 1 and said nothing".to_owned()));
        for plain in [
            NotDone::Silent { status: 1, failure: failure.clone() },
            NotDone::OfMachine(failed("mkfs.f2fs failed (exit status: 1): No space left on device")),
        ] {
            assert_eq!(of(Err(plain)), Err(failure.clone()));
        }
        assert_eq!(of(Err(LaneFailure::Interrupted.into())), Err(LaneFailure::Interrupted));
        assert_eq!(refusal(NotDone::Silent { status: 1, failure: failure.clone() }), Err(failure));
    }

    #[test]
    fn a_queue_refuses_what_it_has_no_use_for_and_nothing_that_failed() {
        let usage = LaneFailure::Usage("the kernel takes no nr_requests=256 of /dev/loop0".to_owned());
        assert_eq!(refusal_of_queue(usage), Ok("the kernel takes no nr_requests=256 of /dev/loop0".to_owned()));
        for machine in [failed("cannot find /dev/loop0 in sysfs"), LaneFailure::Interrupted] {
            assert_eq!(refusal_of_queue(machine.clone()), Err(machine));
        }
    }

    #[test]
    fn layers_and_parts_of_disks_leave_no_queue_to_vary() {
        let why = |lane: &str, on: &[&str]| {
            let on: Vec<PathBuf> = on.iter().map(PathBuf::from).collect();
            no_queue(&lane.parse().unwrap(), &on)
        };
        assert_eq!(why("ext4", &[]), None);
        assert_eq!(why("ext4/queue,scheduler=none", &[]), None);
        assert!(why("ext4/crypt", &[]).is_some_and(|why| why.contains("layers stand between")));
        assert!(why("ext4", &["/dev/no-such-disk"]).is_some_and(|why| why.contains("/dev/no-such-disk")));
    }
}
