//! What host and guest say to each other: lines over one channel.
//!
//! Towards the guest a line is `A {"serial":…,"ask":…}` for the guest itself, or `L<lane> {…}` for the
//! agent of a lane. Back come `A {"serial":…,"answer":…}`, `L<lane> {…}` from an agent, `X<lane> words` where
//! an agent ended, and `+<bytes>`: so many bytes were read so far. User-mode Linux wedges for good once
//! about 4 KB lie unread on its serial line, so the host never has more than [`MOST_UNREAD_BYTES`] under way.

use crate::failure::LaneFailure;
use crate::layers::Rebuilt;
use crate::replacing::{Replace, Replaced};
use crate::screened_options::Tried;
use model::agent::Devices;
use model::lane::LaneSpec;
use model::stack::LayerSpec;
use model::timeline::Look;
use model::trial::SystemUse;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// The first line of a guest that listens.
pub(crate) const READY: &str = "!fairlane-guest-ready";
/// Bytes towards the guest that it has not read yet, at most.
pub(crate) const MOST_UNREAD_BYTES: u64 = 2048;
/// Program in the guest's memory: the kernel starts it, and it starts itself again as the worker.
pub(crate) const INIT: &str = "/fairlane-guest";
/// File in the guest's memory that names the modules to load, one path a line.
pub(crate) const MODULES: &str = "/modules.list";
/// File in the guest's memory that names the character device of the channel.
pub(crate) const CHANNEL: &str = "/channel.path";
/// File in the guest's memory that a replay there reads its calls from.
pub const TRACE: &str = "/replay.trace";

