//! Programs' calls done again in a directory: what they get, how they are ordered, and that nothing leads out.

mod common;

use common::{directory, on_disk};
use engine::{Window, Work, prepare, read_trace};
use model::flag::Mark;
use model::kinds::replay::{Facts, Replay, Speed};
use model::workload::{Kind, Workload};
use rustix::thread::{CapabilitySet, CapabilitySets, capabilities, set_capabilities};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use trace::{Before, Header, Item, Operation, VERSION, Writer, code};

/// A trace of one folder.
struct Made {
    folder: tempfile::TempDir,
    items: Vec<Item>,
    paths: Vec<String>,
    time: u64,
}

impl Made {
    fn new(threads: u32) -> Made {
        let header = Header { version: VERSION, command: vec!["prog".to_owned()], ..Header::default() };
        let mut items = vec![Item::Header(header)];
        items.extend((0..threads).map(|thread| Item::Thread { process: 1, thread: 1 + thread, parent: u32::MAX }));
        Made { folder: tempfile::tempdir().unwrap(), items, paths: Vec::new(), time: 0 }
    }

    fn path(&mut self, path: &str) -> u32 {
        let known = self.paths.iter().position(|of| of == path);
        known.unwrap_or_else(|| {
            self.items.push(Item::Path(path.as_bytes().to_vec()));
            self.paths.push(path.to_owned());
            self.paths.len() - 1
        }) as u32
    }

    fn before(&mut self, path: &str, mode: u32, bytes: u64) {
        let path = self.path(path);
        self.items.push(Item::Before(Before { path, mode, bytes }));
    }

    fn call(&mut self, thread: u32, call: u8, paths: &[&str], files: [u32; 2], numbers: [i64; 4], result: i64) {
        let mut of = [0; 2];
        paths.iter().enumerate().for_each(|(at, path)| of[at] = self.path(path));
        self.time += 2_000_000;
        let operation =
            Operation { call, thread, start: self.time, nanoseconds: 10, result, paths: of, files, numbers };
        self.items.push(Item::Operation(operation));
    }

    fn open(&mut self, thread: u32, path: &str, flags: i32, file: u32) {
        self.call(thread, code::OPENAT, &[path], [file, 0], [i64::from(flags), 0o644, 0, 0], 3);
    }

    fn on(&mut self, thread: u32, call: u8, file: u32, numbers: [i64; 4], result: i64) {
        self.call(thread, call, &[], [file, 0], numbers, result);
    }

    fn workload(&self, speed: Speed) -> Workload {
        let path = self.folder.path().join("prog.trace");
        let mut writer = Writer::begin(std::fs::File::create(&path).unwrap()).unwrap();
        self.items.iter().for_each(|item| writer.add(item).unwrap());
        writer.flush().unwrap();
        let read = read_trace(&std::fs::File::open(&path).unwrap(), &AtomicBool::new(false));
        let (facts, sha256) = match read {
            Ok((replay, sha256)) => (replay.facts, sha256),
            Err(_) => (Facts { operations: 1, ..Facts::default() }, "0".repeat(64)),
        };
        let kind = Kind::Replay(Box::new(Replay { trace: path, sha256, speed, facts }));
        Workload { name: "replay".to_owned(), title: "t".to_owned(), kind }
    }

    /// Does it once; answers its windows and the work.
    fn run(&self, place: &Path, speed: Speed) -> (Vec<Window>, Box<dyn Work>) {
        let place = directory(place);
        let mut work = prepare(&place, &self.workload(speed), 7, Arc::new(AtomicBool::new(false))).unwrap();
        let windows = work.run(&place, &mut ()).unwrap();
        (windows, work)
    }
}

const MAKE: i32 = libc::O_CREAT | libc::O_WRONLY;
const FILE: u32 = 0o100_644;
const FOLDER: u32 = 0o040_755;

