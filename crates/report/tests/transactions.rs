//! What transactions wait for and cost, as reports show it.

use crate::common;

use model::findings::{TransactionsFinding, TransactionsRow};
use report::{Input, Style, render};

fn row(lane: &str, group: &str, rate: f64) -> TransactionsRow {
    TransactionsRow {
        lane: lane.to_owned(),
        group: group.to_owned(),
        rounds: 6,
        transactions_per_second: Some(rate),
        p50_ns: Some(2.1e6),
        p99_ns: Some(9.4e6),
        retries: 37,
        fsyncs: Some(1.02),
        flushes: Some(1.5),
        flush_ns: Some(0.9e6),
        written_bytes: Some(24.0 * 1024.0),
        client_cpu_ns: Some(180e3),
        server_cpu_ns: Some(640e3),
        again: [("deadlocks".to_owned(), 30), ("lock_timeouts".to_owned(), 7)].into(),
        lost_connections: 2,
        transactions_per_second_at_first: group.ends_with("(cold)").then_some(310.0),
        written_until_stable_bytes: Some(40.0 * 1024.0),
        ..TransactionsRow::default()
    }
}

fn shown(format: &str, width: usize, fits_pool: bool) -> String {
    let mut findings = common::races::three();
    let failed = |group: &str| TransactionsRow {
        lane: "btrfs".to_owned(),
        group: group.to_owned(),
        failure: Some("no mount".into()),
        ..TransactionsRow::default()
    };
    findings.transactions = vec![TransactionsFinding {
        workload: "read-write".to_owned(),
        title: "read-write transactions".to_owned(),
        server: "MariaDB".to_owned(),
        settings: vec!["innodb_flush_log_at_trx_commit = 1".to_owned(), "innodb_doublewrite = ON".to_owned()],
        fits_pool,
        rows: vec![
            row("ext4", "mariadb 12 threads (cold)", 850.0),
            row("ext4", "mariadb 12 threads", 1460.0),
            failed("mariadb 12 threads (cold)"),
            failed("mariadb 12 threads"),
        ],
    }];
    let record = common::record(&findings);
    let input = Input { findings: &findings, record: &record, record_path: Some("r.jsonl") };
    render(&input, format, &Style { colour: false, width, ..Style::default() }).unwrap()
}

#[test]
fn a_table_says_what_a_transaction_waits_for_writes_and_costs() {
    let text = shown("text", 180, false);
    for part in [
        "EACH ONE",
        "read-write transactions, MariaDB with innodb_flush_log_at_trx_commit = 1, innodb_doublewrite = ON, 6 rounds",
        "btrfs failed: no mount",
        "ext4, 12 cold clients, done again: 30 deadlocks, 7 lock timeouts",
    ] {
        assert!(text.contains(part), "{part}:\n{text}");
    }
    assert_eq!(text.matches("btrfs failed: no mount").count(), 1, "each reason once:\n{text}");
    assert!(!text.contains("served from memory"), "{text}");
    let line = text.lines().find(|line| line.starts_with("  ext4") && line.contains("12 cold"));
    let line = line.unwrap_or_else(|| panic!("no cold row:\n{text}")).replace('\u{a0}', " ");
    for cell in
        ["850/s", "2.1 ms", "9.4 ms", "37", "1.02", "1.5", "0.9 ms", "24 KiB", "40 KiB", "310/s", "0.18 ms", "0.64 ms"]
    {
        assert!(line.contains(cell), "{cell}: {line}");
    }
    assert!(shown("text", 140, true).contains("served from memory"));
}

#[test]
fn a_narrow_terminal_spares_columns_and_markdown_keeps_all() {
    let text = shown("text", 80, false);
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    assert!(text.contains("retries") && !text.contains("a flush "), "{text}");
    let page = shown("markdown", 80, false);
    assert!(
        page.contains("| lane | clients | per s | at first | p50 | p99 | retries | lost | fsyncs | flushes |"),
        "{page}"
    );
    assert!(page.replace('\u{a0}', " ").contains("0.64 ms"), "{page}");
}
