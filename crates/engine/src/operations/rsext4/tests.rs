//! The library on a file that first holds noise, as images of a race do, and e2fsck's word on it.

use super::*;
use crate::OpenTarget;
use crate::operations::contents::Contents;
use model::Bytes;
use model::agent::Target;
use model::workload::{Kind, SmallFiles, Workload};
use std::collections::BTreeSet;
use std::ffi::CString;
use std::io::Write;
use std::path::PathBuf;
use std::process::Command;
use std::sync::{LazyLock, PoisonError};

const IMAGE_BYTES: usize = 96 << 20;

struct Image {
    _folder: tempfile::TempDir,
    path: PathBuf,
    journal: bool,
}

impl Image {
    fn new(journal: bool) -> Image {
        Image::below("/var/tmp", journal)
    }

    fn below(folder: &str, journal: bool) -> Image {
        let folder = tempfile::tempdir_in(folder).unwrap();
        let path = folder.path().join("image");
        let mut file = std::fs::File::create(&path).unwrap();
        for megabyte in 0..(IMAGE_BYTES >> 20) as u64 {
            file.write_all(&contents(megabyte, NOISE, 1 << 20)).unwrap();
        }
        Image { _folder: folder, path, journal }
    }

    fn open(&self, format: bool) -> Library {
        Library::open(&self.target(format)).unwrap()
    }

    fn target(&self, format: bool) -> LibraryTarget {
        let options = if self.journal { vec!["journal".to_owned()] } else { Vec::new() };
        LibraryTarget { filesystem: "rsext4".to_owned(), device: self.path.clone(), options, format }
    }

    /// Unmounts, and asks e2fsck, which changes nothing.
    fn close(&self, library: &Library) {
        library.unmount().unwrap();
        let checked = Command::new("/sbin/e2fsck").args(["-f", "-n"]).arg(&self.path).output().unwrap();
        assert!(
            checked.status.success(),
            "journal {}: {}{}",
            self.journal,
            String::from_utf8_lossy(&checked.stdout),
            String::from_utf8_lossy(&checked.stderr)
        );
    }
}

/// Formats an image for each mode, does the work, and checks the image.
fn in_both_modes(mut work: impl FnMut(&Image, &mut Rsext4Calls)) {
    for journal in [false, true] {
        let image = Image::new(journal);
        let library = image.open(true);
        work(&image, &mut library.calls(""));
        image.close(&library);
    }
}

fn name(text: impl Into<Vec<u8>>) -> CString {
    CString::new(text).unwrap()
}

fn put(calls: &mut Rsext4Calls, path: &CStr, bytes: &[u8]) {
    let mut file = calls.open(path, Access::New).unwrap();
    for (number, block) in bytes.chunks(1 << 20).enumerate() {
        assert_eq!(calls.write(&mut file, block, (number as u64) << 20).unwrap(), block.len());
    }
    calls.close(file).unwrap();
}

fn get(calls: &mut Rsext4Calls, path: &CStr) -> Vec<u8> {
    let mut file = calls.open(path, Access::Read).unwrap();
    let mut bytes = vec![0xee; calls.stat(path).unwrap().size as usize + 10];
    let mut at = 0;
    loop {
        let end = bytes.len().min(at + (1 << 20));
        match calls.read(&mut file, &mut bytes[at..end], at as u64).unwrap() {
            0 => break,
            moved => at += moved,
        }
    }
    bytes.truncate(at);
    bytes
}

fn names(calls: &mut Rsext4Calls, path: &CStr) -> BTreeSet<Vec<u8>> {
    let mut names = BTreeSet::new();
    calls.list(path, &mut |entry| assert!(names.insert(entry.to_vec()), "{entry:?} is listed twice")).unwrap();
    names
}

/// The generation of what an image holds before, in which no file is.
const NOISE: u32 = 0;

/// So many bytes of a file, of a pool that is made once: making it takes longer than what tests do with it.
fn contents(file: u64, generation: u32, length: usize) -> Vec<u8> {
    static POOL: LazyLock<Mutex<Contents>> = LazyLock::new(|| Mutex::new(Contents::new(3, 8 << 20)));
    POOL.lock().unwrap_or_else(PoisonError::into_inner).bytes(file, generation, 0, length).to_vec()
}

fn some_bytes(file: u64, length: usize) -> Vec<u8> {
    contents(file, 1, length)
}

