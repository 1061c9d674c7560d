//! Findings about file operations: one table for each workload of them.

use crate::sentence::Sentence;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A workload of file operations as one table.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct OperationsFinding {
    /// Name of the workload.
    pub workload: String,
    /// What a person calls it.
    pub title: String,
    /// The lane that the others are held against: the first filesystem on a disk that may get a
    /// verdict against another one.
    pub reference: String,
    /// The lane in memory that shows what the system calls alone cost.
    pub floor: Option<String>,
    /// Rounds in which every lane did the work.
    pub rounds: u32,
    /// How often a round does every step; a figure of a round is the median of so many.
    pub passes: u32,
    /// One per step, section by section in the order in which sections first occur.
    pub rows: Vec<OperationRow>,
    /// One per lane: the reference, the other filesystems on disks, what stands beside them.
    pub totals: Vec<OperationTotal>,
    /// One per pair of lanes, in the order of the totals: `b` is the one that comes first there, so
    /// that every pair with the reference is held against it.
    pub pairs: Vec<OperationsPair>,
    /// Of the time of all steps and lanes the share that starting processes took, where each
    /// operation was a process of its own.
    pub process_startup_share: Option<f64>,
    /// What a reader should know of this workload's rounds, gathered over its steps.
    pub warnings: Vec<Sentence>,
}

/// One step of file operations across the lanes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct OperationRow {
    /// The section that it belongs to; empty: none.
    pub section: String,
    /// Name of the group; the result of the same workload and group holds the verdicts.
    pub group: String,
    /// What was done: `create`, `random-read`, …
    pub operation: String,
    /// One per lane.
    pub figures: Vec<OperationFigure>,
}

/// One lane's figures of one step. Times are of the whole step, its charged sync included.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct OperationFigure {
    /// Name of the lane.
    pub lane: String,
    /// Geometric mean over rounds; absent where the lane has no figure.
    pub seconds: Option<f64>,
    /// 95 % interval of this lane alone; absent with fewer than two rounds.
    pub low: Option<f64>,
    /// 95 % interval of this lane alone.
    pub high: Option<f64>,
    /// Of the seconds those of the charged sync, median over rounds.
    pub sync_seconds: Option<f64>,
    /// Operations of one round.
    pub operations: u64,
    /// Bytes that the application moved in one round; 0: the operation moves none.
    pub bytes: u64,
    /// Operations by seconds.
    pub operations_per_second: Option<f64>,
    /// Bytes by seconds, where bytes were moved.
    pub bandwidth_bytes_per_second: Option<f64>,
    /// The floor lane's time by this lane's: the share that the system calls alone would take.
    /// Above 1 the lane needs less than the system calls do.
    pub floor_share: Option<f64>,
    /// The share of the time that starting processes took, where each operation was one.
    pub process_startup_share: Option<f64>,
    /// Why there is no figure, where there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<Sentence>,
}

/// What one lane took in all.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct OperationTotal {
    /// Name of the lane.
    pub lane: String,
    /// Sum over the steps that every lane with figures did; absent where there is none.
    pub seconds: Option<f64>,
    /// How many steps that are.
    pub steps: u32,
    /// The sync after the work, of what no step was charged for; median over rounds.
    pub sync_seconds: Option<f64>,
    /// The unmount after it, median over rounds.
    pub unmount_seconds: Option<f64>,
}

/// Two lanes over all steps of a workload of file operations.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct OperationsPair {
    /// The lane that is judged.
    pub a: String,
    /// The lane it is judged against.
    pub b: String,
    /// Geometric mean of the steps' ratios, above 1 where `a` does better. Steps in which Fairlane
    /// itself was measured are left out.
    pub geometric_mean: Option<f64>,
    /// Steps whose ratio is in it.
    pub steps: u32,
    /// Steps in which `a` is faster by verdict.
    pub wins: u32,
    /// Steps in which they tie by verdict.
    pub ties: u32,
    /// Steps in which `a` is slower by verdict.
    pub losses: u32,
    /// Steps whose interval is still too wide.
    pub undecided: u32,
    /// Steps with a ratio that can have no verdict.
    pub without_verdict: u32,
    /// Why, where all of those share the reason.
    pub why: Option<Sentence>,
}
