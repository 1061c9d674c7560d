//! Paths as a trace has them: whole ones, and hashed where nobody shall read them.

use std::collections::HashMap;
use std::ffi::OsString;
use std::hash::{BuildHasher, RandomState};
use std::path::{Component, Path, PathBuf};

/// Most bytes of a path in a trace, and most paths.
const MOST_BYTES: usize = 4096;
const MOST_PATHS: usize = 8_000_000;
/// Of a part of a hashed path, its slash among them.
const HASHED_BYTES: usize = 17;

/// Numbers of paths.
#[derive(Debug)]
pub(crate) struct Names {
    numbers: HashMap<OsString, u32>,
    under: Vec<PathBuf>,
    /// The key of the hash, which nobody keeps.
    hash: Option<RandomState>,
}

impl Names {
    pub(crate) fn new(under: Vec<PathBuf>, anonymous: bool) -> Names {
        Names { numbers: HashMap::new(), under, hash: anonymous.then(RandomState::new) }
    }

    /// Whether what lies there is written down: a file, and no window into the kernel.
    pub(crate) fn are_of_interest(&self, path: &Path) -> bool {
        let wanted = self.under.is_empty() || self.under.iter().any(|under| path.starts_with(under));
        wanted && self.are_files(path)
    }

    /// Whether files lie there, and a trace can hold the path.
    pub(crate) fn are_files(&self, path: &Path) -> bool {
        let bytes = path.as_os_str().as_encoded_bytes();
        let is_below = |folder: &str| {
            bytes.strip_prefix(folder.as_bytes()).is_some_and(|rest| rest.is_empty() || rest.starts_with(b"/"))
        };
        path.is_absolute() && !["/proc", "/sys", "/dev"].into_iter().any(is_below) && self.fits(path)
    }

    /// Whether a trace can hold it: a path of 4096 bytes at most, and so many of them.
    pub(crate) fn fits(&self, path: &Path) -> bool {
        let bytes = match self.hash {
            Some(_) => path.components().count() * HASHED_BYTES,
            None => path.as_os_str().len(),
        };
        bytes <= MOST_BYTES && (self.numbers.len() < MOST_PATHS || self.numbers.contains_key(path.as_os_str()))
    }

    /// The number of a path, and whether it is a new one.
    pub(crate) fn number(&mut self, path: &Path) -> (u32, bool) {
        if let Some(&number) = self.numbers.get(path.as_os_str()) {
            return (number, false);
        }
        let number = self.numbers.len() as u32;
        self.numbers.insert(path.as_os_str().to_owned(), number);
        (number, true)
    }

    /// As the trace has it: each part by itself, so that folders stay folders and links lead where they led.
    pub(crate) fn shown(&self, path: &Path) -> Vec<u8> {
        let Some(hash) = &self.hash else { return path.as_os_str().as_encoded_bytes().to_vec() };
        let part = |part: Component| match part {
            Component::Normal(name) => Some(format!("{:016x}", hash.hash_one(name))),
            Component::ParentDir => Some("..".to_owned()),
            _ => None,
        };
        let parts: Vec<String> = path.components().filter_map(part).collect();
        let root = if path.is_absolute() { "/" } else { "" };
        let shown = format!("{root}{}", parts.join("/"));
        if shown.is_empty() { b".".to_vec() } else { shown.into_bytes() }
    }
}

/// A path from where it is said, without `.` and `..`. Where a link lies before a `..`, the kernel goes elsewhere: that is rare, and
/// told in docs/trace.md.
pub(crate) fn whole(from: &Path, said: &Path) -> PathBuf {
    let mut whole = PathBuf::from("/");
    for part in from.join(said).components() {
        match part {
            Component::Normal(name) => whole.push(name),
            Component::ParentDir => {
                whole.pop();
            }
            _ => {}
        }
    }
    whole
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_whole_and_hashed_part_by_part() {
        for (from, said, path) in [
            ("/a/b", "c", "/a/b/c"),
            ("/a/b", "../c/./d", "/a/c/d"),
            ("/a", "/x//y/", "/x/y"),
            ("/", "../../x", "/x"),
            ("/a", "", "/a"),
        ] {
            assert_eq!(whole(Path::new(from), Path::new(said)), Path::new(path), "{from} {said}");
        }
        let mut names = Names::new(vec!["/srv".into()], true);
        let shown = |names: &Names, path: &str| String::from_utf8(names.shown(Path::new(path))).unwrap();
        let (a, b) = (shown(&names, "/srv/a"), shown(&names, "/srv/a/b"));
        assert!(b.starts_with(&a) && b.len() == a.len() + 17 && !b.contains("srv"), "{a} {b}");
        assert_eq!(shown(&names, "/"), "/");
        assert_eq!((names.number(Path::new("/srv/a")), names.number(Path::new("/srv/a"))), ((0, true), (0, false)));
        for (path, is) in [("/srv/x", true), ("/srvx", false), ("/etc", false), ("srv", false)] {
            assert_eq!(names.are_of_interest(Path::new(path)), is, "{path}");
        }
        let all = Names::new(Vec::new(), false);
        assert!(!all.are_of_interest(Path::new("/proc/self/maps")));
        let long = "/srv".to_owned() + &"/x".repeat(1000);
        assert!(all.are_of_interest(Path::new(&long)) && !names.are_of_interest(Path::new(&long)));
        assert!(!all.are_of_interest(Path::new(&("/".to_owned() + &"x".repeat(5000)))));
        let (below, relative) = (names.shown(Path::new("/x")), names.shown(Path::new("../x")));
        assert_eq!([b"..", &below[..]].concat(), relative);
        assert_eq!(names.shown(Path::new(".")), b".");
    }
}
