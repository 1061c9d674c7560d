//! The lines that the screen during a race and the text report share: ceilings, verdicts, answer.

use crate::clean::{clean, columns, shorten};
use crate::layout::{Phrase, Tone, hang};
use crate::statements::{Statement, statements};
use crate::{Style, answer, facts, words};
use model::findings::{Ceiling, Findings, ResultFinding};

/// Columns of the narrowest label column: `disk ceiling` and two spaces.
const LEAST_LABEL_COLUMNS: usize = 14;
/// Columns of the labels of the closing block: `WARNINGS` and two spaces.
pub(crate) const CLOSING_COLUMNS: usize = 10;

/// Columns that the labels of these titles take, two spaces included.
pub(crate) fn label_columns<S: AsRef<str>>(titles: &[S]) -> usize {
    let widest = titles.iter().map(|title| columns(&shorten(title.as_ref(), facts::TITLE_COLUMNS))).max();
    (widest.unwrap_or(0) + 2).max(LEAST_LABEL_COLUMNS)
}

/// `disk ceiling     read 512 MB/s, random read 88k IOPS, flush 0.9 ms`.
pub(crate) fn ceilings(ceilings: &[Ceiling], label_columns: usize, style: &Style) -> String {
    let mut out = String::new();
    let said = words::facts::ceilings(ceilings).unwrap_or_else(|| Phrase::of(words::DISK_CEILING_UNKNOWN));
    let in_page_cache = ceilings.iter().any(|ceiling| ceiling.in_page_cache);
    let label = if in_page_cache { words::GUEST_CEILING } else { words::DISK_CEILING };
    hang(&mut out, label, label_columns, &said, None, style);
    out
}

/// A result's verdict line.
pub(crate) struct VerdictLine {
    /// The sentence, its group in front where the workload has several.
    pub(crate) body: Phrase,
    /// What limited it; `None` where the sentence already says so.
    pub(crate) limit: Option<Phrase>,
}

/// The verdict line of a result. `group`: named in front.
pub(crate) fn verdict(result: &ResultFinding, group: Option<&str>) -> VerdictLine {
    let said = statements(result);
    let mut body = Phrase::default();
    if let Some(group) = group {
        body = body.say(format!("{}: ", shorten(group, 40)));
    }
    body = body.and(words::verdict::statements(result, &said));
    let names_no_limit =
        |one: &Statement| matches!(one, Statement::AtTheDisk { .. } | Statement::Nothing | Statement::Failed { .. });
    let limit = (!said.iter().any(|one| matches!(one, Statement::AtTheDisk { .. }))
        && !said.iter().all(names_no_limit))
    .then(|| {
        let pace = words::verdict::pace(result);
        Phrase::default().tone(Tone::Quiet, pace.as_deref().unwrap_or(words::verdict::limit(result.limit)))
    });
    VerdictLine { body, limit }
}

/// `ANSWER`, `NEXT`, `RECORD`: what a person acts on. `just_raced`: the record is the last one, so
/// that `fairlane report` needs no name to find it.
pub(crate) fn closing(findings: &Findings, record_path: Option<&str>, just_raced: bool, style: &Style) -> String {
    let mut out = String::new();
    if let Some(note) = words::race::outcome(&findings.outcome).filter(|_| !findings.results.is_empty()) {
        hang(&mut out, words::NOTE, CLOSING_COLUMNS, &Phrase::default().tone(Tone::Failed, note), None, style);
    }
    hang(&mut out, words::ANSWER, CLOSING_COLUMNS, &answer::answer(findings), None, style);
    let next = next_command(findings, record_path, just_raced);
    if let Some(line) = &next {
        command(&mut out, words::NEXT, line, style);
    }
    if let Some(path) = record_path {
        let report = if just_raced {
            "fairlane report --format markdown".to_owned()
        } else {
            format!("fairlane report {} --format markdown", typed(path))
        };
        let path = clean(path);
        let said = next.as_ref() == Some(&report);
        let room = CLOSING_COLUMNS + columns(&path) + 5 + columns(&report) <= style.columns();
        if said {
            command(&mut out, words::RECORD, &path, style);
        } else if room {
            command(&mut out, words::RECORD, &format!("{path}     {report}"), style);
        } else {
            command(&mut out, words::RECORD, &path, style);
            command(&mut out, "", &report, style);
        }
    }
    out
}

/// The one command worth running next: resuming where the race did not end by itself, because what the statistics
/// advise rests on the whole race. A report is worth it only after a race: whoever reads one has it already.
pub(crate) fn next_command(findings: &Findings, record_path: Option<&str>, just_raced: bool) -> Option<String> {
    if let (Some(_), Some(path)) = (words::race::outcome(&findings.outcome), record_path) {
        return Some(format!("fairlane {}", words::race::resume(&typed(path))));
    }
    let answer = findings.answer.as_ref().filter(|answer| match answer.next.first() {
        Some(command) => just_raced || command != "report",
        None => false,
    })?;
    Some(format!("fairlane {}", crate::clean::shell_line(&answer.next)))
}

/// A path as a shell takes it; `~/` in front stays the shell's own.
pub(crate) fn typed(path: &str) -> String {
    match path.strip_prefix("~/") {
        Some(rest) => format!("~/{}", crate::clean::shell_word(rest)),
        None => crate::clean::shell_word(path),
    }
}

/// A command is never wrapped: it must survive being copied.
pub(crate) fn command(out: &mut String, label: &str, line: &str, style: &Style) {
    let label = Phrase::default().tone(Tone::Label, label);
    out.push_str(&label.paint(style));
    out.push_str(&" ".repeat(CLOSING_COLUMNS.saturating_sub(label.columns())));
    out.push_str(line);
    out.push('\n');
}
