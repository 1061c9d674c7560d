//! Steps that a lane cannot do: refused by name before the race, or else no loss of the steps before.

use crate::common;

use common::{Place, assert_one_sentence, root, tool};
use serde_json::Value;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;

/// Writes a suite of operations on 40 files of 4 KiB in two directories.
fn suite(place: &Place, steps: &str) -> String {
    let text = format!(
        "name = \"s\"\nabout = \"a test\"\nfirst_answer = true\n[[workload]]\nname = \"w\"\ntitle = \"work\"\n\
         kind = \"operations\"\nloops = 2\n\
         files = [{{ name = \"a\", count = 40, size = \"4KiB\", directories = 2, populate = true }}]\n\
         step = [{{ operation = \"stat\", files = \"a\" }}, {steps}, {{ operation = \"open\", files = \"a\" }}]\n"
    );
    let path = place.path().join("s.toml");
    std::fs::write(&path, text).unwrap();
    path.to_string_lossy().into_owned()
}

fn arguments<'a>(lanes: &[&'a str], suite: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    let options = ["--suite", suite, "--lane-size", "320MiB", "--rounds", "2"];
    ["race"].iter().chain(lanes).chain(&options).chain(more).copied().collect()
}

const COPY: &str = r#"{ name = "copy", operation = "reflink", files = "a" }"#;
const ATTRIBUTE: &str = r#"{ operation = "setxattr", files = "a" }"#;
const ALLOCATE: &str = r#"{ operation = "fallocate", files = "a", block = "4KiB" }"#;

fn truncate(size: &str) -> String {
    format!("{{ name = \"grow\", operation = \"truncate\", files = \"a\", block = \"{size}\" }}")
}

#[test]
fn what_the_table_knows_is_refused_before_anything_is_made() {
    if !root() {
        return;
    }
    let place = Place::new();
    let large = truncate("2GiB");
    for (lanes, step, says) in [
        (
            &["ext4"][..],
            COPY,
            &["workload w, step copy", "lane ext4 has no copies", "leave the step or the lane out"][..],
        ),
        (
            &["btrfs", "tmpfs", "ext2", "b=ext3"],
            COPY,
            &["lanes tmpfs, ext2 and b have no copies", "or these lanes out"],
        ),
        (&["btrfs", "lean=xfs,-mreflink=0"], COPY, &["lane lean", "remove reflink=0 from its mkfs options"]),
        (&["rsext4", "ext4"], ATTRIBUTE, &["step setxattr", "lane rsext4", "race rsext4,journal, which has them"]),
        (&["ext4", "ext3"], ALLOCATE, &["step fallocate", "lane ext3 has no preallocation"]),
        (&["rsext4,journal"], &large, &["set a", "files of 2 GiB and more", "make its files smaller"]),
    ] {
        let suite = suite(&place, step);
        for more in [&["--dry-run"][..], &[]] {
            let (out, err) = place.expect(2, &arguments(lanes, &suite, more));
            assert_one_sentence(&err, says);
            assert_eq!(out, "", "nothing is planned");
        }
        place.assert_nothing_left();
    }
    for (lane, step) in
        [("xfs", COPY), ("btrfs", COPY), ("rsext4,journal", ATTRIBUTE), ("ext3(-O extent)", ALLOCATE), ("ext4", &large)]
    {
        place.expect(0, &arguments(&[lane], &suite(&place, step), &["--dry-run"]));
    }
    assert!(place.run(&["records"]).stdout.starts_with(b"no record"));
}

