//! Races in guests, as an ordinary user: where the tests run as root, Fairlane runs as nobody.

mod common;

use common::{Place, assert_one_sentence};
use model::findings::{ResultFinding, Verdict};
use model::record::{Profile, Record};
use model::trial::Outcome;
use rustix::process::{Pid, Signal, kill_process};
use std::os::unix::fs::chown;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

/// The user that nothing belongs to.
const NOBODY: u32 = 65534;

/// A place that an ordinary user owns.
struct Home(Place);

impl Home {
    fn new() -> Self {
        let place = Place::new();
        if rustix::process::geteuid().is_root() {
            for path in [place.path().to_owned(), place.path().join("undo")] {
                chown(path, Some(NOBODY), Some(NOBODY)).expect("chown");
            }
        }
        Home(place)
    }

    fn fairlane(&self, arguments: &[&str]) -> Command {
        let mut command = self.0.fairlane(arguments);
        command.env("HOME", self.0.path()).env_remove("XDG_DATA_HOME");
        if rustix::process::geteuid().is_root() {
            command.uid(NOBODY).gid(NOBODY);
        }
        command
    }

    #[track_caller]
    fn expect(&self, status: i32, arguments: &[&str]) -> (String, String) {
        let Output { status: found, stdout, stderr } = self.fairlane(arguments).output().expect("fairlane runs");
        let (out, err) = (String::from_utf8_lossy(&stdout).into_owned(), String::from_utf8_lossy(&stderr).into_owned());
        assert_eq!(found.code(), Some(status), "fairlane {arguments:?}\nstdout:\n{out}\nstderr:\n{err}");
        (out, err)
    }

    fn race(&self, more: &[&str]) -> Vec<String> {
        self.race_of("2", more)
    }

    fn race_of(&self, rounds: &str, more: &[&str]) -> Vec<String> {
        let suite = self.0.tiny_suite();
        let fixed = ["--suite", &suite, "--rounds", rounds, "--lane-size", "320MiB", "--seed", "7", "-o", "r.jsonl"];
        ["race"].iter().chain(more).chain(&fixed).map(|&word| word.to_owned()).collect()
    }

    fn record(&self) -> Record {
        let text = std::fs::read_to_string(self.0.path().join("r.jsonl")).expect("record");
        Record::parse(&text).expect("a record")
    }

    /// Processes whose command line names this place.
    fn processes(&self) -> Vec<(u32, String)> {
        let place = self.0.path().to_string_lossy().into_owned();
        let of = |entry: std::fs::DirEntry| {
            let pid = entry.file_name().to_str()?.parse().ok()?;
            let line = std::fs::read(entry.path().join("cmdline")).ok()?;
            let line = String::from_utf8_lossy(&line).replace('\0', " ");
            line.contains(&place).then_some((pid, line))
        };
        std::fs::read_dir("/proc").expect("/proc").flatten().filter_map(of).collect()
    }

    #[track_caller]
    fn assert_no_process_stays(&self) {
        let begun = Instant::now();
        let mut left = self.processes();
        while !left.is_empty() && begun.elapsed() < Duration::from_secs(10) {
            std::thread::sleep(Duration::from_millis(20));
            left = self.processes();
        }
        assert!(left.is_empty(), "{left:?}");
    }
}

fn words(list: &[String]) -> Vec<&str> {
    list.iter().map(String::as_str).collect()
}

