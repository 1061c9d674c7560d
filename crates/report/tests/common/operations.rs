//! Races of file operations: the 31 steps of the suite, as the statistics hand them over.

use super::*;
use model::findings::Verdict::{Faster, Slower, Tie};

/// Section, step, operation, operations, bytes, seconds on ext4, xfs and btrfs.
type Step = (&'static str, &'static str, &'static str, u64, u64, [f64; 3]);

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;

const STEPS: [Step; 31] = [
    ("small files", "create 100 x 1 KiB", "create", 100, 100 * KIB, [0.00321, 0.00334, 0.00512]),
    ("small files", "create 50 x 4 KiB", "create", 50, 200 * KIB, [0.00162, 0.00171, 0.00249]),
    ("small files", "create 20 x 64 KiB", "create", 20, 1_280 * KIB, [0.00198, 0.00201, 0.00218]),
    ("large files", "create 1 MiB", "create", 1, MIB, [0.000612, 0.000598, 0.000701]),
    ("large files", "create 10 MiB", "create", 1, 10 * MIB, [0.00571, 0.00562, 0.00612]),
    ("large files", "create 50 MiB", "create", 1, 50 * MIB, [0.0291, 0.0288, 0.0304]),
    ("large files", "create 100 MiB", "create", 1, 100 * MIB, [0.0612, 0.0575, 0.0601]),
    ("large files", "write 50 MiB by 4 KiB", "write", 12_800, 50 * MIB, [0.0441, 0.0398, 0.0713]),
    ("large files", "write 100 MiB by 64 KiB", "write", 1_600, 100 * MIB, [0.0633, 0.0581, 0.0655]),
    ("small files", "read 100 x 1 KiB", "read", 100, 100 * KIB, [0.000412, 0.000398, 0.000455]),
    ("small files", "read 50 x 4 KiB", "read", 50, 200 * KIB, [0.000231, 0.000226, 0.000247]),
    ("small files", "read 20 x 64 KiB", "read", 20, 1_280 * KIB, [0.000287, 0.000291, 0.000296]),
    ("large files", "read 1 MiB", "read", 1, MIB, [0.000155, 0.000151, 0.00016]),
    ("large files", "read 10 MiB", "read", 1, 10 * MIB, [0.00161, 0.00158, 0.00165]),
    ("large files", "read 50 MiB", "read", 1, 50 * MIB, [0.00811, 0.00804, 0.00826]),
    ("large files", "read 100 MiB", "read", 1, 100 * MIB, [0.0163, 0.0161, 0.0166]),
    ("random", "read 10 MiB at random, 1000 x 4 KiB", "random-read", 1_000, 4_000 * KIB, [0.00102, 0.001, 0.00117]),
    ("random", "read 50 MiB at random, 5000 x 4 KiB", "random-read", 5_000, 20_000 * KIB, [0.00533, 0.00519, 0.0061]),
    ("random", "write 10 MiB at random, 1000 x 4 KiB", "random-write", 1_000, 4_000 * KIB, [0.00193, 0.00171, 0.00884]),
    ("random", "write 50 MiB at random, 5000 x 4 KiB", "random-write", 5_000, 20_000 * KIB, [0.0101, 0.00902, 0.0461]),
    ("append", "append 2 KiB to 10", "append", 10, 20 * KIB, [0.000133, 0.000122, 0.000241]),
    ("metadata", "mkdir 50", "mkdir", 50, 0, [0.00122, 0.00153, 0.00131]),
    ("metadata", "list 176", "list", 1, 0, [0.0000961, 0.0000894, 0.000112]),
    ("metadata", "stat 100", "stat", 100, 0, [0.0000892, 0.0000901, 0.0000912]),
    ("delete", "unlink 50 x 4 KiB", "unlink", 50, 0, [0.000711, 0.00131, 0.00162]),
    ("delete", "unlink 20 x 64 KiB", "unlink", 20, 0, [0.000433, 0.000571, 0.000812]),
    ("delete", "unlink 2 large", "unlink", 2, 0, [0.00188, 0.000411, 0.00213]),
    ("delete", "unlink 50 x 1 KiB", "unlink", 50, 0, [0.000702, 0.00129, 0.00157]),
    ("delete", "unlink 50 MiB", "unlink", 1, 0, [0.00421, 0.000391, 0.00389]),
    ("delete", "unlink 100 MiB", "unlink", 1, 0, [0.0083, 0.000405, 0.00771]),
    ("delete", "rmdir 50", "rmdir", 50, 0, [0.00101, 0.00148, 0.00119]),
];

const TABLE: (&str, &str) = ("operations", "operations on files");

/// A verdict as the rules would give it at a noise of 2 %: near 6 % apart it stays open.
fn judged(a: &Lane, b: &Lane, ratio: f64, minutes: f64) -> Pair {
    let figures = (ratio, ratio * 0.97, ratio * 1.031);
    if a.venue != b.venue {
        let english = "{lane} is an in-process library, called without any system call";
        let library = Sentence::new("in_process_library", english, vec![("lane", Value::Name(a.name.clone()))]);
        let english = "{with} survives a crash without a full check, {without} does not";
        let lacks = other_promises("survives_a_crash", english, &b.name, &a.name);
        let clauses = std::iter::once(lacks).chain((a.venue == "library").then_some(library)).map(Value::from);
        let clauses = vec![("parts", Value::Clauses(clauses.collect()))];
        return without_verdict(&a.name, &b.name, figures, Sentence::new("clauses", "{parts}", clauses));
    }
    match ratio.ln().abs() {
        apart if apart < 0.045 => pair(&a.name, &b.name, figures, Tie),
        apart if apart < 0.075 => undecided(&a.name, &b.name, (ratio, ratio * 0.93, ratio * 1.07), minutes),
        _ => pair(&a.name, &b.name, figures, if ratio > 1.0 { Faster } else { Slower }),
    }
}

fn figure(lane: &Lane, (_, _, _, operations, bytes, _): &Step, seconds: f64) -> OperationFigure {
    OperationFigure {
        lane: lane.name.clone(),
        seconds: Some(seconds),
        low: Some(seconds * 0.97),
        high: Some(seconds * 1.031),
        sync_seconds: Some(0.0),
        operations: *operations,
        bytes: *bytes,
        operations_per_second: Some(*operations as f64 / seconds),
        bandwidth_bytes_per_second: (*bytes > 0).then_some(*bytes as f64 / seconds),
        floor_share: None,
        process_startup_share: None,
        failure: None,
    }
}

/// A table of these lanes; `factors`: each lane's times by its first, second or third column.
fn table(lanes: &[Lane], columns: &[(usize, f64)], steps: &[Step]) -> (Vec<ResultFinding>, OperationsFinding) {
    let floor = lanes.iter().position(|lane| lane.venue == "memory");
    let mut sections: Vec<&str> = Vec::new();
    for (section, ..) in steps {
        if !sections.contains(section) {
            sections.push(section);
        }
    }
    let (mut results, mut rows) = (Vec::new(), Vec::new());
    for step in steps {
        let seconds: Vec<f64> = columns.iter().map(|(column, factor)| step.5[*column] * factor).collect();
        let couples = (0..lanes.len()).flat_map(|a| (0..a).map(move |b| (a, b)));
        let pairs = couples.map(|(a, b)| judged(&lanes[a], &lanes[b], seconds[b] / seconds[a], 7.0)).collect();
        let limit = match step.2 {
            "read" | "random-read" => Limit::Cache,
            "stat" => Limit::Harness,
            "rmdir" | "mkdir" => Limit::FilesystemCpu,
            _ => Limit::Unattributed,
        };
        let estimates =
            lanes.iter().zip(&seconds).map(|(lane, seconds)| estimate(&lane.name, step.3 as f64 / seconds)).collect();
        let key = (TABLE.0, TABLE.1, step.1);
        let mut of = result(key, false, (limit, "a reason"), estimates, pairs, &[]);
        of.section = Some(step.0.to_owned());
        if limit == Limit::Harness {
            for pair in &mut of.pairs {
                pair.verdict = Verdict::None;
                pair.why = Some("the engine was measured, not the filesystem".into());
            }
        }
        results.push(of);
    }
    for section in sections {
        for step in steps.iter().filter(|step| step.0 == section) {
            let mut figures: Vec<OperationFigure> = lanes
                .iter()
                .zip(columns)
                .map(|(lane, (column, factor))| figure(lane, step, step.5[*column] * factor))
                .collect();
            if let Some(floor) = floor {
                let least = figures[floor].seconds.unwrap();
                for (_, of) in figures.iter_mut().enumerate().filter(|(at, _)| *at != floor) {
                    of.floor_share = of.seconds.map(|seconds| least / seconds);
                }
            }
            rows.push(OperationRow {
                section: section.to_owned(),
                group: step.1.to_owned(),
                operation: step.2.to_owned(),
                figures,
            });
        }
    }
    let of = OperationsFinding {
        workload: TABLE.0.to_owned(),
        title: TABLE.1.to_owned(),
        reference: lanes[0].name.clone(),
        floor: floor.map(|at| lanes[at].name.clone()),
        rounds: 8,
        passes: 5,
        totals: lanes.iter().map(|lane| total(lane, &rows)).collect(),
        pairs: pairs(&results),
        rows,
        process_startup_share: None,
        warnings: vec![
            "in 4 of 310 comparisons of lanes the rounds are correlated; their intervals were made wider".into(),
        ],
    };
    (results, of)
}

fn total(lane: &Lane, rows: &[OperationRow]) -> OperationTotal {
    let seconds = |row: &OperationRow| row.figures.iter().find(|of| of.lane == lane.name).unwrap().seconds.unwrap();
    OperationTotal {
        lane: lane.name.clone(),
        seconds: Some(rows.iter().map(seconds).sum()),
        steps: rows.len() as u32,
        sync_seconds: (lane.venue != "library").then_some(if lane.venue == "memory" { 0.0 } else { 0.412 }),
        unmount_seconds: Some(0.0331),
    }
}

fn pairs(results: &[ResultFinding]) -> Vec<OperationsPair> {
    let of = |first: &Pair| {
        let all = || {
            results.iter().flat_map(|result| {
                let pair = result.pairs.iter().find(|pair| pair.a == first.a && pair.b == first.b);
                pair.map(|pair| (result.limit, pair))
            })
        };
        let count = |verdict: Verdict| all().filter(|(_, pair)| pair.verdict == verdict).count() as u32;
        let logs: Vec<f64> =
            all().filter(|(limit, _)| *limit != Limit::Harness).map(|(_, pair)| pair.ratio.unwrap().ln()).collect();
        let none = count(Verdict::None);
        OperationsPair {
            a: first.a.clone(),
            b: first.b.clone(),
            geometric_mean: Some((logs.iter().sum::<f64>() / logs.len() as f64).exp()),
            steps: logs.len() as u32,
            wins: count(Faster),
            ties: count(Tie),
            losses: count(Slower),
            undecided: count(Verdict::Undecided),
            without_verdict: none,
            why: first.why.clone().filter(|_| none > 1),
        }
    };
    results[0].pairs.iter().map(of).collect()
}

/// The suite on three filesystems, beside AxVisor's in the same process and a floor.
pub fn five() -> Findings {
    let (mut library, mut floor) = (lane("rsext4", "rsext4"), lane("tmpfs", "tmpfs"));
    library.venue = "library".to_owned();
    library.promises.journal = false;
    floor.venue = "memory".to_owned();
    floor.promises.journal = false;
    let lanes = vec![lane("ext4", "ext4"), lane("xfs", "xfs"), lane("btrfs", "btrfs"), library, floor];
    let (results, table) = table(&lanes, &[(0, 1.0), (1, 1.0), (2, 1.0), (0, 0.13), (0, 0.31)], &STEPS);
    let mut told = answer(
        &["ext4", "xfs"],
        vec![
            reason("ext4", "xfs", (TABLE.0, TABLE.1, "unlink 100 MiB"), 0.0488),
            reason("xfs", "ext4", (TABLE.0, TABLE.1, "unlink 50 x 1 KiB"), 0.544),
            reason("btrfs", "xfs", (TABLE.0, TABLE.1, "write 50 MiB at random, 5000 x 4 KiB"), 0.196),
        ],
    );
    let title = |result: &ResultFinding| format!("{}: {}", TABLE.1, result.group);
    let undecided = |of: &&ResultFinding| of.pairs.iter().any(|pair| pair.verdict == Verdict::Undecided);
    told.undecided = results.iter().filter(undecided).map(title).collect();
    let told_nothing = |of: &&ResultFinding| matches!(of.limit, Limit::Cache | Limit::Harness);
    told.cannot_tell = results.iter().filter(told_nothing).map(title).collect();
    told.not_ranked = vec![
        not_ranked(&["rsext4", "tmpfs"], "promise no crash-safe metadata"),
        not_ranked(&["rsext4"], "is an in-process library, called without any system call"),
    ];
    let mut findings = race(lanes, results, Some(told));
    (findings.suite, findings.operations) = ("operations".to_owned(), vec![table]);
    findings.ceilings.clear();
    findings
}

/// Two filesystems, as the article's table has them.
pub fn two() -> Findings {
    let mut findings = five();
    let lanes = findings.lanes[..2].to_vec();
    let (results, table) = table(&lanes, &[(0, 1.0), (1, 1.0)], &STEPS);
    let told = answer(&["ext4", "xfs"], vec![reason("ext4", "xfs", (TABLE.0, TABLE.1, "unlink 100 MiB"), 0.0488)]);
    (findings.lanes, findings.results, findings.operations) = (lanes, results, vec![table]);
    findings.answer = Some(told);
    findings
}

/// The article's own method: a process per operation, one round, and a lane that ran out of inodes.
pub fn as_published() -> Findings {
    let lanes = vec![lane("ext4", "ext4"), lane("xfs", "xfs"), lane("f2fs", "f2fs")];
    let small: Vec<Step> = STEPS.iter().filter(|step| step.5[0] < 0.004 && step.3 > 1).copied().collect();
    let (mut results, mut table) = table(&lanes, &[(0, 150.0), (1, 151.0), (2, 140.0)], &small);
    for pair in results.iter_mut().flat_map(|result| &mut result.pairs) {
        (pair.low, pair.high, pair.verdict) = (None, None, Verdict::Undecided);
        pair.undecided = Some(Undecided::TooFewRounds);
        pair.why = Some("one round: no interval between runs".into());
    }
    for (row, result) in table.rows.iter_mut().zip(&mut results) {
        for (at, of) in row.figures.iter_mut().enumerate() {
            of.process_startup_share = Some(0.93 - 0.01 * at as f64);
            (of.low, of.high) = (None, None);
        }
        if row.section == "delete" {
            let why = "no inode is left after 312 of 400 files; make the lane larger";
            let of = OperationFigure { failure: Some(why.into()), seconds: None, ..row.figures[2].clone() };
            row.figures[2] = OperationFigure {
                operations_per_second: None,
                bandwidth_bytes_per_second: None,
                process_startup_share: None,
                ..of
            };
        }
        result.rounds = 1;
    }
    for result in results.iter_mut().filter(|result| result.section.as_deref() == Some("delete")) {
        result.estimates[2] = failed("f2fs", "no inode is left after 312 of 400 files; make the lane larger");
    }
    (table.rounds, table.passes) = (1, 1);
    (table.process_startup_share, table.warnings) = (Some(0.92), Vec::new());
    table.pairs = pairs(&results);
    for total in &mut table.totals {
        total.steps = table.rows.iter().filter(|row| row.section != "delete").count() as u32;
    }
    let mut findings = race(lanes, results, Some(answer(&["ext4", "xfs", "f2fs"], Vec::new())));
    (findings.suite, findings.operations) = ("operations".to_owned(), vec![table]);
    findings.ceilings.clear();
    findings
}

/// AxVisor's filesystem beside Linux by the article's own method: one round, no lane that may be
/// ranked against another, and one whose rows started no process.
pub fn library() -> Findings {
    let (mut library, mut floor) = (lane("rsext4", "rsext4"), lane("tmpfs", "tmpfs"));
    (library.venue, library.promises.journal) = ("library".to_owned(), false);
    (floor.venue, floor.promises.journal) = ("memory".to_owned(), false);
    let lanes = vec![lane("ext4", "ext4"), library, floor];
    let small: Vec<Step> = STEPS.iter().filter(|step| step.5[0] < 0.004 && step.3 > 1).copied().collect();
    let (mut results, mut table) = table(&lanes, &[(0, 150.0), (0, 0.4), (0, 140.0)], &small);
    for pair in results.iter_mut().flat_map(|result| &mut result.pairs) {
        (pair.low, pair.high) = (None, None);
    }
    for row in &mut table.rows {
        for of in row.figures.iter_mut().filter(|of| of.lane != "rsext4") {
            of.process_startup_share = Some(0.93);
        }
    }
    for result in &mut results {
        result.rounds = 1;
        (result.limit, result.limit_reason) = (Limit::OtherPrograms, "other programs were at work".into());
    }
    (table.rounds, table.passes, table.process_startup_share) = (1, 1, Some(0.93));
    table.warnings = vec![
        "rsext4 is an in-process library even here: its rows started no process, while each operation of a mounted \
         lane was one"
            .into(),
    ];
    table.pairs = pairs(&results);
    let mut told = answer(&["ext4"], Vec::new());
    told.not_ranked = vec![
        not_ranked(&["rsext4", "tmpfs"], "promise no crash-safe metadata"),
        not_ranked(&["rsext4"], "is an in-process library, called without any system call"),
    ];
    told.next = ["report", "--format", "markdown"].map(str::to_owned).to_vec();
    told.settle = None;
    let mut findings = race(lanes, results, Some(told));
    (findings.suite, findings.operations) = ("operations".to_owned(), vec![table]);
    findings.ceilings.clear();
    findings
}

/// Block I/O with its load, and a few steps beside it: what suite `general` is made of.
pub fn general() -> Findings {
    let lanes = vec![lane("ext4", "ext4"), lane("xfs", "xfs"), lane("btrfs", "btrfs")];
    let steps: Vec<Step> = STEPS.iter().filter(|step| step.0 == "metadata").copied().collect();
    let (steps, mut table) = table(&lanes, &[(0, 1.0), (1, 1.0), (2, 1.0)], &steps);
    table.warnings.clear();
    let mut findings = races::three();
    for result in findings.results.iter_mut().take(3) {
        for (at, of) in result.estimates.iter_mut().enumerate() {
            of.latency_mean_ns = Some(846e3 * (1.0 + 0.1 * at as f64));
            of.cpu_share = Some([0.0088, 0.0091, 0.0271][at]);
            of.cpu_system_share = Some(0.91 + 0.01 * at as f64);
            of.device_busy_share = Some(0.98);
        }
    }
    findings.results.truncate(3);
    findings.results.extend(steps);
    findings.suite = "general".to_owned();
    findings.operations = vec![table];
    let told = findings.answer.as_mut().unwrap();
    told.undecided.clear();
    // Its other results are left out.
    told.cannot_tell.retain(|title| findings.results.iter().any(|result| result.title == *title));
    findings
}
