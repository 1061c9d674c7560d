//! Traces that are made by hand, and what becomes of them.

mod hostile;
mod thinking;

use super::*;
use crate::calls::code;
use crate::{Before, Item, Operation, VERSION, Writer};

/// A trace under way: each call takes 10 ns and begins 100 ns after the one before.
struct Made {
    items: Vec<Item>,
    paths: Vec<String>,
    time: u64,
    next: Option<(u64, u64)>,
}

impl Made {
    fn new(threads: u32) -> Made {
        let mut items =
            vec![Item::Header(Header { version: VERSION, command: vec!["prog".to_owned()], ..Header::default() })];
        items.extend((0..threads).map(|thread| Item::Thread {
            process: 1,
            thread: 1 + thread,
            parent: if thread == 0 { u32::MAX } else { 0 },
        }));
        Made { items, paths: Vec::new(), time: 0, next: None }
    }

    fn path(&mut self, path: &str) -> u32 {
        if let Some(at) = self.paths.iter().position(|of| of == path) {
            return at as u32;
        }
        self.items.push(Item::Path(path.as_bytes().to_vec()));
        self.paths.push(path.to_owned());
        self.paths.len() as u32 - 1
    }

    fn before(&mut self, path: &str, mode: u32, bytes: u64) {
        let path = self.path(path);
        self.items.push(Item::Before(Before { path, mode, bytes }));
    }

    fn call(&mut self, thread: u32, call: u8, paths: &[&str], files: [u32; 2], numbers: [i64; 4], result: i64) {
        let mut of = [0; 2];
        paths.iter().enumerate().for_each(|(at, path)| of[at] = self.path(path));
        let (after, nanoseconds) = self.next.take().unwrap_or((100, 10));
        self.time += after;
        let operation = Operation { call, thread, start: self.time, nanoseconds, result, paths: of, files, numbers };
        self.items.push(Item::Operation(operation));
    }

    fn open(&mut self, thread: u32, path: &str, flags: i32, file: u32) {
        self.call(thread, code::OPENAT, &[path], [file, 0], [i64::from(flags), 0o644, 0, 0], 3);
    }

    fn on(&mut self, thread: u32, call: u8, file: u32, numbers: [i64; 4], result: i64) {
        self.call(thread, call, &[], [file, 0], numbers, result);
    }

    fn read(&self) -> Result<Replay, ReplayError> {
        self.read_within(1 << 30)
    }

    fn read_within(&self, memory_bytes: u64) -> Result<Replay, ReplayError> {
        let mut bytes = Vec::new();
        let mut writer = Writer::begin(&mut bytes).unwrap();
        self.items.iter().for_each(|item| writer.add(item).unwrap());
        writer.flush().unwrap();
        let limits = Limits { memory_bytes, goes_on: &|| true };
        read(&bytes[..], &bytes[..], &limits)
    }

    /// The next call begins so much after the last one began, and takes so long.
    fn timed(&mut self, after: u64, takes: u64) {
        self.next = Some((after, takes));
    }
}

const MAKE: i32 = libc::O_CREAT | libc::O_WRONLY;
const FILE: u32 = 0o100_644;
const FOLDER: u32 = 0o040_755;

/// What a step waits for, as (thread, steps).
fn waits(of: &Replay, thread: usize, step: usize) -> Vec<(u32, u32)> {
    let (first, count) = of.threads[thread][step].waits;
    of.waits[first as usize..][..usize::from(count)].iter().map(|wait| (wait.thread, wait.steps)).collect()
}

fn tree(of: &Replay) -> Vec<(String, ThingKind)> {
    let name = |thing: &Thing| String::from_utf8(of.paths[thing.path as usize].clone()).unwrap();
    of.tree.iter().map(|thing| (name(thing), thing.kind)).collect()
}

