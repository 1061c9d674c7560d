//! Each kind of work against a folder: whole work is clean, and damage of every sort is found.

use crashes::work::{Found, KINDS, Terms, find};
use std::path::Path;

const TERMS: Terms = Terms::of(12, 7);

fn done(name: &str, folder: &Path) -> u64 {
    let kind = find(name).unwrap();
    (kind.prepare)(folder, TERMS).unwrap();
    let mut last = 0;
    (kind.run)(folder, TERMS, &mut |record| {
        assert_eq!(record, last + 1, "records are acknowledged in order");
        last = record;
        Ok(())
    })
    .unwrap();
    last
}

fn check(name: &str, folder: &Path, acknowledged: u64) -> Found {
    (find(name).unwrap().check)(folder, TERMS, acknowledged)
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
        let terms = Terms { only: Some(5), ..Terms::of(12, seed) };
        (kind.prepare)(folder.path(), terms).unwrap();
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "one record on its own filesystem");
        assert!((kind.check)(folder.path(), terms, 4).is_clean(), "nothing was done yet");
        (kind.run)(folder.path(), terms, &mut |record| {
            assert_eq!(record, 5);
            Ok(())
        })
        .unwrap();
        for acknowledged in [4, 5] {
            let found = (kind.check)(folder.path(), terms, acknowledged);
            assert!(found.is_clean(), "seed {seed}, {acknowledged}: {found:?}");
        }
        // What a sequence does not touch was safe before it began.
        std::fs::write(folder.path().join("s5/a"), b"other").unwrap();
        assert!(!(kind.check)(folder.path(), terms, 5).is_clean(), "seed {seed}");
        let untouched = !(kind.check)(folder.path(), terms, 4).is_clean();
        half_done += u32::from(!untouched);
    }
    assert!((5..40).contains(&half_done), "{half_done}");
}

#[test]
fn what_was_prepared_for_later_sequences_must_be_there() {
    let folder = tempfile::tempdir().unwrap();
    (find("sequences").unwrap().prepare)(folder.path(), TERMS).unwrap();
    assert!(check("sequences", folder.path(), 0).is_clean());
    std::fs::remove_file(folder.path().join("s7/a")).unwrap();
    assert_eq!(check("sequences", folder.path(), 0).lost, 1);
}
