//! What the statistics make of a record. Everything a report shows is decided here.

mod advice;
mod aged;
mod answer;
mod appenders;
mod comparison;
mod conclusion;
mod counts;
mod decision;
mod disk;
mod explanation;
mod io500;
mod ladder;
mod layers;
mod level;
mod operations;
mod ranks;
mod screening;
mod settle;
mod shown;
mod statement;
mod transactions;
mod tuning;
mod undecided;

pub use advice::{
    Advice, AdviceLead, AdviceNote, AdviceReason, AdviceReport, Equal, EqualWork, Excluded, Flip, LaneFact, NoAdvice,
    NotMeasured, RacedWithout,
};
pub use aged::{AgedFinding, AgedFlip, AgedRanks, AgedRow};
pub use answer::{Answer, NotRanked, Reached, Reason};
pub use comparison::{
    Comparison, ComparisonRow, Difference, PublishedComparison, PublishedFigures, PublishedPairing, PublishedRatio,
    PublishedRow,
};
pub use operations::{OperationFigure, OperationRow, OperationTotal, OperationsFinding, OperationsPair};

pub use appenders::{AppendersFinding, AppendersRow, Bursts, SearchFinding, SearchLane, SearchPass};
pub use conclusion::{
    Choice, Claim, Conclusion, FailedLane, FailedWork, LaneClaims, LimitedWork, OpenWork, UnrankedWork, Work,
};
pub use counts::Counts;
pub use decision::{Among, Decision};
pub use disk::{DiskFinding, DiskSign};
pub use explanation::{Basis, CauseShare, Explanation, Headline, Part, PartShare, UnknownShare};
pub use io500::{IO500_PHASES, IO500_STONEWALL_SECONDS, Io500Finding, Io500Kind, Io500Phase, Io500Score};
pub use ladder::{LadderFinding, LadderLane, LadderRow, LadderShare, Scaling};
pub use layers::{LayerCost, LayerSpeed};
pub use level::Level;
pub use ranks::{NetworkUse, RanksFinding, RanksRow, Straggler};
pub use screening::{
    Confirmation, ConfirmationOutcome, ConfirmedRow, CutShort, Effect, EffectVerdict, ExpectedGain, FEWEST_SPARE,
    Interaction, Proposal, ScreenedResult, ScreeningFinding, TunedLevel,
};
pub use settle::Settle;
pub use shown::Shown;
pub use statement::{Statement, Told};
pub use transactions::{TransactionsFinding, TransactionsRow};
pub use tuning::{TunedCombination, TunedFate, Tuning, TuningRace};
pub use undecided::Undecided;

use crate::calibration::Calibration;
use crate::lane::Lane;
use crate::machine::Machine;
use crate::record::SharedRate;
use crate::sentence::Sentence;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What the statistics make of a record.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Findings {
    /// Schema of the findings.
    pub schema: u32,
    /// When the race started, RFC 3339; of an import as the header of its record has it.
    pub started: String,
    /// Formats of other tools' results that its figures were read from; empty: it was raced.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub imported: Vec<String>,
    /// Name of the suite.
    pub suite: String,
    /// Seed of the race.
    pub seed: u64,
    /// Tie margin as a share.
    pub margin: f64,
    /// `complete`, `interrupted`, `unexplained` (interrupted once all rounds were done), `failed`, `running`, or
    /// `unfinished` where no end was written and no race is known to go on.
    pub outcome: String,
    /// The disk that the device of every lane was held to that had none of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub throttle: Option<crate::Throttle>,
    /// Lanes' own disks by the lane's name; each replaces `throttle` wholly.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub lane_throttles: BTreeMap<String, crate::Throttle>,
    /// The command line that runs the race again.
    pub command_line: Vec<String>,
    /// Where.
    pub machine: Machine,
    /// The contestants.
    pub lanes: Vec<Lane>,
    /// What the device can do without a filesystem.
    pub ceilings: Vec<Ceiling>,
    /// What the disk showed when it was written for longer than a slice, flushed and read back; absent where nobody looked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disk: Option<DiskFinding>,
    /// One per workload and group.
    pub results: Vec<ResultFinding>,
    /// One per workload of file operations: its groups as one table.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub operations: Vec<OperationsFinding>,
    /// One per workload of appenders: how late they were, and what the system did meanwhile.
    #[serde(default, rename = "swarms", skip_serializing_if = "Vec::is_empty")]
    pub appenders: Vec<AppendersFinding>,
    /// One per workload of transactions: what each one waits for, writes and costs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub transactions: Vec<TransactionsFinding>,
    /// One per search for the largest number of writers that the lanes sustain.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub searches: Vec<SearchFinding>,
    /// One per lane on layers or on several disks: what those cost.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub layers: Vec<LayerCost>,
    /// One per lane with a past: what that did to it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub aged: Vec<AgedFinding>,
    /// Which of two filesystems is better, fresh and aged; absent where no two of one past were raced with their fresh ones.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub aged_ranks: Option<AgedRanks>,
    /// One per lane of a race of IO500's phases, with its score.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub io500: Vec<Io500Finding>,
    /// One per workload and group that ranks of an MPI job did: what each did by itself.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ranks: Vec<RanksFinding>,
    /// One per workload and group that growing numbers of ranks did.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ladders: Vec<LadderFinding>,
    /// Of a screening which options matter; absent: it is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub screening: Option<ScreeningFinding>,
    /// What has to be known before any verdict is read: lanes' disks are no disks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code_only: Option<Sentence>,
    /// What to do; `None` where nothing was measured, and of a screening.
    pub answer: Option<Answer>,
    /// What the answer tells, decided and gathered: what is worded of it, in whichever form, is this.
    #[serde(default)]
    pub conclusion: Conclusion,
    /// Advice for scenarios of which at least half was measured.
    pub advice: Vec<Advice>,
    /// What a reader should know before believing the figures.
    pub warnings: Vec<Sentence>,
    /// Why no pass looked at some of the race, and what would change that (method 7.1).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unexplained: Vec<Sentence>,
    /// What was known of this machine's noise when the race began; of a calibration what it found.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub calibration: Option<Box<Calibration>>,
    /// Trials that did not count: repeated for noise, failed.
    pub trials: TrialCounts,
}