#[test]
fn files_of_every_size_hold_what_was_written_also_after_a_remount() {
    let sizes = [0, 1, 511, 4095, 4096, 4097, 70_000, (1 << 20) + 3, 5 << 20];
    in_both_modes(|image, calls| {
        for (number, size) in sizes.into_iter().enumerate() {
            let path = name(format!("f{number}"));
            put(calls, &path, &some_bytes(number as u64, size));
            assert!(get(calls, &path) == some_bytes(number as u64, size), "{size}");
        }
        calls.sync_all().unwrap();
        image.close(&calls.library);
        let again = image.open(false);
        let mut calls = again.calls("");
        for (number, size) in sizes.into_iter().enumerate() {
            let path = name(format!("f{number}"));
            assert_eq!(calls.stat(&path).unwrap(), Status { size: size as u64, is_directory: false });
            assert!(get(&mut calls, &path) == some_bytes(number as u64, size), "{size}");
        }
        image.close(&again);
    });
}

#[test]
fn holes_overwrites_appends_and_truncations_leave_the_bytes_that_they_should() {
    in_both_modes(|_, calls| {
        let path = c"model";
        let mut model = some_bytes(1, 300_000);
        put(calls, path, &model);
        let mut file = calls.open(path, Access::Write).unwrap();
        for (number, (offset, length)) in
            [(5, 10_000), (4096, 4096), (299_000, 20_000), (3 << 20, 70_000), (8191, 2)].into_iter().enumerate()
        {
            let bytes = some_bytes(10 + number as u64, length);
            assert_eq!(calls.write(&mut file, &bytes, offset as u64).unwrap(), length);
            model.resize(model.len().max(offset + length), 0);
            model[offset..offset + length].copy_from_slice(&bytes);
        }
        assert!(get(calls, path) == model, "overwritten, with a hole");
        calls.close(file).unwrap();
        for number in 0..20 {
            let bytes = some_bytes(100 + number, 1000);
            let mut file = calls.open(path, Access::Append).unwrap();
            assert_eq!(calls.write(&mut file, &bytes, 0).unwrap(), 1000);
            calls.sync(&mut file).unwrap();
            calls.close(file).unwrap();
            model.extend_from_slice(&bytes);
        }
        assert!(get(calls, path) == model, "appended");
        let mut file = calls.open(path, Access::Write).unwrap();
        for size in [2_000_001, 1000, 900_000, 4096, 0, 10] {
            calls.truncate(&mut file, size).unwrap();
            model.resize(size as usize, 0);
            assert!(get(calls, path) == model, "truncated to {size}");
        }
        calls.allocate(&mut file, 0, 1 << 20).unwrap();
        model.resize(1 << 20, 0);
        assert!(get(calls, path) == model, "allocated");
        let mut room = [1; 100];
        assert_eq!(calls.read(&mut file, &mut room, (1 << 20) - 40).unwrap(), 40, "up to the end and not further");
        assert_eq!(calls.read(&mut file, &mut room, 5 << 20).unwrap(), 0);
    });
}

#[test]
fn three_hundred_names_in_a_directory_are_listed_renamed_and_removed() {
    in_both_modes(|image, calls| {
        calls.make_directory(c"d").unwrap();
        calls.make_directory(c"e").unwrap();
        let path = |directory: &str, number: u64| name(format!("{directory}/f{number:09}"));
        for number in 0..300 {
            put(calls, &path("d", number), &some_bytes(number, 1024));
        }
        let all: BTreeSet<Vec<u8>> = (0..300).map(|number| format!("f{number:09}").into_bytes()).collect();
        assert_eq!(names(calls, c"d"), all);
        assert_eq!(calls.stat(c"d").map(|status| status.is_directory), Ok(true));
        for number in 0..100 {
            calls.rename(&path("d", number), &path("e", number)).unwrap();
            calls.rename(&path("d", 100 + number), &path("d", 1000 + number)).unwrap();
        }
        // A name that is taken: what had it goes.
        calls.rename(&path("d", 1000), &path("d", 1001)).unwrap();
        calls.sync_directory(c"d").unwrap();
        image.close(&calls.library);
        let again = image.open(false);
        let mut calls = again.calls("");
        assert_eq!(names(&mut calls, c"d").len(), 199);
        assert_eq!(names(&mut calls, c"e").len(), 100);
        for number in 0..100 {
            assert!(get(&mut calls, &path("e", number)) == some_bytes(number, 1024), "{number}");
            assert!(get(&mut calls, &path("d", 200 + number)) == some_bytes(200 + number, 1024), "{number}");
        }
        assert!(get(&mut calls, &path("d", 1001)) == some_bytes(100, 1024));
        assert_eq!(calls.remove_directory(c"e"), Err(Errno::NOTEMPTY));
        for directory in [c"d", c"e"] {
            for entry in names(&mut calls, directory) {
                let path = [directory.to_bytes(), b"/", &entry].concat();
                calls.unlink(&name(path)).unwrap();
            }
            assert_eq!(names(&mut calls, directory), BTreeSet::new());
            calls.remove_directory(directory).unwrap();
            assert_eq!(calls.stat(directory), Err(Errno::NOENT));
        }
        assert_eq!(names(&mut calls, c"."), BTreeSet::from([b"lost+found".to_vec()]));
        image.close(&again);
    });
}

