//! A folder with a failing image comes from anywhere: whoever looks at it changes no disk and no file beside that image,
//! waits for nobody and gives it no more memory than is written down.

mod common;

use common::{Place, assert_one_sentence, root, tool};
use crashes::log::{Entry, LogWriter, MOST_DATA_BYTES, MOST_DISK_BYTES, What};
use engine::durable::{Terms, find};
use serde_json::json;
use std::fs;
use std::io::Write as _;
use std::os::unix::fs::{FileExt as _, PermissionsExt, chown, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// A user that no database knows.
const USER: u32 = 54321;
const BLOCK: usize = 4096;

/// Mounts and loop devices of one test at a time: a process that another test starts holds this one's for a moment.
fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A loop device of a test's own.
struct Loop {
    path: String,
    image: PathBuf,
}

impl Loop {
    fn attach(image: &Path) -> Loop {
        let path = tool("losetup", &["--find", "--show", &image.display().to_string()]);
        Loop { path, image: image.to_owned() }
    }

    /// What is on it, past every cache.
    fn bytes(&self) -> Vec<u8> {
        tool("sync", &[&self.path]);
        fs::read(&self.image).unwrap()
    }
}

impl Drop for Loop {
    fn drop(&mut self) {
        let _ = Command::new("losetup").args(["--detach", &self.path]).status();
    }
}

fn sparse(path: &Path, bytes: u64) -> PathBuf {
    fs::File::create(path).unwrap().set_len(bytes).unwrap();
    path.to_owned()
}

/// Writes a folder as a run keeps one, with this image.
fn forge(place: &Place, (lane, workload): (&str, &str), image: &[u8]) {
    let kept = place.path().join("kept");
    let _ = fs::remove_dir_all(&kept);
    fs::create_dir(&kept).unwrap();
    let mut log = LogWriter::create(&kept.join("log"), image.len() as u64, 1).unwrap();
    let mut tick = 0;
    for (index, block) in image.chunks(BLOCK).enumerate().filter(|(_, block)| block.iter().any(|&byte| byte != 0)) {
        let what = What::Write { offset: (index * BLOCK) as u64, bytes: block.len() as u64, data: 0 };
        log.append(Entry { what, received: tick + 1, replied: tick + 2 }, block).unwrap();
        tick += 2;
    }
    log.append(Entry { what: What::Flush { disk: 0 }, received: tick + 1, replied: tick + 2 }, &[]).unwrap();
    log.flush().unwrap();
    case(
        place,
        lane,
        workload,
        json!({ "records": 3, "seed": 1 }),
        json!({ "tick": tick + 2, "survival": "everything" }),
    );
}

fn case(place: &Place, lane: &str, workload: &str, terms: serde_json::Value, cut: serde_json::Value) {
    let case = json!({ "lane": lane, "workload": workload, "terms": terms, "cut": cut });
    fs::write(place.path().join("kept/case.json"), case.to_string()).unwrap();
}

/// The look refuses, in one sentence, and nothing stays.
#[track_caller]
fn refused(place: &Place, says: &[&str]) {
    let (_, err) = place.expect(2, &["powercut", "--look", "kept"]);
    assert_one_sentence(&err, says);
    place.assert_nothing_left();
}

const OTHERS: &str = "neither repaired nor mounted, because that may change disks that nobody named";

#[test]
fn an_image_that_is_a_part_of_somebodys_btrfs_does_not_join_it() {
    if !root() {
        return;
    }
    let _alone = alone();
    let (place, theirs) = (Place::new(), Place::new());
    let at = |name: &str| theirs.path().join(name);
    let a = Loop::attach(&sparse(&at("a"), 128 << 20));
    let b = Loop::attach(&sparse(&at("b"), 128 << 20));
    tool("mkfs.btrfs", &["-q", "-f", "-d", "raid1", "-m", "raid1", &a.path, &b.path]);
    let mounted = at("mounted");
    fs::create_dir(&mounted).unwrap();
    tool("mount", &[&b.path, &mounted.display().to_string()]);
    fs::write(mounted.join("file"), "theirs").unwrap();
    tool("umount", &[&mounted.display().to_string()]);
    let mut image = b.bytes();
    tool("btrfs", &["device", "scan", "--forget", &b.path]);
    drop(b);
    tool("btrfs", &["device", "scan", &a.path]);
    let before = a.bytes();
    forge(&place, ("btrfs", "append"), &image);
    refused(&place, &[OTHERS, "more devices than one"]);
    // It says that it is alone, and is not: the kernel may believe its tree of chunks.
    for superblock in [64 << 10, 64 << 20] {
        image[superblock + 136] = 1;
    }
    forge(&place, ("btrfs", "append"), &image);
    refused(&place, &[OTHERS, &format!("{} is, by its UUID, a part of the same filesystem", a.path)]);
    // As another lane it would be udev that tells the kernel of it.
    forge(&place, ("ext4", "append"), &image);
    refused(&place, &[OTHERS, "a part of btrfs too"]);
    assert!(a.bytes() == before, "a disk that nobody named was changed");
    tool("btrfs", &["device", "scan", "--forget", &a.path]);
}

/// A filesystem whose journal lies on another device and is not yet put into effect: its image and the journal's.
fn with_journal_elsewhere(place: &Place) -> (PathBuf, PathBuf) {
    let at = |name: &str| place.path().join(name);
    let journal = Loop::attach(&sparse(&at("journal"), 16 << 20));
    let disk = Loop::attach(&sparse(&at("disk"), 64 << 20));
    // With blocks of 1 KiB so small a disk has copies of its superblock.
    tool("mke2fs", &["-q", "-F", "-b", "1024", "-O", "journal_dev", &journal.path]);
    let device = format!("device={}", journal.path);
    tool("mkfs.ext4", &["-q", "-F", "-b", "1024", "-J", &device, &disk.path]);
    let mounted = at("mounted");
    fs::create_dir_all(&mounted).unwrap();
    tool("mount", &[&disk.path, &mounted.display().to_string()]);
    fs::create_dir(mounted.join("work")).unwrap();
    let mut file = fs::File::create(mounted.join("work/log")).unwrap();
    file.write_all(b"theirs").unwrap();
    file.sync_all().unwrap();
    // As a cut leaves them: the journal has to be put into effect.
    for (device, name) in [(&disk, "cut-disk"), (&journal, "cut-journal")] {
        fs::write(at(name), device.bytes()).unwrap();
    }
    drop(file);
    tool("umount", &[&mounted.display().to_string()]);
    (at("cut-disk"), at("cut-journal"))
}

#[test]
fn a_journal_of_somebody_elses_is_not_put_into_effect() {
    if !root() {
        return;
    }
    let _alone = alone();
    let (place, theirs) = (Place::new(), Place::new());
    let (disk, journal) = with_journal_elsewhere(&theirs);
    let journal = Loop::attach(&journal);
    let before = journal.bytes();
    let image = fs::read(&disk).unwrap();
    for lane in ["ext4", "ext2", "ext4(-O ^has_journal)"] {
        forge(&place, (lane, "append"), &image);
        refused(&place, &[OTHERS, "its journal lies on another device"]);
    }
    // e2fsck takes a copy of the superblock where the first is damaged.
    let mut damaged = image.clone();
    damaged[1024..2048].fill(0);
    forge(&place, ("ext2", "append"), &damaged);
    refused(&place, &[OTHERS, "its journal lies on another device"]);
    // A journal inside is put into effect by e2fsck, and may hold another superblock.
    let own = sparse(&place.path().join("own"), 64 << 20);
    tool("mkfs.ext4", &["-q", "-F", &own.display().to_string()]);
    forge(&place, ("ext2", "append"), &fs::read(&own).unwrap());
    refused(&place, &[OTHERS, "it has a journal, and its lane has none"]);
    assert!(journal.bytes() == before, "a disk that nobody named was changed");
}

#[test]
fn an_image_is_mounted_by_the_superblock_that_was_looked_at() {
    if !root() {
        return;
    }
    let _alone = alone();
    let (place, theirs) = (Place::new(), Place::new());
    let (disk, journal) = with_journal_elsewhere(&theirs);
    let journal = Loop::attach(&journal);
    let before = journal.bytes();
    let mut image = fs::read(&disk).unwrap();
    // The superblock that names the journal lies where nobody looks, and the first one names none.
    let named: Vec<u8> = image[1024..2048].to_vec();
    for copy in [8193usize, 24577, 40961, 57345] {
        image[copy << 10..(copy << 10) + 1024].fill(0);
    }
    image[24577 << 10..(24577 << 10) + 1024].copy_from_slice(&named);
    image[1024 + 92] &= !4;
    image[1024 + 208..1024 + 232].fill(0);
    for lane in ["ext4,sb=24577", "ext4,noatime,sb=24577", "ext2,sb=24577"] {
        forge(&place, (lane, "append"), &image);
        for typed in [&[][..], &[lane]] {
            let (_, err) = place.expect(2, &[&["powercut", "--look", "kept"], typed].concat());
            assert_one_sentence(&err, &["the mount option `sb` is not for lanes"]);
            assert!(!err.contains("name the lane again"), "{err}");
            place.assert_nothing_left();
        }
    }
    assert!(journal.bytes() == before, "a disk that nobody named was changed");
}

#[test]
fn an_image_gives_itself_no_mount_options_but_plain_ones() {
    if !root() {
        return;
    }
    let _alone = alone();
    let place = Place::new();
    let own = sparse(&place.path().join("own"), 64 << 20);
    for (options, fine) in
        [("nobarrier", true), ("errors=panic", false), ("journal_path=/dev/sdz", false), ("sb=24577", false)]
    {
        let extended = format!("mount_opts={options}");
        tool("mkfs.ext4", &["-q", "-F", &own.display().to_string()]);
        tool("tune2fs", &["-E", &extended, &own.display().to_string()]);
        forge(&place, ("ext4", "append"), &fs::read(&own).unwrap());
        if fine {
            place.expect(0, &["powercut", "--look", "kept"]);
            place.expect(0, &["clean"]);
        } else {
            let (_, err) = place.expect(2, &["powercut", "--look", "kept"]);
            assert_one_sentence(&err, &["it has mount options of its own"]);
        }
        place.assert_nothing_left();
    }
}

#[test]
fn an_image_that_asks_for_a_panic_becomes_read_only_instead() {
    if !root() {
        return;
    }
    let _alone = alone();
    let place = Place::new();
    let own = sparse(&place.path().join("own"), 64 << 20);
    for filesystem in ["ext4", "ext3", "ext2"] {
        tool(&format!("mkfs.{filesystem}"), &["-q", "-F", "-e", "panic", &own.display().to_string()]);
        for lane in [filesystem.to_owned(), format!("{filesystem},errors=continue")] {
            forge(&place, (&lane, "append"), &fs::read(&own).unwrap());
            let (out, _) = place.expect(0, &["powercut", "--look", "kept", &lane, "--format", "json"]);
            let look: serde_json::Value = serde_json::from_str(&out).unwrap();
            let mounted = look["mounted"].as_str().expect("it is left mounted").to_owned();
            // What differs from the image's own word is shown.
            let options = tool("findmnt", &["-n", "-o", "FS-OPTIONS", &mounted]);
            assert!(options.contains("errors=remount-ro"), "{lane}: {options}");
            place.expect(0, &["clean"]);
            place.assert_nothing_left();
        }
    }
    for lane in ["ext4,errors=panic", "btrfs,fatal_errors=panic"] {
        forge(&place, (lane, "append"), &fs::read(&own).unwrap());
        let (_, err) = place.expect(2, &["powercut", "--look", "kept", lane]);
        assert_one_sentence(&err, &["is not for lanes", "stop"]);
    }
}

#[test]
fn a_case_names_no_file_that_root_would_read() {
    let place = Place::new();
    let secret = place.path().join("sec.toml");
    fs::write(&secret, "root:$6$secret:19000\n").unwrap();
    symlink(&secret, place.path().join("link.toml")).unwrap();
    fs::create_dir(place.path().join("kept")).unwrap();
    let paths =
        [&secret, &place.path().join("link.toml"), &place.path().to_path_buf()].map(|path| path.display().to_string());
    for lane in paths.iter().map(String::as_str).chain(["./sec.toml", "nothing", "tmpfs"]) {
        case(
            &place,
            lane,
            "append",
            json!({ "records": 3, "seed": 1 }),
            json!({ "tick": 1, "survival": "everything" }),
        );
        for typed in [&[][..], &[lane]] {
            let (_, err) = place.expect(2, &[&["powercut", "--look", "kept"], typed].concat());
            assert_one_sentence(
                &err,
                &["is of a lane that the kernel mounts from no disk", "folder that a report names"],
            );
            assert!(!err.contains("secret"), "{err}");
        }
    }
}

#[test]
fn a_log_that_changes_while_it_is_read_moves_no_bound() {
    if !root() {
        return;
    }
    let _alone = alone();
    let place = Place::new();
    let own = sparse(&place.path().join("own"), 16 << 20);
    tool("mkfs.ext4", &["-q", "-F", &own.display().to_string()]);
    forge(&place, ("ext4", "append"), &fs::read(&own).unwrap());
    // One record more is acknowledged at the end, whose number changes all the time.
    let path = place.path().join("kept/log");
    let text = fs::read_to_string(place.path().join("kept/case.json")).unwrap();
    let mut told: serde_json::Value = serde_json::from_str(&text).unwrap();
    let tick = told["cut"]["tick"].as_u64().unwrap();
    told["cut"]["tick"] = (tick + 2).into();
    fs::write(place.path().join("kept/case.json"), told.to_string()).unwrap();
    let at = fs::metadata(&path).unwrap().len() + 1;
    let fields = [1, 0, tick + 1, tick + 2, 0].map(u64::to_le_bytes).concat();
    let entry = [&[4][..], &fields].concat();
    let mut log = fs::File::options().append(true).open(&path).unwrap();
    log.write_all(&entry).unwrap();
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let log = fs::File::options().write(true).open(&path).unwrap();
            while !done.load(Ordering::Relaxed) {
                for record in [1, 200_000u64] {
                    log.write_all_at(&record.to_le_bytes(), at).unwrap();
                    std::thread::sleep(Duration::from_millis(4));
                }
            }
        });
        for _ in 0..24 {
            let output = place.run(&["powercut", "--look", "kept", "--format", "json"]);
            let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
            if output.status.success() {
                let look: serde_json::Value = serde_json::from_str(&out).unwrap();
                if look["acknowledged"] != 1 {
                    done.store(true, Ordering::Relaxed);
                }
                assert_eq!(look["acknowledged"], 1, "{out}");
                place.expect(0, &["clean"]);
            } else if !(err.contains("changed while it was read") || err.contains("case.json is damaged")) {
                done.store(true, Ordering::Relaxed);
                panic!("{err}");
            }
        }
        done.store(true, Ordering::Relaxed);
    });
    place.assert_nothing_left();
}

