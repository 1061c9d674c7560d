//! `fairlane advise` on the record of a real race.

use crate::common;

use common::{Place, assert_one_sentence};
use serde_json::Value;

/// Races two directories for a moment in suite `quick`, and makes them lanes of these filesystems of
/// which the second does `factor` times as well as it did: what a disk does is not known beforehand.
fn race(place: &Place, record: &str, filesystems: [&str; 2], workloads: &[&str], factor: f64) {
    for lane in ["a", "b"] {
        std::fs::create_dir_all(place.path().join(lane)).unwrap();
    }
    let mut arguments: Vec<String> =
        ["race", "./a", "./b", "--suite", "quick", "--rounds", "3", "-o", record].map(str::to_owned).to_vec();
    for workload in workloads {
        arguments.extend(["--workload".to_owned(), (*workload).to_owned()]);
        let of_slices: &[&str] = if *workload == "new-files" { &[] } else { &["slices=1", "slice_seconds=0.02"] };
        for set in ["size=2MiB"].iter().chain(of_slices) {
            arguments.extend(["--set".to_owned(), format!("{workload}.{set}")]);
        }
        if !["commit", "new-files"].contains(workload) {
            arguments.extend(["--set".to_owned(), format!("{workload}.direct=false")]);
        }
    }
    place.expect(0, &arguments.iter().map(String::as_str).collect::<Vec<_>>());
    let path = place.path().join(record);
    let text = std::fs::read_to_string(&path).unwrap();
    let mut changed = String::new();
    for line in text.lines() {
        let mut line: Value = serde_json::from_str(line).unwrap();
        if line["kind"] == "header" {
            for (lane, filesystem) in filesystems.iter().enumerate() {
                line["lanes"][lane]["filesystem"] = (*filesystem).into();
                // The filesystem of the machine that tests may promise anything.
                for promise in ["journal", "fsync_reaches_stable_storage", "barriers"] {
                    line["lanes"][lane]["promises"][promise] = true.into();
                }
                line["lanes"][lane]["promises"]["data_checksums"] = (*filesystem == "btrfs").into();
            }
        }
        if line["kind"] == "trial" {
            // Every round alike, undisturbed, and reads that reached the disk: noise, other tests and the cache would decide.
            line.as_object_mut().unwrap().remove("flags");
            let rate = if line["lane"] == "./b" { 1000.0 * factor } else { 1000.0 };
            let round = line["round"].as_f64().unwrap();
            for group in line["groups"].as_array_mut().unwrap() {
                for (_, figure) in group["metrics"].as_object_mut().unwrap() {
                    *figure = (rate * (1.0 + round / 1000.0)).into();
                }
                group["seconds"] = 0.02.into();
                // What slices and windows did was something else, and a steady part of them would be taken for the figure.
                for course in ["slices_operations_per_second", "windows_operations_per_second", "windows_seconds"] {
                    group.as_object_mut().unwrap().remove(course);
                }
                if group["system"].is_object() {
                    group["system"]["device"]["read_bytes"] = group["bytes"].clone();
                }
            }
            let bytes = line["groups"][0]["bytes"].clone();
            line["system"]["device"]["read_bytes"] = bytes.clone();
            line["system"]["device"]["write_bytes"] = bytes;
            line["system"]["agent_cpu_user_seconds"] = 0.0.into();
        }
        // The bare disk and the engine are far faster than all of this.
        if line["kind"] == "probe" {
            for figure in ["operations_per_second", "bandwidth_bytes_per_second"] {
                line[figure] = 1e12.into();
            }
        }
        changed.push_str(&format!("{line}\n"));
    }
    std::fs::write(path, changed).unwrap();
}

const MOST_OF_A_DATABASE: [&str; 4] = ["log", "random-write", "random-read", "new-files"];

fn json(place: &Place, arguments: &[&str]) -> Value {
    let (text, _) = place.expect(0, &[arguments, &["--format", "json"]].concat());
    let value: Value = serde_json::from_str(&text).unwrap();
    let schema: Value = serde_json::from_str(include_str!("../../../schema/advice.schema.json")).unwrap();
    let error = jsonschema::validator_for(&schema).unwrap().iter_errors(&value).map(|error| error.to_string()).next();
    assert_eq!(error, None);
    value
}

