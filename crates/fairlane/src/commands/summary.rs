//! What a race will write and for how long, said before it does.

use lanes::Stage;
use model::operations::Method;
use model::plan::{LOOKS, Plan, Rounds};
use model::workload::{Io, Kind, Workload};
use model::{Bytes, Throttle};
use report::{Contestants, Ground, PlanSummary};

/// Rough write rates for the forecast only, in bytes per second: a disk that spins and one that
/// does not. What is really written stands in the record.
const FORECAST_SEQUENTIAL: (f64, f64) = (150e6, 1e9);
const FORECAST_RANDOM: (f64, f64) = (2e6, 300e6);
const FORECAST_FLUSHED: (f64, f64) = (0.5e6, 20e6);
/// Seconds that a throttled slice needs until what is in flight has come back.
const FORECAST_SLICE_END_SECONDS: f64 = 0.1;
/// Operations per second where each is a process.
const FORECAST_PROCESSES: f64 = 500.0;
/// Seconds per round and lane beside the measured ones: mkfs, mount, quiet, unmount.
const FORECAST_VISIT_SECONDS: f64 = 0.6;
/// Seconds that all steps of operations take beside their work each time: quiet, sync, removal.
const FORECAST_LOOP_SECONDS: f64 = 0.6;

/// Sums a race up.
pub fn summary(plan: &Plan, stage: &Stage, keep: bool) -> PlanSummary {
    let rotational = stage
        .host()
        .and_then(|host| host.disk.as_deref())
        // A virtual disk is called rotational by default, whatever it stands on.
        .is_some_and(|disk| !disk.starts_with("vd") && lanes::host::describe_disk(disk).rotational);
    let rounds = match plan.rounds {
        Rounds::Auto => (LOOKS[0], LOOKS[LOOKS.len() - 1]),
        Rounds::Fixed(rounds) => (rounds, rounds),
    };
    let lanes = stage.lane_count() as f64;
    let visits = f64::from(rounds.0) * lanes;
    let images = stage.bytes_to_write();
    let disk = Disk { rotational, throttle: plan.throttle };
    let work: f64 = plan.workloads.iter().map(|workload| visits * written_per_visit(workload, &disk)).sum();
    let fewest: f64 = plan.workloads.iter().map(|workload| visits * seconds_per_visit(workload, &disk)).sum();
    // A race ends when all is decided or the time is up: the forecast is the longer of the two ends.
    let most = fewest * f64::from(rounds.1) / f64::from(rounds.0);
    // The maxima that a shared rate comes of cost one visit more.
    let shares = |workload: &&Workload| matches!(&workload.kind, Kind::Io(io) if io.rate_of_slowest.is_some());
    let maxima: f64 = plan.workloads.iter().filter(shares).map(|of| lanes * seconds_per_visit(of, &disk)).sum();
    let most = most + maxima;
    let seconds = plan.budget_seconds.map_or(most, |budget| budget.min(most));
    let work = work * seconds / fewest;
    PlanSummary {
        contestants: contestants(plan, stage),
        written_bytes: Some(images + work as u64),
        needed_bytes: Some(images),
        workloads: plan.workloads.len() as u32,
        rounds,
        rounds_until_the_time_is_up: plan.calibration && plan.budget_seconds.is_some(),
        seconds: Some(seconds),
        seconds_per_round: plan.workloads.iter().map(|workload| lanes * seconds_per_visit(workload, &disk)).collect(),
        resolves: None,
        budget_seconds: plan.budget_seconds,
        keep,
        as_published: plan.as_published,
        notes: Vec::new(),
    }
}

/// The disk of the forecast.
struct Disk {
    rotational: bool,
    throttle: Option<Throttle>,
}

impl Disk {
    /// Seconds that one slice takes, its warm-up and its end included.
    fn slice_seconds(&self, io: &Io) -> f64 {
        match self.throttle.map(|throttle| throttle.slice(io)) {
            Some((warm_up, window)) => warm_up + window + FORECAST_SLICE_END_SECONDS,
            None => io.slice_seconds,
        }
    }

    /// A rate in bytes per second of requests of so many bytes, as far as the throttle lets it.
    fn limited(&self, rate: f64, block: u64) -> f64 {
        let Some(throttle) = self.throttle else { return rate };
        let bytes = throttle.write_bytes_per_second.map_or(f64::INFINITY, |limit| limit as f64);
        let requests = throttle.write_iops.map_or(f64::INFINITY, |limit| limit as f64 * block as f64);
        rate.min(bytes).min(requests)
    }
}

fn written_per_visit(workload: &Workload, disk: &Disk) -> f64 {
    let pick = |(slow, fast): (f64, f64)| if disk.rotational { slow } else { fast };
    match &workload.kind {
        Kind::Io(io) => {
            let populate = if io.rw.needs_populated_file() { io.size.get() as f64 } else { 0.0 };
            let seconds = f64::from(io.slices) * disk.slice_seconds(io);
            let rate = match () {
                () if io.rw.reads() => 0.0,
                () if io.fdatasync > 0 => pick(FORECAST_FLUSHED),
                () if io.bs.get() >= 64 * 1024 => pick(FORECAST_SEQUENTIAL),
                () => pick(FORECAST_RANDOM),
            };
            populate + seconds * disk.limited(rate, io.bs.get())
        }
        // Laid out once, and written at most once more as far as anybody can say.
        Kind::Jobs(jobs) => jobs.working_set_bytes() as f64 * 2.0,
        Kind::Fio(run) => run.working_set.get() as f64 * 2.0,
        Kind::SmallFiles(small) => small.files as f64 * small.size.get().next_multiple_of(4096) as f64,
        Kind::Operations(operations) => operations.bytes_to_write() as f64 * f64::from(operations.loops),
    }
}

