//! Power cuts.
//!
//! A filesystem of the real kernel stands on one file, which a process of our own serves over FUSE
//! ([`serve`]) and whose writes, flushes and acknowledgements it writes down ([`log`]). From that log
//! comes every image that a power cut could have left ([`image`]): what a flush confirmed is there,
//! of the rest any part may be ([`survive`]). [`work`] makes the load and knows what it was promised.
//!
//! To add a kind of work: one file in `work` and one row in its table.

pub mod control;
pub mod crash_model;
pub mod image;
pub mod log;
pub mod serve;
pub mod work;

pub use control::{Recorder, Replayer, Watcher};
