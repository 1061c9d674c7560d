//! A record becomes rows, one after another.

use crate::row::{Row, Text};
use model::kinds::foreign::VENUE;
use model::lane::Lane;
use model::machine::is_untold;
use model::metric;
use model::record::{EndOutcome, Record};
use model::trial::{Group, Outcome, SystemUse, Trial};
use model::workload::{Kind, Workload};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;

/// Bytes of a text in a row at most; what is longer is cut, and ends in `…`. Anybody may have written a record, and one text
/// of megabytes would stand in each of its rows.
pub const MOST_TEXT_BYTES: usize = 4096;
/// Bytes of a hash that are kept.
const HASH_BYTES: usize = 8;

/// Gives every row of a record to `each`, in the order in which trials were run, and those of a search behind them; answers
/// how many there were. A trial without figures has one row, and so has a group without any. `file`: what the record's file
/// is called.
///
/// # Errors
/// What `each` answers; nothing more is given to it then.
pub fn rows<E>(record: &Record, file: &str, mut each: impl FnMut(&Row) -> Result<(), E>) -> Result<u64, E> {
    let facts = Facts::new(record, file);
    let mut count = 0;
    let mut give = |row: &Row| {
        count += 1;
        each(row)
    };
    let steps = record.steps.iter().map(|step| &*step.trial);
    for trial in record.trials.iter().chain(steps) {
        let mut row = facts.trial(trial);
        if trial.groups.is_empty() {
            give(&row)?;
        }
        for group in &trial.groups {
            set_group(&mut row, trial, group);
            facts.leave_out_unmeasured(&mut row);
            if group.metrics.is_empty() {
                set_metric(&mut row, group, None);
                give(&row)?;
            }
            for (name, value) in &group.metrics {
                set_metric(&mut row, group, Some((name, *value)));
                give(&row)?;
            }
        }
    }
    Ok(count)
}

/// What all trials of a lane, or of a workload, have in common.
struct Facts<'a> {
    /// The record alone.
    base: Row,
    /// With each lane of the header.
    lanes: Vec<(&'a str, Row)>,
    works: BTreeMap<&'a str, Work>,
    /// The figures are another tool's: what stands in the record beside them is 0 because nobody measured it.
    is_imported: bool,
}

/// A workload of the plan.
struct Work {
    title: Option<Text>,
    kind: Option<Text>,
    parameters: Option<Text>,
    loops: u64,
}

impl<'a> Facts<'a> {
    fn new(record: &'a Record, file: &str) -> Self {
        let base = record_row(record, file);
        let lanes =
            record.header.lanes.iter().map(|lane| (lane.name.as_str(), lane_row(record, lane, &base))).collect();
        let works = record.header.plan.workloads.iter().map(|of| (of.name.as_str(), Work::new(of))).collect();
        Facts { base, lanes, works, is_imported: is_imported(record) }
    }

