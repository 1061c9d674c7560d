//! `fairlane compare RECORD published:NAME` and the suites that published figures belong to.

use crate::common;

use common::{Place, assert_one_sentence};

/// Seven tests of suite `general`, two of them small, on a directory: no root is needed.
#[test]
fn a_race_of_the_suite_stands_beside_the_article_in_every_format_and_either_order() {
    let place = Place::new();
    for lane in ["a", "b"] {
        std::fs::create_dir(place.path().join(lane)).unwrap();
    }
    let arguments = [
        "race",
        "./a",
        "./b",
        "--suite",
        "general",
        "--workload",
        "random-read",
        "--set",
        "random-read.size=1MiB",
        "--set",
        "random-read.direct=false",
        "--set",
        "random-read.slices=1",
        "--set",
        "random-read.slice_seconds=0.05",
        "--rounds",
        "1",
        "-o",
        "r.jsonl",
    ];
    place.expect(0, &arguments);
    // The article's lanes are filesystems: those of the directories are made ones of them.
    let text = std::fs::read_to_string(place.path().join("r.jsonl")).unwrap();
    let (header, rest) = text.split_once('\n').unwrap();
    let mut header: serde_json::Value = serde_json::from_str(header).unwrap();
    for (lane, filesystem) in [(0, "ext4"), (1, "xfs")] {
        header["lanes"][lane]["filesystem"] = filesystem.into();
    }
    std::fs::write(place.path().join("r.jsonl"), format!("{header}\n{rest}")).unwrap();

    let (text, _) = place.expect(0, &["compare", "r.jsonl", "published:openeuler-2203"]);
    for part in [
        "random read 4 KiB",
        "8.05k ops/s",
        "1.00x",
        "No verdicts",
        "Xeon Gold",
        "race btrfs beside",
        "sequential-write",
    ] {
        assert!(text.contains(part), "{part} is missing in\n{text}");
    }
    let (turned, _) = place.expect(0, &["compare", "published:openeuler-2203", "r.jsonl"]);
    assert_eq!(turned, text);
    let (json, _) = place.expect(0, &["compare", "r.jsonl", "published:openeuler-2203", "--format", "json"]);
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    let iops = json["rows"].as_array().unwrap().iter().find(|row| row["metric"] == "operations_per_second").unwrap();
    assert_eq!(iops["lanes"][1]["published"], 8042.0);
    assert!(iops["lanes"][1]["yours"].as_f64().unwrap() > 0.0);
    for format in ["markdown", "csv"] {
        place.expect(0, &["compare", "r.jsonl", "published:openeuler-2203", "--format", format]);
    }
    // The page has the article of the same suite beside the race, and no other.
    let (html, _) = place.expect(0, &["report", "r.jsonl", "--format", "html"]);
    assert!(html.contains("\"published\":\"openeuler-2203\"") && !html.contains("phytium-axvisor"));
    let (_, err) = place.expect(2, &["compare", "r.jsonl", "published:phytium-axvisor"]);
    assert_one_sentence(&err, &["no workload and group in common", "race suite operations"]);
    let (_, err) = place.expect(2, &["compare", "r.jsonl", "published:raid5-2gb"]);
    assert_one_sentence(&err, &["no workload and group in common", "race suite media"]);
    place.assert_nothing_left();
}

#[test]
fn an_unknown_article_is_answered_with_the_list() {
    let place = Place::new();
    for arguments in [["compare", "last", "published:nope"], ["compare", "published:", "last"]] {
        let (_, err) = place.expect(2, &arguments);
        for name in ["openeuler-2203", "phytium-axvisor", "centos7-nvme", "appenders-2011", "raid5-2gb"] {
            assert!(err.contains(&format!("published:{name}")), "{err}");
        }
    }
    for (a, b, says) in [
        ("published:", "last", "published: names no article; write its name right behind the colon"),
        ("published:last", "x", "`last` is a record and no article; write it without published:"),
        ("last", "published:phytium-axvizor", "(did you mean published:phytium-axvisor?)"),
    ] {
        let (_, err) = place.expect(2, &["compare", a, b]);
        assert_one_sentence(&err, &[says]);
    }
    let (_, err) = place.expect(2, &["compare", "published:raid5-2gb", "published:centos7-nvme"]);
    assert_one_sentence(&err, &["put a record on one side"]);
    let (help, _) = place.expect(0, &["compare", "--help"]);
    assert!(help.contains("published:NAME"), "{help}");
}

#[test]
fn the_suites_are_listed_and_printed_as_they_stand() {
    let place = Place::new();
    let (list, _) = place.expect(0, &["suites"]);
    for part in ["general", "operations", "small-files", "metadata", "31 operations on files"] {
        assert!(list.contains(part), "{part} is missing in\n{list}");
    }
    let (toml, _) = place.expect(0, &["suites", "operations"]);
    assert_eq!(toml, include_str!("../../../suites/operations.toml"));
    let (toml, _) = place.expect(0, &["suites", "general"]);
    assert!(toml.contains("[workload.as_published]\nsize = \"4GiB\""), "{toml}");
}
