//! Files of records that names, patterns and whole folders stand for.
//!
//! Folders are searched with the user's rights alone, down to a bounded depth, through no link; what is found there is opened
//! with the user's rights alone too.

use crate::failure::Failure;
use crate::{owned, state};
use model::record::Record;
use model::text::escaped_path;
use rustix::fs::{AtFlags, FileType, Mode, OFlags};
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, BufReader};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// How the name of a record ends.
const END: &[u8] = b".jsonl";
/// Folders below the one that was named, at most.
const MOST_DEPTH: usize = 16;
/// Names that are looked at in a folder and those below it, at most.
const MOST_NAMES: usize = 1_000_000;
/// Records that are taken, at most.
const MOST_FILES: usize = 200_000;
/// Files that are left out and named, at most; the others are counted.
const MOST_TOLD: usize = 1000;
/// Why a file above [`MOST_FILES`] is left out.
const TOO_MANY: &str = "more records than one command takes; name fewer";

/// A file that may be a record.
pub struct Found {
    /// As it was named, or as it was found.
    pub name: String,
    /// The file.
    pub path: PathBuf,
    /// It was named itself, and not found in a folder.
    is_named: bool,
}

impl Found {
    /// Reads it as the record of a race.
    ///
    /// # Errors
    /// Why it cannot be read, or is none.
    pub fn read(&self) -> Result<Record, String> {
        Record::read(BufReader::with_capacity(256 << 10, self.open()?)).map_err(|error| error.to_string())
    }

    fn open(&self) -> Result<File, String> {
        let opened = if self.is_named { owned::open_to_read(&self.path) } else { owned::open_as_owner(&self.path) };
        opened.map_err(|error| format!("it cannot be read: {error}"))
    }

    /// What its file is called, what a terminal would obey escaped.
    pub fn file_name(&self) -> String {
        model::text::escaped(self.path.file_name().unwrap_or(self.path.as_os_str()).as_bytes())
    }
}

/// What is not taken, and why.
#[derive(Debug, Default)]
pub struct LeftOut {
    /// How many files.
    pub count: usize,
    /// The first of them with the reason, one sentence each.
    pub told: Vec<String>,
}

impl LeftOut {
    /// Adds a file.
    pub fn add(&mut self, name: &str, why: &str) {
        self.count += 1;
        if self.told.len() < MOST_TOLD {
            self.told.push(format!("{name}: {why}"));
        }
    }

    /// As a command says it; empty where nothing was left out.
    pub fn in_words(&self) -> String {
        let files = |count: usize| if count == 1 { "1 file".to_owned() } else { format!("{count} files") };
        if self.count == 0 {
            return String::new();
        }
        let mut text = format!("left out: {}\n", files(self.count));
        for line in &self.told {
            text.push_str(&format!("  {}\n", report::clean_text(line)));
        }
        if self.count > self.told.len() {
            text.push_str(&format!("  and {} more\n", files(self.count - self.told.len())));
        }
        text
    }
}

/// Files to be read, each once, in the order of their names; and what is none.
#[derive(Default)]
pub struct Gathered {
    /// What may be records.
    pub files: Vec<Found>,
    /// What cannot be, as far as nobody has read it.
    pub left_out: LeftOut,
    seen: BTreeSet<(u64, u64)>,
}

/// Finds the files that names, patterns and folders stand for; of no name the records that are kept.
///
/// # Errors
/// Where a name or a pattern stands for nothing, or a folder that was named cannot be searched.
pub fn gather(names: &[String]) -> Result<Gathered, Failure> {
    let mut gathered = Gathered::default();
    if names.is_empty() {
        for path in state::records()? {
            let identity = state::NamedFile::new(path.display().to_string(), path.clone()).identity();
            gathered.add(Found { name: escaped_path(&path), path, is_named: true }, identity);
        }
        return Ok(gathered);
    }
    for name in names {
        let path = Path::new(name);
        if owned::metadata(path).is_ok_and(|of| of.is_dir()) {
            gathered.search(path)?;
            continue;
        }
        for file in state::expand(name)? {
            let identity = file.identity();
            gathered.add(Found { name: file.name, path: file.path, is_named: true }, identity);
        }
    }
    Ok(gathered)
}

