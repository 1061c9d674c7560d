//! What happens during a race, for whoever shows it: the interface between conductor and screen.

use crate::findings::{Ceiling, Findings, ResultFinding};
use crate::page::LiveRate;

/// What happens during a race.
#[derive(Debug, Clone)]
pub enum Event {
    /// Images are written in full.
    WritingImages {
        /// Bytes written.
        done_bytes: u64,
        /// Bytes to write.
        total_bytes: u64,
    },
    /// A workload begins.
    WorkloadStarted {
        /// Title of the workload.
        title: String,
        /// From 1.
        number: u32,
        /// Workloads in the race.
        of: u32,
    },
    /// A round of a workload begins.
    RoundStarted {
        /// Title of the workload.
        title: String,
        /// The workload's place in the race, from 1; rounds of an earlier one may come back at the end.
        number: u32,
        /// Round, from 1.
        round: u32,
        /// The next look.
        look_at: u32,
        /// Seconds of racing so far.
        elapsed_seconds: f64,
        /// Seconds the race may take.
        budget_seconds: Option<f64>,
    },
    /// A workload is done once more, and where its time goes is looked at.
    Explaining {
        /// Title of the workload.
        title: String,
    },
    /// A lane is at work.
    LaneStarted {
        /// Name of the lane.
        lane: String,
        /// What it does: `mkfs`, `populate`, `measure`, …
        phase: &'static str,
    },
    /// A round stands in the record.
    RoundRecorded {
        /// The last figure of each lane in this workload.
        rates: Vec<LiveRate>,
        /// Trials in the record.
        trials: u32,
    },
    /// A round was noisy and is run again.
    RoundRepeated {
        /// Title of the workload.
        title: String,
        /// Round, from 1.
        round: u32,
        /// The noise.
        reason: String,
    },
    /// A trial failed; the race goes on.
    TrialFailed {
        /// Name of the lane.
        lane: String,
        /// Title of the workload.
        title: String,
        /// One sentence.
        reason: String,
    },
    /// The ceilings are known.
    Ceilings(Vec<Ceiling>),
    /// A workload has its verdicts; sent again if later rounds settle what was undecided.
    Verdicts(Vec<ResultFinding>),
    /// The race is over.
    Finished(Box<Findings>),
    /// Its HTML report lies beside its record.
    ReportWritten {
        /// Where, as the user should see and type it.
        path: String,
    },
}
