//! What is known of the user's own records, kept from command to command in a database of SQLite: derived and bounded.
//!
//! It lies in the state folder and nowhere else, is made and read with the user's rights (0600), and believed only where its
//! owner, its permissions, its head, its tables and each row's sum are what they should be, and the record's stamp is the
//! row's. Everything else is thrown away and made anew; where that cannot be, records are read as if there were none.

use super::{Known, Measured, Stamp};
use crate::{owned, state};
use rusqlite::config::DbConfig;
use rusqlite::limits::Limit;
use rusqlite::{Connection, ErrorCode, OpenFlags, Row, ToSql, TransactionBehavior};
use serde::Serialize;
use serde::de::DeserializeOwned;
use stats::trend::RecordFigures;
use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Read};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::Duration;

/// Its name in the state folder.
const NAME: &str = "index.sqlite";
/// What SQLite keeps beside a database.
const BESIDE: [&str; 3] = ["-journal", "-wal", "-shm"];
/// Raised with every change of the tables.
const VERSION: u32 = 1;
/// What the head of the file calls its program: `Lane`.
const APPLICATION: u32 = 0x4c61_6e65;
/// Bytes of the file at most.
const MOST_BYTES: u64 = 512 << 20;
const PAGE_BYTES: u64 = 4096;
/// Bytes of a row at most; what is longer is not kept.
const MOST_ROW_BYTES: usize = 1 << 20;
/// How long another command may write.
const PATIENCE: Duration = Duration::from_secs(2);
/// The head of a database (https://www.sqlite.org/fileformat2.html#the_database_header).
const HEAD_BYTES: usize = 100;
const MAGIC: &[u8] = b"SQLite format 3\0";
/// Of the rollback journal: both versions of the file are 1.
const JOURNALLED: [u8; 2] = [1, 1];

/// What the database is made of; each statement stands in it as it is written.
const SCHEMA: [(&str, &str); 5] = [
    (
        "table",
        "CREATE TABLE entries (name TEXT NOT NULL, device INTEGER NOT NULL, inode INTEGER NOT NULL, bytes INTEGER NOT NULL, \
         seconds INTEGER NOT NULL, nanoseconds INTEGER NOT NULL, json TEXT NOT NULL, sum INTEGER NOT NULL)",
    ),
    ("index", "CREATE UNIQUE INDEX entries_by_name ON entries (name)"),
    (
        "table",
        "CREATE TABLE figures (name TEXT NOT NULL, device INTEGER NOT NULL, inode INTEGER NOT NULL, bytes INTEGER NOT NULL, \
         seconds INTEGER NOT NULL, nanoseconds INTEGER NOT NULL, json TEXT NOT NULL, sum INTEGER NOT NULL, \
         workload TEXT NOT NULL)",
    ),
    ("index", "CREATE UNIQUE INDEX figures_by_name ON figures (name, workload)"),
    ("index", "CREATE INDEX figures_by_workload ON figures (workload)"),
];
const COLUMNS: &str = "name, device, inode, bytes, seconds, nanoseconds, json, sum";

/// Why it gives nothing.
#[derive(Debug, PartialEq, Eq)]
enum Broken {
    /// It is not what it should be.
    Damaged,
    /// It is not there, is busy, or cannot be written.
    Away,
}

impl From<rusqlite::Error> for Broken {
    fn from(error: rusqlite::Error) -> Broken {
        match error.sqlite_error_code() {
            Some(
                ErrorCode::DatabaseBusy
                | ErrorCode::DatabaseLocked
                | ErrorCode::ReadOnly
                | ErrorCode::PermissionDenied
                | ErrorCode::SystemIoFailure
                | ErrorCode::DiskFull
                | ErrorCode::CannotOpen
                | ErrorCode::FileLockingProtocolFailed
                | ErrorCode::OutOfMemory,
            ) => Broken::Away,
            _ => Broken::Damaged,
        }
    }
}

impl From<io::Error> for Broken {
    fn from(_: io::Error) -> Broken {
        Broken::Away
    }
}

