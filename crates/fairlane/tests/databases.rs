//! Races of databases from end to end, small ones, and nothing left of their servers.

use crate::common;

use common::{Place, root};
use rustix::process::{Pid, Signal, kill_process};
use std::time::{Duration, Instant};

const SUITE: &str = r#"
name = "small"
about = "a test"
first_answer = true

[[workload]]
name = "insert"
title = "inserts"
kind = "oltp"
script = "insert"
threads = [2]
table_size = 500
pool = "8MiB"
warm_up_seconds = 0.05
seconds = 0.6
"#;

/// Room for the files of each server. The usual lanes are written for longer than anything here takes.
const LANE_SIZE: &str = "768MiB";

fn suite(place: &Place) -> String {
    let path = place.path().join("small.toml");
    std::fs::write(&path, SUITE).expect("suite");
    path.to_string_lossy().into_owned()
}

fn installed(server: &str) -> bool {
    let server = if server == "mariadb" { model::oltp::Server::Mariadb } else { model::oltp::Server::Postgresql };
    let missing = engine::databases::missing(server);
    if let Some((program, package)) = missing {
        eprintln!("skipped: {program} is not installed; apt install {package}");
    }
    missing.is_none()
}

/// Servers with a folder under a path: they have inherited it open.
fn servers_under(place: &Place) -> Vec<i32> {
    let of = |entry: std::fs::DirEntry| {
        let pid: i32 = entry.file_name().to_str()?.parse().ok()?;
        let name = std::fs::read_to_string(entry.path().join("comm")).ok()?;
        let open = std::fs::read_dir(entry.path().join("fd")).ok()?.flatten();
        let own = |path: std::path::PathBuf| path.starts_with(place.path()) && path.ends_with("fairlane-database");
        let has = open.filter_map(|entry| std::fs::read_link(entry.path()).ok()).any(own);
        (has && ["mariadbd", "mysqld", "postgres"].contains(&name.trim())).then_some(pid)
    };
    std::fs::read_dir("/proc").expect("/proc").flatten().filter_map(of).collect()
}

/// A trial has a group for each load, and each has figures of the device and the settings of its commits.
fn assert_every_load_measured(trial: &serde_json::Value, server: &str) {
    assert_eq!(trial["outcome"], "ok", "{trial}");
    let names: Vec<_> =
        trial["groups"].as_array().unwrap().iter().map(|group| group["name"].as_str().unwrap()).collect();
    let own = |rest: &str| format!("{server} {rest}");
    assert_eq!(names, [own("1 thread (cold)"), own("1 thread"), own("2 threads")]);
    for group in trial["groups"].as_array().unwrap() {
        assert!(group["operations"].as_u64().unwrap() > 0, "{group}");
        assert!(group["metrics"]["device_write_bytes_per_operation"].as_f64().unwrap() > 0.0, "{group}");
        assert!(group["metrics"]["device_write_bytes_until_written_per_operation"].as_f64().unwrap() > 0.0, "{group}");
        assert!(!group["settings"].as_object().unwrap().is_empty(), "{group}");
        assert!(group["metrics"]["device_flushes_per_operation"].as_f64().is_some(), "{group}");
    }
}

#[test]
fn a_database_race_has_a_group_for_each_load_and_says_what_makes_a_commit_safe() {
    if !root() {
        return;
    }
    for server in ["sqlite", "mariadb", "postgresql"] {
        if server != "sqlite" && !installed(server) {
            continue;
        }
        let place = Place::new();
        let suite = suite(&place);
        let set = format!("server={server}");
        place.expect(
            0,
            &[
                "race",
                "ext4",
                "xfs",
                "--suite",
                &suite,
                "--lane-size",
                LANE_SIZE,
                "--rounds",
                "1",
                "--set",
                &set,
                "--set",
                "threads=1,2",
                "-o",
                "r.jsonl",
            ],
        );
        place.assert_nothing_left();
        assert_eq!(servers_under(&place), Vec::<i32>::new());
        let text = std::fs::read_to_string(place.path().join("r.jsonl")).unwrap();
        let lines: Vec<serde_json::Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let said = lines[0]["warnings"].to_string();
        assert!(said.contains("commits with") && said.contains("in every lane alike"), "{said}");
        // Where others keep the machine busy, rounds are repeated.
        let trials = lines.iter().filter(|line| line["kind"] == "trial" && line["outcome"] != "repeated");
        let trials: Vec<_> = trials.collect();
        // One in each lane: each makes its server anew, which takes most of the time.
        assert_eq!(trials.len(), 2);
        trials.into_iter().for_each(|trial| assert_every_load_measured(trial, server));
        // The same settings beside others are told.
        let other = [
            "--set",
            if server == "sqlite" {
                "synchronous=OFF"
            } else if server == "mariadb" {
                "innodb_flush_log_at_trx_commit=0"
            } else {
                "synchronous_commit=off"
            },
        ];
        let race = ["race", "ext4", "--suite", &suite, "--lane-size", LANE_SIZE, "--rounds", "1", "-o", "s.jsonl"];
        place.expect(0, &[&race[..], &["--set", &set], &other].concat());
        let text = std::fs::read_to_string(place.path().join("s.jsonl")).unwrap();
        assert!(text.lines().next().unwrap().contains("may lose acknowledged transactions"), "{text}");
        let (out, err) = place.expect(0, &["compare", "r.jsonl", "s.jsonl"]);
        assert!(format!("{out}{err}").contains("options"), "the settings that differ are named: {out}{err}");
    }
}

