//! What tables of file operations say.

use crate::clean::shorten;
use crate::figures;
use crate::layout::{GLUE, Phrase, Tone};
use crate::words;
use crate::words::questions::TOO_NOISY;
use model::Sentence;
use model::findings::{Findings, OperationsFinding, OperationsPair, Verdict};

pub(crate) const TOTAL: &str = "all steps";
pub(crate) const SYNC_AFTER: &str = "sync after the work";
pub(crate) const UNMOUNT: &str = "unmount";
pub(crate) const UNNAMED_SECTION: &str = "steps";
pub(crate) const FLOOR: &str = "floor";
const UNDECIDED_IN_ALL: &str = "undecided in all";
pub(crate) const NO_FLOOR: &str = "no floor";
pub(crate) const NO_VERDICT: &str = "no verdict";
/// The venue of lanes that the agent calls without a system call.
const LIBRARY: &str = "library";
/// A step that a lane did not do.
pub(crate) const MISSING: &str = "-";

/// Steps from which on a reader is told how many verdicts chance alone may make.
const MANY_STEPS: usize = 10;
/// The error that each step's verdicts hold together (method 2.1).
const ERROR_PER_STEP: f64 = 0.05;

/// The line above a table: which lane the others are held against, and what the factors mean.
pub(crate) fn heading(table: &OperationsFinding) -> Phrase {
    let count = table.rows.len() as u32;
    let said = Phrase::default().tone(Tone::Label, shorten(&table.title, 60)).say(format!(
        ", {}, {}",
        steps(count),
        words::rounds(table.rounds)
    ));
    if table.totals.len() < 2 {
        return said;
    }
    said.say("; reference: ")
        .name(&table.reference)
        .say(format!(" (2.0x{GLUE}={GLUE}twice as fast as "))
        .name(&table.reference)
        .say(")")
}

fn steps(count: u32) -> String {
    if count == 1 { "1 step".to_owned() } else { format!("{count} steps") }
}

/// What the figures of a table are.
pub(crate) fn legend(findings: &Findings, table: &OperationsFinding) -> Phrase {
    let median = match table.passes {
        0 | 1 => String::new(),
        passes => format!(", of each round the median of {passes} passes"),
    };
    let mut said =
        Phrase::new(format!("Of each step: its whole time, and bytes moved or operations per second{median}."));
    if table.totals.len() > 1 {
        let margin = figures::margin(findings.margin);
        let undecided = match table.rounds {
            0 | 1 => "undecided, as one round shows no noise",
            _ => "undecided, with the interval",
        };
        said = said.say(format!(" Tie: surely less than {margin} apart; ?: {undecided}."));
    }
    match &table.floor {
        Some(floor) => said.and(floor_legend(findings, table, floor)),
        None => said,
    }
}

/// What the floor is, and what it is not.
fn floor_legend(findings: &Findings, table: &OperationsFinding, floor: &str) -> Phrase {
    let processes = table.process_startup_share.is_some();
    let costs = if processes { "processes, system calls and copying" } else { "system calls and copying" };
    let said = Phrase::new(" Floor: the time of ")
        .name(floor)
        .say(format!(
            " for the same step as a share of the lane's, about what {costs} cost when no disk is there; no floor: "
        ))
        .name(floor)
        .say(" was no faster than the lane.");
    let inside: Vec<&str> =
        findings.lanes.iter().filter(|lane| lane.venue == LIBRARY).map(|lane| lane.name.as_str()).collect();
    if inside.is_empty() {
        return said;
    }
    let makes = if inside.len() == 1 { "makes" } else { "make" };
    said.say(" ").and(words::names(&inside, ", ")).say(format!(
        " {makes} no system calls, so there the floor is something to compare with and no part of the time."
    ))
}

/// The floor's own column is left out.
pub(crate) fn floor_left_out(floor: &str) -> Phrase {
    Phrase::new("The column of ").name(floor).say(" has no room here; a wider terminal and --format markdown show it.")
}

/// The heading of the column of verdicts.
pub(crate) fn against(reference: &str) -> Phrase {
    Phrase::default().tone(Tone::Quiet, "against ").name(reference)
}

