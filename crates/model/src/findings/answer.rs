//! The answer of a race, and what was not ranked.

use super::{Level, Settle, is_false};
use crate::sentence::Sentence;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What to do, from the measured results alone.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Answer {
    /// Lanes that no other lane beats anywhere without losing elsewhere; one: a clear winner.
    pub choose: Vec<String>,
    /// What each other lane costs, and where the chosen ones differ.
    pub reasons: Vec<Reason>,
    /// What may be said of several chosen lanes; absent where one was chosen, or a difference between two is named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub level: Option<Level>,
    /// Results with an undecided pair, as titles.
    pub undecided: Vec<String>,
    /// Results with a difference that holds for its own row and not over the whole race ([`Pair::over_race`]), as titles.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unsure: Vec<String>,
    /// Results that could not tell the lanes apart, as titles.
    pub cannot_tell: Vec<String>,
    /// The lanes stand on disks that are held to different limits: a difference may be the disk's.
    #[serde(default, skip_serializing_if = "is_false")]
    pub different_disks: bool,
    /// Other programs disturbed more than half of the trials of what is undecided, where a quiet machine would do more than
    /// further rounds; or of the differences that are named, which a quiet machine may not show.
    #[serde(default, skip_serializing_if = "is_false")]
    pub disturbed: bool,
    /// How much of the work was raced; absent where all of it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reached: Option<Reached>,
    /// Lanes that may not be ranked against the others, each fact once.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not_ranked: Vec<NotRanked>,
    /// On what the lanes were raced, as a sentence: fresh filesystems of a size, a device, directories as they are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub raced: Option<Sentence>,
    /// The disk answers from a cache, or is memory ([`DiskFinding::said`]): figures are that cache's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cached_disk: Option<Sentence>,
    /// What this race did not test.
    pub not_tested: Vec<Sentence>,
    /// The command that is worth running next, after `fairlane`.
    pub next: Vec<String>,
    /// Lanes of that command that this race did not have: beside one that sent direct writes through the page cache, one
    /// of the same filesystem that would not.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub next_adds: Vec<String>,
    /// What should settle what is undecided: computed once, and said alike wherever it is said. Absent where nothing is
    /// undecided, or nobody knows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub settle: Option<Settle>,
}

/// How much of the work was raced.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Reached {
    /// Workloads that have a figure.
    pub workloads: u32,
    /// Workloads that were to be raced.
    pub of: u32,
}

/// One fact that keeps lanes from being ranked against the reference.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct NotRanked {
    /// The lanes that it is true of.
    pub lanes: Vec<String>,
    /// The lane that the others are held against.
    pub against: String,
    /// What is true of them, from the verb on: `promise no crash-safe metadata`.
    pub what: Sentence,
}

/// One decided difference that the answer rests on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Reason {
    /// The slower lane.
    pub lane: String,
    /// The lane it loses to.
    pub against: String,
    /// Title of the workload.
    pub title: String,
    /// Name of the workload.
    pub workload: String,
    /// Group of the workload.
    pub group: String,
    /// lane/against, below 1.
    pub ratio: f64,
    /// What it comes to at least ([`Pair::at_least`]), below 1; absent where only the sign holds over the whole race.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_least: Option<f64>,
    /// The one of the two that sent direct I/O through the page cache, where the other did not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub buffers: Option<String>,
    /// What one of the two did otherwise than the other ([`ResultFinding::acts`]).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub acts: Vec<Sentence>,
}
