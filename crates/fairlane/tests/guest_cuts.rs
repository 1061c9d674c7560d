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

/// The trace is a part of the guest's memory; the record and the kept images name it where this machine has it.
#[test]
fn the_power_is_cut_while_a_captured_program_syncs_in_a_guest() {
    if !user_mode_linux() {
        return;
    }
    let home = Home::new();
    let work = "sync . && for i in $(seq 60); do dd if=/dev/zero bs=5000 count=1 conv=fsync,notrunc oflag=append of=log \
                status=none; cp log new; sync new; mv new kept; sync .; done";
    home.expect(0, &["capture", "-q", "-o", "t.trace", "--under", ".", "--", "sh", "-c", work]);
    let cut =
        ["powercut", "ext4", "--replay", "t.trace", "--on", "uml", "--cuts", "60", "--seed", "7", "-o", "c.jsonl"];
    let (out, err) = home.expect(0, &cut);
    assert!(err.contains("calls by one thread") && err.contains("ext4 replay: "), "{err}");
    assert!(!format!("{out}{err}").contains("/replay.trace"), "{out}\n{err}");
    let record = record(&home, "c.jsonl");
    let trace = home.0.path().join("t.trace");
    let again = record.header.again.join(" ");
    assert!(again.ends_with(&format!("--replay {} --on uml", trace.display())), "{again}");
    let of = |lane: &str| record.cuts.iter().find(|cuts| cuts.lane == lane).unwrap_or_else(|| panic!("{lane}"));
    assert_eq!((of("ext4").broken, of("ext4").cuts), (0, 60));
    assert!(of("ext4").flushes > 0 && of("ext4,nobarrier").broken > 0, "{:?}", of("ext4,nobarrier"));
    let case = Path::new(&of("ext4,nobarrier").examples[0].kept).join("case.json");
    let case = std::fs::read_to_string(case).unwrap();
    assert!(case.contains(&trace.display().to_string()) && !case.contains("/replay.trace"), "{case}");
    assert_nothing_left(&home);
}

#[test]
fn damage_is_done_in_a_guest_and_said_by_its_kernel() {
    if !user_mode_linux() {
        return;
    }
    let home = Home::new();
    let two = "two=btrfs(-m raid1 -d raid1)";
    let mirror = "ext4/raid1:2";
    home.expect(
        0,
        &["integrity", "ext4", two, mirror, "--on", "uml", "--blocks", "8", "--quiet", "-o", "damage.jsonl"],
    );
    let record = record(&home, "damage.jsonl");
    let silent =
        |lane: &str| record.damage.iter().filter(|damage| damage.lane == lane).map(|damage| damage.silent).sum();
    let (ext4, two): (u64, u64) = (silent("ext4"), silent("two"));
    assert!(ext4 > 0 && two == 0, "ext4 hands out {ext4} damaged blocks, btrfs with two copies {two}");
    assert!(record.damage.iter().any(|damage| damage.lane == "two" && damage.repaired > 0), "{:?}", record.damage);
    // md has no checksum that tells which of two copies is the wrong one.
    let data = record.damage.iter().find(|damage| damage.lane == mirror && damage.of == "data").unwrap();
    // Which of the two copies is read is md's choice: a file may have come from the one that is whole.
    assert!(data.devices == 2 && data.hit > 0 && data.silent > 0 && data.corrected == 0, "{data:?}");
    // Its own check sees that the copies differ.
    assert!(data.array_mismatches.is_some_and(|sectors| sectors > 0), "{data:?}");
    assert!(record.damage.iter().all(|damage| damage.lane == mirror || damage.array_mismatches.is_none()));
    assert_eq!(record.full.len(), 1);
    assert_nothing_left(&home);
}

