//! Power cuts and damage in a guest, as an ordinary user: where the tests run as root, Fairlane runs as nobody.

use crate::common::assert_one_sentence;
use crate::home::Home;
use crate::user_mode_linux::user_mode_linux;
use model::durability::DurabilityRecord;
use std::fs::File;
use std::io::BufReader;
use std::path::Path;

fn record(home: &Home, name: &str) -> DurabilityRecord {
    DurabilityRecord::read(BufReader::new(File::open(home.0.path().join(name)).unwrap())).unwrap()
}

fn assert_nothing_left(home: &Home) {
    home.0.assert_nothing_left();
    home.assert_no_process_stays();
}

/// Neither this machine's kernel nor root is asked: JFS is cut by a kernel that has it. It sends no flush, so what its
/// fsync confirmed is not there.
#[test]
fn a_user_without_root_cuts_the_power_of_a_filesystem_that_only_a_guest_mounts() {
    if !user_mode_linux() {
        return;
    }
    let home = Home::new();
    let cut = ["powercut", "jfs", "nilfs2", "--on", "uml", "--cuts", "12", "--workload", "append", "-o", "cuts.jsonl"];
    let (out, err) = home.expect(0, &cut);
    assert!(err.contains("jfs append: "), "how far it is, is told: {err}");
    assert!(!format!("{out}{err}").contains("/lanes/files"), "{out}\n{err}");
    let record = record(&home, "cuts.jsonl");
    assert!(record.header.machine.kernel.starts_with("6."), "{}", record.header.machine.kernel);
    let again: Vec<&str> = record.header.again.iter().map(String::as_str).collect();
    assert_eq!((&again[..3], &again[again.len() - 2..]), (&["powercut", "jfs", "nilfs2"][..], &["--on", "uml"][..]));
    let of = |lane: &str| record.cuts.iter().find(|cuts| cuts.lane == lane).unwrap_or_else(|| panic!("{lane}"));
    assert_eq!((of("ext4").broken, of("nilfs2").broken), (0, 0));
    assert!(of("ext4").flushes > 0 && of("ext4,nobarrier").broken > 0);
    assert!(of("jfs").flushes == 0 && of("jfs").broken > 0 && of("jfs").unmountable == 0, "{:?}", of("jfs"));
    // What makes a failing image again came back with the record.
    let kept = Path::new(&of("jfs").examples[0].kept);
    assert!(kept.starts_with(home.0.path().join("cuts.kept")) && kept.join("log").is_file(), "{}", kept.display());
    assert_nothing_left(&home);
    let (_, err) = home.expect(2, &cut);
    assert_one_sentence(&err, &["cuts.jsonl"]);
}

#[test]
fn damage_is_done_in_a_guest_and_said_by_its_kernel() {
    if !user_mode_linux() {
        return;
    }
    let home = Home::new();
    let two = "two=btrfs(-m raid1 -d raid1)";
    home.expect(0, &["integrity", "ext4", two, "--on", "uml", "--blocks", "8", "--quiet", "-o", "damage.jsonl"]);
    let record = record(&home, "damage.jsonl");
    let silent =
        |lane: &str| record.damage.iter().filter(|damage| damage.lane == lane).map(|damage| damage.silent).sum();
    let (ext4, two): (u64, u64) = (silent("ext4"), silent("two"));
    assert!(ext4 > 0 && two == 0, "ext4 hands out {ext4} damaged blocks, btrfs with two copies {two}");
    assert!(record.damage.iter().any(|damage| damage.lane == "two" && damage.repaired > 0), "{:?}", record.damage);
    assert_eq!(record.full.len(), 1);
    assert_nothing_left(&home);
}

#[test]
fn what_no_guest_cuts_is_refused_before_anything_is_made() {
    if !user_mode_linux() {
        return;
    }
    let home = Home::new();
    for (status, line, says) in [
        (4, &["powercut", "exfat", "--on", "uml"][..], &["lane exfat: the uml kernel", "lacks exfat"][..]),
        (2, &["powercut", "tmpfs", "--on", "uml"], &["lane tmpfs", "stands on a disk", "ext4"]),
        (2, &["powercut", "ext4@uml", "--on", "uml"], &["names a place of its own", "leave it out"]),
        (2, &["powercut", "ext4/raid1:2", "--on", "uml"], &["remove the layers"]),
        (2, &["integrity", "overlay(ext4)", "--on", "uml"], &["works through overlay"]),
        (2, &["powercut", "--look", ".", "--on", "uml"], &["--look", "leave the guest out"]),
        (2, &["powercut", "jfs(-x)", "--on", "uml"], &["-x"]),
    ] {
        let (_, err) = home.expect(status, line);
        assert_one_sentence(err.lines().last().unwrap_or_default(), says);
    }
    assert_nothing_left(&home);
}
