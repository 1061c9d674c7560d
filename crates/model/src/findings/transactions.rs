//! What the statistics make of transactions beside their rate: what each one waits for, writes and costs.

use crate::sentence::Sentence;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A workload of transactions as one table.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TransactionsFinding {
    /// Name of the workload.
    pub workload: String,
    /// What a person calls it.
    pub title: String,
    /// Who keeps the data, as people write it: `MariaDB`.
    pub server: String,
    /// What decides whether a commit survives a power cut, as the server says, or as it was
    /// told: `synchronous = FULL`.
    pub settings: Vec<String>,
    /// The pool holds all of the data: reads are served from memory.
    pub fits_pool: bool,
    /// One per group and lane.
    pub rows: Vec<TransactionsRow>,
}

/// One lane's transactions with one number of clients.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct TransactionsRow {
    /// Name of the lane.
    pub lane: String,
    /// Name of the group: `mariadb 12 threads (cold)`.
    pub group: String,
    /// Rounds that count.
    pub rounds: u32,
    /// Transactions per second: the mean over rounds that the verdicts rest on.
    pub transactions_per_second: Option<f64>,
    /// Transactions per second in the first tenth of a window that begins cold, median over rounds: what follows is
    /// ever warmer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transactions_per_second_at_first: Option<f64>,
    /// Median latency of a transaction, all rounds' histograms merged, nanoseconds.
    pub p50_ns: Option<f64>,
    /// 99th percentile of it.
    pub p99_ns: Option<f64>,
    /// Transactions that were done again after a deadlock or a busy database, in all rounds.
    pub retries: u64,
    /// The same by their causes: `deadlocks`, `lock_timeouts`, `serialisation_failures`, `duplicate_keys`, `busy`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub again: BTreeMap<String, u64>,
    /// Connections that were lost while the server went on, in all rounds.
    #[serde(default, skip_serializing_if = "is_none")]
    pub lost_connections: u64,
    /// What a sync takes in SQLite, nanoseconds, median over rounds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fsync_ns: Option<f64>,
    /// Syncs of files for each transaction as the server counts them, median over rounds; of PostgreSQL those of
    /// its log alone.
    pub fsyncs: Option<f64>,
    /// Flushes of the lane's device for each transaction, median over rounds.
    pub flushes: Option<f64>,
    /// What a flush takes there, nanoseconds, median over rounds.
    pub flush_ns: Option<f64>,
    /// Bytes that the device is asked to write for each transaction within the window, median over rounds.
    pub written_bytes: Option<f64>,
    /// Bytes that it is asked to write for each transaction until all of them lie in their tables and on the device,
    /// median over rounds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub written_until_stable_bytes: Option<f64>,
    /// CPU time of the clients for each transaction, nanoseconds, median over rounds; of SQLite it holds the
    /// database's own.
    pub client_cpu_ns: Option<f64>,
    /// CPU time of the server for each transaction, nanoseconds, median over rounds.
    pub server_cpu_ns: Option<f64>,
    /// Why there is no figure, where there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<Sentence>,
}

// serde hands a reference to `skip_serializing_if`.
#[allow(clippy::trivially_copy_pass_by_ref)]
fn is_none(count: &u64) -> bool {
    *count == 0
}