#[test]
fn hostile_names_are_names_like_others() {
    let hostile =
        ["x".repeat(255), "日本語 ёжик ñ".to_owned(), " a  b ".to_owned(), "-rf".to_owned(), "a\nb".to_owned()];
    let hostile = hostile.into_iter().chain(["a\\b".to_owned(), "\u{1}\u{7f}\t".to_owned(), "..a".to_owned()]);
    let hostile: Vec<CString> = hostile.map(|text| name(format!("h/{text}"))).collect();
    in_both_modes(|_, calls| {
        calls.make_directory(c"h").unwrap();
        for (number, path) in hostile.iter().enumerate() {
            put(calls, path, &some_bytes(number as u64, 100 * number));
        }
        let expected: BTreeSet<Vec<u8>> = hostile.iter().map(|path| path.to_bytes()[2..].to_vec()).collect();
        assert_eq!(names(calls, c"h"), expected);
        for (number, path) in hostile.iter().enumerate() {
            assert!(get(calls, path) == some_bytes(number as u64, 100 * number), "{path:?}");
            calls.unlink(path).unwrap();
        }
        calls.remove_directory(c"h").unwrap();
    });
}

#[test]
fn links_share_a_file_and_symbolic_links_hold_their_target() {
    in_both_modes(|image, calls| {
        calls.make_directory(c"d").unwrap();
        put(calls, c"d/a", &some_bytes(1, 5000));
        calls.link(c"d/a", c"d/b").unwrap();
        assert_eq!(calls.link(c"d/a", c"d/b"), Err(Errno::EXIST));
        let long = name("t".repeat(200));
        calls.symlink(c"a", c"d/s").unwrap();
        calls.symlink(&long, c"d/l").unwrap();
        assert_eq!(calls.stat(c"d/s"), Ok(Status { size: 1, is_directory: false }));
        assert_eq!(calls.stat(c"d/l"), Ok(Status { size: 200, is_directory: false }));
        let mut room = [0; 300];
        for (path, target) in [(c"d/s", c"a"), (c"d/l", &*long)] {
            let length = calls.read_link(path, &mut room).unwrap();
            assert_eq!(&room[..length], target.to_bytes());
        }
        assert_eq!((calls.links(c"d/a"), calls.links(c"d/s")), (Ok(2), Ok(1)));
        calls.unlink(c"d/a").unwrap();
        assert_eq!(calls.links(c"d/b"), Ok(1));
        assert!(get(calls, c"d/b") == some_bytes(1, 5000), "the other name keeps the file");
        image.close(&calls.library);
        let again = image.open(false);
        let mut calls = again.calls("d");
        assert_eq!(names(&mut calls, c".").len(), 3);
        for path in [c"b", c"s", c"l"] {
            calls.unlink(path).unwrap();
        }
        assert_eq!(names(&mut calls, c".").len(), 0);
        calls.make_directory(c"deep").unwrap();
        put(&mut calls, c"deep/f", b"x");
        calls.symlink(c"f", c"deep/s").unwrap();
        let mut calls = again.calls_in_new("d").unwrap();
        assert_eq!(names(&mut calls, c".").len(), 0, "what lay there is gone");
        image.close(&again);
    });
}