/// How many trials there were and what became of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct TrialCounts {
    /// They count.
    pub ok: u32,
    /// Replaced because of foreign noise.
    pub repeated: u32,
    /// Could not be done.
    pub failed: u32,
    /// The throttle did not hold, or the machine slept.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub void: u32,
}

/// What the device can do without a filesystem.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Ceiling {
    /// The workload it matches.
    pub workload: String,
    /// The profile.
    pub profile: crate::record::Profile,
    /// Median over probes.
    pub operations_per_second: f64,
    /// Median over probes.
    pub bandwidth_bytes_per_second: f64,
    /// Seconds of one flush alone by the device's own counter, median over probes; absent where none flushed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flush_seconds: Option<f64>,
    /// Number of probes.
    pub probes: u32,
    /// Measured on a written file, because the lane is a directory.
    pub through_filesystem: bool,
    /// Of disks of user-mode Linux, which lie in the host's page cache: no disk's own.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub in_page_cache: bool,
}

/// One workload and group across the lanes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ResultFinding {
    /// Name of the workload.
    pub workload: String,
    /// What a person calls it.
    pub title: String,
    /// Name of the group.
    pub group: String,
    /// Of a step of file operations the section of the table that it stands in, possibly empty;
    /// `None`: other work.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub section: Option<String>,
    /// `operations_per_second`, `bandwidth_bytes_per_second`, or a latency such as `latency_p99_ns`.
    pub metric: String,
    /// `operations/s`, `B/s` or `ns`.
    pub unit: String,
    /// Of `operations/s` what is counted.
    #[serde(default, skip_serializing_if = "Counts::is_operations")]
    pub counts: Counts,
    /// Whether more is better: rates; of latencies less is.
    pub higher_is_better: bool,
    /// The rate that all lanes shared, where the work was an open loop at a share of the slowest
    /// lane's maximum.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shared_rate: Option<SharedRate>,
    /// Rounds in which two lanes have a figure, of the pair that has the most; of a single lane its own.
    pub rounds: u32,
    /// What limited it.
    pub limit: Limit,
    /// Lanes that sent half and more of this work's I/O, which asks to be direct, through the page cache, where another
    /// lane did not.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub buffered: Vec<String>,
    /// Lanes that keep half and more of the files that were looked at in another form than in blocks of their own.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub kept: Vec<Kept>,
    /// What of this work lanes did otherwise than others: the two lists above as sentences, to be said beside a verdict.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub acts: Vec<Sentence>,
    /// What was measured never passed the disk (writes that stayed in memory, figures above the disk's that
    /// holes or a cache gave): no verdict rests on it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub missed_the_disk: bool,
    /// Its rates are means over all of the time instead of medians over slices, because a lane of this work stalls or
    /// works in bursts.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub by_means: bool,
    /// Somebody waits for each operation (it ends with its flush, or comes at a rate of its own): its longest waits
    /// belong beside its rate.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub stalls_matter: bool,
    /// One sentence with the figures.
    pub limit_reason: Sentence,
    /// One per lane.
    pub estimates: Vec<Estimate>,
    /// One per pair of lanes.
    pub pairs: Vec<Pair>,
    /// Best first; lanes in one list are not told apart.
    pub ranking: Vec<Vec<String>>,
    /// The lane that the others are held against; absent where nothing is compared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reference: Option<String>,
    /// What there is to say about it, in reading order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub statements: Vec<Statement>,
    /// Remarks: not steady, correlated rounds, failed lanes.
    pub warnings: Vec<Sentence>,
    /// What heads it where `limit` is not known; absent where that is, or nothing tells.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub headline: Option<Headline>,
    /// Where each lane's time went: by a profile where the race was told to explain itself, else by what was counted in
    /// the rounds.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub explanations: Vec<Explanation>,
    /// What of it makes lanes differ, in sentences.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub explained: Vec<Sentence>,
    /// Lanes that were raced and of whose time nothing is told, with why.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unexplained: Vec<Sentence>,
}

