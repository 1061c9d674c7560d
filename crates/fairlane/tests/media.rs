//! Large files, real programs and applications raced from end to end, small ones.

mod common;

use common::{Place, root};
use serde_json::Value;

/// Races a suite's workloads on two lanes and answers the record's lines.
#[track_caller]
fn race(place: &Place, arguments: &[&str]) -> Vec<Value> {
    let all: Vec<&str> = ["race", "ext4", "xfs"].iter().chain(arguments).copied().chain(["-o", "r.jsonl"]).collect();
    let output =
        place.fairlane(&all).env("FAIRLANE_MATERIAL", place.path().join("material")).output().expect("fairlane runs");
    let said = String::from_utf8_lossy(&output.stderr).into_owned() + &String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(0), "{said}");
    place.assert_nothing_left();
    let text = std::fs::read_to_string(place.path().join("r.jsonl")).expect("a record");
    let schema: Value = serde_json::from_str(include_str!("../../../schema/record.schema.json")).expect("JSON");
    let validator = jsonschema::validator_for(&schema).expect("a schema");
    let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    for line in &lines {
        assert!(validator.is_valid(line), "{line}");
    }
    lines
}

/// Those that count: where others keep the machine busy, rounds are repeated.
fn trials(lines: &[Value]) -> impl Iterator<Item = &Value> {
    lines.iter().filter(|line| line["kind"] == "trial" && line["outcome"] != "repeated")
}

fn installed(program: &str) -> bool {
    let found = engine::programs::find(program).is_some();
    if !found {
        eprintln!("skipped: {program} is not installed");
    }
    found
}

#[test]
fn the_media_suite_races_small_files_and_edits_a_small_recording() {
    if !root() || !installed("ffmpeg") {
        return;
    }
    let place = Place::new();
    let lines = race(&place, &["--suite", "media", "--set", "size=8MB", "--lane-size", "512MiB", "--rounds", "2"]);
    let mut checksums = std::collections::BTreeMap::<String, std::collections::BTreeSet<u64>>::new();
    for trial in trials(&lines) {
        assert_eq!(trial["outcome"], "ok", "{trial}");
        let groups = trial["groups"].as_array().unwrap();
        let names: Vec<_> = groups.iter().map(|group| group["name"].as_str().unwrap()).collect();
        match trial["workload"].as_str().unwrap() {
            "media" => {
                assert_eq!(names, ["write", "read", "read+write", "delete"]);
                assert!(groups[0]["metrics"]["extents"].as_f64().unwrap() >= 1.0, "{trial}");
                let removed = &groups[3];
                let (time, seconds) = (removed["metrics"]["time_ns"].as_f64(), removed["seconds"].as_f64().unwrap());
                assert!((time.unwrap() * 1e-9 / seconds - 1.0).abs() < 0.2, "{removed}");
                for group in groups {
                    assert!(group["metrics"]["bandwidth_bytes_per_second"].as_f64().unwrap() > 0.0, "{group}");
                }
            }
            "editing" => {
                assert_eq!(names.len(), 7);
                assert_eq!(names[6], "total");
                let seconds = |at: usize, key: &str| groups[at][key].as_f64().unwrap();
                // Each step carries its own sync, and hardly anything is left for the total.
                let of_steps = |key: &str| (0..6).map(|at| seconds(at, key)).sum::<f64>();
                let rest = seconds(6, "seconds") - of_steps("seconds");
                assert!(rest >= 0.0 && (seconds(6, "sync_seconds") - of_steps("sync_seconds") - rest).abs() < 1e-6);
                assert!(seconds(0, "sync_seconds") > 0.0, "{trial}");
                assert!(trial["phases_seconds"]["verify"].as_f64().unwrap() > 0.0, "outputs come from the disk");
                // Reading steps begin cold: what they read came from the disk.
                for at in [1, 2, 3] {
                    let device = groups[at]["system"]["device"]["read_bytes"].as_f64().unwrap();
                    assert!(device > 0.9 * seconds(at, "bytes") && seconds(at, "bytes") > 4e6, "{}", groups[at]);
                }
                assert!(groups[6]["metrics"]["material_crc32c"].as_f64().is_some(), "{trial}");
                for group in groups {
                    assert!(group["metrics"]["time_ns"].as_f64().unwrap() > 0.0, "{group}");
                    if let Some(sum) = group["metrics"]["output_crc32c"].as_f64() {
                        checksums.entry(group["name"].as_str().unwrap().to_owned()).or_default().insert(sum as u64);
                    }
                }
            }
            other => panic!("{other}"),
        }
    }
    assert_eq!(checksums.len(), 2);
    assert!(checksums.values().all(|sums| sums.len() == 1), "alike in every lane and round: {checksums:?}");
    let (out, _) = place.expect(0, &["compare", "r.jsonl", "published:raid5-2gb"]);
    assert!(out.contains("editing"), "{out}");
    let (json, _) = place.expect(0, &["report", "r.jsonl", "--format", "json"]);
    let findings: Value = serde_json::from_str(&json).unwrap();
    let total = findings["results"].as_array().unwrap().iter().find(|result| result["group"] == "total").unwrap();
    assert_eq!((total["metric"].as_str(), total["higher_is_better"].as_bool()), (Some("time_ns"), Some(false)));
}

#[test]
fn the_applications_suite_races_git_layers_and_streams() {
    if !root() || !installed("git") {
        return;
    }
    let place = Place::new();
    let small = ["git.files=200", "containers.files=200", "streaming.size=2MiB", "streaming.readers=2"];
    let mut arguments = vec!["--suite", "applications", "--lane-size", "512MiB", "--rounds", "1"];
    arguments.extend(small.iter().flat_map(|set| ["--set", set]));
    let lines = race(&place, &arguments);
    let mut seen = Vec::new();
    for trial in trials(&lines).filter(|trial| trial["lane"] == "ext4") {
        assert_eq!(trial["outcome"], "ok", "{trial}");
        seen.push(trial["workload"].as_str().unwrap().to_owned());
        assert!(trial["reason"].is_null(), "{trial}");
    }
    assert_eq!(seen, ["git", "containers", "mail-server", "web-server", "streaming"]);
}

#[test]
fn lanes_are_as_large_as_the_suite_says_unless_the_user_does() {
    if !root() {
        return;
    }
    let place = Place::new();
    let (out, err) = place.expect(0, &["race", "ext4", "xfs", "--suite", "media", "--workload", "media", "--dry-run"]);
    assert!(format!("{out}{err}").contains("12 GiB"), "{out}{err}");
    let (_, err) = place.expect(
        2,
        &["race", "ext4", "xfs", "--suite", "media", "--workload", "media", "--lane-size", "2GiB", "--dry-run"],
    );
    assert!(err.contains("--lane-size") || err.contains("lane size"), "{err}");
}
