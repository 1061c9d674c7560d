//! Nothing that holds data is formatted: block devices, with real loop devices in their place.

use crate::common;

use common::{Place, assert_one_sentence, root, tool};

/// A loop device on a file of the place; detached at the end. Of 512 MiB and more a race looks at the disk for seconds.
struct Disk {
    device: String,
}

impl Disk {
    fn new(place: &Place, name: &str, size: &str) -> Self {
        let file = place.path().join(name);
        tool("truncate", &["-s", size, file.to_str().unwrap()]);
        Disk { device: tool("losetup", &["-f", "--show", file.to_str().unwrap()]) }
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        tool("losetup", &["-d", &self.device]);
    }
}

#[test]
fn a_device_is_formatted_only_when_erase_names_it() {
    if !root() {
        return;
    }
    let place = Place::new();
    let suite = place.tiny_suite();
    let disk = Disk::new(&place, "disk", "384M");
    tool("mkfs.ext4", &["-q", &disk.device]);
    let before = tool("sha256sum", &[&disk.device]);
    let lane = format!("xfs@{}", disk.device);
    for arguments in [
        vec!["race", lane.as_str(), "--suite", &suite, "--rounds", "1"],
        vec!["race", "xfs", "--on", &disk.device, "--suite", &suite, "--rounds", "1"],
    ] {
        let (_, err) = place.expect(2, &arguments);
        assert_one_sentence(&err, &[&disk.device, "ext", "--erase"]);
    }
    assert_eq!(tool("sha256sum", &[&disk.device]), before, "not a byte was touched");

    let raced = [
        "race",
        "ext4",
        "xfs",
        "--on",
        &disk.device,
        "--erase",
        &disk.device,
        "--suite",
        &suite,
        "--rounds",
        "2",
        "-o",
        "r.jsonl",
    ];
    place.expect(0, &raced);
    let (json, _) = place.expect(0, &["report", "r.jsonl", "--format", "json"]);
    assert!(json.contains("\"venue\": \"device\""), "{json}");
    drop(disk);
    place.assert_nothing_left();
}

#[test]
fn a_device_in_use_is_refused_always() {
    if !root() {
        return;
    }
    let place = Place::new();
    let suite = place.tiny_suite();
    let disk = Disk::new(&place, "disk", "384M");
    let attempt = || {
        let lane = format!("xfs@{}", disk.device);
        place.expect(2, &["race", &lane, "--erase", &disk.device, "--suite", &suite, "--rounds", "1"]).1
    };
    // Mounted.
    tool("mkfs.ext4", &["-q", &disk.device]);
    let folder = place.path().join("m");
    std::fs::create_dir(&folder).unwrap();
    tool("mount", &[&disk.device, folder.to_str().unwrap()]);
    let err = attempt();
    tool("umount", &[folder.to_str().unwrap()]);
    assert_one_sentence(&err, &[&disk.device, "mounted"]);
    // Swap.
    tool("mkswap", &[&disk.device]);
    tool("swapon", &[&disk.device]);
    let err = attempt();
    tool("swapoff", &[&disk.device]);
    assert_one_sentence(&err, &[&disk.device, "swap"]);
    // Opened exclusively by somebody.
    {
        use std::os::unix::fs::OpenOptionsExt;
        let held = std::fs::OpenOptions::new().read(true).custom_flags(libc_o_excl()).open(&disk.device).unwrap();
        let err = attempt();
        assert_one_sentence(&err, &[&disk.device, "in use"]);
        drop(held);
    }
    // Not a device at all, and one that is not there.
    let (_, err) = place.expect(2, &["race", "xfs@/dev/null", "--erase", "/dev/null", "--suite", &suite]);
    assert_one_sentence(&err, &["/dev/null"]);
    let (_, err) = place.expect(2, &["race", "xfs@/dev/nosuch", "--erase", "/dev/nosuch", "--suite", &suite]);
    assert_one_sentence(&err, &["/dev/nosuch"]);
    drop(disk);
    place.assert_nothing_left();
}

