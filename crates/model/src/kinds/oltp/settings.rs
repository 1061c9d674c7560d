//! A server's own options: which are handed on, and which decide whether a commit survives a power cut.
//!
//! Options are taken from families that are known to stay in the lane. A list of what is forbidden would miss
//! those of the next version; and servers take names in many spellings, of which one is enough here.

use super::{Oltp, Server};
use std::collections::{BTreeMap, BTreeSet};

/// Options that decide whether an acknowledged transaction survives a power cut, and the values with which
/// it does, in lower case. Another value is told as a warning.
const DURABILITY: [(&str, &[&str]); 10] = [
    ("innodb_flush_log_at_trx_commit", &["1"]),
    ("innodb_doublewrite", &["on", "1", "true"]),
    ("innodb_flush_method", &["fsync", "o_direct", "o_dsync"]),
    ("debug_no_sync", &["off", "0"]),
    ("fsync", &["on", "1", "true", "yes"]),
    ("synchronous_commit", &["on", "1", "true", "yes", "local", "remote_write", "remote_apply"]),
    ("full_page_writes", &["on", "1", "true", "yes"]),
    ("wal_sync_method", &["fdatasync", "fsync", "open_datasync", "open_sync", "fsync_writethrough"]),
    ("synchronous", &["full", "2", "extra", "3"]),
    ("journal_mode", &["wal", "delete", "truncate", "persist"]),
];

/// What is asked of SQLite, of MariaDB and MySQL, and of PostgreSQL after it has started, beside what the user
/// set: it goes into the record as the server says it.
const STATED: [&[&str]; 3] = [
    &["journal_mode", "synchronous"],
    &["innodb_flush_log_at_trx_commit", "innodb_doublewrite", "innodb_flush_method", "debug_no_sync"],
    &["fsync", "synchronous_commit", "full_page_writes", "wal_sync_method", "max_wal_size"],
];

/// What is handed on to a server.
struct Taken {
    /// Beginnings of names.
    families: &'static [&'static str],
    names: &'static [&'static str],
    /// For the refusal.
    such_as: &'static str,
}

const SQLITE: Taken = Taken {
    families: &[],
    names: &[
        "auto_vacuum",
        "automatic_index",
        "cache_spill",
        "cell_size_check",
        "checkpoint_fullfsync",
        "fullfsync",
        "journal_mode",
        "journal_size_limit",
        "mmap_size",
        "page_size",
        "secure_delete",
        "synchronous",
        "temp_store",
        "threads",
        "wal_autocheckpoint",
    ],
    such_as: "journal_mode, synchronous, wal_autocheckpoint, mmap_size and others of docs/databases.md",
};

const MYSQL: Taken = Taken {
    families: &["innodb_"],
    names: &[
        "back_log",
        "join_buffer_size",
        "key_buffer_size",
        "lock_wait_timeout",
        "max_heap_table_size",
        "open_files_limit",
        "query_cache_size",
        "query_cache_type",
        "read_buffer_size",
        "read_rnd_buffer_size",
        "sort_buffer_size",
        "sync_binlog",
        "table_definition_cache",
        "table_open_cache",
        "thread_cache_size",
        "thread_handling",
        "thread_pool_size",
        "tmp_table_size",
    ],
    such_as: "innodb_*, sync_binlog, buffers and caches",
};

const POSTGRESQL: Taken = Taken {
    families: &[
        "autovacuum",
        "bgwriter_",
        "checkpoint_",
        "cpu_",
        "effective_",
        "enable_",
        "io_",
        "max_parallel_",
        "track_",
        "vacuum_",
        "wal_",
    ],
    names: &[
        "backend_flush_after",
        "commit_delay",
        "commit_siblings",
        "data_sync_retry",
        "deadlock_timeout",
        "default_transaction_isolation",
        "fsync",
        "full_page_writes",
        "huge_pages",
        "jit",
        "lock_timeout",
        "maintenance_io_concurrency",
        "maintenance_work_mem",
        "max_files_per_process",
        "max_wal_size",
        "max_worker_processes",
        "min_wal_size",
        "random_page_cost",
        "seq_page_cost",
        "synchronous_commit",
        "temp_buffers",
        "work_mem",
    ],
    such_as: "wal_*, checkpoint_*, bgwriter_*, autovacuum*, fsync, synchronous_commit, full_page_writes and work_mem",
};

/// Options that have a parameter of their own here.
const PARAMETERS: [(&str, &str); 5] = [
    ("innodb_buffer_pool_size", "pool"),
    ("shared_buffers", "pool"),
    ("cache_size", "pool"),
    ("max_connections", "threads"),
    ("busy_timeout", "threads"),
];

