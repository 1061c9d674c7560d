//! What strangers wrote (records, suites, names, folders, links) reaches no memory without a bound and no root's hand; and
//! a race on a machine that sleeps.

use crate::common;

use common::{Place, assert_one_sentence, root, tool};
use model::record::{EndOutcome, Record};
use model::trial::Outcome;
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown, symlink};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const RECORD: &str = include_str!("fixtures/schema1.jsonl");
/// A user that no database knows.
const USER: u32 = 54321;
/// What readers may have in all: the program itself and every bound of theirs.
const MOST_MEMORY: u64 = 1 << 30;

/// Where nothing may allocate more than [`MOST_MEMORY`].
pub fn bounded(mut command: Command) -> Output {
    let limit = rustix::process::Rlimit { current: Some(MOST_MEMORY), maximum: Some(MOST_MEMORY) };
    // SAFETY: the closure makes one async-signal-safe system call between fork and exec and allocates nothing.
    unsafe {
        command.pre_exec(move || {
            rustix::process::setrlimit(rustix::process::Resource::As, limit)?;
            Ok(())
        });
    }
    command.output().expect("fairlane runs")
}

#[track_caller]
fn refused(output: &Output) -> String {
    let err = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(matches!(output.status.code(), Some(1 | 2)), "{:?} {err}", output.status);
    assert_one_sentence(&err, &[]);
    assert!(err.len() < 2000, "{} bytes", err.len());
    err
}

#[test]
fn sixty_characters_of_a_record_take_no_four_gigabytes() {
    let claims = [FOUR_GIGABYTES, FIVE_DIGITS];
    let place = Place::new();
    for (index, claim) in claims.iter().enumerate() {
        let mut lines: Vec<serde_json::Value> =
            RECORD.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        for group in
            lines.iter_mut().filter_map(|line| line.get_mut("groups")).filter_map(|all| all.as_array_mut()).flatten()
        {
            group["histogram"] = (*claim).into();
        }
        let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
        let name = format!("r{index}.jsonl");
        fs::write(place.path().join(&name), text).unwrap();
        for format in ["text", "html", "memo", "markdown", "json", "csv", "junit", "fio-json"] {
            let out = format!("out.{format}");
            let ran = bounded(place.fairlane(&["report", &name, "--format", format, "-o", &out]));
            let err = String::from_utf8_lossy(&ran.stderr);
            // fio's JSON is of job files, and junit of gates.
            let other = ["fio-json", "junit"].contains(&format) && ran.status.code() == Some(2);
            assert!(ran.status.success() || other, "{format}: {:?} {err}", ran.status);
        }
    }
}

/// HdrHistogram V2, deflated: a header that claims 2^32-1 bytes of counts.
const FOUR_GIGABYTES: &str = "HISTFAAAABx42pNpmSz8HwgYIIAZSjPW/4cA+w8QAQAfOg3u";
/// One with five digits, each of which takes ten times the memory.
const FIVE_DIGITS: &str = "HISTFAAAABp42pNpmSzMgACsUJqx/j8E2H+ACAAAlecJ9A==";

