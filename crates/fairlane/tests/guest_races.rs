//! Races in guests, as an ordinary user: where the tests run as root, Fairlane runs as nobody; and lanes with a past, most of
//! which guests live too.

mod aged_lanes;
mod common;
mod guest_layers;
mod guest_replays;
#[path = "common/home.rs"]
mod home;
mod host_layers;
#[path = "common/user_mode_linux.rs"]
mod user_mode_linux;

use common::{Place, assert_one_sentence};
use home::{Home, words};
use lanes::availability::{self, Availability};
use lanes::filesystems::{self, FILESYSTEMS, Filesystem};
use lanes::guest::{GuestKind, Kernel};
use model::findings::{Limit, Pair, ResultFinding, Verdict};
use model::record::{Profile, Record};
use model::trial::Outcome;
use user_mode_linux::user_mode_linux;

const EIGHT: [&str; 8] = ["ext3", "ext4", "jfs", "xfs", "btrfs", "reiserfs", "f2fs", "nilfs2"];

#[track_caller]
fn assert_all_done(record: &Record, lanes: &[&str], venue: &str, trials_of_each: usize) {
    assert_eq!(record.header.lanes.iter().map(|lane| lane.name.as_str()).collect::<Vec<_>>(), lanes);
    assert!(
        record.header.lanes.iter().all(|lane| lane.venue == venue && !lane.kernel.is_empty()),
        "{:?}",
        record.header.lanes
    );
    // A round beside other programs, such as other tests, is raced again.
    let again = |trial: &&model::trial::Trial| trial.outcome == Outcome::Repeated;
    let bad: Vec<_> = record.trials.iter().filter(|trial| trial.outcome != Outcome::Ok && !again(trial)).collect();
    assert!(bad.is_empty(), "{bad:#?}");
    for lane in lanes {
        let trials = record.trials.iter().filter(|trial| trial.lane == *lane && !again(trial));
        assert_eq!(trials.count(), trials_of_each, "{lane}");
    }
}

/// What the statistics make of a workload.
fn results(record: &Record, workload: &str) -> Vec<ResultFinding> {
    let results = stats::judge::judge_workload(record, workload);
    assert!(!results.is_empty(), "{workload}");
    results
}

/// As a part of suite `quick`, whose own files and disks are too large for a test that runs with every change.
#[test]
fn eight_filesystems_race_in_user_mode_linux_without_root_and_get_verdicts() {
    if !user_mode_linux() {
        return;
    }
    let home = Home::new();
    let lanes = EIGHT;
    let quick = ["race", "--suite", "quick", "--workload", "small-files", "--set", "small-files.count=150"];
    let fixed = ["--on", "uml", "--rounds", "2", "--lane-size", "320MiB", "--seed", "7", "-o", "r.jsonl"];
    let (out, _) = home.expect(0, &[&quick[..], &lanes[..], &fixed[..]].concat());
    assert!(out.contains("compares the filesystems' code, not your disk"), "{out}");
    let record = home.record();
    assert_all_done(&record, &lanes, "uml", 2);
    let create = &results(&record, "small-files")[0];
    assert_eq!((create.rounds, create.pairs.len()), (2, 28));
    // Beside other programs, such as other tests, nobody is ranked.
    // JFS sends no flush for its journal, and is not ranked against those that do, in a guest as on the host.
    let is_jfs = |pair: &Pair| pair.a == "jfs" || pair.b == "jfs";
    let promises = |pair: &Pair| pair.why.as_deref().is_some_and(|why| why.contains("promises"));
    let judged = |pair: &Pair| match pair.verdict {
        Verdict::None => create.limit == Limit::OtherPrograms || (is_jfs(pair) && promises(pair)),
        _ => true,
    };
    assert!(create.pairs.iter().all(|pair| pair.ratio.is_some() && judged(pair)), "{create:#?}");
    // What the guest's own system did, window by window.
    for trial in &record.trials {
        let timeline = trial.timeline.as_ref().unwrap_or_else(|| panic!("{trial:?}"));
        assert!(!timeline.seconds.is_empty() && !timeline.device_iops.is_empty(), "{timeline:?}");
    }
    // No flush reaches a disk there; what a filesystem promises is its own.
    assert!(record.header.lanes.iter().all(|lane| lane.flushes_stop_short));
    let promises = |name: &str| record.header.lanes.iter().find(|lane| lane.name == name).map(|lane| lane.promises);
    assert!(promises("ext4").is_some_and(|of| of.barriers));
    assert!(record.probes.iter().any(|probe| probe.profile == Profile::Flush));
    home.0.assert_nothing_left();
    home.assert_no_process_stays();
}