#[test]
fn who_opens_a_file_that_another_made_waits_for_it_and_others_do_not() {
    let mut made = Made::new(3);
    made.before("/d/x", 0, 0);
    made.open(0, "/d/x", MAKE, 0);
    made.on(0, code::WRITE, 0, [10, 0, 0, 0], 10);
    // Both threads are there to the end.
    made.open(1, "/d/x", libc::O_RDONLY, 1);
    made.on(1, code::READ, 1, [10, 0, 0, 0], 10);
    made.before("/other", FILE, 5);
    made.open(2, "/other", libc::O_RDONLY, 2);
    made.on(0, code::CLOSE, 0, [0; 4], 0);
    made.on(1, code::CLOSE, 1, [0; 4], 0);
    let of = made.read().unwrap();
    assert_eq!(of.threads.iter().map(Vec::len).collect::<Vec<_>>(), [3, 3, 1]);
    assert_eq!((waits(&of, 1, 0), waits(&of, 1, 1)), (vec![(0, 1)], vec![(0, 2)]));
    assert_eq!(waits(&of, 2, 0), []);
    assert!(of.threads[0][1].is_awaited && !of.threads[0][2].is_awaited);
    // It is never closed by the program: it is closed behind its last call.
    assert_eq!((of.threads[2][0].closes, of.threads[1][2].closes), ([true, false], [false, false]));
}

#[test]
fn who_is_begun_follows_what_was_done_by_then() {
    let mut made = Made::new(1);
    let look = |made: &mut Made, thread| made.call(thread, code::NEWFSTATAT, &["/x"], [0; 2], [0; 4], 0);
    made.before("/x", FILE, 1);
    (0..2).for_each(|_| look(&mut made, 0));
    // The one between does nothing.
    made.items.push(Item::Thread { process: 2, thread: 2, parent: 0 });
    made.items.push(Item::Thread { process: 3, thread: 3, parent: 1 });
    look(&mut made, 0);
    look(&mut made, 2);
    look(&mut made, 0);
    let of = made.read().unwrap();
    assert_eq!((of.threads.len(), waits(&of, 1, 0)), (2, vec![(0, 2)]));
}

#[test]
fn what_is_removed_has_its_contents_and_what_is_only_looked_at_has_none() {
    let mut made = Made::new(1);
    for name in ["/removed", "/replaced", "/moved", "/seen"] {
        made.before(name, FILE, 5000);
    }
    made.call(0, code::NEWFSTATAT, &["/seen"], [0; 2], [0; 4], 0);
    made.call(0, code::UNLINKAT, &["/removed"], [0; 2], [0; 4], 0);
    made.call(0, code::RENAMEAT2, &["/moved", "/replaced"], [0; 2], [0; 4], 0);
    let of = made.read().unwrap();
    let has = |name: &str| {
        let thing = of.tree.iter().find(|thing| of.paths[thing.path as usize] == name.as_bytes()).expect(name);
        matches!(thing.kind, ThingKind::File { bytes: 5000, is_opened: true })
    };
    assert_eq!(["removed", "replaced", "moved", "seen"].map(has), [true, true, false, false]);
    assert_eq!(of.facts.tree_bytes, 10_000);
}

#[test]
fn a_file_is_removed_when_all_who_use_its_name_have_done_so_and_a_folder_after_what_lay_in_it() {
    let mut made = Made::new(2);
    made.before("/d/x", FILE, 5);
    made.call(1, code::NEWFSTATAT, &["/d/x"], [0; 2], [0; 4], 0);
    made.call(0, code::UNLINKAT, &["/d/x"], [0; 2], [0; 4], 0);
    made.call(1, code::NEWFSTATAT, &["/d/x"], [0; 2], [0; 4], -i64::from(libc::ENOENT));
    made.call(0, code::UNLINKAT, &["/d"], [0; 2], [i64::from(libc::AT_REMOVEDIR), 0, 0, 0], 0);
    made.call(1, code::NEWFSTATAT, &["/elsewhere"], [0; 2], [0; 4], -i64::from(libc::ENOENT));
    let of = made.read().unwrap();
    let (zero, one) = (of.threads.iter().position(|steps| steps.len() == 2).unwrap(), 0);
    assert_ne!(zero, one);
    assert_eq!(waits(&of, zero, 0), [(0, 1)], "the first look comes before");
    assert_eq!(waits(&of, one, 1), [(zero as u32, 1)], "the second behind");
    assert_eq!(waits(&of, zero, 1), [(0, 2)], "the folder goes last");
}

