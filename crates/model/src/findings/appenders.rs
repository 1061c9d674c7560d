//! What the statistics make of appenders: how late each lane's were, and how many it sustains.

use super::Pair;
use crate::search::Criterion;
use crate::sentence::Sentence;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A workload of appenders as one table.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AppendersFinding {
    /// Name of the workload.
    pub workload: String,
    /// What a person calls it.
    pub title: String,
    /// Number of writers.
    pub writers: u32,
    /// Files of each.
    pub files: u32,
    /// Seconds from one append of a writer to the next.
    pub period_seconds: f64,
    /// Each writer is a process of its own.
    pub processes: bool,
    /// One per lane and group: appends, and reads where there are readers.
    pub rows: Vec<AppendersRow>,
}

/// One lane's appenders.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct AppendersRow {
    /// Name of the lane.
    pub lane: String,
    /// `append` or `read`.
    pub group: String,
    /// Rounds that count.
    pub rounds: u32,
    /// Writers that were late at least once as a share of all, 0 to 1; median over rounds.
    pub late_writers_share: Option<f64>,
    /// Records that were late by a period or more as a share of those that were due, 0 to 1; median over rounds.
    pub late_share: Option<f64>,
    /// Median lateness, all rounds' histograms merged, nanoseconds.
    pub p50_ns: Option<f64>,
    /// 99th percentile of lateness.
    pub p99_ns: Option<f64>,
    /// 99.9th percentile of lateness.
    pub p999_ns: Option<f64>,
    /// Largest lateness.
    pub max_ns: Option<f64>,
    /// 99th percentile of the harness's own lateness, median over rounds, nanoseconds.
    pub scheduling_p99_ns: Option<f64>,
    /// Rounds in which the backlog grew.
    pub backlog_rounds: u32,
    /// Largest `Dirty` of any round, bytes.
    pub dirty_bytes_max: Option<f64>,
    /// Largest share of iowait of any round, the mean of ten seconds, 0 to 1.
    pub iowait_share_max: Option<f64>,
    /// Largest load average of any round.
    pub load_average_max: Option<f64>,
    /// Most tasks in state D in any round.
    pub blocked_tasks_max: Option<f64>,
    /// How the lane's device is written, where that is in bursts.
    pub bursts: Option<Bursts>,
    /// The same as one sentence.
    pub story: Option<Sentence>,
    /// Why there is no figure, where there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<Sentence>,
}

/// A device that is written in bursts.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Bursts {
    /// Bursts in all rounds.
    pub count: u32,
    /// Seconds from one to the next, the median; `None`: no round holds two.
    pub every_seconds: Option<f64>,
    /// Bytes of one, the median.
    pub bytes: f64,
    /// Seconds that one lasts, the median.
    pub seconds: f64,
    /// Of all bytes written those in bursts, 0 to 1.
    pub share: f64,
    /// 99th percentile of lateness between bursts, the median over intervals, nanoseconds.
    pub p99_between_ns: Option<f64>,
    /// The same in bursts: the median over bursts of the worst interval of each.
    pub p99_in_ns: Option<f64>,
}

/// The largest number of writers that each lane sustains.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SearchFinding {
    /// Name of the workload whose writers were varied.
    pub workload: String,
    /// What a person calls it.
    pub title: String,
    /// When a lane sustains its writers.
    pub criterion: Criterion,
    /// Files of each writer.
    pub files: u32,
    /// Seconds from one append of a writer to the next.
    pub period_seconds: f64,
    /// More writers than this were not tried.
    pub most_writers: u32,
    /// Passes that all lanes which are still searched have ended.
    pub passes: u32,
    /// One per lane.
    pub lanes: Vec<SearchLane>,
    /// One per pair of lanes; above 1 `a` sustains more.
    pub pairs: Vec<Pair>,
    /// Most writers first; lanes in one list are not told apart.
    pub ranking: Vec<Vec<String>>,
    /// What a reader should know.
    pub warnings: Vec<Sentence>,
}

/// One lane's search.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct SearchLane {
    /// Name of the lane.
    pub lane: String,
    /// Writers that it sustains: the geometric mean over passes.
    pub writers: Option<f64>,
    /// 95 % interval between passes of this lane alone; absent with fewer than two.
    pub low: Option<f64>,
    /// 95 % interval between passes of this lane alone.
    pub high: Option<f64>,
    /// The lane sustains these or more: some pass ended at the most writers that are tried, or one of the next two
    /// holds.
    pub at_least: bool,
    /// Some pass ended at a number that could not be tried: the lane was full, or something else was short.
    pub could_not_go_on: bool,
    /// Some pass ended where Fairlane and the scheduler gave way, not the lane.
    #[serde(default)]
    pub harness: bool,
    /// What was the matter where it did not sustain them, of the step next to its maximum: in the last pass, or in
    /// the last one that says why the lane may sustain more.
    pub reason: Option<Sentence>,
    /// Its passes that ended.
    pub passes: Vec<SearchPass>,
    /// Why there is no figure, where there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<Sentence>,
}

/// One pass of a search in one lane.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct SearchPass {
    /// From 1.
    pub pass: u32,
    /// The largest number that was sustained below every number that was not; 0: none was.
    pub sustained: u32,
    /// The smallest number that was not sustained; `None`: every one was.
    pub too_many: Option<u32>,
    /// Steps that it took.
    pub steps: u32,
}
