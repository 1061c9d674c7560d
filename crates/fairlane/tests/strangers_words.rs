//! Suites, records and kept images come from anywhere: nothing in them chooses what root starts, formats or reads.

use crate::common;

use common::{Place, assert_one_sentence, root, tool};
use serde_json::{Value, json};
use std::path::PathBuf;

/// What a stranger would have root do: it leaves a file that says who ran it.
const EVIL: &str = "name = \"evil\"\nkind = \"kernel\"\nmkfs = [\"sh\", \"-c\", \"id -u > PWNED; exit 1\", \"{device}\"]\n\
    mount = [\"sh\", \"-c\", \"id -u > PWNED; exit 1\", \"{device}\", \"{directory}\"]\n";

/// A place with a stranger's file in it.
fn place_with_evil() -> Place {
    let place = Place::new();
    std::fs::write(place.path().join("evil.toml"), EVIL).unwrap();
    place
}

fn assert_nothing_ran(place: &Place, what: &str) {
    let ran = std::fs::read_to_string(place.path().join("PWNED")).ok();
    assert_eq!(ran, None, "{what}: a stranger's program ran");
    place.assert_nothing_left();
}

#[test]
fn a_suites_lanes_are_names_of_the_table_and_nothing_else() {
    let place = place_with_evil();
    let tiny = std::fs::read_to_string(place.tiny_suite()).unwrap();
    let evil = place.path().join("evil.toml").display().to_string();
    for lane in [
        "./evil.toml",
        &evil,
        "fast=./evil.toml",
        "../evil.toml",
        "./evil.toml,noatime",
        "./evil.toml(-b 1024)",
        "ext4(-b 1024)",
        "ext4,-b1024",
        "ext4(/dev/sda)",
        "ext4,noatime",
        "ext4,errors=panic",
        "ext4@uml",
        "ext4@image",
        "ext4@/etc",
        "ext4@/dev/sda",
        "ext4@qemu:./evil.toml",
        "/etc",
        ".",
        "xfs=ext4",
        "ext9",
    ] {
        let suite =
            tiny.replacen("first_answer = true", &format!("first_answer = true\nlanes = [\"xfs\", {lane:?}]"), 1);
        std::fs::write(place.path().join("s.toml"), suite).unwrap();
        for more in [&[][..], &["--dry-run"], &["--allow-programs"], &["--on", "image"]] {
            let race = ["race", "--suite", "s.toml", "--lane-size", "320MiB", "--rounds", "1"];
            let (_, err) = place.expect(2, &[&race[..], more].concat());
            assert_one_sentence(
                &err,
                &["suite tiny: lanes: ", "command line alone", "fairlane race xfs ", "--suite s.toml"],
            );
        }
        assert_nothing_ran(&place, lane);
    }
    // What it says to type is taken: the sentence is about the suite, not about the lane.
    let (_, err) = place.expect(2, &["race", "ext9", "--suite", "s.toml", "--dry-run"]);
    assert!(!err.contains("lanes:"), "{err}");
}

/// A record of an interrupted race of two directories, changed by whoever wants something of root.
fn forged(place: &Place, change: &dyn Fn(&mut Value)) -> PathBuf {
    let path = place.path().join("r.jsonl");
    if !path.exists() {
        let suite = place.tiny_suite();
        for name in ["da", "db"] {
            std::fs::create_dir(place.path().join(name)).unwrap();
        }
        let race = ["race", "a=./da", "b=./db", "--suite", &suite, "--workload", "small-files", "--rounds", "2"];
        place.expect(0, &[&race[..], &["-o", "r.jsonl", "-q", "--no-report"]].concat());
    }
    let text = std::fs::read_to_string(&path).unwrap();
    let mut lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    lines.retain(|line| line["kind"] != "end" && line["round"] != 2);
    change(&mut lines[0]);
    let forged = place.path().join("forged.jsonl");
    std::fs::write(&forged, lines.iter().map(|line| format!("{line}\n")).collect::<String>()).unwrap();
    forged
}

