use super::*;
use std::ffi::CString;
use std::fs;
use std::os::fd::AsFd;

/// Names that a shell, `ls` or a careless argument list would take for something else.
const NAMES: [&[u8]; 7] =
    [b"plain", b"-rf", b"two words", b"new\nline", b"back\\slash;$(touch x)`", b"\x01\x1b[31m", "файл-文件".as_bytes()];

struct Fixture {
    folder: tempfile::TempDir,
    operator: ProcessOperator,
    contents: Contents,
}

impl Fixture {
    fn new() -> Self {
        let folder = tempfile::tempdir_in("/dev/shm").expect("a folder in memory");
        let directory = std::fs::File::open(folder.path()).unwrap();
        let operator = ProcessOperator::new(directory.as_fd(), ".", folder.path()).unwrap();
        Fixture { folder, operator, contents: Contents::new(7, 1 << 20) }
    }

    fn path(&self, name: &[u8]) -> PathBuf {
        self.folder.path().join(OsStr::from_bytes(name))
    }

    fn operate(&mut self, task: &Task<'_>) -> Result<u64, EngineError> {
        self.operator.operate(task, &mut self.contents)
    }

    fn expect(&mut self, operation: Operation, name: &[u8], other: &[u8], bytes: u64) -> u64 {
        let (path, other) = (CString::new(name).unwrap(), CString::new(other).unwrap());
        let task = Task { bytes, ..task(operation, &path, &other) };
        self.operate(&task).unwrap_or_else(|error| panic!("{operation:?} of {path:?}: {error}"))
    }

    fn should_hold(&mut self, offset: u64, bytes: usize) -> Vec<u8> {
        self.contents.bytes(3, 1, offset, bytes).to_vec()
    }
}

fn task<'a>(operation: Operation, path: &'a CStr, other: &'a CStr) -> Task<'a> {
    Task {
        operation,
        path,
        other,
        file: 3,
        generation: 1,
        offset: 0,
        bytes: 0,
        block: 1 << 20,
        sync: false,
        entries: 0,
    }
}

#[test]
fn every_operation_does_to_any_name_what_it_says() {
    for name in NAMES {
        let mut fixture = Fixture::new();
        let other: Vec<u8> = [name, b".other"].concat();
        let (path, beside) = (fixture.path(name), fixture.path(&other));
        assert_eq!(fixture.expect(Operation::Create, name, b"", 3000), 3000);
        assert!(fs::read(&path).unwrap() == fixture.should_hold(0, 3000));
        assert_eq!(fixture.expect(Operation::Read, name, b"", 3000), 3000);
        for operation in [Operation::Stat, Operation::Open, Operation::Fsync] {
            assert_eq!(fixture.expect(operation, name, b"", 0), 0);
        }
        fixture.expect(Operation::Link, name, &other, 0);
        assert_eq!(fs::read(&beside).unwrap().len(), 3000);
        fixture.expect(Operation::Unlink, &other, b"", 0);
        fixture.expect(Operation::Symlink, name, &other, 0);
        assert_eq!(fs::read_link(&beside).unwrap().as_os_str().as_bytes(), name);
        fixture.expect(Operation::Unlink, &other, b"", 0);
        fixture.expect(Operation::Rename, name, &other, 0);
        assert!(!path.exists() && beside.exists());
        fixture.expect(Operation::Truncate, &other, b"", 1000);
        fixture.expect(Operation::Fallocate, &other, b"", 8192);
        let held = fs::read(&beside).unwrap();
        assert_eq!(held.len(), 8192);
        assert!(held[..1000] == fixture.should_hold(0, 1000) && held[1000..].iter().all(|byte| *byte == 0));
        fixture.expect(Operation::Unlink, &other, b"", 0);
        assert!(!beside.exists());
        fixture.expect(Operation::Mkdir, name, b"", 0);
        fixture.expect(Operation::FsyncDirectory, name, b"", 0);
        fixture.expect(Operation::Rmdir, name, b"", 0);
        assert!(!path.exists());
        fixture.expect(Operation::Create, name, b"", 0);
        assert_eq!(fs::metadata(&path).unwrap().len(), 0);
        assert_eq!(fs::read_dir(fixture.folder.path()).unwrap().count(), 1, "nothing else was made");
    }
}