#[test]
fn a_checker_writes_to_its_own_device_and_to_no_other() {
    if !root() {
        return;
    }
    let _alone = alone();
    let place = Place::new();
    let (disk, journal) = with_journal_elsewhere(&place);
    let (disk, journal) = (Loop::attach(&disk), Loop::attach(&journal));
    let before = journal.bytes();
    let single_lane = lanes::SingleLane::resolve(&"ext2".parse().unwrap()).unwrap();
    let stop = std::sync::atomic::AtomicBool::new(false);
    let told = single_lane.repair(&lanes::Ground::disk(Path::new(&disk.path)), &stop).unwrap();
    assert!(matches!(told, lanes::Consistency::Complaint(_)), "{told:?}");
    assert!(journal.bytes() == before || !has_landlock(), "a disk that nobody named was changed");
}

fn has_landlock() -> bool {
    // SAFETY: with a null pointer, size 0 and this flag the call only answers a version.
    let version = unsafe { libc::syscall(libc::SYS_landlock_create_ruleset, std::ptr::null::<u8>(), 0usize, 1u32) };
    version > 0
}

#[test]
fn an_image_that_udev_would_join_to_other_disks_becomes_no_device() {
    if !root() {
        return;
    }
    let _alone = alone();
    let place = Place::new();
    let own = sparse(&place.path().join("own"), 64 << 20);
    tool("mkfs.ext4", &["-q", "-F", &own.display().to_string()]);
    let image = fs::read(&own).unwrap();
    let end = image.len();
    let md: &[u8] = &[0xFC, 0x4E, 0x2B, 0xA9];
    let ddf: &[u8] = &[0xDE, 0x11, 0xDE, 0x11];
    for (what, offset, magic) in [
        ("LVM", 512, &b"LABELONE"[..]),
        ("LVM", 2 * 512, b"LABELONE"),
        ("LVM", 3 * 512, b"LABELONE"),
        ("md RAID", end - 8192, md),
        ("DDF", end - 257 * 512, ddf),
        ("Promise", end - 63 * 512, b"Promise Technology, Inc."),
        ("LUKS", 0, b"LUKS\xBA\xBE"),
    ] {
        let mut image = image.clone();
        image[offset..offset + magic.len()].copy_from_slice(magic);
        forge(&place, ("ext4", "append"), &image);
        refused(&place, &[OTHERS, what]);
    }
    // A device of it would end before the file does, and what counts from its end would lie elsewhere.
    let mut odd = image.clone();
    odd.resize(end + BLOCK, 0);
    odd.truncate(end + 100);
    odd[end - 8192..end - 8192 + 4].copy_from_slice(md);
    forge(&place, ("ext4", "append"), &odd);
    refused(&place, &["kept/log cannot be read", "512"]);
}

