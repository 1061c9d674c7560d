//! What shells are told while a command line is typed: by a real bash, zsh and fish on a terminal, and asked as shells ask.

use crate::common;

use common::{Place, root};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::{Command, Output, Stdio};

const RECORD: &str = "2026-11-22T10-11-12Z-quick-00aa.jsonl";

/// A place with a record, and where `fairlane` is the one that is tested.
fn place_with_a_record() -> Place {
    let place = Place::new();
    let runs = place.path().join("state/fairlane/runs");
    std::fs::create_dir_all(&runs).expect("folders");
    std::fs::write(runs.join(RECORD), include_str!("fixtures/schema1.jsonl")).expect("a record");
    place
}

fn script(place: &Place, shell: &str) -> String {
    let (text, _) = place.expect(0, &["completions", shell]);
    let path = place.path().join(format!("fairlane.{shell}"));
    std::fs::write(&path, text).expect("a script");
    path.to_string_lossy().into_owned()
}

/// What a shell is told of a command line, whose last word is being typed.
fn ask(place: &Place, shell: &str, line: &[&str]) -> Output {
    let mut command = place.fairlane(&[&["--", "fairlane"][..], line].concat());
    command.env("FAIRLANE_COMPLETE", shell).output().expect("fairlane runs")
}

fn told(place: &Place, line: &[&str]) -> Vec<String> {
    let output = ask(place, "bash", line);
    assert!(output.stderr.is_empty(), "{line:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("UTF-8").lines().map(str::to_owned).collect()
}

/// What is typed at the prompt of a shell, and what it shows behind that: alike in all of them.
const TYPED: [(&str, &str); 13] = [
    ("fairlane ra\\t", "race "),
    ("fairlane race xf\\t", "xfs "),
    ("fairlane race lean=xf\\t", "lean=xfs "),
    ("fairlane race ext4 ext4+aged=g\\t", "aged=git "),
    ("fairlane race ext4/raid5\\t", "raid5:3 "),
    ("fairlane race jfs@um\\t", "jfs@uml "),
    ("fairlane race --suite qu\\t", "quick "),
    ("fairlane race --suite=gen\\t", "--suite=general "),
    ("fairlane race --suite general --workload mi\\t", "mixed "),
    ("fairlane age . --profile mai\\t", "mail "),
    ("fairlane report 2026-11-22\\t", RECORD),
    ("fairlane compare last published:raid\\t", "published:raid5-2gb "),
    ("true; fairlane rep\\t", "report "),
];

/// Types into a shell whose prompt is `ready> `, and which finds the `fairlane` that is tested. The place is its home.
fn type_into(place: &Place, shell: &[&str], (keys, wanted): (&str, &str)) {
    let bin = Path::new(env!("CARGO_BIN_EXE_fairlane")).parent().expect("a folder");
    let typed = Command::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../scripts/typed"))
        .args(["ready> ", keys, wanted])
        .args(shell)
        .current_dir(place.path())
        .env("PATH", format!("{}:{}", bin.display(), std::env::var("PATH").expect("PATH")))
        .env("XDG_STATE_HOME", place.path().join("state"))
        .env("XDG_CONFIG_HOME", place.path().join("config"))
        .env("ZDOTDIR", place.path())
        .env("HOME", place.path())
        .stdin(Stdio::null())
        .output()
        .expect("python3 runs");
    let shown = String::from_utf8_lossy(&typed.stdout).into_owned();
    let said = String::from_utf8_lossy(&typed.stderr).into_owned();
    assert!(typed.status.success(), "{}: {keys} shows no {wanted}:\n{shown}{said}", shell[0]);
}

/// Whether a shell is installed, as `make test` has it.
fn is_here(shell: &str) -> bool {
    let is_here = Command::new(shell).arg("--version").output().is_ok();
    if !is_here {
        eprintln!("skipped: {shell} is not installed; apt install {shell}");
    }
    is_here
}

#[test]
fn a_real_bash_completes_commands_lanes_suites_workloads_and_records() {
    let place = place_with_a_record();
    let helpers = "/usr/share/bash-completion/bash_completion";
    let has_helpers = Path::new(helpers).exists();
    let source = if has_helpers { format!("source {helpers}\n") } else { String::new() };
    let rc = format!("{source}source '{}'\nPS1='ready> '\nbind 'set bell-style none'\n", script(&place, "bash"));
    std::fs::write(place.path().join("rc"), rc).expect("rc");
    let bash = ["bash", "--noprofile", "--rcfile", "rc", "-i"];
    TYPED.into_iter().for_each(|typed| type_into(&place, &bash, typed));
    // All that it may be.
    type_into(&place, &bash, ("fairlane race --workload \\t\\t", "small-files"));
    match has_helpers {
        // What completes behind sudo is bash-completion's own.
        true => type_into(&place, &bash, ("sudo fairlane race xf\\t", "xfs ")),
        false => eprintln!("bash-completion is not installed: nothing is typed behind sudo"),
    }
}

#[test]
fn a_real_zsh_completes_the_same_from_a_folder_of_its_functions() {
    if !is_here("zsh") {
        return;
    }
    let place = place_with_a_record();
    let functions = place.path().join("functions");
    std::fs::create_dir(&functions).expect("a folder");
    std::fs::copy(script(&place, "zsh"), functions.join("_fairlane")).expect("a script");
    let folder = functions.display();
    // -u: folders of a test are nobody's but the tester's; -D: nothing is kept of what was found.
    let rc = format!("fpath=('{folder}' $fpath)\nautoload -Uz compinit\ncompinit -u -D\nPS1='ready> '\n");
    std::fs::write(place.path().join(".zshrc"), rc).expect("rc");
    let zsh = ["zsh", "--no-global-rcs", "-i"];
    TYPED.into_iter().for_each(|typed| type_into(&place, &zsh, typed));
    type_into(&place, &zsh, ("fairlane race --workload \\t\\t", "small-files"));
}

#[test]
fn a_real_fish_completes_the_same_from_its_folder_of_completions() {
    if !is_here("fish") {
        return;
    }
    let place = place_with_a_record();
    let config = place.path().join("config/fish");
    std::fs::create_dir_all(config.join("completions")).expect("folders");
    std::fs::copy(script(&place, "fish"), config.join("completions/fairlane.fish")).expect("a script");
    let prompt = "set -g fish_greeting\nfunction fish_prompt\n    echo -n 'ready> '\nend\n";
    std::fs::write(config.join("config.fish"), prompt).expect("a configuration");
    TYPED.into_iter().for_each(|typed| type_into(&place, &["fish", "-i"], typed));
}

#[test]
fn scripts_are_sound_to_the_shells_that_are_here() {
    let place = Place::new();
    let mut shells = 0;
    for shell in ["bash", "zsh", "fish"] {
        let path = script(&place, shell);
        match Command::new(shell).args(["-n", &path]).output() {
            Ok(output) => {
                shells += 1;
                let said = String::from_utf8_lossy(&output.stderr).into_owned();
                assert!(output.status.success() && said.is_empty(), "{shell}: {said}");
            }
            Err(_) => eprintln!("{shell} is not installed: its script is not looked at"),
        }
    }
    assert!(shells > 0, "bash is there");
    let (_, err) = place.expect(2, &["completions", "tcsh"]);
    common::assert_one_sentence(&err, &["tcsh"]);
}

#[test]
fn who_types_is_told_files_and_nothing_is_made() {
    let place = Place::new();
    for name in ["a.jsonl", "b.trace", "c.toml", "d.txt", "$(touch owned).jsonl", "e f.jsonl"] {
        std::fs::write(place.path().join(name), "").expect("a file");
    }
    let before = names(place.path());
    assert_eq!(told(&place, &["report", ""]), ["a.jsonl", "undo/"]);
    assert_eq!(told(&place, &["race", "--replay", ""]), ["b.trace", "undo/"]);
    assert_eq!(told(&place, &["race", "./"]), ["./c.toml", "./undo/"]);
    assert_eq!(told(&place, &["race", "--output", "d"]), ["d.txt"]);
    assert_eq!(told(&place, &["race", "--suite", "c.to"]), ["c.toml"]);
    for shell in ["zsh", "fish"] {
        let output = ask(&place, shell, &["race", "xf"]);
        assert_eq!(String::from_utf8_lossy(&output.stdout).trim(), "xfs");
    }
    assert_eq!(names(place.path()), before);
    // What no shell asks, and the workloads of a suite that is no file, get no answer.
    for (shell, line) in [
        ("tcsh", &["race", ""][..]),
        ("", &["race", ""]),
        ("bash", &["race", "--suite", "/dev/zero", "--workload", ""]),
    ] {
        let output = ask(&place, shell, line);
        assert!(output.stdout.is_empty() && output.stderr.is_empty(), "{shell} {line:?}");
    }
    // Set by mistake, the variable changes nothing.
    let output = place.fairlane(&["suites"]).env("FAIRLANE_COMPLETE", "bash").output().expect("fairlane runs");
    assert!(output.status.success() && String::from_utf8_lossy(&output.stdout).contains("fairlane suites NAME"));
}

fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).expect("a folder").flatten();
    let mut names: Vec<String> = entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

