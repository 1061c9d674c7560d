//! Races that explain themselves: passes of real lanes, what is shown of them, and records of strangers.

use crate::common::{Place, assert_one_sentence, root};
use serde_json::Value;

/// A record adds so much at most for a group in a lane.
const MOST_LINE_BYTES: usize = 200 * 1024;

fn profiles(place: &Place) -> Vec<Value> {
    place.record().into_iter().filter(|line| line["kind"] == "profile").collect()
}

/// `perf script` text of a record whose profiles these are: a head with its period, frames with an address, an empty line.
fn assert_samples(place: &Place, found: &[Value]) {
    let (script, _) = place.expect(0, &["explain", "r.jsonl", "--format", "perf-script"]);
    let period = |head: &str| -> Option<f64> { head.split(": ").nth(1)?.trim().split(' ').next()?.parse().ok() };
    let samples: Vec<&str> = script.split("\n\n").filter(|of| !of.is_empty()).collect();
    let told: f64 = samples.iter().map(|of| period(of.lines().next().unwrap_or_default()).expect("a period")).sum();
    let stacks = found.iter().flat_map(|of| of["stacks"].as_array().expect("stacks"));
    let kept: f64 = stacks.filter_map(|of| of["seconds"].as_f64()).sum();
    assert!((told / 1e9 / kept - 1.0).abs() < 0.02, "{told} of {kept}");
    let framed = |line: &str| line.starts_with('\t') && line.ends_with(" ([kernel.kallsyms])");
    assert!(samples.iter().all(|of| of.lines().skip(1).count() > 0 && of.lines().skip(1).all(framed)), "{script:.400}");
}

/// The screen of a race whose passes were asked for says where it is told what they saw, or why they saw nothing.
fn assert_pointer(screen: &str) {
    let pointer = screen.lines().find(|line| line.starts_with("EXPLAIN")).expect("a line that points to it");
    assert!(pointer.ends_with("fairlane explain r.jsonl") || pointer.contains("nothing is explained"), "{pointer}");
}

