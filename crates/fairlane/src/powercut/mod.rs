//! Power cuts, damage, full and failing disks: what `fairlane powercut` and `fairlane integrity` do.

pub mod bench;
pub mod cutting;
pub mod damage;
pub mod faults;
pub mod kept;
pub mod notebook;
pub mod recording;
pub mod replay;
pub mod speed;

use crate::failure::Failure;
use lanes::Specimen;
use model::durability::DurabilityLane;

/// A lane as the record keeps it.
pub fn described(specimen: &Specimen) -> DurabilityLane {
    DurabilityLane {
        name: specimen.name().to_owned(),
        spec: specimen.spec().to_line(),
        filesystem: specimen.filesystem().to_owned(),
        mkfs_command: specimen.mkfs_command().to_vec(),
        mount_options: specimen.mount_options().to_vec(),
        promises: specimen.promises(),
    }
}

/// `cannot WHAT: REASON`.
pub fn cannot(what: impl std::fmt::Display) -> impl Fn(std::io::Error) -> Failure {
    move |error| Failure::failed(format!("cannot {what}: {error}"))
}
