//! Types that cross Fairlane's stages; no I/O.
//!
//! Everything here is plain data with a stable JSON form: what the options become ([`plan`]),
//! what the agent is told and answers ([`agent`]), what a race writes ([`record`]) and what the
//! statistics make of it ([`findings`]). Units stand in the field names.

pub mod aged;
pub mod agent;
pub mod bounds;
pub mod calibration;
pub mod disk;
pub mod durability;
pub mod event;
pub mod features;
pub mod findings;
pub mod flag;
pub mod gate;
pub mod histogram;
pub mod kinds;
pub mod lane;
pub mod machine;
pub mod metric;
mod nearest;
pub mod packages;
pub mod page;
pub mod plan;
pub mod profile;
pub mod promises;
pub mod published;
pub mod ranks;
pub mod record;
pub mod scenario;
pub mod screening;
pub mod search;
pub mod seen;
pub mod sentence;
pub mod share;
pub mod stack;
pub mod suite_text;
pub mod text;
pub mod threads;
pub mod throttle;
pub mod timeline;
pub mod trace;
pub mod trial;
pub mod units;
pub mod workload;

pub use kinds::{appenders, job, mix, oltp, operations, programs, streams};

pub use flag::{Disturbance, Disturber, Flag, Mark, NoteKind};
pub use nearest::nearest;
pub use sentence::Sentence;
pub use throttle::Throttle;
pub use units::Bytes;