#[test]
fn a_killed_race_leaves_no_server() {
    if !root() {
        return;
    }
    for server in ["mariadb", "postgresql"] {
        if !installed(server) {
            continue;
        }
        let place = Place::new();
        let suite = suite(&place);
        let set = format!("server={server}");
        let race = ["race", "ext4", "--suite", &suite, "--lane-size", LANE_SIZE, "--rounds", "1"];
        let mut command = place.fairlane(&[&race[..], &["--set", &set, "-o", "r.jsonl"]].concat());
        command.env("FAIRLANE_HOLD", "verify").stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null());
        let mut child = command.spawn().expect("fairlane starts");
        let begun = Instant::now();
        let held = |id: u32| {
            let stat = std::fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
            stat.rsplit(") ").next().is_some_and(|rest| rest.starts_with('T'))
        };
        while !held(child.id()) {
            assert!(begun.elapsed() < Duration::from_secs(120), "the race never came to its check");
            assert!(child.try_wait().expect("it can be waited for").is_none(), "the race ended before its check");
            std::thread::sleep(Duration::from_millis(5));
        }
        assert!(!servers_under(&place).is_empty(), "a server runs");
        kill_process(Pid::from_raw(child.id() as i32).expect("a pid"), Signal::KILL).expect("SIGKILL");
        child.wait().expect("it is gone");
        place.expect(0, &["clean"]);
        let begun = Instant::now();
        while !servers_under(&place).is_empty() {
            assert!(begun.elapsed() < Duration::from_secs(20), "{server} outlived its race");
            std::thread::sleep(Duration::from_millis(20));
        }
        place.expect(0, &["clean"]);
        place.assert_nothing_left();
        let notes = std::fs::read_dir(place.path().join("undo")).expect("undo").count();
        assert_eq!(notes, 0, "a note is left");
    }
}

#[test]
fn the_time_decides_how_much_of_the_sweep_is_raced_and_what_is_left_out_is_named() {
    if !root() {
        return;
    }
    let place = Place::new();
    let (out, err) = place.expect(0, &["race", "ext4", "xfs", "--suite", "database", "--budget", "3m", "--dry-run"]);
    let said = format!("{out}{err}");
    assert!(said.contains("most telling of 29 workloads; left out:"), "{said}");
    assert!(said.contains("plan:"), "{said}");
    let (out, err) = place.expect(0, &["race", "ext4", "xfs", "--suite", "database", "--budget", "900m", "--dry-run"]);
    assert!(!format!("{out}{err}").contains("left out:"), "{out}{err}");
}

#[test]
fn a_server_that_runs_already_is_that_of_one_directory() {
    let place = Place::new();
    // Without root a filesystem's name is a lane in a guest, which is refused for that.
    let refused = if root() { "is the server of one lane" } else { "lives in a guest" };
    let socket = ["--set", "server=mariadb", "--set", "socket=/run/no-such.sock"];
    let lanes: [&[&str]; 3] = [&["ext4"], &["ext4", "xfs"], &["a=/var/tmp", "b=/tmp"]];
    for lanes in lanes {
        let mut arguments = vec!["race"];
        arguments.extend(lanes);
        arguments.extend(["--suite", "database", "--workload", "insert", "--dry-run"]);
        arguments.extend(socket);
        let (out, err) = place.expect(2, &arguments);
        let says = if lanes[0].contains('/') { "is the server of one lane" } else { refused };
        assert!(format!("{out}{err}").contains(says), "{out}{err}");
    }
}
