//! How long a race would have to go on.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What should settle what is undecided.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "by", rename_all = "kebab-case")]
pub enum Settle {
    /// The next command, which has so much time to race (`--budget`).
    Budget {
        /// Whole minutes.
        minutes: u32,
        /// Not all of it: the rest would take more rounds or time than are worth asking for.
        some_only: bool,
    },
    /// The next command, which races so many rounds (`--rounds`).
    Rounds {
        /// How many.
        rounds: u32,
        /// Not all of it, as above.
        some_only: bool,
    },
    /// The same race again while other programs rest: they disturbed most of this one.
    Quiet,
    /// More rounds or time than are worth asking for.
    OutOfReach,
}

impl Settle {
    /// The option of the next command with its value; `None`: it needs none.
    pub fn option(&self) -> Option<(&'static str, String)> {
        match self {
            Settle::Budget { minutes, .. } => Some(("--budget", format!("{minutes}m"))),
            Settle::Rounds { rounds, .. } => Some(("--rounds", rounds.to_string())),
            Settle::Quiet | Settle::OutOfReach => None,
        }
    }
}
