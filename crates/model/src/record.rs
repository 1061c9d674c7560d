//! The append-only file of one race, schema 1: JSON lines; readers ignore unknown kinds and keys.

use crate::bounds::{Lines, MOST_LANES, MOST_WORKLOADS, TooMuch};
use crate::calibration::Calibration;
use crate::disk::DiskProbe;
use crate::lane::Lane;
use crate::machine::Machine;
use crate::plan::Plan;
use crate::profile::Profile as KernelProfile;
use crate::ranks::NodeClocks;
use crate::search::SearchStep;
use crate::trial::{SystemUse, Trial};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::io::BufRead;

/// The schema that this version writes.
pub const SCHEMA: u32 = 1;

/// One line of a record.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum Line {
    /// The first line.
    Header(Box<Header>),
    /// A ceiling.
    Probe(Box<Probe>),
    /// The layers of a lane, without a filesystem.
    Layers(Box<LayerProbe>),
    /// One disk, written for longer than a slice and flushed.
    Disk(Box<DiskProbe>),
    /// One workload in one lane in one round.
    Trial(Box<Trial>),
    /// The shared rate of an open loop, decided from the lanes' maxima.
    Rate(Box<SharedRate>),
    /// One step of the search for the largest number of writers that a lane sustains.
    Step(Box<SearchStep>),
    /// Where the kernel's time went while a lane worked, in a pass that counts in no verdict.
    Profile(Box<KernelProfile>),
    /// How far clocks of the machines of an MPI job go apart.
    Clocks(Box<NodeClocks>),
    /// What a reader should know, found out while the race went on.
    Note {
        /// One sentence.
        said: String,
    },
    /// The budget had no room for a workload.
    Unreached(Unreached),
    /// The race was taken up again.
    Resume {
        /// RFC 3339, UTC.
        started: String,
        /// Boot of the resuming run.
        boot_id: String,
        /// Passes that look where the time goes are left out from here on (`--explain=no`).
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        without_passes: bool,
    },
    /// The race ended here.
    End {
        /// RFC 3339, UTC.
        finished: String,
        /// How.
        outcome: EndOutcome,
        /// Why, where it did not complete.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
        /// All rounds were done, and only passes that count in no verdict are missing.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        rounds_done: bool,
    },
}

impl Line {
    /// As it stands in the file, without the end of the line.
    ///
    /// # Errors
    /// Where a value has no JSON form.
    pub fn to_json(&self) -> serde_json::Result<String> {
        serde_json::to_string(self)
    }

    /// Reads a line behind the header. Each kind is read into its own structure: what a line turns into in between would take a
    /// multiple of it. `None`: it is of no kind that this version knows, or another header.
    ///
    /// # Errors
    /// What is wrong with it, in words of people.
    pub fn read(line: &str) -> Result<Option<Line>, String> {
        let brief: Brief = serde_json::from_str(line).map_err(|error| match error.is_data() {
            true => "it has no kind".to_owned(),
            false => told(error),
        })?;
        Ok(Some(match brief.kind.as_ref() {
            "probe" => Line::Probe(parsed(line)?),
            "layers" => Line::Layers(parsed(line)?),
            "disk" => Line::Disk(parsed(line)?),
            "rate" => Line::Rate(parsed(line)?),
            "trial" => Line::Trial(parsed(line)?),
            "profile" => Line::Profile(parsed(line)?),
            "step" => Line::Step(parsed(line)?),
            "clocks" => Line::Clocks(parsed(line)?),
            "unreached" => Line::Unreached(*parsed::<Unreached>(line)?),
            "note" | "resume" | "end" => serde_json::from_str::<Short>(line).map_err(told)?.into(),
            _ => return Ok(None),
        }))
    }
}

fn parsed<'a, T: Deserialize<'a>>(line: &'a str) -> Result<Box<T>, String> {
    serde_json::from_str(line).map(Box::new).map_err(told)
}

