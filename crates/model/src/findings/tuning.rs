//! How the proposal of a screening was tuned: races of combinations of levels against the default.

use super::TunedLevel;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How a proposal was tuned.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Tuning {
    /// Its races, in their order; empty: their records do not lie beside the screening's.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub races: Vec<TuningRace>,
    /// It was begun and is not done: nothing is chosen yet.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unfinished: bool,
    /// What it made of the proposal: the options that are not as usual, each with its level. Empty: the proposal stays
    /// as the screening has it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub chosen: Vec<TunedLevel>,
}

/// A race of combinations of levels against the default.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TuningRace {
    /// Name of its record, which lies beside the screening's.
    pub record: String,
    /// Its planned rounds.
    pub rounds: u32,
    /// The combinations: those that go on by their order, then the others.
    pub combinations: Vec<TunedCombination>,
}

/// A combination of levels in a race of tuning.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TunedCombination {
    /// The options that are not as usual, each with its level.
    pub levels: Vec<TunedLevel>,
    /// Geometric mean of its figures beside the default's; above 1 it is better. Absent: it lacks one of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mean: Option<f64>,
    /// The worst of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worst: Option<f64>,
    /// What became of it.
    pub fate: TunedFate,
}

/// What became of a combination in a race of tuning.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TunedFate {
    /// It is the best of the last race.
    Chosen,
    /// It is one of the better half, and goes on to the next race.
    GoesOn,
    /// It is not, or tuning ended before another race and another one was chosen.
    Dropped,
    /// The race is not over.
    Open,
}
