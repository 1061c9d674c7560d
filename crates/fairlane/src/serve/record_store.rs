//! Answers made of records: kept until one of the records changes.
//!
//! The page of a race that is still running is made at most so often that it costs a fiftieth of a CPU. A record that would
//! take more memory than a server beside a race may have is not read at all.

use super::api::{Refusal, json};
use crate::commands::screen::tilde;
use crate::commands::{page, screening};
use crate::failure::Failure;
use crate::listing::{self, Figures, Index, Listing, Stamp, Unopened, shown, too_large};
use crate::{knowledge, state};
use axum::body::Bytes;
use axum::http::StatusCode;
use model::page::{RecordEntry, RecordList};
use model::record::Record;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// What [`state::outcome`] says of a record that is being written.
const RUNNING: &str = "running";
/// Answers kept: of the pages that somebody goes to and fro between.
const KEPT: usize = 12;
/// Bytes of answers kept.
const KEPT_BYTES: usize = 64 << 20;
/// Bytes of records held at once. Read and taken apart a record needs about three times its file, and what
/// this process takes is missing from the page cache of a race; a race of the suite `general` writes some
/// megabytes.
const HELD_BYTES: u64 = 256 << 20;
/// A page of a record that grows rests for so many times what it cost.
const REST: u32 = 50;

/// An answer that is kept.
struct Kept {
    kind: &'static str,
    names: Vec<String>,
    stamps: Vec<Stamp>,
    made: Instant,
    cost: Duration,
    bytes: Bytes,
}

/// Records of one answer: read when they are asked for, so that no more of them are in memory than are
/// needed at once.
pub struct Opened<'a> {
    records: Vec<(&'a str, &'a File)>,
}

impl Opened<'_> {
    /// The record of a place in the list of names, with its name.
    ///
    /// # Errors
    /// A refusal, where it is damaged or too large.
    pub fn read(&self, at: usize) -> Result<(&str, Record), Refusal> {
        let (name, _) = self.records[at];
        Ok((name, self.load(at).map_err(|why| unreadable(name, &why))?))
    }

    /// The same, or why it is none.
    fn load(&self, at: usize) -> Result<Record, String> {
        listing::load(self.records[at].1)
    }

    /// The name of a record in the list.
    fn name(&self, at: usize) -> &str {
        self.records[at].0
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.records.len()
    }
}

/// The folder, and what was made of its records.
pub struct RecordStore {
    records: Listing,
    /// Newest last.
    kept: Vec<Kept>,
}

/// Why a record cannot be shown.
pub fn unreadable(name: &str, why: &str) -> Refusal {
    Refusal::new(StatusCode::UNPROCESSABLE_ENTITY, format!("{}: {why}", shown(name)))
}

/// Opens a record of the folder for reading.
///
/// # Errors
/// A refusal, where there is no such file, or the user may not read it.
pub fn open(folder: &Path, name: &str) -> Result<File, Refusal> {
    listing::open(folder, name).map_err(|Unopened { is_forbidden, why }| {
        let status = if is_forbidden { StatusCode::FORBIDDEN } else { StatusCode::NOT_FOUND };
        Refusal::new(status, format!("{}: {why}; /api/records lists the records there are", shown(name)))
    })
}

impl RecordStore {
    /// Nothing is read yet. `index`: what commands keep of the folder, which is read and left as it is.
    pub fn new(folder: PathBuf, index: Option<Index>) -> Self {
        RecordStore { records: Listing::new(folder, index, HELD_BYTES), kept: Vec::new() }
    }

    /// The records, newest first.
    ///
    /// # Errors
    /// When the folder cannot be read; one that does not exist is empty.
    pub fn list(&mut self) -> Result<RecordList, Refusal> {
        let (mut records, mut unreadable) = (Vec::new(), Vec::new());
        let surveyed = self.records.survey().map_err(|error| self.unlisted(&error))?;
        for (name, found) in surveyed {
            match found {
                Ok(entry) => records.push(entry),
                Err(why) => unreadable.push(format!("{}: {why}", shown(&name))),
            }
        }
        // Of races begun in the same second the one of the later name; names end in the seed.
        records.sort_by(|a: &RecordEntry, b| (&b.started, &b.name).cmp(&(&a.started, &a.name)));
        Ok(RecordList { records, unreadable })
    }

    /// Why the folder cannot be listed.
    fn unlisted(&self, error: &std::io::Error) -> Refusal {
        let sentence = format!("cannot list {}: {error}", model::text::escaped_path(self.records.folder()));
        Refusal::new(StatusCode::INTERNAL_SERVER_ERROR, sentence)
    }

