//! A contestant as the user writes it: `[NAME=]FS[:DISKS][,OPTION…][/LAYER…][@VENUE]`.

use crate::Bytes;
use crate::disk::QueueLimits;
pub use crate::promises::Promises;
use crate::stack::{self, LayerSpec, PartError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use std::str::FromStr;

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
    /// What it stands on, from top to bottom.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub layers: Vec<LayerSpec>,
    /// Where it lives; `None`: where `--on` says.
    #[serde(default)]
    pub venue: Option<Venue>,
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
    /// Disks that it stands on, of `size_bytes` each.
    #[serde(default = "stack::one", skip_serializing_if = "stack::is_one")]
    pub disks: u32,
    /// SHA-256 of the file that describes a filesystem of the user's own, in hexadecimal; empty: it is one of the table,
    /// or the record is older than this key.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub definition_sha256: String,
    /// What the filesystem sees of the lane's own block device; absent where it has none on this machine, and in records
    /// of before it was kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queue: Option<QueueLimits>,
}

impl Lane {
    /// Whether two lanes' filesystems stand on the same layers and on equally many disks.
    pub fn stands_alike(&self, other: &Lane) -> bool {
        self.layers == other.layers && self.disks == other.disks
    }

    /// What its filesystem stands on: `1 disk`, `raid5:3 on 3 disks`.
    pub fn stands_on(&self) -> String {
        let disks = if self.disks == 1 { "1 disk".to_owned() } else { format!("{} disks", self.disks) };
        if self.layers.is_empty() { disks } else { format!("{} on {disks}", self.layers.join("/")) }
    }
}

/// What the first lane is called where it runs a second time (`--with-self`).
pub fn twin_name(first: &str) -> String {
    format!("{first}~self")
}

/// Why a lane could not be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LaneError {
    /// Nothing stands where a filesystem should.
    #[error("lane `{0}` names no filesystem; write it like ext4, ext4,nobarrier or lean=xfs,-mreflink=0")]
    Empty(String),
    /// A name that reports could not show.
    #[error("lane `{0}`: a name has 1 to 64 characters and no control characters; give it one: NAME=FILESYSTEM…")]
    Name(String),
    /// An option between two commas is missing.
    #[error("lane `{0}` has an empty option; remove the extra comma")]
    EmptyOption(String),
    /// The brackets of the long form do not close.
    #[error(
        "lane `{0}`: the bracket of FS(MKFS OPTIONS) is not closed, or text follows it; write it like ext4(-b 1024),noatime"
    )]
    Bracket(String),
    /// What follows a colon is no number of devices.
    #[error("lane `{lane}`: `{count}` is no number of disks; write 1 to {most} behind the colon, like ext4/raid5:3", most = stack::MOST_DEVICES)]
    Devices {
        /// The lane.
        lane: String,
        /// What stands there.
        count: String,
    },
    /// What follows a `/` behind an option is no layer.
    #[error("lane `{lane}`: there is no layer `{layer}`{hint}; layers are {}", stack::LAYERS.join(", "))]
    Layer {
        /// The lane.
        lane: String,
        /// What was taken for a layer.
        layer: String,
        /// What may be meant; empty: nothing is near.
        hint: String,
    },
    /// A control character in an option.
    #[error("lane `{0}` has a control character in it; remove it")]
    Control(String),
    /// What stands behind an `@` that no option's value holds names no venue.
    #[error("lane `{lane}`: there is no venue `{venue}`: {remedy}")]
    Venue {
        /// The lane.
        lane: String,
        /// What was taken for a venue.
        venue: String,
        /// What may be meant, and what there is.
        remedy: String,
    },
}

impl FromStr for LaneSpec {
    type Err = LaneError;

