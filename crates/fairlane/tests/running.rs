//! A record whose race is still under way, seen by other commands.

use crate::common;

use common::Place;
use rustix::process::{Pid, Signal, kill_process};
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

/// A race on a directory, held where it begins to measure.
fn held(place: &Place) -> Child {
    let suite = place.tiny_suite();
    std::fs::create_dir(place.path().join("lane")).unwrap();
    let arguments = ["race", "./lane", "--suite", &suite, "--workload", "small-files", "--rounds", "1"];
    let mut command = place.fairlane(&arguments);
    command.env("FAIRLANE_HOLD", "measure").stdout(Stdio::null()).stderr(Stdio::null());
    let child = command.spawn().unwrap();
    let begun = Instant::now();
    loop {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", child.id())).unwrap_or_default();
        match stat.rsplit(") ").next().and_then(|rest| rest.chars().next()) {
            Some('T') => return child,
            _ => assert!(begun.elapsed() < Duration::from_secs(60), "the race never came to measure"),
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}

#[test]
fn a_race_that_still_runs_is_shown_as_such_and_one_that_was_killed_is_not() {
    let place = Place::new();
    let mut child = held(&place);
    let said = "this race is still running; figures so far\n";
    let (_, err) = place.expect(0, &["report"]);
    assert!(err.ends_with(said) && err.lines().count() == 1, "{err}");
    let (text, _) = place.expect(0, &["report"]);
    assert!(text.contains("Nothing was measured yet: this race is still running."), "{text}");
    assert!(!text.contains("ended") && !text.contains("--resume"), "nothing goes on with what goes on:\n{text}");
    let (memo, _) = place.expect(0, &["report", "--format", "memo", "--lang", "en"]);
    let memo = memo.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(memo.contains("the race is still running, and nothing was measured so far"), "{memo}");
    // Nothing is in common with itself yet: that is another matter.
    let err = place.run(&["compare", "last", "last"]).stderr;
    assert_eq!(String::from_utf8_lossy(&err).matches(said).count(), 2, "both sides");
    let (_, err) = place.expect(2, &["compare", "last", "published:openeuler-2203"]);
    assert!(err.contains(said), "{err}");
    let (list, _) = place.expect(0, &["records"]);
    assert!(list.contains(" running "), "{list}");
    kill_process(Pid::from_raw(child.id() as i32).unwrap(), Signal::KILL).unwrap();
    child.wait().unwrap();
    let (_, err) = place.expect(0, &["report"]);
    assert!(!err.contains("still running"), "{err}");
    let (list, _) = place.expect(0, &["records"]);
    assert!(list.contains(" unfinished "), "{list}");
    place.assert_nothing_left();
}

#[test]
fn a_killed_race_was_interrupted_and_what_is_open_is_not_called_level() {
    let place = Place::new();
    let whole = include_str!("fixtures/schema1.jsonl");
    std::fs::write(place.path().join("whole.jsonl"), whole).unwrap();
    let (out, _) = place.expect(0, &["report", "whole.jsonl"]);
    assert!(out.contains("No choice yet") && !out.contains("no difference above"), "{out}");
    let killed: String = whole
        .lines()
        .filter(|line| !line.contains("\"kind\":\"end\"") && !line.contains("\"round\":2,"))
        .map(|line| format!("{line}\n"))
        .collect();
    assert!(killed.len() < whole.len());
    std::fs::write(place.path().join("killed.jsonl"), killed).unwrap();
    let (out, _) = place.expect(0, &["report", "killed.jsonl"]);
    let open = out.split("OPEN").nth(1).unwrap_or_default();
    assert!(open.contains("ndecided (interrupted)") && open.contains("--resume"), "{out}");
    assert!(!out.contains("too few rounds"), "{out}");
}
