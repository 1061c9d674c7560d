//! What people run, as data: one file per scenario in `scenarios/`, a weighting of measured work
//! with hard constraints and notes, each with its reason.

use crate::features::{self, Feature, QUOTA_KINDS};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// One thing that people run.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scenario {
    /// What `--scenario` takes.
    pub name: String,
    /// What a person calls it.
    pub title: String,
    /// One sentence: what is meant.
    pub about: String,
    /// The suite that does this work itself, where others only do its kinds of I/O: see [`Scenario::own_suite`].
    #[serde(default)]
    pub suite: Option<String>,
    /// What a lane must have.
    #[serde(default)]
    pub need: Vec<Constraint>,
    /// What the work is made of; the shares add up to 1.
    pub weight: Vec<Weight>,
    /// What is worth knowing about the lane that is chosen.
    #[serde(default)]
    pub note: Vec<Note>,
}

/// What a lane must have.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Constraint {
    /// What.
    pub need: Need,
    /// Why, as the end of a sentence that begins with the scenario's name.
    pub why: String,
    /// Where that stands.
    pub source: String,
}

/// A part of the work.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Weight {
    /// What the part is, in a few words.
    pub what: String,
    /// Its share, between 0 and 1.
    pub share: f64,
    /// Why it weighs so much.
    pub why: String,
    /// Where that stands; empty: a judgement of ours.
    #[serde(default)]
    pub source: String,
    /// The measured series that stand for it, the nearest first: the first that a record holds counts.
    pub series: Vec<Matcher>,
}

/// What is worth knowing about a lane.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Note {
    /// Said where the chosen lane is of one of these filesystems; empty: of any.
    #[serde(default)]
    pub filesystems: Vec<String>,
    /// Said where the chosen lane has this.
    #[serde(default)]
    pub has: Option<Need>,
    /// Said where the chosen lane has not got this.
    #[serde(default)]
    pub lacks: Option<Need>,
    /// What.
    pub text: String,
    /// Where that stands.
    pub source: String,
}

/// Measured series by their names, `SUITE/WORKLOAD/GROUP`; `*` at the end of a part stands for
/// anything. Several that match count equally.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Deserialize)]
#[serde(try_from = "String")]
pub struct Matcher {
    /// Name of the suite.
    pub suite: String,
    /// Name of the workload.
    pub workload: String,
    /// Name of the group.
    pub group: String,
}

impl Matcher {
    /// Whether a series is meant.
    pub fn matches(&self, suite: &str, workload: &str, group: &str) -> bool {
        fits(&self.suite, suite) && fits(&self.workload, workload) && fits(&self.group, group)
    }
}

/// Whether a word is the pattern, or begins as one that ends in `*` does.
pub fn fits(pattern: &str, word: &str) -> bool {
    pattern.strip_suffix('*').map_or(pattern == word, |beginning| word.starts_with(beginning))
}

impl TryFrom<String> for Matcher {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        match text.split('/').collect::<Vec<_>>()[..] {
            [suite, workload, group] if ![suite, workload, group].contains(&"") => {
                Ok(Matcher { suite: suite.to_owned(), workload: workload.to_owned(), group: group.to_owned() })
            }
            _ => Err(format!("`{text}` names no series; write SUITE/WORKLOAD/GROUP, such as quick/commit/write")),
        }
    }
}

/// What a lane must have: one of several things, `checksums|snapshots`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
pub struct Need {
    /// One of them is enough.
    pub any: Vec<Wish>,
}

/// One thing that a lane may have.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Wish {
    /// Journal, barriers, and an fsync that reaches stable storage, as the lane was raced.
    Durable,
    /// A feature is there; of shrinking, in either way.
    Has(Feature),
    /// It becomes smaller while it is mounted.
    ShrinksOnline,
    /// It limits this kind of owner.
    Limits(String),
    /// mkfs does not fix the number of files.
    DynamicInodes,
    /// One file may have so many bytes.
    FileSize(u128),
    /// The filesystem may have so many bytes.
    FilesystemSize(u128),
    /// In the mainline kernel: of this version, or of the machine that raced.
    Kernel(Option<String>),
}