/// A workload that the budget had no room for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Unreached {
    /// Name of the workload.
    pub workload: String,
    /// Seconds that a round of it takes, roughly.
    pub round_seconds: f64,
    /// Seconds of a race that has room for everything, roughly.
    pub whole_seconds: f64,
}

/// How a race ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum EndOutcome {
    /// Every workload was raced to a verdict, its last look or the end of the budget.
    Complete,
    /// Ctrl-C or a signal.
    Interrupted,
    /// An error.
    Failed,
    /// Ctrl-C or a signal once all rounds were done: only passes that count in no verdict are missing. A record says
    /// `interrupted`, and `rounds_done` beside it.
    #[serde(skip)]
    Unexplained,
}

impl EndOutcome {
    /// Whether all rounds were done.
    pub fn rounds_are_done(self) -> bool {
        matches!(self, EndOutcome::Complete | EndOutcome::Unexplained)
    }

    /// What the end of a record says.
    fn read(self, rounds_done: bool) -> EndOutcome {
        match self {
            EndOutcome::Interrupted if rounds_done => EndOutcome::Unexplained,
            other => other,
        }
    }
}

/// The first line of a record.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Header {
    /// Schema of the record.
    pub schema: u32,
    /// Version of Fairlane.
    pub version: String,
    /// RFC 3339, UTC. Of an import without its `Z` where the files tell local times and not their zone, and empty where
    /// one of them tells no time.
    pub started: String,
    /// /proc/sys/kernel/random/boot_id.
    pub boot_id: String,
    /// Seed of every order, offset and byte.
    pub seed: u64,
    /// What the race does.
    pub plan: Plan,
    /// Where.
    pub machine: Machine,
    /// The lanes as built.
    pub lanes: Vec<Lane>,
    /// What a reader should know before believing the figures.
    #[serde(default)]
    pub warnings: Vec<String>,
    /// What is known of this machine's noise from before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub calibration: Option<Box<Calibration>>,
}

/// A ceiling: the same engine on the bare device, or without any device.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Probe {
    /// What was probed.
    pub profile: Profile,
    /// The workload whose block size and depth it matches.
    pub workload: String,
    /// Round, from 1.
    pub round: u32,
    /// Index of the image or device that was probed; none for `null`.
    #[serde(default)]
    pub ground: u32,
    /// Which disk of a ground that is several it was, from 1. `None`: the ground is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disk: Option<u32>,
    /// Operations per second, the median over slices.
    pub operations_per_second: f64,
    /// Bytes per second, the median over slices.
    pub bandwidth_bytes_per_second: f64,
    /// Measured on a written file of the lane's own filesystem, because the lane is a directory.
    #[serde(default)]
    pub through_filesystem: bool,
    /// The whole system during the probe.
    pub system: SystemUse,
}

/// The work of a ceiling on the layers of a lane, before its filesystem is made: what they do of it by themselves.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LayerProbe {
    /// Name of the lane.
    pub lane: String,
    /// What was done, and how fast.
    pub probe: Probe,
}

/// The rate that all lanes of a workload share: a share of the slowest lane's maximum, measured in
/// the same race (method 4.1).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SharedRate {
    /// The workload.
    pub workload: String,
    /// The share: 0.7.
    pub share: f64,
    /// The slowest lane.
    pub slowest: String,
    /// Each lane's maximum of a closed loop, operations per second, median over slices.
    pub maxima_operations_per_second: std::collections::BTreeMap<String, f64>,
    /// The rate that came of it, all workers together.
    pub operations_per_second: f64,
    /// What disturbed the measurement of the maxima, where it could not be made again; one sentence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disturbed: Option<String>,
}

/// The profiles of the ceilings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Profile {
    /// Sequential reads of the bare device.
    SeqRead,
    /// Sequential writes to the bare device.
    SeqWrite,
    /// Random reads of the bare device.
    RandRead,
    /// Random writes to the bare device.
    RandWrite,
    /// A write and a flush on the bare device.
    Flush,
    /// The engine without a device.
    Null,
}