/// One verdict of one step. `lane`: named, where there are several.
pub(crate) fn verdict(
    lane: Option<&str>,
    ratio: Option<f64>,
    interval: Option<(f64, f64)>,
    verdict: Verdict,
) -> Phrase {
    let said = match lane {
        Some(lane) => Phrase::default().name(lane).say(" "),
        None => Phrase::default(),
    };
    // Every factor of a table is the lane's speed against the reference's, those of slower lanes too.
    let sized = |word: &str| ratio.map_or(word.to_owned(), |ratio| format!("{word}{GLUE}{}", figures::times(ratio)));
    match (verdict, ratio) {
        (Verdict::Faster, _) => said.tone(Tone::Faster, sized("faster")),
        (Verdict::Slower, _) => said.tone(Tone::Slower, sized("slower")),
        (Verdict::Tie, _) => said.tone(Tone::Tie, "tie"),
        (Verdict::Undecided, _) => match (interval, ratio) {
            (Some((low, high)), _) if figures::is_too_noisy(low, high) => said.tone(Tone::Undecided, TOO_NOISY),
            (Some((low, high)), _) => {
                let between = format!("? {}{GLUE}to{GLUE}{}", figures::times(low), figures::times(high));
                said.tone(Tone::Undecided, between)
            }
            (None, Some(ratio)) => said.tone(Tone::Undecided, format!("? {}{GLUE}so{GLUE}far", figures::times(ratio))),
            (None, None) => said.tone(Tone::Undecided, "?"),
        },
        (Verdict::None, Some(ratio)) => {
            said.say(figures::times(ratio)).say(" ").tone(Tone::NoVerdict, format!("no{GLUE}verdict"))
        }
        (Verdict::None, None) => said.tone(Tone::NoVerdict, NO_VERDICT),
    }
}

/// What the system calls alone are of a lane's time.
pub(crate) fn floor(share: f64) -> String {
    if share < 0.995 { format!("{FLOOR} {}", figures::share(share)) } else { NO_FLOOR.to_owned() }
}

/// Start-up's share of one step, over its lanes.
pub(crate) fn startup(shares: &[f64]) -> Option<String> {
    let low = shares.iter().copied().reduce(f64::min)?;
    let high = shares.iter().copied().reduce(f64::max)?;
    Some(format!("process start-up: {}", figures::range(&figures::share(low), &figures::share(high))))
}

/// The sentence above figures that measured processes.
pub(crate) fn startup_warning(table: &OperationsFinding) -> Option<String> {
    let share = table.process_startup_share?;
    let measured = |lane: &str, started: bool| {
        let figures = table.rows.iter().flat_map(|row| &row.figures).filter(|of| of.lane == lane);
        let mut figures =
            figures.filter(|of| of.seconds.is_some()).map(|of| of.process_startup_share.is_some()).peekable();
        figures.peek().is_some() && figures.all(|of| of == started)
    };
    let of = |started: bool| -> Vec<String> {
        let lanes = table.totals.iter().map(|total| total.lane.as_str());
        lanes.filter(|lane| measured(lane, started)).map(|lane| shorten(lane, 40)).collect()
    };
    // The table's warnings name the lanes that started none.
    let started = of(true);
    let whose = if of(false).is_empty() { String::new() } else { format!(" of {}", words::listed_names(&started)) };
    Some(format!(
        "{}: each operation{whose} was a process of its own, and {} of all that time is process start-up; these \
         figures measure how fast processes start, not how fast the filesystems are",
        shorten(&table.title, 60),
        figures::share(share)
    ))
}

/// Two lanes over all steps. `why`: say the reason of what has no verdict.
pub(crate) fn pair(pair: &OperationsPair, why: bool) -> Phrase {
    let mut said = Phrase::default().name(&pair.a).say(" against ").name(&pair.b).say(": ");
    said = match pair.geometric_mean {
        Some(mean) => said.say(format!("{} over {} (geometric mean)", figures::times(mean), steps(pair.steps))),
        None => said.say("no ratio"),
    };
    let counts = counts(pair);
    if !counts.is_empty() {
        said = said.say("; ").join(counts, ", ");
    }
    if pair.without_verdict > 0 {
        let all = pair.wins + pair.ties + pair.losses + pair.undecided == 0;
        said = said.say("; ").tone(Tone::NoVerdict, NO_VERDICT);
        said = if all { said } else { said.say(format!(" in {}", pair.without_verdict)) };
        if let Some(why) = pair.why.as_deref().filter(|_| why) {
            said = said.say(": ").say(words::sentence(why));
        }
    }
    said
}

