//! What filesystems can do, as data: one file per filesystem in `features/`, each cell with its
//! source. A cell that nobody could source says `unknown`.
//!
//! A cell speaks of a filesystem as Fairlane makes and mounts it; its rules say which options of a
//! lane change that. `stats::advice` applies them to lanes.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What is asked of every filesystem, in the order of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Feature {
    /// File data is checksummed and verified on read.
    DataChecksums,
    /// The filesystem's own structures are checksummed and verified on read.
    MetadataChecksums,
    /// Read-only or writable images of a moment, taken while mounted.
    Snapshots,
    /// Files that share extents until one is written (FICLONE).
    Reflink,
    /// Transparent compression.
    Compression,
    /// Encryption by the filesystem itself.
    Encryption,
    /// Becoming smaller.
    Shrink,
    /// Becoming larger while mounted.
    OnlineGrowth,
    /// Limits by user, group, project or subvolume.
    Quota,
    /// Largest file.
    MaxFileSize,
    /// Largest filesystem.
    MaxFilesystemSize,
    /// Longest name of a file.
    MaxName,
    /// Whether mkfs fixes the number of files.
    Inodes,
    /// Names whose case does not matter.
    Casefold,
    /// Fit to carry the upper directory of overlayfs.
    OverlayUpper,
    /// Direct access to persistent memory.
    Dax,
    /// Metadata survives a crash: a journal, a log or copy-on-write.
    Journal,
    /// In the mainline kernel.
    Kernel,
}

/// What a cell may say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Says {
    /// `yes`, `no`, `off`, `later`.
    Switch,
    /// One of these words.
    Words(&'static [&'static str]),
    /// A size with a binary unit.
    Size,
    /// A number and what is counted: `255 bytes`.
    Text,
}

/// Every feature: what tables call it, and what its cells may say.
const TABLE: [(Feature, &str, Says); 18] = [
    (Feature::DataChecksums, "data checksums", Says::Switch),
    (Feature::MetadataChecksums, "metadata checksums", Says::Switch),
    (Feature::Snapshots, "snapshots", Says::Switch),
    (Feature::Reflink, "reflink", Says::Switch),
    (Feature::Compression, "compression", Says::Switch),
    (Feature::Encryption, "encryption", Says::Switch),
    (Feature::Shrink, "shrinking", Says::Words(&["online", "offline", "no"])),
    (Feature::OnlineGrowth, "online growth", Says::Switch),
    (Feature::Quota, "quota", Says::Switch),
    (Feature::MaxFileSize, "largest file", Says::Size),
    (Feature::MaxFilesystemSize, "largest filesystem", Says::Size),
    (Feature::MaxName, "longest name", Says::Text),
    (Feature::Inodes, "number of files", Says::Words(&["fixed", "dynamic"])),
    (Feature::Casefold, "case-insensitive names", Says::Switch),
    (Feature::OverlayUpper, "upper directory of overlayfs", Says::Switch),
    (Feature::Dax, "DAX", Says::Switch),
    (Feature::Journal, "survives a crash", Says::Switch),
    (Feature::Kernel, "kernel", Says::Words(&["mainline", "removed", "module", "library"])),
];

/// What a switch may say: `off` means that an option at mkfs or mount brings it, and the lane has not
/// got it; `later` means that it can be switched on without making the filesystem anew, and was not
/// measured.
const SWITCH: [&str; 4] = ["yes", "no", "off", "later"];

/// What stands where nothing is known.
pub const UNKNOWN: &str = "unknown";

/// What may be limited by quotas.
pub const QUOTA_KINDS: [&str; 4] = ["user", "group", "project", "subvolume"];

impl Feature {
    /// Every feature in the order of the table.
    pub fn all() -> impl Iterator<Item = Feature> {
        TABLE.iter().map(|row| row.0)
    }

    /// What people call it.
    pub fn title(self) -> &'static str {
        self.row().1
    }

    fn row(self) -> &'static (Feature, &'static str, Says) {
        &TABLE[self as usize]
    }
}

/// What one filesystem can do.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Features {
    /// As lanes name it.
    pub filesystem: String,
    /// As people write it.
    pub title: String,
    /// One cell per feature.
    pub feature: BTreeMap<Feature, Cell>,
}

/// One cell of the table: the keys of a [`Fact`] and `rule`.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(try_from = "toml::Table")]
pub struct Cell {
    /// What holds without any of the rules below.
    pub fact: Fact,
    /// What options of a lane change.
    pub rule: Vec<Rule>,
}

impl TryFrom<toml::Table> for Cell {
    type Error = toml::de::Error;

    fn try_from(mut table: toml::Table) -> Result<Self, Self::Error> {
        let rule = table.remove("rule").map(Vec::deserialize).transpose()?.unwrap_or_default();
        Ok(Cell { fact: table.try_into()?, rule })
    }
}

