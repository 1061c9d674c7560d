//! SQLite as the agent's own code: each client has a connection.

use super::server_directory::ServerDirectory;
use super::session::{Cause, Cure, DatabaseError, Session, Value};
use super::syncs;
use super::turns::Turns;
use model::oltp::Oltp;
use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{Connection, ErrorCode, OpenFlags, ToSql};
use std::sync::Arc;
use std::time::Duration;

/// Waits for a lock of another connection: at first 50 µs, then twice as long each time up to 2 ms, 10 s in all.
/// Writers wait for each other in [`Turns`]; this is for what is left, such as a checkpoint beside readers.
const WAITS: i32 = 5000;

/// Begins a transaction that will write.
pub(super) const IMMEDIATE: &str = "BEGIN IMMEDIATE";

/// One connection.
pub(crate) struct Sqlite {
    connection: Connection,
    statements: Vec<String>,
    /// Which of them write.
    changes: Vec<bool>,
    /// The queue of those that write.
    turns: Arc<Turns>,
    /// It is this connection's turn.
    writes: bool,
    /// Its files are known by paths that begin with this descriptor.
    _house: ServerDirectory,
}

impl Sqlite {
    /// Opens the database in its directory, makes it where it is not there. `clients` share the pool.
    pub(super) fn open(
        directory: ServerDirectory,
        oltp: &Oltp,
        clients: u32,
        turns: Arc<Turns>,
    ) -> Result<Sqlite, DatabaseError> {
        let file = directory.inside("data.sqlite");
        let connection = match syncs::vfs() {
            Some(counted) => Connection::open_with_flags_and_vfs(file, OpenFlags::default(), counted),
            None => Connection::open(file),
        };
        let mut connection = connection.map_err(plain)?;
        connection.busy_handler(Some(wait)).map_err(plain)?;
        let pool = oltp.pool.get() / 1024 / u64::from(clients.max(1));
        // Negative: KiB.
        pragma(&connection, "cache_size", &format!("-{}", pool.max(64)))?;
        // The order counts: how often is synced depends on the journal.
        for key in ["journal_mode", "synchronous"] {
            if let Some((_, value)) = oltp.durability().into_iter().find(|(known, _)| known == key) {
                pragma(&connection, key, &value)?;
            }
        }
        for (key, value) in &oltp.settings() {
            if !["journal_mode", "synchronous"].contains(&key.as_str()) {
                pragma(&connection, key, value)?;
            }
        }
        connection.set_prepared_statement_cache_capacity(16 + 10 * oltp.tables as usize);
        Ok(Sqlite { connection, statements: Vec::new(), changes: Vec::new(), turns, writes: false, _house: directory })
    }

    /// Stands in the queue before something that writes, unless it is its turn already.
    fn begin_to_write(&mut self) {
        if !self.writes {
            self.turns.take();
            self.writes = true;
        }
    }

    /// Lets the next one write, once no transaction is open.
    fn end_to_write(&mut self) {
        if self.writes && self.connection.is_autocommit() {
            self.turns.give();
            self.writes = false;
        }
    }
}

impl Drop for Sqlite {
    fn drop(&mut self) {
        if self.writes {
            // What is open is taken back first, so that the next one finds no lock.
            let _ = self.connection.execute_batch("ROLLBACK");
            self.turns.give();
        }
    }
}

/// Version of the SQLite that is built in.
pub fn version() -> &'static str {
    rusqlite::version()
}

