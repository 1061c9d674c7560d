//! What the tests with real mounts share: a scratch folder on a real disk, settings, and the
//! assertion that nothing is left.
#![allow(dead_code, reason = "each test binary uses its own part")]

use lanes::{FailureKind, Journal, LaneFailure, LaneSet, Settings};
use model::Bytes;
use model::plan::Ground;
use model::throttle::Throttles;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

static NUMBER: AtomicU32 = AtomicU32::new(0);

/// Whether this process may make loop devices and mounts; says so where it may not.
pub fn privileged(test: &str) -> bool {
    let root = rustix::process::geteuid().is_root() && Path::new("/dev/loop-control").exists();
    if !root {
        eprintln!("{test}: skipped, because it needs root and loop devices");
    }
    root
}

/// A scratch folder on a real disk with an undo directory of its own. Asserts at its end that no
/// mount and no loop device is left below it.
pub struct Scratch {
    pub path: PathBuf,
}

impl Scratch {
    pub fn new() -> Scratch {
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let path = PathBuf::from(format!("/var/tmp/fairlane-lanes-{}-{number}", std::process::id()));
        std::fs::create_dir(&path).unwrap();
        std::fs::create_dir(path.join("undo")).unwrap();
        Scratch { path }
    }

    pub fn undo(&self) -> PathBuf {
        self.path.join("undo")
    }

    /// The scratch folder's own name, so that tests that run at once never share a run directory.
    pub fn run_id(&self) -> String {
        self.path.file_name().unwrap().to_string_lossy().into_owned()
    }

    /// The run directory of images in the scratch folder.
    pub fn run_directory(&self) -> PathBuf {
        self.path.join(format!(".fairlane-{}", self.run_id()))
    }

    /// The journal of the run.
    pub fn journal_path(&self) -> PathBuf {
        self.undo().join(format!("{}.jsonl", self.run_id()))
    }

    pub fn journal(&self) -> Journal {
        Journal::begin(&self.undo(), &self.run_id()).unwrap()
    }

    /// Settings for images of this many MiB in the scratch folder.
    pub fn settings(&self, specs: &[&str], mebibytes: u64) -> Settings {
        Settings {
            specs: specs.iter().map(|text| text.parse().unwrap()).collect(),
            with_self: false,
            ground: Ground::Images(self.path.clone()),
            lane_size: Bytes(mebibytes << 20),
            run_id: self.run_id(),
            seed: 7,
            erase: Vec::new(),
            largest_work: lanes::LargestWork { bytes: 8 << 20, ..Default::default() },
            largest_work_without_holes: lanes::LargestWork { bytes: 8 << 20, ..Default::default() },
            terminal: false,
            throttles: Throttles::default(),
            guest: Default::default(),
            program: "/proc/self/exe".into(),
            trace: None,
            lives: specs.iter().map(|_| None).collect(),
            undo: self.undo(),
        }
    }

    /// What of this scratch folder the kernel still holds, and what lies in it.
    pub fn left(&self) -> Vec<String> {
        let mut left = Vec::new();
        let mounts = lanes::mountinfo::read().unwrap();
        let elsewhere = PathBuf::from(format!("/run/.fairlane-{}", self.run_id()));
        for folder in [&self.path, &elsewhere] {
            left.extend(lanes::mountinfo::below(&mounts, folder).map(|mount| format!("mount {mount:?}")));
        }
        left.extend(elsewhere.exists().then(|| format!("file {}", elsewhere.display())));
        let ours = |(_, backing): &(u32, PathBuf)| backing.starts_with(&self.path);
        left.extend(lanes::loop_device::attached().into_iter().filter(ours).map(|found| format!("loop {found:?}")));
        for folder in [self.path.clone(), self.undo()] {
            let entries = std::fs::read_dir(folder).unwrap().flatten();
            let names = entries.map(|entry| entry.path()).filter(|path| *path != self.undo());
            left.extend(names.map(|path| format!("file {}", path.display())));
        }
        left
    }

    pub fn assert_nothing_left(&self) {
        // A loop device that somebody still has open for a moment goes when it is closed.
        let is_loop = |left: &String| left.starts_with("loop ");
        let begun = std::time::Instant::now();
        let mut left = self.left();
        while !left.is_empty() && left.iter().all(is_loop) && begun.elapsed().as_secs() < 5 {
            std::thread::sleep(std::time::Duration::from_millis(20));
            left = self.left();
        }
        assert_eq!(left, Vec::<String>::new());
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let mounts = lanes::mountinfo::read().unwrap_or_default();
        let mounted = lanes::mountinfo::below(&mounts, &self.path).count();
        if mounted == 0 {
            let _ = std::fs::remove_dir_all(&self.path);
        }
        if !std::thread::panicking() {
            assert_eq!(mounted, 0, "a mount is left below {}", self.path.display());
        }
    }
}

/// Builds, hands the lane set over, tears down, and asserts that nothing is left, also after a panic
/// of the work (then by the lane set's own net).
pub fn with_lanes(scratch: &Scratch, settings: Settings, work: impl FnOnce(&mut LaneSet, &mut Journal)) {
    let mut lane_set = LaneSet::check(settings).unwrap_or_else(|error| panic!("{error}"));
    let mut journal = scratch.journal();
    lane_set.build(&mut journal, &mut |_, _| {}, &no_stop()).unwrap_or_else(|error| panic!("{error}"));
    work(&mut lane_set, &mut journal);
    lane_set.teardown(&mut journal).unwrap();
    journal.finish().unwrap();
    scratch.assert_nothing_left();
}

pub fn refusal(settings: Settings) -> LaneFailure {
    match LaneSet::check(settings) {
        Err(error) => error,
        Ok(_) => panic!("it was not refused"),
    }
}

pub fn no_stop() -> AtomicBool {
    AtomicBool::new(false)
}

/// A file with a loop device on it, as a user's own disk.
pub struct Disk {
    pub device: lanes::loop_device::LoopDevice,
    pub image: lanes::image::Image,
}

impl Disk {
    pub fn new(scratch: &Scratch, name: &str, mebibytes: u64) -> Disk {
        let path = scratch.path.join(name);
        let image = lanes::image::Image::create(&path, mebibytes << 20, 1, &mut |_| {}, &no_stop()).unwrap();
        let device = lanes::loop_device::LoopDevice::attach(&path, image.direct_io_alignment()).unwrap();
        Disk { device, image }
    }

    pub fn path(&self) -> PathBuf {
        self.device.path()
    }

    pub fn run(&self, program: &str, arguments: &[&str]) {
        let status = Command::new(program).args(arguments).arg(self.path()).output().unwrap();
        assert!(status.status.success(), "{program}: {}", String::from_utf8_lossy(&status.stderr));
    }
}

pub fn says(error: &LaneFailure, kind: FailureKind, parts: &[&str]) {
    let text = error.to_string();
    assert_eq!(error.kind(), kind, "{text}");
    for part in parts {
        assert!(text.contains(part), "`{part}` is not in: {text}");
    }
    assert!(!text.contains('\n') && !text.contains("os error"), "{text}");
}
