//! Access patterns and directions.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Access pattern of block I/O; the names are fio's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Pattern {
    /// Sequential reads.
    Read,
    /// Sequential writes.
    Write,
    /// Random reads.
    RandRead,
    /// Random writes.
    RandWrite,
    /// Sequential reads and writes mixed.
    Rw,
    /// Random reads and writes mixed.
    RandRw,
    /// Sequential discards: holes punched into files.
    Trim,
    /// Random discards.
    RandTrim,
    /// Each block discarded, then written, sequentially.
    TrimWrite,
    /// Writes at the end of a growing file. Only in suites.
    Append,
}

/// Which way the data of one operation goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Direction {
    /// From the file into memory.
    Read,
    /// From memory into the file.
    Write,
    /// Nowhere: the range is discarded.
    Trim,
}

impl Direction {
    /// All, in the order of fio's comma-separated values.
    pub const ALL: [Direction; 3] = [Direction::Read, Direction::Write, Direction::Trim];

    /// `read`, `write` or `trim`: the name of its group.
    pub const fn name(self) -> &'static str {
        match self {
            Direction::Read => "read",
            Direction::Write => "write",
            Direction::Trim => "trim",
        }
    }
}

impl Pattern {
    /// Whether the file must be written in full before the work begins.
    pub fn needs_populated_file(self) -> bool {
        self != Pattern::Append
    }

    /// Whether some of the work reads.
    pub fn reads(self) -> bool {
        matches!(self, Pattern::Read | Pattern::RandRead | Pattern::Rw | Pattern::RandRw)
    }

    /// Whether some of the work writes.
    pub fn writes(self) -> bool {
        matches!(
            self,
            Pattern::Write | Pattern::RandWrite | Pattern::Rw | Pattern::RandRw | Pattern::TrimWrite | Pattern::Append
        )
    }

    /// Whether some of the work discards.
    pub fn trims(self) -> bool {
        matches!(self, Pattern::Trim | Pattern::RandTrim | Pattern::TrimWrite)
    }

    /// Whether reads and writes are mixed.
    pub fn mixed(self) -> bool {
        matches!(self, Pattern::Rw | Pattern::RandRw)
    }

    /// Whether offsets are random.
    pub fn random(self) -> bool {
        matches!(self, Pattern::RandRead | Pattern::RandWrite | Pattern::RandRw | Pattern::RandTrim)
    }

    /// The directions of its operations, in order.
    pub fn directions(self) -> &'static [Direction] {
        match self {
            Pattern::Read | Pattern::RandRead => &[Direction::Read],
            Pattern::Write | Pattern::RandWrite | Pattern::Append => &[Direction::Write],
            Pattern::Rw | Pattern::RandRw => &[Direction::Read, Direction::Write],
            Pattern::Trim | Pattern::RandTrim => &[Direction::Trim],
            Pattern::TrimWrite => &[Direction::Write, Direction::Trim],
        }
    }
}

/// One value for each direction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PerDirection<T> {
    /// For reads.
    pub read: T,
    /// For writes.
    pub write: T,
    /// For discards.
    pub trim: T,
}

impl<T> PerDirection<T> {
    /// The value for a direction.
    pub fn for_direction(&self, direction: Direction) -> &T {
        match direction {
            Direction::Read => &self.read,
            Direction::Write => &self.write,
            Direction::Trim => &self.trim,
        }
    }
}
