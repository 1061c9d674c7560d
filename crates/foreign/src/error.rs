//! Why a file of results cannot be read.

use crate::{MOST_BYTES, MOST_RUNS, MOST_RUNS_OF_ALL, MOST_SERIES};

/// Why a file of results cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ForeignError {
    /// No format is recognised.
    #[error(
        "it is no file of results that is known; docs/import.md lists the formats, and which option of each tool writes them"
    )]
    Unknown,
    /// Something in it is not as the format has it.
    #[error("line {line}, column {column}: {what}")]
    Malformed {
        /// From 1.
        line: usize,
        /// From 1, in characters.
        column: usize,
        /// What is wrong there, and the remedy.
        what: String,
    },
    /// It is of a known format, and there are no figures in it.
    #[error("it is {format}, and holds no figures ({why})")]
    Nothing {
        /// The format.
        format: &'static str,
        /// Why not: `the run was ended before it printed any`.
        why: String,
    },
    /// The format is for people.
    #[error("{0}")]
    ForPeople(&'static str),
    /// It holds more than is read.
    #[error("it has more than {} MiB; import a part of it", MOST_BYTES >> 20)]
    TooLarge,
    /// It holds more than is read.
    #[error("it has more than {MOST_SERIES} series; import a part of it")]
    TooManySeries,
    /// It holds more than is read.
    #[error("a series of it has more than {MOST_RUNS} runs; import a part of it")]
    TooManyRuns,
    /// It holds more than is read.
    #[error("it has more than {MOST_RUNS_OF_ALL} runs; import a part of it")]
    TooManyRunsOfAll,
}
