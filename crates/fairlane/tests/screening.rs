//! `fairlane screen` as its users call it: what it plans, what it leaves out, and small real screenings.

use crate::common;

use common::{Place, assert_one_sentence, root};
use serde_json::Value;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};

/// Three mount options that every kernel's ext4 knows, with their levels.
const OPTIONS: [&str; 6] =
    ["--option", "commit=5|30", "--option", "max_batch_time=15000|0", "--option", "inode_readahead_blks=32|64"];

/// Words of a screening of small lanes with a workload that takes a moment.
fn words<'a>(suite: &'a str, options: &[&'a str], more: &[&'a str]) -> Vec<&'a str> {
    let work = ["--suite", suite, "--workload", "commit", "--lane-size", "64MiB"];
    [&["screen", "ext4"][..], &work, options, more].concat()
}

#[test]
fn a_dry_run_shows_the_design_and_what_comes_after_it() {
    if !root() {
        return;
    }
    let place = Place::new();
    let suite = place.tiny_suite();
    let (out, _) = place.expect(0, &words(&suite, &OPTIONS, &["--rounds", "3", "--dry-run"]));
    assert!(out.contains("3 options in 8 lanes, all combinations of their levels"), "{out}");
    for (at, name) in ["commit", "max_batch_time", "inode_readahead_blks"].into_iter().enumerate() {
        assert!(out.contains(&format!("column {}: {name}: ", at + 1)), "{out}");
    }
    // Each run once, the default first.
    let runs: Vec<Vec<&str>> = out
        .lines()
        .map(|line| line.split_whitespace().collect::<Vec<_>>())
        .filter(|line| line.len() == 4 && line[1..].iter().all(|sign| ["+", "-"].contains(sign)))
        .collect();
    assert_eq!(runs.len(), 8, "{out}");
    assert_eq!(runs[0], ["default", "-", "-", "-"]);
    let signs: std::collections::BTreeSet<_> = runs.iter().map(|run| &run[1..]).collect();
    assert_eq!(signs.len(), 8, "{runs:?}");
    assert!(out.contains("-confirmed.jsonl: fairlane race default=ext4"), "{out}");
    assert!(!place.path().join("state/fairlane/runs").exists(), "a dry run keeps no record");
    place.assert_nothing_left();
}

#[test]
fn a_plan_says_how_many_of_the_rounds_that_were_named_the_time_has_room_for() {
    if !root() {
        return;
    }
    let place = Place::new();
    let suite = place.tiny_suite();
    let more = ["--rounds", "9000", "--budget", "1m", "--dry-run"];
    let (out, _) = place.expect(0, &words(&suite, &OPTIONS, &more));
    let said = out.split_whitespace().collect::<Vec<_>>().join(" ");
    let plan = said.split("plan: 1 workload, about ").nth(1).expect("the plan");
    assert!(plan.contains(" of 9000 rounds, ended after 45 s (--budget)"), "{plan}");
    place.assert_nothing_left();
}

#[test]
fn an_option_that_is_named_and_refused_ends_the_command_with_the_words_of_who_refuses_it() {
    if !root() {
        return;
    }
    let place = Place::new();
    let suite = place.tiny_suite();
    let refused = [&OPTIONS[..], &["--option", "nosuchoption=1|2"]].concat();
    for more in [&["--rounds", "3", "--dry-run"][..], &["--rounds", "3", "--quiet", "-o", "r.jsonl"]] {
        let (out, err) = place.expect(2, &words(&suite, &refused, more));
        let why = err.split("what --option names is refused: nosuchoption 2 (").nth(1).expect("why");
        assert!(why.len() > 20 && why.contains("); correct it, or leave it out"), "{err}");
        assert!(out.is_empty() && !place.path().join("r.jsonl").exists(), "{out}");
        place.assert_nothing_left();
    }
}

