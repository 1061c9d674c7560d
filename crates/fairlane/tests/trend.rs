//! `fairlane trend` and `records` over the records kept, with the index between them, and the dashboard beside them.

use crate::common;
use crate::server;

use common::{Place, assert_one_sentence, root};
use model::page::{RecordList, Trend};
use server::Server;
use std::fs::{self, File};
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown, symlink};
use std::path::{Path, PathBuf};
use std::process::Stdio;

const RECORD: &str = include_str!("fixtures/schema1.jsonl");

/// Three records kept, a month between them, the last one on another kernel; the folder of the state.
fn kept(place: &Place) -> PathBuf {
    let state = place.path().join("state/fairlane");
    fs::create_dir_all(state.join("runs")).unwrap();
    for (month, kernel) in [(1, "6.12.0-fixture"), (2, "6.12.0-fixture"), (3, "6.18.0-fixture")] {
        let started = format!("2026-0{month}-01T00:00:00Z");
        let record = RECORD.replacen("2026-11-20T10:49:35Z", &started, 1).replacen("6.12.0-fixture", kernel, 1);
        let name = format!("runs/2026-0{month}-01T00-00-00Z-tiny-{month}.jsonl");
        fs::write(state.join(name), record).unwrap();
    }
    state
}

fn json(out: &str) -> Vec<Trend> {
    serde_json::from_str(out).unwrap_or_else(|error| panic!("{error}: {out}"))
}

#[test]
fn the_command_shows_what_the_dashboard_shows() {
    let place = Place::new();
    let state = kept(&place);
    let server = Server::start(&place, &[]);
    for (workload, group) in [("small-files", "create"), ("commit", "write")] {
        let asked: Trend = server.get(&format!("/api/trend?workload={workload}&group={group}")).json();
        let (out, err) = place.expect(0, &["trend", workload, group, "--format", "json"]);
        assert!(err.is_empty(), "{err}");
        assert_eq!(json(&out), std::slice::from_ref(&asked));
        // Once more, from the index; and of the folder by its name.
        assert_eq!(
            json(&place.expect(0, &["trend", workload, group, "--format", "json"]).0),
            std::slice::from_ref(&asked)
        );
        // By its title, in whatever letters.
        for title in [asked.title.clone(), asked.title.to_uppercase()] {
            let (out, _) = place.expect(0, &["trend", &title, group, "--format", "json"]);
            assert_eq!(json(&out), std::slice::from_ref(&asked));
            let (out, _) = place.expect(0, &["trend", &title, group, "state/fairlane/runs", "--format", "json"]);
            assert_eq!(json(&out)[0].workload, workload);
        }
        let (out, _) = place.expect(0, &["trend", workload, group, "state/fairlane/runs", "--format", "json"]);
        let means = |trend: &Trend| trend.points.iter().map(|point| point.mean).collect::<Vec<_>>();
        assert_eq!(means(&json(&out)[0]), means(&asked));
    }
    // All groups, one lane.
    let (out, _) = place.expect(0, &["trend", "small-files", "--lane", "xfs", "--format", "json"]);
    let groups: Vec<String> = json(&out).iter().map(|trend| trend.group.clone()).collect();
    assert_eq!(groups, ["create", "read", "delete"]);
    assert!(json(&out).iter().all(|trend| trend.points.len() == 3 && trend.points.iter().all(|of| of.lane == "xfs")));
    let (out, _) = place.expect(0, &["trend", "commit"]);
    assert!(out.starts_with("commit 4 KiB, write: operations per second, more is better\n"), "{out}");
    assert!(out.contains("2026-03-01T00:00:00Z  6.18.0-fixture") && out.contains("another kernel"), "{out}");
    let (out, _) = place.expect(0, &["trend", "commit", "last", "last~1", "--format", "csv"]);
    assert_eq!(out.lines().count(), 1 + 2 * 2, "{out}");
    let (out, _) = place.expect(0, &["trend", "commit", "--format", "markdown"]);
    assert!(out.contains("| `ext4` | 2026-01-01T00:00:00Z |"), "{out}");
    // The server reads the index, and leaves it as it is.
    let index = fs::metadata(state.join("index.sqlite")).unwrap();
    let again = Server::start(&place, &[]);
    let list: RecordList = again.get("/api/records").json();
    assert_eq!((list.records.len(), list.unreadable.len()), (3, 0));
    let after = fs::metadata(state.join("index.sqlite")).unwrap();
    let stamp = |of: &fs::Metadata| (of.ino(), of.len(), of.mtime(), of.mtime_nsec());
    assert_eq!((stamp(&index), index.mode() & 0o7777), (stamp(&after), 0o600));
}

