//! Lanes on real images and devices.
//!
//! One program, so that it is linked once and the tests of all files wait at the same time.

mod common;

mod abilities;
mod hierarchy;
mod journal;
mod lifecycle;
mod recovery;
mod refusals;
mod run_folders;
mod words;
