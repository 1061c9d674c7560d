//! Gates as they come out of the statistics.

use super::races;
use model::gate::*;

fn figure(mean: f64, deviation: f64, records: u32) -> GateFigure {
    GateFigure { mean: Some(mean), deviation: Some(deviation), records }
}

/// A comparison of five records with five: title, group and lane, both means, the interval, the verdict.
fn row(
    (workload, title, group): (&str, &str, &str),
    lane: &str,
    means: [f64; 2],
    half: f64,
    verdict: GateVerdict,
) -> GateRow {
    let ratio = means[1] / means[0];
    GateRow {
        lane: lane.to_owned(),
        workload: workload.to_owned(),
        title: title.to_owned(),
        group: group.to_owned(),
        metric: "operations_per_second".to_owned(),
        unit: "operations/s".to_owned(),
        higher_is_better: true,
        baseline: figure(means[0], 0.011, 5),
        candidate: figure(means[1], 0.019, 5),
        ratio: Some(ratio),
        low: Some(ratio / (1.0 + half)),
        high: Some(ratio * (1.0 + half)),
        half_width: Some(half),
        verdict,
        why: None,
        failing: false,
        not_compared: false,
        unresolved: false,
        more_records: None,
        command_line: ["fairlane", "race", "ext4", "=xfs|`", "--suite", "it's mine.toml", "--seed", "42"]
            .map(str::to_owned)
            .to_vec(),
    }
}

fn side(folder: &str, kernel: &str, days: std::ops::Range<u32>) -> GateSide {
    let record = |day: u32| GateRecord {
        name: format!("{folder}/{day}.jsonl"),
        started: format!("2026-07-{day:02}T10:00:00Z"),
        boot_id: format!("b{day}"),
        kernel: kernel.to_owned(),
        seed: u64::from(day),
        outcome: "complete".to_owned(),
    };
    GateSide {
        records: days.map(record).collect(),
        kernels: vec![kernel.to_owned()],
        systems: vec!["Debian GNU/Linux 12 (bookworm)".to_owned()],
    }
}

/// A gate that fails, with every verdict, a latency, and what only one side has.
pub fn failing() -> Gate {
    let small = |group: &'static str| ("small-files", "small files", group);
    let mut noisy = row(small("create"), "=xfs|`", [21_000.0, 20_400.0], 0.061, GateVerdict::Inconclusive);
    (noisy.unresolved, noisy.more_records) = (true, Some(2));
    let mut wide = row(small("read"), "ext4", [9_000.0, 9_100.0], 0.055, GateVerdict::Pass);
    (wide.unresolved, wide.more_records) = (true, Some(1));
    wide.why = Some("the page cache answered, not the disk".to_owned());
    let mut gone = row(small("delete"), "=xfs|`", [41_000.0, 41_000.0], 0.02, GateVerdict::Failed);
    (gone.ratio, gone.low, gone.high, gone.half_width) = (None, None, None, None);
    gone.candidate = GateFigure::default();
    gone.why = Some("no figure in 5 of the candidate's 5 records: unlink: Input/output error (os error 5)".to_owned());
    let mut latency = row(("latency", "random read latency", "read"), "ext4", [1e6, 1.012e6], 0.02, GateVerdict::Pass);
    (latency.metric, latency.unit) = ("latency_p99_ns".to_owned(), "ns".to_owned());
    latency.higher_is_better = false;
    (latency.ratio, latency.low, latency.high) = (Some(1.0 / 1.012), Some(0.969), Some(1.008));
    let mut longer = latency.clone();
    (longer.lane, longer.verdict, longer.candidate.mean) = ("=xfs|`".to_owned(), GateVerdict::Slower, Some(1.3e6));
    (longer.ratio, longer.low, longer.high) = (Some(1.0 / 1.3), Some(0.75), Some(0.79));
    longer.command_line.push("--on=/mnt/other".to_owned());
    Gate {
        schema: 1,
        outcome: GateOutcome::Fail,
        counts: GateCounts { slower: 2, failed: 1, inconclusive: 1, pass: 3, faster: 1, one_sided: 4, unresolved: 2 },
        fail_if_slower: 0.05,
        need_resolution: Some(0.05),
        confidence: 0.95,
        comparisons: 8,
        noise: Some(0.015),
        pairing: Pairing {
            paired: false,
            why: "the races did not alternate strictly between baseline and candidate".to_owned(),
        },
        baseline: side("old", "6.1.0-28-amd64", 1..6),
        candidate: side("new", "6.12.0-1-amd64", 6..9),
        changes: vec![
            "kernel: 6.1.0-28-amd64 -> 6.12.0-1-amd64".to_owned(),
            "mount options of ext4: noatime -> noatime,commit=30".to_owned(),
        ],
        rows: vec![
            row(("commit", "commit 4 KiB", "write"), "ext4", [1_180.0, 960.0], 0.03, GateVerdict::Slower),
            row(("commit", "commit 4 KiB", "write"), "=xfs|`", [1_080.0, 1_190.0], 0.03, GateVerdict::Faster),
            row(small("create"), "ext4", [21_000.0, 21_100.0], 0.03, GateVerdict::Pass),
            noisy,
            wide,
            gone,
            latency,
            longer,
        ],
        one_sided: vec![
            OneSided { lane: Some("btrfs".to_owned()), workload: None, in_baseline: true, comparisons: 3 },
            OneSided { lane: None, workload: Some("sequential-read".to_owned()), in_baseline: false, comparisons: 1 },
        ],
        warnings: vec![
            "new/7.jsonl was interrupted; the rounds that it finished count".to_owned(),
            "one side was raced wholly before the other".to_owned(),
        ],
        comparison: None,
    }
}

