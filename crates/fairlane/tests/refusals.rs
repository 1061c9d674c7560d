//! Bad input: one clear sentence with the remedy, the documented exit status, and nothing lost.

use crate::common;

use common::{Place, assert_one_sentence, root, tool};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};

#[test]
fn wrong_options_are_refused_with_status_2() {
    let place = Place::new();
    for (arguments, says) in [
        (vec!["race", "--sideways"], vec!["--sideways"]),
        (vec!["race", "ext5"], vec!["ext5", "ext4"]),
        (vec!["race", "ext4,,noatime"], vec!["empty option"]),
        (vec!["race", "ext4", "ext4"], vec!["two lanes", "NAME=ext4"]),
        (vec!["race", "ext4", "--suite", "nosuch"], vec!["nosuch", "quick"]),
        (vec!["race", "ext4", "--workload", "nosuch"], vec!["nosuch", "commit"]),
        (vec!["race", "ext4", "--set", "commit.nosuch=1"], vec!["nosuch", "bs"]),
        (vec!["race", "ext4", "--set", "commit.bs=0"], vec!["bs"]),
        (
            vec!["race", "ext4", "--set", "small-files.count=many"],
            vec!["small-files.count=many", "write a whole number from 0 on"],
        ),
        (vec!["race", "ext4", "--lane-size", "lots"], vec!["lots", "2GiB"]),
        (vec!["race", "ext4", "--budget", "soon"], vec!["soon", "10m"]),
        (vec!["race", "ext4", "--budget", "2"], vec!["`2` has no unit", "2s, 2m or 2h"]),
        (vec!["race", "ext4", "--rounds", "0"], vec!["rounds"]),
        (vec!["race", "ext4", "--margin", "150%"], vec!["percent"]),
        (vec!["race", "ext4", "r=rsext4"], vec!["workload log", "lane r is a library", "--suite operations"]),
        (vec!["race", "ext4", "--on", "library"], vec!["--on library", "rsext4"]),
        (vec!["race", "ext4@umll", "xfs"], vec!["there is no venue `umll`", "did you mean uml?"]),
        (vec!["race", ".", "--on", "uml"], vec!["--on uml has no effect", "a directory"]),
        (vec!["race", "/no/such/folder"], vec!["/no/such/folder"]),
        (vec!["race", "ext4", "--on", "/no/such/folder"], vec!["/no/such/folder"]),
        (vec!["race", "./nosuch.toml"], vec!["nosuch.toml"]),
        (vec!["report", "nosuch.jsonl"], vec!["nosuch.jsonl", "fairlane records"]),
        (vec!["report", "last"], vec!["fairlane race"]),
        (vec!["report", "last~x"], vec!["last~x"]),
        (vec!["race", "--resume", "nosuch.jsonl"], vec!["nosuch.jsonl"]),
        (vec!["suites", "nosuch"], vec!["nosuch", "quick"]),
    ] {
        let (_, err) = place.expect(2, &arguments);
        assert_one_sentence(&err, &says);
    }
    place.assert_nothing_left();
}

#[test]
fn a_suite_file_with_a_mistake_is_refused_with_its_line() {
    let place = Place::new();
    std::fs::write(place.path().join("s.toml"), common::TINY.replace("iodepth = 8", "iodepth = \"deep\"")).unwrap();
    let (_, err) = place.expect(2, &["race", "ext4", "--suite", "s.toml"]);
    assert_one_sentence(&err, &["s.toml:26: workload random-read: `iodepth` is the text \"deep\"", "a whole number"]);
    let operations = "name = \"s\"\nabout = \"a test\"\n[[workload]]\nname = \"w\"\ntitle = \"w\"\nkind = \"operations\"\n\
                      files = [{ name = \"spool\", count = 3 }]\nstep = [\n  { operation = \"creat\", files = \"spol\" },\n]\n";
    for (text, says) in [
        (operations.to_owned(), ["s.toml:9: workload w, step 1", "did you mean \"create\"?"]),
        (operations.replace("creat", "create"), ["s.toml:9: workload w: step create", "(did you mean \"spool\"?)"]),
    ] {
        std::fs::write(place.path().join("s.toml"), text).unwrap();
        let (_, err) = place.expect(2, &["race", "ext4", "--suite", "s.toml"]);
        assert_one_sentence(&err, &says);
    }
    std::fs::write(place.path().join("s.toml"), "name = \"x\"\nabout = \"y\"\nworkload = []\n").unwrap();
    let (_, err) = place.expect(2, &["race", "ext4", "--suite", "s.toml"]);
    assert_one_sentence(&err, &["no workload"]);
}

