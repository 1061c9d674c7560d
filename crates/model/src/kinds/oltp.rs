//! Transactions on a database: which server, which script, how many threads, and what makes a commit safe.
//!
//! Schema, statements and their mixture are those of sysbench's OLTP scripts, so that both can be put side
//! by side on one server.

mod settings;

pub use settings::same_setting;

use super::{Schedule, Traffic, WorkloadKind};
use crate::Bytes;
use crate::findings::Counts;
use crate::operations::{Ability, Asked};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Transactions on a database whose files lie in the lane. Each number of threads is a group of its own;
/// `cold` puts one before them that begins with an empty pool and empty caches.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Oltp {
    /// Who keeps the data.
    #[serde(default)]
    pub server: Server,
    /// What a transaction does.
    pub script: Script,
    /// Clients at the same time, each a thread with a connection of its own, 1 to 1000; one group each.
    #[serde(default = "usual_threads")]
    pub threads: Vec<u32>,
    /// Tables, 1 to 1000.
    #[serde(default = "one")]
    pub tables: u32,
    /// Rows of each table, 1 to 100,000,000.
    #[serde(default = "usual_rows")]
    pub table_size: u64,
    /// What the server keeps in memory: innodb_buffer_pool_size, shared_buffers; of SQLite the page cache of
    /// all connections together.
    #[serde(default = "usual_pool")]
    pub pool: Bytes,
    /// Seconds that run before each window and do not count.
    #[serde(default = "usual_warm_up")]
    pub warm_up_seconds: f64,
    /// Measured seconds of each group.
    #[serde(default = "usual_seconds")]
    pub seconds: f64,
    /// Whether a group with the first number of threads begins cold, without a warm-up.
    #[serde(default = "yes")]
    pub cold: bool,
    /// Which rows are asked for.
    #[serde(default)]
    pub distribution: Distribution,
    /// Socket of a server that runs already, in a directory that is the race's one lane: it is neither started nor
    /// stopped, keeps the settings that it has, and begins no group cold. Empty: Fairlane starts one.
    #[serde(default)]
    pub socket: String,
    /// Options of the server (of SQLite pragmas), of those that Fairlane hands on: `innodb_doublewrite = "OFF"`.
    #[serde(default)]
    pub options: BTreeMap<String, String>,
}

/// Who keeps the data.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Server {
    /// SQLite, built in: write-ahead log, `synchronous = FULL`.
    #[default]
    Sqlite,
    /// MariaDB (or what is installed as `mysqld`), started by Fairlane.
    Mariadb,
    /// MySQL (or what is installed as `mariadbd`), started by Fairlane.
    Mysql,
    /// PostgreSQL, started by Fairlane.
    Postgresql,
}

/// Which rows are asked for, by sysbench's names (`--rand-type`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Distribution {
    /// Each row as often as any other.
    #[default]
    Uniform,
    /// sysbench 1.0's default: three quarters of the draws fall evenly into the hundredth of the rows in the
    /// middle, the others are means of twelve even draws (`--rand-spec-pct=1 --rand-spec-res=75
    /// --rand-spec-iter=12`).
    Special,
}

impl Distribution {
    /// By its name.
    pub fn name(self) -> &'static str {
        match self {
            Distribution::Uniform => "uniform",
            Distribution::Special => "special",
        }
    }
}

/// What a transaction does, by sysbench's names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Script {
    /// One row by its key.
    PointSelect,
    /// One new row.
    Insert,
    /// One row's indexed column.
    UpdateIndex,
    /// One row by its key is removed, if it is still there.
    Delete,
    /// Ten rows by their keys and four ranges of a hundred, in one transaction.
    ReadOnly,
    /// An indexed and another column changed, a row removed and put back, in one transaction.
    WriteOnly,
    /// The last two together.
    ReadWrite,
}

/// Rows of a range.
pub const RANGE_ROWS: u64 = 100;
/// Rows that a transaction of the last three scripts reads by their keys.
pub const POINT_SELECTS: u32 = 10;
/// Bytes that a row takes with its place in the second index, roughly: 4 + 4 + 120 + 60 of columns, and what
/// rows and pages add.
const ROW_BYTES: u64 = 256;
/// Bytes of one row's columns.
pub const ROW_CONTENT_BYTES: u64 = 188;

fn usual_threads() -> Vec<u32> {
    vec![12, 24, 36, 48, 60]
}

fn one() -> u32 {
    1
}

fn usual_rows() -> u64 {
    100_000
}

fn usual_pool() -> Bytes {
    Bytes(16 * Bytes::MIB)
}

fn usual_warm_up() -> f64 {
    0.5
}

fn usual_seconds() -> f64 {
    2.0
}

fn yes() -> bool {
    true
}

