//! Files over FUSE: a disk that records what is done to it, one that shows a crash image, or one that notes what is
//! read.
//!
//! It is always served by a process of its own: inside the process that uses the filesystem on top,
//! the kernel's journal thread would wait for a thread that waits for the journal.

mod image_disk;
mod one_file;
mod recording;
mod watching;

pub use image_disk::ImageDisk;
pub use one_file::{Disk, FILE, MOST_DISKS, file_of, mount_and_serve, mount_fuse};
pub use recording::RecordingDisk;
pub use watching::{WATCHED_BLOCK, WatchingDisk};
