//! Records appended to one file, each made safe by fsync.

use super::{Acknowledge, Found, Terms, below, content, sync_directory};
use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::path::Path;

const NAME: &str = "log";
/// Largest record in bytes.
const MOST: u64 = 6000;

pub fn prepare(folder: &Path, _: Terms) -> std::io::Result<()> {
    File::create(folder.join(NAME))?.sync_all()?;
    sync_directory(folder)
}

pub fn run(folder: &Path, terms: Terms, acknowledge: Acknowledge) -> std::io::Result<()> {
    run_telling(folder, terms, acknowledge).map_err(|(_, error)| error)
}

/// What an application calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Call {
    /// open.
    Open,
    /// write.
    Write,
    /// fsync.
    Fsync,
    /// None of the filesystem's: the acknowledgement was not taken.
    Acknowledge,
}

impl Call {
    /// As POSIX calls it.
    pub fn name(self) -> &'static str {
        match self {
            Call::Open => "open",
            Call::Write => "write",
            Call::Fsync => "fsync",
            Call::Acknowledge => "acknowledge",
        }
    }
}

/// The same, and says which call failed.
///
/// # Errors
/// The call with what the system answered.
pub fn run_telling(folder: &Path, terms: Terms, acknowledge: Acknowledge) -> Result<(), (Call, std::io::Error)> {
    let of = |call: Call| move |error| (call, error);
    let mut file = OpenOptions::new().append(true).open(folder.join(NAME)).map_err(of(Call::Open))?;
    for record in 1..=terms.records {
        file.write_all(&content::bytes_of_record(terms.seed, record, MOST)).map_err(of(Call::Write))?;
        file.sync_all().map_err(of(Call::Fsync))?;
        acknowledge(record).map_err(of(Call::Acknowledge))?;
    }
    Ok(())
}

pub fn check(folder: &Path, terms: Terms, acknowledged: u64) -> Found {
    let mut found = Found::default();
    // All records and the open one are shorter than that.
    let bytes = match below::read(folder, NAME, MOST.saturating_mul(acknowledged.saturating_add(2))) {
        Ok(bytes) => bytes,
        Err(error) => {
            found.lost = acknowledged.max(1);
            found.say(|| format!("the file of records cannot be read: {error}"));
            return found;
        }
    };
    let mut at = 0;
    for record in 1..=acknowledged {
        let wanted = content::bytes_of_record(terms.seed, record, MOST);
        match bytes.get(at..at + wanted.len()) {
            None => {
                found.lost += 1;
                found.say(|| format!("record {record} is missing: the file has {} bytes", bytes.len()));
            }
            Some(there) if *there != wanted[..] => {
                found.torn += 1;
                found.say(|| format!("record {record} has wrong bytes"));
            }
            Some(_) => {}
        }
        at += wanted.len();
    }
    // The next record may be there in part, and what is not there yet reads as zeros.
    let open = content::bytes_of_record(terms.seed, acknowledged + 1, MOST);
    let behind = bytes.get(at..).unwrap_or_default();
    let foreign = behind.iter().enumerate().any(|(index, &byte)| byte != 0 && open.get(index) != Some(&byte));
    if foreign || behind.len() > open.len() {
        found.stale += 1;
        found.say(|| format!("behind record {acknowledged} stand bytes that were never written there"));
    }
    found
}
