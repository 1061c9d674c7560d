//! Why two lanes are undecided.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Why a pair is undecided: the one reason that is said wherever it is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Undecided {
    /// The rounds that were planned are done and differ too much from each other.
    Noise,
    /// Fewer rounds than a verdict takes were asked for, or are done so far.
    TooFewRounds,
    /// The race did not end by itself, or was killed or crashed, and has rounds to go.
    Interrupted,
    /// The budget ended the race before its last round.
    OutOfBudget,
    /// Other programs disturbed more than half of the trials.
    MachineBusy,
}

impl Undecided {
    /// The order in which reasons are told: what ended the race early before the noise of the rounds that there are.
    pub const IN_ORDER: [Undecided; 5] =
        [Self::Interrupted, Self::OutOfBudget, Self::TooFewRounds, Self::MachineBusy, Self::Noise];

    /// Why a result is undecided of which pairs are so for these reasons.
    pub fn first(reasons: impl IntoIterator<Item = Undecided>) -> Option<Undecided> {
        reasons.into_iter().min_by_key(|reason| Self::IN_ORDER.iter().position(|of| of == reason))
    }

    /// Why a race is undecided of which results are so for these reasons: what most of them have in common. A race that was
    /// interrupted goes on, whatever else there is.
    pub fn of_most(reasons: impl IntoIterator<Item = Undecided>) -> Option<Undecided> {
        let all: Vec<Undecided> = reasons.into_iter().collect();
        let count = |reason: Undecided| all.iter().filter(|of| **of == reason).count();
        if count(Self::Interrupted) > 0 {
            return Some(Self::Interrupted);
        }
        // Of equal numbers the first is told.
        Self::IN_ORDER.into_iter().rev().filter(|reason| count(*reason) > 0).max_by_key(|reason| count(*reason))
    }
}
