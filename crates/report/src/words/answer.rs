//! The answer in words: what to take, what the others cost, what the race cannot say.

use crate::clean::{clean, shorten};
use crate::figures;
use crate::layout::{GLUE, Phrase, Tone};
use crate::words::{difference, latency, listed, sentence};
use model::findings::{NotRanked, Reached, Reason, Settle, Undecided};

/// Which lanes to take. `by_work`: each of them is better than another at something, so that "either"
/// would sound as if it did not matter.
pub(crate) fn choice<S: AsRef<str>>(lanes: &[S], by_work: bool, reached: Option<Reached>) -> Phrase {
    let parts: Vec<Phrase> = lanes.iter().map(|lane| Phrase::default().name(lane.as_ref())).collect();
    if by_work {
        let of_it = reached.map_or(String::new(), |reached| format!(",{}", of_the_work(reached)));
        return listed(parts, "or").say(format!(", depending on your work{of_it}"));
    }
    let opening = match parts.len() {
        0 | 1 => "",
        2 => "Either ",
        _ => "Any of ",
    };
    Phrase::new(opening).and(listed(parts, "or")).say(match reached {
        None => " for this mix".to_owned(),
        Some(reached) => of_the_work(reached),
    })
}

/// That the rest of the work was never raced.
fn of_the_work(reached: Reached) -> String {
    format!(" for the {} of {} workloads that were reached", reached.workloads, reached.of)
}

/// A sentence of the statistics about what was raced on, as one of the answer's.
pub(crate) fn said_of_the_ground(text: &str) -> Phrase {
    let text = sentence(text);
    let mut letters = text.chars();
    let first = letters.next().map(|letter| letter.to_ascii_uppercase()).into_iter();
    Phrase::new(format!("{}.", first.chain(letters).collect::<String>()))
}

/// What the work of a group is called in a sentence: `your commits`. `several`: its workload has other groups too.
fn work(workload: &str, group: &str, title: &str, (of_table, several): (bool, bool)) -> String {
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
        // One of several groups is told with its name; a group of a job file carries its job's.
        (_, group) if several || group.contains(": ") => {
            return format!("{}, {}", shorten(title, 60), shorten(crate::facts::beside_title(group, title), 40));
        }
        _ => return shorten(title, 60),
    };
    known.to_owned()
}

/// What sets one lane apart, told of it: `is 9 % faster than ext4 at commits and 12 % at deletions`,
/// `halves your commits`. `brief`: without the verb, behind a colon.
pub(crate) fn claims(claims: &[Claim], brief: bool) -> Phrase {
    let mut parts = Vec::new();
    let mut last = "";
    let mut named = "";
    for claim in claims {
        let mut what =
            work(&claim.reason.workload, &claim.reason.group, &claim.reason.title, (claim.of_table, claim.several));
        if !claim.reason.acts.is_empty() {
            let acts: Vec<String> = claim.reason.acts.iter().map(|act| sentence(act)).collect();
            what.push_str(&format!(" ({})", acts.join(", ")));
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
        let mut said = Phrase::new(if brief || verb == last { "" } else { verb }).tone(tone, size);
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
    /// Its workload has several groups.
    pub(crate) several: bool,
}

pub(crate) const CANNOT_TELL: &str = "Something else than the filesystems was the limit: ";
pub(crate) const UNSURE: &str = "Different in the row itself, and not sure among so many rows: ";
pub(crate) const NO_CHOICE: &str = "No choice can be made: ";
pub(crate) const DISK_EVERYWHERE: &str =
    "No choice: the disk was the limit in every test, so no filesystem can be faster here.";
pub(crate) const ONE_IMPORTED: &str =
    "One lane was imported, so there is nothing to choose between; import files of another lane beside it.";
pub(crate) const ONE_LANE: &str = "One lane was raced, so there is nothing to choose between; name a second lane.";
pub(crate) const SAME_LANE_TWICE: &str =
    "One lane was raced against itself, which shows the noise and chooses nothing; name a second lane.";
pub(crate) const DIFFERENT_DISKS: &str = "The lanes stand on different disks, so a difference may be the disk's.";
pub(crate) const DISK_WAS_THE_LIMIT: &str = " ran at the disk's own limit in every lane";
pub(crate) const FAIRLANE_WAS_THE_LIMIT: &str = " measured Fairlane itself";
pub(crate) const COULD_NOT_TELL: &str = " could not tell the lanes apart";
pub(crate) const NO_VERDICTS_AT_ALL: &str = "no pair of lanes has a verdict";

/// The one word for why something is undecided.
pub(crate) fn because(reason: Undecided) -> &'static str {
    match reason {
        Undecided::Noise => "too noisy",
        Undecided::TooFewRounds => "too few rounds",
        Undecided::Interrupted => "interrupted",
        Undecided::OutOfBudget => "out of time",
        Undecided::MachineBusy => "machine busy",
    }
}

/// Work that is undecided for one reason.
pub(crate) fn undecided(reason: Undecided, titles: &str) -> String {
    format!("undecided ({}): {titles}", because(reason))
}

/// All that is undecided, and the one remedy.
pub(crate) fn undecided_and_remedy(parts: &[String], by: Option<Settle>, disturbed: bool) -> String {
    // A sentence each: titles hold commas, and stand apart by semicolons.
    let remedy = settle(by, disturbed);
    let said: Vec<String> = parts.iter().chain([&remedy]).map(|said| format!("{}.", capital(said))).collect();
    said.join(" ")
}

fn capital(said: &str) -> String {
    let mut letters = said.chars();
    letters.next().map(|first| first.to_ascii_uppercase()).into_iter().chain(letters).collect()
}

/// No lane can be chosen yet, in one sentence.
pub(crate) fn no_choice_yet(reason: Undecided) -> String {
    format!("No choice yet: {}.", not_yet(reason))
}

/// No lane can be chosen yet, and where they are level.
pub(crate) fn no_choice_but_ties(reason: Undecided, titles: &[String], more: usize) -> String {
    let more = if more > 0 { and_more(more) } else { String::new() };
    let ties = match titles {
        [] => String::new(),
        titles => format!("; what was decided ties: {}{more}", titles.join("; ")),
    };
    format!("No choice yet: {}{ties}", not_yet(reason))
}

fn not_yet(reason: Undecided) -> &'static str {
    match reason {
        Undecided::Noise => "what was measured is too noisy",
        Undecided::TooFewRounds => "too few rounds were raced",
        Undecided::Interrupted => "the race was interrupted before it could tell",
        Undecided::OutOfBudget => "the time was up before the race could tell",
        Undecided::MachineBusy => "other programs disturbed most of what was measured",
    }
}