/// A gate that passes, compared in pairs.
pub fn passing() -> Gate {
    let rows = failing().rows.into_iter().take(3).skip(1).collect();
    Gate {
        outcome: GateOutcome::Pass,
        counts: GateCounts { pass: 1, faster: 1, ..GateCounts::default() },
        need_resolution: None,
        comparisons: 2,
        pairing: Pairing {
            paired: true,
            why: "the races alternate strictly between baseline and candidate".to_owned(),
        },
        changes: vec!["kernel: 6.1.0-28-amd64 -> 6.12.0-1-amd64".to_owned()],
        rows,
        one_sided: Vec::new(),
        warnings: Vec::new(),
        ..failing()
    }
}

/// One record on each side.
pub fn single() -> Gate {
    let why = Some("one record on each side shows no spread between boots".to_owned());
    let without = |row: GateRow| {
        let figure = |of: GateFigure| GateFigure { deviation: None, records: 1, ..of };
        GateRow {
            baseline: figure(row.baseline),
            candidate: figure(row.candidate),
            low: None,
            high: None,
            half_width: None,
            verdict: GateVerdict::Inconclusive,
            why: why.clone(),
            unresolved: true,
            ..row
        }
    };
    let passing = passing();
    Gate {
        outcome: GateOutcome::Unresolved,
        counts: GateCounts { inconclusive: 2, unresolved: 2, ..GateCounts::default() },
        need_resolution: Some(0.05),
        noise: None,
        baseline: side("old", "6.1.0-28-amd64", 1..2),
        candidate: side("new", "6.12.0-1-amd64", 6..7),
        rows: passing.rows.iter().cloned().map(without).collect(),
        comparison: Some(races::comparison()),
        ..passing
    }
}

/// The failing gate with one string wherever a string may stand.
pub fn filled_with(text: &str) -> Gate {
    let mut gate = failing();
    let row_of = |row: &mut GateRow, rename: bool| {
        if rename {
            (row.lane, row.workload, row.group) = (text.to_owned(), text.to_owned(), text.to_owned());
        }
        (row.title, row.why) = (text.to_owned(), Some(text.to_owned()));
        row.command_line.push(text.to_owned());
    };
    for (at, row) in gate.rows.iter_mut().enumerate() {
        row_of(row, at % 2 == 1);
    }
    for side in [&mut gate.baseline, &mut gate.candidate] {
        side.kernels.push(text.to_owned());
        for record in &mut side.records {
            (record.name, record.started) = (text.to_owned(), text.to_owned());
        }
    }
    gate.pairing.why = text.to_owned();
    gate.changes.push(text.to_owned());
    gate.warnings.push(text.to_owned());
    gate.one_sided[0].lane = Some(text.to_owned());
    gate.one_sided[1].workload = Some(text.to_owned());
    gate
}
