//! Swarms of writers as tables: how late each lane's were, and what the system did meanwhile.

use crate::bursts;
use crate::estimate::median;
use crate::latency;
use crate::series::{LaneSeries, Series};
use model::findings::{AppendersFinding, AppendersRow};
use model::page::Quantity;
use model::record::Record;
use model::trial::{Lateness, Trial};
use model::workload::{Appenders, AppendersMethod, Kind, Workload};

/// One table for each workload of appenders that was raced.
pub(crate) fn tables(record: &Record) -> Vec<AppendersFinding> {
    record.header.plan.workloads.iter().filter_map(|workload| table(record, workload)).collect()
}

fn table(record: &Record, workload: &Workload) -> Option<AppendersFinding> {
    let Kind::Appenders(appenders) = &workload.kind else { return None };
    let series = Series::new(record, &workload.name);
    if series.trials == 0 {
        return None;
    }
    let groups = workload.groups();
    let rows = groups.iter().flat_map(|group| series.lanes.iter().map(move |lane| row(lane, group)));
    let Appenders { writers, files, period_seconds, method, .. } = &**appenders;
    Some(AppendersFinding {
        workload: workload.name.clone(),
        title: workload.title.clone(),
        writers: *writers,
        files: *files,
        period_seconds: *period_seconds,
        processes: *method == AppendersMethod::Processes,
        rows: rows.collect(),
    })
}

fn row(lane: &LaneSeries, group: &str) -> AppendersRow {
    let of: Vec<(&Trial, &Lateness)> =
        lane.group(group).filter_map(|(trial, of)| Some((trial, of.lateness.as_deref()?))).collect();
    if of.is_empty() {
        let failure = lane.lacks(group).or_else(|| Some(crate::statements::race::no_round_completed()));
        return AppendersRow {
            lane: lane.lane.name.clone(),
            group: group.to_owned(),
            failure,
            ..AppendersRow::default()
        };
    }
    let over_rounds = |figure: fn(&Lateness) -> Option<f64>| median(of.iter().filter_map(|(_, late)| figure(late)));
    let (all, _) = latency::merge(lane.group(group).filter_map(|(_, of)| of.histogram.as_deref()));
    let percentile = |share: f64| all.as_ref().and_then(|all| latency::percentile(all, share));
    let largest = |quantity: Quantity| {
        of.iter().filter_map(|(trial, _)| trial.timeline.as_ref()?.largest(quantity)).reduce(f64::max)
    };
    let longest = lane.group(group).filter_map(|(_, of)| Some(of.latency_ns?.max)).reduce(f64::max);
    let trials: Vec<&Trial> = of.iter().map(|(trial, _)| *trial).collect();
    // The device is the same whoever reads beside the writers.
    let bursts = if group == "append" { bursts::of_trials(&trials) } else { None };
    AppendersRow {
        lane: lane.lane.name.clone(),
        group: group.to_owned(),
        rounds: of.len() as u32,
        late_writers_share: over_rounds(|late| Some(late.late_writers_share())),
        late_share: over_rounds(|late| Some(late.late_share())),
        p50_ns: percentile(0.5),
        p99_ns: percentile(0.99),
        p999_ns: percentile(0.999),
        max_ns: longest,
        scheduling_p99_ns: over_rounds(|late| late.scheduling_ns?.p99),
        backlog_rounds: of.iter().filter(|(_, late)| late.backlog_grew).count() as u32,
        dirty_bytes_max: largest(Quantity::DirtyBytes),
        iowait_share_max: largest(Quantity::IowaitAverageShare),
        load_average_max: largest(Quantity::LoadAverage),
        blocked_tasks_max: largest(Quantity::BlockedTasks),
        story: bursts.as_ref().map(|bursts| bursts::sentence(&lane.lane.name, bursts)),
        bursts,
        failure: None,
    }
}
