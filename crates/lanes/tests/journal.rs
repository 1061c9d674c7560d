//! The undo journal on a disk that is full, fails, or is taken away, and journals that are none. Whatever happens, a
//! promise that was given is kept.

mod common;

use common::{Scratch, no_stop, privileged};
use lanes::undo::{Recovered, Thing, recover};
use lanes::{FailureKind, Journal, LaneSet};
use std::io::Write as _;
use std::os::unix::fs::{FileExt as _, OpenOptionsExt as _, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::Command;

/// A small filesystem in memory over the scratch folder's undo directory.
struct SmallDisk<'a> {
    scratch: &'a Scratch,
}

impl<'a> SmallDisk<'a> {
    fn over_the_journals(scratch: &'a Scratch, kibibytes: u32) -> Self {
        lanes::mount::mount("tmpfs", "fairlane-test", &[format!("size={kibibytes}k")], &scratch.undo()).unwrap();
        SmallDisk { scratch }
    }

    /// Writes until nothing more goes on the disk; answers the file.
    fn fill(&self) -> PathBuf {
        let path = self.scratch.undo().join("filler");
        let mut file = std::fs::OpenOptions::new().append(true).create(true).open(&path).unwrap();
        for block in [vec![1u8; 4096], vec![1u8]] {
            while file.write_all(&block).is_ok() {}
        }
        path
    }
}

impl Drop for SmallDisk<'_> {
    fn drop(&mut self) {
        lanes::mount::unmount_patiently(&self.scratch.undo()).unwrap();
    }
}

/// A folder like that of a run, made after its promise.
fn promised_folder(journal: &mut Journal, path: &Path) -> bool {
    let promised = journal.will(Thing::RunDirectory { path: path.to_owned() }).is_ok();
    if promised {
        std::fs::create_dir_all(path).unwrap();
    }
    promised
}

/// Rewrites the owner to a process that is long dead, in place: a full disk takes no new file.
fn disown(scratch: &Scratch) {
    let path = scratch.journal_path();
    let text = std::fs::read(&path).unwrap();
    let line = String::from_utf8(text.split(|&byte| byte == b'\n').next().unwrap().to_vec()).unwrap();
    let mut owner: serde_json::Value = serde_json::from_str(&line).unwrap();
    owner["start_ticks"] = 1.into();
    let dead = owner.to_string();
    assert!(dead.len() <= line.len());
    let padded = format!("{dead}{}", " ".repeat(line.len() - dead.len()));
    std::fs::OpenOptions::new().write(true).open(&path).unwrap().write_all_at(padded.as_bytes(), 0).unwrap();
}

#[test]
fn a_full_disk_swallows_no_promise_that_was_given() {
    if !privileged("full disk") {
        return;
    }
    let scratch = Scratch::new();
    let disk = SmallDisk::over_the_journals(&scratch, 256);
    let mut journal = scratch.journal();
    let filler = disk.fill();
    // Promises until one is refused, and one more as soon as there is room again.
    let folder =
        |number: usize| scratch.path.join(format!("{number:03}")).join(scratch.run_directory().file_name().unwrap());
    let mut made = 0;
    while promised_folder(&mut journal, &folder(made)) {
        made += 1;
        assert!(made < 4000, "the disk is never full");
    }
    std::fs::OpenOptions::new().write(true).open(&filler).unwrap().set_len(0).unwrap();
    let late = promised_folder(&mut journal, &folder(made));
    let text = std::fs::read_to_string(scratch.journal_path()).unwrap();
    drop(journal);
    disown(&scratch);
    let recovered = recover(&scratch.undo());
    assert_eq!(recovered.failures, Vec::<String>::new());
    let left: Vec<PathBuf> = (0..=made).map(folder).filter(|path| path.exists()).collect();
    assert_eq!(left, Vec::<PathBuf>::new(), "made {made}, late {late}:\n{}", &text[text.len().saturating_sub(900)..]);
    for number in 0..=made {
        let _ = std::fs::remove_dir(scratch.path.join(format!("{number:03}")));
    }
    assert!(!scratch.journal_path().exists());
    drop(disk);
}

