//! What there is to say about one result, decided once: reports and the page only word it.

use super::{Undecided, is_false};
use crate::sentence::Sentence;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One thing to say about a result. Every pair of lanes is said, or follows from what is said.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "says", rename_all = "kebab-case")]
pub enum Statement {
    /// Every lane ran at the disk's own limit.
    AtTheDisk {
        /// The slowest lane's figure.
        slowest: f64,
        /// The fastest lane's.
        fastest: f64,
        /// Each pair ties by verdict.
        tie: bool,
    },
    /// These lanes tie with each other.
    Tie {
        /// Two or more.
        lanes: Vec<String>,
        /// The lowest end of the intervals among them, each turned to lie around the same one; absent where there is none.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        low: Option<f64>,
        /// The highest.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        high: Option<f64>,
    },
    /// Decided pairs, told of one lane.
    Apart {
        /// The lane.
        lane: String,
        /// The lane is the first of each.
        pairs: Vec<Told>,
    },
    /// Pairs whose interval is still too wide.
    Undecided {
        /// The one reason.
        because: Undecided,
        /// All of them.
        pairs: Vec<Told>,
        /// What their reasons add to the intervals that are said anyway, each once.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        remarks: Vec<Sentence>,
    },
    /// Pairs without a verdict, all for the same reason, and all told of one lane.
    NoVerdict {
        /// The pairs; none where their figures mean nothing.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        pairs: Vec<Told>,
        /// The reason, where it is known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        why: Option<Sentence>,
    },
    /// A lane without a figure; its estimate says why.
    Failed {
        /// The lane.
        lane: String,
    },
    /// The only lane with a figure: nothing to compare.
    Alone {
        /// The lane.
        lane: String,
    },
    /// No lane has a figure.
    Nothing,
}

/// A pair of a result as a statement tells it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Told {
    /// Its place among the pairs of the result.
    pub pair: u32,
    /// It is told of `b` against `a`.
    #[serde(default, skip_serializing_if = "is_false")]
    pub turned: bool,
}
