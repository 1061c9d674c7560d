//! Every sentence that a report says, in English. Nothing else in this crate words anything, so
//! that a translation replaces this file and its folder alone.

pub(crate) mod comparison;
pub(crate) mod facts;
pub(crate) mod operations;
pub(crate) mod plan;
pub(crate) mod published;

use crate::clean::SENTENCE_COLUMNS;
use crate::clean::shorten;
use crate::figures;
use crate::layout::{GLUE, Phrase, Tone};
use crate::statements::{Shown, Statement};
use model::findings::{Limit, Reason, ResultFinding, TrialCounts, Verdict};

pub(crate) const DISK_CEILING: &str = "disk ceiling";
pub(crate) const DISK_CEILING_UNKNOWN: &str = "unknown: no bare device was measured, so no limit can be named";
pub(crate) const SELF_CHECK: &str = "self-check";
pub(crate) const FIGURES: &str = "FIGURES";
pub(crate) const MACHINE: &str = "MACHINE";
pub(crate) const LANES: &str = "LANES";
pub(crate) const NOTES: &str = "NOTES";
pub(crate) const WARNINGS: &str = "WARNINGS";
pub(crate) const NOTE: &str = "NOTE";
pub(crate) const WARNING: &str = "WARNING";
pub(crate) const TRIALS: &str = "TRIALS";
pub(crate) const AGAIN: &str = "AGAIN";
pub(crate) const ANSWER: &str = "ANSWER";
pub(crate) const NEXT: &str = "NEXT";
pub(crate) const RECORD: &str = "RECORD";
pub(crate) const SUMMARY: &str = "SUMMARY";

pub(crate) const ANSWER_TITLE: &str = "Answer";
pub(crate) const NEXT_TITLE: &str = "Next";
pub(crate) const DISK_CEILING_TITLE: &str = "Disk ceiling";
pub(crate) const SELF_CHECK_TITLE: &str = "Self-check";
pub(crate) const WARNING_TITLE: &str = "Warning";
pub(crate) const WARNINGS_TITLE: &str = "Warnings";
pub(crate) const SUMMARY_TITLE: &str = "Summary:";
pub(crate) const FIGURES_TITLE: &str = "Figures per lane";
pub(crate) const GROUND_TITLE: &str = "Machine, lanes, and how to run it again";
pub(crate) const TRIALS_TITLE: &str = "Trials";
pub(crate) const AGAIN_TITLE: &str = "Run it again";
pub(crate) const RACED: &str = "raced";
pub(crate) const FAILED: &str = "failed";
pub(crate) const COLUMN_WORKLOAD: &str = "workload";
pub(crate) const COLUMN_VERDICT: &str = "verdict";
pub(crate) const COLUMN_LIMIT: &str = "limited by";
pub(crate) const UNKNOWN_SUITE: &str = "(unnamed suite)";

/// What the columns of the figures mean; stands above them. `shown`: which of [`COLUMNS`].
pub(crate) fn figures_legend(margin: f64, shown: &[bool]) -> String {
    let meanings = [
        " p50: half of the operations were at least this fast.",
        " p99: 99 of 100 operations were at least this fast.",
        " p99.9: 999 of 1,000 were.",
        " CPU: of the whole system, kernel threads included.",
        " Own: Fairlane's own part of the CPU.",
        " Written: bytes at the disk per byte of the work.",
        " Flush: flushes at the disk per operation.",
        " Disk: use of what the bare disk can do.",
    ];
    let meanings: String =
        meanings.iter().zip(shown).filter(|(_, shown)| **shown).map(|(meaning, _)| *meaning).collect();
    format!(
        "Mean over rounds with its 95{GLUE}% interval.{meanings} Two lanes tie when they differ by less than {}.",
        figures::margin(margin)
    )
}

/// Labels of the columns of figures.
pub(crate) const COLUMN_FIGURE: &str = "mean (interval)";
pub(crate) const COLUMNS: [&str; 8] = ["p50", "p99", "p99.9", "CPU", "own", "written", "flush/op", "disk"];
/// Columns of latency that only some records fill.
pub(crate) const PERCENTILE_COLUMNS: [usize; 2] = [0, 2];
/// Columns that a narrow table does without, the first to go first: the reason of the limit says
/// how the disk was used, and every other format keeps them all.
pub(crate) const COLUMNS_TO_SPARE: [usize; 5] = [7, 4, 6, 0, 2];
pub(crate) const COLUMN_LANE: &str = "lane";

