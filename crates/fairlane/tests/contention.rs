//! Suite `contention` raced from end to end, with few operations.

use crate::common;

use common::{Place, root};
use serde_json::Value;
use std::collections::BTreeSet;

#[test]
fn the_contention_suite_races_every_act_alone_and_together() {
    if !root() {
        return;
    }
    let place = Place::new();
    let race = "race ext4 xfs btrfs --suite contention --set operations=600 --lane-size 512MiB --rounds 1 -o r.jsonl";
    let words: Vec<&str> = race.split(' ').collect();
    let output = place.fairlane(&words).output().expect("fairlane runs");
    let said = String::from_utf8_lossy(&output.stderr).into_owned() + &String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(0), "{said}");
    place.assert_nothing_left();
    let mut groups = BTreeSet::new();
    for line in place.record() {
        if line["kind"] != "trial" || line["outcome"] == "repeated" {
            continue;
        }
        assert_eq!(line["outcome"], "ok", "{line}");
        for group in line["groups"].as_array().expect("groups") {
            let name = group["name"].as_str().expect("a name");
            groups.insert((line["lane"].to_string(), name.to_owned()));
            let operations = group["operations"].as_f64().unwrap();
            assert!((30.0..=600.0).contains(&operations), "{name}: {operations}");
            assert!(group["sync_seconds"].as_f64().unwrap_or(0.0) == 0.0, "{name}: no sync is in its figure: {group}");
            let rate = group["metrics"]["operations_per_second"].as_f64().unwrap();
            let mut parts: Vec<f64> = group["slices_operations_per_second"]
                .as_array()
                .unwrap()
                .iter()
                .map(|of| of.as_f64().unwrap())
                .collect();
            parts.sort_by(f64::total_cmp);
            let median = (parts[4] + parts[5]) / 2.0;
            assert!(parts.len() == 10 && (rate / median - 1.0).abs() < 1e-6, "{name}: {group}");
        }
    }
    assert_eq!(groups.len(), 3 * 20, "{groups:?}");
    let report = place.fairlane(&["report", "r.jsonl", "--format", "json"]).output().expect("fairlane runs");
    let findings: Value = serde_json::from_slice(&report.stdout).expect("JSON");
    for result in findings["results"].as_array().expect("results") {
        for estimate in result["estimates"].as_array().expect("estimates") {
            assert!(estimate["failure"].is_null() && estimate["mean"].as_f64().unwrap() > 0.0, "{estimate}");
            assert_ne!(estimate["device_use_is_impossible"], true, "a ceiling that is none: {estimate}");
        }
    }
}
