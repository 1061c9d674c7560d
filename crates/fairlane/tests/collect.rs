//! `fairlane collect`: records of races, whatever lies beside them, become one table or nothing.

use crate::common;

use common::{Place, assert_one_sentence, root, tool};
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown, symlink};
use std::path::Path;

const RECORD: &str = include_str!("fixtures/schema1.jsonl");
const DURABILITY: &str = include_str!("fixtures/durability1.jsonl");
/// The user that calls sudo.
const USER: u32 = 54321;

/// Rows of the table of one such record: groups and metrics of its trials.
fn rows_of_one() -> usize {
    let lines = RECORD.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
    let trials = lines.filter(|line| line["kind"] == "trial");
    let groups = trials.flat_map(|trial| trial["groups"].as_array().unwrap().clone());
    groups.map(|group| group["metrics"].as_object().unwrap().len()).sum()
}

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

#[test]
fn records_become_one_table_and_what_is_none_is_counted_and_named() {
    let place = Place::new();
    let fleet = place.path().join("fleet");
    fs::create_dir_all(fleet.join("host1/old")).unwrap();
    let at = |name: &str| fleet.join(name);
    fs::write(at("a.jsonl"), RECORD).unwrap();
    fs::write(at("host1/old/b.jsonl"), RECORD.replacen("6.12.0-fixture", "6.18.0-fixture", 1)).unwrap();
    fs::write(at("durable.jsonl"), DURABILITY).unwrap();
    fs::write(at("host1/empty.jsonl"), "").unwrap();
    fs::write(at("damaged.jsonl"), format!("{RECORD}{{\"kind\":\"trial\"}}\n{{}}\n")).unwrap();
    fs::write(at("notes.jsonl"), "hello\n").unwrap();
    let (out, err) = place.expect(0, &["collect", "fleet", "-o", "fleet.csv"]);
    assert!(err.is_empty(), "{err}");
    let rows = 2 * rows_of_one();
    assert!(out.starts_with(&format!("fleet.csv: {rows} rows of 2 records\nleft out: 4 files\n")), "{out}");
    for (name, why) in [
        ("durable.jsonl", "power cuts or damage"),
        ("empty.jsonl", "empty"),
        ("damaged.jsonl", "is damaged"),
        ("notes.jsonl", "no record of Fairlane"),
    ] {
        assert!(out.lines().any(|line| line.contains(name) && line.contains(why)), "{name}: {out}");
    }
    let table = fs::read_to_string(place.path().join("fleet.csv")).unwrap();
    assert_eq!(table.lines().count(), rows + 1);
    assert!(table.contains("6.12.0-fixture") && table.contains("6.18.0-fixture"));
    // A name that says nothing of a format, and one that says another: the option decides.
    let (out, _) = place.expect(0, &["collect", "fleet/*.jsonl", "fleet/a.jsonl", "-o", "table"]);
    assert!(out.contains(&format!("{} rows of 1 record\n", rows_of_one())), "{out}");
    assert!(fs::read(place.path().join("table")).unwrap().starts_with(b"PAR1"));
    place.expect(0, &["collect", "fleet/a.jsonl", "--format", "csv", "-o", "x.parquet"]);
    assert!(fs::read(place.path().join("x.parquet")).unwrap().starts_with(b"record,"));
}

#[test]
fn of_no_name_the_records_kept_are_taken() {
    let place = Place::new();
    let runs = place.path().join("state/fairlane/runs");
    fs::create_dir_all(&runs).unwrap();
    let (_, err) = place.expect(2, &["collect", "-o", "fleet.parquet"]);
    assert_one_sentence(&err, &["there is no record of a race"]);
    fs::write(runs.join("2026-01-01T00-00-00Z-a.jsonl"), RECORD).unwrap();
    let (out, _) = place.expect(0, &["collect", "-o", "fleet.parquet"]);
    assert!(out.contains("rows of 1 record\n"), "{out}");
    let (out, _) = place.expect(0, &["collect", "last", "-o", "last.parquet"]);
    assert!(out.contains("rows of 1 record\n"), "{out}");
}