#[test]
fn an_ordinary_record_goes_on_without_a_word() {
    let place = place_with_evil();
    forged(&place, &|_| {});
    place.expect(0, &["race", "--resume", "forged.jsonl", "-q", "--no-report"]);
    let text = std::fs::read_to_string(place.path().join("forged.jsonl")).unwrap();
    assert!(text.lines().last().unwrap().contains("\"complete\""), "{text}");
    // The same with its lanes typed again; others are refused.
    forged(&place, &|_| {});
    let (_, err) = place.expect(2, &["race", "--resume", "forged.jsonl", "a=./da"]);
    assert_one_sentence(&err, &["not the lanes of this record", "a=./da b=./db"]);
    place.expect(0, &["race", "--resume", "forged.jsonl", "a=./da", "b=./db", "-q", "--no-report"]);
    place.assert_nothing_left();
}

#[test]
fn a_record_starts_no_program_and_chooses_no_word_of_mkfs() {
    let place = place_with_evil();
    let custom = |path: &str| json!({ "custom": path });
    let evil = place.path().join("evil.toml").display().to_string();
    type Change<'a> = Box<dyn Fn(&mut Value) + 'a>;
    let lane = |key: &'static str, value: Value| -> Change<'static> {
        Box::new(move |header| {
            header["plan"]["lanes"][0]["contestant"] = json!({ "filesystem": "ext4" });
            header["plan"]["lanes"][0][key] = value.clone();
        })
    };
    let changes: Vec<(&str, Change, &str)> = vec![
        ("a file", Box::new(|h| h["plan"]["lanes"][0]["contestant"] = custom("./evil.toml")), "which programs run"),
        ("a whole path", Box::new(|h| h["plan"]["lanes"][0]["contestant"] = custom(&evil)), "which programs run"),
        (
            "a file in both places",
            Box::new(|h| {
                h["plan"]["lanes"][0]["contestant"] = custom("./evil.toml");
                h["lanes"][0]["spec"] = json!("a=./evil.toml");
                h["lanes"][0]["filesystem"] = json!("evil");
                h["lanes"][0]["definition_sha256"] = json!("00");
            }),
            "which programs run",
        ),
        (
            "the last lane",
            Box::new(|h| h["plan"]["lanes"][1]["contestant"] = custom("./evil.toml")),
            "which programs run",
        ),
        (
            "a name that is a path",
            Box::new(|h| h["plan"]["lanes"][0]["contestant"] = json!({ "filesystem": "./evil.toml" })),
            "no filesystem of Fairlane's table",
        ),
        ("options of mkfs", lane("mkfs_options", json!(["-b", "1024"])), "options of mkfs"),
        ("a disk", lane("mkfs_options", json!(["/dev/sda"])), "options of mkfs"),
        ("mount options", lane("mount_options", json!(["errors=panic"])), "speak for themselves"),
        ("two in one", lane("mount_options", json!(["noatime,errors=panic"])), "no command line makes"),
        ("a control character", lane("mount_options", json!(["noatime\u{1b}[2J"])), "no command line makes"),
        ("a kernel", lane("venue", json!({ "qemu": "./evil.toml" })), "names a kernel"),
    ];
    for (what, change, part) in &changes {
        forged(&place, change);
        let before = std::fs::read(place.path().join("forged.jsonl")).unwrap();
        for more in [&[][..], &["--allow-programs"], &["--dry-run"]] {
            let (_, err) = place.expect(2, &[&["race", "--resume", "forged.jsonl"][..], more].concat());
            assert_one_sentence(&err, &[part, "fairlane race --resume forged.jsonl"]);
        }
        assert_nothing_ran(&place, what);
        assert_eq!(
            std::fs::read(place.path().join("forged.jsonl")).unwrap(),
            before,
            "{what}: the record is not touched"
        );
    }
}

