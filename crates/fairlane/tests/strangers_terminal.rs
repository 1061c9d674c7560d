//! What strangers wrote (records, suites, names, folders) moves no terminal.

use crate::common;
use crate::strangers::bounded;

use common::Place;
use std::fs;
use std::io::Read;
use std::os::fd::FromRawFd;
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, Output, Stdio};

const RECORD: &str = include_str!("fixtures/schema1.jsonl");
/// Clears the screen, turns the line round, and ends a sentence to begin one of its own.
const HOSTILE: &str = "\u{1b}[2J\u{1b}]0;x\u{7}\u{202e}a\u{2066}\r\u{9b}31m";

/// What a terminal would obey.
fn obeyed(character: char) -> bool {
    (character.is_control() && !"\n\t".contains(character))
        || model::text::is_unsafe(character) && !"\n\t".contains(character)
}

/// Writes records of which every text is hostile, and answers the one whose name is so too.
fn hostile_records(place: &Place) -> String {
    let at = |name: &str| place.path().join(name);
    let hostile_json = serde_json::to_string(HOSTILE).unwrap();
    let inside = &hostile_json[1..hostile_json.len() - 1];
    // Every string of a record that is no key of anything: names, titles, commands, machines.
    let mut record = RECORD.replace("\"ext4\"", &format!("\"ext4{inside}\"")).replace("commit 4 KiB", inside);
    for word in ["Debian GNU", "tiny", "A processor", "6.12.0-fixture"] {
        record = record.replace(word, inside);
    }
    fs::write(at("r.jsonl"), &record).unwrap();
    fs::write(at("bad.jsonl"), RECORD.replacen("\"rw\":\"append\"", &format!("\"rw\":\"{inside}\""), 1)).unwrap();
    let line = format!("{{\"kind\":\"end\",\"finished\":\"\",\"outcome\":\"{inside}\"}}\n");
    fs::write(at("end.jsonl"), format!("{RECORD}{line}{line}")).unwrap();
    let name = format!("n{HOSTILE}\nfairlane: all is well");
    fs::write(at(&name), &record).unwrap();
    let runs = at("state/fairlane/runs");
    fs::create_dir_all(&runs).unwrap();
    fs::copy(at("r.jsonl"), runs.join("2026-01-01T00-00-00Z-a.jsonl")).unwrap();
    fs::copy(at("bad.jsonl"), runs.join(format!("2026-01-01T00-00-00Z-{HOSTILE}.jsonl"))).unwrap();
    name
}

/// Writes suites whose texts are hostile, and answers their names.
fn hostile_suites(place: &Place) -> Vec<String> {
    [
        format!("\"{HOSTILE}\" = 1"),
        format!("name = \"{}\"\nabout = \"x\"\n[[workload]]\nname = \"{}\"\ntitle = \"t\"\nkind = \"io\"\nrw = \"{}\"", "a", "\\u001b[2J", "\\u202e"),
        "name = \"\\u001b[2J\\u202e\"\nabout = \"\\u001b[2J\"\n[[workload]]\nname = \"w\"\ntitle = \"\\u001b[2J\"\nkind = \"io\"\nrw = \"write\"\nbs = \"4KiB\"\nsize = \"1MiB\"\n".to_owned(),
    ]
    .iter()
    .enumerate()
    .map(|(index, text)| {
        let name = format!("s{index}.toml");
        fs::write(place.path().join(&name), text).unwrap();
        name
    })
    .collect()
}