/// A new filesystem is raced here without a change of this file.
#[test]
fn every_filesystem_that_the_guests_kernel_mounts_races_there() {
    if !user_mode_linux() {
        return;
    }
    let kernel = Kernel::find(GuestKind::Uml, None).unwrap();
    let ready = |row: &&&'static Filesystem| availability::in_guest(row, &kernel) == Some(Availability::Ready);
    // At most eight disks fit into one guest.
    let rows = FILESYSTEMS.iter().filter(|row| row.home == filesystems::Home::Block && !EIGHT.contains(&row.name));
    let others: Vec<&str> = rows.filter(ready).map(|row| row.name).collect();
    println!("raced here: {others:?}");
    assert!(others.contains(&"ext2") && others.len() < 8, "{others:?}");
    let lanes = [&["ext4"], &others[..]].concat();
    let home = Home::new();
    home.expect(0, &words(&home.race_of("1", &[&lanes[..], &["--on", "uml"]].concat())));
    let record = home.record();
    assert_all_done(&record, &lanes, "uml", 3);
    for (lane, name) in record.header.lanes.iter().zip(&lanes) {
        let row = filesystems::find(name).unwrap();
        let program = row.fuse.map(|fuse| fuse.name);
        assert!([Some(row.mounted_as()), program].contains(&Some(lane.filesystem.as_str())), "{lane:?}");
    }
    home.0.assert_nothing_left();
    home.assert_no_process_stays();
}

#[test]
fn the_six_of_the_article_race_together_in_one_guest() {
    if !user_mode_linux() {
        return;
    }
    let home = Home::new();
    let lanes = ["ext3", "ext4", "ntfs", "jfs", "xfs", "btrfs"];
    let line = home.race_of("1", &[&lanes[..], &["--on", "uml"]].concat());
    home.expect(0, &words(&line));
    let record = home.record();
    assert_all_done(&record, &lanes, "uml", 3);
    // The engine without a device, and the bare disk, inside of the guest.
    assert!(record.probes.iter().any(|probe| probe.profile == Profile::Null));
    assert!(record.probes.iter().any(|probe| probe.profile == Profile::RandRead));
    let commit = &results(&record, "commit")[0];
    assert!(commit.warnings.iter().any(|said| said.starts_with("not durable")), "{:?}", commit.warnings);
    // Debian's kernels have no ntfs3; the lane says what mounted it.
    let ntfs = &record.header.lanes[2].filesystem;
    assert!(["ntfs-3g", "ntfs3"].contains(&ntfs.as_str()), "{ntfs}");
    let driver = format!("driver: {ntfs} ");
    assert!(
        record.header.lanes[2].geometry.iter().any(|fact| fact.starts_with(&driver)),
        "{:?}",
        record.header.lanes[2]
    );
    home.0.assert_nothing_left();
}

#[test]
fn a_lane_that_does_not_flush_is_not_ranked_against_one_that_does_in_user_mode_linux_either() {
    if !user_mode_linux() {
        return;
    }
    let home = Home::new();
    home.expect(0, &words(&home.race_of("1", &["ext4", "risky=ext4,nobarrier", "--on", "uml"])));
    let record = home.record();
    assert!(record.header.lanes.iter().all(|lane| lane.flushes_stop_short));
    let findings = stats::judge::findings(&record);
    for result in &findings.results {
        let pair = &result.pairs[0];
        let why = pair.why.as_deref().unwrap_or_default();
        assert!(pair.verdict == Verdict::None && why.contains("promises"), "{pair:?}");
    }
    let (out, _) = home.expect(0, &["report", "r.jsonl"]);
    assert!(out.contains("guest ceiling") && out.contains("compares the filesystems' code, not your disk"), "{out}");
    home.0.assert_nothing_left();
}