/// A lane and how it keeps the files of a result, as its filesystem tells it (FIEMAP).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Kept {
    /// Name of the lane.
    pub lane: String,
    /// Their form.
    pub form: KeptForm,
}

/// The form in which a filesystem keeps files that do not lie in blocks of their own as they were written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum KeptForm {
    /// Within its metadata.
    Inline,
    /// Compressed.
    Compressed,
    /// In blocks that files share.
    Tail,
}

/// What limited a result (method 3.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Limit {
    /// The device: this test cannot tell these filesystems apart.
    Device,
    /// Each lane's own disk, and these are held to different limits: the difference is the disks'.
    OwnDisk,
    /// The device, and the lanes write different amounts to it.
    WriteAmplification,
    /// The filesystem's CPU time.
    FilesystemCpu,
    /// The CPUs, which the work's own programs fill together with the filesystem.
    Cpu,
    /// The filesystem does not keep the device's queue filled.
    FilesystemSerialised,
    /// Flushes.
    Flush,
    /// The page cache answered the reads.
    Cache,
    /// Fairlane itself.
    Harness,
    /// Other programs may have: they were at work in most of the trials.
    OtherPrograms,
    /// None of these.
    Unattributed,
}

/// One lane's figure.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Estimate {
    /// Name of the lane.
    pub lane: String,
    /// Geometric mean over rounds; the arithmetic one where the lane stood still in some of them.
    pub mean: f64,
    /// The figure that stands beside those of the other lanes, where that is not `mean`: a lane that raced fewer rounds
    /// stands at its ratio to the reference lane, so that two figures of a row divide to the ratio that is told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub row_mean: Option<f64>,
    /// 95 % interval of this lane alone; absent with fewer than two rounds, or where the lane stood still in
    /// some.
    pub low: Option<f64>,
    /// 95 % interval of this lane alone.
    pub high: Option<f64>,
    /// Rounds that count.
    pub rounds: u32,
    /// CPU of the whole system per GiB of the application.
    pub cpu_seconds_per_gib: Option<f64>,
    /// CPU of the whole system per operation.
    pub cpu_seconds_per_operation: Option<f64>,
    /// The agent's own user time per operation.
    pub agent_cpu_seconds_per_operation: Option<f64>,
    /// Bytes written at the device per byte of the application.
    pub write_amplification: Option<f64>,
    /// Of work that asks for direct I/O, the larger of two figures, each the least of all rounds. Bytes of its files that
    /// lay in the page cache afterwards per byte that was read or written; of writes, bytes of pages that became dirty in
    /// the whole system per byte that was written. Near 0: the data did not pass the page cache; from 0.5 on it is said
    /// that it did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page_cache_share: Option<f64>,
    /// Flushes at the device per operation.
    pub flushes_per_operation: Option<f64>,
    /// Median latency, all rounds' histograms merged, nanoseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latency_p50_ns: Option<f64>,
    /// 99th percentile of latency, all rounds' histograms merged, nanoseconds.
    pub latency_p99_ns: Option<f64>,
    /// 99.9th percentile of latency, all rounds' histograms merged, nanoseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latency_p999_ns: Option<f64>,
    /// Longest latency of a single operation in all rounds, nanoseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latency_max_ns: Option<f64>,
    /// The rate over all of the time as a share of the median of the slices, geometric mean over rounds, where it
    /// differs by more than noise: below 1 the lane stalls, above it works in bursts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mean_to_median: Option<f64>,
    /// Arithmetic mean latency of single operations, median over rounds, nanoseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latency_mean_ns: Option<f64>,
    /// CPU time of the whole system as a share of all CPUs, 0 to 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_share: Option<f64>,
    /// Of that CPU time the kernel's share: system / (user + system), 0 to 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_system_share: Option<f64>,
    /// Share of the time in which the lane's device had a request in flight, 0 to 1. It decides
    /// nothing: a device that serves many requests at once is busy long before it is full.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device_busy_share: Option<f64>,
    /// Use of the device against its ceiling (method 3.2).
    pub device_use: Option<f64>,
    /// That use is more than the measured ceiling allows: the ceiling is wrong, and the use is not known.
    #[serde(default, skip_serializing_if = "is_false")]
    pub device_use_is_impossible: bool,
    /// Extents of the files that the work left (FIEMAP), median over rounds: in how many pieces they lie.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub extents: Option<f64>,
    /// Wall seconds of work that is done once and whose metric is a rate, such as removing large files; median over
    /// rounds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub once_seconds: Option<f64>,
    /// Why there is no figure, where there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<Sentence>,
    /// Its trials are void: the throttle did not hold, the machine slept, or its clock changed. That is no failure of the lane.
    #[serde(default, skip_serializing_if = "is_false")]
    pub void: bool,
}

