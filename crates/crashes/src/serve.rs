//! One file over FUSE: a disk that records what is done to it, or one that shows a crash image.
//!
//! It is always served by a process of its own: inside the process that uses the filesystem on top,
//! the kernel's journal thread would wait for a thread that waits for the journal.

mod image_disk;
mod one_file;
mod recording;

pub use image_disk::ImageDisk;
pub use one_file::{Disk, FILE, mount_and_serve};
pub use recording::RecordingDisk;
