//! Paths of a trace as they are below a lane's folder, and what comes of those that the program moves.

use crate::calls::code;
use crate::{MOST_PATH_BYTES, Operation};
use std::collections::{HashMap, HashSet};

/// Folders of a path, at most; deeper ones are no program's.
pub(super) const MOST_PARTS: usize = 128;
/// Bytes of all paths, with the folders above them.
const MOST_BYTES: usize = 512 << 20;

/// Bytes of a path beside those of its name, with what else is known of it.
const PATH_BYTES: u64 = 192;

/// Paths by number, each once.
#[derive(Debug, Default)]
pub(super) struct Names {
    /// As they lie below the lane's folder.
    paths: Vec<Vec<u8>>,
    numbers: HashMap<Vec<u8>, u32>,
    /// By number in the trace.
    of_trace: Vec<Option<u32>>,
    /// As the trace has them.
    said: Vec<Vec<u8>>,
    /// Of all of them.
    bytes: usize,
    /// Of what the trace says.
    said_bytes: usize,
}

impl Names {
    /// The next path of the trace.
    pub(super) fn add(&mut self, said: Vec<u8>) {
        let number = plain(&said).map(|path| self.number(path));
        self.of_trace.push(number);
        self.said_bytes += said.len();
        self.said.push(said);
    }

    /// The number of a path of the trace; `None`: the kernel knows no such path.
    pub(super) fn known(&self, of_trace: u32) -> Option<u32> {
        self.of_trace.get(of_trace as usize).copied().flatten()
    }

    pub(super) fn number(&mut self, path: Vec<u8>) -> u32 {
        if let Some(&number) = self.numbers.get(&path) {
            return number;
        }
        let number = self.paths.len() as u32;
        self.bytes += 2 * path.len();
        self.paths.push(path.clone());
        self.numbers.insert(path, number);
        number
    }

    /// Whether there are more than a replay keeps.
    pub(super) fn are_too_many(&self) -> bool {
        self.bytes > MOST_BYTES
    }

    /// Bytes that all of it takes, with one more copy of each path: many lie in the tree.
    pub(super) fn memory_bytes(&self) -> u64 {
        let names = self.bytes + self.bytes / 2 + self.said_bytes;
        names as u64 + (self.paths.len() + self.said.len()) as u64 * PATH_BYTES
    }

    /// As the trace has it.
    pub(super) fn said(&self, of_trace: u32) -> Option<&[u8]> {
        self.said.get(of_trace as usize).map(Vec::as_slice)
    }

    pub(super) fn find(&self, path: &[u8]) -> Option<u32> {
        self.numbers.get(path).copied()
    }

    pub(super) fn path(&self, number: u32) -> &[u8] {
        &self.paths[number as usize]
    }

    /// A number for what a link says: no path, and so no other has it.
    pub(super) fn text(&mut self, of_trace: u32) -> Option<u32> {
        let said = self.said.get(of_trace as usize).filter(|said| !said.is_empty() && !said.contains(&0))?;
        self.bytes += said.len();
        self.paths.push(said.clone());
        Some(self.paths.len() as u32 - 1)
    }

    pub(super) fn into_paths(self) -> Vec<Vec<u8>> {
        self.paths
    }
}

/// A path without `.`, `..`, doubled slashes and the one in front; the top is `.`. `None`: it holds a byte that no path has, or is
/// deeper than any.
pub(crate) fn plain(said: &[u8]) -> Option<Vec<u8>> {
    if said.contains(&0) {
        return None;
    }
    let mut parts: Vec<&[u8]> = Vec::new();
    for part in said.split(|&byte| byte == b'/') {
        match part {
            b"" | b"." => {}
            b".." => _ = parts.pop(),
            part => parts.push(part),
        }
    }
    if parts.len() > MOST_PARTS {
        return None;
    }
    Some(if parts.is_empty() { b".".to_vec() } else { parts.join(&b'/') })
}

/// The folders above a path, the nearest first.
pub(super) fn above(path: &[u8]) -> impl Iterator<Item = &[u8]> {
    let slashes = (0..path.len()).rev().filter(|&at| path[at] == b'/');
    slashes.map(|at| &path[..at])
}

/// The paths of the trace that a call makes, moves or removes, or tries to. An `openat` that may make a file counts, because
/// nobody knows.
pub(super) fn changes(operation: &Operation) -> impl Iterator<Item = u32> {
    let [first, second] = operation.paths;
    let changed = match operation.call {
        code::OPENAT if operation.numbers[0] & i64::from(libc::O_CREAT) != 0 => [Some(first), None],
        code::RENAMEAT2 => [Some(first), Some(second)],
        code::LINKAT | code::SYMLINKAT => [Some(second), None],
        code::UNLINKAT | code::MKDIRAT | code::MKNODAT => [Some(first), None],
        _ => [None, None],
    };
    changed.into_iter().flatten()
}

