//! The emulated disk: limits on real loop devices, set and lifted, journalled, refused and undone.

mod common;

use common::{Scratch, no_stop, privileged, refusal, with_lanes};
use lanes::undo::{Recovered, Thing, recover};
use lanes::{FailureKind, LaneSet, Settings};
use model::Throttle;
use model::plan::Ground;
use model::throttle::Throttles;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The root group of blkio, held by one test at a time.
struct Alone {
    root: PathBuf,
    _alone: MutexGuard<'static, ()>,
}

impl std::ops::Deref for Alone {
    type Target = Path;

    fn deref(&self) -> &Path {
        &self.root
    }
}

/// The root group of blkio, where this machine has it mounted.
fn blkio(test: &str) -> Option<Alone> {
    // A limit on the number of a device meets whoever takes that number: one test at a time.
    static ONE: Mutex<()> = Mutex::new(());
    let alone = ONE.lock().unwrap_or_else(PoisonError::into_inner);
    if !privileged(test) {
        return None;
    }
    let mounts = lanes::mountinfo::read().unwrap();
    let found = mounts.iter().find(|mount| {
        mount.filesystem == "cgroup"
            && mount.super_options.iter().any(|option| option == "blkio")
            && mount.target.join("blkio.throttle.read_bps_device").exists()
    });
    if found.is_none() {
        eprintln!("{test}: skipped, because blkio of cgroup v1 is not mounted; mount it: mount -t cgroup -o blkio …");
    }
    found.map(|mount| Alone { root: mount.target.clone(), _alone: alone })
}

/// The four limits of a device as the kernel shows them: bytes read, bytes written, reads, writes.
fn limits(root: &Path, device: &str) -> [Option<u64>; 4] {
    let number = std::fs::read_to_string(format!("/sys/class/block/{device}/dev")).unwrap();
    ["read_bps", "write_bps", "read_iops", "write_iops"].map(|name| {
        let text = std::fs::read_to_string(root.join(format!("blkio.throttle.{name}_device"))).unwrap();
        let line = text.lines().find_map(|line| line.strip_prefix(&format!("{} ", number.trim())));
        line.map(|limit| limit.parse().unwrap())
    })
}

const NONE: [Option<u64>; 4] = [None; 4];

fn limit_by_hand(root: &Path, device: &str, name: &str, limit: u64) {
    let number = std::fs::read_to_string(format!("/sys/class/block/{device}/dev")).unwrap();
    std::fs::write(root.join(format!("blkio.throttle.{name}_device")), format!("{} {limit}\n", number.trim())).unwrap();
}

fn throttled(settings: Settings, limits: &str) -> Settings {
    Settings { throttles: Throttles { base: Some(limits.parse().unwrap()), ..Throttles::default() }, ..settings }
}

/// Limits of lanes' own.
fn with_own(mut settings: Settings, own: &[(&str, &str)]) -> Settings {
    let own = own.iter().map(|(lane, limits)| ((*lane).to_owned(), limits.parse().unwrap()));
    settings.throttles.lanes.extend(own);
    settings
}

/// A loop device of the user's own over a file of the scratch folder.
struct Disk {
    name: String,
    file: PathBuf,
}

impl Disk {
    fn new(scratch: &Scratch, mebibytes: u64) -> Disk {
        let file = scratch.path.join("disk");
        std::fs::File::create(&file).unwrap().set_len(mebibytes << 20).unwrap();
        let made = Command::new("losetup").args(["--partscan", "--find", "--show"]).arg(&file).output().unwrap();
        assert!(made.status.success(), "{made:?}");
        let path = String::from_utf8(made.stdout).unwrap();
        let disk = Disk { name: path.trim().trim_start_matches("/dev/").to_owned(), file };
        // What a run that was killed left on this number would be somebody else's limit.
        disk.lift();
        disk
    }

