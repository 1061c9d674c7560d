//! What the regression gate makes of two sets of records: one record is one replicate.

use crate::findings::Comparison;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The verdict on a candidate, from several records of it and of a baseline.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Gate {
    /// Schema of the findings.
    pub schema: u32,
    /// What the gate says.
    pub outcome: GateOutcome,
    /// How many comparisons came out how.
    pub counts: GateCounts,
    /// The candidate may be slower by this share: 0.05. Of rates 0.95 of the baseline's is the edge,
    /// of times 1.05.
    pub fail_if_slower: f64,
    /// Half-width that every interval should reach, as a share; absent: none was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub need_resolution: Option<f64>,
    /// Probability with which all intervals together hold the true values.
    pub confidence: f64,
    /// Comparisons that share the error probability: every lane and group that both sides planned.
    pub comparisons: u32,
    /// How much records of one side differ: the median over rows and sides of their standard deviation
    /// as a share (on logarithms); absent where no side has two figures.
    pub noise: Option<f64>,
    /// How replicates were put against each other.
    pub pairing: Pairing,
    /// What the candidate is held against.
    pub baseline: GateSide,
    /// What is judged.
    pub candidate: GateSide,
    /// What differs between the sides and is thus what is compared: kernels, tools, mount options.
    pub changes: Vec<String>,
    /// One per lane, workload and group that both sides planned.
    pub rows: Vec<GateRow>,
    /// What only one side planned: named, never compared.
    pub one_sided: Vec<OneSided>,
    /// What a reader should know before believing the verdicts.
    pub warnings: Vec<String>,
    /// With exactly one record on each side the ordinary comparison of the two.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub comparison: Option<Comparison>,
}

/// What a gate says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum GateOutcome {
    /// Something is slower than allowed, or no longer works.
    Fail,
    /// Nothing failed, but the resolution that was asked for was not reached everywhere, or work is gone from
    /// so few records that it may be chance.
    Unresolved,
    /// Nothing failed, but of something it cannot be told.
    Inconclusive,
    /// Every comparison is within what is allowed.
    Pass,
}

/// How many comparisons came out how.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct GateCounts {
    /// Slower than allowed.
    pub slower: u32,
    /// The candidate did not do the work.
    pub failed: u32,
    /// The interval reaches over the edge, or there is none.
    pub inconclusive: u32,
    /// Within what is allowed.
    pub pass: u32,
    /// Better by more than the margin; they pass too and are counted here alone.
    pub faster: u32,
    /// Not compared, because only one side planned them.
    pub one_sided: u32,
    /// Wider than the resolution that was asked for, without an interval, not compared, or failing more often
    /// than the baseline; counted above as well.
    pub unresolved: u32,
}

/// How replicates were put against each other: decided by the order of the races, never by figures.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Pairing {
    /// In pairs, in the order of time; otherwise as two independent samples (Welch).
    pub paired: bool,
    /// Why, in one sentence.
    pub why: String,
}

/// One side of a gate.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct GateSide {
    /// The records, oldest first.
    pub records: Vec<GateRecord>,
    /// Kernel releases, each once.
    pub kernels: Vec<String>,
    /// Operating systems, each once.
    pub systems: Vec<String>,
}

/// One record of a side.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct GateRecord {
    /// As it was named.
    pub name: String,
    /// When the race started, RFC 3339, UTC.
    pub started: String,
    /// /proc/sys/kernel/random/boot_id.
    pub boot_id: String,
    /// Kernel release.
    pub kernel: String,
    /// Seed of the race.
    pub seed: u64,
    /// `complete`, `interrupted`, `failed`, or `unfinished` where no end was written.
    pub outcome: String,
}

/// One lane, workload and group.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct GateRow {
    /// Name of the lane.
    pub lane: String,
    /// Name of the workload.
    pub workload: String,
    /// What a person calls it.
    pub title: String,
    /// Name of the group.
    pub group: String,
    /// The metric; its unit stands in the name.
    pub metric: String,
    /// `operations/s`, `B/s`, `ns` or `s`.
    pub unit: String,
    /// Whether more is better: rates; of times less is.
    pub higher_is_better: bool,
    /// The baseline's replicates.
    pub baseline: GateFigure,
    /// The candidate's replicates.
    pub candidate: GateFigure,
    /// Candidate by baseline, geometric, of times turned, so that above 1 the candidate does better;
    /// absent where a side has no figure.
    pub ratio: Option<f64>,
    /// Interval of the ratio; all intervals of the gate hold together. Absent with fewer than two
    /// replicates on a side.
    pub low: Option<f64>,
    /// Interval of the ratio.
    pub high: Option<f64>,
    /// Half the interval as a share: exp of the half-width on logarithms, less 1.
    pub half_width: Option<f64>,
    /// What it means.
    pub verdict: GateVerdict,
    /// Why there is no plain verdict, or what stands beside it.
    pub why: Option<String>,
    /// The candidate's rounds failed more often than the baseline's, and not so often that the gate fails:
    /// it cannot pass, whatever its interval.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub failing: bool,
    /// Nothing was compared, whatever the interval: latencies at different rates, figures of Fairlane itself, or
    /// bytes that never passed the disk. No further record changes that.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub not_compared: bool,
    /// Wider than the resolution that was asked for, without an interval, `failing` or `not_compared`; also
    /// without being asked where the candidate failed in every record and the baseline in none, in too few for a
    /// verdict.
    pub unresolved: bool,
    /// So many more records of each side would probably do; absent where none are needed or nobody
    /// can tell.
    pub more_records: Option<u32>,
    /// The line that runs a race of the candidate again, from its first record with a figure.
    pub command_line: Vec<String>,
}

/// One side's figure of a row.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct GateFigure {
    /// Geometric mean over replicates, each the geometric mean over its rounds.
    pub mean: Option<f64>,
    /// Standard deviation between replicates as a share (on logarithms); absent for fewer than two.
    pub deviation: Option<f64>,
    /// Replicates that count.
    pub records: u32,
}

/// What the interval of a row means.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum GateVerdict {
    /// The whole interval lies beyond the margin: the gate fails.
    Slower,
    /// The candidate did not do the work that the baseline did: the gate fails.
    Failed,
    /// Neither.
    Inconclusive,
    /// The whole interval lies on the acceptable side of the margin.
    Pass,
    /// It passes, and the whole interval lies beyond the margin on the good side.
    Faster,
}

/// What only one side planned: a lane, a workload, or a workload in one lane.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct OneSided {
    /// Name of the lane; absent: a workload in every lane.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lane: Option<String>,
    /// Name of the workload; absent: a lane in every workload.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workload: Option<String>,
    /// The baseline has it; otherwise the candidate.
    pub in_baseline: bool,
    /// Comparisons that fall away by it.
    pub comparisons: u32,
}