#[test]
fn what_has_no_trend_is_told_in_one_sentence() {
    let place = Place::new();
    let (_, err) = place.expect(2, &["trend", "commit"]);
    assert_one_sentence(&err, &["no record has figures of `commit`", "race it first"]);
    kept(&place);
    fs::create_dir(place.path().join("empty")).unwrap();
    for (arguments, says) in [
        (&["trend", "nope"][..], &["no record has figures of `nope`", "commit, random-read, small-files"][..]),
        (&["trend", "commit", "nope"][..], &["for nope", "choose one of write", "./NAME"][..]),
        (&["trend", "commit", "write", "--lane", "zfs"][..], &["in lane zfs"][..]),
        (&["trend", "commit", "--format", "html"][..], &["`html`", "text, markdown, csv, json"][..]),
        (&["trend", "commit", "write", "empty/"][..], &["no record has figures of `commit`"][..]),
        (&["trend", "commit", "none.jsonl"][..], &["there is no record none.jsonl"][..]),
    ] {
        let (out, err) = place.expect(2, arguments);
        assert_one_sentence(&err, says);
        assert!(out.is_empty(), "{out}");
    }
}

#[test]
fn a_title_of_several_workloads_names_none_of_them() {
    let place = Place::new();
    let state = kept(&place);
    let other = RECORD.replace("\"name\":\"commit\"", "\"name\":\"flush\"");
    let other = other.replace("\"workload\":\"commit\"", "\"workload\":\"flush\"");
    assert!(other != RECORD);
    fs::write(state.join("runs/2026-04-01T00-00-00Z-tiny-4.jsonl"), other).unwrap();
    for arguments in [&["trend", "Commit 4 kib"][..], &["trend", "commit 4 KiB", "write", "state/fairlane/runs"]] {
        let (_, err) = place.expect(2, arguments);
        assert_one_sentence(&err, &["several workloads have the title", "choose one of commit, flush"]);
    }
    let (out, _) = place.expect(0, &["trend", "flush"]);
    assert!(out.starts_with("commit 4 KiB, write: "), "{out}");
}

/// Writes something else into a file, whose stamp stays.
fn change_unseen(path: &Path, from: &str, to: &str) {
    let before = path.metadata().unwrap();
    let text = fs::read_to_string(path).unwrap();
    assert!(text.contains(from) && from.len() == to.len());
    fs::write(path, text.replace(from, to)).unwrap();
    File::options().write(true).open(path).unwrap().set_modified(before.modified().unwrap()).unwrap();
    let after = path.metadata().unwrap();
    let stamp = |of: &fs::Metadata| (of.dev(), of.ino(), of.len(), of.mtime(), of.mtime_nsec());
    assert_eq!(stamp(&before), stamp(&after));
}

