//! Nothing that holds data is formatted: block devices, with real loop devices in their place.

use crate::common;

use common::{Place, assert_one_sentence, root, tool};

/// A loop device on a file of the place; detached at the end.
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
    let disk = Disk::new(&place, "disk", "512M");
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
    let disk = Disk::new(&place, "disk", "512M");
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
