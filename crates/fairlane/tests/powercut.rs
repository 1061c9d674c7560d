//! Power cuts on the real kernel: both controls at a small size, a failing image again, and
//! nothing left after any death.

use crate::common;
#[path = "../../crashes/tests/plain/mod.rs"]
mod plain;

use common::{Place, root};
use crashes::control::{Answer, Ask};
use crashes::crash_model::Cut;
use crashes::crash_model::cuts;
use crashes::image::Images;
use crashes::log::Log;
use model::durability::{DurabilityFindings, DurabilityVerdict};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Stdio};
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
    assert!(found.unproven.is_empty(), "{:?}", found.unproven);
    let safe = &found.lanes[0];
    let (open, images) = (safe.open.unwrap_or(0), safe.images.unwrap_or(0));
    // What a cut tries is a choice among open writes: most cuts of a lane that flushes have one.
    assert!(open >= 40 && (40..=80).contains(&images), "{open} open, {images} images");
    assert_eq!(
        (safe.verdict, safe.cuts, safe.broken, safe.unmountable, safe.complaints),
        (DurabilityVerdict::Kept, 80, 0, 0, 0)
    );
    assert!(safe.below.is_some_and(|below| below <= 3.0 / images as f64 && below > 2.0 / images as f64));
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
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains(&format!("{images} different images, by which the bound goes")), "{text}");
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
        let (_, err) = place.expect(2, &arguments);
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
fn speeds_come_of_a_race_whose_record_is_kept() {
    if !root() {
        return;
    }
    let place = Place::new();
    let cut =
        ["powercut", "ext4", "--cuts", "40", "--workload", "append", "--seed", "4", "--lane-size", "128MiB", "-q"];
    let arguments = [&cut[..], &["--format", "json", "-o", "cuts.jsonl"]].concat();
    // A file that stands where the race's record goes is seen before anything is cut.
    std::fs::write(place.path().join("cuts.speed.jsonl"), "mine").expect("a file");
    let (_, err) = place.expect(2, &arguments);
    common::assert_one_sentence(&err, &["cuts.speed.jsonl"]);
    std::fs::remove_file(place.path().join("cuts.speed.jsonl")).expect("it is there");

    let (out, _) = place.expect(0, &arguments);
    let found = findings(&out);
    assert!(found.lanes[1].speed.is_some_and(|speed| speed.ratio > 0.0 && speed.low <= speed.high), "{found:?}");
    place.assert_nothing_left();
    let (raced, _) = place.expect(0, &["report", "cuts.speed.jsonl", "--format", "json"]);
    let raced: serde_json::Value = serde_json::from_str(&raced).expect("JSON");
    assert_eq!(raced["results"].as_array().map(Vec::len), Some(1), "{raced:#}");
    let line: Vec<&str> =
        raced["command_line"].as_array().expect("a line").iter().filter_map(|of| of.as_str()).collect();
    assert!(line.starts_with(&["fairlane", "race", "ext4", "ext4,nobarrier", "--suite", "durability"]), "{line:?}");
    // It is a line to type.
    let dry_run = [&line[1..], &["--dry-run", "-o", "again.jsonl"]].concat();
    let (plan, _) = place.expect(0, &dry_run);
    assert!(plan.contains("of 1 workload"), "{plan}");
}

/// Of a run's folder of kept images: the same seed and log give the same image, and it is that of the oracle.
fn assert_made_again(place: &Place, kept: &Path) {
    let folder = std::fs::read_dir(kept).expect("kept").next().expect("one").expect("entry");
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
        // 1256 as a rule, and once 1000 on a busy machine: how the kernel gathers writes is its own affair.
        assert!(sectors.len() >= 256, "{}", sectors.len());
        for sector in sectors.into_iter().chain(0..64) {
            let mut found = [0; 512];
            image.read(sector * 512, &mut found).expect("a sector");
            assert!(found == wanted.sector(sector), "{cut}, sector {sector}");
        }
        open += log.volatile(cut.tick).len();
    }
    assert!(open > 40, "some writes were open: {open}");
}

/// Whether this process, and what it starts, has CAP_SYS_RESOURCE, without which the kernel does not listen.
fn may_say_so() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").expect("its status");
    let line = status.lines().find_map(|line| line.strip_prefix("CapEff:")).expect("its capabilities");
    u64::from_str_radix(line.trim(), 16).expect("a number") >> 24 & 1 == 1
}

/// The process that serves disks, asked as its parent asks it.
struct Disk {
    child: Child,
    answers: BufReader<ChildStdout>,
    at: PathBuf,
}