#[test]
fn what_cannot_be_screened_is_refused_in_one_sentence() {
    let place = Place::new();
    for (arguments, says) in [
        (vec!["screen"], vec!["LANE"]),
        (vec!["screen", "/mnt/a"], vec!["makes its lanes anew", "ext4, xfs or btrfs", "or a file of your own"]),
        (vec!["screen", "./no-such.toml"], vec!["in no table; name them", "--option 'delay=0|100'"]),
        (vec!["screen", "./no-such.toml", "--option", "fast"], vec!["no-such.toml", "name a TOML file"]),
        (vec!["screen", "tmpfs"], vec!["stands in memory and not on a block device"]),
        (vec!["screen", "exr4"], vec!["no filesystem is called `exr4`", "did you mean ext4?"]),
        (vec!["screen", "ext4", "--with-self"], vec!["leave --with-self out"]),
        (vec!["screen", "ext4", "--throttle", "ext4:2000iops"], vec!["--throttle without a lane"]),
        (vec!["screen", "ext4", "--without", "nosuch"], vec!["--without nosuch", "none of the options"]),
        (vec!["screen", "ext4", "--without", "noatime,commit"], vec!["name each with a --without of its own"]),
        (vec!["screen", "ext4", "--option", "noatime,commit"], vec!["--option noatime --option commit"]),
        (vec!["screen", "ext4", "--budget", "1s"], vec!["in 1.0 s nothing can be screened", "--budget 30s"]),
        (vec!["screen", "myfs.toml"], vec!["no filesystem is called `myfs.toml`", "./myfs.toml"]),
        (vec!["screen", "ext4", "--option", "-F|-n"], vec!["`-n` is a flag of its own"]),
        (vec!["screen", "ext4", "--option", "|"], vec!["an option has no name"]),
        (vec!["screen", "ext4", "--option", "-E mount_opts=nodelalloc"], vec!["known to tune2fs alone"]),
        (vec!["screen", "ext4", "--rounds", "1"], vec!["1 is not in 2..=10000"]),
        (vec!["screen", "--resume", "nosuch.jsonl"], vec!["nosuch.jsonl"]),
    ] {
        let (_, err) = place.expect(2, &arguments);
        assert!(says.iter().all(|part| err.contains(part)), "{arguments:?}: {err}");
    }
    std::fs::write(place.path().join("race.jsonl"), include_str!("fixtures/schema1.jsonl")).unwrap();
    let (_, err) = place.expect(2, &["screen", "--resume", "race.jsonl"]);
    assert_one_sentence(&err, &["race.jsonl is no screening", "fairlane race --resume race.jsonl"]);
    place.assert_nothing_left();
}

#[test]
fn what_has_no_room_or_a_name_that_is_taken_is_refused_before_options_are_tried() {
    if !root() {
        return;
    }
    let place = Place::new();
    let suite = place.tiny_suite();
    for name in ["taken.jsonl", "a-confirmed.jsonl", "b-tune1.jsonl"] {
        std::fs::write(place.path().join(name), "").unwrap();
    }
    for (more, status, says) in [
        (&["--lane-size", "100TiB"][..], 1, &["100TiB", "free some space, lower --lane-size"][..]),
        (&["--lane-size", "65537KiB"][..], 2, &["no multiple of 4KiB"][..]),
        (&["--lane-size", "8MiB"][..], 2, &["raise --lane-size"][..]),
        (&["-o", "taken.jsonl"][..], 2, &["taken.jsonl exists already"][..]),
        (&["-o", "a.jsonl"][..], 2, &["a-confirmed.jsonl exists already"][..]),
        (&["-o", "b.jsonl", "--tune", "1m"][..], 2, &["b-tune1.jsonl exists already"][..]),
    ] {
        for dry in [&["--dry-run"][..], &[][..]] {
            let fixed = ["screen", "ext4", "--suite", &suite, "--workload", "commit"];
            let (out, err) = place.expect(status, &[&fixed[..], &OPTIONS, more, dry].concat());
            assert_one_sentence(&err, says);
            assert!(!err.contains("trying") && out.is_empty(), "{more:?}: {out}{err}");
        }
    }
    place.assert_nothing_left();
}

#[test]
fn what_the_kernel_turns_off_beside_another_option_is_not_screened() {
    if !root() {
        return;
    }
    let place = Place::new();
    let suite = place.tiny_suite();
    let options = ["data=ordered|journal", "delalloc", "nodelalloc", "commit=5|30"];
    let options: Vec<&str> = options.into_iter().flat_map(|option| ["--option", option]).collect();
    let (out, err) = place.expect(0, &words(&suite, &options, &["--rounds", "3", "--dry-run"]));
    for line in [
        "left out: delalloc off: it does not go with data journal, which sets `nodelalloc` too",
        "left out: nodelalloc on: it is the same as delalloc off",
    ] {
        assert!(out.contains(line), "{line}: {out}");
    }
    assert!(out.contains("2 options in 8 lanes") && err.contains("on a sparse image of 64MiB"), "{out}{err}");
    place.assert_nothing_left();
}

