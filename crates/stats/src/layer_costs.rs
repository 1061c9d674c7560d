//! What the layers and disks below a filesystem cost (method 3.8): counters of the disks, and CPU time beside the same
//! lane without layers. Verdicts say what they cost in speed.

use crate::series::{LaneSeries, Scope, Series};
use model::findings::{LayerCost, ResultFinding};
use model::lane::Lane;
use model::record::Record;
use model::trial::Trial;
use std::collections::BTreeSet;

/// Of every lane that stands on layers or on several disks.
pub(crate) fn layer_costs(record: &Record, results: &[ResultFinding]) -> Vec<LayerCost> {
    let lanes = &record.header.lanes;
    let is_stacked = |lane: &&Lane| !lane.is_self && (!lane.layers.is_empty() || lane.disks > 1);
    if !lanes.iter().any(|lane| is_stacked(&lane)) {
        return Vec::new();
    }
    let work: Vec<Series> =
        record.header.plan.workloads.iter().map(|workload| Series::new(record, &workload.name)).collect();
    lanes.iter().filter(is_stacked).map(|lane| cost(&work, results, lane, bare(lanes, lane))).collect()
}

/// The same filesystem with the same options on one disk of the same ground.
fn bare<'a>(lanes: &'a [Lane], lane: &Lane) -> Option<&'a Lane> {
    lanes.iter().find(|other| {
        let alike = other.filesystem == lane.filesystem
            && other.ground == lane.ground
            && other.venue == lane.venue
            && other.kernel == lane.kernel
            && other.above == lane.above
            && other.mount_options == lane.mount_options;
        // What is said to mkfs of several disks (profiles) is said beside the rest.
        let made_alike = match lane.layers.is_empty() {
            true => other.mkfs_command.iter().all(|word| lane.mkfs_command.contains(word)),
            false => other.mkfs_command == lane.mkfs_command,
        };
        alike && made_alike && other.disks == 1 && other.layers.is_empty() && !other.is_self
    })
}

fn cost(work: &[Series], results: &[ResultFinding], lane: &Lane, bare: Option<&Lane>) -> LayerCost {
    let (mut written, mut beside) = (Written::default(), Written::default());
    for series in work {
        let of = |name: &str| series.lanes.iter().find(|of| of.lane.name == name);
        let Some(own) = of(&lane.name) else { continue };
        let bare = bare.and_then(|bare| of(&bare.name));
        // Both are asked of the same rounds of the same work.
        let rounds = bare.map(|bare| rounds(own).intersection(&rounds(bare)).copied().collect());
        written.add(series, own, rounds.as_ref());
        if let Some(bare) = bare {
            beside.add(series, bare, rounds.as_ref());
        }
    }
    let (cpu_times, rows) = bare.map_or((None, 0), |bare| cpu_times(results, &lane.name, &bare.name));
    LayerCost {
        lane: lane.name.clone(),
        stands_on: lane.stands_on(),
        disk_bytes: lane.size_bytes.saturating_mul(u64::from(lane.disks)),
        usable_bytes: (lane.usable_bytes > 0).then_some(lane.usable_bytes),
        written_per_byte: written.per_byte(),
        written_by_disk: written.by_disk(),
        beside: bare.map(|bare| bare.name.clone()),
        written_beside: beside.per_byte(),
        cpu_times,
        rows,
    }
}

fn rounds(lane: &LaneSeries) -> BTreeSet<u32> {
    lane.ok.iter().map(|trial| trial.round).collect()
}

/// Sums over the trials of a lane.
#[derive(Default)]
struct Written {
    at_the_disks: f64,
    by_the_application: f64,
    /// In the windows alone: what is written later is not counted by disk.
    disks: Vec<f64>,
}

impl Written {
    fn add(&mut self, series: &Series, lane: &LaneSeries, rounds: Option<&BTreeSet<u32>>) {
        for trial in lane.ok.iter().filter(|trial| rounds.is_none_or(|rounds| rounds.contains(&trial.round))) {
            for scope in scopes(trial, series) {
                let Some(times) = scope.write_amplification() else { continue };
                let by_the_application = match scope.system.whole_application_write_bytes {
                    0 => scope.write_bytes,
                    bytes => bytes as f64,
                };
                self.by_the_application += by_the_application;
                self.at_the_disks += times * by_the_application;
                self.disks.resize(self.disks.len().max(scope.system.disks.len()), 0.0);
                for (sum, disk) in self.disks.iter_mut().zip(&scope.system.disks) {
                    *sum += disk.write_bytes as f64;
                }
            }
        }
    }

    fn per_byte(&self) -> Option<f64> {
        Some(self.at_the_disks / self.by_the_application).filter(|figure| figure.is_finite())
    }

    fn by_disk(&self) -> Vec<f64> {
        let (all, Some(per_byte)) = (self.disks.iter().sum::<f64>(), self.per_byte()) else { return Vec::new() };
        if all <= 0.0 {
            return Vec::new();
        }
        self.disks.iter().map(|disk| disk / all * per_byte).collect()
    }
}

/// The windows of a trial, each once: its groups' own, or those of all groups.
fn scopes<'a>(trial: &'a Trial, series: &Series) -> Vec<Scope<'a>> {
    let own = trial.groups.iter().filter(|group| group.system.is_some());
    let own: Vec<Scope> = own.map(|group| Scope::new(trial, group, &series.reading)).collect();
    match trial.groups.first() {
        Some(group) if own.is_empty() => vec![Scope::new(trial, group, &series.reading)],
        _ => own,
    }
}

/// CPU per operation beside the other lane's, the geometric mean over the rows in which both are known.
fn cpu_times(results: &[ResultFinding], lane: &str, bare: &str) -> (Option<f64>, u32) {
    let of = |result: &ResultFinding, name: &str| {
        let estimate = result.estimates.iter().find(|estimate| estimate.lane == name && estimate.failure.is_none())?;
        estimate.cpu_seconds_per_operation.filter(|&seconds| seconds > 0.0)
    };
    let logs: Vec<f64> =
        results.iter().filter_map(|result| Some((of(result, lane)? / of(result, bare)?).ln())).collect();
    let mean = (!logs.is_empty()).then(|| (logs.iter().sum::<f64>() / logs.len() as f64).exp());
    (mean.filter(|times| times.is_finite()), logs.len() as u32)
}