#[test]
fn a_record_answers_to_its_name() {
    let place = place_with_a_record();
    assert_eq!(told(&place, &["report", "2026"]), [RECORD]);
    assert_eq!(told(&place, &["report", ""]).first().map(String::as_str), Some("last"));
    let (by_name, _) = place.expect(0, &["report", RECORD]);
    let (last, _) = place.expect(0, &["report", "last"]);
    assert_eq!(by_name, last);
    // A name is one part of a path, and a file of the working directory comes first.
    for wrong in [format!("../runs/{RECORD}"), format!("{RECORD}/"), "..".to_owned()] {
        place.expect(2, &["report", &wrong]);
    }
    std::fs::write(place.path().join(RECORD), "no record").expect("a file");
    place.expect(2, &["report", RECORD]);
}

#[test]
fn under_sudo_names_in_a_folder_of_roots_are_told_to_nobody() {
    if !root() {
        return;
    }
    let place = Place::new();
    let open = |path: &Path| std::fs::set_permissions(path, PermissionsExt::from_mode(0o755)).expect("mode");
    let state = place.path().join("state/fairlane");
    std::fs::create_dir_all(&state).expect("folders");
    [place.path(), &place.path().join("state"), &state].into_iter().for_each(open);
    let secret = place.path().join("secret");
    std::fs::create_dir(&secret).expect("a folder");
    std::fs::set_permissions(&secret, PermissionsExt::from_mode(0o700)).expect("mode");
    std::fs::write(secret.join("2026-secret.jsonl"), "").expect("a file");
    symlink(&secret, state.join("runs")).expect("a link");
    let inside = format!("{}/", secret.display());
    for typed in ["2026", inside.as_str()] {
        let told_to = |user: &str| {
            let mut command = place.fairlane(&["--", "fairlane", "report", typed]);
            let output = command.env("FAIRLANE_COMPLETE", "bash").env("SUDO_UID", user).env("SUDO_GID", user).output();
            String::from_utf8_lossy(&output.expect("fairlane runs").stdout).into_owned()
        };
        assert!(told_to("0").contains("2026-secret.jsonl"), "{typed}");
        assert!(!told_to("65534").contains("2026-secret"), "{typed}");
    }
}