    fn lift(&self) {
        if let Ok(mounts) = lanes::mountinfo::read()
            && let Some(root) = mounts.iter().find(|mount| mount.super_options.iter().any(|option| option == "blkio"))
        {
            for name in ["read_bps", "write_bps", "read_iops", "write_iops"] {
                limit_by_hand(&root.target, &self.name, name, 0);
            }
        }
    }

    fn path(&self) -> PathBuf {
        PathBuf::from(format!("/dev/{}", self.name))
    }

    fn lane(&self) -> String {
        format!("ext4@/dev/{}", self.name)
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        // A limit would outlive the device and be the next one's.
        self.lift();
        let _ = Command::new("losetup").arg("-d").arg(self.path()).status();
        let _ = std::fs::remove_file(&self.file);
    }
}

#[test]
fn a_device_is_held_and_lifted_and_nothing_is_left_at_the_end() {
    let Some(root) = blkio("hold and lift") else { return };
    let scratch = Scratch::new();
    let settings = throttled(scratch.settings(&["ext4", "b=ext4"], 64), "20MiB/s,write=2000iops");
    let mut names = Vec::new();
    with_lanes(&scratch, settings, |lane_set, journal| {
        names = (0..2).map(|ground| lane_set.device_names(ground).device.unwrap()).collect();
        assert_eq!(limits(&root, &names[0]), NONE, "built, but nothing is measured yet");
        lane_set.open(0, 0, journal, &no_stop()).unwrap();
        lane_set.hold(0, 0).unwrap();
        lane_set.hold(0, 0).unwrap();
        assert_eq!(limits(&root, &names[0]), [Some(20 << 20), Some(20 << 20), None, Some(2000)]);
        assert_eq!(limits(&root, &names[1]), NONE, "the other lane's device is its own");
        lane_set.lift(0).unwrap();
        lane_set.lift(0).unwrap();
        assert_eq!(limits(&root, &names[0]), NONE);
        // The end of the race finds one that is still held.
        lane_set.hold(1, 1).unwrap();
        assert_ne!(limits(&root, &names[1]), NONE);
    });
    for name in names {
        assert_eq!(limits(&root, &name), NONE, "{name}");
    }
}

#[test]
fn a_device_has_the_limits_of_the_lane_that_stands_on_it_at_the_moment() {
    let Some(root) = blkio("lanes with limits of their own") else { return };
    let scratch = Scratch::new();
    let settings = with_own(
        throttled(scratch.settings(&["full=ext4", "less=ext4", "base=ext4"], 64), "9000iops"),
        &[("full", "20MiB/s,2000iops"), ("less", "write=1000iops")],
    );
    let mut names = Vec::new();
    with_lanes(&scratch, settings, |lane_set, _| {
        names = (0..3).map(|ground| lane_set.device_names(ground).device.unwrap()).collect::<Vec<_>>();
        let mib = 20 << 20;
        let full = [Some(mib), Some(mib), Some(2000), Some(2000)];
        let less = [None, None, None, Some(1000)];
        let base = [None, None, Some(9000), Some(9000)];
        for round in 0..3 {
            // Devices rotate among the lanes, and each lane takes its limits along.
            for (lane, expected) in [full, less, base].into_iter().enumerate() {
                let ground = lane_set.store_for(lane, round);
                lane_set.hold(ground, lane).unwrap();
                assert_eq!(limits(&root, &names[ground]), expected, "lane {lane} on ground {ground}");
            }
            lane_set.lift_all().unwrap();
            assert!(names.iter().all(|name| limits(&root, name) == NONE));
        }
        // From one lane's to another's nothing of the first is left; a ceiling is that of all lanes.
        lane_set.hold(0, 0).unwrap();
        lane_set.hold(0, 1).unwrap();
        assert_eq!(limits(&root, &names[0]), less);
        lane_set.hold_bare(0).unwrap();
        assert_eq!(limits(&root, &names[0]), base);
        // The end of the race finds it held.
        lane_set.hold(0, 0).unwrap();
    });
    for name in names {
        assert_eq!(limits(&root, &name), NONE, "{name}");
    }
}

