//! What the ranks of an MPI job did each by itself.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One group of one workload, done by the ranks of a job (method 10).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RanksFinding {
    /// Name of the workload.
    pub workload: String,
    /// What a person calls it.
    pub title: String,
    /// Name of the group.
    pub group: String,
    /// One per lane that has figures of ranks.
    pub rows: Vec<RanksRow>,
}

/// What the ranks did in one lane. Figures are medians over rounds, each by itself.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RanksRow {
    /// Name of the lane.
    pub lane: String,
    /// How many ranks worked.
    pub ranks: u32,
    /// Machines that they were on.
    pub nodes: u32,
    /// Rounds that count.
    pub rounds: u32,
    /// Operations per second of whichever rank was the slowest of its round.
    pub lowest_operations_per_second: f64,
    /// Mean of all ranks.
    pub mean_operations_per_second: f64,
    /// Of whichever was the fastest.
    pub highest_operations_per_second: f64,
    /// Standard deviation of the ranks' operations per second as a share of their mean.
    pub spread: f64,
    /// Seconds from the first rank's start to the last one's, all windows of a round together.
    pub start_spread_seconds: f64,
    /// Seconds from the common start to when the first rank was done.
    pub first_done_seconds: f64,
    /// The same of the last rank.
    pub last_done_seconds: f64,
    /// What networks of their machines carried; absent: there is one machine and hardly anything, or it is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub network: Option<NetworkUse>,
    /// The rank that stays far behind; absent: no one can be told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub straggler: Option<Straggler>,
}

/// What network interfaces of all machines together carried while ranks worked, of all programs: medians over rounds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct NetworkUse {
    /// Bytes received per second.
    pub received_bytes_per_second: f64,
    /// Bytes sent per second.
    pub sent_bytes_per_second: f64,
}

/// A rank that was the slowest in so many rounds, and so far behind, that chance hardly makes it (method 10.2).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Straggler {
    /// Its number, from 0.
    pub rank: u32,
    /// Number of its node, from 0 in the order of the ranks.
    pub node: u32,
    /// Rounds in which it was the slowest, and far behind.
    pub rounds: u32,
    /// Of how many.
    pub of: u32,
    /// How far it was below the mean of the other ranks, as a share: the median of those rounds.
    pub below: f64,
}
