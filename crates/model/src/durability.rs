//! What a power cut, damage, a full disk and a failing one cost a lane: the record, JSON lines of schema 1,
//! and what the statistics make of it. Readers ignore unknown kinds and keys.

use crate::bounds::Lines;
use crate::lane::Promises;
use crate::machine::Machine;
use crate::record::{Brief, EndOutcome};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::io::BufRead;

mod findings;

pub use findings::{
    DamageFindings, DurabilityFindings, DurabilityVerdict, Honesty, LaneDurability, LaneExample, SpeedFinding,
    Untrusted,
};

/// The schema that this version writes.
pub const SCHEMA: u32 = 1;

/// What stands around the name of a program whose calls are the work, in [`Cuts::what`].
pub const CALLS_OF: (&str, &str) = ("the calls of ", ", each sync acknowledged");

/// One line of a record of durability.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum DurabilityLine {
    /// The first line.
    Durability(Box<DurabilityHeader>),
    /// The power cuts of one kind of work in one lane.
    Cuts(Box<Cuts>),
    /// A lane was given up; the others went on.
    Failed(Failed),
    /// How fast a lane did the same work on an ordinary image.
    Speed(Speed),
    /// What a lane said of blocks that were damaged behind its back.
    Damage(Box<Damage>),
    /// What a lane did on a full disk.
    Full(Full),
    /// What a lane said when the disk refused a write or a flush.
    Fault(Fault),
    /// It ended here.
    End {
        /// RFC 3339, UTC.
        finished: String,
        /// How.
        outcome: EndOutcome,
    },
}

/// The first line.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DurabilityHeader {
    /// Schema of the record.
    pub schema: u32,
    /// Version of Fairlane.
    pub version: String,
    /// `powercut` or `integrity`.
    pub command: String,
    /// RFC 3339, UTC.
    pub started: String,
    /// Of every record, cut and damaged block.
    pub seed: u64,
    /// The line that runs it again, as arguments.
    pub again: Vec<String>,
    /// Where.
    pub machine: Machine,
    /// Size of each lane.
    pub lane_bytes: u64,
    /// The lanes.
    pub lanes: Vec<DurabilityLane>,
    /// Names of the controls: the first must keep everything, the second must lose something. Empty: none.
    #[serde(default)]
    pub controls: Vec<String>,
}

/// A lane.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DurabilityLane {
    /// What reports call it.
    pub name: String,
    /// The line that makes this lane again.
    pub spec: String,
    /// `ext4`.
    pub filesystem: String,
    /// The mkfs command, with `{device}` where the device stands.
    pub mkfs_command: Vec<String>,
    /// Mount options, Fairlane's own included.
    pub mount_options: Vec<String>,
    /// What it promises.
    pub promises: Promises,
}

/// The power cuts of one kind of work in one lane. Every figure counts images, one for each cut.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Cuts {
    /// The lane.
    pub lane: String,
    /// The kind of work.
    pub workload: String,
    /// What it does, in words.
    pub what: String,
    /// Whether the filesystem's interface promises what was acknowledged.
    pub promised: bool,
    /// Records acknowledged before the last cut.
    pub records: u64,
    /// Writes that the disk saw.
    pub writes: u64,
    /// Flushes that the disk saw.
    pub flushes: u64,
    /// Size of the log of writes.
    pub log_bytes: u64,
    /// Simulated cuts.
    pub cuts: u64,
    /// Cuts at which some writes might be on the disk or not; the others have one image only. `None`: not counted.
    pub open: Option<u64>,
    /// Images of the cuts that are made of different writes. `None`: not counted.
    pub images: Option<u64>,
    /// Cuts after which some promise was broken: any of the four below, or an image that did not mount.
    pub broken: u64,
    /// Of the broken ones, those where a write was torn between sectors of 512 bytes.
    pub broken_torn_512: u64,
    /// An acknowledged record was missing or not readable.
    pub lost: u64,
    /// An acknowledged record had wrong bytes.
    pub torn: u64,
    /// An older state than the acknowledged one, or bytes that were never written.
    pub stale: u64,
    /// A replacement was neither the old nor the new file, or half a transaction was there.
    pub mixed: u64,
    /// The image did not mount.
    pub unmountable: u64,
    /// The checker complained after a mount.
    pub complaints: u64,
    /// The checker had something to repair before the mount, on a lane without a journal.
    pub repaired: u64,
    /// An array that lacked a disk began only by force.
    #[serde(default)]
    pub forced: u64,
    /// A disk of it was gone in every image.
    #[serde(default)]
    pub loses_a_disk: bool,
    /// Which of its disks that was, from 1. `None`: none, or the first of a record that does not tell it.
    #[serde(default)]
    pub lost_disk: Option<u32>,
    /// Seconds that recording took.
    pub recording_seconds: f64,
    /// Seconds that the images took, with `workers` of them side by side.
    pub replay_seconds: f64,
    /// How many were looked at side by side.
    pub workers: u32,
    /// The most memory that the run and the processes that served its disks held together, in bytes: a bound from
    /// above, in which shared pages count twice.
    pub memory_bytes: u64,
    /// The first images that broke a promise.
    pub examples: Vec<Example>,
    /// The first images of which the checker complained.
    pub complained: Vec<Example>,
    /// What was compared in all images together. `None`: it was not counted.
    pub compared: Option<Compared>,
}

