//! What somebody tries who writes a suite, or owns a folder above a lane, to have root's hands: each attempt as a test.

mod common;

use common::{KIB, MIB, directory, io, is_root, on_disk};
use engine::{EngineError, OpenTarget, Window, Work};
use model::Bytes;
use model::agent::{Part, Target};
use model::job::{Io, Job, Jobs};
use model::programs::Programs;
use model::workload::{Kind, Pattern, Workload};
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown, symlink};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use tempfile::TempDir;

const NOBODY: u32 = 65534;

fn prepare(place: &OpenTarget, kind: Kind) -> Result<Box<dyn Work>, EngineError> {
    let workload = Workload { name: "t".into(), title: "t".into(), kind };
    engine::prepare(place, &workload, 7, Arc::new(AtomicBool::new(false)))
}

/// A lane, and beside it a folder with a secret that only its owner may read.
fn scene() -> TempDir {
    let top = on_disk();
    for folder in ["lane", "private"] {
        std::fs::create_dir(top.path().join(folder)).unwrap();
        std::fs::set_permissions(top.path().join(folder), PermissionsExt::from_mode(0o700)).unwrap();
    }
    std::fs::write(top.path().join("private/secret"), "of root alone\n".repeat(100)).unwrap();
    top
}

/// Runs the steps of a suite; the outcome of the last one. What they made is looked at in between.
fn run(scene: &TempDir, steps: &[String]) -> Result<Window, EngineError> {
    let private = scene.path().join("private");
    let text = format!("step = [{}]", steps.join(", ").replace("PRIVATE", private.to_str().unwrap()));
    let programs: Programs = toml::from_str(&text).unwrap();
    let place = directory(&scene.path().join("lane"));
    let mut work = prepare(&place, Kind::Programs(Box::new(programs.clone())))?;
    let mut last = Window::default();
    for group in programs.groups().iter().filter(|group| *group != "total") {
        last = work.phase(&place, group, Part::WHOLE, &mut ())?;
        work.verify(&place)?;
    }
    Ok(last)
}

fn step(name: &str, program: &[&str], more: &str) -> String {
    format!("{{ name = \"{name}\", program = {program:?}{more} }}")
}

fn refused(outcome: Result<Window, EngineError>) -> String {
    outcome.map(|window| window.operations).unwrap_err().to_string()
}

#[test]
fn an_overlay_is_made_of_the_lanes_own_folders_and_of_nothing_behind_a_link() {
    if !is_root("an_overlay_is_made_of_the_lanes_own_folders_and_of_nothing_behind_a_link") {
        return;
    }
    let overlay = |lower: &str, does: &str| {
        format!("{{ name = \"overlay\", overlay = {{ lower = [\"{lower}\"], do = \"{does}\" }} }}")
    };
    let make = step("make", &["mkdir", "-p", "low", "overlay-work"], "");
    let fill = step("fill", &["sh", "-c", "for n in 1 2 3; do echo $n > low/$n; done"], "");
    let scene = scene();
    let link = |name: &str, to: &str| step(&format!("link {name}"), &["ln", "-s", to, name], "");
    // What is written goes to root's folder.
    let upper = [make.clone(), fill.clone(), link("overlay-upper", "PRIVATE"), overlay("low", "change")];
    let said = refused(run(&scene, &upper));
    assert!(said.contains("overlay-upper") && (said.contains("link") || said.contains("mkdir")), "{said}");
    // What is read is root's: by a link, by one within the path, and by a colon, which divides layers.
    for lower in ["away", "away/.", "x:PRIVATE", "low:PRIVATE"] {
        let said = refused(run(&scene, &[make.clone(), fill.clone(), link("away", "PRIVATE"), overlay(lower, "read")]));
        assert!(said.contains("link") || said.contains("No such file"), "{lower}: {said}");
    }
    let names: Vec<_> =
        std::fs::read_dir(scene.path().join("private")).unwrap().map(|of| of.unwrap().file_name()).collect();
    assert_eq!(names, ["secret"], "nothing was made there");
    // The lane's own are read and changed as ever, links in them left alone.
    let within = step("within", &["ln", "-s", "PRIVATE/secret", "low/link"], "");
    let done = run(&scene, &[make, fill, within, overlay("low", "read")]).unwrap();
    assert_eq!(done.operations, 3);
}

