//! The page's data from records whose truth is known.

use crate::common;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use common::{io, lane, noise, operations, operations_trial, probe, record, run, small_files, step, trial};
use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Serializer, V2DeflateSerializer};
use model::findings::Verdict;
use model::operations::Operation;
use model::page::{Quantity, RacePage};
use model::plan::Rounds;
use model::record::{Profile, Record};
use model::timeline::TrialTimeline;
use model::trial::{Outcome, Trial};
use model::workload::Pattern;

fn page(record: &Record) -> RacePage {
    stats::page::race(record, stats::judge::findings(record), Vec::new())
}

/// A histogram of these latencies as records keep it.
fn histogram(values: impl Iterator<Item = u64>) -> String {
    let mut histogram = Histogram::<u64>::new(3).unwrap();
    values.for_each(|value| histogram.record(value).unwrap());
    let mut bytes = Vec::new();
    V2DeflateSerializer::new().serialize(&histogram, &mut bytes).unwrap();
    STANDARD.encode(bytes)
}

fn race() -> Record {
    let workloads = vec![io("random-read", Pattern::RandRead, 8, 0), small_files()];
    let mut record = record(vec![lane("ext4"), lane("xfs")], workloads, Rounds::Fixed(6), false);
    run(&mut record, 6, &[1000.0, 1300.0], 0.02, 5);
    record
}

#[test]
fn every_result_has_its_rounds_in_the_order_of_findings_and_lanes() {
    let mut record = race();
    // A noisy second round of ext4, run again; what was set aside is in no figure.
    let noisy = record.trials.iter().position(|trial| trial.round == 2 && trial.lane == "ext4").unwrap();
    let again = Trial { attempt: 2, ..record.trials[noisy].clone() };
    record.trials[noisy].outcome = Outcome::Repeated;
    record.trials[noisy].groups[0].metrics.insert("operations_per_second".into(), 7.0);
    record.trials.push(again);
    let page = page(&record);
    assert_eq!(page.details.len(), page.findings.results.len());
    assert_eq!(page.details.len(), 4, "read, and create, read, delete");
    for (detail, result) in page.details.iter().zip(&page.findings.results) {
        assert_eq!(detail.lanes.iter().map(|lane| lane.lane.as_str()).collect::<Vec<_>>(), ["ext4", "xfs"]);
        for (lane, estimate) in detail.lanes.iter().zip(&result.estimates) {
            assert_eq!(lane.rounds.iter().map(|of| of.round).collect::<Vec<_>>(), [1, 2, 3, 4, 5, 6]);
            assert_eq!((lane.rounds_in_all, lane.latency.len()), (6, 0));
            let mean = (lane.rounds.iter().map(|of| of.value.ln()).sum::<f64>() / 6.0).exp();
            assert!((mean / estimate.mean - 1.0).abs() < 1e-5, "{mean} {}", estimate.mean);
        }
    }
    assert_eq!((page.record, page.sentences.len(), page.published.len()), (None, 0, 0));
}

#[test]
fn latencies_of_all_rounds_are_one_curve_that_agrees_with_the_estimates() {
    let mut record = race();
    for trial in record.trials.iter_mut().filter(|trial| trial.workload == "random-read") {
        let slow = if trial.lane == "xfs" { 3 } else { 1 };
        trial.groups[0].histogram = Some(histogram((1..=10_000).map(|at| at * slow * 100 * u64::from(trial.round))));
    }
    let page = page(&record);
    for (lane, estimate) in page.details[0].lanes.iter().zip(&page.findings.results[0].estimates) {
        let at = |percentile: f64| lane.latency.iter().find(|point| point.percentile == percentile).unwrap().ns;
        for (percentile, ns) in
            [(50.0, estimate.latency_p50_ns), (99.0, estimate.latency_p99_ns), (99.9, estimate.latency_p999_ns)]
        {
            assert!((at(percentile) / ns.unwrap() - 1.0).abs() < 1e-3, "{percentile}");
        }
        // 60,000 operations: 20 are slower than 99.9667 %.
        let last = lane.latency.last().unwrap().percentile;
        assert!((99.96..99.9667).contains(&last), "{last}");
    }
    assert!(page.details[1..].iter().flat_map(|detail| &detail.lanes).all(|lane| lane.latency.is_empty()));
}

fn timeline(points: u32, seconds: f64, cpu: impl Fn(u32) -> f64) -> Option<Box<TrialTimeline>> {
    let times: Vec<f64> = (1..=points).map(|at| f64::from(at) * seconds / f64::from(points)).collect();
    Some(Box::new(TrialTimeline {
        seconds: times.iter().map(|at| 10.0 * at).collect(),
        measured_seconds: times,
        cpu_share: (0..points).map(cpu).collect(),
        device_iops: (0..points).map(|at| f64::from(at) * 10.0).collect(),
        ..TrialTimeline::default()
    }))
}