#[test]
fn a_lane_without_limits_is_not_held_and_may_stand_on_anything() {
    let Some(root) = blkio("a lane without limits") else { return };
    let scratch = Scratch::new();
    let own = &[("less", "1000iops")];
    with_lanes(&scratch, with_own(scratch.settings(&["free=ext4", "less=ext4"], 64), own), |lane_set, _| {
        let name = lane_set.device_names(0).device.unwrap();
        lane_set.hold(0, 0).unwrap();
        assert_eq!(limits(&root, &name), NONE);
        lane_set.hold_bare(0).unwrap();
        assert_eq!(limits(&root, &name), NONE, "no ceiling is held where not all lanes are");
        lane_set.hold(0, 1).unwrap();
        assert_eq!(limits(&root, &name)[2..], [Some(1000), Some(1000)]);
        lane_set.hold(0, 0).unwrap();
        assert_eq!(limits(&root, &name), NONE, "whoever stood there before");
        let told = lane_set.describe().join("\n");
        assert!(
            told.contains("hold each lane's device while it is measured, free to nothing, less to 1000iops: "),
            "{told}"
        );
    });
    // Memory has no disk, and a device that somebody limits is nobody's business who limits nothing there.
    let disk = Disk::new(&scratch, 64);
    limit_by_hand(&root, &disk.name, "write_iops", 777);
    let mut settings = with_own(scratch.settings(&["tmpfs", &disk.lane(), "less=ext4"], 64), own);
    settings.erase = vec![disk.path()];
    let mut lane_set = LaneSet::check(settings.clone()).unwrap();
    let warned = lane_set.warnings().join("\n");
    assert!(warned.contains(&format!("/dev/{} is limited by somebody else (777 in ", disk.name)), "{warned}");
    let mut journal = scratch.journal();
    lane_set.build(&mut journal, &mut |_, _| {}, &no_stop()).unwrap();
    for lane in 0..3 {
        let ground = lane_set.store_for(lane, 0);
        lane_set.hold(ground, lane).unwrap();
    }
    assert_eq!(limits(&root, &disk.name), [None, None, None, Some(777)]);
    lane_set.teardown(&mut journal).unwrap();
    journal.finish().unwrap();
    assert_eq!(limits(&root, &disk.name), [None, None, None, Some(777)]);
    // With limits of its own each of the two is refused.
    for (lane, says) in [("tmpfs", "lives in memory"), ("ext4", "somebody else's")] {
        let error = refusal(with_own(settings.clone(), &[(lane, "1000iops")])).to_string();
        assert!(error.contains(&format!("lane {lane}")) && error.contains(says), "{error}");
    }
    drop(disk);
    scratch.assert_nothing_left();
}

#[test]
fn the_twin_of_the_first_lane_is_held_like_it() {
    let Some(root) = blkio("twin") else { return };
    let scratch = Scratch::new();
    let settings = Settings { with_self: true, ..scratch.settings(&["ext4"], 64) };
    with_lanes(&scratch, with_own(settings, &[("ext4", "1000iops")]), |lane_set, _| {
        let name = lane_set.device_names(1).device.unwrap();
        lane_set.hold(1, 1).unwrap();
        assert_eq!(limits(&root, &name)[2..], [Some(1000), Some(1000)]);
    });
}

#[test]
fn the_agent_is_moved_to_where_the_limit_holds_for_it() {
    let Some(root) = blkio("join") else { return };
    let scratch = Scratch::new();
    let elsewhere = root.join(scratch.run_id());
    std::fs::create_dir(&elsewhere).unwrap();
    let mut child = Command::new("sleep").arg("60").spawn().unwrap();
    std::fs::write(elsewhere.join("cgroup.procs"), format!("{}\n", child.id())).unwrap();
    let inside = || std::fs::read_to_string(elsewhere.join("cgroup.procs")).unwrap();
    let before = inside();
    with_lanes(&scratch, throttled(scratch.settings(&["ext4"], 64), "20MiB/s"), |lane_set, _| {
        lane_set.join_throttled(child.id()).unwrap();
    });
    let after = inside();
    child.kill().unwrap();
    child.wait().unwrap();
    std::fs::remove_dir(&elsewhere).unwrap();
    assert_eq!((before.trim(), after.trim()), (child.id().to_string().as_str(), ""));
}

