//! What a race comes to, decided and gathered once: reports and the page only word it.

use super::{Decision, Limit, Undecided};
use crate::sentence::Sentence;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What the answer of a race tells.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Conclusion {
    /// What can be chosen.
    pub choice: Choice,
    /// What a person can decide by it.
    #[serde(default)]
    pub decision: Decision,
    /// What sets lanes apart, lane by lane, in the order in which it is told.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub claims: Vec<LaneClaims>,
    /// Work that is undecided.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub undecided: Vec<Work>,
    /// The same by the one reason of each, in the order in which reasons are told.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub open: Vec<OpenWork>,
    /// Work with a difference that holds for its own row and not over the whole race.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unsure: Vec<Work>,
    /// Work that could not tell the lanes apart: something else than the filesystems was measured.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cannot_tell: Vec<Work>,
    /// The same by what was measured.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub limited: Vec<LimitedWork>,
    /// Work with pairs that have no verdict, by the reason. What keeps a lane from being ranked at all is said of the lane,
    /// and not here.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub no_verdict: Vec<UnrankedWork>,
    /// Lanes that could not do some of the work.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub failed: Vec<FailedLane>,
}

/// What can be chosen. The lanes are those of the answer.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "is", rename_all = "kebab-case")]
pub enum Choice {
    /// Nothing: nothing was measured.
    #[default]
    Nothing,
    /// The race searched for a largest load, which is its answer.
    Searched,
    /// No lane: options were screened, and what was found of them is the answer.
    Screened,
    /// Nothing: one lane was raced.
    Alone,
    /// Nothing: one lane was raced, against itself.
    Twice,
    /// Nothing, and what is undecided may change that.
    NoneYet {
        /// The one reason, that of most of the work.
        because: Undecided,
    },
    /// Nothing.
    None {
        /// The disk was the limit of all that was compared.
        disk_everywhere: bool,
    },
    /// Nothing yet: the lanes of the answer tie where anything is decided, and what is open may set them apart.
    Open {
        /// The one reason, that of most of the work.
        because: Undecided,
        /// Where they tie.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        ties: Vec<Work>,
    },
    /// Any of these lanes: what differs between them, this race may not name.
    Unnamed,
    /// Any lane: there is no difference above the margin.
    Level,
    /// These lanes, each better than another at something.
    ByWork,
    /// These lanes.
    Chosen,
}

impl Choice {
    /// Whether anything was measured that the answer is about.
    pub fn is_measured(&self) -> bool {
        !matches!(self, Choice::Nothing | Choice::Searched)
    }

    /// Whether it is about lanes against each other.
    pub fn is_between_lanes(&self) -> bool {
        self.is_measured() && !matches!(self, Choice::Alone | Choice::Twice | Choice::Screened)
    }
}

/// A piece of work as an answer names it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "of", rename_all = "kebab-case")]
pub enum Work {
    /// A result.
    Result {
        /// Its place among the results.
        result: u32,
    },
    /// Some pairs of a result; others of it are decided.
    Pairs {
        /// Its place among the results.
        result: u32,
        /// Their places among its pairs.
        pairs: Vec<u32>,
    },
    /// So many steps of a table of file operations.
    Steps {
        /// Its place among the tables.
        table: u32,
        /// How many.
        count: u32,
    },
}

/// What sets one lane apart.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LaneClaims {
    /// The lane that it is told of.
    pub lane: String,
    /// What is surest to be large comes first.
    pub claims: Vec<Claim>,
}

/// A difference as the answer tells it: held against the same lane as in the verdicts, so that a figure reads the same in
/// both places.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Claim {
    /// Its place among the reasons of the answer.
    pub reason: u32,
    /// The lane that it is held against.
    pub against: String,
    /// The lane that it is told of is the better one.
    pub gain: bool,
    /// The place of its result; absent where there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<u32>,
}

/// Work that is undecided for one reason.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct OpenWork {
    /// The reason.
    pub because: Undecided,
    /// The work.
    pub works: Vec<Work>,
}

/// Work in which one thing was measured instead of the filesystems.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LimitedWork {
    /// What was measured.
    pub limit: Limit,
    /// How many results.
    pub results: u32,
    /// The work.
    pub works: Vec<Work>,
}

/// Work with pairs that have no verdict for one reason.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct UnrankedWork {
    /// The reason.
    pub why: Sentence,
    /// The work.
    pub works: Vec<Work>,
}

/// A lane that could not do some of the work.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FailedLane {
    /// The lane.
    pub lane: String,
    /// All of that work.
    pub works: Vec<Work>,
    /// The same by the reason.
    pub reasons: Vec<FailedWork>,
}

/// Work that a lane could not do for one reason.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FailedWork {
    /// The reason.
    pub reason: Sentence,
    /// The work.
    pub works: Vec<Work>,
}