#[test]
fn a_hostile_folder_costs_nothing_but_a_line_each() {
    let place = Place::new();
    let fleet = place.path().join("fleet");
    let mut deep = fleet.clone();
    for _ in 0..100 {
        deep.push("d");
    }
    fs::create_dir_all(&deep).unwrap();
    fs::write(deep.join("r.jsonl"), RECORD).unwrap();
    let at = |name: &str| fleet.join(name);
    fs::write(at("good.jsonl"), RECORD).unwrap();
    tool("mkfifo", &[at("pipe.jsonl").to_str().unwrap()]);
    symlink("/dev/zero", at("zero.jsonl")).unwrap();
    symlink("good.jsonl", at("link.jsonl")).unwrap();
    symlink(place.path(), at("up")).unwrap();
    symlink("/", at("all.jsonl")).unwrap();
    fs::File::create(at("sparse.jsonl")).unwrap().set_len(1 << 30).unwrap();
    // A header, and then a gigabyte without a line's end.
    fs::write(at("long.jsonl"), RECORD.lines().next().unwrap().to_owned() + "\n").unwrap();
    fs::OpenOptions::new().write(true).open(at("long.jsonl")).unwrap().set_len(1 << 30).unwrap();
    let evil = "\u{1b}[2J\u{202e}\nfleet.csv: 9 rows of 9 records";
    fs::write(at(&format!("{evil}.jsonl")), RECORD).unwrap();
    fs::write(at(&format!("bad{evil}.jsonl")), "no record\n").unwrap();
    fs::write(fleet.join(std::ffi::OsStr::from_bytes(b"\xff\xfe.jsonl")), RECORD).unwrap();
    fs::create_dir(at("locked")).unwrap();
    let (out, err) = place.expect(0, &["collect", "fleet", "-o", "fleet.csv"]);
    let rows = 3 * rows_of_one();
    // Two links and a pipe, a link to a folder of that name, two that are too long, one that is none, and the deep folder.
    assert!(out.starts_with(&format!("fleet.csv: {rows} rows of 3 records\nleft out: 8 files\n")), "{out}\n{err}");
    assert_eq!(out.lines().filter(|line| line.starts_with("fleet.csv:")).count(), 1, "{out}");
    let unsafe_one = out.chars().find(|&of| of != '\n' && model::text::is_unsafe(of));
    assert_eq!(unsafe_one, None, "{}", out.escape_debug());
    let table = fs::read_to_string(place.path().join("fleet.csv")).unwrap();
    assert_eq!(table.matches("\r\n").count(), rows + 1);
    let unsafe_one = table.chars().find(|&of| of != '\n' && of != '\r' && model::text::is_unsafe(of));
    assert_eq!(unsafe_one, None);
    assert!(table.contains("\\u{1b}[2J\\u{202e}\\nfleet.csv") && table.contains("\\xff\\xfe.jsonl"));
}

