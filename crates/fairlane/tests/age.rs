//! `fairlane age`: lives in folders and on real filesystems, stopped, killed, gone on with and removed.

use crate::common;
use crate::home::Home;

use common::{Place, assert_one_sentence, root, tool};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use std::collections::BTreeMap;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

/// Names and sizes below a folder, but for what a life keeps of itself; folders have no size.
fn tree(folder: &Path) -> BTreeMap<PathBuf, Option<u64>> {
    let mut found = BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(at) = folders.pop() {
        for entry in std::fs::read_dir(&at).expect("a folder").flatten() {
            let of = entry.metadata().expect("metadata");
            if entry.file_name().to_string_lossy().starts_with(".fairlane") {
                continue;
            }
            if of.is_dir() {
                folders.push(entry.path());
            }
            let name = entry.path().strip_prefix(folder).expect("below").to_owned();
            found.insert(name, (!of.is_dir()).then_some(of.len()));
        }
    }
    found
}

fn json(out: &str) -> Value {
    serde_json::from_str(out).unwrap_or_else(|error| panic!("{error}:\n{out}"))
}

/// A place with a folder `disk` to age in.
fn place() -> (Place, PathBuf) {
    let place = Place::new();
    let disk = place.path().join("disk");
    std::fs::create_dir(&disk).expect("a folder");
    (place, disk)
}

const SMALL: [&str; 6] = ["age", "disk", "--size", "24MiB", "--until", "2x"];

fn with<'a>(more: &[&'a str]) -> Vec<&'a str> {
    SMALL.iter().copied().chain(more.iter().copied()).collect()
}

#[test]
fn a_life_tells_what_it_writes_before_it_does_and_how_old_it_made_the_folder() {
    let (place, disk) = place();
    let (plan, _) = place.expect(0, &with(&["--dry-run"]));
    for part in ["profile churn, seed 1", "24 MiB", "will write", "afterwards", "wears the disk"] {
        assert!(plan.contains(part), "`{part}` is missing in:\n{plan}");
    }
    assert_eq!(std::fs::read_dir(&disk).unwrap().count(), 0, "a dry run writes nothing");
    let (out, err) = place.expect(0, &SMALL);
    assert!(out.starts_with(&plan), "the plan comes first:\n{out}");
    assert_eq!(err, "", "no progress where no terminal is");
    for part in
        ["overwritten      2.", "ended by         the overwrites", "extents per file", "layout score", "cold reading"]
    {
        assert!(out.contains(part), "`{part}` is missing in:\n{out}");
    }
    assert!(out.contains("files that differ from the life's  0\n"), "{out}");
    let aged = tree(&disk.join("fairlane-aged"));
    assert!(aged.len() > 50, "{}", aged.len());
    let (out, err) = place.expect(0, &["age", "disk", "--look", "--format", "json"]);
    let told = json(&out);
    assert_eq!(err, "");
    let files = aged.values().flatten().count() as u64;
    assert_eq!(told["measures"]["files"].as_u64(), Some(files));
    assert_eq!(told["measures"]["differing_files"].as_u64(), Some(0));
    assert_eq!(told["beside_fresh"]["fresh"]["files"].as_u64(), Some(files), "{out}");
    assert_eq!(tree(&disk.join("fairlane-aged")), aged, "looking changes nothing");
    let (out, _) = place.expect(0, &["age", "disk", "--remove"]);
    assert!(out.starts_with("removed ") && std::fs::read_dir(&disk).unwrap().count() == 0, "{out}");
    let (_, err) = place.expect(2, &["age", "disk", "--remove"]);
    assert_one_sentence(&err, &["nothing to remove"]);
}

