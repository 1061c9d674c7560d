//! Programs that are made by hand, what their syncs promise, and what is found of it.

mod limits;

use super::state::{Id, Promise};
use super::*;
use rand_core::{Rng as _, SeedableRng as _};
use rand_xoshiro::Xoshiro256PlusPlus;
use std::os::unix::fs::FileExt as _;
use trace::code;
use trace::replay::{Thing, ThingKind};

const MAKE: i32 = libc::O_CREAT | libc::O_RDWR;
const FOLDER: i32 = libc::O_RDONLY | libc::O_DIRECTORY;

/// A program of one thread.
struct Program(Replay);

impl Program {
    fn new() -> Program {
        let mut plan = Replay { threads: vec![Vec::new()], descriptors: 64, ..Replay::default() };
        plan.facts.compressed = 0.5;
        Program(plan)
    }

    fn path(&mut self, path: &str) -> u32 {
        let known = self.0.paths.iter().position(|of| of == path.as_bytes());
        known.unwrap_or_else(|| {
            self.0.paths.push(path.as_bytes().to_vec());
            self.0.paths.len() - 1
        }) as u32
    }

    fn there(&mut self, path: &str, kind: ThingKind) {
        let path = self.path(path);
        self.0.tree.push(Thing { path, kind, permissions: 0o755 });
    }

    fn file_there(&mut self, path: &str, bytes: u64) {
        self.there(path, ThingKind::File { bytes, is_opened: true });
    }

    fn call(&mut self, call: u8, paths: &[&str], files: [u32; 2], numbers: [i64; 4], result: i64) {
        let mut of = [0; 2];
        paths.iter().enumerate().for_each(|(at, path)| of[at] = self.path(path));
        let start = self.0.threads[0].len() as u64;
        let step = Step { call, start, result, paths: of, files, numbers, ..Step::default() };
        self.0.threads[0].push(step);
        self.0.facts.operations += 1;
    }

    fn open(&mut self, path: &str, flags: i32) -> u32 {
        let file = self.0.files;
        self.0.files += 1;
        self.call(code::OPENAT, &[path], [file, 0], [i64::from(flags), 0o644, 0, 0], 3);
        file
    }

    fn on(&mut self, call: u8, file: u32, numbers: [i64; 4], result: i64) {
        self.call(call, &[], [file, 0], numbers, result);
    }

    fn write(&mut self, file: u32, bytes: i64) {
        self.on(code::WRITE, file, [bytes, 0, 0, 0], bytes);
    }

    fn pwrite(&mut self, file: u32, bytes: i64, at: i64) {
        self.on(code::PWRITE64, file, [bytes, at, 0, 0], bytes);
    }

    fn sync(&mut self, file: u32) {
        self.on(code::FSYNC, file, [0; 4], 0);
    }

    fn close(&mut self, file: u32) {
        self.on(code::CLOSE, file, [0; 4], 0);
    }

    /// fsync of a folder.
    fn sync_folder(&mut self, path: &str) {
        let folder = self.open(path, FOLDER);
        self.sync(folder);
        self.close(folder);
    }

    fn rename(&mut self, from: &str, to: &str) {
        self.call(code::RENAMEAT2, &[from, to], [0; 2], [0; 4], 0);
    }

    fn unlink(&mut self, path: &str) {
        self.call(code::UNLINKAT, &[path], [0; 2], [0; 4], 0);
    }

    fn work(self) -> TracedWork {
        TracedWork::new(self.0, Arc::default()).unwrap()
    }
}

/// What a path leads to, and whether every name on the way must be as it is.
fn leads(state: &State, path: &str) -> Option<(Option<Id>, bool)> {
    let (mut here, mut promised) = (Some(state::TOP), true);
    for part in path.split('/') {
        let folder = state.folder(here?)?;
        let entry = folder.names.get(part.as_bytes())?;
        promised &= state.is_promised(folder, entry);
        here = entry.leads;
    }
    Some((here, promised))
}

