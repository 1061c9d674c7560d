//! What ends the work, or is not followed, whatever a trace says.

use super::super::follow::MOST_WRITTEN_BYTES;
use super::super::state::{File, Folder};
use super::*;

/// A program that writes into one file, once a sync.
fn writes(count: usize) -> Program {
    let mut of = Program::new();
    of.file_there("a", 10);
    let file = of.open("a", libc::O_RDWR);
    (0..count).for_each(|_| {
        of.pwrite(file, 5, 0);
        of.sync(file);
    });
    of
}

#[test]
fn a_flag_that_is_set_ends_what_is_followed_and_what_is_done_at_once() {
    let set = || Arc::new(AtomicBool::new(true));
    assert!(follow(&writes(3).0, &set()).is_none());
    assert_eq!(TracedWork::new(writes(3).0, set()).unwrap_err(), INTERRUPTED);

    let work = writes(3).work();
    let folder = tempfile::tempdir().unwrap();
    work.prepare(folder.path(), TERMS).unwrap();
    // It is set while the first record is acknowledged, and whoever acknowledges says nothing of it: no call follows.
    let mut taken = 0;
    let ran = work.run(folder.path(), TERMS, &mut |record| {
        taken = record;
        work.stop.store(true, Ordering::Relaxed);
        Ok(())
    });
    assert_eq!((ran.map_err(|error| error.kind()), taken), (Err(ErrorKind::Interrupted), 1));
    assert_eq!(work.promises_something(MOST_LOOKS), Promised::Stopped);

    let empty = tempfile::tempdir().unwrap();
    let made = work.prepare(empty.path(), TERMS);
    assert_eq!(made.map_err(|error| error.kind()), Err(ErrorKind::Interrupted));
    assert!(std::fs::read_dir(empty.path()).unwrap().next().is_none());
}

#[test]
fn the_files_before_and_what_is_written_have_one_limit() {
    // The last write fits to the byte, and is too much by one.
    for (more, calls) in [(0, 5), (1, 3)] {
        let mut of = Program::new();
        of.file_there("a", MOST_WRITTEN_BYTES - 100);
        let file = of.open("a", libc::O_RDWR);
        of.pwrite(file, 40, 0);
        of.sync(file);
        of.pwrite(file, 60 + more, 0);
        of.sync(file);
        let work = of.work();
        assert_eq!(work.calls(), calls, "{more}");
        let said = work.cut_short().unwrap_or_default();
        assert_eq!(said.contains("are more than 768MiB together"), more == 1, "{said}");
    }
    // Copies are written too.
    let mut of = Program::new();
    of.file_there("a", MOST_WRITTEN_BYTES / 2);
    let (from, to) = (of.open("a", libc::O_RDWR), of.open("a", libc::O_RDWR));
    of.sync(to);
    of.pwrite(to, 1, 0);
    of.sync(to);
    let half = MOST_WRITTEN_BYTES as i64 / 2;
    of.call(code::COPY_FILE_RANGE, &[], [from, to], [half, 0, half, 0], half);
    let work = of.work();
    assert_eq!((work.calls(), work.course.effects.len()), (5, 3));
}

#[test]
fn copies_of_very_many_pieces_end_the_work_before_they_are_made() {
    let mut of = Program::new();
    of.file_there("a", 10);
    of.file_there("b", 10);
    let (a, b) = (of.open("a", libc::O_RDWR), of.open("b", libc::O_RDWR));
    // 1,000 pieces, each a write of its own.
    (0..1000).for_each(|at| of.pwrite(a, 1, at * 2 + 10));
    of.sync(a);
    (0..1000).for_each(|_| of.call(code::COPY_FILE_RANGE, &[], [a, b], [1_999, 10, 10, 0], 1_999));
    let work = of.work();
    assert!(work.cut_short().is_some_and(|why| why.contains("in more than 400000 pieces")));
    assert_eq!(work.calls(), 2 + 1001 + 400);
}

#[test]
fn a_mode_of_fallocate_that_is_not_known_leaves_nobody_knows_what() {
    // FALLOC_FL_WRITE_ZEROES of Linux 6.17, and one that there is not.
    for (mode, is_known) in [(0, true), (0x40, true), (0x80, false), (0x81, false), (0x4000_0000, false)] {
        let mut of = Program::new();
        of.file_there("a", 100);
        let file = of.open("a", libc::O_RDWR);
        of.pwrite(file, 5, 0);
        of.on(code::FALLOCATE, file, [mode, 10, 20, 0], 0);
        of.sync(file);
        let work = of.work();
        let wanted = if is_known { (100, 100) } else { (0, 130) };
        assert_eq!(sizes(&work, 1, "a"), Some(Some(wanted)), "{mode:#x}");
        assert_eq!(ranges(&work, 1, "a").is_empty(), !is_known, "{mode:#x}");
    }
}

#[test]
fn copies_to_the_end_of_all_numbers_are_followed() {
    let mut top = Folder::default();
    top.add(b"a", 1);
    top.add(b"b", 2);
    let files = [File::there(u64::MAX, Some(0)), File::there(10, Some(1))].map(Node::File);
    let mut state = State::new([Node::Folder(top)].into_iter().chain(files).collect());
    state.apply(&Effect::Copied { source: 1, from: 0, file: 2, to: 100, bytes: u64::MAX });
    state.apply(&Effect::Synced(2));
    let promise = state.promise(state.file(2).unwrap());
    assert_eq!(promise.sizes, Some((u64::MAX, u64::MAX)));
    let source = |file, at| Some(Source { origin: Origin::Tree(file), at });
    assert_eq!(promise.ranges, [(0, 10, source(1, 0)), (10, 100, None), (100, u64::MAX, source(0, 0))]);

    // A trace that says so ends there.
    let mut of = Program::new();
    of.file_there("a", 10);
    let (a, b) = (of.open("a", libc::O_RDWR), of.open("a", libc::O_RDWR));
    of.pwrite(a, 1, 0);
    of.sync(a);
    of.call(code::COPY_FILE_RANGE, &[], [a, b], [i64::MAX, 0, i64::MAX, 0], i64::MAX);
    let work = of.work();
    assert!(work.cut_short().is_some_and(|why| why.contains("768MiB")));
}

#[test]
fn one_sync_of_many_that_promises_something_is_enough() {
    let mut of = Program::new();
    let file = of.open("new", MAKE);
    of.write(file, 10);
    of.sync(file); // 1
    of.sync_folder("."); // 2: the name is safe until it is touched
    of.sync(file); // 3
    of.rename("new", "other");
    (0..297).for_each(|_| of.sync(file));
    let work = of.work();
    assert_eq!((work.records(), sizes(&work, 2, "new")), (300, Some(Some((10, 10)))));
    assert_eq!((sizes(&work, 3, "new"), sizes(&work, 300, "other")), (None, None));
    // Where there were too many names, some are looked at, and the sentence says so.
    assert_eq!(work.promises_something(899), Promised::Nothing { looked_at: 60 });
    assert_eq!(work.promises_something(300 * 4), Promised::Something);
    let said = work.promises_nothing(60);
    assert!(said.contains("after none of those 60 of its 300 syncs that were looked at"), "{said}");
}
