//! What the ranks of an MPI job did each by itself, beside the one figure of all of them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The job that raced.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct JobRanks {
    /// Processes that worked at the same time.
    pub ranks: u32,
    /// Machines that they were on.
    pub nodes: u32,
}

/// Which of several clients works, where they do the same work at the same time: a rank of an MPI job.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Clients {
    /// Its number, from 0.
    pub number: u32,
    /// The one whose part it reads of what they share, where its work changes nothing: one on another machine, so that
    /// nothing is read from the cache of the machine that wrote it.
    pub reads: u32,
    /// How many there are, at least 1.
    pub of: u32,
}

impl Clients {
    /// The only one.
    pub const ALONE: Clients = Clients { number: 0, reads: 0, of: 1 };

    /// Whether there is no other.
    pub fn is_alone(&self) -> bool {
        self.of <= 1
    }

    /// What is wrong with the numbers: what lies beyond the parts of all would be nobody's.
    ///
    /// # Errors
    /// One sentence with the remedy.
    pub fn check(&self) -> Result<(), String> {
        if self.number.max(self.reads) < self.of.max(1) {
            return Ok(());
        }
        let Clients { number, reads, of } = self;
        Err(format!("client {number}, which reads what client {reads} wrote, is none of {of}; start the job again"))
    }
}

impl Default for Clients {
    fn default() -> Self {
        Clients::ALONE
    }
}

/// The ranks of one group of a trial. They are workers: the group's own figures are those of all of them together, from
/// the common start to when the last was done.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct RankFigures {
    /// How many there were.
    pub ranks: u32,
    /// Machines that they were on.
    pub nodes: u32,
    /// Operations per second of the slowest rank: its own, over the seconds in which it worked.
    pub lowest_operations_per_second: f64,
    /// Arithmetic mean of all ranks.
    pub mean_operations_per_second: f64,
    /// Of the fastest rank.
    pub highest_operations_per_second: f64,
    /// Standard deviation of the ranks' operations per second as a share of their mean.
    pub spread: f64,
    /// Number of the slowest rank, from 0.
    pub slowest_rank: u32,
    /// Number of its node, from 0 in the order of the ranks.
    pub slowest_node: u32,
    /// Number of the fastest rank.
    pub fastest_rank: u32,
    /// Number of its node.
    pub fastest_node: u32,
    /// Seconds from the first rank's start to the last one's; of several windows their sum.
    pub start_spread_seconds: f64,
    /// Seconds from the common start to when the first rank was done; of several windows their sum.
    pub first_done_seconds: f64,
    /// The same of the last rank: the time of the group's figures.
    pub last_done_seconds: f64,
}