#[test]
fn calls_on_a_position_keep_their_order_and_those_at_offsets_do_not() {
    let mut made = Made::new(2);
    made.before("/x", FILE, 1 << 20);
    made.open(0, "/x", libc::O_RDWR, 0);
    made.on(1, code::PREAD64, 0, [10, 0, 0, 0], 10);
    made.on(0, code::PREAD64, 0, [10, 0, 0, 0], 10);
    made.on(0, code::PWRITE64, 0, [10, 4096, 0, 0], 10);
    made.on(1, code::PREAD64, 0, [10, 4096, 0, 0], 10);
    made.on(1, code::READ, 0, [10, 0, 0, 0], 10);
    made.on(0, code::READ, 0, [10, 0, 0, 0], 10);
    made.on(1, code::CLOSE, 0, [0; 4], 0);
    let of = made.read().unwrap();
    assert_eq!(waits(&of, 1, 0), [(0, 1)], "for the open");
    assert_eq!((waits(&of, 0, 1), waits(&of, 0, 2), waits(&of, 1, 1)), (vec![], vec![], vec![]));
    assert_eq!(waits(&of, 1, 2), [(0, 3)], "a read at the position waits for all on that file");
    assert_eq!(waits(&of, 0, 3), [(1, 3)]);
    assert_eq!(waits(&of, 1, 3), [(0, 4)], "the close comes last");
}

#[test]
fn who_reads_behind_the_end_waits_for_who_moves_it() {
    let mut made = Made::new(2);
    made.before("/x", FILE, 0);
    made.open(0, "/x", libc::O_WRONLY, 0);
    made.open(1, "/x", libc::O_RDONLY, 1);
    made.on(0, code::PWRITE64, 0, [10, 0, 0, 0], 10);
    made.on(1, code::PREAD64, 1, [10, 0, 0, 0], 10);
    made.on(1, code::FSYNC, 1, [0; 4], 0);
    made.on(0, code::FTRUNCATE, 0, [0; 4], 0);
    let of = made.read().unwrap();
    assert_eq!(waits(&of, 1, 1), [(0, 2)]);
    assert_eq!(waits(&of, 0, 2), [(1, 2)], "the fsync holds nobody up, the read does");
}

#[test]
fn threads_that_follow_each_other_share_one_and_dups_close_once() {
    let mut made = Made::new(3);
    made.before("/x", FILE, 5);
    made.open(0, "/x", libc::O_RDONLY, 0);
    made.on(1, code::READ, 0, [5, 0, 0, 0], 5);
    made.on(1, code::DUP, 0, [0; 4], 7);
    made.on(1, code::CLOSE, 0, [0; 4], 0);
    made.on(2, code::READ, 0, [5, 0, 0, 0], 0);
    made.on(0, code::CLOSE, 0, [0; 4], 0);
    let of = made.read().unwrap();
    assert_eq!((of.facts.threads, of.facts.operations), (2, 4));
    assert_eq!(of.threads.iter().map(Vec::len).collect::<Vec<_>>(), [2, 2]);
    assert!(of.facts.left_out.is_empty(), "{:?}", of.facts.left_out);
}

#[test]
fn what_has_to_be_there_is_what_was_there_before_the_program_moved_it() {
    let mut made = Made::new(1);
    made.before("/a", FOLDER, 0);
    made.before("/b", 0, 0);
    made.call(0, code::RENAMEAT2, &["/a", "/b"], [0; 2], [0; 4], 0);
    made.before("/b/x", FILE, 7);
    made.open(0, "/b/x", libc::O_RDONLY, 0);
    made.before("/new", 0, 0);
    made.call(0, code::MKDIRAT, &["/new"], [0; 2], [0o755, 0, 0, 0], 0);
    made.before("/new/y", 0, 0);
    made.open(0, "/new/y", MAKE, 1);
    // Somebody else made it meanwhile: it was not there at the begin.
    made.before("/new/z", FILE, 9);
    made.before("/seen", FILE, 1 << 40);
    made.call(0, code::NEWFSTATAT, &["/seen"], [0; 2], [0; 4], 0);
    made.open(0, "/unnamed/folder/made", MAKE, 2);
    let of = made.read().unwrap();
    let file = |bytes, is_opened| ThingKind::File { bytes, is_opened };
    let expected = [
        ("a", ThingKind::Folder),
        ("a/x", file(7, true)),
        ("seen", file(1 << 40, false)),
        ("unnamed", ThingKind::Folder),
        ("unnamed/folder", ThingKind::Folder),
    ];
    assert_eq!(tree(&of), expected.map(|(name, kind)| (name.to_owned(), kind)));
    assert_eq!((of.facts.tree_entries, of.facts.tree_bytes), (5, 7));
}

