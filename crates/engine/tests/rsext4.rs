//! Operations on the library rsext4: the disk is let go and opened again after every step, checked by
//! e2fsck, and its contents are compared.

use engine::OpenTarget;
use model::agent::{LibraryTarget, Part, Target};
use model::workload::Workload;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

const STEPS: &str = r#"
    threads = 2
    files = [
        { name = "small", count = 60, directories = 6, size = { from = "0", to = "9000" } },
        { name = "large", count = 2, size = "3000001", folder = "big" },
        { name = "hostile", count = 30, directories = 2, size = "300", names = "hostile", name_bytes = 255 },
        { name = "dirs", directories = 40 },
        { name = "there", count = 10, size = "4KiB", populate = true },
    ]
    step = [
        { operation = "create", files = "small", sync = "each" },
        { operation = "create", name = "create hostile", files = "hostile" },
        { operation = "list", files = "small" },
        { operation = "mkdir", files = "dirs" },
        { operation = "fsync-directory", files = "dirs" },
        { operation = "write", files = "large", block = "64KiB" },
        { operation = "random-read", files = "large", count = 50, block = "4KiB" },
        { operation = "random-write", files = "large", count = 200, block = "4KiB" },
        { operation = "append", files = "large", block = "70001" },
        { operation = "read", files = "large", cold = true },
        { operation = "truncate", files = "large", block = "1000000", count = 1 },
        { operation = "fallocate", files = "large", block = "300000" },
        { operation = "append", name = "append small", files = "small", block = "2KiB", count = 20, sync = "each" },
        { operation = "overwrite", files = "small", first = 10, count = 30 },
        { operation = "stat", files = "small" },
        { operation = "open", files = "small" },
        { operation = "link", files = "small", count = 20 },
        { operation = "symlink", files = "small", first = 20, count = 20 },
        { operation = "rename", files = "small" },
        { operation = "rename-across", files = "hostile" },
        { operation = "fsync", files = "there" },
        { operation = "read", name = "read there", files = "there" },
        { operation = "unlink", files = "small", first = 5, count = 50 },
        { operation = "rmdir", files = "dirs" },
        { operation = "remove-tree", files = "hostile" },
    ]
"#;

fn target(device: &Path, options: &[&str], format: bool) -> Target {
    let options = options.iter().map(|&option| option.to_owned()).collect();
    Target::Library(LibraryTarget { filesystem: "rsext4".to_owned(), device: device.to_owned(), options, format })
}

/// e2fsck changes nothing and finds nothing.
fn assert_clean(device: &Path, after: &str) {
    let checked = Command::new("/sbin/e2fsck").args(["-f", "-n"]).arg(device).output().unwrap();
    assert!(checked.status.success(), "after {after}: {}", String::from_utf8_lossy(&checked.stdout));
}

fn run_through(options: &[&str], steps: &str) {
    // In memory: flushes cost nothing there.
    let folder = tempfile::tempdir_in("/dev/shm").unwrap();
    let device = folder.path().join("disk");
    std::fs::File::create(&device).unwrap().set_len(128 << 20).unwrap();
    let text = format!("name = \"t\"\ntitle = \"t\"\nkind = \"operations\"\n{steps}");
    let workload: Workload = toml::from_str(&text).unwrap();
    let mut place = OpenTarget::open(&target(&device, options, true)).unwrap();
    let mut work = engine::prepare(&place, &workload, 5, Arc::new(AtomicBool::new(false))).unwrap();
    for group in workload.groups() {
        for index in 0..2 {
            let part = Part { index, of: 2 };
            let window = work.phase(&place, &group, part, &mut ()).unwrap_or_else(|error| panic!("{group}: {error}"));
            assert_eq!(window.operations, window.latencies.operations(), "{group}");
        }
        work.release();
        place.close().unwrap_or_else(|error| panic!("after {group}: {error}"));
        assert_clean(&device, &group);
        place = OpenTarget::open(&target(&device, options, false)).unwrap();
        work.verify(&place).unwrap_or_else(|error| panic!("after {group}: {error}"));
    }
    place.close().unwrap();
}

#[test]
fn every_operation_without_a_journal_leaves_a_clean_disk_with_the_right_contents() {
    run_through(&[], STEPS);
}

#[test]
fn every_operation_with_a_journal_leaves_a_clean_disk_with_the_right_contents() {
    let attributes =
        "{ operation = \"setxattr\", files = \"there\" }, { operation = \"getxattr\", files = \"there\" },\n";
    let at = STEPS.rfind(']').unwrap();
    run_through(&["journal"], &format!("{}{attributes}{}", &STEPS[..at], &STEPS[at..]));
}

#[test]
fn what_the_library_does_not_know_is_named() {
    let folder = tempfile::tempdir_in("/dev/shm").unwrap();
    let device = folder.path().join("disk");
    std::fs::File::create(&device).unwrap().set_len(64 << 20).unwrap();
    let text = "name = \"t\"\ntitle = \"t\"\nkind = \"operations\"\nfiles = [{ name = \"f\", count = 3, size = \"4KiB\", populate = true }]\nstep = [{ operation = \"reflink\", files = \"f\" }]\n";
    let workload: Workload = toml::from_str(text).unwrap();
    let place = OpenTarget::open(&target(&device, &[], true)).unwrap();
    let mut work = engine::prepare(&place, &workload, 5, Arc::new(AtomicBool::new(false))).unwrap();
    let error = work.phase(&place, "reflink", Part::WHOLE, &mut ()).unwrap_err();
    assert_eq!(error.errno(), Some(libc::EOPNOTSUPP), "{error}");
    place.close().unwrap();
}