#[test]
fn nothing_is_written_over_and_nothing_half_stays() {
    let place = Place::new();
    fs::write(place.path().join("r.jsonl"), RECORD).unwrap();
    fs::write(place.path().join("bad.jsonl"), "no record\n").unwrap();
    fs::write(place.path().join("old.parquet"), "old").unwrap();
    symlink("nowhere", place.path().join("link.parquet")).unwrap();
    fs::create_dir(place.path().join("empty")).unwrap();
    let before = names(place.path());
    for (arguments, status, says) in [
        (&["collect", "r.jsonl", "-o", "old.parquet"][..], 2, "old.parquet is there already"),
        (&["collect", "r.jsonl", "-o", "link.parquet"][..], 2, "link.parquet is there already"),
        (&["collect", "r.jsonl", "-o", "none/fleet.parquet"][..], 2, "does not exist"),
        (&["collect", "r.jsonl", "--format", "xlsx", "-o", "new.parquet"][..], 2, "parquet or csv"),
        (&["collect", "bad.jsonl", "-o", "new.parquet"][..], 2, "no record of a race is among them (1 left out"),
        (&["collect", "empty", "-o", "new.parquet"][..], 2, "there is no record of a race"),
        (&["collect", "none.jsonl", "-o", "new.parquet"][..], 2, "there is no record none.jsonl"),
        (&["collect", "none*", "-o", "new.parquet"][..], 2, "no file matches"),
    ] {
        let (_, err) = place.expect(status, arguments);
        assert_one_sentence(&err, &[says]);
    }
    assert_eq!(names(place.path()), before);
    assert_eq!(fs::read_to_string(place.path().join("old.parquet")).unwrap(), "old");
    // A limit on the size of files stands for a full disk.
    let line = format!("ulimit -f 1; exec {} collect r.jsonl -o new.csv", env!("CARGO_BIN_EXE_fairlane"));
    let mut limited = std::process::Command::new("bash");
    limited.args(["-c", &line]).current_dir(place.path()).env("FAIRLANE_UNDO_DIR", place.path().join("undo"));
    let ended = limited.env("XDG_STATE_HOME", place.path().join("state")).env_remove("SUDO_UID").output().unwrap();
    let err = String::from_utf8_lossy(&ended.stderr);
    assert_eq!(ended.status.code(), Some(1), "{err}");
    assert!(err.contains("cannot write new.csv: "), "{err}");
    assert_eq!(names(place.path()), before);
}

#[test]
fn under_sudo_files_are_found_read_and_made_with_the_users_rights() {
    if !root() {
        return;
    }
    let place = Place::new();
    fs::set_permissions(place.path(), PermissionsExt::from_mode(0o755)).unwrap();
    let (home, secret) = (place.path().join("home"), place.path().join("secret"));
    for folder in [&home, &secret] {
        fs::create_dir(folder).unwrap();
    }
    fs::set_permissions(&secret, PermissionsExt::from_mode(0o700)).unwrap();
    fs::write(secret.join("payroll.jsonl"), RECORD).unwrap();
    fs::write(home.join("r.jsonl"), RECORD).unwrap();
    fs::hard_link(secret.join("payroll.jsonl"), home.join("hard.jsonl")).unwrap();
    fs::set_permissions(home.join("hard.jsonl"), PermissionsExt::from_mode(0o600)).unwrap();
    symlink(&secret, home.join("way")).unwrap();
    chown(&home, Some(USER), Some(USER)).unwrap();
    let sudo = |arguments: &[&str]| {
        let mut command = place.fairlane(arguments);
        command.current_dir(&home).env("XDG_STATE_HOME", home.join("state")).env_remove("SUDO_HOME");
        let ran = command.env("SUDO_UID", USER.to_string()).env("SUDO_GID", USER.to_string()).output().unwrap();
        let said = [ran.stdout, ran.stderr].concat();
        (ran.status.code(), String::from_utf8_lossy(&said).into_owned())
    };
    let (status, said) = sudo(&["collect", ".", "-o", "fleet.parquet"]);
    assert!(status == Some(0) && said.contains("of 1 record\nleft out: 1 file\n"), "{said}");
    assert!(said.contains("hard.jsonl: it cannot be read"), "{said}");
    let made = fs::metadata(home.join("fleet.parquet")).unwrap();
    assert_eq!((made.uid(), made.gid(), made.mode() & 0o7777), (USER, USER, 0o644));
    for arguments in [["collect", "r.jsonl", "-o", "../secret/x"], ["collect", "r.jsonl", "-o", "way/x"]] {
        let (status, said) = sudo(&arguments);
        assert_eq!(status, Some(1), "{said}");
        assert!(said.contains("may not write there"), "{said}");
    }
    let (status, said) = sudo(&["collect", "../secret", "way", "-o", "y.parquet"]);
    assert!(status == Some(2) && !said.contains("payroll"), "{said}");
    assert_eq!(names(&secret), ["payroll.jsonl"]);
}
