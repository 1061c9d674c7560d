//! The lines that the screen during a race and the text report share: ceilings, verdicts, answer.

use crate::clean::{clean, columns, shorten};
use crate::layout::{Phrase, Tone, hang};
use crate::{Style, answer, explanations, facts, questions, words};
use model::findings::{Ceiling, Choice, Findings, ResultFinding, Settle, Statement};
use model::machine::is_untold;
use model::screening::Factor;
use model::sentence::Weight;

/// Columns of the narrowest label column: `disk ceiling` and two spaces.
const LEAST_LABEL_COLUMNS: usize = 14;
/// Columns of the labels of the closing block: `WARNINGS` and two spaces.
pub(crate) const CLOSING_COLUMNS: usize = 10;

/// Columns that the labels of these titles take, two spaces included.
pub(crate) fn label_columns<S: AsRef<str>>(titles: &[S]) -> usize {
    let widths = titles.iter().map(|title| columns(&shorten(title.as_ref(), facts::TITLE_COLUMNS)));
    let widest = widths.filter(|width| *width <= facts::LABEL_COLUMNS).max();
    (widest.unwrap_or(0) + 2).max(LEAST_LABEL_COLUMNS)
}

/// `disk ceiling     read 512 MB/s, random read 88k IOPS, flush 0.9 ms`.
pub(crate) fn ceilings(ceilings: &[Ceiling], label_columns: usize, style: &Style) -> String {
    let mut out = String::new();
    let said = words::facts::ceilings(ceilings).unwrap_or_else(|| Phrase::new(words::DISK_CEILING_UNKNOWN));
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
    let said = &result.statements;
    let mut body = Phrase::default();
    if let Some(group) = group {
        body = body.say(format!("{}: ", shorten(group, 80)));
    }
    body = body.and(words::verdict::statements(result));
    if let Some(waits) = words::waits::longest(result) {
        body = body.say("; ").and(waits);
    }
    let names_no_limit =
        |one: &Statement| matches!(one, Statement::AtTheDisk { .. } | Statement::Nothing | Statement::Failed { .. });
    let limit = (!said.iter().any(|one| matches!(one, Statement::AtTheDisk { .. }))
        && !said.iter().all(names_no_limit))
    .then(|| {
        let pace = words::verdict::pace(result).or_else(|| words::verdict::headline(result));
        Phrase::default().tone(Tone::Quiet, pace.as_deref().unwrap_or(words::verdict::limit(result.limit)))
    });
    VerdictLine { body, limit }
}

/// The result of a race: the answer in one sentence, the table of all questions, what the disk can do without a
/// filesystem, what is undecided and what was not tested.
pub(crate) fn result(findings: &Findings, style: &Style) -> String {
    let mut out = String::new();
    let labelled = |out: &mut String, label: &str, said: Vec<Phrase>| {
        for (at, said) in said.into_iter().enumerate() {
            hang(out, if at == 0 { label } else { "" }, CLOSING_COLUMNS, &said, None, style);
        }
    };
    labelled(&mut out, words::ANSWER, vec![answer::sentence(findings)]);
    let (before, after) = notes(findings);
    labelled(&mut out, words::NOTE, before);
    let startup = findings.operations.iter().filter_map(words::operations::startup_warning);
    let startup = startup.map(|warning| Phrase::default().tone(Tone::Failed, format!("{warning}."))).collect();
    labelled(&mut out, words::WARNING, startup);
    // The lanes of a screening are runs of a design: no question is asked of them.
    if !findings.results.is_empty() && findings.screening.is_none() {
        out.push('\n');
        questions::text(&mut out, findings, style);
        if findings.results.iter().any(|result| result.section.is_none()) || !findings.ceilings.is_empty() {
            out.push_str(&ceilings(&findings.ceilings, LEAST_LABEL_COLUMNS + 1, style));
        }
        out.push('\n');
    }
    labelled(&mut out, words::NOTE, after);
    labelled(&mut out, words::OPEN, answer::open(findings));
    labelled(
        &mut out,
        words::UNTESTED,
        answer::untested_list(findings).map(|list| list.say(".")).into_iter().collect(),
    );
    out
}

/// What has to be known before the answer is taken, all of it in one place: how the race ended, that code alone was raced,
/// and what the answer's lanes and ground are. Before the table where the race is not what it seems, otherwise after it.
pub(crate) fn notes(findings: &Findings) -> (Vec<Phrase>, Vec<Phrase>) {
    // The answer says it of a race that was interrupted before it had figures.
    let has_figures = findings.outcome != "interrupted" || !matches!(findings.conclusion.choice, Choice::Nothing);
    let outcome = words::race::outcome(&findings.outcome).filter(|_| has_figures && !findings.results.is_empty());
    let outcome = outcome.map(|note| Phrase::default().tone(Tone::Failed, note));
    let code_only = findings.code_only.iter().map(|said| words::answer::said_of_the_ground(said));
    let first: Vec<Phrase> = outcome.into_iter().chain(code_only).collect();
    let caveats = answer::caveats(findings);
    match first.is_empty() {
        true => (first, caveats),
        false => (first.into_iter().chain(caveats).collect(), Vec::new()),
    }
}

