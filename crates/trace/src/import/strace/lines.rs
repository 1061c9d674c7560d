//! Lines of strace: whose they are, when their calls began, and calls that are told in two parts.

use super::processes::Processes;
use super::{Said, one};
use crate::import::ImportError;
use crate::import::builder::Builder;
use std::collections::HashMap;

const NO_TIMES: &str =
    "these lines have no times (strace -tt): calls stand 1 us apart, and only --speed max says anything";
/// Between calls that have no times.
const STEP_NS: u64 = 1000;
pub(super) const DAY_NS: u64 = 86_400_000_000_000;
/// Calls that began and have not ended, at most, and bytes of their lines.
const MOST_UNFINISHED: usize = 100_000;
const MOST_UNFINISHED_BYTES: usize = 64 << 20;

/// `1234 rest` and `[pid 1234] rest`.
pub(super) fn process_of(line: &str) -> (Option<u32>, &str) {
    let line = line.trim_start();
    let bracketed = line.strip_prefix("[pid").and_then(|rest| rest.split_once(']'));
    let (number, rest) = match bracketed {
        Some(of) => of,
        None => line.split_once(char::is_whitespace).unwrap_or((line, "")),
    };
    match number.trim().parse() {
        Ok(process) => (Some(process), rest.trim_start()),
        Err(_) => (None, line),
    }
}

/// `12:34:56.123456 rest` and `1700000000.123456 rest`, in nanoseconds.
pub(super) fn time_of(line: &str) -> (Option<u64>, &str) {
    let Some((word, rest)) = line.split_once(' ') else { return (None, line) };
    let mut seconds = 0u64;
    let (whole, fraction) = word.split_once('.').unwrap_or((word, ""));
    let is_time = whole.contains(':') || !fraction.is_empty();
    for part in whole.split(':') {
        let Some(part) = part.parse::<u64>().ok().filter(|part| *part < 1 << 40) else { return (None, line) };
        seconds = seconds.saturating_mul(60).saturating_add(part);
    }
    if !is_time || !fraction.bytes().all(|byte| byte.is_ascii_digit()) || fraction.len() > 9 {
        return (None, line);
    }
    let nanoseconds = format!("{fraction:0<9}").parse::<u64>().unwrap_or(0);
    (Some(seconds.saturating_mul(1_000_000_000).saturating_add(nanoseconds)), rest.trim_start())
}

/// How long a call took, in nanoseconds, as the end of its line says: `<0.000010>`. `None`: it does not.
pub(super) fn duration_of(line: &str) -> Option<u64> {
    let (_, end) = line.rsplit_once('<')?;
    let seconds = end.trim_end().strip_suffix('>')?.parse::<f64>().ok()?;
    Some(if (0.0..1e9).contains(&seconds) { (seconds * 1e9) as u64 } else { 0 })
}

/// The times of lines that follow each other.
#[derive(Debug, Default)]
pub(super) struct Times {
    now: u64,
    days: u64,
    before: Option<u64>,
}

impl Times {
    /// When the call of the next line began, in nanoseconds, and the line without its time.
    pub(super) fn begin_of<'a>(&mut self, line: &'a str, builder: &mut Builder) -> (u64, &'a str) {
        let (time, rest) = time_of(line);
        match time {
            Some(time) => {
                // Behind midnight the day's time begins again.
                if self.before.is_some_and(|before| time.saturating_add(DAY_NS / 2) < before) {
                    self.days += 1;
                }
                self.before = Some(time);
                self.now = time.saturating_add(self.days.saturating_mul(DAY_NS));
            }
            None => {
                builder.note(NO_TIMES);
                self.now = self.now.saturating_add(STEP_NS);
            }
        }
        (self.now, rest)
    }

    /// Whether a line so far had a time.
    pub(super) fn are_known(&self) -> bool {
        self.before.is_some()
    }
}

/// Calls that began and have not ended: of each process when, and its line so far.
#[derive(Debug, Default)]
struct Unfinished {
    lines: HashMap<u32, (u64, String)>,
    bytes: usize,
}

impl Unfinished {
    fn begins(&mut self, process: u32, at: u64, line: &str) {
        _ = self.ends(process);
        let bytes = self.bytes + line.len();
        if self.lines.len() < MOST_UNFINISHED && bytes <= MOST_UNFINISHED_BYTES {
            self.bytes = bytes;
            self.lines.insert(process, (at, line.to_owned()));
        }
    }

    fn ends(&mut self, process: u32) -> Option<(u64, String)> {
        let of = self.lines.remove(&process)?;
        self.bytes -= of.1.len();
        Some(of)
    }
}

/// What is known behind some lines.
#[derive(Debug, Default)]
pub(super) struct Reading {
    pub(super) processes: Processes,
    unfinished: Unfinished,
}

impl Reading {
    /// The next line of a process, without its time.
    pub(super) fn line(&mut self, process: u32, at: u64, line: &str, builder: &mut Builder) -> Result<(), ImportError> {
        if let Some(begin) = line.strip_suffix("<unfinished ...>") {
            self.processes.may_begin(process, begin);
            self.unfinished.begins(process, at, begin.trim_end());
        } else if let Some(resumed) = line.strip_prefix("<... ") {
            let end = resumed.split_once(" resumed>").map(|(_, end)| end);
            if let (Some(end), Some((at, begin))) = (end, self.unfinished.ends(process)) {
                let call = format!("{begin}{end}");
                one(&Said { process, at, call: &call }, &mut self.processes, builder)?;
            }
        } else if line.starts_with("+++ exited") || line.starts_with("+++ killed") {
            _ = self.unfinished.ends(process);
            self.processes.ends(process, at, builder);
        } else if !line.starts_with("---") && !line.starts_with("+++") && !line.is_empty() {
            one(&Said { process, at, call: line }, &mut self.processes, builder)?;
        }
        Ok(())
    }
}