/// What was held against what must be there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Compared {
    /// Names that had to be there, or to be gone.
    pub names: u64,
    /// Files whose sizes were compared.
    pub files: u64,
    /// Bytes of them that were compared.
    pub bytes: u64,
}

/// One image that broke a promise.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Example {
    /// The cut: `TICK/SURVIVAL`.
    pub cut: String,
    /// Records acknowledged before it.
    pub acknowledged: u64,
    /// What was wrong, one sentence.
    pub said: String,
    /// The folder that keeps what makes the image again; empty: not kept.
    pub kept: String,
}

/// A lane that could not be cut to the end.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Failed {
    /// The lane.
    pub lane: String,
    /// The kind of work at which it failed, or `speed`.
    pub at: String,
    /// Why, one sentence.
    pub reason: String,
}

/// How fast a lane did the same work on an ordinary image.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Speed {
    /// The lane.
    pub lane: String,
    /// The kind of work.
    pub workload: String,
    /// Acknowledged records per second, one figure for each round.
    pub records_per_second: Vec<f64>,
}

/// What a lane said of blocks that were damaged behind its back.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Damage {
    /// The lane.
    pub lane: String,
    /// `data` or `metadata`.
    pub of: String,
    /// Devices that the filesystem stands on.
    pub devices: u32,
    /// Damaged blocks of 4 KiB: of data inside of the bytes of a file, of metadata in blocks that a cold mount and a
    /// walk through all files had read.
    pub blocks: u64,
    /// Of these, blocks that were read by the mount, the walk or the scrub afterwards. `None`: not counted.
    pub read: Option<u64>,
    /// Files that were read afterwards.
    pub files: u64,
    /// Files that a damaged block belonged to; 0 for metadata, which belongs to none.
    pub hit: u64,
    /// Files that were read with wrong bytes and without an error, or that were gone without one.
    pub silent: u64,
    /// Files that could not be read.
    pub refused: u64,
    /// Files that were hit and read whole all the same.
    pub repaired: u64,
    /// Errors that the filesystem's scrub or its statistics say were corrected.
    pub corrected: u64,
    /// The filesystem did not mount: its words.
    pub unmountable: String,
    /// What the scrub or the checker said; empty: nothing, or there is none.
    pub scrub: String,
    /// Whether the scrub or the checker noticed.
    pub noticed: bool,
    /// Sectors of 512 bytes in which the arrays below it say that their copies, or data and parity, differ (md's
    /// `mismatch_cnt`, which counts in steps of what it compares at a time). `None`: it stands on none that could look.
    pub array_mismatches: Option<u64>,
}

/// What a lane did on a full disk.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Full {
    /// The lane.
    pub lane: String,
    /// Bytes written until the disk was full.
    pub filled_bytes: u64,
    /// What the full disk answered, in the system's words; `No space left on device` is the honest one.
    pub answered: String,
    /// Whether a file could be deleted then.
    pub could_delete: bool,
    /// Share of the deleted bytes that could be written again.
    pub came_back: f64,
    /// Files that were safe before and are whole afterwards, of all.
    pub whole: u64,
    /// Of so many.
    pub files: u64,
}

/// What a lane said when the disk refused a write or a flush.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Fault {
    /// The lane.
    pub lane: String,
    /// `write` or `flush`.
    pub of: String,
    /// Which one failed, counted from the beginning of the work.
    pub number: u64,
    /// Whether the disk got to refuse anything.
    pub happened: bool,
    /// What the application was told, in the system's words; empty: nothing.
    pub told: String,
    /// The call that told it: `write`, `fsync`; empty: none.
    pub by: String,
    /// Records acknowledged before anything was told.
    pub acknowledged: u64,
    /// Acknowledged records that were not whole while it was still mounted.
    pub lost_mounted: u64,
    /// Whether a file could be written and synced then, the disk being whole again.
    pub writable: bool,
    /// The filesystem did not mount again: its words; empty: it did. What was acknowledged is not known to be whole then.
    pub unmountable: String,
    /// Acknowledged records that were not whole after a new mount.
    pub lost: u64,
    /// What was wrong, one sentence.
    pub said: String,
}