#[test]
fn damaged_and_newer_records_are_refused_and_a_torn_end_is_forgiven() {
    let place = Place::new();
    let record = include_str!("fixtures/schema1.jsonl");
    let write = |text: &str| std::fs::write(place.path().join("r.jsonl"), text).unwrap();
    write(record);
    place.expect(0, &["report", "r.jsonl"]);
    // A crash in the middle of a write: the whole lines count.
    write(&record[..record.len() * 2 / 3]);
    let (out, _) = place.expect(0, &["report", "r.jsonl"]);
    assert!(out.contains("incomplete"), "{out}");
    write(&record.replacen("\"schema\":1", "\"schema\":99", 1));
    let (_, err) = place.expect(2, &["report", "r.jsonl"]);
    assert_one_sentence(&err, &["schema 99", "update Fairlane"]);
    write("");
    let (_, err) = place.expect(2, &["report", "r.jsonl"]);
    assert_one_sentence(&err, &["this record is empty"]);
    let mut lines: Vec<&str> = record.lines().collect();
    lines[2] = "{\"kind\":\"trial\",";
    write(&(lines.join("\n") + "\n"));
    let (_, err) = place.expect(2, &["report", "r.jsonl"]);
    assert_one_sentence(&err, &["line 3", "damaged", "head -n 2"]);
    // A kind of the future is passed over.
    lines[2] = "{\"kind\":\"hologram\",\"x\":1}";
    write(&(lines.join("\n") + "\n"));
    place.expect(0, &["report", "r.jsonl"]);
}

#[test]
fn what_cannot_lie_above_a_filesystem_is_refused_before_anything_is_made() {
    if !root() {
        return;
    }
    let place = Place::new();
    let suite = place.tiny_suite();
    for (line, says) in [
        (vec!["overlay"], vec!["lies above a filesystem", "overlay(ext4/raid1:2)"]),
        (vec!["overlay(ext4),lowerdir=/etc"], vec!["no option `lowerdir=/etc`", "it takes metacopy=on|off"]),
        (vec!["overlay(ext4)/raid1:2"], vec!["with all that it stands on: overlay(ext4/raid1:2)"]),
        (vec!["nfs(ext4)"], vec!["the whole machine's", "--on"]),
        (vec!["overlay(rsext4)"], vec!["a library inside the agent"]),
        (vec!["overlay(exfat)"], vec!["overlay cannot lie above exfat", "take another filesystem"]),
        (vec!["fscrypt(xfs)"], vec!["fscrypt cannot lie above xfs, which does not encrypt files; take ext4 or f2fs"]),
        (vec!["fscrypt(ext4),cipher=rot13"], vec!["fscrypt does not take `cipher=rot13`"]),
        (vec!["overlay(/srv)"], vec!["nothing above a directory"]),
    ] {
        let (_, err) = place.expect(2, &[&["race"], &line[..], &["--lane-size", "320MiB", "--suite", &suite]].concat());
        assert_one_sentence(&err, &says);
    }
    let (_, err) = place.expect(2, &["powercut", "overlay(ext4)"]);
    assert_one_sentence(&err, &["works through overlay", "leave it out"]);
    place.assert_nothing_left();
}

#[test]
fn a_lane_size_that_is_proposed_is_taken() {
    if !root() {
        return;
    }
    let place = Place::new();
    let suite = place.tiny_suite();
    let of = |size: &str| -> Vec<String> {
        let set = ["--workload", "random-read", "--set", "random-read.size=585004KiB", "--dry-run"];
        let race = ["race", "ext4", "--suite", &suite, "--lane-size", size];
        race.iter().chain(&set).map(|&word| word.to_owned()).collect()
    };
    let run = |status, size: &str| {
        let words = of(size);
        place.expect(status, &words.iter().map(String::as_str).collect::<Vec<_>>())
    };
    let (_, err) = run(2, "320MiB");
    assert_one_sentence(&err, &["raise --lane-size to "]);
    let proposed = err.split("raise --lane-size to ").nth(1).unwrap().split(" or more").next().unwrap();
    run(0, proposed);
    // As somebody types what a report says of a size.
    run(0, "1.2 GiB");
    let (_, err) = place.expect(2, &["powercut", "ext4", "--lane-size", "1.14 GiB"]);
    assert_one_sentence(&err, &["no whole number of MiB; take 1168MiB"]);
}