#[test]
fn a_limit_of_somebody_elses_is_refused_and_stays() {
    let Some(root) = blkio("somebody else's limit") else { return };
    let scratch = Scratch::new();
    let disk = Disk::new(&scratch, 64);
    limit_by_hand(&root, &disk.name, "write_iops", 777);
    let mut settings = throttled(scratch.settings(&[&disk.lane()], 64), "20MiB/s");
    settings.erase = vec![disk.path()];
    let error = refusal(settings.clone());
    assert_eq!(error.kind(), FailureKind::Usage);
    let text = error.to_string();
    for part in ["lane ext4", &disk.name, "777", "blkio.throttle.write_iops_device", "echo "] {
        assert!(text.contains(part), "`{part}` is missing: {text}");
    }
    assert_eq!(limits(&root, &disk.name), [None, None, None, Some(777)]);
    // Once it is gone the device can be raced; set meanwhile, it is seen before anything is limited.
    limit_by_hand(&root, &disk.name, "write_iops", 0);
    let mut lane_set = LaneSet::check(settings).unwrap();
    limit_by_hand(&root, &disk.name, "read_bps", 1_000_000);
    let mut journal = scratch.journal();
    let built = lane_set.build(&mut journal, &mut |_, _| {}, &no_stop());
    assert!(built.unwrap_err().to_string().contains("somebody else's"));
    lane_set.teardown(&mut journal).unwrap();
    journal.finish().unwrap();
    assert_eq!(limits(&root, &disk.name), [Some(1_000_000), None, None, None]);
    drop(disk);
    scratch.assert_nothing_left();
}

#[test]
fn a_loop_device_that_somebody_limits_is_passed_over() {
    let Some(root) = blkio("limit of a free loop device") else { return };
    // A test beside this one may take the device and give it back, and with it goes the limit: then it is tried again.
    let stayed = (0..50).any(|_| is_passed_over(&root));
    assert!(stayed, "a loop device that somebody limits is never left alone long enough to look at it");
}

/// Whether the limit of a free loop device was there all the time while lanes took others.
fn is_passed_over(root: &Path) -> bool {
    let scratch = Scratch::new();
    let free = Command::new("losetup").arg("--find").output().unwrap();
    let free = String::from_utf8(free.stdout).unwrap().trim().trim_start_matches("/dev/").to_owned();
    // More than any disk here does: whoever takes the device meanwhile does not notice.
    limit_by_hand(root, &free, "write_bps", 1 << 44);
    let mut stayed = false;
    let built = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        with_lanes(&scratch, scratch.settings(&["ext4", "b=ext4"], 64), |lane_set, _| {
            // Beside it another may stand that a killed run left.
            stayed = limits(root, &free)[1] == Some(1 << 44);
            for lane in (0..2).filter(|_| stayed) {
                let name = lane_set.device_names(lane).device.unwrap();
                assert_eq!(limits(root, &name), NONE, "{name}");
                assert_ne!(name, free);
                assert!(!lane_set.warnings().join("\n").contains("is limited"), "what is passed over is not measured");
            }
        });
    }));
    limit_by_hand(root, &free, "write_bps", 0);
    built.unwrap();
    stayed
}