/// A record of durability, read back.
#[derive(Debug, Clone, PartialEq)]
pub struct DurabilityRecord {
    /// The first line.
    pub header: DurabilityHeader,
    /// The power cuts.
    pub cuts: Vec<Cuts>,
    /// The lanes that were given up.
    pub failed: Vec<Failed>,
    /// The speeds.
    pub speeds: Vec<Speed>,
    /// The damage.
    pub damage: Vec<Damage>,
    /// The full disks.
    pub full: Vec<Full>,
    /// The failing disks.
    pub faults: Vec<Fault>,
    /// How it ended; `None`: it did not.
    pub end: Option<EndOutcome>,
}

impl DurabilityRecord {
    /// A record that holds its header alone.
    pub fn begin(header: DurabilityHeader) -> DurabilityRecord {
        let (cuts, failed, speeds) = (Vec::new(), Vec::new(), Vec::new());
        let (damage, full, faults) = (Vec::new(), Vec::new(), Vec::new());
        DurabilityRecord { header, cuts, failed, speeds, damage, full, faults, end: None }
    }

    /// Whether a file is such a record, by its first line.
    pub fn is_one(text: &str) -> bool {
        let first = text.lines().next().unwrap_or_default();
        serde_json::from_str(first).is_ok_and(|brief: Brief| brief.kind == "durability")
    }

    /// Reads a record from its text: see [`DurabilityRecord::read`].
    ///
    /// # Errors
    /// As [`DurabilityRecord::read`].
    pub fn parse(text: &str) -> Result<DurabilityRecord, String> {
        DurabilityRecord::read(text.as_bytes())
    }

    /// Reads a record, line by line and within [`crate::bounds`]; an incomplete last line is left out.
    ///
    /// # Errors
    /// One sentence where it is none, newer, damaged or too large.
    pub fn read(input: impl BufRead) -> Result<DurabilityRecord, String> {
        let mut lines = Lines::new(input);
        let first = lines.next_line().map_err(|error| error.to_string())?.filter(|(_, line)| line.ends_with(b"\n"));
        let header = match first.map(|(_, line)| serde_json::from_str(&String::from_utf8_lossy(line))) {
            Some(Ok(DurabilityLine::Durability(header))) => *header,
            _ => return Err("this is no record of durability: its first line is no header of one".to_owned()),
        };
        if header.schema > SCHEMA {
            return Err(format!(
                "this record has schema {}, newer than this version reads ({SCHEMA}); update Fairlane to read it",
                header.schema
            ));
        }
        let mut record = DurabilityRecord::begin(header);
        while let Some((number, line)) = lines.next_line().map_err(|error| error.to_string())? {
            if !line.ends_with(b"\n") {
                break;
            }
            let damaged = |error: serde_json::Error| {
                format!("line {number} of this record is damaged ({})", crate::text::quoted(&error.to_string()))
            };
            let line = String::from_utf8_lossy(line);
            let brief: Option<Brief> = match serde_json::from_str(&line) {
                Err(error) if error.is_data() => None,
                read => Some(read.map_err(damaged)?),
            };
            let kind = brief.as_ref().map_or("", |brief| brief.kind.as_ref());
            if ["cuts", "failed", "speed", "damage", "full", "fault", "end"].contains(&kind) {
                record.take(serde_json::from_str(&line).map_err(damaged)?);
            }
        }
        Ok(record)
    }

    /// Takes one more line.
    pub fn take(&mut self, line: DurabilityLine) {
        match line {
            DurabilityLine::Durability(_) => {}
            DurabilityLine::Cuts(cuts) => self.cuts.push(*cuts),
            DurabilityLine::Failed(failed) => self.failed.push(failed),
            DurabilityLine::Speed(speed) => self.speeds.push(speed),
            DurabilityLine::Damage(damage) => self.damage.push(*damage),
            DurabilityLine::Full(full) => self.full.push(full),
            DurabilityLine::Fault(fault) => self.faults.push(fault),
            DurabilityLine::End { outcome, .. } => self.end = Some(outcome),
        }
    }
}
