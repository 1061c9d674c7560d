//! Why a lane cannot be raced, sorted by who can help.

use rustix::io::Errno;
use std::fmt;

/// What the kernel answers to what it was told: mount(2), and filesystems of an option, a size or a feature that they
/// do not take, or whose code (checksums, compression, quotas) the kernel has not. Every other error is the machine's:
/// a disk that fails has many.
const REFUSALS: [Errno; 11] = [
    Errno::FBIG,
    Errno::INVAL,
    Errno::NOENT,
    Errno::NOPKG,
    Errno::NOPROTOOPT,
    Errno::NOSYS,
    Errno::NOTBLK,
    Errno::OPNOTSUPP,
    Errno::RANGE,
    Errno::SRCH,
    Errno::TOOBIG,
];

/// How programs say that a device is in use, in small letters.
pub(crate) const BUSY: [&str; 2] = ["resource busy", "in use by the system"];

/// How programs say that the machine failed them, in small letters: the words of glibc, of musl or their own. Some
/// print the number of the error instead.
const OF_THE_MACHINE: [(Errno, &[&str]); 17] = [
    (Errno::ACCESS, &["permission denied"]),
    (Errno::BUSY, &BUSY),
    (Errno::DQUOT, &["quota exceeded"]),
    (Errno::INTR, &["interrupted system call"]),
    (Errno::IO, &WRITES_THAT_FAIL),
    (Errno::MFILE, &["too many open files", "no file descriptors available"]),
    (Errno::NFILE, &[]),
    (Errno::NODATA, &["no data available"]),
    (Errno::NODEV, &["no such device"]),
    (Errno::NOLINK, &["link has been severed"]),
    (Errno::NOMEM, &["cannot allocate memory", "out of memory", "memory allocation failed"]),
    (Errno::NOSPC, &["no space left on device"]),
    (Errno::NXIO, &[]),
    (Errno::PERM, &["operation not permitted"]),
    (Errno::ROFS, &["read-only file system"]),
    (Errno::TIMEDOUT, &["timed out"]),
    (Errno::UCLEAN, &["structure needs cleaning"]),
];

/// Of the C libraries, of e2fsprogs, and of f2fs-tools.
const WRITES_THAT_FAIL: [&str; 8] = [
    "input/output error",
    "i/o error",
    "short read",
    "short write",
    "failed to write",
    "failed to initialise the",
    "failed to create the root directory",
    "could not conduct fsync",
];

/// Why something about a lane could not be done. Displays as one sentence: the fact, then the
/// remedy.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LaneFailure {
    /// What was asked for makes no sense or is not allowed (exit status 2).
    #[error("{0}")]
    Usage(String),
    /// A tool, kernel support or a privilege is missing; the text names what supplies it (exit
    /// status 4).
    #[error("{0}")]
    Privilege(String),
    /// The machine did not do it (exit status 1).
    #[error("{0}")]
    Failed(String),
    /// The stop flag was set (exit status 130).
    #[error("interrupted")]
    Interrupted,
}

/// The sorts of [`LaneFailure`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FailureKind {
    /// Exit status 2.
    Usage,
    /// Exit status 4.
    Privilege,
    /// Exit status 1.
    Failed,
    /// Exit status 130.
    Interrupted,
}

impl LaneFailure {
    /// Which sort it is: it decides the exit status.
    pub fn kind(&self) -> FailureKind {
        match self {
            LaneFailure::Usage(_) => FailureKind::Usage,
            LaneFailure::Privilege(_) => FailureKind::Privilege,
            LaneFailure::Failed(_) => FailureKind::Failed,
            LaneFailure::Interrupted => FailureKind::Interrupted,
        }
    }

    /// The same failure with the lane's name in front.
    #[must_use]
    pub fn in_lane(self, lane: &str) -> Self {
        let prefixed = |text: String| if text.starts_with("lane ") { text } else { format!("lane {lane}: {text}") };
        match self {
            LaneFailure::Usage(text) => LaneFailure::Usage(prefixed(text)),
            LaneFailure::Privilege(text) => LaneFailure::Privilege(prefixed(text)),
            LaneFailure::Failed(text) => LaneFailure::Failed(prefixed(text)),
            LaneFailure::Interrupted => LaneFailure::Interrupted,
        }
    }
}

/// Why a program or the kernel did not do what it was told: whether that was refused, or could not be done.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum NotDone {
    /// Whoever was asked looked at it and said no.
    #[error("{failure}")]
    Refused {
        /// Why, in its own words and without a remedy.
        words: String,
        /// What is told where nothing else can be done instead.
        failure: LaneFailure,
    },
    /// It ended by itself, and said nothing of why.
    #[error("{failure}")]
    Silent {
        /// Its exit status.
        status: i32,
        /// What is told where nothing else can be done instead.
        failure: LaneFailure,
    },
    /// It ended by itself, and said that the machine failed it.
    #[error("{0}")]
    OfMachine(LaneFailure),
    /// It was not asked, was stopped, or the kernel told an error of the machine.
    #[error("{0}")]
    Failed(#[from] LaneFailure),
}

impl NotDone {
    /// What the kernel answered: a refusal where that is about what it was told.
    pub(crate) fn by_kernel(error: Errno, words: String, failure: LaneFailure) -> NotDone {
        match is_refusal(error) {
            true => NotDone::Refused { words, failure },
            false => NotDone::Failed(failure),
        }
    }