#[test]
fn what_fairlane_did_not_make_is_refused_and_stays() {
    let (place, disk) = place();
    let mine = place.path().join("mine");
    std::fs::create_dir(&mine).unwrap();
    std::fs::write(mine.join("letter"), "dear").unwrap();
    let aged = disk.join("fairlane-aged");
    let refused = |says: &str| {
        for arguments in [&SMALL[..], &["age", "disk", "--remove"], &["age", "disk", "--look"]] {
            let (_, err) = place.expect(2, arguments);
            assert_one_sentence(&err, &[says, "remove it, or name another folder"]);
        }
        assert_eq!(std::fs::read_to_string(mine.join("letter")).unwrap(), "dear");
    };
    symlink(&mine, &aged).unwrap();
    refused("is a link or a file");
    std::fs::remove_file(&aged).unwrap();
    std::fs::write(&aged, "x").unwrap();
    refused("is a link or a file");
    std::fs::remove_file(&aged).unwrap();
    std::fs::create_dir(&aged).unwrap();
    refused("tells of no life");
    std::fs::write(aged.join("letter"), "dear").unwrap();
    refused("tells of no life");
    symlink(mine.join("letter"), aged.join(".fairlane-age.json")).unwrap();
    place.expect(2, &SMALL);
    std::fs::remove_file(aged.join(".fairlane-age.json")).unwrap();
    std::fs::write(aged.join(".fairlane-age.json"), "{}").unwrap();
    let (_, err) = place.expect(2, &["age", "disk", "--remove"]);
    assert_one_sentence(&err, &["is no state of a life"]);
    assert_eq!(std::fs::read_to_string(aged.join("letter")).unwrap(), "dear");
}

#[test]
fn options_that_cannot_be_are_refused_in_one_sentence() {
    let (place, disk) = place();
    let profile = place.path().join("mine.toml");
    std::fs::write(&profile, "name = \"mine\"\nwriters = 99\n").unwrap();
    let cases: [(&[&str], i32, &[&str]); 13] = [
        (&["age", "missing"], 2, &["missing", "name a folder"]),
        (&["age", "ext4"], 2, &["is a lane and no folder", "fairlane race ext4+aged"]),
        // No race has these live.
        (&["age", "tmpfs"], 2, &["name a folder on the filesystem that is to age"]),
        (&["age", "zfs"], 2, &["name a folder on the filesystem that is to age"]),
        (&["age", "xfs,noatime+aged=git/crypt@uml"], 2, &["is a lane and no folder", "fairlane race xfs+aged"]),
        (&["age", "disk", "--format", "xml"], 2, &["choose text or json"]),
        (&["age", "disk", "--profile", "chrun", "--size", "24MiB"], 2, &["`churn` is near"]),
        (&["age", "disk", "--profile", "./mine.toml", "--size", "24MiB"], 2, &["mine.toml", "line 1: missing field"]),
        (&["age", "disk", "--profile", "./none.toml", "--size", "24MiB"], 2, &["cannot read ./none.toml"]),
        (&["age", "disk", "--size", "1MiB"], 2, &["give it 16MiB or more"]),
        (&["age", "disk", "--size", "900TiB"], 2, &["are free; give a smaller --size"]),
        (&["age", "disk", "--until", "old"], 2, &["write settled, 10x"]),
        (&["age", "disk", "--look", "--seed", "3"], 2, &["cannot be used with"]),
    ];
    for (arguments, status, says) in cases {
        let (_, err) = place.expect(status, arguments);
        assert_one_sentence(&err, says);
    }
    assert_eq!(std::fs::read_dir(&disk).unwrap().count(), 0);
}

#[test]
fn a_life_is_gone_on_with_and_is_not_another_one() {
    let (place, disk) = place();
    place.expect(0, &with(&["--profile", "mail", "--seed", "7"]));
    for (more, says) in
        [(["--seed", "8"], "seed 7"), (["--size", "32MiB"], "size 24MiB"), (["--profile", "git"], "profile mail")]
    {
        let (_, err) = place.expect(2, &["age", "disk", "--until", "3x", more[0], more[1]]);
        assert_one_sentence(&err, &[says, "leave", "--remove"]);
    }
    let (out, _) = place.expect(0, &["age", "disk", "--until", "3x", "--full", "60%", "--format", "json"]);
    let told = json(&out);
    assert!(told["lived"]["overwrites"].as_f64().unwrap() >= 3.0, "{out}");
    assert!((told["lived"]["used_share"].as_f64().unwrap() - 0.6).abs() < 0.01, "{out}");
    assert_eq!((told["profile"].as_str(), told["seed"].as_u64()), (Some("mail"), Some(7)));
    let (_, err) = place.expect(2, &["age", "disk", "--until", "4x"]);
    assert_one_sentence(&err, &["last filling"]);
    let other = place.path().join("other");
    std::fs::create_dir(&other).unwrap();
    let whole =
        ["age", "other", "--size", "24MiB", "--profile", "mail", "--seed", "7", "--until", "3x", "--full", "60%"];
    place.expect(0, &whole);
    assert_eq!(tree(&disk.join("fairlane-aged")), tree(&other.join("fairlane-aged")));
}

/// Starts a life that takes a while.
fn start(place: &Place, until: &str) -> Child {
    let mut command = place.fairlane(&["age", "disk", "--size", "96MiB", "--until", until]);
    command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("fairlane starts")
}