#[test]
fn appenders_tells_its_story_in_a_guest() {
    if !user_mode_linux() {
        return;
    }
    let home = Home::new();
    let lanes = ["ext3", "ext4", "jfs", "xfs", "btrfs", "ntfs"];
    let set = ["writers=20", "seconds=3", "warm_up_seconds=0.5"].map(|of| format!("--set=appenders-400.{of}"));
    let set = set.each_ref().map(String::as_str);
    let fixed = ["--on", "uml", "--rounds", "1", "--lane-size", "320MiB", "--seed", "7", "-o", "r.jsonl"];
    let suite = ["race", "--suite", "appenders", "--workload", "appenders-400"];
    home.expect(0, &[&suite[..], &lanes, &set, &fixed].concat());
    let record = home.record();
    assert_all_done(&record, &lanes, "uml", 1);
    for trial in record.trials.iter().filter(|trial| trial.outcome == Outcome::Ok) {
        let timeline = trial.timeline.as_ref().unwrap_or_else(|| panic!("{trial:?}"));
        let text = serde_json::to_value(timeline).expect("json");
        for series in ["cached_bytes", "dirty_bytes", "load_average", "blocked_tasks", "kworker_share"] {
            let of = text.get(series).and_then(|of| of.as_array()).unwrap_or_else(|| panic!("{series}: {text}"));
            assert!(!of.is_empty(), "{series}: {text}");
        }
        let cached = text["cached_bytes"].as_array().expect("series");
        assert!(cached.iter().all(|bytes| bytes.as_f64().is_some_and(|bytes| bytes > 0.0)), "{cached:?}");
    }
    home.0.assert_nothing_left();
    home.assert_no_process_stays();
}

#[test]
fn two_filesystems_race_in_qemu_on_the_distributions_kernel() {
    let home = Home::new();
    // One round: without KVM the guest is emulated.
    let line = home.race_of("1", &["ext4@qemu", "xfs@qemu", "--guest-cpus", "1", "--guest-memory", "640MiB"]);
    home.expect(0, &words(&line));
    assert_all_done(&home.record(), &["ext4", "xfs"], "qemu", 3);
    home.0.assert_nothing_left();
    home.assert_no_process_stays();
}

/// The kernels that are installed, the newest last.
fn kernels() -> Vec<String> {
    let entries = std::fs::read_dir("/boot").expect("/boot").flatten();
    let mut found: Vec<String> = entries
        .map(|entry| entry.path().to_string_lossy().into_owned())
        .filter(|path| path.starts_with("/boot/vmlinuz-"))
        .collect();
    found.sort();
    found
}

#[test]
fn one_filesystem_on_two_kernels_gets_a_verdict_and_two_filesystems_get_none() {
    let home = Home::new();
    let kernels = kernels();
    let [first, .., last] = kernels.as_slice() else { panic!("two kernels are needed: {kernels:?}") };
    let lanes = [format!("old=ext4@qemu:{first}"), format!("new=ext4@qemu:{last}"), format!("xfs@qemu:{last}")];
    let lanes = [&lanes[0][..], &lanes[1], &lanes[2], "--workload", "small-files", "--guest-cpus", "1"];
    // Each guest starts anew each round, without KVM in a quarter of a minute.
    home.expect(0, &words(&home.race_of("2", &lanes)));
    let record = home.record();
    let kernel = |name: &str| record.header.lanes.iter().find(|lane| lane.name == name).unwrap().kernel.clone();
    assert_ne!(kernel("old"), kernel("new"));
    assert_eq!(kernel("new"), kernel("xfs"));
    assert!(record.header.warnings.iter().any(|said| said.contains("two kernels")), "{:?}", record.header.warnings);
    for result in results(&record, "small-files") {
        for pair in &result.pairs {
            let names = [pair.a.as_str(), pair.b.as_str()];
            let why = pair.why.as_deref().unwrap_or_default();
            match names.contains(&"old") && names.contains(&"xfs") {
                true => assert!(pair.verdict == Verdict::None && why.contains("different kernels"), "{pair:?}"),
                false => assert!(
                    pair.verdict != Verdict::None || result.limit == Limit::OtherPrograms,
                    "{}: {pair:?}",
                    result.limit_reason
                ),
            }
        }
    }
    home.0.assert_nothing_left();
    home.assert_no_process_stays();
}

