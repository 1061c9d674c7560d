//! Large files, real programs and applications raced from end to end, small ones.

use crate::common;

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
    place.record()
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
    let deleted = findings["results"].as_array().unwrap().iter().find(|result| result["group"] == "delete").unwrap();
    assert_eq!(deleted["metric"], "bandwidth_bytes_per_second");
    assert!(deleted["estimates"][0]["once_seconds"].as_f64().unwrap() > 0.0, "{deleted}");
    let (text, _) = place.expect(0, &["report", "r.jsonl", "--format", "markdown"]);
    assert!(text.contains("| time |") || text.contains(" time |"), "{text}");
    let total = findings["results"].as_array().unwrap().iter().find(|result| result["group"] == "total").unwrap();
    assert_eq!((total["metric"].as_str(), total["higher_is_better"].as_bool()), (Some("time_ns"), Some(false)));
}

#[test]
fn the_applications_suite_races_git_layers_and_streams() {
    if !root() || !installed("git") {
        return;
    }
    let place = Place::new();
    let small = [
        "git.files=200",
        "containers.files=200",
        "streaming.size=2MiB",
        "streaming.readers=2",
        "mail-server.seconds=0.3",
        "mail-server.warm_up_seconds=0.1",
        "web-server.seconds=0.3",
    ];
    let mut arguments = vec!["--suite", "applications", "--lane-size", "512MiB", "--rounds", "1"];
    arguments.extend(small.iter().flat_map(|set| ["--set", set]));
    let lines = race(&place, &arguments);
    let mut seen = Vec::new();
    for trial in trials(&lines).filter(|trial| trial["lane"] == "ext4") {
        assert_eq!(trial["outcome"], "ok", "{trial}");
        seen.push(trial["workload"].as_str().unwrap().to_owned());
        assert!(trial["reason"].is_null(), "{trial}");
    }
    assert_eq!(seen, ["git", "containers", "mail-server", "web-server", "web-pages", "streaming"]);
    let mail = trials(&lines).find(|trial| trial["workload"] == "mail-server").expect("a mail server");
    let groups = mail["groups"].as_array().unwrap();
    let names: Vec<_> = groups.iter().map(|group| group["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["all", "delete", "deliver", "append", "read"]);
    let count = |at: usize| groups[at]["operations"].as_u64().unwrap();
    assert_eq!(count(0), (1..5).map(count).sum::<u64>());
    for group in &groups[1..] {
        assert!(group["latency_ns"]["p50"].as_f64().unwrap() > 0.0, "{group}");
    }
    assert!(mail["phases_seconds"]["verify"].as_f64().unwrap() > 0.0, "what is there was looked at");
}

const SHELL: &str =
    "name = \"s\"\nabout = \"a test\"\n[[workload]]\nname = \"w\"\ntitle = \"w\"\nkind = \"programs\"\n";

#[test]
fn a_suite_starts_only_what_it_may_and_never_with_the_rights_of_root() {
    if !root() {
        return;
    }
    let place = Place::new();
    let victim = place.path().join("victim");
    std::fs::write(&victim, "precious").unwrap();
    let suite = format!(
        "{SHELL}[[workload.step]]\nname = \"a\"\nprogram = [\"sh\", \"-c\", \"id -u > who; rm -f {}; true\"]\n\
         [[workload.step]]\nname = \"b\"\nprogram = [\"grep\", \"-qvx\", \"0\", \"who\"]\n",
        victim.display()
    );
    std::fs::write(place.path().join("s.toml"), suite).unwrap();
    let common = ["race", "ext4", "xfs", "--suite", "s.toml", "--lane-size", "512MiB", "--rounds", "1"];
    let (_, err) = place.expect(2, &common);
    assert!(err.contains("step a: `sh`") && err.contains("--allow-programs"), "{err}");
    let (out, err) = place.expect(0, &[&common[..], &["--allow-programs", "-o", "r.jsonl"]].concat());
    assert!(victim.exists(), "{out}{err}");
    let text = std::fs::read_to_string(place.path().join("r.jsonl")).unwrap();
    assert!(!text.contains("\"outcome\":\"failed\""), "{text}");
    // Nor is it asked for its version with them, wherever it lies.
    let evil = place.path().join("evil");
    std::fs::write(&evil, format!("#!/bin/sh\nid -u >> {}/ran\n", place.path().display())).unwrap();
    std::fs::set_permissions(&evil, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let step = |words: &str| format!("{SHELL}[[workload.step]]\nname = \"a\"\nprogram = [\"touch\", \"x\"]\n{words}\n");
    std::fs::write(place.path().join("s.toml"), step(&format!("check = [\"{}\"]", evil.display()))).unwrap();
    let (_, err) = place.expect(2, &[&common[..], &["--allow-programs"]].concat());
    assert!(err.contains("check begins with a name that is looked for in PATH"), "{err}");
    std::fs::write(place.path().join("s.toml"), step("check = [\"evil\"]")).unwrap();
    let path = format!("{}:{}", place.path().display(), std::env::var("PATH").unwrap());
    let _ = place.fairlane(&[&common[..], &["--allow-programs"]].concat()).env("PATH", path).output().unwrap();
    let ran = std::fs::read_to_string(place.path().join("ran")).unwrap_or_default();
    assert!(ran.lines().all(|user| user != "0"), "{ran}");
    let outside = format!("{SHELL}[[workload.step]]\nname = \"a\"\nprogram = [\"rm\", \"-rf\", \"/home\"]\n");
    std::fs::write(place.path().join("s.toml"), outside).unwrap();
    let (_, err) = place.expect(2, &common);
    assert!(err.contains("is not a relative path of plain names inside the lane"), "{err}");
    place.assert_nothing_left();
}

#[test]
fn what_a_program_started_dies_with_the_agent() {
    if !root() {
        return;
    }
    use std::io::{BufRead, BufReader, Write};
    let place = Place::new();
    let mut agent = place
        .fairlane(&["agent"])
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .spawn()
        .expect("an agent");
    // Unlike that of any other test at the same time.
    let seconds = format!("8{}", std::process::id());
    let program = format!("setsid sleep {seconds} & sleep {seconds}");
    let mut input = agent.stdin.take().unwrap();
    let mut output = BufReader::new(agent.stdout.take().unwrap());
    let attach = serde_json::json!({ "do": "attach", "target": { "directory": place.path() },
        "devices": { "device": null, "backing": null, "neighbours": [] } });
    let prepare = serde_json::json!({ "do": "prepare", "seed": 1, "workload": { "name": "w", "title": "w",
        "kind": "programs", "step": [{ "name": "a", "program": ["sh", "-c", program] }] } });
    for request in [attach, prepare] {
        writeln!(input, "{request}").unwrap();
        let mut reply = String::new();
        output.read_line(&mut reply).unwrap();
        assert!(!reply.contains("failed"), "{reply}");
    }
    writeln!(input, "{}", serde_json::json!({ "do": "phase", "group": "a", "threads": false })).unwrap();
    let wanted = format!("sleep\0{seconds}\0");
    let count = || {
        let processes = std::fs::read_dir("/proc").unwrap().flatten();
        let line = |path: std::path::PathBuf| std::fs::read(path.join("cmdline")).unwrap_or_default();
        processes.filter(|entry| line(entry.path()) == wanted.as_bytes()).count()
    };
    let until = |goal: usize| {
        (0..1000).any(|_| {
            std::thread::sleep(std::time::Duration::from_millis(10));
            count() == goal
        })
    };
    assert!(until(2), "both run");
    agent.kill().unwrap();
    agent.wait().unwrap();
    assert!(until(0), "one went on");
}

#[test]
fn half_made_material_is_removed_by_the_next_command() {
    let place = Place::new();
    let folder = place.path().join("material");
    let draft = folder.join(".fairlane-draft-recording-1-v2");
    std::fs::create_dir_all(&draft).unwrap();
    std::fs::write(draft.join("material"), "half").unwrap();
    std::fs::write(folder.join(".fairlane-lock"), "").unwrap();
    let output = place.fairlane(&["clean"]).env("FAIRLANE_MATERIAL", &folder).output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(said.contains("half of what programs work on"), "{said}");
    assert!(!draft.exists() && folder.exists());
    std::fs::create_dir_all(&draft).unwrap();
    let output = place.fairlane(&["records"]).env("FAIRLANE_MATERIAL", &folder).output().unwrap();
    assert!(output.status.success() && !draft.exists());
}

#[test]
fn the_plan_tells_what_has_to_be_made_first() {
    if !root() || !installed("ffmpeg") {
        return;
    }
    let place = Place::new();
    let small = ["--set", "size=64MB", "--lane-size", "1GiB", "--dry-run"];
    let arguments = [&["race", "ext4", "xfs", "--suite", "media", "--workload", "editing"][..], &small].concat();
    let folder = place.path().join("material");
    let output = place.fairlane(&arguments).env("FAIRLANE_MATERIAL", &folder).output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(said.contains("is made once and kept in"), "{said}");
    assert!(!folder.exists(), "a plan makes nothing");
}

#[test]
fn lanes_are_as_large_as_the_suite_says_unless_the_user_does() {
    if !root() {
        return;
    }
    let place = Place::new();
    let race = ["race", "ext4", "xfs", "--suite", "media", "--workload", "media", "--dry-run"];
    let output = place.fairlane(&race).output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    // Where the disk has no room for two of them, the refusal says how large they are.
    assert!(said.replace(' ', "").contains("12GiB"), "{said}");
    let (_, err) = place.expect(
        2,
        &["race", "ext4", "xfs", "--suite", "media", "--workload", "media", "--lane-size", "2GiB", "--dry-run"],
    );
    assert!(err.contains("--lane-size") || err.contains("lane size"), "{err}");
}
