//! What the layers and disks below a filesystem cost.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a lane's layers, or its several disks, cost in the whole race (method 3.8).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LayerCost {
    /// Name of the lane.
    pub lane: String,
    /// What its filesystem stands on: `raid5:3 on 3 disks`.
    pub stands_on: String,
    /// Bytes of all its disks; 0: not known.
    pub disk_bytes: u64,
    /// Bytes below the filesystem; absent where the filesystem joins the disks itself, and where it is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usable_bytes: Option<u64>,
    /// Bytes written at all disks per byte that the application wrote, over all trials that count; absent: it wrote
    /// nothing, or the counters are missing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub written_per_byte: Option<f64>,
    /// The part of `written_per_byte` of each disk, in the lane's order; empty: one disk, or not known.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub written_by_disk: Vec<f64>,
    /// The same lane of this race on one disk and without layers; absent: none was raced.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub beside: Option<String>,
    /// `written_per_byte` of that lane in the same work.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub written_beside: Option<f64>,
    /// CPU of the whole system per operation, as a multiple of that lane's: the geometric mean over `rows`. No interval.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_times: Option<f64>,
    /// Rows of figures in which both spent a measurable CPU time.
    pub rows: u32,
}
