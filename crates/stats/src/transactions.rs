//! Transactions as tables: what each one waited for, wrote and cost.

use crate::estimate::median;
use crate::latency;
use crate::series::{LaneSeries, Series};
use model::findings::{TransactionsFinding, TransactionsRow};
use model::record::Record;
use model::trial::{Group, SystemUse};
use model::workload::{Kind, Workload};

/// One table for each workload of transactions that was raced.
pub(crate) fn tables(record: &Record) -> Vec<TransactionsFinding> {
    record.header.plan.workloads.iter().filter_map(|workload| table(record, workload)).collect()
}

fn table(record: &Record, workload: &Workload) -> Option<TransactionsFinding> {
    let Kind::Oltp(oltp) = &workload.kind else { return None };
    let series = Series::of(record, &workload.name);
    if series.trials == 0 {
        return None;
    }
    let groups = workload.groups();
    let rows = groups.iter().flat_map(|group| series.lanes.iter().map(move |lane| row(lane, group)));
    Some(TransactionsFinding {
        workload: workload.name.clone(),
        title: workload.title.clone(),
        server: oltp.server.title().to_owned(),
        settings: oltp.durability().into_iter().map(|(key, value)| format!("{key} = {value}")).collect(),
        fits_pool: oltp.fits_the_pool(),
        rows: rows.collect(),
    })
}

fn row(lane: &LaneSeries, group: &str) -> TransactionsRow {
    let of: Vec<&Group> = lane.group(group).map(|(_, of)| of).collect();
    let (name, group) = (lane.lane.name.clone(), group.to_owned());
    if of.is_empty() {
        let failure = lane.lacks(&group).or_else(|| Some(crate::say::race::no_round_completed()));
        return TransactionsRow { lane: name, group, failure, ..TransactionsRow::default() };
    }
    let metric = |key: &str| median(of.iter().filter_map(|of| of.metrics.get(key).copied()));
    let (all, _) = latency::merge(of.iter().filter_map(|of| of.histogram.as_deref()));
    let percentile = |share: f64| all.as_ref().and_then(|all| latency::percentile(all, share));
    let retries: f64 = of.iter().filter_map(|of| of.metrics.get("retries")).sum();
    let cpu = |seconds: fn(&SystemUse) -> f64| {
        let each = |of: &&Group| {
            let used = seconds(of.system.as_ref()?) * 1e9 / of.operations as f64;
            (of.operations > 0 && used > 0.0).then_some(used)
        };
        median(of.iter().filter_map(each))
    };
    TransactionsRow {
        rounds: of.len() as u32,
        transactions_per_second: metric("operations_per_second"),
        p50_ns: percentile(0.5),
        p99_ns: percentile(0.99),
        retries: retries as u64,
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
