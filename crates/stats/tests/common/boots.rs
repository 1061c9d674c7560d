//! Boots of a baseline and of a candidate, for the tests of the gate.
#![allow(dead_code)] // Each test file uses its share.

use crate::common::{io, lane, record, trial};
use model::gate::{Gate, GateRow};
use model::plan::Rounds;
use model::record::Record;
use model::trial::Outcome;
use model::workload::Pattern;
use stats::gate::{Named, Terms, gate};

/// A race of ext4 and xfs at this minute of a day: their rates, before this boot's luck.
pub fn race(minute: u32, rates: [f64; 2], luck: f64) -> Record {
    let workloads = vec![io("w", Pattern::RandWrite, 1, 0)];
    let mut race = record(vec![lane("ext4"), lane("xfs")], workloads, Rounds::Fixed(3), true);
    race.header.started = format!("2026-11-20T10:{minute:02}:00Z");
    race.header.boot_id = format!("boot {minute}");
    race.header.seed = u64::from(minute);
    race.header.plan.command_line = ["fairlane", "race", "--seed", &minute.to_string()].map(str::to_owned).to_vec();
    for round in 1..=3 {
        for (name, rate) in ["ext4", "xfs"].iter().zip(rates) {
            // Rounds scatter about the boot's own level, whose geometric mean is exact.
            let rate = rate * luck * [0.9, 1.0, 1.0 / 0.9][round as usize - 1];
            race.trials.push(trial(name, &race.header.plan.workloads[0], round, rate));
        }
    }
    race
}

pub const LUCK: [f64; 6] = [1.0, 1.01, 0.99, 1.02, 0.98, 1.005];

/// Boots of a baseline in even minutes and of a candidate in odd ones: `factors` are what the candidate
/// does to ext4 and xfs.
pub fn boots(count: u32, factors: [f64; 2]) -> [Vec<Record>; 2] {
    let side = |first: u32, factors: [f64; 2]| {
        let boot = |at: u32| {
            let mut race = race(2 * at + first, [1000.0 * factors[0], 2000.0 * factors[1]], LUCK[at as usize % 6]);
            race.header.machine.kernel = ["6.1", "6.12"][first as usize].to_owned();
            race
        };
        (0..count).map(boot).collect()
    };
    [side(0, [1.0; 2]), side(1, factors)]
}

pub fn named(records: &[Record], names: &'static [&'static str]) -> Vec<Named<'static>> {
    // Tests are short: what they leak ends with them.
    let records: &'static [Record] = Box::leak(records.to_vec().into_boxed_slice());
    records.iter().zip(names).map(|(record, name)| Named { name, record }).collect()
}

pub const OLD: [&str; 8] = ["old/1", "old/2", "old/3", "old/4", "old/5", "old/6", "old/7", "old/8"];
pub const NEW: [&str; 8] = ["new/1", "new/2", "new/3", "new/4", "new/5", "new/6", "new/7", "new/8"];

pub fn judge(sides: &[Vec<Record>; 2], need: Option<f64>) -> Result<Gate, String> {
    let terms = Terms { fail_if_slower: 0.05, need_resolution: need };
    gate(&named(&sides[0], &OLD), &named(&sides[1], &NEW), &terms)
}

#[track_caller]
pub fn judged(sides: &[Vec<Record>; 2]) -> Gate {
    judge(sides, None).unwrap()
}

pub fn row<'a>(gate: &'a Gate, lane: &str) -> &'a GateRow {
    gate.rows.iter().find(|row| row.lane == lane).unwrap()
}

/// Lets a lane fail in all rounds of a record.
pub fn fail(record: &mut Record, lane: &str) {
    for trial in record.trials.iter_mut().filter(|trial| trial.lane == lane) {
        trial.outcome = Outcome::Failed;
        trial.reason = Some("the kernel said I/O error".into());
        trial.groups.clear();
    }
}
