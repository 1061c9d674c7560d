//! What the page shows: the HTML report and the dashboard are one page, and this is its data.
//!
//! `stats::page` makes it of a record and its findings; `ui/` draws it and decides nothing. The page's
//! own types are generated from these (`schema/page.schema.json`).

use crate::findings::{Comparison, Findings, Part, PublishedComparison};
use crate::profile::{Activity, ThreadRole};
use crate::trial::Outcome;
use schemars::JsonSchema;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use std::collections::BTreeMap;

/// The schema of the page's data.
pub const PAGE_SCHEMA: u32 = 1;

/// A language that people read reports in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Language {
    /// English.
    #[default]
    En,
    /// Chinese, simplified.
    Zh,
    /// German.
    De,
}

/// The data of the page.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Page {
    /// [`PAGE_SCHEMA`].
    pub schema: u32,
    /// Version of Fairlane.
    pub version: String,
    /// The language that the page opens in; the reader can switch.
    pub language: Language,
    /// What it shows first.
    pub show: Show,
}

/// What a page shows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum Show {
    /// One race: the HTML report.
    Race {
        /// The race.
        race: Box<RacePage>,
    },
    /// The dashboard: the page asks its own server for records (`/api/…`).
    Dashboard,
}

/// One race, as the page shows it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RacePage {
    /// Where the record lies, as the user types it; `None`: nowhere.
    pub record: Option<String>,
    /// Of a screening of which something is left the words behind `fairlane` that go on with it, in which `RECORD` stands for where
    /// the record lies; empty: nothing is, or nothing was screened.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub resume: Vec<String>,
    /// What the statistics make of it.
    pub findings: Findings,
    /// What lies behind each result, in the order of `findings.results`.
    pub details: Vec<Detail>,
    /// What the system did, in the order of the plan's workloads.
    #[serde(rename = "courses")]
    pub timelines: Vec<Timeline>,
    /// Every trial.
    pub trials: Trials,
    /// Stacks of the passes that explain; empty where there were none.
    #[serde(default, skip_serializing_if = "Stacks::is_empty")]
    pub stacks: Stacks,
    /// Of a screening the effects against chance, one per result that tells any; empty where nothing was screened.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub half_normal: Vec<HalfNormal>,
    /// Published figures of the same work beside this race.
    pub published: Vec<PublishedComparison>,
    /// What stands beside verdicts without voiding them, and how job files were taken; each once.
    pub notes: Vec<String>,
    /// How the first lane did against itself; `None`: it was not raced twice.
    pub self_check: Option<SelfCheck>,
    /// The sentences of the findings in other languages than English.
    pub sentences: BTreeMap<Language, Sentences>,
}

/// Sentences that the statistics say, by the English one.
pub type Sentences = BTreeMap<String, String>;

/// How the same lane, raced twice, did against itself: results by their verdict.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SelfCheck {
    /// Name of the lane.
    pub lane: String,
    /// Ties.
    pub ties: u32,
    /// Too noisy to rank.
    pub undecided: u32,
    /// Called faster or slower: the race shows differences of that size where there are none.
    pub apart: u32,
    /// Without a verdict.
    pub without_verdict: u32,
    /// The lowest bound among the ties, as a ratio; `None`: none has an interval.
    pub low: Option<f64>,
    /// The highest.
    pub high: Option<f64>,
}

/// What lies behind one result: every round, and the latencies.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Detail {
    /// What the bare disk does of this very work, in the unit of the result; `None`: that is not known, or
    /// a lane's disk was held to other limits.
    pub ceiling: Option<f64>,
    /// One per lane, in the order of the findings' lanes.
    pub lanes: Vec<LaneDetail>,
}

