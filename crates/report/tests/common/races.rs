//! The situations themselves.

use super::*;
use model::findings::Verdict::{Faster, Slower, Tie};

/// Estimates of ext4, xfs and btrfs.
fn all(means: [f64; 3]) -> Vec<Estimate> {
    ["ext4", "xfs", "btrfs"].iter().zip(means).map(|(lane, mean)| estimate(lane, mean)).collect()
}

/// Of these three: commits, each with its flush.
fn three_in_commits() -> ResultFinding {
    let mut commit = all([1_080.0, 1_180.0, 514.0]);
    for (estimate, (written, flushes)) in commit.iter_mut().zip([(3.0, 2.0), (2.5, 2.0), (9.1, 2.01)]) {
        estimate.write_amplification = Some(written);
        estimate.flushes_per_operation = Some(flushes);
    }
    result(
        COMMIT,
        false,
        FLUSHES,
        commit,
        vec![
            pair("xfs", "ext4", (1.09, 1.06, 1.12), Faster),
            Pair { why: Some("btrfs also checksums data".into()), ..pair("ext4", "btrfs", (2.1, 1.9, 2.3), Faster) },
            pair("xfs", "btrfs", (2.3, 2.1, 2.5), Faster),
        ],
        &[&["xfs"], &["ext4"], &["btrfs"]],
    )
}

/// Of these three: streams, and random reads and writes.
fn three_in_blocks() -> Vec<ResultFinding> {
    vec![
        result(
            SEQ_WRITE,
            true,
            (Limit::WriteAmplification, "the disk was full at 480 MB/s in every lane; btrfs wrote 1.08x"),
            all([472e6, 474e6, 441e6]),
            vec![
                pair("xfs", "ext4", (1.004, 0.992, 1.012), Tie),
                pair("btrfs", "ext4", (0.934, 0.921, 0.948), Slower),
                pair("btrfs", "xfs", (0.93, 0.915, 0.945), Slower),
            ],
            &[&["xfs", "ext4"], &["btrfs"]],
        ),
        result(
            SEQ_READ,
            true,
            (Limit::Device, "every lane read at 0.97 or more of the bare disk's 512 MB/s"),
            all([508e6, 507e6, 501e6]),
            vec![
                pair("xfs", "ext4", (0.998, 0.99, 1.006), Tie),
                pair("btrfs", "ext4", (0.986, 0.97, 1.002), Tie),
                pair("btrfs", "xfs", (0.988, 0.971, 1.005), Tie),
            ],
            &[&["ext4", "xfs", "btrfs"]],
        ),
        result(
            RAND_READ,
            false,
            (Limit::Device, "every lane read at 0.99 or more of the bare disk's 88.1k IOPS"),
            all([88_010.0, 88_040.0, 87_990.0]),
            vec![
                pair("xfs", "ext4", (1.0, 0.998, 1.002), Tie),
                pair("btrfs", "ext4", (1.0, 0.996, 1.002), Tie),
                pair("btrfs", "xfs", (1.0, 0.996, 1.002), Tie),
            ],
            &[&["ext4", "xfs", "btrfs"]],
        ),
        result(
            RAND_WRITE,
            false,
            (Limit::FilesystemCpu, "btrfs-endio-write took 97 % of a core, the disk was used to 31 %"),
            all([70_100.0, 69_800.0, 19_300.0]),
            vec![
                pair("xfs", "ext4", (0.996, 0.98, 1.013), Tie),
                pair("btrfs", "ext4", (0.275, 0.25, 0.30), Slower),
                pair("btrfs", "xfs", (0.277, 0.25, 0.30), Slower),
            ],
            &[&["ext4", "xfs"], &["btrfs"]],
        ),
    ]
}