#[test]
fn nothing_that_strangers_wrote_moves_a_terminal() {
    let place = Place::new();
    let name = hostile_records(&place);
    for suite in hostile_suites(&place) {
        for command in [
            &["race", "--suite", &suite, "--dry-run", "."][..],
            &["suites", &suite],
            &["calibrate", "--suite", &suite, "--dry-run"],
            &["advise", "r.jsonl", "--scenario", &suite],
            &["race", &format!("./{suite}"), "--dry-run"],
            &["fio", &suite, "."],
        ] {
            quiet_terminal(&place, command);
        }
    }
    fs::write(place.path().join("h.fio"), format!("[{HOSTILE}]\nsize=1m\n{HOSTILE}=1\n")).unwrap();
    for format in ["text", "markdown", "memo", "csv", "json", "fio-json", "io500", "junit", HOSTILE] {
        for record in ["r.jsonl", "end.jsonl", "bad.jsonl", &name] {
            quiet_terminal(&place, &["report", record, "--format", format]);
            quiet_terminal(&place, &["compare", record, "r.jsonl", "--format", format]);
        }
        quiet_terminal(&place, &["advise", "r.jsonl", "--format", format]);
        quiet_terminal(
            &place,
            &["compare", "--baseline", "r.jsonl", "--candidate", &name, "--fail-if-slower", "5%", "--format", format],
        );
    }
    for command in [
        &["records"][..],
        &[HOSTILE],
        &["race", HOSTILE],
        &["race", "ext4", &format!("--{HOSTILE}")],
        &["race", "--on", HOSTILE],
        &["race", "--suite", HOSTILE],
        &["race", "--set", HOSTILE],
        &["race", "--workload", HOSTILE],
        &["race", "--resume", &name],
        &["race", "--rounds", HOSTILE],
        &["race", ".", "-o", &format!("{HOSTILE}/r.jsonl")],
        &["race", "--throttle", HOSTILE],
        &["race", "--erase", HOSTILE, "ext4@/dev/null"],
        &["fio", HOSTILE],
        &["fio", "h.fio", "."],
        &["report", HOSTILE],
        &["report", "r.jsonl", "--lang", HOSTILE],
        &["report", "r.jsonl", "--format", "csv", "-o", &format!("{HOSTILE}/x")],
        &["compare", HOSTILE, "last"],
        &["compare", "last", &format!("published:{HOSTILE}")],
        &["compare", "--baseline", &format!("{HOSTILE}*"), "--candidate", "[", "--fail-if-slower", "5%"],
        &["advise", HOSTILE],
        &["advise", "--features", HOSTILE],
        &["advise", "r.jsonl", "--need", HOSTILE],
        &["calibrate", HOSTILE],
        &["serve", "--records", HOSTILE],
        &["serve", "--listen", HOSTILE],
        &["powercut", HOSTILE],
        &["powercut", "--look", HOSTILE],
        &["powercut", "--cut", HOSTILE],
        &["integrity", HOSTILE],
        &["suites", HOSTILE],
        &["doctor", HOSTILE],
    ] {
        quiet_terminal(&place, command);
    }
}

/// What a command writes to a terminal that is one.
fn on_a_terminal(mut command: Command) -> String {
    let (mut ours, mut theirs) = (0, 0);
    // SAFETY: openpty fills two numbers that live across the call; name, settings and size are the default.
    let opened = unsafe {
        libc::openpty(&mut ours, &mut theirs, std::ptr::null_mut(), std::ptr::null_mut(), std::ptr::null_mut())
    };
    assert_eq!(opened, 0, "{}", std::io::Error::last_os_error());
    // SAFETY: both were just opened, and nobody else has them.
    let (ours, theirs) = unsafe { (fs::File::from_raw_fd(ours), fs::File::from_raw_fd(theirs)) };
    command.env("TERM", "xterm-256color").env_remove("NO_COLOR").stdin(Stdio::null());
    let mut child = command.stdout(theirs.try_clone().unwrap()).stderr(theirs).spawn().expect("fairlane starts");
    // It holds the other end.
    drop(command);
    let mut written = Vec::new();
    let mut ours = ours;
    let mut room = [0; 4096];
    // The terminal ends with EIO.
    while let Ok(bytes @ 1..) = ours.read(&mut room) {
        written.extend_from_slice(&room[..bytes]);
    }
    child.wait().expect("it ended");
    String::from_utf8(written).expect("UTF-8")
}

