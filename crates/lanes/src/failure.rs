//! Why a lane cannot be raced, sorted by who can help.

use rustix::io::Errno;
use std::fmt;

/// Errors by which a machine fails whoever asks, whatever it was told. Behind each stand the words that programs print
/// for it, of glibc, of musl or their own: they tell no number.
const OF_THE_MACHINE: [(Errno, &[&str]); 11] = [
    (Errno::ACCESS, &[]),
    (Errno::BUSY, &["resource busy", "Resource busy", "apparently in use by the system"]),
    (Errno::DQUOT, &["quota exceeded", "Quota exceeded"]),
    (Errno::INTR, &[]),
    (Errno::IO, &["Input/output error", "I/O error"]),
    (Errno::MFILE, &["Too many open files", "No file descriptors available"]),
    (Errno::NFILE, &[]),
    (Errno::NOMEM, &["Cannot allocate memory", "Out of memory"]),
    (Errno::NOSPC, &["No space left on device"]),
    (Errno::PERM, &[]),
    (Errno::ROFS, &["Read-only file system"]),
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
    /// It was not asked, was stopped, gave no reason, or the machine failed it.
    #[error("{0}")]
    Failed(#[from] LaneFailure),
}

impl NotDone {
    /// What the kernel answered: no refusal where the machine is at fault.
    pub(crate) fn by_kernel(error: Errno, words: String, failure: LaneFailure) -> NotDone {
        match is_of_machine(error) {
            true => NotDone::Failed(failure),
            false => NotDone::Refused { words, failure },
        }
    }

    /// What a program printed that ended by itself: no refusal where it names an error of the machine.
    pub(crate) fn by_program(words: String, failure: LaneFailure) -> NotDone {
        let is_named = |(_, said): &(Errno, &[&str])| said.iter().any(|said| words.contains(said));
        match OF_THE_MACHINE.iter().any(is_named) {
            true => NotDone::Failed(failure),
            false => NotDone::Refused { words, failure },
        }
    }
}

impl From<NotDone> for LaneFailure {
    fn from(why: NotDone) -> LaneFailure {
        match why {
            NotDone::Refused { failure, .. } | NotDone::Failed(failure) => failure,
        }
    }
}

/// Whether an error is the machine's, and none about what it was told.
pub(crate) fn is_of_machine(error: Errno) -> bool {
    OF_THE_MACHINE.iter().any(|(of, _)| *of == error)
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
    fn the_kernel_refuses_by_every_error_that_is_not_the_machines() {
        let answer = |error: Errno| NotDone::by_kernel(error, "why".to_owned(), failed("it failed: why"));
        let refused = NotDone::Refused { words: "why".to_owned(), failure: failed("it failed: why") };
        for error in [Errno::INVAL, Errno::OPNOTSUPP, Errno::NOENT, Errno::NOSYS, Errno::RANGE] {
            assert_eq!(answer(error), refused, "{error:?}");
        }
        for (error, _) in OF_THE_MACHINE {
            assert_eq!(answer(error), NotDone::Failed(failed("it failed: why")), "{error:?}");
        }
        assert_eq!(LaneFailure::from(refused), failed("it failed: why"));
    }

    #[test]
    fn a_program_refuses_by_every_reason_that_is_not_the_machines() {
        let answer = |said: &str| NotDone::by_program(said.to_owned(), failed(said));
        let is_refused = |said: &str| matches!(answer(said), NotDone::Refused { .. });
        for said in ["log size 128m too large.", "Invalid argument", "unknown feature `x`; see the manual"] {
            assert!(is_refused(said), "{said}");
        }
        for said in [
            "pwrite failed: No space left on device",
            "libxfs_bwrite: Input/output error",
            "cannot open /dev/loop0: Device or resource busy",
            "/dev/loop0 is apparently in use by the system; will not make a filesystem here!",
            "open: Too many open files in system",
        ] {
            assert!(!is_refused(said), "{said}");
        }
    }
}