#[test]
fn links_say_what_they_said_and_what_lies_behind_them_lies_where_they_lead() {
    let mut made = Made::new(2);
    let [up, usr] = ["../etc/y", "usr/lib"].map(|text| made.path(text));
    made.before("/d/link", 0o120_777, u64::from(up) + 1);
    made.before("/lib/x", FILE, 3);
    made.open(0, "/lib/x", libc::O_RDONLY, 0);
    made.before("/lib", 0o120_777, u64::from(usr) + 1);
    made.call(0, code::READLINKAT, &["/lib"], [0; 2], [0; 4], 7);
    made.call(0, code::SYMLINKAT, &["/text", "/d/made"], [0; 2], [0; 4], 0);
    // One makes what the other finds through the link.
    made.before("/usr/lib/new", 0, 0);
    made.open(0, "/usr/lib/new", MAKE, 1);
    made.open(1, "/lib/new", libc::O_RDONLY, 2);
    made.on(0, code::CLOSE, 1, [0; 4], 0);
    let of = made.read().unwrap();
    let found = tree(&of);
    let names: Vec<&str> = found.iter().map(|(name, _)| &**name).collect();
    assert_eq!(names, ["d", "d/link", "lib", "usr", "usr/lib", "usr/lib/x"]);
    let ThingKind::Link(text) = found[1].1 else { panic!("{found:?}") };
    assert_eq!(&of.paths[text as usize][..], b"../etc/y");
    assert!(matches!(found[2].1, ThingKind::Link(_)));
    assert_eq!(found[5].1, ThingKind::File { bytes: 3, is_opened: true });
    assert_eq!(of.paths[of.threads[0][2].paths[0] as usize], b"/text");
    assert_eq!(waits(&of, 1, 0), [(0, 4)]);
}

#[test]
fn what_is_made_through_a_link_is_found_under_its_own_name() {
    let mut made = Made::new(2);
    let text = made.path("real");
    made.before("/link", 0o120_777, u64::from(text) + 1);
    made.before("/link/x", 0, 0);
    made.open(0, "/link/x", MAKE, 0);
    made.before("/real/x", FILE, 1 << 30);
    made.open(1, "/real/x", libc::O_RDONLY, 1);
    made.on(0, code::CLOSE, 0, [0; 4], 0);
    let of = made.read().unwrap();
    assert_eq!(waits(&of, 1, 0), [(0, 1)]);
    assert_eq!(tree(&of).iter().map(|(name, _)| &**name).collect::<Vec<_>>(), ["link", "real"]);
    assert!(of.facts.most_bytes < 1 << 20);
}

#[test]
fn what_found_a_file_comes_before_its_removal_and_behind_its_making() {
    let mut made = Made::new(2);
    made.before("/lock", 0, 0);
    let exclusive = i64::from(MAKE | libc::O_EXCL);
    let stat = |made: &mut Made, result| made.call(1, code::NEWFSTATAT, &["/lock"], [0; 2], [0; 4], result);
    stat(&mut made, -2);
    made.call(0, code::OPENAT, &["/lock"], [0, 0], [exclusive, 0o644, 0, 0], 3);
    made.timed(100, 50);
    made.call(0, code::UNLINKAT, &["/lock"], [0; 2], [0; 4], 0);
    // It began while that was under way, and found it.
    made.timed(10, 60);
    stat(&mut made, 0);
    made.call(0, code::CLOSE, &[], [0, 0], [0; 4], 0);
    made.timed(100, 50);
    made.call(0, code::OPENAT, &["/lock"], [1, 0], [exclusive, 0o644, 0, 0], 3);
    // And this one had not found it yet.
    made.timed(10, 60);
    stat(&mut made, -2);
    made.on(0, code::CLOSE, 1, [0; 4], 0);
    let of = made.read().unwrap();
    let one = of.threads.iter().position(|steps| steps.len() == 3).unwrap();
    let zero = 1 - one;
    let (one_number, zero_number) = (one as u32, zero as u32);
    assert_eq!(waits(&of, zero, 0), [(one_number, 1)]);
    assert_eq!(waits(&of, one, 1), [(zero_number, 1)], "behind its making");
    assert_eq!(waits(&of, zero, 1), [(one_number, 2)], "the removal comes last");
    assert!(waits(&of, zero, 3).contains(&(one_number, 3)), "and is made again when it was missed");
}

