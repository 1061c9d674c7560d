//! What the one table of a race says: units, marks beside figures, limits, legend.

use crate::figures;
use crate::layout::{GLUE, Phrase, Tone};
use crate::words::answer::because;
use crate::words::{difference, latency, names, turned};
use model::findings::{Counts, Limit, Part, ResultFinding, Shown, Undecided, Verdict};

pub(crate) const QUESTION: &str = "question";
pub(crate) const UNIT: &str = "unit";
pub(crate) const LIMITED_BY: &str = "limited by";
/// A lane without a figure.
pub(crate) const NO_FIGURE: &str = "-";
/// The best of a row.
pub(crate) const BEST: char = '*';
/// What is possible reaches too far to be worth a figure.
pub(crate) const TOO_NOISY: &str = "?\u{a0}too\u{a0}noisy";

/// Where a figure is no mean over the lane's own rounds alone.
pub(crate) const FEWER_ROUNDS: &str = "a lane that raced fewer rounds stands where its ratio puts it";
/// A line of more figures.
pub(crate) const P99: &str = "p99";

/// The unit of rates of operations.
pub(crate) fn unit(counts: Counts) -> &'static str {
    match counts {
        Counts::Operations | Counts::Bytes => "ops/s",
        Counts::Requests => "IOPS",
        Counts::Commits => "commits/s",
        Counts::Files => "files/s",
        Counts::Directories => "dirs/s",
        Counts::Transactions => "transactions/s",
    }
}

/// What limited a row, under the heading "limited by".
pub(crate) fn limit(limit: Limit) -> &'static str {
    match limit {
        Limit::Device => "the disk",
        Limit::OwnDisk => "their own disks",
        Limit::WriteAmplification => "extra writes",
        Limit::FilesystemCpu => "filesystem CPU",
        Limit::Cpu => "the CPUs",
        Limit::FilesystemSerialised => "the filesystem",
        Limit::Flush => "flushes",
        Limit::Cache => "memory",
        Limit::Harness => "Fairlane",
        Limit::OtherPrograms => "other programs",
        // Of what is not known the full report alone speaks.
        Limit::Unattributed => "",
    }
}

/// The same of a row; where no rule tells its limit, what takes most of its slowest lane's time, as far as that is no upper
/// bound.
pub(crate) fn limit_or_headline(result: &ResultFinding) -> &'static str {
    match result.headline.as_ref().filter(|of| !of.at_most).and_then(|of| of.part) {
        Some(part) => mostly(part),
        None => limit(result.limit),
    }
}

fn mostly(part: Part) -> &'static str {
    match part {
        Part::Device => "mostly the disk",
        Part::Flush => "mostly flushes",
        Part::FilesystemCpu => "mostly filesystem CPU",
        Part::Checksums => "mostly checksums",
        Part::Locks => "mostly locks, journal",
        Part::Memory => "mostly memory",
        Part::KernelThreads => "mostly kernel threads",
        Part::Scheduler => "mostly waits for a CPU",
        Part::FilesystemProcess => "mostly its process",
        Part::Kernel => "mostly system calls",
        Part::KernelCpu => "mostly kernel CPU",
        Part::Fairlane => "mostly the caller",
        Part::NotExplained => "",
    }
}

/// What stands beside a lane's figure: how far it is from the reference. Empty: nothing is to be said, because Fairlane or
/// the disk was measured, or nothing was compared.
pub(crate) fn mark(result: &ResultFinding, pair: &Shown) -> Phrase {
    let said = Phrase::default();
    if result.limit == Limit::Harness {
        return said;
    }
    let of_time = latency(&result.metric).is_some();
    match (pair.verdict, pair.ratio) {
        (Verdict::Faster | Verdict::Slower, None) => said,
        (Verdict::Faster | Verdict::Slower, Some(ratio)) => {
            let faster = pair.verdict == Verdict::Faster;
            let size = match of_time {
                false => difference(&result.metric, ratio, None, faster).0,
                true => {
                    let size = figures::gap(ratio.recip(), None, !faster).size;
                    format!("{size} {}", if faster { "less" } else { "more" })
                }
            };
            let sure = if pair.over_race.is_some() { "" } else { "~" };
            said.tone(if faster { Tone::Faster } else { Tone::Slower }, format!("{sure}{size}"))
        }
        (Verdict::Tie, _) => said.tone(Tone::Tie, "tie"),
        (Verdict::Undecided, _) => said.tone(Tone::Undecided, undecided(pair, of_time)),
        // At the disk's limit nobody can differ, which the row says itself.
        (Verdict::None, Some(ratio)) if result.limit != Limit::Device => {
            let ratio = if of_time { ratio.recip() } else { ratio };
            said.tone(Tone::NoVerdict, format!("({})", figures::times(ratio)))
        }
        (Verdict::None, _) => said,
    }
}

