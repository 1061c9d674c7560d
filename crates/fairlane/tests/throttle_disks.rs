//! `--throttle` on lanes that stand on several disks.

use crate::common::Place;
use crate::{alone, blkio, limits_on, lines, numbers, suite};
use std::process::Stdio;
use std::time::Duration;

/// Of several disks each is held, whatever the others do, and the layout shows.
#[test]
fn every_disk_of_a_lane_on_several_is_held() {
    let Some(blkio) = blkio() else { return };
    let _turn = alone();
    let place = Place::new();
    let suite = suite(&place);
    let lanes = ["race", "one=ext4", "two=btrfs:2(-d raid0 -m raid1)", "--suite", &suite, "--workload", "random-read"];
    let terms = ["--rounds", "6", "--lane-size", "320MiB", "--throttle", "500iops", "-o", "r.jsonl"];
    // What is in flight at the end of a slice is waited for.
    let queue = ["--set", "random-read.iodepth=128"];
    let mut command = place.fairlane(&[&lanes[..], &queue, &terms].concat());
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("fairlane starts");
    let mut devices = Vec::new();
    while devices.len() < 3 && child.try_wait().unwrap().is_none() {
        std::thread::sleep(Duration::from_millis(5));
        devices = numbers(&place);
    }
    let output = child.wait_with_output().unwrap();
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert_eq!((output.status.code(), devices.len()), (Some(0), 3), "{out}{err}");
    assert_eq!(limits_on(&blkio, &devices), Vec::<String>::new());
    let words = out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        words.contains(
            "the lanes stand on different disks while they are measured: one 500iops, two 2 disks of 500iops each"
        ),
        "{out}"
    );
    assert!(words.contains("The lanes stand on different disks, so a difference may be the disk's."), "{out}");
    let record = lines(&place.path().join("r.jsonl"));
    let of = |lane: &'static str| {
        let counts =
            move |line: &&serde_json::Value| line["kind"] == "trial" && line["outcome"] == "ok" && line["lane"] == lane;
        record.iter().filter(counts).map(|trial| &trial["system"])
    };
    assert!(of("one").all(|system| system["disks"].is_null()), "one disk is the device");
    // A round whose limit did not hold, because the machine paused, is made up for.
    assert!(of("two").count() >= 6, "{record:#?}");
    for system in of("two") {
        let disks = system["disks"].as_array().unwrap();
        let reads: Vec<f64> = disks.iter().map(|disk| disk["reads"].as_f64().unwrap()).collect();
        let (seconds, windows) = (system["window_seconds"].as_f64().unwrap(), system["windows"].as_f64().unwrap());
        let allowed = 500.0 * (1.02 * seconds + 0.1 * windows);
        assert!(reads.len() == 2 && reads.iter().all(|&reads| reads <= allowed), "{system:#}");
        assert_eq!(reads.iter().sum::<f64>(), system["device"]["reads"].as_f64().unwrap(), "{system:#}");
        // More than one such disk gives.
        assert!(reads.iter().sum::<f64>() > 1.2 * allowed, "{system:#}");
    }
    let (json, _) = place.expect(0, &["report", "r.jsonl", "--format", "json"]);
    let findings: serde_json::Value = serde_json::from_str(&json).unwrap();
    let result = &findings["results"][0];
    let pair = &result["pairs"][0];
    // What two disks do together is no less a difference because both were busy.
    assert_eq!((pair["a"].as_str(), pair["verdict"].as_str()), (Some("two"), Some("faster")), "{pair:#}");
    if result["limit"] == "own-disk" {
        let reason = result["limit_reason"].as_str().unwrap();
        assert!(reason.contains("one 500iops") && reason.contains("two 2 disks of 500iops each"), "{reason}");
    }
    assert_ne!(result["limit"], "device", "{result:#}");
    place.assert_nothing_left();
}
