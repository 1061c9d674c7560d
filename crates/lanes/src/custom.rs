//! A filesystem of the user's own, described by a TOML file: `./myfs.toml`.

use crate::failure::{LaneFailure, usage};
use crate::filesystems::{self, Filesystem, Fuse};
use model::Bytes;
use model::bounds::TOML_BYTES;
use model::lane::Promises;
use model::text::quoted;
use serde::Deserialize;
use sha2::{Digest, Sha256};
use std::io::Read;
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::sync::OnceLock;

/// A filesystem of the user's own. Commands are argument lists; `{device}`, `{directory}` and
/// `{options}` in them are replaced, and no shell is involved.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Custom {
    /// What reports call the filesystem.
    pub name: String,
    /// Kernel or FUSE.
    #[serde(default)]
    pub kind: Kind,
    /// Makes the filesystem on `{device}`; empty: nothing to make.
    #[serde(default)]
    pub mkfs: Vec<String>,
    /// Mounts `{device}` on `{directory}` with `{options}`.
    pub mount: Vec<String>,
    /// Unmounts `{directory}`; empty: the system call.
    #[serde(default)]
    pub unmount: Vec<String>,
    /// Kernel filesystem that must be there (and its module); empty: not checked.
    #[serde(default)]
    pub module: String,
    /// What it promises; what is not promised is not assumed.
    #[serde(default)]
    pub promises: CustomPromises,
    /// Smallest lane.
    #[serde(default)]
    pub minimum_size: Option<Bytes>,
    /// The row of the table whose FUSE program it is; `None`: it is the user's own.
    #[serde(skip)]
    pub(crate) row: Option<&'static str>,
    /// SHA-256 of its file, in hexadecimal; empty: it has none.
    #[serde(skip)]
    pub(crate) sha256: String,
}

/// Where the filesystem runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// In the kernel: the mount command ends once it is mounted.
    #[default]
    Kernel,
    /// In a process: the mount command may go on running, and is killed when the lane closes.
    Fuse,
}

/// The promises a user states.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct CustomPromises {
    /// Metadata survives a crash without a full check.
    pub journal: bool,
    /// Data is checksummed.
    pub data_checksums: bool,
    /// `fsync` returns only after the data is stable.
    pub fsync_reaches_stable_storage: bool,
    /// Writes are ordered with flushes.
    pub barriers: bool,
}

impl From<CustomPromises> for Promises {
    fn from(stated: CustomPromises) -> Promises {
        Promises {
            journal: stated.journal,
            data_checksums: stated.data_checksums,
            fsync_reaches_stable_storage: stated.fsync_reaches_stable_storage,
            barriers: stated.barriers,
            outlives_cache: true,
        }
    }
}

/// How a file of the user's own is opened: a regular file, with the rights of whoever named it.
pub type Opener = fn(&Path) -> std::io::Result<std::fs::File>;

static OPENER: OnceLock<Opener> = OnceLock::new();

/// Says once, before any lane is resolved, how files of the user's own are opened; without it with this process's rights.
pub fn open_with(opener: Opener) {
    let _ = OPENER.set(opener);
}

/// Opens with this process's rights.
fn open_regular(path: &Path) -> std::io::Result<std::fs::File> {
    // To open a device is to do something to it, and a pipe would be waited for: what it is comes first.
    let found = std::fs::OpenOptions::new().read(true).custom_flags(libc::O_PATH).open(path)?;
    if !found.metadata()?.is_file() {
        return Err(std::io::Error::other("it is no file"));
    }
    std::fs::File::open(format!("/proc/self/fd/{}", found.as_raw_fd()))
}

/// The text of a file, at most [`TOML_BYTES`] of it.
fn bounded(path: &Path) -> std::io::Result<String> {
    let mut text = String::new();
    let file = OPENER.get().map_or(open_regular as Opener, |opener| *opener)(path)?;
    file.take(TOML_BYTES + 1).read_to_string(&mut text)?;
    match text.len() as u64 > TOML_BYTES {
        true => Err(std::io::Error::other(format!("it has more than {}", Bytes(TOML_BYTES)))),
        false => Ok(text),
    }
}

