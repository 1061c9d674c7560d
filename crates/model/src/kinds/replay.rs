//! What a program asked of files, captured once and done again.

use super::{Demand, Schedule, Traffic, WorkloadKind};
use crate::record::Profile;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

/// A trace of a program, whose calls are done again in every lane.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Replay {
    /// The trace's file on this machine.
    pub trace: PathBuf,
    /// Its SHA-256, in hexadecimal digits: another file of that name is another program.
    pub sha256: String,
    /// When calls begin.
    #[serde(default)]
    pub speed: Speed,
    /// What is in it.
    pub facts: Facts,
}

/// When calls begin.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
#[schemars(with = "String")]
pub enum Speed {
    /// As soon as what they wait for is done.
    #[default]
    Max,
    /// The same, and the program's own time between its calls is spent too.
    ThinkTime,
    /// At the times of the trace, so many times as fast.
    Recorded(f64),
}

/// What a trace comes to.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Facts {
    /// The program and its arguments; empty where a trace is anonymous.
    pub command: String,
    /// Calls that are done again.
    pub operations: u64,
    /// Calls that are not, by name.
    pub left_out: BTreeMap<String, u64>,
    /// Threads that work at the same time.
    pub threads: u32,
    /// From the begin of the first call to the end of the last, as it was captured.
    pub seconds: f64,
    /// Which of [`GROUPS`] it has.
    pub kinds: Vec<String>,
    /// Files, folders and links that have to be there before.
    pub tree_entries: u64,
    /// Bytes of those files that are opened.
    pub tree_bytes: u64,
    /// The most bytes that lie in the lane at once, rather too many.
    pub most_bytes: u64,
    /// Bytes read.
    pub read_bytes: u64,
    /// Bytes written.
    pub written_bytes: u64,
    /// Calls that wait for the disk.
    pub syncs: u64,
    /// Names that are made, changed or removed.
    pub name_changes: u64,
    /// What DEFLATE left of the bytes that were written, 0 to 1, as far as they were looked at; 1: nothing was.
    pub compressed: f64,
}

/// The group of all calls together.
pub const ALL: &str = "all";
/// The same at recorded times, whose figure is how late calls began.
pub const LATENESS: &str = "lateness";
/// The group of the sync that ends a replay.
pub const WRITE_BACK: &str = "write back";
/// Groups of calls of a kind, in the order in which they are told.
pub const GROUPS: [&str; 12] =
    ["open", "close", "read", "write", "sync", "stat", "list", "names", "attributes", "allocate", "copy", "other"];
/// The longest replay at recorded times.
const MOST_SECONDS: f64 = 86_400.0;
/// Of their speed the slowest and fastest.
const FACTORS: std::ops::RangeInclusive<f64> = 0.01..=1000.0;

impl Facts {
    /// Whether they are of the same trace: fractions may be off in their last digits once they were written down.
    pub fn is_like(&self, other: &Facts) -> bool {
        let near = |a: f64, b: f64| (a - b).abs() <= 1e-6 * a.abs().max(b.abs()).max(1.0);
        let plain = |of: &Facts| Facts { seconds: 0.0, compressed: 0.0, ..of.clone() };
        near(self.seconds, other.seconds) && near(self.compressed, other.compressed) && plain(self) == plain(other)
    }
}

impl Speed {
    /// The group of all calls together.
    pub fn whole(self) -> &'static str {
        if self.is_timed() { LATENESS } else { ALL }
    }

    /// Whether calls begin at moments that the trace tells.
    pub fn is_timed(self) -> bool {
        matches!(self, Speed::Recorded(_))
    }
}

impl FromStr for Speed {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let factor = text.strip_suffix('x').and_then(|factor| factor.parse().ok());
        match (text, factor) {
            ("max", _) => Ok(Speed::Max),
            ("thinktime", _) => Ok(Speed::ThinkTime),
            ("recorded", _) => Ok(Speed::Recorded(1.0)),
            (_, Some(factor)) if FACTORS.contains(&factor) => Ok(Speed::Recorded(factor)),
            _ => Err(format!(
                "there is no speed `{}`; choose max, thinktime, recorded, or a factor between 0.01x and 1000x such as 2x",
                crate::text::escaped(text.as_bytes())
            )),
        }
    }
}

impl fmt::Display for Speed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Speed::Max => f.write_str("max"),
            Speed::ThinkTime => f.write_str("thinktime"),
            Speed::Recorded(factor) if *factor == 1.0 => f.write_str("recorded"),
            Speed::Recorded(factor) => write!(f, "{factor}x"),
        }
    }
}

impl TryFrom<String> for Speed {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl From<Speed> for String {
    fn from(speed: Speed) -> String {
        speed.to_string()
    }
}

impl Replay {
    /// What people call the work; `what`: the program, or its trace.
    pub fn title(&self, what: &str) -> String {
        let pace = match self.speed {
            Speed::Max => String::new(),
            Speed::ThinkTime => ", with the program's own time between its calls".to_owned(),
            Speed::Recorded(1.0) => ", at the recorded times".to_owned(),
            Speed::Recorded(factor) => format!(", {factor} times as fast as recorded"),
        };
        format!("replay of {what}{pace}")
    }