#[test]
fn the_disk_that_carries_this_system_is_refused() {
    if !root() {
        return;
    }
    let place = Place::new();
    let source = tool("findmnt", &["-n", "-o", "SOURCE", "/"]);
    if !source.starts_with("/dev/") {
        eprintln!("skipped: the root filesystem here has no block device");
        return;
    }
    let (_, err) = place.expect(2, &["race", &format!("xfs@{source}"), "--erase", &source]);
    assert_one_sentence(&err, &[&source, "mounted"]);
}

fn libc_o_excl() -> i32 {
    rustix::fs::OFlags::EXCL.bits() as i32
}

/// Lanes take as many of the disks as they stand on, in turns, and each disk has to be given up by name.
#[test]
fn lanes_on_several_disks_take_turns_on_disks_that_were_named() {
    if !root() {
        return;
    }
    let place = Place::new();
    let suite = place.tiny_suite();
    let disks = ["one", "two", "three"].map(|name| Disk::new(&place, name, "384M"));
    let [one, two, three] = [0, 1, 2].map(|disk: usize| disks[disk].device.as_str());
    tool("mkfs.ext4", &["-q", two]);
    let sums = || disks.each_ref().map(|disk| tool("sha256sum", &[&disk.device]));
    let before = sums();
    let (both, all) = (format!("{one},{two}"), format!("{one},{two},{three}"));
    let mirror = "mirror=btrfs:2(-d raid1 -m raid1)";
    let terms = ["--suite", &suite, "--rounds", "2", "-o", "r.jsonl"];
    for (race, says) in [
        (vec!["ext4", mirror, "--disks", &both], vec![one, "--erase"]),
        (vec!["ext4", mirror, "--disks", &both, "--erase", one], vec![two, "ext", "--erase"]),
        (vec!["ext4", mirror, "--disks", &all, "--erase", one, "--erase", two], vec!["no lane stands on", three]),
        (vec!["ext4", mirror, "--disks", one, "--erase", one], vec!["lane mirror", "stands on 2 disks", "--disks"]),
        (vec!["ext4", "btrfs:3", "--disks", &both, "--erase", one, "--erase", two], vec!["3 disks", "names 2"]),
        (vec!["ext4", "xfs", "--disks", "/dev/null,/dev/null"], vec!["no block device", "--disks"]),
    ] {
        let (_, err) = place.expect(2, &[&["race"][..], &race, &terms].concat());
        assert_one_sentence(&err, &says);
    }
    let (empty, spaced) = (format!("{one},,{two}"), format!("{one}, {two}"));
    let (_, err) = place.expect(2, &["race", mirror, "xfs", "--disks", &empty]);
    assert!(err.contains("a name is empty"), "{err}");
    let (_, err) = place.expect(2, &["race", mirror, "xfs", "--disks", &spaced, "--suite", &suite]);
    assert_one_sentence(&err, &[one, "--erase"]);
    let (_, err) = place.expect(2, &["race", "ext4", "xfs", "--disks", &format!("{one},{one}"), "--suite", &suite]);
    assert_one_sentence(&err, &["one device", "once"]);
    let twice = format!("{one},{one}");
    let (_, err) = place.expect(2, &["race", mirror, "xfs", "--disks", &twice, "--erase", one]);
    assert_one_sentence(&err, &["one device", "once"]);
    assert_eq!(sums(), before, "not a byte was touched");

    let race = ["race", "ext4", mirror, "xfs", "--disks", &both, "--erase", one, "--erase", two];
    let (dry, _) = place.expect(0, &[&race[..], &terms, &["--dry-run"]].concat());
    assert!(dry.contains(&format!("mkfs.btrfs -f -K -d raid1 -m raid1 {one} {two}")), "{dry}");
    assert_eq!(dry.matches(&format!("overwrite {one} ")).count(), 1, "{dry}");
    let words = dry.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(dry.contains(&format!("overwrite {two}")) && words.contains("everything on them is lost"), "{dry}");
    assert_eq!(sums(), before, "not a byte was touched");
    let (out, _) = place.expect(0, &[&race[..], &terms].concat());
    // These two are files on one disk, as partitions would be.
    assert!(out.split_whitespace().collect::<Vec<_>>().join(" ").contains("lie on one disk"), "{out}");
    let record = place.record();
    let lanes = record[0]["lanes"].as_array().unwrap();
    for lane in lanes {
        assert_eq!((&lane["venue"], &lane["ground"]), (&"device".into(), &format!("{one}, {two}").into()), "{lane:#}");
    }
    assert_eq!(lanes[1]["disks"], 2);
    for trial in record.iter().filter(|line| line["kind"] == "trial") {
        let (disks, mirror) = (&trial["system"]["disks"], trial["lane"] == "mirror");
        assert_eq!(disks.as_array().map(Vec::len), mirror.then_some(2), "{trial:#}");
        assert_eq!(trial["system"]["neighbours"]["writes"].as_u64().unwrap_or(0), 0, "{trial:#}");
    }
    // Beside the disk of the lanes on one each of the mirror's was measured alone.
    let of_disks = record.iter().filter(|line| line["kind"] == "probe" && line["profile"] != "null");
    let probed: std::collections::BTreeSet<Option<u64>> = of_disks.map(|line| line["disk"].as_u64()).collect();
    assert_eq!(probed.into_iter().collect::<Vec<_>>(), [None, Some(1), Some(2)]);
    let again = record[0]["plan"]["command_line"].as_array().unwrap();
    let at = again.iter().position(|word| word == "--disks").expect("the disks are part of the line");
    assert_eq!(again[at + 1], both.as_str());
    assert_eq!(tool("sha256sum", &[three]), before[2], "not a byte was touched");
    let machine = &record[0]["machine"];
    assert!(machine["further_disks"].is_null(), "one disk carries both files: {machine:#}");

    drop(disks);
    place.assert_nothing_left();
}

