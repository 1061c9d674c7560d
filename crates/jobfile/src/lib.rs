//! fio's job files: text in, jobs out, and nothing in between touches the system.
//!
//! [`parse`] gives the jobs that Fairlane's own engine does. [`for_fio`] gives the text that the
//! installed fio runs inside a lane. Files, variables and the machine's figures come from the
//! caller's [`Surroundings`], so that the same call always gives the same answer.
//!
//! An option is one row of one table (`options`). What changes the work and cannot be done is
//! refused with its file and line; what only concerns reports or placement is taken with a note.

mod draft;
mod for_fio;
mod job;
mod names;
mod options;
mod resolved;
mod syntax;
mod take;
mod total;
mod values;
mod variables;

pub use for_fio::for_fio;
pub use job::parse;
pub use resolved::Resolved;

use std::fmt;
use std::path::Path;
use std::rc::Rc;

/// What a job file may ask about the world around it.
pub struct Surroundings<'a> {
    /// Reads a file: the job file itself and what it includes.
    pub read: &'a dyn Fn(&Path) -> std::io::Result<String>,
    /// An environment variable, for `${NAME}`.
    pub variable: &'a dyn Fn(&str) -> Option<String>,
    /// Online CPUs, for `$ncpus`.
    pub cpus: u32,
    /// Bytes of memory, for `$mb_memory`.
    pub memory_bytes: u64,
    /// Bytes of a page, for `$pagesize`.
    pub page_bytes: u64,
    /// Bytes that all jobs together may fill of a lane: what `size=N%` is a share of where no file has a size.
    pub space_bytes: u64,
}

/// Why a job file is refused: one sentence with the fact and the remedy, at its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobFileError {
    /// The job file, or the included file that holds the line.
    pub file: String,
    /// The line, from 1; 0 where the file as a whole is meant.
    pub line: u32,
    /// The sentence.
    pub message: String,
}

impl fmt::Display for JobFileError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.line == 0 {
            write!(out, "{}: {}", self.file, self.message)
        } else {
            write!(out, "{}:{}: {}", self.file, self.line, self.message)
        }
    }
}

impl std::error::Error for JobFileError {}

/// A line of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Place {
    /// Name of the file, fit for one line of text.
    pub file: Rc<str>,
    /// From 1; 0: the file as a whole.
    pub line: u32,
}

impl Place {
    /// The refusal of this line.
    pub fn refuse(&self, message: impl Into<String>) -> JobFileError {
        JobFileError { file: self.file.to_string(), line: self.line, message: message.into() }
    }
}

/// Text of the user in a message: in backquotes, on one line, and not longer than a glance.
pub(crate) fn shown(text: &str) -> String {
    let mut out = String::from("`");
    for (count, letter) in text.chars().enumerate() {
        if count == 60 {
            out.push('…');
            break;
        }
        out.push(one_line(letter));
    }
    out.push('`');
    out
}

/// The letter, or a mark where it would break the line or move the cursor.
pub(crate) fn one_line(letter: char) -> char {
    let breaks = letter.is_control() || matches!(letter, '\u{2028}' | '\u{2029}' | '\u{202a}'..='\u{202e}');
    if breaks { '\u{fffd}' } else { letter }
}