#[test]
fn every_group_of_every_lane_is_explained_behind_its_rounds() {
    if !root() {
        return;
    }
    let place = Place::new();
    let suite = place.tiny_suite();
    let race = [
        "race",
        "ext4",
        "xfs",
        "--suite",
        &suite,
        "--rounds",
        "2",
        "--lane-size",
        "320MiB",
        "--explain",
        "-q",
        "-o",
        "r.jsonl",
    ];
    assert_pointer(&place.expect(0, &race).0);
    place.assert_nothing_left();
    let found = profiles(&place);
    let refused = |line: &&Value| line["said"].as_str().is_some_and(|said| said.starts_with("nothing is explained"));
    if let Some(note) = place.record().iter().find(refused) {
        // A machine that allows no perf events says which, and is raced all the same.
        println!("skipped: {note}");
        assert!(found.is_empty());
        return;
    }
    // Three workloads of one, one and three groups.
    assert_eq!(found.len(), 2 * 5, "{found:#?}");
    for line in &found {
        assert!(line.to_string().len() <= MOST_LINE_BYTES, "{}", line.to_string().len());
        assert!(line["operations"].as_u64() > Some(0) && line["window_seconds"].as_f64() > Some(0.0), "{line}");
    }
    let rounds: Vec<bool> = place.record().iter().map(|line| line["kind"] == "trial").collect();
    let first = place.record().iter().position(|line| line["kind"] == "profile").expect("there are some");
    assert!(rounds[first..].iter().all(|trial| !trial), "passes come behind all rounds");

    let (text, _) = place.expect(0, &["report", "r.jsonl", "--format", "json"]);
    let findings: Value = serde_json::from_str(&text).expect("JSON");
    for result in findings["results"].as_array().expect("results") {
        let explained = result["explanations"].as_array().unwrap_or_else(|| panic!("{result:#}"));
        assert_eq!(explained.len(), 2, "{result:#}");
        for lane in explained {
            let sum: f64 = lane["parts"].as_array().expect("parts").iter().filter_map(|of| of["share"].as_f64()).sum();
            assert!((sum - 1.0).abs() < 1e-6, "{lane:#}");
        }
    }
    let (text, _) = place.expect(0, &["explain", "r.jsonl"]);
    for part in ["WHERE THE TIME WENT", "commit 4 KiB", "ext4", "xfs", "%"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    // A commit waits for its device, whichever filesystem it is. How long depends on what else runs here: evidence asks that.
    let commit = findings["results"].as_array().and_then(|all| all.iter().find(|of| of["workload"] == "commit"));
    for lane in commit.expect("it was raced")["explanations"].as_array().expect("lanes") {
        let share = |name: &str| {
            let parts = lane["parts"].as_array().expect("parts").iter();
            parts.filter(|of| of["part"] == name).filter_map(|of| of["share"].as_f64()).sum::<f64>()
        };
        assert!(share("device") + share("flush") > 0.0, "{lane:#}");
    }
    let (markdown, _) = place.expect(0, &["explain", "r.jsonl", "--format", "markdown"]);
    assert!(markdown.contains("| lane |"), "{markdown}");
    let (folded, _) = place.expect(0, &["explain", "r.jsonl", "--format", "folded"]);
    let counted = |line: &str| line.rsplit_once(' ').is_some_and(|(_, count)| count.parse::<u64>().is_ok());
    assert!(folded.lines().count() > 20 && folded.lines().all(counted), "{folded}");
    assert!(folded.contains("vfs_write"), "{folded}");
    assert_samples(&place, &found);
    let (json, _) = place.expect(0, &["explain", "r.jsonl", "--format", "json"]);
    assert_eq!(serde_json::from_str::<Value>(&json).expect("JSON").as_array().map(Vec::len), Some(5));
    let (_, err) = place.expect(2, &["explain", "r.jsonl", "--format", "svg"]);
    assert_one_sentence(&err, &["folded"]);
}

#[test]
fn a_suite_that_explains_itself_does_so_where_its_time_has_room() {
    if !root() {
        return;
    }
    let place = Place::new();
    let suite = place.tiny_suite();
    let text =
        std::fs::read_to_string(&suite).expect("a suite").replacen("first_answer", "explain = true\nfirst_answer", 1);
    std::fs::write(&suite, text).expect("a suite");
    let race = |budget: &str, more: &[&str]| {
        let fixed = ["race", "ext4", "xfs", "--suite", &suite, "--workload", "random-read", "--lane-size", "320MiB"];
        // The first look decides: how many rounds that takes is not looked at.
        let fixed = [&fixed[..], &["--margin", "50%"]].concat();
        let _ = std::fs::remove_file(place.path().join("r.jsonl"));
        place.expect(0, &[&fixed[..], &["-q", "-o", "r.jsonl", "--budget", budget], more].concat());
        place.record()
    };
    let explained = |lines: &[Value]| lines.iter().filter(|line| line["kind"] == "profile").count();
    let noted =
        |lines: &[Value]| lines.iter().any(|line| line["said"].as_str().is_some_and(|said| said.contains("explained")));
    // Who asks for passes has them, or is told why not: that depends on the machine.
    let asked = race("1s", &["--explain"]);
    let possible = !noted(&asked);
    assert_eq!(explained(&asked), if possible { 2 } else { 0 }, "{asked:#?}");
    // One round is raced whatever the budget; nobody asked for what has no room, and nobody is told of it.
    let short = race("1s", &[]);
    assert_eq!((explained(&short), noted(&short)), (0, false));
    let without = race("30s", &["--explain=no"]);
    assert_eq!((explained(&without), noted(&without)), (0, false));
    // Beside other tests a round may take ten times as long.
    let enough = race("10m", &[]);
    assert_eq!((explained(&enough), noted(&enough)), (if possible { 2 } else { 0 }, false), "{enough:#?}");
    let spent: f64 = enough.iter().filter_map(|line| line["pass_seconds"].as_f64()).sum();
    assert!(spent > 0.0 || !possible, "a resumed race knows what its passes took");
    // A number of rounds is a promise: no pass takes time from it.
    let rounds = race("30s", &["--rounds", "2"]);
    assert_eq!((explained(&rounds), noted(&rounds)), (0, false));
    for (other, why) in [("--as-published", "one round"), ("--find-max", "no rounds")] {
        let (_, err) = place.expect(2, &["race", "ext4", "xfs", "--suite", &suite, "--explain", other]);
        assert_one_sentence(&err, &[other, why]);
    }
}

#[test]
fn a_record_without_passes_says_how_to_make_them() {
    let place = Place::new();
    std::fs::write(place.path().join("old.jsonl"), include_str!("fixtures/schema1.jsonl")).expect("a record");
    for format in ["folded", "perf-script"] {
        let (_, err) = place.expect(2, &["explain", "old.jsonl", "--format", format]);
        assert_one_sentence(&err, &["no stacks", "race with --explain"]);
    }
    // Its windows are too short for shares of CPU time.
    let (_, err) = place.expect(1, &["explain", "old.jsonl"]);
    assert_one_sentence(&err, &["too short for counters", "--explain"]);
    // What longer rounds counted is there all the same, and says what it is.
    let longer = |line: &str| {
        let mut line: Value = serde_json::from_str(line).expect("JSON");
        if let Some(seconds) = line["system"]["window_seconds"].as_f64() {
            line["system"]["window_seconds"] = (seconds * 50.0).into();
        }
        line.to_string() + "\n"
    };
    let lines: String = include_str!("fixtures/schema1.jsonl").lines().map(longer).collect();
    std::fs::write(place.path().join("longer.jsonl"), lines).expect("a record");
    let (text, _) = place.expect(0, &["explain", "longer.jsonl"]);
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("by the counters of the rounds") && text.contains("(by counters)"), "{text}");
    // The report shows what `explain` and the page do.
    let (text, _) = place.expect(0, &["report", "longer.jsonl", "--format", "text"]);
    assert!(text.contains("WHERE THE TIME WENT") && text.contains("(by counters)"), "{text}");
    let (text, _) = place.expect(0, &["report", "longer.jsonl", "--format", "markdown"]);
    assert!(text.contains("Where the time went") && text.contains("(by counters)"), "{text}");
}

