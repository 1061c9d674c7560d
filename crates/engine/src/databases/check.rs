//! Whether tables and indexes are sound, as the database itself says, and how many rows there are.

use super::script::table;
use super::session::{Cure, DatabaseError, Session};
use model::oltp::{Oltp, Script, Server};

/// What a check found.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Found {
    pub(super) rows: i64,
    /// The sum of all `k`, of the script that changes nothing else.
    pub(super) sum: Option<i64>,
    /// What is wrong with the files, as the end of a sentence.
    pub(super) damage: Option<String>,
}

/// Checks every table.
pub(super) fn tables(oltp: &Oltp, session: &mut dyn Session) -> Result<Found, DatabaseError> {
    let mut found = Found::default();
    if oltp.server == Server::Sqlite {
        let said = session.rows("PRAGMA integrity_check")?;
        let first = said.first().and_then(|row| row.first()).map_or("nothing", String::as_str);
        found.damage = (first != "ok").then(|| damaged(first));
    }
    if oltp.server == Server::Postgresql {
        // Brought by the server's own package; without it the counts below are all.
        let _ = session.run("CREATE EXTENSION IF NOT EXISTS amcheck");
    }
    for number in 1..=oltp.tables {
        let table = table(number);
        if found.damage.is_none() {
            found.damage = of_table(oltp.server, session, &table, number)?;
        }
    }
    found.rows = rows(oltp, session)?;
    if oltp.script == Script::UpdateIndex {
        found.sum = Some(sum(oltp, session)?);
    }
    Ok(found)
}

/// Rows of all tables.
pub(super) fn rows(oltp: &Oltp, session: &mut dyn Session) -> Result<i64, DatabaseError> {
    let mut all = 0;
    for number in 1..=oltp.tables {
        let rows = session.number(&format!("SELECT COUNT(*) FROM {}", table(number)))?;
        all += rows.map_or(-1, |rows| rows as i64);
    }
    Ok(all)
}

/// The sum of the column `k` over all tables.
pub(super) fn sum(oltp: &Oltp, session: &mut dyn Session) -> Result<i64, DatabaseError> {
    let mut all = 0;
    for number in 1..=oltp.tables {
        let sum = session.number(&format!("SELECT SUM(k) FROM {}", table(number)))?;
        all += sum.map_or(0, |sum| sum as i64);
    }
    Ok(all)
}

fn of_table(
    server: Server,
    session: &mut dyn Session,
    table: &str,
    number: u32,
) -> Result<Option<String>, DatabaseError> {
    match server {
        // It checked the whole file.
        Server::Sqlite => Ok(None),
        Server::Mariadb | Server::Mysql => {
            let said = session.rows(&format!("CHECK TABLE {table} EXTENDED"))?;
            // Table, what was done, `status` or `error`, text.
            let bad = said.iter().find(|row| row.last().is_none_or(|text| text != "OK"));
            Ok(bad.map(|row| damaged(row.last().map_or("nothing", String::as_str))))
        }
        Server::Postgresql => {
            for index in [format!("{table}_pkey"), format!("k_{number}")] {
                match session.rows(&format!("SELECT bt_index_check('{index}'::regclass, true)")) {
                    Ok(_) => {}
                    // The function is not there: the extension's package is missing.
                    Err(error) if error.message.contains("42883") => return Ok(None),
                    Err(error) if error.cure == Cure::None => return Ok(Some(damaged(&error.message))),
                    Err(error) => return Err(error),
                }
            }
            Ok(None)
        }
    }
}

fn damaged(said: &str) -> String {
    format!("is damaged (`{}`)", model::text::escaped(said.as_bytes()))
}
