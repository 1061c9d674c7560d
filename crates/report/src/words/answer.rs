//! The answer in words: what to take, what the others cost, what the race cannot say.

use crate::clean::shorten;
use crate::figures;
use crate::layout::{GLUE, Phrase, Tone};
use crate::words::{difference, latency, listed, sentence};
use model::findings::{NotRanked, Reason, Settle};

/// Which lanes to take. `by_work`: each of them is better than another at something, so that "either"
/// would sound as if it did not matter.
pub(crate) fn choice<S: AsRef<str>>(lanes: &[S], by_work: bool) -> Phrase {
    let parts: Vec<Phrase> = lanes.iter().map(|lane| Phrase::default().name(lane.as_ref())).collect();
    if by_work {
        return listed(parts, "or").say(", depending on your work");
    }
    let opening = match parts.len() {
        0 | 1 => "",
        2 => "Either ",
        _ => "Any of ",
    };
    Phrase::of(opening).and(listed(parts, "or")).say(" for this mix")
}

/// What the work of a group is called in a sentence: `your commits`.
fn work(workload: &str, group: &str, title: &str, of_table: bool) -> String {
    let known = match (workload, group) {
        ("commit", _) => "commits",
        ("sequential-write" | "seq-write", _) => "sequential overwrites",
        ("sequential-read" | "seq-read", _) => "sequential reads",
        ("random-read" | "rand-read", _) => "random reads",
        ("random-write" | "rand-write", _) => "random overwrites",
        ("small-files", "create") => "file creations",
        ("small-files", "read") => "small-file reads",
        ("small-files", "delete") => "file deletions",
        // A step of file operations is what a reader knows; its workload is the whole table.
        (_, group) if of_table => return shorten(group, 40),
        // A group of a job file carries its job's name.
        (_, group) if group.contains(": ") => return format!("{}, {}", shorten(title, 60), shorten(group, 40)),
        _ => return shorten(title, 60),
    };
    known.to_owned()
}

/// What sets one lane apart, told of it: `is 9 % faster than ext4 at commits and 12 % at deletions`,
/// `halves your commits`. `brief`: without the verb, behind a colon.
pub(crate) fn claims(claims: &[&Claim], brief: bool) -> Phrase {
    let mut parts = Vec::new();
    let mut last = "";
    let mut named = "";
    for claim in claims {
        let mut what = work(&claim.reason.workload, &claim.reason.group, &claim.reason.title, claim.of_table);
        if let Some(lane) = &claim.reason.buffers {
            what.push_str(&format!(" with O_DIRECT ({} buffers them)", shorten(lane, 40)));
        }
        let of_time = latency(claim.metric).is_some();
        let size = match claim.reason.at_least {
            Some(sure) => {
                let ratio = if claim.gain { sure.recip() } else { sure };
                format!("at least {}", difference(claim.metric, ratio, None, claim.gain).0)
            }
            None => direction(claim.metric, claim.gain),
        };
        let tone = if claim.gain { Tone::Faster } else { Tone::Slower };
        // A verb is said again only where it changes: `is 9 % faster … and has 20 % lower …`.
        let verb = if of_time { "has " } else { "is " };
        let mut said = Phrase::of(if brief || verb == last { "" } else { verb }).tone(tone, size);
        last = verb;
        if claim.name_the_other && claim.other != named {
            said = said.say(" than ").name(claim.other);
            named = claim.other;
        }
        parts.push(said.say(format!(" at {what}")));
    }
    listed(parts, "and")
}

/// Better or worse, where nobody can say over the whole race by how much.
fn direction(metric: &str, faster: bool) -> String {
    match latency(metric) {
        None => if faster { "faster" } else { "slower" }.to_owned(),
        Some(latency) => format!("a {} {latency}", if faster { "lower" } else { "higher" }),
    }
}

/// A difference as the answer tells it.
pub(crate) struct Claim<'a> {
    /// The lane it is told of.
    pub(crate) subject: &'a str,
    /// The lane it is held against.
    pub(crate) other: &'a str,
    /// The subject is the faster one.
    pub(crate) gain: bool,
    /// Say the other lane's name.
    pub(crate) name_the_other: bool,
    /// What was decided.
    pub(crate) reason: &'a Reason,
    /// In which metric.
    pub(crate) metric: &'a str,
    /// It is about one step of a table of file operations.
    pub(crate) of_table: bool,
}