/// What is known of one feature.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Fact {
    /// `yes`, `no`, `off`, `later`, a word of the feature's own, a size, or `unknown`.
    pub is: String,
    /// Of quotas: what they can be set for.
    pub kinds: Vec<String>,
    /// Of the kernel: the first version that has it.
    pub since: Option<String>,
    /// Of the kernel: `since` is the first version that the source shows, and it may be older.
    pub or_before: bool,
    /// Of the kernel: the first version that no longer has it.
    pub removed: Option<String>,
    /// What brings it, where it is `off` or comes `later`: a lane, or a command.
    pub with: Option<String>,
    /// What the word does not say.
    pub note: Option<String>,
    /// Man page and section, path in the kernel's documentation or source, or an address. Empty only
    /// where nothing is known.
    pub source: String,
}

/// What one of a lane's options changes. The last option of a lane that any rule of the cell names
/// decides, those of mount after those of mkfs; geometry decides where no option does.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(try_from = "toml::Table")]
pub struct Rule {
    /// Words among mkfs's options; `*` at the end stands for anything.
    pub mkfs: Vec<String>,
    /// Mount options; `*` at the end stands for anything.
    pub mount: Vec<String>,
    /// A line of what mkfs reported, `NAME: WORD`: the line NAME holds WORD.
    pub geometry: Option<String>,
    /// As `geometry`: the line NAME is there and does not hold WORD.
    pub lacks: Option<String>,
    /// No tool does this by itself: a directory, which does not show how its filesystem was made, is
    /// taken to be without it.
    pub rare: bool,
    /// What then holds.
    pub fact: Fact,
}

impl TryFrom<toml::Table> for Rule {
    type Error = toml::de::Error;

    fn try_from(mut table: toml::Table) -> Result<Self, Self::Error> {
        let mut words =
            |key: &str| table.remove(key).map(Vec::<String>::deserialize).transpose().map(Option::unwrap_or_default);
        let (mkfs, mount) = (words("mkfs")?, words("mount")?);
        let mut word = |key: &str| table.remove(key).map(String::deserialize).transpose();
        let (geometry, lacks) = (word("geometry")?, word("lacks")?);
        let rare = table.remove("rare").map(bool::deserialize).transpose()?.unwrap_or_default();
        Ok(Rule { mkfs, mount, geometry, lacks, rare, fact: table.try_into()? })
    }
}

impl Rule {
    /// Whether a directory, which does not show how its filesystem was made, may fall under it.
    pub fn may_be_hidden(&self) -> bool {
        !self.rare && (!self.mkfs.is_empty() || self.geometry.is_some() || self.lacks.is_some())
    }
}

impl Features {
    /// Reads a file and checks it: every feature has a cell, every cell says what it may, and what is
    /// known has a source.
    ///
    /// # Errors
    /// The filesystem, the feature and what is wrong, as one sentence.
    pub fn from_toml(text: &str) -> Result<Features, String> {
        let features: Features = toml::from_str(text).map_err(|error| crate::text::toml_mistake(text, &error))?;
        features.check().map_err(|wrong| format!("{}: {wrong}", features.filesystem))?;
        Ok(features)
    }

    fn check(&self) -> Result<(), String> {
        for feature in Feature::all() {
            let name = feature.title();
            let cell = self.feature.get(&feature).ok_or_else(|| {
                format!("the cell `{name}` is missing; write is = \"{UNKNOWN}\" where it cannot be sourced")
            })?;
            cell.fact.check(feature).map_err(|wrong| format!("{name}: {wrong}"))?;
            for rule in &cell.rule {
                let wrong = |what: &str| format!("{name}, a rule: {what}");
                if rule.mkfs.is_empty() && rule.mount.is_empty() && rule.geometry.is_none() && rule.lacks.is_none() {
                    return Err(wrong("name an option with mkfs, mount, geometry or lacks"));
                }
                for line in rule.geometry.iter().chain(&rule.lacks) {
                    if !line.contains(": ") {
                        return Err(wrong("geometry is written NAME: WORD"));
                    }
                }
                rule.fact.check(feature).map_err(|what| wrong(&what))?;
            }
        }
        Ok(())
    }

    /// The cell of a feature; every file has all of them.
    pub fn cell(&self, feature: Feature) -> Option<&Cell> {
        self.feature.get(&feature)
    }
}

