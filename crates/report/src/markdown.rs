//! The report for a pull request or a README: the answer, one compact table, the rest folded away.

use crate::clean::{clean, name, shorten};
use crate::layout::{GLUE, Phrase, Tone};
use crate::words::operations as wording;
use crate::{
    Input, Style, advice, aged, answer, appenders, explanations, facts, figures, io500, ladder, layers, lines,
    operations, questions, ranks, screening, transactions, words,
};
use model::findings::{Findings, Limit, OperationRow, OperationsFinding, ResultFinding, ScreeningFinding};

/// Renders findings as GitHub's Markdown. Width and colour have no meaning here.
pub(crate) fn render(input: &Input, _: &Style) -> String {
    let findings = input.findings;
    if let Some(finding) = &findings.screening {
        return screened(input, finding);
    }
    let mut out = String::new();
    out.push_str(&format!("**{}:** {}\n\n", words::ANSWER_TITLE, phrase(&answer::sentence(findings), false)));
    for warning in findings.operations.iter().filter_map(words::operations::startup_warning) {
        out.push_str(&format!("> **{}:** {}.\n\n", words::WARNING_TITLE, escape(&warning)));
    }
    let (before, after) = lines::notes(findings);
    labelled(&mut out, words::NOTE_TITLE, before);
    questions::markdown(&mut out, findings);
    out.push('\n');
    labelled(&mut out, words::NOTE_TITLE, after);
    labelled(&mut out, words::OPEN_TITLE, answer::open(findings));
    let untested = answer::untested_list(findings).map(|list| list.say("."));
    labelled(&mut out, words::UNTESTED_TITLE, untested.into_iter().collect());
    for table in &findings.operations {
        totals(&mut out, table);
    }
    appenders::markdown(&mut out, findings);
    transactions::markdown(&mut out, findings);
    let told: Vec<String> = advice::brief(findings).iter().map(|line| phrase(line, false)).collect();
    if !told.is_empty() {
        let command = code(&advice::reasons_command(input.record_path), false);
        out.push_str(&format!("\n**{}:** {}. {command}\n", words::advice::ADVICE_TITLE, told.join("; ")));
    }
    if let Some(said) = facts::self_check(findings) {
        out.push_str(&format!("\n{}: {}.\n", words::SELF_CHECK_TITLE, phrase(&said, false)));
    }
    if let Some(next) = lines::next_command(findings, input.record_path, false) {
        out.push_str(&format!("\n{}: {}\n", words::NEXT_TITLE, code(&next, false)));
    }
    warnings(&mut out, &facts::warnings(input));
    verdicts(&mut out, findings);
    for table in &findings.operations {
        steps(&mut out, findings, table);
    }
    measured(&mut out, findings);
    layers::markdown(&mut out, findings);
    aged::markdown(&mut out, findings);
    io500::markdown(&mut out, findings);
    ladder::markdown(&mut out, findings);
    ranks::markdown(&mut out, findings);
    if explanations::has_shares(findings) {
        open(&mut out, words::EXPLAINED_TITLE);
        explanations::markdown(&mut out, findings, escape);
        close(&mut out);
    }
    ground(&mut out, input);
    out
}

/// A screening: its lanes are runs of a design, so that all that is told is of its options; their figures are folded away.
fn screened(input: &Input, finding: &ScreeningFinding) -> String {
    let findings = input.findings;
    let mut out = format!("**{}:** {}\n\n", words::ANSWER_TITLE, phrase(&answer::sentence(findings), false));
    let (before, after) = lines::notes(findings);
    labelled(&mut out, words::NOTE_TITLE, before);
    labelled(&mut out, words::NOTE_TITLE, after);
    let untested = answer::untested_list(findings).map(|list| list.say("."));
    labelled(&mut out, words::UNTESTED_TITLE, untested.into_iter().collect());
    screening::markdown(&mut out, finding);
    if let Some(next) = lines::next_command(findings, input.record_path, false) {
        out.push_str(&format!("\n{}: {}\n", words::NEXT_TITLE, code(&next, false)));
    }
    warnings(&mut out, &facts::warnings(input));
    measured(&mut out, findings);
    ground(&mut out, input);
    out
}

/// Sentences in one paragraph, as the terminal says them below a label.
fn labelled(out: &mut String, label: &str, said: Vec<Phrase>) {
    if !said.is_empty() {
        let said: Vec<String> = said.iter().map(|one| phrase(one, false)).collect();
        out.push_str(&format!("**{label}:** {}\n\n", said.join(" ")));
    }
}