#[test]
fn links_pipes_and_devices_in_a_crash_image_lead_nowhere() {
    if !root() {
        return;
    }
    let _alone = alone();
    let place = Place::new();
    let at = |name: &str| place.path().join(name);
    // Somebody's database, and a pipe that nobody writes.
    fs::create_dir(at("victim")).unwrap();
    find("sqlite-rollback").unwrap().prepare(&at("victim"), Terms::new(1, 1)).unwrap();
    let database = fs::read(at("victim/database")).unwrap();
    tool("mkfifo", &[&at("pipe").display().to_string()]);
    let (pipe, victim) = (at("pipe"), at("victim/database"));
    for (workload, name, to) in [
        ("append", "log", pipe.as_path()),
        ("append", "log", Path::new("/dev/zero")),
        ("replace", "settings", pipe.as_path()),
        ("sequences", "s1", Path::new("/etc")),
        ("sqlite-wal", "database", victim.as_path()),
        ("sqlite-rollback", "database", victim.as_path()),
        ("sqlite-wal", "", victim.parent().unwrap()),
    ] {
        let tree = at("tree");
        let _ = fs::remove_dir_all(&tree);
        fs::create_dir(&tree).unwrap();
        if name.is_empty() {
            symlink(to, tree.join("work")).unwrap();
        } else {
            fs::create_dir(tree.join("work")).unwrap();
            symlink(to, tree.join("work").join(name)).unwrap();
        }
        let image = sparse(&at("image"), 64 << 20);
        tool("mkfs.ext4", &["-q", "-F", "-d", &tree.display().to_string(), &image.display().to_string()]);
        forge(&place, ("ext4", workload), &fs::read(&image).unwrap());
        let started = Instant::now();
        let (out, _) = place.expect(0, &["powercut", "--look", "kept", "--format", "json"]);
        assert!(started.elapsed() < Duration::from_secs(60), "{workload}");
        let look: serde_json::Value = serde_json::from_str(&out).unwrap();
        let wrong = look["wrong"].as_str().unwrap_or_default().to_owned();
        assert!(wrong.contains("it is no regular file") || wrong.contains("it is no folder"), "{workload}: {out}");
        let mounted = look["mounted"].as_str().expect("it is left mounted").to_owned();
        let options = tool("findmnt", &["-n", "-o", "VFS-OPTIONS", &mounted]);
        for wanted in ["nosuid", "nodev", "noexec"] {
            assert!(options.contains(wanted), "{options}");
        }
        place.expect(0, &["clean"]);
        place.assert_nothing_left();
    }
    assert!(fs::read(&victim).unwrap() == database, "somebody's database was written");
    assert_eq!(fs::read_dir(at("victim")).unwrap().count(), 1, "and nothing was made beside it");
}