#[test]
fn trials_that_count_follow_each_other_in_a_lanes_course() {
    let mut record = race();
    for trial in &mut record.trials {
        trial.timeline = timeline(4, 1.0, |at| f64::from(at) / 10.0 + f64::from(trial.round));
    }
    let failed = record.trials.iter().position(|trial| trial.round == 3 && trial.lane == "xfs").unwrap();
    record.trials[failed].outcome = Outcome::Failed;
    let page = page(&record);
    let titles: Vec<&str> = page.timelines.iter().map(|timeline| timeline.workload.as_str()).collect();
    assert_eq!(titles, ["random-read", "small-files"]);
    let [ext4, xfs] = page.timelines[0].lanes.as_slice() else { panic!() };
    assert_eq!((ext4.lane.as_str(), ext4.seconds.len(), xfs.seconds.len()), ("ext4", 24, 20));
    // One measured second each, whatever lay between.
    assert_eq!(ext4.seconds[..6], [0.25, 0.5, 0.75, 1.0, 1.25, 1.5]);
    assert_eq!((ext4.rounds[3], ext4.rounds[4], xfs.rounds[8]), (1, 2, 4));
    assert_eq!(xfs.seconds.last(), Some(&5.0));
    assert_eq!(ext4.quantities[&Quantity::CpuShare][4..8], [2.0, 2.1, 2.2, 2.3]);
    let known: Vec<_> = ext4.quantities.keys().copied().collect();
    assert_eq!(known, [Quantity::CpuShare, Quantity::DeviceIops], "what nobody kept is absent");
}