/// A mirror that lacks its last disk writes to the first alone, whatever the kernel still knows of both.
#[test]
fn a_disk_of_several_is_taken_out_and_what_goes_with_no_disks_is_refused() {
    if !root() {
        return;
    }
    let place = Place::new();
    let suite = place.tiny_suite();
    let disks = ["one", "two"].map(|name| Disk::new(&place, name, "384M"));
    let [one, two] = disks.each_ref().map(|disk| disk.device.as_str());
    let both = format!("{one},{two}");
    let mirror = "mirror=btrfs:2(-d raid1 -m raid1)";
    let gone = "gone=btrfs:2(-d raid1 -m raid1),degraded";
    let race = ["race", mirror, gone, "--disks", &both, "--erase", one, "--erase", two, "--suite", &suite];
    place.expect(0, &[&race[..], &["--rounds", "1", "-o", "degraded.jsonl"]].concat());
    let text = std::fs::read_to_string(place.path().join("degraded.jsonl")).unwrap();
    let lines = text.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
    let trials: Vec<_> = lines.filter(|line| line["kind"] == "trial" && line["outcome"] == "ok").collect();
    assert!(trials.iter().any(|trial| trial["lane"] == "gone"), "{trials:#?}");
    for trial in trials {
        let written = |disk: usize| trial["system"]["disks"][disk]["write_bytes"].as_u64().unwrap();
        match trial["lane"].as_str() {
            Some("gone") => assert_eq!(written(1), 0, "{trial:#}"),
            _ => assert_eq!(written(0) > 0, written(1) > 0, "{trial:#}"),
        }
    }
    let (_, err) = place.expect(2, &[&["race", mirror, "xfs", "--state", "rebuilding"], &race[3..]].concat());
    assert_one_sentence(&err, &["--state rebuilding takes a disk out", "leave --state out"]);
    let back = "back=btrfs:2(-d raid1 -m raid1),rebuilding";
    let (_, err) =
        place.expect(2, &["race", mirror, back, "--throttle", "500iops", "--suite", &suite, "--lane-size", "256MiB"]);
    assert_one_sentence(&err, &["lane back rebuilds", "without --throttle"]);
    let named = format!("xfs@{two}");
    let (_, err) = place.expect(2, &[&["race", mirror, &named, "--disks", &both], &race[5..]].concat());
    assert_one_sentence(&err, &[two, "one of --disks", "remove what follows the @"]);
    drop(disks);
    place.assert_nothing_left();
}