/// A record, read back.
#[derive(Debug, Clone, PartialEq)]
pub struct Record {
    /// The first line.
    pub header: Header,
    /// The ceilings.
    pub probes: Vec<Probe>,
    /// What layers did without a filesystem.
    pub layer_probes: Vec<LayerProbe>,
    /// What long writes with a flush showed of the disks.
    pub disks: Vec<DiskProbe>,
    /// The shared rates of open loops.
    pub rates: Vec<SharedRate>,
    /// The trials in the order they were run.
    pub trials: Vec<Trial>,
    /// The steps of a search in the order they were run.
    pub steps: Vec<SearchStep>,
    /// What the kernel did in passes that count in no verdict.
    pub profiles: Vec<KernelProfile>,
    /// Workloads that the budget had no room for.
    pub unreached: Vec<Unreached>,
    /// How far clocks of the machines of an MPI job go apart; `None`: there was one machine, or nobody could tell.
    pub clocks: Option<Box<NodeClocks>>,
    /// How the last run ended; `None`: it crashed or still runs.
    pub end: Option<EndOutcome>,
    /// How often it was taken up again.
    pub resumes: u32,
    /// What was noted while the race went on, and what was wrong with the file but did not stop the reading.
    pub warnings: Vec<String>,
    /// Length in bytes up to the end of the last whole line: where a resumed race goes on.
    pub whole_bytes: u64,
}

/// Why a record cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RecordError {
    /// No header.
    #[error(
        "this is no record of Fairlane: its first line is not a header; name a .jsonl file that `fairlane records` lists"
    )]
    NoHeader,
    /// Nothing is in it.
    #[error(
        "this record is empty: the race ended before it wrote anything; name another, `fairlane records` lists them"
    )]
    Empty,
    /// Its first line has no end.
    #[error(
        "this record is cut off in its first line, so that nothing of it can be read; name another, `fairlane records` lists them"
    )]
    CutOff,
    /// A record of durability.
    #[error("this is a record of power cuts or damage, not of a race; `fairlane report FILE` shows it")]
    Durability,
    /// Written by a later version.
    #[error("this record has schema {0}, newer than this version reads ({SCHEMA}); update Fairlane to read it")]
    Newer(u64),
    /// A line in the middle is broken.
    #[error("line {line} of this record is damaged ({reason}); {remedy}", remedy = kept_before(*line))]
    Damaged {
        /// From 1.
        line: usize,
        /// What the parser said.
        reason: String,
    },
    /// It is larger than a record may be.
    #[error("{0}")]
    TooMuch(#[from] TooMuch),
}

/// What a line is, without the rest of it.
#[derive(Deserialize)]
pub struct Brief<'a> {
    /// `header`, `trial`, …
    #[serde(borrow)]
    pub kind: Cow<'a, str>,
    /// Schema; of a header.
    #[serde(default)]
    pub schema: Option<u64>,
}

/// The lines that have no structure of their own. Read as a [`Line`], they would take the code that reads every kind again.
#[derive(Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
enum Short {
    Note {
        said: String,
    },
    Resume {
        started: String,
        boot_id: String,
        #[serde(default)]
        without_passes: bool,
    },
    End {
        finished: String,
        outcome: EndOutcome,
        #[serde(default)]
        reason: Option<String>,
        #[serde(default)]
        rounds_done: bool,
    },
}

impl From<Short> for Line {
    fn from(short: Short) -> Line {
        match short {
            Short::Note { said } => Line::Note { said },
            Short::Resume { started, boot_id, without_passes } => Line::Resume { started, boot_id, without_passes },
            Short::End { finished, outcome, reason, rounds_done } => {
                Line::End { finished, outcome, reason, rounds_done }
            }
        }
    }
}

/// What can be saved of a record whose line of this number is damaged.
fn kept_before(line: usize) -> String {
    match line {
        0 | 1 => "without it the others mean nothing: race again".to_owned(),
        line => format!("the lines before it can be kept: head -n {} RECORD > MENDED", line - 1),
    }
}