#[test]
fn a_usual_level_is_told_as_it_is_on_lanes_of_this_size() {
    if !root() {
        return;
    }
    let place = Place::new();
    let suite = place.tiny_suite();
    let options = ["--option", "block_size", "--option", "noatime"];
    let (out, _) = place.expect(0, &words(&suite, &options, &["--rounds", "3", "--dry-run"]));
    // mke2fs takes blocks of 1 KiB below 512 MiB.
    assert!(out.contains("block_size: default (1K here), or 2K"), "{out}");
}

#[test]
fn who_may_not_race_and_has_no_home_is_told_the_first() {
    if !root() {
        return;
    }
    let place = Place::new();
    std::fs::set_permissions(place.path(), PermissionsExt::from_mode(0o755)).unwrap();
    // The build folder may be closed to other users: nobody runs a copy.
    let program = place.path().join("fairlane");
    std::fs::copy(env!("CARGO_BIN_EXE_fairlane"), &program).unwrap();
    for command in ["screen", "race"] {
        for dry in [&["--dry-run"][..], &[][..]] {
            let refused = Command::new(&program)
                .args([command, "ext4@image"])
                .args(dry)
                .current_dir(place.path())
                .env("HOME", "/nonexistent")
                .env_remove("XDG_STATE_HOME")
                .env_remove("FAIRLANE_UNDO_DIR")
                .env_remove("SUDO_UID")
                .stdin(Stdio::null())
                .uid(65534)
                .gid(65534)
                .output()
                .expect("it runs");
            let err = String::from_utf8_lossy(&refused.stderr);
            assert_eq!(refused.status.code(), Some(4), "{command} {dry:?}: {err}");
            assert_one_sentence(&err, &["formatting and mounting needs root: sudo fairlane"]);
        }
    }
}

