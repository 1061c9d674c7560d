//! Root races in a folder of somebody else's, who moves the run's folder about and puts others in its place as fast
//! as he can. Nothing outside of it is touched, and nothing is left that is not named.

mod common;

use common::{Scratch, no_stop, privileged};
use lanes::undo::recover;
use lanes::{LaneFailure, LaneSet, Settings};
use model::plan::Ground;
use std::io::{BufRead, BufReader, Write as _};
use std::os::unix::fs::{MetadataExt as _, chown, lchown, symlink};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

const ATTACK: &str = "FAIRLANE_TEST_ATTACK";
const VICTIM: &str = "FAIRLANE_TEST_VICTIM";
const NOBODY: u32 = 65534;

/// What an attacker would have root touch, and where root works.
struct Ambush {
    scratch: Scratch,
}

impl Ambush {
    fn new() -> Ambush {
        let scratch = Scratch::new();
        let ambush = Ambush { scratch };
        for folder in ["theirs/place", "canary"] {
            std::fs::create_dir_all(ambush.scratch.path.join(folder)).unwrap();
        }
        for name in ["image00", "image01", "precious"] {
            std::fs::write(ambush.canary().join(name), "precious").unwrap();
        }
        for name in ["mount00", "mount01", "lane00", "place", "guest00"] {
            std::fs::create_dir(ambush.canary().join(name)).unwrap();
            std::fs::write(ambush.canary().join(name).join("f"), "precious").unwrap();
        }
        // The folder of a run of this name, in a place that root alone should have.
        let run = ambush.scratch.run_directory().file_name().unwrap().to_owned();
        std::fs::create_dir(ambush.canary().join(&run)).unwrap();
        std::fs::write(ambush.canary().join(&run).join("f"), "precious").unwrap();
        for path in [ambush.theirs(), ambush.place()] {
            chown(path, Some(NOBODY), Some(NOBODY)).unwrap();
        }
        ambush
    }

    fn theirs(&self) -> PathBuf {
        self.scratch.path.join("theirs")
    }

    fn place(&self) -> PathBuf {
        self.theirs().join("place")
    }

    fn canary(&self) -> PathBuf {
        self.scratch.path.join("canary")
    }

    fn settings(&self, specs: &[&str]) -> Settings {
        Settings { ground: Ground::Images(self.place()), ..self.scratch.settings(specs, 64) }
    }

    /// Everything of the canary: names, inodes, sizes, times; a mount on it shows as another inode.
    fn state(&self) -> Vec<String> {
        let mut state = Vec::new();
        let mut folders = vec![self.canary()];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).unwrap().flatten() {
                let found = entry.path().symlink_metadata().unwrap();
                let time = (found.mtime(), found.mtime_nsec(), found.ctime(), found.ctime_nsec());
                state.push(format!("{:?} {} {} {} {time:?}", entry.path(), found.dev(), found.ino(), found.len()));
                if found.is_dir() {
                    folders.push(entry.path());
                }
            }
        }
        state.sort();
        state
    }

    /// What of root's lies in the attacker's folders.
    fn left(&self) -> Vec<String> {
        let mut left = Vec::new();
        let mut folders = vec![self.theirs()];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).unwrap().flatten() {
                let found = entry.path().symlink_metadata().unwrap();
                if found.uid() == 0 {
                    left.push(entry.path().display().to_string());
                } else if found.is_dir() {
                    folders.push(entry.path());
                }
            }
        }
        left.extend(self.scratch.left().into_iter().filter(|line| !line.starts_with("file") || line.contains("/run/")));
        left
    }
}

