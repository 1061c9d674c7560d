//! Whatever figures a record holds: no panic, no figure that JSON cannot hold.

use crate::common;

use common::{io, lane, operations, probe, record, small_files, step, trial};
use model::operations::Operation;
use model::plan::Rounds;
use model::record::{EndOutcome, Profile, Record};
use model::trial::{DeviceUse, Outcome, Trial};
use model::workload::Pattern;
use proptest::prelude::*;
use stats::gate::{Named, Terms, gate};
use stats::noise::HostOverhead;
use stats::{compare, forecast, judge, noise, sequential, steady, student};

fn figure() -> impl Strategy<Value = f64> {
    prop_oneof![
        6 => 0.1..1e6,
        1 => any::<f64>(),
        1 => prop::sample::select(vec![0.0, -1.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY, f64::MAX, f64::MIN_POSITIVE, 5e-324]),
    ]
}

fn counter() -> impl Strategy<Value = u64> {
    prop_oneof![4 => 0..1_000_000_000_u64, 1 => Just(0), 1 => any::<u64>()]
}

fn device() -> impl Strategy<Value = DeviceUse> {
    (counter(), counter(), counter(), counter(), counter(), figure(), figure()).prop_map(
        |(reads, writes, read_bytes, write_bytes, flushes, flush_seconds, queue_seconds)| DeviceUse {
            reads,
            writes,
            read_bytes,
            write_bytes,
            flushes,
            flush_seconds,
            queue_seconds,
            ..Default::default()
        },
    )
}

prop_compose! {
    fn any_trial()(
        lane in 0..3_usize, workload in 0..4_usize, round in 0..24_u32, attempt in 0..3_u32, outcome in 0..8_u8,
        rate in figure(), seconds in figure(), window in figure(), cpus in 0..5_u32, cpu in (figure(), figure(), figure(), figure()),
        device in device(), backing in device(), operations in counter(), bytes in counter(), thread in prop::option::of(figure()),
        slices in prop::collection::vec(figure(), 0..40), own in any::<bool>(), bandwidth in any::<bool>(),
    ) -> Trial {
        let workload = &workloads()[workload];
        let mut trial = trial(["ext4", "xfs", "gone"][lane], workload, round, 100.0);
        trial.attempt = attempt;
        trial.outcome = match outcome { 0 => Outcome::Failed, 1 => Outcome::Repeated, _ => Outcome::Ok };
        trial.phases_seconds.insert("measure".into(), seconds);
        trial.system.window_seconds = window;
        trial.system.cpus = cpus;
        (trial.system.cpu_user_seconds, trial.system.cpu_system_seconds) = (cpu.0, cpu.1);
        (trial.system.cpu_steal_seconds, trial.system.agent_cpu_user_seconds) = (cpu.2, cpu.3);
        (trial.system.device, trial.system.backing) = (device, backing);
        trial.system.busiest_thread_share = thread;
        let system = trial.system.clone();
        for group in &mut trial.groups {
            (group.operations, group.bytes, group.seconds) = (operations, bytes, seconds);
            if bandwidth {
                group.primary_metric = "bandwidth_bytes_per_second".into();
            }
            group.metrics = [(group.primary_metric.clone(), rate)].into();
            group.metrics.insert(stats::operations::PROCESS_STARTUP.into(), cpu.0);
            group.sync_seconds = cpu.1;
            group.slices_operations_per_second = slices.clone();
            if bandwidth {
                (group.windows_operations_per_second, group.windows_seconds) = (slices.clone(), cpu.2);
            }
            group.histogram = own.then(|| "no histogram".into());
            group.system = own.then(|| system.clone());
        }
        trial
    }
}

fn workloads() -> Vec<model::workload::Workload> {
    let steps = vec![step("s", "stat", Operation::Stat, 5), step("t", "read", Operation::Read, 5)];
    vec![
        io("commit", Pattern::Append, 1, 1),
        io("random-read", Pattern::RandRead, 32, 0),
        small_files(),
        operations(steps),
    ]
}

prop_compose! {
    fn any_record()(
        trials in prop::collection::vec(any_trial(), 0..80), probes in prop::collection::vec((0..3_usize, 0..6_usize, figure(), device()), 0..8),
        rounds in prop_oneof![Just(Rounds::Auto), (0..25_u32).prop_map(Rounds::Fixed)], margin in figure(), first in any::<bool>(), ended in any::<bool>(),
    ) -> Record {
        let mut race = record(vec![lane("ext4"), lane("xfs"), lane("btrfs")], workloads(), rounds, first);
        race.header.plan.margin = if margin.is_finite() { margin } else { 0.05 };
        race.end = ended.then_some(EndOutcome::Complete);
        race.trials = trials;
        let profiles = [Profile::SeqRead, Profile::SeqWrite, Profile::RandRead, Profile::RandWrite, Profile::Flush, Profile::Null];
        for (workload, profile, rate, device) in probes {
            let mut of = probe(&workloads()[workload].name, profiles[profile], 1, 100.0);
            (of.operations_per_second, of.bandwidth_bytes_per_second, of.system.device) = (rate, rate * 4096.0, device);
            race.probes.push(of);
        }
        race
    }
}