#[test]
fn a_record_has_fio_run_nothing_that_was_not_allowed_and_read_as_fio_reads_it() {
    if !root() {
        return;
    }
    let place = place_with_evil();
    let of_text = |text: &str, bytes: u64| {
        let jobs = json!([{ "name": "j", "directions": ["write"] }]);
        json!({ "name": "x", "title": "x", "kind": "fio", "file": "j.fio", "text": text, "jobs": jobs,
            "working_set": format!("{bytes}B") })
    };
    let plain = "[j]\nsize=65536\nrw=write\nioengine=psync\n";
    // fio takes what stands behind so many bytes for a line of its own.
    let begun = "description=";
    let filled = "A".repeat(8191 - begun.len());
    let hidden = format!("{plain}{begun}{filled}exec_prerun=/bin/sh -c 'id -u > {}/PWNED'\n", place.path().display());
    for (text, bytes, allowed) in [
        (plain, 65536, "read, and"),
        (plain, 1, "not as Fairlane writes it"),
        (&hidden, 65536, "more than the 4000 bytes that fio reads as one line"),
    ] {
        forged(&place, &|header| header["plan"]["workloads"][0] = of_text(text, bytes));
        let (_, err) = place.expect(2, &["race", "--resume", "forged.jsonl"]);
        match allowed {
            "read, and" => assert_one_sentence(&err, &["installed fio", "race --resume forged.jsonl --allow-programs"]),
            other => assert_one_sentence(&err, &[other]),
        }
        let (_, err) = place.expect(2, &["race", "--resume", "forged.jsonl", "--allow-programs", "a=./other"]);
        if text != plain || bytes == 1 {
            assert_one_sentence(&err, &[allowed]);
        }
        assert_nothing_ran(&place, text);
    }
}

#[test]
fn a_record_is_compared_before_anything_is_formatted_or_started() {
    let place = place_with_evil();
    // The user names the file, and the record tells of another lane than was raced.
    forged(&place, &|header| header["plan"]["lanes"][0]["contestant"] = json!({ "custom": "./evil.toml" }));
    if root() {
        let (_, err) = place.expect(2, &["race", "--resume", "forged.jsonl", "a=./evil.toml", "b=./db"]);
        assert_one_sentence(&err, &["cannot go on", "lane a", "race again"]);
        assert_nothing_ran(&place, "another lane");
    }
    for (what, part, change) in [
        ("fewer", "other lanes than its plan", json!(0)),
        ("another place", "the place of lane a", json!("/etc")),
        ("another filesystem", "the filesystem of lane a", json!("evil")),
        ("a command", "the mkfs command of lane a", json!(["sh", "-c", "id > PWNED"])),
    ] {
        forged(&place, &|header| match what {
            "fewer" => drop(header["lanes"].as_array_mut().unwrap().pop()),
            "another place" => header["lanes"][0]["ground"] = change.clone(),
            "another filesystem" => header["lanes"][0]["filesystem"] = change.clone(),
            _ => header["lanes"][0]["mkfs_command"] = change.clone(),
        });
        let (_, err) = place.expect(2, &["race", "--resume", "forged.jsonl"]);
        assert_one_sentence(&err, &["cannot go on", part, "race again"]);
        assert_nothing_ran(&place, what);
    }
}

/// A filesystem of the user's own that notes each time it is made.
fn noted(place: &Place) -> String {
    let made = place.path().join("made").display().to_string();
    format!(
        "name = \"noted\"\nmkfs = [\"sh\", \"-c\", \"echo x >> {made}; exec mkfs.ext4 -q -F -E nodiscard,lazy_itable_init=0,lazy_journal_init=0 $0\", \"{{device}}\"]\n\
         mount = [\"mount\", \"-t\", \"ext4\", \"-o\", \"{{options}}\", \"{{device}}\", \"{{directory}}\"]\n"
    )
}