impl Gathered {
    /// One file under two names is one record.
    fn add(&mut self, found: Found, identity: Option<(u64, u64)>) {
        if identity.is_some_and(|identity| self.seen.contains(&identity)) {
            return;
        }
        if self.files.len() >= MOST_FILES {
            self.left_out.add(&found.name, TOO_MANY);
            return;
        }
        self.seen.extend(identity);
        self.files.push(found);
    }

    fn search(&mut self, folder: &Path) -> Result<(), Failure> {
        let mut search = Search::new(std::mem::take(&mut self.left_out), MOST_FILES);
        owned::as_owner(|| {
            let opened = owned::open_by_no_process(folder, owned::FOLDER)?;
            search.look_through(&opened, folder, 0)
        })
        .map_err(|error| {
            let shown = escaped_path(folder);
            Failure::usage(format!("cannot search {shown}: {error}; name another folder, or files"))
        })?;
        self.left_out = search.left_out;
        search.files.sort();
        for (path, identity) in search.files {
            self.add(Found { name: escaped_path(&path), path, is_named: false }, Some(identity));
        }
        match search.names > MOST_NAMES {
            true => Err(Failure::usage(format!(
                "{} holds more than {MOST_NAMES} files and folders; name a smaller one",
                escaped_path(folder)
            ))),
            false => Ok(()),
        }
    }
}

/// What is found below one folder.
struct Search {
    names: usize,
    /// Files that are kept at most, links to others among them; further ones are counted as they are found.
    most_files: usize,
    /// Path, device and inode.
    files: Vec<(PathBuf, (u64, u64))>,
    left_out: LeftOut,
}

impl Search {
    /// `left_out`: what was left out before.
    fn new(left_out: LeftOut, most_files: usize) -> Self {
        Search { names: 0, most_files, files: Vec::new(), left_out }
    }

    fn look_through(&mut self, folder: &OwnedFd, path: &Path, depth: usize) -> io::Result<()> {
        for entry in rustix::fs::Dir::read_from(folder)? {
            let entry = entry?;
            let name = OsStr::from_bytes(entry.file_name().to_bytes());
            if name == "." || name == ".." {
                continue;
            }
            self.names += 1;
            if self.names > MOST_NAMES {
                return Ok(());
            }
            self.look_at(folder, name, &path.join(name), depth);
        }
        Ok(())
    }