impl Custom {
    /// A row of the table whose filesystem is a FUSE program where the kernel does not mount it.
    pub(crate) fn of_row(row: &'static Filesystem, fuse: Fuse) -> Custom {
        let words = |list: &[&str]| list.iter().map(|&word| word.to_owned()).collect::<Vec<String>>();
        let promises = (row.promises)(&[], &[]);
        Custom {
            name: fuse.name.to_owned(),
            kind: Kind::Fuse,
            mkfs: row.mkfs_command(&[]),
            mount: words(fuse.mount),
            unmount: Vec::new(),
            module: String::new(),
            promises: CustomPromises {
                journal: promises.journal,
                data_checksums: promises.data_checksums,
                fsync_reaches_stable_storage: promises.fsync_reaches_stable_storage,
                barriers: promises.barriers,
            },
            minimum_size: Some(Bytes(row.minimum_bytes)),
            row: Some(row.name),
            sha256: String::new(),
        }
    }

    /// The row of the table whose FUSE program it is.
    pub(crate) fn row(&self) -> Option<&'static Filesystem> {
        self.row.and_then(filesystems::find)
    }

    /// One whose file nobody opened, as far as what its lane says is looked at.
    pub(crate) fn unread(path: &Path) -> Custom {
        Custom {
            name: model::text::escaped(path.file_stem().unwrap_or_default().as_bytes()),
            kind: Kind::default(),
            mkfs: vec!["mkfs".to_owned(), "{device}".to_owned()],
            mount: Vec::new(),
            unmount: Vec::new(),
            module: String::new(),
            promises: CustomPromises::default(),
            minimum_size: None,
            row: None,
            sha256: String::new(),
        }
    }

    /// SHA-256 of the bytes that were read, in hexadecimal; empty: it has no file.
    pub fn sha256(&self) -> &str {
        &self.sha256
    }

    /// Reads the file.
    ///
    /// # Errors
    /// [`LaneFailure::Usage`] naming the file and, where TOML knows it, the line.
    pub fn read(path: &Path) -> Result<Custom, LaneFailure> {
        let shown = model::text::escaped_path(path);
        let refuse = |why: &str| usage(format!("{shown}: {why}; name a TOML file that describes a filesystem"));
        let text = bounded(path).map_err(|error| refuse(&crate::failure::plain(&error)))?;
        // Of the bytes that were read, and not of the file a moment later.
        let sha256 = Sha256::digest(text.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect();
        Ok(Custom { sha256, ..Custom::parse(&text, &shown)? })
    }

    /// Reads the text of a file called `name`.
    ///
    /// # Errors
    /// As [`Custom::read`].
    pub fn parse(text: &str, name: &str) -> Result<Custom, LaneFailure> {
        let custom: Custom = toml::from_str(text).map_err(|error| {
            let before =
                |end: usize| text.as_bytes()[..end.min(text.len())].iter().filter(|byte| **byte == b'\n').count();
            let line = error.span().map(|span| before(span.start) + 1);
            let place = line.map_or(name.to_owned(), |line| format!("{name}:{line}"));
            let words = quoted(error.message().trim());
            usage(format!("{place}: {words}; docs/myfs.toml shows every key"))
        })?;
        custom.check(text, name)?;
        Ok(custom)
    }

    fn check(&self, text: &str, name: &str) -> Result<(), LaneFailure> {
        let line_of = |key: &str| {
            let found = text.lines().position(|line| {
                line.trim_start().strip_prefix(key).is_some_and(|rest| rest.trim_start().starts_with('='))
            });
            found.map_or(name.to_owned(), |line| format!("{name}:{}", line + 1))
        };
        let fail = |key: &str, what: String| Err(usage(format!("{}: {what}", line_of(key))));
        if self.name.is_empty() || self.name.len() > 64 || self.name.chars().any(char::is_control) {
            return fail("name", "name has 1 to 64 characters and no control characters; shorten it".to_owned());
        }
        if self.mount.is_empty() || self.mount[0].is_empty() {
            return fail("mount", "mount is empty; give a program and its arguments as a list".to_owned());
        }
        if !self.mount.iter().any(|word| word.contains("{directory}")) {
            return fail("mount", "mount never says {directory}; add it where the mount point belongs".to_owned());
        }
        if !self.mkfs.is_empty() && !self.mkfs.iter().any(|word| word.contains("{device}")) {
            return fail("mkfs", "mkfs never says {device}; add it where the device belongs".to_owned());
        }
        if !self.unmount.is_empty() && !self.unmount.iter().any(|word| word.contains("{directory}")) {
            return fail("unmount", "unmount never says {directory}; add it where the mount point belongs".to_owned());
        }
        for (key, words) in [("mkfs", &self.mkfs), ("mount", &self.mount), ("unmount", &self.unmount)] {
            if let Some(word) = words.iter().find_map(|word| unknown_placeholder(word)) {
                return fail(key, format!("{word} is no placeholder; use {{device}}, {{directory}} or {{options}}"));
            }
        }
        Ok(())
    }

    /// The mkfs command with the lane's own options before the argument that names the device.
    pub fn mkfs_command(&self, options: &[String]) -> Vec<String> {
        let mut command = self.mkfs.clone();
        let at = command.iter().position(|word| word.contains("{device}")).unwrap_or(command.len());
        command.splice(at..at, options.iter().cloned());
        command
    }
}

