//! One file per command.

mod abilities;
pub mod advise;
pub mod age;
pub mod agent;
pub mod calibrate;
pub mod capture;
pub mod clean;
pub mod collect;
pub mod compare;
pub mod completions;
pub mod contest;
pub mod doctor;
pub mod durability;
pub mod explain;
pub mod fio;
mod forecast;
mod foresight;
pub mod gate;
pub mod ground;
pub mod guest;
pub mod import;
pub mod integrity;
mod lane_size;
pub mod man;
mod outputs;
pub mod page;
pub mod planning;
pub mod powercut;
#[cfg(test)]
mod proposed;
pub mod race;
pub mod rank;
pub mod recorder;
pub mod records;
pub mod replay;
pub mod report;
pub mod resume;
pub mod screen;
pub mod screening;
pub mod serve;
pub mod share;
pub mod suites;
pub mod summary;
pub mod trace;
mod trace_scenario;
pub mod trend;
mod without_root;

use crate::failure::{Failure, Status};
use lanes::{FailureKind, LaneFailure};

/// A lane's failure with its documented exit status.
pub fn lane_failure(failure: LaneFailure) -> Failure {
    let status = match failure.kind() {
        FailureKind::Usage => Status::Usage,
        FailureKind::Privilege => Status::Missing,
        FailureKind::Failed => Status::Failed,
        FailureKind::Interrupted => Status::Interrupted,
    };
    Failure { status, message: failure.to_string() }
}
