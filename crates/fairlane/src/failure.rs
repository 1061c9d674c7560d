//! How a command ends when it does not succeed: one sentence and a documented exit status.

/// A failure with its exit status.
#[derive(Debug)]
pub struct Failure {
    /// See [`Status`].
    pub status: Status,
    /// The fact, then the remedy; empty where the screen has said it already.
    pub message: String,
}

/// The documented exit statuses beside 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    /// It failed.
    Failed = 1,
    /// The command line or a file that it names is wrong.
    Usage = 2,
    /// The regression gate failed: something is slower than allowed, or no longer works.
    GateFailed = 3,
    /// A privilege or a tool is missing.
    Missing = 4,
    /// The regression gate did not reach the resolution that was asked for.
    GateUnresolved = 5,
    /// Ctrl-C or SIGTERM.
    Interrupted = 130,
}

impl Failure {
    /// Something went wrong that the command line could not help.
    pub fn failed(message: impl Into<String>) -> Self {
        Failure { status: Status::Failed, message: message.into() }
    }

    /// The command line, or a file that it names, is wrong.
    pub fn usage(message: impl Into<String>) -> Self {
        Failure { status: Status::Usage, message: message.into() }
    }

    /// A privilege or a tool is missing.
    pub fn missing(message: impl Into<String>) -> Self {
        Failure { status: Status::Missing, message: message.into() }
    }

    /// The regression gate said no, or that it cannot say: the screen has told it already.
    pub fn gate(status: Status) -> Self {
        Failure { status, message: String::new() }
    }

    /// Ctrl-C or SIGTERM.
    pub fn interrupted() -> Self {
        Failure { status: Status::Interrupted, message: String::new() }
    }
}

impl From<anyhow::Error> for Failure {
    fn from(error: anyhow::Error) -> Self {
        Failure::failed(format!("{error:#}"))
    }
}
