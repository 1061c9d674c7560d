//! Where the time of operations went, lane by lane, as text and as Markdown.

use crate::clean::{clean, name};
use crate::figures::time;
use crate::layout::{Phrase, Tone, hang};
use crate::lines::CLOSING_COLUMNS;
use crate::{Style, facts, words};
use model::Sentence;
use model::findings::{Basis, Explanation, Findings, Part, ResultFinding};
use model::record::Record;
use model::units::percent;

/// What `fairlane explain --format` takes.
pub const EXPLANATION_FORMATS: [&str; 5] = ["text", "markdown", "json", "folded", "perf-script"];

/// Smaller shares are not told in a line; the rest is their sum.
const LEAST_SHARE: f64 = 0.02;
/// Where a pass was so much slower or faster than the rounds, its shares are those of other work, and that is said.
const TOLERATED: f64 = 0.1;
/// From here on they differ so much that a reader has to be told not to take them for the rounds'. Chosen.
const VERY_DIFFERENT: f64 = 0.25;
/// With fewer samples a share of CPU time of 10 % is anything between 4 and 16 %.
const FEW_SAMPLES: u64 = 100;
/// Causes that are named beside the parts.
const MOST_CAUSES: usize = 3;
/// Templates of what is told of passes that were asked for and not done: a race's screen shows each of them.
const REFUSALS: [&str; 6] = [
    "nothing_explained",
    "work_not_explained",
    "partly_explained",
    "ended_before_passes",
    "ended_before_passes_of",
    "passes_saw_nothing",
];

/// Whether a format shows stacks, which only passes of `--explain` see.
pub fn is_of_stacks(format: &str) -> bool {
    matches!(format, "folded" | "perf-script")
}

/// Whether there is such a format.
///
/// # Errors
/// A sentence with those that there are.
pub fn check_explanation(format: &str) -> Result<(), String> {
    match EXPLANATION_FORMATS.contains(&format) {
        true => Ok(()),
        false => Err(format!(
            "there is no format `{}` of an explanation; choose one of {}",
            clean(format),
            EXPLANATION_FORMATS.join(", ")
        )),
    }
}

/// Renders what the passes of a record showed; the text ends in a line break.
///
/// # Errors
/// An unknown format.
pub fn render_explanation(findings: &Findings, record: &Record, format: &str, style: &Style) -> Result<String, String> {
    check_explanation(format)?;
    let mut out = String::new();
    match format {
        "markdown" => {
            for said in ended(findings).into_iter().chain(reasons(findings)) {
                out.push_str(&format!("{}\n\n", crate::markdown::escape(&said)));
            }
            markdown(&mut out, findings, crate::markdown::escape);
        }
        "json" => out = json(findings),
        "folded" => folded(&mut out, record),
        "perf-script" => perf_script(&mut out, record),
        _ => {
            if let Some(said) = ended(findings) {
                hang(&mut out, words::NOTE, CLOSING_COLUMNS, &Phrase::default().tone(Tone::Failed, said), None, style);
            }
            text(&mut out, findings, true, style);
        }
    }
    Ok(out.trim_start_matches('\n').to_owned())
}

/// The findings' own keys, of each result that was explained.
fn json(findings: &Findings) -> String {
    #[derive(serde::Serialize)]
    struct Explained<'a> {
        workload: &'a str,
        group: &'a str,
        explanations: &'a [Explanation],
        explained: &'a [model::Sentence],
        #[serde(skip_serializing_if = "<[_]>::is_empty")]
        unexplained: &'a [model::Sentence],
    }
    let all: Vec<Explained> = explained(findings)
        .map(|of| Explained {
            workload: &of.workload,
            group: &of.group,
            explanations: &of.explanations,
            explained: &of.explained,
            unexplained: &of.unexplained,
        })
        .collect();
    crate::json::pretty(&all)
}

