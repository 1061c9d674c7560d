//! Whatever stands in a record, no report obeys it.

use crate::common;

use common::{gates, operations, races, record, told};
use model::findings::{Comparison, ComparisonRow, Findings, Verdict};
use model::kinds::foreign;
use model::page::{Language, Trend, TrendPoint};
use proptest::prelude::*;
use report::{FORMATS, Input, Render, Style};

fn rendered(findings: &Findings, format: &str, width: usize) -> String {
    let record = record(findings);
    let input = Input { findings: &told(findings), record: &record, record_path: Some("/tmp/a\u{1b}[2J b.jsonl") };
    report::render(&input, format, &Style { colour: false, width, ..Style::default() }).unwrap()
}

/// What no terminal may be sent: controls and the characters that reorder text.
fn obeyed(character: char) -> bool {
    (character.is_control() && character != '\n')
        || matches!(character, '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}' | '\u{200E}' | '\u{200F}' | '\u{2028}')
}

/// A race in which one string stands wherever a string may stand.
fn filled_with(text: &str) -> Findings {
    let mut findings = races::three();
    let renamed = |lane: &str| if lane == "xfs" { text.to_owned() } else { lane.to_owned() };
    for lane in &mut findings.lanes {
        lane.name = renamed(&lane.name);
        lane.venue = text.to_owned();
        lane.mkfs_command.push(text.to_owned());
        lane.mount_options.push(text.to_owned());
        lane.geometry.push(text.to_owned());
    }
    for result in &mut findings.results {
        result.limit_reason = text.into();
        result.warnings.push(text.into());
        for estimate in &mut result.estimates {
            estimate.lane = renamed(&estimate.lane);
        }
        for pair in &mut result.pairs {
            (pair.a, pair.b) = (renamed(&pair.a), renamed(&pair.b));
            pair.why = Some(text.into());
        }
        for lane in result.ranking.iter_mut().flatten() {
            *lane = renamed(lane);
        }
    }
    findings.results[1].title = text.to_owned();
    findings.results[1].workload = text.to_owned();
    findings.results[2].pairs[0].verdict = Verdict::None;
    findings.results[3].estimates[0].failure = Some(text.into());
    let answer = findings.answer.as_mut().unwrap();
    answer.choose = vec![text.to_owned()];
    answer.undecided = vec![text.to_owned()];
    answer.not_tested = vec![text.into()];
    answer.next.push(text.to_owned());
    findings.command_line.push(text.to_owned());
    findings.outcome = text.to_owned();
    findings.suite = text.to_owned();
    findings.warnings = vec![text.into()];
    findings.machine.device.model = text.to_owned();
    findings
}

/// A table of file operations in which one string stands wherever a string may stand.
fn steps_filled_with(text: &str) -> Findings {
    let mut findings = operations::five();
    let renamed = |lane: &mut String| {
        if lane == "xfs" || lane == "tmpfs" {
            *lane = format!("{lane}{text}");
        }
    };
    findings.lanes.iter_mut().for_each(|lane| renamed(&mut lane.name));
    for result in &mut findings.results {
        if result.group == "stat 100" {
            result.group = text.to_owned();
        }
        result.section = Some(text.to_owned());
        result.estimates.iter_mut().for_each(|of| renamed(&mut of.lane));
        for pair in &mut result.pairs {
            renamed(&mut pair.a);
            renamed(&mut pair.b);
            pair.why = Some(text.into());
        }
    }
    let table = &mut findings.operations[0];
    table.title = text.to_owned();
    table.warnings = vec![text.into()];
    table.process_startup_share = Some(0.9);
    table.floor.iter_mut().for_each(renamed);
    for row in &mut table.rows {
        if row.group == "stat 100" {
            row.group = text.to_owned();
            row.figures[2].failure = Some(text.into());
        }
        if row.section == "metadata" {
            row.section = text.to_owned();
        }
        row.figures.iter_mut().for_each(|of| renamed(&mut of.lane));
    }
    table.totals.iter_mut().for_each(|of| renamed(&mut of.lane));
    for pair in &mut table.pairs {
        renamed(&mut pair.a);
        renamed(&mut pair.b);
        pair.why = Some(text.into());
    }
    findings
}