#[test]
fn records_without_courses_have_a_point_per_trial_from_its_sums() {
    let mut record = race();
    record.header.lanes[1].backing = String::new();
    let page = page(&record);
    let [ext4, xfs] = page.timelines[0].lanes.as_slice() else { panic!() };
    assert_eq!(ext4.seconds, [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    assert_eq!(ext4.rounds, [1, 2, 3, 4, 5, 6]);
    // 0.6 CPU seconds of four CPUs in a second.
    assert!(ext4.quantities[&Quantity::CpuShare].iter().all(|share| *share == 0.15));
    let first = record.trials.iter().find(|trial| trial.lane == "ext4").unwrap().groups[0].operations as f64;
    assert!((ext4.quantities[&Quantity::OperationsPerSecond][0] / first - 1.0).abs() < 1e-3);
    assert!((ext4.quantities[&Quantity::DeviceIops][0] / first - 1.0).abs() < 1e-3);
    assert!(!ext4.quantities.contains_key(&Quantity::PressureIoShare), "zeros throughout: not known");
    assert!(!xfs.quantities.contains_key(&Quantity::DeviceIops), "a lane on no disk");
    assert!(xfs.quantities.contains_key(&Quantity::CpuShare));
}

#[test]
fn long_courses_are_thinned_and_keep_their_extremes_in_every_round() {
    let workloads = vec![io("random-read", Pattern::RandRead, 8, 0)];
    let mut record = record(vec![lane("ext4"), lane("xfs")], workloads, Rounds::Fixed(40), false);
    run(&mut record, 40, &[1000.0, 1300.0], 0.02, 5);
    for trial in record.trials.iter_mut().filter(|trial| trial.lane == "ext4") {
        let spike = trial.round * 5 % 256;
        trial.timeline = timeline(256, 60.0, |at| if at == spike { 1.0 } else { f64::from(at % 50) / 100.0 });
    }
    let page = page(&record);
    let [ext4, xfs] = page.timelines[0].lanes.as_slice() else { panic!() };
    assert_eq!((ext4.seconds.len(), ext4.rounds.len(), xfs.seconds.len()), (2000, 2000, 40));
    let cpu = &ext4.quantities[&Quantity::CpuShare];
    assert_eq!(cpu.len(), 2000);
    assert_eq!(cpu.iter().filter(|share| **share == 1.0).count(), 40, "no spike is lost");
    assert!(ext4.seconds.windows(2).all(|pair| pair[0] < pair[1]));
    assert_eq!((ext4.seconds.last(), ext4.rounds.last()), (Some(&2400.0), Some(&40)));
}

#[test]
fn every_trial_and_group_is_a_row_and_what_failed_says_why_once() {
    let mut record = race();
    record.header.started = "2026-11-20T09:58:30Z".into();
    let last = record.trials.last_mut().unwrap();
    (last.outcome, last.reason) = (Outcome::Repeated, Some("other programs".into()));
    last.flags = vec!["warm-cache".into()];
    let lost = Trial {
        outcome: Outcome::Failed,
        reason: Some("no space".into()),
        groups: Vec::new(),
        ..record.trials[0].clone()
    };
    record.trials.push(lost);
    let table = page(&record).trials;
    // Six rounds of two lanes: one group and three; and the failed one.
    assert_eq!((table.in_all, table.round.len(), table.workload.len()), (49, 49, 49));
    let name = |index: u32| table.names[index as usize].as_str();
    assert_eq!((name(table.workload[0]), name(table.group[0]), name(table.lane[0])), ("random-read", "read", "ext4"));
    assert_eq!((name(table.group[48]), table.value[48], table.outcome[48]), ("", None, Outcome::Failed));
    assert!((table.value[0].unwrap() / record.trials[0].groups[0].metrics["operations_per_second"] - 1.0).abs() < 1e-5);
    assert_eq!((table.operations[0], table.seconds[0]), (record.trials[0].groups[0].operations, 1.0));
    assert_eq!(table.started_seconds[0], 90.0);
    let said: Vec<(u32, &str)> = table.remarks.iter().map(|(row, said)| (*row, said.as_str())).collect();
    assert_eq!(said, [(45, "other programs; warm-cache"), (48, "no space")], "at the first row of its trial");
}

#[test]
fn tables_of_many_trials_are_an_even_choice_with_all_that_does_not_count() {
    let workloads = vec![io("random-read", Pattern::RandRead, 8, 0)];
    let mut record = record(vec![lane("ext4")], workloads.clone(), Rounds::Fixed(30_000), false);
    record.trials = (1..=30_000).map(|round| trial("ext4", &workloads[0], round, 1000.0)).collect();
    for round in [7, 15_000, 29_999] {
        record.trials[round].outcome = Outcome::Void;
        record.trials[round].reason = Some("the throttle did not hold".into());
    }
    let page = page(&record);
    let table = &page.trials;
    assert_eq!((table.in_all, table.round.len(), table.p99_ns.len()), (30_000, 20_000, 20_000));
    assert_eq!(table.outcome.iter().filter(|outcome| **outcome == Outcome::Void).count(), 3);
    assert!(table.round.windows(2).all(|pair| pair[0] < pair[1]));
    assert!(table.remarks.iter().all(|(row, _)| table.outcome[*row as usize] == Outcome::Void));
    // Equal figures have no smallest and largest of their own.
    assert!((1998..=2000).contains(&page.details[0].lanes[0].rounds.len()));
    assert_eq!(page.details[0].lanes[0].rounds_in_all, 29_997);
    assert_eq!(page.timelines[0].lanes[0].seconds.len(), 2000);
}

#[test]
fn whatever_the_record_holds_the_page_is_bounded_and_holds_numbers() {
    let steps: Vec<_> = (0..40).map(|at| step("s", &format!("step {at}"), Operation::Stat, 100)).collect();
    let work = operations(steps);
    let lanes: Vec<_> = (0..10).map(|at| lane(&format!("lane{at}"))).collect();
    let mut record = record(lanes, vec![work.clone()], Rounds::Fixed(200), false);
    let mut noise = noise(3);
    for round in 1..=200 {
        for lane in 0..10 {
            let seconds: Vec<f64> = (0..40).map(|_| 0.01 * (0.1 * noise.next()).exp()).collect();
            let mut trial = operations_trial(&format!("lane{lane}"), &work, round, &seconds);
            trial.timeline = timeline(200, 1.0, |_| f64::MAX);
            trial.groups[0].histogram = Some("no histogram".into());
            record.trials.push(trial);
        }
    }
    // Columns of unequal length, as only an edited record has them.
    if let Some(timeline) = &mut record.trials[0].timeline {
        timeline.seconds.clear();
    }
    if let Some(timeline) = &mut record.trials[1].timeline {
        timeline.device_iops.pop();
    }
    // Verdicts of so many pairs take long, and none is asked for.
    let first = Record { trials: record.trials[..20].to_vec(), ..record.clone() };
    let page = stats::page::race(&record, stats::judge::findings(&first), Vec::new());
    let rounds: usize = page.details.iter().flat_map(|detail| &detail.lanes).map(|lane| lane.rounds.len()).sum();
    assert!(rounds <= 60_000 && rounds > 30_000, "{rounds}");
    let points: usize = page.timelines[0].lanes.iter().map(|lane| lane.seconds.len()).sum();
    assert!(points <= 12_000 && points > 10_000, "{points}");
    assert!(!page.timelines[0].lanes[1].quantities.contains_key(&Quantity::DeviceIops));
    // JSON has no infinity: what became one would not read back.
    let text = serde_json::to_string(&page).unwrap();
    let back: RacePage = serde_json::from_str(&text).unwrap();
    assert_eq!((back.details.len(), back.trials.in_all), (page.details.len(), page.trials.in_all));
    assert!(text.len() < 12 << 20, "{}", text.len());
}

#[test]
fn the_bare_disk_stands_beside_a_result_only_where_it_did_the_same_work() {
    let workloads = vec![
        io("random-read", Pattern::RandRead, 8, 0),
        io("mixed", Pattern::RandRw, 8, 0),
        io("commit", Pattern::RandWrite, 1, 1),
        small_files(),
    ];
    let mut record = record(vec![lane("ext4"), lane("xfs")], workloads, Rounds::Fixed(6), false);
    run(&mut record, 6, &[1000.0, 1300.0], 0.02, 5);
    for (workload, profile, rate) in [
        ("random-read", Profile::RandRead, 2000.0),
        // What a write and a flush cost says nothing of reads, nor of files.
        ("random-read", Profile::Flush, 70.0),
        ("mixed", Profile::RandRead, 2000.0),
        ("commit", Profile::Flush, 80.0),
        ("small-files", Profile::Flush, 90.0),
        ("small-files", Profile::RandWrite, 95.0),
    ] {
        record.probes.push(probe(workload, profile, 1, rate));
    }
    let ceilings = |record: &Record| {
        let page = page(record);
        let of = |workload: &str| {
            let results = page.findings.results.iter().zip(&page.details);
            let mut own = results.filter(|(result, _)| result.workload == workload).map(|(_, detail)| detail.ceiling);
            let first = own.next().unwrap();
            assert!(own.all(|other| other == first), "{workload}");
            first
        };
        ["random-read", "mixed", "commit", "small-files"].map(of)
    };
    assert_eq!(ceilings(&record), [Some(2000.0), None, Some(80.0), None]);
    // The race's own throttle held the bare disk too; another one of a lane did not.
    let throttle: model::Throttle = "100MiB/s".parse().unwrap();
    record.header.plan.throttle = Some(throttle);
    assert_eq!(ceilings(&record), [Some(2000.0), None, Some(80.0), None]);
    let lanes = record.header.lanes.iter().map(|lane| lane.name.clone()).collect::<Vec<_>>();
    record.header.plan.lane_throttles.insert(lanes[1].clone(), "50MiB/s".parse().unwrap());
    assert_eq!(ceilings(&record), [None; 4]);
    record.header.plan.lane_throttles.clear();
    // On a file of a directory it is not the bare disk.
    record.probes[0].through_filesystem = true;
    assert_eq!(ceilings(&record), [None, None, Some(80.0), None]);
    // Latencies are none of its figures.
    record.probes[0].through_filesystem = false;
    for trial in record.trials.iter_mut().filter(|trial| trial.workload == "random-read") {
        trial.groups[0].metrics.insert("latency_p99_ns".into(), 5e6);
        trial.groups[0].primary_metric = "latency_p99_ns".into();
    }
    assert_eq!(ceilings(&record), [None, None, Some(80.0), None]);
}

#[test]
fn a_lane_raced_twice_is_counted_against_itself() {
    let mut record = race();
    assert_eq!(page(&record).self_check, None);
    record.header.lanes[1].is_self = true;
    let check = page(&record).self_check.unwrap();
    let pairs: Vec<_> = page(&record).findings.results.into_iter().flat_map(|result| result.pairs).collect();
    let of = |verdicts: &[Verdict]| pairs.iter().filter(|pair| verdicts.contains(&pair.verdict)).count() as u32;
    assert_eq!(check.lane, "ext4");
    assert_eq!((check.ties, check.apart), (of(&[Verdict::Tie]), of(&[Verdict::Faster, Verdict::Slower])));
    assert_eq!((check.undecided, check.without_verdict), (of(&[Verdict::Undecided]), of(&[Verdict::None])));
    assert!(check.apart > 0 && check.low.is_none(), "1000 against 1300 is no tie: {check:?}");
    let mut level = record.clone();
    level.trials.clear();
    run(&mut level, 6, &[1000.0, 1000.0], 0.001, 5);
    let check = page(&level).self_check.unwrap();
    assert!(check.ties == 4 && check.low.unwrap() < 1.0 && check.high.unwrap() > 1.0, "{check:?}");
}
