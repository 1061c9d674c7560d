//! Whether direct writes really were direct is seen on real filesystems, of this kernel and of a guest's.

mod common;
#[path = "common/user_mode_linux.rs"]
mod user_mode_linux;

use common::{Place, root};
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use user_mode_linux::user_mode_linux;

const SUITE: &str = r#"
name = "direct"
about = "direct writes"
not_tested = ["everything else"]
first_answer = true

[[workload]]
name = "overwrite"
title = "random overwrite 4 KiB, direct"
kind = "io"
rw = "randwrite"
bs = "4KiB"
size = "64MiB"
ioengine = "io_uring"
iodepth = 8
direct = true
slices = 4
slice_seconds = 0.05
"#;

/// The kernel counts what becomes dirty for the whole machine: one race at a time.
static ALONE: Mutex<()> = Mutex::new(());

/// Races these lanes for three rounds; the share of each that went through the page cache, and what the report says.
fn raced(place: &Place, lanes: &[&str]) -> (BTreeMap<String, f64>, String) {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let suite = place.path().join("direct.toml");
    std::fs::write(&suite, SUITE).expect("a suite");
    let mut words = vec!["race"];
    words.extend(lanes);
    words.extend([
        "--suite",
        suite.to_str().expect("UTF-8"),
        "--rounds",
        "3",
        "--lane-size",
        "512MiB",
        "-o",
        "r.jsonl",
    ]);
    place.expect(0, &words);
    let record = std::fs::read_to_string(place.path().join("r.jsonl")).expect("a record");
    let record: Vec<serde_json::Value> = record.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let told = |trial: &&serde_json::Value| trial["kind"] == "trial" && !trial["system"]["dirtied_bytes"].is_null();
    assert!(record.iter().filter(told).count() >= 3 * lanes.len(), "every trial tells what became dirty");
    let (json, _) = place.expect(0, &["report", "r.jsonl", "--format", "json"]);
    let found: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    let estimates = found["results"][0]["estimates"].as_array().expect("estimates");
    let share = |of: &serde_json::Value| {
        (of["lane"].as_str().expect("a lane").to_owned(), of["page_cache_share"].as_f64().expect("a share"))
    };
    let (text, _) = place.expect(0, &["report", "r.jsonl"]);
    (estimates.iter().map(share).collect(), text.split_whitespace().collect::<Vec<_>>().join(" "))
}

/// Linux 6.15 and later buffer direct writes of Btrfs to files with checksums of data.
fn buffers(release: &str) -> bool {
    let mut numbers = release.split(['.', '-']).map_while(|part| part.parse::<u32>().ok());
    (numbers.next(), numbers.next()) >= (Some(6), Some(15))
}

#[test]
fn btrfs_buffers_direct_writes_unless_it_keeps_no_checksums_of_data() {
    if !root() {
        return;
    }
    let release = std::fs::read_to_string("/proc/sys/kernel/osrelease").expect("a release");
    let place = Place::new();
    let (shares, text) = raced(&place, &["ext4", "btrfs", "nosum=btrfs,nodatasum"]);
    for direct in ["ext4", "nosum"] {
        assert!(shares[direct] < 0.5, "{direct}: {shares:?}");
    }
    // A distribution's older kernel may have the change too; then all that follows holds all the same.
    let buffered = shares["btrfs"] >= 0.5;
    assert!(buffered || !buffers(&release), "on Linux {release}: {shares:?}");
    assert_eq!(text.contains("btrfs buffers these direct writes"), buffered, "{text}");
    // Wherever the answer speaks of these writes it says what became of them.
    let answer = text.split("ANSWER").nth(1).expect("an answer").split("NEXT").next().unwrap_or_default();
    let speaks = answer.contains("than btrfs at random") || answer.contains("btrfs is ");
    let says = answer.contains("at random overwrite 4 KiB, direct (btrfs buffers these direct writes)");
    assert!(!buffered || !speaks || says, "{answer}");
    // The lane that is comparable was there: nothing more is proposed.
    assert!(!text.contains("NEXT fairlane race ext4 btrfs nosum2"), "{text}");
    // Without it, it is.
    let other = Place::new();
    let (_, text) = raced(&other, &["ext4", "btrfs"]);
    assert_eq!(text.contains("race ext4 btrfs nosum=btrfs,nodatasum"), buffered, "{text}");
    place.assert_nothing_left();
}

#[test]
fn btrfs_of_linux_6_1_writes_directly() {
    if !user_mode_linux() {
        return;
    }
    let place = Place::new();
    let (shares, text) = raced(&place, &["ext4@uml", "btrfs@uml"]);
    assert!(shares.values().all(|share| *share < 0.5), "{shares:?}");
    assert!(!text.contains("these direct writes"), "{text}");
}
