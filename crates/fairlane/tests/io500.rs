//! The suite `io500` and its result.txt: this crate alone sees all that has part in them.

use foreign::Metric;
use model::findings::{IO500_PHASES, Io500Kind};
use model::job::FileLayout::{Own, Strided};
use model::record::Record;
use model::trial::{Group, Outcome, Trial};
use model::workload::{Kind, Suite};
use report::{Input, Style};

const SUITE: &str = include_str!("../../../suites/io500.toml");
const FIXTURE: &str = include_str!("fixtures/schema1.jsonl");
const GIB: f64 = 1_073_741_824.0;

/// A record of the suite with two lanes, in which every group of lane n does n times as much in round 2 as in round 1.
fn record() -> Record {
    let mut record = Record::parse(FIXTURE).expect("the fixture");
    let suite = Suite::from_toml(SUITE).expect("the suite");
    record.trials.clear();
    let lanes: Vec<String> = record.header.lanes.iter().map(|lane| lane.name.clone()).collect();
    for workload in &suite.workload {
        for round in 1..=2_u32 {
            for (at, lane) in lanes.iter().enumerate() {
                let operations = 1000 * (1 + u64::from(round - 1) * at as u64);
                let rate = operations as f64;
                let group = |name: String| Group {
                    name,
                    operations,
                    seconds: 1.0,
                    metrics: [
                        ("operations_per_second".to_owned(), rate),
                        ("bandwidth_bytes_per_second".to_owned(), rate / 1000.0 * GIB),
                    ]
                    .into(),
                    ..Group::default()
                };
                record.trials.push(Trial {
                    round,
                    lane: lane.clone(),
                    workload: workload.name.clone(),
                    outcome: Outcome::Ok,
                    started: "2026-11-30T10:00:00Z".to_owned(),
                    groups: workload.groups().into_iter().map(group).collect(),
                    ..trial()
                });
            }
        }
    }
    record.header.plan.workloads = suite.workload;
    record
}

/// A trial of nothing.
fn trial() -> Trial {
    Record::parse(FIXTURE).expect("the fixture").trials.swap_remove(0)
}

#[test]
fn the_suite_has_every_phase_and_asks_what_io500_asks() {
    let suite = Suite::from_toml(SUITE).expect("the suite");
    let io = |name: &str| match suite.workload.iter().find(|of| of.name == name).map(|of| &of.kind) {
        Some(Kind::Io(io)) => (io.bs.get(), io.file, io.rw.reads()),
        other => panic!("{name}: {other:?}"),
    };
    assert_eq!((io("ior-easy-write"), io("ior-easy-read")), ((2 << 20, Own, false), (2 << 20, Own, true)));
    assert_eq!((io("ior-hard-write"), io("ior-hard-read")), ((47_008, Strided, false), (47_008, Strided, true)));
    for workload in &suite.workload {
        workload.check().unwrap_or_else(|error| panic!("{}: {error}", workload.name));
        let Kind::Operations(operations) = &workload.kind else { continue };
        let is_hard = workload.name == "mdtest-hard";
        assert_eq!(operations.shares_directories(), is_hard, "{}", workload.name);
        let size = operations.files[0].size.bounds().0;
        assert_eq!(size, if workload.name == "mdtest-easy" { 0 } else { 3901 });
    }
}

#[test]
fn a_record_of_the_suite_has_a_score_and_a_result_txt_that_is_read_back_as_io500s() {
    let record = record();
    let findings = stats::judge::findings(&record);
    assert_eq!(findings.io500.len(), 2);
    let [first, second] = &findings.io500[..] else { panic!("two lanes") };
    // Lists of names take a step more: half as many in a second.
    let find =
        |of: &model::findings::Io500Finding| of.phases.iter().find(|phase| phase.name == "find").map(|of| of.figure);
    assert!(find(first).is_some_and(|figure| (figure - 0.5).abs() < 1e-9), "{first:?}");
    let score = first.score.expect("a score");
    assert!((score.bandwidth - 1.0).abs() < 1e-9, "{score:?}");
    assert!((score.metadata - 0.5_f64.powf(1.0 / 8.0)).abs() < 1e-9, "{score:?}");
    assert_eq!((score.rounds, first.is_valid()), (2, false));
    let ratio = second.score.expect("a score").score / score.score;
    assert!((ratio - 2_f64.sqrt()).abs() < 1e-9, "twice as much in one of two rounds: {ratio}");
    let input = Input { findings: &findings, record: &record, record_path: None };
    let text = report::render(&input, "io500", &Style::default()).expect("a result.txt");
    let (of_first, _) = text.split_once("\n[run]\n").expect("two lanes");
    let read = foreign::read(of_first).unwrap_or_else(|error| panic!("{error}\n{of_first}"));
    assert_eq!(read.format, "IO500 result.txt");
    for (name, counts) in IO500_PHASES {
        let series = read.series.iter().find(|series| series.workload == name).expect(name);
        let (metric, one) = match counts {
            Io500Kind::Bandwidth => (Metric::BandwidthBytesPerSecond, GIB),
            Io500Kind::Metadata => (Metric::OperationsPerSecond, 1000.0),
        };
        assert_eq!((&series.metric, series.runs.len()), (&metric, 1), "{name}");
        let figure = if name == "find" { 0.5 } else { 1.0 };
        assert!((series.runs[0] / one - figure).abs() < 1e-5, "{name}: {:?}", series.runs);
    }
    let total = read.series.iter().find(|series| series.workload == "IO500 SCORE").expect("a score");
    assert!((total.runs[0] - score.score).abs() < 1e-5, "{:?}", total.runs);
    assert_eq!(read.ran, "2026-11-30T10:00:00");
}

#[test]
fn without_all_phases_there_is_no_score() {
    let mut record = record();
    record.header.plan.workloads.retain(|workload| workload.name != "find");
    assert!(stats::judge::findings(&record).io500.is_empty());
}

#[test]
fn what_was_read_more_than_once_through_the_page_cache_is_said_to_be_a_figure_of_memory() {
    let mut record = record();
    let set = |record: &mut Record, bytes: u64| {
        record.trials.iter_mut().flat_map(|trial| &mut trial.groups).for_each(|group| group.bytes = bytes);
    };
    let again = |record: &Record| -> Vec<String> {
        let all = stats::judge::findings(record).io500.into_iter().flat_map(|of| of.phases);
        all.filter(|phase| phase.read_again).map(|phase| phase.name).collect()
    };
    set(&mut record, 235_040_000);
    assert!(again(&record).is_empty(), "once");
    set(&mut record, 235_040_001);
    assert_eq!(again(&record), ["ior-hard-read"; 2], "what is written, or read directly, is not");
    record.header.plan.ranks = Some(model::ranks::JobRanks { ranks: 2, nodes: 1, ..Default::default() });
    assert!(again(&record).is_empty(), "each of two ranks read half of their file");
}
