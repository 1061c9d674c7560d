//! Logs as their tools print them.

use super::*;
use crate::{Before, Operation};

fn log(text: &str) -> Log<'_, &[u8]> {
    Log { process: None, open: Box::new(move || Ok(text.as_bytes())) }
}

/// A file of `strace -ff`.
fn log_of(process: u32, text: &str) -> Log<'_, &[u8]> {
    Log { process: Some(process), ..log(text) }
}

fn import(text: &str) -> Result<Imported, ImportError> {
    read(&[log(text)])
}

fn operations(of: &Imported) -> Vec<Operation> {
    of.items.iter().filter_map(|item| if let Item::Operation(of) = item { Some(*of) } else { None }).collect()
}

fn names(of: &Imported) -> Vec<&'static str> {
    operations(of).iter().map(|of| crate::call(of.call).unwrap().name).collect()
}

fn path(of: &Imported, number: u32) -> String {
    let mut paths = of.items.iter().filter_map(|item| if let Item::Path(path) = item { Some(path) } else { None });
    String::from_utf8(paths.nth(number as usize).unwrap().clone()).unwrap()
}

fn before(of: &Imported) -> Vec<(String, u32, u64)> {
    let all = of.items.iter().filter_map(|item| if let Item::Before(of) = item { Some(*of) } else { None });
    all.map(|Before { path: number, mode, bytes }| (path(of, number), mode, bytes)).collect()
}

/// What is written as a trace can be done again.
fn replayed(of: &Imported) -> crate::replay::Replay {
    let mut bytes = Vec::new();
    let mut writer = crate::Writer::begin(&mut bytes).unwrap();
    of.items.iter().for_each(|item| writer.add(item).unwrap());
    writer.flush().unwrap();
    let limits = crate::replay::Limits { memory_bytes: 1 << 30, goes_on: &|| true };
    crate::replay::read(&bytes[..], &bytes[..], &limits).unwrap()
}

const STRACE: &str = r#"100 10:00:00.000000 execve("/bin/sh", ["sh"], 0x7ffe /* 20 vars */) = 0 <0.000100>
100 10:00:00.001000 openat(AT_FDCWD</home/u>, "in", O_RDONLY|O_CLOEXEC) = 3</home/u/in> <0.000010>
100 10:00:00.002000 fstat(3</home/u/in>, {st_mode=S_IFREG|0640, st_size=5000, ...}) = 0 <0.000005>
100 10:00:00.003000 read(3</home/u/in>, "ab\"c)"..., 4096) = 4096 <0.000020>
100 10:00:00.004000 clone(child_stack=NULL, flags=CLONE_CHILD_CLEARTID|SIGCHLD, child_tidptr=0x7f) = 101 <0.000100>
101 10:00:00.005000 read(3</home/u/in>,  <unfinished ...>
100 10:00:00.005500 openat(AT_FDCWD</home/u>, "missing", O_RDONLY) = -1 ENOENT (No such file or directory) <0.000008>
101 10:00:00.006000 <... read resumed>"x"..., 4096) = 904 <0.001000>
101 10:00:00.007000 openat(AT_FDCWD</home/u>, "../out", O_WRONLY|O_CREAT|O_TRUNC, 0644) = 4</home/out> <0.000010>
101 10:00:00.008000 write(4</home/out>, "hello", 5) = 5 <0.000010>
101 10:00:00.009000 fsync(4</home/out>) = 0 <0.010000>
101 10:00:00.020000 close(4</home/out>) = 0 <0.000010>
101 10:00:00.021000 rename("/home/out", "/home/out2") = 0 <0.000010>
101 10:00:00.022000 stat("/home/out2", {st_mode=S_IFREG|0644, st_size=5, ...}) = 0 <0.000010>
101 10:00:00.023000 mkdir("/home/d", 0755) = 0 <0.000010>
101 10:00:00.023500 write(1<pipe:[77]>, "x", 1) = 1 <0.000010>
101 10:00:00.024000 futex(0x7f, FUTEX_WAIT, 0, NULL) = 0 <0.000010>
101 10:00:00.025000 +++ exited with 0 +++
100 10:00:00.026000 --- SIGCHLD {si_signo=SIGCHLD, si_pid=101} ---
100 10:00:00.027000 exit_group(0) = ?
100 10:00:00.028000 +++ exited with 0 +++
"#;