/// Texts that have hurt somebody's report before, and any other.
fn texts() -> impl Strategy<Value = String> {
    let nasty = prop::sample::select(vec![
        "\u{1b}[2J",
        "\u{9b}31m",
        "\u{202e}",
        "\r",
        "\n",
        "|",
        "\\|",
        "`",
        "```",
        "<script>",
        "</details>",
        "&lt;",
        "](http://x)",
        "@all",
        "=1+1",
        "'",
        "\"",
        ",",
        ";",
        "\u{0}",
        "文",
        "e\u{301}",
        "\u{2028}",
        "$(x)",
        " ",
    ]);
    prop::collection::vec(prop_oneof![nasty.prop_map(str::to_owned), any::<String>()], 0..8)
        .prop_map(|parts| parts.concat())
}

/// The signs that end cells, of each row of each table.
fn cells_of_tables(markdown: &str) -> Vec<Vec<usize>> {
    let mut tables: Vec<Vec<usize>> = Vec::new();
    let mut inside = false;
    for line in markdown.lines() {
        let is_row = line.starts_with('|');
        if is_row && !inside {
            tables.push(Vec::new());
        }
        inside = is_row;
        if let Some(table) = tables.last_mut().filter(|_| is_row) {
            table.push(line.matches('|').count());
        }
    }
    tables
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_string_reaches_a_terminal_as_a_command(text in texts()) {
        let findings = filled_with(&text);
        // fio's JSON is made of block I/O and IO500's result of its phases, which these races lack: their own tests are hostile too.
        // A page is written for a browser: tests of its own read it back.
        for format in FORMATS.iter().filter(|format| !["fio-json", "io500", "junit", "memo", "html"].contains(&format.name)) {
            let out = rendered(&findings, format.name, 100);
            let csv = format.name == "csv";
            prop_assert!(!out.chars().any(|c| obeyed(c) && !(csv && c == '\r')), "{}: {:?}", format.name, out);
        }
    }

    #[test]
    fn no_string_of_a_gate_is_obeyed_and_text_keeps_to_its_width(text in texts(), width in 40usize..160) {
        let gate = gates::filled_with(&text);
        for format in FORMATS.iter().filter(|format| !["fio-json", "io500", "memo", "html"].contains(&format.name)) {
            let out = report::render_gate(&gate, format.name, &Style { colour: false, width, ..Style::default() }).unwrap();
            let csv = format.name == "csv";
            prop_assert!(!out.chars().any(|c| obeyed(c) && !(csv && c == '\r')), "{}: {:?}", format.name, out);
            if format.name == "text" {
                for line in out.lines().filter(|line| !line.starts_with("  again") && !line.starts_with("GATE ")) {
                    let columns = unicode_width::UnicodeWidthStr::width(line);
                    prop_assert!(columns <= width, "{} > {}: {:?}", columns, width, line);
                }
            }
            if format.name == "markdown" {
                let rows: Vec<&str> = out.lines().filter(|line| line.starts_with('|')).collect();
                prop_assert_eq!(rows.len(), 8 + 2);
                prop_assert!(rows.iter().all(|row| row.matches('|').count() == 6), "{}", out);
                prop_assert_eq!(without_code(&out).matches("</details>").count(), 1);
            }
        }
    }

    #[test]
    fn a_memo_keeps_to_its_page_and_obeys_nothing(text in texts()) {
        for (findings, language) in [
            (filled_with(&text), Language::En),
            (filled_with(&text), Language::Zh),
            (steps_filled_with(&text), Language::De),
        ] {
            let record = record(&findings);
            let input = Input { findings: &told(&findings), record: &record, record_path: Some("/tmp/a\u{1b}[2J b.jsonl") };
            let Render::Spoken(render) = report::format_named("memo").unwrap().render else { panic!("no memo") };
            let out = render(&input, language);
            prop_assert!(!out.chars().any(obeyed), "{:?}", out);
            prop_assert!(out.lines().count() <= 45, "{}", out);
            for line in out.lines() {
                prop_assert!(unicode_width::UnicodeWidthStr::width(line) <= 90, "{:?}", line);
            }
            // The command at the end is a block of code; everything before it is text.
            let before = out.split("\n\n    fairlane ").next().unwrap_or_default();
            prop_assert!(!without_code(before).contains("<script>"), "{}", out);
            let headings = out.lines().filter(|line| line.starts_with('#')).count();
            prop_assert!((4..=8).contains(&headings), "{}", out);
        }
    }

    #[test]
    fn every_markdown_row_keeps_its_number_of_cells(text in texts()) {
        let out = rendered(&filled_with(&text), "markdown", 100);
        let tables = cells_of_tables(&out);
        // A row for each result with its headings and percentiles, and the figures of three lanes each.
        prop_assert!(tables.len() == 2 && tables[0].len() >= 8 + 2 && tables[1].len() == 24 + 2, "{:?}", tables);
        for table in &tables {
            prop_assert!(table.iter().all(|cells| *cells == table[0]), "{:?}: {}", table, out);
        }
    }

    #[test]
    fn tables_of_operations_obey_nothing_and_keep_their_cells_and_their_width(text in texts(), width in 40usize..160) {
        let findings = steps_filled_with(&text);
        let out = rendered(&findings, "markdown", 100);
        prop_assert!(!out.chars().any(obeyed), "{:?}", out);
        let tables = cells_of_tables(&out);
        // All questions, the totals, and at least a section and the figures.
        prop_assert!(tables.len() >= 4, "{:?}", tables);
        for table in &tables {
            prop_assert!(table.iter().all(|cells| *cells == table[0]), "{:?}: {}", table, out);
        }
        let out = rendered(&findings, "text", width);
        prop_assert!(!out.chars().any(obeyed), "{:?}", out);
        for line in out.lines() {
            let copied = ["AGAIN", "NEXT", "RECORD"].iter().any(|label| line.starts_with(label))
                || line.starts_with("          fairlane ");
            let columns = unicode_width::UnicodeWidthStr::width(line);
            prop_assert!(copied || columns <= width, "{} > {}: {:?}", columns, width, line);
        }
    }

    #[test]
    fn csv_reads_back_with_every_column_and_no_formula(text in texts()) {
        let findings = filled_with(&text);
        let out = rendered(&findings, "csv", 100);
        let mut reader = ::csv::ReaderBuilder::new().from_reader(out.as_bytes());
        let columns = reader.headers().unwrap().len();
        let mut rows = 0;
        for row in reader.records() {
            let row = row.unwrap();
            rows += 1;
            prop_assert_eq!(row.len(), columns);
            for cell in &row {
                prop_assert!(!cell.trim_start().starts_with(['=', '+', '-', '@']), "{}", cell);
            }
        }
        // Per lane: a trial of two metrics, and a failed one that keeps a row.
        prop_assert_eq!(rows, 9);
    }

    #[test]
    fn text_keeps_to_its_width_but_for_what_is_copied(text in texts(), width in 40usize..160) {
        let out = rendered(&filled_with(&text), "text", width);
        for line in out.lines() {
            let copied = ["AGAIN", "NEXT", "RECORD"].iter().any(|label| line.starts_with(label))
                || line.starts_with("          fairlane ");
            let columns = unicode_width::UnicodeWidthStr::width(line);
            prop_assert!(copied || columns <= width, "{} > {}: {:?}", columns, width, line);
        }
    }
}

