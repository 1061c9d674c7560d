//! Machines that are not ours: an overlay under the images, a read-only home, a container's /dev, loop devices that come
//! and go, an automounter. Whole races on the real binary; `make distributions` does the like on fresh machines.

use crate::common;

use common::{Place, assert_one_sentence, root, tool};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};

const TWO: [&str; 7] = ["race", "ext4", "b=ext4", "--lane-size", "64MiB", "--rounds", "1"];

/// A mount that goes with its test.
struct Mounted(PathBuf);

impl Mounted {
    fn at(target: PathBuf, arguments: &[&str]) -> Self {
        std::fs::create_dir_all(&target).expect("mount point");
        let mut words = arguments.to_vec();
        let shown = target.to_string_lossy().into_owned();
        words.push(&shown);
        tool("mount", &words);
        Mounted(target)
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(&self.0).status();
    }
}

fn text(path: &Path) -> &str {
    path.to_str().expect("UTF-8")
}

#[test]
fn images_on_an_overlay_and_in_memory_are_refused_before_anything_is_written() {
    if !root() {
        return;
    }
    let place = Place::new();
    let suite = place.tiny_suite();
    let folder = |name: &str| {
        let path = place.path().join(name);
        std::fs::create_dir(&path).expect("folder");
        text(&path).to_owned()
    };
    let layers = format!("lowerdir={},upperdir={},workdir={}", folder("lower"), folder("upper"), folder("work"));
    let overlay = Mounted::at(place.path().join("root"), &["-t", "overlay", "-o", &layers, "overlay"]);
    let memory = Mounted::at(place.path().join("tmp"), &["-t", "tmpfs", "-o", "nodev,nosuid", "tmpfs"]);
    for (mounted, why) in [(&overlay, "is overlay, which copies files between layers"), (&memory, "lies in memory")] {
        let more = ["--suite", &suite, "--on", text(&mounted.0)];
        let (_, err) = place.expect(2, &[&TWO[..], &more].concat());
        assert_one_sentence(&err, &[why, "give a directory on a real disk with --on DIR"]);
        assert_eq!(std::fs::read_dir(&mounted.0).expect("folder").count(), 0);
    }
    // A directory is raced wherever it is.
    place.expect(0, &["race", text(&overlay.0), "--suite", &suite, "--rounds", "1", "--quiet"]);
    drop((overlay, memory));
    place.assert_nothing_left();
}

#[test]
fn a_read_only_home_is_told_with_the_way_out_and_that_way_works() {
    if !root() {
        return;
    }
    let place = Place::new();
    let suite = place.tiny_suite();
    let home = Mounted::at(place.path().join("home"), &["-t", "tmpfs", "-o", "ro", "tmpfs"]);
    let race = |more: &[&str]| {
        let arguments = [&TWO[..], &["--suite", &suite, "--quiet"], more].concat();
        place.fairlane(&arguments).env("XDG_STATE_HOME", &home.0).output().expect("fairlane runs")
    };
    let refused = race(&[]);
    let err = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert_eq!(refused.status.code(), Some(1), "{err}");
    assert_one_sentence(&err, &["Read-only file system", "name another place with -o"]);
    let raced = race(&["-o", "here.jsonl"]);
    assert!(raced.status.success(), "{}", String::from_utf8_lossy(&raced.stderr));
    assert!(place.path().join("here.jsonl").exists() && place.path().join("here.html").exists());
    drop(home);
    place.assert_nothing_left();
}

#[test]
fn a_containers_dev_without_the_loop_device_is_told_with_the_node_to_make() {
    if !root() {
        return;
    }
    let place = Place::new();
    let suite = place.tiny_suite();
    let dev = place.path().join("dev");
    std::fs::create_dir(&dev).expect("folder");
    // What container engines put there; devtmpfs stays where it was and gets the new nodes.
    let script = "mount -t tmpfs tmpfs \"$1\" && mkdir \"$1/shm\" && for node in null zero full random urandom tty loop-control; \
                  do cp -a /dev/$node \"$1/\"; done && mount --bind \"$1\" /dev && shift && exec \"$@\"";
    let fairlane = place.fairlane(&[]);
    let mut words: Vec<&str> =
        vec!["--mount", "--propagation", "slave", "sh", "-c", script, "sh", text(&dev), env!("CARGO_BIN_EXE_fairlane")];
    words.extend(TWO);
    words.extend(["--suite", &suite]);
    let mut command = Command::new("unshare");
    command.args(words).current_dir(place.path());
    for (key, value) in fairlane.get_envs() {
        match value {
            Some(value) => command.env(key, value),
            None => command.env_remove(key),
        };
    }
    let output = command.output().expect("unshare runs");
    let err = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(4), "{err}");
    assert!(err.contains("does not appear in /dev") && err.contains("mknod -m 600 /dev/loop"), "{err}");
    place.expect(0, &["clean"]);
    place.assert_nothing_left();
}