#[test]
fn what_a_step_made_is_looked_at_in_the_lane_alone() {
    if !is_root("what_a_step_made_is_looked_at_in_the_lane_alone") {
        return;
    }
    let scene = scene();
    let link = step("link", &["ln", "-s", "PRIVATE", "away"], "");
    for (more, says) in [
        (", outputs = [\"away/secret\"]", "link"),
        (", reads = [\"away/secret\"]", "link"),
        (", outputs = [\"pipe\"]", "no regular file"),
        (", outputs = [\"socket/x\"]", "No such file"),
    ] {
        let make = step("make", &["sh", "-c", "rm -f pipe; mkfifo pipe"], more);
        let said = refused(run(&scene, &[link.clone(), make]));
        assert!(said.contains(says), "{more}: {said}");
    }
}

#[test]
fn a_permitted_program_starts_no_other_whatever_settings_it_finds() {
    if engine::programs::find("git").is_none() {
        panic!("git is missing: apt install git");
    }
    // A user allowed the first step; the second is one that a suite may have by itself.
    let settings = |text: &str| {
        let line = format!(
            "git init -q r && cd r && git commit -q --allow-empty -m a && echo a > a && mkdir hooks && \
             printf '#!/bin/sh\\ntouch /tmp/../mnt/fired fired ../fired' > hooks/pre-commit && chmod +x hooks/pre-commit && \
             cp hooks/pre-commit hooks/post-checkout && cp hooks/pre-commit hooks/x && echo '* filter=x' > .gitattributes && \
             printf '{text}' >> .git/config"
        );
        step("settings", &["sh", "-c", &line], "")
    };
    for (text, asks) in [
        ("[core]\\n\\tfsmonitor = touch ../fired\\n", &["git", "-C", "r", "status", "--porcelain"][..]),
        ("[core]\\n\\tfsmonitor = hooks/x\\n", &["git", "-C", "r", "status", "--porcelain"]),
        ("[core]\\n\\thooksPath = hooks\\n", &["git", "-C", "r", "commit", "-q", "-a", "-m", "b"]),
        ("[core]\\n\\thooksPath = hooks\\n", &["git", "-C", "r", "checkout", "-q", "-b", "b"]),
        ("[filter \"x\"]\\n\\tclean = touch ../fired\\n", &["git", "-C", "r", "add", "-A"]),
        ("[filter \"x\"]\\n\\tprocess = hooks/x\\n\\trequired\\n", &["git", "-C", "r", "add", "-A"]),
        ("[gc]\\n\\trecentObjectsHook = touch ../fired\\n", &["git", "-C", "r", "gc", "-q"]),
        ("[core]\\n\\tpager = touch ../fired\\n[pager]\\n\\tlog = true\\n", &["git", "-C", "r", "log"]),
        (
            "[commit]\\n\\tgpgSign = true\\n[gpg]\\n\\tprogram = hooks/x\\n",
            &["git", "-C", "r", "commit", "-q", "-a", "-m", "b"],
        ),
    ] {
        let scene = scene();
        // Whether git minds is its own affair.
        let _ = run(&scene, &[settings(text), step("asks", asks, "")]);
        let top = scene.path().join("lane/fairlane-programs");
        assert!(top.join("r/.git/config").exists(), "the settings were made");
        assert!(!top.join("fired").exists() && !top.join("r/fired").exists(), "{text}");
    }
    // Nor in a repository without a work tree, as servers have them; the work itself is done.
    let bare = scene();
    let made =
        "git init -q --bare b && printf '[core]\\n\\tfsmonitor = touch fired\\n\\thooksPath = hooks\\n' >> b/config";
    let repack = ["git", "-C", "b", "repack", "-a", "-q"];
    run(&bare, &[step("bare", &["sh", "-c", made], ""), step("repack", &repack, "")]).unwrap();
    assert!(!bare.path().join("lane/fairlane-programs/b/fired").exists());
    let scene = scene();
    // And git goes on to do its work: the suite's own way, with a shell that starts upload-pack.
    let made = "git init -q r && cd r && echo a > a && git add a && git commit -q -m a";
    run(
        &scene,
        &[
            step("made", &["sh", "-c", made], ""),
            step("clone", &["git", "clone", "-q", "--no-local", "r", "s"], ""),
            step("status", &["git", "-C", "s", "status", "--porcelain"], ""),
            step("branch", &["git", "-C", "s", "checkout", "-q", "-b", "x"], ""),
            step("add", &["git", "-C", "s", "add", "-A"], ""),
            step("repack", &["git", "-C", "s", "repack", "-a", "-q"], ""),
            step("gc", &["git", "-C", "s", "gc", "-q"], ""),
            step("fsck", &["git", "-C", "s", "fsck", "--no-progress"], ""),
            step("tar", &["tar", "-cf", "s.tar", "s"], ""),
            step("untar", &["tar", "-xf", "s.tar", "-C", "to"], ", folders = [\"to\"]"),
        ],
    )
    .unwrap();
}