/// No figure at all.
pub(crate) fn nothing_measured(outcome: &str) -> &'static str {
    match outcome {
        "running" => "Nothing was measured yet: this race is still running.",
        "unfinished" => "Nothing was measured: the race was killed or crashed before its first round was recorded.",
        "interrupted" => "No choice can be made: the race was interrupted before a round of it was done.",
        _ => "No choice can be made: the race ended before anything was measured.",
    }
}

/// Lanes are chosen together; what sets rows apart may be chance, or is not the filesystems'.
pub(crate) const NO_NAMED_DIFFERENCE: &str = "; no difference that this race may name";

/// All lanes are chosen and nothing sets them apart.
pub(crate) fn no_difference(margin: f64) -> String {
    format!("; no difference above the {} margin was found", figures::margin(margin))
}

/// Pairs of a result that are undecided, where others of it are decided.
pub(crate) fn these_pairs(title: &str, pairs: &[(&str, &str)]) -> String {
    let shown = pairs.iter().take(PAIRS_NAMED).map(|(a, b)| format!("{} against {}", clean(a), clean(b)));
    let shown: Vec<String> = shown.collect();
    let more = pairs.len().saturating_sub(PAIRS_NAMED);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("{title} ({}{more})", shown.join(", "))
}

/// Pairs named behind a title.
const PAIRS_NAMED: usize = 2;

/// The answer rests on rounds that say little of a machine that is idle.
pub(crate) const DISTURBED: &str =
    "Other programs disturbed most of these rounds: race again when the machine is idle before relying on this.";

/// What should settle what is undecided, and how long that takes. `disturbed`: an idle machine belongs to it.
fn settle(by: Option<Settle>, disturbed: bool) -> String {
    match by {
        Some(Settle::Budget { .. } | Settle::Rounds { .. } | Settle::FirstRounds { .. }) if disturbed => {
            format!("{}, on an idle machine", settle(by, false))
        }
        by => settle_by(by),
    }
}

fn settle_by(by: Option<Settle>) -> String {
    let Some(by) = by else { return "more rounds may settle it".to_owned() };
    let time = by.seconds().map(|seconds| figures::duration(f64::from(seconds)));
    let about = time.as_ref().map(|time| format!(" (about {time})")).unwrap_or_default();
    match (by, by.option()) {
        (Settle::Resume { .. }, _) => format!("--resume goes on with it{about}"),
        (Settle::Quiet, _) => "race again when the machine is idle".to_owned(),
        (Settle::FirstRounds { .. }, Some((option, value))) => {
            format!("{option}{GLUE}{value}{about} is the least that usually decides")
        }
        (Settle::Budget { some_only: false, .. }, Some((option, value))) => {
            format!("{option}{GLUE}{value} should settle it")
        }
        (Settle::Budget { .. }, Some((option, value))) => {
            format!("{option}{GLUE}{value} should settle some of it, and the rest would take over half a day")
        }
        (Settle::Rounds { some_only: false, .. }, Some((option, value))) => {
            format!("{option}{GLUE}{value}{about} should settle it")
        }
        (Settle::Rounds { .. }, Some((option, value))) => {
            format!("{option}{GLUE}{value}{about} should settle some of it, and the rest would take over half a day")
        }
        _ => "to settle it would take over half a day of racing here".to_owned(),
    }
}

/// How many more there are than were said.
fn and_more(count: usize) -> String {
    format!(" (and {count} more)")
}

/// Results without any verdict, and why.
pub(crate) fn no_verdict_at(titles: &[String], why: &str) -> String {
    let have = if titles.len() == 1 { "has" } else { "have" };
    format!("{} {have} no verdict ({})", titles.join("; "), sentence(why))
}

/// All lanes of a race keep apart from each other.
pub(crate) const NONE_MAY_BE_RANKED: &str = "no two of these lanes may be ranked against each other";

/// Lanes that were raced and may not be ranked against the reference, each fact once.
pub(crate) fn not_ranked(facts: &[NotRanked]) -> Option<Phrase> {
    let mut said = Phrase::new("Not ranked against ").name(&facts.first()?.against).say(": ");
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
pub(crate) fn failed_at(lane: &str, titles: &[String], reason: &str) -> Phrase {
    let said = format!(" at {}: {}.", titles.join("; "), sentence(reason));
    Phrase::default().name(lane).tone(Tone::Failed, " failed").say(said)
}
