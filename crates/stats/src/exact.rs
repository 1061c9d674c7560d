//! Levels in JSON without losing a bit: of decimal digits a reader may make the number beside the one that was meant.

use crate::estimate::Level;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A lane's level, its numbers as the bits that they have (IEEE 754).
#[derive(Serialize, Deserialize)]
struct Bits {
    lane: usize,
    mean: u64,
    interval: Option<(u64, u64)>,
    count: usize,
}

/// Writes the levels of lanes.
pub(crate) fn serialize<S: Serializer>(levels: &[(usize, Level)], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(levels.iter().map(|(lane, level)| Bits {
        lane: *lane,
        mean: level.mean.to_bits(),
        interval: level.interval.map(|(low, high)| (low.to_bits(), high.to_bits())),
        count: level.count,
    }))
}

/// Reads them again.
pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<(usize, Level)>, D::Error> {
    let level = |bits: Bits| {
        let interval = bits.interval.map(|(low, high)| (f64::from_bits(low), f64::from_bits(high)));
        (bits.lane, Level { mean: f64::from_bits(bits.mean), interval, count: bits.count })
    };
    Ok(Vec::<Bits>::deserialize(deserializer)?.into_iter().map(level).collect())
}
