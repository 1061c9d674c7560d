//! Advice for scenarios, as text, Markdown and JSON; and in short for the report of a race.

use crate::layout::{Phrase, hang};
use crate::lines::{CLOSING_COLUMNS, command, typed};
use crate::markdown;
use crate::words::advice as wording;
use crate::{ReportError, Style, clean, json, words};
use model::findings::{Advice, AdviceReason, AdviceReport, Equal, Excluded, Findings, NoAdvice, NotMeasured};

/// What `fairlane advise --format` takes.
pub const ADVICE_FORMATS: [&str; 3] = ["text", "markdown", "json"];

/// Parts of the work that are told as reasons; the others stand in JSON.
const REASONS_SHOWN: usize = 4;

/// Renders advice in the format of a name; `whole`: scenario by scenario with all reasons, otherwise in
/// short. JSON is always whole.
///
/// # Errors
/// [`ReportError`]: advice has no such format.
pub fn render_advice(report: &AdviceReport, format: &str, style: &Style, whole: bool) -> Result<String, ReportError> {
    match format {
        "text" if whole => Ok(text(report, style)),
        "text" => Ok(short(report, style)),
        "markdown" if whole => Ok(in_markdown(report)),
        "markdown" => Ok(short_in_markdown(report)),
        "json" => Ok(json::pretty(report)),
        other => Err(ReportError::Unfit(format!(
            "there is no advice in format `{}`; choose one of {}",
            clean::shorten(other, 40),
            ADVICE_FORMATS.join(", ")
        ))),
    }
}

/// All scenarios in a few lines: what to take, and for which too little was measured.
fn short(report: &AdviceReport, style: &Style) -> String {
    let mut out = String::new();
    hang(&mut out, "", 0, &wording::about(&report.lanes, &report.records, &report.needs), None, style);
    for (label, line) in short_lines(report) {
        hang(&mut out, label, CLOSING_COLUMNS, &line.say("."), None, style);
    }
    for (label, line) in commands(report) {
        command(&mut out, label, &line, style);
    }
    warnings(&mut out, report, style);
    out
}

fn short_in_markdown(report: &AdviceReport) -> String {
    let about = wording::about(&report.lanes, &report.records, &report.needs);
    let mut out = format!("{}.\n\n", markdown::phrase(&about, false));
    for (_, line) in short_lines(report) {
        out.push_str(&format!("- {}.\n", markdown::phrase(&line, false)));
    }
    for (_, line) in commands(report) {
        out.push_str(&format!("- {}: {}\n", words::NEXT_TITLE, markdown::code(&line, false)));
    }
    warnings_in_markdown(&mut out, report);
    out
}

fn short_lines(report: &AdviceReport) -> Vec<(&'static str, Phrase)> {
    let (told, little): (Vec<&Advice>, Vec<&Advice>) =
        report.advice.iter().partition(|advice| advice.no_advice != Some(NoAdvice::TooLittleMeasured));
    let mut lines = gathered(&told);
    for at in (1..lines.len()).rev() {
        if lines[at].0 == lines[at - 1].0 {
            lines[at].0 = "";
        }
    }
    if !little.is_empty() {
        lines.push((wording::NONE, wording::too_little(&little)));
    }
    // What the user asks for holds in every scenario.
    if !report.needs.is_empty() {
        lines.extend(not_raced(&report.advice.iter().collect::<Vec<_>>()).map(|line| (wording::NOTE, line)));
    }
    lines
}

/// The filesystems that meet the constraints of each of these scenarios of which some lane does not.
fn not_raced(advice: &[&Advice]) -> Option<Phrase> {
    let mut named = advice.iter().filter(|of| !of.not_raced.is_empty());
    let first = named.next()?;
    let everywhere = |name: &&String| named.clone().all(|other| other.not_raced.contains(name));
    let names: Vec<&str> = first.not_raced.iter().filter(everywhere).map(String::as_str).collect();
    (!names.is_empty()).then(|| wording::not_raced(&names))
}

