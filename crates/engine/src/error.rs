//! Why work could not be done: the fact, then the remedy where there is one.

use model::agent::Room;
use model::text::escaped_path;
use std::path::PathBuf;

/// Why work could not be done.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// A call on a file or directory failed.
    #[error("cannot {action} {}: {}", escaped_path(path), describe(*errno))]
    File {
        /// What was tried: `open`, `create`, `remove`, `sync`, …
        action: &'static str,
        /// On what.
        path: PathBuf,
        /// What the kernel answered.
        errno: i32,
    },
    /// O_DIRECT was refused when the file was opened.
    #[error(
        "this filesystem refuses direct I/O, set direct = false (cannot open {} with O_DIRECT: {})",
        escaped_path(path), describe(*errno)
    )]
    DirectRefused {
        /// The file.
        path: PathBuf,
        /// What the kernel answered.
        errno: i32,
    },
    /// One read or write failed.
    #[error("cannot {action} {bytes} bytes at offset {offset} of {}: {}{}", escaped_path(path), describe(*errno), remedy.map_or(String::new(), |remedy| format!("; {remedy}")))]
    Operation {
        /// `read`, `write` or `write and sync`.
        action: &'static str,
        /// Bytes asked for.
        bytes: u64,
        /// Offset in bytes.
        offset: u64,
        /// The file or device.
        path: PathBuf,
        /// What to do about it.
        remedy: Option<&'static str>,
        /// What the kernel answered.
        errno: i32,
    },
    /// A read or write moved fewer bytes than asked for.
    #[error(
        "{action} moved {moved} of {bytes} bytes at offset {offset} of {}; the file is shorter than the workload needs or the lane is nearly full",
        escaped_path(path)
    )]
    Short {
        /// `read` or `write`.
        action: &'static str,
        /// Bytes moved.
        moved: u64,
        /// Bytes asked for.
        bytes: u64,
        /// Offset in bytes.
        offset: u64,
        /// The file or device.
        path: PathBuf,
    },
    /// No block or no inode is left on the lane.
    #[error("{what}, in operation {operation} of step {step}; the lane is full{}", if *inodes { " (no inode is left): give mkfs more inodes or lower count" } else { ": raise --lane-size or lower count, or free space where it is a directory" })]
    Full {
        /// What failed: one sentence that names the file.
        what: String,
        /// The step's group.
        step: String,
        /// Number of the operation, from 1.
        operation: u64,
        /// Inodes are lacking, not blocks.
        inodes: bool,
        /// What the kernel answered.
        errno: i32,
    },
    /// The filesystem lacks an operation.
    #[error("{what}: this filesystem cannot do step {step}; leave the step or the lane out")]
    Unsupported {
        /// What failed: one sentence that names the file.
        what: String,
        /// The step's group.
        step: String,
        /// What the kernel or the library answered.
        errno: i32,
    },
    /// A small file does not hold what was written to it.
    #[error("{} {what}; the filesystem lost or changed data", escaped_path(path))]
    Contents {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        what: String,
    },
    /// What is read is not what was written.
    #[error(
        "{} holds wrong data at offset {offset}: {what}; the filesystem or the disk lost or changed it",
        escaped_path(path)
    )]
    Corrupt {
        /// The file.
        path: PathBuf,
        /// Offset of the block in bytes.
        offset: u64,
        /// What is wrong with it.
        what: String,
    },
    /// No such row in the table.
    #[error("no I/O engine is named {name}; choose one of {known}")]
    UnknownEngine {
        /// As asked for.
        name: String,
        /// The names there are.
        known: String,
    },
    /// The engine does not work on this machine.
    #[error("I/O engine {name} does not work here: {reason}; set ioengine = \"sync\" and iodepth = 1")]
    Unavailable {
        /// Name of the engine.
        name: &'static str,
        /// Why.
        reason: String,
    },
    /// The kernel's queue itself failed, not an operation on it.
    #[error("{engine} cannot {action}: {}", describe(*errno))]
    Ring {
        /// Name of the I/O engine.
        engine: &'static str,
        /// What was tried.
        action: &'static str,
        /// What the kernel answered.
        errno: i32,
    },
    /// The buffers do not fit into memory.
    #[error("cannot reserve {bytes} bytes of buffers: {}; lower iodepth or bs", describe(*errno))]
    Memory {
        /// Bytes asked for.
        bytes: u64,
        /// What the kernel answered.
        errno: i32,
    },
    /// What a worker of a job met, as it told it.
    #[error("{message}")]
    Worker {
        /// One sentence.
        message: String,
        /// The errno behind it, where there is one.
        errno: Option<i32>,
        /// What was read is not what was written.
        corrupt: bool,
        /// Whether the lane had room.
        room: Room,
    },
    /// The installed fio failed.
    #[error("fio failed: {message}")]
    Fio {
        /// The first line that it said about it.
        message: String,
        /// The errno that it names.
        errno: Option<i32>,
    },
    /// A tool that does one operation failed.
    #[error("{program} failed on {}: {message}", escaped_path(path))]
    Tool {
        /// Its name.
        program: &'static str,
        /// On what.
        path: PathBuf,
        /// The first line that it said about it.
        message: String,
        /// The errno that it names.
        errno: Option<i32>,
    },
    /// A program of the workload failed.
    #[error("{message}")]
    Program {
        /// One sentence with its last lines.
        message: String,
        /// The errno that it names.
        errno: Option<i32>,
    },
    /// The work and its target do not fit together, in one sentence with the remedy.
    #[error("{0}")]
    Unsuitable(String),
    /// The stop flag was set.
    #[error("interrupted")]
    Interrupted,
}