/// What holds a program to itself leaves its system calls as they are: a file that is moved stays the same file.
#[test]
fn a_permitted_program_moves_and_links_between_folders() {
    use std::os::unix::fs::MetadataExt;
    let scene = scene();
    let made =
        step("made", &["sh", "-c", "mkdir a b && echo x > a/moved && echo y > a/linked && ls -i a/moved > inode"], "");
    let moved = step("moved", &["mv", "a/moved", "b/moved"], "");
    let linked = step("linked", &["ln", "a/linked", "b/linked"], "");
    run(&scene, &[made, moved, linked]).unwrap();
    let top = scene.path().join("lane/fairlane-programs");
    let before = std::fs::read_to_string(top.join("inode")).unwrap();
    let after = std::fs::metadata(top.join("b/moved")).unwrap().ino();
    assert_eq!(before.split_whitespace().next(), Some(&*after.to_string()));
    assert_eq!(std::fs::metadata(top.join("b/linked")).unwrap().nlink(), 2);
}

#[test]
fn what_a_program_says_without_end_takes_no_memory() {
    let scene = scene();
    let top = scene.path().join("lane/fairlane-programs");
    run(&scene, &[step("where", &["sh", "-c", "readlink /proc/self/fd/1 /proc/self/fd/2 > where"], "")]).unwrap();
    // Not a file: neither on the disk nor in memory.
    let place = std::fs::read_to_string(top.join("where")).unwrap();
    assert!(place.lines().skip(1).all(|line| line.starts_with("pipe:")) && place.lines().count() == 2, "{place}");
    // It goes on, and its last words are told.
    let talks = "i=0; head -c 50000000 /dev/zero; echo; echo the last word; exit 3";
    let said = refused(run(&scene, &[step("talks", &["sh", "-c", talks], "")]));
    assert!(said.contains("exit status: 3") && said.contains("the last word") && said.len() < 20_000, "{}", said.len());
}

#[test]
fn a_folder_that_another_user_can_change_is_no_place_to_work() {
    if !is_root("a_folder_that_another_user_can_change_is_no_place_to_work") {
        return;
    }
    let scene = scene();
    let lane = scene.path().join("lane");
    let open = || OpenTarget::open(&Target::Directory(lane.clone())).map(|_| ()).map_err(|error| error.to_string());
    open().unwrap();
    std::fs::set_permissions(&lane, PermissionsExt::from_mode(0o775)).unwrap();
    assert!(open().unwrap_err().contains("may be written by others"));
    std::fs::set_permissions(&lane, PermissionsExt::from_mode(0o755)).unwrap();
    chown(&lane, Some(NOBODY), Some(NOBODY)).unwrap();
    assert!(open().unwrap_err().contains("belongs to somebody else"));
    // By a link that took its place.
    let link = scene.path().join("link");
    symlink(scene.path().join("private"), &link).unwrap();
    OpenTarget::open(&Target::Directory(link)).map(|_| ()).unwrap_err();
    // What is mounted there has owners of its own.
    let mount = common::Mount::new(&["-t", "tmpfs", "none"]);
    chown(mount.path(), Some(NOBODY), Some(NOBODY)).unwrap();
    OpenTarget::open(&Target::Directory(mount.path().to_owned())).map(|_| ()).unwrap();
}

