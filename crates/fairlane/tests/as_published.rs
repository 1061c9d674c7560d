//! How often work is done: `--as-published` once, by the article's own method, and operations with
//! `loops` several times a round. In directory lanes: no root needed.

use crate::common;

use common::Place;
use serde_json::Value;
use std::path::Path;

const STEADY: &str = r#"
name = "article"
about = "a test"

[[workload]]
name = "random-write"
title = "random write 4 KiB"
kind = "io"
rw = "randwrite"
bs = "4KiB"
size = "4MiB"
slices = 4
slice_seconds = 0.02

[workload.as_published]
size = "8MiB"
numjobs = 2
slices = 2
slice_seconds = 0.03
"#;

const OPERATIONS: &str = r#"
name = "article"
about = "a test"

[[workload]]
name = "files"
title = "files"
kind = "operations"
files = [{ name = "small", count = 20, size = "1KiB", directories = 2 }]
step = [
    { operation = "create", files = "small" },
    { operation = "read", files = "small" },
    { operation = "stat", files = "small" },
    { operation = "unlink", files = "small" },
]
"#;

fn write(place: &Place, name: &str, text: &str) -> String {
    let path = place.path().join(name);
    std::fs::write(&path, text).unwrap();
    path.to_string_lossy().into_owned()
}

fn two_lanes(place: &Place) -> [String; 2] {
    ["a", "b"].map(|name| {
        let path = place.path().join(name);
        std::fs::create_dir(&path).unwrap();
        path.to_string_lossy().into_owned()
    })
}

fn lines(path: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(path).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn the_article_s_method_runs_once_and_the_record_says_so() {
    let place = Place::new();
    let suite = write(&place, "s.toml", STEADY);
    let [a, b] = two_lanes(&place);
    let (out, _) =
        place.expect(0, &["race", &a, &b, "--suite", &suite, "--as-published", "--seed", "5", "-o", "r.jsonl"]);
    assert!(out.contains("as published: the article's own method, run once; one round gives no verdicts."), "{out}");
    let record = lines(&place.path().join("r.jsonl"));
    let plan = &record[0]["plan"];
    assert_eq!(plan["as_published"], true);
    assert_eq!(plan["rounds"], serde_json::json!({ "fixed": 1 }));
    let workload = &plan["workloads"][0];
    assert_eq!((&workload["size"], &workload["numjobs"], &workload["slices"]), (&"8MiB".into(), &2.into(), &2.into()));
    let words: Vec<&str> = plan["command_line"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
    assert!(words.contains(&"--as-published") && words.join(" ").contains("--rounds 1"), "{words:?}");
    // A round that others disturbed was run again: its first attempt does not count.
    let counts = |line: &&Value| line["kind"] == "trial" && line["outcome"] == "ok";
    let trials = |record: &[Value]| record.iter().filter(counts).count();
    assert_eq!(trials(&record), 2, "one round of two lanes");
    let (text, _) = place.expect(0, &["report", "r.jsonl"]);
    assert!(text.contains("as published") && text.contains("--as-published"), "{text}");
    let (json, _) = place.expect(0, &["report", "r.jsonl", "--format", "json"]);
    let findings: Value = serde_json::from_str(&json).unwrap();
    for result in findings["results"].as_array().unwrap() {
        for pair in result["pairs"].as_array().unwrap() {
            assert!(!["faster", "slower", "tie"].contains(&pair["verdict"].as_str().unwrap()), "{pair}");
        }
    }
    // Cut short before its second trial, it goes on as what it was begun as.
    let second = record.iter().rposition(|line| line["kind"] == "trial").unwrap();
    let kept: String = record[..second].iter().map(|line| format!("{line}\n")).collect();
    std::fs::write(place.path().join("cut.jsonl"), kept).unwrap();
    place.expect(0, &["race", "--resume", "cut.jsonl"]);
    let resumed = lines(&place.path().join("cut.jsonl"));
    assert!(trials(&resumed) >= 2 && resumed.last().unwrap()["outcome"] == "complete");
    let (_, err) = place.expect(2, &["race", "--resume", "cut.jsonl", "--as-published"]);
    assert!(err.contains("--as-published"), "{err}");
}

#[test]
fn each_operation_is_a_process_and_what_starting_it_costs_stands_beside_it() {
    let place = Place::new();
    let suite = write(&place, "s.toml", OPERATIONS);
    let [a, _] = two_lanes(&place);
    place.expect(0, &["race", &a, "--suite", &suite, "--as-published", "-o", "r.jsonl"]);
    let record = lines(&place.path().join("r.jsonl"));
    assert_eq!(record[0]["plan"]["workloads"][0]["method"], "process-per-operation");
    let tools = record[0]["machine"]["tools"].to_string();
    assert!(tools.contains("dd: "), "{tools}");
    let trial = record.iter().rfind(|line| line["kind"] == "trial").unwrap();
    assert!(trial["phases_seconds"]["verify"].as_f64().unwrap() > 0.0, "contents were compared: {trial}");
    let groups = trial["groups"].as_array().unwrap();
    assert_eq!(groups.len(), 4);
    for group in groups {
        assert_eq!((&group["operations"], &group["primary_metric"]), (&20.into(), &"operations_per_second".into()));
        let each = group["metrics"]["process_startup_seconds_per_operation"].as_f64().unwrap();
        assert!(each > 0.0, "{group}");
    }
    assert_eq!(std::fs::read_dir(&a).unwrap().count(), 0, "nothing stays in the lane");
}

#[test]
fn rounds_and_values_that_are_given_have_the_last_word() {
    let place = Place::new();
    let suite = write(&place, "s.toml", STEADY);
    let [a, _] = two_lanes(&place);
    let set = ["--as-published", "--rounds", "2", "--set", "random-write.size=1MiB", "-o", "r.jsonl"];
    let arguments: Vec<&str> = ["race", &a, "--suite", &suite].into_iter().chain(set).collect();
    let (out, _) = place.expect(0, &arguments);
    assert!(out.contains("run 2 times instead of once"), "{out}");
    let record = lines(&place.path().join("r.jsonl"));
    assert_eq!(record[0]["plan"]["workloads"][0]["size"], "1MiB");
    assert_eq!(record[0]["plan"]["rounds"], serde_json::json!({ "fixed": 2 }));
}

#[test]
fn what_an_image_cannot_hold_is_made_smaller_and_that_is_said() {
    if !common::root() {
        return;
    }
    let place = Place::new();
    let suite = write(&place, "s.toml", &STEADY.replace("size = \"8MiB\"", "size = \"1GiB\""));
    let arguments = ["race", "ext4", "--suite", &suite, "--as-published", "--lane-size", "512MiB", "--dry-run"];
    let (out, err) = place.expect(0, &arguments);
    let said = format!("{out}{err}").replace('\n', " ");
    assert!(said.contains("files of 128MiB where the article had 1GiB"), "{said}");
    assert!(said.contains("--lane-size 4GiB"), "{said}");
}

#[test]
fn tools_that_are_missing_are_named_with_their_package_before_anything_is_made() {
    let place = Place::new();
    let suite = write(&place, "s.toml", OPERATIONS);
    let [a, _] = two_lanes(&place);
    let arguments = ["race", &a, "--suite", &suite, "--as-published", "-o", "r.jsonl"];
    let output = place.fairlane(&arguments).env("PATH", "").output().unwrap();
    let err = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(4), "{err}");
    common::assert_one_sentence(&err, &["workload files", "dd, stat, rm", "apt install coreutils"]);
    assert!(!place.path().join("r.jsonl").exists());
    // With some of them there, only the others are named.
    let tools = place.path().join("tools");
    std::fs::create_dir(&tools).unwrap();
    for name in ["dd", "true", "rmdir", "rm"] {
        std::os::unix::fs::symlink("/bin/true", tools.join(name)).unwrap();
    }
    let output = place.fairlane(&arguments).env("PATH", &tools).output().unwrap();
    let err = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(4), "{err}");
    common::assert_one_sentence(&err, &["lacks stat: apt install coreutils"]);
}

