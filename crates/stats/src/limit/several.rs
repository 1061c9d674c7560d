//! The ceiling of a lane on several disks of its own: its busiest disk beside such disks, each measured alone.

use super::{BEYOND_THE_CEILING, OneDisk, Raw, probed, raw_of};
use crate::estimate::median;
use crate::layer_costs;
use model::lane::Lane;
use model::record::{Probe, Record};
use model::trial::{DeviceUse, SystemUse};
use model::workload::Workload;
use std::collections::BTreeMap;

/// As lanes on disks of one's own say where they live.
const OWN_DISKS: &str = "device";
/// So much of what disks read and write may go the other way than their bare figure is of. Chosen: metadata is
/// less, and what parity reads before it writes is about half.
const OTHER_WAY: f64 = 0.10;

/// What one of several disks does alone; `None`: that was not measured, or they differ by more than ceilings scatter.
pub(super) fn ceiling(record: &Record, workload: &Workload, group: &str) -> Option<Raw> {
    let of_disks: Vec<&Probe> = probed(&record.probes, workload, group).filter(|probe| probe.disk.is_some()).collect();
    let mut by_disk: BTreeMap<Option<u32>, Vec<f64>> = BTreeMap::new();
    for probe in &of_disks {
        by_disk.entry(probe.disk).or_default().push(probe.operations_per_second);
    }
    let each: Vec<f64> = by_disk.into_values().filter_map(median).collect();
    let (low, high) = each.iter().fold((f64::MAX, 0.0_f64), |(low, high), &rate| (low.min(rate), high.max(rate)));
    raw_of(&of_disks).filter(|_| each.len() > 1 && high <= BEYOND_THE_CEILING * low)
}

/// Whether that tells something of a lane: it stands on disks of one's own that work by themselves, and nothing
/// but its work does anything there.
pub(super) fn tells_of(record: &Record, lane: &Lane) -> bool {
    let is_own = |of: &&Lane| of.venue == OWN_DISKS;
    // Parts of one disk are devices too, and what one of them does another cannot.
    let most = record.header.lanes.iter().filter(is_own).map(|of| of.disks as usize).max().unwrap_or(0);
    let lie_apart = record.header.machine.further_disks.len() + 1 >= most;
    lane.venue == OWN_DISKS && lie_apart && !layer_costs::rebuilds(lane)
}

/// What the busiest disk of a lane does, medians over its trials; `None`: single disks were not counted, or much of
/// what they did went the other way.
pub(super) fn busiest(systems: &[&SystemUse]) -> Option<OneDisk> {
    let counted = || systems.iter().filter(|system| system.window_seconds > 0.0 && !system.disks.is_empty());
    let most = |amount: fn(&DeviceUse) -> f64| {
        let busiest = |system: &SystemUse| system.disks.iter().map(amount).fold(0.0, f64::max);
        median(counted().map(|system| busiest(system) / system.window_seconds))
    };
    let other_way = median(counted().map(|system| other_way(&system.disks)))?;
    let busiest = OneDisk {
        bandwidth: most(|disk| disk.read_bytes as f64 + disk.write_bytes as f64),
        iops: most(|disk| disk.reads as f64 + disk.writes as f64),
    };
    Some(busiest).filter(|_| other_way <= OTHER_WAY)
}

/// The smaller part of what disks read and write, of both.
fn other_way(disks: &[DeviceUse]) -> f64 {
    let sum = |amount: fn(&DeviceUse) -> u64| disks.iter().map(|disk| amount(disk) as f64).sum::<f64>();
    let (read, written) = (sum(|disk| disk.read_bytes), sum(|disk| disk.write_bytes));
    if read + written > 0.0 { read.min(written) / (read + written) } else { 0.0 }
}
