//! Directories that several clients share.

mod common;

use common::*;
use engine::{EngineError, OpenTarget, Work};
use model::Bytes;
use model::agent::Part;
use model::operations::Sharing;
use model::ranks::Clients;
use model::workload::{Kind, SmallFiles, Workload};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

const CLIENTS: u32 = 3;

fn workload(text: &str) -> Workload {
    let text = format!("name = \"t\"\ntitle = \"t\"\nkind = \"operations\"\nsharing = \"shared\"\n{text}");
    toml::from_str(&text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

fn prepare_as(place: &OpenTarget, workload: &Workload, number: u32) -> Result<Box<dyn Work>, EngineError> {
    let clients = Clients { number, reads: (number + 1) % CLIENTS, of: CLIENTS };
    // Ranks have seeds of their own.
    let seed = 42 ^ (u64::from(number) << 32);
    engine::prepare_noted(place, workload, (seed, clients), None, Arc::new(AtomicBool::new(false)))
}

fn count(folder: &Path) -> usize {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.map(|path| if path.is_dir() { count(&path) } else { 1 }).sum()
}

/// All clients do each step, one after the other, and find exactly what all have made.
fn run_through(folder: &Path, workload: &Workload) {
    let place = directory(folder);
    let mut works: Vec<_> = (0..CLIENTS).map(|number| prepare_as(&place, workload, number).unwrap()).collect();
    for group in workload.groups() {
        for (client, work) in works.iter_mut().enumerate() {
            let window = work.phase(&place, &group, Part::WHOLE, &mut ());
            let window = window.unwrap_or_else(|error| panic!("{group} of client {client}: {error}"));
            assert!(window.operations > 0, "{group}");
        }
        for work in &mut works {
            work.release();
            work.verify(&place).unwrap_or_else(|error| panic!("after {group}: {error}"));
        }
    }
}

#[test]
fn clients_make_change_and_remove_files_in_the_same_directories() {
    let folder = on_disk();
    let all = workload(
        r#"
        files = [
            { name = "a", count = 20, size = "3901B" },
            { name = "b", count = 12, directories = 4, fan_out = 2, populate = true, size = { from = "1B", to = "9KiB" } },
            { name = "c", count = 5, folder = "one" },
            { name = "d", count = 5, folder = "one" },
        ]
        step = [
            { operation = "create", files = "a" },
            { operation = "stat", files = "a" },
            { operation = "read", files = "a" },
            { name = "read b", operation = "read", files = "b" },
            { operation = "list", files = "b" },
            { name = "create c", operation = "create", files = "c" },
            { name = "create d", operation = "create", files = "d" },
            { name = "list one", operation = "list", files = "c" },
            { operation = "rename", files = "a" },
            { operation = "rename-across", files = "b" },
            { operation = "link", files = "a" },
            { operation = "symlink", files = "b" },
            { operation = "append", files = "b", block = "1KiB" },
            { operation = "unlink", files = "a" },
        ]"#,
    );
    run_through(folder.path(), &all);
    // Of b files and symbolic links beside them, of c and d the files.
    assert_eq!(count(folder.path()), CLIENTS as usize * (2 * 12 + 2 * 5));
}

#[test]
fn what_a_client_only_looks_at_is_another_clients() {
    let folder = on_disk();
    let place = directory(folder.path());
    let looks = workload(
        r#"
        files = [{ name = "a", count = 4, size = "100B" }]
        step = [
            { operation = "create", files = "a" },
            { operation = "stat", files = "a" },
            { operation = "unlink", files = "a" },
        ]"#,
    );
    let mut works: Vec<_> = (0..CLIENTS).map(|number| prepare_as(&place, &looks, number).unwrap()).collect();
    let mut phase = |client: usize, group: &str| works[client].phase(&place, group, Part::WHOLE, &mut ());
    (0..3).for_each(|client| drop(phase(client, "create").unwrap()));
    let top = folder.path().join("fairlane-operations/set-000");
    assert!(top.join("f000000004").exists() && top.join("f000000011").exists());
    // The last client's files are gone: client 1 looks at them, and client 2 at those of client 0.
    (8..12).for_each(|number| std::fs::remove_file(top.join(format!("f{number:09}"))).unwrap());
    assert!(phase(1, "stat").is_err());
    assert_eq!(phase(2, "stat").unwrap().operations, 4);
    assert_eq!(phase(0, "stat").unwrap().operations, 4);
    assert_eq!(phase(0, "unlink").unwrap().operations, 4, "it removes its own");
    assert!(!top.join("f000000003").exists() && top.join("f000000004").exists());
}

#[test]
fn clients_make_read_and_remove_small_files_in_the_same_directories() {
    let folder = on_disk();
    let place = directory(folder.path());
    let small = SmallFiles { files: 10, size: Bytes(100), directories: 2, sharing: Sharing::Shared };
    let small = Workload { name: "t".into(), title: "t".into(), kind: Kind::SmallFiles(small) };
    let mut works: Vec<_> = (0..CLIENTS).map(|number| prepare_as(&place, &small, number).unwrap()).collect();
    for (group, left) in [("create", 30), ("read", 30), ("delete", 0)] {
        for (client, work) in works.iter_mut().enumerate() {
            let window = work.phase(&place, group, Part::WHOLE, &mut ());
            let window = window.unwrap_or_else(|error| panic!("{group} of client {client}: {error}"));
            assert_eq!(window.operations, 10, "{group}");
        }
        assert_eq!(count(folder.path()), left, "{group}");
    }
    assert_eq!(std::fs::read_dir(folder.path().join("fairlane-files")).unwrap().count(), 2, "nobody's own directories");
}

#[test]
fn directories_that_belong_to_all_are_made_and_removed_by_none() {
    let folder = on_disk();
    let removes = workload(
        r#"
        files = [{ name = "a", count = 4, populate = true }]
        step = [{ operation = "remove-tree", files = "a" }]"#,
    );
    let said = prepare_as(&directory(folder.path()), &removes, 0).err().unwrap().to_string();
    assert!(said.contains("makes or removes directories that ranks share"), "{said}");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}