    fn look_at(&mut self, folder: &OwnedFd, name: &OsStr, path: &Path, depth: usize) {
        let is_called_so = name.as_bytes().ends_with(END);
        let Ok(found) = rustix::fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW) else {
            if is_called_so {
                self.leave_out(path, "it cannot be looked at");
            }
            return;
        };
        match FileType::from_raw_mode(found.st_mode) {
            FileType::Directory if depth >= MOST_DEPTH => {
                self.leave_out(path, "this folder lies too deep below the one that was named; name it itself");
            }
            FileType::Directory => {
                let flags = owned::FOLDER | OFlags::NOFOLLOW;
                let below = rustix::fs::openat(folder, name, flags, Mode::empty()).map_err(io::Error::from);
                if below.and_then(|below| self.look_through(&below, path, depth + 1)).is_err() {
                    self.leave_out(path, "this folder cannot be searched");
                }
            }
            FileType::RegularFile if is_called_so && self.files.len() >= self.most_files => {
                self.leave_out(path, TOO_MANY);
            }
            FileType::RegularFile if is_called_so => {
                self.files.push((path.to_owned(), (found.st_dev, found.st_ino)));
            }
            FileType::Symlink if is_called_so => {
                self.leave_out(path, "it is a link, which is followed where it is named itself alone");
            }
            _ if is_called_so => self.leave_out(path, "it is no regular file"),
            _ => {}
        }
    }

    fn leave_out(&mut self, path: &Path, why: &str) {
        self.left_out.add(&escaped_path(path), why);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    fn names(gathered: &Gathered, below: &Path) -> Vec<String> {
        let name = |file: &Found| file.path.strip_prefix(below).unwrap().display().to_string();
        gathered.files.iter().map(name).collect()
    }

    #[test]
    fn a_folder_is_searched_through_no_link_and_each_file_is_one_record() {
        let place = tempfile::tempdir().unwrap();
        let at = |name: &str| place.path().join(name);
        std::fs::create_dir_all(at("a/b")).unwrap();
        std::fs::create_dir(at("folder.jsonl")).unwrap();
        for file in ["z.jsonl", "a/b/deep.jsonl", "a/notes.txt", "a/r.html", "folder.jsonl/x.jsonl"] {
            std::fs::write(at(file), "").unwrap();
        }
        std::fs::hard_link(at("z.jsonl"), at("a/zz.jsonl")).unwrap();
        symlink("..", at("a/up")).unwrap();
        symlink("../z.jsonl", at("a/link.jsonl")).unwrap();
        rustix::fs::mknodat(rustix::fs::CWD, at("pipe.jsonl"), FileType::Fifo, Mode::RWXU, 0).unwrap();
        let folder = place.path().to_str().unwrap().to_owned();
        let gathered = gather(std::slice::from_ref(&folder)).unwrap();
        assert_eq!(names(&gathered, place.path()), ["a/b/deep.jsonl", "a/zz.jsonl", "folder.jsonl/x.jsonl"]);
        let told = gathered.left_out.told.join("\n");
        assert!(gathered.left_out.count == 2 && told.contains("a/link.jsonl: it is a link"), "{told}");
        assert!(told.contains("pipe.jsonl: it is no regular file"), "{told}");
        // Named too, and once more by a pattern: each is there once.
        let again = gather(&[folder.clone(), format!("{folder}/a/*.jsonl"), format!("{folder}/z.jsonl")]).unwrap();
        assert_eq!(again.files.len(), 3);
        // A link that is named itself is followed.
        assert_eq!(gather(&[format!("{folder}/a/link.jsonl")]).unwrap().files.len(), 1);
        assert!(gather(&[format!("{folder}/none")]).is_err_and(|failure| failure.message.contains("no record")));
    }

    #[test]
    fn a_deep_tree_is_searched_so_deep_and_what_is_not_is_told() {
        let place = tempfile::tempdir().unwrap();
        let mut path = place.path().to_owned();
        for _ in 0..60 {
            path.push("d");
            std::fs::create_dir(&path).unwrap();
            std::fs::write(path.join("r.jsonl"), "").unwrap();
        }
        let gathered = gather(&[place.path().to_str().unwrap().to_owned()]).unwrap();
        assert_eq!((gathered.files.len(), gathered.left_out.count), (MOST_DEPTH, 1));
        assert!(gathered.left_out.told[0].contains("too deep"), "{:?}", gathered.left_out.told);
    }

    #[test]
    fn files_above_the_most_are_counted_as_they_are_found_and_not_kept() {
        let place = tempfile::tempdir().unwrap();
        std::fs::create_dir(place.path().join("below")).unwrap();
        for file in ["0.jsonl", "1.jsonl", "2.jsonl", "below/3.jsonl", "below/4.jsonl"] {
            std::fs::write(place.path().join(file), "").unwrap();
        }
        let mut before = LeftOut::default();
        before.add("other", "it is empty");
        let mut search = Search::new(before, 2);
        let opened = owned::open_by_no_process(place.path(), owned::FOLDER).unwrap();
        search.look_through(&opened, place.path(), 0).unwrap();
        assert_eq!((search.files.len(), search.left_out.count), (2, 4));
        let told = &search.left_out.told;
        assert_eq!(told.iter().filter(|line| line.ends_with(TOO_MANY)).count(), 3, "{told:?}");
        assert_eq!(told[0], "other: it is empty");
    }

    #[test]
    fn what_is_left_out_is_counted_and_named_so_far() {
        let mut left_out = LeftOut::default();
        assert_eq!(left_out.in_words(), "");
        left_out.add("a\u{1b}.jsonl", "it is empty");
        assert_eq!(left_out.in_words(), "left out: 1 file\n  a.jsonl: it is empty\n");
        for _ in 0..MOST_TOLD {
            left_out.add("b", "no");
        }
        let words = left_out.in_words();
        assert!(words.starts_with("left out: 1001 files\n") && words.ends_with("  and 1 file more\n"), "{words}");
    }
}
