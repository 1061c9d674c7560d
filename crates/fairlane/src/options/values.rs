//! Words that options of `race` take, and options of a command that Fairlane gives itself.

use clap::{Args, ValueEnum};
use model::aged::{self, AgedSpec};
use std::path::PathBuf;
use std::str::FromStr;

/// What becomes of a disk of every lane.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LaneState {
    /// The last one is taken out
    Degraded,
    /// The last one is rebuilt beside the work
    Rebuilding,
    /// Its filesystem has a past
    Past(Option<AgedSpec>, Option<u8>),
}

impl FromStr for LaneState {
    type Err = String;

    fn from_str(text: &str) -> Result<LaneState, String> {
        match text.to_ascii_lowercase().as_str() {
            "degraded" => Ok(LaneState::Degraded),
            "rebuilding" => Ok(LaneState::Rebuilding),
            _ => match aged::read_states(text) {
                Some((aged, full_percent)) => Ok(LaneState::Past(aged, full_percent)),
                None => Err(format!("there is no such state; states are degraded, rebuilding, {}", aged::STATES)),
            },
        }
    }
}

/// Whether passes look where the time of operations goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Passes {
    /// Of every workload, beyond the budget where it has no room for them
    Yes,
    /// Not even where the suite asks for it
    No,
}

/// When a lane sustains its writers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum FindMaxBy {
    /// p99 lateness under one period, and no growing backlog
    Lateness,
    /// Load average of one minute at most the number of CPUs
    Load,
}

/// One name of a list of devices.
pub(super) fn parse_device(text: &str) -> Result<PathBuf, String> {
    match text.trim() {
        "" => Err("a name is empty; write the devices with one comma between two: /dev/a,/dev/b".to_owned()),
        name => Ok(name.into()),
    }
}

/// One of several numbers of ranks. Which of them a job can have is said by who knows how many it has.
pub(super) fn parse_ranks(text: &str) -> Result<u32, String> {
    let number = text.trim().parse::<u32>();
    number.map_err(|_| "write whole numbers from 1 on with one comma between two: 1,2,4,8".to_owned())
}

/// What a rank of an MPI job is told.
#[derive(Debug, Args)]
pub struct Rank {
    /// The command line of `fairlane-mpi`.
    #[arg(last = true)]
    pub words: Vec<std::ffi::OsString>,
}

/// What the keeper of a guest is told.
#[derive(Debug, Args)]
pub struct GuestKeeper {
    /// Process id of the race.
    pub parent: u32,
    /// The guest's own folder, removed at the end.
    pub folder: PathBuf,
    /// The guest prints on its standard output: the channel gets numbers of its own.
    #[arg(long)]
    pub apart: bool,
    /// User-mode Linux sets all extended registers of its processes.
    #[arg(long)]
    pub whole_registers: bool,
    /// The guest's command.
    #[arg(last = true, required = true)]
    pub command: Vec<std::ffi::OsString>,
}
