//! Where the time of operations went, lane by lane, as text and as Markdown.

use crate::clean::{clean, name};
use crate::figures::time;
use crate::layout::{Phrase, Tone, hang};
use crate::lines::CLOSING_COLUMNS;
use crate::{Style, facts, words};
use model::findings::{Basis, Explanation, Findings, ResultFinding};
use model::record::Record;
use model::units::percent;

/// What `fairlane explain --format` takes.
pub const EXPLANATION_FORMATS: [&str; 5] = ["text", "markdown", "json", "folded", "perf-script"];

/// Smaller shares are not told in a line; the rest is their sum.
const LEAST_SHARE: f64 = 0.02;
/// Where a pass was so much slower or faster than the rounds, its shares are those of other work, and that is said.
const TOLERATED: f64 = 0.1;
/// Causes that are named beside the parts.
const MOST_CAUSES: usize = 3;

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
        "markdown" => markdown(&mut out, findings, crate::markdown::escape),
        "json" => out = json(findings),
        "folded" => folded(&mut out, record),
        "perf-script" => perf_script(&mut out, record),
        _ => text(&mut out, findings, style),
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
    }
    let all: Vec<Explained> = explained(findings)
        .map(|of| Explained {
            workload: &of.workload,
            group: &of.group,
            explanations: &of.explanations,
            explained: &of.explained,
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

fn explained(findings: &Findings) -> impl Iterator<Item = &ResultFinding> {
    findings.results.iter().filter(|result| !result.explanations.is_empty())
}

/// Whether a pass looked at any of it. What counters alone tell is shown where it is asked for: it is coarse, and long.
pub(crate) fn has_profiles(findings: &Findings) -> bool {
    let mut all = findings.results.iter().flat_map(|result| &result.explanations);
    all.any(|of| of.basis == Basis::Profile)
}

/// The section for a terminal.
pub(crate) fn text(out: &mut String, findings: &Findings, style: &Style) {
    if explained(findings).next().is_none() {
        return;
    }
    out.push('\n');
    let legend = if has_profiles(findings) { words::EXPLAINED_LEGEND } else { words::COUNTED_LEGEND };
    hang(out, words::EXPLAINED, CLOSING_COLUMNS, &Phrase::new(legend), None, style);
    for result in explained(findings) {
        let title = Phrase::default().tone(Tone::Label, full_title(result, findings));
        hang(out, "", 0, &title, None, style);
        for of in &result.explanations {
            let said = Phrase::default().name(&of.lane).say(format!(" {}", shares(of)));
            hang(out, "", 2, &said, None, style);
            if let Some(causes) = causes(of) {
                hang(out, "", 4, &Phrase::default().tone(Tone::Quiet, causes), None, style);
            }
        }
        for sentence in &result.explained {
            hang(out, "", 2, &Phrase::new(format!("{}.", clean(sentence))), None, style);
        }
    }
}

/// The section in Markdown: a table of shares and the sentences; `escape` makes text harmless.
pub(crate) fn markdown(out: &mut String, findings: &Findings, escape: fn(&str) -> String) {
    for result in explained(findings) {
        out.push_str(&format!("\n**{}**\n\n", escape(&full_title(result, findings))));
        out.push_str("| lane | an operation | shares | most of it |\n| --- | --- | --- | --- |\n");
        for of in &result.explanations {
            let operation = format!("{}{}", time(of.seconds_per_operation), cost(of));
            let cells = [name(&of.lane), operation, parts(of), causes(of).unwrap_or_default()];
            let cells: Vec<String> = cells.iter().map(|cell| escape(cell)).collect();
            out.push_str(&format!("| {} |\n", cells.join(" | ")));
        }
        out.push('\n');
        for sentence in &result.explained {
            out.push_str(&format!("- {}.\n", escape(&clean(sentence))));
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

fn parts(of: &Explanation) -> String {
    let told = of.parts.iter().filter(|part| part.share >= LEAST_SHARE);
    let mut list: Vec<String> = told.map(|part| format!("{} {}", part.part.title(), percent(part.share))).collect();
    let rest: f64 = of.parts.iter().filter(|part| part.share < LEAST_SHARE).map(|part| part.share).sum();
    if rest >= 0.005 {
        list.push(format!("the rest {}", percent(rest)));
    }
    list.join(", ")
}

/// What the largest shares are, and functions that the table does not know.
fn causes(of: &Explanation) -> Option<String> {
    // One cause may count for several parts: for the device's while that is at work, for a lock's while it is not.
    let mut sums: Vec<(&str, f64)> = Vec::new();
    for cause in &of.causes {
        match sums.iter_mut().find(|(known, _)| *known == cause.cause) {
            Some((_, share)) => *share += cause.share,
            None => sums.push((&cause.cause, cause.share)),
        }
    }
    sums.sort_by(|a, b| b.1.total_cmp(&a.1));
    let causes = sums.iter().take(MOST_CAUSES).map(|(cause, share)| format!("{} {}", clean(cause), percent(*share)));
    let unknown = of.unknown.iter().take(2).map(|of| format!("{} {}", clean(&of.function), percent(of.share)));
    let list: Vec<String> = causes.chain(unknown).collect();
    (!list.is_empty()).then(|| list.join(", "))
}