/// What is possible; where no figure says it, why not. The figures themselves show a ratio without an interval.
fn undecided(pair: &Shown, of_time: bool) -> String {
    let turn = |(low, high)| if of_time { turned((low, high)) } else { (low, high) };
    let said = match pair.interval.map(turn) {
        Some((low, high)) if figures::is_too_noisy(low, high) => return TOO_NOISY.to_owned(),
        Some((low, high)) => {
            let (low, high) = figures::span(low, high, if of_time { ["less", "more"] } else { ["slower", "faster"] });
            figures::range(&low, &high)
        }
        None => because(pair.undecided.unwrap_or(Undecided::TooFewRounds)).to_owned(),
    };
    format!("? {said}").replace(' ', &GLUE.to_string())
}

/// Which marks a table holds, so that its legend explains these alone.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Marks {
    pub(crate) best: bool,
    pub(crate) tie: bool,
    pub(crate) undecided: bool,
    pub(crate) too_noisy: bool,
    pub(crate) unsure: bool,
    pub(crate) unranked: bool,
    pub(crate) disk: bool,
    pub(crate) fewer_rounds: bool,
    pub(crate) bars: bool,
    /// The best of a row is bold, not marked with a sign.
    pub(crate) bold: bool,
}

/// What the marks mean. `reference`: the lane that the others are held against; `None`: there is one lane.
pub(crate) fn legend(reference: Option<&str>, margin: f64, marks: Marks) -> Option<Phrase> {
    let mut parts: Vec<Phrase> =
        reference.map(|lane| Phrase::new("differences are against ").name(lane)).into_iter().collect();
    let mut add = |holds: bool, text: String| parts.extend(holds.then(|| Phrase::new(text)));
    add(marks.bars, "bars: longer is better".to_owned());
    let best = if marks.bold { "bold".to_owned() } else { BEST.to_string() };
    add(marks.best, format!("{best}: best of its row"));
    add(marks.tie, format!("tie: surely less than {} apart", figures::margin(margin)));
    add(marks.undecided, "?: undecided, with what is possible".to_owned());
    let far = figures::times(figures::TOO_NOISY);
    add(marks.too_noisy, format!("too noisy: {far} slower to {far} faster is possible, and more"));
    add(marks.unsure, "~: sure in its row, not among so many rows".to_owned());
    add(marks.unranked, "(2x): a ratio, and no verdict".to_owned());
    add(marks.disk, "where the disk is the limit, no filesystem can differ".to_owned());
    add(marks.fewer_rounds, FEWER_ROUNDS.to_owned());
    (!parts.is_empty()).then(|| Phrase::default().join(parts, "; ").say("."))
}

/// What limited rows, gathered: a line for each limit. Titles hold commas of their own.
pub(crate) fn limits(limits: &[(&str, Vec<String>)]) -> Vec<Phrase> {
    let line = |(limit, titles): &(&str, Vec<String>)| format!("{LIMITED_BY} {limit}: {}.", titles.join("; "));
    limits.iter().map(|of| Phrase::new(line(of))).collect()
}

/// Lanes that did not do a row's work as it was asked.
pub(crate) fn buffers(lanes: &[String]) -> Phrase {
    let verb = if lanes.len() == 1 { " buffers" } else { " buffer" };
    names(lanes, ", ").say(format!("{verb} these direct writes"))
}

/// Below a row's title, where its own columns have no room: its unit and what limited it.
pub(crate) fn below(unit: &str, limit: &str) -> String {
    [unit, limit].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(", ")
}