/// How loaded the machine was: columns of Markdown, and one line per result of text. They explain
/// and never decide.
pub(crate) const LOAD_COLUMNS: [&str; 4] = ["mean latency", "machine's CPU", "of it system", "disk busy"];
pub(crate) const LOAD_IN_ORDER: &str = "in the same order: ";
/// What these columns mean; stands behind the legend of the others.
pub(crate) const LOAD_LEGEND: &str = " Machine's CPU: share of all CPUs. Of it system: the kernel's share of that. \
    Disk busy: share of the time with a request in flight, which on a fast disk is no sign of being full.";

/// Columns of a reason inside a verdict line.
const BRIEF_REASON_COLUMNS: usize = 100;

/// What limited a result, in the few words that fit at the right edge.
pub(crate) fn limit(limit: Limit) -> &'static str {
    match limit {
        Limit::Device => "limited by the disk",
        Limit::WriteAmplification => "limited by extra disk writes",
        Limit::FilesystemCpu => "limited by filesystem CPU",
        Limit::FilesystemSerialised => "filesystem keeps the disk waiting",
        Limit::Flush => "limited by flushes",
        Limit::Cache => "answered from memory, not the disk",
        Limit::Harness => "limited by Fairlane itself",
        Limit::Unattributed => "limit not known",
    }
}

/// What limited a result, under the heading "limited by".
pub(crate) fn limit_noun(limit: Limit) -> &'static str {
    match limit {
        Limit::Device => "the disk",
        Limit::WriteAmplification => "extra disk writes",
        Limit::FilesystemCpu => "filesystem CPU",
        Limit::FilesystemSerialised => "the filesystem: it keeps the disk waiting",
        Limit::Flush => "flushes",
        Limit::Cache => "memory: the cache answered",
        Limit::Harness => "Fairlane itself",
        Limit::Unattributed => "not known",
    }
}

/// What set the pace of a result, in the few words that fit at the right edge; `None`: nothing did.
pub(crate) fn pace(result: &ResultFinding) -> Option<String> {
    let rate = result.shared_rate.as_ref().filter(|_| result.limit == Limit::Unattributed)?;
    Some(format!("at {} of the slowest lane's maximum", figures::per_operation(rate.share)))
}

/// What people call a latency's metric; `None`: it is a rate.
pub(crate) fn latency(metric: &str) -> Option<&'static str> {
    match metric {
        "latency_p50_ns" => Some("median latency"),
        "latency_p99_ns" => Some("p99 latency"),
        "latency_p999_ns" => Some("p99.9 latency"),
        "latency_mean_ns" => Some("mean latency"),
        other if other.ends_with("_ns") => Some("latency"),
        _ => None,
    }
}

/// A decided difference in words: `9 % faster` of rates and `20 % lower p99 latency` of times, and
/// its interval. `ratio`: above 1 is better, whichever the metric.
pub(crate) fn difference(
    metric: &str,
    ratio: f64,
    interval: Option<(f64, f64)>,
    faster: bool,
) -> (String, Option<String>) {
    match latency(metric) {
        None => {
            let gap = figures::gap(ratio, interval, faster);
            (format!("{} {}", gap.size, if faster { "faster" } else { "slower" }), gap.interval)
        }
        Some(latency) => {
            // Of the times themselves, the lower one stands under the other.
            let gap = figures::gap(ratio.recip(), interval.map(turned), !faster);
            (format!("{} {} {latency}", gap.size, if faster { "lower" } else { "higher" }), gap.interval)
        }
    }
}

/// An interval of a/b as one of b/a.
pub(crate) fn turned((low, high): (f64, f64)) -> (f64, f64) {
    (high.recip(), low.recip())
}

/// All statements about a result as one sentence.
pub(crate) fn statements(result: &ResultFinding, statements: &[Statement]) -> Phrase {
    let comparing = |one: &Statement| matches!(one, Statement::Tie { .. } | Statement::Apart(_));
    let first = statements.iter().position(comparing);
    let parts = statements.iter().enumerate().map(|(at, one)| {
        let said = statement(result, one);
        match &result.shared_rate {
            Some(rate) if first == Some(at) => said.say(format!(" at {}", figures::iops(rate.operations_per_second))),
            _ => said,
        }
    });
    Phrase::default().join(parts, "; ")
}

