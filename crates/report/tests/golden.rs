//! Reports compared with files that a person has read: `UPDATE_GOLDEN=1 cargo test -p report`
//! writes them anew, and the difference is then reviewed like any other change.

use crate::common;

use common::{RECORD_PATH, advice, gates, jobs, memos, operations, races, record, screenings, told};
use model::findings::{Findings, Verdict};
use model::page::Language;
use report::{FORMATS, Input, Purpose, Render, Style};
use std::path::Path;

fn assert_golden(name: &str, text: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(format!("{name}.txt"));
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(&path, text).unwrap();
    }
    let golden = std::fs::read_to_string(&path).unwrap_or_default();
    if golden != text {
        let line = golden.lines().zip(text.lines()).position(|(old, new)| old != new);
        let line = line.unwrap_or(golden.lines().count().min(text.lines().count()));
        panic!(
            "{} differs from line {}:\n  golden:   {:?}\n  rendered: {:?}\nUPDATE_GOLDEN=1 writes it anew",
            path.display(),
            line + 1,
            golden.lines().nth(line).unwrap_or("(no such line)"),
            text.lines().nth(line).unwrap_or("(no such line)"),
        );
    }
}

fn rendered(findings: &Findings, format: &str, style: &Style) -> String {
    let record = if findings.suite == "mail.fio" { jobs::record_of(findings) } else { record(findings) };
    let input = Input { findings: &told(findings), record: &record, record_path: Some(RECORD_PATH) };
    report::render(&input, format, style).unwrap()
}

fn all_races() -> Vec<(&'static str, Findings)> {
    vec![
        ("three", races::three()),
        ("promises", races::promises()),
        ("with-self", races::with_self()),
        ("alone", races::alone()),
        ("interrupted", races::interrupted()),
        ("hostile", races::hostile()),
        ("five", races::five()),
        ("nothing", races::nothing()),
        ("disks", races::disks()),
        ("jobs", races::jobs()),
        ("operations", operations::five()),
        ("operations-two", operations::two()),
        ("as-published", operations::as_published()),
        ("general", operations::general()),
        ("library", operations::library()),
        ("advised", advice::race()),
        ("screening", screenings::screened(screenings::finding())),
        ("screening-kept", screenings::screened(screenings::kept())),
    ]
}

#[test]
fn advice_reads_as_reviewed() {
    let report = advice::report();
    let render =
        |format: &str, style: &Style, whole: bool| report::render_advice(&report, format, style, whole).unwrap();
    assert_golden("advice-text", &render("text", &Style::default(), true));
    assert_golden("advice-text-50", &render("text", &Style { colour: false, width: 50, ..Style::default() }, true));
    assert_golden("advice-markdown", &render("markdown", &Style::default(), true));
    assert_golden("advice-short-text", &render("text", &Style::default(), false));
    assert_golden("advice-short-markdown", &render("markdown", &Style::default(), false));
    let json: model::findings::AdviceReport =
        serde_json::from_str(&render("json", &Style::default(), false)).expect("advice reads back");
    assert_eq!(json, report);
    let refused = report::render_advice(&report, "csv", &Style::default(), true).unwrap_err().to_string();
    assert_eq!(refused, "there is no advice in format `csv`; choose one of text, markdown, json");
}

#[test]
fn advice_fits_every_terminal() {
    for width in [40, 50, 80, 100, 140] {
        let style = Style { colour: false, width, ..Style::default() };
        let text = report::render_advice(&advice::report(), "text", &style, true).unwrap();
        // Commands are never wrapped: they must survive being copied.
        let wide = text.lines().filter(|line| line.chars().count() > width && !line.contains("fairlane race"));
        assert_eq!(wide.collect::<Vec<_>>(), Vec::<&str>::new(), "{width}");
    }
}

#[test]
fn text_reports_read_as_reviewed() {
    for (name, findings) in all_races() {
        assert_golden(&format!("text-{name}"), &rendered(&findings, "text", &Style::default()));
    }
}

/// The page words verdicts by itself (`ui/src/words`), in three languages: its own tests compare what it says of
/// these results with the Markdown of the same races.
#[test]
fn results_of_these_races_are_there_for_the_pages_own_tests() {
    let judged = |of: &Findings| of.operations.is_empty() && of.screening.is_none();
    let alone = all_races().into_iter().filter(|(name, of)| judged(of) && *name != "hostile");
    let line = |(name, of): (&str, Findings)| {
        format!("{}\n", serde_json::json!({ "race": name, "results": told(&of).results }))
    };
    assert_golden("results", &alone.map(line).collect::<String>());
}