#[test]
fn lanes_without_a_disk_of_their_own_are_refused_by_name() {
    let scratch = Scratch::new();
    let folder = scratch.path.join("folder");
    std::fs::create_dir(&folder).unwrap();
    let directory = format!("mine={}", folder.display());
    let mut cases = vec![(directory, vec!["lane mine", "shares its disk", "--on"])];
    if privileged("refusals") {
        cases.push(("tmpfs".to_owned(), vec!["lane tmpfs", "lives in memory", "without --throttle"]));
    }
    for (lane, says) in cases {
        let error = refusal(throttled(scratch.settings(&[&lane], 64), "20MiB/s"));
        assert_eq!(error.kind(), FailureKind::Usage, "{error}");
        for part in says {
            assert!(error.to_string().contains(part), "`{part}` is missing: {error}");
        }
    }
    let edited = Throttle { read_iops: Some(1), ..Throttle::default() };
    let settings = |throttles| Settings { throttles, ..scratch.settings(&["ext4"], 64) };
    if privileged("refusals") {
        let base = Throttles { base: Some(edited), ..Throttles::default() };
        assert!(refusal(settings(base)).to_string().contains("`1iops`"));
        let own = |lane: &str| Throttles { base: None, lanes: [(lane.to_owned(), edited)].into() };
        assert!(refusal(settings(own("ext4"))).to_string().contains("lane ext4: `1iops`"));
        assert!(refusal(settings(own("xfs"))).to_string().contains("`xfs` that is not in this race"));
    }
    std::fs::remove_dir(folder).unwrap();
    scratch.assert_nothing_left();
}

#[test]
fn a_partition_is_refused_because_the_kernel_limits_whole_disks() {
    if !privileged("partition") {
        return;
    }
    let scratch = Scratch::new();
    let disk = Disk::new(&scratch, 128);
    let added = Command::new("addpart").arg(disk.path()).args(["1", "2048", "196608"]).status().unwrap();
    assert!(added.success());
    let part = PathBuf::from(format!("{}p1", disk.path().display()));
    let mut settings = throttled(scratch.settings(&[], 32), "20MiB/s");
    settings.specs = vec!["ext2".parse().unwrap()];
    settings.ground = Ground::Device(part.clone());
    settings.erase = vec![part.clone()];
    // Somebody could confirm it: the refusal comes before.
    settings.terminal = true;
    settings.largest_work.bytes = 1 << 20;
    let error = refusal(settings);
    assert!(error.to_string().contains("is a partition, and the kernel limits whole disks only"), "{error}");
    Command::new("delpart").arg(disk.path()).arg("1").status().unwrap();
    drop(disk);
    scratch.assert_nothing_left();
}

/// Writes a journal of a run that is dead, with one limit in it; `change` edits its first line.
fn dead_journal(scratch: &Scratch, disk: &Disk, throttle: &str, change: impl Fn(&mut serde_json::Value)) {
    dead_journals(scratch, disk, &[throttle], change);
}

/// The same with an entry for each of these limits.
fn dead_journals(scratch: &Scratch, disk: &Disk, throttles: &[&str], change: impl Fn(&mut serde_json::Value)) {
    let number = std::fs::read_to_string(format!("/sys/class/block/{}/dev", disk.name)).unwrap();
    let (major, minor) = number.trim().split_once(':').unwrap();
    let mut journal = scratch.journal();
    for throttle in throttles {
        let thing = Thing::Limit {
            device: (major.parse().unwrap(), minor.parse().unwrap()),
            name: disk.name.clone(),
            sequence: 0,
            throttle: throttle.parse().unwrap(),
        };
        journal.will(thing).unwrap();
    }
    drop(journal);
    disown(scratch, change);
}

/// Rewrites the owner of a journal to a process that is long dead.
fn disown(scratch: &Scratch, change: impl Fn(&mut serde_json::Value)) {
    let path = scratch.journal_path();
    let text = std::fs::read_to_string(&path).unwrap();
    let (owner, rest) = text.split_once('\n').unwrap();
    let mut owner: serde_json::Value = serde_json::from_str(owner).unwrap();
    owner["start_ticks"] = 1.into();
    change(&mut owner);
    std::fs::write(&path, format!("{owner}\n{rest}")).unwrap();
}

