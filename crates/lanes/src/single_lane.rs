//! A lane without a lane set: a filesystem of the table with its options, made, mounted and checked on
//! whatever block device it is given. Power cuts and damage need many of them, one after the other.

use crate::availability::{self, Availability};
use crate::command;
use crate::confined::Confined;
use crate::contestant::{Commands, Contestant, fill_device};
use crate::failure::{LaneFailure, failed, privilege, usage};
use crate::filesystem::{FILESYSTEMS, Filesystem, Home};
use crate::joined;
use crate::mount;
use crate::other_devices::{self, Image};
use crate::same_names;
use model::lane::{LaneSpec, Promises, Venue};
use std::path::Path;
use std::sync::atomic::AtomicBool;

/// A filesystem with its options.
#[derive(Debug, Clone)]
pub struct SingleLane {
    spec: LaneSpec,
    row: &'static Filesystem,
    mkfs: Vec<String>,
    mount_options: Vec<String>,
}

/// How a filesystem is checked.
struct Checker {
    filesystem: &'static str,
    /// Reads only; `{device}` stands for the device.
    look: &'static [&'static str],
    /// What a boot runs before it mounts a filesystem without a journal.
    repair: &'static [&'static str],
}

/// The table of checkers. To add one: one row.
static CHECKERS: [Checker; 5] = [
    Checker { filesystem: "ext2", look: &["e2fsck", "-fn", "{device}"], repair: &["e2fsck", "-fy", "{device}"] },
    Checker { filesystem: "ext3", look: &["e2fsck", "-fn", "{device}"], repair: &["e2fsck", "-fy", "{device}"] },
    Checker { filesystem: "ext4", look: &["e2fsck", "-fn", "{device}"], repair: &["e2fsck", "-fy", "{device}"] },
    Checker { filesystem: "xfs", look: &["xfs_repair", "-n", "{device}"], repair: &[] },
    Checker { filesystem: "btrfs", look: &["btrfs", "check", "--readonly", "{device}"], repair: &[] },
];