/// Sets it; some answer with a row, others do not.
fn pragma(connection: &Connection, key: &str, value: &str) -> Result<(), DatabaseError> {
    let plain_value = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    if value.is_empty() || !value.bytes().all(plain_value) {
        let message = format!("`{value}` is no value of the pragma {key}");
        return Err(DatabaseError { message, cure: Cure::None });
    }
    // SQLite says nothing about a pragma that it does not know.
    let known = "SELECT COUNT(*) FROM pragma_pragma_list WHERE name = ?1";
    let known: i64 = connection.query_row(known, [key], |row| row.get(0)).map_err(plain)?;
    if known == 0 {
        let message = format!("SQLite has no pragma {key}; see https://sqlite.org/pragma.html");
        return Err(DatabaseError { message, cure: Cure::None });
    }
    let mut statement = connection.prepare(&format!("PRAGMA {key} = {value}")).map_err(plain)?;
    let mut rows = statement.query([]).map_err(plain)?;
    let mut answer = None;
    while let Some(row) = rows.next().map_err(plain)? {
        answer = row.get::<_, String>(0).ok();
    }
    // It says which journal it uses now, and it may be the one before.
    if key == "journal_mode"
        && let Some(answer) = answer.filter(|answer| !answer.eq_ignore_ascii_case(value))
    {
        let message = format!(
            "SQLite keeps journal_mode = {answer} in this lane where {value} was asked for; choose another with --set \
             journal_mode={answer}"
        );
        return Err(DatabaseError { message, cure: Cure::None });
    }
    Ok(())
}

fn wait(times: i32) -> bool {
    let pause = Duration::from_micros(50 << times.clamp(0, 5));
    std::thread::sleep(pause.min(Duration::from_millis(2)));
    times < WAITS
}

fn plain(error: rusqlite::Error) -> DatabaseError {
    let busy = matches!(error.sqlite_error_code(), Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked));
    DatabaseError {
        message: format!("SQLite: {error}"),
        cure: if busy { Cure::Again(Cause::Busy) } else { Cure::None },
    }
}

impl ToSql for Value<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(match self {
            Value::Number(number) => ValueRef::Integer(*number as i64),
            Value::Text(text) => ValueRef::Text(text.as_bytes()),
        }))
    }
}

impl Session for Sqlite {
    fn run(&mut self, sql: &str) -> Result<u64, DatabaseError> {
        if sql == IMMEDIATE {
            self.begin_to_write();
        }
        let done = self.connection.prepare_cached(sql).and_then(|mut statement| statement.execute([]));
        self.end_to_write();
        done.map(|changed| changed as u64).map_err(plain)
    }

    fn rows(&mut self, sql: &str) -> Result<Vec<Vec<String>>, DatabaseError> {
        let mut statement = self.connection.prepare(sql).map_err(plain)?;
        let columns = statement.column_count();
        let mut rows = statement.query([]).map_err(plain)?;
        let mut all = Vec::new();
        while let Some(row) = rows.next().map_err(plain)? {
            let text = |column: usize| -> rusqlite::Result<String> {
                Ok(match row.get_ref(column)? {
                    ValueRef::Integer(number) => number.to_string(),
                    ValueRef::Real(number) => number.to_string(),
                    ValueRef::Text(text) | ValueRef::Blob(text) => String::from_utf8_lossy(text).into_owned(),
                    ValueRef::Null => String::new(),
                })
            };
            all.push((0..columns).map(text).collect::<rusqlite::Result<Vec<String>>>().map_err(plain)?);
        }
        Ok(all)
    }

    fn prepare(&mut self, sql: &str) -> Result<(), DatabaseError> {
        // The first use keeps it.
        let changes = !self.connection.prepare_cached(sql).map_err(plain)?.readonly();
        self.statements.push(sql.to_owned());
        self.changes.push(changes);
        Ok(())
    }

    fn execute(&mut self, statement: usize, values: &[Value<'_>]) -> Result<u64, DatabaseError> {
        if self.changes[statement] {
            self.begin_to_write();
            let prepared = self.connection.prepare_cached(&self.statements[statement]);
            let done = prepared.and_then(|mut statement| statement.execute(rusqlite::params_from_iter(values)));
            self.end_to_write();
            return done.map(|changed| changed as u64).map_err(plain);
        }
        let mut statement = self.connection.prepare_cached(&self.statements[statement]).map_err(plain)?;
        let mut rows = statement.query(rusqlite::params_from_iter(values)).map_err(plain)?;
        while let Some(row) = rows.next().map_err(plain)? {
            // The text is taken out, as a client would.
            std::hint::black_box(row.get_ref(0).map_err(plain)?);
        }
        Ok(0)
    }
}
