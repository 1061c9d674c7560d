//! `fairlane share`: a real record, given away.

use crate::common;

use common::{Place, assert_one_sentence};
use serde_json::{Value, json};
use std::os::unix::fs::PermissionsExt;
use std::process::Output;

/// Somebody whom no machine has.
const USER: &str = "adalovelace";

fn run(place: &Place, arguments: &[&str]) -> Output {
    place.fairlane(arguments).env("USER", USER).output().expect("fairlane runs")
}

#[track_caller]
fn expect(place: &Place, status: i32, arguments: &[&str]) -> (String, String) {
    let output = run(place, arguments);
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (out, err) = (text(&output.stdout), text(&output.stderr));
    assert_eq!(output.status.code(), Some(status), "fairlane {arguments:?}\nstdout:\n{out}\nstderr:\n{err}");
    (out, err)
}

/// A race of two directories, which needs no root, with a note that tells whose it was.
fn race(place: &Place, host: &str) {
    for lane in ["a", "b"] {
        std::fs::create_dir(place.path().join(lane)).unwrap();
    }
    let suite = place.tiny_suite();
    let set = ["commit.size=1MiB", "commit.slices=1"].map(|set| ["--set", set]).concat();
    let lanes = ["race", "one=./a", "two=./b", "--suite", &suite, "--workload", "commit"];
    place.expect(0, &[&lanes[..], &set, &["--rounds", "2", "-o", "r.jsonl", "--no-report"]].concat());
    let path = place.path().join("r.jsonl");
    let text = std::fs::read_to_string(&path).unwrap();
    let said =
        format!("seen on {host} by {USER} (ada@mail.example.org) from 10.9.8.7: see {}/x", place.path().display());
    let note = serde_json::json!({ "kind": "note", "said": said });
    std::fs::write(&path, format!("{text}{note}\n")).unwrap();
}

fn means(place: &Place, record: &str) -> Vec<f64> {
    let (json, _) = expect(place, 0, &["report", record, "--format", "json"]);
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    let results = json["results"].as_array().unwrap();
    let estimates = results.iter().flat_map(|result| result["estimates"].as_array().unwrap());
    estimates.map(|estimate| estimate["mean"].as_f64().unwrap()).collect()
}

#[test]
fn a_record_is_given_away_without_what_tells_whose_it_is() {
    let place = Place::new();
    let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
    race(&place, &host);
    let here = place.path().display().to_string();
    let (listed, _) = expect(&place, 0, &["share", "r.jsonl", "--dry-run"]);
    for part in [
        format!("host name \"{host}\""),
        format!("removed  user name \"{USER}\" (1 place)"),
        "removed  mail address \"ada@mail.example.org\" (1 place)".to_owned(),
        "removed  network address \"10.9.8.7\" (1 place)".to_owned(),
        "removed  boot id ".to_owned(),
        format!("removed  path \"{here}/x\" (1 place)"),
        "stays    lanes: one, two".to_owned(),
    ] {
        assert!(listed.contains(&part), "{part} is missing in\n{listed}");
    }
    let entries = std::fs::read_dir(place.path()).unwrap().count();
    let (written, err) = expect(&place, 0, &["share", "r.jsonl", "-o", "s.jsonl"]);
    assert!(
        written.starts_with(&listed) && written.contains("fairlane report s.jsonl") && err.is_empty(),
        "{written}{err}"
    );
    assert_eq!(std::fs::read_dir(place.path()).unwrap().count(), entries + 1);
    let file = place.path().join("s.jsonl");
    assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    let text = std::fs::read_to_string(&file).unwrap();
    for private in [USER, &here, "mail.example.org", "10.9.8.7"] {
        assert!(!text.contains(private), "{private} is left in {text}");
    }
    let before = means(&place, "r.jsonl");
    let after = means(&place, "s.jsonl");
    assert!(!before.is_empty() && before.len() == after.len(), "{before:?} {after:?}");
    assert!(before.iter().zip(&after).all(|(a, b)| (a / b - 1.0).abs() < 1e-9), "{before:?} {after:?}");
    // What is there is not written over.
    let (_, err) = expect(&place, 2, &["share", "r.jsonl", "-o", "s.jsonl"]);
    assert_one_sentence(&err, &["s.jsonl is there already", "another file with -o"]);
    assert_eq!(std::fs::read_to_string(&file).unwrap(), text);
    // It is no race of this machine's to go on with.
    let (_, err) = expect(&place, 2, &["race", "--resume", "s.jsonl"]);
    assert!(err.contains("s.jsonl is complete"), "{err}");
    place.assert_nothing_left();
}

