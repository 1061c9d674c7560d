//! Operations on files, on real filesystems.

mod common;

use common::*;
use engine::{EngineError, OPERATIONS_PER_SECOND, Place, Window, Work};
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

fn start(place: &Place, workload: &Workload) -> Result<Box<dyn Work>, EngineError> {
    engine::prepare(place, workload, SEED, Arc::new(AtomicBool::new(false)))
}

/// Runs every step in so many parts and checks the lane after each.
fn run_through(place: &Place, workload: &Workload, of: u32) -> HashMap<String, Window> {
    let mut work = start(place, workload).unwrap();
    work.verify(place).unwrap();
    let mut sums: HashMap<String, Window> = HashMap::new();
    for group in workload.groups() {
        for index in 0..of {
            let window =
                work.phase(place, &group, Part { index, of }).unwrap_or_else(|error| panic!("{group}: {error}"));
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
        { operation = "truncate", files = "large", block = "1MB", count = 1 },
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
        assert_eq!(of("large write").0, 0_u64.wrapping_add(of("large write").0));
        assert_eq!(of("write"), (2 * 3_000_001_u64.div_ceil(65536), 6_000_002));
        assert_eq!(of("random-write"), (200, 200 * 4096));
        assert_eq!(of("append small"), (20, 20 * 2048));
        assert_eq!((of("mkdir"), of("list shared"), of("unlink")), ((40, 0), (1, 0), (20, 0)));
        assert!(sums["create empty"].sync_seconds > 0.0 && sums["stat"].sync_seconds == 0.0);
        let (files, directories) = tree(&top(folder.path()));
        // What is left: of `empty` two directories of four files each, `here`, and folders.
        let here = files.iter().filter(|file| file.starts_with(top(folder.path()).join("folder-shared"))).count();
        assert_eq!((files.len(), here), (8 + 5, 5));
        assert_eq!(directories.len(), "set-000 folder-touch set-003 folder-shared".split(' ').count() + 2);
    }
}