#[test]
fn what_only_the_mounted_lane_knows_is_tried_before_anything_is_measured() {
    if !root() {
        return;
    }
    let place = Place::new();
    let expect = |lane: &str, step: &str, says: &[&str]| {
        let suite = suite(&place, step);
        let (_, err) = place.expect(2, &arguments(&["ext4", lane], &suite, &["-o", "r.jsonl"]));
        assert_one_sentence(&err, says);
        assert!(!place.path().join("r.jsonl").exists());
        place.assert_nothing_left();
    };
    // Files of ext2 end at 16 GiB with blocks of 1 KiB; longer ones need no blocks where they are holes.
    expect("small=ext2(-b 1024)", &truncate("64GiB"), &["step grow (truncate)", "lane small", "File too large"]);
    let sparse = suite(&place, &truncate("64GiB"));
    place.expect(0, &arguments(&["ext4", "tmpfs"], &sparse, &["-o", "r.jsonl"]));
    let many = std::fs::read_to_string(suite(&place, ATTRIBUTE)).unwrap().replace("count = 40", "count = 4000");
    std::fs::write(place.path().join("many.toml"), many).unwrap();
    let (_, err) = place.expect(2, &arguments(&["few=ext4(-N 64)"], "many.toml", &["-o", "many.jsonl"]));
    assert_one_sentence(&err, &["it makes 4004 files and directories", "lane few has", "give mkfs more inodes"]);

    // A directory: how its filesystem was made shows in no table.
    let (image, lane) = (place.path().join("image"), place.path().join("lane"));
    std::fs::create_dir(&lane).unwrap();
    std::fs::File::create(&image).unwrap().set_len(320 << 20).unwrap();
    let (image, lane) = (image.to_string_lossy().into_owned(), lane.to_string_lossy().into_owned());
    tool("mkfs.xfs", &["-q", "-f", "-m", "reflink=0", &image]);
    tool("mount", &["-o", "loop", &image, &lane]);
    let with_copies = self::suite(&place, COPY);
    let refused = place.run(&arguments(&[&format!("d={lane}")], &with_copies, &["-o", "d.jsonl"]));
    let left = std::fs::read_dir(&lane).unwrap().count();
    tool("umount", &[&lane]);
    let err = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert_eq!(refused.status.code(), Some(2), "{err}");
    assert_one_sentence(
        &err,
        &["workload w, step copy (reflink): lane d cannot do it (Operation not supported)", "leave the step"],
    );
    assert_eq!(left, 0, "nothing stays in a directory lane");
    place.assert_nothing_left();
}

/// A filesystem of the user's own whose mkfs leaves reflink out from the second time on: what was tried
/// is no longer so.
#[test]
fn a_step_that_fails_in_the_middle_costs_the_steps_behind_it_and_no_other() {
    if !root() {
        return;
    }
    let place = Place::new();
    let (script, mark) = (place.path().join("mkfs-once"), place.path().join("mark"));
    let (script, mark) = (script.display(), mark.display());
    std::fs::write(
        place.path().join("mkfs-once"),
        format!(
            "#!/bin/sh\nif [ -e '{mark}' ]; then exec mkfs.xfs -q -f -K -m reflink=0 \"$1\"; fi\n: > '{mark}'\n\
             exec mkfs.xfs -q -f -K \"$1\"\n"
        ),
    )
    .unwrap();
    std::fs::set_permissions(place.path().join("mkfs-once"), PermissionsExt::from_mode(0o755)).unwrap();
    std::fs::write(
        place.path().join("once.toml"),
        format!(
            "name = \"once\"\nmkfs = [\"{script}\", \"{{device}}\"]\n\
             mount = [\"mount\", \"-t\", \"xfs\", \"{{device}}\", \"{{directory}}\"]\n"
        ),
    )
    .unwrap();
    let suite = suite(&place, COPY);
    let (out, err) = place.expect(1, &arguments(&["./once.toml", "xfs"], &suite, &["-o", "r.jsonl"]));
    assert!(err.contains("lane once could not be raced in every workload: work: "), "{err}");
    assert_eq!(err.matches("; the race goes on").count(), 1, "said once, not in each round: {err}");
    assert_eq!(out.matches("once failed at work: ").count(), 1, "{out}");
    place.assert_nothing_left();

    let text = std::fs::read_to_string(place.path().join("r.jsonl")).unwrap();
    let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let trials = || lines.iter().filter(|line| line["kind"] == "trial" && line["outcome"] == "ok");
    assert!(trials().count() >= 4);
    for trial in trials() {
        let groups: Vec<&str> =
            trial["groups"].as_array().unwrap().iter().filter_map(|of| of["name"].as_str()).collect();
        if trial["lane"] == "once" {
            assert_eq!(groups, ["stat"], "{trial}");
            let reason = trial["reason"].as_str().unwrap();
            assert!(reason.contains("cannot do step copy; leave the step or the lane out"), "{reason}");
            assert_eq!(trial["groups"][0]["operations"], 80, "both times");
        } else {
            assert_eq!(groups, ["stat", "copy", "open"], "{trial}");
        }
        assert_eq!(trial["phases_seconds"]["verify"].is_null(), trial["round"] != 1, "contents are compared: {trial}");
    }
    let (json, _) = place.expect(0, &["report", "r.jsonl", "--format", "json"]);
    let findings: Value = serde_json::from_str(&json).unwrap();
    let table = &findings["operations"][0];
    assert_eq!(table["reference"], "xfs", "the first lane did fewer steps");
    for (row, missing) in table["rows"].as_array().unwrap().iter().zip([false, true, true]) {
        let once = row["figures"].as_array().unwrap().iter().find(|of| of["lane"] == "once").unwrap();
        assert_eq!(once["seconds"].is_null(), missing, "{row}");
        assert_eq!(once["failure"].is_null(), !missing, "{row}");
    }
}

