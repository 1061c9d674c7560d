//! What a race will do, decided before anything is written.

use crate::Bytes;
use crate::Throttle;
use crate::bounds::MOST_RANKS;
use crate::lane::{LaneSpec, twin_name};
use crate::ranks::{JobRanks, LAUNCHERS};
use crate::screening::Screening;
use crate::search::FindMax;
use crate::throttle::Throttles;
use crate::workload::Workload;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The program that races over MPI, as a command line begins with it.
pub const OVER_MPI: &str = "fairlane-mpi";

/// Whether a command line races over MPI, with or without what starts the ranks in front.
pub fn is_over_mpi(command_line: &[String]) -> bool {
    let program = match command_line.first().is_some_and(|word| LAUNCHERS.contains(&word.as_str())) {
        // Each of its options has a value: `srun -N 2 -n 8`.
        true => command_line[1..].chunks(2).find(|two| !two[0].starts_with('-')).map(|two| &two[0]),
        false => command_line.first(),
    };
    program.is_some_and(|program| program == OVER_MPI)
}

/// What a race will do; kept in the record's header, so that it can be run again and resumed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Plan {
    /// Name of the suite.
    pub suite: String,
    /// What the suite leaves out.
    #[serde(default)]
    pub not_tested: Vec<String>,
    /// A first answer: the width condition of method 2.1 falls.
    pub first_answer: bool,
    /// The article's own method, run once (`--as-published`).
    #[serde(default, skip_serializing_if = "is_false")]
    pub as_published: bool,
    /// A filesystem against itself, to know the machine's noise (`fairlane calibrate`).
    #[serde(default, skip_serializing_if = "is_false")]
    pub calibration: bool,
    /// The lanes are the runs of a designed experiment (`fairlane screen`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub screening: Option<Screening>,
    /// The largest number of writers that each lane sustains is searched for, instead of a race (`race --find-max`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub find_max: Option<FindMax>,
    /// Where the time of operations goes is looked at in passes behind the rounds (`race --explain`).
    #[serde(default, skip_serializing_if = "is_false")]
    pub explain: bool,
    /// Of those passes, only the ones that the budget has room for: nobody but the suite asked for them.
    #[serde(default, skip_serializing_if = "is_false")]
    pub explain_in_time: bool,
    /// The contestants in the order of the command line.
    pub lanes: Vec<LaneSpec>,
    /// The first lane runs twice.
    pub with_self: bool,
    /// The workloads in racing order.
    pub workloads: Vec<Workload>,
    /// How many rounds.
    pub rounds: Rounds,
    /// Tie margin as a share: 0.05.
    pub margin: f64,
    /// Seconds of racing; `None`: as many as the rounds take.
    pub budget_seconds: Option<f64>,
    /// Size of each lane.
    pub lane_size: Bytes,
    /// The disk that the device of every lane is held to that has none of its own (`--throttle LIMITS`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub throttle: Option<Throttle>,
    /// Lanes' own disks by the lane's name (`--throttle LANE:LIMITS`); each replaces `throttle` wholly.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub lane_throttles: BTreeMap<String, Throttle>,
    /// Seed of every order, offset and byte.
    pub seed: u64,
    /// Where the lanes live.
    pub on: Ground,
    /// What guests are made of, as far as it was asked for.
    #[serde(default, skip_serializing_if = "GuestTerms::is_usual")]
    pub guest: GuestTerms,
    /// The ranks of the MPI job that does the work in every lane; `None`: there is no such job.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ranks: Option<JobRanks>,
    /// The command line that runs this race again.
    pub command_line: Vec<String>,
}

impl Plan {
    /// The command line that runs this race again. Anybody may have written a record: what is no
    /// race of Fairlane's is none to type, and nothing is answered.
    pub fn again(&self) -> &[String] {
        let words = match self.command_line.split_first() {
            Some((first, rest)) if ["fairlane", OVER_MPI].contains(&first.as_str()) => rest,
            _ => &self.command_line,
        };
        match words.first().is_some_and(|command| ["race", "fio", "calibrate", "screen"].contains(&command.as_str())) {
            true => &self.command_line,
            false => &[],
        }
    }

    /// The same as it is typed: of a race over MPI with what starts as many ranks in front, up to [`MOST_RANKS`].
    pub fn as_typed(&self) -> Vec<String> {
        let again = self.again();
        let job = self.ranks.as_ref().filter(|job| is_over_mpi(again) && (1..=MOST_RANKS).contains(&job.ranks));
        job.map(JobRanks::launch).into_iter().flatten().chain(again.iter().cloned()).collect()
    }

    /// No pass looks where the time goes, and the command line that runs the race again asks for none.
    pub fn leave_out_passes(&mut self) {
        let by_itself = self.explain_in_time;
        (self.explain, self.explain_in_time) = (false, false);
        self.command_line.retain(|word| !(word == "--explain" || word.starts_with("--explain=")));
        if by_itself {
            self.command_line.push("--explain=no".to_owned());
        }
    }

    /// How many do a workload at once, by its name: ranks of an MPI job, or this one process.
    pub fn at_work(&self, workload: &str) -> u32 {
        self.ranks.as_ref().map_or(1, |of| of.at_work(workload))
    }

    /// What the lanes' devices are held to, all of it.
    pub fn throttles(&self) -> Throttles {
        Throttles { base: self.throttle, lanes: self.lane_throttles.clone() }
    }

    /// What the device of a lane is held to, by the lane's name in the record's header: the first lane's
    /// twin (`with_self`) has the first lane's disk. `None`: nothing.
    pub fn throttle_of(&self, lane: &str) -> Option<Throttle> {
        let twin_of = self.lanes.first().filter(|first| self.with_self && lane == twin_name(&first.name));
        let lane = twin_of.map_or(lane, |first| first.name.as_str());
        self.lane_throttles.get(lane).copied().or(self.throttle)
    }

    /// Whether anything is held at all.
    pub fn is_throttled(&self) -> bool {
        self.throttle.is_some() || !self.lane_throttles.is_empty()
    }
}

/// What the guests of a race are made of; what is `None` has Fairlane's usual value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct GuestTerms {
    /// CPUs of a QEMU guest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpus: Option<u32>,
    /// Memory of each guest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory: Option<Bytes>,
    /// User-mode Linux opens its images O_SYNC, so that each write waits for the disk.
    #[serde(default, skip_serializing_if = "is_false")]
    pub sync: bool,
}

impl GuestTerms {
    /// Whether nothing was asked for.
    pub fn is_usual(&self) -> bool {
        *self == GuestTerms::default()
    }
}

/// How many rounds a workload runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Rounds {
    /// Until decided, looked at after 6, 8, 10, 14 and 20.
    Auto,
    /// Exactly so many, one look at the end.
    Fixed(u32),
}

/// Where lanes without a venue of their own live.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Ground {
    /// Image files in this directory, side by side.
    Images(std::path::PathBuf),
    /// One block device, in turns.
    Device(std::path::PathBuf),
    /// Several block devices, in turns: each lane stands on the first ones, as many as it takes.
    Disks(Vec<std::path::PathBuf>),
}

/// The looks of an adaptive race, in rounds (method 2.1).
pub const LOOKS: [u32; 5] = [6, 8, 10, 14, 20];

// serde hands a reference to `skip_serializing_if`.
#[allow(clippy::trivially_copy_pass_by_ref)]
fn is_false(value: &bool) -> bool {
    !*value
}
