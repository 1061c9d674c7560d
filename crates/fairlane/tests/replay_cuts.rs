//! Power cuts of captured programs: what their own syncs made safe is there, where barriers hold, and what is refused.

use crate::common::{Place, assert_one_sentence, root};
use model::durability::{DurabilityFindings, DurabilityVerdict};
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A log that grows, and a file that is replaced; their folder is synced where names change.
const APPENDS: &str = "
import os
top = os.open('.', os.O_RDONLY | os.O_DIRECTORY)
log = os.open('log', os.O_WRONLY | os.O_CREAT | os.O_APPEND)
os.fsync(top)
for i in range(150):
    os.write(log, b'x' * (100 + i * 37 % 4000))
    os.fsync(log)
for i in range(50):
    new = os.open('settings.new', os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.write(new, b'y' * (5000 + i))
    os.fsync(new)
    os.close(new)
    os.rename('settings.new', 'settings')
    os.fsync(top)
";

/// A database with its log, which stays as long as somebody has it open: SQLite syncs the folder of a new one by fdatasync,
/// which promises no names.
const OPEN: &str = "
import sqlite3, sys
db = sqlite3.connect('app/db', isolation_level=None)
db.execute('PRAGMA journal_mode=WAL')
db.execute('CREATE TABLE t (k INTEGER PRIMARY KEY, v BLOB)')
print('open', flush=True)
sys.stdin.read()
";

const SQLITE: &str = "
import sqlite3
db = sqlite3.connect('db', isolation_level=None)
db.execute('PRAGMA synchronous=FULL')
for i in range(120):
    db.execute('INSERT INTO t (v) VALUES (randomblob(?))', (100 + i * 31 % 3000,))
    if i % 40 == 39:
        db.execute('PRAGMA wal_checkpoint(TRUNCATE)')
";

/// Captures a program in a folder of its own.
fn captured(place: &Place, trace: &str, program: &str) {
    let folder = place.path().join("app");
    std::fs::create_dir_all(&folder).expect("a folder");
    std::fs::write(folder.join("program.py"), program).expect("a program");
    let words = ["capture", "-q", "-o", trace, "--under", "app", "--"];
    place.expect(0, &[&words[..], &["sh", "-c", "cd app && exec python3 -S program.py"]].concat());
}

fn cut(place: &Place, trace: &str, cuts: &str, more: &[&str]) -> DurabilityFindings {
    let words = ["powercut", "ext4", "--replay", trace, "--cuts", cuts, "--no-speed", "--format", "json", "-q"];
    let (out, _) = place.expect(0, &[&words[..], more].concat());
    serde_json::from_str(&out).unwrap_or_else(|error| panic!("{error}: {out}"))
}

/// ext4 kept all, and compared something in every image; ext4,nobarrier lost something.
#[track_caller]
fn assert_proven(found: &DurabilityFindings, cuts: u64) {
    assert_eq!((&found.untrusted, &found.unproven), (&Vec::new(), &Vec::new()));
    let [safe, unsafe_one] = &found.lanes[..] else { panic!("{found:#?}") };
    let kept = (safe.verdict, safe.cuts, safe.broken, safe.unmountable, safe.complaints);
    assert_eq!(kept, (DurabilityVerdict::Kept, cuts, 0, 0, 0));
    let compared = safe.compared.expect("it is counted");
    assert!(compared.files >= cuts / 2 && compared.names > compared.files, "{compared:?}");
    assert_eq!(unsafe_one.verdict, DurabilityVerdict::Broke);
    assert!(unsafe_one.lost + unsafe_one.stale > 0, "{unsafe_one:?}");
}

#[test]
fn what_a_program_made_safe_is_there_after_a_cut_where_barriers_hold() {
    if !root() {
        return;
    }
    let place = Place::new();
    captured(&place, "t.trace", APPENDS);
    let found = cut(&place, "t.trace", "60", &["--seed", "11", "-o", "cuts.jsonl"]);
    assert_proven(&found, 60);
    let compared = found.lanes[0].compared.expect("it is counted");
    assert!(compared.bytes > 60 * 20_000, "{compared:?}");
    let trace = place.path().join("t.trace");
    let line = found.again.join(" ");
    assert!(line.contains(&format!("--replay {}", trace.display())) && line.contains("--lane-size 512MiB"), "{line}");
    place.assert_nothing_left();
    let (text, _) = place.expect(0, &["report", "cuts.jsonl"]);
    assert!(text.contains("of data were compared in all"), "{text}");

    // A failing image again: with its trace, and with no other.
    let example = found.lanes[1].examples.iter().find(|of| !of.example.kept.is_empty()).expect("one is kept");
    let (kept, said) = (&example.example.kept, &example.example.said);
    let (look, _) = place.expect(0, &["powercut", "--look", kept]);
    assert!(look.contains(said) && look.contains("mounted at"), "{look} {said}");
    place.expect(0, &["clean"]);
    std::fs::rename(&trace, place.path().join("moved.trace")).expect("it is there");
    let (_, err) = place.expect(2, &["powercut", "--look", kept]);
    assert_one_sentence(&err, &["t.trace, which cannot be read", "--replay FILE"]);
    captured(&place, "t.trace", &APPENDS.replace("150", "9"));
    for more in [&[][..], &["--replay", "t.trace"]] {
        let (_, err) = place.expect(2, &[&["powercut", "--look", kept], more].concat());
        assert_one_sentence(&err, &["is not the trace that the kept image was made with"]);
    }
    let (look, _) = place.expect(0, &["powercut", "--look", kept, "--replay", "moved.trace"]);
    assert!(look.contains(said), "{look} {said}");
    place.expect(0, &["clean"]);
    place.assert_nothing_left();
}

#[test]
fn transactions_of_a_captured_database_are_there_after_a_cut() {
    if !root() {
        return;
    }
    let place = Place::new();
    std::fs::create_dir(place.path().join("app")).expect("a folder");
    let mut open = Command::new("python3");
    open.args(["-S", "-c", OPEN]).current_dir(place.path()).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut open = open.spawn().expect("it runs");
    let mut line = String::new();
    BufReader::new(open.stdout.take().expect("its output")).read_line(&mut line).expect("it says so");
    assert_eq!(line, "open\n");
    captured(&place, "db.trace", SQLITE);
    drop(open.stdin.take());
    assert!(open.wait().expect("it ends").success());
    let found = cut(&place, "db.trace", "40", &["--seed", "3"]);
    assert_proven(&found, 40);
    place.assert_nothing_left();
}

/// A log of fio of one file that is written and synced.
fn import(place: &Place, name: &str, lines: &str) -> PathBuf {
    let log = place.path().join("fio.log");
    std::fs::write(&log, format!("fio version 2 iolog\n/f add\n/f open\n{lines}/f close\n")).expect("a log");
    place.expect(0, &["import", "fio.log", "-o", name]);
    place.path().join(name)
}

#[test]
fn traces_that_are_not_cut_are_refused_before_anything_is_made() {
    if !root() {
        return;
    }
    let place = Place::new();
    import(&place, "plain.trace", "/f write 0 4096\n/f sync 0 0\n");
    import(&place, "none.trace", "/f write 0 4096\n");
    import(&place, "large.trace", "/f write 3221225472 4096\n/f sync 0 0\n");
    let strace = "1 10:00:00.000000 openat(AT_FDCWD</w>, \"a\", O_RDWR) = 3</w/a> <0.000010>\n\
                  1 10:00:00.001000 fallocate(3</w/a>, 0, 0, 3000000000) = 0 <0.000010>\n\
                  1 10:00:00.002000 write(3</w/a>, \"x\"..., 5000) = 5000 <0.000010>\n\
                  1 10:00:00.003000 fsync(3</w/a>) = 0 <0.001000>\n";
    std::fs::write(place.path().join("s.log"), strace).expect("a log");
    place.expect(0, &["import", "s.log", "-o", "room.trace"]);
    captured(&place, "names.trace", "import os\nf = os.open('new', os.O_WRONLY | os.O_CREAT)\nos.fsync(f)\n");
    for (words, says) in [
        (vec!["--replay", "none.trace"], "none.trace: it asks for no sync of a file that succeeded"),
        (
            vec!["--replay", "names.trace"],
            "or not the folders that the names were made in (fdatasync of a folder promises no names)",
        ),
        (
            vec!["--replay", "large.trace"],
            "before its first call, and with what it writes they may hold 768MiB together",
        ),
        (vec!["--replay", "room.trace"], "power cuts are made on disks of 4GiB at most"),
        (vec!["--replay", "plain.trace", "--lane-size", "1MiB"], "is too small for"),
        (vec!["--replay", "plain.trace", "--workload", "append"], "leave --workload append out, or --replay"),
        // Before a guest is booted for it.
        (vec!["--replay", "none.trace", "--on", "uml"], "none.trace: it asks for no sync of a file that succeeded"),
        (vec!["--replay", "missing.trace"], "name a trace"),
        (vec!["--replay", "fio.log"], "it is no trace of fairlane"),
    ] {
        let (_, err) = place.expect(2, &[vec!["powercut", "ext4"], words].concat());
        assert_one_sentence(&err, &[says]);
        assert!(!err.contains("Formats no disk"), "{err}");
    }
    let records: &Path = &place.path().join("state/fairlane/durability");
    assert!(!records.exists() || std::fs::read_dir(records).expect("a folder").next().is_none());
    place.assert_nothing_left();
}

#[test]
fn a_lane_that_answers_otherwise_than_the_program_was_fails_with_the_call() {
    if !root() {
        return;
    }
    let place = Place::new();
    // The name is refused there, and on ext4 it is made.
    let strace = "1 10:00:00.000000 openat(AT_FDCWD</w>, \"a\", O_RDWR|O_CREAT, 0644) = 3</w/a> <0.000010>\n\
                  1 10:00:00.000500 openat(AT_FDCWD</w>, \".\", O_RDONLY|O_DIRECTORY) = 4</w> <0.000010>\n\
                  1 10:00:00.001000 write(3</w/a>, \"x\"..., 5000) = 5000 <0.000010>\n\
                  1 10:00:00.002000 fsync(3</w/a>) = 0 <0.001000>\n\
                  1 10:00:00.003000 fsync(4</w>) = 0 <0.001000>\n\
                  1 10:00:00.004000 mkdir(\"/w/d\", 0755) = -1 EINVAL (Invalid argument) <0.000010>\n";
    std::fs::write(place.path().join("s.log"), strace).expect("a log");
    place.expect(0, &["import", "s.log", "-o", "s.trace"]);
    let words = ["powercut", "ext4", "--replay", "s.trace", "--cuts", "12", "--no-speed", "-q"];
    let (_, err) = place.expect(1, &words);
    assert_one_sentence(&err, &["mkdirat no error where the program got EINVAL", "call 6"]);
    place.assert_nothing_left();
}
