//! `fairlane compare --baseline … --candidate …`: the regression gate over records of real races.

use crate::common;

use common::{Place, assert_one_sentence};
use serde_json::Value;
use std::sync::LazyLock;

/// Races two directories with a tiny suite: no root is needed.
fn race(place: &Place, record: &str, seed: &str) {
    for lane in ["a", "b"] {
        std::fs::create_dir_all(place.path().join(lane)).unwrap();
    }
    let suite = place.tiny_suite();
    let chosen = ["--workload", "commit", "--workload", "small-files", "--set", "small-files.files=20"];
    let fixed = ["--rounds", "2", "--seed", seed, "--quiet", "-o", record];
    let arguments = ["race", "one=./a", "two=./b", "--suite", &suite];
    place.expect(0, &arguments.into_iter().chain(chosen).chain(fixed).collect::<Vec<_>>());
}

/// What a derived record differs in from the race it is made of.
struct Boot {
    /// Where it goes.
    path: String,
    kernel: &'static str,
    /// Place in the order of time.
    minute: usize,
    /// What this boot makes of all figures.
    luck: f64,
    /// What its kernel makes of lane `one` at `commit`.
    factor: f64,
}

/// Writes a record that is a real race's in every line, with figures whose truth is known.
fn boot(place: &Place, of: &Boot) {
    let text = std::fs::read_to_string(place.path().join("real.jsonl")).unwrap();
    let lines = text.lines().map(|line| {
        let mut line: Value = serde_json::from_str(line).unwrap();
        if line["kind"] == "header" {
            line["started"] = format!("2026-11-20T10:{:02}:00Z", of.minute).into();
            line["boot_id"] = format!("boot-{}", of.minute).into();
            line["seed"] = of.minute.into();
            line["machine"]["kernel"] = of.kernel.into();
            let arguments = line["plan"]["command_line"].as_array_mut().unwrap();
            let seed = arguments.iter().position(|argument| argument == "--seed").unwrap();
            arguments[seed + 1] = of.minute.to_string().into();
        }
        if line["kind"] == "trial" {
            let slow = line["lane"] == "one" && line["workload"] == "commit";
            for group in line["groups"].as_array_mut().unwrap() {
                let figure = 1000.0 * of.luck * if slow { of.factor } else { 1.0 };
                let metric = group["primary_metric"].as_str().unwrap().to_owned();
                group["metrics"][metric] = figure.into();
            }
        }
        format!("{line}\n")
    });
    let path = place.path().join(&of.path);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, lines.collect::<String>()).unwrap();
}

const LUCK: [f64; 6] = [1.0, 1.01, 0.99, 1.02, 0.98, 1.005];

/// Boots of two kernels in turns; the second does `factor` of the commits.
pub fn boots(place: &Place, count: usize, factor: f64) {
    for (at, &luck) in LUCK.iter().enumerate().take(count) {
        for (side, (folder, kernel)) in [("old", "6.1.0"), ("new", "6.12.0")].into_iter().enumerate() {
            let path = format!("{folder}/{at}.jsonl");
            let factor = if side == 1 { factor } else { 1.0 };
            boot(place, &Boot { path, kernel, minute: 2 * at + side, luck, factor });
        }
    }
}

const GATE: [&str; 7] =
    ["compare", "--baseline", "old/*.jsonl", "--candidate", "new/*.jsonl", "--fail-if-slower", "5%"];

fn with<'a>(more: &[&'a str]) -> Vec<&'a str> {
    GATE.into_iter().chain(more.iter().copied()).collect()
}

/// A place with one real race, `real.jsonl`; it is run once for all tests.
pub fn place() -> Place {
    static REAL: LazyLock<String> = LazyLock::new(|| {
        let place = Place::new();
        race(&place, "real.jsonl", "7");
        std::fs::read_to_string(place.path().join("real.jsonl")).unwrap()
    });
    let place = Place::new();
    std::fs::write(place.path().join("real.jsonl"), &*REAL).unwrap();
    place
}

#[test]
fn a_regression_fails_with_status_3_and_the_line_that_runs_it_again() {
    // Its own race: the line names its suite's file and its directories.
    let place = Place::new();
    race(&place, "real.jsonl", "7");
    boots(&place, 5, 0.8);
    let (out, err) = place.expect(3, &GATE);
    assert_eq!(err, "", "the screen has said it");
    let last: Vec<&str> = out.lines().skip_while(|line| !line.starts_with("GATE ")).collect();
    assert_eq!(last[0], "GATE fail: 1 slower, 7 pass");
    assert_eq!(last[1], "  slower        one, commit 4 KiB: 20 % slower (17 to 23 %)");
    assert!(last[2].starts_with("  again         fairlane race one=./a two=./b --suite "), "{out}");
    assert!(last[2].ends_with("--rounds 2 --margin 5% --seed 1"), "{out}");
    assert_eq!(last.len(), 3);
    assert!(out.contains("kernel: 6.1.0 -> 6.12.0"), "{out}");
    // The line is a race that runs; one round of it is enough here.
    let mut again: Vec<&str> = last[2].trim_start_matches("  again").split_whitespace().skip(1).collect();
    let rounds = again.iter().position(|word| *word == "--rounds").unwrap();
    again[rounds + 1] = "1";
    place.expect(0, &[&again[..], &["-o", "again.jsonl"]].concat());
    // A wider margin lets it pass.
    place.expect(0, &[&GATE[..6], &["30%"]].concat());
}

