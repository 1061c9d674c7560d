//! Profiles: what a life is made of, as data that people can read and write.
//!
//! A profile is TOML: levels of fullness, and groups of files with their sizes, folders, lifetimes and acts (method 8.1).

mod check;
mod geriatrix;
mod sizes;

pub use sizes::{Sizes, Step};

use crate::error::AgingError;
use model::Bytes;
use serde::{Deserialize, Serialize};
use std::io;

/// The profiles that are built in, with their text.
const BUILT_IN: [(&str, &str); 7] = [
    ("churn", include_str!("../../../../profiles/churn.toml")),
    ("git", include_str!("../../../../profiles/git.toml")),
    ("mail", include_str!("../../../../profiles/mail.toml")),
    ("desktop", include_str!("../../../../profiles/desktop.toml")),
    ("database", include_str!("../../../../profiles/database.toml")),
    ("photos", include_str!("../../../../profiles/photos.toml")),
    ("build", include_str!("../../../../profiles/build.toml")),
];

/// A kind of use.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Profile {
    /// What it is called: letters, digits and dashes.
    pub name: String,
    /// What it stands for, in a sentence.
    pub about: String,
    /// Where its figures come from; "chosen" where nobody measured them.
    pub source: String,
    /// Files that are written at a time, 1 to 16: their chunks alternate.
    pub writers: u32,
    /// Share of the size that the first filling reaches, above 0 and at most 1.
    pub fill: f64,
    /// Shares of the size between which each cycle ends.
    pub settle: [f64; 2],
    /// Share of what is used that each cycle frees, above 0 and below 1.
    pub delete: f64,
    /// The kinds of files, 1 to 16.
    #[serde(rename = "files")]
    pub groups: Vec<Group>,
}

/// Files of one kind.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Group {
    /// What they are.
    pub name: String,
    /// Where the figures of the group come from; empty where the profile's own source says it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub source: String,
    /// Share of all acts that befall this group, as a weight.
    #[serde(default = "one")]
    pub weight: f64,
    /// Share of the used space that the group keeps, as a weight: what is over it is freed first.
    #[serde(default = "one")]
    pub space: f64,
    /// Sizes of new files.
    pub sizes: Sizes,
    /// What an append adds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub appends: Option<Sizes>,
    /// How much of a file is overwritten in place.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub overwrites: Option<Sizes>,
    /// Size of what replaces a file.
    #[serde(default)]
    pub replaced: Replaced,
    /// Characters of a name, 9 to 64.
    #[serde(default = "name_length")]
    pub name_length: u8,
    /// Where the files lie.
    pub directories: Directories,
    /// Which file goes when space is freed.
    #[serde(default)]
    pub lifetimes: Lifetimes,
    /// How space is freed.
    #[serde(default)]
    pub freed_by: FreedBy,
    /// With `freed_by = "rewrite"`: the share of a file that is left, above 0 and at most 0.95.
    #[serde(default = "half")]
    pub rewritten_to: f64,
    /// Share of written files that are synced (`fsync`), 0 to 1.
    #[serde(default)]
    pub fsync: f64,
    /// What happens to the files, as weights.
    pub acts: Acts,
}

/// What happens to files, as weights.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Acts {
    /// A new file.
    #[serde(default)]
    pub create: f64,
    /// Something is added at the end of one.
    #[serde(default)]
    pub append: f64,
    /// A new file is written beside one and takes its name.
    #[serde(default)]
    pub replace: f64,
    /// A part of one is written anew, in place.
    #[serde(default)]
    pub overwrite: f64,
    /// One gets another name, maybe in another folder.
    #[serde(default)]
    pub rename: f64,
}

/// Size of what replaces a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Replaced {
    /// As a new file's.
    #[default]
    Drawn,
    /// The old one's, up to 5 % more or less: a small edit.
    Near,
}

/// How a group gives space back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FreedBy {
    /// Files are deleted.
    #[default]
    Delete,
    /// A file is written anew without a part of it and takes its own name (VACUUM FULL, an expunged mailbox).
    Rewrite,
}

/// The shape of folders.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Directories {
    /// So many folders, all there from the beginning.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub count: Option<u32>,
    /// A folder for so many files: folders come and go with them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub files: Option<u32>,
    /// Levels of folders at most, 1 to 16.
    #[serde(default = "one_level")]
    pub depth: u32,
    /// Share of new files that go where the last one went, 0 to 1.
    #[serde(default)]
    pub local: f64,
    /// A file of Geriatrix with weights of depths.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub depths_from: Option<String>,
    /// Depths with their weights.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub depths: Vec<(u32, f64)>,
}