/// One lane of a result.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LaneDetail {
    /// Name of the lane.
    pub lane: String,
    /// The result's metric in each round that counts; at most 2,000, evenly chosen with the smallest
    /// and the largest.
    pub rounds: Vec<RoundFigure>,
    /// How many rounds count in all.
    pub rounds_in_all: u32,
    /// Latency of single operations, all rounds merged: rising percentiles up to where 20 operations
    /// are slower; empty where no histogram was kept.
    pub latency: Vec<PercentilePoint>,
}

/// The figure of one round.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RoundFigure {
    /// Round, from 1.
    pub round: u32,
    /// In the unit of the result.
    pub value: f64,
}

/// A point of a curve of percentiles.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PercentilePoint {
    /// 0 to 100.
    pub percentile: f64,
    /// Nanoseconds.
    pub ns: f64,
}

/// The effects of a screening on one figure against what chance alone would make them: a half-normal plot.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HalfNormal {
    /// Name of the workload.
    pub workload: String,
    /// Name of the group.
    pub group: String,
    /// From the smallest effect to the largest.
    pub points: Vec<HalfNormalPoint>,
}

/// One effect of a half-normal plot.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HalfNormalPoint {
    /// The option; absent: a column that none stands in, whose effect is chance, or three options together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub factor: Option<String>,
    /// What a normal effect of this place would be, in standard deviations.
    pub quantile: f64,
    /// Size of the effect's logarithm, 0 or more.
    pub size: f64,
}

/// What the system did while one workload was raced.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Timeline {
    /// Name of the workload.
    pub workload: String,
    /// What a person calls it.
    pub title: String,
    /// One per lane, in the order of the findings' lanes.
    pub lanes: Vec<LaneTimeline>,
}

/// What the system did while one lane was at one workload. All lists are of equal length, in time
/// order, at most 2,000 points; of more the smallest and the largest of each stretch are kept.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct LaneTimeline {
    /// Name of the lane.
    pub lane: String,
    /// Seconds of this lane's measured time so far: its windows one after the other, so that lanes can
    /// be laid over each other.
    pub seconds: Vec<f64>,
    /// The round of each point.
    pub rounds: Vec<u32>,
    /// What was watched, one list per quantity; a quantity that was not known is absent.
    pub quantities: BTreeMap<Quantity, Vec<f64>>,
}

/// What is watched of the system.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Quantity {
    /// Operations of the application per second.
    OperationsPerSecond,
    /// User and system time as a share of all CPUs, 0 to 1.
    CpuShare,
    /// Idle while I/O was outstanding, as a share of all CPUs, 0 to 1.
    IowaitShare,
    /// Taken by the hypervisor, as a share of all CPUs, 0 to 1.
    StealShare,
    /// Bytes that the lane's device read per second.
    DeviceReadBytesPerSecond,
    /// Bytes that the lane's device wrote per second.
    DeviceWriteBytesPerSecond,
    /// Requests that the lane's device completed per second.
    DeviceIops,
    /// Flushes of the lane's device per second.
    DeviceFlushesPerSecond,
    /// Requests in flight at the lane's device, the mean.
    DeviceQueue,
    /// Share of the time in which the lane's device had a request in flight, 0 to 1.
    DeviceBusyShare,
    /// Bytes in the page cache that still have to be written.
    DirtyBytes,
    /// Share of the time in which some task waited for I/O, 0 to 1.
    PressureIoShare,
    /// Bytes of the page cache that belong to block devices (`Buffers`).
    BuffersBytes,
    /// Bytes of files in the page cache (`Cached`).
    CachedBytes,
    /// Bytes of the page cache that are on their way to a disk.
    WritebackBytes,
    /// The mean of the iowait share over the last ten seconds, 0 to 1.
    IowaitAverageShare,
    /// The load average of one minute.
    LoadAverage,
    /// Tasks that wait in the kernel and cannot be interrupted (state D).
    BlockedTasks,
    /// CPU time of the kernel's workers (kworker) as a share of all CPUs, 0 to 1.
    KworkerShare,
    /// Reads that the lane's device completed per second.
    DeviceReadsPerSecond,
    /// Writes that the lane's device completed per second.
    DeviceWritesPerSecond,
}