/// What must be there of a file under a name after so many syncs; `None`: the name is not promised.
fn promise(work: &TracedWork, acknowledged: u64, path: &str) -> Option<Promise> {
    let state = work.state_after(acknowledged);
    let (id, promised) = leads(&state, path)?;
    Some(state.promise(state.file(id.filter(|_| promised)?)?))
}

fn sizes(work: &TracedWork, acknowledged: u64, path: &str) -> Option<Option<(u64, u64)>> {
    promise(work, acknowledged, path).map(|promise| promise.sizes)
}

/// The ranges that must be there, with who wrote them: calls by their number.
fn ranges(work: &TracedWork, acknowledged: u64, path: &str) -> Vec<(u64, u64, Option<Origin>)> {
    let promise = promise(work, acknowledged, path).expect("it is promised");
    promise.ranges.iter().map(|(from, until, source)| (*from, *until, source.map(|source| source.origin))).collect()
}

fn must_be_gone(work: &TracedWork, acknowledged: u64, path: &str) -> bool {
    leads(&work.state_after(acknowledged), path) == Some((None, true))
}

const TERMS: Terms = Terms { records: 0, seed: 5, only: None };

/// Does the work in a folder of its own; `seen`: with the folder after each sync.
fn done(work: &TracedWork, mut seen: impl FnMut(&Path, u64)) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    work.prepare(folder.path(), TERMS).unwrap();
    work.run(folder.path(), TERMS, &mut |record| {
        seen(folder.path(), record);
        Ok(())
    })
    .unwrap();
    folder
}

#[test]
fn bytes_are_promised_by_a_sync_of_their_own_file_until_something_changes_them() {
    let mut of = Program::new();
    of.file_there("a", 1000);
    of.file_there("b", 10);
    let (a, b) = (of.open("a", libc::O_RDWR), of.open("b", libc::O_RDWR)); // 1 2
    of.pwrite(a, 100, 200); // 3
    of.sync(b); // 4: record 1
    of.sync(a); // 5: record 2
    of.pwrite(a, 50, 225); // 6
    of.sync(a); // 7: record 3
    of.on(code::FTRUNCATE, a, [210, 0, 0, 0], 0); // 8
    of.pwrite(a, 40, 300); // 9
    of.on(code::FDATASYNC, a, [0; 4], 0); // 10: record 4
    let work = of.work();
    assert_eq!(work.records(), 4);
    let tree = Some(Origin::Tree(0));
    // Another file's sync says nothing of it.
    for acknowledged in [0, 1] {
        assert_eq!(ranges(&work, acknowledged, "a"), [(0, 200, tree), (300, 1000, tree)]);
        assert_eq!(sizes(&work, acknowledged, "a"), Some(Some((1000, 1000))));
    }
    // The write of call 6 may be there or not, and whoever wrote what it covers.
    assert_eq!(
        ranges(&work, 2, "a"),
        [(0, 200, tree), (200, 225, Some(Origin::Call(2))), (275, 300, Some(Origin::Call(2))), (300, 1000, tree)]
    );
    // Truncated and longer again: any size that it had may be there.
    assert_eq!(
        (sizes(&work, 3, "a"), ranges(&work, 3, "a").last()),
        (Some(Some((210, 1000))), Some(&(200, 210, Some(Origin::Call(2)))))
    );
    assert_eq!(sizes(&work, 4, "a"), Some(Some((340, 340))));
    assert_eq!(
        ranges(&work, 4, "a")[1..],
        [(200, 210, Some(Origin::Call(2))), (210, 300, None), (300, 340, Some(Origin::Call(8)))]
    );
}