impl Disk {
    fn start(place: &Place, first: &Ask, at: &Path) -> Disk {
        let mut command = place.fairlane(&["recorder", "--at", &at.display().to_string()]);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("it starts");
        let answers = BufReader::new(child.stdout.take().expect("its output"));
        let mut disk = Disk { child, answers, at: at.to_owned() };
        disk.ask(first);
        disk
    }

    fn ask(&mut self, ask: &Ask) {
        let line = serde_json::to_string(ask).expect("a line") + "\n";
        self.child.stdin.as_mut().expect("its input").write_all(line.as_bytes()).expect("it listens");
        let mut text = String::new();
        self.answers.read_line(&mut text).expect("an answer");
        let answer: Answer = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"));
        assert_eq!(answer.error, "");
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        // Of a test that failed too.
        let _ = rustix::mount::unmount(&self.at, rustix::mount::UnmountFlags::DETACH);
        drop(self.child.stdin.take());
        let _ = self.child.wait();
    }
}

#[test]
fn what_is_served_is_the_image_of_the_oracle() {
    if !root() {
        return;
    }
    const PART: u64 = 1 << 20;
    let place = Place::new();
    // Lanes that lose something: of those the log is kept.
    let lanes = ["ext4,nobarrier", "btrfs,nobarrier"];
    let arguments =
        ["--cuts", "40", "--workload", "append", "--seed", "4", "--no-speed", "--lane-size", "256MiB", "-q"];
    place.expect(0, &[&["powercut"][..], &lanes, &arguments, &["-o", "a.jsonl"]].concat());
    let at = place.path().join("served");
    std::fs::create_dir(&at).expect("a folder");
    for lane in ["ext4-nobarrier", "btrfs-nobarrier"] {
        let log = place.path().join(format!("a.kept/{lane}-append/log"));
        let lines = plain::read(&log);
        let (bytes, drawn): (u64, Vec<Cut>) = {
            let log = Log::open(&log).expect("a log");
            (log.disk_bytes(), cuts(&log, &[(log.end() / 2, log.end())], 5, 4, &[512, 4096]))
        };
        let mut disk = Disk::start(&place, &Ask::Show { mount: at.clone(), log, strangers: false }, &at);
        // The kernel frees no memory for it by writing to the disk that it serves: PF_MEMALLOC_NOIO of sched.h.
        for task in std::fs::read_dir(format!("/proc/{}/task", disk.child.id())).expect("threads").flatten() {
            let stat = std::fs::read_to_string(task.path().join("stat")).expect("its state");
            let flags = stat.rsplit(") ").next().and_then(|rest| rest.split(' ').nth(6)).expect("flags");
            let set = flags.parse::<u64>().expect("a number") & 0x0008_0000 != 0;
            assert_eq!(set, may_say_so(), "{stat}");
        }
        for cut in drawn {
            disk.ask(&Ask::Cut { cut });
            let wanted = plain::image(&lines, cut);
            let mut file = std::fs::File::open(at.join("disk")).expect("the served file");
            assert_eq!(file.metadata().expect("its size").len(), bytes);
            let mut there = vec![0; PART as usize];
            for offset in (0..bytes).step_by(PART as usize) {
                file.read_exact(&mut there).expect("a part");
                assert!(there == wanted.part(offset, PART), "{lane}, {cut}, from {offset}");
            }
        }
        drop(disk);
    }
    place.assert_nothing_left();
}

