//! A lane without a lane set: a filesystem of the table with its options, made, mounted and checked on
//! whatever block device it is given. Power cuts and damage need many of them, one after the other.

mod ground;

pub use ground::{Ground, check_can_lose_disk};

use crate::availability::{self, Availability};
use crate::command;
use crate::confined::Confined;
use crate::contestant::{Commands, Contestant, fill_device};
use crate::failure::{LaneFailure, NotDone, failed, privilege, usage};
use crate::filesystems::{Checker, FILESYSTEMS, Filesystem, Home};
use crate::formatting::{self, MountRequest};
use crate::joined;
use crate::layers;
use crate::let_go;
use crate::other_devices::Image;
use crate::same_names;
use model::aged::states_line;
use model::lane::{LaneSpec, Promises, Venue};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

/// A filesystem with its options.
#[derive(Debug, Clone)]
pub struct SingleLane {
    spec: LaneSpec,
    row: &'static Filesystem,
    mkfs: Vec<String>,
    mount_options: Vec<String>,
    /// The number of the disk that is lost with every cut, from 1; `None`: it loses none.
    lost_disk: Option<u32>,
}

/// What a look at everything that a mounted filesystem stores found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Scrub {
    /// In its own words; `Clean` where nothing was wrong.
    pub told: Consistency,
    /// Errors that it says were corrected, by it or by a read before it.
    pub corrected: u64,
}

/// What a checker said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Consistency {
    /// Nothing to complain of.
    Clean,
    /// Its first words.
    Complaint(String),
    /// There is no checker for this filesystem.
    Unknown,
}

impl SingleLane {
    /// Of a lane as the user wrote it. It must be a filesystem that the kernel mounts from a block device, without
    /// a venue of its own.
    ///
    /// # Errors
    /// [`LaneFailure::Usage`] for any other; [`LaneFailure::Privilege`] where kernel or tools lack it.
    pub fn resolve(spec: &LaneSpec) -> Result<SingleLane, LaneFailure> {
        let contestant = Contestant::resolve(spec, &|row| availability::kernel_has(row.mounted_as(), row.module))?;
        let Contestant::Row(row) = &contestant else {
            let what = match &contestant {
                Contestant::Custom(custom) if custom.row().is_some() => "is mounted by a program in user space here",
                _ => "is no filesystem of Fairlane's table",
            };
            return Err(usage(format!(
                "lane {} {what}, and only what the kernel mounts from a block device is cut and damaged here; name one \
                 such as ext4 or xfs",
                spec.name
            )));
        };
        if row.home != Home::Block || !matches!(spec.venue, None | Some(Venue::Image(None))) {
            let remedy = if row.home == Home::Block { "leave its venue out" } else { "name another, such as ext4" };
            return Err(usage(format!(
                "lane {} does not stand on a block device of Fairlane's own, which is cut or damaged here; {remedy}",
                spec.name
            )));
        }
        if spec.has_past() {
            return Err(usage(format!(
                "lane {} has a past, and what is cut or damaged here is fresh; leave {} out",
                spec.name,
                states_line(spec.aged.as_ref(), spec.full_percent)
            )));
        }
        ground::check(spec, row)?;
        let Commands { mkfs, mount_options, devices } =
            contestant.commands(spec).map_err(|error| error.in_lane(&spec.name))?;
        if let Some(device) = devices.first() {
            return Err(usage(format!(
                "lane {} names {}, and only a disk of Fairlane's own is cut or damaged here; remove it",
                spec.name,
                device.display()
            )));
        }
        if availability::find(row) == Availability::KernelLacks {
            return Err(privilege(format!(
                "the kernel lacks {}; cut or damage it in a guest whose kernel has it: {}",
                row.name,
                crate::guest::GuestKind::options_here()
            )));
        }
        contestant.check_available()?;
        contestant.check_mount_options(&mount_options)?;
        let mut spec = spec.clone();
        if spec.layers.is_empty() {
            spec.devices = spec.devices.max((row.least_devices)(&spec.mkfs_options));
        }
        Ok(SingleLane { spec, row, mkfs, mount_options, lost_disk: None })
    }

    /// What reports call it.
    pub fn name(&self) -> &str {
        &self.spec.name
    }

    /// As the user wrote it.
    pub fn spec(&self) -> &LaneSpec {
        &self.spec
    }