fn window<'a>(windows: &'a [Window], group: &str) -> &'a Window {
    windows.iter().find(|window| window.group == group).unwrap_or_else(|| panic!("{group}"))
}

/// As a user without root: nothing encloses whoever works.
fn without_chroot<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    std::thread::scope(|scope| {
        let thread = scope.spawn(|| {
            let CapabilitySets { effective, permitted, inheritable } = capabilities(None).unwrap();
            let effective = effective - CapabilitySet::SYS_CHROOT;
            set_capabilities(None, CapabilitySets { effective, permitted, inheritable }).unwrap();
            work()
        });
        thread.join().unwrap()
    })
}

#[test]
fn a_program_gets_what_it_got_and_every_call_is_counted() {
    let mut made = Made::new(2);
    made.before("/data/in", FILE, 10_000);
    made.before("/data/out", 0, 0);
    made.open(0, "/data/in", libc::O_RDONLY, 0);
    made.on(0, code::READ, 0, [8192, 0, 0, 0], 8192);
    made.on(0, code::READ, 0, [8192, 0, 0, 0], 1808);
    made.open(1, "/data/out", MAKE, 1);
    made.on(1, code::WRITE, 1, [5000, 0, 0, 0], 5000);
    made.on(1, code::PWRITE64, 1, [100, 9000, 0, 0], 100);
    made.on(1, code::FSYNC, 1, [0; 4], 0);
    made.call(0, code::RENAMEAT2, &["/data/out", "/data/in2"], [0; 2], [0; 4], 0);
    made.call(0, code::NEWFSTATAT, &["/data/out"], [0; 2], [0; 4], -i64::from(libc::ENOENT));
    made.on(1, code::CLOSE, 1, [0; 4], 0);
    made.on(0, code::CLOSE, 0, [0; 4], 0);
    // A folder by a link of which the kernel leads the first part, and a link that begins at the top.
    let text = made.path("/data");
    made.before("/link", 0o120_777, u64::from(text) + 1);
    made.open(0, "/link", libc::O_RDONLY | libc::O_DIRECTORY, 2);
    made.on(0, code::GETDENTS64, 2, [4096, 0, 0, 0], 100);
    made.call(0, code::NEWFSTATAT, &["/link/in"], [0; 2], [0; 4], 0);
    made.call(0, code::FCHMODAT, &["/link/in"], [0; 2], [0o600, 0, 0, 0], 0);
    made.call(0, code::SETXATTR, &["/link/in"], [0; 2], [10, 0, 0, 0], 0);
    made.call(0, code::TRUNCATE, &["/link/in"], [0; 2], [100, 0, 0, 0], 0);
    made.call(0, code::READLINKAT, &["/link"], [0; 2], [0; 4], 5);
    made.call(0, code::LINKAT, &["/link/in", "/link/again"], [0; 2], [0; 4], 0);
    for sheltered in [true, false] {
        let folder = on_disk();
        let all = || {
            let (windows, work) = made.run(folder.path(), Speed::Max);
            (windows, work.notes(), work.written_bytes())
        };
        looks_like_the_program(folder.path(), if sheltered { all() } else { without_chroot(all) });
    }
}

fn looks_like_the_program(folder: &Path, (windows, notes, written_bytes): (Vec<Window>, Vec<model::Flag>, u64)) {
    let groups: Vec<&str> = windows.iter().map(|window| &*window.group).collect();
    assert_eq!(
        groups,
        [
            "all",
            "allocate",
            "attributes",
            "close",
            "list",
            "names",
            "open",
            "read",
            "stat",
            "sync",
            "write",
            "write back"
        ]
    );
    let all = window(&windows, "all");
    assert_eq!((all.operations, all.bytes, all.latencies.operations()), (19, 15_100, 19));
    assert!(all.seconds > 0.0);
    assert_eq!((window(&windows, "read").operations, window(&windows, "read").bytes), (2, 10_000));
    assert_eq!((notes, written_bytes), (Vec::new(), 10_000 + 5_100));
    let linked = folder.join("fairlane-replay/data/again").metadata().unwrap();
    assert_eq!((linked.len(), std::os::unix::fs::MetadataExt::nlink(&linked)), (100, 2));
    let lies = folder.join("fairlane-replay/data/in2");
    assert_eq!(lies.metadata().unwrap().len(), 9100);
    let content = std::fs::read(lies).unwrap();
    assert!(content[..5000].iter().any(|&byte| byte != 0));
}