impl Server {
    /// What `--set server=` takes, and what groups begin with.
    pub fn name(self) -> &'static str {
        match self {
            Server::Sqlite => "sqlite",
            Server::Mariadb => "mariadb",
            Server::Mysql => "mysql",
            Server::Postgresql => "postgresql",
        }
    }

    /// As people write it.
    pub fn title(self) -> &'static str {
        match self {
            Server::Sqlite => "SQLite",
            Server::Mariadb => "MariaDB",
            Server::Mysql => "MySQL",
            Server::Postgresql => "PostgreSQL",
        }
    }

    /// Whether it is a process of its own.
    pub fn is_process(self) -> bool {
        self != Server::Sqlite
    }

    /// Bytes of its pages by default.
    pub fn page_bytes(self) -> u64 {
        match self {
            Server::Sqlite => 4096,
            Server::Postgresql => 8192,
            Server::Mariadb | Server::Mysql => 16384,
        }
    }

    /// Bytes of its own files beside the data: system tables and logs.
    fn own_bytes(self) -> u64 {
        match self {
            Server::Sqlite => 16 * Bytes::MIB,
            Server::Mariadb | Server::Mysql => 300 * Bytes::MIB,
            Server::Postgresql => 350 * Bytes::MIB,
        }
    }
}

impl Script {
    /// Whether it leaves the data as it is.
    pub fn only_reads(self) -> bool {
        matches!(self, Script::PointSelect | Script::ReadOnly)
    }

    /// Whether it only writes.
    pub fn only_writes(self) -> bool {
        !self.only_reads() && self != Script::ReadWrite
    }

    /// Whether its statements stand between BEGIN and COMMIT.
    pub fn is_bracketed(self) -> bool {
        matches!(self, Script::ReadOnly | Script::WriteOnly | Script::ReadWrite)
    }
}

impl Oltp {
    /// The groups in the order in which they are measured.
    pub fn groups(&self) -> Vec<String> {
        let cold =
            self.threads.first().filter(|_| self.cold && !self.is_external()).map(|&threads| self.group(threads, true));
        cold.into_iter().chain(self.threads.iter().map(|&threads| self.group(threads, false))).collect()
    }

    /// Whether a server is used that runs already.
    pub fn is_external(&self) -> bool {
        !self.socket.is_empty()
    }

    /// Whether a server is started for it.
    pub fn starts_server(&self) -> bool {
        self.server.is_process() && !self.is_external()
    }

    /// Threads of a group, and whether it begins cold; `None`: there is none of that name.
    pub fn group_named(&self, name: &str) -> Option<(u32, bool)> {
        let first = self.threads.first().map(|&threads| (threads, true));
        let all = first.into_iter().chain(self.threads.iter().map(|&threads| (threads, false)));
        all.into_iter().find(|&(threads, cold)| self.group(threads, cold) == name)
    }

    fn group(&self, threads: u32, cold: bool) -> String {
        let s = if threads == 1 { "" } else { "s" };
        format!("{} {threads} thread{s}{}", self.server.name(), if cold { " (cold)" } else { "" })
    }

    /// What it asks of a filesystem: a server, which runs without privileges, wants files of its own.
    pub fn asks_for(&self) -> Vec<Asked> {
        let by = format!("server {}", self.server.title());
        self.starts_server().then_some(Asked { by, ability: Ability::Owners }).into_iter().collect()
    }

    /// Bytes of the tables with their indexes, roughly.
    pub fn data_bytes(&self) -> u64 {
        self.table_size.saturating_mul(u64::from(self.tables)).saturating_mul(ROW_BYTES)
    }

    /// Whether the pool holds all of the data, so that little is read from the lane.
    pub fn fits_the_pool(&self) -> bool {
        !self.is_external() && self.pool.get() >= self.data_bytes()
    }

    /// What the work keeps on the lane: data, what a load and updates add, and the server's own files.
    pub fn working_set_bytes(&self) -> u64 {
        self.data_bytes().saturating_mul(2).saturating_add(self.server.own_bytes())
    }

    /// Bytes that a transaction asks for or hands over, as far as the limit rules need them: pages read by
    /// scripts that only read, columns written by the others.
    pub fn transaction_bytes(&self) -> u64 {
        let page = self.server.page_bytes();
        let range = (RANGE_ROWS * ROW_BYTES).div_ceil(page) * page;
        match self.script {
            Script::PointSelect => page,
            Script::ReadOnly => u64::from(POINT_SELECTS) * page + 4 * range,
            Script::Insert => ROW_CONTENT_BYTES,
            Script::UpdateIndex | Script::Delete => 4,
            Script::WriteOnly | Script::ReadWrite => ROW_CONTENT_BYTES + 120 + 4,
        }
    }