#[test]
fn blocks_of_a_file_land_where_they_belong_and_the_rest_stays() {
    let mut fixture = Fixture::new();
    let path = fixture.path(b"f");
    let name = c"f";
    // More than a pipe holds, and not in whole blocks.
    let long = (3 << 20) + 12_345;
    let whole = Task { bytes: long, block: 100_000, ..task(Operation::Create, name, c"") };
    assert_eq!(fixture.operate(&whole).unwrap(), long);
    let mut model: Vec<u8> = Vec::new();
    for offset in (0..long).step_by(1 << 20) {
        let bytes = (long - offset).min(1 << 20) as usize;
        model.extend(fixture.should_hold(offset, bytes));
    }
    assert!(fs::read(&path).unwrap() == model);
    assert_eq!(fixture.operate(&Task { operation: Operation::Read, ..whole }).unwrap(), long);
    let other =
        |operation, offset, bytes| Task { generation: 2, offset, bytes, block: 4096, ..task(operation, name, c"") };
    for (operation, offset, bytes) in [
        (Operation::RandomWrite, 40_960, 4096),
        (Operation::RandomWrite, 4096, 4096),
        (Operation::Append, long, 2048),
        (Operation::Overwrite, 0, 4096),
    ] {
        let task = other(operation, offset, bytes);
        assert_eq!(fixture.operate(&task).unwrap(), bytes);
        let end = (offset + bytes) as usize;
        model.resize(model.len().max(end), 0);
        model[offset as usize..end].copy_from_slice(fixture.contents.bytes(3, 2, offset, bytes as usize));
    }
    assert!(fs::read(&path).unwrap() == model);
    assert_eq!(fixture.operate(&other(Operation::RandomRead, 8192, 4096)).unwrap(), 4096);
    // Anew: the first block empties what was there.
    for offset in [0, 4096, 8192] {
        let bytes = if offset == 8192 { 100 } else { 4096 };
        assert_eq!(fixture.operate(&other(Operation::Write, offset, bytes)).unwrap(), bytes);
    }
    let held = fs::read(&path).unwrap();
    let anew: Vec<u8> = fixture.contents.bytes(3, 2, 0, 8292).to_vec();
    assert!(held == anew);
}

#[test]
fn names_in_a_directory_are_counted_whatever_they_hold() {
    let mut fixture = Fixture::new();
    fs::create_dir(fixture.path(b"-d")).unwrap();
    for name in NAMES {
        fs::write(fixture.folder.path().join("-d").join(OsStr::from_bytes(name)), "").unwrap();
    }
    let list = Task { entries: NAMES.len() as u64, ..task(Operation::List, c"-d", c"") };
    for _ in 0..2 {
        assert_eq!(fixture.operate(&list).unwrap(), 0);
    }
    let error = fixture.operate(&Task { entries: 6, ..list }).unwrap_err().to_string();
    assert!(error.contains("holds 7 names and must hold 6"), "{error}");
}

#[test]
fn a_tool_that_fails_says_what_it_said_and_its_errno() {
    let mut fixture = Fixture::new();
    for (operation, errno) in [
        (Operation::Read, libc::ENOENT),
        (Operation::Append, libc::ENOENT),
        (Operation::Overwrite, libc::ENOENT),
        (Operation::Stat, libc::ENOENT),
        (Operation::Unlink, libc::ENOENT),
        (Operation::Rename, libc::ENOENT),
        (Operation::Rmdir, libc::ENOENT),
    ] {
        let missing = Task { bytes: 10, ..task(operation, c"no\nfile", c"other") };
        let error = fixture.operate(&missing).unwrap_err();
        assert_eq!(error.errno(), Some(errno), "{operation:?}: {error}");
        assert!(error.to_string().starts_with(tools::tool_for(operation).name()), "{error}");
    }
    fixture.expect(Operation::Create, b"f", b"", 10);
    let again = Task { bytes: 10, ..task(Operation::Create, c"f", c"") };
    assert_eq!(fixture.operate(&again).unwrap_err().errno(), Some(libc::EEXIST));
    let short = Task { bytes: 11, ..task(Operation::Read, c"f", c"") };
    let error = fixture.operate(&short).unwrap_err().to_string();
    assert!(error.starts_with("read moved 10 of 11 bytes"), "{error}");
}