#[test]
fn a_new_name_is_promised_by_a_sync_of_its_folder_and_of_those_above() {
    let mut of = Program::new();
    of.there("d", ThingKind::Folder);
    of.call(code::MKDIRAT, &["d/new"], [0; 2], [0o755, 0, 0, 0], 0);
    let file = of.open("d/new/x", MAKE);
    of.write(file, 100);
    of.sync(file); // 1
    of.sync_folder("d/new"); // 2
    let folder = of.open("d", FOLDER);
    of.on(code::FDATASYNC, folder, [0; 4], 0); // 3: of names nobody says that it does.
    of.sync(folder); // 4
    let other = of.open("d/new/y", MAKE);
    of.write(other, 7);
    of.sync_folder("d/new"); // 5
    of.on(code::SYNCFS, other, [0; 4], 0); // 6
    let work = of.work();
    assert_eq!((work.records(), work.named_records()), (6, 4), "d was there, and then d/new was safe");
    for acknowledged in [1, 2, 3] {
        assert_eq!(sizes(&work, acknowledged, "d/new/x"), None, "{acknowledged}");
    }
    assert_eq!(sizes(&work, 4, "d/new/x"), Some(Some((100, 100))));
    // Its name is there, and nothing of its bytes.
    assert_eq!((sizes(&work, 4, "d/new/y"), sizes(&work, 5, "d/new/y")), (None, Some(None)));
    assert_eq!(sizes(&work, 6, "d/new/y"), Some(Some((7, 7))));
}

#[test]
fn what_is_renamed_is_promised_at_no_name_until_its_folders_are_synced() {
    let mut of = Program::new();
    of.there("d", ThingKind::Folder);
    of.there("e", ThingKind::Folder);
    of.file_there("d/a", 10);
    of.file_there("d/b", 20);
    of.file_there("e/c", 30);
    let b = of.open("d/b", libc::O_RDONLY);
    of.sync(b); // 1
    of.rename("d/a", "d/b");
    of.sync(b); // 2
    of.sync_folder("d"); // 3
    of.rename("d/b", "e/b");
    of.sync_folder("e"); // 4
    of.sync_folder("d"); // 5
    // A folder above takes its names with it.
    of.rename("e", "f");
    of.sync(b); // 6
    of.sync_folder("."); // 7
    of.sync(b); // 8
    let file = of.open("f/c", libc::O_RDWR);
    of.write(file, 1);
    of.sync(file); // 9
    let work = of.work();
    assert_eq!(sizes(&work, 0, "d/b"), Some(Some((20, 20))));
    for acknowledged in [1, 2] {
        assert_eq!((sizes(&work, acknowledged, "d/a"), sizes(&work, acknowledged, "d/b")), (None, None));
    }
    // Record 3 is followed by the next rename before there is another sync.
    assert!(must_be_gone(&work, 3, "d/a") && sizes(&work, 3, "d/b").is_none() && sizes(&work, 3, "e/b").is_none());
    assert_eq!(sizes(&work, 4, "e/b"), Some(Some((10, 10))));
    assert!(!must_be_gone(&work, 4, "d/b") && must_be_gone(&work, 5, "d/b"));
    assert_eq!((sizes(&work, 5, "e/c"), sizes(&work, 6, "f/c")), (None, None));
    assert_eq!(sizes(&work, 7, "f/c"), Some(Some((30, 30))));
    assert!(must_be_gone(&work, 8, "e"));
}

#[test]
fn removed_names_must_be_gone_unless_they_are_made_again_and_links_are_names_of_one_file() {
    let mut of = Program::new();
    of.file_there("a", 10);
    let a = of.open("a", libc::O_RDWR);
    of.call(code::LINKAT, &["a", "b"], [0; 2], [0; 4], 0);
    of.unlink("a");
    of.pwrite(a, 5, 0);
    of.sync(a); // 1
    of.sync_folder("."); // 2
    of.sync(a); // 3
    let again = of.open("a", MAKE);
    of.sync(again); // 4
    let work = of.work();
    assert!(!must_be_gone(&work, 1, "a") && must_be_gone(&work, 2, "a"));
    assert_eq!(ranges(&work, 2, "b"), [(0, 5, Some(Origin::Call(3))), (5, 10, Some(Origin::Tree(0)))]);
    assert!(!must_be_gone(&work, 3, "a"), "it is being made again");
    assert_eq!(sizes(&work, 4, "a"), None);
}