/// Every verdict with its interval.
fn verdicts(out: &mut String, findings: &Findings) {
    let results = operations::others(findings);
    let ceilings = words::facts::ceilings(&findings.ceilings);
    if results.is_empty() && ceilings.is_none() {
        return;
    }
    open(out, words::VERDICTS_TITLE);
    for result in results {
        out.push_str(&format!(
            "- {}: {}.\n",
            escape(&metric(result, findings)),
            phrase(&lines::verdict(result, None).body, false)
        ));
    }
    if let Some(said) = ceilings {
        let in_page_cache = findings.ceilings.iter().any(|ceiling| ceiling.in_page_cache);
        let label = if in_page_cache { words::GUEST_CEILING_TITLE } else { words::DISK_CEILING_TITLE };
        out.push_str(&format!("- {label}: {}.\n", phrase(&said, false)));
    }
    close(out);
}

fn warnings(out: &mut String, warnings: &[String]) {
    if warnings.is_empty() {
        return;
    }
    open(out, &format!("{} ({})", words::WARNINGS_TITLE, warnings.len()));
    for warning in warnings {
        out.push_str(&format!("- {}.\n", escape(&shorten(warning, 800))));
    }
    close(out);
}

fn measured(out: &mut String, findings: &Findings) {
    let results = operations::with_figures(findings);
    if results.is_empty() && !(findings.operations.is_empty() && findings.searches.is_empty()) {
        return;
    }
    open(out, words::FIGURES_TITLE);
    let figures: Vec<_> = results
        .iter()
        .flat_map(|result| result.estimates.iter().map(move |estimate| facts::cells(result, estimate)))
        .collect();
    let loads: Vec<_> = results.iter().flat_map(|result| &result.estimates).map(facts::load).collect();
    let loaded: [bool; words::columns::LOAD_COLUMNS.len()] =
        std::array::from_fn(|at| loads.iter().any(|of| of[at].is_some()));
    // Percentiles that nobody has are left out; the other columns stand in every report.
    let shown: [bool; words::columns::COLUMNS.len()] = std::array::from_fn(|at| {
        !words::columns::SELDOM_COLUMNS.contains(&at) || figures.iter().any(|of| of[at].is_some())
    });
    let legend = words::columns::figures_legend(findings.margin, &shown);
    let of_load = if loaded.contains(&true) { words::columns::LOAD_LEGEND } else { "" };
    out.push_str(&format!("{}\n\n", escape(&format!("{legend}{of_load}"))));
    let columns = || {
        let load = words::columns::LOAD_COLUMNS.iter().zip(loaded);
        words::columns::COLUMNS.iter().zip(shown).chain(load).filter(|(_, shown)| *shown).map(|(name, _)| *name)
    };
    let mut header = vec![words::COLUMN_WORKLOAD, words::columns::COLUMN_LANE, words::columns::COLUMN_FIGURE];
    header.extend(columns());
    row(out, &header.iter().map(|cell| (*cell).to_owned()).collect::<Vec<_>>());
    row(
        out,
        &header.iter().enumerate().map(|(i, _)| if i < 2 { "---" } else { "---:" }.to_owned()).collect::<Vec<_>>(),
    );
    for result in &results {
        for estimate in &result.estimates {
            let mut cells = vec![escape(&subject(result, findings)), code(&name(&estimate.lane), true)];
            match &estimate.failure {
                Some(_) if operations::is_missing(findings, result, &estimate.lane) => {
                    cells.push(wording::MISSING.to_owned());
                    cells.extend(columns().map(|_| String::new()));
                }
                Some(reason) => {
                    cells.push(format!("{}: {}", words::FAILED, escape(&words::sentence(reason))));
                    cells.extend(columns().map(|_| String::new()));
                }
                None => {
                    cells.push(escape(&facts::figure(result, estimate)));
                    let load = facts::load(estimate).into_iter().zip(loaded);
                    let figures = facts::cells(result, estimate).into_iter().zip(shown).chain(load);
                    let figures = figures.filter(|(_, shown)| *shown);
                    cells.extend(figures.map(|(cell, _)| cell.map(|cell| escape(&cell)).unwrap_or_default()));
                }
            }
            row(out, &cells);
        }
    }
    let reasons = results.iter().filter(|result| !result.limit_reason.trim().is_empty());
    let reasons: Vec<String> = reasons
        .map(|result| {
            let heading = words::columns::result_heading(
                result,
                &facts::title(result),
                facts::group_of(result, &findings.results),
            );
            format!("- {}.\n", phrase(&heading, false))
        })
        .collect();
    if !reasons.is_empty() {
        out.push('\n');
        out.push_str(&reasons.concat());
    }
    close(out);
}