/// A line for each stack: `WORKLOAD;GROUP;LANE;ROLE;ACTIVITY;FRAME;FRAME MICROSECONDS`, as flamegraph.pl and its like take it.
fn folded(out: &mut String, record: &Record) {
    let plain = |text: &str| cut(text).replace([';', ' '], "_");
    for profile in &record.profiles {
        let head = [&profile.workload, &profile.group, &profile.lane].map(|text| plain(text)).join(";");
        for stack in &profile.stacks {
            let role = word(&stack.role);
            let activity = word(&stack.activity);
            let frames: Vec<String> = profile.names(stack).take(MOST_FRAMES).map(plain).collect();
            let frames = if frames.is_empty() { "[outside]".to_owned() } else { frames.join(";") };
            out.push_str(&format!("{head};{role};{activity};{frames} {:.0}\n", stack.seconds * 1e6));
        }
    }
}

/// Nanoseconds that one sample of `perf script` stands for at least, and how many there are at most: a text of some
/// megabytes.
const LEAST_SAMPLE_NS: f64 = 1e6;
const MOST_SAMPLES: f64 = 20_000.0;
/// Frames of one; nobody's stacks have more.
const MOST_FRAMES: usize = 64;
/// Characters of a function's name, and of one of a lane or a workload.
const MOST_NAME: usize = 120;

/// Samples as `perf script` prints them, for its readers: events `cpu` and `wait`, whose command is workload, group and lane
/// and whose process number counts roles; each stands for the time in its period. A record keeps sums, so the moments
/// are made up, one sample after the other.
fn perf_script(out: &mut String, record: &Record) {
    let plain = |text: &str| cut(text).replace(char::is_whitespace, "_");
    let seconds: f64 = record.profiles.iter().flat_map(|of| &of.stacks).map(|of| of.seconds.max(0.0)).sum();
    let period = (seconds * 1e9 / MOST_SAMPLES).max(LEAST_SAMPLE_NS).ceil();
    for profile in &record.profiles {
        let command = [&profile.workload, &profile.group, &profile.lane].map(|text| plain(text)).join("/");
        let mut at = 0.0;
        // What is less than a sample is part of the next, so that sums stay.
        let mut over = 0.0;
        for stack in &profile.stacks {
            over += stack.seconds.max(0.0) * 1e9 / period;
            if over.is_nan() || over < 1.0 {
                continue;
            }
            let head = format!("{command} {}", stack.role as u32 + 1);
            let event = word(&stack.activity);
            // Innermost first. An address is asked for, and none is known.
            let frames: String = profile.names(stack).rev().take(MOST_FRAMES).map(|name| frame(&plain(name))).collect();
            let frames = if frames.is_empty() { frame("[outside]") } else { frames };
            while over >= 1.0 {
                over -= 1.0;
                at += period / 1e9;
                out.push_str(&format!("{head} {at:.6}: {period:.0} {event}:\n{frames}\n"));
            }
        }
    }
}

/// A name without what moves a cursor, as long as anybody's.
fn cut(text: &str) -> String {
    clean(&text.chars().take(MOST_NAME).collect::<String>())
}

/// A line of a stack.
fn frame(name: &str) -> String {
    format!("\t{:16x} {name} ([kernel.kallsyms])\n", 0)
}

/// The word that a record has for it.
fn word(of: &impl serde::Serialize) -> String {
    serde_json::to_value(of).ok().and_then(|value| value.as_str().map(str::to_owned)).unwrap_or_default()
}

/// Results of which something is told, or why nothing is.
fn explained(findings: &Findings) -> impl Iterator<Item = &ResultFinding> {
    findings.results.iter().filter(|result| !result.explanations.is_empty() || !result.unexplained.is_empty())
}

/// Whether a pass looked at any of it.
pub(crate) fn has_profiles(findings: &Findings) -> bool {
    let mut all = findings.results.iter().flat_map(|result| &result.explanations);
    all.any(|of| of.basis == Basis::Profile)
}

/// Whether there are shares of anything.
pub(crate) fn has_shares(findings: &Findings) -> bool {
    findings.results.iter().any(|result| !result.explanations.is_empty())
}

/// How a race ended that did not end by itself; `None`: it did.
pub fn ended(findings: &Findings) -> Option<String> {
    words::race::outcome(&findings.outcome)
}

