//! One file replaced again and again: temporary file, fsync, rename, fsync of the directory.

use super::{Acknowledge, Found, Terms, below, content, sync_directory};
use std::fs::File;
use std::io::Write as _;
use std::path::Path;

const NAME: &str = "settings";
const TEMPORARY: &str = "settings.new";
/// Largest file in bytes.
const MOST: u64 = 20_000;

pub fn prepare(folder: &Path, terms: Terms) -> std::io::Result<()> {
    replace(folder, &content::bytes_of_record(terms.seed, 0, MOST))
}

fn replace(folder: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let temporary = folder.join(TEMPORARY);
    let mut file = File::create(&temporary)?;
    file.write_all(bytes)?;
    file.sync_all()?;
    drop(file);
    std::fs::rename(&temporary, folder.join(NAME))?;
    sync_directory(folder)
}

pub fn run(folder: &Path, terms: Terms, acknowledge: Acknowledge) -> std::io::Result<()> {
    for record in 1..=terms.records {
        replace(folder, &content::bytes_of_record(terms.seed, record, MOST))?;
        acknowledge(record)?;
    }
    Ok(())
}

pub fn check(folder: &Path, terms: Terms, acknowledged: u64) -> Found {
    let mut found = Found::default();
    let bytes = match below::read(folder, NAME, MOST) {
        Ok(bytes) => bytes,
        Err(error) => {
            found.lost = 1;
            let state = if below::is_missing(&error) { "is gone" } else { "cannot be read" };
            found.say(|| format!("the replaced file {state}: {error}"));
            return found;
        }
    };
    match content::number(&bytes) {
        // Version 0 was made before the records.
        Some(version) if version <= terms.records && content::bytes_of_record(terms.seed, version, MOST) == bytes => {
            if version < acknowledged {
                found.stale = 1;
                found.say(|| format!("the file is version {version}, and {acknowledged} was acknowledged"));
            } else if version > acknowledged + 1 {
                found.mixed = 1;
                found.say(|| format!("the file is version {version}, which was not written before the cut"));
            }
        }
        _ => {
            found.mixed = 1;
            found.say(|| format!("the file is no version at all: {} bytes", bytes.len()));
        }
    }
    found
}