fn signal(child: &Child, signal: Signal) {
    kill_process(Pid::from_raw(child.id() as i32).expect("a pid"), signal).expect("a signal");
}

/// Waits until the life has begun to write files.
fn wait_for_files(child: &mut Child, aged: &Path) {
    let begun = Instant::now();
    while !aged.join(".fairlane-age.json").exists() {
        assert!(child.try_wait().expect("a child").is_none(), "it ended before it began");
        assert!(begun.elapsed() < Duration::from_secs(60), "it never began");
        std::thread::sleep(Duration::from_millis(1));
    }
}

#[test]
fn killed_at_random_moments_a_life_ends_as_one_that_was_not() {
    let (place, disk) = place();
    let aged = disk.join("fairlane-aged");
    let mut killed = 0;
    for delay in [0, 7, 31, 64, 113, 190, 350] {
        let mut child = start(&place, "6x");
        wait_for_files(&mut child, &aged);
        std::thread::sleep(Duration::from_millis(delay));
        killed += u32::from(child.try_wait().expect("a child").is_none());
        signal(&child, Signal::KILL);
        child.wait().expect("it is gone");
    }
    assert!(killed >= 2, "only {killed} lives were killed");
    let (out, _) = place.expect(0, &["age", "disk", "--size", "96MiB", "--until", "6x", "--format", "json"]);
    let told = json(&out);
    assert!(told["lived"]["resumed"].as_u64() > Some(0), "{out}");
    assert_eq!(told["measures"]["differing_files"].as_u64(), Some(0), "{out}");
    let whole = place.path().join("whole");
    std::fs::create_dir(&whole).unwrap();
    let (out, _) = place.expect(0, &["age", "whole", "--size", "96MiB", "--until", "6x", "--format", "json"]);
    for key in ["operations", "bytes_written", "cycles", "files", "bytes"] {
        assert_eq!(told["lived"][key], json(&out)["lived"][key], "{key}");
    }
    assert!(tree(&aged) == tree(&whole.join("fairlane-aged")), "the trees differ");
    place.assert_nothing_left();
}

#[test]
fn an_interrupt_keeps_the_life_and_says_how_to_go_on() {
    let (place, disk) = place();
    // So long that it cannot have ended.
    let mut child = start(&place, "5000x");
    wait_for_files(&mut child, &disk.join("fairlane-aged"));
    let busy = place.run(&["age", "disk", "--look"]);
    assert_one_sentence(&String::from_utf8_lossy(&busy.stderr), &["another `fairlane age` works in"]);
    signal(&child, Signal::INT);
    let ended = child.wait_with_output().expect("it ends");
    let err = String::from_utf8_lossy(&ended.stderr);
    assert_eq!(ended.status.code(), Some(130), "{err}");
    assert_one_sentence(
        &err,
        &["interrupted in cycle", "`fairlane age disk` with the same options goes on", "--remove"],
    );
    let (out, _) = place.expect(0, &["age", "disk", "--look", "--format", "json"]);
    assert_eq!(json(&out)["measures"]["differing_files"].as_u64(), Some(0), "it stopped between two acts");
    place.expect(0, &["age", "disk", "--remove"]);
    assert_eq!(std::fs::read_dir(&disk).unwrap().count(), 0);
}

#[test]
fn a_folder_needs_no_root_and_under_sudo_its_files_are_the_users() {
    let home = Home::new();
    let disk = home.0.path().join("disk");
    std::fs::create_dir(&disk).unwrap();
    home.owns(&disk);
    let (out, _) = home.expect(0, &SMALL);
    assert!(out.contains("extents per file"), "{out}");
    home.expect(0, &["age", "disk", "--remove"]);
    if !root() {
        return;
    }
    let mut command = home.0.fairlane(&SMALL);
    let output = command.env("SUDO_UID", "65534").env("SUDO_GID", "65534").output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let aged = disk.join("fairlane-aged");
    let mut owners: Vec<u32> =
        tree(&aged).keys().map(|name| aged.join(name).symlink_metadata().unwrap().uid()).collect();
    owners.push(aged.join(".fairlane-age.json").metadata().unwrap().uid());
    assert!(owners.len() > 50 && owners.iter().all(|uid| *uid == 65534), "{owners:?}");
    // Where that user may not write, root's rights are no help.
    let place = Place::new();
    std::fs::set_permissions(place.path(), PermissionsExt::from_mode(0o755)).unwrap();
    std::fs::create_dir(place.path().join("closed")).unwrap();
    let mut command = place.fairlane(&["age", "closed", "--size", "24MiB", "--until", "1x"]);
    let output = command.env("SUDO_UID", "65534").env("SUDO_GID", "65534").output().unwrap();
    assert_eq!(output.status.code(), Some(4));
    let err = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_one_sentence(&err, &["cannot make closed/fairlane-aged", "name a folder that you may write in"]);
    // Somebody else's life is none of root's.
    let (_, err) = place.expect(2, &["age", &disk.to_string_lossy(), "--remove"]);
    assert_one_sentence(&err, &["belongs to another user"]);
    let mut command = home.0.fairlane(&["age", "disk", "--remove"]);
    assert!(command.uid(65534).gid(65534).status().unwrap().success() && !aged.exists());
}