pub(crate) const NOT_TESTED: &str = "Not tested: ";
pub(crate) const CANNOT_TELL: &str = "This race could not tell them apart at: ";
pub(crate) const UNDECIDED: &str = "Undecided: ";
pub(crate) const UNSURE: &str = "Apart in their own rows, where chance may have done it among so many: ";
pub(crate) const NO_CHOICE: &str = "No choice can be made: ";
pub(crate) const NO_CHOICE_YET: &str = "No choice can be made yet: ";
pub(crate) const NOTHING_MEASURED: &str = "No choice can be made: the race ended before anything was measured.";
pub(crate) const ONE_LANE: &str = "One lane was raced, so there is nothing to choose between; name a second lane.";
pub(crate) const SAME_LANE_TWICE: &str =
    "One lane was raced against itself, which shows the noise and chooses nothing; name a second lane.";
pub(crate) const DIFFERENT_DISKS: &str = "The lanes stand on different disks, so a difference may be the disk's.";
pub(crate) const DISK_WAS_THE_LIMIT: &str = " ran at the disk's own limit in every lane";
pub(crate) const FAIRLANE_WAS_THE_LIMIT: &str = " measured Fairlane itself";
pub(crate) const COULD_NOT_TELL: &str = " could not tell the lanes apart";
pub(crate) const NO_VERDICTS_AT_ALL: &str = "no pair of lanes has a verdict";

/// All lanes are chosen; what sets rows apart may be chance.
pub(crate) const NO_SURE_DIFFERENCE: &str = "; no difference is sure beside all other rows";

/// All lanes are chosen and nothing sets them apart.
pub(crate) fn no_difference(margin: f64) -> String {
    format!("; no difference above the {} margin was found", figures::margin(margin))
}

/// What should settle what is undecided.
pub(crate) fn settle(by: Option<Settle>) -> String {
    let Some(by) = by else { return "more rounds may settle it".to_owned() };
    match (by, by.option()) {
        (Settle::Budget { some_only: false, .. } | Settle::Rounds { some_only: false, .. }, Some((option, value))) => {
            format!("{option}{GLUE}{value} should settle it")
        }
        (_, Some((option, value))) => {
            format!("{option}{GLUE}{value} should settle some of it, and the rest would take over half a day")
        }
        (Settle::Quiet, _) => "other programs disturbed most of these rounds, so race again while they rest".to_owned(),
        _ => "to settle it would take over half a day of racing here".to_owned(),
    }
}

/// Results that may be settled yet.
pub(crate) fn undecided_so_far(titles: &[String], settle: &str) -> String {
    let be = if titles.len() == 1 { "is" } else { "are" };
    format!("{} {be} undecided so far ({settle})", titles.join(", "))
}

/// How many more differences there are than were said.
pub(crate) fn and_more(count: usize) -> String {
    format!(" (and {count} more)")
}

/// Results without any verdict, and why.
pub(crate) fn no_verdict_at(titles: &[String], why: &str) -> String {
    let have = if titles.len() == 1 { "has" } else { "have" };
    format!("{} {have} no verdict ({})", titles.join(", "), sentence(why))
}

/// All lanes of a race keep apart from each other.
pub(crate) const NONE_MAY_BE_RANKED: &str = "no two of these lanes may be ranked against each other";

/// Lanes that were raced and may not be ranked against the reference, each fact once.
pub(crate) fn not_ranked(facts: &[NotRanked]) -> Option<Phrase> {
    let mut said = Phrase::of("Not ranked against ").name(&facts.first()?.against).say(": ");
    let mut before: Option<&NotRanked> = None;
    for fact in facts {
        let same = before.is_some_and(|before| before.lanes == fact.lanes);
        if same {
            said = said.say(" and");
        } else {
            let lanes = fact.lanes.iter().map(|lane| Phrase::default().name(lane)).collect();
            said = if before.is_some() { said.say("; ") } else { said }.and(listed(lanes, "and"));
        }
        said = said.say(format!(" {}", sentence(&fact.what)));
        before = Some(fact);
    }
    Some(said.say("."))
}

/// A lane that could not do some of the work.
pub(crate) fn failed_at(lane: &str, titles: &[String]) -> Phrase {
    Phrase::default().name(lane).tone(Tone::Failed, " failed").say(format!(" at {}.", titles.join(", ")))
}
