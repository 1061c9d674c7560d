//! A place of an ordinary user: where the tests run as root, Fairlane runs as nobody.
#![allow(dead_code, reason = "each test file uses a part of it")]

use crate::common::Place;
use lanes::guest::uml;
use model::record::Record;
use std::os::unix::fs::chown;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Output};
use std::time::{Duration, Instant};

/// The user that nothing belongs to.
const NOBODY: u32 = 65534;

/// A place that an ordinary user owns.
pub struct Home(pub Place);

impl Home {
    /// Its user knows what trials of user-mode Linux found on this machine, as one who raced before: each takes up to two
    /// boots.
    pub fn new() -> Self {
        let home = Home::of_a_stranger();
        if let Some(known) = uml::memory_of_trials().and_then(|path| std::fs::read(path).ok()) {
            let folder = home.0.path().join(".cache/fairlane");
            std::fs::create_dir_all(&folder).expect("folder");
            let file = folder.join("uml-trials");
            std::fs::write(&file, known).expect("file");
            [home.0.path().join(".cache"), folder, file].iter().for_each(|path| home.owns(path));
        }
        home
    }

    /// Of a user who tried nothing yet.
    pub fn of_a_stranger() -> Self {
        let home = Home(Place::new());
        for path in [home.0.path().to_owned(), home.0.path().join("undo")] {
            home.owns(&path);
        }
        home
    }

    /// Gives a file to the user.
    pub fn owns(&self, path: &Path) {
        if rustix::process::geteuid().is_root() {
            chown(path, Some(NOBODY), Some(NOBODY)).expect("chown");
        }
    }

    pub fn fairlane(&self, arguments: &[&str]) -> Command {
        let mut command = self.0.fairlane(arguments);
        command.env("HOME", self.0.path()).env_remove("XDG_DATA_HOME").env_remove("XDG_CACHE_HOME");
        if rustix::process::geteuid().is_root() {
            command.uid(NOBODY).gid(NOBODY);
        }
        command
    }

    #[track_caller]
    pub fn expect(&self, status: i32, arguments: &[&str]) -> (String, String) {
        let Output { status: found, stdout, stderr } = self.fairlane(arguments).output().expect("fairlane runs");
        let (out, err) = (String::from_utf8_lossy(&stdout).into_owned(), String::from_utf8_lossy(&stderr).into_owned());
        assert_eq!(found.code(), Some(status), "fairlane {arguments:?}\nstdout:\n{out}\nstderr:\n{err}");
        (out, err)
    }

    pub fn race(&self, more: &[&str]) -> Vec<String> {
        self.race_of("2", more)
    }

    pub fn race_of(&self, rounds: &str, more: &[&str]) -> Vec<String> {
        let suite = self.0.tiny_suite();
        let fixed = ["--suite", &suite, "--rounds", rounds, "--lane-size", "320MiB", "--seed", "7", "-o", "r.jsonl"];
        ["race"].iter().chain(more).chain(&fixed).map(|&word| word.to_owned()).collect()
    }

    pub fn record(&self) -> Record {
        let text = std::fs::read_to_string(self.0.path().join("r.jsonl")).expect("record");
        Record::parse(&text).expect("a record")
    }

    /// Processes whose command line names this place.
    pub fn processes(&self) -> Vec<(u32, String)> {
        let place = self.0.path().to_string_lossy().into_owned();
        let of = |entry: std::fs::DirEntry| {
            let pid = entry.file_name().to_str()?.parse().ok()?;
            let line = std::fs::read(entry.path().join("cmdline")).ok()?;
            let line = String::from_utf8_lossy(&line).replace('\0', " ");
            line.contains(&place).then_some((pid, line))
        };
        std::fs::read_dir("/proc").expect("/proc").flatten().filter_map(of).collect()
    }

    #[track_caller]
    pub fn assert_no_process_stays(&self) {
        let begun = Instant::now();
        let mut left = self.processes();
        while !left.is_empty() && begun.elapsed() < Duration::from_secs(10) {
            std::thread::sleep(Duration::from_millis(20));
            left = self.processes();
        }
        assert!(left.is_empty(), "{left:?}");
    }
}

pub fn words(list: &[String]) -> Vec<&str> {
    list.iter().map(String::as_str).collect()
}