#[test]
fn attributes_need_the_journal_and_shared_blocks_do_not_exist() {
    in_both_modes(|image, calls| {
        put(calls, c"f", b"x");
        let value = [7; 32];
        let mut room = [0; 64];
        if image.journal {
            assert_eq!(calls.get_xattr(c"f", c"user.fairlane", &mut room).map_err(|_| ()), Err(()));
            calls.set_xattr(c"f", c"user.fairlane", &[1; 20]).unwrap();
            calls.set_xattr(c"f", c"user.fairlane", &value).unwrap();
            assert_eq!(calls.get_xattr(c"f", c"user.fairlane", &mut room), Ok(32));
            assert_eq!(room[..32], value);
            assert_eq!(calls.get_xattr(c"f", c"user.fairlane", &mut room[..4]), Err(Errno::RANGE));
        } else {
            assert_eq!(calls.set_xattr(c"f", c"user.fairlane", &value), Err(Errno::OPNOTSUPP));
            assert_eq!(calls.get_xattr(c"f", c"user.fairlane", &mut room), Err(Errno::OPNOTSUPP));
        }
        assert_eq!(calls.set_xattr(c"f", c"system.x", &value), Err(Errno::OPNOTSUPP));
        assert_eq!(calls.reflink(c"f", c"g"), Err(Errno::OPNOTSUPP));
    });
}

#[test]
fn wrong_calls_are_answered_as_the_kernel_would() {
    in_both_modes(|_, calls| {
        calls.make_directory(c"d").unwrap();
        put(calls, c"d/f", b"x");
        let failed = |result: Result<Rsext4File, Errno>| result.map(|file| file.inode).unwrap_err();
        assert_eq!(failed(calls.open(c"d/g", Access::Read)), Errno::NOENT);
        assert_eq!(failed(calls.open(c"d/f", Access::New)), Errno::EXIST);
        assert_eq!(failed(calls.open(c"d", Access::Write)), Errno::ISDIR);
        assert_eq!(failed(calls.open(&name("n".repeat(256)), Access::New)), Errno::NAMETOOLONG);
        assert_eq!(calls.make_directory(c"d"), Err(Errno::EXIST));
        assert_eq!(calls.remove_directory(c"d"), Err(Errno::NOTEMPTY));
        assert_eq!(calls.remove_directory(c"d/f"), Err(Errno::NOTDIR));
        assert_eq!(calls.unlink(c"d"), Err(Errno::ISDIR));
        assert_eq!(calls.unlink(c"d/g"), Err(Errno::NOENT));
        assert_eq!(calls.stat(c"x/y"), Err(Errno::NOENT));
        assert_eq!(calls.rename(c"d/g", c"d/h"), Err(Errno::NOENT));
        assert_eq!(calls.list(c"d/f", &mut |_| {}), Err(Errno::NOTDIR));
    });
}

#[test]
fn a_full_lane_says_so_and_stays_whole() {
    in_both_modes(|_, calls| {
        let bytes = some_bytes(1, 4 << 20);
        let mut full = None;
        for number in 0..IMAGE_BYTES >> 22 {
            let mut file = calls.open(&name(format!("f{number}")), Access::New).unwrap();
            if let Err(errno) = calls.write(&mut file, &bytes, 0) {
                full = Some(errno);
                break;
            }
        }
        assert_eq!(full, Some(Errno::NOSPC));
        assert!(get(calls, c"f0") == bytes);
        calls.unlink(c"f0").unwrap();
        calls.sync_all().unwrap();
    });
}

#[test]
fn what_was_synced_is_there_after_a_crash() {
    for journal in [false, true] {
        let image = Image::new(journal);
        let library = image.open(true);
        let mut calls = library.calls("");
        calls.make_directory(c"d").unwrap();
        for number in 0..50 {
            put(&mut calls, &name(format!("d/f{number}")), &some_bytes(number, 6000));
        }
        calls.sync_all().unwrap();
        // The disk as a crash at this moment would leave it.
        let crashed =
            Image { path: image.path.with_extension("crashed"), _folder: tempfile::tempdir().unwrap(), journal };
        std::fs::copy(&image.path, &crashed.path).unwrap();
        library.unmount().unwrap();
        let recovered = crashed.open(false);
        let mut calls = recovered.calls("d");
        for number in 0..50 {
            assert!(get(&mut calls, &name(format!("f{number}"))) == some_bytes(number, 6000), "{journal} {number}");
        }
        crashed.close(&recovered);
    }
}

#[test]
fn hundreds_of_synced_operations_end_in_a_clean_unmount() {
    for journal in [false, true] {
        // In memory, where a flush costs nothing.
        let image = Image::below("/dev/shm", journal);
        let library = image.open(true);
        let calls = &mut library.calls("");
        for number in 0..300 {
            let path = name(format!("f{number}"));
            put(calls, &path, &some_bytes(number, 700));
            let mut file = calls.open(&path, Access::Read).unwrap();
            calls.sync(&mut file).unwrap();
            if number % 2 == 1 {
                calls.unlink(&path).unwrap();
                calls.sync_all().unwrap();
            }
        }
        assert_eq!(names(calls, c".").len(), 151);
        image.close(&library);
    }
}