fn statement(result: &ResultFinding, statement: &Statement) -> Phrase {
    match statement {
        Statement::AtTheDisk { slowest, fastest } => at_the_disk(result, *slowest, *fastest),
        Statement::Tie { lanes, interval } => {
            let tie = names(lanes, ", ").tone(Tone::Tie, " tie");
            let tie = match latency(&result.metric) {
                Some(latency) => tie.say(format!(" in {latency}")),
                None => tie,
            };
            match interval {
                Some((low, high)) => tie.say(format!(" (within {})", figures::within(*low, *high))),
                None => tie,
            }
        }
        Statement::Apart(pairs) => {
            let lane = pairs.first().map_or("", |pair| pair.a);
            Phrase::default()
                .name(lane)
                .say(" ")
                .and(listed(pairs.iter().map(|pair| apart(result, pair)).collect(), "and"))
        }
        Statement::Undecided { pairs, minutes } => undecided(result, pairs, *minutes),
        Statement::NoVerdict { pairs, why } => no_verdict(result, pairs, why),
        // The figures carry the whole reason.
        Statement::Failed { lane, reason } => failed(lane, &shorten(reason, BRIEF_REASON_COLUMNS)),
        Statement::Alone { lane, mean, low, high } => Phrase::default()
            .name(lane)
            .say(format!(" {}", figures::rate_with_interval(&result.unit, *mean, *low, *high)))
            .say("; the only lane with a figure, so nothing to compare"),
        Statement::Nothing => Phrase::default().tone(Tone::Failed, "no figures").say(": no round was finished"),
    }
}

fn at_the_disk(result: &ResultFinding, slowest: f64, fastest: f64) -> Phrase {
    let rate = |value: f64| {
        if result.unit == "operations/s" { figures::iops(value) } else { figures::rate(&result.unit, value) }
    };
    let rates = figures::range(&rate(slowest), &rate(fastest));
    Phrase::default()
        .tone(Tone::Tie, "tie")
        .say(format!(", all at the disk's own {rates}: this test cannot tell filesystems apart"))
}

fn apart(result: &ResultFinding, pair: &Shown) -> Phrase {
    let faster = pair.verdict == Verdict::Faster;
    let (tone, word) = if faster { (Tone::Faster, "faster") } else { (Tone::Slower, "slower") };
    let Some(ratio) = pair.ratio else {
        return Phrase::default().tone(tone, word).say(" than ").name(pair.b);
    };
    let (size, interval) = difference(&result.metric, ratio, pair.interval, faster);
    let phrase = Phrase::default().tone(tone, size).say(" than ").name(pair.b);
    match interval {
        Some(interval) => phrase.say(format!(" ({interval})")),
        None => phrase,
    }
}

fn undecided(result: &ResultFinding, pairs: &[Shown], minutes: Option<f64>) -> Phrase {
    let latency = latency(&result.metric);
    let intervals = pairs.iter().map(|pair| {
        let ratio = Phrase::default().name(pair.a).say("/").name(pair.b);
        // Of latencies the times themselves are told: a minus means less time.
        let ratio = match latency.filter(|_| pair.ratio.is_some()) {
            Some(latency) => ratio.say(format!(" {latency}")),
            None => ratio,
        };
        let of = |pair: &Shown| match latency {
            Some(_) => (pair.interval.map(turned), pair.ratio.map(f64::recip)),
            None => (pair.interval, pair.ratio),
        };
        match of(pair) {
            (Some((low, high)), _) => {
                let (low, high) = figures::span(low, high);
                ratio.say(format!(" between {low} and {high}"))
            }
            (None, Some(so_far)) => ratio.say(format!(" at {} so far", figures::times(so_far))),
            (None, None) => ratio.say(" not measured together yet"),
        }
    });
    // Before the first look nothing has shown itself to be noisy yet.
    let early = result.rounds < model::plan::LOOKS[0];
    let word = if early { "too few rounds to rank" } else { "too noisy to rank" };
    let mut said = Phrase::default().tone(Tone::Undecided, word).say(", ").join(intervals, ", ");
    let mut remarks: Vec<String> = pairs.iter().filter_map(remark).collect();
    remarks.dedup();
    for remark in remarks {
        said = said.say(format!("; {remark}"));
    }
    said.say("; ").say(settle(minutes))
}

