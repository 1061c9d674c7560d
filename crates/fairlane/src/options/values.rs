//! Words that options of `race` take.

use clap::ValueEnum;
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