/// Not a test of its own: without the variable it does nothing. Swaps the folder of a run, and the folder that it
/// lies in, until it is killed.
#[test]
fn attacker() {
    let Ok(words) = std::env::var(ATTACK) else { return };
    let [theirs, canary, run, whole]: [&str; 4] = words.split(' ').collect::<Vec<_>>().try_into().unwrap();
    assert_eq!(rustix::process::geteuid().as_raw(), NOBODY);
    let theirs = PathBuf::from(theirs);
    let (place, moved) = (theirs.join("place"), theirs.join("moved"));
    let (folder, away, decoy) = (place.join(run), place.join("away"), place.join("decoy"));
    let _ = std::fs::create_dir(&decoy);
    for name in ["mount00", "mount01", "lane00", "guest00", "image00", "image01"] {
        let _ = symlink(Path::new(canary).join(name), decoy.join(name));
    }
    std::io::stderr().write_all(b"ATTACKS\n").unwrap();
    for round in 0u64.. {
        if std::fs::rename(&folder, &away).is_ok() || away.exists() {
            let _ = symlink(canary, &folder);
            std::thread::sleep(Duration::from_micros(round % 300));
            let _ = std::fs::remove_file(&folder);
            let _ = std::fs::rename(&decoy, &folder);
            std::thread::sleep(Duration::from_micros(round % 200));
            let _ = std::fs::rename(&folder, &decoy);
            let _ = std::fs::rename(&away, &folder);
        } else {
            // Before it is there: a link that may be followed.
            let _ = symlink(canary, &folder);
            let _ = std::fs::remove_file(&folder);
        }
        if whole == "whole" && round % 7 == 0 {
            let _ = std::fs::rename(&place, &moved);
            let _ = symlink(canary, &place);
            std::thread::sleep(Duration::from_micros(round % 300));
            let _ = std::fs::remove_file(&place);
            let _ = std::fs::rename(&moved, &place);
        }
        std::thread::sleep(Duration::from_micros(round % 100));
    }
}

/// Not a test of its own: builds a lane in the attacker's folder and waits for its end.
#[test]
fn victim() {
    let (Ok(path), Ok(stage)) = (std::env::var(VICTIM), std::env::var("FAIRLANE_TEST_STAGE")) else { return };
    let ambush = std::mem::ManuallyDrop::new(Ambush { scratch: Scratch { path: PathBuf::from(path) } });
    let say = |word: &str| std::io::stderr().write_all(word.as_bytes()).unwrap();
    let wait = || -> ! {
        say("REACHED\n");
        loop {
            std::thread::sleep(Duration::from_secs(60));
        }
    };
    let run = || -> Result<(), LaneFailure> {
        let mut built = LaneSet::check(ambush.settings(&["ext4"]))?;
        let mut journal = ambush.scratch.journal();
        let mut progress = |done: u64, total: u64| {
            if stage == "image" && done >= total / 2 {
                wait()
            }
        };
        built.build(&mut journal, &mut progress, &no_stop())?;
        let opened = built.open(0, 0, &mut journal, &no_stop())?;
        std::fs::write(opened.directory.join("f"), "x").unwrap();
        wait()
    };
    say(&format!("{:?}\n", run()));
}

fn start(name: &str, envs: &[(&str, &str)], uid: u32) -> (Child, impl Iterator<Item = String> + Send + use<>) {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", name, "--nocapture", "--test-threads=1"])
        .envs(envs.iter().copied())
        .current_dir("/")
        .uid(uid)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(child.stderr.take().unwrap()).lines().map_while(Result::ok);
    (child, lines)
}

struct Attack(Child);

impl Attack {
    fn on(ambush: &Ambush, whole: bool) -> Attack {
        let run = ambush.scratch.run_directory();
        let words = [
            ambush.theirs().display().to_string(),
            ambush.canary().display().to_string(),
            run.file_name().unwrap().to_string_lossy().into_owned(),
            if whole { "whole" } else { "folder" }.to_owned(),
        ];
        let (child, mut lines) = start("attacker", &[(ATTACK, &words.join(" "))], NOBODY);
        assert!(lines.any(|line| line == "ATTACKS"), "the attacker does not run");
        std::thread::spawn(move || lines.for_each(drop));
        Attack(child)
    }
}