#[test]
fn files_that_never_end_are_read_to_a_bound_and_no_further() {
    let place = Place::new();
    let at = |name: &str| place.path().join(name);
    fs::write(at("fixture.jsonl"), RECORD).unwrap();
    fs::File::create(at("sparse")).unwrap().set_len(1 << 40).unwrap();
    fs::write(at("deep.jsonl"), format!("{{\"kind\":\"header\",\"schema\":1,\"x\":{}", "[".repeat(1 << 20))).unwrap();
    fs::write(
        at("objects.jsonl"),
        format!("{RECORD}{{\"kind\":\"trial\",\"jobs\":[{}{{}}]}}\n", "{},".repeat(12 << 20)),
    )
    .unwrap();
    fs::write(at("kind.jsonl"), format!("{{\"kind\":\"{}\"}}\n", "x".repeat(80 << 20))).unwrap();
    fs::write(at("deep.toml"), format!("a = {}", "[".repeat(1 << 18))).unwrap();
    fs::write(at("long.toml"), format!("name = \"{}\"\n", "x".repeat(2 << 20))).unwrap();
    tool("mkfifo", &[at("fifo").to_str().unwrap()]);
    for record in ["/dev/zero", "fifo", "sparse", ".", "deep.jsonl", "objects.jsonl", "kind.jsonl"] {
        for command in [
            &["report", record][..],
            &["advise", record],
            &["compare", record, "fixture.jsonl"],
            &["race", "--resume", record],
        ] {
            refused(&bounded(place.fairlane(command)));
        }
    }
    for suite in ["/dev/zero", "sparse", ".", "deep.toml", "long.toml"] {
        refused(&bounded(place.fairlane(&["race", "--suite", suite, "--dry-run"])));
        refused(&bounded(place.fairlane(&["advise", "fixture.jsonl", "--scenario", suite])));
        refused(&bounded(place.fairlane(&["fio", suite, "."])));
    }
    fs::hard_link(at("long.toml"), at("lane.toml")).unwrap();
    symlink("/dev/zero", at("zero.toml")).unwrap();
    for lane in ["./lane.toml", "./deep.toml", "./zero.toml"] {
        refused(&bounded(place.fairlane(&["race", lane, "--dry-run"])));
    }
}

#[test]
fn a_screening_that_is_larger_than_any_is_refused_when_it_is_read() {
    let place = Place::new();
    let levels = |count: usize| -> Vec<Value> { (0..count).map(|at| json!({ "label": at.to_string() })).collect() };
    let option = |name: &str, further: usize| {
        let further = levels(further);
        json!({ "name": name, "usual": { "label": "a" }, "other": { "label": "b" }, "further": further })
    };
    let run = |lane: &str| json!({ "lane": lane, "at_other": [false] });
    let options = |count: usize| -> Vec<Value> { (0..count).map(|at| option(&at.to_string(), 0)).collect() };
    let long = "x".repeat(1 << 20);
    for (index, (factors, runs, says)) in [
        (vec![option("a", 0)], vec![run("default"), run("r02")], ""),
        (vec![option("a", 200_000)], vec![run("default")], "200002 levels of one option, and 8 are the most"),
        (options(24), vec![run("default")], "24 options, and 23 are the most"),
        (options(1), vec![run("default"); 65], "65 runs, and 64 are the most"),
        (vec![option(&long, 0)], vec![run("default")], "the name of an option of a screening takes 1048576 bytes"),
        (options(1), vec![run(&long)], "the name of a run of a screening takes 1048576 bytes"),
    ]
    .into_iter()
    .enumerate()
    {
        let (header, rest) = RECORD.split_once('\n').unwrap();
        let mut header: Value = serde_json::from_str(header).unwrap();
        header["plan"]["screening"] =
            json!({ "base": "ext4", "design": "full-factorial", "factors": factors, "runs": runs });
        let (name, beside) = (format!("r{index}.jsonl"), format!("r{index}-confirmed.jsonl"));
        fs::write(place.path().join(&name), format!("{header}\n{rest}")).unwrap();
        // A confirmation beside it has its lanes compared with what the options make.
        fs::write(place.path().join(&beside), RECORD).unwrap();
        let shown = bounded(place.fairlane(&["report", &name]));
        let gone_on = bounded(place.fairlane(&["screen", "--resume", &name]));
        if says.is_empty() {
            assert!(shown.status.success(), "{}", String::from_utf8_lossy(&shown.stderr));
            continue;
        }
        for ran in [shown, gone_on] {
            let err = refused(&ran);
            assert!(err.contains(says) && err.contains("name another file"), "{err}");
        }
    }
}