#[test]
fn straces_lines_become_the_calls_that_they_tell_of() {
    let of = import(STRACE).unwrap();
    assert_eq!(of.format, "strace");
    let expected = "execve openat fstat read openat read openat write fsync close renameat2 newfstatat mkdirat";
    assert_eq!(names(&of).join(" "), expected);
    let all = operations(&of);
    assert_eq!(all.iter().map(|of| of.thread).collect::<Vec<_>>(), [0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1]);
    assert_eq!((all[1].start, all[1].nanoseconds, all[4].result), (1_000_000, 10_000, -2));
    // The line of who was interrupted begins where it began.
    assert_eq!((all[5].start, all[5].result, all[5].files[0]), (5_000_000, 904, all[1].files[0]));
    assert_eq!(path(&of, all[6].paths[0]), "/home/out");
    let file = |path: &str, mode, bytes| (path.to_owned(), mode, bytes);
    assert_eq!(before(&of), [file("/bin/sh", 0o100_755, 0), file("/home/u/in", 0o100_640, 5000)]);
    assert_eq!(
        of.left_out,
        [
            ("calls on pipes, sockets, devices and files that are not followed", 1),
            ("calls that ask nothing of files", 1),
            ("calls that did not return", 1),
        ]
        .map(|(of, n)| (of.to_owned(), n))
        .into()
    );
    let replay = replayed(&of);
    // The second begins where the first has ended.
    assert_eq!((replay.facts.operations, replay.facts.threads), (13, 1));
}

#[test]
fn a_log_without_processes_times_and_paths_goes_as_far_as_it_goes() {
    let of = import(
        "open(\"/a\", O_RDONLY) = 3\nread(3, \"x\", 10) = 7\nlseek(3, 100, SEEK_SET) = 100\nread(3, \"\", 10) = 0\n",
    )
    .unwrap();
    assert_eq!(names(&of), ["openat", "read", "lseek", "read"]);
    assert_eq!(before(&of), [("/a".to_owned(), 0o100_644, 7)]);
    assert_eq!(of.notes.len(), 3, "{:?}", of.notes);
    for text in ["open(\"/a\", O_RD", "open(\"/a\") = 3", "x(", "futex(1) = 0", "read(3, \"\", 1) = 1"] {
        assert!(matches!(import(text), Err(ImportError::Nothing(_))), "{text}");
    }
}

#[test]
fn a_fio_iolog_becomes_reads_and_writes_on_files_that_are_laid_out() {
    let text = "fio version 2 iolog\n/f add\n/f open\n/f write 0 4096\n/f wait 500 0\n/f read 8192 4096\n/f sync 0 0\n/f trim 0 4096\n/f close\n/g read 0 1\n";
    let of = import(text).unwrap();
    assert_eq!(names(&of), ["openat", "pwrite64", "pread64", "fsync", "close"]);
    assert_eq!(before(&of), [("/f".to_owned(), 0o100_644, 12288)]);
    let all = operations(&of);
    assert!(all[2].start - all[1].start >= 500_000);
    assert_eq!(of.left_out, [("trims", 1), ("files that are not open", 1)].map(|(of, n)| (of.to_owned(), n)).into());
    let of = import("fio version 3 iolog\n0 f add\n1000 f open\n2000 f wait 9 9\n5000 f write 0 512\n900000 f close\n")
        .unwrap();
    assert_eq!(operations(&of).iter().map(|of| of.start / 1_000_000).collect::<Vec<_>>(), [0, 4, 899]);
    assert_eq!(path(&of, 0), "/f");
    assert!(matches!(import("fio version 9 iolog\n"), Err(ImportError::Unknown)));
    // Several logs are as many threads.
    let two = read(&[log(text), log(text)]).unwrap();
    assert_eq!(operations(&two).iter().map(|of| of.thread).max(), Some(1));
}

#[test]
fn darshans_text_becomes_reads_and_writes_in_the_order_of_time() {
    let text = "# darshan log version: 3.41\n# exe: ./app\n# DXT, file_id: 1, file_name: /scratch/x\n# DXT, rank: 0, hostname: a\n\
         # Module Rank Wt/Rd Segment Offset Length Start(s) End(s)\n\
         X_POSIX 0 write 0 0 1048576 0.5000 0.6000\n X_POSIX 1 read 0 0 4096 0.7000 0.7100 [OST: 3]\n\
         X_MPIIO 0 write 0 0 1 0.1 0.2\n# DXT, file_id: 2, file_name: /scratch/y\nX_POSIX 0 read 0 100 50 0.1000 0.2000\n";
    let of = import(text).unwrap();
    assert_eq!(names(&of), ["openat", "pread64", "openat", "pwrite64", "openat", "pread64"]);
    let all = operations(&of);
    assert_eq!((all[1].start, all[3].nanoseconds / 1_000_000, all[5].thread), (0, 100, 1));
    assert_eq!(
        before(&of).iter().map(|(path, _, bytes)| (&**path, *bytes)).collect::<Vec<_>>(),
        [("/scratch/x", 4096), ("/scratch/y", 150)]
    );
    assert_eq!(replayed(&of).facts.operations, 6);
}

