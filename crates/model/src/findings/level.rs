//! What may be said of lanes between which nothing decides.

use super::Undecided;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What may be said of several chosen lanes where no difference between them is named.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "found", rename_all = "kebab-case")]
pub enum Level {
    /// Every raced result was able to tell, and each pair of these lanes ties in it: there is no difference above the
    /// margin.
    Tie,
    /// A pair of these lanes is undecided, or part of the work was never raced: there is no choice yet.
    Undecided {
        /// The one reason, that of most results ([`Undecided::of_most`]).
        because: Undecided,
        /// Results in which each pair of these lanes ties, as titles; none where any result told them apart.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        ties: Vec<String>,
    },
    /// Some pair has a figure that the answer may not use: it measured something else than the filesystems, does not
    /// hold over the whole race, or may not be ranked.
    Unnamed,
}