/// What a connection is for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Access {
    Read,
    /// Makes it where it is missing.
    Write,
}

/// Where it is, and whether this process changes it.
#[derive(Debug, Clone)]
pub struct Index {
    folder: PathBuf,
    may_write: bool,
}

impl Index {
    /// That of the records kept, where `records` is their folder. A process that only reads does not even make it.
    pub fn of_kept(records: &Path, may_write: bool) -> Option<Index> {
        let folder = state::state_folder().ok()?;
        (records == folder.join("runs")).then_some(Index { folder, may_write })
    }

    /// One that lies in any folder.
    #[cfg(test)]
    pub fn in_folder(folder: &Path, may_write: bool) -> Index {
        Index { folder: folder.to_owned(), may_write }
    }

    /// Whether this process changes it.
    pub fn may_write(&self) -> bool {
        self.may_write
    }

    /// What it knows of records, by their names.
    pub fn entries(&self) -> BTreeMap<String, Known> {
        let read =
            self.with(Access::Read, |connection| rows(connection, &format!("SELECT {COLUMNS} FROM entries"), &[], ""));
        read.unwrap_or_default()
    }

    /// What it knows of a workload in records, by their names.
    pub fn figures(&self, workload: &str) -> BTreeMap<String, (Stamp, RecordFigures)> {
        let read = self.with(Access::Read, |connection| {
            rows(connection, &format!("SELECT {COLUMNS} FROM figures WHERE workload = ?1"), &[&workload], workload)
        });
        read.unwrap_or_default()
    }

    /// Takes in what was found of records, and forgets those that are gone. Nothing depends on it.
    pub fn save(&self, changed: Vec<(&str, &Known)>, gone: &[&str]) {
        self.with(Access::Write, |connection| {
            let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            {
                let mut forget = transaction.prepare("DELETE FROM entries WHERE name = ?1")?;
                let mut forget_figures = transaction.prepare("DELETE FROM figures WHERE name = ?1")?;
                for name in gone.iter().copied().chain(changed.iter().map(|(name, _)| *name)) {
                    forget.execute([name])?;
                    forget_figures.execute([name])?;
                }
                let insert = format!("INSERT INTO entries ({COLUMNS}) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)");
                let mut insert = transaction.prepare(&insert)?;
                for (name, (stamp, summary)) in changed {
                    let Some(kept) = Kept::new(name, "", *stamp, summary) else { continue };
                    let [device, inode, bytes, seconds, nanoseconds] = kept.stamp_numbers();
                    let values: [&dyn ToSql; 8] =
                        [&name, &device, &inode, &bytes, &seconds, &nanoseconds, &kept.json, &kept.sum];
                    insert.execute(&values[..])?;
                }
            }
            Ok(transaction.commit()?)
        });
    }

    /// Takes in figures of records, of each workload apart. Nothing depends on it.
    pub fn save_figures(&self, new: &[Measured]) {
        self.with(Access::Write, |connection| {
            let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            {
                let mut forget = transaction.prepare("DELETE FROM figures WHERE name = ?1")?;
                let insert =
                    format!("INSERT INTO figures ({COLUMNS}, workload) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)");
                let mut insert = transaction.prepare(&insert)?;
                for (name, stamp, figures) in new {
                    forget.execute([name])?;
                    for workload in figures.workloads() {
                        let Some(kept) = Kept::new(name, workload, *stamp, &figures.only(workload)) else { continue };
                        let [device, inode, bytes, seconds, nanoseconds] = kept.stamp_numbers();
                        let values: [&dyn ToSql; 9] =
                            [name, &device, &inode, &bytes, &seconds, &nanoseconds, &kept.json, &kept.sum, &workload];
                        insert.execute(&values[..])?;
                    }
                }
            }
            Ok(transaction.commit()?)
        });
    }