/// serde_json writes NaN and infinity as null, which does not read back into a figure.
fn survives_json<T: serde::Serialize + serde::de::DeserializeOwned>(of: &T) {
    let text = serde_json::to_string(of).unwrap();
    let again: T = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"));
    assert_eq!(serde_json::to_string(&again).unwrap().contains("null"), text.contains("null"));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_record_has_findings_that_json_can_hold(race in any_record()) {
        let findings = judge::findings(&race);
        survives_json(&findings);
        let figures = findings.results.iter().flat_map(|result| &result.estimates).flat_map(|of| {
            [Some(of.mean), of.low, of.high, of.cpu_seconds_per_gib, of.cpu_seconds_per_operation, of.agent_cpu_seconds_per_operation,
                of.write_amplification, of.flushes_per_operation, of.latency_p99_ns, of.device_use, of.latency_mean_ns, of.cpu_share, of.cpu_system_share, of.device_busy_share]
        });
        prop_assert!(figures.flatten().all(f64::is_finite));
        let rows = findings.operations.iter().flat_map(|table| &table.rows).flat_map(|row| &row.figures);
        let of_rows = rows.flat_map(|of| [of.seconds, of.low, of.high, of.sync_seconds, of.operations_per_second, of.bandwidth_bytes_per_second,
            of.floor_share, of.process_startup_share]);
        prop_assert!(of_rows.flatten().all(f64::is_finite));
        let of_pairs = findings.results.iter().flat_map(|result| &result.pairs).flat_map(|of| [of.ratio, of.low, of.high, of.minutes_to_settle]);
        prop_assert!(of_pairs.flatten().all(f64::is_finite));
        prop_assert!(findings.results.iter().all(|result| !result.limit_reason.contains("NaN") && !result.limit_reason.contains("inf")));
    }

    #[test]
    fn any_record_has_advice_that_json_can_hold(race in any_record(), first in 0.01f64..0.99) {
        let findings = judge::findings(&race);
        let names: Vec<String> = findings.results.iter().take(2)
            .map(|of| format!("{}/{}/{}", findings.suite, of.workload, of.group)).collect();
        if let [one, .., other] = names.as_slice() && names.iter().all(|name| name.split('/').count() == 3) {
            let text = format!("name = \"x\"\ntitle = \"X\"\nabout = \"a\"\n\
                [[weight]]\nwhat = \"v\"\nshare = {first}\nwhy = \"y\"\nseries = [{one:?}]\n\
                [[weight]]\nwhat = \"w\"\nshare = {}\nwhy = \"y\"\nseries = [{other:?}]\n", 1.0 - first);
            if let Ok(scenario) = model::scenario::Scenario::from_toml(&text) {
                let needs = ["durable".parse().unwrap()];
                let known = stats::advice::Knowledge { features: &[], suites: &[findings.suite.as_str().into()], others: &[], lacks: |_| Vec::new(), broken: &[] };
                let races = [stats::advice::Race { record: &race, findings: &findings }];
                let advice = stats::advice::advise(&races, &scenario, &needs, &known);
                survives_json(&advice);
                prop_assert!(advice.lane.is_some() != advice.no_advice.is_some());
                let figures = advice.leads.iter().map(|lead| lead.ratio).chain(advice.why.iter().map(|why| why.ratio));
                prop_assert!(figures.chain(advice.share_of_resampled_races).all(f64::is_finite));
            }
        }
    }

    #[test]
    fn any_two_records_can_be_compared(a in any_record(), b in any_record()) {
        survives_json(&compare::compare(&a, &b, "a", "b"));
    }

    #[test]
    fn any_records_can_be_gated(
        records in prop::collection::vec(any_record(), 2..8), first in 1..4_usize, need in prop::option::of(0.001..0.9),
    ) {
        let mut records = records;
        for (at, record) in records.iter_mut().enumerate() {
            record.header.started = format!("2026-11-20T10:00:0{at}Z");
            record.header.plan.rounds = Rounds::Auto;
        }
        let named: Vec<Named> = records.iter().map(|record| Named { name: "r", record }).collect();
        let (baseline, candidate) = named.split_at(first.min(named.len() - 1));
        let terms = Terms { fail_if_slower: 0.05, need_resolution: need };
        match gate(baseline, candidate, &terms) {
            Err(sentence) => prop_assert!(sentence.contains("; "), "{sentence}"),
            Ok(of) => {
                survives_json(&of);
                let figures = of.rows.iter().flat_map(|row| [row.ratio, row.low, row.high, row.half_width, row.baseline.mean, row.candidate.deviation]);
                prop_assert!(figures.flatten().all(f64::is_finite));
                let counts = of.counts;
                prop_assert_eq!(counts.slower + counts.failed + counts.inconclusive + counts.pass + counts.faster, of.comparisons);
                prop_assert_eq!(of.outcome == model::gate::GateOutcome::Fail, counts.slower + counts.failed > 0);
            }
        }
    }

    #[test]
    fn noise_and_steadiness_take_any_figures(trial in any_trial(), series in prop::collection::vec(figure(), 0..100), assumed in figure()) {
        let overhead = HostOverhead::from_probes(&[]);
        if let Some(found) = noise::foreign(&trial.system, &overhead) {
            prop_assert!(!found.reason.is_empty());
        }
        steady::settled_windows(&series, assumed, &series);
        let rule = sequential::Rule { pairs: 3, rounds: Rounds::Auto, margin: 0.05, first_answer: false };
        if let Some(interval) = sequential::interval(&series, &rule, assumed) {
            rule.verdict(interval.mean, interval.half, false);
            forecast::rounds_to_settle(&interval, series.len() as u32, &rule);
        }
    }

    #[test]
    fn the_t_distribution_takes_any_figures(p in figure(), df in figure(), t in figure()) {
        student::two_sided_quantile(p, df);
        let tail = student::two_sided_p(t, df.abs().max(1e-3));
        prop_assert!(tail.is_nan() || (-1e-9..=1.0 + 1e-9).contains(&tail), "{tail}");
    }
}
