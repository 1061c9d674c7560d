//! A lane without a stage: a filesystem of the table with its options, made, mounted and checked on
//! whatever block device it is given. Power cuts and damage need many of them, one after the other.

use crate::availability;
use crate::command;
use crate::contestant::{Contestant, fill_device};
use crate::failure::{LaneFailure, usage};
use crate::filesystem::{Filesystem, Home};
use crate::mount;
use model::lane::{LaneSpec, Promises, Venue};
use std::path::Path;
use std::sync::atomic::AtomicBool;

/// A filesystem with its options.
#[derive(Debug, Clone)]
pub struct Specimen {
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

impl Specimen {
    /// Of a lane as the user wrote it. It must be a filesystem that the kernel mounts from a block device, without
    /// a venue of its own.
    ///
    /// # Errors
    /// [`LaneFailure::Usage`] for any other; [`LaneFailure::Privilege`] where kernel or tools lack it.
    pub fn resolve(spec: &LaneSpec) -> Result<Specimen, LaneFailure> {
        let contestant = Contestant::resolve(spec, &|row| availability::kernel_has(row.mounted_as(), row.module))?;
        let Contestant::Row(row) = &contestant else {
            return Err(usage(format!(
                "lane {} is no filesystem of Fairlane's table, and only those are made again and again here; name one \
                 such as ext4 or xfs",
                spec.name
            )));
        };
        if row.home != Home::Block || !matches!(spec.venue, None | Some(Venue::Image(None))) {
            return Err(usage(format!(
                "lane {} does not stand on a block device of Fairlane's own, which is cut or damaged here; leave its \
                 venue out, or name a filesystem such as ext4",
                spec.name
            )));
        }
        contestant.check_available()?;
        contestant.check_mount_options(spec)?;
        Ok(Specimen {
            spec: spec.clone(),
            row,
            mkfs: contestant.mkfs_command(spec),
            mount_options: contestant.mount_options(spec),
        })
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

    /// Makes the filesystem, on one device or on several that it joins (`extra`).
    ///
    /// # Errors
    /// What mkfs says.
    pub fn format(&self, device: &Path, extra: &[&Path], stop: &AtomicBool) -> Result<(), LaneFailure> {
        let mut words = fill_device(&self.mkfs, device);
        words.extend(extra.iter().map(|path| path.display().to_string()));
        command::run(&words, stop).map(drop)
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
        mount::mount(self.row.name, &device.to_string_lossy(), &options, target)
    }

    /// Whether it was told to keep two copies on two devices.
    pub fn wants_two_devices(&self) -> bool {
        self.spec.mkfs_options.iter().any(|word| word == "raid1" || word.ends_with("raid1"))
    }

    /// Has the mounted filesystem look at everything that it stores, where it can (btrfs scrub). What it found, in
    /// its own words; `Clean` where nothing was wrong.
    ///
    /// # Errors
    /// [`LaneFailure::Privilege`] where the tool is missing, [`LaneFailure::Interrupted`].
    pub fn scrub(&self, target: &Path, stop: &AtomicBool) -> Result<Consistency, LaneFailure> {
        if self.row.name != "btrfs" {
            return Ok(Consistency::Unknown);
        }
        let run = |words: &[&str]| {
            let words = words.iter().map(|&word| word.to_owned());
            command::run(&words.chain([target.display().to_string()]).collect::<Vec<_>>(), stop)
        };
        match run(&["btrfs", "scrub", "start", "-B"]) {
            // What a read found and repaired before the scrub, the devices' own statistics remember.
            Ok(output) if output.stdout.contains("no errors found") => {
                Ok(match counted(&run(&["btrfs", "device", "stats"])?.stdout) {
                    said if said.is_empty() => Consistency::Clean,
                    said => Consistency::Complaint(said),
                })
            }
            Ok(output) => Ok(Consistency::Complaint(summary_of(&output.stdout))),
            Err(LaneFailure::Failed(said)) => Ok(Consistency::Complaint(said)),
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
        CHECKERS.iter().find(|checker| checker.filesystem == self.row.name)
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
        match command::run(&fill_device(&words, device), stop) {
            Ok(_) => Ok(Consistency::Clean),
            Err(LaneFailure::Failed(said)) => Ok(Consistency::Complaint(said)),
            Err(other) => Err(other),
        }
    }
}

/// The lines of a scrub that count errors.
fn summary_of(text: &str) -> String {
    let told = ["Error summary", "Corrected", "Uncorrectable", "Unverified"];
    let lines = text.lines().map(str::trim).filter(|line| told.iter().any(|word| line.starts_with(word)));
    lines.map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect::<Vec<_>>().join("; ")
}

/// The counters of `btrfs device stats` that are not zero, over all devices: `corruption_errs 13`.
fn counted(text: &str) -> String {
    let mut sums: std::collections::BTreeMap<&str, u64> = std::collections::BTreeMap::new();
    for line in text.lines() {
        let mut words = line.split_whitespace();
        let (Some(name), Some(Ok(count))) = (words.next(), words.next().map(str::parse::<u64>)) else { continue };
        let counter = name.rsplit('.').next().unwrap_or(name);
        *sums.entry(counter).or_default() += count;
    }
    let told = sums.iter().filter(|(_, count)| **count > 0).map(|(counter, count)| format!("{counter} {count}"));
    told.collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statistics_of_devices_are_added_up_and_zeros_say_nothing() {
        let text = "[/dev/loop0].write_io_errs    0\n[/dev/loop0].corruption_errs  13\n\
            [/dev/loop1].corruption_errs  2\n[/dev/loop1].generation_errs  1\n";
        assert_eq!(counted(text), "corruption_errs 15, generation_errs 1");
        assert_eq!(counted("[/dev/loop0].write_io_errs 0\n"), "");
    }
}
