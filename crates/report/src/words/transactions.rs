//! What tables of transactions say.

use crate::clean::shorten;
use crate::figures;
use crate::layout::{Phrase, Tone};
use crate::words;
use model::findings::{TransactionsFinding, TransactionsRow};

/// The label of the tables.
pub(crate) const TRANSACTIONS: &str = "EACH ONE";
pub(crate) const TRANSACTIONS_TITLE: &str = "What a transaction waits for and costs";

/// The columns, the lane first.
pub(crate) const COLUMNS: [&str; 12] = [
    "lane", "clients", "per s", "p50", "p99", "retries", "fsyncs", "flushes", "a flush", "written", "client", "server",
];

/// Those that a narrow terminal does without, the first to go first.
pub(crate) const COLUMNS_TO_SPARE: [usize; 6] = [8, 6, 10, 11, 9, 7];

/// A cell without a figure.
pub(crate) const ABSENT: &str = "-";

/// What they mean.
pub(crate) const LEGEND: &str = "Of each transaction: its latency, repetitions included; syncs as the server counts them, \
    flushes and bytes at the device, CPU time of clients and server. Retries: transactions done again after a deadlock \
    or a busy database, all rounds together. A flush: what one takes at the device.";

/// The line above a table.
pub(crate) fn heading(table: &TransactionsFinding) -> Phrase {
    let rounds = table.rows.iter().map(|row| row.rounds).max().unwrap_or(0);
    let pool = if table.fits_pool { "; the pool holds all of the data, so reads are served from memory" } else { "" };
    Phrase::default().tone(Tone::Label, shorten(&table.title, 60)).say(format!(
        ", {} with {}, {}{pool}",
        table.server,
        table.settings.join(", "),
        words::rounds(rounds)
    ))
}

/// The cells of a row.
pub(crate) fn cells(row: &TransactionsRow) -> Vec<String> {
    let absent = || ABSENT.to_owned();
    let time = |ns: Option<f64>| ns.map_or_else(absent, |ns| figures::brief(ns * 1e-9));
    let each = |count: Option<f64>| count.map_or_else(absent, figures::per_operation);
    vec![
        shorten(&row.lane, 24),
        clients(&row.group),
        row.transactions_per_second.map_or_else(absent, figures::per_second),
        time(row.p50_ns),
        time(row.p99_ns),
        figures::whole(row.retries),
        each(row.fsyncs),
        each(row.flushes),
        time(row.flush_ns),
        row.written_bytes.map_or_else(absent, |bytes| figures::bytes(bytes as u64)),
        time(row.client_cpu_ns),
        time(row.server_cpu_ns),
    ]
}

/// `12 cold` of `mariadb 12 threads (cold)`: the table's heading names the server.
fn clients(group: &str) -> String {
    let number = group.split_whitespace().nth(1).unwrap_or(group);
    if group.ends_with(" (cold)") { format!("{number} cold") } else { number.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clients_are_told_by_their_number() {
        let all = ["mariadb 12 threads (cold)", "sqlite 1 thread", "sqlite 1 thread (cold)", "other"];
        assert_eq!(all.map(clients), ["12 cold", "1", "1 cold", "other"]);
    }
}
