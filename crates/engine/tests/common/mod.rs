//! What the tests share: folders on real filesystems, loop devices and mounts that clean up.

#![allow(dead_code, missing_docs)]

use engine::{EngineError, OpenTarget, Window, Work};
use model::Bytes;
use model::agent::Target;
use model::workload::{Io, Kind, Pattern, Workload};
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use tempfile::TempDir;

pub const KIB: u64 = 1 << 10;
pub const MIB: u64 = 1 << 20;

/// A folder on a disk.
pub fn on_disk() -> TempDir {
    tempfile::tempdir_in("/var/tmp").unwrap()
}

/// A folder in memory.
pub fn in_memory() -> TempDir {
    tempfile::tempdir_in("/dev/shm").unwrap()
}

pub fn directory(path: &Path) -> OpenTarget {
    OpenTarget::open(&Target::Directory(path.to_owned())).unwrap()
}

pub fn io(rw: Pattern, bs: u64, size: u64) -> Io {
    Io {
        rw,
        bs: Bytes(bs),
        size: Bytes(size),
        ioengine: "sync".to_owned(),
        iodepth: 1,
        direct: false,
        fdatasync: 0,
        slices: 5,
        slice_seconds: 0.15,
        ..Io::default()
    }
}

pub fn uring(rw: Pattern, bs: u64, size: u64, iodepth: u32, direct: bool) -> Io {
    Io { ioengine: "io_uring".to_owned(), iodepth, direct, ..io(rw, bs, size) }
}

pub fn prepare(place: &OpenTarget, io: &Io) -> Result<Box<dyn Work>, EngineError> {
    let workload = Workload { name: "t".into(), title: "t".into(), kind: Kind::Io(Box::new(io.clone())) };
    engine::prepare(place, &workload, 42, Arc::new(AtomicBool::new(false)))
}

pub fn slice(work: &mut dyn Work, place: &OpenTarget) -> Window {
    work.slice(place, 0.01, 0.04, &mut ()).unwrap().remove(0)
}

/// Every 8-byte word of an incompressible file differs from every other.
pub fn assert_incompressible(bytes: &[u8]) {
    let words: HashSet<&[u8]> = bytes.chunks_exact(8).collect();
    let total = bytes.len() / 8;
    assert!(total > 0 && words.len() == total, "{} of {total} words differ", words.len());
}

/// In each 128 KiB, what btrfs compresses at once, hardly any 8-byte word comes twice. Random
/// overwrites may bring the same block of the pool close to itself now and then.
pub fn assert_hardly_compressible(bytes: &[u8]) {
    let distinct: usize = bytes.chunks(128 * 1024).map(|unit| unit.chunks_exact(8).collect::<HashSet<_>>().len()).sum();
    assert!(distinct as f64 > 0.95 * (bytes.len() / 8) as f64, "{distinct} of {} words", bytes.len() / 8);
}

/// Root, or the reason to skip.
pub fn is_root(test: &str) -> bool {
    // SAFETY: geteuid has no precondition and cannot fail.
    let root = unsafe { libc::geteuid() } == 0;
    if !root {
        eprintln!("skipped: {test} needs root for loop devices and mounts");
    }
    root
}

fn run(program: &str, arguments: &[&str]) -> String {
    let output = Command::new(program).args(arguments).output().unwrap();
    assert!(output.status.success(), "{program} {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

/// A loop device on a file of its own, detached on drop.
pub struct Loop {
    pub device: PathBuf,
    pub image: PathBuf,
    _folder: TempDir,
}

impl Loop {
    pub fn new(size: u64, arguments: &[&str]) -> Self {
        let folder = on_disk();
        let image = folder.path().join("image");
        std::fs::write(&image, vec![0xa5; size as usize]).unwrap();
        let text = image.to_str().unwrap();
        let device = run("losetup", &[&["--find", "--show"], arguments, &[text]].concat());
        Loop { device: device.into(), image, _folder: folder }
    }

    pub fn name(&self) -> &str {
        self.device.file_name().unwrap().to_str().unwrap()
    }

    /// Field of /proc/diskstats, counted from 1 as the kernel's documentation does, once it stands still:
    /// the kernel wakes who waits for a request before it counts the request.
    pub fn counter(&self, field: usize) -> u64 {
        let (mut seen, mut times) = (self.counted(field), 0);
        while times < 3 {
            std::thread::sleep(std::time::Duration::from_millis(10));
            let now = self.counted(field);
            times = if now == seen { times + 1 } else { 0 };
            seen = now;
        }
        seen
    }

    fn counted(&self, field: usize) -> u64 {
        let text = std::fs::read_to_string("/proc/diskstats").unwrap();
        let line = text.lines().find(|line| line.split_whitespace().nth(2) == Some(self.name())).unwrap();
        line.split_whitespace().nth(2 + field).unwrap().parse().unwrap()
    }
}

impl Drop for Loop {
    fn drop(&mut self) {
        run("losetup", &["--detach", self.device.to_str().unwrap()]);
    }
}

/// A mounted filesystem, unmounted on drop.
pub struct Mount {
    folder: TempDir,
}

impl Mount {
    pub fn new(arguments: &[&str]) -> Self {
        let folder = on_disk();
        run("mount", &[arguments, &[folder.path().to_str().unwrap()]].concat());
        Mount { folder }
    }

    pub fn path(&self) -> &Path {
        self.folder.path()
    }
}

impl Mount {
    /// Unmounts now, at the first try.
    pub fn unmount(self) {
        run("umount", &[self.path().to_str().unwrap()]);
    }
}

impl Drop for Mount {
    fn drop(&mut self) {
        // The net for a failed test: patient, so that nothing is left behind.
        for _ in 0..50 {
            let mounts = std::fs::read_to_string("/proc/self/mounts").unwrap();
            let path = self.folder.path().to_str().unwrap();
            if !mounts.lines().any(|line| line.split(' ').nth(1) == Some(path)) {
                return;
            }
            let _ = Command::new("umount").arg(path).output();
            std::thread::sleep(std::time::Duration::from_millis(50));
        }
        eprintln!("{} is still mounted", self.folder.path().display());
    }
}

pub fn make_ext4(device: &Path) {
    run("mkfs.ext4", &["-q", "-F", device.to_str().unwrap()]);
}

/// Whether there is a btrfs on the device now.
pub fn make_btrfs(device: &Path) -> bool {
    let known = std::fs::read_to_string("/proc/filesystems").unwrap().contains("btrfs");
    let made = Command::new("mkfs.btrfs").args(["-q", "-f", device.to_str().unwrap()]).output();
    known && made.is_ok_and(|output| output.status.success())
}

/// A tmpfs of a few bytes, unmounted when dropped.
pub struct SmallTmpfs(PathBuf);

impl SmallTmpfs {
    pub fn mount(on: &Path, bytes: u64) -> Self {
        let size = format!("size={bytes}");
        let done = Command::new("mount").args(["-t", "tmpfs", "-o", &size, "tmpfs"]).arg(on).status().unwrap();
        assert!(done.success());
        SmallTmpfs(on.to_owned())
    }

    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for SmallTmpfs {
    fn drop(&mut self) {
        // A process that another test has forked and not yet started holds what was open here a moment more.
        let unmounted = || Command::new("umount").arg(&self.0).status().unwrap().success();
        let done = (0..200).any(|_| unmounted() || (std::thread::sleep(std::time::Duration::from_millis(25)), false).1);
        assert!(done || std::thread::panicking());
    }
}
