//! The steps of the action for CI, run as a runner runs them: by bash, with variables.

use crate::common;
use crate::gate;
use crate::user_mode_linux::user_mode_linux;

use common::Place;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// What a runner gives to the steps of a job, in a place of its own.
struct Runner {
    place: Place,
}

impl Runner {
    fn new(place: Place) -> Self {
        Runner { place }
    }

    fn folder(&self) -> PathBuf {
        self.place.path().join("out")
    }

    fn step(&self, name: &str, variables: &[(&str, &str)]) -> Output {
        let plain = self.place.fairlane(&[]);
        let mut bash = Command::new("bash");
        for (key, value) in plain.get_envs() {
            match value {
                Some(value) => bash.env(key, value),
                None => bash.env_remove(key),
            };
        }
        bash.arg(root().join("scripts/action").join(name))
            .current_dir(self.place.path())
            .env("GITHUB_ACTIONS", "true")
            .env("GITHUB_OUTPUT", self.place.path().join("outputs"))
            .env("GITHUB_STEP_SUMMARY", self.place.path().join("summary.md"))
            .env("RUNNER_TEMP", self.place.path())
            .env("FAIRLANE", env!("CARGO_BIN_EXE_fairlane"))
            .env("GATE_FOLDER", self.folder())
            .envs(variables.iter().copied())
            .stdin(Stdio::null());
        bash.output().expect("bash runs")
    }

    /// Runs a step, which ends so; answers what it said.
    #[track_caller]
    fn expect(&self, status: i32, name: &str, variables: &[(&str, &str)]) -> String {
        let output = self.step(name, variables);
        let text = [output.stdout, output.stderr].concat();
        let text = String::from_utf8_lossy(&text).into_owned();
        assert_eq!(output.status.code(), Some(status), "{name} {variables:?}\n{text}");
        text
    }

    fn text(&self, file: &str) -> String {
        std::fs::read_to_string(self.place.path().join(file)).unwrap_or_default()
    }

    /// The last value of an output.
    fn output(&self, name: &str) -> String {
        let outputs = self.text("outputs");
        let mut values = outputs.lines().filter_map(|line| line.strip_prefix(name)?.strip_prefix('='));
        values.next_back().unwrap_or_default().to_owned()
    }
}

/// A runner whose baseline was raced before, and whose candidate does so much of one lane's commits.
fn judged(factor: f64) -> Runner {
    let place = gate::place();
    gate::boots(&place, 5, factor);
    let runner = Runner::new(place);
    std::fs::create_dir(runner.folder()).unwrap();
    std::fs::rename(runner.place.path().join("new"), runner.folder().join("candidate")).unwrap();
    runner
}

#[test]
fn verdicts_are_outputs_and_only_the_last_step_fails() {
    const BEFORE: (&str, &str) = ("GATE_BASELINE_RECORDS", "\n  old/*.jsonl\n");
    for (factor, resolution, verdict, outcome, status) in [
        (1.0, "", "pass", "pass", 0),
        (0.8, "", "fail", "fail", 3),
        (0.96, "", "inconclusive", "inconclusive", 0),
        (1.0, "1%", "inconclusive", "unresolved", 0),
    ] {
        let runner = judged(factor);
        let said = runner.expect(0, "gate", &[BEFORE, ("GATE_RESOLUTION", resolution)]);
        assert!(said.contains(&format!("GATE {outcome}: ")) && said.contains("::stop-commands::"), "{said}");
        assert_eq!((runner.output("verdict").as_str(), runner.output("outcome").as_str()), (verdict, outcome));
        assert!(runner.output("summary").starts_with(&format!("{outcome}: ")), "{}", runner.text("outputs"));
        let told = [("GATE_VERDICT", verdict)];
        runner.expect(0, "publish", &told);
        let summary = runner.text("summary.md");
        assert!(summary.starts_with(&format!("## Fairlane: {verdict}\n")), "{summary}");
        assert!(summary.contains(&runner.text("out/gate.md")), "{summary}");
        assert_eq!(summary.contains("no green light"), verdict == "inconclusive", "{summary}");
        let junit = runner.text("out/gate.xml");
        let document = roxmltree::Document::parse(&junit).unwrap();
        let count = |name: &str| document.descendants().filter(|node| node.has_tag_name(name)).count();
        assert_eq!(count("testcase"), 8);
        assert_eq!((count("failure") > 0, count("error") > 0), (status == 3, outcome == "unresolved"), "{junit}");
        assert!(runner.text("out/candidate.html").contains("<!"), "a page of the candidate");
        assert!(runner.text("out/gate.json").contains("\"rows\"") && !runner.text("out/gate.csv").is_empty());
        runner.expect(status, "conclude", &told);
        let strict = if verdict == "inconclusive" { 5 } else { status };
        runner.expect(strict, "conclude", &[told[0], ("GATE_FAIL_ON_INCONCLUSIVE", "true")]);
    }
}