#[test]
fn a_wide_and_a_narrow_terminal_are_filled_and_never_exceeded() {
    let findings = races::three();
    assert_golden(
        "text-three-140",
        &rendered(&findings, "text", &Style { colour: false, width: 140, ..Style::default() }),
    );
    let piped = Style { piped: true, ..Style::default() };
    assert_golden("text-three-pipe", &rendered(&findings, "text", &piped));
    assert_golden(
        "text-three-50",
        &rendered(&findings, "text", &Style { colour: false, width: 50, ..Style::default() }),
    );
}

#[test]
fn a_table_of_operations_fits_terminals_of_eighty_and_of_fifty_columns() {
    let at = |width: usize| Style { colour: false, width, ..Style::default() };
    for (name, findings) in [("operations", operations::five()), ("operations-two", operations::two())] {
        assert_golden(&format!("text-{name}-80"), &rendered(&findings, "text", &at(80)));
    }
    assert_golden("text-as-published-50", &rendered(&operations::as_published(), "text", &at(50)));
}

#[test]
fn a_pipe_cuts_no_title_and_a_terminal_breaks_it() {
    let mut findings = races::three();
    let title = "random overwrite 4 KiB, direct, 32 in flight, data 2.7:1";
    findings.results[4].title = title.to_owned();
    let row = |text: &str| text.lines().find(|line| line.contains("70.1k")).unwrap_or_default().to_owned();
    let piped = rendered(&findings, "text", &Style { piped: true, ..Style::default() });
    assert!(row(&piped).starts_with(title), "{piped}");
    let narrow = rendered(&findings, "text", &Style { width: 80, ..Style::default() });
    let table = narrow.split("NOTE").next().unwrap_or_default().split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(table.contains(title) && !table.contains('…'), "{narrow}");
}

#[test]
fn markdown_has_the_rows_and_the_marks_of_the_terminal() {
    let mut findings = operations::two();
    findings.results[0].pairs.iter_mut().for_each(|pair| pair.verdict = Verdict::Undecided);
    let markdown = rendered(&findings, "markdown", &Style::default());
    for row in &findings.operations[0].rows {
        assert!(markdown.contains(&format!("| &emsp;{} |", row.group)), "{}: {markdown}", row.group);
    }
    let mut findings = races::three();
    (findings.results[0].pairs[0].low, findings.results[0].pairs[0].high) = (Some(0.02), Some(61.0));
    findings.results[0].pairs[0].verdict = Verdict::Undecided;
    findings.results[4].pairs.iter_mut().for_each(|pair| pair.over_race = false);
    for format in ["text", "markdown"] {
        let said = rendered(&findings, format, &Style::default()).replace('\\', "");
        for mark in ["? too noisy", "~3.6x slower", "? -3 to +9 %", "too noisy: 3x slower to 3x faster is possible"] {
            assert!(said.contains(mark), "{format}, {mark}: {said}");
        }
    }
}

#[test]
fn colours_stand_where_reviewed() {
    let coloured = rendered(&races::three(), "text", &Style { colour: true, width: 100, ..Style::default() });
    assert_golden("text-three-colour", &coloured.replace('\u{1b}', "␛"));
}

#[test]
fn markdown_reports_read_as_reviewed() {
    for (name, findings) in all_races() {
        assert_golden(&format!("markdown-{name}"), &rendered(&findings, "markdown", &Style::default()));
    }
}

fn memo(findings: &Findings, language: Language) -> String {
    let record = if findings.suite == "mail.fio" { jobs::record_of(findings) } else { record(findings) };
    let input = Input { findings: &told(findings), record: &record, record_path: Some(RECORD_PATH) };
    let Render::Spoken(render) = report::format_named("memo").unwrap().render else { panic!("no memo") };
    render(&input, language)
}

fn all_memos() -> Vec<(&'static str, Findings)> {
    let mut all = all_races();
    all.extend([("at-the-disk", memos::at_the_disk()), ("noisy", memos::noisy()), ("twelve", memos::twelve())]);
    all
}

#[test]
fn memos_read_as_reviewed_in_every_language() {
    for (language, code) in [(Language::En, "en"), (Language::Zh, "zh"), (Language::De, "de")] {
        for (name, findings) in all_memos() {
            assert_golden(&format!("memo-{code}-{name}"), &memo(&findings, language));
        }
    }
    assert_eq!(rendered(&races::three(), "memo", &Style::default()), memo(&races::three(), Language::En));
}

