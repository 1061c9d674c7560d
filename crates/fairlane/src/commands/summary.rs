//! What a race will write and for how long, said before it does.

use super::forecast::{self, Disks, Parts, Setting, Work};
use super::lane_size;
use crate::conductor::disk_probe;
use crate::conductor::time::{Expected, OWED_ROUNDS, planned_repeats};
use crate::conductor::wait_idle::quiet_of;
use lanes::{LaneSet, filesystems};
use model::operations::Method;
use model::plan::{LOOKS, Plan, Rounds};
use model::workload::{Kind, Workload};
use report::{Contestants, Ground, PlanSummary, PlannedPasses};

/// Steps of a pass of a search, on average: five to twelve in the first one, four in a later one, and where a lane
/// gives way with more writers than others one without a filesystem.
const STEPS_OF_A_PASS: f64 = 6.5;

/// Sums a race up.
pub fn summary(plan: &Plan, lane_set: &LaneSet, keep: bool) -> PlanSummary {
    let rounds = match plan.rounds {
        Rounds::Auto => (LOOKS[0], LOOKS[LOOKS.len() - 1]),
        Rounds::Fixed(rounds) => (rounds, rounds),
    };
    let setting = setting(plan, lane_set);
    // Of a search a pass is a round, of so many steps.
    let steps = if plan.find_max.is_some() { STEPS_OF_A_PASS } else { 1.0 };
    let searched = |of: Parts| Parts { round: of.round * steps, ..of };
    let timelines: Vec<Parts> = timelines(plan, &setting).into_iter().map(searched).collect();
    let raced = |rounds: u32| timelines.iter().fold(Work::default(), |sum, parts| sum + parts.of_rounds(rounds));
    // A screening has room for rounds that are run again, with what checks the first one.
    let again = |parts: &Parts, rounds: u32| match plan.screening {
        Some(_) => parts.checked + parts.round * f64::from(planned_repeats(rounds)),
        None => Work::default(),
    };
    let planned = |rounds: u32| timelines.iter().fold(raced(rounds), |sum, parts| sum + again(parts, rounds));
    let (least, most) = (planned(rounds.0), planned(rounds.1));
    // A race ends when all is decided or the time is up: the forecast is the longer of the two ends, but
    // every workload is raced to its first look where there is time for it.
    // The first workload's first round is raced whatever the budget, and of a screening the first rounds of all work.
    let first = match plan.screening {
        Some(_) => raced(rounds.1.min(OWED_ROUNDS)).seconds,
        None => timelines.first().map_or(0.0, |parts| parts.of_rounds(1).seconds),
    };
    let seconds = plan.budget_seconds.map_or(most.seconds, |budget| budget.max(first).min(most.seconds));
    // But for those first rounds its time cuts a screening, however many are planned.
    let is_cut = |budget: &f64| plan.screening.is_some() && most.seconds > *budget;
    let fits = plan.budget_seconds.filter(is_cut).map(|budget| {
        let fit = (OWED_ROUNDS..rounds.1).take_while(|&count| planned(count).seconds <= budget).last();
        fit.unwrap_or(rounds.1.min(OWED_ROUNDS))
    });
    let share = if most.seconds > 0.0 { seconds / most.seconds } else { 0.0 };
    let images = lane_set.bytes_to_write();
    // Of a ladder every workload has the same steps, whose mean is what all of it comes to; roughly, where the budget took some.
    let ranks: f64 = plan.workloads.iter().map(|workload| f64::from(plan.at_work(&workload.name))).sum();
    let ranks = ranks / plan.workloads.len().max(1) as f64;
    PlanSummary {
        contestants: contestants(plan, lane_set),
        written_bytes: Some(images + (most.bytes * share * ranks) as u64),
        needed_bytes: Some(lane_set.image_bytes()),
        workloads: plan.workloads.len() as u32,
        rounds,
        fits,
        ranks: lane_set.lane_count() > 1 && plan.find_max.is_none() && !plan.calibration && plan.screening.is_none(),
        rounds_until_the_time_is_up: plan.calibration && plan.budget_seconds.is_some(),
        seconds: Some(seconds),
        seconds_per_round: timelines.iter().map(|parts| parts.round.seconds).collect(),
        resolves: None,
        setup_seconds: setting.setup_seconds(images as f64),
        first_look_seconds: match plan.screening {
            Some(_) => of_proposal(plan, &setting),
            None => least.seconds,
        },
        budget_seconds: plan.budget_seconds,
        keep,
        as_published: plan.as_published,
        passes: passes(plan, lane_set),
        notes: Vec::new(),
    }
}

/// Seconds of the first look of the race that follows from a screening: two of its lanes.
fn of_proposal(plan: &Plan, setting: &Setting) -> f64 {
    let share = 2.0 / setting.lanes.max(2.0);
    let two = Setting {
        lanes: 2.0,
        formatted: setting.formatted.min(2.0),
        // Lanes in turns on one device have that one in common.
        probed: (setting.probed * share).max(setting.probed.min(1.0)),
        made_again: 0.0,
        ..setting.clone()
    };
    timelines(plan, &two).iter().map(|parts| parts.of_rounds(LOOKS[0]).seconds).sum()
}

/// Passes behind the rounds; none looks at lanes in guests.
fn passes(plan: &Plan, lane_set: &LaneSet) -> PlannedPasses {
    let any = (0..lane_set.lane_count()).any(|lane| !lane_set.in_guest(lane));
    match (plan.explain && any, plan.explain_in_time) {
        (false, _) => PlannedPasses::No,
        (true, true) => PlannedPasses::InTime,
        (true, false) => PlannedPasses::All,
    }
}