/// Units that a file of another tool may name, and how a cell of a spreadsheet shows them.
const UNITS: [(&str, &str); 2] = [
    ("\u{1b}]0;x\u{7}\u{1b}[2J\nfake", "]0;x[2J fake"),
    ("=HYPERLINK(\"http://x\",\"y\")", "'=HYPERLINK(\"http://x\",\"y\")"),
];

/// A cell holds the unit as `shown`, and none is a formula or holds a command.
fn check_cells(csv: &str, shown: &str) {
    let mut reader = ::csv::ReaderBuilder::new().from_reader(csv.as_bytes());
    let mut holds_it = false;
    for row in reader.records() {
        let row = row.unwrap();
        for cell in &row {
            holds_it |= cell == shown;
            assert!(!cell.trim_start().starts_with(['=', '+', '-', '@']), "{cell}");
            assert!(!cell.chars().any(char::is_control), "{cell:?}");
        }
    }
    assert!(holds_it, "{shown} is not in {csv}");
}

/// Two records whose figures have a metric of another tool.
fn compared(metric: &str) -> Comparison {
    let row = ComparisonRow {
        lane: "ext4".to_owned(),
        workload: "fio".to_owned(),
        title: "fio".to_owned(),
        group: "read".to_owned(),
        metric: metric.to_owned(),
        a: 5.0,
        b: 6.0,
        ratio: 1.2,
        low: None,
        high: None,
        verdict: Verdict::None,
        why: None,
    };
    Comparison { schema: 1, a: "a".to_owned(), b: "b".to_owned(), rows: vec![row], warnings: Vec::new() }
}