#[test]
fn children_have_what_their_parents_had_and_stale_descriptors_are_nobodys() {
    let text = r#"1 10:00:00.000000 openat(AT_FDCWD</w>, "in", O_RDONLY) = 3</w/in> <0.1>
1 10:00:00.100000 openat(AT_FDCWD</w>, "out", O_WRONLY|O_CREAT|O_CLOEXEC, 0644) = 4</w/out> <0.1>
1 10:00:00.200000 vfork( <unfinished ...>
2 10:00:00.300000 read(3</w/in>, "x", 10) = 10 <0.1>
2 10:00:00.400000 execve("/bin/x", [], 0x0) = 0 <0.1>
2 10:00:00.500000 write(4</w/out>, "x", 5) = 5 <0.1>
1 10:00:00.600000 <... vfork resumed>) = 2 <0.4>
1 10:00:00.700000 dup2(9</dev/pts/0>, 4</w/out>) = 4</dev/pts/0> <0.1>
1 10:00:00.800000 write(4</dev/pts/0>, "x", 5) = 5 <0.1>
1 10:00:00.900000 openat2(AT_FDCWD</w>, "d", {flags=O_RDONLY|O_DIRECTORY, mode=0, resolve=0}, 24) = 5</w/d> <0.1>
1 10:00:01.000000 fcntl(5</w/d>, F_DUPFD_CLOEXEC, 6) = 6</w/d> <0.1>
1 10:00:01.100000 unlinkat(6, "f", 0) = 0 <0.1>
1 10:00:01.200000 fchdir(5</w/d>) = 0 <0.1>
1 10:00:01.300000 unlink("g") = 0 <0.1>
1 10:00:01.400000 close_range(3, 4294967295, 0) = 0 <0.1>
1 10:00:01.500000 socket(AF_UNIX, SOCK_STREAM, 0) = 3<socket:[9]> <0.1>
1 10:00:01.600000 read(3<socket:[9]>, "x", 10) = 10 <0.1>
1 10:00:01.700000 openat(AT_FDCWD</w/d>, "/dev/null", O_WRONLY) = 4</dev/null> <0.1>
1 10:00:01.800000 write(4</dev/null>, "x", 10) = 10 <0.1>
"#;
    let of = import(text).unwrap();
    assert_eq!(names(&of).join(" "), "openat openat read execve openat dup unlinkat unlinkat");
    let all = operations(&of);
    assert_eq!((all[2].thread, all[2].files[0]), (1, all[0].files[0]));
    assert_eq!((path(&of, all[6].paths[0]), path(&of, all[7].paths[0])), ("/w/d/f".to_owned(), "/w/d/g".to_owned()));
    let parent = |item: &Item| if let Item::Thread { parent, .. } = item { Some(*parent) } else { None };
    assert_eq!(of.items.iter().filter_map(parent).collect::<Vec<_>>(), [u32::MAX, 0]);
    assert!(before(&of).contains(&("/w/d".to_owned(), 0o040_755, 0)), "{:?}", before(&of));
    assert!(before(&of).contains(&("/bin/x".to_owned(), 0o100_755, 0)), "{:?}", before(&of));
}

#[test]
fn what_a_call_that_is_left_out_returns_is_no_descriptor_where_it_only_looks_like_one() {
    let text = r#"1 10:00:00.000000 openat(AT_FDCWD</w>, "in", O_RDONLY) = 5</w/in> <0.000010>
1 10:00:00.100000 write(1<pipe:[7]>, "hello", 5) = 5 <0.000010>
1 10:00:00.200000 fcntl(0<pipe:[8]>, F_GETFD) = 5 <0.000010>
1 10:00:00.300000 poll([{fd=1<pipe:[7]>, events=POLLIN}], 5, -1) = 5 <0.000010>
1 10:00:00.400000 read(5</w/in>, "x", 10) = 10 <0.000010>
1 10:00:00.500000 socket(AF_UNIX, SOCK_STREAM, 0) = 5 <0.000010>
1 10:00:00.600000 read(5, "x", 10) = 10 <0.000010>
"#;
    assert_eq!(names(&import(text).unwrap()), ["openat", "read"]);
}