impl Drop for Attack {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// One whole race; errors are fine, as long as they name what is left.
fn race(ambush: &Ambush, specs: &[&str]) -> Vec<String> {
    let mut said = Vec::new();
    let mut lane_set = match LaneSet::check(ambush.settings(specs)) {
        Ok(lane_set) => lane_set,
        Err(error) => return vec![error.to_string()],
    };
    let mut journal = ambush.scratch.journal();
    let mut work = || -> Result<(), LaneFailure> {
        lane_set.build(&mut journal, &mut |_, _| {}, &no_stop())?;
        for _ in 0..3 {
            for lane in 0..specs.len() {
                let opened = lane_set.open(lane, lane_set.store_for(lane, 0), &mut journal, &no_stop())?;
                std::fs::write(opened.directory.join("f"), "ours").unwrap();
                lane_set.make_cold(lane)?;
                lane_set.close(lane, &mut journal)?;
            }
        }
        Ok(())
    };
    said.extend(work().err().map(|error| error.to_string()));
    match lane_set.teardown(&mut journal) {
        Ok(()) => journal.finish().unwrap(),
        Err(error) => said.push(error.to_string()),
    }
    said
}

fn assert_untouched(ambush: &Ambush, before: &[String], said: &[String]) {
    assert_eq!(ambush.state(), before, "the canary was touched: {said:?}");
    let mounts = lanes::mountinfo::read().unwrap();
    assert_eq!(lanes::mountinfo::below(&mounts, &ambush.canary()).count(), 0);
}

#[test]
fn whoever_moves_the_folder_of_a_run_about_gets_nothing_of_root_s() {
    if !privileged("moved folders") {
        return;
    }
    let mut whole_races = 0;
    for round in 0..8 {
        let ambush = Ambush::new();
        let before = ambush.state();
        let directory = ambush.place().display().to_string();
        let specs: Vec<&str> = if round % 2 == 0 { vec!["ext4", "ext2"] } else { vec![&directory] };
        let attack = Attack::on(&ambush, round >= 4);
        let said = race(&ambush, &specs);
        drop(attack);
        let recovered = recover(&ambush.scratch.undo());
        assert_untouched(&ambush, &before, &said);
        whole_races += usize::from(said.is_empty());
        let told = format!("{said:?} {recovered:?}");
        for left in ambush.left() {
            // An empty folder of root's that could not even be opened is told of by the folder that it lies beside.
            assert!(told.contains(&left) || told.contains("may be left beside it"), "{left} is not named: {told}");
        }
    }
    assert!(whole_races > 0, "no race came to its end, so that nothing was tried");
}

#[test]
fn a_folder_that_was_moved_after_a_kill_is_found_or_named() {
    if !privileged("moved after a kill") {
        return;
    }
    for (stage, attacked) in [("image", false), ("mounted", false), ("image", true), ("mounted", true)] {
        let ambush = Ambush::new();
        let path = ambush.scratch.path.display().to_string();
        let (mut child, mut lines) = start("victim", &[(VICTIM, &path), ("FAIRLANE_TEST_STAGE", stage)], 0);
        assert!(lines.any(|line| line == "REACHED"), "{stage} was not reached");
        let before = ambush.state();
        let attack = attacked.then(|| Attack::on(&ambush, true));
        if !attacked {
            // Away for good, with a link and with a folder of the attacker's in its place.
            let (run, away) = (
                ambush.place().join(ambush.scratch.run_directory().file_name().unwrap()),
                ambush.theirs().join("away"),
            );
            std::fs::rename(&run, away).unwrap();
            symlink(ambush.canary(), &run).unwrap();
            lchown(&run, Some(NOBODY), None).unwrap();
        }
        std::thread::sleep(Duration::from_millis(50));
        child.kill().unwrap();
        child.wait().unwrap();
        let recovered = recover(&ambush.scratch.undo());
        drop(attack);
        let again = recover(&ambush.scratch.undo());
        assert_untouched(&ambush, &before, &recovered.failures);
        let told = format!("{recovered:?} {again:?}");
        for left in ambush.left() {
            assert!(told.contains(&left), "{stage}, {attacked}: {left} is not named: {told}");
        }
        if !attacked {
            assert_eq!(ambush.left(), Vec::<String>::new(), "{stage}: {told}");
            assert_eq!(recovered.failures, Vec::<String>::new(), "{stage}");
        }
    }
}

/// Where nobody else can rename anything, everything lies where it always did.
#[test]
fn in_a_folder_of_root_s_nothing_is_mounted_twice() {
    if !privileged("a folder of root's") {
        return;
    }
    let scratch = Scratch::new();
    let described = |settings: Settings| LaneSet::check(settings).unwrap().describe().join("\n");
    let of_root = described(scratch.settings(&["ext4"], 64));
    assert!(!of_root.contains("mount --bind"), "{of_root}");
    assert!(of_root.contains(&format!("{}/mount00", scratch.run_directory().display())), "{of_root}");
    drop(scratch);
    let ambush = Ambush::new();
    let of_nobody = described(ambush.settings(&["ext4"]));
    assert!(of_nobody.contains(&format!("make the directory {}", ambush.place().display())), "{of_nobody}");
    assert!(of_nobody.contains(&format!("mount --bind {}", ambush.place().display())), "{of_nobody}");
    assert!(of_nobody.contains(&format!("/run/.fairlane-{}/mount00", ambush.scratch.run_id())), "{of_nobody}");
    assert!(race(&ambush, &["ext4"]).is_empty(), "undisturbed it is a race like any other");
    assert_eq!(ambush.left(), Vec::<String>::new());
}