/// Of these three: small files.
fn three_in_small_files() -> Vec<ResultFinding> {
    let mut small = result(
        CREATE,
        false,
        UNKNOWN,
        all([21_300.0, 21_900.0, 14_000.0]),
        vec![
            undecided("xfs", "ext4", (1.03, 0.97, 1.09), 11.2),
            pair("btrfs", "ext4", (0.66, 0.61, 0.71), Slower),
            pair("btrfs", "xfs", (0.64, 0.58, 0.70), Slower),
        ],
        &[&["xfs", "ext4"], &["btrfs"]],
    );
    small.warnings.push("rounds correlate (0.34); the intervals were widened".into());
    vec![
        small,
        result(
            READ_FILES,
            false,
            UNKNOWN,
            all([9_020.0, 8_990.0, 9_800.0]),
            vec![
                pair("xfs", "ext4", (0.997, 0.96, 1.035), Tie),
                undecided("btrfs", "ext4", (1.087, 0.99, 1.19), 9.0),
                undecided("btrfs", "xfs", (1.09, 0.995, 1.19), 8.0),
            ],
            &[&["btrfs", "ext4", "xfs"]],
        ),
        result(
            DELETE,
            false,
            UNKNOWN,
            all([41_000.0, 18_100.0, 16_300.0]),
            vec![
                pair("xfs", "ext4", (0.441, 0.41, 0.47), Slower),
                pair("btrfs", "ext4", (0.398, 0.37, 0.43), Slower),
                pair("btrfs", "xfs", (0.90, 0.86, 0.94), Slower),
            ],
            &[&["ext4"], &["xfs"], &["btrfs"]],
        ),
    ]
}

/// ext4, xfs and btrfs in suite `quick`: the race that most people will see.
pub fn three() -> Findings {
    let mut results = vec![three_in_commits()];
    results.extend(three_in_blocks());
    results.extend(three_in_small_files());
    let mut told = answer(
        &["ext4", "xfs"],
        vec![
            reason("btrfs", "ext4", COMMIT, 0.476),
            reason("btrfs", "ext4", RAND_WRITE, 0.275),
            reason("btrfs", "ext4", SEQ_WRITE, 0.934),
            reason("btrfs", "ext4", CREATE, 0.66),
            reason("ext4", "xfs", COMMIT, 0.917),
            reason("xfs", "ext4", DELETE, 0.441),
        ],
    );
    told.cannot_tell = vec![SEQ_READ.1.to_owned(), RAND_READ.1.to_owned()];
    told.undecided = vec!["small files: create".to_owned(), "small files: read".to_owned()];
    let mut findings =
        race(vec![lane("ext4", "ext4"), lane("xfs", "xfs"), lane("btrfs", "btrfs")], results, Some(told));
    findings
        .warnings
        .push("lanes of 2 GiB: mkfs chooses other sizes on a large disk (journal, allocation groups)".into());
    findings
}

/// A lane that skips barriers is fast and gets no verdict; another one failed.
pub fn promises() -> Findings {
    let flushes = |with: &str| {
        let english = "{with} flushes its writes, {without} does not";
        other_promises("flushes_its_writes", english, with, "ext4,nobarrier")
    };
    let full = "mkfs.btrfs ended with status 1: the device is too small; give --lane-size 1GiB";
    let mut unsafe_lane = lane("ext4,nobarrier", "ext4");
    unsafe_lane.promises.barriers = false;
    unsafe_lane.mount_options.push("nobarrier".to_owned());
    let estimates = |means: [f64; 3]| {
        let names = ["ext4", "ext4,nobarrier", "xfs"];
        let mut all: Vec<Estimate> = names.iter().zip(means).map(|(lane, mean)| estimate(lane, mean)).collect();
        all.push(failed("btrfs", full));
        all
    };
    let none = |a: &str| unmeasured(a, "btrfs", "btrfs failed");
    let results = vec![
        result(
            COMMIT,
            false,
            FLUSHES,
            estimates([1_080.0, 4_300.0, 1_180.0]),
            vec![
                without_verdict("ext4", "ext4,nobarrier", (0.251, 0.24, 0.26), flushes("ext4")),
                without_verdict("ext4,nobarrier", "xfs", (3.64, 3.5, 3.8), flushes("xfs")),
                pair("xfs", "ext4", (1.09, 1.06, 1.12), Faster),
                none("ext4"),
                none("xfs"),
                none("ext4,nobarrier"),
            ],
            &[&["xfs"], &["ext4"]],
        ),
        result(
            RAND_READ,
            false,
            (Limit::Harness, "the engine alone reaches 91k IOPS, so it was measured and not the filesystems"),
            estimates([88_000.0, 88_100.0, 87_900.0]),
            vec![
                without_verdict(
                    "ext4",
                    "ext4,nobarrier",
                    (0.999, 0.99, 1.01),
                    "the engine was measured, not the filesystem",
                ),
                without_verdict(
                    "xfs",
                    "ext4,nobarrier",
                    (0.998, 0.99, 1.01),
                    "the engine was measured, not the filesystem",
                ),
                without_verdict("xfs", "ext4", (0.999, 0.99, 1.01), "the engine was measured, not the filesystem"),
            ],
            &[],
        ),
    ];
    let mut told = answer(&["xfs"], vec![reason("ext4", "xfs", COMMIT, 0.917)]);
    told.cannot_tell = vec![RAND_READ.1.to_owned()];
    told.not_ranked = vec![not_ranked(&["ext4,nobarrier"], "promises no write barriers")];
    told.next = ["report", "--format", "markdown"].map(str::to_owned).to_vec();
    told.settle = None;
    let lanes = vec![lane("ext4", "ext4"), unsafe_lane, lane("xfs", "xfs"), lane("btrfs", "btrfs")];
    let mut findings = race(lanes, results, Some(told));
    findings.trials = TrialCounts { ok: 36, repeated: 0, failed: 12, void: 0 };
    findings
}