#[test]
fn a_database_gets_its_lane_with_reasons_and_what_would_turn_it() {
    let place = Place::new();
    race(&place, "r.jsonl", ["ext4", "btrfs"], &MOST_OF_A_DATABASE, 1.5);
    let (text, _) = place.expect(0, &["advise", "r.jsonl", "--scenario", "mysql"]);
    for part in [
        "MySQL (mysql), 55 % of its weight measured",
        "MySQL (mysql), 55 % of its weight measured, by similar work alone",
        "LEANING   ./b: over the measured work 50 % ahead of ./a; it wins in over 99 % of",
        "BECAUSE   commits (20 %): at least 50 % better than ./a",
        "UNLESS    ./a (33 % behind), if encryption was required",
        "MISSING   transactions (40 %): suite database",
        "suite latency",
        "NEXT      fairlane race ./a ./b --suite database --set server=mariadb",
        "chattr +C",
    ] {
        assert!(text.contains(part), "{part} is missing in\n{text}");
    }
    // The same in short, and as data.
    let (text, _) = place.expect(0, &["advise", "r.jsonl"]);
    assert!(
        text.contains("LEANING   ./b, by similar work alone, for MySQL (55 %)") && text.contains("NO ADVICE"),
        "{text}"
    );
    let value = json(&place, &["advise", "r.jsonl", "--scenario", "mysql"]);
    let advice = &value["advice"][0];
    assert_eq!((&advice["lane"], &advice["share_of_resampled_races"]), (&"./b".into(), &1.0.into()));
    assert_eq!(advice["not_measured"][0]["what"], "transactions");
    // What is asked for excludes by the table, with its source, and turns the choice.
    let value = json(&place, &["advise", "r.jsonl", "--scenario", "mysql", "--need", "shrink,encryption"]);
    let advice = &value["advice"][0];
    assert_eq!((&value["needs"], &advice["lane"]), (&["shrink", "encryption"].into(), &"./a".into()));
    let out = &advice["excluded"][0];
    assert_eq!((&out["lane"], &out["constraint"]), (&"./b".into(), &"encryption".into()));
    assert!(out["source"].as_str().unwrap().contains("fscrypt.rst"), "{out}");
    assert!(advice["raced_without"][0]["with"].as_str().unwrap().contains("tune2fs -O encrypt"), "{advice}");
    // The report says it too, for scenarios of which half was measured, and nothing of the others.
    let (text, _) = place.expect(0, &["report", "r.jsonl"]);
    assert!(text.contains("./b, by similar work alone, for MySQL (55 %)") && !text.contains("mail"), "{text}");
    let (text, _) = place.expect(0, &["report", "r.jsonl", "--format", "json"]);
    let report: Value = serde_json::from_str(&text).unwrap();
    let told = report["advice"].as_array().unwrap();
    assert!(told.iter().any(|advice| advice["scenario"] == "mysql" && advice["lane"] == "./b"));
    assert!(told.iter().all(|advice| advice["measured_share"].as_f64().unwrap() >= 0.5), "{told:?}");
    place.assert_nothing_left();
}

#[test]
fn a_home_server_gets_what_keeps_its_data_and_too_little_gives_the_command() {
    let place = Place::new();
    race(&place, "r.jsonl", ["ext4", "btrfs"], &["new-files", "random-read"], 0.5);
    let (text, _) = place.expect(0, &["advise", "r.jsonl", "--scenario", "home-server"]);
    for part in [
        "TAKE      ./b, the only lane that no constraint excludes",
        "no checksums of data (metadata alone is checksummed), no snapshots",
        "[ext4(5), metadata_csum",
        "UNLESS    ./a (2x ahead), if home server could do without checksums of data or snapshots",
    ] {
        assert!(text.contains(part), "{part} is missing in\n{text}");
    }
    let (text, _) = place.expect(0, &["advise", "r.jsonl", "--scenario", "mail"]);
    assert!(text.contains("no advice: nothing of its work was measured"), "{text}");
    assert!(text.contains("NEXT      fairlane race ./a ./b --suite quick"), "{text}");
    // A scenario of one's own is a file.
    std::fs::write(
        place.path().join("mine.toml"),
        "name = \"scans\"\ntitle = \"scans\"\nabout = \"reads\"\n[[weight]]\nwhat = \"reads\"\nshare = 1.0\n\
         why = \"they are all I do\"\nseries = [\"quick/new-files/cold read\"]\n",
    )
    .unwrap();
    let value = json(&place, &["advise", "r.jsonl", "--scenario", "./mine.toml"]);
    assert_eq!((&value["advice"][0]["scenario"], &value["advice"][0]["lane"]), (&"scans".into(), &"./a".into()));
}

