//! One result in words: its verdicts, and what limited it.

use crate::clean::shorten;
use crate::facts;
use crate::figures;
use crate::layout::{Phrase, Tone};
use crate::words::{difference, failed_for, latency, listed, names, sentence, turned};
use model::Sentence;
use model::findings::{Basis, Estimate, Headline, Limit, ResultFinding, Shown, Statement, Told, Undecided, Verdict};
use model::units::percent;

/// Columns of a reason inside a verdict line.
const BRIEF_REASON_COLUMNS: usize = 100;

/// What limited a result, in the few words that fit at the right edge.
pub(crate) fn limit(limit: Limit) -> &'static str {
    match limit {
        Limit::Device => "limited by the disk",
        Limit::OwnDisk => "each limited by its own disk",
        Limit::WriteAmplification => "limited by extra disk writes",
        Limit::FilesystemCpu => "limited by filesystem CPU",
        Limit::Cpu => "limited by the CPUs, the work's own part included",
        Limit::FilesystemSerialised => "filesystem keeps the disk waiting",
        Limit::Flush => "limited by flushes",
        Limit::Cache => "answered from memory, not the disk",
        Limit::Harness => "limited by Fairlane itself",
        Limit::OtherPrograms => "other programs were at work",
        Limit::Unattributed => "limit not known",
    }
}

/// What heads a result whose limit no rule tells, in the few words that fit at the right edge; `None`: nothing does.
pub(crate) fn headline(result: &ResultFinding) -> Option<String> {
    let of = result.headline.as_ref()?;
    Some(match of.part {
        Some(part) => format!("{} of {}: {}", share(of), whose_time(&of.lane), part.title()),
        None if of.is_unknown() => {
            format!("limit not known: {} of {} unexplained", percent(of.not_explained), whose_time(&of.lane))
        }
        None => format!("no part takes half of {}", whose_time(&of.lane)),
    })
}

/// `62 %`, or `at most 62 %`.
fn share(of: &Headline) -> String {
    format!("{}{}", if of.at_most { "at most " } else { "" }, percent(of.share))
}

/// `ext4's time`; names are others'.
fn whose_time(lane: &str) -> String {
    format!("{}'s time", shorten(lane, 24))
}

/// The same as a clause, with what it rests on.
pub(crate) fn headline_clause(of: &Headline) -> String {
    let lane = whose_time(&of.lane);
    let basis = match of.basis {
        Basis::Profile => "by a pass behind the rounds",
        Basis::Counters => "by the counters of the rounds",
    };
    match of.part {
        Some(part) => format!("of {lane} {} is {} ({basis})", share(of), part.title()),
        None if of.is_unknown() => format!("of {lane} {} is not explained ({basis})", percent(of.not_explained)),
        None => format!("no part takes half of {lane}, the largest {} ({basis})", percent(of.share)),
    }
}

/// What set the pace of a result, in the few words that fit at the right edge; `None`: nothing did.
pub(crate) fn pace(result: &ResultFinding) -> Option<String> {
    let rate = result.shared_rate.as_ref().filter(|_| result.limit == Limit::Unattributed)?;
    Some(format!("at {} of the slowest lane's maximum", figures::per_operation(rate.share)))
}

/// All statements about a result as one sentence.
pub(crate) fn statements(result: &ResultFinding) -> Phrase {
    let comparing = |one: &Statement| matches!(one, Statement::Tie { .. } | Statement::Apart { .. });
    let first = result.statements.iter().position(comparing);
    let parts = result.statements.iter().enumerate().map(|(at, one)| {
        let said = statement(result, one);
        match &result.shared_rate {
            Some(rate) if first == Some(at) => said.say(format!(" at {}", figures::iops(rate.operations_per_second))),
            _ => said,
        }
    });
    let said = Phrase::default().join(parts, "; ");
    // What a lane made of the work belongs to what it came to.
    result.acts.iter().fold(said, |said, act| said.say("; ").say(sentence(act)))
}

