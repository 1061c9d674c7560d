//! A lane's life: specification, formatted, mounted, cold or warm, gone.
//!
//! [`LaneSet`] is the whole of it for the conductor; everything else is a part that can be used and
//! tested alone. What a lane makes on the machine stands in the undo [`Journal`] before it is
//! made, so that [`undo::recover`] can take it away after any kind of death.
//!
//! To add a filesystem: one file in [`filesystems`].

mod abilities;
mod above;
mod architecture;
pub mod availability;
pub mod capacity;
pub mod command;
pub mod command_guest;
mod confined;
mod contestant;
pub mod custom;
pub mod device;
pub mod disk;
pub mod extents;
mod failure;
pub mod filesystems;
mod formatting;
mod geometry;
mod guarantees;
pub mod guest;
mod guest_needs;
pub mod host;
pub mod image;
mod joined;
pub mod kept_images;
mod lane_set;
mod layers;
mod let_go;
mod library;
pub mod loop_device;
pub mod missing;
pub mod mkfs_words;
pub mod mount;
mod mount_words;
pub mod mountinfo;
mod other_devices;
pub mod plain;
mod promises;
mod recover;
mod replacing;
pub mod run_folder;
mod same_names;
pub mod screened_options;
pub mod signature;
mod single_lane;
pub mod states;
mod throttle;
pub mod undo;
mod undo_server;
mod venues;

pub use abilities::Lack;
pub use architecture::Architecture;
pub use confined::confine_this_thread;
pub use failure::{FailureKind, LaneFailure};
pub use lane_set::{Closed, Cold, LaneSet, LargestWork, Opened, OptionTrial, Settings, lock_kernel};
pub use layers::{VmLock as KernelLock, least_words as layer_words};
pub use single_lane::{Consistency, Ground, Scrub, SingleLane, check_can_lose_disk, survey_checkers};
pub use undo::Journal;
