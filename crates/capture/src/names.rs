//! Paths as a trace has them: whole ones, and hashed where nobody shall read them.

use hashbrown::HashTable;
use std::borrow::Cow;
use std::ffi::OsString;
use std::hash::{BuildHasher, RandomState};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Component, Path, PathBuf};
use trace::{MOST_PATH_BYTES, MOST_PATH_BYTES_IN_ALL, MOST_PATHS as MOST_PATHS_OF_TRACE};

/// Most paths, and bytes of all of them: some fewer than a trace holds, because a call names several.
const MOST_PATHS: usize = MOST_PATHS_OF_TRACE as usize - 1000;
const MOST_BYTES_IN_ALL: u64 = MOST_PATH_BYTES_IN_ALL - (1 << 20);
/// Of a part of a hashed path, its slash among them.
const HASHED_BYTES: usize = 17;

/// Paths lie behind each other in pieces of so many bytes.
const PIECE_BYTES: usize = 256 << 10;

/// Numbers of paths.
#[derive(Debug, Default)]
struct Numbers {
    /// Numbers with the hashes of their paths.
    table: HashTable<(u64, u32)>,
    hasher: foldhash::fast::RandomState,
    pieces: Vec<Vec<u8>>,
    /// By number: piece, begin and length.
    places: Vec<(u32, u32, u32)>,
}

impl Numbers {
    fn path(pieces: &[Vec<u8>], (piece, begin, length): (u32, u32, u32)) -> &[u8] {
        &pieces[piece as usize][begin as usize..(begin + length) as usize]
    }

    fn knows(&self, path: &[u8]) -> bool {
        let is_it = |&(_, number): &(u64, u32)| Self::path(&self.pieces, self.places[number as usize]) == path;
        self.table.find(self.hasher.hash_one(path), is_it).is_some()
    }

    /// The number of a path, and whether it is a new one.
    fn number(&mut self, path: &[u8]) -> (u32, bool) {
        let Numbers { table, hasher, pieces, places } = self;
        let hash = hasher.hash_one(path);
        let is_it = |&(_, number): &(u64, u32)| Self::path(pieces, places[number as usize]) == path;
        let vacant = match table.entry(hash, is_it, |&(hash, _)| hash) {
            hashbrown::hash_table::Entry::Occupied(known) => return (known.get().1, false),
            hashbrown::hash_table::Entry::Vacant(vacant) => vacant,
        };
        let number = places.len() as u32;
        vacant.insert((hash, number));
        if pieces.last().is_none_or(|piece| piece.capacity() - piece.len() < path.len()) {
            pieces.push(Vec::with_capacity(PIECE_BYTES));
        }
        let which = pieces.len() - 1;
        let piece = &mut pieces[which];
        places.push((which as u32, piece.len() as u32, path.len() as u32));
        piece.extend_from_slice(path);
        (number, true)
    }
}

/// Numbers of paths, and how they are told.
#[derive(Debug)]
pub(crate) struct Names {
    numbers: Numbers,
    /// Of all paths, as the trace has them.
    bytes: u64,
    under: Vec<PathBuf>,
    /// The key of the hash, which nobody keeps.
    hash: Option<RandomState>,
}

