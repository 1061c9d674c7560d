//! Idle lanes are quiet before a measurement (method 1.2).

use lanes::LaneSet;
use model::plan::Plan;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

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
pub fn wait_until_quiet(lane_set: &LaneSet, grounds: &[usize], quiet: Duration, stop: &AtomicBool) -> f64 {
    let begun = Instant::now();
    // Disks of user-mode Linux are files in this machine's page cache: what its kernel still has to write of them
    // would be written beside the measurement.
    let under = lane_set.settle_on_host(grounds);
    let (guests, host): (Vec<usize>, Vec<usize>) = grounds.iter().partition(|ground| lane_set.is_guest_disk(**ground));
    let names: Vec<String> = host.iter().filter_map(|ground| lane_set.device_names(*ground).device).collect();
    let of_host = || if begun.elapsed() < HOST_PATIENCE { activity(&under) } else { Activity::default() };
    let activity = || {
        let (in_flight, written_bytes) = lane_set.guest_activity(&guests, stop);
        let own = activity(&names);
        let under = of_host();
        Activity {
            in_flight: own.in_flight + in_flight + under.in_flight,
            written_bytes: own.written_bytes + written_bytes + under.written_bytes,
        }
    };
    if names.is_empty() && guests.is_empty() {
        return 0.0;
    }
    let quiet_bytes = (QUIET_BYTES_PER_SECOND * quiet.as_secs_f64()) as u64;
    let mut since = Instant::now();
    let mut before = activity();
    while since.elapsed() < quiet && begun.elapsed() < PATIENCE && !stop.load(Ordering::Relaxed) {
        std::thread::sleep(Duration::from_millis(10));
        let now = activity();
        if now.in_flight > 0 || now.written_bytes.saturating_sub(before.written_bytes) > quiet_bytes {
            since = Instant::now();
            before = now;
        }
    }
    begun.elapsed().as_secs_f64()
}

#[derive(Default)]
struct Activity {
    in_flight: u64,
    written_bytes: u64,
}

/// Sums over the devices, from /proc/diskstats: fields 7 (sectors written) and 9 (in flight)
/// after the name.
fn activity(names: &[String]) -> Activity {
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