/// Which file goes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Lifetimes {
    /// The bias by age.
    #[serde(default)]
    pub choose: Choose,
    /// Files that are drawn, 1 to 64; of these the youngest or the oldest goes.
    #[serde(default = "one_file")]
    pub among: u32,
    /// A file of Geriatrix with weights of ages.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ages_from: Option<String>,
    /// Ages with their weights; the largest age is the oldest file's. Of the files drawn that of the rarest age goes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ages: Vec<(u64, f64)>,
}

/// The bias by age.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Choose {
    /// None.
    #[default]
    Any,
    /// Young files go first.
    Young,
    /// Old files go first.
    Old,
}

impl Default for Lifetimes {
    fn default() -> Self {
        Lifetimes { choose: Choose::Any, among: 1, ages_from: None, ages: Vec::new() }
    }
}

fn one() -> f64 {
    1.0
}

fn half() -> f64 {
    0.5
}

fn one_level() -> u32 {
    1
}

fn one_file() -> u32 {
    1
}

fn name_length() -> u8 {
    12
}

/// The names of the profiles that are built in.
pub fn names() -> Vec<&'static str> {
    BUILT_IN.iter().map(|(name, _)| *name).collect()
}

/// The text of a profile that is built in, to copy and change.
pub fn text(name: &str) -> Option<&'static str> {
    BUILT_IN.iter().find(|(known, _)| *known == name).map(|(_, text)| *text)
}

impl Profile {
    /// A profile that is built in.
    ///
    /// # Errors
    /// [`AgingError::Profile`] where there is none of that name, with the nearest one.
    pub fn named(name: &str) -> Result<Profile, AgingError> {
        let Some(text) = text(name) else {
            let shown = model::text::escaped(name.as_bytes());
            let names = names();
            let mistake = match model::nearest(name, names.iter().copied()) {
                Some(near) => format!("there is none of that name; `{near}` is near to it"),
                None => format!("there is none of that name; write one of {}, or a TOML file", names.join(", ")),
            };
            return Err(AgingError::Profile { name: shown, mistake });
        };
        Profile::read(name, text, &mut |_| Err(io::ErrorKind::NotFound.into()))
    }

    /// A profile of this text, called `name` in messages. `open` gives the bytes of a distribution that it names, one byte
    /// more than [`model::bounds::TOML_BYTES`] at most.
    ///
    /// # Errors
    /// [`AgingError::Profile`] with the line and the remedy.
    pub fn read(
        name: &str,
        text: &str,
        open: &mut dyn FnMut(&str) -> io::Result<Vec<u8>>,
    ) -> Result<Profile, AgingError> {
        let name = model::text::escaped(name.as_bytes());
        let wrong = |mistake: String| AgingError::Profile { name: name.clone(), mistake };
        if text.len() as u64 > model::bounds::TOML_BYTES {
            return Err(wrong(format!("it has more than {}; make it shorter", Bytes(model::bounds::TOML_BYTES))));
        }
        let mut profile: Profile = toml::from_str(text).map_err(|error| {
            wrong(format!("{}; docs/aging.md has a profile to copy", model::text::toml_mistake(text, &error)))
        })?;
        check::shape(&profile, text).map_err(&wrong)?;
        for group in &mut profile.groups {
            geriatrix::resolve(group, open).map_err(&wrong)?;
        }
        check::distributions(&profile, text).map_err(&wrong)?;
        Ok(profile)
    }
}

