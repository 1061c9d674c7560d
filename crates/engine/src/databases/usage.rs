//! What a server used: CPU time of its processes, and the syncs that it counts itself.

use super::session::Session;
use model::oltp::Server;

/// CPU time of a server and its children.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Cpu {
    pub(super) user_seconds: f64,
    pub(super) system_seconds: f64,
}

impl Cpu {
    pub(super) fn since(&self, before: &Cpu) -> Cpu {
        Cpu {
            user_seconds: (self.user_seconds - before.user_seconds).max(0.0),
            system_seconds: (self.system_seconds - before.system_seconds).max(0.0),
        }
    }
}

/// Of the process and the children that it has now: /proc/PID/stat (proc_pid_stat(5)), of the process itself
/// also that of children that ended.
pub(super) fn cpu(pid: u32) -> Cpu {
    // SAFETY: sysconf has no precondition.
    let ticks = unsafe { libc::sysconf(libc::_SC_CLK_TCK) }.max(1) as f64;
    let (mut user, mut system) = (0, 0);
    for entry in std::fs::read_dir("/proc").into_iter().flatten().flatten() {
        let Some(other) = entry.file_name().to_str().and_then(|name| name.parse::<u32>().ok()) else { continue };
        let Some(stat) = std::fs::read_to_string(format!("/proc/{other}/stat")).ok().and_then(|text| parse(&text))
        else {
            continue;
        };
        if other == pid {
            user += stat.user + stat.children_user;
            system += stat.system + stat.children_system;
        } else if stat.parent == pid {
            user += stat.user;
            system += stat.system;
        }
    }
    Cpu { user_seconds: user as f64 / ticks, system_seconds: system as f64 / ticks }
}

#[derive(Debug, PartialEq)]
struct Stat {
    parent: u32,
    user: u64,
    system: u64,
    children_user: u64,
    children_system: u64,
}

/// Fields 4 and 14 to 17; the name in brackets may hold anything.
fn parse(text: &str) -> Option<Stat> {
    let fields: Vec<&str> = text.rsplit_once(')')?.1.split_whitespace().collect();
    let number = |at: usize| fields.get(at)?.parse::<u64>().ok();
    Some(Stat {
        parent: u32::try_from(number(1)?).ok()?,
        user: number(11)?,
        system: number(12)?,
        children_user: number(13)?,
        children_system: number(14)?,
    })
}

/// Syncs of files since the server started; `None`: it does not tell. Of PostgreSQL those of its log alone, and its
/// backends tell what they did at most once a second, and when they end: only between moments without clients do
/// these differences mean something (PostgreSQL's documentation, "The Cumulative Statistics System").
pub(super) fn fsyncs(server: Server, session: &mut dyn Session) -> Option<f64> {
    match server {
        Server::Sqlite => None,
        Server::Postgresql => {
            let log = session.number("SELECT wal_sync FROM pg_stat_wal");
            // Since version 18 they stand elsewhere.
            log.or_else(|_| session.number("SELECT sum(fsyncs) FROM pg_stat_io WHERE object = 'wal'")).ok()?
        }
        Server::Mariadb | Server::Mysql => {
            let rows = session.rows("SHOW GLOBAL STATUS LIKE 'Innodb_data_fsyncs'").ok()?;
            rows.first()?.get(1)?.parse().ok()
        }
    }
}

/// Whether no backend but the one of this connection serves a client any more; each tells its counts when it ends.
pub(super) fn is_alone(session: &mut dyn Session) -> bool {
    let others =
        "SELECT COUNT(*) FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()";
    !matches!(session.number(others), Ok(Some(others)) if others > 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_behind_any_name() {
        let stat = parse("42 (a (b) c) S 7 42 42 0 -1 4194304 100 0 0 0 7 5 3 2 20 0 1 0 100 0 0").unwrap();
        assert_eq!(stat, Stat { parent: 7, user: 7, system: 5, children_user: 3, children_system: 2 });
        assert_eq!(parse("42 (cut"), None);
    }

    #[test]
    fn this_process_has_used_something_and_one_that_is_not_there_nothing() {
        let begun = std::time::Instant::now();
        while cpu(std::process::id()) == Cpu::default() {
            assert!(begun.elapsed().as_secs() < 60, "a minute of work is no tick");
        }
        assert_eq!(cpu(u32::MAX), Cpu::default());
    }
}
