//! SQLite itself: one transaction a record, which fills one row and counts in another.

use super::{Acknowledge, Found, Terms, below, content};
use rusqlite::limits::Limit;
use rusqlite::{Connection, OpenFlags, OptionalExtension as _};
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::time::Duration;

const NAME: &str = "database";
/// Largest row in bytes: most span pages.
const MOST: u64 = 9000;

/// What SQLite keeps beside a database.
const BESIDE: [&str; 3] = ["-wal", "-shm", "-journal"];
/// Bytes of each of its files at most: those of the work are far smaller.
const LARGEST: u64 = 256 << 20;
/// Bytes of a value at most, as SQLite itself holds to it.
const LARGEST_VALUE: i32 = 16 << 20;
/// How long a look at a database takes at most: one of the work takes milliseconds.
const PATIENCE: Duration = Duration::from_secs(60);
/// The last bytes of a rollback journal that names another file, which SQLite would look into and remove
/// (https://www.sqlite.org/fileformat2.html#the_rollback_journal, https://www.sqlite.org/atomiccommit.html).
const NAMES_ANOTHER: [u8; 8] = [0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7];
/// What the database is made of; each statement stands in it as it is written.
const TABLES: [&str; 2] = [
    "CREATE TABLE record (id INTEGER PRIMARY KEY, body BLOB NOT NULL)",
    "CREATE TABLE counter (last INTEGER NOT NULL)",
];

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
    set(&connection, mode)?;
    Ok(connection)
}

fn set(connection: &Connection, mode: Mode) -> rusqlite::Result<()> {
    let (journal, synchronous) = match mode {
        Mode::Wal => ("wal", "FULL"),
        Mode::Rollback => ("delete", "EXTRA"),
    };
    connection.pragma_update_and_check(None, "journal_mode", journal, |_| Ok(()))?;
    connection.pragma_update(None, "synchronous", synchronous)?;
    connection.pragma_update_and_check(None, "wal_autocheckpoint", 60, |_| Ok(()))
}

/// The database of a crash image, where it and what lies beside it are files of that image and name no other: a link
/// would lead SQLite out of it. Its path leads over no link.
fn inspected(folder: &Path) -> std::io::Result<PathBuf> {
    let work = below::folder(folder)?;
    let bounded = |name: &str| match below::length(&work, name) {
        Ok(bytes) if bytes > LARGEST => Err(std::io::Error::other(format!("{name} has {}", model::Bytes(bytes)))),
        Err(error) if !below::is_missing(&error) => Err(std::io::Error::other(format!("{name}: {error}"))),
        found => found,
    };
    bounded(NAME)?;
    for end in BESIDE {
        let name = format!("{NAME}{end}");
        match bounded(&name) {
            Err(error) if below::is_missing(&error) => continue,
            Ok(bytes) if end == "-journal" && bytes >= NAMES_ANOTHER.len() as u64 => {
                let mut last = [0; NAMES_ANOTHER.len()];
                below::open(&work, &name)?.read_exact_at(&mut last, bytes - NAMES_ANOTHER.len() as u64)?;
                // The header of a journal is as long as a sector, so that no other journal ends in these bytes.
                if last == NAMES_ANOTHER && bytes > NAMES_ANOTHER.len() as u64 {
                    return Err(std::io::Error::other("its journal names another file"));
                }
            }
            found => drop(found?),
        }
    }
    let (above, name) = (folder.parent().unwrap_or(Path::new("/")), folder.file_name().unwrap_or_default());
    Ok(above.canonicalize()?.join(name).join(NAME))
}

fn plain(error: rusqlite::Error) -> std::io::Error {
    std::io::Error::other(error.to_string())
}

fn prepare(folder: &Path, mode: Mode) -> std::io::Result<()> {
    let make = format!("{};{};INSERT INTO counter VALUES (0);", TABLES[0], TABLES[1]);
    open(folder, mode).and_then(|connection| connection.execute_batch(&make)).map_err(plain)?;
    super::sync_directory(folder)
}

fn run(folder: &Path, terms: Terms, acknowledge: Acknowledge, mode: Mode) -> std::io::Result<()> {
    let mut connection = open(folder, mode).map_err(plain)?;
    for record in 1..=terms.records {
        let commit = |connection: &mut Connection| {
            let transaction = connection.transaction()?;
            let body = content::bytes_of_record(terms.seed, record, MOST);
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
    let unreadable = |found: &mut Found, error: &dyn std::fmt::Display| {
        found.lost = found.lost.max(acknowledged.max(1));
        found.say(|| format!("the database cannot be read: {error}"));
    };
    match inspected(folder) {
        Err(error) if below::is_missing(&error) => {
            found.lost = acknowledged.max(1);
            found.say(|| "the database is gone".to_owned());
        }
        Err(error) => unreadable(&mut found, &error),
        Ok(path) => {
            let looked =
                within_patience(&path, &mut |connection| look(connection, terms, acknowledged, mode, &mut found));
            if let Err(error) = looked {
                unreadable(&mut found, &error);
            }
        }
    }
    found
}

/// Opens a database of a crash image and does something with it, which ends when it takes too long.
fn within_patience(path: &Path, work: &mut dyn FnMut(&Connection) -> rusqlite::Result<()>) -> rusqlite::Result<()> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_NOFOLLOW;
    let connection = Connection::open_with_flags(path, flags)?;
    connection.set_limit(Limit::SQLITE_LIMIT_LENGTH, LARGEST_VALUE)?;
    connection.pragma_update(None, "trusted_schema", false)?;
    let handle = connection.get_interrupt_handle();
    std::thread::scope(|scope| {
        let (done, over) = mpsc::channel::<()>();
        scope.spawn(move || {
            if over.recv_timeout(PATIENCE) == Err(mpsc::RecvTimeoutError::Timeout) {
                handle.interrupt();
            }
        });
        let worked = work(&connection);
        drop(done);
        worked
    })
}

/// Views, triggers and tables of others would have SQLite do what the work never asked for.
fn has_only_its_tables(connection: &Connection) -> rusqlite::Result<bool> {
    let mut statement = connection.prepare("SELECT type, sql FROM sqlite_schema ORDER BY rowid")?;
    let mut rows = statement.query([])?;
    let mut wanted = TABLES.iter();
    while let Some(row) = rows.next()? {
        let (kind, sql): (String, Option<String>) = (row.get(0)?, row.get(1)?);
        if kind != "table" || sql.as_deref() != wanted.next().copied() {
            return Ok(false);
        }
    }
    Ok(wanted.next().is_none())
}

fn look(
    connection: &Connection,
    terms: Terms,
    acknowledged: u64,
    mode: Mode,
    found: &mut Found,
) -> rusqlite::Result<()> {
    if !has_only_its_tables(connection)? {
        found.lost = acknowledged.max(1);
        found.say(|| "the database does not hold its two tables and nothing else".to_owned());
        return Ok(());
    }
    set(connection, mode)?;
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
            Some(body) if body != content::bytes_of_record(terms.seed, record, MOST) => {
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