#[test]
fn a_resolution_that_was_not_reached_has_status_5() {
    let place = place();
    boots(&place, 5, 1.0);
    let (out, _) = place.expect(0, &with(&["--need-resolution", "5%"]));
    assert!(out.contains("\nGATE pass: 8 pass\n"), "{out}");
    let (out, _) = place.expect(5, &with(&["--need-resolution", "1%"]));
    assert!(out.contains("\nGATE unresolved: 8 pass; 8 not resolved to ±1 %\n"), "{out}");
    // Where its line ends depends on how long the lanes' folders are called.
    let unwrapped = out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(unwrapped.contains("more records of each side should do"), "{out}");
    // Nobody asked for it: what cannot be told is said, and the status is 0.
    boots(&place, 5, 0.96);
    let (out, _) = place.expect(0, &GATE);
    assert!(out.contains("\nGATE inconclusive: 7 pass, 1 inconclusive\n"), "{out}");
}

#[test]
fn six_boots_in_turns_are_compared_in_pairs() {
    let place = place();
    boots(&place, 6, 1.0);
    let (json, _) = place.expect(0, &with(&["--format", "json"]));
    let gate: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(gate["pairing"]["paired"], true);
    let schema: Value = serde_json::from_str(include_str!("../../../schema/gate.schema.json")).unwrap();
    if let Err(error) = jsonschema::validate(&schema, &gate) {
        panic!("the gate does not fit its schema: {error}");
    }
}

#[test]
fn every_format_is_written_to_a_file_and_the_verdict_is_printed_all_the_same() {
    let place = place();
    boots(&place, 4, 0.5);
    for (format, begins) in
        [("text", "BASELINE"), ("markdown", "**GATE fail"), ("csv", "workload,"), ("json", "{"), ("junit", "<?xml")]
    {
        let (out, _) = place.expect(3, &with(&["--format", format, "-o", "gate.out"]));
        assert!(out.starts_with("GATE fail: 1 slower, 7 pass\n"), "{out}");
        let file = std::fs::read_to_string(place.path().join("gate.out")).unwrap();
        assert!(file.starts_with(begins), "{format}: {file}");
        if format == "junit" {
            let document = roxmltree::Document::parse(&file).unwrap();
            let failures: Vec<_> = document.descendants().filter(|node| node.has_tag_name("failure")).collect();
            assert_eq!(failures.len(), 1);
            assert!(failures[0].text().unwrap().contains("--seed 1"));
        }
    }
    let (_, err) = place.expect(1, &with(&["-o", "no/such/folder/gate.xml"]));
    assert_one_sentence(&err, &["no/such/folder", "-o"]);
    let (_, err) = place.expect(2, &with(&["--format", "fio-json"]));
    assert_one_sentence(&err, &["fio-json", "junit"]);
}