    /// The page of one race.
    ///
    /// # Errors
    /// A refusal, where there is no such record or it is damaged.
    pub fn race(&mut self, name: &str) -> Result<Bytes, Refusal> {
        let place = self.records.folder().join(name);
        let instead = format!("fairlane report {} --format html -o report.html", tilde(&place));
        let mut names = vec![name.to_owned()];
        // Of a screening the race of its proposal belongs to the page, and those that tuned it behind that; where the first
        // cannot be opened, it is another page for each reason.
        let confirmed = screening::beside(Path::new(name), screening::CONFIRMED).to_string_lossy().into_owned();
        let (kind, unopened) = match listing::open(self.records.folder(), &confirmed) {
            Ok(_) => {
                names.push(confirmed);
                ("race", None)
            }
            Err(Unopened { why: listing::NOTHING, .. }) => ("race", None),
            Err(Unopened { why, .. }) => (why, Some(why)),
        };
        let of_tuning = names.len();
        names.extend(self.names_of_tuning(name));
        self.answer(kind, names, &instead, |records| {
            let (name, mut record) = records.read(0)?;
            screening::as_known(&mut record);
            let told = |failure: Failure| unreadable(name, &failure.message);
            let mut findings = knowledge::findings(&record).map_err(told)?;
            if let Some(finding) = &mut findings.screening {
                let tuning = (of_tuning..records.count()).map(|at| (PathBuf::from(records.name(at)), records.load(at)));
                screening::put_in_tuning(finding, &record, tuning);
                match unopened {
                    Some(why) => screening::put_in_read(finding, &record, Err(why.to_owned())),
                    None if of_tuning > 1 => screening::put_in_read(finding, &record, records.load(1)),
                    None => {}
                }
                screening::put_in_anew(finding, &record);
                screening::without_known_warnings(&mut findings);
            }
            json(&page::race(&record, findings, &place).map_err(told)?)
        })
    }

    /// Names of the last records of tuning that lie beside a screening's.
    fn names_of_tuning(&self, name: &str) -> Vec<String> {
        let folder = self.records.folder();
        let as_name = |file: &Path| file.to_string_lossy().into_owned();
        let is_there = |file: &Path| listing::open(folder, &as_name(file)).is_ok();
        screening::records_of_tuning(Path::new(name), is_there).iter().map(|file| as_name(file)).collect()
    }

    /// An answer made of whole records, kept until one of them changes. Of several the first is held beside
    /// one other at a time. `instead`: the command that does the same where the records are too large.
    ///
    /// # Errors
    /// A refusal, where one of the records does not exist, is damaged, or is too large.
    pub fn answer(
        &mut self,
        kind: &'static str,
        names: Vec<String>,
        instead: &str,
        make: impl FnOnce(&Opened) -> Result<Bytes, Refusal>,
    ) -> Result<Bytes, Refusal> {
        let folder = self.records.folder();
        let files = names.iter().map(|name| open(folder, name)).collect::<Result<Vec<File>, Refusal>>()?;
        let stamps = names.iter().zip(&files).map(|(name, file)| stamp(name, file)).collect::<Result<Vec<_>, _>>()?;
        let at = self.kept.iter().position(|kept| kept.kind == kind && kept.names == names);
        if let Some(at) = at {
            let kept = self.kept.remove(at);
            // The last line of a race is written before its lock is released: then its answer is the last one,
            // and nobody would ask again for a newer.
            let mut grows = || names.iter().zip(&files).any(|(name, file)| self.is_growing(name, file));
            if kept.stamps == stamps || kept.made.elapsed() < kept.cost * REST && grows() {
                let bytes = kept.bytes.clone();
                self.kept.push(kept);
                return Ok(bytes);
            }
        }
        let at_once = stamps.first().map_or(0, |first| first.bytes)
            + stamps.iter().skip(1).map(|stamp| stamp.bytes).max().unwrap_or(0);
        if at_once > HELD_BYTES {
            let sentence = format!("{} for this server; `{instead}` reads them", too_large(at_once, HELD_BYTES));
            return Err(unreadable(&names.join(", "), &sentence));
        }
        let begun = Instant::now();
        let records = names.iter().map(String::as_str).zip(&files).collect();
        let bytes = make(&Opened { records })?;
        let made = Instant::now();
        self.kept.push(Kept { kind, names, stamps, made, cost: made - begun, bytes: bytes.clone() });
        while self.kept.len() > KEPT || self.kept.iter().map(|kept| kept.bytes.len()).sum::<usize>() > KEPT_BYTES {
            self.kept.remove(0);
        }
        Ok(bytes)
    }