/// `{word}` that is none of ours. Other braces (JSON, shell-like lists) pass.
fn unknown_placeholder(word: &str) -> Option<&str> {
    let mut rest = word;
    while let Some(open) = rest.find('{') {
        let close = rest[open..].find('}')? + open;
        let inner = &rest[open + 1..close];
        let wordlike = !inner.is_empty() && inner.chars().all(|c| c.is_ascii_lowercase() || c == '_');
        if wordlike && !["device", "directory", "options"].contains(&inner) {
            return Some(&rest[open..=close]);
        }
        rest = &rest[close + 1..];
    }
    None
}

/// Fills the placeholders of a command.
pub(crate) fn fill(command: &[String], device: &Path, directory: &Path, options: &str) -> Vec<String> {
    let fill_word = |word: &String| {
        // One pass from left to right: a path that holds `{options}` stays a path.
        let mut out = String::new();
        let mut rest = word.as_str();
        let known = [
            ("{device}", device.to_string_lossy()),
            ("{directory}", directory.to_string_lossy()),
            ("{options}", options.into()),
        ];
        while !rest.is_empty() {
            match known.iter().find(|(placeholder, _)| rest.starts_with(placeholder)) {
                Some((placeholder, value)) => {
                    out.push_str(value);
                    rest = &rest[placeholder.len()..];
                }
                None => {
                    let step = rest.chars().next().map_or(1, char::len_utf8);
                    out.push_str(&rest[..step]);
                    rest = &rest[step..];
                }
            }
        }
        out
    };
    command.iter().map(fill_word).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "name = \"myfs\"\nmkfs = [\"mkfs.x\", \"{device}\"]\nmount = [\"mount\", \"-o\", \"{options}\", \"{device}\", \"{directory}\"]\n[promises]\njournal = true\n";

    #[test]
    fn a_file_is_read_with_defaults() {
        let custom = Custom::parse(TEXT, "myfs.toml").unwrap();
        assert_eq!(custom.kind, Kind::Kernel);
        let promises = Promises::from(custom.promises);
        assert!(promises.journal && !promises.barriers);
        assert_eq!(custom.mkfs_command(&["-b".to_owned(), "1024".to_owned()]), ["mkfs.x", "-b", "1024", "{device}"]);
    }

    #[test]
    fn mistakes_are_refused_with_file_and_line() {
        for (from, to, says) in [
            ("mkfs =", "mkfz =", "myfs.toml:2: unknown field"),
            ("journal = true", "jurnal = true", "myfs.toml:5: unknown field"),
            ("journal = true", "journal = 3", "myfs.toml:5: invalid type"),
            ("{directory}", "{dir}", "myfs.toml:3: mount never says {directory}"),
            ("\"-o\"", "\"{opts}\"", "myfs.toml:3: {opts} is no placeholder"),
            ("\"{device}\"]\nmount", "\"x\"]\nmount", "myfs.toml:2: mkfs never says {device}"),
            ("name = \"myfs\"", "name = \"\"", "myfs.toml:1: name has"),
            ("name = \"myfs\"", "name = [", "myfs.toml:"),
        ] {
            let error = Custom::parse(&TEXT.replacen(from, to, 1), "myfs.toml").unwrap_err().to_string();
            assert!(error.starts_with(says), "{error}");
        }
    }

    #[test]
    fn placeholders_are_filled_once_and_never_in_what_they_brought() {
        let command = ["a={device}".to_owned(), "{directory}".to_owned(), "x,{options},é".to_owned()];
        let filled = fill(&command, Path::new("/dev/{options}"), Path::new("/m"), "ro");
        assert_eq!(filled, ["a=/dev/{options}", "/m", "x,ro,é"]);
    }
}