/// Where what lies under a path was when the program began.
#[derive(Debug, Default)]
pub(super) struct Origins {
    /// By path that the program touched: where it was before; `None`: it made it, or it is gone.
    touched: HashMap<u32, Option<u32>>,
}

impl Origins {
    /// Where what lies under this path now was at the begin; `None`: it was not there, or deeper than any path of a replay.
    pub(super) fn before(&self, names: &mut Names, path: u32) -> Option<u32> {
        let bytes = names.path(path).to_vec();
        let mut nearest = std::iter::once(&bytes[..]).chain(above(&bytes));
        let found = nearest.find_map(|of| names.find(of).filter(|of| self.touched.contains_key(of)));
        let Some(found) = found else { return Some(path) };
        let from = self.touched[&found]?;
        let moved = [names.path(from), &bytes[names.path(found).len()..]].concat();
        // Folders that are moved into each other again and again were deeper than what can be made by its path.
        let parts = moved.iter().filter(|&&byte| byte == b'/').count() + 1;
        (moved.len() <= MOST_PATH_BYTES && parts <= MOST_PARTS).then(|| names.number(moved))
    }

    pub(super) fn made(&mut self, path: u32) {
        self.touched.insert(path, None);
    }

    pub(super) fn moved(&mut self, names: &mut Names, from: u32, to: u32) {
        let before = self.before(names, from);
        self.touched.insert(from, None);
        self.touched.insert(to, before);
    }
}

/// By path, the folders above it that the program ever changes.
#[derive(Debug, Default)]
pub(super) struct Above {
    known: HashMap<u32, Box<[u32]>>,
    /// Of all of them.
    folders: u64,
}

impl Above {
    pub(super) fn changed(&mut self, names: &Names, changed: &HashSet<u32>, path: u32) -> Box<[u32]> {
        if let Some(known) = self.known.get(&path) {
            return known.clone();
        }
        let found: Box<[u32]> =
            above(names.path(path)).filter_map(|of| names.find(of)).filter(|of| changed.contains(of)).collect();
        self.folders += found.len() as u64;
        self.known.insert(path, found.clone());
        found
    }

    /// Bytes that the folders take.
    pub(super) fn bytes(&self) -> u64 {
        self.folders * size_of::<u32>() as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_lie_below_the_lane_whatever_they_say() {
        for (said, path) in [
            ("/a/b", Some("a/b")),
            ("/../../etc/passwd", Some("etc/passwd")),
            ("//a/./b/../c/", Some("a/c")),
            ("/", Some(".")),
            ("..", Some(".")),
            ("relative", Some("relative")),
            ("/a\0b", None),
            (&"/x".repeat(129), None),
        ] {
            assert_eq!(plain(said.as_bytes()), path.map(|path| path.as_bytes().to_vec()), "{said}");
        }
        assert_eq!(above(b"a/b/c").collect::<Vec<_>>(), [&b"a/b"[..], b"a"]);
    }

    #[test]
    fn what_was_moved_was_elsewhere_before() {
        let mut names = Names::default();
        let mut number = |path: &str| names.number(path.as_bytes().to_vec());
        let [a, b, b_x, c, c_y, new] = ["a", "b", "b/x", "c", "c/y", "new"].map(&mut number);
        let mut origins = Origins::default();
        assert_eq!(origins.before(&mut names, a), Some(a));
        origins.moved(&mut names, a, b);
        let from = origins.before(&mut names, b_x).unwrap();
        assert_eq!(names.path(from), b"a/x");
        origins.moved(&mut names, b, c);
        let from = origins.before(&mut names, c_y).unwrap();
        assert_eq!(names.path(from), b"a/y");
        assert_eq!((origins.before(&mut names, a), origins.before(&mut names, b)), (None, None));
        origins.made(new);
        assert_eq!(origins.before(&mut names, new), None);
    }

    #[test]
    fn folders_that_are_moved_into_each_other_again_and_again_lead_to_no_path_that_is_longer_than_any() {
        let mut names = Names::default();
        let mut origins = Origins::default();
        let mut found = Vec::new();
        for step in 0..100 {
            // What lay deep in the folder before is the next one.
            let [deep, next] = [format!("t{step}/{}", "x/".repeat(20) + "x"), format!("t{}", step + 1)]
                .map(|path| names.number(path.into_bytes()));
            origins.moved(&mut names, deep, next);
            found.push(origins.before(&mut names, next).map(|of| names.path(of).len()));
        }
        assert_eq!(found[..2], [Some(44), Some(86)]);
        assert!(found[6..].iter().all(Option::is_none), "{found:?}");
        let longest = names.into_paths().iter().map(Vec::len).max();
        assert!(longest < Some(MOST_PARTS * 2 + 2), "{longest:?}");
    }
}