/// What `--need` takes without a value, what it asks for, and what people call it.
const WISHES: [(&str, Wish, &str); 16] = [
    ("durable", Wish::Durable, "writes that survive a power cut once they were fsynced"),
    ("checksums", Wish::Has(Feature::DataChecksums), "checksums of data"),
    ("metadata-checksums", Wish::Has(Feature::MetadataChecksums), "checksums of metadata"),
    ("snapshots", Wish::Has(Feature::Snapshots), "snapshots"),
    ("reflink", Wish::Has(Feature::Reflink), "reflinks"),
    ("compression", Wish::Has(Feature::Compression), "compression"),
    ("encryption", Wish::Has(Feature::Encryption), "encryption"),
    ("shrink", Wish::Has(Feature::Shrink), "shrinking"),
    ("growth", Wish::Has(Feature::OnlineGrowth), "growth while mounted"),
    ("quota", Wish::Has(Feature::Quota), "quotas"),
    ("dynamic-inodes", Wish::DynamicInodes, "a number of files that mkfs does not fix"),
    ("casefold", Wish::Has(Feature::Casefold), "case-insensitive names"),
    ("overlay", Wish::Has(Feature::OverlayUpper), "an upper directory of overlayfs"),
    ("dax", Wish::Has(Feature::Dax), "DAX"),
    ("journal", Wish::Has(Feature::Journal), "metadata that survives a crash"),
    ("kernel", Wish::Kernel(None), "the mainline kernel of the version that raced it"),
];

/// What `--need` takes with a value, and what it means.
pub const WITH_VALUE: [(&str, &str); 5] = [
    ("shrink=online", "shrinking while mounted"),
    ("quota=KIND", "quotas by user, group, project or subvolume"),
    ("file-size=SIZE", "files of so many bytes, such as 20TiB"),
    ("filesystem-size=SIZE", "a filesystem of so many bytes"),
    ("kernel=VERSION", "in that mainline kernel, such as 5.10"),
];

impl Need {
    /// What people call it: `checksums of data or snapshots`.
    pub fn title(&self) -> String {
        let of = |wish: &Wish| {
            let row = WISHES.iter().find(|row| row.1 == *wish);
            row.map_or_else(|| wish.to_string().replace('=', " "), |row| row.2.to_owned())
        };
        self.any.iter().map(of).collect::<Vec<_>>().join(" or ")
    }

    /// One thing alone.
    pub fn one(wish: Wish) -> Need {
        Need { any: vec![wish] }
    }
}

/// Everything that `--need` takes, with what it means.
pub fn wishes() -> impl Iterator<Item = (&'static str, &'static str)> {
    WISHES.iter().map(|row| (row.0, row.2)).chain(WITH_VALUE)
}

impl FromStr for Wish {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let text = text.trim();
        if let Some(row) = WISHES.iter().find(|row| row.0 == text) {
            return Ok(row.1.clone());
        }
        let size = |value: &str| features::bytes(value).ok_or_else(|| format!("`{value}` is no size such as 20TiB"));
        match text.split_once('=') {
            Some(("shrink", "online")) => Ok(Wish::ShrinksOnline),
            Some(("quota", kind)) if QUOTA_KINDS.contains(&kind) => Ok(Wish::Limits(kind.to_owned())),
            Some(("quota", kind)) => {
                Err(format!("there are no quotas by `{kind}`; choose one of {}", QUOTA_KINDS.join(", ")))
            }
            Some(("file-size", value)) => size(value).map(Wish::FileSize),
            Some(("filesystem-size", value)) => size(value).map(Wish::FilesystemSize),
            Some(("kernel", value)) if features::version(value).is_some() => Ok(Wish::Kernel(Some(value.to_owned()))),
            Some(("kernel", value)) => Err(format!("`{value}` is no kernel version such as 5.10")),
            _ => {
                let known: Vec<&str> = wishes().map(|(name, _)| name).collect();
                Err(format!("nothing is known of `{text}`; choose from {}", known.join(", ")))
            }
        }
    }
}

impl fmt::Display for Wish {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(row) = WISHES.iter().find(|row| row.1 == *self) {
            return f.write_str(row.0);
        }
        match self {
            Wish::ShrinksOnline => f.write_str("shrink=online"),
            Wish::Limits(kind) => write!(f, "quota={kind}"),
            Wish::FileSize(bytes) => write!(f, "file-size={}", size(*bytes)),
            Wish::FilesystemSize(bytes) => write!(f, "filesystem-size={}", size(*bytes)),
            Wish::Kernel(Some(version)) => write!(f, "kernel={version}"),
            Wish::Has(feature) => f.write_str(feature.title()),
            Wish::Durable | Wish::DynamicInodes | Wish::Kernel(None) => Ok(()),
        }
    }
}

/// The largest binary unit that divides it.
fn size(bytes: u128) -> String {
    let units = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB", "ZiB"];
    let at = (1..=units.len()).rev().find(|power| bytes.is_multiple_of(1 << (10 * power))).unwrap_or(1);
    format!("{}{}", bytes >> (10 * at), units[at - 1])
}

impl FromStr for Need {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Ok(Need { any: text.split('|').map(str::parse).collect::<Result<_, _>>()? })
    }
}

impl TryFrom<String> for Need {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl From<Need> for String {
    fn from(need: Need) -> String {
        need.to_string()
    }
}

impl fmt::Display for Need {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<String> = self.any.iter().map(Wish::to_string).collect();
        f.write_str(&names.join("|"))
    }
}