#[test]
fn a_shared_record_is_compared_by_its_path_like_any_other() {
    let place = Place::new();
    race(&place, "nowhere");
    expect(&place, 0, &["share", "r.jsonl"]);
    let shared = "published:./r-shared.jsonl";
    let (plain, _) = expect(&place, 0, &["compare", "r.jsonl", "./r-shared.jsonl"]);
    let (named, _) = expect(&place, 0, &["compare", "r.jsonl", shared]);
    assert_eq!(named, plain);
    assert!(plain.contains("whether both ran on one machine is not known"), "{plain}");
    expect(&place, 0, &["compare", shared, "r.jsonl"]);
    let figures = "\
name = \"mine\"\ntitle = \"two folders\"\nsuite = \"tiny\"\nhardware = \"a disk\"\nkernel = \"6.12\"\n\
process_per_operation = false\nmethod = []\ncaveats = []\n\
lane = [{ name = \"theirs\", filesystem = \"FS\" }]\n\
figure = [\n  { workload = \"commit\", group = \"write\", lane = \"theirs\", metric = \"operations_per_second\", value = 100 },\n]\n\
[source]\nsite = \"a page\"\nlanguage = \"English\"\n";
    let record = std::fs::read_to_string(place.path().join("r-shared.jsonl")).unwrap();
    let header: serde_json::Value = serde_json::from_str(record.lines().next().unwrap()).unwrap();
    let filesystem = header["lanes"][0]["filesystem"].as_str().unwrap();
    std::fs::write(place.path().join("mine.toml"), figures.replace("FS", filesystem)).unwrap();
    let (text, _) = expect(&place, 0, &["compare", "r.jsonl", "published:./mine.toml"]);
    assert!(text.contains("two folders") && text.contains("100"), "{text}");
    std::fs::write(place.path().join("wrong.toml"), figures.replace("value = 100", "value = -1")).unwrap();
    let (_, err) = expect(&place, 2, &["compare", "r.jsonl", "published:wrong.toml"]);
    assert_one_sentence(&err, &["wrong.toml: line 11:", "no positive figure"]);
    let (_, err) = expect(&place, 2, &["compare", "r.jsonl", "published:./none.toml"]);
    assert!(err.contains("cannot read the figures of ./none.toml"), "{err}");
    place.assert_nothing_left();
}

#[test]
fn what_is_no_whole_record_is_said_or_refused() {
    let place = Place::new();
    race(&place, "nowhere");
    let path = place.path().join("r.jsonl");
    let text = std::fs::read_to_string(&path).unwrap();
    let without_end: String =
        text.lines().filter(|line| !line.contains("\"kind\":\"end\"")).map(|line| format!("{line}\n")).collect();
    std::fs::write(&path, format!("{without_end}{{\"kind\":\"tri")).unwrap();
    let (_, err) = expect(&place, 0, &["share", "r.jsonl", "-o", "half.jsonl"]);
    assert!(err.contains("its race did not come to its end") && err.contains("its last line is incomplete"), "{err}");
    expect(&place, 0, &["report", "half.jsonl"]);
    let interrupted = text.replacen("\"outcome\":\"complete\"", "\"outcome\":\"interrupted\"", 1);
    assert_ne!(interrupted, text);
    std::fs::write(&path, interrupted).unwrap();
    let (_, err) = expect(&place, 0, &["share", "r.jsonl", "-o", "cut.jsonl"]);
    assert!(err.contains("its race did not come to its end; what it holds so far is shared"), "{err}");
    // It is no race of this machine's to go on with.
    let goes_on = |record: &str| expect(&place, 0, &["report", record]).0.contains("race --resume");
    assert!(goes_on("r.jsonl") && !goes_on("cut.jsonl"));
    std::fs::write(&path, text.replacen('\n', "\n{\"kind\":\"trial\"}\n", 1)).unwrap();
    let (out, err) = expect(&place, 2, &["share", "r.jsonl", "-o", "none.jsonl"]);
    assert!(out.is_empty() && err.contains("line 2 of this record is damaged"), "{out}{err}");
    assert!(!place.path().join("none.jsonl").exists());
    std::fs::write(&path, "hello\n").unwrap();
    let (_, err) = expect(&place, 2, &["share", "r.jsonl"]);
    assert!(err.contains("no record of Fairlane"), "{err}");
    let durability = include_str!("fixtures/durability1.jsonl");
    std::fs::write(&path, durability).unwrap();
    expect(&place, 0, &["share", "r.jsonl", "-o", "cuts.jsonl"]);
    let verdicts = |record: &str| {
        let (json, _) = expect(&place, 0, &["report", record, "--format", "json"]);
        let json: serde_json::Value = serde_json::from_str(&json).unwrap();
        let lanes = json["lanes"].as_array().unwrap();
        let of = |lane: &serde_json::Value| ["lane", "verdict", "cuts", "broken"].map(|key| lane[key].to_string());
        lanes.iter().map(of).collect::<Vec<_>>()
    };
    assert_eq!(verdicts("cuts.jsonl"), verdicts("r.jsonl"));
    assert!(!std::fs::read_to_string(place.path().join("cuts.jsonl")).unwrap().contains("/home/"));
    place.assert_nothing_left();
}

const RECORD: &str = include_str!("fixtures/schema1.jsonl");

