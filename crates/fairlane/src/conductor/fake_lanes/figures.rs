//! What work in a lane of numbers comes to, and what the system then shows.

use model::trial::{DeviceUse, Group, SystemUse};
use std::collections::BTreeMap;

/// Windows of a slice.
const WINDOWS: usize = 10;
const BLOCK_BYTES: u64 = 4096;

pub(super) fn metrics(rate: f64) -> BTreeMap<String, f64> {
    let bandwidth = rate * BLOCK_BYTES as f64;
    [("operations_per_second", rate), ("bandwidth_bytes_per_second", bandwidth)]
        .map(|(name, figure)| (name.to_owned(), figure))
        .into()
}

pub(super) fn group(name: &str, rate: f64, operations: f64, seconds: f64) -> Group {
    Group {
        name: name.to_owned(),
        operations: operations as u64,
        bytes: operations as u64 * BLOCK_BYTES,
        seconds,
        primary_metric: "operations_per_second".to_owned(),
        metrics: metrics(rate),
        windows_operations_per_second: vec![rate; WINDOWS],
        windows_seconds: seconds / WINDOWS as f64,
        ..Group::default()
    }
}

/// The lane's device does what the application asks, half busy.
pub(super) fn system(group: &Group, foreign: bool) -> SystemUse {
    let (count, bytes, busy_seconds) = (group.operations, group.bytes, group.seconds / 2.0);
    let device = match group.name.as_str() {
        "read" => DeviceUse { reads: count, read_bytes: bytes, busy_seconds, ..DeviceUse::default() },
        _ => DeviceUse { writes: count, write_bytes: bytes, busy_seconds, ..DeviceUse::default() },
    };
    let own = group.seconds / 10.0;
    SystemUse {
        window_seconds: group.seconds,
        windows: 1,
        cpus: 2,
        // Far more than the windows, so that one disturbed slice of several is seen in their sum.
        cpu_user_seconds: if foreign { own + 20.0 * group.seconds } else { own },
        agent_cpu_user_seconds: own,
        device,
        backing: device,
        ..SystemUse::default()
    }
}

/// A number of a normal distribution, the same for the same three: the sum of twelve uniform ones (SplitMix64).
pub(super) fn deviate(seed: u64, lane: u64, step: u64) -> f64 {
    let mut state = seed ^ lane.wrapping_mul(0xd1b5_4a32_d192_ed03) ^ step.wrapping_mul(0xaef1_7502_108e_f2d9);
    let mut uniform = || {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
    };
    (0..12).map(|_| uniform()).sum::<f64>() - 6.0
}