#[test]
fn a_lane_that_fails_leaves_the_others_their_results_and_their_images_are_made_again() {
    if !root() {
        return;
    }
    let place = Place::new();
    // mkfs refuses it; a lane named before both controls.
    let lanes = ["broken=ext4(-O no_such_feature)", "ext4", "ext4,nobarrier"];
    let arguments = ["--cuts", "24", "--workload", "append", "--workload", "append", "--seed", "4", "--no-speed", "-q"];
    let written = ["--format", "json", "-o", "a.jsonl"];
    let (out, err) = place.expect(1, &[&["powercut"][..], &lanes, &arguments, &written].concat());
    common::assert_one_sentence(&err, &["broken failed"]);
    let found = findings(&out);
    assert!(found.untrusted.is_empty(), "{out}");
    let verdicts: Vec<DurabilityVerdict> = found.lanes.iter().map(|lane| lane.verdict).collect();
    assert_eq!(verdicts, [DurabilityVerdict::Unknown, DurabilityVerdict::Kept, DurabilityVerdict::Broke]);
    let failed = found.lanes[0].failed.as_ref().expect("it failed");
    assert!(failed.at == "append" && failed.reason.contains("no_such_feature"), "{failed:?}");
    // Named twice, done once.
    assert_eq!(found.lanes[1].cuts, 24);
    place.assert_nothing_left();
    assert_made_again(&place, &place.path().join("a.kept"));
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
    place.expect(0, &["powercut", "ext4", "--cuts", "24", "--workload", "append", "--no-speed", "-q", "--seed", "4"]);
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

/// Each image is put together of its own disks, whatever the kernel knows of those before; and the lost one is not there.
#[test]
fn btrfs_on_two_disks_is_cut_here_and_loses_one_with_each_cut() {
    if !root() {
        return;
    }
    let place = Place::new();
    let two = "two=btrfs(-d raid1 -m raid1)";
    for (more, lost) in [(None, None), (Some("--lose-disk"), Some(1)), (Some("--lose-disk=2"), Some(2))] {
        let (loses, name) = (lost.is_some(), format!("two-{}.jsonl", lost.unwrap_or(0)));
        let mut words =
            vec!["powercut", two, "--lane-size", "256MiB", "--no-speed", "-o", &name, "--workload", "append"];
        match loses {
            true => words.extend(["--cuts", "12"]),
            false => words.extend(["--workload", "sqlite-rollback", "--cuts", "24"]),
        }
        words.extend(more);
        let (out, _) = place.expect(0, &words);
        assert_eq!(out.contains("its first disk was lost with each cut"), lost == Some(1), "{out}");
        assert_eq!(out.contains("its disk 2 was lost with each cut"), lost == Some(2), "{out}");
        let found = findings(&place.expect(0, &["report", &name, "--format", "json"]).0);
        let of = found.lanes.iter().find(|of| of.lane == "two").unwrap();
        assert_eq!((of.broken, of.unmountable, of.loses_a_disk, of.lost_disk), (0, 0, loses, lost), "{out}");
    }
    place.assert_nothing_left();
}

#[test]
fn what_cannot_be_cut_is_refused_with_a_sentence() {
    let place = Place::new();
    for (arguments, says) in [
        (vec!["powercut", "ext4", "--workload", "nothing"], "there is no workload"),
        (vec!["powercut", "ext4", "--workload", "sequences-no-dirsync"], "add --workload sequences"),
        (vec!["powercut", "ext4", "--on", "/nonexistent"], "no such directory"),
        (vec!["powercut", "--look", "."], "keeps no failing image"),
        (vec!["powercut", "--look", ".", "--format", "markdown"], "not shown as `markdown`; choose one of text, json"),
        (vec!["powercut", "ext4", "--format", "pdf"], "not rendered as `pdf`"),
        (vec!["integrity", "ext4", "--format", "html"], "not rendered as `html`"),
    ] {
        let (_, err) = place.expect(2, &arguments);
        assert!(err.contains(says), "{arguments:?}: {err}");
    }
    if root() {
        for (arguments, says) in [
            (vec!["powercut", "btrfs", "--lose-disk", "--cuts", "12"], "no disk to lose that others stand for"),
            (vec!["powercut", "ext4", "--lose-disk", "--cuts", "12"], "no disk to lose"),
            (vec!["powercut", "--lose-disk", "--cuts", "12"], "no disk to lose"),
            (vec!["powercut", "btrfs(-d raid1 -m raid1)", "--lose-disk=3"], "on 2 disks and has no disk 3 to lose"),
            (vec!["powercut", "btrfs(-d raid1 -m raid1)", "--lose-disk", "2"], "write --lose-disk=2"),
            (vec!["powercut", "btrfs(-d raid1 -m raid1)", "--lose-disk=0"], "0 is not in 1..=24"),
        ] {
            let (_, err) = place.expect(2, &arguments);
            assert!(err.contains(says), "{arguments:?}: {err}");
        }
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
    // Every file that was hit was hit inside of its bytes, and every damaged block was read.
    assert_eq!((of("ext4").damage.silent, of("ext4").damage.repaired), (of("ext4").damage.hit, 0));
    assert!(of("raid1").damage.corrected > 0, "{:?}", of("raid1"));
    for one in &found.damage {
        // Behind metadata that is refused, nothing more is read.
        let all = one.damage.of != "data" || one.damage.read == Some(one.damage.blocks);
        assert!(all && one.damage.blocks > 0 && one.damage.read > Some(0), "{one:?}");
        assert_ne!(one.honesty, model::durability::Honesty::Untested, "{one:?}");
    }
    let full = found.full.iter().find(|full| full.lane == "ext4").expect("ext4 was filled");
    assert!(full.could_delete && full.whole == full.files && full.came_back > 0.9, "{full:?}");
    let flush = found.faults.iter().find(|fault| fault.lane == "ext4" && fault.of == "flush").expect("a flush failed");
    assert!(flush.happened && flush.told.contains("Input/output error") && flush.lost == 0, "{flush:?}");
    assert_eq!(flush.by, "fsync", "{flush:?}");
    let (listed, _) = place.expect(0, &["records"]);
    assert!(listed.contains("integrity") && listed.contains("raid1"), "{listed}");
    place.assert_nothing_left();
}
