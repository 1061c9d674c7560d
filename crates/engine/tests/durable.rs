//! Durable records in a folder: whole work is clean, damage of every sort is found, and in a race each has its latency.

use engine::durable::{Found, KINDS, Terms, find, row_of};
use engine::{OpenTarget, prepare};
use model::agent::{Part, Target};
use model::kinds::durable::{Durable, DurableRecord};
use model::workload::{Kind, Workload};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

const TERMS: Terms = Terms::new(12, 7);

fn done(name: &str, folder: &Path) -> u64 {
    let kind = find(name).unwrap();
    kind.prepare(folder, TERMS).unwrap();
    let mut last = 0;
    kind.run(folder, TERMS, &mut |record| {
        assert_eq!(record, last + 1, "records are acknowledged in order");
        last = record;
        Ok(())
    })
    .unwrap();
    last
}

fn check(name: &str, folder: &Path, acknowledged: u64) -> Found {
    find(name).unwrap().check(folder, TERMS, acknowledged)
}

#[test]
fn work_that_was_not_cut_is_clean() {
    for kind in &KINDS {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(done(kind.name, folder.path()), TERMS.records, "{}", kind.name);
        assert_eq!(check(kind.name, folder.path(), TERMS.records), Found::default(), "{}", kind.name);
    }
}

#[test]
fn a_short_log_has_lost_a_record_and_a_changed_one_is_torn() {
    let folder = tempfile::tempdir().unwrap();
    done("append", folder.path());
    let path = folder.path().join("log");
    let whole = std::fs::read(&path).unwrap();
    std::fs::write(&path, &whole[..whole.len() - 1]).unwrap();
    assert_eq!(check("append", folder.path(), 12).lost, 1);
    assert!(check("append", folder.path(), 11).is_clean(), "the last record was not promised then");
    let mut changed = whole.clone();
    changed[20] ^= 1;
    std::fs::write(&path, &changed).unwrap();
    assert_eq!(check("append", folder.path(), 12).torn, 1);
    let mut longer = whole;
    longer.extend(vec![1; 9000]);
    std::fs::write(&path, &longer).unwrap();
    assert_eq!(check("append", folder.path(), 12).stale, 1);
}

#[test]
fn a_replaced_file_is_the_old_or_the_new_one() {
    let folder = tempfile::tempdir().unwrap();
    done("replace", folder.path());
    assert!(check("replace", folder.path(), 11).is_clean(), "the next version may be there already");
    assert_eq!(check("replace", folder.path(), 10).mixed, 1, "but not the one after it");
    assert_eq!(check("replace", folder.path(), 13).stale, 1);
    std::fs::write(folder.path().join("settings"), b"half").unwrap();
    assert_eq!(check("replace", folder.path(), 12).mixed, 1);
    std::fs::remove_file(folder.path().join("settings")).unwrap();
    assert_eq!(check("replace", folder.path(), 12).lost, 1);
}

#[test]
fn a_database_that_lost_its_log_has_lost_transactions() {
    for name in ["sqlite-wal", "sqlite-rollback"] {
        let folder = tempfile::tempdir().unwrap();
        done(name, folder.path());
        assert_eq!(check(name, folder.path(), 14).lost, 2, "{name}");
        std::fs::remove_file(folder.path().join("database")).unwrap();
        assert_eq!(check(name, folder.path(), 12).lost, 12, "{name}");
    }
}

#[test]
fn a_sequence_whose_tree_differs_is_found() {
    let folder = tempfile::tempdir().unwrap();
    done("sequences", folder.path());
    let own = folder.path().join("s3");
    for name in ["a", "c", "d/b", "d/c"] {
        let path = own.join(name);
        let kept = std::fs::read(&path);
        std::fs::write(&path, b"other").unwrap();
        let found = check("sequences", folder.path(), 12);
        assert_eq!(found.torn + found.stale, 1, "{name}: {found:?}");
        match kept {
            Ok(bytes) => std::fs::write(&path, bytes).unwrap(),
            Err(_) => std::fs::remove_file(&path).unwrap(),
        }
    }
    assert!(check("sequences", folder.path(), 12).is_clean());
}

#[test]
fn a_sequence_under_way_may_be_half_done_but_only_where_it_works() {
    let kind = find("sequences").unwrap();
    let mut half_done = 0;
    for seed in 0..40 {
        let folder = tempfile::tempdir().unwrap();
        let terms = Terms { only: Some(5), ..Terms::new(12, seed) };
        kind.prepare(folder.path(), terms).unwrap();
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "one record on its own filesystem");
        assert!(kind.check(folder.path(), terms, 4).is_clean(), "nothing was done yet");
        kind.run(folder.path(), terms, &mut |record| {
            assert_eq!(record, 5);
            Ok(())
        })
        .unwrap();
        for acknowledged in [4, 5] {
            let found = kind.check(folder.path(), terms, acknowledged);
            assert!(found.is_clean(), "seed {seed}, {acknowledged}: {found:?}");
        }
        // What a sequence does not touch was safe before it began.
        std::fs::write(folder.path().join("s5/a"), b"other").unwrap();
        assert!(!kind.check(folder.path(), terms, 5).is_clean(), "seed {seed}");
        let untouched = !kind.check(folder.path(), terms, 4).is_clean();
        half_done += u32::from(!untouched);
    }
    assert!((5..40).contains(&half_done), "{half_done}");
}

#[test]
fn what_was_prepared_for_later_sequences_must_be_there() {
    let folder = tempfile::tempdir().unwrap();
    find("sequences").unwrap().prepare(folder.path(), TERMS).unwrap();
    assert!(check("sequences", folder.path(), 0).is_clean());
    std::fs::remove_file(folder.path().join("s7/a")).unwrap();
    assert_eq!(check("sequences", folder.path(), 0).lost, 1);
}

