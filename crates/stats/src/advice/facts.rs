//! What is known of a lane: the table of features, with the lane's own options applied.

use model::Sentence;
use model::features::{self, Cell, Fact, Feature, Features, Rule, UNKNOWN};
use model::findings::LaneFact;
use model::lane::{Lane, ServerAnswers};
use model::scenario::{Need, Wish, fits};

/// Whether a lane has what was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Holds {
    /// As it was raced.
    Yes,
    /// It can be given it without being made anew; the race did not measure it so.
    Later,
    /// It has not got it, or nobody knows.
    No,
}

/// One thing that a lane has or has not.
#[derive(Debug, Clone, PartialEq)]
pub struct Finding {
    /// Whether it has it.
    pub holds: Holds,
    /// What is known.
    pub fact: Fact,
}

/// The table of features and the kernel that raced.
#[derive(Debug, Clone, Copy)]
pub struct Table<'a> {
    /// One per filesystem.
    pub features: &'a [Features],
    /// `uname -r` of the machine that raced.
    pub kernel: &'a str,
    /// What simulated power cuts and damage showed of lanes.
    pub broken: &'a [Broken],
}

/// A lane that broke a promise.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Broken {
    /// `ext4`.
    pub filesystem: String,
    /// The mkfs command, with `{device}` where the device stands.
    pub mkfs_command: Vec<String>,
    /// Mount options, Fairlane's own included.
    pub mount_options: Vec<String>,
    /// `uname -r`.
    pub kernel: String,
    /// Which, and how.
    pub promise: Promise,
    /// When, RFC 3339.
    pub started: String,
}

/// A promise that was broken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Promise {
    /// What fsync acknowledged survives, in simulated power cuts whose controls did what they must.
    Durable {
        /// Cuts that broke something that was promised.
        broken: u64,
        /// Of so many, at work that promises its names: what the report of the power cuts counts.
        cuts: u64,
        /// Only where a write was torn between sectors of 512 bytes.
        only_torn_512: bool,
    },
    /// A filesystem with a journal mounts after a cut, whatever was synced: work that syncs no directories promises
    /// nothing else.
    Mounts {
        /// Cuts of such work after which it did not.
        unmountable: u64,
        /// Of so many.
        cuts: u64,
    },
    /// Checksums of data: these files were read with wrong bytes and without an error.
    Checksums {
        /// How many.
        files: u64,
    },
}

impl Promise {
    /// Whether it is about what a power cut leaves.
    pub fn is_of_power_cuts(&self) -> bool {
        matches!(self, Promise::Durable { .. } | Promise::Mounts { .. })
    }

    /// How much was tried, or damaged: of several runs the one with most of it is told.
    fn weight(&self) -> u64 {
        match self {
            Promise::Durable { cuts, .. } | Promise::Mounts { cuts, .. } => *cuts,
            Promise::Checksums { files } => *files,
        }
    }
}

/// What several runs saw of one lane.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Observation<'a> {
    /// The run with the most cuts; of several that have as many the first one, which is the newest.
    pub told: &'a Broken,
    /// How many runs saw such a thing.
    pub runs: u32,
}

impl<'a> Observation<'a> {
    /// What is told of a lane where several runs broke such a promise. Runs are never added up: two of one seed hold
    /// the same cuts. `None`: none did.
    pub fn new(
        broken: &'a [Broken],
        lane: &Lane,
        kernel: &str,
        such: impl Fn(&Promise) -> bool,
    ) -> Option<Observation<'a>> {
        let mine = broken.iter().filter(|broken| such(&broken.promise) && broken.is_of(lane, kernel));
        mine.fold(None, |seen: Option<Observation<'a>>, broken| match seen {
            Some(Observation { told, runs }) if told.promise.weight() >= broken.promise.weight() => {
                Some(Observation { told, runs: runs + 1 })
            }
            seen => Some(Observation { told: broken, runs: seen.map_or(0, |seen| seen.runs) + 1 }),
        })
    }
}

