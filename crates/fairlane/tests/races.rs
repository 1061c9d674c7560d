//! Real races from end to end, small ones: figures, verdicts, reports, and nothing left.

use crate::common;

use common::{Place, root};
use std::collections::BTreeSet;
use std::sync::LazyLock;

/// The schema of findings, read once.
static FINDINGS_SCHEMA: LazyLock<jsonschema::Validator> = LazyLock::new(|| {
    let schema = serde_json::from_str(include_str!("../../../schema/findings.schema.json")).expect("schema is JSON");
    jsonschema::validator_for(&schema).expect("a schema")
});

/// Races with the tiny suite and answers the findings.
#[track_caller]
fn race(place: &Place, lanes: &[&str], more: &[&str]) -> serde_json::Value {
    let suite = place.tiny_suite();
    // XFS takes no less than 300 MiB; to lay out images is a large part of a small race.
    let size = if lanes.iter().any(|lane| lane.contains("xfs")) { "320MiB" } else { "128MiB" };
    let arguments: Vec<&str> = ["race"]
        .iter()
        .chain(lanes)
        .copied()
        .chain(["--suite", &suite, "--lane-size", size, "-o", "r.jsonl"])
        .chain(more.iter().copied())
        .collect();
    place.expect(0, &arguments);
    place.assert_nothing_left();
    let (json, _) = place.expect(0, &["report", "r.jsonl", "--format", "json"]);
    let findings: serde_json::Value = serde_json::from_str(&json).expect("findings are JSON");
    if let Err(error) = FINDINGS_SCHEMA.validate(&findings) {
        panic!("the findings do not fit their schema: {error}");
    }
    findings
}

fn strings<'a>(value: &'a serde_json::Value, key: &str) -> Vec<&'a str> {
    value.as_array().unwrap().iter().map(|each| each[key].as_str().unwrap()).collect()
}

#[test]
fn three_real_filesystems_race_to_verdicts() {
    if !root() {
        return;
    }
    let place = Place::new();
    let findings = race(&place, &["ext4", "xfs", "btrfs"], &["--rounds", "3", "--seed", "7"]);
    assert_eq!(strings(&findings["lanes"], "name"), ["ext4", "xfs", "btrfs"]);
    let results = findings["results"].as_array().unwrap();
    assert_eq!(results.len(), 5, "commit, random read, create, read, delete");
    for result in results {
        assert_eq!(result["pairs"].as_array().unwrap().len(), 3, "{result}");
        assert_eq!(result["rounds"], 3, "{result}");
        assert!(!result["limit_reason"].as_str().unwrap().is_empty());
        for estimate in result["estimates"].as_array().unwrap() {
            assert!(estimate["mean"].as_f64().unwrap() > 0.0, "{estimate}");
        }
    }
    // Every trial is in the record, and every line of it fits the schema.
    let mut grounds = BTreeSet::new();
    for value in place.record() {
        if value["kind"] == "trial" && value["lane"] == "xfs" && value["workload"] == "commit" {
            grounds.insert(value["ground"].as_u64().unwrap());
        }
    }
    assert_eq!(grounds.len(), 3, "a lane visits every image");
    for format in ["text", "markdown", "csv"] {
        let (out, _) = place.expect(0, &["report", "r.jsonl", "--format", format]);
        assert!(out.contains("btrfs"), "{format}: {out}");
    }
    let (_, err) = place.expect(2, &["report", "r.jsonl", "--format", "papyrus"]);
    common::assert_one_sentence(&err, &["papyrus", "markdown"]);
    // A record against itself: ratio one everywhere, and no verdict but tie.
    std::fs::copy(place.path().join("r.jsonl"), place.path().join("copy.jsonl")).unwrap();
    let (json, _) = place.expect(0, &["compare", "r.jsonl", "copy.jsonl", "--format", "json"]);
    let comparison: serde_json::Value = serde_json::from_str(&json).unwrap();
    for row in comparison["rows"].as_array().unwrap() {
        assert!((row["ratio"].as_f64().unwrap() - 1.0).abs() < 1e-9, "{row}");
        assert!(!["faster", "slower"].contains(&row["verdict"].as_str().unwrap()), "{row}");
    }
}

