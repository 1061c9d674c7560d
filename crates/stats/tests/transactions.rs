//! Transactions as tables, from records made up for the purpose.

use crate::common;

use common::*;
use model::plan::Rounds;
use model::record::Record;
use model::trial::{SystemUse, Trial};
use model::workload::{Suite, Workload};

fn workload() -> Workload {
    let text = "name = \"s\"\nabout = \"a test\"\n[[workload]]\nname = \"w\"\ntitle = \"w\"\nkind = \"oltp\"\n\
                script = \"insert\"\nserver = \"postgresql\"\nthreads = [4]\ncold = false";
    Suite::from_toml(text).unwrap().workload.remove(0)
}

/// What each transaction of a trial took and wrote.
fn costs(mut trial: Trial, retries: f64, fsyncs: f64) -> Trial {
    let group = &mut trial.groups[0];
    let more = [
        ("retries", retries),
        ("server_fsyncs_per_operation", fsyncs),
        ("device_write_bytes_per_operation", 12_288.0),
        ("device_flushes_per_operation", 1.25),
        ("device_flush_ns", 900e3),
        ("deadlocks", retries),
        ("busy", 0.0),
        ("lost_connections", 1.0),
        ("server_fsync_ns", 700e3),
        ("operations_per_second_at_first", 400.0),
        ("device_write_bytes_until_written_per_operation", 20_480.0),
    ];
    group.metrics.extend(more.map(|(key, value)| (key.to_owned(), value)));
    let used = group.operations as f64 * 1e-6;
    group.system = Some(SystemUse {
        agent_cpu_user_seconds: 20.0 * used,
        agent_cpu_system_seconds: 10.0 * used,
        server_cpu_user_seconds: 50.0 * used,
        server_cpu_system_seconds: 70.0 * used,
        ..trial.system.clone()
    });
    trial
}

fn raced() -> Record {
    let workload = workload();
    let mut race = record(vec![lane("ext4"), lane("xfs")], vec![workload.clone()], Rounds::Fixed(3), true);
    for round in 1..=3 {
        let fsyncs = [1.0, 1.5, 1.1][round as usize - 1];
        race.trials.push(costs(trial("ext4", &workload, round, 1000.0), f64::from(round), fsyncs));
    }
    race
}

#[test]
fn a_row_holds_the_verdicts_mean_medians_over_rounds_and_all_retries() {
    let found = stats::judge::findings(&raced());
    let table = &found.transactions[0];
    assert_eq!((table.server.as_str(), table.fits_pool), ("PostgreSQL", false));
    assert_eq!(table.settings, ["fsync = on", "synchronous_commit = on", "full_page_writes = on"]);
    let row = &table.rows[0];
    assert_eq!((row.lane.as_str(), row.group.as_str(), row.rounds), ("ext4", "postgresql 4 threads", 3));
    assert_eq!((row.retries, row.fsyncs), (6, Some(1.1)));
    assert_eq!(row.transactions_per_second, Some(found.results[0].estimates[0].mean), "as in the figures");
    assert_eq!((row.flushes, row.flush_ns, row.written_bytes), (Some(1.25), Some(900e3), Some(12_288.0)));
    assert_eq!((row.again.len(), row.again["deadlocks"], row.lost_connections), (1, 6, 3));
    assert_eq!((row.fsync_ns, row.written_until_stable_bytes), (Some(700e3), Some(20_480.0)));
    assert_eq!(row.transactions_per_second_at_first, Some(400.0));
    let near = |found: Option<f64>, expected: f64| (found.unwrap() / expected - 1.0).abs() < 1e-9;
    assert!(near(row.client_cpu_ns, 30e3) && near(row.server_cpu_ns, 120e3), "{row:?}");
}

#[test]
fn a_lane_without_rounds_says_why_and_other_work_has_no_table() {
    let mut race = raced();
    let found = stats::judge::findings(&race);
    let row = &found.transactions[0].rows[1];
    assert!(row.failure.is_some() && row.transactions_per_second.is_none(), "{row:?}");
    race.trials.clear();
    assert_eq!(stats::judge::findings(&race).transactions, []);
    let files = small_files();
    let mut race = record(vec![lane("ext4"), lane("xfs")], vec![files], Rounds::Fixed(3), true);
    run(&mut race, 3, &[1000.0, 1000.0], 0.0, 1);
    assert_eq!(stats::judge::findings(&race).transactions, []);
}

#[test]
fn settings_are_those_that_the_databases_say_and_where_lanes_differ_it_is_warned() {
    let workload = workload();
    let say = |race: &mut Record, lane: &str, value: &str| {
        for trial in race.trials.iter_mut().filter(|trial| trial.lane == lane) {
            trial.groups[0].settings.insert("wal_sync_method".to_owned(), value.to_owned());
        }
    };
    let mut race = raced();
    for round in 1..=3 {
        race.trials.push(costs(trial("xfs", &workload, round, 1000.0), 0.0, 1.0));
    }
    say(&mut race, "ext4", "fdatasync");
    say(&mut race, "xfs", "fdatasync");
    let found = stats::judge::findings(&race);
    assert_eq!(found.transactions[0].settings, ["wal_sync_method = fdatasync"]);
    let warned = |found: &model::findings::Findings| {
        found
            .warnings
            .iter()
            .any(|said| said.contains("ext4: wal_sync_method = fdatasync; xfs: wal_sync_method = open"))
    };
    assert!(!warned(&found));
    say(&mut race, "xfs", "open_sync");
    let found = stats::judge::findings(&race);
    assert!(warned(&found), "{:?}", found.warnings);
    assert_eq!(found.transactions[0].settings[0], "fsync = on", "as they were told");
}