/// A workload of file operations as a whole: the time of all steps, and what they say of each pair.
fn totals(out: &mut String, table: &OperationsFinding) {
    out.push_str(&format!("\n{}\n\n", heading(&wording::heading(table))));
    let lanes: Vec<&str> = table.totals.iter().map(|total| total.lane.as_str()).collect();
    let mut header = vec![String::new()];
    header.extend(lanes.iter().map(|lane| code(&name(lane), true)));
    row(out, &header);
    row(
        out,
        &header.iter().enumerate().map(|(at, _)| if at == 0 { "---" } else { "---:" }.to_owned()).collect::<Vec<_>>(),
    );
    for (label, cells) in operations::totals(table) {
        let times = cells.iter().map(|(_, seconds)| seconds.map_or("–".to_owned(), |of| escape(&figures::time(of))));
        row(out, &std::iter::once(escape(&label)).chain(times).collect::<Vec<_>>());
    }
    out.push('\n');
    for line in operations::pairs(table).into_iter().chain(operations::failures(table)) {
        out.push_str(&format!("- {}.\n", phrase(&line, false)));
    }
    if let Some(chance) = wording::by_chance(table) {
        out.push_str(&format!("- {}.\n", escape(&chance)));
    }
}

/// Its steps: a table per section.
fn steps(out: &mut String, findings: &Findings, table: &OperationsFinding) {
    open(out, &html(&wording::every_step(table)));
    out.push_str(&format!("{}\n", phrase(&wording::legend(findings, table), false)));
    let lanes: Vec<&str> = table.totals.iter().map(|total| total.lane.as_str()).collect();
    let contestants = operations::contestants(table);
    for (section, rows) in operations::sections(table) {
        let section = if section.trim().is_empty() { wording::UNNAMED_SECTION } else { section };
        let mut header = vec![format!("**{}**", escape(&shorten(section, 60)))];
        header.extend(lanes.iter().map(|lane| code(&name(lane), true)));
        header.extend((!contestants.is_empty()).then(|| phrase(&wording::against(&table.reference), true)));
        out.push('\n');
        row(out, &header);
        let rule = header.iter().enumerate();
        row(
            out,
            &rule
                .map(|(at, _)| if (1..=lanes.len()).contains(&at) { "---:" } else { "---" }.to_owned())
                .collect::<Vec<_>>(),
        );
        for of in &rows {
            let mut cells = vec![escape(&shorten(&of.group, 80))];
            let shares: Vec<f64> = of.figures.iter().filter_map(|figure| figure.process_startup_share).collect();
            if let Some(startup) = wording::startup(&shares) {
                cells[0].push_str(&format!("<br>{}", escape(&startup)));
            }
            cells.extend(lanes.iter().map(|lane| step_cell(table, of, lane)));
            if !contestants.is_empty() {
                cells.push(step_verdicts(findings, table, of, &contestants));
            }
            row(out, &cells);
        }
        for limit in operations::limits(findings, table, &rows) {
            out.push_str(&format!("\n{}.\n", escape(&limit)));
        }
    }
    close(out);
}

/// A lane's figures of one step.
fn step_cell(table: &OperationsFinding, of: &OperationRow, lane: &str) -> String {
    let Some(figure) = of.figures.iter().find(|figure| figure.lane == lane) else { return "–".to_owned() };
    let parts = [
        operations::time(table, figure),
        operations::throughput(figure),
        figure.floor_share.map(wording::floor).unwrap_or_default(),
    ];
    let parts: Vec<String> = parts.iter().filter(|part| !part.is_empty()).map(|part| escape(part)).collect();
    parts.join("<br>")
}

/// The verdicts of one step, a line for each lane but the reference.
fn step_verdicts(findings: &Findings, table: &OperationsFinding, of: &OperationRow, contestants: &[&str]) -> String {
    let Some(result) = operations::result_of(findings, table, of) else { return String::new() };
    let harness = result.limit == Limit::Harness;
    let named = contestants.len() > 1 && !harness;
    let verdicts = contestants.iter().filter_map(|lane| operations::verdict(result, lane, &table.reference, named));
    let shown: Vec<String> =
        verdicts.take(if harness { 1 } else { usize::MAX }).map(|verdict| phrase(&verdict, true)).collect();
    shown.join("<br>")
}

/// A line in bold, its first words alone where it has several parts.
fn heading(of: &Phrase) -> String {
    let span = |span: &crate::layout::Span| match span.tone {
        Tone::Label => format!("**{}**", escape(&span.text)),
        Tone::Name => code(&span.text, false),
        _ => escape(&span.text),
    };
    of.spans.iter().map(span).collect()
}