#[track_caller]
fn assert_all_done(record: &Record, lanes: &[&str], venue: &str, trials_of_each: usize) {
    assert_eq!(record.header.lanes.iter().map(|lane| lane.name.as_str()).collect::<Vec<_>>(), lanes);
    assert!(
        record.header.lanes.iter().all(|lane| lane.venue == venue && !lane.kernel.is_empty()),
        "{:?}",
        record.header.lanes
    );
    let bad: Vec<_> = record.trials.iter().filter(|trial| trial.outcome != Outcome::Ok).collect();
    assert!(bad.is_empty(), "{bad:#?}");
    for lane in lanes {
        let trials = record.trials.iter().filter(|trial| trial.lane == *lane);
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
    let home = Home::new();
    let lanes = ["ext3", "ext4", "jfs", "xfs", "btrfs", "reiserfs", "f2fs", "nilfs2"];
    let quick = ["race", "--suite", "quick", "--workload", "small-files", "--set", "small-files.files=150"];
    let fixed = ["--on", "uml", "--rounds", "6", "--lane-size", "320MiB", "--seed", "7", "-o", "r.jsonl"];
    let (out, _) = home.expect(0, &[&quick[..], &lanes[..], &fixed[..]].concat());
    assert!(out.contains("compares the filesystems' code, not your disk"), "{out}");
    let record = home.record();
    assert_all_done(&record, &lanes, "uml", 6);
    let create = &results(&record, "small-files")[0];
    assert_eq!((create.rounds, create.pairs.len()), (6, 28));
    assert!(create.pairs.iter().all(|pair| pair.ratio.is_some() && pair.verdict != Verdict::None), "{create:#?}");
    // What the guest's own system did, window by window.
    for trial in &record.trials {
        let course = trial.course.as_ref().unwrap_or_else(|| panic!("{trial:?}"));
        assert!(!course.seconds.is_empty() && !course.device_iops.is_empty(), "{course:?}");
    }
    // No flush reaches a disk there, and nothing promises that it does.
    assert!(record.header.lanes.iter().all(|lane| !lane.promises.fsync_reaches_stable_storage));
    assert!(record.probes.iter().any(|probe| probe.profile == Profile::Flush));
    home.0.assert_nothing_left();
    home.assert_no_process_stays();
}

#[test]
fn the_six_of_the_article_race_together_in_one_guest() {
    let home = Home::new();
    let lanes = ["ext3", "ext4", "ntfs", "jfs", "xfs", "btrfs"];
    let line = home.race(&[&lanes[..], &["--on", "uml"]].concat());
    home.expect(0, &words(&line));
    let record = home.record();
    assert_all_done(&record, &lanes, "uml", 6);
    // The engine without a device, and the bare disk, inside of the guest.
    assert!(record.probes.iter().any(|probe| probe.profile == Profile::Null));
    assert!(record.probes.iter().any(|probe| probe.profile == Profile::RandRead));
    let commit = &results(&record, "commit")[0];
    assert!(commit.warnings.iter().any(|said| said.starts_with("not durable")), "{:?}", commit.warnings);
    // Debian's kernels have no ntfs3; the lane says what mounted it.
    let ntfs = &record.header.lanes[2].filesystem;
    assert!(["ntfs-3g", "ntfs3"].contains(&ntfs.as_str()), "{ntfs}");
    home.0.assert_nothing_left();
}

#[test]
fn two_filesystems_race_in_qemu_on_the_distributions_kernel() {
    let home = Home::new();
    let line = home.race(&["ext4@qemu", "xfs@qemu", "--guest-cpus", "1", "--guest-memory", "640MiB"]);
    home.expect(0, &words(&line));
    assert_all_done(&home.record(), &["ext4", "xfs"], "qemu", 6);
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
    home.expect(0, &words(&home.race_of("6", &lanes)));
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
                false => assert_ne!(pair.verdict, Verdict::None, "{}: {pair:?}", result.limit_reason),
            }
        }
    }
    home.0.assert_nothing_left();
    home.assert_no_process_stays();
}

#[test]
fn lanes_in_several_places_are_shown_beside_each_other_and_not_ranked() {
    let home = Home::new();
    let lanes = ["ext4@uml", "tmpfs@uml", "x=ext4@qemu", "--workload", "small-files"];
    home.expect(0, &words(&home.race_of("1", &lanes)));
    let record = home.record();
    let venues: Vec<&str> = record.header.lanes.iter().map(|lane| lane.venue.as_str()).collect();
    assert_eq!(venues, ["uml", "memory", "qemu"]);
    let done = record.trials.iter().filter(|trial| trial.outcome == Outcome::Ok).count();
    assert_eq!((done, record.trials.len()), (3, 3), "{:#?}", record.trials);
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
    ] {
        let (_, err) = home.expect(status, &line);
        assert_one_sentence(&err, &says);
    }
    home.0.assert_nothing_left();
}

#[test]
fn a_mount_option_that_the_guests_kernel_does_not_know_is_refused_before_the_race() {
    let home = Home::new();
    let line = home.race(&["ext4,nonsense@uml"]);
    let (_, err) = home.expect(2, &words(&line));
    assert_one_sentence(&err, &["lane ext4,nonsense", "nonsense", "refuses the mount option"]);
    home.0.assert_nothing_left();
    home.assert_no_process_stays();
}

/// Starts a race that stops itself at a phase, with its guest running.
fn held(home: &Home, phase: &str) -> Child {
    let line = home.race(&["ext4@uml", "xfs@uml"]);
    let child = home
        .fairlane(&words(&line))
        .env("FAIRLANE_HOLD", phase)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("fairlane starts");
    wait_until_held(&child);
    child
}

fn wait_until_held(child: &Child) {
    let begun = Instant::now();
    loop {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", child.id())).unwrap_or_default();
        match stat.rsplit(") ").next().unwrap_or("Z").chars().next() {
            Some('T') => return,
            Some('Z') | None => panic!("the race ended before"),
            _ => assert!(begun.elapsed() < Duration::from_secs(120), "the race never came to the phase"),
        }
        std::thread::sleep(Duration::from_millis(2));
    }
}

