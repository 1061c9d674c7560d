//! What advice says.

use crate::sentence::Sentence;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Advice for one scenario: which of the raced lanes to take, and how far that can be trusted.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Advice {
    /// Name of the scenario.
    pub scenario: String,
    /// What a person calls it.
    pub title: String,
    /// The lane to take; `None`: `no_advice` says why there is none.
    pub lane: Option<String>,
    /// Lanes that are as good: over all the work apart by less than the margin.
    pub level_with: Vec<String>,
    /// Why there is no advice.
    pub no_advice: Option<NoAdvice>,
    /// What speaks for the lane and against it, one per part of the work and lane that was not
    /// excluded; the weightiest first. Differences that hold over the whole race alone.
    pub why: Vec<AdviceReason>,
    /// The lane against each other one that was not excluded, over all the measured work.
    pub leads: Vec<AdviceLead>,
    /// Parts of the work in which no difference counts.
    pub equal: Vec<EqualWork>,
    /// Lanes that a constraint excludes.
    pub excluded: Vec<Excluded>,
    /// Share of resampled races in which the lane, or one that is level with it, is the choice: the one
    /// whose worst comparison is the best. `None`: only one lane was left, or nothing sets those left
    /// apart.
    pub share_of_resampled_races: Option<f64>,
    /// The smallest changes that would choose another lane; of shares and noise one that is not level.
    pub flips_if: Vec<Flip>,
    /// Share of the scenario's weight that was measured, 0 to 1.
    pub measured_share: f64,
    /// Share of the scenario's weight that its own suite measured, 0 to 1; the rest of what was measured stands on similar work:
    /// kinds of I/O that other suites do.
    #[serde(default)]
    pub own_share: f64,
    /// The suite that does this work itself.
    #[serde(default)]
    pub own_suite: String,
    /// Share of the weight that was raced in too few rounds to say anything.
    #[serde(default)]
    pub too_few_rounds_share: f64,
    /// What the race did not measure.
    pub not_measured: Vec<NotMeasured>,
    /// Filesystems that meet every constraint, as far as the table of features knows, and were not raced; named where a
    /// constraint excludes a lane.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not_raced: Vec<String>,
    /// The command that measures the most of that, or that should settle what is too noisy, after
    /// `fairlane`; empty: none does.
    pub next: Vec<String>,
    /// What the lane meets a constraint with, though it was raced without it.
    pub raced_without: Vec<RacedWithout>,
    /// What is worth knowing about the chosen lanes for this scenario, and about lanes in which parts of it
    /// were not measured.
    pub notes: Vec<AdviceNote>,
}

/// Why there is no advice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum NoAdvice {
    /// Less than half of the scenario's weight was measured.
    TooLittleMeasured,
    /// No lane meets the constraints.
    AllExcluded,
    /// Nothing sets the lanes apart yet, and most of what was measured is too noisy to rank.
    Undecided,
    /// The lanes that are left may not be ranked with each other (on different disks, say), and none of
    /// them promises more than the others; `excluded` names the difference.
    NotComparable,
}

/// One part of the work in which the lane and another one are apart.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AdviceReason {
    /// What the part is.
    pub what: String,
    /// Its share of the scenario.
    pub share: f64,
    /// The series that stood for it: `SUITE/WORKLOAD/GROUP`.
    pub series: Vec<String>,
    /// The other lane.
    pub against: String,
    /// How many times as well the lane does as the other one: what was counted, the near end of an interval.
    pub ratio: f64,
    /// The ratio is so far from 1 at least, beside all other differences of the race; otherwise its sign alone is sure.
    #[serde(default)]
    pub at_least: bool,
}

/// The lane against another one over all the measured work.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AdviceLead {
    /// The other lane.
    pub against: String,
    /// Weighted geometric mean of the decided ratios, the near end of each one's interval, over the work that both were
    /// measured in; above 1 the lane does better.
    pub ratio: f64,
}

/// A part of the work in which no difference counts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct EqualWork {
    /// What the part is.
    pub what: String,
    /// Its share of the scenario.
    pub share: f64,
    /// Why.
    pub because: Equal,
}