impl Broken {
    /// Whether it is of a lane with these options, on this kernel.
    pub fn is_of(&self, lane: &Lane, kernel: &str) -> bool {
        // Guests and libraries are not what was cut: the host's own kernel was.
        ["image", "device"].contains(&lane.venue.as_str())
            && self.kernel == kernel
            && self.filesystem == lane.filesystem
            && self.mkfs_command == lane.mkfs_command
            && self.mount_options == lane.mount_options
            // What was cut stood on one disk, and on nothing else.
            && !lane.has_built_layers()
            && lane.disks == 1
    }
}

impl Table<'_> {
    /// What is known of a lane's feature, its options applied.
    pub fn fact(&self, lane: &Lane, feature: Feature) -> Fact {
        let row = self.features.iter().find(|row| row.filesystem == lane.filesystem);
        // A layer checks what it reads, whatever stands on it.
        if feature == Feature::DataChecksums && lane.promises.data_checksums && lane.has_built_layers() {
            return Fact { is: "yes".into(), source: OWN_WORD.into(), ..Fact::default() };
        }
        match row.and_then(|row| row.cell(feature)) {
            Some(cell) => apply(cell, lane),
            // A filesystem of the user's own says this much itself.
            None if feature == Feature::DataChecksums && lane.promises.data_checksums => {
                Fact { is: "yes".into(), source: OWN_WORD.into(), ..Fact::default() }
            }
            None => Fact {
                is: UNKNOWN.into(),
                note: Some(format!("the table of features has no {}", lane.filesystem)),
                ..Fact::default()
            },
        }
    }

    /// Whether a lane has one thing.
    pub fn wish(&self, lane: &Lane, wish: &Wish) -> Finding {
        let has = |feature: Feature, enough: &dyn Fn(&Fact) -> bool| {
            let fact = self.fact(lane, feature);
            let holds = match fact.is.as_str() {
                "later" if enough(&fact) => Holds::Later,
                UNKNOWN | "no" | "off" | "later" => Holds::No,
                _ if enough(&fact) => Holds::Yes,
                _ => Holds::No,
            };
            Finding { holds, fact }
        };
        let at_least = |feature: Feature, bytes: u128| {
            has(feature, &|fact| features::bytes(&fact.is).is_some_and(|limit| limit >= bytes))
        };
        let seen = match wish {
            Wish::Durable => {
                let lost = self.seen(lane, |promise| matches!(promise, Promise::Durable { .. }));
                lost.or_else(|| self.seen(lane, Promise::is_of_power_cuts))
            }
            Wish::Has(Feature::DataChecksums) => {
                self.seen(lane, |promise| matches!(promise, Promise::Checksums { .. }))
            }
            _ => None,
        };
        if let Some(seen) = seen {
            return lost(&seen);
        }
        match wish {
            Wish::Durable => durable(lane),
            Wish::Has(feature) => has(*feature, &|_| true),
            Wish::ShrinksOnline => has(Feature::Shrink, &|fact| fact.is == "online"),
            Wish::Limits(kind) => self.limits(lane, kind),
            Wish::DynamicInodes => has(Feature::Inodes, &|fact| fact.is == "dynamic"),
            Wish::FileSize(bytes) => at_least(Feature::MaxFileSize, *bytes),
            Wish::FilesystemSize(bytes) => at_least(Feature::MaxFilesystemSize, *bytes),
            Wish::Kernel(version) => {
                let raced = if lane.kernel.is_empty() { self.kernel } else { &lane.kernel };
                let version = version.as_deref().unwrap_or(raced);
                has(Feature::Kernel, &|fact| in_tree(fact, version))
            }
        }
    }

    /// How a lane was seen to break such a promise.
    fn seen(&self, lane: &Lane, such: impl Fn(&Promise) -> bool) -> Option<Observation<'_>> {
        Observation::new(self.broken, lane, self.kernel, such)
    }

    /// Quotas by a kind of owner. An option that limits one kind leaves the others to be switched on
    /// later, where the table says that they can.
    fn limits(&self, lane: &Lane, kind: &str) -> Finding {
        let fact = self.fact(lane, Feature::Quota);
        let among = |fact: &Fact| fact.kinds.iter().any(|one| one == kind);
        let later = || {
            let row = self.features.iter().find(|row| row.filesystem == lane.filesystem)?;
            row.cell(Feature::Quota).map(|cell| cell.fact.clone()).filter(|fact| fact.is == "later" && among(fact))
        };
        match fact.is.as_str() {
            "yes" if among(&fact) => Finding { holds: Holds::Yes, fact },
            "yes" | "later" => match later() {
                Some(fact) => Finding { holds: Holds::Later, fact },
                None => Finding { holds: Holds::No, fact: Fact { is: "no".into(), with: None, ..fact } },
            },
            _ => Finding { holds: Holds::No, fact },
        }
    }

    /// The best that a lane has of what a need takes, and what is known of every alternative.
    pub fn need(&self, lane: &Lane, need: &Need) -> (Holds, Vec<(Wish, Finding)>) {
        let found: Vec<_> = need.any.iter().map(|wish| (wish.clone(), self.wish(lane, wish))).collect();
        let any = |holds: Holds| found.iter().any(|(_, one)| one.holds == holds);
        let best = if any(Holds::Yes) {
            Holds::Yes
        } else if any(Holds::Later) {
            Holds::Later
        } else {
            Holds::No
        };
        (best, found)
    }
}