/// The lines of a record of the place.
#[track_caller]
fn lines(place: &Place, name: &str) -> Vec<Value> {
    let text = std::fs::read_to_string(place.path().join(name)).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn trials(lines: &[Value]) -> usize {
    lines.iter().filter(|line| line["kind"] == "trial" && line["outcome"] == "ok").count()
}

#[test]
fn a_small_screening_is_raced_reported_and_gone_on_with() {
    if !root() {
        return;
    }
    let place = Place::new();
    let suite = place.tiny_suite();
    // 29 is no level of the table.
    let two = &["--option", "commit=5|29", OPTIONS[2], OPTIONS[3]];
    let more = ["--rounds", "2", "--seed", "7", "--no-confirm", "--no-report", "--quiet", "-o", "r.jsonl"];
    let (out, _) = place.expect(0, &words(&suite, two, &more));
    place.assert_nothing_left();
    assert!(out.contains("SCREENING") && out.contains("`fairlane report "), "{out}");
    let raced = place.record();
    let screening = &raced[0]["plan"]["screening"];
    assert_eq!(screening["base"], "ext4");
    assert_eq!(screening["runs"].as_array().unwrap().len(), 8);
    assert_eq!(screening["runs"][0]["lane"], "default");
    assert_eq!(trials(&raced), 16, "eight lanes in two rounds");
    for format in ["text", "markdown", "json"] {
        let (shown, _) = place.expect(0, &["report", "r.jsonl", "--format", format]);
        assert!(shown.contains("max_batch_time"), "{format}: {shown}");
    }

    // As if it had been interrupted in its second round.
    let cut = raced.into_iter().filter(|line| line["kind"] != "end" && line["round"] != 2);
    let cut: String = cut.map(|line| format!("{line}\n")).collect();
    std::fs::write(place.path().join("cut.jsonl"), cut).unwrap();
    let (_, err) = place.expect(2, &["race", "--resume", "cut.jsonl"]);
    assert_one_sentence(&err, &["cut.jsonl is a screening", "fairlane screen ext4 --resume cut.jsonl"]);
    // What mkfs and mount are told is typed by whoever goes on, and not by a file.
    let (_, err) = place.expect(2, &["screen", "--resume", "cut.jsonl", "--no-confirm"]);
    assert_one_sentence(&err, &["not as Fairlane's table has it", "--option 'commit=5|29'"]);
    let again = [&["screen", "--resume", "cut.jsonl", "--no-confirm", "--no-report"][..], two].concat();
    place.expect(0, &again);
    place.assert_nothing_left();
    assert_eq!(trials(&lines(&place, "cut.jsonl")), 16);
    let (_, err) = place.expect(2, &again);
    assert_one_sentence(&err, &["cut.jsonl is complete"]);
}

#[test]
fn a_screening_is_compared_with_nothing_and_a_strangers_confirmation_is_not_its_own() {
    if !root() {
        return;
    }
    let place = Place::new();
    let suite = place.tiny_suite();
    let more = ["--rounds", "2", "--no-confirm", "--no-report", "--quiet", "-o", "r.jsonl"];
    place.expect(0, &words(&suite, &OPTIONS[..2], &more));
    let (plain, said) = place.expect(0, &["report", "r.jsonl"]);
    assert!(!said.contains("left out"), "{said}");
    std::fs::write(place.path().join("r-confirmed.jsonl"), include_str!("fixtures/schema1.jsonl")).unwrap();
    let (with, said) = place.expect(0, &["report", "r.jsonl"]);
    assert!(said.contains("r-confirmed.jsonl is left out: "), "{said}");
    assert!(with.contains("CONFIRMED Not yet: the record that lies beside"), "{with}");
    assert!(!plain.contains("the record that lies beside"), "{plain}");
    std::fs::copy(place.path().join("r.jsonl"), place.path().join("other.jsonl")).unwrap();
    for arguments in [
        vec!["compare", "r.jsonl", "other.jsonl"],
        vec!["compare", "--baseline", "r.jsonl", "--candidate", "other.jsonl", "--fail-if-slower", "5%"],
        vec!["advise", "r.jsonl"],
        vec!["explain", "r.jsonl"],
    ] {
        let (_, err) = place.expect(2, &arguments);
        assert_one_sentence(&err, &["r.jsonl is a screening", "runs of a design"]);
    }
    let (_, err) = place.expect(2, &["trend", "commit", "r.jsonl", "other.jsonl"]);
    assert_one_sentence(&err, &["only screenings have figures of `commit`", "runs of a design"]);
    // What is private in it is replaced, and its design is a design all the same.
    place.expect(0, &["share", "r.jsonl", "-o", "shared.jsonl"]);
    let (shared, _) = place.expect(0, &["report", "shared.jsonl"]);
    assert!(shared.contains("SCREENING"), "{shared}");
    // A new screening takes no name that is taken.
    let (_, err) = place.expect(2, &words(&suite, &OPTIONS[..2], &["-o", "r.jsonl"]));
    assert!(err.contains("r-confirmed.jsonl") || err.contains("r.jsonl"), "{err}");
}

#[test]
fn a_strangers_record_does_not_choose_what_its_options_change() {
    let place = Place::new();
    let (header, rest) = include_str!("fixtures/schema1.jsonl").split_once('\n').unwrap();
    let mut header: Value = serde_json::from_str(header).unwrap();
    let option = |name: &str, word: &str| {
        serde_json::json!({
            "name": name,
            "usual": { "label": "off" },
            "other": { "label": "on", "mount": [word] },
            "costs": "none",
        })
    };
    header["plan"]["screening"] = serde_json::json!({
        "base": "ext4",
        "design": "full-factorial",
        "factors": [
            option("noatime", "nobarrier"),
            option("noatime", "commit=300"),
            option("barrier", "nobarrier"),
            option("noatime", "noatime"),
        ],
        "runs": [],
    });
    std::fs::write(place.path().join("s.jsonl"), format!("{header}\n{rest}")).unwrap();
    let (shown, _) = place.expect(0, &["report", "s.jsonl", "--format", "json"]);
    let shown: Value = serde_json::from_str(&shown).unwrap();
    let told: Vec<(&str, &str)> = shown["screening"]["factors"]
        .as_array()
        .unwrap()
        .iter()
        .map(|of| (of["class"].as_str().unwrap(), of["costs"].as_str().unwrap_or_default()))
        .collect();
    let ordinary = ("ordinary", "files do not tell when they were read");
    assert!(!told[2].1.is_empty() && told[2].1 != "none", "what `nobarrier` costs is known of its words: {told:?}");
    assert_eq!(told, [("promises", ""), ("unknown", ""), ("promises", told[2].1), ordinary]);
}

/// Words of a screening of a file of one's own, which lies in the place.
const OWN: [&str; 6] = ["screen", "./myfs.toml", "--option", "commit=5|30", "--option", "-I 256|512"];

/// The example of the documentation, which notes each time it is made.
fn write_own(place: &Place) -> String {
    let example = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/myfs.toml")).unwrap();
    let made = place.path().join("made").display().to_string();
    let noted = format!("mkfs = [\"sh\", \"-c\", \"echo $* >> {made}; exec mkfs.ext4 $*\", \"mkfs\", ");
    let text = example.replacen("mkfs = [\"mkfs.ext4\", ", &noted, 1);
    assert_ne!(text, example);
    std::fs::write(place.path().join("myfs.toml"), &text).unwrap();
    text
}

/// How often it was made, each with the words that mkfs was told.
fn made(place: &Place) -> Vec<String> {
    let text = std::fs::read_to_string(place.path().join("made")).unwrap_or_default();
    text.lines().map(str::to_owned).collect()
}

#[test]
fn a_dry_run_of_a_file_of_ones_own_tries_its_options_by_its_commands_and_designs_lanes() {
    if !root() {
        return;
    }
    let place = Place::new();
    let suite = place.tiny_suite();
    write_own(&place);
    let more = ["--suite", &suite, "--workload", "commit", "--lane-size", "128MiB", "--rounds", "2", "--dry-run"];
    let (out, err) = place.expect(0, &[&OWN[..], &more].concat());
    assert!(out.contains("2 options in 8 lanes, all combinations of their levels, each in 2 lanes"), "{out}");
    let column = "column 2: -I: 256, or 512; in no table, so never proposed";
    assert!(out.contains(column), "{out}");
    let one_line = out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(!one_line.contains("not tried beforehand"), "{out}");
    assert!(err.contains("trying 2 options on a sparse image of 128MiB, by the commands of its file"), "{err}");
    assert!(one_line.contains("none of these options may be proposed"), "{out}");
    assert!(!one_line.contains("for the confirmation") && !one_line.contains("r-confirmed.jsonl"), "{out}");
    assert!(!one_line.contains("race it against the default"), "{out}");
    // Where nobody reads standard error too.
    assert!(out.contains("done already: the options were tried by the commands of "), "{out}");
    assert!(out.contains("myfs.toml, on sparse images that are gone again"), "{out}");
    let tried = made(&place);
    assert!(["-I 256", "-I 512"].iter().all(|words| tried.iter().any(|told| told.contains(words))), "{tried:?}");
    place.assert_nothing_left();
    // What its programs refuse is told before anything is laid out.
    for (option, says) in
        [("no_such_option", "no_such_option (mount refuses it: "), ("-I 256|100", "-I 100 (sh refuses it: ")]
    {
        let words = ["screen", "./myfs.toml", "--option", "commit=5|30", "--option", option];
        let (_, err) = place.expect(2, &[&words[..], &more[..]].concat());
        assert!(err.contains("what --option names is refused: ") && err.contains(says), "{option}: {err}");
        assert!(!err.contains("commit"), "{err}");
    }
    for (words, says) in [
        (vec!["--option", "-d UUID=0a0b|x"], "names a device"),
        (vec!["--option", "-c made.by.nobody|myfs.toml"], "names a file"),
        (vec!["--option", "suid"], "not for lanes"),
        (vec!["--on", "uml", "--option", "fast"], "in no guest"),
    ] {
        let (_, err) = place.expect(2, &[&["screen", "./myfs.toml"][..], &words[..], &more[..]].concat());
        assert_one_sentence(&err, &[says]);
    }
    place.assert_nothing_left();
}

/// Screens the file of one's own that lies in the place, and answers the record.
fn screened_own(place: &Place) -> Vec<Value> {
    let suite = place.tiny_suite();
    let work = ["--suite", &suite, "--workload", "commit", "--lane-size", "128MiB", "--rounds", "2", "--seed", "7"];
    let more = ["--no-confirm", "--no-report", "--quiet", "-o", "r.jsonl"];
    let (out, _) = place.expect(0, &[&OWN[..], &work[..], &more[..]].concat());
    assert!(out.contains("SCREENING") && out.contains("PROPOSAL"), "{out}");
    place.assert_nothing_left();
    place.record()
}

#[test]
fn a_filesystem_of_ones_own_is_screened_and_its_options_are_never_proposed() {
    if !root() {
        return;
    }
    let place = Place::new();
    write_own(&place);
    let raced = screened_own(&place);
    let screening = &raced[0]["plan"]["screening"];
    assert_eq!(screening["base"], "./myfs.toml");
    let classes: Vec<&Value> = screening["factors"].as_array().unwrap().iter().map(|of| &of["class"]).collect();
    assert_eq!(classes, ["unknown", "unknown"]);
    let lanes: Vec<&str> = raced[0]["lanes"].as_array().unwrap().iter().filter_map(|of| of["spec"].as_str()).collect();
    assert_eq!(
        lanes,
        [
            "default=./myfs.toml(-I 256),commit=5",
            "r02=./myfs.toml(-I 256),commit=30",
            "r03=./myfs.toml(-I 512),commit=5",
            "r04=./myfs.toml(-I 512),commit=30",
            "r05=./myfs.toml(-I 256),commit=5",
            "r06=./myfs.toml(-I 256),commit=30",
            "r07=./myfs.toml(-I 512),commit=5",
            "r08=./myfs.toml(-I 512),commit=30",
        ]
    );
    assert_eq!(trials(&raced), 16, "eight lanes in two rounds");
    assert!(["-I 256", "-I 512"].iter().all(|words| made(&place).iter().any(|told| told.contains(words))));
    // Neither a report nor what is shared opens the file that a record names.
    std::fs::remove_file(place.path().join("myfs.toml")).unwrap();
    for format in ["text", "markdown", "json", "memo"] {
        let (shown, _) = place.expect(0, &["report", "r.jsonl", "--format", format]);
        assert!(shown.contains("myfs.toml"), "{format}: {shown}");
    }
    place.expect(0, &["share", "r.jsonl", "-o", "shared.jsonl"]);
    let (shared, _) = place.expect(0, &["report", "shared.jsonl"]);
    assert!(shared.contains("SCREENING"), "{shared}");
    place.assert_nothing_left();
}

/// Goes on with a record; answers what was said on standard error.
#[track_caller]
fn go_on(place: &Place, status: i32, name: &str, words: &[&str]) -> String {
    let begin = ["screen", "--resume", name, "--no-confirm", "--no-report", "--quiet"];
    place.expect(status, &[&begin[..], words].concat()).1
}

#[test]
fn a_screening_of_ones_own_file_goes_on_by_the_same_bytes_alone() {
    if !root() {
        return;
    }
    let place = Place::new();
    let text = write_own(&place);
    // As if it had been interrupted in its second round.
    let cut = screened_own(&place).into_iter().filter(|line| line["kind"] != "end" && line["round"] != 2);
    let mut cut: Vec<Value> = cut.collect();
    let write = |name: &str, lines: &[Value]| {
        let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
        std::fs::write(place.path().join(name), text).unwrap();
    };
    write("cut.jsonl", &cut);
    cut[0]["plan"]["screening"]["base"] = "myfs=./evil.toml".into();
    for lane in cut[0]["plan"]["lanes"].as_array_mut().unwrap() {
        lane["contestant"] = serde_json::json!({ "custom": "./evil.toml" });
    }
    write("evil.jsonl", &cut);
    std::fs::write(place.path().join("evil.toml"), text.replace("/made", "/PWNED")).unwrap();
    let before = made(&place).len();

    // Neither its file nor its options are a record's to choose.
    let line = "screen ./myfs.toml --resume cut.jsonl --option 'commit=5|30' --option '-I 256|512'";
    for (name, words, says) in [
        ("cut.jsonl", &[][..], &["its file says which programs run", line][..]),
        ("cut.jsonl", &OWN[1..2], &["not as Fairlane's table has them", line][..]),
        ("cut.jsonl", &["ext4"][..], &["this record screens another lane", line][..]),
        ("evil.jsonl", &[][..], &["its file says which programs run"][..]),
    ] {
        assert_one_sentence(&go_on(&place, 2, name, words), says);
    }
    std::fs::write(place.path().join("myfs.toml"), format!("{text}# the same but for this\n")).unwrap();
    let err = go_on(&place, 2, "cut.jsonl", &OWN[1..]);
    assert_one_sentence(&err, &["is no longer what was screened; screen again"]);
    assert_eq!(made(&place).len(), before, "nothing was formatted");
    place.assert_nothing_left();

    // The same bytes elsewhere are the same file, whatever file the record names.
    std::fs::remove_file(place.path().join("myfs.toml")).unwrap();
    std::fs::create_dir(place.path().join("elsewhere")).unwrap();
    std::fs::write(place.path().join("elsewhere/kept.toml"), &text).unwrap();
    let moved = [&["./elsewhere/kept.toml"][..], &OWN[2..]].concat();
    for name in ["cut.jsonl", "evil.jsonl"] {
        let before = made(&place).len();
        go_on(&place, 0, name, &moved);
        assert!(made(&place).len() > before && !place.path().join("PWNED").exists(), "{name}");
        assert_eq!(trials(&lines(&place, name)), 16, "{name}");
    }
    let err = go_on(&place, 2, "cut.jsonl", &moved);
    assert_one_sentence(&err, &["cut.jsonl is complete"]);
    place.assert_nothing_left();
}