#[test]
fn no_link_that_waits_in_a_lane_is_followed_by_a_file_of_ours() {
    let victim_is_whole = |scene: &TempDir, what: &str| {
        let found = std::fs::metadata(scene.path().join("private/secret")).unwrap();
        assert_eq!(found.len(), 1400, "{what}");
        let names = std::fs::read_dir(scene.path().join("private")).unwrap().count();
        assert_eq!(names, 1, "{what}");
    };
    let secret = |scene: &TempDir| scene.path().join("private/secret");
    // The first file of appending work, and its next ones.
    for name in ["fairlane.00000000", "fairlane.00000001"] {
        let scene = scene();
        symlink(secret(&scene), scene.path().join("lane").join(name)).unwrap();
        let place = directory(&scene.path().join("lane"));
        let mut work = prepare(&place, Kind::Io(Box::new(io(Pattern::Append, 4 * KIB, MIB)))).unwrap();
        work.slice(&place, 0.01, 0.05, &mut ()).unwrap();
        victim_is_whole(&scene, name);
    }
    // Files of steady work and of jobs, and folders above them.
    for (planted, file) in [("f", "f"), ("d", "d/secret"), ("d", "d/new")] {
        let scene = scene();
        let lane = scene.path().join("lane");
        let to = if planted == file { secret(&scene) } else { scene.path().join("private") };
        symlink(to, lane.join(planted)).unwrap();
        let place = directory(&lane);
        let io = Io { filename: vec![file.to_owned()], ..io(Pattern::Write, 4 * KIB, 64 * KIB) };
        let worked = prepare(&place, Kind::Io(Box::new(io.clone())));
        assert!(worked.is_ok() == (planted == file), "{file}: a link is removed, and what it leads to is not entered");
        victim_is_whole(&scene, file);
        std::fs::remove_file(lane.join(planted)).unwrap();
        symlink(if planted == file { secret(&scene) } else { scene.path().join("private") }, lane.join(planted))
            .unwrap();
        let io = Io { thread: true, slices: 1, ..io };
        let job = Job { name: "j".into(), stonewall: false, exitall: false, wait_for: None, options: Vec::new(), io };
        let jobs = Jobs { jobs: vec![job], file: String::new(), notes: Vec::new() };
        let worked = prepare(&place, Kind::Jobs(Box::new(jobs))).and_then(|mut work| work.run(&place, &mut ()));
        assert!(worked.is_err(), "{file}");
        victim_is_whole(&scene, file);
    }
}

#[test]
fn the_folder_of_a_server_is_new_and_links_in_its_place_are_removed() {
    let scene = scene();
    let lane = scene.path().join("lane");
    symlink(scene.path().join("private"), lane.join("fairlane-database")).unwrap();
    let oltp: model::oltp::Oltp = toml::from_str("script = \"read-only\"\ntable_size = 10\nthreads = [1]").unwrap();
    let place = directory(&lane);
    let mut work = prepare(&place, Kind::Oltp(Box::new(oltp))).unwrap();
    work.release();
    let made = std::fs::symlink_metadata(lane.join("fairlane-database")).unwrap();
    assert!(made.is_dir() && made.mode() & 0o777 == 0o700, "{made:?}");
    assert!(lane.join("fairlane-database/data.sqlite").exists());
    assert_eq!(std::fs::read_dir(scene.path().join("private")).unwrap().count(), 1);
}

#[test]
fn names_that_no_kernel_takes_end_in_a_sentence() {
    let scene = scene();
    for name in ["x".repeat(300), "a/".repeat(3000) + "b", "/etc/passwd".to_owned(), "../x".to_owned()] {
        let place = directory(&scene.path().join("lane"));
        let io = Io { filename: vec![name.clone()], ..io(Pattern::Write, 4 * KIB, 64 * KIB) };
        let said = prepare(&place, Kind::Io(Box::new(io))).err().unwrap().to_string();
        assert!(said.len() < 30_000 && !said.contains("panicked"), "{said}");
        let step = step("a", &["true"], &format!(", outputs = [{name:?}]"));
        assert!(run(&scene, &[step]).is_err(), "{name}");
    }
    assert!(!Path::new("/var/tmp/x").exists());
    let huge = Io { bs: Bytes(64 * MIB), iodepth: 65_536, ..io(Pattern::Write, 4 * KIB, 64 * MIB) };
    let huge = Io { ioengine: "io_uring".into(), ..huge };
    let said = prepare(&directory(&scene.path().join("lane")), Kind::Io(Box::new(huge))).err().unwrap().to_string();
    assert!(said.contains("do not fit into the"), "{said}");
}