impl Profile {
    /// Whether it can be lived, wherever it comes from.
    ///
    /// # Errors
    /// [`AgingError::Profile`].
    pub fn check(&self) -> Result<(), AgingError> {
        let whole = check::shape(self, "").and_then(|()| check::distributions(self, ""));
        whole.map_err(|mistake| AgingError::Profile { name: model::text::quoted(&self.name), mistake })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_profile_that_is_built_in_is_whole_and_names_its_sources() {
        for name in names() {
            let profile = Profile::named(name).unwrap();
            assert_eq!(profile.name, name);
            assert!(profile.about.ends_with('.') && !profile.source.is_empty(), "{name}");
        }
        let said = Profile::named("chrun").unwrap_err().to_string();
        assert!(said.contains("`churn` is near"), "{said}");
    }

    #[test]
    fn the_profile_that_the_documents_show_is_one() {
        let page = include_str!("../../../../docs/aging.md");
        let shown = page.split("```toml\n").nth(1).and_then(|rest| rest.split("```").next()).expect("a profile");
        let profile = Profile::read("mine", shown, &mut |_| Err(io::ErrorKind::NotFound.into())).unwrap();
        assert_eq!((profile.name.as_str(), profile.groups.len()), ("mine", 1));
    }

    /// What is said of the profile `churn` with a change.
    fn mistake(from: &str, to: &str) -> String {
        let text = text("churn").unwrap();
        assert!(text.contains(from), "{from}");
        let open = &mut |_: &str| Err(io::ErrorKind::NotFound.into());
        Profile::read("mine.toml", &text.replacen(from, to, 1), open).unwrap_err().to_string()
    }

    #[test]
    fn a_mistake_is_told_with_its_line_and_what_to_write() {
        for (from, to, says) in [
            ("writers = 4", "writers = 0", &["writers", "between 1 and 16"][..]),
            ("writers = 4", "writers = 4\ncolour = 1", &["unknown field `colour`"]),
            ("fill = 0.85", "fill = 1.5", &["fill", "at most 1"]),
            ("settle = [0.75, 0.80]", "settle = [0.8, 0.75]", &["settle"]),
            ("delete = 0.10", "delete = 1.0", &["delete", "below 1"]),
            ("median = \"8KiB\"", "median = \"0\"", &["sizes", "median"]),
            ("median = \"8KiB\", sigma", "steps = [[\"1KiB\", 1]], sigma", &["sizes"]),
            ("{ create = 60,", "{ create = 0, rename = -1,", &["acts"]),
            ("create = 60", "create = nan", &["acts"]),
            ("count = 16", "count = 0", &["count"]),
        ] {
            let said = mistake(from, to);
            assert!(said.starts_with("profile mine.toml: line "), "{said}");
            assert!(says.iter().all(|part| said.contains(part)) && said.lines().count() == 1, "{said}");
        }
    }

    #[test]
    fn distributions_of_geriatrix_are_read_by_name_and_within_bounds() {
        let text =
            text("churn").unwrap().replacen("median = \"8KiB\", sigma = 2.2, most = \"32MiB\"", "from = \"s\"", 1);
        assert!(text.contains("from = \"s\""));
        let read = |bytes: &[u8]| Profile::read("p", &text, &mut |_| Ok(bytes.to_vec()));
        let profile = read(b"3\n4096 0.5\n8192 0.25\n65536 0.25\n").unwrap();
        let steps: Vec<(u64, f64)> = profile.groups[0].sizes.steps.iter().map(|step| (step.0.get(), step.1)).collect();
        assert_eq!(steps, [(4096, 0.5), (8192, 0.25), (65536, 0.25)]);
        assert_eq!(profile.groups[0].sizes.from, None);
        // As they were published: decimals, a third number, and words behind the lines.
        let published =
            b"3\n10.74 1\n31 2 5\n85.98 8\n\nFormat:\n<number of observations>\n<age> <weight in integers>\n";
        assert_eq!(read(b"1\n1 1\n2 1\n").unwrap().groups[0].sizes.steps.len(), 1);
        let steps = read(published).unwrap().groups.remove(0).sizes.steps;
        let steps: Vec<(u64, f64)> = steps.iter().map(|step| (step.0.get(), step.1)).collect();
        assert_eq!(steps, [(11, 1.0), (31, 2.0), (86, 8.0)]);
        for (bytes, says) in [
            (&b"2\n1 1\n"[..], "line 1"),
            (b"x\n1 1\n", "line 1"),
            (b"1\n1 -1\n", "line 2"),
            (b"1\n1\n", "line 2"),
            (b"1\n99999999999999999999 1\n", "line 2"),
            (b"1\n\xff 1\n", "UTF-8"),
            (b"0\n", "line 1"),
            (b"2\n1 1\nFormat:\n2 1\n", "line 3"),
            (b"1\n1 1 x\n", "line 2"),
            (b"1\nnan 1\n", "line 2"),
        ] {
            let said = read(bytes).unwrap_err().to_string();
            assert!(said.contains(says) && said.lines().count() == 1, "{said}");
        }
        assert!(read(&vec![b'1'; 1 << 21]).unwrap_err().to_string().contains("1MiB"));
    }

    proptest::proptest! {
        #[test]
        fn whatever_is_written_is_a_profile_or_one_sentence(text in "(?s).{0,400}", at in 0_usize..2000) {
            let mut whole = super::text("git").unwrap().to_owned();
            let at = (0..=at.min(whole.len())).rev().find(|&at| whole.is_char_boundary(at)).unwrap_or(0);
            whole.insert_str(at, &text);
            let mut open = |_: &str| Ok(text.as_bytes().to_vec());
            if let Err(error) = Profile::read("p", &whole, &mut open) {
                assert!(error.to_string().lines().count() == 1, "{error}");
            }
        }
    }
}