#[test]
fn what_lay_there_is_told_once_and_a_copy_within_a_file_ends_with_it() {
    let mut made = Made::new(1);
    made.before("/x", FILE, 1);
    let path = made.path("/x");
    (0..20_000).for_each(|_| made.items.push(Item::Before(Before { path, mode: FILE, bytes: 1 })));
    made.open(0, "/x", libc::O_RDONLY, 0);
    assert_eq!(made.read().unwrap().tree.len(), 1);
    // A file that is used up by a copy within itself.
    let mut made = Made::new(1);
    made.before("/x", FILE, 100);
    made.open(0, "/x", libc::O_RDWR, 0);
    made.call(0, code::COPY_FILE_RANGE, &[], [0, 0], [10, 0, 50, 0], 10);
    let of = made.read().unwrap();
    assert_eq!((of.threads[0][1].files, of.threads[0][1].closes), ([0, 0], [true, true]));
}

#[test]
fn an_open_that_failed_is_no_use_of_any_file() {
    let mut made = Made::new(1);
    made.before("/x", FILE, 5);
    made.open(0, "/x", libc::O_RDONLY, 0);
    made.on(0, code::CLOSE, 0, [0; 4], 0);
    made.call(0, code::OPENAT, &["/missing"], [0; 2], [0; 4], -2);
    let of = made.read().unwrap();
    assert_eq!(
        of.threads[0].iter().map(|step| (step.call, step.files[0])).collect::<Vec<_>>(),
        [(code::OPENAT, 0), (code::CLOSE, 0), (code::OPENAT, crate::NOT_FOLLOWED)]
    );
    assert_eq!(of.threads[0][2].closes, [false; 2]);
}

#[test]
fn a_copy_closes_the_file_that_is_done_with_and_no_other() {
    let mut made = Made::new(1);
    made.before("/a", FILE, 100);
    made.before("/b", 0, 0);
    made.open(0, "/a", libc::O_RDONLY, 0);
    made.open(0, "/b", MAKE, 1);
    made.call(0, code::COPY_FILE_RANGE, &[], [0, 1], [1 << 20, -1, 0, 0], 100);
    made.on(0, code::CLOSE, 1, [0; 4], 0);
    let of = made.read().unwrap();
    assert_eq!((of.threads[0][2].closes, of.threads[0][3].closes), ([true, false], [false; 2]));
    assert_eq!((of.descriptors, of.moved_bytes, of.facts.most_bytes), (2, 100, 200 + 8192));
}

#[test]
fn what_calls_may_take_is_counted_whatever_the_trace_says_they_took() {
    let enospc = -i64::from(libc::ENOSPC);
    let einval = -i64::from(libc::EINVAL);
    let room = |calls: &dyn Fn(&mut Made)| {
        let mut made = Made::new(1);
        made.before("/x", 0, 0);
        made.open(0, "/x", MAKE, 0);
        calls(&mut made);
        made.on(0, code::FSYNC, 0, [0; 4], 0);
        made.read().unwrap().facts
    };
    let full = room(&|made| made.on(0, code::PWRITE64, 0, [1 << 30, 0, 0, 0], enospc));
    assert_eq!((full.most_bytes, full.left_out["pwrite64"]), (8192, 1));
    assert_eq!(room(&|made| made.on(0, code::PWRITE64, 0, [1 << 30, 0, 0, 0], einval)).most_bytes, (1 << 20) + 8192);
    assert_eq!(room(&|made| made.on(0, code::FALLOCATE, 0, [0, 0, 1 << 40, 0], einval)).most_bytes, (1 << 40) + 8192);
    let holes = room(&|made| {
        made.on(0, code::PWRITE64, 0, [10, 1 << 40, 0, 0], 10);
        (0..3).for_each(|at| made.on(0, code::PWRITE64, 0, [1000, at * 1000, 0, 0], 1000));
    });
    assert_eq!(holes.most_bytes, 3010 + 8192);
    // Emptied by who may not write, and renamed onto itself: it keeps its place.
    let kept = room(&|made| {
        made.on(0, code::WRITE, 0, [1000, 0, 0, 0], 1000);
        made.open(0, "/x", libc::O_RDONLY, 1);
        made.on(0, code::FTRUNCATE, 1, [0; 4], 0);
        made.call(0, code::RENAMEAT2, &["/x", "/x"], [0; 2], [0; 4], 0);
        made.call(0, code::UNLINKAT, &["/x"], [0; 2], [0; 4], 0);
        made.before("/y", 0, 0);
        made.open(0, "/y", MAKE, 2);
        made.on(0, code::WRITE, 2, [500, 0, 0, 0], 500);
    });
    assert_eq!(kept.most_bytes, 1500 + 2 * 8192, "the first is open to the end");
}