/// The first lane twice: what the noise looks like.
pub fn with_self() -> Findings {
    let mut twin = lane("ext4 again", "ext4");
    twin.is_self = true;
    let estimates = |means: [f64; 2]| vec![estimate("ext4", means[0]), estimate("ext4 again", means[1])];
    let results = vec![
        result(
            COMMIT,
            false,
            FLUSHES,
            estimates([1_080.0, 1_085.0]),
            vec![pair("ext4", "ext4 again", (0.995, 0.97, 1.02), Tie)],
            &[&["ext4 again", "ext4"]],
        ),
        result(
            CREATE,
            false,
            UNKNOWN,
            estimates([21_000.0, 20_100.0]),
            vec![undecided("ext4", "ext4 again", (1.04, 0.97, 1.12), 31.0)],
            &[&["ext4", "ext4 again"]],
        ),
    ];
    let mut told = answer(&["ext4"], Vec::new());
    told.undecided = vec!["small files".to_owned()];
    told.next = Vec::new();
    told.settle = None;
    race(vec![lane("ext4", "ext4"), twin], results, Some(told))
}

/// One lane, nothing to compare.
pub fn alone() -> Findings {
    let results = vec![
        result(COMMIT, false, FLUSHES, vec![estimate("xfs", 1_180.0)], Vec::new(), &[&["xfs"]]),
        result(SEQ_READ, true, UNKNOWN, vec![estimate("xfs", 508e6)], Vec::new(), &[&["xfs"]]),
    ];
    race(vec![lane("xfs", "xfs")], results, Some(answer(&["xfs"], Vec::new())))
}

/// Interrupted early: nothing is decided yet.
pub fn interrupted() -> Findings {
    let early = Pair { low: None, high: None, ..undecided("xfs", "ext4", (1.04, 0.0, 0.0), 4.0) };
    let one_round = "one round: no interval between runs".to_owned();
    let undecided = Some(Undecided::Interrupted);
    let early = Pair { minutes_to_settle: None, why: Some(one_round.into()), undecided, ..early };
    let why = "different venue: ext4 is image, xfs is device";
    let mut first = result(
        COMMIT,
        false,
        UNKNOWN,
        vec![estimate("ext4", 1_080.0), estimate("xfs", 1_120.0)],
        vec![early],
        &[&["xfs", "ext4"]],
    );
    first.rounds = 1;
    let results = vec![
        first,
        result(
            SEQ_READ,
            true,
            (Limit::Device, "every lane read at the bare disk's 512 MB/s"),
            vec![estimate("ext4", 508e6), estimate("xfs", 509e6)],
            vec![pair("xfs", "ext4", (1.002, 0.99, 1.01), Tie)],
            &[&["xfs", "ext4"]],
        ),
        result(
            RAND_WRITE,
            false,
            UNKNOWN,
            vec![estimate("ext4", 70_000.0), estimate("xfs", 50_000.0)],
            vec![without_verdict("xfs", "ext4", (0.714, 0.7, 0.73), why)],
            &[],
        ),
    ];
    let mut told = answer(&["ext4", "xfs"], Vec::new());
    told.undecided = vec![COMMIT.1.to_owned()];
    told.cannot_tell = vec![SEQ_READ.1.to_owned()];
    told.next = ["race", "--resume", "RECORD"].map(str::to_owned).to_vec();
    told.settle = Some(Settle::Resume { seconds: 120 });
    let mut findings = race(vec![lane("ext4", "ext4"), lane("xfs", "xfs")], results, Some(told));
    findings.outcome = "interrupted".to_owned();
    findings.ceilings = Vec::new();
    findings
}