#[test]
fn whoever_has_the_number_of_one_that_ended_is_another_one() {
    let text = r#"1 10:00:00.000000 openat(AT_FDCWD</w>, "in", O_RDONLY) = 3</w/in> <0.000010>
1 10:00:00.100000 vfork( <unfinished ...>
2 10:00:00.200000 openat(AT_FDCWD</w>, "a", O_RDONLY) = 4</w/a> <0.000010>
2 10:00:00.300000 +++ exited with 0 +++
1 10:00:00.400000 <... vfork resumed>) = 2 <0.300000>
1 10:00:00.500000 vfork() = 2 <0.000100>
2 10:00:00.600000 read(3</w/in>, "x", 10) = 10 <0.000010>
2 10:00:00.700000 read(4</w/a>, "x", 10) = 10 <0.000010>
2 10:00:00.800000 +++ exited with 0 +++
"#;
    let of = import(text).unwrap();
    let all = operations(&of);
    assert_eq!(names(&of), ["openat", "openat", "read"]);
    assert_eq!((all.iter().map(|of| of.thread).collect::<Vec<_>>(), all[2].files[0]), (vec![0, 1, 2], all[0].files[0]));
    let parent = |item: &Item| if let Item::Thread { parent, .. } = item { Some(*parent) } else { None };
    assert_eq!(of.items.iter().filter_map(parent).collect::<Vec<_>>(), [u32::MAX, 0, 0]);
    assert_eq!(replayed(&of).facts.operations, 3);
    // A file for each process holds the last one of a number, with what was open when that one began.
    let begins = r#"10:00:00.000000 openat(AT_FDCWD</w>, "a", O_RDONLY) = 3</w/a> <0.000010>
10:00:00.100000 vfork() = 101 <0.000100>
10:00:00.200000 close(3</w/a>) = 0 <0.000010>
10:00:00.300000 openat(AT_FDCWD</w>, "b", O_RDONLY) = 3</w/b> <0.000010>
10:00:00.400000 vfork() = 101 <0.000100>
"#;
    let last = "10:00:00.500000 read(3</w/b>, \"x\", 10) = 10 <0.000010>\n";
    let of = read(&[log_of(100, begins), log_of(101, last)]).unwrap();
    let all = operations(&of);
    assert_eq!(names(&of), ["openat", "close", "openat", "read"]);
    assert_eq!((all[3].files[0], all[3].thread != all[2].thread), (all[2].files[0], true));
}

#[test]
fn times_that_are_later_than_any_and_names_without_end_are_no_more_than_that() {
    // Lines without a time stand behind what came before.
    let of = import("1 999999999999.5 open(\"/a\", O_RDONLY) = 3\n1 read(3, \"x\", 1) = 1\n1 close(3) = 0\n").unwrap();
    assert_eq!((operations(&of).len(), replayed(&of).facts.operations), (3, 3));
    let wait = format!("fio version 2 iolog\n/f open\n/f wait {} 0\n/f read 0 1\n/f close\n", u64::MAX);
    assert_eq!(names(&import(&wait).unwrap()), ["openat", "pread64", "close"]);
}

#[test]
fn what_is_no_log_is_refused() {
    for text in ["", "\n\n", "hello world\n", "{\"json\": 1}", "GET / HTTP/1.1"] {
        let said = import(text).unwrap_err();
        assert!(matches!(said, ImportError::Unknown), "{text}: {said}");
    }
    let said = read(&[log(STRACE), log("fio version 2 iolog\n/f open\n")]).unwrap_err().to_string();
    assert!(said.contains("one by one"), "{said}");
}

/// Its child's calls are over while `vfork` is not; the last one begins before a call of the parent and is over behind it.
const PARENT: &str = r#"10:00:00.000000 execve("/bin/sh", ["sh"], 0x7ffe /* 20 vars */) = 0 <0.000100>
10:00:00.001000 openat(AT_FDCWD</home/u>, "in", O_RDONLY) = 3</home/u/in> <0.000010>
10:00:00.002000 vfork()                 = 101 <0.500000>
10:00:00.600000 read(3</home/u/in>, "x", 10) = 4 <0.000010>
10:00:00.800000 --- SIGCHLD {si_signo=SIGCHLD, si_pid=101} ---
10:00:00.900000 +++ exited with 0 +++
"#;
const CHILD: &str = r#"10:00:00.100000 read(3</home/u/in>, "x", 10) = 6 <0.000010>
10:00:00.200000 openat(AT_FDCWD</home/u>, "out", O_WRONLY|O_CREAT, 0644) = 4</home/u/out> <0.000010>
10:00:00.210000 clone(child_stack=0x7f, flags=CLONE_VM|CLONE_FILES|CLONE_THREAD, parent_tid=[102]) = 102 <0.000010>
10:00:00.300000 write(4</home/u/out>, "x", 6) = 6 <0.400000>
10:00:00.750000 +++ exited with 0 +++
"#;
const THREAD: &str = r#"10:00:00.310000 fsync(4</home/u/out>) = 0 <0.010000>
10:00:00.320000 +++ exited with 0 +++
"#;

