//! What `powercut` and `integrity` refuse before they begin, each with a sentence, the remedy and the documented status;
//! and one failing image, looked at again.

use crate::common;

use common::{Place, assert_one_sentence, root};
use crashes::log::{Entry, LogWriter, What};
use std::process::{Command, Output};

/// Runs Fairlane where a program of the system is hidden: in a mount namespace of its own, in which a device stands in
/// its place.
fn without(place: &Place, program: &str, arguments: &[&str]) -> Output {
    let hidden = format!("/usr/sbin/{program}");
    let hidden = if std::path::Path::new(&hidden).exists() { hidden } else { format!("/usr/bin/{program}") };
    let fairlane = place.fairlane(arguments);
    let mut command = Command::new("unshare");
    command.args(["-m", "sh", "-c", "mount --bind /dev/null \"$0\" && exec \"$@\"", &hidden]);
    command.arg(fairlane.get_program()).args(fairlane.get_args()).current_dir(place.path());
    for (name, value) in fairlane.get_envs() {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    command.output().expect("unshare runs")
}

/// Nothing was begun: no record, no folder of a run.
fn nothing_was_begun(place: &Place) {
    let record = place.path().join("state/fairlane/durability");
    assert!(!record.exists() || std::fs::read_dir(&record).expect("a folder").next().is_none());
    place.assert_nothing_left();
}

#[test]
fn a_missing_checker_is_told_before_anything_is_done() {
    if !root() {
        return;
    }
    for (program, package, lane) in
        [("e2fsck", "e2fsprogs", "ext4"), ("xfs_repair", "xfsprogs", "xfs"), ("btrfs", "btrfs-progs", "btrfs")]
    {
        let place = Place::new();
        for arguments in [vec!["powercut", lane, "--cuts", "12", "--workload", "append"], vec!["integrity", lane]] {
            let output = without(&place, program, &arguments);
            let err = String::from_utf8_lossy(&output.stderr).into_owned();
            assert_eq!(output.status.code(), Some(4), "{arguments:?}: {err}");
            let install = format!("apt install {package}");
            assert_one_sentence(&err, &[&format!("{program} is missing"), &install, "fairlane doctor --install"]);
            // Not even announced.
            assert!(!err.contains("Formats no disk"), "{err}");
            nothing_was_begun(&place);
        }
        // What the remedy names knows of it.
        let output = without(&place, program, &["doctor"]);
        let out = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(out.contains(&format!("{program} is missing: apt install {package}")), "{out}");
        let missing = out.lines().find(|line| line.starts_with("missing: ")).unwrap_or_else(|| panic!("{out}"));
        assert!(missing.contains(package), "{out}");
    }
}

#[test]
fn tools_are_found_where_the_path_leaves_them_out() {
    if !root() {
        return;
    }
    let place = Place::new();
    let output = place.fairlane(&["doctor"]).env("PATH", "/nonexistent").output().expect("it runs");
    let out = String::from_utf8_lossy(&output.stdout).into_owned();
    let after = out.split("checkers of powercut and integrity\n").nth(1).unwrap_or_else(|| panic!("{out}"));
    for lane in ["ext4", "xfs", "btrfs"] {
        let line = after.lines().find(|line| line.trim_start().starts_with(lane)).unwrap_or_else(|| panic!("{out}"));
        assert!(line.ends_with(" ready"), "{out}");
    }
}

#[test]
fn a_record_that_is_there_is_never_overwritten() {
    if !root() {
        return;
    }
    let place = Place::new();
    std::fs::write(place.path().join("r.jsonl"), "precious").expect("a file");
    for command in ["powercut", "integrity"] {
        let (_, err) = place.expect(2, &[command, "ext4", "-o", "r.jsonl"]);
        assert_one_sentence(&err, &["r.jsonl exists already; name another file with -o, or remove it"]);
        assert!(!err.contains("Formats no disk"), "{err}");
        let (_, err) = place.expect(2, &[command, "ext4", "-o", "no/such/r.jsonl"]);
        assert_one_sentence(&err, &["no/such/r.jsonl does not exist; make it"]);
        nothing_was_begun(&place);
    }
    assert_eq!(std::fs::read_to_string(place.path().join("r.jsonl")).expect("it is there"), "precious");
}

#[test]
fn what_root_may_not_do_here_has_a_remedy_that_powercut_has() {
    if !root() {
        return;
    }
    let place = Place::new();
    for arguments in [["powercut", "ext4", "-q"], ["integrity", "ext4", "-q"]] {
        let fairlane = place.fairlane(&arguments);
        let mut command = Command::new("setpriv");
        command.args(["--bounding-set", "-sys_admin"]).arg(fairlane.get_program()).args(fairlane.get_args());
        command.current_dir(place.path());
        for (name, value) in fairlane.get_envs() {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        let output = command.output().expect("setpriv runs");
        let err = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(4), "{err}");
        assert_one_sentence(&err, &["mounting needs root", "sudo"]);
        assert!(!err.contains("or race a directory"), "{err}");
        nothing_was_begun(&place);
    }
}

/// Keeps an image of an ext4 as a run keeps one, made by hand; answers the last tick of its log. `command`: what debugfs
/// does to it first.
fn kept(place: &Place, command: Option<&str>) -> u64 {
    const BLOCK: usize = 4096;
    let of = |name: &str| place.path().join(name).display().to_string();
    std::fs::create_dir_all(of("tree/work")).expect("a folder");
    std::fs::write(of("tree/work/log"), "").expect("a file");
    std::fs::create_dir_all(of("kept")).expect("a folder");
    common::tool("truncate", &["-s", "64M", &of("image")]);
    common::tool("mkfs.ext4", &["-q", "-F", "-d", &of("tree"), &of("image")]);
    if let Some(command) = command {
        common::tool("debugfs", &["-w", "-R", command, &of("image")]);
    }
    let image = std::fs::read(of("image")).expect("the image");
    let mut log = LogWriter::create(&place.path().join("kept/log"), image.len() as u64, 1).expect("a log");
    let mut tick = 0;
    for (index, block) in image.chunks(BLOCK).enumerate().filter(|(_, block)| block.iter().any(|&byte| byte != 0)) {
        let what = What::Write { offset: (index * BLOCK) as u64, bytes: BLOCK as u64, data: 0 };
        log.append(Entry { what, received: tick + 1, replied: tick + 2 }, block).expect("an entry");
        tick += 2;
    }
    log.append(Entry { what: What::Flush { disk: 0 }, received: tick + 1, replied: tick + 2 }, &[]).expect("a flush");
    log.flush().expect("on disk");
    let case = serde_json::json!({
        "lane": "ext4", "workload": "append", "terms": { "records": 3, "seed": 1 },
        "cut": { "tick": tick + 2, "survival": "everything" }
    });
    std::fs::write(of("kept/case.json"), case.to_string()).expect("a case");
    tick + 2
}

#[test]
fn a_look_shows_what_the_checker_complains_of_as_text_and_as_json() {
    if !root() {
        return;
    }
    let place = Place::new();
    // lost+found, which mkfs made, has two links: nobody mends that but e2fsck.
    let end = kept(&place, Some("set_inode_field <11> links_count 9"));
    let (out, _) = place.expect(0, &["powercut", "--look", "kept"]);
    assert!(out.contains("nothing is wrong with the records\nthe checker complains: "), "{out}");
    assert!(out.contains("Inode 11 ref count is 9") && out.contains("mounted at "), "{out}");
    place.expect(0, &["clean"]);
    let (out, _) = place.expect(0, &["powercut", "--look", "kept", "--format", "json"]);
    let look: serde_json::Value = serde_json::from_str(&out).unwrap_or_else(|error| panic!("{error}: {out}"));
    assert!(look["complaint"].as_str().is_some_and(|said| said.contains("Inode 11 ref count is 9")), "{look}");
    assert_eq!(
        (&look["lane"], &look["workload"], &look["acknowledged"]),
        (&"ext4".into(), &"append".into(), &0.into())
    );
    assert!(look["wrong"].is_null() && look["unmountable"].is_null(), "{look}");
    let mounted = std::path::Path::new(look["mounted"].as_str().expect("mounted")).join("work/log");
    assert!(mounted.exists(), "{}", mounted.display());
    place.expect(0, &["clean"]);
    place.assert_nothing_left();

    // A cut behind the end of the log is none.
    let behind = format!("{}/everything", end + 1);
    let (_, err) = place.expect(2, &["powercut", "--look", "kept", "--cut", &behind]);
    assert_one_sentence(&err, &[&format!("no tick {} in this log; take one of 0 to {end}", end + 1)]);
    place.assert_nothing_left();

    let end = kept(&place, None);
    let last = format!("{end}/nothing");
    let (out, _) = place.expect(0, &["powercut", "--look", "kept", "--cut", &last]);
    assert!(out.contains("\nthe checker complains of nothing\n"), "{out}");
    place.expect(0, &["clean"]);
    // At the beginning there is no filesystem.
    let (out, _) = place.expect(0, &["powercut", "--look", "kept", "--cut", "1/nothing", "--format", "json"]);
    let look: serde_json::Value = serde_json::from_str(&out).unwrap_or_else(|error| panic!("{error}: {out}"));
    assert!(look["unmountable"].is_string() && look["mounted"].is_null(), "{look}");
    place.expect(0, &["clean"]);
    place.assert_nothing_left();
}
