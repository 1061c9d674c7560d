//! What the statistics make of a record of durability.

use super::{Compared, Example, Failed, Fault, Full};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What the statistics make of a record of durability.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DurabilityFindings {
    /// Schema.
    pub schema: u32,
    /// `powercut` or `integrity`.
    pub command: String,
    /// RFC 3339, UTC.
    pub started: String,
    /// `uname -r`.
    pub kernel: String,
    /// Seed.
    pub seed: u64,
    /// The line that runs it again, as arguments.
    pub again: Vec<String>,
    /// `complete`, `interrupted`, `failed`, `unfinished`.
    pub outcome: String,
    /// Names of the controls.
    pub controls: Vec<String>,
    /// Why nothing here may be believed; empty: the controls did what they must.
    pub untrusted: Vec<Untrusted>,
    /// Kinds of promised work that no control proves: the unsafe control broke nothing at them. What a lane kept there is
    /// left out of what is said of it.
    #[serde(default)]
    pub unproven: Vec<String>,
    /// The lanes in their order.
    pub lanes: Vec<LaneDurability>,
    /// What each lane said of damage.
    pub damage: Vec<DamageFindings>,
    /// What each did on a full disk.
    pub full: Vec<Full>,
    /// What each said of a failing one.
    pub faults: Vec<Fault>,
}

/// Why a run is not to be trusted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Untrusted {
    /// The lane that must keep everything lost something.
    SafeControlLost,
    /// The lane that must lose something lost nothing.
    UnsafeControlKept,
    /// A control was not cut at all.
    ControlMissing,
}

/// What the cuts of a lane say.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum DurabilityVerdict {
    /// No promise was broken.
    Kept,
    /// Some were.
    Broke,
    /// There were no cuts that the controls prove, or it was given up before the end.
    Unknown,
}

/// One lane's cuts, all promised work together.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LaneDurability {
    /// The lane.
    pub lane: String,
    /// What they say.
    pub verdict: DurabilityVerdict,
    /// Cuts of promised work.
    pub cuts: u64,
    /// Of these, with a broken promise.
    pub broken: u64,
    /// Cuts of promised work at which the controls did what they must: where none was broken, only these count.
    pub proven_cuts: u64,
    /// Of the proven cuts, those at which some writes might be on the disk or not. `None`: not counted.
    pub open: Option<u64>,
    /// Images of the proven cuts that are made of different writes. `None`: not counted.
    pub images: Option<u64>,
    /// Where none was broken: the failure rate of such images is below this at 95 %, by the number of different images,
    /// or of cuts where images were not counted.
    pub below: Option<f64>,
    /// Where and why it was given up.
    pub failed: Option<Failed>,
    /// Images with a lost acknowledged record.
    pub lost: u64,
    /// With a torn one.
    pub torn: u64,
    /// With a stale state.
    pub stale: u64,
    /// With a replacement that was not atomic.
    pub mixed: u64,
    /// Images of promised work that did not mount.
    pub unmountable: u64,
    /// Of the broken ones, those where a write was torn between sectors of 512 bytes.
    pub broken_torn_512: u64,
    /// Images of which the checker complained, of all work.
    pub complaints: u64,
    /// Images that were repaired before the mount.
    pub repaired: u64,
    /// Images whose array, which lacked a disk, began only by force.
    pub forced: u64,
    /// A disk of it was gone in every image.
    #[serde(default)]
    pub loses_a_disk: bool,
    /// Which of its disks that was, from 1. `None`: none, or the first of a record that does not tell it.
    #[serde(default)]
    pub lost_disk: Option<u32>,
    /// Cuts of work without fsync of directories.
    pub bare_cuts: u64,
    /// Of these, with something missing: nobody promised it.
    pub bare_missing: u64,
    /// Of these, images that did not mount: that is promised whatever was fsynced.
    pub bare_unmountable: u64,
    /// Crash images an hour, mounting and checking included, of all work.
    pub images_per_hour: Option<f64>,
    /// The most memory that the run held while it made them, in bytes; shared pages count twice.
    pub memory_bytes: u64,
    /// What was compared in all images together, where the work counts it.
    #[serde(default)]
    pub compared: Option<Compared>,
    /// Speed beside the first lane.
    pub speed: Option<SpeedFinding>,
    /// Whether its own options promise that fsync reaches stable storage.
    pub promises_fsync: bool,
    /// First failures.
    pub examples: Vec<LaneExample>,
    /// The first complaint of the checker.
    pub complained: Vec<LaneExample>,
}

/// An example with the work that it is of.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LaneExample {
    /// The kind of work.
    pub workload: String,
    /// The example.
    #[serde(flatten)]
    pub example: Example,
}

/// The speed of the same work beside the first lane: the geometric mean over kinds of work of the ratios of medians.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SpeedFinding {
    /// This lane over the first.
    pub ratio: f64,
    /// The lowest ratio of a kind of work.
    pub low: f64,
    /// The highest.
    pub high: f64,
}

/// Whether a lane tells the truth about damaged blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Honesty {
    /// Wrong bytes were read without an error.
    Silent,
    /// What was damaged was refused.
    Refused,
    /// What was damaged was read whole: another copy was there, or the filesystem says that it corrected it.
    Repaired,
    /// Damaged blocks were read, or the check noticed them, and every file was whole all the same.
    Unharmed,
    /// Nothing read what was damaged, and nothing noticed: this says nothing.
    Untested,
}

/// What a lane said of damage, with its verdict.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DamageFindings {
    /// The verdict.
    pub honesty: Honesty,
    /// The figures.
    #[serde(flatten)]
    pub damage: super::Damage,
}