#[test]
fn writes_that_wait_for_the_disk_promise_what_they_wrote_and_no_more() {
    let mut of = Program::new();
    of.file_there("a", 100);
    let (plain, waits) = (of.open("a", libc::O_RDWR), of.open("a", libc::O_RDWR | libc::O_DSYNC));
    of.pwrite(plain, 10, 0);
    of.pwrite(waits, 20, 90); // 1
    of.pwrite(waits, 5, 200); // 2
    let work = of.work();
    assert_eq!(work.records(), 2);
    // The second write is under way: what lies between the end and it too.
    assert_eq!(ranges(&work, 1, "a"), [(10, 90, Some(Origin::Tree(0))), (90, 110, Some(Origin::Call(3)))]);
    assert_eq!(sizes(&work, 1, "a"), Some(Some((110, 205))));
    assert_eq!(sizes(&work, 2, "a"), Some(Some((205, 205))));
}

#[test]
fn appends_go_to_the_end_wherever_they_say_and_copies_keep_who_wrote_them() {
    let mut of = Program::new();
    of.file_there("a", 10);
    of.file_there("c", 0);
    let a = of.open("a", libc::O_RDWR | libc::O_APPEND); // 1
    of.pwrite(a, 5, 0); // 2
    let c = of.open("c", libc::O_RDWR); // 3
    of.call(code::COPY_FILE_RANGE, &[], [a, c], [12, 3, -1, 0], 12); // 4
    of.write(c, 1); // 5
    of.sync(c); // 6: record 1
    of.sync(a); // 7: record 2
    let work = of.work();
    let (tree, second) = (Some(Origin::Tree(0)), Some(Origin::Call(1)));
    assert_eq!(ranges(&work, 2, "a"), [(0, 10, tree), (10, 15, second)]);
    assert_eq!(ranges(&work, 1, "c"), [(0, 7, tree), (7, 12, second), (12, 13, Some(Origin::Call(4)))]);
    let folder = done(&work, |_, _| {});
    assert_eq!(work.check(folder.path(), TERMS, 2), Found { names: 2, files: 2, bytes: 28, ..Found::default() });
}

#[test]
fn what_a_clone_may_have_changed_is_promised_when_it_is_known_again() {
    let mut of = Program::new();
    of.file_there("a", 50);
    of.file_there("b", 20);
    let (a, b) = (of.open("a", libc::O_RDONLY), of.open("b", libc::O_RDWR));
    of.call(code::FICLONE, &[], [a, b], [0; 4], -i64::from(libc::EOPNOTSUPP));
    of.sync(b); // 1
    of.pwrite(b, 60, 0);
    of.sync(b); // 2
    let work = of.work();
    assert_eq!((sizes(&work, 1, "b"), ranges(&work, 1, "b")), (Some(Some((20, 60))), vec![]));
    assert_eq!(ranges(&work, 2, "b"), [(0, 60, Some(Origin::Call(4)))]);
}

#[test]
fn a_trace_that_makes_nothing_safe_is_refused_with_the_remedy() {
    let mut of = Program::new();
    let file = of.open("a", MAKE);
    of.write(file, 10);
    of.on(code::FSYNC, file, [0; 4], -22);
    let said = TracedWork::new(of.0, Arc::default()).unwrap_err();
    assert!(said.contains("asks for no sync of a file that succeeded") && said.contains("race --replay"), "{said}");
    let mut of = Program::new();
    let file = of.open("a", MAKE);
    of.write(file, 10);
    of.sync(file);
    let said = TracedWork::new(of.0, Arc::default()).unwrap_err();
    assert!(said.contains("after none of its syncs") && said.contains("or not the folders"), "{said}");
}

#[test]
fn the_work_ends_where_there_is_too_much_or_the_trace_contradicts_itself() {
    let mut of = Program::new();
    of.file_there("a", 10);
    let file = of.open("a", libc::O_RDWR);
    (0..crate::durable::MOST_RECORDS + 5).for_each(|_| {
        of.pwrite(file, 1, 0);
        of.sync(file);
    });
    let work = of.work();
    assert_eq!((work.records(), work.calls()), (crate::durable::MOST_RECORDS, 2 * crate::durable::MOST_RECORDS + 2));
    assert!(work.cut_short().is_some_and(|why| why.contains("more than 10000 syncs")));

    let mut of = Program::new();
    of.file_there("a", 10);
    let file = of.open("a", libc::O_RDWR);
    of.pwrite(file, 1, 0);
    of.sync(file);
    of.unlink("b");
    of.sync(file);
    let work = of.work();
    assert_eq!((work.records(), work.calls()), (1, 3));
    assert!(work.cut_short().is_some_and(|why| why.contains("that the trace does not tell")));
}

