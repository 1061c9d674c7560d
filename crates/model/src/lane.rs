//! A contestant as the user writes it: `[NAME=]FS[:DISKS][,OPTION…][+STATE…][/LAYER…][@VENUE]`, `ABOVE(FS…)[,OPTION…][@VENUE]`,
//! or `[NAME=]DIRECTORY[,server=sync|async]`.

mod directory;
mod grammar;

pub use grammar::LaneError;

use crate::Bytes;
use crate::aged::{AgedLane, AgedSpec};
use crate::disk::QueueLimits;
pub use crate::promises::{CrashEffect, Guarantees, OptionEffect, Promises, SERVED, ServerAnswers};
use crate::stack::{self, LayerSpec};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// One contestant as the user wrote it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LaneSpec {
    /// What reports call it; unique in a race.
    pub name: String,
    /// What is raced.
    pub contestant: Contestant,
    /// Arguments for mkfs, in order.
    #[serde(default)]
    pub mkfs_options: Vec<String>,
    /// Options for mount, in order.
    #[serde(default)]
    pub mount_options: Vec<String>,
    /// Devices that the filesystem itself takes; each is all that the layers make.
    #[serde(default = "stack::one", skip_serializing_if = "stack::is_one")]
    pub devices: u32,
    /// What it lived through before the race; `None`: nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub aged: Option<AgedSpec>,
    /// So full it is when the race begins, percent of the lane's size; `None`: as its past left it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub full_percent: Option<u8>,
    /// What it stands on, from top to bottom.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub layers: Vec<LayerSpec>,
    /// What lies above the filesystem, between it and the work.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub above: Option<LayerSpec>,
    /// Where it lives; `None`: where `--on` says.
    #[serde(default)]
    pub venue: Option<Venue>,
    /// Of a directory that a server keeps: when that answers, as the user said; `None`: nothing was said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server_answers: Option<ServerAnswers>,
}

/// What is raced.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Contestant {
    /// A row of the filesystem table: `ext4`.
    Filesystem(String),
    /// A directory, raced as it is.
    Directory(PathBuf),
    /// A filesystem of the user's own: path to its TOML file.
    Custom(PathBuf),
}

/// Memory of a guest where nobody says how much (`--guest-memory`): what the trials of the reference races need, with room
/// for workers.
pub const USUAL_GUEST_MEMORY: Bytes = Bytes(512 * Bytes::MIB);

/// Where lanes live.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Venue {
    /// Files on loop devices, in the working directory or the directory named.
    Image(Option<PathBuf>),
    /// A block device; lanes take turns on it.
    Device(PathBuf),
    /// A user-mode Linux guest.
    Uml,
    /// A QEMU guest, on the distribution's kernel or the one named.
    Qemu(Option<PathBuf>),
    /// An in-process filesystem.
    Library,
}

/// A lane as it was built for a race, kept in the record's header.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Lane {
    /// What reports call it.
    pub name: String,
    /// The line that makes this lane again.
    pub spec: String,
    /// `ext4`, …; for a directory the filesystem found there.
    pub filesystem: String,
    /// The mkfs command as an argument list, with `{device}` where the device stands; empty: none.
    pub mkfs_command: Vec<String>,
    /// Mount options, Fairlane's own included.
    pub mount_options: Vec<String>,
    /// `image`, `device`, `directory`, `memory`, `library`, `uml`, `qemu`.
    pub venue: String,
    /// What identifies the ground: lanes whose grounds differ do not stand on equal ground.
    /// The same for all images of a race; a device's or a directory's path otherwise.
    pub ground: String,
    /// The disk under it, as the kernel names it (`nvme0n1`); empty: none.
    pub backing: String,
    /// Size of the lane in bytes; 0: unknown.
    pub size_bytes: u64,
    /// What it promises.
    pub promises: Promises,
    /// What it guarantees beside that; absent: the record is older than this key, or another tool's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub guarantees: Option<Guarantees>,
    /// This lane is the first one again (`--with-self`).
    #[serde(default)]
    pub is_self: bool,
    /// Release of the guest's kernel; empty: the host's own kernel mounts it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub kernel: String,
    /// FNV-1a of that kernel's image, 64 bits in hexadecimal: two kernels may bear one release. Empty: not known.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub kernel_build: String,
    /// No flush of this lane reaches a disk, whatever its filesystem promises: it lives in user-mode Linux, whose
    /// images are not opened O_SYNC.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub flushes_stop_short: bool,
    /// Journal or log size, allocation groups, profiles: `name: value` as the tools name them.
    #[serde(default)]
    pub geometry: Vec<String>,
    /// Layers under the filesystem, from top to bottom, as the lane names them; empty: it stands on its disks itself.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub layers: Vec<String>,
    /// What lies above the filesystem, as the lane names it: `overlay`; empty: nothing.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub above: String,
    /// What became of its past; absent: it is fresh.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub aged: Option<AgedLane>,
    /// Disks that it stands on, of `size_bytes` each.
    #[serde(default = "stack::one", skip_serializing_if = "stack::is_one")]
    pub disks: u32,
    /// Bytes below the filesystem, where layers stand; 0: none do, or it is not known.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub usable_bytes: u64,
    /// SHA-256 of the file that describes a filesystem of the user's own, in hexadecimal; empty: it is one of the table,
    /// or the record is older than this key.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub definition_sha256: String,
    /// What the filesystem sees of the lane's own block device; absent where it has none on this machine, and in records
    /// of before it was kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queue: Option<QueueLimits>,
    /// When the server of a directory answers, as who started the race said; absent: nobody said it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server_answers: Option<ServerAnswers>,
}

