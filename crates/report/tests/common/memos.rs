//! Races that only a page of limited size finds awkward.

use super::*;
use model::findings::Verdict::{Faster, Slower, Tie};

/// Every lane at the disk's own limit: whatever is chosen does this work as fast.
pub fn at_the_disk() -> Findings {
    let lanes = ["ext4", "xfs", "btrfs"];
    let of = |work: (&str, &str, &str), mean: f64| {
        let pairs = [("xfs", "ext4"), ("btrfs", "ext4"), ("btrfs", "xfs")];
        result(
            work,
            true,
            (Limit::Device, "every lane runs at 97 to 99 % of the bare device's 512 MB/s"),
            lanes.map(|lane| estimate(lane, mean)).to_vec(),
            pairs.map(|(a, b)| pair(a, b, (1.0, 0.99, 1.01), Tie)).to_vec(),
            &[&lanes],
        )
    };
    let mut told = answer(&lanes, Vec::new());
    told.cannot_tell = vec![SEQ_READ.1.to_owned(), SEQ_WRITE.1.to_owned()];
    told.next = ["report", "--format", "markdown"].map(str::to_owned).to_vec();
    told.settle = None;
    race(lanes.map(|name| lane(name, name)).to_vec(), vec![of(SEQ_READ, 508e6), of(SEQ_WRITE, 478e6)], Some(told))
}

/// Nothing is decided: too noisy everywhere, the first of two lanes also raced against itself.
pub fn noisy() -> Findings {
    let of = |work: (&str, &str, &str), minutes: f64| {
        result(
            work,
            false,
            UNKNOWN,
            vec![estimate("ext4", 1_000.0), estimate("xfs", 1_040.0)],
            vec![undecided("xfs", "ext4", (1.04, 0.95, 1.14), minutes)],
            &[&["xfs", "ext4"]],
        )
    };
    let mut told = answer(&["ext4", "xfs"], Vec::new());
    told.undecided = [COMMIT.1, CREATE.1].map(str::to_owned).to_vec();
    told.next = ["race", "ext4", "xfs", "--budget", "240m"].map(str::to_owned).to_vec();
    told.settle = Some(Settle::Budget { minutes: 240, some_only: true });
    race(vec![lane("ext4", "ext4"), lane("xfs", "xfs")], vec![of(COMMIT, 95.0), of(CREATE, 2_000.0)], Some(told))
}

/// Twelve lanes with options, each at its own distance; more than a page has room for.
pub fn twelve() -> Findings {
    let specs = [
        ("ext4", "ext4"),
        ("ext4,noatime,commit=30", "ext4"),
        ("ext4,data=journal", "ext4"),
        ("ext3", "ext3"),
        ("xfs", "xfs"),
        ("lean=xfs,-mreflink=0", "xfs"),
        ("btrfs", "btrfs"),
        ("btrfs,compress=zstd:1", "btrfs"),
        ("btrfs,nodatacow", "btrfs"),
        ("f2fs", "f2fs"),
        ("jfs", "jfs"),
        ("nilfs2", "nilfs2"),
    ];
    let names: Vec<&str> = specs.iter().map(|(name, _)| *name).collect();
    let of = |work: (&str, &str, &str), speed: fn(usize) -> f64| {
        let estimates = (0..12).map(|at| Estimate {
            cpu_seconds_per_operation: Some(40e-6 * (1.0 + at as f64 / 4.0)),
            write_amplification: Some(1.0 + at as f64 / 3.0),
            ..estimate(names[at], 1_000.0 * speed(at))
        });
        let pairs = (0..12).flat_map(|a| (0..a).map(move |b| (a, b))).map(|(a, b)| {
            let ratio = speed(a) / speed(b);
            let verdict = match ratio {
                ratio if ratio > 1.05 => Faster,
                ratio if ratio < 0.95 => Slower,
                _ => Tie,
            };
            pair(names[a], names[b], (ratio, ratio * 0.98, ratio * 1.02), verdict)
        });
        result(work, false, UNKNOWN, estimates.collect(), pairs.collect(), &[&names])
    };
    let falling: fn(usize) -> f64 = |at| 2.0 - 0.12 * at as f64;
    let rising: fn(usize) -> f64 = |at| 1.0 + 0.04 * at as f64;
    let of_loser = |at: usize| {
        let best = speed_ratio(falling, at, 0);
        reason(names[at], names[0], COMMIT, best)
    };
    let mut reasons: Vec<Reason> = (1..11).map(of_loser).collect();
    reasons.push(reason(names[0], names[11], CREATE, speed_ratio(rising, 0, 11)));
    reasons.push(reason(names[11], names[0], COMMIT, speed_ratio(falling, 11, 0)));
    let mut told = answer(&[names[0], names[11]], reasons);
    told.next = ["report", "--format", "markdown"].map(str::to_owned).to_vec();
    told.settle = None;
    let lanes = specs.iter().map(|(name, filesystem)| lane(name, filesystem)).collect();
    race(lanes, vec![of(COMMIT, falling), of(CREATE, rising), of(DELETE, rising)], Some(told))
}

fn speed_ratio(speed: fn(usize) -> f64, a: usize, b: usize) -> f64 {
    speed(a) / speed(b)
}
