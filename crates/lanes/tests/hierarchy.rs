//! A recovery where nobody has mounted blkio any more: the child of a test, in a mount namespace of its own
//! from which the hierarchy is gone.

mod common;

use common::{Scratch, privileged};
use lanes::undo::{Thing, recover};
use std::ffi::CString;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

const UNDO: &str = "FAIRLANE_TEST_UNDO_DIRECTORY";

/// Where blkio of cgroup v1 is mounted.
fn hierarchies() -> Vec<PathBuf> {
    let mounts = lanes::mountinfo::read().unwrap();
    let is_blkio = |mount: &&lanes::mountinfo::MountEntry| {
        mount.filesystem == "cgroup" && mount.super_options.iter().any(|option| option == "blkio")
    };
    mounts.iter().filter(is_blkio).map(|mount| mount.target.clone()).collect()
}

/// Not a test of its own: without the variable it does nothing.
#[test]
fn recovers_without_the_hierarchy() {
    let Ok(undo) = std::env::var(UNDO) else { return };
    assert_eq!(hierarchies(), Vec::<PathBuf>::new());
    let recovered = recover(Path::new(&undo));
    let said = format!("{:?}\n{:?}", recovered.failures, recovered.cleaned);
    std::fs::write(Path::new(&undo).parent().unwrap().join("said"), said).unwrap();
    assert_eq!(hierarchies(), Vec::<PathBuf>::new(), "what it mounted is unmounted again");
}

/// Recovers in a child that has no blkio; answers failures and what was cleaned, a line each.
fn recovered_elsewhere(scratch: &Scratch) -> String {
    let hidden: Vec<CString> =
        hierarchies().iter().map(|path| CString::new(path.as_os_str().as_bytes()).unwrap()).collect();
    let mut child = Command::new(std::env::current_exe().unwrap());
    child.args(["--exact", "recovers_without_the_hierarchy", "--nocapture"]).env(UNDO, scratch.undo());
    // SAFETY: between fork and exec only system calls run, on strings that were made before.
    unsafe {
        child.pre_exec(move || {
            let done = |answer: libc::c_int| match answer {
                0 => Ok(()),
                _ => Err(std::io::Error::last_os_error()),
            };
            done(libc::unshare(libc::CLONE_NEWNS))?;
            let (nothing, own) = (std::ptr::null(), libc::MS_REC | libc::MS_PRIVATE);
            done(libc::mount(nothing, c"/".as_ptr(), nothing, own, nothing.cast()))?;
            hidden.iter().try_for_each(|path| done(libc::umount2(path.as_ptr(), libc::MNT_DETACH)))
        });
    }
    let output = child.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let said = scratch.path.join("said");
    let text = std::fs::read_to_string(&said).unwrap();
    std::fs::remove_file(said).unwrap();
    text
}

/// A journal of a run that is dead, with a limit of this device in it.
fn dead_journal(scratch: &Scratch, device: (u32, u32), name: &str) {
    let throttle = "20MiB/s".parse().unwrap();
    let mut journal = scratch.journal();
    journal.will(Thing::Limit { device, name: name.to_owned(), sequence: 0, throttle }).unwrap();
    drop(journal);
    let path = scratch.journal_path();
    let text = std::fs::read_to_string(&path).unwrap();
    let (owner, rest) = text.split_once('\n').unwrap();
    let mut owner: serde_json::Value = serde_json::from_str(owner).unwrap();
    owner["start_ticks"] = 1.into();
    std::fs::write(&path, format!("{owner}\n{rest}")).unwrap();
}

#[test]
fn a_limit_is_lifted_although_nobody_has_mounted_the_hierarchy() {
    if !privileged("no hierarchy") {
        return;
    }
    let Some(root) = hierarchies().into_iter().find(|root| !root.to_string_lossy().contains("/.fairlane-")) else {
        eprintln!("no hierarchy: skipped, because blkio of cgroup v1 is not mounted here");
        return;
    };
    let scratch = Scratch::new();
    let file = scratch.path.join("disk");
    std::fs::File::create(&file).unwrap().set_len(16 << 20).unwrap();
    let made = Command::new("losetup").args(["--find", "--show"]).arg(&file).output().unwrap();
    assert!(made.status.success(), "{made:?}");
    let path = String::from_utf8(made.stdout).unwrap();
    let name = path.trim().trim_start_matches("/dev/").to_owned();
    let number = std::fs::read_to_string(format!("/sys/class/block/{name}/dev")).unwrap().trim().to_owned();
    let (major, minor) = number.split_once(':').unwrap();
    let device = (major.parse().unwrap(), minor.parse().unwrap());
    let files = ["read", "write"].map(|way| root.join(format!("blkio.throttle.{way}_bps_device")));
    let set = |limit: u64| files.iter().for_each(|file| std::fs::write(file, format!("{number} {limit}\n")).unwrap());
    let is_set = || {
        let holds = |file: &PathBuf| {
            let text = std::fs::read_to_string(file).unwrap();
            text.lines().any(|line| line.starts_with(&format!("{number} ")))
        };
        files.iter().any(holds)
    };
    set(20 << 20);
    dead_journal(&scratch, device, &name);
    let said = recovered_elsewhere(&scratch);
    let left = is_set();
    set(0);
    // A device that is gone needs no hierarchy at all.
    dead_journal(&scratch, (7, 999_999), "loop999999");
    let of_one_gone = recovered_elsewhere(&scratch);
    Command::new("losetup").arg("-d").arg(path.trim()).status().unwrap();
    std::fs::remove_file(file).unwrap();
    assert_eq!(said, format!("[]\n[\"lifted the limit of /dev/{name}\"]"));
    assert!(!left, "the limit still stands");
    assert_eq!(of_one_gone, "[]\n[]");
    scratch.assert_nothing_left();
}