/// What the kernel answers where no block, no inode or no quota is left.
const FULL: [i32; 2] = [rustix::io::Errno::NOSPC.raw_os_error(), rustix::io::Errno::DQUOT.raw_os_error()];

impl EngineError {
    /// The errno behind the error, where there is one: `ENOSPC` tells a full lane.
    pub fn errno(&self) -> Option<i32> {
        match self {
            EngineError::File { errno, .. }
            | EngineError::DirectRefused { errno, .. }
            | EngineError::Operation { errno, .. }
            | EngineError::Full { errno, .. }
            | EngineError::Unsupported { errno, .. }
            | EngineError::Ring { errno, .. }
            | EngineError::Memory { errno, .. } => Some(*errno),
            EngineError::Worker { errno, .. }
            | EngineError::Fio { errno, .. }
            | EngineError::Tool { errno, .. }
            | EngineError::Program { errno, .. } => *errno,
            _ => None,
        }
    }

    /// Whether the filesystem lacks what was asked of it, so that asking again would not help.
    pub fn is_unsupported(&self) -> bool {
        matches!(self, EngineError::Unsupported { .. })
    }

    /// Whether the lane had no room for what was asked of it.
    pub fn room(&self) -> Room {
        match self {
            EngineError::Full { .. } => Room::FullAsSaid,
            EngineError::Worker { room, .. } => *room,
            // A full lane may show first as a write that was only half done.
            EngineError::Short { action, .. } if !action.starts_with("read") => Room::Full,
            error if error.errno().is_some_and(|errno| FULL.contains(&errno)) => Room::Full,
            _ => Room::Enough,
        }
    }

    /// Whether what was read is not what was written.
    pub fn is_corrupt(&self) -> bool {
        matches!(
            self,
            EngineError::Corrupt { .. } | EngineError::Contents { .. } | EngineError::Worker { corrupt: true, .. }
        )
    }

    pub(crate) fn worker(message: String) -> Self {
        EngineError::Worker { message, errno: None, corrupt: false, room: Room::Enough }
    }

    pub(crate) fn file(action: &'static str, path: impl Into<PathBuf>, errno: rustix::io::Errno) -> Self {
        EngineError::File { action, path: path.into(), errno: errno.raw_os_error() }
    }
}

fn describe(errno: i32) -> String {
    std::io::Error::from_raw_os_error(errno).to_string()
}

/// The remedy for an operation that was refused because it is not in whole blocks.
pub(crate) fn alignment_remedy(errno: i32, direct: bool) -> Option<&'static str> {
    (direct && errno == libc::EINVAL).then_some(
        "direct I/O needs bs and offsets in whole blocks of the filesystem or device, raise bs or set direct = false",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_lane_is_told_by_what_failed_and_by_the_kernels_answer() {
        let short = |action| EngineError::Short { action, moved: 1, bytes: 2, offset: 0, path: "f".into() };
        assert_eq!((short("write").room(), short("read").room()), (Room::Full, Room::Enough));
        let file = |errno| EngineError::file("write", "f", errno).room();
        use rustix::io::Errno;
        assert_eq!([Errno::NOSPC, Errno::DQUOT, Errno::IO].map(file), [Room::Full, Room::Full, Room::Enough]);
        let full =
            EngineError::Full { what: String::new(), step: String::new(), operation: 1, inodes: false, errno: 28 };
        assert_eq!((full.room(), EngineError::worker("x".to_owned()).room()), (Room::FullAsSaid, Room::Enough));
    }

    #[test]
    fn a_failed_operation_names_file_offset_and_errno() {
        let error = EngineError::Operation {
            action: "write",
            bytes: 4096,
            offset: 8192,
            path: "/lane/f".into(),
            remedy: alignment_remedy(libc::ENOSPC, true),
            errno: libc::ENOSPC,
        };
        assert_eq!(
            error.to_string(),
            "cannot write 4096 bytes at offset 8192 of /lane/f: No space left on device (os error 28)"
        );
        assert_eq!(error.errno(), Some(libc::ENOSPC));
    }

    #[test]
    fn names_with_a_line_break_and_with_a_backslash_are_told_apart_on_one_line() {
        let said = |name: &str| EngineError::file("create", name, rustix::io::Errno::NOENT).to_string();
        assert!(said("/lane/new\nline").starts_with("cannot create /lane/new\\nline: "), "{}", said("/lane/new\nline"));
        assert!(said("/lane/new\\nline").starts_with("cannot create /lane/new\\\\nline: "));
    }

    #[test]
    fn a_misaligned_direct_operation_carries_its_remedy() {
        let error = |direct| EngineError::Operation {
            action: "read",
            bytes: 512,
            offset: 0,
            path: "/f".into(),
            remedy: alignment_remedy(libc::EINVAL, direct),
            errno: libc::EINVAL,
        };
        assert!(error(true).to_string().contains("raise bs"));
        assert!(!error(false).to_string().contains("raise bs"));
    }
}