fn seconds_per_visit(workload: &Workload, disk: &Disk) -> f64 {
    let rotational = disk.rotational;
    let sequential = if rotational { FORECAST_SEQUENTIAL.0 } else { FORECAST_SEQUENTIAL.1 };
    let work = match &workload.kind {
        Kind::Io(io) => {
            let populate = if io.rw.needs_populated_file() { io.size.get() as f64 / sequential } else { 0.0 };
            populate + f64::from(io.slices) * (disk.slice_seconds(io) + 0.05)
        }
        Kind::Jobs(jobs) => {
            let bytes = jobs.working_set_bytes() as f64;
            let measured = bytes / disk.limited(sequential, Bytes::MIB);
            bytes / sequential + jobs.run_seconds().unwrap_or(measured)
        }
        Kind::Fio(run) => {
            let bytes = run.working_set.get() as f64 / sequential;
            bytes + runtime_seconds(&run.text).unwrap_or(bytes)
        }
        Kind::SmallFiles(small) => small.files as f64 / if rotational { 500.0 } else { 8000.0 },
        Kind::Operations(operations) => {
            let rate = match operations.method {
                Method::ProcessPerOperation => FORECAST_PROCESSES,
                Method::InProcess if rotational => 500.0,
                Method::InProcess => 8000.0,
            };
            let bytes = operations.bytes_to_write() as f64;
            let once = bytes / disk.limited(sequential, Bytes::MIB) + operations.count() as f64 / rate;
            f64::from(operations.loops) * (once + FORECAST_LOOP_SECONDS)
        }
    };
    work + FORECAST_VISIT_SECONDS
}

/// Seconds that a job file for fio names as its runtime, for the forecast: groups one after another,
/// the jobs of a group together. `None` where it names none.
fn runtime_seconds(text: &str) -> Option<f64> {
    let mut usual = None;
    // Runtime, and whether it begins only after the jobs before it.
    let mut jobs: Vec<(Option<f64>, bool)> = Vec::new();
    let mut in_global = true;
    for line in text.lines().map(str::trim) {
        let (key, value) = line.split_once('=').map_or((line, ""), |(key, value)| (key.trim(), value.trim()));
        let last = jobs.last_mut().filter(|_| !in_global);
        match (key, last) {
            ("[global]", _) => in_global = true,
            _ if key.starts_with('[') => {
                in_global = false;
                jobs.push((usual, false));
            }
            ("stonewall" | "wait_for_previous", Some(job)) => job.1 = true,
            ("runtime" | "timeout", last) => {
                // fio's default unit is the second.
                let unit = if value.ends_with(|last: char| last.is_ascii_digit()) { "s" } else { "" };
                let seconds = model::units::parse_seconds(&format!("{value}{unit}")).ok();
                *last.map_or(&mut usual, |job| &mut job.0) = seconds;
            }
            _ => {}
        }
    }
    let (mut whole, mut group) = (0.0, 0.0_f64);
    for &(seconds, alone) in &jobs {
        if alone {
            whole += std::mem::take(&mut group);
        }
        group = group.max(seconds.unwrap_or(0.0));
    }
    jobs.iter().any(|job| job.0.is_some()).then_some(whole + group)
}

/// The lanes gathered by what they stand on.
fn contestants(plan: &Plan, stage: &Stage) -> Vec<Contestants> {
    let mut gathered: Vec<Contestants> = Vec::new();
    for lane in stage.lanes() {
        let ground = match lane.venue.as_str() {
            // A library stands on an image too, where it does not stand on a device of its own.
            "image" | "library" if !std::path::Path::new(&lane.ground).is_absolute() => Ground::Images {
                directory: match &plan.on {
                    model::plan::Ground::Images(directory) => directory.display().to_string(),
                    model::plan::Ground::Device(_) => lane.ground.clone(),
                },
                lane_bytes: plan.lane_size.get(),
                host: stage.host().map_or_else(String::new, |host| match &host.block {
                    Some(block) => format!("{} on {block}", host.filesystem),
                    None => host.filesystem.clone(),
                }),
            },
            "device" | "library" => Ground::Device { path: lane.ground.clone() },
            "directory" => Ground::Directory { path: lane.ground.clone() },
            _ => Ground::Memory,
        };
        match gathered.iter_mut().find(|other| other.ground == ground) {
            Some(other) => other.lanes.push(lane.name),
            None => gathered.push(Contestants { lanes: vec![lane.name], ground }),
        }
    }
    gathered
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_runtime_of_a_job_file_for_fio_is_that_of_its_groups_one_after_another() {
        let text = "[global]\nruntime=10\n[a]\n[b]\nruntime=1m\n[c]\nstonewall\nruntime=5s\n";
        assert_eq!(runtime_seconds(text), Some(65.0));
        assert_eq!(runtime_seconds("[global]\nruntime=10\n[a]\n[b]\nstonewall\n"), Some(20.0));
        assert_eq!(runtime_seconds("[a]\nsize=1g\n"), None);
    }
}
