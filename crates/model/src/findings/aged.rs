//! What their past did to lanes.

use crate::aged::AgedLane;
use crate::findings::Verdict;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A lane with a past, beside the same lane without (method 8.6).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AgedFinding {
    /// Name of the lane.
    pub lane: String,
    /// How old it is.
    pub facts: AgedLane,
    /// The same lane of this race, fresh; absent: none was raced.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub beside: Option<String>,
    /// One per result in which both have a figure.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rows: Vec<AgedRow>,
}

/// What a lane does aged, as a multiple of what it does fresh.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AgedRow {
    /// The work, with its group where it has several.
    pub title: String,
    /// Aged/fresh of rates and fresh/aged of times, so that below 1 age made it slower.
    pub ratio: f64,
    /// Interval at the confidence of the look.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub low: Option<f64>,
    /// See `low`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub high: Option<f64>,
    /// Of the aged lane against the fresh one.
    pub verdict: Verdict,
}

/// Two filesystems of one past each, compared fresh and aged.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AgedRanks {
    /// Pairs of lanes in rows that were decided both fresh and aged, ties among them.
    pub decided: u32,
    /// Pairs in rows that could have been, and were not decided fresh, aged or both.
    pub open: u32,
    /// Those of which the other one is better aged.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub flips: Vec<AgedFlip>,
    /// Pairs of lanes of one past that are left out, because their files do not make them equally full.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub unequal: u32,
}

// serde hands a reference to `skip_serializing_if`.
#[allow(clippy::trivially_copy_pass_by_ref)]
fn is_zero(count: &u32) -> bool {
    *count == 0
}

/// A rank that flips with age.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AgedFlip {
    /// The work, with its group where it has several.
    pub title: String,
    /// The lane that does better of the two fresh ones, then the other.
    pub fresh: [String; 2],
    /// The lane that does better of the two aged ones, then the other.
    pub aged: [String; 2],
}
