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

macro_rules! marks {
    ($($(#[doc = $doc:literal])+ $mark:ident = $name:literal,)+) => {
        /// A mark that statistics, or who conducts a race, know.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Mark {
            $($(#[doc = $doc])+ $mark,)+
        }

        impl Mark {
            /// All of them.
            pub const ALL: &[Mark] = &[$(Mark::$mark,)+];

            /// Its name in a record.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Mark::$mark => $name,)+
                }
            }
        }
    };
}

marks! {
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
}