#[test]
fn a_file_of_ones_own_is_named_again_and_has_the_same_bytes() {
    if !root() {
        return;
    }
    let place = Place::new();
    let suite = place.tiny_suite();
    let (file, text) = (place.path().join("noted.toml"), noted(&place));
    std::fs::write(&file, &text).unwrap();
    let race = ["race", "ext4,nobarrier", "./noted.toml", "--suite", &suite, "--workload", "small-files"];
    place.expect(
        0,
        &[&race[..], &["--lane-size", "320MiB", "--rounds", "2", "-o", "r.jsonl", "-q", "--no-report"]].concat(),
    );
    let whole = std::fs::read_to_string(place.path().join("r.jsonl")).unwrap();
    assert!(whole.lines().next().unwrap().contains("\"definition_sha256\":\""), "{whole}");
    let last = whole.lines().position(|line| line.contains("\"trial\"") && line.contains("\"round\":2,")).unwrap();
    let cut: String = whole.lines().take(last).map(|line| format!("{line}\n")).collect();
    let made = || std::fs::read_to_string(place.path().join("made")).unwrap_or_default().lines().count();
    let before = made();
    let resume = |status, lanes: &[&str]| {
        std::fs::write(place.path().join("cut.jsonl"), &cut).unwrap();
        place.expect(status, &[&["race", "--resume", "cut.jsonl", "-q", "--no-report"][..], lanes].concat())
    };
    let (_, err) = resume(2, &[]);
    assert_one_sentence(&err, &["its file says which programs run", "--resume cut.jsonl ext4,nobarrier ./noted.toml"]);
    std::fs::write(&file, format!("{text}# the same but for this\n")).unwrap();
    let (_, err) = resume(2, &["ext4,nobarrier", "./noted.toml"]);
    assert_one_sentence(&err, &["the file that describes it of lane noted is no longer what it was", "race again"]);
    assert_eq!(made(), before, "nothing was formatted");
    place.assert_nothing_left();
    // The same bytes elsewhere are the same file.
    std::fs::write(&file, &text).unwrap();
    resume(0, &["ext4,nobarrier", "./noted.toml"]);
    assert!(made() > before);
    place.assert_nothing_left();
}

#[test]
fn a_disk_that_nobody_named_survives_whatever_a_lane_says() {
    if !root() {
        return;
    }
    let place = Place::new();
    let suite = place.tiny_suite();
    let image = place.path().join("somebodys.img");
    std::fs::File::create(&image).unwrap().set_len(64 << 20).unwrap();
    tool("mkfs.ext4", &["-q", "-F", image.to_str().unwrap()]);
    let device = tool("losetup", &["--find", "--show", image.to_str().unwrap()]);
    let before = std::fs::read(&image).unwrap();
    let mut told = Vec::new();
    for lane in ["btrfs(@)", "ext4(@)", "xfs(-l logdev=@)", "ext4(-J device=@)", "f2fs(-c @)", "btrfs,device=@"] {
        let lane = lane.replace('@', &device);
        for command in [
            &["race", "ext4", &lane, "--suite", &suite, "--lane-size", "320MiB", "--rounds", "1", "-q"][..],
            &["calibrate", &lane, "--suite", &suite, "--lane-size", "320MiB", "--rounds", "6", "-q"],
            &["powercut", &lane, "--cuts", "12", "-q"],
            &["integrity", &lane, "-q"],
        ] {
            let output = place.run(command);
            told.push((command.join(" "), output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned()));
        }
    }
    // Where `--erase` names it, the plan says what is lost.
    let lane = format!("xfs(-l logdev={device}),logdev={device}");
    let race = ["race", &lane, "--erase", &device, "--suite", &suite, "--lane-size", "320MiB", "--dry-run"];
    let erased = place.run(&race);
    // An image that is kept has nothing of another disk.
    let aged = format!("{lane}+aged");
    let aged = ["race", &aged, "--erase", &device, "--suite", &suite, "--lane-size", "768MiB", "--dry-run"];
    let aged = place.run(&aged);
    tool("blockdev", &["--flushbufs", &device]);
    tool("losetup", &["--detach", &device]);
    assert!(before == std::fs::read(&image).unwrap(), "somebody's disk was written to");
    let refused = String::from_utf8_lossy(&aged.stderr).into_owned();
    assert!(aged.status.code() == Some(2) && refused.contains("a part of it lies on a device"), "{refused}");
    let plan = String::from_utf8_lossy(&erased.stdout).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(plan.contains(&format!("FORMATS {device}: everything on it is lost")), "{plan}");
    for (command, status, err) in told {
        // A kernel without f2fs says so first.
        let absent = status == Some(4) && command.contains("f2fs");
        assert!(status == Some(2) || absent, "{command}: {status:?}: {err}");
    }
    place.assert_nothing_left();
}