/// Template of why a lane has no figure that did nothing wrong: the race was interrupted, or its record torn, before.
pub const NOT_REACHED: &str = "no_round_completed";

impl Estimate {
    /// The figure that stands in a row beside those of the other lanes.
    pub fn in_row(&self) -> f64 {
        self.row_mean.unwrap_or(self.mean)
    }

    /// Why the lane failed; `None`: it has a figure, or the race never came to it.
    pub fn failed(&self) -> Option<&Sentence> {
        self.failure.as_ref().filter(|why| !is_not_reached(why))
    }

    /// The same, where the lane itself is to blame: its trials are not void.
    pub fn own_failure(&self) -> Option<&Sentence> {
        self.failed().filter(|_| !self.void)
    }
}

/// The same of a lane that another tool measured, and not in this.
pub const NOT_IN_ITS_FILES: &str = "not_in_its_files";

/// Whether a lane's reason is that nobody measured it in this: that is not the lane's failure.
pub fn is_not_reached(reason: &Sentence) -> bool {
    reason.said().is_some_and(|said| [NOT_REACHED, NOT_IN_ITS_FILES].contains(&said.id))
}

/// Two lanes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Pair {
    /// The lane that is judged.
    pub a: String,
    /// The lane it is judged against.
    pub b: String,
    /// a/b of rates and b/a of times, geometric, so that above 1 `a` does better; absent where
    /// nothing could be paired.
    pub ratio: Option<f64>,
    /// Interval at the confidence of the look.
    pub low: Option<f64>,
    /// Interval at the confidence of the look.
    pub high: Option<f64>,
    /// What it means.
    pub verdict: Verdict,
    /// For `undecided`: the reason.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub undecided: Option<Undecided>,
    /// Why there is no verdict, or what stands beside it.
    pub why: Option<Sentence>,
    /// For `undecided`: minutes of racing that would probably settle it.
    pub minutes_to_settle: Option<f64>,
    /// For `undecided`: rounds in all that would probably settle it. An adaptive race ends after 20;
    /// more are asked for with `--rounds`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rounds_to_settle: Option<u32>,
    /// The difference holds beside all others of its race: with 95 % none that says so is false. ANSWER and
    /// advice rest on these alone, because of many rows some differ by chance.
    #[serde(default, skip_serializing_if = "is_false")]
    pub over_race: bool,
    /// What the difference comes to at least, as `ratio` is written: the near end of an interval that holds together
    /// with those of all other pairs of the race. Absent where that interval does not leave 1 out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_least: Option<f64>,
}

/// What a pair's interval means.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// `a` is faster than `b`.
    Faster,
    /// `a` is slower than `b`.
    Slower,
    /// Apart by less than the margin.
    Tie,
    /// The interval is still too wide.
    Undecided,
    /// No verdict is possible; `why` says it.
    None,
}

// serde hands a reference to `skip_serializing_if`.
#[allow(clippy::trivially_copy_pass_by_ref)]
fn is_false(value: &bool) -> bool {
    !*value
}

// serde hands a reference to `skip_serializing_if`.
#[allow(clippy::trivially_copy_pass_by_ref)]
fn is_zero(count: &u32) -> bool {
    *count == 0
}