/// What the reason of an undecided pair adds to the interval that is said anyway. What stands
/// beside the pair, behind the first semicolon, is one of the report's notes.
fn remark(pair: &Shown) -> Option<String> {
    let reason = pair.why?.split("; ").next()?;
    // The reason was written about the pair as it was judged, which may be the other way round.
    let known = pair.interval.is_some_and(|(low, high)| {
        figures::names_interval(reason, low, high) || figures::names_interval(reason, high.recip(), low.recip())
    });
    (!known).then(|| sentence(reason))
}

/// How much more racing would settle what is undecided.
pub(crate) fn settle(minutes: Option<f64>) -> String {
    match minutes.map(figures::minutes) {
        Some(Some(minutes)) => format!("about {minutes} more should settle it"),
        Some(None) => "over a day of racing would be needed to settle it".to_owned(),
        None => "more rounds may settle it".to_owned(),
    }
}

/// The option that should settle what is undecided.
pub(crate) fn settle_by_budget(budget: &str) -> String {
    format!("--budget{GLUE}{} should settle it", shorten(budget, 20))
}

fn no_verdict(result: &ResultFinding, pairs: &[Shown], why: &str) -> Phrase {
    let mut said = Phrase::default();
    for (index, pair) in pairs.iter().enumerate() {
        let repeated = index > 0 && pairs[index - 1].a == pair.a;
        said = match (index, repeated) {
            (0, _) => said,
            (_, true) => said.say(" and"),
            (_, false) => said.say(", "),
        };
        if !repeated {
            said = said.name(pair.a);
        }
        said = match (pair.ratio, latency(&result.metric)) {
            (Some(ratio), None) => said.say(format!(" {} ", figures::times(ratio))).name(pair.b),
            (Some(ratio), Some(latency)) => {
                said.say(format!(" {} the {latency} of ", figures::times(ratio.recip()))).name(pair.b)
            }
            (None, _) => said.say(" against ").name(pair.b),
        };
    }
    let said = if pairs.is_empty() { said } else { said.say(", ") }.tone(Tone::NoVerdict, "no verdict");
    if why.is_empty() { said } else { said.say(": ").say(sentence(why)) }
}

/// A sentence of a record, cut to a bearable length, without a full stop: it stands inside another.
pub(crate) fn sentence(text: &str) -> String {
    shorten(text.trim().trim_end_matches('.'), SENTENCE_COLUMNS)
}

/// Lanes' names with a separator.
pub(crate) fn names<S: AsRef<str>>(lanes: &[S], separator: &str) -> Phrase {
    Phrase::default().join(lanes.iter().map(|lane| Phrase::default().name(lane.as_ref())), separator)
}

/// `ext4, xfs and btrfs`.
pub(crate) fn listed(parts: Vec<Phrase>, last: &str) -> Phrase {
    let count = parts.len();
    let mut said = Phrase::default();
    for (index, part) in parts.into_iter().enumerate() {
        said = match index {
            0 => said,
            index if index + 1 == count => said.say(format!(" {last} ")),
            _ => said.say(", "),
        };
        said = said.and(part);
    }
    said
}