#[test]
fn lanes_in_several_places_are_shown_beside_each_other_and_not_ranked() {
    if !user_mode_linux() {
        return;
    }
    let home = Home::new();
    let lanes = ["ext4@uml", "tmpfs@uml", "x=ext4@qemu", "--workload", "small-files"];
    home.expect(0, &words(&home.race_of("1", &lanes)));
    let record = home.record();
    let venues: Vec<&str> = record.header.lanes.iter().map(|lane| lane.venue.as_str()).collect();
    assert_eq!(venues, ["uml", "memory", "qemu"]);
    let done = record.trials.iter().filter(|trial| trial.outcome == Outcome::Ok).count();
    assert!(done == 3 && record.trials.iter().all(|trial| trial.outcome != Outcome::Failed), "{:#?}", record.trials);
    assert!(
        record.header.warnings.iter().any(|said| said.starts_with("lanes live in several places")),
        "{:?}",
        record.header.warnings
    );
    let result = &results(&record, "small-files")[0];
    assert_eq!(result.pairs.len(), 3);
    for pair in &result.pairs {
        let why = pair.why.as_deref().unwrap_or_default();
        assert!(pair.verdict == Verdict::None && why.contains("different"), "{pair:?}");
    }
    home.0.assert_nothing_left();
    home.assert_no_process_stays();
}

/// A loop device on a file where an ordinary user may not look, such as another user's race of images.
struct HiddenLoop(String);

impl HiddenLoop {
    fn new(place: &std::path::Path) -> Self {
        let folder = place.join("hidden");
        std::fs::create_dir(&folder).expect("folder");
        std::fs::set_permissions(&folder, std::os::unix::fs::PermissionsExt::from_mode(0o700)).expect("mode");
        let file = folder.join("image");
        std::fs::File::create(&file).and_then(|file| file.set_len(4 << 20)).expect("file");
        HiddenLoop(common::tool("losetup", &["--find", "--show", &file.to_string_lossy()]))
    }
}

impl Drop for HiddenLoop {
    fn drop(&mut self) {
        common::tool("losetup", &["--detach", &self.0]);
    }
}