#[test]
fn what_is_refused_or_found_is_done_behind_what_made_it_so() {
    let mut made = Made::new(2);
    made.before("/d", FOLDER, 0);
    made.before("/d/x", 0, 0);
    made.open(0, "/d/x", MAKE, 0);
    made.call(
        1,
        code::UNLINKAT,
        &["/d"],
        [0; 2],
        [i64::from(libc::AT_REMOVEDIR), 0, 0, 0],
        -i64::from(libc::ENOTEMPTY),
    );
    made.before("/lock", 0, 0);
    let exclusive = i64::from(MAKE | libc::O_EXCL);
    // The second began later and failed, and its end was seen first.
    made.timed(100, 20);
    made.call(
        1,
        code::OPENAT,
        &["/lock"],
        [crate::NOT_FOLLOWED, 0],
        [exclusive, 0o644, 0, 0],
        -i64::from(libc::EEXIST),
    );
    made.timed(0, 40);
    made.call(0, code::OPENAT, &["/lock"], [1, 0], [exclusive, 0o644, 0, 0], 3);
    made.call(1, code::NEWFSTATAT, &["/lock"], [0; 2], [0; 4], 0);
    let of = made.read().unwrap();
    assert_eq!((waits(&of, 1, 0), waits(&of, 1, 1), waits(&of, 0, 1)), (vec![(0, 1)], vec![(0, 2)], vec![]));
    assert!(of.threads[0][1].is_awaited);
}

#[test]
fn files_move_with_their_folder_and_appends_at_the_same_time_are_both_waited_for() {
    let mut made = Made::new(4);
    made.before("/tmp", FOLDER, 0);
    made.before("/tmp/x", 0, 0);
    made.open(0, "/tmp/x", MAKE, 0);
    made.before("/log", FILE, 0);
    for file in 1..3 {
        made.open(file, "/log", libc::O_WRONLY | libc::O_APPEND, file);
    }
    made.call(3, code::RENAMEAT2, &["/tmp", "/out"], [0; 2], [0; 4], 0);
    made.on(0, code::WRITE, 0, [10, 0, 0, 0], 10);
    made.on(1, code::WRITE, 1, [5, 0, 0, 0], 5);
    made.timed(5, 10);
    made.on(2, code::WRITE, 2, [5, 0, 0, 0], 5);
    made.open(3, "/out/x", libc::O_RDONLY, 4);
    made.on(3, code::READ, 4, [10, 0, 0, 0], 10);
    made.open(3, "/log", libc::O_RDONLY, 5);
    made.on(3, code::READ, 5, [10, 0, 0, 0], 10);
    (0..3).for_each(|file| made.on(file, code::CLOSE, file, [0; 4], 0));
    let of = made.read().unwrap();
    assert_eq!(waits(&of, 3, 2), [(0, 2)], "the file is the one that was written under its folder's old name");
    assert_eq!(waits(&of, 3, 4), [(1, 2), (2, 2)]);
}

#[test]
fn more_than_memory_holds_is_refused_while_it_is_read() {
    let mut made = Made::new(1);
    for number in 0..9 {
        made.call(0, code::NEWFSTATAT, &[&format!("/{number}{}", "/x".repeat(130))], [0; 2], [0; 4], -2);
    }
    // Deeper than any program's: left out.
    assert!(matches!(made.read(), Err(ReplayError::Nothing)));
    let mut bytes = Vec::new();
    let mut writer = Writer::begin(&mut bytes).unwrap();
    made.before("/x", FILE, 1);
    (0..100).for_each(|_| made.call(0, code::NEWFSTATAT, &["/x"], [0; 2], [0; 4], 0));
    made.items.iter().for_each(|item| writer.add(item).unwrap());
    writer.flush().unwrap();
    let read = |memory_bytes, goes_on: &dyn Fn() -> bool| {
        super::read(&bytes[..], &bytes[..], &Limits { memory_bytes, goes_on }).unwrap_err().to_string()
    };
    assert!(read(4096, &|| true).contains("4KiB of memory"), "{}", read(4096, &|| true));
    assert_eq!(read(1 << 30, &|| false), "interrupted");
}