#[test]
fn what_differs_is_named_and_more_than_a_hundredth_is_other_work() {
    let differing = |same: u64| {
        let mut made = Made::new(1);
        made.before("/x", FILE, 10);
        for _ in 0..same {
            made.call(0, code::NEWFSTATAT, &["/x"], [0; 2], [0; 4], 0);
        }
        // There is nothing of that name.
        made.call(0, code::FACCESSAT, &["/gone"], [0; 2], [0; 4], 0);
        let folder = on_disk();
        made.run(folder.path(), Speed::Max).1.notes()
    };
    let [few] = &differing(99)[..] else { panic!() };
    assert_eq!(
        few.to_string(),
        "replay: 1 of 100 calls answered otherwise: 1 faccessat ENOENT where the program got none (such as gone)"
    );
    let [many] = &differing(50)[..] else { panic!() };
    assert!(many.is(Mark::ReplayDiffers), "{many}");
}

#[test]
fn at_recorded_times_nothing_begins_early_and_lateness_is_told() {
    let mut made = Made::new(2);
    made.before("/x", FILE, 10);
    for turn in 0..20 {
        made.call(turn % 2, code::NEWFSTATAT, &["/x"], [0; 2], [0; 4], 0);
    }
    let folder = on_disk();
    for (speed, least) in [(Speed::Recorded(1.0), 0.038), (Speed::Recorded(2.0), 0.019)] {
        let (windows, _) = made.run(folder.path(), speed);
        let all = window(&windows, "lateness");
        assert!(all.seconds >= least, "{speed}: {}", all.seconds);
        assert_eq!(all.primary_metric, "lateness_p99_ns");
        assert!(all.totals.iter().any(|(key, _)| *key == "lateness_p50_ns"), "{:?}", all.totals);
    }
}

#[test]
fn with_thinking_time_the_programs_own_time_passes_between_its_calls() {
    let mut made = Made::new(1);
    made.before("/x", FILE, 10);
    for _ in 0..20 {
        made.call(0, code::NEWFSTATAT, &["/x"], [0; 2], [0; 4], 0);
    }
    let folder = on_disk();
    let (windows, _) = made.run(folder.path(), Speed::ThinkTime);
    let all = window(&windows, "all");
    // 19 times 2 ms less what the calls took.
    assert!(all.seconds >= 0.037, "{}", all.seconds);
    assert_eq!(all.primary_metric, window(&made.run(folder.path(), Speed::Max).0, "all").primary_metric);
    assert!(all.totals.iter().all(|(key, _)| !key.starts_with("lateness")), "{:?}", all.totals);
}

