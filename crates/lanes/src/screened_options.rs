//! Options of filesystems as the factors of a screening: what each of them says to mkfs, to mount, to the disk's queue and to
//! the kernel.
//!
//! The tables stand beside the rows of [`crate::filesystems`]. What a person types passes the same checks of words as a lane
//! does, because a lane is made of it.

mod commit_interval;
mod dialect;
pub(crate) mod formatted;
mod join;
mod kernel_settings;
mod level_words;
mod parse;
mod recorded;
mod trial;
mod usual_level;

pub use join::lane_with;
pub use parse::parse_option;
pub use recorded::as_known;
pub(crate) use trial::try_in_guest;
pub use trial::{Made, Tried, no_queue, try_lane, try_lane_of_size};

use crate::filesystems;
use model::lane::{Contestant, LaneSpec};
use model::screening::{Factor, OptionClass, OptionLevel};

/// What a level is called that says nothing: mkfs, the kernel or the disk decide.
pub(crate) const UNSAID: &str = "default";

/// An option of a filesystem with its levels.
#[derive(Debug, Clone, Copy)]
pub struct ScreenedOption {
    /// What it is called; unique in a table.
    pub name: &'static str,
    /// Names that guides call it by and that may be typed too; no other option of its table has one of them.
    pub also: &'static [&'static str],
    /// The level of a lane that says nothing of it.
    pub usual: Level,
    /// The other level, and further ones behind it.
    pub others: &'static [Level],
    /// What the other levels change beside speed.
    pub class: OptionClass,
    /// What the other level costs, in a few words; empty: nothing that is known.
    pub costs: &'static str,
    /// What is said of the other level, in plain words; empty: nothing. A claim of others that nobody measured here.
    pub says: &'static str,
    /// Options that cannot be at their other level at the same time, by name.
    pub excludes: &'static [&'static str],
    /// It takes part where nobody names options.
    pub by_itself: bool,
}

/// A level of an option.
#[derive(Debug, Clone, Copy)]
pub struct Level {
    /// As it is shown: `256k`, `off`.
    pub label: &'static str,
    /// Words for mkfs, a flag and its value in turns, or flags alone.
    pub mkfs: &'static [&'static str],
    /// Options for mount.
    pub mount: &'static [&'static str],
    /// Settings of the disk's queue, as layer `queue` takes them.
    pub queue: &'static [&'static str],
    /// Settings of the kernel, as layer `vm` takes them.
    pub vm: &'static [&'static str],
}

impl Level {
    /// Says nothing.
    pub(crate) const fn unsaid(label: &'static str) -> Level {
        Level { label, mkfs: &[], mount: &[], queue: &[], vm: &[] }
    }