#[test]
fn what_a_dead_run_limited_is_lifted_and_what_others_limited_is_not() {
    let Some(root) = blkio("undo of limits") else { return };
    let scratch = Scratch::new();
    let disk = Disk::new(&scratch, 16);
    let set = |values: [u64; 2]| {
        limit_by_hand(&root, &disk.name, "read_bps", values[0]);
        limit_by_hand(&root, &disk.name, "write_bps", values[1]);
    };
    let mib = 1 << 20;
    let recovered = |change: &dyn Fn(&mut serde_json::Value)| {
        dead_journal(&scratch, &disk, "20MiB/s", change);
        let recovered = recover(&scratch.undo());
        assert!(recovered.failures.is_empty(), "{recovered:?}");
        assert!(!scratch.journal_path().exists());
        recovered.cleaned
    };
    let lifted = vec![format!("lifted the limit of /dev/{}", disk.name)];
    // All as it was set, although the device carries another file by now: it was left over.
    set([20 * mib, 20 * mib]);
    assert_eq!(recovered(&|_| {}), lifted);
    assert_eq!(limits(&root, &disk.name), NONE);
    // Somebody set another limit since.
    set([20 * mib, 30 * mib]);
    assert_eq!(recovered(&|_| {}), Vec::<String>::new());
    assert_eq!(limits(&root, &disk.name), [Some(20 * mib), Some(30 * mib), None, None]);
    // After a reboot nothing is left of ours: an equal limit is somebody's own.
    set([20 * mib, 20 * mib]);
    assert_eq!(recovered(&|owner| owner["boot_id"] = "another boot".into()), Vec::<String>::new());
    assert_eq!(limits(&root, &disk.name), [Some(20 * mib), Some(20 * mib), None, None]);
    // Killed between two of its limits, with its own image still on the device.
    let run = scratch.run_directory();
    std::fs::create_dir(&run).unwrap();
    std::fs::rename(&disk.file, run.join("image00")).unwrap();
    set([20 * mib, 0]);
    assert_eq!(recovered(&|_| {}), lifted);
    assert_eq!(limits(&root, &disk.name), NONE);
    std::fs::rename(run.join("image00"), &disk.file).unwrap();
    std::fs::remove_dir(&run).unwrap();
    // Nothing there: nothing to do.
    assert_eq!(recovered(&|_| {}), Vec::<String>::new());
    drop(disk);
    scratch.assert_nothing_left();
}

/// The limits of two lanes that take turns on one device: whichever of them stood at the death is lifted,
/// and nobody else's.
#[test]
fn of_several_values_the_one_that_a_dead_run_set_is_lifted() {
    let Some(root) = blkio("undo of several limits") else { return };
    let scratch = Scratch::new();
    let disk = Disk::new(&scratch, 16);
    let both = ["20MiB/s,2000iops", "20MiB/s,1000iops"];
    let set = |values: [u64; 4]| {
        for (name, value) in ["read_bps", "write_bps", "read_iops", "write_iops"].into_iter().zip(values) {
            limit_by_hand(&root, &disk.name, name, value);
        }
    };
    let mib = 20 << 20;
    let lifted = vec![format!("lifted the limit of /dev/{}", disk.name)];
    let recovered = || {
        dead_journals(&scratch, &disk, &both, |_| {});
        let recovered = recover(&scratch.undo());
        assert!(recovered.failures.is_empty(), "{recovered:?}");
        assert!(!scratch.journal_path().exists());
        recovered.cleaned
    };
    for iops in [2000, 1000] {
        set([mib, mib, iops, iops]);
        assert_eq!(recovered(), lifted, "{iops}");
        assert_eq!(limits(&root, &disk.name), NONE);
    }
    // Neither of the two as a whole: somebody's own.
    set([mib, mib, 3000, 3000]);
    assert_eq!(recovered(), Vec::<String>::new());
    assert_eq!(limits(&root, &disk.name), [Some(mib), Some(mib), Some(3000), Some(3000)]);
    // With its own image still on the device: two entries share a bandwidth, and the device is named once.
    let run = scratch.run_directory();
    std::fs::create_dir(&run).unwrap();
    std::fs::rename(&disk.file, run.join("image00")).unwrap();
    set([mib, mib, 2000, 2000]);
    assert_eq!(recovered(), lifted);
    assert_eq!(limits(&root, &disk.name), NONE);
    // Killed between two values, and somebody's own beside them.
    set([mib, 0, 1000, 3000]);
    assert_eq!(recovered(), lifted);
    assert_eq!(limits(&root, &disk.name), [None, None, None, Some(3000)]);
    std::fs::rename(run.join("image00"), &disk.file).unwrap();
    std::fs::remove_dir(&run).unwrap();
    drop(disk);
    scratch.assert_nothing_left();
}

