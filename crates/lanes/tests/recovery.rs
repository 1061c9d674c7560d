//! SIGKILL at every stage, and a recovery that leaves nothing. The victim is this test binary
//! itself, started again with an environment variable that says where to stop.

mod common;

use common::{Scratch, no_stop, privileged};
use lanes::loop_device::LoopDevice;
use lanes::undo::{Thing, recover, recover_kept};
use lanes::{Journal, LaneSet};
use model::throttle::Throttles;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

const STAGE: &str = "FAIRLANE_TEST_VICTIM_STAGE";
const FOLDER: &str = "FAIRLANE_TEST_VICTIM_FOLDER";

/// Says that it got there, and waits for the end.
fn reached() -> ! {
    // The harness captures `println!`; the parent reads the real standard error.
    std::io::stderr().write_all(b"REACHED\n").unwrap();
    loop {
        std::thread::sleep(Duration::from_secs(60));
    }
}

/// Not a test of its own: without the variable it does nothing.
#[test]
fn victim() {
    let (Ok(stage), Ok(folder)) = (std::env::var(STAGE), std::env::var(FOLDER)) else { return };
    let scratch = std::mem::ManuallyDrop::new(Scratch { path: PathBuf::from(folder) });
    // A mkfs that holds the device open and writes to it for as long as it lives.
    let slow = scratch.path.join("slow.toml");
    let lane = if stage == "mkfs" { slow.to_str().unwrap() } else { "ext4" };
    let base = (stage == "throttled").then(|| "write=1MiB/s".parse().unwrap());
    let mebibytes = if base.is_some() { 128 } else { 64 };
    let throttles = Throttles { base, ..Throttles::default() };
    let settings = lanes::Settings { throttles, ..scratch.settings(&[lane], mebibytes) };
    let mut built = LaneSet::check(settings).unwrap();
    let mut journal = scratch.journal();
    let mut progress = |done: u64, total: u64| match stage.as_str() {
        "directory" => reached(),
        "image" if done >= total / 2 => reached(),
        "mkfs" if done == total => {
            std::io::stderr().write_all(b"REACHED\n").unwrap();
        }
        _ => {}
    };
    if stage == "loop" || stage == "loop-unlearned" {
        let run = scratch.run_directory();
        journal.will(Thing::RunDirectory { path: run.clone() }).unwrap();
        std::fs::create_dir(&run).unwrap();
        let path = run.join("image00");
        lanes::image::Image::create(&path, 16 << 20, 1, &mut |_| {}, &no_stop()).unwrap();
        let entry = journal.will(Thing::Loop { backing: path.clone() }).unwrap();
        if stage == "loop" {
            let device = lanes::loop_device::LoopDevice::attach(&path, None).unwrap();
            journal.learned_device(entry, &device.path()).unwrap();
            reached();
        }
        // A loop device that does not go with us, of an image that is unlinked: the worst case.
        let device = Command::new("losetup").args(["--find", "--show"]).arg(&path).output().unwrap();
        assert!(device.status.success());
        std::fs::remove_file(&path).unwrap();
        reached();
    }
    built.build(&mut journal, &mut progress, &no_stop()).unwrap();
    let opened = built.open(0, 0, &mut journal, &no_stop()).unwrap();
    // More than the throttle writes in the time for which a busy mount is waited for.
    let contents = if stage == "throttled" { vec![7u8; 60 << 20] } else { b"x".to_vec() };
    built.hold(0, 0).unwrap();
    std::fs::write(opened.directory.join("f"), contents).unwrap();
    if stage == "unmounted" {
        built.close(0, &mut journal).unwrap();
    }
    reached();
}

struct Victim {
    child: Child,
}

impl Victim {
    /// Starts the victim and waits until it got to its stage.
    fn at(stage: &str, scratch: &Scratch) -> Victim {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "victim", "--nocapture", "--test-threads=1"])
            .env(STAGE, stage)
            .env(FOLDER, &scratch.path)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut seen = Vec::new();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines().map_while(Result::ok);
        let reached = lines.by_ref().any(|line| {
            let reached = line == "REACHED";
            seen.push(line);
            reached
        });
        assert!(reached, "{stage} was not reached: {seen:?}");
        // The pipe must stay open, or the victim's next word would end it.
        std::thread::spawn(move || lines.for_each(drop));
        Victim { child }
    }

    fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

