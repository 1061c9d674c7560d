//! Transactions as tables: what each one waited for, wrote and cost.

use crate::estimate::median;
use crate::latency;
use crate::series::{LaneSeries, Series};
use crate::statements::text;
use model::Sentence;
use model::findings::{TransactionsFinding, TransactionsRow};
use model::oltp::Oltp;
use model::record::Record;
use model::trial::{Group, SystemUse};
use model::workload::{Kind, Workload};
use std::collections::BTreeSet;

/// Why transactions are done again, as groups count them.
const CAUSES: [&str; 5] = ["deadlocks", "lock_timeouts", "serialisation_failures", "duplicate_keys", "busy"];

/// The metric of the rate that the verdicts rest on.
const RATE: &str = "operations_per_second";

/// One table for each workload of transactions that was raced.
pub(crate) fn tables(record: &Record) -> Vec<TransactionsFinding> {
    record.header.plan.workloads.iter().filter_map(|workload| table(record, workload)).collect()
}

fn table(record: &Record, workload: &Workload) -> Option<TransactionsFinding> {
    let Kind::Oltp(oltp) = &workload.kind else { return None };
    let series = Series::new(record, &workload.name);
    if series.trials == 0 {
        return None;
    }
    let groups = workload.groups();
    let rows = groups.iter().flat_map(|group| {
        let stalled = series.stalled(group, RATE);
        let rows: Vec<TransactionsRow> = series.lanes.iter().map(|lane| row(lane, group, &stalled)).collect();
        rows
    });
    Some(TransactionsFinding {
        workload: workload.name.clone(),
        title: workload.title.clone(),
        server: oltp.server.title().to_owned(),
        settings: settings(oltp, &series),
        fits_pool: oltp.fits_the_pool(),
        rows: rows.collect(),
    })
}

/// What the databases said of themselves, where all said the same, otherwise what they were told.
fn settings(oltp: &Oltp, series: &Series) -> Vec<String> {
    let said = stated(series);
    let mut all: Vec<&String> = said.iter().map(|(_, said)| said).collect();
    all.dedup();
    match all.as_slice() {
        [one] => one.split(", ").map(str::to_owned).collect(),
        _ => oltp.durability().into_iter().map(|(key, value)| format!("{key} = {value}")).collect(),
    }
}

/// What the database of each lane said of itself, each different answer once.
fn stated<'a>(series: &Series<'a>) -> Vec<(&'a str, String)> {
    let mut all: Vec<(&str, String)> = Vec::new();
    for lane in &series.lanes {
        let groups = lane.ok.iter().flat_map(|trial| &trial.groups).filter(|group| !group.settings.is_empty());
        for group in groups {
            let said = group.settings.iter().map(|(key, value)| format!("{key} = {value}")).collect::<Vec<_>>();
            let own = (lane.lane.name.as_str(), said.join(", "));
            if !all.contains(&own) {
                all.push(own);
            }
        }
    }
    all
}

/// A warning for each workload whose databases did not all run with the same settings.
pub(crate) fn settings_that_differ(record: &Record) -> Vec<Sentence> {
    let of = |workload: &Workload| {
        if !matches!(workload.kind, Kind::Oltp(_)) {
            return None;
        }
        let all = stated(&Series::new(record, &workload.name));
        let differ = all.iter().any(|(_, said)| *said != all[0].1);
        let each: Vec<String> = all.iter().map(|(lane, said)| format!("{lane}: {said}")).collect();
        differ.then(|| crate::statements::race::settings_differ(text(&workload.title), text(each.join("; "))))
    };
    record.header.plan.workloads.iter().filter_map(of).collect()
}

/// `stalled`: rounds in which every lane stood still.
fn row(lane: &LaneSeries, group: &str, stalled: &BTreeSet<u32>) -> TransactionsRow {
    let of: Vec<&Group> = lane.group(group).map(|(_, of)| of).collect();
    let (name, group) = (lane.lane.name.clone(), group.to_owned());
    if of.is_empty() {
        let failure = lane.lacks(&group).or_else(|| Some(crate::statements::race::no_round_completed()));
        return TransactionsRow { lane: name, group, failure, ..TransactionsRow::default() };
    }
    let metric = |key: &str| median(of.iter().filter_map(|of| of.metrics.get(key).copied()));
    let (all, _) = latency::merge(of.iter().filter_map(|of| of.histogram.as_deref()));
    let percentile = |share: f64| all.as_ref().and_then(|all| latency::percentile(all, share));
    let sum = |key: &str| of.iter().filter_map(|of| of.metrics.get(key)).sum::<f64>() as u64;
    let again = CAUSES.iter().map(|key| ((*key).to_owned(), sum(key))).filter(|(_, count)| *count > 0).collect();
    let cpu = |seconds: fn(&SystemUse) -> f64| {
        let each = |of: &&Group| {
            let used = seconds(of.system.as_ref()?) * 1e9 / of.operations as f64;
            (of.operations > 0 && used > 0.0).then_some(used)
        };
        median(of.iter().filter_map(each))
    };
    TransactionsRow {
        rounds: of.len() as u32,
        // The same mean as everywhere else.
        transactions_per_second: lane.level(&group, RATE, stalled).map(|level| level.mean),
        p50_ns: percentile(0.5),
        p99_ns: percentile(0.99),
        retries: sum("retries"),
        again,
        lost_connections: sum("lost_connections"),
        transactions_per_second_at_first: metric("operations_per_second_at_first"),
        fsync_ns: metric("server_fsync_ns"),
        written_until_stable_bytes: metric("device_write_bytes_until_written_per_operation"),
        fsyncs: metric("server_fsyncs_per_operation"),
        flushes: metric("device_flushes_per_operation"),
        flush_ns: metric("device_flush_ns"),
        written_bytes: metric("device_write_bytes_per_operation"),
        client_cpu_ns: cpu(|used| used.agent_cpu_user_seconds + used.agent_cpu_system_seconds),
        server_cpu_ns: cpu(|used| used.server_cpu_user_seconds + used.server_cpu_system_seconds),
        failure: None,
        lane: name,
        group,
    }
}