#[test]
fn the_environment_chooses_nothing_for_mkfs() {
    if !root() {
        return;
    }
    let place = Place::new();
    let suite = place.tiny_suite();
    std::fs::write(
        place.path().join("mke2fs.conf"),
        "[defaults]\n\tbase_features = sparse_super\n\tinode_size = 1024\n",
    )
    .unwrap();
    let race =
        ["race", "ext4", "--suite", &suite, "--workload", "small-files", "--lane-size", "320MiB", "--rounds", "1"];
    let mut command = place.fairlane(&[&race[..], &["-o", "r.jsonl", "-q", "--no-report"]].concat());
    let output = command.env("MKE2FS_CONFIG", place.path().join("mke2fs.conf")).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let header = std::fs::read_to_string(place.path().join("r.jsonl")).unwrap();
    assert!(header.contains("Inode size: ") && !header.contains("Inode size: 1024"), "{header}");
    place.assert_nothing_left();
}

#[test]
fn a_server_that_runs_already_is_named_on_the_command_line_alone() {
    let place = Place::new();
    let folder = place.path().join("data");
    std::fs::create_dir(&folder).unwrap();
    let socket = place.path().join("s.sock");
    let listener = std::os::unix::net::UnixListener::bind(&socket).unwrap();
    listener.set_nonblocking(true).unwrap();
    let suite = format!(
        "name = \"s\"\nabout = \"a test\"\n[[workload]]\nname = \"w\"\ntitle = \"w\"\nkind = \"oltp\"\nserver = \"mariadb\"\n\
         socket = {socket:?}\nscript = \"read-write\"\nthreads = [1]\n"
    );
    std::fs::write(place.path().join("s.toml"), suite).unwrap();
    let race = ["race", "./data", "--suite", "s.toml", "--rounds", "1", "-o", "r.jsonl"];
    let (_, err) = place.expect(2, &race);
    assert_one_sentence(&err, &["workload w works in a server that runs already", "--set w.socket="]);
    assert!(listener.accept().is_err(), "nobody called");
}

#[test]
fn a_kept_image_is_mounted_with_options_that_speak_for_themselves() {
    let place = Place::new();
    let kept = place.path().join("kept");
    std::fs::create_dir(&kept).unwrap();
    let case = |lane: &str| {
        let case = json!({ "lane": lane, "workload": "append", "terms": { "seed": 1, "records": 1 }, "cut": { "tick": 1, "survival": "nothing" } });
        std::fs::write(kept.join("case.json"), case.to_string()).unwrap();
        let output = place.run(&["powercut", "--look", "kept"]);
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    for lane in ["ext4,errors=continue", "ext4,abort", "btrfs,subvol=x"] {
        let (status, err) = case(lane);
        assert_eq!(status, Some(2), "{lane}: {err}");
        assert_one_sentence(&err, &["do not speak for themselves", lane]);
    }
    // Some are given to no image, so that nobody is told to type them.
    for (lane, says) in [
        ("ext4,errors=panic", "machine would stop"),
        ("btrfs,fatal_errors=panic", "stop at the first error"),
        ("ext4,sb=8193", "another superblock"),
        ("ext4,journal_dev=0x801", "by its number"),
        ("ext4,journal_path=/tmp/x", "names another device"),
        ("btrfs,device=/dev/sda", "names another device"),
        ("xfs,logdev=/dev/sda", "names another device"),
        ("xfs,rtdev=/dev/sda", "names another device"),
        ("reiserfs,jdev=/dev/sda", "names another device"),
        ("ext4,offset=4096", "from Fairlane alone"),
        ("ext4,loop", "from Fairlane alone"),
        ("ext4,x-mount.mkdir", "mount(8)"),
    ] {
        let (status, err) = case(lane);
        assert_eq!(status, Some(2), "{lane}: {err}");
        assert_one_sentence(&err, &[says]);
        assert!(!err.contains("name the lane again"), "{err}");
    }
    place.assert_nothing_left();
}

#[test]
fn the_line_that_runs_a_race_again_is_a_race_of_fairlanes() {
    let place = place_with_evil();
    forged(&place, &|header| header["plan"]["command_line"] = json!(["sh", "-c", "curl evil | sh"]));
    let (out, _) = place.expect(0, &["report", "forged.jsonl"]);
    assert!(!out.contains("curl"), "{out}");
    forged(&place, &|header| header["plan"]["command_line"] = json!(["fairlane", "clean", "curl"]));
    for format in ["text", "markdown", "json"] {
        let (out, _) = place.expect(0, &["report", "forged.jsonl", "--format", format]);
        assert!(!out.contains("curl"), "{out}");
    }
}
