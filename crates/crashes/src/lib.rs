//! Power cuts.
//!
//! A filesystem of the real kernel stands on one file, which a process of our own serves over FUSE
//! ([`serve`]) and whose writes, flushes and acknowledgements it writes down ([`log`]). From that log
//! comes every image that a power cut could have left ([`image`]): what a flush confirmed is there,
//! of the rest any part may be ([`crash_model`]).

pub mod control;
pub mod crash_model;
pub mod image;
pub mod log;
pub mod serve;

pub use control::{Recorder, Replayer, Watcher};
