//! Why a lane cannot be raced, sorted by who can help.

use std::fmt;

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