#[test]
fn operations_that_end_with_a_sync_start_what_makes_it() {
    let mut fixture = Fixture::new();
    fs::create_dir(fixture.path(b"d")).unwrap();
    // dd syncs itself; what changes names needs a second process for the directory.
    for (operation, name, other, bytes, processes) in [
        (Operation::Create, c"d/f", c"", 10, 1),
        (Operation::Append, c"d/f", c"", 10, 1),
        (Operation::Create, c"d/empty", c"", 0, 2),
        (Operation::Truncate, c"d/f", c"", 5, 2),
        (Operation::Link, c"d/f", c"d/l", 0, 2),
        (Operation::Rename, c"d/f", c"d/g", 0, 2),
        (Operation::RenameAcross, c"d/g", c"h", 0, 3),
        (Operation::Unlink, c"h", c"", 0, 2),
        (Operation::Mkdir, c"e", c"", 0, 2),
        (Operation::RemoveTree, c"d", c"", 0, 2),
    ] {
        let before = fixture.operator.processes();
        let offset = if operation == Operation::Append { 10 } else { 0 };
        let task = Task { bytes, offset, sync: true, ..task(operation, name, other) };
        fixture.operate(&task).unwrap_or_else(|error| panic!("{operation:?}: {error}"));
        assert_eq!(fixture.operator.processes() - before, processes, "{operation:?}");
    }
    assert!(!fixture.path(b"d").exists());
}

#[test]
fn start_up_is_measured_apart_and_not_counted_as_work() {
    let mut fixture = Fixture::new();
    let seconds = fixture.operator.start_up_seconds(10).unwrap();
    assert!(seconds > 0.0 && seconds < 5.0, "{seconds}");
    assert_eq!(fixture.operator.processes(), 0);
}

#[test]
fn the_words_of_tools_are_understood() {
    assert_eq!(
        copied(b"1+0 records in\n1+0 records out\n4096 bytes (4.1 kB, 4.0 KiB) copied, 1 s, 4 kB/s\n"),
        Some(4096)
    );
    assert_eq!(copied(b"0+0 records in\n0+0 records out\n0 bytes copied, 1 s, 0.0 kB/s\n"), Some(0));
    assert_eq!(copied(b"copied nothing"), None);
    assert_eq!(errno_of("dd: error writing 'f': No space left on device\n1+0 records in\n"), Some(libc::ENOSPC));
    assert_eq!(errno_of("it broke"), None);
}

/// An errno that no tool's words are taken for would fail the lane, where a call is refused by name.
#[test]
fn every_answer_that_means_a_lack_is_recognised_in_a_tools_words() {
    // One of each sort that `lacks` tells apart.
    let sorts = [
        Operation::Create,
        Operation::Link,
        Operation::Symlink,
        Operation::Reflink,
        Operation::Truncate,
        Operation::Fsync,
        Operation::Stat,
    ];
    let mut lacking = Vec::new();
    for errno in 1..200 {
        if sorts.iter().any(|operation| super::super::run::lacks(*operation, errno)) {
            let words = std::io::Error::from_raw_os_error(errno).to_string();
            let words = words.split(" (os error").next().unwrap();
            assert_eq!(errno_of(&format!("mv: cannot do it: {words}\n")), Some(errno), "{words}");
            lacking.push(errno);
        }
    }
    assert!(lacking.contains(&libc::EFBIG) && lacking.len() >= 8, "{lacking:?}");
}
