//! A race beside published figures, as it is shown. `UPDATE_GOLDEN=1 cargo test -p report` writes the
//! files anew.

use model::findings::{
    Difference, PublishedComparison, PublishedFigures, PublishedPairing, PublishedRatio, PublishedRow,
};
use model::published::{Qualifier, Source};
use report::{FORMATS, Style};
use std::path::Path;

fn figures(lane: &str, yours: Option<f64>, published: f64) -> PublishedFigures {
    let published = Some(published);
    PublishedFigures { lane: lane.to_owned(), yours, published, published_to: None, qualifier: None, note: None }
}

fn row(group: &str, metric: &str, lanes: &[(&str, f64, f64)]) -> PublishedRow {
    let higher_is_better = metric.ends_with("_per_second");
    let turned = |ratio: f64| if higher_is_better { ratio } else { 1.0 / ratio };
    let mut pairs = Vec::new();
    for (at, a) in lanes.iter().enumerate() {
        pairs.extend(lanes[at + 1..].iter().map(|b| PublishedRatio {
            a: a.0.to_owned(),
            b: b.0.to_owned(),
            yours: Some(turned(a.1 / b.1)),
            published: Some(turned(a.2 / b.2)),
        }));
    }
    PublishedRow {
        workload: "operations".to_owned(),
        title: "operations on files".to_owned(),
        group: group.to_owned(),
        metric: metric.to_owned(),
        higher_is_better,
        lanes: lanes.iter().map(|of| figures(of.0, Some(of.1), of.2)).collect(),
        pairs,
    }
}

fn comparison(rows: Vec<PublishedRow>) -> PublishedComparison {
    PublishedComparison {
        schema: 1,
        record: "~/.local/state/fairlane/runs/r.jsonl".to_owned(),
        started: "2026-07-01T10:00:00Z".to_owned(),
        published: "phytium-axvisor".to_owned(),
        title: "AxVisor's filesystem and Linux".to_owned(),
        source: Source {
            site: "a blog".to_owned(),
            author: Some("J".to_owned()),
            year: Some(2025),
            language: "Chinese".to_owned(),
        },
        lanes: vec![
            PublishedPairing { published: "axvisor".to_owned(), yours: Some("rsext4".to_owned()), about: None },
            PublishedPairing { published: "ext4".to_owned(), yours: Some("ext4".to_owned()), about: None },
        ],
        rows,
        differences: vec![Difference {
            subject: "hardware".to_owned(),
            what: "the article: a board; yours: 2 CPUs".to_owned(),
        }],
        caveats: vec!["single runs: no interval".to_owned()],
        warnings: vec!["the article has no lane for your xfs".to_owned()],
    }
}

fn two() -> PublishedComparison {
    let mut append = row("append 2 KiB to 10", "seconds", &[("axvisor", 41e-6, 0.22e-3), ("ext4", 71e-6, 21.73e-3)]);
    append.lanes[0].note = Some("a tenth of what its time and size give".to_owned());
    append.lanes[1].yours = None;
    append.pairs[0].yours = None;
    comparison(vec![
        row("create 100 x 1 KiB", "seconds", &[("axvisor", 1.2e-3, 30.46e-3), ("ext4", 3.1e-3, 579.76e-3)]),
        append,
        row("create 100 x 1 KiB", "bandwidth_bytes_per_second", &[("axvisor", 85e6, 3.4e6), ("ext4", 33e6, 0.18e6)]),
    ])
}

fn three() -> PublishedComparison {
    let lanes = [("ext4", 1.72, 0.9), ("xfs", 0.81, 0.8), ("btrfs", 2.96, 3.0)];
    let mut cpu = row("write", "cpu_percent", &lanes);
    cpu.lanes[0].qualifier = Some(Qualifier::About);
    cpu.lanes[2].published_to = Some(4.0);
    comparison(vec![
        cpu,
        row("write", "latency_mean_ns", &[("ext4", 1e6, 31.9e6), ("xfs", 1.2e6, 41.2e6), ("btrfs", 1e6, 31.7e6)]),
    ])
}

fn rendered(comparison: &PublishedComparison, format: &str, width: usize) -> String {
    let format = report::format_named(format).unwrap();
    (format.published)(comparison, &Style { colour: false, width, ..Style::default() }).unwrap()
}

fn assert_golden(name: &str, text: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(format!("{name}.txt"));
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(&path, text).unwrap();
    }
    assert_eq!(std::fs::read_to_string(&path).unwrap_or_default(), text, "{}", path.display());
}

#[test]
fn tables_read_as_reviewed() {
    for (name, of) in
        [("published-two", two()), ("published-three", three()), ("published-nothing", comparison(Vec::new()))]
    {
        assert_golden(&format!("text-{name}"), &rendered(&of, "text", 100));
        assert_golden(&format!("markdown-{name}"), &rendered(&of, "markdown", 100));
    }
    assert_golden("text-published-two-60", &rendered(&two(), "text", 60));
    assert_golden("csv-published-two", &rendered(&two(), "csv", 100));
}

#[test]
fn a_terminal_is_never_exceeded() {
    for of in [two(), three()] {
        for width in [80, 100, 140] {
            let text = rendered(&of, "text", width);
            assert!(text.lines().all(|line| line.chars().count() <= width), "{width}:\n{text}");
        }
    }
}

#[test]
fn json_reads_back_and_every_format_says_both_ratios() {
    for of in [two(), three()] {
        assert_eq!(serde_json::from_str::<PublishedComparison>(&rendered(&of, "json", 100)).unwrap(), of);
    }
    for format in FORMATS.iter().filter(|format| !["fio-json", "io500", "junit", "memo", "html"].contains(&format.name))
    {
        let text = rendered(&two(), format.name, 100);
        // 3.1 / 1.2 and 579.76 / 30.46.
        assert!(text.contains("2.6x") || text.contains("2.58"), "{}:\n{text}", format.name);
        assert!(text.contains("19x") || text.contains("19.03"), "{}:\n{text}", format.name);
    }
    for name in ["fio-json", "io500", "junit"] {
        assert!((report::format_named(name).unwrap().published)(&two(), &Style::default()).is_err());
    }
}

#[test]
fn names_of_others_do_no_harm() {
    let mut of = two();
    of.rows[0].group = "=1+1\u{1b}[2J|x".to_owned();
    of.rows[0].lanes[0].lane = "<b>@me\u{202e}".to_owned();
    of.warnings.push("a\u{9b}b".to_owned());
    for format in ["text", "markdown", "csv", "json"] {
        let text = rendered(&of, format, 100);
        assert!(!text.contains(['\u{1b}', '\u{202e}', '\u{9b}']), "{format}: {text:?}");
        assert!(format != "markdown" || !text.contains("<b>"), "{text}");
        assert!(format != "csv" || text.contains("'=1+1"), "{text}");
    }
}
