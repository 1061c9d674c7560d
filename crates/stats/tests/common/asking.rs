//! Races of lanes whose truth is known, and what advice makes of them with the real table of features.
#![allow(dead_code)] // Each test file uses its share.

use crate::common::{io, lane, noise, record, trial};
use model::features::Features;
use model::findings::{Advice, Excluded, Findings};
use model::lane::Lane;
use model::plan::Rounds;
use model::record::Record;
use model::scenario::{Need, Scenario};
use model::workload::{Pattern, Workload};
use stats::advice::{Knowledge, KnownSuite, Race, advise};
use stats::judge;

pub fn table() -> Vec<Features> {
    [
        include_str!("../../../../features/ext4.toml"),
        include_str!("../../../../features/xfs.toml"),
        include_str!("../../../../features/btrfs.toml"),
        include_str!("../../../../features/tmpfs.toml"),
        include_str!("../../../../features/rsext4.toml"),
        include_str!("../../../../features/bcachefs.toml"),
    ]
    .iter()
    .map(|text| Features::from_toml(text).unwrap())
    .collect()
}

/// Shares of the three parts, and constraints as `need: why`.
pub fn scenario(shares: [f64; 3], needs: &[(&str, &str)]) -> Scenario {
    let mut text = "name = \"x\"\ntitle = \"X\"\nabout = \"a test\"\n".to_owned();
    for (need, why) in needs {
        text.push_str(&format!("[[need]]\nneed = \"{need}\"\nwhy = \"{why}\"\nsource = \"a book\"\n"));
    }
    let parts = [("commits", "quick/commit/write"), ("reads", "quick/random-read/read"), ("large", "later/large/*")];
    for ((what, series), share) in parts.iter().zip(shares).filter(|(_, share)| *share > 0.0) {
        text.push_str(&format!(
            "[[weight]]\nwhat = \"{what}\"\nshare = {share}\nwhy = \"it is so\"\nseries = [\"{series}\"]\n"
        ));
    }
    Scenario::from_toml(&text).unwrap()
}

pub fn commit() -> Workload {
    io("commit", Pattern::Append, 1, 0)
}

pub fn read() -> Workload {
    io("random-read", Pattern::RandRead, 1, 0)
}

/// A race of these lanes: rates of commits and of reads in each lane, with noise on logarithms.
pub fn race(lanes: Vec<Lane>, rates: &[[f64; 2]], deviation: f64) -> Record {
    let workloads = vec![commit(), read()];
    let mut race = record(lanes, workloads.clone(), Rounds::Auto, true);
    let names: Vec<String> = race.header.lanes.iter().map(|lane| lane.name.clone()).collect();
    let mut noise = noise(7);
    for (index, workload) in workloads.iter().enumerate() {
        for round in 1..=20 {
            for (name, rates) in names.iter().zip(rates) {
                let rate = rates[index] * (deviation * noise.next()).exp();
                race.trials.push(trial(name, workload, round, rate));
            }
        }
    }
    race
}

pub fn three() -> Vec<Lane> {
    ["ext4", "xfs", "btrfs"].map(lane).to_vec()
}

pub fn judged(record: &Record) -> Findings {
    judge::findings(record)
}

/// No table, no suite, no other filesystem.
pub fn nothing_known() -> Knowledge<'static> {
    Knowledge { features: &[], suites: &[], others: &[], lacks: |_| Vec::new(), broken: &[] }
}

pub fn asked(record: &Record, scenario: &Scenario, needs: &[&str]) -> Advice {
    let needs: Vec<Need> = needs.iter().map(|need| need.parse().unwrap()).collect();
    let features = table();
    let known = Knowledge {
        features: &features,
        suites: &["quick", "later"].map(KnownSuite::from),
        broken: &[],
        ..nothing_known()
    };
    advise(&[Race { record, findings: &judged(record) }], scenario, &needs, &known)
}

pub fn excluded<'a>(advice: &'a Advice, lane: &str) -> &'a Excluded {
    advice.excluded.iter().find(|of| of.lane == lane).unwrap_or_else(|| panic!("{lane} is not out: {advice:#?}"))
}
