//! Many small files: created, read cold, deleted.

use super::{Demand, READ_AHEAD_BYTES, Schedule, Traffic, WorkloadKind};
use crate::Bytes;
use crate::findings::Counts;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Create, read cold, delete many small files. Creating and deleting include their `syncfs`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SmallFiles {
    /// Number of files.
    pub files: u64,
    /// Bytes per file.
    pub size: Bytes,
    /// Directories that share the files evenly.
    #[serde(default = "default_directories")]
    pub directories: u64,
}

fn default_directories() -> u64 {
    1
}

impl WorkloadKind for SmallFiles {
    fn groups(&self) -> Vec<String> {
        ["create", "read", "delete"].map(str::to_owned).to_vec()
    }

    fn check(&self) -> Result<(), String> {
        let fail = |what: &str| Err(what.to_owned());
        if self.files == 0 || self.files > 100_000_000 {
            return fail("files must lie between 1 and 100000000");
        }
        if self.directories == 0 || self.directories > self.files {
            return fail("directories must lie between 1 and files");
        }
        if self.size.0 > 64 * Bytes::MIB {
            return fail("size is above 64MiB; lower it");
        }
        Ok(())
    }

    fn schedule(&self) -> Schedule<'_> {
        Schedule::Phases { in_parts: true }
    }

    // An inode and a directory entry beside each file's own block.
    fn working_set_bytes(&self) -> u64 {
        self.files.saturating_mul(self.size.0.div_ceil(4096).saturating_mul(4096).saturating_add(1024))
    }

    // Written once and read once; made, read and removed.
    fn traffic(&self) -> Traffic {
        let bytes = 2.0 * self.working_set_bytes() as f64;
        Traffic { bytes, requests: 3.0 * self.files as f64 + bytes / READ_AHEAD_BYTES }
    }

    fn demand(&self) -> Demand {
        let files = self.files as f64;
        let bytes = files * (self.size.get().div_ceil(4096) as f64 * 4096.0);
        Demand {
            changes: 2.0 * files,
            cold_files: files,
            moved_bytes: bytes,
            written_bytes: bytes,
            remounts: 1.0,
            ..Demand::default()
        }
    }

    fn begins_cold(&self, group: &str) -> bool {
        group == "read"
    }

    fn has_an_end(&self) -> bool {
        true
    }

    fn counts(&self, _: &str) -> Counts {
        Counts::Files
    }
}