/// What servers of MySQL's family allow before a name: `loose_innodb_doublewrite`.
const PREFIXES: [&str; 5] = ["loose_", "skip_", "enable_", "disable_", "maximum_"];

/// Parts of the names of InnoDB's options that take a path.
const OF_PATHS: [&str; 4] = ["dir", "path", "home", "filename"];

/// A name as servers compare it: in lower case, with `_` for `-`.
fn normal(key: &str) -> String {
    key.to_ascii_lowercase().replace('-', "_")
}

/// Whether two values of a setting mean the same: case does not count, and truth values have several words.
pub fn same_setting(a: &str, b: &str) -> bool {
    let plain = |value: &str| match value.trim().to_ascii_lowercase().as_str() {
        "on" | "true" | "yes" | "1" => "on".to_owned(),
        "off" | "false" | "no" | "0" => "off".to_owned(),
        other => other.to_owned(),
    };
    plain(a) == plain(b)
}

impl Server {
    fn taken(self) -> &'static Taken {
        match self {
            Server::Sqlite => &SQLITE,
            Server::Mariadb | Server::Mysql => &MYSQL,
            Server::Postgresql => &POSTGRESQL,
        }
    }

    fn is_mysql(self) -> bool {
        matches!(self, Server::Mariadb | Server::Mysql)
    }
}

impl Oltp {
    /// The options by their names in lower case, with `_` for `-`.
    pub fn settings(&self) -> BTreeMap<String, String> {
        self.options.iter().map(|(key, value)| (normal(key), value.clone())).collect()
    }

    /// What decides whether a commit survives a power cut, as the server is told it.
    pub fn durability(&self) -> Vec<(String, String)> {
        let usual: &[(&str, &str)] = match self.server {
            Server::Sqlite => &[("journal_mode", "WAL"), ("synchronous", "FULL")],
            Server::Mariadb | Server::Mysql => &[("innodb_flush_log_at_trx_commit", "1"), ("innodb_doublewrite", "ON")],
            Server::Postgresql => &[("fsync", "on"), ("synchronous_commit", "on"), ("full_page_writes", "on")],
        };
        let told = self.settings();
        let of =
            |&(key, value): &(&str, &str)| (key.to_owned(), told.get(key).map_or(value, String::as_str).to_owned());
        let mut all: Vec<(String, String)> = usual.iter().map(of).collect();
        for (key, value) in &told {
            if DURABILITY.iter().any(|row| row.0 == key) && !all.iter().any(|(known, _)| known == key) {
                all.push((key.clone(), value.clone()));
            }
        }
        all
    }

    /// What a server is asked for once it runs: what makes its commits safe, and what the user set.
    pub fn stated(&self) -> BTreeSet<String> {
        let stated = match self.server {
            Server::Sqlite => STATED[0],
            Server::Mariadb | Server::Mysql => STATED[1],
            Server::Postgresql => STATED[2],
        };
        stated.iter().map(|&key| key.to_owned()).chain(self.settings().into_keys()).collect()
    }

    /// Settings with which an acknowledged transaction may be lost; empty: none.
    pub fn unsafe_settings(&self) -> Vec<String> {
        unsafe_among(self.durability().iter().map(|(key, value)| (key.as_str(), value.as_str())))
    }

    /// The same of what a server says of itself.
    pub fn unsafe_stated(stated: &BTreeMap<String, String>) -> Vec<String> {
        unsafe_among(stated.iter().map(|(key, value)| (key.as_str(), value.as_str())))
    }
}

fn unsafe_among<'a>(settings: impl Iterator<Item = (&'a str, &'a str)>) -> Vec<String> {
    let is_safe = |key: &str, value: &str| {
        let row = DURABILITY.iter().find(|row| row.0 == key);
        row.is_none_or(|row| row.1.contains(&value.to_ascii_lowercase().as_str()))
    };
    settings.filter(|(key, value)| !is_safe(key, value)).map(|(key, value)| format!("{key} = {value}")).collect()
}