#[test]
fn what_lies_in_the_folder_of_records_stops_no_command() {
    let place = Place::new();
    let runs = place.path().join("state/fairlane/runs");
    fs::create_dir_all(&runs).unwrap();
    for folder in ["calibrations", "durability"] {
        fs::create_dir(place.path().join("state/fairlane").join(folder)).unwrap();
        tool(
            "mkfifo",
            &[place.path().join(format!("state/fairlane/{folder}/2026-01-01T00-00-00Z-x.jsonl")).to_str().unwrap()],
        );
    }
    fs::write(runs.join("2026-01-01T00-00-00Z-a.jsonl"), RECORD).unwrap();
    tool("mkfifo", &[runs.join("2026-01-02T00-00-00Z-b.jsonl").to_str().unwrap()]);
    symlink("/dev/zero", runs.join("2026-01-03T00-00-00Z-c.jsonl")).unwrap();
    fs::File::create(runs.join("2026-01-04T00-00-00Z-d.jsonl")).unwrap().set_len(1 << 40).unwrap();
    // A pipe that nobody writes to would be waited for until somebody ends the test.
    let mut child = place.fairlane(&["records"]);
    let timed = child.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
    let mut running = timed.spawn().unwrap();
    for _ in 0..1200 {
        if running.try_wait().unwrap().is_some() {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    let ended = running.try_wait().unwrap().is_some();
    let _ = running.kill();
    let output = running.wait_with_output().unwrap();
    let out = String::from_utf8_lossy(&output.stdout);
    assert!(ended, "`fairlane records` waits for a pipe: {out}");
    assert_eq!(out.matches("unreadable: ").count(), 4, "{out}");
    assert!(bounded(place.fairlane(&["advise", "last~3"])).status.code().is_some());
}

/// Whoever calls sudo: a place of root's, with a home of the user's and a folder of root's alone.
struct Sudo {
    place: Place,
    home: PathBuf,
    secret: PathBuf,
}

impl Sudo {
    fn new() -> Sudo {
        let place = Place::new();
        fs::set_permissions(place.path(), PermissionsExt::from_mode(0o755)).unwrap();
        let (home, secret) = (place.path().join("home"), place.path().join("secret"));
        for folder in [&home, &secret, &home.join("lane")] {
            fs::create_dir(folder).unwrap();
        }
        fs::set_permissions(&secret, PermissionsExt::from_mode(0o700)).unwrap();
        chown(&home, Some(USER), Some(USER)).unwrap();
        Sudo { place, home, secret }
    }

    fn fairlane(&self, arguments: &[&str]) -> Command {
        let mut command = self.place.fairlane(arguments);
        command.current_dir(&self.home).env("XDG_STATE_HOME", self.home.join("state")).env_remove("SUDO_HOME");
        command.env("SUDO_UID", USER.to_string()).env("SUDO_GID", USER.to_string());
        command
    }

    /// A link of the user's own.
    fn link(&self, to: &Path, name: &str) {
        let link = self.home.join(name);
        symlink(to, &link).unwrap();
        std::os::unix::fs::lchown(&link, Some(USER), Some(USER)).unwrap();
    }

    /// What was made where the user may make nothing.
    fn made(&self) -> Vec<std::ffi::OsString> {
        fs::read_dir(&self.secret).unwrap().flatten().map(|entry| entry.file_name()).collect()
    }
}

const RACE: [&str; 9] =
    ["race", "./lane", "--suite", "quick", "--workload", "commit", "--set", "commit.size=16MiB", "--rounds=1"];

fn race(more: &[&'static str]) -> Vec<&'static str> {
    [&RACE[..], more].concat()
}

#[test]
fn under_sudo_no_file_is_made_where_its_user_may_make_none() {
    if !root() {
        return;
    }
    let sudo = Sudo::new();
    // The folder of records is a link to a folder of root's.
    fs::create_dir_all(sudo.home.join("state/fairlane")).unwrap();
    for folder in ["state", "state/fairlane"] {
        chown(sudo.home.join(folder), Some(USER), Some(USER)).unwrap();
    }
    sudo.link(&sudo.secret, "state/fairlane/runs");
    let ran = sudo.fairlane(&race(&[])).output().unwrap();
    assert_eq!((ran.status.code(), sudo.made()), (Some(1), Vec::new()), "{}", String::from_utf8_lossy(&ran.stderr));
    sudo.link(&sudo.secret, "way");
    for output in ["../secret/r.jsonl", "way/r.jsonl"] {
        let ran = sudo.fairlane(&race(&["-o", output])).output().unwrap();
        let err = String::from_utf8_lossy(&ran.stderr).into_owned();
        assert_eq!((ran.status.code(), sudo.made()), (Some(1), Vec::new()), "{err}");
        assert_one_sentence(&err, &["user 54321, who called sudo, may not write there", "env -u SUDO_UID"]);
    }
    fs::write(sudo.home.join("r.jsonl"), RECORD).unwrap();
    let report = |format: &str, output: &str| {
        let ran = sudo.fairlane(&["report", "r.jsonl", "--format", format, "-o", output]).output().unwrap();
        (ran.status.code(), String::from_utf8_lossy(&ran.stderr).into_owned())
    };
    for output in ["../secret/r.csv", "way/r.csv"] {
        assert_eq!((report("csv", output).0, sudo.made()), (Some(1), Vec::new()));
    }
    let (page, old) = (sudo.home.join("r.html"), sudo.home.join("old.html"));
    assert_eq!(report("html", "r.html"), (Some(0), String::new()));
    let of = fs::metadata(&page).unwrap();
    assert_eq!((of.uid(), of.gid(), of.mode() & 0o7777), (USER, USER, 0o644));
    // What is written for the user never becomes a program with the rights of somebody.
    for owner in [65534, USER] {
        fs::write(&old, "old").unwrap();
        chown(&old, Some(owner), Some(owner)).unwrap();
        fs::set_permissions(&old, PermissionsExt::from_mode(0o4755)).unwrap();
        assert_eq!(report("html", "old.html"), (Some(0), String::new()));
        assert_eq!(fs::metadata(&old).unwrap().mode() & 0o7000, 0, "no set-user-id");
    }
    sudo.place.assert_nothing_left();
}

#[test]
fn root_without_sudo_follows_no_link_that_somebody_planted() {
    if !root() {
        return;
    }
    let place = Place::new();
    fs::write(place.path().join("r.jsonl"), RECORD).unwrap();
    fs::write(place.path().join("victim"), "old").unwrap();
    fs::set_permissions(place.path(), PermissionsExt::from_mode(0o1777)).unwrap();
    let link = place.path().join("r.csv");
    symlink("victim", &link).unwrap();
    std::os::unix::fs::lchown(&link, Some(USER), Some(USER)).unwrap();
    let (_, err) = place.expect(1, &["report", "r.jsonl", "--format", "csv", "-o", "r.csv"]);
    assert_one_sentence(&err, &["a link of user 54321 stands in its path"]);
    assert_eq!(fs::read_to_string(place.path().join("victim")).unwrap(), "old");
    // A link to a device too: what is not its own is no word of root's.
    let away = place.path().join("r.json");
    symlink("/dev/null", &away).unwrap();
    std::os::unix::fs::lchown(&away, Some(USER), Some(USER)).unwrap();
    let (_, err) = place.expect(1, &["report", "r.jsonl", "--format", "json", "-o", "r.json"]);
    assert_one_sentence(&err, &["a link of user 54321 stands in its path"]);
    place.expect(0, &["report", "r.jsonl", "--format", "json", "-o", "/dev/null"]);
    fs::write(place.path().join("image"), vec![0; 1 << 20]).unwrap();
    let device = tool("losetup", &["--find", "--show", place.path().join("image").to_str().unwrap()]);
    let written = place.run(&["report", "r.jsonl", "--format", "csv", "-o", &device]);
    tool("losetup", &["--detach", &device]);
    assert_eq!(written.status.code(), Some(2), "{}", String::from_utf8_lossy(&written.stderr));
    assert!(fs::read(place.path().join("image")).unwrap().iter().all(|byte| *byte == 0), "no disk is written over");
}

#[test]
fn a_record_of_more_lanes_or_workloads_than_a_race_takes_is_refused_at_once() {
    let place = Place::new();
    let header: serde_json::Value = serde_json::from_str(RECORD.lines().next().unwrap()).unwrap();
    for (list, count) in [("lanes", 65), ("workloads", 1001)] {
        let mut many = header.clone();
        let one = many["plan"][list][0].clone();
        many["plan"][list] = vec![one; count].into();
        fs::write(place.path().join("many.jsonl"), format!("{many}\n")).unwrap();
        let (_, err) = place.expect(2, &["report", "many.jsonl"]);
        assert_one_sentence(&err, &["no race takes more than 64 and 1000"]);
    }
}

#[test]
fn a_failing_image_is_kept_by_its_user_and_through_no_link() {
    if !root() || !Path::new("/dev/fuse").exists() {
        eprintln!("skipped: needs root and /dev/fuse");
        return;
    }
    let sudo = Sudo::new();
    let run = |output: &str| {
        let fixed = ["powercut", "ext4,nobarrier", "--cuts", "24", "--workload", "append", "--no-speed", "--seed", "7"];
        sudo.fairlane(&[&fixed[..], &["-o", output]].concat()).output().unwrap()
    };
    sudo.link(&sudo.secret, "planted.kept");
    let ran = run("planted.jsonl");
    assert!(!ran.status.success(), "{}", String::from_utf8_lossy(&ran.stdout));
    assert_eq!(sudo.made(), Vec::<std::ffi::OsString>::new());
    let ran = run("r.jsonl");
    let kept = fs::read_dir(sudo.home.join("r.kept"));
    let kept = kept.unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&ran.stderr)));
    let folders: Vec<PathBuf> = kept.flatten().map(|entry| entry.path()).collect();
    assert!(!folders.is_empty());
    for path in folders.iter().flat_map(|folder| [folder.clone(), folder.join("log"), folder.join("case.json")]) {
        let of = fs::symlink_metadata(&path).unwrap();
        assert_eq!((of.uid(), of.gid()), (USER, USER), "{}", path.display());
    }
    sudo.place.assert_nothing_left();
}

#[test]
fn a_user_whom_etc_passwd_does_not_know_races_under_sudo() {
    if !root() {
        return;
    }
    let sudo = Sudo::new();
    let command = |more: &[&'static str]| {
        let mut command = sudo.fairlane(&race(more));
        command.env_remove("XDG_STATE_HOME").env("HOME", "/root");
        command
    };
    let unknown = command(&[]).output().unwrap();
    assert_eq!(unknown.status.code(), Some(2));
    assert_one_sentence(
        &String::from_utf8_lossy(&unknown.stderr),
        &["user 54321, who called sudo, is not known", "-o FILE", "XDG_STATE_HOME="],
    );
    let named = command(&["-o", "r.jsonl"]).output().unwrap();
    assert!(named.status.success(), "{}", String::from_utf8_lossy(&named.stderr));
    let ran = command(&[]).env("SUDO_HOME", &sudo.home).output().unwrap();
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    let runs = sudo.home.join(".local/state/fairlane/runs");
    let record = fs::read_dir(&runs)
        .unwrap()
        .flatten()
        .map(|entry| entry.path())
        .find(|path| path.extension().is_some_and(|end| end == "jsonl"));
    for path in [sudo.home.join(".local"), runs, record.unwrap()] {
        assert_eq!(fs::metadata(&path).unwrap().uid(), USER, "{}", path.display());
    }
}

#[test]
fn root_reads_what_a_users_link_leads_to_with_that_users_rights() {
    if !root() {
        return;
    }
    let sudo = Sudo::new();
    let runs = sudo.home.join(".local/state/fairlane/runs");
    fs::create_dir_all(&runs).unwrap();
    let secret = sudo.place.path().join("secret.jsonl");
    fs::write(&secret, "root's alone\n").unwrap();
    fs::set_permissions(&secret, PermissionsExt::from_mode(0o600)).unwrap();
    symlink(&secret, runs.join("s.jsonl")).unwrap();
    let mut command = sudo.fairlane(&["report", runs.join("s.jsonl").to_str().unwrap()]);
    let output = command.output().unwrap();
    assert_one_sentence(&String::from_utf8_lossy(&output.stderr), &["Permission denied"]);
    // Without a link it is what whoever called sudo names.
    let output = sudo.fairlane(&["report", secret.to_str().unwrap()]).output().unwrap();
    assert_one_sentence(&String::from_utf8_lossy(&output.stderr), &["header"]);
}

#[test]
fn a_record_behind_a_link_is_not_gone_on_with_and_nothing_is_made_before_that_is_said() {
    let place = Place::new();
    let suite = place.tiny_suite();
    for folder in ["a", "b"] {
        fs::create_dir(place.path().join(folder)).unwrap();
    }
    place.expect(
        0,
        &["race", "./a", "./b", "--suite", &suite, "--workload", "commit", "--rounds", "1", "-o", "r.jsonl"],
    );
    let text = fs::read_to_string(place.path().join("r.jsonl")).unwrap();
    let begun: Vec<&str> = text.lines().filter(|line| !line.contains("\"kind\":\"end\"")).collect();
    fs::write(place.path().join("r.jsonl"), begun.join("\n") + "\n").unwrap();
    symlink("r.jsonl", place.path().join("link.jsonl")).unwrap();
    let (_, err) = place.expect(2, &["race", "--resume", "link.jsonl", "--quiet"]);
    assert_one_sentence(&err, &["is a link", "name the file that it leads to"]);
    place.expect(0, &["race", "--resume", "r.jsonl", "--quiet"]);
}

#[test]
fn root_of_a_namespace_of_one_user_races_directories_as_that_user() {
    let place = Place::new();
    let suite = place.tiny_suite();
    for folder in ["", "a", "b", "state"] {
        let path = place.path().join(folder);
        fs::create_dir_all(&path).unwrap();
        if rustix::process::geteuid().is_root() {
            chown(&path, Some(USER), Some(USER)).unwrap();
        }
    }
    let fairlane = env!("CARGO_BIN_EXE_fairlane");
    let unshared = |words: &[&str]| {
        let mut command = Command::new("unshare");
        command.arg("-Ur").args(words).current_dir(place.path());
        command.env_clear().env("PATH", "/usr/bin:/bin").env("XDG_STATE_HOME", place.path().join("state"));
        if rustix::process::geteuid().is_root() {
            command.uid(USER).gid(USER);
        }
        command.output().expect("unshare runs")
    };
    if !unshared(&["true"]).status.success() {
        eprintln!("skipped: this machine's users may make no user namespaces");
        return;
    }
    let ran = unshared(&[fairlane, "race", "./a", "./b", "--suite", &suite, "--workload", "commit", "--rounds", "1"]);
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    let said = unshared(&[fairlane, "doctor"]);
    let said = String::from_utf8_lossy(&said.stdout).into_owned();
    assert!(said.contains("not root: "), "{said}");
}

#[test]
fn a_home_that_root_may_not_enter_holds_the_records_of_its_user() {
    if !root() {
        return;
    }
    let sudo = Sudo::new();
    fs::set_permissions(&sudo.home, PermissionsExt::from_mode(0o700)).unwrap();
    fs::create_dir(sudo.place.path().join("lane")).unwrap();
    // As on NFS, where root is nobody.
    let squashed = |arguments: &[&str]| {
        let fairlane = sudo.fairlane(arguments);
        let mut command = Command::new("setpriv");
        command.args(["--bounding-set", "-dac_override,-dac_read_search"]).arg(fairlane.get_program());
        command.args(fairlane.get_args()).current_dir(sudo.place.path());
        for (key, value) in fairlane.get_envs() {
            match value {
                Some(value) => command.env(key, value),
                None => command.env_remove(key),
            };
        }
        let output = command.output().expect("setpriv, of util-linux");
        (output.status.code(), String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned())
    };
    let (status, said) = squashed(&race(&[]));
    assert_eq!(status, Some(0), "{said}");
    let runs = sudo.home.join("state/fairlane/runs");
    let made: Vec<PathBuf> = fs::read_dir(&runs).unwrap().flatten().map(|entry| entry.path()).collect();
    assert_eq!(made.len(), 2, "a record and its page: {made:?}");
    assert!(made.iter().all(|path| fs::metadata(path).unwrap().uid() == USER));
    let (status, said) = squashed(&["report", "last"]);
    assert_eq!(status, Some(0), "{said}");
    let record = made.iter().find(|path| path.extension().is_some_and(|end| end == "jsonl")).unwrap();
    let before = fs::read(record).unwrap();
    let (status, said) = squashed(&["report", "last", "--format", "csv", "-o", record.to_str().unwrap()]);
    assert_eq!((status, fs::read(record).unwrap() == before), (Some(2), true), "{said}");
}

#[test]
fn no_output_goes_over_another_one_or_over_what_is_read() {
    let place = Place::new();
    let at = |name: &str| place.path().join(name);
    for folder in ["lane", "sub"] {
        fs::create_dir(at(folder)).unwrap();
    }
    fs::write(at("part.fio"), "bs=4k\n").unwrap();
    fs::write(at("a.fio"), "[a]\nsize=1m\nrw=write\ninclude part.fio\n").unwrap();
    fs::write(at("old.jsonl"), format!("  {RECORD}")).unwrap();
    fs::hard_link(at("a.fio"), at("hard")).unwrap();
    fs::hard_link(at("part.fio"), at("part")).unwrap();
    symlink(".", at("round")).unwrap();
    let before = |name: &str| fs::read(at(name)).unwrap();
    let (jobs, part, old) = (before("a.fio"), before("part.fio"), before("old.jsonl"));
    for output in ["r.jsonl", "./r.jsonl", "sub/../r.jsonl", "round/r.jsonl", "r.html"] {
        let (_, err) =
            place.expect(2, &["fio", "a.fio", "./lane", "--rounds", "1", "-o", "r.jsonl", "--output", output]);
        assert_one_sentence(&err, &["--output", "the same file as that of"]);
        assert!(!at("r.jsonl").exists() && !at("r.html").exists());
    }
    for (output, says) in [
        ("hard", "the job file itself"),
        ("round/a.fio", "the job file itself"),
        ("part", "a job file itself"),
        ("part.fio", "a job file itself"),
        ("old.jsonl", "it is a record"),
    ] {
        let (_, err) =
            place.expect(2, &["fio", "a.fio", "./lane", "--rounds", "1", "-o", "r.jsonl", "--output", output]);
        assert_one_sentence(&err, &[says]);
        assert!(!at("r.jsonl").exists());
    }
    let (_, err) = place.expect(2, &["report", "old.jsonl", "--format", "csv", "-o", "round/old.jsonl"]);
    assert_one_sentence(&err, &["the record itself"]);
    assert_eq!((before("a.fio"), before("part.fio"), before("old.jsonl")), (jobs, part, old));
    let (_, _) = place.expect(0, &["fio", "a.fio", "./lane", "--rounds", "1", "-o", "r.jsonl", "--output", "out.txt"]);
    assert!(at("out.txt").exists() && at("r.jsonl").exists());
}

#[test]
fn a_trial_during_which_the_machine_slept_is_void_and_raced_again() {
    if !cfg!(debug_assertions) {
        eprintln!("skipped: a release build has the machine's own clocks alone");
        return;
    }
    let place = Place::new();
    for lane in ["a", "b"] {
        fs::create_dir(place.path().join(lane)).unwrap();
    }
    let suite = place.tiny_suite();
    let arguments =
        ["race", "a=./a", "b=./b", "--suite", &suite, "--workload", "random-read", "--rounds", "2", "-o", "r.jsonl"];
    // Two looks of the ceilings, two at the lanes' beginnings; then it sleeps, before the first lane ends.
    let ran = place.fairlane(&arguments).env("FAIRLANE_SLEEPS", "5").output().unwrap();
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    let record = Record::parse(&fs::read_to_string(place.path().join("r.jsonl")).unwrap()).unwrap();
    assert_eq!(record.end, Some(EndOutcome::Complete));
    let void: Vec<_> = record.trials.iter().filter(|trial| trial.outcome == Outcome::Void).collect();
    assert!(!void.is_empty() && void.iter().all(|trial| trial.round == 1), "{:?}", record.trials);
    for trial in void {
        assert!(
            trial.reason.as_deref().is_some_and(|why| why.starts_with("the machine slept for ")),
            "{:?}",
            trial.reason
        );
        assert!(trial.flags.iter().any(|flag| flag.is(model::Mark::Suspended)), "{:?}", trial.flags);
    }
    let counted =
        |lane: &str| record.trials.iter().filter(|trial| trial.lane == lane && trial.outcome == Outcome::Ok).count();
    assert_eq!((counted("a"), counted("b")), (2, 2), "the round was raced again");
    let (text, _) = place.expect(0, &["report", "r.jsonl"]);
    assert!(text.contains("void"), "{text}");
}