impl Drop for Victim {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn pids_running(word: &str) -> Vec<String> {
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    let lines = processes.filter_map(|entry| {
        let line = std::fs::read(entry.path().join("cmdline")).ok()?;
        Some((entry.file_name().to_string_lossy().into_owned(), String::from_utf8_lossy(&line).replace('\0', " ")))
    });
    lines.filter(|(_, line)| line.contains("dd if=/dev/zero") && line.contains(word)).map(|(pid, _)| pid).collect()
}

/// What must stand before the kill, or the test would prove nothing.
fn assert_something_stands(stage: &str, scratch: &Scratch) {
    let left = scratch.left().join("\n");
    let wanted = match stage {
        "directory" | "image" => vec!["file", ".fairlane-fairlane-lanes", ".jsonl"],
        "loop" | "loop-unlearned" | "mkfs" | "unmounted" => vec!["loop", ".jsonl"],
        _ => vec!["mount", "loop", ".jsonl"],
    };
    for word in wanted {
        assert!(left.contains(word), "{stage}: no {word} in\n{left}");
    }
}

#[test]
fn nothing_is_left_after_a_kill_at_any_stage() {
    if !privileged("kill at every stage") {
        return;
    }
    for stage in ["directory", "image", "loop", "loop-unlearned", "mkfs", "mounted", "unmounted"] {
        let scratch = Scratch::new();
        // A marker in the command line, so that this test's own mkfs is found.
        let marker = format!("oflag=sync,nofollow bs=4096 count={}", 1_000_000 + std::process::id());
        if stage == "mkfs" {
            let words: Vec<String> = marker.split(' ').map(|word| format!("{word:?}")).collect();
            let text = format!(
                "name = \"slow\"\nmkfs = [\"dd\", \"if=/dev/zero\", \"of={{device}}\", {}, \"seek=0\", \"conv=notrunc\"]\nmount = [\"mount\", \"{{device}}\", \"{{directory}}\"]\n",
                words.join(", ")
            );
            std::fs::write(scratch.path.join("slow.toml"), text).unwrap();
        }
        let mut victim = Victim::at(stage, &scratch);
        if stage == "mkfs" {
            let started = Instant::now();
            while pids_running(&marker).is_empty() {
                assert!(started.elapsed().as_secs() < 10, "mkfs never ran");
                std::thread::sleep(Duration::from_millis(5));
            }
        }
        assert_something_stands(stage, &scratch);
        // While its owner lives, nothing is touched.
        let before = scratch.left();
        let seen = recover(&scratch.undo());
        assert_eq!((seen.living.len(), seen.cleaned.len(), seen.failures.len()), (1, 0, 0), "{stage}");
        assert_eq!(scratch.left(), before, "{stage}");
        victim.kill();
        let recovered = recover(&scratch.undo());
        assert_eq!(recovered.failures, Vec::<String>::new(), "{stage}");
        assert!(!recovered.cleaned.is_empty(), "{stage}");
        assert_eq!(pids_running(&marker), Vec::<String>::new(), "{stage}: mkfs outlived its parent");
        let _ = std::fs::remove_file(scratch.path.join("slow.toml"));
        scratch.assert_nothing_left();
        assert_eq!(recover(&scratch.undo()), lanes::undo::Recovered::default(), "{stage}: twice is once");
    }
}

#[test]
fn nothing_is_left_after_a_kill_although_the_journal_s_disk_is_full() {
    if !privileged("kill on a full disk") {
        return;
    }
    for stage in ["directory", "image", "loop-unlearned", "mounted", "unmounted"] {
        let scratch = Scratch::new();
        lanes::mount::mount("tmpfs", "fairlane-test", &["size=256k".to_owned()], &scratch.undo()).unwrap();
        let mut victim = Victim::at(stage, &scratch);
        let mut filler = std::fs::File::create(scratch.undo().join("filler")).unwrap();
        for block in [vec![1u8; 4096], vec![1u8]] {
            while filler.write_all(&block).is_ok() {}
        }
        victim.kill();
        let recovered = recover(&scratch.undo());
        let journal = scratch.journal_path().exists();
        drop(filler);
        lanes::mount::unmount_patiently(&scratch.undo()).unwrap();
        assert_eq!(recovered.failures, Vec::<String>::new(), "{stage}");
        assert!(!recovered.cleaned.is_empty() && !journal, "{stage}");
        scratch.assert_nothing_left();
    }
}

#[test]
fn a_throttled_lane_is_undone_although_it_has_much_to_write() {
    if !privileged("kill under a throttle") {
        return;
    }
    let scratch = Scratch::new();
    let throttles = Throttles { base: Some("write=1MiB/s".parse().unwrap()), ..Throttles::default() };
    if let Err(reason) = LaneSet::check(lanes::Settings { throttles, ..scratch.settings(&["ext4"], 64) }) {
        eprintln!("kill under a throttle: skipped: {reason}");
        return;
    }
    Victim::at("throttled", &scratch).kill();
    assert_something_stands("throttled", &scratch);
    let recovered = recover(&scratch.undo());
    assert_eq!(recovered.failures, Vec::<String>::new());
    assert!(recovered.cleaned[0].starts_with("lifted the limit of /dev/loop"), "{recovered:?}");
    scratch.assert_nothing_left();
}

#[test]
fn many_recoveries_at_once_clean_up_once() {
    if !privileged("concurrent recovery") {
        return;
    }
    let scratch = Scratch::new();
    Victim::at("mounted", &scratch).kill();
    let results: Vec<_> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..6).map(|_| scope.spawn(|| recover(&scratch.undo()))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert!(results.iter().all(|result| result.failures.is_empty()), "{results:?}");
    let unmounted = |line: &&String| line.starts_with("unmounted");
    assert_eq!(results.iter().flat_map(|result| &result.cleaned).filter(unmounted).count(), 1, "{results:?}");
    scratch.assert_nothing_left();
}

#[test]
fn what_is_kept_on_purpose_is_left_to_clean() {
    if !privileged("keep") {
        return;
    }
    let scratch = Scratch::new();
    let mut stage = LaneSet::check(scratch.settings(&["ext4", "b=ext4"], 64)).unwrap();
    let mut journal = scratch.journal();
    stage.build(&mut journal, &mut |_, _| {}, &no_stop()).unwrap();
    let opened = stage.open(0, 0, &mut journal, &no_stop()).unwrap();
    std::fs::write(opened.directory.join("f"), "x").unwrap();
    // Dropping the journal's descriptor is what the end of the process does.
    let lines = stage.keep(journal).unwrap().join("\n");
    assert!(lines.contains(&format!("ext4 is kept in {}", opened.directory.display())), "{lines}");
    assert!(lines.contains("fairlane clean"), "{lines}");
    assert_eq!(std::fs::read_to_string(opened.directory.join("f")).unwrap(), "x");
    disown(&scratch);
    let recovered = recover(&scratch.undo());
    assert_eq!((recovered.kept, recovered.cleaned), (vec![scratch.run_id()], vec![]));
    assert!(opened.directory.join("f").exists());
    let recovered = recover_kept(&scratch.undo());
    assert_eq!(recovered.failures, Vec::<String>::new());
    scratch.assert_nothing_left();
}

/// Rewrites the owner of a journal to a process that is long dead.
fn disown(scratch: &Scratch) {
    let path = scratch.journal_path();
    let text = std::fs::read_to_string(&path).unwrap();
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let mut owner: serde_json::Value = serde_json::from_str(&lines[0]).unwrap();
    owner["start_ticks"] = 1.into();
    lines[0] = owner.to_string();
    std::fs::write(&path, lines.join("\n") + "\n").unwrap();
}

#[test]
fn a_folder_that_is_not_empty_is_none_that_a_killed_run_just_made() {
    if !privileged("a folder in the place of a run's") {
        return;
    }
    for (full, says) in [(true, "is not the empty directory"), (false, "")] {
        let scratch = Scratch::new();
        let run = scratch.run_directory();
        let target = Path::new("/run").join(run.file_name().unwrap()).join("images");
        let mut journal = scratch.journal();
        // Killed before the folder's inode was known: whoever owns the place may have moved another of root's there.
        journal.will(Thing::BoundDirectory { path: run.clone(), target }).unwrap();
        drop(journal);
        disown(&scratch);
        std::fs::create_dir(&run).unwrap();
        if full {
            std::fs::write(run.join("precious"), "x").unwrap();
        }
        let recovered = recover(&scratch.undo());
        assert_eq!(run.exists(), full, "{recovered:?}");
        assert_eq!(recovered.failures.len(), usize::from(full), "{recovered:?}");
        assert!(recovered.failures.concat().contains(says), "{recovered:?}");
        if full {
            assert_eq!(std::fs::read_to_string(run.join("precious")).unwrap(), "x");
            std::fs::remove_dir_all(&run).unwrap();
        }
        scratch.assert_nothing_left();
    }
}

#[test]
fn a_journal_never_makes_recovery_touch_what_is_not_its_own() {
    let scratch = Scratch::new();
    let precious = scratch.path.join("precious");
    std::fs::create_dir(&precious).unwrap();
    std::fs::write(precious.join("f"), "x").unwrap();
    let run = scratch.run_directory();
    // The run directory was replaced by a link to something of the user's.
    std::os::unix::fs::symlink(&precious, &run).unwrap();
    let mut journal = scratch.journal();
    journal.will(Thing::RunDirectory { path: run.clone() }).unwrap();
    journal.will(Thing::RunDirectory { path: precious.join("f") }).unwrap();
    journal.will(Thing::RunDirectory { path: run.join("../precious/f") }).unwrap();
    drop(journal);
    disown(&scratch);
    let recovered = recover(&scratch.undo());
    assert_eq!(recovered.cleaned, Vec::<String>::new());
    assert_eq!(recovered.failures.len(), 3, "{recovered:?}");
    assert!(precious.join("f").exists() && run.symlink_metadata().is_ok());
    // What was replaced is told of once; a journal that names other places stays for a look.
    assert_eq!(recover(&scratch.undo()).failures.len(), 2);
    // A directory of the same name that this run did not make.
    std::fs::remove_file(&run).unwrap();
    std::fs::create_dir(&run).unwrap();
    std::fs::write(run.join("mine"), "x").unwrap();
    std::fs::remove_file(scratch.journal_path()).unwrap();
    let mut journal = scratch.journal();
    let entry = journal.will(Thing::RunDirectory { path: run.clone() }).unwrap();
    journal.learned_inode(entry, 1, 1).unwrap();
    drop(journal);
    disown(&scratch);
    let recovered = recover(&scratch.undo());
    assert_eq!(recovered.failures.len(), 1, "{recovered:?}");
    assert!(recovered.failures[0].contains("has the inode 1"), "{recovered:?}");
    assert!(run.join("mine").exists());
    assert_eq!(recover(&scratch.undo()), lanes::undo::Recovered::default(), "it is told once");
}

/// A disk with the superblock of an array, as a loop device.
fn disk_of_array(scratch: &Scratch, file: &str, uuid: u8, name: &str) -> LoopDevice {
    let path = scratch.path.join(file);
    let disk = std::fs::File::create_new(&path).unwrap();
    disk.set_len(1 << 20).unwrap();
    // linux/raid/md_p.h, version 1.2: magic, UUID of the array, its name.
    let superblock = [&0xa92b_4efcu32.to_le_bytes()[..], &[0; 12], &[uuid; 16], name.as_bytes()].concat();
    disk.write_all_at(&superblock, 4096).unwrap();
    LoopDevice::attach(&path, None).unwrap()
}

#[test]
fn superblocks_of_a_run_s_own_arrays_are_wiped_after_a_boot_too_and_nobody_else_s_are() {
    if !privileged("disks of arrays") {
        return;
    }
    let scratch = Scratch::new();
    let own: String = format!("fairlane-{}", scratch.run_id()).chars().take(32).collect();
    // Disks of this run's array, of the same run's next one, of somebody's of the same UUID; and no disk.
    let [ours, next, somebodys] = [("a", 1, own.as_str()), ("b", 2, &own), ("c", 1, "home:0")]
        .map(|(file, uuid, name)| disk_of_array(&scratch, file, uuid, name));
    let disks: Vec<PathBuf> = [ours.path(), next.path(), somebodys.path()]
        .into_iter()
        .chain(["/dev/null", "/dev/no-such-disk"].map(PathBuf::from))
        .collect();
    let holds = |file: &str| {
        let mut bytes = [0; 4];
        std::fs::File::open(scratch.path.join(file)).unwrap().read_exact_at(&mut bytes, 4096).unwrap();
        bytes != [0; 4]
    };
    let array = |uuid: &str, name: &str| Thing::Array {
        number: 211,
        uuid: uuid.repeat(16),
        name: name.to_owned(),
        disks: disks.clone(),
    };
    let recovered_from = |thing: Thing| {
        let mut journal = scratch.journal();
        journal.will(thing).unwrap();
        drop(journal);
        disown(&scratch);
        let text = std::fs::read_to_string(scratch.journal_path()).unwrap();
        let (first, rest) = text.split_once('\n').unwrap();
        let mut owner: serde_json::Value = serde_json::from_str(first).unwrap();
        owner["boot_id"] = "another boot".into();
        std::fs::write(scratch.journal_path(), format!("{owner}\n{rest}")).unwrap();
        recover(&scratch.undo())
    };
    // A forged journal.
    for (uuid, name) in [("01", "home:0"), ("01", ""), ("0", &own)] {
        let recovered = recovered_from(array(uuid, name));
        assert!(recovered.failures.concat().contains("which no run makes"), "{recovered:?}");
        assert!(["a", "b", "c"].into_iter().all(holds), "{name}");
        std::fs::remove_file(scratch.journal_path()).ok();
    }
    let recovered = recovered_from(array("01", &own));
    assert_eq!(recovered.failures, Vec::<String>::new());
    assert_eq!(["a", "b", "c"].map(holds), [false, true, true]);
    drop((ours, next, somebodys));
    ["a", "b", "c"].iter().for_each(|file| std::fs::remove_file(scratch.path.join(file)).unwrap());
    scratch.assert_nothing_left();
}

#[test]
fn links_inside_a_run_directory_are_removed_and_never_followed() {
    let scratch = Scratch::new();
    let precious = scratch.path.join("precious");
    std::fs::write(&precious, "x").unwrap();
    let run = scratch.run_directory();
    let mut journal = scratch.journal();
    journal.will(Thing::RunDirectory { path: run.clone() }).unwrap();
    std::fs::create_dir(&run).unwrap();
    std::os::unix::fs::symlink("/", run.join("root")).unwrap();
    std::os::unix::fs::symlink(&precious, run.join("link")).unwrap();
    drop(journal);
    disown(&scratch);
    let recovered = recover(&scratch.undo());
    assert_eq!((recovered.failures.len(), recovered.cleaned.len()), (0, 1), "{recovered:?}");
    assert!(!run.exists() && precious.exists() && Path::new("/usr").exists());
}

#[test]
fn a_second_journal_of_the_same_run_is_refused() {
    let scratch = Scratch::new();
    let journal = scratch.journal();
    assert!(Journal::begin(&scratch.undo(), &scratch.run_id()).is_err());
    journal.finish().unwrap();
    scratch.assert_nothing_left();
}

#[test]
fn a_damaged_journal_is_reported_and_left() {
    let scratch = Scratch::new();
    let path = scratch.journal_path();
    std::fs::write(&path, "not a journal\n").unwrap();
    let recovered = recover(&scratch.undo());
    assert!(recovered.failures[0].contains("damaged"), "{recovered:?}");
    assert!(path.exists());
}