/// A sentence without its full stop, whole: what it says to do stands at its end.
fn full(said: &Sentence) -> String {
    clean(said.trim().trim_end_matches('.'))
}

/// Why no pass looked at some of it.
fn reasons(findings: &Findings) -> Vec<String> {
    findings.unexplained.iter().map(|said| format!("{}.", full(said))).collect()
}

/// What is told of passes that were asked for and not done: whoever asked must not miss it.
pub(crate) fn refusals(findings: &Findings) -> Vec<&Sentence> {
    let is_refusal = |of: &&Sentence| of.said().is_some_and(|said| REFUSALS.contains(&said.id));
    findings.unexplained.iter().filter(is_refusal).collect()
}

/// What the screen of a race says at its end: where it is told where the time went, and which passes could not be done.
pub(crate) fn pointer(findings: &Findings, record_path: Option<&str>, style: &Style) -> String {
    let mut out = String::new();
    let mut label = words::EXPLAIN;
    if let Some(path) = record_path.filter(|_| has_profiles(findings)) {
        crate::lines::command(&mut out, label, &format!("fairlane explain {}", crate::lines::typed(path)), style);
        label = "";
    }
    for said in refusals(findings) {
        hang(&mut out, label, CLOSING_COLUMNS, &Phrase::new(format!("{}.", full(said))), None, style);
        label = "";
    }
    out
}

/// The section for a terminal. `alone`: nothing else is shown of the race, which may have said already why passes are
/// missing.
pub(crate) fn text(out: &mut String, findings: &Findings, alone: bool, style: &Style) {
    out.push('\n');
    let legend = if has_profiles(findings) { words::EXPLAINED_LEGEND } else { words::COUNTED_LEGEND };
    hang(out, words::EXPLAINED, CLOSING_COLUMNS, &Phrase::new(legend), None, style);
    for said in findings.unexplained.iter().filter(|said| alone || !findings.warnings.contains(said)) {
        hang(out, "", CLOSING_COLUMNS, &Phrase::new(format!("{}.", full(said))), None, style);
    }
    for result in explained(findings) {
        let title = Phrase::default().tone(Tone::Label, full_title(result, findings));
        hang(out, "", 0, &title, None, style);
        for of in &result.explanations {
            let said = Phrase::default().name(&of.lane).say(format!(" {}", shares(of)));
            hang(out, "", 2, &said, None, style);
            for quiet in causes(of).into_iter().chain(caveat(of)) {
                hang(out, "", 4, &Phrase::default().tone(Tone::Quiet, quiet), None, style);
            }
        }
        for sentence in result.unexplained.iter().chain(&result.explained) {
            hang(out, "", 2, &Phrase::new(format!("{}.", full(sentence))), None, style);
        }
    }
}

/// The section in Markdown: a table of shares and the sentences; `escape` makes text harmless.
pub(crate) fn markdown(out: &mut String, findings: &Findings, escape: fn(&str) -> String) {
    for result in explained(findings) {
        out.push_str(&format!("\n**{}**\n\n", escape(&full_title(result, findings))));
        if !result.explanations.is_empty() {
            out.push_str("| lane | an operation | shares | most of it |\n| --- | --- | --- | --- |\n");
        }
        for of in &result.explanations {
            let operation = format!("{}{}", time(of.seconds_per_operation), cost(of));
            let cells = [name(&of.lane), operation, parts(of), causes(of).unwrap_or_default()];
            let cells: Vec<String> = cells.iter().map(|cell| escape(cell)).collect();
            out.push_str(&format!("| {} |\n", cells.join(" | ")));
        }
        out.push_str(if result.explanations.is_empty() { "" } else { "\n" });
        let caveats = result.explanations.iter().filter_map(|of| Some(format!("{}: {}", name(&of.lane), caveat(of)?)));
        let said = result.unexplained.iter().chain(&result.explained).map(|said| format!("{}.", full(said)));
        for line in caveats.chain(said) {
            out.push_str(&format!("- {}\n", escape(&line)));
        }
    }
}