/// Processes that serve a disk of this place.
fn recorders(place: &Place) -> usize {
    let place = place.path().display().to_string();
    let lines = fs::read_dir("/proc").unwrap().flatten().map(|entry| fs::read(entry.path().join("cmdline")));
    let lines = lines.flatten().map(|line| String::from_utf8_lossy(&line).replace('\0', " "));
    lines.filter(|line| line.contains("recorder") && line.contains(&place)).count()
}

#[test]
fn a_log_of_a_stranger_is_waited_for_by_nobody_and_read_within_bounds() {
    if !root() {
        return;
    }
    let _alone = alone();
    let place = Place::new();
    let log = place.path().join("kept/log");
    let terms = json!({ "records": 3, "seed": 1 });
    let cut = json!({ "tick": 9, "survival": "everything" });
    fs::create_dir(place.path().join("kept")).unwrap();
    case(&place, "ext4", "append", terms.clone(), cut.clone());
    let head = |disk: u64| [&b"FLCUT001"[..], &disk.to_le_bytes()].concat();
    let entry = |kind: u8, fields: [u64; 4]| {
        let fields = fields.iter().flat_map(|field| field.to_le_bytes());
        std::iter::once(kind).chain(fields).chain([0; 8]).collect::<Vec<u8>>()
    };
    tool("mkfifo", &[&log.display().to_string()]);
    refused(&place, &["kept/log cannot be read: it is no regular file"]);
    fs::remove_file(&log).unwrap();
    symlink("/dev/zero", &log).unwrap();
    refused(&place, &["it is no regular file"]);
    fs::remove_file(&log).unwrap();
    // Few bytes on the disk, and many in memory.
    fs::write(&log, [head(4 << 30), entry(1, [0, 2 << 30, 1, 2])].concat()).unwrap();
    fs::File::options().write(true).open(&log).unwrap().set_len((2 << 30) + 4096).unwrap();
    refused(&place, &[&format!("and at most {} are looked at", model::Bytes(MOST_DATA_BYTES))]);
    fs::write(&log, head(1 << 50)).unwrap();
    refused(&place, &[&format!("and at most {} are looked at", model::Bytes(MOST_DISK_BYTES))]);
    // What does not add up is an end or a damage, and no panic.
    fs::write(&log, [head(1 << 20), entry(1, [0, u64::MAX, 1, 2])].concat()).unwrap();
    let (out, _) = place.expect(0, &["powercut", "--look", "kept"]);
    assert!(out.contains("it does not mount"), "{out}");
    place.expect(0, &["clean"]);
    fs::write(&log, [head(1 << 20), entry(1, [u64::MAX, 0, 1, 2]), vec![0; 99]].concat()).unwrap();
    refused(&place, &["an entry lies outside of the disk"]);
    // A case that no run keeps.
    fs::write(&log, [head(1 << 20), entry(4, [u64::MAX, 0, 1, 2])].concat()).unwrap();
    refused(&place, &["case.json is damaged: it is of 3 records"]);
    case(&place, "ext4", "append", json!({ "records": u64::MAX, "seed": 1 }), cut);
    refused(&place, &["works have 10000 at most"]);
    let torn = json!({ "tick": 9, "survival": { "torn": { "seed": 1, "sector_bytes": 0 } } });
    case(&place, "ext4", "append", terms, torn);
    refused(&place, &["there is no cut 9/torn:1:0"]);
    assert_eq!(recorders(&place), 0, "a process that serves a disk stayed");
}