/// Files may not grow beyond 64 MiB here (RLIMIT_FSIZE): the call that makes a file succeeds, and a write
/// to it answers EFBIG. What is left of it is no loss of data, and no reason to lose the steps before.
#[test]
fn a_file_that_is_made_and_cannot_be_filled_is_a_refusal_and_no_loss_of_data() {
    for sizes in ["\"100MiB\"", "[\"1MiB\", \"100MiB\"]"] {
        let place = Place::new();
        let count = if sizes.starts_with('[') { 2 } else { 1 };
        let text = format!(
            "name = \"s\"\nabout = \"a test\"\nfirst_answer = true\n[[workload]]\nname = \"w\"\ntitle = \"work\"\n\
             kind = \"operations\"\n\
             files = [{{ name = \"a\", count = 40, size = \"4KiB\", directories = 2 }}, \
                      {{ name = \"b\", count = {count}, size = {sizes} }}]\n\
             step = [{{ operation = \"create\", files = \"a\" }}, {{ operation = \"stat\", files = \"a\" }}, \
                     {{ name = \"fill\", operation = \"create\", files = \"b\" }}, \
                     {{ operation = \"unlink\", files = \"a\" }}]\n"
        );
        std::fs::write(place.path().join("s.toml"), text).unwrap();
        for lane in ["one", "two"] {
            std::fs::create_dir(place.path().join(lane)).unwrap();
        }
        let mut command =
            place.fairlane(&["race", "./one", "./two", "--suite", "s.toml", "--rounds", "1", "-o", "r.jsonl"]);
        let most = rustix::process::Rlimit { current: Some(64 << 20), maximum: Some(64 << 20) };
        // SAFETY: between fork and exec only these two system calls run, which allocate nothing.
        unsafe {
            command.pre_exec(move || {
                libc::signal(libc::SIGXFSZ, libc::SIG_IGN);
                Ok(rustix::process::setrlimit(rustix::process::Resource::Fsize, most)?)
            });
        }
        let output = command.output().unwrap();
        let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert_eq!(output.status.code(), Some(1), "{out}{err}");
        assert!(!format!("{out}{err}").contains("lost or changed"), "{sizes}: {out}{err}");
        assert!(err.contains("could not be raced in every workload: work: ") && err.contains("step fill"), "{err}");
        let text = std::fs::read_to_string(place.path().join("r.jsonl")).unwrap();
        let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        // A noisy round is run again.
        let counts = |line: &&Value| line["kind"] == "trial" && line["outcome"] != "repeated";
        let trials: Vec<&Value> = lines.iter().filter(counts).collect();
        assert_eq!(trials.len(), 2, "{text}");
        for trial in trials {
            assert_eq!(trial["outcome"], "ok", "{trial}");
            let groups: Vec<&str> =
                trial["groups"].as_array().unwrap().iter().filter_map(|of| of["name"].as_str()).collect();
            assert_eq!(groups, ["create", "stat"], "{trial}");
            assert!(trial["reason"].as_str().unwrap().contains("File too large"), "{trial}");
            assert!(trial["phases_seconds"]["verify"].as_f64().unwrap() > 0.0, "what counts is compared: {trial}");
        }
        place.assert_nothing_left();
    }
}
