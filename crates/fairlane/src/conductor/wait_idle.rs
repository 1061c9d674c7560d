//! Idle lanes are quiet before a measurement (method 1.2).

use super::failpoint;
use super::race_clock::RaceClock;
use super::raced_lanes::RacedLanes;
use model::plan::Plan;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// How long the lanes' devices must have been quiet (method 1.2).
const QUIET: Duration = Duration::from_millis(500);
/// The same for a first answer, which has little time.
const QUIET_FOR_A_FIRST_ANSWER: Duration = Duration::from_millis(250);
/// How long is waited for that at most; the time is charged.
const PATIENCE: Duration = Duration::from_secs(10);
/// How long the disk under user-mode Linux is waited for: others may write there for ever, and its lanes do not wait
/// for it.
const HOST_PATIENCE: Duration = Duration::from_secs(2);
/// Bytes per second that still count as quiet.
const QUIET_BYTES_PER_SECOND: f64 = (1 << 20) as f64;

/// How long the lanes' devices are quiet before a measurement of this race.
pub fn quiet_of(plan: &Plan) -> Duration {
    if plan.first_answer { QUIET_FOR_A_FIRST_ANSWER } else { QUIET }
}

/// Waits until the lanes' own devices have had nothing in flight and written under 1 MiB/s for so
/// long, or ten seconds have passed. Answers the seconds waited.
pub fn wait_until_quiet(
    (lanes, clock): (&dyn RacedLanes, &dyn RaceClock),
    grounds: &[usize],
    quiet: Duration,
    stop: &AtomicBool,
) -> f64 {
    let begun = clock.now();
    let disks = lanes.disks_of(grounds);
    if disks.own.is_empty() && disks.guests.is_empty() {
        return 0.0;
    }
    let activity = || lanes.activity(&disks, clock.since(begun) < HOST_PATIENCE);
    let patience = failpoint::patience(PATIENCE);
    let quiet_bytes = (QUIET_BYTES_PER_SECOND * quiet.as_secs_f64()) as u64;
    let mut since = clock.now();
    let mut before = activity();
    while clock.since(since) < quiet && clock.since(begun) < patience && !stop.load(Ordering::Relaxed) {
        clock.sleep(Duration::from_millis(10));
        let now = activity();
        if now.in_flight > 0 || now.written_bytes.saturating_sub(before.written_bytes) > quiet_bytes {
            since = clock.now();
            before = now;
        }
    }
    clock.since(begun).as_secs_f64()
}

/// The disks that are waited for.
#[derive(Debug, Clone, Default)]
pub struct Disks {
    /// Of this machine's own lanes, as /proc/diskstats names them.
    pub own: Vec<String>,
    /// Grounds of lanes in guests.
    pub guests: Vec<usize>,
    /// What disks of guests lie on.
    pub under: Vec<String>,
}

/// What disks have under way.
#[derive(Debug, Clone, Copy, Default)]
pub struct Activity {
    /// Requests in flight.
    pub in_flight: u64,
    /// Bytes written since boot.
    pub written_bytes: u64,
}

impl Activity {
    /// Sums over the devices, from /proc/diskstats: fields 7 (sectors written) and 9 (in flight)
    /// after the name.
    pub fn of_disks(names: &[String]) -> Activity {
        let text = std::fs::read_to_string("/proc/diskstats").unwrap_or_default();
        let mut sum = Activity { in_flight: 0, written_bytes: 0 };
        for line in text.lines() {
            let fields: Vec<&str> = line.split_ascii_whitespace().collect();
            if fields.len() > 11 && names.iter().any(|name| name == fields[2]) {
                sum.written_bytes += fields[9].parse::<u64>().unwrap_or(0) * 512;
                sum.in_flight += fields[11].parse::<u64>().unwrap_or(0);
            }
        }
        sum
    }
}
