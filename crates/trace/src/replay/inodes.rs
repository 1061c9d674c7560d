//! Which file lies under which path, as far as it is known.

use crate::MOST_PATH_BYTES;
use std::collections::BTreeMap;

/// Bytes of a path beside those of its name.
const ENTRY_BYTES: u64 = 64;

/// Numbers of files by their paths.
#[derive(Debug)]
pub(super) struct Inodes {
    by_path: BTreeMap<Vec<u8>, usize>,
    bytes: u64,
    most_bytes: u64,
}

impl Inodes {
    /// Of so many bytes. One call moves all that lies below a folder, under a path that may be a thousand times as long: what comes
    /// behind the bound is not kept, and who reads the trace refuses it.
    pub(super) fn within(most_bytes: u64) -> Inodes {
        Inodes { by_path: BTreeMap::new(), bytes: 0, most_bytes }
    }

    /// Bytes that all of it takes.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    pub(super) fn knows(&self, path: &[u8]) -> bool {
        self.by_path.contains_key(path)
    }

    pub(super) fn get(&self, path: &[u8]) -> Option<usize> {
        self.by_path.get(path).copied()
    }

    /// A file lies there from now on. Where the path is longer than any that a call can name, nobody finds it again.
    pub(super) fn insert(&mut self, path: Vec<u8>, inode: usize) {
        let bytes = path.len() as u64 + ENTRY_BYTES;
        let is_kept = path.len() <= MOST_PATH_BYTES && self.bytes <= self.most_bytes;
        if is_kept && self.by_path.insert(path, inode).is_none() {
            self.bytes += bytes;
        }
    }

    pub(super) fn remove(&mut self, path: &[u8]) -> Option<usize> {
        let inode = self.by_path.remove(path)?;
        self.bytes = self.bytes.saturating_sub(path.len() as u64 + ENTRY_BYTES);
        Some(inode)
    }

    /// Takes what lies at a path and below it, by the rest of its path.
    pub(super) fn take_below(&mut self, path: &[u8]) -> Vec<(Vec<u8>, usize)> {
        let below = [path, b"/"].concat();
        let keys: Vec<Vec<u8>> = self
            .by_path
            .range(below.clone()..)
            .map(|(key, _)| key)
            .take_while(|key| key.starts_with(&below))
            .cloned()
            .chain(self.knows(path).then(|| path.to_vec()))
            .collect();
        keys.into_iter().filter_map(|key| self.remove(&key).map(|inode| (key[path.len()..].to_vec(), inode))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_lies_below_a_folder_is_taken_with_it_and_all_bytes_are_given_back() {
        let mut inodes = Inodes::within(u64::MAX);
        for (inode, path) in ["a", "a/b", "a/b/c", "ab", "b"].iter().enumerate() {
            inodes.insert(path.as_bytes().to_vec(), inode);
        }
        inodes.insert(b"a/b".to_vec(), 9);
        assert_eq!(inodes.bytes(), 12 + 5 * ENTRY_BYTES);
        let taken = inodes.take_below(b"a");
        assert_eq!(taken, [(b"/b".to_vec(), 9), (b"/b/c".to_vec(), 2), (Vec::new(), 0)]);
        assert_eq!((inodes.get(b"a"), inodes.get(b"ab"), inodes.knows(b"b")), (None, Some(3), true));
        assert_eq!((inodes.remove(b"ab"), inodes.remove(b"b"), inodes.bytes()), (Some(3), Some(4), 0));
        inodes.insert(vec![b'x'; MOST_PATH_BYTES + 1], 1);
        assert_eq!((inodes.bytes(), inodes.take_below(b"").len()), (0, 0));
    }

    #[test]
    fn what_comes_behind_the_bound_takes_no_memory_and_is_seen_to_be_too_much() {
        let mut inodes = Inodes::within(1000);
        (0..100u8).for_each(|inode| inodes.insert(vec![inode; 500], usize::from(inode)));
        assert_eq!((inodes.by_path.len(), inodes.bytes()), (2, 2 * (500 + ENTRY_BYTES)));
    }
}
