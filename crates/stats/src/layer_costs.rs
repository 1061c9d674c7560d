//! What the layers and disks below a filesystem cost (method 3.9): counters of the disks, and CPU time beside the same
//! lane without layers. Verdicts say what they cost in speed.

use crate::comparable;
use crate::estimate::median;
use model::findings::{Estimate, LayerCost, LayerSpeed, Limit, ResultFinding};
use model::lane::Lane;
use model::record::{Probe, Profile, Record};
use model::stack::REBUILDING;
use model::trial::{Outcome, SystemUse};
use std::collections::HashMap;

/// Of every lane that stands on layers or on several disks. Where a disk is rebuilt beside the work, bytes and CPU grow with
/// time and not with the work: such a lane has no figure.
pub(crate) fn layer_costs(record: &Record, results: &[ResultFinding]) -> Vec<LayerCost> {
    let lanes = &record.header.lanes;
    let is_stacked = |lane: &&Lane| !lane.is_self && (lane.has_built_layers() || lane.disks > 1) && !rebuilds(lane);
    lanes.iter().filter(is_stacked).map(|lane| cost(record, results, lane, bare(lanes, lane))).collect()
}

/// Whether a disk of a lane is rebuilt beside its work.
pub(crate) fn rebuilds(lane: &Lane) -> bool {
    let told = |word: &str| word.split(',').any(|option| option == REBUILDING);
    lane.layers.iter().any(|layer| told(layer)) || lane.mount_options.iter().any(|option| told(option))
}

/// The same filesystem with the same options on one disk of the same ground.
fn bare<'a>(lanes: &'a [Lane], lane: &Lane) -> Option<&'a Lane> {
    lanes.iter().find(|other| {
        let alike = other.filesystem == lane.filesystem
            && other.ground == lane.ground
            && other.venue == lane.venue
            && other.kernel == lane.kernel
            && other.above == lane.above
            && other.aged.is_none()
            && other.mount_options == lane.mount_options;
        // Profiles are how a filesystem lays several disks, as layers do it otherwise.
        let made_alike = without_profiles(&other.mkfs_command) == without_profiles(&lane.mkfs_command);
        alike && made_alike && other.disks == 1 && !other.has_built_layers() && !other.is_self
    })
}

/// A command of mkfs.btrfs without its profiles of data and metadata; of others nothing is left out.
fn without_profiles(command: &[String]) -> Vec<&str> {
    let is_btrfs = command.first().is_some_and(|program| program == "mkfs.btrfs");
    let (mut kept, mut words) = (Vec::new(), command.iter().map(String::as_str));
    while let Some(word) = words.next() {
        let joined = ["-d", "-m", "--data=", "--metadata="].iter().any(|option| word.starts_with(option));
        match word {
            "-d" | "-m" | "--data" | "--metadata" if is_btrfs => _ = words.next(),
            _ if is_btrfs && joined => {}
            _ => kept.push(word),
        }
    }
    kept
}

