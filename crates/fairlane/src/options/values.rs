//! Words that options of `race` take, and options of a command that Fairlane gives itself.

use clap::{Args, ValueEnum};
use std::path::PathBuf;

/// What becomes of a disk of every lane.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum LaneState {
    /// The last one is taken out
    Degraded,
    /// The last one is rebuilt beside the work
    Rebuilding,
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
