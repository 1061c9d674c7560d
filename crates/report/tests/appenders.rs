//! Swarms of writers and searches, as reports show them.

use crate::common;

use model::findings::{AppendersFinding, AppendersRow, Bursts, Pair, SearchFinding, SearchLane, SearchPass, Verdict};
use model::search::Criterion;
use report::{Input, Style, render};

fn row(lane: &str, p99_ns: f64) -> AppendersRow {
    AppendersRow {
        lane: lane.to_owned(),
        group: "append".to_owned(),
        rounds: 6,
        late_writers_share: Some(0.125),
        late_share: Some(0.004),
        p50_ns: Some(90e3),
        p99_ns: Some(p99_ns),
        p999_ns: Some(2.0 * p99_ns),
        max_ns: Some(3.0 * p99_ns),
        scheduling_p99_ns: Some(80e3),
        dirty_bytes_max: Some(240.0 * 1024.0 * 1024.0),
        iowait_share_max: Some(0.31),
        load_average_max: Some(2.26),
        ..AppendersRow::default()
    }
}

fn appenders() -> AppendersFinding {
    let story = "btrfs writes every 30 s in bursts of 240 MiB; p99 lateness rises from 2 ms to 900 ms";
    AppendersFinding {
        workload: "appenders-4000".to_owned(),
        title: "4000 writers at 0.5 s".to_owned(),
        writers: 4000,
        files: 4,
        period_seconds: 0.5,
        processes: true,
        rows: vec![
            row("ext4", 2e6),
            AppendersRow {
                backlog_rounds: 2,
                story: Some(story.into()),
                bursts: Some(Bursts { count: 6, ..Bursts::default() }),
                ..row("btrfs", 900e6)
            },
            AppendersRow {
                lane: "jfs".to_owned(),
                group: "append".to_owned(),
                failure: Some("no mount".into()),
                ..AppendersRow::default()
            },
        ],
    }
}

fn pair(a: &str, b: &str, ratio: Option<f64>, verdict: Verdict, why: Option<&str>) -> Pair {
    Pair {
        a: a.to_owned(),
        b: b.to_owned(),
        ratio,
        low: ratio.map(|ratio| ratio * 0.9),
        high: ratio.map(|ratio| ratio * 1.1),
        verdict,
        why: why.map(Into::into),
        minutes_to_settle: None,
        rounds_to_settle: None,
        undecided: None,
        over_race: false,
        at_least: None,
    }
}

fn search() -> SearchFinding {
    let lane = |name: &str, writers: f64, at_least: bool, reason: &str| SearchLane {
        lane: name.to_owned(),
        writers: Some(writers),
        low: Some(writers * if at_least { 1.0 } else { 0.93 }),
        high: Some(writers * if at_least { 1.0 } else { 1.07 }),
        at_least,
        could_not_go_on: false,
        harness: false,
        reason: Some(reason.into()),
        passes: vec![SearchPass { pass: 1, sustained: 9000, too_many: Some(9900), steps: 7 }],
        failure: None,
    };
    let none = SearchLane {
        lane: "jfs".to_owned(),
        failure: Some("not even 1 writers are sustained".into()),
        ..SearchLane::default()
    };
    SearchFinding {
        workload: "appenders-4000".to_owned(),
        title: "4000 writers at 0.5 s".to_owned(),
        criterion: Criterion::Lateness,
        files: 4,
        period_seconds: 0.5,
        most_writers: 200_000,
        passes: 4,
        lanes: vec![
            lane("ext4", 9439.0, false, "with 9900 writers p99 lateness is 700 ms, in a period of 500 ms"),
            lane("xfs", 200_000.0, true, "200000 writers are sustained, and more were not tried"),
            none,
        ],
        pairs: vec![
            pair("xfs", "ext4", Some(21.2), Verdict::Faster, None),
            pair("jfs", "ext4", None, Verdict::None, Some("jfs: not even 1 writers are sustained")),
        ],
        ranking: vec![vec!["xfs".to_owned()], vec!["ext4".to_owned()]],
        warnings: Vec::new(),
    }
}

fn shown(format: &str, width: usize, searched: bool) -> String {
    let mut findings = common::races::three();
    if searched {
        findings.results.clear();
        findings.answer = None;
        findings.searches = vec![search()];
    } else {
        findings.appenders = vec![appenders()];
    }
    let record = common::record(&findings);
    let input = Input { findings: &common::told(&findings), record: &record, record_path: Some("r.jsonl") };
    render(&input, format, &Style { colour: false, width, ..Style::default() }).unwrap()
}

#[test]
fn a_table_of_lateness_says_who_was_late_and_what_came_in_bursts() {
    let text = shown("text", 120, false);
    for part in [
        "LATENESS",
        "4000 writers at 0.5 s, 4000 writers with 4 files each every 500 ms, a process each, 6 rounds",
        "own p99",
        "btrfs fell behind in 2 of 6 rounds: its backlog grew",
        "btrfs writes every 30 s in bursts of 240 MiB; p99 lateness rises from 2 ms to 900 ms",
        "jfs failed: no mount",
    ] {
        assert!(text.contains(part), "{part}:\n{text}");
    }
    let line = text.lines().find(|line| line.starts_with("  btrfs ") && line.contains("12 %"));
    let line = line.unwrap_or_else(|| panic!("no row of btrfs:\n{text}"));
    for cell in ["12 %", "0.4 %", "90 us", "240 MiB", "31 %", "2.3"] {
        assert!(line.replace('\u{a0}', " ").contains(cell), "{cell}: {line}");
    }
    // A narrow terminal loses the last columns and no line is too long.
    let narrow = shown("text", 60, false);
    assert!(narrow.contains("p99") && !narrow.contains("own p99  dirty"), "{narrow}");
    let table: Vec<&str> =
        narrow.lines().filter(|line| line.starts_with("  lane ") || line.starts_with("  btrfs ")).collect();
    assert!(!table.is_empty() && table.iter().all(|line| line.chars().count() <= 60), "{table:?}");
    let markdown = shown("markdown", 100, false);
    assert!(markdown.contains("**Lateness of the writers.**") && markdown.contains("| btrfs | 12"), "{markdown}");
}

#[test]
fn a_search_says_how_many_each_lane_sustains_and_answers_with_it() {
    let text = shown("text", 120, true).replace('\u{a0}', " ");
    for part in [
        "WRITERS",
        "4 passes; sustained means p99 lateness under one period and no growing backlog",
        "ext4 sustains 9,440 writers (8,780 to 10,100): with 9900 writers p99 lateness is 700 ms",
        "xfs sustains at least 200,000 writers",
        "jfs failed: not even 1 writers are sustained",
        "xfs sustains 21x more writers than ext4",
        "jfs by ext4, no verdict",
        "Every 500 ms: xfs at least 200,000 writers",
    ] {
        let flat = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(flat.contains(part), "{part}:\n{text}");
    }
    // Passes that all came to the end of what was tried give one number, and no range.
    assert!(text.contains("at least 200,000 writers") && !text.contains("200,000 to 200,000"), "{text}");
    let markdown = shown("markdown", 100, true);
    assert!(markdown.contains("**Writers that each lane sustains.**"), "{markdown}");
    assert!(!markdown.contains("| workload |"), "no table without results: {markdown}");
}
