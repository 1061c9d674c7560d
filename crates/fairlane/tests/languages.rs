//! What the statistics say and what data files name is known in every language: this crate alone sees
//! both sides.

use model::page::Language;
use model::scenario::{Scenario, wishes};
use model::sentence::{Piece, pieces};
use model::workload::{Kind, Suite};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

const OTHERS: [Language; 2] = [Language::Zh, Language::De];

fn places(template: &str) -> BTreeSet<&str> {
    let place = |piece| match piece {
        Piece::Place(name) => Some(name),
        Piece::Text(_) => None,
    };
    pieces(template).into_iter().filter_map(place).collect()
}

#[test]
fn every_sentence_of_the_statistics_has_its_template_in_every_language() {
    let known: BTreeMap<&str, &str> = stats::statements::templates().map(|of| (of.id, of.english)).collect();
    for language in OTHERS {
        let catalogue: Vec<(&str, &str)> = report::language::catalogue(language).copied().collect();
        let own: BTreeMap<&str, &str> = catalogue.iter().copied().collect();
        assert_eq!(own.len(), catalogue.len(), "{language:?} has a sentence twice");
        for (id, english) in &known {
            let Some(template) = own.get(id) else { panic!("{language:?} has no sentence {id}: {english}") };
            assert_eq!(places(template), places(english), "{language:?}, {id}: {template}");
        }
        let nobodys: Vec<&&str> = own.keys().filter(|id| !known.contains_key(**id)).collect();
        assert!(nobodys.is_empty(), "{language:?} has sentences that nobody says: {nobodys:?}");
    }
}

fn files(folder: &str) -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(folder);
    let files = std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().path());
    files
        .filter(|file| file.extension().is_some_and(|of| of == "toml"))
        .map(|file| std::fs::read_to_string(file).unwrap())
        .collect()
}

/// Names that a reader meets: titles, groups, what is not tested, scenarios and their parts, needs.
fn named_by_data_files() -> BTreeSet<String> {
    let mut names: BTreeSet<String> =
        wishes().filter(|(name, _)| !name.contains('=')).map(|(_, of)| of.to_owned()).collect();
    for text in files("suites") {
        let suite = Suite::from_toml(&text).unwrap();
        names.extend(suite.not_tested.iter().cloned());
        for workload in &suite.workload {
            names.insert(workload.title.clone());
            // The steps of suite `operations` say their counts and sizes: they are names, not words.
            let is_table = matches!(&workload.kind, Kind::Operations(of) if of.step.len() > 8);
            // Those of a database say its name and a number.
            let is_database = matches!(&workload.kind, Kind::Oltp(_));
            names.extend(workload.groups().into_iter().filter(|_| !is_table && !is_database));
        }
    }
    for text in files("scenarios") {
        let scenario = Scenario::from_toml(&text).unwrap();
        names.insert(scenario.title.clone());
        names.extend(scenario.weight.into_iter().map(|part| part.what));
    }
    names.extend(stats::explain::cause_names().map(str::to_owned));
    names
}

/// Titles that older suites gave: records of theirs are still shown.
const OF_OLDER_SUITES: [&str; 43] = [
    "1000 writers at 1 s",
    "2000 writers at 0.75 s",
    "3200 writers at 0.5 s",
    "400 writers at 1 s",
    "4000 writers at 0.5 s",
    "a large file",
    "commit 4 KiB",
    "commit 4 KiB, growing file",
    "commit 4 KiB, preallocated",
    "commit, several threads",
    "create 4 KiB, threads",
    "latency of random reads 4 KiB",
    "latency of random writes 4 KiB",
    "random 4 KiB, 70 % reads",
    "random 60 % reads 128 KiB",
    "random 60 % reads 16 KiB",
    "random 60 % reads 4 KiB",
    "random 60 % reads 512 KiB",
    "random 60 % reads 64 KiB",
    "random overwrite 4 KiB",
    "random read 128 KiB",
    "random read 16 KiB",
    "random read 4 KiB",
    "random read 512 KiB",
    "random read 64 KiB",
    "random write 128 KiB",
    "random write 16 KiB",
    "random write 4 KiB",
    "random write 512 KiB",
    "random write 64 KiB",
    "sequential overwrite 1 MiB",
    "sequential read 1 MiB",
    "sequential read 128 KiB",
    "sequential read 16 KiB",
    "sequential read 4 KiB",
    "sequential read 512 KiB",
    "sequential read 64 KiB",
    "sequential write 1 MiB",
    "sequential write 128 KiB",
    "sequential write 16 KiB",
    "sequential write 4 KiB",
    "sequential write 512 KiB",
    "sequential write 64 KiB",
];

#[test]
fn every_name_of_a_data_file_is_known_and_no_other() {
    let named = named_by_data_files();
    let known: BTreeSet<String> = report::language::known_phrases().map(str::to_owned).collect();
    let missing: Vec<&String> = named.difference(&known).collect();
    assert!(missing.is_empty(), "crates/report/src/language/phrases.rs lacks {missing:?}");
    let older = |name: &&String| OF_OLDER_SUITES.contains(&name.as_str());
    let nobodys: Vec<&String> = known.difference(&named).filter(|name| !older(name)).collect();
    assert!(nobodys.is_empty(), "crates/report/src/language/phrases.rs has what no file names: {nobodys:?}");
}
