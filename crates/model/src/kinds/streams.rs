//! Large files: written, read, both at the same time, removed.

use super::job::{Io, Pattern};
use super::{COUNTERPART_SLICES, Demand, Schedule, Traffic, WorkloadKind};
use crate::Bytes;
use crate::record::Profile;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Large files, through the page cache as programs use it. They are written from memory one after another,
/// read cold by all readers at the same time, read cold again while writers write files of their own, and
/// removed. Writing and removing include the sync that makes them stable.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Streams {
    /// Bytes of each file, 1 MiB to 16 TiB.
    pub size: Bytes,
    /// Bytes of one call, 4 KiB to 64 MiB.
    #[serde(default = "usual_block")]
    pub block: Bytes,
    /// Files that are read at the same time, each by a thread, 1 to 256.
    #[serde(default = "one")]
    pub readers: u32,
    /// Files that are written beside them, each by a thread, 1 to 256.
    #[serde(default = "one")]
    pub writers: u32,
}

/// The groups in order.
pub const STREAM_GROUPS: [&str; 4] = ["write", "read", "read+write", "delete"];

fn usual_block() -> Bytes {
    Bytes(Bytes::MIB)
}

fn one() -> u32 {
    1
}

impl Streams {
    /// Bytes of all files at the end.
    pub fn working_set_bytes(&self) -> u64 {
        let files = u64::from(self.readers) + u64::from(self.writers);
        self.size.get().saturating_mul(files)
    }

    /// What is wrong with the parameters, as one sentence with the remedy.
    ///
    /// # Errors
    /// The sentence, naming the key.
    pub fn check(&self) -> Result<(), String> {
        if !(Bytes::MIB..=16 << 40).contains(&self.size.get()) {
            return Err("size must lie between 1MiB and 16TiB".to_owned());
        }
        if !(4096..=64 * Bytes::MIB).contains(&self.block.get()) || self.block.get() > self.size.get() {
            return Err("block must lie between 4KiB and 64MiB, and within size".to_owned());
        }
        for (key, count) in [("readers", self.readers), ("writers", self.writers)] {
            if !(1..=256).contains(&count) {
                return Err(format!("{key} must lie between 1 and 256"));
            }
        }
        Ok(())
    }
}

/// Measured seconds of a counterpart's slice.
const SLICE_SECONDS: f64 = 0.25;
/// Bytes that a counterpart works on at most: more tells nothing more about a disk.
const MOST_COUNTERPART_BYTES: u64 = 256 << 20;

impl WorkloadKind for Streams {
    fn groups(&self) -> Vec<String> {
        STREAM_GROUPS.map(str::to_owned).to_vec()
    }

    fn check(&self) -> Result<(), String> {
        Streams::check(self)
    }

    // A large file is read and written at a stretch: parts of it would leave the cache to the others.
    fn schedule(&self) -> Schedule<'_> {
        Schedule::Phases { in_parts: false }
    }

    fn working_set_bytes(&self) -> u64 {
        Streams::working_set_bytes(self)
    }

    // Written and read again and again.
    fn traffic(&self) -> Traffic {
        Traffic::of_pages(4.0 * self.working_set_bytes() as f64)
    }

    // Written, read, and read beside what the writers write.
    fn demand(&self) -> Demand {
        let (size, readers) = (self.size.get() as f64, f64::from(self.readers));
        let written = size * (readers + f64::from(self.writers));
        Demand {
            moved_bytes: written + 2.0 * size * readers,
            written_bytes: written,
            remounts: 2.0,
            ..Demand::default()
        }
    }

    fn concurrency(&self, _: &str) -> u32 {
        self.readers.saturating_add(self.writers)
    }

    fn begins_cold(&self, group: &str) -> bool {
        group.starts_with("read")
    }

    fn bare_counterparts(&self) -> Vec<(Profile, Io)> {
        let of = |(profile, rw)| {
            let io = Io {
                rw,
                bs: Bytes(1 << 20),
                size: Bytes((self.size.get() >> 20 << 20).min(MOST_COUNTERPART_BYTES)),
                ioengine: "io_uring".to_owned(),
                iodepth: 8,
                direct: true,
                slices: COUNTERPART_SLICES,
                slice_seconds: SLICE_SECONDS,
                ..Io::default()
            };
            (profile, io)
        };
        [(Profile::SeqWrite, Pattern::Write), (Profile::SeqRead, Pattern::Read)].map(of).to_vec()
    }

    fn is_ceiling_of(&self, profile: Profile, group: &str) -> bool {
        match group {
            "read" => profile == Profile::SeqRead,
            "write" => profile == Profile::SeqWrite,
            // Both ways at once, and removing: no profile is alike.
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_each_for_readers_and_writers() {
        let of: Streams = toml::from_str("size = \"2GB\"\nreaders = 3").unwrap();
        assert_eq!((of.check(), of.working_set_bytes()), (Ok(()), 8_000_000_000));
        for wrong in ["size = \"1KiB\"", "size = \"1GiB\"\nblock = \"1KiB\"", "size = \"1GiB\"\nwriters = 0"] {
            assert!(toml::from_str::<Streams>(wrong).unwrap().check().is_err(), "{wrong}");
        }
    }
}
