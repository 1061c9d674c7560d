//! The trials as CSV (RFC 4180): one row per trial, group and metric, for anyone's own analysis.

use crate::{Input, Style, figures};
use model::lane::Lane;
use model::record::Record;
use model::trial::{Group, Latency, Outcome, Trial};
use model::workload::Kind;

/// The columns; units stand in the names. Those from `window_seconds` on count the whole system
/// during the windows of the row's group, or of the whole trial where the group has none of its own;
/// the two with `trial` are the whole trial's phases after its work.
const COLUMNS: [&str; 49] = [
    "record_started",
    "suite",
    "seed",
    "workload",
    "group",
    "lane",
    "filesystem",
    "round",
    "position",
    "attempt",
    "outcome",
    "ground",
    "trial_started",
    "metric",
    "value",
    "unit",
    "primary",
    "operations",
    "bytes",
    "seconds",
    "sync_seconds",
    "latency_mean_ns",
    "latency_p50_ns",
    "latency_p99_ns",
    "latency_p999_ns",
    "latency_max_ns",
    "window_seconds",
    "cpu_user_seconds",
    "cpu_system_seconds",
    "cpu_steal_seconds",
    "device_read_bytes",
    "device_write_bytes",
    "device_flushes",
    "flags",
    "reason",
    "section",
    "cpus",
    "device_busy_seconds",
    "agent_cpu_user_seconds",
    "trial_sync_seconds",
    "trial_unmount_seconds",
    // How often the sums before were done: all sums are of the whole trial.
    "loops",
    // Where, and in which lane exactly: tables of many records can be put under each other.
    "version",
    "kernel",
    "cpu",
    "machine_id_hash",
    "lane_spec",
    "venue",
    // The release of the lane's guest; empty: `kernel` is the one that mounted it.
    "guest_kernel",
];

/// Renders a record's trials. A trial without figures (failed) has one row without metric.
pub(crate) fn render(input: &Input, _: &Style) -> String {
    csv(input.record)
}

/// A record's trials as CSV: one row per trial, group and metric, in the order they were run; of a search its
/// steps, whose round is the pass and whose attempt is the step.
/// A trial without figures keeps one row, so that a failure is not lost. Names that a spreadsheet
/// would take for a formula begin with an apostrophe.
pub fn csv(record: &Record) -> String {
    let mut rows = vec![COLUMNS.map(str::to_owned).to_vec()];
    let steps = record.steps.iter().map(|step| &*step.trial);
    for trial in record.trials.iter().chain(steps) {
        if trial.groups.iter().all(|group| group.metrics.is_empty()) {
            rows.push(row(record, trial, None, None));
        }
        for group in &trial.groups {
            for (metric, value) in &group.metrics {
                rows.push(row(record, trial, Some(group), Some((metric, *value))));
            }
        }
    }
    table(&rows)
}

/// Rows as CSV text.
pub(crate) fn table(rows: &[Vec<String>]) -> String {
    let mut writer = ::csv::WriterBuilder::new().terminator(::csv::Terminator::CRLF).from_writer(Vec::new());
    for row in rows {
        // Into memory, with rows of equal length: neither can fail.
        writer.write_record(row).unwrap_or_else(|error| unreachable!("rows are of equal length: {error}"));
    }
    let bytes = writer.into_inner().unwrap_or_else(|error| unreachable!("memory takes every byte: {error}"));
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Text that others made, harmless in a spreadsheet.
pub(crate) fn text(text: &str) -> String {
    model::text::for_spreadsheet(text)
}

/// A number with all its digits; a spreadsheet and a parser read it alike.
pub(crate) fn number(value: f64) -> String {
    if value.is_finite() { value.to_string() } else { String::new() }
}

/// A number that may be missing.
pub(crate) fn optional(value: Option<f64>) -> String {
    value.map(number).unwrap_or_default()
}

fn row(record: &Record, trial: &Trial, group: Option<&Group>, metric: Option<(&String, f64)>) -> Vec<String> {
    let header = &record.header;
    let lane = header.lanes.iter().find(|lane| lane.name == trial.lane);
    let of_lane = |part: fn(&Lane) -> &str| text(lane.map(part).unwrap_or_default());
    let outcome = match trial.outcome {
        Outcome::Ok => "ok",
        Outcome::Failed => "failed",
        Outcome::Repeated => "repeated",
        Outcome::Void => "void",
    };
    let mut cells = vec![
        text(&header.started),
        text(&header.plan.suite),
        header.seed.to_string(),
        text(&trial.workload),
        text(group.map(|group| group.name.as_str()).unwrap_or_default()),
        text(&trial.lane),
        of_lane(|lane| &lane.filesystem),
        trial.round.to_string(),
        trial.position.to_string(),
        trial.attempt.to_string(),
        outcome.to_owned(),
        trial.ground.to_string(),
        text(&trial.started),
    ];
    cells.extend(match metric {
        Some((name, value)) => {
            let primary = group.is_some_and(|group| group.primary_metric == *name);
            [text(name), number(value), text(&figures::unit_of_metric(name)), primary.to_string()]
        }
        None => Default::default(),
    });
    cells.extend(match group {
        Some(group) => {
            [group.operations.to_string(), group.bytes.to_string(), number(group.seconds), number(group.sync_seconds)]
        }
        None => Default::default(),
    });
    cells.extend(latency(group.and_then(|group| group.latency_ns)));
    let system = group.and_then(|group| group.system.as_ref()).unwrap_or(&trial.system);
    cells.extend([
        number(system.window_seconds),
        number(system.cpu_user_seconds),
        number(system.cpu_system_seconds),
        number(system.cpu_steal_seconds),
        system.device.read_bytes.to_string(),
        system.device.write_bytes.to_string(),
        system.device.flushes.to_string(),
        text(&trial.flags.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")),
        text(trial.reason.as_deref().unwrap_or_default()),
        text(group.and_then(|group| section(record, trial, group)).unwrap_or_default()),
        system.cpus.to_string(),
        number(system.device.busy_seconds),
        number(system.agent_cpu_user_seconds),
        optional(trial.phases_seconds.get("sync").copied()),
        optional(trial.phases_seconds.get("unmount").copied()),
        loops(record, trial).to_string(),
        text(&header.version),
        text(&header.machine.kernel),
        text(&header.machine.cpu),
        text(&header.machine.machine_id_hash),
        of_lane(|lane| &lane.spec),
        of_lane(|lane| &lane.venue),
        of_lane(|lane| &lane.kernel),
    ]);
    cells
}

/// The section of a step of file operations.
fn section<'a>(record: &'a Record, trial: &Trial, group: &Group) -> Option<&'a str> {
    let workload = record.header.plan.workloads.iter().find(|of| of.name == trial.workload)?;
    let Kind::Operations(operations) = &workload.kind else { return None };
    Some(&operations.step_named(&group.name)?.section)
}

/// How often a trial did all of its operations on files.
fn loops(record: &Record, trial: &Trial) -> u32 {
    match record.header.plan.workloads.iter().find(|of| of.name == trial.workload).map(|of| &of.kind) {
        Some(Kind::Operations(operations)) => operations.loops,
        _ => 1,
    }
}

fn latency(latency: Option<Latency>) -> [String; 5] {
    let Some(latency) = latency else { return Default::default() };
    [number(latency.mean), optional(latency.p50), optional(latency.p99), optional(latency.p999), number(latency.max)]
}
