//! Power cuts on one lane: record the work, show every image, look at what is left.

pub mod bench;
pub mod recording;
pub mod replay;