impl Fact {
    fn check(&self, feature: Feature) -> Result<(), String> {
        if self.is == UNKNOWN {
            return Ok(());
        }
        if self.source.trim().is_empty() {
            return Err("name the source".to_owned());
        }
        let words = |words: &[&str]| {
            if words.contains(&self.is.as_str()) { Ok(()) } else { Err(format!("write one of {}", words.join(", "))) }
        };
        match feature.row().2 {
            Says::Switch => {
                words(&SWITCH)?;
                let needs_with = ["off", "later"].contains(&self.is.as_str());
                if needs_with != self.with.is_some() {
                    return Err("`with` names what brings what is off or comes later, and stands nowhere else".into());
                }
            }
            Says::Words(known) => words(known)?,
            Says::Size => {
                bytes(&self.is).ok_or("write a size with a binary unit, such as 16TiB or 8EiB")?;
            }
            Says::Text => {}
        }
        let quota = feature == Feature::Quota && self.is != "no";
        if quota == self.kinds.is_empty() || !self.kinds.iter().all(|kind| QUOTA_KINDS.contains(&kind.as_str())) {
            return Err(format!("kinds belong to quotas, and are of {}", QUOTA_KINDS.join(", ")));
        }
        let in_tree = feature == Feature::Kernel && ["mainline", "removed"].contains(&self.is.as_str());
        if in_tree != self.since.is_some() || (self.is == "removed") != self.removed.is_some() {
            return Err("`since` and `removed` belong to the kernel's versions".to_owned());
        }
        Ok(())
    }
}

/// A size with a binary unit as bytes, `16TiB`; larger ones than a file's offset can hold are met in
/// the limits of filesystems. `None`: it is none.
pub fn bytes(text: &str) -> Option<u128> {
    let digits = text.find(|character: char| !character.is_ascii_digit())?;
    let number: u128 = text[..digits].parse().ok()?;
    let units = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB", "ZiB"];
    let power = units.iter().position(|unit| *unit == &text[digits..])? + 1;
    number.checked_mul(1 << (10 * power))
}

/// A kernel's version as numbers, as far as they go: `6.18.44-fc` is [6, 18, 44]. `None`: it begins
/// with no number.
pub fn version(text: &str) -> Option<Vec<u32>> {
    let numbers: Vec<u32> = text.split(['.', '-', '+', '~']).map_while(|part| part.parse().ok()).take(3).collect();
    (!numbers.is_empty()).then_some(numbers)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(change: impl Fn(Feature) -> Option<String>) -> Result<Features, String> {
        let mut text = "filesystem = \"f\"\ntitle = \"F\"\n".to_owned();
        for feature in Feature::all() {
            let key = serde_json::to_value(feature).unwrap().as_str().unwrap().to_owned();
            let cell = change(feature).unwrap_or_else(|| "is = \"unknown\"".to_owned());
            text.push_str(&format!("[feature.{key}]\n{cell}\n"));
        }
        Features::from_toml(&text)
    }

    #[test]
    fn a_file_of_unknown_cells_is_sound_and_every_feature_finds_its_row() {
        assert_eq!(file(|_| None).unwrap().feature.len(), TABLE.len());
        for (place, feature) in Feature::all().enumerate() {
            assert_eq!(feature as usize, place);
        }
    }

    #[test]
    fn a_cell_without_source_and_a_word_of_another_feature_are_refused_by_name() {
        let of = |which: Feature, cell: &'static str| file(move |feature| (feature == which).then(|| cell.to_owned()));
        for (which, cell, says) in [
            (Feature::Reflink, "is = \"yes\"", "reflink: name the source"),
            (Feature::Reflink, "is = \"maybe\"\nsource = \"s\"", "write one of yes, no, off, later"),
            (Feature::Compression, "is = \"off\"\nsource = \"s\"", "`with` names"),
            (Feature::Compression, "is = \"no\"\nwith = \"x\"\nsource = \"s\"", "`with` names"),
            (Feature::MaxFileSize, "is = \"16 TB\"\nsource = \"s\"", "binary unit"),
            (Feature::Shrink, "is = \"yes\"\nsource = \"s\"", "online, offline, no"),
            (Feature::Quota, "is = \"yes\"\nsource = \"s\"", "kinds belong"),
            (Feature::Kernel, "is = \"mainline\"\nsource = \"s\"", "`since`"),
            (Feature::Kernel, "is = \"removed\"\nsince = \"6.7\"\nsource = \"s\"", "`since`"),
            (
                Feature::Reflink,
                "is = \"no\"\nsource = \"s\"\nrule = [{ is = \"yes\", source = \"s\" }]",
                "a rule: name",
            ),
            (Feature::Reflink, "is = \"no\"\nsource = \"s\"\nwhy = \"x\"", "why"),
        ] {
            let refused = of(which, cell).unwrap_err();
            assert!(refused.contains(says), "{cell}: {refused}");
        }
        assert!(Features::from_toml("filesystem = \"f\"\ntitle = \"F\"\n[feature]\n").unwrap_err().contains("missing"));
    }

    #[test]
    fn sizes_and_versions_are_read() {
        assert_eq!(bytes("16TiB"), Some(16 << 40));
        assert_eq!(bytes("8EiB"), Some(8 << 60));
        assert_eq!((bytes("16"), bytes("TiB"), bytes("1TB")), (None, None, None));
        assert_eq!(version("6.18.44-fc-v657"), Some(vec![6, 18, 44]));
        assert_eq!(version("5.10.0-60.139"), Some(vec![5, 10, 0]));
        assert_eq!(version("x"), None);
        assert!(version("6.7").unwrap() < version("6.18").unwrap());
    }
}