impl Scenario {
    /// The suite that does this work itself: the one that the file names, else that of the nearest series of the heaviest
    /// part.
    pub fn own_suite(&self) -> &str {
        let heaviest = || self.weight.iter().reduce(|most, of| if of.share > most.share { of } else { most });
        let nearest = || heaviest()?.series.first().map(|of| of.suite.as_str());
        self.suite.as_deref().or_else(nearest).unwrap_or_default()
    }

    /// Reads a file and checks it: shares are positive and add up to 1, and everything has a reason.
    ///
    /// # Errors
    /// The scenario and what is wrong, as one sentence.
    pub fn from_toml(text: &str) -> Result<Scenario, String> {
        let scenario: Scenario = toml::from_str(text).map_err(|error| crate::text::toml_mistake(text, &error))?;
        scenario.check().map_err(|wrong| format!("scenario {}: {wrong}", scenario.name))?;
        Ok(scenario)
    }

    fn check(&self) -> Result<(), String> {
        let named = self.name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-');
        if self.name.is_empty() || !named {
            return Err("its name has small letters, digits and hyphens".to_owned());
        }
        for weight in &self.weight {
            let what = &weight.what;
            if !(weight.share > 0.0 && weight.share <= 1.0) {
                return Err(format!("the share of `{what}` lies above 0 and up to 1"));
            }
            if weight.series.is_empty() || weight.why.trim().is_empty() {
                return Err(format!("`{what}` needs series that stand for it, and why it weighs so much"));
            }
        }
        let sum: f64 = self.weight.iter().map(|weight| weight.share).sum();
        if (sum - 1.0).abs() > 1e-9 {
            return Err(format!("the shares add up to {sum:.3}, not to 1"));
        }
        let unsourced = |why: &str, source: &str| why.trim().is_empty() || source.trim().is_empty();
        if self.need.iter().any(|need| unsourced(&need.why, &need.source))
            || self.note.iter().any(|note| unsourced(&note.text, &note.source))
        {
            return Err("each constraint and each note has its text and its source".to_owned());
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn needs_are_read_and_written_back() {
        for text in wishes().map(|(name, _)| name).filter(|name| !name.contains('=')) {
            assert_eq!(text.parse::<Need>().unwrap().to_string(), text);
        }
        for text in [
            "checksums|snapshots",
            "shrink=online",
            "quota=project",
            "file-size=20TiB",
            "kernel=5.10",
            "filesystem-size=8EiB",
        ] {
            assert_eq!(text.parse::<Need>().unwrap().to_string(), text);
        }
        for (wrong, says) in [
            ("snapshot", "nothing is known of `snapshot`; choose from durable, checksums"),
            ("quota=cat", "choose one of user"),
            ("file-size=20", "is no size"),
            ("kernel=new", "no kernel version"),
            ("checksums|", "nothing is known of ``"),
        ] {
            let refused = wrong.parse::<Need>().unwrap_err();
            assert!(refused.contains(says), "{wrong}: {refused}");
        }
    }

    #[test]
    fn series_match_by_name_and_by_beginning() {
        let of = |text: &str| Matcher::try_from(text.to_owned());
        let creates = of("operations/operations/create*").unwrap();
        assert!(creates.matches("operations", "operations", "create 100 x 1 KiB"));
        assert!(!creates.matches("operations", "operations", "read 1 MiB"));
        assert!(of("quick/commit/write").unwrap().matches("quick", "commit", "write"));
        assert!(!of("quick/commit/write").unwrap().matches("quick", "commit", "write 2"));
        assert!(of("quick/commit").is_err() && of("quick//write").is_err() && of("a/b/c/d").is_err());
    }

    #[test]
    fn a_scenario_whose_shares_or_reasons_are_wrong_is_refused() {
        let text = |share: &str, why: &str| {
            format!(
                "name = \"x\"\ntitle = \"X\"\nabout = \"a\"\n[[weight]]\nwhat = \"w\"\nshare = {share}\nwhy = \"{why}\"\nseries = [\"a/b/c\"]\n"
            )
        };
        assert!(Scenario::from_toml(&text("1.0", "it does")).is_ok());
        for (text, says) in [
            (text("0.9", "it does"), "add up to 0.900"),
            (text("0.0", "it does"), "lies above 0"),
            (text("1.0", " "), "why it weighs"),
            (text("1.0", "it does").replace("\"x\"", "\"X y\""), "small letters"),
            (
                text("1.0", "it does") + "[[need]]\nneed = \"nope\"\nwhy = \"w\"\nsource = \"s\"\n",
                "nothing is known of",
            ),
            (text("1.0", "it does") + "[[need]]\nneed = \"durable\"\nwhy = \"w\"\nsource = \"\"\n", "its source"),
        ] {
            let refused = Scenario::from_toml(&text).unwrap_err();
            assert!(refused.contains(says), "{refused}");
        }
    }
}