/// A record of two lanes, each its name and a mount option, with images in a home; `screening`: what it screens.
fn of_lanes(lanes: [(&str, Option<&str>); 2], seed: u64, screening: Option<&Value>) -> String {
    let venue = json!({ "image": format!("/home/{USER}/images") });
    let planned = lanes.map(|(name, option)| {
        let options: Vec<&str> = option.into_iter().collect();
        json!({ "name": name, "contestant": { "filesystem": "ext4" }, "mount_options": options, "venue": venue })
    });
    let line = |line: &str| {
        let mut line: Value = serde_json::from_str(line).unwrap();
        for (at, (was, (name, option))) in ["ext4", "xfs"].into_iter().zip(lanes).enumerate() {
            if line["kind"] == "header" {
                line["lanes"][at]["name"] = name.into();
                let option = option.map_or(String::new(), |option| format!(",{option}"));
                line["lanes"][at]["spec"] = format!("{name}=ext4{option}").into();
            } else if line["lane"] == was {
                line["lane"] = name.into();
            }
        }
        if line["kind"] == "header" {
            line["seed"] = seed.into();
            line["plan"]["lanes"] = json!(planned);
            line["plan"]["screening"] = screening.cloned().unwrap_or_default();
        }
        format!("{line}\n")
    };
    RECORD.lines().map(line).collect()
}

#[test]
fn the_race_of_a_proposal_goes_with_its_screening() {
    let place = Place::new();
    let at = |name: &str| place.path().join(name);
    let screening = json!({
        "base": "ext4",
        "design": "full-factorial",
        "factors": [{
            "name": "commit", "usual": { "label": "5" }, "other": { "label": "30", "mount": ["commit=30"] },
        }],
        "runs": [{ "lane": "default", "at_other": [false] }, { "lane": "r02", "at_other": [true] }],
    });
    let screened = of_lanes([("default", None), ("r02", Some("commit=30"))], 7, Some(&screening));
    std::fs::write(at("r.jsonl"), screened).unwrap();
    // Of two rounds nothing is proposed, so that the default is what is raced again.
    let confirmed = of_lanes([("default", None), ("proposal", None)], 8, None);
    std::fs::write(at("r-confirmed.jsonl"), &confirmed).unwrap();
    let is_confirmed = |record: &str| {
        let (text, err) = expect(&place, 0, &["report", record]);
        assert!(!err.contains("left out"), "{err}");
        text.contains("CONFIRMED")
    };
    assert!(is_confirmed("r.jsonl"));
    let (listed, _) = expect(&place, 0, &["share", "r.jsonl", "--dry-run"]);
    let between = "\nwith it goes the race of its proposal, r-confirmed.jsonl:\n";
    let (first, second) = listed.split_once(between).expect(&listed);
    for part in [first, second] {
        assert!(part.contains(&format!("removed  path \"/home/{USER}/images\"")), "{listed}");
    }
    assert!(first.contains("stays    lanes: default, r02") && second.contains("stays    lanes: default, proposal"));
    let (written, err) = expect(&place, 0, &["share", "r.jsonl", "-o", "s.jsonl"]);
    assert!(written.contains("written to s.jsonl and s-confirmed.jsonl; ") && err.is_empty(), "{written}{err}");
    for name in ["s.jsonl", "s-confirmed.jsonl"] {
        assert!(!std::fs::read_to_string(at(name)).unwrap().contains(USER), "{name}");
        assert_eq!(std::fs::metadata(at(name)).unwrap().permissions().mode() & 0o777, 0o600, "{name}");
    }
    assert!(is_confirmed("s.jsonl"));
    // Neither is written where one of them is there.
    std::fs::remove_file(at("s.jsonl")).unwrap();
    let (_, err) = expect(&place, 2, &["share", "r.jsonl", "-o", "s.jsonl"]);
    assert_one_sentence(&err, &["s-confirmed.jsonl is there already"]);
    assert!(!at("s.jsonl").exists());
    // Its own confirmation would lie where that of what is written goes.
    for (output, names) in [("r.json", "beside -o, r-confirmed.jsonl"), ("r-confirmed.jsonl", "-o r-confirmed.jsonl")] {
        let (_, err) = expect(&place, 2, &["share", "r.jsonl", "-o", output]);
        assert_one_sentence(&err, &[names, "it is the confirmation itself; name another file"]);
    }
    assert!(!at("r.json").exists());
    assert_eq!(std::fs::read_to_string(at("r-confirmed.jsonl")).unwrap(), confirmed);
    // What is the race of something else, or cannot be read, stays behind.
    for (text, why) in [(RECORD, "its first lane is not the default"), ("hello\n", "this is no record of Fairlane")] {
        std::fs::write(at("r-confirmed.jsonl"), text).unwrap();
        let (written, err) = expect(&place, 0, &["share", "r.jsonl", "-o", "alone.jsonl"]);
        assert!(err.contains(&format!("r-confirmed.jsonl stays behind: {why}")), "{err}");
        assert!(written.contains("written to alone.jsonl; ") && !at("alone-confirmed.jsonl").exists(), "{written}");
        std::fs::remove_file(at("alone.jsonl")).unwrap();
    }
    place.assert_nothing_left();
}
