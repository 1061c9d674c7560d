//! What more ranks of an MPI job bring.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One group of work that was raced by growing numbers of ranks (method 10.3).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LadderFinding {
    /// What a person calls the work, however many do it.
    pub title: String,
    /// Name of the group; empty: the work has one.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub group: String,
    /// `operations/s` or `B/s`.
    pub unit: String,
    /// One per lane that has figures of two numbers of ranks and more.
    pub lanes: Vec<LadderLane>,
}

/// One lane on a ladder.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LadderLane {
    /// Name of the lane.
    pub lane: String,
    /// From the fewest ranks to the most; those without a figure are left out.
    pub rows: Vec<LadderRow>,
    /// Where more ranks bring less than half of what they should.
    pub scaling: Scaling,
}

/// What so many ranks did together.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LadderRow {
    /// How many.
    pub ranks: u32,
    /// Machines that they were on.
    pub nodes: u32,
    /// Geometric mean over rounds; arithmetic, and without an interval, where the lane stood still in some.
    pub mean: f64,
    /// 95 % interval of this lane alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub low: Option<f64>,
    /// See `low`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub high: Option<f64>,
    /// Rounds that count.
    pub rounds: u32,
    /// What the ranks brought that the row before does not have; absent in the first row, and where it is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub share: Option<LadderShare>,
}

/// What added ranks brought, as a share of what as many of those before did: 1 as much, 0 nothing.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LadderShare {
    /// The share.
    pub share: f64,
    /// Its interval, which holds with 95 % together with those of all others of the race.
    pub low: f64,
    /// See `low`.
    pub high: f64,
}

/// Whether more ranks bring half of what they should.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "is", rename_all = "kebab-case")]
pub enum Scaling {
    /// They surely bring less than half at this step.
    Bends {
        /// So many ranks.
        from: u32,
        /// And so many.
        to: u32,
        /// The share is surely no larger.
        at_most: f64,
        /// It may bend at a step before already.
        perhaps_before: bool,
    },
    /// They surely bring at least half at every step.
    Straight,
    /// It is not known of every step.
    Open,
}
