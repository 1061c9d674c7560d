//! A filesystem against itself: what comes of it is kept, shown again and quoted.

mod common;

use common::{Place, root};

#[test]
fn a_calibration_is_shown_before_its_folder_is_there() {
    if !root() {
        return;
    }
    let place = Place::new();
    let suite = place.tiny_suite();
    let arguments = ["calibrate", "tmpfs", "--suite", &suite, "--lane-size", "64MiB", "--dry-run"];
    let (said, _) = place.expect(0, &arguments);
    assert!(said.contains("append to the record") && said.contains("calibrations"), "{said}");
}

#[test]
fn a_calibration_is_kept_and_later_races_of_the_suite_quote_it() {
    if !root() {
        return;
    }
    let place = Place::new();
    let suite = place.tiny_suite();
    let common = ["--suite", &suite, "--workload", "commit", "--lane-size", "64MiB"];
    let (said, _) = place.expect(0, &[&["calibrate", "tmpfs"], &common[..], &["--rounds", "13", "--quiet"]].concat());
    place.assert_nothing_left();
    assert!(said.starts_with("tmpfs against itself: suite tiny, lanes of 64MiB"), "{said}");
    let row = said.lines().find(|line| line.starts_with("commit 4 KiB")).expect("a row for the workload");
    let cells: Vec<&str> = row.split("  ").map(str::trim).filter(|cell| !cell.is_empty()).collect();
    assert_eq!(cells[1], "13", "{row}");
    // Thirteen rounds are a race of six and one of six or eight, or one that went on longer.
    assert!(["0 of 1", "0 of 2", "1 of 1", "1 of 2", "2 of 2"].contains(&cells[3]), "{row}");

    let (again, _) = place.expect(0, &["calibrate", "--show", "--suite", &suite]);
    assert_eq!(again.lines().next(), said.lines().next());
    place.expect(0, &[&["race", "tmpfs"], &common[..], &["--rounds", "1", "--quiet"]].concat());
    let (report, _) = place.expect(0, &["report"]);
    assert!(report.replace('\n', " ").contains("calibrated on"), "{report}");
    // It is no race of its own: `last` was the race.
    assert!(!report.contains("against itself: suite"), "{report}");
    // Of work that was not calibrated, or with other parameters, it says nothing.
    let one_more = ["--workload", "small-files", "--rounds", "1", "--quiet"];
    place.expect(0, &[&["race", "tmpfs"], &common[..], &one_more].concat());
    let (report, _) = place.expect(0, &["report"]);
    let report = report.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(report.contains("for commit 4 KiB alone: tmpfs against itself"), "{report}");
    let another = ["--set", "commit.bs=8KiB", "--rounds", "1", "--quiet"];
    place.expect(0, &[&["race", "tmpfs"], &common[..], &another].concat());
    let (report, _) = place.expect(0, &["report"]);
    assert!(!report.contains("calibrated on"), "{report}");
    // What was measured with other lanes says nothing of these.
    place
        .expect(0, &[&["race", "tmpfs"], &common[..4], &["--lane-size", "65MiB", "--rounds", "1", "--quiet"]].concat());
    let (report, _) = place.expect(0, &["report"]);
    assert!(!report.contains("calibrated on"), "{report}");
}

#[test]
fn what_cannot_be_calibrated_is_said_before_anything_is_made() {
    let place = Place::new();
    let directory = place.path().display().to_string();
    let (_, said) = place.expect(2, &["calibrate", &directory]);
    assert!(said.contains("cannot share the directory"), "{said}");
    let (_, said) = place.expect(2, &["calibrate", "--show", "--suite", "general"]);
    assert!(said.contains("no calibration of suite general is kept"), "{said}");
    place.expect(2, &["calibrate", "--with-self"]);
    place.expect(2, &["calibrate", "--rounds", "5"]);
}
