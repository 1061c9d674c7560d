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
pub(crate) const COLUMNS: [&str; 16] = [
    "lane", "clients", "per s", "at first", "p50", "p99", "retries", "lost", "fsyncs", "an fsync", "flushes",
    "a flush", "written", "in all", "client", "server",
];

/// Those that a narrow terminal does without, the first to go first.
pub(crate) const COLUMNS_TO_SPARE: [usize; 9] = [11, 9, 8, 14, 15, 13, 12, 10, 3];

/// A cell without a figure.
pub(crate) const ABSENT: &str = "-";

/// What they mean.
pub(crate) const LEGEND: &str = "Of each transaction: its latency, repetitions included; syncs as the database counts \
    them (PostgreSQL: of its log), flushes and bytes at the device, CPU time of clients and server. Cold: begins cold and \
    warms while it is measured; at first: the rate in the first tenth of it. Written: while it was measured; in all: \
    until every table lay on the device. Retries: transactions done again, lost: connections, all rounds together. A \
    flush: what one takes at the device.";

/// Why transactions were done again, for each lane and load that had to.
pub(crate) fn again(row: &TransactionsRow) -> Option<Phrase> {
    let name = |key: &str, count: u64| {
        let s = if count == 1 { "" } else { "s" };
        match key {
            "deadlocks" => format!("{} deadlock{s}", figures::whole(count)),
            "lock_timeouts" => format!("{} lock timeout{s}", figures::whole(count)),
            "serialisation_failures" => format!("{} serialisation failure{s}", figures::whole(count)),
            "duplicate_keys" => format!("{} key{s} that another put there first", figures::whole(count)),
            _ => format!("{} found the database busy", figures::whole(count)),
        }
    };
    let all: Vec<String> = row.again.iter().map(|(key, count)| name(key, *count)).collect();
    let what = format!(", {} clients, done again: {}", clients(&row.group), all.join(", "));
    (!all.is_empty()).then(|| Phrase::default().say(shorten(&row.lane, 24)).say(what))
}

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
    let bytes = |bytes: Option<f64>| bytes.map_or_else(absent, |bytes| figures::bytes(bytes as u64));
    let each = |count: Option<f64>| count.map_or_else(absent, figures::per_operation);
    vec![
        shorten(&row.lane, 24),
        clients(&row.group),
        row.transactions_per_second.map_or_else(absent, figures::per_second),
        row.transactions_per_second_at_first.map_or_else(absent, figures::per_second),
        time(row.p50_ns),
        time(row.p99_ns),
        figures::whole(row.retries),
        if row.lost_connections == 0 { absent() } else { figures::whole(row.lost_connections) },
        each(row.fsyncs),
        time(row.fsync_ns),
        each(row.flushes),
        time(row.flush_ns),
        bytes(row.written_bytes),
        bytes(row.written_until_stable_bytes),
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