/// The text without what Fairlane itself may have a terminal do: colours, and the progress line's two sequences.
fn without_our_own(text: &str) -> String {
    let mut left = String::new();
    let mut rest = text;
    while let Some(at) = rest.find('\u{1b}') {
        left.push_str(&rest[..at]);
        let sequence = &rest[at..];
        let numbers =
            sequence.strip_prefix("\u{1b}[").map(|of| of.trim_start_matches(|c: char| c.is_ascii_digit() || c == ';'));
        match numbers
            .filter(|of| of.starts_with('m'))
            .or_else(|| sequence.strip_prefix("\u{1b}[")?.starts_with('K').then(|| &sequence[2..]))
        {
            Some(of) => rest = &of[1..],
            None => {
                left.push('\u{1b}');
                rest = &sequence[1..];
            }
        }
    }
    (left + rest).replace("\r\n", "\n").replace('\r', "")
}

#[test]
fn a_terminal_that_is_one_gets_our_own_colours_and_nothing_of_strangers() {
    let place = Place::new();
    let inside = serde_json::to_string(HOSTILE).unwrap();
    let inside = &inside[1..inside.len() - 1];
    let record = RECORD.replace("\"ext4\"", &format!("\"ext4{inside}\"")).replace("commit 4 KiB", inside);
    fs::write(place.path().join("plain.jsonl"), RECORD).unwrap();
    fs::write(place.path().join("r.jsonl"), record).unwrap();
    let suite = place.tiny_suite();
    let folder = format!("d{HOSTILE}");
    fs::create_dir(place.path().join(&folder)).unwrap();
    let mut coloured = false;
    for words in [
        &["report", "plain.jsonl"][..],
        &["report", "r.jsonl"],
        &["compare", "r.jsonl", "plain.jsonl"],
        &["report", &folder],
        &["race", HOSTILE],
        &["race", &folder, "--suite", &suite, "--rounds", "1", "--workload", "commit", "-o", "new.jsonl"],
        &["records"],
    ] {
        let written = on_a_terminal(place.fairlane(words));
        coloured |= written.contains("\u{1b}[");
        let left = without_our_own(&written);
        if let Some(at) = left.find(obeyed) {
            panic!("{words:?} writes {:?}: {}", left[at..].chars().next(), left.escape_debug());
        }
    }
    assert!(coloured, "a terminal gets colours, so it was taken for one");
}

#[test]
fn the_environment_moves_no_terminal_and_takes_no_memory() {
    let place = Place::new();
    fs::write(place.path().join("r.jsonl"), RECORD).unwrap();
    let names = [
        "COLUMNS",
        "LINES",
        "LANG",
        "LC_ALL",
        "LANGUAGE",
        "TERM",
        "HOME",
        "TMPDIR",
        "NO_COLOR",
        "XDG_DATA_HOME",
        "SUDO_HOME",
        "SUDO_USER",
    ];
    for value in [HOSTILE, "", "99999999999999999999", "-1", "/dev/zero", "..", "/nonexistent"] {
        for command in
            [&["--help"][..], &["records"], &["report", "r.jsonl"], &["report", "none.jsonl"], &["advise", "r.jsonl"]]
        {
            let mut hostile = place.fairlane(command);
            hostile.envs(names.map(|name| (name, value))).env("SUDO_UID", value).env("SUDO_GID", value);
            let output = bounded(hostile);
            assert!(matches!(output.status.code(), Some(0..=2)), "{command:?} {value:?}: {:?}", output.status);
            assert_quiet(&format!("{command:?} {value:?}"), &output);
        }
    }
}

#[track_caller]
fn quiet_terminal(place: &Place, arguments: &[&str]) {
    assert_quiet(&format!("{arguments:?}"), &place.run(arguments));
}

#[track_caller]
fn assert_quiet(what: &str, output: &Output) {
    assert_eq!(output.status.signal(), None, "{what}");
    for (stream, bytes) in [("stdout", &output.stdout), ("stderr", &output.stderr)] {
        let text = String::from_utf8(bytes.clone()).unwrap_or_else(|error| panic!("{stream} of {what}: {error}"));
        // Lines of CSV end so (RFC 4180).
        let text = text.replace("\r\n", "\n");
        if let Some(at) = text.find(obeyed) {
            panic!("{stream} of {what} holds {:?}:\n{}", text[at..].chars().next(), text.escape_debug());
        }
        assert!(!text.contains("panicked"), "{what}: {text}");
        assert!(!text.contains("\nfairlane: all is well"), "a name speaks for us: {text}");
    }
}
