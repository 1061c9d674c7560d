//! What the layers and disks below a filesystem cost.

use crate::record::Profile;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a lane's layers, or its several disks, cost in the whole race (method 3.9).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LayerCost {
    /// Name of the lane.
    pub lane: String,
    /// What its filesystem stands on: `raid5:3 on 3 disks`.
    pub stands_on: String,
    /// Bytes of all its disks; 0: not known, as of disks that may differ.
    pub disk_bytes: u64,
    /// Bytes below the filesystem; absent where the filesystem joins the disks itself, and where it is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usable_bytes: Option<u64>,
    /// Bytes written at all disks per byte that the application wrote, the geometric mean over rows of figures; absent: none
    /// has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub written_per_byte: Option<f64>,
    /// The part of `written_per_byte` of each disk, in the lane's order; empty: one disk, or not known.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub written_by_disk: Vec<f64>,
    /// The same lane of this race on one disk and without layers; absent: none was raced.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub beside: Option<String>,
    /// `written_per_byte` of that lane in the same rows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub written_beside: Option<f64>,
    /// CPU of the whole system per operation, as a multiple of that lane's: the geometric mean over `rows`. No interval.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_times: Option<f64>,
    /// The least and the most of those multiples.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_times_range: Option<(f64, f64)>,
    /// What its layers did without a filesystem, once before the rounds; empty: it has none, or nobody looked.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub without_filesystem: Vec<LayerSpeed>,
    /// How fast they are so, as a multiple of a bare disk: the geometric mean over what was looked at of both. No interval.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub of_a_bare_disk: Option<f64>,
    /// Rows of figures in which both spent a measurable CPU time, those left out whose limit was Fairlane itself.
    pub rows: u32,
}

/// How fast layers are without a filesystem, beside a bare disk.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LayerSpeed {
    /// The workload whose block size and depth it has.
    pub workload: String,
    /// What was done.
    pub profile: Profile,
    /// Operations per second of the layers, the median over slices.
    pub operations_per_second: f64,
    /// The same of one bare disk before the first round, the median over the disks that were looked at; absent: none was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bare_operations_per_second: Option<f64>,
}