/// Stacks that passes of `--explain` saw, for flame graphs. At most 60,000; of more each lane keeps those with the most time.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Stacks {
    /// Names of functions, each once; frames are places in it.
    pub names: Vec<String>,
    /// One per workload, group and lane.
    pub lanes: Vec<LaneStacks>,
}

impl Stacks {
    /// Whether nothing was profiled.
    pub fn is_empty(&self) -> bool {
        self.lanes.is_empty()
    }
}

/// Stacks of one group of one workload in one lane.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct LaneStacks {
    /// Name of the workload.
    pub workload: String,
    /// Name of the group; empty: all groups share a window, and so the stacks.
    pub group: String,
    /// Name of the lane.
    pub lane: String,
    /// Operations that were done meanwhile.
    pub operations: u64,
    /// Samples on CPUs.
    pub samples: u64,
    /// Seconds of stacks that are not among them.
    pub left_out_seconds: f64,
    /// Those with the most time first.
    pub stacks: Vec<Stack>,
}

/// Time of threads in one stack.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Stack {
    /// What the threads are to the lane.
    pub role: ThreadRole,
    /// On a CPU, or waiting.
    pub activity: Activity,
    /// What the table of causes counts it for.
    pub part: Part,
    /// Seconds.
    pub seconds: f64,
    /// Outermost first, as places in the names; none: outside of the kernel, or a wait that began before anybody looked.
    pub frames: Vec<u32>,
}

/// Every trial as a table of columns; of each row what the record holds of it. Lists are of equal
/// length. At most 20,000 rows; where there were more, `in_all` says how many.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Trials {
    /// How many rows there would be.
    pub in_all: u64,
    /// Names that the columns `workload`, `group` and `lane` point into.
    pub names: Vec<String>,
    /// Index into `names`.
    pub workload: Vec<u32>,
    /// Index into `names`; of a trial without figures the empty name.
    pub group: Vec<u32>,
    /// Index into `names`.
    pub lane: Vec<u32>,
    /// Round, from 1.
    pub round: Vec<u32>,
    /// 1, or 2 and up where a noisy round was repeated.
    pub attempt: Vec<u32>,
    /// How it ended.
    pub outcome: Vec<Outcome>,
    /// Seconds after the race started.
    pub started_seconds: Vec<f64>,
    /// The group's own metric; `None`: no figure.
    pub value: Vec<Option<f64>>,
    /// Completed operations.
    pub operations: Vec<u64>,
    /// Bytes of the application.
    pub bytes: Vec<u64>,
    /// Measured seconds.
    pub seconds: Vec<f64>,
    /// 99th percentile of latency, nanoseconds.
    pub p99_ns: Vec<Option<f64>>,
    /// Why it failed, was repeated or is void, and its flags, in one text; by row.
    #[serde(deserialize_with = "by_row")]
    pub remarks: BTreeMap<u32, String>,
}

/// Keys of JSON are texts. Inside an enum that tells its variants apart by a key, serde does not turn
/// them into numbers by itself.
fn by_row<'de, D: Deserializer<'de>>(deserializer: D) -> Result<BTreeMap<u32, String>, D::Error> {
    let remarks = BTreeMap::<String, String>::deserialize(deserializer)?;
    let row = |(row, said): (String, String)| Ok((row.parse::<u32>().map_err(D::Error::custom)?, said));
    remarks.into_iter().map(row).collect()
}

/// What `/api/records` of the dashboard answers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RecordList {
    /// Newest first.
    pub records: Vec<RecordEntry>,
    /// Files that are no records, each with the reason.
    pub unreadable: Vec<String>,
}