    /// What is wrong with the parameters, as one sentence with the remedy.
    ///
    /// # Errors
    /// The sentence, naming the key.
    pub fn check(&self) -> Result<(), String> {
        let within = |threads: &u32| (1..=1000).contains(threads);
        if self.threads.is_empty() || !self.threads.iter().all(within) {
            return Err("threads must be a list of numbers between 1 and 1000".to_owned());
        }
        let twice = |at: &usize| self.threads[..*at].contains(&self.threads[*at]);
        if let Some(at) = (0..self.threads.len()).find(twice) {
            return Err(format!("threads names {} twice; each number is a group of its own", self.threads[at]));
        }
        if !(1..=1000).contains(&self.tables) {
            return Err("tables must lie between 1 and 1000".to_owned());
        }
        if !(1..=100_000_000).contains(&self.table_size) {
            return Err("table_size must lie between 1 and 100000000".to_owned());
        }
        if self.pool.get() < 8 * Bytes::MIB {
            return Err("pool is below 8MiB, which servers refuse; raise it".to_owned());
        }
        let seconds = |value: f64, least: f64| value >= least && value <= 1800.0;
        if !seconds(self.seconds, 0.05) {
            return Err("seconds must lie between 0.05 and 1800".to_owned());
        }
        if !seconds(self.warm_up_seconds, 0.0) {
            return Err("warm_up_seconds must lie between 0 and 1800".to_owned());
        }
        if self.is_external() {
            if !self.server.is_process() {
                return Err("socket names a server, and SQLite has none; set server too".to_owned());
            }
            if !self.socket.starts_with('/') || self.socket.chars().any(crate::text::is_unsafe) {
                return Err(
                    "socket must be the whole path of a Unix socket, such as /run/mysqld/mysqld.sock".to_owned()
                );
            }
            if let Some(key) = self.options.keys().next() {
                return Err(format!("{key} cannot be set of a server that runs already; set it where it is started"));
            }
        }
        settings::check(self)
    }
}

impl WorkloadKind for Oltp {
    fn groups(&self) -> Vec<String> {
        Oltp::groups(self)
    }

    fn check(&self) -> Result<(), String> {
        Oltp::check(self)
    }

    fn schedule(&self) -> Schedule<'_> {
        Schedule::Transactions(self)
    }

    fn working_set_bytes(&self) -> u64 {
        Oltp::working_set_bytes(self)
    }

    // Loaded, written and read again and again.
    fn traffic(&self) -> Traffic {
        Traffic::of_pages(4.0 * self.working_set_bytes() as f64)
    }

    fn reads(&self, group: &str) -> bool {
        self.script.only_reads() || super::action(group) == "read"
    }

    fn is_awaited(&self, group: &str) -> bool {
        !self.reads(group)
    }

    fn counts(&self, _: &str) -> Counts {
        Counts::Transactions
    }

    fn shares_the_cpus(&self) -> bool {
        true
    }

    fn is_done_by_programs(&self) -> bool {
        true
    }

    fn asks_for(&self) -> Vec<Asked> {
        Oltp::asks_for(self)
    }

    fn starts_programs(&self) -> bool {
        self.server.is_process()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn oltp(text: &str) -> Oltp {
        toml::from_str(&format!("script = \"read-write\"\n{text}")).unwrap()
    }

    #[test]
    fn groups_name_the_server_and_the_threads_and_cold_comes_first() {
        let of = oltp("server = \"mariadb\"\nthreads = [12, 1]");
        assert_eq!(of.groups(), ["mariadb 12 threads (cold)", "mariadb 12 threads", "mariadb 1 thread"]);
        for (group, threads, cold) in
            of.groups().iter().zip([12, 12, 1]).zip([true, false, false]).map(|((g, t), c)| (g, t, c))
        {
            assert_eq!(of.group_named(group), Some((threads, cold)));
        }
        assert_eq!(of.group_named("mariadb 1 thread (cold)"), None);
        assert_eq!(oltp("cold = false\nthreads = [2]").groups(), ["sqlite 2 threads"]);
    }

    #[test]
    fn the_usual_data_is_larger_than_the_usual_pool() {
        let usual = oltp("");
        assert!(!usual.fits_the_pool() && usual.data_bytes() > usual.pool.get(), "{}", usual.data_bytes());
        assert!(oltp("table_size = 1000").fits_the_pool());
        assert!(usual.working_set_bytes() <= 1 << 30, "half of a lane of 2 GiB");
    }

    #[test]
    fn parameters_that_cannot_be_are_refused() {
        for wrong in [
            "threads = []",
            "threads = [0]",
            "threads = [4, 4]",
            "tables = 0",
            "table_size = 0",
            "pool = \"1MiB\"",
            "seconds = 0.0",
            "warm_up_seconds = -1.0",
            "socket = \"/run/x.sock\"",
            "server = \"mariadb\"\nsocket = \"x.sock\"",
            "server = \"mariadb\"\nsocket = \"/run/x.sock\"\noptions = { innodb_doublewrite = \"OFF\" }",
        ] {
            assert!(oltp(wrong).check().is_err(), "{wrong}");
        }
        assert_eq!(oltp("").check(), Ok(()));
        let external = oltp("server = \"mariadb\"\nsocket = \"/run/x.sock\"\nthreads = [2]");
        assert_eq!((external.check(), external.groups()), (Ok(()), vec!["mariadb 2 threads".to_owned()]));
        assert!(!external.starts_server() && external.asks_for().is_empty());
        assert_eq!(oltp("distribution = \"special\"").distribution, Distribution::Special);
    }
}