// serde hands references to `skip_serializing_if`.
#[allow(clippy::trivially_copy_pass_by_ref)]
fn is_zero(bytes: &u64) -> bool {
    *bytes == 0
}

impl Lane {
    /// A lane of which no more is known: it promises all that a filesystem with a journal does, and no checksums of data.
    pub fn new(name: &str, filesystem: &str, venue: &str) -> Lane {
        Lane {
            name: name.to_owned(),
            spec: name.to_owned(),
            filesystem: filesystem.to_owned(),
            mkfs_command: Vec::new(),
            mount_options: Vec::new(),
            venue: venue.to_owned(),
            ground: String::new(),
            backing: String::new(),
            size_bytes: 0,
            promises: Promises {
                journal: true,
                data_checksums: false,
                fsync_reaches_stable_storage: true,
                barriers: true,
                outlives_cache: true,
            },
            guarantees: None,
            is_self: false,
            kernel: String::new(),
            kernel_build: String::new(),
            flushes_stop_short: false,
            geometry: Vec::new(),
            layers: Vec::new(),
            above: String::new(),
            aged: None,
            disks: 1,
            usable_bytes: 0,
            definition_sha256: String::new(),
            queue: None,
            server_answers: None,
        }
    }

    /// Whether it is a directory of a filesystem that servers keep.
    pub fn is_served(&self) -> bool {
        self.venue == "directory" && self.backing.is_empty() && SERVED.contains(&self.filesystem.as_str())
    }

    /// Its layers that something is built for, as it names them: settings of a queue or of the kernel are none.
    pub fn built_layers(&self) -> impl Iterator<Item = &str> {
        self.layers.iter().map(String::as_str).filter(|layer| !stack::only_sets(layer))
    }

    /// Whether anything is built between its filesystem and its disks.
    pub fn has_built_layers(&self) -> bool {
        self.built_layers().next().is_some()
    }

    /// Whether two lanes' filesystems stand on the same layers and on equally many disks, and the same lies above them. A disk
    /// whose queue is set otherwise, or whose kernel writes back otherwise, is the same disk: that is an option, as those of a
    /// mount are.
    pub fn stands_alike(&self, other: &Lane) -> bool {
        self.built_layers().eq(other.built_layers()) && self.disks == other.disks && self.above == other.above
    }

    /// What its filesystem lived through before the race: `fresh`, `+aged=git:10x (life 21d38b884c93260c)`.
    pub fn past(&self) -> String {
        match &self.aged {
            Some(facts) => format!("{} (life {})", facts.states, facts.life),
            None => "fresh".to_owned(),
        }
    }

    /// What its filesystem stands on, and what lies above it: `1 disk`, `raid5:3 on 3 disks`, `1 disk, below overlay`.
    pub fn stands_on(&self) -> String {
        let disks = if self.disks == 1 { "1 disk".to_owned() } else { format!("{} disks", self.disks) };
        let on = if self.layers.is_empty() { disks } else { format!("{} on {disks}", self.layers.join("/")) };
        if self.above.is_empty() { on } else { format!("{on}, below {}", self.above) }
    }
}

/// What stands behind the name of a lane that is the first one again.
pub(crate) const TWIN: &str = "~self";

/// What the first lane is called where it runs a second time (`--with-self`).
pub fn twin_name(first: &str) -> String {
    format!("{first}{TWIN}")
}

