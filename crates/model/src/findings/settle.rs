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
        /// Seconds that the command takes, roughly, by this race's own pace; 0: not known.
        #[serde(default)]
        seconds: u32,
        /// Not all of it, as above.
        some_only: bool,
    },
    /// The next command, which races so many rounds: the fewest that usually decide. This race made fewer, and
    /// nobody can tell from them how many it takes.
    FirstRounds {
        /// How many.
        rounds: u32,
        /// Seconds that the command takes, roughly; 0: not known.
        seconds: u32,
    },
    /// Going on with the race, which did not end by itself (`--resume`).
    Resume {
        /// Seconds that are left of it, roughly; 0: not known.
        seconds: u32,
    },
    /// The same race again when the machine is idle: other programs disturbed most of this one.
    Quiet,
    /// More rounds or time than are worth asking for.
    OutOfReach,
}

impl Settle {
    /// The option of the next command with its value; `None`: it needs none.
    pub fn option(&self) -> Option<(&'static str, String)> {
        match self {
            Settle::Budget { minutes, .. } => Some(("--budget", format!("{minutes}m"))),
            Settle::Rounds { rounds, .. } | Settle::FirstRounds { rounds, .. } => {
                Some(("--rounds", rounds.to_string()))
            }
            Settle::Resume { .. } | Settle::Quiet | Settle::OutOfReach => None,
        }
    }

    /// Seconds that it takes, roughly; `None`: not known, or nothing is to be done.
    pub fn seconds(&self) -> Option<u32> {
        let seconds = match *self {
            Settle::Budget { minutes, .. } => minutes.saturating_mul(60),
            Settle::Rounds { seconds, .. } | Settle::FirstRounds { seconds, .. } | Settle::Resume { seconds } => {
                seconds
            }
            Settle::Quiet | Settle::OutOfReach => 0,
        };
        Some(seconds).filter(|&seconds| seconds > 0)
    }
}