/// Which lanes to take.
pub(crate) fn choice<S: AsRef<str>>(lanes: &[S]) -> Phrase {
    let parts: Vec<Phrase> = lanes.iter().map(|lane| Phrase::default().name(lane.as_ref())).collect();
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
        ("sequential-write" | "seq-write", _) => "sequential writes",
        ("sequential-read" | "seq-read", _) => "sequential reads",
        ("random-read" | "rand-read", _) => "random reads",
        ("random-write" | "rand-write", _) => "random writes",
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
        let what = work(&claim.reason.workload, &claim.reason.group, &claim.reason.title, claim.of_table);
        let of_time = latency(claim.metric).is_some();
        if !of_time
            && !claim.gain
            && !claim.name_the_other
            && !claim.of_table
            && (0.45..=0.55).contains(&claim.reason.ratio)
        {
            parts.push(Phrase::default().tone(Tone::Slower, "halves").say(format!(" your {what}")));
            last = "";
            continue;
        }
        let ratio = if claim.gain { claim.reason.ratio.recip() } else { claim.reason.ratio };
        let (size, _) = difference(claim.metric, ratio, None, claim.gain);
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
pub(crate) const NO_CHOICE: &str = "No choice can be made yet: ";
pub(crate) const NOTHING_MEASURED: &str = "No choice can be made: the race ended before anything was measured.";
pub(crate) const ONE_LANE: &str = "One lane was raced, so there is nothing to choose between; name a second lane.";
pub(crate) const SAME_LANE_TWICE: &str =
    "One lane was raced against itself, which shows the noise and chooses nothing; name a second lane.";
pub(crate) const DISK_WAS_THE_LIMIT: &str = " ran at the disk's own limit in every lane";
pub(crate) const COULD_NOT_TELL: &str = " could not tell the lanes apart";
pub(crate) const NO_VERDICTS_AT_ALL: &str = "no pair of lanes has a verdict";

/// All lanes are chosen and nothing sets them apart.
pub(crate) fn no_difference(margin: f64) -> String {
    format!("; no difference above the {} margin was found", figures::margin(margin))
}

/// Results that may be settled yet.
pub(crate) fn undecided_so_far(titles: &[String], settle: &str) -> String {
    let be = if titles.len() == 1 { "is" } else { "are" };
    format!("{} {be} undecided so far ({settle})", titles.join(", "))
}

/// How many more differences there are than were said.
pub(crate) fn and_more(count: usize) -> String {
    format!(" (and {count} more above)")
}

/// Results without any verdict, and why.
pub(crate) fn no_verdict_at(titles: &[String], why: &str) -> String {
    let have = if titles.len() == 1 { "has" } else { "have" };
    format!("{} {have} no verdict ({})", titles.join(", "), sentence(why))
}

/// Lanes that were raced and cannot be ranked.
pub(crate) const NOT_RANKED: &str = "Not ranked: ";

/// A lane that was raced and cannot be ranked, in brackets why.
pub(crate) fn not_ranked(lane: &str, why: &str) -> Phrase {
    Phrase::default().name(lane).say(format!(" ({})", sentence(why)))
}

/// A lane that could not do some of the work.
pub(crate) fn failed_at(lane: &str, titles: &[String]) -> Phrase {
    Phrase::default().name(lane).tone(Tone::Failed, " failed").say(format!(" at {}.", titles.join(", ")))
}

/// A race that did not end by itself; `None`: it did.
pub(crate) fn outcome(outcome: &str) -> Option<String> {
    let what = match outcome {
        "complete" => return None,
        "interrupted" => "The race was interrupted".to_owned(),
        "failed" => "The race ended with an error".to_owned(),
        "unfinished" => "The race still runs or crashed".to_owned(),
        other => format!("The race ended as \"{}\"", shorten(other, 40)),
    };
    Some(format!("{what}: what stands here rests on the rounds that were finished."))
}

/// The command that goes on with a race that did not end by itself.
pub(crate) fn resume(record: &str) -> String {
    format!("race --resume {record}")
}

/// Marks a verdict that was printed before.
pub(crate) fn settled_later(still_undecided: bool) -> &'static str {
    if still_undecided { "after more rounds: " } else { "settled later: " }
}

/// A trial that could not be done.
pub(crate) fn trial_failed(lane: &str, title: &str, reason: &str) -> Phrase {
    Phrase::default().name(lane).tone(Tone::Failed, " failed").say(format!(
        " at {}: {}; the race goes on",
        shorten(title, 60),
        sentence(reason)
    ))
}

/// Progress: images are written in full.
pub(crate) fn writing_images(done_bytes: u64, total_bytes: u64) -> String {
    format!("writing images, {} of {}", figures::bytes(done_bytes), figures::bytes(total_bytes))
}

/// Progress: which workload.
pub(crate) fn workload(title: &str, number: u32, of: u32) -> String {
    format!("workload {number}/{of} {}", shorten(title, 28))
}

/// Progress: which round, and when the next look at the figures is.
pub(crate) fn round(round: u32, look_at: u32) -> String {
    format!("round {round} of {look_at}")
}

/// Progress: how long so far.
pub(crate) fn elapsed(seconds: f64, budget_seconds: Option<f64>) -> String {
    let elapsed = figures::duration(seconds);
    match budget_seconds {
        Some(budget) => format!("{elapsed} of {}", figures::duration(budget)),
        None => elapsed,
    }
}