    /// What a program printed that ended by itself: no refusal where any of it names an error of the machine. `words`:
    /// what is shown of it.
    pub(crate) fn by_program(printed: &str, words: String, failure: LaneFailure) -> NotDone {
        match printed.lines().any(names_the_machine) {
            true => NotDone::OfMachine(failure),
            false => NotDone::Refused { words, failure },
        }
    }
}

impl From<NotDone> for LaneFailure {
    fn from(why: NotDone) -> LaneFailure {
        match why {
            NotDone::Refused { failure, .. }
            | NotDone::Silent { failure, .. }
            | NotDone::OfMachine(failure)
            | NotDone::Failed(failure) => failure,
        }
    }
}

/// Whether the kernel answers so what it was told.
pub(crate) fn is_refusal(error: Errno) -> bool {
    REFUSALS.contains(&error)
}

/// Whether a line holds a word, in whatever letters.
pub(crate) fn has_word(line: &str, word: &str) -> bool {
    line.split(|letter: char| !letter.is_ascii_alphanumeric()).any(|of| of.eq_ignore_ascii_case(word))
}

/// Whether a program says in a line that the machine failed it. What it warns of did not end it.
fn names_the_machine(line: &str) -> bool {
    if has_word(line, "warning") {
        return false;
    }
    let line = line.to_ascii_lowercase();
    let number = number_of_error(&line);
    let is_named = |(error, said): &(Errno, &[&str])| {
        number == Some(error.raw_os_error()) || said.iter().any(|said| line.contains(said))
    };
    OF_THE_MACHINE.iter().any(is_named)
}

/// The number of an error behind a sentence: `failed to create default block groups: -28`. -1 may be any error.
fn number_of_error(line: &str) -> Option<i32> {
    let (before, number) = line.trim_end().trim_end_matches('.').rsplit_once('-')?;
    let is_told = before.trim_end().ends_with([':', '=']);
    number.parse::<i32>().ok().filter(|number| is_told && *number > 1)
}

/// Shorthands, so that a call site reads as its sentence.
pub(crate) fn usage(text: impl Into<String>) -> LaneFailure {
    LaneFailure::Usage(text.into())
}

pub(crate) fn privilege(text: impl Into<String>) -> LaneFailure {
    LaneFailure::Privilege(text.into())
}

pub(crate) fn failed(text: impl Into<String>) -> LaneFailure {
    LaneFailure::Failed(text.into())
}

/// `cannot WHAT: REASON`, for system calls.
pub(crate) fn cannot(what: impl fmt::Display, error: impl Into<std::io::Error>) -> LaneFailure {
    failed(format!("cannot {what}: {}", plain(&error.into())))
}

/// The reason of an I/O error without the `(os error N)` that helps nobody.
pub(crate) fn plain(error: &std::io::Error) -> String {
    let text = error.to_string();
    match text.find(" (os error") {
        Some(at) => text[..at].to_owned(),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernel_refuses_by_errors_about_what_it_was_told_and_by_no_other() {
        let answer = |error: Errno| NotDone::by_kernel(error, "why".to_owned(), failed("it failed: why"));
        let refused = NotDone::Refused { words: "why".to_owned(), failure: failed("it failed: why") };
        for error in REFUSALS {
            assert_eq!(answer(error), refused, "{error:?}");
        }
        let of_disks = [
            Errno::BADE,
            Errno::BADMSG,
            Errno::ILSEQ,
            Errno::IO,
            Errno::NODATA,
            Errno::NODEV,
            Errno::NOLINK,
            Errno::NXIO,
            Errno::REMOTEIO,
            Errno::TIMEDOUT,
            Errno::UCLEAN,
        ];
        for error in of_disks.into_iter().chain(OF_THE_MACHINE.map(|(error, _)| error)) {
            assert_eq!(answer(error), NotDone::Failed(failed("it failed: why")), "{error:?}");
        }
        assert_eq!(LaneFailure::from(refused), failed("it failed: why"));
    }

    #[test]
    fn a_program_refuses_by_every_reason_that_is_not_the_machines() {
        let answer = |said: &str| NotDone::by_program(said, said.to_owned(), failed(said));
        let is_refused = |said: &str| matches!(answer(said), NotDone::Refused { .. });
        for said in [
            "log size 128m too large.",
            "Invalid argument",
            "unknown feature `x`; see the manual",
            "ERROR: unable to create FS: -22",
            "ERROR: cannot make that: -1",
            "illegal value for -L: a-28",
            "\tError: Device size is not sufficient for F2FS volume",
            "WARNING: failed to open /dev/btrfs-control: Operation not permitted\nERROR: unknown profile x",
        ] {
            assert!(is_refused(said), "{said}");
        }
        for said in [
            "pwrite failed: No space left on device",
            "libxfs_bwrite: Input/output error",
            "cannot open /dev/loop0: Device or resource busy",
            "/dev/loop0 is apparently in use by the system; will not make a filesystem here!",
            "\tError: In use by the system!",
            "open: Too many open files in system",
            "mkfs.ext4: Attempt to write block to filesystem resulted in short write while writing the superblock",
            "mkfs.ext4: Memory allocation failed while setting up superblock",
            "virtual memory exhausted: out of memory",
            "mkfs.xfs: cannot open /dev/loop0: Permission denied",
            "mkfs.xfs: Operation not permitted",
            "\tError: Failed to write the check point pack!!!",
            "a line\nERROR: failed to create default block groups: -28\nanother",
            "ERROR: unable to commit transaction: -5",
            "ERROR: unable to commit transaction: -12.",
            "ERROR: cannot write: errno = -122",
            "read failed: Connection timed out",
        ] {
            assert!(!is_refused(said), "{said}");
        }
    }
}
