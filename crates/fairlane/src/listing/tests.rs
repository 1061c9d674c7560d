//! Listings answer the same with an index, without one and with a strange one; with one they open no record.

use super::*;
use std::io::Write;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::time::Duration;

const RECORD: &str = include_str!("../../tests/fixtures/schema1.jsonl");
const WORKLOADS: [&str; 3] = ["commit", "random-read", "small-files"];

/// A state folder of a test's own, with two records.
struct Place(tempfile::TempDir);

impl Place {
    fn new() -> Place {
        let place = Place(tempfile::tempdir().unwrap());
        std::fs::create_dir(place.at("runs")).unwrap();
        std::fs::write(place.at("runs/a.jsonl"), RECORD).unwrap();
        let later = RECORD.replacen("2026-11-20T10:49:35Z", "2026-11-21T00:00:00Z", 1);
        std::fs::write(place.at("runs/b.jsonl"), later).unwrap();
        place
    }

    fn at(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn index(&self) -> PathBuf {
        self.at("index.sqlite")
    }

    /// As a new process begins.
    fn listing(&self, may_write: bool) -> Listing {
        Listing::new(self.at("runs"), Some(Index::in_folder(self.0.path(), may_write)), u64::MAX)
    }

    /// What a new process answers, and how many records it opens for that.
    fn answers(&self, may_write: bool) -> (Answers, u64) {
        let mut listing = self.listing(may_write);
        let answers = answers(&mut listing);
        (answers, listing.opened)
    }

    fn names(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.0.path()).unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }
}

/// The list, and the trend of a group of each workload.
type Answers = (Vec<Surveyed>, Vec<Option<model::page::Trend>>);

fn answers(listing: &mut Listing) -> Answers {
    let surveyed = listing.survey().unwrap();
    let course = |workload: &&str| {
        let figures = listing.figures(workload).unwrap();
        let group = figures.all.first()?.groups(workload).first()?.to_string();
        stats::trend::trend(figures.all.iter().map(Arc::as_ref), workload, &group, &[])
    };
    (surveyed, WORKLOADS.iter().map(course).collect())
}

/// What a listing answers that knows of no index.
fn without(place: &Place) -> Answers {
    answers(&mut Listing::new(place.at("runs"), None, u64::MAX))
}

#[test]
fn the_second_listing_opens_no_record_and_answers_the_same_to_the_last_bit() {
    let place = Place::new();
    let expected = without(&place);
    assert!(expected.0.iter().all(|(_, entry)| entry.is_ok()) && expected.1.iter().all(Option::is_some));
    let (first, opened) = place.answers(true);
    // Once for the list, once for the figures of all workloads.
    assert!(first == expected && opened == 4, "{opened}");
    assert_eq!(place.names(), ["index.sqlite", "runs"]);
    assert_eq!(place.index().metadata().unwrap().mode() & 0o7777, 0o600);
    for may_write in [true, false] {
        let (again, opened) = place.answers(may_write);
        assert!(again == expected && opened == 0, "{may_write}: {opened}");
    }
}

#[test]
fn who_only_reads_makes_no_index_and_changes_none() {
    let place = Place::new();
    let (first, opened) = place.answers(false);
    assert!(first == without(&place) && opened > 0);
    assert_eq!(place.names(), ["runs"]);
    place.answers(true);
    let before = std::fs::read(place.index()).unwrap();
    std::fs::remove_file(place.at("runs/a.jsonl")).unwrap();
    std::fs::write(place.at("runs/c.jsonl"), RECORD).unwrap();
    assert_eq!(place.answers(false).0, without(&place));
    assert!(std::fs::read(place.index()).unwrap() == before && place.names() == ["index.sqlite", "runs"]);
}

#[test]
fn what_changed_is_read_again_and_what_is_gone_is_forgotten() {
    let place = Place::new();
    place.answers(true);
    // Of the same length, and a second later.
    let path = place.at("runs/a.jsonl");
    let before = path.metadata().unwrap();
    std::fs::write(&path, RECORD.replacen("6.12.0-fixture", "6.13.0-fixture", 1)).unwrap();
    let file = File::options().write(true).open(&path).unwrap();
    file.set_modified(before.modified().unwrap() + Duration::from_secs(1)).unwrap();
    assert_eq!(path.metadata().unwrap().len(), before.len());
    let (answered, opened) = place.answers(true);
    assert!(answered == without(&place) && opened == 2, "{opened}");
    assert!(answered.1[0].as_ref().unwrap().points.iter().any(|point| point.kernel == "6.13.0-fixture"));
    assert_eq!(place.answers(true).1, 0);
    std::fs::remove_file(&path).unwrap();
    let (answered, opened) = place.answers(true);
    assert!(answered == without(&place) && opened == 0, "{opened}");
    let index = Index::in_folder(place.0.path(), false);
    let known = |names: Vec<String>| assert_eq!(names, ["b.jsonl"]);
    known(index.entries().into_keys().collect());
    known(index.figures("commit").into_keys().collect());
}