#[test]
fn many_processes_at_once_answer_alike_and_afterwards_no_record_is_opened() {
    let place = Place::new();
    let state = kept(&place);
    let commands = [&["records"][..], &["trend", "small-files", "create"], &["trend", "commit", "--format", "json"]];
    let said = |arguments: &[&str]| place.expect(0, arguments).0;
    let expected = commands.map(said);
    fs::remove_file(state.join("index.sqlite")).unwrap();
    for _ in 0..3 {
        let started = [0, 1, 2, 0, 1, 2].map(|at| {
            let mut command = place.fairlane(commands[at]);
            (at, command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap())
        });
        for (at, child) in started {
            let ended = child.wait_with_output().unwrap();
            assert!(ended.status.success() && ended.stderr.is_empty(), "{ended:?}");
            assert_eq!(String::from_utf8_lossy(&ended.stdout), expected[at]);
        }
    }
    for arguments in commands {
        said(arguments);
    }
    // What is never opened again says what it said.
    let record = state.join("runs/2026-02-01T00-00-00Z-tiny-2.jsonl");
    change_unseen(&record, "\"suite\":\"tiny\"", "\"suite\":\"tyni\"");
    assert_eq!(commands.map(said), expected);
    let server = Server::start(&place, &[]);
    assert!(!server.get("/api/records").text().contains("tyni"));
    assert_eq!(server.get("/api/trend?workload=commit&group=write").status, 200);
    // One that was touched is.
    File::options().append(true).open(&record).unwrap().set_modified(std::time::SystemTime::now()).unwrap();
    assert!(said(&["records"]).contains("  tyni "), "{}", said(&["records"]));
    let mut names: Vec<String> =
        fs::read_dir(&state).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    assert_eq!(names, ["index.sqlite", "runs"]);
}

#[test]
fn a_damaged_index_is_made_anew_without_a_word() {
    let place = Place::new();
    let state = kept(&place);
    let expected = place.expect(0, &["records"]);
    for damage in ["", "no database", &"\0".repeat(100_000)] {
        fs::write(state.join("index.sqlite"), damage).unwrap();
        assert_eq!(place.expect(0, &["records"]), expected);
        assert!(
            fs::read(state.join("index.sqlite")).unwrap().starts_with(b"SQLite format 3\0"),
            "{:?}",
            damage.get(..9)
        );
    }
}

#[test]
fn under_sudo_the_index_is_the_users_own_and_leads_root_nowhere() {
    if !root() {
        return;
    }
    const USER: u32 = 54321;
    let place = Place::new();
    fs::set_permissions(place.path(), PermissionsExt::from_mode(0o755)).unwrap();
    let state = kept(&place);
    let secret = place.path().join("secret");
    fs::create_dir(&secret).unwrap();
    fs::set_permissions(&secret, PermissionsExt::from_mode(0o700)).unwrap();
    fs::write(secret.join("file"), "payroll").unwrap();
    let user = [("SUDO_UID", USER.to_string()), ("SUDO_GID", USER.to_string())];
    let said = || {
        let mut command = place.fairlane(&["records"]);
        let ran = command.envs(user.iter().map(|(key, value)| (key, value))).output().unwrap();
        assert!(ran.status.success() && ran.stderr.is_empty(), "{ran:?}");
        String::from_utf8(ran.stdout).unwrap()
    };
    // A folder of root's is none of the user's own.
    let expected = said();
    assert!(expected.contains("complete") && !state.join("index.sqlite").exists());
    for folder in [place.path().join("state"), state.clone()] {
        chown(&folder, Some(USER), Some(USER)).unwrap();
    }
    assert_eq!(said(), expected);
    let made = fs::symlink_metadata(state.join("index.sqlite")).unwrap();
    assert_eq!((made.uid(), made.gid(), made.mode() & 0o7777), (USER, USER, 0o600));
    // Links of the user's own in its places.
    for name in ["index.sqlite", "index.sqlite-journal"] {
        let _ = fs::remove_file(state.join("index.sqlite"));
        symlink(secret.join("file"), state.join(name)).unwrap();
        std::os::unix::fs::lchown(state.join(name), Some(USER), Some(USER)).unwrap();
        assert_eq!(said(), expected, "{name}");
        assert_eq!(fs::read_to_string(secret.join("file")).unwrap(), "payroll");
        let _ = fs::remove_file(state.join(name));
    }
}
