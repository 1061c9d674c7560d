//! Operations on files, on real filesystems.

#[path = "operations/any_workload.rs"]
mod any_workload;
mod common;

use common::*;
use engine::{EngineError, OPERATIONS_PER_SECOND, OpenTarget, Window, Work};
use model::agent::{Part, Target};
use model::operations::{Operation, Operations};
use model::workload::{Kind, Workload};
use std::collections::HashMap;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

const SEED: u64 = 11;

/// The workload of a TOML text that begins behind `kind = "operations"`.
fn workload(text: &str) -> Workload {
    let text = format!("name = \"t\"\ntitle = \"t\"\nkind = \"operations\"\n{text}");
    toml::from_str(&text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

fn operations(workload: &Workload) -> &Operations {
    let Kind::Operations(operations) = &workload.kind else { unreachable!("the text says operations") };
    operations
}

fn start(place: &OpenTarget, workload: &Workload) -> Result<Box<dyn Work>, EngineError> {
    engine::prepare(place, workload, SEED, Arc::new(AtomicBool::new(false)))
}

/// Runs every step in so many parts and checks the lane after each.
fn run_through(place: &OpenTarget, workload: &Workload, of: u32) -> HashMap<String, Window> {
    let mut work = start(place, workload).unwrap();
    work.verify(place).unwrap();
    let mut sums: HashMap<String, Window> = HashMap::new();
    for group in workload.groups() {
        for index in 0..of {
            let window = work
                .phase(place, &group, Part { index, of }, &mut ())
                .unwrap_or_else(|error| panic!("{group}: {error}"));
            assert_eq!(window.operations, window.latencies.operations(), "{group}");
            assert_eq!(window.primary_metric, OPERATIONS_PER_SECOND);
            assert!(window.sync_seconds <= window.seconds);
            let sum = sums.entry(group.clone()).or_default();
            sum.operations += window.operations;
            sum.bytes += window.bytes;
            sum.sync_seconds += window.sync_seconds;
        }
        // Between two calls the lane may be mounted again.
        work.release();
        work.verify(place).unwrap_or_else(|error| panic!("after {group}: {error}"));
    }
    sums
}

/// All files below a folder, links not followed; directories alone in the second list.
fn tree(top: &Path) -> (Vec<PathBuf>, Vec<PathBuf>) {
    let (mut files, mut directories, mut left) = (Vec::new(), Vec::new(), vec![top.to_owned()]);
    while let Some(folder) = left.pop() {
        for entry in std::fs::read_dir(&folder).unwrap() {
            let entry = entry.unwrap();
            if entry.file_type().unwrap().is_dir() {
                directories.push(entry.path());
                left.push(entry.path());
            } else {
                files.push(entry.path());
            }
        }
    }
    files.sort();
    (files, directories)
}

fn top(folder: &Path) -> PathBuf {
    folder.join("fairlane-operations")
}

/// Every operation, on a set of several directories and on one.
const EVERYTHING: &str = r#"
    files = [
        { name = "small", count = 60, directories = 6, size = { from = "0", to = "9000" } },
        { name = "large", count = 2, size = "3000001", folder = "big" },
        { name = "empty", count = 12, directories = 3, folder = "touch" },
        { name = "dirs", directories = 40, fan_out = 3 },
        { name = "there", count = 10, size = "4KiB", populate = true, folder = "shared" },
        { name = "here", count = 5, size = [{ size = "1KiB", weight = 1 }, { size = "2KiB", weight = 3 }], folder = "shared" },
    ]
    step = [
        { operation = "create", files = "small", sync = "each" },
        { operation = "create", name = "create empty", files = "empty" },
        { operation = "create", name = "create here", files = "here" },
        { operation = "list", name = "list shared", files = "here" },
        { operation = "list", files = "small" },
        { operation = "mkdir", files = "dirs", sync = "each" },
        { operation = "fsync-directory", files = "dirs" },
        { operation = "list", name = "list tree", files = "dirs" },
        { operation = "write", files = "large", block = "64KiB" },
        { operation = "random-read", files = "large", count = 50, block = "4KiB" },
        { operation = "random-write", files = "large", count = 200, block = "4KiB" },
        { operation = "append", files = "large", block = "70001" },
        { operation = "random-write", name = "random write again", files = "large", count = 20, block = "100KiB" },
        { operation = "read", files = "large" },
        { operation = "truncate", files = "large", block = "1000000", count = 1 },
        { operation = "fallocate", files = "large", block = "300000" },
        { operation = "truncate", name = "lengthen", files = "large", block = "3MiB", first = 1 },
        { operation = "write", name = "write again", files = "large", first = 1 },
        { operation = "append", name = "append small", files = "small", block = "2KiB", count = 20, sync = "each" },
        { operation = "overwrite", files = "small", first = 10, count = 30 },
        { operation = "read", name = "read small", files = "small", cold = true },
        { operation = "stat", files = "small" },
        { operation = "open", files = "small", count = 30 },
        { operation = "fsync", files = "small", first = 50 },
        { operation = "setxattr", files = "small", first = 20, count = 20, sync = "each" },
        { operation = "getxattr", files = "small", first = 25, count = 10 },
        { operation = "rename", files = "small", first = 5, count = 20 },
        { operation = "link", files = "small", count = 10, sync = "each" },
        { operation = "rename-across", files = "small", first = 30, sync = "each" },
        { operation = "symlink", files = "small", first = 20, count = 40 },
        { operation = "overwrite", name = "overwrite linked", files = "small", count = 10, sync = "each" },
        { operation = "rename", name = "rename back", files = "small", count = 10, sync = "each" },
        { operation = "list", name = "list again", files = "small" },
        { operation = "unlink", files = "small", first = 8, count = 20, sync = "each" },
        { operation = "create", name = "create again", files = "small", first = 8, count = 10 },
        { operation = "rename-across", name = "across again", files = "empty" },
        { operation = "remove-tree", name = "remove a part", files = "empty", first = 1, count = 1 },
        { operation = "unlink", name = "unlink shared", files = "there" },
        { operation = "rmdir", files = "dirs", sync = "each" },
        { operation = "remove-tree", files = "small" },
        { operation = "remove-tree", name = "remove large", files = "large" },
    ]
"#;

#[test]
fn every_operation_does_what_it_says_and_the_lane_holds_exactly_that() {
    for folder in [on_disk(), in_memory()] {
        let place = directory(folder.path());
        let workload = workload(EVERYTHING);
        let sums = run_through(&place, &workload, 1);
        let of = |group: &str| (sums[group].operations, sums[group].bytes);
        assert_eq!(of("write"), (2 * 3_000_001_u64.div_ceil(65536), 6_000_002));
        assert_eq!(of("random-write"), (200, 200 * 4096));
        assert_eq!(of("append small"), (20, 20 * 2048));
        assert_eq!((of("mkdir"), of("list shared"), of("unlink")), ((40, 0), (1, 0), (20, 0)));
        assert!(sums["create empty"].sync_seconds > 0.0 && sums["stat"].sync_seconds == 0.0);
        let (files, directories) = tree(&top(folder.path()));
        // What is left: of `empty` two directories of four files each, `here`, and folders.
        let here = files.iter().filter(|file| file.starts_with(top(folder.path()).join("folder-shared"))).count();
        assert_eq!((files.len(), here), (8 + 5, 5));
        assert_eq!(directories.len(), 4 + 2);
    }
}

#[test]
fn hostile_names_pass_through_every_operation() {
    let text = EVERYTHING.replace("{ name = ", "{ names = \"hostile\", name = ");
    let workload = workload(&text);
    let folder = in_memory();
    let place = directory(folder.path());
    let mut work = start(&place, &workload).unwrap();
    work.phase(&place, "create", Part::WHOLE, &mut ()).unwrap();
    let (files, _) = tree(&top(folder.path()));
    let names: Vec<&[u8]> = files.iter().map(|file| file.file_name().unwrap().as_bytes()).collect();
    let any = |holds: &dyn Fn(&[u8]) -> bool| names.iter().any(|name| holds(name));
    assert!(any(&|name| name.len() == 255) && any(&|name| name.starts_with(b"-")));
    assert!(any(&|name| name.contains(&b'\n')) && any(&|name| !name.is_ascii()) && any(&|name| name.starts_with(b" ")));
    run_through(&place, &workload, 1);
}

#[test]
fn parts_and_threads_do_each_thing_once() {
    let sets = r#"
        files = [
            { name = "a", count = 2003, directories = 7, size = "100" },
            { name = "d", directories = 1000 },
            { name = "l", count = 3, size = "1MiB" },
            { name = "o", count = 401, size = "10" },
        ]
        step = [
            { operation = "create", files = "a" },
            { name = "create in one directory", operation = "create", files = "o" },
            { operation = "read", files = "a", first = 1000 },
            { operation = "append", files = "a", block = "10", count = 1500 },
            { operation = "rename", files = "a", first = 3, count = 1999 },
            { operation = "rename-across", files = "a" },
            { operation = "list", files = "a" },
            { operation = "write", files = "l", block = "8KiB" },
            { operation = "random-write", files = "l", block = "4KiB", count = 1009 },
            { operation = "mkdir", files = "d" },
            { operation = "rmdir", files = "d" },
            { operation = "unlink", files = "a", first = 100, count = 1001 },
        ]
    "#;
    for (threads, sharing, of) in [
        (1, "private", 10),
        (2, "private", 3),
        (5, "private", 1),
        (9, "private", 2),
        (3, "shared", 1),
        (4, "shared", 7),
    ] {
        let folder = in_memory();
        let place = directory(folder.path());
        let workload = workload(&format!("threads = {threads}\nsharing = \"{sharing}\"\n{sets}"));
        let sums = run_through(&place, &workload, of);
        for (group, count) in [
            ("create", 2003),
            ("create in one directory", 401),
            ("read", 1003),
            ("append", 1500),
            ("rename", 1999),
            ("rename-across", 2003),
            ("list", 7),
            ("write", 3 * 128),
            ("random-write", 1009),
            ("mkdir", 1000),
            ("rmdir", 1000),
            ("unlink", 1001),
        ] {
            assert_eq!(sums[group].operations, count, "{group}, {threads} threads, {sharing}, {of} parts");
        }
        assert_eq!(tree(&top(folder.path())).0.len(), 2003 - 1001 + 3 + 401);
    }
}

/// A lane with a few files of each kind, prepared and written.
fn written(folder: &Path) -> (Box<dyn Work>, OpenTarget) {
    let place = directory(folder);
    let workload = workload(
        r#"
        files = [
            { name = "a", count = 20, directories = 2, size = "3000" },
            { name = "l", count = 1, size = "5000000" },
        ]
        step = [
            { operation = "create", files = "a" },
            { operation = "link", files = "a", count = 3 },
            { operation = "symlink", files = "a", count = 3 },
            { operation = "setxattr", files = "a", count = 3 },
            { operation = "create", name = "create large", files = "l" },
            { operation = "random-write", files = "l", count = 30, block = "4KiB" },
        ]
        "#,
    );
    let mut work = start(&place, &workload).unwrap();
    for group in workload.groups() {
        work.phase(&place, &group, Part::WHOLE, &mut ()).unwrap();
    }
    work.verify(&place).unwrap();
    (work, place)
}

#[test]
fn one_wrong_byte_a_missing_an_extra_and_a_swapped_file_are_found() {
    type Damage = fn(&Path);
    let damages: [(&str, Damage); 14] = [
        ("at offset 2999", |top| flip(&top.join("set-000/d000000001/f000000015"), 2999)),
        ("at offset 4999999", |top| flip(&top.join("set-001/f000000000"), 4_999_999)),
        ("at offset 1048576", |top| flip(&top.join("set-001/f000000000"), 1 << 20)),
        ("15 entries instead of 16", |top| std::fs::remove_file(top.join("set-000/d000000000/f000000009")).unwrap()),
        ("stranger", |top| std::fs::write(top.join("set-000/d000000000/stranger"), b"").unwrap()),
        ("f000000099", |top| std::fs::write(top.join("set-000/d000000000/f000000099"), b"").unwrap()),
        ("lost", |top| std::fs::create_dir(top.join("lost")).unwrap()),
        ("d000000002", |top| std::fs::create_dir(top.join("set-000/d000000002")).unwrap()),
        ("2999 of the 3000", |top| resize(&top.join("set-000/d000000000/f000000005"), 2999)),
        ("more than the 3000", |top| resize(&top.join("set-000/d000000000/f000000005"), 3001)),
        ("at offset ", |top| {
            let [one, other] =
                ["d000000000/f000000006", "d000000001/f000000016"].map(|name| top.join("set-000").join(name));
            let bytes = [std::fs::read(&one).unwrap(), std::fs::read(&other).unwrap()];
            std::fs::write(&one, &bytes[1]).unwrap();
            std::fs::write(&other, &bytes[0]).unwrap();
        }),
        ("hard links", |top| {
            let file = top.join("set-000/d000000000/l000000001");
            let bytes = std::fs::read(&file).unwrap();
            std::fs::remove_file(&file).unwrap();
            std::fs::write(&file, bytes).unwrap();
        }),
        ("points to", |top| {
            let link = top.join("set-000/d000000000/s000000001");
            std::fs::remove_file(&link).unwrap();
            std::os::unix::fs::symlink("f000000002", &link).unwrap();
        }),
        ("attribute", |top| {
            let file = top.join("set-000/d000000000/f000000002");
            rustix::fs::setxattr(&file, "user.fairlane", &[7; 32], rustix::fs::XattrFlags::empty()).unwrap();
        }),
    ];
    for (says, damage) in damages {
        let folder = in_memory();
        let (mut work, place) = written(folder.path());
        damage(&top(folder.path()));
        let error = work.verify(&place).expect_err(says);
        assert!(error.to_string().contains(says), "{says}: {error}");
        assert!(error.is_corrupt(), "{error}");
    }
}

fn flip(path: &Path, offset: usize) {
    let mut bytes = std::fs::read(path).unwrap();
    bytes[offset] ^= 1;
    std::fs::write(path, bytes).unwrap();
}

fn resize(path: &Path, size: u64) {
    std::fs::OpenOptions::new().write(true).open(path).unwrap().set_len(size).unwrap();
}

#[test]
fn files_differ_and_nothing_compresses_them() {
    let folder = in_memory();
    let place = directory(folder.path());
    let workload = workload(
        "files = [{ name = \"a\", count = 40, size = \"16KiB\" }]\nstep = [{ operation = \"create\", files = \"a\" }]",
    );
    run_through(&place, &workload, 1);
    let (files, _) = tree(&top(folder.path()));
    let all: Vec<u8> = files.iter().flat_map(|file| std::fs::read(file).unwrap()).collect();
    assert_hardly_compressible(&all);
    let disk: u64 = files.iter().map(|file| file.metadata().unwrap().size()).sum();
    assert_eq!(disk, 40 * 16 * KIB);
}

/// Unmounts, patiently: threads of tests that run beside this one hold copies of its descriptors for
/// as long as their phase takes.
/// Read back byte for byte, half a terabyte would take minutes: a hole need only be one.
#[test]
fn holes_are_known_as_such_and_what_somebody_wrote_into_one_is_found() {
    let folder = tempfile::tempdir_in("/var/tmp").unwrap();
    let place = OpenTarget::open(&Target::Directory(folder.path().to_owned())).unwrap();
    let work = workload(
        r#"
        files = [{ name = "a", count = 2, size = "3000000", populate = true }]
        step = [{ operation = "truncate", files = "a", block = "512GiB" },
                { operation = "append", files = "a", block = "5000", count = 1 }]
        "#,
    );
    let mut work = start(&place, &work).unwrap();
    work.phase(&place, "truncate", Part::WHOLE, &mut ()).unwrap();
    work.verify(&place).unwrap();
    work.phase(&place, "append", Part::WHOLE, &mut ()).unwrap();
    work.verify(&place).unwrap();
    let (files, _) = tree(&top(folder.path()));
    let file = std::fs::OpenOptions::new().write(true).open(&files[1]).unwrap();
    let at = 300 << 30;
    std::os::unix::fs::FileExt::write_all_at(&file, &[1], at).unwrap();
    let error = work.verify(&place).unwrap_err();
    assert!(error.is_corrupt() && error.to_string().contains(&at.to_string()), "{error}");
    std::os::unix::fs::FileExt::write_all_at(&file, &[0], at).unwrap();
    work.verify(&place).unwrap();
    file.set_len((512 << 30) + 1).unwrap();
    assert!(work.verify(&place).unwrap_err().to_string().contains("more than the 549755813888 bytes"));
}

fn unmount(mount: Mount) {
    let path = mount.path().to_owned();
    drop(mount);
    let mounts = std::fs::read_to_string("/proc/self/mounts").unwrap();
    assert!(!mounts.lines().any(|line| line.split(' ').nth(1) == path.to_str()), "{} is still mounted", path.display());
}

#[test]
fn a_full_lane_is_told_with_the_file_the_operation_and_the_remedy() {
    if !is_root("a full lane") {
        return;
    }
    let text =
        "files = [{ name = \"a\", count = 500, size = \"4KiB\" }]\nstep = [{ operation = \"create\", files = \"a\" }]";
    for (options, inodes) in [("size=512k", false), ("size=64m,nr_inodes=100", true)] {
        for threads in [1, 3] {
            let mount = Mount::new(&["-t", "tmpfs", "-o", options, "tmpfs"]);
            let place = directory(mount.path());
            let mut work = start(&place, &workload(&format!("threads = {threads}\n{text}"))).unwrap();
            let error = work.phase(&place, "create", Part::WHOLE, &mut ()).unwrap_err();
            assert_eq!(error.errno(), Some(libc::ENOSPC), "{error}");
            assert!(!error.is_corrupt());
            let says = error.to_string();
            let remedy = if inodes { "give mkfs more inodes" } else { "raise --lane-size or lower count" };
            for part in ["set-000/f000000", "in operation ", "of step create", remedy] {
                assert!(says.contains(part), "{says}");
            }
            assert_eq!(says.contains("no inode is left"), inodes, "{says}");
            drop(work);
            drop(place);
            unmount(mount);
        }
    }
}

#[test]
fn a_lane_mounted_again_holds_everything() {
    if !is_root("remounts") {
        return;
    }
    for filesystem in ["ext4", "xfs", "btrfs"] {
        let target = Loop::new(400 * MIB, &[]);
        let made = std::process::Command::new(format!("mkfs.{filesystem}"))
            .args([if filesystem == "ext4" { "-F" } else { "-f" }, "-q", target.device.to_str().unwrap()])
            .output();
        if !made.is_ok_and(|output| output.status.success()) {
            eprintln!("skipped: mkfs.{filesystem} is missing");
            continue;
        }
        let device = target.device.to_str().unwrap().to_owned();
        let copies = r#"{ operation = "stat", files = "small" },
            { operation = "reflink", files = "small", first = 40, count = 5 },
            { operation = "append", name = "append to copied", files = "small", block = "500", first = 42, count = 2 },"#;
        let text = match filesystem {
            "ext4" => EVERYTHING.to_owned(),
            _ => EVERYTHING.replace(r#"{ operation = "stat", files = "small" },"#, copies),
        };
        let workload = workload(&text);
        let mount = Mount::new(&[&device]);
        let place = directory(mount.path());
        let mut work = start(&place, &workload).unwrap();
        let (mut place, mut mount) = (Some(place), Some(mount));
        let checks = operations(&workload).checks();
        for (group, check) in workload.groups().iter().zip(checks) {
            if check {
                work.release();
                drop(place.take());
                unmount(mount.take().unwrap());
                mount = Some(Mount::new(&[&device]));
                place = Some(directory(mount.as_ref().unwrap().path()));
                work.verify(place.as_ref().unwrap())
                    .unwrap_or_else(|error| panic!("{filesystem}, before {group}: {error}"));
            }
            work.phase(place.as_ref().unwrap(), group, Part::WHOLE, &mut ())
                .unwrap_or_else(|error| panic!("{filesystem}, {group}: {error}"));
        }
        work.verify(place.as_ref().unwrap()).unwrap();
        drop(place);
        unmount(mount.unwrap());
    }
}

#[test]
fn steps_run_once_in_order_and_only_on_filesystems() {
    let folder = in_memory();
    let place = directory(folder.path());
    let text = "files = [{ name = \"a\", count = 50 }]\nstep = [{ operation = \"create\", files = \"a\" }, { operation = \"stat\", files = \"a\" }]";
    let workload = workload(text);
    let mut work = start(&place, &workload).unwrap();
    let mut says = |group: &str, index, of, says: &str| {
        let error = work.phase(&place, group, Part { index, of }, &mut ()).unwrap_err().to_string();
        assert!(error.contains(says), "{error}");
    };
    says("stat", 0, 1, "create follows");
    says("delete", 0, 1, "choose create, stat");
    says("create", 1, 2, "parts are counted from 0");
    work.phase(&place, "create", Part { index: 0, of: 2 }, &mut ()).unwrap();
    assert!(work.verify(&place).unwrap_err().to_string().contains("half done"));
    work.phase(&place, "create", Part { index: 1, of: 2 }, &mut ()).unwrap();
    assert_eq!(work.written_bytes(), 0);
    // What an interrupted race left goes.
    let mut again = start(&place, &workload).unwrap();
    again.verify(&place).unwrap();
    let error = start(&OpenTarget::Null, &workload).err().unwrap().to_string();
    assert!(error.contains("name a directory"), "{error}");
    let stop = Arc::new(AtomicBool::new(false));
    let mut work = engine::prepare(&place, &workload, SEED, stop.clone()).unwrap();
    stop.store(true, Ordering::Relaxed);
    assert!(matches!(work.phase(&place, "create", Part::WHOLE, &mut ()), Err(EngineError::Interrupted)));
    if is_root("a bare device") {
        let target = Loop::new(MIB, &[]);
        let device = OpenTarget::open(&Target::Device(target.device.clone())).unwrap();
        let error = start(&device, &workload).err().unwrap().to_string();
        assert!(error.contains("bare device"), "{error}");
    }
}

#[test]
fn a_file_that_was_there_already_and_one_that_is_gone_end_the_step() {
    let folder = in_memory();
    let (_, place) = written(folder.path());
    let workload = workload(
        "files = [{ name = \"a\", count = 5, size = \"10\" }]\nstep = [{ operation = \"create\", files = \"a\" }, { operation = \"read\", files = \"a\" }]",
    );
    let mut work = start(&place, &workload).unwrap();
    let victim = top(folder.path()).join("set-000/f000000003");
    std::fs::write(&victim, b"").unwrap();
    let error = work.phase(&place, "create", Part::WHOLE, &mut ()).unwrap_err();
    assert_eq!(error.errno(), Some(libc::EEXIST), "{error}");
    assert!(error.to_string().contains(victim.to_str().unwrap()), "{error}");
    let mut work = start(&place, &workload).unwrap();
    work.phase(&place, "create", Part::WHOLE, &mut ()).unwrap();
    resize(&victim, 9);
    let error = work.phase(&place, "read", Part::WHOLE, &mut ()).unwrap_err().to_string();
    assert!(error.contains("9 of the 10 bytes"), "{error}");
}

/// The first operation is refused and leaves a file behind all the same: that is no loss of data.
#[test]
fn a_step_that_failed_at_its_first_file_is_half_done_and_not_compared() {
    let text =
        "files = [{ name = \"a\", count = 5, size = \"10\" }]\nstep = [{ operation = \"create\", files = \"a\" }]";
    for threads in [1, 2] {
        let folder = in_memory();
        let place = directory(folder.path());
        let mut work = start(&place, &workload(&format!("threads = {threads}\n{text}"))).unwrap();
        for number in 0..5 {
            std::fs::write(top(folder.path()).join(format!("set-000/f{number:09}")), b"").unwrap();
        }
        let error = work.phase(&place, "create", Part::WHOLE, &mut ()).unwrap_err();
        assert_eq!(error.errno(), Some(libc::EEXIST), "{error}");
        let error = work.verify(&place).unwrap_err();
        assert!(!error.is_corrupt() && error.to_string().contains("step create is half done"), "{error}");
    }
}

#[test]
fn the_busiest_of_several_threads_is_told_with_its_share_of_a_core() {
    let text = "files = [{ name = \"a\", count = 3000, size = \"1KiB\", directories = 4 }]\n\
                step = [{ operation = \"create\", files = \"a\", sync = \"none\" }]";
    for threads in [1, 2, 4] {
        let folder = in_memory();
        let place = directory(folder.path());
        let mut work = start(&place, &workload(&format!("threads = {threads}\n{text}"))).unwrap();
        let window = work.phase(&place, "create", Part::WHOLE, &mut ()).unwrap();
        match window.busiest_thread {
            // A thread cannot be on a CPU for longer than the window, but for the clocks' own grain.
            Some((share, name)) if threads > 1 => {
                assert!(share > 0.0 && share < 1.05, "{share}");
                let number: u32 = name.strip_prefix("operations-").unwrap().parse().unwrap();
                assert!(number < threads, "{name}");
            }
            none => assert!(none.is_none() && threads == 1, "{none:?} of {threads} threads"),
        }
    }
}
