//! What a person can decide by a race.

use super::Undecided;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What can be decided, for who reads no statistics: the choice, without lanes that may not be ranked, and not where what is
/// open may still turn it.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "is", rename_all = "kebab-case")]
pub enum Decision {
    /// Nothing: nothing was measured.
    #[default]
    Nothing,
    /// Nothing: the race searched for a largest load.
    Searched,
    /// No lane: options were screened, and what to take of them stands there.
    Screened,
    /// Nothing: one lane was raced.
    Alone,
    /// Nothing: one lane was raced, against itself.
    Twice,
    /// Nothing yet.
    Open {
        /// The one reason.
        because: Undecided,
    },
    /// Nothing: the disk was the limit everywhere.
    Disk,
    /// Nothing: no two of the lanes may be ranked against each other.
    Apart,
    /// Nothing: nothing sets the lanes apart.
    NothingApart,
    /// One of these lanes.
    Take {
        /// One or more.
        lanes: Vec<String>,
        /// What may be said of several.
        among: Among,
    },
}

/// What may be said of the lanes to take.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "found", rename_all = "kebab-case")]
pub enum Among {
    /// It is one.
    One,
    /// Each is better than another at something.
    ByWork,
    /// More rounds may tell them apart.
    Open {
        /// The one reason.
        because: Undecided,
    },
    /// There is no difference above the margin.
    Alike,
    /// What differs between them, this race may not name.
    Unnamed,
}

impl Decision {
    /// The lanes to take; none where nothing is decided.
    pub fn taken(&self) -> &[String] {
        match self {
            Decision::Take { lanes, .. } => lanes,
            _ => &[],
        }
    }

    /// Whether this lane is to be taken.
    pub fn takes(&self, lane: &str) -> bool {
        self.taken().iter().any(|taken| taken == lane)
    }
}