    fn from_str(text: &str) -> Result<Self, LaneError> {
        let whole = || crate::text::escaped(text.as_bytes());
        if text.chars().any(char::is_control) {
            return Err(LaneError::Control(whole()));
        }
        let (name, rest) = split_name(text);
        if let Some(name) = name
            && (name.is_empty() || name.chars().count() > 64)
        {
            return Err(LaneError::Name(whole()));
        }
        if rest.is_empty() {
            return Err(LaneError::Empty(whole()));
        }
        if is_path(rest) && !names_toml(rest) {
            return Ok(LaneSpec {
                name: name.unwrap_or(rest).to_owned(),
                contestant: Contestant::Directory(PathBuf::from(rest)),
                mkfs_options: Vec::new(),
                mount_options: Vec::new(),
                devices: 1,
                layers: Vec::new(),
                venue: None,
            });
        }
        let (body, venue) = split_venue(rest);
        let path_end = if is_path(body) { path_end(body) } else { 0 };
        let mut parts = stack::split(body, path_end).into_iter();
        let read = |part, from| stack::read(part, from).map_err(|error| in_lane(error, whole()));
        let stack::Part { name: filesystem, devices, inside, options } = read(parts.next().unwrap_or(body), path_end)?;
        if filesystem.is_empty() {
            return Err(LaneError::Empty(whole()));
        }
        if let Some(venue) = no_venue(filesystem, &options) {
            let venue = crate::text::escaped(venue.as_bytes());
            return Err(LaneError::Venue { lane: whole(), remedy: venue_remedy(&venue), venue });
        }
        let layers = parts.map(|part| read(part, 0)).collect::<Result<Vec<_>, _>>()?;
        if layers.iter().any(|part| !part.inside.is_empty()) {
            return Err(LaneError::Bracket(whole()));
        }
        let told = options.iter().chain(layers.iter().flat_map(|part| &part.options));
        if let Some(layer) = told.into_iter().find_map(|option| no_layer(option)) {
            let hint = crate::nearest(layer, stack::LAYERS).map(|near| format!(", did you mean {near}?"));
            let layer = crate::text::escaped(layer.as_bytes());
            return Err(LaneError::Layer { lane: whole(), layer, hint: hint.unwrap_or_default() });
        }
        let mut mkfs_options: Vec<String> = inside.split_whitespace().map(str::to_owned).collect();
        let mut mount_options = Vec::new();
        for option in options {
            let list = if option.starts_with('-') { &mut mkfs_options } else { &mut mount_options };
            list.push(option.to_owned());
        }
        let contestant = if is_path(filesystem) {
            Contestant::Custom(PathBuf::from(filesystem))
        } else {
            Contestant::Filesystem(filesystem.to_owned())
        };
        let default_name = match &contestant {
            // A path makes a poor name: the file's own stem says it shorter.
            Contestant::Custom(path) => {
                let stem = path.file_stem().unwrap_or_default().to_string_lossy();
                format!("{stem}{}", &body[filesystem.len()..])
            }
            _ => body.to_owned(),
        };
        let name = name.map_or(default_name, str::to_owned);
        if name.chars().count() > 64 {
            return Err(LaneError::Name(whole()));
        }
        let layers = layers.into_iter().map(LayerSpec::from).collect();
        Ok(LaneSpec { name, contestant, mkfs_options, mount_options, devices, layers, venue })
    }
}

/// `NAME=` stands before any character that the rest of a lane could begin with.
fn split_name(text: &str) -> (Option<&str>, &str) {
    match text.find(['=', ',', '(', '@', '/']) {
        Some(at) if text.as_bytes()[at] == b'=' => (Some(&text[..at]), &text[at + 1..]),
        _ => (None, text),
    }
}

fn is_path(text: &str) -> bool {
    text.starts_with('/') || text.starts_with("./") || text.starts_with("../") || text == "." || text == ".."
}

fn names_toml(text: &str) -> bool {
    let end = text.find([',', '(', '@']).unwrap_or(text.len());
    text[..end].ends_with(".toml")
}