/// An array with parity that lacks a disk and is cut between a block and its parity makes up the block of the missing disk
/// from the wrong parity, and that is one which was safe long before. A journal device closes that hole.
#[test]
fn an_array_with_parity_loses_in_the_write_hole_and_one_with_a_journal_does_not() {
    if !user_mode_linux() {
        return;
    }
    let home = Home::new();
    let terms = ["--on", "uml", "--workload", "sqlite-rollback", "--lane-size", "64MiB", "--no-speed", "--quiet"];
    // About one cut of twenty falls into the hole, and which ones is chance: four times of five the first cuts are enough.
    let hole = (0..8).find_map(|attempt| {
        let name = format!("hole{attempt}.jsonl");
        let line = ["powercut", "hole=ext4/raid5:3,chunk=4K,degraded", "--cuts", "30", "-o", &name];
        home.expect(0, &[&line[..], &terms[..]].concat());
        Some(record(&home, &name)).filter(|record| record.cuts.iter().any(|of| of.lane == "hole" && of.broken > 0))
    });
    let hole = hole.expect("none of 240 cuts fell into the write hole");
    let shut = ["powercut", "shut=ext4/raid5:4,chunk=4K,consistency=journal,degraded", "ext4/raid1:2", "--cuts", "12"];
    home.expect(0, &[&shut[..], &terms[..], &["-o", "shut.jsonl"]].concat());
    let shut = record(&home, "shut.jsonl");
    let of = |record: &DurabilityRecord, lane: &str| record.cuts.iter().find(|of| of.lane == lane).unwrap().clone();
    let (open, plain) = (of(&hole, "hole"), of(&hole, "ext4"));
    // Only by force does it begin at all: md does not hide that.
    assert!(open.broken > 0 && open.forced > 0, "{open:?}");
    assert_eq!((plain.broken, plain.forced), (0, 0));
    assert!(open.examples.iter().all(|example| example.kept.is_empty()), "{open:?}");
    for lane in ["shut", "ext4/raid1:2"] {
        let closed = of(&shut, lane);
        assert_eq!((closed.broken, closed.unmountable), (0, 0), "{closed:?}");
    }
    // The disks of the array are in one log.
    assert!(open.writes > plain.writes && open.flushes > plain.flushes, "{open:?} {plain:?}");
    // A lane on layers is no control.
    assert_eq!(hole.header.controls, ["ext4", "ext4,nobarrier"]);
    assert_nothing_left(&home);
}