#[test]
fn a_record_without_an_end_is_looked_at_and_read_on() {
    let place = Place::new();
    let (end, lines): (Vec<&str>, Vec<&str>) =
        RECORD.split_inclusive('\n').partition(|line| line.starts_with("{\"kind\":\"end\""));
    std::fs::write(place.at("runs/a.jsonl"), lines.concat()).unwrap();
    place.answers(true);
    let mut listing = place.listing(true);
    let outcome = |found: Vec<Surveyed>| found[0].1.as_ref().unwrap().outcome.clone();
    assert_eq!((outcome(listing.survey().unwrap()), listing.opened), ("unfinished".to_owned(), 1));
    let mut file = File::options().append(true).open(place.at("runs/a.jsonl")).unwrap();
    file.write_all(end.concat().as_bytes()).unwrap();
    let mut listing = place.listing(true);
    assert_eq!((outcome(listing.survey().unwrap()), listing.opened), ("complete".to_owned(), 1));
    let mut listing = place.listing(true);
    assert_eq!((outcome(listing.survey().unwrap()), listing.opened), ("complete".to_owned(), 0));
}

/// What an index is made to be, and how.
type Strange = (&'static str, fn(&Place));

const STRANGE: [Strange; 10] = [
    ("no database", |place| std::fs::write(place.index(), "no database".repeat(1000)).unwrap()),
    ("empty", |place| std::fs::write(place.index(), "").unwrap()),
    ("cut off", |place| {
        let file = File::options().write(true).open(place.index()).unwrap();
        file.set_len(file.metadata().unwrap().len() / 2 / 4096 * 4096).unwrap();
    }),
    ("of another build", |place| change(place, |bytes| bytes[60] ^= 1)),
    ("of another program", |place| change(place, |bytes| bytes[68] ^= 1)),
    ("with letters that fell over", |place| {
        change(place, |bytes| {
            let found: Vec<usize> = (0..bytes.len()).filter(|&at| bytes[at..].starts_with(b"ext4")).collect();
            assert!(found.len() > 4, "{found:?}");
            found.into_iter().for_each(|at| bytes[at] ^= 0x20);
        });
    }),
    ("for others to write", |place| {
        std::fs::set_permissions(place.index(), PermissionsExt::from_mode(0o666)).unwrap();
    }),
    ("with a view", |place| {
        rusqlite::Connection::open(place.index()).unwrap().execute_batch("CREATE VIEW v AS SELECT 1").unwrap();
    }),
    ("with a log", |place| {
        let connection = rusqlite::Connection::open(place.index()).unwrap();
        connection.pragma_update_and_check(None, "journal_mode", "wal", |_| Ok(())).unwrap();
    }),
    ("a link", |place| {
        std::fs::rename(place.index(), place.at("theirs")).unwrap();
        symlink("theirs", place.index()).unwrap();
    }),
];

fn change(place: &Place, to: fn(&mut Vec<u8>)) {
    let mut bytes = std::fs::read(place.index()).unwrap();
    to(&mut bytes);
    std::fs::write(place.index(), bytes).unwrap();
}

#[test]
fn a_strange_index_is_believed_nothing_and_made_anew_in_silence() {
    for (what, make) in STRANGE {
        let place = Place::new();
        place.answers(true);
        make(&place);
        let (theirs, bytes) = (place.at("theirs"), std::fs::read(place.index()).unwrap());
        let (answered, opened) = place.answers(false);
        assert!(answered == without(&place) && opened > 0, "{what}: {opened}");
        assert!(std::fs::read(place.index()).unwrap() == bytes, "{what}: changed by who only reads");
        let (answered, opened) = place.answers(true);
        assert!(answered == without(&place) && opened > 0, "{what}: {opened}");
        assert_eq!(place.answers(true).1, 0, "{what}: it was not made anew");
        let made = std::fs::symlink_metadata(place.index()).unwrap();
        assert!(made.is_file() && made.mode() & 0o7777 == 0o600, "{what}");
        assert!(!theirs.exists() || std::fs::read(theirs).unwrap() == bytes, "{what}: through the link");
    }
}

#[test]
fn where_there_can_be_no_index_records_are_read() {
    let place = Place::new();
    std::fs::create_dir(place.index()).unwrap();
    for _ in 0..2 {
        let (answered, opened) = place.answers(true);
        assert!(answered == without(&place) && opened > 0, "{opened}");
    }
    // A folder in which others may write is nobody's own.
    std::fs::remove_dir(place.index()).unwrap();
    std::fs::set_permissions(place.0.path(), PermissionsExt::from_mode(0o777)).unwrap();
    assert!(place.answers(true).0 == without(&place) && place.names() == ["runs"]);
    // The folder of records may be missing altogether.
    let mut none = Listing::new(place.at("none"), Some(Index::in_folder(&place.at("none"), true)), u64::MAX);
    assert!(none.survey().unwrap().is_empty() && none.figures("commit").unwrap().all.is_empty());
}

#[test]
fn screenings_have_no_part_in_a_trend_and_are_told_once() {
    let race = Record::parse(RECORD).unwrap();
    let mut screening = race.clone();
    screening.header.plan.screening = Some(model::screening::Screening {
        base: "ext4".to_owned(),
        design: model::screening::DesignKind::FullFactorial,
        factors: Vec::new(),
        runs: Vec::new(),
        left_out: Vec::new(),
    });
    let of = |record: &Record| Arc::new(stats::trend::figures(record, "r").only("commit"));
    for (all, raced, screenings) in
        [(vec![of(&race)], 1, 0), (vec![of(&screening)], 0, 1), (vec![of(&screening), of(&race), of(&screening)], 1, 2)]
    {
        let figures = Figures::new(all, Vec::new());
        assert_eq!((figures.all.len(), figures.screenings), (raced, screenings));
        assert_eq!(figures.left_out.len(), screenings.min(1), "{:?}", figures.left_out);
        assert!(figures.left_out.iter().all(|said| said.starts_with(&format!("{screenings} screening"))));
    }
}
