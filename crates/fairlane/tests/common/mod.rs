//! What the tests of the binary share: a place of their own on a real disk, and the assertion
//! that nothing stays behind.
#![allow(dead_code, reason = "each test file uses a part of it")]

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::LazyLock;

/// How long a race waits for quiet disks at most, before each measurement. Tests race beside each other on one disk, and the
/// disk below a guest's images is never quiet: no test looks at what only a long wait would show.
const QUIET_MILLISECONDS: &str = "50";

/// The schema of records, read once: that takes longer than to look at a whole record with it.
static RECORD_SCHEMA: LazyLock<jsonschema::Validator> = LazyLock::new(|| {
    let schema = serde_json::from_str(include_str!("../../../../schema/record.schema.json")).expect("JSON");
    jsonschema::validator_for(&schema).expect("a schema")
});

/// A folder of a test's own on a real disk, with its records and its undo journal inside.
pub struct Place {
    folder: tempfile::TempDir,
}

impl Place {
    /// Makes the folder. /var/tmp, because /tmp may be a tmpfs, which carries no images.
    pub fn new() -> Self {
        let folder =
            tempfile::Builder::new().prefix("fairlane-test-").tempdir_in("/var/tmp").expect("a folder in /var/tmp");
        std::fs::create_dir(folder.path().join("undo")).expect("undo folder");
        std::fs::set_permissions(folder.path().join("undo"), PermissionsExt::from_mode(0o700)).expect("mode");
        Place { folder }
    }

    /// Its path.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Fairlane, working in this place.
    pub fn fairlane(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_fairlane"));
        command
            .args(arguments)
            .current_dir(self.path())
            .env("XDG_STATE_HOME", self.path().join("state"))
            .env("FAIRLANE_UNDO_DIR", self.path().join("undo"))
            .env("NO_COLOR", "1")
            .env("FAIRLANE_QUIET_MILLISECONDS", QUIET_MILLISECONDS)
            .env_remove("SUDO_UID")
            .stdin(Stdio::null());
        command
    }

    /// Runs it to its end.
    pub fn run(&self, arguments: &[&str]) -> Output {
        self.fairlane(arguments).output().expect("fairlane runs")
    }

    /// Runs it and expects an exit status; answers standard output and standard error.
    #[track_caller]
    pub fn expect(&self, status: i32, arguments: &[&str]) -> (String, String) {
        let output = self.run(arguments);
        let out = String::from_utf8_lossy(&output.stdout).into_owned();
        let err = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(status), "fairlane {arguments:?}\nstdout:\n{out}\nstderr:\n{err}");
        (out, err)
    }

    /// Writes a suite of one tiny workload of each kind.
    pub fn tiny_suite(&self) -> String {
        let path = self.path().join("tiny.toml");
        std::fs::write(&path, TINY).expect("suite");
        path.to_string_lossy().into_owned()
    }

    /// The lines of the record `r.jsonl`, each of which fits the schema.
    #[track_caller]
    pub fn record(&self) -> Vec<serde_json::Value> {
        let text = std::fs::read_to_string(self.path().join("r.jsonl")).expect("a record");
        let lines: Vec<serde_json::Value> =
            text.lines().map(|line| serde_json::from_str(line).expect("a line is JSON")).collect();
        for line in &lines {
            assert!(RECORD_SCHEMA.is_valid(line), "{line}");
        }
        lines
    }

    /// Asserts that no mount and no loop device of this place is left, and no run folder.
    #[track_caller]
    pub fn assert_nothing_left(&self) {
        let place = self.path().to_string_lossy().into_owned();
        let mounts = std::fs::read_to_string("/proc/self/mountinfo").expect("mountinfo");
        let mounted: Vec<&str> = mounts.lines().filter(|line| line.contains(&place)).collect();
        assert!(mounted.is_empty(), "left mounted: {mounted:#?}");
        // A device that somebody still has open for a moment goes when it is closed.
        let patience = std::time::Instant::now();
        let mut loops = loops_under(&place);
        while !loops.is_empty() && patience.elapsed().as_secs() < 5 {
            std::thread::sleep(std::time::Duration::from_millis(20));
            loops = loops_under(&place);
        }
        assert!(loops.is_empty(), "left attached: {loops:#?}");
        let folders: Vec<PathBuf> = std::fs::read_dir(self.path())
            .expect("folder")
            .flatten()
            .map(|entry| entry.path())
            .filter(|path| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(".fairlane-")))
            .collect();
        assert!(folders.is_empty(), "left behind: {folders:?}");
    }
}

/// A workload of each kind, small enough for a test.
pub const TINY: &str = r#"
name = "tiny"
about = "a test"
not_tested = ["everything else"]
first_answer = true

[[workload]]
name = "commit"
title = "commit 4 KiB"
kind = "io"
rw = "append"
bs = "4KiB"
size = "16MiB"
fdatasync = 1
slices = 2
slice_seconds = 0.02

[[workload]]
name = "random-read"
title = "random read 4 KiB"
kind = "io"
rw = "randread"
bs = "4KiB"
size = "32MiB"
ioengine = "io_uring"
iodepth = 8
direct = true
slices = 2
slice_seconds = 0.02

[[workload]]
name = "small-files"
title = "small files"
kind = "small-files"
files = 200
size = "4KiB"
directories = 4
"#;

/// Loop devices whose backing file lies under a path: `loop3 /path`.
pub fn loops_under(place: &str) -> Vec<String> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir("/sys/block").expect("/sys/block").flatten() {
        let backing = std::fs::read_to_string(entry.path().join("loop/backing_file")).unwrap_or_default();
        if backing.contains(place) {
            found.push(format!("{} {}", entry.file_name().to_string_lossy(), backing.trim()));
        }
    }
    found
}

/// Whether this test has root; without it the reason is printed and the test counts as skipped.
pub fn root() -> bool {
    let root = rustix::process::geteuid().is_root();
    if !root {
        eprintln!("skipped: needs root for loop devices and mounts; run the tests with sudo");
    }
    root
}

/// Runs a tool that must succeed.
#[track_caller]
pub fn tool(program: &str, arguments: &[&str]) -> String {
    let output = Command::new(program).args(arguments).output().unwrap_or_else(|error| panic!("{program}: {error}"));
    assert!(
        output.status.success(),
        "{program} {arguments:?}: {}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}

/// One sentence: what the user sees on standard error begins with the program's name and is short.
#[track_caller]
pub fn assert_one_sentence(err: &str, says: &[&str]) {
    let lines: Vec<&str> =
        err.lines().filter(|line| line.starts_with("fairlane: ") || line.starts_with("error: ")).collect();
    assert_eq!(lines.len(), 1, "one sentence is expected:\n{err}");
    for part in says {
        assert!(err.contains(part), "`{part}` is missing in:\n{err}");
    }
    assert!(!err.contains("panicked"), "{err}");
}