#[test]
fn a_log_that_is_a_link_to_a_file_of_roots_is_not_read_under_sudo() {
    if !root() {
        return;
    }
    let _alone = alone();
    let place = Place::new();
    fs::set_permissions(place.path(), PermissionsExt::from_mode(0o755)).unwrap();
    let own = sparse(&place.path().join("own"), 64 << 20);
    tool("mkfs.ext4", &["-q", "-F", &own.display().to_string()]);
    forge(&place, ("ext4", "append"), &fs::read(&own).unwrap());
    let (kept, secret) = (place.path().join("kept"), place.path().join("secret"));
    fs::rename(kept.join("log"), &secret).unwrap();
    fs::set_permissions(&secret, PermissionsExt::from_mode(0o600)).unwrap();
    symlink(&secret, kept.join("log")).unwrap();
    for path in [&kept, &kept.join("case.json")] {
        chown(path, Some(USER), Some(USER)).unwrap();
    }
    std::os::unix::fs::lchown(kept.join("log"), Some(USER), Some(USER)).unwrap();
    let mut look = place.fairlane(&["powercut", "--look", "kept"]);
    let output = look.env("SUDO_UID", USER.to_string()).env("SUDO_GID", USER.to_string()).output().unwrap();
    let err = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{err}");
    assert_one_sentence(&err, &["kept/log cannot be read: Permission denied"]);
    place.assert_nothing_left();
}

