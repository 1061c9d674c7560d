//! Lanes whose filesystems have a past: made once, kept, checked, laid again, and gone when that is asked for.

use crate::common;

use crate::user_mode_linux::user_mode_linux;
use common::{Place, assert_one_sentence, root};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;
use std::process::Stdio;
use std::time::{Duration, Instant};

fn arguments<'a>(suite: &'a str, lanes: &[&'a str], record: &'a str) -> Vec<&'a str> {
    let options =
        ["--suite", suite, "--workload", "random-read", "--rounds", "2", "--lane-size", "768MiB", "-o", record];
    [&["race"], lanes, &options].concat()
}

/// The same with lanes of another size: a past is lived on all of a lane.
fn small<'a>(size: &'a str, arguments: Vec<&'a str>) -> Vec<&'a str> {
    arguments.into_iter().map(|word| if word == "768MiB" { size } else { word }).collect()
}

/// The lanes of a record's header, by name.
fn lane(place: &Place, record: &str, name: &str) -> Value {
    let text = std::fs::read_to_string(place.path().join(record)).expect("a record");
    let header: Value = serde_json::from_str(text.lines().next().expect("a line")).expect("JSON");
    let lanes = header["lanes"].as_array().expect("lanes");
    lanes.iter().find(|lane| lane["name"] == name).unwrap_or_else(|| panic!("{name} in {lanes:?}")).clone()
}

fn kept(place: &Place) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(place.path().join("undo/aged")).into_iter().flatten().flatten();
    let mut images: Vec<PathBuf> =
        entries.map(|entry| entry.path()).filter(|path| path.extension().is_some_and(|of| of == "image")).collect();
    images.sort();
    images
}

#[test]
fn a_past_is_lived_once_kept_and_raced_beside_the_fresh_lane() {
    if !root() {
        return;
    }
    let place = Place::new();
    let suite = place.tiny_suite();
    let lanes = ["ext4", "ext4+aged=churn:1x", "xfs+full=70%"];
    place.expect(0, &arguments(&suite, &lanes, "a.jsonl"));
    place.assert_nothing_left();
    let (aged, full) = (lane(&place, "a.jsonl", lanes[1]), lane(&place, "a.jsonl", lanes[2]));
    let facts = &aged["aged"];
    assert!(facts["overwrites"].as_f64().unwrap() >= 1.0 && facts["files"].as_u64().unwrap() > 100, "{facts}");
    assert_eq!((facts["states"].as_str(), facts["seed"].as_u64()), (Some("+aged=churn:1x"), Some(1)));
    assert!(facts["extents_per_file"].as_f64().unwrap() >= 1.0 && facts["from_cache"].is_null(), "{facts}");
    assert!((0.69..0.71).contains(&full["aged"]["used_share"].as_f64().unwrap()), "{full}");
    // The tree that it is raced with was compared with the life's own, and with another life's.
    let figure = |of: &Value, key: &str| of[key].as_f64().unwrap_or_else(|| panic!("{key} in {of}"));
    for of in [facts, &full["aged"]] {
        assert_eq!(of["differing_files"].as_u64(), Some(0));
        assert!(figure(of, "allocated_bytes") >= figure(of, "bytes"), "{of}");
        assert!((figure(of, "reached_share") - figure(of, "used_share")).abs() < 0.005, "{of}");
        assert!(figure(&of["sizes"], "misplaced_share") < 0.2 && figure(&of["sizes"], "degrees") > 2.0, "{of}");
    }
    assert!(lane(&place, "a.jsonl", "ext4")["aged"].is_null());
    // What the aged lane was laid with is said of its rounds.
    let text = std::fs::read_to_string(place.path().join("a.jsonl")).unwrap();
    assert!(text.contains("\"restore\":"), "no round began with the kept image");
    let images = kept(&place);
    assert_eq!(images.len(), 2);
    // What lives wrote comes again in itself, and is kept shorter.
    let sizes: Vec<u64> = images.iter().map(|image| image.metadata().unwrap().len()).collect();
    assert!(sizes.iter().all(|size| (16 << 20..512 << 20).contains(size)), "{sizes:?}");

    // The next race takes them; what one of them was damaged by is told, and it is lived again.
    let file = std::fs::File::options().read(true).write(true).open(&images[0]).unwrap();
    // More than what lies between two pieces.
    let mut bytes = [0; 8192];
    file.read_exact_at(&mut bytes, sizes[0] / 2).unwrap();
    file.write_all_at(&bytes.map(|byte| !byte), sizes[0] / 2).unwrap();
    drop(file);
    place.expect(0, &arguments(&suite, &lanes, "b.jsonl"));
    let from_cache = |name: &str| lane(&place, "b.jsonl", name)["aged"]["from_cache"] == true;
    assert_eq!([lanes[1], lanes[2]].iter().filter(|name| from_cache(name)).count(), 1);
    let (out, _) = place.expect(0, &["report", "b.jsonl"]);
    // Lines are as long as the terminal is wide.
    let out = out.split_whitespace().collect::<Vec<_>>().join(" ");
    for part in [
        "was made anew: its bytes are not those that were kept",
        "AGED",
        "in another class of size in another life of its profile",
        " % of the lane, by its life ",
        "ext4+aged=churn:1x / ext4: random read",
    ] {
        assert!(out.contains(part), "`{part}` is missing in:\n{out}");
    }
    assert!(out.contains("with a past") && !out.contains("no rank flips"), "{out}");
    let (markdown, _) = place.expect(0, &["report", "b.jsonl", "--format", "markdown"]);
    assert!(markdown.contains("What age did"), "{markdown}");

    let (out, _) = place.expect(0, &["clean"]);
    assert!(out.contains("2 images of aged lanes are kept, ") && out.contains(" of at most 32 GiB"), "{out}");
    let (out, _) = place.expect(0, &["clean", "--aged"]);
    assert!(out.contains("removed 2 images of aged lanes, "), "{out}");
    assert_eq!(kept(&place), Vec::<PathBuf>::new());
    place.assert_nothing_left();
}