#[test]
fn the_same_seed_gives_the_same_orders_and_another_seed_others() {
    if !root() {
        return;
    }
    let orders = |seed: &str| {
        let place = Place::new();
        race(&place, &["a=ext4", "b=ext4", "c=ext4"], &["--rounds", "3", "--seed", seed, "--workload", "commit"]);
        let text = std::fs::read_to_string(place.path().join("r.jsonl")).unwrap();
        text.lines()
            .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap())
            // A noisy round is run again in the same order: its first attempt tells.
            .filter(|value| value["kind"] == "trial" && value["attempt"] == 1)
            .map(|value| {
                (
                    value["lane"].as_str().unwrap().to_owned(),
                    value["position"].as_u64().unwrap(),
                    value["ground"].as_u64().unwrap(),
                )
            })
            .collect::<Vec<_>>()
    };
    let first = orders("11");
    assert_eq!(first.len(), 9);
    assert_eq!(first, orders("11"));
    assert!((12..16).any(|seed| orders(&seed.to_string()) != first));
}

#[test]
fn lanes_with_different_promises_get_a_ratio_and_no_verdict() {
    if !root() {
        return;
    }
    let place = Place::new();
    let findings =
        race(&place, &["ext4", "ext4,nobarrier", "ext4(-O ^has_journal)"], &["--rounds", "2", "--workload", "commit"]);
    for pair in findings["results"][0]["pairs"].as_array().unwrap() {
        assert_eq!(pair["verdict"], "none", "{pair}");
        assert!(pair["why"].as_str().unwrap().contains("promises"), "{pair}");
        assert!(pair["ratio"].as_f64().unwrap() > 0.0, "{pair}");
    }
}

#[test]
fn the_first_lane_races_itself_when_asked() {
    if !root() {
        return;
    }
    let place = Place::new();
    let findings = race(&place, &["ext4", "xfs"], &["--rounds", "2", "--workload", "random-read", "--with-self"]);
    let lanes = findings["lanes"].as_array().unwrap();
    assert_eq!(lanes.len(), 3);
    assert_eq!(lanes.iter().filter(|lane| lane["is_self"] == true).count(), 1);
    assert_eq!(findings["results"][0]["pairs"].as_array().unwrap().len(), 3);
}

#[test]
fn a_lane_about_which_nothing_is_undecided_races_no_further_rounds() {
    let place = Place::new();
    let memory = tempfile::tempdir_in("/dev/shm").expect("folder");
    let lanes = ["a", "b"].map(|name| {
        std::fs::create_dir(place.path().join(name)).expect("folder");
        format!("{name}={}", place.path().join(name).display())
    });
    // Two equal lanes cannot be told apart to a thousandth; one on another disk gets no verdict.
    let other = format!("other={}", memory.path().display());
    let more = ["--workload", "commit", "--margin", "0.1%", "--budget", "1h", "--seed"];
    // Equal lanes are called different at the first look in one race of a hundred: not in three.
    let found = ["1", "2", "3"].iter().find_map(|seed| {
        let _ = std::fs::remove_file(place.path().join("r.jsonl"));
        let findings = race(&place, &[&lanes[0], &lanes[1], &other], &[&more[..], &[seed]].concat());
        let estimates = findings["results"][0]["estimates"].as_array().unwrap().clone();
        let rounds: Vec<u64> = estimates.iter().map(|of| of["rounds"].as_u64().unwrap()).collect();
        assert_eq!((rounds[0], rounds[2]), (rounds[1], 6), "{rounds:?}");
        (rounds[0] > 6).then_some(rounds)
    });
    let rounds = found.expect("two equal lanes were called different in each of three races");
    // Taken up again before its end, it goes on without that lane.
    let record = std::fs::read_to_string(place.path().join("r.jsonl")).expect("record");
    let lines: Vec<&str> = record.lines().collect();
    let is_of = |line: &str, round: u64| line.contains(&format!("\"round\":{round},")) && line.contains("\"trial\"");
    let last = lines.iter().position(|line| is_of(line, 8)).expect("an eighth round");
    std::fs::write(place.path().join("cut.jsonl"), lines[..last].join("\n") + "\n").expect("cut");
    place.expect(0, &["race", "--resume", "cut.jsonl"]);
    let (json, _) = place.expect(0, &["report", "cut.jsonl", "--format", "json"]);
    let again: serde_json::Value = serde_json::from_str(&json).expect("findings are JSON");
    let of = |lane: usize| again["results"][0]["estimates"][lane]["rounds"].as_u64().unwrap();
    assert!(of(2) == 6 && of(0) >= 8 && of(0) == of(1), "{rounds:?}");
}