/// Calls of all kinds on a few names, with syncs among them; what does not fit is left out by who looks at the state.
fn drawn(seed: u64) -> Program {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut of = Program::new();
    let names = ["a", "b", "d/a", "d/b", "d/c"];
    of.there("d", ThingKind::Folder);
    of.file_there("a", 5000);
    of.file_there("d/a", 700);
    let mut there = std::collections::BTreeSet::from(["a", "d/a"]);
    for _ in 0..60 {
        let (one, other) = (names[random.next_u64() as usize % 5], names[random.next_u64() as usize % 5]);
        let (at, bytes) = ((random.next_u64() % 9000) as i64, 1 + (random.next_u64() % 5000) as i64);
        match random.next_u64() % 12 {
            0..=3 => {
                let flags = [MAKE, MAKE | libc::O_APPEND, MAKE | libc::O_TRUNC, MAKE | libc::O_DSYNC];
                let file = of.open(one, flags[random.next_u64() as usize % 4]);
                there.insert(one);
                match random.next_u64() % 4 {
                    0 => of.write(file, bytes),
                    1 => of.pwrite(file, bytes, at),
                    2 => of.on(code::FTRUNCATE, file, [at, 0, 0, 0], 0),
                    _ => of.on(code::FALLOCATE, file, [0, at, bytes, 0], 0),
                }
                if random.next_u64().is_multiple_of(2) {
                    of.sync(file);
                }
                of.close(file);
            }
            4 | 5 if there.contains(one) && one != other => {
                of.rename(one, other);
                there.remove(one);
                there.insert(other);
            }
            6 if there.remove(one) => of.unlink(one),
            7 if there.contains(one) && !there.contains(other) => {
                of.call(code::LINKAT, &[one, other], [0; 2], [0; 4], 0);
                there.insert(other);
            }
            8 => of.sync_folder("."),
            9 => of.sync_folder("d"),
            10 if there.contains(one) => {
                let file = of.open(one, libc::O_RDWR);
                let punch = i64::from(libc::FALLOC_FL_PUNCH_HOLE | libc::FALLOC_FL_KEEP_SIZE);
                of.on(code::FALLOCATE, file, [punch, at, bytes, 0], 0);
                of.close(file);
            }
            11 => of.call(code::SYNC, &[], [0; 2], [0; 4], 0),
            _ => {}
        }
    }
    of.call(code::SYNC, &[], [0; 2], [0; 4], 0);
    of
}

#[test]
fn what_the_kernel_does_is_what_must_be_there() {
    let mut compared = 0;
    for seed in 0..150 {
        // Two links of one file that are renamed onto each other stay both: such programs contradict themselves here.
        let Ok(work) = TracedWork::new(drawn(seed).0, Arc::default()) else { continue };
        done(&work, |folder, record| {
            // Nothing behind this sync is done, and all before it: both ends of what may be there.
            for acknowledged in [record, record - 1] {
                let found = work.check(folder, TERMS, acknowledged);
                assert!(found.is_clean(), "seed {seed}, {acknowledged} at {record}: {found:?}");
                compared += found.bytes;
            }
        });
    }
    assert!(compared > 10 << 20, "{compared}");
}

/// A program whose every file and name is safe at its end, and what is left of it.
fn whole() -> (TracedWork, tempfile::TempDir) {
    let mut of = Program::new();
    of.there("d", ThingKind::Folder);
    of.file_there("old", 300_000);
    of.file_there("d/kept", 5000);
    let kept = of.open("d/kept", libc::O_RDWR);
    of.pwrite(kept, 100, 100);
    of.close(kept);
    let log = of.open("d/log", MAKE);
    of.write(log, 10_000);
    of.sync(log);
    of.pwrite(log, 4096, 4096);
    of.sync(log);
    of.rename("old", "d/moved");
    let gone = of.open("gone", MAKE);
    of.sync(gone);
    of.unlink("gone");
    of.call(code::SYMLINKAT, &["log", "d/link"], [0; 2], [0; 4], 0);
    of.call(code::SYNC, &[], [0; 2], [0; 4], 0);
    let work = of.work();
    let folder = done(&work, |_, _| {});
    (work, folder)
}

