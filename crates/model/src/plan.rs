//! What a race will do, decided before anything is written.

use crate::Bytes;
use crate::lane::LaneSpec;
use crate::workload::Workload;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a race will do; kept in the record's header, so that it can be run again and resumed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Plan {
    /// Name of the suite.
    pub suite: String,
    /// What the suite leaves out.
    #[serde(default)]
    pub not_tested: Vec<String>,
    /// A first answer: the width condition of methods section 2 falls.
    pub first_answer: bool,
    /// The article's own method, run once (`--as-published`).
    #[serde(default, skip_serializing_if = "is_false")]
    pub as_published: bool,
    /// A filesystem against itself, to know the machine's noise (`fairlane calibrate`).
    #[serde(default, skip_serializing_if = "is_false")]
    pub calibration: bool,
    /// The contestants in the order of the command line.
    pub lanes: Vec<LaneSpec>,
    /// The first lane runs twice.
    pub with_self: bool,
    /// The workloads in racing order.
    pub workloads: Vec<Workload>,
    /// How many rounds.
    pub rounds: Rounds,
    /// Tie margin as a share: 0.05.
    pub margin: f64,
    /// Seconds of racing; `None`: as many as the rounds take.
    pub budget_seconds: Option<f64>,
    /// Size of each lane.
    pub lane_size: Bytes,
    /// The disk that every lane's device is held to (`--throttle`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub throttle: Option<crate::Throttle>,
    /// Seed of every order, offset and byte.
    pub seed: u64,
    /// Where the lanes live.
    pub on: Ground,
    /// The command line that runs this race again.
    pub command_line: Vec<String>,
}

/// How many rounds a workload runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Rounds {
    /// Until decided, looked at after 6, 8, 10, 14 and 20.
    Auto,
    /// Exactly so many, one look at the end.
    Fixed(u32),
}

/// Where lanes without a venue of their own live.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Ground {
    /// Image files in this directory, side by side.
    Images(std::path::PathBuf),
    /// One block device, in turns.
    Device(std::path::PathBuf),
}

/// The looks of an adaptive race, in rounds (methods section 2).
pub const LOOKS: [u32; 5] = [6, 8, 10, 14, 20];

// serde hands a reference to `skip_serializing_if`.
#[allow(clippy::trivially_copy_pass_by_ref)]
fn is_false(value: &bool) -> bool {
    !*value
}