/// Something that the guest itself does.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "ask", rename_all = "kebab-case")]
pub enum Ask {
    /// What it is.
    Hello,
    /// Mounts a filesystem of the kernel, and what lies above it; the folder is made.
    Mount {
        /// As /proc/filesystems names it.
        filesystem: String,
        /// Block device in the guest.
        source: PathBuf,
        /// All options.
        options: Vec<String>,
        /// Where the work happens.
        target: PathBuf,
        /// What lies above it; then the filesystem itself is mounted elsewhere.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        above: Option<LayerSpec>,
        /// What is replaced from then on until the unmount, again and again.
        #[serde(default)]
        replace: Option<Box<Replace>>,
    },
    /// Runs a FUSE program that mounts and then goes on in the background.
    MountFuse {
        /// The program and its arguments.
        command: Vec<String>,
        /// Where it will be mounted, and the work happens.
        target: PathBuf,
        /// As of [`Ask::Mount`].
        #[serde(default, skip_serializing_if = "Option::is_none")]
        above: Option<LayerSpec>,
    },
    /// Builds the layers of a lane on its disks; those that it had are taken down before.
    Stack {
        /// The lane.
        lane: u32,
        /// Block devices in the guest.
        disks: Vec<PathBuf>,
        /// From top to bottom.
        layers: Vec<LayerSpec>,
        /// Devices that the filesystem stands on.
        devices: u32,
        /// The disks hold these very layers, which were taken down in order: they are put together again.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        again: bool,
    },
    /// Takes the layers of a lane down; of one that has none nothing.
    Unstack {
        /// The lane.
        lane: u32,
    },
    /// Makes a filesystem by a tool that was carried along, and writes what the kernel still caches of it.
    Format {
        /// The program by its path, and its arguments.
        command: Vec<String>,
        /// Block device in the guest.
        device: PathBuf,
        /// The others that it is made on.
        #[serde(default)]
        further: Vec<PathBuf>,
    },
    /// Mounts a lane once and unmounts it again, with its disk's queue as the lane has it.
    Try {
        /// The lane.
        lane: Box<LaneSpec>,
        /// Block devices in the guest, as many as its filesystem stands on.
        disks: Vec<PathBuf>,
        /// The program of its mkfs, which runs there too; `None`: the host made it.
        mkfs: Option<PathBuf>,
        /// The FUSE program that mounts it; `None`: the guest's kernel does.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        fuse: Option<PathBuf>,
    },
    /// Unmounts; of FUSE also waits until the program ended.
    Unmount {
        /// Where.
        target: PathBuf,
    },
    /// Drops what the guest's kernel caches of block devices.
    DropCache {
        /// Block devices in the guest.
        devices: Vec<PathBuf>,
    },
    /// Starts the agent of a lane.
    Start {
        /// The lane.
        lane: u32,
    },
    /// Asks an agent to stop what it does, or kills it.
    Stop {
        /// The lane.
        lane: u32,
        /// With SIGKILL.
        kill: bool,
    },
    /// Closes an agent's input, which ends it, and waits for that.
    End {
        /// The lane.
        lane: u32,
    },
    /// Reads the guest's monotonic clock.
    Clock,
    /// What devices have under way.
    Activity {
        /// As /proc/diskstats names them.
        devices: Vec<String>,
    },
    /// Begins to watch the guest's system for a lane.
    Watch {
        /// The lane.
        lane: u32,
        /// Its devices.
        devices: Devices,
        /// Appenders are at work: more is looked at.
        appenders: bool,
    },
    /// What the system did since the watching began, or since the last look.
    Look {
        /// The lane.
        lane: u32,
    },
    /// Begins to live a life on a mounted filesystem, which an unmount ends.
    Live {
        /// Where it is mounted.
        target: PathBuf,
        /// The life.
        life: Box<aging::Life>,
    },
    /// How far such a life is.
    Lived {
        /// Where its filesystem is mounted.
        target: PathBuf,
    },
    /// Begins to copy what was lived on a mounted filesystem, or to read it or the copy, which an unmount ends.
    ReadCold {
        /// Where it is mounted.
        target: PathBuf,
        /// Which of these.
        step: aging::measures::ColdStep,
    },
    /// How far that is.
    HasRead {
        /// Where the filesystem is mounted.
        target: PathBuf,
    },
    /// Room of a mounted filesystem.
    Room {
        /// Where it is mounted.
        target: PathBuf,
    },
    /// Starts a command of Fairlane's own.
    Run {
        /// What it is told.
        arguments: Vec<String>,
    },
    /// Tells what the command said.
    Said {
        /// From this byte on.
        from: u64,
    },
    /// Has the command end as Ctrl-C would, or kills it.
    EndRun {
        /// As SIGKILL of nobody but the command itself does.
        #[serde(default)]
        kill: bool,
    },
    /// Panics the guest's kernel: tests see what becomes of a race then.
    Crash,
    /// Makes the guest's clock run at another speed: tests see that it is noticed.
    BendClock {
        /// Microseconds that the clock goes on in each hundredth of a second: 10000 is true.
        tick_microseconds: i64,
    },
    /// The end: nothing is mounted any more.
    PowerOff,
}