#[test]
fn operations_with_loops_are_done_so_often_and_shown_as_done_once() {
    let place = Place::new();
    let suite = write(&place, "s.toml", &OPERATIONS.replace("kind = ", "loops = 3\nkind = "));
    let [a, b] = two_lanes(&place);
    place.expect(0, &["race", &a, &b, "--suite", &suite, "--rounds", "2", "-o", "r.jsonl"]);
    let record = lines(&place.path().join("r.jsonl"));
    let trials: Vec<&Value> = record.iter().filter(|line| line["kind"] == "trial" && line["outcome"] == "ok").collect();
    assert_eq!(trials.len(), 4, "two rounds of two lanes");
    for trial in &trials {
        // The pass in which contents are compared is in the first round, and in no figure.
        assert_eq!(trial["phases_seconds"]["verify"].is_null(), trial["round"] != 1, "{trial}");
        for group in trial["groups"].as_array().unwrap() {
            assert_eq!(group["operations"], 60, "{group}");
            assert_eq!(group["slices_operations_per_second"].as_array().unwrap().len(), 3, "{group}");
        }
    }
    let (json, _) = place.expect(0, &["report", "r.jsonl", "--format", "json"]);
    let findings: Value = serde_json::from_str(&json).unwrap();
    for row in findings["operations"][0]["rows"].as_array().unwrap() {
        for figure in row["figures"].as_array().unwrap() {
            assert_eq!(figure["operations"], 20, "{figure}");
            let (seconds, rate) = (&figure["seconds"], &figure["operations_per_second"]);
            let product = seconds.as_f64().unwrap() * rate.as_f64().unwrap();
            assert!((product - 20.0).abs() < 1e-6, "time and rate of one row are the same estimate: {figure}");
        }
    }
    let (_, err) = place.expect(2, &["race", &a, "--suite", &suite, "--set", "files.loops=0"]);
    assert!(err.contains("loops must lie between 1 and 1000"), "{err}");
    for lane in [&a, &b] {
        assert_eq!(std::fs::read_dir(lane).unwrap().count(), 0, "nothing stays in the lane");
    }
}