/// Why no difference counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Equal {
    /// The lanes are apart by less than the margin.
    Tie,
    /// Too noisy to rank.
    Undecided,
    /// A difference in its own row that does not hold beside all others of the race.
    Unsure,
    /// The disk was measured.
    Device,
    /// The page cache was measured.
    Cache,
    /// Fairlane itself was measured.
    Harness,
    /// There is no verdict.
    NoVerdict,
}

/// A lane that a constraint excludes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Excluded {
    /// The lane.
    pub lane: String,
    /// What it had to have, as `--need` takes it; `done` (it could not do the work, or not in every
    /// round), `measured` (less than half of the work was measured in it), `mounted` (no kernel mounts
    /// it), `kept` (it lies in memory), `comparable` (it promises other things, or lives elsewhere, than
    /// the lanes that were ranked, or than the others where none were).
    pub constraint: String,
    /// Why the scenario asks for it; `None`: the user does, or every scenario.
    pub why: Option<String>,
    /// What is known of the lane, one per alternative of the constraint.
    pub facts: Vec<LaneFact>,
    /// Where that stands, each once.
    pub source: String,
}

/// What is known of one feature of one lane.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LaneFact {
    /// What was asked for, as `--need` takes it.
    pub need: String,
    /// `no`, `off` (an option at mkfs or mount brings it), `unknown`, or the value that is not enough.
    pub is: String,
    /// What brings it.
    pub with: Option<String>,
    /// What the word does not say.
    pub note: Option<Sentence>,
}

/// A change that would choose another lane.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Flip {
    /// One share of the scenario, the others as they are.
    Weight {
        /// The part of the work.
        what: String,
        /// Its share.
        share: f64,
        /// The share at which the other lane draws level; beyond it, seen from `share`, that lane is
        /// chosen.
        at: f64,
        /// The other lane.
        lane: String,
    },
    /// A part that is too noisy to rank comes out at the end of its interval.
    Undecided {
        /// The part of the work.
        what: String,
        /// The other lane.
        lane: String,
    },
    /// A constraint falls.
    Without {
        /// The constraint.
        need: String,
        /// The other lane.
        lane: String,
        /// How many times as well that lane does over the measured work: what the constraint costs.
        ratio: f64,
    },
    /// Any of these is asked for too.
    With {
        /// What.
        needs: Vec<String>,
        /// The other lane.
        lane: String,
        /// How many times as well that lane does over the measured work.
        ratio: f64,
    },
}

/// A part of a scenario that was not measured.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct NotMeasured {
    /// What the part is.
    pub what: String,
    /// Its share of the scenario.
    pub share: f64,
    /// A suite that measures it, that of `next` where it does; `None`: none does yet.
    pub suite: Option<String>,
    /// Name of that suite's workload, as `--workload` takes it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workload: Option<String>,
    /// What a person calls that workload.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Titles of work of that kind that was raced and does not stand for it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub raced: Vec<String>,
}

/// Something that a lane can be given without making it anew, and was raced without.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RacedWithout {
    /// What was asked for, as `--need` takes it.
    pub need: String,
    /// What brings it.
    pub with: String,
    /// Where that stands.
    pub source: String,
}

/// What is worth knowing about lanes for a scenario.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AdviceNote {
    /// The lanes, among those that are chosen or were held against them.
    pub lanes: Vec<String>,
    /// What.
    pub text: Sentence,
    /// Where that stands.
    pub source: String,
}

/// What `fairlane advise` answers: advice from one race or several.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AdviceReport {
    /// Schema of the findings.
    pub schema: u32,
    /// The command that asked for it, after `fairlane`, without its scenarios and format.
    pub command: Vec<String>,
    /// The records' names.
    pub records: Vec<String>,
    /// The lanes that were raced, by their names.
    pub lanes: Vec<String>,
    /// Tie margin as a share.
    pub margin: f64,
    /// What the user asked for, as `--need` takes it.
    pub needs: Vec<String>,
    /// One per scenario.
    pub advice: Vec<Advice>,
    /// What a reader should know before believing it.
    pub warnings: Vec<String>,
}