/// The same filesystem on two emulated disks.
pub fn disks() -> Findings {
    let own = (
        Limit::OwnDisk,
        "each lane runs at 99 to 100 % of its own emulated disk (full 5000iops, less 4500iops): the difference is the \
         disks'",
    );
    let mut estimates = vec![estimate("full", 4_980.0), estimate("less", 4_490.0)];
    estimates.iter_mut().for_each(|estimate| estimate.device_use = Some(0.996));
    let pairs = vec![pair("less", "full", (0.902, 0.898, 0.905), Slower)];
    let results = vec![result(RAND_READ, false, own, estimates, pairs, &[&["full"], &["less"]])];
    let mut told = answer(&["full"], vec![reason("less", "full", RAND_READ, 0.902)]);
    told.different_disks = true;
    told.next = ["report", "--format", "markdown"].map(str::to_owned).to_vec();
    told.settle = None;
    let named = |name: &str| Lane { spec: format!("{name}=ext4"), ..lane(name, "ext4") };
    let mut findings = race(vec![named("full"), named("less")], results, Some(told));
    let disks = [("full", "5000iops"), ("less", "4500iops")];
    findings.lane_throttles =
        disks.iter().map(|(lane, limits)| ((*lane).to_owned(), limits.parse().unwrap())).collect();
    let options = disks.iter().flat_map(|(lane, limits)| ["--throttle".to_owned(), format!("{lane}:{limits}")]);
    findings.command_line.extend(options);
    findings.warnings = vec![
        "the lanes stand on different disks while they are measured: full 5000iops, less 4500iops; a difference may be \
         the disk's"
            .into(),
    ];
    findings
}

/// Every string that a person or a stranger's record can choose is hostile.
pub fn hostile() -> Findings {
    let names = [
        "\u{1b}[31mred\u{1b}[0m|a\nb\u{202e}live`<script>alert(1)</script>@you".to_owned(),
        "=HYPERLINK(\"http://x\"),文件系统".to_owned(),
        "n".repeat(4000),
    ];
    let reason_text = format!("\u{9b}2J</details><img src=x> | {} \r\nend.", "long ".repeat(400));
    let mut one = result(
        ("=work", "ti\u{1b}]0;x\u{7}tle | <b>", "gr\tou|p"),
        false,
        (Limit::Unattributed, &reason_text),
        names.iter().map(|name| estimate(name, 1_000.0)).collect(),
        vec![
            pair(&names[0], &names[1], (1.2, 1.1, 1.3), Faster),
            without_verdict(&names[2], &names[1], (1.4, 1.3, 1.5), reason_text.as_str()),
            undecided(&names[2], &names[0], (1.0, 0.9, 1.1), 1e9),
        ],
        &[],
    );
    one.warnings.push(reason_text.as_str().into());
    let mut told = answer(&[&names[0]], vec![reason(&names[1], &names[0], ("=work", "ti\u{1b}tle | <b>", "g"), 0.8)]);
    told.not_tested = vec!["<i>power</i>\u{2028}cut".into()];
    told.next = ["race", &names[0], "a b'c"].map(str::to_owned).to_vec();
    told.settle = None;
    let lanes = names.iter().map(|name| {
        let mut lane = lane(name, "ext\u{1b}4");
        lane.mount_options.push("a\u{1b}[2J`b".to_owned());
        lane.geometry = vec!["<g>\u{202e}".to_owned()];
        lane
    });
    let mut findings = race(lanes.collect(), vec![one], Some(told));
    findings.machine.cpu = "<b>\u{1b}[5mCPU".to_owned();
    findings.machine.device.model = "dis|k\u{0}".to_owned();
    findings.suite = "\u{1b}[8msuite".to_owned();
    findings.outcome = "fini\u{1b}shed".to_owned();
    findings.warnings = vec![reason_text.into()];
    findings
}

