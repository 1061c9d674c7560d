//! What is said of the cost of layers and of several disks.

pub(crate) const LAYERS: &str = "LAYERS";
pub(crate) const TITLE: &str = "What layers cost";
pub(crate) const LEGEND: &str = "written: bytes at all disks per byte of the application, over all trials that count, and by disk in \
     the measured windows. CPU: of the whole system per operation, as a multiple of the same lane's without layers, without an interval.";
pub(crate) const COLUMNS: [&str; 5] = ["lane", "usable", "written", "by disk", "CPU"];
pub(crate) const ABSENT: &str = "-";

pub(crate) fn usable(usable: &str, all: &str) -> String {
    format!("{usable} of {all}")
}

pub(crate) fn beside(own: &str, other: &str, lane: &str) -> String {
    format!("{own} ({lane} {other})")
}

pub(crate) fn cpu(times: &str, lane: &str, rows: u32) -> String {
    let rows = if rows == 1 { "1 row".to_owned() } else { format!("{rows} rows") };
    format!("{times} of {lane}, {rows}")
}

pub(crate) fn from_to(least: &str, most: &str) -> String {
    format!("{least} to {most}")
}