    /// Does something with it, by the user's rights; `None` where it gives nothing. What is damaged is thrown away.
    fn with<T: Send>(
        &self,
        access: Access,
        work: impl FnOnce(&mut Connection) -> Result<T, Broken> + Send,
    ) -> Option<T> {
        // Of the user's rights too little may be left to look at the program.
        maker();
        let used = owned::in_own_folder(&self.folder, |folder| {
            let path = folder.join(NAME);
            let used = opened(&path, access).and_then(|mut connection| work(&mut connection));
            if used.as_ref().err() == Some(&Broken::Damaged) && self.may_write {
                throw_away(&path);
            }
            Ok(used.ok())
        });
        used.ok().flatten()
    }
}

/// A row, but for its workload.
struct Kept {
    stamp: Stamp,
    json: String,
    sum: i64,
}

impl Kept {
    fn new(name: &str, workload: &str, stamp: Stamp, what: &impl Serialize) -> Option<Kept> {
        let json = serde_json::to_string(what).ok().filter(|json| json.len() <= MOST_ROW_BYTES)?;
        Some(Kept { sum: sum(name, workload, stamp, &json), stamp, json })
    }

    /// The stamp as SQLite takes it: numbers with a sign, of the same bits.
    fn stamp_numbers(&self) -> [i64; 5] {
        numbers(self.stamp)
    }
}

fn numbers(stamp: Stamp) -> [i64; 5] {
    [stamp.device as i64, stamp.inode as i64, stamp.bytes as i64, stamp.written.0, stamp.written.1]
}

/// CRC-32C of all that a row holds: SQLite itself does not see a bit that fell over in a text.
fn sum(name: &str, workload: &str, stamp: Stamp, json: &str) -> i64 {
    let lengths = [name.len() as u64, workload.len() as u64].map(u64::to_le_bytes).concat();
    let stamp = numbers(stamp).map(i64::to_le_bytes).concat();
    let parts = [lengths.as_slice(), name.as_bytes(), workload.as_bytes(), stamp.as_slice(), json.as_bytes()];
    let sum = parts.into_iter().fold(0, crc32c::crc32c_append);
    i64::from(sum)
}

/// All rows of a question.
fn rows<T: DeserializeOwned>(
    connection: &Connection,
    question: &str,
    values: &[&dyn ToSql],
    workload: &str,
) -> Result<BTreeMap<String, (Stamp, T)>, Broken> {
    let mut statement = connection.prepare(question)?;
    let mut rows = statement.query(values)?;
    let mut found = BTreeMap::new();
    while let Some(row) = rows.next()? {
        let (name, stamp, what) = read(row, workload)?;
        found.insert(name, (stamp, what));
    }
    Ok(found)
}

fn read<T: DeserializeOwned>(row: &Row<'_>, workload: &str) -> Result<(String, Stamp, T), Broken> {
    let name: String = row.get(0)?;
    let (device, inode, bytes): (i64, i64, i64) = (row.get(1)?, row.get(2)?, row.get(3)?);
    let written = (row.get(4)?, row.get(5)?);
    let stamp = Stamp { device: device as u64, inode: inode as u64, bytes: bytes as u64, written };
    let (json, kept_sum): (String, i64) = (row.get(6)?, row.get(7)?);
    if sum(&name, workload, stamp, &json) != kept_sum {
        return Err(Broken::Damaged);
    }
    let what = serde_json::from_str(&json).map_err(|_| Broken::Damaged)?;
    Ok((name, stamp, what))
}

/// Opens the database, where it is one of this very program's.
fn opened(path: &Path, access: Access) -> Result<Connection, Broken> {
    let is_new = match fs::symlink_metadata(path) {
        Err(error) if error.kind() == ErrorKind::NotFound && access == Access::Write => {
            OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
            true
        }
        found => check(path, &found?)?,
    };
    if is_new && access == Access::Read {
        return Err(Broken::Away);
    }
    let way = match access {
        Access::Read => OpenFlags::SQLITE_OPEN_READ_ONLY,
        Access::Write => OpenFlags::SQLITE_OPEN_READ_WRITE,
    };
    let flags = way | OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_NOFOLLOW;
    let mut connection = Connection::open_with_flags(path, flags)?;
    connection.busy_timeout(PATIENCE)?;
    connection.set_limit(Limit::SQLITE_LIMIT_LENGTH, 4 * MOST_ROW_BYTES as i32)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    connection.execute_batch(&format!(
        "PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON; PRAGMA mmap_size = 0; PRAGMA temp_store = MEMORY; \
         PRAGMA synchronous = NORMAL; PRAGMA max_page_count = {}",
        MOST_BYTES / PAGE_BYTES
    ))?;
    if is_new {
        make(&mut connection)?;
    }
    match has_only_its_tables(&connection)? {
        true => Ok(connection),
        false => Err(Broken::Damaged),
    }
}