/// Five lanes: every pair is said or follows.
pub fn five() -> Findings {
    let names = ["ext4", "xfs", "btrfs", "f2fs", "jfs"];
    let means = [100.0, 131.0, 50.0, 130.0, 99.0];
    let verdicts = [
        ("xfs", "ext4", (1.31, 1.25, 1.37), Faster),
        ("btrfs", "ext4", (0.5, 0.48, 0.52), Slower),
        ("f2fs", "ext4", (1.30, 1.24, 1.36), Faster),
        ("jfs", "ext4", (0.99, 0.97, 1.01), Tie),
        ("btrfs", "xfs", (0.38, 0.36, 0.4), Slower),
        ("f2fs", "xfs", (0.99, 0.97, 1.012), Tie),
        ("jfs", "xfs", (0.756, 0.72, 0.79), Slower),
        ("f2fs", "btrfs", (2.6, 2.5, 2.7), Faster),
        ("jfs", "btrfs", (1.98, 1.9, 2.06), Faster),
        ("jfs", "f2fs", (0.76, 0.73, 0.79), Slower),
    ];
    let one = result(
        DELETE,
        false,
        UNKNOWN,
        names.iter().zip(means).map(|(lane, mean)| estimate(lane, mean)).collect(),
        verdicts.iter().map(|(a, b, figures, verdict)| pair(a, b, *figures, *verdict)).collect(),
        &[&["xfs", "f2fs"], &["ext4", "jfs"], &["btrfs"]],
    );
    let told = answer(
        &["xfs", "f2fs"],
        vec![
            reason("ext4", "xfs", DELETE, 0.763),
            reason("jfs", "xfs", DELETE, 0.756),
            reason("btrfs", "xfs", DELETE, 0.38),
        ],
    );
    race(names.iter().map(|name| lane(name, name)).collect(), vec![one], Some(told))
}

/// Nothing at all was measured.
pub fn nothing() -> Findings {
    let mut findings = race(vec![lane("ext4", "ext4"), lane("xfs", "xfs")], Vec::new(), None);
    findings.outcome = "failed".to_owned();
    findings.ceilings = Vec::new();
    findings.trials = TrialCounts::default();
    findings.warnings = vec!["the disk is full: /home/li holds 1.2 GiB less than the images need".into()];
    findings
}

/// A comparison with every verdict.
pub fn comparison() -> Comparison {
    let row = |(workload, title, group): (&str, &str, &str), lane: &str, a: f64, b: f64, verdict, why: Option<&str>| {
        ComparisonRow {
            lane: lane.to_owned(),
            workload: workload.to_owned(),
            title: title.to_owned(),
            group: group.to_owned(),
            metric: "operations_per_second".to_owned(),
            a,
            b,
            ratio: b / a,
            low: Some(b / a * 0.96),
            high: Some(b / a * 1.04),
            verdict,
            why: why.map(str::to_owned),
        }
    };
    let caveat = "these two races ran one after the other, not side by side: what changed between them is part of the difference";
    let mut early = row(CREATE, "=xfs|`", 21_000.0, 23_000.0, Verdict::Undecided, None);
    (early.low, early.high) = (None, None);
    Comparison {
        schema: 1,
        a: "2026-07-01 kernel-6.1.jsonl".to_owned(),
        b: "2026-07-08 kernel-6.12.jsonl".to_owned(),
        rows: vec![
            row(COMMIT, "ext4", 1_080.0, 1_180.0, Faster, Some(caveat)),
            row(COMMIT, "xfs", 1_180.0, 480.0, Slower, Some(caveat)),
            row(RAND_READ, "ext4", 88_000.0, 88_100.0, Tie, None),
            row(CREATE, "ext4", 21_000.0, 21_900.0, Verdict::Undecided, None),
            early,
            row(DELETE, "ext4", 41_000.0, 44_000.0, Verdict::None, Some("different promises: write barriers")),
        ],
        warnings: vec!["the kernels differ: 6.1.0-28-amd64 and 6.12.0-1-amd64".to_owned()],
    }
}