impl Record {
    /// A record that holds its header alone.
    pub fn begin(header: Header) -> Record {
        Record {
            header,
            probes: Vec::new(),
            layer_probes: Vec::new(),
            disks: Vec::new(),
            rates: Vec::new(),
            trials: Vec::new(),
            steps: Vec::new(),
            profiles: Vec::new(),
            unreached: Vec::new(),
            clocks: None,
            end: None,
            resumes: 0,
            warnings: Vec::new(),
            whole_bytes: 0,
        }
    }

    /// Reads a record from its text: see [`Record::read`].
    ///
    /// # Errors
    /// As [`Record::read`].
    pub fn parse(text: &str) -> Result<Record, RecordError> {
        Record::read(text.as_bytes())
    }

    /// Reads a record, line by line and within [`crate::bounds`]. An incomplete last line (the trial in flight at a crash)
    /// is left out with a warning; unknown kinds and keys are ignored.
    ///
    /// # Errors
    /// [`RecordError`] when there is no header, it is newer, a line in the middle is damaged, or it is too large.
    pub fn read(input: impl BufRead) -> Result<Record, RecordError> {
        let mut lines = Lines::new(input);
        let (_, first) = lines.next_line()?.ok_or(RecordError::Empty)?;
        let (bytes, whole) = (first.len() as u64, first.ends_with(b"\n"));
        let mut record = Record { whole_bytes: bytes, ..Record::begin(header_of(first)?) };
        while let Some((number, line)) = lines.next_line()? {
            if !line.ends_with(b"\n") {
                record
                    .warnings
                    .push("the last line is incomplete and was left out: the race did not end cleanly".to_owned());
                break;
            }
            record.whole_bytes += line.len() as u64;
            record.take(&String::from_utf8_lossy(line)).map_err(|reason| damaged(number, &reason))?;
        }
        if !whole {
            record.warnings.push("the record holds only its header".to_owned());
        }
        Ok(record)
    }

    fn take(&mut self, line: &str) -> Result<(), String> {
        match Line::read(line)? {
            Some(Line::Probe(probe)) => self.probes.push(*probe),
            Some(Line::Layers(probe)) => self.layer_probes.push(*probe),
            Some(Line::Disk(disk)) => self.disks.push(*disk),
            Some(Line::Rate(rate)) => self.rates.push(*rate),
            Some(Line::Trial(trial)) => self.trials.push(*trial),
            Some(Line::Profile(profile)) => self.profiles.push(*profile),
            Some(Line::Step(step)) => self.steps.push(*step),
            Some(Line::Unreached(unreached)) => self.unreached.push(unreached),
            Some(Line::Clocks(clocks)) => self.clocks = Some(clocks),
            Some(Line::Note { said }) => self.warnings.push(said),
            Some(Line::Resume { without_passes, .. }) => {
                self.resumes += 1;
                self.end = None;
                self.unreached.clear();
                if without_passes {
                    self.header.plan.leave_out_passes();
                }
            }
            Some(Line::End { outcome, rounds_done, .. }) => self.end = Some(outcome.read(rounds_done)),
            Some(Line::Header(_)) | None => {}
        }
        Ok(())
    }
}

/// The header of a record, from its first line and within [`crate::bounds`].
///
/// # Errors
/// As [`Record::read`].
pub(crate) fn header_of(first: &[u8]) -> Result<Header, RecordError> {
    let first = String::from_utf8_lossy(first);
    // One that begins like a header and has neither an end nor a line after it was not written to its end.
    let is_cut = first.starts_with("{\"kind\":\"header\"") && !first.ends_with('\n');
    let unread = if is_cut { RecordError::CutOff } else { RecordError::NoHeader };
    let brief: Brief = serde_json::from_str(&first).map_err(|_| unread)?;
    match (brief.kind.as_ref(), brief.schema) {
        ("durability", _) => Err(RecordError::Durability),
        ("header", Some(schema)) if schema > u64::from(SCHEMA) => Err(RecordError::Newer(schema)),
        ("header", Some(_)) => {
            let header: Header = serde_json::from_str(&first).map_err(|error| damaged(1, &told(error)))?;
            let lanes = header.lanes.len().max(header.plan.lanes.len());
            let workloads = header.plan.workloads.len();
            if lanes > MOST_LANES || workloads > MOST_WORKLOADS {
                return Err(TooMuch::Header { lanes, workloads }.into());
            }
            if let Some(screening) = &header.plan.screening {
                screening.check().map_err(TooMuch::Screening)?;
            }
            Ok(header)
        }
        _ => Err(RecordError::NoHeader),
    }
}