fn ground(out: &mut String, input: &Input) {
    let findings = input.findings;
    open(out, words::GROUND_TITLE);
    out.push_str(&format!("{}.\n", phrase(&words::facts::machine(&findings.machine), false)));
    if let Some(null) = words::facts::null_ceiling(&findings.ceilings) {
        out.push_str(&format!("{}.\n", escape(&null)));
    }
    out.push('\n');
    for lane in &findings.lanes {
        let facts = words::facts::lane(lane);
        let mut parts = Vec::new();
        parts.extend(facts.mkfs.as_deref().map(|mkfs| code(mkfs, false)));
        parts.extend(facts.mount_options.as_deref().map(|options| code(&format!("mount -o {options}"), false)));
        parts.push(escape(&facts.rest));
        out.push_str(&format!("- {}: {}\n", code(&name(&lane.name), false), parts.join("; ")));
    }
    for note in facts::notes(input) {
        out.push_str(&format!("- {}.\n", escape(&note)));
    }
    let counts = &findings.trials;
    let version = words::race::seed_and_version(findings.seed, &input.record.header.version);
    let origin = words::race::origin(&findings.imported, &findings.started);
    let origin = if origin.is_empty() { origin } else { format!("; {}", escape(&origin)) };
    out.push_str(&format!(
        "\n{}: {}; {}{origin}.\n\n{}: {}\n",
        words::TRIALS_TITLE,
        words::race::trials(counts),
        escape(&version),
        words::AGAIN_TITLE,
        code(&facts::again(findings), false),
    ));
    close(out);
}

/// Text within HTML, where Markdown's backslashes would be shown.
pub(crate) fn html(text: &str) -> String {
    clean(text).replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

pub(crate) fn open(out: &mut String, title: &str) {
    out.push_str(&format!("\n<details><summary>{title}</summary>\n\n"));
}

pub(crate) fn close(out: &mut String) {
    out.push_str("\n</details>\n");
}

pub(crate) fn row(out: &mut String, cells: &[String]) {
    out.push_str(&format!("| {} |\n", cells.join(" | ")));
}

fn subject(result: &ResultFinding, findings: &Findings) -> String {
    match facts::group_of(result, &findings.results) {
        Some(group) => format!("{}, {}", facts::title(result), shorten(group, 40)),
        None => facts::title(result),
    }
}

/// The subject, and which latency it is about.
fn metric(result: &ResultFinding, findings: &Findings) -> String {
    let subject = subject(result, findings);
    words::latency(&result.metric).map_or(subject.clone(), |latency| format!("{subject}, {latency}"))
}

/// A phrase as Markdown: lanes' names as code, the rest escaped.
pub(crate) fn phrase(phrase: &Phrase, in_table: bool) -> String {
    phrase
        .spans
        .iter()
        .map(|span| if span.tone == Tone::Name { code(&span.text, in_table) } else { escape(&span.text) })
        .collect()
}

/// Text as code that nothing inside can close.
pub(crate) fn code(text: &str, in_table: bool) -> String {
    let text = clean(text).replace(GLUE, " ");
    if in_table && text.contains('|') {
        // In a table a pipe ends the cell even inside a code span, and renderers disagree on what
        // undoes a backslash before it: an element with entities means the same to all of them.
        let entity = |c: char| if c.is_ascii_punctuation() { format!("&#{};", u32::from(c)) } else { c.to_string() };
        return format!("<code>{}</code>", text.chars().map(entity).collect::<String>());
    }
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest + 1);
    // Markdown takes one space off each side of a span that begins and ends with one.
    let pad = if text.starts_with(['`', ' ']) || text.ends_with(['`', ' ']) || text.is_empty() { " " } else { "" };
    format!("{fence}{pad}{text}{pad}{fence}")
}

/// Plain text, whatever it holds: no HTML, no link, no mention, no table cell of its own.
pub(crate) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in clean(text).replace(GLUE, " ").chars() {
        match character {
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            '|' => out.push_str("&#124;"),
            // An empty comment breaks what would become a mention or a link by itself.
            '@' => out.push_str("@<!-- -->"),
            '\\' | '`' | '*' | '_' | '[' | ']' | '#' | '~' | '!' | '$' => {
                out.push('\\');
                out.push(character);
            }
            other => out.push(other),
        }
    }
    out.replace("://", ":<!-- -->//").replace("www.", "www<!-- -->.")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_name_escapes_its_code_span_or_cell() {
        assert_eq!(code("a`b``c", false), "```a`b``c```");
        assert_eq!(code("`x", true), "`` `x ``");
        assert_eq!(code("a|b\\", true), "<code>a&#124;b&#92;</code>");
        assert_eq!(code("a|b", false), "`a|b`");
        assert_eq!(code("a\n|</code>", true), "<code>a &#124;&#60;&#47;code&#62;</code>");
    }

    #[test]
    fn text_becomes_no_markup_link_or_mention() {
        assert_eq!(
            escape("<script>|*x*_y_ @me [a](https://b) ![i] www.c"),
            r"&lt;script&gt;&#124;\*x\*\_y\_ @<!-- -->me \[a\](https:<!-- -->//b) \!\[i\] www<!-- -->.c"
        );
    }
}