#[test]
fn an_inode_that_waits_to_be_freed_does_not_keep_the_library_mounted() {
    let image = Image::new(true);
    let library = image.open(true);
    put(&mut library.calls(""), c"f", &some_bytes(1, 50_000));
    let waiting = library.with(|mounted| match mounted {
        Mounted::Journal(mounted) => {
            let root = mounted.root_inode();
            mounted.unlink(root, rsext4::FileName::new(b"f")?)
        }
        Mounted::Plain(_) => Err(Ext4Error::unsupported()),
    });
    assert!(waiting.unwrap().requires_reap());
    // The crate answers Busy to this unmount; the next mount's replay frees the inode.
    image.close(&library);
}

#[test]
fn thousands_of_names_in_a_directory_are_all_there() {
    for journal in [false, true] {
        let image = Image::below("/dev/shm", journal);
        let library = image.open(true);
        let calls = &mut library.calls("");
        calls.make_directory(c"d").unwrap();
        for number in 0..3000 {
            put(calls, &name(format!("d/f{number:09}")), b"");
        }
        assert_eq!(names(calls, c"d").len(), 3000);
        image.close(&library);
    }
}

#[test]
fn threads_take_turns_and_an_unmounted_library_refuses_them() {
    in_both_modes(|image, calls| {
        let library = calls.library.clone();
        std::thread::scope(|scope| {
            for thread in 0..2u64 {
                let mut calls = library.calls("");
                scope.spawn(move || {
                    let folder = name(format!("t{thread}"));
                    calls.make_directory(&folder).unwrap();
                    for number in 0..100 {
                        let path = name(format!("t{thread}/f{number}"));
                        put(&mut calls, &path, &some_bytes(thread * 1000 + number, 3000));
                        assert!(get(&mut calls, &path) == some_bytes(thread * 1000 + number, 3000));
                    }
                });
            }
        });
        assert_eq!(names(calls, c"t0"), names(calls, c"t1"));
        image.close(&library);
        assert_eq!(calls.stat(c"t0"), Err(Errno::NODEV));
        library.unmount().unwrap();
    });
}

#[test]
fn what_cannot_be_opened_is_refused_in_one_sentence() {
    let image = Image::new(false);
    let open = |target: LibraryTarget| match OpenTarget::open(&Target::Library(target)) {
        Ok(place) => panic!("{place:?} was opened"),
        Err(error) => error.to_string(),
    };
    let fresh = image.target(false);
    // Noise is no filesystem.
    assert!(open(fresh.clone()).contains("rsext4 cannot mount"), "{}", open(fresh.clone()));
    let strange = LibraryTarget { options: vec!["noatime".to_owned()], ..fresh.clone() };
    assert!(open(strange).contains("no option noatime; it takes journal or nojournal"));
    let other = LibraryTarget { filesystem: "zealfs".to_owned(), ..fresh.clone() };
    assert!(open(other).contains("zealfs is not built in"));
    assert!(open(LibraryTarget { device: "/dev/null".into(), ..fresh.clone() }).contains("neither a block device nor"));
    assert!(open(LibraryTarget { device: "/no/such".into(), ..fresh }).contains("No such file"));
    let small = image.path.with_extension("small");
    std::fs::write(&small, [0; 8192]).unwrap();
    let small = LibraryTarget { device: small, ..image.target(true) };
    assert!(open(small.clone()).contains("rsext4 cannot format"), "{}", open(small));
}

#[test]
fn only_operations_are_prepared_on_a_library() {
    let image = Image::new(false);
    let place = OpenTarget::open(&Target::Library(image.target(true))).unwrap();
    let kind =
        Kind::SmallFiles(SmallFiles { files: 10, size: Bytes(1024), directories: 1, sharing: Default::default() });
    let workload = Workload { name: "w".to_owned(), title: "t".to_owned(), kind };
    let stop = Arc::new(std::sync::atomic::AtomicBool::new(false));
    let refused = crate::prepare(&place, &workload, 1, stop).err().map(|error| error.to_string()).unwrap();
    assert!(refused.contains("workload w needs a kernel filesystem") && refused.contains("--suite operations"));
    assert!(place.sync().unwrap() >= 0.0);
    let clone = place.try_clone().unwrap();
    place.close().unwrap();
    assert!(clone.sync().unwrap_err().to_string().contains("sync rsext4 on"));
}