/// Where a lane's own options or promises say it.
const OWN_WORD: &str = "the lane's own description";

/// What was seen weighs more than what options promise.
fn lost(seen: &Observation) -> Finding {
    let (note, command) = match seen.told.promise {
        Promise::Durable { broken, cuts, only_torn_512 } => {
            let torn = if only_torn_512 { ", all of which tore a write between sectors of 512 bytes" } else { "" };
            (format!("it broke a promise in {broken} of {cuts} simulated power cuts{torn}"), "powercut")
        }
        Promise::Mounts { unmountable, cuts } => {
            let note = format!(
                "after {unmountable} of {cuts} simulated power cuts without fsync of directories it did not mount"
            );
            (note, "powercut")
        }
        Promise::Checksums { files } => {
            (format!("it gave {files} damaged files to a reader without an error"), "integrity")
        }
    };
    let which = match (seen.runs, command) {
        (0 | 1, _) => String::new(),
        (runs, "powercut") => format!(", of {runs} runs that saw it the one with the most cuts"),
        (runs, _) => format!(", of {runs} runs that saw it the one with the most files"),
    };
    let source = format!("fairlane {command} of {}{which}", seen.told.started);
    Finding { holds: Holds::No, fact: Fact { is: "no".into(), note: Some(note), source, ..Fact::default() } }
}

/// What fsync and a crash mean for a lane as it was raced.
fn durable(lane: &Lane) -> Finding {
    let promises = &lane.promises;
    // What a directory stands on does not always tell.
    let no_journal = match lane.venue == "directory" {
        true => "whether it survives a crash without a full check is not known",
        false => "it does not survive a crash without a full check",
    };
    // What a server promises no client sees.
    let here = !lane.is_served();
    let said = lane.server_answers.filter(|_| !here);
    let lacking: Vec<&str> = [
        (promises.journal, no_journal),
        (promises.fsync_reaches_stable_storage || !here, "fsync does not reach stable storage"),
        (promises.barriers || !here, "it does not flush its writes"),
        (here || said.is_some(), "whether its server confirms a sync once its disk has the data was not said"),
        (said != Some(ServerAnswers::Async), "its server confirms a sync before its disk has the data, as was said"),
        (promises.outlives_cache, "what fsync made durable may go with its cache's disk"),
        (!lane.flushes_stop_short, "no flush reaches a disk in user-mode Linux"),
    ]
    .into_iter()
    .filter(|(promised, _)| !promised)
    .map(|(_, lacks)| lacks)
    .collect();
    let holds = if lacking.is_empty() { Holds::Yes } else { Holds::No };
    let is = if lacking.is_empty() { "yes" } else { "no" };
    let note = (!lacking.is_empty()).then(|| lacking.join("; "));
    // Where the filesystem promises all of it, the place alone takes it away.
    let by_place = lane.flushes_stop_short && lacking.len() == 1;
    let source = if by_place { "the lane's venue" } else { "the lane's options" };
    Finding { holds, fact: Fact { is: is.into(), note, source: source.into(), ..Fact::default() } }
}

