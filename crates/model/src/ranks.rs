//! What the ranks of an MPI job did each by itself, beside the one figure of all of them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What starts ranks: `mpirun`, or Slurm's `srun`.
pub const LAUNCHERS: [&str; 2] = ["mpirun", "srun"];

/// The job that raced.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct JobRanks {
    /// Processes that worked at the same time, where a ladder does not say otherwise.
    pub ranks: u32,
    /// Machines that they were on.
    pub nodes: u32,
    /// Workloads that are raced by growing numbers of ranks (`--ranks`); empty: all ranks do all of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ladders: Vec<RankLadder>,
    /// Slurm's `srun` started them, and no `mpirun`.
    #[serde(default, skip_serializing_if = "is_false")]
    pub srun: bool,
}

impl JobRanks {
    /// The words that start as many ranks, in front of the program's: `mpirun -n 8`, which leaves nodes to its own options, or
    /// `srun -N 2 -n 8`. Hosts are in no record.
    pub fn launch(&self) -> Vec<String> {
        self.launch_of(self.ranks)
    }

    /// The words that start so many ranks.
    pub fn launch_of(&self, ranks: u32) -> Vec<String> {
        let ranks = ["-n".to_owned(), ranks.to_string()];
        let [mpirun, srun] = LAUNCHERS.map(str::to_owned);
        match self.srun {
            true => [srun, "-N".to_owned(), self.nodes.to_string()].into_iter().chain(ranks).collect(),
            false => std::iter::once(mpirun).chain(ranks).collect(),
        }
    }

    /// How many ranks do a workload, by its name.
    pub fn at_work(&self, workload: &str) -> u32 {
        let mut steps = self.ladders.iter().flat_map(|ladder| &ladder.steps);
        steps.find(|step| step.workload == workload).map_or(self.ranks, |step| step.ranks)
    }
}

/// One workload as it is raced by growing numbers of ranks.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RankLadder {
    /// From the fewest ranks to the most.
    pub steps: Vec<LadderStep>,
}

/// A workload that so many ranks do.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LadderStep {
    /// Its name in the plan.
    pub workload: String,
    /// Ranks that do it: of each node one in turn, from the first rank on.
    pub ranks: u32,
}

/// How far the clocks of a job's machines go apart: asked over MPI before the race and behind it, outside of all windows.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct NodeClocks {
    /// Seconds between both.
    pub seconds: f64,
    /// Each machine that answered twice, but rank 0's, which the others are compared with.
    pub nodes: Vec<NodeClock>,
}

/// The clocks of one machine beside those of rank 0's.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct NodeClock {
    /// Its number, from 1 in the order of the ranks.
    pub node: u32,
    /// Seconds by which its time of day (CLOCK_REALTIME) was ahead before the race.
    pub ahead_seconds: f64,
    /// How far that may be wrong: half the shortest way there and back.
    pub ahead_uncertainty_seconds: f64,
    /// Seconds by which its CLOCK_MONOTONIC went on more in the race.
    pub drift_seconds: f64,
    /// How far that may be wrong.
    pub drift_uncertainty_seconds: f64,
}

/// The title of work as so many ranks do it.
pub fn titled(title: &str, ranks: u32) -> String {
    format!("{title}{}", behind_title(ranks))
}

/// The title of the work itself, of one that [`titled`] made.
pub fn untitled(title: &str, ranks: u32) -> &str {
    title.strip_suffix(&behind_title(ranks)).unwrap_or(title)
}

fn behind_title(ranks: u32) -> String {
    if ranks == 1 { ", 1 rank".to_owned() } else { format!(", {ranks} ranks") }
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
    /// Seconds from when the first node was let go into the trial's first window to when the last one was, by clocks that were
    /// compared just before. 0, as the uncertainty: not known.
    #[serde(skip_serializing_if = "is_no_time")]
    pub release_spread_seconds: f64,
    /// How far that may be wrong.
    #[serde(skip_serializing_if = "is_no_time")]
    pub release_uncertainty_seconds: f64,
    /// Seconds from the common start to when the first rank was done; of several windows their sum.
    pub first_done_seconds: f64,
    /// The same of the last rank: the time of the group's figures.
    pub last_done_seconds: f64,
    /// Operations of all ranks at the deadline, of work that wears out behind it; 0: it does not. The group's own figures are those
    /// after wear-out.
    #[serde(skip_serializing_if = "is_zero")]
    pub deadline_operations: u64,
    /// Bytes of all ranks at the deadline.
    #[serde(skip_serializing_if = "is_zero")]
    pub deadline_bytes: u64,
    /// Seconds from the common start to when the last rank had done these.
    #[serde(skip_serializing_if = "is_no_time")]
    pub deadline_seconds: f64,
    /// Bytes that a rank on another node than the writer's read and compared with what they should be, outside of all windows; of
    /// the whole work, not of this group alone.
    #[serde(skip_serializing_if = "is_zero")]
    pub compared_by_other_node_bytes: u64,
    /// The same, by another rank of the writer's node.
    #[serde(skip_serializing_if = "is_zero")]
    pub compared_by_same_node_bytes: u64,
}

// serde hands a reference to `skip_serializing_if`.
#[allow(clippy::trivially_copy_pass_by_ref)]
fn is_no_time(seconds: &f64) -> bool {
    *seconds == 0.0
}

// As above.
#[allow(clippy::trivially_copy_pass_by_ref)]
fn is_false(value: &bool) -> bool {
    !*value
}

// As above.
#[allow(clippy::trivially_copy_pass_by_ref)]
fn is_zero(bytes: &u64) -> bool {
    *bytes == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ladder_says_how_many_do_a_workload_and_titles_are_read_back() {
        let step = |workload: &str, ranks: u32| LadderStep { workload: workload.to_owned(), ranks };
        let ladder = RankLadder { steps: vec![step("write-ranks-1", 1), step("write", 8)] };
        let job = JobRanks { ranks: 8, nodes: 2, ladders: vec![ladder], srun: false };
        assert_eq!([job.at_work("write-ranks-1"), job.at_work("write"), job.at_work("read")], [1, 8, 8]);
        for ranks in [1, 16] {
            assert_eq!(untitled(&titled("read, direct", ranks), ranks), "read, direct");
        }
        assert_eq!(titled("read", 1), "read, 1 rank");
        assert_eq!(untitled("read, 4 ranks", 8), "read, 4 ranks", "of another number it is a title of its own");
    }
}
