//! `fairlane screen` as its users call it: what it plans, what it leaves out, and small real screenings.

use crate::common;

use common::{Place, assert_one_sentence, root};
use serde_json::Value;

/// Three mount options that every kernel's ext4 knows, with their levels.
const OPTIONS: [&str; 6] =
    ["--option", "commit=5|30", "--option", "max_batch_time=15000|0", "--option", "inode_readahead_blks=32|64"];

/// Words of a screening of small lanes with a workload that takes a moment.
fn words<'a>(suite: &'a str, options: &[&'a str], more: &[&'a str]) -> Vec<&'a str> {
    let work = ["--suite", suite, "--workload", "commit", "--lane-size", "64MiB"];
    [&["screen", "ext4"][..], &work, options, more].concat()
}

#[test]
fn a_dry_run_shows_the_design_and_what_comes_after_it() {
    if !root() {
        return;
    }
    let place = Place::new();
    let suite = place.tiny_suite();
    let (out, _) = place.expect(0, &words(&suite, &OPTIONS, &["--rounds", "3", "--dry-run"]));
    assert!(out.contains("3 options in 8 lanes, all combinations of their levels"), "{out}");
    for (at, name) in ["commit", "max_batch_time", "inode_readahead_blks"].into_iter().enumerate() {
        assert!(out.contains(&format!("column {}: {name}: ", at + 1)), "{out}");
    }
    // Each run once, the default first.
    let runs: Vec<Vec<&str>> = out
        .lines()
        .map(|line| line.split_whitespace().collect::<Vec<_>>())
        .filter(|line| line.len() == 4 && line[1..].iter().all(|sign| ["+", "-"].contains(sign)))
        .collect();
    assert_eq!(runs.len(), 8, "{out}");
    assert_eq!(runs[0], ["default", "-", "-", "-"]);
    let signs: std::collections::BTreeSet<_> = runs.iter().map(|run| &run[1..]).collect();
    assert_eq!(signs.len(), 8, "{runs:?}");
    assert!(out.contains("-confirmed.jsonl: fairlane race default=ext4"), "{out}");
    assert!(!place.path().join("state/fairlane/runs").exists(), "a dry run keeps no record");
    place.assert_nothing_left();
}

#[test]
fn an_option_that_is_refused_is_left_out_with_the_words_of_who_refuses_it() {
    if !root() {
        return;
    }
    let place = Place::new();
    let suite = place.tiny_suite();
    let refused = [&OPTIONS[..], &["--option", "nosuchoption=1|2"]].concat();
    let (out, _) = place.expect(0, &words(&suite, &refused, &["--rounds", "3", "--dry-run"]));
    let line = out.lines().find(|line| line.contains("left out: nosuchoption 2: ")).expect("what is left out");
    assert!(line.contains("nosuchoption") && line.len() > "  left out: nosuchoption 2: ".len() + 10, "{line}");
    assert!(out.contains("3 options in 8 lanes"), "{out}");
    place.assert_nothing_left();
}

#[test]
fn what_cannot_be_screened_is_refused_in_one_sentence() {
    let place = Place::new();
    for (arguments, says) in [
        (vec!["screen"], vec!["LANE"]),
        (vec!["screen", "/mnt/a"], vec!["makes its lanes anew", "ext4, xfs or btrfs"]),
        (vec!["screen", "tmpfs"], vec!["does not stand on a block device"]),
        (vec!["screen", "exr4"], vec!["no filesystem is called `exr4`", "did you mean ext4?"]),
        (vec!["screen", "ext4", "--with-self"], vec!["leave --with-self out"]),
        (vec!["screen", "ext4", "--throttle", "ext4:2000iops"], vec!["--throttle without a lane"]),
        (vec!["screen", "ext4", "--without", "nosuch"], vec!["--without nosuch", "none of the options"]),
        (vec!["screen", "ext4", "--rounds", "1"], vec!["1 is not in 2..=10000"]),
        (vec!["screen", "--resume", "nosuch.jsonl"], vec!["nosuch.jsonl"]),
    ] {
        let (_, err) = place.expect(2, &arguments);
        assert!(says.iter().all(|part| err.contains(part)), "{arguments:?}: {err}");
    }
    std::fs::write(place.path().join("race.jsonl"), include_str!("fixtures/schema1.jsonl")).unwrap();
    let (_, err) = place.expect(2, &["screen", "--resume", "race.jsonl"]);
    assert_one_sentence(&err, &["race.jsonl is no screening", "fairlane race --resume race.jsonl"]);
    place.assert_nothing_left();
}