#[test]
fn a_limit_of_a_living_run_is_left_alone() {
    let Some(root) = blkio("living run") else { return };
    let scratch = Scratch::new();
    with_lanes(&scratch, throttled(scratch.settings(&["ext4"], 64), "20MiB/s"), |lane_set, journal| {
        lane_set.open(0, 0, journal, &no_stop()).unwrap();
        lane_set.hold(0, 0).unwrap();
        let name = lane_set.device_names(0).device.unwrap();
        let Recovered { living, cleaned, failures, .. } = recover(&scratch.undo());
        assert_eq!((living, cleaned, failures), (vec![std::process::id()], vec![], vec![]));
        assert_eq!(limits(&root, &name)[0], Some(20 << 20));
    });
}

/// The root of cgroup v2, where it hands its controller `io` out, so that limits go through it.
fn cgroup_v2(test: &str) -> Option<PathBuf> {
    if !privileged(test) {
        return None;
    }
    let mounts = lanes::mountinfo::read().unwrap();
    let hands_out = |mount: &&lanes::mountinfo::MountEntry| {
        mount.filesystem == "cgroup2"
            && std::fs::read_to_string(mount.target.join("cgroup.subtree_control"))
                .is_ok_and(|text| text.split_whitespace().any(|word| word == "io"))
    };
    let found = mounts.iter().find(hands_out);
    if found.is_none() {
        eprintln!("{test}: skipped, because cgroup v2 does not hand out `io` here");
    }
    found.map(|mount| mount.target.clone())
}

#[test]
fn under_cgroup_v2_a_group_of_the_runs_own_is_limited_and_goes_with_the_run() {
    let Some(root) = cgroup_v2("cgroup v2") else { return };
    let scratch = Scratch::new();
    let group = root.join(format!("fairlane-{}", scratch.run_id()));
    let limit = || std::fs::read_to_string(group.join("io.max")).unwrap();
    let mut child = Command::new("sleep").arg("60").spawn().unwrap();
    with_lanes(&scratch, throttled(scratch.settings(&["ext4"], 64), "20MiB/s"), |lane_set, journal| {
        lane_set.join_throttled(child.id()).unwrap();
        assert_eq!(std::fs::read_to_string(group.join("cgroup.procs")).unwrap().trim(), child.id().to_string());
        lane_set.open(0, 0, journal, &no_stop()).unwrap();
        lane_set.hold(0, 0).unwrap();
        assert!(limit().contains("rbps=20971520 wbps=20971520 riops=max wiops=max"), "{}", limit());
        lane_set.lift(0).unwrap();
        assert_eq!(limit().trim(), "");
        child.kill().unwrap();
        child.wait().unwrap();
    });
    assert!(!group.exists());
    // After a death the next command removes the group.
    let mut journal = scratch.journal();
    journal.will(Thing::Group { path: group.clone() }).unwrap();
    std::fs::create_dir(&group).unwrap();
    drop(journal);
    disown(&scratch, |_| {});
    assert_eq!(recover(&scratch.undo()).failures, Vec::<String>::new());
    assert!(!group.exists());
}