/// What is worth typing next: the reasons of one scenario, and the race that measures the most of what
/// is missing.
fn commands(report: &AdviceReport) -> Vec<(&'static str, String)> {
    let mut commands = Vec::new();
    if let Some(advice) = report.advice.iter().find(|advice| advice.lane.is_some()).or(report.advice.first()) {
        let mut words = report.command.clone();
        words.extend(["--scenario".to_owned(), advice.scenario.clone()]);
        commands.push((wording::REASONS, format!("fairlane {}", clean::shell_line(&words))));
    }
    let little = report.advice.iter().filter(|advice| advice.no_advice == Some(NoAdvice::TooLittleMeasured));
    if let Some(next) = little.filter_map(next).next() {
        commands.push((wording::NEXT, next));
    }
    commands
}

fn text(report: &AdviceReport, style: &Style) -> String {
    let mut out = String::new();
    hang(&mut out, "", 0, &wording::about(&report.lanes, &report.records, &report.needs), None, style);
    for advice in &report.advice {
        out.push('\n');
        hang(&mut out, "", 0, &wording::heading(advice), None, style);
        let mut before = "";
        for (label, line) in lines(advice, report.margin) {
            hang(&mut out, if label == before { "" } else { label }, CLOSING_COLUMNS, &line.say("."), None, style);
            before = label;
        }
        if let Some(next) = next(advice) {
            command(&mut out, wording::NEXT, &next, style);
        }
    }
    warnings(&mut out, report, style);
    out
}

fn warnings(out: &mut String, report: &AdviceReport, style: &Style) {
    let mut label = words::WARNINGS;
    for warning in &report.warnings {
        out.push_str(if label.is_empty() { "" } else { "\n" });
        hang(out, label, CLOSING_COLUMNS, &Phrase::new(format!("{}.", words::sentence(warning))), None, style);
        label = "";
    }
}

fn in_markdown(report: &AdviceReport) -> String {
    let mut out =
        format!("{}.\n", markdown::phrase(&wording::about(&report.lanes, &report.records, &report.needs), false));
    for advice in &report.advice {
        out.push_str(&format!("\n### {}\n\n", markdown::phrase(&wording::heading(advice), false)));
        for (label, line) in lines(advice, report.margin) {
            out.push_str(&format!("- **{}:** {}.\n", wording::title(label), markdown::phrase(&line, false)));
        }
        if let Some(next) = next(advice) {
            out.push_str(&format!("- **{}:** {}\n", wording::title(wording::NEXT), markdown::code(&next, false)));
        }
    }
    warnings_in_markdown(&mut out, report);
    out
}

fn warnings_in_markdown(out: &mut String, report: &AdviceReport) {
    if !report.warnings.is_empty() {
        out.push_str(&format!("\n{}:\n\n", words::WARNINGS_TITLE));
    }
    for warning in &report.warnings {
        out.push_str(&format!("- {}.\n", markdown::escape(&words::sentence(warning))));
    }
}

/// The lines of one scenario with their labels.
fn lines(advice: &Advice, margin: f64) -> Vec<(&'static str, Phrase)> {
    let mut lines = vec![(wording::label_of(advice), wording::take(advice, margin))];
    for reasons in by_part(&advice.why).into_iter().take(REASONS_SHOWN) {
        lines.push((wording::BECAUSE, wording::part(&reasons)));
    }
    for (because, parts) in by_reason(advice) {
        lines.push((wording::EQUAL, wording::equal(because, &parts)));
    }
    for out in by_constraint(&advice.excluded) {
        let lanes: Vec<&str> = out.iter().map(|of| of.lane.as_str()).collect();
        let mut sources: Vec<&str> = Vec::new();
        for source in out.iter().flat_map(|of| of.source.split("; ")).filter(|source| !source.is_empty()) {
            if !sources.contains(&source) {
                sources.push(source);
            }
        }
        lines.push((wording::OUT, wording::excluded(&advice.title, &lanes, &sources.join("; "), out[0])));
    }
    lines.extend(not_raced(&[advice]).map(|line| (wording::NOTE, line)));
    lines.extend(advice.flips_if.iter().map(|flip| (wording::UNLESS, wording::flip(flip, &advice.title))));
    let mut suites: Vec<Option<&str>> = Vec::new();
    for part in &advice.not_measured {
        if !suites.contains(&part.suite.as_deref()) {
            suites.push(part.suite.as_deref());
        }
    }
    for suite in suites {
        let parts: Vec<&NotMeasured> =
            advice.not_measured.iter().filter(|part| part.suite.as_deref() == suite).collect();
        lines.push((wording::MISSING, wording::missing(suite, &parts)));
    }
    let lane = advice.lane.as_deref().unwrap_or_default();
    lines.extend(advice.raced_without.iter().map(|of| (wording::NOTE, wording::raced_without(lane, of))));
    lines.extend(advice.notes.iter().map(|note| (wording::NOTE, wording::note(note))));
    lines
}