#[test]
fn a_filesystem_that_runs_twice_has_two_images_of_one_life() {
    if !root() {
        return;
    }
    let place = Place::new();
    let suite = place.tiny_suite();
    // Mounted beside each other they must not have one UUID: XFS refuses that, Btrfs would take one for the other.
    let lanes = ["xfs+aged=churn:1x", "b=xfs+aged=churn:1x"];
    place.expect(0, &small("448MiB", arguments(&suite, &lanes, "r.jsonl")));
    place.assert_nothing_left();
    assert_eq!(kept(&place).len(), 2);
    let [one, other] = ["xfs+aged=churn:1x", "b"].map(|name| lane(&place, "r.jsonl", name)["aged"].clone());
    let same = |key: &str| assert_eq!(one[key], other[key], "{key}");
    ["life", "bytes_written", "files", "bytes", "used_share"].into_iter().for_each(same);
}

#[test]
fn a_past_is_lived_by_the_kernel_of_a_guest_and_on_several_disks() {
    if !user_mode_linux() {
        return;
    }
    let place = Place::new();
    let suite = place.tiny_suite();
    // The two of Btrfs change places, and its kernel remembers where it saw each.
    let lanes = [
        "other=btrfs:2(-d raid1 -m raid1)@uml",
        "ext4+aged=churn:1x@uml",
        "two=btrfs:2(-d raid1 -m raid1)+aged=churn:1x@uml",
    ];
    for (record, is_kept) in [("a.jsonl", false), ("b.jsonl", true)] {
        // Five disks and what is kept of three have room beside other tests.
        place.expect(0, &small("448MiB", arguments(&suite, &lanes, record)));
        place.assert_nothing_left();
        let aged = ["ext4+aged=churn:1x", "two"].map(|name| lane(&place, record, name)["aged"].clone());
        for facts in &aged {
            assert_eq!(facts["from_cache"] == true, is_kept, "{facts}");
            assert!(facts["extents_per_file"].as_f64().unwrap() >= 1.0, "{facts}");
            assert!((0.5..0.9).contains(&facts["used_share"].as_f64().unwrap()), "{facts}");
        }
        // Two copies on two disks hold as much as one disk.
        ["life", "bytes_written", "files", "bytes"].into_iter().for_each(|key| assert_eq!(aged[0][key], aged[1][key]));
    }
    assert_eq!(kept(&place).len(), 2);
}

