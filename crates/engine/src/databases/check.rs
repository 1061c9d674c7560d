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
            Ok(wrong(&said).map(damaged))
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

/// What `CHECK TABLE` found wrong. Its rows are table, what was done, a kind (`status`, `error`, `Warning`, `note`), text.
/// Warnings alone are no damage: InnoDB warns of versions that it has not removed yet, which no reader sees (MDEV-24402),
/// and where an index is broken, `error` or a status other than OK ends the rows.
fn wrong(rows: &[Vec<String>]) -> Option<&str> {
    let kind = |row: &[String], kind: &str| row.get(2).is_some_and(|of| of.eq_ignore_ascii_case(kind));
    let is_ok = |row: &[String]| row.last().is_some_and(|text| text == "OK");
    let is_sound = rows.iter().any(|row| kind(row, "status") && is_ok(row));
    let fault = rows.iter().find(|row| kind(row, "error") || (kind(row, "status") && !is_ok(row)));
    match (fault, is_sound) {
        (None, true) => None,
        // The warnings before say more than `Corrupt`.
        _ => Some(rows.first().and_then(|row| row.last()).map_or("nothing", String::as_str)),
    }
}

fn damaged(said: &str) -> String {
    format!("is damaged (`{}`)", model::text::escaped(said.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wrong_of(rows: &[(&str, &str)]) -> Option<String> {
        let rows: Vec<Vec<String>> = rows
            .iter()
            .map(|(kind, text)| ["sbtest.sbtest1", "check", kind, text].map(str::to_owned).to_vec())
            .collect();
        wrong(&rows).map(str::to_owned)
    }

    #[test]
    fn a_table_is_damaged_where_the_check_ends_so_and_not_where_it_only_warns() {
        let unpurged = ("Warning", "InnoDB: Clustered index record not found for index `k_1`");
        assert_eq!(wrong_of(&[("status", "OK")]), None);
        assert_eq!(wrong_of(&[unpurged, ("status", "OK")]), None);
        let marked = ("Warning", "InnoDB: Index k_1 is marked as corrupted");
        assert_eq!(wrong_of(&[marked, ("error", "Corrupt")]).as_deref(), Some(marked.1));
        assert_eq!(wrong_of(&[("error", "Corrupt"), ("status", "OK")]).as_deref(), Some("Corrupt"));
        assert_eq!(wrong_of(&[("status", "Operation failed")]).as_deref(), Some("Operation failed"));
        assert_eq!(wrong_of(&[unpurged]).as_deref(), Some(unpurged.1), "it did not say how it ended");
        assert_eq!(wrong_of(&[]).as_deref(), Some("nothing"));
    }
}