/// Whether the mainline kernel of a version has it.
fn in_tree(fact: &Fact, version: &str) -> bool {
    let number = |text: &Option<String>| text.as_deref().and_then(features::version);
    let (Some(version), Some(since)) = (features::version(version), number(&fact.since)) else { return false };
    ["mainline", "removed"].contains(&fact.is.as_str())
        && since <= version
        && number(&fact.removed).is_none_or(|removed| version < removed)
}

/// A cell as a lane's options leave it.
fn apply(cell: &Cell, lane: &Lane) -> Fact {
    let last = |words: &[String], of: fn(&Rule) -> &Vec<String>| {
        words.iter().rev().find_map(|word| {
            let names = |rule: &&Rule| of(rule).iter().any(|pattern| fits(pattern, word));
            cell.rule.iter().find(names).map(|rule| rule.fact.clone())
        })
    };
    let mkfs = mkfs_words(&lane.mkfs_command);
    if let Some(fact) = last(&lane.mount_options, |rule| &rule.mount).or_else(|| last(&mkfs, |rule| &rule.mkfs)) {
        return fact;
    }
    let reported = |line: &str| {
        let (name, word) = line.split_once(": ")?;
        let value = lane.geometry.iter().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "))?;
        Some(value.split(' ').any(|one| one == word))
    };
    let by_geometry = cell.rule.iter().find(|rule| {
        rule.geometry.as_deref().is_some_and(|line| reported(line) == Some(true))
            || rule.lacks.as_deref().is_some_and(|line| reported(line) == Some(false))
    });
    if let Some(rule) = by_geometry {
        return rule.fact.clone();
    }
    // What can be had later at worst can be had.
    let worse = |rule: &&Rule| {
        rule.fact.is != cell.fact.is && !(cell.fact.is == "later" && rule.fact.is == "yes") && rule.may_be_hidden()
    };
    if lane.venue == "directory" && cell.rule.iter().any(|rule| worse(&rule)) {
        let note = "it depends on how the filesystem was made, which a directory does not show".to_owned();
        return Fact { is: UNKNOWN.into(), note: Some(note), source: cell.fact.source.clone(), ..Fact::default() };
    }
    cell.fact.clone()
}

/// mkfs's options taken apart: `-Ocasefold,quota` and `-O casefold,quota` both give `casefold` and
/// `quota`.
fn mkfs_words(command: &[String]) -> Vec<String> {
    let mut words = Vec::new();
    for argument in command.iter().skip(1) {
        words.push(argument.clone());
        let value = match argument.strip_prefix('-') {
            Some(flag) if !flag.starts_with('-') => flag.get(1..).unwrap_or(""),
            Some(_) => "",
            None => argument,
        };
        words.extend(value.split(',').filter(|word| !word.is_empty() && *word != argument).map(str::to_owned));
    }
    words
}

/// A finding as the findings hold it.
pub fn told(wish: &Wish, finding: &Finding) -> LaneFact {
    let fact = &finding.fact;
    LaneFact {
        need: wish.to_string(),
        is: fact.is.clone(),
        with: fact.with.clone(),
        note: fact.note.clone().map(Sentence::from),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mkfs_options_are_taken_apart() {
        let command = |line: &str| line.split(' ').map(str::to_owned).collect::<Vec<_>>();
        let words = mkfs_words(&command("mkfs.ext4 -q -E nodiscard,stride=4 -O^has_journal,quota {device}"));
        for word in ["stride=4", "^has_journal", "quota", "-q"] {
            assert!(words.contains(&word.to_owned()), "{word} is not among {words:?}");
        }
        let words = mkfs_words(&command("mkfs.xfs -f -mreflink=0 -m crc=1,bigtime=0 {device}"));
        for word in ["reflink=0", "crc=1", "bigtime=0"] {
            assert!(words.contains(&word.to_owned()), "{word} is not among {words:?}");
        }
        assert!(mkfs_words(&command("mkfs.bcachefs --compression=zstd")).contains(&"--compression=zstd".to_owned()));
    }
}
