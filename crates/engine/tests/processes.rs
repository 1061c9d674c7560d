//! Operations of which each is a process of the system's own tools, on real filesystems.

mod common;

use common::*;
use engine::{EngineError, OpenTarget, PROCESS_STARTUP, Work};
use model::agent::Part;
use model::workload::{Suite, Workload};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// A workload of kind `operations`, its tables as in a suite.
fn workload(method: &str, more: &str) -> Workload {
    let text = format!(
        "name = \"t\"\nabout = \"t\"\n[[workload]]\nname = \"w\"\ntitle = \"w\"\nkind = \"operations\"\n\
         method = \"{method}\"\n{more}"
    );
    Suite::from_toml(&text).unwrap_or_else(|error| panic!("{error}\n{text}")).workload.remove(0)
}

fn prepare_it(place: &OpenTarget, workload: &Workload) -> Result<Box<dyn Work>, EngineError> {
    engine::prepare(place, workload, 42, Arc::new(AtomicBool::new(false)))
}

/// Does every step, and after each that changes anything compares everything on the lane.
fn do_all(place: &OpenTarget, workload: &Workload) {
    let mut work = prepare_it(place, workload).unwrap();
    for group in workload.groups() {
        let window = work.phase(place, &group, Part::WHOLE, &mut ()).unwrap_or_else(|error| panic!("{group}: {error}"));
        assert!(window.operations > 0 && window.seconds > 0.0, "{group}");
        assert!(window.process_startup_seconds > 0.0, "{group}");
        let each = window.group().metrics[PROCESS_STARTUP];
        assert!((each * window.operations as f64 - window.process_startup_seconds).abs() < 1e-6, "{group}");
        // As after a remount.
        work.release();
        work.verify(place).unwrap_or_else(|error| panic!("after {group}: {error}"));
    }
}

#[test]
fn every_operation_leaves_what_it_should_under_hostile_names() {
    let text = r#"
        files = [
            { name = "odd", count = 16, size = "3000", directories = 2, names = "hostile" },
            { name = "empty", count = 8, directories = 4, fan_out = 2, names = "hostile" },
            { name = "folders", directories = 6, fan_out = 2, names = "hostile" },
        ]
        step = [
            { operation = "create", files = "odd" },
            { name = "touch", operation = "create", files = "empty" },
            { operation = "read", files = "odd" },
            { operation = "stat", files = "odd" },
            { operation = "open", files = "empty" },
            { operation = "list", files = "odd" },
            { operation = "append", files = "odd", block = "100" },
            { operation = "overwrite", files = "odd", block = "1000" },
            { operation = "fsync", files = "odd" },
            { operation = "fsync-directory", files = "odd" },
            { operation = "rename", files = "odd" },
            { operation = "rename-across", files = "odd" },
            { operation = "link", files = "odd", sync = "each" },
            { operation = "symlink", files = "odd" },
            { operation = "truncate", files = "odd", block = "1000" },
            { operation = "fallocate", files = "odd", block = "8192" },
            { operation = "unlink", files = "odd", sync = "each" },
            { operation = "mkdir", files = "folders" },
            { operation = "rmdir", files = "folders" },
            { operation = "remove-tree", files = "empty" },
        ]
    "#;
    for folder in [in_memory(), on_disk()] {
        do_all(&directory(folder.path()), &workload("process-per-operation", text));
    }
}

#[test]
fn extended_attributes_are_set_and_read_by_processes() {
    let text = r#"
        files = [{ name = "odd", count = 12, size = "100", directories = 2, names = "hostile" }]
        step = [
            { operation = "create", files = "odd" },
            { operation = "setxattr", files = "odd" },
            { operation = "getxattr", files = "odd" },
            { name = "again", operation = "setxattr", files = "odd" },
        ]
    "#;
    for folder in [in_memory(), on_disk()] {
        do_all(&directory(folder.path()), &workload("process-per-operation", text));
    }
}

#[test]
fn blocks_of_large_files_are_a_process_each_and_hold_what_they_should() {
    let text = r#"
        files = [{ name = "large", count = 2, size = "1MiB" }]
        step = [
            { operation = "write", files = "large", block = "128KiB" },
            { operation = "random-write", files = "large", count = 30, block = "4KiB" },
            { operation = "random-read", files = "large", count = 30, block = "4KiB", cold = true },
            { name = "anew", operation = "write", files = "large", block = "300000", sync = "each" },
            { operation = "read", files = "large" },
        ]
    "#;
    let folder = in_memory();
    let place = directory(folder.path());
    let workload = workload("process-per-operation", text);
    do_all(&place, &workload);
    let mut work = prepare_it(&place, &workload).unwrap();
    let window = work.phase(&place, "write", Part::WHOLE, &mut ()).unwrap();
    assert_eq!((window.operations, window.bytes), (16, 2 << 20));
}

#[test]
fn threads_share_a_step_and_each_thing_is_done_once() {
    let text = r#"
        threads = 2
        files = [{ name = "small", count = 40, size = "1KiB", directories = 4 }]
        step = [{ operation = "create", files = "small" }, { operation = "unlink", files = "small" }]
    "#;
    let folder = in_memory();
    do_all(&directory(folder.path()), &workload("process-per-operation", text));
}

#[test]
fn start_up_stands_beside_processes_only() {
    let text = r#"
        files = [{ name = "small", count = 20, size = "1KiB" }]
        step = [{ operation = "create", files = "small" }]
    "#;
    let folder = in_memory();
    let place = directory(folder.path());
    let own = workload("in-process", text);
    let window = prepare_it(&place, &own).unwrap().phase(&place, "create", Part::WHOLE, &mut ()).unwrap();
    assert_eq!(window.process_startup_seconds, 0.0);
    assert!(!window.group().metrics.contains_key(PROCESS_STARTUP));
}

#[test]
fn a_full_lane_is_told_as_such_and_the_tool_is_named() {
    if !is_root("a_full_lane_is_told_as_such_and_the_tool_is_named") {
        return;
    }
    let text = r#"
        files = [{ name = "large", count = 8, size = "512KiB" }]
        step = [{ operation = "create", files = "large", block = "64KiB" }]
    "#;
    let folder = on_disk();
    let small = SmallTmpfs::mount(folder.path(), 1 << 20);
    let place = directory(small.path());
    let mut work = prepare_it(&place, &workload("process-per-operation", text)).unwrap();
    let error = work.phase(&place, "create", Part::WHOLE, &mut ()).unwrap_err();
    assert_eq!(error.errno(), Some(libc::ENOSPC), "{error}");
    assert!(error.to_string().contains("dd failed on"), "{error}");
    drop(work);
    drop(place);
}
