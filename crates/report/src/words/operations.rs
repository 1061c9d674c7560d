//! What tables of file operations say.

use crate::clean::shorten;
use crate::figures;
use crate::layout::{GLUE, Phrase, Tone};
use crate::words;
use model::findings::{OperationsFinding, OperationsPair, Verdict};

pub(crate) const TOTAL: &str = "all steps";
pub(crate) const SYNC_AFTER: &str = "sync after the work";
pub(crate) const UNMOUNT: &str = "unmount";
pub(crate) const UNNAMED_SECTION: &str = "steps";
pub(crate) const FLOOR: &str = "floor";
pub(crate) const NO_VERDICT: &str = "no verdict";
/// A step that a lane did not do.
pub(crate) const MISSING: &str = "-";

/// Steps from which on a reader is told how many verdicts chance alone may make.
const MANY_STEPS: usize = 10;
/// The error that each step's verdicts hold together (methods section 2).
const ERROR_PER_STEP: f64 = 0.05;

/// The line above a table.
pub(crate) fn heading(table: &OperationsFinding) -> Phrase {
    Phrase::default().tone(Tone::Label, shorten(&table.title, 60)).say(format!(
        ", {}, {}",
        steps(table.rows.len() as u32),
        words::rounds(table.rounds)
    ))
}

fn steps(count: u32) -> String {
    if count == 1 { "1 step".to_owned() } else { format!("{count} steps") }
}

/// What the figures of a table are.
pub(crate) fn legend(table: &OperationsFinding, margin: f64) -> Phrase {
    let mut said = Phrase::of("Of each step: its whole time, and bytes moved or operations per second.");
    if table.totals.len() > 1 {
        said = said
            .say(" Speed-ups are against ")
            .name(&table.reference)
            .say(format!("; tie: less than {} apart; ?: undecided, with the interval.", figures::margin(margin)));
    }
    match &table.floor {
        Some(floor) => said
            .say(" Floor: what ")
            .name(floor)
            .say(" takes for the same step, as a share of the lane's time: the cost of the calls without a disk. From 1x on it is none: ")
            .name(floor)
            .say(" itself took longer."),
        None => said,
    }
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
    let factor = |ratio: f64| if ratio >= 1.0 { figures::times(ratio) } else { figures::times(ratio.recip()) };
    let sized = |word: &str| ratio.map_or(word.to_owned(), |ratio| format!("{} {word}", factor(ratio)));
    match (verdict, ratio) {
        (Verdict::Faster, _) => said.tone(Tone::Faster, sized("faster")),
        (Verdict::Slower, _) => said.tone(Tone::Slower, sized("slower")),
        (Verdict::Tie, _) => said.tone(Tone::Tie, "tie"),
        (Verdict::Undecided, _) => match (interval, ratio) {
            (Some((low, high)), _) => {
                let between = format!("? {}{GLUE}to{GLUE}{}", figures::times(low), figures::times(high));
                said.tone(Tone::Undecided, between)
            }
            (None, Some(ratio)) => said.tone(Tone::Undecided, format!("? {}", figures::times(ratio))),
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
    let said = if share < 0.995 { figures::share(share) } else { figures::coarse(share) };
    format!("{FLOOR} {said}")
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
    Some(format!(
        "{}: each operation was a process of its own, and {} of all this time is process start-up; these figures \
         measure how fast processes start, not how fast the filesystems are",
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
    let judged = parts.iter().any(|(count, ..)| *count > 0);
    // A count of none says as much as the others, but for what is still open.
    let shown = parts.into_iter().filter(|(count, tone, _)| judged && (*count > 0 || *tone != Tone::Undecided));
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

/// Steps of a section that one limit holds for.
pub(crate) fn limited(limit: &str, groups: &[&str], all: bool) -> String {
    if all {
        return format!("{limit}: all of these");
    }
    let names: Vec<String> = groups.iter().map(|group| shorten(group, 40)).collect();
    format!("{limit}: {}", names.join(", "))
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
pub(crate) fn failed(lane: &str, reason: &str) -> Phrase {
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
