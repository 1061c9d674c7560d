//! A screening that is gone on with, tuned or compared: what is refused, and what is said instead.

use crate::common;

use common::{Place, assert_one_sentence, root};
use serde_json::Value;
use std::sync::OnceLock;

/// Two mount options that every kernel's ext4 knows, with their levels.
const OPTIONS: [&str; 4] = ["--option", "commit=5|30", "--option", "max_batch_time=15000|0"];

/// Words of a screening of small lanes with a workload that takes a moment.
fn words<'a>(suite: &'a str, options: &[&'a str], more: &[&'a str]) -> Vec<&'a str> {
    let work = ["--suite", suite, "--workload", "commit", "--lane-size", "64MiB", "--rounds", "2"];
    [&["screen", "ext4"][..], &work, options, more].concat()
}

/// Screens two options into `r.jsonl`; answers the record.
fn screened(place: &Place) -> Vec<Value> {
    let suite = place.tiny_suite();
    let more = ["--seed", "7", "--no-confirm", "--no-report", "--quiet", "-o", "r.jsonl"];
    place.expect(0, &words(&suite, &OPTIONS, &more));
    place.record()
}

/// A place with the record of a whole screening, `r.jsonl`, which is raced once for all tests that only read it. It names no
/// other place: root makes no images where somebody else's record says.
fn with_a_screening() -> Place {
    static RACED: OnceLock<(String, String)> = OnceLock::new();
    let path_of = |place: &Place| place.path().canonicalize().unwrap().display().to_string();
    let (raced_in, text) = RACED.get_or_init(|| {
        let place = Place::new();
        screened(&place);
        (path_of(&place), std::fs::read_to_string(place.path().join("r.jsonl")).unwrap())
    });
    let place = Place::new();
    std::fs::write(place.path().join("r.jsonl"), text.replace(raced_in.as_str(), &path_of(&place))).unwrap();
    place
}

#[test]
fn a_complete_screening_names_the_one_that_tells_more() {
    if !root() {
        return;
    }
    let place = with_a_screening();
    let resume = [&["screen", "--resume", "r.jsonl", "--no-confirm"][..], &OPTIONS].concat();
    let (_, err) = place.expect(2, &resume);
    assert_one_sentence(&err, &["r.jsonl is complete, and nothing of it is left to do: fairlane report r.jsonl"]);
    let anew = err.split("more rounds take a screening anew: ").nth(1).expect("the command");
    assert!(anew.starts_with("fairlane screen ext4 ") && anew.trim_end().ends_with(" --rounds 4"), "{anew}");
    assert!(anew.contains("--option 'commit=5|30'") && !anew.contains("--seed"), "{anew}");
    // More rounds, once what the first ones show is known, would be another look.
    let before = std::fs::read(place.path().join("r.jsonl")).unwrap();
    for time in [&[][..], &["--budget", "10h"][..]] {
        let (_, err) = place.expect(2, &[&resume[..], &["--rounds", "3"], time].concat());
        assert_one_sentence(&err, &["--rounds 3: only the rounds that were planned before r.jsonl began decide"]);
        assert!(err.contains("screen anew: fairlane screen ext4 ") && err.trim_end().ends_with(" --rounds 3"), "{err}");
    }
    let (_, err) = place.expect(2, &[&resume[..], &["--rounds", "2", "--budget", "10h"]].concat());
    assert_one_sentence(&err, &["r.jsonl is complete, and nothing of it is left to do"]);
    assert_eq!(std::fs::read(place.path().join("r.jsonl")).unwrap(), before);
    place.assert_nothing_left();
}

#[test]
fn an_option_that_the_record_does_not_name_is_not_passed_over() {
    if !root() {
        return;
    }
    let place = Place::new();
    // As if it had been interrupted in its second round.
    let cut = screened(&place).into_iter().filter(|line| line["kind"] != "end" && line["round"] != 2);
    let cut: String = cut.map(|line| format!("{line}\n")).collect();
    std::fs::write(place.path().join("cut.jsonl"), cut).unwrap();
    let resume =
        |more: &[&'static str]| [&["screen", "--resume", "cut.jsonl", "--no-report"][..], &OPTIONS, more].concat();
    for other in ["noatime", "commit=5|60"] {
        let (_, err) = place.expect(2, &resume(&["--option", other]));
        assert_one_sentence(&err, &[other, "the record's command names no such option"]);
    }
    place.expect(0, &resume(&[]));
    // It was begun without a confirmation, and goes on without one.
    assert!(!place.path().join("cut-confirmed.jsonl").exists());
    place.assert_nothing_left();
}

#[test]
fn a_screening_without_a_confirmation_names_no_file_that_is_not_there() {
    if !root() {
        return;
    }
    let place = with_a_screening();
    std::fs::copy(place.path().join("r.jsonl"), place.path().join("other.jsonl")).unwrap();
    for (act, arguments) in [
        ("compare", vec!["compare", "r.jsonl", "other.jsonl"]),
        ("compare", vec!["compare", "--baseline", "r.jsonl", "--candidate", "other.jsonl", "--fail-if-slower", "5%"]),
        ("explain", vec!["explain", "r.jsonl"]),
    ] {
        let (_, err) = place.expect(2, &arguments);
        let says = format!("no race of its proposal lies beside it to {act}; `fairlane report ");
        assert_one_sentence(&err, &["r.jsonl is a screening", &says]);
        assert!(!err.contains("confirmed.jsonl"), "{err}");
    }
    place.assert_nothing_left();
}

#[test]
fn what_is_tuned_is_planned_and_what_cannot_be_is_refused() {
    if !root() {
        return;
    }
    let place = Place::new();
    let suite = place.tiny_suite();
    let tune = |option: &'static str, time: &'static str| {
        words(&suite, &["--option", option], &["--tune", time, "--dry-run", "-o", "zz.jsonl"])
    };
    let (_, err) = place.expect(2, &tune("commit=5|30", "1h"));
    assert!(err.contains("--tune has nothing to choose from"), "{err}");
    let (out, _) = place.expect(0, &tune("commit=5|30|60", "1h"));
    let said = out.split_whitespace().collect::<Vec<_>>().join(" ");
    let tuning = "tuning: up to 2 combinations of levels race the default, 3 lanes of 64MiB";
    for part in [tuning, "zz-tune1.jsonl", "with 60 too"] {
        assert!(said.contains(part), "{part}: {said}");
    }
    assert!(!said.contains("no room for its first race"), "{said}");
    let (_, err) = place.expect(2, &tune("commit=5|30|banana", "1h"));
    assert!(err.contains("what --option names is refused: commit banana ("), "{err}");
    let (out, _) = place.expect(0, &tune("commit=5|30|60", "1ms"));
    assert!(out.contains("no room for its first race"), "{out}");
    place.assert_nothing_left();
}