fn cost(record: &Record, results: &[ResultFinding], lane: &Lane, bare: Option<&Lane>) -> LayerCost {
    let bare_name = bare.map(|bare| bare.name.as_str());
    let rows = |counts: fn(&ResultFinding) -> bool, of: fn(&Estimate) -> Option<f64>| -> Vec<(f64, Option<f64>)> {
        let figure = |result: &ResultFinding, name: &str| {
            let estimate = result.estimates.iter().find(|estimate| estimate.lane == name)?;
            of(estimate).filter(|&figure| estimate.failure.is_none() && figure > 0.0)
        };
        let pair = |result| Some((figure(result, &lane.name)?, bare_name.map(|bare| figure(result, bare))));
        // Both are asked of the same rows.
        let both =
            results.iter().filter(|result| counts(result)).filter_map(pair).filter(|(_, bare)| *bare != Some(None));
        both.map(|(own, bare)| (own, bare.flatten())).collect()
    };
    let written = rows(|_| true, |estimate| estimate.write_amplification);
    // Where the engine was the limit, its own time is most of it.
    let cpu = rows(|result| result.limit != Limit::Harness, |estimate| estimate.cpu_seconds_per_operation);
    let written_per_byte = mean(written.iter().map(|row| row.0));
    let times: Vec<f64> = cpu.iter().filter_map(|(own, bare)| Some(own / (*bare)?)).collect();
    let alone = without_filesystem(record, &lane.name);
    let share = |speed: &LayerSpeed| Some(speed.operations_per_second / speed.bare_operations_per_second?);
    LayerCost {
        lane: lane.name.clone(),
        stands_on: lane.stands_on(),
        disk_bytes: match lane.has_built_layers() {
            // Devices of somebody's may differ in size, and the smallest is known.
            false if lane.venue == "device" => 0,
            _ => lane.size_bytes.saturating_mul(u64::from(lane.disks)),
        },
        usable_bytes: (lane.usable_bytes > 0).then_some(lane.usable_bytes),
        written_per_byte,
        written_by_disk: by_disk(record, &lane.name, written_per_byte.unwrap_or(0.0)),
        beside: bare_name.map(str::to_owned),
        written_beside: mean(written.iter().filter_map(|row| row.1)),
        cpu_times: mean(times.iter().copied()),
        cpu_times_range: times.iter().copied().map(|at| (at, at)).reduce(|a, b| (a.0.min(b.0), a.1.max(b.1))),
        of_a_bare_disk: mean(alone.iter().filter_map(share)),
        without_filesystem: alone,
        rows: times.len() as u32,
    }
}

/// The geometric mean; `None`: of nothing.
fn mean(figures: impl Iterator<Item = f64>) -> Option<f64> {
    let logs: Vec<f64> = figures.map(f64::ln).collect();
    let mean = (logs.iter().sum::<f64>() / logs.len() as f64).exp();
    Some(mean).filter(|mean| mean.is_finite())
}

/// `written` split as the disks' writes were, over the windows of all trials that count.
fn by_disk(record: &Record, lane: &str, written: f64) -> Vec<f64> {
    let mut disks: Vec<f64> = Vec::new();
    for trial in record.trials.iter().filter(|trial| trial.lane == lane && trial.outcome == Outcome::Ok) {
        let own: Vec<&SystemUse> = trial.groups.iter().filter_map(|group| group.system.as_ref()).collect();
        for system in if own.is_empty() { vec![&trial.system] } else { own } {
            disks.resize(disks.len().max(system.disks.len()), 0.0);
            disks.iter_mut().zip(&system.disks).for_each(|(sum, disk)| *sum += disk.write_bytes as f64);
        }
    }
    let all: f64 = disks.iter().sum();
    if all <= 0.0 || written <= 0.0 {
        return Vec::new();
    }
    disks.iter().map(|disk| disk / all * written).collect()
}

/// What its layers did, beside the bare disks of the same place before the same round.
fn without_filesystem(record: &Record, lane: &str) -> Vec<LayerSpeed> {
    let one_place = comparable::one_place(record.header.lanes.iter());
    // Not looked for probe by probe: a stranger's record may have very many of both.
    let mut bare: HashMap<(&str, Profile, u32), Vec<f64>> = HashMap::new();
    for probe in record.probes.iter().filter(|probe| one_place && !probe.through_filesystem) {
        bare.entry(what(probe)).or_default().push(probe.operations_per_second);
    }
    let bare: HashMap<_, f64> = bare.into_iter().filter_map(|(what, rates)| Some((what, median(rates)?))).collect();
    let of_lane = record.layer_probes.iter().filter(|of| of.lane == lane).map(|of| &of.probe);
    let speed = |probe: &Probe| LayerSpeed {
        workload: probe.workload.clone(),
        profile: probe.profile,
        operations_per_second: probe.operations_per_second,
        bare_operations_per_second: bare.get(&what(probe)).copied().filter(|&rate| rate > 0.0),
    };
    of_lane.map(speed).collect()
}

/// What a probe did, and when.
fn what(probe: &Probe) -> (&str, Profile, u32) {
    (&probe.workload, probe.profile, probe.round)
}