#[test]
fn what_a_past_stands_on_is_put_together_again_over_its_image() {
    if !user_mode_linux() {
        return;
    }
    let place = Place::new();
    let suite = place.tiny_suite();
    // Parity that must hold, and a disk that can be read with its key alone.
    let lanes = ["r=ext4+aged=churn:1x/raid5:3@uml", "c=ext4+aged=churn:1x/thin/crypt@uml"];
    for (record, is_kept) in [("a.jsonl", false), ("b.jsonl", true)] {
        // All is put together anew in every round: one shows it.
        let one_round = |word| if word == "2" { "1" } else { word };
        let line = small("576MiB", arguments(&suite, &lanes, record));
        place.expect(0, &line.into_iter().map(one_round).collect::<Vec<_>>());
        place.assert_nothing_left();
        for name in ["r", "c"] {
            let facts = lane(&place, record, name)["aged"].clone();
            assert_eq!(facts["from_cache"] == true, is_kept, "{name}: {facts}");
            assert!((0.5..0.9).contains(&facts["used_share"].as_f64().unwrap()), "{name}: {facts}");
        }
        // The guest reads it beside a fresh copy, over disks of which three have room for one.
        let read = lane(&place, record, "r")["aged"]["cold_read"].clone();
        for key in ["aged_seconds_per_gib", "fresh_seconds_per_gib", "share_of_files"] {
            assert!(read[key].as_f64().is_some_and(|figure| figure > 0.0), "{key} in {read}");
        }
    }
    assert_eq!(kept(&place).len(), 2);
}

#[test]
fn ctrl_c_while_a_guest_lives_a_past_ends_the_race_and_keeps_nothing() {
    if !user_mode_linux() {
        return;
    }
    let place = Place::new();
    let suite = place.tiny_suite();
    let lanes = ["ext4+aged=churn:1000x@uml"];
    let mut child = place
        .fairlane(&arguments(&suite, &lanes, "r.jsonl"))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("fairlane starts");
    let aged = place.path().join("undo/aged");
    let lives = || std::fs::read_dir(&aged).into_iter().flatten().count() > 0;
    let begun = Instant::now();
    while !lives() && child.try_wait().unwrap().is_none() && begun.elapsed() < Duration::from_secs(120) {
        std::thread::sleep(Duration::from_millis(10));
    }
    let lived = lives();
    std::thread::sleep(Duration::from_secs(2));
    let goes_on = child.try_wait().unwrap().is_none();
    kill_process(Pid::from_raw(child.id() as i32).unwrap(), Signal::INT).unwrap();
    assert!(lived && goes_on, "a life that long goes on");
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert_eq!(std::fs::read_dir(&aged).into_iter().flatten().count(), 0);
    place.assert_nothing_left();
}

