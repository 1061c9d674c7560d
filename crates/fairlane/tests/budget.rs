//! What a budget does, and what a failed round costs: on directories, which need no root.

mod common;

use common::Place;
use serde_json::Value;

/// Short work, work whose rounds take half an hour, and work that would first measure maxima for as long.
const SUITE: &str = r#"
name = "budget"
about = "a test"
first_answer = true

[[workload]]
name = "short"
title = "short reads"
kind = "io"
rw = "randread"
bs = "4KiB"
size = "1MiB"
ioengine = "sync"
slices = 2
slice_seconds = 0.02

[[workload]]
name = "long"
title = "long reads"
kind = "io"
rw = "randread"
bs = "4KiB"
size = "1MiB"
ioengine = "sync"
slices = 15
slice_seconds = 60.0

[[workload]]
name = "latency"
title = "latency of reads"
kind = "io"
rw = "randread"
bs = "4KiB"
size = "1MiB"
ioengine = "sync"
rate_of_slowest = 0.7
slices = 15
slice_seconds = 60.0
"#;

/// Races two directories and answers the lines of the record and the findings.
#[track_caller]
fn race(place: &Place, more: &[&str]) -> (Vec<Value>, Value) {
    let suite = place.path().join("budget.toml");
    std::fs::write(&suite, SUITE).unwrap();
    let lanes = ["a", "b"].map(|name| {
        let path = place.path().join(name);
        std::fs::create_dir(&path).unwrap();
        format!("{name}={}", path.display())
    });
    let arguments = ["race", &lanes[0], &lanes[1], "--suite", &suite.to_string_lossy(), "-o", "r.jsonl"];
    place.expect(0, &[&arguments[..], more].concat());
    told(place, "r.jsonl")
}

#[track_caller]
fn told(place: &Place, record: &str) -> (Vec<Value>, Value) {
    let text = std::fs::read_to_string(place.path().join(record)).unwrap();
    let lines = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let (json, _) = place.expect(0, &["report", record, "--format", "json"]);
    (lines, serde_json::from_str(&json).unwrap())
}

fn trials<'a>(lines: &'a [Value], workload: &'a str) -> impl Iterator<Item = &'a Value> {
    lines.iter().filter(move |line| line["kind"] == "trial" && line["workload"] == workload)
}

#[test]
fn work_that_does_not_fit_is_not_begun_and_named_with_a_budget_that_has_room() {
    let place = Place::new();
    let (lines, findings) = race(&place, &["--budget", "3s"]);
    assert!(trials(&lines, "short").count() >= 2, "the first is raced");
    for workload in ["long", "latency"] {
        assert_eq!(trials(&lines, workload).count(), 0, "{workload}");
        let ceilings = lines.iter().filter(|line| line["kind"] == "probe" && line["workload"] == workload).count();
        assert_eq!(ceilings, 0, "{workload}: its ceilings would be time lost");
    }
    assert!(!lines.iter().any(|line| line["kind"] == "rate"), "maxima take as long as a round");
    let warnings: Vec<&str> = findings["warnings"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
    for title in ["long reads", "latency of reads"] {
        let said: Vec<&&str> = warnings.iter().filter(|said| said.starts_with(title)).collect();
        let [said] = said.as_slice() else { panic!("{title}: {warnings:?}") };
        assert!(said.contains(" was not raced: a round of it takes about "), "{said}");
        assert!(!said.contains("--budget"), "what has room is said once, by the answer: {said}");
    }
    // Six rounds of two lanes of fifteen minutes, of each; and the maxima.
    let next: Vec<&str> = findings["answer"]["next"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
    let at = next.iter().position(|word| *word == "--budget").expect("a budget");
    let minutes: u32 = next[at + 1].trim_end_matches('m').parse().unwrap();
    assert!((390..430).contains(&minutes), "{next:?}");
    assert!(findings["answer"]["not_tested"].to_string().contains("long reads (never reached)"), "{findings:#}");
    assert_eq!(lines.last().unwrap()["outcome"], "complete");
}

#[test]
fn the_first_workload_is_raced_once_whatever_the_budget() {
    let place = Place::new();
    let (lines, findings) = race(&place, &["--budget", "1ms"]);
    let rounds: Vec<&Value> = trials(&lines, "short").map(|trial| &trial["round"]).collect();
    assert_eq!(rounds, [1, 1], "one round of two lanes");
    assert!(findings["results"][0]["estimates"][1]["mean"].as_f64().unwrap() > 0.0);
}

#[test]
fn a_round_that_failed_is_made_up_for() {
    let place = Place::new();
    let (lines, _) = race(&place, &["--workload", "short", "--rounds", "3"]);
    // As if lane b had failed once and the race been interrupted after its last round.
    let mut cut: Vec<Value> = lines.into_iter().filter(|line| line["kind"] != "end").collect();
    // A round that other programs disturbed has an attempt that does not count.
    let counts = |line: &Value| line["kind"] == "trial" && line["outcome"] == "ok";
    let of_b = |line: &&mut Value| counts(line) && line["lane"] == "b" && line["round"] == 2;
    for trial in cut.iter_mut().filter(of_b) {
        trial["outcome"] = "failed".into();
        trial["reason"] = "it broke once".into();
        trial["groups"] = Value::Array(Vec::new());
    }
    let text: String = cut.iter().map(|line| format!("{line}\n")).collect();
    std::fs::write(place.path().join("cut.jsonl"), text).unwrap();
    // That it failed at all is a result, for whoever reads the exit status alone.
    let (_, said) = place.expect(1, &["race", "--resume", "cut.jsonl"]);
    assert!(said.contains("b failed in 1 of 4 rounds: it broke once"), "{said}");
    let (lines, findings) = told(&place, "cut.jsonl");
    let fourth: Vec<&str> =
        trials(&lines, "short").filter(|of| of["round"] == 4).filter_map(|of| of["lane"].as_str()).collect();
    assert!(fourth.contains(&"a") && fourth.contains(&"b"), "{fourth:?}");
    assert!(!trials(&lines, "short").any(|of| of["round"] == 5));
    let result = &findings["results"][0];
    assert_eq!(result["rounds"], 3, "{result:#}");
    assert!(result["warnings"].to_string().contains("b failed in 1 of 4 rounds: it broke once"), "{result:#}");
}