/// The course of such a figure.
fn course(metric: &str) -> Trend {
    let point = TrendPoint {
        record: "a".to_owned(),
        started: "2026-01-01T00:00:00Z".to_owned(),
        kernel: "6.12.0".to_owned(),
        machine: "Debian".to_owned(),
        machine_id_hash: "abc".to_owned(),
        disk: "vda".to_owned(),
        lane: "ext4".to_owned(),
        mean: 5.0,
        low: Some(2.5),
        high: Some(10.0),
    };
    Trend {
        workload: "fio".to_owned(),
        title: "fio".to_owned(),
        group: "read".to_owned(),
        metric: metric.to_owned(),
        higher_is_better: true,
        imported: String::new(),
        points: vec![point],
        left_out: Vec::new(),
    }
}

#[test]
fn no_unit_of_another_tool_is_obeyed_or_becomes_a_formula() {
    let style = Style { colour: false, width: 100, ..Style::default() };
    for (unit, shown) in UNITS {
        let metric = foreign::metric(unit, true);
        let (comparison, trend) = (compared(&metric), [course(&metric)]);
        let mut findings = races::three();
        for result in &mut findings.results {
            (result.metric, result.unit) = (metric.clone(), unit.to_owned());
        }
        for format in ["text", "markdown"] {
            let compared = report::render_comparison(&comparison, format, &style).unwrap();
            let course = report::render_trends(&trend, format, &style).unwrap();
            for out in [rendered(&findings, format, 100), compared, course] {
                assert!(!out.chars().any(obeyed), "{format}: {out:?}");
                assert!(out.contains("fake") || out.contains("HYPERLINK"), "{format}: {out}");
            }
        }
        let course = report::render_trends(&trend, "text", &style).unwrap();
        assert!(course.contains(&format!("5 {} (2.5 to 10)", shown.trim_start_matches('\''))), "{course}");
        check_cells(&report::render_trends(&trend, "csv", &style).unwrap(), shown);
        check_cells(&report::render_comparison(&comparison, "csv", &style).unwrap(), shown);
        let mut raced = record(&findings);
        let group = raced.trials.iter_mut().flat_map(|trial| trial.groups.iter_mut()).next().unwrap();
        group.metrics.insert(metric, 5.0);
        check_cells(&report::csv(&raced), shown);
    }
}

#[test]
fn html_and_mentions_in_markdown_stay_text() {
    let out = rendered(&races::hostile(), "markdown", 100);
    let outside_code = without_code(&out);
    assert!(!outside_code.contains("<img"), "{outside_code}");
    // Verdicts, warnings, figures, machine.
    assert_eq!(out.matches("<details>").count(), 4);
    assert_eq!(outside_code.matches("</details>").count(), 4);
}

/// The text that a renderer takes for more than code: every code span left out.
fn without_code(markdown: &str) -> String {
    let mut outside = String::new();
    let mut rest = markdown;
    while let Some(start) = rest.find(['`', '\\']) {
        outside.push_str(&rest[..start]);
        if rest[start..].starts_with('\\') {
            let escaped = rest[start + 1..].chars().next().map_or(0, char::len_utf8);
            rest = &rest[start + 1 + escaped..];
            continue;
        }
        let fence: String = rest[start..].chars().take_while(|c| *c == '`').collect();
        let inside = &rest[start + fence.len()..];
        let end = inside
            .match_indices(&fence)
            .map(|(at, _)| at)
            .find(|at| !inside[..*at].ends_with('`') && !inside[at + fence.len()..].starts_with('`'))
            .expect("every code span is closed");
        rest = &inside[end + fence.len()..];
    }
    outside + rest
}

#[test]
fn a_title_as_wide_as_titles_may_be_keeps_to_the_narrowest_line() {
    let out = rendered(&filled_with(&"title ".repeat(9)), "text", 40);
    for line in out.lines().filter(|line| !["AGAIN", "NEXT", "RECORD"].iter().any(|label| line.starts_with(label))) {
        let copied = line.starts_with("          fairlane ");
        assert!(copied || unicode_width::UnicodeWidthStr::width(line) <= 40, "{line:?}");
    }
}