/// What follows the last `@` is the venue only where it names one: `subvol=@home` keeps its own.
fn split_venue(text: &str) -> (&str, Option<Venue>) {
    let Some(at) = text.rfind('@') else { return (text, None) };
    let venue = match &text[at + 1..] {
        "image" => Venue::Image(None),
        "uml" => Venue::Uml,
        "qemu" => Venue::Qemu(None),
        "library" => Venue::Library,
        other => match other.strip_prefix("qemu:") {
            Some(kernel) if !kernel.is_empty() => Venue::Qemu(Some(PathBuf::from(kernel))),
            _ if other.starts_with("/dev/") => Venue::Device(PathBuf::from(other)),
            _ if is_path(other) => Venue::Image(Some(PathBuf::from(other))),
            _ => return (text, None),
        },
    };
    (&text[..at], Some(venue))
}

/// What a user took for a venue and is none: no filesystem's name holds an `@`, and of mount options only values do.
fn no_venue<'a>(filesystem: &'a str, options: &[&'a str]) -> Option<&'a str> {
    if !is_path(filesystem)
        && let Some((_, venue)) = filesystem.split_once('@')
    {
        return Some(venue);
    }
    let last = options.last().filter(|option| !option.starts_with('-'))?;
    let (before, venue) = last.split_once('@')?;
    (!before.contains('=')).then_some(venue)
}

/// What may be meant by a venue that there is not.
fn venue_remedy(venue: &str) -> String {
    const VENUES: &str = "venues are image, uml, qemu, qemu:KERNEL, library, a block device (/dev/…) and a folder for \
                          images (/… or ./…)";
    let (word, rest) = venue.split_once(':').map_or((venue, None), |(word, rest)| (word, Some(rest)));
    let meant = match (crate::nearest(word, ["image", "library", "qemu", "uml"]), rest) {
        _ if split_venue(&format!("x@{venue}")).1.is_some() => "options stand before the @".to_owned(),
        (Some("uml"), Some(_)) => "uml has one kernel, that of its package, and qemu:KERNEL takes another".to_owned(),
        (Some("qemu"), Some("")) => "name the kernel behind qemu: or leave the colon out".to_owned(),
        (Some("qemu"), Some(kernel)) => format!("did you mean qemu:{kernel}?"),
        (Some(near), None) => format!("did you mean {near}?"),
        _ => return VENUES.to_owned(),
    };
    format!("{meant}{} {VENUES}", if meant.ends_with('?') { "" } else { ";" })
}

/// Where the path ends that a filesystem of the user's own is named by.
fn path_end(body: &str) -> usize {
    body.find(".toml").map_or(body.len(), |at| at + ".toml".len())
}

/// What a user took for a layer and is none: of mount options only values hold a slash.
fn no_layer(option: &str) -> Option<&str> {
    let (before, rest) = option.split_once('/').filter(|_| !option.starts_with('-'))?;
    let end = rest.find([':', '/']).unwrap_or(rest.len());
    (!before.contains('=')).then_some(&rest[..end])
}

fn in_lane(error: PartError, lane: String) -> LaneError {
    match error {
        PartError::Count(count) => LaneError::Devices { lane, count },
        PartError::EmptyOption => LaneError::EmptyOption(lane),
        PartError::Bracket => LaneError::Bracket(lane),
    }
}

impl LaneSpec {
    /// Disks that it stands on; 1 where it stands on none of its own. A filesystem that rebuilds one of its disks does so onto
    /// one more.
    pub fn disks(&self) -> u32 {
        let spare = u32::from(self.devices > 1 && self.mount_options.iter().any(|word| word == stack::REBUILDING));
        self.layers.iter().fold(self.devices + spare, |disks, layer| disks.saturating_mul(layer.devices))
    }

    /// This lane told something more; where nobody named it, its name is what it would be had that been typed.
    ///
    /// # Errors
    /// [`LaneError::Name`] where that name is too long.
    pub fn told(&self, tell: impl FnOnce(&mut LaneSpec)) -> Result<LaneSpec, LaneError> {
        let typed = |lane: &LaneSpec, form| lane.in_form(form).parse::<LaneSpec>();
        let form = FORMS.into_iter().find(|form| typed(self, *form).is_ok_and(|lane| lane.name == self.name));
        let mut told = self.clone();
        tell(&mut told);
        if let Some(form) = form {
            let renamed = |name: String| LaneSpec { name, ..told.clone() };
            let as_typed = typed(&told, form).ok().filter(|lane| *lane == renamed(lane.name.clone()));
            told.name = as_typed.map_or_else(|| typed(&told, Form::Brackets), Ok)?.name;
        }
        Ok(told)
    }

    /// Whether anything stands between the filesystem and one disk.
    pub fn is_stacked(&self) -> bool {
        self.devices > 1 || !self.layers.is_empty()
    }

    /// The line that makes this lane again, as the command line takes it (not quoted for a shell).
    pub fn to_line(&self) -> String {
        let is_same = |line: &String| line.parse::<LaneSpec>().is_ok_and(|lane| lane.name == self.name);
        // A default name may hold characters that `NAME=` may not: it comes back by itself where the options stand as
        // they were written.
        let written = FORMS.map(|form| self.in_form(form));
        let first = written[0].clone();
        written.into_iter().find(is_same).unwrap_or_else(|| format!("{}={first}", self.name))
    }

    fn in_form(&self, form: Form) -> String {
        let mut line = match &self.contestant {
            Contestant::Filesystem(name) => name.clone(),
            Contestant::Directory(path) | Contestant::Custom(path) => path.to_string_lossy().into_owned(),
        };
        let count = if self.devices == 1 { String::new() } else { format!(":{}", self.devices) };
        let commas = |options: &[String]| options.iter().map(|option| format!(",{option}")).collect::<String>();
        let (mkfs, mount) = (commas(&self.mkfs_options), commas(&self.mount_options));
        line.push_str(&match form {
            Form::Brackets if self.mkfs_options.is_empty() => format!("{count}{mount}"),
            Form::Brackets => format!("{count}({}){mount}", self.mkfs_options.join(" ")),
            Form::MkfsFirst => format!("{count}{mkfs}{mount}"),
            Form::CountBehind => format!("{mkfs}{count}{mount}"),
            Form::MountFirst => format!("{mount}{mkfs}{count}"),
        });
        for layer in &self.layers {
            line.push('/');
            line.push_str(&layer.to_line());
        }
        match &self.venue {
            None => {}
            Some(Venue::Image(None)) => line.push_str("@image"),
            Some(Venue::Image(Some(path)) | Venue::Device(path)) => line.push_str(&format!("@{}", path.display())),
            Some(Venue::Uml) => line.push_str("@uml"),
            Some(Venue::Qemu(None)) => line.push_str("@qemu"),
            Some(Venue::Qemu(Some(kernel))) => line.push_str(&format!("@qemu:{}", kernel.display())),
            Some(Venue::Library) => line.push_str("@library"),
        }
        line
    }
}

/// How the options of a lane are written.
#[derive(Debug, Clone, Copy)]
enum Form {
    /// Those of mkfs in brackets.
    Brackets,
    /// All behind commas, those of mkfs first.
    MkfsFirst,
    /// The same with the number of devices behind those of mkfs.
    CountBehind,
    /// All behind commas, those of mount first.
    MountFirst,
}

const FORMS: [Form; 4] = [Form::Brackets, Form::MkfsFirst, Form::CountBehind, Form::MountFirst];

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

    fn lane(text: &str) -> LaneSpec {
        text.parse().unwrap_or_else(|error| panic!("{text}: {error}"))
    }

    #[test]
    fn every_form_of_the_grammar_is_read() {
        let lean = lane("lean=xfs,-mreflink=0,noatime");
        assert_eq!(lean.name, "lean");
        assert_eq!(lean.mkfs_options, ["-mreflink=0"]);
        assert_eq!(lean.mount_options, ["noatime"]);
        assert_eq!(lane("ext4,nobarrier").name, "ext4,nobarrier");
        assert_eq!(lane("btrfs,compress=zstd:1").mount_options, ["compress=zstd:1"]);
        assert_eq!(lane("jfs@uml").venue, Some(Venue::Uml));
        assert_eq!(lane("ext4@qemu:/boot/vmlinuz-6.12").venue, Some(Venue::Qemu(Some("/boot/vmlinuz-6.12".into()))));
        assert_eq!(lane("xfs@/dev/sdb2").venue, Some(Venue::Device("/dev/sdb2".into())));
        assert_eq!(lane("ext4(-O ^has_journal -b 1024),noatime").mkfs_options, ["-O", "^has_journal", "-b", "1024"]);
        assert_eq!(lane("/mnt/data").contestant, Contestant::Directory("/mnt/data".into()));
        assert_eq!(lane("d=/mnt/a,b@c").contestant, Contestant::Directory("/mnt/a,b@c".into()));
        let custom = lane("./myfs.toml,fast@/dev/sdb2");
        assert_eq!(custom.contestant, Contestant::Custom("./myfs.toml".into()));
        assert_eq!((custom.name.as_str(), custom.mount_options), ("myfs,fast", vec!["fast".to_owned()]));
    }

    #[test]
    fn an_at_sign_inside_an_option_stays_the_options() {
        let home = lane("btrfs,subvol=@home");
        assert_eq!((home.mount_options, home.venue), (vec!["subvol=@home".to_owned()], None));
        let both = lane("btrfs,subvol=@home@uml");
        assert_eq!((both.mount_options, both.venue), (vec!["subvol=@home".to_owned()], Some(Venue::Uml)));
    }

    #[test]
    fn a_venue_that_there_is_not_is_not_taken_for_a_filesystem() {
        for (text, venue, told) in [
            ("ext4@umll", "umll", "did you mean uml?"),
            ("jfs@UML", "UML", "did you mean uml?"),
            ("ext4@qmeu", "qmeu", "did you mean qemu?"),
            ("ext4@qemu:", "qemu:", "name the kernel"),
            ("ext4@uml:/boot/vmlinuz-6.1", "uml:/boot/vmlinuz-6.1", "uml has one kernel"),
            ("ext4@uml,noatime", "uml", "options stand before the @"),
            ("ext4,noatime@umll", "umll", "did you mean uml?"),
            ("ext4@nowhere-at-all", "nowhere-at-all", "venues are image, uml, qemu"),
        ] {
            let said = text.parse::<LaneSpec>().unwrap_err().to_string();
            assert!(said.contains(&format!("there is no venue `{venue}`")) && said.contains(told), "{said}");
            assert!(said.contains("qemu:KERNEL") && !said.contains("filesystem"), "{said}");
        }
        // Values and mkfs options keep what they hold.
        assert_eq!(lane("btrfs,subvol=@home").venue, None);
        assert_eq!(lane("ext4,-La@b").mkfs_options, ["-La@b"]);
    }

    #[test]
    fn a_lane_survives_its_own_line() {
        for text in [
            "a=ext4",
            "x=ext4(-O ^has_journal),noatime@image",
            "btrfs,subvol=@home@/dev/sdb1",
            "/mnt/a,b",
            "btrfs,-draid1,-mraid1:2",
            "ext4/raid10:4,chunk=64K@qemu",
            "vault=xfs,noatime/crypt,cipher=aes-xts-plain64/raid1:2",
            "./my.toml:2,fast/crypt",
            "xfs,-mreflink=0,noatime",
            "ext4,noatime,-b1024:2",
            "btrfs:3,-draid5,-mraid1",
            "btrfs:3,-draid5,noatime",
        ] {
            let first = lane(text);
            let again = lane(&first.to_line());
            assert_eq!(again, first, "{text}");
        }
    }

    #[test]
    fn a_lane_that_is_told_more_is_called_as_if_that_had_been_typed() {
        let told = |text: &str, tell: fn(&mut LaneSpec)| lane(text).told(tell).map(|lane| lane.name);
        let first_layer = |lane: &mut LaneSpec| lane.layers[0].options.push("degraded".to_owned());
        let mount = |lane: &mut LaneSpec| lane.mount_options.push("degraded".to_owned());
        assert_eq!(told("ext4/raid5:3@qemu", first_layer).unwrap(), "ext4/raid5:3,degraded");
        assert_eq!(
            told("xfs,-mreflink=0/raid1:2/crypt", first_layer).unwrap(),
            "xfs,-mreflink=0/raid1:2,degraded/crypt"
        );
        assert_eq!(told("five=ext4/raid5:3", first_layer).unwrap(), "five");
        assert_eq!(told("btrfs:2(-d raid1 -m raid1)", mount).unwrap(), "btrfs:2(-d raid1 -m raid1),degraded");
        // Behind a mount option the number would be none.
        assert_eq!(told("btrfs,-draid1,-mraid1:2", mount).unwrap(), "btrfs:2(-draid1 -mraid1),degraded");
        assert!(told(&format!("ext4,{}/raid1:2", "a".repeat(50)), first_layer).is_err());
    }

    #[test]
    fn a_filesystem_that_rebuilds_a_disk_takes_one_more() {
        assert_eq!(lane("btrfs:2(-d raid1 -m raid1),rebuilding").disks(), 3);
        assert_eq!((lane("btrfs,rebuilding").disks(), lane("ext4/raid5:3,rebuilding").disks()), (1, 3));
    }

    #[test]
    fn layers_stand_below_the_filesystem_from_top_to_bottom() {
        let vault = lane("vault=xfs,noatime/thin/raid1:2,bitmap=none@uml");
        assert_eq!((vault.name.as_str(), &vault.mount_options[..]), ("vault", &["noatime".to_owned()][..]));
        let layers: Vec<String> = vault.layers.iter().map(LayerSpec::to_line).collect();
        assert_eq!(layers, ["thin", "raid1:2,bitmap=none"]);
        assert_eq!((vault.disks(), vault.venue), (2, Some(Venue::Uml)));
        // Two encrypted devices under one array, and an array of arrays.
        assert_eq!(lane("ext4/raid1:2/crypt").disks(), 2);
        assert_eq!(lane("ext4/raid0:2/raid1:3").disks(), 6);
        let several = lane("btrfs,-draid1,-mraid1c3:4");
        assert_eq!((several.devices, several.mkfs_options), (4, vec!["-draid1".to_owned(), "-mraid1c3".to_owned()]));
        assert_eq!((several.mount_options.len(), several.layers.len()), (0, 0));
    }

    #[test]
    fn a_layer_that_there_is_not_is_told_with_what_may_be_meant() {
        let said = |text: &str| text.parse::<LaneSpec>().unwrap_err().to_string();
        assert!(said("ext4,noatime/raid15:4").contains("no layer `raid15`"), "{}", said("ext4,noatime/raid15:4"));
        assert!(said("ext4,noatime/cript").contains("did you mean crypt?"), "{}", said("ext4,noatime/cript"));
        assert!(said("ext4/raid5:99").contains("1 to 24"), "{}", said("ext4/raid5:99"));
        assert!(said("ext4/crypt(x)").contains("bracket"), "{}", said("ext4/crypt(x)"));
    }

    #[test]
    fn broken_lanes_are_refused_with_the_remedy() {
        for text in ["", "=ext4", "a=", ",noatime", "ext4,,noatime", "ext4(-b 1024", "ext4(-b)x", "ext4,a\nb", "@uml"] {
            assert!(text.parse::<LaneSpec>().is_err(), "{text:?}");
        }
    }
}