/// Looks at the file before SQLite does; answers whether nothing is in it yet. No connection of this process is open
/// meanwhile: who closes a file gives back all locks that the process has on it (fcntl_locking(2)).
fn check(path: &Path, found: &fs::Metadata) -> Result<bool, Broken> {
    let is_own = found.is_file() && found.uid() == rustix::process::geteuid().as_raw() && found.nlink() == 1;
    if !is_own || found.mode() & 0o077 != 0 || found.len() > MOST_BYTES {
        return Err(Broken::Damaged);
    }
    if found.len() == 0 {
        return Ok(true);
    }
    let mut head = [0; HEAD_BYTES];
    let mut file = OpenOptions::new().read(true).custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK).open(path)?;
    file.read_exact(&mut head).map_err(|_| Broken::Damaged)?;
    let is_ours = head.starts_with(MAGIC)
        && head[18..20] == JOURNALLED
        && head[60..64] == maker().to_be_bytes()
        && head[68..72] == APPLICATION.to_be_bytes();
    match is_ours {
        true => Ok(false),
        false => Err(Broken::Damaged),
    }
}

/// Makes the tables, where no other command was faster.
fn make(connection: &mut Connection) -> Result<(), Broken> {
    connection.execute_batch(&format!("PRAGMA page_size = {PAGE_BYTES}"))?;
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let made: i64 = transaction.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
    if made == 0 {
        let tables: String = SCHEMA.iter().map(|(_, statement)| format!("{statement};")).collect();
        // SQLite takes both for numbers with a sign.
        let (application, version) = (APPLICATION as i32, maker() as i32);
        transaction.execute_batch(&format!(
            "PRAGMA application_id = {application}; PRAGMA user_version = {version}; {tables}"
        ))?;
    }
    Ok(transaction.commit()?)
}

/// Views, triggers and tables of others would have SQLite do what nobody here asks for.
fn has_only_its_tables(connection: &Connection) -> rusqlite::Result<bool> {
    let mut statement = connection.prepare("SELECT type, sql FROM sqlite_schema ORDER BY rowid")?;
    let mut rows = statement.query([])?;
    let mut wanted = SCHEMA.iter();
    while let Some(row) = rows.next()? {
        let (kind, sql): (String, Option<String>) = (row.get(0)?, row.get(1)?);
        let is_wanted = wanted.next().is_some_and(|(of, text)| kind == *of && sql.as_deref() == Some(*text));
        if !is_wanted {
            return Ok(false);
        }
    }
    Ok(wanted.next().is_none())
}

/// Which build of Fairlane made an index: another one may find something else in the same record.
fn maker() -> u32 {
    static MAKER: OnceLock<u32> = OnceLock::new();
    *MAKER.get_or_init(|| {
        let program = File::open("/proc/self/exe").and_then(|file| file.metadata());
        let program = program.map_or((0, 0, 0), |of| (of.len(), of.mtime(), of.mtime_nsec()));
        crc32c::crc32c(format!("{VERSION} {} {program:?}", env!("CARGO_PKG_VERSION")).as_bytes())
    })
}

/// Removes it, with what SQLite keeps beside it.
fn throw_away(path: &Path) {
    let _ = fs::remove_file(path);
    for end in BESIDE {
        let mut beside = path.as_os_str().to_owned();
        beside.push(end);
        let _ = fs::remove_file(PathBuf::from(beside));
    }
}