#[test]
fn a_full_disk_ends_a_race_and_its_clean_up_goes_on() {
    if !privileged("full disk under a race") {
        return;
    }
    let scratch = Scratch::new();
    let disk = SmallDisk::over_the_journals(&scratch, 512);
    // Full before: nothing is made.
    let filler = disk.fill();
    let refused = Journal::begin(&scratch.undo(), &scratch.run_id()).unwrap_err().to_string();
    assert!(refused.contains("free some space under"), "{refused}");
    assert!(!scratch.journal_path().exists());
    std::fs::remove_file(&filler).unwrap();
    // Full while lanes come and go: the race ends with a lane that is not opened.
    let mut lane_set = LaneSet::check(scratch.settings(&["ext4"], 64)).unwrap();
    let mut journal = scratch.journal();
    lane_set.build(&mut journal, &mut |_, _| {}, &no_stop()).unwrap();
    disk.fill();
    let lane_opens = |lane_set: &mut LaneSet, journal: &mut Journal| lane_set.open(0, 0, journal, &no_stop()).map(drop);
    // What is reserved still takes promises.
    lane_opens(&mut lane_set, &mut journal).unwrap();
    lane_set.close(0, &mut journal).unwrap();
    while journal.will(Thing::RunDirectory { path: scratch.run_directory().join("x") }).is_ok() {}
    let refused = lane_opens(&mut lane_set, &mut journal).unwrap_err().to_string();
    assert!(refused.contains("free some space under"), "{refused}");
    let mounts = lanes::mountinfo::read().unwrap();
    assert_eq!(lanes::mountinfo::below(&mounts, &scratch.run_directory()).count(), 0, "it was promised nowhere");
    lane_set.teardown(&mut journal).unwrap();
    journal.finish().unwrap();
    assert!(!scratch.journal_path().exists() && !scratch.run_directory().exists());
    std::fs::remove_file(&filler).unwrap();
    drop(disk);
    scratch.assert_nothing_left();
}

#[test]
fn after_a_flush_that_failed_nothing_is_promised_any_more() {
    if !privileged("failing flush") {
        return;
    }
    let scratch = Scratch::new();
    let backing = scratch.path.join("backing");
    std::fs::create_dir(&backing).unwrap();
    lanes::mount::mount("tmpfs", "fairlane-test", &["size=8m".to_owned()], &backing).unwrap();
    std::fs::File::create(backing.join("disk")).unwrap().set_len(32 << 20).unwrap();
    let losetup = Command::new("losetup").args(["--find", "--show"]).arg(backing.join("disk")).output().unwrap();
    assert!(losetup.status.success(), "{losetup:?}");
    let device = String::from_utf8(losetup.stdout).unwrap().trim().to_owned();
    let made = Command::new("mkfs.ext4").args(["-q", "-O", "^has_journal", &device]).output().unwrap();
    assert!(made.status.success(), "{made:?}");
    lanes::mount::mount("ext4", &device, &[], &scratch.undo()).unwrap();
    let mut journal = scratch.journal();
    let folder = |number: usize| Thing::RunDirectory { path: scratch.path.join(number.to_string()) };
    journal.will(folder(0)).unwrap();
    // The disk under the filesystem takes no new block; the lines below fill more than one that it has.
    let mut filler = std::fs::File::create(backing.join("filler")).unwrap();
    while filler.write_all(&[1; 4096]).is_ok() {}
    let failed = (1..400).find_map(|number| journal.will(folder(number)).err());
    drop(filler);
    std::fs::remove_file(backing.join("filler")).unwrap();
    // The disk works again; what it holds of the journal is not known.
    let later = journal.will(folder(1)).map_err(|error| error.to_string());
    drop(journal);
    lanes::mount::unmount_patiently(&scratch.undo()).unwrap();
    Command::new("losetup").args(["-d", &device]).status().unwrap();
    lanes::mount::unmount_patiently(&backing).unwrap();
    let failed = failed.expect("the flush fails").to_string();
    assert!(failed.contains("cannot write the undo journal"), "{failed}");
    assert!(later.is_err_and(|error| error.contains("a write to it failed before")));
}

