//! An array's own look at whether its copies, or its data and parity, agree (the kernel's Documentation/admin-guide/md.rst,
//! `sync_action`).

use super::build::tell;
use super::md::attributes;
use crate::failure::LaneFailure;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// How often the array is asked whether it is done.
const POLL: Duration = Duration::from_millis(20);
/// KiB a second: as fast as its disks are.
const FASTEST: &str = "100000000";
const IDLE: &str = "idle";

/// Has an array compare everything it stores; answers the sectors that differ, `None`: it has nothing to compare, or is busy
/// with something else.
///
/// # Errors
/// What the kernel says; [`LaneFailure::Interrupted`].
pub(super) fn mismatches(array: &Path, stop: &AtomicBool) -> Result<Option<u64>, LaneFailure> {
    let folder = attributes(array);
    let read = |name: &str| std::fs::read_to_string(folder.join(name)).ok().map(|text| text.trim().to_owned());
    let lacks_a_disk = read("degraded").is_some_and(|count| count != "0");
    if lacks_a_disk || read("sync_action").as_deref() != Some(IDLE) {
        return Ok(None);
    }
    for limit in ["sync_speed_max", "sync_speed_min"] {
        tell(&folder.join(limit), FASTEST)?;
    }
    tell(&folder.join("sync_action"), "check")?;
    while read("sync_action").is_some_and(|action| action != IDLE) {
        if stop.load(Ordering::Relaxed) {
            let _ = tell(&folder.join("sync_action"), IDLE);
            return Err(LaneFailure::Interrupted);
        }
        std::thread::sleep(POLL);
    }
    Ok(read("mismatch_cnt").and_then(|count| count.parse().ok()))
}