/// One record that is kept.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RecordEntry {
    /// Name by which `/api/race/NAME` answers it.
    pub name: String,
    /// RFC 3339, UTC.
    pub started: String,
    /// Name of the suite.
    pub suite: String,
    /// Names of the lanes.
    pub lanes: Vec<String>,
    /// What is raced, in order.
    pub workloads: Vec<EntryWorkload>,
    /// Operating system, kernel and CPU in one line.
    pub machine: String,
    /// Kernel release.
    pub kernel: String,
    /// `complete`, `interrupted`, `failed`, `running`, or `unfinished` where no end was written and
    /// nobody writes it.
    pub outcome: String,
    /// Trials so far.
    pub trials: u32,
}

/// A workload of a record that is kept.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct EntryWorkload {
    /// Its name.
    pub name: String,
    /// What a person calls it.
    pub title: String,
    /// Names of its groups, in order.
    pub groups: Vec<String>,
}

/// What `/api/live` sends, one JSON object per server-sent event.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "lowercase")]
#[allow(clippy::large_enum_variant, reason = "one is made per event, and a box would be in everybody's way")]
pub enum Live {
    /// No race is running.
    Idle,
    /// A race is running.
    Running {
        /// Its record's name.
        record: String,
        /// RFC 3339, UTC.
        started: String,
        /// Name of the suite.
        suite: String,
        /// Title of the workload.
        workload: String,
        /// From 1.
        number: u32,
        /// Workloads in the race.
        of: u32,
        /// Round, from 1; 0 before the first.
        round: u32,
        /// The lane at work; empty between them.
        lane: String,
        /// What it does: `mkfs`, `populate`, `measure`, …; empty between them.
        phase: String,
        /// Seconds since the race began.
        elapsed_seconds: f64,
        /// Seconds that it may take.
        budget_seconds: Option<f64>,
        /// The last figure of each lane in this workload.
        rates: Vec<LiveRate>,
        /// Trials in the record: when it grows, the race is worth asking for again.
        trials: u32,
    },
}

/// The last figure of a lane.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LiveRate {
    /// Name of the lane.
    pub lane: String,
    /// Name of the group.
    pub group: String,
    /// The group's own metric.
    pub metric: String,
    /// Its value in the last round.
    pub value: f64,
    /// That round.
    pub round: u32,
}

/// What `/api/trend` answers: one figure over many records.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Trend {
    /// Name of the workload.
    pub workload: String,
    /// What a person calls it.
    pub title: String,
    /// Name of the group.
    pub group: String,
    /// The metric.
    pub metric: String,
    /// Whether more is better.
    pub higher_is_better: bool,
    /// The format of another tool's results that all of its figures were read from; empty: they were raced.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub imported: String,
    /// One per record and lane, in the order of starts.
    pub points: Vec<TrendPoint>,
    /// What has a figure of this name and is no point, because it is other work than the newest record's
    /// or of a lane made in another way; one sentence each.
    pub left_out: Vec<String>,
}

/// One record's figure.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TrendPoint {
    /// Name of the record.
    pub record: String,
    /// RFC 3339, UTC.
    pub started: String,
    /// Kernel release.
    pub kernel: String,
    /// Operating system, kernel and CPU in one line: figures of different machines are no trend.
    pub machine: String,
    /// Tells machines apart that look alike; empty: the record does not say.
    pub machine_id_hash: String,
    /// Name, model and size of the disk: figures of different disks are no trend.
    pub disk: String,
    /// Name of the lane.
    pub lane: String,
    /// Geometric mean over rounds; arithmetic, and without an interval, where the lane stood still in some.
    pub mean: f64,
    /// 95 % interval of this lane alone.
    pub low: Option<f64>,
    /// 95 % interval of this lane alone.
    pub high: Option<f64>,
}

/// What `/api/compare?a=NAME&b=NAME[&b=NAME…]` answers: the first record against each other one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Comparisons {
    /// One per further record, in the order asked for.
    pub comparisons: Vec<Comparison>,
}