#[test]
fn what_hangs_on_who_asked_is_left_out_and_counted() {
    let mut made = Made::new(1);
    made.before("/pipe", 0o010_644, 0);
    made.before("/x", FILE, 1);
    made.open(0, "/pipe", libc::O_RDONLY, 9);
    made.on(0, code::READ, 9, [5, 0, 0, 0], 5);
    made.open(0, "/x", libc::O_RDONLY, 0);
    made.call(0, code::FACCESSAT, &["/x"], [0; 2], [2, 0, 0, 0], -i64::from(libc::EACCES));
    made.call(0, code::MSYNC, &[], [0; 2], [0; 4], 0);
    made.on(0, code::FSYNC, 77, [0; 4], 0);
    let of = made.read().unwrap();
    assert_eq!(of.facts.operations, 1);
    let left_out = [("faccessat", 1), ("fsync", 1), ("msync", 1), ("openat", 1), ("read", 1)];
    assert_eq!(of.facts.left_out, left_out.map(|(name, count)| (name.to_owned(), count)).into());
}

#[test]
fn a_program_that_never_touches_a_file_cannot_be_done_again_and_too_much_is_refused() {
    assert!(matches!(Made::new(2).read(), Err(ReplayError::Nothing)));
    let mut made = Made::new(MOST_THREADS as u32 + 1);
    for _ in 0..2 {
        (0..=MOST_THREADS as u32).for_each(|thread| made.call(thread, code::NEWFSTATAT, &["/"], [0; 2], [0; 4], 0));
    }
    let said = made.read().unwrap_err().to_string();
    assert!(said.contains("1025 threads at the same time, and 1024 are the most"), "{said}");
}

#[test]
fn the_room_is_what_lies_there_at_once() {
    let mut made = Made::new(1);
    for number in 0..3 {
        let path = format!("/tmp/{number}");
        made.before(&path, 0, 0);
        made.open(0, &path, MAKE, number);
        made.on(0, code::WRITE, number, [1000, 0, 0, 0], 1000);
        made.on(0, code::PWRITE64, number, [10, 1 << 40, 0, 0], 10);
        made.on(0, code::CLOSE, number, [0; 4], 0);
        made.call(0, code::UNLINKAT, &[&path], [0; 2], [0; 4], 0);
    }
    let of = made.read().unwrap();
    assert_eq!((of.facts.most_bytes, of.facts.written_bytes), (1010 + 8192, 3030));
    assert_eq!(
        (of.facts.kinds, of.facts.name_changes),
        (vec!["open", "close", "write", "names"].into_iter().map(str::to_owned).collect::<Vec<_>>(), 6)
    );
}

mod any {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Whatever a trace says, each step waits for steps that are there and that do not wait for it.
        #[test]
        fn no_trace_makes_steps_that_wait_for_each_other(
            calls in proptest::collection::vec((0..4u32, 0..50u8, 0..4u32, 0..6usize, 0..6usize, -3..3i64, any::<i64>()), 1..80)
        ) {
            const PATHS: [&str; 6] = ["/a", "/a/b", "/a/b/c", "/../../etc/x", "/", "rel/ative"];
            let mut made = Made::new(4);
            for (thread, call, file, first, second, result, number) in calls {
                let paths = [PATHS[first], PATHS[second]];
                if first < 3 { made.before(PATHS[first], [0, FILE, FOLDER, 0o120_777][thread as usize], number as u64); }
                made.call(thread, call, &paths, [file, file ^ 1], [number, number >> 3, 0, 0], result);
            }
            let Ok(of) = made.read() else { return Ok(()) };
            let mut done = vec![0u32; of.threads.len()];
            let mut left: usize = of.threads.iter().map(Vec::len).sum();
            while left > 0 {
                let before = left;
                for thread in 0..of.threads.len() {
                    while let Some(step) = of.threads[thread].get(done[thread] as usize) {
                        prop_assert!(step.paths.iter().all(|&path| (path as usize) < of.paths.len()));
                        let ready = waits(&of, thread, done[thread] as usize);
                        if !ready.iter().all(|&(other, steps)| done[other as usize] >= steps) { break; }
                        done[thread] += 1;
                        left -= 1;
                    }
                }
                prop_assert!(left < before, "nobody can go on");
            }
            for path in &of.paths {
                prop_assert!(!path.contains(&0));
            }
        }
    }
}