/// What the guest answers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "answer", rename_all = "kebab-case")]
pub enum Answer {
    /// It is done.
    Done,
    /// To `hello`.
    Hello(Hello),
    /// To `mount`: the options that the kernel shows, defaults of the superblock among them.
    Mounted {
        /// The filesystem's own.
        super_options: Vec<String>,
    },
    /// To `unmount`, where disks were replaced until then.
    Unmounted {
        /// How far that came.
        replaced: Option<Replaced>,
        /// Why it came no further; empty: it did.
        failure: String,
    },
    /// To `stack`.
    Stacked {
        /// What the filesystem stands on.
        devices: Vec<PathBuf>,
        /// Bytes of all of them.
        bytes: u64,
        /// How long it took.
        seconds: f64,
    },
    /// To `unstack`.
    Unstacked {
        /// What was rebuilt meanwhile; `None`: nothing was to be.
        rebuilt: Option<Rebuilt>,
    },
    /// To `format`.
    Formatted {
        /// What the tool printed.
        stdout: String,
        /// How long it took.
        seconds: f64,
    },
    /// To `try`.
    Tried {
        /// What came of it.
        tried: Tried,
    },
    /// To `look`.
    Looked {
        /// The guest's own system.
        system: Box<SystemUse>,
        /// Of appenders: what else shows.
        beside: Option<Look>,
    },
    /// To `said`.
    Said {
        /// A piece of it.
        text: String,
        /// Bytes of the piece.
        bytes: u64,
        /// The exit status; `None`: it goes on, or more is to be told.
        ended: Option<i32>,
    },
    /// To `clock`: nanoseconds since some moment.
    Clock {
        /// Of CLOCK_MONOTONIC.
        nanoseconds: u64,
    },
    /// To `activity`, summed.
    Activity {
        /// Requests in flight.
        in_flight: u64,
        /// Bytes written since boot.
        written_bytes: u64,
    },
    /// To `lived`, while it goes on.
    Living {
        /// Bytes written so far.
        bytes_written: u64,
        /// A sum that changes while it gets on.
        work: u64,
    },
    /// To `lived`, at its end.
    Lived {
        /// What became of it.
        facts: Box<model::aged::AgedLane>,
    },
    /// To `has-read`, while it goes on.
    Reading {
        /// As of [`Answer::Living`].
        work: u64,
    },
    /// To `has-read`, at its end.
    HasRead {
        /// What came of it.
        came_to: aging::measures::SteppedTo,
    },
    /// To `room`.
    Room {
        /// Inodes in all; 0: they are made as they are needed.
        inodes: u64,
        /// Inodes that are free.
        free_inodes: u64,
    },
    /// It could not be done.
    Refused {
        /// What is to blame.
        kind: Blame,
        /// One sentence.
        reason: String,
    },
}

/// What a guest is.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Hello {
    /// Release of its kernel.
    pub release: String,
    /// What its kernel mounts.
    pub filesystems: Vec<String>,
    /// Its CPUs.
    pub cpus: u32,
    /// Its memory in bytes.
    pub memory_bytes: u64,
    /// What went wrong while modules were loaded, one sentence each.
    pub module_failures: Vec<String>,
}

/// Kinds of [`LaneFailure`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Blame {
    /// An option or a lane that makes no sense.
    Usage,
    /// The kernel lacks something.
    Privilege,
    /// Anything else.
    Failed,
}

impl Blame {
    pub(crate) fn failure(self, reason: String) -> LaneFailure {
        match self {
            Blame::Usage => LaneFailure::Usage(reason),
            Blame::Privilege => LaneFailure::Privilege(reason),
            Blame::Failed => LaneFailure::Failed(reason),
        }
    }
}

impl From<LaneFailure> for Answer {
    fn from(failure: LaneFailure) -> Self {
        let kind = match &failure {
            LaneFailure::Usage(_) => Blame::Usage,
            LaneFailure::Privilege(_) => Blame::Privilege,
            _ => Blame::Failed,
        };
        Answer::Refused { kind, reason: failure.to_string() }
    }
}

/// A request with its number.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Asked {
    pub(crate) serial: u64,
    #[serde(flatten)]
    pub(crate) ask: Ask,
}

/// An answer with the number of its request.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Answered {
    pub(crate) serial: u64,
    #[serde(flatten)]
    pub(crate) answer: Answer,
}

