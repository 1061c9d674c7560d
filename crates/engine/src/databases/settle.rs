//! Everything that transactions changed goes to the lane's device, so that what was measured has cost all of its
//! writes, and what follows does not pay for it.

use super::script::table;
use super::session::{DatabaseError, Session};
use model::oltp::{Oltp, Server};

/// Writes the pages that the database holds back. The filesystem is synced by the caller.
pub(super) fn pages(oltp: &Oltp, session: &mut dyn Session) -> Result<(), DatabaseError> {
    match oltp.server {
        Server::Sqlite => {
            session.rows("PRAGMA wal_checkpoint(TRUNCATE)")?;
        }
        Server::Postgresql => {
            session.run("CHECKPOINT")?;
        }
        // Waits until the tables' own pages are written; undo logs go with the next checkpoint.
        Server::Mariadb | Server::Mysql => {
            let all: Vec<String> = (1..=oltp.tables).map(table).collect();
            session.run(&format!("FLUSH TABLES {} FOR EXPORT", all.join(", ")))?;
            session.run("UNLOCK TABLES")?;
        }
    }
    Ok(())
}
