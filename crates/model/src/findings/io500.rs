//! IO500's score of the lanes of a race that did its phases.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Seconds that the rules of IO500 ask of each phase that writes (its stonewall).
pub const IO500_STONEWALL_SECONDS: f64 = 300.0;

/// What a phase of IO500 counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Io500Kind {
    /// GiB/s.
    Bandwidth,
    /// Thousands of operations per second.
    Metadata,
}

/// The phases that count, in the order in which IO500 runs them.
pub const IO500_PHASES: [(&str, Io500Kind); 12] = [
    ("ior-easy-write", Io500Kind::Bandwidth),
    ("mdtest-easy-write", Io500Kind::Metadata),
    ("ior-hard-write", Io500Kind::Bandwidth),
    ("mdtest-hard-write", Io500Kind::Metadata),
    ("find", Io500Kind::Metadata),
    ("ior-easy-read", Io500Kind::Bandwidth),
    ("mdtest-easy-stat", Io500Kind::Metadata),
    ("ior-hard-read", Io500Kind::Bandwidth),
    ("mdtest-hard-stat", Io500Kind::Metadata),
    ("mdtest-easy-delete", Io500Kind::Metadata),
    ("mdtest-hard-read", Io500Kind::Metadata),
    ("mdtest-hard-delete", Io500Kind::Metadata),
];

/// What a lane did in the phases of IO500.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Io500Finding {
    /// Name of the lane.
    pub lane: String,
    /// In the order of IO500; those without a figure are left out.
    pub phases: Vec<Io500Phase>,
    /// Absent where no round has figures of all phases.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub score: Option<Io500Score>,
}

impl Io500Finding {
    /// Whether its phases keep to the rules of IO500 as far as figures tell: each was done, and those that write took as long
    /// as the rules ask.
    pub fn is_valid(&self) -> bool {
        self.score.is_some() && !self.phases.iter().any(Io500Phase::is_too_short)
    }

    /// Names of the phases without a figure.
    pub fn missing(&self) -> impl Iterator<Item = &'static str> {
        let is_there = |name: &str| self.phases.iter().any(|phase| phase.name == name);
        IO500_PHASES.into_iter().map(|(name, _)| name).filter(move |name| !is_there(name))
    }
}

/// One phase.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Io500Phase {
    /// As IO500 calls it.
    pub name: String,
    /// What its figure counts.
    pub counts: Io500Kind,
    /// Mean over rounds, in GiB/s or thousands of operations per second.
    pub figure: f64,
    /// Seconds that were measured in the shortest round.
    pub seconds: f64,
    /// It read more in a round than its files hold, through the page cache: in part it is a figure of memory.
    #[serde(default, skip_serializing_if = "super::is_false")]
    pub read_again: bool,
    /// Rounds with a figure.
    pub rounds: u32,
}

impl Io500Phase {
    /// Whether it wrote for less time than the rules of IO500 ask.
    pub fn is_too_short(&self) -> bool {
        self.name.ends_with("-write") && self.seconds < IO500_STONEWALL_SECONDS
    }
}

/// The score: one number in each round, put together as any other figure is.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Io500Score {
    /// Geometric mean over rounds of the root of the two figures' product.
    pub score: f64,
    /// 95 % interval of this lane alone; absent with fewer than two rounds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub low: Option<f64>,
    /// See `low`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub high: Option<f64>,
    /// Geometric mean of the four bandwidths, over rounds, in GiB/s.
    pub bandwidth: f64,
    /// Geometric mean of the eight rates of names, over rounds, in thousands of operations per second.
    pub metadata: f64,
    /// Rounds that have all phases.
    pub rounds: u32,
}