/// A rollback journal that SQLite takes for one that a cut left, and which names another file, in the format of SQLite's
/// pages on its files.
fn journal_that_names(victim: &Path) -> Vec<u8> {
    const MAGIC: [u8; 8] = [0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7];
    let mut journal = MAGIC.to_vec();
    for number in [0u32, 0, 4, 512, 4096] {
        journal.extend(number.to_be_bytes());
    }
    journal.resize(512, 0);
    let name = victim.to_str().unwrap().as_bytes();
    let sum = name.iter().map(|&byte| u32::from(byte)).sum::<u32>();
    journal.extend(((1u32 << 30) / 4096 + 1).to_be_bytes());
    journal.extend(name);
    journal.extend((name.len() as u32).to_be_bytes());
    journal.extend(sum.to_be_bytes());
    journal.extend(MAGIC);
    journal
}

#[test]
fn a_journal_in_a_crash_image_removes_no_file_that_it_names() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["sqlite-rollback", "sqlite-wal"] {
        let work = folder.path().join(name);
        std::fs::create_dir(&work).unwrap();
        done("sqlite-rollback", &work);
        // SQLite of today asks for a name as it gives to such files, and for the journal's own in it; 3.40 asks for neither.
        let victim = folder.path().join("victim-mj012345901");
        let own = work.canonicalize().unwrap().join("database-journal");
        std::fs::write(&victim, own.to_str().unwrap()).unwrap();
        std::fs::write(work.join("database-journal"), journal_that_names(&victim)).unwrap();
        let found = check(name, &work, 12);
        assert!(victim.exists(), "{name}: SQLite removed a file that the journal names");
        assert_eq!(found.first, "the database cannot be read: its journal names another file", "{name}");
        // SQLite itself would have done so.
        let plain = rusqlite::Connection::open(work.join("database")).unwrap();
        let _ = plain.query_row("SELECT last FROM counter", [], |row| row.get::<_, i64>(0));
        assert!(!victim.exists(), "{name}: the journal is one that SQLite heeds");
    }
}

#[test]
fn a_database_with_tables_of_others_is_asked_nothing() {
    for statement in [
        "CREATE VIEW more AS SELECT 1",
        "CREATE TRIGGER more AFTER INSERT ON record BEGIN DELETE FROM counter; END",
        "DROP TABLE record; CREATE VIEW record AS WITH RECURSIVE n(id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM n) \
         SELECT id, id AS body FROM n",
    ] {
        let folder = tempfile::tempdir().unwrap();
        done("sqlite-rollback", folder.path());
        rusqlite::Connection::open(folder.path().join("database")).unwrap().execute_batch(statement).unwrap();
        let found = check("sqlite-rollback", folder.path(), 12);
        assert_eq!(found.first, "the database does not hold its two tables and nothing else", "{statement}");
    }
}

fn workload(records: Vec<DurableRecord>, count: u64) -> Workload {
    Workload { name: "d".to_owned(), title: "d".to_owned(), kind: Kind::Durable(Durable { records, count }) }
}

#[test]
fn what_is_raced_is_what_power_cuts_are_tried_on() {
    let promised: Vec<&str> = KINDS.iter().filter(|kind| kind.promised).map(|kind| kind.name).collect();
    let raced: Vec<&str> = DurableRecord::all().into_iter().map(|record| row_of(record).name).collect();
    assert_eq!(raced, promised);
}

#[test]
fn each_record_is_an_operation_with_its_latency_and_can_be_checked() {
    let folder = tempfile::tempdir_in("/var/tmp").unwrap();
    let place = OpenTarget::open(&Target::Directory(folder.path().to_owned())).unwrap();
    let workload = workload(DurableRecord::all(), 12);
    // What an interrupted race left is in nobody's way.
    for seed in [3, 7] {
        let mut work = prepare(&place, &workload, seed, Arc::default()).unwrap();
        for group in workload.groups() {
            let window = work.phase(&place, &group, Part::WHOLE, &mut ()).unwrap();
            assert_eq!((window.operations, window.latencies.operations()), (12, 12), "{group}");
            assert!(window.seconds > 0.0 && window.sync_seconds == 0.0, "{group}");
        }
    }
    for record in DurableRecord::all() {
        let path = folder.path().join("fairlane-durable").join(record.name());
        assert_eq!(row_of(record).check(&path, TERMS, 12), Found::default(), "{}", record.name());
    }
}

#[test]
fn it_ends_when_told_and_refuses_what_it_cannot_do() {
    let folder = tempfile::tempdir_in("/var/tmp").unwrap();
    let place = OpenTarget::open(&Target::Directory(folder.path().to_owned())).unwrap();
    let stop = Arc::new(AtomicBool::new(false));
    let workload = workload(vec![DurableRecord::Append], 10_000);
    let mut work = prepare(&place, &workload, 1, Arc::clone(&stop)).unwrap();
    assert!(work.phase(&place, "replace", Part::WHOLE, &mut ()).is_err());
    assert!(work.phase(&place, "append", Part { index: 0, of: 2 }, &mut ()).is_err());
    stop.store(true, Ordering::Relaxed);
    let ended = work.phase(&place, "append", Part::WHOLE, &mut ()).map(|window| window.operations);
    assert_eq!(ended.unwrap_err().to_string(), "interrupted");
    assert!(prepare(&OpenTarget::open(&Target::Null).unwrap(), &workload, 1, Arc::default()).is_err());
}
