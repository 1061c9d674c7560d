//! Remarks on a trial: marks that statistics decide by, and notes that a reader gets as they are.

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::borrow::Cow;
use std::fmt;

/// What a trial is marked with. In a record it is one text: the mark's name, and after a colon its figures.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Flag {
    /// A mark that is known, with its figures; empty where it has none.
    Mark(Mark, String),
    /// What an engine had to do without, and marks of other versions.
    Note(String),
}

macro_rules! named {
    ($(#[$about:meta])+ $kind:ident: $($(#[doc = $doc:literal])+ $one:ident = $name:literal,)+) => {
        $(#[$about])+
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
        pub enum $kind {
            $($(#[doc = $doc])+ $one,)+
        }

        impl $kind {
            /// All of them.
            pub const ALL: &[$kind] = &[$($kind::$one,)+];

            /// Its name in a record.
            pub const fn name(self) -> &'static str {
                match self {
                    $($kind::$one => $name,)+
                }
            }
        }
    };
}

named! {
    /// A mark that statistics, or who conducts a race, know.
    Mark:
    /// The backlog of paced work grew over the window.
    CannotSustainRate = "cannot-sustain-rate",
    /// Paced work was late by the engine itself.
    HarnessBoundSubmission = "harness-bound-submission",
    /// Other programs, or the hypervisor, took CPU time or the disk.
    ForeignNoise = "foreign-noise",
    /// Other lanes moved bytes on the disk meanwhile.
    NeighbourActive = "neighbour-active",
    /// The rate still changed when the trial ended.
    NotSteady = "not-steady",
    /// The CPUs slowed down for heat.
    CpuThrottled = "cpu-throttled",
    /// The machine slept; the trial is void.
    Suspended = "suspended",
    /// The kernel gave its clock source up; the trial is void.
    ClockSource = "clock-source",
    /// Somebody set the time of day.
    ClockSet = "clock-set",
    /// A guest's clock ran fast or slow.
    GuestClock = "guest-clock",
    /// A guest's clock could not be read.
    GuestClockUnchecked = "guest-clock-unchecked",
    /// The host's filesystem could not tell the image's extents.
    ImageUnchecked = "image-unchecked",
    /// Unwritten extents appeared in the image.
    ImageUnwritten = "image-unwritten",
    /// A disk of the lane was rebuilt beside the work.
    Rebuilding = "rebuilding",
    /// More calls of a replay than may be were answered otherwise than the program's; the trial is void.
    ReplayDiffers = "replay-differs",
    /// What should have been cold may have been cached.
    WarmCache = "warm-cache",
    /// io_uring gave operations back, which were done one by one: `N of M`.
    IoUringAgain = "io_uring-again",
}

named! {
    /// What a note is about that weighs otherwise than notes do; the note begins with its name.
    NoteKind:
    /// How well what is written compresses.
    Data = "data",
    /// A server may lose what it acknowledged.
    NotDurable = "not durable",
    /// io_uring without what newer kernels have.
    WithoutDeferral = "io_uring works without DEFER_TASKRUN",
    /// io_uring without a table of its files.
    WithoutFiles = "io_uring works without registered files",
    /// io_uring without buffers that the kernel keeps.
    WithoutBuffers = "io_uring works without fixed buffers",
    /// libaio on files that are not opened for direct I/O.
    OneAfterTheOther = "libaio without O_DIRECT works one operation after the other",
}

impl NoteKind {
    /// The note, with what there is to say of it.
    pub fn note(self, said: impl fmt::Display) -> String {
        format!("{}: {said}", self.name())
    }
}

/// Who disturbed a trial that is marked with foreign noise, and what they took.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Disturbance {
    /// Who.
    pub by: Disturber,
    /// Share of the CPUs' time, 0 to 1; absent: it was the disk that they used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_share: Option<f64>,
}

/// Who disturbs a trial.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Disturber {
    /// Other programs of the machine that the trial ran on.
    OtherPrograms,
    /// The hypervisor below it.
    Hypervisor,
}

impl Mark {
    /// The mark with its figures.
    pub fn with(self, figures: impl Into<String>) -> Flag {
        Flag::Mark(self, figures.into())
    }
}

impl From<Mark> for Flag {
    fn from(mark: Mark) -> Flag {
        Flag::Mark(mark, String::new())
    }
}

impl Flag {
    /// The figures, where it is this mark.
    pub fn figures(&self, of: Mark) -> Option<&str> {
        match self {
            Flag::Mark(mark, figures) if *mark == of => Some(figures),
            _ => None,
        }
    }

    /// Whether it is this mark.
    pub fn is(&self, mark: Mark) -> bool {
        self.figures(mark).is_some()
    }

    /// What it is about, where it is a note of a kind.
    pub fn note_kind(&self) -> Option<NoteKind> {
        match self {
            Flag::Mark(..) => None,
            Flag::Note(_) => NoteKind::ALL.iter().copied().find(|kind| kind.name() == self.parts().0),
        }
    }

    /// By what flags are told together, and what is said of this one: a mark's name and its figures; of a note the words
    /// before the first colon and those after it.
    pub fn parts(&self) -> (&str, &str) {
        match self {
            Flag::Mark(mark, figures) => (mark.name(), figures),
            Flag::Note(text) => text.split_once(':').map_or((text, ""), |(kind, rest)| (kind, rest.trim_start())),
        }
    }
}

impl From<String> for Flag {
    fn from(text: String) -> Flag {
        let (name, figures) = text.split_once(':').unwrap_or((&text, ""));
        match Mark::ALL.iter().find(|mark| mark.name() == name) {
            Some(mark) => mark.with(figures.trim_start()),
            None => Flag::Note(text),
        }
    }
}

impl From<&str> for Flag {
    fn from(text: &str) -> Flag {
        Flag::from(text.to_owned())
    }
}

impl fmt::Display for Flag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Flag::Mark(mark, figures) if figures.is_empty() => f.write_str(mark.name()),
            Flag::Mark(mark, figures) => write!(f, "{}: {figures}", mark.name()),
            Flag::Note(text) => f.write_str(text),
        }
    }
}