/// Progress: a noisy round.
pub(crate) fn repeated(reason: &str) -> String {
    format!("run again for noise: {}", sentence(reason))
}

/// Where the rest of the warnings is.
pub(crate) fn more_warnings(count: usize) -> String {
    format!("{count} more in the report: fairlane report")
}

/// The trials.
pub(crate) fn trials(counts: &TrialCounts) -> String {
    let TrialCounts { ok, repeated, failed, void } = *counts;
    let mut said = format!("{ok} counted");
    if repeated > 0 {
        said.push_str(&format!(", {repeated} set aside for noise from outside and run again"));
    }
    if failed > 0 {
        said.push_str(&format!(", {failed} failed"));
    }
    if void > 0 {
        said.push_str(&format!(", {void} void: the throttle did not hold"));
    }
    said
}

/// What makes the race repeatable.
pub(crate) fn seed_and_version(seed: u64, version: &str) -> String {
    format!("seed {seed}; Fairlane {}", shorten(version, 40))
}

/// The first line of a report.
pub(crate) fn heading(suite: &str, lanes: &[&str], started: &str, resumes: u32, ended: &str) -> Phrase {
    let suite = if suite.trim().is_empty() { UNKNOWN_SUITE.to_owned() } else { shorten(suite, 60) };
    let taken_up = match resumes {
        0 => String::new(),
        1 => ", taken up again once".to_owned(),
        times => format!(", taken up again {times} times"),
    };
    let said = names(lanes, ", ").say(format!("; suite {suite}, raced {}{taken_up}", shorten(started, 40)));
    if ended == "complete" { said } else { said.say(", ").tone(Tone::Failed, shorten(ended, 40)) }
}

/// What stands above the figures of one result.
pub(crate) fn result_heading(result: &ResultFinding, title: &str, group: Option<&str>) -> Phrase {
    let group = group.map(|group| format!(", {}", shorten(group, 40))).unwrap_or_default();
    let metric = latency(&result.metric).map(|latency| format!(", {latency}")).unwrap_or_default();
    let said = Phrase::default()
        .tone(Tone::Label, format!("{title}{group}{metric}"))
        .say(format!(", {}", rounds(result.rounds)));
    if result.limit_reason.trim().is_empty() { said } else { said.say(": ").say(sentence(&result.limit_reason)) }
}

/// A lane without a figure.
pub(crate) fn failed(lane: &str, reason: &str) -> Phrase {
    Phrase::default().name(lane).tone(Tone::Failed, " failed").say(": ").say(sentence(reason))
}

/// `1 round`, `6 rounds`.
pub(crate) fn rounds(count: u32) -> String {
    if count == 1 { "1 round".to_owned() } else { format!("{count} rounds") }
}

/// What the same lane raced twice shows.
pub(crate) fn self_check(lane: &str, counts: &SelfCheck) -> Phrase {
    let results = counts.ties + counts.undecided + counts.apart + counts.none;
    let said = Phrase::default().name(lane).say(" against itself: ");
    let parts = [
        (counts.apart, Tone::Failed, "apart"),
        (counts.ties, Tone::Tie, "tie"),
        (counts.undecided, Tone::Undecided, "too noisy to rank"),
        (counts.none, Tone::NoVerdict, "no verdict"),
    ];
    let parts = parts.into_iter().filter(|(count, ..)| *count > 0).map(|(count, tone, word)| {
        let within = counts.within.as_ref().filter(|_| tone == Tone::Tie);
        let within = within.map(|within| format!(" (within {within})")).unwrap_or_default();
        let share = if count == results { format!(" in all {results}") } else { format!(" in {count} of {results}") };
        Phrase::default().tone(tone, word).say(share + &within)
    });
    let said = said.join(parts, ", ");
    if counts.apart > 0 { said.say("; believe no difference of that size in this race") } else { said }
}

/// How the pairs of the same lane with itself came out, over all results.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct SelfCheck {
    pub(crate) ties: usize,
    pub(crate) undecided: usize,
    pub(crate) apart: usize,
    pub(crate) none: usize,
    /// Widest bound among the ties.
    pub(crate) within: Option<String>,
}