/// What is wrong with the options, as one sentence with the remedy.
pub(super) fn check(oltp: &Oltp) -> Result<(), String> {
    let mut seen = BTreeSet::new();
    for (written, value) in &oltp.options {
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte);
        if written.is_empty() || !written.bytes().all(plain) || written.starts_with('-') {
            return Err(format!("`{written}` is no name of a server's option; write letters, digits, _ and -"));
        }
        if value.chars().any(crate::text::is_unsafe) {
            return Err(format!("the value of {written} holds a character that cannot be shown; remove it"));
        }
        let key = normal(written);
        if let Some(why) = refused(oltp.server, &key) {
            return Err(format!("{written} {why}"));
        }
        // A family may hold an option that takes a path after all, in this version or the next.
        if value.contains(['/', '\\', '~', '$', '%']) || value.contains("..") {
            return Err(format!("the value of {written} names a path, and a server stays in its lane; remove it"));
        }
        // What the engine takes of a pragma's value, told before anything is made.
        let plain_value =
            !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte));
        if oltp.server == Server::Sqlite && !plain_value {
            return Err(format!("`{value}` is no value of the pragma {written}; write letters, digits, _, - and ."));
        }
        if !seen.insert(key) {
            return Err(format!("{written} is set twice, in two spellings; write it once"));
        }
    }
    Ok(())
}