    /// The row of a trial, without its groups.
    fn trial(&self, trial: &Trial) -> Row {
        let of_lane = self.lanes.iter().find(|(name, _)| *name == trial.lane);
        let mut row = of_lane
            .map_or_else(|| Row { lane: text(&trial.lane), ..self.base.clone() }, |(_, of_lane)| of_lane.clone());
        let work = self.works.get(trial.workload.as_str());
        row.workload = text(&trial.workload);
        row.workload_title = work.and_then(|work| work.title.clone());
        row.workload_kind = work.and_then(|work| work.kind.clone());
        row.parameters = work.and_then(|work| work.parameters.clone());
        row.loops = Some(work.map_or(1, |work| work.loops));
        row.round = Some(trial.round.into());
        row.position = Some(trial.position.into());
        row.attempt = Some(trial.attempt.into());
        row.ground = Some(trial.ground.into());
        row.trial_started = text(&trial.started);
        row.outcome = text(match trial.outcome {
            Outcome::Ok => "ok",
            Outcome::Failed => "failed",
            Outcome::Repeated => "repeated",
            Outcome::Void => "void",
        });
        row.reason = trial.reason.as_deref().and_then(text);
        row.flags = text(&trial.flags.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "));
        set_system(&mut row, &trial.system);
        self.leave_out_unmeasured(&mut row);
        row
    }

    /// Takes what nobody measured out of a row of imported figures.
    fn leave_out_unmeasured(&self, row: &mut Row) {
        if !self.is_imported {
            return;
        }
        (row.position, row.ground, row.disks, row.lane_spec) = (None, None, None, None);
        row.operations = row.operations.and_then(known);
        row.bytes = row.bytes.and_then(known);
        row.seconds = row.seconds.filter(|seconds| *seconds > 0.0);
        row.sync_seconds = row.sync_seconds.filter(|seconds| *seconds > 0.0);
        (row.window_seconds, row.device_busy_seconds) = (None, None);
        (row.cpu_user_seconds, row.cpu_system_seconds, row.cpu_steal_seconds) = (None, None, None);
        (row.device_read_bytes, row.device_write_bytes, row.device_flushes) = (None, None, None);
    }
}

impl Work {
    fn new(workload: &Workload) -> Self {
        let (kind, parameters) = kind_and_hash(&workload.kind);
        let loops = match &workload.kind {
            Kind::Operations(operations) => operations.loops.into(),
            _ => 1,
        };
        Work { title: text(&workload.title), kind, parameters, loops }
    }
}

/// What a record calls a kind of work, and a hash of its parameters.
fn kind_and_hash(kind: &Kind) -> (Option<Text>, Option<Text>) {
    let Ok(value) = serde_json::to_value(kind) else { return (None, None) };
    let hash = Sha256::digest(value.to_string().as_bytes());
    let hash: String = hash.iter().take(HASH_BYTES).map(|byte| format!("{byte:02x}")).collect();
    (value.get("kind").and_then(|name| name.as_str()).and_then(text), text(&hash))
}

/// Whether another tool measured its lanes.
fn is_imported(record: &Record) -> bool {
    record.header.lanes.iter().any(|lane| lane.venue == VENUE)
}

fn record_row(record: &Record, file: &str) -> Row {
    let header = &record.header;
    let (plan, machine) = (&header.plan, &header.machine);
    let race_kind = match () {
        () if is_imported(record) => "imported",
        () if plan.find_max.is_some() => "search",
        () if plan.calibration => "calibration",
        () if plan.as_published => "as-published",
        () => "race",
    };
    let race_outcome = match record.end {
        Some(EndOutcome::Complete) => "complete",
        Some(EndOutcome::Interrupted | EndOutcome::Unexplained) => "interrupted",
        Some(EndOutcome::Failed) => "failed",
        None => "unfinished",
    };
    Row {
        record: text(file),
        started: text(&header.started),
        version: text(&header.version),
        boot_id: identity(&header.boot_id),
        seed: Some(header.seed),
        race_kind: text(race_kind),
        race_outcome: text(race_outcome),
        machine_id_hash: identity(&machine.machine_id_hash),
        os: text(&machine.os),
        kernel: text(&machine.kernel),
        cpu: text(&machine.cpu),
        cpus: known(machine.cpus.into()),
        memory_bytes: known(machine.memory_bytes),
        virtualization: text(&machine.virtualization),
        disk_model: text(machine.device.model.trim()),
        disk_bytes: known(machine.device.size_bytes),
        suite: text(&plan.suite),
        ..Row::default()
    }
}

fn lane_row(record: &Record, lane: &Lane, base: &Row) -> Row {
    let aged = lane.aged.as_ref();
    Row {
        lane: text(&lane.name),
        lane_spec: text(&lane.spec),
        filesystem: text(&lane.filesystem),
        venue: text(&lane.venue),
        mkfs_command: text(&lane.mkfs_command.join(" ")),
        mount_options: text(&lane.mount_options.join(",")),
        layers: text(&lane.layers.join("/")),
        above: text(&lane.above),
        disks: Some(lane.disks.into()),
        lane_bytes: known(lane.size_bytes),
        states: aged.and_then(|aged| text(&aged.states)),
        life: aged.and_then(|aged| text(&aged.life)),
        throttle: record.header.plan.throttle_of(&lane.name).and_then(|throttle| text(&throttle.to_string())),
        guest_kernel: text(&lane.kernel),
        is_self: Some(lane.is_self),
        ..base.clone()
    }
}

fn set_group(row: &mut Row, trial: &Trial, group: &Group) {
    row.group = text(&group.name);
    row.operations = Some(group.operations);
    row.bytes = Some(group.bytes);
    row.seconds = number(group.seconds);
    row.sync_seconds = number(group.sync_seconds);
    let latency = group.latency_ns;
    row.latency_mean_ns = latency.and_then(|of| number(of.mean));
    row.latency_p50_ns = latency.and_then(|of| of.p50).and_then(number);
    row.latency_p99_ns = latency.and_then(|of| of.p99).and_then(number);
    row.latency_p999_ns = latency.and_then(|of| of.p999).and_then(number);
    row.latency_max_ns = latency.and_then(|of| number(of.max));
    set_system(row, group.system.as_ref().unwrap_or(&trial.system));
}

fn set_metric(row: &mut Row, group: &Group, metric: Option<(&String, f64)>) {
    row.metric = metric.and_then(|(name, _)| text(name));
    row.value = metric.and_then(|(_, value)| number(value));
    row.unit = metric.and_then(|(name, _)| metric::unit(name)).and_then(text);
    row.higher_is_better = metric.and_then(|(name, _)| metric::higher_is_better(name));
    row.is_primary = metric.map(|(name, _)| group.primary_metric == *name);
}

fn set_system(row: &mut Row, system: &SystemUse) {
    row.window_seconds = number(system.window_seconds);
    row.cpu_user_seconds = number(system.cpu_user_seconds);
    row.cpu_system_seconds = number(system.cpu_system_seconds);
    row.cpu_steal_seconds = number(system.cpu_steal_seconds);
    row.device_read_bytes = Some(system.device.read_bytes);
    row.device_write_bytes = Some(system.device.write_bytes);
    row.device_flushes = Some(system.device.flushes);
    row.device_busy_seconds = number(system.device.busy_seconds);
}

/// A text that says something, cut where it is too long.
fn text(said: &str) -> Option<Text> {
    if said.is_empty() {
        return None;
    }
    if said.len() <= MOST_TEXT_BYTES {
        return Some(said.into());
    }
    let most = MOST_TEXT_BYTES - '…'.len_utf8();
    let end = (0..=most).rev().find(|&at| said.is_char_boundary(at)).unwrap_or(0);
    Some(format!("{}…", &said[..end]).into())
}

/// What tells machines or boots apart; a record that was shared has a placeholder, by which one would seem to be several.
fn identity(said: &str) -> Option<Text> {
    if is_untold(said) { None } else { text(said) }
}

/// A number that is one.
fn number(value: f64) -> Option<f64> {
    value.is_finite().then_some(value)
}

/// What is recorded as 0 where nobody knew it.
fn known(count: u64) -> Option<u64> {
    (count > 0).then_some(count)
}