#[test]
fn a_memo_is_one_page_whose_sentences_were_all_filled_in() {
    for language in [Language::En, Language::Zh, Language::De] {
        for (name, findings) in all_memos() {
            let text = memo(&findings, language);
            assert!(text.lines().count() <= 45, "{name}: {}", text.lines().count());
            let wide = text.lines().find(|line| unicode_width::UnicodeWidthStr::width(*line) > 90);
            assert_eq!(wide, None, "{name}");
            assert!(!text.contains(['{', '}']), "{name}: {text}");
        }
    }
}

#[test]
fn csv_and_json_are_as_reviewed() {
    assert_golden("json-as-published", &rendered(&operations::as_published(), "json", &Style::default()));
    for (name, findings) in [("three", races::three()), ("hostile", races::hostile())] {
        assert_golden(&format!("csv-{name}"), &rendered(&findings, "csv", &Style::default()));
        assert_golden(&format!("json-{name}"), &rendered(&findings, "json", &Style::default()));
    }
}

#[test]
fn comparisons_read_as_reviewed() {
    for format in &FORMATS {
        let Ok(text) = (format.compare)(&races::comparison(), &Style::default()) else {
            assert!(!format.purposes.contains(&Purpose::Comparison), "{} is offered for comparisons", format.name);
            continue;
        };
        assert!(format.purposes.contains(&Purpose::Comparison), "{}", format.name);
        assert_golden(&format!("comparison-{}", format.name), &text);
    }
    let narrow = Style { colour: false, width: 60, ..Style::default() };
    let text = report::render_comparison(&races::comparison(), "text", &narrow).unwrap();
    assert_golden("comparison-text-60", &text);
    let steps = report::render_comparison(&races::comparison_of_steps(), "text", &Style::default()).unwrap();
    assert_golden("comparison-steps", &steps);
}

#[test]
fn gates_read_as_reviewed() {
    for format in &FORMATS {
        let Ok(text) = (format.gate)(&gates::failing(), &Style::default()) else {
            assert!(!format.purposes.contains(&Purpose::Gate), "{} is offered for gates", format.name);
            continue;
        };
        assert!(format.purposes.contains(&Purpose::Gate), "{}", format.name);
        assert_golden(&format!("gate-{}", format.name), &text);
    }
    for (name, gate) in [("passing", gates::passing()), ("single", gates::single())] {
        for format in ["text", "markdown"] {
            let text = report::render_gate(&gate, format, &Style::default()).unwrap();
            assert_golden(&format!("gate-{name}-{format}"), &text);
        }
    }
    let narrow = Style { colour: false, width: 60, ..Style::default() };
    assert_golden("gate-text-60", &report::render_gate(&gates::failing(), "text", &narrow).unwrap());
    let closing = report::gate_closing(&gates::failing(), &Style::default());
    assert_golden("gate-closing", &closing);
    assert!(report::render_gate(&gates::failing(), "text", &Style::default()).unwrap().ends_with(&closing));
}

/// What docs/report.md asks of a table is there; pandas and DuckDB have run its examples.
#[test]
fn the_columns_that_the_examples_of_the_documents_read_exist() {
    let examples = include_str!("../../../docs/report.md");
    let table = rendered(&races::three(), "csv", &Style::default());
    let columns: Vec<&str> = table.lines().next().unwrap().split(',').collect();
    let read = "record_started seed suite workload group lane round attempt outcome metric value primary window_seconds \
                loops kernel cpu machine_id_hash";
    for column in read.split_whitespace() {
        assert!(columns.contains(&column) && examples.contains(column), "{column}: {columns:?}");
    }
}

#[test]
fn what_compares_code_and_no_disk_says_so_above_the_verdicts() {
    let mut findings = races::three();
    let said = "this race compares the filesystems' code, not your disk";
    let plain = |text: String| text.split_whitespace().collect::<Vec<_>>().join(" ").replace('\\', "").to_lowercase();
    let shown = |findings: &Findings, format: &str| plain(rendered(findings, format, &Style::default()));
    for format in ["text", "markdown", "memo"] {
        assert!(!shown(&findings, format).contains(said), "{format}");
    }
    findings.code_only = Some(said.into());
    findings.ceilings.iter_mut().for_each(|ceiling| ceiling.in_page_cache = true);
    for format in ["text", "markdown", "memo"] {
        let text = shown(&findings, format);
        let at = text.find(said).unwrap_or_else(|| panic!("{format}: {text}"));
        // The memo names no ceiling.
        if format != "memo" {
            let ceiling = text.find("guest ceiling").unwrap_or_else(|| panic!("{format}: {text}"));
            assert!(at < ceiling && !text.contains("disk ceiling"), "{format}: {text}");
        }
    }
}