/// What each workload is expected to take.
pub fn expected(plan: &Plan, lane_set: &LaneSet) -> Vec<Expected> {
    let setting = setting(plan, lane_set);
    let of = |parts: Parts| Expected {
        once: parts.once.seconds,
        checked: parts.checked.seconds,
        round: parts.round.seconds,
        probe: parts.probe.seconds,
    };
    timelines(plan, &setting).into_iter().map(of).collect()
}

/// The parts of each workload; with the first one the disk itself is looked at.
fn timelines(plan: &Plan, setting: &Setting) -> Vec<Parts> {
    let parts = |workload: &Workload| setting.parts(workload, whole_seconds(workload));
    let mut timelines: Vec<Parts> = plan.workloads.iter().map(parts).collect();
    if let Some(first) = timelines.first_mut().filter(|_| setting.probed > 0.0 && !plan.is_throttled()) {
        first.once += Work { seconds: disk_probe::USUAL_SECONDS, bytes: 0.0 };
    }
    timelines
}

/// Where the race takes place, as far as a forecast asks.
fn setting(plan: &Plan, lane_set: &LaneSet) -> Setting {
    let rotational = lane_set.host().and_then(|host| host.disk.as_deref()).is_some_and(lane_size::spins);
    let by_processes = |workload: &Workload| matches!(&workload.kind, Kind::Operations(of) if of.method == Method::ProcessPerOperation);
    let lanes = lane_set.lanes();
    let in_guests = lanes.iter().filter(|lane| !lane.kernel.is_empty()).count();
    let fuse = lanes.iter().filter(|lane| !lane.kernel.is_empty() && lane.filesystem == "ntfs-3g").count();
    let mut rates = match () {
        () if rotational => forecast::SPINNING,
        () if in_guests > 0 => forecast::IN_GUEST.with_fuse_in_guest(fuse as f64 / lanes.len() as f64),
        () => forecast::FAST,
    };
    if plan.workloads.iter().any(by_processes) {
        rates.process_seconds = forecast::process_seconds().unwrap_or(rates.process_seconds);
    }
    let formatted = lanes
        .iter()
        .filter(|lane| ["image", "device", "library", "uml", "qemu"].contains(&lane.venue.as_str()))
        .count();
    Setting {
        rates,
        lanes: lanes.len() as f64,
        formatted: formatted as f64,
        mkfs_bytes: mkfs_bytes(&lanes, formatted) + lane_set.restored_bytes() as f64 / formatted.max(1) as f64,
        probed: lane_set.blocks() as f64,
        side_by_side: lane_set.side_by_side(),
        // Other races learn from each round how long the next one takes.
        made_again: if plan.screening.is_some() { forecast::made_again(lanes.len()) } else { 0.0 },
        quiet_seconds: quiet_of(plan).as_secs_f64(),
        disks: Disks { bare: plan.throttle, lanes: lanes.iter().map(|lane| plan.throttle_of(&lane.name)).collect() },
        cpus: std::thread::available_parallelism().map_or(1.0, |cpus| cpus.get() as f64),
    }
}

/// Bytes that mkfs writes into lanes larger than usual, on average over all that are formatted.
fn mkfs_bytes(lanes: &[model::lane::Lane], formatted: usize) -> f64 {
    let made = lanes.iter().filter(|lane| lane.venue != "directory");
    let share = |lane: &model::lane::Lane| filesystems::find(&lane.filesystem).map_or(0.0, |row| row.mkfs_writes);
    let beyond = made.map(|lane| lane.size_bytes.saturating_sub(lane_size::USUAL.get()) as f64 * share(lane));
    beyond.sum::<f64>() / formatted.max(1) as f64
}

/// What work that runs whole says itself of how long it takes.
fn whole_seconds(workload: &Workload) -> Option<f64> {
    match &workload.kind {
        Kind::Jobs(jobs) => jobs.run_seconds(),
        Kind::Fio(run) => runtime_seconds(&run.text),
        _ => None,
    }
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
fn contestants(plan: &Plan, lane_set: &LaneSet) -> Vec<Contestants> {
    let mut gathered: Vec<Contestants> = Vec::new();
    for (index, lane) in lane_set.lanes().into_iter().enumerate() {
        let ground = match lane.venue.as_str() {
            "memory" => Ground::Memory,
            _ if lane_set.in_guest(index) => Ground::Guest {
                directory: lane_set.images_folder().display().to_string(),
                lane_bytes: plan.lane_size.get(),
                guest: lane_set.guest_words(index).unwrap_or_default(),
                code_only: lane.venue == "uml",
            },
            // A library stands on an image too, where it does not stand on a device of its own.
            "image" | "library" if !std::path::Path::new(&lane.ground).is_absolute() => Ground::Images {
                directory: match &plan.on {
                    model::plan::Ground::Images(directory) => directory.display().to_string(),
                    model::plan::Ground::Device(_) | model::plan::Ground::Disks(_) => lane.ground.clone(),
                },
                lane_bytes: plan.lane_size.get(),
                host: lane_set.host().map_or_else(String::new, |host| match &host.block {
                    Some(block) => format!("{} on {block}", host.filesystem),
                    None => host.filesystem.clone(),
                }),
            },
            "device" | "library" => Ground::Device { path: lane.ground.clone() },
            _ => Ground::Directory { path: lane.ground.clone() },
        };
        match gathered.iter_mut().find(|other| other.ground == ground) {
            Some(other) => other.lanes.push(lane.name),
            None => gathered.push(Contestants { lanes: vec![lane.name], ground }),
        }
    }
    // A journal or a log on another device: that is overwritten too.
    gathered.extend(lane_set.named_devices().map(|(lane, path)| Contestants {
        lanes: vec![lane.to_owned()],
        ground: Ground::Device { path: path.display().to_string() },
    }));
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
