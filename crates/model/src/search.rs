//! The search for the largest number of writers that a lane sustains (`race --find-max`).

use crate::trial::Trial;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A search is planned instead of a race.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FindMax {
    /// When a lane sustains its writers.
    pub criterion: Criterion,
    /// More writers than this are not tried.
    pub most_writers: u32,
    /// A pass ends where the smallest number that was too many is at most so much above the largest that was
    /// not, as a share: 0.1.
    pub resolution: f64,
}

/// When a lane sustains its writers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Criterion {
    /// The 99th percentile of lateness is below one period, and the backlog does not grow.
    #[default]
    Lateness,
    /// The load average is at most the number of CPUs: the article's. Of each step it is the kernel's own number of
    /// tasks that run or wait in the kernel, averaged as the kernel does for its mean of one minute, over the step's
    /// window alone.
    Load,
}

/// One step of a search: one lane with so many writers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SearchStep {
    /// Which search for the lane's maximum it belongs to, from 1: passes are the replicates.
    pub pass: u32,
    /// Which step of that pass, from 1.
    pub number: u32,
    /// Writers of this step.
    pub writers: u32,
    /// What came of it when it was recorded; the statistics look at `trial` again.
    pub outcome: StepOutcome,
    /// What was measured; its round is the pass, its attempt the step.
    pub trial: Box<Trial>,
    /// The same writers without a filesystem, right after a step that was not sustained, where no other step had
    /// told yet whether Fairlane and the machine themselves carry so many.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub without_filesystem: Option<Box<Trial>>,
}

/// What came of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum StepOutcome {
    /// The lane carries so many.
    Sustained,
    /// The 99th percentile of lateness reached a period.
    Late,
    /// The backlog grew.
    Backlog,
    /// The load average was above the number of CPUs.
    Load,
    /// One of these, and it was Fairlane and the scheduler that gave way: most of the lateness was their own, or so
    /// many writers are not sustained without a filesystem either.
    Harness,
    /// It could not be done: the lane was full, or something was short.
    Failed,
}