    /// Says this to mkfs.
    pub(crate) const fn made(label: &'static str, words: &'static [&'static str]) -> Level {
        Level { mkfs: words, ..Level::unsaid(label) }
    }

    /// Says this to mount.
    pub(crate) const fn mounted(label: &'static str, options: &'static [&'static str]) -> Level {
        Level { mount: options, ..Level::unsaid(label) }
    }

    /// Says this to the disk's queue.
    pub(crate) const fn queued(label: &'static str, settings: &'static [&'static str]) -> Level {
        Level { queue: settings, ..Level::unsaid(label) }
    }

    /// Says this to the kernel.
    pub(crate) const fn of_kernel(label: &'static str, settings: &'static [&'static str]) -> Level {
        Level { vm: settings, ..Level::unsaid(label) }
    }

    fn owned(&self) -> OptionLevel {
        let words = |words: &[&str]| words.iter().map(|&word| word.to_owned()).collect();
        OptionLevel {
            label: self.label.to_owned(),
            mkfs: words(self.mkfs),
            mount: words(self.mount),
            queue: words(self.queue),
            vm: words(self.vm),
        }
    }
}

impl ScreenedOption {
    /// Whether it may be typed by this name.
    fn is_called(&self, name: &str) -> bool {
        self.name == name || self.also.contains(&name)
    }

    /// Its levels, the usual one first.
    fn levels(&self) -> impl Iterator<Item = &Level> {
        std::iter::once(&self.usual).chain(self.others)
    }
}

/// What holds where an option says nothing.
pub(crate) const ORDINARY: ScreenedOption = ScreenedOption {
    name: "",
    also: &[],
    usual: Level::unsaid(UNSAID),
    others: &[],
    class: OptionClass::Ordinary,
    costs: "",
    says: "",
    excludes: &[],
    by_itself: false,
};

/// mount(8): relatime is the kernel's own.
pub(crate) const NOATIME: ScreenedOption = ScreenedOption {
    name: "noatime",
    usual: Level::unsaid("off"),
    others: &[Level::mounted("on", &["noatime"])],
    costs: "files do not tell when they were read",
    says: "the first thing that guides to tuning name: reading files writes nothing then",
    by_itself: true,
    ..ORDINARY
};

/// mount(8), `lazytime`.
pub(crate) const LAZYTIME: ScreenedOption = ScreenedOption {
    name: "lazytime",
    usual: Level::unsaid("off"),
    others: &[Level::mounted("on", &["lazytime"])],
    costs: "after a crash files may bear times of up to a day before",
    says: "spares the writes of inodes of which only times changed",
    by_itself: true,
    ..ORDINARY
};

/// The kernel's Documentation/block: the loop device of an image has no scheduler, and leaves the order to the disk below.
pub(crate) const SCHEDULER: ScreenedOption = ScreenedOption {
    name: "scheduler",
    others: &[
        Level::queued("mq-deadline", &["scheduler=mq-deadline"]),
        Level::queued("bfq", &["scheduler=bfq"]),
        Level::queued("kyber", &["scheduler=kyber"]),
        Level::queued("none", &["scheduler=none"]),
    ],
    says: "none for NVMe, mq-deadline for disks that spin or answer slowly, bfq where a person waits",
    by_itself: true,
    ..ORDINARY
};

/// The kernel's Documentation/ABI/stable/sysfs-block, `read_ahead_kb`: 128 KiB, or twice what the disk calls its best request.
pub(crate) const READ_AHEAD: ScreenedOption = ScreenedOption {
    name: "read_ahead",
    also: &["read_ahead_kb"],
    others: &[
        Level::queued("4M", &["read_ahead=4M"]),
        Level::queued("1M", &["read_ahead=1M"]),
        Level::queued("16K", &["read_ahead=16K"]),
    ],
    costs: "memory and disk time for what is read ahead and never asked for",
    says: "more for long files that are read from end to end, less for databases",
    by_itself: true,
    ..ORDINARY
};

/// The kernel's Documentation/ABI/stable/sysfs-block, `nr_requests`. Without a scheduler the driver has the last word.
pub(crate) const REQUESTS: ScreenedOption = ScreenedOption {
    name: "requests",
    also: &["nr_requests"],
    others: &[Level::queued("32", &["requests=32"]), Level::queued("64", &["requests=64"])],
    says: "a shorter queue is said to answer sooner, and a longer one to do more",
    ..ORDINARY
};

/// The kernel's Documentation/admin-guide/sysctl/vm.rst, `dirty_ratio`: 20 % of the memory that is free for it, beyond which who
/// writes waits.
pub(crate) const DIRTY_RATIO: ScreenedOption = ScreenedOption {
    name: "dirty_ratio",
    others: &[
        Level::of_kernel("5", &["dirty_ratio=5"]),
        Level::of_kernel("10", &["dirty_ratio=10"]),
        Level::of_kernel("2", &["dirty_ratio=2"]),
    ],
    costs: "who writes waits for the disk sooner",
    says: "less on machines with much memory and a slow disk, so that no stall is long; more for bursts of writes",
    ..ORDINARY
};

/// The same, `dirty_background_ratio`: 10 %, beyond which the kernel writes back on its own.
pub(crate) const DIRTY_BACKGROUND_RATIO: ScreenedOption = ScreenedOption {
    name: "dirty_background_ratio",
    others: &[
        Level::of_kernel("2", &["dirty_background_ratio=2"]),
        Level::of_kernel("1", &["dirty_background_ratio=1"]),
        Level::of_kernel("5", &["dirty_background_ratio=5"]),
    ],
    costs: "what is soon written again, or removed, reaches the disk all the same",
    says: "has the disk begin sooner, so that less is left to be written at once",
    ..ORDINARY
};

/// The options of a filesystem of the table by its name; empty: it has no table, or there is no such filesystem.
pub fn options_of(filesystem: &str) -> &'static [ScreenedOption] {
    filesystems::find(filesystem).map(|row| row.screened).unwrap_or_default()
}

/// The options of a lane's filesystem that Fairlane knows; of a filesystem of the user's own none.
pub fn table_of(lane: &LaneSpec) -> &'static [ScreenedOption] {
    match &lane.contestant {
        Contestant::Filesystem(name) => options_of(name),
        Contestant::Custom(_) | Contestant::Directory(_) => &[],
    }
}

/// An option of a table as a factor: its usual level against the first of the others, which tuning goes on with.
pub fn factor(option: &ScreenedOption) -> Factor {
    let mut others = option.others.iter().map(Level::owned);
    Factor {
        name: option.name.to_owned(),
        usual: option.usual.owned(),
        other: others.next().unwrap_or_default(),
        further: others.collect(),
        class: option.class,
        costs: option.costs.to_owned(),
        table_usual: String::new(),
    }
}

/// Whether a level leaves all as it is by itself.
pub fn says_nothing(level: &OptionLevel) -> bool {
    level.mkfs.is_empty() && level.mount.is_empty() && level.queue.is_empty() && level.vm.is_empty()
}

/// Whether a level says nothing, and its label claims what is so then, which may be otherwise here.
pub fn is_claim(level: &OptionLevel) -> bool {
    says_nothing(level) && level.label != UNSAID
}

/// The usual level of an option where another one is known to make the same here: where it says nothing itself, its label tells
/// that one.
pub fn as_here(usual: &OptionLevel, same: &OptionLevel) -> OptionLevel {
    let label = if says_nothing(usual) { format!("{UNSAID} ({} here)", same.label) } else { usual.label.clone() };
    OptionLevel { label, ..usual.clone() }
}

/// How words that stand before what a level costs begin, where another one is varied.
const OF_LEVEL: &str = "its level ";

/// What an option costs, said as that of the level that it is told of; empty: nothing is told.
pub fn costs_of_level(level: &str, costs: &str) -> String {
    match costs.is_empty() || costs.starts_with(OF_LEVEL) {
        true => costs.to_owned(),
        false => format!("{OF_LEVEL}{level} costs: {costs}"),
    }
}

/// Whether an option is another one as a screening may have it: without other levels, which make here what the usual one does or
/// cannot be made, and then with what the first one costs said as its own, or as older versions have it without.
pub fn is_of(part: &Factor, whole: &Factor) -> bool {
    let others = |factor: &Factor| -> Vec<OptionLevel> {
        std::iter::once(&factor.other).chain(&factor.further).cloned().collect()
    };
    let (there, all) = (others(part), others(whole));
    let mut rest = all.iter();
    let is_cut = there.iter().all(|level| rest.any(|other| other == level));
    let mut dropped = all.iter().filter(|level| !there.contains(level));
    let is_usual = part.usual == whole.usual || dropped.any(|same| part.usual == as_here(&whole.usual, same));
    let costs = match part.other == whole.other {
        true => whole.costs.clone(),
        false => costs_of_level(&whole.other.label, &whole.costs),
    };
    // Records of before call what is in no table a change of promises.
    let is_class =
        part.class == whole.class || [part.class, whole.class] == [OptionClass::Promises, OptionClass::Unknown];
    part.name == whole.name && is_class && is_usual && is_cut && (part.costs.is_empty() || part.costs == costs)
}

#[cfg(test)]
mod tests;