#[test]
fn a_record_that_was_cut_off_says_so_where_it_is_explained() {
    let place = Place::new();
    let longer = |line: &str| {
        let mut line: Value = serde_json::from_str(line).expect("JSON");
        if let Some(seconds) = line["system"]["window_seconds"].as_f64() {
            line["system"]["window_seconds"] = (seconds * 50.0).into();
        }
        line.to_string() + "\n"
    };
    let lines: String = include_str!("fixtures/schema1.jsonl").lines().map(longer).collect();
    let end = lines.trim_end().rfind('\n').expect("lines");
    std::fs::write(place.path().join("cut.jsonl"), &lines[..end - 20]).expect("a record");
    let said = "killed or crashed";
    for format in ["text", "markdown"] {
        let (text, _) = place.expect(0, &["explain", "cut.jsonl", "--format", format]);
        assert!(text.split_whitespace().collect::<Vec<_>>().join(" ").contains(said), "{format}: {text}");
    }
    let (json, err) = place.expect(0, &["explain", "cut.jsonl", "--format", "json"]);
    assert!(serde_json::from_str::<Value>(&json).is_ok() && err.contains(said), "{err}");
}

#[test]
fn a_value_of_explain_is_told_from_a_lane() {
    let place = Place::new();
    let (_, err) = place.expect(2, &["race", "ext4", "--explain", "maybe", "--dry-run"]);
    assert_one_sentence(&err, &["maybe", "--explain=no"]);
    let (_, err) = place.expect(2, &["race", "ext4", "maybe", "--dry-run"]);
    assert!(!err.contains("--explain"), "{err}");
    let (_, err) = place.expect(2, &["race", "ext4", "--explain=YES", "--as-published", "--dry-run"]);
    assert_one_sentence(&err, &["--explain does not go with --as-published"]);
}

#[test]
fn a_race_says_before_it_begins_that_passes_come_behind_its_rounds() {
    if !root() {
        return;
    }
    let place = Place::new();
    let suite = place.tiny_suite();
    let race = ["race", "ext4", "xfs", "--suite", &suite, "--lane-size", "320MiB", "--dry-run"];
    let (text, _) = place.expect(0, &[&race[..], &["--explain", "--budget", "1s"]].concat());
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("done once more") && text.contains("where --budget has no room for it"), "{text}");
    let (text, _) = place.expect(0, &race);
    assert!(!text.contains("done once more"), "{text}");
}

#[test]
fn names_of_strangers_reach_no_terminal_raw() {
    let place = Place::new();
    let record = include_str!("fixtures/schema1.jsonl");
    let header: Value = serde_json::from_str(record.lines().next().expect("a header")).expect("JSON");
    let lane = header["lanes"][0]["name"].as_str().expect("a lane");
    let workload = header["plan"]["workloads"][0]["name"].as_str().expect("a workload");
    let trial = record
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok())
        .find(|line| line["kind"] == "trial" && line["workload"] == workload && line["lane"] == lane);
    let group = trial.expect("a trial")["groups"][0]["name"].as_str().expect("a group").to_owned();
    let evil = "evil\u{1b}[2J<script>alert(1)</script>; rm 5";
    let profile = serde_json::json!({
        "kind": "profile", "workload": workload, "lane": lane, "group": group, "window_seconds": 1.0, "windows": 1,
        "operations": 10, "operations_per_second": 10.0, "samples": 10,
        "threads": [{"role": "caller", "threads": 1, "cpu_seconds": 1.0, "runnable_seconds": 0.0, "waiting_seconds": 0.0}],
        "symbols": [evil], "stacks": [{"role": "caller", "activity": "cpu", "frames": [0], "seconds": 1.0}],
    });
    let end = record.lines().count();
    let mut lines: Vec<String> = record.lines().take(end).map(str::to_owned).collect();
    lines.push(profile.to_string());
    std::fs::write(place.path().join("evil.jsonl"), lines.join("\n") + "\n").expect("a record");
    for format in ["text", "markdown", "folded", "perf-script"] {
        let (out, _) = place.expect(0, &["explain", "evil.jsonl", "--format", format]);
        assert!(out.contains("evil") && !out.contains('\u{1b}'), "{format}: {out}");
        assert!(format != "markdown" || !out.contains("<script>"), "{out}");
    }
    let (folded, _) = place.expect(0, &["explain", "evil.jsonl", "--format", "folded"]);
    assert!(folded.lines().all(|line| line.matches(' ').count() == 1), "{folded}");
}