/// A line from the guest, taken apart.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum FromGuest<'a> {
    Ready,
    Answer(&'a str),
    Agent(u32, &'a str),
    Ended(u32, &'a str),
    Read(u64),
    /// Something that the kernel or a program printed there.
    Other(&'a str),
}

impl<'a> FromGuest<'a> {
    pub(crate) fn parse(line: &'a str) -> FromGuest<'a> {
        let lane = |rest: &'a str| rest.split_once(' ').and_then(|(lane, text)| Some((lane.parse().ok()?, text)));
        let other = FromGuest::Other(line);
        match line.as_bytes().first() {
            Some(b'!') if line == READY => FromGuest::Ready,
            Some(b'A') => line.strip_prefix("A ").map_or(other, FromGuest::Answer),
            Some(b'L') => lane(&line[1..]).map_or(other, |(lane, text)| FromGuest::Agent(lane, text)),
            Some(b'X') => lane(&line[1..]).map_or(other, |(lane, text)| FromGuest::Ended(lane, text)),
            Some(b'+') => line[1..].parse().map_or(other, FromGuest::Read),
            _ => other,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::screened_options::Made;

    #[test]
    fn lines_of_a_guest_are_told_apart() {
        assert_eq!(FromGuest::parse(READY), FromGuest::Ready);
        assert_eq!(FromGuest::parse("A {\"x\":1}"), FromGuest::Answer("{\"x\":1}"));
        assert_eq!(FromGuest::parse("L12 {}"), FromGuest::Agent(12, "{}"));
        assert_eq!(FromGuest::parse("X0 signal: 9"), FromGuest::Ended(0, "signal: 9"));
        assert_eq!(FromGuest::parse("+4096"), FromGuest::Read(4096));
        for other in ["", "[    1.0] Kernel panic", "L {}", "Lx {}", "+", "Ab", "!fairlane"] {
            assert_eq!(FromGuest::parse(other), FromGuest::Other(other));
        }
    }

    #[test]
    fn requests_and_answers_survive_their_lines() {
        let asked = Asked { serial: 7, ask: Ask::Unmount { target: "/lanes/0".into() } };
        let text = serde_json::to_string(&asked).unwrap();
        let again: Asked = serde_json::from_str(&text).unwrap();
        assert_eq!((again.serial, again.ask), (7, asked.ask));
        let answered = Answered { serial: 8, answer: Answer::Hello(Hello { cpus: 2, ..Hello::default() }) };
        let text = serde_json::to_string(&answered).unwrap();
        let again: Answered = serde_json::from_str(&text).unwrap();
        assert_eq!(again.answer, answered.answer);
        let lane: LaneSpec = "ext4(-O ^flex_bg),noatime/queue,scheduler=none@uml".parse().unwrap();
        for (mkfs, fuse) in [(Some("/m".into()), None), (None, Some("/f".into()))] {
            let ask = Ask::Try { lane: Box::new(lane.clone()), disks: vec!["/dev/ubda".into()], mkfs, fuse };
            let text = serde_json::to_string(&Asked { serial: 9, ask: ask.clone() }).unwrap();
            assert_eq!(serde_json::from_str::<Asked>(&text).unwrap().ask, ask);
        }
        for tried in [Tried::Works(Made::default()), Tried::Refused("no".to_owned()), Tried::NotTried] {
            let answered = Answered { serial: 9, answer: Answer::Tried { tried } };
            let text = serde_json::to_string(&answered).unwrap();
            assert_eq!(serde_json::from_str::<Answered>(&text).unwrap().answer, answered.answer);
        }
        let walk = aging::measures::ColdWalk {
            files: 3,
            bytes: 5,
            seconds: 0.5,
            seconds_per_gib: 7.25,
            caches: aging::measures::Caches::Dropped,
        };
        for came_to in [aging::measures::SteppedTo::NoRoom, aging::measures::SteppedTo::Read(walk)] {
            let answered = Answered { serial: 9, answer: Answer::HasRead { came_to } };
            let again: Answered = serde_json::from_str(&serde_json::to_string(&answered).unwrap()).unwrap();
            assert_eq!(again.answer, answered.answer);
        }
        let failure = LaneFailure::Privilege("the kernel lacks it".to_owned());
        let Answer::Refused { kind, reason } = Answer::from(failure.clone()) else { panic!() };
        assert_eq!(kind.failure(reason).to_string(), failure.to_string());
    }
}
