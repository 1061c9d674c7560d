//! What was seen of a group's files outside of its windows: how much of them lies in the page cache, and how they are kept.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How much of the files of direct I/O lay in the page cache (cachestat(2), or mincore(2) before Linux 6.5). Only the
/// files of the work are looked at, so that no other program shows in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct CachedFiles {
    /// Bytes of all files that the group works on.
    pub file_bytes: u64,
    /// Bytes of those that were looked at: at most 64 files, spread evenly.
    pub looked_bytes: u64,
    /// Bytes of these that lay in the page cache before the work, after the kernel was asked to let go of them.
    pub before_bytes: u64,
    /// Bytes of these that lay there after a window; the most of all windows.
    pub after_bytes: u64,
    /// Direct writes of a block that were watched, one by one, when all the work was done and nothing was measured.
    #[serde(skip_serializing_if = "is_zero")]
    pub watched_writes: u32,
    /// Of these: pages of the block were seen in the page cache (mincore(2)) while it was written or afterwards.
    #[serde(skip_serializing_if = "is_zero")]
    pub cached_writes: u32,
}

// serde hands a reference to `skip_serializing_if`.
#[allow(clippy::trivially_copy_pass_by_ref)]
fn is_zero(count: &u32) -> bool {
    *count == 0
}

impl CachedFiles {
    /// Takes what a later window left.
    pub fn add(&mut self, later: &CachedFiles) {
        let after = self.after_bytes.max(later.after_bytes);
        *self = CachedFiles { after_bytes: after, before_bytes: self.before_bytes, ..*later };
    }

    /// Of the direct writes that were watched the share that passed the page cache; `None`: none was watched.
    pub fn watched_share(&self) -> Option<f64> {
        (self.watched_writes > 0).then(|| f64::from(self.cached_writes) / f64::from(self.watched_writes))
    }

    /// Bytes left in the page cache per byte of the files that so many bytes of I/O touched at most, 0 to 1. 1 where
    /// the kernel could not let go of the files before: they live there. `None`: nothing can be told.
    pub fn share(&self, moved_bytes: u64) -> Option<f64> {
        if self.looked_bytes == 0 || self.file_bytes == 0 {
            return None;
        }
        if 2 * self.before_bytes >= self.looked_bytes {
            return Some(1.0);
        }
        // Of what was moved as much falls to the files that were looked at as they are of all.
        let part = self.looked_bytes as f64 / self.file_bytes as f64;
        let touched = (moved_bytes as f64 * part).min(self.looked_bytes as f64);
        let left = self.after_bytes.saturating_sub(self.before_bytes) as f64;
        (touched > 0.0).then(|| (left / touched).min(1.0))
    }
}

/// How a filesystem keeps some of a group's files (FIEMAP): counts of at most 16 files, spread evenly.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct KeptFiles {
    /// Files that were looked at and of which the filesystem tells.
    pub files: u32,
    /// Of these: their data lies within metadata (`FIEMAP_EXTENT_DATA_INLINE`).
    pub inline_files: u32,
    /// Of these: half and more of their bytes are compressed (`FIEMAP_EXTENT_ENCODED`, not encrypted).
    pub compressed_files: u32,
    /// Of these: their data shares a block with that of other files (`FIEMAP_EXTENT_DATA_TAIL`).
    pub tail_files: u32,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(looked_bytes: u64, before_bytes: u64, after_bytes: u64) -> CachedFiles {
        CachedFiles { file_bytes: 1000, looked_bytes, before_bytes, after_bytes, ..CachedFiles::default() }
    }

    #[test]
    fn the_share_is_that_of_what_was_touched() {
        assert_eq!(seen(1000, 0, 0).share(500), Some(0.0));
        assert_eq!(seen(1000, 0, 250).share(500), Some(0.5));
        // More than the files hold was moved, and read ahead lies there too.
        assert_eq!(seen(1000, 0, 1000).share(50_000), Some(1.0));
        assert_eq!(seen(1000, 0, 800).share(400), Some(1.0));
        // Half of the files were looked at, so half of the bytes fall to them.
        assert_eq!(seen(500, 0, 100).share(400), Some(0.5));
        // What lay there before is nobody's doing.
        assert_eq!(seen(1000, 100, 150).share(500), Some(0.1));
        assert_eq!(seen(1000, 400, 300).share(500), Some(0.0));
    }

    #[test]
    fn files_that_cannot_leave_the_cache_live_there_and_of_no_files_nothing_is_told() {
        assert_eq!(seen(1000, 1000, 1000).share(500), Some(1.0));
        assert_eq!(seen(0, 0, 0).share(500), None);
        assert_eq!(seen(1000, 0, 0).share(0), None);
        assert_eq!(CachedFiles::default().share(1), None);
    }

    #[test]
    fn the_most_of_all_windows_is_kept() {
        let mut sum = seen(1000, 10, 300);
        sum.add(&seen(1000, 10, 700));
        sum.add(&seen(1000, 10, 500));
        assert_eq!(sum, seen(1000, 10, 700));
    }
}