#[test]
fn each_thing_that_is_wrong_is_found() {
    type Harm = fn(&Path, &TracedWork);
    type Sorts = fn(&Found) -> [u64; 3];
    let sorts: Sorts = |found| [found.lost, found.torn, found.stale];
    let harms: [(&str, Harm, [u64; 3], &str); 15] = [
        ("nothing", |_, _| {}, [0, 0, 0], ""),
        ("a byte", |top, _| harm(&top.join("d/log"), 9000, &[1]), [0, 1, 0], "from byte 9000 on it holds other bytes"),
        (
            "zeros",
            |top, _| harm(&top.join("d/log"), 4096, &[0; 64]),
            [1, 0, 0],
            "on it holds zeros, not what call 7 wrote",
        ),
        ("the last byte of the tree's file", |top, _| harm(&top.join("d/moved"), 299_999, &[1]), [0, 1, 0], "d/moved"),
        ("an old version", older, [0, 0, 1], "holds what call 5 wrote, not what call 7 wrote"),
        ("what was there before", first, [0, 0, 1], "from byte 100 on it holds what was there before, not what call 2"),
        (
            "a short file",
            |top, _| resize(&top.join("d/log"), 9999),
            [1, 0, 0],
            "has 9999 bytes, and 10000 were made safe",
        ),
        ("a long file", |top, _| resize(&top.join("d/log"), 10_001), [0, 0, 1], "never had more than 10000"),
        ("no file", |top, _| std::fs::remove_file(top.join("d/log")).unwrap(), [1, 0, 0], "d/log is gone"),
        ("no folder", |top, _| std::fs::rename(top.join("d"), top.join("e")).unwrap(), [1, 0, 0], "d is gone"),
        ("no link", |top, _| std::fs::remove_file(top.join("d/link")).unwrap(), [1, 0, 0], "d/link is gone"),
        ("an old name", |top, _| std::fs::write(top.join("old"), "").unwrap(), [0, 0, 1], "old was removed or renamed"),
        ("a removed name", |top, _| std::fs::write(top.join("gone"), "").unwrap(), [0, 0, 1], "gone was removed"),
        ("a pipe", |top, _| in_place(&top.join("d/log"), 0), [1, 0, 0], "it is no regular file"),
        ("a link", |top, _| in_place(&top.join("d/log"), 1), [1, 0, 0], "it is no regular file"),
    ];
    for (what, harm, wanted, says) in harms {
        let (work, folder) = whole();
        harm(folder.path(), &work);
        let found = work.check(folder.path(), TERMS, work.records());
        assert_eq!(sorts(&found), wanted, "{what}: {found:?}");
        assert!(found.first.contains(says), "{what}: {found:?}");
    }
    // Where nothing was promised of it, nothing is wrong with it.
    let (work, folder) = whole();
    std::fs::remove_file(folder.path().join("d/log")).unwrap();
    assert!(work.check(folder.path(), TERMS, 2).is_clean());
}

fn harm(path: &Path, at: u64, bytes: &[u8]) {
    std::fs::File::options().write(true).open(path).unwrap().write_all_at(bytes, at).unwrap();
}

fn resize(path: &Path, bytes: u64) {
    std::fs::File::options().write(true).open(path).unwrap().set_len(bytes).unwrap();
}

/// The bytes of the tree, where the second call wrote others.
fn first(top: &Path, work: &TracedWork) {
    let path = work.plan.paths.iter().position(|path| path == b"d/kept").unwrap();
    let mut bytes = vec![0; 100];
    work.content(TERMS).fill(Source { origin: Origin::Tree(path as u32), at: 100 }, &mut bytes);
    harm(&top.join("d/kept"), 100, &bytes);
}