#[test]
fn options_reach_mkfs_and_mount() {
    if !root() {
        return;
    }
    let place = Place::new();
    let findings = race(
        &place,
        &["lean=xfs,-mreflink=0,noatime", "btrfs,compress=zstd:1", "small=ext4(-b 1024),data=writeback"],
        &["--rounds", "1", "--workload", "small-files"],
    );
    let lanes = findings["lanes"].as_array().unwrap();
    let command = |index: usize| lanes[index]["mkfs_command"].to_string();
    assert!(command(0).contains("-mreflink=0") && lanes[0]["mount_options"].to_string().contains("noatime"));
    assert!(lanes[1]["mount_options"].to_string().contains("compress=zstd:1"));
    assert!(command(2).contains("1024") && lanes[2]["mount_options"].to_string().contains("data=writeback"));
    for lane in lanes {
        let text = format!("{}{}", lane["mkfs_command"], lane["mount_options"]);
        assert!(text.contains("nodiscard") || text.contains("-K"), "discard is off: {lane}");
    }
}

#[test]
fn a_filesystem_of_the_users_own_is_raced_from_its_file() {
    if !root() {
        return;
    }
    let place = Place::new();
    let example = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/myfs.toml");
    let findings = race(&place, &[example, "ext4"], &["--rounds", "1", "--workload", "commit"]);
    assert_eq!(findings["lanes"].as_array().unwrap().len(), 2);
    assert!(findings["results"][0]["estimates"][0]["mean"].as_f64().unwrap() > 0.0);
}

#[test]
fn memory_lanes_race_and_are_not_ranked_against_disks() {
    if !root() {
        return;
    }
    let place = Place::new();
    let findings = race(&place, &["tmpfs", "ext4"], &["--rounds", "2", "--workload", "small-files"]);
    for result in findings["results"].as_array().unwrap() {
        assert_eq!(result["pairs"][0]["verdict"], "none", "{result}");
    }
}

#[test]
fn a_dry_run_names_every_command_and_touches_nothing() {
    if !root() {
        return;
    }
    let place = Place::new();
    let (out, _) = place.expect(0, &["race", "ext4", "xfs", "--lane-size", "1GiB", "--dry-run"]);
    for part in ["mkfs.ext4", "mkfs.xfs", "mount", "image0", "nodiscard"] {
        assert!(out.contains(part), "`{part}` is missing in:\n{out}");
    }
    place.assert_nothing_left();
    assert_eq!(std::fs::read_dir(place.path().join("undo")).unwrap().count(), 0);
    assert!(place.run(&["records"]).stdout.starts_with(b"no record"));
}