#[test]
fn a_journal_that_was_taken_away_promises_nothing() {
    let scratch = Scratch::new();
    let thing = || Thing::RunDirectory { path: scratch.run_directory() };
    // The file is removed; the file is replaced; the folder is replaced.
    for way in 0..3 {
        let mut journal = scratch.journal();
        journal.will(thing()).unwrap();
        let (path, aside) = (scratch.journal_path(), scratch.path.join("aside"));
        match way {
            0 => std::fs::remove_file(&path).unwrap(),
            1 => {
                std::fs::remove_file(&path).unwrap();
                std::fs::write(&path, "").unwrap();
            }
            _ => {
                std::fs::rename(scratch.undo(), &aside).unwrap();
                std::fs::create_dir(scratch.undo()).unwrap();
            }
        }
        let refused = journal.will(thing()).unwrap_err().to_string();
        assert!(refused.contains("was taken away"), "{way}: {refused}");
        let left = path.exists();
        journal.finish().unwrap();
        assert_eq!(path.exists(), left, "{way}: what lies there now is not the run's");
        let _ = std::fs::remove_dir_all(&aside);
        let _ = std::fs::remove_file(&path);
    }
}

#[test]
fn a_lane_that_is_not_promised_in_full_any_more_is_unmounted_again() {
    if !privileged("a lane that is half open") {
        return;
    }
    let scratch = Scratch::new();
    let (file, now) = (scratch.path.join("takes.toml"), scratch.path.join("now"));
    // Once there is a file `now`, whoever mounts the filesystem takes the journal away: the overlay above is not promised.
    let script = r#"mount -o "$1" "$2" "$3" && if test -e "$4"; then rm "$5"; fi"#;
    let text = format!(
        "name = \"takes\"\nmkfs = [\"mkfs.ext4\", \"-q\", \"-F\", \"{{device}}\"]\nmount = [\"sh\", \"-c\", {script:?}, \"takes\", \
         \"{{options}}\", \"{{device}}\", \"{{directory}}\", {now:?}, {:?}]\n",
        scratch.journal_path()
    );
    std::fs::write(&file, text).unwrap();
    let lane = format!("half=overlay({})", file.display());
    let mut lane_set = match LaneSet::check(scratch.settings(&[&lane], 64)) {
        Err(error) if error.kind() == FailureKind::Privilege => {
            eprintln!("a lane that is half open: skipped, because {error}");
            return;
        }
        checked => checked.unwrap(),
    };
    let mut journal = scratch.journal();
    lane_set.build(&mut journal, &mut |_, _| {}, &no_stop()).unwrap();
    let directory = lane_set.open(0, 0, &mut journal, &no_stop()).unwrap().directory;
    lane_set.close(0, &mut journal).unwrap();
    let below = directory.with_file_name(format!("{}-below", directory.file_name().unwrap().display()));
    assert!(below.is_dir(), "{}", below.display());
    std::fs::write(&now, "").unwrap();
    let error = lane_set.open(0, 0, &mut journal, &no_stop()).unwrap_err().to_string();
    let mounts = lanes::mountinfo::read().unwrap();
    let is_mounted = lanes::mountinfo::at(&mounts, &below).is_some();
    let is_open = lane_set.is_open(0);
    lane_set.teardown(&mut journal).unwrap();
    journal.finish().unwrap();
    for path in [file, now] {
        std::fs::remove_file(path).unwrap();
    }
    scratch.assert_nothing_left();
    assert!(error.contains("was taken away"), "{error}");
    assert_eq!((is_open, is_mounted), (false, false));
}

#[test]
fn a_read_only_disk_is_told_with_the_remedy_and_still_cleaned_up_after() {
    if !privileged("read-only disk") {
        return;
    }
    let scratch = Scratch::new();
    let disk = SmallDisk::over_the_journals(&scratch, 256);
    let run = scratch.run_directory();
    let mut journal = scratch.journal();
    assert!(promised_folder(&mut journal, &run));
    drop(journal);
    disown(&scratch);
    rustix::mount::mount_remount(scratch.undo(), rustix::mount::MountFlags::RDONLY, "").unwrap();
    let refused = Journal::begin(&scratch.undo(), "another").unwrap_err().to_string();
    let recovered = recover(&scratch.undo());
    rustix::mount::mount_remount(scratch.undo(), rustix::mount::MountFlags::empty(), "").unwrap();
    drop(disk);
    assert!(refused.contains("Read-only file system; name a folder that can be written"), "{refused}");
    assert_eq!(recovered.cleaned, [format!("removed {}", run.display())]);
    assert_eq!(recovered.failures.len(), 1, "{recovered:?}");
    assert!(recovered.failures[0].contains("cannot remove the undo journal"), "{recovered:?}");
    assert!(!run.exists());
}