    /// `ext4`.
    pub fn filesystem(&self) -> &'static str {
        self.row.name
    }

    /// The mkfs command, with `{device}` where the device stands.
    pub fn mkfs_command(&self) -> &[String] {
        &self.mkfs
    }

    /// The options of the mount, Fairlane's own included.
    pub fn mount_options(&self) -> &[String] {
        &self.mount_options
    }

    /// What it promises.
    pub fn promises(&self) -> Promises {
        let promises = (self.row.promises)(&self.spec.mkfs_options, &self.mount_options);
        layers::promises_on(promises, &self.spec.layers)
    }

    /// Smallest lane that mkfs takes.
    pub fn minimum_bytes(&self) -> u64 {
        self.row.minimum_bytes
    }

    /// Refuses where a program that looks at an image, or repairs it, is missing: it would be needed only when the
    /// first image is there, after everything before it was done in vain.
    ///
    /// # Errors
    /// [`LaneFailure::Privilege`] with the package that brings it.
    pub fn check_tools(&self) -> Result<(), LaneFailure> {
        match missing_checker(self.row, &|program| command::find_program(program).is_some()) {
            None => Ok(()),
            Some((program, package)) => Err(privilege(format!(
                "lane {}: {program} is missing, which looks at what is left of {}; {}",
                self.spec.name,
                self.row.name,
                crate::missing::install(package)
            ))),
        }
    }

    /// Refuses an image of this lane that a stranger may have written, where it would have the kernel, udev or a checker
    /// change another device: before it becomes a block device, and again before each repair and mount, since a journal
    /// may hold another superblock. `device`: the block device that it is already.
    ///
    /// # Errors
    /// [`LaneFailure::Usage`] with what it names; [`LaneFailure::Failed`] where it cannot be read.
    pub fn check_strangers_image(&self, image: &Path, device: Option<&Path>) -> Result<(), LaneFailure> {
        let unread = |error: std::io::Error| failed(format!("cannot read {}: {error}", image.display()));
        let image = Image { file: std::fs::File::open(image).map_err(unread)?, device };
        let joined = joined::joined(&image, self.row.name).map_err(unread)?;
        let joined = joined.map(|what| format!("it is a part of {what} too, which the system would put together"));
        let names = self.row.concerns_others(&image).map_err(unread)?;
        // e2fsck puts a journal into effect, and then begins anew with what that made of the superblock.
        let has_none = !(self.row.promises)(&self.spec.mkfs_options, &[]).journal;
        let repaired = self.row.checker.filter(|_| self.is_repaired_before_mount() && has_none);
        let journal = repaired.map_or(Ok(false), |checker| (checker.has_journal)(&image)).map_err(unread)?;
        let journal = journal.then(|| "it has a journal, and its lane has none".to_owned());
        let same = same_names::carried(&image).map_err(unread)?;
        match joined.or(names).or(journal).or(same) {
            None => Ok(()),
            Some(why) => Err(usage(format!(
                "this image of {} is neither repaired nor mounted, because that may change disks that nobody named: {why}; \
                 look at one that a run of your own kept",
                self.row.name
            ))),
        }
    }

    /// Refuses to make any image of a stranger's a device where the kernel makes devices of its partitions too: nobody
    /// looks at what those are parts of.
    ///
    /// # Errors
    /// [`LaneFailure::Usage`] with the remedy.
    pub fn check_partitions_stay_unread() -> Result<(), LaneFailure> {
        let max_part = std::fs::read_to_string("/sys/module/loop/parameters/max_part").unwrap_or_default();
        match joined::has_partitions_scanned(&max_part) {
            false => Ok(()),
            true => Err(usage(format!(
                "this kernel makes devices of the partitions of every image (loop.max_part={}), and those of a kept image \
                 may be parts of other disks; load the loop module without max_part",
                max_part.trim()
            ))),
        }
    }

    /// Waits until nobody uses a device any more that was unmounted: a mount namespace that was copied meanwhile, say.
    ///
    /// # Errors
    /// [`LaneFailure`] that names who has it mounted, where that shows.
    pub fn wait_until_free(&self, device: &Path, stop: &AtomicBool) -> Result<(), LaneFailure> {
        let_go::check(device, stop)
    }

    /// Makes the filesystem, on one device or on several that it joins.
    ///
    /// # Errors
    /// What mkfs says.
    pub fn format(&self, ground: &Ground, stop: &AtomicBool) -> Result<(), LaneFailure> {
        let device = ground.device();
        let extra: Vec<&Path> = ground.devices().iter().skip(1).map(PathBuf::as_path).collect();
        extra.iter().try_for_each(|path| let_go::check(path, stop))?;
        let mut words = self.mkfs.clone();
        words.extend(extra.iter().map(|path| path.display().to_string()));
        let made = formatting::format(&Contestant::Row(self.row), &words, (device, None), &extra, stop);
        made.map(drop).map_err(LaneFailure::from)
    }

    /// Mounts it.
    ///
    /// # Errors
    /// What the kernel says.
    pub fn mount(&self, ground: &Ground, target: &Path) -> Result<(), LaneFailure> {
        self.mount_with(ground, target, &[])
    }

    /// Mounts one of several copies of it, which may be mounted at the same time: some refuse a second of the same name
    /// unless they are told.
    ///
    /// # Errors
    /// What the kernel says.
    pub fn mount_copy(&self, ground: &Ground, target: &Path) -> Result<(), LaneFailure> {
        // A filesystem that joins several devices knows them by its own name, and is mounted once at a time.
        let options = if self.spec.devices == 1 { self.row.copy_options } else { &[] };
        self.mount_with(ground, target, &owned(options))
    }

    /// Whether several copies can be mounted at once.
    pub fn copies_stand_side_by_side(&self) -> bool {
        // md, bcache and Btrfs put together only one of those that carry one name.
        self.spec.layers.is_empty()
            && self.spec.devices == 1
            && self.row.copies_need.is_none_or(|path| Path::new(path).exists())
    }

    /// Mounts it with more options.
    fn mount_with(&self, ground: &Ground, target: &Path, more: &[String]) -> Result<(), LaneFailure> {
        let mut options = self.mount_options.clone();
        options.extend_from_slice(more);
        if let Some(key) = self.row.further_device_option {
            let further = ground.devices().iter().skip(1);
            options.extend(further.map(|device| format!("{key}={}", device.display())));
        }
        let lacks_one = self.lost_disk.is_some() && ground.devices().len() < self.spec.devices as usize;
        options.extend(self.row.degraded_option.filter(|_| lacks_one).map(str::to_owned));
        let contestant = Contestant::Row(self.row);
        let request = MountRequest { contestant: &contestant, source: ground.device(), options: &options, target };
        formatting::mount(&request, &AtomicBool::new(false)).map(drop).map_err(LaneFailure::from)
    }

    /// Mounts an image that a stranger may have written: nothing in it is run, and where it says itself that the machine
    /// stops at its first error, its mount becomes read-only instead.
    ///
    /// # Errors
    /// What the kernel says.
    pub fn mount_strangers(&self, device: &Path, target: &Path) -> Result<(), LaneFailure> {
        let careful = [&["noexec"], self.row.careful.unwrap_or_default()].concat();
        self.mount_with(&Ground::disk(device), target, &owned(&careful))
    }

    /// Has the mounted filesystem look at everything that it stores, where it can (btrfs scrub).
    ///
    /// # Errors
    /// [`LaneFailure::Privilege`] where the tool is missing, [`LaneFailure::Interrupted`].
    pub fn scrub(&self, target: &Path, stop: &AtomicBool) -> Result<Scrub, LaneFailure> {
        match self.row.scrub {
            Some(scrub) => scrub(target, stop),
            None => Ok(Scrub { told: Consistency::Unknown, corrected: 0 }),
        }
    }

    /// Runs the checker, which only reads.
    ///
    /// # Errors
    /// [`LaneFailure::Privilege`] where it is missing, [`LaneFailure::Interrupted`].
    pub fn check(&self, ground: &Ground, stop: &AtomicBool) -> Result<Consistency, LaneFailure> {
        self.run_checker(ground, stop, |checker| checker.look)
    }

    /// Whether it is repaired before it is mounted, as a boot does: where it has no journal, or where its checker puts that
    /// into effect.
    pub fn is_repaired_before_mount(&self) -> bool {
        let journal = self.promises().journal;
        self.row.checker.is_some_and(|checker| checker.replays || (!journal && !checker.repair.is_empty()))
    }

    /// Repairs it before a mount; a complaint is what it repaired.
    ///
    /// # Errors
    /// As [`check`](Self::check).
    pub fn repair(&self, ground: &Ground, stop: &AtomicBool) -> Result<Consistency, LaneFailure> {
        self.run_checker(ground, stop, |checker| checker.repair)
    }

    fn run_checker(
        &self,
        ground: &Ground,
        stop: &AtomicBool,
        which: impl Fn(Checker) -> &'static [&'static str],
    ) -> Result<Consistency, LaneFailure> {
        let Some(words) = self.row.checker.map(which).filter(|words| !words.is_empty()) else {
            return Ok(Consistency::Unknown);
        };
        let all: Vec<&Path> = ground.devices().iter().map(PathBuf::as_path).collect();
        let confined = Confined::to(&all)?;
        let words = fill_device(&owned(words), ground.device());
        told_by(command::run_confined(&words, (confined.as_ref(), None), stop).map(drop))
    }
}

