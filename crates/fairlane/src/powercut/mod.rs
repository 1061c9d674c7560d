//! Power cuts, damage, full and failing disks: what `fairlane powercut` and `fairlane integrity` do.

pub mod cutting;
pub mod damage;
pub mod durability_writer;
pub mod faults;
pub mod in_guest;
pub mod recording;
pub mod replay;
pub mod saved_case;
pub mod scratch_space;
pub mod speed;
pub mod traced;

use crate::failure::Failure;
use lanes::SingleLane;
use model::durability::DurabilityLane;

/// A lane as the record keeps it.
pub fn described(single_lane: &SingleLane) -> DurabilityLane {
    DurabilityLane {
        name: single_lane.name().to_owned(),
        spec: single_lane.spec().to_line(),
        filesystem: single_lane.filesystem().to_owned(),
        mkfs_command: single_lane.mkfs_command().to_vec(),
        mount_options: single_lane.mount_options().to_vec(),
        promises: single_lane.promises(),
    }
}

/// `cannot WHAT: REASON`.
pub fn cannot(what: impl std::fmt::Display) -> impl Fn(std::io::Error) -> Failure {
    move |error| Failure::failed(format!("cannot {what}: {error}"))
}