#[test]
fn a_lane_that_fills_up_fails_with_its_reason_and_the_others_go_on() {
    if !root() {
        return;
    }
    let place = Place::new();
    let suite = place.tiny_suite();
    // So few inodes that the small files cannot be made.
    let output = place.run(&[
        "race",
        "few=ext4(-N 64)",
        "ext4",
        "--suite",
        &suite,
        "--lane-size",
        "320MiB",
        "--rounds",
        "3",
        "--workload",
        "small-files",
        "--set",
        "small-files.files=2000",
        "-o",
        "r.jsonl",
    ]);
    assert_eq!(output.status.code(), Some(1));
    let (out, _) = place.expect(0, &["report", "r.jsonl"]);
    assert!(out.contains("few") && out.to_lowercase().contains("no space") && out.contains("--lane-size"), "{out}");
    let (json, _) = place.expect(0, &["report", "r.jsonl", "--format", "json"]);
    let findings: serde_json::Value = serde_json::from_str(&json).unwrap();
    let ext4 =
        findings["results"][0]["estimates"].as_array().unwrap().iter().find(|each| each["lane"] == "ext4").unwrap();
    assert_eq!(ext4["rounds"], 3);
    place.assert_nothing_left();
}

#[test]
fn lanes_leave_nothing_to_be_written_beside_the_next_ones_part() {
    if !root() {
        return;
    }
    let place = Place::new();
    let files = ["--rounds", "2", "--workload", "small-files", "--set", "small-files.files=6000"];
    race(&place, &["ext4", "xfs", "btrfs"], &files);
    let (mut own, mut others) = (0, 0);
    for line in std::fs::read_to_string(place.path().join("r.jsonl")).unwrap().lines() {
        let line: serde_json::Value = serde_json::from_str(line).unwrap();
        for group in line["groups"].as_array().into_iter().flatten().filter(|group| group["name"] == "create") {
            own += group["system"]["device"]["write_bytes"].as_u64().unwrap();
            others += group["system"]["neighbours"]["write_bytes"].as_u64().unwrap();
        }
    }
    assert!(own > 20 << 20, "{own}");
    // Without the sync of each part it is 2 to 15 %.
    assert!(others * 100 < own, "neighbours wrote {others} beside {own}");
}

#[test]
fn an_overlay_is_raced_beside_the_filesystem_that_it_lies_above() {
    if !root() {
        return;
    }
    let place = Place::new();
    // A colon ends a directory in a list of an overlay's.
    let images = place.path().join("a:b, c");
    std::fs::create_dir(&images).unwrap();
    let suite = place.tiny_suite();
    let lanes = ["race", "ext4", "overlay(ext4),metacopy=on", "o=overlay(btrfs,-draid1,-mraid1:2)"];
    let terms = ["--suite", &suite, "--rounds", "2", "--lane-size", "320MiB", "--on", images.to_str().unwrap()];
    place.expect(0, &[&lanes[..], &terms, &["-o", "r.jsonl"]].concat());
    let text = std::fs::read_to_string(place.path().join("r.jsonl")).unwrap();
    let lines: Vec<serde_json::Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let lane = |number: usize| &lines[0]["lanes"][number];
    assert_eq!((&lane(1)["filesystem"], &lane(1)["above"]), (&"ext4".into(), &"overlay,metacopy=on".into()));
    assert_eq!((&lane(2)["above"], &lane(2)["disks"]), (&"overlay".into(), &2.into()));
    assert!(lane(0).get("above").is_none());
    assert!(lines[0]["warnings"].to_string().contains("the lower directory of an overlay is empty"), "{}", lines[0]);
    // Rounds beside other tests may be raced again.
    let trials = lines.iter().filter(|line| line["kind"] == "trial" && line["outcome"] != "repeated");
    let outcomes: Vec<String> = trials.map(|trial| format!("{}: {}", trial["lane"], trial["outcome"])).collect();
    assert!(outcomes.len() >= 6 && outcomes.iter().all(|outcome| outcome.ends_with("\"ok\"")), "{outcomes:?}");
    place.assert_nothing_left();
}