/// Profiles of several devices with the fewest that each takes, as mkfs.btrfs has them. raid0 is content with one.
static PROFILES: [(&str, u32); 6] =
    [("raid1", 2), ("raid1c3", 3), ("raid1c4", 4), ("raid10", 2), ("raid5", 2), ("raid6", 3)];

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
        let Commands { mkfs, mount_options, devices } =
            contestant.commands(spec).map_err(|error| error.in_lane(&spec.name))?;
        if let Some(device) = devices.first() {
            return Err(usage(format!(
                "lane {} names {}, and only a disk of Fairlane's own is cut or damaged here; remove it",
                spec.name,
                device.display()
            )));
        }
        if availability::of(row) == Availability::KernelLacks {
            return Err(privilege(format!(
                "the kernel lacks {}, and disks are cut and damaged on this machine's own kernel alone; boot one that has \
                 it, or name another filesystem",
                row.name
            )));
        }
        contestant.check_available()?;
        contestant.check_mount_options(&mount_options)?;
        Ok(SingleLane { spec: spec.clone(), row, mkfs, mount_options })
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
        (self.row.promises)(&self.spec.mkfs_options, &self.mount_options)
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
            Some(program) => Err(privilege(format!(
                "lane {}: {program} is missing, which looks at what is left of {}; {}",
                self.spec.name,
                self.row.name,
                crate::missing::install(self.row.package)
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
        let names = (self.row.names_others)(&image).map_err(unread)?;
        // e2fsck puts a journal into effect, and then begins anew with what that made of the superblock.
        let has_none = !(self.row.promises)(&self.spec.mkfs_options, &[]).journal;
        let is_repaired = self.is_repaired_before_mount() && has_none;
        let journal = is_repaired && other_devices::ext_has_journal(&image).map_err(unread)?;
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

    /// Makes the filesystem, on one device or on several that it joins (`extra`).
    ///
    /// # Errors
    /// What mkfs says.
    pub fn format(&self, device: &Path, extra: &[&Path], stop: &AtomicBool) -> Result<(), LaneFailure> {
        let mut words = fill_device(&self.mkfs, device);
        words.extend(extra.iter().map(|path| path.display().to_string()));
        let confined = Confined::to(&[&[device], extra].concat())?;
        command::run_confined(&words, (confined.as_ref(), None), stop).map(drop)
    }

    /// Mounts it.
    ///
    /// # Errors
    /// What the kernel says.
    pub fn mount(&self, device: &Path, target: &Path) -> Result<(), LaneFailure> {
        self.mount_with(device, target, &[])
    }

    /// Mounts one of several copies of it, which may be mounted at the same time: xfs refuses a second of the same
    /// name unless it is told.
    ///
    /// # Errors
    /// What the kernel says.
    pub fn mount_copy(&self, device: &Path, target: &Path) -> Result<(), LaneFailure> {
        let more = if self.row.name == "xfs" { vec!["nouuid".to_owned()] } else { Vec::new() };
        self.mount_with(device, target, &more)
    }

    /// Whether several copies can be mounted at once. btrfs knows filesystems by the name that all copies share; since
    /// Linux 6.7 (`temp_fsid`) it gives each copy one of its own.
    pub fn copies_stand_side_by_side(&self) -> bool {
        self.row.name != "btrfs" || Path::new("/sys/fs/btrfs/features/temp_fsid").exists()
    }

    /// Mounts it with more options.
    ///
    /// # Errors
    /// What the kernel says.
    pub fn mount_with(&self, device: &Path, target: &Path, more: &[String]) -> Result<(), LaneFailure> {
        let mut options = self.mount_options.clone();
        options.extend_from_slice(more);
        mount::mount(self.row.mounted_as(), &device.to_string_lossy(), &options, target)
    }

    /// Mounts an image that a stranger may have written: nothing in it is run, and where it says itself that the machine
    /// stops at its first error, its mount becomes read-only instead.
    ///
    /// # Errors
    /// What the kernel says.
    pub fn mount_strangers(&self, device: &Path, target: &Path) -> Result<(), LaneFailure> {
        let careful: Vec<String> =
            [&["noexec"], self.row.careful].concat().iter().map(|&word| word.to_owned()).collect();
        self.mount_with(device, target, &careful)
    }

    /// The fewest devices that it takes, by its mkfs options.
    pub fn least_devices(&self) -> u32 {
        least_of(&self.spec.mkfs_options)
    }

    /// Has the mounted filesystem look at everything that it stores, where it can (btrfs scrub).
    ///
    /// # Errors
    /// [`LaneFailure::Privilege`] where the tool is missing, [`LaneFailure::Interrupted`].
    pub fn scrub(&self, target: &Path, stop: &AtomicBool) -> Result<Scrub, LaneFailure> {
        if self.row.name != "btrfs" {
            return Ok(Scrub { told: Consistency::Unknown, corrected: 0 });
        }
        let run = |words: &[&str]| {
            let words = words.iter().map(|&word| word.to_owned());
            command::run(&words.chain([target.display().to_string()]).collect::<Vec<_>>(), stop)
        };
        match run(&["btrfs", "scrub", "start", "-B"]) {
            // What a read found and repaired before the scrub, the devices' own statistics remember.
            Ok(output) if output.stdout.contains("no errors found") => {
                let (said, corrected) = counted(&run(&["btrfs", "device", "stats"])?.stdout);
                let told = if said.is_empty() { Consistency::Clean } else { Consistency::Complaint(said) };
                Ok(Scrub { told, corrected })
            }
            Ok(output) => {
                let (said, corrected) = summary_of(&output.stdout);
                Ok(Scrub { told: Consistency::Complaint(said), corrected })
            }
            Err(LaneFailure::Failed(said)) => Ok(Scrub { told: Consistency::Complaint(said), corrected: 0 }),
            Err(other) => Err(other),
        }
    }

    /// Runs the checker, which only reads.
    ///
    /// # Errors
    /// [`LaneFailure::Privilege`] where it is missing, [`LaneFailure::Interrupted`].
    pub fn check(&self, device: &Path, stop: &AtomicBool) -> Result<Consistency, LaneFailure> {
        self.run_checker(device, stop, |checker| checker.look)
    }

    /// Whether a filesystem without a journal is repaired before it is mounted, as a boot does.
    pub fn is_repaired_before_mount(&self) -> bool {
        !self.promises().journal && self.checker().is_some_and(|checker| !checker.repair.is_empty())
    }

    /// Repairs it before a mount; a complaint is what it repaired.
    ///
    /// # Errors
    /// As [`check`](Self::check).
    pub fn repair(&self, device: &Path, stop: &AtomicBool) -> Result<Consistency, LaneFailure> {
        self.run_checker(device, stop, |checker| checker.repair)
    }

    fn checker(&self) -> Option<&'static Checker> {
        checker_of(self.row)
    }

    fn run_checker(
        &self,
        device: &Path,
        stop: &AtomicBool,
        which: impl Fn(&'static Checker) -> &'static [&'static str],
    ) -> Result<Consistency, LaneFailure> {
        let Some(words) = self.checker().map(which).filter(|words| !words.is_empty()) else {
            return Ok(Consistency::Unknown);
        };
        let words: Vec<String> = words.iter().map(|&word| word.to_owned()).collect();
        let confined = Confined::to(&[device])?;
        match command::run_confined(&fill_device(&words, device), (confined.as_ref(), None), stop) {
            Ok(_) => Ok(Consistency::Clean),
            Err(LaneFailure::Failed(said)) => Ok(Consistency::Complaint(said)),
            Err(other) => Err(other),
        }
    }
}

fn checker_of(row: &Filesystem) -> Option<&'static Checker> {
    CHECKERS.iter().find(|checker| checker.filesystem == row.name)
}

/// The program of a filesystem's checker that is not there.
fn missing_checker(row: &Filesystem, is_there: &dyn Fn(&str) -> bool) -> Option<&'static str> {
    let checker = checker_of(row)?;
    [checker.look, checker.repair]
        .into_iter()
        .filter_map(|words| words.first().copied())
        .find(|&program| !is_there(program))
}

/// The filesystems that have a checker, each with whether it is there.
pub fn survey_checkers() -> Vec<(&'static Filesystem, Availability)> {
    let is_there = |program: &str| command::find_program(program).is_some();
    let checked = FILESYSTEMS.iter().filter(|row| checker_of(row).is_some());
    let state = |row: &'static Filesystem| match missing_checker(row, &is_there) {
        Some(program) => Availability::ToolMissing { program, package: row.package },
        None => Availability::Ready,
    };
    checked.map(|row| (row, state(row))).collect()
}