/// A mounted filesystem on a loop device, taken away in any case.
struct Disk {
    mount: PathBuf,
    device: String,
}

impl Disk {
    fn new(place: &Place, filesystem: &str, size: u64) -> Disk {
        let image = place.path().join(format!("{filesystem}.img"));
        std::fs::File::create(&image).unwrap().set_len(size).unwrap();
        let image = image.to_string_lossy().into_owned();
        match filesystem {
            "ext4" => tool("mkfs.ext4", &["-q", &image]),
            "xfs" => tool("mkfs.xfs", &["-q", &image]),
            _ => tool("mkfs.btrfs", &["-q", &image]),
        };
        let mount = place.path().join("disk");
        std::fs::create_dir_all(&mount).unwrap();
        let device = tool("losetup", &["-f", "--show", &image]);
        let disk = Disk { mount, device };
        tool("mount", &["-t", filesystem, &disk.device, &disk.mount.to_string_lossy()]);
        disk
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        for words in [["umount", &*self.mount.to_string_lossy()], ["losetup", "-d"]] {
            let mut command = std::process::Command::new(words[0]);
            command.arg(words[1]);
            if words[0] == "losetup" {
                command.arg(&self.device);
            }
            let _ = command.status();
        }
    }
}

#[test]
fn real_filesystems_live_one_life_and_each_tells_what_it_knows() {
    if !root() {
        return;
    }
    let mut trees = Vec::new();
    for filesystem in ["ext4", "xfs", "btrfs"] {
        let place = Place::new();
        let disk = Disk::new(&place, filesystem, 512 << 20);
        let (out, _) = place.expect(0, &["age", "disk", "--size", "160MiB", "--until", "4x", "--format", "json"]);
        let told = json(&out);
        let measures = &told["measures"];
        assert!(measures["extents_per_file"].as_f64().unwrap() >= 1.0, "{filesystem}: {out}");
        for score in ["layout_score", "dynamic_layout_score"] {
            assert!((0.0..=1.0).contains(&measures[score].as_f64().unwrap()), "{filesystem}: {out}");
        }
        let knows_free_space = measures["free_extents"].as_array().is_some_and(|classes| !classes.is_empty());
        assert_eq!(knows_free_space, filesystem != "btrfs", "{out}");
        assert_eq!(out.contains("GETFSMAP"), filesystem == "btrfs", "what is not known is said: {out}");
        assert_eq!(measures["differing_files"].as_u64(), Some(0));
        assert_eq!(told["cold_walk"]["caches"].as_str(), Some("dropped"));
        assert!(told["beside_fresh"]["ratio"].as_f64().unwrap() > 0.0, "{out}");
        assert!(measures["sizes"]["misplaced_share"].as_f64().unwrap() < 0.2, "{out}");
        trees.push(tree(&disk.mount.join("fairlane-aged")));
        place.expect(0, &["age", "disk", "--remove"]);
        drop(disk);
        place.assert_nothing_left();
    }
    assert!(trees[0].len() > 500 && trees.iter().all(|of| *of == trees[0]), "they lived different lives");
}