impl Serialize for Flag {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Flag {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Flag, D::Error> {
        String::deserialize(deserializer).map(Flag::from)
    }
}

impl JsonSchema for Flag {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        String::schema_name()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        String::json_schema(generator)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_record_holds_is_read_and_written_alike() {
        for (text, mark) in [
            ("foreign-noise: other programs took 9 % of the CPU time", Some(Mark::ForeignNoise)),
            ("image-unwritten", Some(Mark::ImageUnwritten)),
            ("io_uring-again: 3 of 40", Some(Mark::IoUringAgain)),
            ("lost connections: 1 of 16", None),
            ("foreign-noise-of-another-version: 1", None),
            ("", None),
        ] {
            let json = serde_json::to_string(text).expect("JSON");
            let flag: Flag = serde_json::from_str(&json).expect("a flag");
            assert_eq!(serde_json::to_string(&flag).expect("JSON"), json);
            assert_eq!(Mark::ALL.iter().copied().find(|of| flag.is(*of)), mark, "{text}");
        }
        let flag = Flag::from("foreign-noise: 9 %");
        assert_eq!((flag.figures(Mark::ForeignNoise), flag.figures(Mark::NotSteady)), (Some("9 %"), None));
        assert_eq!(flag.parts(), ("foreign-noise", "9 %"));
        assert_eq!(Flag::from("lost connections: 1").parts(), ("lost connections", "1"));
    }

    #[test]
    fn a_note_of_a_kind_is_known_by_its_name_and_no_mark_has_the_same() {
        for kind in NoteKind::ALL {
            let flag = Flag::from(kind.note("why: it is so"));
            assert_eq!((flag.note_kind(), flag.parts()), (Some(*kind), (kind.name(), "why: it is so")));
            assert!(Mark::ALL.iter().all(|mark| mark.name() != kind.name()), "{}", kind.name());
        }
        for other in ["database: 1", "io_uring works", "foreign-noise: data"] {
            assert_eq!(Flag::from(other).note_kind(), None, "{other}");
        }
    }
}
