//! What a lane promises: what decides whether two lanes' speeds may be ranked.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a lane promises: what decides whether two lanes' speeds may be ranked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Promises {
    /// Metadata survives a crash without a full check: a journal, a log or copy-on-write.
    pub journal: bool,
    /// Data is checksummed.
    pub data_checksums: bool,
    /// `fsync` returns only after the data was handed to the device as stable.
    pub fsync_reaches_stable_storage: bool,
    /// Writes are ordered with flushes on the way to stable storage.
    pub barriers: bool,
    /// What was made durable does not go with the disk of a cache: none stands under the filesystem, or it keeps nothing that
    /// the disk behind it lacks.
    #[serde(default = "yes", skip_serializing_if = "is_yes")]
    pub outlives_cache: bool,
}

fn yes() -> bool {
    true
}

fn is_yes(is: &bool) -> bool {
    *is
}

impl Promises {
    /// The durability promises in which two lanes differ, as words; empty: their speeds may be
    /// ranked. Data checksums are a feature that costs time by design, as copy-on-write is: they
    /// are named beside a verdict and do not void it.
    pub fn durability_differences(&self, other: &Promises) -> Vec<&'static str> {
        let pairs = [
            (self.journal, other.journal, "crash-safe metadata"),
            (self.fsync_reaches_stable_storage, other.fsync_reaches_stable_storage, "fsync reaches stable storage"),
            (self.barriers, other.barriers, "write barriers"),
            (self.outlives_cache, other.outlives_cache, "fsync outlives a cache's disk"),
        ];
        pairs.into_iter().filter(|(a, b, _)| a != b).map(|(_, _, name)| name).collect()
    }
}
