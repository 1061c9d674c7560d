//! A screening: the options of one filesystem as the factors of a designed experiment, whose runs are the lanes of a race.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Most factors of a screening: columns of the largest design (Plackett and Burman 1946, 24 runs).
pub const MOST_FACTORS: usize = 23;
/// An effect whose interval lies within this share does not matter.
pub const EFFECT_MARGIN: f64 = 0.03;

/// What a screening races, kept in the plan of its race. The race's lanes are its runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Screening {
    /// The lane that is screened, as it was typed: `xfs`.
    pub base: String,
    /// What the lanes are runs of.
    pub design: DesignKind,
    /// What differs between lanes, in the order of the design's columns; 1 to [`MOST_FACTORS`].
    pub factors: Vec<Factor>,
    /// One per lane of the plan, in its order. The first is the default: no factor is at its other level.
    pub runs: Vec<ScreeningRun>,
    /// Options that were to be screened and are not.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<LeftOutOption>,
}

/// A lane of a screening.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ScreeningRun {
    /// Name of the lane.
    pub lane: String,
    /// For each factor whether it is at its other level.
    pub at_other: Vec<bool>,
}

/// A design.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum DesignKind {
    /// Every combination of the levels.
    FullFactorial,
    /// Plackett and Burman's, and each of its runs again with all levels turned (fold-over): effects are clear of interactions
    /// of two factors.
    FoldedPlackettBurman,
}

/// An option with two levels.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Factor {
    /// What it is called: `logbsize`; unique in a screening.
    pub name: String,
    /// The level of the default lane.
    pub usual: OptionLevel,
    /// The other level.
    pub other: OptionLevel,
    /// Levels that the screening leaves to tuning.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub further: Vec<OptionLevel>,
    /// What the other level changes beside speed.
    #[serde(default)]
    pub class: OptionClass,
    /// What the other level costs, in a few words; empty: nothing that is known.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub costs: String,
}

/// A level of an option.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OptionLevel {
    /// As it is shown: `256k`, `on`.
    pub label: String,
    /// Words for mkfs: a flag and its value in turns, or flags alone; empty: none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub mkfs: Vec<String>,
    /// Options for mount; empty: none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub mount: Vec<String>,
    /// Settings of the block device's queue, as layer `queue` takes them: `scheduler=none`; empty: none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub queue: Vec<String>,
}

/// What an option changes beside speed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum OptionClass {
    /// Nothing that a program relies on.
    #[default]
    Ordinary,
    /// What is promised after a power cut, or of what is read back: it is never proposed.
    Promises,
}

/// An option that is not screened, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LeftOutOption {
    /// The option with its level: `bigalloc on`.
    pub option: String,
    /// Why, as a sentence without a full stop: `mkfs.ext4 refuses it: …`.
    pub why: String,
}