fn statement(result: &ResultFinding, statement: &Statement) -> Phrase {
    match statement {
        Statement::AtTheDisk { slowest, fastest, tie } => at_the_disk(result, (*slowest, *fastest), *tie),
        Statement::Tie { lanes, low, high } => {
            let tie = names(lanes, ", ").tone(Tone::Tie, " tie");
            let tie = match latency(&result.metric) {
                Some(latency) => tie.say(format!(" in {latency}")),
                None => tie,
            };
            match low.zip(*high) {
                Some((low, high)) => tie.say(format!(" (within {})", figures::within(low, high))),
                None => tie,
            }
        }
        Statement::Apart { lane, pairs } => {
            let each = shown(result, pairs).iter().map(|pair| apart(result, pair)).collect();
            Phrase::default().name(lane).say(" ").and(listed(each, "and"))
        }
        Statement::Undecided { because, pairs, remarks } => undecided(result, *because, &shown(result, pairs), remarks),
        Statement::NoVerdict { pairs, why } => no_verdict(result, &shown(result, pairs), why.as_ref()),
        // The figures carry the whole reason.
        Statement::Failed { lane } => {
            let failure = estimate(result, lane).and_then(|of| of.failure.as_ref());
            failure.map(|why| failed_for(lane, why, &shorten(why, BRIEF_REASON_COLUMNS))).unwrap_or_default()
        }
        Statement::Alone { lane } => Phrase::default()
            .name(lane)
            .say(format!(" {}", estimate(result, lane).map(|of| facts::figure(result, of)).unwrap_or_default()))
            .say("; the only lane with a figure, so nothing to compare"),
        Statement::Nothing => Phrase::default().tone(Tone::Failed, "no figures").say(": no round was finished"),
    }
}

/// The pairs that a statement tells, the way round in which it tells them.
fn shown<'a>(result: &'a ResultFinding, pairs: &[Told]) -> Vec<Shown<'a>> {
    pairs.iter().filter_map(|&told| Shown::from_told(result, told)).collect()
}

fn estimate<'a>(result: &'a ResultFinding, lane: &str) -> Option<&'a Estimate> {
    result.estimates.iter().find(|of| of.lane == lane)
}

fn at_the_disk(result: &ResultFinding, (slowest, fastest): (f64, f64), tie: bool) -> Phrase {
    let rate = |value: f64| {
        if result.unit == "operations/s" { figures::iops(value) } else { figures::rate(&result.unit, value) }
    };
    let rates = figures::range(&rate(slowest), &rate(fastest));
    let verdict = match tie {
        true => Phrase::default().tone(Tone::Tie, "tie"),
        false => Phrase::default().tone(Tone::NoVerdict, "no verdict"),
    };
    let once = if result.rounds < 2 { " in one round" } else { "" };
    verdict.say(format!(", all at the disk's own {rates}{once}: this test cannot tell filesystems apart"))
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

fn undecided(result: &ResultFinding, reason: Undecided, pairs: &[Shown], remarks: &[Sentence]) -> Phrase {
    let once = result.rounds == 1;
    let said = Phrase::default().tone(Tone::Undecided, why_undecided(reason, once)).say(": ");
    let mut said = said.join(pairs.iter().map(|pair| possible(result, pair)), ", ");
    // That there was one round is said.
    for remark in remarks.iter().filter(|_| !once) {
        said = said.say(format!("; {}", sentence(remark)));
    }
    // What would settle it is one figure for the whole race, and stands in its answer.
    said
}

/// Why there is no verdict yet, as the head of a sentence.
fn why_undecided(reason: Undecided, once: bool) -> &'static str {
    match reason {
        Undecided::Noise => "too noisy to rank",
        Undecided::TooFewRounds if once => "one round, no verdict",
        Undecided::TooFewRounds => "too few rounds to rank",
        Undecided::Interrupted => "interrupted before a verdict",
        Undecided::OutOfBudget => "out of time before a verdict",
        Undecided::MachineBusy => "disturbed by other programs",
    }
}

/// What is known of two undecided lanes: `xfs is between 3 % slower and 9 % faster than ext4`, `xfs ran at 57 % of ext4`.
fn possible(result: &ResultFinding, pair: &Shown) -> Phrase {
    let of_time = latency(&result.metric);
    let (a, b) = (Phrase::default().name(pair.a), Phrase::default().name(pair.b));
    match (pair.interval, pair.ratio, of_time) {
        (Some((low, high)), _, None) => {
            let (low, high) = (figures::apart(low, ["slower", "faster"]), figures::apart(high, ["slower", "faster"]));
            a.say(format!(" is between {low} and {high} than ")).and(b)
        }
        // Of latencies the times themselves are told.
        (Some(interval), _, Some(latency)) => {
            let (low, high) = turned(interval);
            let (low, high) = (figures::apart(low, ["less", "more"]), figures::apart(high, ["less", "more"]));
            a.say(format!(" has between {low} and {high} {latency} than ")).and(b)
        }
        (None, Some(ratio), None) => a.say(format!(" ran at {} of ", figures::part(ratio))).and(b),
        (None, Some(ratio), Some(latency)) => {
            a.say(format!(" had {} of the {latency} of ", figures::part(ratio.recip()))).and(b)
        }
        (None, None, _) => a.say(" and ").and(b).say(" were not measured together yet"),
    }
}

fn no_verdict(result: &ResultFinding, pairs: &[Shown], why: Option<&Sentence>) -> Phrase {
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
    match why {
        Some(why) => said.say(": ").say(sentence(why)),
        None => said,
    }
}