/// Two races of file operations whose method differs.
pub fn comparison_of_steps() -> Comparison {
    let mut of = comparison();
    let steps = ["create 100 x 1 KiB", "read 100 x 1 KiB", "stat 100", "delete 100"];
    let why = Some("different parameters of the workload: loops and method".to_owned());
    let row = |group: &&str, lane: &str, a: f64, b: f64| ComparisonRow {
        workload: "operations".to_owned(),
        title: "operations on files".to_owned(),
        group: (*group).to_owned(),
        lane: lane.to_owned(),
        verdict: Verdict::None,
        why: why.clone(),
        ratio: b / a,
        a,
        b,
        ..of.rows[0].clone()
    };
    let rows: Vec<ComparisonRow> = steps
        .iter()
        .flat_map(|step| [row(step, "ext4", 41_000.0, 832.0), row(step, "rsext4", 52_400.0, 51_600.0)])
        .collect();
    of.rows.truncate(1);
    of.rows.extend(rows);
    of
}

/// A job file of two jobs, and an open loop at a shared rate.
pub fn jobs() -> Findings {
    let times = |estimate: Estimate, p50: f64, p99: f64| Estimate {
        latency_p50_ns: Some(p50),
        latency_p99_ns: Some(p99),
        latency_p999_ns: Some(2.0 * p99),
        cpu_seconds_per_gib: None,
        cpu_seconds_per_operation: None,
        agent_cpu_seconds_per_operation: None,
        device_use: None,
        extents: None,
        ..estimate
    };
    let mixture = (
        Limit::Unattributed,
        "work of several kinds runs together, and the bare device has no ceiling for such a mixture",
    );
    let of = |group: &'static str, means: [f64; 2], pair_of: Pair, ranking: &[&[&str]]| {
        let estimates =
            vec![times(estimate("ext4", means[0]), 91e3, 2.1e6), times(estimate("xfs", means[1]), 84e3, 1.7e6)];
        result(("mail", "mail.fio", group), false, mixture, estimates, vec![pair_of], ranking)
    };
    let mut read =
        of("mix: read", [4_300.0, 4_730.0], pair("xfs", "ext4", (1.1, 1.07, 1.13), Faster), &[&["xfs"], &["ext4"]]);
    read.warnings.push("all 12 trials are marked fallocate=posix was taken as native".into());
    let mut latency = result(
        ("latency", "random read latency", "read"),
        false,
        (
            Limit::Unattributed,
            "at 0.7 of the slowest lane's maximum (ext4): 12k operations/s for every lane; the work is paced, so reaching that rate shows no limit",
        ),
        vec![times(estimate("ext4", 1.0e6), 91e3, 1.0e6), times(estimate("xfs", 0.8e6), 84e3, 0.8e6)],
        vec![pair("xfs", "ext4", (1.25, 1.18, 1.33), Faster)],
        &[&["xfs"], &["ext4"]],
    );
    (latency.metric, latency.unit, latency.higher_is_better) = ("latency_p99_ns".to_owned(), "ns".to_owned(), false);
    latency.shared_rate = Some(model::record::SharedRate {
        workload: "latency".to_owned(),
        share: 0.7,
        slowest: "ext4".to_owned(),
        maxima_operations_per_second: BTreeMap::from([("ext4".to_owned(), 17_143.0), ("xfs".to_owned(), 21_000.0)]),
        operations_per_second: 12_000.0,
        disturbed: None,
    });
    let mut unsustained = latency.clone();
    (unsustained.workload, unsustained.title) = ("write-latency".to_owned(), "random write latency".to_owned());
    unsustained.pairs = vec![unmeasured("xfs", "ext4", "ext4 (2 of 6 trials) cannot sustain this rate")];
    unsustained.ranking = vec![vec!["xfs".to_owned(), "ext4".to_owned()]];
    let results = vec![
        read,
        of("mix: write", [4_310.0, 4_320.0], pair("xfs", "ext4", (1.002, 0.99, 1.014), Tie), &[&["xfs", "ext4"]]),
        of("log: write", [900.0, 1_400.0], undecided("xfs", "ext4", (1.5, 0.9, 2.5), 6.0), &[&["xfs", "ext4"]]),
        latency,
        unsustained,
    ];
    let told = answer(
        &["xfs"],
        vec![
            reason("ext4", "xfs", ("mail", "mail.fio", "mix: read"), 0.909),
            reason("ext4", "xfs", ("latency", "random read latency", "read"), 0.8),
        ],
    );
    let mut findings = race(vec![lane("ext4", "ext4"), lane("xfs", "xfs")], results, Some(told));
    findings.suite = "mail.fio".to_owned();
    findings
}