/// What a checker says by its end. One that was killed says nothing of the filesystem; one that ended by itself does, of a
/// disk that it cannot read or may not write too.
fn told_by(ended: Result<(), NotDone>) -> Result<Consistency, LaneFailure> {
    match ended {
        Ok(()) => Ok(Consistency::Clean),
        Err(NotDone::Refused { failure, .. } | NotDone::Silent { failure, .. } | NotDone::OfMachine(failure)) => {
            Ok(Consistency::Complaint(failure.to_string()))
        }
        Err(NotDone::Failed(failure)) => Err(failure),
    }
}

fn owned(words: &[&str]) -> Vec<String> {
    words.iter().map(|&word| word.to_owned()).collect()
}

/// The program of a filesystem's checker that is not there, and its package.
fn missing_checker(row: &Filesystem, is_there: &dyn Fn(&str) -> bool) -> Option<(&'static str, &'static str)> {
    let checker = row.checker?;
    [checker.look, checker.repair]
        .into_iter()
        .filter_map(|words| words.first().copied())
        .find(|&program| !is_there(program))
        .map(|program| (program, checker.package))
}

/// The filesystems that have a checker, each with whether it is there.
pub fn survey_checkers() -> Vec<(&'static Filesystem, Availability)> {
    let is_there = |program: &str| command::find_program(program).is_some();
    let checked = FILESYSTEMS.iter().copied().filter(|row| row.home == Home::Block && row.checker.is_some());
    let state = |row: &'static Filesystem| match missing_checker(row, &is_there) {
        Some((program, package)) => Availability::ToolMissing { program, package },
        None => Availability::Ready,
    };
    checked.map(|row| (row, state(row))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_checker_that_is_missing_is_known_by_its_row() {
        let row = |name: &str| crate::filesystems::find(name).unwrap();
        for (name, program) in [("ext2", "e2fsck"), ("ext4", "e2fsck"), ("xfs", "xfs_repair"), ("btrfs", "btrfs")] {
            assert_eq!(missing_checker(row(name), &|_| false), Some((program, row(name).package)), "{name}");
            assert_eq!(missing_checker(row(name), &|of| of == program), None, "{name}");
            assert!(!row(name).package.is_empty(), "{name}");
        }
        assert_eq!(missing_checker(row("tmpfs"), &|_| false), None);
        let checked: Vec<&str> = survey_checkers().into_iter().map(|(row, _)| row.name).collect();
        assert!(["ext2", "ext3", "ext4", "xfs", "btrfs"].iter().all(|name| checked.contains(name)), "{checked:?}");
        assert!(!checked.contains(&"rsext4"), "no power is cut below a library");
    }

    #[test]
    fn a_checker_that_was_killed_says_nothing_of_the_filesystem() {
        let ended = |script: &str| {
            told_by(
                command::run_confined(&owned(&["sh", "-c", script]), (None, None), &AtomicBool::new(false)).map(drop),
            )
        };
        assert_eq!(ended("echo clean"), Ok(Consistency::Clean));
        for script in ["echo bad inode; exit 4", "echo Permission denied while checking the journal; exit 12", "exit 1"]
        {
            assert!(matches!(ended(script), Ok(Consistency::Complaint(_))), "{script}");
        }
        let killed = ended("echo bad inode; kill -KILL $$");
        assert!(matches!(killed, Err(LaneFailure::Failed(_))), "{killed:?}");
    }

    #[test]
    fn an_image_of_strangers_stops_no_machine_where_its_filesystem_knows_a_word_for_that() {
        for row in FILESYSTEMS.iter().filter(|row| row.home == Home::Block) {
            // Where this kernel has it, it knows the word.
            let options = owned(row.careful.unwrap_or_else(|| panic!("{}", row.name)));
            let is_here =
                availability::kernel_has(row.mounted_as(), row.module) && rustix::process::geteuid().is_root();
            assert!(!is_here || crate::mount::try_options(row.mounted_as(), &options).is_ok(), "{}", row.name);
        }
    }
}
