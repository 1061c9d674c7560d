//! `-o FILE` of reports: a record is never written over, and what was there survives a full disk.

use crate::common;

use common::{Place, assert_one_sentence};
use std::fs;
use std::os::unix::fs::PermissionsExt;

fn record(place: &Place) -> String {
    let folder = place.path().join("lane");
    fs::create_dir(&folder).unwrap();
    let lane = folder.to_str().unwrap();
    place.expect(
        0,
        &[
            "race",
            lane,
            "--suite",
            "quick",
            "--workload",
            "commit",
            "--set",
            "commit.size=16MiB",
            "--rounds",
            "1",
            "-o",
            "r.jsonl",
        ],
    );
    fs::read_to_string(place.path().join("r.jsonl")).unwrap()
}

#[test]
fn a_report_goes_over_an_older_file_whole_and_over_no_record() {
    let place = Place::new();
    let before = record(&place);
    let (csv, _) = place.expect(0, &["report", "r.jsonl", "--format", "csv", "-o", "-"]);
    assert!(csv.contains("commit") && !place.path().join("-").exists(), "{csv}");
    for format in ["csv", "memo", "html", "json", "markdown"] {
        let (_, err) = place.expect(2, &["report", "r.jsonl", "--format", format, "-o", "r.jsonl"]);
        assert_one_sentence(&err, &["-o r.jsonl: it is the record itself", "name another file"]);
    }
    std::os::unix::fs::symlink("r.jsonl", place.path().join("link")).unwrap();
    place.expect(2, &["report", "r.jsonl", "--format", "csv", "-o", "link"]);
    assert_eq!(fs::read_to_string(place.path().join("r.jsonl")).unwrap(), before);

    let old = place.path().join("old.csv");
    fs::write(&old, "old").unwrap();
    fs::set_permissions(&old, fs::Permissions::from_mode(0o600)).unwrap();
    place.expect(0, &["report", "r.jsonl", "--format", "csv", "-o", "old.csv"]);
    assert!(fs::read_to_string(&old).unwrap().lines().count() > 1);
    assert_eq!(fs::metadata(&old).unwrap().permissions().mode() & 0o777, 0o600, "its permissions stay");
    // A device is written as it is.
    place.expect(0, &["report", "r.jsonl", "--format", "html", "-o", "/dev/null"]);
    let (_, err) = place.expect(1, &["report", "r.jsonl", "--format", "csv", "-o", "/dev/full"]);
    assert!(err.contains("cannot write /dev/full"), "{err}");
    let left: Vec<_> = fs::read_dir(place.path()).unwrap().flatten().map(|entry| entry.file_name()).collect();
    assert!(!left.iter().any(|name| name.to_string_lossy().ends_with(".part")), "{left:?}");
}

#[test]
fn the_line_that_shows_a_record_again_names_it_where_it_is_kept_elsewhere() {
    let place = Place::new();
    record(&place);
    let lane = place.path().join("lane");
    let (out, _) = place.expect(
        0,
        &[
            "race",
            lane.to_str().unwrap(),
            "--suite",
            "quick",
            "--workload",
            "commit",
            "--set",
            "commit.size=16MiB",
            "--rounds",
            "1",
            "-o",
            "elsewhere.jsonl",
        ],
    );
    assert!(out.contains("elsewhere.jsonl --format markdown"), "{out}");
}