/// The warnings that a reader has to heed, the heaviest first; `more`: where the others are, on a screen that says
/// beside them which passes could not be done.
pub(crate) fn warnings(findings: &Findings, most: usize, more: Option<&str>, style: &Style) -> String {
    let mut out = String::new();
    // NOTE says it already.
    let cached = findings.answer.as_ref().and_then(|answer| answer.cached_disk.as_ref()).map(|of| words::sentence(of));
    let refusals = if more.is_some() { explanations::refusals(findings) } else { Vec::new() };
    let elsewhere: Vec<String> = refusals.into_iter().map(|said| words::sentence(said)).chain(cached).collect();
    let warnings: Vec<String> = facts::weighed_warnings(findings, &[])
        .into_iter()
        .filter(|(weight, warning)| *weight < Weight::Detail && !elsewhere.contains(warning))
        .map(|(_, warning)| warning)
        .collect();
    let mut label = words::WARNINGS;
    for warning in warnings.iter().take(most) {
        hang(&mut out, label, CLOSING_COLUMNS, &Phrase::new(format!("{}.", shorten(warning, 400))), None, style);
        label = "";
    }
    let left = warnings.len().saturating_sub(most);
    if let Some(command) = more.filter(|_| left > 0) {
        hang(&mut out, "", CLOSING_COLUMNS, &Phrase::new(words::screen::more_warnings(left, command)), None, style);
    }
    out
}

