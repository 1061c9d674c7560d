//! One result in words: its verdicts, and what limited it.

use crate::clean::shorten;
use crate::figures;
use crate::layout::{Phrase, Tone};
use crate::statements::{Shown, Statement, reference_of, shown_against};
use crate::words::{difference, failed, latency, listed, names, sentence, turned};
use model::findings::{Limit, ResultFinding, Verdict};

/// Columns of a reason inside a verdict line.
const BRIEF_REASON_COLUMNS: usize = 100;

/// What limited a result, in the few words that fit at the right edge.
pub(crate) fn limit(limit: Limit) -> &'static str {
    match limit {
        Limit::Device => "limited by the disk",
        Limit::OwnDisk => "each limited by its own disk",
        Limit::WriteAmplification => "limited by extra disk writes",
        Limit::FilesystemCpu => "limited by filesystem CPU",
        Limit::FilesystemSerialised => "filesystem keeps the disk waiting",
        Limit::Flush => "limited by flushes",
        Limit::Cache => "answered from memory, not the disk",
        Limit::Harness => "limited by Fairlane itself",
        Limit::OtherPrograms => "other programs were at work",
        Limit::Unattributed => "limit not known",
    }
}

/// What limited a result, under the heading "limited by".
pub(crate) fn limit_noun(limit: Limit) -> &'static str {
    match limit {
        Limit::Device => "the disk",
        Limit::OwnDisk => "each lane's own disk",
        Limit::WriteAmplification => "extra disk writes",
        Limit::FilesystemCpu => "filesystem CPU",
        Limit::FilesystemSerialised => "the filesystem: it keeps the disk waiting",
        Limit::Flush => "flushes",
        Limit::Cache => "memory: the cache answered",
        Limit::Harness => "Fairlane itself",
        Limit::OtherPrograms => "not known: other programs were at work",
        Limit::Unattributed => "not known",
    }
}

/// What set the pace of a result, in the few words that fit at the right edge; `None`: nothing did.
pub(crate) fn pace(result: &ResultFinding) -> Option<String> {
    let rate = result.shared_rate.as_ref().filter(|_| result.limit == Limit::Unattributed)?;
    Some(format!("at {} of the slowest lane's maximum", figures::per_operation(rate.share)))
}

/// What stands below a lane's figure in a table: how far it is from the reference, which the row's own
/// reference is where that is another one. `None`: nothing is to be said.
pub(crate) fn brief(result: &ResultFinding, lane: &str, reference: &str) -> Option<Phrase> {
    let own = reference_of(result)?;
    let pair = shown_against(result, lane, own)?;
    match pair.verdict {
        Verdict::Faster | Verdict::Slower => {
            let faster = pair.verdict == Verdict::Faster;
            let tone = if faster { Tone::Faster } else { Tone::Slower };
            let size = difference(&result.metric, pair.ratio?, None, faster).0;
            let said = Phrase::default().tone(tone, size);
            Some(if own == reference { said } else { said.say(" than ").name(own) })
        }
        Verdict::Tie => Some(Phrase::default().tone(Tone::Tie, "tie")),
        Verdict::Undecided => Some(Phrase::default().tone(Tone::Undecided, "undecided")),
        Verdict::None if result.estimates.iter().any(|of| of.lane == lane && of.failure.is_some()) => None,
        Verdict::None => Some(Phrase::default().tone(Tone::NoVerdict, "no verdict")),
    }
}

/// What a table of figures and differences means.
pub(crate) fn compact_legend(reference: &str, margin: f64) -> Phrase {
    Phrase::of("Differences are against ").name(reference).say(format!(
        "; tie: less than {} apart; bold: the best. Where the disk is the limit, no filesystem can differ.",
        figures::margin(margin)
    ))
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
    let said = Phrase::default().join(parts, "; ");
    match result.buffered.as_slice() {
        [] => said,
        [one] => said.say("; ").name(one).say(" buffers these direct writes"),
        several => said.say("; ").and(names(several, ", ")).say(" buffer these direct writes"),
    }
}

fn statement(result: &ResultFinding, statement: &Statement) -> Phrase {
    match statement {
        Statement::AtTheDisk { slowest, fastest, tie } => at_the_disk(result, (*slowest, *fastest), *tie),
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
        Statement::Undecided { pairs } => undecided(result, pairs),
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

fn undecided(result: &ResultFinding, pairs: &[Shown]) -> Phrase {
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
    // What would settle it is one figure for the whole race, and stands in its answer.
    said
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
