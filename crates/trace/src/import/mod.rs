//! What others wrote down of a program's calls, made a trace, as far as it goes.

mod builder;
mod darshan;
mod fio;
mod strace;

use crate::{Item, MOST_THREADS};
use builder::Builder;
use std::collections::BTreeMap;
use std::io::{self, BufRead, Read};

/// Most bytes of a line: longer ones are no log's.
const MOST_LINE_BYTES: u64 = 1 << 20;
/// Most calls: they lie in memory until their files are known.
pub(crate) const MOST_CALLS: usize = 20_000_000;

/// What became of a log.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Imported {
    /// What it was.
    pub format: &'static str,
    /// The trace.
    pub items: Vec<Item>,
    /// Lines that were read.
    pub lines: u64,
    /// Calls that came of them.
    pub operations: u64,
    /// What did not become a call, and how often.
    pub left_out: BTreeMap<String, u64>,
    /// What a log of this kind does not tell.
    pub notes: Vec<&'static str>,
}

/// Why a log could not be made a trace.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    /// It cannot be read.
    #[error("it cannot be read: {0}")]
    Io(#[from] io::Error),
    /// Another kind of file.
    #[error(
        "it is neither a file of results nor a log that is known (a packed one has to be unpacked); docs/import.md lists the first, and \
         which option of each tool writes them; of logs take a fio iolog (write_iolog), `strace -f -tt -T -y -o FILE` (or -ff), or \
         darshan-dxt-parser's text"
    )]
    Unknown,
    /// Logs of one kind make one trace.
    #[error("one is a log of {0}, another one of {1}; import them one by one")]
    Mixed(&'static str, &'static str),
    /// It holds too much.
    #[error("it has more than {MOST_CALLS} calls or {MOST_THREADS} threads; take a part of it")]
    TooMuch,
    /// Of several processes nobody knows who came first.
    #[error(
        "its files have no times, so that nobody knows which call came before which; trace again: strace -ff -tt -T -y -o NAME \
         COMMAND"
    )]
    NoTimes,
    /// Times of day without their days.
    #[error(
        "its times of day lie more than 12 hours apart, so that nobody knows of which days they are; trace again with -ttt in \
         place of -tt"
    )]
    Days,
    /// There is nothing in it.
    #[error("no line of it is a call on a file that is known ({0}); see docs/trace.md, Import")]
    Nothing(String),
}

/// A log, which is opened when its turn comes, and more than once.
pub struct Log<'a, R> {
    /// The process whose calls it holds where its lines do not say: `strace -ff` calls its files NAME.PID.
    pub process: Option<u32>,
    /// Opens it from its begin.
    pub open: Box<dyn Fn() -> io::Result<R> + 'a>,
}

/// Kinds of logs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Fio,
    Darshan,
    Strace,
}

impl Kind {
    /// By the first line.
    fn find(first: &str) -> Option<Kind> {
        match () {
            () if fio::is_one(first) => Some(Kind::Fio),
            () if darshan::is_one(first) => Some(Kind::Darshan),
            () if strace::is_one(first) => Some(Kind::Strace),
            () => None,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Kind::Fio => "fio iolog",
            Kind::Darshan => "Darshan DXT",
            Kind::Strace => "strace",
        }
    }
}

/// A log behind its first line; `None`: nothing is in it.
fn begun<R: BufRead>(log: &Log<'_, R>) -> io::Result<Option<(Lines<R>, String)>> {
    let mut lines = Lines::new((log.open)()?);
    let first = loop {
        match lines.next()? {
            Some(line) if line.trim().is_empty() => {}
            Some(line) => break line.to_owned(),
            None => return Ok(None),
        }
    };
    Ok(Some((lines, first)))
}

/// What all logs are.
fn kind_of<R: BufRead>(logs: &[Log<'_, R>]) -> Result<Kind, ImportError> {
    let mut kind = None;
    for log in logs {
        // A process that was killed at once leaves an empty file.
        let Some((_, first)) = begun(log)? else { continue };
        let its = Kind::find(&first).ok_or(ImportError::Unknown)?;
        if let Some(before) = kind.replace(its).filter(|before| *before != its) {
            return Err(ImportError::Mixed(before.name(), its.name()));
        }
    }
    kind.ok_or(ImportError::Unknown)
}

/// Reads logs of one kind, each of which is a thread or a process of its own where it does not say itself who called.
///
/// # Errors
/// As [`ImportError`] says.
pub fn read<R: BufRead>(logs: &[Log<'_, R>]) -> Result<Imported, ImportError> {
    let kind = kind_of(logs)?;
    let mut builder = Builder::default();
    if kind == Kind::Strace && logs.len() > 1 {
        strace::read_of_each(logs, &mut builder)?;
        return builder.end(kind.name());
    }
    for (number, log) in logs.iter().enumerate() {
        let (mut lines, first) = begun(log)?.ok_or(ImportError::Unknown)?;
        match kind {
            Kind::Fio => fio::read(&first, &mut lines, number as u32, &mut builder)?,
            Kind::Darshan => darshan::read(&first, &mut lines, &mut builder)?,
            Kind::Strace => strace::read(&first, &mut lines, log.process, &mut builder)?,
        }
        builder.lines += lines.read;
    }
    builder.end(kind.name())
}

/// Lines of a log; odd bytes are replaced, and what is longer than a line may be is cut.
struct Lines<R> {
    from: R,
    line: String,
    read: u64,
}

impl<R: BufRead> Lines<R> {
    fn new(from: R) -> Lines<R> {
        Lines { from, line: String::new(), read: 0 }
    }

    fn next(&mut self) -> io::Result<Option<&str>> {
        let mut bytes = Vec::new();
        let count = self.from.by_ref().take(MOST_LINE_BYTES).read_until(b'\n', &mut bytes)?;
        if count == 0 {
            return Ok(None);
        }
        if count as u64 == MOST_LINE_BYTES && bytes.last() != Some(&b'\n') {
            let mut rest = Vec::new();
            while self.from.by_ref().take(MOST_LINE_BYTES).read_until(b'\n', &mut rest)? > 0
                && rest.last() != Some(&b'\n')
            {
                rest.clear();
            }
        }
        self.read += 1;
        self.line.clear();
        self.line.push_str(String::from_utf8_lossy(&bytes).trim_end_matches(['\n', '\r']));
        Ok(Some(&self.line))
    }
}

#[cfg(test)]
mod tests;