#[test]
fn a_comparison_says_what_it_lacks() {
    let place = Place::new();
    std::fs::write(place.path().join("r.jsonl"), include_str!("fixtures/schema1.jsonl")).unwrap();
    std::os::unix::fs::symlink("r.jsonl", place.path().join("link.jsonl")).unwrap();
    for (arguments, says) in [
        (&["compare"][..], &["fairlane compare last~1 last", "--baseline", "--candidate", "--fail-if-slower"][..]),
        (&["compare", "r.jsonl"], &["r.jsonl is one record", "last~1", "published:NAME"]),
        (&["compare", "r.jsonl", "r.jsonl"], &["one and the same record"]),
        (&["compare", "r.jsonl", "link.jsonl", "--format", "json"], &["one and the same record"]),
        (&["compare", "r.jsonl", "link.jsonl", "--format", "pdf"], &["choose one of text, markdown, csv, json"]),
    ] {
        let (out, err) = place.expect(2, arguments);
        assert_one_sentence(&err, says);
        assert!(!err.contains("junit"), "{err}");
        assert_eq!(out, "", "{arguments:?}");
    }
    let (_, err) = place.expect(2, &["report", "r.jsonl", "--format", "fio"]);
    assert_one_sentence(&err, &["html, fio-json"]);
    assert!(!err.contains("junit"), "{err}");
}

#[test]
fn what_is_no_record_is_refused_alike_by_everybody_who_reads_records() {
    let place = Place::new();
    let good = include_str!("fixtures/schema1.jsonl");
    std::fs::write(place.path().join("good.jsonl"), good).unwrap();
    let durability = "{\"kind\":\"durability\",\"schema\":1}\n";
    for (name, bytes) in [
        ("empty.jsonl", &b""[..]),
        ("noise.jsonl", b"\x00\xff\xfe noise\n\x80"),
        ("text.jsonl", b"# a list\n"),
        ("half.jsonl", b"{\"kind\":\"header\",\"schema\":1"),
        ("cuts.jsonl", durability.as_bytes()),
    ] {
        std::fs::write(place.path().join(name), bytes).unwrap();
        let gate = ["compare", "--baseline", name, "--candidate", "good.jsonl", "--fail-if-slower", "5%"];
        for arguments in [
            &["report", name][..],
            &["report", name, "--format", "json"],
            &["compare", "good.jsonl", name],
            &["compare", name, "published:openeuler-2203"],
            &gate,
            &["advise", name],
            &["race", "--resume", name],
        ] {
            let (out, err) = place.expect(2, arguments);
            assert_one_sentence(&err, &[name]);
            assert_eq!(out, "", "{arguments:?}");
        }
    }
}

#[test]
fn a_record_of_another_machine_is_not_resumed() {
    let place = Place::new();
    let record = include_str!("fixtures/schema1.jsonl");
    let unfinished: Vec<&str> = record.lines().filter(|line| !line.contains("\"kind\":\"end\"")).collect();
    let text = unfinished.join("\n") + "\n";
    std::fs::write(place.path().join("r.jsonl"), &text).unwrap();
    let (_, err) = place.expect(2, &["race", "--resume", "r.jsonl"]);
    assert_one_sentence(&err, &["r.jsonl", "race again"]);
    assert_eq!(std::fs::read_to_string(place.path().join("r.jsonl")).unwrap(), text, "it is not touched");
}

#[test]
fn an_existing_record_is_never_overwritten() {
    if !root() {
        return;
    }
    let place = Place::new();
    let suite = place.tiny_suite();
    std::fs::write(place.path().join("r.jsonl"), "precious").unwrap();
    let (_, err) = place
        .expect(2, &["race", "ext4", "--suite", &suite, "--lane-size", "320MiB", "--rounds", "1", "-o", "r.jsonl"]);
    assert_one_sentence(&err, &["r.jsonl", "-o"]);
    assert_eq!(std::fs::read_to_string(place.path().join("r.jsonl")).unwrap(), "precious");
    place.assert_nothing_left();
}