#[test]
fn a_report_of_a_strangers_record_shows_no_line_that_looks_at_their_images() {
    let place = Place::new();
    let own = place.path().join("state/fairlane/durability");
    fs::create_dir_all(&own).unwrap();
    let kept = own.join("r.kept/ext4-append").display().to_string();
    let text = strangers_record(&kept);
    fs::write(own.join("r.jsonl"), &text).unwrap();
    fs::write(place.path().join("r.jsonl"), &text).unwrap();
    symlink(place.path().join("r.jsonl"), own.join("link.jsonl")).unwrap();
    let shown = |path: &Path| place.expect(0, &["report", &path.display().to_string()]).0;
    assert!(shown(&own.join("r.jsonl")).contains(&format!("powercut --look {kept}")));
    for other in [place.path().join("r.jsonl"), own.join("link.jsonl")] {
        let text = shown(&other);
        assert!(!text.contains("--look") && text.contains("is not among your own"), "{text}");
    }
    fs::write(own.join("other.jsonl"), strangers_record("/home/mallory/k")).unwrap();
    assert!(!shown(&own.join("other.jsonl")).contains("--look"));
}

/// The record of a run whose first failing image is kept there.
fn strangers_record(kept: &str) -> String {
    let line = |line: &str| {
        let mut line: serde_json::Value = serde_json::from_str(line).unwrap();
        if let Some(first) = line["examples"].as_array_mut().and_then(|all| all.first_mut()) {
            first["kept"] = kept.into();
        }
        line.to_string() + "\n"
    };
    let record: String = include_str!("fixtures/durability1.jsonl").lines().map(line).collect();
    assert!(record.contains(kept), "the record has a failing image");
    record
}
