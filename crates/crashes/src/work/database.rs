//! SQLite itself: one transaction a record, which fills one row and counts in another.

use super::{Acknowledge, Found, Terms, content};
use rusqlite::{Connection, OptionalExtension as _};
use std::path::Path;

const NAME: &str = "database";
/// Largest row in bytes: most span pages.
const MOST: u64 = 9000;

/// How SQLite makes a transaction safe.
#[derive(Clone, Copy)]
enum Mode {
    /// The log is synced at each commit, and copied into the database every 60 pages.
    Wal,
    /// The journal is removed at each commit; EXTRA syncs the directory then, without which a removed
    /// journal may come back and undo an acknowledged transaction.
    Rollback,
}

fn open(folder: &Path, mode: Mode) -> rusqlite::Result<Connection> {
    let connection = Connection::open(folder.join(NAME))?;
    let (journal, synchronous) = match mode {
        Mode::Wal => ("wal", "FULL"),
        Mode::Rollback => ("delete", "EXTRA"),
    };
    connection.pragma_update_and_check(None, "journal_mode", journal, |_| Ok(()))?;
    connection.pragma_update(None, "synchronous", synchronous)?;
    connection.pragma_update_and_check(None, "wal_autocheckpoint", 60, |_| Ok(()))?;
    Ok(connection)
}

fn plain(error: rusqlite::Error) -> std::io::Error {
    std::io::Error::other(error.to_string())
}

fn prepare(folder: &Path, mode: Mode) -> std::io::Result<()> {
    let make = "CREATE TABLE record (id INTEGER PRIMARY KEY, body BLOB NOT NULL);
                CREATE TABLE counter (last INTEGER NOT NULL);
                INSERT INTO counter VALUES (0);";
    open(folder, mode).and_then(|connection| connection.execute_batch(make)).map_err(plain)?;
    super::sync_directory(folder)
}

fn run(folder: &Path, terms: Terms, acknowledge: Acknowledge, mode: Mode) -> std::io::Result<()> {
    let mut connection = open(folder, mode).map_err(plain)?;
    for record in 1..=terms.records {
        let commit = |connection: &mut Connection| {
            let transaction = connection.transaction()?;
            let body = content::of(terms.seed, record, MOST);
            transaction.execute("INSERT INTO record VALUES (?1, ?2)", (record as i64, body))?;
            transaction.execute("UPDATE counter SET last = ?1", [record as i64])?;
            transaction.commit()
        };
        commit(&mut connection).map_err(plain)?;
        acknowledge(record)?;
    }
    Ok(())
}

fn check(folder: &Path, terms: Terms, acknowledged: u64, mode: Mode) -> Found {
    let mut found = Found::default();
    if let Err(error) = look(folder, terms, acknowledged, mode, &mut found) {
        found.lost = found.lost.max(acknowledged.max(1));
        found.say(|| format!("the database cannot be read: {error}"));
    }
    found
}

fn look(folder: &Path, terms: Terms, acknowledged: u64, mode: Mode, found: &mut Found) -> rusqlite::Result<()> {
    // Opening a missing database would make an empty one.
    if !folder.join(NAME).exists() {
        found.lost = acknowledged.max(1);
        found.say(|| "the database is gone".to_owned());
        return Ok(());
    }
    let connection = open(folder, mode)?;
    let verdict: String = connection.query_row("PRAGMA integrity_check", [], |row| row.get(0))?;
    if verdict != "ok" {
        found.torn += 1;
        found.say(|| format!("integrity_check: {verdict}"));
    }
    let mut statement = connection.prepare("SELECT body FROM record WHERE id = ?1")?;
    for record in 1..=acknowledged {
        let body: Option<Vec<u8>> = statement.query_row([record as i64], |row| row.get(0)).optional()?;
        match body {
            None => {
                found.lost += 1;
                found.say(|| format!("transaction {record} is missing"));
            }
            Some(body) if body != content::of(terms.seed, record, MOST) => {
                found.torn += 1;
                found.say(|| format!("transaction {record} has wrong bytes"));
            }
            Some(_) => {}
        }
    }
    let last: i64 = connection.query_row("SELECT last FROM counter", [], |row| row.get(0))?;
    let most: i64 = connection.query_row("SELECT coalesce(max(id), 0) FROM record", [], |row| row.get(0))?;
    if last != most || most > acknowledged as i64 + 1 {
        found.mixed += 1;
        found.say(|| format!("a transaction is there in part: {most} rows, the counter says {last}"));
    }
    Ok(())
}

pub fn prepare_wal(folder: &Path, _: Terms) -> std::io::Result<()> {
    prepare(folder, Mode::Wal)
}

pub fn run_wal(folder: &Path, terms: Terms, acknowledge: Acknowledge) -> std::io::Result<()> {
    run(folder, terms, acknowledge, Mode::Wal)
}

pub fn check_wal(folder: &Path, terms: Terms, acknowledged: u64) -> Found {
    check(folder, terms, acknowledged, Mode::Wal)
}

pub fn prepare_rollback(folder: &Path, _: Terms) -> std::io::Result<()> {
    prepare(folder, Mode::Rollback)
}

pub fn run_rollback(folder: &Path, terms: Terms, acknowledge: Acknowledge) -> std::io::Result<()> {
    run(folder, terms, acknowledge, Mode::Rollback)
}

pub fn check_rollback(folder: &Path, terms: Terms, acknowledged: u64) -> Found {
    check(folder, terms, acknowledged, Mode::Rollback)
}