impl Names {
    pub(crate) fn new(under: Vec<PathBuf>, anonymous: bool) -> Names {
        Names { numbers: Numbers::default(), bytes: 0, under, hash: anonymous.then(RandomState::new) }
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

    /// Bytes that it has in a trace, rather too many.
    fn bytes_of(&self, path: &Path) -> usize {
        match self.hash {
            Some(_) => path.components().count() * HASHED_BYTES,
            None => path.as_os_str().len(),
        }
    }

    /// Whether a trace can hold it: a path of 4096 bytes at most, and so many of them.
    pub(crate) fn fits(&self, path: &Path) -> bool {
        self.bytes_of(path) <= MOST_PATH_BYTES && (!self.are_full() || self.numbers.knows(path.as_os_str().as_bytes()))
    }

    /// Whether no further path is told.
    pub(crate) fn are_full(&self) -> bool {
        self.numbers.places.len() >= MOST_PATHS || self.bytes >= MOST_BYTES_IN_ALL
    }

    /// The number of a path, and whether it is a new one.
    pub(crate) fn number(&mut self, path: &Path) -> (u32, bool) {
        let (number, is_new) = self.numbers.number(path.as_os_str().as_bytes());
        if is_new {
            // Here it lies as it was said.
            self.bytes += self.bytes_of(path).max(path.as_os_str().len()) as u64;
        }
        (number, is_new)
    }

    /// As the trace has it: each part by itself, so that folders stay folders and links lead where they led.
    pub(crate) fn shown<'a>(&self, path: &'a Path) -> Cow<'a, [u8]> {
        let Some(hash) = &self.hash else { return Cow::Borrowed(path.as_os_str().as_bytes()) };
        let part = |part: Component| match part {
            Component::Normal(name) => Some(format!("{:016x}", hash.hash_one(name))),
            Component::ParentDir => Some("..".to_owned()),
            _ => None,
        };
        let parts: Vec<String> = path.components().filter_map(part).collect();
        let root = if path.is_absolute() { "/" } else { "" };
        let shown = format!("{root}{}", parts.join("/"));
        Cow::Owned(if shown.is_empty() { b".".to_vec() } else { shown.into_bytes() })
    }
}

/// A path from where it is said, without `.` and `..`. Where a link lies before a `..`, the kernel goes elsewhere: that is rare, and
/// told in docs/trace.md.
pub(crate) fn whole(from: &Path, said: &Path) -> PathBuf {
    let is_absolute = said.is_absolute();
    let from_is_plain = is_absolute || is_plain(from.as_os_str().as_bytes(), true);
    if from_is_plain && is_plain(said.as_os_str().as_bytes(), is_absolute) {
        // Most are: nothing has to be taken apart.
        if is_absolute {
            return said.to_owned();
        }
        let (from, said) = (from.as_os_str().as_bytes(), said.as_os_str().as_bytes());
        let mut whole = Vec::with_capacity(from.len() + 1 + said.len());
        whole.extend_from_slice(from);
        whole.push(b'/');
        whole.extend_from_slice(said);
        return PathBuf::from(OsString::from_vec(whole));
    }
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

/// Whether a path has neither an empty part nor one that begins with a dot; `absolute`: it begins with a slash.
fn is_plain(path: &[u8], absolute: bool) -> bool {
    let path = if absolute { path.strip_prefix(b"/") } else { Some(path) };
    let Some(path) = path else { return false };
    let mut before = b'/';
    for &byte in path {
        if before == b'/' && (byte == b'/' || byte == b'.') {
            return false;
        }
        before = byte;
    }
    before != b'/'
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
            ("/a", "b/.c/d", "/a/b/.c/d"),
            ("/a", "b/", "/a/b"),
            ("/a", "./b", "/a/b"),
            ("/a/", "b", "/a/b"),
            ("/a", "/b/..c//d", "/b/..c/d"),
            ("/a", "/", "/"),
            ("", "/b/c", "/b/c"),
            ("/", "b", "/b"),
        ] {
            assert_eq!(whole(Path::new(from), Path::new(said)), Path::new(path), "{from} {said}");
        }
        let mut names = Names::new(vec!["/srv".into()], true);
        let shown = |names: &Names, path: &str| String::from_utf8(names.shown(Path::new(path)).into_owned()).unwrap();
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
        assert_eq!([b"..", &below[..]].concat(), *relative);
        assert_eq!(&*names.shown(Path::new(".")), b".");
        // What is known is told on where no further path is.
        let mut full = Names::new(Vec::new(), false);
        full.number(Path::new("/known"));
        assert!(!full.are_full() && full.fits(Path::new("/new")));
        full.bytes = MOST_BYTES_IN_ALL;
        assert!(full.are_full() && full.fits(Path::new("/known")) && !full.fits(Path::new("/new")));
        let mut many = Numbers::default();
        for turn in [true, false] {
            for number in 0..20_000 {
                let path = format!("/a/path/with/some/length/{number}");
                assert_eq!(many.number(path.as_bytes()), (number, turn));
                assert!(many.knows(path.as_bytes()) && !many.knows(format!("{path}x").as_bytes()));
            }
        }
        let long = vec![b'x'; PIECE_BYTES * 2];
        assert_eq!((many.number(&long), many.number(&long)), ((20_000, true), (20_000, false)));
    }
}