    fn check_seconds(&self, seconds: f64) -> Result<(), String> {
        match seconds > MOST_SECONDS {
            true => Err(format!(
                "at that speed it takes {}, and a day is the most; take a faster one, such as --speed max",
                crate::units::human_seconds(seconds)
            )),
            false => Ok(()),
        }
    }
}

impl WorkloadKind for Replay {
    fn groups(&self) -> Vec<String> {
        let kinds = GROUPS.iter().filter(|group| self.facts.kinds.iter().any(|kind| kind == *group)).copied();
        [self.speed.whole()].into_iter().chain(kinds).chain([WRITE_BACK]).map(str::to_owned).collect()
    }

    fn check(&self) -> Result<(), String> {
        let is_digest = self.sha256.len() == 64 && self.sha256.bytes().all(|byte| byte.is_ascii_hexdigit());
        if !(is_digest && self.trace.is_absolute() && self.facts.operations > 0) {
            return Err("it names no trace; race one with --replay FILE".to_owned());
        }
        match self.speed {
            Speed::Max => Ok(()),
            Speed::ThinkTime => self.check_seconds(self.facts.seconds),
            Speed::Recorded(factor) => self.check_seconds(self.facts.seconds / factor),
        }
    }

    fn schedule(&self) -> Schedule<'_> {
        Schedule::Whole { reads_back: false }
    }

    // An inode and a name for each thing that is made.
    fn working_set_bytes(&self) -> u64 {
        let of = &self.facts;
        let made = of.tree_entries.saturating_add(of.name_changes).saturating_mul(4096);
        of.most_bytes.max(of.tree_bytes).saturating_add(made).saturating_add(1 << 20)
    }

    fn traffic(&self) -> Traffic {
        let of = &self.facts;
        let bytes = of.tree_bytes as f64 + of.read_bytes as f64 + of.written_bytes as f64;
        Traffic { bytes, requests: of.operations as f64 + bytes / 4096.0 }
    }

    fn demand(&self) -> Demand {
        let of = &self.facts;
        Demand {
            changes: of.tree_entries as f64 + of.name_changes as f64,
            moved_bytes: of.tree_bytes as f64 + of.written_bytes as f64,
            written_bytes: of.tree_bytes as f64 + of.written_bytes as f64,
            flushes: of.syncs as f64,
            around_seconds: match self.speed {
                Speed::Max => of.operations as f64 * 2e-6,
                Speed::ThinkTime => of.seconds,
                Speed::Recorded(factor) => of.seconds / factor,
            },
            ..Demand::default()
        }
    }

    fn flushes(&self) -> bool {
        self.facts.syncs > 0
    }

    fn concurrency(&self, _: &str) -> u32 {
        self.facts.threads.max(1)
    }

    fn is_paced(&self) -> bool {
        self.speed != Speed::Max
    }

    fn mixes_operations(&self) -> bool {
        true
    }

    fn sums_up(&self, group: &str) -> bool {
        group == self.speed.whole()
    }

    fn is_awaited(&self, group: &str) -> bool {
        group == "sync"
    }

    fn has_an_end(&self) -> bool {
        true
    }

    // Calls are no requests of the disk's.
    fn is_ceiling_of(&self, _: Profile, _: &str) -> bool {
        false
    }

    fn counterpart_is_alike(&self) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn speeds_are_read_as_they_are_said() {
        for (text, speed) in [
            ("max", Speed::Max),
            ("thinktime", Speed::ThinkTime),
            ("recorded", Speed::Recorded(1.0)),
            ("2x", Speed::Recorded(2.0)),
            ("0.5x", Speed::Recorded(0.5)),
        ] {
            assert_eq!(text.parse(), Ok(speed));
            assert_eq!(speed.to_string(), text);
        }
        for wrong in ["", "x", "fast", "0x", "-1x", "NaNx", "infx", "1e9x", "2"] {
            let said = wrong.parse::<Speed>().unwrap_err();
            assert!(said.contains("choose max, thinktime, recorded"), "{said}");
        }
    }

    #[test]
    fn a_replay_has_a_group_for_each_kind_that_is_in_its_trace() {
        let facts = Facts {
            operations: 9,
            kinds: ["sync", "open", "odd"].map(str::to_owned).to_vec(),
            syncs: 1,
            ..Facts::default()
        };
        let of = Replay { trace: "/t".into(), sha256: "0".repeat(64), speed: Speed::Max, facts };
        assert_eq!(of.groups(), ["all", "open", "sync", "write back"]);
        let recorded = Replay { speed: Speed::Recorded(2.0), ..of.clone() };
        assert_eq!((recorded.groups()[0].as_str(), recorded.is_paced()), ("lateness", true));
        assert_eq!((of.check(), of.flushes(), of.is_paced()), (Ok(()), true, false));
        let long = Facts { seconds: 86_401.0, ..of.facts.clone() };
        let of_speed = |speed| Replay { speed, facts: long.clone(), ..of.clone() }.check();
        assert_eq!((of_speed(Speed::Max), of_speed(Speed::Recorded(2.0))), (Ok(()), Ok(())));
        assert!(of_speed(Speed::Recorded(1.0)).unwrap_err().contains("a day is the most"));
        let written = Facts { seconds: long.seconds * (1.0 + 1e-15), ..long.clone() };
        assert!(written.is_like(&long) && !Facts { syncs: 9, ..long.clone() }.is_like(&long));
        assert!(Replay { sha256: "0".to_owned(), ..of.clone() }.check().is_err());
        assert!(Replay { trace: "t".into(), ..of }.check().is_err());
    }
}