/// Names that climb, links that lead elsewhere by every word, files that are made, changed and removed through them.
fn hostile(outside: &Path) -> Made {
    let outside = outside.to_str().unwrap();
    let up = format!("{}{outside}", "../".repeat(40));
    let mut made = Made::new(2);
    let (absolute, relative) = (made.path(outside), made.path(&up));
    made.before("/before-absolute", 0o120_777, u64::from(absolute) + 1);
    made.before("/kept", 0o120_777, u64::from(absolute) + 1);
    made.before("/before-relative", 0o120_777, u64::from(relative) + 1);
    made.before("/deep/er/and", FOLDER, 0);
    made.call(0, code::SYMLINKAT, &[outside, "/absolute"], [0; 2], [0; 4], 0);
    made.call(0, code::SYMLINKAT, &[&up, "/deep/er/and/relative"], [0; 2], [0; 4], 0);
    made.call(0, code::SYMLINKAT, &["..", "/deep/er/and/up"], [0; 2], [0; 4], 0);
    made.call(0, code::RENAMEAT2, &["/deep/er/and/up", "/up"], [0; 2], [0; 4], 0);
    made.call(0, code::RENAMEAT2, &["/deep/er/and/relative", "/relative"], [0; 2], [0; 4], 0);
    let mut file = 0;
    let climbing = format!("/{up}");
    for way in ["/before-absolute", "/before-relative", "/absolute", "/relative", "/up", &climbing] {
        for name in [format!("{way}/victim"), format!("{way}/new"), way.to_owned()] {
            made.open(1, &name, MAKE | libc::O_TRUNC, file);
            made.on(1, code::WRITE, file, [10, 0, 0, 0], 10);
            made.on(1, code::CLOSE, file, [0; 4], 0);
            file += 1;
            for call in [code::TRUNCATE, code::FCHMODAT, code::FCHOWNAT, code::UTIMENSAT, code::SETXATTR] {
                made.call(1, call, &[&name], [0; 2], [1, 1, 0, 0], 0);
            }
            made.call(1, code::LINKAT, &[&name, "/linked"], [0; 2], [i64::from(libc::AT_SYMLINK_FOLLOW), 0, 0, 0], 0);
            made.call(1, code::RENAMEAT2, &["/linked", &name], [0; 2], [0; 4], 0);
            made.call(1, code::MKDIRAT, &[&name], [0; 2], [0o755, 0, 0, 0], 0);
            made.call(1, code::MKNODAT, &[&name], [0; 2], [0o020_666, 0, 0, 0], 0);
            made.call(1, code::UNLINKAT, &[&name], [0; 2], [0; 4], 0);
            made.call(1, code::UNLINKAT, &[&name], [0; 2], [i64::from(libc::AT_REMOVEDIR), 0, 0, 0], 0);
        }
    }
    made
}

fn look(folder: &Path) -> Vec<(PathBuf, u32, u64, i64, Option<String>)> {
    use std::os::unix::fs::MetadataExt;
    let mut seen: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .map(|path| {
            let of = path.symlink_metadata().unwrap();
            (path.clone(), of.mode(), of.nlink(), of.ctime_nsec(), std::fs::read_to_string(&path).ok())
        })
        .collect();
    seen.sort();
    seen
}