fn signal(pid: u32, signal: Signal) {
    kill_process(Pid::from_raw(pid as i32).expect("a pid"), signal).expect("a signal");
}

/// The process of a guest's kernel, and its keeper.
fn guest_of(home: &Home) -> (u32, u32) {
    let all = home.processes();
    let find = |keeper: bool| {
        let of = |line: &str| line.contains("guest-keeper") == keeper && line.contains("umid=guest");
        all.iter().find(|(_, line)| of(line)).map(|(pid, _)| *pid).unwrap_or_else(|| panic!("{all:?}"))
    };
    (find(false), find(true))
}

#[test]
fn sigkill_with_a_guest_running_leaves_nothing() {
    for with_keeper in [false, true] {
        let home = Home::new();
        let mut child = held(&home, "measure");
        let (_, keeper) = guest_of(&home);
        if with_keeper {
            signal(keeper, Signal::KILL);
        }
        signal(child.id(), Signal::KILL);
        child.wait().expect("it is gone");
        if !with_keeper {
            home.assert_no_process_stays();
        }
        home.expect(0, &["clean"]);
        home.assert_no_process_stays();
        home.0.assert_nothing_left();
    }
}

#[test]
fn a_guest_that_dies_costs_its_trials_and_the_race_goes_on() {
    let home = Home::new();
    let mut child = held(&home, "measure");
    let (kernel, _) = guest_of(&home);
    signal(kernel, Signal::KILL);
    loop {
        signal(child.id(), Signal::CONT);
        if let Some(status) = child.try_wait().expect("wait") {
            assert!(matches!(status.code(), Some(0 | 1)), "{status}");
            break;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    let record = home.record();
    let (died, went_on): (Vec<_>, Vec<_>) = record.trials.iter().partition(|trial| trial.outcome == Outcome::Failed);
    assert!(!died.is_empty() && !went_on.is_empty(), "{:#?}", record.trials);
    assert!(
        died.iter().any(|trial| trial.reason.as_deref().is_some_and(|why| why.contains("uml guest died"))),
        "{died:#?}"
    );
    assert!(record.end.is_some());
    home.0.assert_nothing_left();
}

#[test]
fn an_agent_that_runs_out_of_memory_fails_its_trial_alone() {
    let home = Home::new();
    let suite = home.0.path().join("hungry.toml");
    let hungry = "\n[[workload]]\nname = \"hungry\"\ntitle = \"hungry\"\nkind = \"io\"\nrw = \"randread\"\nbs = \"1MiB\"\n\
                  size = \"16MiB\"\nioengine = \"io_uring\"\niodepth = 512\ndirect = true\nslices = 2\nslice_seconds = 0.02\n";
    std::fs::write(&suite, format!("{}{hungry}", common::TINY)).unwrap();
    let line =
        ["race", "ext4@uml", "--suite", "hungry.toml", "--rounds", "1", "--lane-size", "128MiB", "-o", "r.jsonl"];
    let (_, _) = home.expect(1, &[&line[..], &["--guest-memory", "256MiB"]].concat());
    let record = home.record();
    for trial in &record.trials {
        assert_eq!(trial.outcome == Outcome::Failed, trial.workload == "hungry", "{trial:?}");
    }
    assert_eq!(record.trials.len(), 4);
    home.0.assert_nothing_left();
}

#[test]
fn without_root_a_race_finds_a_place_and_says_which() {
    let home = Home::new();
    let line = home.race(&["ext4", "xfs", "--dry-run"]);
    let (out, _) = home.expect(0, &words(&line));
    let one = ["race in user-mode Linux, because", "race in a QEMU guest with KVM"];
    assert_eq!(one.iter().filter(|said| out.contains(**said)).count(), 1, "{out}");
    assert!(out.contains("start a guest:"), "{out}");
}

#[test]
fn doctor_shows_every_filesystem_in_every_venue() {
    let home = Home::new();
    let (out, _) = home.expect(0, &["doctor"]);
    for row in lanes::filesystem::FILESYSTEMS.iter() {
        assert!(out.lines().any(|line| line.starts_with(row.name)), "{}: {out}", row.name);
    }
    let jfs = out.lines().find(|line| line.starts_with("jfs")).unwrap();
    assert_eq!(jfs.split_whitespace().filter(|word| *word == "ready").count(), 2, "in both guests: {jfs}");
    assert!(out.contains("guests") && out.contains("uml"), "{out}");
}