/// What is wrong with a line, in words of people: a parser's own are of expected characters.
fn told(error: serde_json::Error) -> String {
    let column = error.column();
    match error.classify() {
        serde_json::error::Category::Eof => "it ends in its middle".to_owned(),
        serde_json::error::Category::Data => {
            format!("what stands at column {column} is missing something, or is of another kind")
        }
        serde_json::error::Category::Syntax | serde_json::error::Category::Io => {
            format!("its text breaks at column {column}")
        }
    }
}

/// The parser quotes what it found, whoever wrote it and however long it is.
fn damaged(line: usize, reason: &str) -> RecordError {
    RecordError::Damaged { line, reason: crate::text::quoted(reason) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn damage_is_told_in_words_and_a_later_run_may_leave_passes_out() {
        let header = include_str!("../../fairlane/tests/fixtures/schema1.jsonl").lines().next().unwrap_or_default();
        let read = |lines: &[&str]| Record::parse(&format!("{header}\n{}\n", lines.join("\n")));
        for (line, says) in [
            ("{\"kind\":\"note\",\"said\":", "it ends in its middle"),
            ("{\"kind\":\"note\",\"said\":3}", "of another kind"),
            ("{\"kind\":\"note\";", "its text breaks at column 15"),
        ] {
            let said = read(&[line, "{\"kind\":\"x\"}"]).map(|_| ()).unwrap_err().to_string();
            assert!(said.contains(says) && !said.contains("expected"), "{line}: {said}");
        }
        let end = "{\"kind\":\"end\",\"finished\":\"t\",\"outcome\":\"interrupted\",\"rounds_done\":true}";
        let resume = "{\"kind\":\"resume\",\"started\":\"t\",\"boot_id\":\"b\",\"without_passes\":true}";
        assert_eq!(read(&[end]).unwrap().end, Some(EndOutcome::Unexplained));
        assert_eq!(read(&[&end.replace(",\"rounds_done\":true", "")]).unwrap().end, Some(EndOutcome::Interrupted));
        let clocks = "{\"kind\":\"clocks\",\"seconds\":9.5,\"nodes\":[{\"node\":1,\"drift_seconds\":-2e-6}]}";
        let read = read(&[clocks, end]).unwrap().clocks.expect("clocks");
        assert_eq!((read.seconds, read.nodes[0].node, read.nodes[0].drift_seconds), (9.5, 1, -2e-6));
        let mut header: serde_json::Value = serde_json::from_str(header).unwrap();
        header["plan"]["explain"] = true.into();
        header["plan"]["command_line"] = serde_json::json!(["fairlane", "race", "ext4", "--explain", "--seed", "1"]);
        let resumed = Record::parse(&format!("{header}\n{end}\n{resume}\n")).unwrap();
        assert_eq!((resumed.end, resumed.header.plan.explain), (None, false));
        assert_eq!(resumed.header.plan.again(), ["fairlane", "race", "ext4", "--seed", "1"]);
    }

    #[test]
    fn what_is_no_whole_record_is_called_what_it_is() {
        for (text, error) in [
            ("", RecordError::Empty),
            ("{\"kind\":\"header\",\"schema\":1,\"ver", RecordError::CutOff),
            ("{\"kind\":\"header\",\"schema\":1,\"ver\n", RecordError::NoHeader),
            ("hello", RecordError::NoHeader),
        ] {
            assert_eq!(Record::parse(text).err(), Some(error), "{text}");
        }
    }
}