/// `NEXT`, `RECORD`: what a person does with it, at the prompt. `just_raced`: the record is the last one, so that
/// `fairlane report` needs no name to find it.
pub(crate) fn closing(findings: &Findings, record_path: Option<&str>, just_raced: bool, style: &Style) -> String {
    let mut out = String::new();
    let next = next_command(findings, record_path, just_raced).map(|line| as_typed(line, findings, style));
    if let Some(line) = &next {
        command(&mut out, words::NEXT, line, style);
    }
    if let Some(path) = record_path {
        // Behind a screening its proposal is raced, and then another record is the last.
        let report = if just_raced && findings.screening.is_none() {
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

/// The one command worth running next: resuming where the race did not end by itself; none while it runs. A report is
/// worth it only after a race: whoever reads one has it already.
pub(crate) fn next_command(findings: &Findings, record_path: Option<&str>, just_raced: bool) -> Option<String> {
    if findings.outcome == "running" {
        return None;
    }
    if let (Some(_), Some(path)) = (words::race::outcome(&findings.outcome), record_path) {
        return resume_command(findings, path);
    }
    // What to do about a screening is its proposal, once what comes behind its race is over.
    if let Some(finding) = &findings.screening {
        return record_path.filter(|_| finding.goes_on()).and_then(|path| resume_command(findings, path));
    }
    // Without a path nothing can be resumed.
    let resumes = |answer: &&model::findings::Answer| matches!(answer.settle, Some(Settle::Resume { .. }));
    if findings.answer.as_ref().is_some_and(|answer| resumes(&answer)) {
        return None;
    }
    let answer = findings.answer.as_ref().filter(|answer| match answer.next.first() {
        Some(command) => just_raced || command != "report",
        None => false,
    })?;
    Some(format!("fairlane {}", crate::clean::shell_line(&answer.next)))
}

/// A proposed command as whoever reads must type it: with `sudo` where it formats and mounts and he is not root.
pub(crate) fn as_typed(line: String, findings: &Findings, style: &Style) -> String {
    let mounts = |lane: &model::lane::Lane| matches!(lane.venue.as_str(), "image" | "device" | "memory");
    if findings.lanes.iter().any(mounts) { with_sudo(line, style) } else { line }
}

/// The same of a command whose lanes are formatted where no guest has them.
pub(crate) fn with_sudo(line: String, style: &Style) -> String {
    let races = ["fairlane race", "fairlane fio", "fairlane calibrate", "fairlane screen"]
        .iter()
        .any(|begin| line.starts_with(begin));
    let in_guest = ["@uml", "@qemu", "--on uml", "--on qemu"].iter().any(|word| line.contains(word));
    match style.sudo && races && !in_guest {
        true => format!("sudo {line}"),
        false => line,
    }
}

/// What goes on with a race, with what a record may not choose by itself: its lanes where they say more than a name, its
/// place, devices and programs that were allowed. `None`: its record was shared, is of a race
/// over MPI, or screens what is no lane, and goes on nowhere.
pub(crate) fn resume_command(findings: &Findings, path: &str) -> Option<String> {
    if model::plan::is_over_mpi(&findings.command_line) || is_untold(&findings.machine.machine_id_hash) {
        return None;
    }
    // Its lanes follow from the lane that is screened.
    if findings.screening.is_some() {
        let shown = |word: &String| match word.as_str() {
            THIS_RECORD => typed(path),
            word => crate::clean::shell_word(word),
        };
        let words: Vec<String> = words_to_go_on(findings).iter().map(shown).collect();
        return Some(format!("fairlane {}", words.join(" "))).filter(|_| !words.is_empty());
    }
    let mut line = format!("fairlane {}", words::race::resume(&typed(path)));
    let mut add = |words: &[&str]| {
        for word in words {
            line.push(' ');
            line.push_str(&crate::clean::shell_word(word));
        }
    };
    let lanes = || findings.lanes.iter().filter(|lane| !lane.is_self).map(|lane| lane.spec.as_str());
    let is_plain = |spec: &str| spec.chars().all(|c| c.is_ascii_alphanumeric() || c == '@' || c == '_');
    let can_be_typed = |spec: &str| spec.parse::<model::lane::LaneSpec>().is_ok();
    if lanes().all(can_be_typed) && !lanes().all(is_plain) {
        lanes().for_each(|spec| add(&[spec]));
    }
    typed_again(&findings.command_line).iter().for_each(|word| add(&[word]));
    Some(line)
}

/// Words of a race's command that a record may not choose by itself: its place, devices and programs that were allowed.
fn typed_again(command_line: &[String]) -> Vec<String> {
    let mut again: Vec<String> = Vec::new();
    let mut add = |words: &[&str]| again.extend(words.iter().map(|&word| word.to_owned()));
    let mut words = command_line.iter();
    while let Some(word) = words.next() {
        match (word.as_str(), word.split_once('=')) {
            ("--allow-programs", _) => add(&[word]),
            // A record that lies among nobody's own runs fio only where that is allowed again.
            ("--with-fio", _) => add(&["--allow-programs"]),
            ("--erase", _) => add(&["--erase", words.next().map_or("", String::as_str)]),
            ("--on", _) => add(&words.next().filter(|place| place.contains('/')).map_or(vec![], |on| vec!["--on", on])),
            ("--set", _) => {
                let socket =
                    words.next().filter(|set| set.split('=').next().is_some_and(|key| key.ends_with("socket")));
                add(&socket.map_or(vec![], |set| vec!["--set", set]));
            }
            // What stands behind it is a word for mkfs, which may look like an option.
            ("--option", _) => {
                words.next();
            }
            (_, Some(("--erase", _))) => add(&[word]),
            (_, Some(("--on", place))) if place.contains('/') => add(&[word]),
            _ => {}
        }
    }
    again
}

/// Stands for the record among the words of a command.
pub const THIS_RECORD: &str = "RECORD";

/// The words behind `fairlane` that go on with a screening, with what its record may not choose by itself; `RECORD` stands
/// for where that lies. None of a race that is no screening or was shared, or of a lane that nobody can screen.
pub fn words_to_go_on(findings: &Findings) -> Vec<String> {
    let here = findings.screening.as_ref().filter(|_| !is_untold(&findings.machine.machine_id_hash));
    let Some((screening, base)) = here.and_then(|of| Some((of, crate::screening::base(of)?))) else {
        return Vec::new();
    };
    let mut words = ["screen", base, "--resume", THIS_RECORD].map(str::to_owned).to_vec();
    let named = findings.command_line.windows(2).filter(|two| two[0] == "--option");
    let is_of_table = |text: &str| screening.factors.iter().any(|of| of.name == text && is_of_a_table(of));
    words.extend(named.filter(|two| !is_of_table(&two[1])).flat_map(|two| two.iter().cloned()));
    words.extend(typed_again(&findings.command_line));
    words
}

/// The same where something of the screening is left, and nobody is at it.
pub fn words_that_are_next(findings: &Findings) -> Vec<String> {
    let is_left = findings.screening.as_ref().is_some_and(|of| of.unfinished || of.goes_on());
    match is_left && findings.outcome != "running" {
        true => words_to_go_on(findings),
        false => Vec::new(),
    }
}

/// Whether an option that is named without levels is sure to be one of Fairlane's table, which are not typed again. A word for
/// mount and a flag of mkfs stand alone too, against saying nothing, and what sets the kernel is typed in any case.
fn is_of_a_table(factor: &Factor) -> bool {
    let sets_kernel = [&factor.usual, &factor.other].into_iter().chain(&factor.further).any(|of| !of.vm.is_empty());
    let may_be_a_word = (factor.usual.label.as_str(), factor.other.label.as_str()) == ("default", "on");
    !sets_kernel && !may_be_a_word
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
