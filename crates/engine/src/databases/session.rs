//! What a client asks of a database: one connection, prepared statements, and what came of them.

use std::os::unix::net::UnixStream;
use std::sync::Weak;

/// A connection with its prepared statements.
pub(crate) trait Session: Send {
    /// Runs one statement without values; answers how many rows it changed.
    ///
    /// # Errors
    /// What the server answers, or that it is gone.
    fn run(&mut self, sql: &str) -> Result<u64, DatabaseError>;

    /// Runs a query; answers its rows as text, nothing as an empty one.
    ///
    /// # Errors
    /// As [`Session::run`].
    fn rows(&mut self, sql: &str) -> Result<Vec<Vec<String>>, DatabaseError>;

    /// The first column of the first row as a number; `None`: there is none.
    ///
    /// # Errors
    /// As [`Session::run`].
    fn number(&mut self, sql: &str) -> Result<Option<f64>, DatabaseError> {
        let rows = self.rows(sql)?;
        Ok(rows.first().and_then(|row| row.first()?.trim().parse().ok()))
    }

    /// Prepares the next statement; they are numbered from 0. Values stand as this server writes them.
    ///
    /// # Errors
    /// As [`Session::run`].
    fn prepare(&mut self, sql: &str) -> Result<(), DatabaseError>;

    /// Runs a prepared statement, reads all of its rows, and answers how many it changed.
    ///
    /// # Errors
    /// As [`Session::run`].
    fn execute(&mut self, statement: usize, values: &[Value<'_>]) -> Result<u64, DatabaseError>;

    /// From here on answers are waited for without an end: whoever asks for this shuts the socket down where none comes.
    /// `None`: there is no socket.
    fn watched(&mut self) -> Option<Weak<UnixStream>> {
        None
    }
}

/// A value of a statement.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Value<'a> {
    Number(u64),
    Text(&'a str),
}

/// Why a statement was not done.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct DatabaseError {
    /// What the server said, or what became of the connection.
    pub(crate) message: String,
    /// What is to be done about it.
    pub(crate) cure: Cure,
}

/// What a client does after an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cure {
    /// Others were in the way: the transaction is done again.
    Again(Cause),
    /// The connection is gone.
    Lost,
    /// It would fail again.
    None,
}

/// Why a transaction is done again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cause {
    /// Two waited for each other.
    Deadlock,
    /// A lock was waited for in vain.
    LockTimeout,
    /// A row changed meanwhile, and no order of the transactions would explain it.
    Serialisation,
    /// Another put a row with this key there first.
    DuplicateKey,
    /// SQLite: somebody else writes.
    Busy,
}

impl Cause {
    /// All of them.
    pub(crate) const ALL: [Cause; 5] =
        [Cause::Deadlock, Cause::LockTimeout, Cause::Serialisation, Cause::DuplicateKey, Cause::Busy];

    /// Key of their number in a group's metrics.
    pub(crate) fn key(self) -> &'static str {
        match self {
            Cause::Deadlock => "deadlocks",
            Cause::LockTimeout => "lock_timeouts",
            Cause::Serialisation => "serialisation_failures",
            Cause::DuplicateKey => "duplicate_keys",
            Cause::Busy => "busy",
        }
    }
}

impl DatabaseError {
    pub(crate) fn lost(error: &std::io::Error) -> Self {
        DatabaseError { message: format!("the connection to the server is gone: {error}"), cure: Cure::Lost }
    }

    pub(crate) fn strange(what: &str) -> Self {
        DatabaseError { message: format!("the server answered what cannot be understood ({what})"), cure: Cure::Lost }
    }
}