#[test]
fn both_sides_are_raced_in_turns_without_root_and_judged() {
    let runner = Runner::new(Place::new());
    let suite = runner.place.tiny_suite();
    for lane in ["a", "b"] {
        std::fs::create_dir(runner.place.path().join(lane)).unwrap();
    }
    let (on, lanes) = if user_mode_linux() { ("uml", "fs=ext4") } else { ("directories", "fs=./a") };
    let variables = [
        ("GATE_ON", on),
        ("GATE_LANES", lanes),
        ("GATE_SUITE", &*suite),
        ("GATE_WORKLOADS", "commit"),
        ("GATE_SET", "commit.size=1MiB\ncommit.slices=1"),
        ("GATE_LANE_SIZE", "128MiB"),
        ("GATE_BOOTS", "2"),
        ("GATE_ROUNDS", "1"),
    ];
    let said = runner.expect(0, "measure", &variables);
    let turns: Vec<&str> = said.lines().filter(|line| line.contains(", boot 0")).collect();
    let expected =
        ["baseline, boot 001 of 2", "candidate, boot 001 of 2", "baseline, boot 002 of 2", "candidate, boot 002 of 2"];
    assert_eq!(turns, expected);
    assert_eq!(runner.output("folder"), runner.folder().display().to_string());
    let begun = |record: &str| {
        let text = runner.text(record);
        let header: serde_json::Value = serde_json::from_str(text.lines().next().expect("a record")).unwrap();
        header["started"].as_str().unwrap().to_owned()
    };
    let order = ["baseline/001", "candidate/001", "baseline/002", "candidate/002"];
    let started: Vec<String> = order.iter().map(|record| begun(&format!("out/{record}.jsonl"))).collect();
    assert!(started.is_sorted(), "{started:?}");
    // Whatever the machine was at: two boots of a side show little.
    runner.expect(0, "gate", &[("GATE_MARGIN", "50%")]);
    let verdict = runner.output("verdict");
    assert!(["pass", "fail", "inconclusive"].contains(&&*verdict), "{verdict}");
    runner.expect(0, "publish", &[("GATE_VERDICT", verdict.as_str())]);
    for page in ["out/baseline.html", "out/candidate.html"] {
        assert!(!runner.text(page).is_empty(), "{page}");
    }
    // Records that are there are nobody's to mix with.
    let said = runner.expect(2, "measure", &variables);
    assert!(said.contains("holds records already"), "{said}");
    runner.place.assert_nothing_left();
}

#[test]
fn what_a_workflow_says_is_a_word_and_never_a_command() {
    let runner = Runner::new(Place::new());
    let mark = runner.place.path().join("pwned");
    let touch = format!("touch {}", mark.display());
    for text in [format!("$({touch})"), format!("`{touch}`"), format!("ext4; {touch}"), "--erase=/dev/sda".to_owned()] {
        for key in ["GATE_LANES", "GATE_SUITE", "GATE_WORKLOADS", "GATE_SET", "GATE_LANE_SIZE", "GATE_ON"] {
            let variables = [("GATE_ON", "directories"), ("GATE_BOOTS", "1"), (key, text.as_str())];
            let output = runner.step("measure", &variables);
            assert_ne!(output.status.code(), Some(0), "{key}={text}");
            assert!(!mark.exists(), "{key}={text}");
        }
        let said = runner.expect(2, "measure", &[("GATE_BOOTS", text.as_str())]);
        assert!(said.contains("write a whole number between 1 and 100"), "{said}");
    }
    for (name, variables, says) in [
        ("gate", [("FAIRLANE", "")], "run the step measure first"),
        ("publish", [("GATE_VERDICT", "")], "run the step gate first"),
        ("conclude", [("GATE_VERDICT", "maybe")], "run the step gate first"),
        ("measure", [("FAIRLANE", "")], "run the step install first"),
    ] {
        let said = runner.expect(2, name, &variables);
        assert!(said.contains(says), "{name}: {said}");
    }
    runner.place.assert_nothing_left();
}