#[test]
fn a_life_that_settles_says_so_and_one_that_cannot_ends_all_the_same() {
    if !root() {
        return;
    }
    let place = Place::new();
    let disk = Disk::new(&place, "ext4", 512 << 20);
    let (out, _) = place.expect(0, &["age", "disk", "--size", "160MiB", "--format", "json"]);
    let lived = &json(&out)["lived"];
    let windows: Vec<f64> =
        lived["extents_per_file"].as_array().unwrap().iter().map(|of| of.as_f64().unwrap()).collect();
    let [.., before, after] = windows[..] else { panic!("{out}") };
    let rewrites =
        lived["bytes_written"].as_f64().unwrap() / (lived["used_share"].as_f64().unwrap() * (160 << 20) as f64);
    let is_settled = (after - before).abs() < 0.05 * before && rewrites >= 3.0;
    match lived["ended_by"].as_str() {
        Some("settled") => assert!(is_settled, "{out}"),
        Some("overwrites_without_settling") => {
            assert!(!is_settled && lived["overwrites"].as_f64() >= Some(10.0), "{out}")
        }
        other => panic!("{other:?}: {out}"),
    }
    drop(disk);
    // A filesystem that tells of no extents.
    let disk = place.path().join("memory");
    std::fs::create_dir(&disk).unwrap();
    tool("mount", &["-t", "tmpfs", "-o", "size=64m", "tmpfs", &disk.to_string_lossy()]);
    let output = place.run(&["age", "memory", "--size", "16MiB", "--format", "json"]);
    tool("umount", &[&*disk.to_string_lossy()]);
    let told = json(&String::from_utf8_lossy(&output.stdout));
    assert_eq!(told["lived"]["ended_by"].as_str(), Some("overwrites_without_settling"), "{told}");
    assert!(told["measures"]["extents_per_file"].is_null() && told.to_string().contains("FIEMAP"), "{told}");
}

#[test]
fn a_full_filesystem_is_part_of_life_and_is_counted() {
    if !root() {
        return;
    }
    let place = Place::new();
    let disk = Disk::new(&place, "ext4", 128 << 20);
    // Others take what the life was promised.
    let begun = place.expect(0, &["age", "disk", "--size", "80MiB", "--until", "1x"]).0;
    assert!(!begun.contains("no space"), "{begun}");
    let free = rustix::fs::statvfs(&disk.mount).unwrap();
    let other = vec![7_u8; (free.f_bavail * free.f_frsize) as usize - (3 << 20)];
    std::fs::write(disk.mount.join("other"), other).unwrap();
    let (out, _) = place.expect(0, &["age", "disk", "--until", "5x", "--full", "95%", "--format", "json"]);
    let told = json(&out);
    assert!(told["lived"]["refused_for_space"].as_u64() > Some(0), "{out}");
    assert!(told["measures"]["differing_files"].as_u64() > Some(0), "{out}");
    assert_eq!(told["no_fresh_copy"].as_str(), Some("no room for a fresh copy"), "{out}");
    // Without --size a disk that others use is not taken.
    place.expect(0, &["age", "disk", "--remove"]);
    std::fs::write(disk.mount.join("more"), vec![7_u8; 32 << 20]).unwrap();
    let (_, err) = place.expect(2, &["age", "disk"]);
    assert_one_sentence(&err, &["more than half", "--size"]);
    assert_eq!(std::fs::metadata(disk.mount.join("other")).unwrap().uid(), 0);
}

#[test]
fn the_root_filesystem_is_not_taken_without_a_size() {
    let place = Place::new();
    let device = |path: &Path| std::fs::metadata(path).unwrap().dev();
    if device(place.path()) != device(Path::new("/")) {
        eprintln!("skipped: /var/tmp lies on a filesystem of its own");
        return;
    }
    let (_, err) = place.expect(2, &["age", "."]);
    assert_one_sentence(&err, &["root filesystem", "--size"]);
    assert!(!place.path().join("fairlane-aged").exists());
}

#[test]
fn what_is_mounted_below_is_not_removed() {
    if !root() {
        return;
    }
    let (place, disk) = place();
    place.expect(0, &SMALL);
    let inner = disk.join("fairlane-aged/inner");
    std::fs::create_dir(&inner).unwrap();
    let mine = place.path().join("mine");
    std::fs::create_dir(&mine).unwrap();
    std::fs::write(mine.join("letter"), "dear").unwrap();
    // The same filesystem: its device number tells nothing.
    tool("mount", &["--bind", &mine.to_string_lossy(), &inner.to_string_lossy()]);
    let (_, err) = place.expect(1, &["age", "disk", "--remove"]);
    tool("umount", &[&*inner.to_string_lossy()]);
    assert_one_sentence(&err, &["cannot remove all"]);
    assert_eq!(std::fs::read_to_string(mine.join("letter")).unwrap(), "dear");
    place.expect(0, &["age", "disk", "--remove"]);
    assert_eq!(std::fs::read_dir(&disk).unwrap().count(), 0);
}