fn full_title(result: &ResultFinding, findings: &Findings) -> String {
    match facts::group_of(result, &findings.results) {
        Some(group) => format!("{}: {}", facts::title(result), clean(group)),
        None => facts::title(result),
    }
}

/// `103 us, 12 % slower than in the rounds that count: flush 62 %, device 20 %, not explained 3 %`.
fn shares(of: &Explanation) -> String {
    format!("{}{}: {}", time(of.seconds_per_operation), cost(of), parts(of))
}

/// A pass tells its own cost where it is more than a tenth.
fn cost(of: &Explanation) -> String {
    if of.basis == Basis::Counters {
        return format!(" ({})", words::BY_COUNTERS);
    }
    let slower = match of.profiled_ratio() {
        Some(ratio) if ratio < 1.0 - TOLERATED => {
            format!(" ({} slower than in the rounds that count)", percent(1.0 - ratio))
        }
        Some(ratio) if ratio > 1.0 + TOLERATED => {
            format!(" ({} faster than in the rounds that count)", percent(ratio - 1.0))
        }
        _ => String::new(),
    };
    let device = if of.device_by_counters { " (device at most, by its counters)" } else { "" };
    match of.lost_events {
        0 => format!("{slower}{device}"),
        lost => format!("{slower}{device} ({lost} events lost)"),
    }
}

/// Why a pass's shares are to be taken with care; `None`: they are not.
fn caveat(of: &Explanation) -> Option<String> {
    if of.basis == Basis::Counters {
        return None;
    }
    let differs = of.profiled_ratio().filter(|ratio| (ratio - 1.0).abs() > VERY_DIFFERENT);
    let differs =
        differs.map(|_| "this pass differs much from the rounds, so that its shares may not be theirs".to_owned());
    let few = (of.samples < FEW_SAMPLES).then(|| match of.samples {
        1 => "1 sample is little: shares of CPU time are rough".to_owned(),
        samples => format!("{samples} samples are few: shares of CPU time are rough"),
    });
    let said: Vec<String> = differs.into_iter().chain(few).collect();
    (!said.is_empty()).then(|| format!("{}.", said.join("; ")))
}

fn parts(of: &Explanation) -> String {
    let told = of.parts.iter().filter(|part| part.share >= LEAST_SHARE);
    let mut list: Vec<String> = told.map(|part| format!("{} {}", part.part.title(), percent(part.share))).collect();
    let rest: f64 = of.parts.iter().filter(|part| part.share < LEAST_SHARE).map(|part| part.share).sum();
    if rest >= 0.005 {
        list.push(format!("the rest {}", percent(rest)));
    }
    list.join(", ")
}

/// A cause, its share, and the parts that it counts for.
type Summed<'a> = (&'a str, f64, Vec<(Part, f64)>);

/// What the largest shares are, and functions that the table does not know.
fn causes(of: &Explanation) -> Option<String> {
    // One cause may count for several parts: for the device's while that is at work, for a lock's while it is not.
    let mut sums: Vec<Summed> = Vec::new();
    for cause in &of.causes {
        let part = (cause.part, cause.share);
        match sums.iter_mut().find(|(known, ..)| *known == cause.cause) {
            Some((_, share, parts)) => {
                *share += cause.share;
                parts.push(part);
            }
            None => sums.push((&cause.cause, cause.share, vec![part])),
        }
    }
    sums.sort_by(|a, b| b.1.total_cmp(&a.1));
    let causes = sums.iter().take(MOST_CAUSES).map(|(cause, share, parts)| {
        let split: Vec<String> = match parts.len() {
            1 => Vec::new(),
            _ => parts.iter().map(|(part, share)| format!("{} {}", part.title(), percent(*share))).collect(),
        };
        let split = if split.is_empty() { String::new() } else { format!(" ({})", split.join(", ")) };
        format!("{} {}{split}", clean(cause), percent(*share))
    });
    let unknown = of.unknown.iter().take(2).map(|of| format!("{} {}", clean(&of.function), percent(of.share)));
    let list: Vec<String> = causes.chain(unknown).collect();
    (!list.is_empty()).then(|| list.join(", "))
}