#[test]
fn real_races_of_one_boot_are_judged_as_far_as_they_go() {
    let place = Place::new();
    for (record, seed) in [("old-1", "1"), ("new-1", "2"), ("old-2", "3"), ("new-2", "4")] {
        race(&place, &format!("{record}.jsonl"), seed);
    }
    let sides = ["--baseline", "old-1.jsonl", "old-2.jsonl", "--candidate", "new-*.jsonl", "--fail-if-slower", "99%"];
    let gate = |more: &[&'static str]| [&["compare"], &sides[..], more].concat();
    // Two and two say little: nothing can be slower by 99 %, whatever else runs on this machine.
    let (out, _) = place.expect(0, &gate(&[]));
    assert!(out.contains("come from 1 boot"), "{out}");
    assert!(out.contains("\nGATE inconclusive: ") || out.contains("\nGATE pass: "), "{out}");
    place.expect(5, &gate(&["--need-resolution", "0.001%"]));
    place.assert_nothing_left();
}

#[test]
fn one_record_on_each_side_is_compared_without_a_verdict() {
    let place = place();
    boots(&place, 2, 0.5);
    let one = ["compare", "--baseline", "old/0.jsonl", "--candidate", "new/0.jsonl", "--fail-if-slower", "5%"];
    let (out, _) = place.expect(0, &one);
    assert!(out.contains("these two races ran on two boots"), "{out}");
    assert!(out.contains("\nGATE inconclusive: 8 inconclusive\n"), "{out}");
    place.expect(5, &[&one[..], &["--need-resolution", "5%"]].concat());
    let (_, err) = place.expect(2, &[&one[..4], &["new/*.jsonl", "--fail-if-slower", "5%"]].concat());
    assert_one_sentence(&err, &["the baseline is one record", "at least twice"]);
    // The ordinary comparison of the two says the same of boots.
    let (out, _) = place.expect(0, &["compare", "old/0.jsonl", "new/0.jsonl"]);
    assert!(out.contains("these two races ran on two boots"), "{out}");
}

#[test]
fn what_may_not_be_compared_is_refused_in_one_sentence() {
    let place = place();
    boots(&place, 3, 1.0);
    let refused = |arguments: &[&str], says: &[&str]| {
        let (out, err) = place.expect(2, &[arguments, &["--fail-if-slower", "5%"]].concat());
        assert_eq!(out, "");
        assert_one_sentence(&err, says);
    };
    let sides =
        |baseline: &'static str, candidate: &'static str| ["compare", "--baseline", baseline, "--candidate", candidate];
    refused(&sides("odl/*.jsonl", "new/*.jsonl"), &["no file matches `odl/*.jsonl`", "check"]);
    refused(&sides("old", "new/*.jsonl"), &["old is a folder", "'old/*.jsonl'"]);
    refused(&sides("old/[", "new/*.jsonl"), &["is no pattern"]);
    refused(&sides("old/9.jsonl", "new/*.jsonl"), &["there is no record old/9.jsonl"]);
    refused(&sides("published:raid5-2gb", "new/*.jsonl"), &["an article's figures"]);
    refused(&sides("old/*.jsonl", "./old/1.jsonl"), &["on both sides"]);
    std::fs::copy(place.path().join("old/1.jsonl"), place.path().join("new/copy.jsonl")).unwrap();
    refused(&sides("old/*.jsonl", "new/*.jsonl"), &["one and the same race", "old/1.jsonl", "new/copy.jsonl"]);
    std::fs::remove_file(place.path().join("new/copy.jsonl")).unwrap();
    // A race with another parameter.
    let text = std::fs::read_to_string(place.path().join("new/1.jsonl")).unwrap();
    std::fs::write(place.path().join("new/1.jsonl"), text.replacen("\"files\":20", "\"files\":21", 1)).unwrap();
    refused(
        &sides("old/*.jsonl", "new/*.jsonl"),
        &["workload small-files differs: files is 20 in old/0.jsonl and 21 in new/1.jsonl"],
    );
    // Half of the options of a gate are none.
    for arguments in [
        &["compare", "--baseline", "old/*.jsonl", "--candidate", "new/*.jsonl"][..],
        &["compare", "--baseline", "old/*.jsonl", "--fail-if-slower", "5%"],
        &["compare", "old/0.jsonl", "old/1.jsonl", "--fail-if-slower", "5%"],
        &["compare", "old/0.jsonl", "old/1.jsonl", "--need-resolution", "5%"],
        &["compare", "--baseline", "old/*.jsonl", "--candidate", "new/*.jsonl", "--fail-if-slower", "100%"],
    ] {
        place.expect(2, arguments);
    }
}

#[test]
fn names_are_taken_as_they_are_and_patterns_need_no_shell() {
    let place = place();
    boots(&place, 3, 1.0);
    for (from, to) in [("old/0", "old/[x]*"), ("old/1", "old/a b"), ("old/2", "old/.hidden")] {
        let of = |name: &str| place.path().join(format!("{name}.jsonl"));
        std::fs::rename(of(from), of(to)).unwrap();
    }
    std::fs::create_dir(place.path().join("old/folder.jsonl")).unwrap();
    let counted = |baseline: &[&str], count: usize| {
        let sides = [&["compare", "--baseline"], baseline, &["--candidate", "new/?.jsonl"], &GATE[5..]].concat();
        let (json, _) = place.expect(0, &[&sides[..], &["--format", "json"]].concat());
        let gate: Value = serde_json::from_str(&json).unwrap();
        assert_eq!(gate["baseline"]["records"].as_array().unwrap().len(), count, "{baseline:?}");
    };
    // Hidden files and folders are no matches; a file whose name looks like a pattern is that file.
    counted(&["old/*.jsonl"], 2);
    counted(&["old/[x]*.jsonl", "old/.hidden.jsonl"], 2);
    // The same file under two names is one record.
    counted(&["old/*.jsonl", "./old/a b.jsonl", "old/.hidden.jsonl"], 3);
}

#[test]
fn a_record_that_was_cut_short_is_used_and_named() {
    let place = place();
    boots(&place, 4, 1.0);
    let path = place.path().join("new/2.jsonl");
    let text = std::fs::read_to_string(&path).unwrap();
    let end = text.rfind("{\"kind\":\"end\"").or_else(|| text.trim_end().rfind('\n')).unwrap();
    std::fs::write(&path, &text[..end - 20]).unwrap();
    let (out, _) = place.expect(0, &GATE);
    assert!(out.contains("new/2.jsonl has no end"), "{out}");
    assert!(out.contains("new/2.jsonl: the last line is incomplete"), "{out}");
    assert!(out.contains("\nGATE pass: 8 pass\n"), "{out}");
    // A line that is damaged in the middle is not guessed at.
    std::fs::write(&path, text.replacen("\"kind\":\"trial\"", "\"kind\":\"trial", 1)).unwrap();
    let (_, err) = place.expect(2, &GATE);
    assert_one_sentence(&err, &["new/2.jsonl", "damaged"]);
}