/// The lines of a record of the place.
#[track_caller]
fn lines(place: &Place, name: &str) -> Vec<Value> {
    let text = std::fs::read_to_string(place.path().join(name)).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn trials(lines: &[Value]) -> usize {
    lines.iter().filter(|line| line["kind"] == "trial" && line["outcome"] == "ok").count()
}

#[test]
fn a_small_screening_is_raced_reported_and_gone_on_with() {
    if !root() {
        return;
    }
    let place = Place::new();
    let suite = place.tiny_suite();
    let two = &OPTIONS[..4];
    let more = ["--rounds", "2", "--seed", "7", "--no-confirm", "--no-report", "--quiet", "-o", "r.jsonl"];
    let (out, _) = place.expect(0, &words(&suite, two, &more));
    place.assert_nothing_left();
    assert!(out.contains("SCREENING") && out.contains("`fairlane report "), "{out}");
    let raced = place.record();
    let screening = &raced[0]["plan"]["screening"];
    assert_eq!(screening["base"], "ext4");
    assert_eq!(screening["runs"].as_array().unwrap().len(), 4);
    assert_eq!(screening["runs"][0]["lane"], "default");
    assert_eq!(trials(&raced), 8, "four lanes in two rounds");
    for format in ["text", "markdown", "json"] {
        let (shown, _) = place.expect(0, &["report", "r.jsonl", "--format", format]);
        assert!(shown.contains("max_batch_time"), "{format}: {shown}");
    }

    // As if it had been interrupted in its second round.
    let cut = raced.into_iter().filter(|line| line["kind"] != "end" && line["round"] != 2);
    let cut: String = cut.map(|line| format!("{line}\n")).collect();
    std::fs::write(place.path().join("cut.jsonl"), cut).unwrap();
    let (_, err) = place.expect(2, &["race", "--resume", "cut.jsonl"]);
    assert_one_sentence(&err, &["cut.jsonl is a screening", "fairlane screen --resume cut.jsonl"]);
    // What mkfs and mount are told is typed by whoever goes on, and not by a file.
    let (_, err) = place.expect(2, &["screen", "--resume", "cut.jsonl", "--no-confirm"]);
    assert_one_sentence(&err, &["not as Fairlane's table has it", "--option 'commit=5|30'"]);
    let again = [&["screen", "--resume", "cut.jsonl", "--no-confirm", "--no-report"][..], two].concat();
    place.expect(0, &again);
    place.assert_nothing_left();
    assert_eq!(trials(&lines(&place, "cut.jsonl")), 8);
    let (_, err) = place.expect(2, &again);
    assert_one_sentence(&err, &["cut.jsonl is complete"]);
}

#[test]
fn a_screening_is_compared_with_nothing_and_a_strangers_confirmation_is_not_its_own() {
    if !root() {
        return;
    }
    let place = Place::new();
    let suite = place.tiny_suite();
    let more = ["--rounds", "2", "--no-confirm", "--no-report", "--quiet", "-o", "r.jsonl"];
    place.expect(0, &words(&suite, &OPTIONS[..2], &more));
    let (plain, said) = place.expect(0, &["report", "r.jsonl"]);
    assert!(!said.contains("left out"), "{said}");
    std::fs::write(place.path().join("r-confirmed.jsonl"), include_str!("fixtures/schema1.jsonl")).unwrap();
    let (with, said) = place.expect(0, &["report", "r.jsonl"]);
    assert!(said.contains("r-confirmed.jsonl is left out: "), "{said}");
    assert!(with.contains("CONFIRMED Not yet: the record that lies beside"), "{with}");
    assert!(!plain.contains("the record that lies beside"), "{plain}");
    std::fs::copy(place.path().join("r.jsonl"), place.path().join("other.jsonl")).unwrap();
    for arguments in [
        vec!["compare", "r.jsonl", "other.jsonl"],
        vec!["compare", "--baseline", "r.jsonl", "--candidate", "other.jsonl", "--fail-if-slower", "5%"],
        vec!["advise", "r.jsonl"],
        vec!["explain", "r.jsonl"],
    ] {
        let (_, err) = place.expect(2, &arguments);
        assert_one_sentence(&err, &["r.jsonl is a screening", "runs of a design"]);
    }
    let (_, err) = place.expect(2, &["trend", "commit", "r.jsonl", "other.jsonl"]);
    assert_one_sentence(&err, &["only screenings have figures of `commit`", "runs of a design"]);
    // What is private in it is replaced, and its design is a design all the same.
    place.expect(0, &["share", "r.jsonl", "-o", "shared.jsonl"]);
    let (shared, _) = place.expect(0, &["report", "shared.jsonl"]);
    assert!(shared.contains("SCREENING"), "{shared}");
    // A new screening takes no name that is taken.
    let (_, err) = place.expect(2, &words(&suite, &OPTIONS[..2], &["-o", "r.jsonl"]));
    assert!(err.contains("r-confirmed.jsonl") || err.contains("r.jsonl"), "{err}");
}