#[test]
fn a_file_for_each_process_is_one_log_by_when_their_calls_were_over() {
    let files =
        [(102, THREAD), (101, CHILD), (100, PARENT), (103, "10:00:00.850000 +++ exited with 0 +++\n"), (104, "")];
    for turn in 0..files.len() {
        let mut logs: Vec<Log<&[u8]>> = files.iter().map(|(process, text)| log_of(*process, text)).collect();
        logs.rotate_left(turn);
        let of = read(&logs).unwrap();
        assert_eq!(names(&of).join(" "), "execve openat read openat fsync read write", "{turn}");
        let all = operations(&of);
        assert_eq!(all.iter().map(|of| of.thread).collect::<Vec<_>>(), [0, 0, 1, 1, 2, 0, 1]);
        // What was open when the process began, and what its threads opened.
        assert_eq!((all[2].files[0], all[4].files[0]), (all[1].files[0], all[3].files[0]));
        assert_eq!((all[2].start, all[6].nanoseconds), (100_000_000, 400_000_000));
        let thread = |item: &Item| match item {
            Item::Thread { process, thread, parent } => Some((*process, *thread, *parent)),
            _ => None,
        };
        let threads: Vec<_> = of.items.iter().filter_map(thread).collect();
        assert_eq!(threads, [(100, 100, u32::MAX), (101, 101, 0), (101, 102, 1)]);
        assert_eq!(of.lines, 14);
        assert!(of.notes.iter().any(|note| note.contains("strace -ff")), "{:?}", of.notes);
        assert_eq!(replayed(&of).facts.operations, 7);
    }
    // One alone is a process that nobody began here.
    let of = read(&[log_of(101, CHILD)]).unwrap();
    assert_eq!((names(&of).join(" "), operations(&of)[0].thread), ("openat write".to_owned(), 0));
}

#[test]
fn a_file_for_each_process_needs_times_that_can_be_compared() {
    let untimed = "open(\"/a\", O_RDONLY) = 3\n";
    let said = read(&[log_of(1, untimed), log_of(2, untimed)]).unwrap_err().to_string();
    assert!(said.contains("strace -ff -tt -T"), "{said}");
    let at = |time: &str| format!("{time} open(\"/a\", O_RDONLY) = 3 <0.000010>\n");
    let (before, behind) = (at("23:59:59.900000"), at("00:00:00.100000"));
    let said = read(&[log_of(1, &before), log_of(2, &behind)]).unwrap_err().to_string();
    assert!(said.contains("-ttt"), "{said}");
    let (before, behind) = (at("1700000000.900000"), at("1700086400.100000"));
    let of = read(&[log_of(2, &behind), log_of(1, &before)]).unwrap();
    assert_eq!(operations(&of).iter().map(|of| of.start).collect::<Vec<_>>(), [0, 86_399_200_000_000]);
    assert!(matches!(read::<&[u8]>(&[]), Err(ImportError::Unknown)));
    // Who are said to have begun each other were begun by nobody.
    let begins = |child: u32| format!("10:00:00.000000 fork() = {child} <1.000000>\n{}", at("10:00:02.000000"));
    let (one, other) = (begins(2), begins(1));
    assert_eq!(names(&read(&[log_of(1, &one), log_of(2, &other)]).unwrap()), ["openat", "openat"]);
}

mod any {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn no_text_is_too_odd(text in "[ -~\n]{0,300}", which in 0..4usize) {
            let begins = ["", "fio version 2 iolog\n", "# darshan log version: 3\n# file_name: /x\n", "1 10:00:00.1 open(\"/a\", O_RDONLY) = 3\n"];
            let _ = import(&format!("{}{text}", begins[which]));
        }

        #[test]
        fn no_strace_is_too_odd(
            lines in proptest::collection::vec(("[a-z0-9]{2,9}", "[\"<>{}(),\\\\a-z0-9_|/.= -]{0,60}", -3..9i64), 0..20)
        ) {
            let text: String = lines.iter().map(|(name, rest, result)| format!("7 {name}({rest}) = {result}\n")).collect();
            let _ = import(&format!("7 open(\"/a\", O_RDONLY) = 3\n{text}"));
        }
    }
}