/// A mirror, an array whose journal closes the write hole, and Btrfs with two copies of everything keep what they promised.
#[test]
fn a_disk_that_is_lost_with_the_cut_shows_what_others_stand_for_it() {
    if !user_mode_linux() {
        return;
    }
    let home = Home::new();
    let terms = ["--on", "uml", "--workload", "append", "--lane-size", "256MiB", "--no-speed", "--quiet"];
    let lanes =
        ["two=btrfs(-d raid1 -m raid1)", "ext4/raid1:2/crypt", "shut=ext4/raid5:4,chunk=4K,consistency=journal"];
    let line = ["powercut", "--lose-disk", "--cuts", "12", "-o", "lost.jsonl"];
    home.expect(0, &[&line[..], &lanes[..], &terms[..]].concat());
    let found = record(&home, "lost.jsonl");
    for lane in ["two", "ext4/raid1:2/crypt", "shut"] {
        let of = found.cuts.iter().find(|of| of.lane == lane).unwrap_or_else(|| panic!("{lane}"));
        assert!(of.loses_a_disk && of.cuts >= 12, "{of:?}");
        assert_eq!((of.broken, of.unmountable), (0, 0), "{of:?}");
    }
    assert!(
        found.cuts.iter().filter(|of| of.lane.starts_with("ext4,") || of.lane == "ext4").all(|of| !of.loses_a_disk)
    );
    assert!(found.header.again.iter().any(|word| word == "--lose-disk"));
    let (out, _) = home.expect(0, &["report", "lost.jsonl"]);
    assert!(out.contains("its first disk was lost with each cut"), "{out}");
    // The last disk, in place of the first.
    let second = ["powercut", "--lose-disk=2", "two=btrfs(-d raid1 -m raid1)", "ext4/raid1:2/crypt", "--cuts", "12"];
    home.expect(0, &[&second[..], &terms[..], &["-o", "second.jsonl"]].concat());
    let found = record(&home, "second.jsonl");
    for lane in ["two", "ext4/raid1:2/crypt"] {
        let of = found.cuts.iter().find(|of| of.lane == lane).unwrap_or_else(|| panic!("{lane}"));
        assert_eq!((of.broken, of.unmountable, of.lost_disk), (0, 0, Some(2)), "{of:?}");
    }
    assert!(found.header.again.iter().any(|word| word == "--lose-disk=2"));
    // With both disks there, a cut of Btrfs on two of them loses nothing either.
    let whole = ["powercut", "two=btrfs(-d raid1 -m raid1)", "--cuts", "12", "-o", "whole.jsonl"];
    home.expect(0, &[&whole[..], &terms[..]].concat());
    let found = record(&home, "whole.jsonl");
    let two = found.cuts.iter().find(|of| of.lane == "two").unwrap();
    assert_eq!((two.broken, two.unmountable, two.loses_a_disk), (0, 0, false), "{two:?}");
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
        (
            2,
            &["powercut", "ext4/raid0:2", "--lose-disk", "--on", "uml"],
            &["lane ext4/raid0:2 has no disk to lose", "ext4/raid1:2"],
        ),
        (2, &["powercut", "btrfs", "--lose-disk", "--on", "uml"], &["no disk to lose"]),
        (2, &["powercut", "ext4/raid1:2", "--lose-disk=3", "--on", "uml"], &["no disk 3 to lose", "--lose-disk=2"]),
        (2, &["powercut", "ext4/raid1:2", "--lose-disk", "2", "--on", "uml"], &["write --lose-disk=2"]),
        (
            2,
            &["powercut", "ext4/raid5:4,consistency=journal", "--lose-disk=4", "--on", "uml"],
            &["disk 4 of lane", "the journal of raid5"],
        ),
        (2, &["powercut", "btrfs,degraded", "--lose-disk", "--on", "uml"], &["no disk to lose", "lacks none"]),
        (2, &["powercut", "btrfs(-d single -m raid1),degraded", "--lose-disk", "--on", "uml"], &["no disk to lose"]),
        (2, &["powercut", "btrfs(-d single -m raid1)", "--lose-disk", "--on", "uml"], &["no disk to lose"]),
        (2, &["powercut", "ext4/raid5:3,degraded", "--lose-disk", "--on", "uml"], &["no disk to lose", "lacks none"]),
        (2, &["powercut", "ext4/raid1:3,rebuilding", "--on", "uml"], &["rebuilds a disk all the time", "degraded"]),
        (2, &["powercut", "ext4/raid7:4", "--on", "uml"], &["ext4/raid7:4"]),
        (2, &["powercut", "ext4/raid5:2", "--on", "uml"], &["stands on 3 to 24", "raid5:3"]),
        (2, &["powercut", "btrfs:2(-d raid1 -m raid1)/crypt", "--on", "uml"], &["not on both"]),
        (2, &["powercut", "btrfs(-d raid1 -m raid1)/crypt", "--on", "uml"], &["not on both"]),
        (2, &["powercut", "ext4/raid1:5/raid1:13", "--on", "uml"], &["65 disks", "24 are the most"]),
        (2, &["powercut", "ext4/integrity", "--on", "uml"], &["more than a log of writes holds"]),
        (2, &["integrity", "ext4/crypt", "--on", "uml"], &["below crypt", "powercut"]),
        (2, &["integrity", "overlay(ext4)", "--on", "uml"], &["works through overlay"]),
        (2, &["powercut", "--look", ".", "--on", "uml"], &["--look", "leave the guest out"]),
        (2, &["powercut", "jfs(-x)", "--on", "uml"], &["-x"]),
    ] {
        let (_, err) = home.expect(status, line);
        assert_one_sentence(err.lines().last().unwrap_or_default(), says);
    }
    assert_nothing_left(&home);
}