#[test]
fn nothing_that_a_trace_says_leads_out_of_the_lane() {
    let outside = on_disk();
    std::fs::write(outside.path().join("victim"), "precious").unwrap();
    let made = hostile(outside.path());
    let before = look(outside.path());
    for enclosed in [true, false] {
        let lane = on_disk();
        if enclosed && !capabilities(None).unwrap().effective.contains(CapabilitySet::SYS_CHROOT) {
            eprintln!("skipped: being enclosed needs CAP_SYS_CHROOT");
            continue;
        }
        let run = || made.run(lane.path(), Speed::Max).1.notes();
        let notes = if enclosed { run() } else { without_chroot(run) };
        // Links keep their words.
        let link = std::fs::read_link(lane.path().join("fairlane-replay/kept"));
        assert_eq!(link.unwrap(), outside.path());
        // Most of it fails, and is no work.
        assert!(notes[0].is(Mark::ReplayDiffers), "{notes:?}");
        assert_eq!(look(outside.path()), before, "enclosed: {enclosed}");
        let top: Vec<_> = std::fs::read_dir(lane.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(top, ["fairlane-replay"]);
    }
}

#[test]
fn a_lane_that_does_less_is_no_faster() {
    let mut made = Made::new(1);
    made.before("/a", FILE, 4096);
    made.before("/b", 0, 0);
    made.open(0, "/a", libc::O_RDONLY, 0);
    made.open(0, "/b", MAKE, 1);
    for _ in 0..500 {
        made.call(0, code::NEWFSTATAT, &["/a"], [0; 2], [0; 4], 0);
    }
    // Of a socket nobody clones.
    made.call(0, code::FICLONE, &[], [1, 1], [0; 4], 0);
    let folder = on_disk();
    let notes = made.run(folder.path(), Speed::Max).1.notes();
    assert!(notes[0].is(Mark::ReplayDiffers), "{notes:?}");
}

#[test]
fn copies_work_where_they_worked_and_close_what_is_done_with() {
    let mut made = Made::new(1);
    made.before("/a", FILE, 1000);
    made.before("/b", 0, 0);
    made.open(0, "/a", libc::O_RDONLY, 0);
    made.open(0, "/b", MAKE, 1);
    for _ in 0..2 {
        made.call(0, code::SENDFILE, &[], [0, trace::NOT_FOLLOWED], [4096, 0, 0, 0], 1000);
    }
    made.call(0, code::COPY_FILE_RANGE, &[], [0, 1], [1 << 40, 100, -1, 0], 900);
    made.call(0, code::COPY_FILE_RANGE, &[], [0, 1], [500, 0, 400, 0], 500);
    made.on(0, code::CLOSE, 1, [0; 4], 0);
    let folder = on_disk();
    let (windows, work) = made.run(folder.path(), Speed::Max);
    assert_eq!(work.notes(), []);
    assert_eq!(window(&windows, "copy").bytes, 3400);
    assert_eq!(folder.path().join("fairlane-replay/b").metadata().unwrap().len(), 900);
}

#[test]
fn sizes_that_nothing_has_and_another_trace_are_refused_in_a_sentence() {
    let folder = on_disk();
    let place = directory(folder.path());
    let stop = || Arc::new(AtomicBool::new(false));
    let refused = |workload: &Workload| prepare(&place, workload, 7, stop()).err().unwrap().to_string();
    let mut made = Made::new(1);
    made.before("/x", FILE, 10);
    made.open(0, "/x", libc::O_RDONLY, 0);
    // A hole as large as that is no file of ours, and a read that got more than there is memory.
    made.on(0, code::FTRUNCATE, 0, [i64::MAX, 0, 0, 0], 0);
    made.on(0, code::LSEEK, 0, [i64::MAX, 0, 0, 0], i64::MAX);
    made.on(0, code::FALLOCATE, 0, [0, -1, i64::MAX, 0], 0);
    made.on(0, code::MMAP, 0, [i64::MAX, -1, -1, -1], 4096);
    let (_, work) = made.run(folder.path(), Speed::Max);
    assert!(work.notes()[0].is(Mark::ReplayDiffers));
    let workload = made.workload(Speed::Max);
    let mut other = Made::new(1);
    other.call(0, code::NEWFSTATAT, &["/"], [0; 2], [0; 4], 0);
    other.workload(Speed::Max);
    std::fs::copy(other.folder.path().join("prog.trace"), made.folder.path().join("prog.trace")).unwrap();
    assert!(refused(&workload).contains("is not the trace that this race began with"));
    let mut many = Made::new(200);
    many.before("/x", FILE, 10);
    for thread in 0..200 {
        many.open(thread, "/x", libc::O_RDWR, thread);
    }
    for thread in 0..200 {
        many.on(thread, code::WRITE, thread, [0x7fff_f000, 0, 0, 0], 0x7fff_f000);
    }
    let said = refused(&many.workload(Speed::Max));
    assert!(said.contains("more than half of the") && said.contains("capture a smaller run"), "{said}");
    let pipe = made.folder.path().join("pipe");
    rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, rustix::fs::Mode::RWXU, 0).unwrap();
    let Kind::Replay(of) = &workload.kind else { unreachable!() };
    let kind = Kind::Replay(Box::new(Replay { trace: pipe, ..(**of).clone() }));
    assert!(refused(&Workload { kind, ..workload.clone() }).contains("it is no file"));
}
