//! Idle lanes are quiet before a measurement (methods section 1).

use model::agent::Devices;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// How long the lanes' devices must have been quiet.
const QUIET: Duration = Duration::from_millis(250);
/// How long is waited for that at most; the time is charged.
const PATIENCE: Duration = Duration::from_secs(10);
/// Bytes written in [`QUIET`] that still count as quiet: 1 MiB/s.
const QUIET_BYTES: u64 = (1 << 20) / 4;

/// Waits until the lanes' own devices have nothing in flight and write under 1 MiB/s, or ten
/// seconds have passed. Answers the seconds waited.
pub fn wait_until_quiet(devices: &[Devices], stop: &AtomicBool) -> f64 {
    let begun = Instant::now();
    let names: Vec<&str> = devices.iter().filter_map(|each| each.device.as_deref()).collect();
    if names.is_empty() {
        return 0.0;
    }
    let mut since = Instant::now();
    let mut before = activity(&names);
    while since.elapsed() < QUIET && begun.elapsed() < PATIENCE && !stop.load(Ordering::Relaxed) {
        std::thread::sleep(Duration::from_millis(10));
        let now = activity(&names);
        if now.in_flight > 0 || now.written_bytes.saturating_sub(before.written_bytes) > QUIET_BYTES {
            since = Instant::now();
            before = now;
        }
    }
    begun.elapsed().as_secs_f64()
}

struct Activity {
    in_flight: u64,
    written_bytes: u64,
}

/// Sums over the devices, from /proc/diskstats: fields 7 (sectors written) and 9 (in flight)
/// after the name.
fn activity(names: &[&str]) -> Activity {
    let text = std::fs::read_to_string("/proc/diskstats").unwrap_or_default();
    let mut sum = Activity { in_flight: 0, written_bytes: 0 };
    for line in text.lines() {
        let fields: Vec<&str> = line.split_ascii_whitespace().collect();
        if fields.len() > 11 && names.contains(&fields[2]) {
            sum.written_bytes += fields[9].parse::<u64>().unwrap_or(0) * 512;
            sum.in_flight += fields[11].parse::<u64>().unwrap_or(0);
        }
    }
    sum
}