#[test]
fn sigkill_while_a_past_is_lived_kept_or_laid_leaves_nothing_and_the_next_race_goes_well() {
    if !root() {
        return;
    }
    let place = Place::new();
    let suite = place.tiny_suite();
    let lanes = ["ext4+aged=churn:2x", "ext4"];
    let arguments = small("448MiB", arguments(&suite, &lanes, "r.jsonl"));
    let aged = place.path().join("undo/aged");
    let exists = |extension: &str| {
        let entries = std::fs::read_dir(&aged).into_iter().flatten().flatten();
        entries.map(|entry| entry.path()).any(|path| path.extension().is_some_and(|of| of == extension))
    };
    let mounted = || {
        let mounts = std::fs::read_to_string("/proc/self/mountinfo").unwrap();
        mounts.contains(&*place.path().to_string_lossy())
    };
    type Moment<'a> = &'a dyn Fn() -> bool;
    let moments: [(&str, Moment, u64); 4] = [
        ("lived", &mounted, 300),
        ("kept", &|| exists("part"), 0),
        ("laid", &|| exists("image"), 20),
        ("raced", &|| place.path().join("r.jsonl").exists(), 100),
    ];
    for (what, moment, delay) in moments {
        let _ = std::fs::remove_file(place.path().join("r.jsonl"));
        let mut child =
            place.fairlane(&arguments).stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("fairlane starts");
        let begun = Instant::now();
        while !moment() && child.try_wait().unwrap().is_none() {
            assert!(begun.elapsed() < Duration::from_secs(120), "it was never {what}");
            std::thread::sleep(Duration::from_millis(1));
        }
        std::thread::sleep(Duration::from_millis(delay));
        let _ = kill_process(Pid::from_raw(child.id() as i32).unwrap(), Signal::KILL);
        child.wait().unwrap();
        place.expect(0, &["clean"]);
        place.assert_nothing_left();
        assert!(!exists("part"), "half an image is left, killed while it was {what}");
        if what == "kept" {
            assert!(!exists("image"), "it was killed before it was whole");
        }
    }
    let _ = std::fs::remove_file(place.path().join("r.jsonl"));
    place.expect(0, &arguments);
    place.assert_nothing_left();
}

#[test]
fn lanes_that_cannot_have_a_past_are_refused_before_anything_is_written() {
    let place = Place::new();
    let suite = place.tiny_suite();
    let folder = place.path().join("folder");
    std::fs::create_dir(&folder).unwrap();
    for (lanes, options, says) in [
        (&["ext4+agde", "xfs"][..], &[][..], &["no state `agde`", "states are aged"][..]),
        (&["ext4+aged=chrun", "xfs"], &[], &["`churn` is near"]),
        (&["tmpfs+aged"], &[], &["lives in memory", "leave the state out"]),
        (&["ext4/raid1:2,bitmap=none+aged"], &[], &["a state stands behind the filesystem"]),
        (&["ext4+aged/raid1:2"], &[], &["its layers", "race it in a guest: --on uml"]),
        (&["ext4+aged/raid1:2,degraded"], &["--on", "uml"], &["loses a disk", "leave one of the two states out"]),
        (&["btrfs:2(-d raid1 -m raid1),degraded+aged"], &[], &["loses a disk", "leave one of the two states out"]),
        (&["./folder"], &["--state", "aged"], &["raced as it is", "fairlane age DIR"]),
        (&["ext4"], &["--state", "aegd"], &["states are degraded, rebuilding, aged"]),
        (&["ext4+full=98%"], &[], &["its past leaves 2 %", "raise --lane-size to"]),
    ] {
        let all = [&["race"], lanes, &["--suite", &suite, "--lane-size", "768MiB", "-o", "r.jsonl"], options].concat();
        let output = place.run(&all);
        let err = String::from_utf8_lossy(&output.stderr).into_owned();
        if output.status.code() == Some(4) && !rustix::process::geteuid().is_root() {
            continue;
        }
        assert_ne!(output.status.code(), Some(0), "{lanes:?}");
        assert_one_sentence(&err, says);
    }
    let (_, err) = place.expect(2, &["powercut", "ext4+aged", "--cuts", "12"]);
    assert_one_sentence(&err, &["has a past", "leave +aged out"]);
    assert!(!place.path().join("undo/aged").exists() && !place.path().join("r.jsonl").exists());
    place.assert_nothing_left();
}