/// The reasons gathered by the part of the work, the weightiest part first.
fn by_part(reasons: &[AdviceReason]) -> Vec<Vec<&AdviceReason>> {
    let mut parts: Vec<Vec<&AdviceReason>> = Vec::new();
    for reason in reasons {
        match parts.iter_mut().find(|part| part[0].what == reason.what) {
            Some(part) => part.push(reason),
            None => parts.push(vec![reason]),
        }
    }
    parts
}

/// The lanes that are out, gathered where the same is known of them.
fn by_constraint(excluded: &[Excluded]) -> Vec<Vec<&Excluded>> {
    let mut gathered: Vec<Vec<&Excluded>> = Vec::new();
    for out in excluded {
        let same = |others: &&mut Vec<&Excluded>| {
            (&others[0].constraint, &others[0].why, &others[0].facts) == (&out.constraint, &out.why, &out.facts)
        };
        match gathered.iter_mut().find(same) {
            Some(others) => others.push(out),
            None => gathered.push(vec![out]),
        }
    }
    gathered
}

/// The parts in which nothing counts, gathered by why.
fn by_reason(advice: &Advice) -> Vec<(Equal, Vec<(&str, f64)>)> {
    let mut reasons: Vec<(Equal, Vec<(&str, f64)>)> = Vec::new();
    for part in &advice.equal {
        let said = (part.what.as_str(), part.share);
        match reasons.iter_mut().find(|(because, _)| *because == part.because) {
            Some((_, parts)) => parts.push(said),
            None => reasons.push((part.because, vec![said])),
        }
    }
    reasons
}

fn next(advice: &Advice) -> Option<String> {
    (!advice.next.is_empty()).then(|| format!("fairlane {}", clean::shell_line(&advice.next)))
}

/// The advice of a race in a few lines: scenarios gathered by what to take. Empty: there is none.
pub(crate) fn brief(findings: &Findings) -> Vec<Phrase> {
    gathered(&findings.advice.iter().collect::<Vec<_>>()).into_iter().map(|(_, line)| line).collect()
}

/// The command that tells the reasons for what `brief` says.
pub(crate) fn reasons_command(record_path: Option<&str>) -> String {
    format!("fairlane advise{}", record_path.map(|path| format!(" {}", typed(path))).unwrap_or_default())
}

/// Scenarios gathered by what to take, those whose own work was raced first, with what the figures in brackets are.
fn gathered(advice: &[&Advice]) -> Vec<(&'static str, Phrase)> {
    let mut gathered: Vec<Vec<&Advice>> = Vec::new();
    for advice in advice {
        let key = |of: &Advice| (of.lane.clone(), of.level_with.clone(), of.no_advice, wording::label_of(of));
        match gathered.iter_mut().find(|group| key(group[0]) == key(advice)) {
            Some(group) => group.push(advice),
            None => gathered.push(vec![advice]),
        }
    }
    gathered.sort_by_key(|group| wording::label_of(group[0]) == wording::LEANING);
    let mut lines: Vec<(&'static str, Phrase)> =
        gathered.iter().map(|group| (wording::label_of(group[0]), wording::brief(group))).collect();
    if advice.iter().any(|advice| advice.share_of_resampled_races.is_some()) {
        lines.push((lines.last().map_or("", |line| line.0), Phrase::new(wording::SHARES)));
    }
    lines
}
