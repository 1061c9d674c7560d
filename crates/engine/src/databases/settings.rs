//! What a database says of its own settings, once it runs: what it was told is not always what it does.

use super::session::{Cure, DatabaseError, Session};
use model::oltp::{Oltp, Server, same_setting};
use std::collections::BTreeMap;

/// Words of SQLite's `PRAGMA synchronous`, by the number that it answers.
const SYNCHRONOUS: [&str; 4] = ["OFF", "NORMAL", "FULL", "EXTRA"];

/// Asks for what makes its commits safe, and for what the user set.
///
/// # Errors
/// Where a commit is not as safe, or as unsafe, as was asked for, or an option is none of its variables: an
/// abbreviation would be taken, and nobody could say what it did.
pub(super) fn read(oltp: &Oltp, session: &mut dyn Session) -> Result<BTreeMap<String, String>, DatabaseError> {
    let mut stated = BTreeMap::new();
    let asked = oltp.settings();
    let durability: BTreeMap<String, String> = oltp.durability().into_iter().collect();
    let title = oltp.server.title();
    let wrong = |message: String| DatabaseError { message, cure: Cure::None };
    for key in oltp.stated() {
        let Some(found) = one(oltp.server, session, &key)? else {
            if asked.contains_key(&key) {
                return Err(wrong(format!(
                    "{title} has no variable {key}, so that nobody can say what it does; write the option's whole name"
                )));
            }
            continue;
        };
        // Of a server that is none of ours nothing was asked.
        if let Some(wanted) = durability.get(&key).filter(|_| !oltp.is_external())
            && !same(&key, wanted, &found)
        {
            return Err(wrong(format!(
                "{title} runs with {key} = {found} where {wanted} was asked for; choose a value that it takes here"
            )));
        }
        stated.insert(key, found);
    }
    Ok(stated)
}

fn same(key: &str, wanted: &str, found: &str) -> bool {
    let number = || wanted.parse::<usize>().ok().and_then(|number| SYNCHRONOUS.get(number));
    same_setting(wanted, found) || (key == "synchronous" && number().is_some_and(|word| *word == found))
}

/// One of them; `None`: there is none of that name. Names hold letters, digits, `_` and `.` alone.
fn one(server: Server, session: &mut dyn Session, key: &str) -> Result<Option<String>, DatabaseError> {
    let first = |rows: Vec<Vec<String>>, column: usize| rows.into_iter().next()?.into_iter().nth(column);
    match server {
        Server::Sqlite => {
            let found = first(session.rows(&format!("PRAGMA {key}"))?, 0);
            let word = |number: String| {
                let word = number.parse::<usize>().ok().and_then(|number| SYNCHRONOUS.get(number));
                word.map_or(number, |word| (*word).to_owned())
            };
            Ok(if key == "synchronous" { found.map(word) } else { found })
        }
        Server::Mariadb | Server::Mysql => {
            let rows = session.rows(&format!("SHOW GLOBAL VARIABLES WHERE Variable_name = '{key}'"))?;
            Ok(first(rows, 1))
        }
        Server::Postgresql => {
            let rows = session.rows(&format!("SELECT current_setting('{key}', true)"))?;
            Ok(first(rows, 0).filter(|value| !value.is_empty()))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::databases::session::Value;

    /// Answers every question with the same value.
    struct Says(&'static str);

    impl Session for Says {
        fn run(&mut self, _: &str) -> Result<u64, DatabaseError> {
            Ok(0)
        }
        fn rows(&mut self, sql: &str) -> Result<Vec<Vec<String>>, DatabaseError> {
            let known = sql.contains("fsync") || sql.contains("synchronous") || sql.contains("full_page");
            Ok(if known { vec![vec![self.0.to_owned()]] } else { Vec::new() })
        }
        fn prepare(&mut self, _: &str) -> Result<(), DatabaseError> {
            Ok(())
        }
        fn execute(&mut self, _: usize, _: &[Value<'_>]) -> Result<u64, DatabaseError> {
            Ok(0)
        }
    }

    fn oltp_with(more: &str) -> Oltp {
        toml::from_str(&format!("script = \"insert\"\n{more}")).unwrap()
    }

    #[test]
    fn what_a_server_does_otherwise_than_it_was_told_fails() {
        let asked = oltp_with("server = \"postgresql\"");
        let stated = read(&asked, &mut Says("on")).unwrap();
        assert_eq!((stated["fsync"].as_str(), stated.contains_key("max_wal_size")), ("on", false));
        let error = read(&asked, &mut Says("off")).unwrap_err();
        assert!(error.message.contains("runs with fsync = off where on was asked"), "{}", error.message);
        let unknown = oltp_with("server = \"postgresql\"\noptions = { wal_such = \"1\" }");
        let error = read(&unknown, &mut Says("on")).unwrap_err();
        assert!(error.message.contains("no variable wal_such"), "{}", error.message);
        assert!(same("synchronous", "2", "FULL") && same("synchronous", "full", "FULL"));
        assert!(!same("synchronous", "1", "FULL") && !same("journal_mode", "WAL", "delete"));
    }
}