/// The bytes that the fifth call wrote, where the seventh wrote others.
fn older(top: &Path, work: &TracedWork) {
    let mut bytes = vec![0; 4096];
    work.content(TERMS).fill(Source { origin: Origin::Call(4), at: 4096 }, &mut bytes);
    harm(&top.join("d/log"), 4096, &bytes);
}

/// A pipe, or a link to a file with the right bytes outside.
fn in_place(path: &Path, kind: u8) {
    let kept = path.with_extension("kept");
    std::fs::rename(path, &kept).unwrap();
    match kind {
        0 => {
            let (pipe, mode) = (rustix::fs::FileType::Fifo, rustix::fs::Mode::RWXU);
            rustix::fs::mknodat(rustix::fs::CWD, path, pipe, mode, 0).unwrap();
        }
        _ => std::os::unix::fs::symlink(&kept, path).unwrap(),
    }
}

#[test]
fn a_lane_that_answers_otherwise_fails_where_something_hangs_on_it() {
    let mut of = Program::new();
    of.file_there("a", 10);
    let file = of.open("a", libc::O_RDWR);
    of.pwrite(file, 5, 0);
    of.sync(file);
    // The program was refused, and here it is made.
    of.call(code::MKDIRAT, &["d"], [0; 2], [0o755, 0, 0, 0], -i64::from(libc::EEXIST));
    let work = of.work();
    let folder = tempfile::tempdir().unwrap();
    work.prepare(folder.path(), TERMS).unwrap();
    let said = work.run(folder.path(), TERMS, &mut |_| Ok(())).unwrap_err().to_string();
    assert!(said.contains("mkdirat no error where the program got EEXIST") && said.contains("call 4"), "{said}");

    // Looks alone: one of a few is more than 1 %, one of many is not.
    for (looks, is_refused) in [(1, true), (200, false)] {
        let mut of = Program::new();
        of.file_there("a", 10);
        let file = of.open("a", libc::O_RDWR);
        of.pwrite(file, 5, 0);
        of.call(code::NEWFSTATAT, &["a"], [0; 2], [0; 4], -2);
        (0..looks).for_each(|_| of.call(code::NEWFSTATAT, &["a"], [0; 2], [0; 4], 0));
        of.sync(file);
        let work = of.work();
        let folder = tempfile::tempdir().unwrap();
        work.prepare(folder.path(), TERMS).unwrap();
        let ran = work.run(folder.path(), TERMS, &mut |_| Ok(()));
        assert_eq!(ran.is_err(), is_refused, "{ran:?}");
        assert!(ran.err().is_none_or(|error| error.to_string().contains("more than 1 %")));
    }
}

#[test]
fn the_work_stays_in_its_folder_and_ends_when_an_acknowledgement_is_not_taken() {
    let outside = tempfile::tempdir().unwrap();
    std::fs::write(outside.path().join("secret"), "secret").unwrap();
    let mut of = Program::new();
    let text = of.path(outside.path().to_str().unwrap());
    of.there("out", ThingKind::Link(text));
    of.file_there("a", 10);
    let a = of.open("a", libc::O_RDWR);
    of.pwrite(a, 3, 0);
    of.sync(a);
    // Below the folder there is no such file.
    of.call(code::OPENAT, &["out/secret"], [trace::NOT_FOLLOWED, 0], [i64::from(libc::O_RDWR), 0, 0, 0], -2);
    of.sync(a);
    let work = of.work();
    let folder = done(&work, |_, _| {});
    assert_eq!(std::fs::read(outside.path().join("secret")).unwrap(), b"secret");
    assert!(work.check(folder.path(), TERMS, 2).is_clean());
    let folder = tempfile::tempdir().unwrap();
    work.prepare(folder.path(), TERMS).unwrap();
    let mut taken = 0;
    let ran = work.run(folder.path(), TERMS, &mut |record| {
        taken = record;
        Err(std::io::ErrorKind::Interrupted.into())
    });
    assert_eq!((ran.map_err(|error| error.kind()), taken), (Err(std::io::ErrorKind::Interrupted), 1));
}