/// Why an option is not handed on, as the end of a sentence; `None`: it is.
fn refused(server: Server, key: &str) -> Option<String> {
    if let Some((_, own)) = PARAMETERS.iter().find(|row| row.0 == key) {
        return Some(format!("has a parameter of its own here; set {own} instead"));
    }
    if let Some(prefix) = PREFIXES.iter().find(|prefix| server.is_mysql() && key.starts_with(**prefix)) {
        return Some(format!("begins with {prefix}; write the option's own name"));
    }
    if key.starts_with("innodb_buffer_pool_dump") || key.starts_with("innodb_buffer_pool_load") {
        return Some("is Fairlane's own to set, because a cold pool holds nothing; remove it".to_owned());
    }
    // Dirty pages lie in no directory.
    let clean = key.replace("dirty", "");
    let path = server.is_mysql() && OF_PATHS.iter().any(|part| clean.contains(part));
    let Taken { families, names, such_as } = server.taken();
    let taken = names.contains(&key) || families.iter().any(|family| key.starts_with(family));
    (path || !taken).then(|| {
        let title = server.title();
        format!(
            "is not handed on to {title}, because a server must stay in its lane and be reached from nowhere else; \
             {title} takes {such_as}"
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn oltp(text: &str) -> Oltp {
        toml::from_str(&format!("script = \"read-write\"\n{text}")).unwrap()
    }

    #[test]
    fn what_makes_a_commit_unsafe_is_named_in_any_spelling() {
        assert_eq!(oltp("").unsafe_settings(), Vec::<String>::new());
        assert_eq!(oltp("").durability()[1], ("synchronous".to_owned(), "FULL".to_owned()));
        for (text, said) in [
            ("options = { synchronous = \"OFF\" }", "synchronous = OFF"),
            ("options = { SYNCHRONOUS = \"normal\" }", "synchronous = normal"),
            (
                "server = \"mysql\"\noptions = { innodb-flush-log-at-trx-commit = \"2\" }",
                "innodb_flush_log_at_trx_commit = 2",
            ),
            ("server = \"mariadb\"\noptions = { innodb_flush_method = \"nosync\" }", "innodb_flush_method = nosync"),
            ("server = \"mariadb\"\noptions = { InnoDB-DoubleWrite = \"off\" }", "innodb_doublewrite = off"),
            ("server = \"postgresql\"\noptions = { FSYNC = \"off\" }", "fsync = off"),
            ("server = \"postgresql\"\noptions = { full_page_writes = \"off\" }", "full_page_writes = off"),
        ] {
            assert_eq!(oltp(text).unsafe_settings(), [said], "{text}");
            assert_eq!(oltp(text).check(), Ok(()), "{text}");
        }
        let other = oltp("server = \"mariadb\"\noptions = { innodb_flush_method = \"O_DIRECT\" }");
        assert_eq!(other.unsafe_settings(), Vec::<String>::new());
        assert!(other.durability().iter().any(|(key, value)| key == "innodb_flush_method" && value == "O_DIRECT"));
        let stated = [("fsync", "on"), ("max_wal_size", "1GB"), ("full_page_writes", "off")];
        let stated = stated.map(|(key, value)| (key.to_owned(), value.to_owned())).into();
        assert_eq!(Oltp::unsafe_stated(&stated), ["full_page_writes = off"]);
    }

    /// Servers, and settings with values that no suite may give them.
    const REFUSED: [(&str, &str, &str); 51] = [
        ("mariadb", "datadir", "data"),
        ("mariadb", "bind-address", "0.0.0.0"),
        ("mariadb", "loose_skip_networking", "OFF"),
        ("mariadb", "loose-bind-address", "0.0.0.0"),
        ("mariadb", "skip_networking", "0"),
        ("mariadb", "disable-skip-networking", "1"),
        ("mariadb", "enable_innodb_doublewrite", "0"),
        ("mariadb", "maximum-innodb_io_capacity", "1"),
        ("mariadb", "SKIP-Innodb_Doublewrite", "1"),
        ("mariadb", "debug_no_sync", "1"),
        ("mariadb", "debug-no-sync", "1"),
        ("mariadb", "sock", "x"),
        ("mariadb", "log_error", "x"),
        ("mariadb", "general_log_file", "x"),
        ("mariadb", "slow_query_log_file", "x"),
        ("mariadb", "log_bin", "x"),
        ("mariadb", "wsrep_provider", "x"),
        ("mariadb", "plugin_load_add", "x"),
        ("mariadb", "secure_file_priv", "x"),
        ("mariadb", "init_file", "x"),
        ("mariadb", "user", "root"),
        ("mysql", "INNODB_UNDO_DIRECTORY", "x"),
        ("mysql", "innodb-data-home-dir", "x"),
        ("mysql", "innodb_data_file_path", "x:12M"),
        ("mysql", "innodb_buffer_pool_filename", "x"),
        ("mysql", "innodb_buffer_pool_load_at_startup", "ON"),
        ("mysql", "innodb_buffer_pool_size", "1G"),
        ("mysql", "Innodb-Buffer-Pool-Size", "1G"),
        ("mysql", "innodb_io_capacity", "/etc/passwd"),
        ("mysql", "innodb_io_capacity", ".."),
        ("postgresql", "LISTEN_ADDRESSES", "*"),
        ("postgresql", "listen-addresses", "*"),
        ("postgresql", "Shared_Buffers", "1GB"),
        ("postgresql", "ssl_passphrase_command", "x"),
        ("postgresql", "archive_command", "x"),
        ("postgresql", "restore_command", "x"),
        ("postgresql", "session_preload_libraries", "x"),
        ("postgresql", "local_preload_libraries", "x"),
        ("postgresql", "jit_provider", "x"),
        ("postgresql", "external_pid_file", "x"),
        ("postgresql", "hba_file", "x"),
        ("postgresql", "config_file", "x"),
        ("postgresql", "log_directory", "x"),
        ("postgresql", "unix_socket_directories", "x"),
        ("postgresql", "temp_tablespaces", "x"),
        ("sqlite", "temp_store_directory", "x"),
        ("sqlite", "cache_size", "-1"),
        ("sqlite", "busy_timeout", "1"),
        ("sqlite", "a b", "1"),
        ("sqlite", "--x", "1"),
        ("sqlite", "mmap_size", "a\\nb"),
    ];

    #[test]
    fn a_server_cannot_be_told_to_leave_its_lane() {
        for (server, key, value) in REFUSED {
            let of = oltp(&format!("server = \"{server}\"\noptions = {{ \"{key}\" = \"{value}\" }}"));
            assert!(of.check().is_err(), "{server} {key} = {value}");
        }
        let twice =
            oltp("server = \"mariadb\"\noptions = { innodb_doublewrite = \"ON\", Innodb-Doublewrite = \"OFF\" }");
        assert!(twice.check().unwrap_err().contains("twice"));
        for (server, key, value) in [
            ("mariadb", "innodb_io_capacity", "2000"),
            ("mariadb", "innodb_max_dirty_pages_pct", "50"),
            ("mysql", "innodb-flush-method", "O_DIRECT"),
            ("postgresql", "MAX_WAL_SIZE", "1GB"),
            ("postgresql", "enable_seqscan", "off"),
            ("sqlite", "wal_autocheckpoint", "1000"),
        ] {
            let of = oltp(&format!("server = \"{server}\"\noptions = {{ \"{key}\" = \"{value}\" }}"));
            assert_eq!(of.check(), Ok(()), "{server} {key}");
        }
        let pool = oltp("server = \"postgresql\"\noptions = { shared_buffers = \"1GB\" }").check().unwrap_err();
        assert!(pool.contains("set pool instead"), "{pool}");
    }

    #[test]
    fn values_are_the_same_whatever_word_is_used() {
        for (a, b, same) in [("ON", "1", true), ("yes", "on", true), ("O_DIRECT", "o_direct", true), ("2", "1", false)]
        {
            assert_eq!(same_setting(a, b), same, "{a} {b}");
        }
    }
}