/// How often a lane was faster, level, slower.
fn counts(pair: &OperationsPair) -> Vec<Phrase> {
    let (wins, ties) = (pair.wins, pair.ties);
    let parts = [
        (wins, Tone::Faster, "faster in"),
        (ties, Tone::Tie, "tie in"),
        (pair.losses, Tone::Slower, "slower in"),
        (pair.undecided, Tone::Undecided, "undecided in"),
    ];
    let decided = wins + ties + pair.losses > 0;
    if !decided && pair.undecided > 0 {
        return vec![Phrase::default().tone(Tone::Undecided, UNDECIDED_IN_ALL)];
    }
    // A count of none says as much as the others, but for what is still open.
    let shown = parts.into_iter().filter(|(count, tone, _)| *count > 0 || (decided && *tone != Tone::Undecided));
    shown.map(|(count, tone, word)| Phrase::default().tone(tone, word).say(format!(" {count}"))).collect()
}

/// How many verdicts chance alone may make; `None`: too few steps to matter.
pub(crate) fn by_chance(table: &OperationsFinding) -> Option<String> {
    let count = table.rows.len();
    let decided = table.pairs.iter().any(|pair| pair.wins + pair.losses > 0);
    (count >= MANY_STEPS && decided).then(|| {
        let expected = (count as f64 * ERROR_PER_STEP).ceil();
        format!(
            "Each step holds its error at {} by itself: were all lanes equal, up to {expected:.0} of {count} steps would \
             still be expected to name a faster one",
            figures::margin(ERROR_PER_STEP)
        )
    })
}

/// The steps of a table, where they are folded away.
pub(crate) fn every_step(table: &OperationsFinding) -> String {
    format!("{}: every step", shorten(&table.title, 60))
}

/// Steps of a section that one limit holds for.
pub(crate) fn limited(limit: &str, groups: &[&str], all: bool) -> String {
    if all {
        return format!("{limit}: all of these");
    }
    let names: Vec<String> = groups.iter().map(|group| shorten(group, 40)).collect();
    format!("{limit}: {}", names.join("; "))
}

/// A total over fewer steps than the table has.
pub(crate) fn total(steps: u32, of: usize) -> String {
    if steps as usize == of { TOTAL.to_owned() } else { format!("{steps} of {of} steps") }
}

/// So many steps of a workload, where their names would fill a page.
pub(crate) fn some_steps(title: &str, count: usize, of: usize) -> String {
    format!("{} ({count} of {of} steps)", shorten(title, 60))
}

/// A lane without a figure in some steps.
pub(crate) fn failed(lane: &str, reason: &Sentence) -> Phrase {
    words::failed(lane, reason)
}

/// A lane that did some steps and not the others.
pub(crate) fn missing(lane: &str, reason: &str) -> Phrase {
    Phrase::default()
        .name(lane)
        .tone(Tone::Failed, format!(" has no figure ({MISSING})"))
        .say(": ")
        .say(words::sentence(reason))
}

/// A pair while the race runs: steps that are faster, tied, slower, undecided, without verdict.
pub(crate) fn pair_so_far((a, b): (&str, &str), [wins, ties, losses, undecided, none]: [u32; 5]) -> Phrase {
    let said = Phrase::default().name(a).say(" against ").name(b).say(": ");
    let parts = [
        (wins, Tone::Faster, "faster in"),
        (ties, Tone::Tie, "tie in"),
        (losses, Tone::Slower, "slower in"),
        (undecided, Tone::Undecided, "undecided in"),
        (none, Tone::NoVerdict, "no verdict in"),
    ];
    let all: u32 = parts.iter().map(|(count, ..)| count).sum();
    let shown = parts.into_iter().filter(|(count, ..)| *count > 0);
    let shown = shown.map(|(count, tone, word)| Phrase::default().tone(tone, word).say(format!(" {count}")));
    said.join(shown, ", ").say(format!(" of {}", steps(all)))
}