#[test]
fn a_binary_or_one_release_is_taken_and_nothing_else() {
    let runner = Runner::new(Place::new());
    let binary = env!("CARGO_BIN_EXE_fairlane");
    runner.expect(0, "install", &[("FAIRLANE_BINARY", binary)]);
    let found = std::fs::canonicalize(runner.output("fairlane")).unwrap();
    assert_eq!(found, std::fs::canonicalize(binary).unwrap());
    let tar = |file: &str, words: &[&str]| {
        let mut made = Command::new("tar");
        made.current_dir(runner.place.path()).args(["--create", "--file", file]).args(words);
        assert!(made.status().expect("tar runs").success(), "{words:?}");
    };
    let folder = Path::new(binary).parent().unwrap().to_string_lossy().into_owned();
    tar("release.tar", &["--dereference", "--transform=s,^,fairlane-0.1.0/,", "-C", &folder, "fairlane"]);
    let sum = Command::new("sha256sum").arg(runner.place.path().join("release.tar")).output().expect("sha256sum runs");
    let sum = String::from_utf8_lossy(&sum.stdout).split_whitespace().next().unwrap().to_owned();
    runner.expect(0, "install", &[("FAIRLANE_TARBALL", "release.tar"), ("FAIRLANE_SHA256", sum.as_str())]);
    let installed = runner.output("fairlane");
    assert!(installed.starts_with(&*runner.place.path().to_string_lossy()), "{installed}");
    let version = Command::new(&installed).arg("--version").output().expect("it runs");
    assert!(version.status.success());
    std::fs::write(runner.place.path().join("other"), "x").unwrap();
    tar("empty.tar", &["other"]);
    let wrong = "0".repeat(64);
    for (tarball, sum, says) in [
        ("release.tar", wrong.as_str(), "another than was named"),
        ("empty.tar", "", "holds 0 files of the name fairlane"),
        ("none.tar", "", "is not there"),
        ("other", "", "cannot be read"),
        ("https://localhost/fairlane.tar", "", "needs its sha256"),
        ("http://localhost/fairlane.tar", wrong.as_str(), "fetched by https alone"),
    ] {
        let said = runner.expect(2, "install", &[("FAIRLANE_TARBALL", tarball), ("FAIRLANE_SHA256", sum)]);
        assert!(said.contains(says), "{tarball}: {said}");
    }
}

#[test]
fn no_expression_stands_in_a_script_and_every_variable_has_its_input() {
    let action = std::fs::read_to_string(root().join("action.yml")).unwrap();
    for line in action.lines().map(str::trim_start) {
        let line = line.strip_prefix("- ").unwrap_or(line);
        if let Some(run) = line.strip_prefix("run:") {
            assert!(!run.contains("${{") && run.contains("\"$GITHUB_ACTION_PATH/scripts/action/"), "{line}");
        }
        if let Some(uses) = line.strip_prefix("uses:") {
            let pinned = uses.split('@').nth(1).unwrap_or_default().split_whitespace().next().unwrap_or_default();
            assert!(pinned.len() == 40 && pinned.bytes().all(|byte| byte.is_ascii_hexdigit()), "{line}");
        }
    }
    let names = |text: &str| -> BTreeSet<String> {
        let words = text.split(|c: char| !(c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_'));
        let ours = words.filter(|word| word.starts_with("GATE_") || word.starts_with("FAIRLANE"));
        ours.map(str::to_owned).collect()
    };
    let mut scripts = String::new();
    for step in ["common", "install", "measure", "gate", "publish", "conclude"] {
        scripts.push_str(&std::fs::read_to_string(root().join("scripts/action").join(step)).unwrap());
    }
    assert_eq!(names(&scripts), names(&action));
    let inputs = |line: &str| Some(line.split_once("${{ inputs.")?.1.split_once(" }}")?.0.to_owned());
    let used: BTreeSet<String> = action.lines().filter_map(inputs).collect();
    let manual = std::fs::read_to_string(root().join("docs/ci.md")).unwrap();
    for input in &used {
        assert!(
            action.contains(&format!("\n  {input}:\n")) || action.contains(&format!("\n  '{input}':\n")),
            "{input}"
        );
        assert!(manual.contains(&format!("`{input}`")), "docs/ci.md lacks {input}");
    }
    assert!(used.len() > 20, "{used:?}");
}
