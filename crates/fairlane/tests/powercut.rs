//! Power cuts on the real kernel: both controls at a small size, what cannot be trusted, a failing image again, and
//! nothing left after any death.

mod common;
#[path = "../../crashes/tests/plain/mod.rs"]
mod plain;

use common::{Place, root};
use crashes::image::Images;
use crashes::log::Log;
use crashes::survive::cuts;
use model::durability::{DurabilityFindings, DurabilityVerdict, Untrusted};
use std::sync::Arc;

fn findings(text: &str) -> DurabilityFindings {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

#[test]
fn the_safe_control_keeps_everything_and_the_unsafe_one_does_not() {
    if !root() {
        return;
    }
    let place = Place::new();
    let small = ["powercut", "ext4", "--cuts", "80", "--workload", "append", "--workload", "replace", "--seed", "11"];
    let arguments = [&small[..], &["--no-speed", "--format", "json", "-q", "-o", "cuts.jsonl"]].concat();
    let (out, _) = place.expect(0, &arguments);
    let found = findings(&out);
    assert_eq!(found.controls, ["ext4", "ext4,nobarrier"]);
    assert_eq!(found.untrusted, []);
    let safe = &found.lanes[0];
    assert_eq!(
        (safe.verdict, safe.cuts, safe.broken, safe.unmountable, safe.complaints),
        (DurabilityVerdict::Kept, 80, 0, 0, 0)
    );
    assert!(safe.below.is_some_and(|below| below < 3.0 / 80.0));
    let unsafe_one = &found.lanes[1];
    assert_eq!(unsafe_one.verdict, DurabilityVerdict::Broke);
    assert!(unsafe_one.lost + unsafe_one.stale > 0, "{unsafe_one:?}");
    for lane in &found.lanes {
        assert!(lane.images_per_hour.is_some_and(|rate| rate > 0.0), "{lane:?}");
        assert!((1..1 << 30).contains(&lane.memory_bytes), "{lane:?}");
    }
    place.assert_nothing_left();

    // The record says the same again, and a failing image is made again from what was kept of it.
    let (again, _) = place.expect(0, &["report", "cuts.jsonl", "--format", "json"]);
    assert_eq!(findings(&again), found);
    let (text, _) = place.expect(0, &["report", "cuts.jsonl"]);
    assert!(text.contains("CONTROLS") && text.contains("honours every flush"), "{text}");
    // What else reads records says what this one is, in one sentence.
    for (arguments, says) in [
        (vec!["report", "cuts.jsonl", "--format", "html"], "not rendered as `html`"),
        (vec!["report", "cuts.jsonl", "--format", "memo"], "not rendered as `memo`"),
        (vec!["report", "cuts.jsonl", "--lang", "de"], "in English only"),
    ] {
        let (_, err) = place.expect(2, &arguments);
        common::assert_one_sentence(&err, &[says]);
    }
    for arguments in [vec!["compare", "cuts.jsonl", "cuts.jsonl"], vec!["advise", "cuts.jsonl"]] {
        let (_, err) = place.expect(1, &arguments);
        assert!(err.contains("power cuts or damage, not of a race"), "{err}");
    }
    let kept = &unsafe_one.examples.iter().find(|of| !of.example.kept.is_empty()).expect("one is kept").example;
    let (look, _) = place.expect(0, &["powercut", "--look", &kept.kept]);
    assert!(look.contains(&kept.said) && look.contains("mounted at"), "{look}");
    let (harmless, _) = place.expect(0, &["clean"]);
    assert!(harmless.contains("unmounted"), "{harmless}");
    place.assert_nothing_left();
}

#[test]
fn the_same_seed_and_log_give_the_same_image() {
    if !root() {
        return;
    }
    let place = Place::new();
    let arguments = [
        "powercut",
        "ext4",
        "--cuts",
        "24",
        "--workload",
        "append",
        "--seed",
        "4",
        "--no-speed",
        "-q",
        "-o",
        "a.jsonl",
    ];
    place.expect(0, &arguments);
    let folder = std::fs::read_dir(place.path().join("a.kept")).expect("kept").next().expect("one").expect("entry");
    let folder = folder.path().display().to_string();
    let mut said = Vec::new();
    for _ in 0..2 {
        let (out, _) = place.expect(0, &["powercut", "--look", &folder]);
        said.push(out.lines().take(2).map(str::to_owned).collect::<Vec<_>>());
        place.expect(0, &["clean"]);
    }
    assert_eq!(said[0], said[1]);
    place.assert_nothing_left();

    // The log of a real filesystem, against the oracle.
    let path = std::path::Path::new(&folder).join("log");
    let lines = plain::read(&path);
    let log = Arc::new(Log::open(&path).expect("a log"));
    let mut images = Images::new(Arc::clone(&log)).expect("images");
    let mut open = 0;
    for cut in cuts(&log, &[(log.end() / 2, log.end())], 40, 4, &[512, 4096]) {
        let wanted = plain::image(&lines, cut);
        let image = images.image(cut).expect("an image");
        let sectors: Vec<u64> = lines.iter().filter(|line| line.kind == 1).flat_map(plain::Line::sectors).collect();
        assert!(sectors.len() > 1000, "{}", sectors.len());
        for sector in sectors.into_iter().chain(0..64) {
            let mut found = [0; 512];
            image.read(sector * 512, &mut found).expect("a sector");
            assert!(found == wanted.sector(sector), "{cut}, sector {sector}");
        }
        open += log.volatile(cut.tick).len();
    }
    assert!(open > 40, "some writes were open: {open}");
}

#[test]
fn sequences_stand_on_filesystems_of_their_own() {
    if !root() {
        return;
    }
    let place = Place::new();
    let arguments = ["powercut", "ext4", "--cuts", "60", "--seed", "3", "--no-speed", "--format", "json", "-q"];
    let work = ["--workload", "sequences", "--workload", "sequences-no-dirsync"];
    let (out, _) = place.expect(0, &[&arguments[..], &work].concat());
    let found = findings(&out);
    let [safe, unsafe_one] = &found.lanes[..] else { panic!("{out}") };
    assert_eq!((safe.verdict, safe.cuts, safe.bare_cuts, safe.bare_unmountable), (DurabilityVerdict::Kept, 60, 60, 0));
    assert_eq!(unsafe_one.verdict, DurabilityVerdict::Broke);
    // Kept with the record that its filesystem was for.
    let kept = &unsafe_one.examples.iter().find(|of| !of.example.kept.is_empty()).expect("one is kept").example;
    let case = std::fs::read_to_string(std::path::Path::new(&kept.kept).join("case.json")).expect("a case");
    assert!(case.contains("\"only\""), "{case}");
    let (look, _) = place.expect(0, &["powercut", "--look", &kept.kept]);
    assert!(look.contains(&kept.said), "{look} {kept:?}");
    place.expect(0, &["clean"]);
    place.assert_nothing_left();
}

#[test]
fn a_race_of_a_lane_that_was_cut_tells_its_price() {
    if !root() {
        return;
    }
    let place = Place::new();
    place.expect(0, &["powercut", "ext4", "--cuts", "40", "--workload", "append", "--no-speed", "-q", "--seed", "5"]);
    let suite = place.tiny_suite();
    let race = ["race", "ext4", "ext4,nobarrier", "--suite", &suite, "--workload", "commit", "--rounds", "1", "-q"];
    place.expect(0, &[&race[..], &["--lane-size", "320MiB", "-o", "r.jsonl"]].concat());
    let (out, _) = place.expect(0, &["report", "r.jsonl", "--format", "json"]);
    let said = out.matches(" broke a promise in ").count();
    assert!(out.contains("ext4,nobarrier broke a promise in ") && said == 1, "{said}: {out}");
    let (out, _) = place.expect(0, &["report", "r.jsonl", "--format", "memo", "--lang", "de"]);
    assert!(!out.contains(" broke a promise in "), "{out}");
    // A folder of records that holds one of durability too.
    let state = place.path().join("state/fairlane");
    let record = std::fs::read_dir(state.join("durability")).expect("kept").flatten().map(|entry| entry.path());
    let record = record.into_iter().find(|path| path.extension().is_some_and(|end| end == "jsonl")).expect("one");
    let (out, _) = place.expect(0, &["records"]);
    assert!(out.contains(&record.display().to_string()) && out.contains("powercut  complete"), "{out}");
    place.assert_nothing_left();
}

#[test]
fn a_run_whose_controls_show_nothing_is_refused() {
    if !root() {
        return;
    }
    let place = Place::new();
    // Nothing is promised by this work, so that no control can lose anything.
    let (out, err) = place.expect(
        1,
        &[
            "powercut",
            "ext4",
            "--cuts",
            "12",
            "--workload",
            "sequences-no-dirsync",
            "--no-speed",
            "--format",
            "json",
            "-q",
        ],
    );
    assert_eq!(findings(&out).untrusted, [Untrusted::ControlMissing]);
    assert!(err.contains("controls"), "{err}");
    place.assert_nothing_left();
}

#[test]
fn what_cannot_be_cut_is_refused_with_a_sentence() {
    let place = Place::new();
    for (arguments, says) in [
        (vec!["powercut", "ext4", "--workload", "nothing"], "there is no workload"),
        (vec!["powercut", "ext4", "--on", "/nonexistent"], "no such directory"),
        (vec!["powercut", "--look", "."], "keeps no failing image"),
        (vec!["powercut", "ext4", "--format", "pdf"], "not rendered as `pdf`"),
        (vec!["integrity", "ext4", "--format", "html"], "not rendered as `html`"),
    ] {
        let (_, err) = place.expect(2, &arguments);
        assert!(err.contains(says), "{arguments:?}: {err}");
    }
    if root() {
        for lane in ["tmpfs", "rsext4", "/tmp"] {
            let (_, err) = place.expect(2, &["powercut", lane]);
            assert!(err.contains("lane"), "{lane}: {err}");
        }
        place.assert_nothing_left();
    }
}

#[test]
fn damage_is_told_as_each_filesystem_tells_it() {
    if !root() {
        return;
    }
    let place = Place::new();
    let lanes = ["ext4", "btrfs", "raid1=btrfs(-m raid1 -d raid1)"];
    let arguments = [&["integrity"][..], &lanes, &["--blocks", "12", "--seed", "8", "--format", "json", "-q"]].concat();
    let (out, _) = place.expect(0, &arguments);
    let found = findings(&out);
    let of = |lane: &str| {
        let mut all = found.damage.iter().filter(|of| of.damage.lane == lane && of.damage.of == "data");
        all.next().unwrap_or_else(|| panic!("{lane} was not damaged")).clone()
    };
    use model::durability::Honesty::{Refused, Repaired, Silent};
    assert_eq!([of("ext4").honesty, of("btrfs").honesty, of("raid1").honesty], [Silent, Refused, Repaired]);
    assert_eq!((of("raid1").damage.devices, of("btrfs").damage.blocks), (2, 12));
    assert!(of("btrfs").damage.noticed && of("raid1").damage.noticed && !of("ext4").damage.noticed);
    let full = found.full.iter().find(|full| full.lane == "ext4").expect("ext4 was filled");
    assert!(full.could_delete && full.whole == full.files && full.came_back > 0.9, "{full:?}");
    let flush = found.faults.iter().find(|fault| fault.lane == "ext4" && fault.of == "flush").expect("a flush failed");
    assert!(flush.happened && flush.told.contains("Input/output error") && flush.lost == 0, "{flush:?}");
    assert_eq!(flush.by, "fsync", "{flush:?}");
    let (listed, _) = place.expect(0, &["records"]);
    assert!(listed.contains("integrity") && listed.contains("raid1"), "{listed}");
    place.assert_nothing_left();
}
