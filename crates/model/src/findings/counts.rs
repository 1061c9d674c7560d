//! What a rate counts.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What one of the operations of a rate is, in the words of its question.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Counts {
    /// Operations of any kind.
    #[default]
    Operations,
    /// Requests of block I/O: IOPS.
    Requests,
    /// Writes that each end in a flush.
    Commits,
    /// Files.
    Files,
    /// Directories.
    Directories,
    /// Transactions of a database.
    Transactions,
    /// Files so large that their bytes per second say more.
    Bytes,
}

impl Counts {
    /// Whether nothing more is known.
    // serde hands a reference to `skip_serializing_if`.
    #[allow(clippy::trivially_copy_pass_by_ref)]
    pub fn is_operations(&self) -> bool {
        *self == Counts::Operations
    }
}