#[test]
fn lanes_that_cannot_be_made_are_refused_before_anything_is_raced() {
    if !root() {
        return;
    }
    let place = Place::new();
    let suite = place.tiny_suite();
    let small = ["--suite", &suite, "--rounds", "1", "--lane-size", "320MiB"];
    for (status, lane, says) in [
        (2, "ext4,sideways=1", "sideways"),
        (2, "xfs,nobarrier", "nobarrier"),
        (2, "ext4,-Onosuchfeature", "nosuchfeature; correct the lane's options of mkfs.ext4"),
    ] {
        let arguments: Vec<&str> = ["race", lane].into_iter().chain(small).collect();
        let (_, err) = place.expect(status, &arguments);
        assert_one_sentence(&err, &[says]);
        place.assert_nothing_left();
        assert!(place.run(&["records"]).stdout.starts_with(b"no record"), "nothing was measured, so nothing is kept");
    }
    let (_, err) = place.expect(2, &["race", "ext4", "--suite", &suite, "--lane-size", "16MiB"]);
    assert_one_sentence(&err, &["--lane-size"]);
    let (_, err) = place.expect(2, &["race", "ext4", "--suite", &suite, "--lane-size", "60MiB"]);
    assert_one_sentence(&err, &["--lane-size"]);
    let (_, err) = place.expect(1, &["race", "ext4", "--suite", &suite, "--lane-size", "900TiB"]);
    assert_one_sentence(&err, &["free"]);
    place.assert_nothing_left();
}

#[test]
fn a_missing_tool_names_what_supplies_it_with_status_4() {
    if !root() {
        return;
    }
    let place = Place::new();
    let suite = place.tiny_suite();
    std::fs::write(
        place.path().join("my.toml"),
        "name = \"my\"\nkind = \"kernel\"\nmkfs = [\"mkfs.nosuchfs\", \"{device}\"]\nmount = [\"mount\", \"{device}\", \"{directory}\"]\nunmount = [\"umount\", \"{directory}\"]\n\n[promises]\njournal = true\ndata_checksums = false\nfsync_reaches_stable_storage = true\nbarriers = true\n",
    )
    .unwrap();
    let (_, err) = place.expect(4, &["race", "./my.toml", "--suite", &suite, "--lane-size", "320MiB"]);
    assert_one_sentence(&err, &["mkfs.nosuchfs"]);
    place.assert_nothing_left();
}

#[test]
fn hosts_that_cannot_carry_images_are_refused_by_name() {
    if !root() {
        return;
    }
    let place = Place::new();
    let suite = place.tiny_suite();
    let host = place.path().join("host");
    std::fs::create_dir(&host).unwrap();
    tool("mount", &["-t", "tmpfs", "tmpfs", host.to_str().unwrap()]);
    let arguments = ["race", "ext4", "--suite", &suite, "--lane-size", "320MiB", "--on", "host"];
    let output = place.run(&arguments);
    tool("umount", &[host.to_str().unwrap()]);
    let err = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{err}");
    assert_one_sentence(&err, &["tmpfs", "--on"]);

    let (lower, upper, work) = (place.path().join("l"), place.path().join("u"), place.path().join("w"));
    for folder in [&lower, &upper, &work] {
        std::fs::create_dir(folder).unwrap();
    }
    let options = format!("lowerdir={},upperdir={},workdir={}", lower.display(), upper.display(), work.display());
    tool("mount", &["-t", "overlay", "overlay", "-o", &options, host.to_str().unwrap()]);
    let output = place.run(&arguments);
    tool("umount", &[host.to_str().unwrap()]);
    let err = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{err}");
    assert_one_sentence(&err, &["overlay", "--on"]);

    tool("mount", &["-t", "tmpfs", "-o", "ro", "tmpfs", host.to_str().unwrap()]);
    let output = place.run(&["race", host.to_str().unwrap(), "--suite", &suite]);
    let images = place.run(&arguments);
    tool("umount", &[host.to_str().unwrap()]);
    for output in [output, images] {
        let err = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{err}");
        assert_one_sentence(&err, &["host"]);
    }
    place.assert_nothing_left();
}

