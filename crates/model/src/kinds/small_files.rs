//! Many small files: created, read cold, deleted.

use super::{Demand, READ_AHEAD_BYTES, Schedule, Traffic, WorkloadKind};
use crate::Bytes;
use crate::findings::Counts;
use crate::operations::Sharing;
use crate::ranks::Clients;
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
    /// Whether over MPI all ranks work in the same directories.
    #[serde(default, skip_serializing_if = "is_private")]
    pub sharing: Sharing,
}

fn default_directories() -> u64 {
    1
}

// serde hands a reference to `skip_serializing_if`.
#[allow(clippy::trivially_copy_pass_by_ref)]
fn is_private(sharing: &Sharing) -> bool {
    *sharing == Sharing::Private
}

/// Files that nine digits tell apart.
const MOST_NAMES: u64 = 1_000_000_000;

impl SmallFiles {
    /// What is wrong with the work for clients who share directories, as one sentence with the remedy.
    ///
    /// # Errors
    /// The sentence.
    pub fn check_clients(&self, clients: Clients) -> Result<(), String> {
        let all = self.files.saturating_mul(u64::from(clients.of));
        if self.sharing == Sharing::Private || all <= MOST_NAMES {
            return Ok(());
        }
        let (files, of) = (self.files, clients.of);
        Err(format!(
            "{files} files of each of {of} ranks are more than their names tell apart ({MOST_NAMES}); lower files, or set \
             sharing = \"private\""
        ))
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clients_who_share_directories_have_names_of_nine_digits() {
        let of = |sharing: Sharing, clients: u32| {
            let small = SmallFiles { files: 1_000_000, size: Bytes(1), directories: 1, sharing };
            small.check_clients(Clients { of: clients, ..Clients::ALONE })
        };
        assert_eq!((of(Sharing::Shared, 1000), of(Sharing::Private, 1001)), (Ok(()), Ok(())));
        assert!(of(Sharing::Shared, 1001).unwrap_err().contains("lower files"));
    }
}