impl LaneSpec {
    /// Disks that it stands on; 1 where it stands on none of its own. A filesystem that rebuilds one of its disks does so onto
    /// one more.
    pub fn disks(&self) -> u32 {
        let spare = u32::from(self.devices > 1 && self.mount_options.iter().any(|word| word == stack::REBUILDING));
        self.layers.iter().fold(self.devices + spare, |disks, layer| disks.saturating_mul(layer.devices))
    }

    /// Whether its filesystem has a past.
    pub fn has_past(&self) -> bool {
        self.aged.is_some() || self.full_percent.is_some()
    }

    /// Its layers that something is built for: settings of a queue or of the kernel are none.
    pub fn built_layers(&self) -> impl Iterator<Item = &LayerSpec> {
        self.layers.iter().filter(|layer| layer.is_built())
    }

    /// The settings of the queue that its filesystem stands on: nothing but those of the kernel stands above them.
    pub fn queue(&self) -> Option<&LayerSpec> {
        self.layers.iter().find(|layer| layer.name != stack::VM).filter(|top| top.name == stack::QUEUE)
    }

    /// The settings of the kernel with which it works.
    pub fn vm(&self) -> Option<&LayerSpec> {
        self.layers.iter().find(|layer| layer.name == stack::VM)
    }

    /// Whether anything is built between the filesystem and its disks.
    pub fn has_built_layers(&self) -> bool {
        self.built_layers().next().is_some()
    }

    /// Whether anything stands between the filesystem and one disk; what lies above it does not count.
    pub fn is_stacked(&self) -> bool {
        self.devices > 1 || self.has_built_layers()
    }
}

/// Options that make a filesystem compress what is written: of btrfs, bcachefs, and f2fs for names that end so.
const COMPRESSION: [&str; 4] = ["compress", "compress-force", "compression", "compress_extension"];

/// Whether a lane with this option compresses.
pub fn is_compression(option: &str) -> bool {
    let (key, value) = option.split_once('=').unwrap_or((option, "yes"));
    COMPRESSION.contains(&key) && !["no", "none", "off"].contains(&value)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn on(layers: &[&str]) -> Lane {
        Lane { layers: layers.iter().map(|&layer| layer.to_owned()).collect(), ..Lane::new("a", "ext4", "image") }
    }

    #[test]
    fn a_disk_whose_queue_is_set_otherwise_is_the_same_disk() {
        let (plain, set, other) = (on(&[]), on(&["queue,scheduler=none"]), on(&["queue,scheduler=bfq,read_ahead=4M"]));
        assert!(plain.stands_alike(&set) && set.stands_alike(&plain) && set.stands_alike(&other));
        assert!(on(&["queue,scheduler=none", "crypt"]).stands_alike(&on(&["crypt", "queue,requests=64"])));
        assert!(!set.stands_alike(&on(&["crypt"])) && !set.stands_alike(&on(&["queue,scheduler=none", "crypt"])));
        assert!(!set.stands_alike(&Lane { disks: 2, ..plain }));
        // What a reader sees still tells it.
        assert_eq!(set.stands_on(), "queue,scheduler=none on 1 disk");
        let kernel = on(&["vm,dirty_ratio=5", "queue,scheduler=none"]);
        assert!(kernel.stands_alike(&on(&[])) && !kernel.has_built_layers());
        assert!(!kernel.stands_alike(&on(&["vm,dirty_ratio=5", "crypt"])));
    }

    #[test]
    fn a_lane_whose_disk_s_queue_is_set_stands_on_that_disk_itself() {
        let is_stacked = |text: &str| text.parse::<LaneSpec>().unwrap().is_stacked();
        assert!(!is_stacked("ext4") && !is_stacked("ext4/queue,scheduler=none"));
        assert!(!is_stacked("ext4/vm,dirty_ratio=5"));
        assert!(is_stacked("ext4/queue,scheduler=none/crypt") && is_stacked("btrfs:2/queue,requests=64"));
    }

    #[test]
    fn settings_of_a_lane_are_found_in_whichever_order_they_stand() {
        for line in ["ext4/vm,dirty_ratio=5/queue,requests=64", "ext4/queue,requests=64/vm,dirty_ratio=5"] {
            let lane: LaneSpec = line.parse().unwrap();
            let told = |layer: Option<&LayerSpec>| layer.map(LayerSpec::to_line).unwrap_or_default();
            assert_eq!([told(lane.queue()), told(lane.vm())], ["queue,requests=64", "vm,dirty_ratio=5"], "{line}");
        }
        let below: LaneSpec = "ext4/crypt/queue,requests=64".parse().unwrap();
        assert!(below.queue().is_none() && below.vm().is_none(), "the filesystem stands on no queue that is set");
    }
}