#[test]
fn a_full_disk_under_the_record_ends_the_race_and_loses_nothing() {
    if !root() {
        return;
    }
    let place = Place::new();
    let suite = place.tiny_suite();
    let full = place.path().join("full");
    std::fs::create_dir(&full).unwrap();
    // Room for the header, the ceilings and a first workload.
    tool("mount", &["-t", "tmpfs", "-o", "size=32k", "tmpfs", full.to_str().unwrap()]);
    let output = place.run(&[
        "race",
        "ext4",
        "xfs",
        "--suite",
        &suite,
        "--lane-size",
        "320MiB",
        "--rounds",
        "6",
        "-o",
        "full/r.jsonl",
    ]);
    let text = std::fs::read_to_string(full.join("r.jsonl")).unwrap_or_default();
    tool("umount", &[full.to_str().unwrap()]);
    let err = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{err}");
    assert!(err.contains("full/r.jsonl") && err.contains("--resume"), "{err}");
    assert!(text.starts_with("{\"kind\":\"header\""), "what was written before stays: {text:.300}\n{err}");
    place.assert_nothing_left();
}

#[test]
fn a_disk_that_is_full_from_the_start_leaves_no_record_and_a_remedy_that_works() {
    if !root() {
        return;
    }
    let place = Place::new();
    let suite = place.tiny_suite();
    let full = place.path().join("full");
    std::fs::create_dir(&full).unwrap();
    tool("mount", &["-t", "tmpfs", "-o", "size=16k", "tmpfs", full.to_str().unwrap()]);
    std::fs::write(full.join("filler"), [1; 16 << 10]).unwrap();
    let race = ["race", "ext4", "--suite", &suite, "--workload", "commit", "--lane-size", "320MiB", "--rounds", "1"];
    let powercut = ["powercut", "ext4", "--cuts", "12", "--workload", "append", "--no-speed"];
    let integrity = ["integrity", "ext4"];
    let mut told = Vec::new();
    for arguments in [&race[..], &powercut, &integrity] {
        let output = place.run(&[arguments, &["-q", "-o", "full/r.jsonl"]].concat());
        let left = full.join("r.jsonl").exists();
        told.push((output.status.code(), left, String::from_utf8_lossy(&output.stderr).into_owned()));
    }
    tool("umount", &[full.to_str().unwrap()]);
    for (status, left, err) in told {
        assert_eq!((status, left), (Some(1), false), "{err}");
        assert_one_sentence(&err, &["full/r.jsonl", "No space left", "free some space or name another place with -o"]);
        assert!(!err.contains("--resume"), "{err}");
    }
    place.assert_nothing_left();
}

#[test]
fn without_root_images_are_refused_with_status_4_and_directories_are_raced() {
    if !root() {
        return;
    }
    let place = Place::new();
    let suite = place.tiny_suite();
    std::fs::set_permissions(place.path(), PermissionsExt::from_mode(0o755)).unwrap();
    let home = place.path().join("home");
    std::fs::create_dir(&home).unwrap();
    std::os::unix::fs::chown(&home, Some(65534), Some(65534)).unwrap();
    // The build folder may be closed to other users: nobody runs a copy.
    let program = place.path().join("fairlane");
    std::fs::copy(env!("CARGO_BIN_EXE_fairlane"), &program).unwrap();
    let run = |arguments: &[&str]| {
        Command::new(&program)
            .args(arguments)
            .current_dir(&home)
            .env("HOME", &home)
            .env_remove("XDG_STATE_HOME")
            .env_remove("FAIRLANE_UNDO_DIR")
            .env_remove("SUDO_UID")
            .stdin(Stdio::null())
            .uid(65534)
            .gid(65534)
            .output()
            .expect("it runs")
    };
    // Without a venue they would race in a guest, where there is one.
    let refused = run(&["race", "ext4@image", "xfs@image"]);
    let err = String::from_utf8_lossy(&refused.stderr);
    assert_eq!(refused.status.code(), Some(4), "{err}");
    assert_one_sentence(&err, &["root", "sudo"]);

    let lane = home.join("lane");
    std::fs::create_dir(&lane).unwrap();
    std::os::unix::fs::chown(&lane, Some(65534), Some(65534)).unwrap();
    let raced = run(&["race", "./lane", "--suite", &suite, "--rounds", "2"]);
    let err = String::from_utf8_lossy(&raced.stderr);
    assert_eq!(raced.status.code(), Some(0), "{err}{}", String::from_utf8_lossy(&raced.stdout));
    assert_eq!(std::fs::read_dir(&lane).unwrap().count(), 0, "nothing stays in a directory lane");
    assert!(home.join(".local/state/fairlane/runs").is_dir());
    place.assert_nothing_left();
}
