//! What a machine's noise is: a filesystem raced against itself.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What `fairlane calibrate` found on a machine: how often equal lanes are called different, how much
/// figures scatter, and what can be resolved.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Calibration {
    /// When its race began, RFC 3339.
    pub started: String,
    /// Its kernel's release.
    pub kernel: String,
    /// The suite.
    pub suite: String,
    /// The filesystem that raced against itself, as written on a command line.
    pub lane: String,
    /// Bytes of each lane.
    pub lane_bytes: u64,
    /// Differences below this share are a tie: 0.05.
    pub margin: f64,
    /// How the races between equal lanes ended, over all results.
    pub races: EqualRaces,
    /// One for each group of each workload.
    pub results: Vec<CalibratedResult>,
    /// Titles of the workloads of the race that quotes it which it did not do, or did in another way: of
    /// them it says nothing, and its results are those of the others alone.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not_covered: Vec<String>,
}

/// How races between equal lanes ended, the rounds of a calibration being cut into as many races, one
/// after the other, as they are enough for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct EqualRaces {
    /// Races.
    pub races: u32,
    /// Called `faster` or `slower`: false.
    pub called_different: u32,
    /// Called a tie: right.
    pub ties: u32,
    /// Neither.
    pub undecided: u32,
    /// Lower end of the 95 % interval of the share called different (Clopper and Pearson 1934), of as many
    /// races as these are worth.
    pub low: f64,
    /// Its upper end; 1 where there were no races.
    pub high: f64,
    /// Independent races that these are worth at the least, however alike the results of one workload
    /// are, whose races share their rounds; absent: each is independent of the others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worth: Option<f64>,
}

/// One group of one workload.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CalibratedResult {
    /// Name of the workload.
    pub workload: String,
    /// As a person reads it.
    pub title: String,
    /// Name of the group.
    pub group: String,
    /// The figure that scatters: `operations_per_second`.
    pub metric: String,
    /// Rounds in which both lanes have a figure.
    pub rounds: u32,
    /// Standard deviation of ln(a/b) from round to round; `None` for fewer than three rounds.
    pub deviation: Option<f64>,
    /// Lag-1 correlation of ln(a/b) from round to round, corrected for its bias.
    pub lag1: Option<f64>,
    /// Geometric mean of a/b: 1 but for noise.
    pub ratio: Option<f64>,
    /// Seconds that a round took with both lanes, all phases included.
    pub seconds_per_round: Option<f64>,
    /// How its races ended.
    pub races: EqualRaces,
    /// The smallest difference that a race of this suite probably tells from none.
    pub resolves: Vec<Resolution>,
}

/// What a race of two lanes resolves in a time.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Resolution {
    /// Minutes for the whole suite, shared equally between its workloads.
    pub minutes: f64,
    /// The smallest difference, as a share, that is found with a probability of 0.8; `None` where not
    /// even the first look is reached.
    pub difference: Option<f64>,
}