#[test]
fn loop_devices_that_others_take_and_give_back_meanwhile_hinder_no_race() {
    if !root() {
        return;
    }
    let place = Place::new();
    let suite = place.tiny_suite();
    let foreign = tempfile::Builder::new().prefix("fairlane-foreign-").tempdir_in("/var/tmp").expect("a folder");
    let image = |name: &str| {
        let path = foreign.path().join(name);
        std::fs::File::create(&path).and_then(|file| file.set_len(1 << 20)).expect("image");
        text(&path).to_owned()
    };
    let attach = |image: &str| tool("losetup", &["--find", "--show", "--read-only", image]);
    // As snaps do, and stay.
    let snaps: Vec<String> = (0..6).map(|number| attach(&image(&format!("snap{number}")))).collect();
    let busy = image("busy");
    let over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !over.load(Ordering::Relaxed) {
                let taken = Command::new("losetup").args(["--find", "--show", "--read-only", &busy]).output();
                let device = String::from_utf8_lossy(&taken.expect("losetup").stdout).trim().to_owned();
                if !device.is_empty() {
                    let _ = Command::new("losetup").args(["--detach", &device]).status();
                }
            }
        });
        let output = place.run(&[&TWO[..], &["--suite", &suite, "--quiet"]].concat());
        over.store(true, Ordering::Relaxed);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    });
    place.assert_nothing_left();
    let backed = |device: &String| {
        let name = device.trim_start_matches("/dev/");
        std::fs::read_to_string(format!("/sys/block/{name}/loop/backing_file")).unwrap_or_default()
    };
    for (number, device) in snaps.iter().enumerate() {
        assert!(backed(device).trim().ends_with(&format!("snap{number}")), "{device} was taken from its owner");
        tool("losetup", &["--detach", device]);
    }
}

#[test]
fn an_automounter_is_named_and_its_mount_stays_its_own() {
    if !root() {
        return;
    }
    let place = Place::new();
    let suite = place.tiny_suite();
    let foreign = tempfile::Builder::new().prefix("fairlane-foreign-").tempdir_in("/var/tmp").expect("a folder");
    let disk = foreign.path().join("disk");
    std::fs::File::create(&disk).and_then(|file| file.set_len(128 << 20)).expect("disk");
    let device = tool("losetup", &["--find", "--show", text(&disk)]);
    let target = foreign.path().join("media");
    std::fs::create_dir(&target).expect("mount point");
    let over = AtomicBool::new(false);
    let output = std::thread::scope(|scope| {
        scope.spawn(|| {
            // The lane is mounted: so is, a moment later, what udisks2 mounts for a desktop.
            let ours = |line: &str| line.contains("/.fairlane-") && line.contains(&format!(" {device} "));
            while !over.load(Ordering::Relaxed) {
                let mounts = std::fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
                if mounts.lines().any(ours) {
                    let mounted = Command::new("mount").args([&device, text(&target)]).output();
                    if mounted.is_ok_and(|mounted| mounted.status.success()) {
                        return;
                    }
                }
                std::thread::sleep(std::time::Duration::from_millis(2));
            }
        });
        let more = ["--on", &device, "--erase", &device, "--suite", &suite];
        let output = place.run(&[&["race", "ext4", "b=ext4", "--rounds", "1"][..], &more].concat());
        over.store(true, Ordering::Relaxed);
        output
    });
    let mounted = Mounted(target.clone());
    let err = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1), "{err}");
    assert!(err.contains(&format!("mounted at {}", target.display())), "{err}");
    let mounts = std::fs::read_to_string("/proc/self/mountinfo").expect("mountinfo");
    assert!(mounts.contains(text(&target)), "somebody else's mount was taken away");
    drop(mounted);
    tool("losetup", &["--detach", &device]);
    place.expect(0, &["clean"]);
    place.assert_nothing_left();
}