#[test]
fn records_are_taken_together_only_where_they_belong_together() {
    let place = Place::new();
    race(&place, "one.jsonl", ["ext4", "btrfs"], &["log", "random-write"], 1.5);
    race(&place, "two.jsonl", ["ext4", "btrfs"], &["random-read", "new-files"], 1.5);
    let scenario = ["--scenario", "mysql"];
    let alone = json(&place, &[&["advise", "one.jsonl"][..], &scenario].concat());
    assert_eq!(alone["advice"][0]["no_advice"], "too-little-measured");
    let both = json(&place, &[&["advise", "one.jsonl", "two.jsonl"][..], &scenario].concat());
    assert_eq!(both["advice"][0]["lane"], "./b");
    assert!((both["advice"][0]["measured_share"].as_f64().unwrap() - 0.55).abs() < 1e-9);
    let (_, err) = place.expect(2, &["advise", "one.jsonl", "one.jsonl"]);
    assert_one_sentence(&err, &["record 2 is one of the others again", "name each race once"]);
    race(&place, "other.jsonl", ["ext4", "xfs"], &["random-read"], 1.5);
    let (_, err) = place.expect(2, &["advise", "one.jsonl", "other.jsonl"]);
    assert_one_sentence(&err, &["record 2 has other lanes"]);
}

#[test]
fn mistakes_are_answered_with_what_there_is() {
    let place = Place::new();
    let (_, err) = place.expect(2, &["advise"]);
    assert_one_sentence(&err, &["no record is kept yet"]);
    let (_, err) = place.expect(2, &["advise", "--scenario", "oracle"]);
    assert_one_sentence(&err, &["no scenario and no file `oracle`", "mysql", "home-server"]);
    let (_, err) = place.expect(2, &["advise", "--need", "snapshot"]);
    assert!(err.contains("nothing is known of `snapshot`") && err.contains("snapshots"), "{err}");
    let (_, err) = place.expect(2, &["advise", "--format", "csv"]);
    assert_one_sentence(&err, &["choose one of text, markdown, json"]);
    let (_, err) = place.expect(2, &["advise", "--features", "minix"]);
    assert_one_sentence(&err, &["nothing is known of `minix`", "ext4"]);
}

#[test]
fn scenarios_and_features_are_listed_with_their_sources() {
    let place = Place::new();
    let (list, _) = place.expect(0, &["advise", "--list"]);
    for part in
        ["database-containers", "transactions 40 %", "must have checksums of data or snapshots", "shrink=online"]
    {
        assert!(list.contains(part), "{part} is missing in\n{list}");
    }
    let (all, _) = place.expect(0, &["advise", "--features"]);
    assert!(all.contains("shrinking") && all.contains("online btrfs"), "{all}");
    let (of, _) = place.expect(0, &["advise", "--features", "xfs"]);
    for part in ["made with reflink=0 or crc=0", "mkfs.xfs(8), -m reflink", "with mkfs.xfs -m reflink=1"] {
        assert!(of.replace('\n', " ").split_whitespace().collect::<Vec<_>>().join(" ").contains(part), "{part}:\n{of}");
    }
}

/// The table in docs/advice.md is the one that the files make; UPDATE_GOLDEN=1 writes it anew.
#[test]
fn the_documented_table_is_that_of_the_files() {
    let place = Place::new();
    let (table, _) = place.expect(0, &["advise", "--features", "--format", "markdown"]);
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/advice.md");
    let text = std::fs::read_to_string(&path).unwrap();
    let (begin, end) = ("<!-- table -->\n", "<!-- end of table -->");
    let (before, rest) = text.split_once(begin).expect("the mark before the table");
    let (old, after) = rest.split_once(end).expect("the mark behind the table");
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(&path, format!("{before}{begin}{table}{end}{after}")).unwrap();
    } else {
        assert!(old == table, "docs/advice.md is old: UPDATE_GOLDEN=1 cargo test --test integration advise");
    }
}