fn least_of(words: &[String]) -> u32 {
    let of = |word: &String| PROFILES.iter().filter(|(name, _)| word.ends_with(name)).map(|(_, least)| *least).max();
    words.iter().filter_map(of).max().unwrap_or(1)
}

/// The lines of a scrub that count errors, and how many it corrected.
fn summary_of(text: &str) -> (String, u64) {
    let told = ["Error summary", "Corrected", "Uncorrectable", "Unverified"];
    let lines = text.lines().map(str::trim).filter(|line| told.iter().any(|word| line.starts_with(word)));
    let lines: Vec<String> = lines.map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
    let corrected = lines.iter().filter_map(|line| line.strip_prefix("Corrected: ")?.parse::<u64>().ok()).sum();
    (lines.join("; "), corrected)
}

/// The counters of `btrfs device stats` that are not zero, over all devices: `corruption_errs 13`; and their sum.
fn counted(text: &str) -> (String, u64) {
    let mut sums: std::collections::BTreeMap<&str, u64> = std::collections::BTreeMap::new();
    for line in text.lines() {
        let mut words = line.split_whitespace();
        let (Some(name), Some(Ok(count))) = (words.next(), words.next().map(str::parse::<u64>)) else { continue };
        let counter = name.rsplit('.').next().unwrap_or(name);
        *sums.entry(counter).or_default() += count;
    }
    let told = sums.iter().filter(|(_, count)| **count > 0).map(|(counter, count)| format!("{counter} {count}"));
    (told.collect::<Vec<_>>().join(", "), sums.values().sum())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_checker_that_is_missing_is_known_by_its_row() {
        let row = |name: &str| crate::filesystem::find(name).unwrap();
        for (name, program) in [("ext2", "e2fsck"), ("ext4", "e2fsck"), ("xfs", "xfs_repair"), ("btrfs", "btrfs")] {
            assert_eq!(missing_checker(row(name), &|_| false), Some(program), "{name}");
            assert_eq!(missing_checker(row(name), &|of| of == program), None, "{name}");
            assert!(!row(name).package.is_empty(), "{name}");
        }
        assert_eq!(missing_checker(row("tmpfs"), &|_| false), None);
        assert_eq!(survey_checkers().len(), CHECKERS.len());
    }

    #[test]
    fn an_image_of_strangers_stops_no_machine_where_its_filesystem_knows_a_word_for_that() {
        for row in FILESYSTEMS.iter().filter(|row| row.home == Home::Block) {
            let has_no_word = ["xfs", "ntfs", "f2fs"].contains(&row.name);
            assert_eq!(row.careful.is_empty(), has_no_word, "{}", row.name);
            // Where this kernel has it, it knows the word.
            let options: Vec<String> = row.careful.iter().map(|&word| word.to_owned()).collect();
            let is_here =
                availability::kernel_has(row.mounted_as(), row.module) && rustix::process::geteuid().is_root();
            assert!(!is_here || mount::try_options(row.mounted_as(), &options).is_ok(), "{}", row.name);
        }
    }

    #[test]
    fn statistics_of_devices_are_added_up_and_zeros_say_nothing() {
        let text = "[/dev/loop0].write_io_errs    0\n[/dev/loop0].corruption_errs  13\n\
            [/dev/loop1].corruption_errs  2\n[/dev/loop1].generation_errs  1\n";
        assert_eq!(counted(text), ("corruption_errs 15, generation_errs 1".to_owned(), 16));
        assert_eq!(counted("[/dev/loop0].write_io_errs 0\n"), (String::new(), 0));
    }

    #[test]
    fn a_scrub_says_what_it_corrected() {
        let text = "Scrub started:    x\nError summary:    csum=9\n  Corrected:      7\n  Uncorrectable:  2\n";
        assert_eq!(summary_of(text), ("Error summary: csum=9; Corrected: 7; Uncorrectable: 2".to_owned(), 7));
    }

    #[test]
    fn a_profile_of_several_devices_says_how_many() {
        for (options, least) in
            [("", 1), ("-m dup", 1), ("-d raid0", 1), ("-m raid1 -d raid1", 2), ("--data=raid1c3", 3)]
        {
            let words: Vec<String> = options.split_whitespace().map(str::to_owned).collect();
            assert_eq!(least_of(&words), least, "{options}");
        }
    }
}