#[test]
fn btrfs_is_formatted_without_root_whatever_the_machines_loop_devices_are() {
    if !user_mode_linux() {
        return;
    }
    if !common::root() {
        return;
    }
    let home = Home::new();
    {
        // Not a mount: mkfs.btrfs looks at loop devices behind mounts only where it may.
        let hidden = HiddenLoop::new(home.0.path());
        common::tool("mkfs.ext4", &["-q", &hidden.0]);
        let target = home.0.path().join("hidden/mounted");
        std::fs::create_dir(&target).expect("folder");
        common::tool("mount", &[&hidden.0, &target.to_string_lossy()]);
        let output = home.fairlane(&words(&home.race_of("1", &["btrfs@uml", "--workload", "small-files"]))).output();
        common::tool("umount", &[&target.to_string_lossy()]);
        let output = output.expect("fairlane runs");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
    let record = home.record();
    assert_all_done(&record, &["btrfs"], "uml", 1);
    // What mkfs printed in the guest.
    assert!(record.header.lanes[0].geometry.len() > 1, "{:?}", record.header.lanes[0].geometry);
    home.0.assert_nothing_left();
}

#[test]
fn ntfs_races_against_ext4_on_loop_devices_as_root() {
    if !common::root() {
        return;
    }
    let place = Place::new();
    let suite = place.tiny_suite();
    let fixed = ["--suite", &suite, "--rounds", "1", "--lane-size", "128MiB", "--seed", "7", "-o", "r.jsonl"];
    place.expect(0, &[&["race", "ext4", "ntfs"][..], &fixed].concat());
    let text = std::fs::read_to_string(place.path().join("r.jsonl")).expect("record");
    let record = Record::parse(&text).expect("a record");
    // On the host a round beside other programs is raced again.
    assert!(record.trials.iter().all(|trial| trial.outcome != Outcome::Failed), "{:#?}", record.trials);
    assert_eq!(record.trials.iter().filter(|trial| trial.outcome == Outcome::Ok).count(), 6);
    let ntfs = &record.header.lanes[1];
    assert_eq!(ntfs.venue, "image");
    assert!(["ntfs-3g", "ntfs3"].contains(&ntfs.filesystem.as_str()), "{ntfs:?}");
    place.assert_nothing_left();
}

#[test]
fn what_a_guest_cannot_do_is_refused_by_name() {
    if !user_mode_linux() {
        return;
    }
    let home = Home::new();
    for (status, line, says) in [
        (4, vec!["race", "exfat@uml"], vec!["the uml kernel", "lacks exfat", "@qemu"]),
        (4, vec!["race", "bcachefs@qemu"], vec!["lacks bcachefs"]),
        (2, vec!["race", "ext4@qemu:/etc/passwd"], vec!["/etc/passwd is no kernel image"]),
        (2, vec!["race", "ext4@uml", "--throttle", "1MiB/s"], vec!["--throttle", "guest"]),
        // What lies in the guest's memory is lacking there.
        (2, vec!["race", "tmpfs@uml", "--suite", "quick"], vec!["in the guest's memory", "--guest-memory"]),
        (2, vec!["race", "ext4@uml", "--suite", "general", "--as-published"], vec!["starts programs of this machine"]),
        (2, vec!["race", "ext4@uml", "--guest-memory", "1MiB"], vec!["--guest-memory"]),
        // Options that nothing heeds.
        (2, vec!["race", "ext4@uml", "--guest-cpus", "2"], vec!["--guest-cpus has no effect"]),
        (2, vec!["race", "ext4@qemu", "--guest-memory", "128MiB"], vec!["does not boot with 128MiB", "--guest-memory"]),
        (2, vec!["race", "ext4@qemu", "--guest-cpus", "64"], vec!["--guest-cpus 64 is more than", "lower it"]),
        (2, vec!["race", "ext4@qemu", "--guest-sync"], vec!["--guest-sync has no effect"]),
        (2, vec!["race", "ext4@qemu", "--guest-memory", "64TiB"], vec!["--guest-memory", "free"]),
    ] {
        let (_, err) = home.expect(status, &line);
        assert_one_sentence(&err, &says);
    }
    home.0.assert_nothing_left();
}

#[test]
fn a_mount_option_that_the_guests_kernel_does_not_know_is_refused_before_the_race() {
    if !user_mode_linux() {
        return;
    }
    let home = Home::new();
    let line = home.race(&["ext4,nonsense@uml"]);
    let (_, err) = home.expect(2, &words(&line));
    assert_one_sentence(&err, &["lane ext4,nonsense", "nonsense", "refuses the mount option"]);
    home.0.assert_nothing_left();
    home.assert_no_process_stays();
}

#[test]
fn what_a_guests_kernel_makes_of_options_is_found_before_a_screening_is_laid_out() {
    if !user_mode_linux() {
        return;
    }
    let home = Home::new();
    let suite = home.0.tiny_suite();
    let fixed = ["--suite", &suite, "--workload", "commit", "--lane-size", "320MiB", "--dry-run", "-o", "r.jsonl"];
    let screen = ["screen", "ext4@uml", "--option", "noatime", "--option"];
    let (_, err) = home.expect(2, &[&screen[..], &["no_such_option"], &fixed[..]].concat());
    let said = "what --option names is refused: no_such_option (ext4 refuses the mount option `no_such_option`: ";
    assert!(err.contains(said) && !err.contains("noatime"), "{err}");
    home.0.assert_nothing_left();
    home.assert_no_process_stays();
    // What a program there mounts is tried by that program.
    let by_program = ["screen", "ntfs@uml", "--option", "big_writes", "--option", "uid"];
    let (_, err) = home.expect(2, &[&by_program[..], &fixed[..]].concat());
    assert!(err.contains("in a guest that is started for it") && !err.contains("big_writes ("), "{err}");
    assert!(err.contains("what --option names is refused: uid (ntfs-3g refuses it: "), "{err}");
    home.0.assert_nothing_left();
    home.assert_no_process_stays();
    // The kernel shows that one of them changes nothing.
    let more = ["relatime", "--option", "commit=5|30"];
    let (out, err) = home.expect(0, &[&screen[..], &more, &fixed[..]].concat());
    assert!(err.contains("trying 3 options in a guest that is started for it, on a sparse disk of 320MiB"), "{err}");
    let said = out.split_whitespace().collect::<Vec<_>>().join(" ");
    let left_out = "left out: relatime on: it is so here already";
    assert!(said.contains("2 options in 8 lanes") && said.contains(left_out), "{out}");
    assert!(!said.contains("tried beforehand") && !said.contains("ended twice"), "{out}");
    home.0.assert_nothing_left();
    home.assert_no_process_stays();
}

#[test]
fn without_root_a_race_finds_a_place_and_says_which() {
    if !user_mode_linux() {
        return;
    }
    let home = Home::new();
    let line = home.race(&["ext4", "xfs", "--dry-run"]);
    let (out, _) = home.expect(0, &words(&line));
    let one = ["race in user-mode Linux, because", "race in a QEMU guest with KVM"];
    assert_eq!(one.iter().filter(|said| out.contains(**said)).count(), 1, "{out}");
    assert!(out.contains("start a guest:"), "{out}");
    // A directory that is named holds the guest's images.
    let images = home.0.path().join("images");
    std::fs::create_dir(&images).expect("folder");
    home.owns(&images);
    let named = ["ext4", "--dry-run", "--on", &images.to_string_lossy()].map(str::to_owned);
    let (out, _) = home.expect(0, &words(&home.race(&named.iter().map(String::as_str).collect::<Vec<_>>())));
    assert_eq!(one.iter().filter(|said| out.contains(**said)).count(), 1, "{out}");
    assert!(out.contains(&format!("write {}/.fairlane-", images.display())), "{out}");
}

#[test]
fn doctor_shows_every_filesystem_in_every_venue() {
    if !user_mode_linux() {
        return;
    }
    let home = Home::new();
    let (out, _) = home.expect(0, &["doctor"]);
    for row in FILESYSTEMS.iter() {
        assert!(out.lines().any(|line| line.starts_with(row.name)), "{}: {out}", row.name);
    }
    let jfs = out.lines().find(|line| line.starts_with("jfs")).unwrap();
    assert_eq!(jfs.split_whitespace().filter(|word| *word == "ready").count(), 2, "in both guests: {jfs}");
    assert!(out.contains("guests") && out.contains("uml"), "{out}");
    let layers =
        out.lines().skip_while(|line| !line.starts_with("layers")).skip(1).take_while(|line| line.starts_with(' '));
    let layers: Vec<&str> = layers.collect();
    assert_eq!(layers.len(), model::stack::LAYERS.len(), "{out}");
    assert!(layers.iter().all(|line| line.contains("ready")), "{layers:?}");
}

#[test]
fn what_places_mean_for_verdicts_is_said_before_a_race_begins() {
    if !user_mode_linux() {
        return;
    }
    let home = Home::new();
    let fixed =
        ["--suite", "quick", "--workload", "small-files", "--lane-size", "320MiB", "--dry-run", "-o", "r.jsonl"];
    let (out, err) = home.expect(0, &[&["race", "ext4@uml", "e=ext4@qemu"], &fixed[..]].concat());
    let said = format!("{out}{err}").split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(said.contains("pairs across places get no verdict"), "{said}");
    let (out, err) = home.expect(0, &[&["race", "ext4@uml", "xfs@uml"], &fixed[..]].concat());
    assert!(!format!("{out}{err}").contains("no verdict"), "{out}{err}");
}