    /// Whether a race still writes trials into a record.
    fn is_growing(&mut self, name: &str, file: &File) -> bool {
        state::is_locked(file) && self.records.entry(name, file).is_ok_and(|entry| entry.outcome == RUNNING)
    }

    /// What the records that hold a workload have for trends.
    ///
    /// # Errors
    /// When the folder cannot be read. A record that cannot is left out: the list names it.
    pub fn figures(&mut self, workload: &str) -> Result<Figures, Refusal> {
        self.records.figures(workload).map_err(|error| self.unlisted(&error))
    }
}

fn stamp(name: &str, file: &File) -> Result<Stamp, Refusal> {
    Stamp::new(file).map_err(|error| unreadable(name, &error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::fs::{FlockOperation, flock};
    use std::io::Write;

    const RECORD: &str = include_str!("../../tests/fixtures/schema1.jsonl");

    /// An answer that costs enough for its rest to outlast a slow test machine, and tells how much it read.
    fn asked(store: &mut RecordStore, name: &str) -> Bytes {
        let make = |records: &Opened| {
            std::thread::sleep(Duration::from_millis(500));
            let (_, record) = records.read(0)?;
            Ok(Bytes::from(format!("{} {:?}", record.trials.len(), record.end)))
        };
        store.answer("test", vec![name.to_owned()], "fairlane report", make).unwrap()
    }

    #[test]
    fn the_page_of_a_running_race_rests_and_that_of_one_that_ended_never_does() {
        let folder = tempfile::tempdir().unwrap();
        let (end, lines): (Vec<&str>, Vec<&str>) =
            RECORD.split_inclusive('\n').partition(|line| line.starts_with("{\"kind\":\"end\""));
        let (last, before) = lines.split_last().unwrap();
        let mut file = File::options().append(true).create_new(true).open(folder.path().join("a.jsonl")).unwrap();
        file.write_all(before.concat().as_bytes()).unwrap();
        flock(&file, FlockOperation::LockExclusive).unwrap();
        let mut store = RecordStore::new(folder.path().to_owned(), None);
        let first = asked(&mut store, "a.jsonl");
        file.write_all(last.as_bytes()).unwrap();
        assert_eq!(asked(&mut store, "a.jsonl"), first, "it rests while the race goes on");
        // The race has ended, and still undoes its lanes with the record locked.
        file.write_all(end.concat().as_bytes()).unwrap();
        let whole = asked(&mut store, "a.jsonl");
        assert!(whole != first && whole.ends_with(b"Some(Complete)"), "{whole:?}");
    }

    /// The record as if it were that of a screening of one option.
    fn screening_of_one() -> String {
        let (header, rest) = RECORD.split_once('\n').unwrap();
        let mut header: serde_json::Value = serde_json::from_str(header).unwrap();
        header["plan"]["lanes"][1]["contestant"] = header["plan"]["lanes"][0]["contestant"].clone();
        header["lanes"][1]["spec"] = "xfs=ext4".into();
        header["plan"]["screening"] = serde_json::json!({
            "base": "ext4",
            "design": "full-factorial",
            "factors": [{ "name": "commit", "usual": { "label": "5" }, "other": { "label": "30" } }],
            "runs": [{ "lane": "ext4", "at_other": [false] }, { "lane": "xfs", "at_other": [true] }],
        });
        format!("{header}\n{rest}")
    }

    #[test]
    fn the_page_of_a_screening_says_why_what_lies_beside_it_is_no_confirmation() {
        let folder = tempfile::tempdir().unwrap();
        let confirmed = folder.path().join("s-confirmed.jsonl");
        std::fs::write(folder.path().join("s.jsonl"), screening_of_one()).unwrap();
        let mut store = RecordStore::new(folder.path().to_owned(), None);
        let mut left_out = || {
            let page: serde_json::Value = serde_json::from_slice(&store.race("s.jsonl").unwrap()).unwrap();
            let finding = &page["findings"]["screening"];
            assert_eq!(finding["base"], "ext4");
            finding["confirmation_left_out"].as_str().unwrap_or_default().to_owned()
        };
        assert_eq!(left_out(), "");
        std::os::unix::fs::symlink("/etc/passwd", &confirmed).unwrap();
        let outside = left_out();
        std::fs::remove_file(&confirmed).unwrap();
        assert_eq!(outside, "it is a link that leads out of the folder");
        std::fs::create_dir(&confirmed).unwrap();
        let no_file = left_out();
        std::fs::remove_dir(&confirmed).unwrap();
        assert_eq!(no_file, "it is no file", "another reason than before");
        assert_eq!(left_out(), "", "it is gone");
        for (text, why) in [("hello\n", "this is no record of Fairlane"), (RECORD, "it has the same seed")] {
            std::fs::write(&confirmed, text).unwrap();
            let said = left_out();
            assert!(said.contains(why), "{why}: {said}");
        }
    }

    #[test]
    fn the_page_of_a_screening_tells_of_an_option_what_its_words_do_and_not_what_its_record_says() {
        let folder = tempfile::tempdir().unwrap();
        let text = screening_of_one().replace(r#""label":"30""#, r#""label":"30","mount":["nobarrier"]"#);
        assert!(text.contains("nobarrier") && !text.contains(r#""class""#));
        std::fs::write(folder.path().join("s.jsonl"), text).unwrap();
        let mut store = RecordStore::new(folder.path().to_owned(), None);
        let page: serde_json::Value = serde_json::from_slice(&store.race("s.jsonl").unwrap()).unwrap();
        assert_eq!(page["findings"]["screening"]["factors"][0]["class"], "promises");
    }

    #[test]
    fn the_page_of_a_screening_tells_how_it_was_tuned() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("s.jsonl"), screening_of_one()).unwrap();
        let (header, rest) = RECORD.split_once('\n').unwrap();
        let mut header: serde_json::Value = serde_json::from_str(header).unwrap();
        let lanes = &mut header["plan"]["lanes"];
        lanes[1] = lanes[0].clone();
        lanes[1]["name"] = "t01".into();
        let (end, raced): (Vec<&str>, Vec<&str>) =
            rest.split_inclusive('\n').partition(|line| line.starts_with("{\"kind\":\"end\""));
        let mut store = RecordStore::new(folder.path().to_owned(), None);
        let mut tuning = || {
            let page: serde_json::Value = serde_json::from_slice(&store.race("s.jsonl").unwrap()).unwrap();
            page["findings"]["screening"]["proposal"]["tuning"].clone()
        };
        assert!(tuning().is_null());
        let file = folder.path().join("s-tune1.jsonl");
        let cut = format!("{header}\n{}", raced.concat());
        std::fs::write(&file, &cut).unwrap();
        assert_eq!(tuning()["unfinished"], true, "it was cut");
        std::fs::write(&file, format!("{cut}{}", end.concat())).unwrap();
        let told = tuning();
        assert!(told["unfinished"].is_null(), "{told}");
        assert_eq!(told["races"][0]["record"], "s-tune1.jsonl");
        assert_eq!(told["races"][0]["combinations"][0]["levels"][0]["factor"], "commit");
        // A record of something else tells nothing of it.
        std::fs::write(&file, RECORD).unwrap();
        assert!(tuning().is_null());
    }

    #[test]
    fn records_larger_than_a_server_may_hold_are_refused_before_they_are_read() {
        let folder = tempfile::tempdir().unwrap();
        let make = |name: &str, bytes: u64| {
            let mut file = File::create(folder.path().join(name)).unwrap();
            file.write_all(RECORD.as_bytes()).unwrap();
            file.set_len(bytes.max(RECORD.len() as u64)).unwrap();
        };
        make("small.jsonl", 0);
        make("half.jsonl", HELD_BYTES / 2);
        make("most.jsonl", HELD_BYTES / 2 + 1);
        make("large.jsonl", HELD_BYTES + 1);
        let mut store = RecordStore::new(folder.path().to_owned(), None);
        let mut answer = |names: &[&str]| {
            let names = names.iter().map(|&name| name.to_owned()).collect();
            store.answer("test", names, "fairlane compare A B", |records| Ok(Bytes::from(vec![b'.'; records.count()])))
        };
        for names in [&["large.jsonl"][..], &["half.jsonl", "small.jsonl", "most.jsonl"]] {
            let refused = answer(names).unwrap_err();
            assert_eq!(refused.status(), StatusCode::UNPROCESSABLE_ENTITY);
            let said = format!("{refused:?}");
            assert!(said.contains("`fairlane compare A B`") && said.contains("256 MiB"), "{said}");
        }
        // Those after the first are held one at a time.
        assert_eq!(answer(&["half.jsonl", "half.jsonl", "half.jsonl"]).unwrap(), "...");
        let refused = store.race("large.jsonl").unwrap_err();
        assert!(format!("{refused:?}").contains("fairlane report "), "{refused:?}");
    }
}
