//! Whether an emulated disk held, and how near a lane came to it (method 3.7).
//!
//! The limits are the kernel's; whether they reached everything that a filesystem does is checked
//! against the device's own counters after every trial.

use crate::statements::{self, limit, name, race};
use crate::words;
use model::plan::Plan;
use model::sentence::Value;
use model::throttle::{Quantity, STEP_SECONDS};
use model::trial::{DeviceUse, SystemUse, Trial};
use model::workload::Workload;
use model::{Sentence, Throttle};

/// What the counters may show beyond the limit: the share of method 3.7.
const TOLERANCE: f64 = 1.02;
/// Steps of the kernel's throttle that pass at once. Work in slices has a warm-up behind it, and its
/// window may catch one burst too many or too few at its edges: over n windows they add up as the root
/// of n does.
const BURSTS_OF_SLICES: f64 = 1.0;
/// An idle device is given up to two steps' worth at its first request (measured, method 3.7), in
/// every window that begins idle.
const BURSTS_FROM_IDLE: f64 = 2.0;
/// Windows of fewer steps than this are mostly the burst that an idle device is given.
const TOO_SHORT_STEPS: f64 = 5.0;

/// What a reader must know where lanes do not stand on the same disk, in one sentence that names each
/// lane of these with what each of its disks is held to, and how many they are. `None`: all are held to the same on as many
/// disks, or to nothing.
pub fn different_disks<'a>(lanes: impl IntoIterator<Item = (&'a str, Option<Throttle>, u32)>) -> Option<Sentence> {
    let lanes: Vec<(&str, Option<Throttle>, u32)> = lanes.into_iter().collect();
    if lanes.windows(2).all(|two| held_alike((two[0].1, two[0].2), (two[1].1, two[1].2))) {
        return None;
    }
    let each = lanes.iter().map(|(lane, throttle, disks)| match throttle {
        Some(throttle) if *disks > 1 => limit::lane_on_disks(name(*lane), *disks, name(throttle.to_string())).into(),
        Some(throttle) => limit::lane_and_figure(name(*lane), name(throttle.to_string())).into(),
        None => limit::lane_not_limited(name(*lane)).into(),
    });
    Some(race::on_different_disks(Value::Row(each.collect())))
}

/// The same for the lanes of a plan.
pub fn different_disks_of(plan: &Plan) -> Option<Sentence> {
    different_disks(plan.lanes.iter().map(|lane| (lane.name.as_str(), plan.throttle_of(&lane.name), lane.disks())))
}

/// Whether two lanes with these limits of each disk, and so many disks, stand on disks that allow the same.
pub(crate) fn held_alike(a: (Option<Throttle>, u32), b: (Option<Throttle>, u32)) -> bool {
    a.0 == b.0 && (a.0.is_none() || a.1 == b.1)
}

/// What the device's counters hold of a quantity.
fn counted(device: &DeviceUse, quantity: Quantity) -> f64 {
    let count = match quantity {
        Quantity::ReadBytes => device.read_bytes,
        Quantity::WriteBytes => device.write_bytes,
        Quantity::Reads => device.reads,
        Quantity::Writes => device.writes,
    };
    count as f64
}

/// The same of a lane: of several disks, each of which has the limit, what the one did that did most.
fn most_counted(system: &SystemUse, quantity: Quantity) -> f64 {
    let disks = system.disks.iter().map(|disk| counted(disk, quantity));
    disks.reduce(f64::max).unwrap_or_else(|| counted(&system.device, quantity))
}

fn said(quantity: Quantity, rate: f64) -> String {
    match quantity {
        Quantity::ReadBytes => format!("{} read", words::bandwidth(rate)),
        Quantity::WriteBytes => format!("{} written", words::bandwidth(rate)),
        Quantity::Reads => format!("{} reads/s", model::units::human_count(rate)),
        Quantity::Writes => format!("{} writes/s", model::units::human_count(rate)),
    }
}

/// Why a trial is void, in one sentence: its device did more than the throttle and the bursts that the
/// kernel lets through allow. `None`: it held.
pub fn broken(trial: &Trial, workload: &Workload, throttle: &Throttle) -> Option<String> {
    let slices = workload.traits().schedule().is_slices();
    let bursts = |windows: f64| if slices { BURSTS_OF_SLICES * windows.sqrt() } else { BURSTS_FROM_IDLE * windows };
    let own: Vec<&SystemUse> = trial.groups.iter().filter_map(|group| group.system.as_ref()).collect();
    let all = if own.is_empty() { vec![&trial.system] } else { own };
    all.into_iter().find_map(|system| {
        let seconds =
            TOLERANCE * system.window_seconds + STEP_SECONDS * bursts(f64::from(system.windows.max(1)));
        let (quantity, limit) = Quantity::ALL.into_iter().find_map(|quantity| {
            let limit = throttle.limit(quantity)? as f64;
            (most_counted(system, quantity) > limit * seconds).then_some((quantity, limit))
        })?;
        let rate = most_counted(system, quantity) / system.window_seconds.max(f64::MIN_POSITIVE);
        Some(format!(
            "the throttle did not hold: {} did {} in windows of {:.2} s in all, where {} were allowed (bursts and 2 % are tolerated)",
            if system.disks.is_empty() { "the device" } else { "one of the disks" },
            said(quantity, rate),
            system.window_seconds,
            said(quantity, limit)
        ))
    })
}

/// How near a device came to the nearest of its limits, as a share.
pub(crate) fn nearness(rate: impl Fn(Quantity) -> Option<f64>, throttle: &Throttle) -> Option<f64> {
    let shares = Quantity::ALL.into_iter().filter_map(|quantity| {
        let limit = throttle.limit(quantity)? as f64;
        Some(rate(quantity)? / limit).filter(|share| share.is_finite())
    });
    shares.reduce(f64::max)
}

/// Rate of a quantity at the device in a window, of several disks at the one that did most; `None` where nothing was
/// watched.
pub(crate) fn rate(system: &SystemUse, quantity: Quantity) -> Option<f64> {
    (system.window_seconds > 0.0).then(|| most_counted(system, quantity) / system.window_seconds)
}

/// Mean length of the windows of a group's work, the median over trials; `None`: nothing was measured.
pub(crate) fn window_seconds<'a>(systems: impl Iterator<Item = &'a SystemUse>) -> Option<f64> {
    crate::estimate::median(systems.map(|system| system.window_seconds / f64::from(system.windows.max(1))))
}

/// Whether work in windows of this length feels the throttle: slices always do, because a warm-up
/// stands before them; short steps are mostly the burst that an idle device is given.
pub(crate) fn shows(workload: &Workload, window_seconds: f64) -> bool {
    workload.traits().schedule().is_slices() || window_seconds >= TOO_SHORT_STEPS * STEP_SECONDS
}

/// What a reader must know of work so short that the burst of an idle device carries it; the same words
/// for every step, so that a table gathers them.
pub(crate) fn too_short() -> Sentence {
    race::hardly_emulated(
        statements::exact(TOO_SHORT_STEPS * STEP_SECONDS),
        statements::exact(BURSTS_FROM_IDLE * STEP_SECONDS),
    )
}