#[test]
fn what_is_no_journal_is_told_of_and_neither_read_nor_acted_on() {
    if !privileged("no journal") {
        return;
    }
    let scratch = Scratch::new();
    let precious = scratch.run_directory();
    std::fs::create_dir(&precious).unwrap();
    std::fs::write(precious.join("f"), "x").unwrap();
    let owner = r#"{"entry":"owner","run_id":"RUN","pid":4294967295,"start_ticks":1,"boot_id":"b"}"#;
    let text = format!(
        "{}\n{{\"entry\":\"will\",\"id\":0,\"thing\":\"run-directory\",\"path\":\"{}\"}}\n",
        owner.replace("RUN", &scratch.run_id()),
        precious.display()
    );
    let path = scratch.journal_path();
    let elsewhere = scratch.path.join("forged");
    std::fs::write(&elsewhere, &text).unwrap();
    type Make<'a> = &'a dyn Fn(&Path);
    let kinds: [(&str, Make); 6] = [
        ("symbolic link", &|path| std::os::unix::fs::symlink(&elsewhere, path).unwrap()),
        ("pipe", &|path| assert!(Command::new("mkfifo").arg(path).status().unwrap().success())),
        ("folder", &|path| std::fs::create_dir(path).unwrap()),
        ("larger than any journal", &|path| std::fs::File::create(path).unwrap().set_len(1 << 40).unwrap()),
        ("somebody else", &|path| {
            std::fs::write(path, &text).unwrap();
            std::os::unix::fs::chown(path, Some(65534), None).unwrap();
        }),
        ("somebody else", &|path| {
            std::fs::write(path, &text).unwrap();
            std::fs::set_permissions(path, PermissionsExt::from_mode(0o666)).unwrap();
        }),
    ];
    for (why, make) in kinds {
        make(&path);
        let Recovered { cleaned, failures, .. } = recover(&scratch.undo());
        assert_eq!((cleaned.len(), failures.len()), (0, 1), "{why}: {cleaned:?} {failures:?}");
        assert!(failures[0].contains(why) && failures[0].contains("no undo journal of Fairlane's"), "{failures:?}");
        assert!(precious.join("f").exists(), "{why}");
        if path.is_dir() && !path.is_symlink() { std::fs::remove_dir(&path) } else { std::fs::remove_file(&path) }
            .unwrap();
    }
    // The same lines in a file of one's own are a journal.
    std::fs::OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(&path)
        .unwrap()
        .write_all(text.as_bytes())
        .unwrap();
    assert_eq!(recover(&scratch.undo()).failures, Vec::<String>::new());
    assert!(!precious.exists());
    std::fs::remove_file(&elsewhere).unwrap();
    scratch.assert_nothing_left();
}

/// A journal as the first version wrote it, half a line swallowed by the next one among them.
#[test]
fn a_journal_of_an_earlier_version_is_undone_torn_lines_and_all() {
    let scratch = Scratch::new();
    let run = scratch.run_directory();
    std::fs::create_dir(&run).unwrap();
    std::fs::write(run.join("image00"), "x").unwrap();
    let text = format!(
        "{{\"entry\":\"owner\",\"run_id\":\"{}\",\"pid\":1,\"start_ticks\":99999999,\"boot_id\":\"of another boot\"}}\n\
         {{\"entry\":\"will\",\"id\":0,\"thing\":\"moun{{\"entry\":\"will\",\"id\":0,\"thing\":\"run-directory\",\"path\":\"{}\"}}\n",
        scratch.run_id(),
        run.display()
    );
    std::fs::write(scratch.journal_path(), text).unwrap();
    let recovered = recover(&scratch.undo());
    assert_eq!(recovered.failures, Vec::<String>::new());
    assert_eq!(recovered.cleaned, [format!("removed {}", run.display())]);
    scratch.assert_nothing_left();
}
