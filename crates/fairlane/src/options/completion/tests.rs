//! What a shell is told, without a shell.

use super::*;

fn told(line: &[&str]) -> Vec<String> {
    let typed = line.iter().map(OsString::from).collect();
    answers(Shell::Bash, typed).unwrap_or_default().lines().map(str::to_owned).collect()
}

#[test]
fn every_argument_that_a_completer_is_meant_for_is_there() {
    for (line, wanted) in [
        (&["fairlane", "ra"][..], "race"),
        (&["fairlane", "race", "ext4", "xf"], "xfs"),
        (&["fairlane", "calibrate", "btr"], "btrfs"),
        (&["fairlane", "screen", "xf"], "xfs"),
        (&["fairlane", "screen", "xfs", "--suite", "general", "--workload", "mi"], "mixed"),
        (&["fairlane", "screen", "xfs", "--data", "inc"], "incompressible"),
        (&["fairlane", "fio", "a.fio", "ext4", "ext4+ag"], "ext4+aged"),
        (&["fairlane", "race", "--suite", "qu"], "quick"),
        (&["fairlane", "race", "--suite=qu"], "--suite=quick"),
        (&["fairlane", "suites", "late"], "latency"),
        (&["fairlane", "race", "--suite", "general", "--workload", "mi"], "mixed"),
        (&["fairlane", "powercut", "--workload", "sqlite-w"], "sqlite-wal"),
        (&["fairlane", "race", "--state", "re"], "rebuilding"),
        (&["fairlane", "race", "--on", "qe"], "qemu"),
        (&["fairlane", "race", "--speed", "th"], "thinktime"),
        (&["fairlane", "race", "--data", "inc"], "incompressible"),
        (&["fairlane", "race", "--explain=n"], "--explain=no"),
        (&["fairlane", "age", ".", "--profile", "g"], "git"),
        (&["fairlane", "age", ".", "--until", "se"], "settled"),
        (&["fairlane", "powercut", "--sector", "5"], "512"),
        (&["fairlane", "advise", "--scenario", "mys"], "mysql"),
        (&["fairlane", "advise", "--need", "snapshots,check"], "snapshots,checksums"),
        (&["fairlane", "advise", "--features", "zf"], "zfs"),
        (&["fairlane", "compare", "last", "published:open"], "published:openeuler-2203"),
        (&["fairlane", "compare", "--format", "ju"], "junit"),
        (&["fairlane", "report", "--format", "fio"], "fio-json"),
        (&["fairlane", "report", "--lang", "d"], "de"),
        (&["fairlane", "serve", "--token", "a"], "auto"),
        (&["fairlane", "trace", "show", "x.trace", "--format", "sc"], "scenario"),
        (&["fairlane", "completions", "z"], "zsh"),
        (&["fairlane", "help", "powerc"], "powercut"),
    ] {
        let words = told(line);
        assert!(words.iter().any(|word| word == wanted), "{line:?}: {words:?}");
    }
    // What is not shown is not told.
    assert!(told(&["fairlane", "ag"]).iter().all(|word| word == "age") && told(&["fairlane", "guest"]).is_empty());
    assert!(told(&["fairlane", "race", ""]).iter().all(|word| !word.starts_with('-')));
    assert!(told(&["fairlane", "doctor", ""]).contains(&"--install".to_owned()));
}

#[test]
fn words_of_help_that_are_told_are_those_of_the_options() {
    let whole = super::super::command();
    let help = |command: &str, option: &str| {
        let command = whole.find_subcommand(command).unwrap();
        let arg = command.get_arguments().find(|arg| arg.get_id() == option).unwrap();
        arg.get_help().unwrap().to_string()
    };
    for word in ["incompressible", "1.6:1", "2.7:1", "compress:50"] {
        assert!(help("race", "data").contains(&format!("`{word}`")), "{word}");
    }
    assert!(help("powercut", "sector").contains("512 or 4096 bytes"));
    for (command, known) in [("age", "text or json"), ("advise", "text, markdown or json")] {
        assert!(help(command, "format").contains(known));
        assert!(formats(command).iter().all(|format| known.contains(format)), "{command}");
    }
}

#[test]
fn a_file_with_a_name_that_a_shell_would_obey_is_not_told() {
    let place = tempfile::tempdir().unwrap();
    for name in [
        "good.jsonl",
        "$(reboot).jsonl",
        "a b.jsonl",
        "`x`.jsonl",
        "a;b.jsonl",
        "\u{1b}[2J.jsonl",
        "-rf.jsonl",
        "a\u{202e}b.jsonl",
        "other.txt",
    ] {
        std::fs::write(place.path().join(name), "").unwrap();
    }
    std::fs::create_dir(place.path().join("sub")).unwrap();
    std::os::unix::fs::symlink("sub", place.path().join("to-sub")).unwrap();
    let folder = format!("{}/", place.path().display());
    let shown = |name: &str| format!("{folder}{name}");
    assert_eq!(files("", &folder, &["jsonl"]), ["-rf.jsonl", "good.jsonl", "sub/", "to-sub/"].map(shown));
    assert_eq!(files("x=", &shown("s"), &[]), [format!("x={folder}sub/")]);
    assert!(files("", "/no/such/folder/", &[]).is_empty());
    let told = told(&["fairlane", "report", &shown("")]);
    assert_eq!(told, ["-rf.jsonl", "good.jsonl", "sub/", "to-sub/"].map(shown));
}

#[test]
fn each_shell_gets_its_own_form_and_nothing_odd_ends_in_noise() {
    let typed = |line: &[&str]| line.iter().map(OsString::from).collect::<Vec<_>>();
    let line = ["fairlane", "compare", "published:raid"];
    assert_eq!(answers(Shell::Zsh, typed(&line)).unwrap(), "published\\:raid5-2gb\n");
    assert_eq!(answers(Shell::Fish, typed(&line)).unwrap(), "published:raid5-2gb\t\n");
    assert!(answers(Shell::Fish, typed(&["fairlane", "rac"])).unwrap().starts_with("race\tRace filesystems"));
    for odd in [&["fairlane"][..], &["fairlane", "--", "", "--"], &["fairlane", "nosuch", "x", ""]] {
        let told = answers(Shell::Bash, typed(odd)).unwrap_or_default();
        assert!(told.is_ascii(), "{odd:?}: {told}");
    }
    let bytes = std::os::unix::ffi::OsStringExt::from_vec(vec![b'x', 0xff]);
    assert_eq!(answers(Shell::Bash, vec!["fairlane".into(), "race".into(), bytes]).unwrap_or_default(), "");
}
