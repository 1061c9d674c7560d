//! Job files as text, and what becomes of them.
#![allow(dead_code)] // Each test file uses its share.

use jobfile::{Surroundings, parse};
use model::job::{Io, Jobs};
use std::io::{Error, ErrorKind};
use std::path::Path;

/// Files by name, and the variable `BLOCK`.
pub fn with_files<T>(files: &[(&str, &str)], act: impl Fn(&Path, &Surroundings) -> T) -> T {
    let read = |path: &Path| {
        let found = files.iter().find(|(name, _)| Path::new(name) == path);
        found.map(|(_, text)| (*text).to_owned()).ok_or_else(|| Error::new(ErrorKind::NotFound, "no such file"))
    };
    let surroundings = Surroundings {
        read: &read,
        variable: &|name| (name == "BLOCK").then(|| "16k".to_owned()),
        cpus: 4,
        memory_bytes: 3 << 30,
        page_bytes: 4096,
        space_bytes: 1 << 30,
    };
    act(Path::new(files[0].0), &surroundings)
}

pub fn jobs(text: &str) -> Jobs {
    with_files(&[("a.fio", text)], parse).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// The only job of a file that has `size=1m` and these options, one a line.
pub fn io(options: &str) -> Io {
    jobs(&format!("[j]\nsize=1m\n{options}\n")).jobs.remove(0).io
}

/// The refusal of a file.
pub fn refused(text: &str) -> String {
    with_files(&[("a.fio", text)], parse).expect_err(text).to_string()
}

/// The refusal of an option in a sound job, on line 3.
#[track_caller]
pub fn refuses(option: &str, words: &str) {
    let error = refused(&format!("[j]\nsize=1m\n{option}\n"));
    assert!(error.starts_with("a.fio:3: ") && error.contains(words), "{option}: {error}");
}

#[track_caller]
pub fn notes(options: &str, words: &str) {
    let notes = jobs(&format!("[j]\nsize=1m\n{options}\n")).notes;
    assert!(notes.iter().any(|note| note.starts_with("a.fio:") && note.contains(words)), "{options}: {notes:?}");
}
